"""Code as users write it: it runs, and neither mypy --strict nor pyright finds fault with it (make lint, make types)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from onlinecls import (
    AROWClassifier,
    AROWRegressor,
    CommitteeClassifier,
    KernelOnlineClassifier,
    OnlineToBatch,
    PassiveAggressiveClassifier,
    PassiveAggressiveOneClass,
    PassiveAggressiveRegressor,
    Perceptron,
    StreamPipeline,
    compare,
    load,
    make_stream_pipeline,
    merge,
    parallel,
    progressive_validation,
)
from onlinecls.datasets import load_sms_spam
from onlinecls.measures import ClassificationMeasures, RegressionMeasures
from onlinecls.streams import options_of, read
from onlinecls.tables import TableVectorizer
from onlinecls.text import HashingVectorizer

X = np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 1.0], [0.0, 3.0]])
LABELS, NUMBERS = ["ham", "spam", "ham", "spam"], [1.0, -1.0, 2.0, 0.5]


def test_a_classifier_learns_predicts_and_is_saved(tmp_path: Path) -> None:
    learner = AROWClassifier(probability=True).partial_fit(X, LABELS, classes=["ham", "spam"], sample_weight=[1, 1, 2, 1])
    scores = learner.decision_function(X)
    best: str = learner.predict(X[:1])[0]
    assert best == "ham" and scores.shape == (4,) and learner.predict_proba(X).max() <= 1.0
    learner.save(tmp_path / "model", {"rows": learner.t_})
    again, metadata = load(tmp_path / "model", return_metadata=True)
    typed: AROWClassifier = load(tmp_path / "model")
    assert metadata["rows"] == 4 and (again.predict_proba(X) == typed.predict_proba(X)).all()
    assert merge([typed, again]).t_ == 8


def test_other_learners_learn() -> None:
    committee = CommitteeClassifier(random_state=0).fit(X, LABELS)
    mean, deviation = AROWRegressor().fit(X, NUMBERS).predict(X, return_std=True)
    inside = PassiveAggressiveOneClass(epsilon=2.0).fit(X).predict(X)
    assert committee.score(X, LABELS) >= 0.5 and mean.shape == deviation.shape == inside.shape
    scores, std = AROWClassifier().fit(X, LABELS).decision_function(X, return_std=True)
    kernel = KernelOnlineClassifier(kernel="rbf", budget=3).fit(X, LABELS)
    averaged = OnlineToBatch(PassiveAggressiveClassifier(C=0.1), method="average").fit(X, LABELS)
    assert scores.shape == std.shape and kernel.predict(X).shape == averaged.predict(X).shape
    assert PassiveAggressiveRegressor(C=1.0).partial_fit(X, NUMBERS).score(X, NUMBERS) <= 1.0


def test_rows_of_texts_are_learnt() -> None:
    texts, _ = load_sms_spam(return_text=True)
    rows = HashingVectorizer(n_features=2**10, ngram_range=(1, 2)).transform(texts[:100])
    assert rows.shape[0] == 100 and texts[0].split()
    features, labels = load_sms_spam(n_features=2**10)
    assert AROWClassifier().fit(features, labels).score(features, labels) > 0.9 and features.shape[1] == 2**10


def test_a_file_is_learnt_in_batches(tmp_path: Path) -> None:
    path = tmp_path / "mail.tsv"
    path.write_text("spam\tcheap pills\nham\tlunch at noon\n" * 20)
    learner = AROWClassifier()
    with read(path, vectorizer=HashingVectorizer(n_features=64), labels="auto") as stream:
        for rows, y, weight in stream:
            learner.partial_fit(rows, y, sample_weight=weight)
            assert rows.shape[0] == len(y)
        learner.save(tmp_path / "model", metadata=stream.metadata)
    assert learner.n_mistakes_ < learner.t_
    again, metadata = load(tmp_path / "model", return_metadata=True)
    predicted: list[str] = []
    for batch in read(path, **options_of(metadata)):
        predicted += again.predict(batch.X).tolist()
    assert predicted == ["spam", "ham"] * 20


def test_frames_and_dicts_are_learnt_as_they_are(tmp_path: Path) -> None:
    pipeline = make_stream_pipeline(TableVectorizer(), AROWClassifier())
    pipeline.partial_fit([{"price": 9.5, "colour": "red"}, {"price": 80.0, "colour": None}], ["yes", "no"])
    pipeline.learn_one({"price": 11.0, "colour": "blue"}, "yes")
    pipeline.save(tmp_path / "model")
    again: StreamPipeline = load(tmp_path / "model")
    assert again.predict_one({"price": 10.0, "colour": "red"}) == pipeline.predict([{"price": 10.0, "colour": "red"}])[0]


def test_learners_are_evaluated_on_a_stream() -> None:
    measures = ClassificationMeasures(["ham", "spam"])
    result = progressive_validation(
        AROWClassifier(), (X, LABELS), classes=["ham", "spam"], measures=measures, on_batch=lambda point: None)
    found = compare({"arow": AROWClassifier(), "perceptron": Perceptron()}, [(X, LABELS)] * 3)
    assert 0.0 <= result.progressive_error <= 1.0 and found.errors[found.best] <= 1.0 and measures.examples == 4
    errors = progressive_validation(AROWRegressor(), [(X, NUMBERS), (X, NUMBERS, np.ones(4))], measures=RegressionMeasures())
    assert errors.mse[-1] >= 0.0


def test_files_and_tables_are_evaluated_as_they_are(tmp_path: Path) -> None:
    path, vectorizer = tmp_path / "mail.tsv", HashingVectorizer(n_features=64)
    path.write_text("spam\tcheap pills\nham\tlunch at noon\n" * 20)
    result = progressive_validation(Perceptron(), read(path, vectorizer=vectorizer))
    found = compare({"arow": AROWClassifier(), "perceptron": Perceptron()}, read(path, vectorizer=vectorizer))
    table = [{"price": 9.5, "colour": "red"}, {"price": 80.0, "colour": None}] * 10
    of_table = progressive_validation(make_stream_pipeline(TableVectorizer(), Perceptron()), (table, ["yes", "no"] * 10))
    assert max(result.progressive_error, found.errors["arow"], of_table.progressive_error) < 0.5


def test_parts_are_learnt_side_by_side() -> None:
    assert parallel.fit(AROWClassifier(), [(X, LABELS), (X, LABELS)], n_jobs=1).merge(AROWClassifier().fit(X, LABELS)).t_ > 8
