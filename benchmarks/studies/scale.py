"""Learning in parts: test error of K merged models against one pass over the same rows, and time.

    PYTHONPATH=benchmarks python -m studies.scale [--write] [--orders 5] [--speed] [--copies 32]

Each order of the training rows is learnt in one pass and in K = 2 to 64 parts; the table has the test error of one pass and
how much more K parts err, in points, with the standard error of that difference over the orders. --speed times `parallel.fit` on
two text files, by one process and by two; each is a half of so many --copies of the reviews, of 33 MB. --write puts the table
into docs/scale.md.
"""

import os
import tempfile
import time
from pathlib import Path

import numpy as np
from corpora import HALVES, data_dir, load
from pages import options, shown, table, write_between_if

import onlinecls

SETS = {name: HALVES[name] for name in ("imdb", "a9a", "20news")}
LEARNERS = {
    "AROW": onlinecls.AROWClassifier, "NAROW": onlinecls.NAROWClassifier, "SCW-I": onlinecls.SCWClassifier,
    "AdaGrad": onlinecls.AdaGradClassifier, "PA-I": onlinecls.PassiveAggressiveClassifier,
}
PARTS = (2, 4, 8, 16, 32, 64)
N_FEATURES = 2**18


def errors(make, train, test, classes, orders):
    """Return the test error in per cent, an array of shape (orders, 1 + len(PARTS))."""
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


def error_rows(orders):
    for name, (train_name, test_name) in SETS.items():
        train, test = load(train_name, N_FEATURES), load(test_name, N_FEATURES)
        for title, make in LEARNERS.items():
            found = errors(make, train, test, np.unique(train[1]), orders)
            more = found[:, 1:] - found[:, :1]
            spread = more.std(axis=0, ddof=1) / np.sqrt(orders)
            cells = (f"{value:+.2f} ± {error:.2f}" for value, error in zip(more.mean(axis=0), spread, strict=True))
            yield f"{name}, {title}", f"{found[:, 0].mean():.2f} %", *cells


def speed_table(rounds, copies):
    """Format the seconds of `parallel.fit` on two halves of a file of reviews, by one process and by two, in turns."""
    import gzip

    import joblib
    from dask.distributed import Client, LocalCluster

    with gzip.open(data_dir() / "imdb-train.tsv.gz") as lines:
        text = lines.read()
    half = text.index(b"\n", len(text) // 2) + 1
    ways = {"one process": ("loky", 1), "two, joblib's processes": ("loky", 2), "two, Dask's `LocalCluster`": ("dask", 2)}
    seconds = {way: [] for way in ways}
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with tempfile.TemporaryDirectory() as folder, cluster, Client(cluster):
        for name, part in (("a", text[:half]), ("b", text[half:])):
            (Path(folder) / f"{name}.tsv").write_bytes(part * copies)
        for _ in range(rounds + 1):
            for way, (backend, n_jobs) in ways.items():
                start = time.perf_counter()
                with joblib.parallel_config(backend=backend):
                    onlinecls.parallel.fit(
                        onlinecls.AROWClassifier(), f"{folder}/*.tsv", n_jobs=n_jobs, reading={"prefetch": False})
                seconds[way].append(time.perf_counter() - start)
    found = {way: np.array(values[1:]) for way, values in seconds.items()}  # (the first start the workers)
    size, one = len(text) * copies / 1e6, found["one process"]
    rows = ((way, f"{np.median(values):.2f}", f"{size / np.median(values):.0f}", f"{np.median(one / values):.2f}",
             f"{np.quantile(one / values, 0.25):.2f} to {np.quantile(one / values, 0.75):.2f}") for way, values in found.items())
    return (table(("", "s", "MB/s", "x one process", "quartiles"), rows) + f"\n\n{size:.0f} MB of reviews in two files, 2^20 "
            f"columns, medians of {rounds} rounds in turns; {os.cpu_count()} cores.")


def main():
    args = options(__doc__, orders=5, speed=False, copies=32)
    if args.speed:
        return write_between_if(args.write, "scale.md", "workers", speed_table(7, args.copies))
    text = table(["", "one pass", *(f"K = {k}" for k in PARTS)], shown(error_rows(args.orders)))
    write_between_if(args.write, "scale.md", "shards", text)


if __name__ == "__main__":
    main()
