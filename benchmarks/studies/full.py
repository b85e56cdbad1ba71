"""Time of a full covariance: one interleaved run on one BLAS thread, against the machine's own matrix products.

    PYTHONPATH=benchmarks python -m studies.full [--write] [--rounds 5] [--only speed memory drift]

--write puts the tables into docs/full_covariance.md. drift, a million float32 rows,
takes some minutes and is made only where asked for.
The update rates are those of the digits in ../shared/data/mnist.npz; without that file they are left out.
"""

import subprocess
import sys

import numpy as np
from pages import options, shown, table, write_between_if
from scipy.linalg import blas

import onlinecls

from . import seconds

SIZES = {256: 2000, 784: 800, 2000: 400}  # features: rows of a pass
PAIR_ROWS = 100
DTYPES = (np.float64, np.float32)


def interleaved(runs, rounds):
    """Return the shortest time of each run; they take turns, so that a disturbance affects all."""
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(rounds):
        for name, run in runs.items():
            best[name] = min(best[name], seconds(run))
    return best


def one_pass(X, y):
    """Make a pass of AROW on random labels, so that all but a few rows update."""

    def run():
        learner = onlinecls.AROWClassifier(r=1.0, covariance="full", fit_intercept=False).partial_fit(X, y, classes=[0, 1])
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
    for d, n in SIZES.items():
        rng = np.random.default_rng(0)
        X = rng.standard_normal((n, d))
        X, y = X / np.linalg.norm(X, axis=1, keepdims=True), rng.integers(0, 2, n)
        runs = {}
        for dtype in DTYPES:
            Z = X.astype(dtype)
            runs |= {
                (dtype, "many"): one_pass(Z, y), (dtype, "pair"): pair_of(Z),
                (dtype, "gemm"): product_of(d, 64, dtype), (dtype, "square"): product_of(d, d, dtype),
            }
        best = interleaved(runs, rounds)
        for dtype in DTYPES:
            many = best[dtype, "many"] / n
            pair, needed = best[dtype, "pair"] / PAIR_ROWS, 3 * d * d
            gemm, square = 2 * d * d * 64 / best[dtype, "gemm"], 2 * d**3 / best[dtype, "square"]
            yield (str(d), str(np.dtype(dtype)), f"{1e6 * many:.1f}", f"{needed / many / gemm:.0%} of {gemm / 1e9:.0f} GFlop/s",
                   f"{needed / many / square:.0%} of {square / 1e9:.0f}", f"{1e6 * pair:.1f}", f"{pair / many:.2f}")
        print(f"float32 against float64 at {d}: {best[np.float64, 'many'] / best[np.float32, 'many']:.2f}x", flush=True)


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


def memory(rounds):
    """Measure the peak memory that a pass adds, in a separate process."""
    for d in (784, 2000, 4000):
        peak = int(subprocess.run([sys.executable, "-c", MEMORY.format(d=d)], check=True, capture_output=True, text=True).stdout)
        size, block = 8 * (d + 1) ** 2, 8 * 64 * (d + 1)
        yield str(d), f"{size / 1e6:.1f}", f"{peak / 1e6:.1f}", f"{(peak - size) / block:.1f}"


def drift(rounds, n_chunks=100, chunk=10_000, d=100):
    """Compare float32 with float64 after a million rows of low rank and a thousandth of noise."""
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
        learners = {dtype: cls(covariance="full", dtype=dtype, **params) for dtype in ("float32", "float64")}
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
        yield (f"`{name}`", f"{learner.t_:,}", f"{learner.n_updates_:,}", f"{np.abs(S).max():.2g}", f"{np.diagonal(S).min():.2g}",
               f"{np.abs(learner.coef_).max():.2g}", f"{off:.1%}" if off < 10 else "both are 0 but for rounding")


TABLES = {  # name: (rows, titles)
    "speed": (passes, ("features", "dtype", "µs a row", "share of d x d by d x 64 products", "of square products",
                       "symv + syr, µs", "ratio")),
    "memory": (memory, ("features", "Σ, MB", "peak, MB", "beyond Σ, in blocks of 64 rows")),
    "drift": (drift, ("learner", "rows", "updates", "largest number of Σ", "least variance", "largest weight",
                      "float32's scores off by")),
}


def main():
    args = options(__doc__, rounds=5, only=["speed", "memory"])
    for name in args.only:
        measure, head = TABLES[name]
        write_between_if(args.write, "full_covariance.md", name, table(head, shown(measure(args.rounds))))


if __name__ == "__main__":
    main()
