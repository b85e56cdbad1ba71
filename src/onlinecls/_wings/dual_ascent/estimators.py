"""Online learning by dual ascent: the tutorial's DA1, DA2 and DA3, Euclidean and entropic; gradient descent, and Hedge."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..._estimators.classifier import LinearClassifier, OnlineClassifier
from ..._estimators.parameters import EpochParameters, LinearParameters, estimator
from ..._estimators.regressor import OnlineRegressor
from ..._estimators.weights import WithWeights
from .states import SHARED as _SHARED
from .states import AscentParams

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray
    from sklearn.utils import Tags

    from ..._input.types import ClassWeight, FloatOrAuto, FloatType, Matrix
    from ..._rows import Rows


class AscentLearner(WithWeights):
    """Base of learners by dual_ascent.pyx."""

    _params_of = AscentParams.of


class _DualAscent(AscentLearner):
    """Base of the dual ascent learners of both tasks."""

    @property
    def sigma_(self) -> float:
        """σ of the last round."""
        return float(self._fitted_state().shared[_SHARED["sigma"]])

    @property
    def dual_value_(self) -> float:
        """The dual after the last update: the losses' parts - f*(θ), summed over all learners in one against the rest."""
        state = self._fitted_state().known()
        sigma, gain = state.shared[_SHARED["sigma"]], state.shared[_SHARED["dual_gain"]]
        if state.params.model != "entropic":
            return float(gain - (np.square(state.values, dtype=np.float64).sum() / (2.0 * sigma) if sigma > 0.0 else 0.0))
        size = (state.n_features + state.params.has_intercept) * state.n_columns / len(state.groups)
        logarithms = state.numbers("shift") + np.log((state.numbers("high") + state.numbers("low")) / size)
        return float(gain - sigma * logarithms.sum())


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
    DA2 along the loss's (sub)gradient, DA3 the best of all alpha_r >= 0 with sum <= c. Otherwise DA3 is DA2. Every update raises
    the dual at least by c loss - c^2 L^2 / (2 sigma), L the dual norm of the row, which bounds the regret.

    Parameters
    ----------
    sigma : float, "auto" or None, default=None
        Strength of the regularizer, > 0; entropic, no row's alpha exceeds 300 sigma / (W max|x|). "auto", with L_t the largest
        dual norm of a row's (weighted) step so far: Euclidean sqrt(2 t) L_t / W; entropic L_t sqrt(t / log n), n the entries of
        the simplex, held until the formula gives half more (there is no ``average`` then).
    regularizer : {"euclidean", "entropic"}, default="euclidean"
    update : {"DA1", "DA2", "DA3"}, default="DA3"
        DA3 is exact, but for the entropic regularizer: to a duality gap of 1e-11 c.
    loss : {"hinge", "log_loss"}, default="hinge"
        The log loss has its own probabilities: `predict_proba` needs no ``probability=True``.
    margin : float, default=1.0
        The margin that ends the hinge loss, > 0. Entropic: no row's margin reaches W max|x|, and with a larger one DA2 is DA1.
    norm_bound : float, default=1.0
        W, > 0: the entropic weights' bound in the 1-norm; with sigma="auto", Euclidean, the 2-norm of weights to compete with.
    signed : bool, default=True
        Entropic: False for weights >= 0 whose sum is W, uniform at the start (the probability simplex of experts). On x >= 0 no
        score is then below 0.
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

    f and the weights are those of `DualAscentClassifier`, theta the sum of alpha_i x_i. Each row, of error e = y - w.x and weight
    c, gets its alpha once (DA3 is DA2):

        absolute loss |e|:    DA1   alpha = c sgn(e)
                              DA2   the alpha in [-c, c] that raises the dual most; euclidean: sgn(e) min(c, sigma |e| / ||x||^2)
        squared loss e^2:     DA1   alpha = 2 c e
                              DA2   the best alpha; euclidean: e / (1/(2c) + ||x||^2 / sigma)

    Every update raises the dual at least by c loss - L^2 / (2 sigma), L the dual norm of the loss's (sub)gradient. With experts'
    advice for features, signed=False, W = 1, no intercept and sigma="auto" its loss is close to that of the best committee.

    Parameters
    ----------
    sigma : float, "auto" or None, default=None
        Strength of the regularizer, > 0. "auto": as in `DualAscentClassifier`, L_t by the errors of the predictions.
    regularizer : {"euclidean", "entropic"}, default="euclidean"
    update : {"DA1", "DA2", "DA3"}, default="DA3"
        Euclidean DA1 on the squared loss diverges if c ||x||^2 > sigma row after row.
    loss : {"absolute", "squared"}, default="absolute"
    norm_bound : float, default=1.0
        W, > 0, as in `DualAscentClassifier`: no entropic prediction exceeds W max |x_j|.
    signed : bool, default=True
        Entropic: False for weights >= 0 whose sum is W.
    {parameters}

    Attributes
    ----------
    {attributes}
    dual_value_ : float
        The dual after the last update, sum of alpha y (squared loss: less alpha^2 / (4c)) - f*(theta).
    sigma_ : float
        sigma of the last round.

    Raises
    ------
    {raises}

    References
    ----------
    .. [1] S. Shalev-Shwartz, Y. Singer. Theory and Applications of Online Learning. ICML 2008 tutorial, parts I to III.

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


@estimator
class OGDClassifier(AscentLearner, LinearClassifier):
    """Online gradient descent on the hinge loss, with the step rules of strongly convex and of plain losses.

    With the margin m = y w.x and the row's weight c, in round t,

        learning_rate="strongly_convex":   w <- (1 - 1/t) w + [m < 1] c y x / (alpha t)
        learning_rate="sqrt":              w <- w + [m < 1] eta0 c y x / sqrt(t)

    The first is gradient descent on alpha/2 ||w||^2 + c [1 - m]+, whose regret grows as log t (Pegasos with one row a step). For
    each class against the rest or, with ``multi_class="crammer_singer"``, with x on the true class and -x on the best wrong one.

    Parameters
    ----------
    alpha : float, default=1e-4
        Strength of the regularisation, > 0; of "strongly_convex" alone.
    learning_rate : {"strongly_convex", "sqrt"}, default="strongly_convex"
    eta0 : float, default=1.0
        Step size in the first round, > 0; of "sqrt" alone.
    {shared}

    References
    ----------
    .. [1] S. Shalev-Shwartz, Y. Singer. Theory and Applications of Online Learning. ICML 2008 tutorial, part V.

    Examples
    --------
    >>> from onlinecls import OGDClassifier
    >>> learner = OGDClassifier(alpha=0.5, fit_intercept=False).partial_fit([[1.0, 0.0], [0.0, 1.0]], [1, 0], classes=[0, 1])
    >>> learner.coef_.tolist()  # (y_1 x_1 + y_2 x_2) / (alpha t)
    [[1.0, -1.0]]
    """

    alpha: float = 1e-4
    _: KW_ONLY
    learning_rate: Literal["strongly_convex", "sqrt"] = "strongly_convex"
    eta0: float = 1.0


@estimator
class HedgeClassifier(EpochParameters, AscentLearner, OnlineClassifier):
    """Hedge (exponential weights): predicts about as well as the best of the experts whose advice is the features.

    Feature j is expert j's advice in [0, 1], its chance of ``classes_[1]`` (y = +1). With the loss (y + 1)/2 - y x_j of an
    expert, c the row's weight, and w_j proportional to exp(-eta * sum of its losses times c),

        P(+1) = w.x,     expected loss (y + 1)/2 - y w.x.

    `predict` returns ``classes_[1]`` when w.x > 1/2. With eta0="auto" the expected loss of a prediction drawn with the chance w.x
    is at most the best expert's + 2 sqrt(T ln(d) / 2) + sqrt(ln(d) / 8) after T rounds, d experts. A row costs O(n_features).

    Parameters
    ----------
    eta0 : float or "auto", default="auto"
        eta, > 0. "auto": sqrt(8 ln(d) / t) in round t.
    signed : bool, default=False
        Whether advice x is in [-1, 1] and means the chance (1 + x)/2: 0, as of features missing in a sparse row, is no advice.
    {parameters}

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
    coef_ : ndarray of shape (1, n_features)
        The experts' weights w of the next round, >= 0, of sum 1.
    intercept_ : ndarray of shape (1,)
        -1/2: the decision is w.x - 1/2 > 0. (signed=True: 0, and w.x > 0.)
    expected_loss_ : float
        The sum over the rounds, each counted once, of the randomised prediction's chance of being wrong.
    n_features_in_, n_iter_, t_, n_mistakes_, n_updates_, n_skipped_ : int
        As in the other classifiers.

    Raises
    ------
    ValueError
        By `fit` and `partial_fit`, before anything is written: as in the other classifiers, advice out of range, a third class.

    References
    ----------
    .. [1] S. Shalev-Shwartz, Y. Singer. Theory and Applications of Online Learning. ICML 2008 tutorial, parts I, III and V.

    Examples
    --------
    >>> from onlinecls import HedgeClassifier
    >>> learner = HedgeClassifier().partial_fit([[1.0, 0.0], [0.9, 0.6], [0.1, 0.8]], ["spam", "spam", "ham"])
    >>> learner.predict([[1.0, 0.0]]).tolist(), learner.coef_.round(2).tolist()
    (['spam'], [[0.7, 0.3]])
    """

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        assert tags.classifier_tags is not None
        tags.classifier_tags.multi_class, tags.input_tags.positive_only = False, not self.signed
        return tags

    if not TYPE_CHECKING:  # (the base has them as parameters)
        average, early_stopping = False, False

    eta0: FloatOrAuto = "auto"
    _: KW_ONLY
    max_iter: int = 1
    shuffle: bool = False
    dtype: FloatType | None = None
    class_weight: ClassWeight = None
    signed: bool = False

    _has_fast_path = False  # (advice is checked)

    def _read_rows(self, X: Matrix, state: Any) -> Rows:
        rows = super()._read_rows(X, state)
        least, most = rows.data.min(initial=0.0), rows.data.max(initial=1.0)  # (no array of the size of X)
        lowest, hint = 0.0, "Each feature is an expert's chance of the second class; signed=True takes advice in [-1, 1]."
        if self.signed:
            lowest, hint = -1.0, "Divide it by the largest size that it can have."
        if least < lowest or most > 1.0:
            found = least if least < lowest else most
            raise ValueError(f"{type(self).__name__}: X must be advice in [{lowest:g}, 1], got {found:g}. {hint}")
        return rows

    def _check_size(self, params: AscentParams, n_features: int, n_classes: int, dtype: DTypeLike) -> None:
        if n_classes > 2:
            raise ValueError(
                f"{type(self).__name__}: Only binary classification is supported: y must have 2 classes, got {n_classes} classes."
            )

    @property  # type: ignore[misc]
    def intercept_(self) -> NDArray[np.floating]:
        """-1/2, or 0 with signed=True."""
        self._fitted_state()
        return np.array([0.0 if self.signed else -0.5])

    @property
    def expected_loss_(self) -> float:
        """Sum over the rounds of the randomised prediction's chance of being wrong."""
        return float(self._fitted_state().shared[_SHARED["dual_gain"]])
