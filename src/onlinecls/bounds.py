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

With the competitor given beforehand, `follow` streams: it keeps no rows, and returns both sides after every row.

>>> certificate = bounds.follow(AROWClassifier(r=1.0, covariance="full", fit_intercept=False), X, y, u=[0.5, -2.0])
>>> certificate.paid[[0, -1]].tolist(), certificate.allowed[[0, -1]].round(2).tolist()
([1.0, 3.0], [2.27, 12.78])

Most bounds are for two classes -1 and +1 (some for targets, `one_class` for none, two for several classes), rows of weight 1, and
learners without an intercept: a column of ones does the same. L(u) is the hinge loss of u over the rounds of the course that
changed the model.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar, cast, overload

import numpy as np

from ._algorithm import NOT_NEGATIVE
from ._estimators.learner import OnlineLearner, state_of
from ._input import validate
from ._input.compat import is_classifier, is_regressor, issparse
from ._registry import ALGORITHMS, estimator_class
from ._theorems import (
    CHUNK,
    PLAIN,
    THEOREMS,
    WHO,
    Course,
    check_digits,
    check_steps,
    check_sums,
    end_of,
    require,
    summed,
    theorem_of,
    walk,
)
from .reference.potential import entropy_of_shares

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ._estimators.saving import Learner
    from ._estimators.second_order import AROWClassifier, NAROWClassifier, SecondOrderPerceptron
    from ._input.types import Matrix
    from ._wings.baselines.estimators import HedgeClassifier
    from ._wings.committee.estimators import CommitteeClassifier, CommitteeRegressor
    from ._wings.dual_ascent.estimators import DualAscentClassifier

    class BoundOfCourse(Protocol):
        def __call__(self, course: Course, u: ArrayLike) -> Bound: ...

_Function = TypeVar("_Function", bound=Callable[..., Any])

__all__ = [
    "Bound", "Certificate", "Course", "arow", "arow_multiclass", "best_r", "committee", "distance", "dual_ascent",
    "dual_ascent_multiclass", "fixed_rate", "fixed_share", "follow", "follow_the_leader", "gradient_descent", "hedge",
    "least_squares", "lemma_1", "margin_corollary", "multiplicative", "narow", "one_class", "p_norm", "passive_aggressive",
    "perceptron", "potential_based", "potential_based_multiclass", "second_order_perceptron",
]


def __dir__() -> list[str]:
    return __all__


class Bound(NamedTuple):
    """The sum paid, in the units that the bound counts (mistakes, losses), and the most that its theorem allows.

    Both sides are sums in double: paid <= allowed holds to rounding.

    See Also
    --------
    Certificate : Both sides after every row.
    """

    paid: float
    allowed: float


@dataclass(eq=False, repr=False)
class Certificate:
    """The sums paid by a learner and allowed by its theorem, after every row: the result of `bounds.follow` with u.

    Attributes
    ----------
    learner : object
        The learner after the last row.
    theorem : str
        The paper and the theorem's number.
    paid : ndarray of float64, shape (n,)
        Mistakes, or losses, whichever the theorem counts.
    allowed : ndarray of float64, shape (n,) or (n_competitors, n)
        The sum that it allows for u; infinite where it says nothing. paid <= allowed holds to rounding.
    u : ndarray of float64, shape (d,) or (n_competitors, d)
        The competitors.

    See Also
    --------
    follow : Makes it.
    onlinecls.plotting.BoundDisplay : Draws it.
    """

    learner: Any
    theorem: str
    paid: np.ndarray
    allowed: np.ndarray
    u: np.ndarray

    def __repr__(self) -> str:
        return f"Certificate({self.learner!r}, {len(self.paid)} rows{end_of(self.learner, self.u, self.paid, self.allowed)})"


@overload
def follow(learner: Learner, X: Matrix, y: ArrayLike | None = None, *, u: None = None) -> Course: ...
@overload
def follow(learner: Learner, X: Any, y: ArrayLike | None = None, *, u: ArrayLike) -> Certificate: ...
def follow(learner: Learner, X: Any, y: ArrayLike | None = None, *, u: ArrayLike | None = None) -> Course | Certificate:
    """Run a copy of a learner over a stream, row by row, and record its course.

    Parameters
    ----------
    learner : object
        A linear classifier, regressor or one-class learner of this library with fit_intercept=False, average=False and
        class_weight=None, not fitted yet. With u: one that a theorem covers, with these parameters.
    X : {array-like, sparse matrix} of shape (n_rows, n_features)
        Read as dense float64. With u, sparse rows stay sparse, and X may be an iterable of batches (X, y) or (X, y, weight) with
        weights of 1, such as a stream.
    y : array-like of shape (n_rows,)
        -1 or +1; of a regressor, targets; of a one-class learner, not used.
    u : array-like of shape (n_features,) or (n_competitors, n_features), default=None
        Competitors known beforehand: then no row is kept, and both sides of the learner's theorem are computed after every row.
        None: everything is kept, and `Course.u` finds a good one afterwards.

    Returns
    -------
    course : Course, or with u a Certificate
        What happened in each round, or both sides of the learner's theorem after it.

    Raises
    ------
    ValueError
        If the learner is not linear, has an intercept, an average or class weights, or is fitted; if X or y is not valid, or y
        has other classes. With u: also if no theorem covers the learner with its parameters, a step was skipped (`n_skipped_`),
        or numbers are too large or too small for the sums; the message says why.

    See Also
    --------
    arow, potential_based, passive_aggressive, dual_ascent : Some of the functions of a course.
    onlinecls.plotting.BoundDisplay : Draws courses and certificates.
    """
    classes = {base.__name__ for base in type(learner).__mro__}
    if not isinstance(learner, OnlineLearner) or classes.isdisjoint(row.estimator for row in ALGORITHMS.values()):
        raise ValueError(
            f"{WHO}: learner must be a linear classifier, regressor or one-class learner of onlinecls, got {learner!r}. The "
            "bounds are for weights over the columns of X."
        )
    learner = _unfitted(WHO, learner)
    if u is not None:
        return _certified(learner, X, y, u)
    rows = validate.read_rows(WHO, X.toarray() if issparse(X) else X, np.float64)
    X = rows.data.reshape(rows.n_rows, rows.n_features)
    if is_classifier(learner):
        return _followed(learner, X, _signs(y, len(X)))
    return _followed(learner, X, validate.read_targets(WHO, y, len(X)) if is_regressor(learner) else np.ones(len(X)))


def _unfitted(who: str, learner: Any) -> Any:
    """Copy an unfitted learner, if its weights are such as the bounds require."""
    if learner.__sklearn_is_fitted__():
        raise ValueError(f"{who}: learner must not be fitted, got {learner!r}. The bounds are for weights that start from 0.")
    require(who, learner, PLAIN)
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


def _certified(learner: Any, X: Any, y: Any, u: ArrayLike) -> Certificate:
    theorem, given = theorem_of(WHO, learner), np.asarray(u, dtype=np.float64)
    signed, targets = is_classifier(learner), is_regressor(learner)
    U = np.atleast_2d(given)
    _require_weights(f"{WHO}: u must be finite weights, one for each column of X, or rows of them", given, U.ndim == 2)
    along = theorem(learner, U)
    learner.partial_fit(np.zeros((0, U.shape[1])), [], **({"classes": [-1.0, 1.0]} if signed else {}))
    batches = not hasattr(X, "shape") and not (isinstance(X, list) and X and not isinstance(X[0], tuple))
    whole = y is not None or not (signed or targets or batches)  # (one class needs no y)

    def chunks() -> Iterator[Course]:
        for batch in [(X, y)] if whole else X:
            some, labels = _unweighted(batch)
            rows = validate.read_rows(WHO, some, None)
            if rows.n_features != U.shape[1]:
                raise ValueError(
                    f"{WHO}: u must be {rows.n_features} finite weights, got shape {given.shape}. Give one for each column of X."
                )
            n = rows.n_rows
            wanted = _signs(labels, n) if signed else validate.read_targets(WHO, labels, n) if targets else np.ones(n)
            size = CHUNK if signed else max(1, 1024 * CHUNK // U.shape[1])  # (then the weights of each row are kept)
            for start in range(0, n, size):
                part = validate.read_rows(WHO, rows.part(start, min(start + size, n)), np.float64)
                if signed:
                    yield walk(learner, part, wanted[start : start + size])
                else:
                    dense = part.array().toarray() if issparse(part.array()) else part.array()
                    yield _followed(learner, dense, wanted[start : start + size])

    paid, allowed = summed(along, chunks())
    return Certificate(learner, along.name, paid, allowed if given.ndim == 2 else allowed[0], given)


def _require_weights(required: str, u: np.ndarray, fits: bool, hint: str = "") -> None:
    """Raise unless these weights have a shape that fits, and are finite."""
    wrong = u[~np.isfinite(u)]
    if wrong.size or not fits:
        raise ValueError(f"{required}, got shape {u.shape}." + (f" One of its numbers is {wrong[0]}." if wrong.size else hint))


def _unweighted(batch: Any) -> tuple[Any, Any]:
    """Return X and y of a batch, whose rows have weight 1."""
    if not isinstance(batch, tuple) or len(batch) not in (2, 3):
        found = f"a tuple of {len(batch)}" if isinstance(batch, tuple) else type(batch).__name__
        raise ValueError(
            f"{WHO}: X must be rows or an iterable of batches (X, y) or (X, y, weight), got {found} for a batch. Give a matrix "
            "with its y, or tuples."
        )
    X, y, weight = (*batch, None)[:3]
    other = np.ravel(1.0 if weight is None else weight)
    other = other[other != 1.0]
    if len(other):
        raise ValueError(f"{WHO}: weight must be 1 for every row, got {other[0]}. The theorems are for rows of weight 1.")
    return X, y


@np.errstate(all="ignore")
def _followed(learner: Any, X: np.ndarray, y: np.ndarray) -> Course:
    (n, d), classes = X.shape, {"classes": [-1.0, 1.0]} if is_classifier(learner) else {}
    scores, weights, updated = np.zeros(n), np.zeros((n + 1, d)), np.zeros(n, bool)
    chi, lookahead, spread, forgotten, sigma = np.zeros((5, n))
    learner.partial_fit(X[:0], y[:0], **classes)
    name = "decision_function" if classes else "predict" if is_regressor(learner) else "score_samples"
    score, where = getattr(learner, name), "center_" if name == "score_samples" else "coef_"
    second_order, full = hasattr(type(learner), "covariance_"), getattr(learner, "covariance", "") == "full"
    times, theta = np.matmul if full else np.multiply, np.zeros(d)
    for t in range(n):
        x, updates = X[t], learner.n_updates_
        scores[t], weights[t] = score(X[t : t + 1])[0], np.ravel(getattr(learner, where))
        before = (learner.covariance_ if full else learner.covariance_[0]).copy() if second_order else theta
        learner.partial_fit(X[t : t + 1], y[t : t + 1])
        updated[t], sigma[t] = learner.n_updates_ > updates, getattr(learner, "sigma_", 0.0)
        if second_order:
            after = learner.covariance_ if full else learner.covariance_[0]
            chi[t], spread[t], lookahead[t] = x @ times(before, x), x @ times(after, x), y[t] * (x @ times(after, theta))
            forgotten[t] = theta @ times(after - before, theta)
            theta = theta + updated[t] * y[t] * x
    weights[n] = np.ravel(getattr(learner, where))
    return Course(learner, X, y, scores, weights, updated, chi, lookahead, spread, forgotten, sigma)


def _last(course: Course, u: ArrayLike, key: str, **settings: float) -> Bound:
    """Return both sides of a theorem at the end of a course."""
    who, d = f"{WHO}.{key}", course.X.shape[1]
    theorem, u = theorem_of(who, course.learner, key), np.asarray(u, dtype=np.float64)
    _require_weights(f"{who}: u must be {d} finite weights", u, u.shape == (d,), " Give one for each column of X.")
    along = theorem(course.learner, u[None], **settings)
    if not len(course.y):
        return Bound(0, 0.0)
    paid, allowed = along.sides(who, course)
    return Bound(*(np.ravel(side)[-1].item() for side in (paid + along.extra, allowed)))


_COURSE = """course : Course
    As `follow` records it, of a learner that the theorem covers with its parameters.
u : array-like of shape (n_features,)
    The competitor: any weights, chosen in hindsight."""
_SEVERAL_CLASSES = """learner : {kind}
    Joint (multi_class="crammer_singer"), not fitted yet, with numbers for the theorem's constants. A copy learns.
X : {{array-like, sparse matrix}} of shape (n_rows, n_features)
    Read as dense float64.
y : array-like of shape (n_rows,)
    The classes 0 .. k - 1.
u : array-like of shape (k, n_features)
    The competitor: any weights of all classes, k > 2."""
_REST = """
Returns
-------
bound : Bound
    The sum paid, and the most that the theorem allows.

Raises
------
ValueError
    If the theorem does not cover the learner, if an argument is not valid, if a step was skipped, or if numbers are too large or
    too small for the sums.

See Also
--------
"""


def _documented(statement: str | None, parameters: str, see: Iterable[str]) -> str:
    """Return a theorem's statement with the sections of a function before its example; see : the function's neighbours."""
    text, *example = inspect.cleandoc(statement or "").split("\n>>> ", 1)
    sections = [text.rstrip(), "", "Parameters", "----------", parameters, _REST + "\n".join(see)]
    return "\n".join([*sections, *(f"\nExamples\n--------\n>>> {one}" for one in example)])


def _bound_of(parameters: str, *see: str) -> Callable[[_Function], _Function]:
    """Complete the docstring of a bound of these parameters."""

    def complete(function: _Function) -> _Function:
        function.__doc__ = _documented(function.__doc__, inspect.cleandoc(parameters), see)
        return function

    return complete


def _function(key: str) -> BoundOfCourse:
    """Return a theorem's function of a course and a competitor."""

    def bound(course: Course, u: ArrayLike) -> Bound:
        return _last(course, u, key)

    bound.__name__ = bound.__qualname__ = key
    bound.__doc__ = THEOREMS[key].__doc__
    return _bound_of(_COURSE, "follow : Records a course.", *THEOREMS[key].see)(bound)


# Their docstrings are those of the classes in _theorems.py.
perceptron: BoundOfCourse = _function("perceptron")
p_norm: BoundOfCourse = _function("p_norm")
passive_aggressive: BoundOfCourse = _function("passive_aggressive")
margin_corollary: BoundOfCourse = _function("margin_corollary")
distance: BoundOfCourse = _function("distance")
multiplicative: BoundOfCourse = _function("multiplicative")
one_class: BoundOfCourse = _function("one_class")
fixed_rate: BoundOfCourse = _function("fixed_rate")
potential_based: BoundOfCourse = _function("potential_based")
second_order_perceptron: BoundOfCourse = _function("second_order_perceptron")
narow: BoundOfCourse = _function("narow")
arow: BoundOfCourse = _function("arow")
dual_ascent: BoundOfCourse = _function("dual_ascent")
gradient_descent: BoundOfCourse = _function("gradient_descent")
least_squares: BoundOfCourse = _function("least_squares")


def lemma_1(course: Course, u: ArrayLike, lam: float = 1.0) -> Bound:
    return _last(course, u, "lemma_1", lam=lam)


lemma_1.__doc__ = THEOREMS["lemma_1"].__doc__
_bound_of(f"{_COURSE}\nlam : float, default=1.0\n    λ, > 0.", *THEOREMS["lemma_1"].see)(lemma_1)


def best_r(
    learner: AROWClassifier | SecondOrderPerceptron, X: Matrix, y: ArrayLike, u: ArrayLike, r: ArrayLike
) -> tuple[float, Certificate]:
    """Find the r, of several, whose bound allows least at the end, in hindsight.

    The two roots of the AROW paper's Theorem 2 depend on r in opposite ways, as do those of the NAROW paper's 4.2 and 4.3; but
    the rounds that they sum over depend on r, too, so that the bounds cannot be minimised in r alone: each r is followed by a run
    of its own. (NAROW chooses an r in every round by itself, and `reference.best_r` is what section 4.3 expects beforehand.)

    Parameters
    ----------
    learner : AROWClassifier or SecondOrderPerceptron
        Not fitted yet, with parameters that its theorem covers; AROW with a full covariance.
    X : {array-like, sparse matrix} of shape (n_rows, n_features)
        The rows.
    y : array-like of shape (n_rows,)
        -1 or +1.
    u : array-like of shape (n_features,) or (n_competitors, n_features)
        Competitors. With u = 0 a bound says nothing of the learner, nor of r.
    r : array-like of shape (n_values,)
        The values to try, > 0, in units of ||x||².

    Returns
    -------
    r : float
        The value for which least is allowed after the last row, for the u of which that is true.
    certificate : Certificate
        Its run.

    Raises
    ------
    ValueError
        If the learner has no r, if r has no or wrong values, or as `follow` does.

    See Also
    --------
    follow : Runs a learner with one r.
    arow, second_order_perceptron : The bounds.

    Examples
    --------
    >>> X, y = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, -1.0]] * 25), np.array([1, -1, -1, 1] * 25)
    >>> from onlinecls import AROWClassifier
    >>> learner = AROWClassifier(covariance="full", fit_intercept=False)
    >>> r, certificate = best_r(learner, X, y, u=[1.0, -2.0], r=[0.01, 0.1, 1.0, 10.0, 100.0])
    >>> r, certificate.paid[-1].item(), certificate.allowed[-1].round(2).item()
    (0.1, 3.0, 8.77)
    """
    values = np.ravel(np.asarray(r, dtype=np.float64)).tolist()
    if not hasattr(learner, "r") or not values:
        raise ValueError(f"{WHO}.best_r: learner must have an r, and r one value or more, got {learner!r} and r={r!r}.")
    found = {value: follow(copy.deepcopy(learner).set_params(r=value), X, y, u=u) for value in values}
    best = min(found, key=lambda value: found[value].allowed[..., -1:].min(initial=np.inf))
    return best, found[best]


# --- theorems with streams of their own ----------------------------------------------------------------------------------------


@_bound_of(
    _SEVERAL_CLASSES.format(kind="DualAscentClassifier"),
    "dual_ascent : The same for two classes and for targets.",
    "potential_based_multiclass, arow_multiclass : Bounds of updates.",
)
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
    who = f"{WHO}.dual_ascent_multiclass"
    _require_joint(who, learner, ("DualAscentClassifier",), ("sigma", "norm_bound"))
    paid = best = second = 0.0
    sigma, W = float(cast("float", learner.sigma)), float(cast("float", learner.norm_bound))

    def loss(margin: np.ndarray) -> float:
        if learner.loss == "hinge":
            return max(0.0, learner.margin - margin.min())
        return float(np.logaddexp.reduce([0.0, *-margin]))

    for _, x, _, margins, best_margins, _ in _joint_rounds(who, learner, X, y, u):
        paid, best = paid + loss(margins), best + loss(best_margins)
        second += (W**2 * np.abs(x).max() ** 2 if learner.regularizer == "entropic" else 2.0 * x @ x) / (2.0 * sigma)
    U = np.asarray(u, dtype=np.float64)
    f = entropy_of_shares(U.ravel() / W, bool(learner.signed)) if learner.regularizer == "entropic" else np.square(U).sum() / 2.0
    return _bound(who, paid, sigma * f + best + second)


@_bound_of(
    _SEVERAL_CLASSES.format(kind="SecondOrderPerceptron or NAROWClassifier"),
    "potential_based : The same for two classes.",
    "arow_multiclass : That of AROW, whose weights are no such sums.",
)
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

    >>> from onlinecls import SecondOrderPerceptron
    >>> learner = SecondOrderPerceptron(
    ...     1.0, aggressive=True, initial_variance=1.0, multi_class="crammer_singer", fit_intercept=False)
    >>> paid, allowed = potential_based_multiclass(learner, [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [0, 1, 2], np.zeros((3, 2)))
    >>> paid, round(allowed, 9)
    (3, 3.0)
    """
    who = f"{WHO}.potential_based_multiclass"
    _require_joint(who, learner, ("SecondOrderPerceptron", "NAROWClassifier"), ("r", "b", "initial_variance"))
    updates, loss = 0, 0.0
    for walker, _, _, _, best_margins, updated in _joint_rounds(who, learner, X, y, u):
        updates, loss = updates + updated, loss + updated * max(0.0, 1.0 - best_margins.min())
        last = walker
    if not updates:
        return Bound(0, 0.0)
    W, U, Sigma = last.coef_, np.asarray(u, dtype=np.float64), last.covariance_
    times = (lambda V: np.linalg.solve(Sigma, V[..., None])[..., 0]) if Sigma.ndim == 3 else (lambda V: V / Sigma)
    return _bound(who, updates, loss + np.sqrt(np.sum(U * times(U))) * np.sqrt(np.sum(W * times(W))))


@_bound_of(
    _SEVERAL_CLASSES.format(kind="AROWClassifier"),
    "arow : The theorem for two classes.",
    "potential_based_multiclass : Corollary 2 of the NAROW paper for several classes.",
)
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

    >>> from onlinecls import AROWClassifier
    >>> learner = AROWClassifier(1.0, covariance="full", multi_class="crammer_singer", fit_intercept=False)
    >>> paid, allowed = arow_multiclass(learner, [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [0, 1, 2], 2.0 * np.eye(3, 2))
    >>> round(paid, 2), round(allowed, 2)
    (3.92, 13.79)
    """
    who = f"{WHO}.arow_multiclass"
    _require_joint(who, learner, ("AROWClassifier",), ("r",))
    require(who, learner, {"covariance": "full", "r1": None, "r2": None, "forgetting": 0.0})
    r, U, paid, loss, shared, Q = float(cast("float", learner.r)), np.asarray(u, dtype=np.float64), 0.0, 0.0, 0.0, 0.0
    first = r * np.square(U).sum()
    for walker, x, code, margins, best_margins, updated in _joint_rounds(who, learner, X, y, U):
        if updated:
            pair = [code, int(np.argmin(np.insert(margins, code, np.inf)))]
            (after, rivals), best = walker.coef_[pair] @ x, U[pair] @ x
            margin, m = after - rivals, margins.min()
            paid, loss = paid + 2.0 - margin, loss + (2.0 - margin) * max(0.0, 1.0 - best_margins.min())
            shared += (after + rivals) * best.sum()
            first, Q = first + best @ best, Q + (1.0 - margin) * (m + margin) + after**2 + rivals**2
    return _bound(who, paid, loss - shared + 2.0 * np.sqrt(first) * np.sqrt(max(Q, 0.0)))


def _bound(who: str, paid: float, allowed: float) -> Bound:
    """Return both sides as numbers of Python, after a check that they can be compared."""
    check_sums(who, paid, allowed)
    return Bound(*(np.asarray(side).item() for side in (paid, allowed)))


def _require_joint(who: str, learner: Any, names: tuple[str, ...], constants: tuple[str, ...]) -> None:
    """Raise unless the learner is of one of these classes, joint, with numbers for those of these parameters that it has."""
    fits = {base.__name__ for base in type(learner).__mro__}.intersection(names) and learner.multi_class == "crammer_singer"
    own = [name for name in constants if hasattr(learner, name)]
    if not fits or any(value is None or isinstance(value, str) for value in (getattr(learner, name) for name in own)):
        raise ValueError(
            f"{who}: learner must be {'an' if names[0][0] == 'A' else 'a'} {' or '.join(names)} with "
            f"multi_class='crammer_singer' and numbers for {' and '.join(own or constants)}, got {learner!r}."
        )


def _joint_rounds(who: str, learner: Any, X: Matrix, y: ArrayLike, u: ArrayLike) -> Iterator[tuple]:
    """Yield, for each row that a copy learns: it, the row, its class, the margins over other classes, u's, and if it updated."""
    learner = _unfitted(who, learner)
    rows = validate.read_rows(who, X.toarray() if issparse(X) else X, np.float64)
    X, u = rows.data.reshape(rows.n_rows, rows.n_features), np.asarray(u, dtype=np.float64)
    codes = validate.read_labels(who, y, len(X))
    fits = u.ndim == 2 and u.shape[1] == X.shape[1] and len(u) > 2 and np.isin(codes, range(len(u))).all()
    _require_weights(f"{who}: u must be finite weights, a row for each of the classes 0 .. k - 1 > 1", u, bool(fits))
    learner.partial_fit(X[:0], codes[:0], classes=np.arange(len(u)))
    for t, code in enumerate(codes.astype(int).tolist()):
        x, updates = X[t], learner.n_updates_
        margins, best = (s[code] - np.delete(s, code) for s in (learner.decision_function(x[None])[0], u @ x))
        learner.partial_fit(x[None], codes[t : t + 1])
        check_steps(who, learner, x @ x)
        check_digits(who, learner, x)
        check_sums(who, margins, best)
        yield learner, x, code, margins, best, learner.n_updates_ > updates


@_bound_of(
    """
    y : array-like of shape (n_rows,)
        The targets.
    """,
    "gradient_descent : Another regret that grows as log T.",
    "least_squares : The same with features.",
)
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


@_bound_of(
    """
    learner : CommitteeClassifier or CommitteeRegressor
        Fitted, with combine="hedge".
    losses : float, default=None
        With a share: the sum of the competitor's losses, >= 0. None: the best member's.
    switches : int, default=0
        With losses: how often the competitor changes its member, less than the rows.
    """,
    "hedge, fixed_share : The same for experts.",
    "onlinecls.CommitteeClassifier : Has `member_losses_`, the losses.",
)
def committee(learner: CommitteeClassifier | CommitteeRegressor, losses: float | None = None, switches: int = 0) -> Bound:
    """Bound the losses so far of a committee with combine="hedge", its members' weighted means.

    For rows of weight up to 1:

        sum over t of Σ_k w_{k,t} l_{k,t} <= the best member's losses + 2 √(T ln(K)/2) + √(ln(K)/8),     l in [0, 1]

    Cesa-Bianchi and Lugosi, Prediction, Learning, and Games, Theorem 2.3. It holds after every row, for any members and rows.
    (The loss of the combined score is a different number: a clipped hinge is not convex.) A row of larger weight, class weights
    included, would have a loss above 1: the committee remembers the largest. A regressor's losses start anew if its first 16
    rows change the unit of y.

    With a share α > 0 the competitor may drift: it follows one member after another, and changes to another one `switches` = S
    times. `losses` is the sum of its losses (None: the best member's, with S = 0). With η_t = √(8 ln K / t)

        the sum <= losses + √(T ln(K)/2) + ((S+1) ln(K/α) + (T-1-S) ln(1/(1-α))) / η_T,

    Herbster and Warmuth, Tracking the Best Expert, 1998, with rates that fall: w_t.l_t <= l_{k,t} + ln(v_{k,t+1}/w_{k,t})/η_t +
    η_t/8 by Hoeffding's lemma; summed over t with w_{t+1} = (1-α) v_{t+1} + α/K >= α/K, the logarithms telescope.

    >>> from onlinecls import AROWClassifier, CommitteeClassifier, Perceptron
    >>> learner = CommitteeClassifier([AROWClassifier(), Perceptron()], combine="hedge")
    >>> paid, allowed = committee(learner.partial_fit([[1.0], [-1.0]] * 50, [1, 0] * 50))
    >>> round(paid, 2), round(allowed, 2)
    (1.88, 13.07)
    """
    names, who = {base.__name__ for base in type(learner).__mro__}, f"{WHO}.committee"
    if names.isdisjoint(("CommitteeClassifier", "CommitteeRegressor")) or learner.combine != "hedge":
        raise ValueError(f"{who}: learner must be a committee with combine='hedge', got {learner!r}.")
    require(who, learner, {"class_weight": None})
    if not state_of(learner).params.hedges:
        raise ValueError(f"{who}: learner must have learnt with combine='hedge', got one that has with 'arow'. Call fit.")
    *own, paid = learner.member_losses_
    check_steps(who, learner)
    if (heaviest := state_of(learner).heaviest) > 1.0:
        raise ValueError(
            f"{who}: learner must have learnt rows of weight up to 1, class weights included, got one of {heaviest:g}. The "
            "theorem is for losses in [0, 1]: learn without weights, or divide them by the largest."
        )
    T, K, share = learner.t_, len(own), state_of(learner).params.share
    entropy = np.log(K)
    if share == 0.0:
        if losses is not None or switches != 0:
            raise ValueError(f"{who}: share must be above 0 for a competitor with losses and switches, got share=0.")
        return Bound(paid, float(min(own) + 2.0 * np.sqrt(T * entropy / 2.0) + np.sqrt(entropy / 8.0)))
    whole = isinstance(switches, int) and not isinstance(switches, bool) and 0 <= switches < max(T, 1)
    if not whole or (losses is None and switches) or not (losses is None or losses in NOT_NEGATIVE):
        raise ValueError(
            f"{who}: switches must be an integer from 0 to the rows less 1, with the competitor's losses, a sum >= 0, got "
            f"{switches!r} and losses={losses!r}."
        )
    logs = (switches + 1) * np.log(K / share) + (T - 1 - switches) * np.log(1.0 / (1.0 - share))
    rate = np.sqrt(8.0 * entropy / max(T, 1)) if K > 1 else np.inf
    return Bound(paid, float((min(own) if losses is None else losses) + np.sqrt(T * entropy / 2.0) + logs / rate))


@_bound_of(
    """
    X : array-like of shape (n_rows, d)
        The experts' chances of +1, in [0, 1]; signed: their advice, in [-1, 1].
    y : array-like of shape (n_rows,)
        -1 or +1.
    signed : bool, default=False
        Whether X is advice in [-1, 1].
    """,
    "fixed_share : Against experts that take turns.",
    "committee : The same for models that learn.",
    "onlinecls.HedgeClassifier : The learner.",
)
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


@_bound_of(
    """
    learner : HedgeClassifier
        Not fitted yet, with numbers for eta0 and share, > 0. A copy learns.
    X : array-like of shape (n_rows, d)
        The experts' chances of +1, in [0, 1], or, for a signed learner, their advice, in [-1, 1].
    y : array-like of shape (n_rows,)
        -1 or +1.
    shifts : int
        The most changes of the sequence, in [0, n_rows - 1].
    """,
    "hedge : Against one expert.",
    "committee : The same for models that learn.",
)
def fixed_share(learner: HedgeClassifier, X: ArrayLike, y: ArrayLike, shifts: int) -> Bound:
    """Bound Hedge's expected mistakes with a fixed share by those of any sequence of experts.

    With d experts, a share α in (0, 1) and a rate η:

        sum of l(w_t) <= L_k + ((k + 1) ln d + k ln(1/α) + (T - 1 - k) ln(1/(1 - α))) / η + η T/8

    with L_k the least loss of a sequence that changes its expert k times: the least right side for k up to `shifts`. Cesa-Bianchi
    and Lugosi, Prediction, Learning, and Games, Theorem 5.2, after Herbster and Warmuth 1998. (With eta0="auto", a rate that
    falls, nothing is proved.)

    >>> from onlinecls import HedgeClassifier
    >>> X, y = np.tile([[1.0, 0.0]], (100, 1)), np.repeat([1.0, -1.0], 50)  # the first expert is right, then the second
    >>> paid, allowed = fixed_share(HedgeClassifier(0.5, share=0.01), X, y, shifts=1)
    >>> round(paid, 2), round(allowed, 2)
    (11.08, 20.2)
    """
    who = f"{WHO}.fixed_share"
    is_hedge = "HedgeClassifier" in {base.__name__ for base in type(learner).__mro__}
    if not is_hedge or isinstance(learner.eta0, str) or not learner.share:
        raise ValueError(
            f"{who}: learner must be a HedgeClassifier with a number for eta0 and a share > 0, got {learner!r}. A rate that "
            "falls has no such bound."
        )
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    most = max(len(y), 1) - 1
    if isinstance(shifts, bool) or not isinstance(shifts, (int, np.integer)) or not 0 <= shifts <= most:
        raise ValueError(f"{who}: shifts must be an integer in 0..{most}, below the number of rows, got shifts={shifts!r}.")
    learner = _unfitted(who, learner).partial_fit(X, y, classes=[-1.0, 1.0])
    X = (1.0 + X) / 2.0 if learner.signed else X
    (T, d), eta, alpha, k = X.shape, float(learner.eta0), float(learner.share), np.arange(shifts + 1)
    best = np.full((shifts + 1, d), np.inf)  # after each row, the least loss of sequences of k changes that end with an expert
    best[0] = 0.0
    for t, losses in enumerate((y[:, None] + 1.0) / 2.0 - y[:, None] * X):
        if t:
            best[1:] = np.minimum(best[1:], _least_of_others(best[:-1]))
        best += losses
    price = (k + 1.0) * np.log(d) - k * np.log(alpha) - (T - 1.0 - k) * np.log1p(-alpha)
    return _bound(who, learner.expected_loss_, float(np.min(best.min(axis=1) + price / eta)) + eta * T / 8.0)


def _least_of_others(numbers: np.ndarray) -> np.ndarray:
    """Return, for each number of a row, the least of the row's others."""
    if numbers.shape[1] < 2:
        return np.full(numbers.shape, np.inf)
    first = numbers.argmin(axis=1)
    least, second = np.partition(numbers, 1, axis=1)[:, :2].T
    found = np.repeat(least[:, None], numbers.shape[1], axis=1)
    found[np.arange(len(numbers)), first] = second
    return found
