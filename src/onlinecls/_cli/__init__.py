"""The command line: `onlinecls train` learns; `predict`, `evaluate` and `inspect` are in `saved`.

`options` has what was typed, `models` makes a model of it, or of a file, and reads rows for it. The metadata of a model's file
describe how its rows were read.
"""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
import warnings
from functools import partial
from importlib import import_module

from .._input import escaped
from .options import parser
from .stopping import StoppedError, tell

_DONE, _BAD_DATA, _BROKEN_PIPE = 0, 1, 141  # the last as shells report SIGPIPE; argparse has 2

# What replaces the hint of an error about a parameter of Python.
_OPTIONS = {
    "n_features": "columns (--bits)", "weight": "--weights", "format": "--format", "label": "--label", "text": "--text",
    "delimiter": "--delimiter", "class_weight": "--param class_weight", "covariance": "--param covariance=",
    "X": "Give rows like those that the model has learnt from.",
}


def _message_of(error: BaseException) -> str:
    """Return the message of an error in terms of options."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{os.fsdecode(error.filename)}: {error.strerror}"
    if isinstance(error, MemoryError):
        return f"not enough memory{f' ({error})' * bool(str(error))}. Free some, or run the command on a machine with more."
    hint = getattr(error, "hint", "")
    option = _OPTIONS.get(getattr(error, "parameter", ""), "")
    return str(error).replace(hint, option) if hint else str(error)


def _show(options, told: set, message, category, *_, **__) -> None:
    """Print a warning as errors are printed, once of a kind."""
    if (kind := str(message).partition(", got ")[0]) not in told:
        told.add(kind)
        tell(f"onlinecls {options.command}: warning: {escaped(_message_of(message))}")


def main(argv: list[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    atexit.register(gc.freeze)  # a search for cycles at exit takes as long as 10 MB of texts
    # (More threads of OpenBLAS spin before they sleep: a quarter of a small command's CPU time.)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    sys.stderr = sys.stderr or open(os.devnull, "w")
    try:
        options = parser().parse_args(argv)
        sys.setswitchinterval(5e-4)  # (threads of a stream need the interpreter for less than the default of 5 ms)
        with warnings.catch_warnings():
            warnings.filterwarnings("always", category=UserWarning)
            warnings.showwarning = partial(_show, options, set())
            module = import_module(".train" if options.command == "train" else ".saved", __package__)
            if sys.stdout is None and options.command != "train":
                raise OSError("standard output must be open for what is printed, got a closed one. Redirect it to a file.")
            getattr(module, options.command)(options)
        print(end="", flush=True)
        code = _DONE
    except SystemExit as end:  # argparse has printed its message
        return end.code
    except BrokenPipeError:
        code = _BROKEN_PIPE
    except KeyboardInterrupt as error:
        code = 128 + (error.args[0] if isinstance(error, StoppedError) else signal.SIGINT)  # as shells report signals
    except (ValueError, TypeError, LookupError, OSError, ImportError, MemoryError, RecursionError) as error:
        tell(f"onlinecls {options.command}: {escaped(_message_of(error))}")
        code = _BAD_DATA
    for stream in filter(None, (sys.stdout, sys.stderr)):
        try:
            stream.flush()
        except OSError:  # what nobody takes is dropped, or the interpreter complains when it flushes it at exit
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return code
