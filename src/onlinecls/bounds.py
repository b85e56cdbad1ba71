"""The papers' bounds on mistakes and regret, as numbers: what a learner paid on a stream, and the most that it could have paid.

`follow` runs a learner over a stream row by row and records what the bounds need; each bound is then a function of that course
and of any competitor u, a vector of weights chosen in hindsight:

>>> import numpy as np
>>> from onlinecls import AROWClassifier, bounds
>>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, -1.0]] * 5)
>>> y = np.array([1, -1, -1, 1] * 5)
>>> course = bounds.follow(AROWClassifier(r=1.0, covariance="full", fit_intercept=False), X, y)
>>> paid, allowed = bounds.arow(course, u=[0.5, -2.0])
>>> paid, round(allowed, 2)
(3, 12.78)

`certify` has both sides along the stream, by the learner's own theorem. docs/bounds.md tells what the theorems cover.

m = y w.x is a row's margin (of several classes, the score of its class y less that of the strongest rival), l its loss, L(u)
the hinge loss of u over the rounds of the course that changed the model, l(u) that of a row (of several classes, the largest of
1 - (u_y - u_a).x over all a and 0). M of those rounds are mistakes, U are none. Second order: χ = x'Σ_{t-1}x, A = Σ^-1, v =
initial_variance (the papers have 1), r and b the learner's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import cleandoc
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_matrix

from ._estimators.learner import state_of
from ._input import validate
from ._input.compat import issparse, kind_of
from ._registry import ALGORITHMS, POSITIVE, algorithms_of, parameter_error, public, select
from .reference.potential import Entropic

__all__ = [
    "Bound", "Certificate", "Course", "arow", "certify", "distance", "dual_ascent", "fixed_rate", "follow", "follow_the_leader",
    "gradient_descent", "hedge", "least_squares", "lemma_1", "margin_corollary", "multiplicative", "narow", "one_class", "p_norm",
    "passive_aggressive", "perceptron", "potential_based", "second_order_perceptron",
]

WHO = "onlinecls.bounds"
#: Required by every theorem: weights that start from 0, without an average, rows of weight 1, and a Σ that never grows.
PLAIN: Mapping[str, object] = {"fit_intercept": False, "average": False, "class_weight": None, "forgetting": 0.0}


class Bound(NamedTuple):
    """The sum paid, in the units that the bound counts (mistakes, losses), and the most that its theorem allows, to rounding."""

    paid: float
    allowed: float


class Certificate(NamedTuple):
    """Both sides of a theorem after so many rows of a stream. u : the competitor by which least was left after the last one."""

    theorem: str
    rows: np.ndarray
    paid: np.ndarray
    allowed: np.ndarray
    u: np.ndarray


class Course(NamedTuple):
    """A learner's course over a stream of n rounds, as `follow` records it.

    Attributes
    ----------
    learner : object
        The learner after the last round.
    X, y : {ndarray, CSR matrix} of float64, shape (n, d), and ndarray of shape (n,)
        y of a one-class learner: zeros, the distances wanted.
    scores, updated : ndarrays of shape (n,), scores of several classes (n, k)
        w.x before each update (of a one-class learner, -||x - w||); the rounds that changed the model.
    lengths : ndarray of float64, shape (n,)
        ||w|| after each round; of a one-class learner 0.
    chi, lookahead, spread, forgotten, sigma : ndarray of float64, shape (n,)
        Second-order learners of two classes, z = y x: z'Σ_{t-1}z; z'Σ_tθ_{t-1}, the margin with x already in Σ; z'Σ_tz;
        θ'(Σ_t - Σ_{t-1})θ. Dual ascent: σ of each round, 0 before a row that is not 0. Others: 0.
    """

    learner: Any  # each bound checks its class
    X: Any
    y: np.ndarray
    scores: np.ndarray
    lengths: np.ndarray
    updated: np.ndarray
    chi: np.ndarray
    lookahead: np.ndarray
    spread: np.ndarray
    forgotten: np.ndarray
    sigma: np.ndarray

    def __repr__(self) -> str:
        return f"Course({self.learner!r}, {len(self.y)} rows)"

    def until(self, n: int) -> Course:
        """Return the first n rounds; its learner is the one after the last round of all."""
        return Course(self.learner, *(part[:n] for part in self[1:]))

    @property
    def margins(self) -> np.ndarray:
        """The margins before each update."""
        return self.over(self.scores).min(axis=1)

    def over(self, scores: np.ndarray) -> np.ndarray:
        """Return the margins of scores over each other class, (n, k - 1)."""
        if scores.ndim == 1:
            return (self.y * scores)[:, None]
        others = np.arange(scores.shape[1]) != self.y[:, None]
        return np.take_along_axis(scores, self.y[:, None], 1) - scores[others].reshape(len(scores), -1)

    def scored(self, u: np.ndarray) -> np.ndarray:
        """Compute u's scores of the rows."""
        return -np.linalg.norm(self.X - u, axis=1) if hasattr(self.learner, "score_samples") else self.X @ u.T

    def excess(self, scores: np.ndarray) -> np.ndarray:
        """Compute by how much scores miss the learner's margin, or targets and centres beyond its ε: a loss where > 0."""
        if kind_of(self.learner) != "classifier":
            return np.abs(self.y - scores) - getattr(self.learner, "epsilon", 0.0)
        return getattr(self.learner, "margin", 1.0) - self.over(scores).min(axis=1)

    def losses(self, scores: np.ndarray) -> np.ndarray:
        """Compute the losses of scores by the learner's parameters: hinge with its margin, log loss, absolute or squared."""
        loss = getattr(self.learner, "loss", "")
        if loss == "log_loss":
            return np.logaddexp.reduce(np.pad(-self.over(scores), ((0, 0), (1, 0))), axis=1)
        return np.maximum(self.excess(scores), 0.0) ** (2 if loss == "squared" else 1)

    def loss(self, u: np.ndarray, weights: Any = None) -> float:
        """Compute L(u), the sum of l(u) over the rounds that changed the model; with weights: weighted, of all rounds."""
        return float(self.losses(self.scored(u)) @ (self.updated if weights is None else weights))

    def norms(self, p: float = 2.0) -> np.ndarray:
        """Compute the p-norms of the rows; p = inf: max |x|."""
        X = abs(csr_matrix(self.X))
        largest = X.max(axis=1).toarray().ravel()
        if p == np.inf:
            return largest
        shares = X.multiply(1.0 / np.where(largest > 0.0, largest, 1.0)[:, None])  # (the p-th powers of 1e-20 would be 0)
        return largest * np.ravel(shares.power(p).sum(axis=1)) ** (1.0 / p)


@np.errstate(all="ignore")
def follow(learner: Any, X: Any, y: Any = None, n_classes: int | None = None) -> Course:
    """Run a new learner with these parameters over a stream, row by row, and record its course.

    The theorems speak of the rows z = x / s: s is what the first rows tell of it, or the learner's `scale`, before the first row.

    Parameters
    ----------
    learner : object
        A learner of this library that a theorem covers, with fit_intercept=False, average=False and class_weight=None. It is not
        changed, and what it has learnt does not matter.
    X : {array-like, sparse matrix} of shape (n_rows, n_features)
        Read as float64; sparse rows of two classes stay sparse, but for a full covariance.
    y : array-like of shape (n_rows,)
        -1 or +1; of a regressor, targets; of a one-class learner, not used.
    n_classes : int, default=None
        k > 2 for a classifier with multi_class="crammer_singer"; y is then 0 .. k - 1.

    Returns
    -------
    course : Course
        Its X are the rows z, its learner has ``scale=1.0``.
    """
    if not any(row.theorems for row in algorithms_of(type(learner))):
        raise _error(WHO, "learner must be one that a theorem covers", repr(learner), "No theorem here bounds what it pays.")
    _require(WHO, learner, {**PLAIN, **({"multi_class": "crammer_singer"} if n_classes else {})})
    kind, k, full = kind_of(learner), n_classes or 1, getattr(learner, "covariance", "") == "full"
    signed, values, make = kind == "classifier", learner.get_params(), type(learner)
    X = X.toarray() if issparse(X) and (full or k > 1 or not signed) else X
    X = validate.read_rows(WHO, X, np.float64).array()
    n, d = X.shape
    name, named = "decision_function", {"classes": [-1.0, 1.0] if k == 1 else range(k)} if signed else {}
    if signed:
        y, wanted = validate.read_labels(WHO, y, n), [-1, 1] if n_classes is None else list(range(k if k > 2 else 0))
        if y.dtype.kind in "US" or not np.isin(y, wanted).all() or not wanted:
            words = "-1 and +1" if n_classes is None else f"0 .. {k - 1}, more than two classes"
            raise _error(WHO, f"y must be {words}", validate.brief(np.unique(y).tolist()), "Give them these numbers.")
        y = y.astype(np.float64 if k == 1 else np.intp)
    elif kind == "regressor":
        y, name = validate.read_targets(WHO, y, n), "predict"
    else:
        y, name = np.zeros(n), "score_samples"
    if values["scale"] != 1.0:
        told = make(**values).partial_fit(X, y, **named).scale_
        X = X / (told if told > 0.0 else 1.0)  # (NaN: no row tells it)
    walker = make(**{**values, "scale": 1.0}).partial_fit(X[:0], y[:0], **named)
    score, second_order, theta = getattr(walker, name), k == 1 and hasattr(make, "covariance_"), np.zeros(d)
    scores = np.zeros((n, k) if k > 1 else n)
    lengths, updated, chi, lookahead, spread, forgotten, sigma = np.zeros((7, n))

    def covariance() -> np.ndarray:
        return walker.covariance_.reshape([d] * (1 + full))[at].copy()

    def form(a: np.ndarray, S: np.ndarray, b: np.ndarray) -> float:
        return a @ (S @ b if full else S * b)

    for t in range(n):
        row, label, updates = X[t : t + 1], y[t : t + 1], walker.n_updates_
        scores[t] = score(row)[0]
        if second_order:
            x, at = (row.data, row.indices) if issparse(row) else (row[0], slice(d))
            z, own, before = x * label if signed else x, theta[at].copy(), covariance()
        walker.partial_fit(row, label)
        lengths[t] = np.linalg.norm(getattr(walker, "coef_", 0.0))
        updated[t], sigma[t] = walker.n_updates_ > updates, getattr(walker, "sigma_", 0.0)
        if second_order:
            Sigma = covariance()
            chi[t], spread[t] = form(z, before, z), form(z, Sigma, z)
            lookahead[t], forgotten[t] = form(z, Sigma, own), form(own, Sigma - before, own)
            theta[at] = own + updated[t] * z
    course = Course(walker, X, y, scores, lengths, updated > 0.0, chi, lookahead, spread, forgotten, sigma)
    _check_steps(course)
    return course


@np.errstate(all="ignore")
def certify(course: Course, u: ArrayLike) -> Certificate:
    """Compute both sides of a learner's first theorem along its course, after every row or at 200 places of a longer one.

    Parameters
    ----------
    course : Course
        Of a learner that a theorem covers with its parameters.
    u : array-like of shape (n_features,) or (n_competitors, n_features)
        Any weights. Of several competitors, at each place the one counts by which least is left of what is allowed.

    Returns
    -------
    certificate : Certificate
    """
    learner, n, U = course.learner, len(course.y), np.asarray(u, dtype=np.float64)
    U = U[None] if U.ndim == course.scores.ndim or not len(U) else U
    bound = globals()[select(type(learner), learner.get_params()).theorems[0]]
    rows = np.unique(np.linspace(1, n, min(n, 200)).round().astype(int))
    sides = np.array([[bound(course.until(t), one) for one in U] for t in rows]).reshape(len(rows), len(U), 2)
    best = (sides[..., 1] - sides[..., 0]).argmin(axis=1)
    paid, allowed = sides[np.arange(len(rows)), best].T
    return Certificate(bound.title, rows, paid, allowed, U[best[-1] if len(rows) else 0])


# --- checks --------------------------------------------------------------------------------------------------------------------


def _error(who: str, must: str, came: str, do: str) -> ValueError:
    return ValueError(f"{who}: {must}, got {came}. {do}")


def _require(who: str, learner: Any, needed: Mapping[str, object]) -> None:
    """Raise unless the learner's parameters have these values."""
    for name, wanted in needed.items():
        value = getattr(learner, name, wanted)
        if value is not wanted and (wanted is None or value != wanted):
            hint = ": a column of ones in X is an intercept" if name == "fit_intercept" else ""
            came, do = f"{name}={value!r}, which the theorem does not cover", f"Follow a learner with {name}={wanted!r}{hint}."
            raise _error(who, f"{name} must be {wanted!r}", came, do)


def _check(who: str, course: Course, u: np.ndarray, needed: Mapping[str, object]) -> None:
    """Raise unless the theorem of this name covers the course, and u has its shape."""
    learner, name, k = course.learner, who.removeprefix(f"{WHO}."), course.scores.shape[1:]
    if name not in select(type(learner), learner.get_params()).theorems:
        which = "; ".join(row.name for row in ALGORITHMS.values() if name in row.theorems)
        raise _error(who, f"course must be that of one of: {which}", f"that of {learner!r}", "Follow one of those.")
    if k and name != "dual_ascent":
        raise _error(who, "y must be -1 and +1", f"{k[0]} classes", "The theorem is for two: give them these numbers.")
    if getattr(learner, "sigma", 1.0) == "auto" and (k or name != "dual_ascent"):
        came, do = "sigma='auto', which depends on the rows", "The theorem is for one that is fixed before: take sigma=1.0, say."
        raise _error(who, "sigma must be a number", came, do)
    _require(who, learner, needed)
    shape, wrong = (*k, course.X.shape[1]), u[~np.isfinite(u)]
    if wrong.size or u.shape != shape:
        must, came = " rows of ".join(map(str, shape)), f"{wrong[0]} in it" if wrong.size else f"shape {u.shape}"
        raise _error(who, f"u must be {must} finite weights", came, "Give one for each column of X.")


def _check_steps(course: Course) -> None:
    """Raise if a step was skipped, or if a full covariance has lost its digits to a row."""
    learner = course.learner
    dtype, do = state_of(learner).dtype, "Divide X by the length of a row"
    if learner.n_skipped_:
        came = f"{learner.n_skipped_} of {learner.t_} whose steps were skipped, which no theorem covers"
        raise _error(WHO, f"X must be rows whose steps fit {dtype}", came, f"{do}, or take smaller steps.")
    if getattr(learner, "covariance", "") == "full":
        chi = course.norms() ** 2 * getattr(learner, "initial_variance", 1.0)  # x'Σ_0x
        found, most = (_beta(learner, chi) * chi).max(initial=0.0), 1e12 * np.finfo(np.float64).eps / np.finfo(dtype).eps
        if not found <= most:
            must = f"X must be rows with x'Σ_0x/r up to {most:.2g} for a full covariance of {dtype}"
            came = f"{found:.2g}: rounding then changes what the theorems sum"
            raise _error(WHO, must, came, f"{do}, or take covariance='diagonal'.")


def _bound(who: str, paid: Any, allowed: Any) -> Bound:
    """Return both sides as numbers of Python; raise if they are infinite on both sides or NaN, which compares with nothing."""
    if np.isnan(np.subtract(allowed, paid)).any():
        must = "rows, targets and u must be numbers whose squares and their sums fit float64"
        raise _error(who, must, "larger or smaller ones", "Multiply them by a constant.")
    return Bound(*(np.asarray(side).item() for side in (paid, allowed)))


def _theorem(title: str, **needed: object) -> Callable[[Callable[..., tuple]], Callable[..., Bound]]:
    """Make a function of a course and a competitor a bound, with checks around it. needed : the parameters that it covers."""

    def complete(function: Callable[..., tuple]) -> Callable[..., Bound]:
        who = f"{WHO}.{function.__name__}"

        @wraps(function)
        @np.errstate(all="ignore")
        def bound(course: Course, u: ArrayLike, *args: float, **named: float) -> Bound:
            u = np.asarray(u, dtype=np.float64)
            _check(who, course, u, needed)
            return _bound(who, *function(course, u, *args, **named)) if len(course.y) else Bound(0, 0.0)

        summary, _, rest = cleandoc(function.__doc__ or "").partition("\n\n")
        bound.__doc__ = f"{summary}\n\n{title}.\n\n{rest}".rstrip() + "\n"
        vars(bound)["title"] = title
        return bound

    return complete


# --- what several theorems sum -------------------------------------------------------------------------------------------------


def _beta(learner: Any, chi: np.ndarray) -> np.ndarray:
    """Compute β of Σ^-1 += β x x' in each round that changes the model: 1/r, or NAROW's [b - 1/χ]+."""
    if hasattr(learner, "b"):
        return np.divide(learner.b * chi - 1.0, chi, out=np.zeros(len(chi)), where=learner.b * chi > 1.0)
    return np.full(len(chi), 1.0 / float(learner.r))


def _quadratic(course: Course, u: np.ndarray) -> float:
    """Compute u'A u, A = Σ^-1 after the last row and Σ_0 = vI, v the initial variance."""
    learner = course.learner
    squares = (course.X @ u) ** 2 if learner.covariance == "full" else csr_matrix(course.X).power(2) @ u**2
    return u @ u / getattr(learner, "initial_variance", 1.0) + (_beta(learner, course.chi) * squares) @ course.updated


def _entropy(learner: Any, u: np.ndarray) -> float:
    """Compute the relative entropy of u's shares to uniform ones, infinite if u has no shares."""
    return Entropic(1.0, float(learner.norm_bound), bool(learner.signed)).value(u.ravel())


def _lossless(course: Course, u: np.ndarray, allowed: float) -> tuple[float, float]:
    """Return (Σ l² + 2 (ε - ε*) Σ l, allowed), the latter infinite if u has a loss in a round."""
    losses, scores = course.losses(course.scores), course.scored(u)
    spare = -course.excess(scores).max()
    paid = losses @ losses + 2.0 * max(spare, 0.0) * losses.sum()
    return paid, allowed if spare >= -1e-12 * np.abs(scores).max() else np.inf


def _sizes(course: Course, u: np.ndarray) -> tuple[np.ndarray, float, float]:
    """Return dual ascent's L_t of each row, the last σ, and f(u)."""
    learner, sigma = course.learner, course.sigma[-1] or 1.0  # (any will do if all rows are 0)
    if learner.regularizer == "entropic":
        return learner.norm_bound * course.norms(np.inf), sigma, sigma * _entropy(learner, u)
    return course.norms() * np.sqrt(course.scores.ndim), sigma, sigma * np.sum(u * u) / 2.0


def _terms(course: Course, u: np.ndarray) -> tuple:
    """Return what NAROW's Lemma 1 sums over the rounds that changed the model: m, η, its unit, ||z||*², 2B, and 2f(u), 1/β.

    Those are arrays, 0 in other rounds. The unit is eta0 where all steps are in units of that. 1/β is p - 1 of p-norms, for f(u)
    = ||u||_q²/2; with β = 1 f(u) is p - 1 times that.
    """
    learner, m, on, nothing = course.learner, course.margins, course.updated * 1.0, np.zeros(len(course.y))
    if hasattr(learner, "covariance"):
        return course.lookahead, on, 1.0, course.spread * on, course.forgotten * on, _quadratic(course, u), 1.0
    if hasattr(learner, "regularizer"):  # DA1: w = ∇f*(θ), and θ moves by the slope of the loss
        sizes, sigma, f = _sizes(course, u)
        slopes = 1.0 / (1.0 + np.exp(m)) if learner.loss == "log_loss" else 1.0
        return m, on, 1.0, (slopes * sizes) ** 2 / sigma * on, nothing, 2.0 * f, 1.0
    p = float(getattr(learner, "p", 2.0) or max(2.0, 2.0 * np.log(course.X.shape[1])))
    rate, squares, eta = getattr(learner, "eta0", 1.0), course.norms(p) ** 2 * on, on
    if hasattr(learner, "learning_rate"):
        eta = on / np.sqrt(np.arange(1, len(m) + 1))
    elif hasattr(learner, "radius") and learner.aggressive:
        eta = np.where(m <= 0.0, 1.0, np.clip((learner.radius**2 / 2 - m) / np.where(on, squares, 1.0), 0.0, 1.0)) * on
    f = np.square(np.linalg.norm(u, p / (p - 1.0)))
    return m, eta, 1.0 if rate == "auto" else float(rate), squares, nothing, f, p - 1.0


# --- theorems of the Perceptron and PA -----------------------------------------------------------------------------------------


@_theorem("ICML 2008 tutorial, part III (universality)")
def perceptron(course: Course, u: Any) -> tuple:
    """Bound the mistakes of the Perceptron:  M <= L(u) + R ||u|| √L(u) + R² ||u||²,  R = max ||x||.

    The tutorial has it for R = 1.
    """
    loss, size = course.loss(u), (course.norms() * course.updated).max() * np.linalg.norm(u)
    return course.updated.sum(), loss + size * np.sqrt(loss) + size**2


@_theorem("NAROW paper, section 4.1, (4)")
def p_norm(course: Course, u: Any) -> tuple:
    """Bound the mistakes of the p-norm Perceptron, with 1/p + 1/q = 1.

        M <= L(u) + S²/2 + S √(S²/4 + L(u) + D) - sum of η,     D = sum of (η² ||x||_p² + 2ηm)/R² - η,

    S = ||u||_q R / √(q - 1), R = max ||x||_p (aggressive: `radius`, which no row that changes the model may exceed), the sums
    over the U rounds, with steps η. L(u) is the sum of η l(u) over those and of l(u) over mistakes.
    """
    learner, (m, eta, _, squares, _, f, c) = course.learner, _terms(course, u)
    R = max(np.sqrt(squares.max()), 1e-150)
    if learner.aggressive:
        if R > learner.radius * (1 + 1e-12):
            must, do = f"radius must be at least the p-norm of every row, {R:g}", "Follow the learner with that radius."
            raise _error(f"{WHO}.p_norm", must, f"radius={learner.radius!r}", do)
        R = float(learner.radius)
    S, loss, calm = np.sqrt(f) * R * np.sqrt(c), course.loss(u, eta), eta * (m > 0.0)  # (1/(q - 1) is p - 1)
    D = np.sum(calm**2 * squares + 2.0 * calm * m) / R**2 - calm.sum()
    allowed = loss + S**2 / 2.0 + S * np.sqrt(max(S**2 / 4.0 + loss + D, 0.0)) - calm.sum()
    return (course.updated & (m <= 0.0)).sum(), allowed


@_theorem("PA paper, Theorems 1 and 3; PA-I: JMLR 2006, Theorem 4")
def passive_aggressive(course: Course, u: Any) -> tuple:
    """Bound the squared losses (PA-I: the mistakes) of PA, for classes and for targets, B = max ||x||².

        PA (C = inf), u without loss: sum of l² + 2 (ε - ε*) sum of l <= B ||u||²                 (PA paper, Theorem 1)
        PA-II, any u:                 sum of l² <= (B + 1/2C) ||u||² + (1 + 2CB) sum of l(u)²      (Theorem 3)
        PA-I, classes, any u:         M <= max(B/γ², 1/(Cγ)) (||u||² + 2C sum of l(u))            (JMLR 2006, Theorem 4)

    γ is the learner's `margin`. ε* is the least ε with which u has no loss, the largest |y - u.x|; for classes ε - ε* is the
    least margin y u.x, less γ. Where u has a loss, PA's bound is infinite.
    """
    learner, C, B = course.learner, float(course.learner.C), course.norms().max() ** 2
    losses, best = course.losses(course.scores), course.losses(course.scored(u))
    if C == np.inf:
        return _lossless(course, u, B * (u @ u))
    if learner.loss.startswith("squared"):
        return losses @ losses, (B + 0.5 / C) * (u @ u) + (1.0 + 2.0 * C * B) * (best @ best)
    if kind_of(learner) != "classifier":
        _require(f"{WHO}.passive_aggressive", learner, {"loss": "squared_epsilon_insensitive"})
    gamma = float(learner.margin)
    return (course.margins <= 0.0).sum(), max(B / gamma**2, 1.0 / (C * gamma)) * (u @ u + 2.0 * C * best.sum())


@_theorem("PA paper, corollary of Theorem 1", C=np.inf)
def margin_corollary(course: Course, u: Any) -> tuple:
    """Bound the losses of PA (C = inf) on classes that some direction u separates:  sum of l <= 2 B γ/γ̂².

    γ̂ is the least margin y u.x/||u||, B = max ||x||², γ the learner's `margin`; infinite where γ̂ <= 0.
    """
    gamma, least = float(course.learner.margin), (course.y * course.scored(u)).min()
    allowed = 2.0 * course.norms().max() ** 2 * gamma * (u @ u) / least**2 if least > 0.0 else np.inf
    return course.losses(course.scores).sum(), allowed


@_theorem("PA paper, Lemma 2", C=np.inf)
def distance(course: Course, u: Any) -> tuple:
    """Bound how far the weights of PA (C = inf) move:  ||w_T - w_1|| <= 2 ||u - w_1||  for any u without loss."""
    _, allowed = _lossless(course, u, 2.0 * float(np.linalg.norm(u)))
    return course.lengths.max(), allowed


@_theorem("PA paper, Theorem 4")
def multiplicative(course: Course, u: Any) -> tuple:
    """Bound the squared losses of the multiplicative PA, for u without loss, ||u||_1 <= W = norm_bound.

        sum of l² + 2 (ε - ε*) sum of l <= B/2 D,     B = max ρ²,  ρ = 2W max|x| (signed=True) or W max x.

    ε* as in `passive_aggressive`. D is the relative entropy, to the uniform, of u's shares in the 2d weights W and -W (unsigned:
    d weights W); infinite if u has no such shares or has a loss. (With the paper's max|x| for ρ, the signed form breaks it.)
    """
    learner = course.learner
    rho = (2.0 if learner.signed else 1.0) * learner.norm_bound * course.norms(np.inf).max()
    return _lossless(course, u, max(rho**2 / 2.0, 5e-324) * _entropy(learner, u))  # (0 times inf would be NaN)


@_theorem("PA paper, Theorems 1 and 4 (uniclass)")
def one_class(course: Course, u: Any) -> tuple:
    """Bound the losses of one-class learners, l = [||x - w|| - ε]+, for a centre u with all rows within ε* <= ε = epsilon.

        PA, w_1 the first row:   sum of l² + 2 (ε - ε*) sum of l <= ||u - w_1||²                   (PA paper, Theorem 1)
        multiplicative:          15/16 sum of l² + (ε - ε*) sum of l <= 8 W² D,   W = norm_bound     (Theorem 4, corrected)

    D as in `multiplicative`; ε* is the largest distance of a row from u: above ε, the bound is infinite. (The second has B = 32
    for the printed 16, which random streams refute where ε* < ε.)
    """
    learner = course.learner
    if hasattr(learner, "norm_bound"):
        paid, allowed = _lossless(course, u, 8.0 * learner.norm_bound**2 * _entropy(learner, u))
        return (paid + 7.0 / 8.0 * np.sum(course.losses(course.scores) ** 2)) / 2.0, allowed
    course = course._replace(scores=course.scores * (np.arange(len(course.y)) > 0))  # (no distance to the first row)
    return _lossless(course, u, np.sum((u - course.X[0]) ** 2))


# --- theorems of potential-based learners --------------------------------------------------------------------------------------


@_theorem("NAROW paper, Corollary 1", update="DA1")
def fixed_rate(course: Course, u: Any) -> tuple:
    """Bound the mistakes of every learner whose θ goes by η z with one η, z the negative gradient of a convex loss l.

        M l_0 <= L(u) + f_T(u)/η + η sum of ||z||*²/(2β) + B/η,     B = sum of f*_t(θ_t) - f*_{t-1}(θ_t)

    The sums are over the rounds that changed the model, L(u) that of l(u). l_0 is the loss of a score of 0: l/l_0 is at least 1
    on a mistake.

    Hinge loss, z = y x, l_0 = 1. Perceptron (η = eta0): f(u) = ||u||²/2, ||x||* = ||x||, β = 1, B = 0. p-norm (η = 1): f(u) =
    ||u||_q²/2, ||x||* = ||x||_p, β = q - 1, B = 0. Second-order Perceptron and NAROW (η = 1): f_T(u) = u'A_T u/2, ||x||*² =
    x'Σ_t x, β = 1, B = sum of θ'(Σ_t - Σ_{t-1})θ/2 <= 0, and mistakes counted by m', as in `potential_based`.

    Dual ascent with update="DA1" (η = 1, B = 0): f(u) as in `dual_ascent`, ||z||*²/β = (a L_t)²/sigma. Hinge loss with the margin
    γ: a = 1, l_0 = γ. Log loss: z = a y x with a = 1/(1 + e^m), l_0 = log 2.
    """
    m, _, eta, squares, memory, f, c = _terms(course, u)
    allowed = course.loss(u) + (f / eta + eta * squares.sum() * c + memory.sum() / eta) / 2.0
    return (course.updated & (m <= 0.0)).sum(), allowed / course.losses(0.0 * course.y)[0]


@_theorem("NAROW paper, Lemma 1")
def lemma_1(course: Course, u: Any, lam: float = 1.0) -> tuple:
    """Return both sides of the lemma from which the NAROW paper's bounds follow, at a λ = lam > 0.

        sum of η z.(w_t/λ - u) <= f_T(λu)/λ + (sum of η² ||z||*²/(2β) + f*_t(θ_t) - f*_{t-1}(θ_t))/λ

    z = -y x, the sums over the rounds with a step η. Perceptron, p-norm: f = ||w||_q²/(2(q - 1)), β = 1, and η the step.
    Second-order Perceptron and NAROW: f_t(w) = w'A_t w/2, ||x||*² = x'Σ_t x, β = 1, η = 1, and w_t = Σ_t θ_t, which has seen x.
    """
    if lam not in POSITIVE:
        raise parameter_error(f"{WHO}.lemma_1", "lam", POSITIVE, lam)
    m, eta, rate, squares, memory, f, c = _terms(course, u)
    eta = eta * rate
    paid = eta @ (course.y * course.scored(u) - m / lam)
    return paid, (f * lam**2 * c + np.sum(eta**2 * squares + memory)) / lam / 2.0


@_theorem("NAROW paper, Corollary 2")
def potential_based(course: Course, u: Any) -> tuple:
    """Bound mistakes and updates of every potential-based learner of the hinge loss.

    Second order, full or diagonal, A = Σ^-1; M and U are counted by m' = y x'Σ_t θ, the margin of weights that have seen x:

        M + U <= L(u) + √(u'A_T u) √Q,     Q = sum of x'Σ_t x + 2m' + θ'(Σ_t - Σ_{t-1})θ

    AROW with a full covariance, whose weights are Σθ/r: M + U counts all rounds that changed it.

    First order, with steps η, of m/eta0 (Perceptron: p = 2, η = 1; plain gradient descent: p = 2, η = 1/√t in round t; p-norm
    Perceptron: η = 1 on mistakes):

        sum of η <= sum of η l(u) + ||u||_q √(p - 1) √Q,     Q = sum of η² ||x||_p² + 2ηm
    """
    if hasattr(course.learner, "r1"):  # (else AROW's weights are no Σθ/r)
        _require(f"{WHO}.potential_based", course.learner, {"covariance": "full", "r1": None, "r2": None})
    m, eta, rate, squares, memory, f, c = _terms(course, u)
    Q = np.sum(eta**2 * squares + 2.0 * eta * m / rate + memory)  # θ'Σθ after the last row: L(u) + u.θ is at least the sum of η
    return eta.sum(), course.loss(u, eta) + np.sqrt(f * c) * np.sqrt(max(Q, 0.0))


@_theorem("NAROW paper, sections 4.2 and 4.3")
def second_order_perceptron(course: Course, u: Any) -> tuple:
    """Bound mistakes and updates of the second-order Perceptron, in quantities of the stream alone, m = y x'Σ_{t-1}θ.

        full:      M + U <= L(u) + √(r/v ||u||² + sum of (u.x)²) √(log det vA_T + sum of m(2r - m)/(r(r + χ)))
        diagonal:  M + U <= L(u) + √(u'D_T u) √(r sum over i of log(1 + v sum of x_i²/r) + 2U)
    """
    learner, on, m, chi = course.learner, course.updated, course.margins, course.chi
    r, v, first = float(learner.r), float(learner.initial_variance), _quadratic(course, u)
    if learner.covariance == "full":
        first, second = r * first, (np.log1p(chi / r) + m * (2.0 * r - m) / (r * (r + chi))) @ on
    else:
        second = r * np.log1p(v / r * (on @ csr_matrix(course.X).power(2))).sum() + 2.0 * (on & (course.lookahead > 0.0)).sum()
    return on.sum(), course.loss(u) + np.sqrt(first) * np.sqrt(max(second, 0.0))


@_theorem("NAROW paper, section 5", covariance="full")
def narow(course: Course, u: Any) -> tuple:
    """Bound mistakes and updates of NAROW with a full covariance, R = max ||x||.

        M + U <= L(u) + ||u|| R √(1/(bvR²) + log det vA_T) √(sum of min(1, bχ) + b m(2r_t - m)/(r_t + χ)),

    the last term 2bm where r_t = χ/(bχ - 1) is infinite (bχ <= 1). The paper prints a minus before it: random streams refute it.
    """
    b, m, on = float(course.learner.b), course.margins, course.updated
    chi = np.maximum(course.chi, 1.0 / b)
    R2 = (course.norms() * on).max() ** 2
    first = 1.0 / (b * course.learner.initial_variance) + R2 * (np.log(b * chi) @ on)
    terms = np.minimum(1.0, b * course.chi) + m * (2.0 * chi - m * (b * chi - 1.0)) / chi**2  # (the last one without r_t)
    return on.sum(), course.loss(u) + np.sqrt(u @ u * first) * np.sqrt(max(terms @ on, 0.0))


@_theorem("AROW paper, Theorem 2", covariance="full", r1=None, r2=None)
def arow(course: Course, u: Any) -> tuple:
    """Bound the mistakes of AROW with a full covariance, X = sum of x x' over the rounds that changed the model.

        M <= √(r ||u||² + u'X u) √(log det(I + X/r) + U) + L(u) - U
    """
    r, on, m = float(course.learner.r), course.updated, course.margins
    U, volume = (on & (m > 0.0)).sum(), np.log1p(course.chi / r) @ on
    return (on & (m <= 0.0)).sum(), np.sqrt(r * _quadratic(course, u)) * np.sqrt(volume + U) + course.loss(u) - U


# --- theorems of dual ascent, gradient descent and least squares ---------------------------------------------------------------


@_theorem("ICML 2008 tutorial, parts II to IV")
def dual_ascent(course: Course, u: Any) -> tuple:
    """Bound the losses of dual ascent, whichever update, regularizer f and loss.

        sum of l(w_t) <= f(u) + sum of l(u) + sum of L_t²/(2 sigma)

    Euclidean: f(u) = sigma/2 ||u||², L_t = ||x||, of several classes √2 ||x||. Entropic: f(u) = sigma min sum of p log(n p) over
    the shares p that combine the n = 2d weights W and -W to u (of k classes 2dk; infinite where ||u||_1 > W) or, signed=False, of
    the d weights W (where sum u is not W or u < 0); L_t = W max |x|, W = norm_bound. Targets: the same with the losses of errors,
    L_t times 2|y - w_t.x| for the squared loss.

    sigma="auto", two classes or targets (the library's own): the last sum has sigma_t of each round, f the last sigma. Euclidean:
    the losses of θ_t/sigma_t are paid. Entropic: the losses of the predictions are paid; where sigma rose, the prediction's loss
    less the least loss that weights can have, with a margin of L_t or a prediction of ±L_t, is allowed in addition.
    """
    learner, y, scores, sigma = course.learner, course.y, course.scores, course.sigma
    (L, _, f), before, rose = _sizes(course, u), np.append(0.0, sigma[:-1]), np.zeros(len(y), bool)
    if learner.regularizer == "entropic":
        rose = (before > 0.0) & (sigma > before)
    else:  # the weights of round t are those of its σ, which has seen ||x||
        scores = (scores.T * np.divide(before, sigma, out=np.zeros(len(y)), where=sigma > 0.0)).T
    of_targets = kind_of(learner) == "regressor"
    paid, least = course.losses(scores), course.losses(np.clip(y, -L, L) if of_targets else y * L)
    if of_targets and learner.loss == "squared":
        L = L * 2.0 * np.where(rose, np.abs(y) + L, np.abs(y - scores))
    second = np.divide(L**2, 2.0 * sigma, out=np.zeros(len(y)), where=sigma > 0.0) + rose * (paid - least)
    return paid.sum(), f + course.losses(course.scored(u)).sum() + second.sum()


@_theorem("ICML 2008 tutorial, part V")
def gradient_descent(course: Course, u: Any) -> tuple:
    """Bound the regularised hinge losses alpha/2 ||w||² + l(w) of strongly convex gradient descent.

        sum over t of the losses of w_t - the same of u <= G²/(2 alpha) (1 + log T),     G = 2 max ||x||
    """
    alpha, n, G = float(course.learner.alpha), len(course.y), 2.0 * course.norms().max()
    paid, best = (course.losses(scores).sum() for scores in (course.scores, course.scored(u)))
    allowed = n * alpha / 2.0 * (u @ u) + best + G**2 / (2.0 * alpha) * (1.0 + np.log(n))
    return paid + alpha / 2.0 * np.sum(course.lengths[:-1] ** 2), allowed


@_theorem("Azoury, Warmuth 2001 (AROW regression)", covariance="full", r1=None, r2=None)
def least_squares(course: Course, u: Any) -> tuple:
    """Bound the squared errors e = y - w.x of AROW regression with a full covariance: recursive least squares.

        sum of r e²/(r + χ) = min over u of (r ||u||² + sum of (y - u.x)²)

    What is allowed is the sum for this u; for the last weights both sides are equal.
    """
    r, errors, best = float(course.learner.r), course.y - course.scores, course.y - course.X @ u
    return np.sum(errors**2 * r / (r + course.chi)), r * (u @ u) + best @ best


# --- theorems with streams of their own ----------------------------------------------------------------------------------------


@np.errstate(all="ignore")
def follow_the_leader(y: ArrayLike) -> Bound:
    """Bound the squared losses of the mean of all targets so far (0 before the first), the tutorial's first example.

        sum of (w_t - y_t)² <= min over u of the sum of (u - y_t)² + 2 B² (1 + log T),     B = the largest |w_t - y_t|
    """
    who = f"{WHO}.follow_the_leader"
    y = validate.read_targets(who, y, len(np.atleast_1d(np.asarray(y))))
    T = max(len(y), 1)
    errors = np.append(0.0, np.cumsum(y) / np.arange(1, len(y) + 1))[: len(y)] - y
    best = np.sum((y - np.sum(y) / T) ** 2)
    return _bound(who, errors @ errors, best + 2.0 * np.abs(errors).max(initial=0.0) ** 2 * (1.0 + np.log(T)))


def hedge(X: ArrayLike, y: ArrayLike, signed: bool = False) -> Bound:
    """Bound Hedge's expected mistakes (eta0="auto") with d experts by the best expert's + 2 √(T ln(d)/2) + √(ln(d)/8).

    Tutorial, parts I and V. X has their advice, in [0, 1] or, signed, in [-1, 1], y is -1 and +1.
    """
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    learner = public("HedgeClassifier")(dtype=np.float64, signed=signed).partial_fit(X, y, classes=[-1.0, 1.0])
    X = (1.0 + X) / 2.0 if signed else X
    best = ((y[:, None] + 1) / 2 - y[:, None] * X).sum(axis=0).min()
    T, entropy = len(y), np.log(X.shape[1])
    return Bound(learner.expected_loss_, float(best + 2.0 * np.sqrt(T * entropy / 2.0) + np.sqrt(entropy / 8.0)))
