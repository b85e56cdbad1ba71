"""The base of the learners of all tasks: their calls, the passes of the kernels over rows, and what is read of a model.

Data flow one way: parameters (choice.py) and input are read and checked here and in the task's own file (classifier.py,
regressor.py), the kernels (`_core`) change the arrays of a state (`_models`), and attributes are views of it.
"""

from __future__ import annotations

from contextlib import contextmanager
from math import nan
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from .._compiled import model
from .._input import validate
from .._input.compat import not_fitted, random_state, warn_caller
from .._models.state import NO_ORDER, NO_WEIGHTS, n_vectors
from .._models.states import STATES
from . import saving
from .choice import Choice, Params, check_range, choose
from .estimator import Estimator, exclusive

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, DTypeLike

    from .._input.types import FloatOrAuto, FloatType, Generator, Matrix, RandomState
    from .._rows import Rows

NO_PREDICTIONS = np.empty(0, np.int32)
MUCH = 1 << 26  # bytes; smaller models are not checked against the free memory
MANY_ROWS = 1 << 10  # rows that are enough to tell the sizes of columns

#: The beginnings of the warnings of `warn_of_skipped` and `warn_of_unlike_columns`, behind the learner's name.
SKIPPED = "updates should stay within the range of"
UNLIKE = "columns of a dense X should be of like sizes"


class Batch(NamedTuple):
    """The rows of a call as the kernels take them: targets are numbers of classes, or real numbers."""

    rows: Rows
    targets: np.ndarray
    weights: np.ndarray = NO_WEIGHTS
    class_weights: np.ndarray = NO_WEIGHTS
    order: np.ndarray = NO_ORDER
    predictions: np.ndarray = NO_PREDICTIONS

    def row_weights(self) -> np.ndarray:
        """Return the weights of the rows times those of their classes; empty: all are 1. (A product may be infinite.)"""
        if not len(self.class_weights):
            return self.weights
        of_classes = self.class_weights[self.targets]
        with np.errstate(over="ignore"):
            return self.weights * of_classes if len(self.weights) else of_classes

    def live(self) -> np.ndarray:
        """Return True for each row of weight > 0."""
        weights = self.row_weights()
        return weights > 0.0 if len(weights) else np.ones(self.rows.n_rows, bool)


def read_weights_of_fit(who: str, sample_weight: ArrayLike | None, n_rows: int) -> np.ndarray:
    """Read the weights of rows, not all of them 0."""
    weights = validate.read_weights(who, sample_weight, n_rows)
    if len(weights) and not weights.any():
        raise ValueError(
            f"{who}: sample_weight must not be 0 for all rows, got {n_rows} zeros. Leave it out for equal weights."
        )
    return weights


class OnlineLearner(saving.Describing, Estimator):
    """Base of the online learners of all tasks: checked calls, passes over rows, and the fitted attributes.

    A task's own class reads the targets, names the kernel (`_task`) and scores held-out rows (`_validate`).
    """

    n_iter_: int
    _estimator_type: str

    # Parameters, where a learner has them.
    fit_intercept: bool
    intercept_scaling: FloatOrAuto
    max_iter: int
    tol: float | None
    shuffle: bool
    random_state: RandomState
    warm_start: bool
    average: bool | int
    early_stopping: bool
    validation_fraction: float
    n_iter_no_change: int
    verbose: int
    dtype: FloatType | None

    _choice: Choice  # what the parameters chose in the last call that learnt

    _params_of: ClassVar[Any] = Params.of  # a function from an algorithm and checked values to the parameters of a pass
    _has_fast_path = True  # False: small calls go the general way, which has steps of the class's own
    _are_seen = False  # True if the rows of a pass were learnt before: probabilities then learn nothing from them
    _flat = False  # True if coef_ has shape (n_features,): there is always a single vector

    if TYPE_CHECKING:  # defined by the tasks

        def _read_targets(self, y: Any, n_rows: int) -> np.ndarray:
            """Return the checked labels or numbers of a call."""

        def _split(self, targets: np.ndarray, generator: Generator) -> tuple[np.ndarray, np.ndarray]:
            """Return the numbers of the rows to learn from, and of those to hold out for early stopping."""

        def _task(self, state: Any, class_weights: np.ndarray) -> tuple[str, bool, bool]:
            """Return the kernel's name, True if labels may join, and True if classes are weighted by their counts."""

        def _validate(self, rows: Rows, targets: np.ndarray, weights: np.ndarray | None) -> float:
            """Return the score of the model on held-out rows; higher is better."""

        def _progress(self) -> str:
            """Return the error so far as text, for the line of an epoch under `verbose`."""

    # --- parameters ----------------------------------------------------------------------------------------------------------

    def _is_another_kind(self, params: Any) -> bool:
        """Return True if these parameters ask for a model of another kind than the present one."""
        dtype = self._choice.values["dtype"]
        return dtype not in (None, self._state.dtype) or not self._state.can_learn_with(params)

    def _changed(self) -> str:
        """Name the parameters whose values the model was not learnt with."""
        given = self._state.given
        names = [name for name, value in self.get_params(deep=False).items() if name in given and given[name] is not value]
        return ", ".join(name for name in names if repr(given[name]) != repr(getattr(self, name))) or "dtype"

    def _check_kind(self, params: Any) -> None:
        """Raise unless a model may go on with these parameters."""
        if self._is_another_kind(params):
            raise ValueError(
                f"{type(self).__name__}: partial_fit must go on with the kind of model it began with, got other values of "
                f"{self._changed()}. Call fit, or start with clone(estimator)."
            )

    def _start(self, params: Any, rows: Rows, n_classes: int) -> Any:
        """Return an empty model of rows like these."""
        self._check_size(params, rows.n_features, n_classes, rows.data.dtype)
        return STATES[params.model](rows.n_features, n_classes, rows.data.dtype, params)

    def _check_size(self, params: Any, n_features: int, n_classes: int, dtype: DTypeLike) -> None:
        """Refuse numbers of features or classes with which no model can begin, as it would not fit in memory."""
        needed, who = STATES[params.model].n_bytes(params, n_features, n_classes, dtype), type(self).__name__
        if needed <= MUCH or needed <= (free := validate.available_memory()):
            return
        size = f"{needed / 1e9:.1f} GB, where {free / 1e9:.1f} GB are free."
        if params.model in ("full_gaussian", "full_potential"):
            matrices = f"{n_vectors(n_classes)} x {n_features + 1} x {n_features + 1} numbers of {np.dtype(dtype)}"
            raise validate.ParameterError(
                f"{who}: covariance='full' must fit in memory, got {matrices}, {size} Use covariance='diagonal', or fewer "
                "features.", "covariance", "covariance=",
            )
        raise validate.ParameterError(
            f"{who}: the model must fit in memory, got {n_classes} classes x {n_features:,} features, {size} "
            f"About {free / needed * n_features:,.0f} features would fit.", "n_features", "features",
        )

    # --- learning ------------------------------------------------------------------------------------------------------------

    def partial_fit(self, X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from rows in the given order, in one pass, starting from the present model.

        Any split of a stream into calls gives the same model, to the last bit.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            CSR with sorted columns (int32 or int64) and C-ordered arrays, of the model's dtype, are read in place; others
            are converted. No other thread may change the arrays of a call while it runs: they are checked, then read.
        y : array-like of shape (n_samples,)
            Targets: finite numbers. A one-class learner uses none.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0 of the rows. A row of weight 0 changes nothing, not even a counter.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If a parameter, X, y or sample_weight is not valid. The model is then unchanged.
        """
        state = self.__dict__.get("_state")
        learnt = 0 if state is None else state.try_partial_fit(self.__dict__, X, y, sample_weight)
        if learnt == 0:
            self._partial_fit(X, y, sample_weight)
        elif learnt != 1:
            warn_of_skipped(self, learnt - 1)
        return self

    def fit(self, X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from scratch (`warm_start`: from the present model) in up to `max_iter` epochs over all rows.

        Epochs end early when the mean loss has not improved by `tol` in `n_iter_no_change` consecutive epochs; with
        `early_stopping`, when the score on held-out rows (accuracy or R^2) has not.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            No other thread may change the arrays of a call while it runs: they are checked, then read.
        y : array-like of shape (n_samples,)
            A classifier's labels, of at least two classes: integers, booleans, strings, or floats that are integers.
            A regressor's targets: finite numbers. A one-class learner uses none.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0 of the rows, not all 0.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If a parameter, X, y or sample_weight is not valid. The model is then unchanged.
        """
        return self._fit(X, y, sample_weight)

    @exclusive
    def _partial_fit(self, X: Matrix, y: Any, sample_weight: ArrayLike | None) -> None:
        """Learn one pass over rows whose targets need no classes; everything is read before the first write."""
        rows, first = self._read_call(X)
        targets = self._read_targets(y, rows.n_rows)
        weights = validate.read_weights(type(self).__name__, sample_weight, rows.n_rows)
        n_skipped = 0 if first else self._state.count("skipped")
        if first:
            self._begin(X, rows, self._start(self._choice.params, rows, 1))
        self._learn(Batch(rows, targets, weights))
        self._end_call(n_skipped)

    @exclusive
    def _fit(
        self, X: Matrix, y: Any, sample_weight: ArrayLike | None, coef_init: ArrayLike | None = None,
        intercept_init: ArrayLike | None = None,
    ) -> Self:
        """Learn in epochs, from scratch or (`warm_start`) from the present model; everything is read before the first write."""
        who = type(self).__name__
        self.__dict__.pop("_choice", None)  # (a learner among the parameters may have changed)
        params = choose(self).params
        self._check_call(X, whole=True)
        again = self.warm_start and self._can_go_on(params)
        generator = random_state(who, self.random_state)
        rows = self._read_rows(X, self._state if again else None)
        validate.require_samples(who, rows)
        check_range(self, params, rows.data.dtype)
        targets, weights = self._read_targets(y, rows.n_rows), read_weights_of_fit(who, sample_weight, rows.n_rows)
        batch, classes = self._batch_of_fit(Batch(rows, targets, weights), again)
        train, held_out = self._split(batch.targets, generator) if self.early_stopping else (NO_ORDER, NO_ORDER)
        batch = batch._replace(order=train)
        state = self._state.closed() if again else self._start(params, rows, 1 if classes is None else len(classes))
        if coef_init is not None or intercept_init is not None:
            level = state.level_with(batch)[0] if params.level else 0.0
            state = with_weights(self, batch, state, coef_init, intercept_init, level)
        if params.level:  # the mean of all rows (and of those before, with `warm_start`)
            state = state.writable()
            state.set_level(*state.level_with(batch))
        n_skipped = state.count("skipped")
        self._begin(X, rows, state, classes)
        self._epochs(batch, held_out, generator)
        warn_of_skipped(self, self._state.count("skipped") - n_skipped)
        return self

    def _epochs(self, batch: Batch, held_out: np.ndarray, generator: Generator) -> None:
        """Learn the rows of a `fit`. held_out : numbers of rows that tell when to stop."""
        rows, weights, train = batch.rows, batch.weights, batch.order
        best, idle, n_train = np.inf, 0, len(train) or rows.n_rows
        validation = rows.chosen(held_out) if len(held_out) else None
        for epoch in range(1, self.max_iter + 1):
            order = train
            if self.shuffle:
                order = generator.permutation(train if len(train) else rows.n_rows).astype(np.int64, copy=False)
            loss_before = self._state.counters[model.COUNTERS["loss"]]
            self._learn(batch._replace(order=order), epoch)
            self.n_iter_ = epoch
            loss = (self._state.counters[model.COUNTERS["loss"]] - loss_before) / n_train
            if validation is not None:
                weighted = len(weights) and weights[held_out].any()
                loss = -self._validate(validation, batch.targets[held_out], weights[held_out] if weighted else None)
            if self.verbose:
                shown = f"mean loss={loss:.6f}" if validation is None else f"validation score={-loss:.6f}"
                print(f"-- Epoch {epoch}: t={self.t_} {self._progress()} updates={self.n_updates_} {shown}")
            if self.tol is not None:
                idle = idle + 1 if loss > best - self.tol else 0
                best = min(best, loss)
                if idle >= self.n_iter_no_change:
                    break

    def _can_go_on(self, params: Any) -> bool:
        """Return True if there is a model of the kind that these parameters choose."""
        return "_state" in self.__dict__ and not self._is_another_kind(params)

    def _check_call(self, X: Matrix, whole: bool) -> None:
        """Check what only some learners require of X in `fit` (whole) or `partial_fit`."""

    def _batch_of_fit(self, batch: Batch, again: bool) -> tuple[Batch, np.ndarray | None]:
        """Return the rows of a `fit` as the kernels take them, and the classes, which a classifier computes here."""
        return batch, None

    def _read_call(self, X: Matrix) -> tuple[Rows, bool]:
        """Return (rows, True at the first call) for a `partial_fit`, checked against the present model."""
        params, state = choose(self).params, self.__dict__.get("_state")
        self._check_call(X, whole=False)
        is_new = state is None or state.asked[:1] != (params,) or self._choice.values["dtype"] not in (None, state.dtype)
        if is_new and state is not None:
            self._check_kind(params)
        rows = self._read_rows(X, state)
        if is_new:
            check_range(self, params, rows.data.dtype)
        return rows, state is None

    def _read_rows(self, X: Matrix, state: Any) -> Rows:
        """Return X as rows of a model's features and dtype; None: of the first call, in which X determines both."""
        who = type(self).__name__
        rows = validate.read_rows(who, X, self._choice.values["dtype"] if state is None else state.dtype)
        if state is not None:
            self._check_features(X, rows.n_features, state)
        return rows

    def _begin(
        self, X: Matrix, rows: Rows, state: Any, classes: np.ndarray | None = None, is_open: bool = False
    ) -> None:
        """Set the model, usually an empty one; the estimator is unchanged until here. is_open : classes may join."""
        if "_state" not in self.__dict__ and rows.is_dense and rows.n_rows > 1:
            warn_of_unlike_columns(type(self).__name__, rows.part(0, min(rows.n_rows, MANY_ROWS)).array())
        self._take_features(X, rows.n_features)
        state.asked = ()
        state.close_small_calls()
        state.classes, state.is_open, state.sparse_coef = classes, is_open, None
        self.n_iter_ = 1
        self._state = state  # (last: readers in other threads find a whole model)

    def _learn(self, batch: Batch, epoch: int = 0) -> None:
        """Learn rows with the task's kernel: the one place where a model changes. (Only classes are predicted on the way.)

        epoch : of a `fit`, which holds the level of the targets: probabilities learn from the rows of the first alone.
        """
        state = self._state = self._state.writable()
        state.sparse_coef = None
        if not batch.rows.n_rows or not (batch.order is NO_ORDER or len(batch.order)):
            return
        if self._choice.params.joint and state.n_none:  # ("none of these" is no class of a joint problem)
            state = self._state = state.closed()
        task, is_open, balanced = self._task(state, batch.class_weights)
        asked = self._choice.params, is_open, balanced
        if state.asked != asked:
            state.params, state.asked = asked[0].of_pass(state, is_open, balanced), asked
            state.given = dict(zip(self._parameter_names(), self._choice.given, strict=True))
        state.are_seen, state.holds_level = self._are_seen or epoch > 1, epoch > 0
        state.learn(model.TASKS[task], *batch)

    def _end_call(self, n_skipped: int) -> None:
        """End a `partial_fit` on the general path, after which small calls may take the short one. n_skipped : of before it."""
        state, choice = self._state, self._choice
        is_ready = self._has_fast_path and not self._are_seen and getattr(self, "class_weight", None) is None
        is_ready = is_ready and (state.classes is None or 1 < len(state.classes) == len(state.counts))
        if is_ready and state.asked and state.asked[0] == choice.params:
            same = dict(zip(self._parameter_names(), choice.given, strict=True))
            same["feature_names_in_"] = self.__dict__.get("feature_names_in_")
            state.open_small_calls(same, self._lock, model.TASKS[self._task(state, NO_WEIGHTS)[0]], state.classes)
        elif self._has_fast_path:
            state.close_small_calls()
        if (n := state.count("skipped") - n_skipped) > 0:
            warn_of_skipped(self, n)

    # --- reading -------------------------------------------------------------------------------------------------------------

    def _fitted_state(self) -> Any:
        if "_state" not in self.__dict__:
            raise not_fitted(type(self).__name__)
        return self._state

    def _decide(self, X: Matrix) -> tuple[np.ndarray, Any]:
        """Return the scores of X, (rows, vectors), and the model.

        Callers take all else from the same model: the estimator may have another one by then, with other classes.
        """
        state = self._fitted_state()
        if self._has_fast_path:
            found = state.try_decision(X, self.__dict__.get("feature_names_in_"))
            if found is not None:
                return found if found.shape[1] <= len(state.counts) else of_classes(found, state), state
        return self._scores(self._read_rows(X, state), state), state

    def _scores(self, rows: Rows, state: Any) -> np.ndarray:
        scores = np.empty((rows.n_rows, state.n_columns))
        state.decision(rows, scores)
        return of_classes(scores, state)

    @property
    def t_(self) -> int:
        """Rounds: rows of weight > 0 consumed since the model began."""
        return self._fitted_state().count("t")

    @property
    def scale_(self) -> float:
        """s: rows are learnt as z = x / s, and the parameters' numbers are in units of z.

        With ``scale="auto"`` the power of two nearest to the geometric mean of ||x|| over the first 16 rows, or those so far: of
        weight > 0, and not all zeros. NaN before the first.
        """
        return self._fitted_state().scale or nan

    @property
    def intercept_scaling_(self) -> float:
        """Value of the constant feature in z; NaN before the first row."""
        state = self._fitted_state()
        return state.constant if state.scale else nan

    @property
    def n_updates_(self) -> int:
        """Rounds that changed the model."""
        return self._fitted_state().count("updates")

    @property
    def n_skipped_(self) -> int:
        """Rounds skipped because the update would overflow the dtype."""
        return self._fitted_state().count("skipped")


def of_classes(numbers: np.ndarray, state: Any) -> np.ndarray:
    """Return a number for each row and vector without those of "none of these"."""
    return np.ascontiguousarray(numbers[:, :-1]) if state.n_none else numbers


def warn_of_skipped(learner: Any, n: int) -> None:
    """Warn of n rows that a call has skipped."""
    if n > 0:
        warn_caller(
            f"{type(learner).__name__}: {SKIPPED} {learner._state.dtype}, got {n:,} row{'s' * (n > 1)} whose updates would leave "
            "it and were skipped (n_skipped_). Standardise the columns (scikit-learn's StandardScaler) or divide X by a row's "
            "length; if that does not help, take smaller steps or another learner."
        )


def warn_of_unlike_columns(who: str, table: np.ndarray) -> None:
    """Warn once, before a table's first rows are learnt, of columns whose values other than 0 differ much in size."""
    counts = np.count_nonzero(table, axis=0)
    with np.errstate(over="ignore", under="ignore"):
        squares = np.einsum("ij,ij->j", table, table, dtype=np.float64)[counts > 0]
    sizes = np.sqrt(squares / counts[counts > 0])
    if len(sizes) > 1 and sizes.max() > 100.0 * sizes.min():
        warn_caller(
            f"{who}: {UNLIKE}, got root mean squares from {sizes.min():.2g} to {sizes.max():.2g}: the largest columns decide "
            "alone. Put onlinecls.tables.TableVectorizer or scikit-learn's StandardScaler before the learner."
        )


# --- given weights -------------------------------------------------------------------------------------------------------------


def with_weights(
    learner: Any, batch: Batch, state: Any, coef_init: ArrayLike | None, intercept_init: ArrayLike | None, level: float,
) -> Any:
    """Return a state that starts from given weights of X, with the scale of its first rows. level : of the targets, which the
    intercept includes."""
    state = state.copy()
    state.tell_scale(batch.rows, np.flatnonzero(batch.live()))
    state.hold_scale()
    first = state.view[:, 0]
    before = first.copy()
    for name, given in (("coef_init", coef_init), ("intercept_init", intercept_init)):
        if given is not None:
            set_weights(learner, state, name, given, level)
    if len(state.correction):  # the average's sums count this as a step
        rounds = max(state.count("t") - int(learner.average) + 1, 0)
        state.correction += rounds * (first.astype(np.float64) - before).reshape(-1)
    return state


def set_weights(learner: Any, state: Any, name: str, given: ArrayLike, level: float) -> slice:
    """Set weights of X, as `coef_` or `intercept_` show them, in a model whose scale stays; return which features they are of."""
    who, n, k = type(learner).__name__, state.n_features, state.n_columns - state.n_none
    is_coef = name.startswith("coef")
    shape, features = ((k, n), slice(n)) if is_coef else ((k,), slice(n, None))
    values = validate.read_numbers(f"{who}: {name}", given)
    if values.shape != shape and not (k == 1 and values.shape == shape[1:]):
        wanted = shape[1:] if learner._flat and is_coef else shape
        raise ValueError(f"{who}: {name} must have shape {wanted}, got {values.shape}.")
    values = values.reshape(shape)
    values = values * state.scale if is_coef else (values - level) / (state.constant or 1.0)
    numbers = state.numbers_of(values.T.reshape(-1, k), features)
    if not np.isfinite(numbers).all() or np.abs(numbers).max(initial=0.0) > np.finfo(state.dtype).max / 4:
        raise ValueError(f"{who}: {name} must be finite and within {state.dtype}, got a value that is not.")
    if is_coef or state.constant:
        state.primary[features, :k] = numbers
        state.counters[model.COUNTERS["max_abs_weight"]] = np.abs(state.primary).max()
    return features


# --- for the command line, evaluation and bounds, besides public attributes ----------------------------------------------------


def state_of(learner: Any) -> Any:
    """Return a fitted learner's model; for an `OnlineToBatch`, that of the wrapped learner."""
    return getattr(learner, "estimator_", learner)._fitted_state()


def check_parameters(learner: OnlineLearner) -> None:
    """Raise the ValueError that `fit` would raise for a parameter."""
    choose(learner)


@contextmanager
def learning(learner: OnlineLearner, again: bool) -> Iterator[None]:
    """Mark the rows learnt inside the context as learnt before (`again`) or new: probabilities learn from new rows only."""
    learner._are_seen, state = again, learner.__dict__.get("_state")
    if isinstance(state, model.Model):
        state.close_small_calls()
    try:
        yield
    finally:
        del learner._are_seen
