"""The dual ascent regressor against its slow twin and the tutorial's bounds. (Its contracts: contracts.py.)"""

import pickle
from itertools import product

import numpy as np
import pytest
from looping import within
from numpy.testing import assert_allclose
from reference import DualAscentRegression

from onlinecls import DualAscentRegressor, PassiveAggressiveRegressor

FORMS = [
    {"regularizer": regularizer, "loss": loss, "update": update}
    for regularizer, loss, update in product(["euclidean", "entropic"], ["absolute", "squared"], ["DA1", "DA2", "DA3"])
]
FORMS += [{**form, "signed": False} for form in FORMS if form["regularizer"] == "entropic"]
every_form = pytest.mark.parametrize("form", FORMS, ids=lambda form: "-".join(map(str, form.values())))
both_sigmas = within(sigma=[12.0, "auto"])
TOLERANCE = {"float64": 1e-9, "float32": 1e-3}


def problem(n, d, seed, dtype="float64"):
    """Rows with zeros, all-zero ones and features of one size among them, and noisy targets of a sparse vector."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.6)
    X[::7] = np.sign(X[::7])
    X[::11] = 0.0
    y = X @ np.where(np.arange(d) % 3 == 0, 1.0, -0.2) + 0.3 * rng.standard_normal(n)
    return X.astype(dtype), y


@within(dtype=["float64", "float32"])
@both_sigmas
@every_form
def test_dual_ascent_regression_equals_the_slow_twin(form, sigma, dtype):
    X, y = problem(60, 9, seed=50, dtype=dtype)
    weights = np.random.default_rng(0).choice([0.0, 0.3, 1.0, 2.5], size=len(y))
    twin = DualAscentRegression(9, sigma=sigma, norm_bound=3.0, **form)
    learner = DualAscentRegressor(sigma, norm_bound=3.0, fit_intercept=False, **form)
    squared = absolute = 0.0
    for i, (x, target, c) in enumerate(zip(X.astype(float), y, weights, strict=True)):
        if c > 0.0:
            error = target - twin.W[0] @ x
            squared, absolute = squared + error**2, absolute + abs(error)
            twin.learn(x, target, c)
        learner.partial_fit(X[i : i + 1], y[i : i + 1], sample_weight=weights[i : i + 1])
        assert_allclose(learner.dual_value_, twin.dual_value, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])
    assert learner.coef_.dtype == dtype and learner.n_skipped_ == 0 and learner.t_ == twin.t == (weights > 0).sum()
    assert_allclose(learner.coef_, twin.W[0], rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])
    assert_allclose(learner.sigma_, twin.sigma, rtol=1e-12 if dtype == "float64" else 1e-3)
    assert_allclose(learner.progressive_mse_, squared / twin.t, rtol=TOLERANCE[dtype])
    assert_allclose(learner.progressive_mae_, absolute / twin.t, rtol=TOLERANCE[dtype])


def test_the_euclidean_absolute_loss_is_passive_aggressive_without_a_tube():
    X, y = problem(200, 9, seed=51)
    dual = DualAscentRegressor(2.0).partial_fit(X, y)
    known = PassiveAggressiveRegressor(C=0.5, epsilon=0.0).partial_fit(X, y)
    assert_allclose(dual.coef_, known.coef_, rtol=1e-9, atol=1e-12)


@both_sigmas
@pytest.mark.parametrize("loss", ["absolute", "squared"])
@pytest.mark.parametrize("regularizer", ["euclidean", "entropic"])
def test_each_update_raises_the_dual_enough_and_da2_the_most(regularizer, loss, sigma):
    """Starting from the same model, DA3's increase = DA2's >= DA1's >= loss - L²/(2σ), all of them the twin's."""
    X, y = problem(80, 7, seed=52)
    weights = np.random.default_rng(0).choice([0.5, 1.0, 2.0], size=80)
    form = {"sigma": sigma, "regularizer": regularizer, "loss": loss, "norm_bound": 3.0}
    walker = DualAscentRegressor(**form, fit_intercept=False).partial_fit(X[1:2], y[1:2])
    twin = DualAscentRegression(7, update="DA2", **form)
    twin.learn(X[1], y[1])
    for i in range(2, 80):
        if not X[i].any():
            continue
        values = []
        for update in ("DA1", "DA2", "DA3"):
            learner = pickle.loads(pickle.dumps(walker)).set_params(update=update)
            values.append(learner.partial_fit(X[i : i + 1], y[i : i + 1], sample_weight=weights[i : i + 1]).dual_value_)
        twin.learn(X[i], y[i], weights[i])
        gained = np.array(values) - (twin.dual_value - twin.increase)  # from the model by this round's σ
        slack = 1e-9 * (1 + abs(twin.dual_value))
        assert abs(gained[1] - twin.increase) <= slack and gained[2] == gained[1]
        assert gained[1] >= gained[0] - slack and gained[0] >= twin.sufficient - slack
        walker = learner


@pytest.mark.parametrize("update", ["DA1", "DA2"])
@pytest.mark.parametrize("loss", ["absolute", "squared"])
@pytest.mark.parametrize("regularizer", ["euclidean", "entropic"])
def test_the_dual_never_passes_the_primal_and_the_regret_is_bounded(regularizer, loss, update):
    """dual_value_ <= f(u) + Σ loss(u), and Σ loss(w_t) <= f(u) + Σ loss(u) + Σ L_t²/(2σ), for any u."""
    X, y = problem(300, 8, seed=53)
    W, sigma = 4.0, 20.0
    learner = DualAscentRegressor(sigma, regularizer=regularizer, loss=loss, update=update, norm_bound=W, fit_intercept=False)
    errors = np.empty(300)
    for i in range(300):
        errors[i] = y[i] - (learner.predict(X[i : i + 1])[0] if i else 0.0)
        learner.partial_fit(X[i : i + 1], y[i : i + 1])
    of = np.abs if loss == "absolute" else np.square
    norms = W * np.abs(X).max(axis=1) if regularizer == "entropic" else np.sqrt((X**2).sum(axis=1))
    steps = norms if loss == "absolute" else 2 * np.abs(errors) * norms
    rng = np.random.default_rng(0)
    for u in [learner.coef_.astype(float), np.zeros(8), *(rng.standard_normal(8) / 3 for _ in range(20))]:
        if regularizer == "entropic":
            u = u * min(1.0, 0.99 * W / max(np.abs(u).sum(), 1e-9))
            spare = (W - np.abs(u).sum()) / 16
            p = np.concatenate([np.maximum(u, 0) + spare, np.maximum(-u, 0) + spare]) / W
            f = sigma * np.sum(p * np.log(16 * p))
        else:
            f = sigma / 2 * u @ u
        primal = f + of(y - X @ u).sum()
        assert learner.dual_value_ <= primal + 1e-9
        assert of(errors).sum() <= primal + (steps**2).sum() / (2 * sigma) + 1e-9


def test_experts_are_nearly_as_good_as_their_best_committee():
    """Absolute loss, advice in [-1, 1], W = 1: regret to any committee u >= 0, Σ u = 1 is at most L √(2 T log d), L = 1."""
    rng, d, T = np.random.default_rng(0), 30, 600
    y = np.clip(np.cumsum(rng.standard_normal(T)) / 8, -1, 1)
    X = np.clip(y[:, None] + np.linspace(0.05, 1.5, d) * rng.standard_normal((T, d)), -1.0, 1.0)
    bound = np.sqrt(2 * T * np.log(d))
    for update in ("DA1", "DA3"):
        learner = DualAscentRegressor(
            np.sqrt(T / (2 * np.log(d))), regularizer="entropic", update=update, signed=False, fit_intercept=False
        ).partial_fit(X, y)
        paid = learner.progressive_mae_ * T
        committees = [np.eye(d)[i] for i in range(d)] + [rng.dirichlet(np.full(d, 0.3)) for _ in range(50)]
        best = min(np.abs(y - X @ u).sum() for u in [*committees, learner.coef_ / learner.coef_.sum()])
        assert paid <= best + bound
        assert paid < np.abs(y - X.mean(axis=1)).sum()
        assert learner.coef_.min() >= 0.0 and learner.coef_.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("sigma", [0.3, 3.0, 30.0])
def test_the_committee_stays_within_its_experts_and_the_signed_simplex_does_not(sigma):
    """8 good experts: a committee begins as their mean, EG± as 0, outside of what any of them says."""
    rng = np.random.default_rng(0)
    y = rng.uniform(1.0, 3.0, 100)
    X = y[:, None] + 0.05 * rng.standard_normal((100, 8))
    paid = {}
    for signed in (False, True):
        learner = DualAscentRegressor(sigma, regularizer="entropic", signed=signed, fit_intercept=False).partial_fit(X[:0], y[:0])
        said = np.zeros(100)
        for i in range(100):
            said[i] = learner.predict(X[i : i + 1])[0]
            learner.partial_fit(X[i : i + 1], y[i : i + 1])
        paid[signed] = np.abs(y - said).sum()
        if not signed:
            assert (X.min(axis=1) - 1e-9 <= said).all() and (said <= X.max(axis=1) + 1e-9).all()
        else:
            assert said[0] == 0.0
    assert paid[False] < 3.0 and paid[False] < 0.75 * paid[True]


def test_fit_stops_by_the_loss_and_a_warm_start_goes_on():
    X, y = problem(100, 6, seed=58)
    learner = DualAscentRegressor(loss="squared", max_iter=300, random_state=0).fit(X, y)
    assert 5 < learner.n_iter_ < 300 and learner.score(X, y) > 0.8
    again = DualAscentRegressor(loss="squared", max_iter=3, tol=None, random_state=0, warm_start=True).fit(X, y)
    t = again.t_
    assert again.fit(X, y).t_ == t + 300


@pytest.mark.parametrize("regularizer", ["euclidean", "entropic"])
@pytest.mark.parametrize("loss, paid", [("absolute", 2.0 + 2.5 * 3.0), ("squared", 4.0 + 2.5 * 9.0)])
def test_rows_of_zeros_add_their_loss_to_the_dual_value_of_a_regressor(loss, paid, regularizer):
    learner = DualAscentRegressor(2.0, loss=loss, regularizer=regularizer, fit_intercept=False)
    learner.partial_fit(np.zeros((2, 3)), [2.0, -3.0], sample_weight=[1.0, 2.5])
    assert learner.dual_value_ == pytest.approx(paid) and not learner.coef_.any()


@pytest.mark.parametrize("loss", ["absolute", "squared"])
def test_a_step_whose_weights_leave_the_dtype_is_left_out_and_counted(loss):
    """Weights are θ/σ: 1e36 is a θ of float32, 1e39 no weight of it."""
    learner = DualAscentRegressor(1e-3, loss=loss, fit_intercept=False, dtype="float32")
    learner.partial_fit(np.float32([[1e-37]]), [100.0], sample_weight=[1e100])
    assert (learner.n_skipped_, learner.n_updates_, learner.coef_.tolist()) == (1, 0, [0.0])
