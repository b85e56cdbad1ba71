"""Squared errors of regressors where the mean of the targets is far from 0: with the level of the targets, and without.

    PYTHONPATH=benchmarks python -m studies.levels [--write] [--rows 4000]

The target of a text is the logarithm of its number of words, scaled to a variance of 1 and shifted to a mean. Each row is
predicted, then learnt, in the order of the file; words are hashed to 2^20 columns (corpora.py), as rows of unit length and as
counts. A number is the geometric mean, over sets and forms, of the mean squared error after the first tenth; predicting the mean
alone is about 1. "constant alone" is the paper's constant feature at the value that is "auto" otherwise. ``--write`` puts the
table into docs/level.md.
"""

import corpora
import numpy as np
from pages import options, table, write_between_if

from onlinecls import AROWRegressor, CommitteeRegressor, DualAscentRegressor, OGDRegressor, PassiveAggressiveRegressor

from . import geometric

SETS = ("sms-spam", "spamassassin", "imdb-train", "amazon-books", "20news-train", "debian-sections")
MEANS = (0.0, 10.0, 100.0)
LEARNERS = {
    "`AROWRegressor()`": AROWRegressor(), "`CommitteeRegressor()`": CommitteeRegressor(), "`OGDRegressor()`": OGDRegressor(),
    "`DualAscentRegressor()`": DualAscentRegressor(),
    "`DualAscentRegressor(loss=\"squared\")`": DualAscentRegressor(loss="squared"),
    "`PassiveAggressiveRegressor()`": PassiveAggressiveRegressor(),
}


def error_of(learner, X, y):
    tenth = len(y) // 10
    learner.partial_fit(X[:tenth], y[:tenth])
    before = learner.progressive_mse_ * learner.t_
    learner.partial_fit(X[tenth:], y[tenth:])
    return (learner.progressive_mse_ * learner.t_ - before) / (len(y) - tenth)


def constant_alone(learner, X):
    """Return a new learner with the value that the constant feature would have, as a number."""
    auto = type(learner)(**learner.get_params()).partial_fit(X[:16], np.arange(16.0))
    return type(learner)(**{**learner.get_params(), "intercept_scaling": auto.intercept_scaling_})


def errors(n_rows):
    """Return {name: (errors at each mean)}, geometric means over sets and forms."""
    found = {}
    for name in filter(corpora.available, SETS):
        counts = corpora.load(name, normalize=False)[0][:n_rows]
        target = np.log2(1.0 + np.asarray(counts.sum(axis=1), np.float64).ravel())
        target = (target - target.mean()) / target.std()
        for X in (corpora.load(name)[0][:n_rows], counts):
            for mean in MEANS:
                y, row = target + mean, {}
                for label, learner in LEARNERS.items():
                    row[label] = error_of(type(learner)(**learner.get_params()), X, y)
                    if "intercept_scaling" in learner.get_params():
                        row[label + ", constant alone"] = error_of(constant_alone(learner, X), X, y)
                for label, error in row.items():
                    found.setdefault(label, {}).setdefault(mean, []).append(error)
    return {label: [geometric(of[mean], 0.0) for mean in MEANS] for label, of in found.items()}


def main():
    args = options(__doc__, rows=4000)
    rows = ([label, *(f"{error:.3g}" for error in of)] for label, of in errors(args.rows).items())
    write_between_if(args.write, "level.md", "levels", table(["learner", *(f"mean {mean:g}" for mean in MEANS)], rows))


if __name__ == "__main__":
    main()
