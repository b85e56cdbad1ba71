from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._input.rows import Rows
from .lock import Lock

RULES: dict[str, int]
TRIGGERS: dict[str, int]
COSTS: dict[str, int]
GEOMETRIES: dict[str, int]
TASKS: dict[str, int]
COUNTERS: dict[str, int]
N_COUNTERS: int
RECORD: tuple[str, ...]

class Call: ...

def best_of(scores: NDArray[np.float64]) -> NDArray[np.int64]: ...
def widen(old: NDArray[np.uint8], new: NDArray[np.uint8], used: int, fresh: NDArray[np.uint8]) -> None: ...
def log_sigmoids(scores: NDArray[np.float64], pairs: NDArray[np.float64]) -> NDArray[np.float64]: ...
def exponentials(logs: NDArray[np.float64]) -> None: ...
def normalise(logs: NDArray[np.float64]) -> None: ...

def less_means(X: np.ndarray, centre: np.ndarray) -> np.ndarray: ...

class Model:
    values: NDArray[np.floating]
    places: NDArray[np.int64] | None
    room: int
    sigma: NDArray[np.floating]
    calibration: NDArray[np.float64]
    are_seen: bool
    holds_level: bool
    record: NDArray[np.float64] | None
    records_from: float
    correction: NDArray[np.float64]
    counts: NDArray[np.float64]
    counters: NDArray[np.float64]
    params: Any
    @property
    def level(self) -> float: ...
    columns: tuple[NDArray[np.object_], Any] | None
    sparse_coef: Any

    def learn(
        self, task: int, rows: Rows, targets: np.ndarray, weights: NDArray[np.float64], class_weights: NDArray[np.float64],
        order: NDArray[np.int64], predictions: NDArray[np.int32],
    ) -> None: ...
    def disable_fast_path(self) -> None: ...
    def enable_fast_path(
        self, same: dict[str, Any], lock: Lock, task: int, feature_names: object, classes: np.ndarray | None, named: object,
        centre: np.ndarray | None = None,
    ) -> None: ...
    def try_partial_fit(
        self, attributes: dict[str, Any], X: object, y: object, sample_weight: object, classes: object = None,
    ) -> int: ...
    def try_decision(
        self, X: object, feature_names: object = None, centre: np.ndarray | None = None,
    ) -> NDArray[np.float64] | None: ...
    def decision(self, rows: Rows, scores: NDArray[np.float64]) -> None: ...
