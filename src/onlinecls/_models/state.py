"""The base of all models: arrays and counters, which grow when classes join, are read, merged, saved and checked.

The geometries' own parts are in states.py; the layout of the values in memory is in sparse.pxd and full.pxd.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from copyreg import __newobj__
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from .._compiled import model
from .._input.validate import FLOATS, all_finite, available_memory
from .._saving import require, require_layout
from . import calibration

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

NO_ORDER = np.empty(0, np.int64)
UNDERFLOW = 1e-150  # squares of smaller numbers, and sums of these, are not exact to a rounding
_BLOCK = 1 << 13  # features copied at a time when classes join
_MUCH = 1 << 28  # bytes of a model for which it matters how much memory is free


def n_vectors(n_classes: int) -> int:
    """Return the number of vectors of weights for this number of classes: two classes share one."""
    return n_classes if n_classes > 2 else 1


def read_only(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


def with_places(view: np.ndarray, places: np.ndarray, n_columns: int, fresh: Any) -> np.ndarray:
    """Return an array of n_columns: those of a view, (features, slots, columns), at rising places, and `fresh` in the others.

    Columns that stay neighbours are copied together, a block of features at a time, which stays in the cache for the next
    columns: numpy's ``found[:, :, places] = view`` takes twenty times as long.
    """
    found = np.empty((*view.shape[:2], n_columns), view.dtype)
    runs = np.split(np.arange(len(places)), np.flatnonzero(np.diff(places) > 1) + 1)
    for start in range(0, len(view), _BLOCK):
        old, new = view[start : start + _BLOCK], found[start : start + _BLOCK]
        for run in runs:
            new[:, :, places[run[0]] : places[run[-1]] + 1] = old[:, :, run[0] : run[-1] + 1]
        for column in np.delete(np.arange(n_columns), places):
            new[:, :, column] = fresh
    return found


#: The class of models of each name that a record of parameters may give (`Params.model`).
STATES: dict[str, type[Any]] = {}


class Shard(NamedTuple):
    """A model to merge with others of the same classes, and the factors to the units of the result.

    constant : its constant feature divided by the result's. noise : the noise variance of its rows divided by the result's.
    """

    state: Any
    params: Any
    constant: float = 1.0
    noise: float = 1.0

    @property
    def rounds(self) -> float:
        return float(self.state.counters[model.COUNTERS["t"]])


class Counted:
    """A model's counters and copies, common to all models.

    counts : float64 (n_classes,), rows seen of each class. counters : float64, counters at the places that COUNTERS names.
    params : the parameters of its last pass. classes : the labels, sorted; None without labels. is_open : True if more may
    join. units : the units of X. youth : the first rows, as long as they may change the units. They are part of the model so
    that a reader in another thread sees those of the same model.
    """

    def __init_subclass__(cls) -> None:
        if "geometry" in cls.__dict__:
            STATES[cls.geometry] = cls

    PARTS: tuple[str, ...] = ()  # the parts of a model but LEARNT_WITH
    LEARNT_WITH = ("params", "classes", "is_open", "units", "youth", "sparse_coef")
    KEPT: tuple[str, ...] = ("model", "average_from", "probability")  # parameters that a model cannot change
    geometry = ""  # its name in STATES
    COUNTERS = model.COUNTERS
    IS_LOCAL = False  # True if a row changes only its own columns and the constant one, and all columns start equal
    params: Any
    classes: np.ndarray | None = None
    is_open = False
    units: Any = None
    youth: Any = None
    asked: tuple = ()  # what the parameters of the last pass were computed from
    counts: np.ndarray
    counters: np.ndarray

    def parts(self) -> dict:
        return {name: getattr(self, name) for name in self.PARTS}

    def in_file(self) -> dict:
        """Return the parts for a file: arrays, and values that JSON can hold."""
        return self.compact().parts()

    def compact(self):
        """Return this model without room for vectors of classes that may join."""
        return self

    def joined(self, places: np.ndarray, n_classes: int, params: Any) -> Any:
        """Return this model with its classes at `places` among n_classes, where it can in arrays with room for more."""
        return self.grow_classes(places, n_classes, params)

    def grow_classes(self, places: np.ndarray, n_classes: int, params: Any) -> Any:
        """Return this model with its classes at `places` among n_classes, in arrays of its own."""
        raise NotImplementedError

    def arrays(self) -> list[np.ndarray]:
        return [part for part in self.parts().values() if isinstance(part, np.ndarray)]

    @classmethod
    def of(cls, parts: dict):
        """Return the model of these parts."""
        state = cls.__new__(cls)
        state.__setstate__(parts)
        return state

    def counts_at(self, places: np.ndarray, n_classes: int) -> np.ndarray:
        """Return the counts of a model with this one's classes at `places` among n_classes."""
        counts = np.zeros(n_classes)
        counts[places] = self.counts
        return counts

    def learnt_with(self) -> dict:
        return {name: getattr(self, name) for name in self.LEARNT_WITH}

    def __getstate__(self) -> dict:
        compact = self.compact()
        return {**compact.parts(), **compact.learnt_with()}

    def __setstate__(self, parts: dict) -> None:
        for name, value in parts.items():
            setattr(self, name, value)

    def __reduce__(self):  # (the class without a call of its constructor, and a dict of the parts: what skops reads too)
        return __newobj__, (type(self),), self.__getstate__()

    def sharing(self, **others: Any):
        """Return a model with the same arrays, but for those given by name."""
        return self.of({**self.parts(), **self.learnt_with(), **others})

    def copy(self):
        compact, mine = self.compact(), self.parts()
        arrays = {name: part for name, part in compact.parts().items() if isinstance(part, np.ndarray)}
        shared = {name: part for name, part in arrays.items() if compact is self or part is mine[name]}
        return compact.sharing(**{name: part.copy() for name, part in shared.items()})

    def writable(self):
        """Return this model, or a copy if some of its arrays are read-only (memory-mapped by joblib, say)."""
        return self if all(array.flags.writeable for array in self.arrays()) else self.copy()

    def count(self, name: str) -> int:
        return int(self.counters[self.COUNTERS[name]])

    def count_rows(self, n_rows: int, n_new: int) -> None:
        """Count rows of a single class, from which there is nothing to learn."""
        self.counters[self.COUNTERS["t"]] += n_rows
        self.counters[self.COUNTERS["seen"]] = 1.0
        self.counters[self.COUNTERS["mistakes"]] += n_new
        self.counts[0] += n_rows

    def begin_again(self, n_classes: int, params: Any, columns: np.ndarray) -> Self | None:
        """Return the initial model with these parameters, in the arrays of this one; None if it needs new arrays.

        columns : of the rows learnt so far. Where rows change no other columns, only these are written.
        """
        return None

    def keep_history(self, before: Any) -> None:
        """Take over the counts of this model's rows from before they were learnt again."""
        for name in ("t", "mistakes", "loss", "squared", "absolute"):
            self.counters[self.COUNTERS[name]] = before.counters[self.COUNTERS[name]]

    def can_learn_with(self, params: Any) -> bool:
        """Return True if this model may go on with these parameters."""
        return type(params) is type(self.params) and all(getattr(params, n) == getattr(self.params, n) for n in self.KEPT)

    @classmethod
    def n_bytes(cls, params: Any, n_features: int, n_classes: int, dtype: DTypeLike) -> int:
        """Return the size of the arrays of a new model; 0 if that grows with the rows."""
        return 0

    def stays_in_range(self, params: Any) -> bool:
        """Return True if weights that are read with other parameters still fit the dtype."""
        return True


class OfFile(Counted):
    """A model that can be read from a file, no part of which is trusted.

    A geometry's class defines the numbers that follow from the parameters (`_following`), the shapes of its arrays
    (`_layout_in`), and what else must hold (`_problem_of_values`).
    """

    MAIN = "values"  # the array whose dtype is the model's

    @classmethod
    def of_file(cls, header: dict, arrays: dict[str, np.ndarray], n_classes: int, params: Any):
        """Return the model of these parts, learnt with `params`; raise InvalidError if learning cannot produce one of them."""
        scalars = sorted(set(cls.PARTS) - arrays.keys())
        require(sorted(header) == scalars, f"a state of {scalars}", sorted(header))
        require(type(header["n_features"]) is int and header["n_features"] > 0, "n_features > 0", header["n_features"])
        for name, value in cls._following(header["n_features"], n_classes, params).items():
            require(type(header[name]) is type(value) and header[name] == value, f"{name}={value!r}", header[name])
        require(arrays[cls.MAIN].dtype in FLOATS, f"{cls.MAIN} of float32 or float64", arrays[cls.MAIN].dtype)
        require_layout(arrays, cls._layout_in(header, arrays, n_classes, params))
        state = cls.of({**header, **arrays, "params": params})
        problem = state.problem()
        require(not problem, "numbers that learning can produce", problem)
        return state

    @classmethod
    def _following(cls, n_features: int, n_classes: int, params: Any) -> dict:
        """Return, by name, the parts other than arrays that these parameters determine."""
        raise NotImplementedError

    @classmethod
    def _layout_in(cls, header: dict, arrays: dict, n_classes: int, params: Any) -> dict:
        """Return {name: (shape, dtype)} of the arrays that belong to these numbers."""
        raise NotImplementedError

    def problem(self) -> str:
        """Describe the first fault of the numbers in the arrays; "" if there is none."""
        counters = {name: float(self.counters[at]) for name, at in self.COUNTERS.items()}
        with np.errstate(over="ignore", invalid="ignore"):
            return self._problem_of_numbers() or self._problem_of_counters(counters) or self._problem_of_values(counters)

    def _problem_of_numbers(self) -> str:
        for name, part in self.parts().items():
            if isinstance(part, np.ndarray) and part.dtype.kind == "f" and not all_finite(part):
                return f"{name} with NaN or infinity"
        return ""

    def _problem_of_counters(self, counters: dict) -> str:
        counts = self.counts
        whole = np.append(counts, [counters[name] for name in ("t", "mistakes", "updates", "skipped", "seen")])
        if min(*counters.values(), counts.min()) < 0.0 or (whole != np.floor(whole)).any() or whole.max() > 2.0**53:
            return "counters that are not numbers of rows"
        if max(counts.max(), counters["mistakes"], counters["updates"], counters["skipped"]) > counters["t"]:
            return "counters beyond the number of rounds"
        if counters["seen"] != np.count_nonzero(counts):
            return "a number of classes seen that differs from those with rows"
        return ""

    def _problem_of_values(self, counters: dict) -> str:
        raise NotImplementedError


class State(OfFile, model.Model):
    """Vectors of weights, and a geometry's other numbers of each weight.

    values : flat array, a run of (first slots, second slots) of all columns for each feature, the constant feature last.
    sigma : full covariances, (columns, n_features + 1, n_features + 1), as lower triangles; or empty.
    correction : float64, (n_features + 1) x columns, or empty: the sums that turn the last weights into the average.
    calibration : float64, (columns, 7), or (0, 7): Platt's numbers of each column, see calibration.py.
    """

    PARTS: tuple[str, ...] = (
        "calibration", "counts", "correction", "geometry", "n_columns", "n_features", "sigma", "counters", "values", "variance",
    )
    SCALARS: tuple[str, ...] = ("n_features", "variance")  # unchanged when classes join or leave
    #: Arrays with a part for each vector of weights, by name: (axes of features, factor when a vector is halved; None: ± as θ).
    VECTORS: Mapping[str, tuple[int, float | None]] = {}
    SLOTS = 1  # numbers of a weight
    AVERAGES = True  # True if the average of the weights over rounds has an O(nnz) form
    HAS_ROOM = False  # True if vectors of classes that join take places beside the others
    occupied: list[int] | None = None  # how many places are taken, by all models that share the arrays
    n_features: int
    n_columns: int
    variance: float
    growth: np.ndarray
    caps: np.ndarray

    def __init__(self, n_features: int, n_classes: int, dtype, params: Any):
        self.n_features, self.n_columns, self.variance = n_features, n_vectors(n_classes), params.variance
        self.values, self.sigma = self._fresh(self.n_columns, dtype).reshape(-1), np.zeros((0, 1, 1), dtype)
        for name in self.VECTORS:
            setattr(self, name, self._fresh_part(name, self.n_columns))
        self.correction = np.zeros((n_features + 1) * self.n_columns if params.average_from >= 0 else 0)
        self.calibration = calibration.fresh(self.n_columns if params.probability else 0)
        self.counts, self.counters = np.zeros(n_classes), np.zeros(model.N_COUNTERS)

    def _fresh(self, n_columns: int, dtype) -> np.ndarray:
        """Return the values of new vectors."""
        values = np.zeros((self.n_features + 1, self.SLOTS, n_columns), dtype)
        for slot, number in enumerate(self._fresh_slots()):
            if number:
                values[:, slot] = number
        return values

    def _fresh_slots(self) -> tuple[float, ...]:
        """Return the slots of a weight that starts from nothing."""
        return (0.0,) * self.SLOTS

    def _fresh_part(self, name: str, n_columns: int) -> np.ndarray:
        """Return an array of VECTORS for new vectors."""
        axes = self.VECTORS[name][0] * (self.n_features + 1,)
        return np.zeros((n_columns, *axes), self.dtype if name == "sigma" else np.float64)

    @property
    def awaits_scale(self) -> bool:
        """True until the first non-zero row sets the initial variance."""
        return False

    @property
    def dtype(self):
        return self.values.dtype

    @property
    def view(self) -> np.ndarray:
        """The values as (n_features + 1, slots, columns)."""
        return self._by_class(self._slots)

    @property
    def _slots(self) -> np.ndarray:
        """The values as they lie in memory, (n_features + 1, slots, places)."""
        return self.values.reshape(self.n_features + 1, -1, self.room or self.n_columns)

    def _by_class(self, numbers: np.ndarray) -> np.ndarray:
        """Return numbers of all places, (..., places), as those of the classes: a view if these joined in their order."""
        if self.places is None:
            return numbers
        if (self.places == np.arange(self.n_columns)).all():
            return numbers[..., : self.n_columns]
        return read_only(np.take(numbers, self.places, axis=-1))

    def slot(self, number: int, features: slice = slice(None)) -> np.ndarray:
        """Return a slot of each weight, (features, columns)."""
        return self._by_class(self._slots[features, number])

    @property
    def corrections(self) -> np.ndarray:
        """The correction as (n_features + 1, columns), or (0, columns)."""
        return self._by_class(self.correction.reshape(-1, self.room or self.n_columns))

    def compact(self) -> Self:
        if self.places is None:
            return self
        numbers = {"values": self._slots, "correction": self.correction.reshape(-1, self.room)}
        arrays = {name: np.take(part, self.places, axis=-1).reshape(-1) for name, part in numbers.items()}
        return self.of({**self.parts(), **self.learnt_with(), **arrays})

    def sharing(self, **others: Any) -> Self:
        where = {"places": self.places, "room": self.room, "occupied": self.occupied}
        return super().sharing(**{**where, **others})

    @property
    def primary(self) -> np.ndarray:
        """The slot that steps move along x, (n_features + 1, columns)."""
        return self.slot(0)

    def prepare(self, foresight: int, depth: int) -> None:
        """Set, before a pass, how a full covariance processes many rows at once (see full.pxd)."""

    def begin_again(self, n_classes: int, params: Any, columns: np.ndarray) -> Self | None:
        if not self.IS_LOCAL or n_vectors(n_classes) != self.n_columns or self.places is not None:
            return None
        new = type(self)(0, n_classes, self.dtype, params)
        changed = np.append(columns, self.n_features) if new.variance == self.variance else slice(None)
        self.view[changed] = new.view[0]
        new.n_features, new.values, new.correction = self.n_features, self.values, np.zeros_like(self.correction)
        return new

    def spread(self, before: Self, columns: np.ndarray) -> Self:
        """Scatter a model of few columns, and one that no row has, into the arrays of `before`, which has all columns.

        before : one of the same classes, which has learnt from no other columns.
        """
        mine, before = self.compact(), before.writable()
        slots, here = before._slots, np.arange(self.n_columns) if before.places is None else before.places
        begin, left = mine.view[-2], np.setdiff1d(np.arange(min(len(columns) + 1, before.n_features)), columns)
        fresh = np.repeat(np.array(self._fresh_slots(), self.dtype)[:, None], slots.shape[2], axis=1)
        if len(left) and slots[left[0]][:, here].tobytes() != begin.tobytes():
            unmet = fresh.copy()
            unmet[:, here] = begin
            slots[:-1] = unmet
        changed = np.append(columns, before.n_features)
        slots[changed] = fresh  # (the places of classes that have not joined, too)
        slots[np.ix_(changed, np.arange(self.SLOTS), here)] = np.delete(mine.view, -2, axis=0)
        correction = np.zeros_like(before.correction)
        if len(correction):
            correction.reshape(before.n_features + 1, -1)[np.ix_(changed, here)] = np.delete(mine.corrections, -2, axis=0)
        arrays = {"n_features": before.n_features, "values": before.values, "correction": correction}
        return mine.sharing(**arrays, places=before.places, room=before.room, occupied=before.occupied)

    def keep_history(self, before: Any) -> None:
        super().keep_history(before)
        self.calibration = before.calibration

    def set_scale(self, params: Any) -> None:
        """Set the parameters that depend on the first row, before a row has changed the model."""
        self.params, self.variance = params, params.variance

    # --- growing -------------------------------------------------------------------------------------------------------------

    def _like(self, counts: np.ndarray) -> Self:
        """Return a model of this kind with these classes, still without arrays."""
        new = type(self).__new__(type(self))
        for name in (*self.SCALARS, *self.LEARNT_WITH):
            setattr(new, name, copy(getattr(self, name)) if name in self.SCALARS else getattr(self, name))
        new.counts, new.counters, new.sigma = counts, self.counters.copy(), self.sigma
        new.n_columns = n_vectors(len(counts))
        return new

    def grow_classes(self, places: np.ndarray, n_classes: int, params: Any) -> State:
        """Return this model with its classes at `places` among n_classes; new classes start from zero.

        A single vector w becomes the two -w/2 and +w/2, with half the variance each, so that score differences and their
        variances do not change. params : those with which it will learn.
        """
        if self.places is not None:
            return self.compact().grow_classes(places, n_classes, params)
        grown = self._like(self.counts_at(places, n_classes))
        self._calibrate_in(grown, places)
        if grown.n_columns == self.n_columns:
            self._copy_to(grown)
        elif self.n_columns > 1:
            self._scatter_classes(grown, places)
        else:
            self._split_binary(grown, places, self.share_of_half(params))
        return grown

    def share_of_half(self, params: Any) -> float:
        """Return the factor of θ with which the weights of one vector become half of themselves."""
        return 0.5

    def joined(self, places: np.ndarray, n_classes: int, params: Any) -> Any:
        # The vectors of new classes take the next places of the same arrays, which hold the numbers of new vectors. A thread that
        # still reads the old model sees the steps of the new one in its own weights, and in its counters, which both share. When
        # all places are taken, the arrays are copied into others with up to twice the room.
        k, k_before, room = n_classes, self.n_columns, self.room or self.n_columns
        if not self.HAS_ROOM or k == 2:
            return self.grow_classes(places, n_classes, params)
        joined = self._like(self.counts_at(places, k))
        self._calibrate_in(joined, places)
        joined.places, joined.occupied = np.arange(k), [k]
        joined.room = 1 << (k - 1).bit_length()
        if self.values.nbytes // room * joined.room > max(_MUCH, available_memory()):
            joined.room = k
        if k_before == 1:
            self._split_binary(joined, places, 0.5)
            return joined
        joined.places[places] = np.arange(k_before) if self.places is None else self.places
        joined.places[np.delete(np.arange(k), places)] = np.arange(k_before, k)
        if k <= room and self.occupied == [k_before]:
            self.occupied[:] = [k]
            joined.room, joined.values, joined.correction, joined.occupied = room, self.values, self.correction, self.occupied
            joined.counters = self.counters
            return joined
        joined.values = self._widened(self.values, self._fresh_slots(), joined.room)
        joined.correction = self._widened(self.correction, (0.0,), joined.room) if len(self.correction) else self.correction
        return joined

    def _widened(self, old: np.ndarray, fresh: tuple[float, ...], room: int) -> np.ndarray:
        """Copy numbers of all vectors, len(fresh) for each feature, into an array with room for more vectors."""
        n, size, used = len(fresh) * (self.n_features + 1), old.itemsize, self.n_columns * old.itemsize
        new, begin = np.zeros(n * room, old.dtype), np.repeat(np.array(fresh, old.dtype)[:, None], room, axis=1)
        runs, wide, step = old.view(np.uint8).reshape(n, -1), new.view(np.uint8).reshape(n, room * size), len(fresh) * _BLOCK
        for start in range(0, n, step):  # (Ctrl-C may come in between)
            part = slice(start, start + step)
            model.widen(runs[part].reshape(-1), wide[part].reshape(-1), used, begin.view(np.uint8))
        return new

    def _calibrate_in(self, grown: State, places: np.ndarray) -> None:
        """Set Platt's numbers of a model with this one's classes at places."""
        if grown.n_columns == self.n_columns or len(self.calibration) == 0:
            grown.calibration = self.calibration.copy()
        else:
            grown.calibration = calibration.moved(self.calibration, places, grown.n_columns)

    def _copy_to(self, grown: State) -> None:
        """Copy the arrays to a model with as many vectors."""
        grown.values, grown.correction = self.values.copy(), self.correction.copy()
        for name in self.VECTORS:
            part = getattr(self, name)
            # A full Σ is large, and does not change before the first row: it is shared.
            setattr(grown, name, part if name == "sigma" and part.flags.writeable else part.copy())

    def _scatter_classes(self, grown: State, places: np.ndarray) -> None:
        """Copy this model's vectors to places of a model with more of them."""
        fresh = self._fresh(1, self.dtype)[0, :, 0]  # of each feature
        grown.values, grown.correction = with_places(self.view, places, grown.n_columns, fresh).reshape(-1), self.correction
        if len(self.correction):
            corrections = self.correction.reshape(-1, 1, self.n_columns)
            grown.correction = with_places(corrections, places, grown.n_columns, 0.0).reshape(-1)
        for name in self.VECTORS:
            part = self._fresh_part(name, grown.n_columns)
            part[places] = getattr(self, name)
            setattr(grown, name, part)

    def _split_binary(self, grown: State, places: np.ndarray, share: float) -> None:
        """Split this model's single vector into those of its two classes."""
        n, room, single = self.n_features + 1, grown.room or grown.n_columns, self.view[:, :, 0]
        begin = np.repeat(np.array(self._fresh_slots(), self.dtype)[:, None], room, axis=1)
        others = np.flatnonzero((single != single[n // 2]).any(axis=1))  # (most features are probably alike)
        halves = [self._half(np.append(others, n // 2), sign, share) for sign in (-1, 1)]
        begin[:, places] = np.transpose([half[-1] for half in halves[: len(places)]])
        values, correction = np.zeros((n, *begin.shape), self.dtype), np.zeros((n, room)) if len(self.correction) else None
        if begin.any():  # (untouched memory takes neither time nor room)
            values[:] = begin
        for sign, half, place in zip((-1, 1), halves, places, strict=False):
            values[others, :, place] = half[:-1]
            if correction is not None:
                correction[:, place] = sign * 0.5 * self.correction + 0.0
        grown.values = values.reshape(-1)
        grown.correction = np.empty(0) if correction is None else correction.reshape(-1)
        for name, (_, factor) in self.VECTORS.items():
            part = self._fresh_part(name, grown.n_columns)
            for sign, place in zip((-1, 1), places, strict=False):
                np.multiply(getattr(self, name)[0], sign * share if factor is None else factor, out=part[place, ...])
            setattr(grown, name, part if name == "sigma" else part + 0.0)  # (no -0)

    def _half(self, features: np.ndarray, sign: int, share: float) -> np.ndarray:
        """Return the stored numbers, (features, slots), of the class on one side of the single vector."""
        half = self.view[features, :, 0]
        half[:, 0] = sign * share * half[:, 0] + 0.0  # no -0
        return half

    def keep_classes(self, keep: np.ndarray) -> State:
        """Return this model of three or more classes with these classes only; the others have had no row."""
        rest = self._like(self.counts[keep])
        rest.n_columns = int(keep.sum())
        rest.calibration = self._calibration_of(keep)
        for name in self.VECTORS:
            setattr(rest, name, getattr(self, name)[keep])
        rest.values = np.ascontiguousarray(self.view[:, :, keep]).reshape(-1)
        rest.correction = self.corrections[:, keep].reshape(-1)
        return rest

    def _calibration_of(self, keep: np.ndarray) -> np.ndarray:
        """Return Platt's numbers of these columns only; fresh ones if two columns become one."""
        if len(self.calibration) == 0 or keep.sum() > 2:
            return self.calibration[keep] if len(self.calibration) else self.calibration
        return calibration.fresh(1)

    # --- merging -------------------------------------------------------------------------------------------------------------

    def merge(self, shards: list[Shard]) -> None:
        """Become the merge of the shards' models; this is a copy of one of them. Sums are in double, and rounded once."""
        total = sum(shard.rounds for shard in shards)
        averaged = len(self.correction) > 0
        average = sum(shard.rounds / total * shard.state.mean_weights(shard) for shard in shards) if averaged else None
        self.counts = np.sum([shard.state.counts for shard in shards], axis=0)
        self.counters = np.sum([shard.state.counters for shard in shards], axis=0)
        self.counters[self.COUNTERS["seen"]] = np.count_nonzero(self.counts)
        shares = [shard.rounds / total for shard in shards]
        self.calibration = calibration.merged([shard.state.calibration for shard in shards], shares)
        if not self.awaits_scale:
            self._merge_values(shards, shares)
        self._merge_bounds()
        if average is not None:
            self._keep_average(average)

    def _merge_values(self, shards: list[Shard], shares: list[float]) -> None:
        """Merge the values, some features at a time to save memory. shares : of the rounds."""
        views, n_slots = [shard.state.view for shard in shards], self.n_features + 1
        merged, step = np.empty_like(self.view), max(1, (1 << 20) // self.view[0].size)
        for start in range(0, n_slots, step):
            slabs = [view[start : start + step].astype(np.float64) for view in views]
            found = self._merged(slabs, shards, shares, len(slabs[0]) if start + step >= n_slots else 0)
            # (The smallest numbers may underflow to 0; the caller refuses those that are too large.)
            with np.errstate(over="ignore", under="ignore"):
                merged[start : start + step] = found
        self.values = merged.reshape(-1)

    def _merged(self, slabs: list[np.ndarray], shards: list[Shard], shares: list[float], end: int) -> np.ndarray:
        """Merge the stored numbers of some features, (features, slots, columns), of all shards. end : the number of these
        features if the constant one is the last, else 0."""
        return self._mean(slabs, shares, [shard.constant for shard in shards], end)

    @staticmethod
    def _mean(slabs: list[np.ndarray], shares: list[float], constants: list[float], end: int) -> np.ndarray:
        """Return the weighted sum, with the constant feature's numbers multiplied by `constants`."""
        total = np.zeros_like(slabs[0])
        for slab, share, constant in zip(slabs, shares, constants, strict=True):
            if end:
                slab = slab.copy()
                slab[end - 1] *= constant
            total += share * slab
        return total

    def _merge_bounds(self) -> None:
        """Compute the counters that bound the numbers of the model."""
        first = self.primary
        self.counters[self.COUNTERS["max_abs_weight"]] = max(float(first.max()), -float(first.min()))

    def mean_weights(self, shard: Shard) -> np.ndarray:
        """Return the weights with which a shard predicts, (features + 1, columns), in double and in the units of the result."""
        rounds = self.average_rounds(shard.params)
        found = self._last_weights(shard.params, slice(None)).astype(np.float64)
        if rounds:
            found -= self.corrections / rounds
        found[-1] *= shard.constant
        return found

    def _keep_average(self, average: np.ndarray) -> None:
        """Set the sums of an average over all rounds so far."""
        last = self._last_weights(self.params, slice(None))
        self.correction = (self.average_rounds(self.params) * (last - average)).reshape(-1)

    def is_in_range(self) -> bool:
        """Return True if the merged numbers are those of a model that learning could have made."""
        largest = self._largest / max(self.params.bias, 1.0)
        parts = (self.values, self.sigma, self.correction, self.counters)
        return all(np.isfinite(part).all() for part in parts) and self.counters[self.COUNTERS["max_abs_weight"]] <= largest

    # --- reading -------------------------------------------------------------------------------------------------------------

    def weights_of(self, params: Any, features: slice) -> np.ndarray:
        """Return the weights that predict, (columns, features): a read-only view if they are stored as such."""
        found, rounds = self._last_weights(params, features), self.average_rounds(params)
        if rounds:
            found = (found - self.corrections[features] / rounds).astype(self.dtype)
        return read_only(found.T)

    def _last_weights(self, params: Any, features: slice) -> np.ndarray:
        """Return the weights after the last row, (features, columns)."""
        return self.slot(0, features)

    def average_rounds(self, params: Any) -> float:
        """Return the number of rounds in the average; 0 if there is none."""
        return max(float(self.count("t") - params.average_from), 0.0) if len(self.correction) else 0.0

    # --- files ---------------------------------------------------------------------------------------------------------------

    @classmethod
    def n_bytes(cls, params: Any, n_features: int, n_classes: int, dtype: DTypeLike) -> int:
        layout = cls.layout(n_features, n_classes, dtype, average=params.average_from >= 0)
        return sum(prod(shape) * dtype.itemsize for shape, dtype in layout.values())

    @classmethod
    def layout(cls, n_features: int, n_classes: int, dtype, average: bool, n_groups: int = 1) -> dict:
        """Return {name: (shape, dtype)} of the arrays of a model of these arguments, without making one.

        n_groups : groups of vectors that share numbers (`WithGroups`).
        """
        k, size, double = n_vectors(n_classes), n_features + 1, np.dtype(np.float64)
        return {
            "values": ((k * size * cls.SLOTS,), np.dtype(dtype)),
            "sigma": ((0, 1, 1), np.dtype(dtype)),
            "correction": ((k * size if average else 0,), double),
            "calibration": ((0, calibration.SIZE), double),
            "counts": ((n_classes,), double),
            "counters": ((model.N_COUNTERS,), double),
            **{
                name: ((k, *axes * (size,)), np.dtype(dtype) if name == "sigma" else double)
                for name, (axes, _) in cls.VECTORS.items()
            },
        }

    @staticmethod
    def n_groups_in(header: dict, arrays: dict) -> int:
        """Return the number of groups of vectors of a model in a file."""
        return 1

    @classmethod
    def _layout_in(cls, header: dict, arrays: dict, n_classes: int, params: Any) -> dict:
        average, n_groups = params.average_from >= 0, cls.n_groups_in(header, arrays)
        layout = cls.layout(header["n_features"], n_classes, arrays["values"].dtype, average, n_groups)
        if params.probability:
            layout["calibration"] = (n_vectors(n_classes), calibration.SIZE), np.dtype(np.float64)
        return layout

    @classmethod
    def _following(cls, n_features: int, n_classes: int, params: Any) -> dict:
        return {"geometry": cls.geometry, "n_columns": n_vectors(n_classes), "variance": params.variance}

    def _problem_of_numbers(self) -> str:
        return super()._problem_of_numbers() or calibration.problem(self.calibration)

    def _problem_of_values(self, counters: dict) -> str:
        first = self.primary
        # Rounding at most doubles a step that is not below one rounding: what has moved by `max_abs_weight` is within a few times
        # that. (Where squares are subnormal, the lengths of rows are less exact.)
        reach = max(4.0 * counters["max_abs_weight"], UNDERFLOW)
        if max(float(first.max()), -float(first.min())) > min(reach, self._largest):
            return "weights larger than the steps allow"
        return self._problem_of_second_slots()

    def _problem_of_second_slots(self) -> str:
        """Describe a fault of the second slots; "" if there is none."""
        return ""

    @property
    def _largest(self) -> float:
        """Largest magnitude that a number of a model may have."""
        return float(np.finfo(self.dtype).max) / 4
