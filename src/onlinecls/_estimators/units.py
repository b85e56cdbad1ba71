"""The units of X, of which defaults are multiples: the median of the first 16 rows.

A model is young until these have come. It keeps them, and learns them again where the next one changes the units.
"""

from __future__ import annotations

from math import frexp, fsum, ldexp
from typing import Any, NamedTuple

import numpy as np

from .._input.rows import Rows
from .._registry import Units
from .._saving import require

#: How many rows of weight > 0 determine the units. Those of zeros count, but have no length.
N_ROWS = 16
#: The names of the arrays in a file that hold them.
YOUTH = ("young_data", "young_indices", "young_indptr", "young_targets", "young_weights")
#: The share of a row's squared length from which one column hides all others.
DOMINANT = 0.9

#: Largest exponent of the scale s, by the item size of the dtype, so that s^2, 1/s^2 and OGD's default alpha of 1e-4 s^2 (which
#: dual ascent takes from 1e-100 on) stay representable.
FARTHEST = {4: 44, 8: 158}


def first_rows(rows: Rows, weights: np.ndarray) -> np.ndarray:
    """Return the numbers of the first rows of weight > 0, as many as determine the units. (Empty weights are all 1.)"""
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


def units_of(rows: Rows, at: int, epochs: float = 1.0) -> Units:
    """Return the units by row `at`; unknown units if that is -1."""
    if at < 0:
        return Units(epochs=epochs)
    row = rows.data[int(rows.indptr[at]) : int(rows.indptr[at + 1])].astype(np.float64)
    row = row[row != 0.0]
    exponent = frexp(float(np.abs(row).max()))[1]
    square = fsum((np.ldexp(row, -exponent) ** 2).tolist())  # exact but for one rounding, so that no order of features matters
    farthest = FARTHEST[rows.data.itemsize]
    return Units(
        _root(square, exponent, farthest), _root(square / len(row), exponent, farthest), epochs
    )


class Youth(NamedTuple):
    """Hold the first rows of a model, as long as they may change its units.

    rows : their non-zeros, with columns of int64. targets : labels, or numbers. weights : of the rows, all > 0. They are never
    changed, so that copies of a model share them. is_due : whether the model is still to learn them in their units.
    """

    rows: Rows
    targets: np.ndarray
    weights: np.ndarray
    is_due: bool = False

    @classmethod
    def begin(cls, rows: Rows) -> Youth:
        """Return the youth of a model that has met no row yet; its rows will be like these."""
        none = Rows(rows.data[:0].copy(), np.empty(0, np.int64), np.zeros(1, np.int64), 0, rows.n_features)
        return cls(none, np.empty(0), np.empty(0))

    def with_row(self, row: Rows, target: np.ndarray, weight: float) -> Youth:
        """Return the youth with one row more. target : its label or number, in an array; or an empty one."""
        lo, hi = int(row.indptr[0]), int(row.indptr[1])
        columns, values = np.arange(hi - lo) if row.is_dense else row.indices[lo:hi], row.data[lo:hi]
        kept, old = values != 0.0, self.rows
        data = np.concatenate([old.data, values[kept]])
        rows = Rows(
            data, np.concatenate([old.indices, columns[kept]], dtype=np.int64), np.append(old.indptr, len(data)), old.n_rows + 1,
            old.n_features,
        )
        targets = np.concatenate([self.targets, target]) if old.n_rows else target.copy()
        return Youth(rows, targets, np.append(self.weights, weight))

    def arrays(self, classes: np.ndarray | None) -> dict[str, np.ndarray]:
        """Return arrays for a file; labels are places among the classes."""
        targets = self.targets if classes is None else np.searchsorted(classes, self.targets)
        parts = self.rows.data, self.rows.indices, self.rows.indptr, targets.astype(np.float64), self.weights
        return dict(zip(YOUTH, parts, strict=True))

    @classmethod
    def of_arrays(cls, arrays: dict[str, np.ndarray], state: Any) -> Youth:
        """Return the youth of a model from the arrays of a file; raise InvalidError if they are not its first rows."""
        classes = state.classes
        data, indices, indptr, targets, weights = (arrays[name] for name in YOUTH)
        n, double = len(weights), np.dtype(np.float64)
        dtypes = [part.dtype for part in (data, indices, indptr, targets, weights)]
        require(dtypes == [state.dtype, np.int64, np.int64, double, double], "first rows of their dtypes", dtypes)
        require(all(part.ndim == 1 for part in arrays.values()), "first rows as flat arrays", "others")
        require(n < N_ROWS and n == state.count("t"), f"first rows, fewer than {N_ROWS}, one for each round", n)
        ends = len(indptr) == n + 1 and indptr[0] == 0 and indptr[-1] == len(data) == len(indices)
        require(bool(ends and (np.diff(indptr) >= 0).all()), "ends of the first rows", indptr.tolist())
        rising = np.diff(indices) > 0
        rising[indptr[1:-1][(indptr[1:-1] > 0) & (indptr[1:-1] < len(data))] - 1] = True
        inside = ((indices >= 0) & (indices < state.n_features)).all()
        require(bool(inside and rising.all()), "rising columns in the first rows", "others")
        require(bool(np.isfinite(data).all() and data.all()), "finite numbers but 0 in the first rows", "others")
        require(bool(np.isfinite(weights).all() and (weights > 0.0).all()), "weights > 0 of the first rows", weights.tolist())
        require(bool(np.isfinite(targets).all()) and len(targets) in (0, n), "targets of the first rows", targets.tolist())
        rows = Rows(data, indices, indptr, n, state.n_features)
        if classes is None:
            return cls(rows, targets, weights, True)
        require(bool(np.isin(targets, np.arange(len(classes))).all()) and len(targets) == n, "classes of rows", targets.tolist())
        counts = np.bincount(targets.astype(np.int64), minlength=len(classes))
        require(counts.tolist() == state.counts.tolist(), f"rows of each class {state.counts.tolist()}", counts.tolist())
        return cls(rows, classes[targets.astype(np.int64)], weights, True)

    @property
    def is_over(self) -> bool:
        """True when enough rows have come."""
        return self.rows.n_rows >= N_ROWS

    def units(self, epochs: float) -> Units:
        """Return the units that these rows give."""
        return median_units(self.rows, np.arange(self.rows.n_rows), epochs)


def median_units(rows: Rows, numbers: np.ndarray, epochs: float) -> Units:
    """Return the units by the rows of these numbers: medians, the lower of two middle ones, over those that are not zeros.

    (The power of two nearest to the median is the median of the nearest powers.)
    """
    found = [units_of(rows, int(at)) for at in numbers if rows.data[int(rows.indptr[at]) : int(rows.indptr[at + 1])].any()]
    if not found:
        return Units(epochs=epochs)
    middle = (len(found) - 1) // 2
    return Units(sorted(each.scale for each in found)[middle], sorted(each.constant for each in found)[middle], epochs)


def dominant_column(rows: Rows) -> int | None:
    """Return the column that has more than nine tenths of the squared length of each row, of two non-zeros or more; else None."""
    found = set()
    for at in range(rows.n_rows):
        lo, hi = int(rows.indptr[at]), int(rows.indptr[at + 1])
        values = np.abs(rows.data[lo:hi].astype(np.float64))
        if np.count_nonzero(values) < 2:
            return None
        largest = int(values.argmax())
        squares = (values / values[largest]) ** 2
        if squares.sum() * DOMINANT >= 1.0:
            return None
        found.add(largest if rows.is_dense else int(rows.indices[lo + largest]))
    return found.pop() if len(found) == 1 else None


def _root(square: float, exponent: int, farthest: int) -> float:
    """Return the power of two nearest to √square times 2^exponent."""
    return ldexp(1.0, min(max((frexp(square)[1] >> 1) + exponent, -farthest), farthest))
