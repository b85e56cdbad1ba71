"""Platt's two numbers of each vector of weights: p = 1 / (1 + e^-(a score + b)), learnt beside the model (see rounds.pxd).

A row of the array `calibration` is such a pair: a and b; the curvature of the log loss in (a, b), three numbers; the ridge that
is added to the first of them (1 to the third); the weight of the rows so far.
"""

from __future__ import annotations

import numpy as np

A, B, HAA, HAB, HBB, RIDGE, SEEN = range(7)
SIZE = 7
NO_SCORE = 2.0**-20  # smaller ones tell little


def fresh(n: int) -> np.ndarray:
    """n pairs that have met no row: a = 1, b = 0."""
    pairs = np.zeros((n, SIZE))
    pairs[:, A], pairs[:, RIDGE] = 1.0, NO_SCORE**2
    return pairs


def moved(pairs: np.ndarray, places: np.ndarray, n: int) -> np.ndarray:
    """The pairs at `places` among n, the others fresh.

    The only pair becomes two: a score of s of the second class is now s/2, and -s/2 of the first, so that (2a, b) and (2a, -b)
    say of them what it said; what is kept of scores and of their squares halves and quarters. (The ridge is
    not for a = 1 of the halves: it stays.)
    """
    grown = fresh(n)
    if len(pairs) != 1:
        grown[places] = pairs
    elif len(places) == 2:
        for place, sign in zip(places, (-1.0, 1.0), strict=True):
            grown[place] = pairs[0] * [2.0, sign, 0.25, 0.5 * sign, 1.0, 1.0, 1.0] + 0.0  # (no -0)
    return grown


def merged(several: list[np.ndarray], shares: list[float]) -> np.ndarray:
    """The pairs of models that have learnt parts of a stream: means by the rounds of each, and all rows' weight."""
    mean = np.sum([share * pairs for pairs, share in zip(several, shares, strict=True)], axis=0)
    mean[:, RIDGE] = np.max([pairs[:, RIDGE] for pairs in several], axis=0)
    mean[:, SEEN] = np.sum([pairs[:, SEEN] for pairs in several], axis=0)
    return mean


def problem(pairs: np.ndarray) -> str:
    """What is wrong with pairs of finite numbers that are not trusted; "" if nothing."""
    fit = (np.abs(pairs) <= 2e300).all() and (pairs[:, RIDGE] <= 1.0).all() and (pairs[:, [HAA, HBB, RIDGE, SEEN]] >= 0.0).all()
    if not fit:
        return "probabilities' numbers that no rows give"
    most = np.sqrt(pairs[:, HAA]) * np.sqrt(pairs[:, HBB]) * (1.0 + 1e-9) + 1e-150 * (1.0 + pairs[:, HBB])  # (they may underflow)
    return "" if (np.abs(pairs[:, HAB]) <= most).all() else "probabilities' numbers that no rows give"


def finite(z: np.ndarray) -> np.ndarray:
    """z, with numbers in the places of those that have left double's range, or whose differences may."""
    return np.clip(np.nan_to_num(z, nan=0.0), -1e300, 1e300)


def log_probabilities(scores: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """(rows, classes): one against the rest, normalised; of one vector of weights, its two sides."""
    with np.errstate(over="ignore", invalid="ignore"):
        z = finite(pairs[:, A] * scores + pairs[:, B])
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
