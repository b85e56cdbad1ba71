"""The attack on the papers' theorems: random and adversarial streams, the learners of each, how many streams break it.

A stream has 5 to 40 rows of unequal lengths, along the axes, or three rows again and again; labels are by a hyperplane, some of
them turned, or always against the prediction. Competitors u are the hyperplane, least squares and the sum of y x, in several
sizes. test_bounds.py runs a few streams of each learner, examples/reproduce/theorems.py many.
"""

from functools import partial
from typing import NamedTuple

import numpy as np

import onlinecls as oc
from onlinecls import bounds

NO, INF = {"scale": 1.0, "fit_intercept": False, "dtype": np.float64}, float("inf")
ONE, FULL = {"initial_variance": 1.0}, {"covariance": "full"}
SOPS = [oc.SecondOrderPerceptron(2.0, aggressive=a, **f, **ONE, **NO) for f in (FULL, {}) for a in (False, True)]
NAROWS = [oc.NAROWClassifier(0.5, **ONE, **NO), oc.NAROWClassifier(2.0, **FULL, **ONE, **NO)]
RATES = [oc.Perceptron(eta0=0.2, **NO), oc.Perceptron(**NO), oc.Perceptron(True, eta0=0.2, **NO), oc.PNormPerceptron(3.0, **NO),
         oc.PNormPerceptron(**NO), *SOPS, *NAROWS]
BOLD = oc.PNormPerceptron(4.0, aggressive=True, radius=8.0, **NO)
FALLING = [BOLD, *(oc.OGDClassifier(learning_rate="sqrt", eta0=eta0, **NO) for eta0 in (0.2, 3.0))]
DUALS = [partial(oc.DualAscentClassifier, norm_bound=15.0, regularizer=f, loss=loss, **NO)
         for f in ("euclidean", "entropic") for loss in ("hinge", "log_loss")]
PLAIN_PA = [oc.PassiveAggressiveClassifier(INF, **NO), oc.PassiveAggressiveRegressor(INF, epsilon=0.1, **NO)]
TARGETS = [oc.DualAscentRegressor(sigma, loss=loss, regularizer=f, norm_bound=5.0, **NO) for loss, f, sigma in (
    ("absolute", "euclidean", 15.0), ("absolute", "entropic", 15.0), ("squared", "euclidean", 15.0),
    ("squared", "entropic", 500.0), ("absolute", "euclidean", "auto"), ("absolute", "entropic", "auto"))]
SQUARED = oc.PassiveAggressiveRegressor(0.5, loss="squared_epsilon_insensitive", epsilon=0.1, **NO)

#: The statements that a function of `bounds` computes both sides of, by their numbers: that function's name, and learners.
ATTACKS = {
    "PA Theorem 1": [("passive_aggressive", PLAIN_PA), ("one_class", [
        oc.PassiveAggressiveOneClass(1.0, scale=1.0, dtype=np.float64)])],
    "PA section 4: corollary": [("margin_corollary", [oc.PassiveAggressiveClassifier(INF, margin=2.0, **NO)])],
    "PA Lemma 2": [("distance", PLAIN_PA)],
    "PA Theorem 3": [("passive_aggressive", [SQUARED, *(
        oc.PassiveAggressiveClassifier(0.3, loss="squared_hinge", margin=margin, **NO) for margin in (1.0, 0.5))])],
    "PA Theorem 4 (classes, numbers)": [("multiplicative", [
        oc.MultiplicativePassiveAggressiveClassifier(norm_bound=15.0, margin=1.0, **NO),
        oc.MultiplicativePassiveAggressiveRegressor(norm_bound=5.0, epsilon=0.1, **NO)])],
    "PA Theorem 4 (one class)": [("one_class", [
        oc.MultiplicativePassiveAggressiveOneClass(1.3, norm_bound=30.0, scale=1.0, dtype=np.float64)])],
    "Tutorial II: theorem": [("dual_ascent", [
        *(make(3.0, update=update, margin=0.8) for make in DUALS for update in ("DA1", "DA2", "DA3")),
        DUALS[2](3.0, signed=False), *TARGETS[:4]])],
    "Tutorial III: universal Perceptron": [("perceptron", [oc.Perceptron(**NO), oc.Perceptron(eta0=0.3, **NO)])],
    "Tutorial V: self-tuned": [("dual_ascent", [
        *(make("auto") for make in DUALS), DUALS[3]("auto", signed=False), *TARGETS[4:]])],
    "Tutorial V: strongly convex": [("gradient_descent", [oc.OGDClassifier(0.1, **NO)])],
    "AROW Theorem 2": [("arow", [oc.AROWClassifier(r, **FULL, **NO) for r in (0.7, 5.0)])],
    "NAROW Lemma 1": [("lemma_1", [*RATES, *FALLING])],
    "NAROW Corollary 1": [("fixed_rate", [
        *RATES, *(make(sigma, update="DA1", margin=0.8) for make, sigma in zip(DUALS, (3, 3, 100, 100), strict=True)),
        DUALS[3](100.0, update="DA1", signed=False)])],
    "NAROW Corollary 2": [("potential_based", [*RATES, *FALLING, oc.AROWClassifier(0.7, **FULL, **NO)])],
    "NAROW (4)": [("p_norm", [*(oc.PNormPerceptron(p, **NO) for p in (2.0, 6.0, None)), BOLD])],
    "NAROW 4.1: η": [("p_norm", [BOLD, oc.PNormPerceptron(2.0, aggressive=True, radius=8.0, **NO)])],
    "NAROW 4.2": [("second_order_perceptron", [*SOPS[:2], *(
        oc.SecondOrderPerceptron(r, aggressive=r > 1.0, initial_variance=v, **FULL, **NO) for r, v in ((2.0, 0.2), (0.7, 3)))])],
    "NAROW 4.3": [("second_order_perceptron", [*SOPS[2:], *(
        oc.SecondOrderPerceptron(0.7, aggressive=v > 1.0, initial_variance=v, **NO) for v in (1.0, 3.0))])],
    "NAROW section 5": [("narow", [
        oc.NAROWClassifier(b, initial_variance=v, **FULL, **NO) for b, v in ((2.0, 1.0), (2.0, 0.2), (0.5, 3.0), (0.1, 1.0))])],
    "JMLR 2006, Theorem 4": [("passive_aggressive", [
        oc.PassiveAggressiveClassifier(0.3, margin=margin, **NO) for margin in (1.0, 3.0)])],
    "Azoury, Warmuth 2001": [("least_squares", [oc.AROWRegressor(r, **FULL, **NO) for r in (0.3, 2.0)])],
}


def task(learner):
    return learner._estimator_type


def lossless(name, learner):
    """Return whether the theorem is about competitors without loss."""
    return name in ("multiplicative", "one_class") or getattr(learner, "C", 0.0) == INF


def begun(learner, X, classes=(-1, 1)):
    """Return a learner of the same parameters that knows the columns and the classes, and no row yet."""
    named = {"classes": classes} if task(learner) == "classifier" else {}
    return type(learner)(**learner.get_params()).partial_fit(X[:0], [], **named)


def against(learner, X, label_of=lambda score, t: -1.0 if score > 0.0 else 1.0, classes=(-1, 1)):
    """Return the labels of an adversary, who hears the scores first."""
    walker, y = begun(learner, X, classes), np.zeros(len(X))
    for t in range(len(X)):
        y[t] = label_of(walker.decision_function(X[t : t + 1])[0], t)
        walker.partial_fit(X[t : t + 1], y[t : t + 1])
    return y


def competitors(X, y, u):
    """Return directions in several sizes: the median margin and, where all are right, the least one is 1."""
    found = []
    for v in (u, np.linalg.solve(X.T @ X + 1e-3 * np.eye(len(u)), X.T @ y), y @ X):
        m = y * (X @ v)
        if np.abs(m).max() > 1e-9:
            found += [v / np.median(np.abs(m)[np.abs(m) > 1e-9]) * size for size in (0.3, 1.0, 2.0)]
            found += [v / m.min()] if m.min() > 1e-6 else []
    return found


def rows(rng):
    """Return rows of random lengths, along the axes, or three rows again and again."""
    n, d, kind = int(rng.integers(5, 41)), int(rng.integers(1, 7)), rng.integers(0, 4)
    X = rng.standard_normal((n, d)) * np.exp(rng.normal(0.0, 0.5, (n, 1)))
    if kind == 1:
        X = np.eye(d)[np.arange(n) % d] * rng.choice([0.5, 1.0, 2.0])
    return X[rng.integers(0, 3, n)] if kind == 2 else X


def classes(rng, learner, apart=False):
    """Draw labels by a hyperplane, with a fifth of them turned, or against each prediction; apart: right, none near it."""
    X = rows(rng)
    u, kind = rng.standard_normal(X.shape[1]), 0 if apart else rng.integers(0, 3)
    if apart:
        X = X[np.abs(X @ u) > 0.1 * np.linalg.norm(X, axis=1) * np.linalg.norm(u)]
        X = X if len(X) else u[None]
    y = against(learner, X) if kind == 1 else np.where(X @ u > 0.0, 1.0, -1.0)
    y = np.where(rng.random(len(y)) < 0.2, -y, y) if kind == 2 else y
    return X, y, competitors(X, y, u)


def targets(rng, noise):
    """Draw numbers that u predicts but for noise."""
    X = rows(rng)
    u = rng.standard_normal(X.shape[1])
    y = X @ u + noise * rng.uniform(-1.0, 1.0, len(X))
    return X, y, [u] if noise < 0.1 else [u, 0.5 * u, np.linalg.solve(X.T @ X + np.eye(len(u)), X.T @ y)]


def ball(rng):
    """Draw points within 1 of a centre."""
    points = rng.standard_normal((int(rng.integers(5, 41)), int(rng.integers(1, 7))))
    points *= rng.uniform(0.2, 1.0, (len(points), 1)) / np.linalg.norm(points, axis=1, keepdims=True)
    u = 3.0 * rng.standard_normal(points.shape[1])
    return (points if rng.random() < 0.5 else np.sign(points) / len(u) ** 0.5) + u, None, [u]


def shares(rng, of_targets):
    """Draw rows x >= 0 and weights on the simplex, with scores near y or, for classes, beyond the margin of 1."""
    u, n = rng.dirichlet(np.full(int(rng.integers(2, 9)), 0.2)), int(rng.integers(5, 41))
    X = rng.random((n, len(u))) * (rng.random((n, len(u))) < 0.7)
    X[:, u.argmax()] = np.maximum(X[:, u.argmax()], 0.5)
    return X, X @ u + 0.02 * rng.uniform(-1.0, 1.0, n) if of_targets else np.ones(n), [u if of_targets else u / (X @ u).min()]


def drawn(name, learner, seed):
    """Draw rows, targets and competitors for which the learner's theorem says something."""
    rng = np.random.default_rng(seed)
    if name == "multiplicative":
        X, y, U = shares(rng, task(learner) == "regressor")
    elif task(learner) == "regressor":
        X, y, U = targets(rng, rng.choice([0.02, 0.08] if lossless(name, learner) else [0.1, 1.0, 5.0]))
    else:
        X, y, U = ball(rng) if name == "one_class" else classes(rng, learner, lossless(name, learner))
    if getattr(learner, "radius", 0.0) and learner.aggressive:
        X = X * (learner.radius / max(learner.radius, np.linalg.norm(X, learner.p or 2.0, axis=1).max()))
    if hasattr(learner, "norm_bound") and name != "one_class":  # some in reach of the weights, on the simplex if they are there
        U = [*U, *((np.abs(u) if learner.signed is False else u) / np.abs(u).sum() * learner.norm_bound for u in U[:4])]
    return X, y, U


class Found(NamedTuple):
    """How many streams break a bound, of how many; the largest paid/allowed where less is allowed than there are rows."""

    broken: int
    streams: int
    tightest: float


def is_broken(paid, allowed):
    return not paid <= allowed + 1e-8 * (1.0 + abs(allowed))


def tried(trial, n, seed=0):
    """Attack with trial(rng), the (paid, allowed) of one random stream or several such pairs."""
    rng, wrong, tight = np.random.default_rng(seed), 0, 0.0
    for _ in range(n):
        sides = np.reshape(trial(rng), (-1, 2))
        wrong += any(is_broken(*pair) for pair in sides)
        tight = max([tight, *(paid / allowed for paid, allowed in sides if 0.0 < paid and 1e-3 < allowed < INF)])
    return Found(wrong, n, tight)


def attacked(name, learner, n, first=0):
    """Attack a bound with n streams, each to its end and after three rows, and all competitors and 0."""
    wrong, tight = 0, 0.0
    for seed in range(first, first + n):
        X, y, U = drawn(name, learner, seed)
        course, pairs = bounds.follow(learner, X, y), []
        for rounds in {len(X), min(3, len(X))}:
            pairs += [(*getattr(bounds, name)(course.until(rounds), u), rounds) for u in (0.0 * U[0], *U)]
        wrong += any(is_broken(paid, allowed) for paid, allowed, _ in pairs)
        counts = isinstance(pairs[0][0], int)  # of mistakes or updates
        tight = max([tight, *(paid / allowed for paid, allowed, most in pairs
                              if 0.0 < paid and 1e-3 < allowed < (most if counts else INF))])
    return Found(wrong, n, tight)
