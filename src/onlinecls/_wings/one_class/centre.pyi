import numpy as np
from numpy.typing import NDArray

from ..._compiled.model import Model

FIELDS: tuple[str, ...]
SURFACE_SPACINGS: int

class CentreModel(Model):
    groups: NDArray[np.float64]
