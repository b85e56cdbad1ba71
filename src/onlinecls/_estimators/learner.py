"""The base of the learners of all tasks: their calls, and the passes of the kernels over rows.

Data flow one way: parameters (choice.py) and input are read and checked here and in the task's own file (classifier.py,
regressor.py), the kernels (`_core`) change the arrays of a state (`_models`), and attributes are views of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from .._compiled import model
from .._core import FORESIGHT
from .._input import validate
from .._input.compat import random_state, warn_caller
from .._models.params import Params
from .._models.state import NO_ORDER, NO_WEIGHTS, n_vectors
from .._models.states import STATES
from . import epochs
from .choice import Choice, check_range, choose
from .estimator import Estimator, exclusive
from .fitted import Fitted

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike

    from .._algorithm import Algorithm
    from .._input.rows import Rows
    from .._input.types import FloatOrAuto, FloatType, Generator, Matrix, RandomState

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

    def part(self, start: int, stop: int | None = None) -> Batch:
        stop, cut = self.rows.n_rows if stop is None else stop, slice(start, stop)
        rows, predictions = self.rows.part(start, stop), self.predictions[cut]
        return self._replace(rows=rows, targets=self.targets[cut], weights=self.weights[cut], predictions=predictions)

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


class OnlineLearner(Fitted):
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

    # Attributes set by learning, besides those of `Describing`.
    _choice: Choice

    _record: ClassVar[Any] = Params  # the kind of parameters that a pass takes
    _foresight, _depth = "likely", 64  # how a full covariance processes many rows at once: see full.pxd
    _kind = "average, of scale, of dtype or of the parameter that selects the algorithm"  # what a model cannot change
    _are_seen = False  # True if the rows of a pass were learnt before: probabilities then learn nothing from them
    _holds_level = False  # True if the rows of a pass do not move the level of the targets
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

    def _parameters(self) -> dict:
        """Return the constructor's parameters by name, and those that a subclass only inherits."""
        found = self.get_params(deep=False)
        for name in ("fit_intercept", "intercept_scaling"):
            if name in self.__dict__:
                found[name] = self.__dict__[name]
        return found

    def _params_of(self, algorithm: Algorithm, values: dict) -> Any:
        """Return the parameters of a pass for checked values."""
        return self._record.of(algorithm, values)

    def _is_another_kind(self, params: Any) -> bool:
        """Return True if these parameters ask for a model of another kind than the present one."""
        dtype = self._choice.values["dtype"]
        return dtype not in (None, self._state.dtype) or not self._state.can_learn_with(params)

    def _check_kind(self, params: Any) -> None:
        """Raise unless a model may go on with these parameters."""
        if self._is_another_kind(params):
            raise ValueError(
                f"{type(self).__name__}: partial_fit must go on with the kind of model it began with, got other values of "
                f"{self._kind}. Call fit, or start with clone(estimator)."
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
            A classifier's labels, of at least two classes: integers, booleans, strings, or floats that are integers; of several
            labels a row, what `partial_fit` takes. A regressor's targets: finite numbers. A one-class learner uses none.
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
            self._begin(X, rows, self._start(choose(self).params, rows, 1))
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
        rows = self._read_rows(X, not again)
        validate.require_samples(who, rows, 1)
        check_range(self, params, rows.data.dtype)
        targets, weights = self._read_targets(y, rows.n_rows), read_weights_of_fit(who, sample_weight, rows.n_rows)
        batch, classes = self._batch_of_fit(Batch(rows, targets, weights), again)
        train, held_out = self._split(batch.targets, generator) if self.early_stopping else (NO_ORDER, NO_ORDER)
        batch, n_classes = batch._replace(order=train), 1 if classes is None else len(classes)
        state = self._state.closed() if again else self._start(params, rows, n_classes)
        if coef_init is not None or intercept_init is not None:
            level = state.level_with(batch)[0] if params.level else 0.0
            state = epochs.with_weights(self, batch, state, coef_init, intercept_init, level)

        if params.level:  # the mean of all rows (and of those before, with `warm_start`)
            state = state.writable()
            for each in state.levelled():
                each.set_level(*each.level_with(batch))
        n_skipped = state.count("skipped")
        self._begin(X, rows, state, classes)
        self._epochs(batch, held_out, generator)
        warn_of_skipped(self, self._state.count("skipped") - n_skipped)
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
        params = choose(self).params
        self._check_call(X, whole=False)
        first = "_state" not in self.__dict__
        changed = first or not self._state.asked or self._state.asked[0] != params
        changed = changed or self._choice.values["dtype"] not in (None, self._state.dtype)
        if changed and not first:
            self._check_kind(params)
        rows = self._read_rows(X, first)
        if changed:
            check_range(self, params, rows.data.dtype)
        return rows, first

    def _read_rows(self, X: Matrix, first: bool) -> validate.Rows:
        """Return X as rows, checked against the model's features and dtype; at the first call, X determines both."""
        who = type(self).__name__
        rows = validate.read_rows(who, X, self._choice.values["dtype"] if first else self._state.dtype)
        if first:
            validate.require_samples(who, rows, 0)
        else:
            self._check_features(X, rows.n_features)
        return rows

    def _begin(
        self, X: Matrix, rows: Rows, state: Any, classes: np.ndarray | None = None, is_open: bool = False
    ) -> None:
        """Set the model, usually an empty one; the estimator is unchanged until here. is_open : classes may join."""
        if "_state" not in self.__dict__ and rows.is_dense and rows.n_rows > 1:
            warn_of_unlike_columns(type(self).__name__, rows.part(0, min(rows.n_rows, MANY_ROWS)).array())
        self._take_features(X, rows.n_features)
        state.asked = ()
        state.classes, state.is_open, state.sparse_coef = classes, is_open, None
        self.n_iter_ = 1
        self._state = state  # (last: readers in other threads find a whole model)

    def _learn(self, batch: Batch) -> None:
        """Learn rows with the task's kernel: the one place where a model changes. (Only classes are predicted on the way.)"""
        state = self._state = self._state.writable()
        state.sparse_coef = None
        if batch.rows.n_rows == 0 or (batch.order is not NO_ORDER and len(batch.order) == 0):
            return
        task = self._prepare(batch.class_weights)
        state.learn(model.TASKS[task], *batch)

    def _prepare(self, class_weights: np.ndarray) -> str:
        """Prepare the model for a pass with the parameters as they were checked last; return the name of its kernel."""
        state = self._state
        task, is_open, balanced = self._task(state, class_weights)
        asked = self._choice.params, is_open, balanced
        if state.asked != asked:
            state.params, state.asked = asked[0].of_pass(state, is_open, balanced), asked
            state.given = dict(zip(self._parameter_names(), self._choice.given, strict=True))
        state.are_seen = self._are_seen
        state.prepare(self._holds_level, FORESIGHT[self._foresight], self._depth)
        return task

    def _end_call(self, n_skipped: int) -> None:
        """End a `partial_fit` on the general path, after which small calls may take the short one. n_skipped : of before it."""
        if "_state" not in self.__dict__:  # (after rows of weight 0 alone)
            return
        state, choice = self._state, self._choice
        if self._has_fast_path:
            is_ready = state.classes is None or 1 < len(state.classes) == len(state.counts)
            if is_ready and state.asked and state.asked[0] == choice.params and getattr(self, "class_weight", None) is None:
                same = dict(zip(self._parameter_names(), choice.given, strict=True))
                same["feature_names_in_"] = self.__dict__.get("feature_names_in_")
                task = model.TASKS[self._task(state, NO_WEIGHTS)[0]]
                state.open_small_calls(same, self._lock, task, state.classes)
            else:
                state.close_small_calls()
        if (n := state.count("skipped") - n_skipped) > 0:
            warn_of_skipped(self, n)


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


# --- for the command line, evaluation and bounds, besides public attributes ----------------------------------------------------


def state_of(learner: Any) -> Any:
    """Return a fitted learner's model; for an `OnlineToBatch`, that of the wrapped learner."""
    return getattr(learner, "estimator_", learner)._fitted_state()


def n_rounds(learner: Any) -> float:
    """Return how many rows of weight > 0 a learner has counted; 0 if it does not count."""
    return getattr(learner, "t_", None) or getattr(learner, "n_rows_", None) or 0


def live_rows(learner: Any, y: Any, sample_weight: Any) -> np.ndarray:
    """Return where rows have a weight > 0, the class weights of a learner of this library included."""
    live = np.ones(len(y), bool) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64) > 0.0
    class_weight = getattr(learner, "class_weight", None)
    if isinstance(learner, Estimator) and isinstance(class_weight, dict):
        live = live & np.array([class_weight.get(label, 1.0) > 0.0 for label in np.asarray(y).tolist()], bool)
    return live


def rows_learnt(learner: Any, before: float, y: Any, sample_weight: Any) -> int:
    """Return the number of the rows of a batch that a learner has learnt, by its count from before it."""
    n, done = len(y), n_rounds(learner) - before
    if not done or not isinstance(learner, Estimator):  # (other libraries' learners are not interrupted within a batch)
        return n if done else 0
    n_live = live_rows(learner, y, sample_weight).cumsum()
    return n if done >= n_live[-1] else int(n_live.searchsorted(done)) + 1


def check_parameters(learner: OnlineLearner) -> None:
    """Raise the ValueError that `fit` would raise for a parameter."""
    choose(learner)
