"""Tables below a header in files that may also be labels with texts: which they are, and what divides their columns."""

import io
import random
from types import SimpleNamespace

import numpy as np
import pytest

from onlinecls.streams import MalformedLineError, options_of, read

DRAW = random.Random(3)
ROWS = [(f"{DRAW.gauss(0, 1):.3f}", str(DRAW.randrange(9)), DRAW.choice(["Oslo", "New York"]), "ab"[k % 2]) for k in range(60)]
TEXTS = [("ham", "see you at noon"), ("spam", "buy now\tand save"), ("ham", "5"), ("eggs", "for lunch"), ("ham", "")]


def written(names, rows, delimiter="\t"):
    return "".join(delimiter.join(row) + "\n" for row in (names, *rows)).encode()


def named(data, name):
    file = io.BytesIO(data)
    file.name = name
    return file


def read_all(data, name="data", **options):
    with read(named(data, name), **{"n_features": 8, **options}) as stream:
        return stream, [(batch.X if isinstance(batch.X, list) else batch.X.toarray().tolist(), batch.y) for batch in stream]


@pytest.mark.parametrize("tables", [None, "passthrough"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_a_table_is_the_same_whatever_divides_its_columns(delimiter, tables):
    names = ("x", "n", "city", "label")
    expected = read_all(written(names, ROWS, ","), "a.csv", tables=tables)[1]
    for name in ("a.csv", *({"\t": ("a.tsv", "a.tab", "a.txt", "a")}.get(delimiter, ("a",)) if delimiter != "|" else ())):
        for given in ("auto", delimiter):
            if name == "a" and given == ";":
                continue  # (its format is not detected)
            stream, found = read_all(written(names, ROWS, delimiter), name, tables=tables, delimiter=given)
            assert stream.format == "csv"
            assert [(X, y.tolist()) for X, y in found] == [(X, y.tolist()) for X, y in expected], (name, given)


def test_headers_tell_tables_from_labels_with_texts():
    numbers = [row[:3] for row in ROWS]
    for names, rows, options in (
        (("x", "n", "city"), numbers, {"labels": None}), (("", "x", "city", "label"), ROWS, {}),
        (("x", "n", "city", "vendu"), ROWS, {"label": "vendu"}), (("city", "label"), [row[2:] for row in ROWS], {}),
        (("text", "label"), [row[2:] for row in ROWS], {}), (("label", "text"), [("a", "5"), ("b", "6")], {}),
        (("label", "text"), [], {}), (("a b", "label", "c"), numbers, {}),
        (("u", "v"), [("1", "2")], {"categories": ["u"], "label": "v"}),
        (("x", "n", "city", "label"), [*ROWS[:2], ("1", "2"), *ROWS], {"on_error": "skip"}),
    ):
        for name in ("a.tsv", "a"):
            assert read_all(written(names, rows), name, **options)[0].format == "csv", names
    number, text = ("u", "1", "v"), ("u", "v", "v")
    for rows in (
        TEXTS, [("label", "these as spam"), *TEXTS], [("label", "two words", "three"), *TEXTS],
        [("label", "text"), *TEXTS[:3], ("label", "again")], [("a", "b", "c"), ("d", "e", "5")], [("a", "b", "c"), *[text] * 9],
        [("a", "2", "c"), *[number] * 9], [("a", "b", "c"), *[number] * 9, text], [("a", "a", "c"), *[number] * 9],
        [("a", "b", "c"), *[number] * 9, ("a", "1")], [("a", "b"), *[("1", "2")] * 9],
    ):
        for name in ("a.tsv", "a"):
            assert read_all(written(rows[0], rows[1:]), name)[0].format == "tsv", rows[0]
    assert read_all(written(rows[0], rows[1:]), "a.tsv", delimiter="\t", header=False, label=1)[0].format == "csv"
    assert read_all(written(("label", "text"), TEXTS), "a.tsv", header=False, labels="str")[0].format == "tsv"


def test_what_divides_columns_is_that_of_the_header_and_most_lines():
    for lines, names in (
        ("a;b;label\n1,5;2,5;x\n", ["a", "b", "label"]), ("a,b,label\n1;2,5;6,7;x\n", ["a", "b", "label"]),
        ('"a, b";"c";label\n1,5;2;x\n', ["a, b", "c", "label"]), ("a|b|label\n1|2;2|x\n1\n1|2|y\n", ["a", "b", "label"]),
        ("a;b\tc\tlabel\n1\t2\tx\n", ["a;b", "c", "label"]), ("a;b;label\n1\n", ["a", "b", "label"]),
        ("a,b,label\n1\n2\n3\n", ["a", "b", "label"]), ("label;text\n", None), ("text\nb; c\n", None),
    ):
        options = {"labels": None} if "label" not in lines else {}
        stream, _ = read_all(lines.encode(), "a.csv", categories=names[:-1] if names else (), on_error="skip", **options)
        assert names is None or list(stream.features) == names[:-1], lines
    message = r"must be one of \['a;b;label'\], got 'label'. Give delimiter= ';' if that divides the columns"
    for options, said in (({"delimiter": ","}, message), ({"header": False, "label": 1}, r"one of \[0\], got 1\.")):
        with pytest.raises(ValueError, match=said):
            read_all(b"a;b;label\n1;2;x\n", "a.csv", **options)
    with pytest.raises(ValueError, match="'c29', and 71 more], got 'label'"):
        read_all(written([f"c{k}" for k in range(101)], [], ","), "a.csv")


def test_what_lacks_the_label_is_read_as_the_table_of_the_model():
    for names, rows, n in (
        (("x", "n", "label"), [row[:2] + row[3:] for row in ROWS], 2), (("text", "label"), [row[2:] for row in ROWS], 1),
    ):
        stream, expected = read_all(written(names, rows), "a.tsv")
        for name, delimiter in (("a.tsv", "\t"), ("a", "\t"), ("a.csv", ";")):
            data = written(names[:n], [row[:n] for row in rows], delimiter)
            found = read_all(data, name, labels=None, **options_of(stream.metadata))[1]
            assert [X for X, _ in found] == [X for X, _ in expected], (names, name)


@pytest.mark.parametrize("least", [0, 1 << 60])  # (blocks that pyarrow reads, and lines)
def test_quotes_below_a_header_of_tabs_stand_around_fields_or_mean_themselves(monkeypatch, least):
    monkeypatch.setattr("onlinecls.streams._csv.LEAST", least)
    plain, double = [("ham", f"lunch at {k}") for k in range(40)], [("spam", '"now"'), ("ham", '"a\tb"'), ("ham", '"say ""hi"""')]

    def texts_of(rows):
        kept = SimpleNamespace(texts=[])
        kept.transform = lambda texts: kept.texts.extend(texts) or np.zeros((len(texts), 1))
        with read(named(written(("label", "text"), rows), "a.tsv"), vectorizer=kept) as stream:
            assert sum(len(batch.y) for batch in stream) == len(kept.texts)
        return [text if isinstance(text, str) else text.decode() for text in kept.texts]

    for odd in ('"begins', 'ends"', 'in "the" middle', '"', '"one" and "two', '"one" and "two"'):
        rows = [*plain, ("spam", odd), *plain, ("spam", '"around"'), *plain]
        assert texts_of(rows) == [text for _, text in rows], odd
    assert texts_of([*plain, *double, *plain])[40:43] == ["now", "a\tb", 'say "hi"']
    assert texts_of([*plain, ("spam", '"two\nlines"'), *plain])[40] == "two\nlines"
    late = [("spam", '"begins'), *plain, ("ham", 'ends"')]  # (behind the first lines, which show no such quotes)
    with pytest.raises(MalformedLineError, match=r"a.tsv:40002: expected quotes around a field of the table, got .*'\"begins"):
        texts_of([*plain * 1000, *late])
