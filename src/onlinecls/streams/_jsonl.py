"""JSON lines: an object a line, by orjson if it is there, else by json."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from .._input.validate import brief
from ._blocks import FARTHEST, batches, too_far, wrong_label
from ._parsers import BLANK

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ._sources import Files

_BATCH_BYTES = 1 << 22  # of lines in a batch


def _number(text: str) -> float:
    found = float(text)
    if not abs(found) < np.inf:
        raise ValueError(f"{brief(text)} is no number of JSON")
    return found


def _plain(line: bytes) -> Any:
    """Read a line as orjson does."""
    integer = lambda text: int(text) if len(text) < 20 else _number(text)  # noqa: E731
    found = json.loads(line.decode(), parse_constant=_number, parse_float=_number, parse_int=integer)
    if b"\\ud" in line.lower():
        json.dumps(found, ensure_ascii=False).encode()  # halves of surrogates are no text
    return found


_loads: Any = _plain
with suppress(ImportError):
    import orjson

    _loads = orjson.loads


class _Json:
    """A parser of JSON lines, with the methods of `_parsers.LineParser`."""

    waits, by_file, unread, line_number = False, False, 0, 0

    def __init__(self, options: Any):
        self.options, self.label = options, options.label or "label"
        self.kind: type | None = float if options.labels == "number" else None  # of the labels
        self.known: set[str] = set()  # labels, some of them
        self._clear()

    def _clear(self) -> None:
        self.n_bytes = self.n_rows = 0
        self.rows, self.labels, self.weights = [], [], []  # type: tuple[list[Any], list[Any], list[float]]

    def feed(self, block: bytearray, start: int, stop: int) -> tuple[int, Any]:
        """Read lines until the batch is full or one is malformed; return where the next one starts, and None or the fault."""
        most = self.options.batch_rows
        while start < stop and self.n_rows < most and self.n_bytes < _BATCH_BYTES:
            end = block.index(b"\n", start)
            line, start = block[start:end], end + 1
            self.line_number += 1
            self.n_bytes += len(line)
            try:
                problem = self._add(_loads(line))
            except (ValueError, RecursionError) as error:
                if not line or line.isspace():
                    if self.options.labelled:
                        continue
                    return start, BLANK
                problem = f"expected a JSON object, got {brief(bytes(line[:40]))} ({error})"
            if problem:
                return start, (None, problem)
        return start, None

    def _add(self, row: Any) -> str:
        """Append a row; return what is wrong with it, "" if nothing."""
        options, weight = self.options, 1.0
        if type(row) is not dict:
            return f"expected a JSON object, got {brief(row)}"
        label = row.pop(self.label, None)
        if options.labelled and not (type(label) is str is self.kind and label in self.known):
            wrong = self._check_label(label)
            if wrong:
                return wrong
        if options.weight is not None:
            weight = row.pop(options.weight, None)
            if type(weight) not in (int, float) or not 0.0 <= weight < np.inf:
                return f"expected a weight >= 0, got {brief(weight)}"
        if not options.is_table:
            row = row.get(options.text)
            if type(row) is not str:
                return f"expected a text at key {options.text!r}, got {brief(row)}"
        else:
            for value in row.values():
                if not -FARTHEST <= value <= FARTHEST if type(value) is float else type(value) in (list, dict) and too_far(value):
                    return f"expected numbers within ±{FARTHEST}, at most 64 levels deep, got {brief(row)}"
        self.n_rows += 1
        self.rows.append(row)
        self.labels.append(label)
        self.weights.append(weight)
        return ""

    def _check_label(self, label: Any) -> str:
        kind = float if self.options.labels == "number" and type(label) is int else type(label)
        first, wrong = self.kind or kind, wrong_label(label) if kind is str or label is None else ""
        if not wrong and kind not in (str, int, float, bool):
            wrong = f"expected one label a row, a text or a number, got {brief(label)}"
        elif not wrong and kind is not first:
            wrong = f"expected a label of the type of the first one, {first.__name__}, got {brief(label)}"
        elif kind in (int, float) and not abs(label) < (2**63 if kind is int else np.inf):
            wrong = f"expected a label that is a finite number of at most 63 bits, got {brief(label)}"
        if not wrong:
            self.kind = kind
            if kind is str and len(self.known) < 1000:
                self.known.add(label)
        return wrong

    def batches(self) -> Iterator[Any]:
        X = self.rows if self.options.is_table else self.options.texts_of(self.rows)
        y = np.array(self.labels, dtype=self.kind) if self.options.labelled else None
        weights = np.array(self.weights) if self.options.weight is not None else None
        self._clear()
        yield X, y, weights


def jsonl(options: Any, files: Files) -> Iterator[Any]:
    """Return the batches of objects, and set `text` or `is_table` of the options: rows are texts if a row has nothing else."""
    if options.text is None:
        for line in files.current.peek_lines():
            with suppress(ValueError, RecursionError):
                row = _loads(line)
                if type(row) is dict:
                    options.text = "text" if row.keys() - {options.label or "label", options.weight} == {"text"} else None
                    break
    options.is_table = options.text is None
    return batches(files, options, _Json(options))
