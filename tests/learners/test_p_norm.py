"""The p-norm Perceptron: what it is at p = 2 and elsewhere, its running norm, ranges, errors."""


import numpy as np
import pytest
from internals import state_of
from looping import within
from matrices import continuous_problem
from numpy.testing import assert_allclose
from reference import AggressivePNorm
from states import is_finite

from onlinecls import PNormPerceptron

both_dtypes = within(dtype=["float64", "float32"])
both_constructions = within(multi_class=["crammer_singer", "ovr"])


def theta(learner):
    """(vectors, features and the constant one) as they are stored."""
    return state_of(learner).view[:, 0].T.astype(float)


def linked(theta, p):
    """The weights of one learner's theta, by the definition."""
    largest = np.abs(theta).max()
    if largest == 0.0:
        return theta
    norm = largest * np.linalg.norm(theta.ravel() / largest, p)
    return (1 / (p - 1)) * norm * np.sign(theta) * (np.abs(theta) / norm) ** (p - 1)


@pytest.mark.parametrize("p", [2, 2.01, 3, 7.5, 28, 137.0, 500])
@pytest.mark.parametrize("aggressive", [False, True])
def test_weights_are_the_link_of_theta(aggressive, p):
    X, y = continuous_problem(300, 13, seed=82)
    for dtype, rtol in ((np.float64, 1e-11), (np.float32, 1e-7 * 4 * p)):
        learner = PNormPerceptron(p, aggressive=aggressive, fit_intercept=False, scale=1.0).partial_fit(X.astype(dtype), y)
        expected = linked(theta(learner), p)[:, :-1]
        assert_allclose(learner.coef_, expected, rtol=rtol, atol=rtol * np.abs(expected).max())
        assert_allclose(learner.decision_function(X), X @ learner.coef_[0], rtol=10 * rtol, atol=10 * rtol)


@pytest.mark.parametrize("p", [2.5, 28, 300])
@pytest.mark.parametrize("dtype, size", [(np.float64, 1e100), (np.float64, 1e-100), (np.float32, 1e15), (np.float32, 1e-10)])
def test_the_running_norm_survives_any_rise_and_fall(dtype, size, p):
    """A feature comes and goes that is many orders larger than the others; signs make each of its rows a mistake."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 8)).astype(dtype)
    y = rng.integers(0, 2, 400)
    X[:, 0] = 0.0
    X[50::20] = 0.0
    X[50::20, 0] = size
    y[50::20] = np.arange(len(y[50::20])) % 2
    learner = PNormPerceptron(p, fit_intercept=False, scale=1.0)
    norms = set()
    for start in range(0, 400, 10):
        learner.partial_fit(X[start : start + 10], y[start : start + 10], classes=[0, 1])
        expected, rtol = linked(theta(learner), p)[:, :-1], 1e-11 if dtype == np.float64 else 1e-6 * p
        assert is_finite(learner)
        assert_allclose(learner.coef_, expected, rtol=rtol, atol=rtol * np.abs(expected).max())
        norms.add(float(f"{np.abs(theta(learner)).max():.0e}"))
    assert max(norms) / min(norms) > 1e8 or size < 1, "else this test shows nothing"


@pytest.mark.parametrize("p", [2.0, 2.5, 28.0, 500.0])
def test_long_rows_of_many_different_numbers_have_their_norm(p):
    """More runs than a batch holds, zeros among them, numbers too small to count; the aggressive step tells ||x||_p."""
    rng, part = np.random.default_rng(1), False
    for d in (1, 3, 63, 64, 65, 129, 400):
        for intercept in (True, False):
            x = rng.choice([-1.0, 1.0], d) * rng.choice([0.0, 1.0, 1.0, 1e-3, 1e-30], d) * rng.uniform(0.5, 1.0, d)
            x[0] = 1.5
            full = np.append(x, 1.0) if intercept else x
            twin = AggressivePNorm(len(full), p=p, radius=2**0.5)
            learner = PNormPerceptron(p, aggressive=True, fit_intercept=intercept, intercept_scaling=1.0, scale=1.0)
            learner.partial_fit(x[None], [1], classes=[0, 1])
            twin.step(full)
            before = twin.theta[0]
            learner.partial_fit(-0.5 * x[None], [1]), twin.step(np.append(-0.5 * x, 1.0) if intercept else -0.5 * x)
            learner.partial_fit(0.5 * x[None], [1]), twin.step(np.append(0.5 * x, 1.0) if intercept else 0.5 * x)
            part |= 0.0 < abs(twin.theta[0] - before) not in (0.75, 1.5)
            assert_allclose(learner.coef_[0], twin.w[:d], rtol=1e-11, atol=1e-14)
    assert part, "else every step was a whole one"


@both_constructions
def test_multi_class_of_a_p_norm_may_change_between_calls(multi_class):
    """Norms are summed anew for the other construction; theta stays."""
    X, y = continuous_problem(200, 9, seed=85, n_classes=4)
    other = {"ovr": "crammer_singer", "crammer_singer": "ovr"}[multi_class]
    learner = PNormPerceptron(5.0, multi_class=multi_class, intercept_scaling=1.0, scale=1.0).partial_fit(X[:100], y[:100])
    before, shown = theta(learner), learner.coef_.copy()
    learner.set_params(multi_class=other)
    assert (learner.coef_ == shown).all()
    learner.partial_fit(X[100:101], y[100:101])
    moved = np.abs(theta(learner)[:4] - before[:4])
    assert not moved[:, :-1][:, X[100] == 0.0].any()
    t = theta(learner)[:4]
    expected = linked(t, 5.0) if other == "crammer_singer" else np.vstack([linked(part[None], 5.0) for part in t])
    assert_allclose(np.column_stack([learner.coef_, learner.intercept_]), expected, rtol=1e-11, atol=1e-14)
    assert_allclose(learner.decision_function(X), np.column_stack([X, np.ones(200)]) @ expected.T, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("d, p", [(1, 2.0), (2, 2.0), (3, 2 * np.log(3)), (1000, 2 * np.log(1000))])
def test_p_is_by_default_2_ln_d(d, p):
    X, y = np.random.default_rng(0).standard_normal((30, d)), np.arange(30) % 2
    assert_allclose(PNormPerceptron().partial_fit(X, y).coef_, PNormPerceptron(float(p)).partial_fit(X, y).coef_, rtol=1e-14)
