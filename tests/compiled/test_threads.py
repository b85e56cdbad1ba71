"""`n_jobs`: many rows are scored in several threads, with the bits of one."""

import subprocess
import sys
import sysconfig
import threading

import numpy as np
import pytest
from algorithms import LEARNERS
from internals import threads
from scipy.sparse import csc_matrix, csr_matrix, vstack

import onlinecls

#: One for each loop that scores rows.
OFFERED = {(each.geometry, each.task, each.is_full): each for each in LEARNERS if each.offers("n_jobs")}.values()


class Thread(threading.Thread):
    begun = 0

    def start(self):
        Thread.begun += 1
        super().start()


@pytest.fixture
def many(monkeypatch):
    """Four cores, and no call too small for them. (Few rows as arrays take a way of their own.)"""
    monkeypatch.setattr(threads, "LEAST", 1)
    monkeypatch.setattr(threads, "n_cores", lambda: 4)
    monkeypatch.setattr(threads.threading, "Thread", Thread)
    Thread.begun = 0


def everything_read(learner, X):
    found = [learner.decision_function(X), learner.predict(X)]
    if hasattr(learner, "predict_proba"):
        found.append(learner.predict_proba(X))
    if hasattr(learner, "covariance_"):
        found += learner.decision_function(X, return_std=True)
    return [part.tobytes() for part in found]


@pytest.mark.parametrize("learner", OFFERED, ids=str)
def test_scores_do_not_depend_on_the_number_of_threads(learner, many):
    X, y = learner.problem(90, 6, seed=3)
    X[40:60] = 0.0  # (a part may be of no non-zeros at all)
    model = learner(**({"average": True} if learner.can_average else {})).partial_fit(X, y)
    for rows in (X.tolist(), csc_matrix(X), X[:1].tolist(), csc_matrix(X)[:0], X):
        Thread.begun = 0
        expected = everything_read(model.set_params(n_jobs=None), rows)
        for n_jobs in (1, -100, 0):
            assert everything_read(model.set_params(n_jobs=n_jobs), rows) == expected
        assert Thread.begun == 0
        for n_jobs in (2, 4, 100, -1, -2):
            assert everything_read(model.set_params(n_jobs=n_jobs), rows) == expected
        assert rows is X or (Thread.begun >= 22) == (np.shape(rows)[0] > 1)


def test_rows_of_all_lengths_are_shared_among_threads(many, monkeypatch):
    """The rows are one long row among many empty ones, and a part of a larger matrix."""
    long = csr_matrix(np.random.default_rng(0).normal(size=(1, 500)))
    X = vstack([csr_matrix((300, 500)), long, csr_matrix((300, 500)), long, long], format="csr")
    model = onlinecls.AROWClassifier(n_jobs=3).partial_fit(X, np.arange(603) % 2)
    expected = model.decision_function(X)
    scored = []

    def read(rows, found):
        scored.append((rows.n_rows, threading.current_thread()))
        found[:] = 1.0

    found = np.zeros((603, 1))
    rows = onlinecls._input.validate.read_rows("test", X, None)
    threads.read_rows("test", read, rows, found, 3)
    assert found.all() and sum(n for n, _ in scored) == 603
    assert (model.set_params(n_jobs=None).decision_function(X) == expected).all()


def test_small_calls_start_no_thread(monkeypatch):
    def refuse(*_, **others):
        raise AssertionError("a thread for a small call")

    model = onlinecls.AROWClassifier(n_jobs=-1).partial_fit(np.eye(4), [0, 1, 0, 1])
    monkeypatch.setattr(threads.threading, "Thread", refuse)
    monkeypatch.setattr(threads, "n_cores", lambda: 4)
    for n_rows in (1, 4, 4000):
        model.predict(np.ones((n_rows, 4)))
    with pytest.raises(AssertionError, match="a thread for a small call"):
        model.predict(np.ones((500_000, 4)))


@pytest.mark.parametrize("error", [MemoryError, KeyboardInterrupt])
def test_an_error_in_any_thread_is_raised_when_all_have_ended(error, many):
    rows = onlinecls._input.validate.read_rows("test", np.ones((400, 3)), None)
    for where in (0, 150, 399):

        def read(part, found, where=where):
            first = int(part.indptr[0]) // 3
            if first <= where < first + part.n_rows:
                raise error(where)

        before = threading.active_count()
        with pytest.raises(error, match=str(where)):
            threads.read_rows("test", read, rows, np.empty((400, 1)), 4)
        assert threading.active_count() == before


def test_ctrl_c_ends_all_threads():
    """Run in a process of its own: a signal comes while 200 million non-zeros are scored."""
    code = (
        "import os, signal, threading, time, numpy as np, onlinecls\n"
        "from onlinecls._estimators import threads\n"
        "threads.n_cores = lambda: 3\n"
        "X = np.lib.stride_tricks.as_strided(np.ones(1000), (200_000, 1000), (0, 8))\n"
        "model = onlinecls.AROWClassifier(n_jobs=3).partial_fit(np.ones((2, 1000)), [0, 1])\n"
        "rows = onlinecls._input.validate.read_rows('test', np.ones((20_000, 1000)), None)\n"
        "timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))\n"
        "timer.start()\n"
        "try:\n"
        "    while True: model._scores(rows, model._state)\n"
        "except KeyboardInterrupt:\n"
        "    timer.join()\n"
        "    time.sleep(0.2)\n"
        "    print('stopped', threading.active_count())\n")
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert run.stdout == "stopped 1\n", run.stderr


def test_a_text_as_number_of_threads_is_refused(many):
    model = onlinecls.AROWClassifier().partial_fit(np.eye(4), [0, 1, 0, 1]).set_params(n_jobs="all")
    with pytest.raises(ValueError, match=r"^AROWClassifier: n_jobs must be None or an integer, got n_jobs='all'\.$"):
        model.decision_function([[1.0] * 4] * 9)


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this Python cannot be without its lock")
def test_no_module_turns_on_the_gil_of_a_free_threaded_python():
    code = (
        "import pkgutil, sys, importlib, onlinecls\n"
        "for module in pkgutil.walk_packages(onlinecls.__path__, 'onlinecls.'):\n"
        "    if module.name not in ('onlinecls.__main__', 'onlinecls.plotting'): importlib.import_module(module.name)\n"
        "print(sys._is_gil_enabled())\n")
    run = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True)
    assert run.stdout == "False\n", run.stderr
