"""Streams in which some rows have no label: `read(..., unlabelled=)`."""

import io
import json

import numpy as np
import pytest

from onlinecls.streams import MalformedLineError, read
from onlinecls.text import HashingVectorizer

LABELS = ["ham", None, "spam", "ham", None, None, "spam"]
NUMBERS = {"ham": 1.5, "spam": -2.0}


def csv(labels, numbers):
    """A missing label is empty or NA."""
    lines = enumerate(labels)
    return "label,x\n" + "".join(f"{['', '', 'NA'][row % 3] if each is None else each},{row}\n" for row, each in lines)


def jsonl(labels, numbers):
    """A missing label is null, "", or no key."""
    lines = [{"label": each, "x": row} for row, each in enumerate(labels)]
    for row, line in enumerate(lines):
        if line["label"] is None and row % 3:
            line["label"] = ""
        elif line["label"] is None and row % 2:
            del line["label"]
    return "".join(json.dumps(line) + "\n" for line in lines)


FORMATS = {
    "vw": lambda labels, numbers: "".join(
        f"{'' if each is None else f'{each} '}|f a{row}:2\n" for row, each in enumerate(labels)),
    "svmlight": lambda labels, numbers: "".join(f"{'' if each is None else each} {row}:2\n" for row, each in enumerate(labels)),
    "tsv": lambda labels, numbers: "".join(f"{'' if each is None else each}\tword{row}\n" for row, each in enumerate(labels)),
    "fasttext": lambda labels, numbers: "".join(
        f"{'' if each is None else f'__label__{each} '}word{row}\n" for row, each in enumerate(labels)),
    "csv": csv, "jsonl": jsonl,
}
HASHING = HashingVectorizer(n_features=2**10)


class Plain:
    """A vectorizer that is not compiled."""

    def transform(self, texts):
        return HASHING.transform(texts)


def opened(format, text, **options):
    more = {} if "vectorizer" in options else {"n_features": 2**10}
    return read(io.BytesIO(text.encode()), format=format, **more, **options)


def rows_of(stream):
    found = list(stream)
    y = [label for batch in found for label in batch.y.tolist()]
    return np.concatenate([batch.X.toarray() for batch in found]), y


def cases():
    for format in FORMATS:
        for are_numbers in (False, True):
            if not (are_numbers and format == "fasttext"):
                yield format, are_numbers


@pytest.mark.parametrize("format, are_numbers", cases())
def test_rows_without_a_label_are_kept_left_out_or_refused(format, are_numbers):
    labels = [NUMBERS.get(each) if are_numbers else each for each in LABELS]
    text, kind = FORMATS[format](labels, are_numbers), {"labels": "number" if are_numbers else "auto"}
    whole = np.concatenate([batch.X.toarray() for batch in opened(format, text, labels=None)])
    there = [each is not None for each in labels]
    for batch_rows in (2, 100):
        with opened(format, text, unlabelled="keep", batch_rows=batch_rows, **kind) as stream:
            X, y = rows_of(stream)
        np.testing.assert_array_equal(X, whole)
        none = np.nan if are_numbers else ""
        np.testing.assert_array_equal(np.array(y), np.array([none if each is None else each for each in labels]))
        assert (stream.n_unlabelled, stream.n_rows, stream.n_skipped) == (3, 7, 0)
        with opened(format, text, unlabelled="skip", batch_rows=batch_rows, **kind) as stream:
            gaps, found = [], []
            for batch in stream.batches_of_rows():
                gaps += stream.gaps
                found += batch.y.tolist()
            gaps += stream.gaps
        assert found == [each for each in labels if each is not None]
        assert (gaps, stream.n_unlabelled, stream.n_rows) == ([1, 3, 3], 3, 4)
        X, _ = rows_of(opened(format, text, unlabelled="skip", batch_rows=batch_rows, **kind))
        np.testing.assert_array_equal(X, whole[there])
    with pytest.raises(MalformedLineError, match=r":[23](:\d+)?: expected .*unlabelled='keep'"):
        list(opened(format, text, **kind))


@pytest.mark.parametrize("format", ["vw", "tsv", "fasttext", "jsonl"])
def test_the_format_is_detected_where_the_first_lines_have_no_label(format):
    labels = [NUMBERS.get(each) for each in LABELS[1:]] if format == "vw" else LABELS[1:]
    assert opened("auto", FORMATS[format](labels, False), unlabelled="keep").format == format


def test_a_vectorizer_in_python_reads_alike():
    text = FORMATS["tsv"](LABELS, False)
    X, y = rows_of(opened("tsv", text, unlabelled="keep", vectorizer=Plain()))
    expected = rows_of(opened("tsv", text, unlabelled="keep", vectorizer=HASHING))
    np.testing.assert_array_equal(X, expected[0])
    assert y == expected[1]
    np.testing.assert_array_equal(rows_of(opened("tsv", text, unlabelled="skip", vectorizer=Plain()))[0], X[[0, 2, 3, 6]])


@pytest.mark.parametrize("tables", [None, "passthrough"])
@pytest.mark.parametrize("format", ["csv", "jsonl"])
def test_blocks_are_read_as_lines_are(format, tables):
    """Files that are long enough are read a block at a time."""
    labels = [["ham", None, "spam"][row % 7 % 3] for row in range(40_000)]
    text = FORMATS[format](labels, False)
    for unlabelled, expected in (("keep", ["" if each is None else each for each in labels]),
                                 ("skip", [each for each in labels if each is not None])):
        stream = opened(format, text, unlabelled=unlabelled, tables=tables)
        assert [label for batch in stream for label in batch.y.tolist()] == expected
        assert stream.n_unlabelled == labels.count(None)


@pytest.mark.parametrize("tables", [None, "passthrough"])
def test_tables_in_memory(tables):
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"label": LABELS, "x": list(range(7))})
    kept = next(read(table, unlabelled="keep", tables=tables))
    assert kept.y.tolist() == ["" if each is None else each for each in LABELS]
    skipped = next(read(table, unlabelled="skip", tables=tables))
    x = skipped.X["x"].to_pylist() if tables else skipped.X.toarray()[:, 0].tolist()
    assert (skipped.y.tolist(), x) == (["ham", "spam", "ham", "spam"], [0, 2, 3, 6])


def test_gaps_are_in_order_beside_malformed_lines(tmp_path):
    path = tmp_path / "a.tsv"
    lines = ["ham\ta", "\tb", "no tab", "spam\tc", "no tab", "\td", "\te", "ham\tf"] * 50
    path.write_text("\n".join(lines) + "\n")
    options = {"on_error": "skip", "block_bytes": 128, "batch_rows": 7, "labels": "str"}
    gaps = []
    with read(path, unlabelled="skip", **options) as stream:
        for _ in stream:
            gaps += stream.gaps
        gaps += stream.gaps
    rows = np.cumsum([line[0] not in "\tn" for line in lines])
    assert gaps == [int(rows[at]) for at, line in enumerate(lines) if line[0] in "\tn"]
    assert (stream.n_unlabelled, stream.n_skipped, stream.n_rows) == (150, 100, 150)


def test_labels_may_come_late():
    for label, expected in (('"ham"', "ham"), ("3", "3.0")):
        text = '{"x": 1}\n{"x": 2, "label": ' + label + "}\n"
        batches = opened("jsonl", text, unlabelled="keep", batch_rows=1)
        assert [str(label) for batch in batches for label in batch.y.tolist()] == ["nan", expected]


def test_a_wrong_value_is_refused():
    with pytest.raises(ValueError, match="read: unlabelled must be 'refuse', 'skip' or 'keep', got 'predict'"):
        opened("vw", "1 |f a\n", unlabelled="predict")
