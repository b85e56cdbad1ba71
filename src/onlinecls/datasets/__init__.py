"""A real data set that ships with the package, for examples and tests.

The SMS Spam Collection v.1 (Almeida and Hidalgo; CC BY 4.0; see README.md beside this file).
"""

from __future__ import annotations

import gzip
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from .._input.types import FloatType

__all__ = ["load_sms_spam"]


def load_sms_spam(
    *, return_text: bool = False, n_features: int = 2**20, dtype: FloatType = np.float32,
) -> tuple[Any, NDArray[np.str_]]:
    """Load the SMS Spam Collection: 5,574 text messages in their original order, 13 % of them spam.

    Parameters
    ----------
    return_text : bool, default=False
        Return the messages as a list of str instead of a matrix.
    n_features : int, default=2**20
        Number of columns, > 0, of `onlinecls.text.HashingVectorizer`, which makes the rows.
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
    if return_text:
        return texts, y
    from ..text import HashingVectorizer

    return HashingVectorizer(n_features=n_features, dtype=dtype).transform(texts), y
