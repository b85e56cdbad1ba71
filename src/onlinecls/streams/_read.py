"""`read` checks the options, opens the files and builds the reader of their format; `options_of` reads further files alike."""

from __future__ import annotations

import os
import re
import threading
from functools import partial
from numbers import Integral
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from .._hashing.hasher import MAX_FEATURES
from ..text import HashingVectorizer, compiled_hasher, n_rows_of, parameters_of, vectorizer_of
from ._blocks import Counts, batches
from ._parsers import SvmlightParser, TsvParser, VWParser
from ._sources import Files
from ._stream import Batch, Stream

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import IO, TypeAlias

    from .._input.types import FloatType

    #: A path, "-" or a binary file.
    Source: TypeAlias = str | os.PathLike[str] | IO[bytes]

Format = Literal["auto", "svmlight", "vw", "tsv", "fasttext", "csv", "jsonl", "parquet", "arrow"]
FORMATS = get_args(Format)[1:]
_SUFFIXES = {
    ".svm": "svmlight", ".svmlight": "svmlight", ".libsvm": "svmlight", ".vw": "vw", ".tsv": "tsv", ".tab": "tsv", ".csv": "csv",
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet", ".pq": "parquet", ".arrow": "arrow", ".feather": "arrow",
    ".ipc": "arrow", ".arrows": "arrow",
}
_SIGNS = {  # what the first line begins with, and the format, or what the file is instead
    rb"PAR1": "parquet", rb"ARROW1|\xff{4}": "arrow", rb"__label__": "fasttext", rb"\{": "jsonl",
    rb"PK\x03\x04": "a zip archive. Unpack it first", rb"\[": "a JSON array. Write an object a line (JSON lines)",
    rb"(?:[^\s:#|,]+(?:\s+qid:\d+)?)?(?:\s+\d+:[^\s:]+)+\s*(?:#.*)?$": "svmlight", rb"[^|\t]*\|": "vw", rb".*\t": "tsv",
}
_MOST = {"n_features": 2**31, "batch_rows": 2**31 - 1, "block_bytes": 2**31 - 1, "max_line_bytes": 2**31 - 1}
_COLUMNS = ("label", "text", "weight")
_KEPT = ("n_features", "delimiter", "header", *_COLUMNS)  # options that a model's file keeps as they are
FORMS = ("%Y/%m/%d", "%Y/%m/%d %H:%M:%S", "%d.%m.%Y", "%d.%m.%Y %H:%M")  # of dates beside ISO 8601: can mean one day only
KINDS = ("number", "boolean", "date", *FORMS, "text")  # of the columns of CSV, in the order in which they are tried
BATCH_NNZ = 1 << 18  # non-zeros that end a batch before it has batch_rows rows: 2 MB of float32


def read(
    source: Source | Sequence[Source], format: Format = "auto", *, likely: str | None = None, n_features: int | None = None,
    batch_rows: int = 4096, dtype: FloatType = "float32", labels: Literal["auto", "number"] | None = "auto",
    vectorizer: Any = None, label: str | int | None = None, text: str | int | None = None,
    weight: str | int | None = None, kinds: dict[str, str] | None = None, delimiter: str = ",", header: bool = True,
    on_error: Literal["raise", "skip"] = "raise", prefetch: bool = True, block_bytes: int = 2**20, max_line_bytes: int = 2**24,
) -> Stream:
    """Read files or a pipe as a stream of batches, in memory that does not depend on their size.

    A thread reads and parses ahead while the caller learns; both release the GIL. Rows are in the order of the files, and
    neither `prefetch` nor `block_bytes` changes a row, but for columns of CSV without `kinds`, which the first rows tell.

    Parameters
    ----------
    source : path, "-", binary file object, or list of these
        "-" is standard input. Files may be compressed (gzip, bzip2, xz, Zstandard), which is detected from their first bytes.
        Several files make one stream, and must have one format.
    format : {"auto", "svmlight", "vw", "tsv", "fasttext", "csv", "jsonl", "parquet", "arrow"}, default="auto"
        "auto" tells it by the name of the first file (.svm, .vw, .tsv, .csv, .jsonl, .parquet, .arrow and the like, before a
        suffix of compression), else by `likely`, else by the first line. ``help(onlinecls.streams)`` shows a line of each.
    likely : str, default=None
        The format of files whose names do not tell it: that of a model's training data.
    n_features : int in 1..2**31, default=2**20
        Columns of X of svmlight, VW and texts. Hashed names go modulo this (at most 2^31 - 1, for "vw" a power of two); an
        svmlight index past it is an error. The vectorizer's, if one is given.
    batch_rows : int, default=4096
        Rows in a batch; fewer if it has 2^18 non-zeros before, or ends half a block that is parsed by itself.
    dtype : {"float32", "float64"}, default="float32"
        Type of X: a decimal is rounded correctly to float64, and then to this.
    labels : {"auto", "number", None}, default="auto"
        "auto": the text of the field, so that 1, 1.0 and true are three labels; in JSON lines, Parquet and Arrow what its type
        says, one type for all. "number": finite numbers, as float64. None: y is None, and files may be without labels.
    vectorizer : object with ``transform(texts)``, default=None
        Makes the rows of texts; for fastText's lines an `onlinecls.text.HashingVectorizer` of words or characters. None: one of
        n_features and dtype.
    label, text, weight : str or int, default=None
        Columns or keys of the labels (default "label"; without a header, 0), the texts (default "text", if there is nothing
        else) and the weights (default none), in CSV, JSON lines, Parquet and Arrow. Where there is no column of texts, rows are
        tables, for `onlinecls.tables.TableVectorizer`: X is a ``pyarrow.RecordBatch``; of JSON lines a list of dicts.
    kinds : dict of str to str, default=None
        What columns of CSV hold, by their names: "number", "boolean", "date" (ISO 8601), one of the forms "%Y/%m/%d",
        "%Y/%m/%d %H:%M:%S", "%d.%m.%Y", "%d.%m.%Y %H:%M", or "text". None: what all values of the first block that are not
        missing (empty, NA, null and the like, as pyarrow has them) are. A later value that is no such thing is malformed.
    delimiter : str, default=","
        Delimiter of CSV, one character.
    header : bool, default=True
        True if CSV files begin with the names of their columns; False: they are called "0", "1" ..
    on_error : {"raise", "skip"}, default="raise"
        Raise an error for a malformed line or row, or leave it out and count it (`Stream.n_skipped`, `Stream.skipped`).
    prefetch : bool, default=True
        Read ahead in a thread, three batches at most; who waits for it parses half of each large block meanwhile.
    block_bytes : int, default=2**20
        Bytes read at a time.
    max_line_bytes : int, default=2**24
        A longer line is malformed. The buffer grows to this size only for lines of this length.

    Returns
    -------
    Stream
        Iterator of `Batch` (X, y, weight). Use it in a ``with`` statement, or to its end.

    Raises
    ------
    MalformedLineError
        While iterating: ``train.svm:1204:17: expected ':' after an index, got 'x'``, file, line and byte in the line from 1.
    ValueError, TypeError
        If an option is not valid, the format cannot be told, or a compressed file is cut off or damaged.
    OSError
        If a file cannot be read.
    ImportError
        If a package that reads the file is missing; the message names the extra that installs it.

    Examples
    --------
    >>> import io
    >>> from onlinecls.streams import read
    >>> file = io.BytesIO(b"1 | free prize\\n-1 0.5 | see you soon:2\\n")
    >>> with read(file) as stream:
    ...     for X, y, weight in stream:
    ...         print(X.shape, X.nnz, y, weight)
    (2, 1048576) 5 ['1' '-1'] [1.  0.5]
    >>> stream.format, stream.n_rows
    ('vw', 2)
    """
    options = dict(locals())
    del options["source"]
    return _Reader(**options).stream(source)


class _Reader(SimpleNamespace):
    """Check the options of `read`, which are its attributes, and build readers from them."""

    def __init__(self: Any, **options: Any) -> None:
        super().__init__(**options)
        width = getattr(self.vectorizer, "n_features", None)
        right = width is None or self.n_features in (None, width)
        require(right, "n_features", f"that of the vectorizer, {width}", self.n_features)
        self.n_features = next(n for n in (width, self.n_features, 2**20) if n is not None)
        for name, most in _MOST.items():
            value = getattr(self, name)
            whole = isinstance(value, Integral) and not isinstance(value, bool)
            require(whole and 1 <= value <= most, name, f"an int in 1..{most}", value)
        require(self.dtype in ("float32", "float64", np.float32, np.float64), "dtype", "'float32' or 'float64'", self.dtype)
        self.dtype = np.dtype(self.dtype)
        for name, allowed in (
            ("labels", ("auto", "number", None)), ("on_error", ("raise", "skip")), ("header", (True, False)),
            ("format", ("auto", *FORMATS)), ("likely", (None, *FORMATS)),
        ):
            require(getattr(self, name) in allowed, name, "one of " + ", ".join(map(repr, allowed)), getattr(self, name))
        kinds = {} if self.kinds is None else self.kinds
        right = isinstance(kinds, dict) and all(kind in KINDS for kind in kinds.values())
        require(right, "kinds", "a dict of " + ", ".join(map(repr, KINDS)), kinds)
        self.kinds = dict(kinds)
        right = isinstance(self.delimiter, str) and re.fullmatch(r'[^"\r\n\x80-\U0010ffff]', self.delimiter) is not None
        require(right, "delimiter", "a character of ASCII that is no quote and ends no line", self.delimiter)
        right = self.vectorizer is None or hasattr(self.vectorizer, "transform")
        require(right, "vectorizer", "an object with a transform method", self.vectorizer)
        for name in _COLUMNS:
            setattr(self, name, None if getattr(self, name) is None else str(getattr(self, name)))
        self.labelled, self.counts, self.is_table = self.labels is not None, Counts(self.on_error == "skip"), False
        self.n_features = int(self.n_features)

    def stream(self: Any, source: Any) -> Stream:
        stop = threading.Event()
        files = Files(source, stop)
        try:
            self.format = self._format_of(files.current)
            self.is_hashed = self.format not in ("svmlight", "vw")
            right = self.weight is None or self.likely or self.format in ("csv", "jsonl", "parquet", "arrow")
            require(right, "weight", f"left out for {self.format}, whose columns have no names", self.weight)
            if self.is_hashed:
                require(self.n_features <= MAX_FEATURES, "n_features", "below 2**31 where texts are hashed", self.n_features)
                if self.vectorizer is None:
                    self.vectorizer = HashingVectorizer(n_features=self.n_features, dtype=self.dtype.type)
            batches = self._counted(self._batches(files), files)
            return Stream(self, files, batches, stop, self.prefetch)
        except BaseException:
            files.close()
            raise

    def _format_of(self, source: Any) -> str:
        if self.format != "auto":
            return self.format
        name = re.sub(r"\.(gz|bz2|xz|zst)$", "", source.name.lower())
        named = _SUFFIXES.get(os.path.splitext(name)[1]) or self.likely
        if named is not None:
            return named
        lines = (line.strip() for line in source.peek_lines())
        line = next((line for line in lines if line and not line.startswith(b"#")), b"")
        any_text = "tsv" if line and not self.labelled else ""
        found = next((what for sign, what in _SIGNS.items() if re.match(sign, line)), any_text)
        if found in FORMATS:
            return found
        came = found or (f"the first line {line[:60]!r}" if line else "no line")
        raise ValueError(
            f"{source.name}: the name or the first line must tell the format, got {came}. "
            f"Give format= one of {', '.join(map(repr, FORMATS))}."
        )

    def metadata(self: Any) -> dict[str, Any]:
        by = parameters_of(self.vectorizer) if self.is_hashed and not self.is_table else None
        kept = {name: getattr(self, name) for name in _KEPT}
        return {"input": {"format": self.format, "dtype": self.dtype.name, **kept, "kinds": dict(self.kinds), "vectorizer": by}}

    def _counted(self, batches: Iterator[Any], files: Files) -> Iterator[tuple[Batch | None, dict[str, Any]]]:
        """Yield (Batch, progress) for each (X, y, weight), of Nones for None, and at the end (None, progress)."""
        counts = self.counts
        for found in batches:
            if callable(found):
                yield found
                continue
            if found is not None:
                counts.n_rows += n_rows_of(found[0])
            yield Batch(*(found or (None, None, None))), counts.progress(files.count)
        yield None, counts.progress(files.count)  # with the lines skipped since the last batch

    def _batches(self: Any, files: Files) -> Iterator[Any]:
        n_parsers, limits = 2 if self.prefetch else 1, (self.labels, self.batch_rows, BATCH_NNZ)
        if self.format == "svmlight":
            make = partial(SvmlightParser, *limits, self.n_features, self.dtype)
        elif self.format == "vw":
            power = self.n_features & (self.n_features - 1) == 0
            require(power, "n_features", "a power of two <= 2^31 for VW's hashes", self.n_features)
            make = partial(VWParser, *limits, self.n_features, self.dtype)
        elif self.format in ("tsv", "fasttext"):
            header, hasher = f"{self.label or 'label'}\t{self.text or 'text'}".encode(), compiled_hasher(self.vectorizer)
            make = partial(TsvParser, *limits, hasher, self.texts_of, self.format == "fasttext", header)
            n_parsers = n_parsers if type(self.vectorizer) is HashingVectorizer else 1  # (others may mind the order of the texts)
        elif self.format == "jsonl":
            from ._jsonl import jsonl

            return jsonl(self, files)
        else:
            from ._typed import typed  # (pyarrow takes longer to import than 10 MB of texts to read)

            return typed(self, files)
        return batches(files, self, *(make() for _ in range(n_parsers)))

    def texts_of(self: Any, texts: Any) -> Any:
        """Return the rows of texts, a list or a column of pyarrow."""
        return self.vectorizer.transform(texts if isinstance(self.vectorizer, HashingVectorizer) else list(map(str, texts)))


def require(right: bool, name: str, wanted: str, got: object) -> None:
    """Raise the error of an option of `read` unless it is right."""
    if not right:
        raise ValueError(f"read: {name} must be {wanted}, got {got!r}.")


def options_of(metadata: dict[str, Any], *, trusted: bool = False) -> dict[str, Any]:
    """Return options of `read` that make rows as in the training of a model.

    Parameters
    ----------
    metadata : dict
        As returned by ``onlinecls.load(path, return_metadata=True)`` for a model that was saved with
        ``metadata=stream.metadata`` or by ``onlinecls train``.
    trusted : bool, default=False
        True: the file is of an author you trust, so that its token pattern may have any form. False: one that may run for ever
        is refused; those of characters of which the last is repeated, such as ``[a-z]+``, never do.

    Returns
    -------
    options : dict
        For ``read(path, **options)``; labels and errors are treated by the defaults of `read`.

    Raises
    ------
    ValueError
        If the metadata does not describe how rows were read, or is not valid.
    """
    given = metadata.get("input") if isinstance(metadata, dict) else None
    if not isinstance(given, dict):
        raise ValueError("options_of: metadata must describe how rows were read: save models with metadata=stream.metadata.")
    try:
        options: dict[str, Any] = {name: given[name] for name in (*_KEPT, "dtype", "kinds")}
        options["likely"] = given["format"]
        if given["vectorizer"] is not None:
            options["vectorizer"] = vectorizer_of(given["vectorizer"], trusted)
        _Reader(**{**_DEFAULTS, **options})
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise ValueError(f"options_of: metadata must describe how rows were read, got invalid options: {error!r}.") from None
    return options


_DEFAULTS: dict[str, Any] = {**(read.__kwdefaults__ or {}), "format": "auto"}
