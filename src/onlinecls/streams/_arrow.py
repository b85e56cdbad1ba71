"""Parquet and Arrow IPC through pyarrow: columns into batches, texts without copying."""

from __future__ import annotations

import numpy as np

from ..text import HashingVectorizer
from ._errors import MalformedLineError, Tally
from ._records import Columns, WrongRecordError, number, shown


def _pyarrow(who: str):
    try:
        import pyarrow
        import pyarrow.ipc
        import pyarrow.parquet
    except ImportError:
        raise ImportError(f'{who}: pyarrow is needed to read Parquet and Arrow files: pip install "onlinecls[arrow]"') from None
    return pyarrow


class Table:
    """One file: names of its columns, number of its rows if that is known, and its rows."""

    def __init__(self, source, format: str):
        pa = _pyarrow(source.name)
        if source.packed and format == "parquet":
            raise ValueError(f"{source.name}: Parquet is read in pieces from its end, got a compressed file. Unpack it first.")
        place, self.n_rows = source.path or source.file, None
        try:
            if format == "parquet":
                self._file = pa.parquet.ParquetFile(place)
                self.names, self.n_rows = list(self._file.schema_arrow.names), self._file.metadata.num_rows
                return
            if source.peek(8).startswith(b"ARROW1") and not source.packed:
                reader = pa.ipc.open_file(pa.OSFile(place) if source.path else place)
                self._batches = map(reader.get_batch, range(reader.num_record_batches))
            else:
                reader = self._batches = pa.ipc.open_stream(source)
            self._file, self.names = None, list(reader.schema.names)
        except (pa.ArrowInvalid, OSError) as error:
            raise ValueError(f"{source.name}: not a readable {format} file: {error}") from None

    def pieces(self, names, n_rows: int):
        """The columns of n_rows rows at a time, or of fewer."""
        if self._file is not None:
            yield from self._file.iter_batches(batch_size=n_rows, columns=names)
            return
        for batch in self._batches:
            for start in range(0, batch.num_rows, n_rows):
                yield batch.slice(start, n_rows).select(names)


def batches(files, format, table, columns: Columns, read_label, vectorizer, dtype, batch_rows: int, tally: Tally):
    """(X, y, weight) of each batch of rows; table is the first file's."""
    places = [k for k in (columns.label, columns.text, columns.weight, *columns.features) if k is not None]
    names = [columns.names[k] for k in dict.fromkeys(places)]
    for source in files:
        table = table or Table(source, format)
        if not set(names) <= set(table.names):
            raise ValueError(f"{source.name}: expected columns {names} as in the first file, got {table.names}.")
        size, done = files.size_of(source), 0
        for piece in table.pieces(names, batch_rows):
            part = _Part(source.name, done, piece, columns, tally)
            done += piece.num_rows
            if table.n_rows and size:
                source.claimed = size * done // table.n_rows
            batch = part.read(read_label, vectorizer, dtype)
            if batch is not None:
                yield batch
        table = None


class _Part:
    """Rows of a table; those that are not right are refused, and left out."""

    def __init__(self, name: str, first: int, piece, columns: Columns, tally: Tally):
        self.name, self.first, self.piece, self.columns, self.tally = name, first, piece, columns, tally
        self.good = np.ones(piece.num_rows, bool)

    def read(self, read_label, vectorizer, dtype):
        y = None if read_label.kind is None else self._labels(self._column(self.columns.label), read_label)
        weight = None if self.columns.weight is None else self._numbers(self.columns.weight, "a weight >= 0", 0.0)
        if self.columns.text is None:
            limit = float(np.finfo(dtype).max)
            wanted = f"a finite number that is a {np.dtype(dtype)}"
            names = self.columns.names
            parts = [self._numbers(k, f"{wanted} in column {names[k]!r}", -limit, limit) for k in self.columns.features]
            rows = np.stack(parts, axis=1)[self.good].astype(dtype)
        else:
            rows = self._texts(vectorizer)
        if not self.good.any():
            return None
        from scipy.sparse import csr_matrix

        X = csr_matrix(rows) if self.columns.text is None else vectorizer.transform(rows)
        return X, None if y is None else read_label.array(y[self.good].tolist()), None if weight is None else weight[self.good]

    def _column(self, place: int):
        column = self.piece.column(self.columns.names[place])
        is_dictionary = hasattr(column, "dictionary")
        return column.dictionary_decode() if is_dictionary else column

    def _refuse(self, row: int, problem: str) -> None:
        if self.good[row]:
            self.tally.refuse(MalformedLineError(self.name, self.first + row + 1, None, f" {problem}"))
            self.good[row] = False

    def _labels(self, column, read_label):
        y = np.empty(len(column), object)
        for row, value in enumerate(column.to_pylist()):
            try:
                y[row] = read_label(value)
            except WrongRecordError as error:
                self._refuse(row, str(error))
        return y

    def _numbers(self, place: int, what: str, least: float, most: float = np.inf):
        column = self._column(place)
        try:
            values = column.to_numpy(zero_copy_only=False).astype(np.float64)  # NaN for null
        except (TypeError, ValueError):
            values = np.full(len(column), np.nan)
            for row, value in enumerate(column.to_pylist()):
                try:
                    values[row] = number(value, what)
                except WrongRecordError as error:
                    self._refuse(row, str(error))
        bad = ~(np.isfinite(values) & (values >= least) & (values <= most))
        for row in np.flatnonzero(bad).tolist():
            self._refuse(row, f"expected {what}, got {shown(column[row].as_py())}")
        return values

    def _texts(self, vectorizer):
        pa = _pyarrow(self.name)

        column = self._column(self.columns.text)
        if not str(column.type).removeprefix("large_").startswith(("string", "binary")):
            name = self.columns.names[self.columns.text]
            raise ValueError(f"{self.name}: the column of the texts must hold strings, got {name!r} of type {column.type}.")
        for row in np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False)).tolist():
            self._refuse(row, "expected a text, got none")
        if not self.good.all():
            column = column.filter(pa.array(self.good))
        return column if isinstance(vectorizer, HashingVectorizer) else column.to_pylist()
