"""The base of the learners of all tasks: the way of a call, epochs, and what is read of a model.

Data flow one way: parameters (by the registry) and input are read and checked here and in tasks.py, the kernels (`_core`) change
the arrays of a state (`_models`), and attributes are views of it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from math import ceil, inf, nan, sqrt
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, TypeVar, cast

import numpy as np

from .._compiled import model
from .._input import validate
from .._input.compat import not_fitted, random_state, warn_caller
from .._models import NO_ORDER, NO_WEIGHTS, STATES, read_only
from .._registry import AUTO, Params, select
from .._rows import Rows
from .estimator import Estimator
from .saving import Describing

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike

    from .._input.types import ClassWeight, FloatType, Generator, Matrix

    Method = TypeVar("Method", bound=Callable[..., Any])

MUCH = 1 << 26  # bytes; smaller models are not checked against the free memory
MANY_ROWS = 1 << 10  # rows that are enough to tell the sizes of columns
NO_PREDICTIONS = np.empty(0, np.int32)
SKIPPED = "updates should stay within the range of"  # the beginning of a warning, behind the learner's name


class Batch(NamedTuple):
    """The rows of a call as the kernels take them: targets are numbers of classes, or real numbers."""

    rows: Rows
    targets: np.ndarray
    weights: np.ndarray = NO_WEIGHTS
    class_weights: np.ndarray = NO_WEIGHTS
    order: np.ndarray = NO_ORDER
    predictions: np.ndarray = NO_PREDICTIONS

    def live(self) -> np.ndarray:
        """Return True for each row of weight > 0, its own times that of its class."""
        weights = self.weights if len(self.weights) else np.ones(self.rows.n_rows)
        with np.errstate(over="ignore", under="ignore"):
            return (weights * self.class_weights[self.targets] if len(self.class_weights) else weights) > 0.0


def exclusive(learn: Method) -> Method:
    """Decorate a method that learns: one thread at a time runs it, and an error leaves the estimator unchanged.

    Rows that the model has learnt by then stay learnt. (After Ctrl-C, what was learnt before it stays.)
    """

    @wraps(learn)
    def in_one_thread(self: OnlineLearner, *arguments: Any, **named: Any) -> Any:
        with self._own_lock(), np.errstate(under="ignore"):
            before = self.__dict__.copy()
            state = before.get("_state")
            t = state and state.count("t")
            try:
                return learn(self, *arguments, **named)
            except BaseException as error:
                learnt = self._state.count("t") if "_state" in self.__dict__ else 0
                if (state is None or state.count("t") == t) and (isinstance(error, Exception) or learnt == (t or 0)):
                    self.__dict__.update(before)  # (at no time does a reader miss one)
                    for name in self.__dict__.keys() - before.keys():
                        del self.__dict__[name]
                raise

    return cast("Method", in_one_thread)


class OnlineLearner(Describing, Estimator):
    """Base of the online learners of all tasks: checked calls, passes over rows, and the fitted attributes.

    A task's own class reads the targets (`_read_targets`) and names the kernel (`_task`).
    """

    n_iter_: int
    _estimator_type: str

    dtype: FloatType | None
    __dataclass_fields__: ClassVar[dict[str, Any]]
    _params_of: ClassVar[Any] = Params.of  # a function from an algorithm and checked values to the parameters of a pass
    _has_fast_path = True  # False: small calls go the general way, which has steps of the class's own
    _are_seen = False  # True (set by the command line) while rows were learnt before: probabilities learn nothing from them
    _flat = False  # True if coef_ has shape (n_features,): there is always a single vector
    early_stopping: bool = False  # of a class without these parameters
    loss_tol: float | None = None
    class_weight: ClassWeight = None

    _read_targets: Callable[[str, Any, int], np.ndarray]  # defined by the tasks: labels or numbers, of who, y, number of rows;
    _task: Callable[[Any], str]  # and the name of a state's kernel

    # --- parameters ----------------------------------------------------------------------------------------------------------

    def _choose(self) -> Any:
        """Return what the parameters choose, each of them checked: the numbers of a pass."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}  # (a subclass may have fewer parameters)
        algorithm = select(type(self), values)
        validate.read_dtype(type(self).__name__, self.dtype)
        # Deviations from the mean of the targets are learnt. (Weights on a simplex combine predictions of the target itself.)
        auto = values.get("fit_intercept") and values.get("intercept_scaling") in AUTO
        values["level"] = bool(algorithm.level and auto and values.get("signed", True))
        for name, number in algorithm.defaults.items():
            if values[name] is None:
                values[name] = number
        return self._params_of(algorithm, values)

    def _is_another_kind(self, params: Any) -> bool:
        """Return True if these parameters ask for a model of another kind than the present one."""
        dtype = validate.read_dtype(type(self).__name__, self.dtype)
        return dtype not in (None, self._state.dtype) or not self._state.can_learn_with(params)

    def _changed(self) -> str:
        """Name the parameters whose values the model was not learnt with."""
        given = zip(self._parameter_names(), self._state.given, self._parameter_values()(self.__dict__), strict=False)
        return ", ".join(name for name, old, new in given if repr(old) != repr(new))

    def _start(self, params: Any, rows: Rows, n_classes: int) -> Any:
        """Return an empty model of rows like these."""
        self._check_size(params, rows.n_features, n_classes, rows.data.dtype)
        return STATES[params.model](rows.n_features, n_classes, rows.data.dtype, params)

    def _check_size(self, params: Any, n_features: int, n_classes: int, dtype: DTypeLike) -> None:
        """Refuse numbers of features or classes with which no model can begin, as it would not fit in memory."""
        needed, who = STATES[params.model].n_bytes(params, n_features, n_classes, dtype), type(self).__name__
        if needed > MUCH and needed > (free := validate.available_memory()):
            raise validate.ParameterError(
                f"{who}: the model must fit in memory, got {n_classes} classes x {n_features:,} features of {np.dtype(dtype)}, "
                f"{needed / 1e9:.1f} GB, where {free / 1e9:.1f} GB are free. Take fewer features (or a diagonal covariance).",
                "n_features", "features",
            )

    # --- learning ------------------------------------------------------------------------------------------------------------

    def partial_fit(self, X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from rows in the given order, in one pass, starting from the present model. Returns the estimator.

        Any split of a stream into calls gives the same model, to the last bit.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            CSR with sorted columns (int32 or int64) and C-ordered arrays, of the model's dtype, are read in place: see `fit`.
        y : array-like of shape (n_samples,)
            Targets: finite numbers. A one-class learner uses none.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0 of the rows. A row of weight 0 changes nothing, not even a counter.
        """
        state = self.__dict__.get("_state")
        learnt = 0 if state is None else state.try_partial_fit(self.__dict__, X, y, sample_weight)
        if learnt == 0:
            self._partial_fit(X, y, sample_weight)
        elif learnt > 1:
            warn_of_skipped(self, learnt - 1)
        return self

    def fit(self, X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from scratch (`warm_start`: from the present model) in up to `max_iter` epochs over all rows.

        Epochs end early when the mean loss has not improved by `tol` in `n_iter_no_change` consecutive epochs; with
        `early_stopping`, when the score on held-out rows (accuracy or R^2) has not. Returns the estimator.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            CSR with sorted columns (int32 or int64) and C-ordered arrays, of the model's dtype, are read in place; others
            are converted. No other thread may change the arrays of a call while it runs: they are checked, then read.
        y : array-like of shape (n_samples,)
            A classifier's labels, of at least two classes: integers, booleans, strings, or floats that are integers.
            A regressor's targets: finite numbers. A one-class learner uses none.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0 of the rows, not all 0.
        """
        return self._fit(X, y, sample_weight)

    @exclusive
    def _partial_fit(
        self, X: Matrix, y: Any, sample_weight: ArrayLike | None, classes: ArrayLike | None = None,
        predictions: np.ndarray = NO_PREDICTIONS,
    ) -> np.ndarray:
        """Learn one pass over rows; everything is read before the first write. Return the targets.

        predictions : empty, or filled (of classifiers) with what `predict` would have said of each row just before it was learnt,
        as the place among `classes_` after the call; NO_CLASS before there is one. A row of weight 0 keeps what is there.
        """
        who, own = type(self).__name__, self.__dict__.get
        state: Any = own("_state")
        if state is not None and model.are_same(state.given, self._parameter_values()(self.__dict__)):
            rows, params = self._read_rows(X, state, learns=True), state.params
        else:
            params = self._choose()
            if state is not None and self._is_another_kind(params):
                raise ValueError(
                    f"{who}: partial_fit must go on with the kind of model it began with, got other values of {self._changed()}. "
                    "Call fit, or start with clone(estimator)."
                )
            rows = self._read_rows(X, state, learns=True)
            params.check_range(who, rows.data.dtype)
        targets = self._read_targets(who, y, rows.n_rows)
        weights = NO_WEIGHTS if sample_weight is None else validate.read_weights(who, sample_weight, rows.n_rows)
        n_skipped = self._learn_new(X, Batch(rows, targets, weights, predictions=predictions), params, classes)
        state = own("_state")
        is_begun = state is not None and (state.classes is None or len(state.classes) > 1)
        if is_begun and self._has_fast_path and self.class_weight is None:
            same = dict(zip(self._parameter_names(), state.given, strict=True), _are_seen=own("_are_seen"))
            state.open_small_calls(same, self._own_lock(), model.TASKS[self._task(state)], state.classes)
        if n_skipped:
            warn_of_skipped(self, n_skipped)
        return targets

    def _learn_new(self, X: Matrix, batch: Batch, params: Any, classes: ArrayLike | None) -> int:
        """Learn the rows of a `partial_fit`; return how many were skipped. classes : named in the call."""
        if "_state" not in self.__dict__:
            self._begin(X, batch.rows, self._start(params, batch.rows, 1))
        return self._learn(batch, params)

    def _read_rows(self, X: Matrix, state: Any, learns: bool = False) -> Rows:
        """Return X as rows of a model's features and dtype; None: of the first call, in which X determines both.

        learns : True for rows that are to be learnt.
        """
        who = type(self).__name__
        rows = validate.read_rows(who, X, validate.read_dtype(who, self.dtype) if state is None else state.dtype)
        if state is not None:
            check_features(self, X, rows.n_features, state)
        return rows

    def _begin(self, X: Matrix, rows: Rows, state: Any, classes: np.ndarray | None = None, is_open: bool = False) -> None:
        """Set the model, usually an empty one; the estimator is unchanged until here. is_open : classes may join."""
        if "_state" not in self.__dict__ and rows.is_dense and rows.n_rows > 1:
            warn_of_unlike_columns(type(self).__name__, rows.part(0, min(rows.n_rows, MANY_ROWS)).array())
        take_features(self, X, rows.n_features)
        state.classes, state.is_open, state.given = classes, is_open, self._parameter_values()(self.__dict__)
        self.n_iter_ = 1
        self._state = state  # (last: readers in other threads find a whole model)

    def _learn(self, batch: Batch, params: Any, epoch: int = 0, slack: float = 0.0, state: Any = None) -> int:
        """Learn rows with the task's kernel; return how many were skipped. (Only classes are predicted on the way.)

        epoch : of a `fit`, which holds the level of the targets: probabilities learn from the rows of the first alone.
        slack : the largest loss without a step. state : a model with classes that join, to take the place of the present one when
        it has learnt a row. (A class without one would be predicted for rows that scored 0 so far.)
        """
        state = (self._state if state is None else state).writable()
        if params.joint and state.n_none:  # ("none of these" is no class of a joint problem)
            state = state.closed()
        balanced = isinstance(self.class_weight, str) and not len(batch.class_weights)  # ("balanced")
        of_pass = params.of_pass(state, state.is_open, balanced)._replace(slack=slack)
        if state.params != of_pass:  # (else the struct of the loops is that of the last pass)
            state.params = of_pass
        state.given, state.sparse_coef = self._parameter_values()(self.__dict__), None
        state.are_seen, state.holds_level = self._are_seen or epoch > 1, epoch > 0
        state.same = None  # (until small calls are opened again)
        t, n_skipped = state.count("t"), state.count("skipped")

        def keep() -> None:  # (may be run again: after Ctrl-C within)
            if state.count("t") > t:
                came, kept = state.counts > 0.0, state
                if state.is_open and not came.all():  # (an interrupt before the first rows of labels that join)
                    kept = state.keep_classes(came)
                    kept.classes = state.classes[came]
                self._state = kept
        model.learn_together(state.learn, (model.TASKS[self._task(state)], *batch), {}, [keep], lambda: [keep])
        return state.count("skipped") - n_skipped

    # --- epochs --------------------------------------------------------------------------------------------------------------

    @exclusive
    def _fit(self: Any, X: Matrix, y: Any, sample_weight: ArrayLike | None, **initial: ArrayLike | None) -> Any:
        """Learn in epochs, from scratch or (`warm_start`) from the present model; everything is read before the first write.

        initial : weights to begin with, by the names of arguments that show them like `coef_` and `intercept_`.
        """
        who, params, classes, validation = type(self).__name__, self._choose(), None, None
        present = self.__dict__.get("_state") if self.warm_start else None
        if present is not None and (self._is_another_kind(params) or (present.classes is not None and len(present.classes) < 2)):
            present = None
        generator = random_state(who, self.random_state)
        rows = self._read_rows(X, present, learns=True)
        validate.require_samples(who, rows)
        params.check_range(who, rows.data.dtype)
        targets = self._read_targets(who, y, rows.n_rows)
        batch = Batch(rows, targets, validate.read_weights(who, sample_weight, rows.n_rows, some=True))
        if self._estimator_type == "classifier":
            batch, classes = self._encoded(batch, None if present is None else present.classes)
        if self.early_stopping:
            train, held_out = self._split(batch, generator)
            weighted = len(batch.weights) and batch.weights[held_out].any()
            validation = rows.chosen(held_out), batch.targets[held_out], batch.weights[held_out] if weighted else None
            batch = batch._replace(order=train)
        if present is None:
            state = self._start(params, rows, 1 if classes is None else len(classes))
        else:
            state = present.closed().copy()  # (a fault of the initial weights leaves the model as it was)
        if params.level:  # the mean of all rows (and of those before, with `warm_start`)
            state.set_level(*state.level_with(batch))
        if initial := {name: weights for name, weights in initial.items() if weights is not None}:
            state.tell_scale(rows, np.flatnonzero(batch.live()))
            self._give_weights(state, **initial)
        self._begin(X, rows, state, classes)
        if n_skipped := self._learn_in_epochs(batch, params, validation, generator):
            warn_of_skipped(self, n_skipped)
        return self

    def _split(self: Any, batch: Batch, generator: Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers of the rows to learn from, and of those to hold out: a share of each class; two numbers for R^2."""
        codes, least = (batch.targets, 1) if self._estimator_type == "classifier" else (np.zeros(batch.rows.n_rows), 2)
        is_held_out = np.zeros(len(codes), bool)
        for code in np.unique(codes):
            alike = np.flatnonzero(codes == code)
            n = min(max(ceil(self.validation_fraction * len(alike)), least), len(alike) - 1)
            is_held_out[generator.permutation(alike)[:n]] = True
        if is_held_out.sum() < least:
            raise ValueError(
                f"{type(self).__name__}: early_stopping must have rows to hold out beside rows to learn from (of some class), "
                f"got n_samples={len(codes)}. Give more rows, or early_stopping=False."
            )
        return np.flatnonzero(~is_held_out), np.flatnonzero(is_held_out)

    def _learn_in_epochs(self: Any, batch: Batch, params: Any, validation: tuple | None, generator: Generator) -> int:
        """Learn the rows of a `fit`; return how many were skipped. validation : what `_validate` takes, of rows held out.

        With `loss_tol`, until no squared loss exceeds it (PA, section 4): each step brings the weights nearer to any u without
        loss, by at least loss_tol / max ||x||^2.
        """
        train, loss_tol, n_skipped, best, idle = batch.order, self.loss_tol, 0, inf, 0
        n_train, slack = len(train) or batch.rows.n_rows, 0.0 if loss_tol is None else sqrt(loss_tol)
        for epoch in range(1, self.max_iter + 1):
            if self.shuffle:
                order = generator.permutation(train if len(train) else n_train)
                batch = batch._replace(order=order.astype(np.int64, copy=False))
            before = self._state.counters.copy()
            n_skipped += self._learn(batch, params, epoch, slack)
            self.n_iter_ = epoch
            n, loss, n_updates = (self._state.counters - before)[[model.COUNTERS[name] for name in ("t", "loss", "updates")]]
            loss = loss / max(n, 1.0) if validation is None else -self._validate(*validation)
            if self.verbose:
                shown = f"mean loss={loss:.6f}" if validation is None else f"validation score={-loss:.6f}"
                print(f"-- Epoch {epoch}: t={self.t_} updates={self.n_updates_} {shown}")
            if loss_tol is not None:
                if not n_updates:
                    return n_skipped
            elif self.tol is not None:
                idle = idle + 1 if loss > best - self.tol else 0
                best = min(best, loss)
                if idle >= self.n_iter_no_change:
                    break
        if loss_tol is not None:
            warn_caller(
                f"{type(self).__name__}: fit must leave no squared loss above loss_tol={loss_tol:g}, but rows still took steps "
                f"in the last of max_iter={self.max_iter} cycles. Raise max_iter or loss_tol; if no weights have so small a loss "
                "on all rows, no number of cycles will do.", "ConvergenceWarning",
            )
        return n_skipped

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
        found = state.try_decision(X, self.__dict__.get("feature_names_in_")) if self._has_fast_path else None
        return state.decision(self._read_rows(X, state)) if found is None else found, state

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
        problem = f"X has {n_features} features, but {who} is expecting {expected} features as input."
        hint = "Give rows with the columns of the first call, or start a new model."
        raise validate.ParameterError(f"{problem} {hint}", "X", hint)
    if isinstance(X, Rows):
        return  # (their maker has checked the columns' names, if any)
    seen = learner.__dict__.get("feature_names_in_")
    names = None if isinstance(X, np.ndarray) else validate.feature_names(X)
    if seen is not None or names is not None:
        validate.same_names(who, seen, names)


def over(numbers: np.ndarray, unit: float) -> np.ndarray:
    """Return a model's numbers divided by their unit, within the range of their dtype: as they are where it is 1, or unknown."""
    if unit in (0.0, 1.0):
        return numbers
    largest = float(np.finfo(numbers.dtype).max)
    with np.errstate(over="ignore"):
        return read_only(np.clip(numbers / numbers.dtype.type(unit), -largest, largest))


def warn_of_skipped(learner: Any, n: int) -> None:
    """Warn of n rows that a call has skipped."""
    warn_caller(
        f"{type(learner).__name__}: {SKIPPED} {learner._state.dtype}, got {n:,} row{'s' * (n > 1)} whose updates would leave it "
        "and were skipped (n_skipped_). Standardise the columns (scikit-learn's StandardScaler) or divide X by a row's length; "
        "if that does not help, take smaller steps or another learner."
    )


def warn_of_unlike_columns(who: str, table: np.ndarray) -> None:
    """Warn once, before a table's first rows are learnt, of columns whose values other than 0 differ much in size."""
    counts = np.count_nonzero(table, axis=0)
    with np.errstate(all="ignore"):
        sizes = np.sqrt(np.einsum("ij,ij->j", table, table, dtype=np.float64) / counts)[counts > 0]
    if len(sizes) > 1 and sizes.max() > 100.0 * sizes.min():
        warn_caller(
            f"{who}: columns of a dense X should be of like sizes, got root mean squares from {sizes.min():.2g} to "
            f"{sizes.max():.2g}: the largest columns decide alone. Put onlinecls.tables.TableVectorizer or scikit-learn's "
            "StandardScaler before the learner."
        )


def state_of(learner: Any) -> Any:
    """Return a fitted learner's model; for an `OnlineToBatch`, that of the wrapped learner."""
    return getattr(learner, "estimator_", learner)._fitted_state()

