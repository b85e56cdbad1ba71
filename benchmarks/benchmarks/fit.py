"""One pass of ``fit`` from zero: time per non-zero and error.

Repeated ``partial_fit`` on the same rows would flatter the passive learners, which are fast on what they know.
"""

import numpy as np
import scipy.sparse as sp

from .common import (
    BINARY,
    EXPERTS,
    ONE_CLASS,
    REGRESSION,
    STREAM_NNZ,
    best_seconds,
    one_pass,
    skip_without,
    timed_stream,
)

FEW = ["perceptron", "pa1", "arow"]
JOINT = [*FEW, "da3", "entropic_da3", "logistic"]  # of dual ascent, what has a search of its own for several classes


class _Throughput:
    """Subclasses set ``self.X``, ``self.y`` and ``self.model`` in ``setup``."""

    timeout = 300

    def setup(self, algorithm, *params):
        skip_without(algorithm)
        self.prepare(algorithm, *params)

    def fit(self):
        self.model.fit(self.X, self.y)

    def track_ns_per_example(self, *params):
        return 1e9 * best_seconds(self.fit) / self.X.shape[0]

    def track_ns_per_nnz(self, *params):
        nnz = self.X.nnz if sp.issparse(self.X) else self.X.size
        return 1e9 * best_seconds(self.fit) / nnz

    track_ns_per_example.unit = "ns"
    track_ns_per_nnz.unit = "ns"


class _Timed(_Throughput):
    def time_fit(self, *params):
        self.fit()


class _Progressive(_Throughput):
    def track_progressive_error(self, *params):
        self.fit()
        return 100 * self.model.n_mistakes_ / self.X.shape[0]

    track_progressive_error.unit = "%"


class Algorithm(_Timed, _Progressive):
    """Every algorithm on short and longer texts: speed, and the error beside it."""

    params = [BINARY, [20, 75]]
    param_names = ["algorithm", "nnz"]

    def prepare(self, algorithm, nnz):
        self.X, self.y = timed_stream(nnz)
        self.model = one_pass(algorithm)


class Regression(_Timed):
    """Every regressor, on the labels -1 and +1 as targets; its squared error beside its speed."""

    params = [REGRESSION, [20, 75]]
    param_names = ["algorithm", "nnz"]

    def prepare(self, algorithm, nnz):
        self.X, y = timed_stream(nnz)
        self.y = 2.0 * y - 1.0
        self.model = one_pass(algorithm)

    def track_progressive_mse(self, *params):
        self.fit()
        return self.model.progressive_mse_

    track_progressive_mse.unit = "squared units of y"


class OneClass(_Timed):
    """Every one-class learner: speed, and the share of rows predicted as outliers."""

    params = [ONE_CLASS, [20, 75]]
    param_names = ["algorithm", "nnz"]

    def prepare(self, algorithm, nnz):
        self.X, self.y = timed_stream(nnz)
        self.model = one_pass(algorithm)

    def track_outliers(self, *params):
        self.fit()
        return 100 * self.model.n_mistakes_ / self.X.shape[0]

    track_outliers.unit = "%"


class Experts(_Timed, _Progressive):
    """Every learner of experts' advice, with experts of different accuracy; a row costs O(experts)."""

    params = [EXPERTS, [10, 100, 1000]]
    param_names = ["algorithm", "n_experts"]

    def prepare(self, algorithm, n_experts):
        rng = np.random.default_rng(0)
        n_rows = max(STREAM_NNZ // (10 * n_experts), 20)
        self.y = rng.integers(0, 2, n_rows)
        wrong = rng.random((n_rows, n_experts)) < np.linspace(0.2, 0.6, n_experts)
        self.X = np.where(wrong, 1.0 - self.y[:, None], self.y[:, None])
        self.model = one_pass(algorithm)


class Features(_Throughput):
    params = [FEW, [2**10, 2**16, 2**20, 2**22]]
    param_names = ["algorithm", "n_features"]

    def prepare(self, algorithm, n_features):
        self.X, self.y = timed_stream(20, n_features=n_features)
        self.model = one_pass(algorithm)


class Storage(_Throughput):
    params = [FEW, ["float32", "float64"], ["csr int32", "csr int64", "dense"]]
    param_names = ["algorithm", "dtype", "storage"]

    def prepare(self, algorithm, dtype, storage):
        self.X, self.y = timed_stream(75, n_features=2**10 if storage == "dense" else 2**20, dtype=dtype)
        if storage == "dense":
            self.X, self.y = self.X[:2000].toarray(), self.y[:2000]
        elif storage == "csr int64":
            self.X = self.X.copy()  # the stream is kept for the next benchmark
            self.X.indices, self.X.indptr = self.X.indices.astype(np.int64), self.X.indptr.astype(np.int64)
        self.model = one_pass(algorithm)


class Multiclass(_Progressive):
    params = [JOINT, ["crammer_singer", "ovr"], [5, 20]]
    param_names = ["algorithm", "multi_class", "n_classes"]

    def prepare(self, algorithm, multi_class, n_classes):
        self.X, self.y = timed_stream(75, n_features=2**18, n_classes=n_classes)
        self.model = one_pass(algorithm, multi_class=multi_class)
