"""The types in signatures. Only type checkers import this file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._rows import Rows


class Sparse(Protocol):
    """A matrix or an array of scipy.sparse, of any format. (scipy has no types of its own.)"""

    @property
    def nnz(self) -> int: ...
    def tocsr(self) -> Any: ...


#: Rows of features: what numpy converts to an array (data frames too), or a matrix of scipy.sparse.
Matrix: TypeAlias = ArrayLike | Sparse | Rows
Numbers: TypeAlias = NDArray[np.float64]
XY: TypeAlias = tuple[Any, ArrayLike]
XYWeight: TypeAlias = tuple[Any, ArrayLike | None, ArrayLike | None]

FloatType: TypeAlias = type[np.float32 | np.float64] | np.dtype[np.float32] | np.dtype[np.float64] | Literal["float32", "float64"]
FloatOrAuto: TypeAlias = float | Literal["auto"]
Generator: TypeAlias = np.random.RandomState | np.random.Generator
RandomState: TypeAlias = int | Generator | None
ClassWeight: TypeAlias = dict[Any, float] | Literal["balanced"] | None
KernelFunction: TypeAlias = Literal["linear", "rbf", "poly", "sigmoid", "precomputed"] | Callable[..., ArrayLike | Sparse]
