"""Counters of a learner as text and as JSON."""

from __future__ import annotations

from .._estimators.learner import SKIPPED, state_of
from .._input import escaped
from .._input.compat import is_regressor


def counters_of(learner, counts: tuple) -> dict:
    """Return counters and errors for JSON."""
    if is_regressor(learner):
        errors = {"progressive_mse": mean(counts, 2), "progressive_mae": mean(counts, 3)}
    else:
        errors = {"mistakes": counts[2], "progressive_error": mean(counts, 2)}
    return {"examples": counts[0], **errors, "updates": counts[1]}


def mean(counts: tuple, which: int) -> float | None:
    return counts[which] / counts[0] if counts[0] else None


def shown_weight(value: float, sign: str = "") -> str:
    """Format a weight with four decimals; a small one, of a column in large units say, with three digits."""
    return f"{value:{sign}.4f}" if abs(value) >= 1e-3 or not value else f"{value:{sign}.2e}"


def format_error(error: float | None, learner) -> str:
    """Format an error: a share of mistakes in percent, or a mean squared or absolute error."""
    if error is None:
        return "-"
    return f"{error:.5g}" if is_regressor(learner) else f"{100 * error:.2f} %"


def summary(learner, counts: tuple) -> str:
    if is_regressor(learner):
        return f"mse {format_error(mean(counts, 2), learner)}, mae {format_error(mean(counts, 3), learner)}"
    return f"{counts[2]:,} mistakes ({format_error(mean(counts, 2), learner)})"


def skipped_rows(learner) -> str:
    """Say how many rows a learner has skipped, as their updates would have left the range of numbers; "" if there are none."""
    n = state_of(learner).count("skipped") if learner.__sklearn_is_fitted__() else 0
    rows = f"{n:,} row{'s' * (n > 1)}"
    return f"{rows} skipped: {SKIPPED} numbers. Standardise the columns, or take another algorithm." if n else ""


def skipped_lines(n: int, reasons: tuple) -> str:
    return "\n".join([f"{n:,} malformed line{'s' * (n > 1)} skipped; the last:", *map(escaped, reasons)])
