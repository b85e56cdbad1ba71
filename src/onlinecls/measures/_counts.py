"""Measures of predictions along a stream: of all rows, of the last ones, or fading.

Counts, not predictions, are kept: memory does not grow with the stream, and the sizes of the batches do not matter.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import numpy as np

from .._input import validate

if TYPE_CHECKING:
    from collections.abc import Hashable
    from typing import Any, Self

    from numpy.typing import ArrayLike, NDArray

_SMALLEST = 1e-15  # probability in the log loss; smaller ones are raised to it
_LARGEST = 1e140  # error in a sum of squares: the sum stays finite


class _Measures:
    """Base: rows counted alike, or fading, or the last ones only."""

    examples: int
    fading: float
    weight: float
    window: int | None

    def __init__(self, fading: float, window: int | None) -> None:
        who = type(self).__name__
        if not (isinstance(fading, (int, float)) and 0.0 <= fading < 1.0):
            raise ValueError(f"{who}: fading must be a number in [0, 1), got fading={fading!r}. 0 counts all rows alike.")
        if window is not None and (isinstance(window, bool) or not isinstance(window, (int, np.integer)) or window < 1):
            raise ValueError(f"{who}: window must be an integer >= 1, or None for all rows, got window={window!r}.")
        if window is not None and fading:
            raise ValueError(f"{who}: fading must be 0 where there is a window, got fading={fading!r}. Take one of them.")
        self.fading, self.window = fading, window
        self.examples, self.weight = 0, 0.0
        self._last: deque[tuple] = deque()  # with a window: the arguments of `_count` for its rows, batch by batch

    def _update(self, weights: NDArray, columns: tuple) -> Self:
        """Count rows. columns : arrays with an entry a row, or None."""
        live = weights > 0.0
        if not live.all():
            weights = weights[live]
            columns = tuple(None if column is None else column[live] for column in columns)
        n = len(weights)
        if not n:
            return self
        self.examples += n
        if self.window is not None:
            self._last.append((weights, *columns))
            surplus = sum(len(batch[0]) for batch in self._last) - self.window
            while surplus >= len(self._last[0][0]):
                surplus -= len(self._last.popleft()[0])
            if surplus > 0:
                self._last[0] = tuple(None if column is None else column[surplus:] for column in self._last[0])
            self._clear()
            for batch in self._last:
                self._count(*batch)
            return self
        if self.fading:
            self._fade((1.0 - self.fading) ** n)
            weights = weights * (1.0 - self.fading) ** np.arange(n - 1, -1, -1.0)
        self._count(weights, *columns)
        return self

    def _clear(self) -> None:
        raise NotImplementedError

    def _fade(self, factor: float) -> None:
        raise NotImplementedError

    def _count(self, weights: NDArray, *columns: Any) -> None:
        raise NotImplementedError


class ClassificationMeasures(_Measures):
    """Error, precision, recall, F1, AUC, log loss and confusion of a classifier's predictions.

    They are those of scikit-learn's functions, from counts that add up. (The AUC counts scores in bins of a relative width of
    2^-11; it differs from the exact one by the ties within a bin.)

    Parameters
    ----------
    classes : array-like of shape (n_classes,), default=()
        Classes in the order of the columns of scores and probabilities: ``learner.classes_``. Other labels may follow in y.
    fading : float in [0, 1), default=0.0
        A row counts ``(1 - fading)**k`` after k more rows. 0: all rows alike.
    window : int or None, default=None
        Count the last so many rows only; they are kept. None: all rows.

    Attributes
    ----------
    examples : int
        Rows of weight > 0 so far.
    weight : float
        Sum of the weights that count.
    labels : list
        Classes, then other labels in the order in which they came.
    confusion : ndarray of float64, shape (n_labels, n_labels)
        Weight of the rows with a true label (row) and a predicted one (column).

    Raises
    ------
    ValueError
        If a parameter is out of its range, or y, predictions, scores and weights do not fit each other.

    Examples
    --------
    >>> from onlinecls.measures import ClassificationMeasures
    >>> found = ClassificationMeasures(["ham", "spam"]).update(["spam", "ham", "spam"], ["spam", "spam", "spam"])
    >>> round(found.error, 3), found.precision("spam"), found.confusion.tolist()
    (0.333, 0.6666666666666666, [[0.0, 1.0], [0.0, 2.0]])
    """

    loss: float
    n_classes: int

    def __init__(self, classes: ArrayLike = (), *, fading: float = 0.0, window: int | None = None) -> None:
        super().__init__(fading, window)
        self.labels: list[Any] = np.asarray(classes).tolist()
        self.n_classes = len(self.labels)
        self._places: dict[Hashable, int] = {label: k for k, label in enumerate(self.labels)}
        self._ranks: list[_Ranks] = []
        self._counts = np.zeros((self.n_classes, self.n_classes))
        self._missed = np.zeros(self.n_classes)
        self._clear()

    def update(
        self, y_true: ArrayLike, y_pred: ArrayLike, scores: ArrayLike | None = None, probabilities: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Count rows.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
        y_pred : array-like of shape (n_rows,)
            Predicted labels; None for a row that was not predicted, which is a mistake.
        scores : array-like of shape (n_rows,) or (n_rows, n_classes), default=None
            As of `decision_function`, for the AUC.
        probabilities : array-like of shape (n_rows, n_classes), default=None
            As of `predict_proba`, for the log loss.
        sample_weight : array-like of shape (n_rows,), default=None
            Rows of weight 0 do not count.

        Returns
        -------
        self : ClassificationMeasures
        """
        who = "ClassificationMeasures"
        true, predicted = self._codes(y_true), self._codes(y_pred)
        n = len(true)
        columns: list[Any] = [true, predicted, scores, probabilities]
        for place, name in ((2, "scores"), (3, "probabilities")):
            if columns[place] is not None:
                columns[place] = np.asarray(columns[place], float).reshape(len(columns[place]), -1)
                width = columns[place].shape[1]
                if width != self.n_classes and not (name == "scores" and width == 1 and self.n_classes == 2):
                    raise ValueError(
                        f"{who}: {name} must have a column for each of the {self.n_classes} classes, got {width}. "
                        "Give the classes of the learner to ClassificationMeasures."
                    )
        for name, column in zip(("y_pred", "scores", "probabilities"), columns[1:], strict=True):
            if column is not None and len(column) != n:
                raise ValueError(f"{who}: {name} must have a row for each of the {n} labels, got {len(column)}.")
        weights = validate.read_weights(who, sample_weight, n)
        return self._update(weights if len(weights) else np.ones(n), tuple(columns))

    def _codes(self, labels: ArrayLike) -> NDArray:
        """Return the places of labels among `labels`, which grow by those that are new; -1 for None."""
        given = labels if isinstance(labels, (list, np.ndarray)) else np.asarray(labels)
        if isinstance(given, np.ndarray) and given.dtype.kind != "O":
            distinct, inverse = np.unique(given, return_inverse=True)
            return np.array([self._place(label) for label in distinct.tolist()], np.int64)[inverse.ravel()]
        plain = given.tolist() if isinstance(given, np.ndarray) else given
        return np.array([-1 if label is None else self._place(label) for label in plain], np.int64)

    def _place(self, label: Hashable) -> int:
        if label not in self._places:
            self._places[label] = len(self.labels)
            self.labels.append(label)
        return self._places[label]

    def _clear(self) -> None:
        self.weight, self.loss, self._loss_weight = 0.0, 0.0, 0.0
        self._counts, self._missed = np.zeros_like(self._counts), np.zeros_like(self._missed)
        self._ranks = []

    def _fade(self, factor: float) -> None:
        self.weight, self.loss, self._loss_weight = self.weight * factor, self.loss * factor, self._loss_weight * factor
        self._counts *= factor
        self._missed *= factor
        for each in self._ranks:
            each.counts *= factor

    def _count(self, weights: NDArray, *columns: Any) -> None:
        true, predicted, scores, probabilities = columns
        k, more = len(self.labels), len(self.labels) - len(self._counts)
        if more:
            self._counts, self._missed = np.pad(self._counts, (0, more)), np.pad(self._missed, (0, more))
        self.weight += float(weights.sum())
        named = predicted >= 0
        self._counts += np.bincount(true[named] * k + predicted[named], weights[named], k * k).reshape(k, k)
        self._missed += np.bincount(true[~named], weights[~named], k)
        if scores is not None:
            self._ranks = self._ranks or [_Ranks(self.n_classes) for _ in range(scores.shape[1])]
            for column, ranks in enumerate(self._ranks):
                ranks.add(scores[:, column], true == (column if len(self._ranks) > 1 else 1), weights)
        if probabilities is not None:
            known = true < self.n_classes
            right = np.where(known, probabilities[np.arange(len(true)), np.where(known, true, 0)], 0.0)
            self.loss -= float(weights @ np.log(np.maximum(right, _SMALLEST)))
            self._loss_weight += float(weights.sum())

    @property
    def confusion(self) -> NDArray[np.float64]:
        """Weight of the rows with a true label (row) and a predicted one (column); those not predicted are left out."""
        more = len(self.labels) - len(self._counts)
        return np.pad(self._counts, (0, more)) if more else self._counts

    @property
    def mistakes(self) -> float:
        """Weight of the rows whose label was not predicted."""
        return float(self._counts.sum() - np.trace(self._counts) + self._missed.sum())

    @property
    def error(self) -> float | None:
        """Share of mistakes, in [0, 1]; None before the first row."""
        return self.mistakes / self.weight if self.weight else None

    def _sums(self, label: Hashable) -> tuple[float, float, float]:
        """Return the weights of the rows of a label: predicted right, true, predicted."""
        if label not in self._places:
            raise ValueError(f"ClassificationMeasures: label must be one of {self.labels}, got {label!r}.")
        c, counts = self._places[label], self.confusion
        missed = self._missed[c] if c < len(self._missed) else 0.0
        return float(counts[c, c]), float(counts[c].sum() + missed), float(counts[:, c].sum())

    def support(self, label: Hashable) -> float:
        """Return the weight of the rows of a label."""
        return self._sums(label)[1]

    def predicted(self, label: Hashable) -> float:
        """Return the weight of the rows predicted as a label."""
        return self._sums(label)[2]

    def precision(self, label: Hashable) -> float | None:
        """Return the share of the rows predicted as a label that have it; None where none was."""
        right, _, predicted = self._sums(label)
        return right / predicted if predicted else None

    def recall(self, label: Hashable) -> float | None:
        """Return the share of the rows of a label that were predicted as it; None where there is no such row."""
        right, true, _ = self._sums(label)
        return right / true if true else None

    def f1(self, label: Hashable) -> float | None:
        """Return the harmonic mean of precision and recall of a label; None where it is neither true nor predicted."""
        right, true, predicted = self._sums(label)
        return 2.0 * right / (true + predicted) if true + predicted else None

    @property
    def macro_f1(self) -> float | None:
        """Mean of the F1 of all labels that have one."""
        found = [each for each in map(self.f1, self.labels) if each is not None]
        return float(np.mean(found)) if found else None

    @property
    def log_loss(self) -> float | None:
        """Mean of -ln p of the true label, p at least 1e-15; None without probabilities."""
        return self.loss / self._loss_weight if self._loss_weight else None

    @property
    def auc(self) -> float | None:
        """Area under the ROC curve, for several classes the mean of each against the rest; None if one has no or all rows."""
        areas = [each.area for each in self._ranks]
        return None if None in areas or not areas else float(np.mean([area for area in areas if area is not None]))

    def as_dict(self) -> dict[str, Any]:
        """Return all measures by name."""
        names = "error", "log_loss", "auc", "macro_f1"
        classes = {
            label: {"support": self.support(label), "predicted": self.predicted(label), "precision": self.precision(label),
                    "recall": self.recall(label), "f1": self.f1(label)}
            for label in self.labels
        }
        return {"examples": self.examples, "mistakes": self.mistakes, **{name: getattr(self, name) for name in names},
                "classes": classes, "labels": list(self.labels), "confusion": self.confusion.tolist()}


class _Ranks:
    """Area under the ROC curve in bounded memory: scores are counted in bins of constant relative width."""

    def __init__(self, n_classes: int) -> None:
        self.shift = 12 + max(0, n_classes.bit_length() - 2)  # bits of a float32 that are left out
        self.counts = np.zeros((2, 1 << (32 - self.shift)))

    def add(self, scores: NDArray, is_positive: NDArray, weights: NDArray) -> None:
        with np.errstate(over="ignore"):
            bits = scores.astype(np.float32).view(np.int32).astype(np.int64)
        places = (np.where(bits < 0, -(bits & 0x7FFFFFFF), bits) + (1 << 31)) >> self.shift  # in the order of the scores
        for row, chosen in enumerate((~is_positive, is_positive)):
            np.add.at(self.counts[row], places[chosen], weights[chosen])

    @property
    def area(self) -> float | None:
        negative, positive = self.counts.sum(axis=1).tolist()
        if not negative or not positive:
            return None
        below = np.cumsum(self.counts[0]) - self.counts[0]
        return float(self.counts[1] @ (below + 0.5 * self.counts[0])) / negative / positive


class RegressionMeasures(_Measures):
    """Mean squared error, mean absolute error and R² of a regressor's predictions.

    R² = 1 - Σ c (y - s)² / Σ c (y - ȳ)², ȳ the mean of the rows that count. Errors above 1e140 count as 1e140.

    Parameters
    ----------
    fading, window :
        As of `ClassificationMeasures`.

    Attributes
    ----------
    examples : int
        Rows of weight > 0 so far.
    weight : float
        Sum of the weights that count.

    Raises
    ------
    ValueError
        If a parameter is out of its range, or the arrays do not fit each other or hold what is not finite.

    Examples
    --------
    >>> from onlinecls.measures import RegressionMeasures
    >>> found = RegressionMeasures().update([1.0, 2.0, 3.0], [1.0, 2.0, 2.0])
    >>> round(found.mse, 3), round(found.mae, 3), found.r2
    (0.333, 0.333, 0.5)
    """

    absolute: float
    squared: float

    def __init__(self, *, fading: float = 0.0, window: int | None = None) -> None:
        super().__init__(fading, window)
        self._clear()

    def update(self, y_true: ArrayLike, y_pred: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Count rows.

        Parameters
        ----------
        y_true, y_pred : array-like of shape (n_rows,)
        sample_weight : array-like of shape (n_rows,), default=None
            Rows of weight 0 do not count.

        Returns
        -------
        self : RegressionMeasures
        """
        who, n = "RegressionMeasures", len(y_true)  # type: ignore[arg-type]
        y = validate.read_targets(who, y_true, n)
        predicted = np.asarray(y_pred, float)
        if predicted.shape != y.shape or not np.isfinite(predicted).all():
            raise ValueError(f"{who}: y_pred must have a finite number for each of the {n} rows, got {predicted.shape} of them.")
        weights = validate.read_weights(who, sample_weight, n)
        return self._update(weights if len(weights) else np.ones(n), (y, predicted))

    def _clear(self) -> None:
        self.weight = self.squared = self.absolute = self._mean = self._spread = 0.0

    def _fade(self, factor: float) -> None:
        self.weight, self.squared, self.absolute = self.weight * factor, self.squared * factor, self.absolute * factor
        self._spread *= factor

    def _count(self, weights: NDArray, *columns: Any) -> None:
        y, predicted = columns
        errors = np.clip(y - predicted, -_LARGEST, _LARGEST)
        self.squared += float(weights @ errors**2)
        self.absolute += float(weights @ np.abs(errors))
        y = np.clip(y, -_LARGEST, _LARGEST)
        added = float(weights.sum())
        mean = float(weights @ y) / added
        total = self.weight + added
        self._spread += float(weights @ (y - mean) ** 2) + (mean - self._mean) ** 2 * self.weight * added / total
        self._mean += (mean - self._mean) * added / total
        self.weight = total

    @property
    def mse(self) -> float | None:
        """Mean squared error; None before the first row."""
        return self.squared / self.weight if self.weight else None

    @property
    def mae(self) -> float | None:
        """Mean absolute error; None before the first row."""
        return self.absolute / self.weight if self.weight else None

    @property
    def r2(self) -> float | None:
        """R² of the predictions, at most 1; None where all targets are the same."""
        return 1.0 - self.squared / self._spread if self._spread else None

    def as_dict(self) -> dict[str, Any]:
        """Return all measures by name."""
        return {"examples": self.examples, "mse": self.mse, "mae": self.mae, "r2": self.r2}
