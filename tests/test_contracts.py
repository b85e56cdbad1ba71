"""DESIGN's contracts: any storage, any chunking, any pause and any interrupt give the same model, to the last bit."""

import copy
import io
import pickle
import signal
import threading
import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from algorithms import ALL, ONE_EACH
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from interrupts import interrupted
from matrices import MATRIX_KINDS, continuous_problem, csr32, csr64, csr_duplicates, csr_explicit_zeros, csr_unsorted, dense_c
from scipy import sparse
from states import fingerprint

import onlinecls
from onlinecls._estimators import base

every_case = pytest.mark.parametrize("case", ALL, ids=str)
one_case_each = pytest.mark.parametrize("case", ONE_EACH, ids=str)
both_dtypes = pytest.mark.parametrize("dtype", ["float64", "float32"])
both_constructions = pytest.mark.parametrize("multi_class", ["crammer_singer", "ovr"])


# --- 1. storage ----------------------------------------------------------------------------------------------------------------


@both_dtypes
@pytest.mark.parametrize("kind", MATRIX_KINDS.values(), ids=MATRIX_KINDS)
@every_case
def test_every_way_of_storing_a_matrix_gives_the_same_bits(case, kind, dtype):
    for n_classes, multi_class in ((2, "ovr"), (4, "ovr"), (4, "crammer_singer")):
        X, y = continuous_problem(80, 13, seed=10, n_classes=n_classes, dtype=dtype)
        stored, plain = case.estimator(multi_class=multi_class), case.estimator(multi_class=multi_class)
        assert fingerprint(stored.partial_fit(kind(X), y)) == fingerprint(plain.partial_fit(csr32(X), y))
        assert (stored.decision_function(kind(X)) == plain.decision_function(csr32(X))).all()


@pytest.mark.parametrize(
    "kind", [csr64, csr_unsorted, csr_duplicates, csr_explicit_zeros, dense_c], ids=lambda kind: kind.__name__
)
@pytest.mark.parametrize("case", [c for c in ONE_EACH if c.can_average], ids=str)
def test_every_way_of_storing_a_matrix_gives_the_same_average(case, kind):
    for n_classes in (2, 4):
        X, y = continuous_problem(80, 13, seed=11, n_classes=n_classes)
        stored, plain = case.estimator(average=True), case.estimator(average=True)
        assert fingerprint(stored.partial_fit(kind(X), y)) == fingerprint(plain.partial_fit(csr32(X), y))


# --- 2. chunking ---------------------------------------------------------------------------------------------------------------


def in_chunks(learner, X, y, weights, cuts, classes=None):
    """The stream, cut before the given rows; classes are named in the first call."""
    for start, stop in pairwise([0, *sorted(cuts), len(y)]):
        given = None if weights is None else weights[start:stop]
        learner.partial_fit(X[start:stop], y[start:stop], classes=classes, sample_weight=given)
        classes = None
    return learner


@st.composite
def streams(draw):
    """Rows, labels that join in some order and at some rows, weights with zeros, cuts, and how classes are given."""
    n = 40
    n_classes = draw(st.integers(2, 4))
    X, y = continuous_problem(
        n, 7, seed=draw(st.integers(0, 9)), n_classes=max(n_classes, 3), dtype=draw(st.sampled_from(["f4", "f8"]))
    )
    joins = [0, *sorted(draw(st.lists(st.integers(0, 30), min_size=n_classes - 1, max_size=n_classes - 1)))]
    order = draw(st.permutations(range(n_classes)))
    known = (np.arange(n)[:, None] >= joins).sum(axis=1)
    y = np.array(order)[y % known]
    weights = draw(st.sampled_from([None, "some", "leading zeros"]))
    if weights is not None:
        chosen = np.random.default_rng(draw(st.integers(0, 9))).choice([0.0, 0.0, 0.3, 1.0, 2.0], size=n)
        weights = np.where(np.arange(n) < 12, 0.0, chosen) if weights == "leading zeros" else chosen
    cuts = draw(st.lists(st.integers(0, n), max_size=6) | st.just(list(range(1, n))))
    names = draw(st.booleans())
    return {
        "X": draw(st.sampled_from([dense_c, csr32]))(X), "y": np.array(["d", "b", "c", "a"])[y] if names else y,
        "weights": weights, "cuts": cuts,
        "classes": np.unique(["a", "b", "c", "d"] if names else range(4)) if draw(st.booleans()) else None,
        "class_weight": draw(st.sampled_from([None, "balanced", dict(zip("bd" if names else (1, 0), (2.0, 0.5), strict=True))])),
    }  # fmt: skip


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(stream=streams(), multi_class=st.sampled_from(["crammer_singer", "ovr"]), average=st.sampled_from([False, True, 9]))
@every_case
def test_any_split_into_calls_gives_the_same_bits(case, stream, multi_class, average):
    average = average and case.can_average
    make = lambda: case.estimator(multi_class=multi_class, average=average, class_weight=stream["class_weight"])  # noqa: E731
    arguments = stream["X"], stream["y"], stream["weights"]
    whole = in_chunks(make(), *arguments, [], stream["classes"])
    assert fingerprint(in_chunks(make(), *arguments, stream["cuts"], stream["classes"])) == fingerprint(whole)


@both_constructions
@one_case_each
def test_one_label_alone_is_counted_and_teaches_nothing(case, multi_class):
    X, y = continuous_problem(30, 5, seed=12, n_classes=3)
    learner = case.estimator(multi_class=multi_class)
    for _ in range(3):
        learner.partial_fit(X[:4], ["only"] * 4)
    assert (learner.t_, learner.n_updates_, learner.n_mistakes_) == (12, 0, 1)
    assert learner.classes_.tolist() == ["only"] and not learner.coef_.any() and not learner.intercept_.any()
    assert learner.predict(X).tolist() == ["only"] * 30
    names = np.array(["a", "only", "z"])[y]
    fresh = case.estimator(multi_class=multi_class).partial_fit(X[[0, 1, 2, 3] * 3], ["only"] * 12)
    assert fingerprint(learner.partial_fit(X, names)) == fingerprint(fresh.partial_fit(X, names))


@one_case_each
def test_rows_of_weight_zero_are_no_rows(case):
    X, y = continuous_problem(90, 6, seed=13, n_classes=3)
    weights = np.random.default_rng(0).choice([0.0, 0.0, 0.5, 1.0, 3.0], size=90)
    weights[:7] = 0.0
    live = weights > 0
    for others in ({}, {"class_weight": "balanced"}, {"multi_class": "ovr"}):
        with_zeros = case.estimator(**others).partial_fit(X, y, sample_weight=weights)
        without = case.estimator(**others).partial_fit(X[live], y[live], sample_weight=weights[live])
        assert fingerprint(with_zeros) == fingerprint(without)
        with_zeros.partial_fit(X, np.where(y == 0, 77, y), sample_weight=np.zeros(90))  # nor does a label join by one
        assert fingerprint(with_zeros) == fingerprint(without)


def test_nothing_but_rows_of_weight_zero_is_not_even_a_beginning():
    learner = onlinecls.AROWClassifier().partial_fit([[1.0], [2.0]], [0, 1], sample_weight=[0, 0])
    assert fingerprint(learner) is None
    assert learner.partial_fit([[1.0, 2.0]], ["a"]).n_features_in_ == 2


def test_empty_chunks_change_nothing_and_need_no_labels_of_the_right_type():
    learner = onlinecls.AROWClassifier().partial_fit(np.empty((0, 2)), [])
    assert fingerprint(learner) is None
    learner.partial_fit(np.eye(2), ["a", "b"])
    before = fingerprint(learner)
    assert fingerprint(learner.partial_fit(np.empty((0, 2)), [])) == before
    assert fingerprint(learner.partial_fit(sparse.csr_matrix((0, 2)), np.empty(0, "U1"), sample_weight=[])) == before


def test_a_weight_that_underflows_is_a_weight_of_zero():
    X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    learner = onlinecls.AROWClassifier(class_weight={"b": 1e-200, "c": 1e-200})
    learner.partial_fit(X, ["a", "b", "a"], sample_weight=[1.0, 1e-200, 1.0])
    assert learner.classes_.tolist() == ["a"] and learner.t_ == 2
    learner = onlinecls.AROWClassifier(class_weight={"c": 1e-200})
    learner.partial_fit(X, ["a", "b", "c"], sample_weight=[1.0, 1.0, 1e-200])
    assert learner.classes_.tolist() == ["a", "b"] and learner.decision_function(X).shape == (3,)


# --- 2. pause and resume -------------------------------------------------------------------------------------------------------


def through_joblib(learner):
    """Back as joblib hands it to other processes: every array a read-only memory map."""
    joblib = pytest.importorskip("joblib")
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        joblib.dump(learner, folder + "/model")
        return joblib.load(folder + "/model", mmap_mode="r")


PAUSES = [lambda learner: pickle.loads(pickle.dumps(learner)), copy.deepcopy, through_joblib]


@pytest.mark.parametrize("pause", PAUSES, ids=["pickle", "deepcopy", "joblib"])
@pytest.mark.parametrize("others", [{}, {"average": True}, {"class_weight": "balanced", "multi_class": "ovr"}], ids=str)
@one_case_each
def test_a_pause_changes_nothing(case, others, pause):
    if others.get("average") and not case.can_average:
        return
    X, y = continuous_problem(80, 6, seed=14, n_classes=4)
    y = np.minimum(y, np.arange(80) // 8)  # one label for 8 rows, two for 16, ...
    whole, paused = case.estimator(**others).partial_fit(X, y), case.estimator(**others)
    for start in range(0, 80, 5):
        before = fingerprint(paused)
        resumed = pause(paused)
        assert fingerprint(resumed) == before
        resumed.partial_fit(X[start : start + 5], y[start : start + 5])
        assert fingerprint(paused) == before, "the copy shares memory with the original"
        paused = resumed
    assert fingerprint(paused) == fingerprint(whole)


@pytest.mark.parametrize("name", ["values", "drift", "counts", "tally"])
@pytest.mark.parametrize("n_labels", [1, 2, 3])
def test_any_array_of_a_model_may_have_become_read_only(n_labels, name):
    """joblib maps only the large ones."""
    X, y = continuous_problem(20, 5, seed=15, n_classes=3)
    learner, twin = (onlinecls.Perceptron(average=True).partial_fit(X, y % n_labels) for _ in range(2))
    getattr(learner._state, name).flags.writeable = False
    assert fingerprint(learner.partial_fit(X, y % n_labels)) == fingerprint(twin.partial_fit(X, y % n_labels))
    getattr(learner._state, name).flags.writeable = False
    assert fingerprint(learner.partial_fit(X, y)) == fingerprint(twin.partial_fit(X, y))


@one_case_each
def test_reading_never_writes(case):
    X, y = continuous_problem(40, 6, seed=16, n_classes=3)
    learner = case.estimator(average=case.can_average).partial_fit(X, y)
    before = fingerprint(learner)
    learner.predict(X), learner.decision_function(csr32(X)), learner.score(X, y), repr(learner), pickle.dumps(learner)
    learner.sparsify().densify()
    assert fingerprint(learner) == before


# --- 3. nothing lost (the errors themselves: test_errors.py) -------------------------------------------------------------------


@one_case_each
def test_nan_in_row_900_rejects_the_batch_whole(case):
    X, y = continuous_problem(1000, 6, seed=17)
    learner = case.estimator().partial_fit(X[:100], y[:100])
    before, X[900, 3] = fingerprint(learner), np.nan
    for bad in (X, csr32(X)):
        for call in (learner.partial_fit, learner.fit):
            with pytest.raises(ValueError, match="NaN at row 900, column 3"):
                call(bad, y)
            assert fingerprint(learner) == before


# --- 4. interrupts -------------------------------------------------------------------------------------------------------------


def plain_rows(n, n_labels):
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, 4), dtype=np.float32), rng.integers(0, n_labels, n)


@pytest.mark.parametrize("others", [{}, {"average": True}], ids=str)
@pytest.mark.parametrize("n_classes, multi_class", [(2, "ovr"), (3, "ovr"), (3, "crammer_singer")])
def test_ctrl_c_leaves_a_whole_number_of_rows(monkeypatch, n_classes, multi_class, others):
    make = lambda: onlinecls.AROWClassifier(multi_class=multi_class, **others)  # noqa: E731
    learner, X, y = interrupted(monkeypatch, make, lambda n: plain_rows(n, n_classes), classes=range(n_classes))
    rows = learner.t_
    assert 0 < rows < len(y)
    assert fingerprint(learner) == fingerprint(make().partial_fit(X[:rows], y[:rows], classes=range(n_classes)))
    assert fingerprint(learner.partial_fit(X[rows:], y[rows:])) == fingerprint(make().partial_fit(X, y, classes=range(n_classes)))


@pytest.mark.parametrize("nth", [1, 2])
@both_constructions
def test_ctrl_c_while_labels_join(monkeypatch, multi_class, nth):
    def problem(n):  # the first row: one label; up to the middle: two; then four
        X, y = plain_rows(n, 4)
        y[: n // 2] %= 2
        y[:2] = 0, 1
        return X, y

    make = lambda: onlinecls.NAROWClassifier(multi_class=multi_class, average=True)  # noqa: E731
    reached = lambda learner: learner.__sklearn_is_fitted__() and len(learner.classes_) == 2 * nth  # noqa: E731
    learner, X, y = interrupted(monkeypatch, make, problem, nth=nth, reached=reached)
    rows = learner.t_
    joined = len(y) // 2 + 50  # the third label comes within a few rows of the middle
    assert 0 < rows < len(y) and (rows > joined) == (nth == 2)
    assert fingerprint(learner) == fingerprint(make().partial_fit(X[:rows], y[:rows]))
    assert fingerprint(learner.partial_fit(X[rows:], y[rows:])) == fingerprint(make().partial_fit(X, y))


@pytest.mark.parametrize("known", [1, 2, 3])
def test_ctrl_c_just_before_the_first_row_of_a_new_label(monkeypatch, known):
    """The kernel of the stage at which it joins is left before its first row (a row of 2 million numbers does it)."""
    X, y = continuous_problem(40, 5, seed=18, n_classes=3)
    y = y % known
    make = lambda: onlinecls.AROWClassifier(average=True)  # noqa: E731
    learner, twin = make().partial_fit(X[:20], y[:20]), make().partial_fit(X[:20], y[:20])

    def leave(*arguments):
        raise KeyboardInterrupt

    class Kernels:
        def __getitem__(self, key):
            return leave

    with monkeypatch.context() as patch:
        for task in base._TASKS:
            patch.setitem(base._TASKS, task, Kernels())
        with pytest.raises(KeyboardInterrupt):
            learner.partial_fit(X[20:], np.full(20, 9))
    assert fingerprint(learner) == fingerprint(twin)
    assert fingerprint(learner.partial_fit(X, y)) == fingerprint(twin.partial_fit(X, y))


def test_ctrl_c_leaves_no_stale_sparse_coef(monkeypatch):
    begun = lambda: onlinecls.AROWClassifier().partial_fit([[0.0] * 4], [0], classes=[0, 1]).sparsify()  # noqa: E731
    learner, _, _ = interrupted(monkeypatch, begun, lambda n: plain_rows(n, 2), reached=lambda learner: learner.t_ > 1)
    shown = learner.coef_.toarray() if sparse.issparse(learner.coef_) else learner.coef_
    assert (shown == learner.densify().coef_).all()


@pytest.mark.parametrize("n_classes", [2, 40])
def test_ctrl_c_ends_predict_too(monkeypatch, n_classes):
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals are for the main thread")
    learner = onlinecls.AROWClassifier().partial_fit(np.eye(n_classes, 300), range(n_classes))
    X = np.zeros((400_000 // n_classes, 300), np.float64)
    written = []

    class Kernels:
        def __getitem__(self, key, kernels=base._DECISION):
            def decide(*arguments):
                arguments[-1][:] = np.nan
                written.append(arguments[-1])
                threading.Timer(0.001, signal.raise_signal, [signal.SIGINT]).start()
                kernels[key](*arguments)
                signal.pause()

            return decide

    monkeypatch.setattr(base, "_DECISION", Kernels())
    with pytest.raises(KeyboardInterrupt):
        for _ in range(20):  # a slow timer may miss one
            learner.predict(X)
    assert np.isnan(written[-1][-1]).any(), "all rows were scored before the interrupt came through"


# --- 5. cost (of memory; time is for benchmarks/) ------------------------------------------------------------------------------


def peak_of(call):
    """Bytes allocated at the peak of a call, and still held when it is over, over those before."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        result = call()
        held, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return result, peak - before, held - before


@pytest.mark.parametrize("index_type", [np.int32, np.int64])
@both_dtypes
@one_case_each
def test_a_csr_or_c_ordered_x_is_never_copied(case, dtype, index_type):
    n, d = 2000, 400
    X, y = np.ones((n, d), dtype), np.arange(n) % 2
    csr = sparse.csr_matrix(X[:, : d // 2])
    csr.indices, csr.indptr = csr.indices.astype(index_type), csr.indptr.astype(index_type)
    for rows in (X, csr):
        learner = case.estimator().partial_fit(rows[:2], y[:2], classes=[0, 1])
        for call in (lambda: learner.partial_fit(rows, y), lambda: learner.predict(rows)):  # noqa: B023
            size = rows.nbytes if rows is X else rows.data.nbytes + rows.indices.nbytes
            assert peak_of(call)[1] < size / 8


def test_rows_are_read_where_they_are():
    from onlinecls._input.validate import read_rows

    X = np.ones((5, 3), np.float32)
    csr = sparse.csr_matrix(X)
    assert np.shares_memory(read_rows("", X, None).data, X)
    assert np.shares_memory(read_rows("", csr, None).data, csr.data)
    assert np.shares_memory(read_rows("", csr, None).indices, csr.indices)


def test_input_is_never_written_to():
    X, y = continuous_problem(60, 6, seed=19, n_classes=3)
    weights, classes = np.random.default_rng(0).random(60), np.arange(3)
    for kind in MATRIX_KINDS.values():
        rows = kind(X)
        names = {"csr": ["data", "indices", "indptr"], "csc": ["data", "indices", "indptr"], "coo": ["data", "row", "col"]}
        arrays = [getattr(rows, name) for name in names[rows.format]] if sparse.issparse(rows) else [np.asarray(rows)]
        given = [*arrays, y, weights, classes]
        before = [array.copy() for array in given]
        onlinecls.AROWClassifier().partial_fit(rows, y, classes, weights).predict(rows)
        onlinecls.AROWClassifier(max_iter=2).fit(rows, y, sample_weight=weights)
        assert all((a == b).all() for a, b in zip(given, before, strict=True))


def test_a_binary_float32_model_takes_8_bytes_a_feature():
    d = 2**20
    X = sparse.csr_matrix((np.ones(4, np.float32), [0, 5, 7, d - 1], [0, 2, 4]), shape=(2, d))
    learner, peak, held = peak_of(lambda: onlinecls.AROWClassifier().partial_fit(X, [0, 1], classes=[0, 1]))
    assert peak < 8 * d + 2**20 and held < 8 * d + 2**16
    assert learner._state.values.dtype == np.float32 and learner._state.values.nbytes == 8 * (d + 1)
    assert peak_of(lambda: learner.partial_fit(X, [0, 1]))[1] < 2**16, "a row must not cost O(n_features)"
    assert peak_of(lambda: learner.predict(X))[1] < 2**16
    assert peak_of(lambda: (learner.coef_, learner.covariance_, learner.intercept_, learner.t_))[1] < 2**16


def test_learning_does_not_grow():
    X, y = continuous_problem(200, 6, seed=20, n_classes=3)
    learner = onlinecls.AROWClassifier(average=True, class_weight="balanced").partial_fit(X, y)
    size = len(pickle.dumps(learner))
    assert peak_of(lambda: [learner.partial_fit(X[i : i + 1], y[i : i + 1]) and None for i in range(200)])[2] < 2**14
    assert len(pickle.dumps(learner)) <= size + 64


# --- 7. threads ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes, multi_class", [(2, "ovr"), (5, "ovr"), (5, "crammer_singer")])
def test_models_trained_on_threads_equal_those_trained_in_turn(n_classes, multi_class):
    X, y = continuous_problem(4000, 20, seed=21, n_classes=n_classes)
    make = [lambda c=c: c.estimator(multi_class=multi_class) for c in ONE_EACH[:6]]
    in_turn = [fingerprint(m().partial_fit(X, y)) for m in make]
    learners = [m() for m in make]

    def train(learner):
        for start in range(0, 4000, 100):
            learner.partial_fit(X[start : start + 100], y[start : start + 100], classes=None)

    threads = [threading.Thread(target=train, args=(learner,)) for learner in learners]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [fingerprint(learner) for learner in learners] == in_turn


@pytest.mark.parametrize("n_classes, multi_class", [(2, "ovr"), (5, "ovr"), (5, "crammer_singer")])
@pytest.mark.parametrize("method", ["partial_fit", "predict"])
def test_python_goes_on_while_a_kernel_runs(monkeypatch, method, n_classes, multi_class):
    """Another thread gets turns between a kernel's start and its end. With the GIL held it would get none."""
    turns, inside, over = [], threading.Event(), threading.Event()

    def count():
        inside.wait()
        while not over.is_set():
            turns.append(None)
            over.wait(1e-5)

    def watched(kernel):
        def run(*arguments):
            turns.clear()
            inside.set()
            kernel(*arguments)
            seen.append(len(turns))  # no Python code ran in this thread between the two lines

        return run

    class Watched:
        def __init__(self, kernels):
            self.kernels = kernels

        def __getitem__(self, key):
            return watched(self.kernels[key])

    X, y = np.ones((400_000, 8), np.float32), np.arange(400_000) % n_classes
    learner = onlinecls.AROWClassifier(multi_class=multi_class).partial_fit(X[:100], y[:100])
    seen, thread = [], threading.Thread(target=count)
    thread.start()
    try:
        for task, kernels in base._TASKS.items():
            monkeypatch.setitem(base._TASKS, task, Watched(kernels))
        monkeypatch.setattr(base, "_DECISION", Watched(base._DECISION))
        for _ in range(20):  # a busy machine may give the other thread no turn at first
            learner.predict(X) if method == "predict" else learner.partial_fit(X, y)
            if max(seen) > 3:
                break
    finally:
        over.set()
        inside.set()
        thread.join()
    assert max(seen) > 3


# --- 8. weights, not counts ----------------------------------------------------------------------------------------------------


@one_case_each
def test_counters_keep_their_order(case):
    X, y = continuous_problem(200, 6, seed=22, n_classes=3)
    for learner in (case.estimator().partial_fit(X, y), case.estimator(multi_class="ovr").partial_fit(X, y)):
        assert 0 < learner.n_updates_ + learner.n_skipped_ <= learner.t_ == 200
        assert 0 < learner.n_mistakes_ <= 200
        assert all(type(getattr(learner, name)) is int for name in ("t_", "n_mistakes_", "n_updates_", "n_skipped_", "n_iter_"))


def test_pickles_of_equal_models_are_equal():
    X, y = continuous_problem(50, 6, seed=23)
    one, other = (onlinecls.AROWClassifier().partial_fit(X, y) for _ in range(2))
    first, second = io.BytesIO(), io.BytesIO()
    pickle.dump(one, first), pickle.dump(other, second)
    assert first.getvalue() == second.getvalue()
