"""Online learning by dual ascent: the tutorial's DA1, DA2 and DA3, Euclidean and entropic; gradient descent, and Hedge."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from ..._estimators.parameters import EpochParameters, LinearParameters, estimator
from ..._estimators.tasks import LinearClassifier, OnlineClassifier, OnlineRegressor, WithWeights
from ..._files import require
from ..._models import WEIGHT, Array
from ..._registry import Params
from ..shared.groups import WithGroups
from ..shared.simplex import GROUP
from .dual_ascent import LOSSES, SCHEDULES, SHARED, UPDATES_OF, AscentModel

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import DTypeLike, NDArray
    from sklearn.utils import Tags

    from ..._input.types import ClassWeight, FloatOrAuto, FloatType, Matrix
    from ..._rows import Rows

STRONGLY_CONVEX = SCHEDULES["strongly_convex"]


class AscentParams(Params):
    """The parameters of dual ascent and its like: rule is the update (DA1 ..), trigger the loss, geometry that of the weights."""

    __slots__ = ()

    @classmethod
    def of(cls, algorithm: Any, values: Mapping[str, Any]) -> Self:
        rate = values.get("learning_rate")  # (of gradient descent: σ is alpha, or eta0 where steps fall with √t)
        sigma = values["sigma"] if "sigma" in values else values["alpha" if rate == "strongly_convex" else "eta0"]
        loss = "advice" if "experts" in algorithm.tasks else values.get("loss", "hinge")
        simplex = "sinh" if values.get("signed", True) else "exp"
        geometry = simplex if algorithm.geometry in ("entropic", "experts") else "additive"
        return cls(
            rule=UPDATES_OF[values.get("update", "DA1")], trigger=LOSSES[loss], geometry=geometry,
            margin=float(values.get("margin", algorithm.margin)), **cls.common(values), costs=algorithm.costs,
            schedule=SCHEDULES[rate or ("auto" if sigma == "auto" else "fixed")],
            sigma=1.0 if sigma == "auto" else float(sigma), norm_bound=float(values.get("norm_bound", 1.0)),
        )

    @property
    def experts(self) -> bool:
        return self.trigger == LOSSES["advice"]

    @property
    def model(self) -> str:
        return "dual_ascent" if self.experts or self.geometry == "additive" else "entropic"

    @property
    def joins_singly(self) -> bool:  # type: ignore[override]
        """True if a new class's weights of 0 count in the joint simplex, or its score of 0 in a softmax."""
        averaged = self.model == "entropic" and self.average_from >= 0  # (κ of a class that has not joined differs)
        return bool(averaged or (self.joint and (self.model == "entropic" or self.trigger == LOSSES["log_loss"])))

    def of_pass(self, state: Any, is_open: bool, balanced: bool) -> Self:
        limit = min(state.largest, 1e100) / max(self.constant, 1.0)  # (so that scores and the intercept are finite, too)
        return super().of_pass(state, is_open, balanced)._replace(limit=limit)


class AscentState(WithGroups, AscentModel):
    """Dual ascent with the squared norm as its regularizer, and Hedge.

    values : θ. shared, groups : the numbers of the model and of each of its groups, see dual_ascent.pyx.
    """

    geometry = "dual_ascent"
    KEPT = (*WithGroups.KEPT, "geometry", "schedule", "joint", "norm_bound", "has_intercept")
    FIELDS = tuple(GROUP)
    ARRAYS = {**WithGroups.ARRAYS, "shared": Array((3,), least=-1e300, most=1e300)}
    params: AscentParams

    def check(self) -> None:
        super().check()
        ages = self.numbers("ages")
        fits = ages.min() >= 0.0 and self.shared[SHARED["lipschitz"]] <= 1e150
        fits = fits and (np.abs(self._summed()).max() <= 1e300 if len(self.correction) else not ages.any())
        require(fits, "sums that steps make", "larger ones")

    def _with_vectors(self, counts: np.ndarray, source: np.ndarray) -> Self:
        """Copy vectors to the bit; where they are halved, or columns of 0 make another simplex, as if the ages were 0."""
        settled = self
        if len(source) == 2 or (self.params.joint and self.geometry == "entropic"):
            sums = -self._summed() if len(self.correction) else self.correction
            settled = self.sharing(correction=sums.reshape(-1), groups=self._unknown(1))
        return super(AscentState, settled)._with_vectors(counts, source)

    def _merge_values(self, models: list[Any], shares: list[float]) -> None:
        """Take the mean of the weights, whatever σ they were divided by (entropic: of u = Wθ/σ); add up Hedge's losses."""
        gains, longest, sigmas = np.transpose([each.shared for each in models])
        self.shared = np.array([0.0, longest.max(), 0.0])
        sigma = 0.0 if self.params.experts else self.factors()[1]
        factors = [share * (sigma / own if own > 0.0 else 0.0) for own, share in zip(sigmas, shares, strict=True)]
        if self.params.experts or self.params.schedule == STRONGLY_CONVEX:  # (the weights are those of θ, or θ/(σt))
            factors = [1.0] * len(models)
        self.shared[:] = gains @ factors, longest.max(), sigma
        super()._merge_values(models, shares if self.geometry == "entropic" else factors)

    def _keep_average(self, average: np.ndarray) -> None:
        self.correction = (-self.average_rounds * average).reshape(-1)

    def dual_value(self) -> float:
        """Return the losses' parts of the dual less f*(θ)."""
        gain, _, sigma = self.shared
        return float(gain - (np.square(self.values, dtype=np.float64).sum() / (2.0 * sigma) if sigma > 0.0 else 0.0))

    # --- reading -------------------------------------------------------------------------------------------------------------

    def _summed(self) -> np.ndarray:
        """Return the sum of the weights over the rounds of the average, (features + 1, columns)."""
        return self.numbers("ages") * self.view[:, 0] - self.corrections

    def _weights(self, features: slice) -> np.ndarray:
        rounds, known = self.average_rounds, self.known()
        found = self._summed()[features] / rounds if rounds else known.view[features, 0] * known.factors()[0]
        return np.clip(found, -self.largest, self.largest)  # (θ/σ may exceed the dtype, unlike the scores, which are in double)

    def weights_of(self, features: slice) -> np.ndarray:
        return self.expert_weights(self.values)[None, features] if self.params.experts else super().weights_of(features)


class EntropicState(AscentState):
    """Dual ascent with the relative entropy as its regularizer: weights on a simplex. values : powers and u = Wθ/σ."""

    geometry = "entropic"
    KEPT = (*AscentState.KEPT, "sigma")
    KNOWN = "high"
    SLOTS = (Array(half=0.0, most="largest", merge=None), WEIGHT)  # (the mean is of u, from which the powers follow)

    def check(self) -> None:  # Z > 0, and no u far above K, where these are known
        super().check()
        u = np.abs(self.slot(1)) if self.params.geometry == "sinh" else self.slot(1)
        fits = (self.numbers("high") > 0.0) & (u.max(axis=0) <= self.numbers("shift") + 100.0) | ~self.groups.any(axis=1)
        require(fits.all(), "sums of powers", "others")

    def dual_value(self) -> float:
        size = (self.n_features + self.params.has_intercept) * self.n_columns / len(self.groups)
        logarithms = self.numbers("shift") + np.log((self.numbers("high") + self.numbers("low")) / size)
        return float(self.shared[0] - self.shared[2] * logarithms.sum())


class AscentLearner(WithWeights):
    """Base of learners by dual_ascent.pyx."""

    _params_of = AscentParams.of


@dataclass(init=False, eq=False, repr=False)
class _DualAscent(AscentLearner):
    """Base of the dual ascent learners of both tasks."""

    sigma: FloatOrAuto | None = None
    _: KW_ONLY
    regularizer: Literal["euclidean", "entropic"] = "euclidean"
    update: Literal["DA1", "DA2", "DA3"] = "DA3"
    norm_bound: float = 1.0
    signed: bool = True

    @property
    def sigma_(self) -> float:
        """σ of the last round."""
        return float(self._fitted_state().shared[SHARED["sigma"]])

    @property
    def dual_value_(self) -> float:
        """The dual after the last update, of all learners: the losses' parts - f*(θ), at most min_w f(w) + Σ c_t loss_t(w)."""
        return self._fitted_state().known().dual_value()


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

    S. Shalev-Shwartz, Y. Singer: Theory and Applications of Online Learning, ICML 2008 tutorial, parts II to V.

    Parameters
    ----------
    sigma : float, "auto" or None, default=None
        Strength of the regularizer, > 0; entropic, no row's alpha exceeds 300 sigma / (W max|x|). "auto", with L_t the largest
        dual norm of a row's (weighted) step so far: Euclidean sqrt(2 t) L_t / W; entropic L_t sqrt(t / log n), n the entries of
        the simplex, held until the formula gives half more (there is no ``average`` then).
    regularizer : {"euclidean", "entropic"}, default="euclidean"
    update : {"DA1", "DA2", "DA3"}, default="DA3"
        DA3 is exact, but for the entropic regularizer: to a duality gap of 1e-11 c.
    norm_bound : float, default=1.0
        W, > 0: the entropic weights' bound in the 1-norm; with sigma="auto", Euclidean, the 2-norm of weights to compete with.
    signed : bool, default=True
        Entropic: False for weights >= 0 whose sum is W, uniform at the start (the probability simplex of experts). On x >= 0 no
        score is then below 0.
    loss : {"hinge", "log_loss"}, default="hinge"
        The log loss has its own probabilities: `predict_proba` needs no ``probability=True``.
    margin : float, default=1.0
        The margin that ends the hinge loss, > 0. Entropic: no row's margin reaches W max|x|, and with a larger one DA2 is DA1.
    {shared}

    Examples
    --------
    >>> from onlinecls import DualAscentClassifier
    >>> learner = DualAscentClassifier(sigma=0.5, update="DA2", scale=1.0, fit_intercept=False)
    >>> learner.partial_fit([[3.0, 4.0]], [1], classes=[0, 1]).decision_function([[3.0, 4.0]]).round(12).tolist()
    [1.0]
    >>> round(learner.dual_value_, 12)  # alpha - ||theta||^2 / (2 sigma), alpha = sigma / ||x||^2
    0.01
    """

    _: KW_ONLY
    loss: Literal["hinge", "log_loss"] = "hinge"
    margin: float = 1.0
    multi_class: Literal["ovr", "crammer_singer"] = "crammer_singer"

    def _has_own_probabilities(self) -> bool:
        return self.loss == "log_loss" and not self.probability


@estimator
class DualAscentRegressor(_DualAscent, LinearParameters, OnlineRegressor):
    """Online regression by dual ascent: each row's dual variable raises the dual of  min_w f(w) + sum of c_t loss_t(w).

    f, the weights and the parameters are those of `DualAscentClassifier`, theta the sum of alpha_i x_i. Each row, of error
    e = y - w.x and weight c, gets its alpha once (DA3 is DA2), which adds to the dual the loss's part

        absolute loss |e|:    alpha y                     DA1   alpha = c sgn(e)
                                                          DA2   the alpha in [-c, c] that raises the dual most;
                                                                euclidean: sgn(e) min(c, sigma |e| / ||x||^2)
        squared loss e^2:     alpha y - alpha^2 / (4c)    DA1   alpha = 2 c e
                                                          DA2   the best alpha; euclidean: e / (1/(2c) + ||x||^2 / sigma)

    Every update raises the dual at least by c loss - L^2 / (2 sigma), L the dual norm of the loss's (sub)gradient. With experts'
    advice for features, signed=False, W = 1, no intercept and sigma="auto" its loss is close to that of the best committee.

    S. Shalev-Shwartz, Y. Singer: Theory and Applications of Online Learning, ICML 2008 tutorial, parts I to III.

    Parameters
    ----------
    sigma, regularizer, update, norm_bound, signed
        As in `DualAscentClassifier`; of sigma="auto", L_t by the errors of the predictions. No entropic prediction exceeds
        W max |x_j|. Euclidean DA1 on the squared loss diverges if c ||x||^2 > sigma row after row.
    loss : {"absolute", "squared"}, default="absolute"
    {shared}

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

    _: KW_ONLY
    loss: Literal["absolute", "squared"] = "absolute"


@estimator
class OGDClassifier(AscentLearner, LinearClassifier):
    """Online gradient descent on the hinge loss, with the step rules of strongly convex and of plain losses.

    With the margin m = y w.x and the row's weight c, in round t,

        learning_rate="strongly_convex":   w <- (1 - 1/t) w + [m < 1] c y x / (alpha t)
        learning_rate="sqrt":              w <- w + [m < 1] eta0 c y x / sqrt(t)

    The first is gradient descent on alpha/2 ||w||^2 + c [1 - m]+, whose regret grows as log t (Pegasos with one row a step). For
    each class against the rest or, with ``multi_class="crammer_singer"``, with x on the true class and -x on the best wrong one.

    S. Shalev-Shwartz, Y. Singer: Theory and Applications of Online Learning, ICML 2008 tutorial, part V.

    Parameters
    ----------
    alpha : float, default=1e-4
        Strength of the regularisation, > 0; of "strongly_convex" alone.
    learning_rate : {"strongly_convex", "sqrt"}, default="strongly_convex"
    eta0 : float, default=1.0
        Step size in the first round, > 0; of "sqrt" alone.
    {shared}

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
    ``coef_`` has the w of the next round, >= 0, of sum 1. Advice out of range, and a third class, are refused.

    S. Shalev-Shwartz, Y. Singer: Theory and Applications of Online Learning, ICML 2008 tutorial, parts I, III and V.

    Parameters
    ----------
    eta0 : float or "auto", default="auto"
        eta, > 0. "auto": sqrt(8 ln(d) / t) in round t.
    signed : bool, default=False
        Whether advice x is in [-1, 1] and means the chance (1 + x)/2: 0, as of features missing in a sparse row, is no advice.
    {shared}

    Examples
    --------
    >>> from onlinecls import HedgeClassifier
    >>> learner = HedgeClassifier().partial_fit([[1.0, 0.0], [0.9, 0.6], [0.1, 0.8]], ["spam", "spam", "ham"])
    >>> learner.predict([[1.0, 0.0]]).tolist(), learner.coef_.round(2).tolist()
    (['spam'], [[0.7, 0.3]])
    """

    eta0: FloatOrAuto = "auto"
    _: KW_ONLY
    max_iter: int = 1
    shuffle: bool = False
    dtype: FloatType | None = None
    class_weight: ClassWeight = None
    signed: bool = False

    _has_fast_path = False  # (advice is checked)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        assert tags.classifier_tags is not None
        tags.classifier_tags.multi_class, tags.input_tags.positive_only = False, not self.signed
        return tags

    def _read_rows(self, X: Matrix, state: Any, learns: bool = False) -> Rows:
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
        """-1/2, as the decision is w.x - 1/2 > 0; with signed=True 0."""
        self._fitted_state()
        return np.array([0.0 if self.signed else -0.5])

    @property
    def expected_loss_(self) -> float:
        """Sum over the rounds, each counted once, of the randomised prediction's chance of being wrong."""
        return float(self._fitted_state().shared[SHARED["dual_gain"]])
