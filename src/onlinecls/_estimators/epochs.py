"""The epochs of `fit`, and weights to start them from."""

from __future__ import annotations

from contextlib import contextmanager
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from .._compiled import model
from .._input import validate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike

    from .._input.types import Generator
    from .learner import Batch, OnlineLearner


@contextmanager
def learning(learner: OnlineLearner, again: bool, *, holds_level: bool = False) -> Iterator[None]:
    """Mark the rows learnt inside the context as learnt before (`again`) or new: probabilities learn from new rows only.

    holds_level : True if the rows do not move the level of the targets, which is known.
    """

    def mark(seen: bool, holds: bool) -> None:
        learner._are_seen, learner._holds_level, state = seen, holds, learner.__dict__.get("_state")
        if isinstance(state, model.Model):  # (small calls read the model alone)
            state.are_seen = seen

    mark(again, holds_level)
    try:
        yield
    finally:
        mark(False, False)
        del learner._are_seen, learner._holds_level


def run(learner: Any, batch: Batch, held_out: np.ndarray, generator: Generator) -> None:
    """Learn the rows of the batch's order, or all of them, in epochs."""
    rows, weights, train = batch.rows, batch.weights, batch.order
    best, idle, n_train = np.inf, 0, len(train) or rows.n_rows
    n_epochs, tol = learner.max_iter, learner.tol
    validation = rows.chosen(held_out) if len(held_out) else None
    for epoch in range(1, n_epochs + 1):
        order = train
        if learner.shuffle:
            order = generator.permutation(train if len(train) else rows.n_rows).astype(np.int64, copy=False)
        loss_before = learner._state.counters[model.COUNTERS["loss"]]
        with learning(learner, again=epoch > 1, holds_level=True):
            learner._learn(batch._replace(order=order))
        learner.n_iter_ = epoch
        loss = (learner._state.counters[model.COUNTERS["loss"]] - loss_before) / n_train
        if validation is not None:
            weighted = len(weights) and weights[held_out].any()
            loss = -learner._validate(validation, batch.targets[held_out], weights[held_out] if weighted else None)
        if learner.verbose:
            shown = f"mean loss={loss:.6f}" if validation is None else f"validation score={-loss:.6f}"
            print(f"-- Epoch {epoch}: t={learner.t_} {learner._progress()} updates={learner.n_updates_} {shown}")
        if tol is not None:
            idle = idle + 1 if loss > best - tol else 0
            best = min(best, loss)
            if idle >= learner.n_iter_no_change:
                break


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


def split_by_class(who: str, codes: np.ndarray, fraction: float, generator: Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of the rows to learn from, and of those to hold out: a share of each class."""
    held_out, present = np.zeros(len(codes), bool), np.unique(codes)
    if len(codes) - ceil(fraction * len(codes)) < len(present) < len(codes):
        raise ValueError(
            f"{who}: validation_fraction must leave as many rows to learn from as there are classes, "
            f"{len(present)}, got validation_fraction={fraction!r} of n_samples={len(codes)}. "
            "Give more rows, a smaller fraction, or early_stopping=False."
        )
    for c in present:
        of_class = np.flatnonzero(codes == c)
        n_held_out = min(ceil(fraction * len(of_class)), len(of_class) - 1)
        held_out[generator.permutation(of_class)[: max(n_held_out, 0)]] = True
    if not held_out.any():
        raise ValueError(
            f"{who}: early_stopping must have two rows of some class, one to learn from and one to hold out, "
            f"got {len(codes)} rows of as many classes. Give more rows, or early_stopping=False."
        )
    return np.flatnonzero(~held_out), np.flatnonzero(held_out)
