"""The dual ascent regressor against its slow twin and the tutorial's bounds. (Its contracts: contracts.py.)"""

import pickle
from itertools import product

import numpy as np
import pytest
from looping import within
from numpy.testing import assert_allclose
from reference import DualAscentRegression

from onlinecls import DualAscentRegressor

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
