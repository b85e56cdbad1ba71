"""CSV, Parquet and Arrow files through pyarrow: batches of typed columns, or of texts. (The extra "tables" installs pyarrow.)"""

from __future__ import annotations

import csv as fields_of
import datetime
import io
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from .._input import escaped
from .._input.validate import brief
from ..text import without_views
from ._blocks import FARTHEST, MalformedLineError, batches, too_far, wrong_label
from ._parsers import CsvParser
from ._read import FORMS, KINDS
from ._sources import BOM

try:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.csv
    import pyarrow.ipc
    import pyarrow.parquet
except ImportError:
    raise ImportError('pyarrow is needed to read CSV, Parquet and Arrow: pip install "onlinecls[tables]"') from None

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ._sources import Files, Source

_TYPES = {"number": pa.float64(), "boolean": pa.bool_()}  # to which pyarrow converts as it reads CSV
_MISSING = pa.array(pa.csv.ConvertOptions().null_values)
FIRST_ROWS, FIRST_BYTES = 4096, 1 << 20  # rows of CSV that are read at once, and so tell the kinds, or bytes


class Table:
    """Make batches of the columns of files, of which their names tell what they are for: label, text, weight, and the features.

    The options are told what the text and the label are, and whether rows are a table.
    """

    def __init__(self, options: Any, who: str, names: list[str]):
        self.options, self.names, self.label_kind = options, names, ""
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"{who}: columns must have different names, got {brief(twice)} twice.")
        self.label = options.label if options.label is not None else "label" if options.header else "0"
        self.features = [name for name in names if name not in (self.label, options.weight)]
        if options.text is None and self.features == ["text"]:
            options.text = "text"
        options.is_table = options.text is None
        if options.is_table and not self.features:
            raise ValueError(f"{who}: a column of features or texts must be there besides the label, got {brief(names)}.")
        wanted = {"weight": options.weight, "text": options.text}
        if options.labelled:
            wanted["label"] = options.label = self.label
        self.used = [name for name in wanted.values() if name is not None] + self.features * options.is_table
        for what, name in wanted.items():
            if name is not None and name not in names:
                raise ValueError(
                    f"{who}: the column {name!r} of the {what}s must be there, got {brief(names)}. Name it ({what}=), and see "
                    "whether the delimiter is right."
                )

    def check_names(self, who: str, names: list[str]) -> None:
        if sorted(names) != sorted(self.names):
            raise ValueError(f"{who}: columns must be those of the first file, {brief(self.names)}, got {brief(names)}.")

    def batches(self, who: str, given: dict[str, Any], lines: np.ndarray) -> Iterator[Any]:
        """Yield (rows, labels, weights) of columns, arrays of pyarrow. lines : the number of each row."""
        options, counts = self.options, self.options.counts
        problems: dict[int, str] = {}
        labels = weights = None
        for name, column in given.items():
            if pa.types.is_dictionary(column.type) and name not in self.features:
                given[name] = column.dictionary_decode()
            else:
                given[name] = without_views(column)  # (which pyarrow cannot filter, either)
        if options.labelled:
            labels = self._labels(who, given[self.label], problems)
        if options.weight is not None:
            weights = _numbers(given[options.weight], "a weight >= 0", problems, least=0.0)
        if not options.is_table:
            rows = _texts(given[options.text], problems)
        else:
            found = [self._feature(name, given[name], problems) for name in self.features]
            rows = pa.RecordBatch.from_arrays(found, self.features)
        errors = {row: MalformedLineError(who, int(lines[row]), None, problems[row]) for row in sorted(problems)}
        if errors:
            keep = np.ones(len(lines), bool)
            if counts.skipping:
                keep[list(errors)] = False
                counts.refuse_rows(errors)
            else:
                keep[min(errors) :] = False
            rows = rows.filter(pa.array(keep))
            labels, weights = (None if each is None else each[keep] for each in (labels, weights))
        for start in range(0, len(rows), options.batch_rows):
            part = slice(start, start + options.batch_rows)
            X = rows.slice(start, options.batch_rows)
            X = X if options.is_table else options.texts_of(X)
            yield X, None if labels is None else labels[part], None if weights is None else weights[part]
        if errors and not counts.skipping:
            raise errors[min(errors)]

    def _labels(self, who: str, column: Any, problems: dict) -> np.ndarray:
        kind = column.type
        if self.options.labels == "number" or pa.types.is_floating(kind):
            found = _numbers(column, "a label that is a finite number", problems)
        elif pa.types.is_integer(kind) or pa.types.is_boolean(kind):
            _check_present(column, "a label (labels=None reads lines without)", problems)
            found = column.fill_null(pa.scalar(0).cast(kind)).to_numpy(zero_copy_only=False)
        else:
            coded = _converted(column, "text", "a label in UTF-8", problems).fill_null("").dictionary_encode()
            names, codes = coded.dictionary.to_pylist(), coded.indices.to_numpy(zero_copy_only=False)
            wrong = {code: why for code, name in enumerate(names) if (why := wrong_label(name))}
            found = np.array(["" if code in wrong else name for code, name in enumerate(names)], dtype=str)[codes]
            for row in np.flatnonzero(np.isin(codes, list(wrong))).tolist():
                problems.setdefault(row, wrong[codes[row]])
        self.label_kind = self.label_kind or found.dtype.kind
        if found.dtype.kind != self.label_kind:
            raise ValueError(f"{who}: labels must be of one type in all files, got another, {kind}.")
        return found

    def _feature(self, name: str, column: Any, problems: dict) -> Any:
        """Return a column of features; of CSV as what its first values that are not missing are."""
        if self.options.format == "csv" and _is_text(column.type):
            kinds = self.options.kinds
            texts = _texts(column, problems)
            values = pc.if_else(pc.is_in(texts, value_set=_MISSING), None, texts)
            if name not in kinds and values.null_count < len(values):
                kinds[name] = _kind_of(values)
            kind = kinds.get(name, "text")
            if kind == "text":
                column = pc.if_else(pc.equal(texts, ""), None, texts)
            else:
                what = {"number": "a number", "boolean": "true or false", "date": "a date"}.get(kind, f"a date like {kind}")
                column = _converted(values, kind, f"{what} in column {name!r}, as in the first rows", problems)
        if pa.types.is_floating(column.type):
            far = np.abs(column.cast(pa.float64()).to_numpy(zero_copy_only=False)) > FARTHEST
            for row in np.flatnonzero(far).tolist():  # (NaN is missing)
                wanted = f"a finite number within ±{FARTHEST} in column {name!r}"
                problems.setdefault(row, f"expected {wanted}, got {column[row].as_py()}")
        elif pa.types.is_nested(column.type) and ("float" in str(column.type) or "double" in str(column.type)):
            for row in (at for at, value in enumerate(column.to_pylist()) if too_far(value)):
                problems.setdefault(row, f"expected numbers within ±{FARTHEST} in column {name!r}, got {_shown(column[row])}")
        return column


# --- values --------------------------------------------------------------------------------------------------------------------


def _is_text(kind: Any) -> bool:
    return str(kind) in ("string", "large_string", "binary", "large_binary")


def _shown(value: Any) -> str:
    """Return a value of pyarrow for a message."""
    try:
        found = value.as_py()
    except ArithmeticError:  # (a time or decimal that Python has not)
        return str(value.type)
    return brief(found.decode(errors="backslashreplace") if isinstance(found, bytes) else found)


def _kind_of(values: Any) -> str:
    """Return what all values of CSV are."""
    for kind in KINDS:
        with suppress(pa.ArrowInvalid, pa.ArrowNotImplementedError):
            _cast(kind, values)
            break
    return kind


def _converted(column: Any, kind: str, wanted: str, problems: dict, start: int = 0) -> Any:
    """Convert a column, by halves where a value does not fit, which is a problem of its row, and null."""
    try:
        return _cast(kind, column)
    except pa.ArrowNotImplementedError:
        raise ValueError(f"read: expected {wanted}, got a column of {column.type}. Turn it into texts.") from None
    except pa.ArrowInvalid:
        half = len(column) // 2
    if half:
        halves = (column[:half], start), (column[half:], start + half)
        return pa.concat_arrays([_converted(part, kind, wanted, problems, at) for part, at in halves])
    problems.setdefault(start, f"expected {wanted}, got {_shown(column[0])}")
    return _cast(kind, pa.nulls(1, column.type))


def _check_present(column: Any, wanted: str, problems: dict) -> None:
    for row in np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False)).tolist():
        problems.setdefault(row, f"expected {wanted}, got none")


def _texts(column: Any, problems: dict) -> Any:
    column = _converted(column, "text", "a text in UTF-8", problems)
    _check_present(column, "a text in UTF-8", problems)
    return column


def _numbers(column: Any, wanted: str, problems: dict, least: float = -np.inf) -> np.ndarray:
    values = _converted(column, "number", wanted, problems)
    found = np.array(values.fill_null(np.nan).to_numpy(zero_copy_only=False))
    for row in np.flatnonzero(~(np.isfinite(found) & (found >= least))).tolist():
        problems.setdefault(row, f"expected {wanted}, got {_shown(column[row])}")
    return found


def _cast(kind: str, values: Any) -> Any:
    """Cast values to texts, numbers or flags, texts to dates (of UTC)."""
    if kind == "text":
        return values.cast(pa.string())
    if kind in FORMS:
        return _dates(values, kind)
    if kind == "date":
        try:
            return values.cast(pa.timestamp("us"))
        except pa.ArrowInvalid:
            return values.cast(pa.timestamp("us", "UTC")).cast(pa.timestamp("us"))
    return (pc.utf8_trim(values.cast(pa.string()), " \t") if _is_text(values.type) else values).cast(_TYPES[kind])


def _dates(values: Any, form: str) -> Any:
    """Return texts as dates. (pyarrow takes the 30th of February for the 1st of March.)"""
    found = pc.strptime(values, format=form, unit="s")
    for text in values.filter(pc.not_equal(pc.strftime(found, form), values)).to_pylist():
        try:
            datetime.datetime.strptime(text, form)
        except ValueError as error:
            raise pa.ArrowInvalid(str(error)) from None
    return found.cast(pa.timestamp("us"))


# --- files ---------------------------------------------------------------------------------------------------------------------


@contextmanager
def _readable(name: str, what: str) -> Iterator[None]:
    """Turn pyarrow's errors about a damaged file into a ValueError that names it; leave the system's OSErrors as they are."""
    try:
        yield
    except (pa.ArrowException, UnicodeDecodeError, LookupError, OverflowError, MemoryError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise ValueError(f"{name}: not a readable {what}: {escaped(str(error))}") from None


class _Csv(CsvParser):
    """Read rows of CSV as columns."""

    def __init__(self, options: Any, source: Source):
        super().__init__("columns" if options.labelled else None, max(FIRST_ROWS, options.batch_rows), FIRST_BYTES)
        self.options, self.name = options, ""
        self._head_of(source)
        self.table = Table(options, source.name, self.names)
        self.waits, self.by_file = options.is_table and not options.kinds, True

    def _head_of(self, source: Source) -> list[bytes]:
        """Find the names of the columns and the delimiter; return the lines before the first row.

        (Excel writes the delimiter in a line before the names: sep=;)
        """
        lines = source.peek_lines()
        n = int(lines[0].startswith(b"sep=") and len(lines[0].removesuffix(b"\r")) == 5)
        first = lines[n] if n < len(lines) else b""
        self.delimiter_of = chr(lines[0][4]) if n else self.options.delimiter
        try:
            text = first.removesuffix(b"\r").decode()
            self.names: list[str] = next(iter(fields_of.reader([text], delimiter=self.delimiter_of, strict=True)), [])
        except (UnicodeDecodeError, fields_of.Error) as error:
            raise ValueError(
                f"{source.name}: expected names of columns in the first line, got {brief(first[:40])} ({error})."
            ) from None
        if not self.options.header:
            self.names = [str(k) for k in range(len(self.names))]
        return lines[: n + self.options.header]

    def begin(self, source: Source) -> None:
        lines, self.name = self._head_of(source), source.name
        self.table.check_names(source.name, self.names)
        source.read(sum(map(len, lines)) + len(lines))
        self.leave_out(lines[-1].removesuffix(b"\r") if self.options.header else b"")
        self.n_fields, self.delimiter, self.line_number = len(self.names), ord(self.delimiter_of), len(lines)

    def batches(self) -> Iterator[Any]:
        text, lines = self.rows()
        kinds = self.options.kinds
        with _readable(self.name, "CSV file"):
            try:
                found = self._columns(text, {name: _TYPES.get(kinds.get(name), pa.string()) for name in self.table.used})
            except pa.ArrowInvalid:  # (a value of another kind, or a text that is not UTF-8)
                found = self._columns(text, dict.fromkeys(self.table.used, pa.binary()))
        self.waits = False
        yield from self.table.batches(self.name, found, lines)

    def _columns(self, text: bytes, types: dict[str, Any]) -> dict[str, Any]:
        found = pa.csv.read_csv(
            pa.py_buffer(BOM + text if text.startswith(BOM) else text),  # (of which pyarrow drops the first)
            pa.csv.ReadOptions(use_threads=False, block_size=len(text) + 4, column_names=self.names),
            pa.csv.ParseOptions(delimiter=self.delimiter_of, newlines_in_values=True),
            pa.csv.ConvertOptions(column_types=types, include_columns=list(types), strings_can_be_null=False),
        )
        return {name: found.column(name).combine_chunks() for name in types}


def typed(options: Any, files: Files) -> Iterator[Any]:
    """Return the batches of CSV, Parquet or Arrow files, and set `text`, `label` and `is_table` of the options."""
    if options.format == "csv":
        return batches(files, options, _Csv(options, files.current))
    what = f"{options.format.capitalize()} file"

    def read() -> Iterator[Any]:
        table = None
        for source in files:
            with _readable(source.name, what):
                schema, found = _opened(source, options)
                names = list(schema.names)
            if table is None:
                table = Table(options, source.name, names)
                yield  # (the options are set)
            table.check_names(source.name, names)
            n = 0
            while True:
                with _readable(source.name, what):
                    batch = next(found, None)
                    if batch is None:
                        break
                    batch.validate(full=True)  # (pyarrow trusts offsets wherever they point)
                given = dict(zip(batch.schema.names, batch.columns, strict=True))
                yield from table.batches(source.name, given, np.arange(n + 1, n + len(batch) + 1))
                n += len(batch)

    found = read()
    next(found)
    return found


def _opened(source: Source, options: Any) -> tuple[Any, Iterator[Any]]:
    """Return the schema of a file, and its record batches. All bytes of a file that is read from its end count as read."""
    file = source.file
    if options.format == "arrow" and not source.peek(8).startswith(b"ARROW1"):
        reader = pa.ipc.open_stream(io.BufferedReader(source))
        return reader.schema, iter(reader)
    if source.unpacker or not getattr(file, "seekable", bool)():
        came = "a compressed file. Unpack it first" if source.unpacker else "a pipe. Save it in a file first"
        raise ValueError(f"{source.name}: {options.format.capitalize()} is read in pieces from its end, got {came}.")
    source.n_stored = file.seek(0, 2)
    if options.format == "parquet":
        reader = pa.parquet.ParquetFile(file)
        return reader.schema_arrow, reader.iter_batches(batch_size=options.batch_rows)
    reader = pa.ipc.open_file(file)
    return reader.schema, map(reader.get_batch, range(reader.num_record_batches))
