"""The command line: `onlinecls train`, `predict`, `inspect`, `compare`, a file each; `options` has their options, `inputs` makes
rows of files, `learning` teaches them to estimators. A model's file carries in its metadata how its rows were read."""

from __future__ import annotations

import atexit
import gc
import os
import sys

from .._input.escaping import escaped
from .options import parser

_DONE, _BAD_DATA, _INTERRUPTED, _BROKEN_PIPE = 0, 1, 130, 141  # the last two as shells report SIGINT and SIGPIPE; argparse has 2


def main(argv: list[str] | None = None) -> int:
    """Run the command line; the exit code."""
    atexit.register(gc.freeze)  # at exit all memory goes at once: to look for cycles in it first takes as long as 10 MB of texts
    try:
        options = parser().parse_args(argv)
        sys.setswitchinterval(5e-4)  # the threads of a stream hold the interpreter for less: 5 ms is long to wait for it
        options.run(options)
        sys.stdout.flush()
        return _DONE
    except SystemExit as end:  # argparse has said what there is to say
        return end.code
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or the interpreter complains when it flushes at exit
        return _BROKEN_PIPE
    except KeyboardInterrupt:
        return _INTERRUPTED
    except (ValueError, TypeError, OSError, ImportError, MemoryError) as error:
        print(f"onlinecls {options.command}: {escaped(_message(error))}", file=sys.stderr)
        return _BAD_DATA


def _message(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{os.fsdecode(error.filename)}: {error.strerror}"
    if isinstance(error, MemoryError):
        return f"not enough memory ({error}). Fewer --bits take less."
    return str(error)
