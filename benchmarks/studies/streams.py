"""Reading of streams: MB/s a format beside scikit-learn's load_svmlight_file, and resident memory over a large file.

    PYTHONPATH=benchmarks python -m studies.streams [--rounds 5] [--megabytes 500] [--write]

MB/s are of the reader's own thread time, nothing read ahead, the contestants in turns, median of the rounds; the files are real
data sets written out, in the page cache. The large files are the same
repeated, in a temporary directory, and deleted afterwards; memory is Linux's VmHWM, and the consumer drops every batch.
--write puts both tables into docs/streams.md.
"""

import gzip
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from corpora import _require
from pages import options, shown, table, write_between_if
from sklearn.datasets import dump_svmlight_file, load_svmlight_file
from sklearn.feature_extraction.text import HashingVectorizer

from onlinecls.streams import read

from . import seconds

LEAST = 20e6  # bytes: small files are repeated

MEMORY = """
import re, sys
from onlinecls.streams import read
def peak(): return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read()).group(1)) / 1024
before = peak()
with read(sys.argv[1], sys.argv[2]) as stream:
    for X, y, weight in stream: pass
print(f"{stream.bytes_read / 1e6:.0f} {peak() - before:.1f}")
"""


def contents():
    """Yield (name, format, bytes) of each file."""
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


def drain(path, format):
    with read(path, format, prefetch=False) as stream:
        for _ in stream:
            pass


def speed(folder, rounds):
    path = Path(folder, "file")
    for name, format, text in contents():
        path.write_bytes(text * max(1, int(LEAST / len(text))))
        size, theirs, peer = path.stat().st_size / 1e6, [], ("", "")
        ours = [seconds(lambda format=format: drain(path, format))]
        for k in range(rounds):
            ours.append(seconds(lambda format=format: drain(path, format)))
            if format == "svmlight" and k < 2:  # it takes its time
                theirs.append(seconds(lambda: load_svmlight_file(path, n_features=2**20, dtype=np.float32, zero_based=True)))
        mine = size / np.median(ours)
        if theirs:
            peer = f"{size / np.median(theirs):.0f}", f"{mine * np.median(theirs) / size:.0f}"
        yield name, format, f"{mine:.0f}", *peer


def memory(folder, megabytes):
    large = Path(folder, "large")
    for name, format, text in contents():
        if (name, format) not in (("rcv1-subset1", "svmlight"), ("rcv1-subset1", "vw"), ("imdb", "tsv")):
            continue
        for opener, suffix, part in ((open, "", 10), (open, "", 1), (gzip.open, ".gz", 1)):
            with opener(large, "wb", **({"compresslevel": 1} if suffix else {})) as out:
                for _ in range(int(megabytes * 1e6 / part / len(text))):
                    out.write(text)
            result = subprocess.run([sys.executable, "-c", MEMORY, large, format], capture_output=True, check=True, text=True)
            yield format + suffix, *result.stdout.split()


def main():
    args = options(__doc__, rounds=5, megabytes=500)
    with tempfile.TemporaryDirectory() as folder:
        found = table(("file", "format", "MB/s", "scikit-learn", "ratio"), shown(speed(folder, args.rounds)), left=2)
        write_between_if(args.write, "streams.md", "speed", found)
        head = "large file", "MB on disk", "peak resident, MB more than after import"
        write_between_if(args.write, "streams.md", "memory", table(head, shown(memory(folder, args.megabytes))))


if __name__ == "__main__":
    main()
