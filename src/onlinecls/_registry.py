"""THE table: every algorithm's rule, geometry, hyper-parameters with their ranges, estimator and paper.

Estimators, tests and benchmarks read it, and the README's table is checked against it. A row names the compiled rule and
geometry, the estimator class that offers it, and, where one class offers several, the constructor arguments that select it.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module
from sys import float_info
from types import MappingProxyType
from typing import Any, NamedTuple, Self

# --- what a row may say --------------------------------------------------------------------------------------------------------


class Range(NamedTuple):
    """The values that a parameter may have: those listed, and the objects of a class, numbers from low to high.

    kind : the class; None: the listed values alone. open_low, open_high : True if the end is not in the range. words : what an
    error requires. hint : its last sentence.
    """

    values: tuple = ()
    kind: Any = None
    low: float = -math.inf
    high: float = math.inf
    open_low: bool = False
    open_high: bool = False
    words: str = ""
    hint: str = ""

    def __contains__(self, value) -> bool:
        for one in self.values:
            is_of_type = isinstance(value, type(one)) or (type(one) is bool and type(value).__name__ in ("bool", "bool_"))
            if value is one or (is_of_type and value == one):  # (bool of numpy, which is not imported here)
                return True
        if self.kind is None or isinstance(value, bool) or not isinstance(value, self.kind):
            return False
        if not issubclass(self.kind, numbers.Number):
            return True
        try:
            value = float(value) if self.kind is numbers.Real else value
        except OverflowError:
            return False
        return (self.low < value or (self.low == value and not self.open_low)) and (
            value < self.high or (self.high == value and not self.open_high)
        )


def Real(
    low: float = -math.inf, high: float = math.inf, low_allowed: bool = False, high_allowed: bool = False, hint: str = ""
) -> Range:
    """Return a range of real numbers."""
    if high < math.inf:
        words = f"a number in {'[' if low_allowed else '('}{low:g}, {high:g}{']' if high_allowed else ')'}"
    else:
        above = "" if low == -math.inf else f" {'>=' if low_allowed else '>'} {low:g}"
        words = ("a number" if high_allowed else "a finite number") + above
    return Range((), numbers.Real, low, high, not low_allowed, not high_allowed, words, hint)


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


def parameter_error(who: str, name: str, allowed: Range, value: object) -> ValueError:
    """Return the error of a parameter out of its range: who, what was required, what came, what to do."""
    hint = f" {allowed.hint}" if allowed.hint else ""
    return ValueError(f"{who}: {name} must be {allowed.words}, got {name}={value!r}.{hint}")


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


_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Algorithm(NamedTuple):
    """A row of the table: an algorithm.

    name : also that of the slow twin in `reference`. rule, geometry : names of the compiled code, in ``_rules.pxd`` or, for dual
    ascent and its baselines, ``_wings/dual_ascent/dual_ascent.pyx``. estimator : its class. params : ranges of its own
    hyper-parameters. title, paper : its name and source. selects : constructor arguments that choose it in its class. defaults :
    the numbers that None stands for, where the algorithms of a class differ in them. margin : rows of at least this margin have
    no loss. trigger : when it may take a step, a name of Trigger in _rules.pxd. kernel : Params fields that do not depend on
    parameters. tasks : the loops that the estimator runs it in, ("binary", "multiclass"), ("regression",), ("one_class",), or
    ("experts",) where the features are advice in [0, 1]. merge : how models of parts of a stream are merged, a key of MERGES; or
    else why they cannot be. theorems : the functions of `bounds` that apply to it; `follow` uses the first. conflicts :
    parameters that exclude each other. level : True for a regressor that learns deviations from the mean of the targets where its
    intercept is "auto". costs : how the weight of a class enters, a name of Costs in _rules.pxd.
    """

    name: str
    rule: str
    geometry: str
    estimator: str
    params: Mapping[str, Range]
    title: str
    paper: str
    selects: Mapping[str, object] = _NOTHING
    defaults: Mapping[str, float] = _NOTHING
    margin: float = 1.0
    trigger: str = "loss"
    kernel: Mapping[str, float] = _NOTHING
    tasks: tuple[str, ...] = ("binary", "multiclass")
    merge: str = "mean"
    theorems: tuple[str, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    level: bool = False
    costs: str = "weight"

    @property
    def geometries(self) -> tuple[str, ...]:
        """The compiled geometries among which the parameters choose."""
        more = {"gaussian": ("full_gaussian", "forgetting"), "potential": ("full_potential",), "sinh": ("exp",)}
        return self.geometry, *more.get(self.geometry, ())


#: How models of parts of a stream are merged, by the keys that rows of the table have.
MERGES = {
    "mean": "the mean of the weights (p-norm, entropic, multiplicative: of θ), weighted by rounds",
    "mean by squares": "the mean of the weights, weighted by their sums of squared gradients, which add up",
    "mean, squares add": "the mean of the weights, weighted by rounds; the sums of squared gradients add up",
    "posterior": "the product of the posteriors, divided by all priors but one: Σ^-1 - Σ_0^-1 and Σ^-1 w add up",
    "sum": "sums over rows add up: θ, z and the losses of experts, Σ^-1 - Σ_0^-1, squared gradients",
}

# --- the parameters of a pass --------------------------------------------------------------------------------------------------

#: Of float32 and of float64, by their sizes in bytes: the spacing at 1, the smallest normal number and the largest one.
DTYPES = {4: (2.0**-23, 2.0**-126, (2.0 - 2.0**-23) * 2.0**127), 8: (float_info.epsilon, float_info.min, float_info.max)}


class Params(NamedTuple):
    """The fields of the C struct of the same name, which explains them (_rules.pxd): a constructor's parameters, made numbers.

    rule, trigger, geometry, costs are names here. The values here are those of a learner that does not use a field.
    """

    rule: Any
    trigger: Any
    geometry: Any
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
    costs: str = "weight"
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
    def of(cls, algorithm: Algorithm, values: Mapping[str, Any]) -> Self:
        """Return the parameters of an algorithm, from a constructor's parameters within their ranges."""
        second = values.get("covariance") == "full" or not values.get("signed", True)
        geometry = algorithm.geometry
        if second or values.get("forgetting"):
            geometry = algorithm.geometries[1 if second else 2]
        found = {}
        for name in filter(FIELDS.get, algorithm.params):
            field, of = FIELDS[name]
            found[field] = float(of(values) if callable(of) else values[of if values[name] is None else name])
        fields = {"margin": algorithm.margin, "costs": algorithm.costs, **cls.common(values), **found, **algorithm.kernel}
        return cls(algorithm.rule, algorithm.trigger, geometry, **fields)

    @staticmethod
    def common(values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields that all linear learners compute alike from their constructor's parameters."""
        average, scale, constant = values.get("average"), values.get("scale", 1.0), values.get("intercept_scaling", 0.0)
        return {
            "scale": 0.0 if isinstance(scale, str) else float(scale),  # (a text is "auto")
            "constant": 0.0 if not values.get("fit_intercept") else -1.0 if isinstance(constant, str) else float(constant),
            "average_from": int(average) - 1 if average else -1, "probability": int(bool(values.get("probability"))),
            "joint": int(values.get("multi_class") == "crammer_singer"), "level": int(values.get("level", 0)),
        }

    @property
    def model(self) -> str:
        """The name of the class of models that these parameters choose, a key of STATES."""
        return self.geometry

    @property
    def has_intercept(self) -> bool:
        return self.constant != 0.0

    def limits(self, dtype: Any) -> Iterator[tuple[str, float, float, float]]:
        """Yield (parameter, its value, the least and the largest one that fit the dtype)."""
        spacing, tiny, most = DTYPES[dtype.itemsize]
        yield "initial_variance", self.variance, tiny / spacing, most / 4
        # (It is divided by sums of exponentials.)
        yield "norm_bound", self.norm_bound, max(tiny / spacing, 1e-250), min(most / 4, 1e250)

    def check_range(self, who: str, dtype: Any) -> None:
        """Raise unless the parameters fit the dtype of a model."""
        most = (DTYPES[dtype.itemsize][2] / 4) ** 0.5  # (squares of both, and of 1/s, must fit)
        units = ("scale", self.scale or 1.0, 1.0 / most, most), (
            "intercept_scaling", max(self.constant, 0.0), 0.0, most / max(self.scale, 1.0))
        for name, value, least, largest in (*units, *self.limits(dtype)):
            if not least <= value <= largest:
                bound = f"at least {least:.2g}" if value < least else f"at most {largest:.2g}"
                raise ValueError(f"{who}: {name} must fit {dtype}, {bound}, got {name}={value!r}.")

    def of_pass(self, state: Any, is_open: bool, balanced: bool) -> Self:
        """Add the numbers that depend on the model and its labels."""
        (spacing, tiny, most), least = DTYPES[state.dtype.itemsize], 0.0 if len(state.sigma) else self.least
        return self._replace(
            open_classes=int(is_open), balanced=int(balanced), variance=state.variance, spacing=spacing, tiny=tiny,
            # In units of the initial variance, while that fits, so that X times a power of two meets the floor at the same row.
            floor=max(tiny / spacing, state.variance * max(tiny**0.5, least)),
            limit=min(most / 4, math.inf if self.average_from < 0 else 1e290),  # (the average's sums hold weights times rounds)
        )


def _phi(values: Mapping[str, Any]) -> float:
    from statistics import NormalDist

    return NormalDist().inv_cdf(values["eta"])


#: Of parameters that set a field of Params: the field; and the parameter that stands for None, or what computes it.
FIELDS: Mapping[str, tuple[str, str | Callable[[Mapping[str, Any]], float]]] = {
    **{one: (one, "") for one in "C forgetting r b epsilon eta0 delta l1 radius margin norm_bound".split()},
    "initial_variance": ("variance", ""), "eta": ("phi", _phi), "p": ("power", lambda values: values["p"] or 0.0),
    "alpha": ("eta0", ""), "beta": ("delta", lambda values: values["beta"] + values["alpha"] * values["l2"]),
    "r1": ("r", "r"), "r2": ("r2", "r"),  # (AROW's r is that of the mean and of the covariance)
}

# --- parameters ----------------------------------------------------------------------------------------------------------------

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
_EVIDENCE = Real(0.0, hint="r is the noise variance of one row, where the variance of its score is about 1 at first.")
_STEP = Real(0.0, hint="It is the size of a step.")
_AGGRESSIVENESS = Real(0.0, high_allowed=True, hint="C caps the step; float('inf') gives the plain PA.")
_EPSILON = Real(0.0, low_allowed=True, hint="Residuals up to epsilon, in units of y, have no loss.")
_BALL = {"epsilon": Real(0.0, low_allowed=True, hint="It is the radius of the ball around rows x / scale.")}
_ROW_MARGIN = Real(0.0, hint="Rows of at least this margin y w.x have no loss.")
_NORM_BOUND = Real(0.0, hint="The weights' absolute values add up to at most norm_bound.")
_PA, _PA_REGRESSION = {"C": _AGGRESSIVENESS, "margin": _ROW_MARGIN}, {"C": _AGGRESSIVENESS, "epsilon": _EPSILON}
_R = Real(0.0, hint="r is the noise variance of one row, whose length is about 1.")
_FORGETTING = Real(0.0, 0.1, True, True, hint="Each row lets the variances grow by 1/(1 - forgetting).")
_AROW = {"r": _R, **dict.fromkeys(("r1", "r2"), Either((NONE, POSITIVE), hint=_R.hint)), "forgetting": _FORGETTING}
_VARIANCE = {"initial_variance": Real(0.0, hint="It is the variance of each weight before the first row.")}
_CW = {"eta": Real(0.5, 1.0, hint="eta is the required probability of a correct prediction; 0.5 would require nothing."),
       **_VARIANCE, "forgetting": _FORGETTING}
_SCW = {"C": Real(0.0, high_allowed=True, hint="C caps the step; float('inf') gives the plain CW."), **_CW}
_SOP = {"r": _EVIDENCE, **_VARIANCE}
_ADAGRAD = {"eta0": _STEP, "delta": Real(0.0, hint="It keeps the first steps finite.")}
_FTRL = {"alpha": Either((NONE, POSITIVE), hint="It is the size of a step."),
         "beta": Real(0.0, hint="It limits a feature's first steps."), "l1": NOT_NEGATIVE, "l2": NOT_NEGATIVE}
_P_NORM = {
    "p": Either((NONE, Real(2.0, 500.0, True, True)),
                hint="2 is the plain Perceptron, None max(2, 2 ln n_features). p <= 1 has no dual norm, p < 2 no bound."),
    "radius": Real(0.0, hint="radius bounds the rows' p-norm; with 2**0.5 and norms up to 1 the steps of p = 2 are PA-I's."),
}
_SIMPLEX = {"signed": BOOLEAN, "norm_bound": _NORM_BOUND}
_FAR_MARGIN = Real(0.0, hint="Scores lie in [-norm_bound max|x|, norm_bound max|x|]: no row can have a larger margin.")
_DUAL = {"sigma": Either((NONE, AUTO, POSITIVE), hint="1/sigma is the largest step; 'auto' needs neither horizon nor scale."),
         **_SIMPLEX}
_DESCENT = {"alpha": Real(0.0, hint="The steps are 1/(alpha t)."), "eta0": _STEP}
_HEDGE = {"eta0": Either((AUTO, POSITIVE), hint="It is the rate of learning; 'auto' needs no horizon."), "signed": BOOLEAN}
_CONSTANT = Real(0.0, 1e70, high_allowed=True, hint="It is the value of the constant feature; 1 suits unit-length rows.")
# All parameters of kernel learners are checked, whichever algorithm is chosen.
_KERNEL = {
    "kernel": Either((Options(("linear", "rbf", "poly", "sigmoid", "precomputed")),
                      Range(kind=Callable, words="a callable of two matrices"))),
    "kernel_params": Either((NONE, Range(kind=dict, words="a dict"))),
    "gamma": Either((Options(("scale", "auto")), POSITIVE), hint="gamma multiplies squared distances (rbf) or inner products."),
    "degree": Integer(1, 2**31 - 1),
    "coef0": Real(),
    "budget": Either((NONE, Integer(1, 2**31 - 1)), hint="It bounds the number of support vectors, and with it time and memory."),
    "C": _AGGRESSIVENESS,
    "r": _EVIDENCE,
}
_KERNEL_CLASSIFIER = {**_KERNEL, "intercept_scaling": _CONSTANT, "eta0": POSITIVE}
_KERNEL_REGRESSOR = {**_KERNEL, "intercept_scaling": Either((AUTO, _CONSTANT), hint=_CONSTANT.hint), "epsilon": _EPSILON}
_ONLINE_TO_BATCH = {
    "method": Options(("average", "validation"), "'validation' chooses by held-out rows."),
    "n_snapshots": Integer(2, hint="Each is a copy of the model."),
    "validation_fraction": Real(0.0, 0.5, high_allowed=True, hint="Every round(1 / validation_fraction)-th row is held out."),
}

# --- parameters that exclude each other ----------------------------------------------------------------------------------------

#: Of learners whose weights change with every step by one factor, so that their average has no form of O(nnz).
NO_SUM = (Conflict(("average",), "False", lambda v: bool(v["average"]), (
    "the scale of all weights changes with every step, so that their average has no accurate O(nnz) form. OnlineToBatch has "
    "other ways to one model."
)),)
_ONLY_LAST = "only the last weights have no larger loss, on all rows. Leave one of the two out."
_CYCLES = tuple(
    Conflict((name,), "False with loss_tol", lambda v, name=name: bool(v["loss_tol"] is not None and v.get(name)), _ONLY_LAST)
    for name in ("average", "early_stopping")
)
_NO_THRESHOLD = (Conflict(("average", "l1"), "False with l1 > 0", lambda v: bool(v["average"] and v["l1"] > 0.0), (
    "the weights then change on every row, so that their average has no O(nnz) form."
)),)
_NO_GROWTH = (Conflict(
    ("average",), "False with regularizer='entropic' and sigma='auto'", lambda v: bool(v["average"] and v["sigma"] in AUTO),
    "with a growing sigma, the weights are not one common number times the stored ones. Use a number for sigma, or "
    "regularizer='euclidean'.",
),)
_NO_KEYWORDS = (Conflict(
    ("kernel_params",), "None for kernel={kernel!r}", lambda v: bool(v["kernel_params"] and not callable(v["kernel"])),
    "they are the keyword arguments of a callable kernel. Use gamma, degree and coef0.",
),)

# --- the rows ------------------------------------------------------------------------------------------------------------------

_NUMBERS: dict[str, Any] = {"margin": 0.0, "tasks": ("regression",), "level": True}
_BALLS: dict[str, Any] = {"margin": 0.0, "tasks": ("one_class",), "theorems": ("one_class",)}
_FIXED = ("fixed_rate", "lemma_1", "potential_based")
_SECOND = ("potential_based", "second_order_perceptron", "fixed_rate", "lemma_1")
_OF_PA = ("passive_aggressive", "margin_corollary", "distance")


def _dual(name: str, update: str, loss: str, title: str, paper: str, sigma: float = 1.0, **more: Any) -> Algorithm:
    """Make a row of dual ascent, by its name with an entropic regularizer. sigma : what None stands for."""
    regularizer = "entropic" if name.startswith("entropic") else "euclidean"
    fields = {"params": {**_DUAL, "margin": _ROW_MARGIN}, "selects": {"update": update}, "theorems": ("dual_ascent",), **more}
    if loss != "hinge":  # (the update does not choose the row)
        fields["params"], fields["selects"] = {**fields["params"], "update": Options(("DA1", "DA2", "DA3"))}, {}
    fields["selects"] = {**fields["selects"], "loss": loss, "regularizer": regularizer}
    return Algorithm(
        name, update, "entropic" if regularizer == "entropic" else "additive", more.get("estimator", "DualAscentClassifier"),
        title=title, paper=paper, defaults={"sigma": sigma}, conflicts=_NO_GROWTH if regularizer == "entropic" else (),
        **{field: value for field, value in fields.items() if field != "estimator"},
    )


def _kernel(name: str, rule: str, selects: Mapping[str, object], geometry: str = "kernel", **more: Any) -> Algorithm:
    """Make the row of a rule above in the feature space of a kernel, of numbers where it has a level."""
    is_regressor = "level" in more
    return Algorithm(
        "kernel_" + name, rule, geometry, "KernelOnlineRegressor" if is_regressor else "KernelOnlineClassifier",
        _KERNEL_REGRESSOR if is_regressor else _KERNEL_CLASSIFIER, f"Kernel {name}", "AROW, Lemma 1", selects,
        conflicts=_NO_KEYWORDS, merge="its model consists of rows, and a merge would keep those of all shards", **more,
    )


def _table(*rows: Algorithm) -> Mapping[str, Algorithm]:
    return MappingProxyType({row.name: row for row in rows})


ALGORITHMS = _table(
    Algorithm("perceptron", "perceptron", "additive", "Perceptron", {"eta0": _STEP}, "Perceptron",
              "ICML 2008 tutorial, III; NAROW, section 2", {"aggressive": False}, margin=0.0,
              theorems=("perceptron", *_FIXED)),
    Algorithm("aggressive_perceptron", "aggressive_perceptron", "additive", "Perceptron", {"eta0": _STEP},
              "Aggressive Perceptron", "ICML 2008 tutorial, DA1", {"aggressive": True}, theorems=_FIXED, costs="margin"),
    Algorithm("pa1", "pa1", "additive", "PassiveAggressiveClassifier", _PA, "PA-I (PA with C=inf)",
              "PA, section 3; ICML 2008 tutorial, III", {"loss": "hinge"}, theorems=_OF_PA, conflicts=_CYCLES, costs="margin"),
    Algorithm("pa2", "pa2", "additive", "PassiveAggressiveClassifier", _PA, "PA-II",
              "PA, section 5", {"loss": "squared_hinge"}, theorems=_OF_PA, conflicts=_CYCLES, costs="margin"),
    Algorithm("sop", "sop", "potential", "SecondOrderPerceptron", _SOP, "Second-order Perceptron",
              "NAROW, section 4.2", {"aggressive": False}, margin=0.0, trigger="lookahead_mistake", merge="sum",
              theorems=_SECOND),
    Algorithm("aggressive_sop", "aggressive_sop", "potential", "SecondOrderPerceptron", _SOP,
              "Aggressive second-order Perceptron", "NAROW, Fig. 1, sections 4.2 and 4.3", {"aggressive": True},
              trigger="lookahead_loss", merge="sum", theorems=_SECOND),
    Algorithm("arow", "arow", "gaussian", "AROWClassifier", _AROW, "AROW",
              "AROW, eqs (7)-(9)", theorems=("arow", "potential_based"), merge="posterior", costs="margin"),
    Algorithm("narow", "narow", "potential", "NAROWClassifier", {"b": POSITIVE, **_VARIANCE}, "NAROW",
              "NAROW, section 5", trigger="lookahead_loss", theorems=("potential_based", "narow", "fixed_rate", "lemma_1"),
              merge="sum"),
    Algorithm("cw_stdev", "cw_stdev", "gaussian", "ConfidenceWeightedClassifier", _CW, "Confidence-weighted (stdev)",
              "exact convex CW (NIPS 2008)", {"variant": "stdev"}, trigger="stdev", merge="posterior", kernel={"least": 1e-4},
              costs="hard_margin"),
    Algorithm("cw_variance", "cw_variance", "gaussian", "ConfidenceWeightedClassifier", _CW, "Confidence-weighted (variance)",
              "CW (ICML 2008)", {"variant": "variance"}, trigger="variance", merge="posterior", costs="hard_margin"),
    Algorithm("scw1", "scw1", "gaussian", "SCWClassifier", _SCW, "Soft confidence-weighted (SCW-I)",
              "SCW (ICML 2012), proposition 1", {"variant": "SCW-I"}, trigger="stdev", merge="posterior", costs="margin"),
    Algorithm("scw2", "scw2", "gaussian", "SCWClassifier", _SCW, "Soft confidence-weighted (SCW-II)",
              "SCW (ICML 2012), proposition 2", {"variant": "SCW-II"}, trigger="stdev", merge="posterior", costs="margin"),
    Algorithm("pa1_regression", "pa1", "additive", "PassiveAggressiveRegressor", _PA_REGRESSION,
              "PA-I regression (PA with C=inf)",
              "PA, sections 2 and 3; ICML 2008 tutorial, III", {"loss": "epsilon_insensitive"},
              theorems=("passive_aggressive", "distance"), conflicts=_CYCLES, **_NUMBERS),
    Algorithm("pa2_regression", "pa2", "additive", "PassiveAggressiveRegressor", _PA_REGRESSION, "PA-II regression",
              "PA, sections 2 and 5", {"loss": "squared_epsilon_insensitive"}, theorems=("passive_aggressive", "distance"),
              conflicts=_CYCLES, **_NUMBERS),
    Algorithm("arow_regression", "least_squares", "gaussian", "AROWRegressor", _AROW, "AROW regression (recursive least squares)",
              "AROW, section 7", theorems=("least_squares",), merge="posterior", **_NUMBERS),
    Algorithm("pa_one_class", "pa1", "centre", "PassiveAggressiveOneClass", _BALL, "PA one-class (uniclass)",
              "PA, sections 2 and 3 (uniclass)", kernel={"C": math.inf}, conflicts=_CYCLES, **_BALLS),
    Algorithm("adagrad_md", "adagrad", "mirror", "AdaGradClassifier",
              {**_ADAGRAD, "l1": Real(0.0, 0.0, True, True, "Use update='dual_averaging' for l1 > 0.")},
              "AdaGrad (mirror descent)", "NAROW's baseline [9]", {"update": "mirror_descent"}, merge="mean, squares add"),
    Algorithm("adagrad_da", "adagrad", "dual", "AdaGradClassifier", {**_ADAGRAD, "l1": NOT_NEGATIVE},
              "AdaGrad (dual averaging, L1)", "NAROW's baseline [9]", {"update": "dual_averaging"}, merge="sum",
              conflicts=_NO_THRESHOLD),
    Algorithm("ftrl", "log_loss", "proximal", "FTRLClassifier", _FTRL, "FTRL-proximal",
              "FTRL-proximal (KDD 2013), Algorithm 1", {"loss": "log_loss"}, {"alpha": 1.0}, trigger="every_row",
              merge="mean by squares"),
    Algorithm("ftrl_hinge", "adagrad", "proximal", "FTRLClassifier", _FTRL, "FTRL-proximal, hinge loss",
              "FTRL-proximal (KDD 2013), Algorithm 1", {"loss": "hinge"}, {"alpha": 0.5}, merge="mean by squares"),
    Algorithm("p_norm", "perceptron", "p_norm", "PNormPerceptron", _P_NORM, "p-norm Perceptron",
              "NAROW, section 4.1", {"aggressive": False}, margin=0.0, theorems=("p_norm", *_FIXED), conflicts=NO_SUM),
    Algorithm("aggressive_p_norm", "aggressive_p_norm", "p_norm", "PNormPerceptron", _P_NORM, "Aggressive p-norm Perceptron",
              "NAROW, section 4.1 (aggressive)", {"aggressive": True}, theorems=("p_norm", "lemma_1", "potential_based"),
              conflicts=NO_SUM),
    Algorithm("multiplicative_pa", "multiplicative", "sinh", "MultiplicativePassiveAggressiveClassifier",
              {"margin": _FAR_MARGIN, **_SIMPLEX}, "Multiplicative PA", "PA, section 6",
              trigger="own_margin", theorems=("multiplicative",), conflicts=NO_SUM, costs="hard_margin"),
    Algorithm("multiplicative_pa_regression", "multiplicative", "sinh", "MultiplicativePassiveAggressiveRegressor",
              {"epsilon": _EPSILON, **_SIMPLEX}, "Multiplicative PA regression", "PA, section 6", margin=0.0,
              tasks=("regression",),
              trigger="own_margin", theorems=("multiplicative",), conflicts=NO_SUM),
    Algorithm("multiplicative_pa_one_class", "multiplicative_centre", "sinh", "MultiplicativePassiveAggressiveOneClass",
              {**_BALL, **_SIMPLEX}, "Multiplicative PA one-class (uniclass)", "PA, section 6 (uniclass)", trigger="own_margin",
              **_BALLS),
    _dual("da1", "DA1", "hinge", "Dual ascent, DA1", "ICML 2008 tutorial, II and III", costs="margin",
          theorems=("dual_ascent", "fixed_rate")),
    _dual("da2", "DA2", "hinge", "Dual ascent, DA2", "ICML 2008 tutorial, II and III", costs="margin"),
    _dual("da3", "DA3", "hinge", "Dual ascent, DA3", "ICML 2008 tutorial, II and III", costs="margin"),
    _dual("entropic_da1", "DA1", "hinge", "Dual ascent, DA1, entropic", "ICML 2008 tutorial, II to IV",
          theorems=("dual_ascent", "fixed_rate")),
    _dual("entropic_da2", "DA2", "hinge", "Dual ascent, DA2, entropic", "ICML 2008 tutorial, II to IV"),
    _dual("entropic_da3", "DA3", "hinge", "Dual ascent, DA3, entropic", "ICML 2008 tutorial, II to IV"),
    _dual("logistic", "DA3", "log_loss", "Online logistic regression (dual ascent)", "ICML 2008 tutorial, II and III (log loss)",
          0.2, theorems=("dual_ascent", "fixed_rate")),
    _dual("entropic_logistic", "DA3", "log_loss", "Online logistic regression, entropic",
          "ICML 2008 tutorial, II and III (log loss)", theorems=("dual_ascent", "fixed_rate")),
    _dual("da_regression", "DA3", "absolute", "Dual ascent regression, absolute loss", "ICML 2008 tutorial, II and III", 3.0,
          estimator="DualAscentRegressor", params=_DUAL, **_NUMBERS),
    _dual("da_squared", "DA3", "squared", "Dual ascent regression, squared loss", "ICML 2008 tutorial, I (Examples I and II)",
          3.0,
          estimator="DualAscentRegressor", params=_DUAL, **_NUMBERS),
    _dual("entropic_da_regression", "DA3", "absolute",
          "Dual ascent regression, entropic, absolute loss (committee of experts: signed=False)",
          "ICML 2008 tutorial, II and III",
          estimator="DualAscentRegressor", params=_DUAL, **_NUMBERS),
    _dual("entropic_da_squared", "DA3", "squared",
          "Dual ascent regression, entropic, squared loss (committee of experts: signed=False)",
          "ICML 2008 tutorial, I (Examples I and II)", estimator="DualAscentRegressor", params=_DUAL, **_NUMBERS),
    Algorithm("ogd", "gradient", "additive", "OGDClassifier", _DESCENT, "Online gradient descent, strongly convex",
              "ICML 2008 tutorial, V", {"learning_rate": "strongly_convex"}, theorems=("gradient_descent",)),
    Algorithm("ogd_sqrt", "gradient", "additive", "OGDClassifier", _DESCENT, "Online gradient descent, plain",
              "ICML 2008 tutorial, V (its baseline)", {"learning_rate": "sqrt"}, theorems=("potential_based", "lemma_1")),
    Algorithm("hedge", "hedge", "experts", "HedgeClassifier", _HEDGE, "Hedge (experts)", "ICML 2008 tutorial, I, III and V",
              tasks=("experts",), merge="sum"),
)

#: Estimators that run the rules of the table above in another way: in dual form, or wrapped.
OTHERS = _table(
    _kernel("arow", "arow", {"algorithm": "arow"}, "gaussian_kernel", costs="margin"),
    _kernel("pa1", "pa1", {"algorithm": "pa", "loss": "hinge"}, costs="margin"),
    _kernel("pa2", "pa2", {"algorithm": "pa", "loss": "squared_hinge"}, costs="margin"),
    _kernel("perceptron", "perceptron", {"algorithm": "perceptron", "aggressive": False}, margin=0.0),
    _kernel("aggressive_perceptron", "aggressive_perceptron", {"algorithm": "perceptron", "aggressive": True}, costs="margin"),
    _kernel("sop", "sop", {"algorithm": "sop", "aggressive": False}, "gaussian_kernel", margin=0.0, trigger="lookahead_mistake"),
    _kernel("aggressive_sop", "aggressive_sop", {"algorithm": "sop", "aggressive": True}, "gaussian_kernel",
            trigger="lookahead_loss"),
    _kernel("pa1_regression", "pa1", {"algorithm": "pa", "loss": "epsilon_insensitive"}, **_NUMBERS),
    _kernel("pa2_regression", "pa2", {"algorithm": "pa", "loss": "squared_epsilon_insensitive"}, **_NUMBERS),
    _kernel("arow_regression", "least_squares", {"algorithm": "arow"}, "gaussian_kernel", kernel={"epsilon": 0.0}, **_NUMBERS),
    Algorithm("online_to_batch", "", "", "OnlineToBatch", _ONLINE_TO_BATCH, "Online to batch", "ICML 2008 tutorial, V",
              merge="it chooses among the hypotheses of one stream; merge the estimators that it wraps"),
    Algorithm("committee", "", "", "CommitteeClassifier", {}, "Committee",
              "scores of AROW, NAROW, FTRL-proximal and PA, weighted by their mistakes",
              merge="its weights are those of one stream; merge the members of each kind instead"),
)

#: The rows of each estimator, by its name; and all names.
OFFERED: dict[str, tuple[Algorithm, ...]] = {}
for _row in (*ALGORITHMS.values(), *OTHERS.values()):
    OFFERED[_row.estimator] = (*OFFERED.get(_row.estimator, ()), _row)
ESTIMATORS = frozenset(OFFERED)

#: Compositions of an estimator and the steps before it, with their folders.
COMPOSED = {"StreamPipeline": "_pipeline"}

#: The families beside the core: folders of `_wings`.
WINGS = (
    "one_class", "adagrad", "p_norm", "multiplicative", "dual_ascent", "kernels", "online_to_batch",
    "committee",
)
#: The modules with the estimators, in the order in which they are searched.
MODULES = ("_estimators.second_order", "_estimators.first_order", *(f"_wings.{wing}.estimators" for wing in WINGS))


def estimator_class(name: str) -> type:
    """Return the estimator class of this name; its file is imported now."""
    modules = (import_module(f"{__package__}.{file}") for file in ((COMPOSED[name],) if name in COMPOSED else MODULES))
    return next(vars(module)[name] for module in modules if name in vars(module))


def algorithms_of(cls: type) -> tuple[Algorithm, ...]:
    """Return the rows that a class, or the class that it extends, offers; none for a class of another library."""
    for base in cls.__mro__:
        if base.__name__ in OFFERED:
            return OFFERED[base.__name__]
    return ()


@cache
def _offered_by(cls: type) -> tuple[tuple[Algorithm, ...], Mapping[str, Range]]:
    """Return the rows that a class offers, and the values of the parameters that choose among them."""
    rows = algorithms_of(cls)
    names = dict.fromkeys(name for row in rows for name in row.selects)
    return rows, {name: Options(tuple(dict.fromkeys(row.selects[name] for row in rows if name in row.selects))) for name in names}


def select(cls: type, values: Mapping[str, object]) -> Algorithm:
    """Check the parameters of an estimator of this class against their ranges, and return the row that they choose."""
    who, (offered, choices) = cls.__name__, _offered_by(cls)
    for name, allowed in choices.items():
        if values[name] not in allowed:
            raise parameter_error(who, name, allowed, values[name])
    for chosen in offered:
        if chosen.selects.items() <= values.items():
            break
    for name, allowed in {**COMMON, **chosen.params}.items():
        if name in values and values[name] not in allowed:
            raise parameter_error(who, name, allowed, values[name])
    for conflict in chosen.conflicts:
        if conflict.occurs(values):
            raise conflict.error(who, values)
    return chosen
