"""make fuzz, or

    PYTHONPATH=tests python -m fuzz [TARGET ...] [--seconds 60] [--first 0] [--seed N]

Each target gets its seconds in a process of its own, which says after each case what the next seed is: so a crash, or a case that
never ends, has a name too. The same seed makes the same case: `python -m fuzz learners --seed 4711`. Findings are printed with
their seed; the exit code is 1 if there are any. A case that is bytes is kept in the corpus as a line of JSON and the bytes.
"""

import argparse
import collections
import faulthandler
import importlib
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import warnings
import zlib
from pathlib import Path

import numpy as np

TARGETS = ["learners", "models", "texts", "tables", "vectorizer", "command_line"]
CORPUS = Path(__file__).parent / "corpus"
PATIENCE = 300  # seconds for one case, on a machine that may be busy
MEMORY = 8 << 30  # bytes of addresses for a process


def checked(name, seed):
    """Make a target's case of a seed, run it, and return its outcome."""
    target = importlib.import_module(f"fuzz.{name}")
    case = target.make(np.random.default_rng([zlib.crc32(name.encode()), seed]))
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        return target.check(case)


def replayed(path):
    """Check what a file of the corpus holds; its name begins with that of the target."""
    options, _, data = path.read_bytes().partition(b"\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        return importlib.import_module(f"fuzz.{path.name.partition('-')[0]}").check((json.loads(options), data))


# --- the process that runs cases -----------------------------------------------------------------------------------------------


def work(name, first, seconds):
    """Cases one after the other; each line that is printed is the seed to come, or a finding."""
    faulthandler.enable(all_threads=False)
    if "LD_PRELOAD" not in os.environ:  # (AddressSanitizer reserves more addresses than there are bytes)
        from resource import RLIMIT_AS, setrlimit

        setrlimit(RLIMIT_AS, (MEMORY, MEMORY))
    threading.stack_size(1 << 20)
    end, seed, out = time.monotonic() + seconds, first, sys.stdout
    sys.stdout = sys.stderr
    importlib.import_module(f"fuzz.{name}")  # (which may take long, and is no case)
    print(json.dumps({"at": seed}), file=out, flush=True)
    while time.monotonic() < end:
        faulthandler.dump_traceback_later(PATIENCE, exit=True)
        try:
            found = {"came": checked(name, seed) or "done"}
        except BaseException as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            kind = f"{type(error).__name__} at {Path(last.filename).name}:{last.lineno}"
            found = {"kind": kind, "trace": traceback.format_exc()[-4000:]}
        seed += 1
        print(json.dumps({"at": seed, **found}), file=out, flush=True)
        if "kind" in found and found["kind"].startswith("KeyboardInterrupt"):
            break
    faulthandler.cancel_dump_traceback_later()


# --- the process that watches --------------------------------------------------------------------------------------------------


def hunt(name, first, seconds):
    """Run a target's processes until its time is over; return the number of findings."""
    began, seed, came, kinds = time.monotonic(), first, collections.Counter(), collections.Counter()

    def note(kind, trace, seed):
        kinds[kind] += 1
        if kinds[kind] == 1:
            print(f"\n--- {name} --seed {seed}: {kind}\n{trace}", flush=True)

    while (left := began + seconds - time.monotonic()) > 0 and kinds.total() < 200:
        command = [sys.executable, "-m", "fuzz", name, "--first", str(seed), "--seconds", str(left), "--work"]
        with tempfile.TemporaryFile() as errors, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors) as process:
            begun = False
            for line in map(json.loads, process.stdout):
                begun, seed = True, line["at"]
                came.update([line["came"]] if "came" in line else [])
                if "kind" in line:
                    note(line["kind"], line["trace"], seed - 1)
            errors.seek(0)
            said = errors.read().decode(errors="replace")
        if process.returncode:
            place = re.search(r"(runtime error: [^\n]*|ERROR: AddressSanitizer: \S+|Timeout \([^)]*\))", said)
            note(f"exit code {process.returncode} {place[1] if place else ''}".strip(), said[-6000:], seed)
            seed += 1
            if not begun:
                break
    said = ", ".join(f"{count:,} {what}" for what, count in came.most_common())
    found = "; ".join(f"{count} x {kind}" for kind, count in kinds.most_common()) or "none"
    n, passed = came.total() + kinds.total(), time.monotonic() - began
    print(f"{name}: {n:,} cases from seed {first} in {passed:.0f} s ({said}). Findings: {found}.", flush=True)
    return kinds.total()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(TARGETS))
    parser.add_argument("--seconds", type=float, default=60.0, help="for each target")
    parser.add_argument("--first", type=int, default=0, help="seed of the first case")
    parser.add_argument("--seed", type=int, help="run this case alone, in this process")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    targets = options.targets or TARGETS
    if not set(targets) <= set(TARGETS):
        parser.error(f"targets are {', '.join(TARGETS)}")
    if options.seed is not None:
        faulthandler.enable()
        for name in targets:
            print(name, options.seed, checked(name, options.seed))
    elif options.work:
        work(targets[0], options.first, options.seconds)
    else:
        return int(sum(hunt(name, options.first, options.seconds) for name in targets) > 0)
    return 0


if __name__ == "__main__":
    sys.exit(main())
