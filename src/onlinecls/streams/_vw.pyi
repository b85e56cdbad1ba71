from numpy.typing import DTypeLike

from .._hashing.sketch import Names
from ._lines import EntryParser, Labels
from ._vw_cross import Crossing

class VWParser(EntryParser):
    def __init__(
        self, labels: Labels, batch_rows: int, batch_nnz: int, n_features: int, dtype: DTypeLike, names: Names | None = None,
        crossing: Crossing | None = None,
    ) -> None: ...
