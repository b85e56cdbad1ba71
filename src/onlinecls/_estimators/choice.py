"""From a constructor's parameters to the numbers of a pass: checked values, and the record that fills the struct of the loops."""

from __future__ import annotations

from operator import is_
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from .._compiled import model
from .._input import validate
from .._registry import AUTO, Algorithm, select

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import DTypeLike

GEOMETRY_NAMES = {number: name for name, number in model.GEOMETRIES.items()}


def _phi(values: Mapping[str, Any]) -> float:
    from statistics import NormalDist

    return NormalDist().inv_cdf(values["eta"])


#: Parameters that are Params fields of the same name.
PLAIN = ("C", "forgetting", "r", "b", "epsilon", "eta0", "delta", "l1", "radius", "margin", "norm_bound")
#: Params fields that are parameters of another name, or of that of another one instead of None, or are computed from them.
FIELDS: Mapping[str, tuple[str, str | Callable[[Mapping[str, Any]], float]]] = {
    "initial_variance": ("variance", ""), "eta": ("phi", _phi), "p": ("power", lambda v: v["p"] or 0.0),
    "alpha": ("eta0", ""), "beta": ("delta", lambda v: v["beta"] + v["alpha"] * v["l2"]),
    "r1": ("r", "r"), "r2": ("r2", "r"),  # (AROW's r is that of the mean and of the covariance)
}


def common(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that all linear learners compute alike from their constructor's parameters."""
    average, scale, constant = values.get("average"), values.get("scale", 1.0), values.get("intercept_scaling", 0.0)
    return {
        "scale": 0.0 if isinstance(scale, str) else float(scale),  # (a text is "auto")
        "constant": 0.0 if not values.get("fit_intercept") else -1.0 if isinstance(constant, str) else float(constant),
        "average_from": int(average) - 1 if average else -1, "probability": int(bool(values.get("probability"))),
        "joint": int(values.get("multi_class") == "crammer_singer"), "level": int(values.get("level", 0)),
    }


class Params(NamedTuple):
    """The fields of the C struct of the same name, which explains them (_rules.pxd).

    The values here are those of a learner that does not use a field.
    """

    rule: int
    trigger: int
    geometry: int
    margin: float
    scale: float = 1.0
    constant: float = 0.0
    bias: float = 0.0
    average_from: int = -1
    slack: float = 0.0
    epsilon: float = 0.0
    C: float = 1.0
    r: float = 1.0
    r2: float = 1.0
    b: float = 1.0
    phi: float = 1.0
    radius: float = 1.0
    eta0: float = 1.0
    norm_bound: float = 1.0
    variance: float = 1.0
    delta: float = 1.0
    l1: float = 0.0
    l1_sum: float = 0.0
    forgetting: float = 0.0
    growth: float = 1.0
    stored_cap: float = 0.0
    floor: float = 0.0
    power: float = 2.0
    root: float = 1.0
    squarings: int = 0
    sigma: float = 1.0
    schedule: int = 0
    open_classes: int = 0
    balanced: int = 0
    level: int = 0
    costs: int = 0
    spacing: float = 0.0
    limit: float = 0.0
    tiny: float = 0.0
    joint: int = 0  # 1: of three classes or more, one learner of the true class against the best wrong one
    # The struct has no such fields:
    probability: int = 0  # 1: they are learnt
    least: float = 0.0  # the least variance of a diagonal, as a share of the initial one
    kernel: Any = None  # of a kernel learner: its kernel,
    budget: int = 0  # and the most support vectors
    members: tuple[Any, ...] = ()  # of a committee: those of its members

    # True if a class that has not joined yet would change updates, even where it is not the argmax.
    joins_singly = False  # type: ignore[misc]

    @classmethod
    def of(cls, algorithm: Any, values: Mapping[str, Any]) -> Self:
        """Return the parameters of an algorithm (a row of the registry), from numbers within their ranges."""
        second = values.get("covariance") == "full" or not values.get("signed", True)
        geometry = algorithm.geometry
        if second or values.get("forgetting"):
            geometry = algorithm.geometries[1 if second else 2]
        found = {}
        for name in algorithm.params:
            if name in PLAIN:
                found[name] = float(values[name])
            elif name in FIELDS:
                (field, of), value = FIELDS[name], values[name]
                found[field] = float(of(values) if callable(of) else values[of] if value is None else value)
        rule, trigger, costs = model.RULES[algorithm.rule], model.TRIGGERS[algorithm.trigger], model.COSTS[algorithm.costs]
        fields = {"margin": algorithm.margin, "costs": costs, **common(values), **found, **algorithm.kernel}
        return cls(rule, trigger, model.GEOMETRIES[geometry], **fields)

    @property
    def model(self) -> str:
        """The name of the class of models that these parameters choose, a key of STATES."""
        return GEOMETRY_NAMES[self.geometry]

    @property
    def has_intercept(self) -> bool:
        return self.constant != 0.0

    def limits(self, dtype: DTypeLike) -> Iterator[tuple[str, float, float, float]]:
        """Yield (parameter, its value, the least and the largest one that fit the dtype)."""
        info = np.finfo(dtype)
        largest, least = float(info.max) / 4, float(info.tiny) / float(info.eps)
        yield "initial_variance", self.variance, least, largest
        yield "norm_bound", self.norm_bound, max(least, 1e-250), min(largest, 1e250)  # (it is divided by sums of exponentials)

    def of_pass(self, state: Any, is_open: bool, balanced: bool) -> Self:
        """Add the numbers that depend on the model and its labels."""
        info, least = np.finfo(state.dtype), 0.0 if len(state.sigma) else self.least
        return self._replace(
            open_classes=int(is_open), balanced=int(balanced), variance=state.variance, spacing=float(info.eps),
            # In units of the initial variance, while that fits, so that X times a power of two meets the floor at the same row.
            floor=max(float(info.tiny) / float(info.eps), state.variance * max(float(info.tiny) ** 0.5, least)),
            tiny=float(info.tiny),
            # The average's sums hold weights times rounds.
            limit=min(float(info.max) / 4, np.inf if self.average_from < 0 else 1e290),
        )


class Choice(NamedTuple):
    """An estimator's choice.

    given : the parameters, as the estimator has them. algorithm : a row of the registry. values : the parameters by name, all of
    them checked. params : the record from which the loops fill their struct.
    """

    given: tuple[Any, ...]
    algorithm: Algorithm
    values: dict[str, Any]
    params: Any


def choose(learner: Any, store: bool = True) -> Choice:
    """Return what an estimator's parameters choose; they are checked again only where one has changed.

    Passes learn with what is stored. Readers store nothing, as another thread may be learning with what is.
    """
    given, found = learner._parameter_values()(learner.__dict__), learner.__dict__.get("_choice")
    if found is None or not all(map(is_, found.given, given)):
        values = dict(zip(learner._parameter_names(), given, strict=True))
        for name in ("fit_intercept", "intercept_scaling"):  # (a subclass may only inherit them)
            if name in learner.__dict__:
                values[name] = learner.__dict__[name]
        algorithm = select(type(learner), values)
        values["dtype"] = None if learner.dtype is None else validate.read_dtype(type(learner).__name__, learner.dtype)
        for name in algorithm.params:  # (a subclass may have fewer parameters than its base)
            values.setdefault(name, getattr(learner, name))
        # Deviations from the mean of the targets are learnt. (Weights on a simplex combine predictions of the target itself.)
        auto = values.get("fit_intercept") and values.get("intercept_scaling") in AUTO
        values["level"] = bool(algorithm.level and auto and values.get("signed", True))
        for name, number in algorithm.defaults.items():
            if values[name] is None:
                values[name] = number
        found = Choice(given, algorithm, values, learner._params_of(algorithm, values))
    if store:
        learner._choice = found
    return found


def check_range(learner: Any, params: Any, dtype: DTypeLike) -> None:
    """Check that parameters fit the model's dtype, which depends on X."""
    who, most = type(learner).__name__, (float(np.finfo(dtype).max) / 4) ** 0.5  # (squares of both, and of 1/s, must fit)
    units = ("scale", params.scale or 1.0, 1.0 / most, most), (
        "intercept_scaling", max(params.constant, 0.0), 0.0, most / max(params.scale, 1.0))
    for name, value, least, largest in (*units, *params.limits(dtype)):
        if not least <= value <= largest:
            bound = f"at least {least:.2g}" if value < least else f"at most {largest:.2g}"
            raise ValueError(f"{who}: {name} must fit {dtype}, {bound}, got {name}={value!r}.")
    if "_state" in learner.__dict__ and learner._state.can_learn_with(params) and not learner._state.stays_in_range(params):
        values = choose(learner, store=False).values
        names = [name for name in ("eta0", "delta", "alpha") if name in values]
        got = " and ".join(f"{name}={values[name]!r}" for name in names) or "others of a member"
        must = " and ".join(names) or "eta0 and delta"
        raise ValueError(f"{who}: {must} must keep the weights within {dtype}, got {got}. Set them back, or call fit.")
