"""THE table: every algorithm's rule, geometry, hyper-parameters with their ranges, estimator and paper.

Estimators, tests, benchmarks and the demo read it, and the README's table is checked against it. A row names the compiled rule
and geometry, the estimator class that offers it, and, where one class offers several, the constructor argument that selects it.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any, NamedTuple


class Real(NamedTuple):
    """A range of real numbers; its text is what an error requires."""

    low: float = -math.inf
    high: float = math.inf
    low_allowed: bool = False
    high_allowed: bool = False
    hint: str = ""

    def __contains__(self, value) -> bool:
        if isinstance(value, bool) or not isinstance(value, numbers.Real):
            return False
        try:
            value = float(value)
        except OverflowError:
            return False
        above = value >= self.low if self.low_allowed else value > self.low
        below = value <= self.high if self.high_allowed else value < self.high
        return above and below

    def __str__(self) -> str:
        if self.high == math.inf:
            kind = "a number" if self.high_allowed else "a finite number"
            if self.low == -math.inf:
                return kind
            return f"{kind} {'>=' if self.low_allowed else '>'} {self.low:g}"
        ends = "[" if self.low_allowed else "(", "]" if self.high_allowed else ")"
        return f"a number in {ends[0]}{self.low:g}, {self.high:g}{ends[1]}"


class Integer(NamedTuple):
    """The integers from low to high."""

    low: float = -math.inf
    high: float = math.inf
    hint: str = ""

    def __contains__(self, value) -> bool:
        return isinstance(value, numbers.Integral) and not isinstance(value, bool) and self.low <= value <= self.high

    def __str__(self) -> str:
        if self.high < math.inf:
            return f"an integer in [{self.low}, {self.high}]"
        return "an integer" if self.low == -math.inf else f"an integer >= {self.low}"


class Boolean(NamedTuple):
    """True or False, numpy's included."""

    hint: str = ""

    def __contains__(self, value) -> bool:
        return isinstance(value, bool) or type(value).__name__ in ("bool", "bool_")

    def __str__(self) -> str:
        return "True or False"


class Options(NamedTuple):
    """A few allowed values."""

    values: tuple
    hint: str = ""

    def __contains__(self, value) -> bool:
        return any(value is v or (isinstance(value, type(v)) and value == v) for v in self.values)

    def __str__(self) -> str:
        return ("one of " if len(self.values) > 1 else "") + ", ".join(repr(v) for v in self.values)


class OfType(NamedTuple):
    """The values that pass a test, like `callable`, with the words for them."""

    test: Callable[[Any], bool]
    words: str
    hint: str = ""

    def __contains__(self, value) -> bool:
        return self.test(value)

    def __str__(self) -> str:
        return self.words


class Either(NamedTuple):
    """A value in one range or another."""

    ranges: tuple
    hint: str = ""

    def __contains__(self, value) -> bool:
        return any(value in r for r in self.ranges)

    def __str__(self) -> str:
        texts = [str(each) for each in self.ranges]
        return (", or " if any(", " in text for text in texts[:-1]) else " or ").join(texts)


class Units(NamedTuple):
    """Scale of X, estimated from its first 16 rows of weight > 0, without rows of zeros; 0 before the first.

    scale : the power of two nearest to their median length ||x||. constant : the power of two nearest to the median over rows of
    the non-zeros' root mean square.
    epochs : passes over the rows, `max_iter` of the `fit` that began the model.
    """

    scale: float = 0.0
    constant: float = 0.0
    epochs: float = 1.0


class Default(NamedTuple):
    """A default in units of the rows: `number` times ||x|| to the `power`.

    Multiplying by powers of two is exact, so that X times a power of two gives equal predictions. epochs : True for a strength of
    evidence, which must not grow with the number of times that `fit` repeats the same rows. name : the parameter's value that
    stands for the default (None where "auto" has another meaning). used : False for a parameter that the algorithm of the row
    does not use, though its class has it.
    """

    number: float
    power: int
    epochs: bool = False
    name: str | None = "auto"
    used: bool = True

    def __contains__(self, value: object) -> bool:
        return value is self.name or (isinstance(value, str) and value == self.name)

    def __str__(self) -> str:
        """Write the default as a formula, with s for ||x||."""
        size = "s" if abs(self.power) == 1 else f"s^{abs(self.power)}"
        if self.power > 0:
            text = size if self.number == 1.0 else f"{self.number:g} {size}"
        else:
            text = f"{self.number:g}" + (f" / {size}" if self.power else "")
        return text + (", in `fit` times max_iter" if self.epochs else "")

    def value(self, units: Units) -> float:
        scale = (units.scale or 1.0) ** self.power
        return self.number * scale * (units.epochs if self.epochs else 1.0)


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
NO_THRESHOLD = Conflict(("average", "l1"), "False with l1 > 0", lambda v: bool(v["average"] and v["l1"] > 0.0), (
    "the weights then change on every row, so that their average has no O(nnz) form."
))
NO_GROWTH = Conflict(
    ("average",), "False with regularizer='entropic' and sigma='auto'", lambda v: bool(v["average"] and v["sigma"] in AUTO),
    "with a growing sigma, the weights are not one common number times the stored ones. Use a number for sigma, or "
    "regularizer='euclidean'.",
)
NO_AVERAGE = Conflict(("average",), "False", lambda v: bool(v["average"]), (
    "each w is optimal for all rows so far, and every weight may change in any round. Use DualAscentClassifier for an average."
))
_ONLY_LAST = "only the last weights have no larger loss, on all rows. Leave one of the two out."
CYCLES = tuple(
    Conflict((name,), "False with loss_tol", lambda v, name=name: bool(v["loss_tol"] is not None and v.get(name)), _ONLY_LAST)
    for name in ("average", "early_stopping")
)
NO_KEYWORDS = Conflict(
    ("kernel_params",), "None for kernel={kernel!r}", lambda v: bool(v["kernel_params"] and not callable(v["kernel"])),
    "they are the keyword arguments of a callable kernel. Use gamma, degree and coef0.",
)

NONE = Options((None,))
AUTO = Options(("auto",))
POSITIVE = Real(0.0)
NOT_NEGATIVE = Real(0.0, low_allowed=True)

#: Parameters of every estimator that has them.
COMMON = {
    "fit_intercept": Boolean(),
    "intercept_scaling": Either((AUTO, POSITIVE), hint="It is the value of the constant feature, in units of the features."),
    "max_iter": Integer(1),
    "tol": Either((NONE, Real())),
    "shuffle": Boolean(),
    "warm_start": Boolean(),
    "average": Either((Boolean(), Integer(1, 2**31 - 1))),  # (a C int)
    "early_stopping": Boolean(),
    "validation_fraction": Real(0.0, 1.0),
    "n_iter_no_change": Integer(1),
    "verbose": Either((Boolean(), Integer(0))),
    "probability": Boolean(),
    "covariance": Options(("diagonal", "full", "auto"), hint="'full' keeps n_features² numbers for each vector of weights."),
    "multi_class": Options(("crammer_singer", "ovr")),
    "n_jobs": Either((NONE, Integer())),
    "loss_tol": Either((NONE, Real(0.0)), hint="fit then cycles until no squared loss is larger."),
}

NARROW = 300  # most features with which covariance="auto", and a committee that chooses its members, take full covariances

EVIDENCE = Real(0.0, hint="r is the noise variance of one row, where the variance of its score is about 1 at first.")
R = Either((AUTO, POSITIVE), hint="r is the noise variance of one row: 0.01 to 10 times the squared length of a row.")
FORGETTING = Real(0.0, 0.1, True, True, hint="Each row lets the variances grow by 1/(1 - forgetting).")
ONE_R = Either((NONE, POSITIVE), hint=R.hint)
NO_PENALTY = Options(
    (None,), "Online learners of this library take no penalty; for L1 see AdaGradClassifier(update='dual_averaging', l1=...)."
)
STEP = Either((AUTO, POSITIVE), hint="It is the size of a step.")
VARIANCE = Either((AUTO, POSITIVE), hint="It is the variance of each weight before the first row.")
AGGRESSIVENESS = Real(0.0, high_allowed=True, hint="C caps the step; float('inf') gives the plain PA.")
CAP = Real(0.0, high_allowed=True, hint="C caps the step; float('inf') gives the plain CW.")
CONFIDENCE = Real(0.5, 1.0, hint="eta is the required probability of a correct prediction; 0.5 would require nothing.")
EPSILON = Real(0.0, low_allowed=True, hint="Residuals up to epsilon, in units of y, have no loss.")
BALL = Either((AUTO, NOT_NEGATIVE), hint="It is the radius of the ball, in units of the features.")
NO_L1 = Real(0.0, 0.0, True, True, "With matrix='full' l1 > 0 has no closed form: use matrix='diagonal'.")
DELTA = Either((AUTO, POSITIVE), hint="It keeps the first steps finite.")
POWER = Either(
    (NONE, Real(2.0, 500.0, True, True)),
    hint="2 is the plain Perceptron, None max(2, 2 ln n_features). p <= 1 has no dual norm, p < 2 no bound.",
)
SIGMA = Either((NONE, AUTO, POSITIVE), hint="1/sigma is the largest step; 'auto' needs neither horizon nor scale.")
ROW_MARGIN = Real(0.0, hint="Rows of at least this margin y w.x have no loss.")
UPDATE = Options(("DA1", "DA2", "DA3"))
NORM_BOUND = Either((AUTO, POSITIVE), hint="The weights' absolute values add up to at most norm_bound.")
DUAL_ASCENT = {"sigma": SIGMA, "margin": ROW_MARGIN, "norm_bound": NORM_BOUND, "signed": Boolean()}
DUAL_REGRESSION = {"sigma": SIGMA, "update": UPDATE, "norm_bound": NORM_BOUND, "signed": Boolean()}
DESCENT = {"alpha": Either((AUTO, POSITIVE), hint="The steps are 1/(alpha t)."), "eta0": STEP}
NUMBER_LOSS = Options(("absolute", "squared"))
MARGIN = Real(0.0, hint="Scores lie in [-norm_bound max|x|, norm_bound max|x|]: no row can have a larger margin.")
RADIUS = Real(0.0, hint="radius bounds the p-norm of the rows; with 2**0.5 and norms up to 1 the steps of p = 2 are PA-I's.")


# Defaults in units of the rows, by the names of the parameters.
EUCLIDEAN = {"sigma": Default(1.0, 2, name=None), "norm_bound": Default(1.0, -1)}
LOGISTIC = {"sigma": Default(0.2, 2, name=None), "norm_bound": Default(1.0, -1)}
ENTROPIC = {"sigma": Default(1.0, 0, name=None), "norm_bound": Default(1.0, -1)}
ALL_ROWS = "it keeps all rows, and a merge would keep those of all shards"
COMMITTEE = {"sigma": Default(1.0, 0, name=None), "norm_bound": Default(1.0, 0)}  # of experts: predictions within their range
OGD = {"alpha": Default(1e-4, 2), "eta0": Default(1.0, -2, used=False)}
OGD_REGRESSION = {"alpha": Default(1e-2, 2), "eta0": Default(1.0, -2, used=False)}
OGD_SQRT = {"alpha": Default(1e-4, 2, used=False), "eta0": Default(1.0, -2)}
OGD_REGRESSION_SQRT = {**OGD_SQRT, "alpha": Default(1e-2, 2, used=False)}
ADAGRAD = {"eta0": Default(0.5, -1), "delta": Default(1e-6, 1)}
PRIOR = {"initial_variance": Default(1.0, -2)}
CONFIDENT = {"initial_variance": Default(3.0, -2)}

#: Parameters that are Params fields of the same name.
PLAIN = ("C", "forgetting", "r", "b", "epsilon", "eta0", "delta", "l1", "radius", "margin", "norm_bound")


def _quantile(eta: float) -> float:
    from statistics import NormalDist

    return NormalDist().inv_cdf(eta)


#: Params fields that are parameters of another name, or computed from one; AROW's r is that of the mean and of the covariance.
FIELDS: Mapping[str, tuple[str, Callable]] = {
    "initial_variance": ("variance", lambda v: v["initial_variance"]), "eta": ("phi", lambda v: _quantile(v["eta"])),
    "p": ("power", lambda v: v["p"] or 0.0),
    "r1": ("r", lambda v: v["r"] if v["r1"] is None else v["r1"]), "r2": ("r2", lambda v: v["r"] if v["r2"] is None else v["r2"]),
}


#: How models of parts of a stream are merged, by the keys that rows of the table have.
MERGES = {
    "mean": "the mean of the weights (p-norm, entropic, multiplicative: of θ), weighted by rounds",
    "mean, squares add": "the mean of the weights, weighted by rounds; the sums of squared gradients add up",
    "posterior": "the product of the posteriors, divided by all priors but one: Σ^-1 - Σ_0^-1 and Σ^-1 w add up",
    "sum": "sums over rows add up: θ, z and the losses of experts, Σ^-1 - Σ_0^-1, squared gradients",
}

_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Algorithm(NamedTuple):
    """A row of the table: an algorithm.

    name : also that of the slow twin in ``tests/reference.py``. rule, geometry : names of the compiled code, in ``_rules.pxd``
    or, for dual ascent and its baselines, ``_compiled/dual_ascent.pyx``. estimator : its class. selects : constructor arguments
    that choose it there. params : ranges of its own hyper-parameters. units : the defaults in units of the rows. trials :
    settings away from the defaults (which tuning may change), with which tests and digests run it. margin : rows of at least this
    margin have no loss. trigger : when it may take a step, a name of Trigger in _rules.pxd. kernel : Params fields that do not
    depend on parameters. paper : its source. tasks : the loops that the estimator runs it in, ("binary", "multiclass"),
    ("regression",), ("one_class",), ("experts",) where the features are advice in [0, 1], or ("leader",) where all rows are kept.
    merge : how models of parts of a stream are merged, a key of MERGES; or else why they cannot be. theorems : the functions of
    `bounds` that apply to it; `follow` uses the first. conflicts : parameters that exclude each other.
    """

    name: str
    rule: str
    geometry: str
    estimator: str
    params: Mapping[str, object]
    paper: str
    title: str
    selects: Mapping[str, object] = _NOTHING
    units: Mapping[str, Default] = _NOTHING
    trials: tuple = ()
    margin: float = 1.0
    trigger: str = "loss"
    kernel: Mapping[str, float] = _NOTHING
    tasks: tuple = ("binary", "multiclass")
    merge: str = "mean"
    theorems: tuple[str, ...] = ()
    conflicts: tuple[Conflict, ...] = ()

    def __reduce__(self) -> tuple:
        return _named, (self.name,)

    def in_units(self, values: Mapping[str, object], units: Units) -> dict:
        """Return an estimator's parameters, with numbers for defaults in units of the rows."""
        found = {name: default.value(units) for name, default in self.units.items() if values[name] in default}
        if values.get("intercept_scaling") in AUTO:
            found["intercept_scaling"] = units.constant
        if not units.scale and self.awaits_scale(values):  # without an intercept, rows of zeros move nothing
            found["intercept_scaling"] = 0.0
            if values.get("initial_variance") in AUTO:
                found["initial_variance"] = 0.0
        return {**values, **found}

    def awaiting(self, values: Mapping[str, object]) -> list[str]:
        """Return the names of the parameters that these values leave to the units of X."""
        return [name for name, default in self.units.items() if default.used and default.power and values[name] in default]

    def awaits_scale(self, values: Mapping[str, object]) -> bool:
        """Return True if a number of the model depends on the units of X."""
        constant = values.get("fit_intercept") and values.get("intercept_scaling") in AUTO
        return bool(constant or self.awaiting(values))

    def kernel_params(self, values: Mapping[str, object]) -> dict:
        """Return this algorithm's part of the kernels' Params, from an estimator's parameters."""
        found = {name: float(values[name]) for name in PLAIN if name in self.params}
        found.update({field: float(make(values)) for name, (field, make) in FIELDS.items() if name in self.params})
        return {**found, **self.kernel}

    @property
    def geometries(self) -> tuple[str, ...]:
        """The compiled geometries among which the parameters choose."""
        more = {"gaussian": ("full_gaussian", "forgetting"), "potential": ("full_potential",), "sinh": ("exp",)}
        return self.geometry, *more.get(self.geometry, ())

    def geometry_of(self, values: Mapping[str, object]) -> str:
        """Return the geometry that an estimator's parameters choose."""
        if values.get("covariance") == "full" or not values.get("signed", True):
            return self.geometries[1]
        return self.geometries[2 if values.get("forgetting") else 0]


ALGORITHMS: Mapping[str, Algorithm] = MappingProxyType({a.name: a for a in [
    Algorithm("perceptron", "perceptron", "additive", "Perceptron", {"eta0": STEP, "penalty": NO_PENALTY},
              selects={"aggressive": False}, margin=0.0,
              units={"eta0": Default(1.0, 0)}, trials=({"eta0": 0.75},), theorems=("perceptron", "fixed_rate", "lemma_1"),
              title="Perceptron", paper="ICML 2008 tutorial, III; NAROW, section 2"),
    Algorithm("aggressive_perceptron", "aggressive_perceptron", "additive", "Perceptron", {"eta0": STEP, "penalty": NO_PENALTY},
              selects={"aggressive": True}, units={"eta0": Default(1.0, -2)}, trials=({"eta0": 0.375},),
              theorems=("fixed_rate", "lemma_1"), title="Aggressive Perceptron", paper="ICML 2008 tutorial, DA1"),
    Algorithm("p_norm", "perceptron", "p_norm", "PNormPerceptron", {"p": POWER, "radius": RADIUS}, selects={"aggressive": False},
              margin=0.0, trials=({"p": 3.3}, {"p": 18.0}, {"p": 2}), theorems=("p_norm", "fixed_rate", "lemma_1"),
              conflicts=(NO_SUM,), title="p-norm Perceptron", paper="NAROW, section 4.1"),
    Algorithm("aggressive_p_norm", "aggressive_p_norm", "p_norm", "PNormPerceptron", {"p": POWER, "radius": RADIUS},
              selects={"aggressive": True}, trials=({"p": 6.0, "radius": 1.7}, {"p": 2.5, "radius": 0.9}),
              theorems=("p_norm", "lemma_1"), conflicts=(NO_SUM,),
              title="Aggressive p-norm Perceptron", paper="NAROW, section 4.1 (aggressive)"),
    Algorithm("pa1", "pa1", "additive", "PassiveAggressiveClassifier", {"C": AGGRESSIVENESS, "margin": ROW_MARGIN},
              selects={"loss": "hinge"},
              trials=({"C": 0.02}, {"C": math.inf}, {"C": 0.3, "margin": 2.5}, {"C": 0.3, "margin": 0.4}),
              theorems=("passive_aggressive", "margin_corollary", "distance"), conflicts=CYCLES, title="PA-I (PA with C=inf)",
              paper="PA, section 3; ICML 2008 tutorial, III"),
    Algorithm("pa2", "pa2", "additive", "PassiveAggressiveClassifier", {"C": AGGRESSIVENESS, "margin": ROW_MARGIN},
              selects={"loss": "squared_hinge"}, trials=({"C": 0.05}, {"C": math.inf}, {"C": 0.3, "margin": 2.5}),
              theorems=("passive_aggressive", "margin_corollary", "distance"), conflicts=CYCLES,
              title="PA-II", paper="PA, section 5"),
    Algorithm("sop", "sop", "potential", "SecondOrderPerceptron", {"r": EVIDENCE, "initial_variance": VARIANCE},
              selects={"aggressive": False}, margin=0.0, units=PRIOR, trigger="lookahead_mistake",
              trials=({"r": 2.0, "initial_variance": 1.0}, {"r": 0.8, "initial_variance": 0.5}),
              theorems=("potential_based", "second_order_perceptron", "fixed_rate", "lemma_1"), merge="sum",
              title="Second-order Perceptron", paper="NAROW, section 4.2"),
    Algorithm("aggressive_sop", "aggressive_sop", "potential", "SecondOrderPerceptron",
              {"r": EVIDENCE, "initial_variance": VARIANCE}, selects={"aggressive": True}, units=PRIOR, trigger="lookahead_loss",
              trials=({"r": 0.7, "initial_variance": 1.0},),
              theorems=("potential_based", "second_order_perceptron", "fixed_rate", "lemma_1"), merge="sum",
              title="Aggressive second-order Perceptron", paper="NAROW, Fig. 1, sections 4.2 and 4.3"),
    Algorithm("arow", "arow", "gaussian", "AROWClassifier", {"r": R, "r1": ONE_R, "r2": ONE_R, "forgetting": FORGETTING},
              units={"r": Default(0.1, 2, epochs=True)},
              trials=({"r": 0.5}, {"r": 0.5, "r1": 2.0}, {"r1": 0.3, "r2": 1.5}, {"r": 0.5, "forgetting": 0.01}),
              theorems=("arow", "potential_based"), merge="posterior", title="AROW", paper="AROW, eqs (7)-(9)"),
    Algorithm("narow", "narow", "potential", "NAROWClassifier", {"b": POSITIVE, "initial_variance": VARIANCE},
              units={"initial_variance": Default(4.0, -2)}, trigger="lookahead_loss",
              trials=({"b": 0.3, "initial_variance": 1.0}, {"b": 0.6, "initial_variance": 2.0}),
              theorems=("potential_based", "narow", "fixed_rate", "lemma_1"), merge="sum", title="NAROW",
              paper="NAROW, section 5"),
    Algorithm("cw_stdev", "cw_stdev", "gaussian", "ConfidenceWeightedClassifier",
              {"eta": CONFIDENCE, "initial_variance": VARIANCE, "forgetting": FORGETTING}, units=CONFIDENT,
              selects={"variant": "stdev"}, trigger="stdev", trials=({"eta": 0.7, "initial_variance": 0.5},), merge="posterior",
              title="Confidence-weighted (stdev)", paper="exact convex CW (NIPS 2008)"),
    Algorithm("cw_variance", "cw_variance", "gaussian", "ConfidenceWeightedClassifier",
              {"eta": CONFIDENCE, "initial_variance": VARIANCE, "forgetting": FORGETTING}, units=CONFIDENT,
              selects={"variant": "variance"}, trigger="variance",
              trials=({"eta": 0.8, "initial_variance": 2.0}, {"eta": 0.8, "initial_variance": 2.0, "forgetting": 0.05}),
              merge="posterior", title="Confidence-weighted (variance)", paper="CW (ICML 2008)"),
    Algorithm("scw1", "scw1", "gaussian", "SCWClassifier",
              {"C": CAP, "eta": CONFIDENCE, "initial_variance": VARIANCE, "forgetting": FORGETTING}, units=CONFIDENT,
              selects={"variant": "SCW-I"}, trigger="stdev",
              trials=({"C": 0.3, "eta": 0.8, "initial_variance": 0.5}, {"C": math.inf, "eta": 0.7, "initial_variance": 1.0},
                      {"C": 0.3, "eta": 0.8, "initial_variance": 0.5, "forgetting": 0.003}),
              merge="posterior", title="Soft confidence-weighted (SCW-I)", paper="SCW (ICML 2012), proposition 1"),
    Algorithm("scw2", "scw2", "gaussian", "SCWClassifier",
              {"C": CAP, "eta": CONFIDENCE, "initial_variance": VARIANCE, "forgetting": FORGETTING}, units=CONFIDENT,
              selects={"variant": "SCW-II"}, trigger="stdev", trials=({"C": 0.6, "eta": 0.8, "initial_variance": 2.0},),
              merge="posterior", title="Soft confidence-weighted (SCW-II)", paper="SCW (ICML 2012), proposition 2"),
    Algorithm("adagrad_md", "adagrad", "mirror", "AdaGradClassifier",
              {"eta0": STEP, "delta": DELTA, "l1": Real(0.0, 0.0, True, True, "Use update='dual_averaging' for l1 > 0.")},
              selects={"update": "mirror_descent", "matrix": "diagonal"}, units=ADAGRAD, trials=({"eta0": 0.4, "delta": 0.3},),
              merge="mean, squares add", title="AdaGrad (mirror descent)", paper="NAROW's baseline [9]"),
    Algorithm("adagrad_da", "adagrad", "dual", "AdaGradClassifier", {"eta0": STEP, "delta": DELTA, "l1": NOT_NEGATIVE},
              selects={"update": "dual_averaging", "matrix": "diagonal"}, units=ADAGRAD,
              trials=({"eta0": 0.4, "delta": 0.3, "l1": 0.004}, {"eta0": 0.4, "delta": 0.3, "l1": 0.0}), merge="sum",
              conflicts=(NO_THRESHOLD,), title="AdaGrad (dual averaging, L1)", paper="NAROW's baseline [9]"),
    Algorithm("full_adagrad_md", "adagrad", "full_mirror", "AdaGradClassifier", {"eta0": STEP, "delta": DELTA, "l1": NO_L1},
              selects={"update": "mirror_descent", "matrix": "full"}, units=ADAGRAD, trials=({"eta0": 0.4, "delta": 0.3},),
              merge="mean, squares add", title="AdaGrad with the full matrix (mirror descent)", paper="NAROW's baseline [9]"),
    Algorithm("full_adagrad_da", "adagrad", "full_dual", "AdaGradClassifier", {"eta0": STEP, "delta": DELTA, "l1": NO_L1},
              selects={"update": "dual_averaging", "matrix": "full"}, units=ADAGRAD, trials=({"eta0": 0.4, "delta": 0.3},),
              merge="sum", title="AdaGrad with the full matrix (dual averaging)", paper="NAROW's baseline [9]"),
    Algorithm("multiplicative_pa", "multiplicative", "sinh", "MultiplicativePassiveAggressiveClassifier",
              {"margin": MARGIN, "signed": Boolean(), "norm_bound": NORM_BOUND}, units={"norm_bound": Default(8.0, -1)},
              trigger="own_margin", trials=({"margin": 0.4, "norm_bound": 2.5}, {"margin": 1.5, "norm_bound": 1.0}),
              theorems=("multiplicative",), conflicts=(NO_SUM,), title="Multiplicative PA", paper="PA, section 6"),
    Algorithm("multiplicative_pa_regression", "multiplicative", "sinh", "MultiplicativePassiveAggressiveRegressor",
              {"epsilon": EPSILON, "signed": Boolean(), "norm_bound": NORM_BOUND}, margin=0.0, tasks=("regression",),
              units={"norm_bound": Default(1.0, -1)}, trigger="own_margin",
              trials=({"epsilon": 0.3, "norm_bound": 6.0}, {"epsilon": 0.0, "norm_bound": 0.8}), theorems=("multiplicative",),
              conflicts=(NO_SUM,), title="Multiplicative PA regression", paper="PA, section 6"),
    Algorithm("multiplicative_pa_one_class", "multiplicative_centre", "sinh", "MultiplicativePassiveAggressiveOneClass",
              {"epsilon": BALL, "signed": Boolean(), "norm_bound": NORM_BOUND}, margin=0.0, tasks=("one_class",),
              units={"epsilon": Default(1.0, 1), "norm_bound": Default(1.0, 1)}, trigger="own_margin",
              trials=({"epsilon": 1.5, "norm_bound": 3.0}, {"epsilon": 0.4, "norm_bound": 1.0},
                      {"epsilon": 0.0, "norm_bound": 0.5}),
              theorems=("one_class",), title="Multiplicative PA one-class (uniclass)", paper="PA, section 6 (uniclass)"),
    Algorithm("pa1_regression", "pa1", "additive", "PassiveAggressiveRegressor", {"C": AGGRESSIVENESS, "epsilon": EPSILON},
              selects={"loss": "epsilon_insensitive"}, margin=0.0, tasks=("regression",),
              trials=({"C": 0.2, "epsilon": 0.3}, {"C": math.inf, "epsilon": 0.0}), theorems=("passive_aggressive", "distance"),
              conflicts=CYCLES, title="PA-I regression (PA with C=inf)", paper="PA, sections 2 and 3; ICML 2008 tutorial, III"),
    Algorithm("pa_one_class", "pa1", "centre", "PassiveAggressiveOneClass", {"epsilon": BALL}, margin=0.0, kernel={"C": math.inf},
              tasks=("one_class",), units={"epsilon": Default(1.0, 1)},
              trials=({"epsilon": 1.5}, {"epsilon": 0.4}, {"epsilon": 0.0}), theorems=("one_class",),
              conflicts=CYCLES, title="PA one-class (uniclass)", paper="PA, sections 2 and 3 (uniclass)"),
    Algorithm("pa2_regression", "pa2", "additive", "PassiveAggressiveRegressor", {"C": AGGRESSIVENESS, "epsilon": EPSILON},
              selects={"loss": "squared_epsilon_insensitive"}, margin=0.0, tasks=("regression",),
              trials=({"C": 0.3, "epsilon": 0.2}, {"C": math.inf, "epsilon": 0.5}), theorems=("passive_aggressive", "distance"),
              conflicts=CYCLES, title="PA-II regression", paper="PA, sections 2 and 5"),
    Algorithm("arow_regression", "least_squares", "gaussian", "AROWRegressor",
              {"r": R, "r1": ONE_R, "r2": ONE_R, "forgetting": FORGETTING}, margin=0.0, tasks=("regression",),
              units={"r": Default(0.1, 2, epochs=True)},
              trials=({"r": 0.5}, {"r": 0.5, "r2": 2.0}, {"r": 0.5, "forgetting": 0.02}), theorems=("least_squares",),
              merge="posterior", title="AROW regression (recursive least squares)", paper="AROW, section 7"),
    Algorithm("da1", "DA1", "additive", "DualAscentClassifier", DUAL_ASCENT,
              selects={"update": "DA1", "loss": "hinge", "regularizer": "euclidean"}, units=EUCLIDEAN, trials=({"sigma": 0.7},),
              theorems=("dual_ascent",), title="Dual ascent, DA1", paper="ICML 2008 tutorial, II and III"),
    Algorithm("da2", "DA2", "additive", "DualAscentClassifier", DUAL_ASCENT,
              selects={"update": "DA2", "loss": "hinge", "regularizer": "euclidean"}, units=EUCLIDEAN,
              trials=({"sigma": 1.3, "margin": 0.8}, {"sigma": "auto", "norm_bound": 2.0}), theorems=("dual_ascent",),
              title="Dual ascent, DA2", paper="ICML 2008 tutorial, II and III"),
    Algorithm("da3", "DA3", "additive", "DualAscentClassifier", DUAL_ASCENT,
              selects={"update": "DA3", "loss": "hinge", "regularizer": "euclidean"}, units=EUCLIDEAN,
              trials=({"sigma": 0.7, "margin": 0.8},), theorems=("dual_ascent",), title="Dual ascent, DA3",
              paper="ICML 2008 tutorial, II and III"),
    Algorithm("entropic_da1", "DA1", "entropic", "DualAscentClassifier", DUAL_ASCENT,
              selects={"update": "DA1", "loss": "hinge", "regularizer": "entropic"}, units=ENTROPIC,
              trials=({"sigma": 2.0, "norm_bound": 3.0}, {"sigma": 2.0, "norm_bound": 3.0, "signed": False}),
              theorems=("dual_ascent",), conflicts=(NO_GROWTH,),
              title="Dual ascent, DA1, entropic", paper="ICML 2008 tutorial, II to IV"),
    Algorithm("entropic_da2", "DA2", "entropic", "DualAscentClassifier", DUAL_ASCENT,
              selects={"update": "DA2", "loss": "hinge", "regularizer": "entropic"}, units=ENTROPIC,
              trials=({"sigma": 0.7, "norm_bound": 3.0}, {"sigma": "auto", "norm_bound": 3.0, "margin": 0.8},
                      {"sigma": 0.7, "norm_bound": 3.0, "signed": False}),
              theorems=("dual_ascent",), conflicts=(NO_GROWTH,),
              title="Dual ascent, DA2, entropic", paper="ICML 2008 tutorial, II to IV"),
    Algorithm("entropic_da3", "DA3", "entropic", "DualAscentClassifier", DUAL_ASCENT,
              selects={"update": "DA3", "loss": "hinge", "regularizer": "entropic"}, units=ENTROPIC,
              trials=({"sigma": 0.7, "norm_bound": 3.0, "margin": 0.8},
                      {"sigma": 0.7, "norm_bound": 3.0, "margin": 0.8, "signed": False}),
              theorems=("dual_ascent",), conflicts=(NO_GROWTH,),
              title="Dual ascent, DA3, entropic", paper="ICML 2008 tutorial, II to IV"),
    Algorithm("logistic", "DA3", "additive", "DualAscentClassifier", {**DUAL_ASCENT, "update": UPDATE},
              selects={"loss": "log_loss", "regularizer": "euclidean"}, units=LOGISTIC,
              trials=({"sigma": 0.7, "update": "DA1"}, {"sigma": 0.3, "update": "DA3"}), theorems=("dual_ascent",),
              title="Online logistic regression (dual ascent)", paper="ICML 2008 tutorial, II and III (log loss)"),
    Algorithm("entropic_logistic", "DA3", "entropic", "DualAscentClassifier", {**DUAL_ASCENT, "update": UPDATE},
              selects={"loss": "log_loss", "regularizer": "entropic"}, units=ENTROPIC,
              trials=({"sigma": 0.7, "norm_bound": 3.0, "update": "DA2"}, {"sigma": 0.7, "norm_bound": 3.0, "signed": False}),
              theorems=("dual_ascent",), conflicts=(NO_GROWTH,), title="Online logistic regression, entropic",
              paper="ICML 2008 tutorial, II and III (log loss)"),
    Algorithm("da_regression", "DA3", "additive", "DualAscentRegressor", DUAL_REGRESSION, margin=0.0,
              selects={"loss": "absolute", "regularizer": "euclidean"}, tasks=("regression",), units=EUCLIDEAN,
              trials=({"sigma": 2.0, "update": "DA1"}, {"sigma": 0.7, "update": "DA2"}, {"sigma": "auto", "norm_bound": 2.0}),
              theorems=("dual_ascent",), title="Dual ascent regression, absolute loss",
              paper="ICML 2008 tutorial, I (Example II) to III"),
    Algorithm("da_squared", "DA3", "additive", "DualAscentRegressor", DUAL_REGRESSION, margin=0.0,
              selects={"loss": "squared", "regularizer": "euclidean"}, tasks=("regression",), units=EUCLIDEAN,
              trials=({"sigma": 20.0, "update": "DA1"}, {"sigma": 0.7, "update": "DA3"}), theorems=("dual_ascent",),
              title="Dual ascent regression, squared loss", paper="ICML 2008 tutorial, I (Example I) to III"),
    Algorithm("entropic_da_regression", "DA3", "entropic", "DualAscentRegressor", DUAL_REGRESSION, margin=0.0,
              selects={"loss": "absolute", "regularizer": "entropic"}, tasks=("regression",), units=COMMITTEE,
              trials=({"sigma": 2.0, "norm_bound": 3.0}, {"sigma": 2.0, "norm_bound": 3.0, "signed": False}),
              theorems=("dual_ascent",),
              conflicts=(NO_GROWTH,),
              title="Dual ascent regression, entropic, absolute loss (committee of experts: signed=False)",
              paper="ICML 2008 tutorial, I (Example II) to III"),
    Algorithm("entropic_da_squared", "DA3", "entropic", "DualAscentRegressor", DUAL_REGRESSION, margin=0.0,
              selects={"loss": "squared", "regularizer": "entropic"}, tasks=("regression",), units=COMMITTEE,
              trials=({"sigma": 2.0, "norm_bound": 3.0}, {"sigma": 2.0, "norm_bound": 3.0, "signed": False}),
              theorems=("dual_ascent",),
              conflicts=(NO_GROWTH,), title="Dual ascent regression, entropic, squared loss (committee of experts: signed=False)",
              paper="ICML 2008 tutorial, I (Example II) to III"),
    Algorithm("forel", "forel", "additive", "FoReLClassifier", {"sigma": Either((NONE, POSITIVE)), "gap_tol": POSITIVE},
              selects={"loss": "hinge"}, tasks=("leader",), units={"sigma": Default(1.0, 2, name=None)},
              trials=({"sigma": 2.0, "gap_tol": 1e-06},), merge=ALL_ROWS, theorems=("dual_ascent",),
              conflicts=(NO_AVERAGE,),
              title="Follow the regularized leader (FoReL)", paper="ICML 2008 tutorial, III (aggressive schemes II)"),
    Algorithm("forel_log", "forel", "additive", "FoReLClassifier", {"sigma": Either((NONE, POSITIVE)), "gap_tol": POSITIVE},
              selects={"loss": "log_loss"}, tasks=("leader",), units={"sigma": Default(1.0, 2, name=None)},
              trials=({"sigma": 2.0, "gap_tol": 1e-06},), merge=ALL_ROWS, theorems=("dual_ascent",),
              conflicts=(NO_AVERAGE,),
              title="Follow the regularized leader, log loss", paper="ICML 2008 tutorial, III (aggressive schemes II)"),
    Algorithm("ogd", "gradient", "additive", "OGDClassifier", DESCENT, selects={"learning_rate": "strongly_convex"}, units=OGD,
              trials=({"alpha": 0.1},), theorems=("gradient_descent",), title="Online gradient descent, strongly convex",
              paper="ICML 2008 tutorial, V"),
    Algorithm("ogd_sqrt", "gradient", "additive", "OGDClassifier", DESCENT, selects={"learning_rate": "sqrt"}, units=OGD_SQRT,
              trials=({"eta0": 0.3},), title="Online gradient descent, plain", paper="ICML 2008 tutorial, V (its baseline)"),
    Algorithm("ogd_regression", "gradient", "additive", "OGDRegressor", {**DESCENT, "loss": NUMBER_LOSS}, margin=0.0,
              selects={"learning_rate": "strongly_convex"}, tasks=("regression",), units=OGD_REGRESSION,
              trials=({"alpha": 0.1}, {"alpha": 5.0, "loss": "squared"}), theorems=("gradient_descent",),
              title="Online gradient descent regression, strongly convex", paper="ICML 2008 tutorial, V"),
    Algorithm("ogd_regression_sqrt", "gradient", "additive", "OGDRegressor", {**DESCENT, "loss": NUMBER_LOSS}, margin=0.0,
              selects={"learning_rate": "sqrt"}, tasks=("regression",), units=OGD_REGRESSION_SQRT,
              trials=({"eta0": 0.3}, {"eta0": 0.02, "loss": "squared"}), title="Online gradient descent regression, plain",
              paper="ICML 2008 tutorial, V (its baseline)"),
    Algorithm("hedge", "hedge", "experts", "HedgeClassifier", {"eta0": STEP, "signed": Boolean()}, tasks=("experts",),
              trials=({"eta0": 0.3}, {"eta0": "auto"}), merge="sum", title="Hedge (experts)",
              paper="ICML 2008 tutorial, I, III and V"),
]})


# Parameters of the kernel learners: all are checked, whichever algorithm is chosen.
CONSTANT = Real(0.0, 1e70, high_allowed=True, hint="It is the value of the constant feature; 1 suits unit-length rows.")
NAMED_KERNELS = ("linear", "rbf", "poly", "sigmoid", "precomputed")
FUNCTION = OfType(callable, "a callable of two matrices")
KERNEL = {
    "kernel": Either((Options(NAMED_KERNELS), FUNCTION)),
    "kernel_params": Either((NONE, OfType(lambda value: isinstance(value, dict), "a dict"))),
    "gamma": Either((Options(("scale", "auto")), POSITIVE), hint="gamma multiplies squared distances (rbf) or inner products."),
    "degree": Integer(1, 2**31 - 1),
    "coef0": Real(),
    "budget": Either((NONE, Integer(1, 2**31 - 1)), hint="It bounds the number of support vectors, and with it time and memory."),
}
KERNEL_CLASSIFIER = {**KERNEL, "intercept_scaling": CONSTANT, "C": AGGRESSIVENESS, "r": EVIDENCE, "eta0": POSITIVE}
KERNEL_REGRESSOR = {**KERNEL, "intercept_scaling": CONSTANT, "C": AGGRESSIVENESS, "epsilon": EPSILON, "r": EVIDENCE}
KEPT_ROWS = "its model consists of rows, and a merge would keep those of all shards"


def _kernel(name: str, rule: str, selects: Mapping[str, object], **more: Any) -> Algorithm:
    """Make the row of a rule above in the feature space of a kernel, for classes unless `more` has another estimator."""
    fields = {"estimator": "KernelOnlineClassifier", "params": KERNEL_CLASSIFIER, "title": f"Kernel {name}", "merge": KEPT_ROWS,
              "paper": "AROW, Lemma 1", "geometry": "kernel", "conflicts": (NO_KEYWORDS,), **more}
    return Algorithm("kernel_" + name, rule, selects=selects, **fields)


COMBINING = {"combine": Options(("arow", "hedge")), "r": POSITIVE,
             "forgetting": Real(0.0, 0.1, True, True, "The variances of the combiner grow by 1/(1 - forgetting) a row.")}
FOLLOWING = "its members' weights depend on which rows came last; merge the members of each kind instead"

#: Estimators that run the rules of the table above in another way: in dual form, or wrapped.
OTHERS: Mapping[str, Algorithm] = MappingProxyType({a.name: a for a in [
    _kernel("arow", "arow", {"algorithm": "arow"}, geometry="gaussian_kernel"),
    _kernel("pa1", "pa1", {"algorithm": "pa", "loss": "hinge"}),
    _kernel("pa2", "pa2", {"algorithm": "pa", "loss": "squared_hinge"}),
    _kernel("perceptron", "perceptron", {"algorithm": "perceptron", "aggressive": False}, margin=0.0),
    _kernel("aggressive_perceptron", "aggressive_perceptron", {"algorithm": "perceptron", "aggressive": True}),
    _kernel("sop", "sop", {"algorithm": "sop", "aggressive": False}, geometry="gaussian_kernel", margin=0.0,
            trigger="lookahead_mistake"),
    _kernel("aggressive_sop", "aggressive_sop", {"algorithm": "sop", "aggressive": True}, geometry="gaussian_kernel",
            trigger="lookahead_loss"),
    _kernel("pa1_regression", "pa1", {"algorithm": "pa", "loss": "epsilon_insensitive"}, margin=0.0,
            estimator="KernelOnlineRegressor", params=KERNEL_REGRESSOR, tasks=("regression",)),
    _kernel("pa2_regression", "pa2", {"algorithm": "pa", "loss": "squared_epsilon_insensitive"}, margin=0.0,
            estimator="KernelOnlineRegressor", params=KERNEL_REGRESSOR, tasks=("regression",)),
    _kernel("arow_regression", "least_squares", {"algorithm": "arow"}, geometry="gaussian_kernel", margin=0.0,
            kernel={"epsilon": 0.0},
            estimator="KernelOnlineRegressor", params=KERNEL_REGRESSOR, tasks=("regression",)),
    _kernel("pa_one_class", "pa1", {}, margin=0.0,
            estimator="KernelOnlineOneClass", tasks=("one_class",),
            params={**KERNEL, "kernel": Either((Options(NAMED_KERNELS[:-1]), FUNCTION)), "epsilon": NOT_NEGATIVE}),
    Algorithm("online_to_batch", "", "", "OnlineToBatch",
              {"method": Options(("average", "vote", "best"), "'best' chooses by held-out rows ('validation' before)."),
               "n_snapshots": Integer(2, hint="Each is a copy of the model."),
               "validation_fraction": Real(0.0, 0.5, high_allowed=True,
                                           hint="Every round(1 / validation_fraction)-th row is held out.")},
              merge="it chooses among the hypotheses of one stream; merge the estimators that it wraps",
              title="Online to batch", paper="ICML 2008 tutorial, V"),
    Algorithm("committee", "", "", "CommitteeClassifier", COMBINING, merge=FOLLOWING,
              title="Committee", paper="ICML 2008 tutorial, I; AROW over the scores of learners"),
    Algorithm("committee_regression", "", "", "CommitteeRegressor", COMBINING, merge=FOLLOWING, tasks=("regression",),
              title="Committee of regressors", paper="ICML 2008 tutorial, I; least squares over the predictions of learners"),
]})

#: The names of all estimators.
ESTIMATORS = frozenset(row.estimator for row in (*ALGORITHMS.values(), *OTHERS.values()))

#: Compositions of an estimator and the steps before it, with their folders.
COMPOSED = {"StreamPipeline": "_pipeline"}

#: The files with the estimators, in the order in which they are searched.
FILES = tuple(f"_estimators.{name}" for name in (
    "second_order", "first_order", "p_norm", "adagrad", "one_class", "multiplicative", "dual_ascent", "baselines",
    "follow_the_leader", "online_to_batch", "kernel", "committee",
))


def estimator_class(name: str) -> type:
    """Return the estimator class of this name; its file is imported now."""
    modules = (import_module(f"{__package__}.{file}") for file in ((COMPOSED[name],) if name in COMPOSED else FILES))
    return next(vars(module)[name] for module in modules if name in vars(module))


def worded_defaults(estimator: str) -> dict[str, str]:
    """Return, by name, the formulas of a class's defaults that are in units of the rows."""
    worded: dict[str, dict[str, set]] = {}
    for algorithm in ALGORITHMS.values():
        for name, default in algorithm.units.items() if algorithm.estimator == estimator else ():
            common = worded.setdefault(name, {}).setdefault(str(default), set(algorithm.selects.items()))
            common.intersection_update(algorithm.selects.items())
    return {
        name: "; ".join(
            f"{text} for " + ", ".join(f"{key}={value!r}" for key, value in common) if len(of) > 1 else text
            for text, common in of.items()
        )
        for name, of in worded.items()
    }


def _named(name: str) -> Algorithm:
    """Return the row of this name, which pickles refer to."""
    return {**ALGORITHMS, **OTHERS}[name]


def algorithms_of(cls: type) -> tuple[Algorithm, ...]:
    """Return the rows that a class, or the class that it extends, offers; none for a class of another library."""
    offered = next((base.__name__ for base in cls.__mro__ if base.__name__ in ESTIMATORS), None)
    return tuple(a for a in (*ALGORITHMS.values(), *OTHERS.values()) if a.estimator == offered)


def parameter_error(who: str, name: str, allowed, value) -> ValueError:
    """Return the error of a parameter out of its range: who, what was required, what came, what to do."""
    return ValueError(f"{who}: {name} must be {allowed}, got {name}={value!r}." + (f" {allowed.hint}" if allowed.hint else ""))


def select(cls: type, values: Mapping[str, object]) -> Algorithm:
    """Check the parameters of an estimator of this class against their ranges, and return the row that they choose."""
    who, offered = cls.__name__, algorithms_of(cls)
    for name in dict.fromkeys(name for a in offered for name in a.selects):
        choices = tuple(dict.fromkeys(a.selects[name] for a in offered if name in a.selects))
        if values[name] not in Options(choices):
            raise parameter_error(who, name, Options(choices), values[name])
    chosen = next(a for a in offered if all(values[name] == value for name, value in a.selects.items()))
    for name, allowed in {**COMMON, **chosen.params}.items():
        if name in values and values[name] not in allowed:
            raise parameter_error(who, name, allowed, values[name])
    for conflict in chosen.conflicts:
        if conflict.occurs(values):
            raise conflict.error(who, values)
    return chosen
