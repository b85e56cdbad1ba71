"""A learner's way through a stream: rows predicted and then learnt, whatever library it is of."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from .._estimators.classifier import NO_ROUND, OnlineClassifier, predict_and_learn
from .._estimators.regressor import OnlineRegressor
from .._input import validate
from .._input.compat import issparse
from .._pipeline import StreamPipeline, learn_predicting, live_rows, scores_of
from .._rows import Rows

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import ArrayLike

    from ._progressive import Curve


def is_by_row(learner: Any) -> bool:
    """Return True for a learner that predicts each row by the model of all rows before it, whatever the parts.

    These are the learners of this library and its pipelines. Others predict a part, then learn it.
    """
    return isinstance(learner, OnlineClassifier | OnlineRegressor | StreamPipeline)


def takes_tables(learner: Any) -> bool:
    """Return True for a learner whose rows may be of any kind."""
    return isinstance(learner, StreamPipeline)


def require_methods(who: str, learner: Any) -> None:
    """Raise a TypeError for what has no `partial_fit` and `predict`."""
    if isinstance(learner, type):
        raise TypeError(f"{who}: estimator must be an object, got the class {learner.__name__}. Construct one.")
    lacking = [method for method in ("partial_fit", "predict") if not hasattr(learner, method)]
    if lacking:
        raise TypeError(
            f"{who}: estimator must have partial_fit and predict, got {type(learner).__name__} without {lacking[0]}. Only "
            "learners that learn in parts can be validated progressively."
        )


def cuts(done: int, n_rows: int, every: int, by_row: bool) -> Iterator[tuple[int, int]]:
    """Yield (start, stop) of the parts of rows that come behind others, up to each multiple of `every` of all of them.

    Learners that predict a part before learning it (by_row=False) get at most as many rows as came before.
    """
    start = 0
    while start < n_rows:
        stop = min(start + every - (done + start) % every, n_rows)
        if not by_row:
            stop = min(stop, start + max(done + start, 1))
        yield start, stop
        start = stop


def to_be_cut(who: str, X: Any, is_cut: bool = True) -> Any:
    """Return X with rows that can be cut out; raise where a sparse X that is cut has a broken structure."""
    is_read = not issparse(X) or isinstance(X, Rows) or (X.format == "csr" and not is_cut)
    return X if is_read else validate.as_csr(who, X)


def is_one_batch(stream: Any) -> bool:
    return isinstance(stream, tuple) and len(stream) > 1 and not isinstance(stream[0], tuple)


def all_classes(who: str, learner: Any, stream: Any, classes: Any, scores: bool = False) -> Any:
    """Return the classes for the first `partial_fit`; raise ValueError if they must be named."""
    fitted = hasattr(learner, "classes_")
    is_own = isinstance(learner[-1] if isinstance(learner, StreamPipeline) else learner, OnlineClassifier)
    if not (is_own or fitted) and classes is None:
        if not is_one_batch(stream):
            raise ValueError(
                f"{who}: classes must name all labels for {type(learner).__name__} on a stream of batches, got None. "
                "Its first partial_fit needs them."
            )
        classes = np.unique(validate.read_labels(who, stream[1], None))
    if scores and not fitted and classes is None:
        raise ValueError(f"{who}: classes must name all labels where scores=True, got None. A row has a score for each of them.")
    return classes


def judged(learner: Any, codes: np.ndarray, truth: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return which rows `predict_and_learn` has learnt, and which of these it predicted wrong (of others, anything)."""
    live = codes != NO_ROUND
    return live, (codes < 0) | (learner.classes_[np.maximum(codes, 0)] != truth) if live.any() else live


def live_of(weights: np.ndarray, n_rows: int) -> np.ndarray:
    """Return the rows of weight > 0."""
    return weights > 0.0 if len(weights) else np.ones(n_rows, bool)


def weighted(weights: np.ndarray) -> dict[str, np.ndarray]:
    """Return the argument sample_weight of a call, none where all are 1."""
    return {"sample_weight": weights} if len(weights) else {}


def _named(learner: Any, codes: np.ndarray) -> np.ndarray:
    """Return the labels of predicted classes as objects, None without a prediction."""
    found, known = np.full(len(codes), None, object), codes >= 0
    if known.any():  # (rows of weight 0 alone make no model)
        found[known] = learner.classes_[codes[known]]
    return found


class ClassifierRun:
    """A classifier on a stream, and the curve of its mistakes. by_row : as `is_by_row` tells."""

    def __init__(self, learner: Any, curve: Curve) -> None:
        self.learner, self.curve = learner, curve
        self.is_pipeline, self.counts = isinstance(learner, StreamPipeline), isinstance(learner, OnlineClassifier)
        self.by_row, self.fitted = is_by_row(learner), hasattr(learner, "classes_")

    def learn(self, X: Any, y: np.ndarray, truth: np.ndarray, weights: np.ndarray, classes: ArrayLike | None) -> Any:
        """Predict rows and learn them, and return where the predictions were wrong.

        truth : labels to count mistakes against. weights : of the rows, empty if all are 1. classes : for the first call.
        """
        learner, curve = self.learner, self.curve
        if self.counts or self.is_pipeline:
            self.fitted = learner.__sklearn_is_fitted__()
        scored = scores_of(learner, X, len(y)) if curve.scores and self.fitted and not self.is_pipeline else ()
        begun, updates, live = time.perf_counter(), 0, live_of(weights, len(y))
        given = weights if len(weights) else None
        predicted: Any = None
        if self.counts:
            before = learner.n_updates_ if self.fitted else 0
            codes = predict_and_learn(learner, X, y, None if self.fitted else classes, given)
            curve.seconds += time.perf_counter() - begun
            live, wrong = judged(learner, codes, truth)
            if self.fitted or live.any():
                updates = learner.n_updates_ - before
            predicted = _named(learner, codes) if curve.every_row else None
        elif self.is_pipeline:
            live = live_rows(learner[-1], y, given)
            predicted, scored = learn_predicting(learner, X, y, classes, weights, curve.scores)
            curve.seconds += time.perf_counter() - begun
            wrong = np.array([each is None or each != label for each, label in zip(predicted, truth, strict=True)], bool)
        else:
            predicted = np.asarray(learner.predict(X)).astype(object) if self.fitted else np.full(len(y), None, object)
            if live.any():  # (scikit-learn's refuse rows that all have a weight of 0)
                learner.partial_fit(X, y, **({} if self.fitted else {"classes": classes}), **weighted(weights))
                self.fitted = True
            wrong = np.asarray(predicted != truth, bool)
            curve.seconds += time.perf_counter() - begun
        wrong = wrong & live
        curve.count(live, wrong, weights, updates)
        curve.add(truth, predicted, live, weights, scored)
        return wrong
