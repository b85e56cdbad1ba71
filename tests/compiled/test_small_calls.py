"""Small calls are checked, learnt and scored in C: whatever they are given, they do what the same calls do through Python.

Rows of a class that extends numpy's, scipy's or pandas' go through Python, whatever is in them.
"""

import functools
import math
import operator
import warnings

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
    if not sparse.issparse(X):
        return X.view(Dense) if isinstance(X, np.ndarray) else type("Frame", (type(X),), {})(X)
    found = Csr(X.shape, dtype=X.dtype)
    found.data, found.indices, found.indptr = X.data, X.indices, X.indptr
    return found


def outcome(call, model, *arguments, **others):
    """The model after a call of one of its methods, what it says, and its warnings, or the error."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        if type(arguments[0]) is Csr:
            model._has_fast_path = state_of(model).same = None
        try:
            found = getattr(model, call)(*arguments, **others)
        except (TypeError, ValueError, RuntimeError) as error:
            found = type(error), str(error)
    said = found.tolist() if isinstance(found, np.ndarray) else found if isinstance(found, tuple) else ""
    return said, fingerprint(model), [str(one.message) for one in warned]


def learns_same_both_ways(make, X, y, reads=True, **others):
    """Check a learner that takes small calls already on rows that may be bad; return whether it took them."""
    before, reader = fingerprint(make()), "decision_function" if hasattr(make(), "decision_function") else "predict"
    if reads:
        assert outcome(reader, make(), X) == outcome(reader, make(), the_long_way(X))
    found = outcome("partial_fit", make(), X, y, **others)
    assert found == outcome("partial_fit", make(), the_long_way(X), y, **others)
    return found[1] != before


def is_short(model, X, y, classes=None, alike=False):
    """Score the rows of a call and learn it; return whether it is learnt without the long way. alike : as it is scored."""
    is_scored = state_of(model).try_decision(X, model.__dict__.get("feature_names_in_")) is not None
    is_learnt = bool(state_of(model).try_partial_fit(model.__dict__, X, y, None, classes))
    assert is_scored or not is_learnt
    assert is_scored == is_learnt or not alike
    return is_learnt


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
def test_rows_are_read_in_c_as_in_python(dtype):
    make, X = learnt([0, 1, 2], dtype), np.array([[1.0, 0.0, -2.0, 3.0], [0.0, 0.5, 1.0, 0.0]], dtype)
    for index in (np.int32, np.int64):
        assert all(learns_same_both_ways(make, csr(dtype, index, **changed), [1, 2]) for changed in GOOD)
        for changed in CHANGED:
            learns_same_both_ways(make, csr(dtype, index, **changed), [1, 2])
        learns_same_both_ways(make, csr("float64" if dtype == "float32" else "float32", index), [1, 2])
    for rows in (X, np.asfortranarray(X), np.hstack([X, X])[:, ::2], X.astype(int)):
        assert learns_same_both_ways(make, rows, [1, 2])
    for number, at in ((np.nan, (0, 0)), (np.inf, (0, 0)), (-np.inf, (1, 3)), (np.nan, (1, 3))):
        bad = X.copy()
        bad[at] = number
        assert not learns_same_both_ways(make, bad, [1, 2])
    for bad in (X[:, :3].copy(), np.hstack([X, X]), X[0], X[:0]):
        assert not learns_same_both_ways(make, bad, [1, 2][: len(bad)])


NAMES = [[0, 1, 2], [-1, 5, 2**40], [0.0, 1.0, 2.0], ["a", "b", "ab"]]
STRANGERS = (7, -3, 2**70, -(2**70), 2.5, np.nan, 0, 1, 2, -1, "", "a", "aa", "abc", "c", None, True)


@pytest.mark.parametrize("names", [*NAMES, [True, False, True]], ids=str)
def test_labels_are_read_in_c_as_in_python(names):
    make, X, rows = learnt(names), csr(), [names[1], names[0]]
    for y in (rows, np.array(rows), np.array(rows, object), tuple(rows)):
        assert learns_same_both_ways(make, X, y)
    others = [[names[1], other] for other in STRANGERS]
    others += [np.array(y) for y in others if all(isinstance(label, type(y[0])) for label in y)]
    for y in (*others, [], rows[:1], rows * 2, [rows], np.array([rows]), np.array(rows * 2), np.array(rows[:1])):
        learns_same_both_ways(make, X, y, reads=False)


@pytest.mark.parametrize("cls, y", [(AROWClassifier, [1, 2]), (AROWRegressor, [1.0, 2.0])])
def test_targets_and_sample_weights_are_read_in_c_as_in_python(cls, y):
    make, X = learnt([0, 1, 2] if cls is AROWClassifier else None, cls=cls), csr()
    for given in ([0.5, 2.0], [0.0, 1.0], [0.0, 0.0]):
        assert learns_same_both_ways(make, X, np.array(y), sample_weight=np.array(given)) == (max(given) > 0.0)
    for bad in ([1.0, -1.0], [1.0, np.nan], [np.inf, 1.0], [1.0], [1.0, 1.0, 1.0], []):
        assert not learns_same_both_ways(make, X, np.array(y), sample_weight=np.array(bad))
    if cls is AROWRegressor:
        assert all(learns_same_both_ways(make, X, targets) for targets in (y, np.array(y), np.array(y, np.float32)))
        for bad in ([1.0, np.nan], [np.inf, 0.0], [1.0], [1.0, 2.0, 3.0]):
            assert not learns_same_both_ways(make, X, np.array(bad))


@pytest.mark.parametrize("change", [
    lambda model: model.set_params(r=3.0), lambda model: model.set_params(class_weight={0: 3.0}), lambda model: model.sparsify(),
    lambda model: setattr(state_of(model).sigma.flags, "writeable", False),
    lambda model: setattr(state_of(model).values.flags, "writeable", False),
], ids=["r", "class_weight", "sparsify", "sigma", "values"])
def test_a_model_changed_since_its_last_call_learns_in_c_as_in_python(change):
    def changed():
        change(model := learnt([0, 1, 2], covariance="full")())
        return model

    assert learns_same_both_ways(changed, csr(), [0, 2])


def test_small_calls_take_the_short_way_whatever_was_learnt_before():
    """Rows of unlike lengths come first; then a parameter is replaced by another object of the same value, and by another."""
    rng = np.random.default_rng(0)
    model = AROWClassifier(r=float("1.0")).partial_fit(rng.exponential(size=(20, 4)) ** 5, rng.integers(0, 3, 20))
    assert is_short(model, csr(), [0, 1])
    for r in (float("1.0"), 2.0):
        assert not is_short(model.set_params(r=r), csr(), [0, 1])
        assert is_short(model.partial_fit(csr(), [0, 1]), csr(), [0, 1])


NAMED = [
    *NAMES, (0, 1, 2), np.array([0, 1, 2]), [2, 0, 1, 1], np.array([0.0, 1.0, 2.0]), list(np.arange(3)),
    np.array(["a", "b", "ab"]), np.array(["a", "b", "ab"], object),
]
OTHERS = [
    [], [0], [0, 1], [0, 1, 3], [0, 1, 2, 3], [0, 1, None], [0, 1, np.nan], [False, True, 2], [[0, 1, 2]], "abc", {0, 1, 2}, 3,
    np.array(2), np.array([[0, 1, 2]]), np.array([0, 1]), np.array([1, 2, 3]), np.array([0, 1, 2], np.int8),
    np.array([0, 1, 2]).view(np.float64), np.arange(6)[::2], np.array([0.5, 1.0, 2.0]), ["a", "b", "c"],
    np.array(["a", "b", "c"]),
]


@pytest.mark.parametrize("named", NAMED, ids=repr)
def test_classes_named_in_every_call_are_read_in_c_as_in_python(named):
    """The classes of the call before cost no long way; others meet the same checks as there."""
    labels = sorted(set(np.asarray(named).tolist()))
    make = lambda: learnt(labels)().partial_fit(csr(), labels[:2], classes=named)  # noqa: E731
    is_copied = isinstance(named, list | tuple) or named.dtype.kind != "O"
    for classes in (named, named.copy() if isinstance(named, (list, np.ndarray)) else tuple(list(named))):
        assert learns_same_both_ways(make, csr(), np.array(labels[1:]), reads=False, classes=classes)
        assert is_short(make(), csr(), np.array(labels[1:]), classes) == is_copied
    for classes in (*NAMED, *OTHERS):
        learns_same_both_ways(make, csr(), labels[1:], reads=False, classes=classes)


class Changing(int):
    """A label that may become equal to nothing."""

    __hash__ = int.__hash__

    def __eq__(self, other):
        return vars(self).get("equal", True) and int(self) == other


def test_named_classes_are_checked_anew_when_their_owner_changes_them_or_another_has_joined():
    """They are a copy, of those from before the call."""
    zero, label = np.array(0), Changing(0)
    for named, change in (
        ([0, 1, 2], lambda named: named.append(3)), ([0, 1, 2], lambda named: named.__setitem__(1, 7)),
        (np.arange(3), lambda named: named.__setitem__(1, 7)), ([zero, 1, 2], lambda _: zero.__setitem__((), 5)),
        ([label, 1, 2], lambda _: setattr(label, "equal", False)),
    ):
        model = learnt([0, 1, 2])().partial_fit(csr(), [0, 1], classes=named)
        change(named)
        assert not is_short(model, csr(), [0, 1], named)
    model = learnt([0, 1, 2])().partial_fit(csr(), [0, 3], classes=[0, 1, 2])
    with pytest.raises(ValueError, match="classes must be those of the first call"):
        model.partial_fit(csr(), [0, 1], classes=[0, 1, 2])
    assert model.partial_fit(csr(), [0, 1], classes=[0, 1, 2, 3]).t_ == 34


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
