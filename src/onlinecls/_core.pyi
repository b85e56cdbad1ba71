import numpy as np
from numpy.typing import NDArray

from ._compiled.model import Model
from ._input.rows import Rows

FORESIGHT: dict[str, int]

class QuadraticModel(Model):
    growth: NDArray[np.float64]
    caps: NDArray[np.float64]
    foresight: int
    depth: int

    def deviation(self, rows: Rows, deviations: NDArray[np.float64]) -> None: ...
