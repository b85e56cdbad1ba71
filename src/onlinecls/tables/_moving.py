"""From the columns of one vectorizer to those of another that has taken it in: places, units and means."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from ._learnt import Learnt

_LEARN_FIRST = "Let one step learn all rows first, as parallel.fit does."


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


def require_slots(before: Learnt, after: Learnt) -> None:
    """Raise a ValueError unless what has a slot in the one has a slot in the other."""
    old_slots, new_slots = before.slots, after.slots
    lost = next((feature for feature in old_slots if feature not in new_slots), None)
    if lost is None and before.shape[1] and before.is_full:
        lost = next((feature for feature in new_slots if feature not in old_slots), None)
    if lost is not None:
        raise ValueError(
            f"TableVectorizer: merge must have slots for the features of all parts, got {lost!r} without one. Give more slots."
        )


def move_between(before: Learnt, after: Learnt, width: int, crossed: frozenset[str]) -> Move:
    """Return the move from a vectorizer's columns to those of one that has taken it in. crossed : the columns in crosses.

    A number is z = (x - μ)/s before and (x - μ')/s' after: w z = (w s'/s) z' + w (μ' - μ)/s. The intercept takes the last term,
    so that each row must have the number, or a feature that says that it is missing.
    """
    slots, old_slots, new_slots = before.shape[0], before.slots, after.slots
    columns = np.concatenate([np.arange(len(old_slots)), np.arange(slots, width)])
    places = np.concatenate([np.array([after.place(feature) for feature in old_slots], int), np.arange(slots, width)])
    factors, pulls, missing = np.ones(width), np.zeros(width), np.full(width, -1)
    total = max([before.t, *(record.item(0) for record in before.numbers.values())])
    pairs = [(column, at, new_slots[name], name) for column, (name, at) in enumerate(old_slots.items())]
    pairs += [(column, at, after.hashed.get(column), "") for column, at in before.hashed.items()]
    for column, old, new, name in pairs:
        if min(old, new) < 0:  # (a name)
            continue
        of, record = _column_of(name, before), before.records.read(old)
        origin, other = before.known(of).origin, after.known(of).origin
        shift = 0.0 if name != f"{of}.days" or origin is None or other is None else origin - other
        (mean, deviation), (to_mean, to_deviation) = _units_of(record), _units_of(after.records.read(new))
        factors[column] = to_deviation / deviation if deviation else 0.0
        pulls[column] = (to_mean - mean - shift) / deviation if deviation else 0.0
        place = after.place(f"{of}=?")
        missing[column] = -1 if place is None else place
        if of in crossed and (pulls[column] or factors[column] != 1.0):
            raise ValueError(
                f"TableVectorizer: merge of pipelines must have crosses of names and of columns of 0 and 1, got {of!r} in one, "
                f"whose numbers change their units. {_LEARN_FIRST}"
            )
        if pulls[column] and not _is_told(name, of, record.item(0), total, before, place):
            raise ValueError(
                f"TableVectorizer: merge of pipelines must have numbers that each row has, or says to be missing, got "
                f"{name or 'a hashed column'!r} of weight {record.item(0):g} in {before.t} rows, whose mean changes. "
                f"{_LEARN_FIRST}"
            )
    return Move(columns, places, factors[columns], pulls[columns], missing[columns])


def _column_of(feature: str, learnt: Learnt) -> str:
    """Return the column of a number that has a slot."""
    if set(learnt.known(feature).kinds) & {"number", "boolean"}:
        return feature
    if feature.startswith("log(") and learnt.known(feature[4:-1]).kinds:
        return feature[4:-1]
    date, a_list = feature.removesuffix(".days"), feature.rpartition("[")[0]
    return date if "date" in learnt.known(date).kinds else a_list


def _is_told(feature: str, of: str, weight: float, total: float, learnt: Learnt, place: int | None) -> bool:
    """Return True if each row has a number, or the feature of that place in its stead. total : weight of all rows, at least."""
    kinds, first = learnt.known(of).kinds, learnt.features.get(f"{of}[0]")
    if len(set(kinds) - {"missing"}) > 1:
        return False
    if "missing" not in kinds:  # (a hashed column may have several numbers a row, or none)
        return abs(weight - total) <= 1e-9 * total
    is_list = "list" in kinds and first is not None
    return place is not None and (not is_list or weight == learnt.records.read(first[1]).item(0))


def _units_of(record: np.ndarray) -> tuple[float, float]:
    """Return the mean and deviation by which a number is standardised; 0 and 1 if it is not."""
    n, mean, squares, not_binary = record.tolist()
    if not not_binary:
        return 0.0, 1.0
    return mean, (squares / n) ** 0.5 if n and 0.0 < squares / n <= 1e308 else 0.0
