"""Small calls are checked, learnt and scored in C: they do what the same calls do that go through Python.

Rows of a class that extends numpy's or scipy's go through Python, whatever is in them.
"""

import numpy as np
import pytest
from internals import state_of
from matrices import continuous_problem
from scipy import sparse
from states import fingerprint

from onlinecls import AROWClassifier, AROWRegressor, PassiveAggressiveClassifier


class Dense(np.ndarray):
    """Dense rows that go through Python."""


class Csr(sparse.csr_matrix):
    """Sparse ones."""


def the_long_way(X):
    if sparse.issparse(X):
        found = Csr(X.shape, dtype=X.dtype)
        found.data, found.indices, found.indptr = X.data, X.indices, X.indptr
        return found
    return X.view(Dense)


def outcome(call, model, *arguments, **others):
    """The model after a call of one of its methods, what it says, or the error."""
    try:
        found = getattr(model, call)(*arguments, **others)
    except (TypeError, ValueError, RuntimeError) as error:
        found = type(error), str(error)
    return (found.tolist() if isinstance(found, np.ndarray) else found if isinstance(found, tuple) else ""), fingerprint(model)


def assert_same_both_ways(make, X, y, reads=True, **others):
    """A learner that takes small calls already, and rows for it that may be bad; says whether it took them."""
    before, reader = fingerprint(make()), "decision_function" if hasattr(make(), "decision_function") else "predict"
    if reads:
        assert outcome(reader, make(), X) == outcome(reader, make(), the_long_way(X))
    found = outcome("partial_fit", make(), X, y, **others)
    assert found == outcome("partial_fit", make(), the_long_way(X), y, **others)
    return found[1] != before


def learnt(names, dtype="float64", cls=AROWClassifier, **others):
    """A function that makes a learner of three classes, or of numbers, which has learnt."""
    X, y = continuous_problem(30, 4, seed=3, n_classes=3, dtype=dtype)
    return lambda: cls(**others).partial_fit(X, y * 0.5 if names is None else np.asarray(names)[y])


def csr(dtype=np.float64, index=np.int32, **changed):
    """Two rows of a matrix of four columns, with arrays that scipy would not give it."""
    X = sparse.csr_matrix((2, 4), dtype=dtype)
    X.data = np.array(changed.get("data", [1.0, -2.0, 0.5, 3.0]), dtype)
    X.indices = np.array(changed.get("indices", [0, 2, 1, 3]), index)
    X.indptr = np.array(changed.get("indptr", [0, 2, 4]), index)
    return X


GOOD = [
    {}, {"indices": [0, 3, 0, 3]}, {"indptr": [0, 0, 4], "indices": [0, 1, 2, 3]}, {"indptr": [0, 4, 4], "indices": [0, 1, 2, 3]},
]
CHANGED = [  # (rows that come in another way, or that are refused)
    {"indices": [2, 0, 1, 3]}, {"indices": [0, 0, 1, 3]}, {"indices": [0, 2, 3, 3]},
    {"indices": [0, 4, 1, 3]}, {"indices": [-1, 2, 1, 3]}, {"indices": [0, 2, -1, 3]}, {"indices": [0, 2, 1, 4]},
    {"indptr": [1, 2, 4]}, {"indptr": [-1, 2, 4]}, {"indptr": [0, 5, 4]}, {"indptr": [0, 2, 5]}, {"indptr": [0, 2, 1]},
    {"indptr": [0, 4, 2], "indices": [0, 1, 2, 3]}, {"indices": [0, 2, 1]}, {"data": [1.0, -2.0, 0.5]},
    {"data": [1.0, -2.0, 0.5, np.nan]}, {"data": [-np.inf, -2.0, 0.5, 1.0]}, {"indptr": [0, 2]}, {"indptr": [0, 2, 4, 4]},
    {"indptr": [0, 1, 3], "data": [1.0, 2.0, 3.0, np.nan], "indices": [0, 1, 2, 3]},
]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_sparse_rows(dtype, index):
    make = learnt([0, 1, 2], dtype)
    for changed in GOOD:
        assert assert_same_both_ways(make, csr(dtype, index, **changed), [1, 2])
    for changed in CHANGED:
        assert_same_both_ways(make, csr(dtype, index, **changed), [1, 2])
    assert_same_both_ways(make, csr("float64" if dtype == "float32" else "float32", index), [1, 2])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_dense_rows(dtype):
    make, X = learnt([0, 1, 2], dtype), np.array([[1.0, 0.0, -2.0, 3.0], [0.0, 0.5, 1.0, 0.0]], dtype)
    assert assert_same_both_ways(make, X, [1, 2])
    for number in (np.nan, np.inf, -np.inf):
        for at in ((0, 0), (1, 3)):
            bad = X.copy()
            bad[at] = number
            assert not assert_same_both_ways(make, bad, [1, 2])
    for bad in (X[:, :3].copy(), np.hstack([X, X]), X[0], X[:0]):
        assert not assert_same_both_ways(make, bad, [1, 2][: len(bad)])
    for other in (np.asfortranarray(X), np.hstack([X, X])[:, ::2], X.astype(int)):
        assert assert_same_both_ways(make, other, [1, 2])


@pytest.mark.parametrize("names", [[0, 1, 2], [-1, 5, 2**40], [0.0, 1.0, 2.0], ["a", "b", "ab"], [True, False, True]], ids=str)
def test_labels(names):
    make, X = learnt(names), csr()
    rows = [names[1], names[0]]
    for y in (rows, np.array(rows), np.array(rows, object), tuple(rows)):
        assert assert_same_both_ways(make, X, y)
    strangers = (7, -3, 2**70, -(2**70), 2.5, np.nan, 0, 1, 2, -1, "", "a", "aa", "abc", "c", None, True)
    others = [[names[1], other] for other in strangers]
    others += [[], rows[:1], rows * 2, [rows], np.array([rows]), np.array(rows * 2), np.array(rows[:1])]
    for y in others:
        assert_same_both_ways(make, X, y, reads=False)
        if isinstance(y, list) and len(y) == 2 and all(isinstance(label, type(y[0])) for label in y):
            assert_same_both_ways(make, X, np.array(y), reads=False)


def test_numbers():
    make, X = learnt(None, cls=AROWRegressor), csr()
    for y in ([1.0, 2.0], np.array([1.0, 2.0]), np.array([1.0, 2.0], np.float32)):
        assert assert_same_both_ways(make, X, y)
    for y in ([1.0, np.nan], [np.inf, 0.0], [1.0], [1.0, 2.0, 3.0]):
        assert not assert_same_both_ways(make, X, np.array(y))


@pytest.mark.parametrize("names", [[0, 1, 2], None], ids=str)
def test_weights(names):
    make, y = learnt(names, cls=AROWRegressor if names is None else AROWClassifier), np.array([1, 2] if names else [1.0, 2.0])
    for given in ([0.5, 2.0], [0.0, 1.0], [0.0, 0.0]):
        assert assert_same_both_ways(make, csr(), y, sample_weight=np.array(given)) == (max(given) > 0.0)
    for bad in ([1.0, -1.0], [1.0, np.nan], [np.inf, 1.0], [1.0], [1.0, 1.0, 1.0], []):
        assert not assert_same_both_ways(make, csr(), y, sample_weight=np.array(bad))


def test_what_has_changed_since_the_last_call():
    for change in (
        lambda model: model.set_params(r=3.0),
        lambda model: model.set_params(class_weight={0: 3.0}),
        lambda model: model.sparsify(),
        lambda model: setattr(state_of(model).sigma.flags, "writeable", False),
        lambda model: setattr(state_of(model).values.flags, "writeable", False),
    ):
        make = learnt([0, 1, 2], covariance="full")

        def changed(make=make, change=change):
            model = make()
            change(model)
            return model

        assert assert_same_both_ways(changed, csr(), [0, 2])


def test_a_model_in_use_is_refused():
    model = learnt([0, 1, 2])()
    before = fingerprint(model)
    with model._lock, pytest.raises(RuntimeError, match="one call at a time may learn"):
        model.partial_fit(csr(), [0, 1])
    assert fingerprint(model) == before
    assert fingerprint(model.partial_fit(csr(), [0, 1])) != before


def test_names_of_features_are_looked_at():
    pandas = pytest.importorskip("pandas")
    X, y = continuous_problem(30, 4, seed=3)
    model = PassiveAggressiveClassifier().partial_fit(pandas.DataFrame(X, columns=list("abcd")), y)
    with pytest.warns(UserWarning, match="feature names"):
        model.decision_function(X[:1])


@pytest.mark.parametrize("learner", [AROWClassifier(), AROWRegressor()], ids=["classifier", "regressor"])
def test_the_fast_path_is_enabled_before_another_call_may_learn(learner, monkeypatch):
    """A call that begins between the end of one and the enabling of the fast path would enable it for another state."""
    refused, enable = [], type(learner)._enable_fast_path

    def enable_and_learn(self):
        enable(self)
        with pytest.raises(RuntimeError, match="one call at a time may learn"):
            self.partial_fit(np.ones((1, 3)).view(Dense), [1])
        refused.append(True)

    monkeypatch.setattr(type(learner), "_enable_fast_path", enable_and_learn)
    learner.partial_fit(np.eye(3), [0, 1, 1])
    assert refused == [True]
