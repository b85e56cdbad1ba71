"""Platt's numbers of each vector of weights, learnt beside the model (see rounds.pxd): p = 1 / (1 + e^-(a score + b + d tilt)).

tilt is by how much the score of the mean row is above what it usually is (see mean_row.pxd): the same for all rows of a call, so
that b + d tilt is Platt's second number, which goes with the weights. A row of the array `calibration` has a, b, d; the
curvature of the log loss in them, six numbers; the ridges that are added for a and d (1 for b); the weight of the rows so far;
the score of the sum of all rows; the mean of the mean row's scores, and the weight of the rounds that it runs over. `total` of a
model is the sum of all rows and, last, that of their weights.
"""

from __future__ import annotations

import numpy as np

A, B, D, HAA, HAB, HBB, HAD, HBD, HDD, RIDGE, TILT_RIDGE, SEEN, LEVEL, USUAL, ROUNDS = range(15)
SIZE = 15
NO_SCORE = 2.0**-20  # smaller ones tell little


def fresh(n: int) -> np.ndarray:
    """n rows of numbers that have met no row of X: a = 1, b = d = 0."""
    pairs = np.zeros((n, SIZE))
    pairs[:, A], pairs[:, [RIDGE, TILT_RIDGE]] = 1.0, NO_SCORE**2
    return pairs


def tilts(pairs: np.ndarray, total: np.ndarray) -> np.ndarray:
    """By how much the mean row's score is above what it usually is."""
    n = float(total[-1]) if len(total) else 0.0
    levels = pairs[:, LEVEL] / n if n > 0.0 else np.zeros(len(pairs))
    return np.where(np.abs(levels) <= 1e150, levels - pairs[:, USUAL], 0.0)


def moved(pairs: np.ndarray, places: np.ndarray, n: int) -> np.ndarray:
    """The pairs at `places` among n, the others fresh.

    The only pair becomes two: a score of s of the second class is now s/2, and -s/2 of the first, so that (2a, b, 2d) and
    (2a, -b, 2d) say of them what it said; what is kept of scores and of their squares halves and quarters. (The ridges
    are not for a = 1 of the halves: they stay.)
    """
    grown = fresh(n)
    if len(pairs) != 1:
        grown[places] = pairs
    elif len(places) == 2:
        for place, sign in zip(places, (-1.0, 1.0), strict=True):
            half = 0.5 * sign
            factors = [2.0, sign, 2.0, 0.25, half, 1.0, 0.25, half, 0.25, 1.0, 1.0, 1.0, half, half, 1.0]
            grown[place] = pairs[0] * factors + 0.0  # (no -0)
    return grown


def merged(several: list[np.ndarray], shares: list[float]) -> np.ndarray:
    """The pairs of models that have learnt parts of a stream: means by the rounds of each, and all rows' weight."""
    mean = np.sum([share * pairs for pairs, share in zip(several, shares, strict=True)], axis=0)
    for ridge in (RIDGE, TILT_RIDGE):
        mean[:, ridge] = np.max([pairs[:, ridge] for pairs in several], axis=0)
    for weight in (SEEN, ROUNDS):
        mean[:, weight] = np.sum([pairs[:, weight] for pairs in several], axis=0)
    return mean


def problem(pairs: np.ndarray) -> str:
    """What is wrong with pairs of finite numbers that are not trusted; "" if nothing."""
    ridges, positive = pairs[:, [RIDGE, TILT_RIDGE]], pairs[:, [HAA, HBB, HDD, RIDGE, TILT_RIDGE, SEEN, ROUNDS]]
    fit = (np.abs(pairs) <= 2e300).all() and (ridges <= 1.0).all() and (positive >= 0.0).all()
    roots = {place: np.sqrt(pairs[:, place]) for place in (HAA, HBB, HDD)} if fit else {}
    for mixed, first, second in ((HAB, HAA, HBB), (HAD, HAA, HDD), (HBD, HBB, HDD)) if fit else ():
        most = roots[first] * roots[second] * (1.0 + 1e-9) + 1e-150 * (1.0 + pairs[:, first] + pairs[:, second])  # (underflow)
        fit = fit and (np.abs(pairs[:, mixed]) <= most).all()
    return "" if fit else "probabilities' numbers that no rows give"


def finite(z: np.ndarray) -> np.ndarray:
    """z, with numbers in the places of those that have left double's range, or whose differences may."""
    return np.clip(np.nan_to_num(z, nan=0.0), -1e300, 1e300)


def log_probabilities(scores: np.ndarray, pairs: np.ndarray, total: np.ndarray) -> np.ndarray:
    """(rows, classes): one against the rest, normalised; of one vector of weights, its two sides."""
    with np.errstate(over="ignore", invalid="ignore"):
        z = finite(pairs[:, A] * scores + (pairs[:, B] + pairs[:, D] * tilts(pairs, total)))
    if len(pairs) == 1:
        return sides(z[:, 0])
    return normalised(-np.logaddexp(0.0, -z))


def sides(z: np.ndarray) -> np.ndarray:
    """The logarithms of the sigmoid of -z and z."""
    return -np.logaddexp(0.0, np.column_stack([z, -z]))


def normalised(logs: np.ndarray) -> np.ndarray:
    """Logarithms of numbers > 0, of which those of a row are to sum up to 1."""
    logs = logs - logs.max(axis=1, keepdims=True)
    return logs - np.log(np.exp(logs).sum(axis=1, keepdims=True))
