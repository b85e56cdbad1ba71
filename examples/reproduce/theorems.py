"""Each theorem, lemma and corollary of the four papers, in their order, on random, adversarial and real streams.

"Tightest" is the largest paid/allowed of all streams and competitors but, for mistakes and updates, only where fewer are allowed
than there are rows. Five printed forms are slips: each has a small stream that breaks it, and the form that holds. Rows of two
classes are written z = y x, with y = 1.
"""

import sys

import numpy as np
from _streams import NO, RANDOM, against, attack, ball, broken, classes, forel, hinge, near, repeated, separable, shares, targets
from common import SMOKE, keep, reading, sentence

from onlinecls import (
    AROWClassifier,
    AROWRegressor,
    DualAscentClassifier,
    DualAscentRegressor,
    KernelOnlineClassifier,
    MultiplicativePassiveAggressiveClassifier,
    MultiplicativePassiveAggressiveOneClass,
    MultiplicativePassiveAggressiveRegressor,
    NAROWClassifier,
    OGDClassifier,
    PassiveAggressiveClassifier,
    PassiveAggressiveOneClass,
    PassiveAggressiveRegressor,
    Perceptron,
    PNormPerceptron,
    SecondOrderPerceptron,
    bounds,
)
from onlinecls.datasets import load_sms_spam
from onlinecls.reference import PotentialLearner, Quadratic, SquaredNorm, best_r
from onlinecls.reference.potential import LOSSES, Loss

ALPHA = 0.05
UPDATES = ("DA1", "DA2", "DA3")


def one_of(cls, values, **settings):
    """Return a maker of learners whose first parameter is one of these values."""
    return lambda rng, X: cls(values[rng.integers(0, len(values))], **settings, **NO)


plain_pa = one_of(PassiveAggressiveClassifier, [np.inf])
sqrt_2 = one_of(PNormPerceptron, [2.0], aggressive=True, radius=2.0**0.5 * (1.0 + 1e-12))
arow = one_of(AROWClassifier, [0.1, 1.0, 10.0], covariance="full")


def perceptron(rng, X):
    return Perceptron(eta0=rng.choice([0.3, 1.0, 3.0]).item(), **NO)


def sop(covariance, aggressive=True):
    return one_of(SecondOrderPerceptron, [0.1, 1.0, 10.0], aggressive=aggressive, covariance=covariance, initial_variance=1.0)


def narow(covariance):
    return one_of(NAROWClassifier, [0.1, 1.0, 10.0], covariance=covariance, initial_variance=1.0)


def ascents(update, **settings):
    return one_of(DualAscentClassifier, [0.3, 1.0, 10.0], update=update, norm_bound=1.0, **settings)


def p_norm(aggressive):
    def make(rng, X):
        p = float(rng.choice([2.0, 3.0, 6.0]))
        return PNormPerceptron(p, aggressive=aggressive, radius=max(1.0, float(np.linalg.norm(X, p, axis=1).max())), **NO)

    return make


# --- slips: (left, right) as printed and mended, of a stream: it is to be that left <= right ------------------------------------


def followed(learner, Z):
    return bounds.follow(learner, Z, np.ones(len(Z)))


def separated(rng, most=12):
    """Return rows z of random lengths, turned towards a random direction but for a few, and a multiple of it."""
    n, d = rng.integers(1, most), rng.integers(1, 4)
    u = rng.standard_normal(d)
    Z = rng.standard_normal((n, d)) * np.exp(rng.normal(0.0, 0.5, (n, 1)))
    Z *= np.where(rng.random((n, 1)) < 0.1, -1.0, 1.0) * np.sign(Z @ u)[:, None]
    return Z, u * rng.choice([0.3, 1.0, 3.0]) / np.median(np.abs(Z @ u))


def minus(Z, u, b=1.0):
    """Return M + U and the bound, with a minus before the sum over r_t, or a plus."""
    course = followed(NAROWClassifier(b, initial_variance=1.0, covariance="full", **NO), Z)
    paid, mended = bounds.narow(course, u)
    m, chi, on = course.margins, course.chi, course.updated
    r = np.divide(chi, b * chi - 1.0, out=np.full(len(chi), 1e100), where=b * chi > 1.0)
    rest = (on * b * m * (2.0 * r - m) / (r + chi)).sum()
    plain = (np.minimum(1.0, b * chi) * on).sum()
    first = 1.0 / b + (course.norms() * on).max() ** 2 * (np.log1p(chi / r) * on).sum()
    allowed = course.loss(u) + np.linalg.norm(u) * np.sqrt(first * max(plain - rest, 0.0))
    return (paid, allowed), (paid, mended)


def uniclass(X, u, epsilon):
    """Return Σ l² + 2 (ε - ε*) Σ l and B/2 D, with B = 16 and 32."""
    learner = MultiplicativePassiveAggressiveOneClass(epsilon, norm_bound=1.0, signed=False, scale=1.0, dtype=np.float64)
    losses, some = np.maximum(0.0, -bounds.follow(learner, X).scores - epsilon), u[u > 0.0]
    spare = epsilon - np.linalg.norm(X - u, axis=1).max()
    paid, allowed = (losses**2).sum() + 2.0 * spare * losses.sum(), some @ np.log(len(u) * some) if spare >= 0.0 else np.inf
    return (paid, 8.0 * allowed), (paid, 16.0 * allowed)


def shared(X, y):
    """Return the regret to the best expert, and L √(T log d), for the printed σ = L √(T/log d); mended: half as much again."""
    T, d = X.shape
    L = np.abs(X).max()
    sigma = L * np.sqrt(T / np.log(d))
    learner = DualAscentRegressor(sigma, regularizer="entropic", signed=False, norm_bound=1.0, update="DA1", **NO)
    regret = np.abs(y - bounds.follow(learner, X, y).scores).sum() - np.abs(y[:, None] - X).sum(axis=0).min()
    return (regret, L * np.sqrt(T * np.log(d))), (regret, 1.5 * L * np.sqrt(T * np.log(d)))


def pa_one(Z):
    """Return how far the steps of the aggressive Perceptron with R = √2 are from PA-I's, C = 1: in all rounds, and without
    a mistake."""
    walker, w = PNormPerceptron(2.0, aggressive=True, radius=2.0**0.5, **NO).partial_fit(Z[:0], [], classes=[-1, 1]), [0.0 * Z[0]]
    for z in Z:
        w.append(walker.partial_fit(z[None], [1]).coef_[0].copy())
    m, lengths = (Z * w[:-1]).sum(axis=1), np.linalg.norm(Z, axis=1)
    off = np.abs(np.linalg.norm(np.diff(w, axis=0), axis=1) / lengths - np.minimum(1.0, hinge(m) / lengths**2))
    return (off.max(), 0.0), ((off * (m > 0.0)).max(), 0.0)


def updates(Z, r=4.0):
    """Return the rounds in which AROW does not do what m_t <= 1 says, m_t = y x'A_{t-1}^-1 θ_{t-1}; mended: m_t < r."""
    course = followed(AROWClassifier(r, covariance="full", **NO), Z)
    m = r * course.margins  # (θ is r times Σ^-1 w)
    return tuple((float(np.sum(one != course.updated)), 0.0) for one in (m <= 1.0, m < r))


def said(rng):
    """Return what experts say, 1 or -1, the best of whom is right more often, and numbers."""
    T, d = rng.integers(1, 12), rng.integers(2, 6)
    y = rng.choice([-1.0, 1.0], T)
    return np.where(rng.random((T, d)) < np.append(rng.choice([0.0, 0.3]), np.full(d - 1, 0.5)), -1.0, 1.0) * y[:, None], y


#: A small stream in words, (left, right) of both forms on it, and the mended form, by the statement's number.
SLIPS = {
    "PA Theorem 4 (one class)": ("28 times the row (2, 0); u = (0.6, 0.4); ε = 1.5", lambda: uniclass(
        np.array([[2.0, 0.0]] * 28), np.array([0.6, 0.4]), 1.5), "B = 32 (w_1 uniform)"),
    "Tutorial II: corollary (entropic)": ("advice (1, -1), y = 1", lambda: shared(np.array([[1.0, -1.0]]), np.ones(1)),
                                          "3/2 L √(T log d); with σ = L √(T/(2 log d)), √2 L √(T log d)"),
    "NAROW 4.1: PA-I": ("the row 1.25", lambda: pa_one(np.array([[1.25]])),
                        "in the rounds without a mistake; in others its step is 1"),
    "NAROW 4.2: AROW": ("rows 1, 2; r = 4", lambda: updates(np.array([[1.0], [2.0]])),
                        "m_t < r, as AROW's weights are A^-1 θ/r; right for r = 1"),
    "NAROW section 5": ("rows 1, 0.5; u = 1; b = 1", lambda: minus(np.array([[1.0], [0.5]]), np.ones(1)),
                        "a plus before the last term, as in 4.2"),
}
#: Statements that hold as they are meant: what is printed, in notation or wording, says something else.
NOTATION = {
    "Tutorial II: theorem": "L is by the norm of f, not by its dual norm, as four slides have it",
    "Tutorial III: FoReL": "the slide before says 'at least as good a regret bound': the dual is, not the regret",
    "NAROW Lemma 1": "f_0*(0) = 0, that is min f_0 = 0: the star is missing in f_0(0) = 0",
}
#: Statements whose printed form the extracted text cannot decide: it may be a reading error.
UNDECIDED = {
    "Tutorial III: Perceptron's Δ": "read as α - ½ (α y w.x + α² ||x||²/σ), on one slide; other slides have α (1 - y w.x) - α² "
                                    "||x||²/(2σ), which holds",
    "Tutorial IV: loss": "the text has no [.]+, and cannot tell a max over r ≠ y of 1 - ... from one over all r of 1[r ≠ y] - "
                         "..., which holds",
    "NAROW 4.1: η": "the sentence before says 0 <= η; with it (4) holds",
}


def slip(number, found):
    """Return both readings of a slip."""
    stream, both, mended = SLIPS[number]
    (left, right), (own, most) = both()
    if not broken(left, right):
        sys.exit(f"{number}: the stream does not break what is printed")
    how = f"{left:.4g} <= {right:.4g}" if right else f"off by {left:.2g}"
    return [reading("as printed", f"{stream}: {how}", False), reading("mended", f"{mended}: {found}", not broken(own, most))]


# --- PA ------------------------------------------------------------------------------------------------------------------------


def by_margin(course, u):
    """Return B/γ̂²."""
    least = (course.y * (course.X @ u)).min() / np.linalg.norm(u)
    return float((course.norms() ** 2).max() / least**2) if least > 0.0 else np.inf


def in_batch(rng):
    """Return PA on rows with a loss² above a limit, until there are none: the steps, and B ||u||²/limit."""
    _, X, y, U = separable(rng, plain_pa)
    u, limit, w, T = U[0] / (y * (X @ U[0])).min(), 10.0 ** rng.uniform(-3.0, 0.0), np.zeros(X.shape[1]), 0
    while (losses := hinge(y * (X @ w))).max() ** 2 > limit:
        t = int(losses.argmax()) if rng.random() < 0.5 else int(rng.choice(np.flatnonzero(losses**2 > limit)))
        w, T = w + losses[t] / (X[t] @ X[t]) * y[t] * X[t], T + 1
    return T, (X**2).sum(axis=1).max() * (u @ u) / limit


def of_pa():
    loss, cs = bounds.passive_aggressive, [0.05, 0.5, 5.0]
    numbers = one_of(PassiveAggressiveRegressor, [np.inf], epsilon=0.2)
    around = lambda rng, X: PassiveAggressiveOneClass(rng.choice([1.0, 1.3]).item(), scale=1.0, dtype=np.float64)  # noqa: E731
    yield ("PA Theorem 1", "Σ l² + 2 (ε - ε') Σ l <= B ||u - w_1||² for u without loss, ε' its own ε.",
           ("classes", *attack(separable, plain_pa, loss)), ("numbers", *attack(near, numbers, loss)),
           ("one class", *attack(ball, around, bounds.one_class)))
    yield ("PA section 4: corollary", "A margin γ̂: Σ l² <= B/γ̂², as many mistakes at most, and Σ l <= 2B/γ̂².",
           ("squares", *attack(separable, plain_pa, lambda c, u: (float((hinge(c.margins) ** 2).sum()), by_margin(c, u)))),
           ("mistakes", *attack(separable, plain_pa, lambda c, u: (int((c.margins <= 0.0).sum()), by_margin(c, u)), True)),
           ("losses", *attack(separable, plain_pa, bounds.margin_corollary)))
    yield ("PA section 4: batch", "Rows with l² > ε are chosen until there are none: after B ||u - w_1||²/ε steps at most.",
           ("separable rows", *repeated(in_batch)))
    yield ("PA Lemma 2", "||w_T - w_1|| <= 2 ||u - w_1||.",
           ("classes", *attack(separable, plain_pa, bounds.distance)), ("numbers", *attack(near, numbers, bounds.distance)))
    yield ("PA Theorem 3", "Any u: Σ l² <= (γ + B) ||u - w_1||² + (1 + B/γ) Σ l(u)².",
           ("classes", *attack(classes, one_of(PassiveAggressiveClassifier, cs, loss="squared_hinge"), loss)),
           ("numbers", *attack(targets, one_of(PassiveAggressiveRegressor, cs, loss="squared_epsilon_insensitive"), loss)))
    some, Classifier = {"signed": False, "norm_bound": 1.0}, MultiplicativePassiveAggressiveClassifier
    yield ("PA Theorem 4 (classes, numbers)", "Multiplicative, x >= 0: Σ l² + 2 (ε - ε') Σ l <= B/2 D(u, w_1), B = max |x|².",
           *((name, *attack(shares(cls is not Classifier), one_of(cls, [0.03], **some), bounds.multiplicative))
             for name, cls in (("classes", Classifier), ("numbers", MultiplicativePassiveAggressiveRegressor))))
    yield ("PA Theorem 4 (one class)", "Σ l² + 2 (ε - ε') Σ l <= B/2 D(u, w_1), B = 16.",
           ("one class", *attack(ball, lambda rng, X: MultiplicativePassiveAggressiveOneClass(
               rng.choice([1.0, 1.3]).item(), norm_bound=30.0, scale=1.0, dtype=np.float64), bounds.one_class)))


# --- tutorial ------------------------------------------------------------------------------------------------------------------


def increases(rng):
    """Return by how much L²/(2σ), L = ||z||, is too small for the increase of the dual by DA1, σ = 1, and 0."""
    Z, _ = separated(rng)
    walker, worst = ascents("DA1")(rng, Z).set_params(sigma=1.0).partial_fit(Z[:0], [], classes=[-1, 1]), 0.0
    for z in Z:
        m, before = float(walker.decision_function(z[None])[0]), walker.dual_value_ if walker.t_ else 0.0
        rise = walker.partial_fit(z[None], [1]).dual_value_ - before
        worst = max(worst, max(0.0, 1.0 - m) - z @ z / 2.0 - rise, (m < 1.0) * abs(rise - (1.0 - m - z @ z / 2.0)))
    return worst, 0.0


def duals(rng):
    """Return the dual that PA (DA2) reaches, and FoReL's."""
    Z, _ = separated(rng)
    other = followed(DualAscentClassifier(1.0, norm_bound=1.0, update="DA2", **NO), Z)
    return other.learner.dual_value_, forel(Z)[1][-1] + 1e-8


def zero_one(rng):
    """Return the 0-1 loss of several classes, and max over r of 1 - (score of the right class - score of r), at least 0."""
    scores = rng.standard_normal(4)
    return float(scores[0] <= scores[1:].max()), max(0.0, 1.0 - (scores[0] - scores[1:].max()))


def of_leader(rng):
    """Return the regret of the mean of all numbers so far, half of which are against it, and 2B² (1 + log T)."""
    y = np.zeros(int(rng.integers(2, 200)))
    for t in range(len(y)):
        y[t] = rng.choice([-1.0, 1.0]) if rng.random() < 0.5 else -1.0 if t and y[:t].mean() > 0.0 else 1.0
    best = ((y - y.mean()) ** 2).sum()
    return tuple(side - best for side in bounds.follow_the_leader(y))


def be_the_leader(rng):
    y = rng.standard_normal(int(rng.integers(1, 100))) * 10.0 ** rng.uniform(-1.0, 1.0)
    after = np.cumsum(y) / np.arange(1, len(y) + 1)
    return ((after - y) ** 2).sum(), ((y - y.mean()) ** 2).sum()


def no_regret():
    """Return learners on x = 1, with labels against them: mistakes of each, and of the better constant."""
    X, found, rng = np.ones((200, 1)), [], np.random.default_rng(0)
    for make in (perceptron, plain_pa, arow, narow("diagonal")):
        learner = make(rng, X)
        y = against(learner, X)
        found.append((int((bounds.follow(learner, X, y).margins <= 0.0).sum()), int(min((y > 0.0).sum(), (y < 0.0).sum()))))
    told = "; ".join(f"{wrong} mistakes, {best} of a constant" for wrong, best in found)
    held = all(wrong == 200 and best <= 100 for wrong, best in found)
    return "200 labels against the prediction", f"{told} (Perceptron, PA, AROW, NAROW)", held, int(not held), len(found)


def weak(rng):
    """Return the dual at random or at the best α, and the least primal value."""
    _, X, y, _ = classes(rng, plain_pa)
    Z, sigma = y[:, None] * X, float(rng.choice([0.3, 1.0, 10.0]))
    alpha = rng.random(len(Z)) * (rng.random(len(Z)) < 0.7)
    _, duals, w = forel(Z, sigma, 1e-6)
    dual = alpha.sum() - np.sum((alpha @ Z) ** 2) / (2.0 * sigma)
    return max(float(dual), float(duals[-1])), sigma / 2.0 * w @ w + hinge(Z @ w).sum()


def enough(rng):
    """Return the lemma's regret and 2a√T, a the least number that its assumptions leave, over the ball ||u|| <= W."""
    learner, X, y, U = classes(rng, ascents(str(rng.choice(["DA1", "DA2"]))))
    if rng.integers(0, 3) == 0:
        margins, values, _ = forel(y[:, None] * X, learner.sigma)
    else:
        walker, values = type(learner)(**learner.get_params()).partial_fit(X[:0], [], classes=[-1, 1]), [0.0]
        for t in range(len(y)):
            values.append(walker.partial_fit(X[t : t + 1], y[t : t + 1]).dual_value_)
        margins = bounds.follow(learner, X, y).margins
    losses, W, T = hinge(margins), float(rng.choice([0.3, 1.0, 3.0])), len(y)
    a = max(((losses - np.diff(values)) * T**0.5).max(), learner.sigma / 2.0 * W**2 / T**0.5, 0.0)
    return losses.sum() - min(hinge(y * (X @ u) * W / np.linalg.norm(u)).sum() for u in U), 2.0 * a * T**0.5


def of_forel(rng):
    """Return FoReL's losses, and the least that the theorem allows."""
    _, X, y, U = classes(rng, ascents("DA2"))
    Z = y[:, None] * X
    return hinge(forel(Z)[0]).sum(), min(u @ u / 2.0 + hinge(Z @ u).sum() for u in U) + (Z**2).sum() / 2.0


def ball_regret(rng):
    """Return the regret to weights of norm W, and L W √T, with σ = √T L/W."""
    W, update = float(rng.choice([0.5, 1.0, 3.0])), str(rng.choice(UPDATES))

    def make(rng, X):
        return DualAscentClassifier(len(X) ** 0.5 * np.linalg.norm(X, axis=1).max() / W, update=update, norm_bound=1.0, **NO)

    learner, X, y, U = classes(rng, make)
    best = min(hinge(y * (X @ u) * W / np.linalg.norm(u)).sum() for u in U)
    return hinge(bounds.follow(learner, X, y).margins).sum() - best, W * np.linalg.norm(X, axis=1).max() * len(X) ** 0.5


def projected(v):
    down = np.sort(v)[::-1]
    over = (np.cumsum(down) - 1.0) / np.arange(1, len(v) + 1)
    return np.maximum(0.0, v - over[np.flatnonzero(down > over)[-1]])


def experts(rng, euclidean):
    """Return the regret to the best of d experts, of -1 or 1, most labels against the prediction, and √(dT) or √(2T log d)."""
    T, d, total = int(rng.integers(10, 200)), int(rng.integers(2, 12)), 0.0
    X, y, theta, most = rng.choice([-1.0, 1.0], (T, d)), np.zeros(T), np.zeros(d), (2.0 * T * np.log(d)) ** 0.5
    sigma, most = ((d * T) ** 0.5,) * 2 if euclidean else (T / most, most)
    for t, x in enumerate(X):
        w = projected(theta / sigma) if euclidean else np.exp((theta - theta.max()) / sigma)
        score = float(x @ w / w.sum())
        y[t] = x[0] if rng.random() < 0.3 else -np.sign(score) or 1.0
        total, theta = total + abs(score - y[t]), theta + np.sign(y[t] - score) * x
    return total - np.abs(y[:, None] - X).sum(axis=0).min(), most


def entropic(loss):
    """Return a trial of the regret of a learner on the simplex to random shares, and L √(2 T log d)."""
    of = hinge if loss == "hinge" else lambda m: np.logaddexp(0.0, -m)

    def trial(rng):
        T, d = int(rng.integers(10, 60)), int(rng.integers(2, 12))
        X = rng.uniform(-1.0, 1.0, (T, d))
        y = np.where(rng.random(T) < rng.choice([0.0, 0.6, 1.0]), np.sign(X[:, 0]), rng.choice([-1.0, 1.0], T))
        L = np.abs(X).max()
        learner = DualAscentClassifier(L * (T / (2.0 * np.log(d))) ** 0.5, regularizer="entropic", signed=False, norm_bound=1.0,
                                       update="DA2", loss=loss, **NO)
        U = [np.eye(d)[0], rng.dirichlet(np.ones(d)), np.eye(d)[(y @ X).argmax()]]
        best = min(of(y * (X @ u)).sum() for u in U)
        return of(bounds.follow(learner, X, y).margins).sum() - best, L * (2.0 * T * np.log(d)) ** 0.5

    return trial


def universal(c, u):
    """Return the first form, M <= L + R ||u|| √M."""
    wrong = c.margins <= 0.0
    M = int(wrong.sum())
    return M, float((wrong * hinge(c.y * (c.X @ u))).sum() + np.linalg.norm(u) * (c.norms() * wrong).max() * M**0.5)


def same_mistakes(rng):
    """Return how far apart the mistakes of the Perceptron are for three σ."""
    _, X, y, _ = classes(rng, perceptron)
    found = [Perceptron(eta0=2.0**-k, **NO).partial_fit(X, y, classes=[-1, 1]).n_mistakes_ for k in (0, 4, -5)]
    return max(found) - min(found), 0.0


def joint(kind):
    """Return a trial of the losses of several classes, and the bound."""
    def trial(rng):
        n, d, k = int(rng.integers(5, 30)), int(rng.integers(1, 5)), int(rng.integers(3, 6))
        X, u = rng.standard_normal((n, d)), rng.standard_normal((k, d))
        y = np.where(rng.random(n) < 0.2, rng.integers(0, k, n), (X @ u.T).argmax(axis=1))
        learner = ascents(str(rng.choice(UPDATES)), regularizer=kind)(rng, X)
        size = 0.95 / np.abs(u).sum() if kind == "entropic" else rng.choice([0.3, 1.0])
        return bounds.dual_ascent(bounds.follow(learner, X, y, k), u * size)

    return trial


def growth():
    """Return T and three means: the regret of gradient descent, strongly convex, its bound, and that on labels by chance."""
    at = 2 ** (np.arange(6, 9) if SMOKE else np.arange(6, 14))
    found, repetitions, n = np.zeros((3, len(at))), 2 if SMOKE else 10, int(at[-1])
    for seed in range(repetitions):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((n, 5))
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        y, coins = np.where(X[:, 0] + 0.3 * rng.standard_normal(n) > 0.0, 1.0, -1.0), rng.choice([-1.0, 1.0], n)
        course = bounds.follow(OGDClassifier(ALPHA, **NO), X, y)
        paid = np.cumsum(ALPHA / 2.0 * course.lengths[:-1] ** 2 + hinge(course.margins))
        flat = np.cumsum(hinge(bounds.follow(OGDClassifier(learning_rate="sqrt", eta0=1.0, **NO), X, coins).margins))
        known = np.linalg.norm(np.cumsum(coins[:, None] * X, axis=0), axis=1)  # what the best u of length 1 gains
        for i, T in enumerate(at):
            learner = OGDClassifier(ALPHA, average=True, **NO)
            for epoch in range(20):
                order = np.random.default_rng(epoch).permutation(T)
                learner.partial_fit(X[order], y[order], classes=[-1, 1])
            u = learner.coef_[0]
            best = ALPHA / 2.0 * u @ u * T + hinge(y[:T] * (X[:T] @ u)).sum()
            found[:, i] += paid[T - 1] - best, 2.0 / ALPHA * (1.0 + np.log(T)), flat[T - 1] - T + known[T - 1]
    return at, *found / repetitions


def to_batch():
    """Measure the average hypothesis' loss on new rows, less the mean loss along the rows, with its standard error."""
    more = []
    for seed in range(10 if SMOKE else 200):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((2100, 5))
        y = np.where(X[:, 0] + 0.5 * rng.standard_normal(2100) > 0.0, 1.0, -1.0)
        walker, w = DualAscentClassifier(10.0, norm_bound=1.0, **NO).partial_fit(X[:0], [], classes=[-1, 1]), []
        for t in range(100):
            w.append(walker.coef_[0].copy())
            walker.partial_fit(X[t : t + 1], y[t : t + 1])
        along = hinge(y[:100] * (X[:100] * w).sum(axis=1))
        more.append(hinge(y[100:] * (X[100:] @ np.mean(w, axis=0))).mean() - along.mean())
    mean, error = float(np.mean(more)), float(np.std(more) / len(more) ** 0.5)
    told = f"its loss on 2,000 other rows, less the mean along them: {mean:.4f} ± {error:.4f}"
    return "100 rows", told, mean < 2.0 * error, 0, len(more)


def of_tutorial(curves):
    at, regrets, allowed, plain = curves
    rate = plain / at**0.5
    later, dual, root = np.diff(regrets), bounds.dual_ascent, "The regret is O(√(log(d) T)): here L √(2 T log d)."
    lipschitz = "f σ-strongly convex by ||.||, l L-Lipschitz by the dual norm: "

    def in_hull(c, u):
        return dual(c, u * min(1.0, 0.9 * c.learner.norm_bound / np.abs(u).sum()))

    def tuned(kind):
        return one_of(DualAscentClassifier, ["auto"], regularizer=kind, update="DA1", norm_bound=2.0)

    yield ("Tutorial I: regression", "Follow the leader: a regret of O(log T) (numbers in a range); be the leader: at most 0.",
           ("leader, 2B² (1 + log T)", *repeated(of_leader)), ("be the leader", *repeated(be_the_leader)))
    yield "Tutorial I: classification", "No algorithm can guarantee low regret: it is at least T/2.", no_regret()
    yield "Tutorial II: weak duality", "max D(α) <= min P(w).", ("the dual of the SVM", *repeated(weak))
    yield ("Tutorial II: lemma", "D_{t+1} - D_t >= l(w_t) - a/√T and f <= a√T: the regret is at most 2a√T.",
           ("DA1, DA2, FoReL", *repeated(enough)))
    yield ("Tutorial II: theorem", f"{lipschitz}D_{{t+1}} - D_t >= l(w_t) - L²/(2σ), and the regret is at most f(u) + T L²/(2σ).",
           ("increase", *repeated(increases, "largest excess")),
           *((update, *attack(classes, ascents(update), dual)) for update in ("DA1", "DA2")),
           *((f"{update}, entropic", *attack(classes, ascents(update, regularizer="entropic"), in_hull))
             for update in ("DA1", "DA2")),
           ("DA2, log loss", *attack(classes, ascents("DA2", loss="log_loss"), dual)),
           ("DA2, absolute losses", *attack(targets, one_of(DualAscentRegressor, [1.0, 10.0], norm_bound=1.0), dual)),
           ("FoReL", *repeated(of_forel)))
    yield ("Tutorial II: corollary (Euclidean)", "S a ball of radius W, σ = √T L/W: the regret is at most L W √T.",
           ("DA1, DA2, DA3", *repeated(ball_regret)))
    yield ("Tutorial II: corollary (entropic)", "With σ = L √(T/log d) the regret is at most L √(T log d).",
           ("3/2 L √(T log d)", *repeated(lambda rng: shared(*said(rng))[1])))
    yield "Tutorial III: FoReL", "The regret of FoReL is at least as good as PA's.", ("dual of PA of FoReL's", *repeated(duals))
    yield ("Tutorial III: experts (Euclidean)", "On the simplex the regret is O(√(dT)): here √(dT).",
           ("absolute losses", *repeated(lambda rng: experts(rng, True))))
    yield "Tutorial III: experts (entropic)", root, ("absolute losses", *repeated(lambda rng: experts(rng, False)))
    yield "Tutorial III: multiplicative PA", root, ("DA2, hinge", *repeated(entropic("hinge")))
    yield "Tutorial III: logistic regression", root, ("DA2, log loss", *repeated(entropic("log_loss")))
    yield "Tutorial III: Perceptron's Δ", "The dual's increase, α = 1.", ("as on other slides", *repeated(increases, "off by"))
    yield ("Tutorial III: universal Perceptron", "ε <= L + ||u|| √ε, so that ε <= L + ||u|| √L + ||u||²; the same for every σ.",
           ("first form", *attack(classes, perceptron, universal, True)),
           ("second form", *attack(classes, perceptron, bounds.perceptron, True)),
           ("mistakes by σ", *repeated(same_mistakes, "largest difference")))
    yield "Tutorial IV: loss", "max over r ≠ y of 1 - w.(φ(x, y) - φ(x, r)) is at least the 0-1 loss.", ("", *repeated(zero_one))
    yield ("Tutorial IV: several classes", "The same bound for the joint construction.",
           *((kind, *repeated(joint(kind))) for kind in ("euclidean", "entropic")))
    yield ("Tutorial V: self-tuned", "σ can be inferred on the fly: here Σ L_t²/(2σ_t) in place of T L²/(2σ).",
           ("euclidean", *attack(classes, tuned("euclidean"), dual)), ("entropic", *attack(classes, tuned("entropic"), in_hull)))
    yield ("Tutorial V: √T is tight", "The dependence on √T is tight in a minimax sense.",
           ("labels by chance", f"regret/√T from T = {at[0]} to {at[-1]:,}: " + ", ".join(f"{one:.2f}" for one in rate),
            bool(rate.min() > 0.5 and rate.max() < 2.0), 0, 1))
    yield ("Tutorial V: strongly convex", "The regret is O(log T) with steps 1/(αt): here G²/(2α) (1 + log T).",
           ("growth from T to 2T", ", ".join(f"{step:.1f}" for step in later),
            bool(later[-2:].mean() <= 2.0 * max(later[:2].mean(), 0.1) and (regrets <= allowed).all()), 0, 1),
           ("the bound", *attack(classes, one_of(OGDClassifier, [ALPHA, 0.5]), bounds.gradient_descent)))
    yield "Tutorial V: online to batch", "The averaged hypothesis of i.i.d. rows loses no more than along them.", to_batch()


# --- AROW ----------------------------------------------------------------------------------------------------------------------


def representer(rng):
    """Return how far the scores by inner products, of rows turned into more dimensions, are from those by weights."""
    learner, X, y, _ = classes(rng, arow)
    turned = X @ np.linalg.qr(rng.standard_normal((X.shape[1] + 2, X.shape[1] + 2)))[0][: X.shape[1]]
    kernel = KernelOnlineClassifier("arow", kernel="linear", r=learner.r, fit_intercept=False)
    one, other = (model.partial_fit(rows, y, classes=[-1, 1]).decision_function(rows)
                  for model, rows in ((kernel, turned), (learner, X)))
    return float(np.abs(one - other).max()), 1e-7


def of_products(c, u):
    """Return the part of Σ - I that is no combination of products x_i x_j' of the rows."""
    P, S = np.linalg.pinv(c.X) @ c.X, c.learner.covariance_ - np.eye(c.X.shape[1])
    return float(np.abs(S - P @ S @ P).max()), 1e-7


def identities(c, u):
    """Lemma 3: how far u'Σ^-1 μ and μ'Σ^-1 μ are from their sums."""
    r, S, mu, on = c.learner.r, np.linalg.inv(c.learner.covariance_), c.learner.coef_[0], c.updated
    sums = (c.y * (c.X @ u) * on).sum() / r, (on * (c.chi + r - hinge(c.margins) ** 2 * r) / (r * (c.chi + r))).sum()
    return max(abs(left - right) / (1.0 + abs(left)) for left, right in zip((u @ S @ mu, mu @ S @ mu), sums, strict=True)), 1e-7


def determinant(c, u):
    """Lemma 4."""
    return float((c.updated * c.chi / (c.chi + c.learner.r)).sum()), float(-np.linalg.slogdet(c.learner.covariance_)[1])


def by_r(rng):
    """Return by how much the roots of Theorem 2 change in the other direction as r rises."""
    _, X, _, U = classes(rng, arow)
    r = np.array([0.1, 0.5, 2.0, 10.0])
    first = np.sqrt(r * (U[0] @ U[0]) + np.sum((X @ U[0]) ** 2))
    second = np.array([np.linalg.slogdet(np.eye(X.shape[1]) + X.T @ X / one)[1] for one in r])
    return max(-np.diff(first).min(), np.diff(second).max(), 0.0), 0.0


def of_classes(rng):
    """Theorem 2 for several classes with one covariance of all weights: rows z = φ(x, y) - φ(x, c), c the strongest rival."""
    n, d, k = int(rng.integers(5, 41)), int(rng.integers(1, 4)), int(rng.integers(3, 6))
    X, u, learner = rng.standard_normal((n, d)), rng.standard_normal((k, d)), arow(rng, None)
    Z, walker = np.zeros((n, k, d)), type(learner)(**learner.get_params()).partial_fit(np.zeros((0, k * d)), [], classes=[-1, 1])
    y = np.where(rng.random(n) < 0.1, rng.integers(0, k, n), (X @ u.T).argmax(axis=1))
    for t, (x, right) in enumerate(zip(X, y, strict=True)):
        scores = walker.coef_.reshape(k, d) @ x
        scores[right] = -np.inf
        Z[t, right], Z[t, scores.argmax()] = x, -x
        walker.partial_fit(Z[t].reshape(1, -1), [1])
    course = bounds.follow(learner, Z.reshape(n, -1), np.ones(n))
    return min((bounds.arow(course, u.ravel() * size) for size in (0.3, 1.0, 3.0)), key=lambda sides: sides.allowed)


def of_arow():
    yield ("AROW Lemma 1 (mean)", "μ_t is a linear combination of the rows, with coefficients of inner products alone.",
           ("scores by a linear kernel", *repeated(representer, "largest difference")))
    yield ("AROW Lemma 1 (covariance)", "Σ_t, but for Σ_0 = I, is a linear combination of outer products of the rows.",
           ("what is none", *attack(classes, arow, of_products, what="largest number")))
    yield ("AROW Lemma 3", "u'Σ_t^-1 μ_t grows by y u.x/r, and μ_t'Σ_t^-1 μ_t by (χ + r - l² r)/(r (χ + r)).",
           ("both sides", *attack(classes, arow, identities, what="largest relative difference")))
    yield "AROW Lemma 4", "Σ χ/(χ + r) <= log det Σ_T^-1.", ("rows that changed it", *attack(classes, arow, determinant))
    yield ("AROW Theorem 2", "M <= √(r ||u||² + u'Xu) √(log det(I + X/r) + U) + L(u) - U.",
           ("random r", *attack(classes, arow, bounds.arow, True)))
    yield ("AROW Theorem 2: r", "The first root rises with r, the second falls (for the same rows).",
           ("four r", *repeated(by_r, "largest change in the other direction")))
    yield ("AROW section 6: several classes", "Our mistake bound can be extended to this case (one covariance of all weights).",
           ("3 to 5 classes", *repeated(of_classes)))


# --- NAROW ---------------------------------------------------------------------------------------------------------------------


def memory(c, u):
    """Return B of Corollary 1, and 0."""
    return float((c.forgotten * c.updated).sum() / 2.0), 0.0


def other_loss(name):
    """Return a trial of Corollary 1 with a loss of the reference, log_loss to the base 2, which is at least the 0-1 loss."""
    base = np.log(2.0) if name == "log_loss" else 1.0
    loss = Loss(lambda m: LOSSES[name].value(m) / base, lambda m: LOSSES[name].slope(m) / base)

    def trial(rng):
        _, X, y, U = classes(rng, perceptron)
        eta, Z = float(rng.choice([0.1, 1.0])), y[:, None] * X
        learner, M = PotentialLearner(X.shape[1], SquaredNorm() if rng.random() < 0.5 else Quadratic(r=1.0), loss, eta), 0
        for z in Z:
            M += float(learner.f.seen(z).weights(learner.theta) @ z) <= 0.0
            learner.step(z, 1.0)
        return M, min(sum(map(loss.value, Z @ u)) + (learner.f.value(u) + learner.right) / eta for u in U)

    return trial


def of_linear_loss(rng):
    """Return the condition (2) of the hinge loss: 1 + u.z, z = -y x, and l(u)."""
    margin = float(3.0 * rng.standard_normal())
    return 1.0 - margin, float(hinge(margin))


def any_rate(c, u):
    """Return the first form of Corollary 2 at the best of several λ."""
    q, loss = float(((c.spread + 2.0 * c.lookahead + c.forgotten) * c.updated).sum()), c.loss(u)
    f = (bounds.potential_based(c, u).allowed - loss) ** 2 / q / 2.0 if q > 0.0 else 0.0  # (the second: L + √(2f) √q)
    return float(c.updated.sum()), min(loss + rate * f + q / (2.0 * rate) for rate in np.geomspace(1e-3, 1e3, 61))


def calm(c, u):
    """Return D of (4), for random steps between 0 and (R² - 2m)/||x||², and 0."""
    rng, m, squares = np.random.default_rng(len(c.y)), c.margins, c.norms(c.learner.p) ** 2
    R2 = squares.max() * rng.uniform(1.0, 4.0)
    eta = rng.random(len(m)) * np.clip((R2 - 2.0 * m) / np.maximum(squares, 1e-300), 0.0, 1.0) * (m > 0.0)
    return float(((eta**2 * squares + 2.0 * eta * m) / R2 - eta).sum()), 0.0


def short(rng, make):
    """Draw classes, rows up to √2 long."""
    learner, X, y, U = classes(rng, make)
    size = 2.0**0.5 / np.linalg.norm(X, axis=1).max()
    return learner, X * size, y, [u / size for u in U]


def signed(stream):
    """Return the rows z = y x of a stream."""
    return stream[2][:, None] * stream[1]


def beats_pa(c, u):
    """Return (4), and the bound of PA-I with C = 1 for the same rows, R = √2."""
    return bounds.p_norm(c, u).allowed, 2.0 * (u @ u + 2.0 * hinge(c.y * (c.X @ u)).sum())


def improves(c, u):
    """Return the last sum of 4.2 along AROW's course, and the U of Theorem 2 in its place."""
    r, m = c.learner.r, c.margins * c.learner.r
    return float((m * (2.0 * r - m) / (r * (r + c.chi)) * c.updated).sum()), float((c.updated & (m > 0.0)).sum())


def rare(rng):
    """Return squares of a factor of 4.3's bound and of the Perceptron's, at the paper's r: (r + s) Σ log(1 + X_i/r) and M R²."""
    d, M, R = int(rng.integers(1, 50)), float(rng.integers(1, 1000)), float(rng.uniform(0.5, 5.0))
    s, X = rng.uniform(0.001, 0.999) * M * R**2 / (2.0 * d), rng.dirichlet(np.full(d, rng.choice([0.3, 100.0]))) * M * R**2
    r = best_r(s, M, R, d)
    return (r + s) * np.log1p(X / r).sum(), M * R**2


def of_narow():
    kinds = ("SOP", sop("full")), ("SOP, diagonal", sop("diagonal")), ("NAROW", narow("full"))
    second, forms = bounds.second_order_perceptron, (("conservative", False), ("aggressive", True))
    yield ("NAROW Lemma 1",
           "If f_0(0) = 0, Σ η z.(w/λ - u) <= f_T(λu)/λ + 1/λ Σ (η² ||z||²/(2β) + g_t(θ_t) - g_{t-1}(θ_t)), g_t dual to f_t.",
           *((f"{name}", *attack(classes, make, lambda c, u: bounds.lemma_1(c, u, lam=2.0)))
             for name, make in (*kinds, ("p-norm", p_norm(True)))))
    yield ("NAROW Corollary 1", "M <= L(u) + f_T(u)/η + B/η + Σ η ||z||²/(2β); B <= 0 where f_t <= f_{t+1}.",
           *((name, *attack(classes, make, bounds.fixed_rate, True)) for name, make in (("Perceptron", perceptron), *kinds)),
           *((name, *repeated(other_loss(name))) for name in ("squared_hinge", "log_loss")),
           ("B", *attack(classes, sop("full"), memory, what="largest B")))
    yield "NAROW (2)", "The hinge loss: l(u) >= 1 + u.∂l(w_t).", ("random margins", *repeated(of_linear_loss))
    yield ("NAROW Corollary 2", "M + U <= L(u) + λ f_T(u) + 1/λ (...) for any λ; at best L(u) + √(2 f_T(u)) √(2B + Σ ...).",
           *((name, *attack(classes, make, bounds.potential_based, True)) for name, make in kinds),
           ("NAROW, diagonal, the best of 61 λ", *attack(classes, narow("diagonal"), any_rate, True)))
    yield ("NAROW (4)", "p-norm: M <= L + S²/2 + S √(S²/4 + L + D) - Σ η; D <= 0 for steps from 0 to (R² - 2m)/||x||².",
           *((name, *attack(classes, p_norm(form), bounds.p_norm, True)) for name, form in forms),
           ("D", *attack(classes, p_norm(True), calm, what="largest D")))
    yield ("NAROW 4.1: η", "With the steps min((R²/2 - m)/||x||², 1) in rounds without a mistake, (4) holds.",
           ("steps of at least 0", *attack(classes, p_norm(True), bounds.p_norm, True)))
    yield ("NAROW 4.1: PA-I", "With R = √2 the update is PA-I's, C = 1.",
           ("largest difference", *repeated(lambda rng: pa_one(signed(short(rng, sqrt_2)))[1], "largest difference")))
    yield ("NAROW 4.1: better", "(4) is better than the bound of PA-I (JMLR 2006), R = √2 and C = 1.",
           ("(4) of PA-I's", *attack(short, sqrt_2, beats_pa, True)))
    yield ("NAROW 4.2: AROW", "AROW updates if m_t <= 1, m_t = y x'A_{t-1}^-1 θ_{t-1}.",
           ("rounds", *repeated(lambda rng: updates(separated(rng)[0])[1], "rounds in which it does not")))
    yield ("NAROW 4.2", "M + U <= L + √(r ||u||² + Σ (u.x)²) √(log det A_T + Σ m (2r - m)/(r (r + χ))); improves AROW's.",
           *((name, *attack(classes, sop("full", form), second, True)) for name, form in forms),
           ("AROW: the last sum, of U", *attack(classes, arow, improves)))
    yield ("NAROW 4.3", "Diagonal: M + U <= L + √(u'D_T u) √(r Σ log(Σ x_i²/r + 1) + 2U).",
           *((name, *attack(classes, sop("diagonal", form), second, True)) for name, form in forms))
    yield ("NAROW 4.3: r", "With s < M R²/(2d) and r = s M R²/(M R² - 2sd) the bound is better than the Perceptron's.",
           ("the square of a factor", *repeated(rare)))
    yield ("NAROW section 5", "M + U <= L + ||u|| R √(1/(bR²) + log det A_T) √(Σ min(1, bχ) - b m (2r_t - m)/(r_t + χ)).",
           ("NAROW", *attack(classes, narow("full"), bounds.narow, True)))


# --- elsewhere -----------------------------------------------------------------------------------------------------------------


def advice(rng):
    """Return what experts say, 0 or 1, and labels, by chance or against the majority."""
    T, d = int(rng.integers(10, 200)), int(rng.integers(2, 10))
    X = (rng.random((T, d)) < 0.5) * 1.0
    return X, rng.choice([-1.0, 1.0], T) if rng.random() < 0.5 else np.where(X.mean(axis=1) > 0.5, -1.0, 1.0)


def of_others():
    yield ("JMLR 2006, Theorem 4", "PA-I: M <= max(R², 1/C) (||u||² + 2C Σ l(u)).",
           ("random C", *attack(classes, one_of(PassiveAggressiveClassifier, [0.1, 1.0, 10.0]), bounds.passive_aggressive, True)))
    yield ("Azoury, Warmuth 2001", "AROW's regression: Σ r e²/(r + χ) = min over u of r ||u||² + Σ (y - u.x)².",
           ("noisy numbers", *attack(targets, one_of(AROWRegressor, [1.0], covariance="full"), bounds.least_squares)))
    yield ("Cesa-Bianchi, Lugosi 2006, Theorem 2.3", "Hedge: a regret of at most 2 √(T ln(d)/2) + √(ln(d)/8).",
           ("expected mistakes", *repeated(lambda rng: bounds.hedge(*advice(rng)))))


# --- text messages, the table ---------------------------------------------------------------------------------------------------


def along_messages():
    """Return certificates along text messages, for the weights of a support vector machine in several sizes."""
    X, labels = load_sms_spam()
    X, y = (X[:300], labels[:300]) if SMOKE else (X, labels)
    y = np.where(y == "spam", 1, -1)
    machine = DualAscentClassifier(0.3, scale=1.0, fit_intercept=False, max_iter=20, random_state=0).fit(X, y)
    u = [machine.coef_[0].astype(float) * size for size in (0.2, 0.4, 0.6, 0.8, 1.0, 1.5)]
    learners = {
        "PA Theorem 3": PassiveAggressiveClassifier(1.0, loss="squared_hinge", **NO),
        "Tutorial II: theorem": DualAscentClassifier(1.0, update="DA2", norm_bound=1.0, **NO),
        "Tutorial III: universal Perceptron": Perceptron(eta0=1.0, **NO),
        "NAROW Corollary 2": NAROWClassifier(b=1.0, initial_variance=1.0, **NO),
        "NAROW 4.3": SecondOrderPerceptron(r=1.0, aggressive=True, initial_variance=1.0, **NO),
        "JMLR 2006, Theorem 4": PassiveAggressiveClassifier(1.0, **NO),
    }
    return {name: bounds.certify(bounds.follow(learner, X, y), u) for name, learner in learners.items()}


def panel(certificate):
    paid, allowed = certificate.paid, certificate.allowed
    held = bool((paid <= allowed * (1.0 + 1e-9)).all())
    return "text messages", f"{paid[-1]:.4g} of {allowed[-1]:.4g} after {certificate.rows[-1]:,} rows", held, int(not held), 1


def told(number, says, panels, kind):
    """Return the sentence of a theorem, with both forms of a slip."""
    held = all(panel[2] for panel in panels)
    refuted, streams = sum(panel[3] for panel in panels), sum(panel[4] for panel in panels)
    found = panels[0][1] if len(panels) == 1 else f"broken in {refuted} of {streams:,} streams"
    if number in SLIPS:
        ways = slip(number, found)
        ways[1]["held"] &= held
    else:
        note = NOTATION.get(number) or UNDECIDED.get(number)
        ways = [reading(note or "", found, held)]
    verdict = "slip" if number in SLIPS else "notation" if number in NOTATION else "undecided" if number in UNDECIDED else ""
    return sentence(number, says, ways, kind, verdict)


def main():
    certificates, curves = along_messages(), growth()
    sentences, numbers = [], {}
    for kind, parts in (("theorem", (of_pa(), of_tutorial(curves), of_arow(), of_narow())), ("elsewhere", (of_others(),))):
        for number, says, *panels in (one for part in parts for one in part):
            panels += [panel(certificates[number])] if number in certificates else []
            sentences.append(told(number, says, panels, kind))
            numbers[number] = {name: found for name, found, *_ in panels}
    keep("theorems", "all four papers: their theorems, lemmas and corollaries", sentences, numbers, remarks=[
        f"{RANDOM:,} streams a panel: 5 to 40 rows of unequal lengths, with labels by a hyperplane, some of them turned, or "
        "always against the prediction; few rows again and again; rows along the axes; competitors u: the hyperplane, least "
        "squares and the sum of y x, in several sizes; for text messages a support vector machine",
        '"tightest" is the largest paid/allowed; for mistakes and updates only where fewer are allowed than there are rows',
        "the papers were read as texts extracted by machine: AROW's formulas are lost in them (restored from its proofs), the "
        "tutorial's were read from pictures, where a line of one slide comes out in another way in its next builds. What stands "
        "once may be a reading error, and is no slip here"])


if __name__ == "__main__":
    sys.exit(main())
