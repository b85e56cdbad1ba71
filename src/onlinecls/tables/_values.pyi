from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import numpy as np

LARGEST: float
KINDS: tuple[str, ...]
FORMS: int
BITS: Mapping[str, int]
BOTH_ORDERS: int
MISSING_TEXTS: frozenset[str]
BOOLEAN_TEXTS: Mapping[str, float]
BOOLEAN_WORDS: Mapping[str, float]
BOOLEAN_LETTERS: Mapping[str, float]
DAYS: tuple[str, ...]
MICROSECOND: timedelta
ABSENT: object

def number_of(text: str) -> float | None: ...
def is_valid(text: str) -> bool: ...
def in_microseconds(values: Any) -> tuple[Any, Any]: ...
def as_text(value: Any) -> Any: ...
def after_value(state: int, mark: int) -> int: ...
def read_values(
    values: list[Any], names: list[Any], numbers: np.ndarray, codes: np.ndarray, marks: np.ndarray, state: int, form: str | None,
    live: np.ndarray,
) -> tuple[dict[int, Any], int, dict[str, int], bool]: ...
def named_state(name: str) -> int: ...
def dicts_of(name: str) -> list[str]: ...
def form_of(values: list[Any], form: str | None, state: int) -> int: ...
