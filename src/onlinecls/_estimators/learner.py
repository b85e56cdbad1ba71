"""The base of the learners of all tasks: the way of a call, and what is read of a model.

Data flow one way: parameters (by the registry) and input are read and checked here and in the task's own file (classifier.py,
regressor.py), the kernels (`_core`) change the arrays of a state (`_models`), and attributes are views of it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import contextmanager
from functools import wraps
from math import nan
from operator import is_
from typing import TYPE_CHECKING, Any, ClassVar, Concatenate, ParamSpec, Self, TypeVar

import numpy as np

from .._compiled import model
from .._input import validate
from .._input.compat import not_fitted, warn_caller
from .._models.state import NO_ORDER, n_vectors
from .._models.states import STATES
from .._registry import AUTO, Params, select
from .._rows import Rows
from . import saving
from .estimator import Estimator
from .fitting import Batch, fit, warn_of_skipped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, DTypeLike

    from .._input.types import FloatType, Matrix

    E = TypeVar("E", bound="OnlineLearner")
    T = TypeVar("T")
    P = ParamSpec("P")

MUCH = 1 << 26  # bytes; smaller models are not checked against the free memory
MANY_ROWS = 1 << 10  # rows that are enough to tell the sizes of columns
NO_COUNTERS = np.zeros(model.N_COUNTERS)
_ROUNDS = model.COUNTERS["t"]
_SAME_COLUMNS = "Give rows with the columns of the first call, or start a new model."

UNLIKE = "columns of a dense X should be of like sizes"  # the beginning of a warning, behind the learner's name


def exclusive(learn: Callable[Concatenate[E, P], T]) -> Callable[Concatenate[E, P], T]:
    """Decorate a method that learns: one thread at a time runs it, and an error leaves the estimator unchanged.

    Rows that the model has learnt by then stay learnt. (Ctrl-C is not such an error: what was learnt before it stays.)
    """

    @wraps(learn)
    def in_one_thread(self: E, *arguments: P.args, **named: P.kwargs) -> T:
        with self._own_lock(), np.errstate(under="ignore"):
            before = self.__dict__.copy()
            counters = before["_state"].counters if "_state" in before else NO_COUNTERS
            n_rows = counters.item(_ROUNDS)
            try:
                return learn(self, *arguments, **named)
            except Exception:
                if counters.item(_ROUNDS) == n_rows:
                    self.__dict__.update(before)  # (at no time does a reader miss one)
                    for name in self.__dict__.keys() - before.keys():
                        del self.__dict__[name]
                raise

    return in_one_thread


class OnlineLearner(saving.Describing, Estimator):
    """Base of the online learners of all tasks: checked calls, passes over rows, and the fitted attributes.

    A task's own class reads the targets, names the kernel (`_task`) and scores held-out rows (`_validate`).
    """

    n_iter_: int
    _estimator_type: str

    dtype: FloatType | None
    _params_of: ClassVar[Any] = Params.of  # a function from an algorithm and checked values to the parameters of a pass
    _has_fast_path = True  # False: small calls go the general way, which has steps of the class's own
    _are_seen = False  # True if the rows of a pass were learnt before: probabilities then learn nothing from them
    _flat = False  # True if coef_ has shape (n_features,): there is always a single vector

    if TYPE_CHECKING:  # defined by the tasks

        def _read_targets(self, y: Any, n_rows: int) -> np.ndarray:
            """Return the checked labels or numbers of a call."""

        def _task(self, state: Any) -> str:
            """Return the kernel's name."""

    # --- parameters ----------------------------------------------------------------------------------------------------------

    def _given(self) -> dict[str, Any]:
        """Return the parameters as they are."""
        return dict(zip(self._parameter_names(), self._parameter_values()(self.__dict__), strict=True))

    def _read_dtype(self) -> np.dtype[Any] | None:
        """Return the dtype of a new model; None: that of X."""
        return None if self.dtype is None else validate.read_dtype(type(self).__name__, self.dtype)

    def _choose(self) -> Any:
        """Return what the parameters choose, each of them checked: the numbers of a pass."""
        values = self._given()
        for name in ("fit_intercept", "intercept_scaling"):  # (a subclass may only inherit them)
            if name in self.__dict__:
                values[name] = self.__dict__[name]
        algorithm = select(type(self), values)
        self._read_dtype()
        for name in algorithm.params:  # (a subclass may have fewer parameters than its base)
            values.setdefault(name, getattr(self, name))
        # Deviations from the mean of the targets are learnt. (Weights on a simplex combine predictions of the target itself.)
        auto = values.get("fit_intercept") and values.get("intercept_scaling") in AUTO
        values["level"] = bool(algorithm.level and auto and values.get("signed", True))
        for name, number in algorithm.defaults.items():
            if values[name] is None:
                values[name] = number
        return self._params_of(algorithm, values)

    def _check_range(self, params: Any, dtype: np.dtype[Any]) -> None:
        """Check that parameters fit the model's dtype, which depends on X, and the present model."""
        params.check_range(type(self).__name__, dtype)
        if "_state" in self.__dict__ and self._state.can_learn_with(params) and not self._state.stays_in_range(params):
            names = [name for name in ("eta0", "delta", "alpha") if name in self._parameter_names()]
            got = " and ".join(f"{name}={getattr(self, name)!r}" for name in names) or "others of a member"
            must = " and ".join(names) or "eta0 and delta"
            raise ValueError(
                f"{type(self).__name__}: {must} must keep the weights within {dtype}, got {got}. Set them back, or call fit."
            )

    def _is_another_kind(self, params: Any) -> bool:
        """Return True if these parameters ask for a model of another kind than the present one."""
        return self._read_dtype() not in (None, self._state.dtype) or not self._state.can_learn_with(params)

    def _changed(self) -> str:
        """Name the parameters whose values the model was not learnt with."""
        given = self._state.given
        names = [name for name, value in self.get_params(deep=False).items() if name in given and given[name] is not value]
        return ", ".join(name for name in names if repr(given[name]) != repr(getattr(self, name))) or "dtype"

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
        rows, params, first = self._read_call(X)
        targets = self._read_targets(y, rows.n_rows)
        weights = validate.read_weights(type(self).__name__, sample_weight, rows.n_rows)
        n_skipped = 0 if first else self._state.count("skipped")
        if first:
            self._begin(X, rows, self._start(params, rows, 1))
        self._learn(Batch(rows, targets, weights), params)
        self._end_call(n_skipped)

    @exclusive
    def _fit(
        self, X: Matrix, y: Any, sample_weight: ArrayLike | None, coef_init: ArrayLike | None = None,
        intercept_init: ArrayLike | None = None,
    ) -> Self:
        fit(self, X, y, sample_weight, coef_init, intercept_init)
        return self

    def _can_go_on(self) -> bool:
        """Return True if `fit` can go on with the present model."""
        return True

    def _check_call(self, X: Matrix, whole: bool) -> None:
        """Check what only some learners require of X in `fit` (whole) or `partial_fit`."""

    def _batch_of_fit(self, batch: Batch, again: bool) -> tuple[Batch, np.ndarray | None]:
        """Return the rows of a `fit` as the kernels take them, and the classes, which a classifier computes here."""
        return batch, None

    def _read_call(self, X: Matrix) -> tuple[Rows, Any, bool]:
        """Return rows, parameters, and True at the first call, for a `partial_fit`, checked against the present model."""
        state = self.__dict__.get("_state")
        is_same = state is not None and bool(state.given) and all(map(is_, state.given.values(), self._given().values()))
        params = state.params if state is not None and is_same else self._choose()
        self._check_call(X, whole=False)
        if state is not None and not is_same and self._is_another_kind(params):
            raise ValueError(
                f"{type(self).__name__}: partial_fit must go on with the kind of model it began with, got other values of "
                f"{self._changed()}. Call fit, or start with clone(estimator)."
            )
        rows = self._read_rows(X, state)
        if not is_same:
            self._check_range(params, rows.data.dtype)
        return rows, params, state is None

    def _read_rows(self, X: Matrix, state: Any) -> Rows:
        """Return X as rows of a model's features and dtype; None: of the first call, in which X determines both."""
        rows = validate.read_rows(type(self).__name__, X, self._read_dtype() if state is None else state.dtype)
        if state is not None:
            check_features(self, X, rows.n_features, state)
        return rows

    def _begin(
        self, X: Matrix, rows: Rows, state: Any, classes: np.ndarray | None = None, is_open: bool = False
    ) -> None:
        """Set the model, usually an empty one; the estimator is unchanged until here. is_open : classes may join."""
        if "_state" not in self.__dict__ and rows.is_dense and rows.n_rows > 1:
            warn_of_unlike_columns(type(self).__name__, rows.part(0, min(rows.n_rows, MANY_ROWS)).array())
        take_features(self, X, rows.n_features)
        state.close_small_calls()
        state.classes, state.is_open, state.sparse_coef = classes, is_open, None
        self.n_iter_ = 1
        self._state = state  # (last: readers in other threads find a whole model)

    def _learn(self, batch: Batch, params: Any, epoch: int = 0, slack: float = 0.0) -> None:
        """Learn rows with the task's kernel. (Only classes are predicted on the way.)

        epoch : of a `fit`, which holds the level of the targets: probabilities learn from the rows of the first alone.
        slack : the largest loss without a step.
        """
        self._state.sparse_coef = None
        if batch.rows.n_rows and (batch.order is NO_ORDER or len(batch.order)):
            self._state = self._ready(self._state, batch, params, epoch, slack)
            self._state.learn(model.TASKS[self._task(self._state)], *batch)

    def _ready(self, state: Any, batch: Batch, params: Any, epoch: int = 0, slack: float = 0.0) -> Any:
        """Return a model, or a copy of one whose arrays are read-only, as one that learns a batch with these parameters."""
        state = state.writable()
        if params.joint and state.n_none:  # ("none of these" is no class of a joint problem)
            state = state.closed()
        balanced = isinstance(getattr(self, "class_weight", None), str) and not len(batch.class_weights)  # ("balanced")
        of_pass = params.of_pass(state, state.is_open, balanced)._replace(slack=slack)
        if state.params != of_pass:  # (else the struct of the loops is that of the last pass)
            state.params = of_pass
        state.given, state.sparse_coef = self._given(), None
        state.are_seen, state.holds_level = self._are_seen or epoch > 1, epoch > 0
        return state

    def _end_call(self, n_skipped: int) -> None:
        """End a `partial_fit` on the general path, after which small calls may take the short one. n_skipped : of before it."""
        state = self._state
        is_ready = self._has_fast_path and not self._are_seen and getattr(self, "class_weight", None) is None
        is_ready = is_ready and (state.classes is None or 1 < len(state.classes) == len(state.counts))
        if is_ready and state.given:
            same = {**state.given, "feature_names_in_": self.__dict__.get("feature_names_in_")}
            state.open_small_calls(same, self._own_lock(), model.TASKS[self._task(state)], state.classes)
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


def take_features(learner: Any, X: Matrix, n_features: int) -> None:
    """Set an estimator's number of features, and their names if X has any."""
    names, learner.n_features_in_ = validate.feature_names(X), n_features
    learner.__dict__.pop("feature_names_in_", None)
    if names is not None:
        learner.feature_names_in_ = names


def check_features(learner: Any, X: Matrix, n_features: int, state: Any = None) -> None:
    """Check rows against those that an estimator, or a model that it had, has learnt from."""
    who, expected = type(learner).__name__, learner.n_features_in_ if state is None else state.n_features
    if n_features != expected:
        problem, hint = f"X has {n_features} features, but {who} is expecting {expected} features as input.", _SAME_COLUMNS
        raise validate.ParameterError(f"{problem} {hint}", "X", hint)
    if isinstance(X, Rows):
        return  # (their maker has checked the columns' names, if any)
    seen = learner.__dict__.get("feature_names_in_")
    names = None if isinstance(X, np.ndarray) else validate.feature_names(X)
    if seen is not None or names is not None:
        validate.same_names(who, seen, names)
    if seen is not None and names is not None and isinstance(state, model.Model):
        frame: Any = X if type(X) is getattr(sys.modules.get("pandas"), "DataFrame", None) else None
        state.columns = None if frame is None else (seen, frame.columns)  # (an object that does not change)


def of_classes(numbers: np.ndarray, state: Any) -> np.ndarray:
    """Return a number for each row and vector without those of "none of these"."""
    return np.ascontiguousarray(numbers[:, :-1]) if state.n_none else numbers


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


# --- for the command line, evaluation and bounds, besides public attributes ----------------------------------------------------


def state_of(learner: Any) -> Any:
    """Return a fitted learner's model; for an `OnlineToBatch`, that of the wrapped learner."""
    return getattr(learner, "estimator_", learner)._fitted_state()


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
