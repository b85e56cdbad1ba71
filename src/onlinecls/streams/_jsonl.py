"""The reader of JSON lines: orjson, or Python's json where it is not installed, makes objects; what they mean is said once.

A block of lines is read at once if Python's json would read the same, and no value needs a check; any other block a line at a
time, by Python's json.
"""

from __future__ import annotations

import json
import re
import struct
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np

from ._records import TextsOrFeatures, WrongRecordError, is_utf8, n_lines, records_of_lines, shown, weight_of
from ._tables import NUMBER, in_range, unexpected

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ._records import Block, LabelReader, Record
    from ._sources import Files
    from ._tables import Layout

_DEEPEST = 200  # brackets in a line that Python's json surely reads
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


def json_object(line: bytes) -> dict[str | None, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise WrongRecordError(f"expected a JSON object, got {shown(line)} ({error})") from None
    if not isinstance(record, dict):
        raise WrongRecordError(f"expected a JSON object, got {shown(record)}")
    return record


def first_objects(files: Files) -> list[dict[str | None, Any]]:
    """Return the objects of the first lines, which are read again."""
    objects = []
    for line in files.current.peek_lines():
        with suppress(WrongRecordError):
            objects += [json_object(line)] if line.strip() else []
    return objects


class JsonReader:
    """Read the records of lines of an object each.

    dtype : of X. label, weight : keys, or None. meaning : what the other keys are, or the collector that takes whole objects and
    finds their texts or their features.
    """

    def __init__(
        self, read_label: LabelReader, dtype: np.dtype, label: str | None, weight: str | None, meaning: Layout | TextsOrFeatures
    ) -> None:
        self._read_label, self._dtype, self._label, self._weight, self._meaning = read_label, dtype, label, weight, meaning
        try:
            self._loads = import_module("orjson").loads
        except ImportError:
            self._loads = json.loads

    def records(self, files: Files, max_line_bytes: int) -> Iterator[Record | Block | None]:
        return records_of_lines(files, max_line_bytes, self._read_line, self._read_block)

    def _read_line(self, line: bytes) -> tuple[Any, Any, Any]:
        record = json_object(line)
        return record.get(self._label), self._content(record), record.get(self._weight)

    def _read_block(self, piece: bytes) -> tuple[list, Any, list[float] | None] | None:
        if not is_utf8(piece) or not self._is_read_alike(piece):
            return None
        try:
            records = list(map(self._loads, piece.split(b"\n")[:-1]))
            if set(map(type, records)) != {dict}:
                return None
            if self._label is None:
                labels = [record.get(self._label) for record in records]
            else:
                labels = [record[self._label] for record in records]
            weights = None if self._weight is None else [weight_of(record[self._weight]) for record in records]
            contents = self._contents(records)
            # Labels come last: the first one that is read decides their type.
            return self._read_label.read_all(labels), contents, weights
        except (ValueError, KeyError, RecursionError, struct.error):
            return None

    def _content(self, record: dict[str | None, Any]) -> Any:
        """Return what the collector of rows takes of an object."""
        layout = self._meaning
        if isinstance(layout, TextsOrFeatures):
            return record
        if layout.is_whole:
            return {name: value for name, value in record.items() if name not in layout.left_out}
        for name in record:
            if name not in layout:
                raise WrongRecordError(unexpected(name, layout))
        names = layout.used
        for name in names:
            if name not in record:
                problem = f"expected a key {shown(name)} (null where there is no value), got {shown(list(record))}"
                raise WrongRecordError(problem)
        return [record[name] for name in names]

    def _contents(self, records: list[dict[str | None, Any]]) -> Any:
        """Return what the collector takes of many objects without a check; raise an error if one may be wrong."""
        layout = self._meaning
        if isinstance(layout, TextsOrFeatures):
            texts = [record[layout.text] for record in records]
            if not layout.takes_texts or set(map(type, texts)) != {str}:
                raise ValueError
            return texts
        if layout.is_whole:
            if layout.missing == "error":
                raise ValueError
            for key in layout.left_out:
                for record in records:
                    record.pop(key, None)
            return records
        return self._numbers(records, layout)

    def _numbers(self, records: list[dict[str | None, Any]], layout: Layout) -> np.ndarray:
        """Return the numbers of objects that have the same keys."""
        names, n_keys = layout.used, len(records[0])
        others = records[0].keys() - layout.kinds.keys() - {self._label, self._weight}  # (which have been found in all objects)
        if not names or any(kind != NUMBER for kind in layout.kinds.values()) or others or set(map(len, records)) != {n_keys}:
            raise ValueError
        values = [record[name] for record in records for name in names]
        packed = struct.pack(f"{len(values)}d", *values)  # (fails for a text, a list and None)
        rows = np.frombuffer(packed).reshape(len(records), len(names))
        return in_range(rows, self._dtype)

    def _is_read_alike(self, piece: bytes) -> bool:
        """Return True if Python's json would read the same values in the same lines."""
        if self._loads is json.loads:
            return b"\\u" not in piece or not _SURROGATE.search(piece)  # (surrogates are refused a line at a time)
        opening = (np.frombuffer(piece, np.uint8) | 32) == ord("{")  # (or "[")
        if np.count_nonzero(opening) > n_lines(piece) + _DEEPEST:
            if max(line.count(b"[") + line.count(b"{") for line in piece.split(b"\n")) > _DEEPEST:
                return False
        return isinstance(self._meaning, TextsOrFeatures) or not self._meaning.is_whole or not _has_many_digits(piece)


def _has_many_digits(piece: bytes) -> bool:
    """Return True if there are 19 digits in a row: orjson rounds integers beyond 64 bits."""
    found = np.frombuffer(piece, np.uint8) - np.uint8(ord("0")) < 10
    for step in (1, 2, 4, 8, 3):  # runs of 2, 4, 8, 16 and 19
        found = found[:-step] & found[step:]
    return bool(found.any())
