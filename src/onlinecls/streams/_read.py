"""`read` checks the options, opens the files, detects the format and builds its reader."""

from __future__ import annotations

import os
import re
import threading
from contextlib import nullcontext, suppress
from numbers import Integral
from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np

from .._hashing.hasher import MAX_FEATURES
from .._input.compat import warn_caller
from .._input.validate import ParameterError
from ..text import HashingVectorizer, compiled_hasher, n_rows_of, sketch_of
from . import _blocks, _errors, _formats, _labels, _metadata
from ._errors import Counts, Progress
from ._lines import Labels
from ._sources import Files
from ._stream import Batch, Stream, n_values_of
from ._svmlight import SvmlightParser
from ._tsv import TsvParser
from ._vw import VWParser

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import IO, Any, Literal, Protocol, TypeAlias

    from .._input.types import FloatType
    from . import _sources

    #: A path, "-" or a binary file.
    Source: TypeAlias = str | os.PathLike[str] | IO[bytes]
    Format: TypeAlias = Literal["auto", "svmlight", "vw", "tsv", "fasttext", "csv", "jsonl", "parquet", "arrow"]

    class ArrowStream(Protocol):
        def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...

    class Vectorizer(Protocol):
        def transform(self, X: Iterable[Any], /) -> Any: ...

_MOST = {"n_features": 2**31, "batch_rows": 2**31 - 1}  # (a parser allocates the labels of a batch at once)
BATCH_NNZ = 1 << 18  # non-zeros that end a batch before it has batch_rows rows: 2 MB of float32
_SVMLIGHT_LABEL = rb"[ \t]*([^\s:#]+)(?![^\s#])"  # at the beginning of a line
_VW_LABEL = rb"[ \t]*([^\s|'][^\s|]*)[ \t]+[^|]*\|"


def read(
    source: Source | Sequence[Source] | Iterable[tuple[str, Any]] | ArrowStream, format: Format = "auto", *,
    likely: str | None = None, n_features: int | None = None, batch_rows: int = 4096,
    dtype: FloatType = "float32", labels: Literal["auto", "number", "str"] | None = "auto",
    zero_based: bool | Literal["auto"] = True, vectorizer: Vectorizer | None = None,
    tables: Vectorizer | Literal["passthrough"] | None = None, label: str | int | None = None,
    text: str | int | None = None, weight: str | int | None = None,
    features: Sequence[str | int] | Mapping[str | int, str | int] | str | None = None, categories: Sequence[str | int] = (),
    ignore: Sequence[str | int] = (), missing: Literal["absent", "error"] = "absent",
    delimiter: str = "auto", header: bool = True, on_error: Literal["raise", "skip"] = "raise", prefetch: bool = True,
    block_bytes: int = 1 << 20, max_line_bytes: int = 1 << 24,
) -> Stream:
    """Read files, a pipe, a table or pairs as a stream of batches, in memory that does not depend on their size.

    A thread reads and parses ahead while the caller learns; both release the GIL. Rows are in the order of the files, and
    neither `prefetch` nor `block_bytes` changes any batch.

    Parameters
    ----------
    source : path, "-", binary file object, list of these, data frame or Arrow table, or iterable of (text, label)
        "-" is standard input. Files may be compressed (gzip, bzip2, xz, Zstandard), which is detected from their first bytes.
        Several files make one stream, and must have one format. A pandas data frame, and anything with ``__arrow_c_stream__``
        (tables of polars, pyarrow, DuckDB; a `pyarrow.RecordBatchReader`, which is read batch by batch), is read by its columns
        as an Arrow file is. An iterable is consumed in the thread.
    format : {"auto", "svmlight", "vw", "tsv", "fasttext", "csv", "jsonl", "parquet", "arrow"}, default="auto"
        "auto" detects it by the name of the first file (.svm, .vw, .tsv, .csv, .jsonl, .parquet, .arrow and the like, before a
        suffix of compression), else by its first lines. ``help(onlinecls.streams)`` shows a line of each. Lines with tabs below a
        header are CSV: one that has the column of the labels (or another one that is named here), or three different names and
        more, none a number, where one column holds numbers in all of the first lines.
    likely : str, default=None
        With "auto", the format to take unless the file is surely of another: that of a model's training data.
    n_features : int in 1..2**56, default=2**20
        Columns of X. Hashed names go modulo this (at most 2^31 - 1, for "vw" a power of two <= 2^31); an svmlight index past it
        is an error. In tables of numbers it is the number of their columns. The vectorizer's, if one is given.
    batch_rows : int, default=4096
        Rows in a batch; fewer if it has 2^18 non-zeros before.
    dtype : {"float32", "float64"}, default="float32"
        Type of X: a decimal is rounded correctly to float64, and then to this. A vectorizer of your own sets the type itself.
    labels : {"auto", "number", "str", None}, default="auto"
        "auto": str in TSV, fastText's lines and CSV, elsewhere the type of the first label, which all must have: true, 1 and
        "1" are not one label. In svmlight and VW a label is a number (float64) or a name, which begins with a letter and has no
        ":", "," or ";"; what looks like a label of another format or task (``1:0:0.5``, ``1,2``, nan) is malformed. "str": any
        text is a label. None: y is None, and files may be without labels. A whole number of 2^53 and more, which float64
        rounds, is no label among numbers; "str" keeps it.
    zero_based : bool or "auto", default=True
        True: an svmlight index is its column, and in 1-based files column 0 stays empty; so files for training and for
        prediction always agree. False: index 1 is column 0. "auto" is scikit-learn's rule, and a guess in a stream: True if
        index 0 occurs in the lines within the first 64 KB, else False, and an index 0 after that is an error.
    vectorizer : object with ``transform(texts)``, default=None
        Makes the rows of texts. None: an `onlinecls.text.HashingVectorizer` of n_features and dtype.
    tables : object with ``transform(table)`` or "passthrough", default=None
        Makes the rows of tables: an `onlinecls.tables.TableVectorizer` that has learnt. "passthrough": X stays a sequence of
        dicts, one a row (in Parquet and Arrow a table), which a `StreamPipeline` learns. None: numbers as they are, categories
        hashed.
        With `tables` and no `vectorizer`, a column of texts is one of the table's columns.
    label, text, weight : str or int, default=None
        Columns or keys of the labels (default "label"; 0 in a CSV file without a header), the texts, which are read alone
        (default "text" if there is such a column and no other to read, else the table holds numbers) and the weights (default
        none). In CSV, JSON lines, Parquet and Arrow.
    features : list of str or int, dict or str, default=None
        The columns of a table (default all but label and weight). A dict, such as `Stream.features` of a model's training data,
        is {name: "number", "category", "ignore" or the length of a list}: columns are found by name in any order, and a missing
        or an unknown one is an error. A str is the key of the features in JSON lines ("features").
    categories, ignore : list of str or int, default=()
        Columns of a table whose values are names even if they are numbers, and columns that are not features.
    missing : {"absent", "error"}, default="absent"
        A missing value (an empty field or NA in CSV, null, NaN in Arrow) is 0 if "absent"; if "error", its row is malformed.
    delimiter : str, default="auto"
        Delimiter of CSV. "auto": a comma, a semicolon, a tab or a bar, whichever divides the header and most of the first lines
        into as many fields; a comma without a header.
    header : bool, default=True
        True if CSV files begin with the names of their columns.
    on_error : {"raise", "skip"}, default="raise"
        Raise an error for a malformed line, or leave it out and count it (`Stream.n_skipped`, `Stream.skipped`).
    prefetch : bool, default=True
        Read ahead in a thread, two batches at most.
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
        If an option is not valid, the format cannot be detected, or a compressed file is cut off or damaged.
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
    (2, 1048576) 5 [ 1. -1.] [1.  0.5]
    >>> stream.format, stream.n_rows
    ('vw', 2)
    """
    options = dict(locals())
    del options["source"], options["prefetch"]
    return _Reader(**options).stream(source, prefetch)


class _Reader(SimpleNamespace):
    """Check the options of `read`, which are its attributes, and build readers from them."""

    dtype: Any
    n_features: Any

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        for name in ("batch_rows", "block_bytes", "max_line_bytes", "n_features"):
            self._require_whole(name, getattr(self, name))
        given = self.dtype
        with suppress(TypeError, ValueError, SyntaxError):  # SyntaxError: numpy parses texts like "(2,)f4"
            self.dtype = np.dtype(given)
        require(self.dtype in (np.dtype("f4"), np.dtype("f8")), "dtype", "'float32' or 'float64'", given)
        for name, allowed, wanted in (
            ("labels", ("auto", "number", "str", None), "'auto', 'number', 'str' or None"),
            ("missing", ("absent", "error"), "'absent' or 'error'"),
            ("on_error", ("raise", "skip"), "'raise' or 'skip'"),
        ):
            require(getattr(self, name) in allowed, name, wanted, getattr(self, name))
        zero_based = self.zero_based == "auto" or isinstance(self.zero_based, bool)
        require(zero_based, "zero_based", "'auto', True or False", self.zero_based)
        delimits = isinstance(self.delimiter, str) and (len(self.delimiter) == 1 or self.delimiter == "auto")
        require(delimits, "delimiter", "one character or 'auto'", self.delimiter)
        self.labelled, self.counts = self.labels is not None, Counts(self.on_error == "skip")
        if self.vectorizer is not None:
            require(hasattr(self.vectorizer, "transform"), "vectorizer", "an object with a transform method", self.vectorizer)
            width = getattr(self.vectorizer, "n_features", None)
            if width is not None and self.n_features not in (None, width):
                raise ValueError(
                    f"read: n_features must be that of the vectorizer, {width}, got {self.n_features}. Leave it out."
                )
            self.n_features = width if width is not None else self.n_features
            self._require_whole("n_features", self.n_features)
        if self.tables is not None:
            right = hasattr(self.tables, "transform") or self.tables == "passthrough"
            require(right, "tables", "an object with a transform method, or 'passthrough'", self.tables)
        self.n_features = self.n_hashed = 2**20 if self.n_features is None else int(self.n_features)
        self.layout = None  # (the layout of a table, once its columns are known)

    def _require_whole(self, name: str, value: Any) -> None:
        most = _MOST.get(name, 2**62)
        whole = isinstance(value, Integral) and not isinstance(value, bool)
        right = (whole and 1 <= value <= most) or (name == "n_features" and value is None)
        require(right, name, f"an int in 1..{most}" if whole and value > most else "an int >= 1", value)

    def stream(self, source: Any, prefetch: bool) -> Stream:
        sources, stop = _files_of(source), threading.Event()
        if sources is None:
            from . import _recorded

            return self._stream(*_recorded.in_memory(self, source), None, stop, prefetch)
        files = Files(sources, stop)
        try:
            about = self.format, self.likely, self.labelled, self._names_of_header(), self.delimiter
            format = _formats.detect(files.current, *about)
            if format not in ("svmlight", "vw"):
                within = self.n_features <= MAX_FEATURES
                require(within, "n_features", "at most 2**31 - 1 where names or texts are hashed", self.n_features)
            return self._stream(format, self._batches(format, files), files, stop, prefetch)
        except BaseException:
            files.close()
            raise

    def _names_of_header(self) -> frozenset[str]:
        """Return the names of columns by which a line is known to be the header of a table divided by tabs."""
        if not self.header or self.delimiter not in ("auto", "\t"):
            return frozenset()
        features = () if isinstance(self.features, str) or self.features is None else self.features
        known = getattr(self.tables, "feature_names_in_", ()) if self.tables is not None else ()
        named = ("label" if self.label is None else self.label, self.text, self.weight)
        names = (*named, *features, *self.categories, *self.ignore, *known)
        return frozenset(name for name in names if isinstance(name, str))

    def _stream(self, format: str, batches: Iterator[Any], files: Files | None, stop: threading.Event, prefetch: bool) -> Stream:
        size, layout = files.total if files else None, self.layout
        features = None if layout is None or layout.text is not None else layout.kinds
        columns = features, () if layout is None else tuple(layout.names_of_numbers()), _metadata.metadata_of(self, format)
        return Stream(format, self.n_features, size, self._counted(batches, files), files, stop, prefetch, columns)

    def _counted(self, batches: Iterator[Any], files: Files | None) -> Iterator[tuple[Batch | None, Progress]]:
        """Yield (Batch, Progress) for each (X, y, weight), of Nones for None, and at the end (None, Progress)."""
        counts = self.counts
        for found in batches:
            if found is None:
                yield Batch(None, None, None), counts.progress(files.count if files else 0)
                continue
            X, y, weight = found
            counts.n_rows += n_rows_of(X)
            counts.nnz += n_values_of(X)
            yield Batch(X, y, weight), counts.progress(files.count if files else 0)
        yield None, counts.progress(files.count if files else 0)  # with the lines skipped since the last batch

    # --- one method for each format that compiled code parses -------------------------------------------------------------------

    def _batches(self, format: str, files: Files) -> Iterator[Any]:
        if format in ("svmlight", "vw", "tsv"):
            return getattr(self, f"_{format}")(files)
        from . import _recorded  # (tables are many modules: a stream of texts begins sooner without them)

        return getattr(_recorded, format)(self, files)

    def _svmlight(self, files: Files) -> Iterator[Any]:
        zero_based = self.zero_based
        if zero_based == "auto":
            # The lines within HEAD bytes decide: an index 0 follows a blank, or begins a line without a label.
            lines = [line.split(b"#", 1)[0] for line in files.current.peek_lines()]
            zero_based = any(re.search(rb"[ \t]0+:", b" " + line) for line in lines)
        options = self.batch_rows, BATCH_NNZ, self.n_features, self.dtype, 0 if zero_based else 1
        labels = self._type_by_first(files, _SVMLIGHT_LABEL)
        return self._lines(files, SvmlightParser(self._label_column(labels), *options))

    def _vw(self, files: Files) -> Iterator[Any]:
        power = self.n_features & (self.n_features - 1) == 0
        require(power, "n_features", "a power of two <= 2^31 for VW's hashes", self.n_features)
        names, lock = sketch_of(self.vectorizer) or (None, None)
        options = self.batch_rows, BATCH_NNZ, self.n_features, self.dtype, names
        labels = self._type_by_first(files, _VW_LABEL)
        return self._lines(files, VWParser(self._label_column(labels), *options), lock)

    def _tsv(self, files: Files) -> Iterator[Any]:
        vectorizer, labels = self.vectorizer_of_texts(), self._type_of_tsv(files)
        if labels.like is None:  # (else a header is malformed)
            self._warn_of_columns(files.current)
        compiled = compiled_hasher(vectorizer)
        if compiled is None:
            from . import _recorded

            return _recorded.tsv(self, files, labels)
        make_hasher, lock = compiled
        options = self.batch_rows, BATCH_NNZ
        return self._lines(files, TsvParser(self._label_column(labels), *options, make_hasher()), lock)

    # --- parts of these methods -------------------------------------------------------------------------------------------------

    def _label_column(self, labels: _labels.Type) -> Labels:
        """Return the collector of a batch's labels of a type, for a compiled parser."""
        return Labels(labels.kind, self.batch_rows, *labels[1:])

    def _type_by_first(self, files: Files, label: bytes) -> _labels.Type:
        """Return the type of the labels of svmlight and VW."""
        if self.labels != "auto":
            return _labels.Type(self.labels)
        found = (re.match(label, line) for line in files.current.peek_lines(self.likely is None))
        return _labels.type_of(each[1].decode("utf-8", "replace") for each in found if each)

    def _type_of_tsv(self, files: Files) -> _labels.Type:
        """Return the type of the labels of TSV, where a header is malformed."""
        if self.labels != "auto":
            return _labels.Type(self.labels)
        head = (line.decode("utf-8", "replace").rstrip("\r") for line in files.current.peek_lines(self.likely is None))
        lines = [line.split("\t") for line in head if line.strip(" \t")]
        if not _labels.is_header(lines):
            return _labels.Type("str")
        wanted = f"a label, as there is no header{_errors.HINTS['label']}"
        return _labels.Type("str", re.compile(rf"(?!{re.escape(lines[0][0])}\Z).*", re.DOTALL), wanted)

    def _warn_of_columns(self, source: _sources.Source) -> None:
        """Warn of TSV that looks like a table with a header, or has quotes around its fields."""
        lines, parameter = _formats.first_lines(source, self.likely is None), ""
        if _formats.is_table(lines, self._names_of_header()):
            problem, parameter, hint = "looks like a header, but is read as a row", "table", "format='csv'"
        elif lines and all(line.startswith(b'"') and line.partition(b"\t")[0].endswith(b'"') for line in lines):
            problem, parameter = "has quotes, which are read as part of the label and the text", "quotes"
            hint = "format='csv', delimiter='\\t', header=False, label=0, text=1"
        if parameter and self.labels != "str":
            from ._records import shown

            message = f"{source.name}: {shown(lines[0])} {problem}. Give {hint} if that is not meant."
            warn_caller(_errors.StreamWarning(message, parameter, hint))

    def _lines(self, files: Files, parser: Any, guard: Any = None) -> Iterator[Any]:
        return _blocks.batches(files, parser, self.counts, self.block_bytes, self.max_line_bytes, guard or nullcontext())

    def vectorizer_of_texts(self) -> Vectorizer:
        if self.vectorizer is not None:
            return self.vectorizer
        return HashingVectorizer(n_features=self.n_features, dtype=self.dtype.type)


def require(right: bool, name: str, wanted: str, got: object) -> None:
    """Raise the error of an option of `read` unless it is right."""
    if not right:
        raise ParameterError(f"read: {name} must be {wanted}, got {got!r}.", name, f"read: {name}")


def _files_of(source: Any) -> list | None:
    """Return paths and binary files as a list; None for another source."""
    found = list(source) if isinstance(source, (list, tuple)) else [source]
    return found if found and all(isinstance(each, (str, os.PathLike)) or hasattr(each, "read") for each in found) else None
