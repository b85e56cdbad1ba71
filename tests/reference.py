"""The oracle: the slow, readable NumPy twin of every algorithm.  float64, dense, one row at a time, nothing optimised.

A learner lives in R^d and knows nothing of labels.  It is shown signed examples z = y x and wants the margin m = w.z large:

    learner = REFERENCE["arow"](d, r=0.1)
    learner.step(z, c)          # c > 0 is the row's weight c_t; True when the model changed
    learner.w, learner.Sigma    # the vector that predicts; the covariance (None for first-order algorithms)

A regressor is shown rows and targets instead, ``step(x, y, c)``, and wants w.x near y: REGRESSION, run_regression.

Everything else of that kind is to be had from here, too, whichever file it is in:

    here                 first and second order, p-norm, multiplicative: REFERENCE, REGRESSION, ONE_CLASS; of several classes:
                         `Model`, MODELS; over a stream: run_binary, run_multiclass, run_stream, run_regression, run_one_class
    reference_dual.py    dual ascent and its relatives: DualAscent, DualAscentRegression, FoReL, OGD; in MODELS and REGRESSION
    reference_kernel.py  learners with a kernel: Dual, over a Gram matrix, and `features`, vectors for one

Binary is one such learner on z = y x.  Crammer-Singer multiclass is the same learner on z = phi(x, y) - phi(x, r), where
phi(x, y) puts x in block y and r is the top wrong class, so ||z||^2 = 2||x||^2 and v = v_y + v_r need no code of their own.

Parameters carry the names of the estimators' constructors.  Those with a default here have it fixed in DESIGN.md; the others must
be given, so that no test leans on a default that tuning may move.  Meant for ordinary data: of the rule that a finite input never
makes a non-finite model, only the part that CW needs on noisy labels is here (see ConfidenceWeighted).

Symbols: m margin, l = max(0, 1 - m) loss, v (NAROW: chi) = z' Sigma z, tau the step along z or Sigma z, beta the added precision.
"""

from abc import ABC, abstractmethod
from bisect import bisect
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from math import sqrt
from statistics import NormalDist

import numpy as np

REFERENCE = {}


def twin_of(name):
    """Enter a learner of signed examples in REFERENCE, by its name in the registry."""
    return lambda learner: REFERENCE.setdefault(name, learner)


# ---------------------------------------------------------------------------------------------------------------------
# Learners in R^d
# ---------------------------------------------------------------------------------------------------------------------


@dataclass(kw_only=True)
class Learner(ABC):
    """What all algorithms share.  Annotated fields are the parameters."""

    d: int = field(kw_only=False)

    # Whether blocks of z that are 0 leave the others' w alone: if not, Crammer-Singer's learner has all classes' blocks.
    separable = True

    # The arrays of the state, with their factors for the (smaller, larger) label when a third class splits them (Model.side).
    state = {"w": (-1 / 2, 1 / 2)}
    Sigma = None

    def __post_init__(self):
        self.t = 0  # rows consumed so far; the runners advance it after each row
        for name in self.state:
            setattr(self, name, np.zeros(self.d))

    def step(self, z, c=1.0):
        """Learn from z with weight c > 0.  True when the model changed; a zero row never changes it."""
        return bool(np.any(z)) and self.update(z, c)

    def split(self, multi_class):
        """The factors by which the state splits, so that w becomes -w/2 and w/2."""
        return self.state

    @abstractmethod
    def update(self, z, c):
        """The algorithm, for z != 0."""


@twin_of("perceptron")
@dataclass(kw_only=True)
class Perceptron(Learner):
    """m <= 0:  w += eta z.  Tutorial III; NAROW 2."""

    eta0: float = 1.0

    def unsatisfied(self, m):
        return m <= 0

    def update(self, z, c):
        if not self.unsatisfied(self.w @ z):
            return False
        self.w = self.w + self.eta0 * c * z
        return True


@twin_of("aggressive_perceptron")
class AggressivePerceptron(Perceptron):
    """m < 1:  w += eta z.  Tutorial III, DA1."""

    def unsatisfied(self, m):
        return m < 1


@twin_of("p_norm")
@dataclass(kw_only=True)
class PNorm(Learner):
    """m <= 0:  theta += z,  w_i = (q - 1) sgn(theta_i) |theta_i|^(p-1) / ||theta||_p^(p-2).  NAROW 4.1."""

    p: float
    radius: float = sqrt(2)

    state = {"theta": (-1 / 2, 1 / 2)}
    separable = False

    @property
    def w(self):
        norm = np.linalg.norm(self.theta, self.p)
        if norm == 0:
            return np.zeros(len(self.theta))
        q = self.p / (self.p - 1)
        return (q - 1) * norm * np.sign(self.theta) * (np.abs(self.theta) / norm) ** (self.p - 1)

    def split(self, multi_class):
        """Joint, the two halves of theta have a norm 2^(1/p) times that of one of them; w is homogeneous."""
        share = 1 / 2 if multi_class == "ovr" else 2 ** ((self.p - 2) / self.p) / 2
        return {"theta": (-share, share)}

    def eta(self, m, z):
        return 1.0 if m <= 0 else 0.0

    def update(self, z, c):
        eta = self.eta(self.w @ z, z)
        if eta == 0:
            return False
        self.theta = self.theta + eta * c * z
        return True


@twin_of("aggressive_p_norm")
class AggressivePNorm(PNorm):
    """0 < m < 1 as well:  eta = clip((R^2/2 - m) / ||z||_p^2, 0, 1).  NAROW 4.1."""

    def eta(self, m, z):
        if not 0 < m < 1:
            return super().eta(m, z)
        return float(np.clip((self.radius**2 / 2 - m) / np.linalg.norm(z, self.p) ** 2, 0, 1))


@dataclass(kw_only=True)
class PassiveAggressive(Learner):
    """m < 1:  w += tau z.  Crammer et al. (NIPS 2003), 3.  C = inf is PA in both variants: tau = l / ||z||^2."""

    C: float = 1.0

    def update(self, z, c):
        loss = max(0.0, 1.0 - self.w @ z)
        if loss == 0:
            return False
        self.w = self.w + self.tau(loss, z @ z, self.C * c) * z
        return True


@twin_of("pa1")
class PA1(PassiveAggressive):
    """PA-I.  tau = min(C, l / ||z||^2).  Tutorial III; NAROW 4.1."""

    def tau(self, loss, q, C):
        return min(C, loss / q)


@twin_of("pa2")
class PA2(PassiveAggressive):
    """PA-II.  tau = l / (||z||^2 + 1/(2C)).  Crammer et al. (NIPS 2003), 5, whose gamma is 1/(2C)."""

    def tau(self, loss, q, C):
        return loss / (q + 1 / (2 * C))


class Simplex:
    """Weights of the sum W = norm_bound, w_j proportional to exp(theta_j).  Crammer et al. (NIPS 2003), 6.

    signed: the same on the 2d features z and -z, with exponents theta and -theta (EG+-), w the differences of their weights.
    With v on those features, w_j <- w_j exp(tau v_j) / Z is theta += tau v.
    """

    @property
    def simplex(self):
        """The paper's w_t, of sum 1."""
        exponents = np.concatenate([self.theta, -self.theta]) if self.signed else self.theta
        weights = np.exp(exponents - exponents.max())
        return weights / weights.sum()

    @property
    def w(self):
        weights = self.norm_bound * self.simplex
        return weights[: self.d] - weights[self.d :] if self.signed else weights

    def features(self, z):
        """z as the simplex sees it."""
        return self.norm_bound * (np.concatenate([z, -z]) if self.signed else z)


@twin_of("multiplicative_pa")
@dataclass(kw_only=True)
class MultiplicativePassiveAggressive(Simplex, Learner):
    """l = [margin - m]+,  w_j <- w_j exp(tau v_j) / Z,  tau = 4 l / rho^2.  Crammer et al. (NIPS 2003), 6.

    rho is how far the parts of v (and 0) lie apart: the paper's ||x||_inf for x >= 0.  The constraint is hard, so a weight scales
    the step by min(1, c).
    """

    margin: float
    signed: bool = True
    norm_bound: float = 1.0

    state = {"theta": (-1, 1)}  # whole: what the two classes' own learners would have
    separable = False

    def move(self, loss, z, c):
        if loss <= 0:
            return False
        v = self.features(z)
        rho = max(v.max(), 0) - min(v.min(), 0)
        tau = min(1.0, c) * 4 * loss / rho**2
        self.theta = self.theta + tau * v[: self.d]
        return True

    def update(self, z, c):
        return self.move(self.margin - self.w @ z, z, c)


def blocks(Sigma, z):
    """The full blocks of Sigma, (d, d) or k of them one below the other, each with its part of z."""
    d = Sigma.shape[1]
    return zip(Sigma.reshape(-1, d, d), z.reshape(-1, d), strict=True)


def times(Sigma, z):
    """Sigma z."""
    return Sigma * z if Sigma.ndim == 1 else np.concatenate([S @ x for S, x in blocks(Sigma, z)])


def add_precision(Sigma, beta, z):
    """Sigma after Sigma^-1 += beta z z': its diagonal form, or the full form on each class's own block."""
    if Sigma.ndim == 1:
        return Sigma / (1 + beta * z**2 * Sigma)
    return np.concatenate([np.linalg.inv(np.linalg.inv(S) + beta * np.outer(x, x)) for S, x in blocks(Sigma, z)])


@dataclass(kw_only=True)
class SecondOrder(Learner):
    """Keeps a covariance Sigma: (d,) when diagonal, (d, d) when full."""

    covariance: str = "diagonal"

    initial_variance = 1.0
    state = {"w": (-1 / 2, 1 / 2), "Sigma": (1 / 2, 1 / 2)}

    def __post_init__(self):
        super().__post_init__()
        self.Sigma = self.initial_variance * {"diagonal": np.ones(self.d), "full": np.eye(self.d)}[self.covariance]


@twin_of("arow")
@dataclass(kw_only=True)
class AROW(SecondOrder):
    """m < 1:  w += l / (v + r) Sigma z,  Sigma^-1 += z z' / r.  Crammer, Kulesza, Dredze (NIPS 2009), eqs. 7-9."""

    r: float

    def update(self, z, c):
        loss = max(0.0, 1.0 - self.w @ z)
        if loss == 0:
            return False
        r = self.r / c
        v = z @ times(self.Sigma, z)
        self.w = self.w + loss / (v + r) * times(self.Sigma, z)
        self.Sigma = add_precision(self.Sigma, 1 / r, z)
        return True


@dataclass(kw_only=True)
class ConfidenceWeighted(SecondOrder):
    """alpha > 0:  w += alpha Sigma z,  Sigma^-1 += beta z z',  with phi = Phi^-1(eta).

    The constraint is hard, so a weight scales the step and the added precision by min(1, c).

    On noisy labels the variances fall to 0 geometrically.  Two limits, set by the kernel's dtype, keep the model finite: Sigma_i
    stays at or above `floor` (diagonal form), and a step whose scalars would pass `largest` is left out.
    """

    eta: float
    initial_variance: float = 1.0
    floor: float = float(np.finfo(np.float64).tiny / np.finfo(np.float64).eps)
    largest: float = float(np.finfo(np.float64).max / 4)

    @property
    def phi(self):
        return NormalDist().inv_cdf(self.eta)

    def update(self, z, c):
        m = float(self.w @ z)
        v = float(z @ times(self.Sigma, z))
        alpha = self.alpha(m, v) if v > 0 else 0.0
        if alpha <= 0:
            return False
        return self.move(z, min(1.0, c) * alpha, min(1.0, c) * self.beta(alpha, v))

    def move(self, z, tau, beta):
        if max(tau, beta, beta * float(np.max(z**2))) > self.largest:
            return False
        self.w = self.w + tau * times(self.Sigma, z)
        self.Sigma = add_precision(self.Sigma, beta, z)
        if self.Sigma.ndim == 1:
            self.Sigma = np.maximum(self.Sigma, self.floor)
        return True


@twin_of("cw_stdev")
class CWStdev(ConfidenceWeighted):
    """CW, standard deviation form.  Crammer, Dredze, Pereira (NIPS 2008): exact convex confidence-weighted learning."""

    def alpha(self, m, v):
        phi = self.phi
        psi = 1 + phi**2 / 2
        zeta = 1 + phi**2
        return (-m * psi + sqrt(m**2 * phi**4 / 4 + v * phi**2 * zeta)) / (v * zeta)

    def beta(self, alpha, v):
        # As printed, sqrt(u) = (-g + sqrt(g^2 + 4v)) / 2, which cancels to 0 when v << g^2.  This is the same number.
        g = alpha * v * self.phi
        sqrt_u = 2 * v / (g + sqrt(g**2 + 4 * v))
        return alpha * self.phi / sqrt_u


@dataclass(kw_only=True)
class SoftConfidenceWeighted(CWStdev):
    """phi sqrt(v) > m:  CW's step with an alpha that C bounds.  Wang, Zhao, Hoi (ICML 2012).  A weight multiplies C."""

    C: float = 1.0

    def update(self, z, c):
        m = float(self.w @ z)
        v = float(z @ times(self.Sigma, z))
        if not self.phi * sqrt(v) > m:
            return False
        alpha = self.soft_alpha(m, v, self.C * c)
        return alpha > 0 and self.move(z, alpha, self.beta(alpha, v))


@twin_of("scw1")
class SCW1(SoftConfidenceWeighted):
    """SCW-I: a linear penalty.  Proposition 1."""

    def soft_alpha(self, m, v, C):
        return min(C, max(0.0, self.alpha(m, v)))


@twin_of("scw2")
class SCW2(SoftConfidenceWeighted):
    """SCW-II: a squared penalty.  Proposition 2 (LIBOL has n * 2 where n^2 is meant)."""

    def soft_alpha(self, m, v, C):
        phi = self.phi
        n = v + 1 / (2 * C)
        gamma = phi * sqrt(phi**2 * m**2 * v**2 + 4 * n * v * (n + v * phi**2))
        return max(0.0, (-(2 * m * n + phi**2 * m * v) + gamma) / (2 * (n**2 + n * v * phi**2)))


@twin_of("cw_variance")
class CWVariance(ConfidenceWeighted):
    """CW, variance form.  Dredze, Crammer, Pereira (ICML 2008): confidence-weighted linear classification."""

    def alpha(self, m, v):
        phi = self.phi
        b = 1 + 2 * phi * m
        return (-b + sqrt(b**2 - 8 * phi * (m - phi * v))) / (4 * phi * v)

    def beta(self, alpha, v):
        return 2 * alpha * self.phi


@dataclass(kw_only=True)
class Potential(SecondOrder):
    """The potential framework with f_t(w) = w' Sigma_t^-1 w / 2.  Orabona, Crammer (NIPS 2010), Fig. 1.

    The margin is a peeked one: m' = z' Sigma_t theta, where Sigma_t already holds z.  When it is not satisfied, Sigma_t is kept
    and theta += c z; otherwise neither changes.  The weight c is the paper's eta_t and enters theta alone.
    """

    initial_variance: float = 1.0
    state = {"theta": (-1, 1), "Sigma": (1 / 2, 1 / 2)}  # w = Sigma theta, so that W = (-w/2, +w/2) here too

    @property
    def w(self):
        return times(self.Sigma, self.theta)

    def update(self, z, c):
        chi = z @ times(self.Sigma, z)
        Sigma_t = add_precision(self.Sigma, self.beta(chi), z)
        m_peeked = z @ times(Sigma_t, self.theta)
        if not self.unsatisfied(m_peeked, chi):
            return False
        self.Sigma = Sigma_t
        self.theta = self.theta + c * z
        return True


@twin_of("sop")
@dataclass(kw_only=True)
class SecondOrderPerceptron(Potential):
    """m' <= 0:  theta += z,  Sigma^-1 += z z' / r.  NAROW 4.2."""

    r: float

    def beta(self, chi):
        return 1 / self.r

    def unsatisfied(self, m_peeked, chi):
        return m_peeked <= 0


@twin_of("aggressive_sop")
class AggressiveSecondOrderPerceptron(SecondOrderPerceptron):
    """m' < 1:  theta += z,  Sigma^-1 += z z' / r.  NAROW Fig. 1, 4.2, 4.3."""

    def unsatisfied(self, m_peeked, chi):
        return m_peeked < 1


@twin_of("narow")
@dataclass(kw_only=True)
class NAROW(Potential):
    """m' < 1 and chi > 0:  theta += z,  and only if b chi > 1:  Sigma^-1 += z z' (b chi - 1) / chi.  NAROW 5."""

    b: float

    def beta(self, chi):
        return (self.b * chi - 1) / chi if self.b * chi > 1 else 0.0  # 1/r_t; the branch r_t = inf adds no precision

    def unsatisfied(self, m_peeked, chi):
        return m_peeked < 1 and chi > 0


@dataclass(kw_only=True)
class AdaGrad(Learner):
    """m < 1:  g = -c z,  G += g^2.  Duchi, Hazan, Singer (COLT 2010), which is NAROW's baseline [9]."""

    eta0: float
    delta: float

    def update(self, z, c):
        if self.w @ z >= 1:
            return False
        g = -c * z
        self.G = self.G + g**2
        self.descend(g)
        return True

    def scaled(self, a):
        """eta a_i / (delta + sqrt(G_i)), and 0 where a_i = 0, so that delta may be 0."""
        return np.divide(self.eta0 * a, self.delta + np.sqrt(self.G), out=np.zeros_like(a), where=a != 0)


@twin_of("adagrad_md")
class AdaGradMD(AdaGrad):
    """Mirror descent:  w_i -= eta g_i / (delta + sqrt(G_i))."""

    state = {"w": (-1 / 2, 1 / 2), "G": (1, 1)}

    def descend(self, g):
        self.w = self.w - self.scaled(g)


@twin_of("adagrad_da")
@dataclass(kw_only=True)
class AdaGradDA(AdaGrad):
    """Dual averaging:  w_i = eta soft(z_i, l1 t) / (delta + sqrt(G_i)),  z = -(the sum of all g),  t counting every row."""

    l1: float = 0.0

    state = {"z": (-1 / 2, 1 / 2), "G": (1, 1)}

    @property
    def w(self):
        soft = np.sign(self.z) * np.maximum(0.0, np.abs(self.z) - self.l1 * self.t)
        return self.scaled(soft)

    def descend(self, g):
        self.z = self.z - g


# ---------------------------------------------------------------------------------------------------------------------
# Regressors in R^d
# ---------------------------------------------------------------------------------------------------------------------


class Regressor:
    def step(self, x, y, c=1.0):
        """Learn the target y of x with weight c > 0.  True when the model changed; a zero row never changes it."""
        return bool(np.any(x)) and self.update(x, y, c)


@dataclass(kw_only=True)
class PassiveAggressiveRegression(Regressor, PassiveAggressive):
    """l = [|y - w.x| - epsilon]+,  w += sgn(y - w.x) tau x.  Crammer et al. (NIPS 2003), 2 and 3."""

    epsilon: float

    def update(self, x, y, c):
        y_hat = self.w @ x
        loss = max(0.0, abs(y - y_hat) - self.epsilon)
        if loss == 0:
            return False
        self.w = self.w + np.sign(y - y_hat) * self.tau(loss, x @ x, self.C * c) * x
        return True


class PA1Regression(PassiveAggressiveRegression):
    tau = PA1.tau


class PA2Regression(PassiveAggressiveRegression):
    tau = PA2.tau


@dataclass(kw_only=True)
class MultiplicativePassiveAggressiveRegression(Regressor, MultiplicativePassiveAggressive):
    """l = [|y - w.x| - epsilon]+,  v = sgn(y - w.x) x.  Crammer et al. (NIPS 2003), 6."""

    epsilon: float
    margin: float = 0.0

    def update(self, x, y, c):
        y_hat = self.w @ x
        return self.move(abs(y - y_hat) - self.epsilon, np.sign(y - y_hat) * x, c)


@dataclass(kw_only=True)
class RecursiveLeastSquares(Regressor, SecondOrder):
    """w += (y - w.x) / (v + r) Sigma x,  Sigma^-1 += x x' / r,  on every row.  AROW (NIPS 2009), 7."""

    r: float

    def update(self, x, y, c):
        r = self.r / c
        v = x @ times(self.Sigma, x)
        self.w = self.w + (y - self.w @ x) / (v + r) * times(self.Sigma, x)
        self.Sigma = add_precision(self.Sigma, 1 / r, x)
        return True


# ---------------------------------------------------------------------------------------------------------------------
# One class: a centre in R^d
# ---------------------------------------------------------------------------------------------------------------------


@dataclass(kw_only=True)
class PassiveAggressiveOneClass:
    """w_1 = the first row.  l = [||x - w|| - epsilon]+,  w += l (x - w) / ||x - w||.  Crammer et al. (NIPS 2003), 2 and 3.

    The constraint is hard, so a weight scales the step by min(1, c).
    """

    d: int = field(kw_only=False)
    epsilon: float

    def __post_init__(self):
        self.w, self.t = None, 0

    def step(self, x, c=1.0):
        """Learn x with weight c > 0.  True when the centre moved (the first row makes it)."""
        if self.w is None:
            self.w = x
            return False
        distance = np.linalg.norm(x - self.w)
        loss = max(0.0, distance - self.epsilon)
        if loss == 0:
            return False
        self.w = self.w + min(1.0, c) * loss * (x - self.w) / distance
        return True


@dataclass(kw_only=True)
class MultiplicativePassiveAggressiveOneClass(Simplex):
    """w_1 uniform.  l = [||x - w|| - epsilon]+,  v = (x - w) / ||x - w||,  w_j <- w_j exp(tau v_j) / Z.

    tau = l / (8 ||v||_inf^2).  Crammer et al. (NIPS 2003), 6.  The constraint is hard, so a weight scales the step by min(1, c).
    """

    d: int = field(kw_only=False)
    epsilon: float
    signed: bool = True
    norm_bound: float = 1.0

    def __post_init__(self):
        self.theta, self.t = np.zeros(self.d), 0

    def step(self, x, c=1.0):
        distance = np.linalg.norm(x - self.w)
        loss = max(0.0, distance - self.epsilon)
        if loss == 0:
            return False
        v = self.features((x - self.w) / distance)
        tau = min(1.0, c) * loss / (8 * np.abs(v).max() ** 2)
        self.theta = self.theta + tau * v[: self.d]
        return True


ONE_CLASS = {
    "pa_one_class": PassiveAggressiveOneClass,
    "multiplicative_pa_one_class": MultiplicativePassiveAggressiveOneClass,
}

REGRESSION = {
    "pa1_regression": PA1Regression,
    "pa2_regression": PA2Regression,
    "arow_regression": RecursiveLeastSquares,
    "multiplicative_pa_regression": MultiplicativePassiveAggressiveRegression,
}


# ---------------------------------------------------------------------------------------------------------------------
# From labels to signed examples
# ---------------------------------------------------------------------------------------------------------------------


class Model:
    """k classes, coded 0..k-1 in the order of their labels: one vector for k <= 2, one a class from k = 3 on."""

    def __init__(self, make, d, k, multi_class="crammer_singer"):
        self.make, self.d, self.k, self.multi_class = make, d, k, multi_class
        self.learners = [make(d) for _ in range(k if k > 2 else 1)]
        self.t = self.n_mistakes = self.n_updates = 0

    @property
    def W(self):
        if self.k > 2 and self.multi_class == "crammer_singer" and not self.learners[0].separable:
            return self.joint(self.learners).w.reshape(self.k, -1)
        return np.stack([learner.w for learner in self.learners])

    @staticmethod
    def joint(learners):
        """One learner of the blocks of several."""
        joint = copy(learners[0])
        for name in joint.state:
            setattr(joint, name, np.concatenate([getattr(learner, name) for learner in learners]))
        joint.d = sum(learner.d for learner in learners)
        return joint

    @property
    def Sigma(self):
        """(k, d), or (k, d, d) for full covariance, or None; k = 1 when one vector serves both classes."""
        return None if self.learners[0].Sigma is None else np.stack([learner.Sigma for learner in self.learners])

    def predict(self, x):
        scores = self.W @ x
        return int(self.k == 2 and scores[0] > 0) if self.k <= 2 else int(np.argmax(scores))

    def consume(self, x, y, c, known=True):
        """One round: predict, learn, count.  A label never seen before could not have been predicted."""
        self.n_mistakes += not known or self.predict(x) != y
        self.n_updates += self.learn(x, y, c)
        self.t += 1
        for learner in self.learners:
            learner.t = self.t

    def learn(self, x, y, c):
        if self.k == 1:
            return False
        if self.k == 2:
            return self.learners[0].step(x if y == 1 else -x, c)
        if self.multi_class == "ovr":
            return any([learner.step(x if j == y else -x, c) for j, learner in enumerate(self.learners)])
        return self.learn_crammer_singer(x, y, c)

    def learn_crammer_singer(self, x, y, c):
        """The learner in R^(k d) on z = phi(x, y) - phi(x, r).  z is 0 outside blocks y and r: if it may, it has but those."""
        wrong = self.W @ x
        wrong[y] = -np.inf
        r = int(np.argmax(wrong))
        blocks = [y, r] if self.learners[0].separable else range(self.k)
        joint = self.joint([self.learners[j] for j in blocks])
        updated = joint.step(np.concatenate([x if j == y else -x if j == r else 0 * x for j in blocks]), c)
        for name in joint.state:
            for j, part in zip(blocks, np.split(getattr(joint, name), len(blocks)), strict=True):
                setattr(self.learners[j], name, part)
        return updated

    def add_class(self, at):
        """A label joins as code `at`.  With the second the vector begins to learn, the third splits it; newcomers start at 0."""
        if self.k == 2:
            self.learners = [self.side(0), self.side(1)]
        if self.k >= 2:
            self.learners.insert(at, self.make(self.d))
            self.learners[at].t = self.t
        self.k += 1

    def side(self, code):
        part = copy(self.learners[0])
        for name, factors in part.split(self.multi_class).items():
            setattr(part, name, factors[code] * getattr(part, name))
        return part


#: name: what makes the Model of an algorithm, (d, k, multi_class, **params). reference_dual.py adds its own.
MODELS = {
    name: lambda d, k, multi_class="crammer_singer", make=make, **params: Model(partial(make, **params), d, k, multi_class)
    for name, make in REFERENCE.items()
}


def rows(X, y, weights, fit_intercept, intercept_scaling):
    """(x, y, c) of each row of weight c > 0: a row of weight 0 is an exact no-op.  The constant feature is the last column."""
    X = np.asarray(X, dtype=np.float64)
    if fit_intercept:
        X = np.column_stack([X, np.full(len(X), intercept_scaling)])
    weights = np.ones(len(X)) if weights is None else weights
    return X.shape[1], [(x, label, float(c)) for x, label, c in zip(X, y, weights, strict=True) if c > 0]


def run_binary(name, X, y, weights=None, fit_intercept=False, intercept_scaling=1.0, **params):
    """One pass, y in {-1, +1}.  Returns the learner, with t, n_mistakes and n_updates."""
    d, stream = rows(X, y, weights, fit_intercept, intercept_scaling)
    model = MODELS[name](d, 2, **params)
    for x, label, c in stream:
        model.consume(x, int(label > 0), c)
    (learner,) = model.learners
    learner.n_mistakes, learner.n_updates = model.n_mistakes, model.n_updates
    return learner


def run_regression(name, X, y, weights=None, fit_intercept=False, intercept_scaling=1.0, **params):
    """One pass.  Returns the learner, with t, n_updates and the sums of squared and absolute errors before each update."""
    d, stream = rows(X, y, weights, fit_intercept, intercept_scaling)
    learner = REGRESSION[name](d, **params)
    learner.n_updates, learner.squared, learner.absolute = 0, 0.0, 0.0
    for x, target, c in stream:
        error = float(target) - learner.w @ x
        learner.squared += error**2
        learner.absolute += abs(error)
        learner.n_updates += learner.step(x, float(target), c)
        learner.t += 1
    return learner


def run_one_class(name, X, weights=None, **params):
    """One pass.  Returns the learner, with t."""
    d, stream = rows(X, np.zeros(len(X)), weights, False, 1.0)
    learner = ONE_CLASS[name](d, **params)
    for x, _, c in stream:
        learner.step(x, c)
        learner.t += 1
    return learner


def run_multiclass(name, X, y, n_classes, multi_class="crammer_singer", weights=None, fit_intercept=False,
                   intercept_scaling=1.0, **params):
    """One pass, y coded 0..n_classes-1, all known from the start, n_classes >= 3.  Returns the Model: W, Sigma, counters."""
    d, stream = rows(X, y, weights, fit_intercept, intercept_scaling)
    model = MODELS[name](d, n_classes, multi_class, **params)
    for x, label, c in stream:
        model.consume(x, int(label), c)
    return model


def run_stream(name, X, y, multi_class="crammer_singer", weights=None, fit_intercept=False, intercept_scaling=1.0, **params):
    """One pass in which a label joins at the row where it first appears.  Returns the Model, with its sorted labels `classes`."""
    d, stream = rows(X, y, weights, fit_intercept, intercept_scaling)
    model = MODELS[name](d, 0, multi_class, **params)
    model.classes = []
    for x, label, c in stream:
        known = label in model.classes
        if not known:
            at = bisect(model.classes, label)
            model.classes.insert(at, label)
            model.add_class(at)
        model.consume(x, model.classes.index(label), c, known)
    return model


def balanced_weights(y, weights=None):
    """class_weight="balanced" in partial_fit: c_t = N_t / (k_t n_{y,t}), counted through row t, times the row's own weight.

    k_t is the number of labels met so far.  Rows of weight 0 are not counted.
    """
    counts, balanced = {}, np.zeros(len(y))
    for t, label in enumerate(y):
        c = 1.0 if weights is None else weights[t]
        if c > 0:
            counts[label] = counts.get(label, 0) + 1
            balanced[t] = c * sum(counts.values()) / (len(counts) * counts[label])
    return balanced


# The other twins: below all that reference_dual.py builds on.
from reference_dual import OGD, DualAscent, DualAscentRegression, FoReL  # noqa: E402, F401
from reference_kernel import Dual, features  # noqa: E402, F401
