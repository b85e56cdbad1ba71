"""The theorems along a stream: what a learner has paid and what its bound allows, after every row, in bounded memory.

A course is walked in chunks. What each row left (`Records`) is summed by the learner's theorem (a subclass of `Theorem`) from
chunk to chunk, for one competitor u or several.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ._compiled import model
from ._estimators.base import leaving_records
from ._estimators.baselines import OGDClassifier
from ._estimators.dual_ascent import DualAscentClassifier
from ._estimators.first_order import PassiveAggressiveClassifier, Perceptron, PNormPerceptron
from ._estimators.follow_the_leader import FoReLClassifier
from ._estimators.multiplicative import MultiplicativePassiveAggressiveClassifier
from ._estimators.second_order import AROWClassifier, NAROWClassifier, SecondOrderPerceptron
from ._input.compat import issparse
from .reference.potential import entropy_of_shares

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from numpy.typing import NDArray

    from ._input.rows import Rows

CHUNK = 4096  # rows whose records are kept at a time


@dataclass
class Records:
    """What rows left: see bounds.Course. X : an array or a CSR matrix. sigma : dual ascent's σ of each round."""

    X: Any
    y: np.ndarray
    scores: np.ndarray
    updated: np.ndarray
    chi: np.ndarray
    peeked: np.ndarray
    spread: np.ndarray
    forgotten: np.ndarray
    sigma: np.ndarray
    squares: np.ndarray | None = None  # ||x||², where the pass has it

    @property
    def margins(self) -> np.ndarray:
        return self.y * self.scores

    def norms(self, p: float = 2.0) -> np.ndarray:
        """The rows' p-norms; p = inf: max |x|."""
        if p == 2.0 and self.squares is not None:
            return np.sqrt(self.squares)
        if not issparse(self.X):
            return np.linalg.norm(self.X, p, axis=1) if self.X.shape[1] else np.zeros(len(self.y))
        if p == np.inf:
            return self._of_rows(np.maximum, np.abs(self.X.data))
        return self._of_rows(np.add, np.square(self.X.data) if p == 2.0 else np.abs(self.X.data) ** p) ** (1.0 / p)

    def _of_rows(self, operation: np.ufunc, values: np.ndarray) -> np.ndarray:
        """The sums, say, of what stands for the non-zeros of each row."""
        starts, found = self.X.indptr[:-1], np.zeros(len(self.y))
        filled = self.X.indptr[1:] > starts  # (reduceat gives an empty row the next one's first value)
        found[filled] = operation.reduceat(values, starts[filled])
        return found

    def squares_with(self, U: np.ndarray) -> np.ndarray:
        """Σ_i u_i² x_i² of each u and row."""
        squares = type(self.X)((self.X.data**2, self.X.indices, self.X.indptr), self.X.shape) if issparse(self.X) else self.X**2
        return _products(squares, U**2)


def walk(learner: Any, rows: Rows, y: np.ndarray) -> Records:
    """Learn the rows of a chunk in one pass, and record what each left (Record of _compiled/rounds.pxd)."""
    record = np.zeros((len(y), len(model.RECORD)))
    with leaving_records(learner, record):
        learner.partial_fit(rows, y)
    records = dict(zip(model.RECORD, record.T, strict=True))
    updated = np.diff(records.pop("updates"), append=learner.n_updates_) > 0.0
    if getattr(learner, "covariance", "") == "full":
        _peek(learner, records, y)
    return Records(rows.array(), y, updated=updated, **records)


def _peek(learner: Any, records: dict, y: np.ndarray) -> None:
    """Of a full covariance what follows from m and χ: Σ_t x = r/(r + χ) Σ_{t-1} x, r_t infinite where nothing is added."""
    m, chi = y * records["scores"], records["chi"]
    share = np.ones(len(m))
    if isinstance(learner, NAROWClassifier):
        share = 1.0 / np.maximum(1.0, learner.b * chi)
    elif isinstance(learner, SecondOrderPerceptron):
        share = learner.r / (learner.r + chi)
    records["peeked"], records["spread"] = m * share, chi * share
    records["forgotten"] = -(m**2) * np.divide(1.0 - share, chi, out=np.zeros(len(m)), where=chi > 0.0)


def _products(X: Any, U: np.ndarray) -> np.ndarray:
    """u.x of each u and row: one u after the other, for many at once scipy would first copy them."""
    return np.stack([X @ u for u in U]) if issparse(X) else U @ X.T


# --- theorems ------------------------------------------------------------------------------------------------------------------


class Theorem:
    """One theorem along a stream. `name` says which."""

    name = ""

    def __init__(self, learner: Any, U: NDArray[np.float64]) -> None:
        self.learner, self.U = learner, U
        self.kept: dict[str, Any] = {}
        self.squares = (U**2).sum(axis=1, keepdims=True)

    def total(self, name: str, values: Any) -> np.ndarray:
        """The sum up to each row."""
        found = np.cumsum(values, axis=-1) + self.kept.get(name, 0.0)
        if found.shape[-1]:
            self.kept[name] = found[..., -1:]
        return found

    def most(self, name: str, values: Any, least: float = 0.0) -> np.ndarray:
        """The largest up to each row."""
        found = np.maximum(np.maximum.accumulate(values, axis=-1), self.kept.get(name, least))
        if found.shape[-1]:
            self.kept[name] = found[..., -1:]
        return found

    def said(self, r: Records) -> np.ndarray:
        """y u.x of each u and row."""
        return r.y * _products(r.X, self.U)

    def loss(self, r: Records, margin: float = 1.0) -> np.ndarray:
        """L(u) up to each row, over the rounds that changed the model."""
        return self.total("L", np.maximum(0.0, margin - self.said(r)) * r.updated)

    def extend(self, r: Records) -> tuple[np.ndarray, np.ndarray]:
        """(paid, allowed for each u) up to each of the next rows."""
        raise NotImplementedError


class _Perceptron(Theorem):
    name = "the tutorial's universal bound, part III: M <= L(u) + R ||u|| √L(u) + R² ||u||²"

    def extend(self, r: Records) -> tuple[np.ndarray, np.ndarray]:
        loss, size = self.loss(r), self.most("R", r.norms() * r.updated) * np.sqrt(self.squares)
        return self.total("M", r.updated), loss + size * np.sqrt(loss) + size**2


class _FixedRate(Theorem):
    name = "NAROW paper, Corollary 1: M <= L(u) + ||u||²/(2η) + η Σ ||x||²/2"

    def extend(self, r: Records) -> tuple[np.ndarray, np.ndarray]:
        eta = float(self.learner.eta0)
        sizes = self.total("sizes", r.norms() ** 2 * r.updated)
        allowed = self.loss(r) + self.squares / (2.0 * eta) + eta * sizes / 2.0
        return self.total("M", (r.margins <= 0.0) & r.updated), allowed


class _PNorm(Theorem):
    name = "NAROW paper, section 4.1, (4)"

    def extend(self, r: Records) -> tuple[np.ndarray, np.ndarray]:
        learner, m = self.learner, r.margins
        p = learner.p or max(2.0, 2.0 * np.log(self.U.shape[1]))
        sizes = r.norms(p)
        mistakes = r.updated & (m <= 0.0)
        eta = np.where(mistakes, 1.0, 0.0)
        R = self.most("R", sizes * r.updated)
        if learner.aggressive:
            R = np.full(len(m), float(learner.radius))
            if (sizes > R * (1 + 1e-12)).any():
                raise ValueError(
                    f"onlinecls.bounds: radius must be at least the p-norm of every row, {sizes.max():g}, got "
                    f"radius={learner.radius!r}. Follow the learner with that radius."
                )
            ratio = np.divide(R**2 / 2 - m, sizes**2, out=np.zeros(len(m)), where=sizes > 0.0)
            eta = np.where(mistakes, 1.0, np.clip(ratio, 0.0, 1.0)) * r.updated
        S = np.linalg.norm(self.U, p / (p - 1.0), axis=1)[:, None] * R * np.sqrt(p - 1.0)
        loss = self.total("L", np.maximum(0.0, 1.0 - self.said(r)) * eta)
        calm = eta * (r.updated & (m > 0.0))
        rest = self.total("eta", calm)
        D = self.total("D", calm**2 * sizes**2 + 2 * calm * m) / np.maximum(R, 1e-300) ** 2 - rest
        allowed = loss + S**2 / 2 + S * np.sqrt(np.maximum(S**2 / 4 + loss + D, 0.0)) - rest
        return self.total("M", mistakes), allowed


class _PassiveAggressive(Theorem):
    @property
    def name(self) -> str:  # type: ignore[override]
        if self.learner.C == np.inf:
            return "PA paper, Theorem 1: Σ l² <= B ||u||² - 2 (ε - ε*) Σ l for u without loss"
        if self.learner.loss == "hinge":
            return "JMLR 2006, Theorem 4: M <= max(B/γ², 1/(Cγ)) (||u||² + 2C Σ l(u))"
        return "PA paper, Theorem 3: Σ l² <= (B + 1/2C) ||u||² + (1 + 2CB) Σ l(u)²"

    def extend(self, r: Records) -> tuple[np.ndarray, np.ndarray]:
        C, gamma = float(self.learner.C), float(self.learner.margin)
        losses, best = np.maximum(0.0, gamma - r.margins), np.maximum(0.0, gamma - self.said(r))
        B = self.most("B", r.norms() ** 2)
        if C == np.inf:
            slack = -self.most("excess", gamma - self.said(r), -np.inf)
            allowed = B * self.squares - 2.0 * np.maximum(slack, 0.0) * self.total("l", losses)
            return self.total("l2", losses**2), np.where(slack >= -1e-12, allowed, np.inf)
        if self.learner.loss == "squared_hinge":
            allowed = (B + 0.5 / C) * self.squares + (1.0 + 2.0 * C * B) * self.total("best", best**2)
            return self.total("l2", losses**2), allowed
        allowed = np.maximum(B / gamma**2, 1.0 / (C * gamma)) * (self.squares + 2.0 * C * self.total("best", best))
        return self.total("M", r.margins <= 0.0), allowed


class _Multiplicative(Theorem):
    name = "PA paper, Theorem 4: Σ l² <= B/2 D - 2 (ε - ε*) Σ l for u without loss"

    def extend(self, r: Records) -> tuple[np.ndarray, np.ndarray]:
        learner = self.learner
        losses, slack = np.maximum(0.0, learner.margin - r.margins), -self.most("excess", learner.margin - self.said(r), -np.inf)
        rho = self.most("rho", (2.0 if learner.signed else 1.0) * learner.norm_bound * r.norms(np.inf))
        D = np.array([[entropy_of_shares(u / learner.norm_bound, learner.signed)] for u in self.U])
        allowed = rho**2 / 2.0 * D - 2.0 * np.maximum(slack, 0.0) * self.total("l", losses)
        return self.total("l2", losses**2), np.where(slack >= -1e-12, allowed, np.inf)


class _Potential(Theorem):
    name = "NAROW paper, Corollary 2: M + U <= L(u) + √(u'A_T u) √Q"

    def extend(self, r: Records) -> tuple[np.ndarray, np.ndarray]:
        learner = self.learner
        if isinstance(learner, NAROWClassifier):
            gain = np.divide(learner.b * r.chi - 1.0, r.chi, out=np.zeros(len(r.y)), where=learner.b * r.chi > 1.0)
        else:
            gain = np.full(len(r.y), 1.0 / learner.r)
        squares = self.said(r) ** 2 if learner.covariance == "full" else r.squares_with(self.U)
        first = self.squares / float(getattr(learner, "initial_variance", 1.0)) + self.total("A", gain * squares * r.updated)
        Q = self.total("Q", (r.spread + 2.0 * r.peeked + r.forgotten) * r.updated)
        return self.total("M", r.updated), self.loss(r) + np.sqrt(first) * np.sqrt(np.maximum(Q, 0.0))


class _AROW(Theorem):
    name = "AROW paper, Theorem 2: M <= √(r ||u||² + u'X u) √(log det(I + X/r) + U) + L(u) - U"

    def extend(self, r: Records) -> tuple[np.ndarray, np.ndarray]:
        own = float(self.learner.r)
        U = self.total("U", r.updated & (r.margins > 0.0))
        first = own * self.squares + self.total("X", self.said(r) ** 2 * r.updated)
        second = self.total("det", np.log1p(r.chi / own) * r.updated) + U
        return self.total("M", r.updated & (r.margins <= 0.0)), np.sqrt(first) * np.sqrt(second) + self.loss(r) - U


def risen(before: np.ndarray, sigma: np.ndarray) -> np.ndarray:
    """The rounds in which σ rose from a σ by which weights were other than those at the start."""
    return (before > 0.0) & (sigma > before)


class _DualAscent(Theorem):
    @property
    def name(self) -> str:  # type: ignore[override]
        return "the tutorial, parts II and III: Σ l(w_t) <= f(u) + Σ l(u) + Σ L_t²/(2σ_t)"

    def extend(self, r: Records) -> tuple[np.ndarray, np.ndarray]:
        learner = self.learner
        loss, margin = getattr(learner, "loss", "hinge"), float(getattr(learner, "margin", 1.0))
        euclidean, said = getattr(learner, "regularizer", "euclidean") == "euclidean", self.said(r)
        sigma, m, rose = r.sigma, r.margins, np.zeros(len(r.y), bool)
        if getattr(learner, "sigma", 0.0) == "auto":
            before = np.append(self.kept.get("sigma", [0.0]), sigma[:-1]) if len(sigma) else sigma
            self.kept["sigma"] = sigma[-1:] if len(sigma) else self.kept.get("sigma", [0.0])
            if euclidean:  # the weights of round t are those of its σ, which has seen ||x||
                m = m * np.divide(before, sigma, out=np.zeros(len(m)), where=sigma > 0.0)
            else:
                rose = risen(before, sigma)
        else:
            sigma = np.full(len(m), float(learner.sigma))
        if euclidean:
            f, L = self.squares / 2.0, r.norms()
        else:
            W = float(learner.norm_bound)
            f, L = np.array([[entropy_of_shares(u / W, bool(learner.signed))] for u in self.U]), W * r.norms(np.inf)
        paid, best, least = (
            np.maximum(0.0, margin - s) if loss == "hinge" else np.logaddexp(0.0, -s) for s in (m, said, L)
        )
        second = np.divide(L**2, 2.0 * sigma, out=np.zeros(len(m)), where=sigma > 0.0) + rose * (paid - least)
        return self.total("paid", paid), sigma * f + self.total("best", best) + self.total("L2", second)


class _GradientDescent(Theorem):
    name = "the tutorial, part V: Σ λ/2||w||² + l <= the same of u + G²/(2λ) (1 + log T)"

    def extend(self, r: Records) -> tuple[np.ndarray, np.ndarray]:
        alpha, n = float(self.learner.alpha), len(r.y)
        t = self.total("t", np.ones(n))
        # w = z/(alpha (t - 1)), and z moves by y x where m < 1: ||z||² follows from the scores.
        moved = r.margins < 1.0
        grown = np.where(moved, 2.0 * r.margins * alpha * (t - 1.0) + r.norms() ** 2, 0.0)
        after = self.total("z2", grown)
        weights = np.divide(after - grown, (alpha * (t - 1.0)) ** 2, out=np.zeros(n), where=t > 1.0)
        paid = self.total("paid", alpha / 2.0 * weights + np.maximum(0.0, 1.0 - r.margins))
        best = t * alpha / 2.0 * self.squares + self.total("best", np.maximum(0.0, 1.0 - self.said(r)))
        G = 2.0 * self.most("G", r.norms())
        return paid, best + G**2 / (2.0 * alpha) * (1.0 + np.log(np.maximum(t, 1.0)))


def theorem_of(learner: Any, who: str) -> type[Theorem]:
    """The theorem of a learner, or the reason why there is none."""
    reason, covariance = "", getattr(learner, "covariance", None)
    theorems: dict[type, type[Theorem]] = {
        PNormPerceptron: _PNorm, PassiveAggressiveClassifier: _PassiveAggressive,
        MultiplicativePassiveAggressiveClassifier: _Multiplicative, SecondOrderPerceptron: _Potential,
        NAROWClassifier: _Potential, AROWClassifier: _AROW, DualAscentClassifier: _DualAscent, FoReLClassifier: _DualAscent,
        OGDClassifier: _GradientDescent,
    }
    found = next((theorems[kind] for kind in type(learner).__mro__ if kind in theorems), None)
    if isinstance(learner, Perceptron):
        found = _FixedRate if learner.aggressive else _Perceptron
    if found is None:
        reason = "no theorem here speaks of its mistakes or losses"
    elif found is _AROW and covariance != "full":
        reason = "Theorem 2 is for the full covariance; no theorem speaks of the diagonal form's mistakes"
    elif found is _AROW and (learner.r1 is not None or learner.r2 is not None):
        reason = "Theorem 2 is for one r"
    elif found is _GradientDescent and learner.learning_rate != "strongly_convex":
        reason = "the bound is for learning_rate='strongly_convex'"
    else:
        own = {name: getattr(learner, name) for name in _constants(found, learner)}
        if found is _DualAscent:
            own = {name: value for name, value in own.items() if (name, value) != ("sigma", "auto")}  # whose sigma_t are recorded
        unclear = [name for name, value in own.items() if value is None or isinstance(value, str)]
        if unclear:
            name = unclear[0]
            reason = f"{name} must be a number, for the theorem's constants are its; {name}={own[name]!r} depends on the data"
    if reason:
        raise ValueError(f"{who}: learner must be one with a theorem, got {learner!r}: {reason}.")
    assert found is not None
    return found


_CONSTANTS: dict[type, tuple[str, ...]] = {
    _Perceptron: (), _FixedRate: ("eta0",), _PNorm: (), _PassiveAggressive: ("C", "margin"),
    _Multiplicative: ("margin", "norm_bound"), _Potential: ("r", "b", "initial_variance"), _AROW: ("r", "initial_variance"),
    _DualAscent: ("sigma", "margin", "norm_bound"), _GradientDescent: ("alpha",),
}


def _constants(theorem: type, learner: Any) -> list[str]:
    names = [name for name in _CONSTANTS[theorem] if hasattr(learner, name)]
    return [name for name in names if name != "norm_bound" or getattr(learner, "regularizer", "entropic") == "entropic"]


class Certificate:
    """What a learner paid along a stream, and what its theorem allowed, after every row: what `bounds.follow` gives with u.

    Attributes
    ----------
    learner : object
        As it is after the last row.
    theorem : str
    paid : ndarray of float64, shape (n,)
        Mistakes, or losses, whichever the theorem counts.
    allowed : ndarray of float64, shape (n,) or (n_competitors, n)
        What it allows for u. Infinite where it says nothing.
    u : ndarray of float64, shape (d,) or (n_competitors, d)
    """

    def __init__(self, learner: Any, theorem: str, paid: np.ndarray, allowed: np.ndarray, u: np.ndarray) -> None:
        self.learner, self.theorem, self.paid, self.allowed, self.u = learner, theorem, paid, allowed, u

    def __repr__(self) -> str:
        return f"Certificate({self.learner!r}, {len(self.paid)} rows)"


def summed(theorem: Theorem, chunks: Iterator[Records]) -> tuple[np.ndarray, np.ndarray]:
    """paid and allowed over all chunks."""
    found = [theorem.extend(records) for records in chunks]
    if not found:
        return np.zeros(0), np.zeros((len(theorem.U), 0))
    return np.concatenate([p for p, _ in found]).astype(float), np.concatenate([a for _, a in found], axis=1)


def good_competitor(theorem: type[Theorem], learner: Any, records: Records, last: np.ndarray) -> np.ndarray:
    """Of weights in hindsight, in many sizes, those for which the theorem allows least at the end.

    The directions: the learner's last weights, least squares with two ridges, and a support vector machine's by ten epochs; all
    on the rows that changed the model.
    """
    rows, y = records.X[records.updated], records.y[records.updated]
    dense = rows.toarray() if issparse(rows) else rows
    directions = [last]
    if len(y):
        machine = DualAscentClassifier(1.0, fit_intercept=False, max_iter=10, random_state=0, dtype=np.float64)
        if len(np.unique(y)) == 2:
            directions.append(machine.fit(rows, y).coef_[0])
        scale = float(np.mean((dense**2).sum(axis=1))) or 1.0
        for ridge in (1e-3, 1.0):
            d = dense.shape[1]
            if d <= 2000:
                directions.append(np.linalg.solve(dense.T @ dense + ridge * scale * np.eye(d), dense.T @ y))
    candidates = [0.0 * last]
    for u in directions:
        size = float(np.median(np.abs(dense @ u))) if len(y) else 0.0
        if size > 0.0:
            candidates += [u / size * factor for factor in (0.1, 0.3, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0)]
    U = np.array(candidates)
    if "norm_bound" in _constants(theorem, learner):
        W, total = float(learner.norm_bound), np.abs(U).sum(axis=1, keepdims=True)
        if learner.signed:
            U = np.concatenate([U, np.divide(U, total, out=0.0 * U, where=total > 0.0) * W * 0.999])
        else:
            mass = np.maximum(U, 0.0)
            total = mass.sum(axis=1, keepdims=True)
            U = np.divide(mass, total, out=np.full(U.shape, 1.0 / U.shape[1]), where=total > 0.0) * W
    allowed = theorem(learner, U).extend(records)[1]
    return U[int(np.argmin(allowed[:, -1]))] if allowed.shape[1] else U[0]
