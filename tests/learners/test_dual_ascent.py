"""Dual ascent and the exponential weights of experts against their slow twins and bounds. (Their contracts: contracts.py.)"""

import pickle
from itertools import product

import numpy as np
import pytest
from internals import SHARED, state_of
from looping import within
from matrices import advice, continuous_problem, csr32
from numpy.testing import assert_allclose
from reference import DualAscent, DualAscentRegression

from onlinecls import DualAscentClassifier, DualAscentRegressor, HedgeClassifier


def forms(*losses):
    """Return a mark for every regularizer, loss and update, and the entropic ones without signs."""
    found = [{"regularizer": regularizer, "loss": loss, "update": update}
             for regularizer, loss, update in product(["euclidean", "entropic"], losses, ["DA1", "DA2", "DA3"])]
    found += [{**form, "signed": False} for form in found if form["regularizer"] == "entropic"]
    return pytest.mark.parametrize("form", found, ids=lambda form: "-".join(map(str, form.values())))


every_form, every_form_of_regression = forms("hinge", "log_loss"), forms("absolute", "squared")
both_sigmas = within(sigma=[0.7, "auto"])
TOLERANCE = {"float64": 1e-9, "float32": 1e-3}


def parameters(form, sigma, **others):
    """W is such that entropic margins can reach γ."""
    return {**form, "sigma": sigma, "norm_bound": 3.0, "margin": 0.8, **others}


@within(dtype=["float64", "float32"])
@both_sigmas
@every_form
def test_dual_ascent_of_two_classes_equals_the_slow_twin(form, sigma, dtype):
    X, y = continuous_problem(60, 9, seed=30, dtype=dtype)
    weights = np.random.default_rng(0).choice([0.0, 0.3, 1.0, 2.5], size=len(y))
    twin = DualAscent(9, **parameters(form, sigma))
    for x, label, c in zip(X.astype(float), y, weights, strict=True):
        if c > 0.0:
            twin.learn(x, label, c)
    learner = DualAscentClassifier(**parameters(form, sigma, fit_intercept=False, scale=1.0))
    learner.partial_fit(X, y, classes=[-1, 1], sample_weight=weights)
    assert learner.coef_.dtype == dtype and learner.n_skipped_ == 0
    assert_allclose(learner.coef_, twin.W, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])
    assert_allclose(learner.dual_value_, twin.dual_value, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])
    assert_allclose(learner.sigma_, twin.sigma, rtol=1e-12)


@both_sigmas
@every_form
def test_dual_ascent_of_four_classes_equals_the_slow_twin(form, sigma):
    X, y = continuous_problem(14, 6, seed=31, n_classes=4)
    weights = np.random.default_rng(0).choice([0.3, 1.0, 2.5], size=len(y))
    twin = DualAscent(6, 4, **parameters(form, sigma))
    learner = DualAscentClassifier(**parameters(form, sigma, fit_intercept=False, scale=1.0))
    for i in range(len(y)):
        twin.learn(X[i], y[i], weights[i])
        learner.partial_fit(X[i : i + 1], y[i : i + 1], classes=range(4) if i == 0 else None, sample_weight=weights[i : i + 1])
        near = 1e-6 if form["update"] == "DA3" and "signed" in form else 1e-7  # (see below: rows before had other weights)
        assert_allclose(learner.dual_value_, twin.dual_value, rtol=near, atol=near)
    slack = 1e-9 if form["update"] != "DA3" else 1e-4  # where the maximum is flat, its place is known less than its height
    assert_allclose(learner.coef_, twin.W, rtol=slack, atol=slack)


@within(signed=[True, False], n_sizes=[8, 9])
@pytest.mark.parametrize("update", ["DA2", "DA3"])
@pytest.mark.parametrize("loss", ["hinge", "log_loss"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_rows_of_counts_equal_the_slow_twin(n_classes, loss, update, n_sizes, signed):
    """Features of one |x| are taken together where there are at most 8 of them; rows are longer than a vector register here."""
    rng = np.random.default_rng(n_sizes)
    X, y = rng.choice(np.arange(-n_sizes, n_sizes + 1) / 4.0, size=(16, 37)), rng.integers(n_classes, size=16)
    form = parameters({"regularizer": "entropic", "loss": loss, "update": update, "signed": signed}, 3.0)
    twin = DualAscent(37, n_classes, **form) if n_classes > 2 else DualAscent(37, **form)
    for x, label in zip(X, y, strict=True):
        twin.learn(x, label if n_classes > 2 else 2 * label - 1, 1.0)
    learner = DualAscentClassifier(**form, fit_intercept=False, scale=1.0).partial_fit(X, y, classes=range(n_classes))
    assert learner.n_updates_ > 8
    assert_allclose(learner.dual_value_, twin.dual_value, rtol=1e-7, atol=1e-7)
    near = 1e-5 if update == "DA3" and n_classes > 2 else 1e-7  # a gap of 1e-11 in the dual is its root in the weights
    assert_allclose(learner.coef_, twin.W, rtol=near, atol=near)


@within(dtype=["float64", "float32"], signed=[True, False])
@pytest.mark.parametrize("loss, k", [*product(["hinge", "log_loss"], [2, 4]), ("absolute", 1), ("squared", 1)])
def test_da1_da2_da3_are_in_this_order_whatever_w_x_over_sigma_is(loss, k, signed, dtype):
    """From the same entropic model, over |x|, W, sigma and gamma of six decades each; DA2 is no less than the twin's best."""
    rng, cls, twin_class = np.random.default_rng(0), *(
        (DualAscentRegressor, DualAscentRegression) if k == 1 else (DualAscentClassifier, DualAscent))
    for _ in range(60):
        size, W, sigma, gamma = 10.0 ** rng.uniform(-3, 3, 4)
        form, d = {"regularizer": "entropic", "loss": loss, "norm_bound": W, "signed": signed}, int(rng.integers(1, 7))
        form |= {"margin": gamma} if k > 1 else {}
        walker = cls(sigma, **form, fit_intercept=False, scale=1.0)
        walker.partial_fit(np.zeros((0, d), dtype), np.zeros(0), **({"classes": range(k)} if k > 1 else {}))
        for _ in range(5):
            row = rng.choice([rng.standard_normal(d), -np.abs(rng.standard_normal(d)), rng.integers(-3, 4, d)], axis=0)
            x = (size * row * (rng.random(d) < rng.choice([0.6, 1.0])))[None].astype(dtype)
            if not x.any():
                continue
            y, c = rng.integers(k, size=1) if k > 1 else gamma * rng.standard_normal(1), 10.0 ** rng.uniform(-1, 1, 1)
            learners = [pickle.loads(pickle.dumps(walker)).set_params(update=update).partial_fit(x, y, sample_weight=c)
                        for update in ("DA1", "DA2", "DA3")]
            values, states = [learner.dual_value_ for learner in learners], [state_of(learner) for learner in learners]
            largest = max(np.abs(state.shared[0]) + sigma * (1.0 + np.abs(state.view[:d, 1]).max()) for state in states)
            slack = 8 * np.finfo(dtype).eps * largest + 1e-9 * (abs(values[0]) + abs(values[1]))
            assert values[1] >= max(values[0], walker.dual_value_) - slack and values[2] >= values[1] - slack
            if k <= 2:
                twin = twin_class(d, sigma=sigma, update="DA2", **form)
                twin.theta = state_of(walker).view[:d, 1].T.astype(float).reshape(1, d) * sigma / W
                twin.gain = state_of(walker).shared[0]
                twin.learn(x[0].astype(float), y[0] if k == 1 else 2 * y[0] - 1, c[0])
                assert not values[1] < twin.dual_value - slack - 1e-7 * abs(twin.increase)
            walker = learners[rng.integers(3)]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_stored_powers_of_a_feature_are_exact_near_0_and_far_from_it(dtype):
    """e^-K sinh u to a few ulp, whether a step of its own or a new scale wrote it, and Z to what the masses are known to."""
    rng = np.random.default_rng(5)
    learner = DualAscentClassifier(1.0, regularizer="entropic", update="DA1", norm_bound=2.0, margin=50.0, scale=1.0,
                                   fit_intercept=False)
    sizes = 10.0 ** rng.uniform(-6, 1.2, 200)
    for step in range(40):
        chosen = rng.random(200) < 0.3
        x = (chosen * sizes * rng.choice([-1, 1], 200))[None].astype(dtype)
        learner.partial_fit(x, [step % 2], classes=[0, 1] if step == 0 else None)
        sinh, u = state_of(learner).view[:200, :, 0].astype(np.longdouble).T
        shift = state_of(learner).groups[0, SHARED["shift"]]
        exact = np.exp(-np.longdouble(shift)) * np.sinh(u)
        kept = np.abs(exact) > 1e-30
        assert (u != 0).any() and (sinh[u == 0] == 0).all()
        ulps = 1e-15 if dtype == "float64" else 5e-7
        assert_allclose(sinh[kept], exact[kept], rtol=ulps * (2 + np.abs(u).max()))
        z = np.sum(np.exp(-np.longdouble(shift)) * np.cosh(u))
        found = state_of(learner).groups[0, SHARED["high"]] + state_of(learner).groups[0, SHARED["low"]]
        assert_allclose(float(found), float(z), rtol=ulps * (2 + float(np.abs(u).max())))
    assert np.abs(u).max() > 60.0


@pytest.mark.parametrize("eta0", ["auto", 0.3])
def test_hedge_equals_the_slow_twin(eta0):
    X, y = advice(300, 12, seed=0)
    weights = np.random.default_rng(0).choice([0.0, 0.5, 1.0, 2.0], size=300)
    for c in (np.ones(300), weights):
        learner = HedgeClassifier(eta0).partial_fit(csr32(X), y, classes=[0, 1], sample_weight=c)
        losses, t, paid, mistakes = np.zeros(12), 0, 0.0, 0
        for x, label, weight in zip(X, 2 * y - 1, c, strict=True):
            if weight == 0.0:
                continue
            t += 1
            eta = np.sqrt(8 * np.log(12) / t) if eta0 == "auto" else eta0
            w = np.exp(-eta * (losses - losses.min()))
            w /= w.sum()
            paid += (label + 1) / 2 - label * (w @ x)
            mistakes += (w @ x > 0.5) != (label > 0)
            losses += weight * ((label + 1) / 2 - label * x)
        eta = np.sqrt(8 * np.log(12) / (t + 1)) if eta0 == "auto" else eta0
        w = np.exp(-eta * (losses - losses.min()))
        assert_allclose(learner.coef_[0], w / w.sum(), rtol=1e-10)
        assert_allclose(learner.expected_loss_, paid, rtol=1e-12)
        assert (learner.n_mistakes_, learner.t_) == (mistakes, t)


def test_hedge_calls_a_tie_the_first_class_and_learns_nothing_from_rows_without_advice():
    """Two experts of one weight that disagree: a chance of 1/2 is no more than 1/2."""
    assert HedgeClassifier().partial_fit([[1.0, 0.0]], [0], classes=[0, 1]).n_mistakes_ == 0
    X, y = advice(30, 4, seed=2)
    X[::3] = 0.0
    for kind in (np.asarray, csr32):
        learner = HedgeClassifier().partial_fit(kind(X), y)
        assert (learner.n_updates_, learner.t_) == (X.any(axis=1).sum(), 30)


def test_a_margin_at_the_end_of_doubles_range_leaves_the_rows_out():
    """Such a margin would be added to the dual value with each row."""
    learner = DualAscentClassifier(margin=1.7e308).partial_fit(np.eye(3), [0, 1, 1], classes=[0, 1])
    assert learner.n_skipped_ == 3 and learner.dual_value_ == 0.0 and not learner.coef_.any()


def targets(n, d, seed, dtype="float64"):
    """Rows with zeros, all-zero ones and features of one size among them, and noisy targets of a sparse vector."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.6)
    X[::7] = np.sign(X[::7])
    X[::11] = 0.0
    y = X @ np.where(np.arange(d) % 3 == 0, 1.0, -0.2) + 0.3 * rng.standard_normal(n)
    return X.astype(dtype), y


@within(dtype=["float64", "float32"])
@within(sigma=[12.0, "auto"])
@every_form_of_regression
def test_dual_ascent_regression_equals_the_slow_twin(form, sigma, dtype):
    X, y = targets(60, 9, seed=50, dtype=dtype)
    weights = np.random.default_rng(0).choice([0.0, 0.3, 1.0, 2.5], size=len(y))
    twin = DualAscentRegression(9, sigma=sigma, norm_bound=3.0, **form)
    learner = DualAscentRegressor(sigma, norm_bound=3.0, fit_intercept=False, scale=1.0, **form)
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


def test_steps_that_may_add_up_to_weights_beyond_the_dtype_are_left_out():
    learner = DualAscentClassifier(update="DA1", margin=1e100, fit_intercept=False, scale=1.0)
    learner.partial_fit(np.full((3, 1), 3e37, np.float32), [1, 1, 1], classes=[0, 1])
    assert (learner.n_skipped_, learner.n_updates_, learner.coef_.tolist()) == (1, 2, [[np.float32(6e37)]])
    learner = DualAscentRegressor(1e-20, loss="squared", fit_intercept=False, scale=1.0)  # (θ = σw stays within it)
    assert learner.partial_fit(np.full((1, 1), 1e-12, np.float32), [1e36]).n_skipped_ == 1


@pytest.mark.parametrize("update", ["DA1", "DA2", "DA3"])
def test_rows_whose_units_leave_the_dtype_are_left_out(update):
    learner = DualAscentClassifier("auto", regularizer="entropic", update=update, loss="log_loss")
    X = np.array([[0.0], [1e-30], [1e-30], [1e37]], np.float32)
    with pytest.warns(UserWarning, match="1 row whose updates"):
        learner.partial_fit(X, [0, 0, 0, 0], classes=[0, 1, 2, 3])
    assert np.isfinite(learner.coef_).all() and learner.n_skipped_ == 1


def test_an_average_stays_finite_where_the_longest_step_is_the_least_number():
    X, y = np.eye(2)[[0, 0, 0]], np.array([0.0, 1.0, 1.0])
    learner = DualAscentRegressor(average=True, sigma="auto", fit_intercept=False, scale=1.0)
    learner.partial_fit(X, y, sample_weight=np.full(3, 5e-324))
    with np.errstate(over="raise", invalid="raise"):
        assert np.isfinite(learner.coef_).all() and np.isfinite(learner.predict(X)).all()


@pytest.mark.parametrize("update", ["DA1", "DA2", "DA3"])
@pytest.mark.parametrize("regularizer", ["euclidean", "entropic"])
def test_the_dual_value_of_a_squared_loss_of_the_least_weight_is_finite(update, regularizer):
    learner = DualAscentRegressor(20.0, loss="squared", update=update, regularizer=regularizer)
    learner.partial_fit([[0.0, 1.0], [1.0, 1.0]], [-1.5, 2.0], sample_weight=[1.0, 5e-324])
    assert np.isfinite(learner.dual_value_)
