"""Models: their arrays, declared once, and counters; how these grow with the classes, are read, merged and saved.

A model's class declares each array, and each number that it stores of a weight, as an `Array`. New arrays (model.pyx), their
copies in a model of other classes, files and the checks of ranges follow from these declarations. Behind the base are the classes
of the learners of first and second order; a family has its own. The layout of the values in memory is in sparse.pxd and full.pxd.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copyreg import __newobj__
from math import isfinite
from sys import float_info
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from . import _core
from ._compiled import model
from ._compiled.model import n_vectors
from ._files import require, require_layout
from ._input.validate import FLOATS

FLOAT64 = np.dtype(np.float64)
NO_ORDER = np.empty(0, np.int64)
NO_WEIGHTS = np.empty(0)


class Array(NamedTuple):
    """The declaration of an array, or of a number that is stored of each weight.

    axes : of each axis its length, or the name of a size of the model; "vectors" is that of vectors of weights.
    dtype : None: the model's own. fresh : the number, or the last axis, of a vector that starts from nothing.
    half : the factor of a vector that two classes have shared, for the first of them; without its sign, for the second.
    least, most : the range of its numbers; None: -most. A number may be the name of an attribute of the model that has it.
    merge : of a number of each weight: "mean" or "sum" over models; None: it follows from others.
    """

    axes: tuple[int | str, ...] = ("features", "vectors")
    dtype: Any = FLOAT64
    fresh: Any = 0.0
    half: float = 1.0
    least: float | str | None = None
    most: float | str = float_info.max
    merge: str | None = "mean"


def read_only(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


#: The class of models of each name that a record of parameters may give (`Params.model`).
STATES: dict[str, type[Any]] = {}

#: The arrays of every model: rows seen of each class, counters at the places that `model.COUNTERS` names, and how scores become
#: probabilities (see calibration.h).
COMMON: Mapping[str, Array] = {
    "counts": Array(("classes",)), "counters": Array((model.N_COUNTERS,)),
    "calibration": Array(("calibrated", 6), fresh=(1.0, 0.0, 0.0, 0.0, 0.0, 0.0), most=1e300),
}

#: A weight, as one of the numbers of `SLOTS`.
WEIGHT = Array(half=-0.5, most="largest")


class State(model.Model):
    """Vectors of weights, and a geometry's other numbers of each weight; counters, copies, growth, merging and files.

    given : values of the estimator's parameters in the last pass. classes : the labels, sorted; None without labels. is_open :
    True if more may join. No part of a file is trusted: `check` is for what ranges do not say.
    """

    def __init_subclass__(cls) -> None:
        if "geometry" in cls.__dict__:
            STATES[cls.geometry] = cls

    geometry = ""  # its name in STATES
    KEPT: tuple[str, ...] = ("model", "average_from", "probability", "level")  # parameters that a model cannot change
    ARRAYS: ClassVar[Mapping[str, Array]] = {
        **COMMON, "values": Array(("features", "slots", "vectors"), None), "sigma": Array((0, 1, 1), None),
        "correction": Array(("sums", "vectors"), half=-0.5),
    }
    OF_PLACES = ("values", "correction")  # arrays that are flat in memory, and may have room
    SCALARS: tuple[str, ...] = ("n_features", "n_columns", "variance")  # the other parts but LEARNT_WITH
    LEARNT_WITH: tuple[str, ...] = ("params", "given", "classes", "is_open", "sparse_coef")
    COUNTERS = model.COUNTERS
    SLOTS: tuple[Array, ...] = (WEIGHT,)  # the numbers of a weight
    PRIMARY = 0  # the slot that steps move along x
    FIELDS: tuple[str, ...] = ()  # the numbers of a group of vectors (`WithGroups`)
    _raise_constant: Any = None  # see `at_level`; None: in a merge, rounds weigh hyperplanes and levels, else rows weigh features
    HAS_ROOM = False  # True if vectors of classes that join take places beside the others
    TAKES_WEIGHTS = False  # True if weights can be set: see `numbers_of`
    HAS_NONE = True  # True if labels that join are copies of "none of these", where each label learns by itself
    n_features: int
    n_columns: int
    variance: float
    classes: np.ndarray | None = None
    is_open = False
    given: tuple[Any, ...] = ()

    # --- parts ---------------------------------------------------------------------------------------------------------------

    def part(self, name: str) -> Any:
        """Return a part; an array with the axes of its declaration, and its vectors in the order of the classes."""
        return self._by_class(self._lying(name)) if name in self.OF_PLACES else getattr(self, name)

    def parts(self) -> dict[str, Any]:
        """Return all that the model is, by name."""
        return {name: self.part(name) for name in (*self.SCALARS, *self.ARRAYS, *self.LEARNT_WITH)}

    @classmethod
    def of(cls, parts: dict[str, Any]) -> Self:
        """Return the model of these parts."""
        state = cls.__new__(cls)
        state.__setstate__(parts)
        return state

    def __reduce__(self):  # (the class without a call of its constructor, and a dict of the parts: what skops reads too)
        return __newobj__, (type(self),), self.parts()

    def sharing(self, **others: Any) -> Self:
        """Return a model with the same arrays, but for those given by name, and without room for classes that may join."""
        return self.of({**self.parts(), **others})

    def copy(self) -> Self:
        return self.of({name: part.copy() if isinstance(part, np.ndarray) else part for name, part in self.parts().items()})

    def in_file(self) -> dict[str, Any]:
        """Return the parts for a file: arrays, and values that JSON can hold."""
        return {name: part for name, part in self.parts().items() if name not in self.LEARNT_WITH}

    @property
    def largest(self) -> float:
        """Largest magnitude that a number of a model may have."""
        return float(np.finfo(self.dtype).max) / 4

    # --- numbers of weights --------------------------------------------------------------------------------------------------

    view = property(lambda self: self.part("values"), doc="The values, (n_features + 1, slots, columns).")
    corrections = property(lambda self: self.part("correction"), doc="The correction, (n_features + 1 or 0, columns).")
    primary = property(lambda self: self.slot(self.PRIMARY), doc="The slot that steps move along x, (n_features + 1, columns).")

    def _lying(self, name: str) -> np.ndarray:
        """Return an array as it lies in memory, with room behind the vectors of a feature."""
        shape = (-1, len(self.SLOTS)) if name == "values" else (-1,)
        return getattr(self, name).reshape(*shape, self.room or self.n_columns)

    def _by_class(self, numbers: np.ndarray) -> np.ndarray:
        """Return numbers of all places, (..., places), as those of the classes: a view if these joined in their order."""
        if self.places is None or (self.places == np.arange(self.n_columns)).all():
            return numbers[..., : self.n_columns]
        return read_only(np.take(numbers, self.places, axis=-1))

    def slot(self, number: int, features: slice = slice(None)) -> np.ndarray:
        """Return a slot of each weight, (features, columns)."""
        return self._by_class(self._lying("values")[features, number])

    def _numbers(self) -> Iterator[tuple[str, Array, np.ndarray]]:
        """Yield the name, declaration and numbers of each array, and instead of the values of each slot."""
        for name, array in self.ARRAYS.items():
            if name != "values":
                yield name, array, self.part(name)
        for at, slot in enumerate(self.SLOTS):
            yield f"slot {at} of the weights", slot, self.slot(at)

    # --- counters, and the level of the targets ------------------------------------------------------------------------------

    def set_level(self, level: float, mass: float) -> None:
        """Set the level of the targets, and the sum of the weights of its rows."""
        self.counters[[self.COUNTERS["level"], self.COUNTERS["level_rest"], self.COUNTERS["mass"]]] = level, 0.0, mass

    def level_with(self, batch: Any) -> tuple[float, float]:
        """Return the mean of all targets so far and of a batch's, and the sum of their weights."""
        of = batch.order if len(batch.order) else slice(None)
        y, weights = batch.targets[of], batch.weights[of] if len(batch.weights) else np.ones(len(batch.targets[of]))
        weights = np.minimum(weights, 1e290 / max(len(y), 1)) * (np.abs(y) <= 1e150)
        y, weights = y[weights > 0.0], weights[weights > 0.0]
        before = self.counters[self.COUNTERS["mass"]]
        if not (mass := before + weights.sum()):
            return self.level, 0.0
        level = self.level if before else float(y[0])
        level += float((weights / mass) @ (y - level))
        if forgetting := self.params.forgetting:  # (the rows so far weigh less in what follows)
            weights = weights * (1.0 - forgetting) ** np.arange(len(y) - 1.0, -1.0, -1.0)
            mass = before * (1.0 - forgetting) ** len(y) + weights.sum()
        return level, float(min(mass, 1e290))

    @property
    def level(self) -> float:
        """The level of the targets, which predictions include; 0 if the learner has none."""
        level, rest = self.counters[[self.COUNTERS["level"], self.COUNTERS["level_rest"]]].tolist()
        return level + rest if self.params.level else 0.0

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
        scale, of = self.scale or 1.0, self.COUNTERS
        bias = self.constant * scale or (0.0 if self.params.constant == 0.0 else scale)
        self.counters[[of["scale"], of["bias"], of["measured"]]] = scale, bias, model.TOLD

    def can_learn_with(self, params: Any) -> bool:
        """Return True if this model may go on with these parameters."""
        alike = type(params) is type(self.params) and all(getattr(params, n) == getattr(self.params, n) for n in self.KEPT)
        return alike and (params.scale in (0.0, self.scale) or not self.scale)

    # --- classes that join or leave ------------------------------------------------------------------------------------------

    @property
    def n_none(self) -> int:
        """1 if the last vector is that of "none of these", the negative of every row, from which labels that join are copied."""
        return self.n_columns - n_vectors(len(self.counts))

    def grow_classes(self, places: np.ndarray, n_classes: int, params: Any) -> Self:
        """Return this model with its classes at `places` among n_classes; new ones are "none of these", or start from nothing.

        params : those with which it will learn. A second class shares the arrays of the first, which has learnt nothing.
        """
        counts = np.zeros(n_classes)
        counts[places] = self.counts
        if n_classes <= 2:
            return self.sharing(counts=counts, counters=self.counters.copy(), sparse_coef=None)
        of, n_none, new = self, self.n_none, self.n_columns - 1 if self.n_none else -1
        if self.n_columns == 1:
            of, n_none = self._halves(params), int(self.HAS_NONE and self.is_open and not params.joint)
        source = np.full(n_classes + n_none, new)
        source[places] = np.arange(len(places))
        return of._with_vectors(counts, source)

    def keep_classes(self, keep: np.ndarray, n_none: int | None = None) -> Self:
        """Return this model with three or more of its classes only; the others have had no row. n_none : None: as it is."""
        kept = np.append(keep, np.ones(self.n_none if n_none is None else n_none, bool))
        return self._with_vectors(self.counts[keep], np.flatnonzero(kept))

    def closed(self) -> Any:
        """Return this model as one which no label may join."""
        return self.keep_classes(np.ones(len(self.counts), bool), 0) if self.n_none else self

    def _halves(self, params: Any) -> Self:
        """Return this model of a vector w as one of -w/2 and +w/2, with half the variance each: the difference of the scores, and
        its variance, stay."""
        two = self._with_vectors(self.counts, np.zeros(2, np.intp))
        two.calibration = self.calibration * (1.0, 0.0, 1.0, 0.0, 0.0, 1.0)  # (b is of two classes alone)
        for _, array, numbers in two._numbers():
            if (axis := two._axis_of_vectors(array, numbers)) is not None:
                for place, factor in enumerate((array.half, abs(array.half))):
                    part = np.moveaxis(numbers, axis, 0)[place, ...]
                    part *= factor
                    part += 0.0  # (no -0)
        two._settle_halves(params)
        return two

    def _settle_halves(self, params: Any) -> None:
        """Change the halves of a vector where factors alone do not do. params : those with which the model will learn."""

    def _axis_of_vectors(self, array: Array, numbers: np.ndarray) -> int | None:
        """Return the axis of an array along which each vector has its own numbers, if there is one."""
        axes = enumerate(array.axes)
        return next((at for at, axis in axes if axis in ("vectors", "groups") and numbers.shape[at] == self.n_columns), None)

    def _with_vectors(self, counts: np.ndarray, source: np.ndarray) -> Self:
        """Return a model of this kind whose vectors are copies of this one's, by their numbers; -1: they start from nothing.

        Where the geometry has room (`HAS_ROOM`), new vectors take the next places of the same arrays, which hold the numbers of
        new vectors; when all are taken, the arrays are copied into others with up to twice the room.
        """
        beside = self.OF_PLACES if self.HAS_ROOM and 2 < self.n_columns < len(source) else ()
        parts = {name: self.part(name) for name in (*self.SCALARS, *self.LEARNT_WITH)}
        arrays = {name: self._taken(name, source) for name in self.ARRAYS if name not in beside}
        new = self.of({**parts, **arrays, "counts": counts, "n_columns": len(source), "sparse_coef": None})
        if beside:
            self._give_places(new, source.tolist())
        return new

    def _taken(self, name: str, source: np.ndarray) -> np.ndarray:
        """Return a copy of an array with these vectors."""
        array, known = self.part(name), source >= 0
        axis = self._axis_of_vectors(self.ARRAYS[name], array)
        if axis is None:
            return array.copy()
        found = self._fresh(name, (*array.shape[:axis], len(source), *array.shape[axis + 1 :]), array.dtype)
        found[(*[slice(None)] * axis, known)] = np.take(array, source[known], axis)
        return found

    def _give_places(self, new: Self, source: list[int]) -> None:
        """Give the vectors of new classes the places behind this model's."""
        k, before, room = new.n_columns, self.n_columns, self.room or self.n_columns
        at = {number: place for place, number in enumerate(source)}  # (of "none of these": the last of its copies)
        old = [at[number] for number in range(before)]
        new.places = np.arange(k)
        new.places[np.delete(np.arange(k), old)] = np.arange(before, k)
        new.places[old] = np.arange(before) if self.places is None else self.places
        slots, sums = self._lying("values"), self._lying("correction")[:, None]
        if k <= room and self.places is not None and self.writable() is self:
            new.counters = self.counters
        else:
            room = 1 << (k - 1).bit_length()
            wider = self._fresh("values", (*slots.shape[:2], room), slots.dtype), np.zeros((*sums.shape[:2], room))
            for numbers, wide in zip((slots, sums), wider, strict=True):
                wide[:, :, :before] = numbers[:, :, :before]
            slots, sums = wider
        new.room, new.values, new.correction = room, slots.reshape(-1), sums.reshape(-1)
        for numbers in (slots, sums) if self.n_none else ():
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
        parts = masses if self._raise_constant else rounds.tolist()
        level = sum(part / (sum(parts) or 1.0) * each.level for part, each in zip(parts, models, strict=True))
        if self._raise_constant:
            models = [each.at_level(level) for each in models]
        averaged = models if self.correction.size else []
        averages = [each.count("t") / rounds.sum() * each._weights(slice(None)).astype(np.float64) for each in averaged]
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
        """Return this model as if the targets of its rows had been deviations from another level.

        `_raise_constant` changes the constant feature's weight as if all targets were higher by a number times its value.
        """
        if not self.constant or self.level == level:
            return self
        found = self.copy()
        found._raise_constant((self.level - level) / self.constant)
        found.set_level(level, self.counters[self.COUNTERS["mass"]])
        return found

    def _merge_values(self, models: list[Self], shares: list[float]) -> None:
        """Merge the values, some features at a time to save memory. shares : of the rounds."""
        views, n_slots = [each.view for each in models], self.n_features + 1
        merged, step = np.empty_like(self.view), max(1, (1 << 20) // self.view[0].size)
        for start in range(0, n_slots, step):
            slabs = [view[start : start + step].astype(np.float64) for view in views]
            merged[start : start + step] = self._merged(slabs, models, shares)  # (the caller refuses what is too large)
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
        self.correction = (self.average_rounds * (self._last_weights(slice(None)) - average)).reshape(-1)

    # --- reading -------------------------------------------------------------------------------------------------------------

    def weights_of(self, features: slice) -> np.ndarray:
        """Return the weights that predict, (columns, features): a read-only view if they are stored as such."""
        found = self._weights(features).astype(self.dtype, copy=False)
        return read_only(found.T[: n_vectors(len(self.counts))])

    def _weights(self, features: slice) -> np.ndarray:
        """Return the weights that predict, (features, columns); means over rounds in double."""
        found, rounds = self._last_weights(features), self.average_rounds
        return found - self.corrections[features] / rounds if rounds else found

    def _last_weights(self, features: slice) -> np.ndarray:
        """Return the weights after the last row, (features, columns)."""
        return self.slot(0, features)

    def numbers_of(self, weights: np.ndarray, features: slice) -> np.ndarray:
        """Return the numbers of the primary slot that give these last weights of z, (features, classes)."""
        return weights

    @property
    def average_rounds(self) -> float:
        """The number of rounds in the average; 0 if there is none."""
        return max(float(self.count("t") - self.params.average_from), 0.0) if len(self.correction) else 0.0

    # --- files ---------------------------------------------------------------------------------------------------------------

    @classmethod
    def of_file(cls, header: dict, arrays: dict[str, np.ndarray], n_classes: int, params: Any, **sizes: int) -> Self:
        """Return the model of these parts, learnt with `params`; raise InvalidError if learning cannot produce one of them.

        sizes : those that no parameter tells.
        """
        require(sorted(header) == sorted(cls.SCALARS), f"a state of {sorted(cls.SCALARS)}", sorted(header))
        n_features, k, variance = header["n_features"], header["n_columns"], header.get("variance", 1.0)
        dtype = arrays["values"].dtype if "values" in cls.ARRAYS else FLOAT64
        may_have_none = cls.HAS_NONE and n_classes > 2 and bool(params.open_classes) and not params.joint
        n_none = k - n_vectors(n_classes)
        fits = type(k) is type(n_features) is int and n_features > 0 and n_none in (0, int(may_have_none))
        fits = fits and type(variance) is float and 0.0 < variance < np.inf and dtype in FLOATS
        require(fits, f"features, vectors of {n_classes} classes, a variance, values of float32 or float64", (header, dtype))
        n_groups = k if len(arrays.get("groups", ())) == k else 1  # (of one against the rest, or of all)
        require_layout(arrays, cls.layout(dtype, n_features, n_classes, params, n_none, n_groups, **sizes))
        state = cls.of({**header, **arrays, "params": params})
        state.check()
        return state

    def check(self) -> None:
        """Raise InvalidError if learning cannot produce the numbers in the arrays."""
        for name, array, numbers in self._numbers():
            most, least = self.declared(array.most), self.declared(array.least)
            least = -most if least is None else least
            fits = not numbers.size or bool(least <= float(numbers.min()) <= float(numbers.max()) <= most)
            require(fits, f"{name} that learning can produce", "numbers out of range")
        counters = {name: float(self.counters[at]) for name, at in self.COUNTERS.items()}
        signed = [counters.pop(name) for name in ("level", "level_rest", "exponents", "mantissas")]
        whole = np.append(self.counts, [counters[name] for name in ("t", "mistakes", "updates", "skipped", "seen")])
        fits = min(*counters.values(), *self.counts) >= 0.0 and (whole == np.floor(whole)).all() and whole.max() <= 2.0**53
        require(fits and np.abs(signed).max() <= 1e150, "counters of rows, and a level and a scale that rows tell", counters)


# --- the learners of first and second order, a class for each geometry ---------------------------------------------------------


class AdditiveState(State, _core.QuadraticModel):
    """values : w."""

    geometry = "additive"
    HAS_ROOM = TAKES_WEIGHTS = True


class WithPrior(State, _core.QuadraticModel):
    """A model that begins with a variance for each weight.

    prior : the share of it that a vector began with, 1/2 if it is one of two classes that shared a vector.
    """

    ARRAYS = {**State.ARRAYS, "prior": Array(("vectors",), fresh=1.0, half=0.5, least=0.5, most=1.0)}
    TAKES_WEIGHTS = True

    @property
    def floor(self) -> float:
        """The smallest variance of a weight that steps leave."""
        info = np.finfo(self.dtype)
        return float(info.tiny / info.eps)

    @property
    def most_variance(self) -> float:
        """The initial variance, in the model's dtype."""
        return float(self.dtype.type(self.variance))

    @property
    def priors(self) -> np.ndarray:
        """The stored variance with which each column began."""
        return np.maximum(self.most_variance * self.prior, self.floor)


class GaussianState(WithPrior):
    """values : w and σ, a variance for each weight."""

    geometry = "gaussian"
    HAS_ROOM = True
    SLOTS = (WEIGHT, Array(fresh="variance", least=5e-324, most="most_variance"))
    STORES_PULL = False  # True if P w is stored in the place of w
    growth_of_all = 1.0

    def _settle_halves(self, params: Any) -> None:
        growth, least = self.dtype.type(self.growth_of_all), max(self.floor, self.params.floor)
        variances = self.view[:, 1]  # (a step along a zero lifts those below the least)
        variances[:] = np.maximum(np.minimum(variances * growth, self.dtype.type(self.variance)) / 2, least) / growth

    @property
    def covariance(self) -> np.ndarray:
        """Variances, (columns, n_features): a read-only view."""
        return read_only(self.slot(1, slice(self.n_features)).T)

    def _raise_constant(self, change: float) -> None:  # (by what rows tell, P - P_0, not by what the prior does)
        self.view[-1, 0] += change * (1.0 - self.view[-1, 1] / self.priors)

    def _merged(self, slabs: list[np.ndarray], models: list[Any], shares: list[float]) -> np.ndarray:
        """Multiply the posteriors, and divide by all priors but one: P = P_0 + Σ (P_k - P_0), P w = Σ P_k w_k."""
        found = np.zeros_like(slabs[0])
        precision = np.zeros_like(found[:, 1])
        for slab, each in zip(slabs, models, strict=True):
            priors, noise = np.broadcast_to(each.priors, slab[:, 1].shape), each.params.r2 / (self.params.r2 or 1.0)
            own, prior = noise * (1.0 / slab[:, 1]), noise * (1.0 / priors)
            pull = slab[:, 0].copy() if self.STORES_PULL else own * slab[:, 0]
            precision += own - prior
            found[:, 0] += pull
        variance = 1.0 / (1.0 / self.priors + precision)
        found[:, 1] = np.clip(variance, max(self.floor, self.params.floor), self.priors)
        if not self.STORES_PULL:
            found[:, 0] *= variance
        return found


class ForgettingState(GaussianState):
    """values : w and σ/s, s the growth in `counters`: variances grow with the rows, up to the initial one."""

    geometry = "forgetting"

    @property
    def growth_of_all(self) -> float:
        return float(self.counters[self.COUNTERS["growth"]]) or 1.0

    @property
    def covariance(self) -> np.ndarray:
        grown = super().covariance * self.dtype.type(self.growth_of_all)
        return read_only(np.minimum(grown, self.dtype.type(self.variance)))

    def check(self) -> None:
        super().check()
        growth, tiny = self.growth_of_all, float(np.finfo(self.dtype).tiny)
        require(growth >= 1.0 and growth * tiny <= 2.0 * max(1.0, self.variance), "a growth that rows make", growth)


class PotentialState(GaussianState):
    """values : θ, a sum of rows, and σ. w = σ θ."""

    geometry = "potential"
    STORES_PULL = True
    SLOTS = (WEIGHT._replace(half=-1.0), GaussianState.SLOTS[1])  # (half the variance halves w)

    def _last_weights(self, features: slice) -> np.ndarray:
        return self.slot(0, features) * self.slot(1, features)

    def numbers_of(self, weights: np.ndarray, features: slice) -> np.ndarray:
        return weights / self.slot(1, features)[:, : weights.shape[1]]


class FullState(WithPrior):
    """values : w. sigma : Σ of each vector of weights."""

    geometry = "full_gaussian"
    ARRAYS = {
        **WithPrior.ARRAYS,
        "sigma": Array(("vectors", "features", "features"), None, half=0.5, most="most_covariance"),
        "growth": Array(("vectors",), fresh=1.0, least=1.0, most=2.0**21),
        "caps": Array(("vectors", "features"), fresh=1.0, least=5e-324, most=1.0),
    }

    def _fresh(self, name: str, shape: tuple, dtype: np.dtype) -> np.ndarray:
        found = super()._fresh(name, shape, dtype)
        if name == "sigma":
            places = np.arange(shape[1])
            found[:, places, places] = self.variance
        return found

    @property
    def most_covariance(self) -> float:
        """The bound of full.pxd: rounding may bring a variance to 0, never below."""
        return 2.0 * self.variance

    @property
    def covariance(self) -> np.ndarray:
        """Σ without the constant feature, (columns, n_features, n_features): a copy."""
        lower = self.sigma[:, : self.n_features, : self.n_features]
        roots = np.sqrt(self.growth)[:, None] * self.caps[:, :-1]
        return read_only(_symmetric(lower * (roots[:, :, None] * roots[:, None]).astype(self.dtype)))

    def _raise_constant(self, change: float) -> None:  # (w += δ Σ (P - P_0) e)
        self.view[-1, 0] += change
        self.view[:, 0, 0] -= change * self.sigma[0, -1] / self.priors[0]

    def _merge_values(self, models: list[Any], shares: list[float]) -> None:
        """Merge posteriors: P = P_0 + Σ (P_k - P_0), P w = Σ P_k w_k."""
        values, sigma = np.empty_like(self.view), np.empty_like(self.sigma)
        for column, prior in enumerate(self.priors):
            pull, precision = np.zeros(self.n_features + 1), np.eye(self.n_features + 1) / prior
            for each in models:
                own, before = each.evidence(column)
                noise = each.params.r2 / (self.params.r2 or 1.0)
                more = noise * own
                pull += (more + noise * before * np.eye(len(more))) @ each.view[:, 0, column]
                precision += more
            variance = np.linalg.inv(precision)
            values[:, 0, column] = variance @ pull
            sigma[column] = np.tril((variance + variance.T) / 2)
        self.values, self.sigma = values.reshape(-1), sigma

    def evidence(self, column: int) -> tuple[np.ndarray, float]:
        """Return P - P_0 and P_0 of a vector: P from Σ's eigenvalues, clipped to (0, the prior], which rounding may leave."""
        prior = float(self.priors[column])
        values, vectors = np.linalg.eigh(_symmetric(self.sigma[column].astype(np.float64)))
        values = np.clip(values, float(np.finfo(self.dtype).eps) * values.max(), prior)
        more = (prior - values) / (prior * values)
        return (vectors * more) @ vectors.T, 1.0 / prior

    def check(self) -> None:
        super().check()
        require(np.diagonal(self.sigma, axis1=1, axis2=2).min() >= 0.0, "variances of at least 0", "others")


def _symmetric(lower: np.ndarray) -> np.ndarray:
    """Return the symmetric matrices of lower triangles."""
    lower = np.tril(lower)
    return lower + np.tril(lower, -1).swapaxes(-2, -1)


class FullPotentialState(FullState):
    """A full covariance of a learner that sums rows to θ; w = Σθ is stored."""

    geometry = "full_potential"


class MirrorState(State, _core.QuadraticModel):
    """values : w and G, the sum of squared gradients of each weight (AdaGrad)."""

    geometry = "mirror"
    HAS_ROOM = TAKES_WEIGHTS = True
    SQUARES = Array(least=0.0, most="largest", merge="sum")
    SLOTS = (WEIGHT, SQUARES)

    def _merge_bounds(self) -> None:
        super()._merge_bounds()
        self.counters[self.COUNTERS["curvature"]] = float(self.view[:, 1].max())


class DualAveragingState(MirrorState):
    """values : z, the sum of gradients (the threshold is l1 times the rounds), and G. w is computed from both when it is read."""

    geometry = "dual"
    SLOTS = (WEIGHT._replace(merge="sum"), MirrorState.SQUARES)

    def _last_weights(self, features: slice) -> np.ndarray:
        return self.shrunk(self.slot(0, features), self.slot(1, features)).astype(self.dtype)

    def shrunk(self, z: np.ndarray, G: np.ndarray) -> np.ndarray:
        """Compute the weights, in double."""
        z, root = z.astype(np.float64), np.sqrt(G, dtype=np.float64)
        soft = np.sign(z) * np.maximum(np.abs(z) - self.threshold, 0)
        return self.params.eta0 * soft / (self.params.delta + root)

    def numbers_of(self, weights: np.ndarray, features: slice) -> np.ndarray:
        of = self.slot(1, features)[:, : weights.shape[1]]
        root, eta0 = np.sqrt(of, dtype=np.float64), self.params.eta0
        weights = np.where(np.abs(weights) <= eta0 * self.largest**0.5, weights, np.inf)  # (FTRL multiplies them by gradients)
        return weights * (self.params.delta + root) / eta0 + np.sign(weights) * self.threshold

    @property
    def threshold(self) -> float:
        """The largest |z| of a weight of 0."""
        return self.params.l1 * self.count("t")

    def can_learn_with(self, params: Any) -> bool:
        """Return True if this model may go on with these parameters, with which its weights must stay within the dtype."""
        most = params.eta0 * float(self.counters[self.COUNTERS["max_abs_weight"]])
        return super().can_learn_with(params) and isfinite(most) and most <= self.largest * params.delta
