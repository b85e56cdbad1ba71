"""Speed ratios against scipy, scikit-learn, Vowpal Wabbit and river, from one run on one thread.

In every repeat each contestant runs once, in turn, so that a slow moment of the machine hits all alike; the first repeat warms
up and is thrown away. A time is the median over the repeats, a ratio the median of the ratios within a repeat to the floor of
any linear learner, scipy's product of the same rows with a weight vector (or, for 20 classes, matrix). Our models are empty when
they start, but their memory is there, as that vector's is.

    python benchmarks/peers.py [--write] [--quick] [--repeats N] [--json FILE]
"""

import os

os.environ.update({"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"})  # before numpy reads them

import argparse
import concurrent.futures
import dataclasses
import importlib.metadata
import importlib.util
import json
import multiprocessing
import platform
import statistics
import subprocess
import sys
import time
import tracemalloc
import warnings

import corpora
import numpy as np
import scipy.sparse as sp
from benchmarks.common import ALGORITHMS, make_estimator, stream
from pages import DOCS, write_between, write_derived

FLOOR = "scipy `X @ w`"
FLOOR_20 = "scipy `X @ W`, W of 20 columns"
TWICE = "scipy `X @ W`, W of 40 columns"  # as many numbers as 20 vectors of weights and their variances
SAME_ROW = "the same row each time"
BINARY = ("perceptron", "pa1", "arow", "narow", "cw_stdev", "cw_variance", "adagrad_md")
MULTICLASS = (("arow", "crammer_singer"), ("arow", "ovr"), ("perceptron", "crammer_singer"), ("pa1", "crammer_singer"))
CALLED = ("arow", "perceptron", "pa1")
RIVER_ROWS = 1000  # it learns about 10,000 a second


@dataclasses.dataclass
class Contestant:
    """A timed run: ``prepare()`` is not timed and returns the function that is; ``size`` counts its non-zeros, rows or calls."""

    name: str
    prepare: callable
    size: int


@dataclasses.dataclass
class Price:
    """Nanoseconds per unit of size by the wall clock, and processor time over wall clock."""

    ns: float
    ratio: float
    threads: float


def race(contestants, repeats):
    """Race the contestants in turns and return {name: ``Price``, with its ratio to the first}."""
    wall = {contestant.name: [] for contestant in contestants}
    cpu = {contestant.name: [] for contestant in contestants}
    for _ in range(repeats + 1):
        for contestant in contestants:
            run = contestant.prepare()
            cpu_start, start = time.process_time(), time.perf_counter()
            run()
            stop, cpu_stop = time.perf_counter(), time.process_time()
            wall[contestant.name].append(1e9 * (stop - start) / contestant.size)
            cpu[contestant.name].append(1e9 * (cpu_stop - cpu_start) / contestant.size)
    floor = wall[contestants[0].name][1:]
    return {name: price(wall[name][1:], cpu[name][1:], floor) for name in wall}


def price(wall, cpu, floor):
    ratio = statistics.median(own / other for own, other in zip(wall, floor, strict=True))
    return Price(statistics.median(wall), ratio, statistics.median(cpu) / statistics.median(wall))


# --- Contestants ---


def product(name, X, n_columns=None):
    w = np.random.default_rng(0).standard_normal((X.shape[1], n_columns) if n_columns else X.shape[1], dtype=X.dtype)
    return Contestant(name, lambda: lambda: X @ w, X.nnz)


def ours(name, X, y, **params):
    classes = np.unique(y)

    def prepare():
        # An empty model, its pages brought in, as scipy's w has its: 20 classes take 168 MB, and what the system takes to find
        # them (20 to 400 ms where this was written) would drown what is measured.
        model = make_estimator(name, **params).partial_fit(X[:0], y[:0], classes=classes)
        model._state.values += 0
        return lambda: model.partial_fit(X, y)

    return Contestant(" ".join([our_name(name), *params.values()]), prepare, X.nnz)


def scores(name, X, y):
    """Time a pass that learns nothing: rows are read, checked and scored."""
    model = make_estimator(name).partial_fit(X[:1000], y[:1000], classes=np.unique(y))
    return Contestant(f"{our_name(name)}, `decision_function`", lambda: lambda: model.decision_function(X), X.nnz)


def our_name(name):
    return f"**{ALGORITHMS[name].title}**"


def validation(X):
    """Time the reading and checking of X alone, if this version has it as a function."""
    try:
        from onlinecls._input.validate import read_rows
    except ImportError:
        return []
    return [Contestant("validation alone", lambda: lambda: read_rows("benchmark", X, X.dtype), X.nnz)]


def sklearn(X, y, only_sgd=False):
    from sklearn import linear_model

    makers = {"scikit-learn SGDClassifier, hinge": lambda: linear_model.SGDClassifier(shuffle=False)}
    if not only_sgd and hasattr(linear_model, "PassiveAggressiveClassifier"):  # removed in 1.10
        makers["scikit-learn PassiveAggressiveClassifier"] = lambda: linear_model.PassiveAggressiveClassifier(shuffle=False)
    classes = np.unique(y)

    def prepare(make):
        model = make()
        return lambda: model.partial_fit(X, y, classes=classes)

    return [Contestant(name, lambda make=make: prepare(make), X.nnz) for name, make in makers.items()]


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


def binary_race(X, y, key, repeats):
    field = [product(FLOOR, X), *validation(X), scores("perceptron", X, y), *(ours(name, X, y) for name in BINARY)]
    if has("sklearn"):
        field += sklearn(X, y)
    if has("vowpalwabbit"):
        field += vw(X, y, key, "hinge", "--loss_function hinge")
    if has("river"):
        field += river(X, y)
    return race(field, repeats)


def multiclass_race(X, y, key, repeats):
    field = [product(FLOOR_20, X, n_columns=20), product(TWICE, X, n_columns=40)]
    field += [ours(name, X, y, multi_class=scheme) for name, scheme in MULTICLASS]
    if has("sklearn"):
        field += sklearn(X, y, only_sgd=True)
    if has("vowpalwabbit"):
        field += vw(X, y, key, "oaa", f"--oaa {len(np.unique(y))}", with_cache=False)
    return race(field, repeats)


def one_row_race(n_features, repeats, n_calls=1000, nnz=100):
    """Race calls of one row each, with evenly drawn columns, which is worse for caches than words."""
    rng = np.random.default_rng(0)
    columns = [np.sort(rng.choice(n_features, nnz, replace=False)).astype(np.int32) for _ in range(n_calls)]
    values = np.full(nnz, nnz**-0.5, dtype=np.float32)
    indptr = np.array([0, nnz], dtype=np.int32)
    labels = rng.choice([-1, 1], n_calls)
    rows = [(sp.csr_matrix((values, row, indptr), shape=(1, n_features)), labels[i : i + 1]) for i, row in enumerate(columns)]
    # A row of all columns brings every page of the model into memory first.
    everything = sp.csr_matrix(np.full((1, n_features), n_features**-0.5, dtype=np.float32))

    def prepare(make, calls):
        model = make()
        model.partial_fit(everything, labels[:1], classes=[-1, 1])
        return lambda: [model.partial_fit(X, y) for X, y in calls]

    def prepare_reader(call):
        model = make_estimator(CALLED[0], probability=True).partial_fit(everything, labels[:1], classes=[-1, 1])
        return lambda: [call(model) for _ in range(n_calls)]

    def contestant(name, make, calls=rows):
        return Contestant(name, lambda: prepare(make, calls), len(calls))

    w = np.ones(n_features, dtype=np.float32)
    field = [Contestant(FLOOR, lambda: lambda: [X @ w for X, _ in rows], n_calls)]
    for name, make in callers().items():  # (scikit-learn's calls take milliseconds)
        field.append(contestant(name, make, rows[:20] if name.startswith("scikit-learn") else rows))
    field.append(contestant(f"{our_name(CALLED[0])}, {SAME_ROW}", callers()[our_name(CALLED[0])], rows[:1] * n_calls))
    x, label = rows[0]
    for title, call in {
        "`classes` in each call": lambda model: model.partial_fit(x, label, classes=[-1, 1]),
        "`predict`": lambda model: model.predict(x),
        "`predict_proba`": lambda model: model.predict_proba(x),
    }.items():
        field.append(Contestant(f"{our_name(CALLED[0])}, {title}", lambda call=call: prepare_reader(call), n_calls))
    return race(field, repeats)


def batches_race(X, y, repeats, batch_size=100, n_rows=20_000):
    n_rows = min(n_rows, X.shape[0] // batch_size * batch_size)
    batches = [(X[i : i + batch_size], y[i : i + batch_size]) for i in range(0, n_rows, batch_size)]

    def prepare(make):
        model = make().partial_fit(*batches[0], classes=[-1, 1])
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
    """Format all measurements as Markdown."""
    parts = [
        ratio_table(results["binary"], "one pass, float32"),
        ratio_table(results["multiclass"], "one pass, 20 classes, float32"),
        call_table(results["one row"], "`partial_fit` of one row, 100 nnz: µs a call"),
        call_table(results["batches"], "`partial_fit` of 100 rows: µs a row"),
        memory_table(results["memory"]),
        import_table(results["import"]),
        notes(results),
    ]
    return "\n\n".join(parts)


def ratio_table(races, head):
    """Format a row for each contestant, with the price and its ratio to the floor's for each race."""
    lines = [
        f"| {head} | " + " | ".join(f"{title}: ns/nnz | ratio" for title in races) + " |",
        "|---" + "|---:|---:" * len(races) + "|",
    ]
    for name in next(iter(races.values())):
        cells = [f"{prices[name].ns:.1f} | {prices[name].ratio:.2f}" for prices in races.values()]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def call_table(races, head):
    """Format a row for each contestant and a column for each race, in microseconds."""
    lines = [f"| {head} | " + " | ".join(races) + " |", "|---" + "|---:" * len(races) + "|"]
    for name in next(iter(races.values())):
        lines.append(f"| {name} | " + " | ".join(f"{prices[name].ns / 1000:.2f}" for prices in races.values()) + " |")
    return "\n".join(lines)


def memory_table(measured):
    lines = [
        "| memory, binary, float32 | bytes a feature | besides, MB | and while a call reads X, MB | X, MB |",
        "|---|---:|---:|---:|---:|",
    ]
    for name, m in measured.items():
        beside = m["peak_MB"] - m["kept_MB"]
        lines.append(f"| {our_name(name)} | {m['bytes_per_feature']:.2f} | {m['kept_MB']:.2f} | {beside:.2f} | {m['X_MB']:.1f} |")
    return "\n".join(lines)


def import_table(measured):
    lines = ["| import, whole process | ms | above scipy.sparse's |", "|---|---:|---:|"]
    lines += [f"| {name} | {total:.0f} | {above:+.0f} |" for name, (total, above) in measured.items()]
    return "\n".join(lines)


def notes(results):
    said = [f"Ratios are to the first line of their table. {results['about']}"]
    for title, prices in (results["binary"] | results["multiclass"]).items():
        said += [f"{name} used {p.threads:.1f} processors ({title})." for name, p in prices.items() if p.threads > 1.2]
    return " ".join(said)


def about(repeats):
    found, missing = [], []
    for name in ("onlinecls", "numpy", "scipy", "scikit-learn", "vowpalwabbit", "river"):
        try:
            found.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            missing.append(name)
    text = f"Medians of {repeats} repeats; {platform.machine()}, Python {platform.python_version()}, {', '.join(found)}."
    return text + (f" Not installed, so not measured: {', '.join(missing)}." if missing else "")


def targets(results):
    """Return the project's targets beside the measurements: (name, measured, at most)."""
    found = []
    for (title, prices), part in zip(results["binary"].items(), (1.0, 0.8), strict=True):
        limits = {"arow": 2.3, "perceptron": 1.5, "pa1": 1.7, "narow": 2.9, "cw_stdev": 2.9, "adagrad_md": 2.9}
        found += [(f"{name}, {title}, ratio", prices[our_name(name)].ratio, limit * part) for name, limit in limits.items()]
    for title, prices in results["multiclass"].items():
        for kind in ("crammer_singer", "ovr"):
            found.append((f"arow, 20 classes, {kind}, {title}, ratio", prices[f"{our_name('arow')} {kind}"].ratio, 1.5))
    for title, prices in results["one row"].items():
        found.append((f"one row, d = {title}, µs", prices[our_name("arow")].ns / 1000, 5))
    for title, prices in results["batches"].items():
        found.append((f"100 rows, {title}, µs a row", prices[our_name("arow")].ns / 1000, 0.5))
    found.append(("arow, bytes a feature", results["memory"]["arow"]["bytes_per_feature"], 8))
    found.append(("arow, MB besides", results["memory"]["arow"]["kept_MB"], 1))
    found.append(("import above scipy.sparse's, ms", results["import"]["a class of onlinecls and scipy.sparse"][1], 30))
    return found


# --- Running ---


def corpora_for(quick):
    """Return (binary, multiclass) sets, each {title: (X, y, key of its VW file)}."""
    if quick:  # small and synthetic: nothing is read, and the figures mean nothing
        small = {"n_features": 2**14}
        binary = {f"{nnz} nnz": (*stream(500, nnz, **small), f"quick-{nnz}") for nnz in (20, 75)}
        binary = {title: (X, 2 * y - 1, key) for title, (X, y, key) in binary.items()}
        multiclass = {f"{nnz} nnz": (*stream(500, nnz, n_classes=20, **small), f"quick-20-{nnz}") for nnz in (20, 75)}
        return binary, multiclass
    newsgroups = ("20news-train", "20news-test")
    binary = {words: corpora.short_texts(words=words) for words in (22, 102)}
    multiclass = {words: corpora.short_texts(words=words, sources=newsgroups) for words in (22, 102)}
    return (
        {title_of(X): (X, y, f"imdb-{words}") for words, (X, y) in binary.items()},
        {title_of(X): (X, y, f"20news-{words}") for words, (X, y) in multiclass.items()},
    )


def title_of(X):
    return f"{X.shape[0]:,} rows of {X.nnz / X.shape[0]:.0f} nnz"


def measure(quick, repeats):
    binary, multiclass = corpora_for(quick)
    exponents = (10, 12) if quick else (10, 14, 18, 20, 22)
    results = {"about": about(repeats)}
    results["binary"] = {title: binary_race(*data, repeats) for title, data in binary.items()}
    results["multiclass"] = {title: multiclass_race(*data, repeats) for title, data in multiclass.items()}
    results["one row"] = {
        f"2^{exponent}": one_row_race(2**exponent, repeats, n_calls=50 if quick else 1000) for exponent in exponents
    }
    results["batches"] = {title: batches_race(X, y, repeats) for title, (X, y, _) in binary.items()}
    results["memory"] = {name: memory(name, n_rows=500 if quick else 200_000) for name in ("arow", "perceptron", "adagrad_md")}
    results["import"] = import_race(repeats)
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="put the tables into docs/speed.md, a summary into README.md")
    parser.add_argument("--quick", action="store_true", help="a smoke run of seconds, on small synthetic data")
    parser.add_argument("--repeats", type=int, help="10 if left out, 2 with --quick")
    parser.add_argument("--json", help="write what was measured to this file as well")
    args = parser.parse_args()
    if args.quick and args.write:
        parser.error("a quick run measures nothing that belongs into a page: leave out --quick or --write")
    warnings.filterwarnings("ignore", category=FutureWarning)  # scikit-learn's about its passive-aggressive classes

    try:
        results = measure(args.quick, args.repeats or (2 if args.quick else 10))
    except FileNotFoundError as error:
        raise SystemExit(f"{error}; --quick runs without data") from error
    if args.json:
        with open(args.json, "w") as file:
            json.dump(results, file, indent=1, default=dataclasses.asdict)
    text = report(results)
    if args.write:
        write_between(DOCS / "speed.md", "peers", text)
        write_derived()
    else:
        print(text)
    if not args.quick:
        print("\n| target | measured | at most |\n|---|---:|---:|")
        print("\n".join(f"| {what} | {value:.2f} | {limit:g} |" for what, value, limit in targets(results)))


if __name__ == "__main__":
    main()
