"""One-class learners: the kernel against the slow twin, the ball's definition, errors. (Their contracts: contracts.py.)"""


import numpy as np
import pytest
from algorithms import ONE_CLASS, OUTLIER_DETECTORS
from internals import state_of
from looping import within
from matrices import continuous_problem, csr32
from numpy.testing import assert_allclose
from reference import run_one_class

from onlinecls import PassiveAggressiveOneClass

TOLERANCE = {"float64": 1e-10, "float32": 2e-4}
every_case = pytest.mark.parametrize("case", ONE_CLASS, ids=str)
every_detector = pytest.mark.parametrize("estimator", OUTLIER_DETECTORS, ids=lambda cls: cls.__name__)
both_dtypes = within(dtype=["float64", "float32"])


def cloud(n, d, seed, dtype="float64"):
    return continuous_problem(n, d, seed, dtype=dtype)[0]


@both_dtypes
@every_case
def test_centre_equals_the_slow_twin(case, dtype):
    """Weights of rows shorten the step and never stretch it."""
    X, tolerance = cloud(200, 13, seed=90, dtype=dtype), TOLERANCE[dtype]
    weights = np.random.default_rng(0).choice([0.0, 0.3, 1.0, 2.5], size=200)
    weights[0] = 0.0
    for given in (np.ones(200), weights):
        learner = case.estimator().partial_fit(csr32(X), sample_weight=given)
        expected = case.one_class(X, weights=given).w
        assert learner.center_.dtype == dtype
        assert_allclose(learner.center_, expected, rtol=tolerance, atol=tolerance * np.abs(expected).max())
        assert (learner.t_, learner.n_skipped_) == (np.count_nonzero(given), 0)
        distances, near = np.linalg.norm(X - expected, axis=1), 1e-7 if dtype == "float64" else 1e-3
        assert_allclose(learner.score_samples(csr32(X)), -distances, rtol=20 * tolerance, atol=near)


@both_dtypes
@pytest.mark.parametrize("epsilon", [1e-6, 0.3, 2.0])
def test_renormalising_the_centre_leaves_it_that_of_the_slow_twin(epsilon, dtype):
    """Steps of nearly the whole way shrink the scale by orders of magnitude each."""
    X = cloud(3000, 5, seed=92, dtype=dtype)
    learner = PassiveAggressiveOneClass(epsilon, scale=1.0)
    for start in range(0, 3000, 3):
        learner.partial_fit(X[start : start + 3])
        u, centre = state_of(learner).values.astype(float), state_of(learner).groups[0]
        assert_allclose(centre[0] + centre[1], u @ u, rtol=1e-12)
    if dtype == "float64":  # (whose squares, times those of the scale, might underflow)
        assert PassiveAggressiveOneClass(2**-340 * epsilon, scale=1.0).partial_fit(2**-340 * X).n_updates_ == learner.n_updates_
    w = run_one_class("pa_one_class", X, epsilon=epsilon).w
    assert_allclose(learner.center_, w, rtol=1e-9 if dtype == "float64" else 1e-3, atol=1e-9 if dtype == "float64" else 1e-4)


@both_dtypes
@pytest.mark.parametrize("epsilon", [0.0, 0.4, 1.5])
def test_each_row_is_in_the_ball_just_after_it_was_learnt_and_the_step_was_the_shortest(epsilon, dtype):
    X = cloud(150, 6, seed=93, dtype=dtype)
    learner = PassiveAggressiveOneClass(epsilon, scale=1.0).partial_fit(X[:1])
    assert (learner.center_ == X[0]).all() and (learner.t_, learner.n_updates_, learner.n_mistakes_) == (1, 0, 0)
    for x in X[1:]:
        before, inside, mistakes = learner.center_.copy(), learner.predict(x[None])[0] == 1, learner.n_mistakes_
        learner.partial_fit(x[None])
        moved, tolerance = np.linalg.norm((learner.center_ - before).astype(float)), TOLERANCE[dtype]
        assert_allclose(moved, max(0.0, np.linalg.norm(x.astype(float) - before) - epsilon), rtol=tolerance, atol=tolerance)
        assert learner.predict(x[None])[0] == 1 and learner.decision_function(x[None])[0] >= 0.0
        assert learner.n_mistakes_ == mistakes + (not inside)
        assert learner.partial_fit(x[None]).n_mistakes_ == mistakes + (not inside), "it is inside now"
    assert learner.n_updates_ > (100 if epsilon < 1.0 else 20)


@both_dtypes
def test_a_centre_that_falls_back_to_nothing_knows_its_length(dtype):
    """Halfway from a row to its opposite: what is left is far below the rounding of what has gone."""
    near = np.arange(1.0, 4.0)
    far = 2.0**45 * np.random.default_rng(0).standard_normal(30).astype(dtype)
    X = np.array([[*far, *near], [*-far, *near]], dtype)
    learner = PassiveAggressiveOneClass(np.linalg.norm(far.astype(float)), scale=1.0, dtype=dtype).partial_fit(X)
    square, _, peak, _ = state_of(learner).groups[0]
    assert learner.n_updates_ == 1 and peak <= 2.0**40 * square
    assert_allclose(square, np.square(state_of(learner).values, dtype=float).sum(), rtol=1e-13)
