"""The p-norm Perceptron."""

from __future__ import annotations

from dataclasses import KW_ONLY

from ..._estimators.classifier import LinearClassifier
from ..._estimators.parameters import estimator
from . import states as states  # (its models)


@estimator
class PNormPerceptron(LinearClassifier):
    """p-norm Perceptron, conservative or aggressive: between the Perceptron (p = 2) and multiplicative updates (p = 2 ln d).

    With 1/p + 1/q = 1, the margin m = y w.x and the row's weight c, theta += eta c y x, and

        w_i = (q - 1) sgn(theta_i) |theta_i|^(p-1) / ||theta||_p^(p-2),

        m <= 0:                     eta = 1
        0 < m < 1, if aggressive:   eta = clip((radius^2/2 - m) / ||x||_p^2, 0, 1),

    for each class against the rest or, with ``multi_class="crammer_singer"``, with x on the true class, -x on the best wrong one,
    m the difference of their scores and the norms those of the joint vectors (``||.||_p^p = 2 ||x||_p^p``).

    Parameters
    ----------
    p : float or None, default=None
        The norm, in [2, 500]. None: max(2, 2 ln n_features), with which the mistake bound grows with ln n_features and the
        largest feature instead of with the length of the rows: for many features, few of them relevant.
    aggressive : bool, default=False
        Update on every margin below 1 instead of on mistakes (m <= 0) only.
    radius : float, default=2**0.5
        > 0, in units of the rows' p-norm. Only for the aggressive form: it wants margins of up to radius^2/2.
    {shared}

    Notes
    -----
    A row costs O(nnz), ``coef_`` O(n_features) when it is read. ``average`` is refused: the scale of all weights falls with
    ``||theta||^(p-2)``, so that a sum over rounds cancels all digits of the later ones.

    References
    ----------
    .. [1] F. Orabona, K. Crammer. New Adaptive Algorithms for Online Classification. NIPS 2010, section 4.1.

    Examples
    --------
    >>> from onlinecls import PNormPerceptron
    >>> learner = PNormPerceptron(p=3, fit_intercept=False).partial_fit([[3.0, 4.0]], [1], classes=[0, 1])
    >>> (learner.coef_ * (3**3 + 4**3) ** (1 / 3)).round(12).tolist()
    [[4.5, 8.0]]
    """

    p: float | None = None
    _: KW_ONLY
    aggressive: bool = False
    radius: float = 2**0.5
