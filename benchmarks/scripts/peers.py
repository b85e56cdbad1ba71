"""Speed beside scipy, scikit-learn, Vowpal Wabbit and river, from one run on one thread.

    python benchmarks/scripts/peers.py [--only streams calls] [--repeats 10] [--write] [--small]

In every repeat each contestant runs once, in turn, so that a slow moment of the machine hits all alike; the first repeat warms
up and is thrown away. A time is the median over the repeats, a ratio the median of the ratios within a repeat to the floor of
any linear learner, scipy's product of the same rows with a weight vector (or, for 20 classes, matrix). Each run is one pass of a
fresh model whose memory is there, as that vector's is. Passes are timed by the wall clock (VW has a second thread), calls by the
processor's. Streams whose data are not there are replaced by made-up ones, which say so. --write makes docs/speed.csv and
docs/calls.csv, and the tables of README.md and docs/speed.md that stand on them.
"""

import corpora  # isort: skip  (it gives BLAS one thread before numpy is there)

import argparse
import functools
import importlib.metadata
import os
import platform
import re
import statistics
import time
import warnings
from typing import NamedTuple

import numpy as np
import pages
import scipy.sparse as sp
from river import linear_model as of_river
from sklearn import linear_model
from vowpalwabbit import Workspace

from benchmarks import calls
from benchmarks.common import begun, make_estimator, stream

OURS = {"perceptron": "Perceptron", "pa1": "PA-I (PA with C=inf)", "arow": "AROW", "narow": "NAROW",
        "cw_stdev": "Confidence-weighted (stdev)", "adagrad_md": "AdaGrad (mirror descent)"}
JOINT = (("arow", "crammer_singer"), ("arow", "ovr"), ("perceptron", "crammer_singer"), ("pa1", "crammer_singer"))
IMDB, NEWSGROUPS = ("imdb-train", "imdb-test"), ("20news-train", "20news-test")
#: title: (function that reads the rows, arguments of such rows made up or None for dense ones, name for VW's file or None)
STREAMS = {
    "sentences of mails, posts, news, reviews and descriptions, words and pairs": (
        corpora.sentences, (400_000, 33, 2**20, "float32", 2, 0, 0.9, 2**20), "sentences"),
    "IMDb reviews cut into pieces of 22 words": (
        functools.partial(corpora.short_texts, 22, IMDB), (511_000, 20, 2**20), "imdb-22"),
    "IMDb reviews cut into pieces of 102 words": (
        functools.partial(corpora.short_texts, 102, IMDB), (91_000, 75, 2**20), "imdb-102"),
    "news stories of RCV1": (corpora.stories, (1500, 78, 2**20), None),
    "whole IMDb reviews, strings of 3 to 5 characters": (corpora.reviews, (4000, 1600, 2**20), "reviews"),
    "digits of MNIST, dense": (corpora.dense_digits, None, None),
    "newsgroup posts cut into pieces of 22 words": (
        functools.partial(corpora.short_texts, 22, NEWSGROUPS), (150_000, 20, 2**20, "float32", 20), "20news-22"),
    "newsgroup posts cut into pieces of 102 words": (
        functools.partial(corpora.short_texts, 102, NEWSGROUPS), (30_000, 75, 2**20, "float32", 20), "20news-102"),
}  # fmt: skip
RIVER_ROWS, FEW_CALLS = 1000, 20  # river learns about 10,000 rows a second; scikit-learn's calls take milliseconds


class Contestant(NamedTuple):
    """A timed run: ``prepare()`` is not timed and returns the function that is; ``size`` counts its non-zeros, rows or calls."""

    name: str
    prepare: object
    size: int


class Price(NamedTuple):
    """Nanoseconds a unit of size, the ratio to the first contestant, and how many processors it used."""

    ns: float
    ratio: float
    processors: float


def race(contestants, repeats, clock=time.perf_counter):
    """Race the contestants in turns and return {name: ``Price``}."""
    found = {each.name: [] for each in contestants}
    for turn in range(repeats + 1):
        for each in contestants:
            times = []
            for _ in range(1 if each.size > 200_000 or turn == 0 else 3):  # the best of three where it takes a millisecond
                run = each.prepare()
                cpu, start = time.process_time(), clock()
                run()
                times.append((clock() - start, time.process_time() - cpu))
            found[each.name].extend([np.array(min(times)) * 1e9 / each.size] if turn else [])
    floor = np.array(found[contestants[0].name])[:, 0]
    return {name: Price(statistics.median(each[0] for each in times), float(np.median(np.array(times)[:, 0] / floor)),
                        float(np.median([cpu / wall for wall, cpu in times]))) for name, times in found.items()}


# --- Passes over streams ---


def load(title, small):
    """Return the title with what the rows are, X, y and the key of VW's file; with `small`, or without data, made-up rows."""
    read, made, key = STREAMS[title]
    try:
        if small:
            raise FileNotFoundError
        X, y = read()
    except FileNotFoundError:
        title, key = f"made-up rows as long as {title}", key and f"made-up-{'small-' if small else ''}{key}"
        if made is None:
            X = np.random.default_rng(0).standard_normal((200, 784), dtype=np.float32)
            y = np.where(X[:, 0] > 0, 1, -1)
        else:
            X, y = stream(*(200, made[1], 2**14) if small else made[:3], *made[3:])
    if sp.issparse(X):
        lengths, columns = np.diff(X.indptr), len(np.unique(X.indices))
        rows = f"{X.shape[0]:,} rows of {lengths.mean():.0f} nnz ({lengths.min()} to {lengths.max():,}), {columns:,} columns"
    else:
        rows = f"{X.shape[0]:,} rows of {X.shape[1]} numbers"
    return title, rows, X, y, key


def stream_race(X, y, key, repeats):
    """Race one pass over a stream: the product first, then ours, then the others."""
    size, classes = X.nnz if sp.issparse(X) else X.size, np.unique(y)
    rng, several = np.random.default_rng(0), len(classes) > 2
    w = rng.standard_normal((X.shape[1], len(classes)) if several else X.shape[1], dtype=X.dtype)
    title = f"scipy X @ W, W of {len(classes)} columns" if several else f"{'scipy' if sp.issparse(X) else 'numpy'} X @ w"

    def pass_of(make, few):
        def prepare():
            model = make()
            if few:
                begun(model, X, y, classes)
            return lambda: model.partial_fit(X, y, classes=classes)

        return prepare

    field = [Contestant(title, lambda: lambda: X @ w, size)]
    model = make_estimator("perceptron").partial_fit(X[:1000], y[:1000], classes=classes)
    field.append(Contestant("Perceptron, decision_function", lambda: lambda: model.decision_function(X), size))
    if several:
        ours = {f"{OURS[name]} {scheme}": functools.partial(make_estimator, name, multi_class=scheme) for name, scheme in JOINT}
    else:
        ours = {title: functools.partial(make_estimator, name) for name, title in OURS.items()}
    field += [Contestant(name, pass_of(make, True), size) for name, make in ours.items()]
    theirs = {"SGDClassifier, hinge": linear_model.SGDClassifier}
    if not several and hasattr(linear_model, "PassiveAggressiveClassifier"):  # removed in 1.10
        theirs["PassiveAggressiveClassifier"] = linear_model.PassiveAggressiveClassifier
    field += [Contestant(f"scikit-learn {name}", pass_of(functools.partial(cls, shuffle=False), False), size)
              for name, cls in theirs.items()]
    if key:
        field += vw(X, y, key, f"--oaa {len(classes)}" if several else "--loss_function hinge")
    if key and not several:
        field += river(X, y)
    return race(field, repeats)


def vw(X, y, key, options):
    """Make contestants that read VW's text format and, of two classes, its binary cache, which saves the parsing."""
    path, name = corpora.vw_file(key, X, y), "oaa" if "oaa" in options else "hinge"
    cache = path.with_suffix(".cache")
    cache.unlink(missing_ok=True)  # of an older VW, perhaps; the warm-up writes it
    command = f"-d {path} -b {corpora.vw_bits(len(np.unique(y)), X.shape[1])} --no_stdin --quiet {options}"
    found = [Contestant(f"VW {name}, from its text format", lambda: lambda: Workspace(command).finish(), X.nnz)]
    if name == "hinge":
        cached = f"{command} --cache_file {cache}"
        found.append(Contestant("VW hinge, from its binary cache", lambda: lambda: Workspace(cached).finish(), X.nnz))
    return found


def river(X, y):
    X, y = X[:RIVER_ROWS], y[:RIVER_ROWS]
    bounds = zip(X.indptr[:-1], X.indptr[1:], strict=True)
    dicts = [dict(zip(X.indices[i:j].tolist(), X.data[i:j].tolist(), strict=True)) for i, j in bounds]
    rows = list(zip(dicts, (y == y.max()).tolist(), strict=True))

    def prepare(make):
        model = make()
        return lambda: [model.learn_one(x, label) for x, label in rows]

    makers = {"PAClassifier": functools.partial(of_river.PAClassifier, mode=1),
              "LogisticRegression": of_river.LogisticRegression}
    return [Contestant(f"river {name}, {len(rows)} rows as dicts", functools.partial(prepare, make), X.nnz)
            for name, make in makers.items()]


def streams(repeats, small):
    """Return a line for each contestant on each stream."""
    lines = []
    for title in STREAMS:
        title, rows, X, y, key = load(title, small)
        for name, price in stream_race(X, y, key, repeats).items():
            lines.append({
                "stream": title, "rows": rows, "learner": name, "ns a non-zero": f"{price.ns:.1f}",
                "times the product": f"{price.ratio:.2f}",
                "processors, if above 1.2": f"{price.processors:.1f}" if price.processors > 1.2 else ""})
            print(*lines[-1].values(), sep="  ", flush=True)
    return lines


# --- Calls of one row ---


def learners():
    found = {OURS[name]: functools.partial(make_estimator, name) for name in ("arow", "perceptron", "pa1")}
    return found | {"scikit-learn SGDClassifier": functools.partial(linear_model.SGDClassifier, shuffle=False)}


def one_row(n_features, method):
    """Return contestants whose calls learn or predict another row each time."""
    rows = calls.sparse_rows(n_features)
    w = np.ones(n_features, dtype=np.float32)
    field = [Contestant("scipy X @ w", lambda: calls.repeated(lambda X: X @ w, [(X,) for X in rows]), calls.N_CALLS)]

    def prepare(make, n):
        call = getattr(calls.grown(make(), n_features), method)
        more = [(calls.LABELS[i % 2 :][:1],) if method == "partial_fit" else () for i in range(n)]
        return lambda: [call(X, *labels) for X, labels in zip(rows, more, strict=False)]

    for name, make in learners().items():
        n = FEW_CALLS if name.startswith("scikit-learn") else calls.N_CALLS
        field.append(Contestant(name, functools.partial(prepare, make, n), n))
    return field


def hundred_rows(small):
    """Return contestants that learn 20,000 sentences in calls of 100."""
    _, _, X, y, _ = load(next(iter(STREAMS)), small)
    n = min(20_000, X.shape[0])
    batches = [(X[i : i + 100], y[i : i + 100]) for i in range(0, n, 100)]

    def prepare(make):
        model = make().partial_fit(*batches[0], classes=np.unique(y))
        return lambda: [model.partial_fit(*batch) for batch in batches[1:]]

    return [Contestant(name, functools.partial(prepare, make), n - 100) for name, make in learners().items()]


def call_lines(repeats, small):
    """Return a line for each learner's calls of one row by columns, of 100 rows, and for each kind of call of AROW's."""
    exponents = (10, 12) if small else (10, 14, 18, 20, 22)
    races = {f"{method} of one row of 100 nnz, 2^{k} columns": one_row(2**k, method)
             for method in ("partial_fit", "predict") for k in exponents}
    races["partial_fit of 100 sentences, a row"] = hundred_rows(small)
    races["AROW, 2^20 columns"] = [Contestant(re.sub("`", "", title), make, calls.N_CALLS)
                                   for title, make in calls.cases(2**12 if small else 2**20).items()]
    lines = []
    for call, field in races.items():
        for name, price in race(field, repeats, time.process_time).items():
            lines.append({"call": call, "learner": name, "us": f"{price.ns / 1000:.{2 if price.ns < 1e5 else 0}f}"})
            print(*lines[-1].values(), sep="  ", flush=True)
    return lines


def about(repeats):
    """Return what was measured, and on what."""
    names = "numpy", "scipy", "scikit-learn", "vowpalwabbit", "river"
    found = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in names)
    return (f"Medians of {repeats} repeats; {platform.machine()}, a load of {os.getloadavg()[0]:.1f}, Python "
            f"{platform.python_version()}, {found}.")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=("streams", "calls"), default=("streams", "calls"))
    parser.add_argument("--repeats", type=int, help="10 if left out, 1 with --small")
    parser.add_argument("--write", action="store_true", help="write docs/speed.csv, docs/calls.csv and the tables of pages")
    parser.add_argument("--small", action="store_true", help="few made-up rows: the figures mean nothing")
    args = parser.parse_args()
    if args.small and args.write:
        parser.error("small figures belong in no page: leave out --small or --write")
    warnings.filterwarnings("ignore", category=FutureWarning)  # scikit-learn's about its passive-aggressive classes
    repeats = args.repeats or (1 if args.small else 10)
    for name, file, measure in (("streams", "speed.csv", streams), ("calls", "calls.csv", call_lines)):
        if name in args.only:
            lines = measure(repeats, args.small)
            if args.write:
                pages.write_csv(file, lines)
    print(about(repeats))
    if args.write:
        pages.write_derived()


if __name__ == "__main__":
    main()
