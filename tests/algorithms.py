"""The registry's rows as tests take them: an estimator, its slow twin, and parameters that exercise both."""

from dataclasses import dataclass

import numpy as np
from reference import run_binary, run_multiclass, run_one_class, run_regression, run_stream

import onlinecls
from onlinecls._registry import ALGORITHMS

#: Hyper-parameters away from the defaults (a test must not lean on a default that tuning may move), some algorithms twice.
CASES = {
    "perceptron": [{"eta0": 0.75}],
    "aggressive_perceptron": [{"eta0": 0.375}],
    "p_norm": [{"p": 3.3}, {"p": 18.0}, {"p": 2}],
    "aggressive_p_norm": [{"p": 6.0, "radius": 1.7}, {"p": 2.5, "radius": 0.9}],
    "pa1": [{"C": 0.02}, {"C": float("inf")}],
    "pa2": [{"C": 0.05}, {"C": float("inf")}],
    "sop": [{"r": 2.0}],
    "aggressive_sop": [{"r": 0.7}],
    "arow": [{"r": 0.5}],
    "narow": [{"b": 0.3}],
    "cw_stdev": [{"eta": 0.7, "initial_variance": 0.5}],
    "cw_variance": [{"eta": 0.8, "initial_variance": 2.0}],
    "scw1": [{"C": 0.3, "eta": 0.8, "initial_variance": 0.5}, {"C": float("inf"), "eta": 0.7}],
    "scw2": [{"C": 0.6, "eta": 0.8, "initial_variance": 2.0}],
    "adagrad_md": [{"eta0": 0.4, "delta": 0.3}],
    "adagrad_da": [{"eta0": 0.4, "delta": 0.3, "l1": 0.004}, {"eta0": 0.4, "delta": 0.3, "l1": 0.0}],
    "pa1_regression": [{"C": 0.2, "epsilon": 0.3}, {"C": float("inf"), "epsilon": 0.0}],
    "pa2_regression": [{"C": 0.3, "epsilon": 0.2}, {"C": float("inf"), "epsilon": 0.5}],
    "arow_regression": [{"r": 0.5}],
    "da1": [{"sigma": 0.7}],
    "da2": [{"sigma": 1.3, "margin": 0.8}, {"sigma": "auto", "norm_bound": 2.0}],
    "da3": [{"sigma": 0.7, "margin": 0.8}],
    "entropic_da1": [{"sigma": 2.0, "norm_bound": 3.0}],
    "entropic_da2": [{"sigma": 0.7, "norm_bound": 3.0}, {"sigma": "auto", "norm_bound": 3.0, "margin": 0.8}],
    "entropic_da3": [{"sigma": 0.7, "norm_bound": 3.0, "margin": 0.8}],
    "logistic": [{"sigma": 0.7, "update": "DA1"}, {"sigma": 0.3, "update": "DA3"}],
    "entropic_logistic": [{"sigma": 0.7, "norm_bound": 3.0, "update": "DA2"}],
    "da_regression": [{"sigma": 2.0, "update": "DA1"}, {"sigma": 0.7, "update": "DA2"}, {"sigma": "auto", "norm_bound": 2.0}],
    "da_squared": [{"sigma": 20.0, "update": "DA1"}, {"sigma": 0.7, "update": "DA3"}],
    "entropic_da_regression": [{"sigma": 2.0, "norm_bound": 3.0}],
    "entropic_da_squared": [{"sigma": 2.0, "norm_bound": 3.0}],
    "forel": [{"sigma": 2.0, "gap_tol": 1e-6}],
    "ogd": [{"alpha": 0.1}],
    "ogd_sqrt": [{"eta0": 0.3}],
    "hedge": [{"eta0": 0.3}, {"eta0": "auto"}],
    "pa_one_class": [{"epsilon": 1.5}, {"epsilon": 0.4}, {"epsilon": 0.0}],
    "multiplicative_pa": [{"margin": 0.4, "norm_bound": 2.5}, {"margin": 1.5}],
    "multiplicative_pa_regression": [{"epsilon": 0.3, "norm_bound": 6.0}, {"epsilon": 0.0, "norm_bound": 0.8}],
    "multiplicative_pa_one_class": [{"epsilon": 1.5, "norm_bound": 3.0}, {"epsilon": 0.4}, {"epsilon": 0.0, "norm_bound": 0.5}],
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
        """How far from its twin's the model may be besides rounding: where a maximum is flat, its place is known less than its
        height."""
        return {
            "entropic_da2": 1e-7,
            "entropic_da3": 1e-4,
            "entropic_logistic": 1e-7,
            "entropic_da_regression": 1e-6,
            "entropic_da_squared": 1e-6,
        }.get(self.name, 0.0)

    @property
    def can_average(self):
        return not self.params.get("l1") and self.algorithm.geometry not in ("p_norm", "entropic", "sinh")

    def estimator(self, multi_class="crammer_singer", **others):
        """A fresh estimator that runs this algorithm; multi_class is by default what the twin's is."""
        cls = getattr(onlinecls, self.algorithm.estimator)
        if "multiclass" in self.algorithm.tasks:
            others["multi_class"] = multi_class
        return cls(**self.algorithm.selects, **self.params, **others)

    def binary(self, X, y, **others):
        return run_binary(self.name, X, y, **self._reference_params(), **others)

    def multiclass(self, X, y, n_classes, **others):
        return run_multiclass(self.name, X, y, n_classes, **self._reference_params(), **others)

    def stream(self, X, y, **others):
        return run_stream(self.name, X, y, **self._reference_params(), **others)

    def regression(self, X, y, **others):
        return run_regression(self.name, X, y, **self.params, **others)

    def one_class(self, X, **others):
        return run_one_class(self.name, X, **self.params, **others)

    def _reference_params(self):
        # The kernels hold a CW step that is large only as a number of double; the twin's limit would leave it out.
        return {**self.params, **({"largest": np.inf} if self.name.startswith(("cw", "scw")) else {})}


EVERY = [Case(name, params) for name, several in CASES.items() for params in several]
ALL = [case for case in EVERY if "binary" in case.algorithm.tasks]
REGRESSION = [case for case in EVERY if "regression" in case.algorithm.tasks]
ONE_CLASS = [case for case in EVERY if "one_class" in case.algorithm.tasks]
ONE_EACH = [next(case for case in ALL if case.name == name) for name in dict.fromkeys(case.name for case in ALL)]

# (Learners of experts' advice, which takes no other rows, and those that keep all rows have tests of their own.)
ORDINARY = [a for a in ALGORITHMS.values() if not {"experts", "leader"}.intersection(a.tasks)]
ESTIMATORS = [getattr(onlinecls, name) for name in sorted({a.estimator for a in ORDINARY})]
CLASSIFIERS = [cls for cls in ESTIMATORS if cls._estimator_type == "classifier"]
OUTLIER_DETECTORS = [cls for cls in ESTIMATORS if cls._estimator_type == "outlier_detector"]
REGRESSORS = [cls for cls in ESTIMATORS if cls._estimator_type == "regressor"]
