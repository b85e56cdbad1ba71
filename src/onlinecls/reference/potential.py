"""The potential framework as printed: Orabona and Crammer (NIPS 2010), Fig. 1, Lemma 1 and Corollary 1.

    w_t = ∇f*_t(θ_t);   if l_t(w_t) > 0:  z_t = ∂l_t(w_t),  θ_{t+1} = θ_t - η_t z_t

for any convex loss l, any rates η_t, and functions f_t of four kinds, which may have seen x_t (not its label). Lemma 1, for any u
and λ > 0, over the rounds that changed θ:

    Σ η_t z_t.(w_t/λ - u)  <=  f_T(λu)/λ + 1/λ Σ [ η_t² ||z_t||²/(2β) + f*_t(θ_t) - f*_{t-1}(θ_t) ]
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, log, sqrt
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.optimize import bisect
from scipy.special import entr, expit, logsumexp, softmax

from .learners import Learner, State, add_precision, changed, times
from .rules import Stats


class Loss(NamedTuple):
    """A convex loss l of t, the margin y w.x or, for targets, the error y - w.x; and its (sub)derivative.

    least : min over t of c l(t) + αt, a function of α and c, which `LeaderLearner` needs.
    """

    value: Callable[[float], float]
    slope: Callable[[float], float]
    least: Callable[[float, float], float] = lambda alpha, c: -inf


LOSSES = {
    "hinge": Loss(lambda m: max(0.0, 1.0 - m), lambda m: -1.0 if m < 1.0 else 0.0, lambda a, c: a),
    "squared_hinge": Loss(
        lambda m: max(0.0, 1.0 - m) ** 2, lambda m: -2.0 * max(0.0, 1.0 - m), lambda a, c: a - a**2 / (4.0 * c)),
    "log_loss": Loss(
        lambda m: float(np.logaddexp(0.0, -m)), lambda m: -float(expit(-m)),
        lambda a, c: c * float(entr(a / c) + entr(1.0 - a / c))),
}


def insensitive(epsilon: float) -> Loss:
    """Return the loss [|e| - epsilon]+."""
    return Loss(
        lambda e: max(0.0, abs(e) - epsilon), lambda e: float(np.sign(e)) if abs(e) > epsilon else 0.0,
        lambda a, c: -epsilon * abs(a))


REGRESSION_LOSSES = {
    "absolute": insensitive(0.0),
    "squared": Loss(lambda e: e * e, lambda e: 2.0 * e, lambda a, c: -(a**2) / (4.0 * c)),
}


# --- f -------------------------------------------------------------------------------------------------------------------------


class SquaredNorm:
    """f(w) = σ/2 ||w||²:  w = θ/σ.  The base of the others, which are read in the same way."""

    beta: float = 1.0
    Sigma: Any = None
    state: ClassVar[State] = {"theta": (-1 / 2, 1 / 2)}  # as that of a learner

    def __init__(self, sigma: float = 1.0) -> None:
        self.sigma = self.beta = sigma

    def begin(self, d: int) -> SquaredNorm:
        """Return this function in d dimensions."""
        return self

    def seen(self, x: np.ndarray) -> Any:
        """Return f_t after the row x."""
        return self

    def value(self, u: np.ndarray) -> float:
        """Return f(u)."""
        return self.sigma * float(u @ u) / 2.0

    def conjugate(self, theta: np.ndarray) -> float:
        """Return f*(θ) = θ.w - f(w), w = ∇f*(θ)."""
        w = self.weights(theta)
        return float(theta @ w) - self.value(w)

    def weights(self, theta: np.ndarray) -> np.ndarray:
        """Return ∇f*(θ)."""
        return theta / self.sigma

    def dual_norm(self, z: np.ndarray) -> float:
        """Return the dual of the norm for which f is β-strongly convex."""
        return float(np.linalg.norm(z))


class PNorm(SquaredNorm):
    """f(w) = ||w||_q²/(2(q - 1)), 1/p + 1/q = 1, p >= 2:  w_i = (q - 1) sgn(θ_i) |θ_i|^(p-1) / ||θ||_p^(p-2).

    1-strongly convex for the q-norm, and with η = 1 the library's PNormPerceptron.
    """

    def __init__(self, p: float) -> None:
        self.p, self.q = p, p / (p - 1.0)

    def value(self, u: np.ndarray) -> float:
        return float(np.linalg.norm(u, self.q)) ** 2 / (2.0 * (self.q - 1.0))

    def weights(self, theta: np.ndarray) -> np.ndarray:
        norm = float(np.linalg.norm(theta, self.p))
        if norm == 0.0:
            return np.zeros(len(theta))
        return (self.q - 1.0) * norm * np.sign(theta) * (np.abs(theta) / norm) ** (self.p - 1.0)

    def dual_norm(self, z: np.ndarray) -> float:
        return float(np.linalg.norm(z, self.p))


class Entropic(SquaredNorm):
    """f(w) = σ Σ p log(n p) over the shares p of w among n entries of a simplex of sum W.

    w = W p, or, signed, the differences of 2d entries. w_j = W e^(Wθ_j/σ)/Z, signed W sinh(Wθ_j/σ)/Σ cosh; β = σ for
    the norm ||z|| = W max |z|.
    """

    def __init__(self, sigma: float = 1.0, norm_bound: float = 1.0, signed: bool = True) -> None:
        super().__init__(sigma)
        self.W, self.signed = norm_bound, signed

    def entries(self, theta: np.ndarray) -> np.ndarray:
        """Return the exponents Wθ/σ of the simplex's entries, those of both signs if `signed`."""
        exponents = self.W * theta / self.sigma
        return np.concatenate([exponents, -exponents]) if self.signed else exponents

    def value(self, u: np.ndarray) -> float:
        """Return the least f over p >= 0 that sum to 1 and give u; infinite if there are none.

        signed: p+ - p- = u/W, n = 2d, and the rest, 1 - ||u/W||_1, goes to pairs of sums √(u²/W² + 4c²). Else p = u/W, n = d.
        """
        shares, d = u / self.W, len(u)
        if not self.signed:
            if shares.min() < 0.0 or abs(shares.sum() - 1.0) > 1e-9:
                return inf
            ratio = d * shares[shares > 0.0]  # (Σ p log(n p) - p + 1/n is the same, and keeps its digits where p is near 1/n)
            return self.sigma * float((np.sum(ratio * np.log(ratio) - (ratio - 1.0)) + d - len(ratio)) / d)
        if np.abs(shares).sum() > 1.0 + 1e-9:
            return inf
        low, high = 0.0, 1.0  # p+ p- = c²: the sum of the pairs grows with c, by halving
        for _ in range(200):
            c = (low + high) / 2
            low, high = (c, high) if np.sqrt(shares**2 + 4 * c**2).sum() < 1.0 else (low, c)
        if not low:
            p = np.abs(shares[shares != 0.0])
            return self.sigma * float(np.sum(p * np.log(2 * d * p)))
        a = np.arcsinh(shares / (2 * low))  # p± = c e^±a: Σ p log(n p) is Σ u/W a + log(n c), and 1/(n c) the mean of cosh a
        return self.sigma * float(shares @ a - np.log1p(2.0 * np.mean(np.sinh(a / 2.0) ** 2)))

    def conjugate(self, theta: np.ndarray) -> float:
        """Return f*(θ) = σ log of the mean of e^(Wθ/σ) over the entries."""
        exponents = self.entries(theta)
        return self.sigma * float(logsumexp(exponents) - log(len(exponents)))

    def weights(self, theta: np.ndarray) -> np.ndarray:
        w = self.W * softmax(self.entries(theta))
        return w[: len(theta)] - w[len(theta) :] if self.signed else w

    def dual_norm(self, z: np.ndarray) -> float:
        return self.W * float(np.abs(z).max())


class Quadratic(SquaredNorm):
    """f_t(w) = w'A_t w/2, A_t = Σ_t^-1 = A_{t-1} + x x'/r_t, full or diagonal; β = 1 for the norm √(w'A_t w).

    r : of the second-order Perceptron, NAROW 4.2. b : of NAROW, 5: 1/r_t = (bχ - 1)/χ, χ = x'Σ_{t-1}x, or 0 where bχ <= 1.
    """

    state: ClassVar[State] = {"theta": (-1, 1), "Sigma": (1 / 2, 1 / 2)}  # (w = Σθ)

    def __init__(
        self, r: float | None = None, b: float | None = None, covariance: str = "diagonal", initial_variance: float = 1.0
    ) -> None:
        if (r is None) == (b is None):
            raise ValueError(f"Quadratic: one of r and b must be given, got r={r!r} and b={b!r}.")
        self.r, self.b, self.covariance, self.variance = r, b, covariance, initial_variance

    def begin(self, d: int) -> Quadratic:
        return changed(self, Sigma=self.variance * (np.ones(d) if self.covariance == "diagonal" else np.eye(d)))

    def seen(self, x: np.ndarray) -> Quadratic:
        chi = float(x @ times(self.Sigma, x))
        gain = 1.0 / self.r if self.r else max(float(self.b or 0.0) * chi - 1.0, 0.0) / chi
        return changed(self, Sigma=add_precision(self.Sigma, gain, x))

    def value(self, u: np.ndarray) -> float:
        return float(u @ (u / self.Sigma if self.Sigma.ndim == 1 else np.linalg.solve(self.Sigma, u))) / 2.0

    def conjugate(self, theta: np.ndarray) -> float:
        return float(theta @ self.weights(theta)) / 2.0

    def weights(self, theta: np.ndarray) -> np.ndarray:
        return times(self.Sigma, theta)

    def dual_norm(self, z: np.ndarray) -> float:
        return sqrt(float(z @ times(self.Sigma, z)))


# --- η -------------------------------------------------------------------------------------------------------------------------


def conservative(s: Stats, z: np.ndarray) -> float:
    """Return η_t = 1 on mistakes, m <= 0, else 0: the conservative form of an algorithm."""
    return 1.0 if s.margin <= 0.0 else 0.0


def aggressive_p_norm_rate(p: float, radius: float) -> Callable[[Stats, np.ndarray], float]:
    """Return the rate of NAROW 4.1: 1 on mistakes, else clip((R²/2 - m)/||x||_p², 0, 1), R = radius."""
    step = lambda m, z: float(np.clip((radius**2 / 2.0 - m) / np.linalg.norm(z, p) ** 2, 0.0, 1.0))  # noqa: E731
    return lambda s, z: 1.0 if s.margin <= 0.0 else step(s.margin, z)


def best_r(s: float, M: float, R: float, d: int) -> float:
    """Return NAROW 4.3's r, diagonal form: s M R²/(M R² - 2sd) if s < M R²/(2d), else inf (Perceptron).

    s : the largest number of rows with the same informative feature; M : the (expected) number of mistakes;
    R : the largest ||x||; d : the number of features.
    """
    spare = M * R**2 - 2.0 * s * d
    return s * M * R**2 / spare if spare > 0.0 else inf


class PotentialLearner(Learner):
    """Learner of Fig. 1 in R^d that sums both sides of Lemma 1 (`lemma_1`).

    f : as above. loss : a `Loss`. eta : a number, or a function of Stats (margin, loss, ||x||², ||x||*² by f_t) and the signed
    row; 0 means no update. The weight c of a row multiplies η.
    """

    theta: Any
    state: ClassVar[State] = SquaredNorm.state
    joins_as_none = True

    def __init__(self, d: int, f: Any, loss: Loss, eta: float | Callable[[Stats, np.ndarray], float] = 1.0) -> None:
        super().__init__(d)
        self.f, self.loss, self.eta, self.state = f.begin(d), loss, eta, f.state  # type: ignore[misc]
        self.paid = self.added = 0.0  # Σ ηz.w, and the sum on the right side

    @property
    def Sigma(self) -> Any:
        """Σ of a quadratic f, else None."""
        return self.f.Sigma

    @Sigma.setter
    def Sigma(self, Sigma: np.ndarray) -> None:
        self.f = changed(self.f, Sigma=Sigma)

    @property
    def w(self) -> np.ndarray:
        """The weights of the next round."""
        return self.f.weights(self.theta)

    def update(self, z: np.ndarray, c: float, y: float | None = None, epsilon: float = 0.0) -> bool:
        """Learn the loss of t, the margin w.z or, for a target, the error y - w.z."""
        z, f = z if y is None else -z, self.f.seen(z)
        w = f.weights(self.theta)
        t = float(w @ z) + (y or 0.0)
        s = Stats(t if y is None else -abs(t), self.loss.value(t), float(z @ z), f.dual_norm(z) ** 2, c)
        rate = self.eta(s, z) if callable(self.eta) else self.eta
        step = (c * rate * self.loss.slope(t) if s.loss > 0.0 else 0.0) * z
        if not step.any():
            return False
        self.paid += float(step @ w)
        self.added += f.dual_norm(step) ** 2 / (2.0 * f.beta) + f.conjugate(self.theta) - self.f.conjugate(self.theta)
        self.f, self.theta = f, self.theta - step
        return True

    def lemma_1(self, u: Any, lam: float = 1.0) -> tuple[float, float]:
        """Return both sides of Lemma 1 so far, (paid, allowed), for a competitor u."""
        u = np.asarray(u, dtype=np.float64)
        return self.paid / lam + float(self.theta @ u), (self.f.value(lam * u) + self.added) / lam  # (θ is the sum of all -ηz)


class LeaderLearner(PotentialLearner):
    """w_t = argmin f(w) + Σ_{i <= t} c_i l_i(w), for any fixed f above (not Quadratic), by coordinate ascent on the dual.

    loss : a name of LOSSES or REGRESSION_LOSSES. A row's α moves θ by αz; it is best, given all others, where α = -c l'(t), and
    lies between 0 and the -c l'(t) of α = 0. Sweeps go on until the duality gap is at most gap_tol. It is the tutorial's FoReL
    (aggressive dual ascent schemes II): with the hinge loss the support vector machine of all rows so far.

    Examples
    --------
    >>> learner = LeaderLearner(2, SquaredNorm(0.5), "hinge", gap_tol=1e-9)
    >>> for z in ([2.0, 0.0], [0.0, -1.0], [1.0, 1.0]):  # z = y x
    ...     _ = learner.step(np.array(z), 1.0)
    >>> learner.w.round(4).tolist()
    [1.5, -0.5]
    """

    def __init__(self, d: int, f: Any, loss: str, gap_tol: float = 1e-6) -> None:
        super().__init__(d, f, {**LOSSES, **REGRESSION_LOSSES}[loss])
        self.gap_tol, self.gap = gap_tol, 0.0
        self.rows: list[tuple[np.ndarray, float, float]] = []  # z, y, c: t = y + w.z
        self.alpha: list[float] = []

    def update(self, z: np.ndarray, c: float, y: float | None = None, epsilon: float = 0.0) -> bool:
        """Add a row, and maximise the dual."""
        before = self.theta
        self.rows.append((z, 0.0, c) if y is None else (-z, y, c))
        self.alpha.append(0.0)
        for _ in range(10_000):
            self.gap = self.duality_gap()
            if self.gap <= self.gap_tol:
                break
            for i in range(len(self.rows)):
                self.ascend(i)
        return bool(np.any(self.theta != before))

    def ascend(self, i: int) -> None:
        """Maximise the dual in the α of row i."""
        z, y, c = self.rows[i]
        rest = self.theta - self.alpha[i] * z
        slope = lambda alpha: -c * self.loss.slope(y + float(self.f.weights(rest + alpha * z) @ z)) - alpha  # noqa: E731
        best = slope(0.0)
        if slope(best) * best < 0.0:
            best = bisect(slope, 0.0, best, xtol=1e-15 * abs(best), maxiter=200)
        self.alpha[i], self.theta = best, rest + best * z

    def duality_gap(self) -> float:
        """Compute Σ [c l(t) - min (c l + αt) + αy] + w.θ, which is P(w) - D(α), as f(w) + f*(θ) = w.θ."""
        w, gap = self.w, float(self.w @ self.theta)
        for (z, y, c), alpha in zip(self.rows, self.alpha, strict=True):
            gap += c * self.loss.value(y + float(w @ z)) - self.loss.least(alpha, c) + alpha * y
        return gap
