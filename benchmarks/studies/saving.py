"""Time of saving a model: bare formats, checksums, and `save` and `load`, in turns, on one thread.

    PYTHONPATH=benchmarks python -m studies.saving [--write] [--rounds 7] [--bits 24]     (2^bits features)

--write puts the tables into docs/inside.md. The file is in the page cache. safetensors is left out where it is not installed.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from pages import options, table, write_between_if
from scipy.sparse import csr_matrix

import onlinecls

from . import seconds

NO_SHA = {"OPENSSL_ia32cap": ":~0x20000000"}  # hides the processor's SHA instructions from OpenSSL
CHECKSUM = """
import hashlib, sys, time, zlib
data, run = bytes(int(sys.argv[2])), {"crc32": zlib.crc32, "sha256": hashlib.sha256, "blake2b": hashlib.blake2b}[sys.argv[1]]
start = time.perf_counter()
run(data)
print(time.perf_counter() - start)
"""
PEAK = """
import re, sys
import numpy as np, onlinecls
def status(name): return int(re.search(name + r":\\s+(\\d+)", open("/proc/self/status").read()).group(1)) * 1024 / 1e6
def own(): return status("VmHWM") - status("RssFile")  # pages of a mapped file are not the process's own
def npz(path): return dict(np.load(path))
def package(path):
    from safetensors.numpy import load_file
    return load_file(path)
def plain(path): return np.fromfile(path, np.float32)
def mapped(path): return np.memmap(path, np.float32)
def whole(path): return onlinecls.load(path)
def shared(path): return onlinecls.load(path, mmap=True)
np.zeros(1).sum()
before = own()
kept = globals()[sys.argv[1]](sys.argv[2])
print(max(own() - before, 0.0))
"""


def child(code, *arguments, **environment):
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return float(subprocess.run(command, env={**os.environ, **environment}, capture_output=True, check=True, text=True).stdout)


def in_turns(runs, rounds):
    times = [[seconds(run, time.perf_counter) for run in runs.values()] for _ in range(rounds)]
    return dict(zip(runs, zip(*times, strict=True), strict=True))


def ms(values):
    return f"{1e3 * min(values):.0f} ms"


def formats(array, folder, rounds):
    """Time bare formats without fsync, checksum and checks. safetensors stores the arrays as they are in memory."""
    npz, package, plain = (Path(folder, name) for name in ("a.npz", "a.safetensors", "a.bin"))
    arrays = {"values": array}
    runs = {
        ("`numpy.savez`", "npz", npz): (lambda: np.savez(npz, **arrays), lambda: dict(np.load(npz))),
        ("its layout, plainly written and read", "plain", plain): (
            lambda: plain.write_bytes(memoryview(array)), lambda: np.fromfile(plain, array.dtype),
        ),
        ("its layout, mapped", "mapped", plain): (lambda: None, lambda: np.memmap(plain, array.dtype)),
    }
    try:
        import safetensors
        from safetensors.numpy import load_file, save_file
    except ImportError:
        print("skipped, not installed: safetensors", file=sys.stderr)
    else:
        name = f"safetensors {re.match(r'[0-9]+.[0-9]+', safetensors.__version__)[0]}, `save_file`, `load_file`"
        runs[name, "package", package] = (lambda: save_file(arrays, package), lambda: load_file(package))
    saved = in_turns({key: save for key, (save, _) in runs.items()}, rounds)
    loaded = in_turns({key: load for key, (_, load) in runs.items()}, rounds)
    for key in runs:
        name, kind, path = key
        save = "" if kind == "mapped" else ms(saved[key])
        load = f"{1e3 * min(loaded[key]):.1f} ms" if kind == "mapped" else ms(loaded[key])
        yield name, save, load, f"{child(PEAK, kind, path):.0f} MB"


CHECKSUMS = {
    "CRC-32": ("crc32", {}),
    "SHA-256": ("sha256", {}),
    "SHA-256 without the processor's SHA instructions": ("sha256", NO_SHA),
    "BLAKE2b": ("blake2b", {}),
}


def checksums(size, rounds):
    times = [[child(CHECKSUM, kind, size, **environment) for kind, environment in CHECKSUMS.values()] for _ in range(rounds)]
    yield map(ms, zip(*times, strict=True))


def together(learner, folder, rounds):
    path = Path(folder, "model")
    runs = {
        "`save`": lambda: learner.save(path), "`load`": lambda: onlinecls.load(path),
        "`load(mmap=True)`": lambda: onlinecls.load(path, mmap=True),
    }
    times = in_turns(runs, rounds)
    for name, kind in zip(runs, (None, "whole", "shared"), strict=True):
        peak = "" if kind is None else f"{child(PEAK, kind, path):.0f} MB"
        yield name, ms(times[name]), f"{1e3 * np.median(times[name]):.0f} ms", peak


def main():
    args = options(__doc__, rounds=7, bits=24)
    rng, d = np.random.default_rng(0), 2**args.bits
    X = csr_matrix((rng.standard_normal(10_000), rng.integers(0, d, 10_000), np.arange(0, 10_001, 10)), shape=(1000, d))
    learner = onlinecls.AROWClassifier(dtype="float32").partial_fit(X, rng.integers(0, 2, 1000), classes=[0, 1])
    array = np.concatenate([learner.coef_.ravel(), learner.covariance_.ravel()])
    with tempfile.TemporaryDirectory() as folder:
        found = table(("", "save", "load", "memory for a load"), formats(array, folder, args.rounds))
        write_between_if(args.write, "inside.md", "formats", found)
        write_between_if(args.write, "inside.md", "checksums", table(CHECKSUMS, checksums(array.nbytes, args.rounds), left=4))
        found = table(("", "minimum", "median", "memory"), together(learner, folder, args.rounds))
        write_between_if(args.write, "inside.md", "together", found)


if __name__ == "__main__":
    main()
