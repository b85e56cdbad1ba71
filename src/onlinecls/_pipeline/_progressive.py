"""Pipelines that predict each row just before they learn it."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

import numpy as np

from .._estimators.classifier import OnlineClassifier
from .._estimators.classifier import predict_and_learn as learn_rows_predicting
from .._estimators.merging import unchanged
from .._input.rows import Rows, part_of
from .._input.validate import read_rows
from ..tables import TableVectorizer, planned_progressively
from ._steps import needs_no_learning

if TYPE_CHECKING:
    from typing import Any

    from ._pipeline import StreamPipeline


def learn_predicting(pipeline: StreamPipeline, X: Any, y: np.ndarray, classes: Any, weights: np.ndarray) -> np.ndarray:
    """Run `partial_fit`; return the prediction of each row from just before it, None where there was no model, as objects.

    weights : of the rows, empty if all are 1.
    """
    with unchanged([pipeline], learner=pipeline):
        *steps, learner = pipeline._parts()
        if all(map(needs_no_learning, steps)) and isinstance(learner, OnlineClassifier):
            codes = learn_rows_predicting(learner, pipeline._transformed(X), y, classes, weights if len(weights) else None)
            found = np.full(len(y), None, object)
            if (said := codes >= 0).any():  # (rows of weight 0 alone make no model)
                found[said] = learner.classes_[codes[said]]
            return found
        before = deepcopy(learner)
        try:
            if len(steps) == 1 and isinstance(steps[0], TableVectorizer):
                known, rows, commit = planned_progressively(steps[0], X, weights if len(weights) else None)
                found = _by_row(learner, known, rows, y, classes, weights)
                commit()
                return found
        except Exception:
            vars(learner).clear()
            vars(learner).update(vars(before))
            raise
    found = np.full(len(y), None, object)
    for i in range(len(y)):
        if len(weights) and not weights[i]:
            continue
        row, weight = part_of(X, i, i + 1), weights[i : i + 1] if len(weights) else None
        if pipeline.__sklearn_is_fitted__():
            found[i] = pipeline.predict(row)[0]
        pipeline.partial_fit(row, y[i : i + 1], None if pipeline.__sklearn_is_fitted__() else classes, weight)
    return found


def _by_row(learner: Any, known: Any, rows: Any, y: np.ndarray, classes: Any, weights: np.ndarray) -> np.ndarray:
    """Predict and learn one row after the other. known : the rows as they are to be predicted."""
    found = np.full(len(y), None, object)
    before, after = (read_rows(type(learner).__name__, each, None) for each in (known, rows))
    is_fitted, named = _is_fitted(learner), {} if classes is None or _is_fitted(learner) else {"classes": classes}
    for i in range(len(y)):
        weight = {"sample_weight": weights[i : i + 1]} if len(weights) else {}
        if is_fitted:
            found[i] = learner.predict(_matrix(before, i))[0]
        learner.partial_fit(_matrix(after, i), y[i : i + 1], **weight, **named)
        is_fitted, named = is_fitted or _is_fitted(learner), {}
    return found


def _matrix(rows: Rows, i: int) -> Any:
    part = rows.part(i, i + 1)
    return part.array() if rows.is_dense else part.matrix()


def _is_fitted(learner: Any) -> bool:
    if hasattr(learner, "__sklearn_is_fitted__"):
        return bool(learner.__sklearn_is_fitted__())
    return hasattr(learner, "coef_")
