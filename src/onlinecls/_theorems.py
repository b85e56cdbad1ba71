"""The papers' theorems, each stated once: the sums that a learner paid and that are allowed, after every row of a stream.

A theorem (a subclass of `Theorem`, whose docstring states it) sums the records of rows (a `Course`) chunk by chunk, in bounded
memory, for one competitor u or several. The registry's rows name the theorems that apply to an algorithm. Throughout, l(u) is the
loss of u on a row, and L(u) the sum of its hinge losses over the rounds that changed the model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from ._algorithm import POSITIVE, parameter_error
from ._compiled import model
from ._estimators.learner import state_of
from ._input.compat import is_classifier, is_regressor, issparse
from ._registry import ALGORITHMS, estimator_class, select
from .reference.potential import entropy_of_shares

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ._input.rows import Rows

WHO = "onlinecls.bounds"
CHUNK = 4096  # rows whose records are kept at a time

#: Required by every theorem: weights that start from 0, without an average, and rows of weight 1.
PLAIN: Mapping[str, object] = MappingProxyType({"fit_intercept": False, "average": False, "class_weight": None, "cost": None})
#: Parameters that change nothing in one pass over two classes without an intercept, or its rounding alone.
HARMLESS = (
    "max_iter", "tol", "shuffle", "random_state", "warm_start", "early_stopping", "validation_fraction", "n_iter_no_change",
    "verbose", "loss_tol", "n_jobs", "multi_class", "probability", "intercept_scaling", "dtype",
    "alpha", "l1_ratio",  # (the Perceptron's, without a penalty; those who have another alpha name it as a constant)
)


@dataclass(frozen=True)
class Course:
    """A learner's course over a stream of n rounds, as `follow` records it.

    Attributes
    ----------
    learner : object
        The learner after the last round.
    X, y : ndarray of float64, shapes (n, d) and (n,)
        y of a one-class learner: ones.
    scores : ndarray of float64, shape (n,)
        w.x before each update; of a one-class learner, -||x - w||.
    weights : ndarray of float64, shape (n + 1, d)
        w before each round, and after the last; of a one-class learner, the centre.
    updated : ndarray of bool, shape (n,)
        The rounds that changed the model.
    chi, lookahead, spread, forgotten : ndarray of float64, shape (n,)
        Second-order learners: x'Σ_{t-1}x; y x'Σ_tθ_{t-1}, the margin with x already in Σ; x'Σ_tx; θ'(Σ_t - Σ_{t-1})θ. Others: 0.
    sigma : ndarray of float64, shape (n,)
        Dual ascent: σ of each round. Others: 0.
    u : ndarray of float64, shape (d,)
        A good competitor in hindsight, computed at first use.
    paid, allowed : ndarray of float64, shape (n,)
        The sums paid up to each row, and allowed by the learner's theorem for `u`.

    See Also
    --------
    follow : Makes it.
    Certificate : Both sides for a competitor known beforehand, without the rows.
    """

    learner: Any  # each bound checks its class
    X: Any  # (in chunks perhaps a CSR matrix)
    y: np.ndarray
    scores: np.ndarray
    weights: np.ndarray
    updated: np.ndarray
    chi: np.ndarray
    lookahead: np.ndarray
    spread: np.ndarray
    forgotten: np.ndarray
    sigma: np.ndarray = field(default_factory=lambda: np.zeros(0))
    squares: np.ndarray | None = None  # ||x||², where the pass computes it

    def __repr__(self) -> str:
        end = end_of(self.learner, self.u, self.paid, self.allowed) if "u" in self.__dict__ else ""
        return f"Course({self.learner!r}, {len(self.y)} rows{end})"

    @cached_property
    def u(self) -> np.ndarray:
        """The competitor, of many tried, for which the learner's theorem allows least at the end; 0 if none is better."""
        return good_competitor(theorem_of(WHO, self.learner), self)

    @cached_property
    def _sides(self) -> tuple[np.ndarray, np.ndarray]:
        return summed(theorem_of(WHO, self.learner)(self.learner, self.u[None]), [self])

    @property
    def paid(self) -> np.ndarray:
        """The sum paid by the learner, after each row."""
        return self._sides[0]

    @property
    def allowed(self) -> np.ndarray:
        """The sum allowed by its theorem for `u`, after each row."""
        return self._sides[1][0]

    @property
    def margins(self) -> np.ndarray:
        """y w.x before each update."""
        return self.y * self.scores

    @property
    def rows(self) -> np.ndarray:
        """The rows of the rounds that changed the model."""
        return self.X[self.updated]

    def loss(self, u: ArrayLike) -> float:
        """Compute L(u) = sum of [1 - y u.x]+ over the rounds that changed the model."""
        return float(np.maximum(0.0, 1.0 - self.y[self.updated] * (self.rows @ u)).sum())

    def norms(self, p: float = 2.0) -> np.ndarray:
        """Compute the p-norms of the rows; p = inf: max |x|."""
        if p == 2.0 and self.squares is not None:
            return np.sqrt(self.squares)
        X, sparse = abs(self.X), issparse(self.X)
        if not X.shape[1]:
            return np.zeros(len(self.y))
        largest = X.max(axis=1).toarray().ravel() if sparse else X.max(axis=1)
        if p == np.inf:
            return largest
        scale = np.where(largest > 0.0, largest, 1.0)[:, None]  # (the p-th powers of 1e-20 would be 0)
        powers = (X.multiply(1.0 / scale).power(p) if sparse else (X / scale) ** p).sum(axis=1)
        return largest * np.ravel(powers) ** (1.0 / p)

    def products(self, U: np.ndarray, square: bool = False) -> np.ndarray:
        """Compute u.x of each u and row; square: Σ_i u_i² x_i²."""
        X, U = (self.X.power(2) if issparse(self.X) else self.X**2, U**2) if square else (self.X, U)
        return np.stack([X @ u for u in U]) if issparse(X) else U @ X.T  # (for many u at once scipy would first copy them)


@np.errstate(all="ignore")
def walk(learner: Any, rows: Rows, y: np.ndarray) -> Course:
    """Learn the rows of a chunk in one pass, and return their records (Record of _compiled/rounds.pxd) without weights."""
    state, record = state_of(learner), np.zeros((len(y), len(model.RECORD)))
    state.record, state.records_from = record, learner.t_
    try:
        learner.partial_fit(rows, y)
    finally:
        state.record = None
    if state_of(learner) is not state:
        raise RuntimeError(f"{WHO}: learner must keep its model during a pass, got another one, without records of the rows.")
    records = dict(zip(model.RECORD, record.T, strict=True))
    updated = np.diff(records.pop("updates"), append=learner.n_updates_) > 0.0
    if getattr(learner, "covariance", "") == "full":  # Σ_t x = Σ_{t-1} x / (1 + βχ): everything follows from m and χ
        scale = learner.r if hasattr(learner, "r1") else 1.0  # (AROW's weights are Σθ/r)
        m, chi = y * records["scores"] * scale, records["chi"]
        beta = beta_of(learner, chi)
        share = 1.0 / (1.0 + beta * chi)
        records.update(lookahead=m * share, spread=chi * share, forgotten=-(m**2) * beta * share)
    return Course(learner, rows.array(), y, weights=np.zeros((0, rows.n_features)), updated=updated, **records)


def beta_of(learner: Any, chi: np.ndarray) -> np.ndarray:
    """Compute β of Σ^-1 += β x x' in each round that changes the model: 1/r, or NAROW's [b - 1/χ]+."""
    if hasattr(learner, "b"):
        return np.divide(learner.b * chi - 1.0, chi, out=np.zeros(len(chi)), where=learner.b * chi > 1.0)
    return np.full(len(chi), 1.0 / rates_of(learner)[1])


def rates_of(learner: Any) -> tuple[float, float]:
    """Return the r of the means' steps and that of the covariance's, which are one but for AROW with r1 or r2."""
    r1, r2 = getattr(learner, "r1", None), getattr(learner, "r2", None)
    return float(learner.r if r1 is None else r1), float(learner.r if r2 is None else r2)


def losses_of(learner: Any, y: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Compute the losses of scores by a learner's parameters: hinge with its margin, log loss, absolute or squared."""
    if is_regressor(learner):
        return np.abs(y - scores) if learner.loss == "absolute" else (y - scores) ** 2
    if getattr(learner, "loss", "hinge") == "log_loss":
        return np.logaddexp(0.0, -y * scores)
    return np.maximum(0.0, getattr(learner, "margin", 1.0) - y * scores)


# --- theorems ------------------------------------------------------------------------------------------------------------------


def steps_are_one(learner: Any) -> bool:
    """Return True for a conservative Perceptron with its default eta0, which is 1."""
    return getattr(learner, "eta0", "") == "auto" and not getattr(learner, "aggressive", True)


class Theorem:
    """A theorem along a stream, for competitors U of shape (k, d). The docstring of each subclass is its statement.

    name : the paper and the theorem's number. constants : parameters of the learner that must be numbers. free : those that may
    have any value. needed : required values of others, where these are not their defaults. see : neighbours among the functions
    of `bounds`, and what they are.
    """

    name = ""
    constants: tuple[str, ...] = ()
    free: tuple[str, ...] = ()
    needed: Mapping[str, object] = PLAIN
    see: tuple[str, ...] = ()

    def __init__(self, learner: Any, U: np.ndarray) -> None:
        self.learner, self.U = learner, U
        self.p = float(getattr(learner, "p", 2.0) or max(2.0, 2.0 * np.log(U.shape[1])))  # of a p-norm Perceptron; others: 2
        self.kept: dict[str, Any] = {}
        with np.errstate(all="ignore"):
            self.squares = (U**2).sum(axis=1, keepdims=True)
        self.extra: Any = 0  # paid in addition, (k, n), where that depends on u

    @classmethod
    def constants_of(cls, learner: Any) -> tuple[str, ...]:
        """Return the parameters that must be numbers for this learner."""
        return cls.constants

    @classmethod
    def free_of(cls, learner: Any) -> tuple[str, ...]:
        """Return the parameters that may have any value for this learner."""
        return cls.free

    def total(self, name: str, values: Any) -> np.ndarray:
        """Sum values up to each row, earlier chunks included."""
        return self._kept(name, np.cumsum(values, axis=-1) + self.kept.get(name, 0))

    def most(self, name: str, values: Any, least: float = 0.0) -> np.ndarray:
        """Find the largest value up to each row."""
        return self._kept(name, np.maximum(np.maximum.accumulate(values, axis=-1), self.kept.get(name, least)))

    def _kept(self, name: str, found: np.ndarray) -> np.ndarray:
        if found.shape[-1]:
            self.kept[name] = found[..., -1:]
        return found

    @property
    def norms_of_u(self) -> np.ndarray:
        """The q-norms of all u, (k, 1), 1/p + 1/q = 1."""
        return np.linalg.norm(self.U, self.p / (self.p - 1.0), axis=1)[:, None]

    @property
    def rate(self) -> float:
        """The learner's η, 1 where none is named; of steps that fall, the first."""
        eta0 = getattr(self.learner, "eta0", "auto")
        return 1.0 if eta0 == "auto" else float(eta0)

    def steps(self, r: Course, sizes: np.ndarray) -> np.ndarray:
        """Compute η of each round, 0 where the model did not change; sizes: the rows' p-norms."""
        if hasattr(self.learner, "radius") and self.learner.aggressive:
            ratio = np.divide(self.learner.radius**2 / 2 - r.margins, sizes**2, out=np.zeros(len(sizes)), where=sizes > 0.0)
            return np.where(r.margins <= 0.0, 1.0, np.clip(ratio, 0.0, 1.0)) * r.updated
        fall = np.sqrt(self.total("t", np.ones(len(sizes)))) if hasattr(self.learner, "learning_rate") else 1.0
        return self.rate * r.updated / fall

    def margins_of_u(self, r: Course) -> np.ndarray:
        """Compute y u.x of each u and row."""
        return r.y * r.products(self.U)

    def loss(self, r: Course, weights: Any = None) -> np.ndarray:
        """Compute L(u) up to each row, or with weights of rounds the sum of these times the losses."""
        return self.total("L", np.maximum(0.0, 1.0 - self.margins_of_u(r)) * (r.updated if weights is None else weights))

    def quadratic(self, r: Course) -> np.ndarray:
        """Compute u'A_t u up to each row, A = Σ^-1 and Σ_0 = vI, v the initial variance."""
        squares = self.margins_of_u(r) ** 2 if self.learner.covariance == "full" else r.products(self.U, square=True)
        grown = self.total("A", beta_of(self.learner, r.chi) * squares * r.updated)
        return self.squares / getattr(self.learner, "initial_variance", 1.0) + grown

    def entropies(self, factors: np.ndarray) -> np.ndarray:
        """Compute factors (n,) times the relative entropy of each u's shares to uniform ones, infinite if u has no shares."""
        W, signed = float(self.learner.norm_bound), bool(self.learner.signed)
        found = np.array([[entropy_of_shares(u / W, signed)] for u in self.U])
        return np.multiply(factors, found, out=np.zeros((len(found), len(factors))), where=factors > 0.0)  # (0 times inf is 0)

    def without_loss(self, losses: np.ndarray, excess: np.ndarray, allowed: np.ndarray, tolerance: float = 1e-12) -> tuple:
        """Return (Σ l², allowed), with 2 (ε - ε*) Σ l in `extra`; allow inf if a round has a loss of u, an excess > 0."""
        slack = -self.most("excess", excess, -np.inf)
        self.extra = 2.0 * np.maximum(slack, 0.0) * self.total("l", losses)
        return self.total("l2", losses**2), np.where(slack >= -tolerance, allowed, np.inf)

    def extend(self, r: Course) -> tuple[np.ndarray, np.ndarray]:
        """Return (paid, allowed for each u) up to each of the next rows."""
        raise NotImplementedError

    @np.errstate(all="ignore")
    def sides(self, who: str, r: Course) -> tuple[np.ndarray, np.ndarray]:
        """Return what `extend` returns; raise if the learner skipped steps, or if rounding or overflow spoils the numbers."""
        full = getattr(self.learner, "covariance", "") == "full"
        check_steps(who, self.learner, r.norms().max(initial=0.0) ** 2 if full else 0.0)
        check_digits(who, self.learner, r.X.data if issparse(r.X) else r.X)
        paid, allowed = self.extend(r)
        check_sums(who, paid, allowed - self.extra)
        return paid, allowed


class Perceptron(Theorem):
    """Bound the mistakes of the Perceptron:  M <= L(u) + R ||u|| √L(u) + R² ||u||²,  R = max ||x||.

    The tutorial's universal bound (part III, for R = 1). It needs no learning rate, as none changes a Perceptron's mistakes.

    >>> from onlinecls import Perceptron
    >>> course = follow(Perceptron(fit_intercept=False), [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [1, -1, 1])
    >>> paid, allowed = perceptron(course, [2.0, -1.0])
    >>> paid, round(allowed, 9)
    (3, 10.0)
    """

    see = (
        "potential_based : Allows no more, and has the margins of the rounds in it.",
        "dual_ascent : The losses of the aggressive Perceptron, which is DA1.",
    )
    name, free = "ICML 2008 tutorial, part III (universality)", ("eta0",)

    def extend(self, r: Course) -> tuple[np.ndarray, np.ndarray]:
        loss, size = self.loss(r), self.most("R", r.norms() * r.updated) * np.sqrt(self.squares)
        return self.total("M", r.updated), loss + size * np.sqrt(loss) + size**2


class PNorm(Theorem):
    """Bound the mistakes of the p-norm Perceptron, with 1/p + 1/q = 1.

    NAROW paper, section 4.1, (4):

        M <= L(u) + S²/2 + S √(S²/4 + L(u) + D) - sum of η,     D = sum of (η² ||x||_p² + 2ηm)/R² - η,

    S = ||u||_q R / √(q - 1), R = max ||x||_p (aggressive: `radius`, which no row that changes the model may exceed), the sums
    over the rounds U that changed the model without a mistake, with steps η. L(u) is the sum of η l(u) over those and of l(u)
    over mistakes.
    """

    see = (
        "potential_based : The same at the step of each round, not solved for the mistakes.",
        "fixed_rate : The bound at one learning rate.",
    )
    name, free = "NAROW paper, section 4.1, (4)", ("p", "radius")

    def extend(self, r: Course) -> tuple[np.ndarray, np.ndarray]:
        learner, m, p = self.learner, r.margins, self.p
        sizes = r.norms(p) * r.updated
        R = self.most("R", sizes, 1e-150)
        if learner.aggressive and R.max(initial=0.0) > learner.radius * (1 + 1e-12):
            raise ValueError(
                f"onlinecls.bounds.p_norm: radius must be at least the p-norm of every row, {R.max():g}, got "
                f"radius={learner.radius!r}. Follow the learner with that radius."
            )
        R = np.full(len(m), float(learner.radius)) if learner.aggressive else R
        S = self.norms_of_u * R * np.sqrt(p - 1.0)  # (1/(q - 1) is p - 1)
        eta = self.steps(r, sizes)
        loss, calm = self.loss(r, eta), eta * (m > 0.0)
        rest = self.total("eta", calm)
        D = self.total("D", calm**2 * sizes**2 + 2 * calm * m) / R**2 - rest
        allowed = loss + S**2 / 2 + S * np.sqrt(np.maximum(S**2 / 4 + loss + D, 0.0)) - rest
        return self.total("M", r.updated & (m <= 0.0)), allowed


class PassiveAggressive(Theorem):
    """Bound the squared losses (PA-I: the mistakes) of PA, for classes and for targets.

    With B = max ||x||²:

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

    see: tuple[str, ...] = (
        "margin_corollary, distance : What else Theorem 1 says.",
        "multiplicative, one_class : The same for multiplicative and one-class learners.",
    )
    constants: tuple[str, ...] = ("C", "margin", "epsilon")

    @property
    def name(self) -> str:  # type: ignore[override]
        if self.learner.C == np.inf:
            return "PA paper, Theorem 1"
        return "PA paper, Theorem 3" if self.learner.loss.startswith("squared") else "JMLR 2006 (PA-I), Theorem 4"

    def shortfall(self, r: Course, scores: np.ndarray) -> np.ndarray:
        """Compute by how much scores miss the margin, or miss targets beyond ε: a loss where > 0."""
        if is_classifier(self.learner):
            return self.learner.margin - r.y * scores
        return np.abs(r.y - scores) - self.learner.epsilon

    def extend(self, r: Course) -> tuple[np.ndarray, np.ndarray]:
        C, squared = float(self.learner.C), self.learner.loss.startswith("squared")
        losses, excess = np.maximum(0.0, self.shortfall(r, r.scores)), self.shortfall(r, r.products(self.U))
        B, best = self.most("B", r.norms() ** 2), np.maximum(0.0, excess)
        if C == np.inf:
            return self.without_loss(losses, excess, B * self.squares)
        if squared:
            allowed = (B + 0.5 / C) * self.squares + (1.0 + 2.0 * C * B) * self.total("best", best**2)
            return self.total("l2", losses**2), allowed
        if not is_classifier(self.learner):
            raise ValueError(
                "onlinecls.bounds.passive_aggressive: loss must be 'squared_epsilon_insensitive' or C inf for targets, got PA-I. "
                "There is no such theorem."
            )
        gamma = float(self.learner.margin)
        allowed = np.maximum(B / gamma**2, 1.0 / (C * gamma)) * (self.squares + 2.0 * C * self.total("best", best))
        return self.total("M", r.margins <= 0.0), allowed


class MarginCorollary(Theorem):
    """Bound the losses of PA (C = inf) on classes that some direction u separates:  sum of l <= 2 B γ/γ̂².

    PA paper, corollary of Theorem 1. γ̂ is the least margin y u.x/||u||, B = max ||x||², γ the learner's `margin`; infinite where
    γ̂ <= 0. (Each mistake has a loss of at least γ, so that there are at most B/γ̂²: Theorem 1 for the u of least margin γ.)

    >>> from onlinecls import PassiveAggressiveClassifier
    >>> course = follow(PassiveAggressiveClassifier(float("inf"), fit_intercept=False), [[0.0, 2.0], [1.0, 0.0]], [1, -1])
    >>> paid, allowed = margin_corollary(course, [-2.0, 1.0])
    >>> paid, round(allowed, 9)
    (2.0, 10.0)
    """

    see = ("passive_aggressive : The theorem itself.",)
    name, constants, needed = "PA paper, corollary of Theorem 1", ("margin",), {**PLAIN, "C": np.inf}

    def extend(self, r: Course) -> tuple[np.ndarray, np.ndarray]:
        gamma, B = float(self.learner.margin), self.most("B", r.norms() ** 2)
        least = -self.most("least", -self.margins_of_u(r), -np.inf)
        allowed = np.divide(2.0 * B * gamma * self.squares, least**2, out=np.full(least.shape, np.inf), where=least > 0.0)
        return self.total("l", np.maximum(0.0, gamma - r.margins)), allowed


class Distance(PassiveAggressive):
    """Bound how far PA's weights move:  ||w_T - w_1|| <= 2 ||u - w_1||  for any u without loss. PA paper, Lemma 2 (C = inf)."""

    see = ("passive_aggressive : The bound of the losses.",)
    name, constants, needed = "PA paper, Lemma 2", ("margin", "epsilon"), {**PLAIN, "C": np.inf}

    def extend(self, r: Course) -> tuple[np.ndarray, np.ndarray]:
        allowed = np.where(super().extend(r)[1] < np.inf, 2.0 * np.sqrt(self.squares), np.inf)
        self.extra = 0
        return self.most("w", np.linalg.norm(r.weights[1:], axis=1)), allowed


class Multiplicative(PassiveAggressive):
    """Bound the squared losses of the multiplicative PA, for u without loss.

    PA paper, Theorem 4, ||u||_1 <= W = norm_bound:

        sum of l² + 2 (ε - ε*) sum of l <= B/2 D,     B = max ρ²,  ρ = 2W max|x| (signed=True) or W max x.

    D is the relative entropy, to the uniform, of u's shares in the 2d weights W and -W (unsigned: d weights W); infinite if u has
    no such shares or has a loss. (ρ is the spread of a row's features W x and -W x: with the paper's max|x|, the
    signed form breaks the bound.)
    """

    see = ("passive_aggressive : The same for steps that add.", "dual_ascent : The entropic learners of the tutorial.")
    name, constants, free = "PA paper, Theorem 4", ("margin", "epsilon", "norm_bound"), ("signed",)

    def extend(self, r: Course) -> tuple[np.ndarray, np.ndarray]:
        losses, excess = np.maximum(0.0, self.shortfall(r, r.scores)), self.shortfall(r, r.products(self.U))
        rho = self.most("rho", (2.0 if self.learner.signed else 1.0) * self.learner.norm_bound * r.norms(np.inf))
        return self.without_loss(losses, excess, self.entropies(np.maximum(rho**2 / 2.0, 5e-324)))  # (0 times inf would be 0)


class OneClass(Theorem):
    """Bound the losses of one-class learners, for a centre u to which all rows are near enough.

    l = [||x - w|| - ε]+, all rows within ε* <= ε = epsilon of u:

        PA, w_1 the first row:   sum of l² + 2 (ε - ε*) sum of l <= ||u - w_1||²                   (PA paper, Theorem 1)
        multiplicative:          15/16 sum of l² + (ε - ε*) sum of l <= 8 W² D,   W = norm_bound     (Theorem 4, corrected)

    D as in `multiplicative`; ε* is the largest distance of a row from u. Where it is above ε, the theorems say nothing: the bound
    is infinite. (The second corrects Theorem 4: random streams refute its printed factors, 1 and 2, where ε* < ε.)

    >>> from onlinecls import PassiveAggressiveOneClass
    >>> course = follow(PassiveAggressiveOneClass(epsilon=1.0), [[0.0], [2.0], [1.5], [0.0]])
    >>> one_class(course, [1.0])
    Bound(paid=1.0, allowed=1.0)
    """

    see = ("passive_aggressive, multiplicative : The same for classes and targets.",)
    name, constants, free = "PA paper, Theorems 1 and 4 (uniclass)", ("epsilon", "norm_bound"), ("signed",)

    def extend(self, r: Course) -> tuple[np.ndarray, np.ndarray]:
        epsilon = float(self.learner.epsilon)
        losses = np.maximum(0.0, -r.scores - epsilon)
        excess = np.stack([np.linalg.norm(r.X - u, axis=1) for u in self.U]) - epsilon
        if hasattr(self.learner, "norm_bound"):
            allowed = self.entropies(np.full(len(r.y), 8.0 * self.learner.norm_bound**2))
            paid, allowed = self.without_loss(losses, excess, allowed, 1e-12 * epsilon)
            self.extra = self.extra / 2.0
            return 15.0 / 16.0 * paid, allowed
        first = self.kept.setdefault("first", r.X[:1])
        losses = losses * (self.total("t", np.ones(len(r.y))) > 1)  # PA starts from the first row
        return self.without_loss(losses, excess, np.sum((self.U - first) ** 2, axis=1, keepdims=True), 1e-12 * epsilon)


class FixedRate(Theorem):
    """Bound the mistakes of every learner whose θ goes by η z with one η, z the negative gradient of a convex loss l.

    NAROW paper, Corollary 1:

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

    see: tuple[str, ...] = (
        "potential_based : The bound at the rate that is best for u, for the hinge loss.",
        "lemma_1 : The lemma behind both.",
    )
    name, free = "NAROW paper, Corollary 1", ("eta0", "p", "radius", "covariance", "norm_bound", "signed")
    constants, needed = ("r", "b", "initial_variance", "sigma", "margin"), {**PLAIN, "update": "DA1"}

    @classmethod
    def constants_of(cls, learner: Any) -> tuple[str, ...]:
        own = (*cls.constants, *(("norm_bound",) if getattr(learner, "regularizer", "") == "entropic" else ()))
        return own if steps_are_one(learner) else (*own, "eta0")

    def terms(self, r: Course) -> tuple[np.ndarray, ...]:
        """Return m, f(u), and for each round that changed the model ||z||*²/β and the term of B."""
        learner, nothing = self.learner, np.zeros(len(r.y))
        if hasattr(learner, "covariance"):
            return r.lookahead, self.quadratic(r) / 2.0, r.spread * r.updated, r.forgotten * r.updated / 2.0
        if hasattr(learner, "regularizer"):  # DA1: w = ∇f*(θ), and θ moves by the slope of the loss
            sigma, entropic = float(learner.sigma), learner.regularizer == "entropic"
            f = self.entropies(sigma + nothing) if entropic else sigma * self.squares / 2.0
            sizes = learner.norm_bound * r.norms(np.inf) if entropic else r.norms()
            slopes = 1.0 / (1.0 + np.exp(r.margins)) if learner.loss == "log_loss" else 1.0
            return r.margins, f, (slopes * sizes) ** 2 / sigma * r.updated, nothing
        return r.margins, self.norms_of_u**2 / 2.0, r.norms(self.p) ** 2 * r.updated, nothing

    def extend(self, r: Course) -> tuple[np.ndarray, np.ndarray]:
        (m, f, sizes, B), eta = self.terms(r), self.rate
        losses = self.total("l", losses_of(self.learner, r.y, r.products(self.U)) * r.updated)
        sizes = self.total("sizes", sizes) * (self.p - 1.0) / 2.0  # (1/(q - 1) is p - 1)
        allowed = losses + f / eta + eta * sizes + self.total("B", B) / eta
        return self.total("M", r.updated & (m <= 0.0)), allowed / losses_of(self.learner, np.ones(1), np.zeros(1))


class Lemma1(FixedRate):
    """Return both sides of the NAROW paper's Lemma 1, from which its bounds follow.

    At a λ = lam > 0:

        sum of η z.(w_t/λ - u) <= f_T(λu)/λ + (sum of η² ||z||*²/(2β) + f*_t(θ_t) - f*_{t-1}(θ_t))/λ

    z = -y x, the sums over the rounds with a step η. Perceptron, p-norm: f = ||w||_q²/(2(q - 1)), β = 1, and η the step.
    Second-order Perceptron and NAROW: f_t(w) = w'A_t w/2, ||x||*² = x'Σ_t x, β = 1, η = 1, and w_t = Σ_t θ_t, which has seen x.
    `onlinecls.reference.PotentialClassifier` has it for any convex loss, f and η.

    >>> from onlinecls import Perceptron
    >>> course = follow(Perceptron(fit_intercept=False), [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [1, -1, 1])
    >>> lemma_1(course, [1.0, -1.0])
    Bound(paid=2.0, allowed=3.0)
    """

    see = ("fixed_rate, potential_based : Its two corollaries.",)
    name = "NAROW paper, Lemma 1"

    def __init__(self, learner: Any, U: np.ndarray, lam: float = 1.0) -> None:
        super().__init__(learner, U)
        if lam not in POSITIVE:
            raise parameter_error(f"{WHO}.lemma_1", "lam", POSITIVE, lam)
        self.lam = float(lam)

    def extend(self, r: Course) -> tuple[np.ndarray, np.ndarray]:
        m, f, sizes, B = self.terms(r)
        f = f * self.lam**2 * (self.p - 1.0)
        eta = self.steps(r, np.sqrt(sizes))
        paid = self.total("paid", eta * (self.margins_of_u(r) - m / self.lam))
        return paid, (f + self.total("sizes", eta**2 * sizes / 2.0 + B)) / self.lam


class PotentialBased(Theorem):
    """Bound mistakes and updates of every potential-based learner of the hinge loss.

    NAROW paper, Corollary 2, second order, full or diagonal, A = Σ^-1, m' = y x'Σ_t θ:

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

    >>> from onlinecls import OGDClassifier
    >>> learner = OGDClassifier(learning_rate="sqrt", eta0=0.5, fit_intercept=False)
    >>> paid, allowed = potential_based(follow(learner, [[1.0], [1.0]], [1, 1]), [2.0])
    >>> round(paid, 2), round(allowed, 2)
    (1.71, 3.41)
    """

    see: tuple[str, ...] = (
        "second_order_perceptron, narow, p_norm : What follows from it for each learner.",
        "potential_based_multiclass : The same for several classes.",
        "fixed_rate : The bound at one learning rate, for other losses too.",
    )
    name, constants = "NAROW paper, Corollary 2", ("r", "b", "initial_variance")
    free: tuple[str, ...] = ("covariance", "p", "radius")
    needed: Mapping[str, object] = {**PLAIN, "covariance": "full"}

    @classmethod
    def constants_of(cls, learner: Any) -> tuple[str, ...]:
        return cls.constants if steps_are_one(learner) else (*cls.constants, "eta0")

    @classmethod
    def free_of(cls, learner: Any) -> tuple[str, ...]:
        """Return the parameters that may have any value: AROW's weights are Σθ/r only with a full covariance."""
        return ("r1", "r2") if hasattr(learner, "r1") else cls.free

    def extend(self, r: Course) -> tuple[np.ndarray, np.ndarray]:
        if not hasattr(self.learner, "covariance"):
            sizes = r.norms(self.p) * r.updated
            eta = self.steps(r, sizes) / self.rate
            Q = self.total("Q", (eta * sizes) ** 2 + 2.0 * eta * (r.margins / self.rate))
            root = self.norms_of_u * np.sqrt(self.p - 1.0) * np.sqrt(np.maximum(Q, 0.0))
            return self.total("M", eta), self.loss(r, eta) + root
        # (Q is θ'Σθ after the last row: u.θ, which gives L(u), is at most √(u'Au) √(θ'Σθ))
        c, grown = r.updated * 1.0, r.spread + 2.0 * r.lookahead + r.forgotten
        if hasattr(self.learner, "r1"):
            (r1, r2), m = rates_of(self.learner), r.margins
            alpha = (1.0 - m) / (r.chi + r1)
            c, grown = (1.0 + alpha * (r2 - r1)) * c, r2 * (r2 * alpha * (2.0 * m + alpha * r.chi) + (m + alpha * r.chi) ** 2)
        Q = np.maximum(self.total("Q", grown * r.updated), 0.0)
        allowed = self.loss(r, c) + np.sqrt(self.quadratic(r)) * np.sqrt(Q)
        return self.total("M", c), np.where(self.most("negative", -c) > 0.0, np.inf, allowed)


class SecondOrderPerceptron(PotentialBased):
    """Bound mistakes and updates of the second-order Perceptron, in quantities of the stream alone.

    NAROW paper, 4.2 and 4.3:

        full:      M + U <= L(u) + √(r/v ||u||² + sum of (u.x)²) √(log det vA_T + sum of m(2r - m)/(r(r + χ)))
        diagonal:  M + U <= L(u) + √(u'D_T u) √(r sum over i of log(1 + v sum of x_i²/r) + 2U)

    m = y x'Σ_{t-1}θ, χ = x'Σ_{t-1}x, v = initial_variance (the paper's is 1).
    """

    see = ("potential_based : The corollary that it follows from, which allows no more.", "best_r : Chooses r by it.")
    name = "NAROW paper, sections 4.2 and 4.3"

    def extend(self, r: Course) -> tuple[np.ndarray, np.ndarray]:
        own, v, m, first = float(self.learner.r), float(self.learner.initial_variance), r.margins, self.quadratic(r)
        if self.learner.covariance == "full":
            first = own * first
            second = self.total("Q", (np.log1p(r.chi / own) + m * (2 * own - m) / (own * (own + r.chi))) * r.updated)
        else:
            squares = (r.X.toarray() if issparse(r.X) else r.X).T ** 2 * r.updated
            log_det = np.log1p(v / own * self.total("squares", squares)).sum(axis=0)
            second = own * log_det + 2.0 * self.total("U", r.updated & (r.lookahead > 0.0))
        return self.total("M", r.updated), self.loss(r) + np.sqrt(first) * np.sqrt(np.maximum(second, 0.0))


class NAROW(PotentialBased):
    """Bound mistakes and updates of NAROW with a full covariance.

    NAROW paper, section 5, R = max ||x||:

        M + U <= L(u) + ||u|| R √(1/(bvR²) + log det vA_T) √(sum of min(1, bχ) + b m(2r_t - m)/(r_t + χ)),

    v = initial_variance (the paper's is 1), the last term 2bm where r_t = χ/(bχ - 1) is infinite (bχ <= 1). The paper prints a
    minus before it: random streams refute it.
    """

    see = ("potential_based : The corollary that it follows from, which allows no more.",)
    name, free = "NAROW paper, section 5", ()

    def extend(self, r: Course) -> tuple[np.ndarray, np.ndarray]:
        b, m = float(self.learner.b), r.margins
        most, chi = self.most("R", r.norms() * r.updated), np.maximum(r.chi, 1.0 / b)
        first = 1.0 / (b * self.learner.initial_variance) + most**2 * self.total("det", np.log(b * chi) * r.updated)
        terms = np.minimum(1.0, b * r.chi) + m * (2.0 * chi - m * (b * chi - 1.0)) / chi**2  # (the last one without r_t)
        second = np.maximum(self.total("Q", terms * r.updated), 0.0)
        return self.total("M", r.updated), self.loss(r) + np.sqrt(self.squares * first) * np.sqrt(second)


class AROW(Theorem):
    """Bound the mistakes of AROW with a full covariance.

    AROW paper, Theorem 2, X = sum of x x' over the rounds that changed the model:

        M <= √(r ||u||² + u'X u) √(log det(I + X/r) + U) + L(u) - U,

    U is the number of those rounds without a mistake.
    """

    see = (
        "potential_based : Corollary 2 of the NAROW paper, which allows no more.",
        "arow_multiclass : The same for several classes.",
        "best_r : Chooses r by it.",
    )
    name, constants, needed = "AROW paper, Theorem 2", ("r",), {**PLAIN, "covariance": "full"}

    def extend(self, r: Course) -> tuple[np.ndarray, np.ndarray]:
        own = float(self.learner.r)
        U = self.total("U", r.updated & (r.margins > 0.0))
        first = own * self.squares + self.total("X", self.margins_of_u(r) ** 2 * r.updated)
        second = self.total("det", np.log1p(r.chi / own) * r.updated) + U
        return self.total("M", r.updated & (r.margins <= 0.0)), np.sqrt(first) * np.sqrt(second) + self.loss(r) - U


class DualAscent(Theorem):
    """Bound the losses of dual ascent, whichever update, regularizer f and loss.

    Tutorial, parts II and III:

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

    >>> from onlinecls import DualAscentClassifier
    >>> learner = DualAscentClassifier(2.0, norm_bound=1.0, fit_intercept=False)
    >>> course = follow(learner, [[1.0, 0.0], [0.0, 1.0]], [1, -1])
    >>> dual_ascent(course, [1.0, -1.0])
    Bound(paid=2.0, allowed=2.5)
    """

    see = (
        "dual_ascent_multiclass : The same for several classes.",
        "fixed_rate : The mistakes of DA1.",
        "gradient_descent : Regret that grows as log T.",
    )
    name, free = "ICML 2008 tutorial, parts II and III", ("sigma", "update", "norm_bound", "signed")

    @classmethod
    def constants_of(cls, learner: Any) -> tuple[str, ...]:
        """Return the parameters that must be numbers: σ_t of sigma="auto" are recorded, a Euclidean learner has no W."""
        sigma = () if learner.sigma == "auto" else ("sigma",)
        return ("margin", *sigma, *(("norm_bound",) if getattr(learner, "regularizer", "") == "entropic" else ()))

    def extend(self, r: Course) -> tuple[np.ndarray, np.ndarray]:
        learner, n, scores, sigma = self.learner, len(r.y), r.scores, r.sigma
        entropic, rose = getattr(learner, "regularizer", "") == "entropic", np.zeros(n, bool)
        if learner.sigma == "auto":
            before = np.append(self.kept.get("sigma", [0.0]), sigma)[:n]
            self._kept("sigma", sigma)
            if entropic:
                rose = (before > 0.0) & (sigma > before)
            else:  # the weights of round t are those of its σ, which has seen ||x||
                scores = scores * np.divide(before, sigma, out=np.zeros(n), where=sigma > 0.0)
        else:
            sigma = np.full(n, float(learner.sigma))
        L = learner.norm_bound * r.norms(np.inf) if entropic else r.norms()
        f = self.entropies(sigma) if entropic else sigma * self.squares / 2.0
        paid, best = (losses_of(learner, r.y, found) for found in (scores, r.products(self.U)))
        least = losses_of(learner, r.y, np.clip(r.y, -L, L) if is_regressor(learner) else r.y * L)
        if is_regressor(learner) and learner.loss == "squared":
            L = L * 2.0 * np.where(rose, np.abs(r.y) + L, np.abs(r.y - scores))
        second = np.divide(L**2, 2.0 * sigma, out=np.zeros(n), where=sigma > 0.0) + rose * (paid - least)
        return self.total("paid", paid), f + self.total("best", best) + self.total("L2", second)


class GradientDescent(Theorem):
    """Bound the regularised losses alpha/2 ||w||² + l(w) of strongly convex gradient descent.

    Tutorial, part V:

        sum over t of the losses of w_t - the same of u <= G²/(2 alpha) (1 + log T),     G = 2 max ||x||.

    l is the hinge loss.
    """

    see = (
        "dual_ascent : Regret that grows as √T, without the regularisation in the losses.",
        "potential_based : Plain gradient descent.",
    )
    name, constants = "ICML 2008 tutorial, part V", ("alpha",)
    free = ("eta0",)

    def extend(self, r: Course) -> tuple[np.ndarray, np.ndarray]:
        alpha, n, u_scores = float(self.learner.alpha), len(r.y), r.products(self.U)
        t = self.total("t", np.ones(n))
        losses, best = np.maximum(0.0, 1.0 - r.margins), np.maximum(0.0, 1.0 - r.y * u_scores)
        # w = z/(alpha (t - 1)), and z moves by y x where m < 1: ||z||² follows from the scores.
        grown = np.where(r.margins < 1.0, 2.0 * r.margins * alpha * (t - 1.0) + r.norms() ** 2, 0.0)
        after = self.total("z2", grown)
        weights = np.divide(after - grown, (alpha * (t - 1.0)) ** 2, out=np.zeros(n), where=t > 1.0)
        paid = self.total("paid", alpha / 2.0 * weights + losses)
        allowed = t * alpha / 2.0 * self.squares + self.total("best", best)
        G = 2.0 * self.most("G", r.norms())
        return paid, allowed + G**2 / (2.0 * alpha) * (1.0 + np.log(t))


class LeastSquares(Theorem):
    """Bound the squared errors of AROW regression with a full covariance: recursive least squares.

    With e = y - w.x:

        sum of r e²/(r + χ) = min over u of (r/v ||u||² + sum of (y - u.x)²),     χ = x'Σ_{t-1}x,  v = initial_variance (1)

    What is allowed is the sum for this u; for the last weights both sides are equal. The AROW paper claims new
    bounds for regression, but omits them: this identity is from Azoury and Warmuth (2001), and each factor is at least
    r/(r + v max ||x||²).

    >>> from onlinecls import AROWRegressor
    >>> course = follow(AROWRegressor(1.0, covariance="full", fit_intercept=False), [[1.0], [1.0]], [1.0, 3.0])
    >>> paid, allowed = least_squares(course, [1.0])
    >>> round(paid, 9), allowed
    (4.666666667, 5.0)
    """

    see = ("arow : The mistakes of AROW on classes.",)
    name, constants, needed = "Azoury, Warmuth 2001 (AROW regression)", ("r",), {**PLAIN, "covariance": "full"}

    def extend(self, r: Course) -> tuple[np.ndarray, np.ndarray]:
        own, v = float(self.learner.r), float(getattr(self.learner, "initial_variance", 1.0))
        paid = self.total("paid", (r.y - r.scores) ** 2 * own / (own + r.chi))
        return paid, own / v * self.squares + self.total("best", (r.y - r.products(self.U)) ** 2)


#: Theorems by the names of the functions of `bounds`, as in the registry's rows.
THEOREMS: Mapping[str, type[Theorem]] = MappingProxyType({
    "perceptron": Perceptron, "p_norm": PNorm, "passive_aggressive": PassiveAggressive, "margin_corollary": MarginCorollary,
    "distance": Distance, "multiplicative": Multiplicative, "one_class": OneClass, "fixed_rate": FixedRate, "lemma_1": Lemma1,
    "potential_based": PotentialBased, "second_order_perceptron": SecondOrderPerceptron, "narow": NAROW, "arow": AROW,
    "dual_ascent": DualAscent, "gradient_descent": GradientDescent,
    "least_squares": LeastSquares,
})


def theorem_of(who: str, learner: Any, key: str = "") -> type[Theorem]:
    """Return the theorem of this name, or else the learner's first; raise if it does not apply to the learner."""
    algorithm = select(type(learner), learner.get_params())
    if key and key not in algorithm.theorems:
        which = "; ".join(a.title for a in ALGORITHMS.values() if key in a.theorems)
        raise ValueError(f"{who}: course must be that of one of: {which}; got that of {learner!r}. Follow one of those.")
    if not (key or algorithm.theorems):
        raise ValueError(
            f"{who}: learner must be one that a theorem covers, got {learner!r}. No theorem here bounds its mistakes or "
            "losses: follow it without u."
        )
    theorem = THEOREMS[key or algorithm.theorems[0]]
    values, defaults = learner.get_params(), estimator_class(algorithm.estimator)().get_params()
    constants = *theorem.constants_of(learner), *algorithm.awaiting(values)  # (where rows tell these, a model is learnt again)
    for name, value in values.items():
        if name in constants:
            if value is None or isinstance(value, str):
                raise ValueError(
                    f"{who}: {name} must be a number, got {name}={value!r}, which depends on the rows. The theorem is for a "
                    f"constant that was fixed before them: follow a learner with {name}=1.0, say."
                )
        elif name not in (*theorem.free_of(learner), *algorithm.selects, *HARMLESS):
            require(who, learner, {name: theorem.needed.get(name, defaults.get(name))})
    return theorem


def require(who: str, learner: Any, needed: Mapping[str, object]) -> None:
    """Raise unless the learner's parameters have these values."""
    for name, wanted in needed.items():
        value = getattr(learner, name, wanted)
        if value is not wanted and (wanted is None or value != wanted):
            hint = ": a column of ones in X is an intercept" if name == "fit_intercept" else ""
            raise ValueError(
                f"{who}: {name} must be {wanted!r}, got {name}={value!r}, which the theorem does not cover. Follow a learner "
                f"with {name}={wanted!r}{hint}."
            )


def check_steps(who: str, learner: Any, square: float = 0.0) -> None:
    """Raise if a step was skipped, or if a full covariance has lost its digits to a row; square : the largest ||x||²."""
    dtype = state_of(learner).dtype
    if learner.n_skipped_:
        raise ValueError(
            f"{who}: X must be rows whose steps fit {dtype}, got {learner.n_skipped_} of {learner.t_} whose steps were "
            "skipped, which no theorem covers. Divide X by the length of a row, or take smaller steps."
        )
    if getattr(learner, "covariance", "") == "full":
        chi = np.array([square * getattr(learner, "initial_variance", 1.0)])  # x'Σ_0x
        found, most = float((beta_of(learner, chi) * chi)[0]), 1e12 * float(np.finfo(np.float64).eps / np.finfo(dtype).eps)
        if not found <= most:
            raise ValueError(
                f"{who}: X must be rows with x'Σ_0x/r up to {most:.2g} for a full covariance of {dtype}, got {found:.2g}: "
                "rounding then changes what the theorem sums. Divide X by the length of a row, or take covariance='diagonal'."
            )


def check_digits(who: str, learner: Any, values: np.ndarray) -> None:
    """Raise if the learner reads numbers as 0, or with fewer digits, because its dtype has none as small."""
    dtype, sizes = state_of(learner).dtype, np.abs(values)
    lost = sizes[(sizes > 0.0) & (sizes < np.finfo(dtype).tiny)]
    if lost.size:
        raise ValueError(
            f"{who}: X must fit {dtype}, got a number of {lost[0]:.3g}, of which it has no or few digits. Multiply X by a "
            "constant, or follow a learner with dtype=numpy.float64."
        )


def check_sums(who: str, paid: Any, allowed: Any) -> None:
    """Raise if these sums are infinite on both sides or NaN, which compares with nothing."""
    if np.isnan(np.subtract(allowed, paid)).any():
        raise ValueError(
            f"{who}: rows, targets and u must be numbers whose squares and their sums fit float64, got larger or smaller ones. "
            "Multiply them by a constant."
        )


def end_of(learner: Any, u: np.ndarray, paid: np.ndarray, allowed: np.ndarray) -> str:
    """Say for a representation what was paid and allowed in the end, for the competitor of those u that is allowed least."""
    if not len(paid):
        return ""
    U, least = np.atleast_2d(u), np.atleast_2d(allowed)[:, -1]
    best = U[least <= least.min() + 1e-9 * abs(least.min())]
    size = np.hypot.reduce(best, axis=1).min()  # (norms of 1e170 and of 1e-170 are neither infinite nor 0)
    nothing = ", which predicts nothing: the bound says nothing of the learner" if is_classifier(learner) and not size else ""
    return f", paid {paid[-1]:.6g} of {least.min():.6g} allowed for ||u|| = {size:.6g}{nothing}"


def summed(theorem: Theorem, chunks: Iterable[Course]) -> tuple[np.ndarray, np.ndarray]:
    """Return the sums paid, and allowed for each u, up to each row of all chunks; subtract `extra` from the latter."""
    paid, allowed = [np.zeros(0)], [np.zeros((len(theorem.U), 0))]
    for records in chunks:
        left, right = theorem.sides(WHO, records)
        paid.append(left)
        allowed.append(right - theorem.extra)
    return np.concatenate(paid), np.concatenate(allowed, axis=1)


@np.errstate(all="ignore")
def good_competitor(theorem: type[Theorem], course: Course) -> np.ndarray:
    """Return the weights, of several directions and many lengths, for which the theorem allows least at the end.

    The directions: the learner's last weights, least squares with two ridges, and a support vector machine after ten epochs; all
    on the rows that changed the model.
    """
    learner, rows, y, last = course.learner, course.rows, course.y[course.updated], course.weights[-1]
    directions, d = [last], len(last)
    if len(np.unique(y)) == 2:
        machine: Any = estimator_class("DualAscentClassifier")
        machine = machine(1.0, fit_intercept=False, max_iter=10, random_state=0, dtype=np.float64)
        directions.append(machine.fit(rows, y).coef_[0])
    scale = float(np.mean((rows**2).sum(axis=1))) if len(y) else np.inf
    if d <= 2000 and scale < np.inf:
        scale = scale or 1.0
        directions += [np.linalg.solve(rows.T @ rows + ridge * scale * np.eye(d), rows.T @ y) for ridge in (1e-3, 1.0)]
    candidates = [0.0 * last, *directions]
    for u in directions:
        size = float(np.median(np.abs(rows @ u))) if len(y) else 0.0
        if size > 0.0:
            candidates += [u / size * factor for factor in (0.1, 0.3, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0)]
    U = np.array(candidates)
    if "norm_bound" in theorem.constants_of(learner) and hasattr(learner, "norm_bound"):
        mass = U if learner.signed else np.maximum(U, 0.0)
        total = np.abs(mass).sum(axis=1, keepdims=True)
        shares = np.divide(mass, total, out=np.full(U.shape, 0.0 if learner.signed else 1.0 / d), where=total > 0.0)
        U = np.concatenate([U, shares * learner.norm_bound * 0.999]) if learner.signed else shares * learner.norm_bound
    allowed = summed(theorem(learner, U), [course])[1]
    if not allowed.shape[1]:
        return U[0]
    least = allowed[:, -1].min()  # (of those that are equal to rounding the first, so that u = 0 is told from a small one)
    return U[int(np.argmax(allowed[:, -1] <= least + 1e-9 * abs(least)))]
