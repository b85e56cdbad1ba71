"""Learners compared on one stream: their errors are those of each alone."""

import numpy as np
import pytest
from matrices import csr32
from sklearn.linear_model import SGDClassifier, SGDRegressor

from onlinecls import (
    AROWClassifier,
    Perceptron,
    compare,
    make_stream_pipeline,
    progressive_validation,
)
from onlinecls.tables import TableVectorizer


def stream(n=3_000, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n, 20))
    flipped = generator.random(n) < 0.2
    return X, np.where((X[:, :5].sum(axis=1) > 0) != flipped, "spam", "ham"), generator.integers(0, 3, n).astype(float)


def learners():
    return {"perceptron": Perceptron(), "arow": AROWClassifier(r=10.0), "pipeline": make_stream_pipeline(AROWClassifier(r=1.0))}


@pytest.mark.parametrize("form", [np.asarray, csr32])
def test_errors_are_those_of_each_learner_alone_whatever_the_batches(form):
    """Learners of this library predict by row, with any batches; scikit-learn's by parts that double up to `every`."""
    X, y, weights = stream()
    weights[0], weights[1], y[1] = 0.0, 1.0, "ham"  # (the first row to learn is of the class that no weights predict)
    X = form(X.astype(np.float32))
    parts = [(X[at], y[at], weights[at]) for at in np.split(np.arange(3_000), (1, 2, 1_700))]
    every = lambda: {**learners(), "sgd": SGDClassifier(shuffle=False, random_state=0)}  # noqa: E731
    found, again = (compare(every(), each, classes=["ham", "spam"], every=700) for each in ((X, y, weights), parts))
    for name, learner in every().items():
        alone = progressive_validation(learner, (X, y, weights), classes=["ham", "spam"], every=700)
        curve = found.curves[name][0]
        assert curve.mistakes.tolist() == alone.mistakes.tolist() and found.errors[name] == alone.progressive_error
        assert curve.by_row == (name != "sgd") and (name == "sgd" or found.errors[name] == again.errors[name])
    assert found.names == sorted(found.errors, key=found.errors.get) and found.best == found.names[0]
    assert curve.examples.tolist() == [np.count_nonzero(weights[:n]) for n in (700, 1400, 2100, 2800, 3000)]


def test_orders_give_the_mean_and_the_spread_of_shuffled_streams():
    X, y, weights = stream(500)
    given = learners()
    found = compare(given, (X, y, weights), classes=["ham", "spam"], orders=3, random_state=5, every=100)
    generator = np.random.RandomState(5)
    shuffled = [(X[at], y[at], weights[at]) for at in (generator.permutation(500) for _ in range(3))]
    alone = [compare(learners(), rows, classes=["ham", "spam"], every=100) for rows in shuffled]
    for name in given:
        errors = [each.errors[name] for each in alone]
        assert (found.errors[name], found.spread[name]) == pytest.approx((np.mean(errors), np.std(errors, ddof=1)))
        curves = [each.curves[name][0].mistakes.tolist() for each in alone]
        assert [curve.mistakes.tolist() for curve in found.curves[name]] == curves
    assert not any(learner.__sklearn_is_fitted__() for learner in given.values())
    assert np.isnan(alone[0].spread[found.best])


def test_rows_of_any_table_are_put_in_the_same_orders():
    pandas = pytest.importorskip("pandas")
    X, y, _ = stream(60)
    frame = pandas.DataFrame({"size": X[:, 0], "kind": np.where(X[:, 1] > 0, "a", "b")}, index=np.arange(60)[::-1])
    tables = [frame, frame.to_dict("list"), frame.to_dict("records")]
    tables += [pytest.importorskip("polars").from_pandas(frame), pytest.importorskip("pyarrow").table(tables[1])]
    found = [
        compare({"a": make_stream_pipeline(TableVectorizer(), AROWClassifier()), "b": make_stream_pipeline(
            TableVectorizer(), Perceptron())}, (table, pandas.Series(y, index=frame.index)), orders=2).errors
        for table in tables
    ]
    assert found == [found[0]] * len(tables)


@pytest.mark.parametrize(("arguments", "error", "words"), [
    ({"learners": {}}, ValueError, "learners must be a list of classifiers, or a dict of them by their names"),
    ({"learners": {"a": Perceptron(), "b": SGDRegressor()}}, TypeError, "must be a classifier, got SGDRegressor, a regressor"),
    ({"learners": dict.fromkeys("ab", Perceptron())}, ValueError, "must be different objects, got one twice among"),
    ({"learners": {"a": Perceptron(), "b": Perceptron}}, TypeError, "must be an object, got the class Perceptron"),
    ({"learners": {"a": Perceptron(), "b": object()}}, TypeError, "got object without partial_fit"),
    ({"orders": 0}, ValueError, "orders must be None or an integer >= 1"),
    ({"orders": 2, "stream": [(np.ones((1, 2)), [1])]}, ValueError, r"stream must be one \(X, y\) .* got list"),
    ({"orders": 2, "stream": (np.ones((2, 2)), [1])}, ValueError, "X and y must have the same number of rows"),
    ({"every": 0}, ValueError, "every must be an integer >= 1"),
    ({"stream": (np.ones((1, 2)), [1], [0.0])}, ValueError, "stream must have a row of weight > 0"),
])
def test_what_cannot_be_compared_is_refused(arguments, error, words):
    X, y, _ = stream(10)
    with pytest.raises(error, match=words):
        compare(**{"learners": learners(), "stream": (X, y), **arguments})


def test_a_frame_is_validated_as_by_a_loop_over_its_parts():
    pandas = pytest.importorskip("pandas")
    X, y, _ = stream(60)
    frame = pandas.DataFrame({
        "size": X[:, 0].astype(np.float32), "kind": pandas.Categorical(np.where(X[:, 1] > 0, "a", "b")), "large": X[:, 2] > 0,
        "day": pandas.date_range("2024-01-01 05:00", periods=60, freq="7h", tz="Europe/Oslo"), "format": np.arange(60),
        "count": pandas.array([None if k % 5 == 0 else k for k in range(60)], dtype="Int64"),
    })
    slow, fast = (make_stream_pipeline(TableVectorizer(), AROWClassifier()) for _ in range(2))
    for at in range(60):
        slow.partial_fit(frame[at : at + 1], y[at : at + 1])
    progressive_validation(fast, (frame, y))
    np.testing.assert_array_equal(fast.coef_, slow.coef_)
