"""Selective sampling: which labels are asked for, by hand and as the slow twin says, and what a reader must not do."""

import pickle
import re

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier

import onlinecls
from onlinecls import (
    AROWClassifier,
    CommitteeClassifier,
    KernelOnlineClassifier,
    NAROWClassifier,
    PassiveAggressiveClassifier,
    SecondOrderPerceptron,
    make_stream_pipeline,
    progressive_validation,
)
from onlinecls.measures import ClassificationMeasures
from onlinecls.reference import RuleClassifier, asks, chance_to_ask
from onlinecls.tables import TableVectorizer


def rows_of(n_classes, n=80, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n, 6)) * (generator.random((n, 6)) < 0.6)
    return X, np.argmax(X[:, :n_classes] + 0.5 * generator.normal(size=(n, n_classes)), axis=1)


def test_a_row_is_asked_for_where_its_margin_is_small_beside_its_deviation():
    """After ((1, 0, 0), 1), AROW with r = 1 has w = (1/2, 0, 0) and the variances (1/2, 1, 1), and ((0, 1, 0), 0) changes neither
    w_1 nor its variance: of (1, 0, 0), m = 1/2 and v = 1/2. Fourteen rows of zeros make it 16."""
    rows = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], *([[0.0] * 3] * 14)]
    learner = AROWClassifier(1.0, fit_intercept=False)
    assert learner.partial_fit(rows[:15], [1, 0] + [0] * 13, classes=[0, 1]).should_ask([[1.0, 0.0, 0.0]], b=1e-9).all()
    learner.partial_fit(rows[15:], [0])
    width = np.sqrt(0.5 * np.log(17.0))
    for b, expected in ((0.5 / width * 1.001, True), (0.5 / width * 0.999, False)):
        for row in ([1.0, 0.0, 0.0], [-2.0, 0.0, 0.0], [1e6, 0.0, 0.0]):  # (of any length)
            assert learner.should_ask([row], b=b).tolist() == [expected], (b, row)
    assert learner.should_ask([[0.0, 0.0, 1.0], [0.0, 0.0, 0.0]], b=1e-9).tolist() == [True, True]
    assert asks(0.5, 0.5, 16, 0.5 / width * 1.001) and not asks(0.5, 0.5, 16, 0.5 / width * 0.999)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("covariance", ["diagonal", "full"])
def test_rows_asked_for_are_those_of_the_slow_twin(n_classes, covariance):
    X, y = rows_of(n_classes)
    arguments = {"fit_intercept": False, "multi_class": "crammer_singer"}
    learner = AROWClassifier(1.0, covariance=covariance, **arguments).partial_fit(X[:20], y[:20], classes=range(n_classes))
    slow = RuleClassifier("arow", {"r": 1.0}, covariance=covariance, **arguments)
    slow.partial_fit(X[:20], y[:20], classes=np.arange(n_classes))
    for b in (0.1, 0.3):
        expected = []
        for x in X[20:]:
            scores = np.append(0.0, slow.decision_function(x[None])) if n_classes == 2 else slow.decision_function(x[None])[0]
            Sigma = slow.covariance_.reshape(-1, *slow.covariance_.shape[1 if n_classes > 2 or covariance == "diagonal" else 0 :])
            v = [x @ (each @ x if covariance == "full" else each * x) for each in Sigma / learner.scale_**2]
            first, second = np.argsort(-scores)[:2]
            expected.append(asks(scores[first] - scores[second], v[0] if n_classes == 2 else v[first] + v[second], slow.t_, b))
        assert learner.should_ask(X[20:], b=b).tolist() == expected and 0 < sum(expected) < 60


@pytest.mark.parametrize("make", [AROWClassifier, SecondOrderPerceptron, onlinecls.SCWClassifier, NAROWClassifier])
def test_rows_asked_for_do_not_depend_on_the_units_of_X(make):
    X, y = rows_of(2)
    found = []
    for factor in (1.0, 2.0**20, 2.0**-20):
        learner = make(fit_intercept=True, dtype="float64").partial_fit(factor * X[:30], y[:30])
        found.append(learner.should_ask(factor * X[30:], b=0.3, random_state=0).tolist())
    assert found[0] == found[1] == found[2] and 0 < sum(found[0]) < 50


@pytest.mark.parametrize("learner", [
    PassiveAggressiveClassifier(0.1), CommitteeClassifier(), KernelOnlineClassifier(algorithm="arow"),
    PassiveAggressiveClassifier(0.1, multi_class="ovr"),
])
def test_learners_without_variances_ask_at_random(learner):
    X, y = rows_of(3 if learner.get_params().get("multi_class") == "ovr" else 2)
    learner = learner.partial_fit(X[:40], y[:40])
    scores = learner.decision_function(X)
    margins = np.abs(scores) if scores.ndim == 1 else -np.diff(np.sort(scores, axis=1)[:, ::-1][:, :2], axis=1)[:, 0]
    chances = [chance_to_ask(m, 0.5) for m in margins]
    generator = np.random.default_rng(0)
    asked = np.mean([learner.should_ask(X, b=0.5, random_state=generator) for _ in range(2000)], axis=0)
    np.testing.assert_allclose(asked, chances, atol=0.06)
    first, again = (learner.should_ask(X, random_state=7) for _ in range(2))
    assert first.tolist() == again.tolist()


def test_asking_writes_nothing_and_begins_with_two_classes():
    X, y = rows_of(2)
    learner = AROWClassifier()
    with pytest.raises(ValueError, match="AROWClassifier"):  # (scikit-learn's NotFittedError, if it is there)
        learner.should_ask(X)
    assert learner.partial_fit(X[y == 1][:1], ["b"]).should_ask(X).all()
    assert AROWClassifier().partial_fit(X[y == 1][:20], [1] * 20, classes=[0, 1]).should_ask(X, b=1e-9).all()
    learner.partial_fit(X[:20], np.where(y[:20], "b", "a"))
    before = pickle.dumps(learner)
    asked = learner.should_ask(X)
    assert asked.shape == (80,) and asked.dtype == bool
    assert pickle.dumps(learner) == before
    assert AROWClassifier().partial_fit(X[:0], y[:0], classes=[0, 1]).should_ask(X).all()
    for b in (0, -1.0, np.nan, np.inf, "1", True):
        with pytest.raises(ValueError, match=re.escape("AROWClassifier: b must be a finite number > 0, got b=")):
            learner.should_ask(X, b=b)


def test_a_pipeline_asks_as_its_learner_does():
    X, y = rows_of(2)
    table = {name: X[:, k] for k, name in enumerate("abcdef")}
    pipeline = make_stream_pipeline(TableVectorizer(), AROWClassifier())
    pipeline.partial_fit({name: column[:40] for name, column in table.items()}, y[:40])
    expected = pipeline[-1].should_ask(pipeline[0].transform(table), b=0.3)
    assert pipeline.should_ask(table, b=0.3).tolist() == expected.tolist() and 0 < expected.sum() < 80
    assert not hasattr(make_stream_pipeline(TableVectorizer(), SGDClassifier()), "should_ask")


def test_progressive_validation_learns_what_is_asked_for_and_counts_all():
    X, y = rows_of(2)
    weights = np.where(np.arange(80) % 7, 1.0, 0.0)
    learner, wrong, asked = AROWClassifier(), 0, 0
    for x, label, weight in zip(X, y, weights, strict=True):
        if not weight:
            continue
        fitted = hasattr(learner, "classes_")
        wrong += not fitted or learner.predict([x])[0] != label
        if not fitted or learner.should_ask([x], b=0.3)[0]:
            learner.partial_fit([x], [label])
            asked += 1
    assert asked < 50
    for cuts in ([], [1, 30]):
        found, own = ClassificationMeasures([0, 1]), AROWClassifier()
        result = progressive_validation(
            own, zip(*(np.split(column, cuts) for column in (X, y, weights)), strict=True), every=20, measures=found,
            predictions=True, ask=lambda learner, X: learner.should_ask(X, b=0.3))
        assert (result.mistakes[-1], result.asked[-1], result.examples[-1]) == (wrong, asked, np.sum(weights > 0))
        assert own.t_ == asked and own.coef_.tobytes() == learner.coef_.tobytes()
        assert found.mistakes == wrong
        assert [label is None for label in result.predictions] == [k % 7 == 0 or k == 1 for k in range(80)]
        assert np.all(np.diff(result.asked) >= 0) and result.by_row and result.updates is None
    assert progressive_validation(AROWClassifier(), (X, y)).asked is None
    everything = progressive_validation(AROWClassifier(), (X, y), ask=lambda learner, X: np.ones(1, bool))
    assert everything.mistakes[-1] == progressive_validation(AROWClassifier(), (X, y)).mistakes[-1]
    other = progressive_validation(
        SGDClassifier(random_state=0), (X, y), classes=[0, 1], ask=lambda learner, X: np.abs(learner.decision_function(X)) < 5.0)
    assert 0 < other.asked[-1] < 80
    with pytest.raises(ValueError, match="progressive_validation: ask must return an array of bool, one for each row, got"):
        progressive_validation(AROWClassifier(), (X, y), ask=lambda learner, X: True)
    with pytest.raises(ValueError, match="progressive_validation: ask must be None for a regressor, got"):
        progressive_validation(onlinecls.AROWRegressor(), (X, y), ask=lambda learner, X: True)
