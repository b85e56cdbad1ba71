"""Processor time of a row that is learnt from C, beside calls with that row, and one call with all rows.

    PYTHONPATH=benchmarks python -m studies.from_c [--rows 4000] [--rounds 7] [--write]

Made-up words in 2^16 columns, float32, rows of two lengths. The loops of examples/c/rows.c are compiled first. --write puts the
table into docs/c.md.
"""

import copy
import os
import shlex
import subprocess
import tempfile
import time
from ctypes import CDLL, c_double, c_ssize_t, c_void_p
from pathlib import Path

import numpy as np
from benchmarks.common import stream
from pages import options, table, write_between_if

import onlinecls
from onlinecls import api

from . import seconds

SOURCE = Path(__file__).resolve().parents[2] / "examples" / "c" / "rows.c"
LENGTHS = (10, 75)
LEARNERS = {"PA": ("PassiveAggressiveClassifier", 2), "AROW": ("AROWClassifier", 2), "AROW, 4 classes": ("AROWClassifier", 4)}
HEAD = ("", "non-zeros", "one call for all rows", "from C", "from C, unchecked", "a call for each row",
        "times C's, and unchecked")


def loops():
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder, "rows.so")
        compiler = shlex.split(os.environ.get("CC") or "cc")
        subprocess.run([*compiler, "-O2", "-shared", "-fPIC", SOURCE, "-o", library], check=True)
        found = CDLL(library)
    for loop in (found.learn_rows, found.score_rows):
        loop.argtypes, loop.restype = [*[c_void_p] * 6, c_ssize_t], c_ssize_t
    return found


def ways(library, learner, X, y):
    """Return {way: function that learns all rows that way with a copy of the learner}."""
    functions, labels = api.ctypes_functions(), y.astype(c_double)
    rows = [(X[i], y[i : i + 1]) for i in range(len(y))]

    def from_c(function):
        handle = api.open(copy.deepcopy(learner))
        where = [array.ctypes.data for array in (X.data, X.indices, X.indptr, labels)]

        def run():
            assert library.learn_rows(function, handle.address, *where, len(y)) == len(y)
            return handle.learner

        return run

    def together():
        model = copy.deepcopy(learner)
        return lambda: model.partial_fit(X, y)

    def one_by_one():
        model = copy.deepcopy(learner)
        call = model.partial_fit
        return lambda: [call(*row) for row in rows] and model

    return {
        "together": together, "c": lambda: from_c(functions.learn_float),
        "unchecked": lambda: from_c(functions.learn_float_unchecked), "one by one": one_by_one,
    }


def measure(library, name, n_classes, nnz, n_rows, n_rounds):
    """Return the least time of a row of each way in nanoseconds; all give the same model."""
    X, y = stream(n_rows, nnz, n_classes=n_classes, n_features=2**16)
    learner = getattr(onlinecls, name)().partial_fit(X, y, classes=np.arange(n_classes))
    least, models = {}, {}
    for _ in range(n_rounds):
        for way, prepare in ways(library, learner, X, y).items():
            run = prepare()
            took = seconds(lambda way=way, run=run: models.__setitem__(way, run()), time.process_time)
            least[way] = min(least.get(way, np.inf), 1e9 * took / n_rows)
    assert len({(model.coef_.tobytes(), model.n_mistakes_, model.t_) for model in models.values()}) == 1
    return least


def main():
    args, library, rows = options(__doc__, rows=4000, rounds=7), loops(), []
    for title, (name, n_classes) in LEARNERS.items():
        for nnz in LENGTHS:
            found = measure(library, name, n_classes, nnz, args.rows, args.rounds)
            times = (f"{found['one by one'] / found[way]:.1f}" for way in ("c", "unchecked"))
            cells = (f"{found[way]:,.0f} ns" for way in ("together", "c", "unchecked", "one by one"))
            rows.append((title, str(nnz), *cells, ", ".join(times)))
    write_between_if(args.write, "c.md", "rows", table(HEAD, rows))


if __name__ == "__main__":
    main()
