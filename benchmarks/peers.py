"""Speed ratios against scipy, scikit-learn, Vowpal Wabbit and river, from one run on one thread.

In every repeat each contestant runs once, in turn, so that a slow moment of the machine hits all alike; the first repeat warms
up and is thrown away. A time is the median over the repeats, a ratio the median of the ratios within a repeat to the floor of
any linear learner, scipy's product of the same rows with a weight vector (or, for 20 classes, matrix), and to the same product in
C with prefetching (product.c, compiled here). Each run is one pass of a fresh model, whose memory is there, as that vector's is,
and which has learnt 16 rows. Streams whose data are not there are replaced by synthetic ones, which say so.

    python benchmarks/peers.py [--write] [--quick] [--repeats N] [--json FILE]
"""

import os

os.environ.update({"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"})  # before numpy reads them

import argparse
import concurrent.futures
import ctypes
import dataclasses
import functools
import importlib.metadata
import importlib.util
import json
import multiprocessing
import platform
import re
import shlex
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
import tracemalloc
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import calls
import corpora
import numpy as np
import scipy.sparse as sp
from benchmarks.common import ALGORITHMS, OTHERS, make_estimator, stream
from pages import DOCS, table, write_between, write_csv, write_derived

import onlinecls
from onlinecls._input.validate import read_rows

FLOOR = "scipy `X @ w`"
FLOOR_DENSE = "numpy `X @ w`"
FLOOR_20 = "scipy `X @ W`, W of 20 columns"
TWICE = "scipy `X @ W`, W of 40 columns"  # as many numbers as 20 vectors of weights and their variances
PREFETCHING = "the product in C, prefetching"
SCORES = "`decision_function`"
SAME_ROW = "the same row each time"
BINARY = ("perceptron", "pa1", "arow", "narow", "cw_stdev", "cw_variance", "adagrad_md")
MULTICLASS = (
    ("arow", "crammer_singer"), ("arow", "ovr"), ("perceptron", "crammer_singer"), ("pa1", "crammer_singer"),
)  # fmt: skip
CALLED = ("arow", "perceptron", "pa1")
BEGIN = 16  # rows that tell a model the unit of X
RIVER_ROWS = 1000  # it learns about 10,000 a second
CALL_TARGETS = {  # µs
    "`partial_fit`, the same row each time": 3.5, "`partial_fit` with `classes=[-1, 1]` each time": 4.5,
    "`predict_proba`, two classes": 8, "`partial_fit` of a data frame of floats": 40,
    "`HashingVectorizer.transform` of one text": 10, "one text and `partial_fit`": 15,
}  # fmt: skip


# --- Streams ---


class Stream(NamedTuple):
    """A stream of rows: what it is, a function that reads it, and one that makes rows of its kind where its data are missing.

    key : a name for the file in VW's format; None leaves VW and river out. limits : targets, of `X @ w`.
    """

    title: str
    read: Callable
    make: Callable
    key: str | None = None
    limits: dict = {}


def dense_rows(n_rows, n_features=784):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, n_features), dtype=np.float32) / np.float32(n_features**0.5)
    return X, (X @ rng.standard_normal(n_features) + 0.5 * rng.standard_normal(n_rows) > 0).astype(np.int64)


def pieces(words, *sources):
    """Return the arguments of a stream of pieces: the function that reads them, and the one that makes such rows."""
    n_rows, nnz, spread = {22: (511_000, 20, 0.05), 102: (91_000, 75, 0.08)}[words]
    n_classes = 2 if "imdb-train" in sources else 20
    made = functools.partial(stream, n_rows, nnz, spread=spread, n_classes=n_classes)
    return functools.partial(corpora.short_texts, words=words, sources=sources), made


IMDB, NEWSGROUPS = ("imdb-train", "imdb-test"), ("20news-train", "20news-test")
STREAMS = (
    Stream(
        "sentences of mails, posts, news, reviews and descriptions, words and pairs", corpora.sentences,
        functools.partial(stream, 400_000, 33, spread=0.9, n_words=2**20), "sentences",
        {"perceptron": 1.55, "pa1": 1.7, "arow": 2.4, "narow": 3.8, SCORES: 1.45},
    ),
    Stream(
        "IMDb reviews cut into pieces of 22 words", *pieces(22, *IMDB), "imdb-22",
        {"perceptron": 1.5, "pa1": 1.7, "arow": 2.3, "narow": 2.9, "cw_stdev": 2.9, "adagrad_md": 2.9},
    ),
    Stream(
        "IMDb reviews cut into pieces of 102 words", *pieces(102, *IMDB), "imdb-102",
        {"perceptron": 1.2, "pa1": 1.4, "arow": 1.9, "narow": 2.3, "cw_stdev": 2.3, "adagrad_md": 2.3},
    ),
    Stream(
        "news stories of RCV1", corpora.stories, functools.partial(stream, 1500, 78, spread=0.7),
    ),
    Stream(
        "the same stories twenty times over", functools.partial(corpora.stories, 20),
        functools.partial(stream, 30_000, 78, spread=0.7), None, {"perceptron": 2.3, "pa1": 2.4, "arow": 2.7, "narow": 3.8},
    ),
    Stream(
        "whole IMDb reviews, strings of 3 to 5 characters", corpora.reviews,
        functools.partial(stream, 4000, 1600, spread=0.54), "reviews",
    ),
    Stream("digits of MNIST, dense", corpora.dense_digits, functools.partial(dense_rows, 20_000)),
)  # fmt: skip
STREAMS_20 = tuple(
    Stream(
        f"newsgroup posts cut into pieces of {words} words", *pieces(words, *NEWSGROUPS), f"20news-{words}",
        {"arow crammer_singer": 1.5, "arow ovr": 1.45},
    )
    for words in (22, 102)
)  # fmt: skip


def few(make):
    """Make few rows of the kind, and few columns."""
    _, *more = make.args
    return make.func(200, *more, n_features=2**14, **make.keywords)


def load(each, quick):
    """Return the title, X, y and the key of VW's file of a stream; with `quick`, or without data, of synthetic rows."""
    try:
        (X, y), kind = (few(each.make), "synthetic-quick-") if quick else (each.read(), "")
    except FileNotFoundError:
        (X, y), kind = each.make(), "synthetic-"
    title = f"{'synthetic rows as long as ' if kind else ''}{each.title}: {described(X)}"
    return title, X, y, each.key and kind + each.key


def described(X):
    """Describe the rows of X, "400,000 rows of 33 nnz (1 to 2,258), 915,892 columns" say."""
    if not sp.issparse(X):
        return f"{X.shape[0]:,} rows of {X.shape[1]} numbers"
    lengths = np.diff(X.indptr)
    columns = len(np.unique(X.indices))
    return f"{X.shape[0]:,} rows of {lengths.mean():.0f} nnz ({lengths.min()} to {lengths.max():,}), {columns:,} columns"


def size_of(X):
    return X.nnz if sp.issparse(X) else X.size


# --- Contestants ---


@dataclasses.dataclass
class Contestant:
    """A timed run: ``prepare()`` is not timed and returns the function that is; ``size`` counts its non-zeros, rows or calls."""

    name: str
    prepare: Callable
    size: int


@dataclasses.dataclass
class Price:
    """Nanoseconds per unit of size by the wall clock, ratios to the floor and to the product that prefetches, processors used."""

    ns: float
    ratio: float
    prefetched: float | None
    threads: float


def race(contestants, repeats, times=1):
    """Race the contestants in turns, the best of `times` runs in each, and return {name: ``Price``}, with ratios to the first."""
    wall = {contestant.name: [] for contestant in contestants}
    cpu = {contestant.name: [] for contestant in contestants}
    for _ in range(repeats + 1):
        for contestant in contestants:
            best_wall, best_cpu = min(timed(contestant.prepare()) for _ in range(times))
            wall[contestant.name].append(1e9 * best_wall / contestant.size)
            cpu[contestant.name].append(1e9 * best_cpu / contestant.size)
    wall = {name: own[1:] for name, own in wall.items()}
    floor, prefetching = wall[contestants[0].name], wall.get(PREFETCHING)
    return {
        name: Price(
            statistics.median(own), ratio(own, floor), prefetching and ratio(own, prefetching),
            statistics.median(cpu[name][1:]) / statistics.median(own),
        )
        for name, own in wall.items()
    }  # fmt: skip


def timed(run):
    """Return the seconds of a run, by the wall clock and of processors."""
    cpu_start, start = time.process_time(), time.perf_counter()
    run()
    stop, cpu_stop = time.perf_counter(), time.process_time()
    return stop - start, cpu_stop - cpu_start


def ratio(wall, floor):
    return statistics.median(own / other for own, other in zip(wall, floor, strict=True))


def product(name, X, n_columns=None):
    w = np.random.default_rng(0).standard_normal((X.shape[1], n_columns) if n_columns else X.shape[1], dtype=X.dtype)
    return Contestant(name, lambda: lambda: X @ w, size_of(X))


@functools.cache
def compiled():
    """Return (product.c as a library, None), or (None, why there is none)."""
    source = Path(__file__).with_name("product.c")
    compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder, "product.so")
        try:
            subprocess.run([*compiler, "-O3", "-shared", "-fPIC", "-o", library, source], check=True, capture_output=True)
            return ctypes.CDLL(str(library)), None
        except (OSError, subprocess.CalledProcessError) as error:
            return None, f"{compiler[0]} did not compile product.c ({error})"


def prefetching(X, n_columns=1):
    """Return the contestant that is the product with prefetching in C, or nothing where it cannot be had."""
    library, _ = compiled()
    if library is None or not sp.issparse(X) or X.dtype != np.float32 or X.indices.dtype != np.int32:
        return []
    W = np.random.default_rng(0).standard_normal((X.shape[1], n_columns), dtype=np.float32)
    out = np.empty((X.shape[0], n_columns), np.float32)
    arrays = [ctypes.c_void_p(array.ctypes.data) for array in (X.indptr, X.indices, X.data, W, out)]

    def run():
        library.product(ctypes.c_int64(X.shape[0]), ctypes.c_int64(W.shape[1]), *arrays)
        return out

    np.testing.assert_allclose(run()[:100], X[:100] @ W, rtol=1e-3, atol=1e-4)
    return [Contestant(PREFETCHING, lambda: run, X.nnz)]


def ours(name, X, y, begin, **params):
    """Time a pass of a model that has begun with the rows `begin`: a first call sets it up, which takes 0.2 ms."""
    classes = np.unique(y)

    def prepare():
        # Its pages are brought in, as scipy's w has its: 20 classes take 168 MB, and what the system takes to find them (20 to
        # 400 ms where this was written) would drown what is measured.
        model = make_estimator(name, **params).partial_fit(*begin, classes=classes)
        for state in getattr(model._state, "members", [model._state]):
            state.values += 0
        return lambda: model.partial_fit(X, y)

    return Contestant(" ".join([our_name(name), *params.values()]), prepare, size_of(X))


def scores(name, X, y):
    """Time a pass that learns nothing: rows are read, checked and scored."""
    model = make_estimator(name).partial_fit(X[:1000], y[:1000], classes=np.unique(y))
    return Contestant(f"{our_name(name)}, {SCORES}", lambda: lambda: model.decision_function(X), size_of(X))


def our_name(name):
    return f"**{(ALGORITHMS.get(name) or OTHERS[name]).title}**"


def sklearn(X, y, only_sgd=False):
    from sklearn import linear_model

    makers = {"scikit-learn SGDClassifier, hinge": lambda: linear_model.SGDClassifier(shuffle=False)}
    if not only_sgd and hasattr(linear_model, "PassiveAggressiveClassifier"):  # removed in 1.10
        makers["scikit-learn PassiveAggressiveClassifier"] = lambda: linear_model.PassiveAggressiveClassifier(shuffle=False)
    classes = np.unique(y)

    def prepare(make):
        model = make()
        return lambda: model.partial_fit(X, y, classes=classes)

    return [Contestant(name, lambda make=make: prepare(make), size_of(X)) for name, make in makers.items()]


def vw(X, y, key, title, options, with_cache=True):
    """Make contestants that read VW's text format, and its binary cache, which saves the parsing."""
    from vowpalwabbit import Workspace

    path = corpora.vw_file(key, X, y)
    cache = path.with_suffix(".cache")
    cache.unlink(missing_ok=True)  # of an older VW, perhaps
    command = f"-d {path} -b {corpora.vw_bits(len(np.unique(y)), X.shape[1])} --no_stdin --quiet {options}"

    def run(command):
        return lambda: Workspace(command).finish()

    found = [Contestant(f"VW {title}, from its text format", lambda: run(command), X.nnz)]
    if with_cache:  # the warm-up writes it
        cached = f"{command} --cache_file {cache}"
        found.append(Contestant(f"VW {title}, from its binary cache", lambda: run(cached), X.nnz))
    return found


def river(X, y):
    from river import linear_model

    X, y = X[:RIVER_ROWS], y[:RIVER_ROWS]
    bounds = zip(X.indptr[:-1], X.indptr[1:], strict=True)
    dicts = [dict(zip(X.indices[i:j].tolist(), X.data[i:j].tolist(), strict=True)) for i, j in bounds]
    rows = list(zip(dicts, (y == y.max()).tolist(), strict=True))

    def run(model):
        for x, label in rows:
            model.learn_one(x, label)

    makers = {"PAClassifier": lambda: linear_model.PAClassifier(mode=1), "LogisticRegression": linear_model.LogisticRegression}

    def prepare(make):
        model = make()
        return lambda: run(model)

    return [
        Contestant(f"river {name}, {len(rows)} rows as dicts", lambda make=make: prepare(make), X.nnz)
        for name, make in makers.items()
    ]


def has(module):
    return importlib.util.find_spec(module) is not None


# --- Races ---


def begun(X, y):
    """Return the first rows, from which models tell the unit of X, and the rest: X, y, (first X, first y)."""
    return X[BEGIN:], y[BEGIN:], (X[:BEGIN], y[:BEGIN])


def binary_race(X, y, key, repeats):
    X, y, begin = begun(X, y)
    floor = product(FLOOR if sp.issparse(X) else FLOOR_DENSE, X)
    validation = Contestant("validation alone", lambda: lambda: read_rows("benchmark", X, X.dtype), size_of(X))
    field = [floor, *prefetching(X), validation, scores("perceptron", X, y), *(ours(name, X, y, begin) for name in BINARY)]
    if has("sklearn"):
        field += sklearn(X, y)
    if key and has("vowpalwabbit"):
        field += vw(X, y, key, "hinge", "--loss_function hinge")
    if key and has("river"):
        field += river(X, y)
    return race(field, repeats, times=1 if key or size_of(X) > 10**6 else 10)  # (less than a millisecond each)


def multiclass_race(X, y, key, repeats):
    X, y, begin = begun(X, y)
    field = [product(FLOOR_20, X, n_columns=20), *prefetching(X, n_columns=20), product(TWICE, X, n_columns=40)]
    field += [ours(name, X, y, begin, **({"multi_class": scheme} if scheme else {})) for name, scheme in MULTICLASS]
    if has("sklearn"):
        field += sklearn(X, y, only_sgd=True)
    if has("vowpalwabbit"):
        field += vw(X, y, key, "oaa", f"--oaa {len(np.unique(y))}", with_cache=False)
    return race(field, repeats)


def one_row_race(n_features, repeats, n_calls=1000):
    """Race calls of one row each, with evenly drawn columns, which is worse for caches than words."""
    labels = np.random.default_rng(0).choice([-1, 1], n_calls)
    rows = [(x, labels[i : i + 1]) for i, x in enumerate(calls.sparse_rows(n_features, n_calls))]

    def prepare(make, turns):
        model = calls.grown(make(), n_features, calls.labels())
        return lambda: [model.partial_fit(X, y) for X, y in turns]

    def contestant(name, make, turns=rows):
        return Contestant(name, lambda: prepare(make, turns), len(turns))

    w = np.ones(n_features, dtype=np.float32)
    field = [Contestant(FLOOR, lambda: lambda: [X @ w for X, _ in rows], n_calls)]
    for name, make in callers().items():  # (scikit-learn's calls take milliseconds)
        field.append(contestant(name, make, rows[:20] if name.startswith("scikit-learn") else rows))
    field.append(contestant(f"{our_name(CALLED[0])}, {SAME_ROW}", callers()[our_name(CALLED[0])], rows[:1] * n_calls))
    return race(field, repeats)


def calls_race(n_features, repeats):
    """Race the calls of one row or one text that a server makes."""
    w, rows = np.ones(n_features, dtype=np.float32), calls.sparse_rows(n_features)
    floor = Contestant(FLOOR, lambda: lambda: [X @ w for X in rows], calls.N_CALLS)
    return race([floor, *(Contestant(*case, calls.N_CALLS) for case in calls.cases(n_features).items())], repeats)


def batches_race(X, y, repeats, batch_size=100, n_rows=20_000):
    n_rows = min(n_rows, X.shape[0] // batch_size * batch_size)
    batches = [(X[i : i + batch_size], y[i : i + batch_size]) for i in range(0, n_rows, batch_size)]

    def prepare(make):
        model = make().partial_fit(*batches[0], classes=np.unique(y))
        return lambda: [model.partial_fit(rows, labels) for rows, labels in batches[1:]]

    return race([Contestant(name, lambda m=make: prepare(m), n_rows - batch_size) for name, make in callers().items()], repeats)


def callers():
    """Return {name: function that makes a learner} of the learners whose calls are timed."""
    found = {our_name(name): lambda name=name: make_estimator(name) for name in CALLED}
    if has("sklearn"):
        from sklearn.linear_model import SGDClassifier

        found["scikit-learn SGDClassifier"] = lambda: SGDClassifier(shuffle=False)
    return found


# --- Memory and import ---


def first_call_memory(name, n_features, n_rows):
    """Return (bytes kept, bytes at the peak, bytes of X) of a first ``partial_fit`` by Python's and numpy's allocators."""
    X, y = stream(n_rows, 20, n_features=n_features)
    model = make_estimator(name)
    tracemalloc.start()
    model.partial_fit(X, y, classes=[0, 1])
    kept, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return kept, peak, X.data.nbytes + X.indices.nbytes + X.indptr.nbytes


def memory(name, n_rows):
    """Return bytes per feature, and the constant part of kept and peak memory in MB, from two sizes of model."""
    small, large = 2**20, 2**22
    measured = []
    for n_features in (small, large):
        context = multiprocessing.get_context("spawn")
        with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
            measured.append(pool.submit(first_call_memory, name, n_features, n_rows).result())
    (kept, peak, size_of_X), (kept_large, _, _) = measured
    per_feature = (kept_large - kept) / (large - small)
    return {
        "bytes_per_feature": per_feature,
        "kept_MB": (kept - per_feature * small) / 1e6,
        "peak_MB": (peak - per_feature * small) / 1e6,
        "X_MB": size_of_X / 1e6,
    }


def import_race(repeats):
    """Measure milliseconds of a Python that imports each module: medians, and the median difference to scipy.sparse."""
    statements = {"nothing": "pass", "numpy": "import numpy", "scipy.sparse": "import scipy.sparse"}
    # (The bare import loads nothing; what counts is the first class.)
    learner = "from onlinecls import AROWClassifier"
    statements |= {"onlinecls": "import onlinecls", "a class of onlinecls": learner}
    statements |= {"a class of onlinecls and scipy.sparse": f"{learner}; import scipy.sparse"}
    times = {name: [] for name in statements}
    # (With byte code, which the first round writes where it may: users' packages have it.)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    for _ in range(repeats + 1):
        for name, statement in statements.items():
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", statement], check=True, env=environment)
            times[name].append(1e3 * (time.perf_counter() - start))
    floor = times["scipy.sparse"][1:]
    return {
        name: (statistics.median(values[1:]), statistics.median(a - b for a, b in zip(values[1:], floor, strict=True)))
        for name, values in times.items()
    }


# --- Reporting ---


def report(results):
    """Format what is measured beside the streams as Markdown."""
    parts = [
        call_table(results["one row"], "`partial_fit` of one row, 100 nnz: µs a call"),
        call_table(results["calls"], "AROW, calls of one row of 100 nnz, one of a data frame, or one text: µs"),
        call_table(results["batches"], "`partial_fit` of 100 rows: µs a row"),
        memory_table(results["memory"]),
        import_table(results["import"]),
        results["about"],
    ]
    return "\n\n".join(parts)


def as_lines(results):
    """Return a line for each contestant on each stream: its price, its ratios to the first and to the product that prefetches."""
    return [
        {
            **dict(zip(("stream", "rows"), title.split(": ", 1), strict=True)),
            "learner": re.sub(r"[*`]", "", name),
            "ns a non-zero": f"{price.ns:.1f}",
            "times the product": f"{price.ratio:.2f}",
            "times the product in C, prefetching": "" if price.prefetched is None else f"{price.prefetched:.2f}",
            "processors, if above 1.2": f"{price.threads:.1f}" if price.threads > 1.2 else "",
        }
        for title, prices in (results["binary"] | results["multiclass"]).items()
        for name, price in prices.items()
    ]


def call_table(races, head):
    """Format a row for each contestant and a column for each race, in microseconds."""
    return table([head, *races], ([name, *(f"{prices[name].ns / 1000:.2f}" for prices in races.values())]
                                  for name in next(iter(races.values()))))


def memory_table(measured):
    head = "memory, binary, float32", "bytes a feature", "besides, MB", "and while a call reads X, MB", "X, MB"
    return table(head, (
        (our_name(name), f"{m['bytes_per_feature']:.2f}", f"{m['kept_MB']:.2f}", f"{m['peak_MB'] - m['kept_MB']:.2f}",
         f"{m['X_MB']:.1f}") for name, m in measured.items()))


def import_table(measured):
    rows = ((name, f"{total:.0f}", f"{above:+.0f}") for name, (total, above) in measured.items())
    return table(("import, whole process", "ms", "above scipy.sparse's"), rows)


def about(repeats):
    found, missing = [f"onlinecls {onlinecls.__version__}"], []
    for name in ("numpy", "scipy", "scikit-learn", "vowpalwabbit", "river"):
        try:
            found.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            missing.append(name)
    text = f"Medians of {repeats} repeats; {platform.machine()}, Python {platform.python_version()}, {', '.join(found)}."
    if compiled()[0] is None:
        text += f" No ratios to a product that prefetches: {compiled()[1]}."
    return text + (f" Not installed, so not measured: {', '.join(missing)}." if missing else "")


def targets(results):
    """Return the project's targets beside the measurements: (name, measured, at most)."""
    found = []
    for each, (title, prices) in zip(STREAMS + STREAMS_20, (results["binary"] | results["multiclass"]).items(), strict=True):
        for name, limit in each.limits.items():
            algorithm, _, more = name.partition(" ")
            row = f"{our_name('perceptron')}, {SCORES}" if name == SCORES else " ".join([our_name(algorithm), *more.split()])
            found.append((f"{name}, {title}, ratio", prices[row].ratio, limit))
    small = results["calls"]["2^20"]
    for name, limit in CALL_TARGETS.items():
        if name in small:
            found.append((f"{name}, µs", small[name].ns / 1000, limit))
    for title, prices in results["one row"].items():
        found.append((f"one row, d = {title}, µs", prices[our_name("arow")].ns / 1000, 5))
    for title, prices in results["batches"].items():
        found.append((f"100 rows, {title}, µs a row", prices[our_name("arow")].ns / 1000, 0.5))
    found.append(("arow, bytes a feature", results["memory"]["arow"]["bytes_per_feature"], 8))
    found.append(("arow, MB besides", results["memory"]["arow"]["kept_MB"], 1))
    found.append(("import above scipy.sparse's, ms", results["import"]["a class of onlinecls and scipy.sparse"][1], 30))
    return found


# --- Running ---


def measure(quick, repeats):
    exponents = (10, 12) if quick else (10, 14, 18, 20, 22)
    results = {"about": about(repeats), "binary": {}, "multiclass": {}, "batches": {}}
    for each in STREAMS:
        title, X, y, key = load(each, quick)
        results["binary"][title] = binary_race(X, y, key, repeats)
        if each.read is corpora.sentences:
            results["batches"][title.split(":")[0]] = batches_race(X, y, repeats)
    for each in STREAMS_20:
        title, X, y, key = load(each, quick)
        results["multiclass"][title] = multiclass_race(X, y, key, repeats)
    results["one row"] = {
        f"2^{exponent}": one_row_race(2**exponent, repeats, n_calls=50 if quick else 1000) for exponent in exponents
    }
    results["calls"] = {"2^20": calls_race(2**20, repeats)}
    results["memory"] = {name: memory(name, n_rows=500 if quick else 200_000) for name in ("arow", "perceptron", "adagrad_md")}
    results["import"] = import_race(repeats)
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write docs/speed.csv, docs/speed.md and the README's table")
    parser.add_argument("--quick", action="store_true", help="a smoke run of seconds, on small synthetic data")
    parser.add_argument("--repeats", type=int, help="10 if left out, 2 with --quick")
    parser.add_argument("--json", help="write what was measured to this file as well")
    args = parser.parse_args()
    if args.quick and args.write:
        parser.error("a quick run measures nothing that belongs into a page: leave out --quick or --write")
    warnings.filterwarnings("ignore", category=FutureWarning)  # scikit-learn's about its passive-aggressive classes

    results = measure(args.quick, args.repeats or (2 if args.quick else 10))
    if args.json:
        with open(args.json, "w") as file:
            json.dump(results, file, indent=1, default=dataclasses.asdict)
    text = report(results)
    if args.write:
        write_csv("speed.csv", as_lines(results))
        write_between(DOCS / "speed.md", "peers", text)
        write_derived()
    else:
        print(*("  ".join(line.values()) for line in as_lines(results)), text, sep="\n")
    if not args.quick:
        rows = ((what, f"{value:.2f}", f"{limit:g}") for what, value, limit in targets(results))
        print("", table(("target", "measured", "at most"), rows), sep="\n")


if __name__ == "__main__":
    main()
