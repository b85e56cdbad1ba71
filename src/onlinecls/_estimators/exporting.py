"""A linear model for other libraries: scikit-learn, ONNX."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from .._input.compat import issparse

MOST_BYTES = 100_000_000  # of weights in an ONNX graph


def to_sklearn(learner: Any) -> Any:
    """Do the work of `WithWeights.to_sklearn`."""
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


def to_onnx(learner: Any, sparse: bool) -> Any:
    """Do the work of `WithWeights.to_onnx`."""
    try:
        from onnx import TensorProto, checker, helper, numpy_helper
    except ImportError:
        raise ImportError(
            f'{type(learner).__name__}: onnx is needed for to_onnx: pip install "onlinecls[onnx]"'
        ) from None
    weights, intercept = _weights(learner)
    n_features, inputs = learner.n_features_in_, []
    nodes: list[Any] = []
    constants: dict[str, np.ndarray] = {"intercept": intercept.astype(np.float32)}
    met = np.flatnonzero(weights.any(axis=0))
    if sparse:
        constants["place"] = np.zeros(n_features, np.int32)  # of each column in the table of weights; 0: not in it
        constants["place"][met] = np.arange(1, len(met) + 1)
        constants["weights"] = np.vstack([np.zeros((1, len(weights))), weights[:, met].T])
    else:
        constants["weights"] = weights.T.astype(np.float32)
    size = sum(array.nbytes for array in constants.values())
    if size > MOST_BYTES:
        rest = f" sparse=True keeps the {len(met):,} columns with weights." if not sparse else ""
        raise ValueError(
            f"{type(learner).__name__}: to_onnx must make a graph of at most {MOST_BYTES // 10**6} MB, got {size // 10**6} MB of "
            f"{n_features:,} features and {len(weights)} vectors of weights.{rest} prune() makes small weights zero."
        )

    def add(kind: str, inputs: str, output: str, **options: Any) -> None:
        nodes.append(helper.make_node(kind, inputs.split(), [output], **options))

    if sparse:  # scores are differences of cumulative sums over the stored numbers, in double precision
        for name, kind, shape in (("data", TensorProto.FLOAT, "n_stored"), ("indices", TensorProto.INT64, "n_stored"),
                                  ("indptr", TensorProto.INT64, "n_ends")):
            inputs.append(helper.make_tensor_value_info(name, kind, [shape]))
        constants |= {"first": np.array([0]), "second": np.array([1]), "last": np.array([-1]), "end": np.array([2**62]),
                      "nothing": np.zeros((1, len(weights)))}
        add("Gather", "place indices", "places")
        add("Gather", "weights places", "met")
        add("Cast", "data", "numbers", to=TensorProto.DOUBLE)
        add("Unsqueeze", "numbers second", "column")
        add("Mul", "met column", "products")
        add("CumSum", "products zero", "sums")
        constants["zero"] = np.array(0)
        add("Concat", "nothing sums", "all_sums", axis=0)
        add("Slice", "indptr first last first", "starts")
        add("Slice", "indptr second end first", "stops")
        add("Gather", "all_sums starts", "before")
        add("Gather", "all_sums stops", "after")
        add("Sub", "after before", "exact")
        add("Cast", "exact", "product", to=TensorProto.FLOAT)
    else:
        inputs.append(helper.make_tensor_value_info("X", TensorProto.FLOAT, ["n_rows", n_features]))
        add("MatMul", "X weights", "product")
    if not hasattr(learner, "classes_"):
        add("Add", "product intercept", "prediction")
        outputs = [helper.make_tensor_value_info("prediction", TensorProto.FLOAT, ["n_rows", 1])]
    else:
        kind, labels = _onnx_labels(learner)
        constants["labels"] = labels
        if len(weights) == 1:  # the first class has the scores of the second with the sign changed
            add("Add", "product intercept", "score")
            add("Neg", "score", "other")
            add("Concat", "other score", "scores", axis=1)
        else:
            add("Add", "product intercept", "scores")
        add("ArgMax", "scores", "best", axis=1, keepdims=0)
        add("Gather", "labels best", "label")
        outputs = [
            helper.make_tensor_value_info("label", kind, ["n_rows"]),
            helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["n_rows", len(labels)]),
        ]
        if hasattr(learner, "predict_proba"):
            pairs = learner._sigmoids(learner._state)
            if pairs is None:
                add("Softmax", "scores", "probabilities", axis=1)
            else:
                a, b = pairs[:, :2].T.astype(np.float32)
                constants |= {"a": np.repeat(a, 2 // min(len(a), 2)), "b": np.array([-b[0], b[0]]) if len(b) == 1 else b}
                add("Mul", "scores a", "scaled")
                add("Add", "scaled b", "logits")
                add("Sigmoid", "logits", "sides")
                add("ReduceL1", "sides", "sum", axes=[1], keepdims=1)
                add("Div", "sides sum", "probabilities")
            outputs.append(helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, ["n_rows", len(labels)]))
    tensors = [numpy_helper.from_array(array, name) for name, array in constants.items()]
    graph = helper.make_graph(nodes, type(learner).__name__, inputs, outputs, tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="onlinecls")
    checker.check_model(model)
    return model


def _weights(learner: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return copies of the weights, a row for each vector, and of the intercepts."""
    coef = learner.coef_
    coef = coef.toarray() if issparse(coef) else np.array(coef)
    return np.atleast_2d(coef), np.array(learner.intercept_).reshape(-1)


def _onnx_labels(learner: Any) -> tuple[int, np.ndarray]:
    """Return ONNX's type of the labels, and the labels."""
    from onnx import TensorProto

    classes = learner.classes_
    if classes.dtype.kind == "U":
        return TensorProto.STRING, classes.astype(object)
    if classes.dtype.kind in "biuf":  # (floats are whole numbers)
        return TensorProto.INT64, classes.astype(np.int64)
    raise ValueError(f"{type(learner).__name__}: to_onnx must have classes that are numbers or texts, got {classes.dtype}.")
