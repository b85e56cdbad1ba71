"""The models of dual ascent, gradient descent and Hedge."""

from __future__ import annotations

from math import log, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from ..._compiled import model
from ..._models.arrays import Array, Move, Slot, absent, read_only, scattered
from ..._models.params import common, units_within
from ..._models.state import Shard, State
from . import dual_ascent as ascent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import DTypeLike

SHARED: dict[str, int] = ascent.SHARED
N_SHARED = SHARED["shared"]


class AscentParams(NamedTuple):
    """The fields of the C struct of the same name (dual_ascent.pyx), and what else a pass needs."""

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
        return "entropic" if self.entropic else "dual_ascent"

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
    """Dual ascent with the squared norm as its regularizer, and Hedge.

    values : θ. shared : float64, the numbers of the model and of each of its groups, see dual_ascent.pyx.
    """

    geometry = "dual_ascent"
    KEPT = ("entropic", "is_signed", "schedule", "joint", "average_from", "probability", "bound", "simplex", "level")
    ARRAYS = {**State.ARRAYS, "shared": Array(("shared",), least=-1e300, most=1e300)}

    def __init__(self, n_features: int, n_classes: int, dtype: DTypeLike, params: AscentParams):
        super().__init__(n_features, n_classes, dtype, params)
        self._place_shared(np.zeros(N_SHARED))

    @classmethod
    def sizes(cls, n_features: int, n_classes: int, params: Any, n_none: int = 0, n_groups: int = 1) -> dict[str, int]:
        found = super().sizes(n_features, n_classes, params, n_none, n_groups)
        return {**found, "shared": N_SHARED + n_groups * SHARED["group"]}

    @staticmethod
    def n_groups_in(header: dict, arrays: dict) -> int:
        return header["n_columns"] if arrays["shared"].size > N_SHARED + SHARED["group"] else 1

    def _problem_of_values(self, counters: dict) -> str:
        groups, theta = self.groups, np.abs(self.primary, dtype=np.float64)
        ages, averaged = groups[:, SHARED["ages"]], len(self.correction) > 0
        fits = ages.min() >= 0.0 and len(groups) == self.n_groups and self.shared[SHARED["lipschitz"]] <= 1e150
        fits = fits and (np.abs(self._summed()).max() <= 1e300 if averaged else not ages.any())
        if self.params.entropic:  # Z > 0, and no θ far above K
            u = (np.abs(self.slot(1)) if self.params.is_signed else self.slot(1)).max(axis=0)
            fits &= bool(((groups[:, SHARED["high"]] > 0.0) & (u <= groups[:, SHARED["shift"]] + 100.0)).all())
        return "" if fits and theta.max() <= self.largest else "weights beyond what steps make"

    @property
    def n_groups(self) -> int:
        return 1 if self.params.joint else self.n_columns

    @property
    def groups(self) -> np.ndarray:
        return self.shared[N_SHARED:].reshape(-1, SHARED["group"])

    def _place_shared(self, shared: np.ndarray) -> None:
        """Set the groups' numbers from the values."""
        self.shared = np.append(shared[:N_SHARED], np.zeros(self.n_groups * SHARED["group"]))
        if self.params.entropic:
            self.start_simplexes()
        else:
            energy = np.square(self.view[:, 0], dtype=np.float64).sum(axis=0)
            self.groups[:, SHARED["squares"]] = energy.sum() if self.params.joint else energy

    # --- classes that join ---------------------------------------------------------------------------------------------------

    def _split_binary(self, new: AscentState, move: Move, share: float) -> None:
        super()._split_binary(new, move, share)
        if len(self.correction):  # (the ages start again)
            correction, summed = np.zeros((self.n_features + 1, new.n_columns)), self._summed()[:, 0]
            for side, place in move.sides():
                correction[:, place] = -side * share * summed + 0.0
            new.correction = correction.reshape(-1)
        new._place_shared(self.shared)

    def _scatter(self, new: AscentState, move: Move) -> None:
        """Copy vectors to places of another model, to the bit; the others are as if they had been there from the start."""
        joint, entropic, correction = self.params.joint, self.params.entropic, self.corrections
        new.values = scattered(self.view, move, 0.0).reshape(-1)
        new._place_shared(self.shared)
        if not joint:
            new.view[:, :, move.new], new.groups[move.new] = self.view[:, :, move.old], self.groups[move.old]
        if not entropic:  # (the ages of all groups are equal)
            new.groups[:, SHARED["ages"]] = self.groups[0, SHARED["ages"]]
        if joint and not entropic:
            new.groups[:] = self.groups
        if len(correction):  # (columns of 0 make another joint simplex, whose ages start again)
            new.correction = scattered((-self._summed() if joint and entropic else correction)[:, None], move, 0.0).reshape(-1)

    # --- merging -------------------------------------------------------------------------------------------------------------

    def _merge_values(self, shards: list[Shard], shares: list[float]) -> None:
        """Take the mean of the weights, whatever σ they were divided by (entropic: of u = Wθ/σ); add up Hedge's losses."""
        self.shared = np.sum([shard.state.shared[:N_SHARED] for shard in shards], axis=0)
        factors = [1.0] * len(shards)
        if not self.params.experts:
            self.shared[SHARED["lipschitz"]] = longest = max(shard.state.shared[SHARED["lipschitz"]] for shard in shards)
            self.shared[SHARED["sigma"]] = sigma = self._sigma(float(self.counters[self.COUNTERS["t"]]), longest)
            owns = [shard.state.shared[SHARED["sigma"]] for shard in shards]
            factors = [share * (sigma / own if own > 0.0 else 0.0) for own, share in zip(owns, shares, strict=True)]
            gains = [shard.state.shared[SHARED["dual_gain"]] for shard in shards]
            self.shared[SHARED["dual_gain"]] = sum(part * gain for part, gain in zip(factors, gains, strict=True))
            if self.params.entropic or self.params.schedule == ascent.SCHEDULES["sqrt"]:
                factors = shares
            elif self.params.schedule == ascent.SCHEDULES["strongly_convex"]:  # σt
                factors = [1.0 for _ in shards]
        super()._merge_values(shards, factors)
        self._place_shared(self.shared)

    def _sigma(self, rounds: float, longest: float) -> float:
        """Return σ after these rounds, none with a longer step."""
        if self.params.schedule != ascent.SCHEDULES["auto"]:
            return self.params.sigma
        if not self.params.entropic:
            return sqrt(2.0 * rounds) * longest / self.params.bound
        size = (2.0 if self.params.is_signed else 1.0) * (self.n_features + (self.params.constant != 0.0)) * self.n_columns
        return longest * sqrt(rounds / log(max(size / self.n_groups, 2.0)))

    def _merge_bounds(self) -> None:
        """Keep the summed counters: only Hedge has a bound, a sum of weights."""

    def mean_weights(self, shard: Shard) -> np.ndarray:
        return self._weights(shard.params, slice(None)).astype(np.float64)

    def _keep_average(self, average: np.ndarray) -> None:
        self.groups[:, SHARED["ages"]] = 0.0
        self.correction = (-self.average_rounds(self.params) * average).reshape(-1)

    # --- reading -------------------------------------------------------------------------------------------------------------

    def _summed(self) -> np.ndarray:
        """Return the sum of the weights over the rounds of the average, (features + 1, columns)."""
        return self.groups[:, SHARED["ages"]] * self.view[:, 0] - self.corrections

    def _weights(self, params: AscentParams, features: slice) -> np.ndarray:
        rounds = self.average_rounds(params)
        return self._summed()[features] / rounds if rounds else self.view[features, 0] * self.kappa()

    def weights_of(self, params: AscentParams, features: slice) -> np.ndarray:
        if params.experts:
            return self.expert_weights()[None, features]
        # (θ/σ may exceed the dtype, unlike the scores, which are in double.)
        return read_only(np.clip(self._weights(params, features), -self.largest, self.largest).astype(self.dtype).T)


class EntropicState(AscentState):
    """Dual ascent with the relative entropy as its regularizer: weights on a simplex. values : powers and u = Wθ/σ."""

    geometry = "entropic"
    SLOTS = (Slot(absent, merge=None), Slot())  # (the mean is of u, from which the powers follow)
