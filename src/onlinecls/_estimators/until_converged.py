"""PA as a batch algorithm (PA, section 4): cycles over the rows until no loss exceeds a tolerance.

A row is presented if its squared loss is above rho. An update from a loss l brings the weights nearer to any competitor u:
with delta the largest loss of u on the rows, ||w - u||^2 falls by at least

    PA:     l (l - 2 delta) / ||x||^2,                     (PA, eq. 15, where w* has the loss delta)
    PA-I:   the same, or C (l - 2 delta) where C caps the step,
    PA-II:  l (l - 2 delta) / (||x||^2 + 1/(2C)),

so that with r = sqrt(rho) there are at most ||u - w_1||^2 / ((r - 2 delta) min(r / (max ||x||^2 + 1/(2C)), C)) updates (PA-I: no
1/(2C), PA-II: no cap); for C=inf and delta = 0 this is the paper's B ||w* - w_1||^2 / rho.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, repeat
from math import inf, isfinite, nan, sqrt
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from .._compiled import model
from .._input.compat import warn_not_converged
from .._models.state import NO_ORDER
from .choice import choose
from .epochs import learning
from .learner import Batch, OnlineLearner

if TYPE_CHECKING:
    from .._algorithm import Algorithm
    from .._input.rows import Rows
    from .._input.types import Generator
    from .._models.params import Params

FINER = 10.0  # regression, one class: the competitor's loss is at most 1/FINER of the tolerance


class UntilConverged(OnlineLearner):
    """Base of the PA learners: `fit` with `loss_tol` cycles until no squared loss exceeds it."""

    loss_tol: float | None
    n_iter_: int
    _slack = 0.0  # the largest loss without a step

    @property
    def n_updates_bound_(self) -> float:
        """The paper's bound on the updates of the last `fit`; NaN without `loss_tol`."""
        self._fitted_state()
        return self.__dict__.get("_updates_bound", nan)

    def _epochs(self, batch: Batch, held_out: np.ndarray, generator: Generator) -> None:
        self._updates_bound = nan
        if self.loss_tol is None:
            super()._epochs(batch, held_out, generator)
            return
        # (The bound is for rows of one scale: the first ones tell it before any is learnt.)
        self._state = self._state.writable()
        self._state.tell_scale(batch.rows, np.flatnonzero(batch.live()))
        slack, orders = sqrt(self.loss_tol), self._orders(batch.rows.n_rows, generator)
        order = next(orders)
        first = self._first_weights(batch._replace(order=order))
        self.n_iter_ = self._cycle(slack, batch, chain([order], orders), self.verbose)
        largest = self._largest_loss(batch)
        if largest > slack:
            self._updates_bound = inf
            warn_not_converged(type(self).__name__, self.max_iter, largest * largest, self.loss_tol)
            return
        u, delta = self._competitor(batch, largest)
        params = choose(self).params
        weight = batch.row_weights() / self._factors(batch)
        least = float(weight[weight > 0.0].min()) if len(weight) else 1.0
        self._updates_bound = _bound(params, self._size(batch, params, least), least, u - first, slack, delta)

    def _orders(self, n_rows: int, generator: Generator) -> Iterator[np.ndarray]:
        while True:
            yield generator.permutation(n_rows).astype(np.int64, copy=False) if self.shuffle else NO_ORDER

    def _params_of(self, algorithm: Algorithm, values: dict) -> Any:
        return super()._params_of(algorithm, values)._replace(slack=self._slack)

    def _cycle(self, slack: float, batch: Batch, orders: Iterator[np.ndarray], verbose: int) -> int:
        """Run cycles until no loss is larger than the slack, at most max_iter; return how many were run."""
        self._slack = slack
        self.__dict__.pop("_choice", None)
        choose(self)
        try:
            return self._run_cycles(batch, orders, verbose)
        finally:
            del self._slack, self._choice

    def _run_cycles(self, batch: Batch, orders: Iterator[np.ndarray], verbose: int) -> int:
        for cycle, order in zip(range(1, self.max_iter + 1), orders, strict=False):
            before = self.n_updates_
            with learning(self, again=cycle > 1, holds_level=True):
                self._learn(batch._replace(order=order))
            if verbose:
                print(f"-- Cycle {cycle}: t={self.t_} updates={self.n_updates_}")
            if self.n_updates_ == before:
                break
        return cycle

    def _weights(self) -> np.ndarray:
        """Return the weights, (columns, features and the constant one)."""
        return self._state.weights_of(self._state.params, slice(None)).astype(np.float64)

    def _first_weights(self, batch: Batch) -> np.ndarray:
        """Return w_1, the weights before the first row."""
        return self._weights()

    def _competitor(self, batch: Batch, largest: float) -> tuple[np.ndarray, float]:
        """Return weights with nearly no loss, found by learning on with a smaller tolerance, and their largest loss."""
        finer = self._sharing()
        finer._state = self._state.copy()
        finer._cycle(sqrt(cast("float", self.loss_tol)) / FINER, batch, repeat(NO_ORDER), 0)
        return finer._weights(), finer._largest_loss(batch)

    def _size(self, batch: Batch, params: Params, least: float) -> float:
        """Return the paper's B, the largest squared length of a signed example."""
        rows = batch.rows
        with np.errstate(over="ignore"):
            squares = np.add.reduceat(np.append(rows.data.astype(np.float64) ** 2, 0.0), rows.indptr[:-1])
        squares[np.diff(rows.indptr) == 0] = 0.0
        state = self._state
        return float(squares[batch.live()].max(initial=0.0)) / state.scale**2 + state.constant**2

    def _factors(self, batch: Batch) -> np.ndarray | float:
        """Return ρ, by which the weights of the rows' classes multiply the wanted margins."""
        return 1.0

    def _largest_loss(self, batch: Batch) -> float:
        raise NotImplementedError


class ClassifierUntilConverged(UntilConverged):
    """Base of PA classifiers that can be fitted until no hinge loss exceeds a tolerance."""

    multi_class: Literal["ovr", "crammer_singer"]
    margin: float

    def _size(self, batch: Batch, params: Params, least: float) -> float:
        return (2.0 if self._is_joint() else 1.0) * super()._size(batch, params, least)

    def _is_joint(self) -> bool:
        return self._state.n_columns > 1 and self.multi_class == "crammer_singer"

    def _largest_loss(self, batch: Batch) -> float:
        scores, of, targets = self._scores(batch.rows, self._state), np.arange(batch.rows.n_rows), batch.targets
        if self._is_joint():
            true = scores[of, targets]
            scores[of, targets] = -inf
            margins = true - scores.max(axis=1)
        else:
            positive = targets[:, None] == (np.arange(scores.shape[1]) if scores.shape[1] > 1 else 1)
            margins = np.where(positive, scores, -scores).min(axis=1)
        losses = self.margin * self._factors(batch) - margins
        return float(np.maximum(losses[batch.live()], 0.0).max(initial=0.0))

    def _factors(self, batch: Batch) -> np.ndarray | float:
        weights = batch.class_weights
        return np.sqrt(np.minimum(weights / weights[weights > 0.0].min(), 1000.0))[batch.targets] if len(weights) else 1.0

    def _competitor(self, batch: Batch, largest: float) -> tuple[np.ndarray, float]:
        """Return the weights scaled by margin / (margin - largest): they have no loss, whatever a row's class weighs."""
        margin = self.margin
        return (self._weights() * (margin / (margin - largest)), 0.0) if largest < margin else (self._weights(), inf)


class RegressorUntilConverged(UntilConverged):
    """Base of PA regressors that can be fitted until no ε-insensitive loss exceeds a tolerance."""

    epsilon: float

    def _largest_loss(self, batch: Batch) -> float:
        residuals = np.abs(batch.targets - self._scores(batch.rows, self._state)[:, 0])[batch.live()]
        return float(np.maximum(residuals - self.epsilon, 0.0).max(initial=0.0))


class OneClassUntilConverged(UntilConverged):
    """Base of PA one-class learners that can be fitted until no row is outside by more than a tolerance."""

    epsilon: float

    if TYPE_CHECKING:

        def _distances_of(self, rows: Rows) -> np.ndarray: ...

    def _first_weights(self, batch: Batch) -> np.ndarray:
        """Return the centre; before there is one, the first row, which becomes it."""
        if self._state.count("t"):
            return self._weights()
        rows = batch.rows
        numbers = batch.order if len(batch.order) else np.arange(rows.n_rows)
        one = rows.chosen(numbers[batch.live()[numbers]][:1])
        first = np.zeros((1, rows.n_features + 1))
        first[0, one.indices if len(one.indices) else slice(len(one.data))] = one.data / self._state.scale
        return first

    def _size(self, batch: Batch, params: Params, least: float) -> float:
        return 1.0 / min(1.0, least)

    def _largest_loss(self, batch: Batch) -> float:
        distances = self._distances_of(batch.rows)[batch.live()] / self._state.scale
        return float(np.maximum(distances - self._state.params.epsilon, 0.0).max(initial=0.0))


def _bound(params: Params, B: float, least: float, way: np.ndarray, r: float, delta: float) -> float:
    """Compute the bound on updates (equations in the module's docstring). least : smallest row weight; way : u - w_1."""
    gamma, cap = 0.0, params.C * least
    if params.rule == model.RULES["pa2"]:
        gamma, cap = 0.5 / cap, inf
    with np.errstate(over="ignore"):
        moved = float(np.sum(way**2))
    if B + gamma == 0.0:  # rows of zeros move nothing
        return inf if moved else 0.0
    gain = (r - 2.0 * delta) * min(r / (B + gamma), cap)
    return moved / gain if gain > 0.0 and isfinite(delta) else inf
