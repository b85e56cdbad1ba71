"""Regressors: the kernel against the slow twin and the algorithms' definitions. (Their contracts: contracts.py.)"""


import numpy as np
import pytest
from algorithms import REGRESSION, REGRESSORS
from looping import each_estimator, within
from matrices import continuous_problem, csr32
from numpy.testing import assert_allclose
from states import fingerprint

from onlinecls import AROWRegressor, PassiveAggressiveRegressor

TOLERANCE = {"float64": 1e-10, "float32": 2e-4}
every_case = each_estimator(case=REGRESSION)
both_dtypes = within(dtype=["float64", "float32"])


def problem(n, d, seed, dtype="float64"):
    """Rows with zeros, some empty, and targets of a noisy linear rule."""
    X, _ = continuous_problem(n, d, seed, dtype=dtype)
    rng = np.random.default_rng(seed + 1000)
    return X, X.astype(float) @ rng.standard_normal(d) + 0.5 + 0.3 * rng.standard_normal(n)


def assert_same_model(learner, twin, dtype):
    tolerance, d = TOLERANCE[dtype], learner.n_features_in_
    assert learner.coef_.dtype == learner.intercept_.dtype == dtype
    assert learner.coef_.shape == (d,) and learner.intercept_.shape == (1,)
    assert_allclose(learner.coef_, twin.w[:d], rtol=tolerance, atol=tolerance * np.abs(twin.w).max())
    if learner.fit_intercept:
        scale = learner.intercept_scaling
        assert_allclose(learner.intercept_[0], twin.w[d] * scale, rtol=tolerance, atol=tolerance * np.abs(twin.w).max() * scale)
    if twin.Sigma is not None:
        assert learner.covariance_.shape == (d,)
        assert_allclose(learner.covariance_, twin.Sigma[:d], rtol=10 * tolerance)
    assert learner.t_ == twin.t and learner.n_skipped_ == 0
    assert_allclose(learner.progressive_mse_, twin.squared / twin.t, rtol=10 * tolerance)
    assert_allclose(learner.progressive_mae_, twin.absolute / twin.t, rtol=10 * tolerance)


@both_dtypes
@within(form=[{"fit_intercept": False}, {"fit_intercept": True, "intercept_scaling": 0.5}])
@every_case
def test_weights_and_errors_equal_the_slow_twin(case, form, dtype):
    X, y = problem(100, 13, seed=0, dtype=dtype)
    for weights in (None, np.random.default_rng(0).choice([0.0, 0.3, 1.0, 2.5], size=100)):
        learner = case.estimator(**form).partial_fit(csr32(X), y, sample_weight=weights)
        assert_same_model(learner, case.regression(X, y, weights=weights, **form), dtype)


def test_a_residual_of_zero_moves_no_weight_but_narrows_variances():
    learner = AROWRegressor(1.0, fit_intercept=False, scale=1.0).partial_fit([[1.0, 0.0], [1.0, 0.0]], [0.0, 0.0])
    assert learner.coef_.tolist() == [0.0, 0.0] and learner.covariance_.tolist() == [1 / 3, 1.0]
    assert (learner.n_updates_, learner.t_, learner.progressive_mse_) == (2, 2, 0.0)


def test_an_average_begins_again_with_the_given_weights():
    X, y = problem(30, 5, seed=19)
    learner = PassiveAggressiveRegressor(max_iter=1, epsilon=1e6, average=True, warm_start=True).fit(X, y)
    assert_allclose(learner.fit(X, y, coef_init=np.arange(5.0)).coef_, np.arange(5.0))
    with pytest.raises(ValueError, match=r"^PassiveAggressiveRegressor: coef_init must have shape \(5,\), got "):
        learner.fit(X, y, coef_init=np.ones((2, 5)))


@pytest.mark.parametrize("estimator", REGRESSORS, ids=lambda cls: cls.__name__)
def test_targets_of_any_real_dtype_are_read_alike_and_scored_by_r_squared(estimator):
    metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")
    X, weights = problem(4, 3, seed=20)[0], [0.3, 1.0, 0.5, 2.0]
    learner = estimator().partial_fit(X, [1.0, 0.0, 2.0, 1.0])
    for y in (np.array([1, 0, 2, 1], np.uint8), np.array([1, 0, 2, 1], ">f4"), np.array([1, 0, 2, 1], object),
              np.array([1, 0, 2, 1], np.longdouble), np.array([1, 9, 0, 9, 2, 9, 1])[::2]):
        assert fingerprint(estimator().partial_fit(X, y)) == fingerprint(learner)
        for given in (None, weights):
            assert_allclose(learner.score(X, y, given), metrics.r2_score(y, learner.predict(X), sample_weight=given))
    with pytest.warns(UserWarning, match="column-vector"):
        assert fingerprint(estimator().partial_fit(X, [[1], [0], [2], [1]])) == fingerprint(learner)
    assert learner.score(X, np.full(4, 3.0)) == 0.0


def test_the_score_of_targets_whose_squares_overflow_is_a_number():
    X, y = np.arange(6.0)[:, None], np.array([1.0, -1.0, 2.0, 0.0, 1.0, 3.0])
    learner = AROWRegressor().partial_fit(X, y)
    largest = 2.0**700
    wanted = 1.0 - np.mean((y - learner.predict(X) / largest) ** 2) / np.var(y)
    assert learner.score(X, y * largest) == pytest.approx(wanted)
    assert learner.score(X, y / largest) == -np.inf
