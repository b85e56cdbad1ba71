"""Hostile sparse matrices: an error with the model untouched, or the model that the same rows make dense. Never a crash."""

import itertools
import subprocess
import sys

import numpy as np
import pytest
from matrices import dense_unaligned as unaligned
from scipy import sparse
from states import fingerprint, is_finite

import onlinecls
from onlinecls._input import validate
from onlinecls._input.check import check_rows


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
bad["dia"].offsets = np.full(len(bad["dia"].offsets), -2**63)
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


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_indices_at_the_ends_of_their_type_are_outside_any_matrix(index):
    """last - index would overflow."""
    info, indptr = np.iinfo(index), np.array([0, 3])
    for n_columns in (1, 5, 2**31 - 1, 2**31, 2**31 + 7, 2**63 - 1):
        for wild in (info.min, info.min + 1, -1, n_columns, info.max):
            outside = not 0 <= wild < n_columns
            for at in range(3):
                indices = np.array([0, 0, 0])
                indices[at] = wild if wild <= info.max else -1
                found = check_rows(indices.astype(index), indptr, n_columns, np.empty(0, np.uint32))
                assert (found == "indices") == (outside or wild > info.max)


def what_is_wrong(indices, indptr, n_columns, values):
    """`check_rows`, slowly."""
    if indptr[0] != 0 or (np.diff(indptr) < 0).any() or indptr[-1] > len(indices):
        return "indptr"
    indices, values = indices[: indptr[-1]], values[: indptr[-1]]
    if len(indices) and not 0 <= indices.min() <= indices.max() < n_columns:
        return "indices"
    row = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    if ((np.diff(indices) <= 0) & (np.diff(row) == 0)).any():
        return "order"
    return "" if np.isfinite(values).all() else "values"


@pytest.mark.parametrize("value", [np.float32, np.float64])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_rows_are_checked_wherever_the_fault_is(index, value):
    """A fault is put wherever a stretch, a row or the matrix begins or ends; slack behind the last row is ignored."""
    rng, stretch, wide = np.random.default_rng(0), 2048, 10_000
    bits = np.uint32 if value is np.float32 else np.uint64
    found = set()
    for lengths in ([0, 2047, 0, 1, 1, 2046, 2, 0, 300, 0], [5000], [1] * 2050, [0, 0, 4096, 0]):
        indptr = np.append(0, np.cumsum(lengths))
        nnz = indptr[-1]
        indices = np.concatenate([np.sort(rng.choice(wide, n, replace=False)) for n in lengths]).astype(index)
        values = rng.standard_normal(nnz).astype(value)
        ends = {*indptr[:12].tolist(), *range(0, nnz + 1, stretch), int(nnz)}
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
                x_, v_ = np.append(x, np.full(slack, -1, index)), np.append(v, np.full(slack, np.nan, value))
                expected = what_is_wrong(x_, indptr, wide, v_)
                assert check_rows(x_, indptr, wide, v_.view(bits)) == expected, (lengths[:5], kind, at)
                found.add(expected)
    assert found == {"", "indices", "order", "values"}


def test_a_stream_is_checked_before_it_is_cut():
    """progressive_validation itself follows the indptr of a matrix that it cuts."""
    X, y = sparse.random(30, 5, 0.5, format="csr", random_state=0), [0, 1] * 15
    for name, values in (("indptr", X.indptr[:-1]), ("indptr", X.indptr[::-1].copy()), ("data", np.ones((X.nnz, 2)))):
        bad, learner = X.copy(), onlinecls.Perceptron()
        setattr(bad, name, values)
        with pytest.raises(ValueError, match=r"^progressive_validation: X"):
            onlinecls.progressive_validation(learner, (bad, y), every=10)
        assert fingerprint(learner) is None
