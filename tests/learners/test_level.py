"""The level of a regression's targets, their running mean, from which regressors with an automatic intercept learn deviations."""


import numpy as np
import pytest
from looping import within
from matrices import continuous_problem, csr32
from numpy.testing import assert_allclose

import onlinecls
from onlinecls import AROWRegressor, DualAscentRegressor, KernelOnlineRegressor, PassiveAggressiveRegressor

LINEAR = [
    AROWRegressor(), AROWRegressor(covariance="full"), AROWRegressor(forgetting=0.01), AROWRegressor(0.5, average=True),
    AROWRegressor(forgetting=0.01, covariance="full"),
    DualAscentRegressor(), DualAscentRegressor(loss="squared", average=True), DualAscentRegressor(regularizer="entropic"),
    PassiveAggressiveRegressor(), PassiveAggressiveRegressor(0.1, loss="squared_epsilon_insensitive", average=True),
]
ALL = [*LINEAR, KernelOnlineRegressor("arow", gamma=0.3), KernelOnlineRegressor("pa", kernel="linear", budget=20)]
each = pytest.mark.parametrize("learner", ALL, ids=repr)


def problem(n=150, d=8, mean=40.0):
    """Return rows, targets far from 0, and weights, some of them 0."""
    X, _ = continuous_problem(n, d, seed=1)
    X[3] = 0.0
    rng = np.random.default_rng(2)
    y = X @ rng.normal(size=d) + mean + 0.3 * rng.normal(size=n)
    return X, y, rng.choice([0.0, 0.5, 1.0, 3.0], n)


def new(learner, **others):
    return type(learner)(**{**learner.get_params(deep=False), **others})


def deviations(y, weights, forgetting):
    """Return y_t - m_t of the rows with weights > 0, m_t = Σ c y / Σ c of the rows before (m_1 = y_1), and m after them all.

    λ = forgetting: the factor (1 - λ)^(t - s) is then in both sums.
    """
    found, m, mass = np.zeros(len(y)), y[weights > 0][0], 0.0
    for t in np.flatnonzero(weights):
        found[t], mass = y[t] - m, (1.0 - forgetting) * mass + weights[t]
        m += weights[t] / mass * found[t]
    return found, m


@each
@within(weighted=[False, True], step=[1, 7, 1000])
def test_a_level_is_the_papers_learner_on_deviations_from_the_mean_of_earlier_targets(learner, weighted, step):
    X, y, weights = problem()
    weights = weights if weighted else np.ones(len(y))
    found = new(learner)
    for start in range(0, len(y), step):
        part = slice(start, start + step)
        found.partial_fit(csr32(X[part]) if step == 7 else X[part], y[part], sample_weight=weights[part])
    constant = getattr(found, "intercept_scaling_", 1.0)
    wanted, m = deviations(y, weights, getattr(learner, "forgetting", 0.0))
    plain = new(learner, intercept_scaling=constant).partial_fit(X, wanted, sample_weight=weights)
    assert_allclose(found.predict(X), plain.predict(X) + m, rtol=1e-9)
    assert_allclose(found.intercept_, plain.intercept_ + m, rtol=1e-9)


@each
def test_fit_learns_deviations_from_the_mean_of_all_rows_in_every_epoch(learner):
    X, y, weights = problem()
    X = np.where(X > 0.0, 1.0, -1.0)  # (the first row tells a constant feature of 1, and no other row changes it)
    made = {"max_iter": 3, "tol": None, "random_state": 0, **({"scale": 1.0} if "scale" in learner.get_params() else {})}
    found, mean = new(learner, **made).fit(X, y, sample_weight=weights), np.average(y, weights=weights)
    plain = new(learner, intercept_scaling=1.0, **made).fit(X, y - mean, sample_weight=weights)
    assert_allclose(found.predict(X), plain.predict(X) + mean, rtol=1e-9)
    on = found.partial_fit(X[:1], [y[0] + 150.0 * weights.sum()])  # the mean is known to be of so many rows
    held = new(learner, **made, warm_start=True).fit(X, y).fit(X, y + 1.0)
    if not getattr(learner, "forgetting", 0.0):
        assert_allclose(on._state.level, (mean * weights.sum() + y[0] + 150.0 * weights.sum()) / (weights.sum() + 1.0))
        assert held._state.level == pytest.approx(y.mean() + 0.5)


@within(dtype=["float64", "float32"], covariance=["full", "diagonal"])
def test_the_merge_of_parts_with_means_of_their_own_is_what_one_level_would_have_made(dtype, covariance):
    """Deviations from another mean are those of the rows less a number, which the constant feature learns to the last digit."""
    X, y, weights = problem()
    X = np.where(X > 0.0, 1.0, -1.0)  # (as above)
    y[70:] += 500.0
    parts = slice(0, 70), slice(70, 110), slice(110, 150)
    made = {"r": 1.0, "covariance": covariance, "max_iter": 1, "tol": None, "shuffle": False}
    models = [AROWRegressor(**made).fit(X[part].astype(dtype), y[part], weights[part]) for part in parts]
    merged = onlinecls.merge(models)
    assert_allclose(merged._state.level, np.average(y, weights=weights), rtol=1e-9)
    if covariance == "full":
        Z = X.astype(dtype)
        whole = AROWRegressor(**made).fit(Z, y, weights)
        assert_allclose(merged.predict(Z), whole.predict(Z), rtol=1e-8 if dtype == "float64" else 1e-3)
    pairs = onlinecls.merge([onlinecls.merge(models[:2]), models[2]])
    assert_allclose(pairs.intercept_, merged.intercept_, rtol=1e-9 if dtype == "float64" else 1e-5)
