"""Chooses the members of a committee, by leaving sets out, and writes its errors beside theirs to docs/committee.md.

Every candidate scores each row before it learns it; all committees of up to four candidates then learn from these scores, side by
side. Sets are the first rows of those of corpora.py, as rows of unit length, as raw counts or values, and with labels that turn
half-way. A committee is chosen on two thirds of the sets, and its errors are reported on the others.

    python benchmarks/committee.py [--rows N] [--sets NAME ...] [--json FILE]
"""

import argparse
import itertools
import json
import time
from pathlib import Path

import corpora
import numpy as np
import scipy.sparse as sp
from pages import DOCS, write_between

import onlinecls

AROW, ADAGRAD = onlinecls.AROWClassifier, onlinecls.AdaGradClassifier
# Learners of the unit s² of a set's rows.
CANDIDATES = {
    "arow": lambda s: AROW(0.1 * s),
    "arow .02": lambda s: AROW(0.02 * s),
    "arow .5": lambda s: AROW(0.5 * s),
    "arow 2": lambda s: AROW(2.0 * s),
    "forgetting .001": lambda s: AROW(0.1 * s, forgetting=0.001),
    "forgetting .01": lambda s: AROW(0.5 * s, forgetting=0.01),
    "narow": lambda s: onlinecls.NAROWClassifier(),
    "adagrad md": lambda s: ADAGRAD(),
    "adagrad da": lambda s: ADAGRAD(update="dual_averaging"),
    "scw": lambda s: onlinecls.SCWClassifier(),
    "pa .1": lambda s: onlinecls.PassiveAggressiveClassifier(0.1 / s),
}
FOLLOWING = ("forgetting .001", "forgetting .01", "pa .1")
FORMS = ("unit", "raw", "turned")
FOLDS = 3


def problem(name, form, n):
    """The first n rows of a set and the numbers of their classes."""
    wide = {} if name in corpora.BINARY else {"n_features": 2**18}  # (a vector a class)
    X, y = corpora.load(name, normalize=form != "raw", **wide)
    classes, codes = np.unique(y[:n], return_inverse=True)
    if form == "turned":  # the second half has other names
        half = len(codes) // 2
        codes[half:] = (codes[half:] + 1) % len(classes)
    return X[:n].tocsr(), np.unique(codes, return_inverse=True)[1]


def rows_of(X):
    return [sp.csr_matrix((X.data[a:b], X.indices[a:b], np.array([0, b - a], np.int32)), shape=(1, X.shape[1]))
            for a, b in itertools.pairwise(X.indptr)]


def said_by(make, X, y):
    """What a learner says of each row before it learns it, (rows, classes), and its seconds for one pass."""
    classes = np.unique(y)
    s = onlinecls.AROWClassifier().partial_fit(X[:50], y[:50], classes=classes).scale_ ** 2
    started = time.perf_counter()
    make(s).partial_fit(X, y, classes=classes)
    seconds = time.perf_counter() - started
    learner = make(s).partial_fit(X[:0], y[:0], classes=classes)
    said = np.empty((X.shape[0], 1 if len(classes) == 2 else len(classes)))
    for i, row in enumerate(rows_of(X)):
        said[i] = learner.decision_function(row)
        learner.partial_fit(row, y[i : i + 1])
    return said, seconds


def mistakes(said, y):
    """Mistakes of each candidate by itself; said : (candidates, rows, classes)."""
    predicted = said[:, :, 0] > 0 if said.shape[2] == 1 else said.argmax(axis=2)
    return np.sum(predicted != y, axis=1)


def combined(said, y, masks, r=1.0, forgetting=0.01):
    """Mistakes of the committees of these members, (committees, candidates) 0 or 1, all at once: AROW over their scores."""
    size = masks.sum(axis=1)
    a, wrong = masks / size[:, None], np.zeros(len(masks), int)
    sigma = masks[:, :, None] * np.eye(masks.shape[1])
    every = np.arange(len(masks))
    for i in range(len(y)):
        Z = said[:, i]  # (candidates, classes)
        scores = a @ Z
        if Z.shape[1] == 1:
            sign = np.full(len(masks), 2.0 * y[i] - 1.0)
            z, margin = masks * Z[:, 0], sign * scores[:, 0]
            wrong += (scores[:, 0] > 0) != y[i]
        else:
            wrong += scores.argmax(axis=1) != y[i]
            rivals = scores.copy()
            rivals[:, y[i]] = -np.inf
            rival, sign = rivals.argmax(axis=1), np.ones(len(masks))
            z = masks * (Z[:, y[i]] - Z[:, rival].T)
            margin = scores[:, y[i]] - scores[every, rival]
        sigma /= 1.0 - forgetting
        sigma *= np.minimum(1.0, size / np.trace(sigma, axis1=1, axis2=2))[:, None, None]
        step = np.flatnonzero(margin < 1.0)
        u = np.einsum("cij,cj->ci", sigma[step], z[step])
        beta = 1.0 / (np.einsum("ci,ci->c", u, z[step]) + r)
        a[step] += ((1.0 - margin[step]) * beta * sign[step])[:, None] * u
        sigma[step] -= beta[:, None, None] * u[:, :, None] * u[:, None, :]
    return wrong


def mean(errors):
    return np.exp(np.mean(np.log(np.maximum(errors, 1e-4)), axis=0))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=6000)
    parser.add_argument("--sets", nargs="*", default=[*corpora.BINARY, *corpora.MULTICLASS])
    parser.add_argument("--forms", nargs="*", default=FORMS)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    names = list(CANDIDATES)
    groups = [group for n in (1, 2, 3, 4) for group in itertools.combinations(range(len(names)), n)]
    masks = np.array([[float(j in group) for j in range(len(names))] for group in groups])
    alone, together, seconds = {}, {}, np.zeros(len(names))
    for name, form in itertools.product(options.sets, options.forms):
        X, y = problem(name, form, options.rows)
        found = [said_by(make, X, y) for make in CANDIDATES.values()]
        said = np.stack([scores for scores, _ in found])
        if form == "unit":
            seconds += np.array([each for _, each in found]) / found[0][1] / len(options.sets)
        alone[f"{name} {form}"] = (mistakes(said, y) / len(y)).tolist()
        together[f"{name} {form}"] = (combined(said, y, masks) / len(y)).tolist()
        print(f"{name} {form}: {min(alone[f'{name} {form}']):.4f} {min(together[f'{name} {form}']):.4f}", flush=True)
        if options.json:
            options.json.write_text(json.dumps({"alone": alone, "together": together, "prices": seconds.tolist(), "names": names,
                                                "groups": groups}))


if __name__ == "__main__":
    main()
