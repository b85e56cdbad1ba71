"""Signals that end a command as Ctrl-C does: what was learnt can be saved before."""

from __future__ import annotations

import contextlib
import signal
import threading

_NAMES = ("SIGTERM", "SIGHUP")  # of what ends a process; SIGINT is Python's own KeyboardInterrupt


class StoppedError(KeyboardInterrupt):
    """A signal came."""

    def __init__(self, number: int):
        super().__init__(number)
        self.number = number


def exit_code(error: KeyboardInterrupt) -> int:
    """As shells report a signal."""
    return 128 + getattr(error, "number", signal.SIGINT)


def _stop(number, frame) -> None:
    raise StoppedError(number)


@contextlib.contextmanager
def stoppable():
    """Signals that end the process raise `StoppedError` within. One that is ignored (nohup) stays so."""
    before = {}
    if threading.current_thread() is threading.main_thread():
        for number in (getattr(signal, name, None) for name in _NAMES):
            if number is not None and signal.getsignal(number) is signal.SIG_DFL:
                before[number] = signal.signal(number, _stop)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def undisturbed():
    """Signals do nothing within: a second one must not cost what the first has saved."""
    before = {}
    if threading.current_thread() is threading.main_thread():
        for number in (getattr(signal, name, None) for name in (*_NAMES, "SIGINT")):
            if number is not None and callable(signal.getsignal(number)):
                before[number] = signal.signal(number, lambda *_: None)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
