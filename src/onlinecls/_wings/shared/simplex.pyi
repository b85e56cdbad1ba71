import numpy as np
from numpy.typing import NDArray

GROUP: dict[str, int]
GROUP_SIZE: int

def problem(
    powers: NDArray[np.floating], theta: NDArray[np.floating], groups: NDArray[np.float64], is_signed: bool = True,
    joined: NDArray[np.bool_] | None = None,
) -> str: ...
