"""The registry's rows as tests take them: `Case`, an estimator with its slow twin, and parameters that exercise both; `Learner`,
an estimator at one of its tasks, kernel learners and OnlineToBatch among them, which keeps the contracts (contracts.py)."""

import math
from dataclasses import dataclass, field
from itertools import product

import numpy as np
from internals import ALGORITHMS, OTHERS, averages
from matrices import continuous_problem
from reference import costs_of_classes, run_binary, run_multiclass, run_one_class, run_regression, run_stream

import onlinecls

#: Hyper-parameters away from the defaults (a test must not lean on a default that tuning may move), some algorithms twice.
CASES = {
    "perceptron": ({"eta0": 0.75},),
    "aggressive_perceptron": ({"eta0": 0.375},),
    "pa1": ({"C": 0.02}, {"C": math.inf}, {"C": 0.3, "margin": 2.5}, {"C": 0.3, "margin": 0.4}),
    "pa2": ({"C": 0.05}, {"C": math.inf}, {"C": 0.3, "margin": 2.5}),
    "sop": ({"r": 2.0, "initial_variance": 1.0}, {"r": 0.8, "initial_variance": 0.5}),
    "aggressive_sop": ({"r": 0.7, "initial_variance": 1.0},),
    "arow": ({"r": 0.5}, {"r": 0.5, "r1": 2.0}, {"r1": 0.3, "r2": 1.5}, {"r": 0.5, "forgetting": 0.01}),
    "narow": ({"b": 0.3, "initial_variance": 1.0}, {"b": 0.6, "initial_variance": 2.0}),
    "cw_stdev": ({"eta": 0.7, "initial_variance": 0.5},),
    "cw_variance": ({"eta": 0.8, "initial_variance": 2.0}, {"eta": 0.8, "initial_variance": 2.0, "forgetting": 0.05}),
    "scw1": ({"C": 0.3, "eta": 0.8, "initial_variance": 0.5}, {"C": math.inf, "eta": 0.7, "initial_variance": 1.0},
        {"C": 0.3, "eta": 0.8, "initial_variance": 0.5, "forgetting": 0.003}),
    "scw2": ({"C": 0.6, "eta": 0.8, "initial_variance": 2.0},),
    "pa1_regression": ({"C": 0.2, "epsilon": 0.3}, {"C": math.inf, "epsilon": 0.0}),
    "pa2_regression": ({"C": 0.3, "epsilon": 0.2}, {"C": math.inf, "epsilon": 0.5}),
    "arow_regression": ({"r": 0.5}, {"r": 0.5, "r2": 2.0}, {"r": 0.5, "forgetting": 0.02}),
    "pa_one_class": ({"epsilon": 1.5}, {"epsilon": 0.4}, {"epsilon": 0.0}),
    "adagrad_md": ({"eta0": 0.4, "delta": 0.3},),
    "adagrad_da": ({"eta0": 0.4, "delta": 0.3, "l1": 0.004}, {"eta0": 0.4, "delta": 0.3, "l1": 0.0}),
    "ftrl": ({"alpha": 0.4, "beta": 0.3, "l1": 0.2, "l2": 0.1}, {"alpha": 0.4, "beta": 0.3, "l1": 0.0, "l2": 0.0}),
    "ftrl_hinge": ({"alpha": 0.4, "beta": 0.3, "l1": 0.2, "l2": 0.1},),
    "p_norm": ({"p": 3.3}, {"p": 18.0}, {"p": 2}),
    "aggressive_p_norm": ({"p": 6.0, "radius": 1.7}, {"p": 2.5, "radius": 0.9}),
    "multiplicative_pa": ({"margin": 0.4, "norm_bound": 2.5}, {"margin": 1.5, "norm_bound": 1.0}),
    "multiplicative_pa_regression": ({"epsilon": 0.3, "norm_bound": 6.0}, {"epsilon": 0.0, "norm_bound": 0.8}),
    "multiplicative_pa_one_class": ({"epsilon": 1.5, "norm_bound": 3.0}, {"epsilon": 0.4, "norm_bound": 1.0},
        {"epsilon": 0.0, "norm_bound": 0.5}),
    "da1": ({"sigma": 0.7},),
    "da2": ({"sigma": 1.3, "margin": 0.8}, {"sigma": "auto", "norm_bound": 2.0}),
    "da3": ({"sigma": 0.7, "margin": 0.8},),
    "entropic_da1": ({"sigma": 2.0, "norm_bound": 3.0}, {"sigma": 2.0, "norm_bound": 3.0, "signed": False}),
    "entropic_da2": ({"sigma": 0.7, "norm_bound": 3.0}, {"sigma": "auto", "norm_bound": 3.0, "margin": 0.8},
        {"sigma": 0.7, "norm_bound": 3.0, "signed": False}),
    "entropic_da3": ({"sigma": 0.7, "norm_bound": 3.0, "margin": 0.8},
        {"sigma": 0.7, "norm_bound": 3.0, "margin": 0.8, "signed": False}),
    "logistic": ({"sigma": 0.7, "update": "DA1"}, {"sigma": 0.3, "update": "DA3"}),
    "entropic_logistic": ({"sigma": 0.7, "norm_bound": 3.0, "update": "DA2"}, {"sigma": 0.7, "norm_bound": 3.0, "signed": False}),
    "da_regression": ({"sigma": 2.0, "update": "DA1"}, {"sigma": 0.7, "update": "DA2"}, {"sigma": "auto", "norm_bound": 2.0}),
    "da_squared": ({"sigma": 20.0, "update": "DA1"}, {"sigma": 0.7, "update": "DA3"}),
    "entropic_da_regression": ({"sigma": 2.0, "norm_bound": 3.0}, {"sigma": 2.0, "norm_bound": 3.0, "signed": False}),
    "entropic_da_squared": ({"sigma": 2.0, "norm_bound": 3.0}, {"sigma": 2.0, "norm_bound": 3.0, "signed": False}),
    "ogd": ({"alpha": 0.1},),
    "ogd_sqrt": ({"eta0": 0.3},),
    "hedge": ({"eta0": 0.3}, {"eta0": "auto"}),
}
assert CASES.keys() == ALGORITHMS.keys(), "every row of the registry is tested"


@dataclass(frozen=True)
class Case:
    name: str
    params: dict

    def __str__(self):
        return self.name + "-" + ",".join(f"{k}={v if isinstance(v, str) else format(v, 'g')}" for k, v in self.params.items())

    @property
    def algorithm(self):
        return ALGORITHMS[self.name]

    @property
    def slack(self):
        """Tolerance against the twin besides rounding: where a maximum is flat, its place is known less than its
        height."""
        return {
            "entropic_da2": 1e-7,
            "entropic_da3": 1e-4,
            "entropic_logistic": 1e-7 if self.params.get("signed", True) else 3e-6,
            "entropic_da_regression": 1e-6,
            "entropic_da_squared": 1e-6,
        }.get(self.name, 0.0)

    @property
    def can_average(self):
        moves_always = self.params.get("l1") and self.algorithm.geometry == "dual"
        return not moves_always and averages(self.algorithm.geometry) and self.algorithm.geometry != "entropic"

    @property
    def can_be_full(self):
        """Return whether Σ may be a full matrix."""
        return self.algorithm.geometry in ("gaussian", "potential")

    def estimator(self, multi_class="crammer_singer", **others):
        """Return a new estimator that runs this algorithm, by default with the twin's multi_class."""
        cls = getattr(onlinecls, self.algorithm.estimator)
        if "multiclass" in self.algorithm.tasks:
            others["multi_class"] = multi_class
        if "experts" not in self.algorithm.tasks:
            others = {"scale": 1.0, **others}  # the twins'
            if "one_class" not in self.algorithm.tasks:
                others = {"intercept_scaling": 1.0, **others}
        return cls(**self.algorithm.selects, **self.params, **others)

    def costs(self, y, class_weight, weights=None):
        """Return the twin's weights of rows with these class weights."""
        return costs_of_classes(self.algorithm.costs, self.params.get("margin", self.algorithm.margin), y, class_weight, weights)

    def binary(self, X, y, **others):
        return run_binary(self.name, X, y, **self.params, **others)

    def multiclass(self, X, y, n_classes, **others):
        return run_multiclass(self.name, X, y, n_classes, **self.params, **others)

    def stream(self, X, y, **others):
        return run_stream(self.name, X, y, **self.params, **others)

    def regression(self, X, y, **others):
        return run_regression(self.name, X, y, **self.params, **others)

    def one_class(self, X, **others):
        return run_one_class(self.name, X, **self.params, **others)


EVERY = [Case(name, params) for name, several in CASES.items() for params in several]
ALL = [case for case in EVERY if "binary" in case.algorithm.tasks]
REGRESSION = [case for case in EVERY if "regression" in case.algorithm.tasks]
ONE_CLASS = [case for case in EVERY if "one_class" in case.algorithm.tasks]
ONE_EACH = [next(case for case in ALL if case.name == name) for name in dict.fromkeys(case.name for case in ALL)]
ONE_OF_EACH_LOOP = [*ONE_EACH, *(case for case in ALL if "forgetting" in case.params and case not in ONE_EACH)]

# (Learners of experts' advice, which takes no other rows, have tests of their own.)
ORDINARY = [a for a in ALGORITHMS.values() if "experts" not in a.tasks]
ESTIMATORS = [getattr(onlinecls, name) for name in sorted({a.estimator for a in ORDINARY})]
CLASSIFIERS = [cls for cls in ESTIMATORS if cls._estimator_type == "classifier"]
OUTLIER_DETECTORS = [cls for cls in ESTIMATORS if cls._estimator_type == "outlier_detector"]
REGRESSORS = [cls for cls in ESTIMATORS if cls._estimator_type == "regressor"]


# --- every estimator at every task, for the contracts ---------------------------------------------------------------------------

#: Parameters that take another way through the code but have no twin of their own, or one in the file of their family.
MORE = {
    "multiplicative_pa": [{"margin": 0.7, "norm_bound": bound, "signed": signed}  # (a small one: all is rescaled every few rows)
                          for bound, signed in ((0.05, True), (0.05, False), (2.0, False))],
    "multiplicative_pa_regression": [{"epsilon": 0.1, "norm_bound": 0.05}, {"epsilon": 0.1, "norm_bound": 2.0, "signed": False}],
    "multiplicative_pa_one_class": [{"epsilon": 0.4, "norm_bound": 0.05}, {"epsilon": 0.4, "signed": False}],
    "da1": [{"sigma": "auto"}],
    "da3": [{"sigma": "auto"}],
    "entropic_da1": [{"sigma": "auto", "norm_bound": 3.0}, {"sigma": 0.02, "norm_bound": 3.0}],  # (the second: scales that grow)
    "entropic_da3": [{"sigma": "auto", "norm_bound": 3.0}],
    "logistic": [{"sigma": 0.7, "update": "DA2"}, {"sigma": "auto", "update": "DA3"}],
    "entropic_logistic": [{"sigma": 0.02, "norm_bound": 3.0, "update": "DA1"},
                          {"sigma": "auto", "norm_bound": 3.0, "update": "DA3"}],
    "da_squared": [{"sigma": "auto", "update": "DA2"}],
    "entropic_da_regression": [{"sigma": 12.0, "norm_bound": 3.0, "update": "DA1"}, {"sigma": "auto", "norm_bound": 3.0}],
    "entropic_da_squared": [{"sigma": 12.0, "norm_bound": 3.0, "update": "DA2"}, {"sigma": "auto", "norm_bound": 3.0}],
    **{name: [{**params, "covariance": "full"} for params in (CASES[name][0], *(p for p in CASES[name] if "forgetting" in p))]
       for name in ALGORITHMS if Case(name, {}).can_be_full},
}
#: With probabilities, one of each loop over rows: (name, its first trial's parameters and these).
GIVING_PROBABILITIES = [
    Case(name, {**CASES[name][0], **more, "probability": True})
    for name, more in (("pa1", {}), ("arow", {}), ("arow", {"covariance": "full"}), ("p_norm", {}), ("multiplicative_pa", {}),
                       ("da3", {}), ("entropic_da1", {}))
]
TASKS = {"binary": ("binary",), "multiclass": ("crammer_singer", "ovr"),
         "experts": ("binary",), "regression": ("regression",), "one_class": ("one_class",)}


@dataclass(frozen=True)
class Learner:
    """An estimator with its parameters, put to one task.

    family : name of its row in the registry, or what it is beside them. task : binary, crammer_singer, ovr, regression or
    one_class. slack : how far the model may be from that of another order of summation besides rounding.
    """

    family: str
    estimator: str
    task: str
    params: dict = field(default_factory=dict)
    slack: float = 0.0

    def __str__(self):
        said = (f"{k}={v if isinstance(v, str) else format(v, 'g')}" for k, v in self.params.items() if np.isscalar(v))
        return "-".join([self.family, self.task, ",".join(said)])

    def __call__(self, **others):
        """Return a new estimator."""
        return getattr(onlinecls, self.estimator)(**{**self.params, **others})

    @property
    def cls(self):
        return getattr(onlinecls, self.estimator)

    @property
    def geometry(self):
        return ALGORITHMS[self.family].geometry if self.family in ALGORITHMS else self.family

    @property
    def is_classifier(self):
        return self.task in ("binary", "crammer_singer", "ovr")

    @property
    def is_full(self):
        return self.params.get("covariance") == "full"

    @property
    def is_linear(self):
        """Return whether the learner has a vector of weights for each score."""
        return hasattr(self.cls, "coef_") and self.family != "kernel"

    @property
    def is_exact(self):
        """Return whether any split into calls gives the same bits."""
        return not self.is_full and self.family != "kernel"

    @property
    def rows(self):
        """Return the rows that the learner takes: "any" numbers, "positive" (none below 0), or "advice" in [0, 1]."""
        nonnegative = not self.params.get("signed", True) and self.geometry != "entropic"  # (the multiplicative PA)
        return "advice" if self.geometry == "experts" else "positive" if nonnegative else "any"

    @property
    def begins_at_zero(self):
        """Return whether the first weights are zero; on the probability simplex they are uniform."""
        return self.rows == "any" and bool(self.params.get("signed", True))

    @property
    def without_level(self):
        """Return the parameters with which a regressor learns the targets themselves; none where it does so anyway."""
        rows = [row for row in (*ALGORITHMS.values(), *OTHERS.values()) if row.estimator == self.estimator]
        return {"intercept_scaling": 1.0} if rows[0].level and self.begins_at_zero else {}

    @property
    def n_classes(self):
        return 0 if not self.is_classifier else 2 if self.task == "binary" else 4

    def offers(self, *names):
        """Return whether the estimator has all of these parameters."""
        return set(names) <= self().get_params().keys()

    @property
    def can_average(self):
        auto_entropic = self.geometry == "entropic" and self.params.get("sigma") == "auto"
        moves_always = self.params.get("l1") and self.geometry == "dual"
        refused = moves_always or auto_entropic
        return self.offers("average") and averages(self.geometry) and not refused

    def problem(self, n, d=7, seed=0, dtype="float64", density=0.5):
        """Rows that it takes, and codes of labels (from 0), or targets; float32 numbers whatever the dtype."""
        X, y = continuous_problem(n, d, seed, max(self.n_classes, 2), density, dtype)
        if self.rows != "any":
            X = np.abs(X)
        if self.rows == "advice":
            X = (np.minimum(X, 2.0) / 2.0).astype(dtype)
            X[~X.any(axis=1), 0] = 0.5
        if self.is_classifier:
            return X, (y > 0) * 1 if self.n_classes == 2 else y
        return X, X.astype(float) @ np.linspace(-1.0, 1.0, d) + 0.3 * y


def _tasks_of(algorithm):
    return [task for tasks in algorithm.tasks for task in TASKS[tasks]]


def _of_the_registry():
    """Every case at each of its tasks; one against the rest, where every rule goes the way of two classes, for one case of each
    class and kind of state. (All of them beside their twins: test_kernels.py.)"""
    rest = set()
    for case in [*EVERY, *(Case(name, params) for name, several in MORE.items() for params in several), *GIVING_PROBABILITIES]:
        for task in _tasks_of(case.algorithm):
            form = {"multi_class": task} if task in ("crammer_singer", "ovr") else {}
            params = {**case.algorithm.selects, **case.params, **form}
            forms = (params.get(name) for name in ("covariance", "probability", "forgetting", "signed", "update", "sigma", "l1"))
            kind = case.algorithm.estimator, case.algorithm.geometry, *forms
            if task != "ovr" or kind not in rest:
                yield Learner(case.name, case.algorithm.estimator, task, params, case.slack)
            rest |= {kind} if task == "ovr" else set()


def _of_kernels():
    for algorithm, more in (("arow", {"gamma": 0.2}), ("pa", {"kernel": "poly", "degree": 2, "gamma": 0.2, "budget": 20}),
                            ("sop", {"kernel": "linear", "budget": 6}),
                            ("perceptron", {"kernel": "sigmoid", "gamma": 0.05, "coef0": 0.3})):
        for task in ("binary", "crammer_singer", "ovr"):
            form = {"multi_class": task} if task != "binary" else {}
            yield Learner("kernel", "KernelOnlineClassifier", task, {"algorithm": algorithm, **more, **form})
    yield Learner("kernel", "KernelOnlineRegressor", "regression", {"algorithm": "arow", "gamma": 0.2})
    yield Learner("kernel", "KernelOnlineRegressor", "regression", {"algorithm": "pa", "gamma": 0.2, "budget": 20})


def _of_batches():
    for method, task in product(("average", "validation"), ("binary", "ovr")):
        params = {"estimator": onlinecls.AROWClassifier(), "method": method, "n_snapshots": 5, "random_state": 3}
        yield Learner("online_to_batch", "OnlineToBatch", task, params)


def _of_committees():
    for task, more in (("binary", {}), ("ovr", {"probability": True}), ("ovr", {"fit_intercept": False})):
        yield Learner("committee", "CommitteeClassifier", task, more)


LEARNERS = [*_of_the_registry(), *_of_kernels(), *_of_batches(), *_of_committees()]
STEPS = {"StreamPipeline", "HashingVectorizer", "TableVectorizer"}
PUBLIC = {name for name in onlinecls.__all__ if isinstance(getattr(onlinecls, name), type)} - STEPS
assert {learner.estimator for learner in LEARNERS} == PUBLIC, "every estimator keeps the contracts"
