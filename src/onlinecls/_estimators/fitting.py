"""Learn in epochs, as `fit` does: when they end, rows held out, PA as a batch algorithm, and weights to start from."""

from __future__ import annotations

from math import ceil, inf, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._compiled import model
from .._input import validate
from .._input.compat import random_state, warn_caller
from .._models import NO_ORDER, NO_WEIGHTS

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .._input.types import Generator, Matrix
    from .._rows import Rows

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


def read_weights_of_fit(who: str, sample_weight: ArrayLike | None, n_rows: int) -> np.ndarray:
    """Read the weights of rows, not all of them 0."""
    weights = validate.read_weights(who, sample_weight, n_rows)
    if len(weights) and not weights.any():
        raise ValueError(
            f"{who}: sample_weight must not be 0 for all rows, got {n_rows} zeros. Leave it out for equal weights."
        )
    return weights


def warn_of_skipped(learner: Any, n: int) -> None:
    """Warn of n rows that a call has skipped."""
    warn_caller(
        f"{type(learner).__name__}: {SKIPPED} {learner._state.dtype}, got {n:,} row{'s' * (n > 1)} whose updates would leave it "
        "and were skipped (n_skipped_). Standardise the columns (scikit-learn's StandardScaler) or divide X by a row's length; "
        "if that does not help, take smaller steps or another learner."
    )


# --- epochs --------------------------------------------------------------------------------------------------------------------


def fit(
    learner: Any, X: Matrix, y: Any, sample_weight: ArrayLike | None, coef_init: ArrayLike | None = None,
    intercept_init: ArrayLike | None = None,
) -> Any:
    """Learn in epochs, from scratch or (`warm_start`) from the present model; everything is read before the first write."""
    who, params, classes = type(learner).__name__, learner._choose(), None
    present = learner.__dict__.get("_state") if learner.warm_start else None
    if present is not None and (learner._is_another_kind(params) or (present.classes is not None and len(present.classes) < 2)):
        present = None
    generator = random_state(who, learner.random_state)
    rows = learner._read_rows(X, present, learns=True)
    validate.require_samples(who, rows)
    params.check_range(who, rows.data.dtype)
    targets = learner._read_targets(who, y, rows.n_rows)
    batch = Batch(rows, targets, read_weights_of_fit(who, sample_weight, rows.n_rows))
    if learner._estimator_type == "classifier":
        batch, classes = learner._encoded(batch, None if present is None else present.classes)
    validation = None
    if learner.early_stopping:
        train, held_out = _split(learner, batch, generator)
        weighted = len(batch.weights) and batch.weights[held_out].any()
        validation = rows.chosen(held_out), targets[held_out], batch.weights[held_out] if weighted else None
        batch = batch._replace(order=train)
    if present is None:
        state = learner._start(params, rows, 1 if classes is None else len(classes))
    else:
        state = present.closed().copy()  # (a fault of the initial weights leaves the model as it was)
    if params.level:  # the mean of all rows (and of those before, with `warm_start`)
        state.set_level(*state.level_with(batch))
    if coef_init is not None or intercept_init is not None:
        state.tell_scale(rows, np.flatnonzero(batch.live()))
        set_weights(learner, state, coef_init=coef_init, intercept_init=intercept_init)
    learner._begin(X, rows, state, classes)
    if n_skipped := _learn_in_epochs(learner, batch, params, validation, generator):
        warn_of_skipped(learner, n_skipped)
    return learner


def _split(learner: Any, batch: Batch, generator: Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of the rows to learn from, and of those to hold out: a share of each class; two numbers for R^2."""
    is_classifier, n_rows = learner._estimator_type == "classifier", batch.rows.n_rows
    codes, least = (batch.targets, 1) if is_classifier else (np.zeros(n_rows), 2)
    is_held_out = np.zeros(n_rows, bool)
    for code in np.unique(codes):
        alike = np.flatnonzero(codes == code)
        n = min(max(ceil(learner.validation_fraction * len(alike)), least), len(alike) - 1)
        is_held_out[generator.permutation(alike)[:n]] = True
    if is_held_out.sum() < least:
        raise ValueError(
            f"{type(learner).__name__}: early_stopping must have rows to hold out beside rows to learn from (of some class), got "
            f"n_samples={n_rows}. Give more rows, or early_stopping=False."
        )
    return np.flatnonzero(~is_held_out), np.flatnonzero(is_held_out)


def _learn_in_epochs(learner: Any, batch: Batch, params: Any, validation: tuple | None, generator: Generator) -> int:
    """Learn the rows of a `fit`; return how many were skipped. validation : held-out rows that tell when to stop, as for `score`.

    With `loss_tol`, until no squared loss exceeds it (PA, section 4): each step brings the weights nearer to any u without loss,
    by at least loss_tol / max ||x||^2.
    """
    train, loss_tol, n_skipped = batch.order, learner.loss_tol, 0
    best, idle, n_train, slack = inf, 0, len(train) or batch.rows.n_rows, 0.0 if loss_tol is None else sqrt(loss_tol)
    for epoch in range(1, learner.max_iter + 1):
        if learner.shuffle:
            order = generator.permutation(train if len(train) else n_train).astype(np.int64, copy=False)
            batch = batch._replace(order=order)
        before = learner._state.counters.copy()
        n_skipped += learner._learn(batch, params, epoch, slack)
        learner.n_iter_ = epoch
        more = learner._state.counters - before
        loss = more[model.COUNTERS["loss"]] / n_train if validation is None else -learner.score(*validation)
        if learner.verbose:
            shown = f"mean loss={loss:.6f}" if validation is None else f"validation score={-loss:.6f}"
            print(f"-- Epoch {epoch}: t={learner.t_} updates={learner.n_updates_} {shown}")
        if loss_tol is not None:
            if not more[model.COUNTERS["updates"]]:
                return n_skipped
        elif learner.tol is not None:
            idle = idle + 1 if loss > best - learner.tol else 0
            best = min(best, loss)
            if idle >= learner.n_iter_no_change:
                break
    if loss_tol is not None:
        warn_caller(
            f"{type(learner).__name__}: fit must leave no squared loss above loss_tol={loss_tol:g}, but rows still took steps in "
            f"the last of max_iter={learner.max_iter} cycles. Raise max_iter or loss_tol; if no weights have so small a loss on "
            "all rows, no number of cycles will do.", "ConvergenceWarning",
        )
    return n_skipped


# --- given weights -------------------------------------------------------------------------------------------------------------


def set_weights(learner: Any, state: Any, **given: ArrayLike | None) -> None:
    """Set weights of X, by the names of arguments that show them like `coef_` and `intercept_`, in a copy of a model.

    Its scale stays; an average begins again with them.
    """
    who, n, k = type(learner).__name__, state.n_features, state.n_columns - state.n_none
    state.hold_scale()
    for name, weights in given.items():
        if weights is None:
            continue
        is_coef = name.startswith("coef")
        shape, features = ((k, n), slice(n)) if is_coef else ((k,), slice(n, None))
        values = validate.read_numbers(f"{who}: {name}", weights)
        if values.shape != shape and not (k == 1 and values.shape == shape[1:]):
            wanted = shape[1:] if learner._flat and is_coef else shape
            raise ValueError(f"{who}: {name} must have shape {wanted}, got {values.shape}.")
        values = values.reshape(shape)
        values = values * state.scale if is_coef else (values - state.level) / (state.constant or 1.0)
        numbers = state.numbers_of(values.T.reshape(-1, k), features)
        if not np.isfinite(numbers).all() or np.abs(numbers).max(initial=0.0) > np.finfo(state.dtype).max / 4:
            raise ValueError(f"{who}: {name} must be finite and within {state.dtype}, got a value that is not.")
        if is_coef or state.constant:
            state.primary[features, :k] = numbers
            state.counters[model.COUNTERS["max_abs_weight"]] = np.abs(state.primary).max()
        if len(state.correction):
            state.corrections[features, :k] = 0.0
