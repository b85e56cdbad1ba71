"""AdaGrad with its full matrix, beside what all learners are tested for (contracts.py, test_kernels.py)."""

import signal
import threading
import time

import numpy as np
import pytest
from matrices import continuous_problem
from numpy.testing import assert_allclose

import onlinecls
from onlinecls import AdaGradClassifier
from onlinecls._wings.adagrad.states import scaled

UPDATES = ("mirror_descent", "dual_averaging")
every_update = pytest.mark.parametrize("update", UPDATES)


def learner(update="mirror_descent", **others):
    return AdaGradClassifier(**{"eta0": 0.4, "delta": 0.3, "matrix": "full", "dtype": np.float64, **others, "update": update})


def test_steps_after_one_gradient_are_along_it_up_to_the_largest_sums():
    """(δI + (gg')^(1/2))^-1 g = g / (δ + |g|)."""
    for g in (np.array([1.0, 2.0]), np.array([1.0, 1e154, 1e-160, 4e18])):
        found, large = scaled(np.outer(g, g), 0.5, g), g > 1e-3 * g.max()  # (the others are below its roundings)
        assert_allclose(found[large], (g / (0.5 + np.linalg.norm(g)))[large], rtol=1e-12)


@every_update
def test_a_turn_of_the_features_turns_the_weights(update):
    """The diagonal form depends on the axes, the full matrix does not."""
    X, y = continuous_problem(200, 6, seed=1)
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((6, 6)))[0]
    plain = learner(update, fit_intercept=False).partial_fit(X, y)
    turned = learner(update, fit_intercept=False).partial_fit(X @ turn, y)
    assert_allclose(turned.coef_ @ turn.T, plain.coef_, rtol=1e-9, atol=1e-12)


@every_update
def test_rows_of_one_non_zero_make_the_diagonal_form(update):
    X, y = continuous_problem(200, 6, seed=2)
    X *= np.arange(6) == np.arange(200)[:, None] % 6
    full, diagonal = (learner(update, matrix=matrix, fit_intercept=False).partial_fit(X, y) for matrix in ("full", "diagonal"))
    assert_allclose(full.coef_, diagonal.coef_, rtol=1e-12)


@every_update
@pytest.mark.parametrize("n_classes", [2, 4])
def test_sums_over_the_parts_of_a_stream_add_up_in_a_merge(update, n_classes):
    X, y = continuous_problem(120, 5, seed=3, n_classes=n_classes)
    classes = np.unique(y)
    parts = [learner(update).partial_fit(X[rows], y[rows], classes=classes) for rows in (slice(50), slice(50, None))]
    merged = onlinecls.merge(parts)
    sums = [part._state.products for part in parts]
    assert_allclose(merged._state.products, sums[0] + sums[1], rtol=1e-12)
    if update == "dual_averaging":
        z, G = (sum(getattr(part._state, name) for part in parts) for name in ("gradients", "products"))
        values, vectors = np.linalg.eigh(G[0])
        w = 0.4 * vectors @ ((vectors.T @ z[0]) / (0.3 + np.sqrt(np.maximum(values, 0.0))))
        assert_allclose(merged.coef_[0], w[:-1], rtol=1e-9, atol=1e-12)
    else:
        assert_allclose(merged.coef_, (50 * parts[0].coef_ + 70 * parts[1].coef_) / 120, rtol=1e-12)
    merged.partial_fit(X, y)


@every_update
def test_ctrl_c_at_500_features_leaves_whole_rows(update):
    X, y = continuous_problem(400, 500, seed=4)
    model = learner(update, fit_intercept=False)

    def interrupt(*_):
        raise KeyboardInterrupt

    def press():
        time.sleep(0.5)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGUSR1)

    before = signal.signal(signal.SIGUSR1, interrupt)
    try:
        thread = threading.Thread(target=press)
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            model.partial_fit(X, y, classes=[-1, 1])
        thread.join()
    finally:
        signal.signal(signal.SIGUSR1, before)
    rows = model.t_
    assert 0 < rows < 400
    whole = learner(update, fit_intercept=False).partial_fit(X[:rows], y[:rows], classes=[-1, 1])
    assert (model.coef_ == whole.coef_).all() and model.n_updates_ == whole.n_updates_
    assert all((getattr(model._state, name) == getattr(whole._state, name)).all() for name in whole._state.SUMS)


@pytest.mark.parametrize("params, X, message", [
    ({}, np.zeros((2, 501)), "matrix='full' must have at most 500 features, got 501: every .*, about 0.03 s. Use matrix="),
    ({"update": "dual_averaging", "l1": 0.1}, np.eye(2), r"l1 must be a number in \[0, 0\], got l1=0.1. With matrix='full'"),
])
def test_more_features_and_l1_are_refused_before_the_first_write(params, X, message):
    with pytest.raises(ValueError, match=f"^AdaGradClassifier: {message}"):
        AdaGradClassifier(matrix="full", **params).partial_fit(X, [0, 1], classes=[0, 1])
    assert AdaGradClassifier(matrix="full").partial_fit(X[:, :500], [0, 1], classes=[0, 1]).t_ == 2
