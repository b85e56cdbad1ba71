"""The base of all models: their arrays, declared once, and counters; how these grow with the classes, are read, merged and saved.

A model's class declares each array as an `Array`, and the numbers that it stores of each weight as a `Slot`. Layouts, new arrays,
their copies in a model of other classes, files and the checks of ranges follow from these declarations. The geometries' own parts
are in states.py and in a file of each family; the layout of the values in memory is in sparse.pxd and full.pxd.
"""

from __future__ import annotations

from collections.abc import Mapping
from copyreg import __newobj__
from math import inf
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from .._compiled import model
from .._compiled.model import laid_out as laid_out
from .._compiled.model import n_vectors as n_vectors
from .._files import require, require_layout
from .._input.validate import FLOATS

FLOAT64 = np.dtype(np.float64)
NO_ORDER = np.empty(0, np.int64)
NO_WEIGHTS = np.empty(0)


class Array(NamedTuple):
    """The declaration of an array.

    axes : of each axis its length, or the name of a size of the model; "vectors" is that of vectors of weights.
    dtype : None: the model's own. fresh : the number, or the last axis, of a vector that starts from nothing.
    half : the factor of the numbers of a vector that two classes have shared, for each of them; None: that of θ, and its side.
    least, most : the range of its numbers. A number may be the name of an attribute of the model that has it.
    is_flat : True if it has one axis in memory.
    """

    axes: tuple[int | str, ...]
    dtype: Any = FLOAT64
    fresh: Any = 0.0
    half: float | None = 1.0
    least: float | str = -inf
    most: float | str = inf
    is_flat: bool = False


class Slot(NamedTuple):
    """The declaration of a number that is stored of each weight.

    half, fresh, least, most : as in `Array`. merge : "mean" or "sum" over models; None: it follows from others.
    """

    half: float | None = None
    fresh: float | str = 0.0
    least: float | str = -inf
    most: float | str = inf
    merge: str | None = "mean"


def read_only(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


def moved(old: np.ndarray, fresh: np.ndarray, axis: int, source: list[int]) -> np.ndarray:
    """Copy vectors along an axis of an array, by their numbers (-1: none), to the places of new ones in another; return it."""
    vectors, found = np.moveaxis(old, axis, 0), np.moveaxis(fresh, axis, 0)
    for place, number in enumerate(source):
        if number >= 0:
            found[place] = vectors[number]
    return fresh


#: The class of models of each name that a record of parameters may give (`Params.model`).
STATES: dict[str, type[Any]] = {}


#: The arrays of every model: rows seen of each class, and counters at the places that `model.COUNTERS` names.
COUNTS: Mapping[str, Array] = {"counts": Array(("classes",)), "counters": Array((model.N_COUNTERS,))}


class State(model.Model):
    """Vectors of weights, and a geometry's other numbers of each weight; counters, copies, growth, merging and files.

    values : flat array, a run of (first slots, second slots) of all columns for each feature, the constant feature last.
    sigma : full covariances, (columns, n_features + 1, n_features + 1), as lower triangles; or empty.
    correction : float64, (n_features + 1) x columns, or empty: the sums that turn the last weights into the average.
    calibration : float64, (1, 6), or (0, 6): how scores become probabilities, see calibration.h.
    params : the parameters of its last pass. given : the estimator's then.
    classes : the labels, sorted; None without labels. is_open : True if more may join.

    No part of a file is trusted. A class declares its arrays (`ARRAYS`), and defines what else must hold (`_problem_of_values`).
    """

    def __init_subclass__(cls) -> None:
        if "geometry" in cls.__dict__:
            STATES[cls.geometry] = cls

    geometry = ""  # its name in STATES
    KEPT: tuple[str, ...] = ("model", "average_from", "probability", "level")  # parameters that a model cannot change
    ARRAYS: ClassVar[Mapping[str, Array]] = {
        **COUNTS,
        "values": Array(("features", "slots", "vectors"), None, is_flat=True),
        "sigma": Array((0, 1, 1), None),
        "correction": Array(("averages", "features", "vectors"), half=None, is_flat=True),
        "calibration": Array(("calibrated", 6), fresh=(1.0, 0.0, 0.0, 0.0, 0.0, 0.0), least=-1e300, most=1e300),
    }
    SCALARS: tuple[str, ...] = ("n_features", "n_columns", "variance")  # the other parts but LEARNT_WITH
    LEARNT_WITH: tuple[str, ...] = ("params", "given", "classes", "is_open", "sparse_coef")
    COUNTERS = model.COUNTERS
    SLOTS: tuple[Slot, ...] = (Slot(),)  # the numbers of a weight
    PRIMARY = 0  # the slot that steps move along x
    FIELDS: tuple[str, ...] = ()  # the numbers of a group of vectors (`WithGroups`)
    MOVES_LEVEL = False  # True if merging weighs features by what rows tell of them, else rounds weigh hyperplanes and levels
    HAS_ROOM = False  # True if vectors of classes that join take places beside the others
    TAKES_WEIGHTS = False  # True if weights can be set: see `numbers_of`
    HAS_NONE = False  # True if labels that join are copies of "none of these", where each label learns by itself
    n_features: int
    n_columns: int
    variance: float
    classes: np.ndarray | None = None
    is_open = False
    given: Mapping[str, Any] = {}

    def in_file(self) -> dict:
        """Return the parts for a file: arrays, and values that JSON can hold."""
        return self.compact().parts()

    @classmethod
    def of(cls, parts: dict) -> Self:
        """Return the model of these parts."""
        state = cls.__new__(cls)
        state.__setstate__(parts)
        return state

    def __getstate__(self) -> dict:
        return {**self.compact().parts(), **{name: getattr(self, name) for name in self.LEARNT_WITH}}

    def __setstate__(self, parts: dict) -> None:
        for name, value in parts.items():
            setattr(self, name, value)

    def __reduce__(self):  # (the class without a call of its constructor, and a dict of the parts: what skops reads too)
        return __newobj__, (type(self),), self.__getstate__()

    def sharing(self, **others: Any) -> Self:
        """Return a model with the same arrays, but for those given by name."""
        names = ("places", "room", *self.LEARNT_WITH)
        return self.of({**self.parts(), **{name: getattr(self, name) for name in names}, **others})

    def copy(self) -> Self:
        compact = self.compact()
        return compact.sharing(**{name: part.copy() for name, part in compact.parts().items() if isinstance(part, np.ndarray)})

    @property
    def largest(self) -> float:
        """Largest magnitude that a number of a model may have."""
        return float(np.finfo(self.dtype).max) / 4

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

    @property
    def primary(self) -> np.ndarray:
        """The slot that steps move along x, (n_features + 1, columns)."""
        return self.slot(self.PRIMARY)

    def compact(self) -> Self:
        """Return this model without room for vectors of classes that may join."""
        if self.places is None:
            return self
        numbers = {"values": self._slots, "correction": self.correction.reshape(-1, self.room)}
        arrays = {name: np.take(part, self.places, axis=-1).reshape(-1) for name, part in numbers.items()}
        return self.sharing(places=None, room=0, **arrays)

    # --- the level of the targets --------------------------------------------------------------------------------------------

    def set_level(self, level: float, mass: float) -> None:
        """Set the level of the targets, and the sum of the weights of its rows."""
        for name, number in (("level", level), ("level_rest", 0.0), ("mass", mass)):
            self.counters[self.COUNTERS[name]] = number

    def level_with(self, batch: Any) -> tuple[float, float]:
        """Return the mean of all targets so far and of a batch's, and the sum of their weights."""
        of = batch.order if len(batch.order) else slice(None)
        y, weights = batch.targets[of], batch.weights[of] if len(batch.weights) else np.ones(len(batch.targets[of]))
        weights = np.minimum(weights, 1e290 / max(len(y), 1)) * (np.abs(y) <= 1e150)
        before, level = self.counters[self.COUNTERS["mass"]], self.level
        if not (mass := before + weights.sum()):
            return level, 0.0
        if not before:
            level = float(y[weights > 0.0][0])
        level += float((weights / mass) @ np.where(weights > 0.0, y - level, 0.0))
        if forgetting := getattr(self.params, "forgetting", 0.0):  # (the rows so far weigh less in what follows)
            weights = weights * (1.0 - forgetting) ** np.arange(len(y) - 1.0, -1.0, -1.0)
            mass = before * (1.0 - forgetting) ** len(y) + weights.sum()
        return level, float(min(mass, 1e290))

    @property
    def scale(self) -> float:
        """s of the last row; 0 before the first that tells it."""
        return float(self.counters[self.COUNTERS["scale"]])

    @property
    def is_told(self) -> bool:
        """True once a row, or the parameters alone, have told the scale and the constant feature's value."""
        return self.counters[self.COUNTERS["measured"]] > 0.0

    @property
    def constant(self) -> float:
        """The value of the constant feature in z = x / s."""
        return float(self.counters[self.COUNTERS["bias"]]) / (self.scale or 1.0)

    def hold_scale(self) -> None:
        """Let the scale and the constant feature's value, each 1 if no row has told it, stay: weights of X are to be given."""
        scale, bias, of = self.scale or 1.0, self.constant * (self.scale or 1.0), self.COUNTERS
        bias = bias if bias or self.params.constant == 0.0 else scale
        self.counters[[of["scale"], of["bias"], of["measured"]]] = scale, bias, model.TOLD

    def count_rows(self, n_rows: int) -> None:
        """Count rows of a single class, from which there is nothing to learn. (Before the first, it was not known.)"""
        self.counters[self.COUNTERS["mistakes"]] += n_rows > 0 and self.count("t") == 0
        self.counters[self.COUNTERS["t"]] += n_rows
        self.counters[self.COUNTERS["seen"]] = 1.0
        self.counts[0] += n_rows

    def can_learn_with(self, params: Any) -> bool:
        """Return True if this model may go on with these parameters."""
        alike = type(params) is type(self.params) and all(getattr(params, n) == getattr(self.params, n) for n in self.KEPT)
        return alike and (params.scale in (0.0, self.scale) or not self.scale)

    # --- classes that join or leave ------------------------------------------------------------------------------------------

    @property
    def n_none(self) -> int:
        """1 if the last vector is that of "none of these", the negative of every row, from which labels that join are copied."""
        return self.n_columns - n_vectors(len(self.counts))

    @classmethod
    def joins_singly(cls, params: Any) -> bool:
        """Return True if a label must not join before its first row, which another label's row may be."""
        return bool(params.joins_singly) or (cls.HAS_NONE and not params.joint)

    def grow_classes(self, places: np.ndarray, n_classes: int, params: Any) -> Self:
        """Return this model with its classes at `places` among n_classes; new ones are "none of these", or start from nothing.

        Where the geometry has room (`HAS_ROOM`), new vectors take the next places of the same arrays, which hold the numbers of
        new vectors; when all are taken, the arrays are copied into others with up to twice the room. params : those with which it
        will learn.
        """
        counts = np.zeros(n_classes)
        counts[places] = self.counts
        if n_classes <= 2:
            return self.copy().sharing(counts=counts, sparse_coef=None)
        begins = self.HAS_NONE and self.is_open and not params.joint
        n_none = int(begins) if self.n_columns == 1 else self.n_none
        of, new = (self._halves(params), -1) if self.n_columns == 1 else (self, self.n_columns - 1 if n_none else -1)
        source = np.full(n_classes + n_none, new)
        source[places] = np.arange(len(places))
        return of._with_vectors(counts, source.tolist())

    def keep_classes(self, keep: np.ndarray, n_none: int | None = None) -> Self:
        """Return this model with three or more of its classes only; the others have had no row. n_none : None: as it is."""
        kept = np.append(keep, np.ones(self.n_none if n_none is None else n_none, bool))
        return self._with_vectors(self.counts[keep], np.flatnonzero(kept).tolist())

    def closed(self) -> Any:
        """Return this model as one which no label may join."""
        return self.keep_classes(np.ones(len(self.counts), bool), 0) if self.n_none else self

    def _halves(self, params: Any) -> Self:
        """Return this model of a vector w as one of -w/2 and +w/2, with half the variance each: the difference of the scores, and
        its variance, stay."""
        two = self._with_vectors(self.counts, [0, 0])
        two.calibration = self.calibration * (1.0, 0.0, 1.0, 0.0, 0.0, 1.0)  # (b is of two classes alone)
        share = self.share_of_half(params)
        for place, side in enumerate((-1.0, 1.0)):
            for name, array in self.ARRAYS.items():
                if "vectors" in array.axes and name != "values":
                    part = np.moveaxis(two._in_axes(name), array.axes.index("vectors"), 0)[place, ...]
                    part *= side * share if array.half is None else array.half
                    part += 0.0  # (no -0)
            two._halve(place, side, share, params)
        return two

    def _halve(self, place: int, side: float, share: float, params: Any) -> None:
        """Halve the stored numbers of a copy, at this place, of a single vector. share : the factor of θ."""
        for at, slot in enumerate(self.SLOTS):
            numbers = self.view[:, at, place]
            numbers *= side * share if slot.half is None else slot.half
            numbers += 0.0

    def share_of_half(self, params: Any) -> float:
        """Return the factor of θ with which the weights of one vector become half of themselves."""
        return 0.5

    def _with_vectors(self, counts: np.ndarray, source: list[int]) -> Self:
        """Return a model of this kind whose vectors are copies of this one's, by their numbers; -1: they start from nothing."""
        new = self.sharing(counts=counts, counters=self.counters.copy(), calibration=self.calibration.copy(), places=None, room=0,
                           n_columns=len(source), sparse_coef=None)
        self._move(new, source)
        return new

    def _move(self, new: Self, source: list[int]) -> None:
        """Set the arrays that have an axis of vectors in a model with others."""
        joins_beside = self.HAS_ROOM and 2 < self.n_columns < new.n_columns
        for name, array in self.ARRAYS.items():
            if "vectors" in array.axes and not (array.is_flat and joins_beside):
                old, axis = self._in_axes(name), array.axes.index("vectors")
                fresh = self._fresh(name, (*old.shape[:axis], len(source), *old.shape[axis + 1 :]), old.dtype)
                found = moved(old, self._refresh(fresh) if name == "values" else fresh, axis, source)
                setattr(new, name, found.reshape(-1) if array.is_flat else found)
        if joins_beside:
            self._give_places(new, source)

    def _in_axes(self, name: str) -> np.ndarray:
        """Return an array with the axes of its declaration."""
        return self.view if name == "values" else self.corrections[None] if name == "correction" else getattr(self, name)

    def _give_places(self, new: Self, source: list[int]) -> None:
        """Give the vectors of new classes the places behind this model's."""
        k, before, room = new.n_columns, self.n_columns, self.room or self.n_columns
        at = {number: place for place, number in enumerate(source)}  # (of "none of these": the last of its copies)
        old = [at[number] for number in range(before)]
        new.places = np.arange(k)
        new.places[np.delete(np.arange(k), old)] = np.arange(before, k)
        new.places[old] = np.arange(before) if self.places is None else self.places
        if k <= room and self.places is not None and self.writable() is self:
            new.room, new.counters = room, self.counters
        else:
            new.room = 1 << (k - 1).bit_length()
            for name, slots in (("values", self._slots), ("correction", self.correction.reshape(-1, 1, room))):
                wider = np.zeros((*slots.shape[:2], new.room), slots.dtype)
                wider = self._refresh(wider) if name == "values" else wider
                wider[:, :, :before] = slots[:, :, :before]
                setattr(new, name, wider.reshape(-1))
        if self.n_none:
            for numbers in (new._slots, new.correction.reshape(-1, 1, new.room)):
                none = numbers[:, :, new.places[-1]]
                for place in range(before, k if numbers.size else before):
                    differ = np.flatnonzero((none != numbers[:, :, place]).any(axis=1))
                    numbers[differ, :, place] = none[differ]

    # --- merging -------------------------------------------------------------------------------------------------------------

    def merge(self, models: list[Self]) -> None:
        """Become the merge of models of the same classes and scale. Sums are in double, and rounded once.

        This is a copy of one of them.
        """
        rounds = np.array([each.count("t") for each in models])
        shares, masses = (rounds / rounds.sum()).tolist(), [each.counters.item(self.COUNTERS["mass"]) for each in models]
        parts = masses if self.MOVES_LEVEL else rounds.tolist()
        level = sum(part / (sum(parts) or 1.0) * each.level for part, each in zip(parts, models, strict=True))
        if self.MOVES_LEVEL:
            models = [each.at_level(level) for each in models]
        averaged = models if self.correction.size else []
        averages = [
            each.count("t") / rounds.sum() * each._weights(each.params, slice(None)).astype(np.float64) for each in averaged
        ]
        self.counts = np.sum([each.counts for each in models], axis=0)
        of_all = [self.COUNTERS["scale"], self.COUNTERS["bias"]]
        self.counters, told = np.sum([each.counters for each in models], axis=0), self.counters[of_all]
        self.counters[of_all], self.counters[self.COUNTERS["seen"]] = told, np.count_nonzero(self.counts)
        self.set_level(level, min(sum(masses), 1e290))
        self.calibration = sum(share * each.calibration for share, each in zip(shares, models, strict=True))
        self.calibration[:, -1] = sum(each.calibration[:, -1] for each in models)
        self._merge_values(models, shares)
        self._merge_bounds()
        if averages:
            self._keep_average(sum(averages))

    def at_level(self, level: float) -> Self:
        """Return this model as if the targets of its rows had been deviations from another level."""
        if not self.constant or self.level == level:
            return self
        found = self.copy()
        found._raise_constant((self.level - level) / self.constant)
        found.set_level(level, self.counters[self.COUNTERS["mass"]])
        return found

    def _raise_constant(self, change: float) -> None:
        """Change the constant feature's weight as if all targets were higher by this number times its value."""
        raise NotImplementedError

    def _merge_values(self, models: list[Self], shares: list[float]) -> None:
        """Merge the values, some features at a time to save memory. shares : of the rounds."""
        views, n_slots = [each.view for each in models], self.n_features + 1
        merged, step = np.empty_like(self.view), max(1, (1 << 20) // self.view[0].size)
        for start in range(0, n_slots, step):
            slabs = [view[start : start + step].astype(np.float64) for view in views]
            found = self._merged(slabs, models, shares)
            # (The smallest numbers may underflow to 0; the caller refuses those that are too large.)
            with np.errstate(over="ignore", under="ignore"):
                merged[start : start + step] = found
        self.values = merged.reshape(-1)

    def _merged(self, slabs: list[np.ndarray], models: list[Self], shares: list[float]) -> np.ndarray:
        """Merge the stored numbers of some features, (features, slots, columns), of all models."""
        found = np.zeros_like(slabs[0])
        for at, slot in enumerate(self.SLOTS):
            for slab, share in zip(slabs, shares, strict=True) if slot.merge is not None else ():
                found[:, at] += slab[:, at] if slot.merge == "sum" else share * slab[:, at]
        return found

    def _merge_bounds(self) -> None:
        """Compute the counters that bound the numbers of the model."""
        first = self.primary
        self.counters[self.COUNTERS["max_abs_weight"]] = max(float(first.max()), -float(first.min()))

    def _keep_average(self, average: np.ndarray) -> None:
        """Set the sums of an average over all rounds so far."""
        last = self._last_weights(self.params, slice(None))
        self.correction = (self.average_rounds(self.params) * (last - average)).reshape(-1)

    # --- reading -------------------------------------------------------------------------------------------------------------

    def weights_of(self, params: Any, features: slice) -> np.ndarray:
        """Return the weights that predict, (columns, features): a read-only view if they are stored as such."""
        found = self._weights(params, features).astype(self.dtype, copy=False)
        return read_only(found.T[: n_vectors(len(self.counts))])

    def _weights(self, params: Any, features: slice) -> np.ndarray:
        """Return the weights that predict, (features, columns); means over rounds in double."""
        found, rounds = self._last_weights(params, features), self.average_rounds(params)
        return found - self.corrections[features] / rounds if rounds else found

    def _last_weights(self, params: Any, features: slice) -> np.ndarray:
        """Return the weights after the last row, (features, columns)."""
        return self.slot(0, features)

    def numbers_of(self, weights: np.ndarray, features: slice) -> np.ndarray:
        """Return the numbers of the primary slot that give these last weights of z, (features, classes)."""
        return weights

    def average_rounds(self, params: Any) -> float:
        """Return the number of rounds in the average; 0 if there is none."""
        return max(float(self.count("t") - params.average_from), 0.0) if len(self.correction) else 0.0

    # --- files ---------------------------------------------------------------------------------------------------------------

    @classmethod
    def of_file(cls, header: dict, arrays: dict[str, np.ndarray], n_classes: int, params: Any, **sizes: int) -> Self:
        """Return the model of these parts, learnt with `params`; raise InvalidError if learning cannot produce one of them."""
        require(sorted(header) == sorted(cls.SCALARS), f"a state of {sorted(cls.SCALARS)}", sorted(header))
        n_features, k, variance = header["n_features"], header["n_columns"], header.get("variance", 1.0)
        dtype = arrays["values"].dtype
        may_have_none = cls.HAS_NONE and n_classes > 2 and bool(params.open_classes) and not params.joint
        n_none = k - n_vectors(n_classes)
        require(type(k) is int and n_none in (0, int(may_have_none)), f"vectors of {n_classes} classes", k)
        require(type(n_features) is int and n_features > 0, "n_features > 0", n_features)
        require(type(variance) is float and 0.0 < variance < np.inf, "a variance", variance)
        require(dtype in FLOATS, "values of float32 or float64", dtype)
        n_groups = k if len(arrays.get("groups", ())) == k else 1  # (of one against the rest, or of all)
        sizes = cls.sizes(n_features, n_classes, params, n_none, n_groups, **sizes)  # (some sizes no parameter tells)
        require_layout(arrays, laid_out(cls.ARRAYS, sizes, dtype))
        return cls.of({**header, **arrays, "params": params}).checked()

    def checked(self) -> Self:
        """Return this model; raise InvalidError if learning cannot produce its numbers."""
        problem = self.problem()
        require(not problem, "numbers that learning can produce", problem)
        return self

    def problem(self) -> str:
        """Describe the first fault of the numbers in the arrays; "" if there is none."""
        counters = {name: float(self.counters[at]) for name, at in self.COUNTERS.items()}
        for name, array in self.ARRAYS.items():
            part = getattr(self, name)
            if part.dtype.kind == "f" and not np.isfinite(part).all():
                return f"{name} with NaN or infinity"
            if not self._within(part, array):
                return f"{name} out of range"
        for at, slot in enumerate(self.SLOTS):
            if not self._within(self.slot(at), slot):
                return f"slot {at} of the weights out of range"
        signed = [counters.pop(name) for name in ("level", "level_rest", "exponents", "mantissas")]
        whole = np.append(self.counts, [counters[name] for name in ("t", "mistakes", "updates", "skipped", "seen")])
        if min(*counters.values(), self.counts.min()) < 0.0 or (whole != np.floor(whole)).any() or whole.max() > 2.0**53:
            return "counters that are not numbers of rows"
        with np.errstate(over="ignore", invalid="ignore"):
            beyond = self._problem_of_values(counters)
        return "a level or a scale that no rows tell" if np.abs(signed).max() > 1e150 else beyond

    def _within(self, numbers: np.ndarray, declared: Array | Slot) -> bool:
        """Return True if these finite numbers are in their range."""
        least, most = self.declared(declared.least), self.declared(declared.most)
        return not numbers.size or bool(least <= float(numbers.min()) and float(numbers.max()) <= most)

    def _problem_of_values(self, counters: dict) -> str:
        """Describe a fault of the geometry's own numbers; "" if there is none."""
        return "" if np.abs(self.primary).max(initial=0.0) <= self.largest else "weights out of range"
