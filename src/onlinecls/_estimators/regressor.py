"""The base of all regressors: targets, progressive errors, R^2."""

from __future__ import annotations

from math import frexp
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from .._compiled import model
from .._input import validate
from .._input.compat import warn_caller
from .fitting import read_weights_of_fit
from .learner import scores_of
from .weights import WithVariances, WithWeights

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from .._input.types import Matrix, Numbers
    from .._rows import Rows


class OnlineRegressor(WithWeights):
    """Base of all regressors. A subclass adds its docstring and parameters; the registry has the rest."""

    _estimator_type = "regressor"
    _flat = True
    _read_targets = staticmethod(validate.read_targets)

    # --- learning ------------------------------------------------------------------------------------------------------------

    def _task(self, state: Any) -> str:
        return "regression"

    def _validate(self, rows: Rows, y: np.ndarray, weights: np.ndarray | None) -> float:
        return _r2(y, scores_of(self._state.decision, rows, self._state)[:, 0], weights)

    # --- predicting ----------------------------------------------------------------------------------------------------------

    def predict(self, X: Matrix) -> NDArray[np.float64]:
        """Predict w.x of each row, including the intercept.

        For X of shape (n_samples, n_features): ndarray of float64, shape (n_samples,), in units of y.
        """
        return self._decide(X)[0][:, 0]

    def score(self, X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Compute R^2, 1 - sum c (y - s)^2 / sum c (y - mean of y)^2: at most 1, and 0 for predicting the mean.

        If y is constant it is 1 for exact predictions, else 0; for fewer than two rows it is NaN, with a warning.
        """
        who, predicted = type(self).__name__, self.predict(X)
        y = validate.read_targets(who, y, len(predicted))
        weights = read_weights_of_fit(who, sample_weight, len(predicted))
        if len(y) < 2:
            warn_caller("R^2 score is not well-defined with less than two samples.", "UndefinedMetricWarning")
            return float("nan")
        return _r2(y, predicted, weights if len(weights) else None)

    # --- fitted attributes ---------------------------------------------------------------------------------------------------

    @property
    def progressive_mse_(self) -> float:
        """Mean squared error of `predict`, called just before each round's update (above 1e140: 1e140). NaN before the first."""
        return self._progressive("squared")

    @property
    def progressive_mae_(self) -> float:
        """Mean absolute error of `predict`, called just before each round's update. NaN before the first round."""
        return self._progressive("absolute")

    def _progressive(self, name: str) -> float:
        counters = self._fitted_state().counters
        rounds = counters[model.COUNTERS["t"]]
        return float(counters[model.COUNTERS[name]] / rounds) if rounds else float("nan")


class SecondOrderRegressor(WithVariances, OnlineRegressor):
    """A regressor that keeps a variance for each weight, or a full covariance."""

    @overload
    def predict(self, X: Matrix, return_std: Literal[False] = False) -> Numbers: ...
    @overload
    def predict(self, X: Matrix, return_std: Literal[True]) -> tuple[Numbers, Numbers]: ...
    def predict(self, X: Matrix, return_std: bool = False) -> Numbers | tuple[Numbers, Numbers]:
        """Predict w.x of each row, including the intercept, and optionally its standard deviation.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        return_std : bool, default=False
            Also return √(x'Σx) of each prediction.

        Returns
        -------
        predictions : ndarray of float64, shape (n_samples,), in units of y
        std : ndarray of float64, shape (n_samples,)
            Only with return_std: the uncertainty of w.x. With noise of variance r in y, a prior of variance 1 for each weight and
            a full covariance, it is the posterior's standard deviation, in units of y.
        """
        if not return_std:
            return self._decide(X)[0][:, 0]
        predictions, deviations = self._decide_with_std(X)
        return predictions[:, 0], deviations[:, 0]


def _r2(y: np.ndarray, predicted: np.ndarray, weights: np.ndarray | None) -> float:
    exponent = -frexp(np.abs(y).max())[1]  # (a power of two as unit, in which the squares fit)
    with np.errstate(over="ignore", under="ignore"):  # (predictions beyond all bounds: -inf)
        y, predicted = np.ldexp(y, exponent), np.ldexp(predicted, exponent)
        left = float(np.average((y - predicted) ** 2, weights=weights))
        whole = float(np.average((y - np.average(y, weights=weights)) ** 2, weights=weights))
    return 1.0 - left / whole if whole else float(left == 0.0)
