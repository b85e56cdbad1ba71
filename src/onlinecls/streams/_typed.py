"""CSV, Parquet and Arrow files through pyarrow: batches of typed columns, or of texts. (The extra "tables" installs pyarrow.)"""

from __future__ import annotations

import csv as fields_of
import datetime
import re
from collections import deque
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .._input import escaped
from .._input.validate import LONGEST_LABEL, brief
from ._blocks import BOM, blocks, skip_bom, too_long
from ._errors import FARTHEST, HINTS, Counts, MalformedLineError, excerpt

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from ._sources import Files, Source

#: Forms of dates beside ISO 8601, as of strptime: those that can mean one day only.
FORMS = ("%Y/%m/%d", "%Y/%m/%d %H:%M:%S", "%d.%m.%Y", "%d.%m.%Y %H:%M")
KINDS = ("number", "boolean", "date", *FORMS)  # of the columns of CSV, in the order in which they are tried; else "text"


def _pyarrow(who: str) -> Any:
    try:
        import pyarrow
        import pyarrow.compute
        import pyarrow.csv
        import pyarrow.ipc
        import pyarrow.parquet
    except ImportError:
        raise ImportError(f'{who}: pyarrow is needed to read CSV, Parquet and Arrow: pip install "onlinecls[tables]"') from None
    return pyarrow


class Columns:
    """Tell what the columns of a file are for, by their names: label, text, weight, and the features.

    is_table : True if rows are columns of features, not texts.
    """

    def __init__(self, options: Any, who: str, names: list[str]):
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"{who}: columns must have different names, got {brief(twice)} twice.")
        self.label = self._named(options, "label", who, names, options.labelled)
        self.weight = self._named(options, "weight", who, names, options.weight is not None)
        others = [name for name in names if name not in (self.label, self.weight, *options.ignore)]
        self.text = self._named(options, "text", who, names, options.text is not None)
        if options.text is None and others == ["text"]:
            self.text = "text"
        self.features = [] if self.text is not None else others
        self.is_table = self.text is None
        if not (self.features or self.text):
            raise ValueError(f"{who}: a column of features or texts must be there besides the label, got {brief(names)}.")

    @staticmethod
    def _named(options: Any, what: str, who: str, names: list[str], is_needed: bool) -> str | None:
        given = getattr(options, what)
        name = what if given is None else given
        if given is None and what == "label" and not options.header and "label" not in names:
            name = "0"
        if name in names:
            return name if is_needed or what == "label" else None
        if is_needed:
            raise ValueError(
                f"{who}: the column {name!r} of the {what}s must be there, got {brief(names)}. Name it ({what}=), and see "
                "whether the delimiter is right."
            )
        return None


class _Batches:
    """Batches of (rows, labels, weights) of the columns of one stream of files."""

    def __init__(self, options: Any, columns: Columns, counts: Counts):
        self.options, self.columns, self.counts = options, columns, counts
        self.pa = _pyarrow("read")
        self.kind = ""  # of the labels, as of NumPy's dtypes

    def of(
        self, name: str, given: dict[str, Any], lines: np.ndarray, kinds: dict[str, str] | None = None,
        refused: Sequence[tuple[int, MalformedLineError]] = (),
    ) -> Iterator[Any]:
        """Yield batches of columns (arrays of pyarrow).

        lines : the number of each row. kinds : of CSV, to be converted. refused : errors of rows that were left out, and how many
        of these come before each.
        """
        problems: dict[int, tuple[str, str]] = {}
        columns, pa = self.columns, self.pa
        labels = weights = None
        if columns.label is not None and self.options.labelled:
            labels = self._labels(given[columns.label], kinds is not None, problems)
            self.kind = self.kind or labels.dtype.kind
            if labels.dtype.kind != self.kind:
                raise ValueError(f"{name}: labels must be of one type in all files, got another, {given[columns.label].type}.")
        if columns.weight is not None:
            weights = self._numbers(given[columns.weight], "a weight >= 0", problems, least=0.0)
        if columns.text is not None:
            rows = self._texts(given[columns.text], problems)
        else:
            found = [given[each] for each in columns.features]  # (pyarrow cannot filter views)
            found = [each.cast(pa.large_string()) if str(each.type) == "string_view" else each for each in found]
            if kinds is not None:
                found = [self._typed(each, column, kinds, problems) for each, column in zip(columns.features, found, strict=True)]
            for each, column in zip(columns.features, found, strict=True):
                self._refuse_far(each, column, problems)
            rows = pa.RecordBatch.from_arrays(found, columns.features)
        bad = [(row, MalformedLineError(name, int(lines[row]), None, f" {problem}", parameter))
               for row, (problem, parameter) in problems.items()]
        errors = sorted([*refused, *bad], key=lambda each: (each[0], each[1].line))
        if errors:
            keep = np.ones(len(lines), bool)
            keep[list(problems)] = False
            if not self.counts.skipping:
                keep[errors[0][0] :] = False
            rows = rows.filter(pa.array(keep))
            labels = labels[keep] if labels is not None else None
            weights = weights[keep] if weights is not None else None
            for place, error in errors if self.counts.skipping else ():
                self.counts.refuse(error, int(keep[:place].sum()))
        for start in range(0, len(rows), self.options.batch_rows):
            part = slice(start, start + self.options.batch_rows)
            X = rows.slice(start, self.options.batch_rows)
            if columns.text is not None:
                X = self.options.texts_of(X)
            yield X, None if labels is None else labels[part], None if weights is None else weights[part]
        for _, error in errors if not self.counts.skipping else ():
            raise error

    # --- columns --------------------------------------------------------------------------------------------------------------

    def _labels(self, column: Any, is_text: bool, problems: dict) -> np.ndarray:
        pa, pc = self.pa, self.pa.compute
        if self.options.labels == "number":
            return self._numbers(column, "a label that is a number", problems, parameter="label")
        kind = column.type
        if pa.types.is_dictionary(kind):
            column = column.dictionary_decode()
        if is_text or pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            column = self._texts(column, problems, f"a label{HINTS['labels']}", "labels").cast(pa.string())
            column = column.fill_null("")
            for row in np.flatnonzero(pc.equal(pc.utf8_length(column), 0).to_numpy(zero_copy_only=False)):
                problems.setdefault(int(row), (f"expected a label{HINTS['labels']}, got none", "labels"))
            for row in np.flatnonzero(pc.greater_equal(pc.find_substring(column, "\0"), 0).to_numpy(zero_copy_only=False)):
                problems.setdefault(int(row), ("expected a label without NUL, got one", "label"))
            for row in np.flatnonzero(pc.greater(pc.utf8_length(column), LONGEST_LABEL).to_numpy(zero_copy_only=False)):
                problem = f"expected a label of at most {LONGEST_LABEL} characters, got a longer one"
                problems.setdefault(int(row), (problem, "label"))
            return np.array([text if k not in problems else "" for k, text in enumerate(column.to_pylist())], dtype=str)
        for row in np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False)):
            problems.setdefault(int(row), (f"expected a label{HINTS['labels']}, got none", "labels"))
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
            raise ValueError(f"read: labels must be texts, integers or booleans, got a column of {kind}. Turn it into texts.")
        if pa.types.is_floating(kind):
            return self._numbers(column, "a label that is a finite number", problems, parameter="label")
        return column.fill_null(0 if not pa.types.is_boolean(kind) else False).to_numpy(zero_copy_only=False)

    def _numbers(
        self, column: Any, wanted: str, problems: dict, parameter: str = "", least: float = -np.inf,
    ) -> np.ndarray:
        pa = self.pa
        values = self._cast(column, pa.float64(), problems, wanted, parameter)
        found = np.array(values.fill_null(np.nan).to_numpy(zero_copy_only=False))
        for row in np.flatnonzero(~(np.isfinite(found) & (found >= least))).tolist():
            problems.setdefault(row, (f"expected {wanted}, got {brief(_shown(column[row]))}", parameter))
        return found

    def _refuse_far(self, name: str, column: Any, problems: dict) -> None:
        """Refuse numbers that a table cannot take, infinite ones too; NaN is missing."""
        if self.pa.types.is_floating(column.type):
            far = np.abs(column.cast(self.pa.float64()).to_numpy(zero_copy_only=False)) > FARTHEST
            for row in np.flatnonzero(far).tolist():
                wanted = f"a finite number within ±{FARTHEST} in column {name!r}"
                problems.setdefault(row, (f"expected {wanted}, got {column[row].as_py()}", ""))

    def _cast(self, column: Any, kind: Any, problems: dict, wanted: str, parameter: str = "", cast: Any = None) -> Any:
        """Convert a column; a value that does not fit is a problem of its row, and null."""
        pa, pc = self.pa, self.pa.compute
        cast = cast or (lambda values: pc.cast(values, kind))
        types = pa.types
        if not (types.is_floating(column.type) or types.is_integer(column.type) or types.is_boolean(column.type)):
            with suppress(pa.ArrowInvalid, pa.ArrowNotImplementedError):
                column = column.cast(pa.string())
        fits = np.ones(len(column), bool)
        try:
            return cast(column)
        except pa.ArrowNotImplementedError:
            raise ValueError(f"read: expected {wanted}, got a column of {column.type}. Turn it into texts.") from None
        except pa.ArrowInvalid:
            parts = [(0, len(column))]
        while parts:  # of which one value at least does not fit
            start, stop = parts.pop()
            if stop - start == 1:
                fits[start] = False
                continue
            middle = (start + stop) // 2
            parts += [part for part in ((start, middle), (middle, stop))
                      if not self._fits(cast, column.slice(part[0], part[1] - part[0]))]
        for row in np.flatnonzero(~fits).tolist():
            problems.setdefault(row, (f"expected {wanted}, got {brief(_shown(column[row]))}", parameter))
        return cast(pc.if_else(pa.array(fits), column, pa.scalar(None, column.type)))

    def _dates(self, values: Any, form: str) -> Any:
        """Return texts as dates. (pyarrow takes the 30th of February for the 1st of March.)"""
        pa, pc = self.pa, self.pa.compute
        found = pc.strptime(values, format=form, unit="s")
        for text in values.filter(pc.not_equal(pc.strftime(found, form), values)).to_pylist():
            try:
                datetime.datetime.strptime(text, form)
            except ValueError as error:
                raise pa.ArrowInvalid(str(error)) from None
        return found.cast(pa.timestamp("us"))

    def _fits(self, cast: Any, one: Any) -> bool:
        try:
            cast(one)
        except (self.pa.ArrowInvalid, self.pa.ArrowNotImplementedError):
            return False
        return True

    def _texts(self, column: Any, problems: dict, wanted: str = "a text in UTF-8", parameter: str = "") -> Any:
        """Return a column of texts that are UTF-8."""
        pa = self.pa
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        column = self._cast(column, pa.string(), problems, wanted, parameter)
        for row in np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False)).tolist():
            problems.setdefault(row, (f"expected {wanted}, got none", parameter))
        return column

    def _typed(self, name: str, column: Any, kinds: dict[str, str], problems: dict) -> Any:
        """Return a column of CSV as what its first values that are not missing are."""
        pa, pc = self.pa, self.pa.compute
        texts = self._cast(column, pa.string(), problems, "text in UTF-8")
        values = pc.if_else(pc.is_in(texts, value_set=pa.array(pa.csv.ConvertOptions().null_values)), None, texts)
        kind = kinds.get(name)
        if kind is None and values.null_count < len(values):
            kind = kinds[name] = next((each for each in KINDS if self._fits(self._cast_to(each), values)), "text")
        if kind in (None, "text"):
            return pc.if_else(pc.equal(texts, ""), None, texts)
        what = {"number": "a number", "boolean": "true or false"}.get(kind, "a date" if kind == "date" else f"a date like {kind}")
        return self._cast(values, None, problems, f"{what} in column {name!r}, as in the first rows", cast=self._cast_to(kind))

    def _cast_to(self, kind: str) -> Any:
        pa, pc = self.pa, self.pa.compute
        if kind in ("number", "boolean"):
            return partial(pc.cast, target_type=pa.float64() if kind == "number" else pa.bool_())
        if kind in FORMS:
            return partial(self._dates, form=kind)

        def iso(values: Any) -> Any:
            try:
                return pc.cast(values, pa.timestamp("us"))
            except pa.ArrowInvalid:
                return pc.cast(values, pa.timestamp("us", "UTC"))

        return iso


def _shown(value: Any) -> Any:
    """Return a value of pyarrow for a message."""
    try:
        found = value.as_py()
        return found.decode() if isinstance(found, bytes) else found
    except UnicodeDecodeError:
        return value.as_buffer().to_pybytes()
    except ArithmeticError:  # (a time or decimal that Python has not)
        return str(value.type)


# --- files ---------------------------------------------------------------------------------------------------------------------


@contextmanager
def _readable(pa: Any, name: str, what: str) -> Iterator[None]:
    """Turn pyarrow's errors about a damaged file into a ValueError that names it; leave the system's OSErrors as they are."""
    try:
        yield
    except (pa.ArrowException, UnicodeDecodeError, LookupError, OverflowError, MemoryError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise ValueError(f"{name}: not a readable {what}: {escaped(str(error))}") from None


def _head_of(source: Source, delimiter: str, header: bool) -> tuple[list[str], str]:
    """Return the names of the columns of CSV, and its delimiter. (Excel writes it in a first line of its own: sep=;)"""
    skip_bom(source)
    lines = source.peek_lines()
    first = lines[0].removesuffix(b"\r")
    if first.startswith(b"sep=") and len(first) == 5:
        source.drop(len(lines[0]) + 1)
        delimiter, first = chr(first[4]), (lines[1] if len(lines) > 1 else b"").removesuffix(b"\r")
    try:
        names = next(iter(fields_of.reader([first.decode()], delimiter=delimiter, strict=True)), [])
    except (UnicodeDecodeError, fields_of.Error) as error:
        raise ValueError(
            f"{source.name}: expected names of columns in the first line, got {brief(first[:40])} ({error})."
        ) from None
    return (names if header else [str(k) for k in range(len(names))]), delimiter


def csv(options: Any, files: Files, counts: Counts) -> tuple[Columns, Iterator[Any]]:
    """Return the columns of CSV files, and their batches."""
    _pyarrow(files.current.name)
    names, delimiter = _head_of(files.current, options.delimiter, options.header)
    columns = Columns(options, files.current.name, names)
    return columns, _csv_batches(options, files, _Batches(options, columns, counts), names, delimiter)


def _csv_batches(options: Any, files: Files, batches: _Batches, names: list[str], delimiter: str) -> Iterator[Any]:
    """Yield batches of blocks of whole rows; where a pipe is silent, of the rows that have come."""
    wanted, counts, is_first = names, batches.counts, True
    for source in files:
        if not is_first:
            names, delimiter = _head_of(source, options.delimiter, options.header)
            if sorted(names) != sorted(wanted):
                raise ValueError(f"{source.name}: columns must be those of the first file, {brief(wanted)}, got {brief(names)}.")
        is_first, at, to_skip = False, 0, int(options.header)
        held = b""  # of a row whose quoted field goes on in the next block
        for block, start, stop in blocks(source, options.block_bytes, options.max_line_bytes):
            if block is None and not stop:
                if counts.gaps:
                    yield None
                continue
            if block is None:  # (no quoted field goes on behind it)
                yield from _of_closed(source.name, held, at, to_skip, batches, names, delimiter, True)
                at, to_skip, held = at + held.count(b"\n") + 1, 0 if held else to_skip, b""
                counts.refuse(MalformedLineError(source.name, at, stop + 1, *too_long(options.max_line_bytes)), 0)
                continue
            data = held + bytes(memoryview(block)[start:stop])
            held = yield from _of_closed(source.name, data, at, to_skip, batches, names, delimiter, False)
            done = len(data) - len(held)
            at, to_skip = at + data.count(b"\n", 0, done), to_skip if not done else 0
        if held:
            yield from _of_closed(source.name, held, at, to_skip, batches, names, delimiter, True)


def _quoted(data: bytes, delimiter: str) -> Iterator[re.Match]:
    """Return matches of quoted fields, each with the byte before it; group 1 is the quote at its end, if it has one."""
    return re.finditer(rb'(?:\A|[\n\r' + re.escape(delimiter.encode()) + rb'])"[^"]*(?:""[^"]*)*("?)', data)


def _open_quote(data: bytes, delimiter: str, longest: int) -> tuple[int, int] | None:
    """Return where the quote is that begins a field without an end, or an end behind `longest` bytes of its row, and the row."""
    if b'"' not in data:
        return None
    codes = np.frombuffer(data, np.uint8)
    quotes = np.flatnonzero(codes == 34)
    before = codes[quotes[::2] - 1]  # (the first quote may be the first byte; the last one ends a line)
    begin = np.isin(before, (10, 13, 34, ord(delimiter))).all()  # every other quote begins a field
    if begin and len(quotes) % 2 == 0 and len(data) <= longest:
        return None
    row = end = 0
    for match in _quoted(data, delimiter):
        quote = match.start() + (data[match.start()] != 34)
        row = data.rfind(b"\n", end, quote) + 1 or row
        end = match.end()
        if not match[1] or end - row > longest:
            return quote, row
    return None


def _of_closed(
    name: str, data: bytes, at: int, to_skip: int, batches: _Batches, names: list[str], delimiter: str, is_last: bool
) -> Generator[Any, None, bytes]:
    """Yield the batches of a block; a line with a quote that nothing closes is malformed, and the rows go on behind it.

    Return the rest, from which on more is needed to tell.
    """
    longest = batches.options.max_line_bytes
    while (found := _open_quote(data, delimiter, longest)) is not None:
        (quote, start), stop = found, data.index(b"\n", found[0]) + 1
        if start:
            yield from _of_block(name, data[:start], at, to_skip, batches, names, delimiter)
        if not is_last and len(data) - start <= longest:
            return data[start:]
        at, to_skip = at + data.count(b"\n", 0, stop), 0
        problem = f"expected a quote at the end of the field, got {excerpt(data[quote:stop - 1])}"
        batches.counts.refuse(MalformedLineError(name, at, quote - data.rfind(b"\n", 0, quote), problem), 0)
        data = data[stop:]
    if data:
        yield from _of_block(name, data, at, to_skip, batches, names, delimiter)
    return b""


def _row_lines(data: bytes, delimiter: str, with_blank: bool) -> np.ndarray:
    """Return the number of the line, from 1, in which each row begins. (A CR alone ends a row for pyarrow, but no line.)"""
    codes = np.frombuffer(data, np.uint8)
    ends = codes == 10
    lines = np.cumsum(ends) - ends + 1
    ends |= (codes == 13) & np.append(codes[1:] != 10, True)
    for match in _quoted(data, delimiter):
        ends[match.start() + 1 : match.end()] = False
    stops = np.flatnonzero(ends)
    starts = np.append(0, stops[:-1] + 1)
    blank = (stops == starts) | ((stops - starts == 1) & (codes[starts] == 13))
    return lines[starts[~blank | with_blank]]


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _of_block(
    name: str, data: bytes, at: int, to_skip: int, batches: _Batches, names: list[str], delimiter: str
) -> Iterator[Any]:
    """Yield the batches of a block of rows that begins behind line `at`."""
    pa, counts, invalid, labelled = batches.pa, batches.counts, deque[Any](), batches.options.labelled

    def note(row: Any) -> str:
        invalid.append(row)
        return "skip"

    given_as, is_utf8 = BOM + data if data.startswith(BOM) else data, _is_utf8(data)  # (pyarrow drops the first)
    if not is_utf8:  # (pyarrow cannot hand over a malformed row that is not UTF-8)
        given_as = data.decode("latin-1").encode()
    with _readable(pa, name, "CSV file"):
        table = pa.csv.read_csv(
            pa.py_buffer(given_as),
            pa.csv.ReadOptions(use_threads=False, block_size=len(given_as) + 1, column_names=names, skip_rows=to_skip),
            pa.csv.ParseOptions(
                delimiter=delimiter, newlines_in_values=True, invalid_row_handler=note, ignore_empty_lines=labelled),
            pa.csv.ConvertOptions(column_types=dict.fromkeys(names, pa.binary()), strings_can_be_null=False),
        ).combine_chunks() if data.count(b"\n") > to_skip or not to_skip else None
    if table is None:
        return
    lines: list[int] = []
    refused: list[tuple[int, MalformedLineError]] = []
    rows_at, n = to_skip, table.num_rows
    numbered = np.arange(1, to_skip + n + len(invalid) + 1)
    are_lines = data.count(b"\n") == len(numbered) and data.count(b"\r") == data.count(b"\r\n")
    if not are_lines and len(found := _row_lines(data, delimiter, not labelled)) == len(numbered):
        numbered = found
    if not invalid:
        lines = (at + numbered[to_skip:]).tolist()
    numbered = numbered.tolist()
    while len(lines) < n or invalid:
        rows_at += 1
        if invalid and (invalid[0].number in (None, rows_at) or len(lines) == n):
            row = invalid.popleft()
            if not labelled and not (row.text or "").strip():
                counts.leave_out(len(lines))
                continue
            problem = f" expected {row.expected_columns} fields, got {row.actual_columns}"
            refused.append((len(lines), MalformedLineError(name, at + numbered[rows_at - 1], None, problem)))
        else:
            lines.append(at + numbered[rows_at - 1])
    given = {each: table.column(each).combine_chunks() for each in names}
    given = {each: column.chunk(0) if hasattr(column, "chunk") else column for each, column in given.items() if n}
    if not is_utf8:
        given = {each: pa.array([value.decode().encode("latin-1") for value in column.to_pylist()], pa.binary())
                 for each, column in given.items()}
    if not n:
        for _, error in refused:
            counts.refuse(error, 0)
        return
    numbers = np.array(lines, np.int64)
    if (repeated := _repeated_headers(pa, given)) is not None:
        given = {each: column.filter(repeated) for each, column in given.items()}
        kept = repeated.to_numpy(zero_copy_only=False)
        numbers, refused = numbers[kept], [(int(kept[:place].sum()), error) for place, error in refused]
    yield from batches.of(name, given, numbers, batches.options.kinds, refused)


def _repeated_headers(pa: Any, given: dict[str, Any]) -> Any:
    """Return which rows to keep where files were joined with their headers; None for all."""
    is_header = None
    for name, column in given.items():
        same = pa.compute.equal(column, pa.scalar(name.encode(), pa.binary()))
        is_header = same if is_header is None else pa.compute.and_(is_header, same)
        if not pa.compute.any(is_header).as_py():
            return None
    return pa.compute.invert(is_header)


def parquet(options: Any, files: Files, counts: Counts) -> tuple[Columns, Iterator[Any]]:
    """Return the columns of Parquet files, and their batches."""
    return _of_arrow(options, files, counts, _open_parquet, "Parquet file")


def arrow(options: Any, files: Files, counts: Counts) -> tuple[Columns, Iterator[Any]]:
    """Return the columns of files or streams of Arrow's IPC format, and their batches."""
    return _of_arrow(options, files, counts, _open_arrow, "Arrow file")


def _of_arrow(options: Any, files: Files, counts: Counts, opened: Any, what: str) -> tuple[Columns, Iterator[Any]]:
    pa = _pyarrow(files.current.name)
    with _readable(pa, files.current.name, what):
        schema, first = opened(pa, files.current, options.batch_rows)
        names = list(schema.names)
    columns = Columns(options, files.current.name, names)
    return columns, _arrow_batches(files, _Batches(options, columns, counts), schema, first, opened, what)


def _arrow_batches(files: Files, batches: _Batches, schema: Any, found: Any, opened: Any, what: str) -> Iterator[Any]:
    pa, is_first = batches.pa, True
    for source in files:
        if not is_first:
            with _readable(pa, source.name, what):
                own, found = opened(pa, source, batches.options.batch_rows)
            if sorted(own.names) != sorted(schema.names):
                raise ValueError(f"{source.name}: columns must be those of the first file, {schema.names}, got {own.names}.")
        is_first, n = False, 0
        while True:
            with _readable(pa, source.name, what):
                batch = next(found, None)
                if batch is not None:
                    batch.validate(full=True)  # (pyarrow trusts offsets wherever they point)
            if batch is None:
                break
            given = dict(zip(batch.schema.names, batch.columns, strict=True))
            yield from batches.of(source.name, given, np.arange(n + 1, n + len(batch) + 1))
            n += len(batch)
            source.claimed = max(source.claimed, min(files.size_of(source) or 0, source.claimed + batch.nbytes))


def _place_of(source: Source, what: str) -> Any:
    place = source.path or source.file
    if source.packed or not (source.path or getattr(place, "seekable", bool)()):
        came = "a compressed file. Unpack it first" if source.packed else "a pipe. Save it in a file first"
        raise ValueError(f"{source.name}: {what} is read in pieces from its end, got {came}.")
    return place


def _open_parquet(pa: Any, source: Source, batch_rows: int) -> tuple[Any, Iterator[Any]]:
    file = pa.parquet.ParquetFile(_place_of(source, "Parquet"))
    return file.schema_arrow, file.iter_batches(batch_size=batch_rows)


def _open_arrow(pa: Any, source: Source, batch_rows: int) -> tuple[Any, Iterator[Any]]:
    if source.peek(8).startswith(b"ARROW1"):
        place = _place_of(source, "an Arrow file")
        reader = pa.ipc.open_file(pa.OSFile(place) if isinstance(place, str) else place)
        return reader.schema, map(reader.get_batch, range(reader.num_record_batches))
    reader = pa.ipc.open_stream(source)
    return reader.schema, iter(reader)
