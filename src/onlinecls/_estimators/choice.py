"""The choice of a constructor's parameters: an algorithm, and the numbers that its loops take."""

from __future__ import annotations

from operator import is_
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._input import validate
from .._registry import AUTO, select

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from .._algorithm import Algorithm


class Choice(NamedTuple):
    """An estimator's choice.

    given : the parameters, as the estimator has them. algorithm : a row of the registry. values : the parameters by name, all of
    them checked. params : the record from which the loops fill their struct (_models/params.py).
    """

    given: tuple[Any, ...]
    algorithm: Algorithm
    values: dict[str, Any]
    params: Any


def choose(learner: Any, store: bool = True) -> Choice:
    """Return what an estimator's parameters choose; they are checked again only where one has changed.

    Passes learn with what is stored. Readers store nothing, as another thread may be learning with what is.
    """
    given, found = learner._parameter_values()(learner.__dict__), learner.__dict__.get("_choice")
    if found is None or not all(map(is_, found.given, given)):
        values = dict(zip(learner._parameter_names(), given, strict=True))
        for name in ("fit_intercept", "intercept_scaling"):  # (a subclass may only inherit them)
            if name in learner.__dict__:
                values[name] = learner.__dict__[name]
        algorithm = select(type(learner), values)
        values["dtype"] = None if learner.dtype is None else validate.read_dtype(type(learner).__name__, learner.dtype)
        for name in algorithm.params:  # (a subclass may have fewer parameters than its base)
            values.setdefault(name, getattr(learner, name))
        # Deviations from the mean of the targets are learnt. (Weights on a simplex combine predictions of the target itself.)
        auto = values.get("fit_intercept") and values.get("intercept_scaling") in AUTO
        values["level"] = bool(algorithm.level and auto and values.get("signed", True))
        for name, number in algorithm.defaults.items():
            if values[name] is None:
                values[name] = number
        found = Choice(given, algorithm, values, learner._params_of(algorithm, values))
    if store:
        learner._choice = found
    return found


def check_range(learner: Any, params: Any, dtype: DTypeLike) -> None:
    """Check that parameters fit the model's dtype, which depends on X."""
    who, most = type(learner).__name__, (float(np.finfo(dtype).max) / 4) ** 0.5  # (squares of both, and of 1/s, must fit)
    units = ("scale", params.scale or 1.0, 1.0 / most, most), (
        "intercept_scaling", max(params.constant, 0.0), 0.0, most / max(params.scale, 1.0))
    for name, value, least, largest in (*units, *params.limits(dtype)):
        if not least <= value <= largest:
            bound = f"at least {least:.2g}" if value < least else f"at most {largest:.2g}"
            raise ValueError(f"{who}: {name} must fit {dtype}, {bound}, got {name}={value!r}.")
    if "_state" in learner.__dict__ and learner._state.can_learn_with(params) and not learner._state.stays_in_range(params):
        values = choose(learner, store=False).values
        names = [name for name in ("eta0", "delta", "alpha") if name in values]
        got = " and ".join(f"{name}={values[name]!r}" for name in names) or "others of a member"
        must = " and ".join(names) or "eta0 and delta"
        raise ValueError(f"{who}: {must} must keep the weights within {dtype}, got {got}. Set them back, or call fit.")
