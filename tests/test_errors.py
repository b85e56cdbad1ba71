"""Bad input: every message word for word, and the model bit for bit what it was. Strange but valid input: a sane model."""

import pickle
import re

import numpy as np
import pytest
from algorithms import ALL, ESTIMATORS, REGRESSION
from scipy import sparse
from states import fingerprint, is_finite

import onlinecls
from onlinecls._registry import ALGORITHMS

every_case = pytest.mark.parametrize("case", ALL, ids=str)
every_estimator = pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda cls: cls.__name__)

X = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0], [0.5, 0.0, 1.0], [0.0, 1.0, 4.0]])
Y = np.array([0, 1, 0, 1])
LEARNER = onlinecls.Perceptron
BUILD = "The CSR matrix is not valid: build it with scipy.sparse.csr_matrix((data, indices, indptr), shape=...)."


def refused(message, call, *learners, kind=ValueError):
    """The call raises just this, and leaves the learners as they were, fitted or not."""
    before = [fingerprint(learner) for learner in learners]
    with pytest.raises(kind, match="^" + re.escape(message) + "$"):
        call()
    assert [fingerprint(learner) for learner in learners] == before


def refused_everywhere(message, X, y=Y, methods=("partial_fit", "fit"), learner=LEARNER, kind=ValueError, **arguments):
    """Before the first row and later, by partial_fit and by fit."""
    for method in methods:
        for learnt in (learner(), learner().partial_fit(np.eye(3)[[0, 1, 2, 0]], Y)):
            refused(message, lambda: getattr(learnt, method)(X, y, **arguments), learnt, kind=kind)  # noqa: B023


def broken(data=None, indices=None, indptr=None, shape=None):
    """X as CSR, with some arrays put in its place unchecked."""
    csr = sparse.csr_matrix(X)
    for name, values in (("data", data), ("indices", indices), ("indptr", indptr), ("_shape", shape)):
        if values is not None:
            setattr(csr, name, tuple(values) if name == "_shape" else np.asarray(values))
    return csr


# --- X -------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])
@pytest.mark.parametrize("value, shown", [(np.nan, "NaN"), (np.inf, "inf"), (-np.inf, "-inf")], ids=str)
def test_not_finite(value, shown, kind):
    bad = X.copy()
    bad[3, 2] = value
    message = f"Perceptron: X must be finite, got {shown} at row 3, column 2. Drop the row, or fill in the value."
    refused_everywhere(message, kind(bad))
    learner = LEARNER().partial_fit(X, Y)
    for call in (learner.predict, learner.decision_function):
        refused(message, lambda: call(kind(bad)), learner)  # noqa: B023
    refused(message, lambda: learner.score(kind(bad), Y), learner)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])
def test_too_large_for_the_dtype(kind):
    bad = X.copy()
    bad[1, 1] = 1e300
    message = "Perceptron: X must fit float32, got 1e+300 at row 1, column 1. Scale the data, or use dtype=numpy.float64."
    learner = LEARNER().partial_fit(X.astype(np.float32), Y)
    refused(message, lambda: learner.partial_fit(kind(bad), Y), learner)
    learner = LEARNER(dtype=np.float32)
    refused(message, lambda: learner.partial_fit(kind(bad), Y), learner)


SHAPES = [
    (X[0], "Perceptron: Expected 2D array, got 1D array instead. Reshape your data: X.reshape(1, -1) if it is a single sample, "
     "X.reshape(-1, 1) if it has a single feature."),
    (np.float64(3.0), "Perceptron: Expected 2D array, got scalar array instead. Reshape your data: X.reshape(1, -1) if it is a "
     "single sample, X.reshape(-1, 1) if it has a single feature."),
    (X[None], "Perceptron: Expected 2D array, got 3D array instead. Reshape your data: X.reshape(1, -1) if it is a "
        "single sample, "
     "X.reshape(-1, 1) if it has a single feature."),
    (X * 1j, "Perceptron: Complex data not supported, got X of dtype complex128. Use its real part."),
    (sparse.csr_matrix(X * 1j), "Perceptron: Complex data not supported, got X of dtype complex128. Use its real part."),
    (X[:3], "Perceptron: X and y must have the same number of rows, got inconsistent numbers of samples: 3 in X and 4 in y."),
    (np.array([["a"] * 3] * 4, object), "Perceptron: X must be numbers, got dtype object (could not convert string to "
        "float: 'a'). "
     "Encode texts and categories as numbers first."),
]


@pytest.mark.parametrize("bad, message", SHAPES, ids=range(len(SHAPES)))
def test_shapes_and_types_of_x(bad, message):
    refused_everywhere(message, bad)


@pytest.mark.parametrize(
    "bad", [np.array([["1", "2", "3"]] * 4), [["1", "2", "3"]] * 4, np.array([[b"1"] * 3] * 4), [["a"] * 3] * 4], ids=range(4)
)
def test_texts_are_no_numbers_even_if_they_look_like_some(bad):
    for learner in (LEARNER(), LEARNER().partial_fit(X, Y)):
        before = fingerprint(learner)
        with pytest.raises(ValueError, match=r"^Perceptron: X must be numbers, got dtype .[US]1"):
            learner.partial_fit(bad, Y)
        assert fingerprint(learner) == before


def test_ragged_rows():
    for learner in (LEARNER(), LEARNER().partial_fit(X, Y)):
        before = fingerprint(learner)
        with pytest.raises(ValueError, match=r"^Perceptron: X must be "):
            learner.partial_fit([[1.0, 2.0, 3.0], [1.0]], [0, 1])
        assert fingerprint(learner) == before


def test_another_number_of_features():
    learner = LEARNER().partial_fit(X, Y)
    message = (
        "X has 2 features, but Perceptron is expecting 3 features as input. Give rows with the columns of the first call, "
        "or start a new model."
    )
    for call in (lambda: learner.partial_fit(X[:, :2], Y), lambda: learner.predict(X[:, :2]), lambda: learner.score(X[:, :2], Y)):
        refused(message, call, learner)
    learner.set_params(warm_start=True)
    refused(message, lambda: learner.fit(X[:, :2], Y), learner)
    assert learner.set_params(warm_start=False).fit(X[:, :2], Y).n_features_in_ == 2


def test_no_features_and_no_rows():
    no_columns = "Perceptron: Found array with 0 feature(s) (shape=(4, 0)) while a minimum of 1 is required."
    learner = LEARNER()
    refused(no_columns, lambda: learner.partial_fit(X[:, :0], Y), learner)
    for learner in (LEARNER(), LEARNER().partial_fit(X, Y)):
        message = "Perceptron: Found array with 0 sample(s) (shape=(0, 3)) while a minimum of 1 is required."
        refused(message, lambda: learner.fit(X[:0], Y[:0]), learner)  # noqa: B023


INDPTR = "Perceptron: X must have an indptr of 5 numbers that rises from 0 to at most 7, its number of indices, got {}. " + BUILD
INDEX = "Perceptron: X must have column indices in 0..2, got {}. " + BUILD
BROKEN = {
    "past the matrix": ({"indices": [0, 2, 1, 0, 3, 1, 2]}, INDEX.format(3)),
    "far past the matrix": ({"indices": [0, 2, 1, 0, 2**31 - 1, 1, 2]}, INDEX.format(2**31 - 1)),
    "negative": ({"indices": [0, 2, 1, -1, 2, 1, 2]}, INDEX.format(-1)),
    "int64, past": ({"indices": [0, 2, 1, 0, 2**62, 1, 2]}, INDEX.format(2**62)),
    "int64, negative": ({"indices": [0, 2, 1, 0, -(2**62), 1, 2]}, INDEX.format(-(2**62))),
    "not from 0": ({"indptr": [1, 2, 3, 5, 7]}, INDPTR.format("[1, 2, 3, 5, 7]")),
    "falling": ({"indptr": [0, 3, 2, 5, 7]}, INDPTR.format("[0, 3, 2, 5, 7]")),
    "past the end": ({"indptr": [0, 2, 3, 5, 99]}, INDPTR.format("[0, 2, 3, 5, 99]")),
    "far past the end": ({"indptr": [0, 2, 3, 5, 2**62]}, INDPTR.format(f"[0, 2, 3, 5, {2**62}]")),
    "negative end": ({"indptr": [0, 2, 3, 5, -1]}, INDPTR.format("[0, 2, 3, 5, -1]")),
    "too short": ({"indptr": [0, 2, 3, 7]}, INDPTR.format("[0, 2, 3, 7]")),
    "too long": ({"indptr": [0, 2, 3, 5, 7, 7]}, INDPTR.format("[0, 2, 3, 5, 7, 7]")),
    "empty": ({"indptr": np.empty(0, np.int32)}, INDPTR.format("[]")),
    "too few values": ({"data": [1.0, 2.0]}, "Perceptron: X must have as many values as indices, got 2 and 7. " + BUILD),
}


NO_ARRAYS = {
    "data of two dimensions": ({"data": np.ones((7, 1))}, "Perceptron: X.data must be a 1-D array, got 2 dimensions. " + BUILD),
    "indices of two dimensions": (
        {"indices": np.zeros((7, 1), np.int32)}, "Perceptron: X.indices must be a 1-D array, got 2 dimensions. " + BUILD),
    "fractions for indices": (
        {"indices": np.full(7, 0.5)}, "Perceptron: X.indices must be integers, got dtype float64. " + BUILD),
    "fractions for indptr": (
        {"indptr": np.array([0.0, 2.5, 3.0, 5.0, 7.0])}, "Perceptron: X.indptr must be integers, got dtype float64. " + BUILD),
    "texts for values": (
        {"data": ["1"] * 7}, "Perceptron: X must be numbers, got dtype <U1. Encode texts and categories as numbers first."),
    "dates for values": (
        {"data": np.ones(7, "M8[s]")}, "Perceptron: X must be numbers, got dtype datetime64[s]. Turn dates into numbers first."),
    "a huge integer": (
        {"data": np.array([1, 10**400] + [1] * 5, object)}, "Perceptron: X must fit float64, got a number beyond it at row 0, "
        "column 2. Scale the data."),
    "a huge shape": (
        {"shape": (4, 2**70)}, f"Perceptron: X.shape must be two integers, got (4, {2**70}). " + BUILD),
}


@pytest.mark.parametrize("arrays, message", NO_ARRAYS.values(), ids=NO_ARRAYS)
def test_csr_of_something_else_than_arrays_of_numbers(arrays, message):
    """One that only the kernel finds comes too late: the model has begun by then."""
    refused_everywhere(message, broken(**arrays))


def test_lists_in_the_place_of_csr_arrays_are_read():
    lists = sparse.csr_matrix(X)
    for name in ("data", "indices", "indptr"):
        setattr(lists, name, getattr(lists, name).tolist())
    assert fingerprint(LEARNER().partial_fit(lists, Y)) == fingerprint(LEARNER().partial_fit(X, Y))


def test_dtypes_that_scipy_does_not_add_up():
    """Duplicates of float16, of longdouble and of objects are added up in float64."""
    indices, indptr = np.array([2, 0, 2, 1], np.int32), np.array([0, 3, 4, 4, 4])
    plain = broken(data=[1.0, 2.0, 3.0, 4.0], indices=indices, indptr=indptr)
    for dtype in (np.float16, np.longdouble, object):
        odd = broken(data=np.array([1, 2, 3, 4], dtype), indices=indices, indptr=indptr)
        assert fingerprint(LEARNER().partial_fit(odd, Y)) == fingerprint(LEARNER().partial_fit(plain, Y))


@pytest.mark.parametrize("arrays, message", BROKEN.values(), ids=BROKEN)
def test_broken_csr(arrays, message):
    if "indices" in arrays:
        arrays = {"indices": np.array(arrays["indices"], np.int64 if max(map(abs, arrays["indices"])) > 2**40 else np.int32)}
    refused_everywhere(message, broken(**arrays))
    learner = LEARNER().partial_fit(X, Y)
    refused(message, lambda: learner.predict(broken(**arrays)), learner)


def test_other_sparse_formats_are_checked_before_scipy_converts_them():
    """scipy's tocsr trusts what it is given: a wrong index there is a write outside its arrays."""
    csc, bsr, coo = sparse.csc_matrix(X), sparse.bsr_matrix(X), sparse.coo_array(X)
    csc.indices[1], bsr.indptr[-1], coo.row[1] = 5, 9, 4  # too near to crash an unchecked conversion for sure
    for bad in (csc, bsr, coo):
        for learner in (LEARNER(), LEARNER().partial_fit(X, Y)):
            before = fingerprint(learner)
            with pytest.raises(ValueError, match=r"^Perceptron: X must be a valid sparse matrix, got "):
                learner.partial_fit(bad, Y)
            assert fingerprint(learner) == before


def replaced(kind, **parts):
    """X in that format, with other parts put in its place unchecked."""
    matrix = getattr(sparse, f"{kind}_matrix")(X)
    for name, part in parts.items():
        setattr(matrix, name, part)
    return matrix


def lil(row, columns, values):
    matrix = sparse.lil_matrix(X)
    matrix.rows[row], matrix.data[row] = columns, values
    return matrix


def dok(key, value=1.0):
    matrix = sparse.dok_matrix(X)
    getattr(matrix, "_dict", matrix)[key] = value
    return matrix


def coo(*places):
    """X with other places of its values; set past the converting setters of row and col that newer scipy has."""
    matrix = sparse.coo_matrix(X)
    if "coords" in vars(matrix):
        matrix.coords = places
    else:
        matrix.row, matrix.col = places
    return matrix


NOTHING, PLACES = np.empty(0, np.int32), np.zeros(7, np.int32)
UNCONVERTIBLE = {
    "dia, a list": replaced("dia", offsets=[10**9]),
    "dia, fractions": replaced("dia", offsets=np.array([-2.5, -1, 0, 2])),
    "dia, the same twice": replaced("dia", offsets=np.full(4, -(2**63))),
    "dia, one diagonal in two dimensions": replaced("dia", data=np.ones(3)),
    "lil, more columns": lil(0, [0, 1, 2], [1.0]),
    "lil, more values": lil(0, [0], [1.0, 2.0, 3.0]),
    "lil, a column outside": lil(0, [0, 7], [1.0, 1.0]),
    "lil, a text": lil(0, ["a"], [1.0]),
    "lil, no list": lil(0, None, [1.0]),
    "lil, a huge column": lil(0, [2**70], [1.0]),
    "lil, fewer rows": replaced("lil", rows=np.array([[0, 2], [1], None], object)[:2]),
    "csc, no values": replaced("csc", data=np.empty(0), indices=NOTHING, indptr=np.array([0, 10**8, -(10**8), 0], np.int32)),
    "csc, values of two dimensions": replaced("csc", data=np.ones((7, 2))),
    "csc, fractions": replaced("csc", indices=np.full(7, 0.5)),
    "bsr, no values": replaced("bsr", data=np.empty((0, 1, 1)), indices=NOTHING, indptr=np.array([0, 10**8, -(10**8), 5, 0])),
    "bsr, no block": replaced("bsr", data=np.ones((7, 0, 1))),
    "dok, a row outside": dok((2**31 - 1, 0)),
    "dok, a negative row": dok((-1, 0)),
    "dok, a column outside": dok((0, 99)),
    "dok, a huge row": dok((2**70, 0)),
    "dok, a text": dok("a"),
    "dok, three numbers": dok((0, 0, 0)),
    "dok, a list": dok((0, 0), [1, 2]),
    "coo, fewer rows": coo(PLACES[:1], PLACES),
    "coo, fractions": coo(np.full(7, 0.5), PLACES),
    "coo, texts": coo(np.array(["a"] * 7), PLACES),
    "coo, objects": coo(np.array([None] * 7, object), PLACES),
    "coo, beyond int64": coo(np.full(7, 2**64 - 1, np.uint64), PLACES),
    "coo, rows of two dimensions": coo(PLACES.reshape(-1, 1), PLACES.reshape(-1, 1)),
    "coo, no rows": coo(None, PLACES),
}


@pytest.mark.parametrize("bad", UNCONVERTIBLE.values(), ids=UNCONVERTIBLE)
def test_parts_that_scipy_cannot_convert(bad):
    for learner in (LEARNER(), LEARNER().partial_fit(X, Y)):
        before = fingerprint(learner)
        for call in (learner.partial_fit, learner.fit):
            with pytest.raises(ValueError, match=rf"^Perceptron: X must be a valid sparse matrix, got a {bad.format} matrix "):
                call(bad, Y)
        assert fingerprint(learner) == before


@pytest.mark.parametrize("kind", ["coo", "csc", "bsr", "lil", "dok", "dia"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, bool])
def test_every_format_learns_as_csr_does_and_stays_as_it_was(kind, dtype):
    csr, twin = sparse.csr_matrix(X.astype(dtype)), LEARNER()
    twin.partial_fit(csr, Y)
    for family in ("matrix", "array"):
        other = getattr(sparse, f"{kind}_{family}")(csr)
        parts = {name: part.copy() for name, part in vars(other).items() if isinstance(part, np.ndarray)}
        assert fingerprint(LEARNER().partial_fit(other, Y)) == fingerprint(twin)
        for name, part in parts.items():
            assert vars(other)[name].dtype == part.dtype and vars(other)[name].tolist() == part.tolist()


def test_diagonals_beyond_the_matrix_hold_nothing():
    """scipy takes such offsets; one near -2**63 made its conversion write outside its arrays."""
    dia = sparse.dia_matrix((np.ones((3, 3)), [0, 7, -7]), shape=(4, 3))
    dia.offsets = np.array([0, 2**62, -(2**63)])
    assert fingerprint(LEARNER().partial_fit(dia, Y)) == fingerprint(LEARNER().partial_fit(np.eye(4, 3), Y))


def test_missing_values_of_pandas_are_called_missing():
    pandas = pytest.importorskip("pandas")
    missing = pandas.array([1, None, 2, 3], "Int64")
    message = "Perceptron: X must be finite, got the missing value <NA> at row 1, column 1. Drop the row, or fill in the value."
    mixed = pandas.DataFrame({"a": [True, False, True, True], "b": pandas.array([1, None, 2, 3], "Int64")})
    fitted = pandas.DataFrame(X[:, :2], columns=["a", "b"])
    for frame in (mixed, mixed.astype({"b": "boolean"}), mixed.astype(object)):
        for learner in (LEARNER(), LEARNER().partial_fit(fitted, Y)):
            refused(message, lambda: learner.partial_fit(frame, Y), learner)  # noqa: B023
    message = "Perceptron: y must be labels, got <NA> at row 1: a label is missing. Drop that row."
    refused_everywhere(message, X, pandas.Series(["a", None, "b", "a"], dtype="string"))
    refused_everywhere(message, X, np.array(missing, object))


class Odd:
    """An object whose conversion to an array fails in its own way."""

    def __array__(self, *arguments, **options):
        raise RuntimeError("no array today")


def test_what_an_object_raises_becomes_ours():
    for learner in (LEARNER(), LEARNER().partial_fit(X, Y)):
        for call in (learner.partial_fit, learner.fit):
            for bad in ({"X": Odd()}, {"y": Odd()}, {"sample_weight": Odd()}):
                before = fingerprint(learner)
                with pytest.raises(ValueError, match=rf"^Perceptron: {next(iter(bad))} must be .* \(no array today\)"):
                    call(**{"X": X, "y": Y, **bad})
                assert fingerprint(learner) == before
        for classes in (Odd(), [0, [1, 2]], [0, 10**400], [object(), 0], [0, None]):
            with pytest.raises(ValueError, match=r"^Perceptron: classes must be "):
                learner.partial_fit(X, Y, classes=classes)
    regressor = onlinecls.PassiveAggressiveRegressor()
    for y in (Odd(), [10**400] * 4, [[1], [1, 2], 1, 1], np.ones(4, "M8[s]")):
        with pytest.raises(ValueError, match=r"^PassiveAggressiveRegressor: y must be numbers"):
            regressor.partial_fit(X, y)
    assert fingerprint(regressor) is None


def test_objects_that_are_no_numbers():
    huge = np.array(X, object)
    huge[2, 1] = -(10**400)
    refused_everywhere("Perceptron: X must fit float64, got a number beyond it at row 2, column 1. Scale the data.", huge)
    for dtype, hint in (
        ("M8[s]", "Turn dates into numbers first."), ("m8[s]", "Turn durations into numbers first."),
        ([("a", "<f8")], "Give the fields as columns."),
    ):
        refused_everywhere(f"Perceptron: X must be numbers, got dtype {np.dtype(dtype)}. {hint}", np.zeros((4, 3), dtype))


def test_control_characters_are_escaped():
    """A label or a name that a message shows must not steer the terminal that prints it."""
    evil = "\x1b[31m\x07"
    for one in (evil, evil.encode()):
        others = [type(one)(b"a") if isinstance(one, bytes) else "a", type(one)(b"b") if isinstance(one, bytes) else "b"]
        calls = [
            lambda: LEARNER().partial_fit(X, [*others, one, one], classes=others),  # noqa: B023
            lambda: LEARNER().fit(X, [one] * 4),  # noqa: B023
            lambda: LEARNER(class_weight={one: 1.0}).fit(X, others * 2),  # noqa: B023
            lambda: LEARNER(class_weight={one: -1.0}).fit(X, [one, others[0]] * 2),  # noqa: B023
            lambda: LEARNER().partial_fit(X, [one, others[0]] * 2).partial_fit(X, Y),  # noqa: B023
        ]
        for call in calls:
            with pytest.raises(ValueError) as raised:
                call()
            assert "\\x1b" in str(raised.value) and str(raised.value).isprintable()
    pandas = pytest.importorskip("pandas")
    learner = LEARNER().partial_fit(pandas.DataFrame(X, columns=["a", "b", evil]), Y)
    with pytest.raises(ValueError) as raised:
        learner.predict(pandas.DataFrame(X, columns=["a", "b", "c"]))
    assert evil not in str(raised.value) and "\\x1b[31m\\x07" in str(raised.value)


def test_column_names():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    learner = LEARNER().partial_fit(frame, Y)
    renamed = "The feature names should match those that were passed during fit.\n"
    message = renamed + "Feature names unseen at fit time:\n- d\nFeature names seen at fit time, yet now missing:\n- c\n"
    for call in (lambda bad: learner.partial_fit(bad, Y), learner.predict):
        refused(message, lambda: call(frame.rename(columns={"c": "d"})), learner)  # noqa: B023
        turned = renamed + "Feature names must be in the same order as they were in fit.\n"
        refused(turned, lambda: call(frame[["b", "a", "c"]]), learner)  # noqa: B023
    with pytest.warns(UserWarning, match=r"^X does not have valid feature names, but Perceptron was fitted with feature names$"):
        learner.predict(X)
    with pytest.warns(UserWarning, match=r"^X has feature names, but Perceptron was fitted without feature names$"):
        LEARNER().partial_fit(X, Y).predict(frame)
    mixed = (
        "Feature names are only supported if all input features have string names, but your input has ['int', 'str'] as feature "
        "name / column name types. If you want feature names to be stored and validated, you must convert them all to "
        "strings, by "
        "using X.columns = X.columns.astype(str) for example. Otherwise you can remove feature / column names from "
        "your input data, "
        "or convert them all to a non-string data type."
    )
    refused_everywhere(mixed, frame.rename(columns={"c": 3}), kind=TypeError)


# --- y -------------------------------------------------------------------------------------------------------------------------

LABELS = {
    "none": (None, "Perceptron: requires y to be passed, but the target y is None."),
    "sparse": (sparse.csr_matrix([[0, 1, 0, 1]]), "Perceptron: y must be a dense array of labels, got a sparse "
        "matrix. Use y.toarray()."),
    "2d": (np.zeros((4, 2)), "Perceptron: y should be a 1d array, got an array of shape (4, 2) instead."),
    "short": (Y[:3], "Perceptron: X and y must have the same number of rows, got inconsistent numbers of samples: 4 "
        "in X and 3 in y."),
    "nan": (
        [0, 1, np.nan, 1], "Perceptron: y must be labels, got NaN or infinity in y (Input y contains NaN). Drop those rows."),
    "inf": (
        [0, 1, np.inf, 1], "Perceptron: y must be labels, got NaN or infinity in y (Input y contains NaN). Drop those rows."),
    "continuous": ([0, 1, 0.25, 1], "Perceptron: Unknown label type: continuous. y must be classes, got 0.25. Use a "
        "regressor, or turn "
                   "the values into classes."),
    "complex": (Y * 1j, "Perceptron: Unknown label type: y must be integers, booleans or strings, got dtype complex128."),
    "dates": (Y.astype("M8[D]"), "Perceptron: Unknown label type: y must be integers, booleans or strings, got dtype "
        "datetime64[D]."),
    "mixed": (np.array([0, "b", 0, "b"], object), "Perceptron: Unknown label type: y must be all strings or all "
        "numbers, got a mixture of "
              "int, str."),
    "None among texts": (["a", None, "a", "b"], "Perceptron: y must be labels, got None at row 1: a label is missing. Drop "
        "that row."),
    "None among numbers": (
        [0, 1, 0, None], "Perceptron: y must be labels, got None at row 3: a label is missing. Drop that row."),
    "bytes among texts": (["a", b"a", "b", "b"], "Perceptron: Unknown label type: y must be all strings or all numbers, got a "
        "mixture of bytes, str."),
    "a text of many MB": (["a", "b", "x" * 10**7, "b"], "Perceptron: y must have labels of at most 4096 characters, got one of "
        f"10000000 at place 2, '{'x' * 196}.... Number such texts, and give the numbers."),
    "one among objects": (np.array(["a", "b", "a", "x" * 5000], object), "Perceptron: y must have labels of at most 4096 "
        f"characters, got one of 5000 at place 3, '{'x' * 196}.... Number such texts, and give the numbers."),
    "lists": (np.array([[0], [1, 2], [0], [1]], object), "Perceptron: Unknown label type: y must be all strings or all numbers, "
        "got labels of type list."),
    "mixed list": ([0, "b", 0, "b"], "Perceptron: Unknown label type: y must be all strings or all numbers, got a "
        "mixture of int, str."),
    "nan among strings": (["a", "b", float("nan"), "b"], "Perceptron: y must be labels, got nan at row 2: a label is missing. "
        "Drop that row."),
}


@pytest.mark.parametrize("y, message", LABELS.values(), ids=LABELS)
def test_labels(y, message):
    refused_everywhere(message, X, y)


def test_labels_outside_the_classes():
    learner = LEARNER().partial_fit(X, Y, classes=[0, 1])
    message = (
        "Perceptron: y must be among the classes [0, 1], got 7 at row 2. Name all labels in classes at the first call, "
        "or leave classes out there: then labels join as they appear."
    )
    refused(message, lambda: learner.partial_fit(X, [0, 1, 7, 1]), learner)
    fresh = LEARNER()
    refused(message, lambda: fresh.partial_fit(X, [0, 1, 7, 1], classes=[0, 1]), fresh)


def test_classes():
    fresh, learner = LEARNER(), LEARNER().partial_fit(X, Y, classes=[0, 1])
    message = "Perceptron: classes must name at least 2 classes, got {}. Leave it out if labels are to join as they appear."
    refused(message.format(1), lambda: fresh.partial_fit(X, Y, classes=[0]), fresh)
    refused(message.format(1), lambda: fresh.partial_fit(X, Y, classes=[0, 0]), fresh)
    refused(message.format(0), lambda: fresh.partial_fit(X, Y, classes=[]), fresh)
    message = (
        "Perceptron: classes must be those of the first call, [0, 1], got [0, 1, 2]. Leave classes out from the second call on."
    )
    refused(message, lambda: learner.partial_fit(X, Y, classes=[2, 1, 0]), learner)
    assert learner.partial_fit(X, Y, classes=[1, 0]).t_ == 8


@pytest.mark.parametrize("classes", [5, {0, 1}, [0, 1, np.nan], [[0, 1]], [0, "b"], [0.5, 1], "ab"], ids=repr)
def test_classes_that_are_no_labels_are_named_so(classes):
    for learner in (LEARNER(), LEARNER().partial_fit(X, Y)):
        before = fingerprint(learner)
        with pytest.raises(ValueError, match=r"^Perceptron: classes "):
            learner.partial_fit(X, Y, classes=classes)
        assert fingerprint(learner) == before


def test_texts_for_numbers_and_numbers_for_texts():
    learner = LEARNER().partial_fit(X, Y)
    message = "Perceptron: y must be labels like the model's classes, 0 of dtype int64, got dtype <U1."
    refused(message, lambda: learner.partial_fit(X, ["a", "b", "a", "b"]), learner)
    learner = LEARNER().partial_fit(X, ["a", "b", "a", "b"])
    message = "Perceptron: y must be labels like the model's classes, 'a' of dtype <U1, got dtype int64."
    refused(message, lambda: learner.partial_fit(X, Y), learner)


def test_one_class_only_in_fit():
    for learner in (LEARNER(), LEARNER().partial_fit(X, Y)):
        message = "Perceptron: y must have at least 2 classes, got 1 class: {}. Give rows of another class too."
        refused(message.format(3), lambda: learner.fit(X, [3] * 4), learner)  # noqa: B023
        refused(message.format("'a'"), lambda: learner.fit(X, ["a"] * 4), learner)  # noqa: B023


# --- weights -------------------------------------------------------------------------------------------------------------------

WEIGHTS = {
    "negative": ([1, 1, -0.5, 1], "Perceptron: sample_weight must be finite and >= 0, got -0.5 at row 2. Leave a row "
        "out with weight 0."),
    "nan": ([1, np.nan, 1, 1], "Perceptron: sample_weight must be finite and >= 0, got nan at row 1. Leave a row out "
        "with weight 0."),
    "inf": ([1, 1, 1, np.inf], "Perceptron: sample_weight must be finite and >= 0, got inf at row 3. Leave a row out "
        "with weight 0."),
    "short": ([1, 1], "Perceptron: sample_weight.shape == (2,), expected (4,): one weight a row of X."),
    "2d": (np.ones((4, 1)), "Perceptron: sample_weight.shape == (4, 1), expected (4,): one weight a row of X."),
    "a huge integer": ([1, 10**400, 1, 1], "Perceptron: sample_weight must be numbers that fit float64, got one beyond it (int "
        "too large to convert to float). Scale them."),
    "scalar, a huge integer": (10**400, "Perceptron: sample_weight must be numbers that fit float64, got one beyond it (int "
        "too large to convert to float). Scale them."),
    "dates": (np.ones(4, "M8[s]"), "Perceptron: sample_weight must be numbers, got something else (dtype datetime64[s])."),
    "scalar nan": (np.nan, "Perceptron: sample_weight must be finite and >= 0, got nan at row 0. Leave a row out with weight 0."),
}


@pytest.mark.parametrize("weights, message", WEIGHTS.values(), ids=WEIGHTS)
def test_sample_weight(weights, message):
    refused_everywhere(message, X, sample_weight=weights)


def test_sample_weight_must_be_numbers():
    for weights in (["a"] * 4, np.ones(4) * 1j, [None] * 3 + [object()]):
        for learner in (LEARNER(), LEARNER().partial_fit(X, Y)):
            before = fingerprint(learner)
            with pytest.raises(ValueError, match=r"^Perceptron: sample_weight must be "):
                learner.partial_fit(X, Y, sample_weight=weights)
            assert fingerprint(learner) == before


def test_weights_all_zero_in_fit():
    message = "Perceptron: sample_weight must not be 0 for all rows, got 4 zeros. Leave it out for equal weights."
    refused_everywhere(message, X, methods=["fit"], sample_weight=np.zeros(4))


CLASS_WEIGHTS = {
    "negative": ({1: -2.0}, "Perceptron: class_weight must be finite and >= 0, got -2 for class 1."),
    "nan": ({0: np.nan}, "Perceptron: class_weight must be finite and >= 0, got nan for class 0."),
    "a huge integer": ({0: 10**400}, "Perceptron: class_weight must be numbers that fit float64, got one beyond it (int too "
        "large to convert to float). Scale them."),
    "lists of one": (
        {0: [1.0], 1: [1.0]}, "Perceptron: class_weight must have one number for a label, got {0: [1.0], 1: [1.0]}."),
    "text": ("auto", "Perceptron: class_weight must be None, 'balanced' or a dict of label: weight, got 'auto'."),
    "list": ([1.0, 2.0], "Perceptron: class_weight must be None, 'balanced' or a dict of label: weight, got [1.0, 2.0]."),
    "array": (np.array([1.0, 2.0]), "Perceptron: class_weight must be None, 'balanced' or a dict of label: weight, "
        "got array([1., 2.])."),
}


@pytest.mark.parametrize("weights, message", CLASS_WEIGHTS.values(), ids=CLASS_WEIGHTS)
def test_class_weight(weights, message):
    for classes in (None, [0, 1]):
        fresh, learner = LEARNER(class_weight=weights), LEARNER().partial_fit(X, Y).set_params(class_weight=weights)
        refused(message, lambda: fresh.partial_fit(X, Y, classes=classes), fresh)  # noqa: B023
        for call in (fresh.fit, learner.partial_fit, learner.fit):
            refused(message, lambda: call(X, Y), fresh, learner)  # noqa: B023


def test_a_class_weight_for_a_label_that_cannot_be_printed():
    """Python does not print integers of more than 4300 digits."""
    learner = LEARNER(class_weight={10**5000: 1.0})
    message = "Perceptron: class_weight must have classes for keys, got <int>, not among [0, 1]."
    refused(message, lambda: learner.fit(X, Y), learner)


def test_class_weight_must_hold_numbers():
    for learner in (LEARNER(), LEARNER().partial_fit(X, Y)):
        learner.set_params(class_weight={1: "heavy"})
        before = fingerprint(learner)
        for call in (learner.partial_fit, learner.fit):
            with pytest.raises(ValueError, match=r"^Perceptron: class_weight must be "):
                call(X, Y)
            assert fingerprint(learner) == before


# --- parameters ----------------------------------------------------------------------------------------------------------------

OUT_OF_RANGE = {
    "C": ([0.0, -1.0, np.nan, "1", None, True],
          "C must be a number > 0, got C={!r}. C caps the step; float('inf') gives the plain PA."),
    "r": ([0.0, -1.0, np.nan, np.inf, "1", None],
          "r must be 'auto' or a finite number > 0, got r={!r}. r is the noise variance of "
        "one row: 0.01 to 10 times the squared length of a row."),
    "epsilon": ([-1.0, np.inf, np.nan, "1", None], "epsilon must be a finite number >= 0, got epsilon={!r}. Residuals up to "
        "epsilon, in units of y, are no loss."),
    "p": ([1, 1.5, 0.0, np.nan, np.inf, "2"], "p must be None or a number in [2, 500], got p={!r}. 2 is the plain Perceptron, "
          "None max(2, 2 ln n_features). p <= 1 has no dual norm, p < 2 no bound."),
    "radius": ([0.0, -1.0, np.inf, None], "radius must be a finite number > 0, got radius={!r}. radius bounds the p-norm of the "
               "rows; 2**0.5 makes the steps of p = 2 those of PA-I."),
    "b": ([0.0, -1.0, np.nan, np.inf, "1", None], "b must be a finite number > 0, got b={!r}."),
    "eta": ([0.5, 1.0, 0.3, 2.0, np.nan, None],
            "eta must be a number in (0.5, 1), got eta={!r}. eta is the probability with which a row must be right; "
                "0.5 would ask for "
            "nothing."),
    "initial_variance": ([0.0, -1.0, np.inf, "a"], "initial_variance must be 'auto' or a finite number > 0, got "
        "initial_variance={!r}. It is the variance of each weight before the first row."),
    "eta0": ([0.0, -1.0, np.inf, np.nan, "a"],
             "eta0 must be 'auto' or a finite number > 0, got eta0={!r}. It is the size of a step."),
    "forgetting": ([-1e-9, 0.11, np.nan, "a", None],
                   "forgetting must be a number in [0, 0.1], got forgetting={!r}. Each row lets the "
                   "variances grow by 1/(1 - forgetting)."),
    "delta": ([0.0, -1.0, np.inf],
              "delta must be 'auto' or a finite number > 0, got delta={!r}. It keeps the first steps finite."),
    "l1": ([-1.0, 0.5], "l1 must be a number in [0, 0], got l1={!r}. Use update='dual_averaging' for l1 > 0."),
    "margin": ([0.0, -1.0, np.inf, "a"], "margin must be a finite number > 0, got margin={!r}. No score leaves "
        "[-norm_bound max|x|, norm_bound max|x|]: a margin beyond is never met."),
    "signed": (["yes", None, 1], "signed must be True or False, got signed={!r}."),
    "norm_bound": ([0.0, -1.0, np.inf, None, "a"],
                   "norm_bound must be 'auto' or a finite number > 0, got norm_bound={!r}. The weights' "
        "absolute values add up to at most norm_bound."),
    "aggressive": (["yes", None, 2], "aggressive must be one of False, True, got aggressive={!r}."),
    "loss": (["log", None], "loss must be one of 'hinge', 'squared_hinge', got loss={!r}."),
    "variant": (["SCW-I", None], "variant must be one of 'stdev', 'variance', got variant={!r}."),
    "update": (["sgd", None], "update must be one of 'mirror_descent', 'dual_averaging', got update={!r}."),
    "penalty": (["l2", "elasticnet"], "penalty must be None, got penalty={!r}. Online learners of this library take "
        "no penalty; for L1 "
                "see AdaGradClassifier(update='dual_averaging', l1=...)."),
    "fit_intercept": (["yes", None], "fit_intercept must be True or False, got fit_intercept={!r}."),
    "intercept_scaling": ([0.0, -1.0, np.inf, "a"], "intercept_scaling must be 'auto' or a finite number > 0, got "
        "intercept_scaling={!r}. It is the value of the constant feature, in units of the features."),
    "max_iter": ([0, 1.5, None], "max_iter must be an integer >= 1, got max_iter={!r}."),
    "tol": (["a", np.nan, np.inf], "tol must be None or a finite number, got tol={!r}."),
    "shuffle": (["yes"], "shuffle must be True or False, got shuffle={!r}."),
    "warm_start": ([None], "warm_start must be True or False, got warm_start={!r}."),
    "average": ([-1, 1.5, "a", None, 2**31], "average must be True or False or an integer in [1, 2147483647], got average={!r}."),
    "early_stopping": (["a"], "early_stopping must be True or False, got early_stopping={!r}."),
    "validation_fraction": ([0.0, 1.0, None], "validation_fraction must be a number in (0, 1), got validation_fraction={!r}."),
    "n_iter_no_change": ([0, 2.5], "n_iter_no_change must be an integer >= 1, got n_iter_no_change={!r}."),
    "verbose": ([-1, "a"], "verbose must be True or False or an integer >= 0, got verbose={!r}."),
    "probability": (["yes", None, 1], "probability must be True or False, got probability={!r}."),
    "multi_class": (["ova", None], "multi_class must be one of 'crammer_singer', 'ovr', got multi_class={!r}."),
    "loss_tol": ([0.0, -1.0, np.inf, np.nan, "a"], "loss_tol must be None or a finite number > 0, got loss_tol={!r}. fit then "
        "cycles until no squared loss is larger."),
    "n_jobs": (["a", 1.5], "n_jobs must be None or an integer, got n_jobs={!r}."),
    "dtype": (["int32", "a", np.float16], "dtype must be None, numpy.float32 or numpy.float64, got dtype={!r}."),
    "random_state": (["a", -1, 1.5], "random_state must be None, an integer in 0..2**32 - 1, a numpy RandomState or "
        "Generator, got {!r}."),
    "sigma": ([0.0, -1.0, np.inf, np.nan, "automatic"], "sigma must be None or 'auto' or a finite number > 0, got sigma={!r}. "
        "1/sigma is the largest step; 'auto' needs neither horizon nor scale."),
    "regularizer": (["l2", None], "regularizer must be one of 'euclidean', 'entropic', got regularizer={!r}."),
    "learning_rate": (["constant", None], "learning_rate must be one of 'strongly_convex', 'sqrt', got learning_rate={!r}."),
    "covariance": (["dense", None, True], "covariance must be one of 'diagonal', 'full', got covariance={!r}. "
        "'full' keeps n_features² numbers for each vector of weights."),
}
ONE_R = "r is the noise variance of one row: 0.01 to 10 times the squared length of a row."
OUT_OF_RANGE_IN = {
    ("SCWClassifier", "C"): ([0.0, -1.0, np.nan, "1", None],
                             "C must be a number > 0, got C={!r}. C caps the step; float('inf') gives the plain CW."),
    ("SCWClassifier", "variant"): (["stdev", None], "variant must be one of 'SCW-I', 'SCW-II', got variant={!r}."),
    **{(who, "epsilon"): ([-1.0, np.inf, np.nan, "1", None], "epsilon must be 'auto' or a finite number >= 0, got "
                          "epsilon={!r}. It is the radius of the ball, in units of the features.")
       for who in ("PassiveAggressiveOneClass", "MultiplicativePassiveAggressiveOneClass")},
    ("OGDClassifier", "alpha"): ([0.0, -1.0, np.inf, None], "alpha must be 'auto' or a finite number > 0, got alpha={!r}. "
                                 "The steps are 1/(alpha t)."),
    ("OGDRegressor", "alpha"): ([0.0, -1.0, np.inf, None], "alpha must be 'auto' or a finite number > 0, got alpha={!r}. "
                                "The steps are 1/(alpha t)."),
    ("OGDRegressor", "loss"): (["hinge", None], "loss must be one of 'absolute', 'squared', got loss={!r}."),
    **{(who, name): ([0.0, -1.0, np.inf, "auto"], f"{name} must be None or a finite number > 0, got {name}={{!r}}. " + ONE_R)
       for who in ("AROWClassifier", "AROWRegressor") for name in ("r1", "r2")},
    ("PassiveAggressiveClassifier", "margin"): (
        [0.0, -1.0, np.inf, None],
        "margin must be a finite number > 0, got margin={!r}. It is the margin y w.x from which on a row is no loss."),
    ("SecondOrderPerceptron", "r"): ([0.0, -1.0, np.nan, np.inf, "1", None, "auto"], "r must be a finite number > 0, got r={!r}. "
        "r is the noise variance of one row, where the variance of its score is about 1 at first."),
    **{(who, "margin"): ([0.0, -1.0, np.inf, None], "margin must be a finite number > 0, got margin={!r}. It is the margin y w.x "
                         "from which on a row is no loss.")
       for who in ("DualAscentClassifier", "PassiveAggressiveClassifier")},
    **{(who, "update"): (["DA4", None], "update must be one of 'DA1', 'DA2', 'DA3', got update={!r}.")
       for who in ("DualAscentClassifier", "DualAscentRegressor")},
    ("DualAscentRegressor", "loss"): (["hinge", None], "loss must be one of 'absolute', 'squared', got loss={!r}."),
    ("DualAscentClassifier", "loss"): (["squared_hinge", None], "loss must be one of 'hinge', 'log_loss', got loss={!r}."),
    ("PassiveAggressiveRegressor", "loss"): (["hinge", None], "loss must be one of 'epsilon_insensitive', "
                                             "'squared_epsilon_insensitive', got loss={!r}."),
}
NOT_CHECKED = {"alpha", "l1_ratio", "class_weight"}  # not used; tested above


@every_estimator
def test_every_parameter_has_its_range(estimator):
    who, names = estimator.__name__, estimator().get_params()
    checked = {name for name in names if name not in NOT_CHECKED or (who, name) in OUT_OF_RANGE_IN}
    assert all(name in OUT_OF_RANGE or (who, name) in OUT_OF_RANGE_IN for name in checked)
    for name in checked:
        values, message = OUT_OF_RANGE_IN.get((who, name)) or OUT_OF_RANGE[name]
        for value in values:
            fresh, learner = estimator(**{name: value}), estimator().partial_fit(X, Y).set_params(**{name: value})
            words = f"{who}: {message.format(value)}"
            refused(words, lambda: fresh.fit(X, Y), fresh)  # noqa: B023
            refused(words, lambda: learner.fit(X, Y), learner)  # noqa: B023
            if name != "random_state":  # partial_fit draws nothing
                refused(words, lambda: fresh.partial_fit(X, Y), fresh)  # noqa: B023
                refused(words, lambda: learner.partial_fit(X, Y), learner)  # noqa: B023
            learner.set_params(**{name: names[name]}).partial_fit(X, Y)
            assert learner.t_ == 8, "set right again, the model goes on"


def test_every_hyper_parameter_of_the_registry_is_in_the_table():
    for algorithm in (a for a in ALGORITHMS.values() if a.tasks != ("leader",)):  # (FoReL's: test_follow_the_leader.py)
        known = {*OUT_OF_RANGE, *(name for who, name in OUT_OF_RANGE_IN if who == algorithm.estimator)}
        assert {*algorithm.params, *algorithm.selects} <= known


def test_l1_of_dual_averaging():
    learner = onlinecls.AdaGradClassifier(update="dual_averaging", l1=-1.0)
    refused("AdaGradClassifier: l1 must be a finite number >= 0, got l1=-1.0.", lambda: learner.fit(X, Y), learner)
    learner.set_params(l1=0.1, average=True)
    message = (
        "AdaGradClassifier: average must be False with l1 > 0, got average=True and l1=0.1: the weights then change "
        "on every row, so "
        "that their average has no O(nnz) form."
    )
    refused(message, lambda: learner.fit(X, Y), learner)


RESTART = (
    "{}: partial_fit must go on with the kind of model it began with, got other values of average, of probability, of dtype or "
    "of the parameter that selects the algorithm. Call fit, or start with clone(estimator)."
)


def test_another_kind_of_model_in_partial_fit():
    kinds = [
        (onlinecls.AROWClassifier(), {"average": True}), (onlinecls.Perceptron(average=True), {"average": False}),
        (onlinecls.AdaGradClassifier(), {"update": "dual_averaging"}), (onlinecls.Perceptron(average=True), {"average": 10}),
    ]
    for learner, others in kinds:
        learner.partial_fit(X, Y)
        old = {name: getattr(learner, name) for name in others}
        message = RESTART.format(type(learner).__name__)
        refused(message, lambda: learner.set_params(**others).partial_fit(X, Y), learner)  # noqa: B023
        with pytest.raises(ValueError, match="NaN"):
            learner.fit(X * np.nan, Y)  # an error of fit must not open the way for partial_fit
        refused(message, lambda: learner.partial_fit(X, Y), learner)  # noqa: B023
        assert learner.set_params(**old).partial_fit(X, Y).t_ == 8
        assert learner.set_params(**others, max_iter=1).fit(X, Y).t_ == 4


def test_initial_weights():
    learner = onlinecls.Perceptron(dtype=np.float32)
    three = [0, 1, 2, 1]
    wrong = [
        ({"coef_init": np.ones(2)}, Y, "coef_init must have shape (1, 3), got (2,)."),
        ({"coef_init": np.ones((2, 3))}, Y, "coef_init must have shape (1, 3), got (2, 3)."),
        ({"intercept_init": np.ones(2)}, Y, "intercept_init must have shape (1,), got (2,)."),
        ({"coef_init": np.ones(9)}, three, "coef_init must have shape (3, 3), got (9,)."),
        ({"intercept_init": 1.0}, three, "intercept_init must have shape (3,), got ()."),
        ({"coef_init": [np.nan] * 3}, Y, "coef_init must be finite and within float32, got a value that is not."),
        ({"coef_init": [1e300] * 3}, Y, "coef_init must be finite and within float32, got a value that is not."),
    ]
    for given, y, message in wrong:
        refused("Perceptron: " + message, lambda: learner.fit(X, y, **given), learner)  # noqa: B023
    wide = np.column_stack([X, X[:, 0]])
    message = "Perceptron: coef_init must have shape (3, 4), got (4, 3)."
    refused(message, lambda: learner.fit(wide, three, coef_init=np.ones((4, 3))), learner)
    learner.set_params(intercept_scaling=1e-300)
    with pytest.raises(ValueError, match=r"^Perceptron: intercept_init must be "):
        learner.fit(X, Y, intercept_init=[1.0])
    assert fingerprint(learner) is None


@every_estimator
def test_not_fitted(estimator):
    learner, message = (
        estimator(),
        f"{estimator.__name__}: this model has not been fitted yet. Call 'fit' or 'partial_fit' first.",
    )
    of_task = {
        "classifier": (["predict", "decision_function"], ["n_mistakes_"]),
        "regressor": (["predict"], ["progressive_mse_", "progressive_mae_"]),
        "outlier_detector": (["predict", "decision_function", "score_samples"], ["center_", "offset_", "n_mistakes_"]),
    }
    methods, attributes = of_task[estimator._estimator_type]
    for name in methods:
        refused(message, lambda: getattr(learner, name)(X), learner)  # noqa: B023
    weights = () if estimator._estimator_type == "outlier_detector" else ("coef_", "intercept_")
    for name in (*weights, "t_", "n_updates_", "n_skipped_", *attributes):
        refused(message, lambda: getattr(learner, name), learner)  # noqa: B023
        assert not hasattr(learner, name)
    if weights:
        refused(message, lambda: learner.score(X, Y), learner)
        refused(message, learner.densify, learner)
        refused(message, learner.sparsify, learner)


def test_unknown_parameters():
    learner = onlinecls.AROWClassifier(r=2.0)
    with pytest.raises(
        ValueError, match=r"^Invalid parameter 'C' for estimator AROWClassifier\(r=2.0\). Valid parameters are: \['average', "
    ):
        learner.set_params(r=3.0, C=1.0)
    assert learner.r == 2.0


def test_early_stopping_without_rows_to_hold_out():
    learner = LEARNER(early_stopping=True)
    message = (
        "Perceptron: early_stopping must have two rows of some class, one to learn from and one to hold out, got 2 "
        "rows of as many "
        "classes. Give more rows, or early_stopping=False."
    )
    refused(message, lambda: learner.fit(X[:2], Y[:2]), learner)


def test_score_without_weight():
    learner = LEARNER().partial_fit(X, Y)
    with pytest.raises(ValueError, match=r"^Perceptron: sample_weight must not be 0 for all rows"):
        learner.score(X, Y, sample_weight=np.zeros(4))


def test_fit_with_slack_behind_the_last_row():
    """indptr may end before indices do; whatever fit then does, it keeps the old model or makes a whole new one."""
    rows, y = np.repeat(X, 5, axis=0), np.repeat(Y, 5)
    slack = sparse.csr_matrix(rows)
    slack.indices, slack.data = np.append(slack.indices, 1), np.append(slack.data, 7.0)
    for others in ({}, {"early_stopping": True}):
        learner = onlinecls.AROWClassifier(random_state=0, **others).fit(slack, y)
        assert fingerprint(learner) == fingerprint(onlinecls.AROWClassifier(random_state=0, **others).fit(rows, y))


# --- strange, but valid --------------------------------------------------------------------------------------------------------


def test_integral_floats_are_labels():
    learner = LEARNER().partial_fit(X, [1.0, -1.0, 1.0, -1.0])
    assert learner.classes_.tolist() == [-1.0, 1.0] and learner.partial_fit(X, [1, -1, 1, -1]).t_ == 8
    assert (LEARNER().partial_fit(X, [1, -1, 1, -1]).coef_ == LEARNER().partial_fit(X, [1.0, -1.0, 1.0, -1.0]).coef_).all()


EXTREMES = {
    "float64 1e300": (np.float64, 1e300), "float64 1e155": (np.float64, 1e155), "float64 1e-160": (np.float64, 1e-160),
    "float64 denormal": (np.float64, 5e-324), "float64 max": (np.float64, np.finfo(np.float64).max),
    "float32 3e38": (np.float32, 3e38), "float32 1e19": (np.float32, 1e19), "float32 1e-20": (np.float32, 1e-20),
    "float32 1e-40": (np.float32, 1e-40), "float32 denormal": (np.float32, 1e-45),
}


@pytest.mark.parametrize("dtype, size", EXTREMES.values(), ids=EXTREMES)
@every_case
def test_extreme_values_make_a_finite_model(case, dtype, size):
    rng = np.random.default_rng(0)
    for n_classes, multi_class in ((2, "ovr"), (3, "ovr"), (3, "crammer_singer")):
        rows, y = rng.choice([-1.0, -0.5, 0.0, 1e-3, 1.0], size=(40, 5)), rng.integers(0, n_classes, 40)
        rows = (rows * dtype(size)).astype(dtype)
        rows[20:, 1:] = rng.standard_normal((20, 4))  # and after the storm ordinary rows
        for average in (False, True) if case.can_average else (False,):
            learner = case.estimator(multi_class=multi_class, average=average).partial_fit(rows, y)
            assert is_finite(learner) and learner.coef_.dtype == dtype
            assert learner.t_ == 40 and learner.n_skipped_ <= 40 and learner.n_updates_ <= 40
            assert is_finite(pickle.loads(pickle.dumps(learner)))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weight", [1e300, 1e-300, 5e-324, 1e38, 1e-40])
@every_case
def test_extreme_weights_make_a_finite_model(case, weight, dtype):
    rng = np.random.default_rng(0)
    for n_classes, multi_class in ((2, "ovr"), (3, "ovr"), (3, "crammer_singer")):
        rows, y = rng.standard_normal((40, 5)).astype(dtype), rng.integers(0, n_classes, 40)
        for others in ({}, {"average": True}, {"class_weight": {0: 1e300}}, {"class_weight": "balanced"}):
            if others.get("average") and not case.can_average:
                continue
            learner = case.estimator(multi_class=multi_class, **others).partial_fit(
                1e4 * rows, y, sample_weight=np.full(40, weight)
            )
            assert is_finite(learner) and learner.n_skipped_ <= learner.t_ == 40


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_extreme_parameters_make_a_finite_model(dtype):
    rng = np.random.default_rng(0)
    rows, y = rng.standard_normal((60, 4)).astype(dtype), rng.integers(0, 2, 60)
    tiny, huge = 1e-300, 1e300
    learners = [
        onlinecls.Perceptron(eta0=huge), onlinecls.Perceptron(eta0=tiny), onlinecls.PassiveAggressiveClassifier(C=huge),
        onlinecls.PassiveAggressiveClassifier(C=tiny, loss="squared_hinge"),
        onlinecls.AROWClassifier(r=huge), onlinecls.AROWClassifier(r=tiny),
        onlinecls.NAROWClassifier(b=huge), onlinecls.NAROWClassifier(b=tiny), onlinecls.SecondOrderPerceptron(r=huge),
        onlinecls.SecondOrderPerceptron(r=tiny, aggressive=True),
        onlinecls.AdaGradClassifier(eta0=huge), onlinecls.AdaGradClassifier(delta=tiny),
        onlinecls.AdaGradClassifier(eta0=huge, delta=tiny, update="dual_averaging"),
        onlinecls.AdaGradClassifier(delta=tiny, update="dual_averaging"), onlinecls.AdaGradClassifier(delta=huge, eta0=huge),
        onlinecls.ConfidenceWeightedClassifier(eta=1 - 1e-16), onlinecls.ConfidenceWeightedClassifier(eta=0.5 + 1e-16),
        onlinecls.ConfidenceWeightedClassifier(initial_variance=huge),
        onlinecls.ConfidenceWeightedClassifier(initial_variance=tiny),
        onlinecls.ConfidenceWeightedClassifier(initial_variance=huge, variant="variance"),
        onlinecls.Perceptron(intercept_scaling=huge), onlinecls.Perceptron(intercept_scaling=tiny),
        onlinecls.Perceptron(intercept_scaling=1e39),
        onlinecls.AROWClassifier(intercept_scaling=1e39), onlinecls.ConfidenceWeightedClassifier(intercept_scaling=1e39),
    ]
    for learner in learners:
        for scale in (1.0, 1e-30):
            learnt = type(learner)(**learner.get_params())
            try:
                learnt.partial_fit((rows * scale).astype(dtype), y)
            except ValueError as error:  # what float32 cannot hold is refused
                name = str(error).split()[1]
                got = getattr(learner, name)
                largest = float(np.finfo(dtype).max) / 4
                largest = largest**0.5 if name == "intercept_scaling" else largest
                floor = float(np.finfo(dtype).tiny) / float(np.finfo(dtype).eps)
                bound = f"at least {floor:.2g}" if got < 1.0 else f"at most {largest:.2g}"
                words = f"{type(learner).__name__}: {name} must fit {np.dtype(dtype)}, {bound}, got {name}={got!r}."
                assert str(error) == words and fingerprint(learnt) is None
            else:
                assert is_finite(learnt), f"{learner} on rows of size {scale}"


def test_a_smaller_initial_variance_later_is_no_way_round_the_limit():
    rng = np.random.default_rng(0)
    rows, y = rng.standard_normal((60, 4)).astype(np.float32), rng.integers(0, 2, 60)
    learner = onlinecls.ConfidenceWeightedClassifier(initial_variance=1e30).partial_fit(rows[:1], y[:1], classes=[0, 1])
    learner.set_params(initial_variance=1e-30)
    for scale in (1e15, 1e-15, 1e-30, 1.0):
        learner.partial_fit((rows * scale).astype(np.float32), y)
        assert is_finite(learner)


@pytest.mark.parametrize(
    "estimator",
    sorted({type(case.estimator()) for case in ALL + REGRESSION if case.can_average}, key=str),
    ids=lambda c: c.__name__,
)
def test_the_latest_start_of_an_average(estimator):
    """2**31 - 1 is the largest that the kernels can count from: a later start is refused above, not wrapped around to none."""
    learner, plain = estimator(average=2**31 - 1), estimator()
    targets = np.array([0, 1, 0, 1])
    assert (learner.partial_fit(X, targets).coef_ == plain.partial_fit(X, targets).coef_).all()
    assert len(learner._state.correction) and not learner._state.correction.any()


@pytest.mark.parametrize("first, second", [
    (np.array([2**53, 2**53 + 1, 3]), np.array([1.0, 2.0, 3.0])),
    (np.array([2**64 - 1, 2**64 - 2, 3], "u8"), np.array([-1, -2, 3])),
    (np.array([1, 2, 3]), np.array([2**64 - 1, 2, 3], "u8")),
], ids=["floats", "signed", "unsigned"])
def test_labels_that_would_become_one_do_not_join(first, second):
    learner = onlinecls.AROWClassifier().partial_fit(np.eye(3), first)
    before = fingerprint(learner)
    with pytest.raises(ValueError, match="become float64, which must tell labels apart, got"):
        learner.partial_fit(np.eye(3), second)
    assert fingerprint(learner.partial_fit(np.eye(3)[:0], [])) == before  # (no labels are of any type)
    assert learner.partial_fit(np.eye(3), first).t_ == 6


def test_a_list_of_labels_beside_a_class_beyond_int64():
    learner = onlinecls.AROWClassifier().partial_fit(np.eye(3), np.array([2**64 - 1, 2, 3], "u8"))
    with pytest.raises(ValueError, match="become float64"):
        learner.partial_fit(np.eye(3), [1, 2, 3])
    assert learner.partial_fit(np.eye(3), [2, 3, 2]).t_ == 6


def test_columns_of_an_arrow_table_have_names():
    pa = pytest.importorskip("pyarrow")
    table = pa.table({name: np.arange(4.0) for name in "abc"})
    learner = onlinecls.AROWClassifier().partial_fit(table, [0, 1, 0, 1])
    assert learner.feature_names_in_.tolist() == ["a", "b", "c"]
    for other in (table.select(["c", "b", "a"]), table.select(["c", "b", "a"]).to_pandas()):
        with pytest.raises(ValueError, match="feature names should match"):
            learner.predict(other)


def test_only_models_are_merged():
    with pytest.raises(TypeError, match=r"merge: models must be estimators of this library, got 1\."):
        onlinecls.merge([1, 2])
