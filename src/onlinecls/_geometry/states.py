"""A class a geometry: what it keeps beside each weight or for all of them, and what follows from that."""

from __future__ import annotations

from math import log

import numpy as np

from .. import _core
from .._saving import require
from . import blas, centre, multiplicative, p_norm, simplex
from .state import State, n_vectors, read_only


class AdditiveState(State):
    """values : w."""

    geometry = "additive"


class GaussianState(State):
    """values : w and σ, a variance for each weight."""

    geometry = "gaussian"
    SLOTS = 2

    def _fresh(self, n_columns: int, dtype) -> np.ndarray:
        values = super()._fresh(n_columns, dtype)
        if self.variance:  # (it may wait for the first row)
            values[:, 1] = self.variance
        return values

    def take_units(self, params: dict) -> None:
        super().take_units(params)
        self.view[:, 1] = self.variance

    def _half(self, sign: int, share: float) -> np.ndarray:
        half, info = super()._half(sign, share), np.finfo(self.dtype)
        if self.variance:
            half[:, 1] = np.maximum(half[:, 1] / 2, info.tiny / info.eps)
        return half

    def covariance(self, flat: bool) -> np.ndarray:
        """Variances, (columns, n_features), or (n_features,) of the only vector if flat: a read-only view."""
        variances = self.view[: self.n_features, 1].T
        return read_only(variances[0] if flat else variances)

    def _problem_of_companions(self) -> str:
        if self.variance == 0.0:
            return "numbers before the first row" if self.values.any() else ""
        info, variances = np.finfo(self.dtype), self.view[:, 1]
        fit = info.tiny / info.eps <= float(variances.min()) and float(variances.max()) <= self.dtype.type(self.variance)
        return "" if fit else "variances out of their range"


class PotentialState(GaussianState):
    """values : θ, a sum of rows, and σ. w = σ θ."""

    geometry = "potential"

    def _half(self, sign: int, share: float) -> np.ndarray:
        return super()._half(sign, 1.0)  # (of half the variance: w is halved)

    def _last_weights(self, params: dict, features: slice) -> np.ndarray:
        return self.view[features, 0] * self.view[features, 1]


class FullState(State):
    """values : w. sigma : Σ of each vector of weights."""

    geometry = "full_gaussian"

    def prepare(self, foresight: int, depth: int) -> None:
        blas.load()
        self.foresight, self.depth = foresight, depth

    def _fresh_sigma(self, n_columns: int, dtype) -> np.ndarray:
        size = self.n_features + 1
        sigma = np.zeros((n_columns, size, size), dtype)
        sigma[:, np.arange(size), np.arange(size)] = self.variance
        return sigma

    def take_units(self, params: dict) -> None:
        super().take_units(params)
        self.sigma = self._fresh_sigma(self.n_columns, self.dtype)

    def _place_in(self, grown: State, places: np.ndarray) -> None:
        super()._place_in(grown, places)
        grown.sigma[places] = self.sigma

    def _halve_in(self, grown: State, places: np.ndarray, share: float) -> None:
        super()._halve_in(grown, places, share)
        for place in places:
            np.divide(self.sigma[0], 2, out=grown.sigma[place])

    def only(self, keep: np.ndarray) -> State:
        rest = super().only(keep)
        rest.sigma = self.sigma[keep]
        return rest

    def reading_params(self, params: dict) -> dict:
        return {**super().reading_params(params), "geometry": _core.GEOMETRIES["additive"]}  # (w is what is stored)

    def deviation(self, rows, deviations: np.ndarray) -> None:
        blas.load()
        super().deviation(rows, deviations)

    def covariance(self, flat: bool) -> np.ndarray:
        """Σ without the constant feature, (columns, n_features, n_features), or the matrix of the only vector: a copy."""
        lower = self.sigma[:, : self.n_features, : self.n_features]
        covariance = np.tril(lower)
        covariance += np.tril(lower, -1).transpose(0, 2, 1)
        return read_only(covariance[0] if len(covariance) == 1 else covariance)

    @classmethod
    def layout(cls, n_features: int, n_classes: int, dtype, average: bool, n_groups: int = 1) -> dict:
        layout, size = super().layout(n_features, n_classes, dtype, average), n_features + 1
        return {**layout, "sigma": ((n_vectors(n_classes), size, size), np.dtype(dtype))}

    def _problem_of_companions(self) -> str:
        # Rounding may bring a variance to 0, never below; the bound is that of full.pxd. (Upper triangles stay at 0.)
        if np.diagonal(self.sigma, axis1=1, axis2=2).min() < 0.0:
            return "variances below 0"
        beyond = max(float(self.sigma.max()), -float(self.sigma.min())) > 2.0 * self.variance
        return "covariances out of their range" if beyond else ""


class FullPotentialState(FullState):
    """The same of learners that sum rows to θ: w = Σθ is what is stored of them."""

    geometry = "full_potential"


class MirrorState(State):
    """values : w and G, the sum of squared gradients of each weight (AdaGrad)."""

    geometry = "mirror"
    SLOTS = 2

    def _problem_of_companions(self) -> str:
        sums = self.view[:, 1]
        fit = float(sums.min()) >= 0.0 and float(sums.max()) <= self._largest
        return "" if fit else "sums of squares out of their range"


class DualAveragingState(MirrorState):
    """values : z, the sum of gradients, and G. w is made of both when it is read."""

    geometry = "dual"

    def _last_weights(self, params: dict, features: slice) -> np.ndarray:
        z, root = self.view[features, 0].astype(np.float64), np.sqrt(self.view[features, 1], dtype=np.float64)
        soft = np.sign(z) * np.maximum(np.abs(z) - params["l1"] * self.count("t"), 0)
        return (params["eta0"] * soft / (params["delta"] + root)).astype(self.dtype)

    def stays_in_range(self, params: dict) -> bool:
        if params["geometry"] != _core.GEOMETRIES[self.geometry]:  # (the next fit starts a model of another kind)
            return True
        return params["eta0"] * self.tally[self.TALLY["reach"]] <= self._largest * params["delta"]


class WithGroups(State):
    """A model whose weights share numbers: those of one vector, or of all (Crammer-Singer's joint learner). Each such group has a
    row of the array `groups`, which is 0 before anything of it is known: the first row that is learnt computes it then.
    """

    PARTS = (*State.PARTS, "groups")
    AVERAGES = False  # (the scale of all weights changes with every step)
    FIELDS: tuple[str, ...] = ()  # the numbers of a group

    def __init__(self, n_features: int, n_classes: int, dtype, params: dict):
        super().__init__(n_features, n_classes, dtype, params)
        self.groups = self._unknown(1)

    def _unknown(self, n: int) -> np.ndarray:
        return np.zeros((n, len(self.FIELDS)))

    def named(self, group: np.ndarray) -> dict[str, float]:
        """The numbers of a group by their names."""
        return dict(zip(self.FIELDS, group.tolist(), strict=True))

    @property
    def _is_joint(self) -> bool:
        return len(self.groups) < self.n_columns

    @classmethod
    def layout(cls, n_features: int, n_classes: int, dtype, average: bool, n_groups: int = 1) -> dict:
        layout = super().layout(n_features, n_classes, dtype, average)
        return {**layout, "groups": ((n_groups, len(cls.FIELDS)), np.dtype(np.float64))}

    @staticmethod
    def n_groups_told(told: dict, arrays: dict) -> int:
        """One against the rest has a group for each vector."""
        return told["n_columns"] if len(arrays["groups"]) == told["n_columns"] else 1

    def _copy_to(self, grown: State) -> None:
        super()._copy_to(grown)
        grown.groups = self.groups.copy()

    def _place_in(self, grown: State, places: np.ndarray) -> None:
        super()._place_in(grown, places)
        if self._is_joint:
            grown.groups = self.groups.copy()
        else:
            grown.groups = self._unknown(grown.n_columns)
            grown.groups[places] = self.groups

    def _halve_in(self, grown: State, places: np.ndarray, share: float) -> None:
        super()._halve_in(grown, places, share)
        grown.groups = self._unknown(1)

    def only(self, keep: np.ndarray) -> State:
        rest = super().only(keep)
        rest.groups = self.groups if self._is_joint else self.groups[keep]
        return rest


class PNormState(WithGroups, p_norm.PNormModel):
    """values : θ and its roots. groups : see p_norm.pyx. power : p."""

    geometry = "p_norm"
    PARTS = (*WithGroups.PARTS, "power")
    SCALARS = (*WithGroups.SCALARS, "power")
    FIELDS = p_norm.FIELDS
    SLOTS = 2

    def __init__(self, n_features: int, n_classes: int, dtype, params: dict):
        super().__init__(n_features, n_classes, dtype, params)
        self.power = self.power_of(params, n_features)

    @staticmethod
    def power_of(params: dict, n_features: int) -> float:
        return params["power"] or max(2.0, 2.0 * log(max(n_features, 1)))

    @classmethod
    def _check_scalars(cls, told: dict, arrays: dict, n_classes: int, params: dict) -> None:
        super()._check_scalars(told, arrays, n_classes, params)
        power = told["power"]
        fits = type(power) is float and 2.0 <= power <= 500.0
        require(fits, "a state that learning can give", f"a power not in [2, 500]: {power!r}")

    def _half(self, sign: int, share: float) -> np.ndarray:
        half = super()._half(sign, share)
        half[:, 1] = sign * share ** p_norm.root_of(self.power)[0] * self.view[:, 1, 0] + 0.0
        return half

    def weights(self, params: dict, features: slice) -> np.ndarray:
        groups, roots = self.known(), self.view[features, 1]
        inverse, gain = groups[:, self.FIELDS.index("inverse")], groups[:, self.FIELDS.index("gain")]
        powers = np.abs(roots, dtype=np.float64) * inverse
        for _ in range(p_norm.root_of(self.power)[1]):
            powers *= powers
        weights = np.ascontiguousarray((gain * np.copysign(powers, roots)).astype(self.dtype).T)
        return read_only(weights)

    def _problem_of_companions(self) -> str:
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
            inverse, gain = (size**-root if size else 0.0), size / (self.power - 1.0)
            if self.power == 2.0:
                inverse = gain = 1.0
            if not np.allclose([norm["inverse"], norm["gain"]], [inverse, gain], 1e-3, 0.0):
                return "another norm of the weights"
        return ""


class CentreState(WithGroups, centre.CentreModel):
    """values : u of the centre a u. groups : see centre.pyx."""

    geometry = "centre"
    FIELDS = centre.FIELDS

    def weights(self, params: dict, features: slice) -> np.ndarray:
        scale = self.groups[0, self.FIELDS.index("scale")]
        weights = (scale * self.view[features, 0]).astype(self.dtype).T
        return read_only(weights)

    def _problem_of_companions(self) -> str:
        found = self.named(self.groups[0])
        if min(found["high"], found["noise"], found["scale"]) < 0.0:
            return "norms below 0"
        squares = np.sum(self.view[:, 0].astype(np.float64) ** 2)
        return "" if found["scale"] <= 1.0 and np.isclose(found["high"], squares, 1e-9, 0.0) else "another norm of u"


class SignedSimplexState(WithGroups, multiplicative.SimplexModel):
    """values : powers sinh(θ) e^-K and θ. groups : see simplex.pxd."""

    geometry = "sinh"
    FIELDS = tuple(simplex.GROUP)
    BELOW_0 = ("low",)  # numbers of a group that may be
    IS_SIGNED = True
    SLOTS = 2

    def take_units(self, params: dict) -> None:
        super().take_units(params)
        self.groups = self._unknown(len(self.groups))  # (of another simplex, with the constant feature)

    @property
    def moving(self) -> np.ndarray:
        return self.view[:, 1]

    @property
    def _n_live(self) -> int:
        """Features that are in the sum: without an intercept the constant one is not."""
        return self.n_features + (self.params["bias"] > 0.0)

    def _half(self, sign: int, share: float) -> np.ndarray:
        half = np.zeros((self.n_features + 1, 2), self.dtype)  # (powers come with the group's numbers)
        half[:, 1] = sign * share * self.view[:, 1, 0] + 0.0
        return half

    def weights(self, params: dict, features: slice) -> np.ndarray:
        values, groups = self.known()
        powers = values.reshape(self.n_features + 1, 2, self.n_columns)[features, 0]
        gain = params["norm_bound"] / (groups[:, simplex.GROUP["high"]] + groups[:, simplex.GROUP["low"]])
        weights = np.ascontiguousarray((gain * powers).astype(self.dtype).T)
        return read_only(weights)

    def _problem_of_companions(self) -> str:
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

    def _place_in(self, grown: State, places: np.ndarray) -> None:
        super()._place_in(grown, places)
        if self._is_joint and self.groups[0, simplex.GROUP["high"]] > 0.0:
            new = np.delete(np.arange(grown.n_columns), places)
            grown.view[: self._n_live, 0, new] = self.fresh_power()


#: The class of each geometry.
STATES: dict[str, type[State]] = {
    kind.geometry: kind for kind in [*vars().values()] if isinstance(kind, type) and issubclass(kind, State) and kind.geometry
}
