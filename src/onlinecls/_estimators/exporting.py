"""A linear model for other libraries: scikit-learn, ONNX."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._input.compat import issparse, warn_caller

MOST_BYTES = 100_000_000  # of weights in an ONNX graph
OUTPUTS = ("label", "scores", "probabilities", "prediction")


def to_sklearn(learner: Any) -> Any:
    """Do the work of `WithWeights.to_sklearn`."""
    try:
        from sklearn.linear_model import SGDClassifier, SGDRegressor
    except ImportError:
        raise ImportError(f"{type(learner).__name__}: scikit-learn is needed for to_sklearn: pip install scikit-learn") from None
    weights, intercept = weights_of(learner)
    is_classifier = hasattr(learner, "classes_")
    if getattr(learner, "probability", False):
        warn_caller(
            f"{type(learner).__name__}: to_sklearn leaves the probabilities behind, as scikit-learn's linear models have no "
            "calibration of ours: predict and decision_function stay the same. Set probability=False if that is meant, or wrap "
            "the result in CalibratedClassifierCV(FrozenEstimator(...))."
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
    graph, (weights, intercept) = Graph(type(learner).__name__), weights_of(learner)
    add, constants, types, n_features = graph.add, graph.constants, graph.types, learner.n_features_in_
    if sparse:  # scores are differences of cumulative sums over the stored numbers, in double precision
        for name, kind, shape in (("data", types.FLOAT, "n_stored"), ("indices", types.INT64, "n_stored"),
                                  ("indptr", types.INT64, "n_ends")):
            graph.add_input(name, kind, [shape])
        met = np.flatnonzero(weights.any(axis=0))
        constants["place"] = np.zeros(n_features, np.int32)  # of each column in the table of weights; 0: not in it
        constants["place"][met] = np.arange(1, len(met) + 1)
        constants["weights"] = np.vstack([np.zeros((1, len(weights))), weights[:, met].T])
        constants |= {"first": np.array([0]), "second": np.array([1]), "last": np.array([-1]), "end": np.array([2**62]),
                      "nothing": np.zeros((1, len(weights))), "zero": np.array(0)}
        add("Gather", "place indices", "places")
        add("Gather", "weights places", "met")
        add("Cast", "data", "numbers", to=types.DOUBLE)
        add("Unsqueeze", "numbers second", "column")
        add("Mul", "met column", "products")
        add("CumSum", "products zero", "sums")
        add("Concat", "nothing sums", "all_sums", axis=0)
        add("Slice", "indptr first last first", "starts")
        add("Slice", "indptr second end first", "stops")
        add("Gather", "all_sums starts", "before")
        add("Gather", "all_sums stops", "after")
        add("Sub", "after before", "exact")
        add("Cast", "exact", "product", to=types.FLOAT)
        rest = ""
    else:
        graph.add_input("X", types.FLOAT, ["n_rows", n_features])
        constants["weights"] = weights.T.astype(np.float32)
        add("MatMul", "X weights", "product")
        rest = f" sparse=True keeps the {np.count_nonzero(weights.any(axis=0)):,} columns with weights."
    return graph.model(learner, intercept, f"{n_features:,} features and {len(weights)} vectors of weights.{rest}")


class Graph:
    """Collect the nodes of an ONNX graph that make ``product``, rows times weights, of its inputs; `model` adds what follows.

    prefix : of all names but those of inputs and outputs.
    """

    def __init__(self, who: str, prefix: str = "") -> None:
        try:
            import onnx
        except ImportError:
            raise ImportError(f'{who}: onnx is needed for to_onnx: pip install "onlinecls[onnx]"') from None
        self.onnx, self.types, self.who, self.prefix = onnx, onnx.TensorProto, who, prefix
        self.inputs: dict[str, Any] = {}
        self.nodes: list[Any] = []
        self.constants: dict[str, np.ndarray] = {}

    def add_input(self, name: str, kind: int, shape: list) -> None:
        self.inputs[name] = self.onnx.helper.make_tensor_value_info(name, kind, shape)

    def add(self, kind: str, names: str, output: str, first: str | None = None, **options: Any) -> None:
        """Add a node. names : of what it reads, divided by blanks. first : the input of the graph that it reads before these."""
        given = [] if first is None else [first]
        made = self.onnx.helper.make_node(kind, given + list(map(self._own, names.split())), [self._own(output)], **options)
        self.nodes.append(made)

    def _own(self, name: str) -> str:
        is_given = name in OUTPUTS or (name in self.inputs and not self.prefix)
        return name if is_given else self.prefix + name

    def model(self, learner: Any, intercept: np.ndarray, what: str) -> Any:
        """Return the model of a learner's scores: ``product`` and the intercept. what : the size of the graph, for an error."""
        onnx, add, constants, types, outputs = self.onnx, self.add, self.constants, self.types, []
        constants["intercept"] = intercept.astype(np.float32)
        size = sum(array.nbytes for array in constants.values())
        if size > MOST_BYTES:
            raise ValueError(
                f"{self.who}: to_onnx must make a graph of at most {MOST_BYTES // 10**6} MB, got {size // 10**6} MB of {what} "
                "prune() makes small weights zero."
            )
        if not hasattr(learner, "classes_"):
            add("Add", "product intercept", "prediction")
            outputs = [("prediction", types.FLOAT, ["n_rows", 1])]
        else:
            kind, labels = _onnx_labels(learner)
            constants["labels"] = labels
            if len(intercept) == 1:  # the first class has the scores of the second with the sign changed
                add("Add", "product intercept", "score")
                add("Neg", "score", "other")
                add("Concat", "other score", "scores", axis=1)
            else:
                add("Add", "product intercept", "scores")
            add("ArgMax", "scores", "best", axis=1, keepdims=0)
            add("Gather", "labels best", "label")
            outputs = [("label", kind, ["n_rows"]), ("scores", types.FLOAT, ["n_rows", len(labels)])]
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
                outputs.append(("probabilities", types.FLOAT, ["n_rows", len(labels)]))
        tensors = [onnx.numpy_helper.from_array(array, self._own(name)) for name, array in constants.items()]
        described = [onnx.helper.make_tensor_value_info(*each) for each in outputs]
        graph = onnx.helper.make_graph(self.nodes, self.who, list(self.inputs.values()), described, tensors)
        sets = [onnx.helper.make_opsetid("", 17)]
        if any(node.domain for node in self.nodes):
            sets.append(onnx.helper.make_opsetid("ai.onnx.ml", 3))
        model = onnx.helper.make_model(graph, opset_imports=sets, ir_version=8, producer_name="onlinecls")
        onnx.checker.check_model(model)
        return model


def weights_of(learner: Any) -> tuple[np.ndarray, np.ndarray]:
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
