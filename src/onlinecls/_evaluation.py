"""Progressive validation: every row is predicted, then learnt."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, overload

import numpy as np

from ._compiled.model import COUNTERS
from ._estimators.base import state_of
from ._estimators.classifier import NO_ROUND, OnlineClassifier, predict_and_learn
from ._estimators.regressor import OnlineRegressor
from ._input import validate
from ._input.compat import issparse, kind_of
from ._input.rows import Rows, part_of
from ._pipeline import StreamPipeline, n_rows_of, part_of_table
from ._pipeline import learn_predicting as learn_predicting_all

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import ArrayLike

    from ._input.types import XY, XYWeight

_WHO = "progressive_validation"


@dataclass(frozen=True)
class ProgressiveResult:
    """Learning curve from `progressive_validation`. Arrays have one number for each point; the last point is the end.

    Attributes
    ----------
    examples : ndarray of int64
        Rows of weight > 0 predicted and learnt so far.
    mistakes : ndarray of int64
        Number of them that were predicted wrong.
    weight, weighted_mistakes : ndarray of float64
        Sample weight of all rows so far, and of those predicted wrong. (Class weights are not included.)
    updates : ndarray of int64 or None
        Number of them that changed the model; None for a learner that does not count them.
    seconds : ndarray of float64
        Time spent predicting and learning so far, without the reading of the stream.
    by_row : bool
        True: each row was predicted by the model that had learnt all rows before it. False: a batch was predicted, then learnt
        (learners of other libraries), so that early mistakes depend on the size of the batches.
    """

    examples: np.ndarray
    mistakes: np.ndarray
    weight: np.ndarray
    weighted_mistakes: np.ndarray
    updates: np.ndarray | None
    seconds: np.ndarray
    by_row: bool

    @property
    def error(self) -> np.ndarray:
        """Progressive error at each point: mistakes / examples, in [0, 1]."""
        return self.mistakes / self.examples

    @property
    def weighted_error(self) -> np.ndarray:
        """Weighted progressive error at each point: weighted_mistakes / weight."""
        return self.weighted_mistakes / self.weight

    @property
    def mistakes_since_last(self) -> np.ndarray:
        """Mistakes since the point before (at the first: since the start)."""
        return np.diff(self.mistakes, prepend=0)

    @property
    def error_since_last(self) -> np.ndarray:
        """Mistakes since the point before, over the examples since then."""
        return self.mistakes_since_last / np.diff(self.examples, prepend=0)

    @property
    def progressive_error(self) -> float:
        """Error over the whole stream: the last of `error`."""
        return float(self.error[-1])


@dataclass(frozen=True)
class ProgressiveErrors:
    """Learning curve of a regressor from `progressive_validation`. Arrays have one number for each point; the last is the end.

    Attributes
    ----------
    examples : ndarray of int64
        Rows of weight > 0 predicted and learnt so far.
    squared, absolute : ndarray of float64
        Sums of the squared and of the absolute errors of their predictions, unweighted.
    updates : ndarray of int64 or None
        Number of them that changed the model; None for a learner that does not count them.
    seconds : ndarray of float64
        Time spent predicting and learning so far, without the reading of the stream.
    by_row : bool
        As of ProgressiveResult.
    """

    examples: np.ndarray
    squared: np.ndarray
    absolute: np.ndarray
    updates: np.ndarray | None
    seconds: np.ndarray
    by_row: bool

    @property
    def mse(self) -> np.ndarray:
        """Progressive mean squared error at each point."""
        return self.squared / self.examples

    @property
    def mae(self) -> np.ndarray:
        """Progressive mean absolute error at each point."""
        return self.absolute / self.examples

    @property
    def progressive_error(self) -> float:
        """Mean absolute error over the whole stream: the last of `mae`."""
        return float(self.mae[-1])


@dataclass
class _Tally:
    """Counters so far, and the points of the curve."""

    examples: int = 0
    mistakes: int = 0
    weight: float = 0.0
    weighted_mistakes: float = 0.0
    updates: int | None = None
    seconds: float = 0.0
    points: list[tuple] = field(default_factory=list)

    def add(self, live: np.ndarray, wrong: np.ndarray, weights: np.ndarray) -> None:
        wrong = wrong & live
        self.examples += int(np.count_nonzero(live))
        self.mistakes += int(np.count_nonzero(wrong))
        self.weight += float(weights[live].sum()) if len(weights) else float(np.count_nonzero(live))
        self.weighted_mistakes += float(weights[wrong].sum()) if len(weights) else float(np.count_nonzero(wrong))

    def mark(self) -> None:
        """Add a point to the curve if rows were counted since the last one."""
        if self.examples > (self.points[-1][0] if self.points else 0):
            self.points.append(
                (self.examples, self.mistakes, self.weight, self.weighted_mistakes, self.updates or 0, self.seconds)
            )

    def result(self, by_row: bool) -> ProgressiveResult:
        kinds = np.int64, np.int64, float, float, np.int64, float
        columns: list[Any] = [np.array(column, kind) for column, kind in zip(zip(*self.points, strict=True), kinds, strict=True)]
        if self.updates is None:
            columns[4] = None
        examples, mistakes, weight, weighted_mistakes, updates, seconds = columns
        return ProgressiveResult(examples, mistakes, weight, weighted_mistakes, updates, seconds, by_row)


def _batches(
    stream: Any, read: Callable[[str, Any, int], np.ndarray] = validate.read_labels, tables: bool = False
) -> Iterable[tuple]:
    """Yield the batches of a stream; one pair (X, y) or triple (X, y, weight) is a stream of one.

    read : reader of y. tables : whether X may be of any kind that steps of a pipeline read.
    """
    if isinstance(stream, tuple) and stream and not isinstance(stream[0], tuple):
        stream = [stream]
    if not isinstance(stream, Iterable):
        raise ValueError(
            f"{_WHO}: stream must be (X, y), (X, y, weight) or an iterable of such tuples, got {type(stream).__name__}. "
            "Give arrays as progressive_validation(estimator, (X, y))."
        )
    for batch in stream:
        if not isinstance(batch, tuple) or len(batch) not in (2, 3):
            raise ValueError(
                f"{_WHO}: stream must be (X, y), (X, y, weight) or an iterable of such tuples, "
                f"got {type(batch).__name__ if not isinstance(batch, tuple) else f'a tuple of {len(batch)}'} for a batch. "
                "Give arrays as progressive_validation(estimator, (X, y))."
            )
        X, y, weight = (*batch, None)[:3]
        if tables:
            n_rows = n_rows_of(X)
        else:
            if not hasattr(X, "shape"):
                X = validate.as_array(f"{_WHO}: X", X, "rows of equal length")
            n_rows = X.shape[0] if X.ndim else 0
        yield X, read(_WHO, y, n_rows), validate.read_weights(_WHO, weight, n_rows)


class _CleanLabels:
    """Labels to count mistakes against: one array for the whole stream, or one for each batch."""

    def __init__(self, y_clean: Any) -> None:
        self.whole = None if isinstance(y_clean, Iterable) and not hasattr(y_clean, "__len__") else y_clean
        self.batches, self.at = None if self.whole is not None or y_clean is None else iter(y_clean), 0
        if self.whole is not None:
            whole = validate.plain_labels(_WHO, "y_clean", y_clean)
            self.whole = validate.read_labels(_WHO, whole, len(whole))

    def of(self, y: np.ndarray) -> np.ndarray:
        if self.batches is not None:
            clean = next(self.batches, None)
            return self._fit(None if clean is None else validate.plain_labels(_WHO, "y_clean", clean), y)
        if self.whole is None:
            return y
        self.at += len(y)
        return self._fit(self.whole[self.at - len(y) : self.at], y)

    @staticmethod
    def _fit(clean: np.ndarray | None, y: np.ndarray) -> np.ndarray:
        if clean is None or clean.shape != y.shape:
            raise ValueError(
                f"{_WHO}: y_clean must have a label for every row of the stream, got {0 if clean is None else clean.size} labels "
                f"for {len(y)} rows of a batch. Give one array for the whole stream, or an iterator of one array a batch."
            )
        validate.comparable(_WHO, clean, y)
        return clean

    def end(self) -> None:
        left = self.whole is not None and len(self.whole) - self.at
        if left or (self.batches is not None and next(self.batches, None) is not None):
            raise ValueError(f"{_WHO}: y_clean must have a label for every row of the stream, got more. Give those of its rows.")


def _by_row(
    learner: OnlineClassifier, X: Any, y: np.ndarray, clean: np.ndarray, weights: np.ndarray, classes: ArrayLike | None,
    counters: _Tally,
) -> None:
    """Learn and count a batch by row: learners of this package predict inside the training loop."""
    start, updates = time.perf_counter(), learner.n_updates_ if learner.__sklearn_is_fitted__() else 0
    predicted = predict_and_learn(learner, X, y, classes, weights if len(weights) else None)
    counters.seconds += time.perf_counter() - start
    live = predicted != NO_ROUND
    if not live.any():
        return
    counters.updates = (counters.updates or 0) + learner.n_updates_ - updates
    wrong = predicted < 0
    wrong |= learner.classes_[np.maximum(predicted, 0)] != clean
    counters.add(live, wrong, weights)


def _by_row_of_pipeline(
    pipeline: StreamPipeline, X: Any, y: np.ndarray, clean: np.ndarray, weights: np.ndarray, classes: ArrayLike | None,
    counters: _Tally,
) -> None:
    """Learn and count a batch by row, each predicted by what the steps and the learner have learnt before it."""
    start = time.perf_counter()
    said = learn_predicting_all(pipeline, X, y, classes, weights)
    counters.seconds += time.perf_counter() - start
    wrong = np.array([each is None or each != label for each, label in zip(said, clean, strict=True)], bool)
    counters.add(weights > 0.0 if len(weights) else np.ones(len(y), bool), wrong, weights)


def _by_batch(
    learner: Any, X: Any, y: np.ndarray, clean: np.ndarray, weights: np.ndarray, classes: ArrayLike | None, fitted: bool,
    counters: _Tally,
) -> None:
    """Predict a batch, then learn it, for any learner with the two methods."""
    start = time.perf_counter()
    wrong = learner.predict(X) != clean if fitted else np.ones(len(y), bool)
    arguments: dict[str, Any] = {"sample_weight": weights} if len(weights) else {}
    if not fitted:
        arguments["classes"] = classes
    learner.partial_fit(X, y, **arguments)
    counters.seconds += time.perf_counter() - start
    counters.add(weights > 0.0 if len(weights) else np.ones(len(y), bool), np.asarray(wrong), weights)


def _regression(learner: Any, stream: Any, every: int) -> ProgressiveErrors:
    """Return the errors of a regressor. Those of this library sum them by row while they learn, whatever the batches."""
    counts_rows, composed = isinstance(learner, OnlineRegressor), isinstance(learner, StreamPipeline)
    by_row, fitted, rows, seconds = counts_rows or composed, hasattr(learner, "coef_"), 0, 0.0
    places = [COUNTERS[name] for name in ("t", "squared", "absolute", "updates")]
    points: list[tuple] = []
    own = np.zeros(4)  # the same counts, of a learner of another library

    def counts() -> np.ndarray:
        return own if not counts_rows else state_of(learner).counters[places] if learner.__sklearn_is_fitted__() else np.zeros(4)

    before = counts().copy()

    def mark() -> None:
        found = counts() - before
        if found[0] > (points[-1][0] if points else 0):
            points.append((*found, seconds))

    for X, y, weights in _batches(stream, validate.read_targets, composed):
        X, start = validate.as_csr(_WHO, X) if issparse(X) and X.format != "csr" else X, 0
        while start < len(y):
            stop = min(start + every - rows % every, len(y))
            stop = stop if by_row else min(stop, start + max(rows, 1))
            part, begun = slice(start, stop), time.perf_counter()
            these = part_of_table(X, start, stop) if composed else part_of(X, start, stop)
            if composed:
                found = learn_predicting_all(learner, these, y[part], None, weights[part])
                predicted: Any = np.array([0.0 if each is None else each for each in found])
            elif not by_row:
                predicted = learner.predict(these) if fitted else 0.0
            if not counts_rows:
                errors = (y[part] - predicted)[weights[part] > 0.0 if len(weights) else ...]
                fitted = True
                own += len(errors), errors @ errors, np.abs(errors).sum(), 0.0
            if not composed:
                learner.partial_fit(these, y[part], **({"sample_weight": weights[part]} if len(weights) else {}))
            seconds += time.perf_counter() - begun
            rows, start = rows + stop - start, stop
            if rows % every == 0:
                mark()
    mark()
    if not points:
        raise ValueError(f"{_WHO}: stream must have a row of weight > 0, got {rows} rows. Give it rows to learn.")
    n, squared, absolute, updates, passed = (np.array(column) for column in zip(*points, strict=True))
    n_updates = updates.astype(np.int64) if counts_rows else None
    return ProgressiveErrors(n.astype(np.int64), squared, absolute, n_updates, passed, by_row)


@overload
def progressive_validation(
    estimator: OnlineRegressor, stream: XY | XYWeight | Iterable[XY | XYWeight], y_clean: None = None, *,
    classes: None = None, every: int = 1000,
) -> ProgressiveErrors: ...
@overload
def progressive_validation(
    estimator: Any, stream: XY | XYWeight | Iterable[XY | XYWeight], y_clean: ArrayLike | Iterable[ArrayLike] | None = None, *,
    classes: ArrayLike | None = None, every: int = 1000,
) -> ProgressiveResult: ...
def progressive_validation(
    estimator: Any, stream: XY | XYWeight | Iterable[XY | XYWeight], y_clean: ArrayLike | Iterable[ArrayLike] | None = None, *,
    classes: ArrayLike | None = None, every: int = 1000,
) -> ProgressiveResult | ProgressiveErrors:
    """Stream rows once through a learner, each of them predicted and then learnt, and count the mistakes.

    The progressive (prequential) error after n rows is (1/n) |{t <= n: h_{t-1}(x_t) != y_t}|, with h_{t-1} the classifier that
    has learnt the t - 1 rows before: an unbiased estimate of the error from all rows, without holding any out.

    Parameters
    ----------
    estimator : object
        A classifier, regressor or pipeline of this library, or anything with `partial_fit` and `predict`. It learns in place,
        from where it is.
    stream : tuple (X, y) or (X, y, sample_weight), or iterable of such tuples
        The rows, in one batch or many. For learners of this library their sizes do not matter.
    y_clean : array-like of shape (n_rows of the stream,), or iterator of arrays, one a batch, default=None
        Labels to count mistakes against, while y is what is learnt: the papers train on labels with noise and count against those
        before it. None: y.
    classes : array-like of shape (n_classes,), default=None
        All labels there will be, for the first `partial_fit`. None: labels join as they appear; a learner of another library gets
        those of y where the stream is one (X, y).
    every : int, default=1000
        Rows of the stream between two points of the curve, >= 1. Larger batches are cut there.

    Returns
    -------
    result : ProgressiveResult, or of a regressor ProgressiveErrors
        The curve: examples, mistakes (a regressor's squared and absolute errors), updates and seconds so far;
        `result.progressive_error` is the end of it (a regressor's: the mean absolute error).

    Raises
    ------
    TypeError
        If the estimator is neither a classifier nor a regressor, or cannot go on learning.
    ValueError
        If the stream has no row of weight > 0, or a batch is not valid. What came before it has been learnt.

    Notes
    -----
    Learners of this library predict inside the kernel, with the score that the update needs anyway: exact to the row, whatever
    the batches, at little more than the cost of learning. Rows of weight 0 are neither learnt nor counted. The first row of a
    label that is not in `classes` is a mistake, as it could not be predicted.

    Pipelines of this library (`StreamPipeline`) predict each row by the statistics of their steps and the model before it.

    Others predict a batch, then learn it. The batches are of at most `every` rows and of at most as many as have been seen, so
    that early rows are not all predicted by an empty model; ``result.by_row`` is then False. Where such a learner has not been
    fitted, the first row counts as a mistake.

    Examples
    --------
    >>> from onlinecls import AROWClassifier, progressive_validation
    >>> X, y = [[1.0, 0.0], [0.0, 1.0]] * 4, ["ham", "spam"] * 4
    >>> result = progressive_validation(AROWClassifier(), (X, y), every=4)
    >>> result.examples.tolist(), result.mistakes.tolist(), result.progressive_error
    ([4, 8], [3, 3], 0.375)
    """
    if isinstance(every, bool) or not isinstance(every, (int, np.integer)) or every < 1:
        raise ValueError(f"{_WHO}: every must be an integer >= 1, got every={every!r}.")
    for method in ("partial_fit", "predict"):
        if not hasattr(estimator, method):
            raise TypeError(
                f"{_WHO}: estimator must have partial_fit and predict, got {type(estimator).__name__} without {method}. "
                "Only learners that go on learning can be validated on the way."
            )
    kind = kind_of(estimator)
    if kind == "regressor":
        if y_clean is not None or classes is not None:
            raise ValueError(f"{_WHO}: y_clean and classes must be None for a regressor, got others. They are about labels.")
        return _regression(estimator, stream, every)
    if kind not in (None, "classifier"):
        raise TypeError(f"{_WHO}: estimator must be a classifier or a regressor, got {type(estimator).__name__}, a {kind}.")
    composed = isinstance(estimator, StreamPipeline)
    counts, fitted = isinstance(estimator, OnlineClassifier), hasattr(estimator, "classes_")
    by_row = counts or composed
    if not (isinstance(estimator[-1] if composed else estimator, OnlineClassifier) or fitted) and classes is None:
        if not (isinstance(stream, tuple) and len(stream) > 1 and not isinstance(stream[0], tuple)):
            raise ValueError(
                f"{_WHO}: classes must name all labels for {type(estimator).__name__} on a stream of batches, got None. "
                "Its first partial_fit needs them."
            )
        classes = np.unique(validate.plain_labels(_WHO, "y", stream[1]))
    clean_labels, counters = _CleanLabels(y_clean), _Tally(updates=0 if counts else None)
    rows = 0
    for X, y, weights in _batches(stream, tables=composed):
        clean, start = clean_labels.of(y), 0
        if issparse(X) and X.format != "csr":
            X = validate.as_csr(_WHO, X)
        elif issparse(X) and not isinstance(X, Rows) and (not by_row or len(y) > every - rows % every):  # it will be cut
            validate.read_structure(_WHO, X)
        while start < len(y):
            stop = min(start + every - rows % every, len(y))
            if not by_row:
                stop = min(stop, start + max(rows, 1))
            part = slice(start, stop)
            these = part_of_table(X, start, stop) if composed else part_of(X, start, stop)
            if composed:
                _by_row_of_pipeline(estimator, these, y[part], clean[part], weights[part], classes, counters)
            elif by_row:
                named = None if estimator.__sklearn_is_fitted__() else classes
                _by_row(estimator, these, y[part], clean[part], weights[part], named, counters)
            else:
                _by_batch(estimator, these, y[part], clean[part], weights[part], classes, fitted, counters)
                fitted = True
            rows, start = rows + stop - start, stop
            if rows % every == 0:
                counters.mark()
    clean_labels.end()
    counters.mark()
    if not counters.points:
        raise ValueError(f"{_WHO}: stream must have a row of weight > 0, got {rows} rows. Give it rows to learn.")
    return counters.result(by_row)
