"""Matrices of every kind, sound or forged: the model that the same rows make dense, or an error with the model untouched."""

import itertools
import pickle

import numpy as np
import pytest
from fuzz.learners import forge
from matrices import MATRIX_KINDS
from matrices import dense_unaligned as unaligned
from scipy import sparse
from states import fingerprint, is_finite

import onlinecls
from onlinecls._input import validate
from onlinecls._rows import converted


def test_an_average_over_many_rounds_of_huge_weights_is_finite():
    for learner in (
        onlinecls.Perceptron(average=True, fit_intercept=False),
        onlinecls.SecondOrderPerceptron(average=True, fit_intercept=False),
    ):
        X, y = np.zeros((5000, 2)), np.ones(5000, int)
        X[2000::500] = [1e3, -1e3]
        X[2000::1000] = [-1e3, 1e3]
        learner.partial_fit(X, y, classes=[0, 1], sample_weight=np.full(5000, 1e304))
        assert is_finite(learner)


@pytest.mark.parametrize("labels", [[0, 1, 1, 0], [1.0, 2.0, 2.0, 1.0], ["ham", "spam", "spam", "ham"]], ids=str)
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_compiled_code_reads_aligned_arrays_only(index, labels):
    """(That it does, only the sanitizers see: x86 reads others, too.)"""
    X, y, models = sparse.csr_matrix(np.random.default_rng(0).standard_normal((4, 4))), np.array(labels), []
    for part in ("nothing", "data", "indices", "indptr", "labels", "weights"):
        given = {"data": X.data, "indices": X.indices.astype(index), "indptr": X.indptr.astype(index), "labels": y,
                 "weights": np.arange(4.0)}
        given.update({name: unaligned(array) for name, array in given.items() if name == part})
        moved = X.copy()
        moved.data, moved.indices, moved.indptr = given["data"], given["indices"], given["indptr"]
        rows = validate.read_rows("test", moved, None)
        assert all(array.flags.aligned for array in (rows.data, rows.indices, rows.indptr))
        assert validate.read_weights("test", given["weights"], 4).flags.aligned
        learner = onlinecls.AROWClassifier(dtype="float64").partial_fit(X, y)
        models.append(fingerprint(learner.partial_fit(moved, given["labels"], sample_weight=given["weights"])))
        assert learner.predict(moved).tolist() == learner.predict(X).tolist()
    assert all(model == models[0] for model in models)


def forged(data, indices, indptr, n_columns):
    """A CSR matrix of these arrays, unchecked."""
    X = sparse.csr_matrix((0, 0), dtype=data.dtype)
    X.data, X.indices, X.indptr, X._shape = data, indices, indptr, (len(indptr) - 1, n_columns)
    return X


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_indices_at_the_ends_of_their_type_are_outside_any_matrix(index):
    """last - index would overflow."""
    info, indptr = np.iinfo(index), np.array([0, 3], index)
    for n_columns in (1, 5, 2**31 - 1, 2**31, 2**31 + 7, 2**63 - 1):
        for wild in (info.min, info.min + 1, -1, 2**31 - 1, 2**31, 2**31 + 1, 2**32, 2**32 + 1, n_columns, info.max):
            for at in range(3):
                indices = np.arange(3)
                indices[at] = wild if wild <= info.max else -1
                is_right = 0 <= wild < min(n_columns, 2**31) and wild <= info.max and n_columns > 2
                X = forged(np.ones(3), indices.astype(index), indptr, n_columns)
                rows = converted(X, None)
                assert (rows is not None) == is_right
                if is_right:
                    assert rows.array().sum() == 3.0 and set(rows.indices.tolist()) <= {*range(3), wild}


def what_is_wrong(indices, indptr, n_columns, values):
    """The checks of `converted`, slowly."""
    if indptr[0] != 0 or (np.diff(indptr) < 0).any() or indptr[-1] > len(indices):
        return "indptr"
    indices, values = indices[: indptr[-1]], values[: indptr[-1]]
    if len(indices) and not 0 <= indices.min() <= indices.max() < n_columns:
        return "indices"
    row = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    if not np.isfinite(values).all():
        return "values"
    return "order" if ((np.diff(indices) <= 0) & (np.diff(row) == 0)).any() else ""


@pytest.mark.parametrize("value", [np.float32, np.float64])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_rows_are_checked_wherever_the_fault_is(index, value):
    """A fault is put wherever a row or the matrix begins or ends; slack behind the last row is ignored."""
    rng, wide = np.random.default_rng(0), 10_000
    found = set()
    for lengths in ([0, 2047, 0, 1, 1, 2046, 2, 0, 300, 0], [500], [1] * 250, [0, 0, 40, 0]):
        indptr = np.append(0, np.cumsum(lengths)).astype(index)
        nnz = indptr[-1]
        indices = np.concatenate([np.sort(rng.choice(wide, n, replace=False)) for n in lengths]).astype(index)
        values = rng.standard_normal(nnz).astype(value)
        ends = {*indptr[:12].tolist(), int(nnz)}
        places = sorted({at for end in ends for at in (end - 1, end, end + 1) if 0 <= at < nnz})
        kinds = ("low", "high", "order", "nan", "inf", "twice")
        for kind, at in [("", 0), *itertools.product(kinds, places)]:
            x, v = indices.copy(), values.copy()
            if kind in ("low", "high"):
                x[at] = -1 if kind == "low" else wide
            elif kind in ("order", "twice") and at:
                x[at] = x[at - 1] - (kind == "order" and x[at - 1] > 0)
            elif kind in ("nan", "inf"):
                v[at] = {"nan": np.nan, "inf": -np.inf}[kind]
            for slack in (0, 3):
                X = forged(np.append(v, np.full(slack, np.nan, value)), np.append(x, np.full(slack, -1, index)), indptr, wide)
                expected = what_is_wrong(X.indices, indptr, wide, X.data)
                rows = converted(X, None)
                assert (rows is not None) == (expected in ("", "order")), (lengths[:5], kind, at)
                if rows is not None:
                    summed = sparse.csr_matrix((v, x, indptr), shape=X.shape, copy=True)
                    summed.sum_duplicates()
                    assert (rows.data.tobytes(), rows.indices.tolist(), rows.indptr.tolist()) == (
                        summed.data.tobytes(), summed.indices.tolist(), summed.indptr.tolist())
                found.add(expected)
    assert found == {"", "indices", "order", "values"}


def test_forged_matrices_are_refused_or_learnt_as_the_table_that_they_say():
    rng, y, learned = np.random.default_rng(0), [0, 1, 0, 1, 1, 0], 0
    learnt = pickle.dumps(onlinecls.AROWClassifier(dtype="float64").partial_fit(np.eye(6, 5), y))
    for k in range(1500):
        kind = "csr" if k % 3 else ["csc", "coo", "bsr", "dia", "lil", "dok"][k // 3 % 6]
        X = sparse.random(6, 5, 0.5, format="csr", random_state=rng, dtype=[np.float64, np.float32][k % 2]).asformat(kind)
        forge(rng, X)
        model = pickle.loads(learnt)
        try:
            model.partial_fit(X, y)
        except (ValueError, TypeError) as error:
            assert fingerprint(model) == fingerprint(pickle.loads(learnt)), error
            continue
        if kind == "csr":
            table = np.zeros((6, 5), X.data.dtype if X.data.dtype in (np.float32, bool) else np.float64)
            for i in range(6):
                for at in range(X.indptr[i], X.indptr[i + 1]):
                    table[i, X.indices[at]] += X.data[at]
            assert fingerprint(model) == fingerprint(pickle.loads(learnt).partial_fit(table, y))
            learned += 1
    assert 250 < learned < 900, learned
    X = sparse.dia_matrix(np.eye(6, 5))
    X.data = np.ones((2**20, 5))  # (more diagonals than offsets, which scipy reads all the same)
    pytest.raises(ValueError, pickle.loads(learnt).partial_fit, X, y).match("must be a valid sparse matrix")  # noqa: RUF061


def test_what_a_type_of_rows_cannot_hold_is_refused_with_its_place():
    """Numbers that are none and numbers beyond float32, without a warning of NumPy's; an indptr that is too long or too short."""
    for kind in (np.array, sparse.csr_matrix):
        for value, dtype in itertools.product((np.nan, -np.inf, 1e300), (np.float32, np.float64)):
            table = np.eye(6, 5, dtype=np.float64)
            table[1, 2] = value
            learner = onlinecls.Perceptron(dtype=dtype)
            if value == 1e300 and dtype is np.float64:
                learner.partial_fit(kind(table), [0, 1] * 3)
                continue
            required = r"finite in float32, got 1e\+300 at row 1, column 2" if value == 1e300 else ""
            with pytest.raises(ValueError, match=f"^Perceptron: X must be .*{required}"):
                learner.partial_fit(kind(table), [0, 1] * 3)
    for change in (lambda indptr: indptr[:-1], lambda indptr: np.append(indptr, indptr[-1])):
        X = sparse.csr_matrix(np.eye(6, 5))
        X.indptr = change(X.indptr)
        with pytest.raises(ValueError, match=r"^Perceptron: X"):
            onlinecls.Perceptron().partial_fit(X, [0, 1] * 3)


def test_a_stream_is_checked_before_it_is_cut():
    """progressive_validation itself follows the indptr of a matrix that it cuts."""
    X, y = sparse.random(30, 5, 0.5, format="csr", random_state=0), [0, 1] * 15
    for name, values in (("indptr", X.indptr[:-1]), ("indptr", X.indptr[::-1].copy()), ("data", np.ones((X.nnz, 2)))):
        bad, learner = X.copy(), onlinecls.Perceptron()
        setattr(bad, name, values)
        with pytest.raises(ValueError, match=r"^progressive_validation: X"):
            onlinecls.progressive_validation(learner, (bad, y), every=10)
        assert fingerprint(learner) is None


# --- sound ones ----------------------------------------------------------------------------------------------------------------

TABLE = sparse.random(30, 7, 0.4, random_state=np.random.RandomState(0)).toarray().astype(np.float32)
TABLE[[0, 4, 5, 29]] = 0.0


def table_of(rows):
    found = rows.array()
    return found.toarray() if sparse.issparse(found) else found


def stored(kind, values):
    """Even numbers and zeros, as a matrix of the kind with values of this type."""
    X = kind(2.0 * (TABLE != 0) if values is bool else 2.0 * np.abs(8 * TABLE).round())
    if isinstance(X, list):
        return np.asarray(X).astype(values).tolist()
    if getattr(X, "format", "") == "csr":  # (scipy makes no matrices of some types)
        X.data = X.data.astype(values)
        return X
    return X.astype(values) if getattr(X, "dtype", None) != values else X


@pytest.mark.parametrize("values", [np.float32, np.float64, np.float16, np.longdouble, np.int8, np.uint64, bool, object])
def test_all_storages_make_the_same_rows_and_models(values):
    """To the bit, without a change of what was given, in calls that C reads and in those that Python reads."""
    y = np.arange(30) % 3
    kinds = {**MATRIX_KINDS, "frame": pytest.importorskip("pandas").DataFrame}
    if values in (object, np.float16):
        kinds = {name: kind for name, kind in kinds.items() if name.startswith((*["csr"][values is object :], "dense", "frame"))}
    table = stored(np.array, values).astype(np.float64)
    models = set()
    for name, kind in kinds.items():
        for dtype in (None, np.float32, np.float64):
            X = stored(kind, values)
            before = pickle.dumps(X)
            rows = validate.read_rows("test", X, dtype)
            own = np.float32 if values is np.float32 and name != "list_of_lists" else np.float64
            assert rows.data.dtype == (own if dtype is None else dtype), name
            assert (table_of(rows) == table).all(), name
            assert np.shares_memory(converted(rows.array(), None).data, rows.data) and pickle.dumps(X) == before
        model = onlinecls.AROWClassifier(dtype="float64").partial_fit(X, y)
        model.partial_fit(X, y).partial_fit(X, y, sample_weight=[1.0] * 30)
        models.add((model.decision_function(X).tobytes(), model.coef_.tobytes(), model.covariance_.tobytes()))
        assert pickle.dumps(X) == before
    assert len(models) == 1


def test_duplicates_are_summed_in_the_order_in_which_they_came():
    """In any other order other digits would be lost."""
    rng = np.random.default_rng(0)
    values = rng.standard_normal(2000) * 10.0 ** rng.integers(-8, 8, 2000)
    X = sparse.csr_matrix((values, np.arange(2000) % 2, [0, 0, 2000]), shape=(2, 3))
    rows = converted(X, None)
    assert rows.data.tolist() == [np.cumsum(values[at::2])[-1] for at in (0, 1)]
    assert rows.indices.tolist() == [0, 1] and rows.indptr.tolist() == [0, 0, 2]


def test_a_column_may_have_the_name_of_an_attribute_of_sparse_matrices():
    pandas = pytest.importorskip("pandas")
    named = pandas.DataFrame(TABLE[:, :3], columns=["format", "indices", "shape"])
    assert (table_of(validate.read_rows("test", named, None)) == TABLE[:, :3]).all()


@pytest.mark.parametrize("classes", [[-3, -1, 0, 2, 7], list(range(5, 60, 3)), [0, 1, 2**62]])
def test_labels_are_encoded_by_table_as_by_search(classes):
    classes = np.array(classes)
    y = np.random.default_rng(0).choice(classes, 3000)
    codes, unknown = validate.encode("Learner", y, classes)
    assert unknown is None and codes.dtype == np.int32 and (codes == np.searchsorted(classes, y)).all()
    y[7] = classes[0] + 1
    assert y[7] in classes or np.flatnonzero(validate.encode("Learner", y, classes, True)[1]).tolist() == [7]
