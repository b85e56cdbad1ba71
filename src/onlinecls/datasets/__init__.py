"""A real data set that ships with the package, for examples and tests.

The SMS Spam Collection v.1 (Almeida and Hidalgo; CC BY 4.0; see README.md beside this file).
"""

from __future__ import annotations

import gzip
import re
from importlib.resources import files
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from numpy.typing import NDArray

    from .._input.types import FloatType

__all__ = ["load_sms_spam"]


def __dir__() -> list[str]:
    return __all__


def _hash_words(texts: Iterable[str], n_features: int, dtype: FloatType) -> Any:
    """Return rows of unit length of the lower-cased words of texts, hashed to columns by their CRC-32."""
    indices, indptr = [], [0]
    for text in texts:
        indices += [crc32(word.encode()) % n_features for word in re.findall(r"\w+", text.lower())]
        indptr.append(len(indices))
    from scipy.sparse import csr_matrix

    X = csr_matrix((np.ones(len(indices), dtype), indices, indptr), shape=(len(indptr) - 1, n_features))
    X.sum_duplicates()
    norms = np.sqrt(np.add.reduceat(np.append(X.data**2, 0), X.indptr[:-1]))
    X.data /= np.repeat(norms, np.diff(X.indptr)).astype(dtype)
    return X


def load_sms_spam(
    *, return_text: bool = False, n_features: int = 2**20, dtype: FloatType = np.float32,
) -> tuple[Any, NDArray[np.str_]]:
    """Load the SMS Spam Collection: 5,574 text messages in their original order, 13 % of them spam.

    Parameters
    ----------
    return_text : bool, default=False
        Return the messages as a list of str instead of a matrix.
    n_features : int, default=2**20
        Number of columns, > 0. Words whose CRC-32 is equal modulo n_features share one.
    dtype : numpy.float32 or numpy.float64, default=numpy.float32

    Returns
    -------
    X : scipy.sparse.csr_matrix of shape (5574, n_features), or list of str
    y : ndarray of "ham" and "spam", shape (5574,)

    Examples
    --------
    >>> from onlinecls.datasets import load_sms_spam
    >>> X, y = load_sms_spam()
    >>> X.shape, y[:3].tolist()
    ((5574, 1048576), ['ham', 'ham', 'spam'])
    """
    packed = files(__name__).joinpath("sms-spam.tsv.gz").read_bytes()
    rows = [line.split("\t", 1) for line in gzip.decompress(packed).decode().splitlines()]
    texts, y = [text for _, text in rows], np.array([label for label, _ in rows])
    return (texts if return_text else _hash_words(texts, n_features, dtype)), y
