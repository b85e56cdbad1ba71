"""Records of (label, text or features, weight), which readers in Python make of files, and their batches."""

from __future__ import annotations

import codecs
import math
import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._input import escaped
from .._input.validate import LONGEST_LABEL
from ._blocks import blocks, skip_bom, too_long
from ._errors import HINTS, Counts, MalformedLineError
from ._features import FeatureRows
from ._labels import ROUNDED, aside

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from .._hashing.sketch import Names
    from .._rows import Rows
    from ._sources import Files, Source

_BATCH_CHARS = 1 << 22  # of texts in a batch
_BLOCK = 1 << 20  # bytes
_BLANKS = b" \t"  # a line of nothing else is empty
_LABEL = b"__label__"  # before the labels of fastText


class WrongRecordError(ValueError):
    """Raised for a malformed record; the reader of the format adds the file and the line."""

    def __init__(self, problem: str, parameter: str = ""):
        super().__init__(problem)
        self.parameter = parameter  # of the hint


class RefusedRowsError(ValueError):
    """Raised for rows of a batch that a vectorizer refuses. rows : {row: its error}."""

    def __init__(self, rows: dict[int, str]):
        super().__init__()
        self.rows = rows


@dataclass(slots=True)
class Record:
    """Hold a row of a file, or why there is none.

    line : the number of its first line. content : a text, or features, as the collector of rows takes them. problem : the error
    of a malformed record. is_empty : whether the line is empty, which is no row.
    """

    name: str
    line: int
    label: Any = None
    content: Any = None
    weight: Any = None
    problem: WrongRecordError | None = None
    is_empty: bool = False


@dataclass(slots=True)
class Block:
    """Hold rows of a line each that need no check, from this line on.

    labels : as `LabelReader` gives them. contents : what the collector of rows takes with `extend`. weights : or None.
    """

    name: str
    line: int
    labels: list
    contents: Any
    weights: list[float] | None



class LabelReader:
    """Read labels of one kind: "number", "str", None for no labels, or "auto" for that of the first label.

    With "auto" all labels must be of that kind, as True, 1 and "1" would become one; the others convert them. like : pattern
    that each text must match, or None. called : what such a text is called in an error. decimal : what stands before decimals in
    texts that are numbers.
    """

    def __init__(self, kind: str | None, like: re.Pattern[str] | None = None, called: str = "", decimal: str = "."):
        self.kind, self.like, self.called, self.decimal = kind, like, called, decimal
        self.wanted: str | None = None

    def __call__(self, value: Any) -> Any:
        if self.kind is None:
            return None
        if value is None or (isinstance(value, (str, bytes)) and not value):
            raise WrongRecordError(f"expected a label{HINTS['labels']}, got none", "labels")
        if isinstance(value, (list, tuple, dict)):
            kind = "an object" if isinstance(value, dict) else "a list"
            raise WrongRecordError(f"expected one label a row, a text or a number, got {kind}, {shown(value)}", "label")
        if self.kind == "auto":
            self.wanted = _kind_of(value)
            self.kind = "str" if self.wanted == "a text" else "number"
        if self.wanted not in (None, _kind_of(value)):
            raise WrongRecordError(f"expected a label that is {self.wanted}, as the first one, got {shown(value)}", "label")
        if self.kind == "number":
            try:
                return exact(value, number(pointed(value, self.decimal), "a label"))
            except WrongRecordError as error:
                text = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
                raise WrongRecordError(f"{error}{aside(text) if isinstance(text, str) else ''}", "label") from None
        return self._text(value)

    def _text(self, value: Any) -> str:
        """Return a label that is a text."""
        if isinstance(value, (float, np.floating)) and not math.isfinite(value):
            raise WrongRecordError(f"expected a label that is a text or a finite number, got {shown(value)}")
        try:
            text = decoded(value) if isinstance(value, bytes) else str(value)
        except WrongRecordError:
            raise
        except Exception:
            raise WrongRecordError(f"expected a label that is a text or a number, got {shown(value)}") from None
        if len(text) > LONGEST_LABEL:  # (an array of labels has room for the longest label in every row)
            raise WrongRecordError(f"expected a label of at most {LONGEST_LABEL} characters, got one of {len(text)}")
        if self.like is not None and not self.like.fullmatch(text):
            raise WrongRecordError(f"expected {self.called}, got {shown(text)}{aside(text, self.called)}", "label")
        return text

    def read_all(self, values: list) -> list:
        """Return the labels of many values, and read each different one once; raise ValueError if one may be malformed."""
        if self.kind is None:
            return [None] * len(values)
        kinds = set(map(type, values)) or {str}
        if kinds != {str} and (self.kind == "str" or not kinds <= {int, float}):  # (True equals 1, but is another label)
            raise ValueError
        if kinds != {str} and max(map(abs, values)) >= ROUNDED:  # (orjson rounds integers beyond 64 bits)
            raise ValueError
        read = {value: self(value) for value in dict.fromkeys(values)}
        return [read[value] for value in values]

    def array(self, labels: list) -> Any:
        if self.kind is None:
            return None
        return np.array(labels, dtype=np.float64 if self.kind == "number" else str)


def number(value: Any, what: str) -> float:
    if isinstance(value, bytes):
        value = decoded(value)
    try:
        if isinstance(value, str) and "_" in value:
            raise ValueError
        result = float(value)
    except (TypeError, ValueError, ArithmeticError):  # (ArithmeticError: of a Decimal that signals)
        raise WrongRecordError(f"expected a finite number for {what}, got {shown(value)}") from None
    if not math.isfinite(result):
        raise WrongRecordError(f"expected a finite number for {what}, got {shown(value)}")
    return result


def exact(value: Any, read: float) -> float:
    """Return the number that was read of a label unless it is a whole number that float64 rounds."""
    if isinstance(value, bytes):
        value = decoded(value)
    whole = value.strip().lstrip("+-").isdecimal() if isinstance(value, str) else not isinstance(value, (float, np.floating))
    if abs(read) >= ROUNDED and whole:
        raise WrongRecordError(f"expected a whole number below 2^53 for a label{HINTS['label']}, got {shown(value)}")
    return read


def _kind_of(label: Any) -> str:
    if isinstance(label, (str, bytes)):
        return "a text"
    return "true or false" if isinstance(label, (bool, np.bool_)) else "a number"


def pointed(value: Any, decimal: str) -> Any:
    """Return a text with a point before its decimals, and nothing between its thousands; anything else as it is."""
    return value.replace(".", "").replace(",", ".") if decimal == "," and isinstance(value, str) else value


def weight_of(value: Any) -> float:
    weight = number(value, "a weight")
    if weight < 0:
        raise WrongRecordError(f"expected a weight >= 0, got {shown(value)}")
    return weight


def decoded(text: bytes) -> str:
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as error:
        came = shown(text[error.start : error.start + 8])
        raise WrongRecordError(f"expected text in UTF-8, got {came} at byte {error.start + 1}") from None


def utf8(text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise WrongRecordError(f"expected text in UTF-8, got {shown(text)}") from None


def shown(value: Any) -> str:
    """Return a value for a message, at most 40 characters. (repr may fail, for an integer of 5000 digits say.)"""
    try:
        text = repr(value)
    except Exception:
        return f"a {type(value).__name__}"
    text = escaped(text)
    return text if len(text) <= 40 else text[:37] + "..."


def n_until(sizes: list[int], sum_: int) -> int:
    """Return how many sizes, from the first on, it takes to reach a sum; all of them if they do not."""
    return len(sizes) if sum(sizes) < sum_ else int(np.searchsorted(np.cumsum(sizes), sum_)) + 1


class Texts:
    """Collect the texts of a batch for a vectorizer."""

    def __init__(self, vectorizer: Any):
        self.vectorizer, self.n_chars = vectorizer, 0
        self.texts: list[str | bytes] = []
        encoding = codecs.lookup(getattr(vectorizer, "encoding", "utf-8")).name
        self.must_be_utf8 = encoding == "utf-8" and getattr(vectorizer, "decode_error", "strict") == "strict"

    def add(self, text: Any) -> None:
        if isinstance(text, str):
            text.isascii() or utf8(text)
        elif not isinstance(text, bytes):
            raise WrongRecordError(f"expected a text, got {'none' if text is None else shown(text)}")
        elif self.must_be_utf8 and not text.isascii():
            decoded(text)
        self.texts.append(text)
        self.n_chars += len(text)

    def extend(self, texts: list, start: int, stop: int) -> int:
        """Append trusted texts until the batch is full; return the first one left."""
        sizes = list(map(len, texts[start:stop]))
        n = n_until(sizes, _BATCH_CHARS - self.n_chars)
        self.texts += texts[start : start + n]
        self.n_chars += sum(sizes[:n])
        return start + n

    @property
    def full(self) -> bool:
        return self.n_chars >= _BATCH_CHARS

    def take(self) -> Any:
        texts, self.texts, self.n_chars = self.texts, [], 0
        return self.vectorizer.transform(texts)


class Features:
    """Collect rows of {name: value}, hashed as by scikit-learn's FeatureHasher: a text v of a name n is the feature "n=v"."""

    def __init__(self, batch_rows: int, batch_nnz: int, n_features: int, dtype: np.dtype, names: Names | None = None):
        self.rows, self.dtype = FeatureRows(batch_rows, batch_nnz, n_features, dtype, 0, names), dtype

    def add(self, features: Any) -> None:
        if not isinstance(features, dict):
            raise WrongRecordError(f"expected an object of features, got {shown(features)}")
        names, values = [], []
        for name, value in features.items():
            is_text = isinstance(value, str)
            names.append(utf8(f"{name}={value}" if is_text else name))
            values.append(1.0 if is_text else number(value, f"feature {shown(name)}"))
        if not self.rows.add(names, values):
            raise WrongRecordError(f"expected features in the range of {self.dtype}, got larger ones")

    @property
    def full(self) -> bool:
        return self.rows.full

    def take(self) -> Rows:
        return self.rows.take()[0]


class TextsOrFeatures:
    """Collect the texts or the features of JSON objects, whichever the first of them has. text, features : the keys of both."""

    def __init__(self, text: str, features: str, texts: Texts, hashed: Features):
        self.text, self.features, self._both = text, features, (hashed, texts)
        self.rows: Texts | Features | None = None

    def add(self, record: dict) -> None:
        if self.text not in record and self.features not in record:
            raise WrongRecordError(f"expected a key {self.text!r} or {self.features!r}, got {shown(list(record))}")
        is_text, kinds = self.text in record, ("features", "a text")
        rows = self._both[is_text]
        if self.rows not in (None, rows):
            raise WrongRecordError(f"expected {kinds[not is_text]} as in the first object, got {kinds[is_text]}")
        rows.add(record[self.text if is_text else self.features])
        self.rows = rows

    @property
    def takes_texts(self) -> bool:
        return self.rows is not self._both[False]

    def extend(self, texts: list, start: int, stop: int) -> int:
        """Append texts, as `Texts.extend`."""
        self.rows = found = self._both[1]
        return found.extend(texts, start, stop)

    @property
    def full(self) -> bool:
        return self.rows is not None and self.rows.full

    def take(self) -> Any:
        return None if self.rows is None else self.rows.take()


class Batcher:
    """Collect records into batches."""

    def __init__(self, rows: Any, labels: LabelReader, weighted: bool, batch_rows: int, counts: Counts):
        self.rows, self.read_label, self.weighted, self.batch_rows, self.counts = rows, labels, weighted, batch_rows, counts
        self.labels: list[Any] = []
        self.weights: list[float | None] = []
        self.places: list[tuple[int, str, int]] = []  # (first row, file, line) of rows of one line each

    def add(self, record: Record) -> None:
        """Append a record, or refuse it."""
        try:
            if record.problem is not None:
                raise record.problem
            label, weight = self.read_label(record.label), weight_of(record.weight) if self.weighted else None
            self.rows.add(record.content)
        except WrongRecordError as error:
            malformed = MalformedLineError(record.name, record.line, None, f" {error}", error.parameter)
            self.counts.refuse(malformed, len(self.labels))
            return
        self.places.append((len(self.labels), record.name, record.line))
        self.labels.append(label)
        self.weights.append(weight)

    def add_block(self, block: Block) -> Iterator[Any]:
        """Append the rows of a block; yield the batches that are full."""
        start, n = 0, len(block.labels)
        while start < n:
            stop = self.rows.extend(block.contents, start, min(n, start + self.batch_rows - len(self.labels)))
            self.places.append((len(self.labels), block.name, block.line + start))
            self.labels += block.labels[start:stop]
            self.weights += [None] * (stop - start) if block.weights is None else block.weights[start:stop]
            start = stop
            if self.full:
                yield self.take()

    def leave_out(self) -> None:
        """Note an empty line if labels are not read: predictions keep the numbers of lines."""
        if self.read_label.kind is None:
            self.counts.leave_out(len(self.labels))

    @property
    def full(self) -> bool:
        return len(self.labels) >= self.batch_rows or self.rows.full

    def take(self) -> Any:
        """Return a batch; None if the vectorizer has refused all of its rows."""
        labels, weights, places = self.labels, self.weights, self.places
        self.labels, self.weights, self.places = [], [], []
        try:
            X = self.rows.take()
        except RefusedRowsError as refused:
            self._refuse(refused.rows, labels, weights, places)
            return self.take() if self.labels else None
        return X, self.read_label.array(labels), np.array(weights) if self.weighted else None

    def _refuse(self, refused: dict, labels: list, weights: list, places: list) -> None:
        """Leave out rows that the vectorizer has refused, or raise the error of the first and keep the rows before it."""
        kept = [row for row in range(len(labels) if self.counts.skipping else min(refused)) if row not in refused]
        self.labels, self.weights = [labels[row] for row in kept], [weights[row] for row in kept]
        self.rows.keep(kept)
        starts = [start for start, _, _ in places]
        for n_before, (row, error) in enumerate(refused.items()):
            start, name, line = places[bisect_right(starts, row) - 1]
            self.counts.refuse_row(MalformedLineError(name, line + row - start, None, f" {error}"), row - n_before)


def batches(records: Iterable[Record | Block | None], batcher: Batcher) -> Iterator[Any]:
    """Yield batches of records, and None for a pipe that is silent behind lines without a row.

    records : `Record`, `Block`, and None while a pipe is silent. When reading fails, yield the rows read so far first.
    """
    try:
        for record in records:
            if isinstance(record, Block):
                yield from batcher.add_block(record)
            elif record is not None and record.is_empty:
                batcher.leave_out()
            elif record is not None:
                batcher.add(record)
            if batcher.labels and (batcher.full or record is None):
                yield batcher.take()
            elif record is None and batcher.counts.gaps:
                yield None
        if batcher.labels:
            yield batcher.take()
    except (ValueError, OSError):
        if batcher.labels:
            yield batcher.take()
        raise


# --- parts of readers ----------------------------------------------------------------------------------------------------------


def pieces_of(source: Source, max_line_bytes: int) -> Iterator[bytes | WrongRecordError | None]:
    """Yield the bytes of whole lines; the error of a line that is too long; None while a pipe is silent."""
    skip_bom(source)
    for block, start, stop in blocks(source, _BLOCK, max_line_bytes):
        if block is not None:
            yield bytes(memoryview(block)[start:stop])
        else:
            yield WrongRecordError(*too_long(max_line_bytes)) if stop else None


def record_of(name: str, line: int, read: Callable[[Any], tuple[Any, Any, Any]], value: Any) -> Record:
    """Return the record of a value. read(value) returns (label, content, weight) or raises WrongRecordError."""
    try:
        return Record(name, line, *read(value))
    except WrongRecordError as error:
        return Record(name, line, problem=error)


def records_of_lines(
    files: Files, max_line_bytes: int, read_line: Callable[[bytes], tuple[Any, Any, Any]],
    read_block: Callable[[bytes], tuple[list, Any, list[float] | None] | None] | None = None,
) -> Iterator[Record | Block | None]:
    """Yield the records of files of a record a line.

    read_line(bytes) : returns (label, content, weight) or raises WrongRecordError. read_block(bytes of lines) : returns the
    labels, contents and weights of a `Block`, or None if the lines must be read one by one.
    """
    for source in files:
        line = 0
        for piece in pieces_of(source, max_line_bytes):
            if piece is None:
                yield None
                continue
            if isinstance(piece, WrongRecordError):
                line += 1
                yield Record(source.name, line, problem=piece)
                continue
            found = None if read_block is None else read_block(piece)
            if found is not None:
                yield Block(source.name, line + 1, *found)
                line += len(found[0])
                continue
            for text in piece.split(b"\n")[:-1]:
                text = text.removesuffix(b"\r")
                line += 1
                if text.strip(_BLANKS):
                    yield record_of(source.name, line, read_line, text)
                else:
                    yield Record(source.name, line, is_empty=True)


def n_lines(piece: bytes) -> int:
    return int(np.count_nonzero(np.frombuffer(piece, np.uint8) == ord("\n")))  # (many times as fast as bytes.count)


def is_utf8(piece: bytes) -> bool:
    try:
        return piece.isascii() or bool(piece.decode("utf-8"))
    except UnicodeDecodeError:
        return False


# --- formats -------------------------------------------------------------------------------------------------------------------


def tsv(files: Files, labelled: bool, max_line_bytes: int) -> Iterator[Record | Block | None]:
    """Yield the records of lines label<TAB>text, for a vectorizer in Python."""

    def record(line: bytes) -> tuple[Any, Any, None]:
        label, tab, text = line.partition(b"\t")
        if labelled and not tab:
            raise WrongRecordError(f"expected a tab between label and text{HINTS['tab']}, got the end of the line", "tab")
        return label, text if tab else label, None

    return records_of_lines(files, max_line_bytes, record)


def fasttext(files: Files, labelled: bool, max_line_bytes: int) -> Iterator[Record | Block | None]:
    """Yield the records of lines of fastText: __label__LABEL text. Without labels to read, labels are left out of the text."""

    def record(line: bytes) -> tuple[Any, Any, None]:
        words = line.split(None, 1)
        labels = [word for word in line.split() if word.startswith(_LABEL)] if _LABEL in line else []
        if labelled and (len(labels) > 1 or (labels and _LABEL in labels[0].removeprefix(_LABEL))):
            came = " and ".join(shown(decoded(label)) for label in labels[:2])
            raise WrongRecordError(f"expected one label a row, got {came}")
        if labelled and not (labels and words[0] == labels[0]):
            came = shown(line[:24]) if words else "an empty line"
            raise WrongRecordError(f"expected '__label__' and a label at the beginning{HINTS['labels']}, got {came}", "labels")
        if len(labels) > 1 or (labels and words[0] != labels[0]):
            return None, b" ".join(word for word in line.split() if word not in labels), None
        text = (words[1] if len(words) > 1 else b"") if labels else line
        return labels[0].removeprefix(_LABEL) if labelled else None, text, None

    return records_of_lines(files, max_line_bytes, record)


def pairs(items: Iterable[Any]) -> Iterator[Record]:
    """Yield the records of an iterable of (text, label)."""

    def record(item: Any) -> tuple[Any, Any, None]:
        pair: Any = None if isinstance(item, (str, bytes)) else item
        try:
            text, label = pair
        except (TypeError, ValueError):
            raise WrongRecordError(f"expected a pair (text, label), got {shown(item)}") from None
        return label, text, None

    for n, item in enumerate(items, 1):
        yield record_of("<pairs>", n, record, item)
