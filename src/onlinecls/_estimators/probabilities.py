"""Probabilities of margin classifiers: Platt's numbers for each score, learnt beside the model."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from .._models.calibration import finite, log_probabilities, normalised
from .classifier import OnlineClassifier
from .parameters import ClassifierParameters

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from numpy.typing import NDArray

    from .._input.types import Matrix


class WithProbabilities(OnlineClassifier):
    """A classifier that gives probabilities if it learns with `probability=True`."""

    probability: bool

    _leans = False  # True: the last weights lean so far towards the last rows that `fit` warns
    _kind = "average, of probability, of dtype or of the parameter that selects the algorithm"

    @property
    def predict_proba(self) -> Callable[[Matrix], NDArray[np.float64]]:
        """Probabilities of the classes; there only with ``probability=True``.

        1 / (1 + exp(-(a s + b))) of the score s, with numbers a and b that were learnt from the score of each row just before
        the row itself was (in `fit` in the first epoch alone). Of two classes that of ``classes_[1]``, of more each against the
        rest, normalised. `predict` goes by the scores: where two classes are about as likely, it may name another one.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of float64, shape (n_samples, n_classes)
            In the order of ``classes_``; each row's sum is 1.
        """
        self._require_probabilities("predict_proba")
        return self._predict_proba

    @property
    def predict_log_proba(self) -> Callable[[Matrix], NDArray[np.float64]]:
        """Logarithms of `predict_proba`, finite also where a probability is too small for a number; arguments as its."""
        self._require_probabilities("predict_log_proba")
        return self._predict_log_proba

    def _check_call(self, X: Matrix, whole: bool) -> None:
        super()._check_call(X, whole)
        if whole and self._leans and self.probability and not self.average:
            warnings.warn(
                f"{type(self).__name__}: probability=True should come with average=True, got average={self.average!r}. The "
                "last weights, and thus the scores, lean towards the rows that came last, so the probabilities may be off. Set "
                "average=True, or use AROWClassifier or NAROWClassifier.", UserWarning, stacklevel=5,
            )

    def _require_probabilities(self, name: str) -> None:
        """Raise an AttributeError without probabilities, so that hasattr is False."""
        if not self._gives_probabilities():
            raise AttributeError(
                f"{type(self).__name__}: {name} must have probability=True, got probability={self.probability!r}. "
                "Set probability=True before the model learns."
            )

    def _gives_probabilities(self) -> bool:
        return bool(self.probability)

    def _predict_proba(self, X: Matrix) -> NDArray[np.float64]:
        logs = self._predict_log_proba(X)
        return np.exp(logs, logs)

    def _predict_log_proba(self, X: Matrix) -> NDArray[np.float64]:
        scores, state = self._decide(X)
        if len(state.classes) < 2:
            return np.zeros((len(scores), 1))
        return self._log_probabilities(state, scores)

    def _log_probabilities(self, state: Any, scores: np.ndarray) -> np.ndarray:
        """Return log probabilities for these scores of the model."""
        pairs = self._sigmoids(state)
        return normalised(finite(scores)) if pairs is None else log_probabilities(scores, pairs)

    def _sigmoids(self, state: Any) -> np.ndarray | None:
        """Return Platt's numbers for each vector of weights; None where probabilities are the softmax of the scores."""
        if len(state.calibration) == 0:
            raise ValueError(
                f"{type(self).__name__}: predict_proba must have a model that was learnt with probability=True, got one that was "
                "not. Call fit, or start with clone(estimator)."
            )
        return state.calibration


class LinearClassifier(ClassifierParameters, WithProbabilities):
    """Base of the classifiers that have the parameters of all, for a subclass to add its own."""
