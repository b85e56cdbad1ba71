import numpy as np
from numpy.typing import NDArray

from ..._compiled.model import Model
from .states import SupportState

class SupportSet(Model):
    @property
    def size(self) -> int: ...
    @property
    def members(self) -> memoryview: ...
    @property
    def dropped(self) -> int: ...
    @property
    def norm(self) -> float: ...
    def __init__(
        self, state: SupportState, room: tuple[np.ndarray, ...], numbers: NDArray[np.int64], budget: int
    ) -> None: ...
