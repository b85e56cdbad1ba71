"""What a file of a table may not do to the rows around it."""

from __future__ import annotations

import io
import os
import select
import threading
import time

import pytest

pa = pytest.importorskip("pyarrow")
import pyarrow.parquet as pq  # noqa: E402

from onlinecls.streams import MalformedLineError, _jsonl, read  # noqa: E402


def rows_of(source, **options):
    """Return the rows, the labels and the messages of lines that were left out."""
    rows, labels = [], []
    with read(source, on_error="skip", **options) as stream:
        for X, y, _ in stream:
            rows += X.to_pylist() if hasattr(X, "to_pylist") else X
            labels += y.tolist()
        return rows, labels, list(stream.skipped)


def csv_of(data: bytes, **options):
    return rows_of(io.BytesIO(data), format="csv", **options)


@pytest.mark.parametrize("block_bytes", [16, 1 << 20])
def test_an_open_quote_costs_its_own_line_only(block_bytes):
    data = b'label,a\nx,p\ny,"open\n' + b"z,q\n" * 50 + b'w,"s\nt"\nv,"u\n'
    rows, labels, skipped = csv_of(data, block_bytes=block_bytes, max_line_bytes=64)
    assert labels == ["x"] + ["z"] * 50 + ["w"] and rows[-1] == {"a": "s\nt"}
    assert [each.split(": ")[0] for each in skipped] == ["<stream>:3:3", "<stream>:56:3"]
    with pytest.raises(MalformedLineError, match="<stream>:3:3: expected a quote at the end of the field"):
        list(read(io.BytesIO(data), "csv", block_bytes=block_bytes, max_line_bytes=64))


def test_a_row_that_a_stray_quote_makes_too_long_in_fields_costs_its_own_line_only():
    rows, labels, skipped = csv_of(b'label,a\nx,"open\ny,b\nz,c"d,e\nw,"s\nt"\n')
    assert labels == ["y", "w"] and rows == [{"a": "b"}, {"a": "s\nt"}]
    assert [each.split(": ")[0] for each in skipped] == ["<stream>:2:3", "<stream>:4:1"]


def test_many_open_quotes_are_read_in_a_time_that_the_file_bounds():
    """Each line leaves a quoted field open, whether one is open before or not: lines are read again once, not row by row."""
    line = b'a"b,"\n'
    begun = time.process_time()
    assert csv_of(b"label,a\n" + line * 300_000, max_line_bytes=1 << 20)[1] == []
    assert time.process_time() - begun < 20.0


def test_a_carriage_return_alone_is_refused_without_quotes():
    rows, labels, skipped = csv_of(b'label,a\r\nx,"b\rc"\r\ny,b\rz,c\r\nv,"b"\ru,c\r\nw,d\r\n')
    assert labels == ["x", "w"] and rows[0] == {"a": "b\rc"}
    assert [each.split(" around")[0] for each in skipped] == ["<stream>:3:4: expected quotes", "<stream>:4:6: expected quotes"]


def csv_of_pipe(*parts, **options):
    """Return `csv_of` of a pipe that is silent for a while behind each part."""
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
        found = rows_of(pipe, format="csv", **options)
    writer.join()
    return found


def test_kinds_of_a_slow_pipe_are_those_of_its_first_rows_together():
    """A silent pipe does not end the rows that tell the kinds: one row alone would make numbers of a column of texts."""
    rows, labels, skipped = csv_of_pipe(b"label,a\n", b"x,1\n", b"y,2\n", b"z,three\n")
    assert rows == [{"a": "1"}, {"a": "2"}, {"a": "three"}] and labels == ["x", "y", "z"] and not skipped


def test_a_row_that_goes_on_behind_a_silent_pipe_is_kept():
    rows, labels, skipped = csv_of_pipe(b'label,a\nx,b\ny,"c\n', b'd"\nz,e\n', kinds={"a": "text"})
    assert [row["a"] for row in rows] == ["b", "c\nd", "e"] and labels == ["x", "y", "z"] and not skipped


def test_a_quote_within_a_field_closes_no_other():
    rows, labels, skipped = csv_of(b'label,a\nx,b "c\ny,"open\nz,d\n')
    assert rows == [{"a": 'b "c'}, {"a": "d"}] and labels == ["x", "z"] and skipped[0].startswith("<stream>:3:3: ")


def test_quotes_within_a_field_open_nothing():
    data = b'label,a\nx,5" tall\ny,"a\nb"\nz,"c ""d"" e"\nw,f"\n'
    for block_bytes in range(8, 60):
        rows, labels, skipped = csv_of(data, block_bytes=block_bytes)
        assert [row["a"] for row in rows] == ['5" tall', "a\nb", 'c "d" e', 'f"'], block_bytes
        assert labels == ["x", "y", "z", "w"] and not skipped


@pytest.mark.parametrize("block_bytes", [16, 1 << 20])
def test_a_line_that_is_neither_utf8_nor_whole_costs_itself_only(block_bytes):
    rows, labels, skipped = csv_of(b"label,a,b\nx,p,1\n\xff,q\ny,\xc3\xa9,2\nz,\xfe,3\n", block_bytes=block_bytes)
    assert labels == ["x", "y"] and rows[1]["a"] == "é" and [each.split(":")[1] for each in skipped] == ["3", "5"]


@pytest.mark.parametrize("block_bytes", [7, 40, 1 << 20])
def test_a_quoted_field_longer_than_a_line_may_be_is_refused_whatever_the_blocks(block_bytes):
    data = b'label,a\n' + b"x,p\n" * 20 + b'y,"' + b"ab\n" * 29 + b'ab"\nz,q\nw,"s\nt"\nv,r\nu\n'
    rows, labels, skipped = csv_of(data, block_bytes=block_bytes, max_line_bytes=50)
    assert labels == ["x"] * 20 + ["z", "w", "v"] and rows[-2] == {"a": "s\nt"}
    assert skipped[-1].startswith("<stream>:56:1: ")
    with pytest.raises(MalformedLineError, match="<stream>:22:3: expected a quote at the end of the field"):
        list(read(io.BytesIO(data), "csv", block_bytes=block_bytes, max_line_bytes=50))


@pytest.mark.parametrize("block_bytes", [16, 1 << 20])
def test_lines_are_numbered_behind_empty_ones_and_quoted_ends(block_bytes):
    data = b'label,a\r\n\r\nx,"a\nb\nc"\r\n\r\n\r\ny\r\nz,\xff\r\nlabel,a\r\nw\r\n'
    _, labels, skipped = csv_of(data, block_bytes=block_bytes)
    assert labels == ["x"] and sorted(int(each.split(":")[1]) for each in skipped) == [8, 9, 11]


@pytest.mark.parametrize("head", [
    b"label,a\rx,1\ry,2\r", b'label,"a\nb"\nx,1\n', b"label,\xff\nx,1\n", b"label," + b"a" * 200_000 + b"\nx,1\n",
])
def test_a_head_that_is_none_is_a_value_error(head):
    with pytest.raises(ValueError, match="<stream>: expected names of columns in the first line"):
        csv_of(head)


def test_days_that_no_month_has_are_refused():
    data = b"label,d\nx,2012/01/31\n" + b"x,2012/1/2\n" * 20 + b"y,2012/02/30\n"
    rows, labels, skipped = csv_of(data, kinds={"d": "%Y/%m/%d"})
    assert labels == ["x"] * 21 and rows[1]["d"].day == 2 and "expected a date like %Y/%m/%d" in skipped[0]


@pytest.mark.parametrize("delimiter", ['"', "\n", "\r", "§"])
def test_delimiters_that_cannot_be(delimiter):
    with pytest.raises(ValueError, match="delimiter must be a character of ASCII"):
        read(io.BytesIO(b"label,a\nx,1\n"), "csv", delimiter=delimiter)


def parquet(folder, name, **columns):
    path = os.path.join(folder, name)
    pq.write_table(pa.table(columns), path)
    return path


def test_labels_of_parquet_are_finite_and_of_one_type(tmp_path):
    one = parquet(tmp_path, "1.parquet", label=[1.5, float("nan"), float("inf")], a=[1, 2, 3])
    _, labels, skipped = rows_of(one)
    assert labels == [1.5] and len(skipped) == 2
    for label in (1, True, "1"):
        with pytest.raises(ValueError, match=r"2.parquet: labels must be of one type in all files"):
            rows_of([one, parquet(tmp_path, "2.parquet", label=[label], a=[1])])


def test_lists_are_no_texts(tmp_path):
    with pytest.raises(ValueError, match="expected a text in UTF-8, got a column of list"):
        rows_of(parquet(tmp_path, "1.parquet", label=["x"], text=[["a"]]))


@pytest.mark.parametrize("line", [
    b'{"label": 1, "a": 1%s}' % (b"0" * 400), b'{"label": 1%s, "a": 1}' % (b"0" * 400),
    b'{"label": 1, "\\ud800": 1}', b'{"label": 1, "a": "\\uDC00"}',
])
@pytest.mark.parametrize("loads", [_jsonl._plain, _jsonl._loads])
def test_json_refuses_the_same_with_and_without_orjson(monkeypatch, line, loads):
    monkeypatch.setattr(_jsonl, "_loads", loads)
    good = b'{"label": 2, "a": "\\ud83d\\ude00"}'
    rows, labels, skipped = rows_of(io.BytesIO(line + b"\n" + good + b"\n"), format="jsonl")
    assert rows == [{"a": "\U0001f600"}] and labels == [2] and len(skipped) == 1


def test_numbers_that_no_table_takes_are_refused_with_their_lines(tmp_path):
    data = b"label,a,b\nx,1,u\nx,inf,u\nx,1e200,u\nx,nan,u\n"
    rows, _, skipped = csv_of(data)
    assert rows == [{"a": 1.0, "b": "u"}, {"a": None, "b": "u"}] and [each.split(":")[1] for each in skipped] == ["3", "4"]
    _, labels, skipped = rows_of(parquet(tmp_path, "1.parquet", label=["x", "y", "z"], a=[1.0, float("inf"), -1e200]))
    assert labels == ["x"] and len(skipped) == 2
    _, labels, skipped = rows_of(io.BytesIO(b'{"label": 1, "a": 1e200}\n{"label": 2, "a": 1.5}\n'), format="jsonl")
    assert labels == [2] and len(skipped) == 1


@pytest.mark.parametrize(("format", "bad", "good"), [
    ("tsv", b"1\0\taa", b"1\taa"), ("svmlight", b"1\0 1:1", b"1 1:1"),
    ("vw", b"1\0 | aa", b"1 | aa"), ("fasttext", b"__label__1\0 aa", b"__label__1 aa"),
    ("fasttext", b"__label__ aa", b"__label__1 aa"), ("csv", b"1\0,aa", b"1,aa"),
    ("jsonl", b'{"label": "1\\u0000", "a": 1}', b'{"label": "1", "a": 1}'),
])
def test_labels_with_nul_are_not_taken_for_others(format, bad, good):
    head = b"label,a\n" if format == "csv" else b""
    with read(io.BytesIO(head + bad + b"\n" + good + b"\n"), format, on_error="skip") as stream:
        assert [y.tolist() for _, y, _ in stream] == [["1"]]
        assert stream.n_skipped == 1
