"""JSON lines: an object a line, by orjson if it is there, else by json."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from .._input.validate import brief
from ._blocks import batches
from ._errors import FARTHEST, HINTS, wrong_label
from ._lines import BLANK

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ._sources import Files, Source

_BATCH_BYTES = 1 << 22  # of lines in a batch


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON")


def _number(text: str) -> float:
    found = float(text)
    return found if abs(found) != float("inf") else _no_number(brief(text))


def _integer(text: str) -> int | float:
    return int(text) if len(text) < 20 else _number(text)


def _plain(line: bytes) -> Any:
    """Read a line as orjson does."""
    found = json.loads(line.decode(), parse_constant=_no_number, parse_float=_number, parse_int=_integer)
    if b"\\ud" in line.lower():
        json.dumps(found, ensure_ascii=False).encode()  # halves of surrogates are no text
    return found


_loads: Any = _plain
with suppress(ImportError):
    import orjson

    _loads = orjson.loads


class _WrongError(ValueError):
    """A line that is no row. The arguments are what was expected, and the parameter of the hint."""

    def __init__(self, problem: str, parameter: str = ""):
        super().__init__(problem, parameter)


class _Json:
    """A parser of JSON lines, with the methods of `_lines.LineParser`. text : the key of texts; None for tables."""

    line_number, waits, by_file = 0, False, False

    def __init__(self, options: Any, text: str | None):
        self.options, self.text, self.label = options, text, options.label or "label"
        self.kind: type | None = float if options.labels == "number" else None  # of the labels
        self.known: set[str] = set()  # labels, some of them
        self._clear()

    def _clear(self) -> None:
        self.rows: list[Any] = []
        self.labels: list[Any] = []
        self.weights: list[float] = []
        self.n_bytes = 0

    def begin(self, source: Source) -> None:
        self.line_number = 0

    def again(self) -> bytes:
        return b""

    @property
    def n_rows(self) -> int:
        return len(self.rows)

    @property
    def full(self) -> bool:
        return len(self.rows) >= self.options.batch_rows or self.n_bytes >= _BATCH_BYTES

    def feed(self, block: bytearray, start: int, stop: int) -> tuple[int, Any]:
        """Read lines until the batch is full or one is malformed; return where the next one starts, and None or the fault."""
        most = self.options.batch_rows
        try:
            while start < stop and len(self.rows) < most and self.n_bytes < _BATCH_BYTES:
                end = block.index(b"\n", start)
                line = block[start:end]
                start = end + 1
                self.line_number += 1
                try:
                    row = self.parse(line)
                except (ValueError, RecursionError) as error:
                    if isinstance(error, _WrongError):
                        raise
                    if not line or line.isspace():
                        if self.options.labelled:
                            continue
                        return start, BLANK
                    raise _WrongError(f"expected a JSON object, got {brief(bytes(line[:40]))} ({error})") from None
                self.add(row)
                self.n_bytes += len(line)
        except _WrongError as error:
            return start, (None, *error.args)
        return start, None

    def parse(self, line: bytearray) -> Any:
        return _loads(line)

    def add(self, row: Any) -> None:
        options, weight = self.options, 1.0
        if type(row) is not dict:
            raise _WrongError(f"expected a JSON object, got {brief(row)}")
        label = row.pop(self.label, None)
        if options.labelled and not (type(label) is str is self.kind and label in self.known):
            self._check_label(label)
        if options.weight is not None:
            weight = row.pop(options.weight, None)
            if type(weight) not in (int, float) or not 0.0 <= weight < np.inf:
                raise _WrongError(f"expected a weight >= 0, got {brief(weight)}")
        for name in options.ignore:
            row.pop(name, None)
        content: Any = row
        if self.text is not None:
            content = row.get(self.text)
            if type(content) is not str:
                raise _WrongError(f"expected a text at key {self.text!r}, got {brief(content)}")
        else:
            for value in row.values():
                if type(value) is float and not -FARTHEST <= value <= FARTHEST:
                    raise _WrongError(f"expected numbers within ±{FARTHEST}, got {brief(row)}")
        self.rows.append(content)
        self.labels.append(label)
        self.weights.append(weight)

    def _check_label(self, label: Any) -> None:
        kind = type(label)
        wrong = wrong_label(label) if kind is str or label is None else None
        if wrong is not None:
            raise _WrongError(*wrong)
        if kind not in (str, int, float, bool):
            raise _WrongError(f"expected one label a row, a text or a number, got {brief(label)}", "label")
        if self.options.labels == "number" and kind is int:
            kind = float
        self.kind = self.kind or kind
        if kind is not self.kind:
            what = f"a label of the type of the first one, {self.kind.__name__},"
            raise _WrongError(f"expected {what} got {brief(label)}", "label")
        if (kind is int and abs(label) >= 2**63) or (kind is float and not np.isfinite(label)):
            raise _WrongError(f"expected a label that is a finite number of at most 63 bits, got {brief(label)}", "label")
        if kind is str and len(self.known) < 1000:
            self.known.add(label)

    def batches(self) -> Iterator[Any]:
        """Return the rows that were read as a batch."""
        X = self.rows if self.text is None else self.options.texts_of(self.rows)
        y = np.array(self.labels, dtype=self.kind) if self.options.labelled else None
        weights = np.array(self.weights) if self.options.weight is not None else None
        self._clear()
        yield X, y, weights


class _Words(_Json):
    """A parser of lines of TSV for a vectorizer that is not compiled."""

    def parse(self, line: bytearray) -> dict:
        try:
            label, tab, text = line.removesuffix(b"\r").decode().partition("\t")
        except UnicodeDecodeError:
            raise _WrongError(f"expected text in UTF-8, got {brief(bytes(line[:40]))}") from None
        if not tab and self.options.labelled:
            raise _WrongError(f"expected a tab between label and text{HINTS['tab']}, got none", "tab")
        if self.options.labels == "number":
            try:
                return {self.label: float(label), self.text: text}
            except ValueError:
                raise _WrongError(f"expected a finite number for a label, got {brief(label)}", "label") from None
        return {self.label: label, self.text: text if tab else label}


def words(options: Any, files: Files) -> Iterator[Any]:
    """Return the batches of TSV for a vectorizer that is not compiled."""
    return batches(files, _Words(options, options.text or "text"), options)


def jsonl(options: Any, files: Files) -> tuple[bool, Iterator[Any]]:
    """Return whether the objects are rows of a table, and their batches."""
    text = options.text
    if text is None:
        keys: set[str] = set()
        for line in files.current.peek_lines():
            with suppress(ValueError, RecursionError):
                row = _loads(line)
                if type(row) is dict:
                    keys = row.keys() - {options.label or "label", options.weight, *options.ignore}
                    break
        text = "text" if keys == {"text"} else None
    return text is None, batches(files, _Json(options, text), options)
