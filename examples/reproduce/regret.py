"""The tutorial's part V: regret of gradient descent, log T where the loss is strongly convex, √T for plain losses; and regret
against a competitor that changes, which the tutorial names at its end."""

import sys

import numpy as np
from common import SMOKE, claim, keep, picture, plt

from onlinecls import HedgeClassifier, OGDClassifier, bounds

NO = {"fit_intercept": False, "dtype": np.float64}
ALPHA = 0.05


def stream(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 5))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return X, np.where(X[:, 0] + 0.3 * rng.standard_normal(n) > 0, 1, -1)


def best(X, y):
    """Return the weights of the least alpha/2 ||u||² + mean hinge loss, by many passes of averaged gradient descent."""
    learner = OGDClassifier(ALPHA, average=True, **NO)
    for seed in range(30):
        order = np.random.default_rng(seed).permutation(len(y))
        learner.partial_fit(X[order], y[order], classes=[-1, 1])
    return learner.coef_[0]


def changing(T, k, seed):
    """Return the chances of ten experts, of whom one is right at a time, another one after each of k changes; and labels."""
    rng = np.random.default_rng(seed)
    right, y = np.zeros(T, int), rng.choice([-1, 1], T)
    for change in range(1, k + 1):
        right[change * T // (k + 1) :] = (right[change * T // (k + 1)] + rng.integers(1, 10)) % 10
    X = rng.random((T, 10))
    X[np.arange(T), right] = 0.9 * (y > 0) + 0.1 * (y < 0)
    return X, y


def main():
    powers = np.arange(6, 10) if SMOKE else np.arange(6, 15)
    at, repetitions = 2**powers, 1 if SMOKE else 5
    n = int(at[-1])
    regrets, plain, allowed = np.zeros(len(at)), np.zeros(len(at)), np.zeros(len(at))
    for seed in range(repetitions):
        X, y = stream(n, seed)
        course = bounds.follow(OGDClassifier(ALPHA, **NO), X, y)
        paid = ALPHA / 2 * np.sum(course.weights[:-1] ** 2, axis=1) + np.maximum(0.0, 1.0 - course.margins)
        coins = np.random.default_rng(100 + seed).choice([-1, 1], n)  # labels that nobody can learn
        flat = bounds.follow(OGDClassifier(learning_rate="sqrt", eta0=1.0, **NO), X, coins)
        flat_paid = np.cumsum(np.maximum(0.0, 1.0 - flat.margins))
        known = np.linalg.norm(np.cumsum(coins[:, None] * X, axis=0), axis=1)  # what the best u of length 1 gains in hindsight
        for i, T in enumerate(at):
            u = best(X[:T], y[:T])
            loss = np.maximum(0.0, 1.0 - y[:T] * (X[:T] @ u))
            regrets[i] += (paid[:T].sum() - (ALPHA / 2 * u @ u * T + loss.sum())) / repetitions
            plain[i] += (flat_paid[T - 1] - (T - known[T - 1])) / repetitions
            allowed[i] += (4.0 / (2.0 * ALPHA) * (1.0 + np.log(T))) / repetitions
    rng = np.random.default_rng(0)
    y = rng.standard_normal(2000)
    leader = [bounds.follow_the_leader(y[:T]) for T in (20, 200, 2000)]
    X, y = changing(400 if SMOKE else 4000, 7, 0)
    eta, alpha = np.sqrt(8 * 8 * np.log(10 * len(y) / 8) / len(y)), 7 / (len(y) - 1)
    drifting = bounds.fixed_share(HedgeClassifier(eta, share=alpha), X, y, shifts=7)
    fixed = HedgeClassifier(eta).partial_fit(X, y).expected_loss_
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.5), layout="constrained")
    left.semilogx(at, regrets, "o-", label="regret, steps 1/(αt)")
    left.semilogx(at, allowed, "--", label="G²/2α (1 + log T)")
    left.set(xlabel="T", ylabel="regularized regret", title="strongly convex: log T")
    right.plot(np.sqrt(at), plain, "o-", label="regret, steps 1/√t")
    right.set(xlabel="√T", ylabel="regret", title="plain losses, labels by chance: √T")
    for ax in (left, right):
        ax.grid(alpha=0.3)
        ax.legend()
    picture(figure, "regret")
    growth = np.diff(regrets)
    power = float(np.polyfit(np.log(at), np.log(np.maximum(plain, 1e-9)), 1)[0])
    claims = [
        claim("Strongly convex losses: the regret grows as log T, that is by no more from T to 2T however large T is.",
              "from each T to 2T: " + ", ".join(f"{step:.1f}" for step in growth),
              growth[-3:].mean() <= 2.0 * max(growth[:3].mean(), 0.1) and np.all(regrets <= allowed),
              "see the numbers", kind="theorem"),
        claim("Plain losses: a regret in proportion to √T, which cannot be improved in general (labels by chance here).",
              f"T to the power {power:.2f}: {plain[0]:.0f} at T = {at[0]}, {plain[-1]:.0f} at T = {at[-1]:,}", 0.4 < power < 0.6,
              "see the numbers", kind="theorem"),
        claim("Follow the leader on squared losses: a regret of O(log T).",
              "; ".join(f"paid {one.paid:.1f} of {one.allowed:.1f}" for one in leader) + " (T = 20, 200, 2,000)",
              all(one.paid <= one.allowed for one in leader), kind="theorem"),
        claim("Drifting hypotheses: with a fixed share, Hedge's loss is bounded beside any sequence of experts (the tutorial "
              "names this regret; the bound is Herbster's and Warmuth's).",
              f"paid {drifting.paid:.0f} of {drifting.allowed:.0f} (ten experts, 7 changes in {len(y):,} rows); without a share "
              f"{fixed:.0f}", drifting.paid <= drifting.allowed, kind="theorem"),
    ]
    keep("regret", "the tutorial, parts I and V", claims,
         {"T": at.tolist(), "strongly convex": regrets.tolist(), "allowed": allowed.tolist(), "plain": plain.tolist()})


if __name__ == "__main__":
    sys.exit(main())
