"""The models of dual ascent, gradient descent and Hedge, and the parameters of their passes."""

from __future__ import annotations

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
STRONGLY_CONVEX, SQRT = ascent.SCHEDULES["strongly_convex"], ascent.SCHEDULES["sqrt"]


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
    def experts(self) -> bool:
        return self.trigger == ascent.LOSSES["advice"]

    @property
    def model(self) -> str:
        return "dual_ascent" if self.experts or self.geometry == model.GEOMETRIES["additive"] else "entropic"

    @property
    def joins_singly(self) -> bool:  # type: ignore[override]
        """True if a new class's weights of 0 count in the joint simplex, or its score of 0 in a softmax."""
        averaged = self.model == "entropic" and self.average_from >= 0  # (κ of a class that has not joined differs)
        return bool(averaged or (self.joint and (self.model == "entropic" or self.trigger == ascent.LOSSES["log_loss"])))

    def limits(self, dtype: DTypeLike) -> Iterator[tuple[str, float, float, float]]:
        # Weights are θ/σ or, entropic, at most W: their scales, and the σ computed from W by sigma="auto", must be finite.
        least = 1e-100 if self.schedule != SQRT and not self.experts else 0.0
        yield "norm_bound", self.norm_bound, least, min(float(np.finfo(dtype).max) / 4, 1e100)
        yield "alpha" if self.schedule == STRONGLY_CONVEX else "sigma", self.sigma, least, np.inf

    def of_pass(self, state: Any, is_open: bool, balanced: bool) -> Self:
        limit = min(state.largest, 1e100) / max(self.constant, 1.0)  # (so that scores and the intercept are finite, too)
        return super().of_pass(state, is_open, balanced)._replace(limit=limit)


class AscentState(WithGroups, ascent.AscentModel):
    """Dual ascent with the squared norm as its regularizer, and Hedge.

    values : θ. shared, groups : the numbers of the model and of each of its groups, see dual_ascent.pyx.
    """

    geometry = "dual_ascent"
    HAS_NONE = True
    KEPT = (*WithGroups.KEPT, "geometry", "schedule", "joint", "norm_bound", "has_intercept")
    FIELDS = tuple(ascent.GROUP)
    ARRAYS = {**WithGroups.ARRAYS, "shared": Array((3,))}
    params: AscentParams

    def _problem_of_values(self, counters: dict) -> str:
        ages = self.numbers("ages")
        fits = ages.min() >= 0.0 and self.shared[SHARED["lipschitz"]] <= 1e150
        fits = fits and (np.abs(self._summed()).max() <= 1e300 if len(self.correction) else not ages.any())
        return super()._problem_of_values(counters) if fits else "sums beyond what steps make"

    def _move(self, new: Any, move: Move) -> None:
        """Copy vectors to the bit; where they are halved, or columns of 0 make another simplex, as if the ages were 0."""
        settled = self
        if move.splits or (self.params.joint and self.geometry == "entropic"):
            sums = -self._summed() if len(self.correction) else self.correction
            settled = self.sharing(correction=sums.reshape(-1), groups=self._unknown(1))
        super(AscentState, settled)._move(new, move)

    def _merge_values(self, models: list[Any], shares: list[float]) -> None:
        """Take the mean of the weights, whatever σ they were divided by (entropic: of u = Wθ/σ); add up Hedge's losses."""
        gains, longest, sigmas = np.transpose([each.shared for each in models])
        self.shared = np.array([0.0, longest.max(), 0.0])
        sigma = 0.0 if self.params.experts else self.sigma_now()
        factors = [share * (sigma / own if own > 0.0 else 0.0) for own, share in zip(sigmas, shares, strict=True)]
        if self.params.experts or self.params.schedule == STRONGLY_CONVEX:  # (the weights are those of θ, or θ/(σt))
            factors = [1.0] * len(models)
        self.shared[:] = gains @ factors, longest.max(), sigma
        super()._merge_values(models, shares if self.geometry == "entropic" else factors)

    def mean_weights(self) -> np.ndarray:
        return self._weights(self.params, slice(None)).astype(np.float64)

    def _keep_average(self, average: np.ndarray) -> None:
        self.correction = (-self.average_rounds(self.params) * average).reshape(-1)

    # --- reading -------------------------------------------------------------------------------------------------------------

    def _summed(self) -> np.ndarray:
        """Return the sum of the weights over the rounds of the average, (features + 1, columns)."""
        return self.numbers("ages") * self.view[:, 0] - self.corrections

    def _weights(self, params: Params, features: slice) -> np.ndarray:
        rounds, known = self.average_rounds(params), self.known()
        return self._summed()[features] / rounds if rounds else known.view[features, 0] * known.kappa()

    def weights_of(self, params: AscentParams, features: slice) -> np.ndarray:
        if params.experts:
            return self.expert_weights(self.values)[None, features]
        # (θ/σ may exceed the dtype, unlike the scores, which are in double.)
        found = np.clip(self._weights(params, features), -self.largest, self.largest).astype(self.dtype)
        return read_only(found.T[: n_vectors(len(self.counts))])


class EntropicState(AscentState):
    """Dual ascent with the relative entropy as its regularizer: weights on a simplex. values : powers and u = Wθ/σ."""

    geometry = "entropic"
    KEPT = (*AscentState.KEPT, "sigma")
    KNOWN = "high"
    SLOTS = (Slot(0.0, merge=None), Slot())  # (the mean is of u, from which the powers follow)

    def _problem_of_values(self, counters: dict) -> str:  # Z > 0, and no u far above K, where these are known
        u = np.abs(self.slot(1)) if self.params.geometry == model.GEOMETRIES["sinh"] else self.slot(1)
        fits = (self.numbers("high") > 0.0) & (u.max(axis=0) <= self.numbers("shift") + 100.0) | ~self.groups.any(axis=1)
        return super()._problem_of_values(counters) if fits.all() else "a sum that is not that of its terms"
