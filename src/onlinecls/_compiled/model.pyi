"""The base of all models, as Python code can use it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._input.rows import Rows
from .lock import Lock

RULES: dict[str, int]
TRIGGERS: dict[str, int]
GEOMETRIES: dict[str, int]
TASKS: dict[str, int]
COUNTERS: dict[str, int]
N_COUNTERS: int
RECORD: tuple[str, ...]

class Call:
    """The preconditions of the fast path for small calls of `partial_fit`."""

def best_of(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return each row's class: by the score's sign for one vector of weights, else the first of the highest scores."""

def widen(old: NDArray[np.uint8], new: NDArray[np.uint8], used: int, fresh: NDArray[np.uint8]) -> None:
    """Copy the first `used` bytes of each run of `old` to the same run of `new`, which is longer and all zeros."""

def log_sigmoids(scores: NDArray[np.float64], pairs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log(1 / (1 + e^-z)), z = a score + b, for each class: the numbers (a, b) of its vector of weights are in `pairs`."""

def exponentials(logs: NDArray[np.float64]) -> None:
    """Compute e^x of each number in place."""

def normalise(logs: NDArray[np.float64]) -> None:
    """Shift the logarithms in place, so that the numbers of each row sum to 1."""

class Model:
    """The arrays that learning changes, as the training loops see them."""

    values: NDArray[np.floating]
    places: NDArray[np.int64] | None
    room: int
    sigma: NDArray[np.floating]
    calibration: NDArray[np.float64]
    are_seen: bool
    record: NDArray[np.float64] | None
    records_from: float
    correction: NDArray[np.float64]
    counts: NDArray[np.float64]
    counters: NDArray[np.float64]
    params: Any
    columns: tuple[NDArray[np.object_], Any] | None
    sparse_coef: Any

    def learn(
        self, task: int, rows: Rows, targets: np.ndarray, weights: NDArray[np.float64], class_weights: NDArray[np.float64],
        order: NDArray[np.int64], predictions: NDArray[np.int32],
    ) -> None:
        """Learn one pass over rows."""
    def disable_fast_path(self) -> None:
        """Let all calls take the general path."""
    def enable_fast_path(
        self, same: dict[str, Any], lock: Lock, task: int, feature_names: object, classes: np.ndarray | None, named: object,
    ) -> None:
        """Enable the fast path while these attributes of the estimator stay the same objects."""
    def try_partial_fit(
        self, attributes: dict[str, Any], X: object, y: object, sample_weight: object, classes: object = None,
    ) -> bool:
        """Learn a small call and return True; return False, with nothing written, for a call that needs the general path."""
    def try_decision(self, X: object, feature_names: object = None) -> NDArray[np.float64] | None:
        """Return the scores of a small call, (rows, vectors), or None for a call that needs the general path."""
    def decision(self, rows: Rows, scores: NDArray[np.float64]) -> None:
        """Fill in the scores of rows."""
