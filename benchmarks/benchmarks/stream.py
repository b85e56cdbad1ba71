"""A stream in batches: the price of a call, which must not depend on the number of features."""

from .common import best_seconds, make_estimator, skip_without, stream, timed_stream

FEW = ["perceptron", "arow"]


class Batches:
    """A fresh model reads the whole stream through ``partial_fit``, ``batch_size`` rows a call."""

    params = [FEW, [1, 10, 100, 1000, 10_000]]
    param_names = ["algorithm", "batch_size"]

    def setup(self, algorithm, batch_size):
        skip_without(algorithm)
        X, y = stream(10_000, 20)
        self.n_rows = X.shape[0]
        # Sliced beforehand: scipy takes longer over a slice of one row than the learner over the row.
        self.batches = [(X[i : i + batch_size], y[i : i + batch_size]) for i in range(0, self.n_rows, batch_size)]

    def track_ns_per_example(self, algorithm, batch_size):
        return 1e9 * best_seconds(lambda: self.read(algorithm), repeats=3) / self.n_rows

    def read(self, algorithm):
        model = make_estimator(algorithm)
        for X, y in self.batches:
            model.partial_fit(X, y, classes=[0, 1])

    track_ns_per_example.unit = "ns"


class OneRow:
    """Calls of one row of about 100 non-zeros on a warm model: flat over ``n_features``."""

    params = [FEW, [2**10, 2**14, 2**18, 2**20, 2**22]]
    param_names = ["algorithm", "n_features"]
    n_calls = 2000

    def setup(self, algorithm, n_features):
        skip_without(algorithm)
        X, y = stream(self.n_calls + 100, 100, n_features=n_features)
        self.model = make_estimator(algorithm).partial_fit(X[:100], y[:100], classes=[0, 1])
        self.rows = [(X[i], y[i : i + 1]) for i in range(100, X.shape[0])]

    def track_partial_fit(self, algorithm, n_features):
        return 1e6 * best_seconds(self.learn, repeats=1) / self.n_calls  # once: a second time it would know the rows

    def learn(self):
        for X, y in self.rows:
            self.model.partial_fit(X, y)

    def track_predict(self, algorithm, n_features):
        return 1e6 * best_seconds(self.predict) / self.n_calls

    def predict(self):
        for X, _ in self.rows:
            self.model.predict(X)

    track_partial_fit.unit = "us"
    track_predict.unit = "us"


class Predict:
    """Reading a trained model: the scores of many rows at once."""

    params = [FEW, [20, 75], [2, 20]]
    param_names = ["algorithm", "nnz", "n_classes"]

    def setup(self, algorithm, nnz, n_classes):
        skip_without(algorithm)
        self.X, y = timed_stream(nnz, n_features=2**18, n_classes=n_classes)
        self.model = make_estimator(algorithm).partial_fit(self.X, y)

    def track_ns_per_nnz(self, *params):
        return 1e9 * best_seconds(lambda: self.model.decision_function(self.X)) / self.X.nnz

    track_ns_per_nnz.unit = "ns"
