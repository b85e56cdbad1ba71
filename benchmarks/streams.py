"""Reading of streams: MB/s a format beside scikit-learn's load_svmlight_file, and resident memory over a large file.

    python benchmarks/streams.py [rounds] [megabytes of the large file]

MB/s are of the reader's own thread time, nothing read ahead, the contestants in turns, median of the rounds; the files are real
data sets written out, in the page cache. The large files are the same
repeated, in a temporary directory, and deleted afterwards; memory is Linux's VmHWM, and the consumer drops every batch.
"""

import gzip
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from corpora import _require
from sklearn.datasets import dump_svmlight_file, load_svmlight_file
from sklearn.feature_extraction.text import HashingVectorizer

from onlinecls.streams import read

LEAST = 20e6  # bytes: small files are repeated

MEMORY = """
import gzip, re, sys, time
from onlinecls.streams import read
def peak(): return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read()).group(1)) / 1024
before, start = peak(), time.perf_counter()
with read(sys.argv[1], sys.argv[2]) as stream:
    for X, y, weight in stream: pass
print(f"{stream.bytes_read / 1e6:.0f} {peak() - before:.1f} {time.perf_counter() - start:.2f}")
"""


def contents():
    """(name, format, bytes) of each file."""
    for name in ("rcv1-subset1", "a9a"):
        text = gzip.open(_require(name)).read()
        yield name, "svmlight", text
        yield name, "vw", _as_vw(text)
    tsv = gzip.open(_require("imdb-train")).read()
    rows = [line.split("\t", 1) for line in tsv.decode().splitlines()]
    labels = np.array([1.0 if label == "pos" else -1.0 for label, _ in rows[:5000]])
    texts = [text for _, text in rows[:5000]]
    for kind, params in (("counts", {"norm": None, "alternate_sign": False}), ("unit length, 16 digits", {})):
        text = _dumped(HashingVectorizer(**params).transform(texts), labels)
        yield f"imdb hashed, {kind}", "svmlight", text
        yield f"imdb hashed, {kind}", "vw", _as_vw(text)
    words = (f"{1 if label == 'pos' else -1} | {' '.join(re.findall(r'[a-z0-9]+', text.lower()))}\n" for label, text in rows)
    yield "imdb, words", "vw", "".join(words).encode()
    yield "imdb", "tsv", tsv


def _as_vw(text):
    return b"".join(line.replace(b" ", b" | ", 1) for line in text.splitlines(keepends=True))


def _dumped(X, y):
    with tempfile.TemporaryFile() as file:
        dump_svmlight_file(X, y, file)
        file.seek(0)
        return file.read()


def seconds(path, format):
    start = time.thread_time()
    with read(path, format, prefetch=False) as stream:
        for _ in stream:
            pass
    return time.thread_time() - start


def peer_seconds(path):
    start = time.thread_time()
    load_svmlight_file(str(path), n_features=2**20, dtype=np.float32, zero_based=True)
    return time.thread_time() - start


def main(rounds=5, megabytes=500):
    with tempfile.TemporaryDirectory() as folder:
        path, large = Path(folder, "file"), Path(folder, "large")
        print(f"| {'file':36} | format   |   MB/s | scikit-learn | ratio |\n|---|---|---|---|---|")
        for name, format, text in contents():
            path.write_bytes(text * max(1, int(LEAST / len(text))))
            size, theirs = path.stat().st_size / 1e6, []
            ours = [seconds(path, format)]
            for k in range(rounds):
                ours.append(seconds(path, format))
                if format == "svmlight" and k < 2:  # it takes its time
                    theirs.append(peer_seconds(path))
            mine = size / np.median(ours)
            peer = f"{size / np.median(theirs):12.0f} | {mine * np.median(theirs) / size:5.0f}" if theirs else f"{'':12} | {'':5}"
            print(f"| {name:36} | {format:8} | {mine:6.0f} | {peer} |", flush=True)
        print(f"\n| {'large file':18} | MB on disk | peak resident, MB more than after import | seconds |\n|---|---|---|---|")
        for name, format, text in contents():
            if (name, format) not in (("rcv1-subset1", "svmlight"), ("rcv1-subset1", "vw"), ("imdb", "tsv")):
                continue
            for opener, suffix, part in ((open, "", 10), (open, "", 1), (gzip.open, ".gz", 1)):
                with opener(large, "wb", **({"compresslevel": 1} if suffix else {})) as out:
                    for _ in range(int(megabytes * 1e6 / part / len(text))):
                        out.write(text)
                result = subprocess.run([sys.executable, "-c", MEMORY, large, format], capture_output=True, check=True, text=True)
                size, peak, took = result.stdout.split()
                print(f"| {format + suffix:18} | {size:>10} | {peak:>10} | {took:>7} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
