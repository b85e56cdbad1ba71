"""Speed-up of two models in two threads, and its limits.

    PYTHONPATH=benchmarks python -m studies.threads [--rounds 9] [--alone] [--write]

The two threads' work is done by one thread, one model after the other, and then by both at once, in turns; the table has the
median of the ratios. Beside the learners: what two cores can do at best (SHA-256, which needs no memory), and what the memory can
(copies of 64 MB, and gathers at random places of 64 MB). --alone keeps all other processes off the cores while it measures
(SCHED_FIFO: Linux, and root), some hundredths of a second at a time: with it the figures do not depend on the load. --write puts
the table into docs/scale.md.
"""

import hashlib
import os
import statistics
import sys
import threading
import time
from contextlib import contextmanager

import numpy as np
from pages import options, shown, table, write_between_if
from scipy.sparse import csr_matrix

import onlinecls

NNZ = 100  # of a row


def rows_of(n_rows, bits, seed):
    """Make rows of random columns, and linearly separable labels."""
    rng = np.random.default_rng(seed)
    columns = np.sort(rng.integers(0, 1 << bits, (n_rows, NNZ), dtype=np.int32), axis=1)
    columns += np.arange(NNZ, dtype=np.int32)  # (none twice)
    columns = np.minimum(columns, (1 << bits) - NNZ + np.arange(NNZ, dtype=np.int32))
    values = rng.normal(size=columns.size).astype(np.float32)
    X = csr_matrix((values, columns.ravel(), np.arange(0, columns.size + 1, NNZ)), (n_rows, 1 << bits))
    plane = rng.normal(size=1 << bits).astype(np.float32)
    return X, (X @ plane > 0).astype(np.int64)


def learning(bits, n_rows, size, number):
    """Return a function that learns the rows, `size` of them in a call."""
    X, y = rows_of(n_rows, bits, number)
    parts = [(X[i : i + size], y[i : i + size]) for i in range(0, n_rows, size)]
    model = onlinecls.AROWClassifier(dtype="float32").partial_fit(X[:100], y[:100])

    def learn():
        for rows, labels in parts:
            model.partial_fit(rows, labels)

    return learn


def hashing(number):
    block = np.random.default_rng(number).bytes(1 << 18)
    return lambda: [hashlib.sha256(block) for _ in range(80)]


def copying(number):
    source, target = np.zeros(1 << 23), np.zeros(1 << 23)
    return lambda: [np.copyto(target, source) for _ in range(2)]


def gathering(number):
    source, places = np.zeros(1 << 24, np.float32), np.random.default_rng(number).integers(0, 1 << 24, 1 << 21)
    found = np.empty(len(places), np.float32)
    return lambda: np.take(source, places, out=found, mode="clip")


WORK = {
    "SHA-256 of 256 KB (no memory to speak of)": hashing,
    "copies of 64 MB (memory's throughput)": copying,
    "gathers of 4 bytes in 64 MB (memory's latency)": gathering,
    **{f"AROW, 2^{bits} columns, {n_rows:,} rows in a call": lambda number, bits=bits, n_rows=n_rows: learning(
        bits, n_rows, n_rows, number) for bits, n_rows in ((12, 20_000), (16, 20_000), (20, 20_000), (22, 20_000))},
    "AROW, 2^20 columns, 1,000 rows in a call": lambda number: learning(20, 20_000, 1_000, number),
    "AROW, 2^20 columns, 100 rows in a call": lambda number: learning(20, 20_000, 100, number),
    "AROW, 2^20 columns, 1 row in a call": lambda number: learning(20, 4_000, 1, number),
}


@contextmanager
def undisturbed(alone):
    """Keep all other processes off the cores within, for a short time."""
    if not alone:
        yield
        return
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    try:
        yield
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        time.sleep(0.05)


def timed(workers, alone):
    """Measure the seconds until all functions have run, each in a thread that was started before."""
    barrier, stop = threading.Barrier(len(workers) + 1), []

    def run(worker, core):
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, {core})
        barrier.wait()
        worker()
        stop.append(core)
        barrier.wait()

    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else range(len(workers))
    with undisturbed(alone):
        threads = [threading.Thread(target=run, args=pair) for pair in zip(workers, cores, strict=False)]
        for thread in threads:
            thread.start()
        barrier.wait()
        start = time.perf_counter()
        barrier.wait()
        seconds = time.perf_counter() - start
        for thread in threads:
            thread.join()
    return seconds


def speed_ups(make, rounds, alone):
    """Return the speed-ups of two workers at once over one after the other, in all rounds."""
    pair, found = [make(0), make(1)], []
    timed([pair[0]], alone), timed([pair[1]], alone)  # pages are there, and models have met their features
    for _ in range(rounds):
        one_by_one = sum(timed([worker], alone) for worker in pair)
        found.append(one_by_one / timed(pair, alone))
    return found


def rows(rounds, alone):
    cases = {title: lambda make=make: speed_ups(make, rounds, alone) for title, make in WORK.items()}
    for title, measure in cases.items():
        low, middle, high = statistics.quantiles(measure(), n=4)
        yield title, f"{middle:.2f}", f"{low:.2f} to {high:.2f}"


def main():
    args = options(__doc__, rounds=9, alone=False)
    found = table(("work of each of two threads", "x one thread", "quartiles"), shown(rows(args.rounds, args.alone)))
    lock = "" if getattr(sys, "_is_gil_enabled", lambda: True)() else " without its lock"
    load = "no other process on them" if args.alone else f"a load of {os.getloadavg()[0]:.1f}"
    text = f"{found}\n\n{os.cpu_count()} cores, {load}, Python {sys.version.split()[0]}{lock}."
    write_between_if(args.write, "scale.md", "threads", text)


if __name__ == "__main__":
    main()
