"""Explanations of single predictions, and the learner's attributes on the pipeline."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler

from onlinecls import AROWClassifier, AROWRegressor, KernelOnlineClassifier, PassiveAggressiveClassifier, make_stream_pipeline
from onlinecls.tables import TableVectorizer
from onlinecls.text import HashingVectorizer

RNG = np.random.default_rng(90)
TABLE = [
    {"price": 5000 + 900 * a, "name": f"n{int(2 * b)}", "note": "cheap pills, cheap" if a > 0 else "lunch at noon"}
    for a, b in RNG.normal(size=(90, 2)).tolist()
]
TEXTS = [row["note"] + " " + row["name"] for row in TABLE]
TABLE = [{**row, "note": row["note"].replace(",", "").split()} for row in TABLE]
ROWS = RNG.normal(size=(90, 4)) + 30.0
TWO = np.array(["no" if row["price"] < 5100 else "yes" for row in TABLE])
THREE = np.where(np.arange(90) % 4 == 1, "maybe", TWO)
NUMBERS = 100.0 + np.arange(90) % 7

PIPELINES = {
    "a table": (lambda: [TableVectorizer(), AROWClassifier()], TABLE),
    "a table without hashing": (lambda: [TableVectorizer(bits=0, ignore=["note"]), PassiveAggressiveClassifier()], TABLE),
    "a table behind a scaler": (lambda: [TableVectorizer(bits=0, ignore=["note"]), StandardScaler(), AROWClassifier()], TABLE),
    "a full covariance": (lambda: [TableVectorizer(bits=0, ignore=["note"]), AROWClassifier(covariance="full")], TABLE),
    "few slots": (lambda: [TableVectorizer(4, max_values=1, ignore=["note"]), AROWClassifier()], TABLE),
    "texts": (lambda: [HashingVectorizer(), AROWClassifier()], TEXTS),
    "no step": (lambda: [AROWClassifier()], ROWS),
    "another library's": (lambda: [TableVectorizer(ignore=["note"]), SGDClassifier(random_state=0)], TABLE),
    "numbers": (lambda: [TableVectorizer(), AROWRegressor()], TABLE),
}


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two classes", "three"])
@pytest.mark.parametrize("kind", PIPELINES)
def test_contributions_add_up_to_the_score_of_the_prediction(kind, y):
    make, rows = PIPELINES[kind]
    steps = make()
    pipeline = make_stream_pipeline(*steps).partial_fit(rows, NUMBERS if kind == "numbers" else y, **(
        {"classes": ["maybe", "no", "yes"]} if kind == "another library's" else {}))
    for row in list(rows)[:20]:
        found = pipeline.explain(row, top=None)
        assert found.prediction == pipeline.predict_one(row)
        if kind == "numbers":
            scores = {found.prediction: found.prediction}
        else:
            scores = pipeline.decision_function([row])[0]
            scores = [-scores, scores] if np.ndim(scores) == 0 else scores
            scores = dict(zip(pipeline.classes_, scores, strict=True))
        assert found.score == pytest.approx(scores[found.prediction], rel=1e-12, abs=1e-12)
        assert sum(each.contribution for each in found.features) == pytest.approx(found.score, rel=1e-12, abs=1e-12)
        assert all(each.contribution == pytest.approx(each.weight * each.value) for each in found.features)
        assert found.features[:2] == pipeline.explain(row, top=2).features


def explained(pipeline, row):
    return {each.name: each for each in pipeline.explain(row, top=None).features}


def test_features_have_the_names_and_units_of_a_table():
    pipeline = make_stream_pipeline(TableVectorizer(), AROWClassifier()).partial_fit(TABLE, TWO)
    found, row = explained(pipeline, TABLE[0]), TABLE[0]
    words = {f"note={word}" for word in row["note"]}
    assert found.keys() - {"(intercept)"} == {"price", f"name={row['name']}", *words}
    mean, std = pipeline[0].statistics_["price"][1:]
    assert found["price"].value == pytest.approx(row["price"] - mean)
    assert abs(found["price"].weight) == pytest.approx(abs(pipeline.coef_[0, 0]) / std)
    without = explained(pipeline, {"price": mean + 10, "name": None, "note": []})
    assert without.keys() == found.keys() - words - {f"name={row['name']}"}
    pipeline.explain({"price": 1.0, "name": None, "note": ["words", "never", "seen"]})
    assert pipeline[0].statistics_ == TableVectorizer().fit(TABLE).statistics_, "explaining changes nothing"


def test_hashed_features_of_a_table_are_named_and_shared_columns_told():
    for bits, is_shared in ((18, False), (1, True)):
        pipeline = make_stream_pipeline(TableVectorizer(bits, max_values=1), AROWClassifier()).partial_fit(TABLE, TWO)
        found, row = pipeline.explain(TABLE[0], top=None).features, TABLE[0]
        names = {"(intercept)", "price", f"name={row['name']}", *(f"note={word}" for word in row["note"])}
        assert {each.name for each in found} == names if not is_shared else {each.name for each in found} < names
        assert any(each.shared for each in found) == is_shared
    rows = [{"a": 1.0 * (k % 2), "b": 5.0 + 0.01 * (k % 3)} for k in range(20)]
    steps = [TableVectorizer(max_values=n) for n in (1, 2)]
    one, both = (make_stream_pipeline(step, AROWClassifier()).partial_fit(rows, TWO[:20]) for step in steps)
    assert {name: each[1:4] for name, each in explained(one, rows[0]).items()} == {
        name: pytest.approx(each[1:4]) for name, each in explained(both, rows[0]).items()}
    pipeline = make_stream_pipeline(TableVectorizer(bits=0, ignore=["note"]), StandardScaler(), AROWClassifier())
    found = explained(pipeline.partial_fit(TABLE, TWO), TABLE[0])  # (a step that keeps the names and changes the units)
    assert found["price"].value == pytest.approx(pipeline[1].transform(pipeline[0].transform(TABLE[:1]))[0, 0])


def test_a_step_that_keeps_columns_keeps_their_names():
    counts = HashingVectorizer(norm=None, alternate_sign=False)
    idf = TfidfTransformer().fit(counts.transform(TEXTS))
    for step in (idf, FrozenEstimator(idf)):
        found = explained(make_stream_pipeline(counts, step, AROWClassifier()).partial_fit(TEXTS, TWO), TEXTS[0])
        assert found.keys() - {"(intercept)"} == set(re.findall(r"\w\w+", TEXTS[0]))
    frame = pd.DataFrame(ROWS, columns=[*"abcd"])
    pipeline = make_stream_pipeline(StandardScaler(), AROWClassifier()).partial_fit(frame, TWO)
    with pytest.warns(UserWarning, match="valid feature names"):  # (an array has none)
        found = explained(pipeline, ROWS[0])
    assert found.keys() - {"(intercept)"} == set(frame.columns)


def test_the_learners_attributes_are_those_of_the_pipeline():
    pipeline = make_stream_pipeline(HashingVectorizer(), PassiveAggressiveClassifier())
    assert not hasattr(pipeline, "coef_")
    pipeline.partial_fit(TEXTS, TWO)
    assert (pipeline.coef_ == pipeline[-1].coef_).all() and not hasattr(pipeline, "covariance_")


def test_what_cannot_be_explained_is_refused():
    pipeline = make_stream_pipeline(HashingVectorizer(), AROWClassifier()).partial_fit(TEXTS, TWO)
    with pytest.raises(ValueError, match="top must be an integer >= 1 or None"):
        pipeline.explain(TEXTS[0], 0)
    pipeline = make_stream_pipeline(KernelOnlineClassifier(kernel="rbf")).partial_fit(ROWS, TWO)
    with pytest.raises(TypeError, match="explain must have a learner whose scores are sums over features"):
        pipeline.explain(ROWS[0])
