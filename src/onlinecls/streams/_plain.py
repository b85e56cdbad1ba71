"""Blocks of CSV and of JSON lines in which every value is plain, read by pyarrow or orjson at many times the speed of Python.

A block is plain if its rows are as many as its lines, and these packages and Python read every value alike: a finite number in
range, a text in UTF-8 without quotes, a missing value in a CSV field; JSON without integers beyond 64 bits. The readers in Python
read any other block, a line at a time.
"""

from __future__ import annotations

import csv
import json
import re
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np

from ..tables import TextTable
from ._records import WrongRecordError, json_object, weight_of
from ._tables import IGNORED, MISSING, NUMBER

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from numpy.typing import NDArray

    from ._records import LabelReader
    from ._tables import Columns, Layout


LEAST = 1 << 18  # bytes of a file or pipe that are worth it
_SMALL = 1 << 13  # bytes of a block that are
_FEW = 64  # rows of a block that are not: pyarrow takes 20 us a column of a block
_DEEPEST = 200  # brackets in a line of JSON that Python's json surely reads
_BLANK = re.compile(rb"\n[ \t]+\n")
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


@dataclass
class PlainRows:
    """Rows of a block: labels as the reader of labels gives them, what the collector of rows takes, weights or None."""

    labels: list
    rows: Any
    weights: NDArray[np.float64] | None


class PlainReader:
    """Base: what a layout has of columns, and the rows of an Arrow table of them."""

    def __init__(self, read_label: LabelReader, dtype: np.dtype) -> None:
        self.read_label, self.largest = read_label, float(np.finfo(dtype).max)
        self.layout: Layout | None = None
        self.pa: Any = None
        self.is_missing = False  # pyarrow
        self.n_bytes = 0

    def _import(self) -> bool:
        """Import pyarrow, which takes half a second, at the first block; return False where it is not installed."""
        if self.pa is None and not self.is_missing:
            try:
                import pyarrow as pa
                import pyarrow.compute
                import pyarrow.csv
                import pyarrow.json
            except ImportError:
                self.is_missing = True
                return False
            self.pa, self.errors = pa, (pa.ArrowException, ValueError, OverflowError, WrongRecordError)
        return self.pa is not None

    def _fits(self, piece: bytes) -> bool:
        """Return True if a block can be plain at all."""
        layout = self.layout
        self.n_bytes += len(piece)
        if self.n_bytes < LEAST or len(piece) < min(LEAST, _SMALL) or layout is None or layout.is_open:
            return False
        if layout.missing == "error" or n_lines(piece) < min(LEAST, _FEW):
            return False
        if not self._import() or any(kind not in (NUMBER, IGNORED) for kind in layout.kinds.values()):
            return False
        return is_utf8(piece) and (b"\r" not in piece or b"\r" not in piece.replace(b"\r\n", b""))

    def _rows(self, table: Any, label: str | None, weight: str | None, features: list[str], n: int) -> PlainRows | None:
        if table.num_rows != n:
            return None
        numbers, places = np.empty((n, len(features))), {name: k for k, name in enumerate(table.column_names)}
        for k, name in enumerate(features):
            numbers[:, k] = table.column(places[name]).fill_null(0.0).to_numpy()
        if not (np.abs(numbers) <= self.largest).all():  # (not of NaN)
            return None
        return self._labelled(table, label, weight, numbers)

    def _labelled(self, table: Any, label: str | None, weight: str | None, rows: Any) -> PlainRows | None:
        labels: list = [None] * table.num_rows if label is None else self._labels(table.column(label))
        weights = None if weight is None else table.column(weight).to_numpy()
        if weights is not None and not (np.isfinite(weights) & (weights >= 0.0)).all():
            return None
        return PlainRows(labels, rows, weights)

    def _labels(self, column: Any) -> list:
        if not self.pa.types.is_string(column.type):
            values = column.to_numpy()
            if not (np.abs(values) < 2**53).all():
                raise WrongRecordError("not plain")
            return values.tolist()
        codes = column.combine_chunks().dictionary_encode()
        found = np.array([self.read_label(value) for value in codes.dictionary.to_pylist()] + [None], object)[:-1]
        return found[codes.indices.to_numpy(zero_copy_only=False)].tolist()


class PlainCsv(PlainReader):
    """Read plain blocks of CSV. columns : those of the present file; None: its header has not been read."""

    def __init__(self, read_label: LabelReader, dtype: np.dtype, delimiter: str, header: bool) -> None:
        super().__init__(read_label, dtype)
        self.delimiter, self.header = delimiter, header
        self.columns: Columns | None = None

    def __call__(self, piece: bytes) -> PlainRows | None:
        """Return the rows of whole lines; None if they are not plain."""
        columns = self.columns
        if columns is None or not self._fits(piece) or self._has_other_lines(columns.names, piece):
            return None
        has_quotes = b'"' in piece
        if has_quotes and not are_around_fields(piece, ord(self.delimiter)):
            return None
        pa, names = self.pa, [str(k) for k in range(len(columns.names))]
        label, weight = (None if place is None else names[place] for place in (columns.label, columns.weight))
        are_texts = columns.keys is not None or columns.text is not None
        features = [names[k] for k in (columns.features if columns.text is None else [columns.text])]
        types: dict[str, Any] = dict.fromkeys(features, pa.string() if are_texts else pa.float64())
        types.update({weight: pa.float64()} if weight else {})
        types.update({label: pa.string()} if label else {})
        try:
            table = pa.csv.read_csv(
                pa.py_buffer(piece),
                pa.csv.ReadOptions(use_threads=False, block_size=len(piece) + 1, column_names=names),
                pa.csv.ParseOptions(delimiter=self.delimiter, quote_char='"' if has_quotes else False, ignore_empty_lines=False),
                pa.csv.ConvertOptions(
                    column_types=types, include_columns=list(types), null_values=sorted(MISSING), strings_can_be_null=False
                ),
            )
            if weight and table.column(weight).null_count:
                return None
            if not are_texts:
                return self._rows(table, label, weight, features, n_lines(piece))
            if table.num_rows != n_lines(piece) or b"\0" in piece or may_have_long_fields(piece):
                return None
            if columns.keys is None:
                return self._labelled(table, label, weight, table.column(0).to_pylist())
            return self._labelled(table, label, weight, TextTable(table.select(features).rename_columns(columns.keys)))
        except self.errors:
            return None

    def _has_other_lines(self, names: list, piece: bytes) -> bool:
        """Return True if a line may be empty or a repeated header, which have no row."""
        lines = b"\n" + (piece.replace(b"\r\n", b"\n") if b"\r" in piece else piece)  # (the piece begins where a line does)
        ends = np.frombuffer(lines, np.uint8) == ord("\n")
        if (ends[1:] & ends[:-1]).any() or (len(names) == 1 and _BLANK.search(lines)):
            return True
        if not lines.isascii() and b"\n\xef\xbb\xbf" in lines:
            return True
        if not self.header:
            return False
        header = self.delimiter.join(names).encode("utf-8", "surrogateescape").replace(b'"', b"")
        return b"\n%b\n" % header in lines.replace(b'"', b"")


class PlainJson(PlainReader):
    """Read plain blocks of JSON lines: objects of one set of keys, without a null."""

    def __call__(self, piece: bytes) -> PlainRows | None:
        """Return the rows of whole lines; None if they are not plain."""
        if not self._fits(piece) or b"\\u" in piece:
            return None
        layout, pa, fields = self.layout, self.pa, {}
        if layout is None or layout.is_whole or IGNORED in layout.kinds.values():
            return None
        if self.read_label.kind == "auto":  # the type of the labels is that of the first one
            try:
                self.read_label(json_object(piece[: piece.index(b"\n")]).get(layout.label))
            except (WrongRecordError, ValueError):
                return None
        kind = {"a text": "string", "a number": "float64"}.get(self.read_label.wanted or "")
        if self.read_label.kind is not None and kind is None:
            return None
        if layout.label is not None:
            fields[layout.label] = pa.string() if kind == "string" else pa.float64()
        if layout.weight is not None:
            fields[layout.weight] = pa.float64()
        features = layout.used
        fields.update(dict.fromkeys(features, pa.float64()))
        try:
            table = pa.json.read_json(
                pa.py_buffer(piece), pa.json.ReadOptions(use_threads=False, block_size=len(piece) + 1),
                pa.json.ParseOptions(explicit_schema=pa.schema(fields), unexpected_field_behavior="error"),
            )
            if any(column.null_count for column in table.columns):  # (a key that is not there is no null)
                return None
            return self._rows(table, layout.label, layout.weight, features, n_lines(piece))
        except self.errors:
            return None


class PlainObjects:
    """Read blocks of JSON lines that hold texts, or whole rows of a table, by orjson where it is installed.

    label, weight : keys. text : the key of the texts; None: all keys but those left out make a row of a table.
    """

    def __init__(
        self, read_label: LabelReader, label: str, weight: str | None, text: str | None, left_out: Iterable[str] = ()
    ) -> None:
        self.read_label, self.label, self.weight, self.text = read_label, label, weight, text
        self.left_out = tuple(left_out)
        try:
            self.loads = import_module("orjson").loads
        except ImportError:
            self.loads = json.loads

    def __call__(self, piece: bytes) -> PlainRows | None:
        """Return the rows of whole lines; None if they are not plain."""
        if len(piece) < min(LEAST, _SMALL) or not is_utf8(piece) or not self._is_read_alike(piece):
            return None
        lines = piece.split(b"\n")[:-1]
        try:
            records = list(map(self.loads, lines))
            if set(map(type, records)) != {dict}:
                return None
            labels = self._labels(records)
            weights = None if self.weight is None else np.array([weight_of(record[self.weight]) for record in records])
            return PlainRows(labels, self._rows(records), weights)
        except (ValueError, KeyError, TypeError, RecursionError, WrongRecordError):
            return None

    def _is_read_alike(self, piece: bytes) -> bool:
        """Return True if Python's json would read the same values in the same lines."""
        if self.loads is json.loads:
            return b"\\u" not in piece or not _SURROGATE.search(piece)  # (which the readers in Python refuse)
        if piece.count(b"[") + piece.count(b"{") > n_lines(piece) + _DEEPEST:
            if max(line.count(b"[") + line.count(b"{") for line in piece.split(b"\n")) > _DEEPEST:
                return False
        return self.text is not None or not has_many_digits(piece)

    def _labels(self, records: list[dict]) -> list:
        if self.read_label.kind is None:
            return [None] * len(records)
        given = [record[self.label] for record in records]
        if not any(set(map(type, given)) <= kinds for kinds in ({str}, {int, float})):
            raise TypeError
        if not isinstance(given[0], str) and max(map(abs, given)) >= 2**53:  # (orjson rounds integers beyond 64 bits)
            raise ValueError
        read = {label: self.read_label(label) for label in dict.fromkeys(given)}
        return [read[label] for label in given]

    def _rows(self, records: list[dict]) -> list:
        if self.text is None:
            for key in self.left_out:
                for record in records:
                    record.pop(key, None)
            return records
        texts = [record[self.text] for record in records]
        if set(map(type, texts)) != {str}:
            raise TypeError
        return texts


def n_lines(piece: bytes) -> int:
    return int(np.count_nonzero(np.frombuffer(piece, np.uint8) == ord("\n")))  # (many times as fast as bytes.count)


def is_utf8(piece: bytes) -> bool:
    try:
        return piece.isascii() or bool(piece.decode("utf-8"))
    except UnicodeDecodeError:
        return False


def has_many_digits(piece: bytes) -> bool:
    """Return True if there are 19 digits in a row: orjson rounds integers beyond 64 bits."""
    found = np.frombuffer(piece, np.uint8) - np.uint8(ord("0")) < 10
    for step in (1, 2, 4, 8, 3):  # runs of 2, 4, 8, 16 and 19
        found = found[:-step] & found[step:]
    return bool(found.any())


def may_have_long_fields(piece: bytes) -> bool:
    """Return True if a field of whole lines may be too long for Python's csv."""
    step = csv.field_size_limit() // 2
    return any(piece.find(b"\n", start, start + step) < 0 for start in range(0, len(piece) - step, step))


def are_around_fields(piece: bytes, delimiter: int) -> bool:
    """Return True if each quote in whole lines of CSV begins or ends a field: there is none within a field, and no line end."""
    text = np.frombuffer(b"\n" + piece, np.uint8)
    places = np.flatnonzero(text == ord('"'))
    ends = (text == delimiter) | (text == ord("\n")) | (text == ord("\r"))
    if len(places) % 2 or not ends[places[0::2] - 1].all() or not ends[places[1::2] + 1].all():
        return False
    return not (np.searchsorted(places, np.flatnonzero(text == ord("\n"))) % 2).any()
