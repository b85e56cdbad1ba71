"""`HashingVectorizer` checks parameters and reads texts; the compiled `RowHasher` makes the rows.

Where a parameter is beyond the compiled code, scikit-learn makes the tokens.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import chain, islice
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .._compiled.model import are_same
from .._estimators.estimator import Estimator
from .._hashing.hasher import MAX_FEATURES, RowHasher, not_a_text
from .._input.compat import tags
from .._input.validate import is_missing
from ._arrow import is_utf8, string_chunks
from ._rows import plain_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any, Literal, Self

    from numpy.typing import DTypeLike
    from sklearn.utils import Tags

# The compiled patterns, without "(?u)", and the least number of characters of their words.
_NATIVE_PATTERNS: dict[str | None, int] = {r"\b\w\w+\b": 2, r"\w\w+": 2, r"\b\w+\b": 1, r"\w+": 1}
_CHOICES: dict[str, tuple] = {
    "input": ("content", "filename", "file"), "decode_error": ("strict", "ignore", "replace"), "norm": ("l1", "l2", None),
    "analyzer": ("word", "char", "char_wb"), "strip_accents": ("ascii", "unicode", None),
}
_CHUNK = 4096  # documents


@dataclass(eq=False, repr=False, kw_only=True)
class HashingVectorizer(Estimator):
    r"""Turn texts into rows of hashed token counts: scikit-learn's class of that name, bit for bit, many times faster.

    A token t goes to column ``|h(t)| mod n_features`` with the sign of h(t), where h is the signed 32-bit MurmurHash3 of its
    UTF-8 (seed 0).

    The default `token_pattern` (also ``r"\w+"``, with or without ``\b``), ``analyzer="char"`` and ``"char_wb"``, `lowercase`,
    `stop_words` and n-grams run compiled, without the GIL. A `preprocessor`, `tokenizer`, callable `analyzer`, `strip_accents`
    or another `token_pattern` runs in scikit-learn, which must be installed; the hashing is compiled all the same.

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
    token_pattern: str | None = r"(?u)\b\w\w+\b"
    ngram_range: tuple[int, int] = (1, 1)
    analyzer: Literal["word", "char", "char_wb"] | Callable[[Any], Iterable[str]] = "word"
    n_features: int = 2**20
    binary: bool = False
    norm: Literal["l1", "l2"] | None = "l2"
    alternate_sign: bool = True
    dtype: DTypeLike = np.float64

    def __sklearn_tags__(self) -> Tags:
        return tags(None, requires_fit=False, string=True, two_d_array=False)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    # --- scikit-learn's interface --------------------------------------------------------------------------------------------

    def fit(self, X: Iterable[Any], y: object = None) -> Self:
        """Check the parameters, and return the estimator."""
        self._refuse_one_text(X)
        return self.partial_fit(X)

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
        X : iterable of str, bytes, or dicts of words
            Lists, generators, NumPy arrays of any string dtype, pandas Series; Arrow string columns (pyarrow's Array and
            ChunkedArray, pandas Series held by Arrow) are read without copying. With `input` other than "content": file names,
            files. A dict of words and their counts, or values, is hashed as by scikit-learn's `FeatureHasher`: a text v of a
            word n is the word "n=v" of value 1. Its values are then scaled by `norm`.

        Returns
        -------
        rows : CSR matrix of shape (n_texts, n_features)
            Columns are sorted, without duplicates; a value may be 0, where signs cancel.

        Raises
        ------
        ValueError, TypeError
            If a parameter is not valid; if X is a single text, is empty, or holds a missing value, or what is no text and no
            dict; if a text is not of `encoding` and `decode_error` is "strict"; if a token has a lone surrogate.
        """
        return plain_rows(self._transformed(X))

    def _transformed(self, X: Iterable[Any]) -> Any:
        kept = self.__dict__.pop("_kept", (None, None, None))  # the last call's hasher (not found by other threads)
        values = self._parameter_values()(self.__dict__)
        is_same = are_same(kept[0], values)
        if not is_same:
            kept = values, self._hasher(), self._way()
        rows = self._rows_of(X, kept[1], kept[2])
        if is_same or (type(self.ngram_range) is tuple and type(self.stop_words) in (type(None), str, frozenset)):
            self._kept = kept  # (no parameter can change inside)
        return rows

    def _rows_of(self, X: Iterable[Any], hasher: RowHasher, way: tuple[bool, Any]) -> Any:
        """Return rows of texts as `Rows`; where their numbers are integers, as a matrix."""
        self._refuse_one_text(X)
        self._fill(hasher, X, *way)
        rows = hasher.take()
        if rows.n_rows == 0:
            raise ValueError(f"{type(self).__name__}: X must hold at least one text, got none.")
        if self.norm is None and (dtype := np.dtype(self.dtype)).kind == "i":
            rows = plain_rows(rows)
            rows.data = rows.data.astype(dtype)
        return rows

    # --- parameters ----------------------------------------------------------------------------------------------------------

    def _refuse_one_text(self, X: Iterable[Any]) -> None:
        if type(X) is not list and isinstance(X, str | bytes):
            kind = "string" if isinstance(X, str) else "bytes"
            raise ValueError(f"Iterable over raw text documents expected, {kind} object received.")

    def _check(self) -> None:
        """Raise a ValueError unless all parameters are valid."""
        who = type(self).__name__

        def require(condition: bool, name: str, needed: str) -> None:
            if not condition:
                raise ValueError(f"{who}: {name} must be {needed}, got {name}={getattr(self, name)!r}.")

        for name, values in _CHOICES.items():
            value = getattr(self, name)
            is_own = name in ("analyzer", "strip_accents") and callable(value)
            require(is_own or (isinstance(value, str | None) and value in values), name, " or ".join(map(repr, values)))
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
        is_size = isinstance(n, Integral) and not isinstance(n, bool) and 1 <= n <= MAX_FEATURES
        require(is_size, "n_features", "an integer in 1..2**31 - 1")
        pair = self.ngram_range
        are_integers = isinstance(pair, tuple | list) and len(pair) == 2 and all(isinstance(each, Integral) for each in pair)
        require(are_integers, "ngram_range", "a tuple of two integers")
        if pair[0] > pair[1]:
            raise ValueError(f"Invalid value for ngram_range={pair} lower boundary larger than the upper boundary.")
        words = self.stop_words
        is_list = np.iterable(words) and all(isinstance(word, str) for word in words)
        are_words = words == "english" if isinstance(words, str) else words is None or is_list
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

    def _is_native(self) -> bool:
        """Return True if the compiled code makes the tokens."""
        is_python = callable(self.analyzer) or self.preprocessor is not None or self.strip_accents is not None
        if is_python or self.ngram_range[0] < 1:  # (for which scikit-learn has a meaning)
            return False
        return self.analyzer != "word" or (self.tokenizer is None and self._pattern() in _NATIVE_PATTERNS)

    def _pattern(self) -> str | None:
        return None if self.token_pattern is None else self.token_pattern.removeprefix("(?u)")

    def _hasher(self, heard: dict[int, list] | None = None, most_heard: int = 0) -> RowHasher:
        self._check()
        native = self._is_native()
        stop_words = self.get_stop_words() if self.analyzer == "word" else None
        return RowHasher(
            analyzer=self.analyzer if native else "word", ngram_range=self.ngram_range if native else (1, 1),
            stop_words=stop_words if native else None, lowercase=self.lowercase, binary=self.binary,
            alternate_sign=self.alternate_sign, norm=self.norm,
            dtype=np.float32 if np.dtype(self.dtype) == np.float32 else np.float64, n_features=int(self.n_features),
            min_chars=_NATIVE_PATTERNS.get(self._pattern(), 2), decode_error=self.decode_error, heard=heard,
            most_heard=most_heard,
        )

    def get_stop_words(self) -> frozenset[str] | None:
        """Return the words to leave out, as a frozenset, or None."""
        if self.stop_words == "english":
            return self._of_scikit_learn("ENGLISH_STOP_WORDS")
        return None if self.stop_words is None else frozenset(self.stop_words)

    def _of_scikit_learn(self, name: str) -> Any:
        try:
            from sklearn.feature_extraction import text
        except ImportError:
            raise ImportError(
                f"{type(self).__name__}: strip_accents, another token_pattern, an analyzer, preprocessor or tokenizer of your "
                'own, and stop_words="english" need scikit-learn, which is not installed. Install it (pip install scikit-learn).'
            ) from None
        return getattr(text, name)

    # --- input ---------------------------------------------------------------------------------------------------------------

    def _way(self) -> tuple[bool, Callable[[Any], Iterable[str]] | None]:
        """Return whether the compiled code reads the texts as they are, and what else makes their tokens; None if it does."""
        return self.input == "content" and is_utf8(self.encoding), None if self._is_native() else self.build_analyzer()

    def _fill(self, hasher: RowHasher, X: Iterable[Any], plain: bool, analyze: Callable[[Any], Iterable[str]] | None) -> None:
        """Add all texts to the hasher."""
        arrow = string_chunks("HashingVectorizer", X) if type(X) is not list and (plain or analyze) else None
        if arrow is not None and analyze is not None:
            X, arrow = chain.from_iterable(chunk.to_pylist() for chunk in arrow), None
        for texts in arrow or ((X,) if type(X) is list else self._lists(X)):
            try:
                if arrow:
                    self._fill_from_arrow(hasher, texts)
                elif analyze is None:
                    hasher.add_texts(texts if plain else list(map(self._read, texts)))
                else:
                    self._add_tokens(hasher, analyze, texts)
            except UnicodeError as error:
                error.add_note(f"{type(self).__name__}: in the text of row {hasher.n_rows}.")
                raise

    def _lists(self, X: Iterable[Any]) -> Iterator[list[Any]]:
        """Yield the texts of X in lists."""
        try:
            texts = iter(X.tolist() if isinstance(X, np.ndarray) and X.ndim else X)
        except TypeError:
            raise TypeError(f"{type(self).__name__}: X must be an iterable of texts, got {type(X).__name__}.") from None
        while chunk := list(islice(texts, _CHUNK)):
            yield chunk

    def _read(self, text: Any) -> Any:
        """Return a text as str, or as bytes in UTF-8."""
        if self.input == "filename":
            text = Path(text).read_bytes()
        elif self.input == "file":
            text = text.read()
        is_other = isinstance(text, bytes) and not is_utf8(self.encoding)
        return text.decode(self.encoding, self.decode_error) if is_other else text

    def _fill_from_arrow(self, hasher: RowHasher, column: Any) -> None:
        """Add the texts of a pyarrow string array to the hasher without copying them."""
        if column.null_count:
            row = hasher.n_rows + column.is_null().to_numpy(zero_copy_only=False).argmax()
            raise ValueError(
                f"{type(self).__name__}: X must not hold nulls, got one in row {row}. Drop such rows, or fill them with ''."
            )
        if len(column) == 0:
            return
        _, places, text = column.buffers()
        width = np.int64 if str(column.type).startswith("large_") else np.int32
        offsets = np.frombuffer(places, width, column.offset + len(column) + 1)[column.offset :]
        offsets = offsets if offsets.flags.aligned else offsets.copy()  # (a file may put a buffer anywhere)
        hasher.add_offsets(offsets, np.frombuffer(text or b"", np.uint8))

    def _add_tokens(self, hasher: RowHasher, analyze: Callable[[Any], Iterable[str]], texts: list[Any]) -> None:
        """Add texts to the hasher by the tokens that scikit-learn's vectorizer makes."""
        for text in texts:
            if is_missing(text):
                raise not_a_text(text, hasher.n_rows)
            tokens = [] if isinstance(text, dict) else analyze(text)
            if isinstance(tokens, str):
                raise ValueError(
                    f"{type(self).__name__}: the analyzer must make an iterable of tokens of a text, got a single string."
                )
            hasher.add_texts([text]) if isinstance(text, dict) else hasher.add_tokens(tokens)

    def build_analyzer(self) -> Callable[[Any], Iterable[str]]:
        """Return scikit-learn's function that makes the tokens of a text, including n-grams."""
        return self._of_scikit_learn("HashingVectorizer")(**self.get_params()).build_analyzer()
