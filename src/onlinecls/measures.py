"""Measures of the predictions of a stream, from counts that add up.

Memory grows with the pairs of a true and a predicted label that occur, not with the stream, and the sizes of the batches do not
matter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ._input import validate

if TYPE_CHECKING:
    from collections.abc import Hashable
    from typing import Any, Self

    from numpy.typing import ArrayLike, NDArray

__all__ = ["ClassificationMeasures", "RegressionMeasures"]

_SMALLEST = 1e-15  # probability in the log loss; smaller ones are raised to it
_ROUNDING = 1e-6  # by which a probability may pass 1
_LARGEST = 1e140  # error in a sum of squares: the sum stays finite
_PLACES = 32  # bits of a label's place, in a pair's key
_NOT_PREDICTED = (1 << _PLACES) - 1  # in place of the predicted label's


def __dir__() -> list[str]:
    return __all__


def _live(weights: NDArray, columns: tuple) -> tuple:
    """Return weights and columns of the rows of weight > 0. A column may be None."""
    live = weights > 0.0
    return weights[live], *(None if column is None else column[live] for column in columns)


class ClassificationMeasures:
    """Error, precision, recall, F1, AUC, average precision, log loss and confusion of a classifier's predictions.

    They are those of scikit-learn's functions, from counts that add up. (AUC and average precision count scores in bins of a
    relative width of 2^-11; they differ from the exact ones by the ties within a bin. From four classes on bins are wider, twice
    for each doubling of the classes, so that all classes together take no more memory.)

    Parameters
    ----------
    classes : array-like of shape (n_classes,), default=()
        Classes in the order of the columns of scores and probabilities: ``learner.classes_``. Other labels may follow in y.

    Attributes
    ----------
    examples : int
        Rows of weight > 0 so far.
    weight : float
        Sum of their weights.
    labels : list
        Classes, then other labels in the order in which they came.
    confusion : ndarray of float64, shape (n_labels, n_labels)
        Weight of the rows with a true label (row) and a predicted one (column). Made when it is read: for many labels take the
        pairs that occur, ``as_dict()["confusion"]``.

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

    def __init__(self, classes: ArrayLike = ()) -> None:
        self.labels: list[Any] = np.asarray(classes).tolist()
        self.n_classes, self.examples, self.weight = len(self.labels), 0, 0.0
        self._places: dict[Hashable, int] = {label: k for k, label in enumerate(self.labels)}
        self._loss = self._loss_weight = 0.0
        # The weight of each pair of a true and a predicted label that has occurred, and where it is, by the pair's key.
        self._pairs, self._counts = dict[int, int](), np.zeros(8)
        self._ranks: list[_Ranks] = []
        self._n_scores = 0  # columns of the scores so far
        self._sums: list[tuple[float, float, float]] | None = None  # of each label, computed when somebody asks

    def _place(self, label: Hashable) -> int:
        if label not in self._places:
            raise ValueError(f"{type(self).__name__}: label must be one of {self.labels}, got {label!r}.")
        return self._places[label]

    def _add_labels(self, labels: list) -> list[int]:
        """Return the places of labels among `labels`, which grow by those that are new."""
        for label in labels:
            if self._places.setdefault(label, len(self.labels)) == len(self.labels):
                self.labels.append(label)
        return [self._places[label] for label in labels]

    def precision(self, label: Hashable) -> float | None:
        """Return the share of the rows predicted to have a label that have it; None where none was."""
        right, _, predicted = self._sums_of(label)
        return right / predicted if predicted else None

    def recall(self, label: Hashable) -> float | None:
        """Return the share of the rows of a label that were predicted to have it; None where there is no such row."""
        right, true, _ = self._sums_of(label)
        return right / true if true else None

    def f1(self, label: Hashable) -> float | None:
        """Return the harmonic mean of precision and recall of a label; None where it is neither true nor predicted."""
        right, true, predicted = self._sums_of(label)
        return 2.0 * right / (true + predicted) if true + predicted else None

    @property
    def macro_f1(self) -> float | None:
        """Mean of the F1 of all labels that have one."""
        found = [each for each in map(self.f1, self.labels) if each is not None]
        return float(np.mean(found)) if found else None

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
            As of `decision_function`, for the AUC and the average precision.
        probabilities : array-like of shape (n_rows, n_classes), default=None
            As of `predict_proba`, for the log loss.
        sample_weight : array-like of shape (n_rows,), default=None
            Rows of weight 0 do not count.
        """
        who = "ClassificationMeasures"
        (new, true), (guessed, predicted) = self._read(who, "y_true", y_true), self._read(who, "y_pred", y_pred)
        n = len(true)
        columns: list[Any] = [true, predicted, scores, probabilities]
        for place, name in ((2, "scores"), (3, "probabilities")):
            if columns[place] is not None:
                given = np.asarray(columns[place], float)
                columns[place] = given = given[:, None] if given.ndim == 1 else given
                width = given.shape[1] if given.ndim == 2 else 0
                if not width or (width != self.n_classes and (name, width, self.n_classes) != ("scores", 1, 2)):
                    raise ValueError(
                        f"{who}: {name} must have a column for each of the {self.n_classes} classes, got {width}. "
                        "Give the classes of the learner to ClassificationMeasures."
                    )
                if np.isnan(given).any():
                    raise ValueError(f"{who}: {name} must be numbers, got NaN. Leave {name} out where there are none.")
                if name == "probabilities" and (np.abs(given - 0.5) > 0.5 + _ROUNDING).any():
                    raise ValueError(f"{who}: probabilities must be in [0, 1], got others. Give scores as scores.")
        for name, column in zip(("y_pred", "scores", "probabilities"), columns[1:], strict=True):
            if column is not None and len(column) != n:
                raise ValueError(f"{who}: {name} must have a row for each of the {n} labels, got {len(column)}.")
        if n and true.min() < 0:
            raise ValueError(f"{who}: y_true must have a label for each row, got None. Leave the row out.")
        n_scores = self._n_scores if scores is None else columns[2].shape[1]
        if n_scores != (self._n_scores or n_scores):
            raise ValueError(f"{who}: scores must have as many columns as before, {self._n_scores}, got {n_scores}.")
        weights = validate.read_weights(who, sample_weight, n)
        self._n_scores = n_scores
        columns[:2] = self._placed(new, true), self._placed(guessed, predicted)
        self._count(*_live(weights if len(weights) else np.ones(n), tuple(columns)))
        return self

    @staticmethod
    def _read(who: str, name: str, labels: ArrayLike) -> tuple[list, NDArray]:
        """Return the different labels, and for each row the place of its label among them; -1 for None."""
        given = labels if isinstance(labels, (list, np.ndarray)) else np.asarray(labels)
        if isinstance(given, np.ndarray) and given.dtype.kind != "O":
            array, places = np.unique(given, return_inverse=True)
            found, places = array.tolist(), places.ravel()
        else:
            numbers: dict[Hashable, int] = {}
            plain = given.tolist() if isinstance(given, np.ndarray) else given
            try:
                codes = [-1 if label is None else numbers.setdefault(label, len(numbers)) for label in plain]
            except TypeError:
                raise ValueError(f"{who}: {name} must be a list or 1-D array of labels, got {validate.brief(labels)}.") from None
            found, places = list(numbers), np.array(codes, np.int64)
        if any(label != label for label in found):  # (NaN, of which each would be another label)
            raise ValueError(f"{who}: {name} must be labels, got NaN. Drop the row.")
        return found, places

    def _placed(self, found: list, places: NDArray) -> NDArray:
        """Return the places of the rows' labels among `labels`; -1 stays."""
        return np.array([*self._add_labels(found), -1], np.int64)[places]

    @np.errstate(over="ignore", under="ignore")
    def _count(self, weights: NDArray, true: NDArray, predicted: NDArray, scores: Any, probabilities: Any) -> None:
        self.examples += len(weights)
        self.weight += float(weights.sum())
        self._sums = None
        keys, inverse = np.unique((true << _PLACES) | (predicted & _NOT_PREDICTED), return_inverse=True)
        places = [self._pairs.setdefault(key, len(self._pairs)) for key in keys.tolist()]
        if len(self._pairs) > len(self._counts):
            self._counts = np.append(self._counts, np.zeros(2 * len(self._pairs) - len(self._counts)))
        self._counts[places] += np.bincount(inverse, weights)
        if scores is not None:
            self._rank(scores, true, weights)
        if probabilities is not None:
            known = true < self.n_classes
            right = np.where(known, probabilities[np.arange(len(true)), np.where(known, true, 0)], 0.0)
            self._loss -= float(weights @ np.log(np.maximum(right, _SMALLEST)))
            self._loss_weight += float(weights.sum())

    def _rank(self, scores: NDArray, true: NDArray, weights: NDArray) -> None:
        self._ranks = self._ranks or [_Ranks(self.n_classes) for _ in range(scores.shape[1] if len(scores) else 0)]
        first = self.n_classes - len(self._ranks)  # (a single column of two classes is of the second)
        for column, ranks in enumerate(self._ranks):
            ranks.add(scores[:, column], true == first + column, weights)

    def _table(self) -> tuple[NDArray, NDArray, NDArray]:
        """Return the places of the true and the predicted label (-1: none) of each pair that occurs, in order, and its weight."""
        pairs = self._pairs
        keys = np.fromiter(pairs, np.int64, len(pairs))
        order = np.argsort(keys)
        predicted = keys[order] & _NOT_PREDICTED
        return keys[order] >> _PLACES, np.where(predicted == _NOT_PREDICTED, -1, predicted), self._counts[order]

    @property
    def confusion(self) -> NDArray[np.float64]:
        """Weight of the rows with a true label (row) and a predicted one (column); those not predicted are left out."""
        true, predicted, weights = self._table()
        found = np.zeros((len(self.labels), len(self.labels)))
        found[true[predicted >= 0], predicted[predicted >= 0]] = weights[predicted >= 0]
        return found

    @property
    def mistakes(self) -> float:
        """Weight of the rows whose label was not predicted."""
        true, predicted, weights = self._table()
        return float(weights[true != predicted].sum())

    @property
    def error(self) -> float | None:
        """Share of mistakes, in [0, 1]; None before the first row."""
        return self.mistakes / self.weight if self.weight else None

    def _sums_of(self, label: Hashable) -> tuple[float, float, float]:
        c = self._place(label)
        sums = self._sums
        if sums is None or c >= len(sums):
            true, predicted, weights = self._table()
            chosen = (true == predicted, true), (true >= 0, true), (predicted >= 0, predicted)
            right, rows, guesses = (np.bincount(of[rows], weights[rows], len(self.labels)).tolist() for rows, of in chosen)
            sums = self._sums = list(zip(right, rows, guesses, strict=True))
        return sums[c]

    def support(self, label: Hashable) -> float:
        """Return the weight of the rows of a label."""
        return self._sums_of(label)[1]

    def predicted(self, label: Hashable) -> float:
        """Return the weight of the rows predicted as a label."""
        return self._sums_of(label)[2]

    @property
    def log_loss(self) -> float | None:
        """Mean of -ln p of the true label, p at least 1e-15; None without probabilities."""
        return self._loss / self._loss_weight if self._loss_weight else None

    @property
    def auc(self) -> float | None:
        """Area under the ROC curve, for several classes the mean of each against the rest; None if one has no or all rows."""
        areas = [each.area for each in self._ranks]
        return None if None in areas or not areas else float(np.mean([area for area in areas if area is not None]))

    @property
    def average_precision(self) -> float | None:
        """Average precision: sum of (R_n - R_{n-1}) P_n over thresholds from the highest down.

        P_n is the precision and R_n the recall there. Two classes: that of the second. Several: the mean of each against the
        rest; None if one has no or all rows.
        """
        ranks = self._ranks
        found = [each.average_precision for each in (ranks[-1:] if self.n_classes == 2 else ranks)]
        return None if None in found or not found else float(np.mean([each for each in found if each is not None]))

    def as_dict(self) -> dict[str, Any]:
        """Return all measures by name; `confusion` is a list of (true label, predicted label, weight) of the pairs that occur."""
        names = "error", "log_loss", "auc", "average_precision", "macro_f1"
        classes = {
            label: {"support": self.support(label), "predicted": self.predicted(label), "precision": self.precision(label),
                    "recall": self.recall(label), "f1": self.f1(label)}
            for label in self.labels
        }
        pairs = zip(*(part.tolist() for part in self._table()), strict=True)
        return {"examples": self.examples, "mistakes": self.mistakes, **{name: getattr(self, name) for name in names},
                "classes": classes, "labels": list(self.labels),
                "confusion": [[self.labels[true], self.labels[guess], weight] for true, guess, weight in pairs if guess >= 0]}


class _Ranks:
    """Ranking of rows in bounded memory: scores are counted in bins of constant relative width."""

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
    @np.errstate(under="ignore")
    def area(self) -> float | None:
        negative, positive = self.counts.sum(axis=1).tolist()
        if not negative or not positive:
            return None
        below = np.cumsum(self.counts[0]) - self.counts[0]
        return float(self.counts[1] @ (below + 0.5 * self.counts[0])) / negative / positive

    @property
    @np.errstate(under="ignore")
    def average_precision(self) -> float | None:
        negative, positive = self._from_top(self.counts)
        if not negative[-1] or not positive[-1]:
            return None
        counts = self.counts[1, ::-1]
        rows = np.flatnonzero(counts)
        return float(counts[rows] @ (positive[rows] / (positive[rows] + negative[rows]))) / float(positive[-1])

    @staticmethod
    def _from_top(counts: NDArray) -> NDArray:
        """Return the weights of the rows in each bin and all above it, the highest bin first."""
        return np.cumsum(counts[..., ::-1], axis=-1)


class RegressionMeasures:
    """Mean squared error, mean absolute error and R² of a regressor's predictions.

    R² = 1 - Σ c (y - s)² / Σ c (y - ȳ)², ȳ the mean of the targets. Errors above 1e140 count as 1e140.

    Attributes
    ----------
    examples, weight :
        As of `ClassificationMeasures`.

    Raises
    ------
    ValueError
        If the arrays do not fit each other or hold what is not finite.

    Examples
    --------
    >>> from onlinecls.measures import RegressionMeasures
    >>> found = RegressionMeasures().update([1.0, 2.0, 3.0], [1.0, 2.0, 2.0])
    >>> round(found.mse, 3), round(found.mae, 3), found.r2
    (0.333, 0.333, 0.5)
    """

    def __init__(self) -> None:
        self.examples, self.weight = 0, 0.0
        self._squared = self._absolute = self._mean = self._spread = 0.0

    def update(self, y_true: ArrayLike, y_pred: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Count rows.

        Parameters
        ----------
        y_true, y_pred : array-like of shape (n_rows,)
        sample_weight : array-like of shape (n_rows,), default=None
            Rows of weight 0 do not count.
        """
        who, n = "RegressionMeasures", len(y_true)  # type: ignore[arg-type]
        y = validate.read_targets(who, y_true, n)
        predicted = np.asarray(y_pred, float)
        if predicted.shape != y.shape or not np.isfinite(predicted).all():
            raise ValueError(f"{who}: y_pred must have a finite number for each of the {n} rows, got {predicted.shape} of them.")
        weights = validate.read_weights(who, sample_weight, n)
        self._count(*_live(weights if len(weights) else np.ones(n), (y, predicted)))
        return self

    @np.errstate(over="ignore", under="ignore")
    def _count(self, weights: NDArray, y: NDArray, predicted: NDArray) -> None:
        if not len(weights):
            return
        self.examples += len(weights)
        errors = np.clip(y - predicted, -_LARGEST, _LARGEST)
        self._squared += float(weights @ errors**2)
        self._absolute += float(weights @ np.abs(errors))
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
        return self._squared / self.weight if self.weight else None

    @property
    def mae(self) -> float | None:
        """Mean absolute error; None before the first row."""
        return self._absolute / self.weight if self.weight else None

    @property
    def r2(self) -> float | None:
        """R² of the predictions, at most 1; None where all targets are the same."""
        return 1.0 - self._squared / self._spread if self._spread else None

    def as_dict(self) -> dict[str, Any]:
        """Return all measures by name."""
        return {"examples": self.examples, "mse": self.mse, "mae": self.mae, "r2": self.r2}
