"""A class for each geometry: its numbers of each weight, or of all of them, and what follows from those."""

from __future__ import annotations

from math import fsum, isfinite, log
from typing import Self

import numpy as np

from .. import _core
from .._compiled import blas, centre, model, multiplicative, p_norm, simplex
from .params import Params
from .state import STATES as STATES
from .state import UNDERFLOW, Shard, State, read_only


class AdditiveState(State, _core.QuadraticModel):
    """values : w."""

    geometry = "additive"
    IS_LOCAL = HAS_ROOM = True


class WithPrior(State, _core.QuadraticModel):
    """A model that begins with a variance for each weight.

    halved : the columns that began with half of it, as those of two classes that shared a vector do.
    """

    PARTS = (*State.PARTS, "halved")
    SCALARS = (*State.SCALARS, "halved")

    def __init__(self, n_features: int, n_classes: int, dtype, params: Params):
        super().__init__(n_features, n_classes, dtype, params)
        self.halved: list[int] = []

    def set_scale(self, params: Params) -> None:
        super().set_scale(params)
        self.halved = []

    def _scatter_classes(self, grown: State, places: np.ndarray) -> None:
        super()._scatter_classes(grown, places)
        grown.halved = [int(places[column]) for column in self.halved]

    def joined(self, places: np.ndarray, n_classes: int, params: Params) -> Self:
        joined = super().joined(places, n_classes, params)
        if joined.n_columns > 1 and self.n_columns > 1:
            joined.halved = [int(places[column]) for column in self.halved]
        return joined

    def _split_binary(self, grown: State, places: np.ndarray, share: float) -> None:
        super()._split_binary(grown, places, share)
        grown.halved = [int(place) for place in places]

    def keep_classes(self, keep: np.ndarray) -> State:
        rest = super().keep_classes(keep)
        rest.halved = [int(keep[:column].sum()) for column in self.halved if keep[column]]
        return rest

    def _problem_of_values(self, counters: dict) -> str:
        halved = self.halved
        fit = type(halved) is list and all(type(column) is int for column in halved)
        if not fit or halved != sorted({*halved} & {*range(self.n_columns)}):
            return "missing columns of half a variance"
        return super()._problem_of_values(counters)

    @property
    def awaits_scale(self) -> bool:
        return self.variance == 0.0

    @property
    def priors(self) -> np.ndarray:
        """The stored variance with which each column began."""
        info, variance = np.finfo(self.dtype), self.dtype.type(self.variance)
        found = np.full(self.n_columns, variance, np.float64)
        found[self.halved] = max(variance / 2, info.tiny / info.eps)
        return found


class GaussianState(WithPrior):
    """values : w and σ, a variance for each weight."""

    geometry = "gaussian"
    IS_LOCAL = HAS_ROOM = True
    SLOTS = 2
    _growth = 1.0

    def _fresh_slots(self) -> tuple[float, ...]:
        return 0.0, self.variance  # (0 while it is unknown, before the first row)

    def set_scale(self, params: Params) -> None:
        super().set_scale(params)
        self._slots[:, 1] = self.variance

    def _half(self, features: np.ndarray, sign: int, share: float) -> np.ndarray:
        half, info, growth = super()._half(features, sign, share), np.finfo(self.dtype), self.dtype.type(self._growth)
        if self.variance:  # (a step, even along a stored zero, would lift those below the floor)
            least, variances = max(info.tiny / info.eps, self.params.floor), half[:, 1] * growth
            half[:, 1] = np.maximum(np.minimum(variances, self.dtype.type(self.variance)) / 2, least) / growth
        return half

    def covariance(self, flat: bool) -> np.ndarray:
        """Return variances, (columns, n_features), or (n_features,) of a single vector if flat: a read-only view."""
        variances = self.slot(1, slice(self.n_features)).T
        return read_only(variances[0] if flat else variances)

    def _problem_of_second_slots(self) -> str:
        if self.variance == 0.0:
            return "numbers before the first row" if self.values.any() else ""
        info, variances = np.finfo(self.dtype), self.view[:, 1]
        fit = info.tiny / info.eps <= float(variances.min()) and float(variances.max()) <= self.dtype.type(self.variance)
        return "" if fit else "variances out of range"

    def _merged(self, slabs: list[np.ndarray], shards: list[Shard], shares: list[float], end: int) -> np.ndarray:
        """Multiply the posteriors, and divide by all priors but one: P = P_0 + Σ (P_k - P_0), P w = Σ P_k w_k."""
        found, info = np.zeros_like(slabs[0]), np.finfo(self.dtype)
        precision = np.zeros_like(found[:, 1])
        for slab, shard in zip(slabs, shards, strict=True):
            own = self._precision(1.0 / slab[:, 1], shard, end)
            precision += own - self._precision(1.0 / np.broadcast_to(shard.state.priors, own.shape), shard, end)
            found[:, 0] += self._pull(own, slab[:, 0], shard, end)
        variance = 1.0 / (1.0 / self.priors + precision)
        found[:, 1] = np.clip(variance, max(info.tiny / info.eps, self.params.floor), self.priors)
        found[:, 0] *= self._turn(variance)
        return found

    @staticmethod
    def _precision(precision: np.ndarray, shard: Shard, end: int) -> np.ndarray:
        """Return the precision of a shard in the units of the result."""
        precision = shard.noise * precision
        if end:
            precision[end - 1] /= shard.constant**2
        return precision

    @staticmethod
    def _pull(precision: np.ndarray, first: np.ndarray, shard: Shard, end: int) -> np.ndarray:
        """Compute P w of a shard."""
        pull = precision * first
        if end:
            pull[end - 1] *= shard.constant
        return pull

    @staticmethod
    def _turn(variance: np.ndarray) -> np.ndarray | float:
        """Return the factor from Σ P w to the stored slot."""
        return variance


class ForgettingState(GaussianState):
    """values : w and σ/s, s the growth in `counters`: variances grow with the rows, up to the initial one."""

    geometry = "forgetting"
    IS_LOCAL = False  # (all variances are occasionally rewritten)

    @property
    def _growth(self) -> float:
        return float(self.counters[self.COUNTERS["growth"]]) or 1.0

    def covariance(self, flat: bool) -> np.ndarray:
        stored = super().covariance(flat)
        return read_only(np.minimum(stored * self.dtype.type(self._growth), self.dtype.type(self.variance)))

    def _problem_of_second_slots(self) -> str:
        info, variances, growth = np.finfo(self.dtype), self.view[:, 1], self._growth
        if self.variance == 0.0:
            return "numbers before the first row" if self.values.any() else ""
        fit = growth >= 1.0 and growth * float(info.tiny) <= 2.0 * max(1.0, self.variance) and variances.min() >= info.tiny / 2
        return "" if fit and float(variances.max()) <= self.dtype.type(self.variance) else "variances out of range"


class PotentialState(GaussianState):
    """values : θ, a sum of rows, and σ. w = σ θ."""

    geometry = "potential"

    def _half(self, features: np.ndarray, sign: int, share: float) -> np.ndarray:
        return super()._half(features, sign, 1.0)  # (half the variance halves w)

    @staticmethod
    def _pull(precision: np.ndarray, first: np.ndarray, shard: Shard, end: int) -> np.ndarray:
        pull = first.copy()  # (θ is P w)
        if end:
            pull[end - 1] /= shard.constant
        return pull

    @staticmethod
    def _turn(variance: np.ndarray) -> float:
        return 1.0

    def _last_weights(self, params: Params, features: slice) -> np.ndarray:
        return self.slot(0, features) * self.slot(1, features)


class FullState(WithPrior):
    """values : w. sigma : Σ of each vector of weights."""

    geometry = "full_gaussian"

    def prepare(self, foresight: int, depth: int) -> None:
        blas.load()
        self.foresight, self.depth = foresight, depth

    PARTS = (*WithPrior.PARTS, "growth", "caps")
    VECTORS = {"sigma": (2, 0.5), "growth": (0, 1.0), "caps": (1, 1.0)}

    def _fresh_part(self, name: str, n_columns: int) -> np.ndarray:
        part, places = super()._fresh_part(name, n_columns), np.arange(self.n_features + 1)
        part[(slice(None), places, places) if name == "sigma" else slice(None)] = self.variance if name == "sigma" else 1.0
        return part

    def set_scale(self, params: Params) -> None:
        super().set_scale(params)
        places = np.arange(self.n_features + 1)
        self.sigma[:, places, places] = self.variance  # (in place: there may be no memory for two of them)

    def deviation(self, rows, deviations: np.ndarray) -> None:
        blas.load()
        super().deviation(rows, deviations)

    def covariance(self, flat: bool) -> np.ndarray:
        """Return Σ without the constant feature, (columns, n_features, n_features), or a single vector's matrix: a copy."""
        lower = self.sigma[:, : self.n_features, : self.n_features]
        roots = np.sqrt(self.growth)[:, None] * self.caps[:, :-1]
        covariance = np.tril(lower) * (roots[:, :, None] * roots[:, None]).astype(self.dtype)
        covariance += np.tril(covariance, -1).transpose(0, 2, 1)
        return read_only(covariance[0] if len(covariance) == 1 else covariance)

    def _merge_values(self, shards: list[Shard], shares: list[float]) -> None:
        """Merge posteriors: P = P_0 + Σ (P_k - P_0), P w = Σ P_k w_k."""
        values, sigma = np.empty_like(self.view), np.empty_like(self.sigma)
        for column, prior in enumerate(self.priors):
            pull, precision = np.zeros(self.n_features + 1), np.eye(self.n_features + 1) / prior
            for shard in shards:
                units = np.ones(self.n_features + 1)
                units[-1] = shard.constant
                own, before = shard.state.evidence(column)
                more = shard.noise * own / np.outer(units, units)
                pull += (more + np.diag(shard.noise * before / units**2)) @ (shard.state.view[:, 0, column] * units)
                precision += more
            variance = np.linalg.inv(precision)
            values[:, 0, column] = variance @ pull
            sigma[column] = np.tril((variance + variance.T) / 2)
        self.values, self.sigma = values.reshape(-1), sigma

    def turn_covariances(self, turn: np.ndarray) -> None:
        """Make Σ that of turn @ weights. A weight that comes of no other has its first variance, and none has more."""
        for column, prior in enumerate(self.priors):
            lower = np.tril(self.sigma[column]).astype(np.float64)
            covariance = turn @ (lower + np.tril(lower, -1).T) @ turn.T
            variances = np.diagonal(covariance).copy()
            shrink = np.sqrt(np.minimum(1.0, prior / np.where(variances > 0.0, variances, prior)))
            covariance *= np.outer(shrink, shrink)
            covariance[np.diag_indices_from(covariance)] += np.where(variances > 0.0, 0.0, prior)
            self.sigma[column] = np.tril(covariance)

    def evidence(self, column: int) -> tuple[np.ndarray, float]:
        """Return P - P_0 and P_0 of a vector: P from Σ's eigenvalues, clipped to (0, the prior], which rounding may leave."""
        prior, lower = float(self.priors[column]), np.tril(self.sigma[column]).astype(np.float64)
        values, vectors = np.linalg.eigh(lower + np.tril(lower, -1).T)
        values = np.clip(values, float(np.finfo(self.dtype).eps) * values.max(), prior)
        more = (prior - values) / (prior * values)
        return (vectors * more) @ vectors.T, 1.0 / prior

    def _problem_of_second_slots(self) -> str:
        if self.growth.min() < 1.0 or self.growth.max() > 2.0**21 or self.caps.min() <= 0.0 or self.caps.max() > 1.0:
            return "a growth out of range"
        # Rounding may bring a variance to 0, never below; the bound is that of full.pxd. (Upper triangles stay at 0.)
        if np.diagonal(self.sigma, axis1=1, axis2=2).min() < 0.0:
            return "variances below 0"
        beyond = max(float(self.sigma.max()), -float(self.sigma.min())) > 2.0 * self.variance
        return "covariances out of range" if beyond else ""


class FullPotentialState(FullState):
    """A full covariance of a learner that sums rows to θ; w = Σθ is stored."""

    geometry = "full_potential"


class MirrorState(State, _core.QuadraticModel):
    """values : w and G, the sum of squared gradients of each weight (AdaGrad)."""

    geometry = "mirror"
    IS_LOCAL = HAS_ROOM = True
    SLOTS = 2

    def _merged(self, slabs: list[np.ndarray], shards: list[Shard], shares: list[float], end: int) -> np.ndarray:
        found = super()._merged(slabs, shards, shares, end)
        found[:, 1:] = self._sums([slab[:, 1:] for slab in slabs], [shard.constant**-2 for shard in shards], end)
        return found

    def _sums(self, slabs: list[np.ndarray], constants: list[float], end: int) -> np.ndarray:
        """Add up sums over rows."""
        return self._mean(slabs, [1.0] * len(slabs), constants, end)

    def _merge_bounds(self) -> None:
        super()._merge_bounds()
        self.counters[self.COUNTERS["curvature"]] = float(self.view[:, 1].max())

    def _problem_of_second_slots(self) -> str:
        sums = self.view[:, 1]
        fit = float(sums.min()) >= 0.0 and float(sums.max()) <= self._largest
        return "" if fit else "sums of squares out of range"


class DualAveragingState(MirrorState):
    """values : z, the sum of gradients, and G. w is computed from both when it is read."""

    geometry = "dual"

    def _merged(self, slabs: list[np.ndarray], shards: list[Shard], shares: list[float], end: int) -> np.ndarray:
        """Add up z, a sum over rows, as the threshold is l1 times their number."""
        found = super()._merged(slabs, shards, shares, end)
        found[:, :1] = self._sums([slab[:, :1] for slab in slabs], [1.0 / shard.constant for shard in shards], end)
        return found

    def _last_weights(self, params: Params, features: slice) -> np.ndarray:
        z, root = self.slot(0, features).astype(np.float64), np.sqrt(self.slot(1, features), dtype=np.float64)
        soft = np.sign(z) * np.maximum(np.abs(z) - params.l1 * self.count("t"), 0)
        return (params.eta0 * soft / (params.delta + root)).astype(self.dtype)

    def stays_in_range(self, params: Params) -> bool:
        if params.geometry != model.GEOMETRIES[self.geometry]:  # (the next fit starts another kind of model)
            return True
        most = params.eta0 * float(self.counters[self.COUNTERS["max_abs_weight"]])
        return isfinite(most) and most <= self._largest * params.delta


class WithGroups(State):
    """A model whose weights share numbers: those of one vector, or of all (Crammer-Singer's joint learner). Each such group has a
    row of the array `groups`: zeros until it is computed when the next row is learnt.
    """

    PARTS = (*State.PARTS, "groups")
    SCALARS = (*State.SCALARS, "groups")
    AVERAGES = False  # (the scale of all weights changes with every step)
    FIELDS: tuple[str, ...] = ()  # the numbers of a group

    def __init__(self, n_features: int, n_classes: int, dtype, params: Params):
        super().__init__(n_features, n_classes, dtype, params)
        self.groups = self._unknown(1)

    def _unknown(self, n: int) -> np.ndarray:
        return np.zeros((n, len(self.FIELDS)))

    def named(self, group: np.ndarray) -> dict[str, float]:
        """Return the numbers of a group by name."""
        return dict(zip(self.FIELDS, group.tolist(), strict=True))

    def _merged(self, slabs: list[np.ndarray], shards: list[Shard], shares: list[float], end: int) -> np.ndarray:
        """Take the mean of θ, sums of rows; what follows from it is computed when the next row is learnt."""
        return self._mean(slabs, shares, [1.0 / shard.constant for shard in shards], end)

    def _merge_values(self, shards: list[Shard], shares: list[float]) -> None:
        super()._merge_values(shards, shares)
        self.groups = self._unknown(max(len(shard.state.groups) for shard in shards))

    @property
    def _is_joint(self) -> bool:
        return len(self.groups) < self.n_columns

    @classmethod
    def layout(cls, n_features: int, n_classes: int, dtype, average: bool, n_groups: int = 1) -> dict:
        layout = super().layout(n_features, n_classes, dtype, average)
        return {**layout, "groups": ((n_groups, len(cls.FIELDS)), np.dtype(np.float64))}

    @staticmethod
    def n_groups_in(header: dict, arrays: dict) -> int:
        """Return the number of groups: one for each vector in one against the rest."""
        return header["n_columns"] if len(arrays["groups"]) == header["n_columns"] else 1

    def _scatter_classes(self, grown: State, places: np.ndarray) -> None:
        super()._scatter_classes(grown, places)
        if not self._is_joint:
            grown.groups = self._unknown(grown.n_columns)
            grown.groups[places] = self.groups

    def _split_binary(self, grown: State, places: np.ndarray, share: float) -> None:
        super()._split_binary(grown, places, share)
        grown.groups = self._unknown(1)

    def keep_classes(self, keep: np.ndarray) -> State:
        rest = super().keep_classes(keep)
        if not self._is_joint:
            rest.groups = self.groups[keep]
        return rest


class PNormState(WithGroups, p_norm.PNormModel):
    """values : θ and its roots. groups : see p_norm.pyx. power : p."""

    geometry = "p_norm"
    KEPT = (*WithGroups.KEPT, "power")
    PARTS = (*WithGroups.PARTS, "power")
    SCALARS = (*WithGroups.SCALARS, "power")
    FIELDS = p_norm.FIELDS
    SLOTS = 2

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

    def _merged(self, slabs: list[np.ndarray], shards: list[Shard], shares: list[float], end: int) -> np.ndarray:
        found = super()._merged(slabs, shards, shares, end)
        theta = found[:, 0].astype(self.dtype).astype(np.float64)
        found[:, 1] = np.sign(theta) * np.abs(theta) ** p_norm.root_of(self.power)[0]
        return found

    def _half(self, features: np.ndarray, sign: int, share: float) -> np.ndarray:
        half, root = super()._half(features, sign, share), p_norm.root_of(self.power)[0]
        half[:, 1] = sign * share**root * self.view[features, 1, 0] + 0.0
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

    def _problem_of_second_slots(self) -> str:
        if (np.delete(self.groups, self.FIELDS.index("low"), axis=1) < 0.0).any():
            return "norms below 0"
        first, root = self.view[:, 0].astype(np.float64), p_norm.root_of(self.power)[0]
        if not np.allclose(self.view[:, 1], np.sign(first) * np.abs(first) ** root, 64 * np.finfo(self.dtype).eps, 0.0):
            return "roots that are not those of the weights"
        for at, norm in enumerate(map(self.named, self.groups)):
            if norm["scale"] == 0.0:
                continue
            theta = np.abs(first if len(self.groups) == 1 else first[:, at])
            size = float(theta.max())
            size *= float(np.sum((theta / (size or 1.0)) ** self.power) ** (1.0 / self.power))
            if 0.0 < size < 1e-290:  # (powers underflow: the norm says little)
                continue
            total, scaled = norm["high"], size * norm["scale"]  # (the constant feature's term is not in high)
            for constant in np.ravel(first[-1] if len(self.groups) == 1 else first[-1, at]):
                total += abs(float(constant) * norm["scale"]) ** self.power
            if not np.allclose([total ** (1.0 / self.power), norm["shrink"]], [scaled, norm["scale"] ** root], 1e-3, 1e-12):
                return "a norm of other weights"
            inverse, gain = (size**-root if size else 0.0), size / (self.power - 1.0)
            if self.power == 2.0:
                inverse = gain = 1.0
            if not np.allclose([norm["inverse"], norm["weight_scale"]], [inverse, gain], 1e-3, 0.0):
                return "a norm that differs from that of the weights"
        return ""


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

    def _problem_of_second_slots(self) -> str:
        found = self.named(self.groups[0])
        if min(found["high"], found["noise"], found["scale"]) < 0.0:
            return "norms below 0"
        squares = np.sum(self.view[:, 0].astype(np.float64) ** 2)
        fits = found["scale"] <= 1.0 and np.isclose(found["high"], squares, 1e-9, UNDERFLOW**2)
        return "" if fits else "a norm that differs from that of u"


class SignedSimplexState(WithGroups, multiplicative.SimplexModel):
    """values : powers sinh(θ) e^-K and θ. groups : see simplex.pxd."""

    geometry = "sinh"
    KEPT = (*WithGroups.KEPT, "has_intercept")
    FIELDS = tuple(simplex.GROUP)
    BELOW_0 = ("low",)  # numbers of a group that may be below 0
    IS_SIGNED = True
    SLOTS = 2

    def set_scale(self, params: Params) -> None:
        super().set_scale(params)
        self.groups = self._unknown(len(self.groups))  # (the constant feature makes another simplex)

    def share_of_half(self, params: Params) -> float:
        """Give the two classes -θ and θ, as learners of each class would have."""
        return 1.0

    @property
    def primary(self) -> np.ndarray:
        return self.view[:, 1]

    @property
    def _n_live(self) -> int:
        """Number of features in the sum: the constant one only with an intercept."""
        return self.n_features + (self.params.bias > 0.0)

    def _merged(self, slabs: list[np.ndarray], shards: list[Shard], shares: list[float], end: int) -> np.ndarray:
        found = super()._merged(slabs, shards, shares, end)
        found[:, 0] = 0.0  # (powers come with the group's numbers)
        return found

    def _half(self, features: np.ndarray, sign: int, share: float) -> np.ndarray:
        half = np.zeros((len(features), 2), self.dtype)  # (powers come with the group's numbers)
        half[:, 1] = sign * share * self.view[features, 1, 0] + 0.0
        return half

    def weights_of(self, params: Params, features: slice) -> np.ndarray:
        values, groups = self.known()
        powers = values.reshape(self.n_features + 1, 2, self.n_columns)[features, 0]
        gain = params.norm_bound / (groups[:, simplex.GROUP["high"]] + groups[:, simplex.GROUP["low"]])
        weights = np.ascontiguousarray((gain * powers).astype(self.dtype).T)
        return read_only(weights)

    def _problem_of_second_slots(self) -> str:
        for at, group in enumerate(map(self.named, self.groups)):
            if min(number for name, number in group.items() if name not in self.BELOW_0) < 0.0:
                return "normalisers below 0"
            if group["high"] == 0.0:
                continue
            own = slice(None) if len(self.groups) == 1 else slice(at, at + 1)
            powers, theta = self.view[: self._n_live, 0, own], self.view[: self._n_live, 1, own]
            largest = float((np.abs(theta) if self.IS_SIGNED else theta).max())
            if group["ages"] != 0.0 or not (group["high"] <= group["peak"] and largest <= group["top"] <= self._largest):
                return "normalisers that are not those of the weights"
            problem = simplex.problem(powers, theta, self.groups[at : at + 1], self.IS_SIGNED)
            if problem:
                return problem
        return ""


class SimplexState(SignedSimplexState):
    """values : powers e^(θ - K) and θ, of weights above 0."""

    geometry = "exp"
    BELOW_0 = ("low", "shift", "top")
    IS_SIGNED = False

    def _scatter_classes(self, grown: State, places: np.ndarray) -> None:
        super()._scatter_classes(grown, places)
        if self._is_joint and self.groups[0, simplex.GROUP["high"]] > 0.0:
            new = np.delete(np.arange(grown.n_columns), places)
            grown.view[: self._n_live, 0, new] = self.fresh_power()
