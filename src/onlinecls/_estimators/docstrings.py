"""The parts of a docstring that all classes share, written once."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING

from .._registry import worded_defaults

if TYPE_CHECKING:
    from typing import TypeVar

    from .base import OnlineLearner

    E = TypeVar("E", bound=OnlineLearner)

PARAMETERS = """\
fit_intercept : bool, default=True
    Learn an intercept: the weight of a constant feature, a feature like any other (it is in the norm of x and has a variance).
intercept_scaling : float or "auto", default="auto"
    Value of the constant feature, > 0, in units of the features. "auto": the power of two nearest to the root mean square
    of the non-zeros in the row that tells `scale_`.
max_iter : int, default={max_iter}
    Most epochs of `fit`, >= 1. `partial_fit` is always one pass.
tol : float or None, default=1e-3
    `fit` stops when an epoch's mean loss was above the best one - tol for `n_iter_no_change` epochs. None: never early.
shuffle : bool, default=True
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
    there is no such row (at most `max_iter` cycles; then a ConvergenceWarning), whatever `tol` says. See `n_updates_bound_`."""

LEANING = """
    Without `average`, `fit` warns: the last weights, and thus the scores, lean towards the rows that came last, so the
    probabilities may be off."""

OF_CLASSIFIERS = """
class_weight : dict, "balanced" or None, default=None
    Weights of the classes, {{label: weight >= 0}}; they multiply `sample_weight`. "balanced": n / (n_classes * n_of_class), in
    `partial_fit` from the counts so far.
multi_class : {{"ovr", "crammer_singer"}}, default="{multi_class}"
    For three classes or more: a learner of each class against the rest (all in one pass), or one joint learner on the true class
    against the best wrong one.
n_jobs : None or int, default=None
    Threads that score rows in `predict`, `decision_function` and `predict_proba`, where there are thousands of them. None: one;
    -1: as many as cores, -2: one less. The bits are the same for any number. Learning is one pass for all classes, on one
    thread."""

SCALE = """
scale_ : float
    s, the unit of the defaults: the power of two nearest to ||x|| of the first row of weight > 0 that is not all zeros (in `fit`,
    in the order of X). Rows of zeros before it change nothing but counters. NaN before it. If that row is many times longer
    than most, the defaults are too cautious for them: begin with a typical one.
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

COVARIANCE = """\
covariance : {{"diagonal", "full"}}, default="diagonal"
    "diagonal": a variance for each weight, O(nnz) a row. "full": a matrix Σ for each vector of weights (two classes have one
    vector, more have one each): n_features² numbers of memory each, O(n_features²) a row that updates, many rows at once by
    matrix products. Splits of a stream then agree to 1e-10 (float64) instead of to the bit."""

COVARIANCES = """
covariance_ : ndarray
    Diagonal: the variances of the weights, the shape of ``coef_``, a read-only view. Full: Σ, a copy of shape
    (n_features, n_features), or (n_classes, n_features, n_features) for three classes or more."""

RAISES = """\
ValueError
    By `fit` and `partial_fit`, before anything is written: a parameter out of its range, NaN or infinity in X, a broken CSR
    matrix, wrong shapes, {targets}negative weights."""
TARGETS = {"classifier": "labels that are no classes, ", "regressor": "targets that are no finite numbers, "}


def documented(cls: type[E]) -> type[E]:
    """Fill {parameters}, {attributes}, {raises} and the constructor's defaults into a class's docstring."""
    if cls.__doc__ is None:  # python -OO
        return cls
    defaults = {name: p.default for name, p in inspect.signature(cls.__init__).parameters.items()}
    kind = cls._estimator_type
    texts = {text.split(" :")[0]: text for text in re.split(r"\n(?=\w)", PARAMETERS)}
    if getattr(cls, "_leans", False):
        texts["probability"] += LEANING
    parameters = "\n".join(text for name, text in texts.items() if name in defaults)
    parameters += OF_CLASSIFIERS if "multi_class" in defaults else ""
    if "covariance" in defaults:
        parameters = f"{COVARIANCE}\n{parameters}"
    attributes = ATTRIBUTES[kind] + (COVARIANCES if "covariance" in defaults else "")
    attributes += CYCLES if "loss_tol" in defaults else ""
    worded = worded_defaults(cls.__name__)
    fitted = [name for name in defaults if name in worded or name == "intercept_scaling"]
    if fitted and hasattr(cls, "scale_"):
        attributes += SCALE.format(names=", ".join(name + "_" for name in fitted), these=", ".join(fitted))
    raises = RAISES.format(targets=TARGETS.get(kind, ""))
    parts = {name: str(value) for name, value in defaults.items()} | {f"auto_{name}": text for name, text in worded.items()}
    parts |= {"parameters": parameters.format(**defaults), "attributes": attributes, "raises": raises}
    for name, text in parts.items():
        cls.__doc__ = cls.__doc__.replace("{" + name + "}", text.replace("\n", "\n    "))
    return cls
