"""Tables to rows: the vectorizer against a slow twin, one input against another, and any split of a stream against the whole."""

import copy
import datetime as dt
import math
import re
from decimal import Decimal

import numpy as np
import pytest
from scipy import sparse
from threads import beside

from onlinecls import AROWClassifier, make_stream_pipeline
from onlinecls.tables import MISSING_TEXTS as MISSING
from onlinecls.tables import TableVectorizer, TextTable
from onlinecls.text import HashingVectorizer

NUMBER = re.compile(r"[+-]?\$?(\d{1,3}(,\d{3})+|\d+|(?=\.\d))(\.\d*)?([eE][+-]?\d+)?%?|\$[+-](\d+)(\.\d*)?")
EPOCH = dt.datetime(1970, 1, 1)


class Slow:
    """Learn and transform one row after the other, in plain Python, as the vectorizer's docstring says."""

    def __init__(self, slots=256, bits=18, clip=10.0, forgetting=0.0, categories=(), texts=("text",)):
        self.slots, self.n_hashed = slots, 2**bits if bits else 0
        self.clip, self.keep = clip, 1 - forgetting
        self.categories, self.texts, self.features, self.records, self.origins, self.order = categories, texts, {}, {}, {}, []

    def hashed(self, feature):
        found = HashingVectorizer(n_features=self.n_hashed, norm=None, analyzer=lambda each: [each]).transform([feature])
        return self.slots + int(found.indices[0]), float(found.data[0])

    def values(self, name, value):
        """Yield (feature, number or None for a name, value) of a cell."""
        if isinstance(value, float | np.floating) and math.isnan(value):
            value = None
        if isinstance(value, str):
            value = value.strip()
        if value is None or value in MISSING if isinstance(value, str | None) else False:
            yield f"{name}=?", None, 1.0
        elif name in self.categories:
            yield f"{name}={value}", None, 1.0
        elif isinstance(value, str) and NUMBER.fullmatch(value):
            yield name, float(re.sub("[$,%]", "", value)), None
        elif isinstance(value, str):
            yield f"{name}={value}", None, 1.0
        elif isinstance(value, list):
            for k, each in enumerate(value):
                yield f"{name}[{k}]", each, None
        elif isinstance(value, dt.datetime):
            days = (value - EPOCH) / dt.timedelta(microseconds=1) / 1e6 / 86400
            yield f"{name}.days", days - self.origins.setdefault(name, days), None
            for period, first, length in (("day", 0, 1), ("week", 3, 7), ("year", 0, 365.2425), ("half_day", 0, 0.5)):
                angle = 2 * math.pi * ((days + first) % length / length)
                if length > 1 or days % 1:
                    yield f"{name}.{period}_sin", None, math.sin(angle)
                    yield f"{name}.{period}_cos", None, math.cos(angle) - (length <= 1)
        else:
            yield name, float(value), None

    def place(self, feature, learn):
        if learn and feature not in self.features and len(self.features) < self.slots:
            self.features[feature] = len(self.features)
        if feature in self.features:
            return self.features[feature], 1.0
        return self.hashed(feature) if len(self.features) == self.slots and self.n_hashed else (None, 0.0)

    def row(self, row, learn):
        self.order += [name for name in row if name not in self.order] if learn else []
        out, waiting = {}, []
        known = self.order if learn else [name for name in self.order if name in row] + [n for n in row if n not in self.order]
        for name in known:
            if name not in row or name in self.texts:
                continue
            for feature, number, value in self.values(name, row[name]):
                waiting.append((number, value, self.place(feature, learn)))
        for number, value, (column, sign) in waiting:
            if number is not None and column is None:
                value = 0.0
            elif number is not None:
                value = self.standard(column, number, learn)
            if column is not None:
                out[column] = out.get(column, 0.0) + sign * value
        return out

    def standard(self, column, x, learn):
        n, mean, squares, binary = self.records.get(column, (0.0, 0.0, 0.0, True))
        if learn:
            d = x - mean
            n = n * self.keep + 1.0
            mean += d * (1.0 / n)
            squares = squares * self.keep + d * (x - mean)
            binary = binary and x in (0.0, 1.0)
            self.records[column] = n, mean, squares, binary
        if binary and x in (0.0, 1.0):
            return x
        if not n or not squares > 0.0:
            return 0.0
        return min(max((x - mean) / math.sqrt(squares / n), -self.clip), self.clip)

    def rows(self, rows, learn=True):
        found = np.zeros((len(rows), self.slots + self.n_hashed))
        for at, row in enumerate(rows):
            for column, value in self.row(row, learn).items():
                found[at, column] = value
        return found


def some_rows(n, seed=0, wild=False):
    """Return rows with all kinds of values; wild : columns that come and go, in any order, with values of several kinds."""
    rng = np.random.default_rng(seed)
    rows = []
    for t in range(n):
        row = {
            "age": float(rng.normal(40, 12)), "height": int(rng.integers(150, 200)), "flag": bool(rng.random() < 0.3),
            "year": 2024, "price": f"${rng.integers(1, 5000):,}.50", "city": str(rng.choice(["Oslo", "Rome", " Bern ", "?"])),
            "share": f"{rng.random() * 100:.1f}%", "id": f"u{rng.integers(0, 9)}",
        }
        if wild:
            row["when"] = dt.datetime(2024, 1, 1) + dt.timedelta(seconds=int(rng.integers(0, 10**8)))
            row["vector"] = rng.normal(size=2).tolist()
            row["mixed"] = [None, 3.5, "blue", "17", 1, float("nan"), "NA"][rng.integers(0, 7)]
            names = rng.permutation(list(row))[: rng.integers(2, len(row) + 1)].tolist()
            row = {name: row[name] for name in names}
        if t % 7 == 3 and "age" in row:
            row["age"] = None
        if wild and t % 11 == 5 and "flag" in row:
            row["flag"] = 1
        rows.append(row)
    return rows


def dense(rows):
    return rows.toarray() if sparse.issparse(rows) else rows


SETTINGS = {
    "slots": {}, "beyond": {"slots": 5, "bits": 4}, "none beyond": {"slots": 6, "bits": 0}, "forgetting": {"forgetting": 0.05},
    "clip": {"clip": 1.0},
    "crowded": {"slots": 1, "bits": 1}, "categories": {"categories": ["height", "id"]},
}


@pytest.mark.parametrize("wild", [False, True], ids=["tame", "wild"])
@pytest.mark.parametrize("setting", SETTINGS)
def test_rows_are_those_of_the_slow_twin(setting, wild):
    """Learning and transforming agree to the bit with a row-by-row loop in Python."""
    rows, others = some_rows(60, wild=wild), some_rows(15, seed=1, wild=wild)
    slow = Slow(**{"bits": 6, **SETTINGS[setting]})
    fast = TableVectorizer(**{"bits": 6, **SETTINGS[setting]})
    np.testing.assert_array_equal(dense(fast.learn_transform(rows)), slow.rows(rows))
    np.testing.assert_array_equal(dense(fast.transform(others)), slow.rows(others, learn=False))


@pytest.mark.parametrize("kind", ["pandas", "pandas arrow", "polars", "pyarrow", "columns", "arrays", "stream"])
def test_tables_of_all_kinds_give_the_rows_of_dicts(kind):
    """A data frame, an Arrow table, a dict of columns and whatever has __arrow_c_stream__ are read as the same rows as dicts."""
    rows = some_rows(50)
    for t, row in enumerate(rows):
        row["when"] = dt.datetime(2024, 3, 1) + dt.timedelta(hours=5 * t, microseconds=t) if t % 9 else None
        row["since"] = dt.date(2020, 1, 1) + dt.timedelta(days=t)
        row["dose"] = Decimal(t) / 4
        row["late"] = dt.timedelta(seconds=t)
        row["at"] = dt.time(t % 24, 30)
        row["vector"] = [t / 3, -1.0]
        row["text"] = f"word{t % 5} and more"
    expected = TableVectorizer(bits=8, slots=60).learn_transform(rows)
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    if kind == "columns":
        table = columns
    elif kind == "arrays":
        table = {**columns, "age": np.array(columns["age"], float), "flag": np.array(columns["flag"], bool),
                 "when": np.array(columns["when"], "datetime64[us]"), "vector": np.array(columns["vector"]),
                 "since": np.array(columns["since"], "datetime64[D]")}
    elif kind.startswith("pandas"):
        table = pytest.importorskip("pandas").DataFrame(columns)
        if kind == "pandas arrow":
            pytest.importorskip("pyarrow")
            table = table.convert_dtypes(dtype_backend="pyarrow")
    elif kind == "polars":
        pytest.importorskip("pyarrow")
        table = pytest.importorskip("polars").DataFrame(columns)
    else:
        table = pytest.importorskip("pyarrow").table(columns)
        if kind == "stream":
            table = type("Stream", (), {"__arrow_c_stream__": lambda self, *_: pyarrow_stream(columns)})()
    for size in (1, 7, 50):
        vectorizer = TableVectorizer(bits=8, slots=60)
        if kind in ("columns", "arrays"):
            pieces = [{name: values[at : at + size] for name, values in table.items()} for at in range(0, 50, size)]
        elif kind == "stream":
            pieces = [table]
        elif kind.startswith("pandas"):
            pieces = [table.iloc[at : at + size] for at in range(0, 50, size)]
        else:
            pieces = [table.slice(at, size) for at in range(0, 50, size)]
        found = sparse.vstack([vectorizer.learn_transform(piece) for piece in pieces])
        np.testing.assert_array_equal(found.toarray(), expected.toarray(), err_msg=f"chunks of {size}")


def pyarrow_stream(columns):
    import pyarrow

    return pyarrow.table(columns).__arrow_c_stream__()


@pytest.mark.filterwarnings("ignore:.*must have names")  # (that look like something else: test_sources.py)
def test_columns_of_texts_give_the_rows_of_their_values():
    pa = pytest.importorskip("pyarrow")
    draw = np.random.default_rng(4)
    cells = [
        *MISSING, "1", "1.5", "$1,200", "12%", " 7", "7 ", "nan ", "NAN", "inf", "-inf", "Infinity", "+3", "1e5", "1.", ".5",
        "-0", "1_0", "9" * 70, "1" * 63, "2024-05-01", "2024-05-01T10:30", "2024-99-01", "red", " red", "é", "1e-400", "0x1",
        "1e300",
    ]
    usual = [repr(each) for each in draw.normal(size=200).tolist()]
    for cell in cells:
        for place in (0, 150):
            column = [*usual[:place], cell, *usual[place:]]
            names = draw.choice(["a", "b", cell], len(column)).tolist()
            rows = [{"number": a, "name": b, "text": a} for a, b in zip(column, names, strict=True)]
            for options in ({}, {"bits": 0, "slots": 5, "ignore": ["text"]}, {"categories": ["name"]}, {"numbers": ["number"]}):
                outcomes = []
                for part in (rows, TextTable(pa.table({key: [row[key] for row in rows] for key in rows[0]}))):
                    vectorizer, found = TableVectorizer(**{"bits": 4, **options}), []
                    for each in (part[:90], part[90:]):
                        try:
                            found.append(vectorizer.learn_transform(each))
                            found[-1] = found[-1].toarray().tolist() if vectorizer.bits else found[-1].tolist()
                        except ValueError as error:
                            found.append(str(error))
                    if vectorizer.__sklearn_is_fitted__():
                        found += [vectorizer.schema_, vectorizer.statistics_, vectorizer.transform(part[160:163]).sum()]
                    outcomes.append(found)
                assert outcomes[0] == outcomes[1], (cell, place, options)


def test_a_table_of_texts_is_a_sequence_of_dicts():
    pa = pytest.importorskip("pyarrow")
    rows = [{"a": "1", "b": "x"}, {"a": "2", "b": ""}, {"a": "3", "b": "é"}]
    table = TextTable(pa.Table.from_pylist(rows))
    assert list(table) == rows and len(table) == 3 and table.shape == (3, 2)
    assert (table[1], table[-1], list(table[1:]), list(table[2:1]), table[::2]) == (rows[1], rows[2], rows[1:], [], rows[::2])
    with pytest.raises(IndexError):
        table[3]
    assert list(TextTable.joined([table[:1], table[1:]])) == rows and TextTable.joined([]) == []
    assert TextTable.joined([table[:1], rows[1:2], table[2:]]) == rows


def test_typed_categories_are_names():
    """pandas' and Arrow's categories are names, whatever their values look like."""
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    values = ["12", "7", None, "12"]
    for table in (
        pandas.DataFrame({"size": pandas.Categorical(values)}), pandas.DataFrame({"size": pandas.Categorical([12, 7, None, 12])}),
        pyarrow.table({"size": pyarrow.array(values).dictionary_encode()}),
    ):
        vectorizer = TableVectorizer(bits=0, slots=4).fit(table)
        assert vectorizer.get_feature_names_out().tolist() == ["size=12", "size=7", "size=?", "slot_3"], table
        assert vectorizer.transform([{"size": "7"}]).tolist() == [[0.0, 1.0, 0.0, 0.0]], table


def test_texts_are_hashed_in_a_namespace_each():
    """One word in two columns of texts has two columns; rows of texts have unit length; a column named text is one."""
    vectorizer = TableVectorizer(texts=["title"], slots=2)
    found = vectorizer.learn_transform([{"text": "red wine", "title": "red wine"}, {"text": None, "title": "red wine"}])
    assert found[0].nnz == 4
    assert vectorizer.schema_ == {"text": ("text", "missing"), "title": ("text",)}
    assert found[1, 0] == 1.0  # (text=?)
    assert sparse.linalg.norm(found[1]) == pytest.approx(2**0.5)
    plain = HashingVectorizer(n_features=2**18).transform(["red wine"])
    assert sorted(abs(found[0].data)) == sorted([*abs(plain.data)] * 2)
    assert TableVectorizer(categories=["text"], bits=0, slots=1).fit_transform([{"text": "a b"}]).tolist() == [[1.0]]


def test_rows_of_weight_0_change_nothing():
    """They are zeros in the output, take no slots, and leave statistics, columns and first dates as they are."""
    rows = [{**row, "text": f"word{k % 5} and more"} for k, row in enumerate(some_rows(40, wild=True))]
    weights = np.array([0.0, 1.0, 2.0, 0.5] * 10)
    kept = [row for row, weight in zip(rows, weights, strict=True) if weight]
    a, b = TableVectorizer(bits=4, slots=20), TableVectorizer(bits=4, slots=20)
    found, expected = dense(a.learn_transform(rows, weights)), dense(b.learn_transform(kept, weights[weights > 0]))
    np.testing.assert_array_equal(found[weights > 0], expected)
    assert not found[weights == 0].any()
    assert a.schema_ == b.schema_
    assert a.statistics_ == b.statistics_


def test_weights_count_as_rows():
    """A row of weight 3 has the statistics of three rows."""
    a = TableVectorizer().fit([{"x": 1.0}, {"x": 4.0}, {"x": 9.0}], sample_weight=[1, 3, 2]).statistics_["x"]
    b = TableVectorizer().fit([{"x": x} for x in (1.0, 4.0, 4.0, 4.0, 9.0, 9.0)]).statistics_["x"]
    np.testing.assert_allclose(a, b)
    np.testing.assert_allclose(b[1:], (np.mean([1, 4, 4, 4, 9, 9]), np.std([1, 4, 4, 4, 9, 9])))


def test_a_constant_column_is_zero_at_any_weight():
    """No noise of rounding is blown up to a standardised number."""
    weights = np.random.default_rng(0).random(50) + 0.1
    found = TableVectorizer(bits=0, slots=1, forgetting=0.01).learn_transform([{"year": 0.1}] * 50, weights)
    assert not found.any()


def test_unknown_columns_and_names():
    """unknown="error" names what is new or lacking; else it is left out."""
    rows = [{"a": 1.0, "b": "x"}, {"a": 2.0, "b": "y"}]
    lenient, strict = TableVectorizer(bits=0, slots=4), TableVectorizer(bits=0, slots=4, unknown="error")
    lenient.fit(rows)
    assert lenient.transform([{"a": 1.5, "b": "z", "c": 3.0}]).tolist() == [[0.0, 0.0, 0.0, 0.0]]
    strict.fit(rows)
    strict.partial_fit([{"a": None, "b": "x"}])
    for row, words in (
        ({"a": 1.0, "b": "x", "c": 1}, "a column that is unknown, 'c', in row 0"),
        ({"b": "x"}, "lacks the column, 'a', in row 0"),
        ({"a": 1.0, "b": "z"}, "got 'b=z' in row 0, which is new, and transform learns none"),
    ):
        with pytest.raises(ValueError, match=words):
            strict.transform([row])
    with pytest.raises(ValueError, match="got 'b=w' in row 1, which is new, and all 4 slots have one"):
        strict.partial_fit([rows[0], {"a": 1.0, "b": "w"}])
    assert strict.statistics_ == {"a": (2.0, 1.5, 0.5)}  # (the refused batch's first row is not in it)


REFUSED = {
    "infinite": ([{"age": float("inf")}], ValueError, r"must be finite and within .*, got inf in column 'age' of row 0"),
    "too large": ([{"age": 1.0}, {"age": 10**400}], ValueError, r"got inf in column 'age' of row 1"),
    "a complex number": ([{"age": 1j}], TypeError, r"got 1j in column 'age' of row 0"),
    "a list of lists": ([{"v": [["a"]]}], ValueError,
        r"a list must hold finite numbers .* got \[\['a'\]\] in column 'v' of row 0"),
    "no table": (3, TypeError, "X must be a table, got int"),
    "a text": ("abc", TypeError, "X must be a table, got str"),
    "no dicts": ([[1, 2]], TypeError, r"got a list with \[1, 2\] in row 0"),
    "one dict": ({"age": 3}, TypeError, "a dict must hold columns of values, got 3 as 'age'. One row is a list of one dict."),
    "lengths": ({"age": [1.0], "b": [1, 2]}, ValueError, r"columns must be of one length, got \{'age': 1, 'b': 2\}"),
    "a text column": ([{"text": 3}], TypeError, "column 'text' must hold texts, got 3 in row 0"),
    "names": ([{1.5: 3}], TypeError, "names of columns must be texts or integers, got 1.5"),
    "two names": ([{"1": 3, 1: 4}], ValueError, "names of columns must be different, got two columns '1'"),
    "no number": ([{"size": "big"}], ValueError, "column 'size' must hold numbers, as numbers= says, got 'big' in row 0"),
    "sparse": (sparse.eye(3, format="csr"), TypeError, "X must be a table, got a sparse matrix"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_refused_batch_changes_nothing(case):
    """Errors say what was wrong where, and the vectorizer is what it was, statistics included."""
    X, error, words = REFUSED[case]
    vectorizer = TableVectorizer(numbers=["size"]).fit({"age": [1.0, 2.0], "typed": np.array([1.0, 5.0])})
    before = copy.deepcopy(vectorizer)
    for learn in (vectorizer.learn_transform, vectorizer.partial_fit, vectorizer.fit, vectorizer.transform):
        with pytest.raises(error, match=words):
            learn(X)
    if case != "no table" and isinstance(X, list):  # behind rows that are right
        with pytest.raises(error):
            vectorizer.partial_fit([{"age": 100.0}, *X])
    rows = some_rows(5)
    assert vectorizer.statistics_ == before.statistics_
    assert vectorizer.schema_ == before.schema_
    np.testing.assert_array_equal(vectorizer.learn_transform(rows).toarray(), before.learn_transform(rows).toarray())


PARAMETERS = {
    "bits": (31, r"bits must be an integer in 0\.\.30 or 'auto', got bits=31"),
    "slots": (0, r"slots must be an integer in 1\.\.2\*\*20, got slots=0"),
    "texts": ("title", "texts must be a sequence of names of columns, got texts='title'"),
    "categories": ([1], "categories must be a sequence of names"),
    "unknown": ("drop", "unknown must be 'warn', 'ignore' or 'error', got unknown='drop'"),
    "clip": (0.0, r"clip must be a number in \(0, 1e6\]"),
    "forgetting": (0.2, r"forgetting must be a number in \[0, 0.1\]"), "dtype": (int, "dtype must be float32 or float64"),
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_parameters_out_of_range_are_refused(name):
    value, words = PARAMETERS[name]
    with pytest.raises(ValueError, match=words):
        TableVectorizer(**{name: value}).fit([{"a": 1}])


def test_parameters_that_do_not_go_together():
    for parameters, words in (
        ({"texts": ["a"], "ignore": ["a"]}, "a column must be named once, got 'a' in texts and in ignore"),
        ({"texts": ["a"], "bits": 0}, "texts must be empty with bits=0"),
    ):
        with pytest.raises(ValueError, match=words):
            TableVectorizer(**parameters).fit([{"a": "1"}])
    with pytest.raises(ValueError, match="a column of texts must have hashed columns, got 'text' with bits=0"):
        TableVectorizer(bits=0).fit([{"text": "1"}])
    with pytest.raises(ValueError, match="slots and bits must be those of the first call"):
        TableVectorizer().fit([{"a": 1}]).set_params(bits=5).transform([{"a": 1}])


def test_merged_statistics_are_those_of_all_rows():
    """Counts, means and deviations add up; features of the second part get slots behind those of the first."""
    rows = some_rows(80)
    for t, row in enumerate(rows[40:]):
        row["new"] = 3.0 * t
    for t, row in enumerate(rows):
        row["when"] = dt.date(2024, 1, 1) + dt.timedelta(days=3 * t)
    whole = TableVectorizer(bits=4).fit(rows)
    merged = TableVectorizer(bits=4).fit(rows[:40]).merge(TableVectorizer(bits=4).fit(rows[40:]), TableVectorizer(bits=4))
    assert merged.statistics_.keys() == whole.statistics_.keys()
    for name, expected in whole.statistics_.items():
        np.testing.assert_allclose(merged.statistics_[name], expected, rtol=1e-12, err_msg=name)
    np.testing.assert_allclose(merged.transform(rows).toarray(), whole.transform(rows).toarray(), atol=1e-12)
    crowded = [TableVectorizer(bits=2, slots=1).fit(part) for part in (rows[:40], rows[40:])]
    with pytest.raises(ValueError, match=r"slots for dates that begin on different days, got 'when\.days' without one"):
        crowded[0].merge(crowded[1])
    one, other, both = (TableVectorizer(bits=2, slots=1, ignore=["when"]).fit(part) for part in (rows[:40], rows[40:], rows))
    np.testing.assert_allclose(one.merge(other).transform(rows).toarray(), both.transform(rows).toarray(), atol=1e-9)
    with pytest.raises(ValueError, match="merge must have vectorizers of the same parameters"):
        merged.merge(TableVectorizer(bits=5))
    with pytest.raises(ValueError, match="merge must have statistics of all rows alike"):
        TableVectorizer(forgetting=0.1).merge()


def test_float32_rows_and_empty_tables():
    vectorizer = TableVectorizer(dtype=np.float32)
    assert vectorizer.learn_transform([]).shape == (0, 256 + 2**18)
    assert vectorizer.learn_transform([{"a": 1.5}, {"a": 2.0}]).dtype == np.float32
    assert vectorizer.transform([{"a": 1.5}]).dtype == np.float32
    with pytest.raises(ValueError, match="not been fitted"):
        TableVectorizer().transform([{"a": 1}])


def test_a_reader_between_two_rows_that_are_learnt_costs_none_of_them(monkeypatch):
    """A call to transform that began before a row was learnt leaves the statistics of that row where they are."""
    rows = [{"x": 1.0}, {"x": 2.0}, {"x": 7.0, "y": 3.0}, {"x": 4.0, "y": 9.0}]
    vectorizer, reader, waiting = TableVectorizer(bits=0).fit(rows[:2]), TableVectorizer._reader, [rows[2]]

    def learning_meanwhile(self, *arguments, **named):
        if waiting:  # (another thread learns here, after the reader has seen what is learnt)
            vectorizer.learn_transform([waiting.pop()])
        return reader(self, *arguments, **named)

    monkeypatch.setattr(TableVectorizer, "_reader", learning_meanwhile)
    before = vectorizer.transform([rows[0]])
    np.testing.assert_array_equal(before, TableVectorizer(bits=0).fit(rows[:2]).transform([rows[0]]))
    vectorizer.learn_transform(rows[3:])
    assert vectorizer.statistics_ == TableVectorizer(bits=0).fit(rows).statistics_


def test_readers_beside_learning_read_one_moment():
    """Each row that is read while others are learnt is standardised by the statistics after a whole number of rows."""
    rows = [{"a": float(k % 7), "b": float(k * k % 11), "c": f"v{k // 100}", f"new{k // 150}": 1.5 * k} for k in range(1500)]
    asked = {"a": 2.5, "b": -1.0, "c": "v3"}
    whole, moments = TableVectorizer(bits=0, slots=40, unknown="ignore"), set()
    for row in rows:
        whole.learn_transform([row])
        moments.add(whole.transform([asked]).tobytes())
    shared = TableVectorizer(bits=0, slots=40, unknown="ignore").fit(rows[:1])

    def read():
        assert shared.transform([asked]).tobytes() in moments

    with beside(read, read):
        for row in rows[1:]:
            shared.learn_transform([row])
    assert shared.statistics_ == whole.statistics_


def test_the_columns_learnt_have_their_names():
    vectorizer = TableVectorizer()
    assert not hasattr(vectorizer, "feature_names_in_") and not hasattr(vectorizer, "n_features_in_")
    vectorizer.partial_fit({"a": [1.0, 2.0], "c": ["x", "y"]}).partial_fit([{"new": 1}])
    assert vectorizer.feature_names_in_.tolist() == ["a", "c", "new"] and vectorizer.n_features_in_ == 3
    arrays = TableVectorizer().fit(np.eye(3))
    assert arrays.n_features_in_ == 3 and not hasattr(arrays, "feature_names_in_")
    pipeline = make_stream_pipeline(TableVectorizer(), AROWClassifier())
    assert not hasattr(pipeline, "n_features_in_")
    assert pipeline.partial_fit([{"a": 1.0}, {"b": "x"}], [0, 1]).feature_names_in_.tolist() == ["a", "b"]
