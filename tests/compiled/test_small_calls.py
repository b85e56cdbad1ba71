"""Small calls are checked, learnt and scored in C: they do what the same calls do that go through Python.

Rows of a class that extends numpy's or scipy's go through Python, whatever is in them.
"""

import functools
import math
import operator
import pickle
import warnings
from decimal import Decimal

import numpy as np
import pytest
from internals import log_softmax, state_of
from matrices import continuous_problem
from scipy import sparse
from states import fingerprint

from onlinecls import AROWClassifier, AROWRegressor


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
def test_sparse_rows_are_read_in_c_as_in_python(dtype, index):
    make = learnt([0, 1, 2], dtype)
    for changed in GOOD:
        assert assert_same_both_ways(make, csr(dtype, index, **changed), [1, 2])
    for changed in CHANGED:
        assert_same_both_ways(make, csr(dtype, index, **changed), [1, 2])
    assert_same_both_ways(make, csr("float64" if dtype == "float32" else "float32", index), [1, 2])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_dense_rows_are_read_in_c_as_in_python(dtype):
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
def test_labels_are_read_in_c_as_in_python(names):
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


@pytest.mark.parametrize("cls, y", [(AROWClassifier, [1, 2]), (AROWRegressor, [1.0, 2.0])])
def test_targets_and_sample_weights_are_read_in_c_as_in_python(cls, y):
    make, X = learnt([0, 1, 2] if cls is AROWClassifier else None, cls=cls), csr()
    for given in ([0.5, 2.0], [0.0, 1.0], [0.0, 0.0]):
        assert assert_same_both_ways(make, X, np.array(y), sample_weight=np.array(given)) == (max(given) > 0.0)
    for bad in ([1.0, -1.0], [1.0, np.nan], [np.inf, 1.0], [1.0], [1.0, 1.0, 1.0], []):
        assert not assert_same_both_ways(make, X, np.array(y), sample_weight=np.array(bad))
    if cls is AROWRegressor:
        for targets in (y, np.array(y), np.array(y, np.float32)):
            assert assert_same_both_ways(make, X, targets)
        for bad in ([1.0, np.nan], [np.inf, 0.0], [1.0], [1.0, 2.0, 3.0]):
            assert not assert_same_both_ways(make, X, np.array(bad))


@pytest.mark.parametrize("change", [
    lambda model: model.set_params(r=3.0), lambda model: model.set_params(class_weight={0: 3.0}), lambda model: model.sparsify(),
    lambda model: setattr(state_of(model).sigma.flags, "writeable", False),
    lambda model: setattr(state_of(model).values.flags, "writeable", False),
], ids=["r", "class_weight", "sparsify", "sigma", "values"])
def test_a_model_changed_since_its_last_call_learns_in_c_as_in_python(change):
    def changed():
        change(model := learnt([0, 1, 2], covariance="full")())
        return model

    assert assert_same_both_ways(changed, csr(), [0, 2])


@pytest.mark.parametrize("learner", [AROWClassifier(), AROWRegressor()], ids=["classifier", "regressor"])
def test_the_fast_path_is_enabled_before_another_call_may_learn(learner, monkeypatch):
    """A call that begins between the end of one and the enabling of the fast path would enable it for another state."""
    refused, enable = [], type(learner)._end_call

    def enable_and_learn(self, n_skipped):
        enable(self, n_skipped)
        with pytest.raises(RuntimeError, match="one call at a time may learn"):
            self.partial_fit(np.ones((1, 3)).view(Dense), [1])
        refused.append(True)

    monkeypatch.setattr(type(learner), "_end_call", enable_and_learn)
    learner.partial_fit(np.eye(3), [0, 1, 1])
    assert refused == [True]


def taken(model, X, y, classes=None):
    """Learn a call and return True if it needs no long way."""
    return bool(state_of(model).try_partial_fit(model.__dict__, X, y, None, classes))


def scored(model, X):
    """Return True if rows are scored without the long way."""
    return state_of(model).try_decision(X, model.__dict__.get("feature_names_in_")) is not None


def test_small_calls_take_the_short_way_whatever_was_learnt_before():
    """Rows of unlike lengths come first; then a parameter is replaced by another object of the same value, and by another."""
    rng = np.random.default_rng(0)
    model = AROWClassifier(r=float("1.0")).partial_fit(rng.exponential(size=(20, 4)) ** 5, rng.integers(0, 3, 20))
    for r in (None, float("1.0"), 2.0):
        if r is not None:
            model.set_params(r=r)
            assert not taken(model, csr(), [0, 1])
            model.partial_fit(csr(), [0, 1])
        assert taken(model, csr(), [0, 1]) and scored(model, csr())


NAMED = [
    [0, 1, 2], (0, 1, 2), np.array([0, 1, 2]), [2, 0, 1, 1], [0.0, 1.0, 2.0], np.array([0.0, 1.0, 2.0]), list(np.arange(3)),
    ["a", "b", "ab"], np.array(["a", "b", "ab"]), list(np.array(["a", "b", "ab"])), np.array(["a", "b", "ab"], object),
    [-1, 5, 2**40],
]
OTHERS = [
    [], [0], [0, 1], [0, 1, 3], [0, 1, 2, 3], [0, 1, None], [0, 1, np.nan], [False, True, 2], [[0, 1, 2]], "abc", {0, 1, 2}, 3,
    np.array(2), np.array([[0, 1, 2]]), np.array([0, 1]), np.array([1, 2, 3]), np.array([0, 1, 2], np.int8),
    np.array([0, 1, 2]).view(np.float64), [Decimal(0), Decimal(1), Decimal(2)], np.arange(6)[::2],
    np.array([0.5, 1.0, 2.0]), ["a", "b"], ["a", "b", "c"], np.array(["a", "b", "c"]), np.array(["ab", "b", "a"]),
]


@pytest.mark.parametrize("named", NAMED, ids=repr)
def test_classes_named_in_every_call_are_read_in_c_as_in_python(named):
    """The classes of the call before cost no long way; others meet the same checks as there."""
    labels = sorted(set(np.asarray(named).tolist()))

    def make():
        return learnt(labels)().partial_fit(csr(), labels[:2], classes=named)

    again = named.copy() if isinstance(named, (list, np.ndarray)) else tuple(list(named))
    for classes in (named, again):
        assert assert_same_both_ways(make, csr(), np.array(labels[1:]), classes=classes)
        is_copied = isinstance(named, list | tuple) or named.dtype.kind != "O"
        assert taken(make(), csr(), np.array(labels[1:]), classes) == is_copied
    for classes in (*NAMED, *OTHERS):
        assert_same_both_ways(make, csr(), labels[1:], reads=False, classes=classes)


class Changing(int):
    """A label that may become equal to nothing."""

    __hash__ = int.__hash__

    def __eq__(self, other):
        return vars(self).get("equal", True) and int(self) == other


def test_named_classes_that_their_owner_changes_are_checked_anew():
    """The classes that were named are a copy: what the caller's list or array becomes is looked at."""
    zero, label = np.array(0), Changing(0)
    for named, change in (
        ([0, 1, 2], lambda named: named.append(3)), ([0, 1, 2], lambda named: named.__setitem__(1, 7)),
        (np.arange(3), lambda named: named.__setitem__(1, 7)), ([zero, 1, 2], lambda _: zero.__setitem__((), 5)),
        ([label, 1, 2], lambda _: setattr(label, "equal", False)),
    ):
        model = learnt([0, 1, 2])().partial_fit(csr(), [0, 1], classes=named)
        model.partial_fit(csr(), [0, 1], classes=named)
        change(named)
        assert not taken(model, csr(), [0, 1], named)


def test_named_classes_are_not_those_of_a_call_in_which_another_joined():
    """The classes named are those from before the call, which another may have joined in it: they are right no more."""
    model = learnt([0, 1, 2])()
    model.partial_fit(csr(), [0, 3], classes=[0, 1, 2])
    with pytest.raises(ValueError, match="classes must be those of the first call"):
        model.partial_fit(csr(), [0, 1], classes=[0, 1, 2])
    assert model.partial_fit(csr(), [0, 1], classes=[0, 1, 2, 3]).t_ == 34


@pytest.mark.parametrize("part", ["values", "counts", "counters", "correction", "calibration"])
def test_a_model_of_read_only_arrays_goes_on_as_a_copy(part):
    """Such a model is replaced by a copy before it learns, as one that joblib has mapped into memory is."""
    model = learnt([0, 1, 2], average=True, probability=True)()
    assert taken(model, csr(), [0, 1])
    getattr(state_of(model), part).flags.writeable = False
    assert not taken(model, csr(), [0, 1])
    before, state = fingerprint(model), state_of(model)
    assert fingerprint(model.partial_fit(csr(), [0, 1])) != before
    assert state_of(model) is not state


@pytest.mark.parametrize("task, dtype", [("classifier", "float32"), ("regressor", "float64")])
def test_data_frames_are_read_in_c_as_in_python(task, dtype):
    pandas = pytest.importorskip("pandas")

    class Frame(pandas.DataFrame):
        """A data frame that goes through Python."""

    X, y = continuous_problem(30, 4, seed=3, dtype=dtype)
    table, names = pandas.DataFrame(X, columns=list("abcd")), list("abcd")
    cls, y = (AROWClassifier, y) if task == "classifier" else (AROWRegressor, y * 0.5)

    def make():
        model = cls().partial_fit(table, y).partial_fit(table[:2], y[:2])
        model.predict(table[:1])
        return model

    def both_ways(rows):
        """Compare what a call learns and returns on both ways, and its warnings; return whether the short one takes it."""
        for call, others in (("predict", ()), ("partial_fit", (y[: len(rows)],))):
            found = []
            for each in (rows, Frame(rows)):
                with warnings.catch_warnings(record=True) as warned:
                    warnings.simplefilter("always")
                    found.append((outcome(call, make(), each, *others), [str(one.message) for one in warned]))
            assert found[0] == found[1]
        assert not taken(make(), Frame(rows), y[: len(rows)])
        return taken(make(), rows, y[: len(rows)]), scored(make(), rows)

    fresh = pandas.DataFrame({name: X[:1, at] for at, name in enumerate(names)})
    for rows in (
        table[:1], table[3:7], table[::3], fresh, fresh.assign(b=3), fresh.astype("float64"), fresh.astype(int),
        fresh.astype(bool),
    ):
        assert both_ways(rows) == (True, True)
    wide = pandas.DataFrame([[1e300, 0.0, 0.0, 0.0]], columns=names)
    assert both_ways(wide) == (dtype == "float64",) * 2
    for rows in (
        fresh[list("abdc")], fresh[list("abc")], fresh.rename(columns={"a": "e"}), fresh.rename(columns={"a": 1}), fresh[:0],
        fresh.rename(columns=dict(zip(names, range(4), strict=True))), fresh.assign(e=1.0), fresh.assign(a="1.5"),
        fresh.assign(a=np.nan), fresh.assign(a=np.inf), fresh.assign(a=None), fresh.astype(object), fresh.assign(a=1j),
        fresh.assign(a=True),
    ):
        assert both_ways(rows) == (False, False)
    for rows in (X[:1], csr(dtype)):
        assert not taken(make(), rows, y[: rows.shape[0]]) and not scored(make(), rows)


def test_columns_of_a_data_frame_are_compared_with_the_model_s_in_every_call():
    """Columns are known for the names that they were compared with, and copies and pickles know none."""
    pandas = pytest.importorskip("pandas")
    X, y = continuous_problem(30, 4, seed=3)
    table = pandas.DataFrame(X, columns=list("abcd"))
    model = AROWClassifier().partial_fit(table, y).partial_fit(table, y)
    assert taken(model, table[:1], y[:1])
    assert state_of(pickle.loads(pickle.dumps(model))).columns is None
    model.feature_names_in_ = np.array(list("abce"), object)
    with pytest.raises(ValueError, match="Feature names unseen at fit time:\n- d"):
        model.predict(table[:1])
    with pytest.raises(ValueError, match="Feature names unseen at fit time:\n- d"):
        model.partial_fit(table[:1], y[:1])
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        model.decision_function(X[:1])
    model = AROWClassifier().partial_fit(X, y)
    with pytest.warns(UserWarning, match="X has feature names"):
        model.partial_fit(table[:1], y[:1])


@pytest.mark.parametrize("columns", [1, 3, 20])
def test_probabilities_have_the_bits_of_their_formula(columns):
    """Compare the bits with those of numpy and the C library, at scores of any size; sums go from left to right."""
    rng = np.random.default_rng(0)
    scores = rng.standard_normal((50, columns)) * 10.0 ** rng.uniform(-300, 308, (50, columns))
    scores[0], scores[1], scores[2, 0], scores[3] = 0.0, np.inf, np.nan, -np.inf
    a, b, offsets = 1.3, -0.7, rng.standard_normal(max(columns, 2))
    with np.errstate(over="ignore", invalid="ignore"):
        of_each = np.hstack([np.zeros((50, 1)), scores]) if columns == 1 else scores
        z = np.clip(np.nan_to_num(a * of_each + b * offsets, nan=0.0), -1e300, 1e300)
    z -= z.max(axis=1, keepdims=True)
    others = [np.delete(row, row.argmax()).tolist() for row in z]
    sums = [[math.log1p(functools.reduce(operator.add, map(math.exp, row), 0.0))] for row in others]
    assert log_softmax(scores, a, b, offsets).tobytes() == (z - sums).tobytes()
    with pytest.raises(RuntimeError, match="fitted in another thread"):
        log_softmax(scores, a, b, np.append(offsets, 0.0))


@pytest.mark.parametrize("way", [the_long_way, lambda X: X], ids=["long", "short"])
def test_rows_that_leave_the_range_are_told_in_each_call(way):
    """The warning names the line of the caller."""
    model = AROWClassifier(r=1.0, intercept_scaling=1.0).partial_fit(way(np.eye(2)), [0, 1])
    for n in (2, 1, 0):
        X = np.array([[1e300, 1.0], [1.0, -1e300], [1.0, 2.0]])[2 - n :]
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            model.partial_fit(way(X), [0, 1, 0][2 - n :])
        told = [(str(each.message).partition(".")[0], each.filename) for each in said]
        rows = f"{n} row{'s' * (n > 1)} whose updates would leave it and were skipped (n_skipped_)"
        assert told == [(f"AROWClassifier: updates should stay within the range of float64, got {rows}", __file__)][: n > 0]
    assert model.n_skipped_ == 3
