"""Measures of predicted sets of labels, of rows that have several."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._input import validate
from .._wings.multilabel.sets import read_sets
from ._counts import LabelMeasures

if TYPE_CHECKING:
    from collections.abc import Hashable
    from typing import Any, Self

    from numpy.typing import ArrayLike, NDArray


class MultiLabelMeasures(LabelMeasures):
    """Micro and macro F1, and the share of rows predicted exactly, of predictions that are sets of labels.

    Over the rows that count, with tp_k the weight of those predicted right to have label k, true_k of those that have it, and
    predicted_k of those predicted to have it, F1_k = 2 tp_k / (true_k + predicted_k), and

        micro_f1 = 2 Σ_k tp_k / Σ_k (true_k + predicted_k),      macro_f1 = the mean of F1_k over labels true or predicted.

    Parameters
    ----------
    classes : array-like of shape (n_classes,), default=()
        Labels in the order of the columns of indicator matrices: ``learner.classes_``. Other labels may follow in lists.
    fading : float in [0, 1), default=0.0
        As of `ClassificationMeasures`, like `window`.
    window : int or None, default=None

    Attributes
    ----------
    examples : int
        Rows of weight > 0 so far.
    weight : float
        Sum of the weights that count.
    labels : list
        Classes, then other labels in the order in which they came.

    Raises
    ------
    ValueError
        If a parameter is out of its range, or y, predictions and weights do not fit each other.

    See Also
    --------
    ClassificationMeasures : One label a row.
    onlinecls.MultiLabelClassifier : A learner of sets of labels.

    Examples
    --------
    >>> from onlinecls.measures import MultiLabelMeasures
    >>> found = MultiLabelMeasures().update([["a", "b"], ["b"], []], [["a"], ["b"], ["a"]])
    >>> round(found.micro_f1, 3), round(found.macro_f1, 3), round(found.exact, 3)
    (0.667, 0.667, 0.333)
    """

    _fading = ("_weight", "_exact", "_sums")

    def update(self, y_true: Any, y_pred: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Count rows.

        Parameters
        ----------
        y_true, y_pred : indicator matrix of shape (n_rows, n_classes), or sequence of n_rows lists of labels
        sample_weight : array-like of shape (n_rows,), default=None
            Rows of weight 0 do not count.
        """
        who, n = "MultiLabelMeasures", y_true.shape[0] if hasattr(y_true, "shape") else len(y_true)
        weights = validate.read_weights(who, sample_weight, n)
        columns = self._read(who, y_true, n), self._read(who, y_pred, n)
        return self._update(weights if len(weights) else np.ones(n), columns)

    def _read(self, who: str, y: Any, n: int) -> NDArray:
        """Return the places of each row's labels, in an array of arrays."""
        sets = read_sets(who, y, n)
        if sets.is_matrix:
            if sets.has.shape[1] != self.n_classes:
                raise ValueError(
                    f"{who}: an indicator matrix must have a column for each of the {self.n_classes} classes, got "
                    f"{sets.has.shape[1]}. Give the classes of the learner to MultiLabelMeasures."
                )
            places = np.arange(self.n_classes)
        else:
            places = np.array(self._add_labels(sets.labels.tolist()), np.int64)
        rows, columns = np.nonzero(sets.has)
        found = np.empty(n + 1, object)  # (one more, so that numpy makes no matrix of arrays of one length)
        found[:-1] = np.array([*np.split(places[columns], np.searchsorted(rows, np.arange(1, n))), None], object)[:n]
        return found[:-1]

    def _clear(self) -> None:
        self._weight = self._exact = 0.0
        self._sums = np.zeros((3, len(self.labels)))  # right, true, predicted

    def _count(self, weights: NDArray, *columns: Any) -> None:
        k = len(self.labels)
        if self._sums.shape[1] < k:
            self._sums = np.pad(self._sums, ((0, 0), (0, k - self._sums.shape[1])))
        self._weight += float(weights.sum())
        keys = []
        for at, column in enumerate(columns, 1):
            rows = np.repeat(np.arange(len(weights)), [len(places) for places in column])
            places = np.concatenate([*column, np.empty(0, np.int64)])
            self._sums[at] += np.bincount(places, weights[rows], k)
            keys.append(rows * k + places)
        right = np.intersect1d(*keys)
        self._sums[0] += np.bincount(right % max(k, 1), weights[right // max(k, 1)], k)
        wrong = np.setxor1d(*keys) // max(k, 1)
        self._exact += float(np.delete(weights, np.unique(wrong)).sum())

    def _sums_of(self, label: Hashable) -> list[float]:
        sums, c = self._now()._sums, self._place(label)
        return sums[:, c].tolist() if c < sums.shape[1] else [0.0, 0.0, 0.0]

    @property
    def micro_f1(self) -> float | None:
        """F1 over all pairs of a row and a label; None where no row has a label or was predicted to."""
        right, true, predicted = self._now()._sums.sum(axis=1).tolist()
        return 2.0 * right / (true + predicted) if true + predicted else None

    @property
    def exact(self) -> float | None:
        """Share of the rows whose labels were predicted exactly; None before the first row."""
        return self._now()._exact / self.weight if self.weight else None

    def as_dict(self) -> dict[str, Any]:
        """Return all measures by name."""
        own = {"precision": self.precision, "recall": self.recall, "f1": self.f1}
        classes = {label: {name: measure(label) for name, measure in own.items()} for label in self.labels}
        return {"examples": self.examples, "micro_f1": self.micro_f1, "macro_f1": self.macro_f1, "exact": self.exact,
                "classes": classes, "labels": list(self.labels)}
