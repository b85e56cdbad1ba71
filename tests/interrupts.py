"""A Ctrl-C that comes while a kernel learns."""

import sys
import threading
from _thread import interrupt_main
from contextlib import contextmanager

import internals
import pytest

MOST = 2**23  # numbers in X
FIRST = 16  # rows that determine the units


@contextmanager
def wrapped(places, around):
    """Call each kernel at these places, (class, name), through `around(kernel, *arguments)`."""
    with pytest.MonkeyPatch.context() as patch:
        for holder, name in places:
            kernel = getattr(holder, name)
            patch.setattr(holder, name, lambda *arguments, kernel=kernel: around(kernel, *arguments))
        yield


@contextmanager
def ctrl_c(places, nth=1):
    """Press Ctrl-C as soon as the n-th kernel to be called has let the GIL go, which it does before its first row."""
    pressing, calls = threading.Lock(), []

    def press():
        pressing.acquire()
        if len(calls) == nth:
            interrupt_main()

    def armed(kernel, *arguments):
        calls.append(kernel)
        if len(calls) == nth:
            pressing.release()
        return kernel(*arguments)

    pressing.acquire()
    thread, interval = threading.Thread(target=press), sys.getswitchinterval()
    thread.start()
    try:
        with wrapped(places, armed):
            sys.setswitchinterval(1e3)  # the thread gets no turn before
            try:
                yield
            finally:
                sys.setswitchinterval(interval)
    finally:
        if len(calls) < nth:
            pressing.release()
        thread.join()


def interrupted(make, problem, *, n=2**14, nth=1, **arguments):
    """Return a learner whose partial_fit a Ctrl-C has ended within the n-th kernel, its rows and labels.

    `make()` is the learner, `problem(n)` its n rows and labels. Kernels look for signals every 2 million numbers; where the
    machine is so busy that the signal comes after the last look, more rows are given. A signal that came while the first rows
    were learnt, by a kernel of their own, is sent again to the next one.
    """
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals are for the main thread")
    for _ in range(100):
        (X, y), learner = problem(n), make()
        try:
            with ctrl_c(internals.kernels(), nth):
                learner.partial_fit(X, y, **arguments)
        except KeyboardInterrupt:
            if learner.__sklearn_is_fitted__() and FIRST < learner.t_ < len(y):
                return learner, X, y
        is_early = learner.__sklearn_is_fitted__() and 0 < learner.t_ <= FIRST
        n, nth = n * (1 + (X.size < MOST and not is_early)), nth + is_early
    raise AssertionError(f"no Ctrl-C came through while a kernel learnt {n} rows")
