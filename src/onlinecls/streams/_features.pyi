"""What Python sees of the compiled module."""

from numpy.typing import DTypeLike

from ._lines import EntryParser

class FeatureRows(EntryParser):
    def __init__(self, batch_rows: int, batch_nnz: int, n_features: int, dtype: DTypeLike) -> None: ...
    def add(self, names: list[bytes], values: list[float]) -> bool: ...
