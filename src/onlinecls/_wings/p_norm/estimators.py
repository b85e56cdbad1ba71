"""The p-norm Perceptron and its model: θ, and the norms that vectors share."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from ..._estimators.parameters import estimator
from ..._estimators.tasks import LinearClassifier
from ..._models import WEIGHT, Array
from ..shared.groups import WithGroups
from .p_norm import FIELDS, PNormModel, power_of


class PNormState(WithGroups, PNormModel):
    """values : θ and its roots. groups : see p_norm.pyx."""

    geometry = "p_norm"
    KEPT = (*WithGroups.KEPT, "power")
    FIELDS = FIELDS
    KNOWN = "scale"
    SLOTS = (WEIGHT._replace(half=-1.0), Array(half=-1.0, merge=None))

    @property
    def _powers(self) -> tuple[float, float, int]:
        """p, and the root and the squarings that make θ's power of it (p_norm.pyx)."""
        return power_of(self.params.power, self.n_features)

    def _settle_halves(self, params: Any) -> None:
        """Scale θ so that w becomes -w/2 and w/2: the joint norm of two halves is 2^(1/p) times that of one."""
        super()._settle_halves(params)
        power, root, _ = self._powers
        share = 0.5 * 2.0 ** ((power - 2.0) / power) if params.joint else 0.5
        self.view[:, 0] *= share
        self.view[:, 1] *= share**root

    def _merged(self, slabs: list[np.ndarray], models: list[Any], shares: list[float]) -> np.ndarray:
        found = super()._merged(slabs, models, shares)
        theta = found[:, 0].astype(self.dtype).astype(np.float64)
        found[:, 1] = np.sign(theta) * np.abs(theta) ** self._powers[1]
        return found

    def _last_weights(self, features: slice) -> np.ndarray:
        known, roots = self.known(), self.slot(1, features)
        powers = np.abs(roots, dtype=np.float64) * known.numbers("inverse")
        for _ in range(self._powers[2]):
            powers *= powers
        return (known.numbers("weight_scale") * np.copysign(powers, roots)).astype(self.dtype)


@estimator
class PNormPerceptron(LinearClassifier):
    """p-norm Perceptron, conservative or aggressive: between the Perceptron (p = 2) and multiplicative updates (p = 2 ln d).

    With 1/p + 1/q = 1, the margin m = y w.x and the row's weight c, theta += eta c y x, and

        w_i = (q - 1) sgn(theta_i) |theta_i|^(p-1) / ||theta||_p^(p-2),

        m <= 0:                     eta = 1
        0 < m < 1, if aggressive:   eta = clip((radius^2/2 - m) / ||x||_p^2, 0, 1),

    for each class against the rest or, with ``multi_class="crammer_singer"``, with x on the true class, -x on the best wrong one,
    m the difference of their scores and the norms those of the joint vectors (``||.||_p^p = 2 ||x||_p^p``). A row costs O(nnz),
    ``coef_`` O(n_features) when it is read. ``average`` is refused.

    F. Orabona, K. Crammer: New Adaptive Algorithms for Online Classification, NIPS 2010, section 4.1.

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

    Examples
    --------
    >>> from onlinecls import PNormPerceptron
    >>> learner = PNormPerceptron(p=3, fit_intercept=False, scale=1.0).partial_fit([[3.0, 4.0]], [1], classes=[0, 1])
    >>> (learner.coef_ * (3**3 + 4**3) ** (1 / 3)).round(12).tolist()
    [[4.5, 8.0]]
    """

    p: float | None = None
    _: KW_ONLY
    aggressive: bool = False
    radius: float = 2**0.5
