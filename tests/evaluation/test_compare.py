"""Learners compared on one stream: their errors are those of each alone, and the better one is found."""

import numpy as np
import pytest
from matrices import csr32
from sklearn.linear_model import SGDClassifier

from onlinecls import AROWClassifier, PassiveAggressiveClassifier, Perceptron, compare, progressive_validation
from onlinecls.measures import ErrorComparison


def stream(n=3_000, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n, 20))
    flipped = generator.random(n) < 0.2
    return X, np.where((X[:, :5].sum(axis=1) > 0) != flipped, "spam", "ham"), generator.integers(0, 3, n).astype(float)


def learners():
    return {"perceptron": Perceptron(), "arow": AROWClassifier(r=10.0), "pa": PassiveAggressiveClassifier()}


def test_errors_are_those_of_each_learner_alone_whatever_the_batches():
    X, y, weights = stream()
    found = [
        compare(learners(), batches, classes=["ham", "spam"], every=700)
        for batches in ((X, y, weights), [(csr32(X)[at], y[at], weights[at]) for at in np.split(np.arange(3_000), (1, 2, 1_700))])
    ]
    for name, learner in learners().items():
        alone = progressive_validation(learner, (X, y, weights), classes=["ham", "spam"])
        assert found[0].errors[name] == alone.progressive_error
        assert found[0].examples[name] == np.count_nonzero(weights)
    assert found[0].names == sorted(found[0].errors, key=found[0].errors.get)
    assert found[0].better_by == found[1].better_by and found[0].errors == found[1].errors


def test_compare_gives_the_intervals_of_comparing_each_pair_alone():
    X, y, _ = stream()
    found = compare(learners(), (X, y), every=1, level=0.3)
    predicted = {name: progressive_validation(each, (X, y), predictions=True).predictions for name, each in learners().items()}
    for name, interval in found.better_by.items():
        pair = ErrorComparison(0.3 / 3).update(predicted[name] != y, predicted[found.best] != y)
        assert interval == pytest.approx((pair.low, pair.high))


def test_a_learner_that_is_beaten_is_dropped_and_learns_no_more():
    X, y, _ = stream()
    raced = learners()
    found = compare(raced, (X, y), drop=True, every=500)
    assert found.best == "arow" and "perceptron" in found.beaten
    n = found.examples["perceptron"]
    assert n % 500 == 0 and n < 3_000 and raced["perceptron"].t_ == n
    alone = progressive_validation(Perceptron(), (X[:n], y[:n]))
    assert found.errors["perceptron"] == alone.progressive_error
    everyone = compare(learners(), (X[:n], y[:n]), every=500)
    assert everyone.better_by["perceptron"][0] > 0.0  # (it was beaten there, and not before)
    before = compare(learners(), (X[: n - 500], y[: n - 500]), every=500)
    assert before.better_by["perceptron"][0] <= 0.0


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"learners": {"one": Perceptron()}}, ValueError, "learners must be a dict of two classifiers or more"),
        ({"learners": {"a": Perceptron(), "b": SGDClassifier()}}, TypeError, "got SGDClassifier for 'b'"),
        ({"level": 1.0}, ValueError, "level must be a number in"),
        ({"every": 0}, ValueError, "every must be an integer >= 1"),
        ({"stream": (np.ones((1, 2)), [1], [0.0])}, ValueError, "stream must have a row of weight > 0"),
    ],
)
def test_what_cannot_be_compared_is_refused(arguments, error, words):
    X, y, _ = stream(10)
    with pytest.raises(error, match=words):
        compare(**{"learners": learners(), "stream": (X, y), **arguments})
