"""Reading Parquet and Arrow IPC through pyarrow: columns are made into batches, without copying texts."""

from __future__ import annotations

import contextlib
import sys
from collections import Counter
from itertools import chain

import numpy as np

from .._input import escaped
from ..text import HashingVectorizer, is_utf8, rows_of_table, sound
from ._errors import Counts, MalformedLineError
from ._records import Texts, WrongRecordError, decoded, number, shown
from ._tables import BATCH_NUMBERS, CATEGORY, NUMBER, Columns, Layout, category, missing_value

_ROWS_FOR_KINDS = 1000  # rows in which a list is looked for, if the type lacks its length


def _pyarrow(who: str):
    try:
        import pyarrow
        import pyarrow.ipc
        import pyarrow.parquet
    except ImportError:
        raise ImportError(
            f'{who}: pyarrow is needed to read Parquet and Arrow files and data frames: pip install "onlinecls[arrow]"'
        ) from None
    return pyarrow


@contextlib.contextmanager
def _readable(pa, name: str, what: str):
    """Turn pyarrow's errors about a damaged file or table into a ValueError that names it; leave the system's OSErrors, which
    have an errno, as they are."""
    try:
        yield
    except (pa.ArrowException, UnicodeDecodeError, LookupError, OverflowError, MemoryError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise ValueError(f"{name}: not a readable {what}: {escaped(str(error))}") from None


class InMemory(list):
    """Stand for the files of a stream where there is a table in memory: the list of one source."""

    def __init__(self, table) -> None:
        super().__init__([self])
        self.table, self.name, self.claimed = table, f"<{type(table).__name__}>", 0

    def size_of(self, source) -> None:
        """Return that nobody knows the size in bytes."""


def is_table(source) -> bool:
    """Return True for a data frame of pandas, and for whatever gives its rows as a stream of Arrow batches."""
    return hasattr(source, "__arrow_c_stream__") or isinstance(source, getattr(sys.modules.get("pandas"), "DataFrame", ()))


class Table:
    """Read one file: the names of its columns, the number of its rows if it is known, and the rows."""

    def __init__(self, source, format: str):
        pa = self._pa = _pyarrow(source.name)
        if isinstance(source, InMemory):
            self.n_rows, self._file, self._reading = None, None, lambda: _readable(pa, source.name, "table of columns")
            with self._reading():
                if isinstance(source.table, getattr(sys.modules.get("pandas"), "DataFrame", ())):
                    reader = pa.Table.from_pandas(source.table, preserve_index=False).to_reader()
                else:
                    reader = pa.RecordBatchReader.from_stream(source.table)
            self._batches, self._schema, self.names = reader, reader.schema, list(reader.schema.names)
            return
        if source.packed and format == "parquet":
            raise ValueError(f"{source.name}: Parquet is read in pieces from its end, got a compressed file. Unpack it first.")
        place, self.n_rows = source.path or source.file, None
        needs_end = format == "parquet" or (source.peek(8).startswith(b"ARROW1") and not source.packed)
        if needs_end and not source.path and not getattr(place, "seekable", bool)():
            advice = "Save it in a file first" + (", or give an Arrow stream." if format == "arrow" else ".")
            raise ValueError(f"{source.name}: {format} is read in pieces from its end, got a pipe. {advice}")
        self._reading = lambda: _readable(pa, source.name, f"{format} file")
        with self._reading():
            if format == "parquet":
                self._file = pa.parquet.ParquetFile(place)
                self._schema, self.n_rows = self._file.schema_arrow, self._file.metadata.num_rows
                self.names = list(self._schema.names)
                self._batches = None
                return
            if source.peek(8).startswith(b"ARROW1") and not source.packed:
                reader = pa.ipc.open_file(pa.OSFile(place) if source.path else place)
                self._batches = map(reader.get_batch, range(reader.num_record_batches))
            else:
                reader = self._batches = pa.ipc.open_stream(source)
            self._file, self._schema, self.names = None, reader.schema, list(reader.schema.names)

    def _first_rows(self, name: str):
        """Return the first values of a column."""
        with self._reading():
            if self._batches is None:
                batch = next(self._file.iter_batches(batch_size=_ROWS_FOR_KINDS, columns=[name]), None)
            else:
                self._batches = iter(self._batches)
                batch = next(self._batches, None)
                self._batches = chain([] if batch is None else [batch], self._batches)
            if batch is None:
                return []
            column = batch.select([name]).column(0)
            column.validate(full=True)  # (pyarrow trusts offsets wherever they point)
            return column.slice(0, _ROWS_FOR_KINDS).to_pylist()

    def infer_kinds(self, layout: Layout) -> None:
        """Set the kinds of a layout's columns by their types."""
        types, schema, times = self._pa.types, self._schema, Counter(self.names)
        for name in [name for name, kind in layout.kinds.items() if kind is None]:
            if times[name] > 1:
                continue  # refused when it is read
            kind = schema.field(name).type
            text = kind.value_type if types.is_dictionary(kind) else kind
            if str(text).removeprefix("large_").startswith("string"):
                layout.kinds[name] = CATEGORY
            elif types.is_fixed_size_list(kind):
                layout.kinds[name] = kind.list_size
            elif types.is_list(kind) or types.is_large_list(kind):
                layout.kinds[name] = next((len(values) for values in self._first_rows(name) if values is not None), 1)
        layout.close()

    def pieces(self, names, n_rows: int):
        """Yield the named columns of n_rows rows at a time, or of fewer."""
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


def batches(files, format, table, layout: Layout, rows, read_label, batch_rows: int, counts: Counts):
    """Yield (X, y, weight) of each batch. table : the first file. rows : `TableRows`, or `Texts` with a vectorizer."""
    n_numbers = 0 if layout.text is not None else len(table.names) if layout.is_whole else rows.n_numbers
    n_rows = min(batch_rows, max(BATCH_NUMBERS // max(n_numbers, 1), 1))
    for source in files:
        table = table or Table(source, format)
        columns = Columns(layout, source.name, table.names)
        places = [k for k in (columns.label, columns.text, columns.weight, *columns.features) if k is not None]
        names = [columns.names[k] for k in dict.fromkeys(places)]
        size, done = files.size_of(source), 0
        for piece in table.pieces(names, n_rows):
            begin, error = done, None
            done += piece.num_rows
            if table.n_rows and size:
                source.claimed = size * done // table.n_rows
            while piece.num_rows:
                try:
                    batch = _Part(source.name, begin, piece, columns, counts).read(read_label, rows)
                except MalformedLineError as malformed:  # yield the rows before it first, if they are valid
                    error, piece = malformed, piece.slice(0, malformed.line - 1 - begin)
                    continue
                if batch is not None:
                    yield batch
                break
            if error is not None:
                raise error
        table = None


def _filtered(pa, table, rows: np.ndarray):
    """Return some rows of a table; pyarrow cannot filter views."""
    kinds = {"string_view": pa.large_string(), "binary_view": pa.large_binary()}
    schema = pa.schema([field.with_type(kinds.get(str(field.type), field.type)) for field in table.schema])
    return table.cast(schema).filter(pa.array(rows))


class _Part:
    """Read some rows of a table; refuse and leave out malformed ones."""

    def __init__(self, name: str, first: int, piece, columns: Columns, counts: Counts):
        self.name, self.first, self.piece, self.columns, self.counts = name, first, piece, columns, counts
        self.good, self.pa = np.ones(piece.num_rows, bool), _pyarrow(name)
        self.all = np.arange(piece.num_rows)

    def read(self, read_label, rows):
        y = None if read_label.kind is None else self._labels(self._column(self.columns.label), read_label)
        weight = None
        if self.columns.weight is not None:
            weight = self._numbers(self._column(self.columns.weight), self.all, "a weight >= 0", 0.0)
        if self.columns.keys is not None:
            X = self._whole(rows)
        else:
            X = self._table(rows) if self.columns.text is None else self._texts(rows.vectorizer)
        for n_before in (np.cumsum(self.good) - self.good)[~self.good].tolist():
            self.counts.leave_out(n_before)
        if not self.good.any():
            return None
        return X, None if y is None else read_label.array(y[self.good].tolist()), None if weight is None else weight[self.good]

    def _table(self, rows):
        """Return the rows of numbers, lists of numbers and categories; None if all are malformed."""
        numbers, texts = np.zeros((len(self.all), rows.n_numbers)), []
        start, fits = 0, f"a finite number that fits {rows.dtype} in "  # (to write the name of a dtype takes 20 us)
        for place, (name, kind, what) in zip(self.columns.features, rows.kinds, strict=True):
            column = self._column(place, nested=type(kind) is int)
            if kind == CATEGORY:
                texts.append(self._categories(column, name, what, rows.must_be_there))
                continue
            there = self.all[~column.is_null(nan_is_null=True).to_numpy(zero_copy_only=False)]
            self._require(there, what, rows.must_be_there)
            column, at = (column, slice(None)) if len(there) == len(self.all) else (column.take(self.pa.array(there)), there)
            wanted = fits + what
            width = 1 if kind == NUMBER else kind
            if kind == NUMBER:
                numbers[at, start] = self._numbers(column, there, wanted, -rows.largest, rows.largest)
            else:
                numbers[at, start : start + width] = self._lists(column, there, width, wanted, rows.largest)
            start += width
        if not self.good.any():
            return None
        if rows.hashed is None:
            return rows_of_table(numbers[self.good].astype(rows.dtype))
        for row in np.flatnonzero(self.good).tolist():
            rows.add_numbers_and_names(numbers[row].tolist(), [each[row] for each in texts if each[row] is not None])
        return rows.take()

    def _whole(self, rows):
        """Return a table of the rows as they stand, or what the vectorizer makes of it; None if all are malformed."""
        table = self.pa.Table.from_batches([self.piece])
        table = table.select([self.columns.names[k] for k in self.columns.features])
        for name in table.column_names if rows.must_be_there else ():
            there = self.all[~table.column(name).is_null(nan_is_null=True).to_numpy()]
            self._require(there, f"column {shown(name)}", True)
        if not self.good.any():
            return None
        table = table if self.good.all() else _filtered(self.pa, table, self.good)
        try:
            return rows.made(table)
        except (ValueError, TypeError) as error:
            faults = rows.faults(error, len(table), lambda row: table.slice(row, 1))
            if len(faults) in (0, len(table)):  # (of the type of a column, say)
                raise
            kept = self.all[self.good]
            for row, fault in faults.items():
                self._refuse(int(kept[row]), fault)
            return self._whole(rows)

    def _require(self, there: np.ndarray, what: str, must_be_there: bool) -> None:
        if must_be_there:
            for row in np.setdiff1d(self.all, there).tolist():
                self._refuse(row, missing_value(what))

    def _lists(self, column, there: np.ndarray, width: int, wanted: str, largest: float) -> np.ndarray:
        """Return lists of numbers of one length as a table."""
        lengths = np.array([width if each is None else len(each) for each in column]) if len(there) else np.zeros(0, int)
        for row, length in zip(there.tolist(), lengths.tolist(), strict=True):
            if length != width:
                self._refuse(row, f"expected a list of {width} numbers, got {length}")
        right = lengths == width
        values = column.filter(self.pa.array(right)).flatten() if not right.all() else column.flatten()
        found = np.zeros((len(there), width))
        numbers = self._numbers(values, np.repeat(there[right], width), wanted, -largest, largest)
        found[right] = numbers.reshape(right.sum(), width)  # (-1 for the rows would fail for empty lists)
        return found

    def _categories(self, column, name, what: str, must_be_there: bool) -> list:
        """Return name=value of each row; None for a row without a value."""
        found = [None] * len(self.all)
        for row, value in self._values(column):
            try:
                value = decoded(value) if isinstance(value, bytes) else value
                found[row] = None if value is None else category(name, value, what)
            except WrongRecordError as error:
                self._refuse(row, error)
        there = np.array([row for row, text in enumerate(found) if text is not None or not self.good[row]], int)
        self._require(there, what, must_be_there)
        return found

    def _column(self, place: int, nested: bool = False):
        """Return a column after checking its buffers, with texts as bytes. nested : whether it holds lists."""
        name = self.columns.names[place]
        column, types = self.piece.column(name), self.pa.types
        if types.is_nested(column.type) != nested or types.is_null(column.type):  # (a null column has any number of rows)
            raise ValueError(f"{self.name}: a column must hold numbers or texts, got {name!r} of type {column.type}.")
        return sound(column, f"{self.name}: the column {name!r} must be")

    def _refuse(self, row: int, problem: str | WrongRecordError) -> None:
        if self.good[row]:
            parameter = getattr(problem, "parameter", "")
            self.counts.refuse(MalformedLineError(self.name, self.first + row + 1, None, f" {problem}", parameter))
            self.good[row] = False

    def _labels(self, column, read_label):
        y = np.empty(len(column), object)
        for row, value in self._values(column):
            try:
                y[row] = read_label(value)
            except WrongRecordError as error:
                self._refuse(row, error)
        return y

    def _values(self, column):
        """Yield (row, value) of a column; refuse values that Python cannot represent, such as dates after the year 9999."""
        try:
            yield from enumerate(column.to_pylist())
        except (self.pa.ArrowException, ValueError, ArithmeticError):
            for row in range(len(column)):
                try:
                    value = column[row].as_py()
                except (self.pa.ArrowException, ValueError, ArithmeticError):
                    self._refuse(row, f"expected a number or a text, got a {column.type} that Python cannot represent")
                    continue
                yield row, value

    def _numbers(self, column, rows: np.ndarray, what: str, least: float, most: float = np.inf):
        """Return the values of a column as float64; refuse rows of values out of range. rows : the row of each value."""
        try:
            with np.errstate(invalid="ignore"):  # (of missing dates)
                values = column.to_numpy(zero_copy_only=False).astype(np.float64)  # NaN for null
        except (self.pa.ArrowException, TypeError, ValueError, ArithmeticError):
            values = np.full(len(column), np.nan)
            for at, value in self._values(column):
                try:
                    values[at] = number(value, what)
                except WrongRecordError:  # (the message must not depend on the rest of the batch)
                    self._refuse(int(rows[at]), f"expected {what}, got {shown(value)}")
        bad = ~(np.isfinite(values) & (values >= least) & (values <= most))
        for at in np.flatnonzero(bad & self.good[rows]).tolist():
            try:
                came = shown(column[at].as_py())
            except (self.pa.ArrowException, ValueError, ArithmeticError):
                came = f"a {column.type} that Python cannot represent"
            self._refuse(int(rows[at]), f"expected {what}, got {came}")
        return values

    def _texts(self, vectorizer):
        """Return the rows of the texts; None if all are malformed."""
        name = self.columns.names[self.columns.text]
        are_strings, column = "string" in str(self.piece.column(name).type), self._column(self.columns.text)
        if not str(column.type).removeprefix("large_").startswith("binary"):
            raise ValueError(f"{self.name}: the column of the texts must hold strings, got {name!r} of type {column.type}.")
        for row in np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False)).tolist():
            self._refuse(row, "expected a text, got none")
        must_be_utf8 = Texts(vectorizer).must_be_utf8
        if isinstance(vectorizer, HashingVectorizer) and is_utf8(vectorizer.encoding):
            if vectorizer.feature_names is None or not must_be_utf8:  # (hashing twice would count names twice)
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
        if self.good.all():
            return vectorizer.transform(column)
        table = _filtered(self.pa, self.pa.table({"": column}), self.good)
        return vectorizer.transform(table.column(0).combine_chunks())

    def _as_strings(self, column) -> list:
        """Return the texts decoded, and refuse rows that are not UTF-8."""
        texts = column.to_pylist()
        for row, text in enumerate(texts):
            try:
                texts[row] = None if text is None else decoded(text)
            except WrongRecordError as error:
                self._refuse(row, error)
        return texts
