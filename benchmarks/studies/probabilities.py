"""Probabilities after one pass beside scikit-learn's calibration and Vowpal Wabbit: log loss and calibration error on test sets.

    PYTHONPATH=benchmarks python -m studies.probabilities [--write] [--sets imdb a9a]

Rows are of unit length; words are hashed to 2^20 columns (corpora.py). Each learner sees the training file once, in its order.
``CalibratedClassifierCV(method="sigmoid", cv=5)`` is put around the same learner with ``fit(max_iter=1, shuffle=False)``: it
learns five models of four fifths of the rows each and averages their probabilities; with ``ensemble=False`` it takes one model of
all rows, as ours is. Classes of fewer than five training rows, with which it cannot work, are left out for all. The table of the
page has the ratios of ten random orders of the rows, too, and what probabilities add to the time of a pass.

The calibration error is that of the class of the highest probability p: rows in 15 bins of equal width of p, the mean over the
rows of their bin's |share that is right - mean of p|. ``--write`` makes docs/probabilities.csv and the table
of docs/probabilities.md anew.
"""

import tempfile
from pathlib import Path
from time import perf_counter

import corpora
import numpy as np
from pages import options, table, write_between_if, write_csv

import onlinecls

from . import geometric, seconds

SETS = {name.removesuffix("21578"): pair for name, pair in corpora.HALVES.items()}
CALIBRATED = {
    "AROW": onlinecls.AROWClassifier(),
    "NAROW": onlinecls.NAROWClassifier(),
    "CW": onlinecls.ConfidenceWeightedClassifier(),
    "PA": onlinecls.PassiveAggressiveClassifier(),
    "PA, `average=True`": onlinecls.PassiveAggressiveClassifier(average=True),
}
COLUMNS = (
    "log loss", "5 folds: log loss", "ratio", "5 folds, one model: log loss", "its ratio", "calibration error, %",
    "5 folds: calibration error, %", "error of predict, %", "error of the probabilities, %", "5 folds: error, %",
)
N_BINS, N_FOLDS, N_ORDERS, N_PASSES, LEAST = 15, 5, 10, 9, 1e-15


def without_rare(X, y, X_test, y_test):
    """Return the rows of classes with enough rows for each fold, and the codes of their labels.

    (Columns that are never learnt are left out: their weights would stay 0, and all models are as wide as X.)
    """
    labels, counts = np.unique(y, return_counts=True)
    labels, columns = labels[counts >= N_FOLDS], np.unique(X.indices)
    train, test = np.isin(y, labels), np.isin(y_test, labels)
    X, y, X_test, y_test = X[train][:, columns], y[train], X_test[test][:, columns], y_test[test]
    return X, np.searchsorted(labels, y), X_test, np.searchsorted(labels, y_test)


def measures(chances, codes):
    """Return (log loss, calibration error, share of errors) of probabilities of shape (rows, classes)."""
    of = np.arange(len(codes))
    loss = -np.log(np.maximum(chances[of, codes], LEAST)).mean()
    said = chances.argmax(axis=1)
    p, right = chances[of, said], said == codes
    bins = np.minimum((p * N_BINS).astype(int), N_BINS - 1)
    error = sum(abs(right[bins == i].sum() - p[bins == i].sum()) for i in range(N_BINS)) / len(p)
    return float(loss), float(error), float(1.0 - right.mean())


def beside_the_model(learner, X, y, X_test):
    """Return probabilities and the predictions."""
    learner = remade(learner, probability=True).partial_fit(X, y, classes=np.unique(y))
    return learner.predict_proba(X_test), learner.predict(X_test)


def by_folds(learner, ensemble, X, y, X_test):
    from sklearn.calibration import CalibratedClassifierCV

    one_pass = remade(learner, max_iter=1, shuffle=False, tol=None)
    around = CalibratedClassifierCV(one_pass, method="sigmoid", cv=N_FOLDS, ensemble=ensemble)
    return around.fit(X, y).predict_proba(X_test)


def remade(learner, **others):
    return type(learner)(**{**learner.get_params(), **others})


def dual_ascent(X, y, X_test):
    learner = onlinecls.DualAscentClassifier(loss="log_loss")
    return learner.partial_fit(X, y, classes=np.unique(y)).predict_proba(X_test)


def vw(name, X, y, X_test):
    from vowpalwabbit import Workspace

    n_classes = len(np.unique(y))
    task, said_as = ("--link logistic", "") if n_classes == 2 else (f"--oaa {n_classes} --probabilities", "--probabilities")
    nobody = np.append(np.arange(n_classes), np.zeros(X_test.shape[0] - n_classes, int))  # (labels are not looked at with -t)
    train, test = corpora.vw_file(f"proba-{name}", X, y), corpora.vw_file(f"proba-{name}-test", X_test, nobody)
    with tempfile.TemporaryDirectory() as folder:
        model, said = Path(folder, "model"), Path(folder, "said")
        bits = corpora.vw_bits(n_classes)
        Workspace(f"-d {train} -b {bits} -f {model} --no_stdin --quiet --loss_function logistic {task}").finish()
        Workspace(f"-d {test} -i {model} -t -p {said} --no_stdin --quiet {said_as}").finish()
        if n_classes == 2:
            chances = np.loadtxt(said)
            return np.column_stack([1.0 - chances, chances])
        lines = [line.split() for line in said.read_text().splitlines() if line.strip()]
        return np.array([[float(part.rpartition(":")[2]) for part in line[:n_classes]] for line in lines])


def in_random_orders(learner, X, y, X_test, codes):
    """Return the ratios of our log loss to that of the folds, five models and one, as an array (orders, 2)."""
    found = []  # (the last weights of PA or CW differ between orders)
    for seed in range(N_ORDERS):
        order = np.random.default_rng(seed).permutation(len(y))
        rows, labels = X[order], y[order]
        ours = measures(beside_the_model(learner, rows, labels, X_test)[0], codes)[0]
        found.append([ours / measures(by_folds(learner, each, rows, labels, X_test), codes)[0] for each in (True, False)])
    return np.array(found)


def cost(learner, X, y):
    """Return the time of a pass with probabilities over that of one without, in turns: the ratio of medians."""
    times, classes = {True: [], False: []}, np.unique(y)
    for probability in (True, False) * N_PASSES:
        timed = remade(learner, probability=probability)
        times[probability].append(seconds(lambda timed=timed: timed.partial_fit(X, y, classes=classes), perf_counter))
    return np.median(times[True]) / np.median(times[False])


def measure(name):
    """Return a set's lines, and the ratios of ours to the folds' and of the times."""
    train, test = SETS[name]
    X, y, X_test, codes = without_rare(*corpora.load(train), *corpora.load(test))
    about = {"set": name, "rows to learn": X.shape[0], "rows to test": len(codes), "classes": len(np.unique(y))}
    lines, ratios = [], {}
    for title, learner in CALIBRATED.items():
        chances, said = beside_the_model(learner, X, y, X_test)
        ours, missed = measures(chances, codes), 100 * (said != codes).mean()
        folds, single = (measures(by_folds(learner, ensemble, X, y, X_test), codes) for ensemble in (True, False))
        at_random = geometric(in_random_orders(learner, X, y, X_test, codes), 0.0)
        ratios[title] = ours[0] / folds[0], ours[0] / single[0], *at_random, cost(learner, X, y)
        shown = (f"{ours[0]:.4f}", f"{folds[0]:.4f}", f"{ratios[title][0]:.3f}", f"{single[0]:.4f}", f"{ratios[title][1]:.3f}",
                 *(f"{each:.1f}" for each in (100 * ours[1], 100 * folds[1], missed, 100 * ours[2], 100 * folds[2])))
        lines.append({**about, "learner": title.replace("`", ""), **dict(zip(COLUMNS, shown, strict=True))})
        print(*lines[-1].values(), flush=True)
    for title, chances in (("dual ascent, loss=\"log_loss\"", dual_ascent(X, y, X_test)),
                           ("Vowpal Wabbit, logistic", vw(name, X, y, X_test))):
        loss, error, wrong = measures(chances, codes)
        shown = (f"{loss:.4f}", "", "", "", "", f"{100 * error:.1f}", "", "", f"{100 * wrong:.1f}", "")
        lines.append({**about, "learner": title, **dict(zip(COLUMNS, shown, strict=True))})
        print(*lines[-1].values(), flush=True)
    return lines, ratios


def main():
    args = options(__doc__, sets=list(SETS))
    lines, ratios = [], {title: [] for title in CALIBRATED}
    for name in args.sets:
        more, found = measure(name)
        lines += more
        for title, several in found.items():
            ratios[title].append(several)
    rows = []
    for title, several in ratios.items():
        *means, time = geometric(several, 0.0)
        rows.append([title, *(f"{ratio:.3f}" for ratio in means), f"{time:.1f}"])
    head = "", "5 folds", "5 folds, one model", "random orders: 5 folds", "5 folds, one model", "time"
    write_between_if(args.write, "probabilities.md", "probabilities", table(head, rows))
    if args.write:
        write_csv("probabilities.csv", lines)


if __name__ == "__main__":
    main()
