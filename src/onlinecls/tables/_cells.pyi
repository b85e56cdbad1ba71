"""The Python interface of the compiled module."""

from typing import Any

import numpy as np

LARGEST: float
MISSING_TEXTS: frozenset[str]
ABSENT: object
MODES: dict[str, int]

def number_of(text: str) -> float | None: ...
def read_values(
    values: list[Any], seen: dict[Any, int], names: list[Any], numbers: np.ndarray, codes: np.ndarray, parse: bool
) -> list[int]: ...
def hash_of(text: str) -> int: ...
def column_of(text: str, first: int, n_hashed: int) -> tuple[int, float]: ...
def learn_column(
    x: np.ndarray, weights: np.ndarray, record: np.ndarray, clip: float, keep: float, z: np.ndarray, before: np.ndarray
) -> None: ...
def apply_column(x: np.ndarray, record: np.ndarray, clip: float, z: np.ndarray) -> None: ...
def assemble(columns: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]: ...

class Cell:
    mode: int
    index: int
    number: int
    missing: int
    names: dict[str, int]
    hashes: bool

    def __init__(self, mode: int) -> None: ...

class RowReader:
    def __init__(
        self, cells: dict[str, Cell], clip: float, keep: float, first: int, n_hashed: int, n_expected: int
    ) -> None: ...
    def read(
        self, row: dict[str, Any], known: np.ndarray, learn: bool
    ) -> tuple[np.ndarray, np.ndarray, dict[Any, Any], np.ndarray] | None: ...
