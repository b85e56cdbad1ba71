"""THE table: every algorithm's rule, geometry, hyper-parameters with their ranges, estimator and paper.

Estimators, tests and benchmarks read it, and the README's table is checked against it. A row names the compiled rule and
geometry, the estimator class that offers it, and, where one class offers several, the constructor arguments that select it.
"""

from __future__ import annotations

import math
import numbers
from collections import namedtuple
from collections.abc import Callable, Mapping
from importlib import import_module
from sys import float_info
from typing import Any, NamedTuple, Self, cast

from ._rules import FIELDS_IN_C

# --- what a row may say --------------------------------------------------------------------------------------------------------


class Range:
    """The values that a parameter may have: those listed, and the objects of a class, of numbers those of an interval.

    interval : such as "(0, 1]", which does not hold its first end. values : those listed. hint : the last sentence of an error.
    kind : the class; None: of real numbers if there is an interval. words : what an error requires.
    """

    def __init__(self, interval: str = "", values: tuple = (), hint: str = "", kind: Any = None) -> None:
        self.interval, self.values, self.hint, self.kind = interval, values, hint, kind or (numbers.Real if interval else None)
        words = list(map(repr, values))
        if interval:
            self.low, self.high = map(float, interval[1:-1].split(","))
            words.append(f"{'an integer' if kind is numbers.Integral else 'a number'} in {interval}")
        elif kind is not None:
            words.append(f"a {kind.__name__.lower()}")
        self.words = " or ".join(words)

    def __contains__(self, value: object) -> bool:
        for one in self.values:
            is_of_type = isinstance(value, type(one)) or (type(one) is bool and type(value).__name__ in ("bool", "bool_"))
            if value is one or (is_of_type and value == one):  # (bool of numpy, which is not imported here)
                return True
        if self.kind is None or isinstance(value, bool) or not isinstance(value, self.kind):
            return False
        try:
            number: Any = float(value) if self.kind is numbers.Real else value  # type: ignore[arg-type]
        except OverflowError:
            return False
        if not self.interval or self.low < number < self.high:
            return True
        return (number == self.low and self.interval[0] == "[") or (number == self.high and self.interval[-1] == "]")


def parameter_error(who: str, name: str, allowed: Range, value: object) -> ValueError:
    """Return the error of a parameter out of its range: who, what was required, what came, what to do."""
    hint = f" {allowed.hint}" if allowed.hint else ""
    return ValueError(f"{who}: {name} must be {allowed.words}, got {name}={value!r}.{hint}")


_NOTHING: Mapping[str, Any] = {}


class Algorithm(NamedTuple):
    """A row of the table: an algorithm."""

    name: str  # also that of the slow twin in `reference`
    rule: str  # this and geometry: names of the compiled code (_rules.pxd; of dual ascent and its baselines, dual_ascent.pyx)
    geometry: str
    estimator: str  # its class
    params: tuple[str, ...]  # its own hyper-parameters, of OWN
    paper: str
    selects: Mapping[str, object] = _NOTHING  # constructor arguments that choose it in its class
    defaults: Mapping[str, float] = _NOTHING  # the numbers that None stands for, where the algorithms of a class differ in them
    margin: float = 1.0  # rows of at least this margin have no loss
    trigger: str = "loss"  # when it may take a step, a name of Trigger in _rules.pxd
    fixed: Mapping[str, float] = _NOTHING  # fields of Params that do not depend on parameters
    tasks: tuple[str, ...] = ("binary", "multiclass")  # or "regression", "one_class", or "experts": features are advice in [0, 1]
    unmerged: str = ""  # why models of parts of a stream do not merge; "": they do, as the arrays of their geometry say
    theorems: tuple[str, ...] = ()  # the functions of `bounds` that apply to it; `certify` uses the first
    level: bool = False  # a regressor that learns deviations from the mean of the targets where its intercept is "auto"
    costs: str = "weight"  # how the weight of a class enters, a name of Costs in _rules.pxd
    ranges: Mapping[str, Range] = _NOTHING  # of parameters that have others here than in OWN or COMMON


#: The geometries whose weights all change with every step by one factor, so that their average has no form of O(nnz).
NO_SUM = ("p_norm", "sinh")

# --- the parameters of a pass --------------------------------------------------------------------------------------------------

#: Of float32 and of float64, by their sizes in bytes: the spacing at 1, the smallest normal number and the largest one.
DTYPES = {4: (2.0**-23, 2.0**-126, (2.0 - 2.0**-23) * 2.0**127), 8: (float_info.epsilon, float_info.min, float_info.max)}


#: The values of the fields of `Params` for a learner that does not use them: those of the C struct, and some of Python alone.
_UNUSED = {
    **dict.fromkeys(FIELDS_IN_C, 0), "average_from": -1, "power": 2.0,
    **dict.fromkeys("margin scale C r r2 b phi radius eta0 norm_bound variance delta growth sigma".split(), 1.0),
    "probability": 0,  # 1: they are learnt
    "least": 0.0,  # the least variance of a diagonal, as a share of the initial one
    "kernel": None,  # of a kernel learner: its kernel,
    "budget": 0,  # and the most support vectors
    "members": (),  # of a committee: those of its members
}
_Record = cast(Any, namedtuple("_Record", _UNUSED, defaults=_UNUSED.values()))


class Params(_Record):
    """The parameters of a pass, numbers made of a constructor's: the fields of the C struct of this name (_rules.pxd has them).

    rule, trigger, geometry, costs may be names. What the loops compute is 0.
    """

    __slots__ = ()

    # True if a class that has not joined yet would change updates, even where it is not the argmax.
    joins_singly = False

    @classmethod
    def of(cls, algorithm: Algorithm, values: Mapping[str, Any]) -> Self:
        """Return the parameters of an algorithm, from a constructor's parameters within their ranges."""
        geometry = algorithm.geometry
        if values.get("covariance") == "full":
            geometry = f"full_{geometry}"
        elif values.get("forgetting") or not values.get("signed", True):
            geometry = "forgetting" if geometry == "gaussian" else "exp"
        found = {}
        for name in filter(FIELDS.get, algorithm.params):
            field, of = FIELDS[name]
            found[field] = float(of(values) if callable(of) else values[of if values[name] is None else name])
        fields = {"margin": algorithm.margin, "costs": algorithm.costs, **cls.common(values), **found, **algorithm.fixed}
        return cls(rule=algorithm.rule, trigger=algorithm.trigger, geometry=geometry, **fields)

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

    def sizes(self) -> dict[str, float]:
        """Return the parameters that must fit the dtype of a model, with their squares and inverses (but for the variance)."""
        return {
            "scale": self.scale or 1.0, "intercept_scaling": max(self.constant * max(self.scale, 1.0), 1.0),
            "initial_variance": self.variance, "norm_bound": self.norm_bound,
        }

    def check_range(self, who: str, dtype: Any) -> None:
        """Raise unless the parameters fit the dtype of a model."""
        spacing, tiny, most = DTYPES[dtype.itemsize]
        root = min((most / 4) ** 0.5, 1e100)
        for name, value in self.sizes().items():
            least, largest = (tiny / spacing, most / 4) if name == "initial_variance" else (1.0 / root, root)
            if not least <= value <= largest:
                raise ValueError(f"{who}: {name} must be in [{least:.2g}, {largest:.2g}] for {dtype}, got {name}={value!r}.")

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

BOOLEAN = Range(values=(False, True))
AUTO = Range(values=("auto",))
POSITIVE = Range("(0, inf)")
#: Parameters of every estimator that has them.
COMMON = {
    **dict.fromkeys(("early_stopping", "fit_intercept", "probability", "shuffle", "warm_start"), BOOLEAN),
    "intercept_scaling": Range("(0, inf)", ("auto",), "It is the value of the constant feature beside x / scale."),
    "scale": Range("(0, inf)", ("auto",), "Rows are learnt divided by it; 1.0 learns them as they are."),
    "max_iter": Range("[1, inf)", kind=numbers.Integral),
    "tol": Range("(-inf, inf)", (None,)),
    "average": Range("[1, 2147483647]", (False, True), kind=numbers.Integral),
    "validation_fraction": Range("(0, 1)"),
    "n_iter_no_change": Range("[1, inf)", kind=numbers.Integral),
    "verbose": Range("[0, inf)", (False, True), kind=numbers.Integral),
    "covariance": Range("", ("diagonal", "full"), "'full' keeps n_features² numbers for each vector of weights."),
    "multi_class": Range("", ("crammer_singer", "ovr")),
    "n_jobs": Range("(-inf, inf)", (None,), kind=numbers.Integral),
    "penalty": Range("", (None,), "For L1 see AdaGradClassifier(update='dual_averaging', l1=...)."),
    "loss_tol": Range("(0, inf)", (None,), "fit then cycles until no squared loss is larger."),
}
#: Parameters of some algorithms.
OWN = {
    "C": Range("(0, inf]", hint="C caps the step; float('inf') gives the plain algorithm."),
    "alpha": Range("[1e-100, inf)", hint="The steps are 1/(alpha t)."),
    "b": POSITIVE,
    "beta": Range("(0, inf)", hint="It limits a feature's first steps."),
    "budget": Range("[1, 2147483647]", (None,), "It bounds the number of support vectors, and with it time and memory.",
                    numbers.Integral),
    "coef0": Range("(-inf, inf)"),
    "degree": Range("[1, 2147483647]", kind=numbers.Integral),
    "delta": Range("(0, inf)", hint="It keeps the first steps finite."),
    "epsilon": Range("[0, inf)", hint="Residuals up to epsilon, or rows so far from a centre, have no loss."),
    "eta": Range("(0.5, 1)", hint="eta is the required probability of a correct prediction; 0.5 would require nothing."),
    "eta0": Range("(0, inf)", hint="It is the size of a step."),
    "forgetting": Range("[0, 0.1]", hint="Each row lets the variances grow by 1/(1 - forgetting)."),
    "gamma": Range("(0, inf)", ("scale", "auto"), "gamma multiplies squared distances (rbf) or inner products."),
    "initial_variance": Range("(0, inf)", hint="It is the variance of each weight before the first row."),
    "kernel": Range("", ("linear", "rbf", "poly", "sigmoid", "precomputed"), kind=Callable),
    "kernel_params": Range("", (None,), kind=dict),
    "l1": Range("[0, inf)"),
    "l2": Range("[0, inf)"),
    "margin": Range("(0, inf)", hint="Rows of at least this margin y w.x have no loss."),
    "method": Range("", ("average", "validation"), "'validation' chooses by held-out rows."),
    "n_snapshots": Range("[2, inf)", hint="Each is a copy of the model.", kind=numbers.Integral),
    "norm_bound": Range("(0, inf)", hint="The weights' absolute values add up to at most norm_bound."),
    "p": Range("[2, 500]", (None,), "2 is the plain Perceptron, None max(2, 2 ln n_features). p < 2 has no bound."),
    "r": Range("(0, inf)", hint="r is the noise variance of one row, whose length is about 1."),
    **dict.fromkeys(("r1", "r2"), Range("(0, inf)", (None,), "It is r in one of the two updates.")),
    "radius": Range("(0, inf)", hint="It bounds the rows' p-norm; with 2**0.5 and norms up to 1 the steps of p = 2 are PA-I's."),
    "sigma": Range("[1e-100, inf)", (None, "auto"), "1/sigma is the largest step; 'auto' needs neither horizon nor scale."),
    "signed": BOOLEAN,
    "update": Range("", ("DA1", "DA2", "DA3")),
}

# --- the rows ------------------------------------------------------------------------------------------------------------------

_CW, _DUAL = ("eta", "initial_variance", "forgetting"), ("sigma", "signed", "norm_bound")
_KERNEL = ("kernel", "kernel_params", "gamma", "degree", "coef0", "budget", "C", "r")
_ALPHA = {"alpha": Range("(0, inf)", (None,), "It is the size of a step.")}
_NUMBERS: dict[str, Any] = {"margin": 0.0, "tasks": ("regression",), "level": True}
_BALLS: dict[str, Any] = {"margin": 0.0, "tasks": ("one_class",), "theorems": ("one_class",)}
_FIXED = ("fixed_rate", "lemma_1", "potential_based")
_SECOND = ("potential_based", "second_order_perceptron", "fixed_rate", "lemma_1")
_OF_PA = ("passive_aggressive", "margin_corollary", "distance")

#: Dual ascent with the squared norm. (Where the update does not choose the row, its rule is that of the default.)
_ASCENTS = (
    *(Algorithm(f"da{k}", f"DA{k}", "additive", "DualAscentClassifier", (*_DUAL, "margin"), "ICML 2008 tutorial, II to IV",
                {"update": f"DA{k}", "loss": "hinge", "regularizer": "euclidean"}, {"sigma": 1.0},
                theorems=("dual_ascent", "fixed_rate")[: 2 if k == 1 else 1], costs="margin") for k in (1, 2, 3)),
    Algorithm("logistic", "DA3", "additive", "DualAscentClassifier", (*_DUAL, "margin", "update"),
              "ICML 2008 tutorial, II and III (log loss)", {"loss": "log_loss", "regularizer": "euclidean"}, {"sigma": 0.2},
              theorems=("dual_ascent", "fixed_rate")),
    Algorithm("da_regression", "DA3", "additive", "DualAscentRegressor", (*_DUAL, "update"), "ICML 2008 tutorial, II and III",
              {"loss": "absolute", "regularizer": "euclidean"}, {"sigma": 3.0}, theorems=("dual_ascent",), **_NUMBERS),
    Algorithm("da_squared", "DA3", "additive", "DualAscentRegressor", (*_DUAL, "update"),
              "ICML 2008 tutorial, I (Examples I and II)", {"loss": "squared", "regularizer": "euclidean"}, {"sigma": 3.0},
              theorems=("dual_ascent",), **_NUMBERS),
)


def _entropic(row: Algorithm) -> Algorithm:
    """Make the row of dual ascent with the relative entropy for the squared norm."""
    return row._replace(
        name=f"entropic_{row.name}", geometry="entropic", costs="weight",
        selects={**row.selects, "regularizer": "entropic"}, defaults={"sigma": 1.0},
    )


def _kernel(name: str, algorithm: str) -> Algorithm:
    """Make the row of an algorithm of the table in the feature space of a kernel."""
    row = ALGORITHMS[name]
    return row._replace(
        name=f"kernel_{name}", geometry="kernel" if row.geometry == "additive" else "gaussian_kernel",
        estimator="KernelOnlineRegressor" if row.level else "KernelOnlineClassifier", paper="AROW, Lemma 1",
        params=(*_KERNEL, "epsilon" if row.level else "eta0"), selects={"algorithm": algorithm, **row.selects},
        ranges={"intercept_scaling": Range("(0, 1e70]", ("auto",) if row.level else (), "1 suits unit-length rows.")},
        fixed=_NOTHING if "epsilon" in row.params else {"epsilon": 0.0}, theorems=(),
        unmerged="its model consists of rows, and a merge would keep those of all shards",
    )


ALGORITHMS: Mapping[str, Algorithm] = {row.name: row for row in (
    Algorithm("perceptron", "perceptron", "additive", "Perceptron", ("eta0",), "ICML 2008 tutorial, III; NAROW, section 2",
              {"aggressive": False}, margin=0.0, theorems=("perceptron", *_FIXED)),
    Algorithm("aggressive_perceptron", "perceptron", "additive", "Perceptron", ("eta0",), "ICML 2008 tutorial, DA1",
              {"aggressive": True}, theorems=_FIXED, costs="margin"),
    Algorithm("pa1", "pa1", "additive", "PassiveAggressiveClassifier", ("C", "margin"), "PA, section 3; ICML 2008 tutorial, III",
              {"loss": "hinge"}, theorems=_OF_PA, costs="margin"),
    Algorithm("pa2", "pa2", "additive", "PassiveAggressiveClassifier", ("C", "margin"), "PA, section 5",
              {"loss": "squared_hinge"}, theorems=_OF_PA, costs="margin"),
    Algorithm("sop", "sop", "potential", "SecondOrderPerceptron", ("r", "initial_variance"), "NAROW, section 4.2",
              {"aggressive": False}, margin=0.0, trigger="lookahead_mistake", theorems=_SECOND),
    Algorithm("aggressive_sop", "sop", "potential", "SecondOrderPerceptron", ("r", "initial_variance"),
              "NAROW, Fig. 1, sections 4.2 and 4.3", {"aggressive": True}, trigger="lookahead_loss", theorems=_SECOND),
    Algorithm("arow", "arow", "gaussian", "AROWClassifier", ("r", "r1", "r2", "forgetting"), "AROW, eqs (7)-(9)",
              theorems=("arow", "potential_based"), costs="margin"),
    Algorithm("narow", "narow", "potential", "NAROWClassifier", ("b", "initial_variance"), "NAROW, section 5",
              trigger="lookahead_loss", theorems=("potential_based", "narow", "fixed_rate", "lemma_1")),
    Algorithm("cw_stdev", "cw_stdev", "gaussian", "ConfidenceWeightedClassifier", _CW, "exact convex CW (NIPS 2008)",
              {"variant": "stdev"}, trigger="stdev", fixed={"least": 1e-4}, costs="hard_margin"),
    Algorithm("cw_variance", "cw_variance", "gaussian", "ConfidenceWeightedClassifier", _CW, "CW (ICML 2008)",
              {"variant": "variance"}, trigger="variance", costs="hard_margin"),
    Algorithm("scw1", "scw1", "gaussian", "SCWClassifier", ("C", *_CW), "SCW (ICML 2012), proposition 1", {"variant": "SCW-I"},
              trigger="stdev", costs="margin"),
    Algorithm("scw2", "scw2", "gaussian", "SCWClassifier", ("C", *_CW), "SCW (ICML 2012), proposition 2", {"variant": "SCW-II"},
              trigger="stdev", costs="margin"),
    Algorithm("pa1_regression", "pa1", "additive", "PassiveAggressiveRegressor", ("C", "epsilon"),
              "PA, sections 2 and 3; ICML 2008 tutorial, III", {"loss": "epsilon_insensitive"},
              theorems=("passive_aggressive", "distance"), **_NUMBERS),
    Algorithm("pa2_regression", "pa2", "additive", "PassiveAggressiveRegressor", ("C", "epsilon"), "PA, sections 2 and 5",
              {"loss": "squared_epsilon_insensitive"}, theorems=("passive_aggressive", "distance"), **_NUMBERS),
    Algorithm("arow_regression", "least_squares", "gaussian", "AROWRegressor", ("r", "r1", "r2", "forgetting"), "AROW, section 7",
              theorems=("least_squares",), **_NUMBERS),
    Algorithm("pa_one_class", "pa1", "centre", "PassiveAggressiveOneClass", ("epsilon",), "PA, sections 2 and 3 (uniclass)",
              fixed={"C": math.inf}, **_BALLS),
    Algorithm("adagrad_md", "adagrad", "mirror", "AdaGradClassifier", ("eta0", "delta", "l1"), "NAROW's baseline [9]",
              {"update": "mirror_descent"}, ranges={"l1": Range("[0, 0]", hint="Use update='dual_averaging' for l1 > 0.")}),
    Algorithm("adagrad_da", "adagrad", "dual", "AdaGradClassifier", ("eta0", "delta", "l1"), "NAROW's baseline [9]",
              {"update": "dual_averaging"}),
    Algorithm("ftrl", "log_loss", "proximal", "FTRLClassifier", ("alpha", "beta", "l1", "l2"),
              "FTRL-proximal (KDD 2013), Algorithm 1", {"loss": "log_loss"}, {"alpha": 1.0}, ranges=_ALPHA, trigger="every_row"),
    Algorithm("ftrl_hinge", "adagrad", "proximal", "FTRLClassifier", ("alpha", "beta", "l1", "l2"),
              "FTRL-proximal (KDD 2013), Algorithm 1", {"loss": "hinge"}, {"alpha": 0.5}, ranges=_ALPHA),
    Algorithm("p_norm", "perceptron", "p_norm", "PNormPerceptron", ("p", "radius"), "NAROW, section 4.1", {"aggressive": False},
              margin=0.0, theorems=("p_norm", *_FIXED)),
    Algorithm("aggressive_p_norm", "aggressive_p_norm", "p_norm", "PNormPerceptron", ("p", "radius"),
              "NAROW, section 4.1 (aggressive)", {"aggressive": True}, theorems=("p_norm", "lemma_1", "potential_based")),
    Algorithm("multiplicative_pa", "multiplicative", "sinh", "MultiplicativePassiveAggressiveClassifier",
              ("margin", "signed", "norm_bound"), "PA, section 6", trigger="own_margin", theorems=("multiplicative",),
              costs="hard_margin"),
    Algorithm("multiplicative_pa_regression", "multiplicative", "sinh", "MultiplicativePassiveAggressiveRegressor",
              ("epsilon", "signed", "norm_bound"), "PA, section 6", margin=0.0, tasks=("regression",), trigger="own_margin",
              theorems=("multiplicative",)),
    Algorithm("multiplicative_pa_one_class", "multiplicative_centre", "sinh", "MultiplicativePassiveAggressiveOneClass",
              ("epsilon", "signed", "norm_bound"), "PA, section 6 (uniclass)", trigger="own_margin", **_BALLS),
    *_ASCENTS, *map(_entropic, _ASCENTS),
    Algorithm("ogd", "gradient", "additive", "OGDClassifier", ("alpha", "eta0"), "ICML 2008 tutorial, V",
              {"learning_rate": "strongly_convex"}, theorems=("gradient_descent",)),
    Algorithm("ogd_sqrt", "gradient", "additive", "OGDClassifier", ("alpha", "eta0"), "ICML 2008 tutorial, V (its baseline)",
              {"learning_rate": "sqrt"}, theorems=("potential_based", "lemma_1")),
    Algorithm("hedge", "hedge", "experts", "HedgeClassifier", ("eta0", "signed"), "ICML 2008 tutorial, I, III and V",
              ranges={"eta0": Range("(0, inf)", ("auto",), "It is the rate of learning; 'auto' needs no horizon.")},
              tasks=("experts",)),
)}

#: The algorithms of kernel learners, by the rows above of their rules.
_KERNELS = {
    "arow": "arow", "pa1": "pa", "pa2": "pa", "perceptron": "perceptron", "aggressive_perceptron": "perceptron", "sop": "sop",
    "aggressive_sop": "sop", "pa1_regression": "pa", "pa2_regression": "pa", "arow_regression": "arow",
}

#: Estimators that run the rules of the table above in another way: in dual form, or wrapped.
OTHERS: Mapping[str, Algorithm] = {row.name: row for row in (
    *(_kernel(name, algorithm) for name, algorithm in _KERNELS.items()),
    Algorithm("online_to_batch", "", "", "OnlineToBatch", ("method", "n_snapshots"), "ICML 2008 tutorial, V",
              unmerged="it chooses among the hypotheses of one stream; merge the estimators that it wraps"),
    Algorithm("committee", "", "", "CommitteeClassifier", (),
              "scores of AROW, NAROW, FTRL-proximal and PA, weighted by their mistakes",
              unmerged="its weights are those of one stream; merge the members of each kind instead"),
)}

#: The rows of each estimator, by its name.
OFFERED: dict[str, tuple[Algorithm, ...]] = {}
for _row in (*ALGORITHMS.values(), *OTHERS.values()):
    OFFERED[_row.estimator] = (*OFFERED.get(_row.estimator, ()), _row)

#: The families beside the core: folders of `_wings`.
WINGS = ("adagrad", "normalised", "dual_ascent", "kernels", "online_to_batch", "committee")
#: The modules of public names: those that are searched for learners, in this order, and those of all else.
MODULES = ("_estimators.linear", *(f"_wings.{wing}.estimators" for wing in WINGS))
BESIDE = {
    "load": "_estimators.saving", "merge": "_estimators.merging", "progressive_validation": "evaluation",
    "compare": "evaluation", "StreamPipeline": "_pipeline", "make_stream_pipeline": "_pipeline", "HashingVectorizer": "text",
    "TableVectorizer": "tables",
}


def public(name: str) -> Any:
    """Return the class or function of this public name; its file is imported now."""
    modules = (import_module(f"{__package__}.{file}") for file in ((BESIDE[name],) if name in BESIDE else MODULES))
    return next(vars(module)[name] for module in modules if name in vars(module))


def algorithms_of(cls: type) -> tuple[Algorithm, ...]:
    """Return the rows that a class, or the class that it extends, offers; none for a class of another library."""
    for base in cls.__mro__:
        if base.__name__ in OFFERED:
            return OFFERED[base.__name__]
    return ()


def select(cls: type, values: Mapping[str, Any]) -> Algorithm:
    """Check the parameters of an estimator of this class against their ranges, and return the row that they choose."""
    who, offered = cls.__name__, algorithms_of(cls)
    for name in dict.fromkeys(name for row in offered for name in row.selects):
        allowed = Range("", tuple(dict.fromkeys(row.selects[name] for row in offered if name in row.selects)))
        if values[name] not in allowed:
            raise parameter_error(who, name, allowed, values[name])
    chosen = next(row for row in offered if row.selects.items() <= values.items())
    for name, allowed in {**COMMON, **{name: OWN[name] for name in chosen.params}, **chosen.ranges}.items():
        if name in values and values[name] not in allowed:
            raise parameter_error(who, name, allowed, values[name])
    _check_together(who, chosen, values)
    return chosen


def _check_together(who: str, row: Algorithm, values: Mapping[str, Any]) -> None:
    """Raise if parameters, each within its range, exclude each other."""
    average, name, must, why = values.get("average"), "average", "False", ""
    if values.get("loss_tol") is not None and (average or values.get("early_stopping")):
        name, must = "average" if average else "early_stopping", "False with loss_tol"
        why = "only the last weights have no larger loss, on all rows. Leave one of the two out."
    elif values.get("kernel_params") and not callable(values["kernel"]):
        name, must = "kernel_params", f"None for kernel={values['kernel']!r}"
        why = "they are the keyword arguments of a callable kernel. Use gamma, degree and coef0."
    elif average and row.geometry in NO_SUM:
        why = "the scale of all weights changes with every step, so that their average has no accurate O(nnz) form. " \
              "OnlineToBatch has other ways to one model."
    elif average and row.geometry == "dual" and values["l1"] > 0.0:
        must, why = "False with l1 > 0", "the weights then change on every row, so that their average has no O(nnz) form."
    elif average and row.geometry == "entropic" and values["sigma"] in AUTO:
        must = "False with regularizer='entropic' and sigma='auto'"
        why = "with a growing sigma, the weights are not one common number times the stored ones. Give a number."
    if why:
        raise ValueError(f"{who}: {name} must be {must}, got {name}={values[name]!r}: {why}")
