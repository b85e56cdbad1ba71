"""Tables by the names of their columns: CSV, JSON lines and Parquet, in streams and on the command line."""

import gzip
import io
import json

import numpy as np
import pytest
from internals import learner_in
from scipy import sparse

from onlinecls import AROWClassifier, load
from onlinecls.streams import options_of, read
from onlinecls.streams._sources import HEAD
from onlinecls.text import HashingVectorizer

ROWS = [
    {"label": "x", "age": 3.5, "size": -1.0, "color": "red", "point": [1.0, 0.0]},
    {"label": "y", "age": 2.0, "size": 4.0, "color": "blue", "point": [0.5, 2.0]},
    {"label": "x", "age": None, "size": 0.25, "color": None, "point": None},
    {"label": "y", "age": 7.0, "size": None, "color": "red", "point": [3.0, -1.0]},
]
FLAT = [{name: value for name, value in row.items() if name != "point"} for row in ROWS]


def csv_of(rows, names=None, missing=""):
    names = list(rows[0]) if names is None else names
    lines = [names, *([missing if row[name] is None else str(row[name]) for name in names] for row in rows)]
    return "".join(",".join(line) + "\n" for line in lines).encode()


def jsonl_of(rows):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def parquet_of(rows):
    pa = pytest.importorskip("pyarrow")
    out = io.BytesIO()
    pytest.importorskip("pyarrow.parquet").write_table(pa.Table.from_pylist(rows), out)
    return out.getvalue()


def whole(data, format, **options):
    with read(io.BytesIO(data), format, **options) as stream:
        batches = list(stream)
    if not batches:
        return None, None, stream
    y = None if batches[0].y is None else np.concatenate([batch.y for batch in batches])
    return np.concatenate([batch.X.toarray() for batch in batches]), y, stream


def error_of(data, format, **options):
    with pytest.raises(ValueError) as caught:
        whole(data, format, **options)
    return str(caught.value)


# --- streams --------------------------------------------------------------------------------------------------------------------


def test_a_table_has_the_same_rows_and_kinds_of_columns_in_every_format():
    expected = [[3.5, -1], [2, 4], [0, 0.25], [7, 0]]
    hashed = {"red": "color=red", "blue": "color=blue"}
    tables = (csv_of(FLAT), "csv"), (csv_of(FLAT, missing="NA"), "csv"), (jsonl_of(FLAT), "jsonl"), (parquet_of(FLAT), "parquet")
    for data, format in tables:
        X, y, stream = whole(data, format, n_features=64)
        assert stream.features == {"age": "number", "size": "number", "color": "category"}
        assert stream.feature_names == ("age", "size") and stream.n_features == 66 and y.tolist() == list("xyxy")
        assert X[:, :2].tolist() == expected
        for row, content in zip(X[:, 2:], FLAT, strict=True):
            values = [] if content["color"] is None else [{hashed[content["color"]]: 1.0}]
            text = "".join(json.dumps({"label": 1, "features": each}) for each in values).encode()
            same = whole(text, "jsonl", n_features=64)[0][0] if values else np.zeros(64)
            assert row.tolist() == same.tolist()


FRAMES = {
    "pandas": lambda columns: pytest.importorskip("pandas").DataFrame(columns, index=[7, 5, 3, 1]),
    "polars": lambda columns: pytest.importorskip("polars").DataFrame(columns),
    "pyarrow": lambda columns: pytest.importorskip("pyarrow").table(columns),
    "a reader": lambda columns: pytest.importorskip("pyarrow").table(columns).to_reader(max_chunksize=3),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_tables_in_memory_are_read_as_files_are(kind):
    """Data frames and Arrow tables give the rows, labels and kinds that a Parquet file of them gives."""
    for rows, options in ((FLAT, {}), ([{"label": "x", "text": "a b"}] * 4, {"n_features": 64}), (FLAT, {"label": "size"})):
        rows = [{name: 0.0 if value is None and name == "size" else value for name, value in row.items()} for row in rows]
        columns = {name: [row[name] for row in rows] for name in rows[0]}
        with read(FRAMES[kind](columns), **options) as stream, read(io.BytesIO(parquet_of(rows)), "parquet", **options) as file:
            (X, y), (expected, labels) = (
                (sparse.vstack([X for X, _, _ in batches]), np.concatenate([y for _, y, _ in batches]))
                for batches in (list(stream), list(file)))
            assert (stream.format, stream.features, stream.feature_names) == ("arrow", file.features, file.feature_names)
            assert X.shape == expected.shape and (X != expected).nnz == 0
            assert y.tolist() == labels.tolist()
            assert str(options_of(stream.metadata)) == str({**options_of(file.metadata), "likely": "arrow"})


def test_a_frame_of_two_rows_is_no_pair():
    polars = pytest.importorskip("polars")
    with read(polars.DataFrame({"label": ["a", "b"], "size": [1.0, 2.0]})) as stream:
        assert next(stream).X.toarray().tolist() == [[1.0], [2.0]]
    with pytest.raises(ValueError, match="<Series>: not a readable table of columns"):
        read(polars.DataFrame({"size": [1.0]})["size"])
    with pytest.raises(ValueError, match="format must be 'auto' or 'arrow' for a table in memory, got 'csv'"):
        read(polars.DataFrame({"label": ["a"], "size": [1.0]}), "csv")


def test_batches_of_a_generator_are_read_one_by_one():
    """Memory holds a few batches, however many the generator would make."""
    pa = pytest.importorskip("pyarrow")
    batch, made = pa.record_batch({"label": [0, 1], "size": [1.0, 2.0]}), []
    reader = pa.RecordBatchReader.from_batches(batch.schema, (made.append(k) or batch for k in range(10**6)))
    with read(reader, prefetch=False) as stream:
        for k in range(3):
            assert next(stream).X.toarray().tolist() == [[1.0], [2.0]], k
            assert len(made) <= k + 2, k


def test_a_first_line_may_be_longer_than_what_is_examined_of_others():
    rows = [{"label": "ab"[i % 2], **{f"column_{k}": k + i for k in range(9000)}} for i in range(3)]
    lines = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    assert lines.index(b"\n") > 2 * HEAD
    for packed in (lines, gzip.compress(lines)):
        with read(io.BytesIO(packed)) as stream:  # (no name says that these are JSON lines)
            (batch,) = stream
        assert stream.format == "jsonl" and batch.X.shape == (3, 9000) and batch.X.toarray()[2, 8999] == 9001


def test_a_column_of_texts_never_swallows_others():
    """Texts are read alone: where there are other columns, somebody must say so."""
    rows = [{"label": "x", "text": "good", "size": 1.0}, {"label": "y", "text": "bad", "size": 2.0}]
    for format, data in (("csv", csv_of(rows)), ("jsonl", jsonl_of(rows)), ("parquet", parquet_of(rows))):
        words = r"a column of texts is read alone, got \['size'\] beside 'text'\. Give text='text' for the texts alone"
        with pytest.raises(ValueError, match=words):
            read(io.BytesIO(data), format)
        for options, width in (
            ({"text": "text"}, 64), ({"ignore": ["text"]}, 1), ({"features": ["size"]}, 1), ({"ignore": ["size"]}, 64),
            ({"weight": "size"}, 64), ({"categories": ["text"]}, 65),
        ):
            with read(io.BytesIO(data), format, n_features=64, **options) as stream:
                assert next(stream).X.shape == (2, width), (format, options)


def test_each_number_of_a_list_has_a_column():
    for data, format in ((jsonl_of(ROWS), "jsonl"), (parquet_of(ROWS), "parquet")):
        X, _, stream = whole(data, format, ignore=["color"])
        assert stream.features == {"age": "number", "size": "number", "color": "ignore", "point": 2}
        assert stream.feature_names == ("age", "size", "point[0]", "point[1]")
        assert X[:, 2:].tolist() == [[1, 0], [0.5, 2], [0, 0], [3, -1]]
        short = [*ROWS, {**ROWS[0], "point": [1.0]}]
        again = jsonl_of(short) if format == "jsonl" else parquet_of(short)
        assert error_of(again, format).startswith("<stream>:5: expected a list of 2 numbers")
        X, _, stream = whole(again, format, on_error="skip")
        assert len(X) == 4 and stream.n_skipped == 1


def test_lists_of_no_numbers_are_read_and_of_too_many_refused():
    """The length of lists is what a file claims: memory is allocated only for rows that exist."""
    pa = pytest.importorskip("pyarrow")
    for size, values in ((0, []), (2**20 + 1, None)):
        lists = pa.FixedSizeListArray.from_arrays(pa.array([], pa.float64()), size) if values is None else pa.array(
            [[], None, []], pa.list_(pa.float64(), 0))
        n, sink = len(lists), io.BytesIO()
        written = pa.table({"label": pa.array([1.0, 0.0, 1.0][:n]), "a": pa.array([0.5, 1.5, 2.5][:n]), "many": lists})
        with pa.ipc.new_file(sink, written.schema) as writer:
            writer.write_table(written)
        if size:
            assert "must have at most 1,048,576 numbers a row, got 1,048,578" in error_of(sink.getvalue(), "arrow")
        else:
            assert whole(sink.getvalue(), "arrow")[0].shape == (3, 1)


def test_columns_of_a_table_are_found_by_name():
    _, _, stream = whole(csv_of(FLAT), "csv", n_features=16)
    options = options_of(stream.metadata)
    expected = whole(csv_of(FLAT), "csv", n_features=16)[0].tolist()
    turned = [dict(reversed(row.items())) for row in FLAT]
    for make, format in ((csv_of, "csv"), (jsonl_of, "jsonl"), (parquet_of, "parquet")):
        assert whole(make(turned), format, **options)[0].tolist() == expected
        without_labels = [{name: value for name, value in row.items() if name != "label"} for row in turned]
        assert whole(make(without_labels), format, labels=None, **options)[0].tolist() == expected
        more = [{**row, "new": 1} for row in FLAT]
        assert "expected the columns ['age', 'size', 'color'] besides labels and weights, got an unknown one, 'new'" in error_of(
            make(more), format, **options)
        less = [{name: value for name, value in row.items() if name != "age"} for row in FLAT]
        missing = error_of(make(less), format, **options)
        assert "the column of the features must be one of" in missing or "expected a key 'age'" in missing


def test_the_header_of_each_csv_file_is_skipped():
    with read([io.BytesIO(csv_of(FLAT[:2])), io.BytesIO(csv_of(FLAT[2:]))], "csv") as stream:  # two streams of the same name
        assert np.concatenate([batch.y for batch in stream]).tolist() == list("xyxy")


def test_missing_values_of_a_table_are_absent_or_malformed():
    for data, format, line in ((csv_of(FLAT), "csv", 4), (jsonl_of(FLAT), "jsonl", 3), (parquet_of(FLAT), "parquet", 3)):
        assert error_of(data, format, missing="error") == (
            f"<stream>:{line}: expected a value in column 'age', got none (missing='absent' takes it for 0)")
        _, y, stream = whole(data, format, missing="error", on_error="skip")
        assert y.tolist() == ["x", "y"] and stream.n_skipped == 2
    nan = parquet_of([{"label": 1, "a": 1.0}, {"label": 0, "a": float("nan")}])
    assert whole(nan, "parquet")[0].tolist() == [[1], [0]]
    assert error_of(parquet_of([{"label": 1, "a": float("inf")}]), "parquet") == (
        "<stream>:1: expected a finite number that fits float32 in column 'a', got inf")
    assert error_of(b"read,a\n1,2\n", "csv", missing="drop") == "read: missing must be 'absent' or 'error', got 'drop'."


def test_the_first_value_of_a_column_decides_its_kind():
    X, _, stream = whole(b"label,a,b\nx,,1\nx,,u\ny,3,2\n", "csv", on_error="skip")
    assert stream.features == {"a": "number", "b": "number"} and X.tolist() == [[0, 1], [3, 2]]
    assert stream.skipped == (
        "<stream>:3: expected a finite number for column 'b', got 'u' (among the categories its values would be names)",)
    _, _, stream = whole(b"label,zip\nx,1234\ny,99\n", "csv", categories=["zip"], n_features=8)
    assert stream.features == {"zip": "category"} and stream.feature_names == () and stream.n_features == 8
    with pytest.raises(ValueError, match=r"the column of the features must be one of \['label', 'zip'\], got 'id'"):
        whole(b"label,zip\nx,1234\n", "csv", ignore=["id"])


def test_a_json_key_absent_from_the_first_lines_is_refused():
    lines = b'{"label": 1, "a": 2}\n{"label": 0, "a": 1, "b": 3}\n{"label": 0}\n'
    _, y, stream = whole(lines, "jsonl", on_error="skip")
    assert y.tolist() == [1] and stream.skipped == (
        "<stream>:2: expected the columns ['a'] besides labels and weights, got an unknown one, 'b'",
        "<stream>:3: expected a key 'a' (null where there is no value), got ['label']")


def test_options_of_metadata_make_the_same_rows(tmp_path):
    words = [{"label": "x", "body": "Some words, and some"}, {"label": "y", "body": "OTHER words"}]
    vectorizer = HashingVectorizer(n_features=64, ngram_range=(1, 2), stop_words=["and"], norm=None, dtype="float32")
    for data, format, options in (
        (jsonl_of(words), "jsonl", {"text": "body", "vectorizer": vectorizer}),
        (b"1 | a b:2\n", "vw", {"n_features": 32}),
        (b"1 1:2 3:4\n", "svmlight", {"n_features": 8, "zero_based": False}),
        (b"x;3;a;1\ny;;b;2\n", "csv", {"header": False, "delimiter": ";", "weight": 3, "n_features": 8, "dtype": "float64"}),
        (jsonl_of([{"label": 1, "features": {"a": 1}}]), "jsonl", {"n_features": 8}),
    ):
        X, _, stream = whole(data, format, **options)
        learner = AROWClassifier().partial_fit(X, np.arange(len(X)), classes=[0, 1])
        learner.save(tmp_path / "model", metadata=stream.metadata)
        _, metadata = load(tmp_path / "model", return_metadata=True)
        again, _, other = whole(data, "auto", **options_of(metadata))
        assert again.tolist() == X.tolist() and other.format == format and other.metadata == stream.metadata
    _, _, stream = whole(b"x\ta\n", "tsv", vectorizer=HashingVectorizer(tokenizer=str.split, token_pattern=None))
    assert stream.metadata["input"]["vectorizer"] is None  # a function has no form in a file
    for strange in ({}, {"input": None}, {"input": {}}, {"input": {**metadata["input"], "new": 1}}):
        with pytest.raises(ValueError, match=r"^options_of: metadata must describe how rows were read"):
            options_of(strange)


# --- the command line -----------------------------------------------------------------------------------------------------------


def table(n, seed=0):
    draw = np.random.default_rng(seed)
    rows = []
    for _ in range(n):
        a, b, color = draw.normal(), draw.normal(), draw.choice(["red", "blue"])
        label = "yes" if a - 2 * b + (color == "red") > 0.5 else "no"
        rows.append({"label": label, "a": round(a, 4), "b": round(b, 4), "color": str(color)})
    return rows


@pytest.fixture
def trained(tmp_path, run):
    data, model = tmp_path / "a.csv", tmp_path / "model"
    data.write_bytes(csv_of(table(400)))
    code, out, err = run("train", data, "--save", model)
    assert (code, out) == (0, "")
    assert "2^5 columns, from csv" in err
    assert "\ncolumns a, b, color\n" in err
    return model


def test_the_command_line_predicts_with_the_columns_of_the_model(tmp_path, run, trained):
    rows = table(100, 1)
    expected = None
    for make, name in ((csv_of, "b.csv"), (jsonl_of, "b.jsonl"), (parquet_of, "b.parquet")):
        for names in (["label", "a", "b", "color"], ["color", "b", "a"], ["b", "color", "a"]):
            (tmp_path / name).write_bytes(make([{name: row[name] for name in names} for row in rows]))
            code, out, err = run("predict", trained, tmp_path / name)
            assert (code, err) == (0, "")
            expected = expected or out
            assert out == expected
        row = {"a": 1, "b": 2, "color": "red", "c": 3}
        (tmp_path / name).write_bytes(make([row]))
        assert run("predict", trained, tmp_path / name) == (0, f"{load(trained).predict_one(row)}\n", "")
        (tmp_path / name).write_bytes(make([{"a": 1, "color": "red"}]))
        code, out, err = run("predict", trained, tmp_path / name)
        assert (code, out in ("yes\n", "no\n"), err) == (0, True, "")
    right = sum(said == row["label"] for said, row in zip(expected.split(), rows, strict=True))
    assert right > 80
    texts = tmp_path / "b.tsv"
    texts.write_text("yes\tsome words\n")
    assert "the model has learnt from a table of named columns, got texts or hashed names" in run("predict", trained, texts)[2]


def test_inspect_names_the_columns_of_a_table(run, trained):
    learnt = [row["a"] for row in table(400)]
    learner = learner_in(trained)
    top = json.loads(run("inspect", trained, "--json")[1])["top"]["yes"]
    by_name = {each["name"]: each for each in top}
    assert by_name["a"]["weight"] == pytest.approx(float(learner.coef_[0, 0]) / np.std(learnt)) and "color=red" in by_name
    assert "b" in {each["name"] for each in json.loads(run("inspect", trained, "--json")[1])["top"]["no"]}
    page = run("inspect", trained)[1]
    assert "rows       from csv; columns a, b, color\n" in page


def test_a_model_saved_in_python_works_on_the_command_line(tmp_path, run):
    data, model = tmp_path / "a.csv", tmp_path / "model"
    data.write_bytes(csv_of(table(200)))
    learner = AROWClassifier()
    with read(data, n_features=32) as stream:
        for X, y, _ in stream:
            learner.partial_fit(X, y)
        learner.save(model, metadata=stream.metadata)
    with read(data, **options_of(stream.metadata)) as stream:
        expected = np.concatenate([learner.predict(X) for X, _, _ in stream]).tolist()
    code, out, err = run("predict", model, data)
    assert (code, err) == (0, "") and out.split() == expected
    learner.save(model)
    code, out, err = run("predict", model, data)
    assert (code, out) == (1, "") and "the model must say what its columns are called, got a file without that" in err
