"""Values of all kinds in tables: a row alone, in any batch, or in a table of texts is read as the same one."""

import datetime as dt
import enum
import pickle
import uuid
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from scipy import sparse

from onlinecls.tables import TableVectorizer, TextTable, described, planned_progressively

pytestmark = pytest.mark.filterwarnings("ignore:TableVectorizer")
EACH = settings(suppress_health_check=list(HealthCheck), deadline=None)  # (how many, and which, is the profile's: conftest.py)


class Text(str):
    """A subclass of str whose hash is not that of its text."""

    def __hash__(self):
        return 7


class City(enum.StrEnum):
    ROME = "Rome"


TEXTS = [
    "red", " red", "b=c", "?", "", "12", "$1,200", "3%", "1e5", "12e45678", "37176E84", "9e99999x", "1e151", "-1e151", "1e999",
    "0", "1", "2024-05-01", "2024-05-01T10:30", "2024-99-01", "Ünï", "true", "FALSE", "yes", "No", "y", "t", "F", "N/A", "None",
    "\\N",
    "2012/01/01", "2012/01/01 10:30", "01.05.2024", "05/01/2024", "25/01/2024", "01/25/2024", "Aug 1 2005", "1 May 2024 7:05 pm",
    "2024-05", "10:30", "1714521600000", "12,5", "0,750", "1.234,5", "€12", "£1,200.5", "($5.00)", "5 %", "1 234", "1'234", "−5",
    "CHF 5",
    "12,34,567", "5.00-", "$1.5M", "5k", "1 days 02:00:00", "PT1H", "NO", "off", "SE", "WAHR", "..", "24:30", "2024-02-30", "P1D",
    "Sat May 25 10:30:00 PDT 2024", "2024-05-01 10:30 CST", "20240525", "['a']", "inf",
    "a99f214a", "12345678", "02134", "91521", "23151-1234", "PC 17599", "A/5 21171", "113803", "7.0",
]
ODD = [
    [dt.date(2024, 5, 1), None], [dt.timedelta(1)], uuid.UUID(int=5),
    None, float("nan"), 0, 1, True, 2.5, -0.0, 10**30, np.float32(2.5), np.int64(3), np.bool_(True), Decimal("1.25"), b"12",
    b"red", np.str_("red"), np.str_("new"), np.str_("12e45678"), Text("red"), City.ROME, np.array("red"), Decimal("NaN"),
    dt.date(2024, 5, 2), dt.datetime(2024, 5, 1, 3, 4, 5, 6), dt.datetime(2024, 5, 1, tzinfo=dt.timezone(dt.timedelta(hours=2))),
    dt.time(10, 30), dt.timedelta(1), np.datetime64("2024-05-01T10:30", "ns"), np.datetime64("2024-05-01"),
    np.timedelta64(5, "ns"), np.timedelta64(1, "Y"), b"r\xff s", [1.0, None, -2.5], [], (0, 1), np.arange(3),
    1714521600000, 113803, dt.datetime(2024, 5, 1), False, ["p", "q", "p", None], {"q", "p"}, {2, 1}, ["1", 2], {"a": 1,
        "b": {"a": "x"}}, {},
]
REFUSED = [
    "\ud800", "a\udfff", Decimal("sNaN"), [Decimal("sNaN")], ["p", "\ud800"], [[1.0]], float("inf"), 1e151, 10**400,
    1j, [1j], [float("inf")], np.datetime64(2**56, "m"), np.datetime64(10**15, "h"), np.timedelta64(10**18, "D"),
    np.timedelta64(2**62, "s"),
]
NAMES = ["a", "b", "a=b", "c", "text", "b=?", "c.days", "c_id", np.str_("a"), City.ROME, 7]
cells = st.sampled_from([*TEXTS, *TEXTS, *ODD, *REFUSED[:4]])
rows_of_cells = st.lists(st.dictionaries(st.sampled_from(NAMES), cells, max_size=5), min_size=1, max_size=10)
options = st.fixed_dictionaries(
    {"bits": st.sampled_from([0, 1, 4]), "slots": st.sampled_from([1, 3, 6, 40])},
    optional={
        "categories": st.just(["b"]),
        "numbers": st.just(["c"]), "ignore": st.just(["b=?"]), "forgetting": st.just(0.05),
        "unknown": st.just("error"), "decimal": st.just(","), "dates": st.sampled_from([{"a": None}, {"a": "%d/%m/%Y"}]),
        "dtype": st.just(np.float32),
    })


def dense(rows):
    """Return the rows as an array, and the columns that they have entries in."""
    return (rows.toarray(), rows.indices.tolist()) if sparse.issparse(rows) else (rows, None)


def outcome(call, *arguments):
    """Return what a call returns, or the type and the text of its error."""
    try:
        return call(*arguments)
    except (ValueError, TypeError) as error:
        return type(error), str(error)


def is_refused(found):
    return isinstance(found, tuple)


def same(found, expected):
    for a, b in zip(dense(found), dense(expected), strict=True):
        np.testing.assert_array_equal(a, b)


@given(rows_of_cells, options, st.integers(1, 9), st.lists(st.booleans(), min_size=10, max_size=10))
@example([{"a": 1.5, "b": "x"}, {"b": City.ROME, "a": np.str_("y")}], {"bits": 4, "slots": 1}, 1, [False] * 10)
@example([{"c": "r"}, {"c": "12e45678"}, {"c": 3}, {"c": "12e4"}], {"bits": 0, "slots": 6}, 2, [True] * 10)
@example([{}, {"b=?": "12", "b": "?"}], {"bits": 0, "slots": 1}, 1, [False] * 10)
@example([{"a": "r"}, {"b=?": "25/01/2024", "a": "r", "b": "r", "a=b": "r", "c": "r"}], {"bits": 1, "slots": 1}, 1, [False] * 10)
@example([{"a": "r"}, {"b": "12"}, {"a": "r", "b": "r", "c": "€12"}], {"bits": 1, "slots": 1}, 1, [False] * 10)
@example([{"b": "1e5", "c": "r"}, {"b": "a99f214a", "c": "r"}], {"bits": 0, "slots": 3, "unknown": "error"}, 1, [False] * 10)
@example([{"a": "red"}, {"a": "12", "a=b": 3, "b": dt.date(2024, 5, 2)}], {"bits": 1, "slots": 1}, 1, [False] * 10)
@example([{"a": "b=c"}, {"a=b": "c"}, {"a": "b=c", "a=b": "c", "c": 1}], {"bits": 1, "slots": 1}, 2, [False] * 10)
@EACH
def test_a_row_alone_is_the_row_of_any_batch(rows, options, size, hidden):
    """One row a call, all that were not refused in one, in chunks, and among rows of weight 0: the same rows, statistics and
    bytes of the file; and each was predicted as it would have been alone."""
    options = {"unknown": "ignore", **options}
    alone, kept, found, before = TableVectorizer(**options), [], [], []
    for row in rows:
        asked = outcome(alone.transform, [row]) if alone.__sklearn_is_fitted__() else None
        learnt = outcome(alone.learn_transform, [row])
        if not is_refused(learnt):
            kept.append(row)
            found.append(learnt)
            before.append(asked)
    if not kept:
        return
    whole, chunks, mixed = (TableVectorizer(**options) for _ in range(3))
    if options.get("unknown") != "error":
        known = outcome(planned_progressively, whole, kept, None)[0]
        for row, asked in zip(range(len(kept)), before, strict=True):
            if asked is not None:
                same(known[row : row + 1], asked)
    everything = whole.learn_transform(kept)
    for row, each in enumerate(found):
        same(everything[row : row + 1], each)
    for start in range(0, len(kept), size):
        chunks = pickle.loads(pickle.dumps(chunks))
        same(everything[start : start + size], chunks.learn_transform(kept[start : start + size]))
    pairs = [(row, 0.0) for row, is_hidden in zip(kept, hidden, strict=False) if is_hidden]
    pairs = [pair for k, row in enumerate(kept) for pair in ((row, 1.0), *pairs[k : k + 1])]
    mixed.learn_transform(*map(list, zip(*pairs, strict=True)))
    for other in (alone, chunks, mixed):
        assert other.schema_ == whole.schema_ and other.statistics_ == whole.statistics_
        assert all(type(name) is str for name in other.schema_)
        assert described(other)[0] == described(whole)[0]
        assert described(other)[1]["records"].tobytes() == described(whole)[1]["records"].tobytes()
        for row in kept:  # (with "error", what was a number may be refused as a name since ids have come)
            found = outcome(other.transform, [row])
            expected = outcome(whole.transform, [{}, row] if options["unknown"] != "error" else [row, row])
            assert is_refused(found) == is_refused(expected)
            if not is_refused(found):
                same(found, expected[1:])


@given(st.lists(st.tuples(st.sampled_from(TEXTS), st.sampled_from(TEXTS)), min_size=1, max_size=12), options, st.integers(1, 9))
@example([("r", "1")] * 11 + [("12e45678", "1e200")], {"bits": 0, "slots": 40}, 11)
@example([("x", "1"), ("yes", "2")], {"bits": 0, "slots": 40}, 2)
@example([("2024-05-01", "1"), ("1714521600000", "2"), ("5", "3")], {"bits": 0, "slots": 40}, 3)
@EACH
def test_a_table_of_texts_is_its_rows(pairs, options, size):
    """Columns of an Arrow table of texts are read as one row after the other, whatever came before."""
    pa = pytest.importorskip("pyarrow")
    rows = [{"a": a, "c": c} for a, c in pairs]
    one, other = TableVectorizer(**options), TableVectorizer(**options)
    for start in range(0, len(rows), size):
        part = rows[start : start + size]
        found, expected = (
            outcome(each.learn_transform, X) for each, X in ((one, TextTable(pa.Table.from_pylist(part))), (other, part)))
        assert is_refused(found) == is_refused(expected)
        if is_refused(found):
            assert found == expected
        else:
            same(found, expected)
    if one.__sklearn_is_fitted__():
        assert described(one)[0] == described(other)[0]


def test_numbers_that_are_read_together_are_those_of_rows_alone():
    """Many columns of numbers, of which some share a record, some come in another order, and some have a value that is none."""
    rng = np.random.default_rng(0)
    texts = ["-0.5", "-0", "5.", "+7", "1e5", "00123.5", "0012", "123456789012345", "1234567890123456789", "0.1", "1,2", "3 %"]
    rows = [{f"c{k}": texts[int(rng.integers(12))] if k % 3 else float(rng.normal()) for k in range(60)} for _ in range(12)]
    for k, odd in enumerate(["00123", "12e45678", None, "x", float("nan"), True, "yes", 10**30, "", "١"]):
        rows[5 + k % 7][f"c{5 * k}"] = odd
    rows[3] = dict(reversed(rows[3].items()))
    for options in ({"slots": 10, "bits": 2}, {"slots": 100, "bits": 0}, {"slots": 70, "bits": 4, "decimal": ","}):
        alone, whole = TableVectorizer(**options), TableVectorizer(**options)
        found = whole.learn_transform(rows)
        for i, row in enumerate(rows):
            same(found[i : i + 1], alone.learn_transform([row]))
        assert described(alone)[0] == described(whole)[0]
        assert described(alone)[1]["records"].tobytes() == described(whole)[1]["records"].tobytes()


@pytest.mark.parametrize("slots", [1, 40], ids=["full", "free"])
@pytest.mark.parametrize("value", REFUSED, ids=lambda value: repr(value)[:20])
def test_refusals_say_who_what_and_where(value, slots):
    """Alone and in a batch, where slots are free and where all are full, the error names column, row and value."""
    vectorizer = TableVectorizer(slots=slots, bits=4).fit([{"a": "x", "b": "z"}, {"a": "y", "b": 1.0}])
    before = pickle.dumps(described(vectorizer))
    for call, X in (
        (vectorizer.learn_transform, [{"a": value}]), (vectorizer.transform, [{"a": value}]),
        (vectorizer.learn_transform, [{"a": value}] * 2), (vectorizer.transform, {"a": [value, "x"]}),
        (vectorizer.learn_transform, [{"a": value, "b": 1.0}, {"a": "x"}]), (vectorizer.transform, [{"new": 1.0, "a": value}]),
    ):
        with pytest.raises((ValueError, TypeError), match=r"^TableVectorizer: .* got .* in column 'a' of row 0\. "):
            call(X)
    assert pickle.dumps(described(vectorizer)) == before
    if isinstance(value, str):
        with pytest.raises(ValueError, match=r"names of columns must be valid Unicode, got '.*\\ud.*' in row 0\. "):
            vectorizer.learn_transform([{value: 1.0}])
        with pytest.raises(ValueError, match=r"names of columns must be valid Unicode, got '.*\\ud.*' in row 1\. "):
            vectorizer.transform([{"a": "x"}, {value: 1.0}])
        pandas = pytest.importorskip("pandas")
        with pytest.raises(ValueError, match=r"texts must be valid Unicode, got .* in column 'a' of row 1"):
            vectorizer.transform({"a": pandas.Categorical.from_codes([0, 1], pandas.Index(["x", value], dtype=object))})


def test_a_text_is_a_number_only_where_numbers_have_come():
    """Digits, an e and digits are a name in a column of names; a number out of range is a name but where numbers are required."""
    names = TableVectorizer(bits=0).fit([{"c": "a99f214a"}])
    assert names.partial_fit([{"c": "12e45678"}, {"c": "37176e84"}, {"c": "1e5"}]).schema_ == {"c": ("category",)}
    assert names.partial_fit([{"c": "17"}, {"c": "1.5"}, {"c": "1e5"}]).statistics_["c"][:2] == (1.0, 1.5)
    assert TableVectorizer(bits=0).fit([{"c": "x"}, {"c": "1.5"}, {"c": "1e5"}]).statistics_["c"][1] == (1.5 + 1e5) / 2
    assert TableVectorizer(bits=0).fit([{"c": "1e5"}, {"c": "x"}, {"c": "1e6"}]).statistics_["c"][0] == 2
    assert TableVectorizer(bits=0).fit([{"c": "1e151"}, {"c": "1e999"}]).schema_ == {"c": ("category",)}
    for X in ([{"c": 1.0}, {"c": " 1e999"}], {"c": ["1", " 1e999"]}):
        with pytest.raises(ValueError, match="column 'c' must hold numbers, as numbers= says, got ' 1e999' in row 1"):
            TableVectorizer(numbers=["c"]).fit(X)
    assert TableVectorizer(numbers=["c"]).fit([{"c": "12e45"}]).schema_ == {"c": ("number",)}
    for value in ("2024-05-01", dt.date(2024, 5, 1), [1.0]):
        with pytest.raises(ValueError, match="column 'c' must hold numbers, as numbers= says"):
            TableVectorizer(numbers=["c"]).fit([{"c": value}])


def test_dates_and_decimals_of_arrow_are_those_of_dicts():
    pa = pytest.importorskip("pyarrow")
    rng = np.random.default_rng(0)
    days = [dt.date(1960, 1, 1) + dt.timedelta(int(k)) for k in rng.integers(0, 40_000, 50)]
    digits, scales = rng.integers(-(10**17), 10**17, 50).tolist(), rng.integers(0, 18, 50).tolist()
    amounts = [Decimal(k).scaleb(-s) for k, s in zip(digits, scales, strict=True)]
    table = pa.table({
        "day": pa.array(days, pa.date64()), "amount": pa.array(amounts, pa.decimal128(38, 18)),
        "more": pa.array(amounts, pa.decimal256(60, 18)),
    })
    rows = [{"day": day, "amount": amount, "more": amount} for day, amount in zip(days, amounts, strict=True)]
    same(TableVectorizer(bits=0).fit(table).transform(table), TableVectorizer(bits=0).fit(rows).transform(rows))


KEYS = {  # values of a column of categories, and its names
    "dates": (np.array(["2024-05-01T10:30", "2024-05-02"], "M8[s]"), ["c=2024-05-01 10:30:00", "c=2024-05-02"]),
    "durations": (np.array([3600, 7200], "m8[s]"), ["c=1:00:00", "c=2:00:00"]),
    "decimals": (np.array([Decimal("1.50"), Decimal("2.00")]), ["c=1.5", "c=2"]),
    "numbers": (np.array([1.5, 2.0]), ["c=1.5", "c=2"]),
}


@pytest.mark.parametrize("kind", KEYS)
def test_names_of_categories_are_the_same_from_any_table(kind):
    pandas, pa = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    values, expected = KEYS[kind]
    units = ["s", "ms", "us", "ns"] if values.dtype.kind in "mM" else [None]
    for column in (values if unit is None else values.astype(f"{values.dtype.kind}8[{unit}]") for unit in units):
        series = pandas.Series(column)
        for X in (
            {"c": column}, {"c": series}, pandas.DataFrame({"c": series}), pa.table({"c": pa.array(series)}),
            [{"c": value} for value in column], [{"c": value} for value in series.tolist()],
        ):
            vectorizer = TableVectorizer(bits=0, slots=2, categories=["c"]).fit(X)
            assert vectorizer.get_feature_names_out().tolist() == expected, (type(X), column.dtype)
            if kind == "dates":
                with pytest.raises(ValueError, match="column 'c' must hold numbers, as numbers= says"):
                    TableVectorizer(numbers=["c"]).fit(X)


def test_bytes_of_a_text_are_read_as_those_of_a_name():
    vectorizer, texts = TableVectorizer(bits=6), [b"plain bytes", b"not \xff UTF-8"]
    rows, decoded = [{"text": text} for text in texts], [{"text": text.decode("utf-8", "replace")} for text in texts]
    same(vectorizer.fit(rows).transform(rows), vectorizer.transform(decoded))
    same(vectorizer.transform(rows[1:]), vectorizer.transform(rows)[1:])


def test_a_fit_needs_rows_of_weight():
    for call in (lambda: TableVectorizer().fit([]), lambda: TableVectorizer().fit_transform({"a": []})):
        with pytest.raises(ValueError, match=r"TableVectorizer: Found array with 0 sample\(s\)"):
            call()
    with pytest.raises(ValueError, match="TableVectorizer: sample_weight must not be 0 for all rows, got 2 zeros"):
        TableVectorizer().fit([{"a": 1.0}] * 2, sample_weight=[0, 0])
