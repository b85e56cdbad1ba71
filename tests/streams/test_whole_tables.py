"""Tables as they stand, for pipelines: `read(..., tables=...)`."""

import io

import numpy as np
import pytest

from onlinecls import AROWClassifier, make_stream_pipeline
from onlinecls.streams import MalformedLineError, read
from onlinecls.tables import TableVectorizer
from onlinecls.text import HashingVectorizer

CSV = b"age,city,label,text\n20,Oslo,a,good day\n40,Rome,b,bad day\n,Oslo,a,good\n"
ROWS = [
    {"age": 20.0, "city": "Oslo", "text": "good day"}, {"age": 40.0, "city": "Rome", "text": "bad day"},
    {"age": None, "city": "Oslo", "text": "good"},
]
JSON = b'{"age": 20, "label": "a", "city": "Oslo"}\n{"label": "b", "tags": [1, 2]}\n'


def read_all(source, **options):
    with read(io.BytesIO(source) if isinstance(source, bytes) else source, **options) as stream:
        return stream, list(stream)


def test_rows_of_tables_are_dicts_with_all_columns_but_labels():
    for source, options, rows in (
        (CSV, {"format": "csv"}, ROWS), (CSV, {"format": "csv", "ignore": ["text"]}, [{**row, "text": None} for row in ROWS]),
        (JSON, {"format": "jsonl"}, [{"age": 20, "city": "Oslo"}, {"tags": [1, 2]}]),
        (b"1,2,x\n3,4,y\n", {"format": "csv", "header": False, "label": 2}, [{"0": 1.0, "1": 2.0}, {"0": 3.0, "1": 4.0}]),
    ):
        stream, batches = read_all(source, tables="passthrough", **options)
        rows = [{name: value for name, value in row.items() if value is not None} for row in rows]
        found = [{name: value for name, value in row.items() if value is not None} for batch in batches for row in batch.X]
        assert found == rows, (source, options)
        assert stream.features == {} and stream.n_rows == len(rows)


def test_texts_that_are_alone_are_for_a_vectorizer_that_is_given():
    texts = b"text,label\ngood,a\nbad,b\n"
    _, (batch,) = read_all(texts, format="csv", vectorizer=HashingVectorizer(n_features=8), tables="passthrough")
    assert batch.X.shape == (2, 8)
    _, (batch,) = read_all(texts, format="csv", tables="passthrough")
    assert batch.X == [{"text": "good"}, {"text": "bad"}]


def test_a_vectorizer_of_tables_makes_the_rows_and_a_pipeline_learns_them():
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"age": [20.0, 40.0, None], "label": ["a", "b", "a"], "city": ["Oslo", "Rome", "Oslo"]})
    for source, options in ((CSV, {"format": "csv"}), (table, {})):
        for bits in (0, 6):
            pipeline = make_stream_pipeline(TableVectorizer(bits=bits, max_values=8), AROWClassifier())
            _, (batch,) = read_all(source, tables="passthrough", ignore=["text"] if source is CSV else [], **options)
            pipeline.partial_fit(batch.X, batch.y)
            _, (rows,) = read_all(source, tables=pipeline[0], ignore=["text"] if source is CSV else [], labels=None, **options)
            assert rows.X.shape == (3, 8 + (1 << bits if bits else 0))
            scores = pipeline[1].decision_function(rows.X)
            assert scores.tobytes() == pipeline.decision_function(batch.X).tobytes(), (options, bits)


def test_missing_values_and_malformed_rows_can_be_refused():
    with pytest.raises(MalformedLineError, match="<stream>:4: expected a value in column 'age'"):
        read_all(CSV, format="csv", tables="passthrough", missing="error")
    stream, (batch,) = read_all(CSV + b"1,2\n", format="csv", tables="passthrough", missing="error", on_error="skip")
    assert batch.X == ROWS[:2] and stream.n_skipped == 2
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"x": [1.0, None, 3.0], "label": ["a", "b", None]})
    stream, (batch,) = read_all(table, tables="passthrough", on_error="skip")
    assert batch.X.to_pydict() == {"x": [1.0, None]} and stream.n_skipped == 1
    table = pa.table({"x": pa.array(["u", "v", "w"], pa.string_view()), "label": ["a", "b", None]})  # (polars' texts)
    stream, (batch,) = read_all(table, tables="passthrough", on_error="skip")
    assert batch.X.to_pydict() == {"x": ["u", "v"]} and stream.n_skipped == 1
    _, (batch,) = read_all(table[:2], tables="passthrough")
    assert batch.X.to_pydict() == {"x": ["u", "v"]}
    with pytest.raises(ValueError, match="read: tables must be an object with a transform method, or 'passthrough', got 3"):
        read(io.BytesIO(CSV), tables=3)


def test_columns_are_named_once():
    with pytest.raises(ValueError, match="got several named 'x'"):
        read_all(b"x,x,label\n1,2,a\n", format="csv", tables="passthrough")
    with pytest.raises(ValueError, match="must have a column of texts or of numbers besides labels"):
        read_all(b"label\na\n", format="csv", tables="passthrough")


def test_metadata_read_further_files_as_tables():
    from onlinecls.streams import options_of

    stream, _ = read_all(b"a;y\n1;p\n", format="csv", delimiter=";", label="y", tables="passthrough")
    options = options_of(stream.metadata)
    assert options["tables"] == "passthrough" and np.dtype(options["dtype"]) == np.float32
    _, (batch,) = read_all(b"b;y\n5;p\n", **options)
    assert batch.X == [{"b": 5.0}] and batch.y.tolist() == ["p"]


def in_lines(format, values):
    if format == "csv":
        return ("label,a\n" + "".join(f"x,{value}\n" for value in values)).encode()
    if format == "jsonl":
        return "".join(f'{{"label": "x", "a": {value}}}\n' for value in values).encode()
    pa = pytest.importorskip("pyarrow")
    file, table = io.BytesIO(), pa.table({"label": ["x"] * len(values), "a": [float(value) for value in values]})
    with pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)
    return file.getvalue()


@pytest.mark.parametrize("least", [0, 1 << 60])  # (blocks that pyarrow or orjson reads, and lines)
@pytest.mark.parametrize(
    ("format", "bad"), [("csv", ["inf", "1e999"]), ("jsonl", ["1e999", "Infinity"]), ("arrow", ["inf", "1e200"])])
def test_rows_that_the_vectorizer_refuses_are_malformed_lines(monkeypatch, format, bad, least):
    monkeypatch.setattr("onlinecls.streams._csv.LEAST", least)
    learnt = TableVectorizer(bits=2, max_values=4).fit([{"a": 1.0}, {"a": 2.0}])
    usual = [str(k) for k in range(50)]
    for each in bad:
        for at in (0, 7, 8, 49):
            values = [*usual[:at], each, *usual[at:]]
            source, line, seen = in_lines(format, values), at + 1 + (format == "csv"), []
            with pytest.raises(MalformedLineError, match=rf"<stream>:{line}: TableVectorizer: .*'a'"):
                for batch in read(io.BytesIO(source), format, tables=learnt, batch_rows=8):
                    seen += batch.y.tolist()
            assert len(seen) == at
            source = in_lines(format, [each, *values, each])
            with read(io.BytesIO(source), format, tables=learnt, on_error="skip", batch_rows=8) as stream:
                rows, gaps = [], []
                for batch in stream:
                    rows += batch.X[:, [0]].toarray().ravel().tolist()
                    gaps += stream.gaps
            expected = learnt.transform([{"a": float(value)} for value in usual])
            assert rows == expected[:, [0]].toarray().ravel().tolist() and stream.n_skipped == 3 and stream.n_rows == 50
            assert format == "arrow" or [*gaps, *stream.gaps] == [0, at, 50]


def test_errors_of_pyarrow_say_whose_table_it_is():
    pa = pytest.importorskip("pyarrow")

    class Broken:
        def __arrow_c_stream__(self, requested_schema=None):
            raise pa.ArrowInvalid("it is broken")

    texts = pa.Array.from_buffers(pa.binary(), 2, [None, pa.py_buffer(np.array([0, 500, 2], np.int32)), pa.py_buffer(b"ab")])
    codes = pa.DictionaryArray.from_arrays(pa.array([0, 77], pa.int32()), pa.array(["a"]), safe=False)
    for table in (Broken(), pa.table({"a": texts.view(pa.string())}), pa.table({"a": codes})):
        with pytest.raises(ValueError, match=r"^TableVectorizer: X must be a sound table of columns, got (Broken|Table) that"):
            TableVectorizer().fit(table)
        with pytest.raises(ValueError, match=r"^<(Broken|Table)>: "):
            list(read(table, labels=None))
