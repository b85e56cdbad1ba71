"""AdaGrad, NAROW's baseline."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Literal

from ..._estimators.classifier import LinearClassifier
from ..._estimators.parameters import estimator


@estimator
class AdaGradClassifier(LinearClassifier):
    """AdaGrad on the hinge loss: each feature has its own step size, which falls as it is used.

    With the margin m = y w.x and the row's weight c: if m < 1, g = -c y x, G_i += g_i^2, and

        update="mirror_descent":   w_i -= eta0 g_i / (delta + sqrt(G_i))
        update="dual_averaging":   w_i = eta0 soft(z_i, l1 t) / (delta + sqrt(G_i)),   z = -(sum of g),   t rounds so far.

    Parameters
    ----------
    eta0 : float, default=0.5
        Step size, > 0.
    delta : float, default=1e-6
        Added to every sqrt(G_i), > 0: it limits a feature's first steps.
    update : {"mirror_descent", "dual_averaging"}, default="{update}"
    l1 : float, default=0.0
        L1 regularisation of the dual averaging form, >= 0, per round: weights whose |z_i| is at most l1 t are exactly 0.
    {shared}

    References
    ----------
    .. [1] F. Orabona, K. Crammer. New Adaptive Algorithms for Online Classification. NIPS 2010, experiments: the baseline [9].
    .. [2] J. Duchi, E. Hazan, Y. Singer. Adaptive Subgradient Methods for Online Learning and Stochastic Optimization. COLT 2010.

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
