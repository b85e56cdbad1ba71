"""Time of a full covariance: one interleaved run on one BLAS thread, against the machine's own matrix products.

    PYTHONPATH=benchmarks python -m studies.full [--write] [--rounds 5] [--only speed paths memory drift]

--write puts the tables into docs/full_covariance.md. drift, a million float32 rows,
takes some minutes and is made only where asked for.
The update rates are those of the digits in ../shared/data/mnist.npz; without that file they are left out.
"""

import os

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"  # before NumPy is imported

import argparse
import subprocess
import sys
import time

import numpy as np
from corpora import data_dir
from pages import ROOT, write_between
from scipy.linalg import blas

import onlinecls

PAGE = ROOT / "docs" / "full_covariance.md"
SIZES = {256: 2000, 784: 800, 2000: 400}  # features: rows of a pass
PAIR_ROWS = 100
DTYPES = (np.float64, np.float32)


def seconds(run):
    """Measure this thread's CPU time: the machine may have other things to do."""
    start = time.thread_time()
    run()
    return time.thread_time() - start


def interleaved(runs, rounds):
    """Return the shortest time of each run; they take turns, so that a disturbance affects all."""
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(rounds):
        for name, run in runs.items():
            best[name] = min(best[name], seconds(run))
    return best


def learner_of(cls, foresight="likely", depth=None, **params):
    learner = cls(covariance="full", **params)
    learner._foresight = foresight
    if depth:
        learner._depth = depth
    return learner


def one_pass(X, y, **how):
    """Make a pass of AROW on random labels, so that all but a few rows update."""

    def run():
        learner = learner_of(onlinecls.AROWClassifier, r=1.0, fit_intercept=False, **how).partial_fit(X, y, classes=[0, 1])
        assert learner.n_updates_ > 0.95 * len(y)

    return run


def pair_of(X):
    """Run the same updates by BLAS's routines, row by row: u = Σx and Σ -= k u u'."""
    letter = "d" if X.dtype == np.float64 else "s"
    symv, syr = getattr(blas, letter + "symv"), getattr(blas, letter + "syr")

    def run():
        S = np.asfortranarray(np.eye(X.shape[1], dtype=X.dtype))
        for x in X[:PAIR_ROWS]:
            u = symv(1.0, S, x)
            syr(-1.0 / (1.0 + x @ u), u, a=S, overwrite_a=1)

    return run


def product_of(d, n, dtype):
    gemm = blas.dgemm if dtype == np.float64 else blas.sgemm
    rng = np.random.default_rng(0)
    A, B = (np.asfortranarray(rng.standard_normal((d, m)).astype(dtype)) for m in (d, n))
    return lambda: gemm(1.0, A, B)


def passes(rounds):
    """Measure the time of an updating row at every size and dtype."""
    lines = [
        "| features | dtype | µs a row | share of d x d by d x 64 products | of square products | symv + syr, µs | ratio "
        "| Σ written every 64 steps | after each |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for d, n in SIZES.items():
        rng = np.random.default_rng(0)
        X = rng.standard_normal((n, d))
        X, y = X / np.linalg.norm(X, axis=1, keepdims=True), rng.integers(0, 2, n)
        runs = {}
        for dtype in DTYPES:
            Z = X.astype(dtype)
            runs |= {
                (dtype, "many"): one_pass(Z, y), (dtype, "never"): one_pass(Z, y, foresight="never"),
                (dtype, "row"): one_pass(Z, y, depth=1), (dtype, "pair"): pair_of(Z),
                (dtype, "gemm"): product_of(d, 64, dtype), (dtype, "square"): product_of(d, d, dtype),
            }
        best = interleaved(runs, rounds)
        for dtype in DTYPES:
            many, never, row = (best[dtype, how] / n for how in ("many", "never", "row"))
            pair, needed = best[dtype, "pair"] / PAIR_ROWS, 3 * d * d
            gemm, square = 2 * d * d * 64 / best[dtype, "gemm"], 2 * d**3 / best[dtype, "square"]
            lines.append(
                f"| {d} | {np.dtype(dtype)} | {1e6 * many:.1f} | {needed / many / gemm:.0%} of {gemm / 1e9:.0f} GFlop/s "
                f"| {needed / many / square:.0%} of {square / 1e9:.0f} | {1e6 * pair:.1f} | {pair / many:.2f} "
                f"| {1e6 * never:.1f} ({never / pair:.2f}) | {1e6 * row:.1f} ({row / pair:.2f}) |"
            )
            print(lines[-1], flush=True)
        print(f"float32 against float64 at {d}: {best[np.float64, 'many'] / best[np.float32, 'many']:.2f}x", flush=True)
    return lines


def digits(n_rows, noise, pair=(3, 5)):
    with np.load(data_dir() / "mnist.npz") as file:
        X, y = file["X_train"], file["y_train"]
    chosen = np.flatnonzero(np.isin(y, pair))[:n_rows]
    y = (y[chosen] == pair[1]).astype(int)
    wrong = np.random.default_rng(0).random(n_rows) < noise
    return X[chosen] / 255.0, np.where(wrong, 1 - y, y)


SETTINGS = [
    ("SOP, digits 0 and 1", onlinecls.SecondOrderPerceptron, {"r": 100.0}, 0.0),
    ("SOP", onlinecls.SecondOrderPerceptron, {"r": 1.0}, 0.0),
    ("SOP, 10 % noise", onlinecls.SecondOrderPerceptron, {"r": 1.0}, 0.1),
    ("CW, eta=0.6", onlinecls.ConfidenceWeightedClassifier, {"eta": 0.6}, 0.0),
    ("AROW, r=1", onlinecls.AROWClassifier, {"r": 1.0}, 0.0),
    ("AROW, r=100", onlinecls.AROWClassifier, {"r": 100.0}, 0.0),
    ("AROW, r=100, 10 % noise", onlinecls.AROWClassifier, {"r": 100.0}, 0.1),
    ("AROW, r=1000, 30 % noise", onlinecls.AROWClassifier, {"r": 1000.0}, 0.3),
    ("AROWRegressor", onlinecls.AROWRegressor, {"r": 1.0}, 0.0),
]


def paths(rounds):
    """Compare the chosen path with both paths, at the update rates of real digits."""
    lines = ["| digits 3 and 5, 4,000 rows | rows that update | chosen, µs a row | none ahead | all ahead | chosen / better |",
             "|---|---|---|---|---|---|"]
    for name, cls, params, noise in SETTINGS:
        X, y = digits(4000, noise, (0, 1) if "0 and 1" in name else (3, 5))
        updates = {}

        def run(foresight, cls=cls, params=params, X=X, y=y, updates=updates):
            updates[foresight] = learner_of(cls, foresight, **params).partial_fit(X, y).n_updates_

        best = interleaved({how: lambda how=how, run=run: run(how) for how in ("likely", "never", "always")}, rounds)
        assert len(set(updates.values())) == 1
        chosen, never, always = (1e6 * best[how] / 4000 for how in ("likely", "never", "always"))
        lines.append(
            f"| {name} | {updates['likely'] / 4000:.0%} | {chosen:.1f} | {never:.1f} | {always:.1f} "
            f"| {chosen / min(never, always):.2f} |"
        )
        print(lines[-1], flush=True)
    return lines


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


def memory():
    """Measure the peak memory that a pass adds, in a separate process."""
    lines = ["| features | Σ, MB | peak, MB | beyond Σ, in blocks of 64 rows |", "|---|---|---|---|"]
    for d in (784, 2000, 4000):
        peak = int(subprocess.run([sys.executable, "-c", MEMORY.format(d=d)], check=True, capture_output=True, text=True).stdout)
        size, block = 8 * (d + 1) ** 2, 8 * 64 * (d + 1)
        lines.append(f"| {d} | {size / 1e6:.1f} | {peak / 1e6:.1f} | {(peak - size) / block:.1f} |")
        print(lines[-1], flush=True)
    return lines


def drift(n_chunks=100, chunk=10_000, d=100):
    """Compare float32 with float64 after a million rows of low rank and a thousandth of noise."""
    lines = ["| learner | rows | updates | largest number of Σ | least variance | largest weight | float32's scores off by |",
             "|---|---|---|---|---|---|---|"]
    for name, cls, params in [
        ("AROWRegressor(r=0.001)", onlinecls.AROWRegressor, {"r": 1e-3}),
        ("AROWRegressor(r=0.1)", onlinecls.AROWRegressor, {"r": 0.1}),
        ("AROWRegressor(r=10)", onlinecls.AROWRegressor, {"r": 10.0}),
        ("AROWClassifier(r=0.1)", onlinecls.AROWClassifier, {"r": 0.1}),
        ("NAROWClassifier(b=5)", onlinecls.NAROWClassifier, {"b": 5.0}),
        ("ConfidenceWeightedClassifier(eta=0.95)", onlinecls.ConfidenceWeightedClassifier, {"eta": 0.95}),
        ("SCWClassifier()", onlinecls.SCWClassifier, {}),
    ]:
        rng = np.random.default_rng(0)
        mix, rule = rng.standard_normal((5, d)) / 10, rng.standard_normal(d)
        learners = {dtype: learner_of(cls, dtype=dtype, **params) for dtype in ("float32", "float64")}
        for _ in range(n_chunks):
            X = (rng.standard_normal((chunk, 5)) @ mix + 1e-3 * rng.standard_normal((chunk, d))).astype(np.float32)
            y = np.where(X @ rule + 0.3 * rng.standard_normal(chunk) > 0, 1, -1)
            for learner in learners.values():
                learner.partial_fit(X, y)
        scores = {
            dtype: (getattr(learner, "decision_function", None) or learner.predict)(X) for dtype, learner in learners.items()
        }
        learner = learners["float32"]
        off = np.sqrt(np.mean((scores["float32"] - scores["float64"]) ** 2) / np.mean(scores["float64"] ** 2))
        S = learner.covariance_
        assert np.isfinite(S).all() and np.isfinite(learner.coef_).all()
        lines.append(
            f"| `{name}` | {learner.t_:,} | {learner.n_updates_:,} | {np.abs(S).max():.2g} | {np.diagonal(S).min():.2g} "
            f"| {np.abs(learner.coef_).max():.2g} | {f'{off:.1%}' if off < 10 else 'both are 0 but for rounding'} |"
        )
        print(lines[-1], flush=True)
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="put the tables into docs/full_covariance.md")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", choices=["speed", "paths", "memory", "drift"], nargs="*", default=["speed", "paths", "memory"])
    arguments = parser.parse_args()
    tables = {"speed": lambda: passes(arguments.rounds), "memory": memory, "drift": drift}
    if (data_dir() / "mnist.npz").exists():
        tables["paths"] = lambda: paths(arguments.rounds)
    for name in arguments.only:
        if name not in tables:
            print(f"no {data_dir() / 'mnist.npz'}: update rates of real digits are left out")
            continue
        lines = tables[name]()
        if arguments.write:
            write_between(PAGE, name, "\n".join(lines))


if __name__ == "__main__":
    main()
