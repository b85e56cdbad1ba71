"""The options of the compiled hasher of documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from .sketch import Names


class HashingOptions(NamedTuple):
    """Hold the parameters of a `HashingVectorizer` after it has checked them.

    min_chars : the least number of characters of a word. names : the sketch that notes tokens by their columns, or None.
    """

    analyzer: str = "word"
    ngram_range: tuple[int, int] = (1, 1)
    lowercase: bool = True
    stop_words: frozenset[str] | None = None
    binary: bool = False
    alternate_sign: bool = True
    norm: str | None = "l2"
    dtype: type = np.float64
    n_features: int = 2**20
    min_chars: int = 2
    decode_error: str = "strict"
    names: Names | None = None
