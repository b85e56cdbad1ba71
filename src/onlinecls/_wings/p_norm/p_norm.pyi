import numpy as np
from numpy.typing import NDArray

from ..._compiled.model import Model

FIELDS: tuple[str, ...]

class PNormModel(Model):
    groups: NDArray[np.float64]
    power: float

    def known(self) -> NDArray[np.float64]: ...

def root_of(power: float) -> tuple[float, int]: ...
def roots_of_all(x: NDArray[np.floating], a: float) -> NDArray[np.floating]: ...
