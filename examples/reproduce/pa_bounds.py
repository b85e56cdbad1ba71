"""PA paper: its three tasks (classes, numbers, one class) with the bounds of Theorem 1 (and 3) after every row."""

import sys

import numpy as np
from common import SMOKE, claim, keep, picture, plt

from onlinecls import PassiveAggressiveClassifier, PassiveAggressiveOneClass, PassiveAggressiveRegressor, bounds

NO = {"fit_intercept": False}


def both_sides(losses, slack, squares, distance):
    """Return Σ l² + 2 slack Σ l and B ||u - w_1||², after each row."""
    return np.cumsum(losses**2) + 2.0 * slack * np.cumsum(losses), np.maximum.accumulate(squares) * distance


def main():
    rng = np.random.default_rng(0)
    n, d = 200 if SMOKE else 2000, 10
    figure, axes = plt.subplots(1, 4, figsize=(18, 4.2), layout="constrained")
    curves = {}

    u = rng.standard_normal(d)
    X = rng.standard_normal((4 * n, d))
    X = X[np.abs(X @ u) > 0.4][:n]
    y, u = np.sign(X @ u), u / 0.4
    certificate = bounds.follow(PassiveAggressiveClassifier(float("inf"), **NO), X, y, u=u)
    losses = np.maximum(0.0, 1.0 - bounds.follow(PassiveAggressiveClassifier(float("inf"), **NO), X, y).margins)
    slack = float((y * (X @ u)).min() - 1.0)
    curves["classes, Theorem 1"] = both_sides(losses, slack, (X**2).sum(axis=1), u @ u)
    assert np.all(certificate.paid <= certificate.allowed + 1e-9)

    w = rng.standard_normal(d)
    targets = X @ w + rng.uniform(-0.1, 0.1, len(X))
    course = bounds.follow(PassiveAggressiveRegressor(float("inf"), epsilon=0.2, **NO), X, targets)
    losses = np.maximum(0.0, np.abs(targets - course.scores) - 0.2)
    slack = 0.2 - float(np.abs(targets - X @ w).max())
    curves["numbers, Theorem 1"] = both_sides(losses, slack, (X**2).sum(axis=1), w @ w)

    centre = rng.standard_normal(d)
    around = rng.standard_normal((n, d))
    points = centre + around / np.linalg.norm(around, axis=1, keepdims=True) * rng.random((n, 1)) ** (1 / d)
    course = bounds.follow(PassiveAggressiveOneClass(1.2), points)
    losses = np.maximum(0.0, -course.scores - 1.2)[1:]
    slack = 1.2 - float(np.linalg.norm(points - centre, axis=1).max())
    curves["one class, Theorem 1"] = both_sides(losses, slack, np.ones(n - 1), float(np.sum((centre - points[0]) ** 2)))

    noisy = np.where(rng.random(len(y)) < 0.1, -y, y)
    learner = PassiveAggressiveClassifier(0.05, loss="squared_hinge", **NO)
    certificate = bounds.follow(learner, X, noisy, u=[u * s for s in (0.1, 0.3, 1.0)])
    curves["10 % of the labels turned, PA-II, Theorem 3"] = certificate.paid, certificate.allowed.min(axis=0)

    claims, numbers = [], {}
    for ax, (name, (paid, allowed)) in zip(axes, curves.items(), strict=True):
        ax.plot(paid, label="paid")
        ax.plot(allowed, "--", label="allowed")
        ax.set(title=name, xlabel="rows", ylabel="losses, as the theorem sums them", yscale="log", ylim=(paid[-1] / 100, None))
        ax.grid(alpha=0.3)
        ax.legend()
        claims.append(claim(f"{name}: what is paid stays below what the theorem allows, after every row.",
                            f"after {len(paid)} rows {paid[-1]:.4g} of {allowed[-1]:.4g}", np.all(paid <= allowed + 1e-9),
                            kind="theorem"))
        numbers[name] = {"paid": float(paid[-1]), "allowed": float(allowed[-1])}
    picture(figure, "pa_three_tasks")
    keep("pa_bounds", "PA paper, sections 2 to 5", claims, numbers)


if __name__ == "__main__":
    sys.exit(main())
