"""Time per row of weights that share a number: p-norm, multiplicative and entropic learners against the Perceptron.

    PYTHONPATH=benchmarks python -m studies.links [--write] [--rounds 9] [--nnz 2000000]

--write puts the table into docs/algorithms.md. Float32 rows of 2^20 features, made (benchmarks/common.py), one pass, two classes.
All learners take turns with a part of the stream after another, in one run; of each part the shortest time of this thread counts.
"""

from itertools import pairwise

import numpy as np
from benchmarks.common import stream
from pages import options, table, write_between_if

from onlinecls import DualAscentClassifier, MultiplicativePassiveAggressiveClassifier, Perceptron, PNormPerceptron

from . import seconds

PARTS = 12
ENTROPIC = {"sigma": 500.0, "norm_bound": 30.0, "regularizer": "entropic"}  # W such that rows of length 1 reach the margin
LEARNERS = {
    "`Perceptron()`": Perceptron,
    "`PNormPerceptron()`": PNormPerceptron,
    "`PNormPerceptron(aggressive=True)`": lambda: PNormPerceptron(aggressive=True),
    "`MultiplicativePassiveAggressiveClassifier()`": MultiplicativePassiveAggressiveClassifier,
    "entropic `DualAscentClassifier`, DA1": lambda: DualAscentClassifier(**ENTROPIC, update="DA1"),
    "entropic, DA2": lambda: DualAscentClassifier(**ENTROPIC, update="DA2"),
    "entropic, DA3": lambda: DualAscentClassifier(**ENTROPIC, update="DA3"),
    "entropic, DA1, log loss": lambda: DualAscentClassifier(**ENTROPIC, update="DA1", loss="log_loss"),
    "entropic, DA2, log loss": lambda: DualAscentClassifier(**ENTROPIC, update="DA2", loss="log_loss"),
    'entropic, DA2, `sigma="auto"`': lambda: DualAscentClassifier(**ENTROPIC | {"sigma": "auto"}, update="DA2"),
}


def times(nnz, n_rows, rounds):
    """Measure nanoseconds per row and the share of rows that updated, for each learner."""
    X, y = stream(n_rows, nnz)
    cuts = [1, *(n_rows * part // PARTS for part in range(1, PARTS + 1))]
    parts = [(X[start:stop], y[start:stop]) for start, stop in pairwise(cuts)]
    best, share = {name: np.inf for name in LEARNERS}, {}
    for _ in range(rounds):
        for name, new in LEARNERS.items():
            learner, took = new().partial_fit(X[:1], y[:1], classes=[0, 1]), []
            learner._state.values += 0.0  # the pages are there
            for rows, labels in parts:
                took.append(seconds(lambda rows=rows, labels=labels: learner.partial_fit(rows, labels)))  # noqa: B023
            best[name] = np.minimum(best[name], took)
            share[name] = learner.n_updates_ / learner.t_
    return {name: 1e9 * best[name].sum() / n_rows for name in LEARNERS}, share


def rows(rounds, nnz):
    found = [times(length, max(nnz // length, 20 * PARTS), rounds) for length in (20, 75)]
    for name in LEARNERS:
        cells = []
        for took, share in found:
            times_of = took[name] / took["`Perceptron()`"]
            cells += [f"{took[name]:.0f}", f"{100 * share[name]:.0f} %", f"{times_of:.1f}"]
        yield name, *cells


def main():
    args = options(__doc__, rounds=9, nnz=2_000_000)
    head = "learner", "20 non-zeros: ns a row", "that update", "times the Perceptron", "75: ns a row", "that update", "times"
    write_between_if(args.write, "algorithms.md", "links", table(head, rows(args.rounds, args.nnz)))


if __name__ == "__main__":
    main()
