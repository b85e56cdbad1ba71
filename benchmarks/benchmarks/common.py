"""The algorithms that are measured, as the package's registry lists them, and the synthetic streams they are measured on."""

import functools
import os
import time

import numpy as np
import scipy.sparse as sp

import onlinecls
from onlinecls import _registry
from onlinecls._registry import ALGORITHMS

OTHERS = getattr(_registry, "OTHERS", {})  # (commits that are measured beside this one may not have it)

BINARY = [name for name, algorithm in ALGORITHMS.items() if "binary" in algorithm.tasks]
REGRESSION = [name for name, algorithm in ALGORITHMS.items() if "regression" in algorithm.tasks]
ONE_CLASS = [name for name, algorithm in ALGORITHMS.items() if "one_class" in algorithm.tasks]
EXPERTS = [name for name, algorithm in ALGORITHMS.items() if "experts" in algorithm.tasks]
MULTICLASS = [name for name, algorithm in ALGORITHMS.items() if "multiclass" in algorithm.tasks]

# Non-zeros of a timed stream: enough to bury the making of a model of 2^20 features. A smoke run sets a small number.
STREAM_NNZ = int(os.environ.get("ONLINECLS_BENCH_NNZ", 2_000_000))
N_WORDS = 200_000  # distinct columns of a stream at most: hashed text leaves most columns empty


def make_estimator(name, **params):
    """Make an estimator of the algorithm ``name`` of the registry."""
    algorithm = ALGORITHMS.get(name) or OTHERS[name]
    return getattr(onlinecls, algorithm.estimator)(**algorithm.selects, **params)


def one_pass(name, **params):
    """Make an estimator whose ``fit`` starts from zero and reads the rows once, in order."""
    return make_estimator(name, max_iter=1, shuffle=False, tol=None, **params)


@functools.cache
def stream(n_rows, nnz, n_features=2**20, dtype="float32", n_classes=2, seed=0, spread=0.0, n_words=N_WORDS):
    """Make unit-length CSR rows of about ``nnz`` columns, with Zipf's frequencies as of words, and their labels.

    A quarter of the tokens tell the class of their row and a tenth of the labels is wrong, so that learners go on making updates.
    The lengths of rows vary by a log-normal law, the standard deviation of whose logarithm is ``spread``.
    """
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n_rows)
    # A few tokens repeat within a row.
    tokens = np.maximum(np.rint(1.05 * nnz * np.exp(spread * rng.standard_normal(n_rows) - spread**2 / 2)), 1).astype(np.int32)
    row_of = np.repeat(np.arange(n_rows), tokens)
    n_words = min(n_features, n_words)
    # Log-uniform ranks have frequencies proportional to 1 / rank; the first few ranks are no word's.
    ranks = np.exp(np.log(20) + rng.random(len(row_of)) * np.log(n_words / 20)).astype(np.int64)
    telling = rng.random(ranks.shape) < 0.25
    ranks[telling] += (y[row_of] - ranks % n_classes)[telling]
    columns = rng.permutation(n_features)[ranks % n_words].astype(np.int32)
    indptr = np.concatenate([[0], np.cumsum(tokens)]).astype(np.int32)
    X = sp.csr_matrix((np.ones(columns.size), columns, indptr), shape=(n_rows, n_features))
    X.sum_duplicates()
    norms = np.sqrt(np.add.reduceat(X.data**2, X.indptr[:-1]))
    X.data = (X.data / np.repeat(norms, np.diff(X.indptr))).astype(dtype)
    wrong = rng.random(n_rows) < 0.1
    y[wrong] = rng.integers(n_classes, size=wrong.sum())
    return X, y


def timed_stream(nnz, **params):
    """Make a stream of ``STREAM_NNZ`` non-zeros in rows of about ``nnz``."""
    return stream(max(STREAM_NNZ // nnz, 20), nnz, **params)


def best_seconds(run, repeats=5):
    """Return the shortest of several times: the others were disturbed."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def skip_without(name):
    """Skip, in ``setup``, a row of the registry that an older version does not have: asv takes the parameters from the newest."""
    if name not in ALGORITHMS:
        raise NotImplementedError(f"this version has no {name}")
