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

METHODS = ("average", "best")


def problem(n=160, n_classes=3, seed=0):
    return continuous_problem(n, 8, seed, n_classes)


def hypotheses(estimator, X, y, classes, held_out=lambda n: False):
    """w_1, w_2, ...: the learner after each row."""
    learner, found = deepcopy(estimator), []
    learner.partial_fit(X[:0], y[:0], classes=classes)
    for i in range(len(y)):
        if not held_out(i + 1):
            learner.partial_fit(X[i : i + 1], y[i : i + 1])
        found.append(deepcopy(learner))
    return found


def snapshot_rows(n_rows, n_snapshots):
    """Multiples of the least power of two of which there are no more than n_snapshots, up to n_rows."""
    spacing = 1
    while n_rows // spacing > n_snapshots:
        spacing *= 2
    return list(range(spacing, n_rows + 1, spacing))


# --- what each method is ------------------------------------------------------------------------------------------------------


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
        path = hypotheses(estimator, X[: n - 1], y[: n - 1], classes)
        scores = np.sum([w.decision_function(X) for w in path], axis=0) / n if n > 1 else 0.0 * learner.decision_function(X)
        np.testing.assert_allclose(learner.decision_function(X), scores, rtol=1e-4, atol=2e-5)
        assert (learner.chosen_.decision_function(X) == learner.decision_function(X)).all()
    assert learner.snapshots_ == [] and not estimator.__sklearn_is_fitted__()
    chosen, before = learner.chosen_, learner.chosen_.coef_.copy()
    learner.partial_fit(X, y)
    assert (chosen.coef_ == before).all(), "it goes no further"


def test_an_average_of_hypotheses_may_start_at_a_row():
    """average=5: the weights after rows 5, 6, ..., but for the last."""
    X, y = problem()
    learner = OnlineToBatch(Perceptron(average=5)).partial_fit(X, y, np.unique(y))
    path = hypotheses(Perceptron(), X, y, np.unique(y))
    expected = np.mean([w.decision_function(X) for w in path[4:-1]], axis=0)
    np.testing.assert_allclose(learner.decision_function(X), expected, rtol=1e-6, atol=1e-9)


def test_best_chooses_the_snapshot_of_the_best_bound():
    X, y = problem()
    learner = OnlineToBatch(Perceptron(), "best", n_snapshots=6, validation_fraction=0.2)
    learner.partial_fit(X, y, classes=[0, 1, 2])
    path = hypotheses(Perceptron(), X, y, [0, 1, 2], held_out=lambda n: n % 5 == 0)
    rows = snapshot_rows(160, 6)
    assert learner.snapshot_rows_.tolist() == rows == [32, 64, 96, 128, 160]
    assert learner.estimator_.t_ == 128
    bounds = []
    for n, snapshot in zip(rows, learner.snapshots_, strict=True):
        assert (snapshot.coef_ == path[n - 1].coef_).all()
        later = [i for i in range(n, 160) if (i + 1) % 5 == 0]
        errors = np.mean(snapshot.predict(X[later]) != y[later]) if later else 1.0
        bounds.append(errors + np.sqrt(np.log(5 * 6 / 0.05) / (2 * len(later))) if later else np.inf)
    best = int(np.argmin(bounds))
    assert learner.chosen_ is learner.snapshots_[best]
    assert (learner.predict(X) == path[rows[best] - 1].predict(X)).all()
    before_any = OnlineToBatch(Perceptron(), "best").partial_fit(X[:1], y[:1], classes=[0, 1, 2])
    assert before_any.chosen_ is before_any.estimator_, "no row has judged a snapshot yet"


@pytest.mark.parametrize("regressor", [
    onlinecls.AROWRegressor(r=1.0, intercept_scaling=1.0), onlinecls.PassiveAggressiveRegressor(0.3, intercept_scaling=1.0),
    onlinecls.DualAscentRegressor(3.0, regularizer="entropic", signed=False, fit_intercept=False),
])
def test_every_method_around_a_regressor_is_that_of_its_hypotheses(regressor):
    """The mean of w_1 .. w_T (the simplex begins as the mean of its experts), the best."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, 4))
    y = X @ [1.0, -0.5, 0.2, 0.0] + 0.1 * rng.standard_normal(90)
    path = [deepcopy(regressor).partial_fit(X[:0], y[:0])]
    for i in range(90):
        path.append(deepcopy(path[-1]).partial_fit(X[i : i + 1], y[i : i + 1]))
    said = np.array([w.predict(X) for w in path])
    found = {
        method: OnlineToBatch(deepcopy(regressor), method, n_snapshots=8, random_state=3).partial_fit(X[:40], y[:40]).partial_fit(
            X[40:], y[40:]) for method in METHODS
    }
    np.testing.assert_allclose(found["average"].predict(X), said[:90].mean(axis=0), rtol=1e-7, atol=1e-9)
    judged = found["best"]
    errors = [
        np.mean(np.abs(s.predict(X[rows]) - y[rows])) if len(rows) else np.inf
        for s, n in zip(judged.snapshots_, judged.snapshot_rows_, strict=True)
        for rows in [np.array([i for i in range(n, 90) if (i + 1) % 10 == 0], int)]
    ]
    held = [sum((i + 1) % 10 == 0 for i in range(n, 90)) for n in judged.snapshot_rows_]
    k = len(errors)
    largest = max(np.abs(s.predict(X[9::10]) - y[9::10])[np.arange(9, 90, 10) >= n].max(initial=0.0)
                  for s, n in zip(judged.snapshots_, judged.snapshot_rows_, strict=True))
    assert judged._run.largest >= largest - 1e-12
    bounds = [e + judged._run.largest * np.sqrt(np.log(k * (k + 1) / 0.05) / (2 * n)) if n else np.inf
              for e, n in zip(errors, held, strict=True)]
    assert judged.chosen_ is judged.snapshots_[int(np.argmin(bounds))]
    for learner in found.values():
        assert learner._estimator_type == "regressor" and learner.score(X, y) <= 1.0 and not hasattr(learner, "classes_")
        whole = OnlineToBatch(**learner.get_params(deep=False)).fit(X, y)
        assert whole.predict(X).shape == (90,)
        with pytest.raises(AttributeError, match="a regressor has no decision_function"):
            learner.decision_function(X)
        with pytest.raises(ValueError, match="classes must be None for a regressor"):
            learner.partial_fit(X, y, classes=[0, 1])


# --- beyond the contracts that all keep ----------------------------------------------------------------------------------------


def make(method, **params):
    return OnlineToBatch(AROWClassifier(), method, n_snapshots=5, random_state=3, **params)


def test_held_out_rows_are_never_learnt():
    X, y = problem()
    held_out = np.arange(160) % 10 == 9
    spoiled = X.copy()
    spoiled[held_out] = 1e6 * np.random.default_rng(0).standard_normal(X[held_out].shape)
    fits = [OnlineToBatch(Perceptron(), "best", max_iter=4, random_state=0).fit(rows, y) for rows in (X, spoiled)]
    assert fingerprint(fits[0].estimator_) == fingerprint(fits[1].estimator_)
    assert fits[0].estimator_.t_ == 4 * 144


def test_partial_fit_refuses_another_method_than_the_model_s():
    X, y = problem()
    learner = OnlineToBatch(AROWClassifier(), "best").partial_fit(X, y)
    with pytest.raises(ValueError, match="partial_fit must go on with the method it began with, 'best', got method='average'"):
        learner.set_params(method="average").partial_fit(X, y)


def test_the_best_of_kernel_learners():
    X, y = problem()
    learner = OnlineToBatch(onlinecls.KernelOnlineClassifier("perceptron", gamma=0.1), "best").partial_fit(X, y)
    assert learner.chosen_ in learner.snapshots_ and len(learner.snapshots_) == 10
    assert (learner.predict(X) == learner.chosen_.predict(X)).all()


def test_parameters_of_the_wrapped_estimator_are_set_through_online_to_batch():
    learner = OnlineToBatch(AROWClassifier(r=0.5), "best")
    assert learner.get_params()["estimator__r"] == 0.5 and "estimator__r" not in learner.get_params(deep=False)
    assert learner.set_params(estimator__r=2.0, n_snapshots=3).estimator.r == 2.0
    assert repr(learner) == "OnlineToBatch(estimator=AROWClassifier(r=2.0), method='best', n_snapshots=3)"
    with pytest.raises(ValueError, match="Invalid parameter 'C'"):
        learner.set_params(estimator__C=1)
