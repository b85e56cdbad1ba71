"""MB a second of CSV, JSON lines and TSV, read and learnt, beside readers that learn nothing, in turns.

    python benchmarks/lines.py [--write] [--rounds 3] [--rows 200000]

--write puts the table into docs/streams.md. The rows are 20 numbers of four decimals and a label of two classes; for TSV they are
texts of 20 words. Our reader parses in one thread while another learns; the others get one thread.
"""

import argparse
import json
import os
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from pages import ROOT, write_between

from onlinecls import AROWClassifier
from onlinecls.streams import _plain, read

PAGE = ROOT / "docs" / "streams.md"


def write_files(folder, n_rows):
    generator = np.random.default_rng(0)
    X = generator.normal(size=(n_rows, 20)).round(4)
    y = np.where(X[:, 0] + X[:, 1] > 0, "yes", "no").tolist()
    names, rows = [f"c{k}" for k in range(20)], X.tolist()
    with open(folder / "a.csv", "w") as file:
        file.write(",".join(["label", *names]) + "\n")
        file.writelines(",".join([label, *map(repr, row)]) + "\n" for label, row in zip(y, rows, strict=True))
    with open(folder / "a.jsonl", "w") as file:
        file.writelines(
            json.dumps({"label": label, **dict(zip(names, row, strict=True))}) + "\n" for label, row in zip(y, rows, strict=True)
        )
    words = (generator.zipf(1.3, (n_rows, 20)) % 50_000).tolist()
    with open(folder / "a.tsv", "w") as file:
        file.writelines(f"{label}\t{' '.join(f'w{word}' for word in row)}\n" for label, row in zip(y, words, strict=True))


def learn(path):
    learner = AROWClassifier(dtype="float32")
    with read(path) as stream:
        for X, y, _ in stream.batches_of_rows():
            learner.partial_fit(X, y)


def slowly(path):
    """Learn as where pyarrow is not installed."""
    least, _plain.LEAST = _plain.LEAST, 1 << 62
    try:
        learn(path)
    finally:
        _plain.LEAST = least


def contestants(folder):
    """Return {(format, what is done): function}."""
    csv, jsonl, tsv = (str(folder / f"a.{format}") for format in ("csv", "jsonl", "tsv"))
    found = {
        ("CSV", "read and learnt, with pyarrow"): lambda: learn(csv), ("CSV", "read and learnt, without"): lambda: slowly(csv),
        ("JSON lines", "read and learnt, with pyarrow"): lambda: learn(jsonl),
        ("JSON lines", "read and learnt, without"): lambda: slowly(jsonl),
        ("TSV of texts", "read and learnt"): lambda: learn(tsv),
    }
    if find_spec("pyarrow"):
        import pyarrow.csv
        import pyarrow.json

        found["CSV", "pyarrow's reader alone"] = lambda: pyarrow.csv.read_csv(csv, pyarrow.csv.ReadOptions(use_threads=False))
        found["JSON lines", "pyarrow's reader alone"] = lambda: pyarrow.json.read_json(
            jsonl, pyarrow.json.ReadOptions(use_threads=False)
        )
    if find_spec("orjson"):
        import orjson

        def objects():
            with open(jsonl, "rb") as file:
                return [orjson.loads(line) for line in file]

        found["JSON lines", "orjson's objects alone"] = objects
    if find_spec("polars"):
        os.environ.setdefault("POLARS_MAX_THREADS", "1")
        import polars

        found["CSV", "polars' reader alone"] = lambda: polars.read_csv(csv)
        found["JSON lines", "polars' reader alone"] = lambda: polars.read_ndjson(jsonl)
    sizes = {"CSV": os.path.getsize(csv), "JSON lines": os.path.getsize(jsonl), "TSV of texts": os.path.getsize(tsv)}
    return found, sizes


def table(rounds, n_rows):
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder), n_rows)
        found, sizes = contestants(Path(folder))
        best = dict.fromkeys(found, float("inf"))
        for _ in range(rounds):
            for key, run in found.items():
                start = time.perf_counter()
                run()
                best[key] = min(best[key], time.perf_counter() - start)
    yield from ("| | | MB a second |", "|---|---|---:|")
    for format, what in sorted(best, key=lambda key: (list(sizes).index(key[0]), best[key])):
        yield f"| {format} | {what} | {sizes[format] / 1e6 / best[format, what]:.0f} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=200_000)
    options = parser.parse_args()
    found = "\n".join(table(options.rounds, options.rows))
    print(found)
    if options.write:
        write_between(PAGE, "lines", found)


if __name__ == "__main__":
    main()
