"""Progressive validation: every row is predicted, then learnt."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from numbers import Number
from typing import TYPE_CHECKING, overload

import numpy as np

from .._compiled.model import COUNTERS
from .._estimators.learner import state_of
from .._estimators.regressor import OnlineRegressor
from .._input import validate
from .._input.compat import kind_of
from .._pipeline import StreamPipeline, is_fitted, learn_predicting
from ..text import lasting, n_rows_of, part_of
from ._runs import (
    ClassifierRun,
    all_classes,
    cuts,
    is_by_row,
    live_of,
    require_methods,
    takes_tables,
    to_be_cut,
    weighted,
)

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import ArrayLike

    from .._input.types import XY, XYWeight
    from ..measures import ClassificationMeasures, RegressionMeasures

_WHO = "progressive_validation"
SUMS = "mistakes", "weight", "weighted_mistakes", "updates"  # of a classifier


@dataclass(frozen=True, kw_only=True)
class _Points:
    """Base of both results: what a curve has at each of its points, the last of which is the end."""

    examples: np.ndarray
    updates: np.ndarray | None
    seconds: np.ndarray
    by_row: bool
    predictions: np.ndarray | None = None
    measures: dict[str, np.ndarray] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ProgressiveResult(_Points):
    """Learning curve from `progressive_validation`. Arrays have one number for each point; the last point is the end.

    Attributes
    ----------
    examples : ndarray of int64
        Rows of weight > 0 predicted and learnt so far.
    mistakes : ndarray of int64
        Number of them that were predicted wrongly.
    weight, weighted_mistakes : ndarray of float64
        Sample weight of all rows so far, and of those predicted wrongly. (Class weights are not included.)
    updates : ndarray of int64 or None
        Number of them that changed the model; None for a learner that does not count them.
    seconds : ndarray of float64
        Time spent predicting and learning so far, without the reading of the stream.
    by_row : bool
        True: each row was predicted by the model that had learnt all rows before it. False: a batch was predicted, then learnt
        (learners of other libraries), so that early mistakes depend on the size of the batches.
    predictions : ndarray of object, shape (n_rows,), or None
        Label predicted for each row before it was learnt, None without a prediction (a weight of 0, or no classes yet).
    measures : dict of str to ndarray
        Each measure that is a number, at each point: NaN where it was None. Empty without `measures`.
    """

    mistakes: np.ndarray
    weight: np.ndarray
    weighted_mistakes: np.ndarray

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
        """Mistakes since the previous point (at the first: since the start)."""
        return np.diff(self.mistakes, prepend=0)

    @property
    def error_since_last(self) -> np.ndarray:
        """Mistakes since the previous point, divided by the examples since then."""
        return self.mistakes_since_last / np.diff(self.examples, prepend=0)

    @property
    def progressive_error(self) -> float:
        """Error over the whole stream: the last of `error`."""
        return float(self.error[-1])


@dataclass(frozen=True, kw_only=True)
class ProgressiveErrors(_Points):
    """Learning curve of a regressor from `progressive_validation`.

    Attributes
    ----------
    squared, absolute : ndarray of float64
        Sums of the squared and of the absolute errors of the predictions so far, unweighted.
    examples, updates, seconds, by_row, predictions, measures :
        As in ProgressiveResult; predictions are numbers.
    """

    squared: np.ndarray
    absolute: np.ndarray

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


def check_every(who: str, every: Any) -> None:
    if isinstance(every, bool) or not isinstance(every, (int, np.integer)) or every < 1:
        raise ValueError(f"{who}: every must be an integer >= 1, got every={every!r}.")


def batches(
    who: str, stream: Any, read: Callable[[str, Any, int], np.ndarray], tables: bool = False,
) -> Iterator[tuple]:
    """Yield the batches of a stream; one pair (X, y) or triple (X, y, weight) is a stream of one.

    read : reader of y. tables : True if X may be of any kind that a pipeline's steps read.
    """

    def wrong(found: str) -> ValueError:
        return ValueError(
            f"{who}: stream must be (X, y), (X, y, weight) or an iterable of such tuples, got {found}. "
            f"Give arrays as {who}(..., (X, y))."
        )

    if isinstance(stream, tuple) and stream and not isinstance(stream[0], tuple):
        stream = [stream]
    if not isinstance(stream, Iterable):
        raise wrong(type(stream).__name__)
    for batch in stream:
        if not isinstance(batch, tuple) or len(batch) not in (2, 3):
            raise wrong((f"a tuple of {len(batch)}" if isinstance(batch, tuple) else type(batch).__name__) + " for a batch")
        X, y, weight = (*batch, None)[:3]
        if tables:
            if isinstance(y, (str, bytes, Number, np.generic)):  # a row and its label, as river's streams have them
                X, y, weight = [X], [y], None if weight is None else [weight]
            X = lasting(X)
            n_rows = n_rows_of(X)
        else:
            if not hasattr(X, "shape"):
                X = validate.as_array(f"{who}: X", X, "rows of equal length")
            n_rows = X.shape[0] if X.ndim else 0
        yield X, read(who, y, n_rows), validate.read_weights(who, weight, n_rows)


class CleanLabels:
    """Labels to count mistakes against: one array for the whole stream, or one for each batch."""

    def __init__(self, y_clean: Any) -> None:
        self.whole, self.batches, self.at = None, None, 0
        if isinstance(y_clean, Iterable) and not hasattr(y_clean, "__len__"):
            self.batches = iter(y_clean)
        elif y_clean is not None:
            self.whole = validate.read_labels(_WHO, y_clean, None, "y_clean")

    def of(self, y: np.ndarray) -> np.ndarray:
        """Return the labels of the next batch, whose labels in the stream are y."""
        if self.batches is not None:
            clean = next(self.batches, None)
            clean = None if clean is None else validate.read_labels(_WHO, clean, None, "y_clean")
        elif self.whole is not None:
            clean, self.at = self.whole[self.at : self.at + len(y)], self.at + len(y)
        else:
            return y
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


class Curve:
    """A curve in the making, and what watches it: measures, and the caller's function.

    totals : sums so far, of these names, first the rows of weight > 0. seconds : the time they took. n_rows : all rows.
    """

    def __init__(
        self, names: tuple[str, ...], measures: Any = None, predictions: bool = False, scores: bool = False,
        on_batch: Callable[[dict], object] | None = None, who: str = _WHO,
    ) -> None:
        self.who = who
        self.names, self.totals, self.seconds, self.n_rows = names, np.zeros(len(names)), 0.0, 0
        self.measures, self.scores, self.on_batch = measures, scores, on_batch
        self.points: list[tuple] = []
        self.predictions: list[np.ndarray] | None = [] if predictions else None
        self.every_row = measures is not None or predictions  # True if predictions are needed, not only mistakes
        self.rows: list[tuple] = []  # arguments of `measures.update`
        self.measured: dict[str, list[float]] = {}  # at each point

    def count(self, live: np.ndarray, wrong: np.ndarray, weights: np.ndarray, updates: int) -> None:
        """Count rows of a classifier. wrong : among the live ones."""
        sums: tuple = np.count_nonzero(live), np.count_nonzero(wrong)
        self.totals += (*sums, *((weights[live].sum(), weights[wrong].sum()) if len(weights) else sums), updates)

    def add(self, truth: np.ndarray, predicted: Any, live: np.ndarray, weights: np.ndarray, scored: tuple = ()) -> None:
        """Add rows. predicted : None if not needed. live : those of weight > 0. weights : empty if all are 1. scored : NaN
        before there was a model."""
        if self.predictions is not None:
            self.predictions.append(predicted)
        if self.measures is not None:
            weights = weights if len(weights) else np.ones(len(live))
            known = ~np.isnan(scored[0][:, 0]) if scored else np.zeros(len(live), bool)
            for rows, more in ((live & ~known, ()), (live & known, scored)):
                if rows.any():
                    self.rows.append(tuple(column[rows] for column in (truth, predicted, *more, weights)))

    def mark(self) -> None:
        """Measure the rows since the last point; if any counts, add a point to the curve, and call the caller's function."""
        for _, alike in groupby(self.rows, key=len):  # (rows before the first model have no scores)
            truth, predicted, *scored, weights = (np.concatenate(column) for column in zip(*alike, strict=True))
            self.measures.update(truth, predicted, *scored, sample_weight=weights)
        self.rows = []
        if self.totals[0] <= (self.points[-1][0] if self.points else 0):
            return
        self.points.append((*self.totals, self.seconds))
        now = {} if self.measures is None else self.measures.as_dict()
        for name, value in now.items():
            if value is None or isinstance(value, (int, float)):
                self.measured.setdefault(name, []).append(np.nan if value is None else value)
        if self.on_batch is not None:
            point: dict[str, Any] = dict(zip((*self.names, "seconds"), map(float, self.points[-1]), strict=True))
            if self.measures is not None:
                point["measures"] = now
            self.on_batch(point)

    def fields(self, counts_updates: bool) -> dict[str, Any]:
        """Return the fields of the result, but for `by_row`."""
        self.mark()
        if not self.points:
            raise ValueError(f"{self.who}: stream must have a row of weight > 0, got {self.n_rows} rows. Give it rows to learn.")
        found: dict[str, Any] = dict(zip((*self.names, "seconds"), np.array(self.points).T, strict=True))
        for name in ("examples", "mistakes", "updates"):
            if name in found:
                found[name] = found[name].astype(np.int64)
        found["updates"] = found["updates"] if counts_updates else None
        found["predictions"] = None if self.predictions is None else np.concatenate([np.zeros(0, object), *self.predictions])
        found["measures"] = {name: np.array(values, float) for name, values in self.measured.items()}
        return found


def parts(
    stream: Any, read: Callable[[str, Any, int], np.ndarray], every: int, curve: Curve, y_clean: Any, tables: bool,
    by_row: bool, one_by_one: bool,
) -> Iterator[tuple]:
    """Yield (X, y, clean labels, weights) of parts of the batches that end where a point of the curve is due.

    Learners that predict a part before learning it (by_row=False) get at most as many rows as came before; if each row must be
    scored by the model before it (one_by_one), a part is one row.
    """
    clean = CleanLabels(y_clean)
    for X, y, weights in batches(_WHO, stream, read, tables):
        truth, done = clean.of(y), curve.n_rows
        X = to_be_cut(_WHO, X, not by_row or one_by_one or len(y) > every - done % every)
        for start, stop in ((i, i + 1) for i in range(len(y))) if one_by_one else cuts(done, len(y), every, by_row):
            part = slice(start, stop)
            yield part_of(X, start, stop), y[part], truth[part], weights[part]
            curve.n_rows = done + stop
            if curve.n_rows % every == 0:
                curve.mark()
    clean.end()


def _classes(learner: Any, stream: Any, y_clean: Any, classes: ArrayLike | None, every: int, curve: Curve) -> ProgressiveResult:
    """Return the mistakes of a classifier. Those of this library predict inside the training loop, row by row."""
    run, classes = ClassifierRun(learner, curve), all_classes(_WHO, learner, stream, classes, curve.scores)
    tables, one_by_one = takes_tables(learner), curve.scores and not isinstance(learner, StreamPipeline)
    for X, y, truth, weights in parts(stream, validate.read_labels, every, curve, y_clean, tables, run.by_row, one_by_one):
        run.learn(X, y, truth, weights, classes)
    return ProgressiveResult(by_row=run.by_row, **curve.fields(run.counts))


def _regression(learner: Any, stream: Any, every: int, curve: Curve) -> ProgressiveErrors:
    """Return the errors of a regressor. Those of this library sum them by row while they learn, whatever the batches."""
    counts, is_pipeline = isinstance(learner, OnlineRegressor), isinstance(learner, StreamPipeline)
    asked, by_row = curve.every_row, is_by_row(learner)
    fitted, one_by_one = is_fitted(learner), counts and asked
    inner: Any = learner[-1] if is_pipeline else learner
    is_first = isinstance(inner, OnlineRegressor) and not (is_fitted(inner) and inner.t_)
    places = [COUNTERS[name] for name in ("t", "squared", "absolute", "updates")]
    before = state_of(learner).counters[places] if counts and learner.__sklearn_is_fitted__() else np.zeros(4)
    for X, y, _, weights in parts(stream, validate.read_targets, every, curve, None, takes_tables(learner), by_row, one_by_one):
        live, predicted = live_of(weights, len(y)), np.zeros(len(y))
        begun = time.perf_counter()
        if is_pipeline:
            found = learn_predicting(learner, X, y, None, weights)[0]
            predicted = np.array([0.0 if each is None else each for each in found])
        else:
            if (asked or not counts) and (learner.__sklearn_is_fitted__() if counts else fitted):
                predicted = np.asarray(learner.predict(X), float)
            if counts or live.any():  # (scikit-learn's refuse rows that all have a weight of 0)
                learner.partial_fit(X, y, **weighted(weights))
                fitted = True
        curve.seconds += time.perf_counter() - begun
        if is_first and live.any():  # a level begins at the first target, which thus counts as predicted
            is_first, at = False, int(live.argmax())
            predicted[at] = y[at] if state_of(inner).params.level else predicted[at]
        errors = (y - predicted)[live]
        if not counts:
            curve.totals += len(errors), errors @ errors, np.abs(errors).sum(), 0.0
        elif learner.__sklearn_is_fitted__():
            curve.totals = state_of(learner).counters[places] - before
        if asked:
            curve.add(y, predicted, live, weights)
    return ProgressiveErrors(by_row=by_row, **curve.fields(counts))


@overload
def progressive_validation(
    estimator: OnlineRegressor, stream: XY | XYWeight | Iterable[XY | XYWeight], y_clean: None = None, *,
    classes: None = None, every: int = 1000, measures: RegressionMeasures | None = None, predictions: bool = False,
    scores: bool = False, on_batch: Callable[[dict], object] | None = None,
) -> ProgressiveErrors: ...
@overload
def progressive_validation(
    estimator: Any, stream: XY | XYWeight | Iterable[XY | XYWeight], y_clean: ArrayLike | Iterable[ArrayLike] | None = None, *,
    classes: ArrayLike | None = None, every: int = 1000, measures: ClassificationMeasures | None = None,
    predictions: bool = False, scores: bool = False, on_batch: Callable[[dict], object] | None = None,
) -> ProgressiveResult: ...
def progressive_validation(
    estimator: Any, stream: XY | XYWeight | Iterable[XY | XYWeight], y_clean: ArrayLike | Iterable[ArrayLike] | None = None, *,
    classes: ArrayLike | None = None, every: int = 1000, measures: Any = None, predictions: bool = False, scores: bool = False,
    on_batch: Callable[[dict], object] | None = None,
) -> ProgressiveResult | ProgressiveErrors:
    """Stream rows once through a learner, each of them predicted and then learnt, and count the mistakes.

    The progressive (prequential) error after n rows is (1/n) |{t <= n: h_{t-1}(x_t) != y_t}|, with h_{t-1} the classifier that
    has learnt the t - 1 rows before: an unbiased estimate of the error from all rows, without holding any out.

    Parameters
    ----------
    estimator : object
        A classifier, regressor or pipeline of this library, or anything with `partial_fit` and `predict`. It learns in place,
        from its present state.
    stream : tuple (X, y) or (X, y, sample_weight), or iterable of such tuples
        The rows, in one batch or many. For learners of this library their sizes do not matter. For a pipeline, a tuple may also
        have a single row and its label.
    y_clean : array-like of shape (n_rows of the stream,), or iterator of arrays, one a batch, default=None
        Labels to count mistakes against, while y is what is learnt: the papers train on noisy labels and count against the clean
        ones. None: y.
    classes : array-like of shape (n_classes,), default=None
        All labels that will appear, for the first `partial_fit`. None: labels join as they appear; a learner of another library
        gets those of y if the stream is one (X, y).
    every : int, default=1000
        Rows of the stream between two points of the curve, >= 1. Larger batches are cut there.
    measures : onlinecls.measures.ClassificationMeasures or RegressionMeasures, default=None
        Updated with every row: precision, recall, F1 and confusion, or squared and absolute errors.
    predictions : bool, default=False
        Keep the prediction of every row in ``result.predictions``.
    scores : bool, default=False
        Give `measures` the scores and probabilities of each row too, for the AUC and the log loss. Rows are then scored one by
        one, some 30 µs each; name the classes.
    on_batch : callable, default=None
        Called at each point of the curve with a dict of its numbers (`examples`, `mistakes`, `seconds`, ...) and of `measures` by
        name. An exception ends the run.

    Returns
    -------
    result : ProgressiveResult, or for a regressor ProgressiveErrors
        The curve: examples, mistakes (a regressor's squared and absolute errors), updates and seconds so far;
        `result.progressive_error` is the end of it (a regressor's: the mean absolute error).

    Raises
    ------
    TypeError
        If the estimator is neither a classifier nor a regressor, or has no `partial_fit`.
    ValueError
        If the stream has no row of weight > 0, or a batch is not valid. The rows before it have been learnt.

    Notes
    -----
    Learners of this library predict inside the kernel, with the score that the update needs anyway: exact to the row, whatever
    the batches, at little more than the cost of learning. Rows of weight 0 are neither learnt nor counted. The first row of a
    label that is not in `classes` is a mistake, as it could not be predicted.

    Pipelines of this library (`StreamPipeline`) predict each row but the first by the statistics of their steps and the model
    before it.

    Others predict a batch, then learn it. The batches are of at most `every` rows and of at most as many as have been seen, so
    that early rows are not all predicted by an empty model; ``result.by_row`` is then False. If such a learner has not been
    fitted, the first row counts as a mistake.

    Examples
    --------
    >>> from onlinecls import AROWClassifier, progressive_validation
    >>> X, y = [[1.0, 0.0], [0.0, 1.0]] * 4, ["ham", "spam"] * 4
    >>> result = progressive_validation(AROWClassifier(), (X, y), every=4)
    >>> result.examples.tolist(), result.mistakes.tolist(), result.progressive_error
    ([4, 8], [3, 3], 0.375)
    >>> from onlinecls.measures import ClassificationMeasures
    >>> seen = ClassificationMeasures(["ham", "spam"])
    >>> result = progressive_validation(AROWClassifier(), (X, y), measures=seen, predictions=True)
    >>> result.predictions[-2:].tolist(), seen.recall("spam")
    (['ham', 'spam'], 0.75)
    """
    check_every(_WHO, every)
    require_methods(_WHO, estimator)
    if measures is None and scores:
        raise ValueError(f"{_WHO}: measures must be given where scores=True, got None. Give ClassificationMeasures(classes).")
    kind = kind_of(estimator)
    sums = ("squared", "absolute", "updates") if kind == "regressor" else SUMS
    curve = Curve(("examples", *sums), measures, predictions, scores, on_batch)
    wanted = "RegressionMeasures" if kind == "regressor" else "ClassificationMeasures"
    if measures is not None and type(measures).__name__ != wanted:
        raise TypeError(f"{_WHO}: measures must be {wanted} for this estimator, got {type(measures).__name__}.")
    if kind == "regressor":
        if y_clean is not None or classes is not None:
            raise ValueError(f"{_WHO}: y_clean and classes must be None for a regressor, got others. They are about labels.")
        return _regression(estimator, stream, every, curve)
    if kind not in (None, "classifier"):
        raise TypeError(f"{_WHO}: estimator must be a classifier or a regressor, got {type(estimator).__name__}, a {kind}.")
    return _classes(estimator, stream, y_clean, classes, every, curve)
