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
every_regressor = pytest.mark.parametrize("estimator", REGRESSORS, ids=lambda cls: cls.__name__)
both_dtypes = within(dtype=["float64", "float32"])


def problem(n, d, seed, dtype="float64"):
    """Rows with zeros, some empty, and targets of a noisy linear rule."""
    X, _ = continuous_problem(n, d, seed, dtype=dtype)
    rng = np.random.default_rng(seed + 1000)
    return X, X.astype(float) @ rng.standard_normal(d) + 0.5 + 0.3 * rng.standard_normal(n)


def rows_in_turn(learner, X, y):
    """(x, target, prediction before) of each row, just after it has been learnt."""
    learner.partial_fit(X[:0], y[:0])
    for x, target in zip(X, y, strict=True):
        before = learner.predict(x[None])[0]
        learner.partial_fit(x[None], [target])
        yield x, target, before


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


# --- against the twin ---------------------------------------------------------------------------------------------------------


@both_dtypes
@within(form=[{"fit_intercept": False}, {"fit_intercept": True, "intercept_scaling": 0.5}])
@every_case
def test_weights_and_errors_equal_the_slow_twin(case, form, dtype):
    X, y = problem(100, 13, seed=0, dtype=dtype)
    for weights in (None, np.random.default_rng(0).choice([0.0, 0.3, 1.0, 2.5], size=100)):
        learner = case.estimator(**form).partial_fit(csr32(X), y, sample_weight=weights)
        assert_same_model(learner, case.regression(X, y, weights=weights, **form), dtype)


# --- definitions --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("epsilon", [0.0, 0.4])
@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
def test_pa_ends_exactly_epsilon_from_the_target_and_moves_no_further_than_needed(loss, epsilon, fit_intercept):
    X, y = problem(200, 13, seed=5)
    learner = PassiveAggressiveRegressor(
        float("inf"), epsilon=epsilon, loss=loss, fit_intercept=fit_intercept, intercept_scaling=1.0
    )
    updates, old = 0, np.zeros(14)
    for x, target, before in rows_in_turn(learner, X, y):
        z, now = np.append(x, float(fit_intercept)), np.append(learner.coef_, learner.intercept_)
        if abs(target - before) <= epsilon or not z.any():
            assert (now == old).all()
        else:
            assert_allclose(abs(target - learner.predict(x[None])[0]), epsilon, atol=1e-12)
            assert (target - before) * (target - learner.predict(x[None])[0]) >= -1e-12, "on the side where it came from"
            assert_allclose(
                np.linalg.norm(now - old), (abs(target - before) - epsilon) / np.linalg.norm(z), rtol=1e-9, atol=1e-14
            )
            updates += 1
        old = now
    assert learner.n_updates_ == updates > 50


def test_a_residual_of_zero_moves_no_weight_but_narrows_variances():
    learner = AROWRegressor(1.0, fit_intercept=False, scale=1.0).partial_fit([[1.0, 0.0], [1.0, 0.0]], [0.0, 0.0])
    assert learner.coef_.tolist() == [0.0, 0.0] and learner.covariance_.tolist() == [1 / 3, 1.0]
    assert (learner.n_updates_, learner.t_, learner.progressive_mse_) == (2, 2, 0.0)


# --- fit ----------------------------------------------------------------------------------------------------------------------


def test_fit_stops_by_the_loss_or_by_the_held_out_rows(capsys):
    X, y = problem(300, 9, seed=18)
    learner = AROWRegressor(max_iter=500, random_state=0).fit(X, y)
    assert 5 < learner.n_iter_ < 500
    learner = AROWRegressor(max_iter=500, random_state=0, early_stopping=True, validation_fraction=0.2, verbose=1).fit(X, y)
    assert 5 < learner.n_iter_ < 500 and learner.t_ == 240 * learner.n_iter_
    last = float(capsys.readouterr().out.splitlines()[-1].split("validation score=")[1])
    assert 0.9 < last <= 1.0


def test_an_average_has_as_many_rounds_at_0_as_at_the_given_weights():
    X, y = problem(30, 5, seed=19)
    learner = PassiveAggressiveRegressor(max_iter=1, epsilon=1e6, average=True, warm_start=True).fit(X, y)
    assert_allclose(learner.fit(X, y, coef_init=np.arange(5.0)).coef_, np.arange(5.0) / 2)
    with pytest.raises(ValueError, match=r"^PassiveAggressiveRegressor: coef_init must have shape \(5,\), got "):
        learner.fit(X, y, coef_init=np.ones((2, 5)))


@every_regressor
def test_the_score_of_a_regressor_is_r_squared(estimator):
    metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")
    X, y = problem(80, 6, seed=20)
    weights = np.random.default_rng(0).random(80)
    learner = estimator(random_state=0).fit(X, y)
    predicted = learner.predict(X)
    assert_allclose(learner.score(X, y), metrics.r2_score(y, predicted), rtol=1e-12)
    assert_allclose(learner.score(X, y, weights), metrics.r2_score(y, predicted, sample_weight=weights), rtol=1e-12)
    assert learner.score(X, np.full(80, 3.0)) == 0.0
    empty = estimator().partial_fit(X[:0], y[:0])
    assert empty.score(X, np.zeros(80)) == 1.0 and np.isnan(empty.progressive_mse_) and np.isnan(empty.progressive_mae_)
    with pytest.warns(UserWarning, match="less than two samples"):
        assert np.isnan(learner.score(X[:1], y[:1]))


# --- targets ------------------------------------------------------------------------------------------------------------------

X4 = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0], [0.5, 0.0, 1.0], [0.0, 1.0, 4.0]])
Y4 = np.array([0.5, -1.0, 0.0, 2.0])


@every_regressor
def test_targets_of_any_real_dtype_are_read_alike(estimator):
    expected = fingerprint(estimator().partial_fit(X4, [1.0, 0.0, 2.0, 1.0]))
    for y in (
        [1, 0, 2, 1], np.array([1, 0, 2, 1], np.uint8), np.array([1, 0, 2, 1], ">f4"), np.array([1, 0, 2, 1], object),
        np.array([1, 0, 2, 1], np.longdouble), np.array([1, 9, 0, 9, 2, 9, 1])[::2], np.array([1, 2, 0, 1.0])[::-1],
    ):
        assert fingerprint(estimator().partial_fit(X4, y)) == expected
    read_only = np.array([1.0, 0.0, 2.0, 1.0])
    read_only.flags.writeable = False
    assert fingerprint(estimator().partial_fit(X4, read_only)) == expected
    assert np.isfinite(estimator().partial_fit(X4, [True, False, True, True]).coef_).all()
    with pytest.warns(UserWarning, match="column-vector"):
        assert fingerprint(estimator().partial_fit(X4, [[1], [0], [2], [1]])) == expected
