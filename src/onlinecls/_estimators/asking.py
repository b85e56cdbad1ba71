"""Selective sampling: rows whose label is worth asking for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._input.compat import random_state as generator_of
from .units import N_ROWS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .._input.types import RandomState


def check(who: str, b: Any) -> None:
    if isinstance(b, bool) or not isinstance(b, (int, float, np.number)) or not 0.0 < b < np.inf:
        raise ValueError(f"{who}: b must be a finite number > 0, got b={b!r}. The larger b is, the more rows are asked for.")


def asked(
    who: str, scores: np.ndarray, deviations: np.ndarray | None, state: Any, b: float, random_state: RandomState
) -> NDArray[np.bool_]:
    """Return which rows to ask for. scores, deviations : (rows, vectors); deviations is None for a learner without variances."""
    n, k = scores.shape
    if state.count("t") < N_ROWS or np.count_nonzero(state.counts) < 2:
        return np.ones(n, bool)
    best = np.argsort(-scores, axis=1, kind="stable")[:, :2]
    highest = np.take_along_axis(scores, best, axis=1)
    margins = np.abs(scores[:, 0]) if k == 1 else highest[:, 0] - highest[:, 1]
    if deviations is None:
        return generator_of(who, random_state).uniform(size=n) * (b + margins) < b
    widths = deviations[:, 0] if k == 1 else np.hypot(*np.take_along_axis(deviations, best, axis=1).T)
    unit = np.sqrt(state.variance) * (state.units.scale or 1.0)  # (0 before the first row that is not all zeros)
    return margins * unit <= b * widths * np.sqrt(np.log1p(state.count("t")))
