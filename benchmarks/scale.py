"""What learning in parts costs: the test error of K models merged, against one pass over the same rows, and the time.

    python benchmarks/scale.py [--write] [--orders 5] [--speed]

Each order of the training rows is learnt in one pass and in K = 2 to 64 parts; the table has the test error of one pass and
how much more K parts err, in points, with the standard error of that difference over the orders. --speed times `parallel.fit` on
a text file cut in two, with one worker and with two. --write puts the table of errors into docs/scale.md.
"""

import argparse
import os
import tempfile
import time
from pathlib import Path

import numpy as np
from corpora import data_dir, load
from pages import DOCS, write_between

import onlinecls

SETS = {"imdb": ("imdb-train", "imdb-test"), "a9a": ("a9a", "a9a-test"), "20news": ("20news-train", "20news-test")}
LEARNERS = {
    "AROW": onlinecls.AROWClassifier, "NAROW": onlinecls.NAROWClassifier, "SCW-I": onlinecls.SCWClassifier,
    "AdaGrad": onlinecls.AdaGradClassifier, "PA-I": onlinecls.PassiveAggressiveClassifier,
}
PARTS = (2, 4, 8, 16, 32, 64)
N_FEATURES = 2**18


def errors(make, train, test, classes, orders):
    """Test error in percent, (orders, 1 + len(PARTS))."""
    (X, y), (X_test, y_test) = train, test
    found = []
    for seed in range(orders):
        order = np.random.default_rng(seed).permutation(len(y))
        found.append([])
        for k in (1, *PARTS):
            parts = [(X[rows], y[rows]) for rows in np.array_split(order, k)]
            model = onlinecls.parallel.fit(make(), parts, classes=classes)
            found[-1].append(100.0 * float((model.predict(X_test) != y_test).mean()))
    return np.array(found)


def error_table(orders):
    lines = ["| | one pass | " + " | ".join(f"K = {k}" for k in PARTS) + " |", "|---" * (len(PARTS) + 2) + "|"]
    for name, (train_name, test_name) in SETS.items():
        train, test = load(train_name, N_FEATURES), load(test_name, N_FEATURES)
        for title, make in LEARNERS.items():
            found = errors(make, train, test, np.unique(train[1]), orders)
            more = found[:, 1:] - found[:, :1]
            spread = more.std(axis=0, ddof=1) / np.sqrt(orders)
            cells = [f"{value:+.2f} ± {error:.2f}" for value, error in zip(more.mean(axis=0), spread, strict=True)]
            lines.append(f"| {name}, {title} | {found[:, 0].mean():.2f} % | " + " | ".join(cells) + " |")
            print(lines[-1], flush=True)
    return "\n".join(lines)


def speed_table(rounds, copies=8):
    """Seconds of `parallel.fit` on two halves of a file of reviews, by one process and by two, in turns."""
    import gzip

    import joblib

    with gzip.open(data_dir() / "imdb-train.tsv.gz") as lines:
        text = lines.read()
    half = text.index(b"\n", len(text) // 2) + 1
    with tempfile.TemporaryDirectory() as folder:
        for name, part in (("a", text[:half]), ("b", text[half:])):
            (Path(folder) / f"{name}.tsv").write_bytes(part * copies)
        seconds = {1: [], 2: []}
        for n_jobs in (2, 1) * (rounds + 1):
            with joblib.parallel_config(backend="loky"):
                start = time.perf_counter()
                onlinecls.parallel.fit(onlinecls.AROWClassifier(), f"{folder}/*.tsv", n_jobs=n_jobs, reading={"prefetch": False})
                seconds[n_jobs].append(time.perf_counter() - start)
        size = len(text) * copies / 1e6
    best = {n_jobs: min(values[1:]) for n_jobs, values in seconds.items()}  # (the first start the workers)
    lines = [
        "| workers | s | MB/s |", "|---|---|---|",
        *(f"| {n_jobs} | {value:.2f} | {size / value:.0f} |" for n_jobs, value in best.items()),
        "", f"{size:.0f} MB; two workers are {best[1] / best[2]:.2f} x one, at a load of {os.getloadavg()[0]:.1f} on "
        f"{os.cpu_count()} cores.",
    ]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="put the errors into docs/scale.md")
    parser.add_argument("--orders", type=int, default=5)
    parser.add_argument("--speed", action="store_true", help="the time, in place of the errors")
    options = parser.parse_args()
    if options.speed:
        print(speed_table(3))
        return
    text = error_table(options.orders)
    if options.write:
        write_between(DOCS / "scale.md", "shards", text)


if __name__ == "__main__":
    main()
