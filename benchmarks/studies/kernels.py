"""Kernel learners on real rows: mistakes in one pass, support vectors and time, with and without a budget.

    PYTHONPATH=benchmarks python -m studies.kernels [--write] [--rows 5000] [--budgets 100 500]

--write puts the table into docs/kernels.md. The rows are the digits of ../shared/data/mnist.npz, even against odd, in file order,
scaled to [0, 1]; the time is this thread's own, of one BLAS thread, once, learning alone.
"""

import sys

from corpora import available, data_dir, digits
from pages import options, shown, table, write_between_if

from onlinecls import AROWClassifier, KernelOnlineClassifier

from . import seconds

GAMMA = 0.02


def row(name, learner, X, y):
    took = seconds(lambda: learner.partial_fit(X, y, classes=[0, 1]))
    held, dropped = (f"{getattr(learner, key, 0):,}" for key in ("n_support_", "n_dropped_"))
    return name, f"{100 * learner.n_mistakes_ / learner.t_:.2f}", held, dropped, f"{1e6 * took / len(y):.0f}"


def rows(n_rows, budgets):
    X, y = digits()
    X, y = X[:n_rows] / 255.0, y[:n_rows] % 2
    yield row("`AROWClassifier()`, linear", AROWClassifier(), X, y)
    for algorithm in ("perceptron", "pa", "sop", "arow"):
        for budget in (None, *budgets):
            learner = KernelOnlineClassifier(algorithm, kernel="rbf", gamma=GAMMA, budget=budget)
            yield row(f"`{algorithm}`" + (f", budget {budget}" if budget else ""), learner, X, y)


def main():
    args = options(__doc__, rows=5000, budgets=[100, 500])
    if not available("mnist"):
        return print(f"skipped, no {data_dir() / 'mnist.npz'}: there are no digits to learn", file=sys.stderr)
    head = "learner", "error, %", "support vectors", "dropped", "µs a row"
    write_between_if(args.write, "kernels.md", "budgets", table(head, shown(rows(args.rows, args.budgets))))


if __name__ == "__main__":
    main()
