"""One-class learners (the paper's uniclass) and the passive-aggressive one's model: the centre of a ball around the rows."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from math import fsum
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ..._estimators.learner import OnlineLearner, over
from ..._estimators.parameters import EpochParameters, estimator
from ..._models import NO_WEIGHTS
from ..shared.groups import WithGroups
from .centre import FIELDS, CentreModel

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ..._input.types import FloatOrAuto, FloatType, Matrix


@dataclass(init=False, eq=False, repr=False, kw_only=True)
class OnlineOneClass(EpochParameters, OnlineLearner):
    """Base of the one-class learners: a centre, without targets or an intercept (a constant feature cancels in x - w)."""

    scale: FloatOrAuto = "auto"
    dtype: FloatType | None = None

    _estimator_type = "outlier_detector"
    _has_fast_path = False
    _read_targets = staticmethod(lambda who, y, n_rows: NO_WEIGHTS)
    _task = staticmethod(lambda state: "one_class")

    # --- learning ------------------------------------------------------------------------------------------------------------

    def partial_fit(self, X: Matrix, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        return super().partial_fit(X, y, sample_weight)

    def fit(self, X: Matrix, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        return super().fit(X, y, sample_weight)

    def fit_predict(self, X: Matrix, y: Any = None, sample_weight: ArrayLike | None = None) -> NDArray[np.int64]:
        """Run `fit`, then `predict` the same rows: ndarray of int64, shape (n_samples,)."""
        return self.fit(X, y, sample_weight).predict(X)

    # --- what is read of a model ---------------------------------------------------------------------------------------------

    def score_samples(self, X: Matrix) -> NDArray[np.float64]:
        """Compute -||x - w|| of each row, in units of the features: higher is more normal. ndarray of float64, (n_samples,).

        Within rounding of the ball's surface, where an update leaves its row, it is exactly `offset_`.
        """
        distances, state = self._decide(X)
        with np.errstate(under="ignore"):
            return -distances[:, 0] * (state.scale or 1.0)

    def decision_function(self, X: Matrix) -> NDArray[np.float64]:
        """Compute epsilon - ||x - w|| of each row, `score_samples` less `offset_`: below 0 for outliers. ndarray of float64."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: Matrix) -> NDArray[np.int64]:
        """Return 1 for rows within epsilon of the centre, -1 for the others: ndarray of int64, shape (n_samples,)."""
        return np.where(self.decision_function(X) >= 0.0, 1, -1)

    @property
    def center_(self) -> NDArray[np.floating]:
        """The centre w, (n_features,), in the model's dtype. Computed when read, O(n_features)."""
        state = self._fitted_state()
        with np.errstate(under="ignore"):
            return over(state.weights_of(slice(0, state.n_features))[0], 1.0 / (state.scale or 1.0))

    @property
    def offset_(self) -> float:
        """-epsilon in units of the features: where `score_samples` turns from outlier to inlier."""
        state = self._fitted_state()
        return -state.params.epsilon * (state.scale or 1.0)

    @property
    def n_mistakes_(self) -> int:
        """Rounds after the first whose row `predict`, called just before the update, would have called an outlier."""
        return self._fitted_state().count("mistakes")


class CentreState(WithGroups, CentreModel):
    """values : u of the centre a u. groups : see centre.pyx."""

    geometry = "centre"
    FIELDS = FIELDS

    def _merge_values(self, models: list[Any], shares: list[float]) -> None:
        begun = [(each, share) for each, share in zip(models, shares, strict=True) if each.numbers("scale")[0]]
        total = sum(share for _, share in begun)
        centres = [share / total * state.numbers("scale") * state.values.astype(np.float64) for state, share in begun]
        if centres:
            self.values = np.sum(centres, axis=0).astype(self.dtype)
        high = fsum(self.values.astype(np.float64) ** 2)
        self.groups = np.array([[high, 0.0, high, float(len(centres) > 0)]])

    def _last_weights(self, features: slice) -> np.ndarray:
        return (self.numbers("scale") * self.slot(0, features)).astype(self.dtype)


@estimator
class PassiveAggressiveOneClass(OnlineOneClass):
    """Passive-aggressive one-class learner (uniclass): a ball of radius epsilon that moves just enough to contain each row.

    The first row is the centre w (t_ = 1, no update). Then, with n = ||x - w||, loss l = [n - epsilon]+ and the row's weight c,

        w += min(1, c) l (x - w) / n:

    the smallest step after which the ball contains x. A row costs O(nnz): the centre is kept as a number times a vector, together
    with its length. Distances are differences of squares: ||x - w|| is exact to about sqrt(eps) (||x|| + ||w||), eps the dtype's
    spacing, so centre data that lie far from 0.

    K. Crammer et al.: Online Passive-Aggressive Algorithms, NIPS 2003, sections 2 and 3 (with w_1 the first row).

    Parameters
    ----------
    epsilon : float, default=1.0
        Radius of the ball, >= 0, around rows x / scale. With 0 the centre is the last row, at O(n_features) a row.
    {shared}

    Examples
    --------
    >>> from onlinecls import PassiveAggressiveOneClass
    >>> learner = PassiveAggressiveOneClass(epsilon=1.0, scale=1.0).partial_fit([[0.0, 0.0], [3.0, 4.0], [0.0, 0.0]])
    >>> learner.center_.round(12).tolist(), learner.predict([[0.0, 0.5], [3.0, 4.0]]).tolist()
    ([0.6, 0.8], [1, -1])
    """

    epsilon: float = 1.0
    _: KW_ONLY
    loss_tol: float | None = None
