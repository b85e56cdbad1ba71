"""The command line: `onlinecls train`, `predict`, `evaluate`, `inspect`, `explain`, `compare`, `algorithms`, a file each;
`options` has their options, `inputs` makes rows of files, `learning` teaches them to estimators, `wording` says errors in the
words of options. A model's file carries in its metadata how its rows were read."""

from __future__ import annotations

import atexit
import gc
import io
import os
import sys

from .._input.escaping import escaped
from .options import parser
from .stopping import exit_code
from .wording import message_of

_DONE, _BAD_DATA, _BROKEN_PIPE = 0, 1, 141  # the last as shells report SIGPIPE; argparse has 2


class _Closed(io.TextIOBase):
    """In the place of a standard output that was closed."""

    def write(self, text: str) -> int:
        raise OSError("standard output must be open for what is printed, got a closed one. Redirect it to a file.")


def main(argv: list[str] | None = None) -> int:
    """Run the command line; the exit code."""
    atexit.register(gc.freeze)  # at exit all memory goes at once: to look for cycles in it first takes as long as 10 MB of texts
    sys.stderr = sys.stderr or open(os.devnull, "w")
    sys.stdout = sys.stdout or _Closed()
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
    except KeyboardInterrupt as error:
        return exit_code(error)
    except (ValueError, TypeError, OSError, ImportError, MemoryError) as error:
        print(f"onlinecls {options.command}: {escaped(message_of(error))}", file=sys.stderr)
        return _BAD_DATA
