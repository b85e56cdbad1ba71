"""Hostile sparse matrices: an error with the model untouched, or the model that the same rows make dense. Never a crash."""

import itertools
import subprocess
import sys

import numpy as np
import pytest
from algorithms import ONE_EACH
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from scipy import sparse
from states import fingerprint, is_finite

import onlinecls
from onlinecls._input import validate
from onlinecls._input.check import check_rows

LEARNERS = [case.estimator() for case in ONE_EACH] + [case.estimator(multi_class="crammer_singer") for case in ONE_EACH[::3]]
STEADY = settings(deadline=None, suppress_health_check=list(HealthCheck))
VALUES = [
    0.0, -0.0, 1.0, -1.0, 0.5, 3.0, 1e-3, 1e10, 1e15, 1e19, -1e20, 3e38, 3.4e38, 1e154, 1e300, 1.7e308, 1e-10,
    1e-20, 1e-38, 1e-40, 1e-45, 1e-160, 1e-300, 5e-324, np.nan, np.inf, -np.inf,
]
D = 6


@st.composite
def matrices(draw, max_rows=5):
    """Draw a csr_matrix of unchecked arrays, most of them nearly valid."""
    n = draw(st.integers(0, max_rows))
    nnz = draw(st.integers(0, 12))
    dtype = draw(st.sampled_from(["f4", "f8", "f8", ">f8", "i8", "u1", "?"]))
    index = draw(st.sampled_from([np.int32, np.int64]))
    sane = draw(st.booleans())
    finite = st.sampled_from(VALUES[:-3] if dtype != "f4" else [v for v in VALUES[:-3] if abs(v) < 3.5e38])
    value = finite if sane else st.sampled_from(VALUES)
    data = np.array(draw(st.lists(value, min_size=nnz, max_size=nnz)))
    with np.errstate(all="ignore"):
        data = (data if "f" in dtype else np.clip(np.nan_to_num(data), 0, 9)).astype(dtype)
    wild = st.integers(0, D - 1) if sane else st.integers(-2, D + 2) | st.sampled_from([-(2**31), 2**31 - 1])
    indices = np.array(draw(st.lists(wild, min_size=nnz, max_size=nnz)), index)
    cuts = sorted(draw(st.lists(st.integers(0, nnz), min_size=max(n - 1, 0), max_size=max(n - 1, 0))))
    indptr = np.array([0, *cuts, nnz][: n + 1] if n else [0], index)
    if not sane and draw(st.booleans()):
        at = draw(st.integers(0, len(indptr) - 1))
        indptr[at] = draw(st.integers(-3, nnz + 3) | st.sampled_from([2**31 - 1, -(2**31)]))
    if not sane and draw(st.integers(0, 5)) == 0:
        indptr = draw(st.sampled_from([indptr[:-1], np.append(indptr, nnz), indptr[:0], indptr.astype(np.float64)]))
    if not sane and draw(st.integers(0, 5)) == 0:
        data = draw(st.sampled_from([data[:-1], np.append(data, data[:1]), data[:0]]))
    if draw(st.integers(0, 5)) == 0:  # the same numbers, lying apart
        data, indices, indptr = (np.repeat(array, 2)[::2] for array in (data, indices, indptr))
    csr = sparse.csr_matrix((n, D), dtype=data.dtype.newbyteorder("="))
    csr.data, csr.indices, csr.indptr = data, indices, indptr
    return csr


def dense(csr):
    """The rows of a matrix that has been accepted, added up one by one; float64 unless it is float32."""
    dtype = np.float32 if csr.data.dtype == np.float32 else np.float64
    rows = np.zeros(csr.shape, dtype)
    for i in range(csr.shape[0]):
        for k in range(int(csr.indptr[i]), int(csr.indptr[i + 1])):
            if csr.data.dtype.kind in "f":
                rows[i, csr.indices[k]] += csr.data[k]
            else:  # as scipy adds up: in the matrix's own type
                rows[i, csr.indices[k]] = (rows[i, csr.indices[k]].astype(csr.data.dtype) + csr.data[k]).astype(dtype)
    return rows


@settings(STEADY, max_examples=max(120, settings.default.max_examples))
@given(
    csr=matrices(),
    labels=st.lists(st.integers(0, 2), min_size=5, max_size=5),
    which=st.sampled_from(LEARNERS),
    joined=st.booleans(),
)
def test_a_random_csr_matrix_is_refused_or_learnt_as_if_dense(csr, labels, which, joined):
    make = lambda: type(which)(**which.get_params())  # noqa: E731
    learner, twin, y = make(), make(), labels[: csr.shape[0]]
    if joined:
        first = np.eye(3, D).astype(np.float32 if csr.dtype == np.float32 else np.float64)
        learner.partial_fit(first, [0, 1, 2]), twin.partial_fit(first, [0, 1, 2])
    before, given_arrays = fingerprint(learner), [array.copy() for array in (csr.data, csr.indices, csr.indptr)]
    try:
        learner.partial_fit(csr, y)
    except ValueError as error:
        event("refused")
        assert fingerprint(learner) == before
        assert str(error).startswith(type(learner).__name__)
    else:
        event("learnt")
        twin.partial_fit(dense(csr), y)
        if fingerprint(learner) is None:
            assert fingerprint(twin) is None
        else:
            assert is_finite(learner)
            assert (learner._state.values == twin._state.values).all() and (learner._state.counts == twin._state.counts).all()
            assert (learner._state.counters == twin._state.counters).all()
    for array, copy in zip((csr.data, csr.indices, csr.indptr), given_arrays, strict=True):
        assert array.tobytes() == copy.tobytes()


@settings(STEADY, max_examples=max(50, settings.default.max_examples))
@given(csr=matrices())
def test_predicting_refuses_the_matrices_that_learning_refuses(csr):
    learner = onlinecls.AROWClassifier(dtype=np.float32).partial_fit(np.eye(3, D), [0, 1, 2])
    try:
        scores = learner.decision_function(csr)
    except ValueError:
        with pytest.raises(ValueError):
            learner.partial_fit(csr, [0] * csr.shape[0])
    else:
        assert scores.shape == (csr.shape[0], 3)
        learner.partial_fit(csr, [0] * csr.shape[0])


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


def test_partial_fit_after_a_failed_fit_does_not_crash():
    """average changes the layout of the model; in a process of its own, for it once crashed."""
    code = (
        "import numpy as np, onlinecls\n"
        "X, y = np.random.default_rng(0).normal(size=(20, 100_000)), [0, 1] * 10\n"
        "learner = onlinecls.AROWClassifier().partial_fit(X, y).set_params(average=True)\n"
        "for call in (learner.fit, learner.partial_fit):\n"
        "    try: call(X * np.nan if call == learner.fit else X, y)\n"
        "    except ValueError: print('refused')\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (run.returncode, run.stdout) == (0, "refused\n" * 2), run.stderr


def unaligned(array):
    """Return the same numbers one byte off: none lies at a multiple of its size."""
    moved = np.empty(array.nbytes + 1, np.uint8)[1:].view(array.dtype).reshape(array.shape)
    moved[...] = array
    return moved


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
