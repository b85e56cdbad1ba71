"""The units of X, the median length of the first 16 rows, in which defaults are expressed.

A model is young until it has these rows. It keeps them, and learns them again when a new one changes the units.
"""

from __future__ import annotations

from bisect import insort
from itertools import pairwise
from math import frexp, fsum, ldexp
from typing import Any, NamedTuple

import numpy as np

from .._algorithm import NARROW, Units
from .._files import require, require_layout
from .._input.rows import Rows, centred, dense_of
from .._input.validate import rows_in_order

#: Number of rows of weight > 0 that determine the units. Rows of zeros count, but have no length.
N_ROWS = 16
#: Names of the arrays in a file that hold them.
YOUTH = ("young_data", "young_indices", "young_indptr", "young_targets", "young_weights")
#: Share of a row's squared length from which one column dominates all others.
DOMINANT = 0.9

#: Share of the rows' squared length around their mean, below which the mean is taken from all rows.
FAR = 0.5
#: Share of zeros in the first rows above which rows are learnt as they stand: those of words, counts and pixels are mostly zeros.
ZEROS = 0.1
#: Number of rows added up at once for a mean.
BLOCK = 1024

#: Largest exponent of the scale s, by the item size of the dtype, so that s^2, 1/s^2 and OGD's default alpha of 1e-4 s^2 (which
#: must be at least 1e-100 in dual ascent) stay representable.
FARTHEST = {4: 44, 8: 158}
#: Largest exponent of the size of targets, so that steps and sums that are in proportion to it stay representable in float32.
MOST_OF_TARGETS = 40


def first_rows(rows: Rows, weights: np.ndarray) -> np.ndarray:
    """Return the numbers of the rows that determine the units: the first of weight > 0. (Empty weights are all 1.)"""
    return np.flatnonzero(weights > 0.0)[:N_ROWS] if len(weights) else np.arange(min(rows.n_rows, N_ROWS))


def first_row(rows: Rows, weights: np.ndarray) -> int:
    """Return the number of the first row of weight > 0 that is not all zeros, else -1. (Empty weights are all 1.)"""
    lo, hi = int(rows.indptr[0]), int(rows.indptr[min(1, rows.n_rows)])
    if rows.n_rows and (not len(weights) or weights[0] > 0.0) and rows.data[lo:hi].any():
        return 0
    of_rows = np.searchsorted(rows.indptr, lo + np.flatnonzero(rows.data[lo : int(rows.indptr[-1])]), side="right") - 1
    if len(weights):
        of_rows = of_rows[weights[of_rows] > 0.0]
    return int(of_rows[0]) if len(of_rows) else -1


def non_zeros(rows: Rows, numbers: np.ndarray) -> Rows:
    """Return copies of the non-zeros of the rows of these numbers, with columns of int32."""
    starts, lengths = rows.indptr[numbers], rows.indptr[numbers + 1] - rows.indptr[numbers]
    ends = np.cumsum(lengths)
    at = np.arange(ends[-1] if len(ends) else 0) + np.repeat(starts + lengths - ends, lengths)
    data = rows.data[at]
    columns = (at - np.repeat(starts, lengths)).astype(np.int32) if rows.is_dense else rows.indices[at]
    indptr = np.append(0, ends)
    if not data.all():
        kept = data != 0.0
        data, columns, indptr = data[kept], columns[kept], np.append(0, np.cumsum(kept))[indptr]
    return Rows(data, columns, indptr, len(numbers), rows.n_features)


def units_of_each(rows: Rows) -> list[Units]:
    """Return the units of each row of non-zeros; unknown units for an empty row."""
    farthest, exponents = FARTHEST[rows.data.itemsize], np.frexp(_largest(rows))[1]
    squares = (np.ldexp(rows.data.astype(np.float64), -np.repeat(exponents, np.diff(rows.indptr))) ** 2).tolist()
    found = []
    for (lo, hi), exponent in zip(pairwise(rows.indptr.tolist()), exponents.tolist(), strict=True):
        square, pair = fsum(squares[lo:hi]), []  # (exact but for one rounding, whatever the order of features)
        for number in (square, square / max(hi - lo, 1)):  # the power of two nearest to its root, times 2^exponent
            pair.append(ldexp(1.0, min(max((frexp(number)[1] >> 1) + exponent, -farthest), farthest)))
        found.append(Units(pair[0], pair[1]) if hi > lo else Units())
    return found


def _largest(rows: Rows) -> np.ndarray:
    """Return the largest absolute value of each row of non-zeros, in double; 0 for an empty row."""
    largest, filled = np.zeros(rows.n_rows), rows.indptr[:-1] < rows.indptr[1:]
    if filled.any():
        largest[filled] = np.maximum.reduceat(np.abs(rows.data), rows.indptr[:-1][filled])
    return largest


class Youth(NamedTuple):
    """The first rows of a model, while they may change its units.

    rows : their non-zeros, with columns of int32. targets : labels, or numbers. weights : of the rows, all > 0. each : the units
    of each row. after : those of the rows so far, after each row. They are never changed, so that copies of a model can share
    them. is_due : True if the model has yet to learn them in their units. deviates : whether the size of the targets is that of
    their deviations from the mean of those before; None if no default depends on it.
    """

    rows: Rows
    targets: np.ndarray
    weights: np.ndarray
    each: list[Units]
    after: list[Units]
    is_due: bool = False
    centres: bool = False
    deviates: bool | None = None

    def with_rows(self, rows: Rows, numbers: np.ndarray, targets: np.ndarray, weights: np.ndarray) -> Youth:
        """Return the youth with the rows of these numbers added, and an array of their targets, which may be empty."""
        old, new = self.rows, non_zeros(rows, numbers)
        indptr = np.append(old.indptr, new.indptr[1:] + old.indptr[-1])
        data, indices = np.concatenate([old.data, new.data]), np.concatenate([old.indices, new.indices])
        targets = np.concatenate([self.targets, targets]) if old.n_rows else targets.copy()
        joined = Rows(data, indices, indptr, old.n_rows + new.n_rows, old.n_features)
        each, weights = self.each + units_of_each(new), np.append(self.weights, weights)
        after = with_targets(medians(each), targets, weights, self.deviates)
        if self.centres and is_far(joined):
            after[-1] = units_around(mean_of(joined), joined, 1.0)
        return Youth(joined, targets, weights, each, after, centres=self.centres, deviates=self.deviates)

    def first(self, n: int, is_due: bool) -> Youth:
        """Return the youth of the first n rows."""
        rows, end = self.rows, int(self.rows.indptr[n])
        rows = Rows(rows.data[:end], rows.indices[:end], rows.indptr[: n + 1], n, rows.n_features)
        firsts = self.targets[:n], self.weights[:n], self.each[:n], self.after[:n]
        return Youth(rows, *firsts, is_due, self.centres, self.deviates)

    def arrays(self, classes: np.ndarray | None) -> dict[str, np.ndarray]:
        """Return arrays for a file; labels are places among the classes."""
        targets = self.targets.reshape(-1)
        if classes is not None and self.targets.ndim == 1:
            targets = np.searchsorted(classes, targets)
        parts = self.rows.data, self.rows.indices.astype(np.int64), self.rows.indptr, targets.astype(np.float64), self.weights
        return dict(zip(YOUTH, parts, strict=True))

    @classmethod
    def of_arrays(cls, arrays: dict[str, np.ndarray], state: Any, centres: bool, deviates: bool | None) -> Youth:
        """Return the youth of a model from the arrays of a file; raise InvalidError if they are not its first rows."""
        classes = state.classes
        data, indices, indptr, targets, weights = (arrays[name] for name in YOUTH)
        n = len(weights)
        require(n <= N_ROWS and n == state.count("t"), f"first rows, {N_ROWS} at most, one for each round", n)
        sizes, dtypes = (len(data), len(data), n + 1, len(targets), n), (state.dtype, *map(np.dtype, ("i8", "i8", "f8", "f8")))
        require_layout(arrays, {name: ((size,), dtype) for name, size, dtype in zip(YOUTH, sizes, dtypes, strict=True)})
        require(rows_in_order(indices, indptr, state.n_features), "first rows that are a CSR matrix in order", "others")
        require(bool(np.isfinite(data).all() and data.all()), "finite numbers but 0 in the first rows", "others")
        require(bool(np.isfinite(weights).all() and (weights > 0.0).all()), "weights > 0 of the first rows", weights.tolist())
        fit = bool(np.isfinite(targets).all()) and len(targets) in (0, n)
        require(fit, "targets of the first rows", targets.tolist())
        rows = Rows(data, indices.astype(np.int32), indptr, n, state.n_features)
        each = units_of_each(rows)
        if classes is None:
            return cls(rows, targets, weights, each, [], False, centres).measured(deviates).due_in(state.units)
        fit = bool(np.isin(targets, np.arange(len(classes))).all()) and len(targets) == n
        require(fit, "classes of rows", targets.tolist())
        codes = targets.astype(np.int64)
        counts = np.bincount(codes, minlength=len(classes))
        same = (counts == state.counts) | (state.counts == 0.0)  # (a class may have got the weight 0 since)
        require(bool(same.all()), f"rows of each class {state.counts.tolist()}", counts.tolist())
        return cls(rows, classes[codes], weights, each, medians(each), centres=centres).due_in(state.units)

    def measured(self, deviates: bool | None) -> Youth:
        """Return the youth of a regressor with the size of the targets, or of their deviations, or without."""
        after = with_targets(medians(self.each), self.targets, self.weights, deviates)
        return self._replace(after=after, deviates=deviates)

    def due_in(self, units: Units) -> Youth:
        """Return the youth of a model of a file in these units. It is due if they are not those of the rows, and perhaps if the
        first row is zeros, of which the model may have been interrupted."""
        return self._replace(is_due=self.units != units or bool(self.each and not self.each[0].scale))

    @property
    def units(self) -> Units:
        """The units of these rows."""
        return self.after[-1] if self.after else Units()

    def end_of_units(self, start: int, units: Units) -> int:
        """Return the number of rows up to the one that changes these units, inclusive.

        While the units are unknown, count the rows of zeros before the first other row.
        """
        n = self.rows.n_rows
        if not units.scale:
            if not self.each[start].scale:
                return next((i for i in range(start, n) if self.each[i].scale), n)
            units = self.after[0]
        return next((i + 1 for i in range(start, n) if self.after[i] != units), n)


def medians(each: list[Units], epochs: float = 1.0) -> list[Units]:
    """Return, after each row, the (lower) medians of the units of the rows so far that are not zeros.

    (The power of two nearest to the median is the median of the nearest powers.)
    """
    scales: list[float] = []
    constants: list[float] = []
    found = []
    for units in each:
        if units.scale:
            insort(scales, units.scale)
            insort(constants, units.constant)
        middle = (len(scales) - 1) // 2
        found.append(Units(scales[middle], constants[middle], epochs) if scales else Units(epochs=epochs))
    return found


def with_targets(units: list[Units], targets: np.ndarray, weights: np.ndarray, deviates: bool | None) -> list[Units]:
    """Return units after each row with the sizes of the targets so far: the power of two nearest to the (lower) median of those
    that are not 0. (Of the first target no deviation is known.)"""
    if deviates is None:
        return units
    sizes: list[float] = []
    found, mean, mass = [], 0.0, 0.0
    for each, y, weight in zip(units, targets.tolist(), weights.tolist(), strict=True):
        size = abs(y - mean) if mass or not deviates else 0.0
        mass += weight
        mean += (weight / mass) * (y - mean) if deviates else 0.0
        if size:
            insort(sizes, size)
        found.append(each._replace(target=power_near(sizes[(len(sizes) - 1) // 2])) if sizes and each.scale else each)
    return found


def power_near(size: float) -> float:
    """Return the power of two nearest to a size > 0, within the range of targets that defaults follow."""
    mantissa, exponent = frexp(size)
    return ldexp(1.0, min(max(exponent - (mantissa * mantissa < 0.5), -MOST_OF_TARGETS), MOST_OF_TARGETS))


def median(each: list[Units], epochs: float) -> Units:
    """Return the (lower) medians of the rows' units, over those that are not zeros."""
    return medians(each, epochs)[-1] if each else Units(epochs=epochs)


def is_far(firsts: Rows) -> bool:
    """Return True for N_ROWS rows of few columns and few zeros, most of whose squared length is in their mean."""
    d, n = firsts.n_features, firsts.n_rows
    if n != N_ROWS or d > NARROW or len(firsts.data) < (1.0 - ZEROS) * n * d:
        return False
    largest = float(np.abs(firsts.data).max())
    X = np.ldexp(dense_of(firsts).astype(np.float64), -frexp(largest)[1])
    around = float(((X - X.mean(axis=0)) ** 2).sum()) / float((X * X).sum())
    return (16.0 * float(np.finfo(firsts.data.dtype).eps)) ** 2 < around < FAR  # (below, rows are equal but for rounding)


def mean_of(rows: Rows, live: np.ndarray | None = None) -> tuple[float, ...]:
    """Return the columns' means over all rows, or those that are live; nothing if they are beyond the range."""
    total, n = np.zeros(rows.n_features), rows.n_rows if live is None else np.count_nonzero(live)
    with np.errstate(over="ignore", invalid="ignore"):
        for at in range(0, rows.n_rows, BLOCK):
            X = dense_of(rows.part(at, min(at + BLOCK, rows.n_rows)))
            total += (X if live is None else X[live[at : at + BLOCK]]).sum(axis=0, dtype=np.float64)
    return tuple((total / n).tolist()) if np.isfinite(total).all() else ()


def units_around(centre: tuple[float, ...], firsts: Rows, epochs: float) -> Units:
    """Return the units of the first rows less the columns' means."""
    firsts = centred(firsts, centre) if centre else firsts
    return median(units_of_each(non_zeros(firsts, np.arange(firsts.n_rows))), epochs)._replace(centre=centre)


def dominant_column(rows: Rows) -> int | None:
    """Return the column with more than nine tenths of each row's squared length, for two or more non-empty rows; else None."""
    lengths = np.diff(rows.indptr)
    if not len(lengths) or lengths.min() < 2:
        return None
    largest = np.repeat(_largest(rows), lengths)
    values = np.abs(rows.data.astype(np.float64))
    if np.add.reduceat((values / largest) ** 2, rows.indptr[:-1]).max() * DOMINANT >= 1.0:
        return None
    found = np.unique(rows.indices[values == largest])
    return int(found[0]) if len(found) == 1 else None
