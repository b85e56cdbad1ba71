import numpy as np
from numpy.typing import NDArray

from ..._compiled.model import Model

KEPT: int

class CommitteeModel(Model):
    members: tuple[Model, ...]
    shares: NDArray[np.float64]
    combined: NDArray[np.float64]
    losses: NDArray[np.float64]
    seen: NDArray[np.float64]
    means: NDArray[np.float64]
    scatter: NDArray[np.float64]
    apart: NDArray[np.float64]
    kept: NDArray[np.float64]
    gauge: NDArray[np.float64]
