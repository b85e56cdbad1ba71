"""The states of learners of first and second order, a class for each geometry: its numbers of each weight, and what follows."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np

from .. import _core
from .state import STATES as STATES
from .state import WEIGHT, Array, State, read_only


class AdditiveState(State, _core.QuadraticModel):
    """values : w."""

    geometry = "additive"
    HAS_ROOM = TAKES_WEIGHTS = True


class WithPrior(State, _core.QuadraticModel):
    """A model that begins with a variance for each weight.

    prior : the share of it that a vector began with, 1/2 if it is one of two classes that shared a vector.
    """

    ARRAYS = {**State.ARRAYS, "prior": Array(("vectors",), fresh=1.0, half=0.5, least=0.5, most=1.0)}
    TAKES_WEIGHTS = True

    @property
    def floor(self) -> float:
        """The smallest variance of a weight that steps leave."""
        info = np.finfo(self.dtype)
        return float(info.tiny / info.eps)

    @property
    def most_variance(self) -> float:
        """The initial variance, in the model's dtype."""
        return float(self.dtype.type(self.variance))

    @property
    def priors(self) -> np.ndarray:
        """The stored variance with which each column began."""
        return np.maximum(self.most_variance * self.prior, self.floor)


class GaussianState(WithPrior):
    """values : w and σ, a variance for each weight."""

    geometry = "gaussian"
    HAS_ROOM = True
    SLOTS = (WEIGHT, Array(fresh="variance", least=5e-324, most="most_variance"))
    MOVES_LEVEL = True
    STORES_PULL = False  # True if P w is stored in the place of w
    growth_of_all = 1.0

    def _settle_halves(self, params: Any) -> None:
        growth, least = self.dtype.type(self.growth_of_all), max(self.floor, self.params.floor)
        variances = self.view[:, 1]  # (a step along a zero lifts those below the least)
        variances[:] = np.maximum(np.minimum(variances * growth, self.dtype.type(self.variance)) / 2, least) / growth

    def covariance(self, flat: bool) -> np.ndarray:
        """Return variances, (columns, n_features), or (n_features,) of a single vector if flat: a read-only view."""
        variances = self.slot(1, slice(self.n_features)).T
        return read_only(variances[0] if flat else variances)

    def _raise_constant(self, change: float) -> None:  # (by what rows tell, P - P_0, not by what the prior does)
        self.view[-1, 0] += change * (1.0 - self.view[-1, 1] / self.priors)

    def _merged(self, slabs: list[np.ndarray], models: list[Any], shares: list[float]) -> np.ndarray:
        """Multiply the posteriors, and divide by all priors but one: P = P_0 + Σ (P_k - P_0), P w = Σ P_k w_k."""
        found = np.zeros_like(slabs[0])
        precision = np.zeros_like(found[:, 1])
        for slab, each in zip(slabs, models, strict=True):
            priors, noise = np.broadcast_to(each.priors, slab[:, 1].shape), each.params.r2 / (self.params.r2 or 1.0)
            own, prior = noise * (1.0 / slab[:, 1]), noise * (1.0 / priors)
            pull = slab[:, 0].copy() if self.STORES_PULL else own * slab[:, 0]
            precision += own - prior
            found[:, 0] += pull
        variance = 1.0 / (1.0 / self.priors + precision)
        found[:, 1] = np.clip(variance, max(self.floor, self.params.floor), self.priors)
        if not self.STORES_PULL:
            found[:, 0] *= variance
        return found


class ForgettingState(GaussianState):
    """values : w and σ/s, s the growth in `counters`: variances grow with the rows, up to the initial one."""

    geometry = "forgetting"

    @property
    def growth_of_all(self) -> float:
        return float(self.counters[self.COUNTERS["growth"]]) or 1.0

    def covariance(self, flat: bool) -> np.ndarray:
        stored = super().covariance(flat)
        return read_only(np.minimum(stored * self.dtype.type(self.growth_of_all), self.dtype.type(self.variance)))

    def _problem_of_values(self) -> str:
        growth, tiny = self.growth_of_all, float(np.finfo(self.dtype).tiny)
        return "" if growth >= 1.0 and growth * tiny <= 2.0 * max(1.0, self.variance) else "a growth out of range"


class PotentialState(GaussianState):
    """values : θ, a sum of rows, and σ. w = σ θ."""

    geometry = "potential"
    STORES_PULL = True
    SLOTS = (WEIGHT._replace(half=-1.0), GaussianState.SLOTS[1])  # (half the variance halves w)

    def _last_weights(self, features: slice) -> np.ndarray:
        return self.slot(0, features) * self.slot(1, features)

    def numbers_of(self, weights: np.ndarray, features: slice) -> np.ndarray:
        return weights / self.slot(1, features)[:, : weights.shape[1]]


class FullState(WithPrior):
    """values : w. sigma : Σ of each vector of weights."""

    geometry = "full_gaussian"
    MOVES_LEVEL = True
    ARRAYS = {
        **WithPrior.ARRAYS,
        "sigma": Array(("vectors", "features", "features"), None, half=0.5),
        "growth": Array(("vectors",), fresh=1.0, least=1.0, most=2.0**21),
        "caps": Array(("vectors", "features"), fresh=1.0, least=5e-324, most=1.0),
    }

    def _fresh(self, name: str, shape: tuple, dtype: np.dtype) -> np.ndarray:
        found = super()._fresh(name, shape, dtype)
        if name == "sigma":
            places = np.arange(shape[1])
            found[:, places, places] = self.variance
        return found

    def covariance(self, flat: bool) -> np.ndarray:
        """Return Σ without the constant feature, (columns, n_features, n_features), or a single vector's matrix: a copy."""
        lower = self.sigma[:, : self.n_features, : self.n_features]
        roots = np.sqrt(self.growth)[:, None] * self.caps[:, :-1]
        covariance = _symmetric(lower * (roots[:, :, None] * roots[:, None]).astype(self.dtype))
        return read_only(covariance[0] if len(covariance) == 1 else covariance)

    def _raise_constant(self, change: float) -> None:  # (w += δ Σ (P - P_0) e)
        self.view[-1, 0] += change
        self.view[:, 0, 0] -= change * self.sigma[0, -1] / self.priors[0]

    def _merge_values(self, models: list[Any], shares: list[float]) -> None:
        """Merge posteriors: P = P_0 + Σ (P_k - P_0), P w = Σ P_k w_k."""
        values, sigma = np.empty_like(self.view), np.empty_like(self.sigma)
        for column, prior in enumerate(self.priors):
            pull, precision = np.zeros(self.n_features + 1), np.eye(self.n_features + 1) / prior
            for each in models:
                own, before = each.evidence(column)
                noise = each.params.r2 / (self.params.r2 or 1.0)
                more = noise * own
                pull += (more + noise * before * np.eye(len(more))) @ each.view[:, 0, column]
                precision += more
            variance = np.linalg.inv(precision)
            values[:, 0, column] = variance @ pull
            sigma[column] = np.tril((variance + variance.T) / 2)
        self.values, self.sigma = values.reshape(-1), sigma

    def evidence(self, column: int) -> tuple[np.ndarray, float]:
        """Return P - P_0 and P_0 of a vector: P from Σ's eigenvalues, clipped to (0, the prior], which rounding may leave."""
        prior = float(self.priors[column])
        values, vectors = np.linalg.eigh(_symmetric(self.sigma[column].astype(np.float64)))
        values = np.clip(values, float(np.finfo(self.dtype).eps) * values.max(), prior)
        more = (prior - values) / (prior * values)
        return (vectors * more) @ vectors.T, 1.0 / prior

    def _problem_of_values(self) -> str:
        # Rounding may bring a variance to 0, never below; the bound is that of full.pxd. (Upper triangles stay at 0.)
        if np.diagonal(self.sigma, axis1=1, axis2=2).min() < 0.0:
            return "variances below 0"
        beyond = max(float(self.sigma.max()), -float(self.sigma.min())) > 2.0 * self.variance
        return "covariances out of range" if beyond else ""


def _symmetric(lower: np.ndarray) -> np.ndarray:
    """Return the symmetric matrices of lower triangles."""
    lower = np.tril(lower)
    return lower + np.tril(lower, -1).swapaxes(-2, -1)


class FullPotentialState(FullState):
    """A full covariance of a learner that sums rows to θ; w = Σθ is stored."""

    geometry = "full_potential"


class MirrorState(State, _core.QuadraticModel):
    """values : w and G, the sum of squared gradients of each weight (AdaGrad)."""

    geometry = "mirror"
    HAS_ROOM = TAKES_WEIGHTS = True
    SQUARES = Array(least=0.0, most="largest", merge="sum")
    SLOTS = (WEIGHT, SQUARES)

    def _merge_bounds(self) -> None:
        super()._merge_bounds()
        self.counters[self.COUNTERS["curvature"]] = float(self.view[:, 1].max())


class DualAveragingState(MirrorState):
    """values : z, the sum of gradients (the threshold is l1 times the rounds), and G. w is computed from both when it is read."""

    geometry = "dual"
    SLOTS = (WEIGHT._replace(merge="sum"), MirrorState.SQUARES)

    def _last_weights(self, features: slice) -> np.ndarray:
        return self.shrunk(self.slot(0, features), self.slot(1, features)).astype(self.dtype)

    def shrunk(self, z: np.ndarray, G: np.ndarray) -> np.ndarray:
        """Compute the weights, in double."""
        z, root = z.astype(np.float64), np.sqrt(G, dtype=np.float64)
        soft = np.sign(z) * np.maximum(np.abs(z) - self.threshold, 0)
        return self.params.eta0 * soft / (self.params.delta + root)

    def numbers_of(self, weights: np.ndarray, features: slice) -> np.ndarray:
        of = self.slot(1, features)[:, : weights.shape[1]]
        root, eta0 = np.sqrt(of, dtype=np.float64), self.params.eta0
        weights = np.where(np.abs(weights) <= eta0 * self.largest**0.5, weights, np.inf)  # (FTRL multiplies them by gradients)
        return weights * (self.params.delta + root) / eta0 + np.sign(weights) * self.threshold

    @property
    def threshold(self) -> float:
        """The largest |z| of a weight of 0."""
        return self.params.l1 * self.count("t")

    def can_learn_with(self, params: Any) -> bool:
        """Return True if this model may go on with these parameters, with which its weights must stay within the dtype."""
        most = params.eta0 * float(self.counters[self.COUNTERS["max_abs_weight"]])
        return super().can_learn_with(params) and isfinite(most) and most <= self.largest * params.delta
