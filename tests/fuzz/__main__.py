"""make fuzz, or

    PYTHONPATH=tests python -m fuzz [TARGET ...] [--seconds 60] [--first 0] [--seed N] [--keep FOLDER]

Each target gets its seconds in a process of its own, which says before each case what its seed is: so a crash, or a case that
never ends, has a name too. The same seed makes the same case: `python -m fuzz learners --seed 4711`. Findings are printed with
their seed; the exit code is 1 if there are any. --keep writes those that are bytes into a folder, in the form of the corpus.
"""

import argparse
import collections
import faulthandler
import hashlib
import importlib
import json
import os
import re
import selectors
import signal
import subprocess
import sys
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


def made(name, seed):
    """(the target, its case of that seed)."""
    target = importlib.import_module(f"fuzz.{name}")
    return target, target.make(np.random.default_rng([zlib.crc32(name.encode()), seed]))


def checked(name, seed):
    """Run a case and return its outcome."""
    target, case = made(name, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        return target.check(case)


def written(case):
    """Return a case as a file of the corpus."""
    options, data = case
    return json.dumps(options).encode() + b"\n" + data


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
    import threading

    threading.stack_size(1 << 20)
    end, seed, out = time.monotonic() + seconds, first, sys.stdout
    sys.stdout = sys.stderr
    importlib.import_module(f"fuzz.{name}")  # (which may take long, and is no case)
    print(json.dumps({"at": seed}), file=out, flush=True)
    while time.monotonic() < end:
        found = {}
        try:
            found["came"] = checked(name, seed) or "done"
        except BaseException as error:
            trace = traceback.format_exc()
            lines = [frame for frame in traceback.extract_tb(error.__traceback__)]
            found["kind"] = f"{type(error).__name__} at {Path(lines[-1].filename).name}:{lines[-1].lineno}"
            found["trace"] = trace[-4000:]
        seed += 1
        print(json.dumps({"at": seed, **found}), file=out, flush=True)
        if "kind" in found and found["kind"].startswith("KeyboardInterrupt"):
            return


# --- the process that watches --------------------------------------------------------------------------------------------------


class Hunt:
    """Run a target's processes until its time is over."""

    def __init__(self, name, first, seconds, keep):
        self.name, self.seed, self.keep = name, first, keep
        self.end, self.began = time.monotonic() + seconds, time.monotonic()
        self.came, self.kinds, self.first = collections.Counter(), collections.Counter(), first

    def run(self):
        while (left := self.end - time.monotonic()) > 0 and sum(self.kinds.values()) < 200:
            self._watch(left)
        return self

    def _watch(self, left):
        import tempfile

        command = [sys.executable, "-m", "fuzz", self.name, "--first", str(self.seed), "--seconds", str(left), "--work"]
        with tempfile.TemporaryFile() as errors:
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors)
            begun, last = False, time.monotonic()
            with selectors.DefaultSelector() as selector:
                selector.register(process.stdout, selectors.EVENT_READ)
                buffer, stuck = b"", False
                while True:
                    if not selector.select(timeout=5.0):
                        if time.monotonic() - last > (PATIENCE if begun else 2 * PATIENCE):
                            stuck = True
                            process.send_signal(signal.SIGABRT)  # faulthandler shows where it is
                            break
                        continue
                    part = os.read(process.stdout.fileno(), 1 << 16)
                    if not part:
                        break
                    *lines, buffer = (buffer + part).split(b"\n")
                    for line in lines:
                        begun, last = True, time.monotonic()
                        self._note(json.loads(line))
            process.stdout.close()
            code = process.wait()
            errors.seek(0)
            said = errors.read().decode(errors="replace")
        if stuck or code:
            what = "no end" if stuck else f"exit code {code}"
            place = re.search(r"(runtime error: [^\n]*|ERROR: AddressSanitizer: \S+)", said)
            self._found(f"{what} {place[1] if place else ''}".strip(), said[-6000:], self.seed)
            self.seed += 1
            if not begun:
                self.end = 0.0

    def _note(self, line):
        if "kind" in line:
            self._found(line["kind"], line["trace"], line["at"] - 1)
        if "came" in line:
            self.came[line["came"]] += 1
        self.seed = line["at"]

    def _found(self, kind, trace, seed):
        self.kinds[kind] += 1
        if self.kinds[kind] > 1:
            return
        print(f"\n--- {self.name} --seed {seed}: {kind}\n{trace}", flush=True)
        if self.keep:
            _, case = made(self.name, seed)
            if isinstance(case, tuple) and len(case) == 2 and isinstance(case[1], bytes):
                data = written(case)
                Path(self.keep, f"{self.name}-{hashlib.sha256(data).hexdigest()[:8]}").write_bytes(data)

    def __str__(self):
        n = sum(self.came.values()) + sum(self.kinds.values())
        came = ", ".join(f"{count:,} {what}" for what, count in self.came.most_common())
        found = "; ".join(f"{count} x {kind}" for kind, count in self.kinds.most_common())
        seconds = time.monotonic() - self.began
        return f"{self.name}: {n:,} cases from seed {self.first} in {seconds:.0f} s ({came}). Findings: {found or 'none'}."


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(TARGETS))
    parser.add_argument("--seconds", type=float, default=60.0, help="for each target")
    parser.add_argument("--first", type=int, default=0, help="seed of the first case")
    parser.add_argument("--seed", type=int, help="run this case alone, in this process")
    parser.add_argument("--keep", help="folder for findings that are bytes")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    targets = options.targets or TARGETS
    if not set(targets) <= set(TARGETS):
        parser.error(f"targets are {', '.join(TARGETS)}")
    if options.seed is not None:
        faulthandler.enable()
        for name in targets:
            print(name, options.seed, checked(name, options.seed))
        return 0
    if options.work:
        work(targets[0], options.first, options.seconds)
        return 0
    hunts = []
    for name in targets:
        hunts.append(Hunt(name, options.first, options.seconds, options.keep).run())
        print(hunts[-1], flush=True)
    return 1 if any(hunt.kinds for hunt in hunts) else 0


if __name__ == "__main__":
    sys.exit(main())
