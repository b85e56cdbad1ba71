"""Rows of the table of algorithms: ranges of parameters, conflicts, names of compiled code.

The table itself is _registry.py, and the rows of a wing stand in its folder (`_wings`).
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple


class Range(NamedTuple):
    """The values that a parameter may have: those listed, and the objects of a class, numbers from low to high.

    kind : the class; None: the listed values alone. words : what an error requires. hint : its last sentence.
    """

    values: tuple = ()
    kind: Any = None
    low: float = -math.inf
    high: float = math.inf
    low_allowed: bool = True
    high_allowed: bool = True
    words: str = ""
    hint: str = ""

    def __contains__(self, value) -> bool:
        for one in self.values:
            is_of_type = isinstance(value, type(one)) or (type(one) is bool and type(value).__name__ in ("bool", "bool_"))
            if value is one or (is_of_type and value == one):  # (bool of numpy, which is not imported here)
                return True
        if self.kind is None or isinstance(value, bool) or not isinstance(value, self.kind):
            return False
        if self.kind is numbers.Real:
            try:
                value = float(value)
            except OverflowError:
                return False
        elif self.kind is not numbers.Integral:
            return True
        above = value >= self.low if self.low_allowed else value > self.low
        below = value <= self.high if self.high_allowed else value < self.high
        return above and below

    def __str__(self) -> str:
        return self.words


def Real(
    low: float = -math.inf, high: float = math.inf, low_allowed: bool = False, high_allowed: bool = False, hint: str = ""
) -> Range:
    """Return a range of real numbers."""
    if high < math.inf:
        words = f"a number in {'[' if low_allowed else '('}{low:g}, {high:g}{']' if high_allowed else ')'}"
    else:
        above = "" if low == -math.inf else f" {'>=' if low_allowed else '>'} {low:g}"
        words = ("a number" if high_allowed else "a finite number") + above
    return Range((), numbers.Real, low, high, low_allowed, high_allowed, words, hint)


def Integer(low: float = -math.inf, high: float = math.inf, hint: str = "") -> Range:
    """Return the range of the integers from low to high."""
    above = "" if low == -math.inf else f" >= {low}"
    return Range((), numbers.Integral, low, high, words="an integer" + (f" in [{low}, {high}]" if high < math.inf else above),
                 hint=hint)


def Options(values: tuple, hint: str = "") -> Range:
    """Return the range of a few values."""
    return Range(values, words=("one of " if len(values) > 1 else "") + ", ".join(map(repr, values)), hint=hint)


def Either(ranges: tuple[Range, ...], hint: str = "") -> Range:
    """Return the range of the values in one of these ranges, of which at most one has a class."""
    texts = [each.words for each in ranges]
    words = (", or " if any(", " in text for text in texts[:-1]) else " or ").join(texts)
    whole = next((each for each in ranges if each.kind), ranges[0])
    return whole._replace(values=tuple(one for each in ranges for one in each.values), words=words, hint=hint)


class Conflict(NamedTuple):
    """Parameters that exclude each other.

    names : the parameter that must change, and those to show with it. must : what it must be, with {fields} for parameters.
    occurs : whether an estimator's parameters are in conflict. why : the end of the error.
    """

    names: tuple[str, ...]
    must: str
    occurs: Callable[[Mapping[str, Any]], bool]
    why: str

    def error(self, who: str, values: Mapping[str, Any]) -> ValueError:
        got = " and ".join(f"{name}={values[name]!r}" for name in self.names)
        return ValueError(f"{who}: {self.names[0]} must be {self.must.format_map(values)}, got {got}: {self.why}")


NO_SUM = Conflict(("average",), "False", lambda v: bool(v["average"]), (
    "the scale of all weights changes with every step, so that their average has no accurate O(nnz) form. OnlineToBatch has "
    "other ways to one model."
))
_ONLY_LAST = "only the last weights have no larger loss, on all rows. Leave one of the two out."
CYCLES = tuple(
    Conflict((name,), "False with loss_tol", lambda v, name=name: bool(v["loss_tol"] is not None and v.get(name)), _ONLY_LAST)
    for name in ("average", "early_stopping")
)
BOOLEAN = Range((False, True), words="True or False")
NONE = Options((None,))
AUTO = Options(("auto",))
POSITIVE = Real(0.0)
NOT_NEGATIVE = Real(0.0, low_allowed=True)
#: Parameters of every estimator that has them.
COMMON = {
    "fit_intercept": BOOLEAN,
    "intercept_scaling": Either((AUTO, POSITIVE), hint="It is the value of the constant feature beside x / scale."),
    "scale": Either((AUTO, POSITIVE), hint="Rows are learnt divided by it; 1.0 learns them as they are."),
    "max_iter": Integer(1),
    "tol": Either((NONE, Real())),
    "shuffle": BOOLEAN,
    "warm_start": BOOLEAN,
    "average": Either((BOOLEAN, Integer(1, 2**31 - 1))),  # (a C int)
    "early_stopping": BOOLEAN,
    "validation_fraction": Real(0.0, 1.0),
    "n_iter_no_change": Integer(1),
    "verbose": Either((BOOLEAN, Integer(0))),
    "probability": BOOLEAN,
    "covariance": Options(("diagonal", "full"), hint="'full' keeps n_features² numbers for each vector of weights."),
    "multi_class": Options(("crammer_singer", "ovr")),
    "n_jobs": Either((NONE, Integer())),
    "penalty": Options(
        (None,), "Online learners of this library take no penalty; for L1 see AdaGradClassifier(update='dual_averaging', l1=...)."
    ),
    "loss_tol": Either((NONE, Real(0.0)), hint="fit then cycles until no squared loss is larger."),
}
EVIDENCE = Real(0.0, hint="r is the noise variance of one row, where the variance of its score is about 1 at first.")
STEP = Real(0.0, hint="It is the size of a step.")
AGGRESSIVENESS = Real(0.0, high_allowed=True, hint="C caps the step; float('inf') gives the plain PA.")
EPSILON = Real(0.0, low_allowed=True, hint="Residuals up to epsilon, in units of y, have no loss.")
BALL = Real(0.0, low_allowed=True, hint="It is the radius of the ball around rows x / scale.")
ROW_MARGIN = Real(0.0, hint="Rows of at least this margin y w.x have no loss.")
NORM_BOUND = Real(0.0, hint="The weights' absolute values add up to at most norm_bound.")
#: Parameters that are Params fields of the same name.
PLAIN = ("C", "forgetting", "r", "b", "epsilon", "eta0", "delta", "l1", "radius", "margin", "norm_bound")

def _quantile(eta: float) -> float:
    from statistics import NormalDist

    return NormalDist().inv_cdf(eta)


#: Params fields that are parameters of another name, with that of the one taken instead of None, or computed from them.
FIELDS: Mapping[str, tuple[str, str | Callable]] = {
    "initial_variance": ("variance", ""), "eta": ("phi", lambda v: _quantile(v["eta"])), "p": ("power", lambda v: v["p"] or 0.0),
    "alpha": ("eta0", ""), "beta": ("delta", lambda v: v["beta"] + v["alpha"] * v["l2"]),
    "r1": ("r", "r"), "r2": ("r2", "r"),  # (AROW's r is that of the mean and of the covariance)
}
#: How models of parts of a stream are merged, by the keys that rows of the table have.
MERGES = {
    "mean": "the mean of the weights (p-norm, entropic, multiplicative: of θ), weighted by rounds",
    "mean by squares": "the mean of the weights, weighted by their sums of squared gradients, which add up",
    "mean, squares add": "the mean of the weights, weighted by rounds; the sums of squared gradients add up",
    "posterior": "the product of the posteriors, divided by all priors but one: Σ^-1 - Σ_0^-1 and Σ^-1 w add up",
    "sum": "sums over rows add up: θ, z and the losses of experts, Σ^-1 - Σ_0^-1, squared gradients",
}
_NOTHING: Mapping[str, Any] = MappingProxyType({})

#: All rows, by name, which pickles refer to. (_registry.py fills it.)
TABLE: dict[str, Algorithm] = {}


def _named(name: str) -> Algorithm:
    """Return the row of this name."""
    return TABLE[name]


class Algorithm(NamedTuple):
    """A row of the table: an algorithm.

    name : also that of the slow twin in ``tests/reference.py``. rule, geometry : names of the compiled code, in
    ``_rules.pxd`` or, for dual ascent and its baselines, ``_wings/dual_ascent/dual_ascent.pyx``. estimator : its class.
    selects : constructor arguments that choose it there. params : ranges of its own hyper-parameters. defaults : the numbers
    that None stands for, where the algorithms of a class differ in them. trials : settings away from the defaults (which tuning
    may change), with which tests and digests run it. margin : rows of at least this margin have no loss. trigger : when it may
    take a step, a name of Trigger in _rules.pxd. kernel : Params fields that do not depend on parameters. paper : its source.
    tasks : the loops that the estimator runs it in, ("binary", "multiclass"), ("regression",), ("one_class",), or ("experts",)
    where the features are advice in [0, 1]. merge : how models of parts of a stream are merged, a key of MERGES; or else why they
    cannot be. theorems : the functions of `bounds` that apply to it; `follow` uses the first. conflicts : parameters that exclude
    each other. level : True for a regressor that learns deviations from the mean of the targets where its intercept is "auto".
    costs : how the weight of a class enters, a name of Costs in _rules.pxd.
    """

    name: str
    rule: str
    geometry: str
    estimator: str
    params: Mapping[str, object]
    paper: str
    title: str
    selects: Mapping[str, object] = _NOTHING
    defaults: Mapping[str, float] = _NOTHING
    trials: tuple = ()
    margin: float = 1.0
    trigger: str = "loss"
    kernel: Mapping[str, float] = _NOTHING
    tasks: tuple = ("binary", "multiclass")
    merge: str = "mean"
    theorems: tuple[str, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    level: bool = False
    costs: str = "weight"

    def __reduce__(self) -> tuple:
        return _named, (self.name,)

    def kernel_params(self, values: Mapping[str, object]) -> dict:
        """Return this algorithm's part of the kernels' Params, from an estimator's parameters."""
        found = {}
        for name in self.params:
            if name in PLAIN:
                found[name] = float(values[name])
            elif name in FIELDS:
                field, other = FIELDS[name]
                value = values[name]
                found[field] = float(other(values) if callable(other) else values[other] if value is None else value)
        return {**found, **self.kernel}

    @property
    def geometries(self) -> tuple[str, ...]:
        """The compiled geometries among which the parameters choose."""
        more = {"gaussian": ("full_gaussian", "forgetting"), "potential": ("full_potential",), "sinh": ("exp",)}
        return self.geometry, *more.get(self.geometry, ())


def parameter_error(who: str, name: str, allowed, value) -> ValueError:
    """Return the error of a parameter out of its range: who, what was required, what came, what to do."""
    return ValueError(f"{who}: {name} must be {allowed}, got {name}={value!r}." + (f" {allowed.hint}" if allowed.hint else ""))

