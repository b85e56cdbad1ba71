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
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

try:
    from river import base
    from river.utils.dataframe import into_frame, to_native_frame, to_native_series
except ImportError as error:
    raise ImportError(
        f'onlinecls.river: needs river 0.26 or later, which is not installed ({error}). pip install "onlinecls[river]"'
    ) from None

from ._estimators.estimator import Estimator
from ._estimators.second_order import AROWClassifier, AROWRegressor
from ._input import validate
from ._input.compat import kind_of
from ._pipeline import StreamPipeline, is_fitted, make_stream_pipeline
from .streams import FeatureRows
from .tables import TableVectorizer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from numpy.typing import ArrayLike

__all__ = ["Classifier", "Regressor"]

_N_FEATURES = 2**18


def _hashed(who: str, rows: Sequence[dict[Any, Any]], n_features: int) -> Any:
    """Return rows of dicts as a CSR matrix, hashed as by scikit-learn's FeatureHasher: a text v of a name n is "n=v"."""
    n = max(len(rows), 1)
    found = FeatureRows(n, n, n_features, np.float64)
    for x in rows:
        names, values = [], []
        try:
            for name, value in x.items():
                is_text = isinstance(value, str)
                names.append((f"{name}={value}" if is_text else str(name)).encode())
                values.append(1.0 if is_text else value)
            is_row = found.add(names, values)
        except (AttributeError, TypeError, OverflowError, UnicodeEncodeError):
            is_row = False
        if not is_row:
            raise ValueError(
                f"{who}: a row must be a dict of finite numbers and texts, got {validate.brief(x)}. For what is missing, dates, "
                "lists and texts, put a TableVectorizer or a HashingVectorizer in front of the learner (make_stream_pipeline)."
            )
    return found.take()[0].matrix()


def _rows_of(X: Any) -> list[Any]:
    """Return the rows of a data frame as dicts, those of anything else as they are."""
    if hasattr(X, "sparse") and X.size:  # (pandas's, as BagOfWords makes it)
        counts, names = X.sparse.to_coo().tocsr(), np.asarray(X.columns, object)
        indices, values = counts.indices, counts.data
        return [dict(zip(names[indices[i:k]], values[i:k].tolist(), strict=True)) for i, k in pairwise(counts.indptr)]
    return into_frame(X).rows(named=True) if hasattr(X, "columns") else list(X)


def _frame_of(X: Any) -> Any:
    """Return a data frame, or a series, as narwhals' frame, whose kind and index predictions take over."""
    return into_frame(X if hasattr(X, "columns") else X.to_frame())


class _Model:
    """The base of `Classifier` and `Regressor`: rows of river for a model of this library, a copy of which learns."""

    _kind: str
    _target: str
    _nothing: float | None
    _given: Any
    learnt: Any

    def __init__(self, model: Any, n_features: int = _N_FEATURES) -> None:
        if isinstance(n_features, bool) or not isinstance(n_features, int | np.integer) or not 1 <= n_features < 2**31:
            raise ValueError(
                f"{type(self).__name__}: n_features must be an integer in 1..2**31 - 1, got n_features={n_features!r}."
            )
        self.model, self.n_features = model, n_features

    @property
    def model(self) -> Any:
        """The model as it was given, which stays as it is."""
        return self._given

    @model.setter
    def model(self, model: Any) -> None:
        if isinstance(model, dict):  # river's `mutate` assigns parameters
            for each in (self._given, self.learnt):
                each.set_params(**model)
            return
        learner = model[-1] if isinstance(model, StreamPipeline) else model
        if not isinstance(model, Estimator) or kind_of(learner) != self._kind:
            raise TypeError(
                f"{type(self).__name__}: model must be a {self._kind} of onlinecls with one {self._target} a row, or a "
                f"StreamPipeline with one at its end, got {validate.brief(model)}."
            )
        self._given, self.learnt = model, deepcopy(model)

    @property
    def _mutable_attributes(self) -> set[str]:
        return {"model"}

    def _read(self, rows: Any) -> Any:
        """Return rows, a data frame or a list, as the model takes them."""
        return rows if isinstance(self.learnt, StreamPipeline) else _hashed(type(self).__name__, _rows_of(rows), self.n_features)

    def learn_one(self, x: dict[Any, Any], y: Any, w: float = 1.0) -> None:
        """Learn a row.

        Parameters
        ----------
        x : dict of features, or what the first step of a pipeline reads
        y : the row's label, or target
        w : float >= 0, default=1.0
            The row's weight.
        """
        self.learnt.partial_fit(self._read([x]), [y], **({} if w == 1.0 else {"sample_weight": [w]}))

    def learn_many(self, X: Any, y: Any, w: ArrayLike = 1.0) -> None:
        """Learn the rows of a batch one after the other, to the same model, bit for bit, as by `learn_one`.

        Parameters
        ----------
        X : data frame of pandas, polars or pyarrow, or what the first step of a pipeline reads
        y : series, or array-like of shape (n_rows,)
            The rows' labels, or targets.
        w : float or array-like of shape (n_rows,), default=1.0
            Weights >= 0 of the rows.
        """
        y = np.asarray(y)
        self.learnt.partial_fit(self._read(X), y, sample_weight=np.full(len(y), w) if np.ndim(w) == 0 else w)

    def predict_one(self, x: dict[Any, Any], **kwargs: Any) -> Any:
        """Return the prediction for a row; before one is learnt None (a regressor's: 0.0). kwargs : ignored, as in river."""
        return self.learnt.predict(self._read([x])).item(0) if is_fitted(self.learnt) else self._nothing

    def predict_many(self, X: Any) -> Any:
        """Return what `predict_one` returns for each row of a batch, as a series of the data frame's kind with its index."""
        frame = _frame_of(X)
        found = self.learnt.predict(self._read(X)) if is_fitted(self.learnt) else [self._nothing] * len(frame)
        return to_native_series(found, name=None, like=frame)


class Classifier(_Model, base.MiniBatchClassifier):
    """A classifier, or a pipeline with one at its end, as a classifier of river.

    It goes wherever river takes a classifier: behind its transformers, into its ensembles, evaluation, drift detection and model
    selection. Labels are of any kind, and join as they appear.

    Parameters
    ----------
    model : classifier, or StreamPipeline
        A pipeline gets the rows as they are; in front of a learner alone, features are hashed to columns as by scikit-learn's
        `FeatureHasher` (and in JSON lines with "features"), absent ones are 0, and a text v of a feature n is the feature "n=v".
        `model` itself does not learn, a copy of it does.
    n_features : int in 1..2**31 - 1, default=2**18
        Columns of the rows of a learner alone.

    Attributes
    ----------
    learnt : classifier, or StreamPipeline
        The copy, as it has learnt so far: its `coef_`, `explain`, `save` and so on.

    Raises
    ------
    TypeError
        If `model` is something else.
    ValueError
        If `n_features` is out of its range; from the methods, if a row, label or weight is none. Nothing is learnt then.

    Notes
    -----
    A `clone` begins where `model` stood when it was given, which is anew if that had learnt nothing. A model from a file goes on
    learning: ``Classifier(onlinecls.load(path))``. ``mutate({"model": {"r": 0.1}})`` sets parameters of `model` from the next row
    on, ``mutate({"model": other})`` begins with another model.

    Examples
    --------
    >>> from onlinecls import AROWClassifier, make_stream_pipeline
    >>> from onlinecls.river import Classifier
    >>> from onlinecls.tables import TableVectorizer
    >>> model = Classifier(make_stream_pipeline(TableVectorizer(), AROWClassifier(probability=True)))
    >>> for x, y in [({"price": 9.5, "color": "red"}, "no"), ({"price": 900.0, "color": None}, "yes")] * 20:
    ...     model.learn_one(x, y)
    >>> model.predict_one({"price": 800.0})
    'yes'
    >>> round(model.predict_proba_one({"price": 800.0})["yes"], 2)
    0.98
    """

    _kind, _target, _nothing = "classifier", "label", None

    @property
    def _multiclass(self) -> bool:
        return True

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"model": AROWClassifier()}
        yield {"model": make_stream_pipeline(TableVectorizer(), AROWClassifier(probability=True))}

    def _require_probabilities(self) -> None:
        if not hasattr(self.learnt, "predict_proba"):
            raise NotImplementedError(
                f"{type(self).__name__}: probabilities must come from a learner that has them, got {validate.brief(self.model)}. "
                "Construct it with probability=True."
            )

    def predict_proba_one(self, x: dict[Any, Any], **kwargs: Any) -> dict[Any, float]:
        """Return the probability of each label for a row; {} before one is learnt.

        Raises
        ------
        NotImplementedError
            If the learner has no probabilities (``probability=True``).
        """
        self._require_probabilities()
        if not is_fitted(self.learnt):
            return {}
        return dict(zip(self.learnt.classes_.tolist(), self.learnt.predict_proba(self._read([x]))[0].tolist(), strict=True))

    def predict_proba_many(self, X: Any) -> Any:
        """Return the probabilities of the labels for each row of a batch, as a data frame of its kind with a column a label."""
        self._require_probabilities()
        frame = _frame_of(X)
        if not is_fitted(self.learnt):
            return to_native_frame({}, like=frame)
        found = self.learnt.predict_proba(self._read(X)).T
        return to_native_frame(dict(zip(self.learnt.classes_.tolist(), found, strict=True)), like=frame)


class Regressor(_Model, base.MiniBatchRegressor):
    """A regressor, or a pipeline with one at its end, as a regressor of river.

    Parameters
    ----------
    model : regressor, or StreamPipeline
        As of `Classifier`.
    n_features : int in 1..2**31 - 1, default=2**18
        Columns of the rows of a learner alone.

    Attributes
    ----------
    learnt : regressor, or StreamPipeline
        The copy of `model` that learns, as it has learnt so far.

    Raises
    ------
    TypeError
        If `model` is something else.
    ValueError
        If `n_features` is out of its range; from the methods, if a row, target or weight is none. Nothing is learnt then.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from onlinecls import PassiveAggressiveRegressor
    >>> from onlinecls.river import Regressor
    >>> model = preprocessing.StandardScaler() | Regressor(PassiveAggressiveRegressor())
    >>> evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    MAE: 0.24714
    """

    _kind, _target, _nothing = "regressor", "target", 0.0

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"model": AROWRegressor()}
        yield {"model": make_stream_pipeline(TableVectorizer(), AROWRegressor())}
