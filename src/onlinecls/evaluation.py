"""Learners on a stream: each row predicted, then learnt."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Number
from typing import TYPE_CHECKING, Any

import numpy as np

from ._compiled.model import COUNTERS
from ._estimators.estimator import Estimator
from ._estimators.learner import state_of
from ._estimators.tasks import OnlineClassifier, OnlineRegressor
from ._input import validate
from ._input.compat import issparse, kind_of, random_state
from ._pipeline import StreamPipeline, is_fitted, live_rows, n_rounds, names_of, stays
from ._rows import Rows
from .measures import Measures
from .text import lasting, n_rows_of, part_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ._input.types import XY, RandomState, XYWeight

__all__ = ["Comparison", "ProgressiveResult", "compare", "progressive_validation"]


@dataclass(frozen=True, kw_only=True)
class ProgressiveResult:
    """Learning curve from `progressive_validation`. Arrays have one number for each point; the last point is the end.

    Attributes
    ----------
    examples : ndarray of int64
        Rows of weight > 0 predicted and learnt so far.
    mistakes : ndarray of int64
        Number of them that were predicted wrongly; None for a regressor.
    squared, absolute : ndarray of float64
        Of a regressor: sums of the squared and of the absolute errors of its predictions so far, unweighted.
    updates : ndarray of int64 or None
        Number of rows that changed the model; None for a learner that does not count them.
    seconds : ndarray of float64
        Time spent predicting and learning so far, without the reading of the stream.
    by_row : bool
        True: each row was predicted by the model of all rows before it. False: a batch was predicted, then learnt.
    predictions : ndarray of object, shape (n_rows,), or None
        What was predicted for each row before it was learnt, None without a prediction (a weight of 0, or no classes yet).
    """

    examples: np.ndarray
    seconds: np.ndarray
    by_row: bool
    updates: np.ndarray | None = None
    predictions: np.ndarray | None = None
    mistakes: Any = None
    squared: Any = None
    absolute: Any = None

    @property
    def error(self) -> np.ndarray:
        """Progressive error at each point: mistakes / examples, in [0, 1]; of a regressor the mean absolute error."""
        return (self.absolute if self.mistakes is None else self.mistakes) / self.examples

    @property
    def error_since_last(self) -> np.ndarray:
        """Error of the examples since the previous point (at the first: since the start)."""
        return np.diff(self.absolute if self.mistakes is None else self.mistakes, prepend=0) / np.diff(self.examples, prepend=0)

    @property
    def mse(self) -> np.ndarray:
        """Progressive mean squared error of a regressor at each point."""
        return self.squared / self.examples

    @property
    def progressive_error(self) -> float:
        """Error over the whole stream: the last of `error`."""
        return float(self.error[-1])


# --- one learner on a stream ---------------------------------------------------------------------------------------------------


class _Run:
    """A learner on a stream, and its curve. There are four ways to predict and learn a part of the rows:

    "kernel" : a classifier of this library, alone or behind steps that learn nothing, predicts inside its loop, row by row.
    "sums" : a regressor of this library sums its errors inside its loop.
    "rows" : pipelines, classes that extend this library's, and whatever predictions or scores of single rows are asked of.
    "batches" : learners of other libraries predict a part, which is no longer than what came before it, then learn it.
    """

    def __init__(
        self, who: str, learner: Any, stream: Any, classes: Any, every: Any, measures: Any = None, predictions: bool = False,
        scores: bool = False, kinds: tuple = (None, "classifier", "regressor"),
    ) -> None:
        _require(who, learner, kinds)
        if isinstance(every, bool) or not isinstance(every, (int, np.integer)) or every < 1:
            raise ValueError(f"{who}: every must be an integer >= 1, got every={every!r}.")
        self.who, self.learner, self.every, self.measures = who, learner, int(every), measures
        self.is_pipeline, self.is_regressor = isinstance(learner, StreamPipeline), kind_of(learner) == "regressor"
        self.scores = scores and not self.is_regressor
        self.inner = learner[-1] if self.is_pipeline else learner
        self.by_row = self.is_pipeline or isinstance(learner, OnlineClassifier | OnlineRegressor)
        self.counts = isinstance(self.inner, OnlineClassifier | OnlineRegressor)
        self.classes = None if self.is_regressor else self._all_classes(stream, classes)
        self.way = self._way(measures is not None or predictions) if self.by_row else "batches"
        self.names = ("examples", "squared", "absolute") if self.is_regressor else ("examples", "mistakes")
        self.totals, self.seconds, self.n_rows = np.zeros(len(self.names)), 0.0, 0
        self.points: list[tuple] = []
        self.said: list[np.ndarray] | None = [] if predictions else None
        self.n_updates = self.inner.n_updates_ if self.counts and is_fitted(self.inner) else 0
        self.before = self._sums() if self.way == "sums" else self.totals

    def _all_classes(self, stream: Any, classes: Any) -> Any:
        """Return the classes for the first `partial_fit`; raise ValueError if they must be named."""
        who, fitted = self.who, hasattr(self.learner, "classes_")
        if not (fitted or classes is not None or isinstance(self.inner, Estimator)):
            if not _is_one_batch(stream):
                needed = f"all labels for {type(self.learner).__name__} on a stream of batches"
                raise ValueError(f"{who}: classes must name {needed}, got None. Its first partial_fit needs them.")
            classes = np.unique(validate.read_labels(who, stream[1], None))
        if self.scores and not fitted and classes is None:
            raise ValueError(f"{who}: classes must name all labels where scores=True, got None. A row has a score for each.")
        return classes

    def _way(self, asked: bool) -> str:
        """Return the way of a learner of this library: a short one only where all its methods are the library's own."""
        used = [*([self.learner] if self.is_pipeline else []), self.inner]
        names = [(each, name) for each in used for name in ("partial_fit", "predict", "decision_function") if hasattr(each, name)]
        is_own = all(getattr(each, name).__module__.startswith(f"{__package__}.") for each, name in names)
        if not is_own or self.scores or (self.is_pipeline and not all(stays(step) for _, step in self.learner.steps[:-1])):
            return "rows"
        if isinstance(self.inner, OnlineClassifier):
            return "kernel"
        return "rows" if asked or self.is_pipeline else "sums"

    def _sums(self) -> np.ndarray:
        """Return the rows, squared and absolute errors that a regressor of this library has counted."""
        names = "t", "squared", "absolute"
        return state_of(self.inner).counters[[COUNTERS[name] for name in names]] if is_fitted(self.inner) else np.zeros(3)

    def learn(self, X: Any, y: np.ndarray, truth: np.ndarray, weights: np.ndarray) -> None:
        """Predict and learn a batch in parts, which end where a point of the curve is due."""
        n, start = len(y), 0
        if self.way == "rows" and self.is_pipeline and type(self.learner[0]).__name__ == "TableVectorizer":
            X = _as_dicts(X)
        while start < n:
            stop = min(n, start + self.every - self.n_rows % self.every)
            if self.way == "batches":
                stop = min(stop, start + max(self.n_rows, 1))
            elif self.way == "rows" and not _has_learnt(self.inner):  # (the first rows are not predicted)
                stop = start + 1
            rows = slice(start, stop)
            self._learn_part(part_of(X, start, stop), y[rows], truth[rows], weights[rows])
            self.n_rows += stop - start
            start = stop
            if self.n_rows % self.every == 0:
                self.mark()

    def _learn_part(self, X: Any, y: np.ndarray, truth: np.ndarray, weights: np.ndarray) -> None:
        begun = time.perf_counter()
        if self.way == "sums":
            self.learner.partial_fit(X, y, **_weighted(weights))
            self.totals = self._sums() - self.before
            self.seconds += time.perf_counter() - begun
            return
        predicted, known, live, scored = (self._in_kernel if self.way == "kernel" else self._by_methods)(X, y, weights)
        self.seconds += time.perf_counter() - begun
        if self.is_regressor:
            errors = (truth - predicted)[live]
            self.totals += len(errors), errors @ errors, np.abs(errors).sum()
        else:
            wrong = live & ~(known & np.asarray(predicted == truth, bool))
            self.totals += np.count_nonzero(live), np.count_nonzero(wrong)
        said = np.full(len(y), None, object)
        said[known & live] = predicted[known & live]
        if self.said is not None:
            self.said.append(said)
        if self.measures is not None and live.any():
            self.measures.update(truth[live], said[live], *scored, **_weighted(weights[live] if len(weights) else weights))

    def _in_kernel(self, X: Any, y: np.ndarray, weights: np.ndarray) -> tuple:
        inner, begins = self.inner, not _has_learnt(self.inner)
        for _, step in self.learner.steps[:-1] if self.is_pipeline else ():
            X = step.transform(X)
        classes = None if inner.__sklearn_is_fitted__() else self.classes
        codes = np.full(len(y), -2, np.int32)  # (rows of weight 0 keep it)
        inner._partial_fit(X, y, weights if len(weights) else None, classes, codes)
        live, known = codes > -2, codes >= 0
        if begins and self.is_pipeline and live.any():  # (which predicts nothing before it has learnt a row)
            known[live.argmax()] = False
        return inner.classes_[np.maximum(codes, 0)] if known.any() else y, known, live, ()

    def _by_methods(self, X: Any, y: np.ndarray, weights: np.ndarray) -> tuple:
        """Predict rows, then learn them, all at once or one by one, by the learner's public methods."""
        learner, n, has_learnt = self.learner, len(y), _has_learnt(self.inner)
        live = live_rows(self.inner, y, weights if len(weights) else None)
        predicted, named = np.zeros(n, float if self.is_regressor else object), {}
        if not has_learnt and not (self.is_regressor or self.classes is None or is_fitted(self.inner)):
            if isinstance(learner, OnlineClassifier):  # (which can then predict)
                learner.partial_fit(part_of(X, 0, 0), y[:0], self.classes)
            else:
                named = {"classes": self.classes}
        predicts = has_learnt or (isinstance(learner, OnlineClassifier) and is_fitted(learner))
        found: list[tuple] = []
        size = 1 if self.way == "rows" else n
        for start in range(0, n, size):
            rows, part = slice(start, start + size), part_of(X, start, start + size)
            if predicts and live[rows].any():
                predicted[rows] = learner.predict(part)
                if self.scores and has_learnt:
                    asked = [learner.decision_function(part).reshape(n_rows_of(part), -1)]
                    asked += [learner.predict_proba(part)] if hasattr(learner, "predict_proba") else []
                    found.append(tuple(each[live[rows]] for each in asked))
            if not len(weights) or weights[rows].any():  # (scikit-learn's refuse rows that all have a weight of 0)
                learner.partial_fit(part, y[rows], **named, **_weighted(weights[rows]))
        if not has_learnt and self.is_regressor and live.any() and self.counts and state_of(self.inner).params.level:
            predicted[live.argmax()] = y[live.argmax()]  # a level begins at the first target, which thus counts as predicted
        known = np.full(n, self.is_regressor or (predicts and bool(live.any())))
        return predicted, known, live, tuple(map(np.concatenate, zip(*found, strict=True)))

    def mark(self) -> None:
        """Add a point to the curve, if any row since the last one counts."""
        if self.totals[0] > (self.points[-1][0] if self.points else 0):
            updates = self.inner.n_updates_ - self.n_updates if self.counts else 0
            self.points.append((*self.totals, updates, self.seconds))

    def result(self) -> ProgressiveResult:
        self.mark()
        if not self.points:
            raise ValueError(f"{self.who}: stream must have a row of weight > 0, got {self.n_rows} rows. Give it rows to learn.")
        found: dict[str, Any] = dict(zip((*self.names, "updates", "seconds"), np.array(self.points).T, strict=True))
        for name in {"examples", "mistakes", "updates"} & found.keys():
            found[name] = found[name].astype(np.int64)
        found["updates"] = found["updates"] if self.counts else None
        found["predictions"] = None if self.said is None else np.concatenate([np.zeros(0, object), *self.said])
        return ProgressiveResult(by_row=self.by_row, **found)


def _has_learnt(learner: Any) -> bool:
    """Return True if a learner has learnt a row. (Classes that are named make one of this library fitted before that.)"""
    return n_rounds(learner) > 0 if isinstance(learner, Estimator) else is_fitted(learner)


def _weighted(weights: np.ndarray) -> dict[str, np.ndarray]:
    return {"sample_weight": weights} if len(weights) else {}


def _require(who: str, learner: Any, kinds: tuple) -> None:
    if isinstance(learner, type):
        raise TypeError(f"{who}: estimator must be an object, got the class {learner.__name__}. Construct one.")
    lacking = [method for method in ("partial_fit", "predict") if not hasattr(learner, method)]
    if lacking:
        came = f"{type(learner).__name__} without {lacking[0]}"
        raise TypeError(f"{who}: estimator must have partial_fit and predict, got {came}. It must learn in parts.")
    if kind_of(learner) not in kinds:
        needed = " or ".join(f"a {kind}" for kind in kinds[1:])
        raise TypeError(f"{who}: estimator must be {needed}, got {type(learner).__name__}, a {kind_of(learner)}.")


# --- rows ----------------------------------------------------------------------------------------------------------------------


def _is_one_batch(stream: Any) -> bool:
    return isinstance(stream, tuple) and len(stream) > 1 and not isinstance(stream[0], tuple)


def _as_dicts(X: Any) -> Any:
    """Return the rows of a frame as dicts, of which a TableVectorizer makes the same rows in less time than of its parts."""
    if hasattr(X, "iloc"):
        return X.to_dict("records")
    return X.to_dicts() if hasattr(X, "to_dicts") else X.to_pylist() if hasattr(X, "to_pylist") else X


def _batches(who: str, stream: Any, read: Callable[[str, Any, int], np.ndarray], tables: bool) -> Iterator[tuple]:
    """Yield the batches of a stream; one pair (X, y) or triple (X, y, weight) is a stream of one.

    read : reader of y. tables : True if X may be of any kind that a pipeline's steps read.
    """
    stream = [stream] if _is_one_batch(stream) else stream
    for batch in stream if isinstance(stream, Iterable) else [stream]:
        if not isinstance(batch, tuple) or len(batch) not in (2, 3):
            came = f"a tuple of {len(batch)}" if isinstance(batch, tuple) else type(batch).__name__
            raise ValueError(
                f"{who}: stream must be (X, y), (X, y, weight) or an iterable of such tuples, got {came} for a batch. "
                f"Give arrays as {who}(..., (X, y))."
            )
        X, y, weight = (*batch, None)[:3]
        if tables and isinstance(y, (str, bytes, Number, np.generic)):  # a row and its label, as river's streams have them
            X, y, weight = [X], [y], None if weight is None else [weight]
        X = lasting(X)
        if issparse(X) and not isinstance(X, Rows):
            X = validate.as_csr(who, X)
        elif not tables and not hasattr(X, "shape"):
            X = validate.as_array(f"{who}: X", X, "rows of equal length")
        n_rows = 0 if np.shape(X) == () and hasattr(X, "ndim") else n_rows_of(X)
        yield X, read(who, y, n_rows), validate.read_weights(who, weight, n_rows)


def _learn_all(who: str, runs: Sequence[_Run], stream: Any, y_clean: Any) -> None:
    """Read a stream once, and have each of several learners predict and learn its rows."""
    clean = None if y_clean is None else validate.read_labels(who, y_clean, None, "y_clean")
    read, at = validate.read_targets if runs[0].is_regressor else validate.read_labels, 0
    for X, y, weights in _batches(who, stream, read, any(run.is_pipeline for run in runs)):
        truth = y if clean is None else clean[at : at + len(y)]
        at += len(y)
        if len(truth) != len(y):
            break
        validate.comparable(who, truth, y)
        for run in runs:
            run.learn(X, y, truth, weights)
    if clean is not None and len(clean) != at:
        raise ValueError(
            f"{who}: y_clean must have a label for every row of the stream, got {len(clean)} labels for {at} rows or more. Give "
            "one array of the labels of all its rows."
        )


def _rows_of(X: Any, numbers: np.ndarray) -> Any:
    """Return the rows of these numbers of a matrix, an array, a table, a list or `Rows`, copied."""
    if hasattr(X, "items") and not hasattr(X, "iloc"):
        return {name: _rows_of(values, numbers) for name, values in X.items()}
    if isinstance(X, Rows) or hasattr(X, "column_names"):
        return (X.chosen if isinstance(X, Rows) else X.take)(numbers)
    return X.iloc[numbers] if hasattr(X, "iloc") else X[numbers] if hasattr(X, "shape") else [X[k] for k in numbers.tolist()]


def _in_orders(who: str, stream: Any, y_clean: Any, orders: Any, seed: Any) -> Iterator[tuple[Any, Any]]:
    """Yield a stream and its clean labels, in random orders of the rows; as they are where orders is None."""
    if orders is None:
        yield stream, y_clean
        return
    if isinstance(orders, bool) or not isinstance(orders, (int, np.integer)) or orders < 1:
        raise ValueError(f"{who}: orders must be None or an integer >= 1, got orders={orders!r}.")
    if not _is_one_batch(stream):
        needed = "one (X, y) or (X, y, weight) where orders is given"
        raise ValueError(f"{who}: stream must be {needed}, got {type(stream).__name__}. Its rows are put in order as a whole.")
    X, generator = lasting(stream[0]), random_state(who, seed)
    X = validate.as_csr(who, X) if issparse(X) and not isinstance(X, Rows) else X
    columns, n_rows = [*stream[1:], y_clean], n_rows_of(X)
    if any(column is not None and (not hasattr(column, "__len__") or len(column) != n_rows) for column in columns):
        raise ValueError(f"{who}: X and y must have the same number of rows where orders is given, got {n_rows} in X.")
    for _ in range(orders):
        order = generator.permutation(n_rows)
        *shuffled, clean = (None if column is None else _rows_of(column, order) for column in columns)
        yield (_rows_of(X, order), *shuffled), clean


# --- what users call -----------------------------------------------------------------------------------------------------------


def progressive_validation(
    estimator: Any, stream: XY | XYWeight | Iterable[XY | XYWeight], y_clean: ArrayLike | None = None, *,
    classes: ArrayLike | None = None, every: int = 1000, measures: Measures | None = None, predictions: bool = False,
    scores: bool = False,
) -> ProgressiveResult:
    """Stream rows once through a learner, each of them predicted and then learnt, and count the mistakes.

    The progressive (prequential) error after n rows is (1/n) |{t <= n: h_{t-1}(x_t) != y_t}|, with h_{t-1} the classifier that
    has learnt the t - 1 rows before: an unbiased estimate of the error from all rows, without holding any out.

    Parameters
    ----------
    estimator : object
        Anything with `partial_fit` and `predict`. It learns in place, from its present state.
    stream : tuple (X, y) or (X, y, sample_weight), or iterable of such tuples
        The rows, in one batch or many (`onlinecls.streams.read` makes them of files). For a pipeline, a tuple may also have a
        single row and its label.
    y_clean : array-like of shape (n_rows of the stream,), default=None
        Labels to count mistakes against, while y, which may be noisy, is learnt. None: y.
    classes : array-like of shape (n_classes,), default=None
        All labels that will appear. None: labels join as they appear; a learner of another library gets those of one (X, y).
    every : int, default=1000
        Rows of the stream between two points of the curve, >= 1. Larger batches are cut there.
    measures : onlinecls.measures.Measures, default=None
        Updated with every row; of a regressor ``Measures(numbers=True)``.
    predictions : bool, default=False
        Keep the prediction of every row in ``result.predictions``.
    scores : bool, default=False
        Give `measures` the scores and probabilities of each row too, for the AUC and the log loss. Name the classes.

    Returns
    -------
    result : ProgressiveResult
        The curve; `result.progressive_error` is the end of it (a regressor's: the mean absolute error).

    Raises
    ------
    TypeError
        If the estimator is neither a classifier nor a regressor, or has no `partial_fit`.
    ValueError
        If the stream has no row of weight > 0, or a batch is not valid. The rows before it have been learnt.

    Notes
    -----
    Learners of this library predict inside the kernel; pipelines, and classes that extend this library's, row by row by their
    public methods. Others, and OnlineToBatch, predict a batch, at most `every` rows and as many as have been seen, then learn it.
    Rows of weight 0 are neither learnt nor counted. A row that could not be predicted is a mistake: the first one of a label that
    is not in `classes`, of a pipeline, of another library's learner.

    Examples
    --------
    >>> from onlinecls import AROWClassifier, progressive_validation
    >>> X, y = [[1.0, 0.0], [0.0, 1.0]] * 4, ["ham", "spam"] * 4
    >>> result = progressive_validation(AROWClassifier(), (X, y), every=4)
    >>> result.examples.tolist(), result.mistakes.tolist(), result.progressive_error
    ([4, 8], [3, 3], 0.375)
    """
    who = "progressive_validation"
    if measures is None and scores:
        raise ValueError(f"{who}: measures must be given where scores=True, got None. Give Measures(classes).")
    run = _Run(who, estimator, stream, classes, every, measures, predictions, scores)
    if measures is not None and measures.numbers != run.is_regressor:
        raise ValueError(f"{who}: measures must be Measures(numbers={run.is_regressor}) for this estimator, got others.")
    if run.is_regressor and (y_clean is not None or classes is not None):
        raise ValueError(f"{who}: y_clean and classes must be None for a regressor, got others. They are about labels.")
    _learn_all(who, [run], stream, y_clean)
    return run.result()


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Learners that were compared on a stream, from `onlinecls.compare`. It prints as a table.

    Attributes
    ----------
    names : list of str
        Learners, fewest mistakes first; `best` is the first of them.
    curves : dict of str to list of ProgressiveResult
        Learning curve of each in each order of the rows (one, unless `orders` was given), for `plotting.ProgressiveDisplay`.
    errors, spread : dict of str to float
        Mean of each one's progressive error over the orders, and its standard deviation (NaN of a single order).
    seconds : dict of str to float
        Time that each has spent predicting and learning, in all orders.
    """

    names: list[str]
    curves: dict[str, list[ProgressiveResult]]
    errors: dict[str, float]
    spread: dict[str, float]
    seconds: dict[str, float]

    @property
    def best(self) -> str:
        """The learner with the fewest mistakes."""
        return self.names[0]

    def __repr__(self) -> str:
        width = max(8, *map(len, self.names))
        lines = [f"{'learner':<{width}}  {'error, %':>14}  {'seconds':>8}"]
        for name in self.names:
            error = f"{100 * self.errors[name]:.2f}"
            error += f" ± {100 * self.spread[name]:.2f}" if len(self.curves[name]) > 1 else ""
            lines.append(f"{name:<{width}}  {error:>14}  {self.seconds[name]:>8.3g}")
        return "\n".join(lines)


def compare(
    learners: Mapping[str, Any] | Sequence[Any], stream: XY | XYWeight | Iterable[XY | XYWeight],
    y_clean: ArrayLike | None = None, *, classes: ArrayLike | None = None, every: int = 1000, orders: int | None = None,
    random_state: RandomState = 0,
) -> Comparison:
    """Stream rows once through several classifiers, each row predicted and then learnt by all of them, and count mistakes.

    Parameters
    ----------
    learners : dict of str to classifier, or list of classifiers
        By their names in the result (of a list, by their classes): any that `progressive_validation` takes. They learn in place.
    stream : tuple (X, y) or (X, y, sample_weight), or iterable of such tuples
        As in `progressive_validation`, as are y_clean, classes and every. It is read once.
    orders : int >= 1, default=None
        Number of random orders of the rows of one (X, y) to learn them in, by copies of the learners. None: as they come.
    random_state : int, RandomState, Generator or None, default=0
        Seed of the orders.

    Returns
    -------
    found : Comparison
        Errors, their spread over the orders, and curves; it prints as a table.

    Raises
    ------
    TypeError
        If a learner is no classifier, or cannot learn in parts.
    ValueError
        If there is no learner or one has two names, a parameter is out of range, or a batch is not valid.

    Examples
    --------
    >>> from onlinecls import AdaGradClassifier, AROWClassifier, compare
    >>> X, y = [[1.0, 0.0], [0.0, 1.0]] * 500, ["ham", "spam"] * 500
    >>> sparse = AdaGradClassifier(update="dual_averaging", l1=10.0)
    >>> found = compare({"sparse": sparse, "arow": AROWClassifier()}, (X, y))
    >>> found.best, found.errors["arow"]
    ('arow', 0.003)
    """
    who = "compare"
    if isinstance(learners, list | tuple):
        learners = dict(zip(names_of(learners), learners, strict=True))
    if not isinstance(learners, Mapping) or not learners:
        raise ValueError(f"{who}: learners must be a list of classifiers, or a dict of them by their names, got {learners!r}.")
    if len({*map(id, learners.values())}) < len(learners):
        raise ValueError(f"{who}: learners must be different objects, got one twice among {list(learners)}. Give a copy of it.")
    curves: dict[str, list[ProgressiveResult]] = {name: [] for name in learners}
    for rows, clean in _in_orders(who, stream, y_clean, orders, random_state):
        learning = learners if orders is None else copy.deepcopy(learners)
        runs = {name: _Run(who, each, rows, classes, every, kinds=(None, "classifier")) for name, each in learning.items()}
        _learn_all(who, list(runs.values()), rows, clean)
        for name, run in runs.items():
            curves[name].append(run.result())
    errors = {name: np.array([each.progressive_error for each in found]) for name, found in curves.items()}
    spread = {name: float(each.std(ddof=1)) if len(each) > 1 else float("nan") for name, each in errors.items()}
    means = {name: float(each.mean()) for name, each in errors.items()}
    seconds = {name: float(sum(each.seconds[-1] for each in found)) for name, found in curves.items()}
    return Comparison(sorted(curves, key=means.__getitem__), curves, means, spread, seconds)
