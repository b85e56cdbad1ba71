"""Rows from C (onlinecls.api) are learnt and scored as `partial_fit` and `predict` do it, to the bit."""

import copy
import ctypes
import importlib
import io
import os
import pickle
import shlex
import shutil
import subprocess
import sys
import sysconfig
import threading
from pathlib import Path

import numpy as np
import pytest
from algorithms import LEARNERS
from contracts import learnt
from matrices import csr32
from states import fingerprint
from threads import beside

import onlinecls
from onlinecls import api

C = api.ctypes_functions()
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
#: Learners that take a step or a check in Python for each call.
REFUSED = {"FoReLClassifier", "HedgeClassifier", "KernelOnlineClassifier", "KernelOnlineOneClass", "KernelOnlineRegressor",
           "MultiplicativePassiveAggressiveClassifier", "MultiplicativePassiveAggressiveOneClass",
           "MultiplicativePassiveAggressiveRegressor", "OnlineToBatch"}


def address(numbers):
    return None if numbers is None else numbers.ctypes.data


class Rows:
    """Rows of a matrix for the functions of C: sparse or dense in turns, with and without checks."""

    def __init__(self, handle, X):
        self.handle, self.X, self.of = handle, X, "float" if handle.dtype == np.float32 else "double"

    def row(self, i):
        csr = csr32(self.X[i : i + 1])
        indices, data = (None, self.X[i].copy()) if i % 3 == 0 else (csr.indices, csr.data)
        return indices, data, "_unchecked" * (i % 2)

    def learn(self, i, label, weight=1.0):
        indices, data, how = self.row(i)
        return getattr(C, f"learn_{self.of}{how}")(self.handle.address, address(indices), address(data), len(data), label, weight)

    def score(self, i):
        indices, data, how = self.row(i)
        scores = np.full(self.handle.n_scores + 1, 7.0)
        call = getattr(C, f"score_{self.of}{how}")
        assert call(self.handle.address, address(indices), address(data), len(data), address(scores)) == 0
        assert scores[-1] == 7.0, "no more numbers are written than n_scores says"
        return scores[:-1]


def scores_of(model, x):
    if hasattr(model, "center_"):
        return np.sqrt(np.maximum(-model.score_samples(x), 0.0) ** 2)
    return np.ravel((model.decision_function if hasattr(model, "decision_function") else model.predict)(x))


def is_refused(learner):
    return learner.estimator in REFUSED or learner.is_cubic


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("learner", [learner for learner in LEARNERS if not is_refused(learner)], ids=str)
def test_a_loop_over_rows_gives_the_model_of_partial_fit(learner, dtype):
    X, y = learner.problem(80, 13, seed=3, dtype=dtype)
    weights = np.random.default_rng(0).choice([1.0, 1.0, 0.0, 0.3, 2.0], 80)
    for options in ({}, {"average": 9}) if learner.can_average else ({},):
        python = learnt(learner, X[:20], y[:20], **options)
        c = copy.deepcopy(python)
        with api.open(c) as handle:
            rows = Rows(handle, X)
            for i in range(20, 80):
                if not hasattr(c, "center_"):
                    assert rows.score(i).tobytes() == scores_of(python, X[i : i + 1]).tobytes()
                else:
                    distance = np.sqrt(max(rows.score(i)[0], 0.0))
                    assert distance == pytest.approx(scores_of(python, X[i : i + 1])[0], rel=1e-3, abs=1e-3)
                python.partial_fit(X[i : i + 1], y[i : i + 1], sample_weight=weights[i : i + 1])
                assert rows.learn(i, float(y[i]), weights[i]) == api.Result.DONE
                assert c.t_ == python.t_ and scores_of(c, X[:1]).tobytes() == scores_of(python, X[:1]).tobytes()
        assert fingerprint(c) == fingerprint(python)
        assert fingerprint(pickle.loads(pickle.dumps(c))) == fingerprint(python)
        c.save(file := io.BytesIO())
        file.seek(0)
        assert fingerprint(onlinecls.load(file)) == fingerprint(python)
        for each in (c, python):
            each.partial_fit(X[:30], y[:30])
        assert fingerprint(c) == fingerprint(python)


@pytest.mark.parametrize("learner", [learner for learner in LEARNERS if is_refused(learner)], ids=str)
def test_a_learner_with_steps_in_python_is_refused(learner):
    model = learnt(learner, *learner.problem(20, 7))
    before = fingerprint(model)
    with pytest.raises((TypeError, ValueError), match=r"rows from C|learner must be a fitted learner of this library"):
        api.open(model)
    assert fingerprint(model.partial_fit(*learner.problem(20, 7))) != before, "it learns on"


def many_classes(n=30, k=20, d=40, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)), rng.integers(0, k, n)


@pytest.mark.parametrize("params", [{}, {"average": True}, {"multi_class": "ovr"}], ids=str)
def test_many_classes_that_joined_as_they_came(params):
    """Their vectors lie in the order in which they came, and are sorted in memory of the call."""
    X, y = many_classes(200)
    labels = np.array([f"c{c * 7 % 20:02}" for c in y])
    python, c = (onlinecls.PassiveAggressiveClassifier(**params).partial_fit(X[:120], labels[:120]) for _ in range(2))
    assert len(python.classes_) == 20
    with api.open(c) as handle:
        rows = Rows(handle, X)
        for i in range(120, 200):
            assert rows.score(i).tobytes() == python.decision_function(X[i : i + 1]).tobytes()
            python.partial_fit(X[i : i + 1], labels[i : i + 1])
            assert rows.learn(i, float(np.searchsorted(python.classes_, labels[i]))) == 0
    assert fingerprint(c) == fingerprint(python)


def problem(n=60, d=9, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, (X[:, 0] > 0).astype(int)


def opened(cls=onlinecls.AROWClassifier, **params):
    X, y = problem()
    return cls(**params).partial_fit(X, y)


def test_checked_functions_refuse_bad_rows_and_learn_nothing():
    learner, Result = opened(), api.Result
    before, of_numbers = fingerprint(learner), opened(onlinecls.PassiveAggressiveRegressor)
    x, columns, nan = np.ones(9), np.arange(9, dtype=np.int32), float("nan")
    with api.open(learner) as handle, api.open(of_numbers) as regression:
        def learn(indices, data, nnz, label=1.0, weight=1.0, handle=handle):
            return C.learn_double(handle.address, address(indices), address(data), nnz, label, weight)

        bad, integers = np.array, lambda *columns: np.array(columns, np.int32)
        cases = [
            (Result.WRONG_LENGTH, learn(None, x, 8)), (Result.WRONG_LENGTH, learn(columns, x, -1)),
            (Result.WRONG_LENGTH, learn(np.arange(10, dtype=np.int32), np.ones(10), 10)),
            (Result.WRONG_COLUMNS, learn(integers(0, 9), x, 2)), (Result.WRONG_COLUMNS, learn(integers(2, 2), x, 2)),
            (Result.WRONG_COLUMNS, learn(integers(3, 1), x, 2)), (Result.WRONG_COLUMNS, learn(integers(-1, 1), x, 2)),
            (Result.WRONG_VALUES, learn(columns, bad([1.0, nan]), 2)), (Result.WRONG_VALUES, learn(columns, bad([np.inf]), 1)),
            (Result.WRONG_LABEL, learn(columns, x, 9, 2.0)), (Result.WRONG_LABEL, learn(columns, x, 9, -1.0)),
            (Result.WRONG_LABEL, learn(columns, x, 9, 0.5)), (Result.WRONG_LABEL, learn(columns, x, 9, nan)),
            (Result.WRONG_WEIGHT, learn(columns, x, 9, 1.0, -1.0)), (Result.WRONG_WEIGHT, learn(columns, x, 9, 1.0, np.inf)),
            (Result.WRONG_LABEL, learn(columns, x, 9, np.inf, handle=regression)),
            (Result.WRONG_DTYPE, C.learn_float(handle.address, None, address(x), 9, 1.0, 1.0)),
            (Result.WRONG_DTYPE, C.learn_float_unchecked(handle.address, None, address(x), 9, 1.0, 1.0)),
            (Result.WRONG_DTYPE, C.score_float_unchecked(handle.address, None, address(x), 9, address(x))),
            (Result.WRONG_VALUES, C.score_double(handle.address, None, address(np.full(9, nan)), 9, address(x))),
        ]
        assert [said for _, said in cases] == [said.value for said, _ in cases]
    assert fingerprint(learner) == before
    with api.open(learner) as handle:
        assert learn(columns, x, 0, handle=handle) == learn(None, x, 9, 1.0, 0.0, handle) == Result.DONE
    assert learner.t_ == 61, "a row of no non-zeros, and one of weight 0, which is no round"


def test_the_learner_only_reads_while_its_handle_is_open():
    X, y = problem()
    learner = opened()
    handle = api.open(learner)
    with pytest.raises(RuntimeError, match=r"one call at a time may learn, got another one while a handle"):
        learner.partial_fit(X, y)
    with pytest.raises(RuntimeError, match="got another one while a handle"):
        api.open(learner)
    for use in (copy.deepcopy, pickle.dumps, lambda it: it.save(io.BytesIO()), lambda it: it.sparsify()):
        with pytest.raises(RuntimeError, match=r"no handle .onlinecls.api. of the learner is open"):
            use(learner)
    assert learner.predict(X).shape == y.shape
    other = threading.Thread(target=handle.close)  # (as a collector of garbage may, in any thread)
    other.start()
    other.join()
    assert not handle.is_open
    assert C.learn_double(handle.address, None, address(X), 9, 1.0, 1.0) == api.Result.CLOSED
    assert C.score_double_unchecked(handle.address, None, address(X), 9, address(X)) == api.Result.CLOSED
    handle.close()
    assert copy.deepcopy(learner).partial_fit(X, y).t_ == 120
    forgotten = api.open(learner)
    del forgotten
    assert learner.partial_fit(X, y).t_ == 120, "a handle that nobody has any more is closed"


@pytest.mark.parametrize("make, why", [
    (lambda X, y: onlinecls.AROWClassifier().partial_fit(X[:5], y[:5], classes=[0, 1]), "got a model of 5. Learn the first rows"),
    (lambda X, y: onlinecls.AROWClassifier(class_weight={0: 2.0, 1: 1.0}).partial_fit(X, y), "got class_weight="),
    (lambda X, y: onlinecls.AROWClassifier().partial_fit(X, np.zeros(60, int)), "got a model of one. Give all classes"),
    (lambda X, y: onlinecls.AROWClassifier().partial_fit(X + 1e4, y), "subtracts the means"),
    (lambda X, y: onlinecls.AROWClassifier().partial_fit(X, y).set_params(r=-1.0), "r must be"),
    (lambda X, y: onlinecls.AROWClassifier().partial_fit(X, y).set_params(dtype="float32"), "the kind of model it began with"),
    (lambda X, y: onlinecls.AROWClassifier(), "has not been fitted yet"),
    (lambda X, y: object(), "must be a fitted learner of this library, got object"),
])
def test_what_cannot_be_opened_says_why(make, why):
    learner = make(*problem())
    with pytest.raises((TypeError, ValueError), match=why.replace(".", r"\.")):
        api.open(learner)


def test_parameters_are_those_of_the_opening():
    X, y = problem()
    python, c = opened(), opened()
    for each in (python, c):
        each.set_params(r=3.0)
    with api.open(c) as handle:
        c.set_params(r=0.01)
        for i in range(30):
            assert Rows(handle, X).learn(i, float(y[i])) == 0
    assert fingerprint(c) == fingerprint(python.partial_fit(X[:30], y[:30]))


def test_sparse_weights_become_dense():
    X, y = problem()
    learner = opened().sparsify()
    with api.open(learner) as handle:
        assert Rows(handle, X).learn(0, 1.0 - y[0]) == 0
    assert learner.coef_.tobytes() == opened().partial_fit(X[:1], 1 - y[:1]).coef_.tobytes()


def test_a_loaded_and_a_mapped_model_learn(tmp_path):
    X, y = problem()
    opened().save(tmp_path / "model", dense=True)
    expected = fingerprint(opened().partial_fit(X[:30], y[:30]))
    for options in ({}, {"mmap": True}):
        learner = onlinecls.load(tmp_path / "model", **options)
        with api.open(learner) as handle:
            for i in range(30):
                assert Rows(handle, X).learn(i, float(y[i])) == 0
        assert fingerprint(learner) == expected


def test_scores_are_computed_in_many_threads_while_rows_are_learnt():
    X, y = many_classes(400)
    learner = onlinecls.AROWClassifier(average=True).partial_fit(X, y)
    with api.open(learner) as handle:
        rows = Rows(handle, X)

        def read():
            assert np.isfinite(rows.score(1)).all()

        with beside(read, read, read):
            for i in range(400):
                rows.learn(i, float(y[i]))
    assert learner.t_ == 800


def test_numba_calls_the_functions():
    numba = pytest.importorskip("numba", reason="numba is not among the test requirements")
    learn = C.learn_double

    @numba.njit
    def loop(address, X, y):
        for i in range(len(y)):
            if learn(address, 0, X[i].ctypes.data, X.shape[1], y[i], 1.0) != 0:
                return i
        return -1

    X, y = problem()
    python, c = opened(), opened()
    with api.open(c) as handle:
        assert loop(handle.address, X, y.astype(float)) == -1
    assert fingerprint(c) == fingerprint(python.partial_fit(X, y))


def compiler():
    found = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")
    if sys.platform == "win32" or not shutil.which(found[0]):
        pytest.skip(f"no C compiler {found[0]!r}")
    return found


def rows_of_words(n=300):
    X, y = problem(n, 40)
    X = csr32(np.where(np.abs(X) > 1.0, X, 0.0).astype(np.float32))
    return X, y, [each.ctypes.data for each in (X.data, X.indices, X.indptr)]


def test_plain_c_calls_the_functions_by_address(tmp_path):
    subprocess.run([*compiler(), "-shared", "-fPIC", EXAMPLES / "c" / "rows.c", "-o", tmp_path / "rows.so"], check=True)
    loops = ctypes.CDLL(str(tmp_path / "rows.so"))
    for loop in (loops.learn_rows, loops.score_rows):
        loop.argtypes, loop.restype = [ctypes.c_void_p] * 6 + [ctypes.c_ssize_t], ctypes.c_ssize_t
    X, y, where = rows_of_words()
    python, c = (onlinecls.AROWClassifier().partial_fit(X[:50], y[:50]) for _ in range(2))
    labels, scores = y.astype(float), np.empty(len(y))
    with api.open(c) as handle:
        assert loops.learn_rows(C.learn_float, handle.address, *where, labels.ctypes.data, len(y)) == len(y)
        assert loops.score_rows(C.score_float, handle.address, *where, scores.ctypes.data, len(y)) == len(y)
        assert scores.tobytes() == c.decision_function(X).tobytes()
        labels[7] = 2.0
        assert loops.learn_rows(C.learn_float, handle.address, *where, labels.ctypes.data, len(y)) == 7
    assert fingerprint(c) == fingerprint(python.partial_fit(X, y).partial_fit(X[:7], y[:7]))


def test_the_example_in_cython_builds_with_api_pxd_alone(tmp_path, monkeypatch):
    """It finds what an installed package has: api.pxd, and nothing of what that might import."""
    pytest.importorskip("Cython", reason="Cython compiles the example")
    pytest.importorskip("setuptools", reason="setuptools builds the example")
    pytest.importorskip("pip", reason="pip builds the example")
    compiler()
    package = Path(onlinecls.__file__).parent
    (tmp_path / "path" / "onlinecls").mkdir(parents=True)
    for name in ("__init__.py", "api.pxd"):
        shutil.copy(package / name, tmp_path / "path" / "onlinecls")
    shutil.copytree(EXAMPLES / "cython", tmp_path / "example")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "path"))
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-deps", "--no-index", "--target"]
    subprocess.run([*pip, tmp_path / "built", tmp_path / "example"], check=True, cwd=tmp_path)
    monkeypatch.syspath_prepend(tmp_path / "built")
    errors = importlib.import_module("progressive").errors

    X, y, _ = rows_of_words()
    python, c = (onlinecls.AROWClassifier().partial_fit(X[:50], y[:50]) for _ in range(2))
    assert errors(c, X.data, X.indices, X.indptr, y.astype(float)) == (python.partial_fit(X, y).n_mistakes_ - before(X, y), -1)
    assert fingerprint(c) == fingerprint(python)


def before(X, y):
    return onlinecls.AROWClassifier().partial_fit(X[:50], y[:50]).n_mistakes_
