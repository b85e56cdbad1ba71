"""Code as users write it: it runs, and neither mypy --strict nor pyright finds fault with it or other types (make lint)."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import onlinecls as oc
from onlinecls.datasets import load_sms_spam
from onlinecls.evaluation import ProgressiveResult
from onlinecls.measures import Measures
from onlinecls.streams import Batch, Stream, options_of, read
from onlinecls.tables import TableVectorizer
from onlinecls.text import HashingVectorizer

X = np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 1.0], [0.0, 3.0]])
LABELS, NUMBERS = ["ham", "spam", "ham", "spam"], [1.0, -1.0, 2.0, 0.5]


def test_a_classifier_learns_predicts_and_is_saved(tmp_path: Path) -> None:
    learner = oc.AROWClassifier(probability=True, covariance="full")
    named = learner.partial_fit(X.tolist(), LABELS, classes=["ham", "spam"], sample_weight=[1, 1, 2, 1])
    assert_type(named, oc.AROWClassifier)
    assert_type(learner.decision_function(X), NDArray[np.float64])
    best: str = assert_type(learner.predict(X[:1]), NDArray[Any])[0]
    assert best == "ham" and learner.predict_proba(X).max() <= 1.0 and assert_type(learner.score(X, LABELS), float) <= 1.0
    assert_type(learner.decision_function(X, return_std=True), tuple[NDArray[np.float64], NDArray[np.float64]])
    assert_type(learner.covariance_, NDArray[np.floating])
    assert assert_type(learner.set_params(r=2.0), oc.AROWClassifier).r == 2.0 and assert_type(learner.r, float)
    learner.save(tmp_path / "model", {"rows": assert_type(learner.t_, int)})
    again, metadata = assert_type(oc.load(tmp_path / "model", return_metadata=True), tuple[Any, dict[str, Any]])
    typed: oc.AROWClassifier = oc.load(tmp_path / "model")
    assert metadata["rows"] == 4 and oc.merge([typed, again]).t_ == 8


def test_other_learners_learn() -> None:
    both = oc.AROWRegressor().fit(X, NUMBERS).predict(X, return_std=True)
    assert_type(both, tuple[NDArray[np.float64], NDArray[np.float64]])
    assert_type(oc.PassiveAggressiveOneClass(epsilon=2.0).fit(X).predict(X), NDArray[np.int64])
    assert oc.CommitteeClassifier(random_state=0).fit(X, LABELS).score(X, LABELS) >= 0.5
    oc.KernelOnlineClassifier(kernel=lambda A, B: A @ B.T, budget=3).fit(X, LABELS)
    oc.OnlineToBatch(oc.PassiveAggressiveClassifier(C=0.1), method="average").fit(X, LABELS)
    initial = oc.PassiveAggressiveClassifier(C=float("inf")).fit(X, LABELS, coef_init=[[0.0, 0.0]])
    assert_type(initial, oc.PassiveAggressiveClassifier)
    course = assert_type(oc.bounds.follow(oc.Perceptron(fit_intercept=False), X, [1, -1, 1, -1]), oc.bounds.Course)
    assert_type(oc.bounds.perceptron(course, [1.0, 0.0]), oc.bounds.Bound)


def test_rows_of_texts_are_learnt() -> None:
    texts, _ = load_sms_spam(return_text=True)
    assert HashingVectorizer(n_features=2**10, ngram_range=(1, 2)).transform(texts[:100]).shape[0] == 100 and texts[0].split()
    features, labels = load_sms_spam(n_features=2**10)
    assert oc.AROWClassifier().fit(features, labels).score(features, labels) > 0.9


def test_a_file_is_learnt_in_batches(tmp_path: Path) -> None:
    path = tmp_path / "mail.tsv"
    path.write_text("spam\tcheap pills\nham\tlunch at noon\n" * 20)
    learner = oc.AROWClassifier()
    with assert_type(read(path, vectorizer=HashingVectorizer(n_features=64), labels="auto"), Stream) as stream:
        for batch in stream:
            rows, y, weight = assert_type(batch, Batch)
            assert_type(batch.weight, np.ndarray | None)
            learner.partial_fit(rows, y, sample_weight=weight)
            assert rows.shape[0] == len(y)
        learner.save(tmp_path / "model", metadata=stream.metadata)
    again, metadata = oc.load(tmp_path / "model", return_metadata=True)
    assert [again.predict(batch.X).tolist() for batch in read(path, **options_of(metadata))] == [["spam", "ham"] * 20]


def test_frames_and_dicts_are_learnt_as_they_are(tmp_path: Path) -> None:
    pipeline = oc.make_stream_pipeline(TableVectorizer(), oc.AROWClassifier())
    pipeline.partial_fit([{"price": 9.5, "colour": "red"}, {"price": 80.0, "colour": None}], ["yes", "no"])
    pipeline.learn_one({"price": 11.0, "colour": "blue"}, "yes")
    pipeline.save(tmp_path / "model")
    again: oc.StreamPipeline = oc.load(tmp_path / "model")
    assert again.predict_one({"price": 10.0, "colour": "red"}) == pipeline.predict([{"price": 10.0, "colour": "red"}])[0]


def test_learners_are_evaluated_on_a_stream() -> None:
    measures = Measures(["ham", "spam"])
    result: ProgressiveResult = oc.progressive_validation(
        oc.AROWClassifier(), (X, LABELS), classes=["ham", "spam"], measures=measures)
    found = oc.compare({"arow": oc.AROWClassifier(), "perceptron": oc.Perceptron()}, [(X, LABELS)] * 3)
    assert 0.0 <= result.progressive_error <= 1.0 and found.errors[found.best] <= 1.0 and measures.examples == 4
    sums = Measures(numbers=True)
    errors = oc.progressive_validation(oc.AROWRegressor(), [(X, NUMBERS), (X, NUMBERS, np.ones(4))], measures=sums)
    assert errors.mse[-1] >= 0.0 and oc.parallel.fit(oc.AROWClassifier(), [(X, LABELS), (X, LABELS)], n_jobs=1).t_ == 8


def test_checkers_find_the_names_that_there_are() -> None:
    """Names come lazily, so __init__ declares them a second time, for checkers."""
    tree = ast.parse(Path(oc.__file__).read_text())
    blocks = [each.body for each in tree.body if isinstance(each, ast.If)]
    imports = [node for body in blocks for node in body if isinstance(node, ast.ImportFrom) and node.level]
    found = {alias.asname or alias.name for node in imports for alias in node.names}
    assert found == {*import_module("onlinecls").__all__, *oc._SUBMODULES}
