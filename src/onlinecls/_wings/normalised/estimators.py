"""Learners whose weights share a norm, a sum or a length, and their models: the p-norm Perceptron; multiplicative steps, on a
simplex, for the passive-aggressive learners of all three tasks; the one-class learners, whose model is the centre of a ball."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from math import fsum
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from ..._estimators.learner import OnlineLearner, over
from ..._estimators.parameters import EpochParameters, LinearParameters, estimator
from ..._estimators.tasks import LinearClassifier, OnlineRegressor
from ..._models import NO_WEIGHTS, WEIGHT, Array
from ..shared.groups import WithGroups
from ..shared.simplex import GROUP
from .normalised import CENTRE_FIELDS, NORM, NormalisedModel, power_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray
    from sklearn.utils import Tags

    from ..._input.types import FloatOrAuto, FloatType, Matrix
    from ..._rows import Rows


class PNormState(WithGroups, NormalisedModel):
    """values : θ and its roots. groups : see p_norm.pxd."""

    geometry = "p_norm"
    KEPT = (*WithGroups.KEPT, "power")
    FIELDS = NORM
    KNOWN = "scale"
    SLOTS = (WEIGHT._replace(half=-1.0), Array(half=-1.0, merge=None))

    @property
    def _powers(self) -> tuple[float, float, int]:
        """p, and the root and the squarings that make θ's power of it (p_norm.pxd)."""
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


class CentreState(WithGroups, NormalisedModel):
    """values : u of the centre a u. groups : see ball.pxd."""

    geometry = "centre"
    FIELDS = CENTRE_FIELDS

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


class SignedSimplexState(WithGroups, NormalisedModel):
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
