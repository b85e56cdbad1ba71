"""CSV, JSON lines, Parquet and Arrow: texts, tables, labels, weights, and rows that are refused with their place."""

import csv
import datetime as dt
import io
import json
import os
import sys

import numpy as np
import pytest

from onlinecls import AROWClassifier, make_stream_pipeline
from onlinecls.streams import MalformedLineError, options_of, read
from onlinecls.tables import TableVectorizer
from onlinecls.text import HashingVectorizer

pa = pytest.importorskip("pyarrow")
pytest.importorskip("pyarrow.parquet")

ROWS = [("ham", 'say "hi", all', 1.5), ("spam", "two\nlines", 0.0), ("ham", "naïve 東京", 2.0), ("égal", "", 1.0)]
TABLE = {
    "label": ["a", "b", "a"], "n": [1.5, None, -2.0], "city": ["Oslo", "Bern", None], "ok": [True, False, True],
    "day": [dt.datetime(2024, 5, 1), dt.datetime(2024, 5, 2), None], "w": [1.0, 2.0, 0.5],
}


def of(data, format="csv", **options):
    """All batches, and the stream."""
    with read(io.BytesIO(data) if isinstance(data, bytes) else data, format, prefetch=False, **options) as stream:
        return list(stream), stream


def labels_of(data, format="csv", **options):
    found, _ = of(data, format, **options)
    return [label for batch in found for label in batch.y.tolist()]


def error_of(data, format="csv", **options):
    with pytest.raises(ValueError) as caught:
        of(data, format, **options)
    return str(caught.value)


def csv_of(rows, header=("label", "text", "w"), **options):
    out = io.StringIO()
    csv.writer(out, **options).writerows([header, *rows] if header else rows)
    return out.getvalue().encode()


def rows_in(found):
    """Rows of typed batches as dicts."""
    return [row for batch in found for row in (batch.X if isinstance(batch.X, list) else batch.X.to_pylist())]


# --- texts ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data, format, options", [
    (csv_of(ROWS), "csv", {}), (csv_of(ROWS, delimiter=";"), "csv", {"delimiter": ";"}),
    (b"\xef\xbb\xbf" + csv_of(ROWS), "csv", {}),
    (b"sep=|\r\n" + csv_of(ROWS, delimiter="|"), "csv", {}), (csv_of(ROWS, lineterminator="\n"), "csv", {"text": "text"}),
    (csv_of(ROWS, header=None), "csv", {"header": False, "text": 1, "weight": 2}),
    ("\n\n".join(json.dumps({"label": y, "text": x, "w": w}) for y, x, w in ROWS).encode(), "jsonl", {}),
    ("\r\n".join(json.dumps({"label": y, "text": x, "w": w}, ensure_ascii=False) for y, x, w in ROWS).encode(), "jsonl", {}),
])
def test_texts_with_labels_and_weights_are_read(data, format, options):
    found, stream = of(data, format, **{"weight": "w", **options})
    expected = HashingVectorizer(dtype=np.float32).transform([text for _, text, _ in ROWS])
    assert not stream.is_table and (found[0].X != expected).nnz == 0
    assert found[0].y.tolist() == [row[0] for row in ROWS] and found[0].weight.tolist() == [row[2] for row in ROWS]
    how = {**options_of(stream.metadata), **options, "weight": stream.metadata["input"]["weight"]}
    again = list(read(io.BytesIO(data), format, prefetch=False, **how))
    assert (again[0].X != expected).nnz == 0


def arrow_files(table, folder):
    pa.parquet.write_table(table, folder / "t.parquet", row_group_size=2)
    with pa.ipc.new_file(str(folder / "t.arrow"), table.schema) as out:
        out.write_table(table, max_chunksize=2)
    with pa.ipc.new_stream(str(folder / "t.arrows"), table.schema) as out:
        out.write_table(table, max_chunksize=2)
    return folder / "t.parquet", folder / "t.arrow", folder / "t.arrows"


@pytest.mark.parametrize("kind", ["string", "large_string", "dictionary", "binary"])
def test_texts_of_arrow_are_read(tmp_path, kind):
    texts = pa.array([row[1] for row in ROWS])
    texts = texts.dictionary_encode() if kind == "dictionary" else texts.cast(kind)
    table = pa.table({"other": [1, 2, 3, 4], "label": [row[0] for row in ROWS], "text": texts})
    expected = HashingVectorizer(dtype=np.float32).transform([text for _, text, _ in ROWS])
    for path in arrow_files(table, tmp_path):
        for batch_rows in (1, 4096):
            found, stream = of(path, "auto", text="text", batch_rows=batch_rows)
            assert stream.format == ("parquet" if path.suffix == ".parquet" else "arrow") and stream.n_rows == 4
            assert np.concatenate([batch.X.toarray() for batch in found]).tobytes() == expected.toarray().tobytes()
            assert np.concatenate([batch.y for batch in found]).tolist() == [row[0] for row in ROWS]
        assert labels_of(path.read_bytes(), "auto", ignore=["other"]) == [row[0] for row in ROWS]


# --- tables --------------------------------------------------------------------------------------------------------------------


def test_a_table_is_the_same_in_every_format(tmp_path):
    table = pa.table(TABLE)
    text = csv_of(zip(*({"day": ["2024-05-01", "2024-05-02", ""]}.get(k, v) for k, v in TABLE.items()), strict=True), TABLE)
    sources = [*arrow_files(table, tmp_path), tmp_path / "t.csv"]
    sources[-1].write_bytes(text)
    expected = None
    for path in sources:
        found, stream = of(path, "auto", weight="w")
        assert stream.is_table and np.concatenate([batch.weight for batch in found]).tolist() == TABLE["w"]
        vectorizer = TableVectorizer()
        rows = [vectorizer.learn_transform(batch.X) for batch in found]
        rows = [each.toarray()[:, :30].tolist() for each in rows]
        rows = [row for part in rows for row in part]
        expected = expected or rows
        assert rows == expected, path
    assert stream.metadata["input"]["kinds"] == {"n": "number", "city": "text", "ok": "boolean", "day": "date"}


KINDS = {
    "number": ["1", "-2.5e3", "NA", "", "1e-300"], "boolean": ["true", "False", "", "TRUE", "false"],
    "date": ["2024-05-01", "2024-05-01 10:30:00", "2024-05-01T10:30:00", "", "null"],
    "%Y/%m/%d": ["2024/05/01", "", "1999/12/31"],
    "%d.%m.%Y": ["01.05.2024", "31.12.1999"], "%d.%m.%Y %H:%M": ["01.05.2024 10:30"], "text": ["1", "x", "2024-05-01"],
}


@pytest.mark.parametrize("kind, values", KINDS.items(), ids=KINDS)
def test_the_first_block_tells_what_a_column_of_csv_holds(kind, values):
    _, stream = of(csv_of([("a", value) for value in values], ("label", "c")))
    assert stream.metadata["input"]["kinds"] == {"c": kind}
    strange = {"number": "x", "boolean": "maybe", "text": None}.get(kind, "soon")
    if strange is None:
        return
    later = csv_of([("a", values[0]), ("b", strange), ("c", values[0])], ("label", "c"))
    kinds = stream.metadata["input"]["kinds"]
    assert f"<stream>:3: expected {'a ' if kind == 'number' else ''}" in error_of(later, kinds=kinds)
    assert f"in column 'c', as in the first rows, got {strange!r}" in error_of(later, kinds=kinds)
    assert labels_of(later, kinds=kinds, on_error="skip") == ["a", "c"]


def test_a_column_that_begins_with_nothing_is_told_by_its_first_value():
    data = csv_of([("a", "")] * 5 + [("b", "7")], ("label", "c"))
    found, stream = of(data, block_bytes=8)
    assert rows_in(found) == [{"c": None}] * 5 + [{"c": 7.0}] and stream.metadata["input"]["kinds"] == {"c": "number"}


def test_json_objects_are_rows_of_a_table_as_their_types_say():
    data = b'{"label": "a", "n": 1, "deep": {"x": [1, "u"]}, "t": "2024-05-01"}\n{"label": "b", "w": 2, "n": null}\n'
    found, stream = of(data, "jsonl", ignore=["w"])
    assert stream.is_table and found[0].X == [{"n": 1, "deep": {"x": [1, "u"]}, "t": "2024-05-01"}, {"n": None}]
    model = make_stream_pipeline(TableVectorizer(), AROWClassifier()).partial_fit(found[0].X, found[0].y)
    assert model.classes_.tolist() == ["a", "b"]


# --- labels --------------------------------------------------------------------------------------------------------------------


def test_labels_are_the_text_of_the_field_or_what_their_type_says(tmp_path):
    data = b"label,n\n1,0\n1.0,0\ntrue,0\nTrue,0\n"
    assert labels_of(data) == ["1", "1.0", "true", "True"]
    assert labels_of(b'{"label": 1, "n": 0}\n{"label": -3, "n": 0}\n', "jsonl") == [1, -3]
    assert labels_of(b'{"label": true, "n": 0}\n', "jsonl") == [True]
    assert labels_of(b'{"label": "1", "n": 0}\n', "jsonl") == ["1"]
    for values in ([1, 0], [True, False], ["x", "y"], [0.5, 1.0]):
        for path in arrow_files(pa.table({"label": values, "n": [0, 1]}), tmp_path):
            assert labels_of(path, "auto") == values
    assert labels_of(b"label,n\n1,0\n2.5e0,0\n", labels="number") == [1.0, 2.5]
    assert of(b"label,n\n1,0\n", labels=None)[0][0].y is None
    assert of(b"n,m\n1,0\n", labels=None)[0][0].y is None


def test_labels_of_another_type_than_the_first_are_refused():
    data = "".join(f'{{"label": {label}, "n": 0}}\n' for label in ("1", "true", '"1"', "1.0", "2")).encode()
    assert "<stream>:2: expected a label of the type of the first one, int, got True" in error_of(data, "jsonl")
    assert labels_of(data, "jsonl", on_error="skip") == [1, 2]
    assert labels_of(data.replace(b"true", b"3").replace(b'"1"', b"4"), "jsonl", labels="number") == [1, 3, 4, 1, 2]


# --- rows that are refused ------------------------------------------------------------------------------------------------------


def test_malformed_csv_rows_are_refused_with_their_place():
    data = b'label,text\nham,a\nham\nham,b,c\n,d\nham,\xff\nspam,e\n'
    assert error_of(data) == "<stream>:3:1: expected 2 fields, got 'ham'"
    found, stream = of(data, on_error="skip")
    assert [label for batch in found for label in batch.y.tolist()] == ["ham", "spam"] and stream.n_skipped == 4
    assert [reason.split(", got")[0] for reason in stream.skipped] == [
        "<stream>:3:1: expected 2 fields", "<stream>:4:1: expected 2 fields",
        "<stream>:5: expected a label (labels=None reads lines without)", "<stream>:6: expected a text in UTF-8"]
    assert stream.gaps == (1, 1, 1, 1) or stream.n_rows == 2
    assert error_of(b"label,text,w\nx,a,-1\n", weight="w") == "<stream>:2: expected a weight >= 0, got '-1'"
    assert "the column 'label' of the labels must be there, got ['y', 'text']" in error_of(b"y,text\nx,a\n")
    assert "the column 'body' of the texts must be there" in error_of(b"label,text\nx,a\n", text="body")
    assert "different names, got 'a' twice" in error_of(b"label,a,a\nx,1,2\n")
    assert "a column of features or texts must be there" in error_of(b"label\nx\n")


def test_the_rows_before_a_malformed_one_come_first():
    data = b"label,a\n" + b"x,1\n" * 3 + b"x,1,2\n" + b"y,3\n"
    labels = []
    with pytest.raises(MalformedLineError, match="<stream>:5:1: expected 2 fields, got 'x,1,2'"):
        for batch in read(io.BytesIO(data), "csv"):
            labels += batch.y.tolist()
    assert labels == ["x"] * 3


def test_gaps_tell_where_rows_are_missing():
    data = b"label,a\nx,1\nx\nx,2\nx,q\nx,3\nx,4,4\n"
    gaps = []
    with read(io.BytesIO(data), "csv", on_error="skip", labels=None, kinds={"a": "number"}, batch_rows=1) as stream:
        for _ in stream:
            gaps += stream.gaps
    assert [*gaps, *stream.gaps] == [1, 2, 3]


def test_headers_in_the_middle_of_joined_files_are_left_out():
    assert labels_of(b"label,n\na,1\nlabel,n\nb,2\n") == ["a", "b"]
    assert labels_of(b"label,text\nlabel,x\nlabel,text\n") == ["label"]


def test_malformed_json_lines_are_refused_with_their_place():
    good = b'{"label": "x", "text": "a"}\n'
    for line, problem in [
        (b"[1]", "expected a JSON object, got [1]"), (b'{"label": "x"}', "expected a text at key 'text', got None"),
        (b'{"text": "x"}', "expected a label (labels=None reads lines without), got none"),
        (b'{"label": "x", "text": 3}', "expected a text at key 'text', got 3"),
        (b'{"label": ["x"], "text": "a"}', "expected one label a row, a text or a number, got ['x']"),
    ]:
        assert error_of(good + line, "jsonl") == f"<stream>:2: {problem}"
    for line in (b"{'a'", b'{"a": NaN}', b"[" * 100_000, b'{"label": "x", "text": "\\ud800"}', b'{"\\ud800": 1}', b"\xff"):
        assert error_of(good + line, "jsonl").startswith("<stream>:2: expected ")
        assert labels_of(good + line + b"\n" + good, "jsonl", on_error="skip") in (["x", "x"], ["x"])
    long = b'{"label": 1, "text": "a"}\n' + b" " * 1000 + b"\n" + b'{"label": 2, "text": "a"}\n'
    found, stream = of(long, "jsonl", max_line_bytes=100, on_error="skip")
    assert found[0].y.tolist() == [1, 2] and stream.n_skipped == 1


def test_malformed_arrow_rows_are_refused_with_their_place(tmp_path):
    table = pa.table({"label": ["a", None, "b", "c"], "text": ["x", "y", None, "z"], "w": [1, 1, 1, float("nan")]})
    for path in arrow_files(table, tmp_path):
        assert error_of(path, "auto", text="text") == (
            f"{path.name}:2: expected a label (labels=None reads lines without), got none")
        found, stream = of(path, "auto", text="text", weight="w", on_error="skip")
        assert [label for batch in found for label in batch.y.tolist()] == ["a"] and stream.n_skipped == 3
    for data, format in ((b"PAR1 no", "parquet"), (b"ARROW1 no", "arrow"), (b"\xff\xff\xff\xff", "arrow")):
        assert "not a readable" in error_of(data, format)
    damaged = bytearray((tmp_path / "t.parquet").read_bytes())
    for at in range(4, len(damaged) - 8, 7):
        copy = bytearray(damaged)
        copy[at] ^= 0xFF
        try:
            of(bytes(copy), "parquet", text="text", on_error="skip")
        except ValueError:
            pass


def test_a_pipe_is_refused_where_files_are_read_from_their_end():
    end, begin = os.pipe()
    with open(end, "rb") as pipe:
        with open(begin, "wb") as there:
            there.write(b"PAR1")
        with pytest.raises(ValueError, match="Parquet is read in pieces from its end, got a pipe"):
            read(pipe, "parquet")


def test_csv_does_not_depend_on_where_blocks_end():
    rows = [*ROWS, ("a", "x" * 500, 1.0), ("b", 'one "line"\nand\n\nmore', 2.0), ("c", "5\" disk", 3.0)] * 3
    data = csv_of(rows)
    for block_bytes in (1, 7, 60, 300, 5000):
        found, _ = of(data, weight="w", block_bytes=block_bytes, labels="auto")
        assert [label for batch in found for label in batch.y.tolist()] == [row[0] for row in rows]
        expected = HashingVectorizer(dtype=np.float32).transform([row[1] for row in rows]).toarray()
        assert np.concatenate([batch.X.toarray() for batch in found]).tobytes() == expected.tobytes()
    long = b"label,text\na," + b"x" * 100_000 + b"\nb,y\n"
    assert "expected a line of at most 4096 bytes" in error_of(long, max_line_bytes=4096)
    assert labels_of(long, max_line_bytes=4096, on_error="skip") == ["b"] and labels_of(long, block_bytes=100) == ["a", "b"]


def test_nul_bytes_and_blank_lines_are_read():
    assert labels_of(b"label,text\r\na,x\0y\r\n\r\nb,z\r\n") == ["a", "b"]
    assert labels_of(b"label,n\n\n\na,1\n") == ["a"]
    assert labels_of(b"label,n\n") == []


def test_without_pyarrow_the_error_names_the_extra(monkeypatch):
    for module in ("pyarrow", "pyarrow.csv"):
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delitem(sys.modules, "onlinecls.streams._typed", raising=False)
    with pytest.raises(ImportError, match=r'pip install "onlinecls\[tables\]"'):
        of(b"label,n\na,1\n")


def test_json_lines_are_read_alike_without_orjson(monkeypatch):
    pytest.importorskip("orjson")
    import onlinecls.streams._jsonl as module

    lines = [b'{"label": "x", "a": %b}' % each for each in (
        b"1", b"1.5", b"true", b"null", b'"u"', b"[1, 2]", b'{"b": 1}', b"1e400", b"NaN", b"Infinity", b"01", b'"\xff"', b"1e39")]
    found = {}
    for loads in (module._loads, module._plain):
        monkeypatch.setattr(module, "_loads", loads)
        batches, stream = of(b"\n".join(lines), "jsonl", on_error="skip")
        found[loads] = rows_in(batches), stream.n_skipped
    one, other = found.values()
    assert repr(one) == repr(other)
