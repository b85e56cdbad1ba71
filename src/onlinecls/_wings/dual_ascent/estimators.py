"""Online learning by dual ascent: the tutorial's DA1, DA2 and DA3, Euclidean and entropic, for labels and for numbers."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, Literal

import numpy as np

from ..._estimators.classifier import LinearClassifier
from ..._estimators.parameters import LinearParameters, estimator
from ..._estimators.regressor import OnlineRegressor
from ..._estimators.weights import WithWeights
from .states import SHARED as _SHARED
from .states import AscentParams

if TYPE_CHECKING:
    from ..._input.types import FloatOrAuto


class AscentLearner(WithWeights):
    """Base of learners by dual_ascent.pyx."""

    _record = AscentParams


class _DualAscent(AscentLearner):
    """Base of the dual ascent learners of both tasks: parameters and the dual value."""

    @property
    def sigma_(self) -> float:
        """σ of the last round."""
        return float(self._fitted_state().shared[_SHARED["sigma"]])

    @property
    def dual_value_(self) -> float:
        """The dual after the last update: the losses' parts - f*(θ), summed over all learners in one against the rest."""
        state = self._fitted_state()
        sigma, gain = state.shared[_SHARED["sigma"]], state.shared[_SHARED["dual_gain"]]
        if not state.params.entropic:
            return float(gain - (state.groups[:, _SHARED["squares"]].sum() / (2.0 * sigma) if sigma > 0.0 else 0.0))
        z, shift = state.groups[:, _SHARED["high"]] + state.groups[:, _SHARED["low"]], state.groups[:, _SHARED["shift"]]
        size = (state.n_features + (state.params.constant != 0.0)) * state.n_columns / state.n_groups
        return float(gain - sigma * (shift + np.log(z / size)).sum())


@estimator
class DualAscentClassifier(_DualAscent, LinearClassifier):
    """Online learning by dual ascent: each row's dual variables raise the dual of  min_w f(w) + sum of c_t loss_t(w).

    With f = sigma/2 ||w||^2 (``regularizer="euclidean"``) or sigma times the relative entropy to the uniform (``"entropic"``),
    and theta the sum of alpha_i y_i x_i, the weights are

        euclidean:   w = theta / sigma
        entropic:    w = W sinh(W theta / sigma) / (sum of cosh(W theta_j / sigma)),   W = norm_bound:  ||w||_1 < W (EG+-)
          signed=False:   w = W exp(W theta / sigma) / (sum of exp(W theta_j / sigma)):  w >= 0, of sum W.

    Each row, of margin m = y w.x and weight c, gets its alpha once:

        hinge loss [margin - m]+:      DA1   alpha = c if the loss is > 0
                                       DA2   the alpha in [0, c] that raises the dual most
        log loss log(1 + exp(-m)):     DA1   alpha = c / (1 + exp(m))
                                       DA2   the best alpha in [0, c]   (online logistic regression)

    With ``multi_class="crammer_singer"`` and three classes or more, x goes to the true class and -x to the wrong ones: DA1 and
    DA2 along the loss's (sub)gradient (hinge: the best wrong class; log loss: all, as their probabilities), DA3 the best of all
    alpha_r >= 0 with sum <= c. With two classes, or each against the rest, DA3 is DA2. Every update raises the dual at least by
    c loss - c^2 L^2 / (2 sigma), L the dual norm of the row (DA3 by no less than DA2, DA2 than DA1), which bounds the regret.

    Parameters
    ----------
    sigma : float, "auto" or None, default=None
        Strength of the regularizer, > 0.
        "auto", with L_t the largest dual norm of a row's (weighted) step so far: Euclidean sqrt(2 t) L_t / W. Entropic
        L_t sqrt(t / log n), n the entries of the simplex (2 n_features, signed=False n_features, of the joint construction times
        n_classes), held until the formula gives half more, so that a row costs O(nnz) but for about log t rows.
    regularizer : {"euclidean", "entropic"}, default="euclidean"
    update : {"DA1", "DA2", "DA3"}, default="DA3"
    loss : {"hinge", "log_loss"}, default="hinge"
        The log loss has its own probabilities: `predict_proba` needs no ``probability=True``, and is the sigmoid of the scores,
        or the softmax of the joint learner's.
    margin : float, default=1.0
        The margin that ends the hinge loss, > 0. Entropic: no row's margin reaches W max|x|, and with a larger one DA2 is DA1.
    norm_bound : float, default=1.0
        W, > 0: the entropic weights' bound in the 1-norm; with sigma="auto", Euclidean, the 2-norm of weights to compete with.
    signed : bool, default=True
        Entropic: False for weights >= 0 whose sum is W, uniform at the start (the probability simplex of experts). Two classes
        then need features of both signs, or two complementary columns for one: on x >= 0 no score is below 0.
    {parameters}

    Attributes
    ----------
    {attributes}
    dual_value_ : float
        The dual after the last update, sum of the losses' parts - f*(theta): at most min_w f(w) + sum of c_t loss_t(w).
    sigma_ : float
        sigma of the last round.

    Raises
    ------
    {raises}

    Notes
    -----
    DA3 is exact by sorting (Euclidean hinge), to rounding (Euclidean log loss), or to a duality gap of 1e-11 c (entropic).
    ``average`` is not offered for the entropic regularizer with sigma="auto".

    References
    ----------
    .. [1] S. Shalev-Shwartz, Y. Singer. Theory and Applications of Online Learning. ICML 2008 tutorial, parts II to V.

    Examples
    --------
    >>> from onlinecls import DualAscentClassifier
    >>> learner = DualAscentClassifier(sigma=0.5, update="DA2", scale=1.0, fit_intercept=False)
    >>> learner.partial_fit([[3.0, 4.0]], [1], classes=[0, 1]).decision_function([[3.0, 4.0]]).round(12).tolist()
    [1.0]
    >>> round(learner.dual_value_, 12)  # alpha - ||theta||^2 / (2 sigma), alpha = sigma / ||x||^2
    0.01
    """

    sigma: FloatOrAuto | None = None
    _: KW_ONLY
    regularizer: Literal["euclidean", "entropic"] = "euclidean"
    update: Literal["DA1", "DA2", "DA3"] = "DA3"
    loss: Literal["hinge", "log_loss"] = "hinge"
    margin: float = 1.0
    norm_bound: float = 1.0
    multi_class: Literal["ovr", "crammer_singer"] = "crammer_singer"
    signed: bool = True

    def _has_own_probabilities(self) -> bool:
        return self.loss == "log_loss" and not self.probability


@estimator
class DualAscentRegressor(_DualAscent, LinearParameters, OnlineRegressor):
    """Online regression by dual ascent: each row's dual variable raises the dual of  min_w f(w) + sum of c_t loss_t(w).

    With f = sigma/2 ||w||^2 (``regularizer="euclidean"``) or sigma times the relative entropy to the uniform (``"entropic"``),
    and theta the sum of alpha_i x_i, the weights are those of `DualAscentClassifier`.

    Each row, of error e = y - w.x and weight c, gets its alpha once:

        absolute loss |e|:    DA1   alpha = c sgn(e)
                              DA2   the alpha in [-c, c] that raises the dual most; euclidean: sgn(e) min(c, sigma |e| / ||x||^2)
        squared loss e^2:     DA1   alpha = 2 c e
                              DA2   the best alpha; euclidean: e / (1/(2c) + ||x||^2 / sigma)

    A row has one dual variable, so that DA3 is DA2. Every update raises the dual at least by c loss - L^2 / (2 sigma), L the
    dual norm of the loss's (sub)gradient, c ||x|| or 2 c |e| ||x|| (entropic: W max |x_j| for ||x||), DA2 by no less than DA1. So
    the sum of the losses is at most that of any u, + f(u) + the sum of the L^2 / (2 sigma). With experts' advice for features,
    signed=False, W = 1, no intercept and sigma="auto" (or L sqrt(T / (2 log d)) for T rounds; the default suits few), its
    loss is close to that of the best committee of d experts.

    Parameters
    ----------
    sigma : float, "auto" or None, default=None
        Strength of the regularizer, > 0. "auto": as in `DualAscentClassifier`, L_t by the errors of the predictions.
    regularizer : {"euclidean", "entropic"}, default="euclidean"
    update : {"DA1", "DA2", "DA3"}, default="DA3"
    loss : {"absolute", "squared"}, default="absolute"
    norm_bound : float, default=1.0
        W, > 0, as in `DualAscentClassifier`: no entropic prediction exceeds W max |x_j|.
    signed : bool, default=True
        Entropic: False for weights >= 0 whose sum is W. With W = 1 and no intercept that is a committee of experts.
    {parameters}

    Attributes
    ----------
    {attributes}
    dual_value_ : float
        The dual after the last update, sum of the losses' parts (absolute: alpha y, squared: alpha y - alpha^2 / (4c)) -
        f*(theta): at most min_w f(w) + sum of c_t loss_t(w).
    sigma_ : float
        sigma of the last round.

    Raises
    ------
    {raises}

    Notes
    -----
    Euclidean DA1 on the squared loss is gradient descent with step 1/sigma: it diverges if c ||x||^2 > sigma row after row. DA2
    is safe. ``average`` is not offered for the entropic regularizer with sigma="auto".

    References
    ----------
    .. [1] S. Shalev-Shwartz, Y. Singer. Theory and Applications of Online Learning. ICML 2008 tutorial, parts I to III (the
       best committee of experts).

    Examples
    --------
    >>> from onlinecls import DualAscentRegressor
    >>> learner = DualAscentRegressor(sigma=5.0, loss="squared", scale=1.0, fit_intercept=False).partial_fit([[3.0, 4.0]], [11.0])
    >>> learner.predict([[3.0, 4.0]]).round(12).tolist()  # alpha = 11 / (1/2 + 25/5) = 2,  w = alpha x / sigma
    [10.0]
    >>> round(learner.dual_value_, 12)  # 2 * 11 - 2^2 / 4 - ||theta||^2 / (2 sigma)
    11.0
    """

    _poor_score = True  # (on small sets of one column that matters it depends on the unit of X within its factor of two)

    sigma: FloatOrAuto | None = None
    _: KW_ONLY
    regularizer: Literal["euclidean", "entropic"] = "euclidean"
    update: Literal["DA1", "DA2", "DA3"] = "DA3"
    loss: Literal["absolute", "squared"] = "absolute"
    norm_bound: float = 1.0
    signed: bool = True

