"""Random and adversarial streams for theorems, and how many of them break a bound.

A stream has 5 to 40 rows of unequal lengths: labels by a hyperplane, some of them turned, or always against the prediction; few
rows that come again; rows along the axes. Competitors u are the hyperplane, least squares and the sum of y x, in several sizes.
A function that draws one, of (rng, make), returns an unfitted learner make(rng, X), X, y and the competitors.
"""

import sys

import numpy as np

from onlinecls import bounds

NO = {"scale": 1.0, "fit_intercept": False, "dtype": np.float64}
RANDOM = 20 if "--smoke" in sys.argv else 1000


def hinge(margins):
    return np.maximum(0.0, 1.0 - margins)


def competitors(X, y, u):
    """Return directions in several sizes: the median margin and, where all are right, the least one is 1."""
    found = []
    for v in (u, np.linalg.solve(X.T @ X + 1e-3 * np.eye(len(u)), X.T @ y), y @ X):
        m = y * (X @ v)
        if np.abs(m).max() > 1e-9:
            found += [v / np.median(np.abs(m)[np.abs(m) > 1e-9]) * size for size in (0.3, 1.0, 2.0)]
            found += [v / m.min()] if m.min() > 1e-6 else []
    return found


def rows(rng, kind):
    """Return rows of random lengths; kind 1: along the axes; 2: three rows, again and again."""
    n, d = int(rng.integers(5, 41)), int(rng.integers(1, 7))
    X = rng.standard_normal((n, d)) * np.exp(rng.normal(0.0, 0.5, (n, 1)))
    if kind == 1:
        X = np.eye(d)[np.arange(n) % d] * rng.choice([0.5, 1.0, 2.0])
    return X[rng.integers(0, 3, n)] if kind == 2 else X


def against(learner, X):
    walker = type(learner)(**learner.get_params()).partial_fit(X[:0], [], classes=[-1, 1])
    y = np.zeros(len(X))
    for t in range(len(X)):
        y[t] = -1.0 if walker.decision_function(X[t : t + 1])[0] > 0.0 else 1.0
        walker.partial_fit(X[t : t + 1], y[t : t + 1])
    return y


def classes(rng, make, apart=False):
    """Draw labels by a hyperplane, against each prediction (kind 3), or with a fifth of them turned (4, 5)."""
    kind = int(rng.integers(0, 3 if apart else 6))
    X = rows(rng, kind)
    u, learner = rng.standard_normal(X.shape[1]), make(rng, X)
    if apart:
        X = X[np.abs(X @ u) > 0.1 * np.linalg.norm(X, axis=1) * np.linalg.norm(u)]
        X = X if len(X) else u[None]
    y = against(learner, X) if kind == 3 else np.where(X @ u > 0.0, 1.0, -1.0)
    y = np.where(rng.random(len(y)) < 0.2, -y, y) if kind > 3 else y
    return learner, X, y, competitors(X, y, u)


def separable(rng, make):
    """Draw labels that u predicts, no row being near its hyperplane."""
    return classes(rng, make, apart=True)


def targets(rng, make):
    """Draw numbers with noise."""
    X = rows(rng, int(rng.integers(0, 3)))
    u = rng.standard_normal(X.shape[1])
    y = X @ u + rng.choice([0.1, 1.0, 5.0]) * rng.uniform(-1.0, 1.0, len(X))
    return make(rng, X), X, y, [u, 0.5 * u, np.linalg.solve(X.T @ X + np.eye(len(u)), X.T @ y)]


def near(rng, make):
    """Draw numbers that u predicts within 0.1."""
    X = rows(rng, int(rng.integers(0, 3)))
    u = rng.standard_normal(X.shape[1])
    return make(rng, X), X, X @ u + rng.choice([0.02, 0.1]) * rng.choice([-1.0, 1.0], len(X)), [u]


def ball(rng, make):
    """Draw points within 1 of a centre."""
    n, d = int(rng.integers(5, 41)), int(rng.integers(1, 7))
    points = rng.standard_normal((n, d))
    points *= rng.uniform(0.2, 1.0, (n, 1)) / np.linalg.norm(points, axis=1, keepdims=True)
    u = 3.0 * rng.standard_normal(d)
    points = (points if rng.random() < 0.5 else np.sign(points) / d**0.5) + u
    return make(rng, points), points, None, [u]


def shares(of_targets):
    """Return streams of rows x >= 0 and weights on the simplex, with scores near y or, for classes, beyond the margin."""
    def draw(rng, make):
        n, d = int(rng.integers(5, 41)), int(rng.integers(2, 9))
        u, X = rng.dirichlet(np.full(d, 0.2)), rng.random((n, d)) * (rng.random((n, d)) < 0.7)
        X[:, u.argmax()] = np.maximum(X[:, u.argmax()], 0.5)
        scores = X @ u
        learner = make(rng, X)
        if not of_targets:
            learner.set_params(margin=float(scores.min() * rng.choice([0.3, 1.0])))
        return learner, X, scores + of_targets * 0.02 * rng.uniform(-1.0, 1.0, n) if of_targets else np.ones(n), [u]

    return draw


def forel(Z, sigma=1.0, gap=1e-9):
    """Follow the regularized leader over rows z: the margins, the dual before each row and at the end, and the last weights."""
    theta, alpha, margins, duals = np.zeros(Z.shape[1]), np.zeros(len(Z)), [], [0.0]
    squares = (Z**2).sum(axis=1)
    for t, z in enumerate(Z):
        margins.append(theta @ z / sigma)
        for _ in range(10_000):
            for i in range(t + 1):
                new = min(max(alpha[i] + (sigma - theta @ Z[i]) / squares[i], 0.0), 1.0)
                theta, alpha[i] = theta + (new - alpha[i]) * Z[i], new
            m = Z[: t + 1] @ theta / sigma
            if (hinge(m) - alpha[: t + 1] * (1.0 - m)).sum() <= gap:
                break
        duals.append(alpha.sum() - theta @ theta / (2.0 * sigma))
    return np.array(margins), np.array(duals), theta / sigma


def broken(paid, allowed):
    return not paid <= allowed + 1e-8 * (1.0 + abs(allowed))


def summary(streams, what):
    """Return in words what was found, if no stream breaks the bound, how many do, and the streams: lists of (paid, allowed, n).

    what : "tightest", of the sums that are below n; or the name of a number that must be 0, or not above 0.
    """
    refuted = sum(any(broken(paid, allowed) for paid, allowed, _ in sides) for sides in streams)
    told = [(paid, allowed) for sides in streams for paid, allowed, n in sides if allowed < n]
    if what == "tightest":
        some = [(round(paid / allowed, 4), paid, allowed) for paid, allowed in told if allowed > 0.0]
        _, paid, allowed = max(some, default=(0.0, 0.0, 0.0))  # (the largest of those that are as tight)
        what = f"tightest {paid:.4g} of {allowed:.4g}"
    else:
        what = f"{what} {max(paid for paid, _ in told):.1e}"
    return f"broken in {refuted} of {len(streams):,} streams; {what}", refuted == 0, refuted, len(streams)


def attack(draw, make, bound, counts=False, what="tightest"):
    """Attack a bound(course, u); counts: of mistakes, where only bounds below the number of rows say something."""
    rng, streams = np.random.default_rng(0), []
    for _ in range(RANDOM):
        learner, X, y, U = draw(rng, make)
        course = bounds.follow(learner, X, y)
        streams.append([(*bound(course, u), len(X) if counts else np.inf) for u in U])
    return summary(streams, what)


def repeated(trial, what="tightest"):
    """Attack with trial(rng), the (paid, allowed) of one random stream."""
    rng = np.random.default_rng(0)
    return summary([[(*trial(rng), np.inf)] for _ in range(RANDOM)], what)
