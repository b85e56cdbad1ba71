"""A full covariance: time per row if most rows update, and if few do. Ratios and targets: benchmarks/studies/full.py."""

import os

import numpy as np

from .common import STREAM_NNZ, best_seconds, one_pass

LABELS = {"random": 0.5, "nearly all right": 0.02}


class FullCovariance:
    params = [["arow", "cw_stdev", "narow"], [256, 784], ["float64", "float32"], list(LABELS)]
    param_names = ["algorithm", "n_features", "dtype", "labels"]
    timeout = 300

    def setup(self, algorithm, n_features, dtype, labels):
        rng = np.random.default_rng(0)
        n_rows = max(min(STREAM_NNZ // n_features, 2000), 20)
        X = rng.standard_normal((n_rows, n_features))
        self.X = (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(dtype)
        wrong = rng.random(n_rows) < LABELS[labels]
        self.y = (X @ rng.standard_normal(n_features) > 0) ^ wrong
        self.model = one_pass(algorithm, covariance="full")

    def time_fit(self, *params):
        self.model.fit(self.X, self.y)

    def track_us_per_update(self, *params):
        seconds = best_seconds(lambda: self.model.fit(self.X, self.y), repeats=3)
        return 1e6 * seconds / self.model.n_updates_

    track_us_per_update.unit = "us"


class Digits:
    """Test error after one pass over MNIST's 3 and 5, a tenth of the labels wrong; skipped where the data are not there."""

    params = [["arow", "cw_stdev"], ["diagonal", "full"]]
    param_names = ["algorithm", "covariance"]
    timeout = 300

    def setup(self, algorithm, covariance):
        path = os.path.join(os.environ.get("ONLINECLS_DATA", "../shared/data"), "mnist.npz")
        if not os.path.exists(path):
            raise NotImplementedError(f"no {path}")
        with np.load(path) as file:
            (self.X, self.y), (self.X_test, self.y_test) = (self.two(file, part) for part in ("train", "test"))
        wrong = np.random.default_rng(0).random(len(self.y)) < 0.1
        self.y = np.where(wrong, 8 - self.y, self.y)
        self.model = one_pass(algorithm, covariance=covariance)

    @staticmethod
    def two(file, part):
        chosen = np.isin(file["y_" + part], (3, 5))
        return file["X_" + part][chosen] / np.float32(255), file["y_" + part][chosen]

    def time_fit(self, *params):
        self.model.fit(self.X, self.y)

    def track_test_error(self, *params):
        return 100 * (1 - self.model.fit(self.X, self.y).score(self.X_test, self.y_test))

    track_test_error.unit = "%"
