"""Tables of times: `python benchmarks/scripts/pages.py text cost rows full full_memory threads workers`; the pictures: `home`.

Times are processor time of this thread unless a table says otherwise; contestants take turns.
"""

import corpora  # isort: skip

import contextlib
import datetime as dt
import gzip
import hashlib
import importlib.util
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
from corpora import data_dir, seconds
from pages import DOCS, means, read_csv, table
from scipy.linalg import blas

import onlinecls
from benchmarks.common import begun, make_estimator, stream
from onlinecls.tables import TableVectorizer
from onlinecls.text import FeatureNames, HashingVectorizer

# --- texts to rows -------------------------------------------------------------------------------------------------------------

LETTERS = "abcdefghijklmnopqrstuvwxyz"
SCRIPTS = {  # the same reviews, letter for letter: lengths of words, repetitions and punctuation stay those of real text
    "ASCII English": {},
    "accented Latin": str.maketrans("aeioucnyAEIOUCNY", "áéîöùçñýÁÉÎÖÙÇÑÝ"),
    "Cyrillic": str.maketrans(LETTERS + LETTERS.upper(), "абцдефгхижклмнопярстувшыьз" + "АБЦДЕФГХИЖКЛМНОПЯРСТУВШЫЬЗ"),
    "Chinese": str.maketrans({**{c: chr(0x4E00 + 37 * i) for i, c in enumerate(LETTERS)}, " ": "", ",": "，", ".": "。"}),
}
TOKENS = {
    "unigrams": {}, "uni- and bigrams": {"ngram_range": (1, 2)}, "unigrams, float32": {"dtype": np.float32},
    "characters 3-5 in words": {"analyzer": "char_wb", "ngram_range": (3, 5)},
    "unigrams, 300 stop words": {"stop_words": "english"}, "unigrams, names learnt": {},
    "another token pattern": {"token_pattern": r"[^\W_]+"},
}  # fmt: skip


def text(small):
    """Hash IMDb reviews, beside scikit-learn, whose vectorizer gets a tenth of them."""
    from sklearn.feature_extraction.text import HashingVectorizer as Peer

    english = [row.encode("ascii", "ignore").decode() for row in corpora.texts("imdb-train")[1][: 50 if small else 3000]]
    rows = []
    for script, letters in SCRIPTS.items():
        found = [(row.lower()[::2] if script == "Chinese" else row).translate(letters) for row in english]
        few = found[: len(found) // 10]
        sizes = [sum(len(row.encode()) for row in some) / 1e9 for some in (few, found)]
        for case, params in list(TOKENS.items())[: None if script == "ASCII English" else 2]:
            times = []
            for _ in range(1 if small else 7):
                ours = HashingVectorizer(**params)
                ours = FeatureNames(ours) if case.endswith("learnt") else ours
                times.append([seconds(lambda each=each, some=some: each.transform(some)) / size for each, some, size in (
                    (Peer(**params), few, sizes[0]), (ours, found, sizes[1]))])
            theirs, mine = np.array(times).T
            rows.append((script, case, f"{np.median(theirs):.1f}", f"{np.median(mine):.2f}", f"{np.median(theirs / mine):.1f}"))
    return table(("text", "tokens", "scikit-learn, ns/byte", "onlinecls, ns/byte", "ratio"), rows, left=2)


# --- what a row costs ----------------------------------------------------------------------------------------------------------

AXES = {  # title: points, what a point makes of the usual row of 20 words in 2^20 columns, whether time grows with each
    "non-zeros a row": ((5, 10, 20, 50, 100, 200, 500), lambda n: {"nnz": n}, True),
    "columns": (tuple(2**bits for bits in range(10, 23, 2)), lambda n: {"n_features": n}, False),
    "classes": ((3, 5, 10, 20, 50, 100), lambda n: {"n_classes": n, "n_features": 2**16}, True),
    "rows": ((1000, 3000, 10_000, 30_000, 100_000), lambda n: {"n_rows": n}, False),
}  # fmt: skip


def cost(small):
    """Give the time of a row by its non-zeros, columns and classes, and by the stream's length, the least of ten passes."""
    rows = []
    for axis, (points, made, grows) in AXES.items():
        points = points[:2] if small else points
        curves = {f"AROW, {scheme}": ("arow", {"multi_class": scheme}) for scheme in ("crammer_singer", "ovr")}
        if axis != "classes":
            curves = {"Perceptron": ("perceptron", {}), "PA-I": ("pa1", {}), "AROW": ("arow", {})}
        least = {curve: np.full(len(points), np.inf) for curve in curves}
        for i, point in enumerate(points):
            wanted = {"n_features": 2**20, **made(point)}
            X, y = stream(**{"n_rows": max(400_000 // wanted.get("nnz", 20), 1000), **wanted})
            for _ in range(1 if small else 10):
                for curve, (name, params) in curves.items():
                    model = begun(make_estimator(name, **params), X, y, np.unique(y))
                    taken = 1e9 * seconds(lambda model=model, X=X, y=y: model.partial_fit(X, y)) / X.shape[0]
                    least[curve][i] = min(least[curve][i], taken)
        for curve, times in least.items():
            at = np.array(points, float)
            slope, start = np.polyfit(at, times, 1, w=1 / times) if grows else np.polyfit(np.log(at), np.log(times), 1)
            law = f"{start:.0f} ns + {slope:.1f} ns each" if grows else f"power {slope:.2f}"
            rows.append((axis, curve, f"{times[0]:,.0f} ({points[0]:,})", f"{times[-1]:,.0f} ({points[-1]:,})", law))
        stream.cache_clear()
    return table(("against", "learner", "ns a row, from", "to", "fitted"), rows, left=2)


# --- one row of a table --------------------------------------------------------------------------------------------------------


def rows(small):
    """Give the time of a dict that is learnt and predicted by itself, by what is in it, and of names never met."""
    draw, n, found = np.random.default_rng(0), 50 if small else 500, []
    words = [f"w{k}" for k in range(3000)]
    kinds = {  # of numbers: how many, and what else a row has
        "8 numbers, a name": (8, lambda: {"c": "xyz"[draw.integers(3)]}),
        "20 numbers": (20, dict),
        "19 numbers, a `datetime`": (19, lambda: {"d": dt.datetime(2024, int(draw.integers(1, 13)), 1, 10, 30)}),
        "19 numbers, 10 words in a text": (19, lambda: {"v": " ".join(draw.choice(words, 10))}),
    }
    for kind, (numbers, more) in kinds.items():
        dicts = [{**{f"n{k}": float(draw.normal()) for k in range(numbers)}, **more()} for _ in range(n)]
        model, labels = onlinecls.make_stream_pipeline(TableVectorizer(), onlinecls.AROWClassifier()), ["stays", "leaves"] * n
        runs = (lambda m=model, d=dicts, y=labels: [m.learn_one(*pair) for pair in zip(d, y, strict=False)],
                lambda m=model, d=dicts: [m.predict_one(row) for row in d])
        found.append((kind, *(f"{min(1e6 * seconds(run) / n for _ in range(9)):.1f}" for run in runs)))
    model = onlinecls.make_stream_pipeline(TableVectorizer(), onlinecls.AROWClassifier())
    step = 1000 if small else 100_000
    for start in range(0, 10 * step, step):
        dicts = [{f"word{start + 10 * k + j}": 1 for j in range(10)} for k in range(step // 10)]
        taken = seconds(lambda dicts=dicts: [model.learn_one(row, "ab"[k % 2]) for k, row in enumerate(dicts)])
        if start in (0, 9 * step):
            told = f"after {start:,} others" if start else f"the first {step:,} of them"
            found.append((f"10 columns never met, {told}", f"{1e6 * taken / len(dicts):.1f}", ""))
    return table(("a row of", "`learn_one`, µs", "`predict_one`, µs"), found)


# --- full covariances ----------------------------------------------------------------------------------------------------------


def full(small):
    """Give the time of a row that updates, beside the machine's own matrix products and the same updates by BLAS's routines."""
    found = []
    for d, n in {256: 2000, 784: 800, 2000: 400}.items():
        rng, runs = np.random.default_rng(0), {}
        n, pairs = (60, 10) if small else (n, 100)
        X, y = rng.standard_normal((n, d)), rng.integers(0, 2, n)  # (labels of chance: all but a few rows update)
        for dtype in (np.float64, np.float32):
            Z = (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(dtype)
            A = np.asfortranarray(rng.standard_normal((d, d)).astype(dtype))
            letter = "d" if dtype == np.float64 else "s"
            gemm, symv, syr = (getattr(blas, letter + name) for name in ("gemm", "symv", "syr"))

            def learn(Z=Z, y=y):
                onlinecls.AROWClassifier(r=1.0, covariance="full", fit_intercept=False).partial_fit(Z, y, classes=[0, 1])

            def by_blas(Z=Z[:pairs], symv=symv, syr=syr):
                S = np.asfortranarray(np.eye(Z.shape[1], dtype=Z.dtype))
                for x in Z:
                    u = symv(1.0, S, x)
                    syr(-1.0 / (1.0 + x @ u), u, a=S, overwrite_a=1)

            runs |= {(dtype, "ours"): learn, (dtype, "pair"): by_blas, (dtype, "flat"): lambda A=A, g=gemm: g(1.0, A, A[:, :64]),
                     (dtype, "square"): lambda A=A, g=gemm: g(1.0, A, A)}
        best = {key: min(seconds(run) for _ in range(1 if small else 5)) for key, run in runs.items()}
        for dtype in (np.float64, np.float32):
            ours, pair, needed = best[dtype, "ours"] / n, best[dtype, "pair"] / pairs, 3 * d * d
            flat, square = 2 * d * d * 64 / best[dtype, "flat"], 2 * d**3 / best[dtype, "square"]
            found.append((str(d), str(np.dtype(dtype)), f"{1e6 * ours:.1f}",
                          f"{needed / ours / flat:.0%} of {flat / 1e9:.0f} GFlop/s",
                          f"{needed / ours / square:.0%} of {square / 1e9:.0f}", f"{1e6 * pair:.1f}", f"{pair / ours:.2f}"))
    return table(("features", "dtype", "µs a row", "share of d x d by d x 64 products", "of square products", "symv + syr, µs",
                  "ratio"), found)


MEMORY = """
import numpy as np, onlinecls
def peak():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM:"))
rng, d = np.random.default_rng(0), {d}
X, y = rng.standard_normal((300, d)), rng.integers(0, 2, 300)
onlinecls.AROWClassifier(covariance="full").partial_fit(X[:100, :200].copy(), y[:100])
before = peak()
onlinecls.AROWClassifier(covariance="full").partial_fit(X, y)
print(1024 * (peak() - before))
"""


def full_memory(small):
    """Give the peak memory that a pass adds, in a process of its own."""
    found = []
    for d in (784,) if small else (784, 2000, 4000):
        peak = int(subprocess.run([sys.executable, "-c", MEMORY.format(d=d)], check=True, capture_output=True, text=True).stdout)
        size, block = 8 * (d + 1) ** 2, 8 * 64 * (d + 1)
        found.append((str(d), f"{size / 1e6:.1f}", f"{peak / 1e6:.1f}", f"{(peak - size) / block:.1f}"))
    return table(("features", "Σ, MB", "peak, MB", "beyond Σ, in blocks of 64 rows"), found)


# --- two threads, two processes ------------------------------------------------------------------------------------------------


def learning(bits, size, number):
    """Return a function that learns rows of 100 words, `size` of them in a call."""
    n_rows = 4000 if size == 1 else 20_000
    X, y = stream(n_rows, 100, n_features=2**bits, seed=number, n_words=2**bits)
    parts = [(X[i : i + size], y[i : i + size]) for i in range(0, n_rows, size)] * 10  # (a thread that wakes may wait 3 ms)
    model = begun(onlinecls.AROWClassifier(), X, y, [0, 1])
    return lambda: [model.partial_fit(*part) for part in parts]


def hashing(number):
    block = np.random.default_rng(number).bytes(1 << 18)
    return lambda: [hashlib.sha256(block) for _ in range(80)]


def copying(number):
    source, target = np.zeros(1 << 23), np.zeros(1 << 23)
    return lambda: [np.copyto(target, source) for _ in range(2)]


def gathering(number):
    source, places = np.zeros(1 << 24, np.float32), np.random.default_rng(number).integers(0, 1 << 24, 1 << 21)
    found = np.empty(len(places), np.float32)
    return lambda: [np.take(source, places, out=found, mode="clip") for _ in range(10)]


def wall(workers):
    """Measure the seconds until all functions have run, each in a thread that was started before."""
    barrier = threading.Barrier(len(workers) + 1)

    def run(worker):
        barrier.wait()
        worker()
        barrier.wait()

    running = [threading.Thread(target=run, args=(worker,)) for worker in workers]
    for thread in running:
        thread.start()
    barrier.wait()
    start = time.perf_counter()
    barrier.wait()
    taken = time.perf_counter() - start
    for thread in running:
        thread.join()
    return taken


def threads(small):
    """Give the speed-up of two models in two threads, and what two cores and the memory can do at best."""
    work = {"SHA-256 of 256 KB (no memory to speak of)": hashing, "copies of 64 MB (memory's throughput)": copying,
            "gathers of 4 bytes in 64 MB (memory's latency)": gathering}
    for bits, size in ((12, 20_000), (16, 20_000), (20, 20_000), (22, 20_000), (20, 1000), (20, 100), (20, 1)):
        calls = f"{size:,} row{'s' * (size > 1)} in a call"
        work[f"AROW, 2^{bits} columns, {calls}"] = lambda number, bits=bits, size=size: learning(bits, size, number)
    found = []
    for title, make in list(work.items())[: 3 if small else None]:
        pair, ratios = [make(0), make(1)], []
        for _ in range(3 if small else 10):
            ratios.append(sum(wall([worker]) for worker in pair) / wall(pair))
        low, middle, high = statistics.quantiles(ratios[1:], n=4)
        found.append((title, f"{middle:.2f}", f"{low:.2f} to {high:.2f}"))
    return (f"{table(('work of each of two threads', 'x one thread', 'quartiles'), found)}\n\n{os.cpu_count()} cores, a load of "
            f"{os.getloadavg()[0]:.1f}, Python {sys.version.split()[0]}.")


def workers(small):
    """Give the seconds of `parallel.fit` on two halves of a file of reviews, by one process and by two, Dask's if it is there."""
    import joblib

    with gzip.open(data_dir() / "imdb-train.tsv.gz") as lines:
        found = lines.read()
    half, copies = found.index(b"\n", len(found) // 2) + 1, 1 if small else 32
    ways = {"one process": ("loky", 1), "two, joblib's processes": ("loky", 2)}
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        if importlib.util.find_spec("distributed"):
            from dask.distributed import Client, LocalCluster

            cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
            stack.enter_context(Client(stack.enter_context(cluster)))
            ways["two, Dask's `LocalCluster`"] = ("dask", 2)
        taken = {way: [] for way in ways}
        for name, part in (("a", found[:half]), ("b", found[half:])):
            (Path(folder) / f"{name}.tsv").write_bytes(part * copies)
        for _ in range(3 if small else 8):
            for way, (backend, n_jobs) in ways.items():
                start = time.perf_counter()
                with joblib.parallel_config(backend=backend):
                    onlinecls.parallel.fit(
                        onlinecls.AROWClassifier(), f"{folder}/*.tsv", n_jobs=n_jobs, reading={"prefetch": False})
                taken[way].append(time.perf_counter() - start)
    taken = {way: np.array(values[1:]) for way, values in taken.items()}  # (the first start the workers)
    size, one = len(found) * copies / 1e6, taken["one process"]
    lines = ((way, f"{np.median(values):.2f}", f"{size / np.median(values):.0f}", f"{np.median(one / values):.2f}",
              f"{np.quantile(one / values, 0.25):.2f} to {np.quantile(one / values, 0.75):.2f}") for way, values in taken.items())
    return (table(("", "s", "MB/s", "x one process", "quartiles"), lines) + f"\n\n{size:.0f} MB of reviews in two files, 2^20 "
            f"columns, medians of {len(one)} rounds in turns; {os.cpu_count()} cores.")


# --- pictures ------------------------------------------------------------------------------------------------------------------

MISTAKES = {  # title -> learners of docs/accuracy_two.csv and docs/accuracy_several.csv
    "AROW": ("arow", "arow ovr"), "AdaGrad": ("adagrad_md", "adagrad_md ovr"), "Vowpal Wabbit, hinge": ("VW hinge", "VW oaa"),
    "passive-aggressive": ("pa1", "pa1 ovr"), "scikit-learn SGDClassifier": ("SGD hinge", "SGD hinge"),
}  # fmt: skip


def bars(ax, values, form, title):
    """Draw a bar for each name, ours in colour, with the figure at its end."""
    colours = ["#b0b0b0" if name.startswith(("scikit-learn", "Vowpal", "river")) else "#1f77b4" for name in values]
    ax.bar_label(ax.barh(list(values), list(values.values()), color=colours), labels=[form(each) for each in values.values()],
                 padding=4)
    ax.spines[["top", "right", "bottom"]].set_visible(False)
    ax.set_xticks([])
    ax.tick_params(axis="y", length=0)
    ax.margins(x=0.3)
    ax.set_title(title, loc="left", fontsize=12)


def home(small):
    """Draw docs/home_speed.png, calls by the number of columns, and docs/home_mistakes.png, from the CSV files in docs."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams["font.size"] = 11
    figure, ax = plt.subplots(figsize=(7.5, 3.2), layout="constrained")
    for name, colour in (("scikit-learn SGDClassifier", "#808080"), ("AROW", "#1f77b4")):
        found = [line for line in read_csv("calls.csv") if line["call"].startswith("partial_fit of one row")]
        found = [line for line in found if line["learner"] == name]
        columns = [int(line["call"].split("2^")[1].split()[0]) for line in found]
        times = [float(line["us"]) for line in found]
        ax.plot(columns, times, "o-", color=colour)
        for at in (0, -1):
            told = f"{times[at]:,.{1 if times[at] < 100 else 0}f} µs"
            ax.annotate(told, (columns[at], times[at]), (0, 8), textcoords="offset points", ha="center")
        ax.annotate(name, (columns[1], times[1]), (0, 8), textcoords="offset points", ha="center", color=colour)
    ax.set(yscale="log", xticks=columns, xticklabels=[f"$2^{{{k}}}$" for k in columns], xlabel="columns of the model")
    ax.set_ylim(0.5 * min(times), None)
    ax.margins(x=0.08, y=0.15)
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_title("learn one row of 100 non-zeros in one call (logarithmic)", loc="left", fontsize=12)
    figure.savefig(DOCS / "home_speed.png", dpi=110)
    figure, axes = plt.subplots(1, 2, figsize=(7.5, 3.2), layout="constrained", sharey=True)
    for i, (ax, found, title) in enumerate(zip(axes, means(), ("two classes", "several classes"), strict=True)):
        bars(ax, {name: float(found[pair[i]]) for name, pair in MISTAKES.items()}, "{:.1f} %".format, f"mistakes, {title}")
    axes[0].invert_yaxis()
    figure.savefig(DOCS / "home_mistakes.png", dpi=110)
    return "docs/home_speed.png and docs/home_mistakes.png are drawn."
