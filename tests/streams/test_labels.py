"""Labels of streams: exact or refused, and looked up in a time that no file can spoil."""

import io
import json
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from onlinecls import AROWClassifier, PassiveAggressiveClassifier
from onlinecls.streams import MalformedLineError, _lines, read

NONE = " (labels=None reads lines without)"
LONG = 2053013555631882655  # float64 has ...752


def labels_of(source, **options):
    with read(source, **options) as stream:
        return [label for batch in stream for label in batch.y.tolist()]


def arrow_file(labels):
    pa = pytest.importorskip("pyarrow")
    file = io.BytesIO()
    table = pa.table({"label": labels, "x": [1.0] * len(labels)})
    with pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)
    return io.BytesIO(file.getvalue())


def sources(*labels):
    """Yield the same labels in each format that has numbers for labels."""
    yield "svmlight", io.BytesIO("".join(f"{label} 1:1\n" for label in labels).encode())
    yield "vw", io.BytesIO("".join(f"{label} | a\n" for label in labels).encode())
    yield "jsonl", io.BytesIO("".join(json.dumps({"label": label, "text": "a"}) + "\n" for label in labels).encode())
    yield "arrow", arrow_file(list(labels))


def test_whole_numbers_that_float64_rounds_are_refused_as_labels():
    for label in (LONG, -LONG, 2**53 + 1):
        for format, source in sources(1, label):
            with pytest.raises(MalformedLineError, match=r"a whole number below 2\^53 .*labels='str'.* got") as refused:
                labels_of(source, format=format)
            assert (refused.value.line, refused.value.parameter) == (2, "label"), format
    for format, source in sources(2**53 - 1, -(2**53) + 1):
        assert labels_of(source, format=format) == [2**53 - 1, -(2**53) + 1], format
    assert labels_of(io.BytesIO(b"1e300 1:1\n-9007199254740993.0 1:1\n"), format="svmlight")[0] == 1e300  # no whole numbers


def test_long_numbers_are_exact_as_texts():
    for format, source in sources(LONG, LONG + 1):
        assert labels_of(source, format=format, labels="str") == [str(LONG), str(LONG + 1)], format
    for format, source in list(sources(LONG, LONG + 1))[:2]:
        assert labels_of(source, format=format) == [str(LONG), str(LONG + 1)], format


def test_true_one_and_the_text_1_are_not_one_label():
    wanted = r"expected a label that is (a number|a text|true or false), as the first one, got"
    for labels in ([True, 1], [1, True], [1, "1"], ["1", 1], ["True", True], [1.0, False]):
        lines = "".join(json.dumps({"label": label, "text": "a"}) + "\n" for label in labels)
        for source in (io.BytesIO(lines.encode()), [("a", label) for label in labels]):
            with pytest.raises(MalformedLineError, match=wanted):
                labels_of(source)
    assert labels_of(io.BytesIO(b'{"label": true, "text": "a"}\n{"label": false, "text": "a"}\n')) == [1.0, 0.0]
    mixed = b'{"label": 1, "text": "a"}\n{"label": "1", "text": "a"}\n'
    assert labels_of(io.BytesIO(mixed), labels="number") == [1.0, 1.0]  # asked for
    assert labels_of(io.BytesIO(mixed), labels="str") == ["1", "1"]


@pytest.mark.parametrize("nothing", [float("nan"), np.float32("nan"), float("inf"), None])
@pytest.mark.parametrize("labels", ["auto", "str", "number"])
def test_what_is_no_number_is_no_name_either(labels, nothing):
    """A frame's missing label is NaN, and json.dumps writes it so."""
    line = json.dumps({"label": None if nothing is None else float(nothing), "text": "b"})
    for source in (io.BytesIO(b'{"label": 1, "text": "a"}\n%b\n' % line.encode()), [("a", 1), ("b", nothing)]):
        with pytest.raises(MalformedLineError, match=r"expected a (label|finite number)") as refused:
            labels_of(source, labels=labels)
        assert refused.value.line == 2


def test_classes_of_foreign_byte_order_are_those_of_the_native_one():
    X = np.eye(2)
    texts = np.array(["\u0100", "\U00010000"])
    for native in (texts, np.array([1, 256]), np.array([1.0, 256.0])):
        foreign = native.astype(native.dtype.newbyteorder())
        for learner in (AROWClassifier(), PassiveAggressiveClassifier()):
            learner.partial_fit(X, foreign, classes=foreign)
            learner.partial_fit(X[1:], native[1:])
            learner.partial_fit(X[:1], foreign[:1])
            assert learner.classes_.tolist() == native.tolist() and learner.classes_.dtype.isnative
            assert learner._state.counts.tolist() == [2.0, 2.0]
    opened = AROWClassifier().partial_fit(X, texts.astype(texts.dtype.newbyteorder()))
    assert opened.partial_fit(X[1:], texts[1:])._state.counts.tolist() == [1.0, 2.0]


def test_the_hash_of_labels_is_siphash_with_a_key_of_the_process():
    key = int.from_bytes(bytes(range(8)), "little"), int.from_bytes(bytes(range(8, 16)), "little")
    assert _lines.hash_of(bytes(range(15)), key) == 0xA129CA6149BE45E5  # the paper's example
    assert _lines.hash_of(b"", key) == 0x726FDB47DD0E0E31
    program = "from onlinecls.streams import _lines; print(_lines.hash_of(b'a label'))"
    found = {subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout for _ in range(2)}
    assert len(found) == 2


class Name(str):
    """A name that counts how often it is compared."""

    comparisons = 0
    __hash__ = str.__hash__

    def __eq__(self, other):
        Name.comparisons += 1
        return str.__eq__(self, other)


def test_lines_of_fasttext_are_those_of_tsv(tmp_path):
    rows = [("spam", "a free prize"), ("ham", "lunch at noon"), ("später", "Grüße, bis dann"), ("ham", ""), ("ham", "a\tb  c")]
    lines = [f"__label__{label} {text}\n" for label, text in rows]
    paths = [tmp_path / name for name in ("a.txt", "a.tsv", "bare.txt")]
    for path, written in zip(paths, (lines, [f"{a}\t{b}\n" for a, b in rows], [f"{text}\n" for _, text in rows]), strict=True):
        path.write_text("".join(written), encoding="utf-8")
    for labels in ("auto", None):
        with read(paths[0], labels=labels) as found, read(paths[1], labels=labels) as expected:
            assert found.format == "fasttext"
            (X, y, _), (X2, y2, _) = next(found), next(expected)
        assert (X != X2).nnz == 0 and X.shape == X2.shape, labels
        assert y is None if labels is None else y.tolist() == y2.tolist() == [label for label, _ in rows], labels
    with read(paths[2], "fasttext", labels=None) as found:  # texts without labels, an empty one among them, which has no row
        assert (next(found).X != X2[[0, 1, 2, 4]]).nnz == 0 and found.gaps == (3,)
    for line in (b"__label__a one\n", b"  __label__a one\n"):
        with read(io.BytesIO(line), likely="tsv") as found:
            assert found.format == "fasttext" and next(found).y.tolist() == ["a"]


def test_a_row_of_fasttext_has_one_label(tmp_path):
    start = b"__label__a one\n"
    for line, said in (
        (b"__label__a __label__b two", "expected one label a row, got '__label__a' and '__label__b'"),
        (b"__label__a two __label__b", "expected one label a row, got '__label__a' and '__label__b'"),
        (b"__label__a,__label__b two", "expected one label a row, got '__label__a,__label__b'"),
        (b"__label__a__label__b two", "expected one label a row, got '__label__a__label__b'"),
        (b"two words", f"expected '__label__' and a label at the beginning{NONE}, got b'two words'"),
        (b"two __label__a", "expected '__label__' and a label at the beginning"),
        (b"__label__ two", f"expected a label{NONE}, got none"),
    ):
        with pytest.raises(MalformedLineError) as error:
            list(read(io.BytesIO(start + line + b"\n"), "fasttext"))
        assert said in str(error.value) and error.value.line == 2, line
        stream = read(io.BytesIO(start + line + b"\n" + start), on_error="skip")
        assert sum(len(batch.y) for batch in stream) == 2 and stream.n_skipped == 1, line
        X = next(read(io.BytesIO(start + line + b"\n"), labels=None)).X
        assert X.shape[0] == 2, line
    X = next(read(io.BytesIO(b"__label__a two __label__b words\n__label__c two words\n"), labels=None)).X
    assert (X[0] != X[1]).nnz == 0  # labels are no words


ODD = [  # labels of other tasks and formats, and texts that may be meant as a number
    "1:0:0.5", "2:-1:0.25 3:1:0.5", "1:1.0 2:0.0", "0:1", "a:1", "1,2", "0,1,5", "43,1", "1,5", "-1,5", "a,b", "1;2", "a;b",
    "1,0.5,0.3",
    "shared", "ccb shared", "ccb slot 0:0.8:1.0", "slates action 0", "nan", "NaN", "NA", "n/a", "?", "None", "null", "inf",
    "-inf", "Infinity", "true", "False", "0x10", "1_0", "50%", "$5", "label", "Labels", '"spam"', "1st", "1e5x", "\u0661", "_",
    "-", ".", "+", "__label__a", '{"a":', "1.2.3", "1/2", "@a",
]
NAMES = [
    "ham", "spam", "sp\u00e4ter", "\u732b", "New_York", "a1", "e5", "C++", "O'Brien", "yes", "no", "x=1", "class", "nano",
    "infra", "t.v.", "CA",
]


def lines_of(format, labels):
    behind = {"svmlight": " 1:1", "vw": " | a", "tsv": "\ttext of it"}[format]
    return "".join(f"{label}{behind}\n" for label in labels).encode()


@pytest.mark.parametrize(
    ("format", "odd"), [(f, odd) for f in ("svmlight", "vw") for odd in ODD if f == "vw" or not {":", " "} & {*odd}])
def test_what_is_no_number_and_no_name_is_no_label(format, odd):
    """Wherever it stands in the stream, and not as a class of its own: the message says what reads it as words."""
    for before in ([], ["1", "-2.5"], ["ham", "spam"]):
        with pytest.raises(MalformedLineError, match=r"expected .* got .*labels='str' takes any text") as refused:
            labels_of(io.BytesIO(lines_of(format, [*before, odd, "1", "ham"])), format=format)
        assert (refused.value.line, refused.value.column, refused.value.parameter) == (len(before) + 1, 1, "label")
        stream = read(io.BytesIO(lines_of(format, [*before, odd, *(before[:1] or ["7"])])), format, on_error="skip")
        assert sum(len(batch.y) for batch in stream) == len(before) + 1 and stream.n_skipped == 1
    word = odd.split()[0]
    assert labels_of(io.BytesIO(lines_of(format, [word, "1", "+1"])), format=format, labels="str") == [word, "1", "+1"]


@pytest.mark.parametrize("format", ["svmlight", "vw"])
def test_the_first_line_does_not_decide_the_type_in_silence(format):
    for labels in (NAMES, [name.upper() for name in NAMES]):
        assert labels_of(io.BytesIO(lines_of(format, labels)), format=format) == labels
    assert labels_of(io.BytesIO(lines_of(format, ["1", "+1", "1.0", "-1e0"])), format=format) == [1, 1, 1, -1]
    for labels, line in (
        (["a", "1", "b"], 2), (["a", "b", "+1"], 3), (["a", "b", "1.0"], 3), (["1", "a"], 2), (["a", "1", "2"], 1),
    ):
        with pytest.raises(MalformedLineError, match=r"expected a (finite number|name) for a label") as refused:
            labels_of(io.BytesIO(lines_of(format, labels)), format=format)
        assert refused.value.line == line, labels
    with pytest.raises(MalformedLineError, match="expected a whole number for a label, as the first one, got 'ham"):
        labels_of(io.BytesIO(lines_of(format, [LONG, 5, "ham"])), format=format)


HEADERS = [
    "label\ttext", "Label\tText", "text\tlabel", "id\tlabel\ttext", "class\tbody", "y\tx", "target\tmessage", "category\tfoo",
]


@pytest.mark.parametrize("own", [False, True])
def test_a_header_of_tsv_is_malformed(own):
    options = {"vectorizer": SimpleNamespace(transform=lambda texts: np.zeros((len(texts), 1)))} if own else {}
    rows = b"ham\tlunch at noon\nspam\ta free prize\n"
    for header in HEADERS:
        for text in (f"{header}\n".encode() + rows, f"\r\n{header}\r\n".encode() + rows + f"{header}\n".encode()):
            with pytest.raises(MalformedLineError, match="expected a label, as there is no header; labels='str' takes any"):
                labels_of(io.BytesIO(text), format="tsv", **options)
            assert labels_of(io.BytesIO(text), format="tsv", on_error="skip", **options) == ["ham", "spam"]
        assert labels_of(io.BytesIO(text), format="tsv", labels="str", **options)[0] == header.split("\t")[0]
    for first in ("y\tyes", "class\tstruggle", "label\tthis as spam", "text\tme", "ham\tlunch"):
        again = f"{first}\nn\tno\n{first.partition(chr(9))[0]}\tagain\n".encode()
        assert len(labels_of(io.BytesIO(again), format="tsv", **options)) == 3, first


def test_a_list_is_no_label():
    for label, kind in (["x", "y"], "a list"), ({"x": 1}, "an object"):
        for labels in ("auto", "str", "number"):
            line = json.dumps({"label": label, "text": "a"}).encode()
            with pytest.raises(MalformedLineError, match=f"expected one label a row, a text or a number, got {kind}, "):
                labels_of(io.BytesIO(line + b"\n"), format="jsonl", labels=labels)


def test_a_line_of_blanks_is_empty_in_all_formats():
    for format, line in (
        ("svmlight", "1 1:1"), ("vw", "1 | a"), ("tsv", "x\ta b"), ("own tsv", "x\ta b"), ("fasttext", "__label__x a b"),
        ("jsonl", '{"label": "x", "text": "a"}'), ("csv", "x,a b"),
    ):
        own = SimpleNamespace(transform=lambda texts: np.zeros((len(texts), 1)))
        options = {"vectorizer": own} if format == "own tsv" else {}
        text = "label,text\n" * (format == "csv") + "".join(f"{blank}\n{line}\n" for blank in ("", " ", "\t", " \t \r", "\r"))
        format = format.removeprefix("own ")
        for labels in ("auto", None):
            with read(io.BytesIO(text.encode()), format, labels=labels, **options) as stream:
                gaps = [gap for _ in stream for gap in stream.gaps]
            assert stream.n_rows == 5, format
            assert gaps == ([0, 1, 2, 3, 4] if labels is None and format != "csv" else []), format
