"""The arrays of a model, how they grow when a class joins, and what can be read off them. Layout: sparse.pxd, full.pxd."""

from __future__ import annotations

from math import log

import numpy as np

from .. import _core
from .._input.validate import all_finite
from . import centre, multiplicative, p_norm, simplex

WITH_VARIANCE = ("gaussian", "potential")
NO_ORDER = np.empty(0, np.int64)


def problem_of_numbers(state) -> str:
    """Which of a state's arrays of floats has NaN or infinity; "" if none has."""
    for name in state.PARTS:
        array = getattr(state, name)
        if isinstance(array, np.ndarray) and array.dtype.kind == "f" and not all_finite(array):
            return f"{name} with NaN or infinity"
    return ""


def problem_of_counters(counts: np.ndarray, tally: dict) -> str:
    """Why no rows can have been counted so; "" if they can."""
    whole = np.append(counts, [tally[name] for name in ("t", "mistakes", "updates", "skipped", "seen")])
    if min(*tally.values(), counts.min()) < 0.0 or (whole != np.floor(whole)).any() or whole.max() > 2.0**53:
        return "counters that are not numbers of rows"
    if max(counts.max(), tally["mistakes"], tally["updates"], tally["skipped"]) > tally["t"]:
        return "counters beyond the number of rounds"
    if tally["seen"] != np.count_nonzero(counts):
        return "another number of classes seen than have rows"
    return ""


class State(_core.Model):
    """Everything that learning changes.

    values : flat array, a run of (first slots, second slots) of all columns for each feature, the constant feature last.
    sigma : full covariances, (columns, n_features + 1, n_features + 1), of which the lower triangles count; or empty.
    drift : float64, (n_features + 1) x columns, or empty: what turns the last weights into the average.
    counts : float64 (n_classes,), rows seen of each class. tally : float64, see _core.TALLY.
    """

    PARTS = ("counts", "drift", "geometry", "n_columns", "n_features", "sigma", "tally", "values", "variance")
    SCALARS = ("geometry", "n_features", "variance")  # what a model keeps when classes join it or leave
    SLOTS = 2

    def __init__(self, geometry: str, n_features: int, n_classes: int, dtype, params: dict):
        self.geometry = geometry
        self.n_features = n_features
        self.n_columns = n_classes if n_classes > 2 else 1
        self.variance = params["variance"]
        self.values = self._fresh(self.n_columns, dtype).reshape(-1)
        self.sigma = self._fresh_sigma(self.n_columns, dtype)
        self.drift = np.zeros((n_features + 1) * self.n_columns) if params["average_from"] >= 0 else np.empty(0)
        self.counts = np.zeros(n_classes)
        self.tally = np.zeros(_core.TALLY_SIZE)

    @classmethod
    def class_of(cls, geometry: str) -> type:
        """The class of a geometry's models."""
        return STATES.get(geometry, State)

    def parts(self) -> dict:
        """All there is to a model but the parameters that it was last learnt with."""
        return {name: getattr(self, name) for name in self.PARTS}

    @classmethod
    def of(cls, parts: dict):
        """The model of these parts."""
        state = cls.__new__(cls)
        for name, value in parts.items():
            setattr(state, name, value)
        return state

    def __reduce__(self):
        return type(self).of, ({**self.parts(), "params": self.params},)

    def copy(self):
        """A model of its own."""
        parts = {name: part.copy() if isinstance(part, np.ndarray) else part for name, part in self.parts().items()}
        return self.of({**parts, "params": self.params})

    @classmethod
    def layout(cls, geometry: str, n_features: int, n_classes: int, dtype, average: bool, n_shared: int = 1) -> dict:
        """Name: (shape, dtype) of the arrays that a State of these arguments has, without making one."""
        n_columns, double, is_full = n_classes if n_classes > 2 else 1, np.dtype(np.float64), geometry.startswith("full")
        size = n_features + 1
        n_weights = size * n_columns
        return {
            "values": ((n_weights * (1 if geometry == "additive" or is_full else cls.SLOTS),), np.dtype(dtype)),
            "sigma": ((n_columns, size, size) if is_full else (0, 1, 1), np.dtype(dtype)),
            "drift": ((n_weights if average else 0,), double),
            "counts": ((n_classes,), double),
            "tally": ((_core.TALLY_SIZE,), double),
        }

    @staticmethod
    def n_shared(told: dict, arrays: dict) -> int:
        """How many groups of vectors a model in a file has that share a number: see `WithGroups`."""
        return 1

    @classmethod
    def problem_of_scalars(cls, told: dict) -> str:
        """What is wrong with the parts of a geometry that are no arrays, "" if nothing is: for a model that comes from a file."""
        return ""

    def problem(self) -> str:
        """Why no learning can have left these numbers, "" if it can: for a model that comes from a file."""
        tally = {name: self.tally[at] for name, at in _core.TALLY.items()}
        return problem_of_numbers(self) or problem_of_counters(self.counts, tally) or self._problem_of_values(tally)

    def _problem_of_values(self, tally: dict) -> str:
        """The same for all but the counters."""
        first, largest = self.moving, self._largest
        # A step of one rounding or more is at most doubled by it: what has moved by `reach` is within a few times that.
        if max(float(first.max()), -float(first.min())) > min(4.0 * tally["reach"], largest):
            return "weights beyond their reach"
        return self._problem_of_companions()

    def _problem_of_companions(self) -> str:
        """The same for the numbers that stand beside what moves along x."""
        if self.is_full:
            # Rounding may bring a variance to 0, never below; the bound is that of full.pxd. (Upper triangles stay at 0.)
            if np.diagonal(self.sigma, axis1=1, axis2=2).min() < 0.0:
                return "variances below 0"
            if max(float(self.sigma.max()), -float(self.sigma.min())) > 2.0 * self.variance:
                return "covariances out of their range"
        elif self.geometry != "additive":
            info, second = np.finfo(self.dtype), self.view[:, 1]
            low, high = float(second.min()), float(second.max())
            if self.geometry in WITH_VARIANCE:
                if not (info.tiny / info.eps <= low and high <= self.dtype.type(self.variance)):
                    return "variances out of their range"
            elif not (0.0 <= low and high <= self._largest):
                return "sums of squares out of their range"
        return ""

    @property
    def _largest(self) -> float:
        """No number of a model is larger."""
        return float(np.finfo(self.dtype).max) / 4

    @property
    def moving(self) -> np.ndarray:
        """What steps move along x, (n_features + 1, columns)."""
        return self.view[:, 0]

    @property
    def dtype(self):
        return self.values.dtype

    def _fresh(self, n_columns: int, dtype) -> np.ndarray:
        """The values of vectors that start from nothing."""
        slots = 1 if self.geometry == "additive" or self.is_full else self.SLOTS
        values = np.zeros((self.n_features + 1, slots, n_columns), dtype)
        if self.geometry in WITH_VARIANCE:
            values[:, 1] = self.variance
        return values

    def _fresh_sigma(self, n_columns: int, dtype) -> np.ndarray:
        if not self.is_full:
            return np.zeros((0, 1, 1), dtype)
        size = self.n_features + 1
        sigma = np.zeros((n_columns, size, size), dtype)
        sigma[:, np.arange(size), np.arange(size)] = self.variance
        return sigma

    @property
    def is_full(self) -> bool:
        return self.geometry.startswith("full")

    @property
    def view(self) -> np.ndarray:
        """The values as (n_features + 1, slots, columns)."""
        return self.values.reshape(self.n_features + 1, -1, self.n_columns)

    def count(self, name: str) -> int:
        return int(self.tally[_core.TALLY[name]])

    def _like(self, counts: np.ndarray) -> State:
        """A model of this kind and of these classes, the arrays of which are still to come."""
        new = type(self).__new__(type(self))
        for name in self.SCALARS:
            setattr(new, name, getattr(self, name))
        new.params, new.counts, new.tally = self.params, counts, self.tally.copy()
        new.n_columns = len(counts) if len(counts) > 2 else 1
        return new

    def with_classes(self, places: np.ndarray, n_classes: int, share: float = 0.5) -> State:
        """This model with its classes at `places` among n_classes; the newcomers start from nothing.

        One vector w becomes the two -w/2 and +w/2, with half the variance each, so that every score difference and its variance
        stay what they were. For a potential w = Σθ this means that θ keeps its size; `share` is what θ keeps where the weights
        are another function of it.
        """
        counts = np.zeros(n_classes)
        counts[places] = self.counts
        grown = self._like(counts)
        if grown.n_columns == self.n_columns:
            self._copy_to(grown)
        elif self.n_columns > 1:
            self._place_in(grown, places)
        else:
            self._halve_in(grown, places, share)
        return grown

    def _copy_to(self, grown: State) -> None:
        """The arrays of a model of as many vectors."""
        grown.values, grown.drift = self.values.copy(), self.drift.copy()
        # A full Σ is large, and no one changes it before the first row: it goes along.
        grown.sigma = self.sigma if self.sigma.flags.writeable else self.sigma.copy()

    def _place_in(self, grown: State, places: np.ndarray) -> None:
        """The vectors of this model at places of one with more of them."""
        values, grown.sigma = self._fresh(grown.n_columns, self.dtype), self._fresh_sigma(grown.n_columns, self.dtype)
        values[:, :, places] = self.view
        if self.is_full:
            grown.sigma[places] = self.sigma
        grown.values, grown.drift = values.reshape(-1), self.drift
        if len(self.drift):
            drift = np.zeros((self.n_features + 1, grown.n_columns))
            drift[:, places] = self.drift.reshape(-1, self.n_columns)
            grown.drift = drift.reshape(-1)

    def _halve_in(self, grown: State, places: np.ndarray, share: float) -> None:
        """The only vector of this model as those of its two classes."""
        values, grown.sigma = self._fresh(grown.n_columns, self.dtype), self._fresh_sigma(grown.n_columns, self.dtype)
        drift = np.zeros((self.n_features + 1, grown.n_columns)) if len(self.drift) else None
        for sign, place in zip((-1, 1), places, strict=False):
            values[:, :, place] = self._half(sign, share)
            if self.is_full:
                np.divide(self.sigma[0], 2, out=grown.sigma[place])
            if drift is not None:
                drift[:, place] = sign * 0.5 * self.drift + 0.0
        grown.values = values.reshape(-1)
        grown.drift = np.empty(0) if drift is None else drift.reshape(-1)

    def _half(self, sign: int, share: float) -> np.ndarray:
        """What is stored, (features, slots), of the class on one side of the only vector."""
        half = self.view[:, :, 0].copy()
        half[:, 0] = sign * (1.0 if self.geometry == "potential" else share) * half[:, 0] + 0.0  # no -0
        if self.geometry in WITH_VARIANCE:
            info = np.finfo(self.dtype)
            half[:, 1] = np.maximum(half[:, 1] / 2, info.tiny / info.eps)
        return half

    def writable(self) -> State:
        """This model, or a copy where some of its arrays are read-only (memory-mapped by joblib, say)."""
        if all(part.flags.writeable for part in self.parts().values() if isinstance(part, np.ndarray)):
            return self
        return self.with_classes(np.arange(len(self.counts)), len(self.counts))

    def weights(self, params: dict, features: slice) -> np.ndarray:
        """(columns, features) weights that predict: a read-only view where they are stored as they are."""
        view = self.view[features]
        first = view[:, 0]
        if self.geometry == "potential":
            first = first * view[:, 1]
        elif self.geometry == "dual":
            z, root = first.astype(np.float64), np.sqrt(view[:, 1], dtype=np.float64)
            soft = np.sign(z) * np.maximum(np.abs(z) - params["l1"] * self.count("t"), 0)
            first = (params["eta0"] * soft / (params["delta"] + root)).astype(self.dtype)
        rounds = self.average_rounds(params)
        if rounds:
            first = (first - self.drift.reshape(-1, self.n_columns)[features] / rounds).astype(self.dtype)
        first = first.T
        first.flags.writeable = False
        return first

    def average_rounds(self, params: dict) -> float:
        """Over how many rounds the average runs; 0 if there is none."""
        return max(float(self.count("t") - params["average_from"]), 0.0) if len(self.drift) else 0.0

    def covariance(self) -> np.ndarray:
        """Variances, (columns, n_features), a view; or full covariances, (columns, n_features, n_features), a copy."""
        if self.is_full:
            lower = self.sigma[:, : self.n_features, : self.n_features]
            covariance = np.tril(lower)
            covariance += np.tril(lower, -1).transpose(0, 2, 1)
        else:
            covariance = self.view[: self.n_features, 1].T
        covariance.flags.writeable = False
        return covariance

    def only(self, keep: np.ndarray) -> State:
        """This model of three classes or more without the others, which have never had a row."""
        rest = self._like(self.counts[keep])
        rest.n_columns = int(keep.sum())
        rest.sigma = self.sigma[keep] if self.is_full else self.sigma
        rest.values = np.ascontiguousarray(self.view[:, :, keep]).reshape(-1)
        rest.drift = self.drift.reshape(-1, self.n_columns)[:, keep].reshape(-1) if len(self.drift) else self.drift
        return rest

    def count_rows(self, n_rows: int, n_new: int) -> None:
        """Rows of the only class there is: nothing to learn from."""
        self.tally[_core.TALLY["t"]] += n_rows
        self.tally[_core.TALLY["seen"]] = 1.0
        self.tally[_core.TALLY["mistakes"]] += n_new
        self.counts[0] += n_rows


class WithGroups(State):
    """A model whose weights share numbers: those of one vector, or of all (Crammer-Singer's joint learner). Each such group has a
    row of the array `groups`, which is 0 before anything of it is known: the first row that is learnt computes it then.
    """

    PARTS = (*State.PARTS, "groups")
    FIELDS: tuple[str, ...] = ()  # the numbers of a group

    def __init__(self, geometry: str, n_features: int, n_classes: int, dtype, params: dict):
        super().__init__(geometry, n_features, n_classes, dtype, params)
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
    def layout(cls, geometry: str, n_features: int, n_classes: int, dtype, average: bool, n_shared: int = 1) -> dict:
        layout = super().layout(geometry, n_features, n_classes, dtype, average)
        return {**layout, "groups": ((n_shared, len(cls.FIELDS)), np.dtype(np.float64))}

    @staticmethod
    def n_shared(told: dict, arrays: dict) -> int:
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

    PARTS = (*WithGroups.PARTS, "power")
    SCALARS = (*WithGroups.SCALARS, "power")
    FIELDS = p_norm.FIELDS

    def __init__(self, geometry: str, n_features: int, n_classes: int, dtype, params: dict):
        super().__init__(geometry, n_features, n_classes, dtype, params)
        self.power = self.power_of(params, n_features)

    @staticmethod
    def power_of(params: dict, n_features: int) -> float:
        return params["power"] or max(2.0, 2.0 * log(max(n_features, 1)))

    @classmethod
    def problem_of_scalars(cls, told: dict) -> str:
        power = told["power"]
        return "" if type(power) is float and 2.0 <= power <= 500.0 else f"a power not in [2, 500]: {power!r}"

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
        weights.flags.writeable = False
        return weights

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

    FIELDS = centre.FIELDS
    SLOTS = 1

    def weights(self, params: dict, features: slice) -> np.ndarray:
        scale = self.groups[0, self.FIELDS.index("scale")]
        weights = (scale * self.view[features, 0]).astype(self.dtype).T
        weights.flags.writeable = False
        return weights

    def _problem_of_companions(self) -> str:
        found = self.named(self.groups[0])
        if min(found["high"], found["noise"], found["scale"]) < 0.0:
            return "norms below 0"
        squares = np.sum(self.view[:, 0].astype(np.float64) ** 2)
        return "" if found["scale"] <= 1.0 and np.isclose(found["high"], squares, 1e-9, 0.0) else "another norm of u"


class SimplexState(WithGroups, multiplicative.SimplexModel):
    """values : powers and θ. groups : see simplex.pxd."""

    FIELDS = tuple(simplex.GROUP)

    @property
    def moving(self) -> np.ndarray:
        return self.view[:, 1]

    def _place_in(self, grown: State, places: np.ndarray) -> None:
        super()._place_in(grown, places)
        if self.geometry == "exp" and self._is_joint and self.groups[0, simplex.GROUP["high"]] > 0.0:
            live = self.n_features + bool(self.view[-1, 0].any())  # without an intercept the constant feature has no power
            new = np.delete(np.arange(grown.n_columns), places)
            grown.view[:live, 0, new] = self.fresh_power()

    def _half(self, sign: int, share: float) -> np.ndarray:
        half = np.zeros((self.n_features + 1, 2), self.dtype)  # (powers come with the group's numbers)
        half[:, 1] = sign * share * self.view[:, 1, 0] + 0.0
        return half

    def weights(self, params: dict, features: slice) -> np.ndarray:
        values, groups = self.known()
        powers = values.reshape(self.n_features + 1, 2, self.n_columns)[features, 0]
        gain = params["norm_bound"] / (groups[:, simplex.GROUP["high"]] + groups[:, simplex.GROUP["low"]])
        weights = np.ascontiguousarray((gain * powers).astype(self.dtype).T)
        weights.flags.writeable = False
        return weights

    def _problem_of_companions(self) -> str:
        signed = ("low",) if self.geometry == "sinh" else ("low", "shift", "top")
        for at, group in enumerate(map(self.named, self.groups)):
            if min(number for name, number in group.items() if name not in signed) < 0.0:
                return "normalisers below 0"
            if group["high"] == 0.0:
                continue
            own = slice(None) if len(self.groups) == 1 else slice(at, at + 1)
            # Without an intercept the constant feature is in no sum.
            live = self.n_features + bool(self.view[-1, :, own].any())
            powers, theta = self.view[:live, 0, own], self.view[:live, 1, own]
            largest = float((np.abs(theta) if self.geometry == "sinh" else theta).max())
            if group["ages"] != 0.0 or not (group["high"] <= group["peak"] and largest <= group["top"] <= self._largest):
                return "normalisers that are not those of the weights"
            problem = simplex.problem(powers, theta, self.groups[at : at + 1], self.geometry == "sinh")
            if problem:
                return problem
        return ""


#: Geometries whose models have a class of their own.
STATES = {"p_norm": PNormState, "centre": CentreState, "sinh": SimplexState, "exp": SimplexState}
