"""The papers' bounds on mistakes and regret, as numbers: what a learner paid on a stream, and what it could have paid at most.

`follow` takes a learner over a stream row by row and notes what the bounds speak of; each bound is then a function of that course
and of any competitor u, a vector of weights that knew the stream beforehand:

>>> import numpy as np
>>> from onlinecls import AROWClassifier, bounds
>>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, -1.0]] * 5)
>>> y = np.array([1, -1, -1, 1] * 5)
>>> course = bounds.follow(AROWClassifier(r=1.0, covariance="full", fit_intercept=False), X, y)
>>> paid, allowed = bounds.arow(course, u=[0.5, -2.0])
>>> paid, round(allowed, 2)
(3, 12.78)

With the competitor given beforehand, `follow` streams: it keeps no rows, and tells both sides after every row.

>>> certificate = bounds.follow(AROWClassifier(r=1.0, covariance="full", fit_intercept=False), X, y, u=[0.5, -2.0])
>>> certificate.paid[[0, -1]].tolist(), certificate.allowed[[0, -1]].round(2).tolist()
([1.0, 3.0], [2.27, 12.78])

All of them are for two classes -1 and +1 (`passive_aggressive` for real targets too, `one_class` for none), rows of weight 1, and
learners without an intercept: a column of ones does the same. L(u) is the hinge loss of u over the rounds of the course that
changed the model.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, cast, overload

import numpy as np

from . import _certificates
from ._certificates import Certificate
from ._estimators.base import OnlineLearner
from ._estimators.baselines import HedgeClassifier, OGDClassifier
from ._estimators.dual_ascent import DualAscentClassifier, DualAscentRegressor
from ._estimators.first_order import PassiveAggressiveClassifier, PassiveAggressiveRegressor, Perceptron, PNormPerceptron
from ._estimators.follow_the_leader import FoReLClassifier
from ._estimators.kernel import KernelOnlineClassifier
from ._estimators.multiplicative import (
    MultiplicativePassiveAggressiveClassifier,
    MultiplicativePassiveAggressiveOneClass,
    MultiplicativePassiveAggressiveRegressor,
)
from ._estimators.one_class import PassiveAggressiveOneClass
from ._estimators.second_order import AROWClassifier, NAROWClassifier, SecondOrderPerceptron
from ._input import validate
from ._input.compat import issparse
from .reference.potential import entropy_of_shares

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from numpy.typing import ArrayLike

    from ._estimators.access import Learner
    from ._input.types import Matrix

__all__ = [
    "Bound", "Certificate", "Course", "arow", "distance", "dual_ascent", "dual_ascent_multiclass", "fixed_rate", "follow",
    "follow_the_leader", "gradient_descent", "hedge", "lemma_1", "margin_corollary", "multiplicative", "narow", "one_class",
    "p_norm", "passive_aggressive", "perceptron", "potential_based", "second_order_perceptron",
]


class Bound(NamedTuple):
    """What was paid, in the units that the bound counts (mistakes, losses), and the most that its theorem allows."""

    paid: float
    allowed: float


@dataclass(frozen=True)
class Course:
    """A learner's course over a stream of n rounds, as `follow` notes it.

    Attributes
    ----------
    learner : object
        As it is after the last round.
    X, y : ndarray of float64, shapes (n, d) and (n,)
        y of a one-class learner: ones.
    scores : ndarray of float64, shape (n,)
        w.x before each update; of a one-class learner, -||x - w||.
    weights : ndarray of float64, shape (n + 1, d)
        w before each round, and after the last; of a one-class learner, the centre.
    updated : ndarray of bool, shape (n,)
        The rounds that changed the model.
    chi, peeked, spread, forgotten : ndarray of float64, shape (n,)
        Second-order learners: x'Σ_{t-1}x; y x'Σ_tθ_{t-1}, the margin with x already in Σ; x'Σ_tx; θ'(Σ_t - Σ_{t-1})θ. Others: 0.
    sigma : ndarray of float64, shape (n,)
        Dual ascent: σ of each round. Others: 0.
    u : ndarray of float64, shape (d,)
        Two classes: a good competitor in hindsight, found when it is first asked for.
    paid, allowed : ndarray of float64, shape (n,)
        Two classes: what was paid after each row, and what the learner's theorem allows for `u`.
    """

    learner: Any  # each bound knows whose it is
    X: np.ndarray
    y: np.ndarray
    scores: np.ndarray
    weights: np.ndarray
    updated: np.ndarray
    chi: np.ndarray
    peeked: np.ndarray
    spread: np.ndarray
    forgotten: np.ndarray
    sigma: np.ndarray = field(default_factory=lambda: np.zeros(0))

    @cached_property
    def u(self) -> np.ndarray:
        """A competitor for which the learner's theorem allows little at the end, of many that were tried."""
        theorem = _certificates.theorem_of(self.learner, "onlinecls.bounds")
        return _certificates.good_competitor(theorem, self.learner, self._records, self.weights[-1])

    @cached_property
    def _sides(self) -> tuple[np.ndarray, np.ndarray]:
        theorem = _certificates.theorem_of(self.learner, "onlinecls.bounds")(self.learner, self.u[None])
        paid, allowed = _certificates.summed(theorem, iter([self._records]))
        return paid, allowed[0]

    @property
    def _records(self) -> _certificates.Records:
        return _certificates.Records(
            self.X, self.y, self.scores, self.updated, self.chi, self.peeked, self.spread, self.forgotten, self.sigma)

    @property
    def paid(self) -> np.ndarray:
        """What the learner has paid after each row."""
        return self._sides[0]

    @property
    def allowed(self) -> np.ndarray:
        """What its theorem allows for `u` after each row."""
        return self._sides[1]

    @property
    def margins(self) -> np.ndarray:
        """y w.x before each update."""
        return self.y * self.scores

    @property
    def rows(self) -> np.ndarray:
        """The rows of the rounds that changed the model."""
        return self.X[self.updated]

    def loss(self, u: ArrayLike) -> float:
        """L(u) = sum of [1 - y u.x]+ over the rounds that changed the model."""
        return float(np.maximum(0.0, 1.0 - self.y[self.updated] * (self.rows @ u)).sum())


@overload
def follow(learner: Learner, X: Matrix, y: ArrayLike | None = None, *, u: None = None) -> Course: ...
@overload
def follow(learner: Learner, X: Any, y: ArrayLike | None = None, *, u: ArrayLike) -> Certificate: ...
def follow(learner: Learner, X: Any, y: ArrayLike | None = None, *, u: ArrayLike | None = None) -> Course | Certificate:
    """Take a copy of a learner over a stream, one row after the other, and note its course.

    Parameters
    ----------
    learner : object
        A linear classifier, regressor or one-class learner of this library with fit_intercept=False and average=False, not
        fitted yet. With u: a classifier with a theorem, at explicit parameters.
    X : {array-like, sparse matrix} of shape (n_rows, n_features)
        Read as dense float64. With u, sparse rows stay sparse, and X may be an iterable of (X, y) batches.
    y : array-like of shape (n_rows,)
        -1 or +1; of a regressor, targets; of a one-class learner, not used.
    u : array-like of shape (n_features,) or (n_competitors, n_features), default=None
        Competitors that are known beforehand: no row is kept then, and both sides of the learner's theorem are told after every
        row. Without: everything is kept, and `Course.u` finds a good one afterwards.

    Returns
    -------
    course : Course, or with u a Certificate

    Raises
    ------
    ValueError
        If the learner is no linear one, has an intercept, an average or a model already; X or y is not valid; or y has other
        classes. With u: also if there is no theorem about the learner, or not with these parameters; it says why.
    """
    who, task = "onlinecls.bounds", getattr(learner, "_estimator_type", "")
    if not isinstance(learner, OnlineLearner) or isinstance(learner, KernelOnlineClassifier):
        raise ValueError(
            f"{who}: learner must be a linear classifier, regressor or one-class learner of onlinecls, got {learner!r}. The "
            "bounds are for weights over the columns of X."
        )
    learner = copy.deepcopy(learner)
    if getattr(learner, "fit_intercept", False) or learner.average or learner.__sklearn_is_fitted__():
        raise ValueError(
            f"{who}: learner must have fit_intercept=False and average=False and not be fitted, got {learner!r}. The bounds are "
            "for weights from 0 on; a column of ones in X is an intercept."
        )
    if u is not None:
        return _certified(who, learner, X, y, u)
    rows = validate.read_rows(who, X.toarray() if issparse(X) else X, np.float64)
    X = rows.data.reshape(rows.n_rows, rows.n_features)
    if task == "outlier_detector":
        y = np.ones(len(X))
    elif task == "regressor":
        y = validate.read_targets(who, y, len(X))
    else:
        y = _signs(who, y, len(X))
    return _followed(learner, X, y, task)


def _signs(who: str, y: Any, n_rows: int) -> np.ndarray:
    """Labels that are -1 and +1."""
    y = validate.read_labels(who, y, n_rows)
    if y.dtype.kind in "US" or not np.isin(y, (-1, 1)).all():
        found = validate.shown(np.unique(y))
        raise ValueError(f"{who}: y must be -1 and +1, got {found}. Give the classes these numbers.")
    return y.astype(np.float64)


def _certified(who: str, learner: Any, X: Any, y: Any, u: ArrayLike) -> Certificate:
    theorem = _certificates.theorem_of(learner, who)
    given = np.asarray(u, dtype=np.float64)
    U = np.atleast_2d(given)
    if U.ndim != 2 or not np.isfinite(U).all():
        raise ValueError(f"{who}: u must be finite weights, one for each column of X, or rows of them, got shape {given.shape}.")
    along = theorem(learner, U)
    learner.partial_fit(np.zeros((0, U.shape[1])), [], classes=[-1.0, 1.0])

    def chunks() -> Iterator[_certificates.Records]:
        for batch, labels in [(X, y)] if y is not None else X:
            rows = validate.read_rows(who, batch, None)
            if rows.n_features != U.shape[1]:
                raise ValueError(
                    f"{who}: u must be {rows.n_features} finite weights, got shape {given.shape}. Give one for each column of X."
                )
            signs = _signs(who, labels, rows.n_rows)
            for start in range(0, rows.n_rows, _certificates.CHUNK):
                stop = min(start + _certificates.CHUNK, rows.n_rows)
                chunk = validate.read_rows(who, rows.part(start, stop), np.float64)
                yield _certificates.walk(learner, chunk, signs[start:stop])

    paid, allowed = _certificates.summed(along, chunks())
    return Certificate(learner, along.name, paid, allowed if given.ndim == 2 else allowed[0], given)


def _followed(learner: Any, X: np.ndarray, y: np.ndarray, task: str) -> Course:
    (n, d), second_order = X.shape, hasattr(type(learner), "covariance_")
    scores, weights, updated = np.zeros(n), np.zeros((n + 1, d)), np.zeros(n, bool)
    chi, peeked, spread, forgotten, sigma = np.zeros((5, n))
    learner.partial_fit(X[:0], y[:0], **({"classes": [-1.0, 1.0]} if task == "classifier" else {}))
    say = {"classifier": "decision_function", "regressor": "predict", "outlier_detector": "score_samples"}[task]
    where = "center_" if task == "outlier_detector" else "coef_"
    theta, updates = np.zeros(d), 0
    for t in range(n):
        x, row = X[t], X[t : t + 1]
        scores[t], weights[t] = getattr(learner, say)(row)[0], np.ravel(getattr(learner, where))
        before = _covariance(learner).copy() if second_order else theta
        learner.partial_fit(row, y[t : t + 1])
        updated[t], updates = learner.n_updates_ > updates, learner.n_updates_
        sigma[t] = getattr(learner, "sigma_", 0.0)
        if second_order:
            after = _covariance(learner)
            chi[t], spread[t] = x @ _times(before, x), x @ _times(after, x)
            peeked[t] = y[t] * (x @ _times(after, theta))
            forgotten[t] = theta @ _times(after - before, theta)
            theta = theta + updated[t] * y[t] * x
    weights[n] = np.ravel(getattr(learner, where))
    return Course(learner, X, y, scores, weights, updated, chi, peeked, spread, forgotten, sigma)


def _covariance(learner: Any) -> np.ndarray:
    """Σ as a matrix, or its diagonal."""
    return learner.covariance_ if learner.covariance == "full" else learner.covariance_[0]


def _times(Sigma: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Σx, Σ a matrix or the diagonal of one."""
    return Sigma @ x if Sigma.ndim == 2 else Sigma * x


def _checked(course: Course, u: ArrayLike, name: str, *kinds: type, **needed: object) -> np.ndarray:
    """u as an array, if the course is one that the bound speaks of."""
    learner = course.learner
    fits = isinstance(learner, kinds) and all(getattr(learner, parameter) == value for parameter, value in needed.items())
    if not fits:
        which = " or ".join(kind.__name__ for kind in kinds) + "".join(f", {key}={value!r}" for key, value in needed.items())
        raise ValueError(
            f"onlinecls.bounds.{name}: course must be that of {which}, got that of {learner!r}. Each bound is one learner's."
        )
    u = np.asarray(u, dtype=np.float64)
    if u.shape != course.X.shape[1:] or not np.isfinite(u).all():
        raise ValueError(
            f"onlinecls.bounds.{name}: u must be {course.X.shape[1]} finite weights, got shape {u.shape}. Give one for each "
            "column of X."
        )
    return u


def _number(course: Course, bound: str, name: str) -> float:
    """A parameter of the learner that the theorem has as a constant."""
    value = getattr(course.learner, name)
    if value is None or isinstance(value, str):
        raise ValueError(
            f"onlinecls.bounds.{bound}: {name} must be a number, got {name}={value!r}, which depends on the rows. The theorem is "
            f"for a constant that was fixed before them: follow a learner with {name}=1.0, say."
        )
    return float(value)


# --- first order ---------------------------------------------------------------------------------------------------------------


def perceptron(course: Course, u: ArrayLike) -> Bound:
    """Mistakes of the Perceptron:  M <= L(u) + R ||u|| √L(u) + R² ||u||²,  R = max ||x||.

    The tutorial's universal bound (part III, for R = 1). It needs no learning rate, for none changes a Perceptron's mistakes.

    >>> course = follow(Perceptron(fit_intercept=False), [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [1, -1, 1])
    >>> paid, allowed = perceptron(course, [2.0, -1.0])
    >>> paid, round(allowed, 9)
    (3, 10.0)
    """
    u = _checked(course, u, "perceptron", Perceptron, aggressive=False)
    loss, size = course.loss(u), np.linalg.norm(course.rows, axis=1).max(initial=0.0) * np.linalg.norm(u)
    return Bound(int(course.updated.sum()), float(loss + size * np.sqrt(loss) + size**2))


def p_norm(course: Course, u: ArrayLike) -> Bound:
    """Mistakes of the p-norm Perceptron, 1/p + 1/q = 1, S = ||u||_q R / √(q - 1), R = max ||x||_p (aggressive: `radius`):

        M <= L(u) + S²/2 + S √(S²/4 + L(u) + D) - sum of η,     D = sum of (η² ||x||_p² + 2ηm)/R² - η,

    the sums over the rounds U that changed the model without a mistake, by steps η. L(u) is the sum of η l(u) over those and of
    l(u) over mistakes. NAROW paper, section 4.1, (4).

    Raises
    ------
    ValueError
        If a row's p-norm is above the radius of an aggressive learner, which the bound has as R.
    """
    u = _checked(course, u, "p_norm", PNormPerceptron)
    learner, m = course.learner, course.margins[course.updated]
    p = learner.p or max(2.0, 2.0 * np.log(len(u)))
    sizes = np.linalg.norm(course.rows, p, axis=1)
    R = learner.radius if learner.aggressive else sizes.max(initial=1e-300)
    if sizes.max(initial=0.0) > R * (1 + 1e-12):
        raise ValueError(
            f"onlinecls.bounds.p_norm: radius must be at least the p-norm of every row, {sizes.max():g}, got radius={R!r}. "
            "Follow the learner with that radius."
        )
    S, calm = np.linalg.norm(u, p / (p - 1)) * R * np.sqrt(p - 1), m > 0.0  # (1/(q - 1) is p - 1)
    eta = _p_norm_steps(learner, m, sizes)
    loss = eta @ np.maximum(0.0, 1.0 - course.y[course.updated] * (course.rows @ u))
    eta = eta[calm]
    D = np.sum((eta**2 * sizes[calm] ** 2 + 2 * eta * m[calm]) / R**2 - eta)
    allowed = loss + S**2 / 2 + S * np.sqrt(max(S**2 / 4 + loss + D, 0.0)) - eta.sum()
    return Bound(int((~calm).sum()), float(allowed))


def passive_aggressive(course: Course, u: ArrayLike) -> Bound:
    """Squared losses (of PA-I: mistakes) of PA, for classes and for targets, B = max ||x||²:

        PA (C = inf), no loss of u:   sum of l² + 2 (ε - ε*) sum of l <= B ||u||²                 (PA paper, Theorem 1)
        PA-II, any u:                 sum of l² <= (B + 1/2C) ||u||² + (1 + 2CB) sum of l(u)²      (Theorem 3)
        PA-I, classes, any u:         M <= max(B/γ², 1/(Cγ)) (||u||² + 2C sum of l(u))            (JMLR 2006, Theorem 4)

    γ is the learner's `margin`. ε* is the least ε with which u has no loss, the largest |y - u.x|; for classes ε - ε* is the
    least margin y u.x, less γ. Where u has a loss, PA's bound is infinite: the theorem says nothing.

    >>> course = follow(PassiveAggressiveClassifier(float("inf"), fit_intercept=False), [[0.0, 2.0], [1.0, 0.0]], [1, -1])
    >>> passive_aggressive(course, [-1.0, 0.5])
    Bound(paid=2.0, allowed=5.0)
    >>> passive_aggressive(course, [-2.0, 1.0])  # twice the margin: 2 * (2 - 1) * (1 + 1) is paid on top
    Bound(paid=6.0, allowed=20.0)
    """
    kinds = (PassiveAggressiveClassifier, PassiveAggressiveRegressor)
    u = _checked(course, u, "passive_aggressive", *kinds)
    C, squared, is_classifier = course.learner.C, course.learner.loss.startswith("squared"), isinstance(course.learner, kinds[0])
    short, excess = (
        course.learner.margin - course.y * said if is_classifier else np.abs(course.y - said) - course.learner.epsilon
        for said in (course.scores, course.X @ u)
    )
    losses, best = np.maximum(0.0, short), np.maximum(0.0, excess)
    B = float((course.X**2).sum(axis=1).max(initial=0.0))
    if C == np.inf:
        return Bound(_with_slack(losses, excess), B * float(u @ u) if best.max(initial=0.0) <= 1e-12 else np.inf)
    if squared:
        return Bound(float(losses @ losses), float((B + 0.5 / C) * (u @ u) + (1.0 + 2.0 * C * B) * (best @ best)))
    if not is_classifier:
        raise ValueError(
            "onlinecls.bounds.passive_aggressive: loss must be 'squared_epsilon_insensitive' or C inf for targets, got PA-I. "
            "There is no such theorem."
        )
    gamma = course.learner.margin
    return Bound(int((course.margins <= 0.0).sum()), float(max(B / gamma**2, 1.0 / (C * gamma)) * (u @ u + 2.0 * C * best.sum())))


def margin_corollary(course: Course, u: ArrayLike) -> Bound:
    """Losses of PA (C = inf) on classes that some direction separates: sum of l <= 2 B γ/γ̂². PA paper, corollary of Theorem 1.

    γ̂ is the least margin y u.x/||u||, B = max ||x||², γ the learner's `margin`; infinite where γ̂ <= 0. (As each mistake loses γ
    at least, there are no more than B/γ̂² of them: Theorem 1 for the u of the least margin γ.)

    >>> course = follow(PassiveAggressiveClassifier(float("inf"), fit_intercept=False), [[0.0, 2.0], [1.0, 0.0]], [1, -1])
    >>> paid, allowed = margin_corollary(course, [-2.0, 1.0])
    >>> paid, round(allowed, 9)
    (2.0, 10.0)
    """
    u, learner = _checked(course, u, "margin_corollary", PassiveAggressiveClassifier), course.learner
    if learner.C != np.inf:
        raise ValueError(f"onlinecls.bounds.margin_corollary: C must be inf, got C={learner.C!r}. It is about the plain PA.")
    margins = course.y * (course.X @ u)
    least = float(margins.min(initial=np.inf)) / max(float(np.linalg.norm(u)), 1e-300)
    B = float((course.X**2).sum(axis=1).max(initial=0.0))
    paid = float(np.maximum(0.0, learner.margin - course.margins).sum())
    return Bound(paid, 2.0 * B * learner.margin / least**2 if least > 0.0 else np.inf)


def _with_slack(losses: np.ndarray, excess: np.ndarray) -> float:
    """Σ l² + 2 (ε - ε*) Σ l; excess: by how much the competitor passes ε in each round, negative where it does not."""
    slack = max(-float(excess.max()), 0.0) if len(excess) else 0.0
    return float(losses @ losses + 2.0 * slack * losses.sum())


def distance(course: Course, u: ArrayLike) -> Bound:
    """How far PA's weights come:  ||w_T - w_1|| <= 2 ||u - w_1||  for any u without loss. PA paper, Lemma 2 (C = inf)."""
    allowed = passive_aggressive(course, u).allowed
    if course.learner.C != np.inf:
        raise ValueError(f"onlinecls.bounds.distance: C must be inf, got C={course.learner.C!r}. The lemma is of the plain PA.")
    norms = np.linalg.norm(course.weights, axis=1)
    return Bound(float(norms.max()), float(2.0 * np.linalg.norm(u)) if allowed < np.inf else np.inf)


def multiplicative(course: Course, u: ArrayLike) -> Bound:
    """Squared losses of the multiplicative PA, against any u of no loss with ||u||_1 <= W = norm_bound. PA paper, Theorem 4:

        sum of l² + 2 (ε - ε*) sum of l <= B/2 D,     B = max ρ²,  ρ = 2W max|x| (signed=True) or W max x.

    D is the relative entropy to the uniform of the shares of u among the 2d weights W and -W (unsigned: d weights W); infinite
    where u has no such shares or has a loss. (ρ is the spread of a row's features W x and -W x: with the paper's max|x|, the
    signed form breaks the bound.)
    """
    kinds = (MultiplicativePassiveAggressiveClassifier, MultiplicativePassiveAggressiveRegressor)
    u, learner = _checked(course, u, "multiplicative", *kinds), course.learner
    W = _number(course, "multiplicative", "norm_bound")
    if isinstance(learner, kinds[0]):
        short, excess = (learner.margin - course.y * said for said in (course.scores, course.X @ u))
    else:
        short, excess = (np.abs(course.y - said) - learner.epsilon for said in (course.scores, course.X @ u))
    rho = (2.0 if learner.signed else 1.0) * W * np.abs(course.X).max(initial=0.0)
    allowed = rho**2 / 2.0 * _entropy_of_shares(learner, u) if excess.max(initial=0.0) <= 1e-12 else np.inf
    return Bound(_with_slack(np.maximum(0.0, short), excess), float(allowed))


def _entropy_of_shares(learner: Any, u: np.ndarray) -> float:
    """D of `multiplicative`."""
    return entropy_of_shares(u / learner.norm_bound, learner.signed)


def one_class(course: Course, u: ArrayLike) -> Bound:
    """Losses of the one-class learners, l = [||x - w|| - ε]+, for a centre u with every row within ε* <= ε = epsilon of it:

        PA, w_1 the first row:   sum of l² + 2 (ε - ε*) sum of l <= ||u - w_1||²                   (PA paper, Theorem 1)
        multiplicative:          15/16 sum of l² + (ε - ε*) sum of l <= 8 W² D,   W = norm_bound     (Theorem 4, mended)

    D as in `multiplicative`; ε* is the largest distance of a row from u. Where it is above ε, the theorems say nothing: the bound
    is infinite. (The second is what holds of Theorem 4: random streams refute the printed factors, 1 and 2, where ε* < ε.)

    >>> from onlinecls import PassiveAggressiveOneClass
    >>> course = follow(PassiveAggressiveOneClass(epsilon=1.0), [[0.0], [2.0], [1.5], [0.0]])
    >>> one_class(course, [1.0])
    Bound(paid=1.0, allowed=1.0)
    """
    kinds = (PassiveAggressiveOneClass, MultiplicativePassiveAggressiveOneClass)
    u, learner = _checked(course, u, "one_class", *kinds), course.learner
    additive, epsilon = isinstance(learner, kinds[0]), _number(course, "one_class", "epsilon")
    losses = np.maximum(0.0, -course.scores - epsilon)[additive:]  # PA's first row is where it begins
    furthest = np.linalg.norm(course.X - u, axis=1).max(initial=0.0)
    slack = max(epsilon - furthest, 0.0)
    if additive:
        paid, allowed = losses @ losses + 2.0 * slack * losses.sum(), np.sum((u - course.X[:1]) ** 2)
    else:
        paid = 15.0 / 16.0 * (losses @ losses) + slack * losses.sum()
        allowed = 8.0 * _number(course, "one_class", "norm_bound") ** 2 * _entropy_of_shares(learner, u)
    return Bound(float(paid), float(allowed) if furthest <= epsilon * (1.0 + 1e-12) else np.inf)


def fixed_rate(course: Course, u: ArrayLike) -> Bound:
    """Mistakes of every learner whose θ goes by η y x with one η, by the general bound of the NAROW paper, Corollary 1:

        M <= L(u) + f_T(u)/η + η sum of ||x||*²/(2β) + B/η,     B = sum of f*_t(θ_t) - f*_{t-1}(θ_t)

    Perceptron (η = eta0): f(u) = ||u||²/2, ||x||* = ||x||, β = 1, B = 0. p-norm (η = 1): f(u) = ||u||_q²/2, ||x||* = ||x||_p,
    β = q - 1, B = 0. Second-order Perceptron and NAROW (η = 1): f_T(u) = u'A_T u/2, ||x||*² = x'Σ_t x, β = 1,
    B = sum of θ'(Σ_t - Σ_{t-1})θ/2 <= 0, and mistakes counted by m', as in `potential_based`, which is the same at the rate that
    is best for u and so allows no more.

    >>> course = follow(Perceptron(eta0=0.5, fit_intercept=False), [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [1, -1, 1])
    >>> fixed_rate(course, [1.0, -1.0])
    Bound(paid=3, allowed=4.0)
    """
    needed = {"aggressive": False} if isinstance(course.learner, PNormPerceptron) else {}  # its other form chooses η
    kinds = (Perceptron, PNormPerceptron, SecondOrderPerceptron, NAROWClassifier)
    u, learner, eta, B = _checked(course, u, "fixed_rate", *kinds, **needed), course.learner, 1.0, 0.0
    if isinstance(learner, (SecondOrderPerceptron, NAROWClassifier)):
        M, f = _counted(course)[0], u @ _precision(course, "fixed_rate")[2](u) / 2.0
        sizes, B = course.spread[course.updated].sum() / 2.0, course.forgotten.sum() / 2.0
    else:
        M, p = int((course.margins[course.updated] <= 0.0).sum()), 2.0
        if isinstance(learner, PNormPerceptron):
            p = learner.p or max(2.0, 2.0 * np.log(len(u)))
        else:
            eta = _eta0(course, "fixed_rate")
        f = np.linalg.norm(u, p / (p - 1.0)) ** 2 / 2.0
        sizes = (p - 1.0) * np.sum(np.linalg.norm(course.rows, p, axis=1) ** 2) / 2.0  # (1/(q - 1) is p - 1)
    return Bound(M, float(course.loss(u) + f / eta + eta * sizes + B / eta))


def lemma_1(course: Course, u: ArrayLike, lam: float = 1.0) -> Bound:
    """Lemma 1 of the NAROW paper, from which its bounds follow, at a λ > 0. z = -y x, the sums over the rounds by a step η:

        sum of η z.(w_t/λ - u) <= f_T(λu)/λ + (sum of η² ||z||*²/(2β) + f*_t(θ_t) - f*_{t-1}(θ_t))/λ

    Perceptron, p-norm: f = ||w||_q²/(2(q - 1)), β = 1, and η the step. Second-order Perceptron and NAROW: f_t(w) = w'A_t w/2,
    ||x||*² = x'Σ_t x, β = 1, η = 1, and w_t = Σ_t θ_t, which has seen x.
    `onlinecls.reference.PotentialClassifier` has it for any convex loss, f and η.

    >>> course = follow(Perceptron(fit_intercept=False), [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [1, -1, 1])
    >>> lemma_1(course, [1.0, -1.0])
    Bound(paid=2.0, allowed=3.0)
    """
    kinds = (Perceptron, PNormPerceptron, SecondOrderPerceptron, NAROWClassifier)
    u, learner, updated = _checked(course, u, "lemma_1", *kinds), course.learner, course.updated
    if isinstance(learner, (SecondOrderPerceptron, NAROWClassifier)):
        eta, m = np.ones(updated.sum()), course.peeked[updated]
        f = lam**2 * float(u @ _precision(course, "lemma_1")[2](u)) / 2.0
        right = (course.spread + course.forgotten)[updated].sum() / 2.0
    else:
        p, m = 2.0, course.margins[updated]
        if isinstance(learner, PNormPerceptron):
            p = learner.p or max(2.0, 2.0 * np.log(len(u)))
            eta = _p_norm_steps(learner, m, np.linalg.norm(course.rows, p, axis=1))
        else:
            eta = np.full(len(m), _eta0(course, "lemma_1"))
        f = (p - 1.0) * float(np.linalg.norm(lam * u, p / (p - 1.0))) ** 2 / 2.0  # (1/(q - 1) is p - 1)
        right = np.sum((eta * np.linalg.norm(course.rows, p, axis=1)) ** 2) / 2.0
    paid = -(eta @ m) / lam + eta @ (course.y[updated] * (course.rows @ u))
    return Bound(float(paid), float((f + right) / lam))


def _eta0(course: Course, bound: str) -> float:
    """The step of a Perceptron: by default that of a conservative one is 1."""
    conservative = course.learner.eta0 == "auto" and not course.learner.aggressive
    return 1.0 if conservative else _number(course, bound, "eta0")


def _p_norm_steps(learner: Any, m: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """η of the rounds with these margins and p-norms."""
    if not learner.aggressive:
        return np.ones(len(m))
    return np.where(m > 0.0, np.clip((learner.radius**2 / 2 - m) / sizes**2, 0.0, 1.0), 1.0)


# --- second order --------------------------------------------------------------------------------------------------------------


def _precision(course: Course, bound: str) -> tuple[float, float, Callable[[np.ndarray], np.ndarray]]:
    """v, log det vA_T and A_T u, for A = Σ^-1 and Σ_0 = vI."""
    v, Sigma = _number(course, bound, "initial_variance"), _covariance(course.learner)
    if Sigma.ndim == 1:
        return v, -np.log(Sigma / v).sum(), lambda u: u / Sigma
    return v, -np.linalg.slogdet(Sigma / v)[1], lambda u: np.linalg.solve(Sigma, u)


def _counted(course: Course) -> tuple[int, int]:
    """M and U of a potential-based learner, by its peeked margins m'."""
    peeked = course.peeked[course.updated]
    return int((peeked <= 0.0).sum()), int((peeked > 0.0).sum())


def potential_based(course: Course, u: ArrayLike) -> Bound:
    """Mistakes and updates of every potential-based second-order learner, full or diagonal. NAROW paper, Corollary 2:

        M + U <= L(u) + √(u'A_T u) √Q,     Q = sum of x'Σ_t x + 2m' + θ'(Σ_t - Σ_{t-1})θ,     A = Σ^-1,  m' = y x'Σ_t θ.

    M and U are counted by m', the margin of the weights that have already seen x (not its label), not by `n_mistakes_`.
    """
    u = _checked(course, u, "potential_based", SecondOrderPerceptron, NAROWClassifier)
    M, U = _counted(course)
    A = _precision(course, "potential_based")[2]
    Q = (course.spread + 2.0 * course.peeked + course.forgotten)[course.updated].sum()
    return Bound(M + U, float(course.loss(u) + np.sqrt(u @ A(u)) * np.sqrt(max(Q, 0.0))))


def second_order_perceptron(course: Course, u: ArrayLike) -> Bound:
    """Mistakes and updates of the second-order Perceptron, conservative or aggressive, in quantities of the stream alone:

        full:      M + U <= L(u) + √(r/v ||u||² + sum of (u.x)²) √(log det vA_T + sum of m(2r - m)/(r(r + χ)))
        diagonal:  M + U <= L(u) + √(u'D_T u) √(r sum over i of log(1 + v sum of x_i²/r) + 2U)

    NAROW paper, sections 4.2 and 4.3; m = y x'Σ_{t-1}θ, χ = x'Σ_{t-1}x, v = initial_variance (the paper's is 1).
    """
    u = _checked(course, u, "second_order_perceptron", SecondOrderPerceptron)
    (M, U), r, (v, log_det, A) = _counted(course), course.learner.r, _precision(course, "second_order_perceptron")
    if course.learner.covariance == "full":
        m, chi = course.margins[course.updated], course.chi[course.updated]
        first = r / v * (u @ u) + np.sum((course.rows @ u) ** 2)
        second = log_det + np.sum(m * (2 * r - m) / (r * (r + chi)))
    else:
        first, second = u @ A(u), r * log_det + 2.0 * U
    return Bound(M + U, float(course.loss(u) + np.sqrt(first) * np.sqrt(max(second, 0.0))))


def narow(course: Course, u: ArrayLike) -> Bound:
    """Mistakes and updates of NAROW with a full covariance, R = max ||x||. NAROW paper, section 5:

        M + U <= L(u) + ||u|| R √(1/(bvR²) + log det vA_T) √(sum of min(1, bχ) + b m(2r_t - m)/(r_t + χ)),

    v = initial_variance (the paper's is 1), the last term 2bm where r_t = χ/(bχ - 1) is infinite (bχ <= 1). The paper prints a
    minus before it: random streams refute it.
    """
    u = _checked(course, u, "narow", NAROWClassifier, covariance="full")
    (M, U), b, m, chi = _counted(course), course.learner.b, course.margins[course.updated], course.chi[course.updated]
    R = np.linalg.norm(course.rows, axis=1).max(initial=0.0)
    r = np.divide(chi, b * chi - 1.0, out=np.full(len(chi), np.inf), where=b * chi > 1.0)
    terms, finite = 2.0 * b * m, np.isfinite(r)
    m, chi_, r = m[finite], chi[finite], r[finite]
    terms[finite] = b * m * (2 * r - m) / (r + chi_)
    second = np.sum(np.minimum(1.0, b * chi) + terms)
    v, log_det, _ = _precision(course, "narow")
    first = 1.0 / (b * v) + R**2 * log_det
    return Bound(M + U, float(course.loss(u) + np.linalg.norm(u) * np.sqrt(first) * np.sqrt(max(second, 0.0))))


def arow(course: Course, u: ArrayLike) -> Bound:
    """Mistakes of AROW with a full covariance, X = sum of x x' over the rounds that changed it. AROW paper, Theorem 2:

        M <= √(r ||u||² + u'X u) √(log det(I + X/r) + U) + L(u) - U,

    U the number of those rounds that were no mistakes.
    """
    u = _checked(course, u, "arow", AROWClassifier, covariance="full")
    r, rows, m = _number(course, "arow", "r"), course.rows, course.margins[course.updated]
    M, U = int((m <= 0.0).sum()), int((m > 0.0).sum())
    log_det = np.linalg.slogdet(np.eye(len(u)) + rows.T @ rows / r)[1]
    return Bound(M, float(np.sqrt(r * (u @ u) + np.sum((rows @ u) ** 2)) * np.sqrt(log_det + U) + course.loss(u) - U))


# --- the tutorial --------------------------------------------------------------------------------------------------------------


def dual_ascent(course: Course, u: ArrayLike) -> Bound:
    """Losses of dual ascent, whichever update, regularizer f and loss, and of FoReL. Tutorial, parts II and III:

        sum of l(w_t) <= f(u) + sum of l(u) + sum of L_t²/(2 sigma)

    Euclidean: f(u) = sigma/2 ||u||², L_t = ||x||. Entropic: f(u) = sigma min sum of p log(n p) over the shares p that make u of
    the n = 2d weights W and -W (infinite where ||u||_1 > W) or, signed=False, of the d weights W (where sum u is not W or u < 0);
    L_t = W max |x|, W = norm_bound. Targets: the same with the losses of errors, L_t times 2|y - w_t.x| for the squared loss.

    sigma="auto": sigma_t of each round in the last sum, and that of the last round in f, as the dual does not fall when sigma
    rises. The weights w_t of that are those by sigma_t, which has seen x_t (not y_t). Euclidean: θ_t/sigma_t, whose losses are
    what is paid. Entropic: what is paid are the losses of the predictions, which are w_t's but in the rounds where sigma rose
    (one for each half more of it); in these the loss of the prediction less the least loss that any weights have, with a margin
    of L_t or a prediction of ±L_t, is allowed on top. (The tutorial fixes sigma; that is this library's reckoning.)

    With sigma = L √T/W, or L √(T/(2 log n)), that is a regret of at most L W √T, or L √(2 T log n).

    >>> course = follow(DualAscentClassifier(2.0, fit_intercept=False), [[1.0, 0.0], [0.0, 1.0]], [1, -1])
    >>> dual_ascent(course, [1.0, -1.0])
    Bound(paid=2.0, allowed=2.5)
    """
    kinds = (DualAscentClassifier, DualAscentRegressor, FoReLClassifier)
    u, learner, scores = _checked(course, u, "dual_ascent", *kinds), course.learner, course.scores
    entropic, sigma = getattr(learner, "regularizer", "euclidean") == "entropic", course.sigma
    rose = np.zeros(len(scores), bool)
    if learner.sigma == "auto":
        before = np.append(0.0, sigma[:-1])[: len(sigma)]
        if entropic:
            rose = _certificates.risen(before, sigma)
        else:
            scores = scores * np.divide(before, sigma, out=np.zeros(len(sigma)), where=sigma > 0.0)
    else:
        sigma = np.full(len(scores), _number(course, "dual_ascent", "sigma"))
    W = _number(course, "dual_ascent", "norm_bound") if entropic else 1.0
    L = W * np.abs(course.X).max(axis=1) if entropic else np.linalg.norm(course.X, axis=1)
    if isinstance(learner, DualAscentRegressor):
        errors, of = course.y - scores, {"absolute": np.abs, "squared": np.square}[learner.loss]
        paid, best, least = of(errors), of(course.y - course.X @ u), of(np.maximum(0.0, np.abs(course.y) - L))
        if learner.loss == "squared":
            L = L * 2.0 * np.where(rose, np.abs(course.y) + L, np.abs(errors))
    else:
        margin, hinge = getattr(learner, "margin", 1.0), getattr(learner, "loss", "hinge") == "hinge"
        paid, best, least = (
            np.maximum(0.0, margin - m) if hinge else np.logaddexp(0.0, -m)
            for m in (course.y * scores, course.y * (course.X @ u), L)
        )
    f = entropy_of_shares(u / W, bool(learner.signed)) if entropic else (u @ u) / 2.0
    last = float(sigma[-1]) if len(sigma) else 0.0
    second = np.divide(L**2, 2.0 * sigma, out=np.zeros(len(L)), where=sigma > 0.0) + rose * (paid - least)
    return Bound(float(paid.sum()), float((last * f if last else 0.0) + best.sum() + second.sum()))


def dual_ascent_multiclass(learner: DualAscentClassifier, X: Matrix, y: ArrayLike, u: ArrayLike) -> Bound:
    """Losses of the joint learner of several classes (multi_class="crammer_singer"), a fixed sigma. Tutorial, II to IV:

        sum of l(w_t) <= f(u) + sum of l(u) + sum of L_t²/(2 sigma)

    for weights u of all classes, (k, d); Euclidean L_t = √2 ||x||, f(u) = sigma/2 ||u||², entropic as in `dual_ascent` over all
    k d weights. y : the classes 0 .. k - 1. The learner stays as it is: a copy learns.

    >>> learner = DualAscentClassifier(1.0, norm_bound=1.0, fit_intercept=False)
    >>> dual_ascent_multiclass(learner, [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [0, 1, 2], np.zeros((3, 2)))
    Bound(paid=4.0, allowed=7.0)
    """
    who = "onlinecls.bounds.dual_ascent_multiclass"
    asked = isinstance(learner, DualAscentClassifier) and learner.multi_class == "crammer_singer"
    if not asked or any(value is None or isinstance(value, str) for value in (learner.sigma, learner.norm_bound)):
        raise ValueError(
            f"{who}: learner must be a DualAscentClassifier with multi_class='crammer_singer' and numbers for sigma and "
            f"norm_bound, got {learner!r}."
        )
    if learner.fit_intercept or learner.average or learner.__sklearn_is_fitted__():
        raise ValueError(f"{who}: learner must have fit_intercept=False and average=False and not be fitted, got {learner!r}.")
    rows = validate.read_rows(who, X.toarray() if issparse(X) else X, np.float64)
    X, u = rows.data.reshape(rows.n_rows, rows.n_features), np.asarray(u, dtype=np.float64)
    codes = validate.read_labels(who, y, len(X))
    fits = u.ndim == 2 and u.shape[1] == X.shape[1] and len(u) > 2
    if not (fits and np.isfinite(u).all() and np.isin(codes, range(len(u))).all()):
        raise ValueError(f"{who}: u must be finite weights, a row for each of the classes 0 .. k - 1 > 1, got shape {u.shape}.")
    learner = copy.deepcopy(learner).partial_fit(X[:0], codes[:0], classes=np.arange(len(u)))

    def loss(scores: np.ndarray, code: int) -> float:
        margins = scores[code] - np.delete(scores, code)
        if learner.loss == "hinge":
            return max(0.0, learner.margin - margins.min())
        return float(np.logaddexp.reduce([0.0, *-margins]))

    sigma, W = float(cast("float", learner.sigma)), float(cast("float", learner.norm_bound))
    paid = best = second = 0.0
    for t, code in enumerate(codes.astype(int)):
        paid, best = paid + loss(learner.decision_function(X[t : t + 1])[0], code), best + loss(u @ X[t], code)
        L2 = W**2 * np.abs(X[t]).max() ** 2 if learner.regularizer == "entropic" else 2.0 * X[t] @ X[t]
        second += L2 / (2.0 * sigma)
        learner.partial_fit(X[t : t + 1], codes[t : t + 1])
    if learner.regularizer == "entropic":
        f = entropy_of_shares(u.ravel() / W, bool(learner.signed))
    else:
        f = np.square(u).sum() / 2.0
    return Bound(float(paid), float(sigma * f + best + second))


def follow_the_leader(y: ArrayLike) -> Bound:
    """Squared losses of the mean of all targets so far (0 before the first), the tutorial's first example:

        sum of (w_t - y_t)² <= min over u of the sum of (u - y_t)² + 2 B² (1 + log T),     B = the largest |w_t - y_t|

    For the loss of w_t is above that of the mean w_{t+1}, which has seen y_t, by (1 - (1 - 1/t)²) (w_t - y_t)² <= 2 B²/t, and
    those means are together no worse than the best u.

    >>> paid, allowed = follow_the_leader([1.0, 3.0, 2.0])
    >>> paid, round(allowed, 2)
    (5.0, 18.79)
    """
    y = validate.read_targets("onlinecls.bounds.follow_the_leader", y, len(np.atleast_1d(np.asarray(y))))
    T = len(y)
    means = np.append(0.0, np.cumsum(y)[:-1] / np.arange(1, T)) if T else y
    errors = means - y
    largest = np.abs(errors).max(initial=0.0)
    best = np.sum((y - y.mean()) ** 2) if T else 0.0
    return Bound(float(errors @ errors), float(best + 2.0 * largest**2 * (1.0 + np.log(max(T, 1)))))


def gradient_descent(course: Course, u: ArrayLike) -> Bound:
    """Regularised losses alpha/2 ||w||² + [1 - y w.x]+ of strongly convex gradient descent. Tutorial, part V:

    sum over t of the losses of w_t - the same of u <= G²/(2 alpha) (1 + log T),     G = 2 max ||x||.
    """
    u = _checked(course, u, "gradient_descent", OGDClassifier, learning_rate="strongly_convex")
    alpha = _number(course, "gradient_descent", "alpha")
    T, G = len(course.y), 2.0 * np.linalg.norm(course.X, axis=1).max(initial=0.0)
    paid = alpha / 2 * np.sum(course.weights[:T] ** 2) + np.maximum(0.0, 1.0 - course.margins).sum()
    best = T * alpha / 2 * (u @ u) + np.maximum(0.0, 1.0 - course.y * (course.X @ u)).sum()
    return Bound(float(paid), float(best + G**2 / (2.0 * alpha) * (1.0 + np.log(max(T, 1)))))


def hedge(X: ArrayLike, y: ArrayLike, signed: bool = False) -> Bound:
    """Expected mistakes of Hedge (eta0="auto") on advice X of d experts: the best expert's + 2 √(T ln(d)/2) + √(ln(d)/8).

    Tutorial, parts I and V. X : (n_rows, d), the chances that experts give +1 (signed: advice in [-1, 1]); y : -1 or +1.

    >>> X, y = np.tile([[1.0, 0.0, 0.5]], (50, 1)), np.ones(50)
    >>> paid, allowed = hedge(X, y)
    >>> round(paid, 2), round(allowed, 2)
    (1.01, 10.85)
    """
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    learner = HedgeClassifier(dtype=np.float64, signed=signed).partial_fit(X, y, classes=[-1.0, 1.0])
    X = (1.0 + X) / 2.0 if signed else X
    best = ((y[:, None] + 1) / 2 - y[:, None] * X).sum(axis=0).min()
    T, entropy = len(y), np.log(X.shape[1])
    return Bound(learner.expected_loss_, float(best + 2.0 * np.sqrt(T * entropy / 2.0) + np.sqrt(entropy / 8.0)))
