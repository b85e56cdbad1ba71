"""Checks before a model is allocated: does it fit in memory, and are its labels classes?"""

from __future__ import annotations

from .._estimators.learner import model_bytes
from .._input.validate import available_memory

_MANY_CLASSES = 50  # `require_classes` checks batches with more new labels than this


def require_memory(option: str, learner, n_features: int, n_classes: int, dtype) -> None:
    """Refuse a model that does not fit in memory, and name the --bits that would."""
    available = available_memory()
    needed = model_bytes(learner, n_features, n_classes, dtype)
    if needed <= available:
        return
    raise ValueError(
        f"{option}the model must fit in memory, got {n_classes} classes x {n_features:,} columns, {needed / 1e9:,.1f} GB, where "
        f"{available / 1e9:,.1f} GB are free. --bits {_most_bits(learner, n_classes, dtype, available)} would fit."
    )


def _most_bits(learner, n_classes: int, dtype, available: float) -> int:
    """Return the largest number of bits with which a model fits."""
    return next((bits for bits in range(40, 0, -1) if model_bytes(learner, 1 << bits, n_classes, dtype) <= available), 1)


def require_classes(name: str, learner, width: int, y) -> None:
    """Refuse labels that are probably targets of a regression, or too many: each class has its own weights in memory."""
    labels = set(y.tolist())
    if learner.__sklearn_is_fitted__():
        labels -= set(learner.classes_.tolist())
    if len(labels) <= _MANY_CLASSES:
        return
    # The model is copied when classes join.
    needed, fraction = 2 * model_bytes(learner, width, len(labels), learner.dtype), _fraction(labels)
    available = available_memory()
    if fraction is not None or needed > available:
        why = f"{fraction} for one" if fraction is not None else f"{needed / 1e9:.0f} GB"
        bits = _most_bits(learner, 2 * len(labels), learner.dtype, available)
        fits = "" if fraction is not None else f" (--bits {bits} fits)"
        raise ValueError(
            f"{name} must have labels that are classes, got {len(labels)} new ones in the first {len(y):,} rows, {why}. "
            "For targets that are numbers take a regression algorithm, arow_regression say; for so many classes fewer --bits"
            f"{fits}."
        )


def _fraction(labels: set):
    """Return a label that is not an integer if all labels are numbers, else None."""
    try:
        values = {float(label): label for label in labels}
    except ValueError:
        return None
    return next((values[value] for value in sorted(values) if value % 1 > 0), None)
