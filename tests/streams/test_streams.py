"""onlinecls.streams: against scikit-learn's loader and the real VW; every block boundary; damaged files."""

import bz2
import contextlib
import gc
import gzip
import io
import lzma
import os
import random
import re
import struct
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from contracts import memory_of
from hypothesis import example, given, settings
from hypothesis import strategies as st

from onlinecls.streams import Batch, MalformedLineError, Stream, read
from onlinecls.text import FeatureNames, HashingVectorizer

SVMLIGHT = b"""\
# a comment, then an empty line

+1 qid:3 0:1.5 3:-2e-3 7:4 # note
-1 2:0.1
0.5\t1:1  5:2.50 \r
-1
3 7:1 2:1 7:0.5 5:1#unsorted, one twice
+1 0:0
-2 4:1"""

VW = b"""\
1 2.5 'tag|ns:2 a:1.5 12 b |x a:3 -5 007 4294967297 :7 :8
-1 |ns a b

-1.5 0 tag|| c:-1e-2\td:.5 a:red|c x:3 a\r
1 | a b a a:0"""

TSV = "ham\tHello, hello world\nspam\tWIN\ta prize \r\n\nham\t\nspâm\tnaïve 東京 café".encode()
TEXTS = {"svmlight": SVMLIGHT, "vw": VW, "tsv": TSV}
FORMATS = pytest.mark.parametrize(("format", "text"), TEXTS.items(), ids=TEXTS)


def batches(data, format="auto", **options):
    if format in ("svmlight", "vw"):
        options = {"labels": "number", **options}
    if isinstance(data, Stream):
        return list(data)
    return list(read(io.BytesIO(data) if isinstance(data, bytes) else data, format, **options))


def whole(data, format="auto", **options):
    """The stream as one X, y, weight."""
    parts = batches(data, format, **options)
    X, y, weight = (list(column) for column in zip(*parts, strict=True)) if parts else ([], [], [])
    assert all(isinstance(part, Batch) for part in parts)
    return (
        sp.vstack(X, format="csr") if X else None,
        np.concatenate(y) if y and y[0] is not None else None,
        np.concatenate(weight) if weight and weight[0] is not None else None)


def same(a, b):
    """Two wholes are equal to the last bit."""
    (X, y, w), (X2, y2, w2) = a, b
    assert X.shape == X2.shape and X.dtype == X2.dtype
    for one, other in ((X.data, X2.data), (X.indices, X2.indices), (X.indptr, X2.indptr), (y, y2), (w, w2)):
        np.testing.assert_array_equal(one, other)


def error_of(data, format, **options):
    with pytest.raises(ValueError) as caught:
        whole(data, format, **options)
    return str(caught.value)


def no_thread():
    return not [thread for thread in threading.enumerate() if thread.name.startswith("onlinecls.streams")]


@pytest.fixture(autouse=True)
def threads_end():
    yield
    if not no_thread():
        gc.collect()  # of a stream in a traceback
    assert no_thread()


# --- numbers -------------------------------------------------------------------------------------------------------------------


def agree_with_float(*texts):
    """In double, where infinity is malformed."""
    data = "".join(f"0 0:{text}\n" for text in texts).encode()
    with read(io.BytesIO(data), "svmlight", dtype="float64", on_error="skip", prefetch=False) as stream:
        found = [value for batch in stream for value in batch.X.data.tolist()]
    expected = [float(text) for text in texts if abs(float(text)) < np.inf]
    assert struct.pack(f"{len(found)}d", *found) == struct.pack(f"{len(expected)}d", *expected), texts


@given(st.floats(allow_nan=False, allow_infinity=False),
       st.from_regex(r"[+-]?([0-9]{1,25}\.?[0-9]{0,25}|\.[0-9]{1,25})([eE][+-]?[0-9]{1,3})?", fullmatch=True))
@example(2.4703282292062327e-324, "9007199254740993")
@example(2.2250738585072011e-308, "1.7976931348623159e308")
@example(-0.0, "0" * 400 + "." + "0" * 400 + "1e400")
def test_any_spelling_of_a_decimal_is_read_as_by_float(value, text):
    agree_with_float(text, repr(value), f"{value:.17g}", f"{value:.25e}", f"{value:.7e}", f"{value:.3f}")


def test_decimals_half_way_between_two_doubles_are_rounded_to_even():
    rng = random.Random(0)
    for _ in range(3000):
        odd = (rng.getrandbits(52) | 1 << 52) * 2 + 1
        power = rng.randrange(1, 20)
        agree_with_float(str(odd << power), *(f"{odd * 5**power + off}e-{power}" for off in (-1, 0, 1)))


def test_a_number_ends_where_its_grammar_ends():
    for text in (
        "", "+", ".", "e5", "-.e1", "nan", "inf", "x", "--1", "+-1", "1e", "1e+", "0x1f", "1_0", "1..2", "1,5", "5.e",
    ):
        assert ":1:5: expected a finite number after ':', then a blank" in error_of(f"0 0:{text}\n".encode(), "svmlight"), text


# --- lines ---------------------------------------------------------------------------------------------------------------------

#: What is wrong with a line: the column, and what was expected there.
MALFORMED = {
    "svmlight": [
        ("x 1:1", 1, "a finite number for a label, got 'x 1:1'"), ("1e999 1:1", 1, "a finite number for a label"),
        ("1:1 2:1", 1, "a label before the first index"), ("1,2 1:1", 1, "a finite number for a label"),
        ("1 2", 4, "':' after an index, got the end of the line"), ("1 2x3:4 5:6", 4, "':' after an index"),
        ("1 -2:4", 3, "an index, a whole number >= 0"),
        ("1 2:", 5, "a finite number after ':'"), ("1 2:nan", 5, "a finite number after ':'"),
        ("1 2:1e39", 5, "a finite number after ':'"), ("1 2:1:3", 5, "a finite number after ':'"),
        ("1 2:3.4028235677973366e38", 5, "a finite number after ':'"),
        ("1 2:3\r4:5", 5, r"a finite number after ':', then a blank, got '3\r4:5'"),
        ("\x00", 1, r"a finite number for a label, got '\x00'"), ("1 100:1", 3, "an index < n_features"),
        ("1 0000000000000000001:1", 3, "an index < n_features"), ("1 " + "9" * 18 + ":1", 3, "an index < n_features"),
        ("1 " + "9" * 400 + ":1", 3, "an index < n_features"),
        ("1 2:3e38 2:3e38", 1, "values of equal columns with a finite sum"),
        ("1 2:3 4:" + "5" * 30 + "x", 9, "a finite number after ':', then a blank, got '555555555555555555555555'..."),
    ],
    "vw": [
        ("1 a b", 6, "'|' before the features, got the end of the line"), ("| a", 1, "a label and a blank before '|'"),
        ("1|f a", 2, "a label and a blank before '|'"), ("spam | a", 1, "a finite number for a label"),
        ("1 -1 | a", 3, "a finite number >= 0 for the importance"), ("1 nan | a", 3, "a finite number >= 0 for the importance"),
        ("1 2.5 0.5 'tag| a", 7, "'|' behind label and importance (a third number, the base, is of another task)"),
        ("1 'tag 1 | a", 8, "'|' behind the tag"), ("1 |n:x a", 6, "a finite number for the weight of a namespace"),
        ("1 |n:1e39 a", 6, "a finite number for the weight of a"), ("1 |:2 a", 5, "a finite number for the weight of a"),
        ("1 |n a: b", 8, "a finite number after ':', then a blank, got ' b'"), ("1 |n a:nan", 8, "a finite number after ':'"),
        ("1 |n a:infinity", 8, "a finite number after ':'"), ("1 |n a:1e39", 8, "a finite number after ':'"),
        ("1 |n a:1:2", 8, "a finite number after ':'"), ("1 |n a\rb", 7, r"a blank behind a feature, got '\rb'"),
    ],
    "tsv": [
        ("no tab", 7, "a tab between label and text (labels=None reads lines without), got the end of the line"),
        ("\tno label", 1, "a label of 1 to 4096 characters"), ("ham\tb\xffd", 6, r"text in UTF-8, got '\xffd'"),
        ("h\xffm\tone", 2, r"text in UTF-8, got '\xffm"),
        *((f"{label}\tone", 1, "text in UTF-8, got '") for label in (
            "\x80a", "\xc1\x81", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80", "\xf4\x90\x80\x80")),
    ],
}
GOOD = {"svmlight": b"1 1:1\n", "vw": b"1 | a\n", "tsv": b"1\tab\n"}


@pytest.mark.parametrize(("format", "line", "column", "problem"), [(name, *one) for name in MALFORMED for one in MALFORMED[name]])
def test_malformed_lines_are_refused_with_their_place(format, line, column, problem):
    text = GOOD[format] + b"\n" + line.encode("latin-1") + b"\n" + GOOD[format]
    options = {} if format == "tsv" else {"labels": "number"}
    if format == "svmlight":
        options |= {"n_features": 100}
    with pytest.raises(MalformedLineError) as caught:
        whole(text, format, **options)
    assert str(caught.value).startswith(f"<stream>:3:{column}: expected {problem}") and ", got " in str(caught.value)
    assert (caught.value.file, caught.value.line, caught.value.column) == ("<stream>", 3, column)
    with read(io.BytesIO(text), format, on_error="skip", **options) as stream:
        assert np.concatenate([batch.y for batch in stream]).astype(float).tolist() == [1, 1]
    assert stream.n_skipped == 1 and stream.skipped == (str(caught.value),)


def test_labels_are_texts_or_numbers_or_absent():
    for format, text in GOOD.items():
        assert whole(text.replace(b"1", b"-2.5", 1), format, labels="number")[1].tolist() == [-2.5]
        assert whole(text.replace(b"1", b"one", 1), format, labels="auto")[1].tolist() == ["one"]
    assert "expected a finite number for a label, got 'x" in error_of(b"x\ta\n", "tsv", labels="number")
    assert "expected one label (several, with commas" in error_of(b"1,2 1:1\n", "svmlight", labels="auto")
    X, y, _ = whole(b"1:1 2:1\n5 2:3\nanything 3:1", "svmlight", labels=None, n_features=4)
    assert y is None and X.toarray().tolist() == [[0, 1, 1, 0], [0, 0, 3, 0], [0, 0, 0, 1]]
    for format, text in (("vw", b"| a b\n'tag| b\n1 | c\n"), ("tsv", b"one two\none\nham\n")):
        X, y, _ = whole(text, format, labels=None)
        assert y is None and np.diff(X.indptr).tolist() == [2, 1, 1]


# --- svmlight ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("first", [0, 1])
def test_svmlight_rows_are_those_of_scikit_learn(dtype, first):
    datasets, file = pytest.importorskip("sklearn.datasets"), io.BytesIO()
    X, y = sp.random(200, 50, 0.1, format="csr", random_state=0), np.random.default_rng(0).normal(size=200)
    datasets.dump_svmlight_file(X, y, file, zero_based=first == 0)
    expected, labels = datasets.load_svmlight_file(io.BytesIO(file.getvalue()), n_features=60, dtype=dtype, zero_based=True)
    got, y, weight = whole(file.getvalue(), "svmlight", n_features=60, dtype=dtype)
    same((got, y.astype(dtype), weight), (expected, labels.astype(dtype), None))
    assert got.dtype == dtype and got.indices.dtype == got.indptr.dtype == np.int32


def test_every_kind_of_svmlight_line_is_read():
    X, y, weight = whole(SVMLIGHT, n_features=8, labels="number")
    assert y.tolist() == [1, -1, 0.5, -1, 3, 1, -2] and y.dtype == np.float64 and weight is None
    expected = np.zeros((7, 8))
    expected[0, [0, 3, 7]] = 1.5, -2e-3, 4
    expected[1, 2] = 0.1
    expected[2, [1, 5]] = 1, 2.5
    expected[4, [7, 2, 5]] = 1.5, 1, 1
    expected[6, 4] = 1
    np.testing.assert_array_equal(X.toarray(), expected.astype(np.float32))
    assert X.indices.tolist() == [0, 3, 7, 2, 1, 5, 2, 5, 7, 0, 4]  # sorted; a written zero is kept, as in scikit-learn
    top = float(np.finfo(np.float32).max)
    assert whole(b"1 0:3.4028235e38 1:-3.402823567797336e38", "svmlight")[0].data.tolist() == [top, -top]
    assert whole(b"1 0:1e300", "svmlight", dtype="float64")[0].data.tolist() == [1e300]
    line = b"1 " + b" ".join(b"%d:1" % (7 * i % 101) for i in range(101))
    assert batches(line, "svmlight", n_features=2**31)[0].X.indices.tolist() == list(range(101))


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_svmlight_columns_are_sorted_and_repeated_ones_added_up(data):
    """Sorted and summed in the order of the line, in double: however the row was sorted (three ways, by length and spread)."""
    width = data.draw(st.sampled_from([10, 300, 2**20, 2**31 - 1]))
    n = data.draw(st.sampled_from([3, 24, 25, 200, 1000]))
    rng = random.Random(data.draw(st.integers(0, 2**32)))
    low = data.draw(st.booleans())
    columns = [min(width - 1, int(rng.paretovariate(0.3))) if low else rng.randrange(width) for _ in range(n)]
    values = [rng.uniform(-1, 1) * 10 ** rng.randrange(-9, 9) for _ in range(n)]
    line = "1 " + " ".join(f"{k}:{v!r}" for k, v in zip(columns, values, strict=True))
    X, _, _ = whole(line.encode(), "svmlight", n_features=width, dtype="float64")
    expected = {}
    for k, v in zip(columns, values, strict=True):
        expected[k] = expected[k] + v if k in expected else v
    assert X.indices.tolist() == sorted(expected) and X.data.tolist() == [expected[k] for k in sorted(expected)]
    assert X.indices.dtype == np.int32


# --- VW ------------------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def vw():
    vowpalwabbit = pytest.importorskip("vowpalwabbit", reason="the real VW is not installed")
    import pylibvw

    workspace = vowpalwabbit.Workspace("-b 18 --quiet")
    parts = pylibvw.example

    def features(line):
        """{column: sum of the values} by VW itself. Its indices are four times the column."""
        made, found = workspace.example(line), {}
        for i in range(parts.num_namespaces(made)):
            namespace = parts.namespace(made, i)
            if namespace != 128:  # the constant
                for j in range(parts.num_features_in(made, namespace)):
                    column = (parts.feature(made, namespace, j) >> 2) & (2**18 - 1)
                    found[column] = found.get(column, 0.0) + parts.feature_weight(made, namespace, j)
        label, weight = made.get_simplelabel_label(), made.get_simplelabel_weight()
        workspace.finish_example(made)
        return found, label, weight

    yield features
    workspace.finish()


def equals_vw(line, vw):
    X, y, weight = whole(line.encode(), "vw", n_features=2**18, dtype="float64")
    found, label, importance = vw(line)
    assert X.indices.tolist() == sorted(found)
    np.testing.assert_allclose(X.data, [found[k] for k in sorted(found)], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose([y[0], weight[0]], [label, importance], rtol=1e-6)


@pytest.mark.parametrize("line", [
    *(line for line in VW.decode().replace("\r", "").split("\n") if line),
    "1 | hello 12:0.5 hello 12 0 00", "1 |12 3 a |a:0.5 b:red:x c:green a|b c", "1 |é naïve 東京:2 \x01a\x02 :3 0:0 b:0 \x01",
    "1 |a x:1e-2 y:-.5 z:+3. |a x :2 |b :2", "1 'tag |f a:b", "1 2 tag|f a:b", "1 ||a b",
    "1 | 4294967296 18446744073709551616 99999999999999999999999 -1 1.5 1e3",
    "1 |a abc abcd abcde abcdef abcdefg abcdefgh a", "1 |a", "1 |",
])
def test_columns_of_vw_files_are_those_of_vw(line, vw):
    equals_vw(line, vw)


NAMES = st.text(
    st.characters(exclude_characters=" \t\r\n|:\0", exclude_categories=["Cs"]), min_size=1, max_size=25
) | st.integers(0, 10**12).map(str)


@given(st.lists(st.tuples(st.none() | NAMES, st.lists(st.tuples(NAMES, st.none() | st.integers(-5, 5)), max_size=5)), max_size=3))
@settings(max_examples=80, deadline=None)
def test_any_name_is_hashed_as_by_vw(vw, namespaces):
    parts = [
        "|" + (name or "") + "".join(f" {feature}" if value is None else f" {feature}:{value}" for feature, value in features)
        for name, features in namespaces
    ]
    equals_vw("1 " + "".join(part + " " for part in parts or ["|"]), vw)


# --- label<TAB>text ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [None, {"ngram_range": (1, 2), "norm": None}])
def test_tsv_rows_are_those_of_a_given_vectorizer_or_of_a_plain_one(options):
    own = {"n_features": 2**20, "dtype": np.float32} if options is None else {"n_features": 1000, **options}
    labels, texts = zip(*(line.split("\t", 1) for line in re.split("\r?\n", TSV.decode()) if line), strict=True)
    X, y, weight = whole(TSV, **({} if options is None else {"vectorizer": HashingVectorizer(**own)}))
    same((X, None, None), (sp.csr_matrix(HashingVectorizer(**own).transform(texts)), None, None))
    assert y.tolist() == list(labels) == ["ham", "spam", "ham", "spâm"] and weight is None
    names, other = FeatureNames(HashingVectorizer(**own)), FeatureNames(HashingVectorizer(**own))
    whole(TSV, vectorizer=names), other.transform(texts)
    assert [names[k] for k in X.indices] == [other[k] for k in X.indices]


# --- blocks and batches --------------------------------------------------------------------------------------------------------


class Dripping(io.RawIOBase):
    """Gives at most n bytes at a time."""

    def __init__(self, data, n):
        self.data, self.n = io.BytesIO(data), n

    def readable(self):
        return True

    def read(self, size=-1):
        return self.data.read(self.n if size < 0 else min(size, self.n))


@FORMATS
def test_batches_do_not_depend_on_where_blocks_end(format, text):
    expected = whole(text, format)
    for n in range(1, len(text) + 2):
        same(whole(text, format, block_bytes=n, batch_rows=1 + n % 5, prefetch=False), expected)
        same(whole(Dripping(text, n), format, prefetch=False), expected)
    text = b"\n".join([text] * 50)
    expected = batches(text, format, batch_rows=7)
    assert {len(batch.y) for batch in expected[:-1]} == {7}
    for options in ({"prefetch": False}, {"block_bytes": 50}, {"block_bytes": 333}):
        for one, other in zip(batches(text, format, batch_rows=7, **options), expected, strict=True):
            same(one, other)


def outcome_of(path, format, **options):
    """All rows that are given out, as bytes; what was skipped, and where; the error."""
    found, gaps, error = [], [], None
    with read(path, format, **options) as stream:
        try:
            for batch in stream:
                found.append(batch)
                gaps += stream.gaps
        except ValueError as refused:
            error = str(refused)
    rows = sp.vstack([sp.csr_matrix((0, 2**20)), *(batch.X for batch in found)]).tocsr()
    rest = [value for at in (1, 2) for batch in found if batch[at] is not None for value in batch[at].tolist()]
    return rows.data.tobytes(), rows.indices.tolist(), rows.indptr.tolist(), rest, gaps, stream.n_skipped, stream.skipped, error


@FORMATS
def test_rows_and_errors_of_several_files_do_not_depend_on_blocks(tmp_path, format, text):
    paths, end = [tmp_path / "a.gz", tmp_path / "b"], b"\n\xff" + b"x" * 200 + b"\n1 | a\n1\ta 1:1\n" * 9
    paths[0].write_bytes(gzip.compress(text))
    paths[1].write_bytes((text + b"\n") * 5 + end + (text + b"\n") * 20)
    for on_error in ("raise", "skip"):
        for labels in ("auto", None):
            options = {"on_error": on_error, "labels": labels, "max_line_bytes": 190}
            expected = outcome_of(paths, format, **options)
            for block_bytes in (1, 60, 400):
                assert outcome_of(paths, format, block_bytes=block_bytes, **options) == expected


@pytest.mark.parametrize("format", GOOD)
def test_empty_files_line_ends_and_byte_order_marks_are_read(format):
    text = GOOD[format]
    assert whole(text, format)[0].shape == (1, 2**20)
    for data in (b"", b"\n", b"\r\n\n", b"\xef\xbb\xbf"):
        assert batches(data, format) == []
    for data in (
        text.rstrip(), text.replace(b"\n", b"\r\n"), b"\xef\xbb\xbf" + text, b"\n\n" + text + b"\n", text.rstrip() + b"\r",
    ):
        same(whole(data, format), whole(text, format))


@pytest.mark.parametrize("format", [*GOOD, "fasttext"])
def test_a_large_block_is_parsed_by_two_threads_as_by_one(format, tmp_path):
    """With malformed and empty lines in both halves."""
    line = {"svmlight": "{} {}:1", "vw": "{} | w{}", "tsv": "{}\tw{} and more", "fasttext": "__label__{} w{}"}[format]
    lines = [line.format(k % 7, k) if k % 9973 else ("bad:" if k % 3 else "") for k in range(100_000)]
    path = tmp_path / "a"
    path.write_text("\n".join(lines), newline="\n")
    for on_error in ("skip", "raise"):
        for labels in ("auto", None):
            found = [outcome_of(path, format, on_error=on_error, labels=labels, prefetch=prefetch) for prefetch in (True, False)]
            assert found[0] == found[1]
            assert (found[0][-1] is None) == (on_error == "skip" or (labels is None and format in ("tsv", "fasttext")))


def test_a_batch_of_long_rows_ends_early():
    line = b"1 " + b" ".join(b"%d:1" % k for k in range(1 << 17)) + b"\n"
    assert [batch.X.nnz for batch in batches(line * 5, "svmlight")] == [1 << 18, 1 << 18, 1 << 17]


def test_lines_longer_than_max_line_bytes_are_malformed():
    text = b"1 1:1\n" + b"1 " + b"1:1 " * 100 + b"\n-1 1:1\n" + b"2 1:1" * 99
    assert error_of(text, "svmlight", max_line_bytes=100, block_bytes=10) == (
        "<stream>:2:101: expected a line of at most 100 bytes (max_line_bytes), got a longer one")
    for block in (1, 7, 64, 1 << 20):
        how = {"max_line_bytes": 100, "block_bytes": block, "on_error": "skip", "labels": "number"}
        with read(io.BytesIO(text), "svmlight", **how) as stream:
            assert np.concatenate([batch.y for batch in stream]).tolist() == [1, -1]
        assert stream.n_skipped == 2 and stream.skipped[-1].startswith("<stream>:4:101: expected a line of at most 100")
    assert whole(text, "svmlight", max_line_bytes=500, block_bytes=1, on_error="skip")[1].tolist() == [1, 1, -1, 2]


def test_lines_without_a_row_are_told_by_the_rows_of_the_stream_before_them():
    with read(io.BytesIO(b"1:1\n1:2\n\n1:3\n1:4\n1:5\n\n"), "svmlight", labels=None, batch_rows=2) as stream:
        gaps = [gap for _ in stream for gap in stream.gaps]
        assert [*gaps, *stream.gaps] == [2, 5]


@pytest.mark.parametrize("batch_rows", [1, 3, 4096])
@pytest.mark.parametrize("prefetch", [True, False])
def test_rows_before_a_malformed_line_are_yielded_first(batch_rows, prefetch):
    for data, format, n in [
        (b"0 1:1\n1 1:1\n2 1:1\n3 1:1\n4 1:1\nx\n9 1:1", "svmlight", 5),
        (b'{"label": 0, "text": "a"}\n{"label": 1, "text": "a"}\nx\n', "jsonl", 2),
        (b"label,text\n0,a\n1,b\n2,c\n3\n4,d\n", "csv", 3),
    ]:
        labels, labelled = [], {"labels": "number"} if format == "svmlight" else {}
        with pytest.raises(MalformedLineError):
            for batch in read(io.BytesIO(data), format, batch_rows=batch_rows, prefetch=prefetch, **labelled):
                labels += batch.y.astype(float).tolist()
        assert labels == list(range(n)) and no_thread()


# --- the reading thread --------------------------------------------------------------------------------------------------------


def test_a_closed_stream_leaves_no_thread_and_no_file(tmp_path):
    path, file = tmp_path / "a.svm", io.BytesIO(SVMLIGHT)
    path.write_bytes(b"1 1:1\n" * 50000 + b"x\n")
    with read(path, batch_rows=10) as stream:
        next(stream)
    assert no_thread() and list(stream) == []
    stream = read(path, batch_rows=10)
    next(stream)
    assert not no_thread()
    del stream
    gc.collect()
    assert no_thread()
    whole_blocks = tmp_path / "b.svm"
    whole_blocks.write_bytes(b"1 1:1\n" * 500_000)
    with read(whole_blocks, batch_rows=2**20) as stream:
        next(stream), next(stream)
        time.sleep(0.3)  # (the thread parses both halves of the second block)
    assert no_thread()
    stream, n = read(path, batch_rows=10, labels="number"), 0
    with pytest.raises(MalformedLineError, match=r"a\.svm:50001:1: expected a finite number for a label, got 'x'"):
        for batch in stream:
            n += len(batch.y)
    assert n == 50000 and no_thread() and list(stream) == []
    open_files = Path("/proc/self/fd")
    if open_files.exists():
        assert not [link for link in open_files.iterdir() if link.is_symlink() and os.path.realpath(link) == str(path)]
    whole(file)
    assert not file.closed  # (it is the caller's)


def test_closing_a_stream_stops_a_thread_that_waits_for_a_silent_pipe():
    read_end, write_end = os.pipe()

    def write():
        with contextlib.suppress(BrokenPipeError):
            os.write(write_end, b"1 1:1\n" * 20000)  # more than a pipe holds

    writer = threading.Thread(target=write)
    writer.start()
    pipe = open(read_end, "rb", buffering=0)
    stream = read(pipe, "svmlight", batch_rows=100)
    next(stream)
    before = time.monotonic()
    stream.close()
    assert time.monotonic() - before < 1.9 and no_thread()
    pipe.close()
    writer.join()
    os.close(write_end)


@pytest.mark.parametrize("begins", [True, False])
def test_ctrl_c_while_the_reading_thread_starts(begins, monkeypatch):
    """It comes just before or just after the system has begun the thread."""
    hidden, original = [], threading.Thread.start

    def start(thread):
        if begins:
            original(thread)
        raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "start", start)
    monkeypatch.setattr(sys, "unraisablehook", hidden.append)
    monkeypatch.setattr(sys, "excepthook", lambda *error: hidden.append(error))
    for _ in range(20):
        with pytest.raises(KeyboardInterrupt):
            read(io.BytesIO(b"1 1:1\n"), "svmlight")
    gc.collect()
    assert not hidden


# --- files ---------------------------------------------------------------------------------------------------------------------


def zstd_compress(data):
    try:
        from compression import zstd
    except ImportError:
        zstd = pytest.importorskip("backports.zstd", reason="neither Python 3.14 nor backports.zstd is here")
    return zstd.compress(data)


COMPRESSORS = {"gz": gzip.compress, "bz2": lambda data: bz2.compress(data, 1), "xz": lzma.compress, "zst": zstd_compress}


@pytest.mark.parametrize("kind", COMPRESSORS)
@pytest.mark.parametrize("named", [True, False])
def test_compressed_files_are_decompressed(tmp_path, kind, named):
    packed = COMPRESSORS[kind](SVMLIGHT)
    path = tmp_path / (f"a.svm.{kind}" if named else "a")
    path.write_bytes(packed)
    with read(path) as stream:
        same(whole(stream), whole(SVMLIGHT))
    assert stream.bytes_read == len(packed)
    path.write_bytes(packed + packed)  # two members
    assert whole(path, "svmlight")[0].shape[0] == 14
    if kind == "zst":
        path.write_bytes(b"\x5e\x2a\x4d\x18\x04\0\0\0skip" + packed)  # a frame to skip, as pzstd writes it
        with read(path, "svmlight") as stream:
            same(whole(stream), whole(SVMLIGHT))


CUT_OFF = {  # line 0, 1, 2 ...
    "svmlight": lambda i: b"%d 7:%d\n" % (i, i + 1), "vw": lambda i: b"%d | word%d\n" % (i, i),
    "tsv": lambda i: b"%d\tword%d and others\n" % (i, i), "jsonl": lambda i: b'{"label": %d, "text": "word%d"}\n' % (i, i),
}


@pytest.mark.parametrize("kind", COMPRESSORS)
@pytest.mark.parametrize("what", CUT_OFF)
def test_a_short_truncated_compressed_file_is_refused_after_its_whole_lines(tmp_path, what, kind):
    """The cut is in the first 64 KB, which are read before the first row: first come the whole lines, then the error."""
    pack, lines = COMPRESSORS[kind], [CUT_OFF[what](i) for i in range(900)]
    # two members, the second of them cut: all that is sure to be unpacked, whatever the compressor, is the first
    first, second = pack(b"".join(lines[:600]) + lines[600][:3]), pack(lines[600][3:] + b"".join(lines[601:]))
    named = tmp_path / f"a.{what.replace('light', '')}.{kind}"
    for path, more in ((named, {}), (tmp_path / "a", {}), (tmp_path / "a", {"on_error": "skip"})):
        for cut in (1, len(second) - 7):
            path.write_bytes(first + second[:-cut])
            labels = []
            with pytest.raises(ValueError, match=f"^{path.name}: the compressed file is cut off: it stops before its end mark.$"):
                for batch in read(path, **more):
                    labels += batch.y.astype(float).tolist()
            assert labels == list(range(len(labels))) and 600 <= len(labels) <= 900
            assert cut > 1 or kind in ("bz2", "zst") or len(labels) == 900, "all but the end mark is there"
            assert cut == 1 or len(labels) < 610


@pytest.mark.parametrize("kind", COMPRESSORS)
def test_rows_before_damage_depend_only_on_the_file(tmp_path, kind):
    draw, path = np.random.default_rng(0), tmp_path / "data.svm"
    lines = b"".join(b"%d %d:%d\n" % (i, v, i) for i, v in enumerate(draw.integers(0, 1000, 60_000)))
    packed = bytearray(COMPRESSORS[kind](lines))
    at = len(packed) * 2 // 3
    packed[at : at + 40] = b"\xff" * 40
    path.write_bytes(packed)
    *first, message = outcome_of(path, "svmlight")
    assert message.startswith("data.svm:") and (kind == "zst" or first[3][:1000] == list(map(str, range(1000))))
    for more in ({"block_bytes": 1000}, {"block_bytes": 1 << 22}, {"prefetch": False, "max_line_bytes": 5000}):
        assert outcome_of(path, "svmlight", **more) == (*first, message)


def test_several_files_are_one_stream(tmp_path):
    paths = [tmp_path / "a.svm", tmp_path / "b.svm.gz", tmp_path / "c.svm"]
    paths[0].write_bytes(b"1 1:1\n2 1:1")  # (no end of line)
    paths[1].write_bytes(gzip.compress(b"\xef\xbb\xbf3 1:1\n"))
    paths[2].write_bytes(b"4 1:1\nbad\n")
    with read(paths, on_error="skip", labels="number") as stream:
        assert [part.y.tolist() for part in stream] == [[1, 2, 3, 4]]
    assert stream.bytes_read == sum(path.stat().st_size for path in paths)
    assert error_of([str(path) for path in paths], "auto", labels="number").startswith("c.svm:2:1: expected a finite number")
    with pytest.raises(FileNotFoundError):
        read([paths[0], tmp_path / "absent.svm"])
    tables = [tmp_path / "a.csv", tmp_path / "b.csv"]
    tables[0].write_bytes(b"label,text\nx,a\n")
    for second, labels in ((b"label,text\ny,b\n", ["x", "y"]), (b"text,label\ny,b\n", ["x", "b"])):
        tables[1].write_bytes(second)
        assert whole(tables)[1].tolist() == labels
    tables[1].write_bytes(b"text,class\ny,b\n")
    assert "b.csv: columns must be those of the first file, ['label', 'text'], got ['text', 'class']" in error_of(tables, "auto")


@pytest.mark.parametrize(("name", "text", "format"), [
    ("a", SVMLIGHT, "svmlight"), ("a", VW, "vw"), ("a", TSV, "tsv"), ("a", b"1 |\n", "vw"),
    ("a.csv", b"label,text\nx,a\n", "csv"), ("a", b'{"label": 1, "text": "a"}\n', "jsonl"), ("a.tsv.gz", b"1\t1:1 2:1\n", "tsv"),
    ("a.VW", b"", "vw"), ("a.ndjson", b"", "jsonl"), ("a.libsvm.xz", b"", "svmlight"), ("a", b"1 2:3", "svmlight"),
    ("a", b"label\tone | two\n", "tsv"), ("a.tab", b"1\t1:1 2:1\n", "tsv"), ("a", b"1 1:1\r\n2 1:1\r\n", "svmlight"),
])
def test_formats_are_detected_by_name_and_by_first_lines(tmp_path, name, text, format):
    path = tmp_path / name
    path.write_bytes(text)
    with read(path, prefetch=False) as stream:
        assert stream.format == format


def test_a_format_that_cannot_be_detected_is_refused():
    for data, came in ((b"hello world\n", "the first line b'hello world'"), (b"\n \n", "no line"),
                       (b"PK\x03\x04zip", "a zip archive"), (b'[{"label": 1}]', "a JSON array")):
        assert f"<stream>: the name or the first line must tell the format, got {came}" in error_of(data, "auto")
    assert whole(b"hello world\n", labels=None)[0].nnz == 2
    assert "expected UTF-8, got a file that begins like UTF-16" in error_of("ham\ta\n".encode("utf-16"), "tsv")


# --- options -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [
    {"batch_rows": 0}, {"batch_rows": 2**61}, {"dtype": "(,)f4"}, {"labels": "int"}, {"on_error": "ignore"}, {"delimiter": ""},
    {"vectorizer": 3}, {"n_features": 2**31 + 1}, {"n_features": 2**70}, {"format": "svm"}, {"n_features": 1000, "format": "vw"},
    {"kinds": {"a": "float"}}, {"kinds": 0.0}, {"likely": "svm"}, {"n_features": 2**31, "format": "tsv"},
    {"weight": "w", "format": "tsv"}, {"n_features": 32, "format": "tsv", "vectorizer": HashingVectorizer(n_features=64)},
], ids=str)
def test_options_of_read_out_of_range_are_refused(options):
    name, value = next(iter(options.items()))
    with pytest.raises(ValueError, match=rf"^read: {name} must be .*{re.escape(f'got {value!r}.')}"):
        read(io.BytesIO(SVMLIGHT), **{"format": "svmlight", **options})


def test_sources_that_are_none_are_refused_and_a_missing_package_is_named(monkeypatch):
    for source in (io.StringIO("1 1:1"), iter([])):
        with pytest.raises(TypeError, match="source must be"):
            read(source, "vw")
    for module in ("pyarrow", "pyarrow.csv", "pyarrow.ipc", "compression.zstd", "backports.zstd", "backports"):
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delitem(sys.modules, "onlinecls.streams._typed", raising=False)
    for start, extra in ((b"PAR1", "tables"), (b"label,n\na,1\n", "tables"), (b"\x28\xb5\x2f\xfd", "zstd")):
        with pytest.raises(ImportError, match=re.escape(f'pip install "onlinecls[{extra}]"')):
            list(read(io.BytesIO(start + bytes(10)), "csv" if start[:1] == b"l" else "auto"))


def test_memory_of_a_stream_does_not_grow_with_the_file(tmp_path):
    """40 MB of text through 24 MB at most."""
    line = b"spam\t" + b"some words and others " * 20 + b"\n"
    path = tmp_path / "a.tsv.gz"
    with gzip.open(path, "wb", compresslevel=1) as out:
        for _ in range(9):
            out.write(line * 10000)
    n, peak, _ = memory_of(lambda: sum(len(batch.y) for batch in read(path)))
    assert n * len(line) > 38e6 and n == 90000 and peak < 24e6
