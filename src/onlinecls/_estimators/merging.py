"""Merging models of parts of a stream into one: `merge`.

The geometries' states merge their numbers; this file has which models may be merged, and their classes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from copy import copy, deepcopy
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from .._files import InvalidError, require
from .._input import validate
from .._input.compat import not_fitted
from .._registry import algorithms_of, select

if TYPE_CHECKING:
    from .estimator import Estimator

    Model = TypeVar("Model", bound=Estimator)

# Parameters besides the algorithm's own that change the model. (The others are those of the epochs of `fit`.)
_COMMON = ("scale", "fit_intercept", "intercept_scaling", "average", "probability", "covariance", "multi_class", "class_weight")


def merge(models: Iterable[Model]) -> Model:
    """Merge models that have learnt parts of a stream into one, in the order of the parts.

    Second-order learners with a posterior (AROW, confidence-weighted, least squares) multiply their posteriors and divide by all
    priors but one: Σ^-1 = Σ_0^-1 + sum of (Σ_k^-1 - Σ_0^-1), w = Σ (sum of Σ_k^-1 w_k); those that sum rows (second-order
    Perceptron, NAROW), dual averaging and Hedge add their sums up. First-order learners take the mean of their weights (p-norm,
    entropic and multiplicative ones of θ), weighted by rounds; AdaGrad's sums of squared gradients add up.

    Classes are those of all models, counters add up, and averages are means weighted by rounds. Merging is associative up to
    rounding, but for clipped variances and averaged AROWRegressors. A model that has learnt nothing changes nothing.

    Parameters
    ----------
    models : iterable of estimators of one class
        With the same parameters (but those of the epochs of `fit`), features, dtype, `scale_` and `intercept_scaling_`. Where
        the first rows of the parts differ in length, give all parts numbers for `scale` and `intercept_scaling`.

    Returns
    -------
    merged : estimator
        A new one, with the parameters of the first. The models do not change.

    Raises
    ------
    ValueError
        If the models cannot be merged: kernel learners, `OnlineToBatch`, learners that forget, different kinds or scales.

    Examples
    --------
    >>> from onlinecls import AROWRegressor, merge
    >>> learner = AROWRegressor(r=1.0, covariance="full", scale=1.0, fit_intercept=False)
    >>> from copy import copy
    >>> parts = [([[1.0, 0.0]], [3.0]), ([[1.0, 1.0]], [5.0])]
    >>> merged = merge([copy(learner).partial_fit(X, y) for X, y in parts])
    >>> merged.predict([[1.0, 1.0]]).round(12).tolist()
    [3.6]
    """
    models = list(models)
    if not models:
        raise ValueError("merge: models must be at least one, got none. Give the models of all shards.")
    if not hasattr(models[0], "merge"):
        raise TypeError(f"merge: models must be estimators of this library, got {validate.brief(models[0])}.")
    copied = (deepcopy if hasattr(models[0], "steps") else copy)(models[0])
    return copied.merge(*models[1:])


@contextmanager
def unchanged(models: Iterable[Any], learner: Any = None) -> Iterator[None]:
    """Wait until no other thread learns one of these models, and let none begin. learner : the model that will learn."""
    locks = {model._own_lock() for model in models if hasattr(model, "_own_lock")}
    with ExitStack() as held:
        for lock in sorted(locks, key=id):  # (in the same order in all threads, so that no two wait for each other)
            held.enter_context(lock if learner is not None and lock is learner._own_lock() else lock.waiting())
        with np.errstate(under="ignore"):
            yield


def merge_into(learner: Any, others: tuple[Any, ...]) -> Any:
    """Do the work of `Estimator.merge`."""
    models = (learner, *others)
    for model in models:
        check_kind(learner, model)
    fitted = [model for model in models if "_state" in model.__dict__]
    if not fitted:
        raise not_fitted(type(learner).__name__)
    first, named = fitted[0]._state, [model for model in fitted if "feature_names_in_" in model.__dict__]
    for model in fitted:
        if model._is_another_kind(model._choose()):
            _refuse(learner, "models of the kind that their parameters choose", f"other values of {model._changed()} since they "
                    "were learnt", "Set them back, or call fit")
        for word, name in (("features", "n_features"), ("dtype", "dtype")):
            if (came := getattr(model._state, name)) != getattr(first, name):
                _refuse(learner, f"models of the same {word}", f"{getattr(first, name)} and {came}",
                        "Read all shards with the same options")
    for model in named:
        if not np.array_equal(model.feature_names_in_, named[0].feature_names_in_):
            _refuse(learner, "models of the same feature names in the same order", "others",
                    "Give the columns of all shards in one order")
    learnt = [model for model in fitted if model._state.count("t")] or fitted[:1]
    state = _merged(learnt) if len(learnt) > 1 else learnt[0]._state.copy()
    state.sparse_coef = None
    found = {"_state": state, "n_features_in_": learnt[0].n_features_in_, "n_iter_": max(model.n_iter_ for model in learnt)}
    if named:
        found["feature_names_in_"] = named[0].feature_names_in_
    learner.__dict__.update(found)
    return learner


def _refuse(learner: Any, required: str, came: str, do: str) -> None:
    raise ValueError(f"{type(learner).__name__}: merge must have {required}, got {came}. {do}.")


def check_kind(learner: Any, model: Any) -> None:
    """Raise unless a model is of a class that merges, and has the parameters of another one."""
    refused = [row.unmerged for row in algorithms_of(type(model)) if row.unmerged]
    if refused:
        _refuse(learner, "models that merge", f"a {type(model).__name__}: {refused[0]}", "Learn the parts as one stream")
    if type(model) is not type(learner):
        _refuse(learner, "models of one class", f"a {type(model).__name__}", "Merge those of each class separately")
    if getattr(model, "forgetting", 0.0):
        _refuse(learner, "models that forget nothing", f"forgetting={model.forgetting!r}: of models of several streams, it is "
                "not known which rows came last", "Learn with forgetting=0")
    values, expected = model.get_params(deep=False), learner.get_params(deep=False)
    algorithm = select(type(model), values)
    for name in (*algorithm.selects, *algorithm.params, *_COMMON):
        if name in values and repr(values[name]) != repr(expected[name]) and values[name] != expected[name]:
            _refuse(learner, f"models of the same {name}", f"{name}={expected[name]!r} and {name}={values[name]!r}",
                    "Train all shards with clones of one estimator")


def _merged(models: list[Any]) -> Any:
    """Return the merge of fitted models, of one scale and constant feature where they know them."""
    for name, parameter in (("scale", "scale"), ("constant", "intercept_scaling")):
        found = [getattr(model._state, name) for model in models if model._state.is_told]
        other = next((one for one in found if one != found[0]), None)
        if other is not None:
            _refuse(models[0], f"models of one {parameter}_", f"{found[0]:g} and {other:g}, as their first rows told it",
                    f"Give all parts {parameter}={found[0]:g}")
    base = next((model for model in models if model._state.is_told), models[0])
    classes = base._state.classes
    if classes is not None:
        for model in models:
            others = validate.comparable(type(base).__name__, model.classes_, classes, "classes of the other model")
            classes = validate.union(classes, others)
        base._check_size(base._state.params, base.n_features_in_, len(classes), base._state.dtype)
    is_open = all(model._state.is_open for model in models)
    states = [_with_classes(model, classes, is_open) for model in models]
    state = states[models.index(base)].copy().sharing(params=base._state.params, classes=classes, is_open=is_open)
    try:
        with np.errstate(all="ignore"):
            state.merge(states)
            most = state.largest / max(state.constant, 1.0)  # (of weights whose intercept is within the dtype's range)
            require(state.counters[state.COUNTERS["max_abs_weight"]] <= most, "weights within it", "others")
            state.check()
    except (InvalidError, np.linalg.LinAlgError) as error:
        do = "Divide X by a row's length" if state.dtype == np.float64 else "Learn with dtype=numpy.float64"
        _refuse(models[0], f"models whose merge fits {state.dtype}", f"one that does not ({error})", do)
    return state


def _with_classes(model: Any, classes: np.ndarray | None, is_open: bool) -> Any:
    """Return a model with all classes, and "none of these" if labels may join all models."""
    state = model._state
    if classes is not None and not is_open:
        state = state.closed().sharing(is_open=False)
    if classes is not None and len(classes) != len(model.classes_):
        places = np.searchsorted(classes, model.classes_.astype(classes.dtype))
        state = state.copy().grow_classes(places, len(classes), state.params)
    return state
