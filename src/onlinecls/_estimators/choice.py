"""The choice of a constructor's parameters: an algorithm, and the numbers that its loops take, in units of X."""

from __future__ import annotations

from operator import is_
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._algorithm import AUTO, NARROW
from .._compiled import model
from .._input import validate
from .._models.state import NO_WEIGHTS, n_vectors
from .._models.states import STATES
from .._registry import select

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike

    from .._algorithm import Algorithm, Units

MUCH = 1 << 26  # bytes; smaller models are not checked against the free memory


class Choice(NamedTuple):
    """An estimator's choice.

    given : the parameters, as the estimator has them. algorithm : a row of the registry. values : the parameters by name, all of
    them checked. units : of X. params : the record from which the loops fill their struct (_models/params.py).
    """

    given: tuple[Any, ...]
    algorithm: Algorithm
    values: dict[str, Any]
    units: Units
    params: Any


def choice_of(learner: Any, units: Units) -> Choice:
    """Return what an estimator's parameters choose, in these units. They are checked again only where one has changed.

    Readers call this: they store nothing, as another thread may learn with what is stored.
    """
    given, found = learner._parameter_values()(learner.__dict__), learner.__dict__.get("_choice")
    if found is None or not all(map(is_, found.given, given)):
        algorithm, values = _checked(learner)
    elif units == found.units:
        return found
    else:
        algorithm, values = found.algorithm, found.values
    return Choice(given, algorithm, values, units, learner._params_of(algorithm, values, units))


def choose(learner: Any, units: Units) -> Choice:
    """Return the same for a call that learns, and store it: passes learn with what is stored."""
    found = learner._choice = choice_of(learner, units)
    return found


def _checked(learner: Any) -> tuple[Algorithm, dict[str, Any]]:
    """Return the algorithm that the parameters choose, and their values, all of them checked."""
    values = learner._parameters()
    algorithm = select(type(learner), values)
    validate.read_dtype(type(learner).__name__, learner.dtype)
    # (A subclass may have fewer parameters than its base.)
    values = {**{name: getattr(learner, name) for name in algorithm.params}, **values}
    if values.get("covariance") == "auto":
        values["covariance"] = "full" if learner._width <= NARROW else "diagonal"
    if values.get("cost") is not None:
        costs = validate.read_cost(type(learner).__name__, values["cost"])
        values["target_margins"] = float(values.get("margin", 1.0)) * np.sqrt(costs)
    return algorithm, values


def check_range(learner: Any, params: Any, dtype: DTypeLike) -> None:
    """Check that parameters fit the model's dtype, which depends on X."""
    who, values = type(learner).__name__, learner._parameters()
    limits = list(params.limits(dtype))
    for name, _, least, largest in limits[:1]:  # (the constant feature's value, if it is given, before the units of X are known)
        given = values.get(name, "auto") if values.get("fit_intercept") else "auto"
        limits += [] if given in AUTO else [(name, float(given), least, largest)]
    for name, value, least, largest in limits:
        if not least <= value <= largest:
            bound = f"at least {least:.2g}" if value < least else f"at most {largest:.2g}"
            raise ValueError(f"{who}: {name} must fit {dtype}, {bound}, got {name}={value!r}.")
    if "_state" in learner.__dict__ and learner._state.can_learn_with(params) and not learner._state.stays_in_range(params):
        names = [name for name in ("eta0", "delta", "alpha") if name in values]
        got = " and ".join(f"{name}={values[name]!r}" for name in names) or "others of a member"
        must = " and ".join(names) or "eta0 and delta"
        raise ValueError(f"{who}: {must} must keep the weights within {dtype}, got {got}. Set them back, or call fit.")


def check_memory(who: str, params: Any, n_features: int, n_classes: int, dtype: DTypeLike) -> None:
    """Refuse a model that does not fit in memory before any of it is allocated."""
    needed = STATES[params.model].n_bytes(params, n_features, n_classes, dtype)
    if needed <= MUCH or needed <= (free := validate.available_memory()):
        return
    size = f"{needed / 1e9:.1f} GB, where {free / 1e9:.1f} GB are free."
    if params.model in ("full_gaussian", "full_potential"):
        matrices = f"{n_vectors(n_classes)} x {n_features + 1} x {n_features + 1} numbers of {np.dtype(dtype)}"
        raise validate.ParameterError(
            f"{who}: covariance='full' must fit in memory, got {matrices}, {size} Use covariance='diagonal', or fewer features.",
            "covariance", "covariance=",
        )
    raise validate.ParameterError(
        f"{who}: the model must fit in memory, got {n_classes} classes x {n_features:,} features, {size} "
        f"About {free / needed * n_features:,.0f} features would fit.", "n_features", "features",
    )


def enable_fast_path(learner: Any, named: ArrayLike | None = None) -> None:
    """Let the model handle small calls that need no check and no step of this class.

    named : the call's `classes` argument, if it named exactly the present classes; or None.
    """
    state: Any = learner.__dict__.get("_state")
    if not learner._has_fast_path or state is None:
        return
    classes, is_known = state.classes, learner._units.scale and state.youth is None and len(state.asked) > 0
    ready = is_known and state.asked[0] is learner._choice.params and getattr(learner, "class_weight", None) is None
    if classes is not None:
        ready = ready and 1 < len(classes) == len(state.counts)
    if not ready:
        state.disable_fast_path()
        return
    same = {name: learner.__dict__.get(name) for name in (*learner._parameter_names(), "feature_names_in_")}
    task = model.TASKS[learner._task(state, NO_WEIGHTS)[0]]
    centre = np.array(learner._units.centre) if learner._units.centre else None
    state.enable_fast_path(same, learner._own_lock(), task, same["feature_names_in_"], classes, named, centre)
