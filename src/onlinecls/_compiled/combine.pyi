"""The Python interface of the model of a committee."""

import numpy as np
from numpy.typing import NDArray

from .model import Model

KEPT: int

class CommitteeModel(Model):
    """A committee's state, as the training loop sees it."""

    members: tuple[Model, ...]
    shares: NDArray[np.float64]
    losses: NDArray[np.float64]
    kept: NDArray[np.float64]
    gauge: NDArray[np.float64]
