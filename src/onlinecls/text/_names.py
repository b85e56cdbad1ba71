"""`FeatureNames`: the words behind the columns of hashed text, so that a model can be read."""

from __future__ import annotations

from numbers import Integral
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._hashing.sketch import Names
from .._input.compat import issparse

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .._input.types import Matrix


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
    name : str or None
        None if it is unknown.
    contribution, weight, value : float
    std : float or None
        As of `Feature`.
    column : int
        That of the intercept is -1.
    shared : bool
        As of `Feature`.
    """

    name: str | None
    contribution: float
    weight: float
    value: float
    std: float | None
    column: int
    shared: bool


class FeatureNames:
    """Remember the names of hashed columns in bounded memory, while a `HashingVectorizer` hashes.

    For each of up to `max_names` columns, keep the name of most of its tokens (by majority vote: the first one, until others
    have outnumbered it), and a flag once a second name has fallen on the column. When the memory is full, the half of the
    columns with the fewest votes is forgotten, so that frequent words stay. The first 42 bytes of a name in UTF-8 are kept.

    Parameters
    ----------
    max_names : int >= 2, default=100_000
        Number of columns to remember, at about 220 bytes each.

    Notes
    -----
    Hashing with names takes about three times as long as without, or more. Give each vectorizer a `FeatureNames` of its own;
    ``clone`` makes an empty one. A vectorizer holds a lock on its names while it transforms.

    Examples
    --------
    >>> from onlinecls.text import FeatureNames, HashingVectorizer
    >>> names = FeatureNames()
    >>> X = HashingVectorizer(feature_names=names).transform(["cheap pills"])
    >>> sorted(names[column] for column in X.indices)
    ['cheap', 'pills']
    """

    max_names: int
    _lock: Lock
    _sketch: Names

    def __init__(self, max_names: int = 100_000) -> None:
        if not isinstance(max_names, Integral) or isinstance(max_names, bool) or not 2 <= max_names < 2**40:
            raise ValueError(f"FeatureNames: max_names must be an integer >= 2, got max_names={max_names!r}.")
        self.max_names = int(max_names)
        self._lock = Lock()
        self._sketch = Names(self.max_names)

    def __repr__(self) -> str:
        return f"FeatureNames(max_names={self.max_names})"

    def __len__(self) -> int:
        """Return the number of columns that have a name."""
        return len(self._sketch)

    def __getitem__(self, column: int) -> str | None:
        """Return the name of a column; None if it is unknown. A shortened name ends in an ellipsis."""
        return self._sketch.look_up(column)[0]

    def is_shared(self, column: int) -> bool:
        """Return True if tokens of several names have fallen on a column while its name was remembered."""
        return self._sketch.look_up(column)[1]

    def columns(self) -> np.ndarray:
        """Return the columns that have a name, as a sorted array of int64."""
        return self._sketch.columns()

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            return {"max_names": self.max_names, "found": {column: list(each) for column, each in self._sketch.found.items()}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        FeatureNames.__init__(self, state["max_names"])
        self._sketch.found = state["found"]

    def __sklearn_clone__(self) -> FeatureNames:
        return FeatureNames(self.max_names)

    # --- models in words -----------------------------------------------------------------------------------------------------

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
        with self._lock:
            columns = self._sketch.columns()
            if not len(columns):
                raise ValueError(
                    "FeatureNames: there must be names, which are found by hashing texts, got none. Transform the texts whose "
                    "words the model has learnt."
                )
            if columns[-1] >= model.coef_.shape[1]:
                raise ValueError(
                    f"FeatureNames: the model must have the columns that have names, up to {columns[-1]}, got "
                    f"{model.coef_.shape[1]} columns. Use the names of the vectorizer that made the model's rows."
                )
            return top_columns(model, k, self._sketch.look_up, columns)

    def explain(self, model: Any, x: Matrix, label: Any = None) -> list[Contribution]:
        """Return what each feature of a row adds to its score.

        Parameters
        ----------
        model : fitted linear classifier
        x : array-like or sparse matrix of shape (1, n_features)
            One row: ``vectorizer.transform([text])``.
        label : object, default=None
            The class to explain. None: the predicted class.

        Returns
        -------
        contributions : list of Contribution
            The largest in magnitude first; they add up to the score of the class (with two classes, the score of the first is
            that of the second with the sign changed). The intercept is among them unless it is 0.
        """
        from scipy.sparse import csr_matrix

        if not hasattr(model, "classes_"):
            raise ValueError(f"FeatureNames.explain: model must be a fitted classifier, got {type(model).__name__}.")
        row = csr_matrix(x) if issparse(x) else csr_matrix(np.atleast_2d(np.asarray(x)))
        if row.shape[0] != 1 or row.shape[1] != model.coef_.shape[1]:
            needed = f"(1, {model.coef_.shape[1]})"
            raise ValueError(f"FeatureNames: x must be one row of the model, of shape {needed}, got {row.shape}.")
        labels = _labels(model)
        if label is None:
            label = model.predict(row).tolist()[0]
        if label not in labels:
            raise ValueError(f"FeatureNames: label must be one of the model's classes, {labels}, got {label!r}.")
        c = labels.index(label)
        intercept = _of_class(model, np.reshape(model.intercept_, (-1, 1)), c)[0]
        return contributions(weights_towards(model, c), intercept, row.indices.tolist(), row.data.tolist(), self._sketch.look_up)

    def look_up(self, column: int) -> tuple[str | None, bool, int]:
        """Return (name or None, whether tokens of other names fell on the column, sign of the name's hash)."""
        return self._sketch.look_up(column)


def contributions(weights_and_std: tuple, intercept: float, columns: list, values: list, look_up: Callable) -> list[Contribution]:
    """Return what each feature of a row adds to a score, the largest in magnitude first.

    look_up(column) : (name or None, shared, sign, or what turns the weight into the units of a table's column).
    """
    weights, std = weights_and_std
    found = []
    for column, value in zip(columns, values, strict=True):
        name, shared, sign = look_up(column)
        weight, spread = float(weights[column]), None if std is None else float(std[column]) * abs(sign)
        found.append(Contribution(name, weight * value, weight * sign, value / sign, spread, column, shared))
    if intercept:
        found.append(Contribution("(intercept)", float(intercept), float(intercept), 1.0, None, -1, False))
    return sorted(found, key=lambda each: (-abs(each.contribution), each.column))


def top_columns(model: Any, k: int, look_up: Callable, columns: np.ndarray | None = None) -> dict[object, list[Feature]]:
    """Return the features with the largest weights towards each class, by name or by number of their columns.

    look_up(column) : (name or None, shared, sign, or what turns the weight into the units of a table's column).
    columns : those to choose from, in their order; None: all.
    """
    found = {}
    for c, label in enumerate(_labels(model)[: None if len(model.coef_) > 1 else 2]):
        weights, std = weights_towards(model, c)
        # A negative weight of a name whose hash has the sign -1 is a weight towards the class.
        chosen = np.arange(len(weights)) if columns is None else columns
        by_magnitude = chosen[np.argsort(-np.abs(weights[chosen]), kind="stable")]
        features: list[Feature] = []
        for column in by_magnitude.tolist():
            name, shared, sign = look_up(column)
            if len(features) == k or not weights[column]:
                break
            if sign * weights[column] > 0:
                shown = f"column {column}" if name is None else name
                spread = None if std is None else float(std[column]) * abs(sign)
                features.append(Feature(shown, float(sign * weights[column]), spread, column, shared))
        found[label] = features
    return found


def _labels(model: Any) -> list:
    return np.asarray(model.classes_).tolist()


def _of_class(model: Any, values: np.ndarray, c: int) -> np.ndarray:
    """Return the values towards class c (two classes share one row, which is towards the second)."""
    if len(values) > 1:
        return values[c]
    return values[0] if c == 1 else -values[0]


def weights_towards(model: Any, c: int) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the weights towards class c, and their standard deviations or None. Those of a regressor are towards class 1."""
    coef = model.coef_
    weights = _of_class(model, coef.toarray() if issparse(coef) else np.atleast_2d(coef), c)
    covariance = getattr(model, "covariance_", None)
    if covariance is None:
        return weights, None
    variances = covariance if covariance.shape == coef.shape else np.diagonal(covariance, axis1=-2, axis2=-1)
    variances = np.atleast_2d(variances)
    return weights, np.sqrt(variances[c if len(variances) > 1 else 0])
