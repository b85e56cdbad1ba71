from collections.abc import Callable

import numpy as np

#: By the types of the arguments: "uint32_t", "int32_t|uint32_t".
all_finite: dict[str, Callable[[np.ndarray], bool]]
check_rows: dict[str, Callable[[np.ndarray, np.ndarray, int, np.ndarray], str]]
