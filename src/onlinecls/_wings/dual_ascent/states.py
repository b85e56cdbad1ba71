"""The models of dual ascent, gradient descent and Hedge, and the parameters of their passes."""

from __future__ import annotations

from math import log, sqrt
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ..._compiled import model
from ..._estimators.choice import Params, common
from ..._models.state import Array, Move, Slot, n_vectors, read_only
from ..shared.groups import WithGroups
from . import dual_ascent as ascent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import DTypeLike

SHARED: dict[str, int] = ascent.SHARED
AGES = SHARED["ages"]
AUTO, STRONGLY_CONVEX, SQRT = (ascent.SCHEDULES[name] for name in ("auto", "strongly_convex", "sqrt"))


class AscentParams(Params):
    """The parameters of dual ascent and its like: rule is the update (DA1 ..), trigger the loss, geometry that of the weights."""

    __slots__ = ()

    @classmethod
    def of(cls, algorithm: Any, values: Mapping[str, Any]) -> Self:
        rate = values.get("learning_rate")  # (of gradient descent: σ is alpha, or eta0 where steps fall with √t)
        sigma = values["sigma"] if "sigma" in values else values["alpha" if rate == "strongly_convex" else "eta0"]
        auto, signed = isinstance(sigma, str), values.get("signed", True)
        loss = "advice" if "experts" in algorithm.tasks else values.get("loss", "hinge")
        on_simplex = values.get("regularizer") == "entropic" or loss == "advice"
        return cls(
            ascent.UPDATES_OF[values.get("update", "DA1")], ascent.LOSSES[loss],
            model.GEOMETRIES[("sinh" if signed else "exp") if on_simplex else "additive"],
            float(values.get("margin", algorithm.margin)), **common(values), costs=model.COSTS[algorithm.costs],
            schedule=ascent.SCHEDULES[rate or ("auto" if auto else "fixed")],
            sigma=1.0 if auto else float(sigma), norm_bound=float(values.get("norm_bound", 1.0)),
        )

    @property
    def entropic(self) -> bool:
        return self.geometry != model.GEOMETRIES["additive"] and not self.experts

    @property
    def experts(self) -> bool:
        return self.trigger == ascent.LOSSES["advice"]

    @property
    def is_signed(self) -> bool:
        return self.geometry != model.GEOMETRIES["exp"]

    @property
    def model(self) -> str:
        return "entropic" if self.entropic else "dual_ascent"

    @property
    def powers_of(self) -> float:
        """The parameter on which the powers of entropic weights depend; 0 for others."""
        return self.sigma if self.entropic else 0.0

    @property
    def joins_singly(self) -> bool:  # type: ignore[override]
        """True if a new class's weights of 0 count in the joint simplex, or its score of 0 in a softmax."""
        averaged = self.entropic and self.average_from >= 0  # (κ of a class that has not joined differs)
        return bool(averaged or (self.joint and (self.entropic or self.trigger == ascent.LOSSES["log_loss"])))

    def limits(self, dtype: DTypeLike) -> Iterator[tuple[str, float, float, float]]:
        # Weights are θ/σ or, entropic, at most W: their scales, and the σ computed from W by sigma="auto", must be finite.
        least = 1e-100 if self.schedule != SQRT and not self.experts else 0.0
        yield "norm_bound", self.norm_bound, least, min(float(np.finfo(dtype).max) / 4, 1e100)
        yield "alpha" if self.schedule == STRONGLY_CONVEX else "sigma", self.sigma, least, np.inf

    def of_pass(self, state: Any, is_open: bool, balanced: bool) -> Self:
        largest = min(float(np.finfo(state.dtype).max) / 4, 1e100)  # (squares of θ are summed in double)
        limit = largest / max(self.constant, 1.0)  # (so that the intercept is finite, too)
        return self._replace(open_classes=int(is_open), balanced=int(balanced), limit=limit)


class AscentState(WithGroups, ascent.AscentModel):
    """Dual ascent with the squared norm as its regularizer, and Hedge.

    values : θ. shared, groups : the numbers of the model and of each of its groups, see dual_ascent.pyx.
    """

    geometry = "dual_ascent"
    HAS_NONE = True
    KEPT = (*WithGroups.KEPT, "geometry", "schedule", "joint", "norm_bound", "powers_of", "has_intercept")
    FIELDS = tuple(ascent.GROUP)
    ARRAYS = {**WithGroups.ARRAYS, "groups": Array(("groups", "fields"), least=-1e300, most=1e300),
              "shared": Array((3,))}
    params: AscentParams

    def __init__(self, n_features: int, n_classes: int, dtype: DTypeLike, params: AscentParams):
        super().__init__(n_features, n_classes, dtype, params)
        self._start_groups()

    @classmethod
    def sizes(cls, n_features: int, n_classes: int, params: Any, n_none: int = 0, n_groups: int = 1) -> dict[str, int]:
        return super().sizes(n_features, n_classes, params, n_none, 1 if params.joint else n_vectors(n_classes) + n_none)

    def _problem_of_values(self, counters: dict) -> str:
        ages, averaged = self.groups[:, AGES], len(self.correction) > 0
        fits = ages.min() >= 0.0 and np.abs(self.primary).max() <= self.largest and self.shared[SHARED["lipschitz"]] <= 1e150
        fits = fits and (np.abs(self._summed()).max() <= 1e300 if averaged else not ages.any())
        if self.params.entropic:  # Z > 0, and no θ far above K
            u = (np.abs(self.slot(1)) if self.params.is_signed else self.slot(1)).max(axis=0)
            fits = fits and ((self.groups[:, SHARED["high"]] > 0.0) & (u <= self.groups[:, SHARED["shift"]] + 100.0)).all()
        return "" if fits else "weights or sums beyond what steps make"

    def _start_groups(self) -> None:
        """Compute the numbers of groups, which follow from the values, where they are zeros."""
        if self.params.entropic:
            self.start_simplexes(self.values)
        else:
            energy, squares = np.square(self.view[:, 0], dtype=np.float64).sum(axis=0), self.groups[:, SHARED["squares"]]
            squares[:] = np.where(squares == 0.0, energy.sum() if self.params.joint else energy, squares)

    # --- classes that join ---------------------------------------------------------------------------------------------------

    def _settled(self) -> AscentState:
        """Return this model with the average's sums in `correction` alone, as if the ages were 0."""
        return self.sharing(correction=-self._summed().reshape(-1)) if len(self.correction) else self

    def _move(self, new: Any, move: Move) -> None:
        """Copy vectors to places of another model, to the bit; the others are as if they had been there from the start."""
        anew = move.splits or (self.params.entropic and self.params.joint)  # (columns of 0 make another simplex)
        super(AscentState, self._settled() if anew else self)._move(new, move)
        if anew:
            new.groups = np.zeros((1 if self.params.joint else new.n_columns, len(self.FIELDS)))
        elif not self.params.entropic:  # (the ages of all groups are equal)
            new.groups[:, AGES] = self.groups[0, AGES]
        new._start_groups()

    # --- merging -------------------------------------------------------------------------------------------------------------

    def _merge_values(self, models: list[Any], shares: list[float]) -> None:
        """Take the mean of the weights, whatever σ they were divided by (entropic: of u = Wθ/σ); add up Hedge's losses."""
        gains, longest, sigmas = np.transpose([each.shared for each in models])
        sigma, factors = 0.0, [1.0] * len(models)
        if not self.params.experts:
            sigma = self._sigma(float(self.counters[self.COUNTERS["t"]]), longest.max())
            factors = [share * (sigma / own if own > 0.0 else 0.0) for own, share in zip(sigmas, shares, strict=True)]
        self.shared = np.array([gains @ factors, longest.max(), sigma])
        if self.params.entropic or self.params.schedule == SQRT:
            factors = shares
        elif self.params.schedule == STRONGLY_CONVEX:  # (the weights are θ/(σt))
            factors = [1.0] * len(models)
        super()._merge_values(models, factors)
        self._start_groups()

    def _sigma(self, rounds: float, longest: float) -> float:
        """Return σ after these rounds, none with a longer step."""
        p = self.params
        if p.schedule != AUTO:
            return p.sigma
        if not p.entropic:
            return sqrt(2.0 * rounds) * longest / p.norm_bound
        size = (1.0 + p.is_signed) * (self.n_features + p.has_intercept) * self.n_columns / len(self.groups)
        return longest * sqrt(rounds / log(max(size, 2.0)))

    def _merge_bounds(self) -> None:
        """Keep the summed counters: only Hedge has a bound, a sum of weights."""

    def mean_weights(self) -> np.ndarray:
        return self._weights(self.params, slice(None)).astype(np.float64)

    def _keep_average(self, average: np.ndarray) -> None:
        self.groups[:, AGES] = 0.0
        self.correction = (-self.average_rounds(self.params) * average).reshape(-1)

    # --- reading -------------------------------------------------------------------------------------------------------------

    def _summed(self) -> np.ndarray:
        """Return the sum of the weights over the rounds of the average, (features + 1, columns)."""
        return self.groups[:, AGES] * self.view[:, 0] - self.corrections

    def _weights(self, params: Params, features: slice) -> np.ndarray:
        rounds = self.average_rounds(params)
        return self._summed()[features] / rounds if rounds else self.view[features, 0] * self.kappa()

    def weights_of(self, params: AscentParams, features: slice) -> np.ndarray:
        if params.experts:
            return self.expert_weights()[None, features]
        # (θ/σ may exceed the dtype, unlike the scores, which are in double.)
        found = np.clip(self._weights(params, features), -self.largest, self.largest).astype(self.dtype)
        return read_only(found.T[: n_vectors(len(self.counts))])


class EntropicState(AscentState):
    """Dual ascent with the relative entropy as its regularizer: weights on a simplex. values : powers and u = Wθ/σ."""

    geometry = "entropic"
    SLOTS = (Slot(0.0, merge=None), Slot())  # (the mean is of u, from which the powers follow)
