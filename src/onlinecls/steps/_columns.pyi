from typing import Any

import numpy as np

from .._input.rows import Rows

class Columns:
    n_rows: float

    def __init__(self, numbers: np.ndarray, n_rows: float, **options: Any) -> None: ...
    def transform(self, rows: Rows) -> Rows: ...
    def learn(
        self, rows: Rows, weights: np.ndarray, before: bool = False
    ) -> tuple[Rows, tuple[np.ndarray, np.ndarray, float]]: ...

class Largest(Columns): ...
class Counts(Columns): ...
