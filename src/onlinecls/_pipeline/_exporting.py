"""A pipeline for other libraries: scikit-learn, ONNX."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

import numpy as np

from .._estimators.exporting import weights_of
from .._input import validate
from ..tables import TableVectorizer, graph_of, shape_of, transformer_of
from ..text import HashingVectorizer

if TYPE_CHECKING:
    from typing import Any


def to_sklearn(who: str, steps: list[tuple[str, Any]]) -> Any:
    """Do the work of `StreamPipeline.to_sklearn`."""
    *others, (last, learner) = steps
    _require_linear(who, "to_sklearn", learner)
    model, made = learner.to_sklearn(), []
    from sklearn.pipeline import Pipeline

    for k, (name, step) in enumerate(others):
        if isinstance(step, HashingVectorizer):
            from sklearn.feature_extraction import text

            parameters = {key: value for key, value in step.get_params().items() if key != "feature_names"}
            step = text.HashingVectorizer(**parameters)
        elif isinstance(step, TableVectorizer) and k == len(others) - 1:
            weights, _ = weights_of(learner)
            step, slots, factors = transformer_of(who, step, weights)
            found = np.hstack([weights, np.zeros((len(weights), 1))])[:, slots] * factors
            model.coef_, model.n_features_in_ = found if model.coef_.ndim == 2 else found[0], len(slots)
        elif not type(step).__module__.startswith("sklearn."):
            raise ValueError(
                f"{who}: to_sklearn must have steps of scikit-learn, a HashingVectorizer, or a TableVectorizer just before the "
                f"learner, got {validate.brief(step)}. Transform rows yourself, and call to_sklearn of the learner."
            )
        made.append((name, deepcopy(step)))
    return Pipeline([*made, (last, model)])


def to_onnx(who: str, steps: list[tuple[str, Any]]) -> Any:
    """Do the work of `StreamPipeline.to_onnx`."""
    *others, learner = (step for _, step in steps)
    _require_linear(who, "to_onnx", learner)
    if len(others) != 1 or not isinstance(others[0], TableVectorizer):
        raise ValueError(
            f"{who}: to_onnx must have a TableVectorizer and a learner, got {validate.brief(others)} before the learner. Call "
            "to_onnx of the learner, whose input is the rows that the steps make (sparse=True for those of words)."
        )
    weights, intercept = weights_of(learner)
    graph = graph_of(who, others[0], weights)
    return graph.model(learner, intercept, f"{shape_of(others[0])[0]:,} features and {len(weights)} vectors of weights.")


def _require_linear(who: str, method: str, learner: Any) -> None:
    if not (hasattr(learner, method) and hasattr(learner, "coef_")):
        raise ValueError(
            f"{who}: {method} must have a learner of this library with a weight for each column, got {validate.brief(learner)}. "
            "Use pickle."
        )
