"""A value means the same wherever it comes from: files, frames and dicts give one model, and it answers to all of them."""

import datetime as dt
import json
import re
import uuid
import warnings
from pathlib import Path

import numpy as np
import pytest

from onlinecls import AROWClassifier, load, make_stream_pipeline
from onlinecls.streams import read
from onlinecls.tables import MISSING_TEXTS, TableVectorizer, described

SOURCES = ("dicts", "csv", "csv in blocks", "jsonl", "parquet", "pandas", "polars", "arrow", "read_csv", "columns")
N = 400


def some_columns():
    """Return columns of Python's values of many kinds, and labels that depend on each of them."""
    rng = np.random.default_rng(5)
    flag, day = rng.random(N) < 0.4, [dt.date(2024, 1, 1) + dt.timedelta(int(k)) for k in rng.integers(0, 400, N)]
    pick = rng.integers(0, 4, N)
    columns = {
        "flag": flag.tolist(), "gone": [None if k % 5 == 0 else bool(k % 2) for k in range(N)],
        "count": rng.integers(0, 90, N).tolist(), "share": [None if k % 7 == 3 else float(x) for k,
            x in enumerate(rng.normal(size=N))],
        "city": [["Oslo", "Rome", None, "Bern"][k] for k in pick], "day": day,
        "when": [dt.datetime(2024, 1, 1) + dt.timedelta(minutes=int(k)) for k in rng.integers(0, 10**6, N)],
        "ticket": [["PC 17599", "113803", "A/5 21171", "7"][k] for k in pick], "word": [["yes", "no"][k % 2] for k in pick],
    }
    late = np.array([each.month > 6 for each in day])
    score = 2.0 * flag + np.array(columns["count"]) / 30 + (pick == 1) - late + rng.normal(size=N) / 2
    return columns, np.where(score > np.median(score), "up", "down").tolist()


def written(columns, labels, source, folder):
    """Return the tables of a source, one or several: what `read` gives of a file, or an object in memory."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(columns)
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    if source in ("dicts", "columns"):
        return [rows if source == "dicts" else columns]
    if source in ("polars", "arrow"):
        package = pytest.importorskip("polars" if source == "polars" else "pyarrow")
        return [package.DataFrame(columns) if source == "polars" else package.table(columns)]
    if source == "pandas":
        return [frame]
    path = folder / f"table.{source.partition(' ')[0].replace('read_', '')}"
    if source == "jsonl":
        path.write_text("".join(json.dumps({**row, "label": label}, default=str) + "\n" for row, label in zip(rows, labels,
            strict=True)))
    elif source == "parquet":
        frame.assign(label=labels).to_parquet(path, index=False)
    else:
        frame.assign(label=labels).to_csv(path, index=False)
    if source == "read_csv":
        return [pandas.read_csv(path).drop(columns="label")]
    with pytest.MonkeyPatch.context() as patch:
        if source == "csv in blocks":
            pytest.importorskip("pyarrow")
            patch.setattr("onlinecls.streams._csv.LEAST", 1)
        with read(path, tables="passthrough", batch_rows=97) as stream:
            return [batch.X for batch in stream]


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    columns, labels = some_columns()
    found = {}
    for source in SOURCES:
        folder = tmp_path_factory.mktemp("tables")
        try:
            found[source] = written(columns, labels, source, folder)
        except pytest.skip.Exception:
            continue
    return found, labels


def learnt(pieces, labels, way):
    pipeline = make_stream_pipeline(TableVectorizer(slots=512, bits=0), AROWClassifier(random_state=0))
    if way == "fit":
        return pipeline.fit([row for piece in pieces for row in rows_of(piece)] if len(pieces) > 1 else pieces[0], labels)
    start = 0
    for piece in pieces:
        n = len(next(iter(piece.values()))) if isinstance(piece, dict) else len(piece)
        pipeline.partial_fit(piece, labels[start : start + n])
        start += n
    return pipeline


def rows_of(piece):
    return piece.to_pylist() if hasattr(piece, "to_pylist") else list(piece)


@pytest.mark.parametrize("way", ["fit", "partial_fit"])
def test_a_table_gives_one_model_from_any_source(tables, way):
    """Booleans, counts, ids, names, dates with and without a time, and what is missing: to the bit."""
    found, labels = tables
    models = {source: learnt(pieces, labels, way) for source, pieces in found.items()}
    first = models["dicts"]
    assert first[0].schema_ == {
        "flag": ("boolean",), "gone": ("missing", "boolean"), "count": ("number",), "share": ("number", "missing"),
        "city": first[0].schema_["city"], "day": ("date",), "when": ("date",),
        "ticket": ("category",) if way == "fit" else first[0].schema_["ticket"],
        "word": ("boolean",),
    }
    for source, model in models.items():
        assert described(model[0])[0] == described(first[0])[0], source
        assert described(model[0])[1]["records"].tobytes() == described(first[0])[1]["records"].tobytes(), source
        np.testing.assert_array_equal(model[-1].coef_, first[-1].coef_, err_msg=source)


def test_a_model_answers_alike_to_all_sources(tables):
    """Whatever it has learnt from, it predicts the same scores for the table from any source, in pieces and row by row."""
    found, labels = tables
    rows = found["dicts"][0]
    for learnt_from in found:
        model = learnt(found[learnt_from], labels, "fit")
        expected = model.decision_function(rows)
        for source, pieces in found.items():
            scores = np.concatenate([model.decision_function(piece) for piece in pieces])
            np.testing.assert_array_equal(scores, expected, err_msg=f"{learnt_from} {source}")
        np.testing.assert_array_equal([model.decision_function([row])[0] for row in rows[:40]], expected[:40])


SPELLINGS = [  # (what is learnt as two values of a column, the same values in other spellings)
    ((True, False), ("True", "False"), ("true", "false"), ("TRUE", "FALSE"), (1, 0), ("1", "0"), (np.True_, np.False_), (1.0,
        0.0)),
    (("True", "False"), (True, False), ("true", "false"), (1, 0)),
    (("yes", "no"), ("Yes", "No"), ("YES", "NO"), (True, False), ("y", "n"), ("true", "false")),
    (("Y", "N"), (True, False), ("yes", "no"), ("y", "n")),
    (("on", "off"), (True, False), ("On", "Off"), ("ON", "OFF"), ("WAHR", "FALSCH"), ("VRAI", "FAUX"), ("VERDADEIRO", "FALSO")),
    (("N/A", "5"), (None, 5), ("", 5.0), ("NULL", "5"), ("<NA>", "5.0"), ("\\N", 5), (float("nan"), 5), ("None", "5"), ("-",
        "5"), ("?", 5),
     *((text, 5) for text in ("..", ":", "\u2013", "#DIV/0!", "#BEZUG!", "(null)", "[NULL]", "0000-00-00 00:00:00"))),
    (("€12", "€950"), (12, 950), ("12 €", "950 €"), ("$12", "$950.00"), ("12", "950")),
    (("($5.00)", "$5.00"), (-5, 5), ("−5", "5"), ("-5.0", "+5"), ("5.00-", "CA$5"), ("$(5.00)", "kr 5"), ("\u20135", "5 zł")),
    (("₹12,34,567", "R$ 5"), (1234567, 5), ("12,34,567.00", "US$5.00"), ("INR 1,234,567", "Rs. 5"), ("$1.234567M", "5.00 Kč")),
    (("€110.5M", "£2bn"), (110_500_000, 2_000_000_000), ("$110500K", "2,000,000,000 €"), ("€110.5m", "¥2B")),
    (("1 days 02:00:00", "-1 days +23:59:58.500000"), (93600, -1.5), (dt.timedelta(1, 7200), dt.timedelta(seconds=-1.5)),
     ("P1DT2H", "-PT1.5S"), ("1 day, 2:00:00", "P-1DT23H59M58.5S"), ("PT26H", np.timedelta64(-1500, "ms"))),
    (("1'234", "2"), (1234, 2), ("1 234", "2"), ("1,234", "2.0"), ("1\u00a0234", "2")),
    (("5 %", "90 %"), ("5%", "90%"), (5, 90)),
    (("2012/01/01", "2012/07/01"), ("2012-01-01", "2012-07-01"), (dt.date(2012, 1, 1), dt.date(2012, 7, 1)),
     ("01.01.2012", "01.07.2012"), ("Jan 1 2012", "1 July 2012"), ("2012-01", "2012-07"), ("2012-01-01T00:00",
         "2012-07-01 00:00:00"),
     (dt.datetime(2012, 1, 1), np.datetime64("2012-07-01", "ns")), (1325376000000, 1341100800000)),
    (("2012-01-01T10:30", "2012-07-01T22:30"), ("2012/01/01 10:30", "2012/07/01 22:30:00"), ("2012-01-01 11:30+01:00",
        "2012-07-01T22:30Z"),
     ("01.01.2012 10:30", "01.07.2012 22:30"), ("Jan 1, 2012 10:30 AM", "July 1st, 2012 10:30 PM")),
    (("2012-02-25T10:30", "2012-08-25T10:30"), ("20120225 10:30", "25.08.2012 10:30 Uhr"),
     ("25-Feb-12 10:30", "25-Aug-12 10:30"), ("20120225T103000", "20120825T1030"),
     ("25/Feb/2012:10:30:00 +0000", "[25/Aug/2012:10:30:00 +0000]")),
    (("2024-05-25 10:30 CET", "2024-08-25 10:30 PDT"), ("2024-05-25T09:30Z", "2024-08-25T17:30Z"),
     ("Sat May 25 09:30:00 2024", "Sun Aug 25 10:30:00 PDT 2024"), ("2024:05:25 10:30:00+01", "Sun Aug 25 17:30:00 +0000 2024"),
     ("25MAY2024:09:30:00", "2024-Aug-25 17:30"), ("2024-05-25T11:30:00+02:00[Europe/Paris]", "25 Aug 2024 10:30:00 -0700 (PDT)"),
     ("Sat May 25 2024 11:30:00 GMT+0200 (Central European Summer Time)", "20240825T17:30:00Z")),
    (("2024-05", "2024-07-01"), ("05/2024", "2024M07"), ("May-2024", "Q3 2024"), ("2024-04-30 24:00:00", "2024-W27-1")),
    (([dt.date(2024, 5, 1)], ["x", dt.datetime(2024, 5, 2, 10, 30)]), (["2024-05-01", None], ["x", "2024-05-02 10:30:00"]),
     (np.array(["2024-05-01"], "M8[ms]"), np.array([None, "x", np.datetime64("2024-05-02T10:30")], object))),
    (([dt.timedelta(1), None], [dt.timedelta(2)]), (np.array([24, "NaT"], "m8[h]"), [172800]), ([86400, None], (172800.0,))),
    (("10:30", "22:15"), ("10:30 Uhr", "22:15h"), ("10:30 hrs", "22:15:00 Hrs."), (dt.time(10, 30), dt.time(22, 15)),
     ("10:30:00", "22:15:00"), ("10:30 am", "10:15 PM")),
    (("a99f214a", "12345678"), ("a99f214a", 12345678), (" a99f214a", "12345678 ")),
    (("23151-1234", "91521"), ("23151-1234", 91521), ("23151-1234", 91521.0)),
    (("02134", "91521"), ("02134", 91521)),
    ((["p", "q"], ["q"]), (("p", "q"), ("q",)), ({"q", "p"}, {"q"}), (np.array(["p", "q"]), ["q", None])),
    (({"x": {"y": "r"}}, {"x": {"y": "s"}}), ({"x.y": "r"}, {"x.y": "s"})),
]


@pytest.mark.parametrize("way", ["fit", "partial_fit"])
@pytest.mark.parametrize("case", SPELLINGS, ids=lambda case: str(case[0])[:30])
def test_spellings_of_a_value_are_the_same_value(case, way):
    """A value learnt in one spelling is known in all others, of a row alone and of a batch."""
    (one, other), *others = case

    def rows(pair):
        return [each if isinstance(each, dict) else {"c": each} for each in pair]

    learnt_from = rows((one, other)) * 20
    model = getattr(make_stream_pipeline(TableVectorizer(), AROWClassifier()), way)(learnt_from, ["a", "b"] * 20)
    expected = model.decision_function(rows((one, other)))
    assert expected[0] < 0.0 < expected[1]
    for pair in others:
        np.testing.assert_array_equal(model.decision_function(rows(pair)), expected, err_msg=str(pair))
        np.testing.assert_array_equal([model.decision_function([row])[0] for row in rows(pair)], expected, err_msg=str(pair))


def test_columns_tell_what_their_values_are():
    """Letters are booleans in a column of nothing else, days come first where one is above 12, and types may be named."""
    def kinds(values, way="fit", **options):
        return getattr(TableVectorizer(**options), way)([{"c": value} for value in values]).schema_["c"]

    assert kinds(["t", "f", None]) == ("boolean", "missing") and kinds(["f", "m"]) == ("category",)
    assert kinds(["t", "f"], "partial_fit") == ("category",)
    assert kinds(["maybe", "yes"], "partial_fit") == ("category",) and kinds(["1234-5678", 5]) == ("category", "number")
    assert TableVectorizer().fit([{"c": each} for each in ("2024-05-01", 5, 1714521600000)]).statistics_["c"][0] == 2
    assert kinds(["yes", "no", "maybe"]) == ("category",) and kinds(["1", "yes"]) == ("number", "category")
    assert kinds(["05/01/2024", "25/01/2024"]) == ("date",) == kinds(["05/01/2024"],
        dates={"c": "%m/%d/%Y"}) == kinds(["05/05/2024"])
    assert kinds(["37176e84", "12345678"], "partial_fit") == ("category",) and kinds(["1e5", "2e10"]) == ("number",)
    assert kinds(["12345678", "a99f214a", "1e5", 17]) == ("category",) == kinds(["NA", "BE"], categories=["c"])
    assert kinds(["2024-05-01-17"]) == ("category",) and kinds(["2024-05-01T17", "2024-05-01 17:00"]) == ("date",)
    assert kinds([3, 4.5, "7"], categories=["c"]) == ("category",) and kinds(["1,5", "12"], decimal=",") == ("number",)
    names = TableVectorizer(bits=0, categories=["c"]).fit([{"c": each} for each in ("7.0", 7, 7.0, "007", "true", True)])
    assert names.get_feature_names_out()[:4].tolist() == ["c=7", "c=007", "c=True", "slot_3"]
    first = TableVectorizer(bits=0).fit([{"d": "05/02/2024"}, {"d": "13/02/2024"}])
    assert first.statistics_["d.days"] == (2.0, 4.0, 4.0)
    assert kinds([20120101, 20120201], dates={"c": "%Y%m%d"}) == ("date",) == kinds(["2012Q3", "2013-Q1"])
    assert kinds(["11/06/2013 01:00 PM"], dates={"c": "%d/%m/%Y"}) == ("date",)
    assert kinds(["11/06/2013", "25/06/2013"], dates={"c": None}) == ("date",)
    for value in ("soon", 17, "2024-13-01", 2013, "11/06/2013"):
        with pytest.raises(ValueError,
            match=r"column 'c' must hold dates, as dates= says, got .* in row 1\. Take it out of dates"):
            TableVectorizer(dates={"c": None}).fit([{"c": "2024-05-01"}, {"c": value}])
    for value in ("01/25/2024", "2024-05-01 10:30", "05-01-2024", "1.5.2024", "May 1, 2024", "10:30"):
        with pytest.raises(ValueError, match=re.escape(f"must hold dates of the form '%d/%m/%Y', as dates= says, got {value!r}")):
            TableVectorizer(dates={"c": "%d/%m/%Y"}).fit([{"c": value}])


def test_the_page_lists_what_is_missing():
    page = Path(__file__).parents[2] / "docs" / "values.md"
    if not page.exists():
        pytest.skip("the pages are not here")
    row = next(line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("| missing |"))
    listed = row[row.index('`""`') : row.index("; in a column")]
    assert {text.strip('"') for text in re.findall("`([^`]*)`", listed)} == MISSING_TEXTS


def test_whole_numbers_are_ids_where_the_column_is_called_so():
    names = [f"{k % 7}" for k in range(120)]
    for column in ("user_id", "movieId", "zip", "Postal Code", "Customer ID"):
        for values in (names, [int(each) for each in names], [float(each) for each in names], np.array(names, int)):
            for way in ("fit", "partial_fit"):
                assert getattr(TableVectorizer(), way)({column: values}).schema_ == {column: ("category",)}
        rows = TableVectorizer(numbers=[column]).fit_transform({column: names})
        assert rows.shape[0] == 120 and np.isclose(rows.sum(), 0.0)
    with pytest.warns(UserWarning, match=r"column 'user_id' has a value of its own in each of 200 rows.*ignore=\['user_id'\]"):
        assert TableVectorizer().fit({"user_id": np.arange(200)}).schema_ == {"user_id": ("number",)}
    for column in ("id", "paid", "grid", "Identity", "width"):
        assert TableVectorizer().fit({column: np.arange(200)}).schema_ == {column: ("number",)}


@pytest.mark.filterwarnings("ignore:TableVectorizer")
@pytest.mark.parametrize("value", [
    "12,34", "1,23,45", "123,45,678", "12,34,567,89", "12,34,567,890",
    "1,234,56,789", "12,345,67", "12 34 567", "0,12,345", "5-", "-5.00-", "(5",
    "$(5", "($(5))", "$5e3", "5 USD EUR", "$5MM", "P", "PT", "P1Y", "P1D2", "1 days 25", "days", "2024-05-01 24:30", "2024-13",
    "13/2024", "2024Q5", "Mon 10:30", "Monday, 2024", "2024-W54", "25MAI2024", "10:30 XYZ", "[deleted]", "12A", "Yes, sir",
], ids=str)  # fmt: skip
def test_what_is_nearly_a_number_or_a_date_is_a_name(value):
    assert TableVectorizer().partial_fit([{"c": value}]).schema_ == {"c": ("category",)}


def test_periods_intervals_and_ids_of_other_types_are_what_files_have():
    """Frames and Arrow's tables have periods, and intervals also as categories, dicts UUIDs."""
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    periods, cuts = pandas.period_range("2024-01", periods=3, freq="M"), pandas.cut([1, 5, 9], 3)
    ids = [uuid.UUID(int=k) for k in range(3)]
    for values, texts in (
        (periods, ["2024-01", "2024-02", "2024-03"]), (cuts, list(map(str, cuts))), (list(cuts), list(map(str, cuts))),
        (ids, list(map(str, ids))), (pandas.array(list(cuts)), list(map(str, cuts))),
    ):
        frame = pandas.DataFrame({"c": values})
        expected = TableVectorizer(bits=0).fit_transform({"c": texts})
        arrow = [] if values is ids else [pyarrow.Table.from_pandas(frame)]
        for X in (frame, frame.to_dict("records"), {"c": frame["c"]}, *arrow):
            np.testing.assert_array_equal(TableVectorizer(bits=0).fit_transform(X), expected, err_msg=str(type(X)))


def test_dictionaries_of_arrow_with_nulls_and_of_other_types_are_read():
    pyarrow = pytest.importorskip("pyarrow")
    chunk = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0, 1, None]), pyarrow.array(["a", None]))
    other = pyarrow.DictionaryArray.from_arrays(pyarrow.array([1, 0]), pyarrow.array(["b", "a"]))
    column = pyarrow.chunked_array([chunk, other])
    expected = described(TableVectorizer().fit([{"c": each} for each in ("a", None, None, "a", "b")]))[0]
    for X in ({"c": column}, pyarrow.table({"c": column})):
        found = described(TableVectorizer().fit(X))[0]
        assert found["slots"] == expected["slots"]
    structs = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0, 1]), pyarrow.array([{"x": 1}, {"x": 2}]))
    assert TableVectorizer().fit(pyarrow.table({"c": structs})).schema_ == {"c.x": ("number",)}
    polars = pytest.importorskip("polars")
    if hasattr(polars, "Int128"):
        with pytest.raises(ValueError, match=r"^TableVectorizer: X must be a sound table of columns, got Series that "):
            TableVectorizer().fit({"c": polars.Series([1, 2], dtype=polars.Int128)})


def test_a_typed_column_is_read_as_its_values():
    """An integer column for one that held names and numbers, and the second piece of a file that pandas reads in pieces."""
    pandas = pytest.importorskip("pandas")
    rows = [{"c": each} for each in ("x", 3, "y", 4)] * 10
    model = TableVectorizer().fit(rows)
    np.testing.assert_array_equal(model.transform(pandas.DataFrame({"c": [3]})).toarray(), model.transform([{"c": 3}]).toarray())
    pieces = [pandas.DataFrame({"c": [5, 6]}), pandas.DataFrame({"c": ["x", "7"]}),
        pandas.DataFrame({"c": pandas.Categorical(["x"])})]
    typed, plain = TableVectorizer(), TableVectorizer()
    for piece in pieces:
        np.testing.assert_array_equal(
            typed.learn_transform(piece).toarray(),
            plain.learn_transform([{"c": value} for value in piece["c"].tolist()]).toarray())
    assert typed.schema_ == plain.schema_


def test_a_typed_category_of_yes_and_no_is_boolean():
    pandas = pytest.importorskip("pandas")
    for one, other in (("yes", "no"), ("True", "False")):
        table = pandas.DataFrame({"w": pandas.Categorical([one, other] * 20)})
        model = make_stream_pipeline(TableVectorizer(), AROWClassifier()).fit(table, ["a", "b"] * 20)
        for pair in ((True, False), (1, 0), ("Yes", "No"), ("true", "false")):
            assert [model.predict_one({"w": value}) for value in pair] == ["a", "b"]


def test_objects_and_masks_of_columns_are_their_values():
    """Arrow has the addresses of polars' objects alone, and numpy data under a mask: neither is a value."""
    polars = pytest.importorskip("polars")
    objects, masked = polars.Series("c", [{"q"}, {"p", "q"}], dtype=polars.Object), np.ma.array([3.0, 1e9], mask=[0, 1])
    expected = described(TableVectorizer().fit([{"c": {"q"}}, {"c": {"p", "q"}}]))[0]
    for X in (polars.DataFrame([objects]), {"c": objects}):
        assert described(TableVectorizer().fit(X))[0] == expected
    assert TableVectorizer().fit({"c": masked}).statistics_ == {"c": (1.0, 3.0, 0.0)}
    assert TableVectorizer().fit(masked[:, None]).schema_ == {"x0": ("number", "missing")}


def test_a_column_of_dicts_changes_no_other_column():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"d": [{"x": 1}, {"x": 2, "y": "r"}], "size": pandas.Categorical(["1", "2"])})
    assert TableVectorizer().fit(frame).schema_ == {"d.x": ("number",), "size": ("category",), "d.y": ("category",)}


@pytest.mark.parametrize(("form", "value", "day"), [
    (None, 1612010112345, "2021-01-30 12:35:12.345"), (None, 20240131, "2024-01-31"), ("%Y%m%d", 20240131, "2024-01-31"),
    ("%Y", 2024, "2024-01-01"),
])  # fmt: skip
def test_digits_are_dates_where_a_column_is_one_of_dates(form, value, day):
    """Texts, whole numbers and typed columns alike; 1612010112345 are milliseconds, and no day of 1612."""
    pandas = pytest.importorskip("pandas")
    expected = TableVectorizer(dates={"c": None}, bits=0).fit_transform([{"c": "2020-01-01"}, {"c": day}])[1:]
    first = dt.date(2020, 1, 1) if form is None else dt.date(2020, 1, 1).strftime(form)
    for X in ([{"c": str(value)}], [{"c": value}], [{"c": float(value)}], pandas.DataFrame({"c": [value]}), {"c": [value, None]}):
        model = TableVectorizer(dates={"c": form}, bits=0).fit([{"c": first}, {"c": value}])
        assert model.schema_ == {"c": ("date",)}
        np.testing.assert_array_equal(model.transform(X)[:1], expected)


@pytest.mark.parametrize("value", [17, 1700000000, 20241301, 2.5, True])
def test_numbers_that_are_no_dates_are_refused_in_a_column_of_dates(value):
    pandas = pytest.importorskip("pandas")
    for X in ([{"c": value}], [{"c": value}] * 2, {"c": np.array([value])}, pandas.DataFrame({"c": [value]})):
        with pytest.raises(ValueError, match=r"column 'c' must hold dates, as dates= says, got .* in row 0"):
            TableVectorizer(dates={"c": None}).partial_fit(X)
    with pytest.raises(ValueError, match="must hold dates of the form '%d%m%Y', as dates= says, got 1012024"):
        TableVectorizer(dates={"c": "%d%m%Y"}).fit([{"c": 1012024}])  # (whose first 0 is lost: January 1 or 10)


def test_a_dict_that_is_missing_has_the_columns_that_all_have_had():
    """{"u": None} is a row of a table of {"u": {"a": 1}}, and no reason to refuse it; {"u": 5} and {"v": None} are none."""
    pyarrow = pytest.importorskip("pyarrow")
    rows = [{"u": {"a": k % 3, "b": {"c": "xy"[k % 2], "d": 1}}, "n": k} for k in range(20)]
    for learnt_from in (rows, [*rows, {"u": None, "n": 1}], [*rows[:3], {"u": {"a": 1, "b": None}, "n": 1}]):
        model, one = TableVectorizer().partial_fit(learnt_from), TableVectorizer()
        for row in learnt_from:
            one.partial_fit([row])
        assert described(one)[0] == described(model)[0] and set(described(model)[0]["expected"]) == {"n", "u.a", "u.b.c", "u.b.d"}
        for row in ({"u": None, "n": 3}, {"u": {"a": 1, "b": None}, "n": 3}):
            expected = model.transform([row, *rows]).toarray()
            np.testing.assert_array_equal(expected[:1], model.transform([row]).toarray())
            np.testing.assert_array_equal(expected[:1], model.transform(pyarrow.Table.from_pylist([row, *rows]))[:1].toarray())
        for row in [{"v": None, "n": 3}] + [{"u": 5, "n": 3}] * (learnt_from is rows):
            for X in ([row], [row, *rows]):
                with pytest.raises(ValueError, match=r"got row 0 without 'u\.a', 'u\.b\.c', 'u\.b\.d'"):
                    model.transform(X)


def test_columns_of_a_dict_are_new_where_it_stands():
    """A row alone gives slots in the order of a batch, also where the dict's own name is known, but not its columns."""
    rows = [{"q": 1, "u": None}, {"p": 2, "q": 3, "u": {"x": {"y": 4}, "z": 5}}]
    one, batch = TableVectorizer().partial_fit(rows[:1]).partial_fit(rows[1:]), TableVectorizer().partial_fit(rows)
    assert list(one.schema_) == list(batch.schema_) == ["q", "u", "p", "u.x.y", "u.z"]
    assert described(one)[0] == described(batch)[0]


def test_a_struct_that_is_missing_is_a_dict_that_is_missing():
    pyarrow = pytest.importorskip("pyarrow")
    rows = [{"u": {"a": 1, "b": {"c": "x"}}, "n": 1}, {"u": None, "n": 2}, {"u": {"a": 2, "b": None}, "n": 3}]
    table, expected = pyarrow.Table.from_pylist(rows), described(TableVectorizer().fit(rows))[0]
    for X in (table, pyarrow.concat_tables([table[:1], table[1:]]), pyarrow.array(rows)):
        assert described(TableVectorizer().fit(X))[0] == expected


def test_rows_of_another_table_are_refused():
    """Renamed columns, arrays without names, empty rows; a row that lacks few is told once; dicts of words may lack any."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"fare": [1.0, 2.0, 3.0] * 9, "age": [1, 2, 3] * 9, "sex": ["f", "m", "m"] * 9})
    model = TableVectorizer().fit(frame)
    renamed = frame.rename(columns=str.title)
    for X in (renamed, frame.to_numpy(), [{}], [{"fare": 1.0}], renamed.iloc[:1].to_dict("records"), frame[["sex"]], [{}, {}]):
        with pytest.raises(ValueError,
            match=r"^TableVectorizer: rows must have the columns that all have had so far, got row 0 without "):
            model.transform(X)
        assert TableVectorizer(unknown="ignore").fit(frame).transform(X).shape[0] == len(X)
    for X in (frame.drop(columns="sex"), [{"fare": 1.0, "age": 2, "Sex": "f"}]):
        model = TableVectorizer().fit(frame)
        with pytest.warns(UserWarning, match=r"got row 0 without 'sex'.* They count as missing from the row"):
            model.transform(X)
        model.transform(X)
    words = TableVectorizer().fit([{word: 1 for word in text.split()} for text in ("a b", "b c d", "e f g", "h a")])
    assert words.transform([{"z": 1}]).nnz == words.transform([{}]).nnz == 0
    grown = TableVectorizer().partial_fit(frame)
    grown.partial_fit(frame.drop(columns="sex")).transform([{"fare": 1.0, "age": 2}])


def test_a_row_of_a_frame_is_a_row():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1.5, 2.5] * 5, "c": ["x", "y"] * 5})
    model = make_stream_pipeline(TableVectorizer(), AROWClassifier()).partial_fit(frame, [0, 1] * 5)
    row, expected = frame.iloc[0], model.predict(frame.iloc[:1]).tolist()
    assert model.predict(row).tolist() == expected and model.predict_one(row) == expected[0]
    assert model.predict([row, row]).tolist() == expected * 2 == model.predict(list(frame.iloc[[0,
        0]].itertuples(index=False))).tolist()
    assert model.learn_one(row, 0)[-1].t_ == 11
    with pytest.raises(TypeError,
        match=r"got a Series of float64 values, a column. Give a frame with that column \(X.to_frame\(\)\)"):
        model.predict(frame["a"])
    polars = pytest.importorskip("polars")
    with pytest.raises(TypeError, match=r"got LazyFrame of polars. Its rows are not in memory yet: give X.collect\(\)"):
        model.predict(polars.from_pandas(frame).lazy())


def test_nested_dicts_have_dotted_names():
    pa = pytest.importorskip("pyarrow")
    rows = [{"a": {"b": k, "c": {"d": "xyz"[k % 3]}}, "e": k % 2} for k in range(9)]
    flat = [{"a.b": row["a"]["b"], "a.c.d": row["a"]["c"]["d"], "e": row["e"]} for row in rows]
    one = TableVectorizer().fit(flat)
    for X in (rows, pa.Table.from_pylist(rows), {name: [row[name] for row in rows] for name in rows[0]}):
        assert described(TableVectorizer().fit(X))[0] == described(one)[0]
    with pytest.raises(ValueError, match=r"names of columns must be different, got two columns 'a\.b'"):
        TableVectorizer().fit([{"a.b": 1, "a": {"b": 2}}])


def test_names_without_end_take_memory_with_one():
    """Columns are noted up to an end; later ones are read by what their values are, in the order of their names."""
    model = TableVectorizer(bits=4, slots=2)
    for start in range(0, 6000, 60):
        model.learn_transform([{f"k{start + k}": 1.0 + k for k in range(60)}])
    assert len(model.schema_) == 4096
    rows = [{"z9": 0.1, "k1": 0.7, "z1": 1e-9, "new": "x"}, {"z1": 0.3, "z9": 1e8, "k1": 2.0}, {"b": 1, "a": 0.3}]
    one, other = model, TableVectorizer(bits=4, slots=2).merge(model)
    whole = one.learn_transform(rows).toarray()
    np.testing.assert_array_equal(whole, np.vstack([other.learn_transform([row]).toarray() for row in rows]))


def test_the_first_rows_choose_the_width():
    """bits="auto": slots alone where they hold twice what the first thousand rows need, of fit and of the first call."""
    narrow = [{"a": float(k), "c": "xyz"[k % 3]} for k in range(1500)]
    wide, texts = [{"c": f"v{k}"} for k in range(300)], [{"text": "a b", "n": 1.0}] * 5
    for first, bits in ((narrow[:1], 18), (narrow[:100], 0), (wide[:100], 18), (wide[:1] * 100, 0)):
        assert TableVectorizer("auto").partial_fit(first).n_features_out_ == (256 + 2**bits if bits else 32)
    for way in ("fit", "partial_fit"):
        made = [getattr(TableVectorizer("auto"), way)(rows) for rows in (narrow, wide, texts)]
        assert [each.n_features_out_ for each in made] == [32, 256 + 2**18, 256 + 2**18]
    rows = TableVectorizer("auto").fit_transform(narrow)
    np.testing.assert_array_equal(rows, TableVectorizer(0, slots=32).fit_transform(narrow))
    pipeline = make_stream_pipeline(TableVectorizer("auto"), AROWClassifier()).partial_fit(narrow, ["a", "b"] * 750)
    again = pipeline.partial_fit(narrow[:10], ["a", "b"] * 5).predict(narrow)
    np.testing.assert_array_equal(again, pipeline.predict(narrow))
    assert pipeline[0].fit(wide).n_features_out_ == 256 + 2**18
    assert TableVectorizer("auto", slots=8).fit(narrow).n_features_out_ == 8
    with pytest.raises(ValueError, match=r"must have vectorizers of the same slots and bits, got \(256, 18\) beside \(32, 0\)"):
        TableVectorizer("auto").fit(narrow).merge(TableVectorizer("auto").fit(wide))


def test_a_model_of_any_width_is_saved(tmp_path):
    rows = [{"a": float(k), "c": "xyz"[k % 3]} for k in range(50)]
    pipeline = make_stream_pipeline(TableVectorizer("auto", dates={"d": "%d/%m/%Y"}), AROWClassifier())
    pipeline.partial_fit(rows, ["a", "b"] * 25).save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert repr(again) == repr(pipeline) and described(again[0])[0] == described(pipeline[0])[0]
    np.testing.assert_array_equal(again.decision_function(rows), pipeline.decision_function(rows))


def test_names_behind_words_that_were_booleans_are_told():
    """Norway comes before Sweden: `fit` sees both, and a stream tells at the first name; countries behind names are names."""
    words = r"column 'c' must have names, got 'S' in row \d, which comes behind yes, no, y, n, on or off, read as booleans: .*"
    rows = [{"c": each} for each in ("N", "NO", "S", "E", "N")]
    for sizes in ([5], [2, 3], [1] * 5):
        vectorizer, start = TableVectorizer(), 0
        with pytest.warns(UserWarning, match=words + r"categories=\['c'\] as a name\.") as told:
            for size in sizes:
                vectorizer.partial_fit(rows[start : start + size])
                start += size
        assert len(told) == 1 and vectorizer.schema_ == {"c": ("boolean", "category")}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert TableVectorizer().fit(rows).schema_ == TableVectorizer().partial_fit(rows[2:]).schema_ == {"c": ("category",)}
        assert TableVectorizer(categories=["c"]).partial_fit(rows).schema_ == {"c": ("category",)}


def test_most_different_names_make_all_names():
    """`fit` reads 1941 and 10:10 among films as titles; a number of few names is one, and so is each in a stream."""
    films, odd = [f"Film {'abcdefghijklmnopqrst'[k]}" for k in range(20)], ["1941", "10:10"]
    for values in (films + odd, odd + films * 3, [*films, 1941, "10:10"], [*films, 1941.0, None, dt.time(10, 10)]):
        names = TableVectorizer().fit({"c": values})
        assert set(names.schema_["c"]) - {"missing"} == {"category"} and names.partial_fit([{"c": 300}, {"c": True}])
        assert {"c=1941", "c=300", "c=True"} < {*names.get_feature_names_out()}
    for values in (films[:19] + odd, odd + ["below", "above"] * 300, odd + films[:10] * 40):
        assert set(TableVectorizer().fit({"c": values}).schema_["c"]) == {"category", "number", "date"}
    assert set(TableVectorizer().partial_fit({"c": films + odd}).schema_["c"]) == {"category", "number", "date"}


@pytest.mark.parametrize(("before", "value", "kind", "had"), [
    ([1.5, 2], "x", "category", "number"), (["a", "b"], 7, "number", "category"), ([True, False], "maybe", "category", "boolean"),
    (["2024-05-01"], "soon", "category", "date"), ([dt.date(2024, 5, 1)], 7, "number", "date"), ([1.5], [1.5], "list", "number"),
    (["N/A"], 5, "number", "missing"),
], ids=str)  # fmt: skip
def test_a_value_of_a_new_kind_is_told_once(before, value, kind, had):
    """Predicted rows are looked at, and learnt ones behind the first thousand; a typed column is read as its values are."""
    pandas = pytest.importorskip("pandas")
    rows = [{"c": each} for each in before] * 20
    words = rf"^TableVectorizer: column 'c' has had values of kind {had} alone, got .* of kind {kind} in row 0, of which nothing"
    for X in ([{"c": value}], [{"c": value}] * 2, {"c": [value]}, pandas.DataFrame({"c": [value]})):
        model = TableVectorizer().fit(rows)
        with pytest.warns(UserWarning, match=words):
            model.transform(X)
        model.transform(X)
        TableVectorizer().fit(rows).partial_fit(X)
    old = TableVectorizer().fit(rows * (1000 // len(rows) + 1))
    with pytest.warns(UserWarning, match=words):
        old.partial_fit([{"c": value}])
    assert kind in old.partial_fit([{"c": value}]).schema_["c"]


@pytest.mark.parametrize("n", [999, 1000, 1001, 1200])
def test_a_kind_behind_the_first_thousand_rows_of_one_call_is_told(n):
    rows = [*({"x": float(k)} for k in range(n)), {"x": "late"}, {"x": "later"}]
    for learn in (TableVectorizer().partial_fit, TableVectorizer().fit):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            learn(rows, sample_weight=[0.0, *[1.0] * (n + 1)])  # (a row of weight 0 is not learnt)
        late = [f"of kind number alone, got 'late' of kind category in row {n}," in str(each.message) for each in told]
        assert late == [True] * (n > 1000), list(map(str, told))


def test_a_late_kind_is_told_in_any_split():
    rows = [{"c": 1.5}] * 1000 + [{"c": 2.5}, {"c": "bad"}]
    for sizes in ([1002], [600, 402], [1000, 2], [1001, 1]):
        vectorizer, start = TableVectorizer(), 0
        with pytest.warns(UserWarning, match="column 'c' has had values of kind number alone, got 'bad' of kind category in row"):
            for size in sizes:
                vectorizer.partial_fit(rows[start : start + size])
                start += size
    with pytest.warns(UserWarning, match="got 'bad' of kind category in row 1001"):
        TableVectorizer().fit(rows)
    TableVectorizer().fit(rows[2:])
