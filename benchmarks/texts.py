"""Texts to rows, and files to models. Words are made up and follow Zipf's law, as ASCII and in Cyrillic letters."""

import functools
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from onlinecls import TableVectorizer, load, make_stream_pipeline
from onlinecls.streams import read
from onlinecls.text import FeatureNames, HashingVectorizer

from .common import Timed, make_estimator, stream

CYRILLIC = str.maketrans("abcdefghijklmnopqrstuvwxyz", "абцдефгхижклмнопярстувшыьз")
TOKENS = {
    "words": {}, "words and pairs": {"ngram_range": (1, 2)}, "characters": {"analyzer": "char_wb", "ngram_range": (3, 5)},
}  # fmt: skip


@functools.cache
def texts(script="ASCII", n=1000, n_words=100):
    """Make texts of so many words."""
    rng = np.random.default_rng(0)
    letters = np.array(list("eetaoinshrdlucmfwypvbgkjqxz"))
    words = ["".join(letters[rng.integers(len(letters), size=size)]) for size in rng.poisson(3.5, 20_000) + 1]
    ranks = np.exp(rng.random((n, n_words)) * np.log(len(words))).astype(np.int64)
    found = [" ".join(words[i] for i in row) for row in ranks]
    return [text.translate(CYRILLIC) for text in found] if script == "Cyrillic" else found


class Hashing(Timed):
    """1,000 texts of 100 words (540 bytes in ASCII): 1 ms is 1 us a text."""

    params = [list(TOKENS), ["ASCII", "Cyrillic"]]
    param_names = ["tokens", "script"]

    def setup(self, tokens, script):
        self.texts = texts(script)
        self.plain = HashingVectorizer(**TOKENS[tokens])
        self.named = FeatureNames(HashingVectorizer(**TOKENS[tokens]))

    def time_transform(self, tokens, script):
        self.plain.transform(self.texts)

    def time_transform_with_names(self, tokens, script):
        self.named.transform(self.texts)


# --- Files ---


LINES = {"tsv": "{}\t{}\n", "fasttext": "__label__{} {}\n", "vw": "{} | {}\n"}


def text_lines(form):
    """Return 1,000 labelled texts as the bytes of a file of this format."""
    labels = ["1" if len(text) % 2 else "-1" for text in texts()]
    if form in LINES:
        return "".join(LINES[form].format(*pair) for pair in zip(labels, texts(), strict=True)).encode()
    return table_file(form, {"label": labels, "text": texts()})


def number_lines(form):
    """Return 10,000 rows of numbers as the bytes of a file: words' columns and values, or eight columns of a table."""
    if form in ("svmlight", "vw"):
        X, y = stream()
        bar = " |" if form == "vw" else ""
        rows = np.split(np.char.add(np.char.add(X.indices.astype("U7"), ":"), np.round(X.data, 5).astype("U7")), X.indptr[1:-1])
        return "".join(f"{2 * label - 1}{bar} {' '.join(row)}\n" for label, row in zip(y, rows, strict=True)).encode()
    rng = np.random.default_rng(0)
    columns = {f"c{k}": np.round(rng.standard_normal(10_000), 4).tolist() for k in range(8)}
    return table_file(form, {"label": rng.choice(["a", "b"], 10_000).tolist(), **columns})


def table_file(form, columns):
    """Return a table as the bytes of a file of this format; binary ones need pyarrow."""
    rows = zip(*columns.values(), strict=True)
    if form == "csv":
        return "\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows), ""]).encode()
    if form == "jsonl":
        return "".join(json.dumps(dict(zip(columns, row, strict=True))) + "\n" for row in rows).encode()
    try:
        import pyarrow as pa
        from pyarrow import feather, parquet
    except ImportError:
        raise NotImplementedError("pyarrow is not installed") from None
    out = pa.BufferOutputStream()
    (parquet.write_table if form == "parquet" else feather.write_feather)(pa.table(columns), out)
    return out.getvalue().to_pybytes()


class _InFile(Timed):
    """Subclasses put `self.content` in a file in `setup`."""


    def put(self, name, content):
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name, name)
        self.path.write_bytes(content)

    def teardown(self, *params):
        if hasattr(self, "folder"):
            self.folder.cleanup()


class TextFile(_InFile):
    """A file of 1,000 texts to rows, and to a model of AROW."""

    params = [["tsv", "fasttext", "vw", "csv", "jsonl", "parquet"]]
    param_names = ["form"]

    def setup(self, form):
        self.put(f"texts.{form}", text_lines(form))

    def time_read(self, form):
        with read(self.path, form, prefetch=False) as batches:
            for _ in batches:
                pass

    def time_learn(self, form):
        learner = make_estimator("arow")
        with read(self.path, form) as batches:
            for X, y, _ in batches:
                learner.partial_fit(X, y)


class NumberFile(_InFile):
    """A file of 10,000 rows of 20 non-zeros (svmlight, VW) or of eight columns of numbers, to a model of AROW."""

    params = [["svmlight", "vw", "csv", "jsonl", "parquet", "arrow"]]
    param_names = ["form"]

    def setup(self, form):
        self.put(f"rows.{form}", number_lines(form))

    def time_learn(self, form):
        learner = make_estimator("arow")
        if form not in ("svmlight", "vw"):
            learner = make_stream_pipeline(TableVectorizer(), learner)
        with read(self.path, form) as batches:
            for X, y, _ in batches:
                learner.partial_fit(X, y)


def of_children():
    """Return the processor time of the processes that have ended."""
    import resource  # (not on Windows)

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class CommandLine(_InFile):
    """Whole processes: what the start costs, and 1,000 texts from a file to a model and to predictions."""

    params = [["--version", "train, ten lines", "train, 1,000 texts", "evaluate, 1,000 texts"]]
    param_names = ["command"]
    timer = staticmethod(of_children)

    def setup(self, command):
        lines = b"ham\tlunch at noon\nspam\twin a free prize\n" * 5 if "ten" in command else text_lines("tsv")
        self.put("texts.tsv", lines)
        verb = command.split(",")[0]
        self.command = [sys.executable, "-m", "onlinecls", verb, *([str(self.path), "--quiet"] if verb == "train" else [])]
        if verb == "evaluate":
            model = str(self.path.with_name("model"))
            subprocess.run([*self.command[:3], "train", str(self.path), "--quiet", "--save", model], check=True)
            self.command += [model, str(self.path)]

    def time_process(self, command):
        # (With byte code, which the first run writes where it may: users' packages have it.)
        own = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        subprocess.run(self.command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=own)


class Saved(_InFile):
    """A model of 10,000 rows to a file and back, in 2^10 or 2^20 columns."""

    params = [["arow", "committee"], [2**10, 2**20]]
    param_names = ["algorithm", "n_features"]

    def setup(self, algorithm, n_features):
        X, y = stream(n_features=n_features)
        self.put("nothing", b"")
        self.model, self.path = make_estimator(algorithm).partial_fit(X, y), Path(self.folder.name, "model")
        self.model.save(self.path)

    def time_save(self, algorithm, n_features):
        self.model.save(self.path)

    def time_load(self, algorithm, n_features):
        load(self.path)

    def track_size(self, algorithm, n_features):
        return self.path.stat().st_size

    track_size.unit = "bytes"
