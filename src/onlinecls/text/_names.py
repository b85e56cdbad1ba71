"""`FeatureNames`: the words behind the columns of hashed text, so that a model can be read."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._input.compat import issparse
from .._input.validate import brief
from ._arrow import is_utf8
from ._rows import plain_rows
from ._vectorizer import HashingVectorizer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from .._hashing.hasher import RowHasher

class Feature(NamedTuple):
    """Describe what a model has learnt about a name.

    Attributes
    ----------
    name : str
    weight : float
        Of the presence of the name, towards the class.
    std : float or None
        √Σ_ii, if the model has `covariance_`.
    column : int
    shared : bool
        Whether tokens of other names fell on the column too.
    """

    name: str
    weight: float
    std: float | None
    column: int
    shared: bool


class Contribution(NamedTuple):
    """Describe what a feature of one row adds to its score: weight times value.

    Weight and value are those of the name, whatever the sign of its hash: a word that is present has a value above 0.

    Attributes
    ----------
    name : str
        "column 7" where it is unknown.
    contribution, weight, value : float
    std : float or None
        As of `Feature`.
    column : int
        That of the intercept is -1.
    shared : bool
        As of `Feature`.
    """

    name: str
    contribution: float
    weight: float
    value: float
    std: float | None
    column: int
    shared: bool


class FeatureNames:
    """Learn the names of hashed columns from texts, in bounded memory, so that a model of them can be read.

    For each of up to `max_names` columns, keep the name of most of its tokens (by majority vote: the first one, until others
    have outnumbered it), and a flag once a second name has fallen on the column. When the memory is full, the half of the
    columns with the fewest votes is forgotten, so that frequent words stay. A name is shortened to 42 bytes of UTF-8.

    Parameters
    ----------
    vectorizer : HashingVectorizer
        What makes the model's rows.
    max_names : int >= 2, default=100_000
        Number of columns to remember, at about 220 bytes each.

    Notes
    -----
    Hashing with names takes some twenty times as long as without.

    Examples
    --------
    >>> from onlinecls.text import FeatureNames, HashingVectorizer
    >>> names = FeatureNames(HashingVectorizer())
    >>> X = names.transform(["cheap pills"])
    >>> sorted(names[column] for column in X.indices)
    ['cheap', 'pills']
    """

    def __init__(self, vectorizer: HashingVectorizer, max_names: int = 100_000) -> None:
        if not isinstance(max_names, Integral) or isinstance(max_names, bool) or max_names < 2:
            raise ValueError(f"FeatureNames: max_names must be an integer >= 2, got max_names={max_names!r}.")
        if not isinstance(vectorizer, HashingVectorizer):
            raise TypeError(f"FeatureNames: vectorizer must be a HashingVectorizer, got {brief(vectorizer)}.")
        self.vectorizer: HashingVectorizer = vectorizer
        self.max_names: int = int(max_names)
        self._found: dict[int, list] = {}  # which a `RowHasher` fills

    def __repr__(self) -> str:
        return f"FeatureNames({self.vectorizer!r}, max_names={self.max_names})"

    def __len__(self) -> int:
        """Return the number of columns that have a name."""
        return len(self._found)

    def __getitem__(self, column: int) -> str | None:
        """Return the name of a column; None if it is unknown. A shortened name ends in an ellipsis."""
        return self.look_up(column)[0]

    def transform(self, X: Iterable[Any]) -> Any:
        """Return the rows that the vectorizer makes of texts, and learn the names of their columns."""
        return plain_rows(self.vectorizer._rows_of(X, self._hasher(), self.vectorizer._way()))

    def _hasher(self) -> RowHasher:
        """Return what makes rows of texts, and tells their words. (For streams.)"""
        return self.vectorizer._hasher(self._found, self.max_names)

    def columns(self) -> np.ndarray:
        """Return the columns that have a name, as a sorted array of int64."""
        return np.array(sorted(self._found), np.int64)

    def look_up(self, column: int) -> tuple[str | None, bool, int]:
        """Return (name or None, whether tokens of other names fell on the column, sign of the name's hash)."""
        _, name, is_shared, sign = self._found.get(column, (0, None, False, 1))
        return name if name is None else name.decode("utf-8", "replace"), is_shared, sign

    def top_features(self, model: Any, k: int = 10) -> dict[object, list[Feature]]:
        """Return the features with the largest weights towards each class.

        Parameters
        ----------
        model : fitted linear classifier
            With ``coef_`` and ``classes_``: one of this package, or of scikit-learn.
        k : int >= 1, default=10
            Most features for each class; only weights above 0 count.

        Returns
        -------
        features : dict of lists of Feature, by class
            Features of columns that have a name, the largest weight first. With two classes, the weights of the first are those
            of the second with the sign changed.
        """
        if not isinstance(k, Integral) or isinstance(k, bool) or k < 1:
            raise ValueError(f"FeatureNames: k must be an integer >= 1, got k={k!r}.")
        if not self._found:
            raise ValueError("FeatureNames: there must be names, got none. Transform the texts whose words the model has learnt.")
        if not hasattr(model, "classes_") or model.coef_.shape[1] != self.vectorizer.n_features:
            needed = f"a fitted classifier of {self.vectorizer.n_features} columns, as many as the vectorizer makes"
            raise ValueError(f"FeatureNames: model must be {needed}, got {brief(model)}.")
        return top_columns(model, k, self.look_up, self.columns())


def contributions(model: Any, c: int, columns: list, values: list, look_up: Callable) -> list[Contribution]:
    """Return what each feature of a row adds to the score of class c (a regressor's: 1), the largest in magnitude first.

    look_up(column) : (name or None, shared, sign, or what turns the weight into the units of a table's column).
    """
    weights, std = weights_towards(model, c)
    intercept, found = float(_of_class(np.reshape(model.intercept_, (-1, 1)), c)[0]), []
    for column, value in zip(columns, values, strict=True):
        name, shared, sign = look_up(column)
        weight, spread = float(weights[column]), None if std is None else float(std[column]) * abs(sign)
        shown = f"column {column}" if name is None else name
        found.append(Contribution(shown, weight * value, weight * sign, value / sign, spread, column, shared))
    if intercept:
        found.append(Contribution("(intercept)", intercept, intercept, 1.0, None, -1, False))
    return sorted(found, key=lambda each: (-abs(each.contribution), each.column))


def top_columns(model: Any, k: int, look_up: Callable, columns: np.ndarray | None = None) -> dict[object, list[Feature]]:
    """Return the features with the largest weights towards each class, or lower and higher predictions, by name or by number.

    look_up(column) : (name or None, shared, sign, or what turns the weight into the units of a table's column).
    columns : those to choose from, in their order; None: all.
    """
    found = {}
    labels = np.asarray(getattr(model, "classes_", ("lower predictions", "higher predictions"))).tolist()
    for c, label in enumerate(labels if model.coef_.ndim > 1 and model.coef_.shape[0] > 1 else labels[:2]):
        weights, std = weights_towards(model, c)
        # A negative weight of a name whose hash has the sign -1 is a weight towards the class.
        chosen = np.arange(len(weights)) if columns is None else columns
        features: list[Feature] = []
        for column in chosen[np.argsort(-np.abs(weights[chosen]), kind="stable")].tolist():
            name, shared, sign = look_up(column)
            if len(features) == k or not weights[column]:
                break
            if sign * weights[column] > 0:
                shown = f"column {column}" if name is None else name
                spread = None if std is None else float(std[column]) * abs(sign)
                features.append(Feature(shown, float(sign * weights[column]), spread, column, shared))
        found[label] = features
    return found


def _of_class(values: np.ndarray, c: int) -> np.ndarray:
    """Return the values towards class c (two classes share one row, which is towards the second)."""
    return values[c] if len(values) > 1 else values[0] if c == 1 else -values[0]


def weights_towards(model: Any, c: int) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the weights towards class c, and their standard deviations or None. Those of a regressor are towards class 1."""
    coef = model.coef_.toarray() if issparse(model.coef_) else np.atleast_2d(model.coef_)
    weights, covariance = _of_class(coef, c), getattr(model, "covariance_", None)
    if covariance is None:
        return weights, None
    is_diagonal = covariance.shape == model.coef_.shape
    variances = np.atleast_2d(covariance if is_diagonal else np.diagonal(covariance, axis1=-2, axis2=-1))
    return weights, np.sqrt(variances[c if len(variances) > 1 else 0])


def compiled_hasher(vectorizer: object) -> Callable[[], RowHasher] | None:
    """Return the function that makes a `RowHasher` for a reader of UTF-8, of a vectorizer or of its `FeatureNames`.

    Return None for other vectorizers, and if a parameter needs Python, another encoding or another input.
    """
    inner: Any = vectorizer.vectorizer if type(vectorizer) is FeatureNames else vectorizer
    plain = type(inner) is HashingVectorizer and inner.input == "content" and is_utf8(inner.encoding) and inner._is_native()
    return vectorizer._hasher if plain else None  # type: ignore[attr-defined]
