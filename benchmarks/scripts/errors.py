"""Tables of errors: `python benchmarks/scripts/pages.py kernels probabilities drift rounding shards`."""

import corpora  # isort: skip

import tempfile
import time
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
from corpora import geometric, load, seconds
from pages import table, write_csv

import onlinecls

# --- kernels -------------------------------------------------------------------------------------------------------------------


def kernels(small):
    """Learn MNIST's digits in file order, even against odd, by kernel learners with and without a budget; gamma=0.02."""
    X, y = corpora.digits()
    n, rows = 300 if small else 5000, []
    X, y = X[:n], y[:n] % 2
    learners = {"`AROWClassifier()`, linear": onlinecls.AROWClassifier()}
    for name in ("perceptron", "pa", "sop", "arow"):
        for budget in (None, 100, 500):
            title = f"`{name}`" + (f", budget {budget}" if budget else "")
            learners[title] = onlinecls.KernelOnlineClassifier(name, kernel="rbf", gamma=0.02, budget=budget)
    for title, learner in learners.items():
        taken = seconds(lambda learner=learner: learner.partial_fit(X, y, classes=[0, 1]))
        held, dropped = (f"{getattr(learner, key, 0):,}" for key in ("n_support_", "n_dropped_"))
        rows.append((title, f"{100 * learner.n_mistakes_ / n:.2f}", held, dropped, f"{1e6 * taken / n:.0f}"))
    return table(("learner", "error, %", "support vectors", "dropped", "µs a row"), rows)


# --- probabilities -------------------------------------------------------------------------------------------------------------

CALIBRATED = {
    "AROW": onlinecls.AROWClassifier(), "NAROW": onlinecls.NAROWClassifier(), "CW": onlinecls.ConfidenceWeightedClassifier(),
    "PA": onlinecls.PassiveAggressiveClassifier(), "PA, `average=True`": onlinecls.PassiveAggressiveClassifier(average=True),
}  # fmt: skip
N_BINS, N_FOLDS = 15, 5


def measures(chances, codes):
    """Return (log loss, calibration error in %, error in %) of probabilities of shape (rows, classes).

    The calibration error is of the class of the highest probability p: rows in 15 bins of equal width of p, the mean over the
    rows of their bin's |share that is right - mean of p|.
    """
    of, said = np.arange(len(codes)), chances.argmax(axis=1)
    loss = -np.log(np.maximum(chances[of, codes], 1e-15)).mean()
    p, right = chances[of, said], said == codes
    bins = np.minimum((p * N_BINS).astype(int), N_BINS - 1)
    off = sum(abs(right[bins == i].sum() - p[bins == i].sum()) for i in range(N_BINS)) / len(p)
    return float(loss), 100.0 * float(off), 100.0 * float(1.0 - right.mean())


def of_vw(name, X, y, X_test):
    """Return VW's probabilities after one pass, with the logistic loss."""
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


def halves(name):
    """Return X, y, X_test, y_test without classes of fewer rows than folds, and without columns that are never learnt."""
    (X, y), (X_test, y_test) = map(load, corpora.HALVES[name])
    labels, counts = np.unique(y, return_counts=True)
    labels, columns = labels[counts >= N_FOLDS], np.unique(X.indices)
    train, test = np.isin(y, labels), np.isin(y_test, labels)
    return (X[train][:, columns], np.searchsorted(labels, y[train]), X_test[test][:, columns],
            np.searchsorted(labels, y_test[test]))


def probabilities(small):
    """Compare probabilities after one pass with those of CalibratedClassifierCV around the same learner, as ratios of log loss.

    Its five folds (a mean of five models, or one model of all rows) see the rows in file order and in random ones, as ours does.
    docs/probabilities.csv gets every set with log loss, calibration error and error, Vowpal Wabbit's beside them.
    """
    from sklearn.calibration import CalibratedClassifierCV

    lines, ratios = [], {title: [] for title in CALIBRATED}
    for name in ("a9a",) if small else corpora.HALVES:
        X, y, X_test, codes = halves(name)
        for title, learner in CALIBRATED.items():
            known, found = learner.get_params(), []
            for seed in range(1 if small else 11):  # the first in the file's order
                order = np.random.default_rng(seed).permutation(len(y)) if seed else np.arange(len(y))
                times, rows, labels = [], X[order], y[order]
                for probability in (False, True):
                    ours = type(learner)(**{**known, "probability": probability})
                    times.append(seconds(partial(ours.partial_fit, rows, labels, classes=np.unique(y))))
                one_pass = type(learner)(**{**known, "max_iter": 1, "shuffle": False, "tol": None})
                said = [ours.predict_proba(X_test)]
                for ensemble in (True, False):
                    folds = CalibratedClassifierCV(one_pass, method="sigmoid", cv=N_FOLDS, ensemble=ensemble)
                    said.append(folds.fit(rows, labels).predict_proba(X_test))
                found.append((*(measures(each, codes) for each in said), times[1] / times[0]))
            own, five, single, _ = found[0]
            at_random = geometric([(each[0][0] / each[1][0], each[0][0] / each[2][0]) for each in found[1:] or found], 0.0)
            ratios[title].append((own[0] / five[0], own[0] / single[0], *at_random, np.median([each[3] for each in found])))
            for who, each in (("", own), (", 5 folds", five), (", 5 folds, one model", single)):
                lines.append((name, f"{title}{who}", *each))
        dual = onlinecls.DualAscentClassifier(loss="log_loss").partial_fit(X, y, classes=np.unique(y))
        lines.append((name, "dual ascent, log loss", *measures(dual.predict_proba(X_test), codes)))
        lines.append((name, "Vowpal Wabbit, logistic", *measures(of_vw(name, X, y, X_test), codes)))
    if not small:
        head = "set", "learner", "log loss", "calibration error, %", "error, %"
        lines = [(*names, f"{loss:.4f}", f"{off:.1f}", f"{wrong:.1f}") for *names, loss, off, wrong in lines]
        write_csv("probabilities.csv", [dict(zip(head, line, strict=True)) for line in lines])
    cells = ([title, *(f"{ratio:.3f}" for ratio in means[:4]), f"{means[4]:.1f}"]
             for title, each in ratios.items() for means in [geometric(each, 0.0)])
    return table(("", "5 folds", "5 folds, one model", "random orders: 5 folds", "5 folds, one model", "time"), cells)


# --- streams that change -------------------------------------------------------------------------------------------------------

N, CHANGE = 20_000, 10_000
WINDOWS = {"before": (CHANGE - 2_000, CHANGE), "0-500 after": (CHANGE, CHANGE + 500), "2,000-4,000 after": (12_000, 14_000)}
FORGETTING = {"AROW": (onlinecls.AROWClassifier, (3e-4, 1e-3, 1e-2)), "SCW": (onlinecls.SCWClassifier, (1e-3, 1e-2))}


def flip(rng):
    """Make 20 dense features and a plane; at the change every label is turned round."""
    X = rng.normal(size=(N, 20))
    return X, (np.where(np.arange(N) < CHANGE, 1.0, -1.0) * (X @ rng.normal(size=20)) > 0).astype(int)


def rotate(rng):
    """Make the same, but the plane turns by a right angle within 2,000 rows."""
    X, (u, v) = rng.normal(size=(N, 20)), np.linalg.qr(rng.normal(size=(20, 2)))[0].T
    angle = np.clip((np.arange(N) - CHANGE) / 2_000, 0.0, 1.0) * np.pi / 2
    return X, (np.cos(angle) * (X @ u) + np.sin(angle) * (X @ v) > 0).astype(int)


def words(rng):
    """Make rows of 40 of 2,000 rare features, half of which tell the class; at the change others take their place."""
    from scipy.sparse import csr_matrix

    y, told = rng.integers(0, 2, N), rng.random((N, 40)) < 0.15
    column = np.where(told, 1_000 * y[:, None] + rng.integers(0, 1_000, (N, 40)), rng.integers(0, 2_000, (N, 40)))
    column += 2_000 * (np.arange(N) >= CHANGE)[:, None]
    X = csr_matrix((np.ones(N * 40), column.reshape(-1), np.arange(0, N * 40 + 1, 40)), shape=(N, 4_000))
    X.sum_duplicates()
    return X, y


def in_windows(learner, X, y):
    """Return the progressive error in each window, in per cent."""
    counts, cuts = {0: 0}, sorted({cut for window in WINDOWS.values() for cut in window})
    for start, stop in pairwise([0, *cuts]):
        learner.partial_fit(X[start:stop], y[start:stop], classes=None if start else [0, 1])
        counts[stop] = learner.n_mistakes_
    return [100.0 * (counts[b] - counts[a]) / (b - a) for a, b in WINDOWS.values()]


def drift(small):
    """Give the errors before and after a change, means of five streams, and the time that forgetting takes."""
    made = {name: (cls, {}) for name, cls in (
        ("Perceptron", onlinecls.Perceptron), ("PA-I", onlinecls.PassiveAggressiveClassifier),
        ("AdaGrad", onlinecls.AdaGradClassifier), ("NAROW", onlinecls.NAROWClassifier))}
    for name, (cls, rates) in FORGETTING.items():
        made |= {f"{name}, forgetting={rate:g}" if rate else name: (cls, {"forgetting": rate}) for rate in (0.0, *rates)}
    made |= {"AROW, full": (onlinecls.AROWClassifier, {"covariance": "full"}),
             "AROW, full, forgetting=1e-3": (onlinecls.AROWClassifier, {"covariance": "full", "forgetting": 1e-3})}
    rows = []
    for name, (cls, params) in made.items():
        rows.append([name])
        for draw in (flip, rotate, words):
            if "full" in name and draw is words:
                rows[-1] += [""] * len(WINDOWS)
                continue
            found = [in_windows(cls(**params), *draw(np.random.default_rng(seed))) for seed in range(1 if small else 5)]
            rows[-1] += [f"{error:.1f}" for error in np.mean(found, axis=0)]
    X, y = words(np.random.default_rng(0))
    pairs = [[seconds(lambda rate=rate: onlinecls.AROWClassifier(forgetting=rate).partial_fit(X, y)) for rate in (1e-3, 0.0)]
             for _ in range(1 if small else 15)]
    head = "learner", *(f"{draw.__name__}: {window}" for draw in (flip, rotate, words) for window in WINDOWS)
    ratio = np.median([a / b for a, b in pairs])
    return f"{table(head, rows)}\n\nA pass of AROW over the words takes {ratio:.2f} times as long with forgetting."


# --- float32 beside float64 ----------------------------------------------------------------------------------------------------


def rounding(small):
    """Learn a million rows of low rank and a thousandth of noise with a full covariance, in float32 and in float64."""
    rows, chunk, d = [], 10_000, 100
    for title, cls, params in (
        ("AROWRegressor(r=0.001)", onlinecls.AROWRegressor, {"r": 1e-3}),
        ("AROWRegressor(r=0.1)", onlinecls.AROWRegressor, {"r": 0.1}),
        ("AROWRegressor(r=10)", onlinecls.AROWRegressor, {"r": 10.0}),
        ("AROWClassifier(r=0.1)", onlinecls.AROWClassifier, {"r": 0.1}),
        ("NAROWClassifier(b=5)", onlinecls.NAROWClassifier, {"b": 5.0}),
        ("ConfidenceWeightedClassifier(eta=0.95)", onlinecls.ConfidenceWeightedClassifier, {"eta": 0.95}),
        ("SCWClassifier()", onlinecls.SCWClassifier, {}),
    ):  # fmt: skip
        rng = np.random.default_rng(0)
        mix, rule = rng.standard_normal((5, d)) / 10, rng.standard_normal(d)
        single, double = (cls(covariance="full", dtype=dtype, **params) for dtype in ("float32", "float64"))
        for _ in range(1 if small else 100):
            X = (rng.standard_normal((chunk, 5)) @ mix + 1e-3 * rng.standard_normal((chunk, d))).astype(np.float32)
            y = np.where(X @ rule + 0.3 * rng.standard_normal(chunk) > 0, 1, -1)
            single.partial_fit(X, y), double.partial_fit(X, y)
        scores, exact = ((getattr(each, "decision_function", None) or each.predict)(X) for each in (single, double))
        off, S = np.sqrt(np.mean((scores - exact) ** 2) / np.mean(exact**2)), single.covariance_
        assert np.isfinite(S).all() and np.isfinite(single.coef_).all()
        rows.append((f"`{title}`", f"{single.t_:,}", f"{single.n_updates_:,}", f"{np.abs(S).max():.2g}",
                     f"{np.diagonal(S).min():.2g}", f"{np.abs(single.coef_).max():.2g}",
                     f"{off:.1%}" if off < 10 else "both are 0 but for rounding"))
    return table(("learner", "rows", "updates", "largest number of Σ", "least variance", "largest weight",
                  "float32's scores off by"), rows)


# --- learning in parts ---------------------------------------------------------------------------------------------------------


def shards(small):
    """Give the test error of one pass, and how much more K merged models of parts err, in points, with its standard error."""
    rows, parts, orders = [], (2, 4, 8, 16, 32, 64), 2 if small else 5
    learners = {"AROW": onlinecls.AROWClassifier, "NAROW": onlinecls.NAROWClassifier, "SCW-I": onlinecls.SCWClassifier,
                "AdaGrad": onlinecls.AdaGradClassifier, "PA-I": onlinecls.PassiveAggressiveClassifier}
    for name in ("a9a",) if small else ("imdb", "a9a", "20news"):
        (X, y), (X_test, y_test) = (load(half, n_features=2**18) for half in corpora.HALVES[name])
        for title, make in learners.items():
            found = np.zeros((orders, 1 + len(parts)))
            for seed in range(orders):
                order = np.random.default_rng(seed).permutation(len(y))
                for i, k in enumerate((1, *parts)):
                    shares = [(X[rows_], y[rows_]) for rows_ in np.array_split(order, k)]
                    model = onlinecls.parallel.fit(make(), shares, classes=np.unique(y))
                    found[seed, i] = 100.0 * np.mean(model.predict(X_test) != y_test)
            more = found[:, 1:] - found[:, :1]
            spread = more.std(axis=0, ddof=1) / np.sqrt(orders)
            rows.append((f"{name}, {title}", f"{found[:, 0].mean():.2f} %", *(
                f"{value:+.2f} ± {error:.2f}" for value, error in zip(more.mean(axis=0), spread, strict=True))))
            print(*rows[-1], time.strftime("%H:%M:%S"), flush=True)
    return table(("", "one pass", *(f"K = {k}" for k in parts)), rows)
