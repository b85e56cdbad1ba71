"""Parquet and Arrow IPC through pyarrow: columns into batches, texts without copying."""

from __future__ import annotations

import contextlib

import numpy as np

from .._input.arrow import sound
from .._input.escaping import escaped, is_utf8
from .._input.rows import Rows
from ..text import HashingVectorizer
from ._errors import MalformedLineError, Tally
from ._records import Columns, Texts, WrongRecordError, decoded, number, shown


def _pyarrow(who: str):
    try:
        import pyarrow
        import pyarrow.ipc
        import pyarrow.parquet
    except ImportError:
        raise ImportError(f'{who}: pyarrow is needed to read Parquet and Arrow files: pip install "onlinecls[arrow]"') from None
    return pyarrow


@contextlib.contextmanager
def _readable(pa, name: str, format: str):
    """Turns pyarrow's errors about a damaged file into a ValueError that names it. An OSError with an errno is the system's, and
    stays as it is."""
    try:
        yield
    except (pa.ArrowException, UnicodeDecodeError, LookupError, OverflowError, MemoryError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise ValueError(f"{name}: not a readable {format} file: {escaped(str(error))}") from None


class Table:
    """One file: names of its columns, number of its rows if that is known, and its rows."""

    def __init__(self, source, format: str):
        pa = _pyarrow(source.name)
        if source.packed and format == "parquet":
            raise ValueError(f"{source.name}: Parquet is read in pieces from its end, got a compressed file. Unpack it first.")
        place, self.n_rows = source.path or source.file, None
        self._reading = lambda: _readable(pa, source.name, format)
        with self._reading():
            if format == "parquet":
                self._file = pa.parquet.ParquetFile(place)
                self.names, self.n_rows = list(self._file.schema_arrow.names), self._file.metadata.num_rows
                self._batches = None
                return
            if source.peek(8).startswith(b"ARROW1") and not source.packed:
                reader = pa.ipc.open_file(pa.OSFile(place) if source.path else place)
                self._batches = map(reader.get_batch, range(reader.num_record_batches))
            else:
                reader = self._batches = pa.ipc.open_stream(source)
            self._file, self.names = None, list(reader.schema.names)

    def pieces(self, names, n_rows: int):
        """The columns of n_rows rows at a time, or of fewer."""
        with self._reading():
            batches = iter(self._batches or self._file.iter_batches(batch_size=n_rows, columns=names))
        while True:
            with self._reading():
                batch = next(batches, None)
                if batch is None:
                    return
                batch.validate()
            for start in range(0, batch.num_rows, n_rows):
                with self._reading():
                    piece = batch.slice(start, n_rows).select(names)
                yield piece


def batches(files, format, table, columns: Columns, read_label, vectorizer, dtype, batch_rows: int, tally: Tally):
    """(X, y, weight) of each batch of rows; table is the first file's."""
    places = [k for k in (columns.label, columns.text, columns.weight, *columns.features) if k is not None]
    names = [columns.names[k] for k in dict.fromkeys(places)]
    for source in files:
        table = table or Table(source, format)
        if not set(names) <= set(table.names):
            raise ValueError(f"{source.name}: expected columns {names} as in the first file, got {table.names}.")
        twice = [name for name in names if table.names.count(name) > 1]
        if twice:
            raise ValueError(f"{source.name}: expected one column of a name, got several named {twice[0]!r}.")
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
    """Some rows of a table; malformed ones are refused and left out."""

    def __init__(self, name: str, first: int, piece, columns: Columns, tally: Tally):
        self.name, self.first, self.piece, self.columns, self.tally = name, first, piece, columns, tally
        self.good, self.pa = np.ones(piece.num_rows, bool), _pyarrow(name)

    def read(self, read_label, vectorizer, dtype):
        y = None if read_label.kind is None else self._labels(self._column(self.columns.label), read_label)
        weight = None if self.columns.weight is None else self._numbers(self.columns.weight, "a weight >= 0", 0.0)
        if self.columns.text is None:
            limit = float(np.finfo(dtype).max)
            wanted = f"a finite number that is a {np.dtype(dtype)}"
            names = self.columns.names
            parts = [self._numbers(k, f"{wanted} in column {names[k]!r}", -limit, limit) for k in self.columns.features]
            X = Rows.of_table(np.stack(parts, axis=1)[self.good].astype(dtype))
        else:
            X = self._texts(vectorizer)
        if not self.good.any():
            return None
        return X, None if y is None else read_label.array(y[self.good].tolist()), None if weight is None else weight[self.good]

    def _column(self, place: int):
        """A column that is safe to read, texts as bytes."""
        name = self.columns.names[place]
        column, types = self.piece.column(name), self.pa.types
        if types.is_nested(column.type) or types.is_null(column.type):  # a null column has any number of rows in no bytes
            raise ValueError(f"{self.name}: a column must hold numbers or texts, got {name!r} of type {column.type}.")
        return sound(column, f"{self.name}: the column {name!r} must be")

    def _refuse(self, row: int, problem: str) -> None:
        if self.good[row]:
            self.tally.refuse(MalformedLineError(self.name, self.first + row + 1, None, f" {problem}"))
            self.good[row] = False

    def _labels(self, column, read_label):
        y = np.empty(len(column), object)
        for row, value in self._values(column):
            try:
                y[row] = read_label(value)
            except WrongRecordError as error:
                self._refuse(row, str(error))
        return y

    def _values(self, column):
        """(row, value) of a column. Rows whose value Python cannot represent (dates after the year 9999, say) are refused."""
        try:
            yield from enumerate(column.to_pylist())
        except (self.pa.ArrowException, ValueError, OverflowError):
            for row in range(len(column)):
                try:
                    value = column[row].as_py()
                except (self.pa.ArrowException, ValueError, OverflowError):
                    self._refuse(row, f"expected a number or a text, got a {column.type} that Python has no value for")
                    continue
                yield row, value

    def _numbers(self, place: int, what: str, least: float, most: float = np.inf):
        column = self._column(place)
        try:
            values = column.to_numpy(zero_copy_only=False).astype(np.float64)  # NaN for null
        except (self.pa.ArrowException, TypeError, ValueError, ArithmeticError):
            values = np.full(len(column), np.nan)
            for row, value in self._values(column):
                try:
                    values[row] = number(value, what)
                except WrongRecordError as error:
                    self._refuse(row, str(error))
        bad = ~(np.isfinite(values) & (values >= least) & (values <= most))
        for row in np.flatnonzero(bad & self.good).tolist():
            self._refuse(row, f"expected {what}, got {shown(column[row].as_py())}")
        return values

    def _texts(self, vectorizer):
        """The rows of the texts; None if none is right."""
        name = self.columns.names[self.columns.text]
        are_strings, column = "string" in str(self.piece.column(name).type), self._column(self.columns.text)
        if not str(column.type).removeprefix("large_").startswith("binary"):
            raise ValueError(f"{self.name}: the column of the texts must hold strings, got {name!r} of type {column.type}.")
        for row in np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False)).tolist():
            self._refuse(row, "expected a text, got none")
        must_be_utf8 = Texts(vectorizer).must_be_utf8
        if isinstance(vectorizer, HashingVectorizer) and is_utf8(vectorizer.encoding):
            if vectorizer.feature_names is None or not must_be_utf8:  # (names are counted while texts are hashed: not twice)
                with contextlib.suppress(UnicodeDecodeError):
                    return self._transformed(vectorizer, column)
            self._as_strings(column)
            return self._transformed(vectorizer, column)
        strings = self._as_strings(column) if are_strings or must_be_utf8 else None
        texts = strings if are_strings else column.to_pylist()
        texts = [text for text, good in zip(texts, self.good, strict=True) if good]
        return vectorizer.transform(texts) if texts else None

    def _transformed(self, vectorizer, column):
        if not self.good.any():
            return None
        return vectorizer.transform(column if self.good.all() else column.filter(self.pa.array(self.good)))

    def _as_strings(self, column) -> list:
        """Texts decoded; rows that are not UTF-8 are refused."""
        texts = column.to_pylist()
        for row, text in enumerate(texts):
            try:
                texts[row] = None if text is None else decoded(text)
            except WrongRecordError as error:
                self._refuse(row, str(error))
        return texts
