"""Streams that change: errors before and after the change, and the cost of forgetting.

    PYTHONPATH=benchmarks python -m studies.drift [--write]

Three streams of 20,000 rows, each changed at row 10,000:
  flip      20 dense standard normal features, a plane through 0; every label is turned round.
  rotate    the same, but the plane turns by a right angle within 2,000 rows.
  words     40 of 2,000 rare features a row (0 or 1), half of the features tell the class; they give way to others never met.
Each learner passes once, with its defaults and what the table names. Errors in per cent of the 2,000 rows before the change, of
the first 500 after it, and of rows 2,000 to 4,000 after it: means of five streams. ``--write`` puts the table into docs/drift.md.
"""

import time
from itertools import pairwise

import numpy as np
from pages import options, shown, table, write_between_if

import onlinecls

from . import seconds

N, CHANGE, SEEDS = 20_000, 10_000, range(5)
WINDOWS = {"before": (CHANGE - 2_000, CHANGE), "0-500 after": (CHANGE, CHANGE + 500), "2,000-4,000 after": (12_000, 14_000)}
LEARNERS = {
    "Perceptron": lambda: onlinecls.Perceptron(),
    "PA-I": lambda: onlinecls.PassiveAggressiveClassifier(),
    "AdaGrad": lambda: onlinecls.AdaGradClassifier(),
    "NAROW": lambda: onlinecls.NAROWClassifier(),
    "AROW": lambda: onlinecls.AROWClassifier(),
    "AROW, forgetting=3e-4": lambda: onlinecls.AROWClassifier(forgetting=3e-4),
    "AROW, forgetting=1e-3": lambda: onlinecls.AROWClassifier(forgetting=1e-3),
    "AROW, forgetting=1e-2": lambda: onlinecls.AROWClassifier(forgetting=1e-2),
    "AROW, full": lambda: onlinecls.AROWClassifier(covariance="full"),
    "AROW, full, forgetting=1e-3": lambda: onlinecls.AROWClassifier(covariance="full", forgetting=1e-3),
    "SCW": lambda: onlinecls.SCWClassifier(),
    "SCW, forgetting=1e-3": lambda: onlinecls.SCWClassifier(forgetting=1e-3),
    "SCW, forgetting=1e-2": lambda: onlinecls.SCWClassifier(forgetting=1e-2),
}


def flip(rng):
    X = rng.normal(size=(N, 20))
    sign = np.where(np.arange(N) < CHANGE, 1.0, -1.0)
    return X, (sign * (X @ rng.normal(size=20)) > 0).astype(int)


def rotate(rng):
    X, (u, v) = rng.normal(size=(N, 20)), np.linalg.qr(rng.normal(size=(20, 2)))[0].T
    angle = np.clip((np.arange(N) - CHANGE) / 2_000, 0.0, 1.0) * np.pi / 2
    return X, (np.cos(angle) * (X @ u) + np.sin(angle) * (X @ v) > 0).astype(int)


def words(rng):
    from scipy.sparse import csr_matrix

    y = rng.integers(0, 2, N)
    told = rng.random((N, 40)) < 0.15
    column = np.where(told, 1_000 * y[:, None] + rng.integers(0, 1_000, (N, 40)), rng.integers(0, 2_000, (N, 40)))
    column += 2_000 * (np.arange(N) >= CHANGE)[:, None]
    X = csr_matrix((np.ones(N * 40), column.reshape(-1), np.arange(0, N * 40 + 1, 40)), shape=(N, 4_000))
    X.sum_duplicates()
    return X, y


STREAMS = {"flip": flip, "rotate": rotate, "words": words}


def errors(learner, X, y):
    """Return the progressive error in each window, in per cent."""
    counts, cuts = {0: 0}, sorted({cut for window in WINDOWS.values() for cut in window})
    for start, stop in pairwise([0, *cuts]):
        learner.partial_fit(X[start:stop], y[start:stop], classes=None if start else [0, 1])
        counts[stop] = learner.n_mistakes_
    return [100.0 * (counts[b] - counts[a]) / (b - a) for a, b in WINDOWS.values()]


def rows():
    for name, make in LEARNERS.items():
        cells = []
        for stream, draw in STREAMS.items():
            if "full" in name and stream == "words":
                cells += [""] * len(WINDOWS)
                continue
            found = [errors(make(), *draw(np.random.default_rng(seed))) for seed in SEEDS]
            cells += [f"{error:.1f}" for error in np.mean(found, axis=0)]
        yield name, *cells


def cost():
    """Return the time of a pass with forgetting over that of one without, diagonal: best of 7, in turns."""
    rng = np.random.default_rng(0)
    from scipy.sparse import random

    X = random(100_000, 2**18, 20 / 2**18, format="csr", dtype=np.float32, random_state=rng)
    y = rng.integers(0, 2, X.shape[0])
    times = {0.0: [], 1e-3: []}
    for _ in range(7):
        for forgetting, found in times.items():
            learner = onlinecls.AROWClassifier(forgetting=forgetting)
            found.append(seconds(lambda learner=learner: learner.partial_fit(X, y, classes=[0, 1]), time.perf_counter))
    return min(times[1e-3]) / min(times[0.0])


def main():
    args = options(__doc__)
    found = table(["learner", *(f"{stream}: {window}" for stream in STREAMS for window in WINDOWS)], shown(rows()))
    text = f"{found}\n\nA pass of AROW over rows of 20 non-zeros takes {cost():.2f} times as long with forgetting."
    write_between_if(args.write, "drift.md", "drift", text)


if __name__ == "__main__":
    main()
