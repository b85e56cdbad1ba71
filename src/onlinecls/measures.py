"""Running measures of predictions, from counts that add up: the sizes of the batches do not matter.

Memory grows with the pairs of a true and a predicted label that occur, not with the stream.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ._input import validate

if TYPE_CHECKING:
    from collections.abc import Hashable
    from typing import Any, Self

    from numpy.typing import ArrayLike, NDArray

__all__ = ["Measures"]

_SMALLEST = 1e-15  # probability in the log loss; smaller ones are raised to it
_ROUNDING = 1e-6  # by which a probability may pass 1
_LARGEST = 1e140  # error in a sum of squares: the sum stays finite


class Measures:
    """Error, precision, recall, F1, confusion, AUC and log loss of predicted labels; squared and absolute error of numbers.

    They are those of scikit-learn's functions, but for the AUC, which counts scores in bins of a relative width of 2^-11 (wider
    from four classes on) and differs by the ties within a bin.

    Parameters
    ----------
    classes : array-like of shape (n_classes,), default=()
        Classes in the order of the columns of scores and probabilities: ``learner.classes_``. Other labels may follow in y.
    numbers : bool, default=False
        Measure numbers, as a regressor predicts them, not labels. Errors above 1e140 count as 1e140.

    Attributes
    ----------
    examples : int
        Rows of weight > 0 so far.
    weight : float
        Sum of their weights.
    mistakes : float
        Weight of the rows whose label was not predicted.
    labels : list
        Classes, then other labels in the order in which they came.
    confusion : ndarray of float64, shape (n_labels, n_labels)
        Weight of the rows with a true label (row) and a predicted one (column); ``as_dict()["confusion"]`` has the pairs that
        occur.

    Raises
    ------
    ValueError
        If y, predictions, scores and weights do not fit each other or the classes, or are not finite. Nothing is counted then.

    Examples
    --------
    >>> from onlinecls.measures import Measures
    >>> found = Measures().update(["spam", "ham", "spam"], ["spam", "spam", "spam"])
    >>> round(found.error, 3), found.precision("spam"), found.labels, found.confusion.tolist()
    (0.333, 0.6666666666666666, ['spam', 'ham'], [[2.0, 0.0], [1.0, 0.0]])
    >>> round(Measures(numbers=True).update([1.0, 2.0, 3.0], [1.0, 2.0, 2.0]).mse, 3)
    0.333
    """

    def __init__(self, classes: ArrayLike = (), *, numbers: bool = False) -> None:
        self.numbers, self.examples, self.weight, self.mistakes = numbers, 0, 0.0, 0.0
        self.labels: list[Any] = []
        self._places: dict[Hashable, int] = {}
        self._sums: list[list[float]] = []  # by place of a label: weights of rows predicted right, of its rows, of predictions
        self._pairs: dict[tuple[int, int], float] = {}  # weight by the places of the true and the predicted label; -1: none
        self._placed(np.asarray(classes).tolist())
        self.n_classes, self._bins = len(self.labels), np.zeros((0, 2, 0))  # weight by column, of another or its class, and score
        self._loss = self._loss_weight = self._squared = self._absolute = 0.0

    def update(
        self, y_true: ArrayLike, y_pred: ArrayLike, scores: ArrayLike | None = None, probabilities: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Count rows.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
        y_pred : array-like of shape (n_rows,)
            Predictions; None for a row without a predicted label, which is a mistake.
        scores : array-like of shape (n_rows,) or (n_rows, n_classes), default=None
            As of `decision_function`, for the AUC.
        probabilities : array-like of shape (n_rows, n_classes), default=None
            As of `predict_proba`, for the log loss.
        sample_weight : array-like of shape (n_rows,), default=None
            Rows of weight 0 do not count.
        """
        n = len(np.atleast_1d(y_true))
        weights = validate.read_weights(_WHO, sample_weight, n)
        weights = weights if len(weights) else np.ones(n)
        (self._count_numbers if self.numbers else self._count_labels)(weights, y_true, y_pred, scores, probabilities)
        self.examples += int(np.count_nonzero(weights))
        self.weight += float(weights.sum())
        return self

    @np.errstate(over="ignore", under="ignore")
    def _count_numbers(self, weights: NDArray, y_true: Any, y_pred: Any, *_: Any) -> None:
        y, predicted = validate.read_targets(_WHO, y_true, len(weights)), np.asarray(y_pred, float)
        if predicted.shape != y.shape or not np.isfinite(predicted).all():
            came = f"{predicted.shape} of them"
            raise ValueError(f"{_WHO}: y_pred must have a finite number for each of the {len(y)} rows, got {came}.")
        errors = np.clip(y - predicted, -_LARGEST, _LARGEST)
        self._squared += float(weights @ errors**2)
        self._absolute += float(weights @ np.abs(errors))

    @np.errstate(over="ignore", under="ignore")
    def _count_labels(self, weights: NDArray, y_true: Any, y_pred: Any, scores: Any, probabilities: Any) -> None:
        labels, guesses = self._read("y_true", y_true), self._read("y_pred", y_pred)
        scores, chances = self._columns("scores", scores), self._columns("probabilities", probabilities)
        for name, column in (("y_pred", guesses), ("scores", scores), ("probabilities", chances)):
            if column is not None and len(column) != len(labels):
                raise ValueError(f"{_WHO}: {name} must have a row for each of the {len(labels)} labels, got {len(column)}.")
        if chances is not None and (np.abs(chances - 0.5) > 0.5 + _ROUNDING).any():
            raise ValueError(f"{_WHO}: probabilities must be in [0, 1], got others. Give scores as scores.")
        if None in labels:
            raise ValueError(f"{_WHO}: y_true must have a label for each row, got None. Leave the row out.")
        if scores is not None and len(self._bins) not in (0, scores.shape[1]):
            raise ValueError(f"{_WHO}: scores must have as many columns as before, {len(self._bins)}, got {scores.shape[1]}.")
        live = weights > 0.0
        weights, true, predicted = weights[live], self._placed(labels)[live], self._placed(guesses)[live]
        keys, inverse = np.unique((true << 32) | (predicted + 1), return_inverse=True)
        for key, weight in zip(keys.tolist(), np.bincount(inverse, weights, len(keys)).tolist(), strict=True):
            of, named = pair = key >> 32, (key & 0xFFFFFFFF) - 1
            self._pairs[pair] = self._pairs.get(pair, 0.0) + weight
            self._sums[of][1] += weight
            self._sums[of][0] += weight if named == of else 0.0
            self.mistakes += 0.0 if named == of else weight
            if named >= 0:
                self._sums[named][2] += weight
        if scores is not None and len(weights):
            self._rank(weights, true, scores[live])
        if chances is not None:
            known = true < self.n_classes
            right = np.where(known, chances[live][np.arange(len(true)), np.where(known, true, 0)], 0.0)
            self._loss -= float(weights @ np.log(np.maximum(right, _SMALLEST)))
            self._loss_weight += float(weights.sum())

    def _rank(self, weights: NDArray, true: NDArray, scores: NDArray) -> None:
        """Count scores in bins of constant relative width, so that the ranking of rows takes bounded memory."""
        shift, columns = 12 + max(0, self.n_classes.bit_length() - 2), np.arange(scores.shape[1])  # bits of a float32 left out
        if not len(self._bins):
            self._bins = np.zeros((len(columns), 2, 1 << (32 - shift)))
        bits = scores.astype(np.float32).view(np.int32).astype(np.int64)
        places = (np.where(bits < 0, -(bits & 0x7FFFFFFF), bits) + (1 << 31)) >> shift  # in the order of the scores
        is_own = true[:, None] == columns + self.n_classes - len(columns)  # (a single column of two classes is of the second)
        np.add.at(self._bins, (columns, is_own.astype(np.int64), places), weights[:, None])

    @staticmethod
    def _read(name: str, labels: Any) -> list:
        """Return labels as a list, checked."""
        plain = labels if isinstance(labels, list) else np.asarray(labels).tolist()
        try:
            if any(label != label for label in set(plain)):  # (NaN, of which each would be another label)
                raise ValueError(f"{_WHO}: {name} must be labels, got NaN. Drop the row.")
        except TypeError:
            raise ValueError(f"{_WHO}: {name} must be a list or 1-D array of labels, got {validate.brief(labels)}.") from None
        return plain

    def _columns(self, name: str, values: ArrayLike | None) -> NDArray | None:
        """Return scores or probabilities as an array of a column a class (scores of two classes: also of one)."""
        if values is None:
            return None
        given = np.asarray(values, float)
        given = given[:, None] if given.ndim == 1 else given
        width = given.shape[1] if given.ndim == 2 else 0
        if not width or (width != self.n_classes and (name, width, self.n_classes) != ("scores", 1, 2)):
            raise ValueError(f"{_WHO}: {name} must have a column for each of {self.n_classes} classes, got {width}. Name them.")
        if np.isnan(given).any():
            raise ValueError(f"{_WHO}: {name} must be numbers, got NaN. Leave {name} out where there are none.")
        return given

    def _placed(self, plain: list) -> NDArray:
        """Return the places of labels among `labels`, which grow by those that are new; -1 for None."""
        for label in dict.fromkeys(plain):
            if label is not None and self._places.setdefault(label, len(self.labels)) == len(self.labels):
                self.labels.append(label)
                self._sums.append([0.0, 0.0, 0.0])
        return np.array([-1 if label is None else self._places[label] for label in plain], np.int64)

    # --- measures ------------------------------------------------------------------------------------------------------------

    @property
    def confusion(self) -> NDArray[np.float64]:
        """Weight of the rows with a true label (row) and a predicted one (column); those not predicted are left out."""
        found = np.zeros((len(self.labels), len(self.labels)))
        for (true, predicted), weight in self._pairs.items():
            if predicted >= 0:
                found[true, predicted] = weight
        return found

    @property
    def error(self) -> float | None:
        """Share of mistakes, in [0, 1]; None before the first row, and of numbers."""
        return self.mistakes / self.weight if self.weight and not self.numbers else None

    @property
    def mse(self) -> float | None:
        """Mean squared error; None before the first row, and of labels."""
        return self._squared / self.weight if self.weight and self.numbers else None

    @property
    def mae(self) -> float | None:
        """Mean absolute error; None before the first row, and of labels."""
        return self._absolute / self.weight if self.weight and self.numbers else None

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

    def support(self, label: Hashable) -> float:
        """Return the weight of the rows of a label."""
        return self._sums_of(label)[1]

    def _sums_of(self, label: Hashable) -> list[float]:
        """Return the weights of the rows of a label that were predicted right, of its rows, and of those predicted as it."""
        if label not in self._places:
            raise ValueError(f"{_WHO}: label must be one of {self.labels}, got {label!r}.")
        return self._sums[self._places[label]]

    @property
    def macro_f1(self) -> float | None:
        """Mean of the F1 of all labels that have one."""
        found = [each for each in map(self.f1, self.labels) if each is not None]
        return float(np.mean(found)) if found else None

    @property
    def log_loss(self) -> float | None:
        """Mean of -ln p of the true label, p at least 1e-15; None without probabilities."""
        return self._loss / self._loss_weight if self._loss_weight else None

    @property
    @np.errstate(under="ignore")
    def auc(self) -> float | None:
        """Area under the ROC curve, for several classes the mean of each against the rest; None if one has no or all rows."""
        if not len(self._bins) or not self._bins.any(axis=2).all():
            return None
        areas = [own @ (np.cumsum(others) - 0.5 * others) / others.sum() / own.sum() for others, own in self._bins]
        return float(np.mean(areas))

    def as_dict(self) -> dict[str, Any]:
        """Return all measures by name; `confusion` is a list of (true label, predicted label, weight) of the pairs that occur."""
        if self.numbers:
            return {"examples": self.examples, "mse": self.mse, "mae": self.mae}
        names = "support", "precision", "recall", "f1"
        return {
            "examples": self.examples, "mistakes": self.mistakes,
            **{name: getattr(self, name) for name in ("error", "log_loss", "auc", "macro_f1")},
            "classes": {label: {name: getattr(self, name)(label) for name in names} for label in self.labels},
            "labels": list(self.labels),
            "confusion": [[self.labels[true], self.labels[guess], weight]
                          for (true, guess), weight in sorted(self._pairs.items()) if guess >= 0],
        }


_WHO = Measures.__name__
