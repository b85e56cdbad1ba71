import re
from collections.abc import Iterable

import numpy as np

from .._input.rows import Rows
from .options import HashingOptions

MAX_FEATURES: int
ANALYZERS: dict[str, int]
NORMS: dict[str | None, int]
WHITE_SPACES: re.Pattern[str]

class DamagedError(ValueError): ...

class RowHasher:
    n_rows: int

    def __init__(self, options: HashingOptions = ...) -> None: ...
    def take(self) -> Rows: ...
    def add_texts(self, texts: list[str | bytes]) -> None: ...
    def add_offsets(self, offsets: np.ndarray, text: np.ndarray) -> None: ...
    def add_views(self, views: np.ndarray, texts: list[np.ndarray]) -> None: ...
    def add_tokens(self, tokens: Iterable[str]) -> None: ...
