"""The model of the passive-aggressive one-class learner: a centre, and its norm."""

from __future__ import annotations

from math import fsum

import numpy as np

from ..._models.arrays import read_only
from ..._models.params import Params
from ..._models.state import Shard
from ..shared.groups import WithGroups
from . import centre


class CentreState(WithGroups, centre.CentreModel):
    """values : u of the centre a u. groups : see centre.pyx."""

    geometry = "centre"
    FIELDS = centre.FIELDS

    def _merge_values(self, shards: list[Shard], shares: list[float]) -> None:
        scale = self.FIELDS.index("scale")
        begun = [(shard.state, share) for shard, share in zip(shards, shares, strict=True) if shard.state.groups[0, scale]]
        total = sum(share for _, share in begun)
        centres = [share / total * state.groups[0, scale] * state.view[:, 0].astype(np.float64) for state, share in begun]
        self.groups = self._unknown(1)
        if centres:
            self.values = np.sum(centres, axis=0).astype(self.dtype).reshape(-1)
            self.groups[0, scale] = 1.0
        squares = self.values.astype(np.float64) ** 2
        self.groups[0, self.FIELDS.index("high")] = high = fsum(squares)
        self.groups[0, self.FIELDS.index("noise")] = np.finfo(np.float64).eps * high

    def weights_of(self, params: Params, features: slice) -> np.ndarray:
        scale = self.groups[0, self.FIELDS.index("scale")]
        weights = (scale * self.view[features, 0]).astype(self.dtype).T
        return read_only(weights)

    def _problem_of_derived(self) -> str:
        high, _, noise, scale = self.groups[0]
        return "norms below 0, or a scale above 1" if min(high, noise, scale) < 0.0 or scale > 1.0 else ""
