"""How a young model learns: its first rows determine the units of X, and are learnt again when a new one changes these.

The units, and the rows as a young model keeps them, are in units.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._input.compat import warn_caller
from .choice import choose
from .units import (
    FARTHEST,
    N_ROWS,
    dominant_column,
    first_row,
    first_rows,
    is_far,
    mean_of,
    median,
    non_zeros,
    units_around,
    units_of_each,
    with_targets,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._algorithm import Units
    from .._input.rows import Rows
    from .learner import Batch
    from .units import Youth

#: The beginning of the warning of `warn_of_skipped`, behind the learner's name.
SKIPPED = "updates should stay within the range of"


def learn_first_rows(learner: Any, batch: Batch, learn: Callable[[Batch], None]) -> Batch:
    """Learn while the model is young, and until a row has determined its units; return the remaining rows.

    learn : called with the rows of a batch.
    """
    if len(batch.order):
        return batch
    if learner._state.youth is not None:
        batch = learn_young(learner, batch, learn)
    if learner._state.units.scale or (at := first_row(batch.rows, batch.row_weights())) < 0:
        return batch
    if at > 0:
        learn(batch.part(0, at))
    set_scale(learner, batch.rows, at, batch.targets)
    return batch.part(at)


def learn_young(learner: Any, batch: Batch, learn: Callable[[Batch], None]) -> Batch:
    """Learn while the model is young, rows together up to one that changes the units; return the remaining rows."""
    young, measured = learner._state.youth, learner._measures_targets()
    if young.deviates != measured:  # (parameters have been set since)
        learner._state.youth = young.measured(measured).due_in(learner._state.units)
    relearn(learner)
    if learner._state.youth is None:
        return batch
    begin = n = learner._state.youth.rows.n_rows
    numbers, weights, classes = first_rows(batch.rows, batch.row_weights())[: N_ROWS - n], batch.weights, learner._state.classes
    weights = weights[numbers] if len(weights) else np.ones(len(numbers))
    targets = batch.targets[numbers] if len(batch.targets) else batch.targets
    if classes is not None and targets.ndim == 1:  # (numbers of classes change when others join)
        targets = classes[targets]
    youth = learner._state.youth.with_rows(batch.rows, numbers, targets, weights)
    while n < youth.rows.n_rows:
        units, before, have_waited = learner._state.units, learner._state.count("t"), False
        stop = youth.end_of_units(n, units)
        if not units.scale:  # no row has changed the model yet: the constant feature of rows of zeros was unknown
            have_waited = n > 0 and youth.after[n] != units
            units = youth.after[n]
            set_units(learner, units)
        is_due = have_waited or youth.after[stop - 1] != units
        try:
            learn(batch.part(int(numbers[n - begin]), int(numbers[stop - begin - 1]) + 1))
            learner._state.count("t")  # (a call of Python: a pending interrupt is raised here, not below)
        finally:  # (an interrupt may come before the last row)
            if (t := learner._state.count("t")) > before:
                learner._state.youth = youth.first(n + t - before, is_due)
                relearn(learner)
        n = stop
    return batch.part(int(numbers[-1]) + 1) if len(numbers) else batch


def relearn(learner: Any) -> None:
    """If the units of the first rows have changed, learn the model again from these rows, starting with the new units."""
    youth = learner._state.youth
    if youth is not None and youth.is_due:
        units, before = youth.units, learner._state.units
        alike = units != before and choose(learner).params == choose(learner, units).params
        if alike and units.centre == before.centre:
            learner._state.units = units
        else:
            learner._state = relearnt(learner, youth, units)
        youth = learner._state.youth = youth._replace(is_due=False)
    if youth is not None and youth.rows.n_rows >= N_ROWS:
        learner._state.youth = None
        learner._dominant = None if youth.units.centre else dominant_column(youth.rows)
        learner._sizeless = youth.deviates is not None and are_flat(youth.targets, youth.deviates)


def relearnt(learner: Any, youth: Youth, units: Units) -> Any:
    """Return a new model with these units that has learnt the rows, with the counts of the first time."""
    twin = learner._sharing()
    for name in ("_state", "_lock"):
        twin.__dict__.pop(name, None)
    twin._learn_again(youth, units, learner._state)
    twin._state.keep_history(learner._state)
    return twin._state


def set_scale(learner: Any, rows: Rows, at: int, targets: np.ndarray) -> None:
    """Set the units of X by row `at`, before a row has changed the model."""
    units = [median(units_of_each(non_zeros(rows, np.array([at]))), learner._state.units.epochs)]
    if (deviates := learner._measures_targets()) is not None:  # (rows of zeros have told the level)
        units = with_targets(units, targets[[at]] - (learner._state.level if deviates else 0.0), np.ones(1), False)
    set_units(learner, units[0])


def set_units(learner: Any, units: Units) -> None:
    """Set the units of X, before a row has changed the model."""
    before, found = choose(learner).params, choose(learner, units).params
    if found != before:
        learner._state = learner._state.writable()
        learner._state.set_scale(found)
    learner._state.units = units


def units_of_fit(learner: Any, rows: Rows, targets: np.ndarray, weights: np.ndarray) -> Units:
    """Return the units of a model that `fit` starts.

    If rows of zeros come first, which change nothing, the units are left for `_learn` to determine.
    """
    numbers = first_rows(rows, weights)
    n_epochs, firsts, deviates = float(getattr(learner, "max_iter", 1)), non_zeros(rows, numbers), learner._measures_targets()
    each = units_of_each(firsts)
    units = median(each if learner._awaits_scale() else each[:1], n_epochs)
    if learner._centres() and is_far(firsts):
        units = units_around(mean_of(rows, weights > 0.0 if len(weights) else None), firsts, n_epochs)
    if firsts.n_rows == N_ROWS:
        learner._dominant = None if units.centre else dominant_column(firsts)
    if not units.scale and (learner.shuffle or learner.early_stopping) and (at := first_row(rows, weights)) >= 0:
        units = median(units_of_each(non_zeros(rows, np.array([at]))), n_epochs)
    if deviates is None or not len(numbers):
        return units
    if are_flat(targets[numbers], deviates):  # (as in rows that are sorted by their targets)
        numbers = np.flatnonzero(weights > 0.0) if len(weights) else np.arange(len(targets))
    of_rows = weights[numbers] if len(weights) else np.ones(len(numbers))
    return with_targets([units] * len(numbers), targets[numbers], of_rows, deviates)[-1]


def are_flat(targets: np.ndarray, deviates: bool) -> bool:
    """Return True if these targets have no size, or no deviation."""
    return not (targets - (targets[0] if deviates else 0.0)).any()


def warn(learner: Any, n_skipped: int) -> None:
    """Warn at the end of a call of what its rows show. n_skipped : the rows that the model had skipped before it."""
    if "_dominant" in learner.__dict__:
        warn_of_rows(learner)
    if (n := learner._state.count("skipped") - n_skipped) > 0:
        warn_of_skipped(learner, n)


def warn_of_rows(learner: Any) -> None:
    """Warn once if the first rows are too short or too long, one column has nearly all of their squared length, or the targets,
    whose size a default depends on, are equal."""
    column, who, scale = learner.__dict__.pop("_dominant"), type(learner).__name__, learner._state.units.scale
    farthest = FARTHEST[learner._state.dtype.itemsize]
    if learner.__dict__.pop("_sizeless", False) and scale:
        found = choose(learner)
        names = [name for name, default in found.algorithm.units.items() if default.targets]
        warn_caller(
            f"{who}: the first {N_ROWS} targets should not be all {'equal' if found.values['level'] else '0'}, "
            f"since their size is the unit of {' and '.join(names)}, which is for targets of about 1 now. Put other rows first, "
            "or set it to a number."
        )
    if scale and not 2.0**-farthest < scale < 2.0**farthest:
        warn_caller(
            f"{who}: rows should have lengths between {2.0**-farthest:.0e} and {2.0**farthest:.0e} for "
            f"{learner._state.dtype}, got rows beyond, which are learnt badly or skipped. Divide X by a row's length."
        )
    if column is not None:
        names = learner.__dict__.get("feature_names_in_")
        shown = column if names is None else repr(str(names[column]))
        warn_caller(
            f"{who}: columns should be of like size, got column {shown} with more than nine tenths of the squared length of "
            f"each of the first {N_ROWS} rows, which hides the others. Put scikit-learn's StandardScaler, or for sparse "
            "columns MaxAbsScaler, before the learner (make_stream_pipeline)."
        )


def warn_of_skipped(learner: Any, n: int) -> None:
    """Warn of n rows that a call has skipped."""
    warn_caller(
        f"{type(learner).__name__}: {SKIPPED} {learner._state.dtype}, got {n:,} row{'s' * (n > 1)} whose updates would leave "
        "it and were skipped (n_skipped_). Standardise the columns (scikit-learn's StandardScaler) or divide X by a row's "
        "length; if that does not help, take smaller steps or another learner."
    )
