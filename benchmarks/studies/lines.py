"""MB a second of CSV, JSON lines and TSV, read and learnt, beside readers that learn nothing, in turns.

    PYTHONPATH=benchmarks python -m studies.lines [--write] [--rounds 3] [--rows 200000]

--write puts the table into docs/streams.md. A row is 20 numbers of four decimals, or a text of 20 words, and a label (yes, no).
Counted is the processor time of all threads: what one core does.
"""

import json
import os
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from pages import options, table, write_between_if

from onlinecls import AROWClassifier, make_stream_pipeline
from onlinecls.streams import read
from onlinecls.tables import TableVectorizer

from . import seconds


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
    with open(folder / "t.jsonl", "w") as file:
        for label, row in zip(y, words, strict=True):
            file.write(json.dumps({"label": label, "text": " ".join(f"w{word}" for word in row)}) + "\n")


def learn(path):
    learner = AROWClassifier(dtype="float32")
    with read(path) as stream:
        for X, y, _ in stream.batches_of_rows():
            learner.partial_fit(X, y)


def learn_table(path):
    """Learn as the command line does: numbers standardised as they come."""
    pipeline = make_stream_pipeline(TableVectorizer(bits=0, slots=32, dtype=np.float32), AROWClassifier(dtype="float32"))
    with read(path, tables="passthrough") as stream:
        for X, y, _ in stream.batches_of_rows():
            pipeline.partial_fit(X, y)


def without(names, run, path):
    """Learn as where these packages are not installed."""
    hidden = {name: sys.modules.pop(name, None) for name in names}
    sys.modules.update(dict.fromkeys(names))
    try:
        run(path)
    finally:
        for name, module in hidden.items():
            del sys.modules[name]
            if module is not None:
                sys.modules[name] = module


def contestants(folder):
    """Return {(format, what is done): function}, and the size of each format's file."""
    files = {
        "CSV of numbers": "a.csv", "JSON lines of numbers": "a.jsonl", "JSON lines of texts": "t.jsonl", "TSV of texts": "a.tsv"
    }
    csv, jsonl, texts, tsv = paths = [str(folder / name) for name in files.values()]
    sizes = {format: os.path.getsize(path) for format, path in zip(files, paths, strict=True)}
    found = {("TSV of texts", "read and learnt"): lambda: learn(tsv)}
    for format, path, run, what, package in (
        ("CSV of numbers", csv, learn, "as they are", "pyarrow"), ("CSV of numbers", csv, learn_table, "standardised", "pyarrow"),
        ("JSON lines of numbers", jsonl, learn, "as they are", "orjson"),
        ("JSON lines of numbers", jsonl, learn_table, "standardised", "orjson"),
        ("JSON lines of texts", texts, learn, "their words hashed", "orjson"),
    ):
        if find_spec(package):
            found[format, f"read and learnt, {what}, with {package}"] = lambda run=run, path=path: run(path)
        names = [package] if package == "orjson" else [package, "pyarrow.csv", "pyarrow.json"]
        found[format, f"read and learnt, {what}, without"] = lambda run=run, path=path, names=names: without(names, run, path)
    if find_spec("pyarrow"):
        import pyarrow.csv
        import pyarrow.json

        alone = {"csv": pyarrow.csv.ReadOptions(use_threads=False), "json": pyarrow.json.ReadOptions(use_threads=False)}
        found["CSV of numbers", "pyarrow's reader alone"] = lambda: pyarrow.csv.read_csv(csv, alone["csv"])
        found["JSON lines of numbers", "pyarrow's reader alone"] = lambda: pyarrow.json.read_json(jsonl, alone["json"])
        found["JSON lines of texts", "pyarrow's reader alone"] = lambda: pyarrow.json.read_json(texts, alone["json"])
    if find_spec("orjson"):
        import orjson

        def objects(path):
            with open(path, "rb") as file:
                return [orjson.loads(line) for line in file]

        found["JSON lines of numbers", "orjson's objects alone"] = lambda: objects(jsonl)
        found["JSON lines of texts", "orjson's objects alone"] = lambda: objects(texts)
    if find_spec("polars"):
        os.environ.setdefault("POLARS_MAX_THREADS", "1")
        import polars

        found["CSV of numbers", "polars' reader alone"] = lambda: polars.read_csv(csv)
        found["JSON lines of numbers", "polars' reader alone"] = lambda: polars.read_ndjson(jsonl)
        found["JSON lines of texts", "polars' reader alone"] = lambda: polars.read_ndjson(texts)
    return found, sizes


def rows(rounds, n_rows):
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder), n_rows)
        found, sizes = contestants(Path(folder))
        best = dict.fromkeys(found, float("inf"))
        for _ in range(rounds):
            for key, run in found.items():
                best[key] = min(best[key], seconds(run, time.process_time))
    for format, what in sorted(best, key=lambda key: (list(sizes).index(key[0]), best[key])):
        yield format, what, f"{sizes[format] / 1e6 / best[format, what]:.0f}"


def main():
    args = options(__doc__, rounds=3, rows=200_000)
    text = table(("", "", "MB a second"), rows(args.rounds, args.rows), left=2)
    write_between_if(args.write, "streams.md", "lines", text)


if __name__ == "__main__":
    main()
