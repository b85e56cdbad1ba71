"""Parameters that learners share: names, defaults and descriptions, each written once."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, dataclass_transform

from .._registry import algorithms_of

if TYPE_CHECKING:
    from .._input.types import FloatOrAuto, FloatType, RandomState


@dataclass(init=False, eq=False, repr=False, kw_only=True)
class EpochParameters:
    """Parameters of the epochs of `fit`."""

    max_iter: int = 5
    tol: float | None = 1e-3
    shuffle: bool = True
    random_state: RandomState = None
    warm_start: bool = False
    n_iter_no_change: int = 5
    verbose: int = 0


@dataclass(init=False, eq=False, repr=False, kw_only=True)
class LinearParameters(EpochParameters):
    """Parameters of linear learners of labels and of numbers, besides those of epochs."""

    scale: FloatOrAuto = "auto"
    fit_intercept: bool = True
    intercept_scaling: FloatOrAuto = "auto"
    average: bool | int = False
    early_stopping: bool = False
    validation_fraction: float = 0.1
    dtype: FloatType | None = None


PARAMETERS = """\
initial_variance : float, default={initial_variance}
    Initial variance of each weight, > 0 (Σ_0 is the identity times this).
forgetting : float, default=0.0
    lambda, in [0, 0.1]: before each row Σ <- D Σ D, D_jj = 1/√(1 - lambda), or less where Σ_jj would exceed the initial variance.
    The model keeps learning when labels change their meaning: rows older than about 1/lambda count little.
r1, r2 : float or None, default=None
    Used instead of r for the mean, and for the covariance (the paper's 1/(2 lambda_1) and 1/(2 lambda_2)).
covariance : {"diagonal", "full"}, default="diagonal"
    "diagonal": a variance for each weight, O(nnz) a row. "full": a matrix Σ for each vector of weights (two classes share one
    vector, more have one each): n_features² numbers of memory each, O(n_features²) a row that updates, many rows at once by
    matrix products. Splits of a stream then agree to 1e-10 (float64) instead of to the bit.
scale : float or "auto", default={scale}
    s, > 0: a row x is learnt as z = x / s, the x of the equations, and all numbers here are in units of z. "auto": the power of
    two nearest to the geometric mean of ||x|| over the first 16 rows (of those so far), so that X times a power of two gives the
    same predictions. 1.0: the papers' algorithm on X as it stands.
fit_intercept : bool, default=True
    Learn an intercept: the weight of a constant feature, a feature like any other (counted in the norm of z, with a variance).
intercept_scaling : float or "auto", default="auto"
    Value of the constant feature, > 0, beside z. "auto": the power of two nearest to the geometric mean of a row's root mean
    square over its non-zeros, over the same rows.
max_iter : int, default={max_iter}
    Most epochs of `fit`, >= 1. `partial_fit` is always one pass.
tol : float or None, default=1e-3
    `fit` stops when the mean loss was above the best one - tol for `n_iter_no_change` epochs. None: it never stops early.
shuffle : bool, default={shuffle}
    Whether `fit` shuffles the rows before each epoch. `partial_fit` never does.
random_state : int, RandomState, Generator or None, default={random_state}
    Seed of the shuffling and of the rows held out.
warm_start : bool, default=False
    Whether `fit` starts from the present model (if it is still of the kind, average and dtype that the parameters choose).
average : bool or int, default=False
    Predict with the mean of the weights after each round (from round `average` on, if an int >= 1): online-to-batch, tutorial V.
early_stopping : bool, default=False
    Whether `fit` holds rows out and stops by their score instead of the loss. `partial_fit` holds nothing out.
validation_fraction : float, default=0.1
    Share of the rows held out, in (0, 1).
n_iter_no_change : int, default=5
    Epochs without improvement after which `fit` stops, >= 1.
verbose : int, default=0
    Above 0: a line for each epoch.
n_jobs : int or None, default=None
    scikit-learn's argument, not used.
probability : bool, default=False
    Learn probabilities with the model, for `predict_proba`: two numbers of the scores, from every new row before it is learnt
    (in `fit` only in the first epoch; `class_weight` is ignored). The last weights of the Perceptron, PA and CW lean towards the
    last rows: give these learners `average=True`, too.
dtype : numpy.float32, numpy.float64 or None, default=None
    Type of the model. None: that of the first X (float64 if that is neither).
loss_tol : float or None, default=None
    rho > 0, in squared units of the loss: `fit` cycles over the rows, taking steps where the squared loss is above rho, until
    there is no such row (at most `max_iter` cycles; then a ConvergenceWarning), whatever `tol` says.
class_weight : dict, "balanced" or None, default=None
    Weights c of the classes, {label: weight >= 0}: what a mistake on each costs; 0 leaves its rows out. "balanced":
    n / (n_classes * n_of_class), in `partial_fit` from the counts so far. They multiply `sample_weight`; where the loss alone
    sets a step's length, c / rho does, and a row must have rho times the margin, rho = √(c / min c) over the classes so far, at
    most √1000 (JMLR 2006, 6).
multi_class : {"ovr", "crammer_singer"}, default={multi_class}
    For three or more classes: one learner for each class against the rest (all in one pass), or one joint learner, of x on the
    true class and -x on the best wrong one: m is the difference of their scores, ||x||² twice as large, v the sum of both."""

LEVEL = """
    It also lets the learner learn deviations of the targets from their level m, the weighted mean of the targets before the row
    (`fit`: of all rows; `forgetting`: it forgets at the same rate). The prediction is m + w.x, ``intercept_`` includes m, and a
    number added to all targets is added to all predictions. The first row counts as predicted without error. An `average` is that
    of w, beside the last m. With a number for `intercept_scaling` there is no level, as in the papers."""

REST = """\
n_features_in_, n_iter_ : int
feature_names_in_ : ndarray of str
    Only if X was a data frame.

Raises
------
ValueError
    By `fit` and `partial_fit`, before anything is written: a parameter out of range, NaN or infinity in X, a broken CSR
    matrix, wrong shapes, targets that are not finite or no labels, negative weights."""

TEXTS = {text.split(" :")[0]: text for text in re.split(r"\n(?=\w)", PARAMETERS)}
ORDER = {name: at for at, name in enumerate(", ".join(TEXTS).split(", "))}


@dataclass_transform()
def estimator(cls: Any) -> Any:
    """Turn a class into an estimator: with a dataclass's constructor of its parameters, and a completed docstring.

    Its own parameters come first, the others in the order of `PARAMETERS`. In the docstring, {shared} stands for the parameters
    that it does not describe itself and for attributes, in the words of the properties, and a name in braces for a default.
    """
    what, cls = cls.__doc__, dataclass(eq=False, repr=False)(cls)
    signature = inspect.signature(cls.__init__)
    ordered = sorted(signature.parameters.values(), key=lambda each: (each.kind, ORDER.get(each.name, -1)))
    cls.__init__.__signature__ = signature.replace(parameters=ordered)
    if what is None:  # python -OO
        return cls
    what, defaults = inspect.cleandoc(what), {each.name: each.default for each in ordered}
    own = ", ".join(re.findall(r"^(\w+(?:, \w+)*) : ", what, re.MULTILINE)).split(", ")
    shared = [text for names, text in TEXTS.items() if (name := names.split(",")[0]) in defaults and name not in own]
    if any(row.level for row in algorithms_of(cls)):
        shared = [text + LEVEL if text.startswith("intercept_scaling") else text for text in shared]
    shared += ["", "Attributes", "----------"]
    for name, member in inspect.getmembers(cls, lambda each: isinstance(each, property)):
        if re.fullmatch("[a-z].*_", name):
            text = f"{name} : {member.fget.__annotations__['return']}\n{inspect.getdoc(member)}"
            shared.append(text.replace("\n", "\n    "))
    what = what.replace("{shared}", "\n".join([*shared, REST]))
    for name, default in defaults.items():
        what = what.replace("{" + name + "}", f'"{default}"' if isinstance(default, str) else str(default))
    cls.__doc__ = what
    return cls
