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
    old_slots, new_slots = before.slots, after.slots
    lost = next((feature for feature in old_slots if feature not in new_slots), None)
    if lost is None and bits and before.is_full:
        lost = next((feature for feature in new_slots if feature not in old_slots), None)
    if lost is not None:
        raise ValueError(
            f"TableVectorizer: merge must have slots for the features of all parts, got {lost!r} without one. Give more slots."
        )
    columns = np.concatenate([np.arange(len(old_slots)), np.arange(slots, width)])
    places = np.concatenate([np.array([after.place(feature) for feature in old_slots], int), np.arange(slots, width)])
    factors, pulls, missing = np.ones(width), np.zeros(width), np.full(width, -1)
    pairs = [(column, at, new_slots[name], name) for column, (name, at) in enumerate(old_slots.items())]
    pairs += [(column, at, after.hashed.get(column), "") for column, at in before.hashed.items()]
    for column, old, new, name in pairs:
        if min(old, new) < 0:  # (a name)
            continue
        days = name.removesuffix(".days")
        origin, other = before.known(days).origin, after.known(days).origin
        shift = 0.0 if name == days or origin is None or other is None else origin - other
        (mean, deviation), (to_mean, to_deviation) = _units_of(before.records.read(old)), _units_of(after.records.read(new))
        factors[column] = to_deviation / deviation if deviation else 0.0
        pulls[column] = (to_mean - mean - shift) / deviation if deviation else 0.0
        place = after.place(f"{days}=?")
        missing[column] = -1 if place is None else place
    return Move(columns, places, factors[columns], pulls[columns], missing[columns])


def _units_of(record: np.ndarray) -> tuple[float, float]:
    """Return the mean and deviation by which a number is standardised; 0 and 1 if it is not."""
    n, mean, squares, not_binary = record.tolist()
    if not not_binary:
        return 0.0, 1.0
    return mean, (squares / n) ** 0.5 if n and 0.0 < squares / n <= 1e308 else 0.0
