"""What Python sees of the base of all models."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._input.rows import Rows

RULES: dict[str, int]
TRIGGERS: dict[str, int]
GEOMETRIES: dict[str, int]
TASKS: dict[str, int]
COUNTERS: dict[str, int]
N_COUNTERS: int
RECORD: tuple[str, ...]

class Call:
    """What a small call must be like to be learnt at once."""

def best_of(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """The number of each row's class."""

class Model:
    """What learning changes."""

    values: NDArray[np.floating]
    sigma: NDArray[np.floating]
    calibration: NDArray[np.float64]
    are_seen: bool
    record: NDArray[np.float64] | None
    records_from: float
    correction: NDArray[np.float64]
    counts: NDArray[np.float64]
    counters: NDArray[np.float64]
    params: dict[str, Any]

    def learn(
        self, task: int, rows: Rows, targets: np.ndarray, weights: NDArray[np.float64], class_weights: NDArray[np.float64],
        order: NDArray[np.int64], predictions: NDArray[np.int32],
    ) -> None:
        """One pass over rows."""
    def enable_fast_path(
        self, estimator: dict[str, Any], names: Sequence[str] | None, task: int, classes: np.ndarray | None = None,
    ) -> None:
        """From now on learn small calls of this estimator; None: no more."""
    def try_partial_fit(self, estimator: dict[str, Any], X: object, y: object, sample_weight: object) -> bool:
        """Learn a small call, or answer False."""
    def try_decision(self, estimator: dict[str, Any], X: object) -> NDArray[np.float64] | None:
        """The scores of a small call, or None."""
    def decision(self, rows: Rows, scores: NDArray[np.float64]) -> None:
        """Fill in the scores of rows."""
