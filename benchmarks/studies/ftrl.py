"""FTRL-proximal: the choice of alpha and beta, and how many weights an L1 penalty leaves at which error.

    PYTHONPATH=benchmarks python -m studies.ftrl [--write] [--grid] [--rows N]

One pass in file order over each set; errors, of predicting each row before it is learnt, are summed up by their geometric mean.
``--grid`` prints the errors of a grid of settings on the first 5,000 rows of the sets of two classes, as rows of unit length and
as they stand (digits: with standardised columns too), and, as a regressor's, the mean squared error of targets -1 and 1 in per
cent of their variance. The numbers of a grid are in units of the rows (`scale_`), as the defaults are.

Without it: errors and shares of weights other than 0, among the columns that have occurred, on sets that the grid has not seen
and on all rows of two that it has. A penalty is given in units of the rows. ``--write`` puts the table into docs/algorithms.md.
"""

import itertools
import sys

import corpora
import numpy as np
from pages import options, table, write_between_if

import onlinecls

from . import geometric

N_ROWS = 5000
CHOSEN_ON = (*corpora.BINARY, "mnist-3-5")
SHOWN_ON = (*corpora.BINARY_TEST, "20news-train", "spamassassin", "rcv1-vw-small")
ALPHAS, BETAS = (0.1, 0.2, 0.5, 1.0, 2.0), (1e-6, 0.1, 1.0)
LEARNERS = {
    "FTRLClassifier": lambda s: onlinecls.FTRLClassifier(),
    **{f"FTRLClassifier, l1 = {l1:g} s": lambda s, l1=l1: onlinecls.FTRLClassifier(l1=l1 * s) for l1 in (0.01, 0.03, 0.1, 0.3)},
    "FTRLClassifier, hinge": lambda s: onlinecls.FTRLClassifier(loss="hinge"),
    **{f"FTRLClassifier, hinge, l1 = {l1:g} s": lambda s, l1=l1: onlinecls.FTRLClassifier(loss="hinge", l1=l1 * s)
       for l1 in (0.03, 0.1, 0.3)},
    "AdaGradClassifier, dual averaging": lambda s: onlinecls.AdaGradClassifier(update="dual_averaging"),
    **{f"AdaGradClassifier, dual averaging, l1 = {l1:g} s": lambda s, l1=l1: onlinecls.AdaGradClassifier(
        update="dual_averaging", l1=l1 * s) for l1 in (1e-6, 1e-5, 1e-4)},
    "AROWClassifier": lambda s: onlinecls.AROWClassifier(),
}


def scale_of(X, y):
    """Return the unit of the defaults."""
    return onlinecls.Perceptron().partial_fit(X[:64], y[:64]).scale_


def first_rows(n_rows):
    """Yield name, X, y of the streams on which the defaults are chosen."""
    for name, form in corpora.with_forms(CHOSEN_ON):
        X, y = corpora.in_form(name, form)
        yield f"{name} {form}", X[:n_rows], y[:n_rows]


def grid(n_rows):
    settings, found = list(itertools.product(ALPHAS, BETAS)), {}
    for name, X, y in first_rows(n_rows):
        s, t = scale_of(X, y), np.where(y == np.unique(y)[1], 1.0, -1.0)
        others = {"AROW": onlinecls.AROWClassifier(), "AdaGrad": onlinecls.AdaGradClassifier(update="dual_averaging")}
        for title, learner in others.items():
            found.setdefault(title, []).append(100.0 * learner.partial_fit(X, y, classes=np.unique(y)).n_mistakes_ / len(y))
        of_numbers = onlinecls.AROWRegressor().partial_fit(X, t)
        found.setdefault("AROWRegressor", []).append(100.0 * of_numbers.progressive_mse_ / t.var())
        for alpha, beta in settings:
            for loss in ("log_loss", "hinge"):
                learner = onlinecls.FTRLClassifier(alpha / s, beta=beta * s, loss=loss).partial_fit(X, y, classes=np.unique(y))
                found.setdefault((loss, alpha, beta), []).append(100.0 * learner.n_mistakes_ / len(y))
            for loss in ("squared", "absolute"):
                learner = onlinecls.FTRLRegressor(alpha / s, beta=beta * s, loss=loss).partial_fit(X, t)
                found.setdefault((loss, alpha, beta), []).append(100.0 * learner.progressive_mse_ / t.var())
        print(name, file=sys.stderr, flush=True)
    for key, errors in sorted(found.items(), key=lambda each: (str(each[0][0]), geometric(each[1]))):
        print(key, f"{geometric(errors):.2f}")


def sparsity():
    """Return the table of errors and shares of weights."""
    names = [name for name in SHOWN_ON if corpora.available(name)]
    rows = {title: [] for title in LEARNERS}
    for name in names:
        X, y = corpora.load(name)
        s, used = scale_of(X, y), np.unique(X.indices)
        for title, make in LEARNERS.items():
            learner = make(s).partial_fit(X, y, classes=np.unique(y))
            rows[title].append((100.0 * learner.n_mistakes_ / len(y), 100.0 * (learner.coef_[:, used] != 0.0).mean()))
        print(name, file=sys.stderr, flush=True)
    return table(["error, %; weights left, %", *names, "mean error"], (
        (title, *(f"{error:.2f}; {left:.1f}" for error, left in found), f"{geometric(found)[0]:.2f}")
        for title, found in rows.items()))


def main():
    args = options(__doc__, grid=False, rows=N_ROWS)
    corpora.those_available(CHOSEN_ON)
    if args.grid:
        return grid(args.rows)
    write_between_if(args.write, "algorithms.md", "ftrl", sparsity())


if __name__ == "__main__":
    main()
