"""The base of all learners: scikit-learn's conventions, weights, epochs, and the calls of the kernels.

Data flow one way: an estimator's parameters and input are read and checked here and in the task's own file (classifier.py,
regressor.py), the kernels (`_core`) change the arrays of a `State`, and attributes are views of it.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy, deepcopy
from dataclasses import dataclass
from functools import cache, partial, wraps
from math import nan, prod
from operator import is_, itemgetter
from typing import IO, TYPE_CHECKING, Any, Concatenate, Literal, NamedTuple, ParamSpec, Self, TypeVar

import numpy as np

from .. import _core
from .._compiled import model
from .._compiled.lock import Lock
from .._input import validate
from .._input.compat import data_frame_columns, estimator_tags, not_fitted, random_state
from .._models.state import NO_ORDER, Counted
from .._models.states import STATES
from .._registry import AUTO, NARROW, Units, select
from . import exporting, merging, saving, threads
from .routing import Routing
from .sparse_arrays import most_frequent
from .units import FARTHEST, N_ROWS, Youth, dominant_column, first_row, first_rows, median, non_zeros, units_of_each

if TYPE_CHECKING:
    import os

    from numpy.typing import ArrayLike, DTypeLike, NDArray
    from sklearn.utils import Tags

    from .._input.rows import Rows
    from .._input.types import FloatOrAuto, FloatType, Generator, Matrix, Params, RandomState
    from .._registry import Algorithm

    E = TypeVar("E", bound="Estimator")
    T = TypeVar("T")
    P = ParamSpec("P")


_ROUNDS, UNKNOWN = model.COUNTERS["t"], Units()
_VARIABLE = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
_MUCH = 1 << 26  # bytes; smaller models are not checked against the free memory
_SAME_COLUMNS = "Give rows with the columns of the first call, or start a new model."
NO_PREDICTIONS = np.empty(0, np.int32)
NO_WEIGHTS = np.empty(0)
#: The context of what learns or reads a model: numbers that underflow are the zeros that they should be, whatever the caller asks
#: of numpy.
QUIET = partial(np.errstate, under="ignore")


def quiet(function: Callable[P, T]) -> Callable[P, T]:
    """Decorate a function to run in that context. (numpy 1's own decorator keeps one context for all threads.)"""

    @wraps(function)
    def run(*arguments: P.args, **named: P.kwargs) -> T:
        with QUIET():
            return function(*arguments, **named)

    return run


class Batch(NamedTuple):
    """The rows of a call as the kernels take them: targets are numbers of classes, or real numbers."""

    rows: Rows
    targets: np.ndarray
    weights: np.ndarray = NO_WEIGHTS
    class_weights: np.ndarray = NO_WEIGHTS
    order: np.ndarray = NO_ORDER
    predictions: np.ndarray = NO_PREDICTIONS

    def part(self, start: int, stop: int | None = None) -> Batch:
        stop, cut = self.rows.n_rows if stop is None else stop, slice(start, stop)
        rows, predictions = self.rows.part(start, stop), self.predictions[cut]
        return self._replace(rows=rows, targets=self.targets[cut], weights=self.weights[cut], predictions=predictions)

    def row_weights(self) -> np.ndarray:
        """Return the weights of the rows times those of their classes; empty: all are 1."""
        return validate.row_weights(self.weights, self.class_weights, self.targets)

    def live(self) -> np.ndarray:
        """Return True for each row of weight > 0."""
        weights = self.row_weights()
        return weights > 0.0 if len(weights) else np.ones(self.rows.n_rows, bool)


def exclusive(learn: Callable[Concatenate[E, P], T]) -> Callable[Concatenate[E, P], T]:
    """Decorate a method that learns: one thread at a time runs it, and an error leaves the estimator unchanged.

    Rows that the model has learnt by then stay learnt. (Ctrl-C is not such an error: what was learnt before it stays.)
    """

    @wraps(learn)
    def in_one_thread(self: E, *arguments: P.args, **named: P.kwargs) -> T:
        with self._own_lock(), QUIET(), self._undone_on_error():
            return learn(self, *arguments, **named)

    return in_one_thread


def read_weights_of_fit(who: str, sample_weight: ArrayLike | None, n_rows: int) -> np.ndarray:
    """Read the weights of rows, not all of them 0."""
    weights = validate.read_weights(who, sample_weight, n_rows)
    if len(weights) and not weights.any():
        raise ValueError(
            f"{who}: sample_weight must not be 0 for all rows, got {n_rows} zeros. Leave it out for equal weights."
        )
    return weights


class Estimator(Routing):
    """scikit-learn's parameter protocol: what `clone`, pipelines and searches need, without importing it."""

    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    _lock: Lock
    _poor_score = False  # True if scikit-learn's checks must not expect a good score on their small sets
    _in_place = frozenset({"_state", "_run", "_model"})  # attributes whose objects learning changes

    def __sklearn_tags__(self: Any) -> Tags:
        return estimator_tags(self._estimator_type, self._poor_score)

    def __sklearn_is_fitted__(self) -> bool:
        return not self._in_place.isdisjoint(self.__dict__)

    @classmethod
    @cache
    def _parameter_names(cls) -> list[str]:
        return list(cls._signature())

    @classmethod
    def _signature(cls) -> dict[str, inspect.Parameter]:
        """Return the constructor's parameters, and those of the base class if it takes them as ``**keywords``."""
        found: dict[str, inspect.Parameter] = {}
        for each in (base for base in cls.__mro__ if "__init__" in base.__dict__):
            own = [part for name, part in inspect.signature(each.__dict__["__init__"]).parameters.items() if name != "self"]
            kinds = {part.kind for part in own}
            if inspect.Parameter.VAR_POSITIONAL in kinds:
                star = next(part.name for part in own if part.kind in _VARIABLE)
                raise TypeError(
                    f"{cls.__name__}: __init__ must name its parameters, got *{star}. "
                    "Name them, or take those of the base class as **keywords and pass them on."
                )
            found = {**{part.name: part for part in own if part.kind not in _VARIABLE and part.name not in found}, **found}
            if inspect.Parameter.VAR_KEYWORD not in kinds:
                break
        return found

    @classmethod
    @cache
    def _parameter_values(cls) -> Callable[[dict[str, Any]], tuple[Any, ...]]:
        """Return a function that reads all constructor parameters, as a tuple, off an instance's dictionary."""
        names = cls._parameter_names()
        return itemgetter(*names) if len(names) > 1 else lambda values: tuple(values[name] for name in names)

    def _assign(self, values: dict) -> None:
        """Set a constructor's parameters (its locals) as given: nothing is checked or changed before `fit`."""
        for name, value in values.items():
            if name not in ("self", "__class__"):
                setattr(self, name, value)

    def _nested(self) -> dict[str, Any]:
        """Return the estimators among the parameters, by the prefixes of their parameters' names."""
        return {}

    def _set_nested(self, named: dict[str, Any]) -> None:
        """Replace the estimators of these names, by others or by the same ones with other parameters."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the constructor's parameters by name; deep: with those of nested estimators, as name__parameter."""
        params = {name: getattr(self, name) for name in self._parameter_names()}
        for name, inner in self._nested().items() if deep else ():
            params[name] = inner
            if hasattr(inner, "get_params") and not isinstance(inner, type):
                params.update({f"{name}__{key}": value for key, value in inner.get_params().items()})
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters by the names of `get_params`; the next call that learns checks them. Returns the estimator."""
        valid, before = self._parameter_names(), self.__dict__.copy()
        for name in [name for name in params if name in valid]:
            setattr(self, name, params.pop(name))
        named = self._nested()
        for key in params:
            if key not in named and (key.partition("__")[0] not in named or "__" not in key):
                self.__dict__.update(before)
                raise ValueError(f"Invalid parameter {key!r} for estimator {self}. Valid parameters are: {sorted(valid)!r}.")
        if params:
            named.update({name: params.pop(name) for name in [*named] if name in params})
            self._set_nested(named)
        for key, value in params.items():
            name, _, parameter = key.partition("__")
            named[name].set_params(**{parameter: value})
        return self

    # --- threads -------------------------------------------------------------------------------------------------------------

    def _own_lock(self) -> Lock:
        """Return the lock around the model, which learning calls and copies take; reading takes none."""
        return self.__dict__.get("_lock") or self.__dict__.setdefault("_lock", Lock(type(self).__name__))

    def _sharing(self) -> Self:
        """Return an estimator with the same attributes, which shares the model and its lock."""
        twin = type(self).__new__(type(self))
        twin.__dict__.update(self.__dict__)
        return twin

    def __copy__(self) -> Self:
        with self._own_lock().copying():
            return self._sharing()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        with self._own_lock().copying():
            twin = memo[id(self)] = self._sharing()
            twin.__dict__.pop("_compiled", None)
            twin.__dict__.update(deepcopy(twin.__dict__, memo))
            twin._leave_fit()
            return twin

    def __getstate__(self) -> dict[str, Any]:
        return self._snapshot().__dict__

    def _snapshot(self) -> Self:
        """Return an estimator with the same parameters and its own model, copied between two learning calls."""
        with self._own_lock().copying():
            twin = self._sharing()
            del twin._lock
            twin.__dict__.pop("_compiled", None)  # (the next call computes it)
            for name in self._in_place & twin.__dict__.keys():
                own = twin.__dict__[name]
                twin.__dict__[name] = own.copy() if isinstance(own, Counted) else deepcopy(own)
            twin._leave_fit()
            return twin

    def _leave_fit(self) -> None:
        """Prepare a model copied between two epochs of `fit` for `partial_fit`."""

    @contextmanager
    def _undone_on_error(self) -> Iterator[None]:
        """Restore all attributes on an error, unless their model has learnt rows."""
        before, n_rows = self.__dict__.copy(), self._rows_learnt(self.__dict__)
        try:
            yield
        except Exception:
            if self._rows_learnt(before) == n_rows:
                self._restore(before)
            raise

    def _restore(self, before: dict) -> None:
        """Restore all attributes; readers in other threads find each of them at any time."""
        self.__dict__.update(before)
        for name in self.__dict__.keys() - before.keys():
            del self.__dict__[name]

    @staticmethod
    def _rows_learnt(attributes: dict) -> float | None:
        """Return the number of rows that the model among these attributes has learnt; None without a model."""
        state = attributes.get("_state")
        return None if state is None else state.counters.item(_ROUNDS)

    def _take_features(self, X: Matrix, n_features: int) -> None:
        """Set the model's number of features, and their names if X has any."""
        names, self.n_features_in_ = validate.feature_names(type(self).__name__, X), n_features
        self.__dict__.pop("feature_names_in_", None)
        if names is not None:
            self.feature_names_in_ = names

    def _check_features(self, X: Matrix, n_features: int) -> None:
        who = type(self).__name__
        if n_features != self.n_features_in_:
            problem = f"X has {n_features} features, but {who} is expecting {self.n_features_in_} features as input."
            raise validate.ParameterError(f"{problem} {_SAME_COLUMNS}", "X", _SAME_COLUMNS)
        if isinstance(X, validate.Rows):
            return  # (their maker has checked the columns' names, if any)
        seen = self.__dict__.get("feature_names_in_")
        names = None if isinstance(X, np.ndarray) else validate.feature_names(who, X)
        validate.same_names(who, seen, names)
        if seen is not None and names is not None and isinstance(state := self.__dict__.get("_state"), model.Model):
            columns = data_frame_columns(X)
            state.columns = None if columns is None else (seen, columns)

    def save(
        self, path: str | bytes | os.PathLike[Any] | IO[bytes], metadata: dict[str, Any] | None = None, *, dense: bool = False,
    ) -> None:
        """Write the fitted model to a file, whole or not at all; `onlinecls.load` returns it, bit for bit, ready to learn on.

        The file is written under another name, synced to the disk and renamed: a crash at any moment leaves the old model or the
        new one. (A kill also leaves a ``.onlinecls-*.tmp``, which a later save removes.)

        Parameters
        ----------
        path : str, bytes, os.PathLike or binary file object
            A file there is replaced, keeping its permissions; a link is followed. A name that ends in .gz or .zst is compressed.
            To a file object the bytes are written in order.
        metadata : dict, default=None
            Anything to keep with the model: texts as keys, and values that JSON returns unchanged.
        dense : bool, default=False
            Also write features that were never seen: for ``load(mmap=True)``.

        Raises
        ------
        ValueError
            If the estimator is not fitted, is of a class that extends one of this library, or has a parameter that a file without
            pickle cannot hold (a RandomState, a callable kernel, an estimator of another library). Nothing is written then.
        OSError
            If the file cannot be written. The old file is then unchanged.
        """
        saving.save(self, path, metadata, dense)

    def _n_saved(self) -> int:
        """Return the number of features that a file stores."""
        return self.n_features_in_

    def merge(self, *others: Any) -> Self:
        """Merge other models of this kind, learnt from other rows, into this one. Returns the estimator.

        Second-order learners multiply their posteriors, so that least squares with ``covariance="full"`` gives the same model as
        one pass over all rows; first-order learners take the mean of their weights, weighted by rounds (see `onlinecls.merge`).
        The classes are those of all models; counters add up.

        Parameters
        ----------
        *others : estimators of the same class
            With the same parameters (but those of the epochs of `fit`), features and dtype. They are not changed. One that has
            learnt nothing changes nothing. Learning calls of other threads are waited for.

        Raises
        ------
        ValueError
            If the models cannot be merged. This one is then unchanged.
        """
        with merging.unchanged((self, *others), learner=self), self._undone_on_error():
            return merging.merge_into(self, others)

    def __repr__(self) -> str:
        defaults = self._signature()
        values = self.get_params(deep=False).items()
        changed = (f"{name}={value!r}" for name, value in values if repr(value) != repr(defaults[name].default))
        return f"{type(self).__name__}({', '.join(changed)})"


class OnlineLearner(saving.Describing, Estimator):
    """Base of the online learners of all tasks: parameters, rows, calls of a kernel, epochs, and the fitted attributes.

    A task's own class chooses the kernel (`_task`), scores held-out rows (`_validate`), and reads the targets.
    """

    n_iter_: int
    _estimator_type: str

    # Parameters, where a learner has them.
    fit_intercept: bool
    intercept_scaling: FloatOrAuto
    max_iter: int
    tol: float | None
    shuffle: bool
    random_state: RandomState
    warm_start: bool
    average: bool | int
    early_stopping: bool
    validation_fraction: float
    n_iter_no_change: int
    verbose: int
    dtype: FloatType | None
    n_jobs: int | None = None
    delta: FloatOrAuto  # (of AdaGrad, like the next one)
    l1: float

    # Attributes set by learning, besides those of `Describing`.
    _compiled: tuple[Any, ...]  # the values of the parameters, units, Params in them; then the algorithm and its values
    _sparse_coef: Any

    _foresight, _depth = "likely", 64  # how a full covariance processes many rows at once: see full.pxd
    _kind = "average, of dtype or of the parameter that selects the algorithm"  # what a model cannot change
    _are_seen = False  # True if the rows of a pass were learnt before: probabilities then learn nothing from them
    _kept: tuple[str, ...] = ("geometry", "average_from", "probability")  # compiled parameters fixed for a model
    _width = NARROW + 1  # features of X, for covariance="auto"
    _flat = False  # True if coef_ has shape (n_features,): there is always a single vector

    if TYPE_CHECKING:  # defined by the tasks

        def _read_targets(self, y: Any, n_rows: int) -> np.ndarray:
            """Return the checked labels or numbers of a call."""

        def _split(self, targets: np.ndarray, generator: Generator) -> tuple[np.ndarray, np.ndarray]:
            """Return the numbers of the rows to learn from, and of those to hold out for early stopping."""

        def _task(self, state: Any, class_weights: np.ndarray) -> tuple[str, bool, bool]:
            """Return the kernel's name, True if labels may join, and True if classes are weighted by their counts."""

        def _validate(self, rows: Rows, targets: np.ndarray, weights: np.ndarray | None) -> float:
            """Return the score of the model on held-out rows; higher is better."""

        def _progress(self) -> str:
            """Return the error so far as text, for the line of an epoch under `verbose`."""

    @property
    def _params(self) -> dict:
        """The parameters of the model's last pass."""
        return self._state.params

    @property
    def _units(self) -> Units:
        """The units of X, unknown before its first row."""
        return self._state.units if "_state" in self.__dict__ else UNKNOWN

    # --- parameters ----------------------------------------------------------------------------------------------------------

    def _kernel_params(self, units: Units | None = None) -> dict:
        """Check all parameters and return the Params of the kernels in units of X (by default the model's units).

        They are cached until a parameter changes.
        """
        found, remembered = self._parameter_values()(self.__dict__), self.__dict__.get("_compiled")
        units = self._units if units is None else units
        if remembered is not None and all(map(is_, remembered[0], found)):
            if units == remembered[1]:
                return remembered[2]
            algorithm, values = remembered[3:]
        else:
            algorithm, values = self._checked_parameters()
        params = self._params_from(algorithm, algorithm.in_units(values, units))
        if not units.scale and algorithm.awaits_scale(values):  # without an intercept, rows of zeros move nothing
            params["bias"] = 0.0
            if values.get("initial_variance") in AUTO:
                params["variance"] = 0.0
        self._compiled = found, units, params, algorithm, values
        return params

    def _checked_parameters(self) -> tuple[Algorithm, dict]:
        """Return the algorithm that the parameters choose, and their values, all of them checked."""
        who, values = type(self).__name__, self._parameters()
        algorithm = select(type(self), values)
        validate.read_dtype(who, self.dtype)
        self._check_parameters(values)
        # (A subclass may have fewer parameters than its base.)
        values = {**{name: getattr(self, name) for name in algorithm.params}, **values}
        if values.get("covariance") == "auto":
            values["covariance"] = "full" if self._width <= NARROW else "diagonal"
        return algorithm, values

    def _know_width(self, n_features: int) -> None:
        """Store the width of X, on which covariance="auto" depends."""
        if self._width != n_features:
            self._width = n_features
            if getattr(self, "covariance", None) == "auto":
                self.__dict__.pop("_compiled", None)

    def _parameters(self) -> dict:
        """Return the constructor's parameters by name, and those that a subclass only inherits."""
        kept = ("fit_intercept", "intercept_scaling")
        return {**{name: self.__dict__[name] for name in kept if name in self.__dict__}, **self.get_params()}

    def _with_constant(self, params: dict) -> dict:
        """Use the given intercept_scaling even before the scale is known."""
        values = self._parameters()
        given = params.get("bias") == 0.0 and values.get("fit_intercept") and values["intercept_scaling"] not in AUTO
        return {**params, "bias": float(values["intercept_scaling"])} if given else params

    def _params_from(self, algorithm: Algorithm, values: dict) -> dict:
        """Return the Params of an algorithm, from parameters that are numbers within their ranges."""
        who = type(self).__name__
        if values.get("average") and not STATES[algorithm.geometry_of(values)].AVERAGES:
            raise ValueError(
                f"{who}: average must be False, got average={values['average']!r}: the scale of all weights changes with every "
                "step, so that their average has no accurate O(nnz) form. OnlineToBatch has other ways to one model."
            )
        params = {
            "rule": model.RULES[algorithm.rule], "trigger": model.TRIGGERS[algorithm.trigger],
            "geometry": model.GEOMETRIES[algorithm.geometry_of(values)],
            "open_classes": 0, "balanced": 0, "average_from": int(self.average) - 1 if self.average else -1,
            "probability": int(values.get("probability", False)),
            "margin": algorithm.margin, "slack": 0.0, "epsilon": 0.0,
            "bias": float(values["intercept_scaling"]) if values.get("fit_intercept") else 0.0,
            "eta0": 1.0, "C": 1.0, "r": 1.0, "r2": 1.0, "b": 1.0, "phi": 1.0, "delta": 1.0, "l1": 0.0, "l1_sum": 0.0,
            "forgetting": 0.0, "growth": 1.0, "stored_cap": 0.0, "power": 2.0, "root": 1.0, "squarings": 0, "radius": 1.0,
            "norm_bound": 1.0, "variance": 1.0, "floor": 0.0, "spacing": 0.0, "limit": 0.0, "tiny": 0.0,
            **algorithm.kernel_params(values),
        }
        if self.average and params["l1"] > 0.0:
            raise ValueError(
                f"{type(self).__name__}: average must be False with l1 > 0, got average={self.average!r} and l1={self.l1!r}: the "
                "weights then change on every row, so that their average has no O(nnz) form."
            )
        return params

    def _check_parameters(self, values: dict) -> None:
        """Check what a range in the registry cannot express."""

    def _is_another_kind(self, params: dict) -> bool:
        """Return True if these parameters ask for a model of another kind than the present one."""
        dtype = validate.read_dtype(type(self).__name__, self.dtype)
        return any(params[name] != self._params[name] for name in self._kept) or dtype not in (None, self._state.dtype)

    def _check_range(self, params: dict, dtype: DTypeLike) -> None:
        """Check that parameters fit the model's dtype, which depends on X."""
        who, info = type(self).__name__, np.finfo(dtype)
        largest, least = float(info.max) / 4, float(info.tiny) / float(info.eps)
        if 0.0 < params["variance"] < least:
            raise ValueError(
                f"{who}: initial_variance must fit {dtype}, at least {least:.2g}, got initial_variance={params['variance']!r}."
            )
        for name, value, limit in (
            ("intercept_scaling", params["bias"], largest**0.5),  # its square is in the norms
            ("initial_variance", params["variance"], largest),
        ):
            if value > limit:
                raise ValueError(f"{who}: {name} must fit {dtype}, at most {limit:.2g}, got {name}={value!r}.")
        if "_state" in self.__dict__ and not self._state.stays_in_range(params):
            raise ValueError(
                f"{who}: eta0 and delta must keep the weights within {dtype}, got eta0={params['eta0']!r} and "
                f"delta={self.delta!r}. Set them back, or call fit."
            )

    def _start(self, params: dict, n_features: int, n_classes: int, dtype: DTypeLike) -> Any:
        self._check_memory(params, n_features, n_classes, dtype)
        return self._state_class(params)(n_features, n_classes, dtype, params)

    @staticmethod
    def _state_class(params: dict) -> type[Any]:
        """Return the class of the models that these parameters choose."""
        return STATES[next(name for name, number in model.GEOMETRIES.items() if number == params["geometry"])]

    def _model_bytes(self, params: dict, n_features: int, n_classes: int, dtype: DTypeLike) -> int:
        kind = self._state_class(params)
        layout = kind.layout(n_features, n_classes, dtype, average=params["average_from"] >= 0)
        return sum(prod(shape) * dtype.itemsize for shape, dtype in layout.values())

    def _check_memory(self, params: dict, n_features: int, n_classes: int, dtype: DTypeLike) -> None:
        """Refuse a model that does not fit in memory before any of it is allocated."""
        n_matrices, size, _ = self._state_class(params).layout(n_features, n_classes, dtype, average=False)["sigma"][0]
        if n_matrices == 0:
            needed = self._model_bytes(params, n_features, n_classes, dtype)
            if needed > _MUCH and needed > (available := validate.available_memory()):
                raise validate.ParameterError(
                    f"{type(self).__name__}: the model must fit in memory, got {n_classes} classes x {n_features:,} features, "
                    f"{needed / 1e9:.1f} GB, where {available / 1e9:.1f} GB are free. "
                    f"About {available / needed * n_features:,.0f} features would fit.", "n_features", "features",
                )
            return
        needed, available = n_matrices * size**2 * np.dtype(dtype).itemsize, validate.available_memory()
        if needed > available:
            raise validate.ParameterError(
                f"{type(self).__name__}: covariance='full' must fit in memory, got {n_matrices} x {size} x {size} numbers of "
                f"{np.dtype(dtype)}, {needed / 1e9:.1f} GB, where {available / 1e9:.1f} GB are free. "
                "Use covariance='diagonal', or fewer features.", "covariance", "covariance=",
            )

    # --- learning ------------------------------------------------------------------------------------------------------------

    def partial_fit(self, X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from rows in the given order, in one pass, starting from the present model.

        Any split of a stream into calls gives the same model, to the last bit.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            CSR with sorted columns (int32 or int64) and C-ordered arrays, of the model's dtype, are read in place; others
            are converted. No other thread may change the arrays of a call while it runs: they are checked, then read.
        y : array-like of shape (n_samples,)
            Targets: finite numbers. Not used by a one-class learner.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0 of the rows. A row of weight 0 changes nothing, not even a counter.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If a parameter, X, y or sample_weight is not valid. The model is then unchanged.
        """
        state = self.__dict__.get("_state")
        if state is None or not state.try_partial_fit(self.__dict__, X, y, sample_weight):
            self._partial_fit(X, y, sample_weight)
        return self

    def fit(self, X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from scratch (`warm_start`: from the present model) in up to `max_iter` epochs over all rows.

        Epochs end early when the mean loss has not improved by `tol` in `n_iter_no_change` consecutive epochs; with
        `early_stopping`, when the score on held-out rows (accuracy or R^2) has not.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            No other thread may change the arrays of a call while it runs: they are checked, then read.
        y : array-like of shape (n_samples,)
            A classifier's labels, of at least two classes: integers, booleans, strings, or floats that are integers. A
            regressor's targets: finite numbers. Not used by a one-class learner.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0 of the rows, not all 0.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If a parameter, X, y or sample_weight is not valid. The model is then unchanged.
        """
        return self._fit(X, y, sample_weight)

    @exclusive
    def _partial_fit(self, X: Matrix, y: Any, sample_weight: ArrayLike | None) -> None:
        """Learn one pass over rows whose targets need no classes; everything is read before the first write."""
        params, rows, first = self._read_call(X)
        targets = self._read_targets(y, rows.n_rows)
        weights = validate.read_weights(type(self).__name__, sample_weight, rows.n_rows)
        if first:
            self._begin(X, rows, params, self._start(params, rows.n_features, 1, rows.data.dtype))
        self._learn(params, Batch(rows, targets, weights))
        self._end_call()

    @exclusive
    def _fit(
        self, X: Matrix, y: Any, sample_weight: ArrayLike | None, coef_init: ArrayLike | None = None,
        intercept_init: ArrayLike | None = None,
    ) -> Self:
        """Learn in epochs, from scratch or (`warm_start`) from the present model; everything is read before the first write."""
        who = type(self).__name__
        params, units = self._kernel_params(), self._units
        self._check_call(X, whole=True)
        again = self.warm_start and self._can_go_on(params)
        generator = random_state(who, self.random_state)
        rows = self._read_rows(X, not again)
        validate.require_samples(who, rows, 1)
        self._check_range(self._with_constant(params), rows.data.dtype)
        targets, weights = self._read_targets(y, rows.n_rows), read_weights_of_fit(who, sample_weight, rows.n_rows)
        batch, classes = self._batch_of_fit(Batch(rows, targets, weights), again)
        if not again:
            self._know_width(rows.n_features)
            params, units = self._for_fit(rows, batch.row_weights())
        train, held_out = self._split(batch.targets, generator) if self.early_stopping else (NO_ORDER, NO_ORDER)
        n_classes = 1 if classes is None else len(classes)
        state = self._state if again else self._start(params, rows.n_features, n_classes, rows.data.dtype)
        if coef_init is not None or intercept_init is not None:
            state = self._initialised(who, params, state, coef_init, intercept_init)

        self._begin(X, rows, params, state, units, classes)
        self._epochs(params, batch._replace(order=train), held_out, generator)
        self._warn_of_rows()
        return self

    def _can_go_on(self, params: dict) -> bool:
        """Return True if there is a model of the kind that these parameters choose."""
        return "_state" in self.__dict__ and not self._is_another_kind(params)

    def _check_call(self, X: Matrix, whole: bool) -> None:
        """Check what only some learners require of X in `fit` (whole) or `partial_fit`."""

    def _batch_of_fit(self, batch: Batch, again: bool) -> tuple[Batch, np.ndarray | None]:
        """Return the rows of a `fit` as the kernels take them, and the classes, which a classifier computes here."""
        return batch, None

    def _read_call(self, X: Matrix) -> tuple[Params, Rows, bool]:
        """Return (params, rows, True at the first call) for a `partial_fit`, checked against the present model."""
        who = type(self).__name__
        params = self._kernel_params()
        self._check_call(X, whole=False)
        first = "_state" not in self.__dict__
        changed = first or self._state.params_of[0] is not params
        if changed and not first and self._is_another_kind(params):
            raise ValueError(
                f"{who}: partial_fit must go on with the kind of model it began with, got other values of {self._kind}. "
                "Call fit, or start with clone(estimator)."
            )
        rows = self._read_rows(X, first)
        if first:
            self._know_width(rows.n_features)
            params = self._kernel_params()
        if changed:
            self._check_range(self._with_constant(params), rows.data.dtype)
        return params, rows, first

    def _read_rows(self, X: Matrix, first: bool) -> validate.Rows:
        """Return X as rows, checked against the model's features and dtype; at the first call, X determines both."""
        who = type(self).__name__
        rows = validate.read_rows(who, X, validate.read_dtype(who, self.dtype) if first else self._state.dtype)
        if first:
            validate.require_samples(who, rows, 0)
        else:
            self._check_features(X, rows.n_features)
        return rows

    def _for_fit(self, rows: Rows, weights: np.ndarray) -> tuple[Params, Units]:
        """Return the parameters of a model that `fit` starts, and their units.

        If rows of zeros come first, which change nothing, the units are left for `_learn` to determine.
        """
        epochs, firsts = float(getattr(self, "max_iter", 1)), non_zeros(rows, first_rows(rows, weights))
        each = units_of_each(firsts)
        units = median(each if self._awaits_scale() else each[:1], epochs)
        if firsts.n_rows == N_ROWS:
            self._dominant = dominant_column(firsts)
        if not units.scale and (self.shuffle or self.early_stopping) and (at := first_row(rows, weights)) >= 0:
            units = median(units_of_each(non_zeros(rows, np.array([at]))), epochs)
        return self._kernel_params(units), units

    def _awaits_scale(self) -> bool:
        """Return True if a default of a new model depends on the units of X."""
        return select(type(self), self._parameters()).awaits_scale(self._parameters())

    def _begin(
        self, X: Matrix, rows: Rows, params: dict, state: Any, units: Units | None = None, classes: np.ndarray | None = None,
        is_open: bool = False,
    ) -> None:
        """Set the model, usually an empty one; the estimator is unchanged until here. is_open : classes may join.

        Without units, the first rows determine them if a parameter depends on them.
        """
        self._take_features(X, rows.n_features)
        state.params, state.params_of, state.units = params, (None,), UNKNOWN if units is None else units
        state.youth = Youth.begin(rows) if units is None and self._awaits_scale() else None
        state.classes, state.is_open = classes, is_open
        self.n_iter_ = 1
        self.__dict__.pop("_sparse_coef", None)
        self._state = state  # (last: readers in other threads find a whole model)

    def _learn(self, params: dict, batch: Batch) -> dict:
        """Learn rows with the task's kernel: the one place where a model changes. (Only classes are predicted on the way.)

        Returns the parameters to go on with, whose units the first rows determine.
        """
        if self._state.youth is not None and not len(batch.order):
            batch, params = self._learn_first_rows(params, batch)
        at = -1 if self._units.scale or len(batch.order) else first_row(batch.rows, batch.row_weights())
        if at > 0:
            self._pass(params, batch.part(0, at))
        if at >= 0:
            params, batch = self._set_scale(params, batch.rows, at), batch.part(at)
        self._pass(params, batch)
        return params

    def _learn_first_rows(self, params: dict, batch: Batch) -> tuple[Batch, dict]:
        """Learn while the model is young; return the remaining rows, and the parameters to go on with."""
        numbers = first_rows(batch.rows, batch.row_weights())

        def learn(params: dict, start: int, stop: int) -> None:
            self._pass(params, batch.part(int(numbers[start]), int(numbers[stop - 1]) + 1))

        targets = self._kept_targets(batch.targets[numbers]) if len(batch.targets) else batch.targets
        params, n = self._learn_young(params, batch, numbers, targets, learn)
        return batch.part(int(numbers[n - 1]) + 1 if n else 0), params

    def _kept_targets(self, targets: np.ndarray) -> np.ndarray:
        """Return the targets of rows in a form that does not change when classes join."""
        return targets

    def _learn_young(
        self, params: dict, batch: Batch, numbers: np.ndarray, targets: np.ndarray, learn: Callable[[dict, int, int], None]
    ) -> tuple[dict, int]:
        """Learn the rows of these numbers, of weight > 0, while the model is young.

        Rows are learnt together up to one that changes the units. Returns the parameters to go on with, and the number of rows.

        targets : of these rows. learn : called with parameters, and with the start and end of a range of the numbers.
        """
        params = self._relearn(params)
        if self._state.youth is None:
            return params, 0
        begin = n = self._state.youth.rows.n_rows
        numbers, targets, weights = numbers[: N_ROWS - n], targets[: N_ROWS - n], batch.weights
        weights = weights[numbers] if len(weights) else np.ones(len(numbers))
        youth = self._state.youth.with_rows(batch.rows, numbers, targets, weights)
        while n < youth.rows.n_rows:
            before, epochs = self.t_, self._units.epochs
            stop, have_waited = youth.end_of_units(n, self._units), False
            if not self._units.scale:  # no row has changed the model yet: the constant feature of rows of zeros was unknown
                units = youth.units(epochs, n + 1)
                have_waited = n > 0 and units != self._units
                params = self._set_units(params, units)
            is_due = have_waited or youth.units(epochs, stop) != self._units
            try:
                learn(params, n - begin, stop - begin)
                self._fitted_state()  # (a call of Python: a pending interrupt is raised here, not below)
            finally:  # (an interrupt may come before the last row)
                if self.t_ > before:
                    self._state.youth = youth.first(n + self.t_ - before, is_due)
                    params = self._relearn(params)
            n = stop
        return params, n - begin

    def _relearn(self, params: dict) -> dict:
        """Return the parameters in the units of the first rows.

        If these have changed, the model is learnt again from the first rows, starting with the new ones.
        """
        youth = self._state.youth
        if youth is not None and youth.is_due:
            units = youth.units(self._units.epochs)
            found = self._kernel_params(units)
            if found == params and units != self._units:
                self._state.units = units
            else:
                self._state = self._relearnt(youth, units)
            params, youth = found, youth._replace(is_due=False)
            self._state.youth = youth
        if youth is not None and youth.is_over:
            self._state.youth = None
            self._dominant = dominant_column(youth.rows)
        return params

    def _relearnt(self, youth: Youth, units: Units) -> Any:
        """Return a new model with these units that has learnt the rows, with the counts of the first time."""
        twin = self._sharing()
        for name in ("_state", "_lock", "_sparse_coef"):
            twin.__dict__.pop(name, None)
        twin._learn_again(youth, units, self._state)
        twin._state.keep_history(self._state)
        return twin._state

    def _learn_again(self, youth: Youth, units: Units, before: Any) -> None:
        """Start a model with these units, and learn these rows. before : the model that has learnt them."""
        params, rows = self._kernel_params(units), youth.rows
        self._begin(rows, rows, params, self._start_again(params, rows, 1, before), units)
        self._learn(params, Batch(rows, youth.targets, youth.weights))

    def _start_again(self, params: dict, rows: Rows, n_classes: int, before: Any) -> Any:
        """Return an empty model, if possible in the arrays of one that has learnt these rows."""
        begun = None if before is None else before.writable().begin_again(n_classes, params, rows.indices)
        return self._start(params, rows.n_features, n_classes, rows.data.dtype) if begun is None else begun

    def _set_scale(self, params: dict, rows: Rows, at: int) -> dict:
        """Set the units of X by row `at`, before a row has changed the model; return the parameters in these units."""
        return self._set_units(params, median(units_of_each(non_zeros(rows, np.array([at]))), self._units.epochs))

    def _set_units(self, params: dict, units: Units) -> dict:
        """Set the units of X, before a row has changed the model; return the parameters in these units."""
        before, found = self._kernel_params(), self._kernel_params(units)
        if params is before:
            params = found  # (perhaps equal, but this is the cached object)
        if found != before:
            found = found if params is found else {**params, **{k: value for k, value in found.items() if value != before[k]}}
            self._state = self._state.writable()
            self._state.set_scale(found)
            self._state.params_of = (None,)
            params = found
        self._state.units = units
        return params

    def _pass(self, params: dict, batch: Batch) -> None:
        state = self._state = self._state.writable()
        self.__dict__.pop("_sparse_coef", None)
        if batch.rows.n_rows == 0 or (batch.order is not NO_ORDER and len(batch.order) == 0):
            return
        task, is_open, balanced = self._task(state, batch.class_weights)
        if state.params_of[0] is not params or state.params_of[1:] != (is_open, balanced):
            state.params = self._params_for(params, state, is_open, balanced)
            state.params_of = params, is_open, balanced
        state.are_seen = self._are_seen
        state.prepare(_core.FORESIGHT[self._foresight], self._depth)
        state.learn(model.TASKS[task], *batch)

    def _end_call(self, named: ArrayLike | None = None) -> None:
        """End a `partial_fit` on the general path. named : see `_enable_fast_path`."""
        self._enable_fast_path(named)
        self._warn_of_rows()

    def _warn_of_rows(self) -> None:
        """Warn once if the first rows are too short or too long, or one column has nearly all of their squared length."""
        if "_dominant" not in self.__dict__:
            return
        column, who, scale = self.__dict__.pop("_dominant"), type(self).__name__, self._units.scale
        farthest = FARTHEST[self._state.dtype.itemsize]
        if scale and not 2.0**-farthest < scale < 2.0**farthest:
            warnings.warn(
                f"{who}: rows should have lengths between {2.0**-farthest:.0e} and {2.0**farthest:.0e} for "
                f"{self._state.dtype}, got rows beyond, which are learnt badly or skipped. Divide X by a row's length.",
                stacklevel=4,
            )
        if column is not None:
            names = self.__dict__.get("feature_names_in_")
            shown = column if names is None else repr(str(names[column]))
            warnings.warn(
                f"{who}: columns should be of like size, got column {shown} with more than nine tenths of the squared length of "
                f"each of the first {N_ROWS} rows, which hides the others. Standardise the columns before "
                "(scikit-learn's StandardScaler).", stacklevel=4,
            )

    def _enable_fast_path(self, named: ArrayLike | None = None) -> None:
        """Let the model handle small calls that need no check and no step of this class.

        named : the call's `classes` argument, if it named exactly the present classes; or None.
        """
        state: Any = self.__dict__.get("_state")
        if not hasattr(state, "enable_fast_path"):
            return
        cls = type(self)
        known = self._units.scale and state.youth is None
        ordinary = cls._pass is OnlineLearner._pass and known and cls._read_rows is OnlineLearner._read_rows
        compiled = state.params_of[0] is not None and self._compiled[2] is state.params_of[0]
        classes = state.classes
        n_known = 1 if classes is None else len(classes)
        plain = getattr(self, "class_weight", None) is None
        if not (ordinary and compiled and plain and n_known == len(state.counts) and (classes is None or n_known > 1)):
            state.enable_fast_path(self.__dict__, None, 0)
            return
        task = model.TASKS[self._task(state, NO_WEIGHTS)[0]]
        state.enable_fast_path(self.__dict__, self._parameter_names(), task, classes, named)

    def _params_for(self, params: dict, state: Any, is_open: bool, balanced: bool) -> dict:
        """Add to the parameters the numbers that depend on the model and its labels."""
        info = np.finfo(state.dtype)
        return {
            **params, "open_classes": int(is_open), "balanced": int(balanced),
            # In units of the initial variance, while that fits, so that X times a power of two meets the floor at the same row.
            "floor": max(float(info.tiny) / float(info.eps), state.variance * float(info.tiny) ** 0.5), "tiny": float(info.tiny),
            "variance": state.variance,
            "spacing": float(info.eps),
            # The average's sums hold weights times rounds.
            "limit": min(float(info.max) / 4, np.inf if params["average_from"] < 0 else 1e290),
        }

    def _epochs(self, params: Params, batch: Batch, held_out: np.ndarray, generator: Generator) -> None:
        """Learn the rows of the batch's order, or all of them, in epochs."""
        rows, weights, train = batch.rows, batch.weights, batch.order
        best, idle, n_train = np.inf, 0, len(train) or rows.n_rows
        validation = rows.take(held_out) if len(held_out) else None
        for epoch in range(1, self.max_iter + 1):
            order = train
            if self.shuffle:
                order = generator.permutation(train if len(train) else rows.n_rows).astype(np.int64, copy=False)
            if epoch > 1:  # (between two epochs the model is whole and may be copied)
                self._own_lock().give_way()
            loss_before = self._state.counters[model.COUNTERS["loss"]]
            with learning(self, again=epoch > 1):
                params = self._learn(params, batch._replace(order=order))
            self.n_iter_ = epoch
            loss = (self._state.counters[model.COUNTERS["loss"]] - loss_before) / n_train
            if validation is not None:
                weighted = len(weights) and weights[held_out].any()
                loss = -self._validate(validation, batch.targets[held_out], weights[held_out] if weighted else None)
            if self.verbose:
                shown = f"mean loss={loss:.6f}" if validation is None else f"validation score={-loss:.6f}"
                print(f"-- Epoch {epoch}: t={self.t_} {self._progress()} updates={self.n_updates_} {shown}")
            if self.tol is not None:
                idle = idle + 1 if loss > best - self.tol else 0
                best = min(best, loss)
                if idle >= self.n_iter_no_change:
                    break

    def _initialised(
        self, who: str, params: Params, state: Any, coef_init: ArrayLike | None, intercept_init: ArrayLike | None,
    ) -> Any:
        """Return a state that starts from given weights."""
        state = state.grow_classes(np.arange(len(state.counts)), len(state.counts))
        first = state.view[:, 0]
        before = first.copy()
        shapes = {"coef_init": (state.n_columns, state.n_features), "intercept_init": (state.n_columns,)}
        for name, given in (("coef_init", coef_init), ("intercept_init", intercept_init)):
            if given is None:
                continue
            values, shape = validate.read_numbers(f"{who}: {name}", given), shapes[name]
            if values.shape != shape and not (state.n_columns == 1 and values.shape == shape[1:]):
                wanted = shape[1:] if self._flat and name == "coef_init" else shape
                raise ValueError(f"{who}: {name} must have shape {wanted}, got {values.shape}.")
            values = values.reshape(shape)
            if name == "intercept_init":
                values = values / (params["bias"] or 1.0)
            if not np.isfinite(values).all() or np.abs(values).max(initial=0.0) > np.finfo(state.dtype).max / 4:
                raise ValueError(f"{who}: {name} must be finite and within {state.dtype}, got a value that is not.")
            if name == "coef_init":
                first[:-1] = values.T
            elif self.fit_intercept:
                first[-1] = values
        state.counters[model.COUNTERS["max_abs_weight"]] = np.abs(first).max()
        if len(state.correction):  # the average's sums count this as a step
            rounds = max(state.count("t") - int(self.average) + 1, 0)
            state.correction += rounds * (first.astype(np.float64) - before).reshape(-1)
        return state

    # --- predicting ----------------------------------------------------------------------------------------------------------

    def _fitted_state(self) -> Any:
        if "_state" not in self.__dict__:
            raise not_fitted(type(self).__name__)
        return self._state

    def _state_for(self, rows: validate.Rows) -> Any:
        """Return the model to read rows with; raise if `fit` in another thread has replaced it by one of another shape."""
        state = self._state
        if (rows.n_features, rows.data.dtype) != (state.n_features, state.dtype):
            raise RuntimeError(
                f"{type(self).__name__}: the model must stay of one shape and dtype while rows are read, got another of "
                f"{state.n_features} features of {state.dtype}, fitted in another thread. Read the rows again."
            )
        return state

    def _decide(self, X: Matrix) -> tuple[np.ndarray, Any]:
        """Return the scores of X, (rows, vectors), by the fast path for small calls where that applies, and the model.

        Callers take everything else from the same model: the estimator may have another by then, with other classes.
        """
        state, cls = self._fitted_state(), type(self)
        if cls._read_rows is OnlineLearner._read_rows and cls._scores is OnlineLearner._scores:
            found = state.try_decision(self.__dict__, X)
            if found is not None:
                return found, state
        with QUIET():
            rows = self._read_rows(X, False)
            state = self._state_for(rows)
            return self._scores(rows, state), state

    def _scores(self, rows: validate.Rows, state: Any) -> np.ndarray:
        scores = np.empty((rows.n_rows, state.n_columns))
        threads.read_rows(type(self).__name__, state.decision, rows, scores, self.n_jobs)
        return scores

    def _read_params(self, state: Any) -> dict:
        """Return the Params of the last pass in the form that reads the weights."""
        return state.reading_params(state.params)

    # --- fitted attributes ---------------------------------------------------------------------------------------------------

    @property
    def t_(self) -> int:
        """Rounds: rows of weight > 0 consumed since the model began."""
        return self._fitted_state().count("t")

    def _in_units(self, name: str) -> float:
        """Return the model's number for a parameter whose default is in units of X."""
        self._fitted_state()
        values = self._parameters()
        algorithm = select(type(self), values)
        units = self._units
        found = algorithm.in_units(values, units)[name]
        return float(found) if units.scale or found is values[name] else nan

    @property
    def scale_(self) -> float:
        """Unit of the defaults: the power of two nearest to the median length of the first 16 rows of weight > 0, without rows of
        zeros. NaN before the first."""
        return self._fitted_state().units.scale or nan

    @property
    def n_updates_(self) -> int:
        """Rounds that changed the model."""
        return self._fitted_state().count("updates")

    @property
    def n_skipped_(self) -> int:
        """Rounds skipped because the update would overflow the dtype."""
        return self._fitted_state().count("skipped")


# --- for the command line, evaluation and bounds, besides public attributes ----------------------------------------------------


def state_of(learner: Any) -> Any:
    """Return a fitted learner's model; for an `OnlineToBatch`, that of the wrapped learner."""
    return getattr(learner, "estimator_", learner)._fitted_state()


def without_model(learner: E) -> E:
    """Return an unfitted estimator with the same parameters and attributes but its model's."""
    twin = copy(learner)
    for name in twin._in_place | {"_lock", "_sparse_coef"}:
        twin.__dict__.pop(name, None)
    return twin


def check_parameters(learner: OnlineLearner) -> None:
    """Raise the ValueError that `fit` would raise for a parameter."""
    learner._kernel_params()


def model_bytes(learner: OnlineLearner, n_features: int, n_classes: int, dtype: DTypeLike) -> int:
    """Return the size in bytes of the arrays of a model with this learner's parameters."""
    return learner._model_bytes(learner._kernel_params(), n_features, n_classes, np.dtype(dtype))


@contextmanager
def learning(learner: OnlineLearner, again: bool) -> Iterator[None]:
    """Mark the rows learnt inside the context as learnt before (`again`) or new: probabilities learn from new rows only."""

    def mark(seen: bool) -> None:
        learner._are_seen, state = seen, learner.__dict__.get("_state")
        if isinstance(state, model.Model):  # (small calls read the model alone)
            state.are_seen = seen

    mark(again)
    try:
        yield
    finally:
        mark(False)
        del learner._are_seen


class WithWeights(OnlineLearner):
    """A learner of vectors of weights, one for each score."""

    @property
    @quiet
    def coef_(self) -> NDArray[np.floating]:
        """Weights, one row a class (regressors: 1-D): a read-only view of the model where possible. Copy it to keep it."""
        state = self._fitted_state()
        if "_sparse_coef" in self.__dict__:
            return self._sparse_coef
        coef = state.weights_of(self._read_params(state), slice(0, state.n_features))
        return coef[0] if self._flat else coef

    @property
    @quiet
    def intercept_(self) -> NDArray[np.floating]:
        """Weight of the constant feature times its value, (1,) or (n_classes,)."""
        state = self._fitted_state()
        params = self._read_params(state)
        found = state.weights_of(params, slice(state.n_features, None))[:, 0].astype(np.float64) * params["bias"]
        largest = float(np.finfo(state.dtype).max)
        return np.clip(found, -largest, largest).astype(state.dtype)

    def sparsify(self) -> Self:
        """Make ``coef_`` a scipy CSR matrix, until the next learning or `densify`. Returns the estimator."""
        from scipy.sparse import csr_matrix

        self._sparse_coef = csr_matrix(self.coef_)
        return self

    @exclusive
    def prune(self, threshold: float) -> Self:
        """Forget the features whose weights are all at most threshold in magnitude. Returns the estimator.

        They are then as if never seen, and take no space in a file; the others, the intercept and all counters do not change.
        Learners whose features share numbers (full covariance, averages, p-norms, mirrored weights) cannot be pruned.
        """
        state = self._fitted_state()
        who = type(self).__name__
        if isinstance(threshold, bool) or not isinstance(threshold, (int, float, np.number)) or not 0.0 <= threshold < np.inf:
            raise ValueError(f"{who}: threshold must be a finite number >= 0, got threshold={threshold!r}.")
        parts = {name: part for name, part in state.parts().items() if isinstance(part, np.ndarray) and part.size}
        n_slots = state.n_features + 1
        if not parts.keys() <= {"values", "counts", "counters"} or parts["values"].size % n_slots:
            raise ValueError(
                f"{who}: prune must have a learner whose features have numbers of their own, got one that keeps "
                f"{', '.join(sorted(parts.keys() - {'values', 'counts', 'counters'}))}. Use sparsify for a sparse coef_."
            )
        coef = np.atleast_2d(self.densify().coef_)
        small = (np.abs(coef) <= threshold).all(axis=0)
        fresh = type(state)(1, len(state.counts), state.dtype, self._params).values.reshape(2, -1)[0]
        self._state = state = state.compact().writable()
        records = state.values.reshape(n_slots, -1)[:-1]
        unmet = records[(coef == 0.0).all(axis=0)]  # (when classes joined, these changed as well)
        records[small] = most_frequent(unmet) if len(unmet) else fresh
        return self

    def to_sklearn(self) -> Any:
        """Return this linear model as scikit-learn's `SGDClassifier` or `SGDRegressor`, fitted, with the same predictions.

        Weights and intercept are copied; the state of learning (variances, averages, counters) is not, nor, with a warning, the
        calibration of `predict_proba`.
        """
        self._fitted_state()
        return exporting.to_sklearn(self._snapshot())

    def to_onnx(self, *, sparse: bool = False) -> Any:
        """Return this linear model as an ``onnx.ModelProto`` of float32, for programs without Python.

        Its outputs are ``label``, ``scores`` (a column a class) and, if the model has `predict_proba`, ``probabilities``; for a
        regressor ``prediction``.

        Parameters
        ----------
        sparse : bool, default=False
            False: the input is ``X``, (n_rows, n_features). True: the inputs are the arrays of a CSR matrix, ``data`` (float32),
            ``indices`` and ``indptr`` (int64), and the graph has only the columns with non-zero weights. For texts
            and other rows of many columns.

        Returns
        -------
        model : onnx.ModelProto

        Raises
        ------
        ImportError
            If the package onnx is not installed (extra ``onnx``).
        ValueError
            If the graph would have more than 100 MB, or labels are neither numbers nor texts.
        """
        self._fitted_state()
        return exporting.to_onnx(self._snapshot(), sparse)

    def densify(self) -> Self:
        """Make ``coef_`` an array again. Returns the estimator."""
        self._fitted_state()
        self.__dict__.pop("_sparse_coef", None)
        return self


@dataclass(init=False, eq=False, repr=False, kw_only=True)
class WithVariances(OnlineLearner):
    """A learner that keeps a variance for each weight."""

    covariance: Literal["diagonal", "full", "auto"] = "diagonal"

    @property
    @quiet
    def covariance_(self) -> NDArray[np.floating]:
        """Σ of the weights. Diagonal: the variances, the shape of ``coef_``, a read-only view of the model. Full: a copy, of
        shape (n_features, n_features), or (n_classes, n_features, n_features) for three classes or more."""
        state = self._fitted_state()
        return state.covariance(self._flat)

    @quiet
    def _decide_with_std(self, X: Matrix) -> tuple[np.ndarray, np.ndarray]:
        """Return the scores of X and their standard deviations √(x'Σx), (rows, vectors) each."""
        self._fitted_state()
        rows = self._read_rows(X, False)
        state = self._state_for(rows)
        deviations = np.empty((rows.n_rows, state.n_columns))
        # (A full Σ is multiplied by 64 dense rows at once with BLAS, which has its own threads.)
        n_jobs = None if len(state.sigma) else self.n_jobs
        threads.read_rows(type(self).__name__, state.deviation, rows, deviations, n_jobs)
        return self._scores(rows, state), deviations
