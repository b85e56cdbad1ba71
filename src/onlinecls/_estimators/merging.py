"""Merging models of parts of a stream into one: `merge`.

The geometries' states merge their numbers; this file has which models may be merged, and their classes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from copy import deepcopy
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from .._input import validate
from .._input.compat import not_fitted
from .._models.state import Shard
from .._registry import MERGES, algorithms_of, select
from .choice import choose

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
    rounding, so that models may be merged in pairs; one that has learnt nothing changes nothing. The merged model can learn on.

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
    if hasattr(models[0], "steps"):
        return deepcopy(models[0]).merge(*models[1:])
    with unchanged(models):
        first: Any = models[0]._sharing()
        del first._lock
        return merge_into(first, tuple(models[1:]))


@contextmanager
def unchanged(models: Iterable[Any], learner: Any = None) -> Iterator[None]:
    """Wait until no other thread learns one of these models, and let none begin. learner : the model that will learn."""
    locks = {model._own_lock() for model in models if hasattr(model, "_own_lock")}
    with ExitStack() as held:
        for lock in sorted(locks, key=id):  # (in the same order in all threads, so that no two wait for each other)
            held.enter_context(lock if learner is not None and lock is learner._own_lock() else lock.waiting())
        with np.errstate(under="ignore"):
            yield


def check_merges(model: Any) -> None:
    """Raise the ValueError that merging would raise for an estimator and its parameters."""
    _check_kind(type(model).__name__, model, model)


def check_alike(models: list[Any]) -> None:
    """Raise the ValueError that merging would raise for fitted models' features, dtype, names or type of labels."""
    who, first = type(models[0]).__name__, models[0]
    _check_alike(who, models)
    for model in models if hasattr(first, "classes_") else ():
        validate.comparable(who, model.classes_, first.classes_, "classes of the other model")


def merge_into(learner: Any, others: tuple[Any, ...]) -> Any:
    """Do the work of `Estimator.merge`."""
    who, models = type(learner).__name__, (learner, *others)
    for model in models:
        _check_kind(who, learner, model)
    fitted = [model for model in models if "_state" in model.__dict__]
    if not fitted:
        raise not_fitted(who)
    _check_alike(who, fitted)
    learnt = [model for model in fitted if model._state.count("t")] or fitted[:1]
    found = {
        "_state": _merged(who, learnt) if len(learnt) > 1 else learnt[0]._state.copy(),
        "n_features_in_": learnt[0].n_features_in_, "n_iter_": max(model.n_iter_ for model in learnt),
    }
    named = next((model for model in fitted if "feature_names_in_" in model.__dict__), None)
    if named is not None:
        found["feature_names_in_"] = named.feature_names_in_
    learner.__dict__.update(found)
    learner._state.sparse_coef = None
    return learner


def _check_kind(who: str, learner: Any, model: Any) -> None:
    refused = [row.merge for row in algorithms_of(type(model)) if row.merge not in MERGES]
    if refused:
        raise ValueError(f"{who}: merge must have models that merge, got a {type(model).__name__}: {refused[0]}.")
    if type(model) is not type(learner):
        raise ValueError(
            f"{who}: merge must have models of one class, got a {type(model).__name__}. Merge those of each class separately."
        )
    values, expected = model.get_params(deep=False), learner.get_params(deep=False)
    algorithm = select(type(model), values)
    if getattr(model, "forgetting", 0.0):
        raise ValueError(
            f"{who}: merge must have models that forget nothing, got forgetting={model.forgetting!r}: of models of several "
            "streams, it is not known which rows came last. Learn with forgetting=0."
        )
    for name in (*algorithm.selects, *algorithm.params, *_COMMON):
        if name in values and not _are_same(values[name], expected[name]):
            raise ValueError(
                f"{who}: merge must have models of the same {name}, got {name}={expected[name]!r} and {name}={values[name]!r}. "
                "Train all shards with clones of one estimator."
            )


def _are_same(a: Any, b: Any) -> bool:
    return bool(a is b or (isinstance(a, str) == isinstance(b, str) and (a is None) == (b is None) and np.array_equal(a, b)))


def _check_alike(who: str, models: list[Any]) -> None:
    first, names = models[0], None
    for model in models:
        if model._is_another_kind(choose(model).params):
            raise ValueError(
                f"{who}: merge must have models of the kind that their parameters choose, got other values of "
                f"{model._changed()} since they were learnt. Set them back, or call fit."
            )
        for name, own, expected in (
            ("features", model.n_features_in_, first.n_features_in_), ("dtype", model._state.dtype, first._state.dtype),
        ):
            if own != expected:
                raise ValueError(
                    f"{who}: merge must have models of the same {name}, got {expected} and {own}. "
                    "Read all shards with the same options."
                )
        own_names = model.__dict__.get("feature_names_in_")
        names = own_names if names is None else names
        if own_names is not None and not np.array_equal(own_names, names):
            raise ValueError(
                f"{who}: merge must have models of the same feature names in the same order, got others. "
                "Give the columns of all shards in one order."
            )


def _merged(who: str, models: list[Any]) -> Any:
    _check_scale(who, models)
    base = next((model for model in models if model._state.is_told), models[0])
    classes = base._state.classes
    if classes is not None:
        for model in models:
            others = validate.comparable(who, model.classes_, classes, "classes of the other model")
            classes = validate.union(classes, others)
        base._check_size(base._state.params, base.n_features_in_, len(classes), base._state.dtype)
    is_open = all(model._state.is_open for model in models)
    shards = [_shard(model, base, classes, is_open) for model in models]
    state = next(shard.state for shard, model in zip(shards, models, strict=True) if model is base).copy()
    state.params, state.classes, state.is_open = base._state.params, classes, is_open
    try:
        with np.errstate(all="ignore"):
            state.merge(shards)
            problem = "" if state.is_in_range() else "numbers beyond it"
        problem = problem or state.problem()
    except np.linalg.LinAlgError:
        problem = "a covariance without an inverse"
    if problem:
        do = "Divide X by a row's length." if state.dtype == np.float64 else "Learn with dtype=numpy.float64."
        raise ValueError(f"{who}: merge must have models whose merge fits {state.dtype}, got {problem}. {do}")
    return state


def _shard(model: Any, base: Any, classes: np.ndarray | None, is_open: bool) -> Shard:
    """Return a model with all classes, and "none of these" if labels may join all models."""
    state, params = model._state, model._state.params
    if classes is not None and not is_open:
        state = state.closed().sharing(is_open=False)
    if classes is not None and len(classes) != len(model.classes_):
        places = np.searchsorted(classes, model.classes_.astype(classes.dtype))
        state = state.grow_classes(places, len(classes), params)
    return Shard(state.compact(), params, getattr(params, "r2", 1.0) / (getattr(base._state.params, "r2", 1.0) or 1.0))


def _check_scale(who: str, models: list[Any]) -> None:
    """Raise unless all models that know their scale have the same."""
    for name in ("scale", "constant"):
        found = [getattr(model._state, name) for model in models if model._state.is_told]
        if len(set(found)) > 1:
            parameter = "intercept_scaling" if name == "constant" else "scale"
            raise ValueError(
                f"{who}: merge must have models of one {parameter}_, got {found[0]:g} and "
                f"{next(one for one in found if one != found[0]):g}, as their first rows told it. Give all parts "
                f"{parameter}={found[0]:g}."
            )
