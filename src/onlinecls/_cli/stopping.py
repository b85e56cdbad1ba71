"""Signals that end a command as Ctrl-C does, so that the model can be saved before; and lines that nobody need read."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading

_NAMES = ("SIGTERM", "SIGHUP", "SIGINT")  # signals that end a process
_received: list[int] = []  # numbers of signals


class StoppedError(KeyboardInterrupt):
    """Raised when a signal, whose number it has, ends the command."""


def _stop(number, frame) -> None:
    _received.append(number)
    raise StoppedError(number)


def tell(line: str) -> None:
    """Print a line, if it is not empty, to standard error, which may be gone or full."""
    with contextlib.suppress(OSError):
        print(line, end="\n" * bool(line), file=sys.stderr, flush=True)


def check_stopped() -> None:
    """Raise the error of a signal again if Python or numpy has swallowed it, as in the callback of a weak reference."""
    if _received:
        raise StoppedError(_received[-1])


@contextlib.contextmanager
def stoppable():
    """Raise `StoppedError` at signals that end the process. Signals that are ignored (nohup) stay so.

    Python prints and drops what is raised in a finalizer: a `StoppedError` is dropped in silence, and `check_stopped` raises it.
    """
    _received.clear()
    shown = sys.unraisablehook
    sys.unraisablehook = lambda found: None if isinstance(found.exc_value, StoppedError) else shown(found)
    try:
        with _handled(_stop, lambda old: old in (signal.SIG_DFL, signal.default_int_handler)):
            yield
    finally:
        sys.unraisablehook = shown


def signals_ignored():
    """Ignore signals within: a second one must not interrupt the saving that the first one began."""
    return _handled(lambda *_: None, callable)


@contextlib.contextmanager
def _handled(handler, replaces):
    """Handle the signals whose handlers are to be replaced, as far as Python allows it: in the main thread."""
    before = {}
    if threading.current_thread() is threading.main_thread():
        for number in (getattr(signal, name, None) for name in _NAMES):
            if number is not None and replaces(signal.getsignal(number)):
                before[number] = signal.signal(number, handler)
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)
