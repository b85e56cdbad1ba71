"""The rows as a learner reads them, in units of their lengths."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, frexp, inf, ldexp, log2
from typing import Any

import numpy as np


@dataclass
class Scale:
    """The scale s of rows x, which a learner reads as z = x/s, and the value c of the constant feature beside z.

    scale : s, or "auto": the power of two nearest to the geometric mean of ||x|| over the first 16 rows of weight > 0 and
    ||x|| > 0, of those so far, a row itself included. intercept_scaling : c, or "auto": c s is the power of two nearest to the
    geometric mean of ||x||/√nnz over the same rows, nnz the non-zeros of a row. limit : the largest exponent of both, and less
    its sign the least; 44 for a model of float32.

    With ||x||² = m 2^e, 1/2 <= m < 1, the sum of e is an integer, E, and the exponents are E/2n = q + r/2n and a number that
    does not depend on the units of x: X times a power of two gives the same z, to the bit.

    Examples
    --------
    >>> scale = Scale()
    >>> scale([3.0, 4.0]), scale([0.0, 0.0]), scale([0.0, 60.0])
    ((4.0, 1.0), (4.0, 1.0), (16.0, 1.0))
    >>> scale.read([32.0, 0.0]).tolist()
    [2.0, 0.0, 1.0]
    """

    scale: float | str = "auto"
    intercept_scaling: float | str = "auto"
    limit: int = 158
    n: int = 0
    E: int = 0
    M: float = 0.0  # the sum of log2 m
    N: float = 0.0  # the sum of log2 nnz

    def __call__(self, x: Any, weight: float = 1.0) -> tuple[float, float]:
        """Return (s, c) for a row."""
        x = np.asarray(x, dtype=np.float64)
        square = float(x @ x)
        if self.n < 16 and weight > 0.0 and 0.0 < square < inf:
            m, e = frexp(square)
            self.n, self.E, self.M, self.N = self.n + 1, self.E + e, self.M + log2(m), self.N + log2(np.count_nonzero(x))
        s = ldexp(1.0, self._exponent()) if self.scale == "auto" else float(self.scale)
        c = ldexp(1.0, self._exponent(self.N)) / s if self.intercept_scaling == "auto" else float(self.intercept_scaling)
        return s, c

    def read(self, x: Any, weight: float = 1.0, fit_intercept: bool = True) -> np.ndarray:
        """Return z of a row, and with an intercept c as its last feature."""
        s, c = self(x, weight)
        return np.append(np.asarray(x, dtype=np.float64) / s, [c] * fit_intercept)

    def _exponent(self, less: float = 0.0) -> int:
        """Return the integer nearest to (E + M - less)/2n, within the limit."""
        if not self.n:
            return 0
        q, r = divmod(self.E, 2 * self.n)
        return min(max(q + floor((r + self.M - less) / (2 * self.n) + 0.5), -self.limit), self.limit)
