"""Hostile files, texts and metadata: our error, with the rows before it, or the right rows. Never a crash, never without end."""

import io
import subprocess
import sys

import numpy as np
import pytest

from onlinecls import load
from onlinecls.streams import read
from onlinecls.tables import TableVectorizer
from onlinecls.text import HashingVectorizer

# --- Arrow ---------------------------------------------------------------------------------------------------------------------


# In a process of its own: without the checks it crashes, or never ends.
OFFSETS = """
import numpy as np
from onlinecls._hashing.hasher import RowHasher
for dtype, offsets in (
    ("int32", [0, 2, 2**30]), ("int64", [0, 2, 2**62]), ("int64", [2**63 - 1, 2**63 - 1]), ("int64", [-(2**63), 2**63 - 1]),
    ("int32", [0, 5, 2]),
):
    try:
        RowHasher().add_offsets(np.array(offsets, dtype), np.frombuffer(b"ab cd " * 9, np.uint8))
    except ValueError as error:
        print(error)
"""


def test_arrow_offsets_outside_the_text_are_refused():
    run = subprocess.run([sys.executable, "-c", OFFSETS], capture_output=True, text=True, timeout=60)
    assert run.stdout.count("the offsets of a text of 54 bytes must be in order and within it, got ") == 5, run.stderr


def arrow(columns):
    pa = pytest.importorskip("pyarrow")
    file, table = io.BytesIO(), pa.table(columns)
    with pa.ipc.new_stream(file, table.schema) as out:
        out.write_table(table)
    return file.getvalue()


# --- labels ------------------------------------------------------------------------------------------------------------------


def test_labels_that_crowd_the_table_of_recent_ones_are_told_apart():
    """Of 200,000 labels some hundred share each slot, and drive each other out."""
    labels = [f"{k * 7919 % 200_000:06x}" for k in range(200_000)]
    data = "".join(f"{label}\ta\n" for label in [*labels, *labels[::-3]]).encode()
    with read(io.BytesIO(data), format="tsv") as stream:
        assert [label for _, y, _ in stream for label in y.tolist()] == [*labels, *labels[::-3]]


@pytest.mark.parametrize("format", ["tsv", "vw", "csv", "jsonl", "arrow"])
def test_a_label_of_many_characters_is_a_malformed_row(format):
    """An array of labels has room for the longest in every row: one of 16 MB made 64 GB of a batch."""
    labels = ["a", "b" * 5000, "c" * 4096, "ü" * 4097, "d"]
    if format == "arrow":
        source = io.BytesIO(arrow({"label": labels, "text": ["x"] * 5}))
    else:
        line = {"tsv": "{}\tx\n", "vw": "{} | x\n", "csv": "{},x\n", "jsonl": '{{"label": "{}", "text": "x"}}\n'}[format]
        text = "label,text\n" * (format == "csv") + "".join(line.format(label) for label in labels)
        source = io.BytesIO(text.encode())
    with read(source, format, on_error="skip") as stream:
        assert [y for batch in stream for y in batch.y] == [labels[0], labels[2], labels[4]]
    assert stream.n_skipped == 2 and all("4096 characters" in reason for reason in stream.skipped)


# --- names, metadata, control characters ---------------------------------------------------------------------------------------


def test_control_characters_of_files_never_reach_the_terminal(tmp_path, run):
    data, model = tmp_path / "a.tsv", str(tmp_path / "model")
    data.write_text("ham\tlunch at noon\nsp\x1b]0;x\x07am\x9b\u202e\u2028\t\x1b[2J\n" * 2, newline="\n")
    assert run("train", data, "--bits", 12, "--analyzer", "char", "--save", model, "--quiet")[0] == 0
    shown = r"sp\x1b]0;x\x07am\x9b\u202e\u2028"
    assert run("predict", model, data)[1] == f"ham\n{shown}\n" * 2
    assert run("predict", model, data, "--scores")[1].splitlines()[0] == f"prediction\t{shown}"
    page = run("inspect", model, data)[1]
    assert shown in page and r"\x1b" in page.replace(shown, "") and not set(page) & set("\x1b\x07\x9b\u202e\u2028")
    learner, metadata = load(model, return_metadata=True)
    for kinds, words in (None, "rows       from "), ({"\x1b[2J\nvw": "number"}, r"; \x1b[2J\nvw (number)"):
        learner.save(model, {"input": {**metadata["input"], "kinds": kinds}})
        assert words in run("inspect", model)[1]
    path = tmp_path / "a\x1b[2J\n.svm"
    path.write_bytes(b"1 1:\x1b[2J\n1 1:1\n")
    place = r"a\x1b[2J\n.svm:1:5: expected a finite number after ':', then a blank, got '\x1b[2J'"
    assert run("train", path, "--quiet", "--bits", 4)[2].endswith(f"onlinecls train: {place}\n")
    assert place in run("train", path, "--bits", 4, "--on-error", "skip")[2].splitlines()
    path.unlink()
    assert run("train", path)[2].endswith("\\x1b[2J\\n.svm: No such file or directory\n")
    with read(io.BytesIO(arrow({"label": ["\x1b"], "text": ["a"]})), labels="number") as stream:
        with pytest.raises(ValueError, match=r"got '\\x1b'$"):
            next(stream)


SLOW = (
    "(?:a+)+$", r"(\w+\s?)+$", r"\w*\w*\w*!", "[a-z]+[a-z]+", r"[a-z]+\b", "(a|a)*b", r"(?=.*b)\w+", "a{1000}", r"(.)\1",
    "a" * 101, r"\w+$", r"\w+?!", r"\w+|x")
FAST = (r"(?u)\b\w\w+\b", r"\b\w+\b", r"\w+", "[a-z]+", r"[^\s,;]{2,}", r"\S+", r"\b\w{3,}\b", r"[A-Za-z0-9_\-]+", r"\d{4}",
        "a[b-d]*")


def test_patterns_of_strangers_models_run_in_a_time_that_the_text_bounds(tmp_path, run):
    data, model = tmp_path / "a.tsv", str(tmp_path / "model")
    data.write_text("ham\tlunch at noon\nspam\twin a prize\n")
    assert run("train", data, "--bits", 8, "--save", model, "--quiet")[0] == 0
    learner, metadata = load(model, return_metadata=True)
    vectorizer = metadata["input"]["vectorizer"]

    def save(**changes):
        learner.save(model, {"input": {**metadata["input"], "vectorizer": {**vectorizer, **changes}}})

    for pattern in SLOW:
        save(token_pattern=pattern)
        for command in (("inspect", model), ("predict", model, data), ("train", data, "--resume", model, "--quiet")):
            code, out, err = run(*command)
            assert (code, out) == (1, "") and "may run for ever" in err, (pattern, command)
    for pattern in ("(" * 3000 + ")" * 3000, "a{99999999999999}"):  # (Python's compiler of patterns calls itself for each)
        save(token_pattern=pattern)
        code, out, err = run("predict", model, data)
        assert (code, out) == (1, "") and "metadata must describe how rows were read" in err
    for pattern in FAST:
        save(token_pattern=pattern)
        assert run("predict", model, data)[0] == 0, pattern
    for encoding in ("zlib_codec", "hex", "punycode", "no\0name"):
        save(encoding=encoding)
        code, out, err = run("predict", model, data)
        assert (code, out) == (1, "") and "metadata must describe how rows were read" in err and "encoding" in err, encoding


def test_the_length_of_a_missing_view_does_not_count():
    """It may be anything; pyarrow's own cast counts it, and then writes beyond its memory."""
    pa = pytest.importorskip("pyarrow", minversion="18", reason="pyarrow is not installed")
    data, n = b"win a free prize now " * 50, 2000
    views = np.tile(np.array([len(data), int.from_bytes(data[:4], "little"), 0, 0], np.int32), (n, 1))
    views[0, 0] = -len(data) * (n - 2)
    valid = np.full(n // 8, 255, np.uint8)
    valid[0] = 254
    buffers = [pa.py_buffer(each) for each in (valid.tobytes(), views.tobytes(), data)]
    column = pa.Array.from_buffers(pa.string_view(), n, buffers)
    column.validate(full=True)
    texts = [data.decode()] * (n - 1)
    table = TableVectorizer()
    assert (table.fit_transform({"a": column}) != table.fit_transform({"a": [None, *texts]})).nnz == 0
    with pytest.raises(ValueError, match="row 0"):
        HashingVectorizer().transform(column)
    with pa.BufferOutputStream() as out, pa.ipc.new_stream(out, pa.schema([("text", pa.string_view())])) as stream:
        stream.write_batch(pa.record_batch([column], ["text"]))
    with read(io.BytesIO(out.getvalue().to_pybytes()), "arrow", labels=None, on_error="skip") as stream:
        assert sum(X.shape[0] for X, _, _ in stream) == n - 1 and stream.n_skipped == 1
