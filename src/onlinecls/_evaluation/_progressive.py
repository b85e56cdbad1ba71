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
from .._estimators.estimator import Estimator
from .._estimators.learner import state_of
from .._estimators.regressor import OnlineRegressor
from .._input import validate
from .._input.compat import is_fitted, kind_of
from .._input.rows import lasting, n_rows_of, part_of
from .._pipeline import StreamPipeline, learn_predicting, live_rows, scores_of
from .._wings.multilabel import estimators as multilabel
from .._wings.multilabel.sets import read_sets
from ._delayed import Delays, Late
from ._runs import (
    ClassifierRun,
    OneByOne,
    all_classes,
    cuts,
    is_by_row,
    is_one_batch,
    is_slow,
    live_of,
    one_by_one_or_itself,
    takes_tables,
    to_be_cut,
    weighted,
)

if TYPE_CHECKING:
    from datetime import timedelta
    from typing import Any, TypeAlias

    from numpy.typing import ArrayLike

    from .._input.types import XY, XYWeight
    from ..measures import ClassificationMeasures, DriftAlarm, RegressionMeasures

    Delay: TypeAlias = int | float | timedelta | str | ArrayLike

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
    alarms: tuple[int, ...] = ()
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
    alarms : tuple of int
        Numbers of the rows of weight > 0 (from 1) where the alarm was raised.
    measures : dict of str to ndarray
        Each measure that is a number, at each point: NaN where it was None. Empty without `measures`.
    asked : ndarray of int64 or None
        Number of examples whose label was asked for and learnt; None without `ask`, where all are.
    """

    mistakes: np.ndarray
    weight: np.ndarray
    weighted_mistakes: np.ndarray
    asked: np.ndarray | None = None

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
    examples, updates, seconds, by_row, predictions, alarms, measures :
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
            whole = validate.plain_labels(_WHO, "y_clean", y_clean)
            self.whole = validate.read_labels(_WHO, whole, len(whole))

    def of(self, y: np.ndarray) -> np.ndarray:
        """Return the labels of the next batch, whose labels in the stream are y."""
        if self.batches is not None:
            clean = next(self.batches, None)
            clean = None if clean is None else validate.plain_labels(_WHO, "y_clean", clean)
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
    """A curve in the making, and what watches it: measures, an alarm, and the caller's function.

    totals : sums so far, of these names, first the rows of weight > 0. seconds : the time they took. n_rows : all rows.
    """

    def __init__(
        self, names: tuple[str, ...], measures: Any = None, alarm: DriftAlarm | None = None, predictions: bool = False,
        scores: bool = False, on_batch: Callable[[dict], object] | None = None, who: str = _WHO,
    ) -> None:
        self.who = who
        self.names, self.totals, self.seconds, self.n_rows = names, np.zeros(len(names)), 0.0, 0
        self.measures, self.alarm, self.scores, self.on_batch = measures, alarm, scores, on_batch
        self.points: list[tuple] = []
        self.predictions: list[np.ndarray] | None = [] if predictions else None
        self.every_row = measures is not None or predictions  # True if predictions are needed, not only mistakes
        self.rows: list[tuple] = []  # arguments of `measures.update`
        self.measured: dict[str, list[float]] = {}  # at each point

    def count(self, live: np.ndarray, wrong: np.ndarray, weights: np.ndarray, updates: int) -> None:
        """Count rows of a classifier. wrong : among the live ones."""
        sums: tuple = np.count_nonzero(live), np.count_nonzero(wrong)
        self.totals += (*sums, *((weights[live].sum(), weights[wrong].sum()) if len(weights) else sums), updates)

    def add(self, truth: np.ndarray, predicted: Any, losses: np.ndarray, live: np.ndarray, weights: np.ndarray,
            scored: tuple = ()) -> None:
        """Add rows. predicted : None if not needed. live : those of weight > 0. weights : empty if all are 1. scored : NaN
        before there was a model."""
        if self.alarm is not None:
            self.alarm.update(losses[live])
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
            if self.alarm is not None:
                point["alarms"] = list(self.alarm.alarms)
            self.on_batch(point)

    def fields(self, counts_updates: bool) -> dict[str, Any]:
        """Return the fields of the result, but for `by_row`."""
        self.mark()
        if not self.points:
            raise ValueError(f"{self.who}: stream must have a row of weight > 0, got {self.n_rows} rows. Give it rows to learn.")
        found: dict[str, Any] = dict(zip((*self.names, "seconds"), np.array(self.points).T, strict=True))
        for name in ("examples", "mistakes", "updates", "asked"):
            if name in found:
                found[name] = found[name].astype(np.int64)
        found["updates"] = found["updates"] if counts_updates else None
        found["predictions"] = None if self.predictions is None else np.concatenate([np.zeros(0, object), *self.predictions])
        found["measures"] = {name: np.array(values, float) for name, values in self.measured.items()}
        found["alarms"] = () if self.alarm is None else tuple(self.alarm.alarms)
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


def _selectively(
    learner: Any, stream: Any, y_clean: Any, classes: ArrayLike | None, every: int, curve: Curve, ask: Callable[[Any, Any], Any],
) -> ProgressiveResult:
    """Return the mistakes of a classifier that learns the rows that it asks for, and predicts all, one by one."""
    is_pipeline, tables = isinstance(learner, StreamPipeline), takes_tables(learner)
    for X, y, truth, weights in parts(stream, validate.read_labels, every, curve, y_clean, tables, True, True):
        weight = float(weights[0]) if len(weights) else 1.0
        live = live_rows(learner[-1] if is_pipeline else learner, y, weights if len(weights) else None)
        if not live[0]:
            curve.add(truth, np.full(1, None, object), live, live, np.zeros(1))
            continue
        begun, fitted = time.perf_counter(), is_fitted(learner)
        predicted = np.full(1, learner.predict(X)[0] if fitted else None, object)
        scored = scores_of(learner, X, 1) if curve.scores and fitted else ()
        asked = learner.model if isinstance(learner, OneByOne) else learner
        answer = np.asarray(ask(asked, X)) if fitted else np.ones(1, bool)
        if answer.shape != (1,) or answer.dtype.kind != "b":
            got = validate.brief(answer)
            raise ValueError(f"{_WHO}: ask must return an array of bool, one for each row, got {got} for a row.")
        if answer[0]:
            learner.partial_fit(X, y, **({} if fitted or classes is None else {"classes": classes}), **weighted(weights))
        curve.seconds += time.perf_counter() - begun
        wrong = np.asarray(predicted != truth, bool)
        curve.totals += np.array([1.0, wrong[0], weight, weight * wrong[0], 0.0, answer[0]])
        curve.add(truth, predicted, wrong, live, np.full(1, weight), scored)
    return ProgressiveResult(by_row=True, **curve.fields(False))


def _delayed(
    learner: Any, stream: Any, y_clean: Any, classes: ArrayLike | None, every: int, curve: Curve, delays: Delays,
) -> ProgressiveResult | ProgressiveErrors:
    """Return the mistakes of a classifier, or the errors of a regressor, that learns each row when its label comes."""
    is_pipeline, is_regressor = isinstance(learner, StreamPipeline), kind_of(learner) == "regressor"
    read = validate.read_targets if is_regressor else validate.read_labels
    classes = None if is_regressor else all_classes(_WHO, learner, stream, classes, curve.scores)
    late = Late(learner, delays, classes, curve.scores, is_one_batch(stream))
    for X, y, truth, weights in parts(stream, read, every, curve, y_clean, takes_tables(learner), True, False):
        given = weights if len(weights) else None
        live = live_rows(learner[-1] if is_pipeline else learner, y, given)
        found, scored = late.run(to_be_cut(_WHO, X), y, weights, live)
        curve.seconds += late.seconds
        if is_regressor:
            predicted = np.array([0.0 if each is None else each for each in found])
            errors = (y - predicted)[live]
            curve.totals += len(errors), errors @ errors, np.abs(errors).sum(), 0.0
            curve.add(y, predicted, np.abs(y - predicted), live, weights)
        else:
            predicted = np.empty(len(found), object)
            predicted[:] = found
            wrong = np.asarray(predicted != truth, bool) & live
            curve.count(live, wrong, weights, 0)
            curve.add(truth, predicted, wrong, live, weights, scored)
    late.end()
    return (ProgressiveErrors if is_regressor else ProgressiveResult)(by_row=True, **curve.fields(False))


def _rows_of_labels(who: str, y: Any, n_rows: int) -> np.ndarray:
    """Return the labels of rows that may have several: an indicator matrix, or an array of sets."""
    read = read_sets(who, y, n_rows)
    if read.is_matrix:
        return read.has
    found = np.empty(n_rows, object)
    for at, labels in enumerate(y):
        found[at] = set(labels)
    return found


def _sets(learner: Any, stream: Any, classes: ArrayLike | None, every: int, curve: Curve) -> ProgressiveResult:
    """Return the mistakes of a classifier of several labels a row: the rows whose labels it did not predict exactly."""
    for X, y, _, weights in parts(stream, _rows_of_labels, every, curve, None, False, True, False):
        live, fitted = live_of(weights, len(y)), learner.__sklearn_is_fitted__()
        before, named = (learner.n_updates_, None) if fitted else (0, classes)
        begun = time.perf_counter()
        truth, predicted = multilabel.predict_and_learn(learner, X, y, named, weights if len(weights) else None)
        curve.seconds += time.perf_counter() - begun
        if not len(truth):
            continue  # (rows of weight 0 begin no model)
        wrong = (truth != predicted) & live
        curve.count(live, wrong, weights, learner.n_updates_ - before)
        curve.add(truth, predicted, wrong, live, weights)
    return ProgressiveResult(by_row=True, **curve.fields(True))


def _regression(learner: Any, stream: Any, every: int, curve: Curve) -> ProgressiveErrors:
    """Return the errors of a regressor. Those of this library sum them by row while they learn, whatever the batches."""
    counts, is_pipeline = isinstance(learner, OnlineRegressor), isinstance(learner, StreamPipeline)
    asked, by_row = curve.every_row or curve.alarm is not None, is_by_row(learner)
    fitted, one_by_one = is_fitted(learner), (counts and asked) or is_slow(learner)
    inner: Any = learner[-1] if is_pipeline else learner
    is_first = isinstance(inner, OnlineRegressor) and not (is_fitted(inner) and inner.t_)
    places = [COUNTERS[name] for name in ("t", "squared", "absolute", "updates")]
    before = state_of(learner).counters[places] if counts and learner.__sklearn_is_fitted__() else np.zeros(4)
    for X, y, _, weights in parts(stream, validate.read_targets, every, curve, None, takes_tables(learner), by_row, one_by_one):
        live, predicted = live_of(weights, len(y)), np.zeros(len(y))
        begun = time.perf_counter()
        if is_pipeline or isinstance(learner, OneByOne):
            found = learn_predicting(learner, X, y, None, weights)[0] if is_pipeline else learner.learn_predicting(X, y, weights)
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
            curve.add(y, predicted, np.abs(y - predicted), live, weights)
    return ProgressiveErrors(by_row=by_row, **curve.fields(counts))


@overload
def progressive_validation(
    estimator: OnlineRegressor, stream: XY | XYWeight | Iterable[XY | XYWeight], y_clean: None = None, *,
    classes: None = None, every: int = 1000, measures: RegressionMeasures | None = None, alarm: DriftAlarm | None = None,
    predictions: bool = False, scores: bool = False, on_batch: Callable[[dict], object] | None = None, ask: None = None,
    delay: Delay | None = None, moment: str | ArrayLike | None = None,
) -> ProgressiveErrors: ...
@overload
def progressive_validation(
    estimator: Any, stream: XY | XYWeight | Iterable[XY | XYWeight], y_clean: ArrayLike | Iterable[ArrayLike] | None = None, *,
    classes: ArrayLike | None = None, every: int = 1000, measures: ClassificationMeasures | None = None,
    alarm: DriftAlarm | None = None, predictions: bool = False, scores: bool = False,
    on_batch: Callable[[dict], object] | None = None, ask: Callable[[Any, Any], ArrayLike] | None = None,
    delay: Delay | None = None, moment: str | ArrayLike | None = None,
) -> ProgressiveResult: ...
def progressive_validation(
    estimator: Any, stream: XY | XYWeight | Iterable[XY | XYWeight], y_clean: ArrayLike | Iterable[ArrayLike] | None = None, *,
    classes: ArrayLike | None = None, every: int = 1000, measures: Any = None, alarm: DriftAlarm | None = None,
    predictions: bool = False, scores: bool = False, on_batch: Callable[[dict], object] | None = None,
    ask: Callable[[Any, Any], ArrayLike] | None = None, delay: Delay | None = None, moment: str | ArrayLike | None = None,
) -> ProgressiveResult | ProgressiveErrors:
    """Stream rows once through a learner, each of them predicted and then learnt, and count the mistakes.

    The progressive (prequential) error after n rows is (1/n) |{t <= n: h_{t-1}(x_t) != y_t}|, with h_{t-1} the classifier that
    has learnt the t - 1 rows before: an unbiased estimate of the error from all rows, without holding any out.

    Parameters
    ----------
    estimator : object
        A classifier, regressor or pipeline of this library, a model of river's (`learn_one`, `predict_one`), or anything with
        `partial_fit` and `predict`. It learns in place, from its present state.
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
    measures : onlinecls.measures.ClassificationMeasures, MultiLabelMeasures or RegressionMeasures, default=None
        Updated with every row: precision, recall, F1 and confusion, over all rows, a window or fading.
    alarm : onlinecls.measures.DriftAlarm, default=None
        Updated with every row's mistake (a regressor's absolute error); ``result.alarms`` has its rows.
    predictions : bool, default=False
        Keep the prediction of every row in ``result.predictions``.
    scores : bool, default=False
        Give `measures` the scores and probabilities of each row too, for the AUC and the log loss. Rows are then scored one by
        one, some 30 µs each; name the classes.
    on_batch : callable, default=None
        Called at each point of the curve with a dict of its numbers (`examples`, `mistakes`, `seconds`, ...), of `measures` by
        name, and of the alarms so far. An exception ends the run.
    ask : callable, default=None
        Selective sampling: a function of the learner and a row, as ``lambda learner, X: learner.should_ask(X, b=0.3)``, that
        tells if the row's label is asked for. Only such rows are learnt; all are predicted and counted, one by one, some 30 µs
        each. The first row is always learnt.
    delay : int >= 0, number, timedelta, str or array-like of shape (n_rows,), default=None
        How long after its row a label is known. Each row is predicted when it comes, by the model that has learnt the labels
        known by then, and learnt when its label comes. Without `moment` an int, in rows: row t is predicted by the model of the
        rows up to t - delay. With `moment` a number in its unit, or for dates a timedelta or seconds. A str names the column
        that has the delay of each row, or the date when its label is known; an array has one for each row of the stream. None:
        the label is known at once, as with 0 and 1.
    moment : str or array-like of shape (n_rows of the stream,), default=None
        When rows come, never falling: the name of a column of X, or an array for the whole stream; numbers, or dates (of Python,
        numpy, a data frame, or texts in the forms that tables know). None: row t comes at moment t.

    Returns
    -------
    result : ProgressiveResult, or for a regressor ProgressiveErrors
        The curve: examples, mistakes (a regressor's squared and absolute errors), updates and seconds so far;
        `result.progressive_error` is the end of it (a regressor's: the mean absolute error).

    Raises
    ------
    TypeError
        If the estimator is neither a classifier nor a regressor, or has neither `partial_fit` nor `learn_one`.
    ValueError
        If the stream has no row of weight > 0, or a batch is not valid. The rows before it have been learnt.

    See Also
    --------
    compare : The same pass with several learners.
    measures.ClassificationMeasures, measures.RegressionMeasures : What it counts.
    plotting.ProgressiveDisplay : Draw its curve.

    Notes
    -----
    Learners of this library predict inside the kernel, with the score that the update needs anyway: exact to the row, whatever
    the batches, at little more than the cost of learning. Rows of weight 0 are neither learnt nor counted. The first row of a
    label that is not in `classes` is a mistake, as it could not be predicted.

    A `MultiLabelClassifier` makes a mistake where it does not predict exactly the row's labels; predictions are sets.

    Pipelines of this library (`StreamPipeline`) predict each row but the first by the statistics of their steps and the model
    before it. Rules of one's own (`onlinecls.reference`) and models of river's predict and learn row by row, too; river's get
    dicts, of a matrix by the numbers of its columns, and weights as `w`.

    Others predict a batch, then learn it. The batches are of at most `every` rows and of at most as many as have been seen, so
    that early rows are not all predicted by an empty model; ``result.by_row`` is then False. If such a learner has not been
    fitted, the first row counts as a mistake.

    With `delay`, a row that comes at moment m is predicted after all rows whose moment + delay <= m have been learnt, in the
    order of that sum (equal ones in the order of the rows), as in river's ``progressive_val_score``; labels that come behind
    the last row are learnt at the end. Rows are counted, and given to `measures` and `alarm`, when they come. Before the first
    label there is no prediction, which is a mistake; of a regressor it is 0. What a pipeline's steps learn of a row (the
    statistics of a TableVectorizer), they learn with its label. The result is the same whatever the batches; ``by_row`` is True
    for all learners, and `updates` None. A row costs a call of `predict` and one of `partial_fit`; rows that come between two
    labels are predicted in one call.

    Examples
    --------
    >>> from onlinecls import AROWClassifier, progressive_validation
    >>> X, y = [[1.0, 0.0], [0.0, 1.0]] * 4, ["ham", "spam"] * 4
    >>> result = progressive_validation(AROWClassifier(), (X, y), every=4)
    >>> result.examples.tolist(), result.mistakes.tolist(), result.progressive_error
    ([4, 8], [3, 3], 0.375)
    >>> from onlinecls.measures import ClassificationMeasures
    >>> last = ClassificationMeasures(window=4)
    >>> result = progressive_validation(AROWClassifier(), (X, y), measures=last, predictions=True)
    >>> result.predictions[-2:].tolist(), last.error, last.recall("spam")
    (['ham', 'spam'], 0.0, 1.0)
    >>> late = progressive_validation(AROWClassifier(), (X, y), delay=4, predictions=True)
    >>> late.predictions.tolist()
    [None, None, None, None, 'ham', 'spam', 'ham', 'spam']
    """
    check_every(_WHO, every)
    estimator = one_by_one_or_itself(_WHO, estimator)
    if measures is None and scores:
        raise ValueError(f"{_WHO}: measures must be given where scores=True, got None. Give ClassificationMeasures(classes).")
    kind = kind_of(estimator)
    sums = ("squared", "absolute", "updates") if kind == "regressor" else SUMS
    sums = (*sums, "asked") if ask is not None else sums
    curve = Curve(("examples", *sums), measures, alarm, predictions, scores, on_batch)
    if delay is None and moment is not None:
        raise ValueError(f"{_WHO}: delay must be given with moment, got None. Say how long after its row a label comes.")
    is_own = isinstance(estimator, Estimator)
    is_late = delay is not None and not (is_own and moment is None and type(delay) is int and delay in (0, 1))
    has_sets = isinstance(estimator, multilabel.MultiLabelClassifier)
    if isinstance(estimator, StreamPipeline) and isinstance(estimator[-1], multilabel.MultiLabelClassifier):
        raise TypeError(
            f"{_WHO}: estimator must be the learner itself for several labels a row, got a pipeline. Give its steps' rows."
        )
    wanted = "RegressionMeasures" if kind == "regressor" else "MultiLabelMeasures" if has_sets else "ClassificationMeasures"
    if measures is not None and type(measures).__name__ != wanted:
        raise TypeError(f"{_WHO}: measures must be {wanted} for this estimator, got {type(measures).__name__}.")
    if kind == "regressor":
        if y_clean is not None or classes is not None:
            raise ValueError(f"{_WHO}: y_clean and classes must be None for a regressor, got others. They are about labels.")
        if ask is not None:
            raise ValueError(f"{_WHO}: ask must be None for a regressor, got {validate.brief(ask)}. It is about labels.")
        if is_late:
            return _delayed(estimator, stream, None, None, every, curve, Delays(_WHO, moment, delay))
        return _regression(estimator, stream, every, curve)
    if has_sets:
        if y_clean is not None or scores or ask is not None or delay is not None:
            raise ValueError(f"{_WHO}: y_clean, scores, ask and delay must be left out for several labels a row, got others.")
        return _sets(estimator, stream, classes, every, curve)
    if kind not in (None, "classifier"):
        raise TypeError(f"{_WHO}: estimator must be a classifier or a regressor, got {type(estimator).__name__}, a {kind}.")
    if delay is not None and ask is not None:
        raise ValueError(f"{_WHO}: ask must be None where delay is given, got {validate.brief(ask)}. Leave one of them out.")
    if is_late:
        return _delayed(estimator, stream, y_clean, classes, every, curve, Delays(_WHO, moment, delay))
    if ask is not None:
        return _selectively(estimator, stream, y_clean, classes, every, curve, ask)
    return _classes(estimator, stream, y_clean, classes, every, curve)
