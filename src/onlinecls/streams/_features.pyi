from collections.abc import Sequence

from numpy.typing import DTypeLike

from .._hashing.sketch import Names
from ._lines import EntryParser

class FeatureRows(EntryParser):
    def __init__(
        self, batch_rows: int, batch_nnz: int, n_hashed: int, dtype: DTypeLike, first: int = 0, names: Names | None = None
    ) -> None: ...
    def add(self, names: list[bytes], values: list[float], numbers: Sequence[float] = ()) -> bool: ...
