from enum import IntFlag
from types import SimpleNamespace, TracebackType
from typing import Any, Self

import numpy as np

__all__ = ["Handle", "Result", "ctypes_functions", "open"]

class Result(IntFlag):
    DONE = 0
    CLOSED = -1
    WRONG_DTYPE = -2
    WRONG_LENGTH = -3
    WRONG_COLUMNS = -4
    WRONG_VALUES = -5
    WRONG_LABEL = -6
    WRONG_WEIGHT = -7
    FAILED = -8

class Handle:
    learner: Any
    def __init__(self, learner: Any) -> None: ...
    @property
    def address(self) -> int: ...
    @property
    def n_features(self) -> int: ...
    @property
    def n_scores(self) -> int: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def is_open(self) -> bool: ...
    def close(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None: ...

def open(learner: Any) -> Handle: ...
def ctypes_functions() -> SimpleNamespace: ...
