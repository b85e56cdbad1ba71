"""The slow twins of dual ascent and gradient descent: NumPy, float64, dense, one row at a time, nothing optimised.

A twin learns a row by `learn(x, label or target, c)`: k >= 3 vectors jointly, or one (label in {-1, +1}). DualModel puts them
behind reference.Model's interface. Import them from reference.py, on which this file builds.
"""

from copy import deepcopy
from functools import partial
from math import log, sqrt

import numpy as np
from reference import MODELS, REGRESSION, Model
from scipy.optimize import brentq
from scipy.special import logsumexp, softmax

from onlinecls.reference import Entropic, SquaredNorm

GRID = 1.5
FAR = 300.0  # how far a row moves an exponent of the simplex at most


def root(slope, high):
    """Return where a falling function on [0, high] passes 0, or the nearest end."""
    if slope(high) >= 0.0:
        return high
    low, high = 1e-14 * high, (1 - 1e-14) * high
    if slope(low) <= 0.0:
        return 0.0
    return brentq(slope, low, high, xtol=1e-15 * high, rtol=1e-14) if slope(high) < 0.0 else high


class DualTwin:
    Sigma = None
    offset = 0.0

    @property
    def w(self):
        return self.W[0]


class DualAscent(DualTwin):
    def __init__(self, d, k=1, *, sigma=1.0, regularizer="euclidean", update="DA3", loss="hinge", margin=1.0, norm_bound=1.0,
                 signed=True):
        self.theta, self.t, self.L, self.gain = np.zeros((k, d)), 0, 0.0, 0.0
        self.given, self.entropic, self.update = sigma, regularizer == "entropic", update
        self.sigma = 0.0 if sigma == "auto" else sigma
        self.loss, self.wanted, self.bound, self.signed = loss, margin, norm_bound, signed

    @property
    def margin(self):
        return self.wanted + self.offset

    @property
    def f(self):
        return Entropic(self.sigma, self.bound, self.signed) if self.entropic else SquaredNorm(self.sigma)

    def weights(self, theta):
        if self.sigma == 0.0:  # (before the first row)
            return 0.0 * theta if self.signed or not self.entropic else np.full(theta.shape, self.bound / theta.size)
        return self.f.weights(theta.ravel()).reshape(theta.shape)

    @property
    def W(self):
        return self.weights(self.theta)

    @property
    def dual_value(self):
        return self.gain - (self.f.conjugate(self.theta.ravel()) if self.sigma else 0.0)

    def settle(self, steepness):
        """σ of the round."""
        self.L = max(self.L, steepness)
        if self.given != "auto":
            return
        if not self.entropic:
            self.sigma = sqrt(2 * self.t) * self.L / self.bound
            return
        wanted = self.L * sqrt(self.t / log((2 if self.signed else 1) * self.theta.size))
        if wanted > GRID * self.sigma:
            self.sigma = wanted

    def direction(self, x, label, alpha):
        """The change of θ that α_r, one a wrong class, makes (one vector: one α)."""
        if len(self.theta) == 1:
            return label * alpha[0] * x[None]
        change = np.zeros_like(self.theta)
        wrong = [r for r in range(len(change)) if r != label]
        change[label] = alpha.sum() * x
        change[wrong] = -np.outer(alpha, x)
        return change

    def margins(self, x, label, theta):
        scores = self.weights(theta) @ x
        if len(theta) == 1:
            return label * scores
        return np.array([scores[label] - scores[r] for r in range(len(theta)) if r != label])

    def part(self, alpha, c):
        """Return the dual's part of the loss's conjugate."""
        if self.loss == "hinge":
            return self.margin * alpha.sum()
        a = np.append(alpha, max(c - alpha.sum(), 0.0)) / c
        a = a[a > 0]
        return -c * np.sum(a * np.log(a))

    def loss_of(self, margins):
        return max(0.0, self.margin - margins.min()) if self.loss == "hinge" else logsumexp(np.append(-margins, 0.0))

    def most(self, x, c):
        """The largest dual variable of a row of weight c."""
        return min(c, FAR * self.sigma / (self.bound * np.abs(x).max())) if self.entropic else c

    def first(self, margins, c):
        """DA1: minus the subgradient."""
        if self.loss == "log_loss":
            return c * softmax(np.append(-margins, 0.0))[:-1]
        alpha = np.zeros(len(margins))
        alpha[np.argmin(margins)] = c if margins.min() < self.margin else 0.0
        return alpha

    def slope(self, x, label, alpha, toward, c):
        """Derivative of the dual at α along `toward`."""
        margins = self.margins(x, label, self.theta + self.direction(x, label, alpha))
        if self.loss == "hinge":
            return toward @ (self.margin - margins)
        rest = c - alpha.sum()
        value = -toward @ margins
        for a, v in zip(np.append(alpha, rest), np.append(toward, -toward.sum()), strict=True):
            if v != 0.0:
                value += -v * log(a / c) if a > 0 else np.inf * v
        return value

    def best(self, x, label, alpha, c):
        """DA3: mass goes between two dual variables, or one and what is left of c, until no two gain by it."""
        n = len(alpha)
        ways = [np.eye(n)[i] - np.eye(n)[j] for i in range(n) for j in range(n) if i != j]
        ways += [sign * unit for unit in np.eye(n) for sign in (1, -1)]
        for _ in range(500):
            before = alpha
            for way in ways:
                give = [alpha[i] for i in range(n) if way[i] < 0] + ([c - alpha.sum()] if way.sum() > 0.5 else [])
                if min(give) > 0.0 and self.slope(x, label, alpha, way, c) > 0.0:
                    s = root(lambda s, a=alpha, v=way: self.slope(x, label, a + s * v, v, c), min(give))
                    alpha = np.maximum(alpha + s * way, 0.0)
            if np.abs(alpha - before).max() <= 1e-11 * c:
                break
        return alpha

    def learn(self, x, label, c=1.0):
        self.t += 1
        if not x.any():  # no weights make its loss less, and its dual variables move none
            margins = self.margins(x, label, self.theta)
            self.gain += c * self.loss_of(margins)
            self.increase = self.sufficient = c * self.loss_of(margins)
            return
        many = len(self.theta) > 1
        steepness = self.bound * np.abs(x).max() if self.entropic else sqrt((1 + many) * (x @ x))
        self.settle(c * steepness)
        margins, before, given, c = self.margins(x, label, self.theta), self.dual_value, c, self.most(x, c)
        alpha = toward = self.first(margins, c)
        if self.update != "DA1" and alpha.any():
            high = c / toward.sum()
            alpha = root(lambda s: self.slope(x, label, s * toward, toward, c), high) * toward
            if self.update == "DA3" and many:
                alpha = self.best(x, label, alpha, c)
        self.theta = self.theta + self.direction(x, label, alpha)
        self.gain += self.part(alpha, c) if alpha.any() else 0.0
        self.increase = self.dual_value - before
        self.sufficient = given * self.loss_of(margins) - (given * steepness) ** 2 / (2 * self.sigma)


class DualAscentRegression(DualAscent):
    """One signed dual variable a row: λ_t = -α x,  loss* : -c|y - s|* or -c(y - s)²* at α."""

    def __init__(self, d, *, loss="absolute", **others):
        super().__init__(d, 1, loss=loss, **others)

    def loss_of(self, error):
        return abs(error) if self.loss == "absolute" else error**2

    def gradient(self, error, c):
        """Minus the (sub)gradient of the loss in s."""
        return c * np.sign(error) if self.loss == "absolute" else 2 * c * error

    def part(self, alpha, y, c):
        """min over s of loss + α s: what the loss's conjugate gives the dual."""
        return alpha * y - (0.0 if self.loss == "absolute" else alpha**2 / (4 * c))

    def error(self, x, y, theta):
        return y - self.weights(theta)[0] @ x

    def learn(self, x, y, c=1.0):
        self.t += 1
        if not x.any():
            self.gain += c * self.loss_of(y)
            self.increase = self.sufficient = c * self.loss_of(y)
            return
        norm = self.bound * np.abs(x).max() if self.entropic else sqrt(x @ x)
        error = self.error(x, y, self.theta)
        self.settle(c * norm if self.loss == "absolute" else abs(2 * c * error) * norm)
        error, before = self.error(x, y, self.theta), self.dual_value
        sign, most = np.sign(error), abs(self.gradient(error, c))
        alpha = sign * (self.most(x, most) if most else 0.0)
        if self.update != "DA1" and alpha != 0.0:  # (one dual variable a row: DA3 is DA2)

            def slope(size):
                derivative = self.error(x, y, self.theta + sign * size * x)
                return sign * (derivative if self.loss == "absolute" else derivative - sign * size / (2 * c))

            alpha = sign * root(slope, abs(alpha))
        self.theta = self.theta + alpha * x
        self.gain += self.part(alpha, y, c)
        self.increase = self.dual_value - before
        L = abs(self.gradient(error, c)) * norm
        self.sufficient = c * self.loss_of(error) - L**2 / (2 * self.sigma) if self.sigma else 0.0


class OGD(DualTwin):
    """Step c/(alpha t) from weights that shrink by 1 - 1/t, or c eta0/sqrt(t)."""

    def __init__(self, d, k=1, *, alpha=None, learning_rate="strongly_convex", eta0=None, joint=True, loss="hinge"):
        self.W, self.t, self.alpha, self.eta0, self.joint, self.loss = np.zeros((k, d)), 0, alpha, eta0, joint, loss
        self.shrinks = learning_rate == "strongly_convex"

    def learn(self, x, y, c=1.0):
        self.t += 1
        step = c / (self.alpha * self.t) if self.shrinks else c * self.eta0 / sqrt(self.t)
        W = self.W * (1 - 1 / self.t) if self.shrinks else self.W
        self.W = W + step * np.outer(self.descent(self.W @ x, y), x)

    def descent(self, scores, label):
        """Minus the subgradient of the loss in each score."""
        if len(scores) == 1:
            return np.array([label]) * (label * scores < 1)
        if not self.joint:
            y = np.where(np.arange(len(scores)) == label, 1, -1)
            return y * (y * scores < 1)
        signs = np.zeros(len(scores))
        rival = max((r for r in range(len(scores)) if r != label), key=lambda r: scores[r])
        if scores[label] - scores[rival] < 1:
            signs[label], signs[rival] = 1, -1
        return signs


class DualModel(Model):
    """Return one twin of k vectors (the joint construction), a twin a class (ovr), or one vector for two classes."""

    none = None  # of ovr: the twin of "none of these", from the third class on

    def __init__(self, make, d, k, multi_class="crammer_singer"):
        self.make, self.d, self.k, self.multi_class = make, d, k, multi_class
        self.t = self.n_mistakes = self.n_updates = 0
        self.learners = self.fresh(k)

    def fresh(self, k):
        if k > 2 and self.multi_class == "crammer_singer":
            return [self.make(self.d, k)]
        return [self.make(self.d) for _ in range(k if k > 2 else 1)]

    @property
    def W(self):
        return np.concatenate([learner.W for learner in self.learners])

    def learn(self, x, y, c):
        if self.k == 1:
            return False
        before = self.W
        for j, learner in enumerate(self.learners):
            learner.t = self.t
            joint = self.k > 2 and len(self.learners) == 1
            learner.learn(x, y if joint else 1 if y == (1 if self.k == 2 else j) else -1, c)
        if self.none:
            self.none.t = self.t
            self.none.learn(x, -1, c)
        return bool((self.W != before).any())

    def add_class(self, at):
        """The third splits the vector in two halves; the newcomer is `none`, or starts at 0, with the others' numbers."""
        old, self.k = self.learners, self.k + 1
        if self.k <= 2:
            return
        name = "theta" if hasattr(old[0], "theta") else "W"
        vectors = np.concatenate([getattr(learner, name) for learner in old])
        if self.k == 3:
            vectors = np.concatenate([-vectors / 2, vectors / 2])
        if self.multi_class == "ovr" and self.none is None:
            self.none = deepcopy(old[0])
            setattr(self.none, name, np.zeros_like(getattr(old[0], name)))
        vectors = np.insert(vectors, at, getattr(self.none, name)[0] if self.none else 0.0, axis=0)
        self.learners = []
        for part in [vectors] if self.multi_class == "crammer_singer" else vectors[:, None]:
            self.learners.append(deepcopy(old[0]))
            setattr(self.learners[-1], name, part)


def dual_model(cls, d, k, multi_class="crammer_singer", fixed=(), **params):
    fixed = dict(fixed)
    if cls is OGD:
        fixed["joint"] = multi_class == "crammer_singer"
    return DualModel(partial(cls, **fixed, **params), d, k, multi_class)


HINGE, LOG = {"loss": "hinge"}, {"loss": "log_loss"}
DUAL = {
    **{f"da{i}": (DualAscent, {"update": f"DA{i}", **HINGE}) for i in (1, 2, 3)},
    **{f"entropic_da{i}": (DualAscent, {"update": f"DA{i}", "regularizer": "entropic", **HINGE}) for i in (1, 2, 3)},
    "logistic": (DualAscent, LOG),
    "entropic_logistic": (DualAscent, {"regularizer": "entropic", **LOG}),
    "ogd": (OGD, {"learning_rate": "strongly_convex"}),
    "ogd_sqrt": (OGD, {"learning_rate": "sqrt"}),
}
MODELS.update({name: partial(dual_model, cls, fixed=fixed) for name, (cls, fixed) in DUAL.items()})


class DualRegressor(DualAscentRegression):
    """A twin of regression behind reference.run_regression's interface, which counts the rows."""

    def step(self, x, y, c=1.0):
        before, t = self.w, self.t
        self.learn(x, y, c)
        self.t = t
        return bool((self.w != before).any())


for name, loss in (("da_regression", "absolute"), ("da_squared", "squared")):
    REGRESSION[name] = partial(DualRegressor, loss=loss)
    REGRESSION["entropic_" + name] = partial(DualRegressor, loss=loss, regularizer="entropic")
