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

# In a process of its own: without the checks it crashes, or never ends.
PROCESS = """
import io, sys
import numpy as np
from onlinecls._hashing.hasher import RowHasher
text = np.frombuffer(b"ab cd " * 9, np.uint8)
try:
    {}
except ValueError as error:
    print(error)
"""


def printed_by(code):
    run = subprocess.run([sys.executable, "-c", PROCESS.format(code)], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


# --- Arrow ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("dtype", "offsets", "told"), [
    ("int32", [0, 2, 2**30], "2 and 1073741824"),
    ("int64", [0, 2, 2**62], "2 and 4611686018427387904"),
    ("int64", [2**63 - 1, 2**63 - 1], "9223372036854775807 and 9223372036854775807"),  # + BATCH ran over: no end
    ("int64", [-(2**63), 2**63 - 1], "-9223372036854775808 and 9223372036854775807"),
    ("int32", [0, 5, 2], "5 and 2"),
])
def test_arrow_offsets_outside_the_text_are_refused(dtype, offsets, told):
    assert printed_by(f"RowHasher().add_offsets(np.array({offsets}, np.{dtype}), text)") == (
        f"the offsets of a text of 54 bytes must be in order and within it, got {told}")


FORGED_ARROW = """
    import pyarrow as pa
    from onlinecls.streams import read
    from onlinecls.text import HashingVectorizer
    buffers = [None, pa.py_buffer(np.array({values}, np.{dtype}))] + [pa.py_buffer(bytes(text))] * {has_text}
    column = pa.Array.from_buffers({type}, 2, buffers)
    if {words}: column = pa.DictionaryArray.from_arrays(column, pa.array(["a", "b"]), safe=False)
    def of_file(name, other, **options):
        table, file = pa.table({{name: column, other: ["x", "y"]}}), io.BytesIO()
        with pa.ipc.new_stream(file, table.schema) as out: out.write_table(table)
        for batch in read(io.BytesIO(file.getvalue()), "arrow", vectorizer=HashingVectorizer(**options)): pass
    for use in (lambda: of_file("text", "label"), lambda: of_file("label", "text"),
                lambda: of_file("text", "label", token_pattern="[a-z]+"), lambda: HashingVectorizer().transform(column)):
        try: use()
        except Exception as error: print(error)
"""
FORGED = {
    "offsets": {"values": [0, 2**30, 4], "dtype": "int32", "type": "pa.string()"},
    "large offsets": {"values": [0, 2**62, 4], "dtype": "int64", "type": "pa.large_string()"},
    "views": {"values": [[2, 0, 0, 0], [2**30, 0, 0, 0]], "dtype": "int32", "type": "pa.string_view()"},
    "words": {"values": [0, 2**30], "dtype": "int32", "type": "pa.int32()", "words": True, "has_text": 0},
}


@pytest.mark.parametrize("what", FORGED)
def test_arrow_files_with_forged_buffers_are_refused(what):
    """The forged column is read as texts, as labels, as texts of tokens, and given to the vectorizer."""
    pytest.importorskip("pyarrow")
    told = printed_by(FORGED_ARROW.format(**{"words": False, "has_text": 1, **FORGED[what]})).splitlines()
    assert len(told) == 4 and all(error.startswith("<stream>: not a readable Arrow file: ") for error in told[:3])
    assert told[3].startswith("HashingVectorizer: X must be a sound Arrow column, got a damaged one: ")


def arrow(columns):
    pa = pytest.importorskip("pyarrow")
    file, table = io.BytesIO(), pa.table(columns)
    with pa.ipc.new_stream(file, table.schema) as out:
        out.write_table(table)
    return file.getvalue()


def test_rows_left_out_of_a_column_of_string_views_are_skipped():
    pa = pytest.importorskip("pyarrow")
    texts = pa.array(["one text", None, "a text that is too long to stand in its view"], pa.string_view())
    with read(io.BytesIO(arrow({"label": ["a", "b", "c"], "text": texts})), on_error="skip") as stream:
        assert [(y, X.nnz) for X, labels, _ in stream for y in labels] == [("a", 12), ("c", 12)]


def test_unaligned_arrow_buffers_are_read():
    """A file may put the offsets of a column where no number of their size may be read: a sanitizer sees that."""
    pa = pytest.importorskip("pyarrow")
    for width, kind in ((np.int32, pa.string()), (np.int64, pa.large_string())):
        raw = np.zeros(3 * np.dtype(width).itemsize + 1, np.uint8)
        raw[1:].view(width)[:] = [0, 2, 5]
        column = pa.Array.from_buffers(kind, 2, [None, pa.py_buffer(raw).slice(1), pa.py_buffer(b"abcde")])
        assert HashingVectorizer(n_features=64).transform(column).nnz == 2


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
    learner.save(model, {"input": {**metadata["input"], "kinds": {"\x1b[2J\nvw": "number"}}})
    assert r"; \x1b[2J\nvw (number)" in run("inspect", model)[1]
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
