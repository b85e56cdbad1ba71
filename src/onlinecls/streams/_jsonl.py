"""JSON lines: an object a line, by orjson if it is there, else by json."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from .._input.validate import LONGEST_LABEL, brief
from ._blocks import blocks, skip_bom, too_long
from ._errors import FARTHEST, HINTS, Counts, MalformedLineError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ._sources import Files

_BATCH_CHARS = 1 << 22  # of lines in a batch


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON")


def _number(text: str) -> float:
    found = float(text)
    return found if abs(found) != float("inf") else _no_number(brief(text))


def _integer(text: str) -> int | float:
    return int(text) if len(text) < 20 else _number(text)


def _plain(line: bytes) -> Any:
    """Read a line as orjson does."""
    found = json.loads(line, parse_constant=_no_number, parse_float=_number, parse_int=_integer)
    if b"\\ud" in line.lower():
        json.dumps(found, ensure_ascii=False).encode()  # halves of surrogates are no text
    return found


_loads: Any = _plain
with suppress(ImportError):
    import orjson

    _loads = orjson.loads


class _WrongError(ValueError):
    """A line that is no row. parameter : of the hint."""

    def __init__(self, problem: str, parameter: str = ""):
        super().__init__(problem)
        self.parameter = parameter


class _Rows:
    """Collect the objects of a batch."""

    def __init__(self, options: Any, text: str | None):
        self.options, self.text = options, text
        self.label = options.label or "label"
        self.kind: type | None = None  # of the labels
        self._clear()

    def _clear(self) -> None:
        self.rows: list[Any] = []
        self.labels: list[Any] = []
        self.weights: list[float] = []
        self.n_chars = 0

    def parse(self, line: bytes) -> dict:
        try:
            row = _loads(line)
        except (ValueError, RecursionError) as error:
            raise _WrongError(f"expected a JSON object, got {brief(line[:40])} ({error})") from None
        if not isinstance(row, dict):
            raise _WrongError(f"expected a JSON object, got {brief(row)}")
        return row

    def add(self, line: bytes) -> None:
        row = self.parse(line)
        label, weight = row.pop(self.label, None), 1.0
        if self.options.labelled:
            label = self._label(label)
        if self.options.weight is not None:
            weight = row.pop(self.options.weight, None)
            if type(weight) not in (int, float) or not 0.0 <= weight < np.inf:
                raise _WrongError(f"expected a weight >= 0, got {brief(weight)}")
        for name in self.options.ignore:
            row.pop(name, None)
        content: Any = row
        if self.text is not None:
            content = row.get(self.text)
            if not isinstance(content, str):
                raise _WrongError(f"expected a text at key {self.text!r}, got {brief(content)}")
            self._utf8(content)
        elif any(type(value) is float and not abs(value) <= FARTHEST for value in row.values()):
            raise _WrongError(f"expected numbers within ±{FARTHEST}, got {brief(row)}")
        self.rows.append(content)
        self.labels.append(label)
        self.weights.append(weight)
        self.n_chars += len(line)

    def _utf8(self, text: str) -> None:
        if not text.isascii():
            try:
                text.encode()
            except UnicodeEncodeError:
                raise _WrongError(f"expected text in UTF-8, got {brief(text)}") from None

    def _label(self, label: Any) -> Any:
        if label is None or label == "":
            raise _WrongError(f"expected a label{HINTS['labels']}, got none", "labels")
        kind = float if self.options.labels == "number" else type(label)
        if kind is float and (type(label) not in (int, float) or not np.isfinite(label)):
            raise _WrongError(f"expected a label that is a finite number, got {brief(label)}", "label")
        if kind not in (str, int, float, bool):
            raise _WrongError(f"expected one label a row, a text or a number, got {brief(label)}", "label")
        if kind is str:
            self._utf8(label)
            if "\0" in label:
                raise _WrongError(f"expected a label without NUL, got {brief(label)}", "label")
        if (kind is str and len(label) > LONGEST_LABEL) or (kind is int and abs(label) >= 2**63):
            raise _WrongError(f"expected a label of at most {LONGEST_LABEL} characters or 63 bits, got a longer one", "label")
        self.kind = self.kind or kind
        if kind is not self.kind:
            raise _WrongError(f"expected a label of the type of the first one, {self.kind.__name__}, got {brief(label)}", "label")
        return label

    @property
    def is_full(self) -> bool:
        return len(self.rows) >= self.options.batch_rows or self.n_chars >= _BATCH_CHARS

    def take(self) -> tuple[Any, Any, Any]:
        X = self.rows if self.text is None else self.options.texts_of(self.rows)
        y = np.array(self.labels, dtype=self.kind) if self.options.labelled else None
        weights = np.array(self.weights) if self.options.weight is not None else None
        self._clear()
        return X, y, weights


class _Words(_Rows):
    """Collect lines of TSV for a vectorizer that is not compiled."""

    def parse(self, line: bytes) -> dict:
        try:
            label, tab, text = line.removesuffix(b"\r").decode().partition("\t")
        except UnicodeDecodeError:
            raise _WrongError(f"expected text in UTF-8, got {brief(line[:40])}") from None
        if not tab and self.options.labelled:
            raise _WrongError(f"expected a tab between label and text{HINTS['tab']}, got none", "tab")
        if self.options.labels == "number":
            try:
                return {self.label: float(label), self.text: text}
            except ValueError:
                raise _WrongError(f"expected a finite number for a label, got {brief(label)}", "label") from None
        return {self.label: label, self.text: text if tab else label}


def words(options: Any, files: Files, counts: Counts) -> Iterator[Any]:
    """Return the batches of TSV for a vectorizer that is not compiled."""
    return _batches(options, files, counts, _Words(options, options.text or "text"))


def jsonl(options: Any, files: Files, counts: Counts) -> tuple[bool, Iterator[Any]]:
    """Return whether the objects are rows of a table, and their batches."""
    text = options.text
    if text is None:
        keys: set[str] = set()
        for line in files.current.peek_lines():
            try:
                row = _loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(row, dict):
                keys = set(row)
                break
        text = "text" if keys - {options.label or "label", options.weight, *options.ignore} == {"text"} else None
    return text is None, _batches(options, files, counts, _Rows(options, text))


def _batches(options: Any, files: Files, counts: Counts, rows: _Rows) -> Iterator[Any]:
    try:
        for source in files:
            skip_bom(source)
            number = 0
            for block, start, stop in blocks(source, options.block_bytes, options.max_line_bytes):
                if block is None and not stop:  # (a silent pipe)
                    if rows.rows or counts.gaps:
                        yield rows.take() if rows.rows else None
                    continue
                if block is None:
                    number += 1
                    problem = MalformedLineError(source.name, number, stop + 1, *too_long(options.max_line_bytes))
                    counts.refuse(problem, len(rows.rows))
                    continue
                for line in bytes(memoryview(block)[start:stop]).split(b"\n")[:-1]:
                    number += 1
                    if not line or line.isspace():
                        if not options.labelled:
                            counts.leave_out(len(rows.rows))
                        continue
                    try:
                        rows.add(line)
                    except _WrongError as error:
                        counts.refuse(MalformedLineError(source.name, number, None, f" {error}", error.parameter), len(rows.rows))
                    if rows.is_full:
                        yield rows.take()
    except (ValueError, OSError):
        if rows.rows:
            yield rows.take()
        raise
    if rows.rows:
        yield rows.take()
