"""Blocks that pyarrow reads give the batches, the errors and the skipped lines that the readers in Python give."""

import io
import json
import random

import numpy as np
import pytest

from onlinecls.streams import MalformedLineError, _plain, read

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
    monkeypatch.setattr(_plain, "LEAST", least)
    found = []
    try:
        with read(io.BytesIO(data), format, dtype="float64", batch_rows=25, **options) as stream:
            for X, y, weight in stream:
                X = X if isinstance(X, np.ndarray) else X.toarray()
                y, weight = (None if each is None else each.tolist() for each in (y, weight))
                found.append((X.tolist(), y, weight, stream.gaps))
            return found, stream.n_skipped, stream.skipped
    except (MalformedLineError, ValueError) as error:
        return found, type(error), str(error)


def agrees(lines, format, monkeypatch, header=b"", **options):
    data = header + b"\n".join(lines) + b"\n"
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
    """Count the blocks that pyarrow has read."""
    found = []
    for reader in (_plain.PlainCsv, _plain.PlainJson):
        rows = reader._rows
        monkeypatch.setattr(reader, "_rows", lambda self, *rest, rows=rows: found.append(rows(self, *rest)) or found[-1])
    return found


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
