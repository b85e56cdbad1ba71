"""OnlineToBatch against its definition, row by row. (Its contracts: contracts.py.)"""

from copy import deepcopy

import numpy as np
import pytest
from matrices import continuous_problem
from states import fingerprint

import onlinecls
from onlinecls import (
    AROWClassifier,
    DualAscentClassifier,
    OnlineToBatch,
    PassiveAggressiveClassifier,
    Perceptron,
    SecondOrderPerceptron,
)


def problem(n=160, n_classes=3, seed=0):
    return continuous_problem(n, 8, seed, n_classes)


def hypotheses(estimator, X, y, held_out=lambda n: False, **named):
    """w_1, w_2, ...: the learner before any row, and after each."""
    found = [deepcopy(estimator).partial_fit(X[:0], y[:0], **named)]
    for i in range(len(y)):
        found.append(deepcopy(found[-1]))
        if not held_out(i + 1):
            found[-1].partial_fit(X[i : i + 1], y[i : i + 1])
    return found


def assert_chosen_by_validation(learner, X, y, largest, error):
    """Of the snapshots, at the multiples of the least power of two that is enough, the one of the least bound on later rows."""
    rows, n, spacing = learner.snapshot_rows_, len(y), 1
    while n // spacing > learner.n_snapshots:
        spacing *= 2
    assert rows.tolist() == list(range(spacing, n + 1, spacing))
    bounds, k = [], len(rows)
    for row, snapshot in zip(rows, learner.snapshots_, strict=True):
        later = np.array([i for i in range(row, n) if (i + 1) % 10 == 0], int)
        missed = error(snapshot.predict(X[later]), y[later]).mean() if len(later) else 0.0
        bounds.append(missed + largest * np.sqrt(np.log(k * (k + 1) / 0.05) / (2 * len(later))) if len(later) else np.inf)
    assert learner.chosen_ is learner.snapshots_[int(np.argmin(bounds))]
    assert (learner.predict(X) == learner.chosen_.predict(X)).all()


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("estimator", [
    AROWClassifier(r=0.3, dtype=np.float64), PassiveAggressiveClassifier(dtype=np.float32), DualAscentClassifier(2.0),
    SecondOrderPerceptron(r=1.0, covariance="full"), DualAscentClassifier(2.0, regularizer="entropic", norm_bound=3.0),
])
def test_average_is_the_mean_of_the_hypotheses_that_predicted(estimator, n_classes):
    """w_1 = 0 among them, and not the last, which has predicted nothing."""
    X, y = problem(n_classes=n_classes)
    classes = np.unique(y)
    for n in (1, 2, 160):
        half = n // 2
        learner = OnlineToBatch(estimator).partial_fit(X[:half], y[:half], classes).partial_fit(X[half:n], y[half:n])
        path = hypotheses(estimator, X[: n - 1], y[: n - 1], classes=classes)[1:]
        scores = np.sum([w.decision_function(X) for w in path], axis=0) / n if n > 1 else 0.0 * learner.decision_function(X)
        np.testing.assert_allclose(learner.decision_function(X), scores, rtol=1e-4, atol=2e-5)
        assert (learner.chosen_.decision_function(X) == learner.decision_function(X)).all()
    assert learner.snapshots_ == [] and not estimator.__sklearn_is_fitted__()
    chosen, before = learner.chosen_, learner.chosen_.coef_.copy()
    learner.partial_fit(X, y)
    assert (chosen.coef_ == before).all(), "it goes no further"


def test_validation_chooses_the_snapshot_of_the_best_bound():
    X, y = problem()
    learner = OnlineToBatch(Perceptron(), "validation", n_snapshots=6)
    learner.partial_fit(X, y, classes=[0, 1, 2])
    path = hypotheses(Perceptron(), X, y, lambda n: n % 10 == 0, classes=[0, 1, 2])
    assert learner.snapshot_rows_.tolist() == [32, 64, 96, 128, 160] and learner.estimator_.t_ == 144
    for n, snapshot in zip(learner.snapshot_rows_, learner.snapshots_, strict=True):
        assert (snapshot.coef_ == path[n].coef_).all()
    assert_chosen_by_validation(learner, X, y, 1.0, np.not_equal)
    before_any = OnlineToBatch(Perceptron(), "validation").partial_fit(X[:1], y[:1], classes=[0, 1, 2])
    assert before_any.chosen_ is before_any.estimator_, "no row has judged a snapshot yet"
    kernels = OnlineToBatch(onlinecls.KernelOnlineClassifier("perceptron", gamma=0.1), "validation").partial_fit(X, y)
    assert_chosen_by_validation(kernels, X, y, 1.0, np.not_equal)


@pytest.mark.parametrize("regressor", [
    onlinecls.AROWRegressor(r=1.0, scale=1.0, intercept_scaling=1.0),
    onlinecls.PassiveAggressiveRegressor(0.3, intercept_scaling=1.0),
    onlinecls.DualAscentRegressor(3.0, regularizer="entropic", signed=False, scale=1.0, fit_intercept=False),
])
def test_every_method_around_a_regressor_is_that_of_its_hypotheses(regressor):
    """The mean of w_1 .. w_T (the simplex begins as the mean of its experts), and the one that validation chooses."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, 4))
    y = X @ [1.0, -0.5, 0.2, 0.0] + 0.1 * rng.standard_normal(90)
    said = np.array([w.predict(X) for w in hypotheses(regressor, X, y)])
    averaged, judged = (OnlineToBatch(deepcopy(regressor), method, n_snapshots=8) for method in ("average", "validation"))
    for part in (slice(40), slice(40, None)):
        averaged.partial_fit(X[part], y[part]), judged.partial_fit(X[part], y[part])
    one, parts = (OnlineToBatch(regressor, "validation", n_snapshots=8) for _ in range(2))
    one.partial_fit(np.tile(X, (9, 1)), np.tile(y, 9)), [parts.partial_fit(X, y) for _ in range(9)]
    assert [each.errors for each in parts._hypotheses] == [each.errors for each in one._hypotheses]
    np.testing.assert_allclose(averaged.predict(X), said[:90].mean(axis=0), rtol=1e-7, atol=1e-9)
    largest = max(np.abs(s.predict(X[9::10]) - y[9::10])[np.arange(9, 90, 10) >= n].max(initial=0.0)
                  for s, n in zip(judged.snapshots_, judged.snapshot_rows_, strict=True))
    assert judged._largest >= largest - 1e-12  # (snapshots that are no longer held count, too)
    assert_chosen_by_validation(judged, X, y, judged._largest, lambda a, b: np.abs(a - b))
    for learner in (averaged, judged):
        assert learner._estimator_type == "regressor" and learner.score(X, y) <= 1.0 and not hasattr(learner, "classes_")
        assert OnlineToBatch(**learner.get_params(deep=False)).fit(X, y).predict(X).shape == (90,)
        with pytest.raises(AttributeError, match="decision_function"):
            learner.decision_function(X)
        with pytest.raises(TypeError, match="unexpected keyword argument 'classes'"):
            learner.partial_fit(X, y, classes=[0, 1])


def test_of_equal_snapshots_the_newest_is_chosen():
    learner = OnlineToBatch(Perceptron(), "validation").partial_fit(np.ones((10, 1)), [1] * 10, classes=[0, 1])
    assert learner.chosen_ is learner.snapshots_[8] and learner.snapshot_rows_[8] == 9


@pytest.mark.parametrize("n", [0, 1, 6])
def test_an_interrupt_leaves_a_whole_number_of_rows(monkeypatch, n):
    """One row in ten of those of weight > 0 is held out: n are learnt after the first five."""
    (X, y), whole = problem(20), Perceptron.partial_fit
    weights = np.resize([1.0, 0.0, 2.0], 20)
    begun, other = (OnlineToBatch(Perceptron(), "validation", n_snapshots=2) for _ in range(2))

    def interrupted(self, X, y, classes=None, sample_weight=None):
        for i in range(len(y)):
            if sample_weight[i] and self.t_ == 5 + n:
                raise KeyboardInterrupt
            whole(self, X.part(i, i + 1), y[i : i + 1], sample_weight=sample_weight[i : i + 1])

    for learner in (begun, other):
        learner.partial_fit(X[:7], y[:7], [0, 1, 2], weights[:7])
    monkeypatch.setattr(Perceptron, "partial_fit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        begun.partial_fit(X[7:], y[7:], sample_weight=weights[7:])
    monkeypatch.undo()
    assert begun.estimator_.t_ == 5 + n
    stop = next(i for i in range(7, 21) if np.sum(weights[:i] > 0.0) == begun.n_rows_)
    other.partial_fit(X[7:stop], y[7:stop], sample_weight=weights[7:stop])
    assert fingerprint(begun) == fingerprint(other)
