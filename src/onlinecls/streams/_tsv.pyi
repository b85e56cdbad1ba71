import numpy as np

from .._hashing.hasher import RowHasher
from .._input.rows import Rows
from ._lines import Labels, LineParser

class TsvParser(LineParser):
    def __init__(self, labels: Labels, batch_rows: int, batch_nnz: int, hasher: RowHasher) -> None: ...
    def take(self) -> tuple[Rows, np.ndarray | None, None]: ...
