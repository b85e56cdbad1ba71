"""From the columns of one vectorizer to those of another that has taken it in: places, units and means."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from ._learnt import Learnt


class Move(NamedTuple):
    """Hold what becomes of a learner's weights.

    columns, places : columns, and where they are to stand. factors : of their weights. pulls : what the intercept takes of each
    weight, and what the weight of places `missing` (-1: none) loses by it, as a missing number stays 0.
    """

    columns: np.ndarray
    places: np.ndarray
    factors: np.ndarray
    pulls: np.ndarray
    missing: np.ndarray


def move_between(before: Learnt, after: Learnt, width: int) -> Move:
    """Return the move from a vectorizer's columns to those of one that has taken it in.

    A number is z = (x - μ)/s before and (x - μ')/s' after: w z = (w s'/s) z' + w (μ' - μ)/s.
    """
    slots, bits = before.shape
    lost = next((feature for feature in before.slots if feature not in after.names), None)
    if lost is None and bits and before.is_full:
        lost = next((feature for feature in after.slots if feature not in before.names), None)
    if lost is not None:
        raise ValueError(
            f"TableVectorizer: merge must have slots for the features of all parts, got {lost!r} without one. Give more slots."
        )
    columns = np.concatenate([np.arange(len(before.slots)), np.arange(slots, width)])
    places = np.concatenate([np.array([after.names[feature] for feature in before.slots], int), np.arange(slots, width)])
    factors, pulls, missing = np.ones(width), np.zeros(width), np.full(width, -1)
    pairs = [(before.names[name], at, after.numbers[name], name) for name, at in before.numbers.items()]
    pairs += [(column, at, after.hashed[column], "") for column, at in before.hashed.items()]
    for column, old, new, name in pairs:
        days = name.removesuffix(".days")
        shift = before.origins[days] - after.origins[days] if name != days and days in before.origins else 0.0
        (mean, deviation), (to_mean, to_deviation) = _units_of(before.records[old]), _units_of(after.records[new])
        factors[column] = to_deviation / deviation if deviation else 0.0
        pulls[column] = (to_mean - mean - shift) / deviation if deviation else 0.0
        missing[column] = after.names.get(f"{days}=?", -1)
    return Move(columns, places, factors[columns], pulls[columns], missing[columns])


def _units_of(record: np.ndarray) -> tuple[float, float]:
    """Return the mean and deviation by which a number is standardised; 0 and 1 if it is not."""
    n, mean, squares, not_binary = record.tolist()
    if not not_binary:
        return 0.0, 1.0
    return mean, (squares / n) ** 0.5 if n and 0.0 < squares / n <= 1e308 else 0.0
