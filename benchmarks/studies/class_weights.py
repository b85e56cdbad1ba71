"""Errors of each class when one class weighs more: does `class_weight` do what its name says?

    PYTHONPATH=benchmarks python -m studies.class_weights [--write] [--only pa1,arow]

Every learner learns the first two thirds of a set of two classes in one pass at its defaults, with class weights 1, 3, 10 and 30
for the rarer class, and then for the other one. Counted are the errors on the last third: rows of the weighted class that are
missed, and rows of the other one that are taken for it.

    falls   the share of missed rows falls, or stays within 0.3 points or 2 rows, at each step from 1 to 30: so many pairs of set
            and class of so many
    cost    weight times missed + taken, as a share of what the learner without weights pays: geometric mean
    AP      the average precision for the rarer class: mean

The form in which class weights enter a step was chosen on the sets of CHOSEN_ON; the means are over the others. ``--write`` puts
the counts of rows into docs/class_weights.csv and the table into docs/class_weights.md.
"""

import corpora
import numpy as np
from pages import options, shown, table, write_between_if, write_csv

from onlinecls._registry import ALGORITHMS, OTHERS, estimator_class

from . import geometric

CHOSEN_ON = {"sms-spam": None, "a9a": None, "enron-folders-kaminski-v": "resumes", "rcv1-vw-small": None, "spamassassin": None,
             "ecml-spam-a-u00": None}  # (of more than two classes one against the rest)
REPORTED_ON = {"imdb-train": None, "amazon-dvd": None, "rcv1-subset1": None, "reuters21578-single-train": "acq",
               "enron-folders-farmer-d": "logistics", "20news-train": "sci.space"}
MOST = 12_000  # rows of a set
FACTORS = (1, 3, 10, 30)
SHOWN = ("pa1", "pa2", "arow", "narow", "cw_stdev", "scw1", "da3", "adagrad_md", "perceptron", "committee")
SLOW = ("FoReLClassifier",)  # (it keeps all rows)


def learners():
    """Return {name: (make, options)} of the linear classifiers and the committee."""
    found = {
        name: (estimator_class(row.estimator), dict(row.selects))
        for name, row in ALGORITHMS.items()
        if "binary" in row.tasks and row.estimator not in SLOW and row.selects.get("matrix") != "full"
    }
    return {**found, "committee": (estimator_class(OTHERS["committee"].estimator), {})}


def read(name):
    """Return rows, labels (1: the rarer class of all rows) and the number of rows to learn from."""
    X, y = corpora.load(name)
    wanted = {**CHOSEN_ON, **REPORTED_ON}[name]
    y = np.asarray(y == (np.max(y) if wanted is None else wanted), np.int64)
    if name == "imdb-train":  # (its labels are in two blocks)
        order = np.random.default_rng(0).permutation(len(y))
        X, y = X[order], y[order]
    X, y = X[:MOST], y[:MOST]
    return X, y if y.mean() <= 0.5 else 1 - y, 2 * len(y) // 3


def errors(cls, options, X, y, cut, weight):
    """Return the missed rows of each class, and the average precision for class 1, of a pass with this class_weight."""
    learner = cls(**options, class_weight=weight).partial_fit(X[:cut], y[:cut], classes=[0, 1])
    wrong = learner.predict(X[cut:]) != y[cut:]
    missed = [np.count_nonzero(wrong & (y[cut:] == label)) for label in (0, 1)]
    return np.array([*missed, average_precision(learner.decision_function(X[cut:]), y[cut:])])


def average_precision(scores, y):
    """Return the mean precision at the rows of class 1, in the order of the scores."""
    hits = y[np.argsort(-scores, kind="stable")] == 1
    return (np.cumsum(hits) / np.arange(1, len(y) + 1))[hits].mean()


def measure(cls, options, X, y, cut):
    """Return [missed, taken, AP], (weighted class, factor, 3), and the same with "balanced" of class 1."""
    plain, balanced = (errors(cls, options, X, y, cut, weight) for weight in (None, "balanced"))
    table = np.array([
        [(plain if c == 1 else errors(cls, options, X, y, cut, {label: float(c)}))[[label, 1 - label, 2]] for c in FACTORS]
        for label in (1, 0)
    ])
    return table, balanced[[1, 0, 2]]


def falls(table, sizes):
    """Return for each weighted class whether the missed rows fall at every step, beyond noise, and fall at all where they can."""
    noise = np.maximum(2.0, 0.003 * np.asarray(sizes))
    missed = table[:, :, 0]
    steps = np.all(np.diff(missed, axis=1) <= noise[:, None], axis=1)
    return steps & ((missed[:, -1] < missed[:, 0]) | (missed[:, 0] <= noise))


def relative_costs(table):
    """Return the cost-weighted errors with weights as shares of those without, (weighted class, factor > 1)."""
    c = np.array(FACTORS[1:])
    paid = c * table[:, 1:, 0] + table[:, 1:, 1]
    return (paid + 1.0) / (c * table[:, :1, 0] + table[:, :1, 1] + 1.0)


def rows_of(chosen, data, lines):
    """Yield the row of each learner, and append to `lines` those of the CSV file."""
    for name, (cls, settings) in chosen.items():
        passed, costs, precision, sms = ([], []), [], [], ()
        for of, (X, y, cut) in data.items():
            counts, balanced = measure(cls, settings, X, y, cut)
            sizes = [np.count_nonzero(y[cut:] == label) for label in (1, 0)]
            passed[of in CHOSEN_ON].extend(falls(counts, sizes))
            if of not in CHOSEN_ON:
                costs.append(relative_costs(counts))
                precision.append([counts[0, 0, 2], balanced[2]])
            for label, own in zip(("rarer", "other"), counts, strict=True):
                cells = {f"x{c} {what}": int(n) for c, pair in zip(FACTORS, own, strict=True)
                         for what, n in zip(("missed", "taken"), pair[:2], strict=True)}
                pair = balanced[:2] if label == "rarer" else balanced[1::-1]
                lines.append({"learner": name, "set": of, "class": label, **cells, "balanced missed": int(pair[0]),
                              "balanced taken": int(pair[1]), "AP": f"{own[0, 2]:.4f}", "balanced AP": f"{balanced[2]:.4f}"})
            if of == "sms-spam":
                sms = [f"{missed:.0f}, {taken:.0f}" for missed, taken, _ in (*counts[0], balanced)]
        cells = (f"{mean:.2f}" for mean in geometric(np.concatenate(costs), 0.0))
        means = (f"{100.0 * mean:.1f}" for mean in np.mean(precision, axis=0))
        yield name, *sms, *(f"{sum(each)} of {len(each)}" for each in passed[::-1]), *cells, *means


def main():
    args, lines = options(__doc__, only=str), []
    data = {name: read(name) for name in corpora.those_available((*CHOSEN_ON, *REPORTED_ON))}
    chosen = {name: made for name, made in learners().items() if not args.only or name in args.only.split(",")}
    rows = list(shown(rows_of(chosen, data, lines)))
    if args.write:
        write_csv("class_weights.csv", lines)
    head = ["learner", *(f"x{c}" for c in FACTORS), '"balanced"', "falls, chosen on", "falls, others",
            *(f"cost, x{c}" for c in FACTORS[1:]), "AP", 'AP, "balanced"']
    rows = sorted((row for row in rows if row[0] in SHOWN), key=lambda row: SHOWN.index(row[0]))
    write_between_if(args.write, "class_weights.md", "class_weights", table(head, rows))


if __name__ == "__main__":
    main()
