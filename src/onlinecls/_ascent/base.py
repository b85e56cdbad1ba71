"""What the dual ascent learners and gradient descent share: the state, and what their parameters are to ascent.pyx."""

from __future__ import annotations

from operator import is_
from typing import TYPE_CHECKING

import numpy as np

from .. import _core
from .._estimators.base import WithWeights
from .._estimators.classifier import OnlineClassifier
from .._estimators.regressor import OnlineRegressor
from .._geometry import simplex
from .._geometry.state import State
from .._input import validate
from .._registry import algorithms_of, select
from . import ascent

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import DTypeLike

    from .._input.types import Params

BOOKS = ascent.BOOKS


class AscentState(State, ascent.AscentModel):
    """The arrays of ascent.pyx: values as there; books, float64, the numbers of the model and of each of its groups."""

    PARTS = (*State.PARTS, "bias", "books", "joint")  # type: ignore[assignment]

    def __init__(self, params: dict, n_features: int, n_classes: int, dtype: DTypeLike) -> None:
        self.geometry = "entropic" if params["entropic"] else "additive"
        self.joint, self.bias, self.variance = bool(params["joint"]), params["bias"], 1.0
        self.n_features, self.n_columns = n_features, n_classes if n_classes > 2 else 1
        slots = 2 if params["entropic"] else 1
        self.values = np.zeros((n_features + 1) * slots * self.n_columns, dtype)
        self.sigma = np.zeros((0, 1, 1), dtype)
        self.drift = np.zeros((n_features + 1) * self.n_columns if params["average_from"] >= 0 else 0)
        self.counts, self.tally = np.zeros(n_classes), np.zeros(_core.TALLY_SIZE)
        self._open_books(np.zeros(BOOKS["shared"]))

    @classmethod
    def class_of(cls, geometry: str) -> type:
        return cls

    @classmethod
    def layout(  # type: ignore[override]
        cls, geometry: str, n_features: int, n_classes: int, dtype: DTypeLike, average: bool, n_groups: int
    ) -> dict:
        """Name: (shape, dtype) of the arrays that an AscentState of these arguments has, without making one."""
        n_weights, double = (n_features + 1) * (n_classes if n_classes > 2 else 1), np.dtype(np.float64)
        return {
            "values": ((n_weights * (2 if geometry == "entropic" else 1),), np.dtype(dtype)),
            "sigma": ((0, 1, 1), np.dtype(dtype)),
            "drift": ((n_weights if average else 0,), double),
            "counts": ((n_classes,), double),
            "tally": ((_core.TALLY_SIZE,), double),
            "books": ((BOOKS["shared"] + n_groups * BOOKS["group"],), double),
        }

    @staticmethod
    def n_shared(told: dict, arrays: dict) -> int:
        return 1 if told["joint"] else told["n_columns"]

    def _problem_of_values(self, tally: dict) -> str:
        if np.abs(self.values).max() > np.finfo(self.dtype).max / 4:
            return "weights beyond their reach"
        shared, groups = self.books[: BOOKS["shared"]], self.groups
        if min(shared[BOOKS["sigma"]], shared[BOOKS["lipschitz"]], groups[:, BOOKS["ages"]].min()) < 0.0:
            return "books below 0"
        if groups[:, BOOKS["ages"]].any() and not len(self.drift):
            return "an age of an average that there is not"
        if shared[BOOKS["lipschitz"]] > ascent.LARGEST_STEP:
            return "a step longer than any that is taken"
        if self.geometry != "entropic":
            return ""
        powers, u = self.view[: self.n_features + (self.bias > 0.0)].transpose(1, 0, 2)
        return simplex.problem(powers, u, groups)

    @property
    def n_groups(self) -> int:
        return 1 if self.joint else self.n_columns

    def _open_books(self, shared: np.ndarray) -> None:
        """Begin the numbers of the groups, from the values."""
        self.books = np.zeros(BOOKS["shared"] + self.n_groups * BOOKS["group"])
        self.books[: len(shared)] = shared
        if self.geometry == "entropic":
            live = self.n_features + (self.bias > 0.0)
            self.begin_simplexes(self.n_columns, live, self.joint)
        else:
            energy = np.square(self.view[:, 0], dtype=np.float64).sum(axis=0)
            self.groups[:, BOOKS["squares"]] = energy.sum() if self.joint else energy

    @property
    def groups(self) -> np.ndarray:
        return self.books[BOOKS["shared"] :].reshape(self.n_groups, -1)

    def of_columns(self, numbers: np.ndarray) -> np.ndarray:
        """A number of each group, for each column."""
        return np.broadcast_to(np.asarray(numbers, dtype=np.float64), self.n_columns).copy()

    def _like(self, counts: np.ndarray) -> AscentState:
        new = type(self).__new__(type(self))
        for name in ("geometry", "joint", "bias", "variance", "n_features"):
            setattr(new, name, getattr(self, name))
        new.counts, new.tally, new.sigma, new.params = counts, self.tally.copy(), self.sigma, self.params
        new.n_columns = len(counts) if len(counts) > 2 else 1
        return new

    def _summed(self) -> np.ndarray:
        """The sum of the weights over the rounds of the average, (features + 1, columns)."""
        ages = self.of_columns(self.groups[:, BOOKS["ages"]])
        return ages * self.view[:, 0] - self.drift.reshape(-1, self.n_columns)

    def with_classes(self, places: np.ndarray, n_classes: int, share: float = 0.5) -> AscentState:
        """This model with its classes at `places` among n_classes. One vector's θ becomes the two -θ/2 and +θ/2."""
        counts = np.zeros(n_classes)
        counts[places] = self.counts
        grown = self._like(counts)
        if grown.n_columns == self.n_columns:
            grown.values, grown.drift, grown.books = self.values.copy(), self.drift.copy(), self.books.copy()
            return grown
        if self.n_columns > 1:
            return self._moved(grown, np.arange(self.n_columns), places)
        spread = np.zeros((1, n_classes))
        spread[0, places] = (-share, share)[: len(places)]
        return self._spread(grown, spread)

    def only(self, keep: np.ndarray) -> AscentState:
        """This model of three classes or more without the others, which have never had a row."""
        rest = self._like(self.counts[keep])
        if rest.n_columns > 1:
            return self._moved(rest, np.flatnonzero(keep), np.arange(rest.n_columns))
        spread = np.zeros((self.n_columns, 1))  # (two classes of three: their one vector)
        spread[keep, 0] = (-1.0, 1.0)
        return self._spread(rest, spread)

    def _moved(self, new: AscentState, old: np.ndarray, places: np.ndarray) -> AscentState:
        """These columns at places of another model, to the bit; the others are what they would be, had they been there."""
        shared = self.books[: BOOKS["shared"]]
        values = np.zeros((self.n_features + 1, self.view.shape[1], new.n_columns), self.dtype)
        new.values, new.drift = values.reshape(-1), self.drift
        if self.joint:
            values[:, :, places] = self.view[:, :, old]
            new._open_books(shared)  # (an entropic model has another simplex)
            if self.geometry != "entropic":
                new.groups[:] = self.groups
        else:
            new._open_books(shared)
            values[:, :, places] = self.view[:, :, old]
            new.groups[places] = self.groups[old]
            if self.geometry != "entropic":
                new.groups[:, BOOKS["ages"]] = self.groups[0, BOOKS["ages"]]
        if len(self.drift):
            drift = np.zeros((self.n_features + 1, new.n_columns))
            rescaled = self.joint and self.geometry == "entropic"  # and the ages begin anew
            drift[:, places] = (-self._summed() if rescaled else self.drift.reshape(-1, self.n_columns))[:, old]
            new.drift = drift.reshape(-1)
        return new

    def _spread(self, new: AscentState, spread: np.ndarray) -> AscentState:
        """θ, and the sums of the average, as combinations in the columns of another model."""
        slots = self.view.shape[1]
        values = np.zeros((self.n_features + 1, slots, new.n_columns), self.dtype)
        values[:, -1] = self.view[:, -1] @ spread.astype(self.dtype)
        new.values = values.reshape(-1)
        new.drift = (-self._summed() @ spread).reshape(-1) if len(self.drift) else self.drift
        new._open_books(self.books[: BOOKS["shared"]])
        return new

    def writable(self) -> AscentState:
        if all(array.flags.writeable for array in (self.values, self.drift, self.counts, self.tally, self.books)):
            return self
        return self.with_classes(np.arange(len(self.counts)), len(self.counts))

    def weights(self, params: dict, features: slice) -> np.ndarray:
        rounds = self.average_rounds(params)
        first = self._summed()[features] / rounds if rounds else self.view[features, 0] * self.scales(self.n_columns)
        weights = first.astype(self.dtype).T
        weights.flags.writeable = False
        return weights


class AscentLearner(WithWeights):
    """Base: a subclass turns its parameters, which the registry's rows have checked, into the kernel's (`_translated`)."""

    _numbered = {
        "loss": ascent.LOSSES, "update": ascent.UPDATES_OF, "schedule": ascent.SCHEDULES, "geometry": _core.GEOMETRIES,
    }
    _state_type: type[Any] = AscentState
    _schedules = ("fixed", "auto")

    if TYPE_CHECKING:

        def _translated(self, values: Params) -> Params:
            """The parameters of ascent.pyx that these stand for."""

    @staticmethod
    def _geometry(params: dict) -> str:
        return "entropic" if params["entropic"] else "additive"

    def _kernel_params(self) -> dict:
        found = self._parameter_values()(self.__dict__)
        remembered = self.__dict__.get("_compiled")
        if remembered is not None and all(map(is_, remembered[0], found)):
            return remembered[1]
        who, values = type(self).__name__, dict(zip(self._parameter_names(), found, strict=True))
        select(who, values, algorithms_of(type(self)))
        validate.read_dtype(who, values["dtype"])
        params = {
            "loss": ascent.LOSSES["hinge"], "update": ascent.UPDATES_OF["DA1"], "entropic": 0, "experts": 0,
            "joint": int(values.get("multi_class") == "crammer_singer"), "open_classes": 0, "balanced": 0,
            "average_from": int(values["average"]) - 1 if values.get("average") else -1,
            "margin": 1.0, "bound": 1.0, "limit": 0.0,
            "bias": float(values["intercept_scaling"]) if values.get("fit_intercept") else 0.0,
            "geometry": _core.GEOMETRIES["additive"], "variance": 1.0, "eta0": 1.0, "delta": 1.0, "l1": 0.0, "norm_bound": 1.0,
            **self._translated(values),
        }
        self._check_parameters(values)
        self._compiled = found, params
        return params

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
        kind = ("entropic", "schedule", "joint", "average_from", "bound", *(("sigma",) if params["entropic"] else ()))
        dtype = validate.read_dtype(type(self).__name__, self.dtype)
        other_simplex = params["entropic"] and (params["bias"] > 0.0) != (self._state.bias > 0.0)
        return (
            other_simplex
            or [params[name] for name in kind] != [self._params[name] for name in kind]
            or not (dtype is None or dtype == self._state.dtype)
        )

    def _join_singly(self, params: dict) -> bool:
        """A class's weights of 0 are in the joint learner's simplex, and its score of 0 in a softmax."""
        averaged = params["entropic"] and params["average_from"] >= 0  # (κ of a class that has not joined is another's)
        return bool(averaged or (params["joint"] and (params["entropic"] or params["loss"] == ascent.LOSSES["log_loss"])))

    def _start(self, params: dict, n_features: int, n_classes: int, dtype: DTypeLike) -> AscentState:
        return self._state_type(params, n_features, n_classes, dtype)

    def _params_for(self, params: dict, state: Any, is_open: bool, balanced: bool) -> dict:
        largest = min(float(np.finfo(state.dtype).max) / 4, 1e100)  # (squares of θ are summed in double)
        return {**params, "open_classes": int(is_open), "balanced": int(balanced), "limit": largest}

    def _read_params(self, state: Any) -> dict:
        return {**self._params, "entropic": int(state.geometry == "entropic")}


class AscentClassifier(AscentLearner, OnlineClassifier):
    """A learner of labels."""


class AscentRegressor(AscentLearner, OnlineRegressor):
    """A learner of numbers."""
