"""Real digits under label noise: full and diagonal covariances beside first-order learners, after the AROW paper's Fig. 2b.

    python examples/digits.py

The data are MNIST, read from ../shared/data/mnist.npz (or the folder that ONLINECLS_DATA names), arrays X_train, y_train, X_test,
y_test. Each learner makes one pass over 3 and 5, over all 45 pairs of digits, and over all ten (one against all), without noise
and with every tenth training label a wrong one. The table is that of docs/full_covariance.md.
"""

import os
import sys
import warnings
from itertools import combinations
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is imported

import numpy as np

import onlinecls

warnings.filterwarnings("ignore", message=".*columns of a dense X")  # (pixels are in like units)
DATA = Path(os.environ.get("ONLINECLS_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
FULL = {"covariance": "full"}
# r and b: the best of a few powers of ten on three of the pairs.
LEARNERS = {
    "PA": lambda: onlinecls.PassiveAggressiveClassifier(C=float("inf")),
    "AROW diagonal": lambda: onlinecls.AROWClassifier(r=10.0),
    "CW diagonal": lambda: onlinecls.ConfidenceWeightedClassifier(),
    "SOP full": lambda: onlinecls.SecondOrderPerceptron(r=10.0, **FULL),
    "CW full": lambda: onlinecls.ConfidenceWeightedClassifier(**FULL),
    "NAROW full": lambda: onlinecls.NAROWClassifier(b=1.0, **FULL),
    "AROW full": lambda: onlinecls.AROWClassifier(r=1.0, **FULL),
}
NOISE = (0.0, 0.1)


def only(X, y, digits, limit=None):
    chosen = np.flatnonzero(np.isin(y, digits))[:limit]
    return X[chosen], y[chosen]


def noisy(y, share, rng):
    """Replace a share of the labels by random other labels."""
    labels, codes = np.unique(y, return_inverse=True)
    wrong = rng.random(len(y)) < share
    return labels[(codes + wrong * rng.integers(1, len(labels), len(y))) % len(labels)]


def errors(train, test, digits, limit):
    """Return the test error in per cent of each learner after one pass, without and with noise; shape (learners, 2)."""
    (X, y), (X_test, y_test) = only(*train, digits, limit), only(*test, digits)
    labels = [noisy(y, share, np.random.default_rng(0)) for share in NOISE]
    return np.array([[100 * (1 - make().partial_fit(X, seen, classes=digits).score(X_test, y_test)) for seen in labels]
                     for make in LEARNERS.values()])


def main():
    if not (DATA / "mnist.npz").exists():
        sys.exit(f"no {DATA / 'mnist.npz'}: the example needs MNIST as one file of arrays X_train, y_train, X_test and y_test.")
    with np.load(DATA / "mnist.npz") as file:
        train, test = ((file[f"X_{part}"] / np.float32(255), file[f"y_{part}"]) for part in ("train", "test"))
    pairs = list(combinations(range(10), 2))
    panels = {
        "3 against 5": errors(train, test, [3, 5], None),
        "mean of 45 pairs": np.mean([errors(train, test, list(pair), 3000) for pair in pairs], axis=0),
        "one against all": errors(train, test, list(range(10)), 10_000),
    }
    print("| |" + "".join(f" {title} | {NOISE[1]:.0%} noise |".replace("%", " %") for title in panels))
    print("|---|" + "---|---|" * len(panels))
    for i, name in enumerate(LEARNERS):
        print(f"| {name} |" + "".join(f" {error:.2f} |" for found in panels.values() for error in found[i]))


if __name__ == "__main__":
    main()
