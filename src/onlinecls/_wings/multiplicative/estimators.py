"""Learners with multiplicative steps, the multiplicative form of the passive-aggressive algorithms for all three tasks, and their
models: weights on a simplex, and its normalisers."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..._estimators.learner import OnlineLearner
from ..._estimators.parameters import LinearParameters, estimator
from ..._estimators.tasks import LinearClassifier, OnlineRegressor
from ..._models import WEIGHT, Array
from ..one_class.estimators import OnlineOneClass
from ..shared.groups import WithGroups
from ..shared.simplex import GROUP
from .multiplicative import SimplexModel

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from ..._input.types import Matrix
    from ..._rows import Rows


class SignedSimplexState(WithGroups, SimplexModel):
    """values : powers sinh(θ) e^-K and θ, of which halves are -θ and θ, as learners of each class would have. groups : see
    simplex.pxd."""

    geometry = "sinh"
    KEPT = (*WithGroups.KEPT, "has_intercept")
    FIELDS = tuple(GROUP)
    KNOWN = "high"
    SLOTS = (Array(half=0.0, merge=None), WEIGHT._replace(half=-1.0))  # (powers come with the group's numbers)
    PRIMARY = 1

    def _last_weights(self, features: slice) -> np.ndarray:
        known = self.known()
        gain = self.params.norm_bound / (known.numbers("high") + known.numbers("low"))
        return (gain * known.slot(0, features)).astype(self.dtype)


class SimplexState(SignedSimplexState):
    """values : powers e^(θ - K) and θ, of weights above 0."""

    geometry = "exp"


class _Multiplicative(OnlineLearner):
    """Base of the multiplicative learners of the three tasks."""

    signed: bool

    _has_fast_path = False  # (the signs of X are checked)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = not self.signed
        return tags

    def _read_rows(self, X: Matrix, state: Any, learns: bool = False) -> Rows:
        rows = super()._read_rows(X, state)
        if not self.signed and rows.data.min(initial=0.0) < 0.0:
            at = int((rows.data < 0.0).argmax())
            row = int(np.searchsorted(rows.indptr, at, side="right")) - 1
            column = rows.indices[at] if len(rows.indices) else at - rows.indptr[row]
            raise ValueError(
                f"{type(self).__name__}: X must be >= 0 with signed=False, got {rows.data[at]:g} at row {row}, column {column} "
                "(Negative values in data). Use signed=True for features of both signs."
            )
        return rows


@estimator
class MultiplicativePassiveAggressiveClassifier(_Multiplicative, LinearClassifier):
    """Multiplicative passive-aggressive: steps that multiply the weights, for many features, few of them relevant.

    With W = norm_bound, the margin m = y w.x, loss l = [margin - m]+ and the row's weight c, theta += tau y x and

        signed=True  (EG+-):  w_j = W sinh(theta_j) / sum cosh(theta),   tau = min(1, c) l / (W max|x|^2)
        signed=False:         w_j = W exp(theta_j) / sum exp(theta),     tau = min(1, c) 4 l / (W max|x|^2)

    for each class against the rest or, with ``multi_class="crammer_singer"``, with x on the true class, -x on the best wrong one,
    one sum over all classes, and tau = min(1, c) l / (W max|x|^2) in both forms. With W = 1 the second form is the paper's:
    w_j <- w_j exp(tau y x_j) / Z from equal weights. The first is the second on the features W x and -W x.
    A row costs O(nnz), ``coef_`` O(n_features) when it is read. ``average`` is refused.

    K. Crammer et al.: Online Passive-Aggressive Algorithms, NIPS 2003, section 6 and Theorem 4.

    Parameters
    ----------
    margin : float, default={margin}
        The wanted margin, > 0. Only ``margin / norm_bound`` matters to the predictions. It must be below W max|x|, or no row can
        reach it and every row is an update.
    signed : bool, default=True
        Weights of both signs. False: weights >= 0, for features >= 0 (checked); of two classes the second is then always
        predicted, as no score is below 0.
    norm_bound : float, default=8.0
        W, > 0: the sum of the weights' absolute values is at most this (signed=False: equal to it).
    {shared}

    Examples
    --------
    >>> from onlinecls import MultiplicativePassiveAggressiveClassifier
    >>> learner = MultiplicativePassiveAggressiveClassifier(margin=0.5, fit_intercept=False)
    >>> learner.partial_fit([[2.0, 0.0]], [1], classes=[0, 1]).coef_.round(3).tolist()
    [[0.125, 0.0]]
    """

    margin: float = 0.2
    _: KW_ONLY
    signed: bool = True
    norm_bound: float = 8.0
    multi_class: Literal["ovr", "crammer_singer"] = "crammer_singer"


@estimator
class MultiplicativePassiveAggressiveRegressor(_Multiplicative, LinearParameters, OnlineRegressor):
    """Multiplicative passive-aggressive regression: steps that multiply the weights, for many features, few of them relevant.

    With W = norm_bound, the prediction s = w.x, loss l = [|y - s| - epsilon]+ and the row's weight c, theta += tau sgn(y - s) x,
    with the weights w and the step tau of `MultiplicativePassiveAggressiveClassifier` (of NIPS 2003, section 6 and Theorem 4).

    Parameters
    ----------
    epsilon : float, default=0.1
        Residuals up to epsilon, >= 0, in units of y, have no loss and change nothing.
    signed : bool, default=True
        Weights of both signs. False: weights >= 0, for features >= 0 (checked) and targets that rise with them.
    norm_bound : float, default=8.0
        W, > 0, in units of y: the sum of the weights' absolute values is at most this (signed=False: equal to
        it). Predictions lie in [-W max|z|, W max|z|], z = x / scale: set it to the sum of the weights that you expect.
    {shared}

    Examples
    --------
    >>> from onlinecls import MultiplicativePassiveAggressiveRegressor
    >>> learner = MultiplicativePassiveAggressiveRegressor(epsilon=0.0, signed=False, norm_bound=1.0, fit_intercept=False)
    >>> learner.partial_fit([[1.0, 0.0]] * 9, [0.8] * 9).coef_.round(2).tolist()
    [0.8, 0.2]
    """

    _poor_score = True  # (on small sets of one column that matters it depends on the unit of X within its factor of two)

    epsilon: float = 0.1
    _: KW_ONLY
    signed: bool = True
    norm_bound: float = 8.0


@estimator
class MultiplicativePassiveAggressiveOneClass(_Multiplicative, OnlineOneClass):
    """Multiplicative passive-aggressive one-class learner (uniclass): a ball of radius epsilon whose centre is nearly sparse.

    With W = norm_bound, n = ||x - w||, loss l = [n - epsilon]+ and the row's weight c, theta += tau (x - w) / n,

        tau = min(1, c) l / (8 W max|v|^2),   v = (x - w) / n,

    with the weights w of `MultiplicativePassiveAggressiveClassifier` (of NIPS 2003, section 6; Theorem 4 holds as
    (15/16) sum l^2 + (epsilon - epsilon*) sum l <= 8 W^2 D_RE). The centre begins at 0 (signed=False: at W / n_features in each
    component), and a step does not end at the ball's surface. A row outside the ball costs O(n_features), one inside O(nnz).
    Distances are differences of squares: ||x - w|| is exact to about 1e-8 (||x|| + ||w||).

    Parameters
    ----------
    epsilon : float, default=1.0
        Radius of the ball, >= 0, around rows x / scale.
    signed : bool, default=True
        A centre of any signs, whose absolute values sum to at most W. False: components >= 0 that sum to W, for features >= 0
        (checked).
    norm_bound : float, default=1.0
        W, > 0.
    {shared}

    Examples
    --------
    >>> from onlinecls import MultiplicativePassiveAggressiveOneClass
    >>> learner = MultiplicativePassiveAggressiveOneClass(epsilon=0.3, scale=1.0)
    >>> learner.partial_fit([[0.5, 0.0]] * 50).center_.round(2).tolist(), learner.predict([[0.3, 0.0], [-0.3, 0.0]]).tolist()
    ([0.19, 0.0], [1, -1])
    """

    epsilon: float = 1.0
    _: KW_ONLY
    signed: bool = True
    norm_bound: float = 1.0
