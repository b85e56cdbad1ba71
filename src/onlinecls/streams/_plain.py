"""Blocks of CSV and of JSON lines in which every value is plain, read by pyarrow at many times the speed of Python.

A block is plain if its rows are as many as its lines, all features are columns of numbers, and pyarrow and Python read every
value alike: a finite number in range, a text in UTF-8 without quotes, a missing value in a CSV field. Any other block is left to
the readers in Python.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ._records import WrongRecordError, json_object
from ._tables import IGNORED, MISSING, NUMBER

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from ._records import LabelReader
    from ._tables import Columns, Layout


LEAST = 1 << 18  # bytes of a block that is worth it


@dataclass
class PlainRows:
    """Rows of a block: labels as the reader of labels gives them, numbers (n_rows, n_features), weights or None."""

    labels: list
    numbers: NDArray[np.float64]
    weights: NDArray[np.float64] | None


class PlainReader:
    """Base: what a layout has of columns, and the rows of an Arrow table of them."""

    def __init__(self, read_label: LabelReader, dtype: np.dtype) -> None:
        self.read_label, self.largest = read_label, float(np.finfo(dtype).max)
        self.layout: Layout | None = None
        self.pa: Any = None
        self.is_missing = False  # pyarrow

    def _import(self) -> bool:
        """Import pyarrow, which takes half a second, at the first block; return False where it is not installed."""
        if self.pa is None and not self.is_missing:
            try:
                import pyarrow as pa
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
        if len(piece) < LEAST or layout is None or layout.is_whole or layout.is_open:
            return False
        if layout.text is not None or layout.missing == "error":
            return False
        if not self._import() or any(kind not in (NUMBER, IGNORED) for kind in layout.kinds.values()):
            return False
        try:
            piece.isascii() or piece.decode("utf-8")
        except UnicodeDecodeError:
            return False
        return b"\r" not in piece.replace(b"\r\n", b"")

    def _rows(self, table: Any, label: str | None, weight: str | None, features: list[str], n: int) -> PlainRows | None:
        if table.num_rows != n:
            return None
        numbers = np.empty((n, len(features)))
        for k, name in enumerate(features):
            numbers[:, k] = table.column(name).fill_null(0.0).to_numpy()
        if not (np.abs(numbers) <= self.largest).all():  # (not of NaN)
            return None
        labels: list = [] if label is None else self._labels(table.column(label))
        weights = None if weight is None else table.column(weight).to_numpy()
        if weights is not None and not (np.isfinite(weights) & (weights >= 0.0)).all():
            return None
        return PlainRows(labels or [None] * n, numbers, weights)

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

    def __init__(self, read_label: LabelReader, dtype: np.dtype, delimiter: str) -> None:
        super().__init__(read_label, dtype)
        self.delimiter = delimiter
        self.columns: Columns | None = None

    def __call__(self, piece: bytes) -> PlainRows | None:
        """Return the rows of whole lines; None if they are not plain."""
        columns = self.columns
        if columns is None or b'"' in piece or b"\n\n" in piece or b"\n\r\n" in piece or not self._fits(piece):
            return None
        pa, names = self.pa, [str(k) for k in range(len(columns.names))]
        label, weight = (None if place is None else names[place] for place in (columns.label, columns.weight))
        features = [names[k] for k in columns.features]
        types: dict[str, Any] = dict.fromkeys([*features, *([weight] if weight else [])], pa.float64())
        types.update({label: pa.string()} if label else {})
        try:
            table = pa.csv.read_csv(
                pa.py_buffer(piece),
                pa.csv.ReadOptions(use_threads=False, block_size=len(piece) + 1, column_names=names),
                pa.csv.ParseOptions(delimiter=self.delimiter, quote_char=False, ignore_empty_lines=False),
                pa.csv.ConvertOptions(
                    column_types=types, include_columns=list(types), null_values=sorted(MISSING), strings_can_be_null=False
                ),
            )
            if weight and table.column(weight).null_count:
                return None
            return self._rows(table, label, weight, features, piece.count(b"\n"))
        except self.errors:
            return None


class PlainJson(PlainReader):
    """Read plain blocks of JSON lines: objects of one set of keys, without a null."""

    def __call__(self, piece: bytes) -> PlainRows | None:
        """Return the rows of whole lines; None if they are not plain."""
        if not self._fits(piece) or b"\\u" in piece:
            return None
        layout, pa, fields = self.layout, self.pa, {}
        if layout is None or IGNORED in layout.kinds.values():
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
            if any(table.column(name).null_count for name in fields):  # (a key that is not there is no null)
                return None
            return self._rows(table, layout.label, layout.weight, features, piece.count(b"\n"))
        except self.errors:
            return None
