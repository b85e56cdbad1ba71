"""The units of X, of which defaults are multiples: estimated from the first row that is not all zeros."""

from __future__ import annotations

from math import frexp, fsum, ldexp
from typing import TYPE_CHECKING

import numpy as np

from .._registry import Units

if TYPE_CHECKING:
    from .._input.rows import Rows

#: Largest exponent of the scale s, by the item size of the dtype, so that s^2, 1/s^2 and OGD's default alpha of 1e-4 s^2 (which
#: dual ascent takes from 1e-100 on) stay representable.
FARTHEST = {4: 44, 8: 158}


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


def _root(square: float, exponent: int, farthest: int) -> float:
    """Return the power of two nearest to √square times 2^exponent."""
    return ldexp(1.0, min(max((frexp(square)[1] >> 1) + exponent, -farthest), farthest))
