"""The model of FTRL-proximal: a sum of gradients less proximal terms, and a sum of squared gradients, for each weight."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np

from ..._models.states import DualAveragingState

if TYPE_CHECKING:
    from ..._models.params import Params
    from ..._models.state import Shard


class ProximalState(DualAveragingState):
    """values : z = Σ (σ w - g), the paper's -z, and n = Σ g². w is computed from both when it is read."""

    geometry = "proximal"

    def threshold(self, params: Params) -> float:
        return params.l1

    def stays_in_range(self, params: Params) -> bool:
        """Return True if weights that are read with other parameters still fit the dtype: |w| <= alpha t (see `step_fits`)."""
        most = max(float(self.counters[self.COUNTERS["max_abs_weight"]]), self.count("updates") * max(self.constant, 1.0))
        return params.geometry != self.params.geometry or params.eta0 * most <= self.largest

    def grow_classes(self, places: np.ndarray, n_classes: int, params: Params) -> Self:
        self.params = params  # (a half has half of the weight by the present l1)
        return super().grow_classes(places, n_classes, params)

    def _half(self, features: np.ndarray, side: int, share: float) -> np.ndarray:
        """Return z and n of the class on one side: those of half the weight, and all of a z within the threshold."""
        half = self.view[features, :, 0]
        z, l1 = half[:, 0].astype(np.float64), self.threshold(self.params)
        half[:, 0] = side * np.where(np.abs(z) > l1, (z + np.sign(z) * l1) / 2, z) + 0.0  # (no -0)
        return half

    def _merged(self, slabs: list[np.ndarray], shards: list[Shard], shares: list[float]) -> np.ndarray:
        """Take the means of the weights, weighted by n, which add up, and the z of which these are the weights.

        (What a feature has learnt then stays, if few of the models have met it. A z within the threshold is a mean like w.)
        """
        found, params = np.zeros_like(slabs[0]), self.params
        z, n = found[:, 0], found[:, 1]
        within, weights = np.zeros_like(z), np.zeros_like(z)
        for slab, shard in zip(slabs, shards, strict=True):
            own = slab[:, 1]
            n += own
            weights += own * self.shrunk(slab[:, 0], slab[:, 1], shard.params)
            within += own * np.clip(slab[:, 0], -params.l1, params.l1)
        seen = np.where(n > 0.0, n, 1.0)
        weights, within = weights / seen, within / seen
        z[...] = weights * (params.delta + np.sqrt(n)) / params.eta0
        z[...] += np.where(weights != 0.0, np.sign(weights) * params.l1, within)
        return found
