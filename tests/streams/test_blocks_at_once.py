"""Blocks that pyarrow or orjson reads at once give the batches, the errors and the skipped lines of Python's modules."""

import io
import json
import random
import re
import sys
from importlib.util import find_spec
from itertools import product

import numpy as np
import pytest

from onlinecls.streams import MalformedLineError, _csv, _jsonl, read
from onlinecls.streams._records import is_utf8
from onlinecls.tables import TableVectorizer

pytestmark = pytest.mark.filterwarnings("ignore:TableVectorizer")  # (of values of other kinds)

pytest.importorskip("pyarrow", reason="needs pyarrow, without which all blocks of CSV are read in Python")

N = 60  # lines around a strange one
HALF = N // 2
HEADER = b"label,a,b\n"
WHOLE = {"tables": "passthrough"}
WORDS = {"n_features": 16}
CELLS = [
    "", "NA", "null", "nan", "inf", "-inf", "1e400", "1e-400", "1_000", " 1.5", "1.5 ", "+1", "0x10", "1.", ".5", "1e5", "-0",
    "١", "a", '"1"', '"1,2"', "1,2", "1;2", "true", "1" * 400, "\x00", "1\r", "\xa01", "9007199254740993", "1e39", "1d5",
    "Infinity", "- 1", "é", "$1,2", "12%", "2024-01-02", "2024-13-02", "?", "yes", " NA ", '"x y"',
]
CSV_LINES = [
    b"", b" ", b"ham", b"ham,1", b"ham,1,2,3", b"label,a,b", b"ham,\xff,1", b"\xff,1,2", b'"ham,1,2', b"ham,1,2\r\rham,1,2",
    b"ham,1," + b"z" * 140_000, b'ham,"1.5","2"', b'"ham","1.5",""', b'"ham",1.5,NA', b'ham,"1,5",2', b'"ha""m",1.5,2',
    b'ha"m,1.5,2', b'ham,1"5,2', b'ham,"1.5"x,2', b'ham,x"1.5",2', b'ham, "1.5",2', b'ham,"1.5" ,2', b'ham,"",2', b'ham,"""",2',
    b'ham,"a""b",2', b'ham,""x,2', b'ham,x"",2', b'ham,",2', b'ham,"1.5,2', b'ham,"1\n5",2', b'"ham",",",2', b'ham,a", "b',
    b'"label","a","b"', b'"",1,2', b'"\xc3\xa9","\xc3\xa9",2', b'ham,"1.5","2"\r', b'ham,"\r",2', b"ham,a\0b,1",
]
VALUES = [
    "null", "true", '"1.5"', '"1_0"', '"a"', "NaN", "Infinity", "1e400", "1e39", "1e160", "9007199254740993", "-0", "1.0E+2",
    "123456789012345678901234567890", "[1]", "[]", "{}", "01", "1.", '""', "1e-400", "0.1", "18446744073709551616",
    '"2024-01-02"',
]
JSON_LINES = [
    '{"label": "x", "a": 1}', '{"label": "x", "a": 1, "b": 2, "c": 3}', '{"label": "x", "a": 1, "a": 2, "b": 3}', "", "  ",
    '{"label": "x", "a": 1, "c": 2}', "{", "[]", "3", '{"label": "x", "b": 1, "a": 2}', '{"label": null, "a": 1, "b": 2}',
    '{"label": "x", "a": 1, "b": 2}{"label": "x", "a": 1, "b": 2}', '{"label": "\\ud800", "a": 1, "b": 2}',
    '{"label": "é", "a": 1, "b": 2}', ' {"label" : "x" ,"a":1,"b":2} ', '{"label": "x", "a": 1, "b": 2}\r',
    '{"label": "x", "a": 1, "b": 2},', '{"label": "", "a": 1, "b": 2}', '{"a": 1, "b": 2}',
]
TEXTS = [
    r'"a\u0041 \u00e9"', r'"\ud83d\ude00"', r'"\ud800"', '"é"', '""', "null", "3", '"tab\there"', r'"a\tb"',
    '"' + "a" * 300 + '"',
    '"a", "n": 123456789012345678901234567890', '"a", "n": ' + "[" * 300 + "]" * 300, '"a", "n": ' + "[" * 5000,
    '"a", "more": [{"a": null}], "text": "dear"', '"a", "features": {"a": 1}', '"a"} {',
]
LABELS = ["1.5", "1.0", "-0", "9007199254740993", "1e30", "1" + "0" * 29, "1e400", '"1"', "true", "NaN", "2", "null", '""', '"x"']


def csv_lines():
    draw = random.Random(1)
    cells = ["", "NA", "-3", "2.5e-3"]
    return [f"{draw.choice(['ham', 'spam'])},{draw.random()!r},{draw.choice(cells)}".encode() for _ in range(N)]


def json_lines(labels=('"x"', '"y"')):
    draw = random.Random(2)
    rows = [(draw.choice(labels), draw.random(), draw.randint(-9, 9)) for _ in range(N)]
    return [f'{{"label": {label}, "a": {a}, "b": {b}}}'.encode() for label, a, b in rows]


QUOTED = [b'"%s","%s",%s' % tuple(line.split(b",")) for line in csv_lines()]
WITH_TEXTS = [b'%s,"%s, and more"' % tuple(line.split(b",")[:2]) for line in csv_lines()]
WITH_WORDS = [b'{"label": "%s", "text": "word%d \xc3\xa9 \\"%d\\""}' % (b"xy"[k % 2 : k % 2 + 1], k % 7, k) for k in range(N)]
WITH_NUMBERS = [b'{"label": %d, "w": %d, "text": "a b"}' % (k % 3, k % 5) for k in range(N)]


def with_line(lines, line, at=HALF):
    return [*lines[:at], line if isinstance(line, bytes) else line.encode(), *lines[at + 1 :]]


def among(usual, strange, places=(HALF,)):
    """Return the usual lines with each of the strange ones in each of these places."""
    return [with_line(usual, line, at) for line in strange for at in places]


def with_cells(usual, places=(0, 1, 2)):
    """Return the usual lines with each of CELLS in each of these places of the middle line."""
    fields = usual[HALF].split(b",")
    return among(usual, [b",".join([*fields[:k], cell.encode(), *fields[k + 1 :]]) for k in places for cell in CELLS])


def with_values(usual, values, keys=("label", "a", "b"), record='{"label": "x", "a": 1, "b": 2}'):
    """Return the usual lines with each of the values of each of the keys of a record in the middle."""
    parts = [re.match(rf'(.*"{key}": )[^,}}]*(.*)', record).groups() for key in keys]
    return among(usual, [before + value + after for before, after in parts for value in values])


def outcome(data, format, at_once, monkeypatch, **options):
    """Return all that a stream gives: rows, labels, weights, lines left out, or the error."""
    monkeypatch.setattr(_csv, "LEAST", 0 if at_once else 1 << 60)
    monkeypatch.setattr(_jsonl, "is_utf8", is_utf8 if at_once else lambda piece: False)
    found = []
    try:
        with read(io.BytesIO(data), format, dtype="float64", batch_rows=25, prefetch=False, **options) as stream:
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
        fast, slow = (outcome(data, format, at_once, monkeypatch, on_error=on_error, **options) for at_once in (True, False))
        assert fast == slow, (lines[HALF], on_error, options)
    return fast


@pytest.fixture
def counted(monkeypatch):
    """Count the blocks that were read at once."""
    found = []
    for reader, name in ((_csv.CsvReader, "_block"), (_jsonl.JsonReader, "_read_block")):
        read_block = getattr(reader, name)
        monkeypatch.setattr(
            reader, name, lambda self, *rest, read_block=read_block: found.append(read_block(self, *rest)) or found[-1])
    return found


@pytest.fixture(params=["json", "orjson"])
def parser(request, monkeypatch):
    """Read JSON by Python's module, and by orjson where it is installed."""
    if request.param == "json":
        monkeypatch.setitem(sys.modules, "orjson", None)
    elif not find_spec("orjson"):
        pytest.skip("orjson is not installed")


FITTED = {"tables": TableVectorizer(bits=4, slots=8).fit([{"a": 1, "b": "x"}, {"a": 2, "b": None}])}
OTHERS = [{"weight": "a"}, {"weight": "b"}, {"ignore": ["b"]}, {"missing": "error"}, {"labels": None}]
OTHERS = [*OTHERS, *({**WHOLE, **each} for each in OTHERS)]
WORDLESS = [line.rpartition(b",")[0] for line in CSV_LINES]
LONG_NUMBERS = [line.replace(b",0.", b",00.") for line in csv_lines()]
BY_SEMICOLON = [line.replace(b",", b";") for line in csv_lines()]
NUMERIC = json_lines(("1", "2.5"))
WORD, NUMBER = '{"label": "x", "text": "a"}', '{"label": 0, "w": 0, "text": "a b"}'
NAMED = [{}, WHOLE]
NO_LABELS = {**WORDS, "labels": None}
TEXT = [WORDS, NO_LABELS]
# (first line, usual lines, strange readings of them, options)
CSV = {
    "cells": (HEADER, csv_lines(), with_cells(csv_lines()), NAMED),
    "lines": (HEADER, csv_lines(), among(csv_lines(), CSV_LINES), [*NAMED, {"labels": None}]),
    "fitted": (HEADER, csv_lines(), with_cells(csv_lines(), [1]), [FITTED]),
    "options": (HEADER, csv_lines(), (), OTHERS),
    "a column read twice": (HEADER, LONG_NUMBERS, (), [{}, *({**WORDS, "label": "a", **each} for each in (
        {"weight": "a", "ignore": ["label"]}, {"features": ["a"]}, {"weight": "a", "features": ["a"]}, {"text": "a"},
        {"weight": "a", **WHOLE}))]),
    "no header": (b"", csv_lines(), (), [{"header": False}, {**WHOLE, "header": False, "label": 0}]),
    "semicolons": (HEADER.replace(b",", b";"), BY_SEMICOLON, (), [{"delimiter": ";"}]),
    "quotes": (HEADER, QUOTED, among(QUOTED, CSV_LINES), NAMED),
    "texts": (b"label,text\n", WITH_TEXTS, among(WITH_TEXTS, [*WORDLESS, b"label,text", b"ham,text"]), TEXT),
}
JSON = {
    "lines": (b"", json_lines(), among(json_lines(), JSON_LINES, (0, HALF)), [*NAMED, {"labels": "str"}]),
    "values": (b"", json_lines(), with_values(json_lines(), VALUES), NAMED),
    "labels": (b"", NUMERIC, with_values(NUMERIC, LABELS, ["label"]), [*NAMED, {"labels": "str"}, {"labels": "number"}]),
    "fitted": (b"", json_lines(), with_values(json_lines(), VALUES, ["a"]), [FITTED]),
    "options": (b"", json_lines(), (), OTHERS),
    "texts": (b"", WITH_WORDS, with_values(WITH_WORDS, TEXTS, ["text"], WORD), TEXT),
    "labels of texts": (b"", WITH_WORDS, with_values(WITH_WORDS, LABELS, ["label"], WORD), TEXT),
    "lines of texts": (b"", WITH_WORDS, among(WITH_WORDS, [
        *JSON_LINES, '{"label": "x"}', '{"text": "a"}', '{"label": "x", "features": {"a": 1}}', b'{"label": "x", "text": "\xff"}',
        b'{"label": "x", "text": "\xed\xa0\x80"}'
    ], (0, HALF)), TEXT),
    "numbers beside texts": (b"", WITH_NUMBERS, with_values(WITH_NUMBERS, LABELS, ["label", "w"], NUMBER), [
        {**WORDS, "weight": "w"}, {**WORDS, "weight": "w", "labels": "number"}, {**WORDS, "weight": "w", "labels": "str"}
    ]),
}


def compare(monkeypatch, counted, format, case):
    head, usual, strange, ways = case
    for k, options in enumerate(ways):
        counted.clear()
        found = agrees(usual, format, monkeypatch, head, **options)
        assert k > 0 or (sum(map(bool, counted)) > 3 and found[3] == N and len(found[0]) == 3)
        for lines in strange:
            agrees(lines, format, monkeypatch, head, **options)


@pytest.mark.parametrize("case", CSV)
def test_blocks_of_csv_are_read_alike(monkeypatch, counted, case):
    compare(monkeypatch, counted, "csv", CSV[case])


@pytest.mark.parametrize("case", JSON)
def test_blocks_of_json_lines_are_read_alike(monkeypatch, counted, parser, case):
    compare(monkeypatch, counted, "jsonl", JSON[case])


@pytest.mark.parametrize(("constant", "most", "case", "options"), [
    ("_records._BATCH_CHARS", 90, JSON["texts"], WORDS), ("_tables.BATCH_NUMBERS", 9, CSV["lines"], WHOLE),
    ("_tables.BATCH_NUMBERS", 9, JSON["lines"], WHOLE), ("_tables.BATCH_NUMBERS", 9, CSV["lines"], {}),
])
def test_a_batch_that_is_full_ends_within_a_block(monkeypatch, constant, most, case, options):
    monkeypatch.setattr(f"onlinecls.streams.{constant}", most)
    head, usual, _, _ = case
    found = agrees(usual, "csv" if head else "jsonl", monkeypatch, head, **options)
    assert len(found[0]) > 3 and found[3] == N


def test_rows_that_are_refused_do_not_decide_the_type_of_labels(monkeypatch):
    kinds = {"a": "number", "b": "number"}
    for labels in ([1], [""]):
        refused = [f'{{"label": {json.dumps(label)}, "a": 1, "b": 2, "c": 3}}'.encode() for label in labels * 40]
        found = agrees([*refused, *json_lines()], "jsonl", monkeypatch, features=kinds)
        assert (found[1], found[3]) == (40, N)


def test_texts_do_not_follow_features(monkeypatch):
    found = agrees([b'{"label": "x", "features": {"a": 1}}', *WITH_WORDS], "jsonl", monkeypatch, **WORDS)
    assert (found[1], found[3]) == (N, 1)


@pytest.mark.parametrize("names", [
    ("0", "1"), ("2024", ""), ("NA", "nan"), ("1e5", "null"), ("-1", ".5"), ("inf", "1_0"), ("a b", "c,d"), ("words", "1"),
    ('a"', "x"),
], ids=" ".join)
def test_a_record_equal_to_the_header_is_skipped_whatever_the_names_look_like(monkeypatch, counted, names):
    """The files of `cat a.csv b.csv` each have one, and the names of columns could be their values."""
    bare = [b"label", *(name.encode() for name in names)]
    quoted = [b'"%b"' % name.replace(b'"', b'""') for name in bare]
    header = b",".join(q if set(b) & set(b',"') else b for b, q in zip(bare, quoted, strict=True))
    ways = [{}, WHOLE, {"labels": None}, {**WHOLE, "labels": None}, {"label": names[0]}]
    ways += [{"text": names[0]}, {"weight": names[0]}] if names == ("0", "1") else []
    for options in ways:
        others = [b",".join(quoted), b",".join([bare[0], *quoted[1:]]), header + b"\r", b"\xef\xbb\xbf" + header]
        for again, at in [*product([header], (0, 1, HALF, N - 1, N)), *product(others, (0, HALF))]:
            lines = csv_lines() if "label" not in options else [line.replace(b"NA", b"2") for line in csv_lines()]
            if "weight" in options:
                lines = [line.replace(b",", b",1", 1) for line in lines]
            lines[at:at] = [again, again]
            *_, n = agrees(lines, "csv", monkeypatch, header + b"\n", n_features=16, **options)
            assert n == N, (options, again, at)
    assert sum(map(bool, counted)) > 100


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_empty_lines_of_csv_are_no_rows_wherever_a_block_begins(monkeypatch, counted, columns):
    header = (b"text\n", b"label,text\n", HEADER)[columns - 1]
    options = NO_LABELS if columns == 1 else WORDS
    lines = [(b" " if columns == 1 else b",").join(line.split(b",")[: max(columns, 2)]) for line in csv_lines()]
    places = range(HALF) if columns == 1 else range(0, N + 1, 4)  # (the first block ends before the middle)
    for empty, at, each in product((b"", b"\r", b" ", b"\t \r"), places, ({}, WHOLE)):
        *_, n = agrees([*lines[:at], empty, empty, *lines[at:]], "csv", monkeypatch, header, **options, **each)
        assert n == N, (empty, at)
    assert sum(map(bool, counted)) > 100
    one = [b'" "', b'""', b"x", b'" "']  # fields that are there, though they are blank
    assert agrees([*one, b" ", *one], "csv", monkeypatch, b"text\n", **NO_LABELS)[3] == 8
    tabs = [b"a\tb\tc", b"\t\t", b" \t\t", b"", b" "]
    assert agrees(tabs, "csv", monkeypatch, b"x\ty\tz\n", delimiter="\t", labels=None, **WHOLE)[3] == 3


def test_a_header_that_is_not_utf_8_is_refused(monkeypatch):
    for options in ({}, WHOLE, {"labels": None}, {"text": "b"}):
        found = agrees(csv_lines(), "csv", monkeypatch, b"label,gr\xf6\xdfe,b\n", **options)
        assert found[:2] == ([], MalformedLineError), options
        assert found[2].startswith("<stream>:1: expected text in UTF-8, got ") and "in the header. Convert the file" in found[2]
    first, second = (b"label,%b,b\nx,1,2\n" % name for name in ("größe".encode(), "größe".encode("latin-1")))
    with pytest.raises(MalformedLineError, match=r"<stream>:1: expected text in UTF-8, got .* in the header"):
        list(read([io.BytesIO(first), io.BytesIO(second)], "csv", on_error="skip"))


def test_blocks_of_few_wide_rows_are_read_in_python(counted):
    """There pyarrow, which takes its time for each column of each block, is many times slower."""
    header = ("label," + ",".join(f"c{k}" for k in range(20_000)) + "\n").encode()
    with read(io.BytesIO(header + (b"x" + b",1.5" * 20_000 + b"\n") * 9), "csv") as stream:
        assert [batch.X.sum() for batch in stream] == [9 * 30_000]
    assert counted and not any(counted)


@pytest.mark.parametrize("columns", [[2, 1, 0], [2, 1], [1, 2, 0]])
@pytest.mark.parametrize("options", [{}, WHOLE])
def test_blocks_of_a_second_file_may_have_the_columns_in_another_order(monkeypatch, counted, options, columns):
    names, rows = ["a", "b", "label"], [(str(k % 7), str(k % 5), "ham" if k % 2 else "spam") for k in range(3 * N)]
    if 0 not in columns and options != WHOLE:
        pytest.skip("a file without a column is an error")

    def file(rows, columns):
        return io.BytesIO("".join(",".join(row[k] for k in columns) + "\n" for row in (names, *rows)).encode())

    def read_all(*files):
        return [(rows_of(X), y.tolist()) for X, y, _ in read(list(files), "csv", **options)]

    def rows_of(X):
        return [dict(sorted(row.items())) for row in X] if options == WHOLE else X.toarray().tolist()

    found = []
    for least in (0, 1 << 60):
        monkeypatch.setattr("onlinecls.streams._csv.LEAST", least)
        counted.clear()
        found.append(read_all(file(rows[:N], [0, 1, 2]), file(rows[N:], columns)))
        assert any(counted) == (not least)
    assert found[0] == found[1]
    if 0 in columns:
        assert found[0] == read_all(file(rows, [0, 1, 2]))
