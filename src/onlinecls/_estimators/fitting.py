"""Learn in epochs, as `fit` does: when they end, PA as a batch algorithm, and weights to start from."""

from __future__ import annotations

from math import inf, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._compiled import model
from .._input import validate
from .._input.compat import random_state, warn_caller
from .._models.state import NO_ORDER, NO_WEIGHTS

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


def warn_of_skipped(learner: Any, n: int) -> None:
    """Warn of n rows that a call has skipped."""
    if n > 0:
        warn_caller(
            f"{type(learner).__name__}: {SKIPPED} {learner._state.dtype}, got {n:,} row{'s' * (n > 1)} whose updates would leave "
            "it and were skipped (n_skipped_). Standardise the columns (scikit-learn's StandardScaler) or divide X by a row's "
            "length; if that does not help, take smaller steps or another learner."
        )


# --- epochs --------------------------------------------------------------------------------------------------------------------


def fit(
    learner: Any, X: Matrix, y: Any, sample_weight: ArrayLike | None, coef_init: ArrayLike | None,
    intercept_init: ArrayLike | None,
) -> None:
    """Learn in epochs, from scratch or (`warm_start`) from the present model; everything is read before the first write."""
    who, params = type(learner).__name__, learner._choose()
    learner._check_call(X, whole=True)
    again = learner.warm_start and "_state" in learner.__dict__ and learner._can_go_on() and not learner._is_another_kind(params)
    generator = random_state(who, learner.random_state)
    rows = learner._read_rows(X, learner._state if again else None)
    validate.require_samples(who, rows)
    learner._check_range(params, rows.data.dtype)
    targets, weights = learner._read_targets(y, rows.n_rows), read_weights_of_fit(who, sample_weight, rows.n_rows)
    batch, classes = learner._batch_of_fit(Batch(rows, targets, weights), again)
    train, held_out = learner._split(batch.targets, generator) if learner.early_stopping else (NO_ORDER, NO_ORDER)
    batch = batch._replace(order=train)
    state = learner._state.closed() if again else learner._start(params, rows, 1 if classes is None else len(classes))
    if coef_init is not None or intercept_init is not None:
        level = state.level_with(batch)[0] if params.level else 0.0
        state = with_weights(learner, batch, state, coef_init, intercept_init, level)
    if params.level:  # the mean of all rows (and of those before, with `warm_start`)
        state = state.writable()
        state.set_level(*state.level_with(batch))
    n_skipped = state.count("skipped")
    learner._begin(X, rows, state, classes)
    if getattr(learner, "loss_tol", None) is None:
        learn_in_epochs(learner, batch, params, held_out, generator)
    else:
        learn_in_cycles(learner, batch, params, generator)
    warn_of_skipped(learner, learner._state.count("skipped") - n_skipped)


def learn_in_epochs(learner: Any, batch: Batch, params: Any, held_out: np.ndarray, generator: Generator) -> None:
    """Learn the rows of a `fit`. held_out : numbers of rows that tell when to stop."""
    rows, weights, train = batch.rows, batch.weights, batch.order
    best, idle, n_train = inf, 0, len(train) or rows.n_rows
    validation = rows.chosen(held_out) if len(held_out) else None
    for epoch in range(1, learner.max_iter + 1):
        order = _order_of(learner, generator, train if len(train) else rows.n_rows, train)
        loss_before = learner._state.counters[model.COUNTERS["loss"]]
        learner._learn(batch._replace(order=order), params, epoch)
        learner.n_iter_ = epoch
        loss = (learner._state.counters[model.COUNTERS["loss"]] - loss_before) / n_train
        if validation is not None:
            weighted = len(weights) and weights[held_out].any()
            loss = -learner._validate(validation, batch.targets[held_out], weights[held_out] if weighted else None)
        if learner.verbose:
            shown = f"mean loss={loss:.6f}" if validation is None else f"validation score={-loss:.6f}"
            print(f"-- Epoch {epoch}: t={learner.t_} {learner._progress()} updates={learner.n_updates_} {shown}")
        if learner.tol is not None:
            idle = idle + 1 if loss > best - learner.tol else 0
            best = min(best, loss)
            if idle >= learner.n_iter_no_change:
                break


def learn_in_cycles(learner: Any, batch: Batch, params: Any, generator: Generator) -> None:
    """Learn the rows of a `fit` with `loss_tol` until no squared loss exceeds it (PA, section 4).

    Each step brings the weights nearer to any u without loss, by at least loss_tol / max ||x||^2.
    """
    for cycle in range(1, learner.max_iter + 1):
        before = learner.n_updates_
        order = _order_of(learner, generator, batch.rows.n_rows, NO_ORDER)
        learner._learn(batch._replace(order=order), params, cycle, sqrt(learner.loss_tol))
        learner.n_iter_ = cycle
        if learner.verbose:
            print(f"-- Cycle {cycle}: t={learner.t_} updates={learner.n_updates_}")
        if learner.n_updates_ == before:
            return
    warn_caller(
        f"{type(learner).__name__}: fit must leave no squared loss above loss_tol={learner.loss_tol:g}, but rows still took "
        f"steps in the last of max_iter={learner.max_iter} cycles. Raise max_iter or loss_tol; if no weights have so small "
        "a loss on all rows, no number of cycles will do.", "ConvergenceWarning",
    )


def _order_of(learner: Any, generator: Generator, rows: np.ndarray | int, unshuffled: np.ndarray) -> np.ndarray:
    return generator.permutation(rows).astype(np.int64, copy=False) if learner.shuffle else unshuffled


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
