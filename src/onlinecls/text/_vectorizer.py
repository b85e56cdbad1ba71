"""`HashingVectorizer` checks parameters and reads texts; the compiled `RowHasher` makes the rows.

Where a parameter is beyond the compiled code, tokens are made here and hashed there.
"""

from __future__ import annotations

import re
import unicodedata
import warnings
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import chain, islice
from numbers import Integral
from operator import is_
from typing import TYPE_CHECKING

import numpy as np

from .._estimators.estimator import Estimator
from .._hashing.hasher import MAX_FEATURES, WHITE_SPACES, DamagedError, RowHasher
from .._hashing.options import HashingOptions
from .._input.compat import tags
from .._input.validate import is_missing
from ._arrow import damaged, is_utf8, string_chunks
from ._names import FeatureNames
from ._rows import sparse_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from threading import Lock
    from typing import Any, Literal, Self

    from numpy.typing import DTypeLike
    from sklearn.utils import Tags

    from .._hashing.sketch import Names

_WORDS = r"(?u)\b\w\w+\b"
# The compiled patterns, without "(?u)", and the least number of characters of their words.
_NATIVE_PATTERNS: dict[str | None, int] = {r"\b\w\w+\b": 2, r"\w\w+": 2, r"\b\w+\b": 1, r"\w+": 1}
_CHUNK = 4096  # documents
_FEW = 64  # documents of a call whose time is that of the layers around the hasher


@dataclass(eq=False, repr=False, kw_only=True)
class HashingVectorizer(Estimator):
    r"""Turn texts into rows of hashed token counts: scikit-learn's class of that name, bit for bit, many times faster.

    A token t goes to column ``|h(t)| mod n_features`` with the sign of h(t), where h is the signed 32-bit MurmurHash3 of its
    UTF-8 (seed 0).

    The default `token_pattern` (also ``r"\w+"``, with or without ``\b``), ``analyzer="char"`` and ``"char_wb"``, `lowercase`,
    `stop_words` and n-grams run compiled, without the GIL. A `preprocessor`, `tokenizer`, callable `analyzer`, `strip_accents`
    or another `token_pattern` runs in Python, as in scikit-learn; the hashing is compiled all the same.

    Parameters
    ----------
    input : {"content", "filename", "file"}, default="content"
        Items of X: texts, names of files of one text each, or objects with a ``read`` method.
    encoding : str, default="utf-8"
        Encoding of bytes.
    decode_error : {"strict", "ignore", "replace"}, default="strict"
        Treatment of bytes that are invalid in the encoding.
    strip_accents : {"ascii", "unicode"}, callable or None, default=None
    lowercase : bool, default=True
        Apply ``str.lower`` to the whole text.
    preprocessor : callable or None, default=None
        Replaces `lowercase` and `strip_accents`.
    tokenizer : callable or None, default=None
        Replaces `token_pattern`.
    stop_words : "english", list of str or None, default=None
        Words to leave out. "english" is scikit-learn's list, which needs scikit-learn installed.
    token_pattern : str or None, default=r"(?u)\b\w\w+\b"
        A regular expression with at most one group.
    ngram_range : tuple (min_n, max_n), default=(1, 1)
        Lengths of n-grams, in words or in characters.
    analyzer : {"word", "char", "char_wb"} or callable, default="word"
        "char_wb": characters within words, padded by a space at either end.
    n_features : int in 1..2**31 - 1, default=2**20
        Number of columns.
    binary : bool, default=False
        Make all values 1 (before `norm`).
    norm : {"l1", "l2"} or None, default="l2"
        Norm in which rows are scaled to length 1.
    alternate_sign : bool, default=True
        Count tokens with the sign of their hash, so that collisions cancel in the mean.
    dtype : dtype, default=np.float64
        float32, float64 or a signed integer type. Integers with a `norm` become float64.
    feature_names : FeatureNames or None, default=None
        Sketch that remembers the names of columns while texts are hashed. Not in scikit-learn.

    Notes
    -----
    `fit` only checks parameters. As in scikit-learn, there is no ``get_feature_names_out``.

    Examples
    --------
    >>> from onlinecls.text import HashingVectorizer
    >>> X = HashingVectorizer(n_features=16, norm=None, alternate_sign=False).transform(["the cat and the dog", "a dog"])
    >>> X.shape, X.sum(axis=1).ravel().tolist()
    ((2, 16), [[5.0, 1.0]])
    """

    input: Literal["content", "filename", "file"] = "content"
    encoding: str = "utf-8"
    decode_error: Literal["strict", "ignore", "replace"] = "strict"
    strip_accents: Literal["ascii", "unicode"] | Callable[[str], str] | None = None
    lowercase: bool = True
    preprocessor: Callable[[str], str] | None = None
    tokenizer: Callable[[str], Iterable[str]] | None = None
    stop_words: Literal["english"] | Iterable[str] | None = None
    token_pattern: str | None = _WORDS
    ngram_range: tuple[int, int] = (1, 1)
    analyzer: Literal["word", "char", "char_wb"] | Callable[[Any], Iterable[str]] = "word"
    n_features: int = 2**20
    binary: bool = False
    norm: Literal["l1", "l2"] | None = "l2"
    alternate_sign: bool = True
    dtype: DTypeLike = np.float64
    feature_names: FeatureNames | None = None

    def __sklearn_tags__(self) -> Tags:
        return tags(None, requires_fit=False, string=True, two_d_array=False)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    # --- scikit-learn's interface --------------------------------------------------------------------------------------------

    def fit(self, X: Iterable[Any], y: object = None) -> Self:
        """Check the parameters, and return the estimator.

        Raises
        ------
        ValueError
            If a parameter is not valid, or X is a single text.
        """
        self._refuse_one_text(X)
        self._check()
        self._warn_of_unused()
        return self

    def partial_fit(self, X: Iterable[Any], y: object = None) -> Self:
        """Check the parameters, and return the estimator."""
        self._check()
        return self

    def fit_transform(self, X: Iterable[Any], y: object = None) -> Any:
        """Check the parameters, and return the rows of texts as a CSR matrix."""
        return self.fit(X, y).transform(X)

    def transform(self, X: Iterable[Any]) -> Any:
        """Return the rows of texts.

        Parameters
        ----------
        X : iterable of str or bytes
            Lists, generators, NumPy arrays of any string dtype, pandas Series; Arrow string columns (pyarrow's Array and
            ChunkedArray, pandas Series held by Arrow) are read without copying. With `input` other than "content": file names,
            files.

        Returns
        -------
        rows : CSR matrix of shape (n_texts, n_features)
            Columns are sorted, without duplicates; a value may be 0, where signs cancel.

        Raises
        ------
        ValueError
            If a parameter is not valid; if X is a single text, is empty, or holds a missing value.
        TypeError
            If X holds anything but texts.
        UnicodeDecodeError, UnicodeEncodeError
            If a text is not of `encoding` and `decode_error` is "strict"; if a token has a lone surrogate.
        """
        if type(X) is list and len(X) <= _FEW and (found := self._transform_few(X)) is not None:
            return found
        self._refuse_one_text(X)
        hasher = self._hasher()
        with nullcontext() if self.feature_names is None else self.feature_names._lock:
            self._fill(hasher, X)
        rows = hasher.take()
        if rows.n_rows == 0:
            raise ValueError(f"{type(self).__name__}: X must hold at least one text, got none.")
        matrix, dtype = rows.matrix(), np.dtype(self.dtype)
        if dtype.kind == "i" and self.norm is None:
            matrix.data = matrix.data.astype(dtype)
        return sparse_rows(matrix)

    def _transform_few(self, texts: list[Any]) -> Any:
        """Return the rows of a few texts by the hasher of the last such call, if no parameter is another object since then.

        Return None where the long way must check a parameter, or raise the error of a text.
        """
        kept = self.__dict__.pop("_kept", None)  # (a call in another thread finds none)
        values = self._parameter_values()(self.__dict__)
        if kept is None or not all(map(is_, kept[0], values)):
            self._check()
            if not self._keeps_hasher():
                return None
            kept = values, self._hasher()
        hasher = kept[1]
        try:
            hasher.add_texts(texts)
        except (TypeError, UnicodeError):
            return None
        rows = hasher.take()
        self._kept = kept
        return sparse_rows(rows.matrix()) if rows.n_rows else None

    def _keeps_hasher(self) -> bool:
        """Return True if a compiled hasher serves further calls: no names to keep, no parameter that could change inside."""
        is_fixed = type(self.ngram_range) is tuple and (self.stop_words is None or isinstance(self.stop_words, frozenset))
        plain = self.input == "content" and self.feature_names is None and np.dtype(self.dtype).kind == "f"
        return is_fixed and plain and self._is_native() and is_utf8(self.encoding)

    # --- parameters ----------------------------------------------------------------------------------------------------------

    def _refuse_one_text(self, X: Iterable[Any]) -> None:
        if isinstance(X, str | bytes):
            kind = "string" if isinstance(X, str) else "bytes"
            raise ValueError(f"Iterable over raw text documents expected, {kind} object received.")

    def _check(self) -> None:
        """Raise a ValueError unless all parameters are valid."""
        who = type(self).__name__

        def require(condition: bool, name: str, needed: str) -> None:
            if not condition:
                raise ValueError(f"{who}: {name} must be {needed}, got {name}={getattr(self, name)!r}.")

        def one_of(name: str, *values: object) -> None:
            value = getattr(self, name)
            require(value is None or isinstance(value, str), name, " or ".join(map(repr, values)))
            require(value in values, name, " or ".join(map(repr, values)))

        one_of("input", "content", "filename", "file")
        one_of("decode_error", "strict", "ignore", "replace")
        one_of("norm", "l1", "l2", None)
        if not callable(self.analyzer):
            one_of("analyzer", "word", "char", "char_wb")
        if not callable(self.strip_accents):
            one_of("strip_accents", "ascii", "unicode", None)
        for name in ("preprocessor", "tokenizer"):
            require(getattr(self, name) is None or callable(getattr(self, name)), name, "callable or None")
        for name in ("lowercase", "binary", "alternate_sign"):
            require(isinstance(getattr(self, name), bool | np.bool_), name, "True or False")
        require(isinstance(self.encoding, str), "encoding", "the name of an encoding")
        try:
            b"a".decode(self.encoding, "replace")
        except (LookupError, ValueError):  # LookupError of zlib too, no encoding of texts; ValueError: a NUL in the name
            require(False, "encoding", "the name of an encoding")
        n = self.n_features
        require(isinstance(n, Integral) and not isinstance(n, bool) and n >= 1, "n_features", "an integer in 1..2**31 - 1")
        if n > MAX_FEATURES:
            raise ValueError(
                f"{who}: n_features must be at most 2**31 - 1, since tokens are hashed to signed 32-bit numbers, got "
                f"n_features={n}. Further columns would stay empty: leave them out."
            )
        pair = self.ngram_range
        are_integers = isinstance(pair, tuple | list) and len(pair) == 2 and all(isinstance(each, Integral) for each in pair)
        require(are_integers, "ngram_range", "a tuple of two integers")
        if pair[0] > pair[1]:
            raise ValueError(f"Invalid value for ngram_range={pair} lower boundary larger than the upper boundary.")
        words = self.stop_words
        are_words = words == "english" if isinstance(words, str) else words is None or (
            np.iterable(words) and all(isinstance(word, str) for word in words)
        )
        require(are_words, "stop_words", '"english", a list of str or None')
        if self.token_pattern is None:
            needed = "a regular expression where there is no tokenizer"
            require(self.analyzer != "word" or self.tokenizer is not None, "token_pattern", needed)
        else:
            try:
                n_groups = re.compile(self.token_pattern).groups
            except (re.error, TypeError, RecursionError, OverflowError) as error:
                raise ValueError(
                    f"{who}: token_pattern must be a regular expression, got token_pattern={self.token_pattern!r}: {error}."
                ) from None
            require(n_groups <= 1, "token_pattern", "a regular expression with at most one group")
        try:
            dtype = np.dtype(self.dtype)
        except (TypeError, ValueError, SyntaxError):  # SyntaxError: numpy parses texts like "(2,)f4"
            dtype = np.dtype(object)
        require(dtype in (np.float32, np.float64) or dtype.kind == "i", "dtype", "float32, float64 or a signed integer type")
        require(isinstance(self.feature_names, FeatureNames | None), "feature_names", "a FeatureNames or None")

    def _warn_of_unused(self) -> None:
        """Warn of parameters that have no effect, word for word as scikit-learn does."""
        warn_if = (
            (self.tokenizer is not None and self.token_pattern is not None, "token_pattern", "'tokenizer' is not None'"),
            (self.preprocessor is not None and callable(self.analyzer), "preprocessor", "'analyzer' is callable'"),
            (tuple(self.ngram_range) != (1, 1) and callable(self.analyzer), "ngram_range", "'analyzer' is callable'"),
            (self.analyzer != "word" and self.stop_words is not None, "stop_words", "'analyzer' != 'word'"),
            (self.analyzer != "word" and self.token_pattern not in (None, _WORDS), "token_pattern", "'analyzer' != 'word'"),
            (self.analyzer != "word" and self.tokenizer is not None, "tokenizer", "'analyzer' != 'word'"),
        )
        for unused, name, why in warn_if:
            if unused:
                warnings.warn(f"The parameter '{name}' will not be used since {why}", stacklevel=3)

    def _is_native(self) -> bool:
        """Return True if the compiled code makes the tokens."""
        if callable(self.analyzer) or self.preprocessor is not None or self.strip_accents is not None:
            return False
        if self.ngram_range[0] < 1:  # scikit-learn has a meaning for it
            return False
        return self.analyzer != "word" or (self.tokenizer is None and self._pattern() in _NATIVE_PATTERNS)

    def _pattern(self) -> str | None:
        return None if self.token_pattern is None else self.token_pattern.removeprefix("(?u)")

    def _hasher(self) -> RowHasher:
        self._check()
        native = self._is_native()
        stop_words = self.get_stop_words() if self.analyzer == "word" else None
        if stop_words:
            self._check_stop_words(stop_words)
        return RowHasher(HashingOptions(
            analyzer=self.analyzer if native and not callable(self.analyzer) else "word",
            ngram_range=self.ngram_range if native else (1, 1), stop_words=stop_words if native else None,
            lowercase=self.lowercase, binary=self.binary, alternate_sign=self.alternate_sign, norm=self.norm,
            dtype=np.float32 if np.dtype(self.dtype) == np.float32 else np.float64, n_features=int(self.n_features),
            min_chars=_NATIVE_PATTERNS.get(self._pattern(), 2), decode_error=self.decode_error,
            names=None if self.feature_names is None else self.feature_names._sketch,
        ))

    def get_stop_words(self) -> frozenset[str] | None:
        """Return the words to leave out, as a frozenset, or None."""
        if self.stop_words is None:
            return None
        if self.stop_words == "english":
            try:
                from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS
            except ImportError:
                raise ImportError(
                    f'{type(self).__name__}: stop_words="english" is the list of scikit-learn, which is not installed. '
                    "Install it (pip install scikit-learn), or give a list of words."
                ) from None
            return ENGLISH_STOP_WORDS
        return frozenset(self.stop_words)

    def _check_stop_words(self, stop_words: frozenset[str]) -> None:
        """Warn, as scikit-learn does, of stop words that no token can equal."""
        if self.__dict__.get("_stop_words_seen") is self.stop_words:
            return
        try:
            preprocess, tokenize = self.build_preprocessor(), self.build_tokenizer()
            strange = {token for word in stop_words for token in tokenize(preprocess(word)) if token not in stop_words}
        except Exception:  # of a callable that does not take single words
            strange = set()
        self._stop_words_seen = self.stop_words
        if strange:
            warnings.warn(
                "Your stop_words may be inconsistent with your preprocessing. Tokenizing the stop words generated tokens "
                f"{sorted(strange)!r} not in stop_words.",
                stacklevel=4,
            )

    # --- input ---------------------------------------------------------------------------------------------------------------

    def _fill(self, hasher: RowHasher, X: Iterable[Any]) -> None:
        """Add all texts to the hasher."""
        if not self._is_native():
            self._fill_with_tokens(hasher, X)
            return
        arrow = string_chunks("HashingVectorizer", X, full=False) if self.input == "content" and is_utf8(self.encoding) else None
        if arrow is not None:
            for chunk in arrow:
                self._fill_from_arrow(hasher, chunk)
            return
        for texts in self._lists(X):
            before = hasher.n_rows
            try:
                hasher.add_texts(texts)
            except TypeError:
                raise self._error_of_item(before, texts) from None
            except UnicodeError as error:
                error.add_note(f"{type(self).__name__}: in the text of row {hasher.n_rows}.")
                raise

    def _lists(self, X: Iterable[Any]) -> Iterator[list[Any]]:
        """Yield the texts of X in lists of str and of bytes in UTF-8."""
        plain = self.input == "content" and is_utf8(self.encoding)
        if plain and isinstance(X, list):
            yield X
            return
        texts = self._each(X)
        while chunk := list(islice(texts, _CHUNK)):
            yield chunk if plain else [self._read(text) for text in chunk]

    def _each(self, X: Iterable[Any]) -> Iterator[Any]:
        try:
            return iter(X.tolist() if isinstance(X, np.ndarray) and X.ndim else X)
        except TypeError:
            raise TypeError(f"{type(self).__name__}: X must be an iterable of texts, got {type(X).__name__}.") from None

    def _read(self, text: Any) -> Any:
        """Return a text as str, or as bytes in UTF-8."""
        if self.input == "filename":
            with open(text, "rb") as file:
                text = file.read()
        elif self.input == "file":
            text = text.read()
        if isinstance(text, bytes) and not is_utf8(self.encoding):
            text = text.decode(self.encoding, self.decode_error)
        return text

    def _error_of_item(self, before: int, texts: list[Any]) -> Exception:
        """Return the error for the first item of a list that is not a text."""
        who = type(self).__name__
        i, strange = next((i, text) for i, text in enumerate(texts) if not isinstance(text, str | bytes))
        if is_missing(strange):
            return ValueError(
                f"{who}: X must hold str or bytes, got {strange!r}, a missing value, in row {before + i}. "
                "Drop such rows, or fill them with ''."
            )
        return TypeError(f"{who}: X must hold str or bytes, got {type(strange).__name__} in row {before + i}.")

    def _fill_from_arrow(self, hasher: RowHasher, column: Any) -> None:
        """Add the texts of a pyarrow string array to the hasher without copying them."""
        if column.null_count:
            row = hasher.n_rows + column.is_null().to_numpy(zero_copy_only=False).argmax()
            raise ValueError(
                f"{type(self).__name__}: X must not hold nulls, got one in row {row}. Drop such rows, or fill them with ''."
            )
        kind, start, n = str(column.type), column.offset, len(column)
        _, places, *texts = column.buffers()
        if n == 0:
            return
        texts = [np.frombuffer(text, np.uint8) if text is not None and text.size else np.empty(0, np.uint8) for text in texts]
        try:
            if kind.endswith("_view"):
                hasher.add_views(_aligned(np.frombuffer(places, np.int32, 4 * (start + n))).reshape(-1, 4)[start:], texts)
            else:
                width = np.int64 if kind.startswith("large_") else np.int32
                hasher.add_offsets(_aligned(np.frombuffer(places, width, start + n + 1))[start:], texts[0])
        except UnicodeError as error:
            error.add_note(f"{type(self).__name__}: in the text of row {hasher.n_rows}.")
            raise
        except DamagedError as error:
            raise damaged(f"{type(self).__name__}: X must be", error) from None

    # --- tokens made in Python, for parameters beyond the compiled code ------------------------------------------------------

    def _fill_with_tokens(self, hasher: RowHasher, X: Iterable[Any]) -> None:
        analyze = self.build_analyzer()
        chunks = string_chunks("HashingVectorizer", X)
        texts = self._each(X) if chunks is None else chain.from_iterable(chunk.to_pylist() for chunk in chunks)
        for text in texts:
            tokens = analyze(text)
            if isinstance(tokens, str):
                raise ValueError(
                    f"{type(self).__name__}: the analyzer must make an iterable of tokens of a text, got a single string."
                )
            hasher.add_tokens(tokens)

    def decode(self, doc: Any) -> str:
        """Read and decode a document, which is a text, a file name or a file by `input`, and return it as str."""
        text = self._read(doc)
        if isinstance(text, bytes):
            text = text.decode(self.encoding, self.decode_error)
        if is_missing(text):
            raise ValueError(f"{type(self).__name__}: X must hold str or bytes, got {text!r}, a missing value.")
        return text

    def build_preprocessor(self) -> Callable[[str], str]:
        """Return the function that prepares a str before it is split into tokens."""
        if self.preprocessor is not None:
            return self.preprocessor
        strips: dict[Any, Any] = {None: None, "ascii": _ascii_of, "unicode": _without_accents}
        strip = strips.get(self.strip_accents, self.strip_accents)

        def preprocess(text: str) -> str:
            text = text.lower() if self.lowercase else text
            return text if strip is None else strip(text)

        return preprocess

    def build_tokenizer(self) -> Callable[[str], Iterable[str]]:
        """Return the function that splits a str into words."""
        return self.tokenizer if self.tokenizer is not None else re.compile(str(self.token_pattern)).findall

    def build_analyzer(self) -> Callable[[Any], Iterable[str]]:
        """Return the function that makes the tokens of a text, including n-grams."""
        if callable(self.analyzer):
            analyzer = self.analyzer
            return lambda doc: analyzer(self.decode(doc))
        preprocess, (least, most) = self.build_preprocessor(), self.ngram_range
        if self.analyzer == "char":
            return lambda doc: _character_ngrams(preprocess(self.decode(doc)), least, most)
        if self.analyzer == "char_wb":
            return lambda doc: _padded_ngrams(preprocess(self.decode(doc)), least, most)
        tokenize, stop_words = self.build_tokenizer(), self.get_stop_words() or ()

        def analyze(doc: Any) -> Iterable[str]:
            words = [word for word in tokenize(preprocess(self.decode(doc))) if word not in stop_words]
            if most == 1:
                return words
            lengths = range(least, min(most, len(words)) + 1)
            return [" ".join(words[i : i + n]) for n in lengths for i in range(len(words) - n + 1)]

        return analyze


def compiled_hasher(vectorizer: object) -> tuple[Callable[[], RowHasher], Lock | None] | None:
    """Return what a reader of UTF-8 bytes may use instead of `transform`: (a function that makes a `RowHasher`, a lock to hold
    while it hashes, or None).

    Return None for other vectorizers, and if a parameter needs Python, another encoding or another input.
    """
    if not isinstance(vectorizer, HashingVectorizer) or vectorizer.input != "content":
        return None
    if not vectorizer._is_native() or not is_utf8(vectorizer.encoding):
        return None
    names = vectorizer.feature_names
    return vectorizer._hasher, None if names is None else names._lock


def sketch_of(vectorizer: object) -> tuple[Names, Lock] | None:
    """Return the compiled sketch of names of a vectorizer and its lock; None if it keeps no names."""
    names = getattr(vectorizer, "feature_names", None)
    return (names._sketch, names._lock) if isinstance(names, FeatureNames) else None


def _character_ngrams(text: str, least: int, most: int) -> list[str]:
    text = WHITE_SPACES.sub(" ", text)
    return [text[i : i + n] for n in range(least, min(most, len(text)) + 1) for i in range(len(text) - n + 1)]


def _padded_ngrams(text: str, least: int, most: int) -> list[str]:
    found: list[str] = []
    for word in text.split():
        padded = f" {word} "
        for n in range(least, most + 1):
            found.extend(padded[i : i + n] for i in range(max(len(padded) - n, 0) + 1))
            if n >= len(padded):
                break
    return found


def _without_accents(text: str) -> str:
    if text.isascii():
        return text
    return "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))


def _ascii_of(text: str) -> str:
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")


def _aligned(array: np.ndarray) -> np.ndarray:
    """Return the array, copied if it is not aligned: a file may put a buffer anywhere."""
    return array if array.flags.aligned else array.copy()

