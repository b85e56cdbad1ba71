"""Tables to rows: the vectorizer against a slow twin, one source against another, and any split of a stream against the whole."""

import copy
import datetime as dt
import math
import pickle
from collections import OrderedDict
from decimal import Decimal

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import onlinecls
from onlinecls import AROWClassifier, make_stream_pipeline
from onlinecls.tables import TableVectorizer, described, rebuild, slot_names
from onlinecls.text import HashingVectorizer

UTC, DAY = dt.UTC, dt.date(1850, 1, 1)


class Twin:
    """Learn and transform one row after the other, as the docstring says, without hashed columns."""

    def __init__(self, max_values=256, clip=10.0):
        self.max_values, self.clip, self.places, self.sums = max_values, clip, {}, {}

    def cells(self, name, value):
        """Yield (feature, number or None) of a cell."""
        if value is None or value != value:
            yield f"{name}=?", None
        elif isinstance(value, bool | str):
            yield f"{name}={value}", None
        elif isinstance(value, int | float):
            yield name, float(value)
        elif isinstance(value, dt.date):
            t = value if isinstance(value, dt.datetime) else dt.datetime(value.year, value.month, value.day)
            t = t if t.tzinfo is None else t.astimezone(UTC).replace(tzinfo=None)
            yield f"{name}.seconds", (t - dt.datetime(1970, 1, 1)) // dt.timedelta(microseconds=1) / 1e6
            yield from ((f"{name}.{part}", None) for part in (f"month={t.month}", f"weekday={t.weekday()}", f"hour={t.hour}"))
        else:
            for key, each in value.items() if isinstance(value, dict) else enumerate(value):
                is_item = isinstance(each, str) and not isinstance(value, dict)
                yield from self.cells(name if is_item else f"{name}.{key}", each)

    def rows(self, rows, learn=True):
        found = np.zeros((len(rows), self.max_values))
        for out, row in zip(found, rows, strict=True):
            for feature, x in (pair for name, value in row.items() for pair in self.cells(name, value)):
                if learn and len(self.places) < self.max_values:
                    self.places.setdefault(feature, len(self.places))
                n, mean, squares = self.sums.get(feature, (0.0, 0.0, 0.0))
                if x is not None and learn:
                    d, n = x - mean, n + 1.0
                    mean, squares = (mean := mean + d * (1.0 / n)), squares + d * (x - mean)
                    self.sums[feature] = n, mean, squares
                if feature in self.places:
                    out[self.places[feature]] += 1.0 if x is None else 0.0 if not squares else min(
                        max((x - mean) / math.sqrt(squares / n), -self.clip), self.clip)
        return found


def some_rows(n, seed=0, all_there=False):
    """Return rows of all kinds of values; all_there : each with the same columns, of one kind each, as frames have them."""
    rng = np.random.default_rng(seed)
    rows = []
    for t in range(n):
        zone = dt.timezone(dt.timedelta(hours=int(rng.integers(-11, 12))))
        row = {
            "age": float(rng.normal(40, 12)) if t % 7 != 3 else None, "height": int(rng.integers(150, 200)),
            "flag": bool(rng.random() < 0.3), "city": str(rng.choice(["Oslo", "Rome", "Zürich"])) if t % 5 else None,
            "when": dt.datetime(1890, 1, 1) + dt.timedelta(microseconds=int(rng.integers(0, 8 * 10**15))) if t % 9 else None,
            "day": DAY + dt.timedelta(days=int(rng.integers(0, 10**5))),
            "at": dt.datetime(2020, 1, 1, tzinfo=zone) + dt.timedelta(hours=t),
            "tags": [str(each) for each in rng.choice(["a", "b", "c"], t % 4)], "vector": [t / 3, -1.0],
            "inner": {"a": t % 5, "b": {"c": "x"}},
        }
        if not all_there:
            row["mixed"] = [None, 3.5, "blue", 1, math.nan, True, [1, None, "q", [False]]][rng.integers(0, 7)]
            row = {name: row[name] for name in rng.permutation(list(row))[: rng.integers(2, len(row) + 1)].tolist()}
        rows.append(row)
    return rows


def dense(rows):
    return rows.toarray() if sparse.issparse(rows) else rows


def parts(X, size):
    n = len(X["age"]) if isinstance(X, dict) else len(X)
    for at in range(0, n, size):
        if isinstance(X, dict):
            yield {name: values[at : at + size] for name, values in X.items()}
        else:
            yield X.iloc[at : at + size] if hasattr(X, "iloc") else X[at : at + size]


@pytest.mark.parametrize("size", [1, 7, 300])
@pytest.mark.parametrize("max_values", [256, 12, 1])
def test_rows_are_those_of_the_twin_in_any_split(max_values, size):
    rows, later = some_rows(300), some_rows(50, seed=1)
    twin, vectorizer = Twin(max_values, 2.0), TableVectorizer(0, max_values=max_values, clip=2.0)
    found = np.vstack([vectorizer.learn_transform(part) for part in parts(rows, size)])
    np.testing.assert_array_equal(found, twin.rows(rows))
    np.testing.assert_array_equal(vectorizer.transform(later), twin.rows(later, learn=False))
    assert vectorizer.get_feature_names_out()[: len(twin.places)].tolist() == list(twin.places)
    hashed = TableVectorizer(6, max_values=max_values, clip=2.0)
    np.testing.assert_array_equal(hashed.learn_transform(rows)[:, :max_values].toarray(), found)


def frame_of(kind, rows):
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    if kind == "columns":
        return columns
    if kind == "arrays":
        at = [value.astimezone(UTC).replace(tzinfo=None) for value in columns["at"]]
        types = {"age": float, "height": "i2", "flag": bool, "city": object, "when": "M8[us]", "day": "M8[D]", "vector": float}
        typed = {name: np.array(columns[name], dtype) for name, dtype in types.items()}
        return {**columns, **typed, "at": np.array(at, "M8[ns]")}
    if kind == "pandas":
        pandas = pytest.importorskip("pandas")
        at, city = pandas.to_datetime(columns["at"], utc=True), pandas.Categorical(columns["city"])
        return pandas.DataFrame({**columns, "at": at, "height": pandas.array(columns["height"], "Int64"), "city": city})
    if kind == "polars":
        pytest.importorskip("pyarrow")
        return pytest.importorskip("polars").from_arrow(frame_of("arrow", rows))
    pa = pytest.importorskip("pyarrow")
    at = pa.array(columns["at"], pa.timestamp("us", "UTC"))
    table = pa.table({**columns, "city": pa.array(columns["city"]).dictionary_encode(), "at": at})
    return table.to_pandas(types_mapper=pytest.importorskip("pandas").ArrowDtype) if kind == "pandas arrow" else table


@pytest.mark.parametrize("kind", ["pandas", "pandas arrow", "polars", "polars alone", "arrow", "stream", "columns", "arrays"])
def test_tables_of_all_kinds_give_the_rows_of_dicts(kind, monkeypatch):
    rows = some_rows(60, all_there=True)
    expected = TableVectorizer(8, max_values=70)
    found = expected.learn_transform(rows)
    table = frame_of({"stream": "arrow", "polars alone": "polars"}.get(kind, kind), rows)
    if kind == "polars alone":
        monkeypatch.setattr(type(table), "to_arrow", lambda self: exec("raise ImportError('pyarrow')"))
    if kind == "stream":
        table = type("Stream", (), {"__arrow_c_stream__": lambda self, *_, it=table: it.__arrow_c_stream__()})()
    for size in (60,) if kind == "stream" else (1, 7, 60):
        vectorizer = TableVectorizer(8, max_values=70)
        made = [vectorizer.learn_transform(part) for part in ([table] if kind == "stream" else parts(table, size))]
        np.testing.assert_array_equal(sparse.vstack(made).toarray(), found.toarray(), err_msg=f"parts of {size}")
        assert vectorizer.statistics_ == expected.statistics_
        assert vectorizer.get_feature_names_out().tolist() == expected.get_feature_names_out().tolist()
        if kind != "stream":
            np.testing.assert_array_equal(vectorizer.transform(table).toarray(), expected.transform(rows).toarray())


def test_arrays_of_two_dimensions_are_columns_x0_x1():
    X = np.random.default_rng(0).normal(size=(40, 3))
    for given in (X, X.T.copy().T, X[:, ::-1][:, ::-1]):
        vectorizer = TableVectorizer(0, max_values=3)
        np.testing.assert_allclose(vectorizer.fit_transform(given), (X - X.mean(0)) / X.std(0), rtol=1e-12)
        assert vectorizer.get_feature_names_out().tolist() == ["x0", "x1", "x2"] and not hasattr(vectorizer, "feature_names_in_")
    np.testing.assert_array_equal(
        TableVectorizer(0).fit_transform(X.astype("f4")), TableVectorizer(0).fit_transform(X.astype("f4").astype(float)))
    assert TableVectorizer(0, max_values=6).fit_transform(X > 0).sum() == 120
    assert TableVectorizer(4, dtype=np.float32).fit_transform(X).dtype == np.float32


def test_what_has_no_column_of_its_own_is_hashed_with_a_sign():
    rows = [{"a": 1.0, "b": "x", "c": 2.0 * t, "d": f"v{t % 20}", "e": None} for t in range(50)]
    vectorizer = TableVectorizer(3, max_values=2)
    found = vectorizer.learn_transform(rows).toarray()
    twin, expected = Twin(), np.zeros((50, 10))
    whole = twin.rows(rows)
    for feature, at in twin.places.items():
        column, sign = at, 1.0
        if at >= 2:
            hashed = HashingVectorizer(n_features=8, norm=None, analyzer=lambda each: [each]).transform([feature])
            column, sign = 2 + int(hashed.indices[0]), float(hashed.data[0])
        expected[:, column] += sign * whole[:, at]
    np.testing.assert_allclose(found, expected, rtol=1e-15)


def state_of(vectorizer):
    header, arrays = described(vectorizer)
    return header, {name: array.tobytes() for name, array in arrays.items()}


BAD = [math.inf, -math.inf, 1e200, 10**400, object(), b"bytes", {1, 2}, 1j, np.array([1j]), dt.time(12), dt.timedelta(1),
       "\ud800", {"k\udfff": 1}, np.timedelta64(3, "s"), [object()], Decimal("Infinity")]


@pytest.mark.parametrize("value", BAD, ids=[f"{k}-{type(value).__name__}" for k, value in enumerate(BAD)])
def test_a_refused_call_names_column_and_row_and_leaves_nothing_behind(value):
    deep = [{"a": 5.0, "new": "text", "z": 3.0, "d": DAY, "q": ["u"]}, {"a": 6.0, "b": value}]
    for max_values in (256, 3):
        vectorizer, twin = (TableVectorizer(5, max_values=max_values).partial_fit(some_rows(30)) for _ in range(2))
        for call in (vectorizer.learn_transform, lambda X, step=vectorizer: step._planned(X, None), TableVectorizer().fit):
            for X in (deep, {"a": [1.0, 2.0], "b": ["x", value]}):
                with pytest.raises((ValueError, TypeError), match=r"^TableVectorizer: .* row 1"):
                    call(X)
        assert state_of(vectorizer) == state_of(twin)
        later = [deep[0], *some_rows(20, seed=3)]
        assert (vectorizer.learn_transform(later) != twin.learn_transform(later)).nnz == 0
        assert state_of(vectorizer) == state_of(twin)


def test_planned_rows_are_learnt_when_they_are_committed_once():
    for start in (0, 40):
        vectorizer, twin = (TableVectorizer(4, max_values=20) for _ in range(2))
        if start:
            vectorizer.partial_fit(some_rows(start)), twin.partial_fit(some_rows(start))
        later = some_rows(30, seed=2)
        rows, commit = vectorizer._planned(later, None)
        assert (state_of(vectorizer) == state_of(twin)) if start else not hasattr(vectorizer, "_cells")
        commit(), commit()
        for k, row in enumerate(later):
            assert (rows.matrix()[[k]] != twin.learn_transform([row])).nnz == 0
        assert state_of(vectorizer) == state_of(twin)
        assert (vectorizer.learn_transform(later) != twin.learn_transform(later)).nnz == 0


@pytest.mark.parametrize("max_values", [256, 9])
def test_copies_and_files_go_on_to_the_bit(max_values, tmp_path):
    rows, later = some_rows(80), some_rows(40, seed=5)
    vectorizer = TableVectorizer(5, max_values=max_values, ignore=("height",), clip=1.5, dtype=np.float32).partial_fit(rows)
    header, arrays = described(vectorizer)
    pipeline = make_stream_pipeline(copy.deepcopy(vectorizer), AROWClassifier()).partial_fit(rows[:1], ["a"])
    pipeline.save(tmp_path / "model")
    loaded = onlinecls.load(tmp_path / "model")
    assert (loaded[0].learn_transform(later) != pipeline[0].learn_transform(later)).nnz == 0
    copies = [copy.deepcopy(vectorizer), pickle.loads(pickle.dumps(vectorizer)), rebuild(
        TableVectorizer(**vectorizer.get_params()), header, arrays)]
    expected = vectorizer.learn_transform(later)
    for each in copies:
        assert (each.learn_transform(later) != expected).nnz == 0 and state_of(each) == state_of(vectorizer)


FORGED = {
    "a column twice": lambda header, sums: header["columns"].append(header["columns"][0]),
    "a feature of no column": lambda header, sums: header["features"][0].__setitem__(0, 99),
    "a feature twice": lambda header, sums: header["features"].append(header["features"][0]),
    "a key of nothing": lambda header, sums: header["features"][0].__setitem__(1, 213),
    "a large key": lambda header, sums: header["features"][0].__setitem__(1, 10**30),
    "no number": lambda header, sums: header["numbers"].pop(),
    "another order": lambda header, sums: header["features"].reverse(),
    "negative weights": lambda header, sums: sums.__setitem__((0, 0), -1.0),
    "no numbers": lambda header, sums: sums.__setitem__((0, 1), np.nan),
}


@pytest.mark.parametrize("case", FORGED)
def test_a_forged_description_is_refused(case):
    header, arrays = described(TableVectorizer().fit(some_rows(20)))
    FORGED[case](header, arrays["sums"])
    with pytest.raises((ValueError, TypeError)):
        rebuild(TableVectorizer(), header, arrays)


@pytest.mark.parametrize("max_values", [256, 9])
def test_merged_parts_know_what_one_stream_knows(max_values):
    rows = some_rows(120)
    whole, found, empty = (TableVectorizer(6, max_values=max_values) for _ in range(3))
    found.merge(empty, *(TableVectorizer(6, max_values=max_values).fit(part) for part in parts(rows, 40)))
    whole.fit(rows)
    assert described(found)[0]["features"][:9] == described(whole)[0]["features"][:9]
    for name, expected in whole.statistics_.items():
        assert found.statistics_[name] == pytest.approx(expected, rel=1e-9), name
    if max_values == 256:
        names = [each.get_feature_names_out().tolist() for each in (found, whole)]
        assert names[0] == names[1]
        np.testing.assert_allclose(found.transform(rows).toarray(), whole.transform(rows).toarray(), rtol=1e-9, atol=1e-9)
    for other in (TableVectorizer(5), "another"):
        with pytest.raises(ValueError, match="merge must have vectorizers of the same parameters, got"):
            found.merge(other)


def test_weights_count_rows_several_times_and_zero_leaves_one_out():
    rows = some_rows(40)
    weights = np.arange(40) % 3.0
    weighted = TableVectorizer(4)
    found = weighted.learn_transform(rows, weights)
    repeated = TableVectorizer(4).fit([row for row, weight in zip(rows, weights, strict=True) for _ in range(int(weight))])
    for name, expected in repeated.statistics_.items():
        assert weighted.statistics_[name] == pytest.approx(expected, rel=1e-9), name
    assert not found[weights == 0].nnz and slot_names(weighted) == slot_names(repeated)
    bad = [{"a": 1.0}, {"b": object()}]
    assert TableVectorizer(0, max_values=1).learn_transform(bad, [1.0, 0.0]).tolist() == [[0.0], [0.0]]
    for weights, message in (([1.0], "one weight a row"), ([1.0, -1.0], ">= 0"), ([0.0, 0.0], "0 sample")):
        with pytest.raises(ValueError, match=message):
            TableVectorizer().fit([{"a": 1.0}] * 2, sample_weight=weights)
    heavy = TableVectorizer(0, max_values=1)
    assert np.isfinite(heavy.learn_transform([{"a": 1e150}, {"a": -1e150}] * 3, [1e300, 1.0, 1e307, 1e308, 1e308, 1.0])).all()


def test_parameters_are_checked():
    for name, value in (("bits", 31), ("bits", True), ("max_values", 0), ("max_values", 2**20 + 1), ("clip", 0.0),
                        ("clip", np.nan), ("ignore", "city"), ("ignore", [1]), ("dtype", int), ("dtype", "f2")):
        with pytest.raises(ValueError, match=f"TableVectorizer: {name} must be .*, got {name}="):
            TableVectorizer().set_params(**{name: value}).fit([{"a": 1.0}])
    vectorizer = TableVectorizer().fit([{"a": 1.0}]).set_params(max_values=9)
    with pytest.raises(ValueError, match="max_values and bits must stay as they are once rows are learnt"):
        vectorizer.transform([{"a": 1.0}])
    assert vectorizer.fit_transform([{"a": 1.0}]).shape[1] == 9 + 2**18
    with pytest.raises(ValueError, match="max_values and bits must stay as they are once rows are learnt"):
        vectorizer.partial_fit([{"a": 1.0}]).set_params(max_values=8).fit([{"a": 1.0}]).set_params(max_values=9).transform([{}])


def test_what_is_no_table_is_refused():
    pandas, pa = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    broken = type("Broken", (), {"__arrow_c_stream__": lambda self, *_: pa.table({}).column("x")})()
    texts = pa.Array.from_buffers(pa.binary(), 2, [None, pa.py_buffer(np.array([0, 500, 2], np.int32)), pa.py_buffer(b"ab")])
    for X, message in (
        ("text", "got str"), (3, "got int"), ([3], "in row 0"), (np.zeros(3), "got a list"), (sparse.eye(2), "a table"),
        ({"a": 1.0}, "One row is a list of one dict"), ({"a": "text"}, "must hold columns"), ([{None: 1}], "names of columns"),
        ({"a": [1], "b": [1, 2]}, "of one length"), (pandas.DataFrame([[1, 2]], columns=["a", "a"]), "got two 'a'"),
        (broken, "got Broken"), (pa.table({"a": texts.view(pa.string())}), "sound table"), ({"a": {1, 2}}, "must hold columns"),
        ({"a": np.array(["300000-01-01"], "M8[D]")}, "290,000"), ([{"a": np.datetime64("300000-01-01")}], "290,000 years"),
        ({"a": pa.table({"b": [1]})}, "sound table"),
    ):
        with pytest.raises((ValueError, TypeError), match=f"^TableVectorizer: .*{message}"):
            TableVectorizer().fit(X)
    rows = []  # (from which a method of a value takes the others)
    rows += [{"a": type("Thief", (Decimal,), {"__float__": lambda self: rows.clear() or 1.0})()}] * 100
    assert TableVectorizer().learn_transform(rows).shape[0] == 100
    known = TableVectorizer().fit({"a": [1.0, 2.0]})
    with pytest.raises(ValueError, match="X must have the columns that have been learnt, got no 'a'"):
        known.transform({"b": [1.0]})
    nested = 1
    for _ in range(70):
        nested = [nested]
    with pytest.raises(ValueError, match="at most 64 deep"):
        known.transform([{"a": nested}])
    with pytest.raises(ValueError, match="Found array with 0 sample"):
        known.fit([])
    assert known.transform([]).shape == known.transform({"a": []}).shape == (0, 256 + 2**18)


@pytest.mark.filterwarnings("error")
def test_columns_that_a_frame_for_prediction_lacks_are_told_by_name():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1.0, 2.0], "b.c": ["x", "y"], "d": [{"e": 1, "f": [3]}] * 2, "g": [None, None]})
    vectorizer = TableVectorizer().fit(frame)
    vectorizer.transform(frame), vectorizer.transform([{"a": 1.0}])  # (a dict has what it has)
    with pytest.raises(UserWarning, match=r"X must have the columns that have been learnt, got no 'b\.c', 'g'\.$"):
        vectorizer.transform(frame[["d", "a"]])


def test_rows_may_be_mappings_and_scalars_of_numpy_and_pandas():
    pandas = pytest.importorskip("pandas")
    plain = {"a": 2.5, "b": True, "c": "x", "d": None, "e": dt.datetime(2024, 5, 6, 7), "f": None, "g": 3, "h": [1.0, 2.0],
             "1": 4}
    other = {"a": np.float32(2.5), "b": np.bool_(True), "c": np.str_("x"), "d": pandas.NA, "e": np.datetime64("2024-05-06T07"),
             "f": np.datetime64("NaT"), "g": Decimal(3), "h": np.array([1.0, 2.0]), 1: np.int8(4)}
    more = {**other, "e": pandas.Timestamp("2024-05-06T09", tz="Europe/Berlin"), "f": pandas.NaT, "g": np.longdouble(3)}
    first = {name: value if name in "bcdf" else 9 * value if name in "ag1" else value for name, value in plain.items()}
    vectorizer = TableVectorizer(4).fit([first, plain])
    expected = vectorizer.transform([plain]).toarray()
    assert expected.any()
    for row in (OrderedDict(other), more, pandas.Series({str(name): value for name, value in other.items()})):
        np.testing.assert_array_equal(vectorizer.transform([row]).toarray(), expected)


def test_memory_has_an_end_whatever_names_come():
    vectorizer = TableVectorizer(4, max_values=8)
    for start in range(0, 100_000, 1000):
        vectorizer.learn_transform([{f"n{k}": 1.0, f"t{k}": "x", "id": f"u{k}"} for k in range(start, start + 1000)])
    header = described(vectorizer)[0]
    assert len(header["columns"]) == 65_536 and len(header["features"]) == 8 and len(header["numbers"]) <= 65_536
    empty = TableVectorizer(4).fit([{f"c{k}": [] for k in range(70_000)}, {"late": "x", "later": 1.0}])
    assert slot_names(copy.deepcopy(empty)) == slot_names(empty) == []
    row = {f"c{k}": "x" for k in range(100_000)}
    assert vectorizer.transform([row]).nnz <= 16


def test_it_is_a_transformer_of_scikit_learn():
    vectorizer = TableVectorizer(0, max_values=8, ignore=["day"])
    with pytest.raises(NotFittedError):
        vectorizer.transform([{"a": 1}])
    rows = [{"a": k % 7, "day": DAY, "inner": {"b": "x", "c": [1.0]}} for k in range(20)]
    names = ["a", "inner", "inner.b", "inner.c", "inner.c.0"]
    assert vectorizer.fit(rows).feature_names_in_.tolist() == names and vectorizer.n_features_in_ == 5
    assert repr(clone(vectorizer)) == repr(vectorizer) == "TableVectorizer(bits=0, max_values=8, ignore=['day'])"
    assert vectorizer.set_params(ignore=["a"]).transform([{"a": 9, "day": DAY}]).tolist() == [[0.0] * 8]
