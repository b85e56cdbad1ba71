"""The base of dual ascent and gradient descent: their parameters as _compiled/dual_ascent.pyx takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._compiled import dual_ascent as ascent
from .._compiled import model
from .._estimators.base import WithWeights
from .._estimators.classifier import OnlineClassifier
from .._estimators.regressor import OnlineRegressor
from .._estimators.saving import AVERAGE_FROM, FLAG, or_as
from .._models.dual_ascent import AscentState, EntropicState, UnsignedEntropicState
from .._registry import NOT_NEGATIVE, POSITIVE, algorithms_of
from .._saving import require

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from .._input.types import Params
    from .._registry import Algorithm


class AscentLearner(WithWeights):
    """Base: a subclass turns its parameters, which the registry's rows have checked, into the kernel's (`_own_params`)."""

    _fields = {
        "loss": ascent.LOSSES, "update": ascent.UPDATES_OF, "schedule": ascent.SCHEDULES, "geometry": model.GEOMETRIES,
        "entropic": FLAG, "is_signed": FLAG, "joint": FLAG, "open_classes": FLAG, "balanced": FLAG, "average_from": AVERAGE_FROM,
        "probability": FLAG,
        "sigma": POSITIVE, "margin": POSITIVE, "bound": POSITIVE, "bias": NOT_NEGATIVE, "limit": NOT_NEGATIVE,
    }
    _schedules = ("fixed", "auto")
    _kept = ("entropic", "is_signed", "schedule", "joint", "average_from", "probability", "bound")

    if TYPE_CHECKING:

        def _own_params(self, values: Params) -> Params:
            """Return the parameters of dual_ascent.pyx for these values."""

    @staticmethod
    def _state_class(params: dict) -> type[AscentState]:
        if not params["entropic"]:
            return AscentState
        return EntropicState if params["is_signed"] else UnsignedEntropicState

    @classmethod
    def _fields_of(cls, header: dict, compiled: dict) -> dict:
        fields, offered = dict(cls._fields), algorithms_of(cls)
        chosen = {name: {a.selects[name] for a in offered if name in a.selects} for name in ("update", "loss")}
        chosen["schedule"] = set(cls._schedules)
        for name in ("loss", "update", "schedule", "geometry"):
            may = chosen.get(name, ())
            fields[name] = {key: number for key, number in fields[name].items() if key in may or number == compiled[name]}
        if "multi_class" not in cls._parameter_names():
            del fields["joint"]
        if not any("regularizer" in a.selects for a in offered):
            del fields["entropic"]
        if "signed" not in cls._parameter_names():
            del fields["is_signed"]
        for name in ("sigma", "margin", "bound"):
            fields[name] = or_as(compiled[name], fields[name])
        return fields

    @classmethod
    def _read_learnt(cls, header: dict, compiled: dict) -> dict:
        learnt = super()._read_learnt(header, compiled)
        grows, average = learnt["entropic"] and learnt["schedule"] == ascent.SCHEDULES["auto"], learnt["average_from"]
        require(not (grows and average >= 0), "no average of entropic weights under sigma='auto'", average)
        return learnt

    def _params_from(self, algorithm: Algorithm, values: dict) -> dict:
        return {
            "loss": ascent.LOSSES["hinge"], "update": ascent.UPDATES_OF["DA1"], "entropic": 0, "is_signed": 1, "experts": 0,
            "joint": int(values.get("multi_class") == "crammer_singer"), "open_classes": 0, "balanced": 0,
            "average_from": int(values["average"]) - 1 if values.get("average") else -1,
            "probability": int(values.get("probability", False)), "margin": 1.0, "bound": 1.0, "limit": 0.0,
            "bias": float(values["intercept_scaling"]) if values.get("fit_intercept") else 0.0,
            "geometry": model.GEOMETRIES["additive"], "variance": 1.0, "eta0": 1.0, "delta": 1.0, "l1": 0.0, "norm_bound": 1.0,
            **self._own_params(values),
        }

    def _check_range(self, params: dict, dtype: DTypeLike) -> None:
        super()._check_range(params, dtype)
        # Weights are θ/σ or, entropic, at most W: their scales, and the σ made of W by sigma="auto", must be numbers.
        largest = min(float(np.finfo(dtype).max) / 4, 1e100)
        strength = next((name for name in ("alpha", "sigma") if name in self._parameter_names()), None)
        for name, value in (("norm_bound", params["bound"]), (strength, params["sigma"])):
            if name in self._parameter_names() and value < 1e-100 and params["schedule"] != ascent.SCHEDULES["sqrt"]:
                raise ValueError(f"{type(self).__name__}: {name} must be at least 1e-100, got {name}={value!r}.")
        if params["bound"] > largest:
            raise ValueError(
                f"{type(self).__name__}: norm_bound must fit {dtype}, at most {largest:.2g}, got norm_bound={params['bound']!r}."
            )

    def _is_another_kind(self, params: dict) -> bool:
        other_simplex = params["sigma"] != self._params["sigma"] or (params["bias"] > 0.0) != (self._state.bias > 0.0)
        return bool(params["entropic"] and other_simplex) or super()._is_another_kind(params)

    def _join_singly(self, params: dict) -> bool:
        """A class's weights of 0 are in the joint learner's simplex, and its score of 0 in a softmax."""
        averaged = params["entropic"] and params["average_from"] >= 0  # (κ of a class that has not joined is another's)
        return bool(averaged or (params["joint"] and (params["entropic"] or params["loss"] == ascent.LOSSES["log_loss"])))

    def _params_for(self, params: dict, state: AscentState, is_open: bool, balanced: bool) -> dict:
        largest = min(float(np.finfo(state.dtype).max) / 4, 1e100)  # (squares of θ are summed in double)
        limit = largest / max(params["bias"], 1.0)  # (so that the intercept is a number, too)
        return {**params, "open_classes": int(is_open), "balanced": int(balanced), "limit": limit}


class AscentClassifier(AscentLearner, OnlineClassifier):
    """A learner of labels."""


class AscentRegressor(AscentLearner, OnlineRegressor):
    """A learner of numbers."""
