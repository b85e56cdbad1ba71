"""AdaGrad, NAROW's baseline, and FTRL-proximal: a step size for each feature."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..._estimators.parameters import estimator
from ..._estimators.tasks import LinearClassifier
from ..._models import WEIGHT, DualAveragingState, State

if TYPE_CHECKING:
    from ..._registry import Params


@estimator
class AdaGradClassifier(LinearClassifier):
    """AdaGrad on the hinge loss: each feature has its own step size, which falls as it is used.

    With the margin m = y w.x and the row's weight c: if m < 1, g = -c y x, G_i += g_i^2, and

        update="mirror_descent":   w_i -= eta0 g_i / (delta + sqrt(G_i))
        update="dual_averaging":   w_i = eta0 soft(z_i, l1 t) / (delta + sqrt(G_i)),   z = -(sum of g),   t rounds so far.

    J. Duchi, E. Hazan, Y. Singer: Adaptive Subgradient Methods for Online Learning and Stochastic Optimization, COLT 2010.

    Parameters
    ----------
    eta0 : float, default=0.5
        Step size, > 0.
    delta : float, default=1e-6
        Added to every sqrt(G_i), > 0: it limits a feature's first steps.
    update : {"mirror_descent", "dual_averaging"}, default={update}
    l1 : float, default=0.0
        L1 regularisation of the dual averaging form, >= 0, per round: weights whose |z_i| is at most l1 t are exactly 0.
    {shared}

    Examples
    --------
    >>> from onlinecls import AdaGradClassifier
    >>> learner = AdaGradClassifier().partial_fit([[1.0, 0.0], [0.0, 1.0]], [0, 1], classes=[0, 1])
    >>> learner.predict([[3.0, 1.0], [1.0, 3.0]]).tolist()
    [0, 1]
    """

    eta0: float = 0.5
    _: KW_ONLY
    delta: float = 1e-6
    update: Literal["mirror_descent", "dual_averaging"] = "mirror_descent"
    l1: float = 0.0


class ProximalState(DualAveragingState):
    """values : z = Σ (σ w - g), the paper's -z, and n = Σ g². w is computed from both when it is read."""

    geometry = "proximal"
    SLOTS = (WEIGHT._replace(half=-1.0), DualAveragingState.SLOTS[1])

    @property
    def threshold(self) -> float:
        return self.params.l1

    def can_learn_with(self, params: Params) -> bool:
        """Return True if weights that are read with other parameters still fit the dtype: |w| <= alpha t (see `step_fits`)."""
        most = max(float(self.counters[self.COUNTERS["max_abs_weight"]]), self.count("updates") * max(self.constant, 1.0))
        return State.can_learn_with(self, params) and params.eta0 * most <= self.largest

    def _settle_halves(self, params: Params) -> None:
        """Take the z of half the weight by the present l1, and all of a z within the threshold."""
        numbers, l1 = self.view[:, 0], params.l1
        z = numbers.astype(np.float64)
        numbers[:] = np.where(np.abs(z) > l1, (z + np.sign(z) * l1) / 2, z) + 0.0  # (no -0)

    def _merged(self, slabs: list[np.ndarray], models: list[Any], shares: list[float]) -> np.ndarray:
        """Take the means of the weights, weighted by n, which add up, and the z of which these are the weights.

        (What a feature has learnt then stays, if few of the models have met it. A z within the threshold is a mean like w.)
        """
        found, params = np.zeros_like(slabs[0]), self.params
        z, n = found[:, 0], found[:, 1]
        within, weights = np.zeros_like(z), np.zeros_like(z)
        for slab, each in zip(slabs, models, strict=True):
            own = slab[:, 1]
            n += own
            weights += own * each.shrunk(slab[:, 0], slab[:, 1])
            within += own * np.clip(slab[:, 0], -params.l1, params.l1)
        seen = np.where(n > 0.0, n, 1.0)
        weights, within = weights / seen, within / seen
        z[...] = weights * (params.delta + np.sqrt(n)) / params.eta0
        z[...] += np.where(weights != 0.0, np.sign(weights) * params.l1, within)
        return found


@estimator
class FTRLClassifier(LinearClassifier):
    """FTRL-proximal: logistic regression with a step size for each feature, and an L1 penalty that leaves few weights.

    With the margin m = y w.x, the row's weight c, and the gradient of its loss

        loss="log_loss":   log(1 + exp(-m)):   g = -c y x / (1 + exp(m))
        loss="hinge":      [1 - m]+:           g = -c y x if m < 1, else 0

    each feature i has sums z_i and n_i, and a weight that follows from them:

        sigma_i = (sqrt(n_i + g_i^2) - sqrt(n_i)) / alpha,   z_i += g_i - sigma_i w_i,   n_i += g_i^2
        w_i = 0                                                                   if |z_i| <= l1
        w_i = -(z_i - sgn(z_i) l1) / ((beta + sqrt(n_i)) / alpha + l2)            else

    With l1 = l2 = 0 and the hinge loss it is AdaGrad by mirror descent. Algorithm 1 of H. B. McMahan, G. Holt, D. Sculley et al.:
    Ad Click Prediction: a View from the Trenches, KDD 2013.

    Parameters
    ----------
    alpha : float or None, default=None
        Step size, > 0. None: 1 for the log loss, 0.5 for the hinge loss.
    beta : float, default=1e-6
        Added to every sqrt(n_i), > 0: it limits a feature's first steps.
    l1 : float, default=0.0
        L1 penalty, >= 0: the weight of a feature whose |z_i| is at most l1 is exactly 0. The intercept, the weight
        of a feature that no row lacks, is penalised as well.
    l2 : float, default=0.0
        L2 penalty, >= 0.
    loss : {"log_loss", "hinge"}, default="log_loss"
        With the log loss, two classes or each against the rest, `predict_proba` needs no ``probability=True``: it is the sigmoid
        of the scores. (The joint learner's scores are no logarithms of probabilities.)
    {shared}

    Examples
    --------
    >>> from onlinecls import FTRLClassifier
    >>> X, y = [[1.0, 0.0, 0.25], [0.0, 1.0, 0.25]], [0, 1]
    >>> learner = FTRLClassifier(alpha=1.0, beta=1.0, l1=0.2, fit_intercept=False).partial_fit(X, y, classes=[0, 1])
    >>> learner.coef_.round(3).tolist()  # w_0 = -(0.5 - 0.2) / (1 + 0.5)
    [[-0.2, 0.2, 0.0]]
    >>> learner.predict_proba([[0.0, 1.0, 0.0]]).round(3).tolist()
    [[0.45, 0.55]]
    """

    alpha: float | None = None
    _: KW_ONLY
    beta: float = 1e-6
    l1: float = 0.0
    l2: float = 0.0
    loss: Literal["log_loss", "hinge"] = "log_loss"

    def _has_own_probabilities(self) -> bool:
        return self.loss == "log_loss" and self.multi_class == "ovr" and not self.probability
