"""The arrays of a model, declared once: their axes, and what becomes of them when classes join and when models are checked.

A model's class declares each array as an `Array`, and the numbers that it stores of each weight as a `Slot`. Layouts, new arrays,
their moves to a model of other classes, files and the checks of ranges follow from these declarations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf, prod
from typing import Any, NamedTuple

import numpy as np

FLOAT64 = np.dtype(np.float64)

#: The factor of the numbers of a vector that two classes have shared, for the one on a side (-1, 1) of it. share : that of θ.
Half = Callable[[int, float], Any]


def unchanged(side: int, share: float) -> float:
    return 1.0


def absent(side: int, share: float) -> float:
    return 0.0


def halved(side: int, share: float) -> float:
    return 0.5


def as_theta(side: int, share: float) -> float:
    return side * share


class Array(NamedTuple):
    """The declaration of an array.

    axes : of each axis its length, or the name of a size of the model; "vectors" is that of vectors of weights.
    dtype : None: the model's own. fresh : the number, or the last axis, of a vector that starts from nothing. half : see `Half`.
    least, most : the range of its numbers, each a number or the name of an attribute of the model that has it.
    is_flat : True if it has one axis in memory.
    """

    axes: tuple[int | str, ...]
    dtype: Any = FLOAT64
    fresh: Any = 0.0
    half: Half = unchanged
    least: float | str = -inf
    most: float | str = inf
    is_flat: bool = False


class Slot(NamedTuple):
    """The declaration of a number that is stored of each weight.

    fresh, least, most : as in `Array`, a number or the name of an attribute. half : see `Half`. merge : "mean" or
    "sum" over models; None: it follows from others.
    """

    half: Half = as_theta
    fresh: float | str = 0.0
    least: float | str = -inf
    most: float | str = inf
    merge: str | None = "mean"


class Move(NamedTuple):
    """Vectors of a model that come to places in another of n vectors.

    old, new : their numbers and places. splits : True if a single vector becomes one for each of its classes.
    """

    old: np.ndarray
    new: np.ndarray
    n: int
    splits: bool = False

    @classmethod
    def of_classes(cls, places: np.ndarray, n_before: int, n: int, n_none: int = 0) -> Move:
        """Return the move of the vectors of classes to `places` among n, more than before.

        n_none : 1 if the last of them is "none of these", before and after: the new ones are copies of it.
        """
        splits, places = n_before == 1, np.asarray(places)
        if splits or not n_none:
            return cls(np.zeros(len(places), int) if splits else np.arange(n_before), places, n, splits)
        others = np.delete(np.arange(n), places)
        old = np.append(np.arange(n_before - 1), np.full(len(others), n_before - 1))
        return cls(old, np.append(places, others), n)

    @classmethod
    def of_kept(cls, keep: np.ndarray) -> Move:
        """Return the move of the vectors that stay, three or more."""
        old = np.flatnonzero(keep)
        return cls(old, np.arange(len(old)), len(old))

    def sides(self) -> list[tuple[int, int]]:
        """Return (side, place) of each class that has shared a vector."""
        return list(zip((-1, 1), self.new.tolist(), strict=False))


def n_vectors(n_classes: int) -> int:
    """Return the number of vectors of weights for this number of classes: two classes share one."""
    return n_classes if n_classes > 2 else 1


def read_only(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


def within(numbers: np.ndarray, least: float, most: float) -> bool:
    """Return True if these finite numbers are in a range."""
    if (least, most) == (-inf, inf) or not numbers.size:
        return True
    return bool(least <= float(numbers.min()) and float(numbers.max()) <= most)


def laid_out(arrays: Mapping[str, Array], sizes: Mapping[str, int], dtype: Any) -> dict:
    """Return {name: (shape, dtype)} of these arrays. dtype : the model's."""
    found = {}
    for name, array in arrays.items():
        shape = tuple(map(sizes.get, array.axes, array.axes))
        found[name] = (prod(shape),) if array.is_flat else shape, np.dtype(dtype) if array.dtype is None else array.dtype
    return found


def moved(old: np.ndarray, fresh: np.ndarray, half: Half, move: Move, share: float) -> np.ndarray:
    """Copy vectors, the first axis, to their places in an array of new ones, and return it."""
    if not move.splits:
        for number, place in zip(move.old.tolist(), move.new.tolist(), strict=True):
            fresh[place] = old[number]
        return fresh
    for side, place in move.sides():
        np.multiply(old[0], half(side, share), out=fresh[place, ...])
        if half is not halved:  # (which keeps signs)
            fresh[place] += 0.0  # (no -0)
    return fresh


def scattered(view: np.ndarray, move: Move, fresh: Any) -> np.ndarray:
    """Return an array of move.n columns: those of a view, (features, slots, columns), at their places, else `fresh`."""
    found = np.empty((*view.shape[:2], move.n), view.dtype)
    found[:] = np.reshape(fresh, (-1, 1))
    for number, place in zip(move.old.tolist(), move.new.tolist(), strict=True):
        found[:, :, place] = view[:, :, number]
    return found


def widened(view: np.ndarray, fresh: np.ndarray, used: int) -> np.ndarray:
    """Return a flat array with room for more vectors, with the numbers of the first `used` columns of a view.

    view : (features, slots, columns), contiguous. fresh : (slots, room), the numbers of a feature that was never seen.
    """
    found = np.zeros((len(view), *fresh.shape), view.dtype)
    if fresh.any():  # (untouched memory takes neither time nor room)
        found[:] = fresh
    found[:, :, :used] = view[:, :, :used]
    return found.reshape(-1)
