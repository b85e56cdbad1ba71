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

`certify` has both sides along the stream, by the learner's own theorem:

>>> certificate = bounds.certify(course, u=[0.5, -2.0])
>>> certificate.paid[[0, -1]].tolist(), certificate.allowed[[0, -1]].round(2).tolist()
([1.0, 3.0], [2.27, 12.78])

Most are for two classes -1 and +1 (some for targets, `one_class` for none), rows of weight 1, and learners without an intercept:
a column of ones does the same. Some have streams of their own: joint learners of the classes 0 .. k - 1 with u of shape (k, d),
experts (X of shape (n, d), y of -1 and +1), the mean of targets. L(u) is the hinge loss of u over the rounds of the course that
changed the model, l(u) that of a row.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import wraps
from inspect import cleandoc
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec, cast

import numpy as np

from ._algorithm import POSITIVE, parameter_error
from ._estimators.learner import OnlineLearner, state_of
from ._input import validate
from ._input.compat import is_classifier, is_regressor, issparse
from ._registry import ALGORITHMS, estimator_class, select
from .reference.potential import entropy_of_shares

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ._estimators.saving import Learner
    from ._estimators.second_order import AROWClassifier, NAROWClassifier, SecondOrderPerceptron
    from ._input.types import Matrix
    from ._wings.dual_ascent.estimators import DualAscentClassifier

_P = ParamSpec("_P")

__all__ = [
    "Bound", "Certificate", "Course", "arow", "arow_multiclass", "certify", "distance", "dual_ascent",
    "dual_ascent_multiclass", "fixed_rate", "follow", "follow_the_leader", "gradient_descent", "hedge", "least_squares",
    "lemma_1", "margin_corollary", "multiplicative", "narow", "one_class", "p_norm", "passive_aggressive", "perceptron",
    "potential_based", "potential_based_multiclass", "second_order_perceptron",
]

WHO = "onlinecls.bounds"
#: Required by every theorem: weights that start from 0, without an average, and rows of weight 1.
PLAIN: Mapping[str, object] = MappingProxyType({"fit_intercept": False, "average": False, "class_weight": None})
#: Parameters that change nothing in one pass over two classes without an intercept, or its rounding alone.
HARMLESS = (
    "max_iter", "tol", "shuffle", "random_state", "warm_start", "early_stopping", "validation_fraction", "n_iter_no_change",
    "verbose", "loss_tol", "n_jobs", "multi_class", "probability", "intercept_scaling", "dtype",
    "alpha", "l1_ratio",  # (the Perceptron's, without a penalty; those who have another alpha name it as a constant)
)


def __dir__() -> list[str]:
    return __all__


class Bound(NamedTuple):
    """The sum paid, in the units that the bound counts (mistakes, losses), and the most that its theorem allows.

    Both sides are sums in double: paid <= allowed holds to rounding.
    """

    paid: float
    allowed: float


@dataclass(eq=False, repr=False)
class Course:
    """A learner's course over a stream of n rounds, as `follow` records it.

    Attributes
    ----------
    learner : object
        The learner after the last round.
    X, y : {ndarray, CSR matrix} of float64, shape (n, d), and ndarray of float64, shape (n,)
        y of a one-class learner: ones.
    scores, updated : ndarrays of shape (n,)
        w.x before each update (of a one-class learner, -||x - w||); the rounds that changed the model.
    lengths : ndarray of float64, shape (n + 1,)
        ||w|| before each round, and after the last; of a one-class learner, that of the centre.
    chi, lookahead, spread, forgotten : ndarray of float64, shape (n,)
        Second-order learners: x'Σ_{t-1}x; y x'Σ_tθ_{t-1}, the margin with x already in Σ; x'Σ_tx; θ'(Σ_t - Σ_{t-1})θ. Others: 0.
    sigma : ndarray of float64, shape (n,)
        Dual ascent: σ of each round. Others: 0.
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

    @property
    def margins(self) -> np.ndarray:
        """y w.x before each update."""
        return self.y * self.scores

    def until(self, n: int) -> Course:
        """Return the first n rounds; its learner is the one after the last round of all."""
        cut = {one.name: getattr(self, one.name)[: n + (one.name == "lengths")] for one in fields(self) if one.name != "learner"}
        return replace(self, **cut)

    def loss(self, u: np.ndarray, weights: Any = None) -> float:
        """Compute L(u), the sum of [1 - y u.x]+ over the rounds that changed the model; with weights: weighted, of all rounds."""
        return float(_positive(1.0 - self.y * (self.X @ u)) @ (self.updated if weights is None else weights))

    def norms(self, p: float = 2.0) -> np.ndarray:
        """Compute the p-norms of the rows; p = inf: max |x|."""
        X, sparse = abs(self.X), issparse(self.X)
        if not X.shape[1]:
            return np.zeros(len(self.y))
        largest = X.max(axis=1).toarray().ravel() if sparse else X.max(axis=1)
        if p == np.inf:
            return largest
        scale = np.where(largest > 0.0, largest, 1.0)[:, None]  # (the p-th powers of 1e-20 would be 0)
        powers = (X.multiply(1.0 / scale).power(p) if sparse else (X / scale) ** p).sum(axis=1)
        return largest * np.ravel(powers) ** (1.0 / p)


@dataclass(eq=False)
class Certificate:
    """Both sides of a theorem along a stream: what was paid and what was allowed after so many rows.

    u is the competitor, of those given, by which least was left after the last row. On noisy labels that is often 0, with a loss
    of 1 on every row: a bound of mistakes then says nothing of the learner.
    """

    theorem: str
    rows: np.ndarray
    paid: np.ndarray
    allowed: np.ndarray
    u: np.ndarray


@np.errstate(all="ignore")
def follow(learner: Learner, X: Any, y: Any = None) -> Course:
    """Run a copy of a learner over a stream, row by row, and record its course.

    Parameters
    ----------
    learner : object
        A linear classifier, regressor or one-class learner of this library with fit_intercept=False, average=False and
        class_weight=None, not fitted yet.
    X : {array-like, sparse matrix} of shape (n_rows, n_features)
        Read as float64; sparse rows of two classes stay sparse, but for a full covariance.
    y : array-like of shape (n_rows,)
        -1 or +1; of a regressor, targets; of a one-class learner, not used.

    Returns
    -------
    course : Course
        What happened in each round.
    """
    classes = {base.__name__ for base in type(learner).__mro__}
    if not isinstance(learner, OnlineLearner) or classes.isdisjoint(row.estimator for row in ALGORITHMS.values()):
        raise ValueError(
            f"{WHO}: learner must be a linear classifier, regressor or one-class learner of onlinecls, got {learner!r}. The "
            "bounds are for weights over the columns of X."
        )
    walker, signed, full = _unfitted(WHO, learner), is_classifier(learner), getattr(learner, "covariance", "") == "full"
    X = validate.read_rows(WHO, X.toarray() if issparse(X) and (full or not signed) else X, np.float64).array()
    (n, d), sparse = X.shape, issparse(X)
    if signed:
        y = _signs(y, n)
    else:
        y = validate.read_targets(WHO, y, n) if is_regressor(walker) else np.ones(n)
    walker.partial_fit(X[:0], y[:0], **({"classes": [-1.0, 1.0]} if signed else {}))
    name = "decision_function" if signed else "predict" if is_regressor(walker) else "score_samples"
    score, place = getattr(walker, name), "center_" if name == "score_samples" else "coef_"
    second_order, times, theta = hasattr(type(walker), "covariance_"), np.matmul if full else np.multiply, np.zeros(d)
    scores, updated, chi, lookahead, spread, forgotten, sigma = np.zeros((7, n))
    lengths = np.zeros(n + 1)
    for t in range(n):
        row, updates = X[t : t + 1], walker.n_updates_
        x, at = (row.data, row.indices) if sparse else (row[0], slice(None))
        scores[t] = score(row)[0]
        before = (walker.covariance_ if full else np.ravel(walker.covariance_))[at].copy() if second_order else theta
        walker.partial_fit(row, y[t : t + 1])
        lengths[t + 1] = np.linalg.norm(getattr(walker, place))
        updated[t], sigma[t] = walker.n_updates_ > updates, getattr(walker, "sigma_", 0.0)
        if second_order:
            after, own = (walker.covariance_ if full else np.ravel(walker.covariance_))[at], theta[at]
            chi[t], spread[t], lookahead[t] = x @ times(before, x), x @ times(after, x), y[t] * (x @ times(after, own))
            forgotten[t] = own @ times(after - before, own)
            theta[at] = own + updated[t] * y[t] * x
    return Course(walker, X, y, scores, lengths, updated > 0.0, chi, lookahead, spread, forgotten, sigma)


@np.errstate(all="ignore")
def certify(course: Course, u: ArrayLike) -> Certificate:
    """Compute both sides of a learner's first theorem along its course, after every row or at 200 places of a longer one.

    Parameters
    ----------
    course : Course
        Of a learner that a theorem covers with its parameters.
    u : array-like of shape (n_features,) or (n_competitors, n_features)
        Competitors: any weights. Of several, at each place the one counts by which least is left of what is allowed.

    Returns
    -------
    certificate : Certificate
        Both sides.
    """
    learner, (n, d), U = course.learner, course.X.shape, np.atleast_2d(np.asarray(u, dtype=np.float64))
    names = select(type(learner), learner.get_params()).theorems
    if not names:
        raise ValueError(
            f"{WHO}: learner must be one that a theorem covers, got {learner!r}. No theorem here bounds its mistakes or losses."
        )
    _require_weights(f"{WHO}: u must be {d} finite weights, or rows of them", U, U.ndim == 2 and U.shape[1] == d and len(U) > 0)
    bound, best, sides = globals()[names[0]], U[0], []
    rows = np.unique(np.linspace(1, n, min(n, 200)).round().astype(int))
    for t in rows:
        part = course.until(t)
        found = [bound(part, one) for one in U]
        left = [allowed - paid for paid, allowed in found]
        at = int(np.argmax(np.array(left) <= min(left) + 1e-9 * abs(min(left))))  # (of equal ones the first)
        best = U[at]
        sides.append(found[at])
    paid, allowed = np.array(sides, dtype=np.float64).reshape(-1, 2).T
    return Certificate(_THEOREMS[names[0]][0], rows, paid, allowed, best)


def _unfitted(who: str, learner: Any) -> Any:
    """Copy an unfitted learner, if its weights are such as the bounds require."""
    if learner.__sklearn_is_fitted__():
        raise ValueError(f"{who}: learner must not be fitted, got {learner!r}. The bounds are for weights that start from 0.")
    _require(who, learner, PLAIN)
    if getattr(learner, "covariance", None) == "auto":
        raise ValueError(f"{who}: covariance must be 'diagonal' or 'full', got covariance='auto'. Name the one to follow.")
    return copy.deepcopy(learner)


def _signs(y: Any, n_rows: int) -> np.ndarray:
    """Read labels that are -1 and +1."""
    y = validate.read_labels(WHO, y, n_rows)
    if y.dtype.kind in "US" or not np.isin(y, (-1, 1)).all():
        found = validate.shown(np.unique(y))
        raise ValueError(f"{WHO}: y must be -1 and +1, got {found}. Give the classes these numbers.")
    return y.astype(np.float64)


def _require_weights(required: str, u: np.ndarray, fits: bool, hint: str = "") -> None:
    """Raise unless these weights have a shape that fits, and are finite."""
    wrong = u[~np.isfinite(u)]
    if wrong.size or not fits:
        raise ValueError(f"{required}, got shape {u.shape}." + (f" One of its numbers is {wrong[0]}." if wrong.size else hint))


# --- which theorem covers which learner ----------------------------------------------------------------------------------------

#: Of each function of a course: the paper and the theorem's number, parameters of the learner that must be numbers, those that
#: may have any value, and required values of others, where these are not their defaults.
_THEOREMS: dict[str, tuple[str, tuple[str, ...], tuple[str, ...], Mapping[str, object]]] = {}


def _check_covered(who: str, learner: Any, name: str) -> None:
    """Raise unless the theorem of this name applies to the learner with its parameters."""
    values, (_, constant, free, needed) = learner.get_params(), _THEOREMS[name]
    algorithm = select(type(learner), values)
    if name not in algorithm.theorems:
        which = "; ".join(a.title for a in ALGORITHMS.values() if name in a.theorems)
        raise ValueError(f"{who}: course must be that of one of: {which}; got that of {learner!r}. Follow one of those.")
    wanted = {**estimator_class(algorithm.estimator)().get_params(), **PLAIN, **needed}
    constants = {*constant, *algorithm.awaiting(values)}  # (where rows tell these, a model is learnt again)
    if _steps_are_one(learner):
        constants.discard("eta0")
    if values.get("regularizer") == "euclidean" and "norm_bound" not in algorithm.awaiting(values):
        constants.discard("norm_bound")
    if values.get("sigma") == "auto" and "sigma" in free:
        constants.discard("sigma")
    for parameter, value in values.items():
        if parameter in constants:
            if value is None or isinstance(value, str):
                raise ValueError(
                    f"{who}: {parameter} must be a number, got {parameter}={value!r}, which depends on the rows. The theorem is "
                    f"for a constant that was fixed before them: follow a learner with {parameter}=1.0, say."
                )
        elif parameter not in (*free, *algorithm.selects, *HARMLESS):
            _require(who, learner, {parameter: wanted.get(parameter)})


def _require(who: str, learner: Any, needed: Mapping[str, object]) -> None:
    """Raise unless the learner's parameters have these values."""
    for name, wanted in needed.items():
        value = getattr(learner, name, wanted)
        if value is not wanted and (wanted is None or value != wanted):
            hint = ": a column of ones in X is an intercept" if name == "fit_intercept" else ""
            raise ValueError(
                f"{who}: {name} must be {wanted!r}, got {name}={value!r}, which the theorem does not cover. Follow a learner "
                f"with {name}={wanted!r}{hint}."
            )


def _check_steps(who: str, learner: Any, square: float = 0.0) -> None:
    """Raise if a step was skipped, or if a full covariance has lost its digits to a row; square : the largest ||x||²."""
    dtype = state_of(learner).dtype
    if learner.n_skipped_:
        raise ValueError(
            f"{who}: X must be rows whose steps fit {dtype}, got {learner.n_skipped_} of {learner.t_} whose steps were "
            "skipped, which no theorem covers. Divide X by the length of a row, or take smaller steps."
        )
    if getattr(learner, "covariance", "") == "full":
        chi = np.array([square * getattr(learner, "initial_variance", 1.0)])  # x'Σ_0x
        found, most = float((_beta(learner, chi) * chi)[0]), 1e12 * float(np.finfo(np.float64).eps / np.finfo(dtype).eps)
        if not found <= most:
            raise ValueError(
                f"{who}: X must be rows with x'Σ_0x/r up to {most:.2g} for a full covariance of {dtype}, got {found:.2g}: "
                "rounding then changes what the theorem sums. Divide X by the length of a row, or take covariance='diagonal'."
            )


def _check_sums(who: str, paid: Any, allowed: Any) -> None:
    """Raise if these sums are infinite on both sides or NaN, which compares with nothing."""
    if np.isnan(np.subtract(allowed, paid)).any():
        raise ValueError(
            f"{who}: rows, targets and u must be numbers whose squares and their sums fit float64, got larger or smaller ones. "
            "Multiply them by a constant."
        )


def _bound(who: str, paid: float, allowed: float) -> Bound:
    """Return both sides as numbers of Python, after a check that they can be compared."""
    _check_sums(who, paid, allowed)
    return Bound(*(np.asarray(side).item() for side in (paid, allowed)))


def _theorem(
    title: str, *constants: str, free: tuple[str, ...] = (), needed: Mapping[str, object] | None = None
) -> Callable[[Callable[_P, tuple]], Callable[_P, Bound]]:
    """Make a function of a course and a competitor a bound, with checks around it."""

    def complete(function: Callable[_P, tuple]) -> Callable[_P, Bound]:
        name = function.__name__
        _THEOREMS[name] = title, constants, free, needed or {}

        @wraps(function)
        @np.errstate(all="ignore")
        def bound(course: Course, u: ArrayLike, *args: float, **named: float) -> Bound:
            who, learner, d = f"{WHO}.{name}", course.learner, course.X.shape[1]
            _check_covered(who, learner, name)
            u = np.asarray(u, dtype=np.float64)
            _require_weights(f"{who}: u must be {d} finite weights", u, u.shape == (d,), " Give one for each column of X.")
            if not len(course.y):
                return Bound(0, 0.0)
            _check_steps(who, learner, course.norms().max() ** 2)
            return _bound(who, *cast("Any", function)(course, u, *args, **named))

        summary, _, rest = cleandoc(function.__doc__ or "").partition("\n")
        rest = "\n" + rest.strip("\n") + "\n" if rest.strip() else ""
        bound.__doc__ = f"{summary}\n\n{title}.\n{rest}\nSee Also\n--------\nfollow : Records a course.\n"
        return cast("Callable[_P, Bound]", bound)

    return complete


# --- what several theorems sum -------------------------------------------------------------------------------------------------


def _positive(numbers: Any) -> Any:
    return np.maximum(0.0, numbers)


def _longest(course: Course, p: float = 2.0) -> float:
    """Find the largest p-norm of the rows that changed the model."""
    return float((course.norms(p) * course.updated).max())


def _mistakes(course: Course) -> int:
    """Count the rounds that changed the model with a margin of 0 or less."""
    return int((course.updated & (course.margins <= 0.0)).sum())


def _squares(X: Any) -> Any:
    return X.power(2) if issparse(X) else X**2


def _p(course: Course) -> float:
    """Return p of a p-norm Perceptron; of others 2."""
    return float(getattr(course.learner, "p", 2.0) or max(2.0, 2.0 * np.log(course.X.shape[1])))


def _q_norm(u: np.ndarray, p: float) -> Any:
    """Compute ||u||_q, 1/p + 1/q = 1."""
    return np.linalg.norm(u, p / (p - 1.0))


def _steps_are_one(learner: Any) -> bool:
    """Return True for a conservative Perceptron with its default eta0, which is 1."""
    return getattr(learner, "eta0", "") == "auto" and not getattr(learner, "aggressive", True)


def _rate(learner: Any) -> float:
    """Return the learner's η, 1 where none is named; of steps that fall, the first."""
    eta0 = getattr(learner, "eta0", "auto")
    return 1.0 if eta0 == "auto" else float(eta0)


def _steps(course: Course, sizes: np.ndarray) -> np.ndarray:
    """Compute η of each round, 0 where the model did not change; sizes: the rows' p-norms."""
    learner, m, on = course.learner, course.margins, course.updated
    if hasattr(learner, "radius") and learner.aggressive:
        ratio = np.divide(learner.radius**2 / 2 - m, sizes**2, out=np.zeros(len(m)), where=sizes > 0.0)
        return np.where(m <= 0.0, 1.0, np.clip(ratio, 0.0, 1.0)) * on
    fall = np.sqrt(np.arange(1, len(m) + 1)) if hasattr(learner, "learning_rate") else 1.0
    return _rate(learner) * on / fall


def _rates(learner: Any) -> tuple[float, float]:
    """Return the r of the means' steps and that of the covariance's, which are one but for AROW with r1 or r2."""
    r1, r2 = getattr(learner, "r1", None), getattr(learner, "r2", None)
    return float(learner.r if r1 is None else r1), float(learner.r if r2 is None else r2)


def _beta(learner: Any, chi: np.ndarray) -> np.ndarray:
    """Compute β of Σ^-1 += β x x' in each round that changes the model: 1/r, or NAROW's [b - 1/χ]+."""
    if hasattr(learner, "b"):
        return np.divide(learner.b * chi - 1.0, chi, out=np.zeros(len(chi)), where=learner.b * chi > 1.0)
    return np.full(len(chi), 1.0 / _rates(learner)[1])


def _quadratic(course: Course, u: np.ndarray) -> float:
    """Compute u'A u, A = Σ^-1 after the last row and Σ_0 = vI, v the initial variance."""
    learner = course.learner
    squares = (course.X @ u) ** 2 if learner.covariance == "full" else _squares(course.X) @ u**2
    return u @ u / getattr(learner, "initial_variance", 1.0) + (_beta(learner, course.chi) * squares) @ course.updated


def _entropy(learner: Any, u: np.ndarray, factor: float) -> float:
    """Compute a factor times the relative entropy of u's shares to uniform ones, infinite if u has no shares."""
    return factor * entropy_of_shares(u / float(learner.norm_bound), bool(learner.signed)) if factor > 0.0 else 0.0


def _losses(learner: Any, y: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Compute the losses of scores by a learner's parameters: hinge with its margin, log loss, absolute or squared."""
    if is_regressor(learner):
        return np.abs(y - scores) if learner.loss == "absolute" else (y - scores) ** 2
    if getattr(learner, "loss", "hinge") == "log_loss":
        return np.logaddexp(0.0, -y * scores)
    return _positive(getattr(learner, "margin", 1.0) - y * scores)


def _shortfall(course: Course, scores: np.ndarray) -> np.ndarray:
    """Compute by how much scores miss PA's margin, or miss targets beyond ε: a loss where > 0."""
    if is_classifier(course.learner):
        return course.learner.margin - course.y * scores
    return np.abs(course.y - scores) - course.learner.epsilon


def _lossless(losses: np.ndarray, excess: np.ndarray, allowed: float, tolerance: float = 1e-12) -> tuple[float, float]:
    """Return (Σ l² + 2 (ε - ε*) Σ l, allowed), the latter infinite if u has a loss in a round: an excess > 0."""
    spare = -excess.max()
    return losses @ losses + 2.0 * max(spare, 0.0) * losses.sum(), allowed if spare >= -tolerance else np.inf


# --- theorems of the Perceptron and PA -----------------------------------------------------------------------------------------


@_theorem("ICML 2008 tutorial, part III (universality)", free=("eta0",))
def perceptron(course: Course, u: Any) -> tuple:
    """Bound the mistakes of the Perceptron:  M <= L(u) + R ||u|| √L(u) + R² ||u||²,  R = max ||x||.

    The tutorial's universal bound (part III, for R = 1). It needs no learning rate, as none changes a Perceptron's mistakes.

    >>> from onlinecls import Perceptron
    >>> course = follow(Perceptron(fit_intercept=False), [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [1, -1, 1])
    >>> paid, allowed = perceptron(course, [2.0, -1.0])
    >>> paid, round(allowed, 9)
    (3, 10.0)
    """
    loss, size = course.loss(u), _longest(course) * np.linalg.norm(u)
    return course.updated.sum(), loss + size * np.sqrt(loss) + size**2


@_theorem("NAROW paper, section 4.1, (4)", free=("p", "radius"))
def p_norm(course: Course, u: Any) -> tuple:
    """Bound the mistakes of the p-norm Perceptron, with 1/p + 1/q = 1.

        M <= L(u) + S²/2 + S √(S²/4 + L(u) + D) - sum of η,     D = sum of (η² ||x||_p² + 2ηm)/R² - η,

    S = ||u||_q R / √(q - 1), R = max ||x||_p (aggressive: `radius`, which no row that changes the model may exceed), the sums
    over the rounds that changed the model without a mistake, with steps η. L(u) is the sum of η l(u) over those and of l(u) over
    mistakes.
    """
    learner, m, p = course.learner, course.margins, _p(course)
    sizes = course.norms(p) * course.updated
    R = max(sizes.max(), 1e-150)
    if learner.aggressive:
        if R > learner.radius * (1 + 1e-12):
            raise ValueError(
                f"onlinecls.bounds.p_norm: radius must be at least the p-norm of every row, {R:g}, got "
                f"radius={learner.radius!r}. Follow the learner with that radius."
            )
        R = float(learner.radius)
    S = _q_norm(u, p) * R * np.sqrt(p - 1.0)  # (1/(q - 1) is p - 1)
    eta = _steps(course, sizes)
    loss, calm = course.loss(u, eta), eta * (m > 0.0)
    D = np.sum(calm**2 * sizes**2 + 2.0 * calm * m) / R**2 - calm.sum()
    return _mistakes(course), loss + S**2 / 2.0 + S * np.sqrt(_positive(S**2 / 4.0 + loss + D)) - calm.sum()


@_theorem("PA paper, Theorems 1 and 3; PA-I: JMLR 2006, Theorem 4", "C", "margin", "epsilon")
def passive_aggressive(course: Course, u: Any) -> tuple:
    """Bound the squared losses (PA-I: the mistakes) of PA, for classes and for targets, B = max ||x||².

        PA (C = inf), u without loss: sum of l² + 2 (ε - ε*) sum of l <= B ||u||²                 (PA paper, Theorem 1)
        PA-II, any u:                 sum of l² <= (B + 1/2C) ||u||² + (1 + 2CB) sum of l(u)²      (Theorem 3)
        PA-I, classes, any u:         M <= max(B/γ², 1/(Cγ)) (||u||² + 2C sum of l(u))            (JMLR 2006, Theorem 4)

    γ is the learner's `margin`. ε* is the least ε with which u has no loss, the largest |y - u.x|; for classes ε - ε* is the
    least margin y u.x, less γ. Where u has a loss, PA's bound is infinite: the theorem says nothing.

    >>> from onlinecls import PassiveAggressiveClassifier
    >>> course = follow(PassiveAggressiveClassifier(float("inf"), fit_intercept=False), [[0.0, 2.0], [1.0, 0.0]], [1, -1])
    >>> passive_aggressive(course, [-1.0, 0.5])
    Bound(paid=2.0, allowed=5.0)
    >>> passive_aggressive(course, [-2.0, 1.0])  # twice the margin: 2 * (2 - 1) * (1 + 1) is paid on top
    Bound(paid=6.0, allowed=20.0)
    """
    learner, C, B = course.learner, float(course.learner.C), course.norms().max() ** 2
    losses, excess = _positive(_shortfall(course, course.scores)), _shortfall(course, course.X @ u)
    best = _positive(excess)
    if C == np.inf:
        return _lossless(losses, excess, B * (u @ u))
    if learner.loss.startswith("squared"):
        return losses @ losses, (B + 0.5 / C) * (u @ u) + (1.0 + 2.0 * C * B) * (best @ best)
    if not is_classifier(learner):
        raise ValueError(
            "onlinecls.bounds.passive_aggressive: loss must be 'squared_epsilon_insensitive' or C inf for targets, got PA-I. "
            "There is no such theorem."
        )
    gamma = float(learner.margin)
    return (course.margins <= 0.0).sum(), max(B / gamma**2, 1.0 / (C * gamma)) * (u @ u + 2.0 * C * best.sum())


@_theorem("PA paper, corollary of Theorem 1", "margin", needed={"C": np.inf})
def margin_corollary(course: Course, u: Any) -> tuple:
    """Bound the losses of PA (C = inf) on classes that some direction u separates:  sum of l <= 2 B γ/γ̂².

    γ̂ is the least margin y u.x/||u||, B = max ||x||², γ the learner's `margin`; infinite where γ̂ <= 0. (Each mistake has a loss
    of at least γ, so that there are at most B/γ̂²: Theorem 1 for the u of least margin γ.)
    """
    gamma, least = float(course.learner.margin), (course.y * (course.X @ u)).min()
    allowed = 2.0 * course.norms().max() ** 2 * gamma * (u @ u) / least**2 if least > 0.0 else np.inf
    return _positive(gamma - course.margins).sum(), allowed


@_theorem("PA paper, Lemma 2", "margin", "epsilon", needed={"C": np.inf})
def distance(course: Course, u: Any) -> tuple:
    """Bound how far the weights of PA (C = inf) move:  ||w_T - w_1|| <= 2 ||u - w_1||  for any u without loss."""
    has_loss = _shortfall(course, course.X @ u).max() > 1e-12
    return course.lengths.max(), np.inf if has_loss else 2.0 * np.linalg.norm(u)


@_theorem("PA paper, Theorem 4", "margin", "epsilon", "norm_bound", free=("signed",))
def multiplicative(course: Course, u: Any) -> tuple:
    """Bound the squared losses of the multiplicative PA, for u without loss, ||u||_1 <= W = norm_bound.

        sum of l² + 2 (ε - ε*) sum of l <= B/2 D,     B = max ρ²,  ρ = 2W max|x| (signed=True) or W max x.

    D is the relative entropy, to the uniform, of u's shares in the 2d weights W and -W (unsigned: d weights W); infinite if u has
    no such shares or has a loss. (ρ is the spread of a row's features W x and -W x: with the paper's max|x|, the signed form
    breaks the bound.)
    """
    learner = course.learner
    rho = (2.0 if learner.signed else 1.0) * learner.norm_bound * course.norms(np.inf).max()
    allowed = _entropy(learner, u, max(rho**2 / 2.0, 5e-324))  # (0 times inf would be 0)
    return _lossless(_positive(_shortfall(course, course.scores)), _shortfall(course, course.X @ u), allowed)


@_theorem("PA paper, Theorems 1 and 4 (uniclass)", "epsilon", "norm_bound", free=("signed",))
def one_class(course: Course, u: Any) -> tuple:
    """Bound the losses of one-class learners, l = [||x - w|| - ε]+, for a centre u with all rows within ε* <= ε = epsilon.

        PA, w_1 the first row:   sum of l² + 2 (ε - ε*) sum of l <= ||u - w_1||²                   (PA paper, Theorem 1)
        multiplicative:          15/16 sum of l² + (ε - ε*) sum of l <= 8 W² D,   W = norm_bound     (Theorem 4, corrected)

    D as in `multiplicative`; ε* is the largest distance of a row from u. Where it is above ε, the theorems say nothing: the bound
    is infinite. (The second corrects Theorem 4, whose left side, sum of l² + 2 (ε - ε*) sum of l, is below B/2 D with B = 32,
    not with the printed 16: random streams refute that where ε* < ε.)

    >>> from onlinecls import PassiveAggressiveOneClass
    >>> one_class(follow(PassiveAggressiveOneClass(epsilon=1.0), [[0.0], [2.0], [1.5], [0.0]]), [1.0])
    Bound(paid=1.0, allowed=1.0)
    """
    learner, epsilon = course.learner, float(course.learner.epsilon)
    losses, excess = _positive(-course.scores - epsilon), np.linalg.norm(course.X - u, axis=1) - epsilon
    if hasattr(learner, "norm_bound"):
        paid, allowed = _lossless(losses, excess, _entropy(learner, u, 8.0 * learner.norm_bound**2), 1e-12 * epsilon)
        return (paid + 7.0 / 8.0 * (losses @ losses)) / 2.0, allowed
    losses[0] = 0.0  # PA starts from the first row
    return _lossless(losses, excess, np.sum((u - course.X[0]) ** 2), 1e-12 * epsilon)


# --- theorems of potential-based learners --------------------------------------------------------------------------------------


#: Parameters of the learners of Lemma 1 and Corollary 1 that must be numbers, and those that may have any value.
_NUMBERS = ("r", "b", "initial_variance", "sigma", "margin", "norm_bound", "eta0")
_ANY = ("eta0", "p", "radius", "covariance", "norm_bound", "signed")


def _terms(course: Course, u: np.ndarray) -> tuple[np.ndarray, float, np.ndarray, np.ndarray]:
    """Return m, f(u), and for each round that changed the model ||z||*²/β and the term of B."""
    learner, m, on, nothing, p = course.learner, course.margins, course.updated, np.zeros(len(course.y)), _p(course)
    if hasattr(learner, "covariance"):
        return course.lookahead, _quadratic(course, u) / 2.0, course.spread * on, course.forgotten * on / 2.0
    if hasattr(learner, "regularizer"):  # DA1: w = ∇f*(θ), and θ moves by the slope of the loss
        sigma, entropic = float(learner.sigma), learner.regularizer == "entropic"
        f = _entropy(learner, u, sigma) if entropic else sigma * (u @ u) / 2.0
        sizes = learner.norm_bound * course.norms(np.inf) if entropic else course.norms()
        slopes = 1.0 / (1.0 + np.exp(m)) if learner.loss == "log_loss" else 1.0
        return m, f, (slopes * sizes) ** 2 / sigma * on, nothing
    return m, _q_norm(u, p) ** 2 / 2.0, course.norms(p) ** 2 * on, nothing


@_theorem("NAROW paper, Corollary 1", *_NUMBERS, free=_ANY, needed={"update": "DA1"})
def fixed_rate(course: Course, u: Any) -> tuple:
    """Bound the mistakes of every learner whose θ goes by η z with one η, z the negative gradient of a convex loss l.

        M l_0 <= L(u) + f_T(u)/η + η sum of ||z||*²/(2β) + B/η,     B = sum of f*_t(θ_t) - f*_{t-1}(θ_t)

    L(u) and the other sums are over the rounds that changed the model. l_0 is the loss of a score of 0: l/l_0 is at least 1 on a
    mistake.

    Hinge loss, z = y x, l_0 = 1. Perceptron (η = eta0): f(u) = ||u||²/2, ||x||* = ||x||, β = 1, B = 0. p-norm (η = 1): f(u) =
    ||u||_q²/2, ||x||* = ||x||_p, β = q - 1, B = 0. Second-order Perceptron and NAROW (η = 1): f_T(u) = u'A_T u/2, ||x||*² =
    x'Σ_t x, β = 1, B = sum of θ'(Σ_t - Σ_{t-1})θ/2 <= 0, and mistakes counted by m', as in `potential_based`, which is this bound
    at the best rate for u and so allows no more.

    Dual ascent with update="DA1" (η = 1, B = 0): f(u) as in `dual_ascent`, ||z||*²/β = (a L_t)²/sigma. Hinge loss with the margin
    γ: a = 1, l_0 = γ. Log loss: z = a y x with a = 1/(1 + e^m), l_0 = log 2.

    >>> from onlinecls import Perceptron
    >>> course = follow(Perceptron(eta0=0.5, fit_intercept=False), [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [1, -1, 1])
    >>> fixed_rate(course, [1.0, -1.0])
    Bound(paid=3, allowed=4.0)
    """
    learner, (m, f, sizes, B), eta = course.learner, _terms(course, u), _rate(course.learner)
    losses = _losses(learner, course.y, course.X @ u) @ course.updated
    allowed = losses + f / eta + eta * sizes.sum() * (_p(course) - 1.0) / 2.0 + B.sum() / eta  # (1/(q - 1) is p - 1)
    return (course.updated & (m <= 0.0)).sum(), allowed / _losses(learner, np.ones(1), np.zeros(1))[0]


@_theorem("NAROW paper, Lemma 1", *_NUMBERS, free=_ANY, needed={"update": "DA1"})
def lemma_1(course: Course, u: Any, lam: float = 1.0) -> tuple:
    """Return both sides of the lemma from which the NAROW paper's bounds follow, at a λ = lam > 0.

        sum of η z.(w_t/λ - u) <= f_T(λu)/λ + (sum of η² ||z||*²/(2β) + f*_t(θ_t) - f*_{t-1}(θ_t))/λ

    z = -y x, the sums over the rounds with a step η. Perceptron, p-norm: f = ||w||_q²/(2(q - 1)), β = 1, and η the step.
    Second-order Perceptron and NAROW: f_t(w) = w'A_t w/2, ||x||*² = x'Σ_t x, β = 1, η = 1, and w_t = Σ_t θ_t, which has seen x.
    `onlinecls.reference.PotentialLearner` has it for any convex loss, f and η.
    """
    if lam not in POSITIVE:
        raise parameter_error(f"{WHO}.lemma_1", "lam", POSITIVE, lam)
    m, f, sizes, B = _terms(course, u)
    eta = _steps(course, np.sqrt(sizes))
    paid = eta @ (course.y * (course.X @ u) - m / lam)
    return paid, (f * lam**2 * (_p(course) - 1.0) + np.sum(eta**2 * sizes / 2.0 + B)) / lam


@_theorem("NAROW paper, Corollary 2", "r", "b", "initial_variance", "eta0", free=("covariance", "p", "radius", "r1", "r2"))
def potential_based(course: Course, u: Any) -> tuple:
    """Bound mistakes and updates of every potential-based learner of the hinge loss.

    Second order, full or diagonal, A = Σ^-1, m' = y x'Σ_t θ:

        M + U <= L(u) + √(u'A_T u) √Q,     Q = sum of x'Σ_t x + 2m' + θ'(Σ_t - Σ_{t-1})θ

    M and U are counted by m', the margin of the weights that have already seen x (not its label), not by `n_mistakes_`. For AROW
    with a full covariance, whose weights are Σθ/r, M + U counts all rounds that changed it; with M its mistakes, as in `arow`,
    this allows no more than Theorem 2.

    AROW with r1 and r2 (the papers have one r; this is the library's own): r2 Aw goes by c y x, c = 1 + (r2 - r1) α, with α = (1
    - m)/(r1 + χ). M + U and L(u) are then the sums of c and of c l(u), and Q is r2² w'Aw, the sum of r2² α (2m + αχ) + r2 (m +
    αχ)². What is allowed is infinite if a c is negative, as it may be with r1 > r2.

    First order, with steps η:

        sum of η <= sum of η l(u) + ||u||_q √(p - 1) √Q,     Q = sum of η² ||x||_p² + 2ηm

    Perceptron: p = 2, η = 1, and m/eta0 for m, so that the left side is M + U. Plain gradient descent: p = 2, η = 1/√t in round
    t, likewise. p-norm Perceptron: η = 1 on mistakes.
    """
    learner, on, m = course.learner, course.updated * 1.0, course.margins
    if not hasattr(learner, "covariance"):
        p = _p(course)
        sizes = course.norms(p) * on
        eta = _steps(course, sizes) / _rate(learner)
        Q = np.sum((eta * sizes) ** 2 + 2.0 * eta * (m / _rate(learner)))
        return eta.sum(), course.loss(u, eta) + _q_norm(u, p) * np.sqrt(p - 1.0) * np.sqrt(_positive(Q))
    # (Q is θ'Σθ after the last row: u.θ, which gives L(u), is at most √(u'Au) √(θ'Σθ))
    c, chi, grown = on, course.chi, course.spread + 2.0 * course.lookahead + course.forgotten
    if hasattr(learner, "r1"):
        _require(f"{WHO}.potential_based", learner, {"covariance": "full"})  # (else AROW's weights are no Σθ/r)
        r1, r2 = _rates(learner)
        alpha = (1.0 - m) / (chi + r1)
        c, grown = (1.0 + alpha * (r2 - r1)) * on, r2 * (r2 * alpha * (2.0 * m + alpha * chi) + (m + alpha * chi) ** 2)
    allowed = course.loss(u, c) + np.sqrt(_quadratic(course, u)) * np.sqrt(_positive(grown @ on))
    return c.sum(), np.inf if c.min() < 0.0 else allowed


@_theorem("NAROW paper, sections 4.2 and 4.3", "r", "initial_variance", free=("covariance",))
def second_order_perceptron(course: Course, u: Any) -> tuple:
    """Bound mistakes and updates of the second-order Perceptron, in quantities of the stream alone.

        full:      M + U <= L(u) + √(r/v ||u||² + sum of (u.x)²) √(log det vA_T + sum of m(2r - m)/(r(r + χ)))
        diagonal:  M + U <= L(u) + √(u'D_T u) √(r sum over i of log(1 + v sum of x_i²/r) + 2U)

    m = y x'Σ_{t-1}θ, χ = x'Σ_{t-1}x, v = initial_variance (the paper's is 1).
    """
    learner, on, m, chi = course.learner, course.updated, course.margins, course.chi
    r, v, first = float(learner.r), float(learner.initial_variance), _quadratic(course, u)
    if learner.covariance == "full":
        first, second = r * first, (np.log1p(chi / r) + m * (2.0 * r - m) / (r * (r + chi))) @ on
    else:
        second = r * np.log1p(v / r * (on @ _squares(course.X))).sum() + 2.0 * (on & (course.lookahead > 0.0)).sum()
    return on.sum(), course.loss(u) + np.sqrt(first) * np.sqrt(_positive(second))


@_theorem("NAROW paper, section 5", "b", "initial_variance", needed={"covariance": "full"})
def narow(course: Course, u: Any) -> tuple:
    """Bound mistakes and updates of NAROW with a full covariance, R = max ||x||.

        M + U <= L(u) + ||u|| R √(1/(bvR²) + log det vA_T) √(sum of min(1, bχ) + b m(2r_t - m)/(r_t + χ)),

    v = initial_variance (the paper's is 1), the last term 2bm where r_t = χ/(bχ - 1) is infinite (bχ <= 1). The paper prints a
    minus before it: random streams refute it.
    """
    b, m, on = float(course.learner.b), course.margins, course.updated
    chi = np.maximum(course.chi, 1.0 / b)
    first = 1.0 / (b * course.learner.initial_variance) + _longest(course) ** 2 * (np.log(b * chi) @ on)
    terms = np.minimum(1.0, b * course.chi) + m * (2.0 * chi - m * (b * chi - 1.0)) / chi**2  # (the last one without r_t)
    return on.sum(), course.loss(u) + np.sqrt(u @ u * first) * np.sqrt(_positive(terms @ on))


@_theorem("AROW paper, Theorem 2", "r", needed={"covariance": "full"})
def arow(course: Course, u: Any) -> tuple:
    """Bound the mistakes of AROW with a full covariance, X = sum of x x' over the rounds that changed the model.

        M <= √(r ||u||² + u'X u) √(log det(I + X/r) + U) + L(u) - U,

    U is the number of those rounds without a mistake.
    """
    r, on, U = float(course.learner.r), course.updated, (course.updated & (course.margins > 0.0)).sum()
    first = r * (u @ u) + (course.X @ u) ** 2 @ on
    second = np.log1p(course.chi / r) @ on + U
    return _mistakes(course), np.sqrt(first) * np.sqrt(second) + course.loss(u) - U


# --- theorems of dual ascent, gradient descent and least squares ---------------------------------------------------------------


@_theorem(
    "ICML 2008 tutorial, parts II and III", "margin", "sigma", "norm_bound",
    free=("sigma", "update", "norm_bound", "signed"),
)
def dual_ascent(course: Course, u: Any) -> tuple:
    """Bound the losses of dual ascent, whichever update, regularizer f and loss.

        sum of l(w_t) <= f(u) + sum of l(u) + sum of L_t²/(2 sigma)

    Euclidean: f(u) = sigma/2 ||u||², L_t = ||x||. Entropic: f(u) = sigma min sum of p log(n p) over the shares p that combine the
    n = 2d weights W and -W to u (infinite where ||u||_1 > W) or, signed=False, of the d weights W (where sum u is not W or u <
    0); L_t = W max |x|, W = norm_bound. Targets: the same with the losses of errors, L_t times 2|y - w_t.x| for the squared loss.

    sigma="auto": the last sum has sigma_t of each round, f the last sigma, as the dual does not fall when sigma rises. w_t are
    the weights with sigma_t, which has seen x_t (not y_t). Euclidean: the losses of θ_t/sigma_t are paid. Entropic: the losses of
    the predictions are paid, which w_t makes but in rounds where sigma rose (once for each half more); there the prediction's
    loss less the least loss that weights can have, with a margin of L_t or a prediction of ±L_t, is allowed in addition. (The
    tutorial fixes sigma; this extension is the library's own.)

    With sigma = L √T/W, or L √(T/(2 log n)), that is a regret of at most L W √T, or L √(2 T log n).
    """
    learner, y, n, scores = course.learner, course.y, len(course.y), course.scores
    entropic, rose, sigma = getattr(learner, "regularizer", "") == "entropic", np.zeros(n, bool), course.sigma
    if learner.sigma == "auto":
        before = np.append(0.0, sigma[:-1])
        if entropic:
            rose = (before > 0.0) & (sigma > before)
        else:  # the weights of round t are those of its σ, which has seen ||x||
            scores = scores * np.divide(before, sigma, out=np.zeros(n), where=sigma > 0.0)
    else:
        sigma = np.full(n, float(learner.sigma))
    L = learner.norm_bound * course.norms(np.inf) if entropic else course.norms()
    f = _entropy(learner, u, sigma[-1]) if entropic else sigma[-1] * (u @ u) / 2.0
    paid, best = (_losses(learner, y, found) for found in (scores, course.X @ u))
    least = _losses(learner, y, np.clip(y, -L, L) if is_regressor(learner) else y * L)
    if is_regressor(learner) and learner.loss == "squared":
        L = L * 2.0 * np.where(rose, np.abs(y) + L, np.abs(y - scores))
    second = np.divide(L**2, 2.0 * sigma, out=np.zeros(n), where=sigma > 0.0) + rose * (paid - least)
    return paid.sum(), f + best.sum() + second.sum()


@_theorem("ICML 2008 tutorial, part V", "alpha", free=("eta0",))
def gradient_descent(course: Course, u: Any) -> tuple:
    """Bound the regularised losses alpha/2 ||w||² + l(w) of strongly convex gradient descent.

        sum over t of the losses of w_t - the same of u <= G²/(2 alpha) (1 + log T),     G = 2 max ||x||.

    l is the hinge loss.
    """
    learner, alpha, n, G = course.learner, float(course.learner.alpha), len(course.y), 2.0 * course.norms().max()
    paid, best = (_losses(learner, course.y, scores).sum() for scores in (course.scores, course.X @ u))
    allowed = n * alpha / 2.0 * (u @ u) + best + G**2 / (2.0 * alpha) * (1.0 + np.log(n))
    return paid + alpha / 2.0 * np.sum(course.lengths[:-1] ** 2), allowed


@_theorem("Azoury, Warmuth 2001 (AROW regression)", "r", needed={"covariance": "full"})
def least_squares(course: Course, u: Any) -> tuple:
    """Bound the squared errors e = y - w.x of AROW regression with a full covariance: recursive least squares.

        sum of r e²/(r + χ) = min over u of (r/v ||u||² + sum of (y - u.x)²),     χ = x'Σ_{t-1}x,  v = initial_variance (1)

    What is allowed is the sum for this u; for the last weights both sides are equal. The AROW paper claims new
    bounds for regression, but omits them: this identity is from Azoury and Warmuth (2001), and each factor is at least
    r/(r + v max ||x||²).
    """
    r, v = float(course.learner.r), float(getattr(course.learner, "initial_variance", 1.0))
    errors, best = course.y - course.scores, course.y - course.X @ u
    return np.sum(errors**2 * r / (r + course.chi)), r / v * (u @ u) + best @ best


# --- theorems with streams of their own ----------------------------------------------------------------------------------------


@np.errstate(all="ignore")
def dual_ascent_multiclass(learner: DualAscentClassifier, X: Matrix, y: ArrayLike, u: ArrayLike) -> Bound:
    """Bound the losses of a joint dual ascent learner of several classes with a fixed sigma.

    Tutorial, II to IV, multi_class="crammer_singer":

        sum of l(w_t) <= f(u) + sum of l(u) + sum of L_t²/(2 sigma)

    Euclidean L_t = √2 ||x||, f(u) = sigma/2 ||u||², entropic as in `dual_ascent` over all k d weights.

    >>> from onlinecls import DualAscentClassifier
    >>> learner = DualAscentClassifier(1.0, norm_bound=1.0, fit_intercept=False)
    >>> dual_ascent_multiclass(learner, [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [0, 1, 2], np.zeros((3, 2)))
    Bound(paid=4.0, allowed=7.0)
    """
    paid, best, squares, U = 0.0, 0.0, 0.0, np.asarray(u, dtype=np.float64)

    def loss(margin: np.ndarray) -> float:
        if learner.loss == "hinge":
            return max(0.0, learner.margin - margin.min())
        return float(np.logaddexp.reduce([0.0, *-margin]))

    name, constants = "dual_ascent_multiclass", ("sigma", "norm_bound")
    for _, x, _, margins, own, _ in _joint_rounds(name, learner, ("DualAscentClassifier",), constants, X, y, U):
        paid, best = paid + loss(margins), best + loss(own)
        squares += (learner.norm_bound * np.abs(x).max()) ** 2 if learner.regularizer == "entropic" else 2.0 * x @ x
    sigma = float(cast("float", learner.sigma))
    f = _entropy(learner, U.ravel(), sigma) if learner.regularizer == "entropic" else sigma * np.square(U).sum() / 2.0
    return _bound(f"{WHO}.{name}", paid, f + best + squares / (2.0 * sigma))


@np.errstate(all="ignore")
def potential_based_multiclass(
    learner: SecondOrderPerceptron | NAROWClassifier, X: Matrix, y: ArrayLike, u: ArrayLike
) -> Bound:
    """Bound the updates of a joint second-order learner of several classes.

    NAROW paper, Corollary 2, extended:

        M + U <= L(u) + √(sum of u_c'A_c u_c) √(sum of θ_c'Σ_c θ_c),     A_c = Σ_c^-1,

    for Σ_c of class c, full or diagonal, after the last row. θ_c is the sum of the rows of class c that changed the model, less
    those whose strongest rival was c; L(u) sums the largest of 1 - (u_y - u_c).x over c and 0 in those rounds. (The paper
    mentions that its condition extends to several classes: this is that case.)
    """
    name, updates, loss, U = "potential_based_multiclass", 0, 0.0, np.asarray(u, dtype=np.float64)
    classes, constants = ("SecondOrderPerceptron", "NAROWClassifier"), ("r", "b", "initial_variance")
    for walker, _, _, _, best, updated in _joint_rounds(name, learner, classes, constants, X, y, U):
        updates, loss, last = updates + updated, loss + updated * max(0.0, 1.0 - best.min()), walker
    if not updates:
        return Bound(0, 0.0)
    W, Sigma = last.coef_, last.covariance_
    times = (lambda V: np.linalg.solve(Sigma, V[..., None])[..., 0]) if Sigma.ndim == 3 else (lambda V: V / Sigma)
    return _bound(f"{WHO}.{name}", updates, loss + np.sqrt(np.sum(U * times(U))) * np.sqrt(np.sum(W * times(W))))


@np.errstate(all="ignore")
def arow_multiclass(learner: AROWClassifier, X: Matrix, y: ArrayLike, u: ArrayLike) -> Bound:
    """Bound the updates of joint AROW of several classes, with a full covariance for each.

    AROW paper, Theorem 2, extended:

        sum of 2 - m+ <= sum of (2 - m+) l(u) - sum of p (u_y + u_c).x + 2 √(r ||u||² + sum of (u_y.x)² + (u_c.x)²) √Q,
        Q = sum of (1 - m+)(m + m+) + (w_y.x)² + (w_c.x)²,

    the sums over the rounds that changed the model. c is the strongest rival of the right class y, m the row's margin over it, m+
    = m + (1 - m) χ/(χ + r) < 1 that after the update, χ = x'(Σ_y + Σ_c)x, the weights w in Q and p = (w_y + w_c).x those after
    it, and l(u) the largest of 1 - (u_y - u_a).x over all a and 0. Each update pays more than 1, so that their number is bounded,
    too. (The paper says that its bound can be extended to several classes. With one covariance of all classes' weights it holds
    as it stands; with one for each class, as here, it does not: this one does. docs/bounds.md has the proof.)
    """
    name, U = "arow_multiclass", np.asarray(u, dtype=np.float64)
    paid = loss = shared = products = Q = 0.0
    _require(f"{WHO}.{name}", learner, {"covariance": "full", "r1": None, "r2": None, "forgetting": 0.0})
    for walker, x, code, margins, best_margins, updated in _joint_rounds(name, learner, ("AROWClassifier",), ("r",), X, y, U):
        if updated:
            pair = [code, int(np.argmin(np.insert(margins, code, np.inf)))]
            (after, rivals), best = walker.coef_[pair] @ x, U[pair] @ x
            margin, m = after - rivals, margins.min()
            paid, loss = paid + 2.0 - margin, loss + (2.0 - margin) * max(0.0, 1.0 - best_margins.min())
            shared, products = shared + (after + rivals) * best.sum(), products + best @ best
            Q += (1.0 - margin) * (m + margin) + after**2 + rivals**2
    first = float(cast("float", learner.r)) * np.square(U).sum() + products
    return _bound(f"{WHO}.{name}", paid, loss - shared + 2.0 * np.sqrt(first) * np.sqrt(max(Q, 0.0)))


def _joint_rounds(
    name: str, learner: Any, classes: tuple[str, ...], constants: tuple[str, ...], X: Matrix, y: ArrayLike, U: np.ndarray
) -> Iterator[tuple]:
    """Yield, for each row that a copy learns: it, the row, its class, the margins over other classes, u's, and if it updated.

    learner : of one of these classes, joint, with numbers for those of these constants that it has.
    """
    who, own = f"{WHO}.{name}", [one for one in constants if hasattr(learner, one)]
    fits = {base.__name__ for base in type(learner).__mro__}.intersection(classes) and learner.multi_class == "crammer_singer"
    if not fits or any(value is None or isinstance(value, str) for value in (getattr(learner, one) for one in own)):
        raise ValueError(
            f"{who}: learner must be {'an' if classes[0][0] == 'A' else 'a'} {' or '.join(classes)} with "
            f"multi_class='crammer_singer' and numbers for {' and '.join(own or constants)}, got {learner!r}."
        )
    learner = _unfitted(who, learner)
    rows = validate.read_rows(who, X.toarray() if issparse(X) else X, np.float64)
    X = rows.data.reshape(rows.n_rows, rows.n_features)
    codes = validate.read_labels(who, y, len(X))
    fits = U.ndim == 2 and U.shape[1] == X.shape[1] and len(U) > 2 and np.isin(codes, range(len(U))).all()
    _require_weights(f"{who}: u must be finite weights, a row for each of the classes 0 .. k - 1 > 1", U, bool(fits))
    learner.partial_fit(X[:0], codes[:0], classes=np.arange(len(U)))
    for t, code in enumerate(codes.astype(int).tolist()):
        x, updates = X[t], learner.n_updates_
        margins, best = (s[code] - np.delete(s, code) for s in (learner.decision_function(x[None])[0], U @ x))
        learner.partial_fit(x[None], codes[t : t + 1])
        _check_steps(who, learner, x @ x)
        _check_sums(who, margins, best)
        yield learner, x, code, margins, best, learner.n_updates_ > updates


@np.errstate(all="ignore")
def follow_the_leader(y: ArrayLike) -> Bound:
    """Bound the squared losses of the mean of all targets so far (0 before the first).

    The tutorial's first example:

        sum of (w_t - y_t)² <= min over u of the sum of (u - y_t)² + 2 B² (1 + log T),     B = the largest |w_t - y_t|

    The loss of w_t exceeds that of the mean w_{t+1}, which has seen y_t, by (1 - (1 - 1/t)²) (w_t - y_t)² <= 2 B²/t, and the
    summed losses of those means do not exceed the best u's.

    >>> paid, allowed = follow_the_leader([1.0, 3.0, 2.0])
    >>> paid, round(allowed, 2)
    (5.0, 18.79)
    """
    who = f"{WHO}.follow_the_leader"
    y = validate.read_targets(who, y, len(np.atleast_1d(np.asarray(y))))
    T = len(y)
    means = np.append(0.0, np.cumsum(y)[:-1] / np.arange(1, T)) if T else y
    errors = means - y
    largest = np.abs(errors).max(initial=0.0)
    best = np.sum((y - y.mean()) ** 2) if T else 0.0
    return _bound(who, errors @ errors, best + 2.0 * largest**2 * (1.0 + np.log(max(T, 1))))


def hedge(X: ArrayLike, y: ArrayLike, signed: bool = False) -> Bound:
    """Bound Hedge's expected mistakes (eta0="auto") with d experts by the best expert's + 2 √(T ln(d)/2) + √(ln(d)/8).

    Tutorial, parts I and V.

    >>> X, y = np.tile([[1.0, 0.0, 0.5]], (50, 1)), np.ones(50)
    >>> paid, allowed = hedge(X, y)
    >>> round(paid, 2), round(allowed, 2)
    (1.01, 10.85)
    """
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    learner = estimator_class("HedgeClassifier")(dtype=np.float64, signed=signed).partial_fit(X, y, classes=[-1.0, 1.0])
    X = (1.0 + X) / 2.0 if signed else X
    best = ((y[:, None] + 1) / 2 - y[:, None] * X).sum(axis=0).min()
    T, entropy = len(y), np.log(X.shape[1])
    return Bound(learner.expected_loss_, float(best + 2.0 * np.sqrt(T * entropy / 2.0) + np.sqrt(entropy / 8.0)))
