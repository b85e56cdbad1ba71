import numpy as np
from numpy.typing import NDArray

from ..._compiled.model import Model

class SimplexModel(Model):
    groups: NDArray[np.float64]

    def known(self) -> tuple[NDArray[np.floating], NDArray[np.float64]]: ...
    def fresh_power(self) -> float: ...
