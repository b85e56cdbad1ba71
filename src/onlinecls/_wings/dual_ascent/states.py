"""The models of dual ascent and gradient descent, a class for each regularizer."""

from __future__ import annotations

from math import log, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from ..._compiled import model
from ..._models.arrays import Array, Move, Slot, absent, read_only, scattered
from ..._models.params import common, units_within
from ..._models.state import Shard, State
from ..shared import simplex
from . import dual_ascent as ascent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import ArrayLike, DTypeLike

SHARED: dict[str, int] = ascent.SHARED


class AscentParams(NamedTuple):
    """The fields of the C struct of the same name (dual_params.pxd), and what else a pass needs."""

    experts: int
    entropic: int
    is_signed: int
    loss: int
    update: int
    schedule: int
    joint: int
    margin: float
    sigma: float
    bound: float
    scale: float
    constant: float
    average_from: int
    probability: int
    limit: float = 0.0
    bias: float = 0.0
    open_classes: int = 0
    balanced: int = 0
    level: int = 0
    costs: int = 0

    variance = 1.0  # (dual ascent has none)

    @classmethod
    def of(cls, algorithm: Any, values: Mapping[str, Any]) -> Self:
        """Return the parameters of dual ascent, gradient descent or Hedge, from numbers within their ranges."""
        rate = values.get("learning_rate")  # (of gradient descent: σ is alpha, or eta0 where steps fall with √t)
        sigma = values["sigma"] if "sigma" in values else values["alpha" if rate == "strongly_convex" else "eta0"]
        auto = isinstance(sigma, str)
        return cls(
            experts=int("experts" in algorithm.tasks), entropic=int(values.get("regularizer") == "entropic"),
            is_signed=int(bool(values.get("signed", True))), loss=ascent.LOSSES[values.get("loss", "hinge")],
            update=ascent.UPDATES_OF[values.get("update", "DA1")],
            schedule=ascent.SCHEDULES[rate or ("auto" if auto else "fixed")],
            margin=float(values.get("margin", algorithm.margin)),
            sigma=1.0 if auto else float(sigma), bound=float(values.get("norm_bound", 1.0)), **common(values),
            costs=model.COSTS[algorithm.costs],
        )

    @property
    def model(self) -> str:
        return "dual_ascent" if not self.entropic else "entropic" if self.is_signed else "simplex"

    @property
    def simplex(self) -> tuple[float, bool] | None:
        """The parameters on which the powers of entropic weights depend; None for others."""
        return (self.sigma, self.constant != 0.0) if self.entropic else None

    @property
    def joins_singly(self) -> bool:
        """True if a new class's weights of 0 count in the joint simplex, or its score of 0 in a softmax."""
        averaged = self.entropic and self.average_from >= 0  # (κ of a class that has not joined differs)
        return bool(averaged or (self.joint and (self.entropic or self.loss == ascent.LOSSES["log_loss"])))

    def limits(self, dtype: DTypeLike) -> Iterator[tuple[str, float, float, float]]:
        """Yield (parameter, its value, the least and the largest one that fit the dtype).

        Weights are θ/σ or, entropic, at most W: their scales, and the σ computed from W by sigma="auto", must be finite.
        """
        largest = float(np.finfo(dtype).max) / 4
        divides = self.schedule != ascent.SCHEDULES["sqrt"] and not self.experts
        yield from units_within(self, dtype)
        yield "norm_bound", self.bound, 1e-100 if divides else 0.0, min(largest, 1e100)
        strength = "alpha" if self.schedule == ascent.SCHEDULES["strongly_convex"] else "sigma"
        yield strength, self.sigma, 1e-100 if divides else 0.0, np.inf

    def of_pass(self, state: AscentState, is_open: bool, balanced: bool) -> Self:
        """Add the numbers that depend on the model and its labels."""
        largest = min(float(np.finfo(state.dtype).max) / 4, 1e100)  # (squares of θ are summed in double)
        limit = largest / max(self.constant, 1.0)  # (so that the intercept is finite, too)
        return self._replace(open_classes=int(is_open), balanced=int(balanced), limit=limit)


class AscentState(State, ascent.AscentModel):
    """Dual ascent with the squared norm as its regularizer.

    values : θ, and other arrays as in dual_ascent.pyx. shared : float64, the numbers of the model and of each of its groups.
    """

    geometry = "dual_ascent"
    KEPT = ("entropic", "is_signed", "schedule", "joint", "average_from", "probability", "bound", "simplex", "level")
    ENTROPIC = 0
    ARRAYS = {**State.ARRAYS, "shared": Array(("shared",))}
    SCALARS = (*State.SCALARS, "has_intercept", "joint")

    def __init__(self, n_features: int, n_classes: int, dtype: DTypeLike, params: AscentParams):
        super().__init__(n_features, n_classes, dtype, params)
        self.joint, self.has_intercept = bool(params.joint), params.constant != 0.0
        self._place_shared(np.zeros(SHARED["shared"]))

    @classmethod
    def sizes(
        cls, n_features: int, n_classes: int, average: bool, probability: bool = False, n_groups: int = 1
    ) -> dict[str, int]:
        found = super().sizes(n_features, n_classes, average, probability, n_groups)
        return {**found, "shared": SHARED["shared"] + n_groups * SHARED["group"]}

    @staticmethod
    def n_groups_in(header: dict, arrays: dict) -> int:
        return 1 if header["joint"] else header["n_columns"]

    @classmethod
    def _following(cls, n_features: int, n_classes: int, params: AscentParams) -> dict:
        own = {"joint": bool(params.joint), "has_intercept": params.constant != 0.0}
        return {**super()._following(n_features, n_classes, params), **own}

    def _problem_of_values(self, counters: dict) -> str:
        largest = float(np.abs(self.values).max())
        if largest > np.finfo(self.dtype).max / 4 or self._passes_all(largest, counters["t"]):
            return "weights larger than the steps allow"
        shared, groups = self.shared[: SHARED["shared"]], self.groups
        if min(shared[SHARED["sigma"]], shared[SHARED["lipschitz"]], groups[:, SHARED["ages"]].min()) < 0.0:
            return "shared below 0"
        if groups[:, SHARED["ages"]].any() and not len(self.correction):
            return "an age of an average without an average"
        if len(self.correction) and not (np.abs([self._aged(), self._summed()]) <= 1e300).all():
            return "an average out of range"
        if shared[SHARED["lipschitz"]] > ascent.LARGEST_STEP:
            return "a step longer than the largest possible"
        return self._problem_of_derived()

    def _passes_all(self, largest: float, rounds: float) -> bool:
        """Return True if the largest θ exceeds what learning allows (`prepare` in dual_ascent.pyx) at the present or next σ."""
        if self.ENTROPIC or self.params.experts or self.params.schedule == ascent.SCHEDULES["sqrt"]:
            return False
        lipschitz, sigma = (float(self.shared[SHARED[name]]) for name in ("lipschitz", "sigma"))
        return largest > 2e100 * min(sigma, self._sigma(rounds, lipschitz), 1.0)

    @property
    def n_groups(self) -> int:
        return 1 if self.joint else self.n_columns

    def _place_shared(self, shared: np.ndarray) -> None:
        """Set the groups' numbers from the values."""
        self.shared = np.zeros(SHARED["shared"] + self.n_groups * SHARED["group"])
        self.shared[: len(shared)] = shared
        self._open_groups()

    def _open_groups(self) -> None:
        energy = np.square(self.view[:, 0], dtype=np.float64).sum(axis=0)
        self.groups[:, SHARED["squares"]] = energy.sum() if self.joint else energy

    @property
    def groups(self) -> np.ndarray:
        return self.shared[SHARED["shared"] :].reshape(self.n_groups, -1)

    def of_columns(self, numbers: ArrayLike) -> np.ndarray:
        """Repeat a number of each group for each of its columns."""
        return np.broadcast_to(np.asarray(numbers, dtype=np.float64), self.n_columns).copy()

    def _summed(self) -> np.ndarray:
        """Return the sum of the weights over the rounds of the average, (features + 1, columns)."""
        return self._aged() - self.correction.reshape(-1, self.n_columns)

    def _aged(self) -> np.ndarray:
        """Return the sum of weights that the last θ would have in all rounds."""
        return self.of_columns(self.groups[:, SHARED["ages"]]) * self.view[:, 0]

    def _split_binary(self, new: AscentState, move: Move, share: float) -> None:
        super()._split_binary(new, move, share)
        if len(self.correction):  # (the ages start again)
            correction, summed = np.zeros((self.n_features + 1, new.n_columns)), self._summed()[:, 0]
            for side, place in move.sides():
                correction[:, place] = -side * share * summed + 0.0
            new.correction = correction.reshape(-1)
        new._place_shared(self.shared[: SHARED["shared"]])

    def _scatter(self, new: AscentState, move: Move) -> None:
        """Copy vectors to places of another model, to the bit; the others are as if they had been there from the start."""
        shared = self.shared[: SHARED["shared"]]
        if self.joint:
            new.values = scattered(self.view, move, 0.0).reshape(-1)
            new._place_shared(shared)
        else:
            new.values = np.zeros((self.n_features + 1) * len(self.SLOTS) * new.n_columns, self.dtype)
            new._place_shared(shared)
            new.view[:, :, move.new] = self.view[:, :, move.old]
            new.groups[move.new] = self.groups[move.old]
        self._keep_groups_in(new)
        if len(self.correction):
            new.correction = scattered(self._correction_in(new)[:, None], move, 0.0).reshape(-1)

    def _keep_groups_in(self, new: AscentState) -> None:
        """Copy the groups' numbers to a model with more columns of 0."""
        if self.joint:
            new.groups[:] = self.groups
        else:
            new.groups[:, SHARED["ages"]] = self.groups[0, SHARED["ages"]]

    def _correction_in(self, new: AscentState) -> np.ndarray:
        """Return the average's sums for a model with more columns of 0."""
        return self.correction.reshape(-1, self.n_columns)

    # --- merging -------------------------------------------------------------------------------------------------------------

    def _merge_values(self, shards: list[Shard], shares: list[float]) -> None:
        """Take the mean of the weights, whatever σ they were divided by; add up Hedge's losses."""
        shared = np.sum([shard.state.shared[: SHARED["shared"]] for shard in shards], axis=0)
        factors = [1.0] * len(shards)
        if not self.params.experts:
            lengths = [self._longest(shard) for shard in shards]
            shared[SHARED["lipschitz"]] = max(lengths)
            shared[SHARED["sigma"]] = self._sigma(float(self.counters[self.COUNTERS["t"]]), max(lengths))
            factors = [share * self._factor(shard, shared) for shard, share in zip(shards, shares, strict=True)]
            shared[SHARED["dual_gain"]] = sum(
                share * self._worth(shard, shared) * float(shard.state.shared[SHARED["dual_gain"]])
                for shard, share in zip(shards, shares, strict=True)
            )
        super()._merge_values(shards, factors)
        self._place_shared(shared)

    def _merge_bounds(self) -> None:
        """Keep the summed counters: only Hedge has a bound, a sum of weights."""

    def _sigma(self, rounds: float, longest: float) -> float:
        """Return σ after these rounds, none with a longer step."""
        if self.params.schedule != ascent.SCHEDULES["auto"]:
            return self.params.sigma
        return sqrt(2.0 * rounds) * longest / self.params.bound

    def _longest(self, shard: Shard) -> float:
        """Return the largest dual norm of a shard's steps."""
        return float(shard.state.shared[SHARED["lipschitz"]])

    def _factor(self, shard: Shard, shared: np.ndarray) -> float:
        """Return the factor by which a shard's θ gives the same weights in the result: w = κ θ."""
        schedule, rounds = self.params.schedule, float(self.counters[self.COUNTERS["t"]])
        if schedule == ascent.SCHEDULES["sqrt"]:
            return 1.0
        sigma, own = float(shared[SHARED["sigma"]]), float(shard.state.shared[SHARED["sigma"]])
        if schedule == ascent.SCHEDULES["strongly_convex"]:
            sigma, own = sigma * rounds, shard.params.sigma * shard.rounds
        return sigma / own if own > 0.0 else 0.0

    def _worth(self, shard: Shard, shared: np.ndarray) -> float:
        """Return the factor of a shard's dual variables and dual value, besides its share."""
        return self._factor(shard, shared)

    def mean_weights(self, shard: Shard) -> np.ndarray:
        rounds = self.average_rounds(shard.params)
        found = self._summed() / rounds if rounds else self.view[:, 0] * self.scales(self.n_columns)
        return found.astype(np.float64)

    def _keep_average(self, average: np.ndarray) -> None:
        self.groups[:, SHARED["ages"]] = 0.0
        self.correction = (-self.average_rounds(self.params) * average).reshape(-1)

    def weights_of(self, params: AscentParams, features: slice) -> np.ndarray:
        rounds = self.average_rounds(params)
        first = self._summed()[features] / rounds if rounds else self.view[features, 0] * self.scales(self.n_columns)
        # (θ/σ may exceed the dtype, unlike the scores, which are in double.)
        return read_only(np.clip(first, -self.largest, self.largest).astype(self.dtype).T)


class EntropicState(AscentState):
    """The arrays of a dual ascent model with the relative entropy: weights on a simplex. values : powers and θ."""

    geometry = "entropic"
    ENTROPIC = 1
    IS_SIGNED = True
    SLOTS = (Slot(absent, merge=None), Slot())  # (the mean is of u = Wθ/σ, from which the powers follow)

    @property
    def _n_live(self) -> int:
        """Number of features in the simplex: the constant one only with an intercept."""
        return self.n_features + self.has_intercept

    def _open_groups(self) -> None:
        self.start_simplexes(self.n_columns, self._n_live, self.joint, self.IS_SIGNED)

    def _sigma(self, rounds: float, longest: float) -> float:
        if self.params.schedule != ascent.SCHEDULES["auto"]:
            return self.params.sigma
        size = (2.0 if self.IS_SIGNED else 1.0) * self._n_live * self.n_columns / self.n_groups
        return longest * sqrt(rounds / log(max(size, 2.0)))

    def _longest(self, shard: Shard) -> float:
        return super()._longest(shard) * self.params.bound / shard.params.bound

    def _factor(self, shard: Shard, shared: np.ndarray) -> float:
        """Return a shard's factor: a fixed σ divides sums of rows, which do not change; a growing σ leaves u as it is."""
        if self.params.schedule == ascent.SCHEDULES["auto"]:
            return 1.0
        return (self.params.bound / shard.params.bound) * (shard.params.sigma / self.params.sigma)

    def _worth(self, shard: Shard, shared: np.ndarray) -> float:
        own = float(shard.state.shared[SHARED["sigma"]])
        return float(shared[SHARED["sigma"]]) / own if own > 0.0 else 0.0

    def _keep_groups_in(self, new: AscentState) -> None:
        """Copy nothing: columns of 0 make another simplex, whose ages start again."""

    def _correction_in(self, new: AscentState) -> np.ndarray:
        return -self._summed() if self.joint else super()._correction_in(new)

    def _problem_of_derived(self) -> str:
        powers, u = self.view[: self._n_live].transpose(1, 0, 2)
        return simplex.problem(powers, u, self.groups, self.IS_SIGNED)


class UnsignedEntropicState(EntropicState):
    """The arrays of an entropic model on the probability simplex: weights >= 0 of the sum W, uniform at the start."""

    geometry = "simplex"
    IS_SIGNED = False
