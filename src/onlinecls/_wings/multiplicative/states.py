"""The models of the multiplicative learners: weights on a simplex, and its normalisers."""

from __future__ import annotations

import numpy as np

from ..._models.arrays import Move, Slot, absent, read_only
from ..._models.params import Params
from ..._models.state import State
from ..shared import simplex
from ..shared.groups import WithGroups
from . import multiplicative


class SignedSimplexState(WithGroups, multiplicative.SimplexModel):
    """values : powers sinh(θ) e^-K and θ. groups : see simplex.pxd."""

    geometry = "sinh"
    KEPT = (*WithGroups.KEPT, "has_intercept")
    FIELDS = tuple(simplex.GROUP)
    IS_SIGNED = True
    SLOTS = (Slot(absent, merge=None), Slot())  # (powers come with the group's numbers)
    PRIMARY = 1

    def share_of_half(self, params: Params) -> float:
        """Give the two classes -θ and θ, as learners of each class would have."""
        return 1.0

    @property
    def _n_live(self) -> int:
        """Number of features in the sum: the constant one only with an intercept."""
        return self.n_features + self.params.has_intercept

    def weights_of(self, params: Params, features: slice) -> np.ndarray:
        values, groups = self.known()
        powers = values.reshape(self.n_features + 1, 2, self.n_columns)[features, 0]
        gain = params.norm_bound / (groups[:, simplex.GROUP["high"]] + groups[:, simplex.GROUP["low"]])
        weights = np.ascontiguousarray((gain * powers).astype(self.dtype).T)
        return read_only(weights)

    def _problem_of_derived(self) -> str:
        powers, theta = self.view[: self._n_live].transpose(1, 0, 2)
        return simplex.problem(powers, theta, self.groups, self.IS_SIGNED)


class SimplexState(SignedSimplexState):
    """values : powers e^(θ - K) and θ, of weights above 0."""

    geometry = "exp"
    IS_SIGNED = False

    def _scatter(self, new: State, move: Move) -> None:
        super()._scatter(new, move)
        if self._is_joint and self.groups[0, simplex.GROUP["high"]] > 0.0:
            others = np.delete(np.arange(new.n_columns), move.new)
            new.view[: self._n_live, 0, others] = self.fresh_power()
