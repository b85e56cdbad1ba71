"""Choose the members of a committee, by leaving sets out, and write its errors beside theirs to docs/committee.*.

Every candidate scores each row before it learns it; all committees of up to four candidates then learn from these scores,
side by side. Sets are the first rows of those of corpora.py, as rows of unit length, as raw counts or values, and with labels
that turn half-way. A committee is chosen on two thirds of the sets (one that follows change, for at most five passes of
AROW), and its errors are reported on the others. Then the classes themselves run over up to 20,000 rows of each set, and over
small tables with standardised columns, whose automatic members have full covariances.

    PYTHONPATH=benchmarks python -m studies.committee choose FILE [--rows N]   (half an hour; FILE is JSON)
    PYTHONPATH=benchmarks python -m studies.committee report [FILE]     (writes the page; no FILE: the choice stays)
"""

import argparse
import itertools
import json
import time
from pathlib import Path

import corpora
import numpy as np
import scipy.sparse as sp
from pages import DOCS, write_between, write_csv

import onlinecls
from benchmarks import common

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
SETS = (*corpora.BINARY, *corpora.MULTICLASS)
FOLDS, MOST = 3, 5.0  # thirds of the sets; what the passes of a committee's members take, in passes of AROW, at most


def problem(name, form, n):
    """Return the first n rows of a set and the numbers of their classes."""
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
    """Return a learner's scores of each row just before it learns it, (rows, classes)."""
    classes = np.unique(y)
    s = onlinecls.AROWClassifier().partial_fit(X[:50], y[:50], classes=classes).scale_ ** 2
    learner = make(s).partial_fit(X[:0], y[:0], classes=classes)
    said = np.empty((X.shape[0], 1 if len(classes) == 2 else len(classes)))
    for i, row in enumerate(rows_of(X)):
        said[i] = learner.decision_function(row)
        learner.partial_fit(row, y[i : i + 1])
    return said


def mistakes(said, y):
    """Count the mistakes of each candidate by itself; said : (candidates, rows, classes)."""
    predicted = said[:, :, 0] > 0 if said.shape[2] == 1 else said.argmax(axis=2)
    return np.sum(predicted != y, axis=1)


def combined(said, y, masks, r=1.0, forgetting=0.01):
    """Count the mistakes of the committees of these members, (committees, candidates) 0 or 1, at once: AROW over their scores."""
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


# --- choosing ------------------------------------------------------------------------------------------------------------------


def seconds(X, y):
    """Return the least processor time of each candidate's pass over these rows, of seven."""
    found = np.empty((7, len(CANDIDATES)))
    for times in found:
        for i, make in enumerate(CANDIDATES.values()):
            learner = make(1.0).partial_fit(X[:0], y[:0], classes=[0, 1])
            started = time.process_time()
            learner.partial_fit(X, y)
            times[i] = time.process_time() - started
    return found.min(axis=0)


def choose(path, n):
    """Measure all committees of up to four candidates on all sets and forms."""
    names = list(CANDIDATES)
    groups = [group for size in (1, 2, 3, 4) for group in itertools.combinations(range(len(names)), size)]
    masks = np.array([[float(j in group) for j in range(len(names))] for group in groups])
    alone, together, times = {}, {}, seconds(*common.stream(20000, 100))
    for name, form in itertools.product(SETS, FORMS):
        X, y = problem(name, form, n)
        said = np.stack([said_by(make, X, y) for make in CANDIDATES.values()])
        alone[f"{name} {form}"] = (mistakes(said, y) / len(y)).tolist()
        together[f"{name} {form}"] = (combined(said, y, masks) / len(y)).tolist()
        path.write_text(json.dumps({"alone": alone, "together": together, "prices": times.tolist(), "groups": groups}))


def mean(errors):
    """Compute geometric means over sets, in per cent."""
    return 100.0 * np.exp(np.mean(np.log(np.maximum(errors, 1e-4)), axis=0))


def chosen(found):
    """Make the table of choices: those made without a third of the sets, and their errors on it."""
    names, groups, keys = list(CANDIDATES), found["groups"], list(found["together"])
    together, alone = (np.array(list(found[part].values())) for part in ("together", "alone"))
    prices = np.array(found["prices"])
    allowed = np.array([prices[g].sum() <= MOST * prices[0] and any(names[j] in FOLLOWING for j in g) for g in groups])
    lines = ["| sets left out | members chosen without them | their committee there | AROW there | best single there |",
             "|---|---|---:|---:|---:|"]
    for fold in (*range(FOLDS), None):
        out = np.array([fold is None or SETS.index(key.split()[0]) % FOLDS == fold for key in keys])
        known = ~out if fold is not None else out
        best = int(np.where(allowed, mean(together[known]), np.inf).argmin())
        members = ", ".join(names[j] for j in groups[best])
        lines.append(f"| {'none (so it is)' if fold is None else f'third {fold + 1}'} | {members} | "
                     f"{mean(together[out])[best]:.2f} | {mean(alone[out])[0]:.2f} | {mean(alone[out]).min():.2f} |")
    order = [int(i) for i in np.where(allowed, mean(together), np.inf).argsort()[:8]]
    lines += ["", "| the best committees | all | unit | raw | turned |", "|---|---:|---:|---:|---:|"]
    for i in order:
        forms = [mean(together[[key.endswith(form) for key in keys]])[i] for form in FORMS]
        row = " | ".join(f"{error:.2f}" for error in (mean(together)[i], *forms))
        lines.append(f"| {', '.join(names[j] for j in groups[i])} | {row} |")
    return "\n".join(lines)


# --- the classes themselves ----------------------------------------------------------------------------------------------------


COLUMNS = ("AROW", "best member", "committee", "exponential weights")


def errors_of(X, y, classes):
    """Return errors in per cent: of AROW, the best member in hindsight, the committee, and the one with exponential weights."""
    committee, hedge = (onlinecls.CommitteeClassifier(combine=combine).partial_fit(X, y, classes=classes)
                        for combine in ("arow", "hedge"))
    alone = onlinecls.AROWClassifier().partial_fit(X, y, classes=classes)
    wrong = [alone.n_mistakes_, committee.member_mistakes_.min(), committee.n_mistakes_, hedge.n_mistakes_]
    return [100.0 * count / len(y) for count in wrong]


def tables(found):
    """Return a line for each set, and a table of the geometric means of each kind of stream."""
    lines, text = [], ["| | " + " | ".join(COLUMNS) + " |", "|---" + "|---:" * len(COLUMNS) + "|"]
    for streams, results in found.items():
        means = np.exp(np.mean(np.log(np.maximum(list(results.values()), 0.01)), axis=0))
        text.append(f"| {streams} | " + " | ".join(f"{error:.2f}" for error in means) + " |")
        for name, errors in results.items():
            cells = dict(zip(COLUMNS, (f"{error:.2f}" for error in errors), strict=True))
            lines.append({"streams": streams, "set": name, **cells})
    return lines, "\n".join(text)


def wide(names, form, n=20000):
    results = {}
    for name in names:
        X, y = problem(name, form, n)
        results[name] = errors_of(X, y, np.unique(y))
        print(name, form, np.round(results[name], 2), flush=True)
    return results


def narrow():
    """Return tables of scikit-learn's and a9a's 123 columns, standardised and shuffled, and with labels that turn half-way."""
    from sklearn import datasets

    found = {}
    for name in ("breast_cancer", "wine", "digits", "iris"):
        found[name.replace("_", " ")] = getattr(datasets, f"load_{name}")(return_X_y=True)
    X, y = corpora.load("a9a")
    found["a9a"] = X[:20000, :124].toarray().astype(float), (y[:20000] > 0) * 1
    results = {}
    for name, (X, y) in found.items():
        order = np.random.default_rng(0).permutation(len(y))
        deviation = X.std(axis=0)
        X, y = ((X - X.mean(axis=0)) / np.where(deviation > 0.0, deviation, 1.0))[order], y[order]
        turned = np.where(np.arange(len(y)) < len(y) // 2, y, (y + 1) % (y.max() + 1))
        results[name] = errors_of(X, y, np.unique(y))
        results[f"{name}, turned"] = errors_of(X, turned, np.unique(y))
    return results


def log_loss(learner, X, y):
    """Compute the log loss on the second half of the rows, after learning the first."""
    half = len(y) // 2
    learner.partial_fit(X[:half], y[:half], classes=[0, 1])
    shares = learner.predict_proba(X[half:])[np.arange(len(y) - half), y[half:]]
    return -np.log(np.maximum(shares, 1e-15)).mean()


def others():
    """Return log losses of probabilities, and squared errors of targets -1 and 1, on sets of two classes: geometric means."""
    losses, errors = [], []
    for name in corpora.BINARY:
        X, y = problem(name, "unit", 20000)
        committee = onlinecls.CommitteeClassifier(probability=True)
        own = log_loss(committee, X, y)
        members = [type(each)(**{**each.get_params(), "probability": True}) for each in committee.members_]
        losses.append([log_loss(onlinecls.AROWClassifier(probability=True), X, y),
                       min(log_loss(member, X, y) for member in members), own])
        numbers = onlinecls.CommitteeRegressor().partial_fit(X, 2.0 * y - 1.0)
        alone = onlinecls.AROWRegressor().partial_fit(X, 2.0 * y - 1.0)
        errors.append([each.progressive_mse_ for each in (alone, min(
            numbers.members_, key=lambda member: member.progressive_mse_), numbers)])
    lines = ["| ten sets of two classes, geometric means | AROW | best member | committee |", "|---|---:|---:|---:|"]
    for title, found in (("log loss of the second half", losses), ("squared error, targets -1 and 1", errors)):
        lines.append(f"| {title} | " + " | ".join(f"{each / 100.0:.4f}" for each in mean(np.array(found))) + " |")
    return "\n".join(lines)


def priced(X, y):
    """Time one pass, of AROW, of all automatic members and of the committee, and rows one by one, on the processor."""
    begun = onlinecls.CommitteeClassifier().partial_fit(X, y)
    makes = [onlinecls.AROWClassifier(), *begun.members_, begun]
    times = np.empty((7, len(makes)))
    for row in times:
        for i, make in enumerate(makes):
            learner = type(make)(**make.get_params()).partial_fit(X[:0], y[:0], classes=[0, 1])
            started = time.process_time()
            learner.partial_fit(X, y)
            row[i] = time.process_time() - started
    arow, *members, committee = times.min(axis=0)
    lines = ["| 20,000 rows of 100 non-zeros | time |", "|---|---:|", f"| AROW, a pass | {1e3 * arow:.0f} ms |"]
    named = zip(begun.member_names_, members, strict=True)
    lines += [f"| {name}, a pass | {each / arow:.2f} times AROW |" for name, each in named]
    lines += [f"| the committee, a pass | {committee / arow:.2f} times AROW, {committee / sum(members):.2f} times its members |"]
    rows, codes = rows_of(X[:2000]), [y[i : i + 1] for i in range(2000)]
    for learner in (onlinecls.AROWClassifier(), onlinecls.CommitteeClassifier()):
        learner.partial_fit(X[:100], y[:100], classes=[0, 1])
        for what, call in (("learn", learner.partial_fit), ("predict", lambda row, code: learner.predict(row))):  # noqa: B023
            found = []
            for start in range(0, 2000, 100):
                started = time.process_time()
                for row, code in zip(rows[start : start + 100], codes[start : start + 100], strict=True):
                    call(row, code)
                found.append(time.process_time() - started)
            lines.append(f"| {type(learner).__name__}, {what} one row | {1e4 * min(found):.1f} µs |")
    return "\n".join(lines)


def report(path):
    page = DOCS / "committee.md"
    write_between(page, "others", others())
    write_between(page, "speed", priced(*common.stream(20000, 100)))
    if path is not None:
        write_between(page, "chosen", chosen(json.loads(path.read_text())))
    lines, means = tables({
        "two classes": wide(corpora.BINARY, "unit"),
        "several classes": wide(corpora.MULTICLASS, "unit", 8000),
        "labels that turn half-way": wide([*corpora.BINARY, *corpora.MULTICLASS[2:]], "turned", 8000),
        "few features": narrow(),
    })
    write_csv("committee.csv", lines)
    write_between(page, "errors", means)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("choose", "report"))
    parser.add_argument("file", type=Path, nargs="?")
    parser.add_argument("--rows", type=int, default=4000)
    options = parser.parse_args()
    if options.what == "choose":
        choose(options.file, options.rows)
    else:
        report(options.file)


if __name__ == "__main__":
    main()
