from numpy.typing import DTypeLike

from ._lines import EntryParser, Labels

class SvmlightParser(EntryParser):
    def __init__(
        self, labels: Labels, batch_rows: int, batch_nnz: int, n_features: int, dtype: DTypeLike, first: int
    ) -> None: ...
