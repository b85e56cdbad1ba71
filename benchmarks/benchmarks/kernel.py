"""Kernel learners: time per row by the size of the support set, and time and error with a budget."""

import numpy as np

import onlinecls

from .common import best_seconds

ALGORITHMS = ["perceptron", "pa", "sop", "arow"]


def curved(n_rows, seed=0):
    """Make unit-length rows of 20 features whose classes are not linearly separable, a tenth of them noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, 20))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = (np.sin(6 * X[:, 0]) + 6 * X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(n_rows) > 0).astype(int)
    return X, y


class Kernel:
    params = [ALGORITHMS, [500, 1000, 2000], [None, 200]]
    param_names = ["algorithm", "n_rows", "budget"]
    timeout = 300

    def setup(self, algorithm, n_rows, budget):
        if not hasattr(onlinecls, "KernelOnlineClassifier"):
            raise NotImplementedError("this version has no kernel learners")
        self.X, self.y = curved(n_rows)

    def learn(self, algorithm, budget):
        learner = onlinecls.KernelOnlineClassifier(algorithm, kernel="rbf", gamma=2.0, budget=budget)
        return learner.partial_fit(self.X, self.y, classes=[0, 1])

    def track_us_per_row(self, algorithm, n_rows, budget):
        return 1e6 * best_seconds(lambda: self.learn(algorithm, budget), repeats=2) / n_rows

    def track_progressive_error(self, algorithm, n_rows, budget):
        return 100 * self.learn(algorithm, budget).n_mistakes_ / n_rows

    track_us_per_row.unit = "us"
    track_progressive_error.unit = "%"
