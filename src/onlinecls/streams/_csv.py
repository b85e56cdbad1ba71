"""The reader of CSV: Python's csv or pyarrow splits bytes into fields; what fields mean is said once.

pyarrow, where it is installed, is many times as fast. It reads a block of lines at once if Python's csv would read the same:
as many rows as lines, no quote but around whole fields, and values that are finite numbers in range, texts in UTF-8 or missing.
Python's csv reads any other block.
"""

from __future__ import annotations

import csv
import io
import re
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from ._errors import HINTS, MalformedLineError, excerpt
from ._formats import MANY_LINES, delimiter_of, first_lines, has_bare_quotes
from ._records import Block, Record, WrongRecordError, is_utf8, n_lines, pieces_of, pointed, record_of, utf8
from ._tables import IGNORED, MISSING_TEXTS, NUMBER, Columns, TextTable, in_range

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from ._records import LabelReader
    from ._sources import Files, Source
    from ._tables import Layout

LEAST = 1 << 18  # bytes of files that are worth the import of pyarrow, which takes half a second
_SMALL, _FEW = 1 << 13, 64  # bytes and rows of a block that are not worth pyarrow's 20 us a column
_ROWS_FOR_KINDS = 1000  # first rows, by whose values the kinds of columns are inferred
_BLANK = re.compile(rb"\n[ \t]+\n")


class CsvReader:
    """Read the records of files of CSV.

    delimiter : a character, or "auto": that of each file's header. layout : the meaning of the columns, by make_layout(name of
    the file, names of the columns, column of the labels), which is called with the first row. dtype : of X.
    """

    def __init__(
        self, files: Files, max_line_bytes: int, delimiter: str, header: bool, read_label: LabelReader, dtype: np.dtype,
        make_layout: Callable[[str, list, str | int], Layout],
    ) -> None:
        self._max_line_bytes, self._given, self._header = max_line_bytes, delimiter, header
        self._delimiter = "," if delimiter == "auto" else delimiter  # of the present file
        self._has_quoting = True  # False: quotes in it are characters like others
        self._read_label, self._dtype, self._make_layout = read_label, dtype, make_layout
        self._n_bytes = 0  # of the pieces so far
        self._columns: Columns | None = None  # of the present file; None: its header has not been read
        self.layout: Any = None
        self._infers_kinds = True
        first, records = files.current.name, self._records_of_files(files)
        ahead: list[Record | Block | None] = []
        for record in records:
            ahead.append(record)
            if self.layout is not None and not (self.layout.is_open and len(ahead) < _ROWS_FOR_KINDS):
                break
        if self.layout is None:
            raise ValueError(f"{first}: expected CSV with a header, got an empty file.")
        self.layout.close()
        self._infers_kinds = False
        self.records: Iterator[Record | Block | None] = chain(ahead, records)

    def _records_of_files(self, files: Files) -> Iterator[Record | Block | None]:
        for source in files:
            if self._header:
                self._columns = None
                self._find_dialect(source)
            yield from self._records_of(source)

    def _find_dialect(self, source: Source) -> None:
        """Find the delimiter of a file with a header, and whether its quotes stand around fields."""
        if self._given == "auto":
            lines = first_lines(source, False, None)
            self._delimiter = delimiter_of(lines[:MANY_LINES])
            self._has_quoting = self._delimiter != "\t" or not has_bare_quotes(lines)

    def _records_of(self, source: Source) -> Iterator[Record | Block | None]:
        lines = _Lines(pieces_of(source, self._max_line_bytes))
        reader = csv.reader(
            lines, delimiter=self._delimiter, strict=True, quoting=csv.QUOTE_MINIMAL if self._has_quoting else csv.QUOTE_NONE
        )
        while True:
            line, record = lines.n_taken + 1, None
            try:
                if not lines.has_next:
                    piece = lines.next_piece()
                    if piece is None:
                        yield None
                        continue
                    block = self._block(source.name, line, piece)
                    if block is not None:
                        lines.n_taken += len(block.labels)
                        yield block
                        continue
                    lines.load(piece)
                row = next(reader)
                if self._given == "auto" and self._delimiter == "\t" and lines.n_taken > line:
                    self._require_no_rows(row)
                if row and (len(row) > 1 or row[0].strip(" \t") or '"' in lines.last):  # (no line of blanks)
                    record = self._record(source.name, line, row)
            except StopIteration:
                return
            except WrongRecordError as error:
                record = self._malformed(source.name, line, error)
            except csv.Error as error:
                parameter = "csv.field_size_limit" if "field limit" in str(error) else ""
                problem = f"expected CSV, got something else: {error}.{HINTS.get(parameter, '')}"
                record = self._malformed(source.name, line, WrongRecordError(problem, parameter))
            if record is not None:
                yield record

    def _malformed(self, name: str, line: int, problem: WrongRecordError) -> Record:
        if self._columns is None:
            raise ValueError(f"{name}: {problem}")
        return Record(name, line, problem=problem)

    def _require_no_rows(self, row: list[str]) -> None:
        """Refuse a field that has whole rows in it: its quote is a character, unlike those of the first lines."""
        n_tabs = len(self._columns.names if self._columns else row) - 1
        for field in row:
            line_ends = field.count("\n")
            if n_tabs and any(line.count("\t") == n_tabs for line in field.split("\n")[1:]):
                shown = excerpt(f'"{field}'.encode("utf-8", "surrogateescape").partition(b"\n")[0])
                raise WrongRecordError(
                    f"expected quotes around a field of the table, got {shown}, which would go on for {line_ends} lines more. "
                    "A quote that is a character is written twice, in a field with quotes around it"
                )

    # --- what the fields mean ---------------------------------------------------------------------------------------------------

    def _record(self, name: str, line: int, row: list[str]) -> Record | None:
        """Return the record of a row; None of a header, which may come again and then begin with a mark, as a file does."""
        columns = self._columns
        if columns is None:
            columns = self._columns = self._columns_of(name, line, row)
            if self._header:
                return None
        elif self._header and row[0].removeprefix("\ufeff") == columns.names[0] and row[1:] == columns.names[1:]:
            return None
        if self._infers_kinds and len(row) == len(columns.names):
            self.layout.infer(zip(columns.names, row, strict=True))
        return record_of(name, line, self._parts, row)

    def _columns_of(self, name: str, line: int, row: list[str]) -> Columns:
        """Return the columns of a file by its first row, without which there are none."""
        try:
            _require_utf8(row)
        except WrongRecordError as error:
            problem = f" {error} in the header. Convert the file first, as by iconv -t UTF-8."
            raise MalformedLineError(name, line, None, problem) from None
        names = row if self._header else list(range(len(row)))
        if self.layout is None:
            self.layout = self._make_layout(name, names, "label" if self._header else 0)
        return Columns(self.layout, name, names)

    def _parts(self, row: list[str]) -> tuple[str | None, Any, str | None]:
        """Return the label of a row, its text or features, and its weight."""
        columns: Any = self._columns
        if len(row) != len(columns.names):
            raise WrongRecordError(f"expected {len(columns.names)} fields, got {len(row)}")
        _require_utf8(row)
        content: Any = row[columns.text] if columns.text is not None else [row[k] for k in columns.features]
        if columns.keys is not None:
            content = dict(zip(columns.keys, content, strict=True))
        label = None if columns.label is None else row[columns.label]
        return label, content, None if columns.weight is None else pointed(row[columns.weight], self._read_label.decimal)

    # --- blocks, by pyarrow -----------------------------------------------------------------------------------------------------

    def _block(self, name: str, line: int, piece: bytes | WrongRecordError) -> Block | None:
        """Return the rows of whole lines; None if Python's csv has to read them."""
        columns = self._columns
        if columns is None or isinstance(piece, WrongRecordError) or not self._is_worth_it(piece):
            return None
        if not is_utf8(piece) or (b"\r" in piece and b"\r" in piece.replace(b"\r\n", b"")):
            return None
        are_texts, has_quotes = columns.keys is not None or columns.text is not None, self._has_quoting and b'"' in piece
        if self._has_other_lines(columns.names, piece) or (has_quotes and not _are_around_fields(piece, ord(self._delimiter))):
            return None
        if are_texts and (b"\0" in piece or _may_have_long_fields(piece)):
            return None
        pa = _pyarrow()
        if pa is None:
            return None
        try:
            table = self._split(pa, columns, piece, has_quotes, are_texts)
            return Block(name, line, *self._parts_of_table(columns, table)) if table.num_rows == n_lines(piece) else None
        except (pa.ArrowException, ValueError, OverflowError):
            return None

    def _is_worth_it(self, piece: bytes) -> bool:
        """Return True if a block is so large that pyarrow may be faster, and has nothing but numbers or texts."""
        self._n_bytes += len(piece)
        layout = self.layout
        if self._n_bytes < LEAST or len(piece) < min(LEAST, _SMALL) or n_lines(piece) < min(LEAST, _FEW):
            return False
        return layout.missing != "error" and all(kind in (NUMBER, IGNORED) for kind in layout.kinds.values())

    def _has_other_lines(self, names: list, piece: bytes) -> bool:
        """Return True if a line may be empty or a repeated header, which have no row."""
        lines = b"\n" + (piece.replace(b"\r\n", b"\n") if b"\r" in piece else piece)  # (the piece begins where a line does)
        ends = np.frombuffer(lines, np.uint8) == ord("\n")  # (a search for b"\n\n" takes six times as long)
        if (ends[1:] & ends[:-1]).any() or (len(names) == 1 and _BLANK.search(lines)):  # (blanks have too few fields for more)
            return True
        if not lines.isascii() and b"\n\xef\xbb\xbf" in lines:
            return True
        if not self._header:
            return False
        header = self._delimiter.join(names).encode("utf-8", "surrogateescape").replace(b'"', b"")
        return b"\n%b\n" % header in lines.replace(b'"', b"")

    def _split(self, pa: Any, columns: Columns, piece: bytes, has_quotes: bool, are_texts: bool) -> Any:
        """Return pyarrow's table of the columns that are read, each of which has its place for a name."""
        features = columns.features if columns.text is None else [columns.text]
        types = dict.fromkeys(features, pa.string() if are_texts else pa.float64())
        for place, kind in ((columns.weight, pa.float64()), (columns.label, pa.string())):
            if place is not None and types.setdefault(place, kind) != kind:  # (a column may be read twice)
                raise ValueError
        return pa.csv.read_csv(
            pa.py_buffer(piece),
            pa.csv.ReadOptions(
                use_threads=False, block_size=len(piece) + 1, column_names=[str(k) for k in range(len(columns.names))]
            ),
            pa.csv.ParseOptions(delimiter=self._delimiter, quote_char='"' if has_quotes else False, ignore_empty_lines=False),
            pa.csv.ConvertOptions(
                column_types={str(k): kind for k, kind in types.items()}, include_columns=list(map(str, types)),
                null_values=sorted(MISSING_TEXTS), strings_can_be_null=False, decimal_point=self._read_label.decimal,
            ),
        )

    def _parts_of_table(self, columns: Columns, table: Any) -> tuple[list, Any, list | None]:
        """Return the labels, the texts or features, and the weights; raise ValueError if a value may be malformed."""
        labels, weights = [None] * table.num_rows, None
        if columns.label is not None:
            codes = table.column(str(columns.label)).combine_chunks().dictionary_encode()
            found = np.array([self._read_label(value) for value in codes.dictionary.to_pylist()] + [None], object)[:-1]
            labels = found[codes.indices.to_numpy(zero_copy_only=False)].tolist()
        if columns.weight is not None:
            numbers = table.column(str(columns.weight)).to_numpy()  # NaN for a missing one
            if not (np.isfinite(numbers) & (numbers >= 0.0)).all():
                raise ValueError
            weights = numbers.tolist()
        if columns.text is not None:
            return labels, table.column(str(columns.text)).to_pylist(), weights
        if columns.keys is not None:
            return labels, TextTable(table.select(list(map(str, columns.features))).rename_columns(columns.keys)), weights
        rows = np.empty((table.num_rows, len(columns.features)))
        for k, place in enumerate(columns.features):
            rows[:, k] = table.column(str(place)).fill_null(0.0).to_numpy()
        return labels, in_range(rows, self._dtype), weights


class _Lines:
    """Iterate over the lines of a file for Python's csv, which may take several for a row.

    n_taken : lines that are in rows, or in blocks, which csv does not see. last : the line that csv has taken.
    """

    def __init__(self, pieces: Iterator[bytes | WrongRecordError | None]) -> None:
        self._pieces, self._rest, self._n_left = pieces, b"", 0
        self._lines: Iterator[str] = iter(())
        self.n_taken, self.last = 0, ""

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        while not self.has_next:
            piece = self.next_piece()
            if piece is not None:
                self.load(piece)
        self.last = next(self._lines)
        self._n_left, self.n_taken = self._n_left - 1, self.n_taken + 1
        return self.last

    @property
    def has_next(self) -> bool:
        return self._n_left > 0

    def next_piece(self) -> bytes | WrongRecordError | None:
        """Return the next piece of the file, the first line by itself: pyarrow can read the lines below a header."""
        piece, self._rest = self._rest or next(self._pieces), b""
        if isinstance(piece, bytes) and self.n_taken == 0:
            end = piece.index(b"\n") + 1
            piece, self._rest = piece[:end], piece[end:]
        return piece

    def load(self, piece: bytes | WrongRecordError) -> None:
        """Load the lines of a piece of the file."""
        if isinstance(piece, WrongRecordError):
            self.n_taken += 1
            raise piece
        lines = list(io.StringIO(piece.decode("utf-8", "surrogateescape"), newline=""))
        self._lines, self._n_left = iter(lines), len(lines)


def _require_utf8(row: list[str]) -> None:
    if not all(map(str.isascii, row)):
        for field in row:
            utf8(field)


def _pyarrow() -> Any:
    """Return pyarrow; None where it is not installed."""
    try:
        import pyarrow.compute
        import pyarrow.csv
    except ImportError:
        return None
    return pyarrow


def _may_have_long_fields(piece: bytes) -> bool:
    """Return True if a field of whole lines may be too long for Python's csv."""
    step = csv.field_size_limit() // 2
    return any(piece.find(b"\n", start, start + step) < 0 for start in range(0, len(piece) - step, step))


def _are_around_fields(piece: bytes, delimiter: int) -> bool:
    """Return True if each quote in whole lines of CSV begins or ends a field: there is none within a field, and no line end."""
    text = np.frombuffer(b"\n" + piece, np.uint8)
    places = np.flatnonzero(text == ord('"'))
    ends = (text == delimiter) | (text == ord("\n")) | (text == ord("\r"))
    if len(places) % 2 or not ends[places[0::2] - 1].all() or not ends[places[1::2] + 1].all():
        return False
    return not (np.searchsorted(places, np.flatnonzero(text == ord("\n"))) % 2).any()
