"""The command line: `onlinecls train`, `predict`, `evaluate`, `inspect`, a file each.

Data flows from `options` (what was typed) through `parameters` (a learner) and `inputs` (rows of files) to `run` (learning) and
`report` (counters as text). The metadata of a model's file describe how its rows were read.
"""

from __future__ import annotations

import atexit
import gc
import io
import os
import sys
import warnings
from functools import partial
from importlib import import_module

from .._input import escaped
from .options import parser
from .stopping import exit_code

_DONE, _BAD_DATA, _BROKEN_PIPE = 0, 1, 141  # the last as shells report SIGPIPE; argparse has 2

# What replaces the hint of an error about a parameter of Python.
_OPTIONS = {
    **dict.fromkeys(("label", "labels", "tab", "max_line_bytes", "zero_based", "csv.field_size_limit", "missing",
                     "categories"), ""),  # (without an option)
    "n_features": "columns (--bits)", "weight": "--weights", "header": "--no-header", "format": "--format",
    "delimiter": "--delimiter", "table": "--format csv", "quotes": "--format csv --delimiter tab --no-header --label 0 --text 1",
    "class_weight": "--param class_weight", "covariance": "--param covariance=",
    "X": "Give rows like those that the model has learnt from.",
}


class _Closed(io.TextIOBase):
    """Replaces a standard output that was closed: writing raises an OSError."""

    def write(self, text: str) -> int:
        raise OSError("standard output must be open for what is printed, got a closed one. Redirect it to a file.")


def _command(name: str):
    """Import a command, a module with a function of its name."""
    gc.disable()  # what is imported stays: there are no cycles to find among it
    try:
        return getattr(import_module(f".{name}", __package__), name)
    finally:
        gc.enable()


def _message_of(error: Exception) -> str:
    """Return the message of an error in terms of options."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{os.fsdecode(error.filename)}: {error.strerror}"
    if isinstance(error, MemoryError):
        why = f" ({error})" if str(error) else ""
        return f"not enough memory{why}. Free some, or run the command on a machine with more."
    parameter, hint = getattr(error, "parameter", ""), getattr(error, "hint", "")
    is_named = hint.startswith("read: ")
    option = _OPTIONS.get(parameter, "" if is_named else hint) or (f"--{parameter}" if is_named else "")
    return str(error).replace(hint, option) if hint else str(error)


def _show(options, told: set, others, message, category, *rest, **where) -> None:
    """Print a warning about data as errors are printed, once of a kind; show those for programmers in Python's way."""
    if category is not UserWarning and not hasattr(message, "hint"):
        others(message, category, *rest, **where)
    elif (kind := str(message).partition(", got ")[0]) not in told:
        told.add(kind)
        print(f"onlinecls {options.command}: warning: {escaped(_message_of(message))}", file=sys.stderr)


def _drop_output() -> None:
    """Drop what standard output cannot take, or the interpreter complains when it flushes it at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main(argv: list[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    atexit.register(gc.freeze)  # a search for cycles at exit takes as long as 10 MB of texts
    # More threads of OpenBLAS spin for 2^26 cycles before they sleep, a quarter of a small command's CPU time, and wait for each
    # other in the small products of a full covariance.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    sys.stderr = sys.stderr or open(os.devnull, "w")
    sys.stdout = sys.stdout or _Closed()
    try:
        argv = sys.argv[1:] if argv is None else argv
        options = parser(argv).parse_args(argv)
        sys.setswitchinterval(5e-4)  # (threads of a stream need the interpreter for less than the default of 5 ms)
        with warnings.catch_warnings():
            warnings.filterwarnings("always", category=UserWarning)
            warnings.showwarning = partial(_show, options, set(), warnings.showwarning)
            _command(options.command)(options)
        sys.stdout.flush()
        return _DONE
    except SystemExit as end:  # argparse has printed its message
        return end.code
    except BrokenPipeError:
        _drop_output()
        return _BROKEN_PIPE
    except KeyboardInterrupt as error:
        return exit_code(error)
    except (ValueError, TypeError, LookupError, OSError, ImportError, MemoryError, RecursionError) as error:
        print(f"onlinecls {options.command}: {escaped(_message_of(error))}", file=sys.stderr)
        try:
            sys.stdout.flush()
        except OSError:  # the disk is full
            _drop_output()
        return _BAD_DATA
