"""Memory of a model and the time to import the package."""

import tracemalloc

from .common import make_estimator, one_pass, skip_without, stream


class Memory:
    params = [["perceptron", "arow", "adagrad_md"], [2**10, 2**20, 2**22]]
    param_names = ["algorithm", "n_features"]

    def setup(self, algorithm, n_features):
        skip_without(algorithm)
        self.X, self.y = stream(2000, 20, n_features=n_features)

    def peakmem_fit(self, algorithm, n_features):
        """Measure the peak of the whole process, with the libraries and X."""
        one_pass(algorithm).fit(self.X, self.y)

    def track_peak_bytes_per_feature(self, algorithm, n_features):
        """Measure the peak of a first ``partial_fit`` alone in Python's and numpy's allocators."""
        model = make_estimator(algorithm)
        tracemalloc.start()
        try:
            model.partial_fit(self.X, self.y, classes=[0, 1])
            return tracemalloc.get_traced_memory()[1] / n_features
        finally:
            tracemalloc.stop()

    track_peak_bytes_per_feature.unit = "bytes"


def timeraw_import():
    return "import onlinecls"


def timeraw_import_scipy_sparse():
    return "import scipy.sparse"  # what importing onlinecls should cost and little more
