"""PA as a batch algorithm (PA, section 4): cycles over the rows until no squared loss exceeds a tolerance rho.

A row is presented if its squared loss is above rho. Each step brings the weights nearer to any u without loss, by at least
rho / max ||x||^2, so that the paper allows ||u - w_1||^2 max ||x||^2 / rho steps.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from .._input.compat import warn_caller
from .._models.state import NO_ORDER
from .choice import choose
from .epochs import learning
from .learner import Batch, OnlineLearner

if TYPE_CHECKING:
    from .._algorithm import Algorithm
    from .._input.types import Generator


class UntilConverged(OnlineLearner):
    """Base of the PA learners: `fit` with `loss_tol` cycles until no squared loss exceeds it, and no row takes a step."""

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
            is_done = self._cycle(batch, generator)
        finally:
            del self._slack, self._choice
        if not is_done:
            warn_caller(
                f"{type(self).__name__}: fit must leave no squared loss above loss_tol={self.loss_tol:g}, but rows still took "
                f"steps in the last of max_iter={self.max_iter} cycles. Raise max_iter or loss_tol; if no weights have so small "
                "a loss on all rows, no number of cycles will do.", "ConvergenceWarning",
            )

    def _cycle(self, batch: Batch, generator: Generator) -> bool:
        """Run cycles until one takes no step; return False if none of max_iter does."""
        for cycle in range(1, self.max_iter + 1):
            before, self.n_iter_ = self.n_updates_, cycle
            order = generator.permutation(batch.rows.n_rows).astype(np.int64, copy=False) if self.shuffle else NO_ORDER
            with learning(self, again=cycle > 1, holds_level=True):
                self._learn(batch._replace(order=order))
            if self.verbose:
                print(f"-- Cycle {cycle}: t={self.t_} updates={self.n_updates_}")
            if self.n_updates_ == before:
                return True
        return False
