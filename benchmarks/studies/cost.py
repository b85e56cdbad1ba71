"""Time per row by non-zeros, columns, classes and length of the stream, with fitted slopes.

    PYTHONPATH=benchmarks python -m studies.cost [--write] [--repeats N]

Each point is a pass of `partial_fit` over made-up rows of words (benchmarks/common.py) by a model that has had a few of them, on
one thread; the points of all curves take turns, so that a slow moment of the machine hits all alike, and the least of the repeats
counts. Against non-zeros and classes a straight line is fitted, a row's own cost and that of each; against columns and length,
where nothing should grow, the power of the best fitting law: 0 is no growth, 1 as many times more time.

--write puts the table into docs/speed.md.
"""

import time

import numpy as np
from benchmarks.common import ALGORITHMS, make_estimator, stream
from pages import options, table, write_between_if

from . import seconds

NNZ = 400_000  # of a pass
AXES = {  # title -> points, what a point makes of the usual row of 20 words in 2^20 columns, what is fitted
    "non-zeros a row": ([5, 10, 20, 50, 100, 200, 500], lambda n: {"nnz": n}, "line"),
    "columns": ([2**bits for bits in range(10, 23, 2)], lambda n: {"n_features": n}, "power"),
    "classes": ([3, 5, 10, 20, 50, 100], lambda n: {"n_classes": n, "n_features": 2**16}, "line"),
    "rows": ([1000, 3000, 10_000, 30_000, 100_000, 300_000], lambda n: {"n_rows": n}, "power"),
}


def curves(axis):
    """Return {name of a curve: algorithm and parameters}."""
    if axis == "classes":
        return {f"AROW, {scheme}": ("arow", {"multi_class": scheme}) for scheme in ("crammer_singer", "ovr")}
    return {ALGORITHMS[name].title: (name, {}) for name in ("perceptron", "pa1", "arow")}


def seconds_a_row(algorithm, params, nnz=20, n_rows=None, **made):
    n_rows = n_rows or max(NNZ // nnz, 1000)
    X, y = stream(n_rows + 100, nnz, **made)
    model = make_estimator(algorithm, **params).partial_fit(X[:100], y[:100], classes=np.unique(y))
    model._state.values += 0  # (its pages are brought in: else a short stream in many columns would pay for them)
    X, y = X[100:], y[100:]
    return seconds(lambda: model.partial_fit(X, y), time.perf_counter) / n_rows


def measure(repeats):
    """Measure {axis: {curve: least nanoseconds per row at each point}}."""
    found = {axis: {curve: np.full(len(points), np.inf) for curve in curves(axis)} for axis, (points, _, _) in AXES.items()}
    for _ in range(repeats):
        for axis, (points, made, _) in AXES.items():
            for i, point in enumerate(points):
                for curve, (algorithm, params) in curves(axis).items():
                    spent = 1e9 * seconds_a_row(algorithm, params, **made(point))
                    found[axis][curve][i] = min(found[axis][curve][i], spent)
                if axis == "rows":
                    stream.cache_clear()  # (long streams are not kept)
    return found


def fitted(axis, times):
    """Fit one curve by relative errors and return (the law in words, its times)."""
    points = np.array(AXES[axis][0], float)
    if AXES[axis][2] == "power":
        slope, level = np.polyfit(np.log(points), np.log(times), 1)
        return f"power {slope:.2f}", np.exp(level) * points**slope
    slope, start = np.polyfit(points, times, 1, w=1 / times)
    return f"{start:.0f} ns + {slope:.1f} ns each", start + slope * points


def rows(found):
    for axis, drawn in found.items():
        first, last = AXES[axis][0][0], AXES[axis][0][-1]
        for curve, times in drawn.items():
            yield axis, curve, f"{times[0]:,.0f} ({first:,})", f"{times[-1]:,.0f} ({last:,})", fitted(axis, times)[0]


def main():
    args = options(__doc__, repeats=10)
    found = measure(args.repeats)
    head = "against", "learner", "ns a row, from", "to", "fitted"
    write_between_if(args.write, "speed.md", "cost", table(head, rows(found), left=2))


if __name__ == "__main__":
    main()
