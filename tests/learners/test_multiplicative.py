"""Multiplicative PA: both forms against the slow twin and the paper's recursion, the running sum, errors."""

from itertools import pairwise

import numpy as np
import pytest
from internals import state_of
from looping import within
from matrices import continuous_problem, csr32
from numpy.testing import assert_allclose
from reference import run_binary, run_multiclass, run_one_class, run_regression, run_stream
from states import is_finite

from onlinecls import MultiplicativePassiveAggressiveClassifier as Classifier
from onlinecls import MultiplicativePassiveAggressiveOneClass as OneClass
from onlinecls import MultiplicativePassiveAggressiveRegressor as Regressor

TOLERANCE = {"float64": 1e-10, "float32": 2e-4}
both_dtypes = within(dtype=["float64", "float32"])
both_constructions = within(multi_class=["crammer_singer", "ovr"])
both_forms = within(signed=[True, False])


def problem(n, d, seed, n_classes=2, dtype="float64", signed=False):
    """Rows without negative features if the form wants none."""
    X, y = continuous_problem(n, d, seed, n_classes=n_classes, dtype=dtype)
    return (X if signed else np.abs(X)), y


def targets(X, seed):
    rng = np.random.default_rng(seed)
    return X.astype(float) @ rng.standard_normal(X.shape[1]) + 0.3 * rng.standard_normal(len(X))


def theta(learner):
    """(vectors, features) as they are stored, the constant one too if there is an intercept."""
    stored = state_of(learner).view[:, 1].T.astype(float)
    return stored if learner.fit_intercept else stored[:, :-1]


def linked(theta, signed, norm_bound):
    """The weights of one learner's theta, by the definition."""
    largest = np.abs(theta).max() if signed else theta.max()
    up, down = np.exp(theta - largest), np.exp(-theta - largest) if signed else 0.0
    return norm_bound * (up - down) / (up + down).sum()


def assert_close(found, expected, dtype):
    tolerance = TOLERANCE[dtype]
    assert_allclose(found, expected, rtol=tolerance, atol=tolerance * np.abs(expected).max())


@both_dtypes
def test_unsigned_weights_equal_the_slow_twin(dtype):
    X, y = problem(150, 13, seed=300, dtype=dtype)
    params = {"signed": False, "norm_bound": 2.0}
    twin = run_binary("multiplicative_pa", X, y, margin=0.7, **params)
    learner = Classifier(0.7, fit_intercept=False, scale=1.0, **params).partial_fit(csr32(X), y, classes=[-1, 1])
    assert_close(learner.coef_[0], twin.w, dtype)
    t = targets(X, 300)
    twin = run_regression("multiplicative_pa_regression", X, t, epsilon=0.2, fit_intercept=True, **params)
    learner = Regressor(0.2, intercept_scaling=1.0, scale=1.0, **params).partial_fit(csr32(X), t)
    assert_close(np.append(learner.coef_, learner.intercept_), twin.w, dtype)
    twin = run_one_class("multiplicative_pa_one_class", X, epsilon=0.8, **params)
    learner = OneClass(0.8, scale=1.0, **params).partial_fit(csr32(X))
    assert_close(learner.center_, twin.w, dtype)
    distances = np.linalg.norm(X - twin.w, axis=1)
    assert_allclose(learner.score_samples(csr32(X)), -distances, rtol=1e-7 if dtype == "float64" else 1e-4)


@both_dtypes
@both_constructions
def test_unsigned_multiclass_weights_equal_the_slow_twin(multi_class, dtype):
    X, y = problem(150, 13, seed=301, n_classes=5, dtype=dtype)
    weights = np.random.default_rng(0).choice([0.0, 0.3, 1.0, 2.5], size=150)
    params = {"margin": 0.3, "signed": False, "norm_bound": 1.5, "multi_class": multi_class, "intercept_scaling": 1.0}
    twin = run_multiclass("multiplicative_pa", X, y, 5, weights=weights, fit_intercept=True, **params)
    learner = Classifier(**params, scale=1.0).partial_fit(X, y, classes=range(5), sample_weight=weights)
    assert_close(np.column_stack([learner.coef_, learner.intercept_]), twin.W, dtype)
    twin = run_stream("multiplicative_pa", X, np.minimum(y, np.arange(150) // 25).tolist(), **params)
    learner = Classifier(fit_intercept=False, scale=1.0, **params)
    for start in range(0, 150, 17):
        learner.partial_fit(X[start : start + 17], np.minimum(y, np.arange(150) // 25)[start : start + 17])
    assert_close(learner.coef_, twin.W, dtype)
    assert learner.n_mistakes_ == twin.n_mistakes


def test_small_thetas_keep_their_digits():
    """With W large the step is PA's but for a factor; e^theta - e^-theta would have lost half the digits."""
    X, y = continuous_problem(60, 7, seed=304)
    learner = Classifier(1.0, norm_bound=1e9, fit_intercept=False, scale=1.0).partial_fit(X, y)
    t = theta(learner)[0]
    assert 0 < np.abs(t).max() < 1e-6
    assert_allclose(learner.coef_[0], 1e9 * t / 7, rtol=1e-12)  # sinh(t) = t, cosh(t) = 1


@both_dtypes
@both_forms
@pytest.mark.parametrize("norm_bound", [1e-12, 1e-5, 0.01, 1.0])
def test_no_exponential_overflows_and_the_sum_stays_that_of_theta(norm_bound, signed, dtype):
    """The smaller W, the larger the steps: thetas of up to 1e14. Labels that turn let the largest fall again."""
    X, y = problem(400, 7, seed=305, dtype=dtype, signed=signed)
    X[:, 0] *= 30.0
    y = y * np.where(np.arange(400) // 50 % 2, -1, 1)
    learner, sizes = Classifier(1.0, signed=signed, norm_bound=norm_bound, fit_intercept=False, scale=1.0), []
    for start in range(0, 400, 5):
        learner.partial_fit(X[start : start + 5], y[start : start + 5], classes=[-1, 1])
        t = theta(learner)
        expected, rtol = linked(t, signed, norm_bound), 1e-11 if dtype == "float64" else 1e-4
        assert is_finite(learner)
        assert_allclose(learner.coef_, expected, rtol=rtol, atol=rtol * norm_bound)
        sizes.append(np.abs(t).max())
    assert max(sizes) > (1e10 if norm_bound == 1e-12 else 100 if norm_bound < 1.0 else 1.0) and learner.n_skipped_ == 0


def test_a_row_on_the_surface_of_a_multiplicative_ball_is_no_mistake():
    learner = OneClass(5.0, scale=1.0).partial_fit([[3.0, 4.0]])  # (the first centre is 0)
    assert (learner.n_mistakes_, learner.n_updates_, learner.t_) == (0, 0, 1)
    assert learner.set_params(epsilon=4.99).partial_fit([[3.0, 4.0]]).n_mistakes_ == 1


@pytest.mark.parametrize("estimator", [Classifier, Regressor, OneClass], ids=lambda cls: cls.__name__)
def test_rows_to_predict_below_0_are_refused_without_signs(estimator):
    """(In learning: the contracts.)"""
    X, y = np.array([[1.0, 0.0], [0.0, 2.0], [0.0, -0.5], [3.0, 0.0]]), [0, 1, 0, 1]
    learner = estimator(signed=False).partial_fit(np.abs(X), y)
    for kind in (np.asarray, csr32):
        with pytest.raises(ValueError, match=r"got -0\.5 at row 2, column 1"):
            learner.predict(kind(X))


def test_multi_class_may_change_between_calls():
    """The sums are made anew for the other construction; theta stays."""
    X, y = problem(120, 7, seed=311, n_classes=4, signed=True)
    for first, second in (("ovr", "crammer_singer"), ("crammer_singer", "ovr")):
        learner = Classifier(0.5, multi_class=first, norm_bound=1.0, intercept_scaling=1.0, scale=1.0).partial_fit(X[:60], y[:60])
        shown = learner.coef_.copy()
        learner.set_params(multi_class=second)
        assert (learner.coef_ == shown).all()
        learner.partial_fit(X[60:], y[60:])
        t = theta(learner)[:4]
        assert learner.n_skipped_ == 0
        learners = [t] if second == "crammer_singer" else [part[None] for part in t]
        expected = np.vstack([linked(part, True, 1.0) for part in learners])
        assert_allclose(np.column_stack([learner.coef_, learner.intercept_]), expected, rtol=1e-11, atol=1e-14)


def test_labels_join_without_an_intercept_to_the_same_bits():
    X, y, found = np.array([[1.0, 2], [2, 1], [1, 1], [3, 1], [1, 1]]), list("ebcad"), set()
    for cuts in ([0, 5], [0, 3, 4, 5], range(6)):
        model = Classifier(signed=False, fit_intercept=False, scale=1.0)
        for start, stop in pairwise(cuts):
            model.partial_fit(X[start:stop], y[start:stop])
        found.add(state_of(model).values.tobytes())
    assert len(found) == 1
