"""Learners and pipelines as models of river (``pip install "onlinecls[river]"``).

>>> from river import datasets, evaluate, metrics, preprocessing
>>> from onlinecls import AROWClassifier
>>> from onlinecls.river import Classifier
>>> model = preprocessing.StandardScaler() | Classifier(AROWClassifier())
>>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
Accuracy: 89.35%
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any, cast

try:
    from river import base
    from river.utils.dataframe import into_frame, to_native_frame, to_native_series
except ImportError as error:
    raise ImportError(f'onlinecls.river: needs river 0.26 or later ({error}). pip install "onlinecls[river]"') from None

from ._estimators.estimator import Estimator
from ._estimators.linear import AROWClassifier, AROWRegressor
from ._input import validate
from ._input.compat import kind_of
from ._pipeline import StreamPipeline, is_fitted, make_stream_pipeline
from .tables import TableVectorizer
from .text import HashingVectorizer

__all__ = ["Classifier", "Regressor"]

_WORDS = HashingVectorizer(n_features=2**18, norm=None)  # of rows for a learner alone


class _Model:
    """A model of river around a copy of a model of this library.

    Rows go to a pipeline as they are. For a learner alone they are dicts of numbers and texts, hashed to 2^18 columns as by
    scikit-learn's `FeatureHasher`: absent features are 0, a text v of a feature n is the feature "n=v". Several rows are learnt
    to the same model, bit for bit, as one by one. A row, label or weight that is none is a ValueError, and nothing is learnt.
    A `clone` begins where `model` stood when it was given; a model from a file goes on learning.

    Parameters
    ----------
    model : classifier (of `Classifier`) or regressor (of `Regressor`) of this library, or StreamPipeline with one at its end
        It does not learn itself, a copy of it does.

    Attributes
    ----------
    learnt : object
        The copy, as it has learnt so far: its `coef_`, `explain`, `save`, `set_params` and so on.
    """

    _kind, _nothing, _tried = "", cast("Any", None), cast("Any", ())  # _nothing : a prediction before a row; _tried : by river

    @classmethod
    def _unit_test_params(cls) -> Any:
        yield from ({"model": model} for model in cls._tried)

    def __init__(self, model: Any) -> None:
        if not isinstance(model, Estimator) or kind_of(model) != self._kind:
            needed = f"a {self._kind} of onlinecls, or a StreamPipeline with one at its end"
            raise TypeError(f"{type(self).__name__}: model must be {needed}, got {validate.brief(model)}.")
        self.model, self.learnt = model, cast("Any", deepcopy(model))

    def _read(self, rows: Any) -> Any:
        """Return rows, a data frame or a list of dicts, as the model takes them."""
        if isinstance(self.learnt, StreamPipeline):
            return rows
        rows = into_frame(rows).rows(named=True) if hasattr(rows, "columns") else rows
        try:
            return _WORDS.transform([dict(row) for row in rows])
        except (TypeError, ValueError) as error:
            needed = "a dict of finite numbers and texts, or the model a pipeline with a TableVectorizer or a HashingVectorizer"
            raise ValueError(f"{type(self).__name__}: a row must be {needed} ({error})") from None

    def _found(self, method: str, rows: Any) -> Any:
        """Return what a method of the model tells of rows, None before one is learnt."""
        if not hasattr(self.learnt, method):
            raise NotImplementedError(f"{type(self).__name__}: needs a learner with probability=True, got {self.model}.")
        return getattr(self.learnt, method)(self._read(rows)) if is_fitted(self.learnt) else None

    def learn_one(self, x: dict[Any, Any], y: Any, w: float = 1.0) -> None:
        """Learn a row, its label or target, and its weight."""
        self.learn_many([x], [y], w)

    def learn_many(self, X: Any, y: Any, w: Any = 1.0) -> None:
        """Learn the rows of a data frame, or of what the first step of a pipeline reads, with weights or one weight of all."""
        self.learnt.partial_fit(self._read(X), y, sample_weight=w)

    def predict_one(self, x: dict[Any, Any], **kwargs: Any) -> Any:
        """Return the prediction for a row; before one is learnt None (a regressor's: 0.0). kwargs : ignored, as in river."""
        found = self._found("predict", [x])
        return self._nothing if found is None else found.item(0)

    def predict_many(self, X: Any) -> Any:
        """Return what `predict_one` returns for each row of a batch, as a series of the data frame's kind with its index."""
        frame, found = into_frame(X if hasattr(X, "columns") else X.to_frame()), self._found("predict", X)
        return to_native_series([self._nothing] * len(frame) if found is None else found, name=None, like=frame)


class Classifier(_Model, base.MiniBatchClassifier):
    __doc__, _kind, _multiclass = f"A classifier in river. {_Model.__doc__}", "classifier", True
    _tried = AROWClassifier(), make_stream_pipeline(TableVectorizer(), AROWClassifier(probability=True))

    def predict_proba_one(self, x: dict[Any, Any], **kwargs: Any) -> dict[Any, float]:
        """Return the probability of each label for a row ({} before one is learnt), of a learner with ``probability=True``."""
        found = self._found("predict_proba", [x])
        return {} if found is None else dict(zip(self.learnt.classes_.tolist(), found[0].tolist(), strict=True))

    def predict_proba_many(self, X: Any) -> Any:
        """Return the probabilities of the labels for each row of a batch, as a data frame of its kind with a column a label."""
        found = self._found("predict_proba", X)
        columns = {} if found is None else dict(zip(self.learnt.classes_.tolist(), found.T, strict=True))
        return to_native_frame(columns, like=into_frame(X if hasattr(X, "columns") else X.to_frame()))


class Regressor(_Model, base.MiniBatchRegressor):
    __doc__, _kind, _nothing = f"A regressor in river. {_Model.__doc__}", "regressor", 0.0
    _tried = AROWRegressor(), make_stream_pipeline(TableVectorizer(), AROWRegressor())
