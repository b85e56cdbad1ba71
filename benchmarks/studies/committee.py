"""Errors of a committee beside AROW and its other members, one pass over each set; and its time.

    PYTHONPATH=benchmarks python -m studies.committee [--write] [--json FILE]

Every set of two and of several classes (corpora.py), as rows of unit length and as raw counts, sets on which nothing was chosen,
and tables with standardised columns. Each row is predicted before it is learnt, with the classes named; of a set the first 20,000
rows (8,000 with several classes). Means are geometric. --write puts the tables into docs/committee.md; --json keeps all errors.
"""

import json
from pathlib import Path

import corpora
import numpy as np
from pages import options, table, write_between_if

from onlinecls import AROWClassifier, CommitteeClassifier

from . import geometric, seconds


def first(X, y, n):
    return X[:n], np.unique(y[:n], return_inverse=True)[1]


def one(name, label, n=20_000):
    """Return the first rows of a set, and whether they are of this class."""
    X, y = corpora.load(name)
    return first(X, y == label, n)


def tables():
    """Yield (name, rows, labels) of tables with standardised columns, shuffled."""
    from sklearn import datasets

    sets = {name: getattr(datasets, f"load_{name}")(return_X_y=True) for name in ("breast_cancer", "wine", "digits", "iris")}
    X, y = corpora.load("a9a")
    sets["a9a"] = X[:20_000, :124].toarray().astype(float), (y[:20_000] > 0) * 1
    for name, (X, y) in sets.items():
        deviation, order = X.std(axis=0), np.random.default_rng(0).permutation(len(y))
        yield name, ((X - X.mean(axis=0)) / np.where(deviation > 0.0, deviation, 1.0))[order], y[order]


def streams():
    """Yield (kind, name, a function that makes rows and labels)."""
    for kind, names, n in (("two classes", corpora.BINARY, 20_000), ("several classes", corpora.MULTICLASS, 8_000)):
        for name in corpora.those_available(names):
            yield kind, name, lambda name=name, n=n: first(*corpora.load(name, n_features=2**18), n)
            yield f"{kind}, raw counts", name, lambda name=name, n=n: first(
                *corpora.load(name, n_features=2**18, normalize=False), n)
    for name in corpora.those_available(corpora.BINARY_TEST):
        yield "two classes, held", name, lambda name=name: first(*corpora.load(name), 20_000)
    for label in ("earn", "acq"):
        yield "two classes, held", f"reuters, {label}", lambda label=label: one("reuters21578-single-test", label)
    yield "two classes, held", "short texts", lambda: first(*corpora.short_texts(), 20_000)
    yield "two classes, held", "sentences", lambda: first(*corpora.sentences(), 20_000)
    for name in ("20news-test", "reuters21578-single-test", "amazon-domains"):
        yield "several classes, held", name, lambda name=name: first(*corpora.load(name, n_features=2**18), 8_000)
    for name, X, y in tables():
        yield "tables", name, lambda X=X, y=y: (X, y)


def errors_of(X, y):
    """Return the errors in per cent of the members, AROW the first, and of the committee."""
    committee = CommitteeClassifier().partial_fit(X, y, classes=np.unique(y))
    return [100.0 * n / len(y) for n in (*(each.n_mistakes_ for each in committee.members_), committee.n_mistakes_)]


def times():
    """Yield (what, time) of passes, AROW's and the committee's in turns, and of calls."""
    sentences, news = corpora.sentences(), corpora.load("20news-train")
    for name, (X, y), n in (("sentences", sentences, 50_000), ("20 Newsgroups", news, 4000)):
        X, y, found = X[:n], y[:n], {AROWClassifier: [], CommitteeClassifier: []}
        for _ in range(9):
            for cls, each in found.items():
                learner = cls().partial_fit(X[:16], y[:16], classes=np.unique(y))
                each.append(seconds(lambda learner=learner, X=X, y=y: learner.partial_fit(X, y)))
        ratio = np.median(np.divide(*reversed(list(found.values()))))
        yield f"a pass over {name}, in passes of AROW", f"{ratio:.1f}"
    X, y = sentences[0][:50_000], sentences[1][:50_000]
    learner, row = CommitteeClassifier().partial_fit(X, y), X[0]
    for method, call in (("partial_fit", lambda: learner.partial_fit(row, y[:1])), ("predict", lambda: learner.predict(row))):
        least = min(seconds(lambda call=call: [call() for _ in range(1000)]) for _ in range(9))
        yield f"`{method}` of a row, µs", f"{1e3 * least:.1f}"


def main():
    args = options(__doc__, json=Path)
    found = {}
    for kind, name, make in streams():
        found.setdefault(kind, {})[name] = errors_of(*make())
        print(kind, name, np.round(found[kind][name], 2), flush=True)
    if args.json:
        args.json.write_text(json.dumps(found))
    rows = []
    for kind, sets in found.items():
        errors = np.array(list(sets.values()))
        ratios, means = errors[:, -1] / np.maximum(errors[:, 0], 1e-3), geometric(errors)
        worst = max(sets, key=lambda name, sets=sets: sets[name][-1] / max(sets[name][0], 1e-3))
        rows.append([f"{kind}, {len(sets)} sets", *(f"{mean:.2f}" for mean in means), f"{means[-1] / means[0]:.3f}",
                     f"{(ratios > 1.0).sum()}, at most {ratios.max():.2f} ({worst})"])
    head = "errors, %", "AROW", "NAROW", "FTRL", "PA", "committee", "over AROW's", "sets where it errs more"
    write_between_if(args.write, "committee.md", "errors", table(head, rows))
    write_between_if(args.write, "committee.md", "speed", table(("", "time"), times()))


if __name__ == "__main__":
    main()
