"""What the dual ascent learners and gradient descent share: state, parameters, and the way to the kernels of `_ascent`."""

from __future__ import annotations

from operator import is_

import numpy as np

from . import _ascent, _core, _validation
from ._base import WithWeights, _specialised
from ._classifier import OnlineClassifier
from ._registry import COMMON, parameter_error
from ._regressor import OnlineRegressor
from ._state import NO_ORDER, State

BOOKS = _ascent.BOOKS
NO_PREDICTIONS = np.empty(0, np.int32)
_CLASSIFY, _REGRESS, _DECISION = (_specialised(kernel) for kernel in (_ascent.classify, _ascent.regress, _ascent.decision))
_REBUILD = {sizes[0]: kernel for sizes, kernel in _specialised(_ascent.rebuild).items()}


class AscentState(State):
    """The arrays of `_ascent`: values as there; books, float64, the numbers of the model and of each of its groups."""

    __slots__ = ("bias", "books", "joint")

    def __init__(self, params: dict, n_features: int, n_classes: int, dtype):
        self.geometry = "entropic" if params["entropic"] else "additive"
        self.joint, self.bias, self.variance, self.power = bool(params["joint"]), params["bias"], 1.0, 2.0
        self.norms = np.empty((0, 0))
        self.n_features, self.n_columns = n_features, n_classes if n_classes > 2 else 1
        slots = 2 if params["entropic"] else 1
        self.values = np.zeros((n_features + 1) * slots * self.n_columns, dtype)
        self.sigma = np.zeros((0, 1, 1), dtype)
        self.drift = np.zeros((n_features + 1) * self.n_columns if params["average_from"] >= 0 else 0)
        self.counts, self.tally = np.zeros(n_classes), np.zeros(_core.TALLY_SIZE)
        self._open_books(np.zeros(BOOKS["shared"]))

    def __getstate__(self):
        return {name: getattr(self, name) for name in (*State.__slots__, *self.__slots__)}

    @property
    def n_groups(self) -> int:
        return 1 if self.joint else self.n_columns

    def _open_books(self, shared: np.ndarray) -> None:
        """Begin the numbers of the groups, from the values."""
        self.books = np.zeros(BOOKS["shared"] + self.n_groups * BOOKS["group"])
        self.books[: len(shared)] = shared
        if self.geometry == "entropic":
            live = self.n_features + (self.bias > 0.0)
            _REBUILD[self.values.itemsize](self.values, self.n_columns, live, self.joint, self.books)
        else:
            energy = np.square(self.view[:, 0], dtype=np.float64).sum(axis=0)
            self.groups[:, BOOKS["energy"]] = energy.sum() if self.joint else energy

    @property
    def groups(self) -> np.ndarray:
        return self.books[BOOKS["shared"] :].reshape(self.n_groups, -1)

    def of_columns(self, numbers) -> np.ndarray:
        """A number of each group, for each column."""
        return np.broadcast_to(np.asarray(numbers, dtype=np.float64), self.n_columns).copy()

    def _like(self, counts: np.ndarray) -> AscentState:
        new = AscentState.__new__(AscentState)
        for name in ("geometry", "joint", "bias", "variance", "n_features", "power", "norms"):
            setattr(new, name, getattr(self, name))
        new.counts, new.tally, new.sigma = counts, self.tally.copy(), self.sigma
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
        spread = np.zeros((self.n_columns, n_classes))
        if self.n_columns > 1:
            spread[np.arange(self.n_columns), places] = 1.0
        else:
            spread[0, places] = (-share, share)[: len(places)]
        self._carry(grown, spread)
        return grown

    def only(self, keep: np.ndarray) -> AscentState:
        """This model of three classes or more without the others, which have never had a row."""
        rest = self._like(self.counts[keep])
        if rest.n_columns == 1:  # (two classes of three: their one vector)
            spread = np.zeros((self.n_columns, 1))
            spread[keep, 0] = (-1.0, 1.0)
        else:
            spread = np.eye(self.n_columns)[:, keep]
        self._carry(rest, spread)
        return rest

    def _carry(self, new: AscentState, spread: np.ndarray) -> None:
        """θ, and the sums of the average, into the columns of another model."""
        slots = self.view.shape[1]
        values = np.zeros((self.n_features + 1, slots, new.n_columns), self.dtype)
        values[:, -1] = self.view[:, -1] @ spread.astype(self.dtype)
        new.values = values.reshape(-1)
        new.drift = (-self._summed() @ spread).reshape(-1) if len(self.drift) else self.drift
        new._open_books(self.books[: BOOKS["shared"]])

    def writable(self) -> AscentState:
        if all(array.flags.writeable for array in (self.values, self.drift, self.counts, self.tally, self.books)):
            return self
        return self.with_classes(np.arange(len(self.counts)), len(self.counts))

    def scales(self, params: dict) -> np.ndarray:
        """κ of each column: what the stored numbers are to be multiplied by."""
        return self.of_columns(_ascent.scales(params, self.books, self.count("t")))

    def weights(self, params: dict, features: slice) -> np.ndarray:
        rounds = self.average_rounds(params)
        first = self._summed()[features] / rounds if rounds else self.view[features, 0] * self.scales(params)
        weights = first.astype(self.dtype).T
        weights.flags.writeable = False
        return weights


class AscentLearner(WithWeights):
    """Base: a subclass names its own ranges (`_ranges`) and turns its parameters into the kernel's (`_translated`)."""

    def _kernel_params(self) -> dict:
        found = self._parameter_values()(self.__dict__)
        remembered = self.__dict__.get("_compiled")
        if remembered is not None and all(map(is_, remembered[0], found)):
            return remembered[1]
        who, values = type(self).__name__, dict(zip(self._parameter_names(), found, strict=True))
        for name, allowed in {**COMMON, **self._ranges}.items():
            if name in values and values[name] not in allowed:
                raise parameter_error(who, name, allowed, values[name])
        _validation.read_dtype(who, values["dtype"])
        params = {
            "loss": _ascent.LOSSES["hinge"], "update": _ascent.UPDATES_OF["DA1"], "entropic": 0,
            "joint": int(values.get("multi_class") == "crammer_singer"), "open_classes": 0, "balanced": 0,
            "average_from": int(values["average"]) - 1 if values.get("average") else -1,
            "margin": 1.0, "bound": 1.0, "limit": 0.0,
            "bias": float(values["intercept_scaling"]) if values.get("fit_intercept") else 0.0,
            "geometry": _core.GEOMETRIES["additive"], "variance": 1.0, "eta0": 1.0, "delta": 1.0, "l1": 0.0,
            **self._translated(values),
        }  # fmt: skip
        self._check_parameters(values)
        self._compiled = found, params
        return params

    def _is_another_kind(self, params: dict) -> bool:
        kind = ("entropic", "schedule", "joint", "average_from", "bound", *(("sigma",) if params["entropic"] else ()))
        dtype = _validation.read_dtype(type(self).__name__, self.dtype)
        return [params[name] for name in kind] != [self._params[name] for name in kind] or not (
            dtype is None or dtype == self._state.dtype
        )

    def _start(self, params: dict, n_features: int, n_classes: int, dtype) -> AscentState:
        return AscentState(params, n_features, n_classes, dtype)

    def _learn(self, params, rows, targets, weights, class_weights, order=NO_ORDER, predictions=NO_PREDICTIONS) -> None:
        state = self._state = self._state.writable()
        self.__dict__.pop("_sparse_coef", None)
        if rows.n_rows == 0 or (order is not NO_ORDER and len(order) == 0):
            return
        choice = self._choice(class_weights)
        if self._params_of[0] is not params or self._params_of[1] != choice:
            largest = min(float(np.finfo(state.dtype).max) / 4, 1e100)  # (squares of θ are summed in double)
            self._params_of = params, choice
            self._params = {**params, **choice, "limit": largest}
        self._run(rows, order, targets, weights, class_weights, predictions)

    def _scores(self, rows) -> np.ndarray:
        state, params = self._state, self._params
        scores = np.empty((rows.n_rows, state.n_columns))
        ages = state.of_columns(state.groups[:, BOOKS["ages"]])
        rounds = state.average_rounds(params)
        _DECISION[state.values.itemsize, rows.indices.itemsize](
            params, rows.data, rows.indices, rows.indptr, state.values, state.drift, ages, rounds, state.scales(params), scores
        )
        return scores

    def _read_params(self) -> dict:
        return self._params


class AscentClassifier(AscentLearner, OnlineClassifier):
    """A learner of labels."""

    def _choice(self, class_weights) -> dict:
        balanced = _validation.is_balanced(self.class_weight) and len(class_weights) == 0
        return {"open_classes": int(self._open), "balanced": int(balanced)}

    def _run(self, rows, order, targets, weights, class_weights, predictions) -> None:
        state = self._state
        _CLASSIFY[state.values.itemsize, rows.indices.itemsize](
            self._params, rows.data, rows.indices, rows.indptr, order, targets, weights, class_weights, state.values, state.drift,
            state.counts, state.tally, state.books, predictions,
        )  # fmt: skip


class AscentRegressor(AscentLearner, OnlineRegressor):
    """A learner of numbers."""

    def _choice(self, class_weights) -> dict:
        return {}

    def _run(self, rows, order, targets, weights, class_weights, predictions) -> None:
        state = self._state
        _REGRESS[state.values.itemsize, rows.indices.itemsize](
            self._params, rows.data, rows.indices, rows.indptr, order, targets, weights, state.values, state.drift, state.counts,
            state.tally, state.books,
        )  # fmt: skip
