"""A linear model for other libraries: scikit-learn, ONNX."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from .._input.compat import issparse

if TYPE_CHECKING:
    from typing import Any


def to_sklearn(learner: Any) -> Any:
    """See `WithWeights.to_sklearn`."""
    try:
        from sklearn.linear_model import SGDClassifier, SGDRegressor
    except ImportError:
        raise ImportError(f"{type(learner).__name__}: scikit-learn is needed for to_sklearn: pip install scikit-learn") from None
    weights, intercept = _weights(learner)
    is_classifier = hasattr(learner, "classes_")
    if getattr(learner, "probability", False):
        warnings.warn(
            f"{type(learner).__name__}: to_sklearn leaves the probabilities behind, as scikit-learn's linear models have no "
            "calibration of ours: predict and decision_function stay the same. Set probability=False if that is meant, or wrap "
            "the result in CalibratedClassifierCV(FrozenEstimator(...)).", UserWarning, stacklevel=3,
        )
    made = (SGDClassifier if is_classifier else SGDRegressor)(fit_intercept=learner.fit_intercept)
    made.coef_, made.intercept_ = weights if is_classifier else weights[0], intercept
    made.n_features_in_, made.n_iter_, made.t_ = learner.n_features_in_, learner.n_iter_, learner.t_ + 1.0
    if is_classifier:
        made.classes_ = learner.classes_.copy()
    if hasattr(learner, "feature_names_in_"):
        made.feature_names_in_ = learner.feature_names_in_.copy()
    return made


def to_onnx(learner: Any) -> Any:
    """See `WithWeights.to_onnx`."""
    try:
        from onnx import TensorProto, checker, helper
    except ImportError:
        raise ImportError(
            f'{type(learner).__name__}: onnx is needed for to_onnx: pip install "onlinecls[onnx]"'
        ) from None
    weights, intercept = _weights(learner)
    rows = helper.make_tensor_value_info("X", TensorProto.FLOAT, [None, learner.n_features_in_])
    if not hasattr(learner, "classes_"):
        options = {"coefficients": weights.ravel().tolist(), "intercepts": intercept.tolist(), "targets": 1}
        outputs = [helper.make_tensor_value_info("prediction", TensorProto.FLOAT, [None, 1])]
        node = helper.make_node("LinearRegressor", ["X"], ["prediction"], domain="ai.onnx.ml", **options)
    else:
        if len(weights) == 1:  # the first class has the scores of the second with the sign changed
            weights, intercept = np.concatenate([-weights, weights]), np.concatenate([-intercept, intercept])
        kind, labels = _onnx_labels(learner)
        options = {"coefficients": weights.ravel().tolist(), "intercepts": intercept.tolist(), kind: labels}
        label_type = TensorProto.INT64 if kind == "classlabels_ints" else TensorProto.STRING
        outputs = [
            helper.make_tensor_value_info("label", label_type, [None]),
            helper.make_tensor_value_info("scores", TensorProto.FLOAT, [None, len(labels)]),
        ]
        node = helper.make_node(
            "LinearClassifier", ["X"], ["label", "scores"], domain="ai.onnx.ml", post_transform="NONE", multi_class=1, **options,
        )
    graph = helper.make_graph([node], type(learner).__name__, [rows], outputs)
    versions = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 1)]
    model = helper.make_model(graph, opset_imports=versions, ir_version=8, producer_name="onlinecls")
    checker.check_model(model)
    return model


def _weights(learner: Any) -> tuple[np.ndarray, np.ndarray]:
    """Copies of weights, a row for a vector, and of intercepts."""
    coef = learner.coef_
    coef = coef.toarray() if issparse(coef) else np.array(coef)
    return np.atleast_2d(coef), np.array(learner.intercept_).reshape(-1)


def _onnx_labels(learner: Any) -> tuple[str, list]:
    classes = learner.classes_
    if classes.dtype.kind == "U":
        return "classlabels_strings", classes.tolist()
    if classes.dtype.kind in "biuf":  # (floats are whole numbers)
        return "classlabels_ints", [int(label) for label in classes.tolist()]
    raise ValueError(f"{type(learner).__name__}: to_onnx must have classes that are numbers or texts, got {classes.dtype}.")
