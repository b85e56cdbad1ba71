"""Errors where a stream begins with a row unlike the others: `scale_`, the unit of the defaults, is its length.

    PYTHONPATH=benchmarks python -m studies.first_row [--write]

One pass at all defaults over raw counts in file order, but for the row that is put first: one of the shortest, of the median
length, of the longest (each the mean of three rows at that quantile of the lengths). Errors, of predicting each row before it is
learnt, are summed up over the sets by their geometric mean. ``--write`` puts the table into docs/defaults.md.
"""

import sys

import corpora
import numpy as np
from pages import options, table, write_between_if

import onlinecls

from . import geometric

SETS = ("imdb-train", "20news-train", "reuters21578-single-train", "spamassassin")
QUANTILES = (0.005, 0.1, 0.5, 0.9, 0.995)
LEARNERS = (
    "AROWClassifier", "NAROWClassifier", "SCWClassifier", "AdaGradClassifier", "PassiveAggressiveClassifier", "Perceptron",
)
N_ROWS = 3


def errors(X, y):
    """Return errors in per cent, an array of shape (learners, quantiles)."""
    squares = np.ravel(X.multiply(X).sum(axis=1))
    by_length, found = np.argsort(squares, kind="stable"), np.empty((len(LEARNERS), len(QUANTILES)))
    for j, quantile in enumerate(QUANTILES):
        middle = int(quantile * (len(y) - 1))
        firsts = by_length[max(middle - 1, 0) : max(middle - 1, 0) + N_ROWS]
        for i, name in enumerate(LEARNERS):
            found[i, j] = np.mean([100.0 * one_pass(name, X, y, first) for first in firsts])
    return found


def one_pass(name, X, y, first):
    learner = getattr(onlinecls, name)()
    order = np.concatenate(([first], np.delete(np.arange(len(y)), first)))
    return learner.partial_fit(X[order], y[order], classes=np.unique(y)).n_mistakes_ / len(y)


def main():
    args, found = options(__doc__), []
    for name in corpora.those_available(SETS):
        found.append(errors(*corpora.in_form(name, "raw")))
        print(name, np.round(found[-1], 2), sep="\n", file=sys.stderr, flush=True)
    head = "errors, %; the first row's length is at", *(f"{100 * q:g} %" for q in QUANTILES)
    rows = ([f"`{name}`", *(f"{error:.2f}" for error in row)] for name, row in zip(LEARNERS, geometric(found), strict=True))
    write_between_if(args.write, "defaults.md", "first_row", table(head, rows))


if __name__ == "__main__":
    main()
