"""Hostile sparse matrices: an error with the model untouched, or the model that the same rows make dense. Never a crash."""

import itertools
import pickle
import subprocess
import sys

import numpy as np
import pytest
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


BEFORE_SCIPY_CONVERTS = """
import numpy as np, onlinecls
from scipy import sparse
X = sparse.random(60, 40, 0.3, random_state=0)
bad = {
    "csc": sparse.csc_matrix(X), "csc_indptr": sparse.csc_matrix(X), "bsr": sparse.bsr_matrix(X), "coo": sparse.coo_array(X),
    "csc_empty": sparse.csc_matrix(X), "bsr_empty": sparse.bsr_matrix(X), "dia": sparse.dia_matrix(X),
    "lil": sparse.lil_matrix(X),
}
bad["csc"].indices[3] = bad["coo"].row[3] = bad["csc_indptr"].indptr[-1] = bad["bsr"].indptr[-1] = 2**30
bad["dia"].offsets = np.zeros(len(bad["dia"].offsets), int)
bad["lil"].rows = bad["lil"].rows[:9]
for empty in (bad["csc_empty"], bad["bsr_empty"]):
    empty.data, empty.indices, empty.indptr[1:] = empty.data[:0], empty.indices[:0], 0
    empty.indptr[1:3] = 10**8, -10**8
learner = onlinecls.Perceptron().partial_fit(np.eye(2, 40), [0, 1])
before = learner._state.values.tobytes()
for name, matrix in bad.items():
    print(name, flush=True)
    try:
        learner.partial_fit(matrix, [0, 1] * 30)
    except ValueError as error:
        assert learner._state.values.tobytes() == before
        print("refused")
"""


def test_a_damaged_matrix_of_another_format_does_not_crash_its_conversion():
    """Run in a process of its own, as scipy's tocsr writes wherever an index points to."""
    run = subprocess.run([sys.executable, "-c", BEFORE_SCIPY_CONVERTS], capture_output=True, text=True)
    assert (run.returncode, run.stdout.count("refused")) == (0, 8), run.stdout + run.stderr


def test_compiled_code_sees_aligned_arrays_only():
    X = np.random.default_rng(0).standard_normal((6, 4))
    csr = sparse.csr_matrix(X)
    for index in (np.int32, np.int64):
        moved = csr.copy()
        moved.data, moved.indices = unaligned(csr.data), unaligned(csr.indices.astype(index))
        moved.indptr = unaligned(csr.indptr.astype(np.int64))
        rows = validate.read_rows("test", moved, None)
        assert all(array.flags.aligned for array in (rows.data, rows.indices, rows.indptr))
        assert rows.data.tolist() == csr.data.tolist() and rows.indices.tolist() == csr.indices.tolist()
    for rows in (validate.read_rows("test", unaligned(X), None), validate.read_rows("test", unaligned(X.T), None)):
        assert rows.data.flags.aligned
    y = unaligned(np.arange(6.0))
    assert not y.flags.aligned
    assert validate.read_targets("test", y, 6).flags.aligned and validate.read_weights("test", y, 6).flags.aligned
    aligned = onlinecls.AROWRegressor().partial_fit(X, np.arange(6.0), sample_weight=np.arange(6.0))
    assert fingerprint(onlinecls.AROWRegressor().partial_fit(unaligned(X), y, sample_weight=y)) == fingerprint(aligned)


@pytest.mark.parametrize("labels", [[0, 1, 1, 0], [1.0, 2.0, 2.0, 1.0], ["ham", "spam", "spam", "ham"]], ids=str)
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_small_calls_read_aligned_arrays_only(index, labels):
    """(That they do, only the sanitizers see: x86 reads others, too.)"""
    X, y, models = sparse.csr_matrix(np.random.default_rng(0).standard_normal((4, 4))), np.array(labels), []
    for part in ("nothing", "data", "indices", "indptr", "labels", "weights"):
        given = {"data": X.data, "indices": X.indices.astype(index), "indptr": X.indptr.astype(index), "labels": y,
                 "weights": np.arange(4.0)}
        given.update({name: unaligned(array) for name, array in given.items() if name == part})
        moved = X.copy()
        moved.data, moved.indices, moved.indptr = given["data"], given["indices"], given["indptr"]
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


WILD = (-1, 0, 1, 4, 5, 6, 7, 127, 2**31 - 1, 2**31, -(2**31), 2**32, 2**32 + 1, 2**62, 2**63 - 1, -(2**63))
SHAPES = [(6, 2**31 + 1), (6, 4), (5, 5), (7, 5), (2**62, 5), (6,), (6, 5, 1), (-1, 5)]
TYPES = [np.int32, np.int64, np.int8, np.uint16, np.uint32, np.uint64, np.float64, np.float32, np.bool_]


def changed(rng, part):
    """An array of a matrix after one change."""
    part, at = part.copy(), int(rng.integers(max(len(part), 1)))
    match rng.integers(8):
        case 0 | 1 if len(part):
            with np.errstate(all="ignore"):
                part[at : at + 1] = np.array([WILD[rng.integers(len(WILD))]]).astype(part.dtype)
        case 2:
            part = part[: -int(rng.integers(1, 3))]
        case 3:
            part = np.append(part, part[:2])
        case 4:
            part = np.repeat(part, 2)[::2]
        case 5:
            with np.errstate(all="ignore"):
                part = part.astype(TYPES[rng.integers(len(TYPES))])
        case 6 if len(part) > 1:
            other = int(rng.integers(len(part)))
            part[[at, other]] = part[[other, at]]
        case 7:
            part = unaligned(part)
    return part


def test_forged_matrices_are_refused_or_learnt_as_the_table_that_they_say():
    rng, y = np.random.default_rng(0), [0, 1, 0, 1, 1, 0]
    learnt = pickle.dumps(onlinecls.AROWClassifier(dtype="float64").partial_fit(np.eye(6, 5), y))
    learned = 0
    for _ in range(3000):
        X = sparse.random(6, 5, 0.5, format="csr", random_state=rng, dtype=[np.float64, np.float32][rng.integers(2)])
        for _ in range(rng.integers(1, 4)):
            name = ("data", "indices", "indptr")[rng.integers(3)]
            setattr(X, name, changed(rng, getattr(X, name)))
        if rng.random() < 0.05:
            X._shape = SHAPES[rng.integers(len(SHAPES))]
        model = pickle.loads(learnt)
        try:
            model.partial_fit(X, y)
        except (ValueError, TypeError) as error:
            assert fingerprint(model) == fingerprint(pickle.loads(learnt)), error
            continue
        table = np.zeros((6, 5), X.data.dtype if X.data.dtype in (np.float32, bool) else np.float64)
        for i in range(6):
            for k in range(X.indptr[i], X.indptr[i + 1]):
                table[i, X.indices[k]] += X.data[k]
        assert fingerprint(model) == fingerprint(pickle.loads(learnt).partial_fit(table, y))
        learned += 1
    assert 500 < learned < 2500, learned


def test_a_stream_is_checked_before_it_is_cut():
    """progressive_validation itself follows the indptr of a matrix that it cuts."""
    X, y = sparse.random(30, 5, 0.5, format="csr", random_state=0), [0, 1] * 15
    for name, values in (("indptr", X.indptr[:-1]), ("indptr", X.indptr[::-1].copy()), ("data", np.ones((X.nnz, 2)))):
        bad, learner = X.copy(), onlinecls.Perceptron()
        setattr(bad, name, values)
        with pytest.raises(ValueError, match=r"^progressive_validation: X"):
            onlinecls.progressive_validation(learner, (bad, y), every=10)
        assert fingerprint(learner) is None
