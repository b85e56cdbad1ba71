"""The base of the learners of all tasks: their calls, and the passes of the kernels over rows.

Data flow one way: parameters (choice.py) and input are read and checked here and in the task's own file (classifier.py,
regressor.py), the kernels (`_core`) change the arrays of a state (`_models`), and attributes are views of it.
"""

from __future__ import annotations

import warnings
from math import nan
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from .. import _core
from .._algorithm import AUTO, NARROW, Units
from .._compiled import model
from .._input import validate
from .._input.compat import not_fitted, random_state
from .._models.params import Params
from .._models.state import NO_ORDER
from .._models.states import STATES
from . import epochs, saving, threads, youth
from .choice import Choice, check_memory, check_range, choose
from .estimator import QUIET, Estimator, exclusive
from .units import FARTHEST, N_ROWS, Youth, dominant_column, first_row, first_rows, median, non_zeros, units_of_each

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike

    from .._algorithm import Algorithm
    from .._input.rows import Rows
    from .._input.types import FloatOrAuto, FloatType, Generator, Matrix, RandomState

UNKNOWN = Units()
NO_PREDICTIONS = np.empty(0, np.int32)
NO_WEIGHTS = np.empty(0)


class Batch(NamedTuple):
    """The rows of a call as the kernels take them: targets are numbers of classes, or real numbers."""

    rows: Rows
    targets: np.ndarray
    weights: np.ndarray = NO_WEIGHTS
    class_weights: np.ndarray = NO_WEIGHTS
    order: np.ndarray = NO_ORDER
    predictions: np.ndarray = NO_PREDICTIONS

    def part(self, start: int, stop: int | None = None) -> Batch:
        stop, cut = self.rows.n_rows if stop is None else stop, slice(start, stop)
        rows, predictions = self.rows.part(start, stop), self.predictions[cut]
        return self._replace(rows=rows, targets=self.targets[cut], weights=self.weights[cut], predictions=predictions)

    def row_weights(self) -> np.ndarray:
        """Return the weights of the rows times those of their classes; empty: all are 1."""
        return validate.row_weights(self.weights, self.class_weights, self.targets)

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

    A task's own class chooses the kernel (`_task`), scores held-out rows (`_validate`), and reads the targets.
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
    n_jobs: int | None = None

    # Attributes set by learning, besides those of `Describing`.
    _choice: Choice
    _dominant: int | None

    _record: ClassVar[Any] = Params  # the kind of parameters that a pass takes
    _foresight, _depth = "likely", 64  # how a full covariance processes many rows at once: see full.pxd
    _kind = "average, of dtype or of the parameter that selects the algorithm"  # what a model cannot change
    _are_seen = False  # True if the rows of a pass were learnt before: probabilities then learn nothing from them
    _width = NARROW + 1  # features of X, for covariance="auto"
    _flat = False  # True if coef_ has shape (n_features,): there is always a single vector
    _has_fast_path = True  # False: small calls go the general way, which has steps of the class's own

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

    @property
    def _params(self) -> Any:
        """The parameters of the model's last pass."""
        return self._state.params

    @property
    def _units(self) -> Units:
        """The units of X, unknown before its first row."""
        return self._state.units if "_state" in self.__dict__ else UNKNOWN

    # --- parameters ----------------------------------------------------------------------------------------------------------

    def _parameters(self) -> dict:
        """Return the constructor's parameters by name, and those that a subclass only inherits."""
        kept = ("fit_intercept", "intercept_scaling")
        return {**{name: self.__dict__[name] for name in kept if name in self.__dict__}, **self.get_params(deep=False)}

    def _kernel_params(self) -> Any:
        """Check all parameters and return those of a pass, in the model's units of X."""
        return choose(self, self._units).params

    def _params_of(self, algorithm: Algorithm, values: dict, units: Units) -> Any:
        """Return the parameters of a pass for checked values."""
        return self._record.of(algorithm, algorithm.in_units(values, units))

    def _know_width(self, n_features: int) -> None:
        """Store the width of X, on which covariance="auto" and the members of a committee depend."""
        if self._width != n_features:
            self._width = n_features
            if getattr(self, "covariance", "auto") == "auto":
                self.__dict__.pop("_choice", None)

    def _awaits_scale(self) -> bool:
        """Return True if a default of a new model depends on the units of X."""
        choice = choose(self, self._units)
        return choice.algorithm.awaits_scale(choice.values)

    def _is_another_kind(self, params: Any) -> bool:
        """Return True if these parameters ask for a model of another kind than the present one."""
        dtype = validate.read_dtype(type(self).__name__, self.dtype)
        return dtype not in (None, self._state.dtype) or not self._state.can_learn_with(params)

    def _start(self, params: Any, n_features: int, n_classes: int, dtype: DTypeLike) -> Any:
        """Return an empty model."""
        self._check_size(params, n_features, n_classes, dtype)
        state = STATES[params.model](n_features, n_classes, dtype, params)
        state.params = params
        return state

    def _check_size(self, params: Any, n_features: int, n_classes: int, dtype: DTypeLike) -> None:
        """Refuse numbers of features or classes with which no model can begin."""
        check_memory(type(self).__name__, params, n_features, n_classes, dtype)

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
            Targets: finite numbers. Not used by a one-class learner.
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
        if state is None or not state.try_partial_fit(self.__dict__, X, y, sample_weight):
            self._partial_fit(X, y, sample_weight)
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
            A classifier's labels, of at least two classes: integers, booleans, strings, or floats that are integers. A
            regressor's targets: finite numbers. Not used by a one-class learner.
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
        if first:
            self._begin(X, rows, self._start(self._kernel_params(), rows.n_features, 1, rows.data.dtype))
        self._learn(Batch(rows, targets, weights))
        self._end_call()

    @exclusive
    def _fit(
        self, X: Matrix, y: Any, sample_weight: ArrayLike | None, coef_init: ArrayLike | None = None,
        intercept_init: ArrayLike | None = None,
    ) -> Self:
        """Learn in epochs, from scratch or (`warm_start`) from the present model; everything is read before the first write."""
        who = type(self).__name__
        self.__dict__.pop("_choice", None)  # (a learner among the parameters may have changed)
        params, units = self._kernel_params(), self._units
        self._check_call(X, whole=True)
        again = self.warm_start and self._can_go_on(params)
        generator = random_state(who, self.random_state)
        rows = self._read_rows(X, not again)
        validate.require_samples(who, rows, 1)
        check_range(self, params, rows.data.dtype)
        targets, weights = self._read_targets(y, rows.n_rows), read_weights_of_fit(who, sample_weight, rows.n_rows)
        batch, classes = self._batch_of_fit(Batch(rows, targets, weights), again)
        if not again:
            self._know_width(rows.n_features)
            units = self._units_of_fit(rows, batch.row_weights())
            params = choose(self, units).params
        train, held_out = self._split(batch.targets, generator) if self.early_stopping else (NO_ORDER, NO_ORDER)
        n_classes = 1 if classes is None else len(classes)
        state = self._state if again else self._start(params, rows.n_features, n_classes, rows.data.dtype)
        if coef_init is not None or intercept_init is not None:
            state = epochs.with_weights(self, params, state, coef_init, intercept_init)

        self._begin(X, rows, state, units, classes)
        self._epochs(batch._replace(order=train), held_out, generator)
        self._warn_of_rows()
        return self

    def _epochs(self, batch: Batch, held_out: np.ndarray, generator: Generator) -> None:
        """Learn the rows of a `fit`. held_out : numbers of rows that tell when to stop."""
        epochs.run(self, batch, held_out, generator)

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
        params = self._kernel_params()
        self._check_call(X, whole=False)
        first = "_state" not in self.__dict__
        changed = first or not self._state.asked or self._state.asked[0] is not params
        if changed and not first and self._is_another_kind(params):
            raise ValueError(
                f"{type(self).__name__}: partial_fit must go on with the kind of model it began with, got other values of "
                f"{self._kind}. Call fit, or start with clone(estimator)."
            )
        rows = self._read_rows(X, first)
        if first:
            self._know_width(rows.n_features)
        if changed:
            check_range(self, self._kernel_params(), rows.data.dtype)
        return rows, first

    def _read_rows(self, X: Matrix, first: bool) -> validate.Rows:
        """Return X as rows, checked against the model's features and dtype; at the first call, X determines both."""
        who = type(self).__name__
        rows = validate.read_rows(who, X, validate.read_dtype(who, self.dtype) if first else self._state.dtype)
        if first:
            validate.require_samples(who, rows, 0)
        else:
            self._check_features(X, rows.n_features)
        return rows

    def _units_of_fit(self, rows: Rows, weights: np.ndarray) -> Units:
        """Return the units of a model that `fit` starts.

        If rows of zeros come first, which change nothing, the units are left for `_learn` to determine.
        """
        n_epochs, firsts = float(getattr(self, "max_iter", 1)), non_zeros(rows, first_rows(rows, weights))
        each = units_of_each(firsts)
        units = median(each if self._awaits_scale() else each[:1], n_epochs)
        if firsts.n_rows == N_ROWS:
            self._dominant = dominant_column(firsts)
        if not units.scale and (self.shuffle or self.early_stopping) and (at := first_row(rows, weights)) >= 0:
            units = median(units_of_each(non_zeros(rows, np.array([at]))), n_epochs)
        return units

    def _begin(
        self, X: Matrix, rows: Rows, state: Any, units: Units | None = None, classes: np.ndarray | None = None,
        is_open: bool = False,
    ) -> None:
        """Set the model, usually an empty one; the estimator is unchanged until here. is_open : classes may join.

        Without units, the first rows determine them if a parameter depends on them.
        """
        self._take_features(X, rows.n_features)
        state.asked, state.units = (), UNKNOWN if units is None else units
        state.youth = Youth.begin(rows) if units is None and self._awaits_scale() else None
        state.classes, state.is_open, state.sparse_coef = classes, is_open, None
        self.n_iter_ = 1
        self._state = state  # (last: readers in other threads find a whole model)

    def _learn(self, batch: Batch) -> None:
        """Learn rows with the task's kernel: the one place where a model changes. (Only classes are predicted on the way.)"""
        self._pass(youth.learn_first_rows(self, batch))

    def _kept_targets(self, targets: np.ndarray) -> np.ndarray:
        """Return the targets of rows in a form that does not change when classes join."""
        return targets

    def _learn_again(self, young: Youth, units: Units, before: Any) -> None:
        """Start a model with these units, and learn these rows. before : the model that has learnt them."""
        rows = young.rows
        self._begin(rows, rows, self._start_again(units, rows, 1, before), units)
        self._learn(Batch(rows, young.targets, young.weights))

    def _start_again(self, units: Units, rows: Rows, n_classes: int, before: Any) -> Any:
        """Return an empty model, if possible in the arrays of one that has learnt these rows."""
        params = choose(self, units).params
        begun = None if before is None else before.writable().begin_again(n_classes, params, rows.indices)
        return self._start(params, rows.n_features, n_classes, rows.data.dtype) if begun is None else begun

    def _pass(self, batch: Batch) -> None:
        """Run the task's kernel over rows."""
        state = self._state = self._state.writable()
        state.sparse_coef = None
        if batch.rows.n_rows == 0 or (batch.order is not NO_ORDER and len(batch.order) == 0):
            return
        task, is_open, balanced = self._task(state, batch.class_weights)
        asked = self._kernel_params(), is_open, balanced
        if state.asked != asked:
            state.params, state.asked = asked[0].of_pass(state, is_open, balanced), asked
        state.are_seen = self._are_seen
        state.prepare(_core.FORESIGHT[self._foresight], self._depth)
        state.learn(model.TASKS[task], *batch)

    def _end_call(self, named: ArrayLike | None = None) -> None:
        """End a `partial_fit` on the general path. named : see `_enable_fast_path`."""
        self._enable_fast_path(named)
        self._warn_of_rows()

    def _warn_of_rows(self) -> None:
        """Warn once if the first rows are too short or too long, or one column has nearly all of their squared length."""
        if "_dominant" not in self.__dict__:
            return
        column, who, scale = self.__dict__.pop("_dominant"), type(self).__name__, self._units.scale
        farthest = FARTHEST[self._state.dtype.itemsize]
        if scale and not 2.0**-farthest < scale < 2.0**farthest:
            warnings.warn(
                f"{who}: rows should have lengths between {2.0**-farthest:.0e} and {2.0**farthest:.0e} for "
                f"{self._state.dtype}, got rows beyond, which are learnt badly or skipped. Divide X by a row's length.",
                stacklevel=4,
            )
        if column is not None:
            names = self.__dict__.get("feature_names_in_")
            shown = column if names is None else repr(str(names[column]))
            warnings.warn(
                f"{who}: columns should be of like size, got column {shown} with more than nine tenths of the squared length of "
                f"each of the first {N_ROWS} rows, which hides the others. Standardise the columns before "
                "(scikit-learn's StandardScaler).", stacklevel=4,
            )

    def _enable_fast_path(self, named: ArrayLike | None = None) -> None:
        """Let the model handle small calls that need no check and no step of this class.

        named : the call's `classes` argument, if it named exactly the present classes; or None.
        """
        state: Any = self.__dict__.get("_state")
        if not self._has_fast_path or state is None:
            return
        classes, is_known = state.classes, self._units.scale and state.youth is None and len(state.asked) > 0
        ready = is_known and state.asked[0] is self._choice.params and getattr(self, "class_weight", None) is None
        if classes is not None:
            ready = ready and 1 < len(classes) == len(state.counts)
        if not ready:
            state.disable_fast_path()
            return
        same = {name: self.__dict__.get(name) for name in (*self._parameter_names(), "feature_names_in_")}
        task = model.TASKS[self._task(state, NO_WEIGHTS)[0]]
        state.enable_fast_path(same, self._own_lock(), task, same["feature_names_in_"], classes, named)

    # --- predicting ----------------------------------------------------------------------------------------------------------

    def _fitted_state(self) -> Any:
        if "_state" not in self.__dict__:
            raise not_fitted(type(self).__name__)
        return self._state

    def _state_for(self, rows: validate.Rows) -> Any:
        """Return the model to read rows with; raise if `fit` in another thread has replaced it by one of another shape."""
        state = self._state
        if (rows.n_features, rows.data.dtype) != (state.n_features, state.dtype):
            raise RuntimeError(
                f"{type(self).__name__}: the model must stay of one shape and dtype while rows are read, got another of "
                f"{state.n_features} features of {state.dtype}, fitted in another thread. Read the rows again."
            )
        return state

    def _decide(self, X: Matrix) -> tuple[np.ndarray, Any]:
        """Return the scores of X, (rows, vectors), by the fast path for small calls where that applies, and the model.

        Callers take everything else from the same model: the estimator may have another by then, with other classes.
        """
        state = self._fitted_state()
        if self._has_fast_path:
            found = state.try_decision(X, self.__dict__.get("feature_names_in_"))
            if found is not None:
                return found, state
        with QUIET():
            rows = self._read_rows(X, False)
            state = self._state_for(rows)
            return self._scores(rows, state), state

    def _scores(self, rows: validate.Rows, state: Any) -> np.ndarray:
        scores = np.empty((rows.n_rows, state.n_columns))
        threads.read_rows(type(self).__name__, state.decision, rows, scores, self.n_jobs)
        return scores

    # --- fitted attributes ---------------------------------------------------------------------------------------------------

    @property
    def t_(self) -> int:
        """Rounds: rows of weight > 0 consumed since the model began."""
        return self._fitted_state().count("t")

    def _in_units(self, name: str) -> float:
        """Return the model's number for a parameter whose default is in units of X."""
        self._fitted_state()
        choice = choose(self, self._units)
        if choice.values[name] not in choice.algorithm.units.get(name, AUTO):
            return float(choice.values[name])
        return float(choice.algorithm.in_units(choice.values, self._units)[name]) if self._units.scale else nan

    @property
    def scale_(self) -> float:
        """Unit of the defaults: the power of two nearest to the median length of the first 16 rows of weight > 0, without rows of
        zeros. NaN before the first."""
        return self._fitted_state().units.scale or nan

    @property
    def n_updates_(self) -> int:
        """Rounds that changed the model."""
        return self._fitted_state().count("updates")

    @property
    def n_skipped_(self) -> int:
        """Rounds skipped because the update would overflow the dtype."""
        return self._fitted_state().count("skipped")


# --- for the command line, evaluation and bounds, besides public attributes ----------------------------------------------------


def state_of(learner: Any) -> Any:
    """Return a fitted learner's model; for an `OnlineToBatch`, that of the wrapped learner."""
    return getattr(learner, "estimator_", learner)._fitted_state()


def check_parameters(learner: OnlineLearner) -> None:
    """Raise the ValueError that `fit` would raise for a parameter."""
    learner._kernel_params()


def model_bytes(learner: OnlineLearner, n_features: int, n_classes: int, dtype: DTypeLike) -> int:
    """Return the size in bytes of the arrays of a model with this learner's parameters."""
    params = learner._kernel_params()
    return STATES[params.model].n_bytes(params, n_features, n_classes, np.dtype(dtype))
