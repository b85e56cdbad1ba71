"""The oracle: the slow, readable NumPy twin of every algorithm.  float64, dense, one row at a time, nothing optimised.

A learner lives in R^d and knows nothing of labels: ``learner.step(z, c)`` shows it a signed example z = y x of weight c > 0, of
which it wants the margin m = w.z large; True when the model changed. ``learner.w`` predicts, ``learner.Sigma`` is the covariance
(None of first-order algorithms). A regressor is shown rows and targets, ``step(x, y, c)``, and wants w.x near y.

The learners of a rule alone (Perceptron, PA, AROW, CW, SCW, second-order Perceptron, NAROW), and what makes learners of several
classes of them, are the library's own: onlinecls.reference. Here are those that need more than a rule; dual ascent is in
reference_dual.py, learners with a kernel in reference_kernel.py. MODELS and REGRESSION have all, `run_...` learn a stream.

Crammer-Singer multiclass is the same learner on z = phi(x, y) - phi(x, r), where phi(x, y) puts x in block y and r is the top
wrong class, so ||z||^2 = 2||x||^2 and v = v_y + v_r need no code of their own. Parameters carry the names of the estimators'
constructors, and must be given unless a default is a convention. Meant for ordinary data.

Symbols: m margin, l = max(0, 1 - m) loss, v (NAROW: chi) = z' Sigma z, tau the step along z or Sigma z, beta the added precision.
"""

from bisect import bisect
from dataclasses import dataclass, field
from functools import partial
from math import sqrt

import numpy as np
from scipy.special import softmax

from onlinecls.reference import GEOMETRIES, RULES, DualMatrixAdaGrad, Learner, MatrixAdaGrad, Model, Scale, potential

REFERENCE = {}


def twin_of(name):
    """Enter a learner of signed examples in REFERENCE, by its name in the registry."""
    return lambda learner: REFERENCE.setdefault(name, learner)


# --- Learners in R^d -----------------------------------------------------------------------------------------------------------


def rule_twin(name, **fixed):
    """Return a function (d, **params) that makes the learner of a rule of onlinecls.reference."""
    rule = RULES[name]
    own = {"least": rule.least} if rule.least else {}
    return partial(GEOMETRIES[rule.geometry], rule=rule.step, **own, **fixed)


def second_order(d, eta=1.0, **params):
    """NAROW 4.2, 4.3 and 5: the potential framework with a quadratic f."""
    return potential.PotentialLearner(d, potential.Quadratic(**params), potential.LOSSES["hinge"], eta)


REFERENCE.update({rule: rule_twin(rule) for rule in RULES if not rule.endswith("_regression")})
REFERENCE.update(sop=partial(second_order, eta=potential.conservative), aggressive_sop=second_order, narow=second_order)
PA1, PA2 = REFERENCE["pa1"], REFERENCE["pa2"]


@dataclass(kw_only=True)
class Twin(Learner):
    """The base of learners whose annotated fields are their parameters."""

    d: int = field(kw_only=False)

    def __post_init__(self):
        super().__init__(self.d)


@twin_of("p_norm")
class PNorm(potential.PotentialLearner):
    """m <= 0:  theta += z,  w_i = (q - 1) sgn(theta_i) |theta_i|^(p-1) / ||theta||_p^(p-2).  NAROW 4.1."""

    def __init__(self, d, p, radius=2**0.5, eta=potential.conservative):
        super().__init__(d, potential.PNorm(p), potential.LOSSES["hinge"], eta)

    def split(self, multi_class):
        """Joint, the two halves of theta have a norm 2^(1/p) times that of one of them; w is homogeneous."""
        share = 1 / 2 if multi_class == "ovr" else 2 ** ((self.f.p - 2) / self.f.p) / 2
        return {"theta": (-share, share)}


@twin_of("aggressive_p_norm")
class AggressivePNorm(PNorm):
    """0 < m < 1 as well:  eta = clip((R^2/2 - m) / ||z||_p^2, 0, 1).  NAROW 4.1."""

    def __init__(self, d, p, radius=2**0.5):
        super().__init__(d, p, eta=potential.aggressive_p_norm_rate(p, radius))


class Simplex:
    """Weights of the sum W = norm_bound, w_j proportional to exp(theta_j).  Crammer et al. (NIPS 2003), 6.

    signed: the same on the 2d features z and -z, with exponents theta and -theta (EG+-), w the differences of their weights.
    With v on those features, w_j <- w_j exp(tau v_j) / Z is theta += tau v.
    """

    @property
    def w(self):
        return potential.Entropic(self.norm_bound, self.norm_bound, self.signed).weights(self.theta)

    def features(self, z):
        """z as the simplex sees it."""
        return self.norm_bound * (np.concatenate([z, -z]) if self.signed else z)


@twin_of("multiplicative_pa")
@dataclass(kw_only=True)
class MultiplicativePassiveAggressive(Simplex, Twin):
    """l = [margin - m]+,  w_j <- w_j exp(tau v_j) / Z,  tau = 4 l / rho^2.  Crammer et al. (NIPS 2003), 6.

    rho is how far the parts of v (and 0) lie apart: the paper's ||x||_inf for x >= 0.  The constraint is hard, so a weight scales
    the step by min(1, c).
    """

    margin: float
    signed: bool = True
    norm_bound: float = 1.0

    joins_as_none = True
    state = {"theta": (-1, 1)}  # whole: what the two classes' own learners would have

    def move(self, loss, z, c):
        if loss <= 0:
            return False
        v = self.features(z)
        rho = max(v.max(), 0) - min(v.min(), 0)
        tau = min(1.0, c) * 4 * loss / rho**2
        self.theta = self.theta + tau * v[: self.d]
        return True

    def update(self, z, c):
        return self.move(self.margin + self.offset - self.w @ z, z, c)


@dataclass(kw_only=True)
class AdaGrad(Twin):
    """m < 1:  g = -c z,  G += g^2.  Duchi, Hazan, Singer (COLT 2010), which is NAROW's baseline [9]."""

    eta0: float
    delta: float
    joins_as_none = True

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


@dataclass(kw_only=True)
class FTRL(Twin):
    """The sums of FTRL-proximal, McMahan et al. (KDD 2013), Algorithm 1, for any gradient g."""

    alpha: float
    beta: float
    l1: float = 0.0
    l2: float = 0.0

    state = {"z": (-1 / 2, 1 / 2), "n": (1, 1)}
    joins_as_none = True

    def split(self, multi_class):
        """All of z within the threshold, and half of what is beyond it, so that w becomes -w/2 and w/2."""
        size = np.abs(self.z)
        share = np.divide(np.minimum(size, (size + self.l1) / 2), size, out=np.ones_like(size), where=size > 0)
        return {"z": (-share, share), "n": (1, 1)}

    @property
    def w(self):
        w = -(self.z - np.sign(self.z) * self.l1) / ((self.beta + np.sqrt(self.n)) / self.alpha + self.l2)
        return np.where(np.abs(self.z) <= self.l1, 0.0, w)

    def descend(self, g):
        sigma = (np.sqrt(self.n + g**2) - np.sqrt(self.n)) / self.alpha
        self.z, self.n = self.z + g - sigma * self.w, self.n + g**2
        return bool(g.any())


@twin_of("ftrl")
class FTRLLogistic(FTRL):
    """g_i = (p_t - y_t) x_i for labels 0 and 1: with z = ± x and m = w.z,  -z / (1 + e^m)."""

    def update(self, z, c):
        return self.descend(-c * z / (1 + np.exp(self.w @ z)))


@twin_of("ftrl_hinge")
class FTRLHinge(FTRL):
    """m < 1:  g = -z."""

    def update(self, z, c):
        return self.w @ z < 1 and self.descend(-c * z)


REFERENCE.update(full_adagrad_md=MatrixAdaGrad, full_adagrad_da=DualMatrixAdaGrad)


# --- Regressors in R^d ---------------------------------------------------------------------------------------------------------


class Regressor:
    def step(self, x, y, c=1.0):
        """Learn the target y of x with weight c > 0.  True when the model changed; a zero row never changes it."""
        return bool(np.any(x)) and self.update(x, y, c)


def regression_twin(name):
    """Return a function (d, epsilon=, **params) that makes the learner of a rule for targets."""
    base = GEOMETRIES[RULES[name].geometry]

    class RegressionTwin(base):
        def __init__(self, d, epsilon=0.0, **params):
            super().__init__(d, RULES[name].step, **params)
            self.epsilon = epsilon

        def step(self, x, y, c=1.0):
            return super().step(x, c, y, self.epsilon)

    return RegressionTwin


PA1Regression, PA2Regression = regression_twin("pa1_regression"), regression_twin("pa2_regression")


@dataclass(kw_only=True)
class MultiplicativePassiveAggressiveRegression(Regressor, MultiplicativePassiveAggressive):
    """l = [|y - w.x| - epsilon]+,  v = sgn(y - w.x) x.  Crammer et al. (NIPS 2003), 6."""

    epsilon: float
    margin: float = 0.0

    def update(self, x, y, c):
        y_hat = self.w @ x
        return self.move(abs(y - y_hat) - self.epsilon, np.sign(y - y_hat) * x, c)


# --- One class: a centre in R^d ------------------------------------------------------------------------------------------------


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


ONE_CLASS = {"pa_one_class": PassiveAggressiveOneClass, "multiplicative_pa_one_class": MultiplicativePassiveAggressiveOneClass}

REGRESSION = {
    "pa1_regression": PA1Regression,
    "pa2_regression": PA2Regression,
    "arow_regression": regression_twin("arow_regression"),
    "multiplicative_pa_regression": MultiplicativePassiveAggressiveRegression,
}


# --- From labels to signed examples --------------------------------------------------------------------------------------------


#: name: what makes the Model of an algorithm, (d, k, multi_class, **params). reference_dual.py adds its own.
MODELS = {
    name: lambda d, k, multi_class="crammer_singer", make=make, **params: Model(
        partial(make, **params), d, k, multi_class)
    for name, make in REFERENCE.items()
}


def rows(X, y, weights=None, fit_intercept=False, intercept_scaling=1.0, scale=1.0):
    """(z, y, c) of each row of weight c > 0: a row of weight 0 is an exact no-op.  The constant feature is the last column.

    c : a number, or a pair: with what the row's class adds to the wanted margin.  scale, intercept_scaling : numbers or "auto".
    """
    X = np.asarray(X, dtype=np.float64)
    weights, reading = np.ones(len(X)) if weights is None else weights, Scale(scale, intercept_scaling)
    return X.shape[1] + fit_intercept, [
        (reading.read(x, fit_intercept=fit_intercept), label, c) for x, label, c in zip(X, y, weights, strict=True)
        if np.ravel(c)[0] > 0]


def read(X, y, weights, params):
    """`rows` by those of the parameters that say how rows are read, and the others."""
    own = {name: params[name] for name in ("fit_intercept", "intercept_scaling", "scale") if name in params}
    return *rows(X, y, weights, **own), {name: value for name, value in params.items() if name not in own}


def run_binary(name, X, y, weights=None, **params):
    """One pass, y in {-1, +1}.  Returns the learner, with t, n_mistakes and n_updates."""
    d, stream, params = read(X, y, weights, params)
    model = MODELS[name](d, 2, **params)
    for x, label, c in stream:
        consume(model, x, int(label > 0), c)
    (learner,) = model.learners
    learner.n_mistakes, learner.n_updates = model.n_mistakes, model.n_updates
    return learner


def run_regression(name, X, y, weights=None, **params):
    """One pass.  Returns the learner, with t, n_updates and the sums of squared and absolute errors before each update."""
    d, stream, params = read(X, y, weights, params)
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
    d, stream, params = read(X, np.zeros(len(X)), weights, params)
    learner = ONE_CLASS[name](d, **params)
    for x, _, c in stream:
        learner.step(x, c)
        learner.t += 1
    return learner


def run_multiclass(name, X, y, n_classes, multi_class="crammer_singer", weights=None, **params):
    """One pass, y coded 0..n_classes-1, all known from the start, n_classes >= 3.  Returns the Model: W, Sigma, counters."""
    d, stream, params = read(X, y, weights, params)
    model = MODELS[name](d, n_classes, multi_class, **params)
    for x, label, c in stream:
        consume(model, x, int(label), c)
    return model


def run_stream(name, X, y, multi_class="crammer_singer", weights=None, **params):
    """One pass in which a label joins at the row where it first appears.  Returns the Model, with its sorted labels `classes`."""
    d, stream, params = read(X, y, weights, params)
    return learn_stream(MODELS[name](d, 0, multi_class, **params), stream)


def learn_stream(model, stream):
    """Learn a stream of `rows` with a Model of no class yet, or a Calibrated one."""
    model.classes = []
    for x, label, c in stream:
        known = label in model.classes
        if not known:
            at = bisect(model.classes, label)
            model.classes.insert(at, label)
            model.add_class(at)
        consume(model, x, model.classes.index(label), c, known)
    return model


def consume(model, x, y, c, known=True):
    """Let a model learn a row of `rows`."""
    weight, offset = c if isinstance(c, tuple) else (c, 0.0)
    model.consume(x, y, float(weight), known, **({"offset": float(offset)} if offset else {}))


class Softmax:
    """Probabilities in proportion to e^z, z = a s + b u, learnt from the scores s that one row after another gives the classes.

    u is 0 and 1 of two classes, whose scores are 0 and that of the vector; of more it is -log of their weights, or 0. (a, b)
    moves by H^-1 g, g the gradient of the row's log-likelihood and H its curvature and a floor, summed over the rows so far, of
    which each counts as the cube of its number. A step at most doubles or halves a, and moves b by at most 1.
    """

    def __init__(self):
        self.numbers, self.curvature, self.seen = np.array([1.0, 0.0]), np.zeros((2, 2)), 0.0

    def step(self, scores, y, c=1.0, u=0.0):
        """scores, u : of the classes that have had a row, this one included."""
        at = np.column_stack([scores, np.broadcast_to(u, len(scores))])
        at, p = at - at[y], softmax(at @ self.numbers)
        mean = p @ at
        self.curvature *= self.seen / (self.seen + 3 * c)
        floor = 1e-3 * np.diag([min(np.ptp(scores) ** 2, self.numbers[0] ** -2.0), 1.0])
        self.curvature += c * ((at - mean).T * p @ (at - mean) + floor)
        self.seen += c
        some = slice(int(self.curvature[0, 0] == 0.0), 2)
        move = np.zeros(2)
        move[some] = np.linalg.solve(self.curvature[some, some], -c * mean[some])
        growth = max(move[0], -2 * move[0]) / self.numbers[0]
        self.numbers = self.numbers + move / max(1.0, growth, abs(move[1]))

    def joined(self):
        """A third class joins: b was of the two."""
        self.numbers[1] = self.curvature[1] = self.curvature[:, 1] = 0.0

    def __call__(self, scores, u=0.0):
        return softmax(self.numbers[0] * scores + self.numbers[1] * u, axis=-1)


def of_classes(scores):
    """Scores of one vector as those of two classes, and their u; others unchanged."""
    scores = np.asarray(scores)
    return (np.hstack([0.0 * scores, scores]), np.arange(2.0)) if scores.shape[-1] == 1 else (scores, np.zeros(scores.shape[-1]))


class Calibrated:
    """A Model with the probabilities of its scores."""

    def __init__(self, model):
        self.model, self.softmax, self.counts = model, Softmax(), []

    def consume(self, x, y, c, known=True):
        self.counts[y] += 1
        scores, u = of_classes(self.model.W @ x)
        came = np.flatnonzero(self.counts)
        if self.model.k > 1:
            self.softmax.step(scores[came], list(came).index(y), c, u[came])
        self.model.consume(x, y, c, known)

    def add_class(self, at):
        if self.model.k == 2:
            self.softmax.joined()
        self.counts.insert(at, 0)
        self.model.add_class(at)

    def predict_proba(self, X):
        return self.softmax(*of_classes(np.asarray(X) @ self.model.W.T))


def costs_of_classes(costs, margin, y, class_weight, weights=None):
    """Pairs as in `rows`, from class_weight, a dict or "balanced", and the rows' own weights.  costs : as in the registry.

    The weight c of a class is split into a factor rho of the wanted margin, √(c / least) up to √1000, and a factor a of its rows'
    weights, rho a = c: with the margin √c a mistake has a squared loss of at least c (JMLR 2006, 6).  "hard_margin":
    the rule takes its whole step at any weight from 1 on, so that the a of the largest weight is at most 1.

    The least and the largest weight are those of the labels met so far.  "balanced" in partial_fit: N_t / (k_t n_{y,t}), counted
    through row t, without rows of weight 0.  k_t is the number of labels met so far.
    """
    counts, found = {}, []
    for label, c in zip(y, np.ones(len(y)) if weights is None else weights, strict=True):
        if c == 0.0:
            found.append((0.0, 0.0))
            continue
        counts[label] = counts.get(label, 0) + 1
        balanced = {seen: sum(counts.values()) / (len(counts) * n) for seen, n in counts.items()}
        of = balanced if class_weight == "balanced" else {seen: class_weight[seen] for seen in counts}
        rhos = {seen: sqrt(min(weight / min(of.values()), 1000.0)) for seen, weight in of.items()}
        rho, largest = rhos[label], max(of, key=of.get)
        a = of[label] / rho / (max(1.0, of[largest] / rhos[largest]) if costs == "hard_margin" else 1.0)
        found.append((c * of[label], 0.0) if costs == "weight" else (c * a, margin * (rho - 1.0)))
    return found


# The other twins: below all that reference_dual.py builds on.
from reference_dual import OGD, DualAscent, DualAscentRegression  # noqa: E402, F401
from reference_kernel import Dual, features  # noqa: E402, F401
