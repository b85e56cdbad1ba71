"""Learners of vectors of weights, and of their variances: what is read of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Self

import numpy as np

from .._models.state import read_only
from .estimator import quiet
from .fitting import set_weights
from .learner import OnlineLearner, exclusive, scores_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from .._input.types import Matrix


def over(numbers: np.ndarray, unit: float) -> np.ndarray:
    """Return a model's numbers divided by their unit, within the range of their dtype: as they are where it is 1, or unknown."""
    if unit in (0.0, 1.0):
        return numbers
    largest = float(np.finfo(numbers.dtype).max)
    with np.errstate(over="ignore"):
        return read_only(np.clip(numbers / numbers.dtype.type(unit), -largest, largest))


class WithWeights(OnlineLearner):
    """A learner of vectors of weights, one for each score."""

    @property
    @quiet
    def coef_(self) -> NDArray[np.floating]:
        """Weights, one row a class (regressors: 1-D): a read-only view of the model where possible. Copy it to keep it.

        ``learner.coef_ = W`` sets them, if the learner stores weights and not what they follow from, and keeps all else that it
        has learnt; so does ``learner.intercept_ = b``. (numpy refuses changes of the view itself: "read-only".)
        """
        state = self._fitted_state()
        sparse = state.sparse_coef  # (once: another thread that learns sets it to None)
        if sparse is not None:
            return sparse
        coef = over(state.weights_of(slice(0, state.n_features)), state.scale)
        return coef[0] if self._flat else coef

    @coef_.setter
    def coef_(self, weights: ArrayLike) -> None:
        self._set_weights("coef_", weights)

    @property
    @quiet
    def intercept_(self) -> NDArray[np.floating]:
        """Weight of the constant feature times its value, (1,) or (n_classes,).

        Of a regressor that learns deviations from the mean of its targets, that mean is added, in float64.
        """
        state = self._fitted_state()
        with np.errstate(over="ignore"):  # (what follows bounds it)
            found = state.weights_of(slice(state.n_features, None))[:, 0].astype(np.float64) * state.constant
        largest = float(np.finfo(state.dtype).max)
        found = np.clip(found, -largest, largest)
        return found + state.level if state.params.level else found.astype(state.dtype)

    @intercept_.setter
    def intercept_(self, weights: ArrayLike) -> None:
        self._set_weights("intercept_", weights)

    @exclusive
    def _set_weights(self, name: str, weights: ArrayLike) -> None:
        """Go on with a copy of the model that has these weights of X, the average's too."""
        state = self._fitted_state().copy()
        if not state.TAKES_WEIGHTS:
            raise AttributeError(
                f"{type(self).__name__}: {name} must be what the rows have taught, as it follows from other numbers, got weights "
                "to set. Use AROWClassifier or PassiveAggressiveClassifier, say."
            )
        set_weights(self, state, **{name: weights})
        state.sparse_coef = None
        self._state = state

    def sparsify(self) -> Self:
        """Make ``coef_`` a scipy CSR matrix, until the next learning or `densify`. Returns the estimator."""
        from scipy.sparse import csr_matrix

        with self._own_lock().waiting():  # (no row is learnt between the two lines)
            state = self._fitted_state()
            state.sparse_coef = csr_matrix(self.coef_)
        return self

    def densify(self) -> Self:
        """Make ``coef_`` an array again. Returns the estimator."""
        self._fitted_state().sparse_coef = None
        return self


@dataclass(init=False, eq=False, repr=False, kw_only=True)
class WithVariances(OnlineLearner):
    """A learner that keeps a variance for each weight."""

    covariance: Literal["diagonal", "full"] = "diagonal"

    @property
    @quiet
    def covariance_(self) -> NDArray[np.floating]:
        """Covariance Σ of the weights.

        Diagonal: the variances, the shape of ``coef_``, a read-only view of the model. Full: a copy, of shape
        (n_features, n_features), or (n_classes, n_features, n_features) for three classes or more.
        """
        state = self._fitted_state()
        found = state.covariance(self._flat)
        return over(found[:-1] if state.n_none else found, state.scale * state.scale)

    def _decide_with_std(self, X: Matrix) -> tuple[np.ndarray, np.ndarray]:
        """Return the scores of X and their standard deviations √(x'Σx), (rows, vectors) each."""
        state = self._fitted_state()
        rows = self._read_rows(X, state)
        return scores_of(state.decision, rows, state), scores_of(state.deviation, rows, state)
