import numpy as np
from numpy.typing import NDArray

from ..._compiled.model import Model

SHARED: dict[str, int]
LOSSES: dict[str, int]
UPDATES_OF: dict[str, int]
SCHEDULES: dict[str, int]
LARGEST_STEP: float

class AscentModel(Model):
    shared: NDArray[np.float64]

    def scales(self, k: int) -> NDArray[np.float64]: ...
    def expert_weights(self) -> NDArray[np.float64]: ...
    def start_simplexes(self, k: int, n_live: int, joint: bool, is_signed: bool) -> None: ...

def powers(x: NDArray[np.floating]) -> None: ...
