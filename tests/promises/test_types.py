"""What type checkers make of the public classes and functions: mypy checks this file (make lint), pytest runs it."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import onlinecls
from onlinecls import (
    AROWClassifier,
    AROWRegressor,
    KernelOnlineRegressor,
    OnlineToBatch,
    PassiveAggressiveClassifier,
    PassiveAggressiveOneClass,
    PassiveAggressiveRegressor,
    Perceptron,
    bounds,
    progressive_validation,
)
from onlinecls.evaluation import ProgressiveResult
from onlinecls.streams import Batch, Stream, read
from onlinecls.text import HashingVectorizer

X = np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 1.0]])
LABELS, NUMBERS = ["ham", "spam", "ham"], [1.0, -1.0, 2.0]


def test_types_of_classifiers_are_inferred() -> None:
    learner = assert_type(AROWClassifier(r=1.0, covariance="full").fit(X, LABELS), AROWClassifier)
    assert_type(learner.partial_fit(X.tolist(), LABELS, classes=["ham", "spam"], sample_weight=[1, 2, 1]), AROWClassifier)
    assert_type(learner.set_params(r=2.0), AROWClassifier)
    assert_type(learner.predict(X), NDArray[Any])
    assert_type(learner.decision_function(X), NDArray[np.float64])
    scores, std = assert_type(learner.decision_function(X, return_std=True), tuple[NDArray[np.float64], NDArray[np.float64]])
    assert scores.shape == std.shape == (3,)
    assert_type(learner.score(X, LABELS), float)
    assert_type(learner.covariance_, NDArray[np.floating])
    assert_type(learner.t_, int)
    assert_type(PassiveAggressiveClassifier(C=float("inf")).fit(X, LABELS, coef_init=[[0.0, 0.0]]), PassiveAggressiveClassifier)
    assert assert_type(learner.r, float) == 2.0


def test_types_of_regressors_and_one_class_learners_are_inferred() -> None:
    regressor = PassiveAggressiveRegressor(loss="squared_epsilon_insensitive")
    assert_type(regressor.fit(X, NUMBERS), PassiveAggressiveRegressor)
    assert_type(regressor.predict(X), NDArray[np.float64])
    assert_type(AROWRegressor().fit(X, NUMBERS).predict(X, return_std=True), tuple[NDArray[np.float64], NDArray[np.float64]])
    assert_type(KernelOnlineRegressor(kernel=lambda A, B: A @ B.T).fit(X, NUMBERS).score(X, NUMBERS), float)
    assert_type(PassiveAggressiveOneClass().fit(X).predict(X), NDArray[np.int64])
    assert_type(OnlineToBatch(Perceptron(), method="validation").fit(X, LABELS).score(X, LABELS), float)


def test_types_of_functions_are_inferred(tmp_path: Path) -> None:
    path = tmp_path / "model"
    Perceptron().fit(X, LABELS).save(path, metadata={"bits": 1})
    learner: Perceptron = onlinecls.load(path)
    assert_type(learner.predict(X), NDArray[Any])
    _, metadata = assert_type(onlinecls.load(path, return_metadata=True), tuple[Any, dict[str, Any]])
    assert metadata == {"bits": 1}
    assert_type(progressive_validation(Perceptron(), (X, LABELS)), ProgressiveResult)
    course = assert_type(bounds.follow(Perceptron(fit_intercept=False), X, [1, -1, 1]), bounds.Course)
    assert_type(bounds.perceptron(course, [1.0, 0.0]), bounds.Bound)


def test_types_of_streams_are_inferred(tmp_path: Path) -> None:
    path = tmp_path / "rows.tsv"
    path.write_text("spam\tcheap pills\nham\tlunch at noon\n")
    with assert_type(read(path, vectorizer=HashingVectorizer(n_features=64), labels="auto"), Stream) as stream:
        batch = assert_type(next(stream), Batch)
    assert_type(batch.weight, np.ndarray | None)
    assert_type(stream.n_rows, int)


def test_checkers_find_the_names_that_there_are() -> None:
    """Names come lazily, so __init__ declares them a second time, for checkers."""
    tree = ast.parse(Path(onlinecls.__file__).read_text())
    blocks = [each.body for each in tree.body if isinstance(each, ast.If)]
    imports = [node for body in blocks for node in body if isinstance(node, ast.ImportFrom) and node.level]
    found = {alias.asname or alias.name for node in imports for alias in node.names}
    assert found == {*import_module("onlinecls").__all__, *onlinecls._SUBMODULES}
    for name in onlinecls._SUBMODULES:
        module = import_module(f"onlinecls.{name}")
        assert dir(module) == sorted(module.__all__), f"{name}: dir() is the public interface"
        own = {each for each, what in vars(module).items() if getattr(what, "__module__", "") == module.__name__}
        assert {each for each in own if each[0] != "_"} <= set(module.__all__), f"{name}: neither private nor public"
