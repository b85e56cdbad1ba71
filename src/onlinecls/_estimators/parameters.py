"""Parameters that many learners share: their names, defaults and descriptions, each written once."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, dataclass_transform

from .._registry import worded_defaults

if TYPE_CHECKING:
    from .._input.types import ClassWeight, FloatOrAuto, FloatType, RandomState


@dataclass(init=False, eq=False, repr=False, kw_only=True)
class EpochParameters:
    """Parameters of the epochs of `fit`."""

    max_iter: int = 10
    tol: float | None = 1e-3
    shuffle: bool = True
    random_state: RandomState = None
    warm_start: bool = False
    n_iter_no_change: int = 5
    verbose: int = 0


@dataclass(init=False, eq=False, repr=False, kw_only=True)
class LinearParameters(EpochParameters):
    """Parameters that linear learners of labels and of numbers have beside these."""

    fit_intercept: bool = True
    intercept_scaling: FloatOrAuto = "auto"
    average: bool | int = False
    early_stopping: bool = False
    validation_fraction: float = 0.1
    dtype: FloatType | None = None


@dataclass(init=False, eq=False, repr=False, kw_only=True)
class ClassifierParameters(LinearParameters):
    """Parameters that linear classifiers have beside these."""

    probability: bool = False
    class_weight: ClassWeight = None
    multi_class: Literal["ovr", "crammer_singer"] = "ovr"
    n_jobs: int | None = None


PARAMETERS = """\
initial_variance : float or "auto", default="auto"
    Variance that a weight starts with, > 0 (Σ_0 is it times the identity).
forgetting : float, default=0.0
    lambda, in [0, 0.1]: before each row Σ <- D Σ D, D_jj = 1/√(1 - lambda), or less where Σ_jj would exceed the first variance.
    The model keeps learning where labels change their meaning: what is older than about 1/lambda rows counts little.
r1, r2 : float or None, default=None
    In place of r for the mean, and for the covariance (the paper's 1/(2 lambda_1) and 1/(2 lambda_2)).
covariance : {"diagonal", "full", "auto"}, default="diagonal"
    "diagonal": a variance for each weight, O(nnz) a row. "full": a matrix Σ for each vector of weights (two classes have one
    vector, more have one each): n_features² numbers of memory each, O(n_features²) a row that updates, many rows at once by
    matrix products. Splits of a stream then agree to 1e-10 (float64) instead of to the bit. "auto": full where X has at most 300
    features.
fit_intercept : bool, default=True
    Learn an intercept: the weight of a constant feature, a feature like any other (it is in the norm of x and has a variance).
intercept_scaling : float or "auto", default="auto"
    Value of the constant feature, > 0, in units of the features. "auto": the power of two nearest to the root mean square
    of the non-zeros of a row, the median of the rows that determine `scale_`.
max_iter : int, default={max_iter}
    Most epochs of `fit`, >= 1. `partial_fit` is always one pass.
tol : float or None, default=1e-3
    `fit` stops when an epoch's mean loss was above the best one - tol for `n_iter_no_change` epochs. None: never early.
shuffle : bool, default={shuffle}
    Whether `fit` shuffles the rows before each epoch. `partial_fit` never does.
random_state : int, RandomState, Generator or None, default={random_state}
    Seed of the shuffling and of the rows held out.
warm_start : bool, default=False
    Whether `fit` goes on from the model there is (if that is still of the kind, average and dtype that the parameters ask for).
average : bool or int, default=False
    Predict with the mean of the weights after each round (from round `average` on, if an int >= 1): online-to-batch, tutorial V.
early_stopping : bool, default=False
    Whether `fit` holds rows out and stops by the score on them instead of the loss.
validation_fraction : float, default=0.1
    Share of the rows held out, in (0, 1).
n_iter_no_change : int, default=5
    Epochs without improvement after which `fit` stops, >= 1.
verbose : int, default=0
    Above 0: a line for each epoch.
probability : bool, default=False
    Learn probabilities beside the model, for `predict_proba`: two numbers of each score, from every row before it is learnt
    (from rows that are seen for the first time: `fit` learns them in its first epoch; `class_weight` does not count).
dtype : numpy.float32, numpy.float64 or None, default=None
    Type of the model. None: that of the first X (float64 if that is neither).
loss_tol : float or None, default=None
    rho > 0, in squared units of the loss: `fit` cycles over the rows, taking steps where the squared loss is above rho, until
    there is no such row (at most `max_iter` cycles; then a ConvergenceWarning), whatever `tol` says. See `n_updates_bound_`.
class_weight : dict, "balanced" or None, default=None
    Weights of the classes, {label: weight >= 0}; they multiply `sample_weight`. "balanced": n / (n_classes * n_of_class), in
    `partial_fit` from the counts so far.
multi_class : {"ovr", "crammer_singer"}, default="{multi_class}"
    For three classes or more: a learner of each class against the rest (all in one pass), or one joint learner on the true class
    against the best wrong one.
n_jobs : None or int, default=None
    Threads that score rows in `predict`, `decision_function` and `predict_proba`, where there are thousands of them. None: one;
    -1: as many as cores, -2: one less. The bits are the same for any number. Learning is one pass for all classes, on one
    thread."""

LEANING = """
    Without `average`, `fit` warns: the last weights, and thus the scores, lean towards the rows that came last, so the
    probabilities may be off."""

SCALE = """
scale_ : float
    s, the unit of the defaults: the power of two nearest to the median length ||x|| of the first 16 rows of weight > 0, those of
    zeros left out (in `fit`, in the order of X). Until 16 have come, `partial_fit` keeps them, and learns them again where the
    next one changes s. If all 16 are zeros, the first one that is not determines it. NaN before that.
{names} : float
    What the model takes for {these}."""

ATTRIBUTES = {}
ATTRIBUTES["classifier"] = """\
classes_ : ndarray of shape (n_classes,)
    The labels, sorted.
coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
    Weights, in the model's dtype; a read-only view where they are stored as such (copy it to keep it).
intercept_ : ndarray of shape (1,) or (n_classes,)
n_features_in_, n_iter_ : int
feature_names_in_ : ndarray of str
    Only if X was a data frame.
t_, n_mistakes_, n_updates_, n_skipped_ : int
    Rows of weight > 0 consumed; those that `predict`, asked just before, would have got wrong; those that changed the model;
    those skipped because the update would overflow the dtype."""

ATTRIBUTES["regressor"] = """\
coef_ : ndarray of shape (n_features,)
    Weights, in the model's dtype; a read-only view where they are stored as such (copy it to keep it).
intercept_ : ndarray of shape (1,)
n_features_in_, n_iter_ : int
feature_names_in_ : ndarray of str
    Only if X was a data frame.
t_, n_updates_, n_skipped_ : int
    Rows of weight > 0 consumed; those that changed the model; those skipped because the update would overflow the
    dtype.
progressive_mse_, progressive_mae_ : float
    Mean squared and mean absolute error of `predict`, asked just before each of the t_ rows was learnt (all rows alike, whatever
    their weight; an error above 1e140 counts as 1e140). NaN before the first."""

ATTRIBUTES["outlier_detector"] = """\
center_ : ndarray of shape (n_features,)
    The centre, in the model's dtype. Computed when it is read.
offset_ : float
    -epsilon: ``decision_function`` is ``score_samples - offset_``.
n_features_in_, n_iter_ : int
feature_names_in_ : ndarray of str
    Only if X was a data frame.
t_, n_mistakes_, n_updates_, n_skipped_ : int
    Rows of weight > 0 consumed; those after the first that `predict`, asked just before, would have called outliers; those that
    changed the model; those skipped because the update would overflow the dtype."""

CYCLES = """
n_updates_bound_ : float
    With `loss_tol`: the most updates that the last `fit` could make, B ||u - w_1||² / rho for weights u of no loss, with B the
    largest ||x||², of a joint learner twice it (PA, section 4). Infinity if no such weights were found, NaN without it."""

COVARIANCES = """
covariance_ : ndarray
    Diagonal: the variances of the weights, the shape of ``coef_``, a read-only view. Full: Σ, a copy of shape
    (n_features, n_features), or (n_classes, n_features, n_features) for three classes or more."""

RAISES = """\
ValueError
    By `fit` and `partial_fit`, before anything is written: a parameter out of its range, NaN or infinity in X, a broken CSR
    matrix, wrong shapes, {targets}negative weights."""
TARGETS = {"classifier": "labels that are no classes, ", "regressor": "targets that are no finite numbers, "}


@dataclass_transform()
def estimator(cls: Any) -> Any:
    """Make a class an estimator: its constructor is that of a dataclass of its parameters, its docstring is filled in, and each
    parameter whose default may be in units of X has a property `name_`, the number that is used.

    The docstring has {shared}, or {parameters}, {attributes} and {raises}, where those that learners share and it does not have
    itself are to stand, and the constructor's defaults by name; the formulas of those in units of X are added.
    """
    what, cls = cls.__doc__, dataclass(eq=False, repr=False)(cls)
    signature = inspect.signature(cls.__init__)
    own = {"self", "covariance", *inspect.get_annotations(cls)}
    ordered = sorted(signature.parameters.values(), key=lambda parameter: (parameter.kind, parameter.name not in own))
    cls.__init__.__signature__ = signature.replace(parameters=ordered)  # (its own parameters first)
    defaults = {parameter.name: parameter.default for parameter in ordered}
    worded, kind = worded_defaults(cls.__name__), cls._estimator_type
    for name in (*worded, "intercept_scaling"):
        if name in defaults and not hasattr(cls, name + "_"):
            doc = f"{name} in use: the parameter, or what the unit of X makes of its default."
            setattr(cls, name + "_", property(partial(cls._in_units, name=name), doc=doc))
    if what is None:  # python -OO
        return cls
    texts = {text.split(" :")[0]: text for text in re.split(r"\n(?=\w)", PARAMETERS)}
    if getattr(cls, "_leans", False):
        texts["probability"] += LEANING
    attributes = ATTRIBUTES[kind] + (COVARIANCES if "covariance" in defaults else "") + (CYCLES if "loss_tol" in defaults else "")
    fitted = [name for name in defaults if name in worded or name == "intercept_scaling"]
    if fitted and hasattr(cls, "scale_"):
        attributes += SCALE.format(names=", ".join(name + "_" for name in fitted), these=", ".join(fitted))
    parts = {
        "shared": "{parameters}\n\nAttributes\n----------\n{attributes}\n\nRaises\n------\n{raises}",
        "parameters": "\n".join(
            text for names, text in texts.items() if names.split(",")[0] in defaults and f"\n    {names} : " not in what
        ),
        "attributes": attributes, "raises": RAISES.replace("{targets}", TARGETS.get(kind, "")),
        **{name: str(value) for name, value in defaults.items()},
    }
    for name, text in parts.items():
        what = what.replace("{" + name + "}", text.replace("\n", "\n    "))
    for name, text in worded.items():
        described = re.search(rf"\n    {name} : .*(\n {{8}}.*)*", what)
        value = str(defaults[name]).replace("auto", '"auto"')
        what = what.replace(described[0], f"{described[0]}\n        {value}, with s = ``scale_``: {text}.") if described else what
    cls.__doc__ = what
    return cls
