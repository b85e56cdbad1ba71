"""Calls of one row or one text, as a server makes them: 1,000 calls, so that 1 ms is 1 us a call.

scripts/peers.py times the same calls beside scikit-learn's.
"""

import functools
import importlib.util
import itertools

import numpy as np
import scipy.sparse as sp

from onlinecls import AROWClassifier
from onlinecls.text import HashingVectorizer

from .common import Timed, begun, make_estimator

N_CALLS = 1000
NNZ = 100
TEXT = "Dear customer, you have won a free prize of 1000 pounds: call this number now to claim it before the offer ends today"
LABELS = np.array([-1, 1])


@functools.cache
def sparse_rows(n_features, n=N_CALLS):
    """Make rows of 100 evenly drawn columns, which is worse for caches than words."""
    rng = np.random.default_rng(0)
    values, indptr = np.full(NNZ, NNZ**-0.5, dtype=np.float32), np.array([0, NNZ], dtype=np.int32)
    columns = np.sort(rng.integers(0, n_features - NNZ, (n, NNZ)), axis=1) + np.arange(NNZ)  # (none twice)
    return [sp.csr_matrix((values, row.astype(np.int32), indptr), shape=(1, n_features)) for row in columns]


def grown(model, n_features, labels=LABELS):
    """Let a model learn the 16 rows that settle its scale, and rows of all columns, so that every page of memory is there."""
    rows = sp.csr_matrix(np.eye(16, n_features, dtype=np.float32))
    return begun(model, rows, np.resize(labels, 16), labels)


def cases(n_features=2**20):
    """Return {title: function that prepares a model and returns the function that makes `N_CALLS` calls}."""
    rows = sparse_rows(n_features)
    row, one = rows[0], LABELS[1:]
    others = [(each, LABELS[i % 2 :][:1]) for i, each in enumerate(rows)]

    def learner(n_classes=2, **params):
        return grown(AROWClassifier(**params), n_features, LABELS if n_classes == 2 else np.arange(n_classes))

    def hasher():
        return HashingVectorizer(n_features=n_features, dtype=np.float32)

    def reading():
        vectorizer, model = hasher(), learner()
        return repeated(lambda: model.partial_fit(vectorizer.transform([TEXT]), one))

    found = {
        "`partial_fit`, the same row each time": lambda: repeated(learner().partial_fit, [(row, one)]),
        "`partial_fit`, another row each time": lambda: repeated(learner().partial_fit, others),
        "`partial_fit` with `classes=[-1, 1]` each time": lambda: repeated(learner().partial_fit, [(row, one, [-1, 1])]),
        "`predict`": lambda: repeated(learner().predict, [(row,)]),
        "`decision_function`": lambda: repeated(learner().decision_function, [(row,)]),
        "`predict_proba`, two classes": lambda: repeated(learner(probability=True).predict_proba, [(row,)]),
        "`predict_proba`, three classes": lambda: repeated(learner(3, probability=True).predict_proba, [(row,)]),
        "`HashingVectorizer.transform` of one text": lambda: repeated(hasher().transform, [([TEXT],)]),
        "one text and `partial_fit`": reading,
    }
    return found | (data_frames() if importlib.util.find_spec("pandas") else {})


def repeated(function, arguments=((),)):
    """Return the function that makes `N_CALLS` calls, the arguments in turn."""
    turns = list(itertools.islice(itertools.cycle(arguments), N_CALLS))
    return lambda: [function(*each) for each in turns]


def data_frames(n_columns=8):
    """Return the cases of data frames of one row: of floats alone, of floats and integers, and with columns of its own each."""
    import pandas as pd

    rng, names = np.random.default_rng(0), [f"column {i}" for i in range(n_columns)]
    floats = pd.DataFrame(rng.standard_normal((2, n_columns)), columns=names)
    mixed = floats.assign(**{name: [1, 2] for name in names[:2]})

    def case(method, frame, *more):
        model = AROWClassifier().partial_fit(pd.concat([frame] * 8), np.resize(LABELS, 16))
        return repeated(getattr(model, method), [(frame[1:], *more)])

    return {
        "`partial_fit` of a data frame of floats": lambda: case("partial_fit", floats, LABELS[1:]),
        "`partial_fit` of a data frame of floats and integers": lambda: case("partial_fit", mixed, LABELS[1:]),
        "`predict` of a data frame": lambda: case("predict", floats),
    }


class Calls(Timed):
    """AROW's calls of a row of 100 non-zeros in 2^20 columns, a data frame of one row and 8 columns, a text of 22 words."""

    params = [list(cases(2**10))]
    param_names = ["call"]

    def setup(self, call):
        self.run = cases()[call]()

    def time_1000_calls(self, call):
        self.run()


class OneRow(Timed):
    """Calls of another row each time in models of 2^10 to 2^22 features: flat but for the memory."""

    params = [["perceptron", "arow"], ["partial_fit", "predict"], [2**10, 2**16, 2**22]]
    param_names = ["algorithm", "method", "n_features"]

    def setup(self, algorithm, method, n_features):
        model = grown(make_estimator(algorithm), n_features)
        labels = [(LABELS[i % 2 :][:1],) if method == "partial_fit" else () for i in range(N_CALLS)]
        rows = zip(sparse_rows(n_features), labels, strict=True)
        self.run = repeated(getattr(model, method), [(row, *label) for row, label in rows])

    def time_1000_calls(self, algorithm, method, n_features):
        self.run()


class FirstCall(Timed):
    """A new model and its first call, of 16 rows: what 2^10 to 2^20 features cost before anything is learnt."""

    params = [["arow", "committee"], [2**10, 2**20]]
    param_names = ["algorithm", "n_features"]

    def setup(self, algorithm, n_features):
        self.X = sp.csr_matrix(np.eye(16, n_features, dtype=np.float32))
        self.time_first_call(algorithm, n_features)  # (what it imports is there)

    def time_first_call(self, algorithm, n_features):
        make_estimator(algorithm).partial_fit(self.X, np.resize(LABELS, 16))
