"""Calls of one row or one text, as a server makes them. peers.py times them beside others, against.py beside another checkout."""

import importlib.util
import itertools

import numpy as np
import scipy.sparse as sp

from onlinecls import AROWClassifier
from onlinecls.text import HashingVectorizer

N_CALLS = 300
NNZ = 100
TEXT = "Dear customer, you have won a free prize of 1000 pounds: call this number now to claim it before the offer ends today"


def sparse_rows(n_features, n=N_CALLS):
    """Make rows of 100 evenly drawn columns, which is worse for caches than words."""
    rng = np.random.default_rng(0)
    values, indptr = np.full(NNZ, NNZ**-0.5, dtype=np.float32), np.array([0, NNZ], dtype=np.int32)
    columns = (np.sort(rng.choice(n_features, NNZ, replace=False)).astype(np.int32) for _ in range(n))
    return [sp.csr_matrix((values, row, indptr), shape=(1, n_features)) for row in columns]


def learner(n_features, n_classes=2, **params):
    """Make an AROW that calls are to reach as they do a server's."""
    return grown(AROWClassifier(**params), n_features, labels(n_classes))


def grown(model, n_features, labels):
    """Let a model learn the 16 rows that settle the unit of X, and rows of all columns, so that every page of memory is there."""
    rows = sp.csr_matrix(np.eye(16, n_features, dtype=np.float32))
    everything = sp.csr_matrix(np.full((len(labels), n_features), n_features**-0.5, dtype=np.float32))
    return model.partial_fit(rows, np.resize(labels, 16), classes=labels).partial_fit(everything, labels)


def labels(n_classes=2):
    return np.array([-1, 1] if n_classes == 2 else range(n_classes))


def cases(n_features=2**20):
    """Return {title: function that prepares one and returns the function that makes ``N_CALLS`` calls}."""
    rows = sparse_rows(n_features)
    x, one = rows[0], labels()[1:]
    other = itertools.cycle([labels()[:1], one])

    def calls(function, arguments=((),)):
        turns = list(itertools.islice(itertools.cycle(arguments), N_CALLS))
        return lambda: [function(*each) for each in turns]

    def learning(arguments):
        return lambda: calls(learner(n_features).partial_fit, arguments)

    def probabilities(n_classes):
        return lambda: calls(learner(n_features, n_classes, probability=True).predict_proba, [(x,)])

    found = {
        "`partial_fit`, the same row each time": learning([(x, one)]),
        "`partial_fit`, another row each time": learning([(row, next(other)) for row in rows]),
        "`partial_fit` with `classes=[-1, 1]` each time": learning([(x, one, [-1, 1])]),
        "`predict`": lambda: calls(learner(n_features).predict, [(x,)]),
        "`predict_proba`, two classes": probabilities(2),
        "`predict_proba`, three classes": probabilities(3),
        "`HashingVectorizer.transform` of one text": lambda: calls(hasher(n_features).transform, [([TEXT],)]),
        "one text and `partial_fit`": lambda: calls(reads_texts(n_features)),
    }
    return found | (data_frames() if importlib.util.find_spec("pandas") else {})


def hasher(n_features):
    return HashingVectorizer(n_features=n_features, dtype=np.float32)


def reads_texts(n_features):
    vectorizer, model, one = hasher(n_features), learner(n_features), labels()[1:]
    return lambda: model.partial_fit(vectorizer.transform([TEXT]), one)


def data_frames(n_columns=8):
    import pandas as pd

    rng, names = np.random.default_rng(0), [f"column {i}" for i in range(n_columns)]
    floats = pd.DataFrame(rng.standard_normal((2, n_columns)), columns=names)
    mixed = floats.assign(**{name: [1, 2] for name in names[:2]})
    own = [pd.DataFrame(rng.standard_normal((1, n_columns)), columns=list(names)) for _ in range(N_CALLS)]

    def case(method, frame, frames):
        def prepare():
            model = AROWClassifier().partial_fit(pd.concat([frame] * 8), np.tile(labels(), 8))
            call, more = getattr(model, method), (labels()[1:],) if method == "partial_fit" else ()
            turns = [(frames[i % len(frames)], *more) for i in range(N_CALLS)]
            return lambda: [call(*each) for each in turns]

        return prepare

    return {
        "`partial_fit` of a data frame of floats": case("partial_fit", floats, [floats[1:]]),
        "`partial_fit` of a data frame of floats and integers": case("partial_fit", mixed, [mixed[1:]]),
        "`predict` of a data frame": case("predict", floats, [floats[1:]]),
        "`predict` of a data frame with columns of its own": case("predict", floats, own),
    }
