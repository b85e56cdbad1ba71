"""Mistakes of a loop written for scikit-learn after changing the import, beside scikit-learn's own, at all defaults.

    PYTHONPATH=benchmarks python -m studies.migrants [--same] [--write] [--sets NAME ...] [--json FILE] [--reuse FILE ...]

The loop is `predict` of the next 100 rows, then `partial_fit` of them with all classes given: what it predicts wrongly counts.
scikit-learn shuffles each batch by default, anew for each class; here nothing is shuffled. So both learn the rows in the file's
order (theirs: the mean of ten shuffles) and in ten random orders, theirs also with ``shuffle=False`` there; three instead of ten
where there are more than 20,000 rows. Rows are hashed words (corpora.py) of unit length, and raw counts. --same: with
scikit-learn's intercept of sparse rows (`intercept_scaling=0.1`) beside its own learners with ``shuffle=False``, both on the same
4,000 rows in three random orders.
"""

import itertools
import json
import sys
import warnings
from pathlib import Path

import corpora
import numpy as np
from pages import options, table, write_between_if

import onlinecls

from . import geometric

CLASSES = ("PassiveAggressiveClassifier", "Perceptron")
SETS = tuple(name for name in (*corpora.BINARY, *corpora.MULTICLASS) if name != "a9a")  # (a9a is no text)
BATCH, LARGE = 100, 20_000
HEAD = "", "in the file's order: theirs", "ours", "in random orders: theirs", "theirs, `shuffle=False`", "ours"


def mistakes(learner, X, y):
    """Return the mistakes in per cent."""
    classes, wrong = np.unique(y), 0
    for start in range(0, len(y), BATCH):
        rows, labels = X[start : start + BATCH], y[start : start + BATCH]
        wrong += np.sum((learner.predict(rows) if start else classes[:1]) != labels)
        learner.partial_fit(rows, labels, classes=classes)
    return 100.0 * float(wrong) / len(y)


def measured(cls, X, y):
    """Return the means in order (theirs, ours) and at random (theirs, unshuffled, ours), and our ratio there."""
    from sklearn import linear_model

    theirs, ours = getattr(linear_model, cls), getattr(onlinecls, cls)
    seeds = range(3 if len(y) > LARGE else 10)
    in_order = np.mean([mistakes(theirs(random_state=seed), X, y) for seed in seeds]), mistakes(ours(), X, y)
    at_random = []
    for seed in seeds:
        order = np.random.default_rng(seed).permutation(len(y))
        learners = theirs(random_state=seed), theirs(shuffle=False), ours()
        at_random.append([mistakes(learner, X[order], y[order]) for learner in learners])
    at_random = np.array(at_random)
    ratios = at_random[:, 2] / at_random[:, 0]
    return [float(each) for each in (*in_order, *at_random.mean(axis=0), ratios.mean())]


def measure(sets, found, keep):
    """Fill in what is missing: {"set form class": numbers of COLUMNS}."""
    for name in sets:
        for form in ("unit", "raw"):
            keys = {f"{name} {form} {cls}": cls for cls in CLASSES}
            if keys.keys() <= found.keys():
                continue
            X, y = corpora.in_form(name, form)
            X = X[:, np.unique(X.indices)]  # each call costs O(d) there; a column that never occurs keeps weight 0
            found.update({key: measured(cls, X, y) for key, cls in keys.items()})
            keep(found)
            print(name, form, *(np.round(found[key], 2) for key in keys), file=sys.stderr, flush=True)


def same_mistakes(sets):
    """Return a table: mistakes in all sets, scikit-learn's without a shuffle and ours with its intercept."""
    from sklearn import linear_model

    counts, rows = {cls: [] for cls in CLASSES}, []
    for name, form in itertools.product(sets, ("unit", "raw")):
        X, y = corpora.in_form(name, form)
        for cls in CLASSES:
            ours = getattr(onlinecls, cls)
            made = getattr(linear_model, cls)(shuffle=False), ours(), ours(intercept_scaling=0.1)
            found = np.zeros(len(made))
            for seed in range(3):
                at = np.random.default_rng(seed).permutation(len(y))[:4000]
                known = X[at][:, np.unique(X[at].indices)]
                found += [mistakes(type(each)(**each.get_params()), known, y[at]) * len(at) / 100 for each in made]
            counts[cls].append(found)
            print(name, form, cls, *(f"{each:.0f}" for each in found), file=sys.stderr, flush=True)
    for cls, found in counts.items():
        theirs, ours, same = np.sum(found, axis=0)
        most = max(abs(each[2] / each[0] - 1.0) for each in found)
        rows.append((f"`{cls}`", str(len(found)), f"{theirs:,.0f}", f"{ours:,.0f} ({ours / theirs - 1:+.1%})",
                     f"{same:,.0f} ({same / theirs - 1:+.2%})", f"{most:.1%}"))
    return table(("", "sets and forms", "mistakes, theirs with `shuffle=False`", "ours", "ours, `intercept_scaling=0.1`",
                  "in a set at most"), rows)


def means(found, sets):
    """Return a table of the geometric means of each class."""
    rows = []
    for cls in CLASSES:
        errors = [found.get(f"{name} {form} {cls}") for name, form in itertools.product(sets, ("unit", "raw"))]
        theirs, ours, at_random, unshuffled, ours_at_random, ratio = geometric([each for each in errors if each], 0.0)
        rows.append((f"`{cls}`", f"{theirs:.2f}", f"{ours:.2f} ({ours / theirs - 1:+.1%})", f"{at_random:.2f}",
                     f"{unshuffled:.2f}", f"{ours_at_random:.2f} ({ratio - 1:+.1%})"))
    return table(HEAD, rows)


def main():
    args = options(__doc__, same=False, sets=list(SETS), json=Path, reuse=[Path])
    sets = corpora.those_available(args.sets)
    warnings.simplefilter("ignore", FutureWarning)  # scikit-learn is about to remove its PassiveAggressiveClassifier
    if args.same:
        return write_between_if(args.write, "migrating.md", "same", same_mistakes(sets))
    found = {key: value for path in args.reuse if path.exists() for key, value in json.loads(path.read_text()).items()}
    measure(sets, found, lambda so_far: args.json and args.json.write_text(json.dumps(so_far, indent=1)))
    write_between_if(args.write, "migrating.md", "migrants", means(found, sets))


if __name__ == "__main__":
    main()
