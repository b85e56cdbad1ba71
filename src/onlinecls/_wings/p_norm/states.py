"""The model of the p-norm learners: θ, and the norms that vectors share."""

from __future__ import annotations

from math import log

import numpy as np

from ..._models.arrays import Slot, read_only
from ..._models.params import Params
from ..._models.state import Shard
from ..shared.groups import WithGroups
from . import p_norm


class PNormState(WithGroups, p_norm.PNormModel):
    """values : θ and its roots. groups : see p_norm.pyx. power : p."""

    geometry = "p_norm"
    KEPT = (*WithGroups.KEPT, "power")
    SCALARS = (*WithGroups.SCALARS, "power")
    FIELDS = p_norm.FIELDS
    SLOTS = (Slot(), Slot(merge=None))

    def __init__(self, n_features: int, n_classes: int, dtype, params: Params):
        super().__init__(n_features, n_classes, dtype, params)
        self.power = self.power_of(params, n_features)

    @staticmethod
    def power_of(params: Params, n_features: int) -> float:
        return params.power or max(2.0, 2.0 * log(max(n_features, 1)))

    def share_of_half(self, params: Params) -> float:
        """Scale θ so that w becomes -w/2 and w/2: the joint norm of two halves is 2^(1/p) times that of one."""
        return 0.5 * 2.0 ** ((self.power - 2.0) / self.power) if params.joint else 0.5

    @classmethod
    def _following(cls, n_features: int, n_classes: int, params: Params) -> dict:
        return {**super()._following(n_features, n_classes, params), "power": cls.power_of(params, n_features)}

    def _merged(self, slabs: list[np.ndarray], shards: list[Shard], shares: list[float]) -> np.ndarray:
        found = super()._merged(slabs, shards, shares)
        theta = found[:, 0].astype(self.dtype).astype(np.float64)
        found[:, 1] = np.sign(theta) * np.abs(theta) ** p_norm.root_of(self.power)[0]
        return found

    def _half(self, features: np.ndarray, side: int, share: float) -> np.ndarray:
        half, root = super()._half(features, side, share), p_norm.root_of(self.power)[0]
        half[:, 1] = side * share**root * self.view[features, 1, 0] + 0.0
        tiny = np.abs(half[:, 0]) < np.finfo(self.dtype).tiny  # (θ has lost bits)
        half[tiny, 1] = np.copysign(np.abs(half[tiny, 0], dtype=np.float64) ** root, half[tiny, 0])
        return half

    def weights_of(self, params: Params, features: slice) -> np.ndarray:
        groups, roots = self.known(), self.view[features, 1]
        inverse, gain = groups[:, self.FIELDS.index("inverse")], groups[:, self.FIELDS.index("weight_scale")]
        powers = np.abs(roots, dtype=np.float64) * inverse
        for _ in range(p_norm.root_of(self.power)[1]):
            powers *= powers
        weights = np.ascontiguousarray((gain * np.copysign(powers, roots)).astype(self.dtype).T)
        return read_only(weights)

    def _problem_of_derived(self) -> str:
        high, _, noise, scale, shrink, inverse, gain = self.groups.T
        if min(part.min() for part in (high, noise, scale, shrink, inverse, gain)) < 0.0:
            return "norms below 0"
        theta, roots = np.abs(self.view, dtype=np.float64).transpose(1, 0, 2)
        root, largest = p_norm.root_of(self.power)[0], theta.max(axis=0)
        if not np.allclose(roots, theta**root, 64 * np.finfo(self.dtype).eps, 0.0):
            return "roots that are not those of the weights"
        longest = (high + (theta[-1] * scale) ** self.power) ** (1.0 / self.power)  # (high lacks the constant feature's term)
        fits = (longest >= 0.999 * largest * scale) & np.isclose(shrink, scale**root, 1e-3, 0.0) & (gain <= self.largest)
        fits &= (inverse <= 1.0) if self.power == 2.0 else (roots.max(axis=0) * inverse <= 1.001)
        fits |= (largest < 1e-290) | (scale == 0.0)  # (where powers underflow, the norm says little)
        return "" if fits.all() else "a norm of other weights"
