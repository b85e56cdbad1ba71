"""Passes of `partial_fit` by learner, row length, features, batch, storage, classes and options, and the mistakes beside them.

A pass is of a model that has learnt a few rows and no other of the stream: a second pass would flatter the learners that are fast
on rows they know. Passes have 10,000 rows, 1 ms is 100 ns an example.
"""

import numpy as np

from .common import CLASSIFIERS, N_ROWS, ONE_CLASS, REGRESSORS, Timed, begun, make_estimator, stream

PAIR = ["perceptron", "arow"]
TRIO = ["perceptron", "pa1", "arow"]


class _Pass(Timed):
    """Subclasses set `self.X`, `self.y` and `self.model` in `setup`, which asv calls before each timed call."""

    def time_pass(self, *params):
        self.model.partial_fit(self.X, self.y)


def begin(case, name, X, y, **params):
    """Ready a classifier for a pass."""
    case.X, case.y, case.model = X, y, begun(make_estimator(name, **params), X, y, np.unique(y))


def mistakes(name, X, y, **params):
    """Return the mistakes of a new classifier in one pass, each row predicted before it is learnt."""
    return int(make_estimator(name, **params).partial_fit(X, y, classes=np.unique(y)).n_mistakes_)


class Classifiers(_Pass):
    """Every classifier on rows of 20 words."""

    params = [list(CLASSIFIERS)]
    param_names = ["algorithm"]

    def setup(self, algorithm):
        begin(self, algorithm, *stream())

    def track_mistakes(self, algorithm):
        return mistakes(algorithm, *stream())

    track_mistakes.unit = f"mistakes of {N_ROWS:,}"


class Regressors(_Pass):
    """Every regressor, on the labels -1 and +1 as targets."""

    params = [list(REGRESSORS)]
    param_names = ["algorithm"]

    def setup(self, algorithm):
        X, y = stream()
        self.X, self.y = X, 2.0 * y - 1.0
        self.model = begun(make_estimator(algorithm), X, self.y)

    def track_squared_error(self, algorithm):
        return round(float(make_estimator(algorithm).partial_fit(self.X, self.y).progressive_mse_), 4)

    track_squared_error.unit = "mean squared error"


class OneClass(_Pass):
    """Every one-class learner, in 256 columns: a multiplicative step costs O(columns)."""

    params = [list(ONE_CLASS)]
    param_names = ["algorithm"]

    def setup(self, algorithm):
        self.X, _ = stream(n_features=2**8)
        self.y, self.model = None, make_estimator(algorithm).partial_fit(self.X[:16])

    def track_outliers(self, algorithm):
        return int(make_estimator(algorithm).partial_fit(self.X).n_mistakes_)

    track_outliers.unit = f"outliers of {N_ROWS:,}"


class Experts(_Pass):
    """Hedge, with experts of different accuracy: 1,000 rows, 1 ms is 1 us a row, which costs O(experts)."""

    params = [[10, 1000]]
    param_names = ["n_experts"]

    def setup(self, n_experts):
        rng = np.random.default_rng(0)
        self.y = rng.integers(0, 2, 1000)
        wrong = rng.random((1000, n_experts)) < np.linspace(0.2, 0.6, n_experts)
        self.X = np.where(wrong, 1.0 - self.y[:, None], self.y[:, None])
        self.model = make_estimator("HedgeClassifier").partial_fit(self.X[:16], self.y[:16])


class RowLength(_Pass):
    """Rows of 3 to 100 words: the cost of a row, and that of a non-zero."""

    params = [TRIO, [3, 10, 30, 100]]
    param_names = ["algorithm", "nnz"]

    def setup(self, algorithm, nnz):
        begin(self, algorithm, *stream(nnz=nnz))


class Features(_Pass):
    """The same rows in models of 2^10 to 2^22 features: what the memory costs; nothing else should grow."""

    params = [PAIR, [2**10, 2**16, 2**22]]
    param_names = ["algorithm", "n_features"]

    def setup(self, algorithm, n_features):
        begin(self, algorithm, *stream(n_features=n_features))


class Batches(_Pass):
    """The stream in batches: the cost of a call, which must not depend on the number of features."""

    params = [PAIR, [1, 10, 100, 1000]]
    param_names = ["algorithm", "batch_size"]

    def setup(self, algorithm, batch_size):
        begin(self, algorithm, *stream(n_features=2**20))
        # Sliced beforehand: scipy takes longer over a slice of one row than the learner over the row.
        starts = range(0, N_ROWS, batch_size)
        self.batches = [(self.X[i : i + batch_size], self.y[i : i + batch_size]) for i in starts]

    def time_pass(self, *params):
        for X, y in self.batches:
            self.model.partial_fit(X, y)


class Storage(_Pass):
    """1,000 rows of 75 words of 1,024, sparse with indices of two widths or unsorted, and dense: 1 ms is 1 us an example."""

    params = [["pa1", "arow"], ["float32", "float64"], ["csr int32", "csr int64", "csr unsorted", "dense"]]
    param_names = ["algorithm", "dtype", "storage"]

    def setup(self, algorithm, dtype, storage):
        X, y = stream(1000, 75, n_features=2**10, dtype=dtype)
        if storage == "csr int64":
            X = X.copy()  # (the stream is kept)
            X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
        elif storage == "csr unsorted":
            X = X[:, np.random.default_rng(0).permutation(X.shape[1])]
            X.has_sorted_indices = False
        elif storage == "dense":
            X = X.toarray()
        begin(self, algorithm, X, y)


class Classes(_Pass):
    """Several classes, one against the rest or together: time and mistakes."""

    params = [PAIR, ["ovr", "crammer_singer"], [3, 20, 100]]
    param_names = ["algorithm", "multi_class", "n_classes"]

    def setup(self, algorithm, multi_class, n_classes):
        begin(self, algorithm, *stream(n_features=2**14, n_classes=n_classes), multi_class=multi_class)

    def track_mistakes(self, algorithm, multi_class, n_classes):
        return mistakes(algorithm, *stream(n_features=2**14, n_classes=n_classes), multi_class=multi_class)

    track_mistakes.unit = Classifiers.track_mistakes.unit


class Joining(_Pass):
    """Twenty classes that are named before the first row, or join as they come."""

    params = [PAIR, ["named", "joining"]]
    param_names = ["algorithm", "classes"]

    def setup(self, algorithm, classes):
        self.X, self.y = stream(n_features=2**14, n_classes=20)
        self.model = make_estimator(algorithm)
        self.model.partial_fit(self.X[:16], self.y[:16], classes=np.arange(20) if classes == "named" else None)


class Options(_Pass):
    """AROW and PA with what most learners can do besides."""

    params = [["pa1", "arow"], ["average", "probability", "class_weight", "sample_weight", "no intercept"]]
    param_names = ["algorithm", "option"]
    chosen = {
        "average": {"average": True}, "probability": {"probability": True}, "class_weight": {"class_weight": "balanced"},
        "no intercept": {"fit_intercept": False}, "sample_weight": {},
    }  # fmt: skip

    def setup(self, algorithm, option):
        begin(self, algorithm, *stream(), **self.chosen[option])
        self.weights = np.linspace(0.5, 1.5, N_ROWS) if option == "sample_weight" else None

    def time_pass(self, *params):
        self.model.partial_fit(self.X, self.y, sample_weight=self.weights)


class Fit(Timed):
    """`fit` at its defaults: epochs over shuffled rows until the loss stops to fall. Mistakes are those on new rows."""

    params = [["perceptron", "pa1", "arow", "adagrad_md", "committee"]]
    param_names = ["algorithm"]

    def setup(self, algorithm):
        self.X, self.y = stream()
        self.model = make_estimator(algorithm, random_state=0)

    def time_fit(self, algorithm):
        self.model.fit(self.X, self.y)

    def track_mistakes_on_new_rows(self, algorithm):
        X, y = stream(2 * N_ROWS)
        learnt = self.model.fit(X[:N_ROWS], y[:N_ROWS])
        return int(np.sum(learnt.predict(X[N_ROWS:]) != y[N_ROWS:]))

    track_mistakes_on_new_rows.unit = Classifiers.track_mistakes.unit


class Predict(Timed):
    """Reading a model that has learnt the rows: 10,000 rows of 20 words."""

    params = [["decision_function", "predict", "predict_proba"], [2, 20]]
    param_names = ["method", "n_classes"]

    def setup(self, method, n_classes):
        self.X, y = stream(n_classes=n_classes)
        self.call = getattr(make_estimator("arow", probability=True).partial_fit(self.X, y), method)

    def time_rows(self, method, n_classes):
        self.call(self.X)
