"""A Ctrl-C that comes while a kernel learns, wherever the scheduler of a busy machine puts it."""

import signal
import threading
import time

import pytest

from onlinecls._ascent import base as ascent_base
from onlinecls._estimators import base

TABLES = [(base, "_LINK"), (base, "_FULL"), (ascent_base, "_CLASSIFY"), (ascent_base, "_REGRESS")]
LARGEST = 2**23  # numbers in X


class Armed:
    """Kernels, of which the n-th to be looked up anywhere has a signal coming after `delay` seconds."""

    def __init__(self, kernels, left, delay):
        self.kernels, self.left, self.delay = kernels, left, delay

    def __getitem__(self, key):
        self.left[0] -= 1
        if self.left[0] == 0:
            signal.setitimer(signal.ITIMER_REAL, self.delay)
        return self.kernels[key]


def interrupted(monkeypatch, make, problem, *, nth=1, reached=lambda learner: learner.t_ > 0, **arguments):
    """A learner whose partial_fit a Ctrl-C has ended within the n-th kernel; its rows and labels.

    `make()` is the learner, `problem(n)` its n rows and labels, `reached(learner)` whether the kernel in question had begun.
    A signal that came too early is tried again later, one that came too late with more rows.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        pytest.skip("signals are for the main thread, and the alarm for Unix")
    n, delay = 2**15, 0.001
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)  # a KeyboardInterrupt, without a thread to send it
    try:
        for _ in range(25):
            (X, y), learner, left = problem(n), make(), [nth]
            with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
                for module, table in TABLES:
                    patch.setattr(module, table, Armed(getattr(module, table), left, delay))
                for task, kernels in base._TASKS.items():
                    patch.setitem(base._TASKS, task, Armed(kernels, left, delay))
                learner.partial_fit(X, y, **arguments)
                time.sleep(10 * delay + 1)  # the kernel was done first: here it comes
            if not reached(learner):
                delay *= 2
            elif learner.t_ < n:
                return learner, X, y
            elif X.size < LARGEST:
                n *= 4
            else:
                delay /= 1.5
    finally:
        signal.signal(signal.SIGALRM, before)
    raise AssertionError(f"no signal came while a kernel learnt: {delay} s is too early or {n} rows are too few")
