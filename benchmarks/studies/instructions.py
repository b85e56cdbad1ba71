"""Processor instructions per row, of the library and of plain C, beside scipy's product, counted by valgrind (to be installed).

    PYTHONPATH=benchmarks:src python -m studies.instructions [--write]

Counts do not depend on what else the machine does. Rows of two lengths give a line, so much for a row and so much for each of its
non-zeros. Only the compiled loops are counted: scipy's product, a pass's check of the rows and its kernel, and the same kernel in
restated.c, which must leave the same weights and counters. Rows are made-up words in 2^16 columns; a pass is the mean of the
first three. Then all are timed on real texts, in turns. ``--write`` puts both tables into docs/speed.md.
"""

import argparse
import ctypes
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import corpora
import numpy as np
from benchmarks.common import stream
from pages import ROOT, table, write_between_if

import onlinecls

from . import seconds

LEARNERS = {  # name, classes: function of restated.c
    ("Perceptron", 2): "perceptron", ("PassiveAggressiveClassifier", 2): "pa1", ("AROWClassifier", 2): "arow",
    ("AROWClassifier", 20): "arow_classes",
}  # fmt: skip
LENGTHS, N_ROWS, N_PASSES = (10, 20, 75), 5_000, 3
# (valgrind takes what ctypes calls for a part of libffi.)
LOOPS = {"product": "csr_matvec", "check": "check_rows", "library": "learn_vector|learn_classes", "C": "libffi"}
FLAGS = ["-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-fPIC", "-shared"]  # as setup.py's


class Rows(ctypes.Structure):
    _fields_ = [("n", ctypes.c_int64), *((name, ctypes.c_void_p) for name in ("indptr", "indices", "data", "labels"))]


class Params(ctypes.Structure):
    _fields_ = [(name, ctypes.c_double) for name in ("bias", "C", "r", "variance", "floor", "limit", "tiny")]


class Pair:
    """A learner and its restatement, which both begin where the first 16 rows, which determine the units, have left them."""

    def __init__(self, name, n_classes, X, y, library):
        self.X, self.y = X, y
        self.W = np.ones((X.shape[1], n_classes) if n_classes > 2 else X.shape[1], X.dtype)
        self.learner = getattr(onlinecls, name)().partial_fit(X[:16], y[:16], classes=range(n_classes))
        state = self.learner._state
        self.theirs = state.values, state.counts, state.counters
        self.ours = values, *_ = [array.copy() for array in self.theirs]
        self.start = [array.copy() for array in self.theirs]
        constant = values[len(values) // (X.shape[1] + 1) * X.shape[1] :]
        self.arrays = constant, X.indptr.astype(np.int64), X.indices, X.data, y.astype(np.int32)
        rows = Rows(X.shape[0], *(array.ctypes.data for array in self.arrays[1:]))
        params = Params(*(getattr(state.params, field) for field, _ in Params._fields_))
        addresses = [array.ctypes.data_as(ctypes.c_void_p) for array in (values, constant, *self.ours[1:])]
        self.arguments = ctypes.byref(rows), *addresses, ctypes.byref(params)
        self.restated = ctypes.CDLL(library)[LEARNERS[name, n_classes]]

    def begin(self):
        for arrays in (self.theirs, self.ours):
            for array, start in zip(arrays, self.start, strict=True):
                array[:] = start

    def multiply(self):
        self.X @ self.W

    def learn(self):
        self.learner.partial_fit(self.X, self.y)

    def learn_in_c(self):
        self.restated(*self.arguments)

    def compare(self):
        if not all(map(np.array_equal, self.ours, self.theirs)):
            sys.exit(f"{type(self.learner).__name__} and restated.c have learnt different models")


def passes(name, n_classes, nnz, library):
    """Run the passes to be counted, over the same rows, in a separate process."""
    X, y = stream(N_ROWS, nnz, n_features=2**16, n_classes=n_classes)
    pair = Pair(name, n_classes, X, y, library)
    for _ in range(N_PASSES):
        pair.multiply()
        pair.learn()
        pair.learn_in_c()
    pair.compare()


def timed(library, rounds=15):
    """Measure passes over real texts, in turns: medians of the ratios to the product."""
    news = ("20news-train", "20news-test")
    streams = {
        "reviews cut into pieces of 10 words": (2, *corpora.short_texts(150_000, words=10)),
        "sentences": (2, *(part[:150_000] for part in corpora.sentences())),
        "newsgroup posts cut into pieces of 22 words": (20, *corpora.short_texts(20_000, sources=news)),
    }
    rows = []
    for title, (n_classes, X, y) in streams.items():
        y = np.unique(y, return_inverse=True)[1]
        for name, n in LEARNERS:
            if n != n_classes:
                continue
            pair = Pair(name, n, X, y, library)
            runs, times = (pair.multiply, pair.learn, pair.learn_in_c), []
            for _ in range(rounds + 1):
                pair.begin()
                times.append([1e9 * seconds(run) / X.nnz for run in runs])
                pair.compare()
            times = np.array(times[1:])
            library_ratio, c_ratio = np.median(times[:, 1:] / times[:, :1], axis=0)
            numbers = f"{np.median(times[:, 1]):.1f}", f"{library_ratio:.2f}", f"{c_ratio:.2f}"
            rows.append((f"`{name}`, {title}", f"{X.nnz / len(y):.0f}", *numbers))
    return table(("times the product", "nnz a row", "ns a nnz", "library", "its loop in C"), rows)


def counted(name, n_classes, nnz, folder):
    """Count the instructions per row of each kind of LOOPS."""
    out = Path(folder, f"{name}-{n_classes}-{nnz}")
    count = [sys.executable, "-m", "studies.instructions", "--count", name, str(n_classes), str(nnz), f"{folder}/restated.so"]
    subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", *count], check=True, capture_output=True)
    annotate = ["callgrind_annotate", "--threshold=100", "--auto=no", out]
    told = subprocess.run(annotate, check=True, capture_output=True, text=True).stdout
    found = {kind: re.findall(rf"^\s*([\d,]+) .*(?:{loops})", told, re.MULTILINE) for kind, loops in LOOPS.items()}
    return {kind: sum(int(n.replace(",", "")) for n in each) / (N_PASSES * N_ROWS) for kind, each in found.items()}


def row(title, numbers):
    slope = (numbers[-1] - numbers[0]) / (LENGTHS[-1] - LENGTHS[0])
    return title, *(f"{number:.0f}" for number in numbers), f"{numbers[0] - slope * LENGTHS[0]:.0f} + {slope:.1f} each"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="put the tables into docs/speed.md")
    parser.add_argument("--count", nargs=4, metavar=("NAME", "CLASSES", "NNZ", "LIBRARY"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.count:
        return passes(args.count[0], int(args.count[1]), int(args.count[2]), args.count[3])
    if not shutil.which("valgrind"):
        sys.exit("valgrind is not installed")
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        source = [f"-I{ROOT}/src/onlinecls", f"{ROOT}/benchmarks/studies/restated.c"]
        subprocess.run(["gcc", *FLAGS, *source, "-o", f"{folder}/restated.so"], check=True)
        times = timed(f"{folder}/restated.so")
        runs = {learner: [pool.submit(counted, *learner, nnz, folder) for nnz in LENGTHS] for learner in LEARNERS}
        found = {learner: [run.result() for run in each] for learner, each in runs.items()}
    rows = [row(title, [each[kind] for each in found["Perceptron", 2]])
            for kind, title in (("product", "scipy `X @ w`"), ("check", "check of the rows"))]
    for (name, n_classes), each in found.items():
        several = f", {n_classes} classes" * (n_classes > 2)
        if several:
            rows.append(row(f"scipy `X @ W`, {n_classes} columns", [one["product"] for one in each]))
        rows.append(row(f"`{name}`{several}", [one["library"] for one in each]))
        rows.append(row("the same in C", [one["C"] for one in each]))
    head = "instructions a row", *(f"{nnz} nnz" for nnz in LENGTHS), "fitted"
    write_between_if(args.write, "speed.md", "instructions", table(head, rows))
    write_between_if(args.write, "speed.md", "restated", times)


if __name__ == "__main__":
    main()
