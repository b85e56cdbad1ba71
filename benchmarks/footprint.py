"""Memory of a model and of a call, and the time to import the package."""

import tracemalloc

from .common import make_estimator, stream


class Memory:
    """A first call on 2,000 rows of 20 words, by learner and features."""

    params = [["perceptron", "arow", "committee"], [2**10, 2**20]]
    param_names = ["algorithm", "n_features"]

    def setup(self, algorithm, n_features):
        self.X, self.y = stream(2000, n_features=n_features)
        self.model = make_estimator(algorithm)

    def peakmem_partial_fit(self, algorithm, n_features):
        """Measure the peak of the whole process, with the libraries and X."""
        self.model.partial_fit(self.X, self.y)

    def track_bytes_a_feature(self, algorithm, n_features):
        """Measure what the model keeps after the call, in Python's and numpy's allocators."""
        tracemalloc.start()
        try:
            self.model.partial_fit(self.X, self.y)
            return round(tracemalloc.get_traced_memory()[0] / n_features, 2)
        finally:
            tracemalloc.stop()

    track_bytes_a_feature.unit = "bytes"


class MemoryOfClasses:
    """The same for twenty classes, and for a full covariance of 500 features."""

    params = [["20 classes", "full covariance"]]
    param_names = ["model"]

    def setup(self, model):
        self.X, self.y = stream(2000, n_features=500 if model == "full covariance" else 2**16, n_classes=20)
        if model == "full covariance":
            self.y = self.y % 2
        self.model = make_estimator("arow", covariance="full" if model == "full covariance" else "diagonal")

    def peakmem_partial_fit(self, model):
        self.model.partial_fit(self.X, self.y)


def timeraw_import():
    return "import onlinecls"


def timeraw_import_of_a_class():
    return "from onlinecls import AROWClassifier"


def timeraw_import_of_scipy_sparse():
    return "import scipy.sparse"  # what the import of a class should cost, and little more
