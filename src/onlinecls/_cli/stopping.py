"""Signals that end a command as Ctrl-C does: what was learnt can be saved before."""

from __future__ import annotations

import contextlib
import signal
import threading

_NAMES = ("SIGTERM", "SIGHUP", "SIGINT")  # of what ends a process
_came: list[int] = []  # the numbers of signals


class StoppedError(KeyboardInterrupt):
    """A signal came."""

    def __init__(self, number: int):
        super().__init__(number)
        self.number = number


def exit_code(error: KeyboardInterrupt) -> int:
    """As shells report a signal."""
    return 128 + getattr(error, "number", signal.SIGINT)


def _stop(number, frame) -> None:
    _came.append(number)
    raise StoppedError(number)


def check_stopped() -> None:
    """Raise what came, if it was raised where Python or numpy forgets exceptions: in the callback of a weak reference, say."""
    if _came:
        raise StoppedError(_came[-1])


@contextlib.contextmanager
def stoppable():
    """Signals that end the process raise `StoppedError` within. One that is ignored (nohup) stays so."""
    before = {}
    _came.clear()
    if threading.current_thread() is threading.main_thread():
        for number in (getattr(signal, name, None) for name in _NAMES):
            if number is not None and signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
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
        for number in (getattr(signal, name, None) for name in _NAMES):
            if number is not None and callable(signal.getsignal(number)):
                before[number] = signal.signal(number, lambda *_: None)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
