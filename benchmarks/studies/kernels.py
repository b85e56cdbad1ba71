"""Kernel learners on real rows: mistakes in one pass, support vectors and time, with and without a budget.

    PYTHONPATH=benchmarks python -m studies.kernels [--write] [--rows 5000] [--budgets 100 500]

--write puts the table into docs/kernels.md. The rows are the digits of ../shared/data/mnist.npz, even against odd, in file order,
scaled to [0, 1]; the time is this thread's own, of one BLAS thread, once, learning alone.
"""

import os

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"  # before NumPy is imported

import argparse
import sys
import time

import numpy as np
from corpora import data_dir
from pages import ROOT, write_between

from onlinecls import AROWClassifier, KernelOnlineClassifier

PAGE = ROOT / "docs" / "kernels.md"
GAMMA = 0.02


def digits(n_rows):
    with np.load(data_dir() / "mnist.npz") as file:
        return file["X_train"][:n_rows].reshape(n_rows, -1) / 255.0, file["y_train"][:n_rows] % 2


def row(name, learner, X, y):
    start = time.thread_time()
    learner.partial_fit(X, y, classes=[0, 1])
    took = time.thread_time() - start
    held, dropped = (f"{getattr(learner, key, 0):,}" for key in ("n_support_", "n_dropped_"))
    return f"| {name} | {100 * learner.n_mistakes_ / learner.t_:.2f} | {held} | {dropped} | {1e6 * took / len(y):.0f} |"


def table(n_rows, budgets):
    X, y = digits(n_rows)
    yield from ("| learner | error, % | support vectors | dropped | µs a row |", "|---|---|---|---|---|")
    yield row("`AROWClassifier()`, linear", AROWClassifier(), X, y)
    for algorithm in ("perceptron", "pa", "sop", "arow"):
        for budget in (None, *budgets):
            learner = KernelOnlineClassifier(algorithm, kernel="rbf", gamma=GAMMA, budget=budget)
            yield row(f"`{algorithm}`" + (f", budget {budget}" if budget else ""), learner, X, y)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="put the table into docs/kernels.md")
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--budgets", type=int, nargs="*", default=[100, 500])
    arguments = parser.parse_args()
    if not (data_dir() / "mnist.npz").exists():
        print(f"skipped, no {data_dir() / 'mnist.npz'}: there are no digits to learn", file=sys.stderr)
        return
    lines = []
    for line in table(arguments.rows, arguments.budgets):
        print(line, flush=True)
        lines.append(line)
    if arguments.write:
        write_between(PAGE, "budgets", "\n".join(lines))


if __name__ == "__main__":
    main()
