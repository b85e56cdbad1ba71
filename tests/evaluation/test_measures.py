"""Measures of a stream have scikit-learn's numbers, whatever the batches."""

import numpy as np
import pytest
from contracts import memory_of
from sklearn import metrics

from onlinecls.measures import Measures

CLASSES = ["a", "b", "c"]


def stream(n=300, seed=0):
    """Return true and predicted labels, scores, probabilities and weights; "d" is no class of the learner."""
    generator = np.random.default_rng(seed)
    y, predicted = generator.choice([*CLASSES, "d"], n, p=[0.5, 0.3, 0.15, 0.05]), generator.choice(CLASSES, n)
    scores = generator.normal(size=(n, 3)) + (y[:, None] == CLASSES)
    probabilities = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    return y, predicted, scores, probabilities, generator.integers(0, 4, n) / 2.0


def chance_of_truth(y, probabilities):
    """Return the probability of each row's label, 1e-15 for a label that the learner does not know."""
    return np.array([dict(zip(CLASSES, row, strict=True)).get(label, 1e-15) for label, row in zip(y, probabilities, strict=True)])


def in_batches(found, columns, cuts=(1, 2, 50, 51, 200)):
    for part in zip(*(np.split(column, cuts) for column in columns), strict=True):
        found.update(*part)
    return found


def assert_agrees(found, weights, y, predicted):
    """Compare measures with those of scikit-learn's functions for these rows."""
    rows = {"y_true": y, "y_pred": predicted, "sample_weight": weights}
    labels = [*CLASSES, "d"]
    order = [found.labels.index(label) for label in labels]
    matrix = metrics.confusion_matrix(**rows, labels=labels)
    np.testing.assert_allclose(found.confusion[np.ix_(order, order)], matrix, rtol=1e-10, atol=1e-12)
    assert found.error == pytest.approx(1.0 - metrics.accuracy_score(**rows), abs=1e-12)
    precision, *others = metrics.precision_recall_fscore_support(**rows, labels=labels, zero_division=0.0)
    assert [found.precision(label) or 0.0 for label in labels] == pytest.approx(precision)  # (nothing is predicted as "d")
    for measure, expected in zip((found.recall, found.f1, found.support), others, strict=True):
        assert [measure(label) for label in labels] == pytest.approx(expected), measure
    assert found.macro_f1 == pytest.approx(others[1].mean())


def test_measures_of_all_rows_are_those_of_scikit_learn():
    y, predicted, scores, probabilities, weights = stream()
    found = in_batches(Measures(CLASSES), (y, predicted, scores, probabilities, weights))
    assert_agrees(found, weights, y, predicted)
    assert found.examples == np.count_nonzero(weights)
    areas = [metrics.roc_auc_score(y == label, scores[:, k], sample_weight=weights) for k, label in enumerate(CLASSES)]
    assert found.auc == pytest.approx(np.mean(areas), abs=1e-3)
    right = chance_of_truth(y, probabilities)
    assert found.log_loss == pytest.approx(np.average(-np.log(right), weights=weights))


def test_the_auc_is_that_of_all_cuts():
    """Scores are on a grid, so that bins of scores are exact, and many are equal; half of the rows have no weight or two."""
    generator = np.random.default_rng(1)
    y, weights = (generator.random(400) < 0.2).astype(int), generator.choice([0.0, 1.0, 1.0, 2.0], 400)
    scores = np.round(generator.normal(size=400) + y, 1) / 4.0
    found = in_batches(Measures([0, 1]), (y, y, scores, np.full((400, 2), 0.5), weights))
    scores = scores.astype(np.float32).astype(float)
    assert found.auc == pytest.approx(metrics.roc_auc_score(y, scores, sample_weight=weights), rel=1e-12)
    assert Measures([0, 1]).auc is None


def test_memory_grows_with_the_pairs_of_labels_that_occur():
    labels, n = np.arange(8_000), 1_000
    found = Measures([0, 1]).update(labels[:n], labels[:n] % 2)

    def read():
        for at in range(n, len(labels), n):
            kept = found.update(labels[at : at + n], np.r_[0, labels[at + 1 : at + n] % 3]).as_dict()
        return kept

    kept, peak, _ = memory_of(read)
    assert peak < 4_000 * len(labels)  # (a matrix has 8 bytes for each pair: 64,000)
    assert len(kept["labels"]) == len(labels) and len(kept["confusion"]) == len(labels)
    assert kept["confusion"][-1][:2] == [7_999, 7_999 % 3] and found.support(7_999) == 1.0


def test_bad_rows_change_no_measure():
    found = Measures(["a", "b"]).update(["a", "b"], ["b", "b"], [1.0, 2.0], [[0.5, 0.5], [0.1, 0.9]])
    before = found.as_dict()
    for rows, words in (
        ((["new", None], ["a", "b"]), "y_true must have a label for each row, got None"),
        (([1.0, np.nan], [1.0, 1.0]), "y_true must be labels, got NaN"),
        ((["new"], [["a"]]), "y_pred must be a list or 1-D array of labels"),
        ((["new"], ["a"], [np.nan]), "scores must be numbers, got NaN"),
        ((["new"], ["a"], [[1.0, 2.0]]), "scores must have as many columns as before, 1, got 2"),
        ((["new"], ["a"], None, [[np.nan, 1.0]]), "probabilities must be numbers, got NaN"),
        ((["new"], ["a"], None, None, [-1.0]), "sample_weight must be finite and >= 0"),
    ):
        with pytest.raises(ValueError, match=words):
            found.update(*rows)
        assert found.as_dict() == before, words


def test_a_row_without_a_prediction_is_a_mistake_of_no_class():
    found = Measures(["a", "b"]).update(["a", "b", "a"], [None, "b", "b"])
    assert (found.error, found.recall("a"), found.precision("b")) == (pytest.approx(2 / 3), 0.0, 0.5)


def test_measures_of_numbers_are_those_of_scikit_learn():
    generator = np.random.default_rng(1)
    y, weights = 1e6 + generator.normal(size=200), generator.integers(0, 3, 200).astype(float)
    predicted = y + generator.normal(scale=0.5, size=200)
    found = Measures(numbers=True)
    for part in np.split(np.arange(200), (1, 3, 100)):
        found.update(y[part], predicted[part], sample_weight=weights[part])
    assert found.mse == pytest.approx(metrics.mean_squared_error(y, predicted, sample_weight=weights))
    assert found.mae == pytest.approx(metrics.mean_absolute_error(y, predicted, sample_weight=weights))
