"""The kernels against the slow twin: every algorithm x task x dtype. (All storages give the same bits: contracts.py.)"""

import numpy as np
import pytest
from algorithms import ALL, ONE_EACH, ONE_OF_EACH_LOOP
from looping import each_estimator, within
from matrices import continuous_problem, csr32
from numpy.testing import assert_allclose

import onlinecls

# float32 models differ from the float64 twin by rounding: 2e-4 of the largest weight over a few hundred rows.
TOLERANCE = {"float64": 1e-10, "float32": 2e-4}
every_case = each_estimator(case=ALL)
one_case_each = each_estimator(case=ONE_EACH)
both_dtypes = within(dtype=["float64", "float32"])
both_constructions = within(multi_class=["crammer_singer", "ovr"])


_TWINS = {}  # a twin is slow, and the same for both dtypes: the values are float32 numbers


def once(make, *key):
    key = tuple(map(str, key))
    if key not in _TWINS:
        _TWINS[key] = make()
    return _TWINS[key]


def assert_same_model(case, learner, W, Sigma, dtype, fit_intercept=False):
    """W and Sigma are the twin's, with the constant feature as the last column if there is an intercept."""
    W, tolerance = np.atleast_2d(W), max(TOLERANCE[dtype], case.slack)
    d = learner.n_features_in_
    assert learner.coef_.dtype == dtype
    assert_allclose(learner.coef_, W[:, :d], rtol=tolerance, atol=tolerance * np.abs(W).max())
    if fit_intercept:
        scale = learner.intercept_scaling
        assert_allclose(learner.intercept_, W[:, d] * scale, rtol=tolerance, atol=tolerance * np.abs(W).max() * scale)
    if Sigma is not None:
        assert_allclose(learner.covariance_, np.atleast_2d(Sigma)[:, :d], rtol=10 * tolerance)


@both_dtypes
@every_case
def test_binary_weights_equal_the_slow_twin(case, dtype):
    X, y = continuous_problem(90, 13, seed=0, dtype=dtype)
    twin = once(lambda: case.binary(X.astype(float), y), "binary", case)
    learner = case.estimator(fit_intercept=False).partial_fit(csr32(X), y, classes=[-1, 1])
    assert_same_model(case, learner, twin.w, twin.Sigma, dtype)
    assert learner.t_ == 90 and learner.n_skipped_ == 0


@both_dtypes
@both_constructions
@one_case_each
def test_multiclass_weights_equal_the_slow_twin(case, multi_class, dtype):
    X, y = continuous_problem(60, 13, seed=1, n_classes=5, dtype=dtype)
    twin = once(lambda: case.multiclass(X.astype(float), y, 5, multi_class=multi_class), "multiclass", case, multi_class)
    learner = case.estimator(fit_intercept=False, multi_class=multi_class).partial_fit(csr32(X), y, classes=range(5))
    assert_same_model(case, learner, twin.W, twin.Sigma, dtype)


@both_dtypes
@each_estimator(case=ONE_OF_EACH_LOOP)
def test_intercept_is_a_feature_like_any_other(case, dtype):
    X, y = continuous_problem(45, 13, seed=2, dtype=dtype)
    twin = once(lambda: case.binary(X.astype(float), y, fit_intercept=True, intercept_scaling=0.5), "intercept", case)
    learner = case.estimator(intercept_scaling=0.5).partial_fit(X, y, classes=[-1, 1])
    assert_same_model(case, learner, twin.w, twin.Sigma, dtype, fit_intercept=True)
    X, y = continuous_problem(45, 13, seed=2, n_classes=4, dtype=dtype)
    twin = once(lambda: case.multiclass(X.astype(float), y, 4, fit_intercept=True, intercept_scaling=2.0), "intercepts", case)
    learner = case.estimator(intercept_scaling=2.0).partial_fit(X, y, classes=range(4))
    assert_same_model(case, learner, twin.W, twin.Sigma, dtype, fit_intercept=True)


@every_case
def test_weights_of_rows_and_classes(case):
    X, y = continuous_problem(120, 13, seed=3)
    weights = np.random.default_rng(0).choice([0.0, 0.3, 1.0, 2.5], size=len(y))
    class_weight = {-1: 0.4, 1: 1.7}
    twin = case.binary(X, y, weights=case.costs(y, class_weight, weights))
    learner = case.estimator(fit_intercept=False, class_weight=class_weight)
    learner.partial_fit(X, y, classes=[-1, 1], sample_weight=weights)
    assert_same_model(case, learner, twin.w, twin.Sigma, "float64")
    assert learner.t_ == twin.t == np.count_nonzero(weights)


@both_constructions
@one_case_each
def test_weights_of_rows_and_classes_in_multiclass(case, multi_class):
    X, y = continuous_problem(60, 13, seed=4, n_classes=4)
    weights = np.random.default_rng(0).choice([0.0, 0.3, 1.0, 2.5], size=len(y))
    ratio = 7.0 if case.algorithm.costs == "weight" else 700.0  # (above the largest that the margin takes)
    class_weight = {0: 0.6, 1: 2.0, 2: ratio, 3: 1.0}
    twin = case.multiclass(X, y, 4, multi_class=multi_class, weights=case.costs(y, class_weight, weights))
    learner = case.estimator(fit_intercept=False, multi_class=multi_class, class_weight=class_weight)
    learner.partial_fit(X, y, classes=range(4), sample_weight=weights)
    assert_same_model(case, learner, twin.W, twin.Sigma, "float64")


@within(n_classes=[2, 4])
@one_case_each
def test_balanced_weights_come_from_the_counts_so_far(case, n_classes):
    X, y = continuous_problem(60, 13, seed=5, n_classes=n_classes)
    y = np.where(np.random.default_rng(1).random(60) < 0.6, y.max(), y)  # unbalanced
    given = np.random.default_rng(0).choice([0.0, 1.0, 2.0], size=len(y))
    twin = case.stream(X, y.tolist(), weights=case.costs(y, "balanced", given))
    learner = case.estimator(fit_intercept=False, class_weight="balanced").partial_fit(X, y, sample_weight=given)
    assert_same_model(case, learner, twin.W, twin.Sigma, "float64")


@both_dtypes
@both_constructions
@one_case_each
def test_labels_join_as_they_appear(case, multi_class, dtype):
    X, y = continuous_problem(120, 13, seed=6, n_classes=6, dtype=dtype)
    names = np.array(["m", "c", "x", "a", "q", "b"])[np.minimum(y, np.arange(120) // 12)]  # one new label every 12 rows or so
    weights = np.random.default_rng(0).choice([0.0, 1.0, 2.0], size=len(y))
    stream = lambda: case.stream(X.astype(float), names.tolist(), multi_class=multi_class, weights=weights)  # noqa: E731
    twin = once(stream, "join", case, multi_class)
    learner = case.estimator(fit_intercept=False, multi_class=multi_class)
    for start in range(0, 120, 33):
        learner.partial_fit(X[start : start + 33], names[start : start + 33], sample_weight=weights[start : start + 33])
    assert learner.classes_.tolist() == twin.classes
    assert_same_model(case, learner, twin.W, twin.Sigma, dtype)
    assert (learner.t_, learner.n_mistakes_) == (twin.t, twin.n_mistakes)


@pytest.mark.parametrize("cls", [
    onlinecls.Perceptron, onlinecls.PassiveAggressiveClassifier, onlinecls.AROWClassifier, onlinecls.NAROWClassifier])
def test_balanced_weights_of_two_classes_are_those_of_dense_rows_in_sparse_ones(cls):
    """Passes over sparse rows of weight 1 have loops of their own, which must leave these to the others."""
    X, y = continuous_problem(120, 6, seed=3)
    y = (y == 1) & (np.arange(120) % 3 == 0)
    for classes in (None, [False, True]):
        models = [cls(class_weight="balanced").partial_fit(rows[:40], y[:40], classes=classes).partial_fit(rows[40:], y[40:])
                  for rows in (X, csr32(X))]
        assert (models[0].coef_ == models[1].coef_).all()
        assert (models[0].coef_ != cls().partial_fit(X, y, classes=classes).coef_).any()
