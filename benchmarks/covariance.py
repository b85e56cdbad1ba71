"""Full covariances and kernels: what a row costs with a matrix, and with support vectors. 1,000 rows: 1 ms is 1 us a row."""

import numpy as np

from .common import Timed, make_estimator
from .learning import _Pass, begin, mistakes


def dense_rows(n_features, dtype="float64", n_rows=1000, mixed=False):
    """Make dense rows of unit length and linear labels, 2 % of them wrong; mixed: columns are correlated, of unlike sizes."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, n_features))
    y = (X @ rng.standard_normal(n_features) > 0) ^ (rng.random(n_rows) < 0.02)
    if mixed:
        X = X @ (np.eye(n_features) + rng.standard_normal((n_features, n_features)) * np.geomspace(0.01, 1.0, n_features))
    return (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(dtype), y


def curved_rows(n_rows=1000):
    """Make unit-length rows of 20 features whose classes no plane separates."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, 20))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return X, np.sin(6 * X[:, 0]) + 6 * X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(n_rows) > 0


class FullCovariance(_Pass):
    """A pass of AROW by features."""

    params = [[16, 256, 784], ["float32", "float64"]]
    param_names = ["n_features", "dtype"]

    def setup(self, n_features, dtype):
        begin(self, "arow", *dense_rows(n_features, dtype), covariance="full")


class Regression(_Pass):
    """Recursive least squares, where every row updates."""

    params = [[16, 256], ["diagonal", "full"]]
    param_names = ["n_features", "covariance"]

    def setup(self, n_features, covariance):
        self.X, y = dense_rows(n_features)
        self.y = 2.0 * y - 1.0
        self.model = make_estimator("arow_regression", covariance=covariance).partial_fit(self.X[:16], self.y[:16])


class Correlated(_Pass):
    """Time and mistakes on 64 correlated columns, with a diagonal and with a full covariance."""

    params = [["arow", "narow", "cw_stdev", "scw1", "aggressive_sop"], ["diagonal", "full"]]
    param_names = ["algorithm", "covariance"]

    def setup(self, algorithm, covariance):
        begin(self, algorithm, *dense_rows(64, mixed=True), covariance=covariance)

    def track_mistakes(self, algorithm, covariance):
        return mistakes(algorithm, self.X, self.y, covariance=covariance)

    track_mistakes.unit = "mistakes of 1,000"


class Kernel(Timed):
    """Kernel learners, without and with a budget of 100 support vectors."""

    params = [["perceptron", "arow"], [None, 100]]
    param_names = ["algorithm", "budget"]

    def setup(self, algorithm, budget):
        self.X, self.y = curved_rows()
        self.model = make_estimator("KernelOnlineClassifier", algorithm=algorithm, kernel="rbf", gamma=2.0, budget=budget)

    def time_pass(self, algorithm, budget):
        self.model.partial_fit(self.X, self.y)

    def track_mistakes(self, algorithm, budget):
        return int(self.model.partial_fit(self.X, self.y).n_mistakes_)

    track_mistakes.unit = "mistakes of 1,000"
