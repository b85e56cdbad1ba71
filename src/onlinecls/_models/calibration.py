"""Platt's numbers of each vector of weights, learnt with the model (see rounds.pxd): p = 1 / (1 + e^-(a score + b)).

A row of the array `calibration` has a and b; the curvature of the log loss in them, three numbers; the ridge of a (b's is 1);
and the weight of the rows so far.
"""

from __future__ import annotations

import numpy as np

from .._compiled import model

A, B, HAA, HAB, HBB, RIDGE, SEEN = range(7)
SIZE = 7
NO_SCORE = 2.0**-20  # smaller ones carry little information


#: A row before any row of X: a = 1, b = 0.
FRESH = (1.0, 0.0, 0.0, 0.0, 0.0, NO_SCORE**2, 0.0)


def fresh(n: int) -> np.ndarray:
    """Return n rows of numbers before any row of X."""
    return np.tile(FRESH, (n, 1))


def half(side: int, share: float) -> list[float]:
    """Return the factors of the numbers of a single vector for the class on a side (-1, 1) of it.

    A score of s for the second class is now s/2, and -s/2 for the first, so that (2a, b) and (2a, -b) give the same
    probabilities; sums of scores are halved, sums of squares quartered. (The ridges do not change.)
    """
    return [2.0, side, 0.25, 0.5 * side, 1.0, 1.0, 1.0]


def merged(several: list[np.ndarray], shares: list[float]) -> np.ndarray:
    """Return the pairs of models of parts of a stream: means weighted by rounds, with the weight of all rows."""
    mean = np.sum([share * pairs for pairs, share in zip(several, shares, strict=True)], axis=0)
    mean[:, RIDGE] = np.max([pairs[:, RIDGE] for pairs in several], axis=0)
    mean[:, SEEN] = np.sum([pairs[:, SEEN] for pairs in several], axis=0)
    return mean


def problem(pairs: np.ndarray) -> str:
    """Return the fault of untrusted pairs of finite numbers; "" if there is none."""
    fit = (np.abs(pairs) <= 2e300).all() and (pairs[:, RIDGE] <= 1.0).all() and (pairs[:, [HAA, HBB, RIDGE, SEEN]] >= 0.0).all()
    if fit:
        haa, hbb = pairs[:, HAA], pairs[:, HBB]
        most = np.sqrt(haa) * np.sqrt(hbb) * (1.0 + 1e-9) + 1e-150 * (1.0 + haa + hbb)  # (underflow)
        fit = (np.abs(pairs[:, HAB]) <= most).all()
    return "" if fit else "probabilities' numbers that no rows produce"


def finite(z: np.ndarray) -> np.ndarray:
    """Return z, with numbers clipped so that neither they nor their differences leave double's range."""
    return np.clip(np.nan_to_num(z, nan=0.0), -1e300, 1e300)


def log_probabilities(scores: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Return log probabilities, (rows, classes): one against the rest, normalised; for a single vector, its two sides."""
    logs = model.log_sigmoids(scores, pairs)
    if len(pairs) > 1:
        model.normalise(logs)
    return logs
