"""Blocks that pyarrow reads give the batches, the errors and the skipped lines that the readers in Python give."""

import io
import json
import random
import sys
from importlib.util import find_spec

import numpy as np
import pytest

from onlinecls.streams import MalformedLineError, _csv, _jsonl, read
from onlinecls.streams._records import is_utf8

pytest.importorskip("pyarrow", reason="needs pyarrow, without which all blocks are read in Python")

N = 60  # lines around a line that is not plain
CSV_CELLS = [
    "", "NA", "null", "nan", "inf", "-inf", "1e400", "1e-400", "1_000", " 1.5", "1.5 ", "+1", "0x10", "1.", ".5", "1e5", "-0",
    "١", "a", '"1"', '"1,2"', "1,2", "1;2", "true", "1" * 400, "\x00", "1\r", "\xa01", "9007199254740993", "1e39", "1d5",
    "Infinity", "- 1", "é",
]
JSON_VALUES = [
    "null", "true", '"1.5"', '"a"', "NaN", "Infinity", "1e400", "1e39", "9007199254740993", "123456789012345678901234567890",
    "-0", "1.0E+2", "[1]", "{}", "01", "1.", '""', "1e-400", "0.1", "18446744073709551616",
]
JSON_LINES = [
    '{"label": "x", "a": 1}', '{"label": "x", "a": 1, "b": 2, "c": 3}', '{"label": "x", "a": 1, "a": 2, "b": 3}', "", "  ",
    "{", "[]", '{"label": "x", "b": 1, "a": 2}', '{"label": "x", "a": 1, "b": 2}{"label": "x", "a": 1, "b": 2}',
    '{"label": 3, "a": 1, "b": 2}', '{"label": null, "a": 1, "b": 2}', '{"label": "\\ud800", "a": 1, "b": 2}',
    '{"label": "é", "a": 1, "b": 2}',
    ' {"label" : "x" ,"a":1,"b":2} ', '{"label": "x", "a": 1, "b": 2}\r', '{"label": "x", "a": 1, "b": 2},',
    '{"label": "", "a": 1, "b": 2}',
]


def outcome(data, format, least, monkeypatch, **options):
    """Return all that a stream gives: rows, labels, weights, lines left out, or the error."""
    monkeypatch.setattr(_csv, "LEAST", least)
    found = []
    monkeypatch.setattr(_jsonl, "is_utf8", is_utf8 if least == 0 else lambda piece: False)
    try:
        with read(io.BytesIO(data), format, dtype="float64", batch_rows=25, **options) as stream:
            for X, y, weight in stream:
                X = X.toarray() if hasattr(X, "toarray") else X
                y, weight = (None if each is None else each.tolist() for each in (y, weight))
                found.append((repr(X.tolist() if isinstance(X, np.ndarray) else list(X)), y, weight, stream.gaps))
            return found, stream.n_skipped, stream.skipped, stream.n_rows
    except (MalformedLineError, ValueError, TypeError) as error:
        return found, type(error), str(error)


def agrees(lines, format, monkeypatch, head=b"", **options):
    data = head + b"\n".join(lines) + b"\n"
    monkeypatch.setattr("onlinecls.streams._records._BLOCK", 400)  # the lines come in several blocks
    for on_error in ("raise", "skip"):
        fast, slow = (outcome(data, format, least, monkeypatch, on_error=on_error, **options) for least in (0, 1 << 60))
        assert fast == slow, (lines[N // 2], on_error)
    return fast


def csv_lines():
    draw = random.Random(1)
    cells = ["", "NA", "-3", "2.5e-3"]
    return [f"{draw.choice(['ham', 'spam'])},{draw.random()!r},{draw.choice(cells)}".encode() for _ in range(N)]


def json_lines():
    draw = random.Random(2)
    return [json.dumps({"label": draw.choice("xy"), "a": draw.random(), "b": draw.randint(-9, 9)}).encode() for _ in range(N)]


@pytest.fixture
def counted(monkeypatch):
    """Count the blocks that were plain."""
    found = []
    for reader, name in ((_csv.CsvReader, "_block"), (_jsonl.JsonReader, "_read_block")):
        read_block = getattr(reader, name)
        monkeypatch.setattr(
            reader, name, lambda self, *rest, read_block=read_block: found.append(read_block(self, *rest)) or found[-1]
        )
    return found


@pytest.fixture(params=["json", "orjson"])
def parser(request, monkeypatch):
    """Read JSON by Python's module, and by orjson where it is installed."""
    if request.param == "json":
        monkeypatch.setitem(sys.modules, "orjson", None)
    elif not find_spec("orjson"):
        pytest.skip("orjson is not installed")


def test_blocks_of_csv_are_read_alike(monkeypatch, counted):
    header = b"label,a,b\n"
    (found, *_) = agrees(csv_lines(), "csv", monkeypatch, header)
    assert sum(map(bool, counted)) > 3 and [len(each[1]) for each in found] == [25, 25, 10]
    for cell in CSV_CELLS:
        for place in range(3):
            lines = csv_lines()
            fields = lines[N // 2].split(b",")
            fields[place] = cell.encode("utf-8")
            lines[N // 2] = b",".join(fields)
            agrees(lines, "csv", monkeypatch, header)
    for line in (
        b"", b" ", b"ham", b"ham,1", b"ham,1,2,3", header.strip(), b"ham,\xff,1", b"\xff,1,2", b'"ham,1,2', b"ham,1,2\r\rham,1,2"
    ):
        lines = csv_lines()
        lines[N // 2] = line
        agrees(lines, "csv", monkeypatch, header)
        agrees(lines, "csv", monkeypatch, header, labels=None)
    agrees(csv_lines(), "csv", monkeypatch, header, weight="a")
    agrees(csv_lines(), "csv", monkeypatch, header, weight="b")
    agrees(csv_lines(), "csv", monkeypatch, header, ignore=["b"])
    agrees(csv_lines(), "csv", monkeypatch, header, missing="error")
    agrees([line.replace(b",", b";") for line in csv_lines()], "csv", monkeypatch, header.replace(b",", b";"), delimiter=";")


def test_blocks_of_json_lines_are_read_alike(monkeypatch, counted):
    (found, *_) = agrees(json_lines(), "jsonl", monkeypatch)
    assert sum(map(bool, counted)) > 5 and [len(each[1]) for each in found] == [25, 25, 10]
    for line in JSON_LINES:
        for at in (0, N // 2):
            lines = json_lines()
            lines[at] = line.encode()
            agrees(lines, "jsonl", monkeypatch)
            agrees(lines, "jsonl", monkeypatch, labels="str")
    for value in JSON_VALUES:
        for key in ("label", "a", "b"):
            lines, record = json_lines(), {"label": '"x"', "a": "1", "b": "2"}
            record[key] = value
            lines[N // 2] = ("{" + ", ".join(f'"{name}": {text}' for name, text in record.items()) + "}").encode()
            agrees(lines, "jsonl", monkeypatch)
            if key == "label":  # labels that are numbers
                agrees([line.replace(b'"x"', b"1").replace(b'"y"', b"2.5") for line in lines], "jsonl", monkeypatch)
    agrees(json_lines(), "jsonl", monkeypatch, weight="a")
    agrees(json_lines(), "jsonl", monkeypatch, weight="b")
    agrees(json_lines(), "jsonl", monkeypatch, labels=None)
    agrees(json_lines(), "jsonl", monkeypatch, ignore=["b"])


QUOTED = [
    b'ham,"1.5","2"', b'"ham","1.5",""', b'"ham",1.5,NA', b'ham,"1,5",2', b'"ha""m",1.5,2', b'ha"m,1.5,2', b'ham,1"5,2',
    b'ham,"1.5"x,2', b'ham,x"1.5",2', b'ham, "1.5",2', b'ham,"1.5" ,2', b'ham,"",2', b'ham,"""",2', b'ham,"a""b",2', b'ham,""x,2',
    b'ham,x"",2', b'ham,",2', b'ham,"1.5,2', b'ham,"1\n5",2', b'"ham",",",2', b'ham,a", "b', b'"label","a","b"', b"label,a,b",
    b'"",1,2', b'"\xc3\xa9","\xc3\xa9",2', b'ham,"1.5","2"\r', b'ham,"\r",2',
]


def test_blocks_of_csv_with_quotes_are_read_alike(monkeypatch, counted):
    header, quoted = b"label,a,b\n", [b'"%s","%s",%s' % tuple(line.split(b",")) for line in csv_lines()]
    texts = [b'%s,"%s, and more"' % tuple(line.split(b",")[:2]) for line in csv_lines()]
    for options in ({}, {"tables": "passthrough"}):
        (found, *_) = agrees(quoted, "csv", monkeypatch, header, **options)
        assert sum(map(bool, counted)) > 3 and [len(each[1]) for each in found] == [25, 25, 10]
        for line in QUOTED:
            for lines in (csv_lines(), quoted):
                agrees([*lines[: N // 2], line, *lines[N // 2 :]], "csv", monkeypatch, header, **options)
    counted.clear()
    (found, *_) = agrees(texts, "csv", monkeypatch, b"label,text\n", n_features=16)
    assert sum(map(bool, counted)) > 3 and [len(each[1]) for each in found] == [25, 25, 10]
    for line in QUOTED:
        line = line.rpartition(b",")[0]
        agrees([*texts[: N // 2], line, *texts[N // 2 :]], "csv", monkeypatch, b"label,text\n", n_features=16)
        agrees([*texts[: N // 2], line, *texts[N // 2 :]], "csv", monkeypatch, b"label,text\n", n_features=16, labels=None)
    lines = [*texts, b"label,text", b"ham,text", b"label,x", b"ham,a\0b", *texts]
    agrees(lines, "csv", monkeypatch, b"label,text\n", n_features=16)


TEXT_LINES = [
    '{"label": "x", "text": "a\\u0041 \\u00e9"}', '{"label": "x", "text": "\\ud83d\\ude00"}', '{"label": "x", "text": "\\ud800"}',
    '{"label": "x", "text": "é"}', '{"text": "cheap", "label": "y", "more": [{"a": null}], "text": "dear"}',
    '{"label": "x", "text": ""}', '{"label": "x", "text": null}', '{"label": "x", "text": 3}', '{"label": "x"}', '{"text": "a"}',
    '{"label": "x", "features": {"a": 1}}', '{"label": "x", "text": "a", "features": {"a": 1}}', '{"label": "", "text": "a"}',
    '{"label": 1, "text": "a"}', '{"label": null, "text": "a"}', '{"label": true, "text": "a"}', '{"label": NaN, "text": "a"}',
    '{"label": "x", "text": "a"} {}', '{"label": "x", "text": "a", "n": 123456789012345678901234567890}', "[]", "3", "", " ", "{",
    '{"label": "x", "text": "tab\there"}', '{"label": "x", "text": "a\\tb"}\r', '{"label": "x", "text": "' + "a" * 300 + '"}',
    '{"label": "x", "text": "a", "n": ' + "[" * 300 + "]" * 300 + "}", '{"label": "x", "text": "a", "n": ' + "[" * 5000 + "}",
]
NUMBER_LABELS = ["1.5", "-0", "9007199254740993", "1e30", "100000000000000000000000000000", "1e400", '"1"', "true", "NaN", "2"]


def test_blocks_of_texts_in_json_lines_are_read_alike(monkeypatch, counted, parser):
    draw = random.Random(3)
    usual = [json.dumps({"label": draw.choice("xy"), "text": f"word{draw.randint(0, 9)} é \"{k}\""}).encode() for k in range(N)]
    (found, *_) = agrees(usual, "jsonl", monkeypatch, n_features=16)
    assert sum(map(bool, counted)) > 5 and [len(each[1]) for each in found] == [25, 25, 10]
    for line in TEXT_LINES:
        for at in (0, N // 2):
            lines = [*usual[:at], line.encode(), *usual[at + 1 :]]
            agrees(lines, "jsonl", monkeypatch, n_features=16)
            agrees(lines, "jsonl", monkeypatch, n_features=16, labels=None)
    agrees([*usual[:9], b'{"label": "x", "text": "\xff"}', *usual[9:]], "jsonl", monkeypatch, n_features=16)
    agrees([*usual[:9], b'{"label": "x", "text": "\xed\xa0\x80"}', *usual[9:]], "jsonl", monkeypatch, n_features=16)
    numbers = [b'{"label": %d, "w": %d, "text": "a b"}' % (k % 3, k % 5) for k in range(N)]
    for label in NUMBER_LABELS:
        for key in ("label", "w"):
            lines = list(numbers)
            lines[N // 2] = lines[N // 2].replace(f'"{key}": 0'.encode(), f'"{key}": {label}'.encode())
            agrees(lines, "jsonl", monkeypatch, n_features=16)
            agrees(lines, "jsonl", monkeypatch, n_features=16, weight="w")
            agrees(lines, "jsonl", monkeypatch, n_features=16, labels="number")
    monkeypatch.setattr("onlinecls.streams._records._BATCH_CHARS", 90)
    (found, *_) = agrees(usual, "jsonl", monkeypatch, n_features=16)
    assert len(found) > 3
    features = [b'{"label": "x", "features": {"a": 1}}', *usual]
    agrees(features, "jsonl", monkeypatch, n_features=16)


def test_blocks_of_whole_tables_are_read_alike(monkeypatch, counted, parser):
    from onlinecls.tables import TableVectorizer

    options = {"tables": "passthrough"}
    header, fitted = b"label,a,b\n", TableVectorizer(bits=4, slots=8).fit([{"a": 1, "b": "x"}, {"a": 2, "b": None}])
    (found, *_) = agrees(csv_lines(), "csv", monkeypatch, header, **options)
    assert sum(map(bool, counted)) > 3 and [len(each[1]) for each in found] == [25, 25, 10]
    for cell in [*CSV_CELLS, "$1,2", "12%", "2024-01-02", "2024-13-02", "?", "yes", " NA ", '"x y"']:
        for place in range(3):
            lines = csv_lines()
            fields = lines[N // 2].split(b",")
            fields[place] = cell.encode("utf-8")
            lines[N // 2] = b",".join(fields)
            agrees(lines, "csv", monkeypatch, header, **options)
            if place == 1:
                agrees(lines, "csv", monkeypatch, header, tables=fitted)
    for line in (b"", b"ham", b"ham,1,2,3", header.strip(), b"ham,\xff,1", b"ham,1," + b"z" * 140_000):
        agrees([*csv_lines()[:N // 2], line, *csv_lines()[N // 2 :]], "csv", monkeypatch, header, **options)
    agrees(csv_lines(), "csv", monkeypatch, header, **options, labels=None)
    agrees(csv_lines(), "csv", monkeypatch, header, **options, weight="b")
    agrees(csv_lines(), "csv", monkeypatch, header, **options, ignore=["a"])
    agrees(csv_lines(), "csv", monkeypatch, header, **options, missing="error")
    agrees(csv_lines(), "csv", monkeypatch, **options, header=False, label=0)
    for line in JSON_LINES:
        lines = json_lines()
        lines[N // 2] = line.encode()
        agrees(lines, "jsonl", monkeypatch, **options)
    for value in [*JSON_VALUES, "null", '"2024-01-02"', "1e160"]:
        for key in ("label", "a", "b"):
            lines, record = json_lines(), {"label": '"x"', "a": "1", "b": "2"}
            record[key] = value
            lines[N // 2] = ("{" + ", ".join(f'"{name}": {text}' for name, text in record.items()) + "}").encode()
            agrees(lines, "jsonl", monkeypatch, **options)
            if key == "a":
                agrees(lines, "jsonl", monkeypatch, tables=fitted)
    agrees(json_lines(), "jsonl", monkeypatch, **options, weight="b")
    agrees(json_lines(), "jsonl", monkeypatch, **options, labels=None)
    agrees(json_lines(), "jsonl", monkeypatch, **options, ignore=["b"])
    agrees(json_lines(), "jsonl", monkeypatch, **options, missing="error")
    monkeypatch.setattr("onlinecls.streams._tables.BATCH_NUMBERS", 9)
    for lines, format, head in ((csv_lines(), "csv", header), (json_lines(), "jsonl", b"")):
        (found, *_) = agrees(lines, format, monkeypatch, head, **options)
        assert len(found) > 9


NAMES = [
    ("0", "1"), ("2024", ""), ("NA", "nan"), ("1e5", "null"), ("-1", ".5"), ("inf", "1_0"), ("a b", "c,d"), ("words", "1"),
    ('a"', "x"),
]


@pytest.mark.parametrize("names", NAMES, ids=" ".join)
def test_a_record_equal_to_the_header_is_skipped_whatever_the_names_look_like(monkeypatch, counted, names):
    """The files of `cat a.csv b.csv` each have one, and the names of columns could be their values."""
    bare = [b"label", *(name.encode() for name in names)]
    quoted = [b'"%b"' % name.replace(b'"', b'""') for name in bare]
    usual = [q if set(b) & set(b',"') else b for b, q in zip(bare, quoted, strict=True)]
    header = b",".join(usual)
    ways = [{}, {"tables": "passthrough"}, {"labels": None}, {"tables": "passthrough", "labels": None}, {"label": names[0]}]
    ways += [{"text": names[0]}, {"weight": names[0]}] if names == NAMES[0] else []
    for options in ways:
        others = [b",".join(quoted), b",".join([bare[0], *quoted[1:]]), header + b"\r", b"\xef\xbb\xbf" + header]
        for again in (header, *others):
            for at in (0, 1, N // 2, N - 1, N):
                lines = csv_lines() if "label" not in options else [line.replace(b"NA", b"2") for line in csv_lines()]
                if "weight" in options:
                    lines = [line.replace(b",", b",1", 1) for line in lines]
                lines[at:at] = [again, again]
                *_, n = agrees(lines, "csv", monkeypatch, header + b"\n", n_features=16, **options)
                assert n == N, (options, again, at)
    assert sum(map(bool, counted)) > 100


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_empty_lines_of_csv_are_no_rows_wherever_a_block_begins(monkeypatch, counted, columns):
    header = (b"text\n", b"label,text\n", b"label,a,b\n")[columns - 1]
    options = {"labels": None} if columns == 1 else {}
    for empty in (b"", b"\r", b" ", b"\t \r"):
        for at in range(0, N + 1, 1 if columns == 1 else 3):
            lines = [(b" " if columns == 1 else b",").join(line.split(b",")[: max(columns, 2)]) for line in csv_lines()]
            for each in ({}, {"tables": "passthrough"}):
                with_empty = [*lines[:at], empty, empty, *lines[at:]]
                *_, n = agrees(with_empty, "csv", monkeypatch, header, n_features=16, **options, **each)
                assert n == N, (empty, at)
    assert sum(map(bool, counted)) > 100
    one = [b'" "', b'""', b"x", b'" "']  # fields that are there, though they are blank
    assert agrees([*one, b" ", *one], "csv", monkeypatch, b"text\n", n_features=16, labels=None)[3] == 8
    tabs = [b"a\tb\tc", b"\t\t", b" \t\t", b"", b" "]
    assert agrees(tabs, "csv", monkeypatch, b"x\ty\tz\n", delimiter="\t", tables="passthrough", labels=None)[3] == 3


def test_a_header_that_is_not_utf_8_is_refused(monkeypatch):
    for options in ({}, {"tables": "passthrough"}, {"labels": None}, {"text": "b"}):
        found = agrees(csv_lines(), "csv", monkeypatch, b"label,gr\xf6\xdfe,b\n", **options)
        assert found[:2] == ([], MalformedLineError), options
        assert found[2].startswith("<stream>:1: expected text in UTF-8, got ") and "in the header. Convert the file" in found[2]
    first, second = (b"label,%b,b\nx,1,2\n" % name for name in ("größe".encode(), "größe".encode("latin-1")))
    with pytest.raises(MalformedLineError, match=r"<stream>:1: expected text in UTF-8, got .* in the header"):
        list(read([io.BytesIO(first), io.BytesIO(second)], "csv", on_error="skip"))


def test_blocks_of_few_wide_rows_are_read_in_python(monkeypatch, counted):
    """There pyarrow, which takes its time for each column of each block, is many times slower."""
    header = ("label," + ",".join(f"c{k}" for k in range(20_000)) + "\n").encode()
    with read(io.BytesIO(header + (b"x" + b",1.5" * 20_000 + b"\n") * 9), "csv") as stream:
        assert [batch.X.sum() for batch in stream] == [9 * 30_000]
    assert counted and not any(counted)
