"""CSV, JSON lines, Parquet and Arrow: texts, tables, labels, weights, and rows that are refused with their place."""

import csv
import datetime as dt
import io
import json
import os
import select
import threading
import time

import numpy as np
import pytest

from onlinecls import AROWClassifier, make_stream_pipeline
from onlinecls.streams import MalformedLineError, _jsonl, options_of, read
from onlinecls.tables import TableVectorizer
from onlinecls.text import HashingVectorizer

pa = pytest.importorskip("pyarrow")
pytest.importorskip("pyarrow.parquet")

ROWS = [("ham", 'say "hi", all', 1.5), ("spam", "two\nlines", 0.0), ("ham", "naïve 東京", 2.0), ("égal", "", 1.0)]
EXPECTED = HashingVectorizer(dtype=np.float32).transform([text for _, text, _ in ROWS])
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


def rows_of(data, format="csv", **options):
    """Return the rows of a table as dicts, the labels, and the messages of lines that were left out."""
    found, stream = of(data, format, on_error="skip", **options)
    rows = [row for batch in found for row in (batch.X if isinstance(batch.X, list) else batch.X.to_pylist())]
    return rows, [label for batch in found for label in batch.y.tolist()], list(stream.skipped)


def error_of(data, format="csv", **options):
    with pytest.raises(ValueError) as caught:
        of(data, format, **options)
    return str(caught.value)


def csv_of(rows, header=("label", "text", "w"), **options):
    out = io.StringIO()
    csv.writer(out, **options).writerows([header, *rows] if header else rows)
    return out.getvalue().encode()


def jsonl_of(**options):
    return "\r\n\n".join(json.dumps({"label": y, "text": x, "w": w}, **options) for y, x, w in ROWS).encode()


def arrow_files(table, folder):
    pa.parquet.write_table(table, folder / "t.parquet", row_group_size=2)
    with pa.ipc.new_file(str(folder / "t.arrow"), table.schema) as out:
        out.write_table(table, max_chunksize=2)
    with pa.ipc.new_stream(str(folder / "t.arrows"), table.schema) as out:
        out.write_table(table, max_chunksize=2)
    return folder / "t.parquet", folder / "t.arrow", folder / "t.arrows"


def parquet(folder, name, **columns):
    pa.parquet.write_table(pa.table(columns), folder / name)
    return folder / name


# --- texts ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data, format, options", [
    (csv_of(ROWS, delimiter=";"), "csv", {"delimiter": ";"}), (b"\xef\xbb\xbf" + csv_of(ROWS), "csv", {}),
    (b"sep=|\r\n" + csv_of(ROWS, delimiter="|"), "csv", {}), (csv_of(ROWS, lineterminator="\n"), "csv", {"text": "text"}),
    (csv_of(ROWS, header=None), "csv", {"header": False, "text": 1, "weight": 2}),
    (jsonl_of(), "jsonl", {}), (jsonl_of(ensure_ascii=False), "jsonl", {}),
])
def test_texts_with_labels_and_weights_are_read(data, format, options):
    found, stream = of(data, format, **{"weight": "w", **options})
    assert not stream.is_table and (found[0].X != EXPECTED).nnz == 0
    assert found[0].y.tolist() == [row[0] for row in ROWS] and found[0].weight.tolist() == [row[2] for row in ROWS]
    how = {**options_of(stream.metadata), **options, "weight": stream.metadata["input"]["weight"]}
    again = list(read(io.BytesIO(data), format, prefetch=False, **how))
    assert (again[0].X != EXPECTED).nnz == 0


@pytest.mark.parametrize("kind", ["string", "large_string", "dictionary", "binary"])
def test_texts_of_arrow_are_read(tmp_path, kind):
    texts = pa.array([row[1] for row in ROWS])
    texts = texts.dictionary_encode() if kind == "dictionary" else texts.cast(kind)
    table = pa.table({"other": [1, 2, 3, 4], "label": [row[0] for row in ROWS], "text": texts})
    for path in arrow_files(table, tmp_path):
        for batch_rows in (1, 4096):
            found, stream = of(path, "auto", text="text", batch_rows=batch_rows)
            assert stream.format == ("parquet" if path.suffix == ".parquet" else "arrow") and stream.n_rows == 4
            assert np.concatenate([batch.X.toarray() for batch in found]).tobytes() == EXPECTED.toarray().tobytes()
            assert np.concatenate([batch.y for batch in found]).tolist() == [row[0] for row in ROWS]
        assert labels_of(path.read_bytes(), "auto", text="text") == [row[0] for row in ROWS]


def test_long_rows_of_csv_are_read_whatever_the_blocks_and_refused_beyond_a_line():
    rows = [*ROWS, ("a", "x" * 500, 1.0), ("b", 'one "line"\nand\n\nmore', 2.0)] * 3
    expected = HashingVectorizer(dtype=np.float32).transform([row[1] for row in rows]).toarray()
    for block_bytes in (1, 60, 5000):
        found, _ = of(csv_of(rows), weight="w", block_bytes=block_bytes)
        assert [label for batch in found for label in batch.y.tolist()] == [row[0] for row in rows]
        assert np.concatenate([batch.X.toarray() for batch in found]).tobytes() == expected.tobytes()
    long = b"label,text\na," + b"x" * 100_000 + b"\nb,y\n"
    assert "expected a line of at most 4096 bytes" in error_of(long, max_line_bytes=4096)
    assert labels_of(long, max_line_bytes=4096, on_error="skip") == ["b"] and labels_of(long, block_bytes=100) == ["a", "b"]


# --- tables --------------------------------------------------------------------------------------------------------------------


def test_a_table_is_the_same_in_every_format(tmp_path):
    text = csv_of(zip(*({"day": ["2024-05-01", "2024-05-02", ""]}.get(k, v) for k, v in TABLE.items()), strict=True), TABLE)
    sources, expected = [*arrow_files(pa.table(TABLE), tmp_path), tmp_path / "t.csv"], None
    sources[-1].write_bytes(text)
    for path in sources:
        found, stream = of(path, "auto", weight="w")
        assert stream.is_table and np.concatenate([batch.weight for batch in found]).tolist() == TABLE["w"]
        vectorizer = TableVectorizer()
        rows = np.vstack([vectorizer.learn_transform(batch.X).toarray()[:, :30] for batch in found]).tolist()
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
    kinds = stream.metadata["input"]["kinds"]
    assert kinds == {"c": kind}
    if kind != "text":
        strange = {"number": "x", "boolean": "maybe"}.get(kind, "soon")
        later = csv_of([("a", values[0]), ("b", strange), ("c", values[0])], ("label", "c"))
        assert f"<stream>:3: expected {'a ' if kind == 'number' else ''}" in error_of(later, kinds=kinds)
        assert f"in column 'c', as in the first rows, got {strange!r}" in error_of(later, kinds=kinds)
        assert labels_of(later, kinds=kinds, on_error="skip") == ["a", "c"]


def test_a_column_that_begins_with_nothing_is_told_by_its_first_value():
    rows, _, _ = rows_of(csv_of([("a", "")] * 5 + [("b", "7")], ("label", "c")), block_bytes=8)
    assert rows == [{"c": None}] * 5 + [{"c": 7.0}]


def test_json_objects_are_rows_of_a_table_as_their_types_say():
    data = b'{"label": "a", "n": 1, "deep": {"x": [1, "u"]}, "t": "2024-05-01"}\n{"label": "b", "w": 2, "n": null}\n'
    found, stream = of(data, "jsonl")
    assert stream.is_table and found[0].X == [{"n": 1, "deep": {"x": [1, "u"]}, "t": "2024-05-01"}, {"w": 2, "n": None}]
    model = make_stream_pipeline(TableVectorizer(), AROWClassifier()).partial_fit(found[0].X, found[0].y)
    assert model.classes_.tolist() == ["a", "b"]


# --- labels --------------------------------------------------------------------------------------------------------------------


def test_labels_are_the_text_of_the_field_or_what_their_type_says(tmp_path):
    assert labels_of(b"label,n\n1,0\n1.0,0\ntrue,0\nTrue,0\n") == ["1", "1.0", "true", "True"]
    for values in ([1, 0], [True, False], ["1", "y"], [0.5, 1.0]):
        lines = "".join(json.dumps({"label": value, "n": 0}) + "\n" for value in values)
        assert repr(labels_of(lines.encode(), "jsonl")) == repr(values)
        for path in arrow_files(pa.table({"label": values, "n": [0, 1]}), tmp_path):
            assert labels_of(path, "auto") == values
    assert labels_of(b"label,n\n1,0\n2.5e0,0\n", labels="number") == [1.0, 2.5]
    for data in (b"label,n\n1,0\n", b"n,m\n1,0\n"):
        assert of(data, labels=None)[0][0].y is None


def test_labels_are_of_one_type_and_finite(tmp_path):
    data = "".join(f'{{"label": {label}, "n": 0}}\n' for label in ("1", "true", '"1"', "1.0", "2")).encode()
    assert "<stream>:2: expected a label of the type of the first one, int, got True" in error_of(data, "jsonl")
    assert labels_of(data, "jsonl", on_error="skip") == [1, 2]
    assert labels_of(data.replace(b"true", b"3").replace(b'"1"', b"4"), "jsonl", labels="number") == [1, 3, 4, 1, 2]
    one = parquet(tmp_path, "1.parquet", label=[1.5, float("nan"), float("inf")], a=[1, 2, 3])
    assert labels_of(one, "auto", on_error="skip") == [1.5]
    for label in (1, True, "1"):
        other = parquet(tmp_path, "2.parquet", label=[label], a=[1])
        assert "2.parquet: labels must be of one type in all files" in error_of([one, other], "auto", on_error="skip")


@pytest.mark.parametrize(("format", "bad", "good"), [
    ("tsv", b"1\0\taa", b"1\taa"), ("svmlight", b"1\0 1:1", b"1 1:1"),
    ("vw", b"1\0 | aa", b"1 | aa"), ("fasttext", b"__label__1\0 aa", b"__label__1 aa"),
    ("fasttext", b"__label__ aa", b"__label__1 aa"), ("csv", b"1\0,aa", b"1,aa"),
    ("jsonl", b'{"label": "1\\u0000", "a": 1}', b'{"label": "1", "a": 1}'),
])
def test_labels_with_nul_are_not_taken_for_others(format, bad, good):
    head = b"label,a\n" if format == "csv" else b""
    assert labels_of(head + bad + b"\n" + good + b"\n", format, on_error="skip") == ["1"]


# --- rows that are refused ------------------------------------------------------------------------------------------------------

#: Lines of CSV, options, the rows that are read as (label, a), and the places of those that are left out.
FAULTS = {
    "numbers of fields, labels, UTF-8": (
        b"label,a\nx,p\nham\nham,b,c\n,d\nham,\xff\ny,\xc3\xa9\n\xff\n", {}, [("x", "p"), ("y", "é")],
        ["3:1", "4:1", "5", "6", "8:1"]),
    "an open quote": (
        b'label,a\nx,p\ny,"open\n' + b"z,q\n" * 50 + b'w,"s\nt"\nv,"u\n', {"max_line_bytes": 64},
        [("x", "p"), *[("z", "q")] * 50, ("w", "s\nt")], ["3:3", "56:3"]),
    "a stray quote that makes a row too long in fields": (
        b'label,a\nx,"open\ny,b\nz,c"d,e\nw,"s\nt"\n', {}, [("y", "b"), ("w", "s\nt")], ["2:3", "4:1"]),
    "a carriage return alone": (
        b'label,a\r\nx,"b\rc"\r\ny,b\rz,c\r\nv,"b"\ru,c\r\nw,d\r\nu,"b\nc"\rd,e\r\nt,d\r\n', {},
        [("x", "b\rc"), ("w", "d"), ("t", "d")], ["3:4", "4:6", "6:3", "7:3"]),
    "a quote within a field closes no other": (
        b'label,a\nx,b "c\ny,"open\nz,d\n', {}, [("x", 'b "c'), ("z", "d")], ["3:3"]),
    "quotes within a field open nothing": (
        b'label,a\nx,5" tall\ny,"a\nb"\nz,"c ""d"" e"\nw,f"\n', {},
        [("x", '5" tall'), ("y", "a\nb"), ("z", 'c "d" e'), ("w", 'f"')], []),
    "a quoted field longer than a line may be": (
        b'label,a\n' + b"x,p\n" * 20 + b'y,"' + b"abc\n" * 20 + b'ab"\nz,q\nw,"s\nt"\nv,r\nu\n', {"max_line_bytes": 50},
        [*[("x", "p")] * 20, ("z", "q"), ("w", "s\nt"), ("v", "r")],
        ["22:3", *(f"{line}:1" for line in range(23, 43)), "47:1"]),  # (the lines of the field are refused one by one)
    "lines after empty ones and quoted ends, a header again, NUL": (
        b'label,a\r\n\r\nx,"a\nb\nc"\r\n\r\n\r\ny\r\nz,\xff\r\nlabel,a\r\nw\r\nv,u\0\r\nlabel,b\r\n', {},
        [("x", "a\nb\nc"), ("v", "u\0"), ("label", "b")], ["8:1", "9", "11:1"]),
    "a silent text column": (b"label,a\n\n\n", {}, [], []),
}


@pytest.mark.parametrize("block_bytes", [7, 16, 40, 1 << 20])
@pytest.mark.parametrize("what", FAULTS)
def test_a_malformed_row_of_csv_costs_itself_only(what, block_bytes):
    data, options, expected, places = FAULTS[what]
    rows, labels, skipped = rows_of(data, block_bytes=block_bytes, **options)
    assert list(zip(labels, (row["a"] for row in rows), strict=True)) == expected
    assert {each.split(": ")[0].removeprefix("<stream>:") for each in skipped} == set(places[-5:])  # (the last ones are kept)
    if places:
        before = []
        with pytest.raises(MalformedLineError, match=f"^<stream>:{places[0]}: expected "):
            for batch in read(io.BytesIO(data), "csv", block_bytes=block_bytes, **options):
                before += batch.y.tolist()
        assert before == labels[: len(before)]


def test_many_open_quotes_are_read_in_a_time_that_the_file_bounds():
    """Each line leaves a quoted field open, whether one is open before or not: lines are read again once, not row by row."""
    begun = time.process_time()
    assert labels_of(b"label,a\n" + b'a"b,"\n' * 300_000, on_error="skip", max_line_bytes=1 << 20) == []
    assert time.process_time() - begun < 20.0


@pytest.mark.parametrize("parts, kinds, expected", [
    # A silent pipe does not end the rows that tell the kinds: one row alone would make numbers of a column of texts.
    ([b"label,a\n", b"x,1\n", b"y,2\n", b"z,three\n"], {}, ["1", "2", "three"]),
    ([b'label,a\nx,b\ny,"c\n', b'd"\nz,e\n'], {"kinds": {"a": "text"}}, ["b", "c\nd", "e"]),
])
def test_rows_of_a_pipe_that_is_silent_for_a_while(parts, kinds, expected):
    end, begin = os.pipe()

    def write():
        with open(begin, "wb", buffering=0) as pipe:
            for part in parts:
                pipe.write(part)
                while select.select([end], [], [], 0.0)[0]:
                    time.sleep(0.01)
                time.sleep(0.5)  # (longer than the first lines are waited for, twice)

    writer = threading.Thread(target=write)
    writer.start()
    with open(end, "rb", buffering=0) as pipe:
        rows, labels, skipped = rows_of(pipe, **kinds)
    writer.join()
    assert [row["a"] for row in rows] == expected and labels == ["x", "y", "z"] and not skipped


def test_columns_of_csv_that_cannot_be_are_refused():
    for head in (b"label,a\rx,1\ry,2\r", b'label,"a\nb"\nx,1\n', b"label,\xff\nx,1\n", b"label," + b"a" * 200_000 + b"\nx,1\n"):
        assert error_of(head).startswith("<stream>: expected names of columns in the first line")
    for data, options, message in (
        (b"y,text\nx,a\n", {}, "the column 'label' of the labels must be there, got ['y', 'text']"),
        (b"label,a,a\nx,1,2\n", {}, "different names, got 'a' twice"),
        (b"label\nx\n", {}, "a column of features or texts must be there"),
        (b"label,text,w\nx,a,-1\n", {"weight": "w"}, "<stream>:2: expected a weight >= 0, got '-1'"),
    ):
        assert message in error_of(data, **options)


def test_numbers_and_days_that_no_table_takes_are_refused_with_their_lines(tmp_path):
    rows, _, skipped = rows_of(b"label,a,b\nx,1,u\nx,inf,u\nx,1e200,u\nx,nan,u\n")
    assert rows == [{"a": 1.0, "b": "u"}, {"a": None, "b": "u"}] and [each.split(":")[1] for each in skipped] == ["3", "4"]
    file = parquet(tmp_path, "1.parquet", label=[*"xyzw"], a=[1.0, float("inf"), -1e200, 1.0], b=[[None, 1.0], [], [], [1e200]])
    assert labels_of(file, "auto", on_error="skip") == ["x"]
    deep = ', "b": [[1e200]]', ', "b": {"c": [{"d": -1e200}]}', ', "b": ' + "[" * 70 + "]" * 70
    lines = "".join(f'{{"label": 1, "a": 1{more}}}\n' for more in ("e200", *deep)) + '{"label": 2, "a": [1.5, "e"]}\n'
    assert labels_of(lines.encode(), "jsonl", on_error="skip") == [2]
    data = b"label,d\nx,2012/01/31\n" + b"x,2012/1/2\n" * 20 + b"y,2012/02/30\n"
    rows, labels, skipped = rows_of(data, kinds={"d": "%Y/%m/%d"})
    assert labels == ["x"] * 21 and rows[1]["d"].day == 2 and "expected a date like %Y/%m/%d" in skipped[0]


TEXT, LONG = b'"text": "a"', b"0" * 400


@pytest.mark.parametrize("loads", [_jsonl._plain, _jsonl._loads])
@pytest.mark.parametrize("line, problem", [
    (b"[1]", "expected a JSON object, got [1]"), (b'{"label": "x"}', "expected a text at key 'text', got None"),
    (b'{"text": "x"}', "expected a label (labels=None reads lines without), got none"),
    (b'{"label": "x", "text": 3}', "expected a text at key 'text', got 3"),
    (b'{"label": ["x"], %s}' % TEXT, "expected one label a row, a text or a number, got ['x']"),
    *((line, "expected ") for line in (
        b"{'a'", b"[" * 100_000, b'{"a":' * 20_000, b"\xff", b'{"label": "x", "text": "\\ud800"}', b'{"\\ud800": 1}',
        *(b'{"label": "x", "a": %b, %b}' % (value, TEXT) for value in (
            b"NaN", b"Infinity", b"01", b'"\xff"', b"1" + LONG, b'"\\uDC00"')),
        b'{"label": 1%b, %b}' % (LONG, TEXT), b'{"label": "x", %b}' % TEXT + b" " * 200_000)),
])
def test_malformed_json_lines_are_refused_with_and_without_orjson(monkeypatch, line, problem, loads):
    monkeypatch.setattr(_jsonl, "_loads", loads)
    more = b', "a": [1, 2.5, true, null, {"b": 1e39}]' if b'"a": ' in line else b""
    good = b'{"label": "x", "text": "\\ud83d\\ude00"%b}\n' % more
    message = error_of(good + line, "jsonl", max_line_bytes=150_000)
    assert message.startswith("<stream>:2:") and problem in message
    found, stream = of(good + line + b"\n" + good, "jsonl", on_error="skip", max_line_bytes=150_000)
    assert found[0].y.tolist() == ["x", "x"] and stream.n_skipped == 1


def test_malformed_arrow_rows_are_refused_with_their_place(tmp_path):
    table = pa.table({"label": ["a", None, "b", "c"], "text": ["x", "y", None, "z"], "w": [1, 1, 1, float("nan")]})
    for path in arrow_files(table, tmp_path):
        assert error_of(path, "auto", text="text").startswith(f"{path.name}:2: expected a label (labels=None")
        found, stream = of(path, "auto", text="text", weight="w", on_error="skip")
        assert [label for batch in found for label in batch.y.tolist()] == ["a"] and stream.n_skipped == 3
    for data, format in ((b"PAR1 no", "parquet"), (b"ARROW1 no", "arrow"), (b"\xff\xff\xff\xff", "arrow")):
        assert "not a readable" in error_of(data, format)
    lists = parquet(tmp_path, "1.parquet", label=["x"], text=[["a"]])
    assert "expected a text in UTF-8, got a column of list" in error_of(lists, "auto", on_error="skip")


def test_a_pipe_is_refused_where_files_are_read_from_their_end():
    end, begin = os.pipe()
    with open(end, "rb") as pipe:
        with open(begin, "wb") as there:
            there.write(b"PAR1")
        with pytest.raises(ValueError, match="Parquet is read in pieces from its end, got a pipe"):
            read(pipe, "parquet")
