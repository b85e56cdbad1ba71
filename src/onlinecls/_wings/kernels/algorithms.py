"""The rows of the table of algorithms for the kernel learners."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..._algorithm import (
    AGGRESSIVENESS,
    AUTO,
    EPSILON,
    EVIDENCE,
    NONE,
    POSITIVE,
    Algorithm,
    Conflict,
    Either,
    Integer,
    Options,
    Range,
    Real,
)

NO_KEYWORDS = Conflict(
    ("kernel_params",), "None for kernel={kernel!r}", lambda v: bool(v["kernel_params"] and not callable(v["kernel"])),
    "they are the keyword arguments of a callable kernel. Use gamma, degree and coef0.",
)
# Parameters of the kernel learners: all are checked, whichever algorithm is chosen.
CONSTANT = Real(0.0, 1e70, high_allowed=True, hint="It is the value of the constant feature; 1 suits unit-length rows.")
NAMED_KERNELS = ("linear", "rbf", "poly", "sigmoid", "precomputed")
FUNCTION = Range(kind=Callable, words="a callable of two matrices")
KERNEL = {
    "kernel": Either((Options(NAMED_KERNELS), FUNCTION)),
    "kernel_params": Either((NONE, Range(kind=dict, words="a dict"))),
    "gamma": Either((Options(("scale", "auto")), POSITIVE), hint="gamma multiplies squared distances (rbf) or inner products."),
    "degree": Integer(1, 2**31 - 1),
    "coef0": Real(),
    "budget": Either((NONE, Integer(1, 2**31 - 1)), hint="It bounds the number of support vectors, and with it time and memory."),
}
KERNEL_CLASSIFIER = {**KERNEL, "intercept_scaling": CONSTANT, "C": AGGRESSIVENESS, "r": EVIDENCE, "eta0": POSITIVE}
KERNEL_REGRESSOR = {**KERNEL, "intercept_scaling": Either((AUTO, CONSTANT), hint=CONSTANT.hint), "C": AGGRESSIVENESS,
                    "epsilon": EPSILON, "r": EVIDENCE}
NUMBERS: Mapping[str, Any] = {
    "estimator": "KernelOnlineRegressor", "params": KERNEL_REGRESSOR, "margin": 0.0, "tasks": ("regression",), "level": True,
}
KEPT_ROWS = "its model consists of rows, and a merge would keep those of all shards"


def _kernel(name: str, rule: str, selects: Mapping[str, object], **more: Any) -> Algorithm:
    """Make the row of a rule above in the feature space of a kernel, for classes unless `more` has another estimator."""
    fields = {"estimator": "KernelOnlineClassifier", "params": KERNEL_CLASSIFIER, "title": f"Kernel {name}", "merge": KEPT_ROWS,
              "paper": "AROW, Lemma 1", "geometry": "kernel", "conflicts": (NO_KEYWORDS,), **more}
    return Algorithm("kernel_" + name, rule, selects=selects, **fields)


OTHERS = (
    _kernel("arow", "arow", {"algorithm": "arow"}, geometry="gaussian_kernel", costs="margin"),
    _kernel("pa1", "pa1", {"algorithm": "pa", "loss": "hinge"}, costs="margin"),
    _kernel("pa2", "pa2", {"algorithm": "pa", "loss": "squared_hinge"}, costs="margin"),
    _kernel("perceptron", "perceptron", {"algorithm": "perceptron", "aggressive": False}, margin=0.0),
    _kernel("aggressive_perceptron", "aggressive_perceptron", {"algorithm": "perceptron", "aggressive": True}, costs="margin"),
    _kernel("sop", "sop", {"algorithm": "sop", "aggressive": False}, geometry="gaussian_kernel", margin=0.0,
            trigger="lookahead_mistake"),
    _kernel("aggressive_sop", "aggressive_sop", {"algorithm": "sop", "aggressive": True}, geometry="gaussian_kernel",
            trigger="lookahead_loss"),
    _kernel("pa1_regression", "pa1", {"algorithm": "pa", "loss": "epsilon_insensitive"}, **NUMBERS),
    _kernel("pa2_regression", "pa2", {"algorithm": "pa", "loss": "squared_epsilon_insensitive"}, **NUMBERS),
    _kernel("arow_regression", "least_squares", {"algorithm": "arow"}, geometry="gaussian_kernel", kernel={"epsilon": 0.0},
            **NUMBERS),
)
