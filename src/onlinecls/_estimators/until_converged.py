"""PA as a batch algorithm (PA, section 4): cycles over the rows until no squared loss exceeds a tolerance rho.

A row is presented if its squared loss is above rho. Each step brings the weights nearer to any u without loss, by at least
rho / max ||x||^2, so that the paper allows ||u - w_1||^2 max ||x||^2 / rho steps.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from .._input.compat import warn_caller
from .._models.state import NO_ORDER
from .choice import choose
from .epochs import learning
from .learner import Batch, OnlineLearner

if TYPE_CHECKING:
    from .._algorithm import Algorithm
    from .._input.types import Generator
    from .._rows import Rows


class UntilConverged(OnlineLearner):
    """Base of the PA learners: `fit` with `loss_tol` cycles until no squared loss exceeds it."""

    loss_tol: float | None
    n_iter_: int
    _slack = 0.0  # the largest loss without a step

    def _params_of(self, algorithm: Algorithm, values: dict) -> Any:
        return super()._params_of(algorithm, values)._replace(slack=self._slack)

    def _epochs(self, batch: Batch, held_out: np.ndarray, generator: Generator) -> None:
        if self.loss_tol is None:
            super()._epochs(batch, held_out, generator)
            return
        self._slack = sqrt(self.loss_tol)
        self.__dict__.pop("_choice", None)
        choose(self)
        try:
            self._cycle(batch, generator)
        finally:
            del self._slack, self._choice
        largest = float(self._losses(batch)[batch.live()].max(initial=0.0))
        if largest > sqrt(self.loss_tol):
            warn_caller(
                f"{type(self).__name__}: fit must leave no squared loss above loss_tol={self.loss_tol:g}, but the largest is "
                f"{largest * largest:.3g}, after max_iter={self.max_iter} cycles or where no step is left to take. Raise "
                "max_iter or loss_tol; if no weights have so small a loss on all rows, no number of cycles will do.",
                "ConvergenceWarning",
            )

    def _cycle(self, batch: Batch, generator: Generator) -> None:
        """Run cycles until one takes no step, at most max_iter."""
        n_rows = batch.rows.n_rows
        for cycle in range(1, self.max_iter + 1):
            before, self.n_iter_ = self.n_updates_, cycle
            order = generator.permutation(n_rows).astype(np.int64, copy=False) if self.shuffle else NO_ORDER
            with learning(self, again=cycle > 1, holds_level=True):
                self._learn(batch._replace(order=order))
            if self.verbose:
                print(f"-- Cycle {cycle}: t={self.t_} updates={self.n_updates_}")
            if self.n_updates_ == before:
                break

    def _losses(self, batch: Batch) -> np.ndarray:
        """Return the loss of each row, or a number below 0 if it has none."""
        raise NotImplementedError


class ClassifierUntilConverged(UntilConverged):
    """Base of PA classifiers that can be fitted until no hinge loss exceeds a tolerance."""

    multi_class: Literal["ovr", "crammer_singer"]
    margin: float

    def _losses(self, batch: Batch) -> np.ndarray:
        scores, of, targets = self._scores(batch.rows, self._state), np.arange(batch.rows.n_rows), batch.targets
        if scores.shape[1] > 1 and self.multi_class == "crammer_singer":
            true = scores[of, targets]
            scores[of, targets] = -inf
            margins = true - scores.max(axis=1)
        else:
            positive = targets[:, None] == (np.arange(scores.shape[1]) if scores.shape[1] > 1 else 1)
            margins = np.where(positive, scores, -scores).min(axis=1)
        of_classes = batch.class_weights  # (they multiply the wanted margins)
        lightest = of_classes[of_classes > 0.0].min() if len(of_classes) else 1.0
        factors = np.sqrt(np.minimum(of_classes / lightest, 1000.0))[targets] if len(of_classes) else 1.0
        return self.margin * factors - margins


class RegressorUntilConverged(UntilConverged):
    """Base of PA regressors that can be fitted until no ε-insensitive loss exceeds a tolerance."""

    epsilon: float

    def _losses(self, batch: Batch) -> np.ndarray:
        return np.abs(batch.targets - self._scores(batch.rows, self._state)[:, 0]) - self.epsilon


class OneClassUntilConverged(UntilConverged):
    """Base of PA one-class learners that can be fitted until no row is outside by more than a tolerance."""

    if TYPE_CHECKING:

        def _distances_of(self, rows: Rows, state: Any) -> np.ndarray: ...

    def _losses(self, batch: Batch) -> np.ndarray:
        return self._distances_of(batch.rows, self._state) / self._state.scale - self._state.params.epsilon
