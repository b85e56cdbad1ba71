"""Models and streams in processes that are begun by fork and by spawn, while threads of the parent read and learn."""

import copy
import os
import signal
import subprocess
import sys
import sysconfig
import threading
from functools import partial

import pytest
from matrices import continuous_problem

import onlinecls
from onlinecls import streams

X, Y = continuous_problem(60, 5, seed=70, n_classes=3)
forking = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
# (Python 3.12 warns of a fork among threads, which is what is tried here.)
forks_among_threads = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")


def in_a_child(call, patience=60):
    """Run `call()` in a forked process, killed after `patience` seconds, and return its exit code."""
    child = os.fork()
    if child == 0:
        signal.alarm(patience)
        try:
            os._exit(call())
        finally:
            os._exit(99)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@forking
@forks_among_threads
@pytest.mark.parametrize("options", [{}, {"prefetch": False}], ids=str)
def test_a_forked_process_cannot_read_the_streams_of_its_parent_and_does_not_wait_for_them(options, tmp_path):
    """A child process gets an error at once, and can read and learn streams of its own."""
    path = tmp_path / "a.svm"
    path.write_bytes(b"".join(b"%d %d:1 %d:2\n" % (i % 2, i % 50, 60 + i % 7) for i in range(4000)))
    read = partial(streams.read, path, "svmlight", n_features=100, batch_rows=50, **options)
    with read() as stream:
        first = next(stream)

        def child():
            with pytest.raises(RuntimeError, match="must be read by the process that opened it, got a fork"):
                next(stream)
            stream.close()
            learner = onlinecls.AROWClassifier()
            for batch in read():
                learner.partial_fit(batch.X, batch.y)
            return learner.t_ != 4000

        assert in_a_child(child) == 0
        assert len(first.y) + sum(len(batch.y) for batch in stream) == 4000  # the parent's stream is as it was


@forking
@forks_among_threads
def test_a_fork_frees_the_locks_of_other_threads_and_leaves_those_of_its_own():
    learner, held, over = onlinecls.AROWClassifier().partial_fit(X, Y), threading.Event(), threading.Event()

    def hold():
        with learner._own_lock():
            held.set()
            over.wait(60)

    def in_a_thread():  # (which may well have the number of the one that held the lock)
        copies = []
        new = threading.Thread(target=lambda: copies.append(copy.deepcopy(learner.partial_fit(X, Y))))
        new.start()
        new.join(60)
        return copies[0].t_ - 120

    thread = threading.Thread(target=hold)
    thread.start()
    try:
        assert held.wait(60)
        assert in_a_child(lambda: copy.deepcopy(learner.partial_fit(X, Y)).t_ - 120) == 0
        assert in_a_child(in_a_thread) == 0
        with pytest.raises(RuntimeError, match="one call at a time may learn"):
            learner.partial_fit(X, Y)
    finally:
        over.set()
        thread.join()

    def child():
        with pytest.raises(RuntimeError, match="one call at a time may learn"):
            learner.partial_fit(X, Y)
        return 0

    with learner._own_lock():
        assert in_a_child(child) == 0
    assert learner.partial_fit(X, Y).t_ == 120


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this Python cannot be without its lock")
def test_no_module_turns_on_the_gil_of_a_free_threaded_python():
    code = (
        "import pkgutil, sys, importlib, onlinecls\n"
        "for module in pkgutil.walk_packages(onlinecls.__path__, 'onlinecls.'):\n"
        "    if module.name not in ('onlinecls.__main__', 'onlinecls.plotting'): importlib.import_module(module.name)\n"
        "print(sys._is_gil_enabled())\n")
    run = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True)
    assert run.stdout == "False\n", run.stderr
