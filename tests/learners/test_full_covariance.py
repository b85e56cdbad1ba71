"""A full covariance: against the slow twins, at every depth of the kernel, over any split, and under numbers that hurt."""

from itertools import product

import internals
import numpy as np
import pytest
from algorithms import ALL, REGRESSION, Case
from internals import set_depth, state_of
from looping import each_estimator, within
from matrices import continuous_problem, csr32, dense_c
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from states import fingerprint, is_finite

import onlinecls

NARROW = Case("narow", {"b": 8.0, "initial_variance": 1.0})
CASES = [*(case for case in ALL if case.algorithm.geometry in ("gaussian", "potential")), NARROW,
         Case("cw_variance", {"eta": 0.55, "initial_variance": 1.0})]
REGRESSOR = next(case for case in REGRESSION if case.name == "arow_regression")
DEPTHS = [1, 2, 3, 4, 64]  # of steps that wait, and of products made at once

every_case = each_estimator(case=CASES)
both_dtypes = within(dtype=["float64", "float32"])
both_constructions = within(multi_class=["crammer_singer", "ovr"])


@pytest.fixture(autouse=True)
def depth_of_users():
    yield
    set_depth(64)


def full(case, depth=64, **others):
    set_depth(depth)
    return case.estimator(covariance="full", intercept_scaling=0.7, **others)


def symmetric(lower):
    return np.tril(lower) + np.swapaxes(np.tril(lower, -1), -1, -2)


def model(learner):
    """(vectors, D) weights and (vectors, D, D) covariances, the constant feature among them; without "none of these"."""
    state = state_of(learner).closed()
    roots = np.sqrt(state.growth)[:, None] * state.caps
    return state.view[:, 0].T.astype(np.float64), symmetric(state.sigma.astype(np.float64)) * roots[:, :, None] * roots[:, None]


def counters(learner):
    return [getattr(learner, name) for name in ("t_", "n_updates_", "n_mistakes_", "n_skipped_") if hasattr(learner, name)]


def close(found, expected, tolerance):
    """Within `tolerance` of the largest number that is expected."""
    assert_allclose(found, expected, rtol=0, atol=tolerance * max(np.abs(expected).max(), 1e-3))


def same_model(learner, other, tolerance=1e-10):
    for found, expected in zip(model(learner), model(other), strict=True):
        close(found, expected, tolerance)
    if len(state_of(other).correction):
        close(state_of(learner).correction, state_of(other).correction, tolerance)
    assert counters(learner) == counters(other)
    assert_array_equal(state_of(learner).counts, state_of(other).counts)
    assert_allclose(state_of(learner).counters, state_of(other).counters, rtol=100 * tolerance)


def is_twin(learner, W, Sigma, twin, dtype):
    W_found, Sigma_found = model(learner)
    close(W_found, W, 1e-10 if dtype == "float64" else 2e-4)
    close(Sigma_found, Sigma, 1e-10 if dtype == "float64" else 1e-4)
    if dtype == "float64":
        assert counters(learner)[:2] == [twin.t, twin.n_updates]
        assert learner.n_skipped_ == 0


TWIN = {"covariance": "full", "fit_intercept": True, "intercept_scaling": 0.7}


@both_dtypes
@within(depth=[1, 4, 64])
@pytest.mark.parametrize("n_classes, multi_class", [(2, "ovr"), (4, "ovr"), (4, "crammer_singer")])
@every_case
def test_a_full_covariance_equals_the_slow_twin(case, n_classes, multi_class, depth, dtype):
    if n_classes > 2 and depth == 1:
        return
    X, y = continuous_problem(110, 9, seed=20, n_classes=n_classes, dtype=dtype)
    learner = full(case, depth, multi_class=multi_class).partial_fit(X, y, classes=np.unique(y))
    if n_classes == 2:
        twin = case.binary(X, y, **TWIN)
        is_twin(learner, twin.w[None], twin.Sigma[None], twin, dtype)
    else:
        twin = case.multiclass(X, y, 4, multi_class=multi_class, **TWIN)
        is_twin(learner, twin.W, twin.Sigma.reshape(4, 10, 10), twin, dtype)
    assert dtype == "float32" or learner.n_mistakes_ == twin.n_mistakes
    assert learner.n_updates_ > 20


@within(depth=[1, 64])
def test_forgetting_lets_variance_grow_along_directions_of_few_rows(depth):
    """There x'Σx passes the first variance times ||x||², and only rows that have no step by that are left unread."""
    X = np.random.default_rng(0).standard_normal((600, 8))
    X -= X.mean(axis=1, keepdims=True)
    X[::10] = 1.0
    y = np.sign(X @ np.arange(1.0, 9.0))
    case = Case("cw_variance", {"eta": 0.6, "initial_variance": 1.0, "forgetting": 0.05})
    learner = full(case, depth, fit_intercept=False).partial_fit(X, y, classes=[-1, 1])
    twin = case.binary(X, y, covariance="full", fit_intercept=False)
    W, Sigma = model(learner)
    assert X[0] @ twin.Sigma @ X[0] > 1.2 * X[0] @ X[0]
    close(W[0, :8], twin.w, 1e-10)
    close(Sigma[0, :8, :8], twin.Sigma, 1e-10)


@both_constructions
@every_case
def test_full_covariances_of_joining_labels_equal_the_slow_twin(case, multi_class):
    """There is one label for ten rows, two up to the fiftieth, then four; some weights are 0."""
    X, y = continuous_problem(110, 6, seed=22, n_classes=4)
    y = np.array(["c", "a", "d", "b"])[y % np.digitize(np.arange(110), [-1, 10, 50, 50])]
    weights = np.random.default_rng(0).choice([0.0, 0.5, 1.0, 2.0], 110)
    for balanced in (False, True):
        learner = full(case, 4, multi_class=multi_class, class_weight="balanced" if balanced else None)
        learner.partial_fit(X, y, sample_weight=weights)
        twin_weights = case.costs(y, "balanced", weights) if balanced else weights
        twin = case.stream(X, y, multi_class=multi_class, weights=twin_weights, **TWIN)
        assert learner.classes_.tolist() == twin.classes
        is_twin(learner, twin.W, twin.Sigma.reshape(4, 7, 7), twin, "float64")
        assert learner.n_mistakes_ == twin.n_mistakes


@both_dtypes
@within(depth=DEPTHS)
def test_a_full_covariance_of_a_regressor_equals_the_slow_twin(depth, dtype):
    X, y = continuous_problem(110, 9, seed=23, dtype=dtype)
    y = X @ np.arange(9.0) + y
    weights = np.random.default_rng(0).choice([0.0, 0.5, 1.0, 2.0], 110)
    learner = full(REGRESSOR, depth).partial_fit(X, y, sample_weight=weights)
    twin = REGRESSOR.regression(X, y, weights=weights, **TWIN)
    is_twin(learner, twin.w[None], twin.Sigma[None], twin, dtype)
    assert_allclose(learner.progressive_mse_, twin.squared / twin.t, rtol=1e-10 if dtype == "float64" else 1e-5)


@pytest.mark.parametrize("n_classes, multi_class", [(2, "ovr"), (3, "ovr"), (3, "crammer_singer")])
@every_case
def test_every_depth_makes_the_same_decisions(case, n_classes, multi_class):
    """70 features: 64 steps may wait. Dense rows and rows of few non-zeros take turns."""
    X, y = continuous_problem(260, 70, seed=25, n_classes=n_classes, density=0.7)
    X[::3] *= np.random.default_rng(1).random(X[::3].shape) < 0.06
    y[100:180] = y[0]  # a stretch in which little happens
    others = {"multi_class": multi_class, "average": 9}
    expected = full(case, 1, **others).partial_fit(csr32(X), y)
    for depth in DEPTHS:
        same_model(full(case, depth, **others).partial_fit(csr32(X), y), expected)


def test_products_made_ahead_are_those_that_the_rows_ask_for():
    """Most rows of weight 0 after a stretch of updates: products are made for nothing, and fewer from then on. The same model."""
    X, y = continuous_problem(1500, 20, seed=27)
    weights = np.where(np.arange(1500) < 200, 1.0, np.arange(1500) % 9 == 0)
    case = Case("cw_stdev", {"eta": 0.9})
    expected = full(case, 1).partial_fit(X, y, sample_weight=weights)
    for depth in DEPTHS:
        same_model(full(case, depth).partial_fit(X, y, sample_weight=weights), expected, 1e-9)


@every_case
def test_covariances_stay_symmetric_and_positive_definite(case):
    for n_classes in (2, 3):
        X, y = continuous_problem(1500, 24, seed=34, n_classes=n_classes)
        learner = full(case).partial_fit(X, y)
        for covariance in np.reshape(learner.covariance_, (-1, 24, 24)):
            assert_array_equal(covariance, covariance.T)
            least, *_, largest = np.linalg.eigvalsh(covariance)
            most = np.diag(covariance).max() if "forgetting" in case.params else largest  # (what grows, grows up to a variance)
            assert 0 < least and most <= state_of(learner).variance * (1 + 1e-12)


def read_std(learner, X):
    read = learner.predict if learner._estimator_type == "regressor" else learner.decision_function
    scores, std = read(X, return_std=True)
    assert_array_equal(scores, read(X))
    assert scores.shape == std.shape and std.dtype == np.float64
    return std


@both_dtypes
@within(n_classes=[2, 3])
@within(form=["diagonal", "full"])
@pytest.mark.parametrize("case", [Case("arow", {"r": 0.5}), NARROW, REGRESSOR], ids=str)
def test_standard_deviations_are_roots_of_quadratic_forms(case, form, n_classes, dtype):
    X, y = continuous_problem(150, 50, seed=36, n_classes=n_classes, dtype=dtype)
    learner = case.estimator(covariance=form, intercept_scaling=0.7).partial_fit(X, y)
    if form == "full":
        Sigma = model(learner)[1]
    else:
        Sigma = np.array([np.diag(variances) for variances in state_of(learner).view[:, 1].T.astype(np.float64)])
    rng = np.random.default_rng(1)
    for density in (0.9, 0.3, 0.02):
        X = (rng.standard_normal((200, 50)) * (rng.random((200, 50)) < density)).astype(dtype)
        X[rng.random(200) < 0.3] *= rng.random(50) < 0.1  # rows of few and of many non-zeros in one call
        Z = np.column_stack([X, np.full(200, 0.7)])
        expected = np.sqrt(np.einsum("ni,kij,nj->nk", Z, Sigma, Z))
        for storage in (dense_c, csr32):
            std = read_std(learner, storage(X))
            assert_allclose(std.reshape(expected.shape), expected, rtol=1e-11 if dtype == "float64" else 1e-4)
    assert read_std(learner, X[:0]).shape == (0,) if n_classes == 2 or case is REGRESSOR else (0, 3)


@pytest.mark.parametrize("case", [Case("arow_regression", {"r": 1e-3}), Case("arow", {"r": 1e-3})], ids=str)
def test_a_float32_covariance_stays_near_the_exact_one(case):
    """Of rows of length 1000, beside which r is below what float32 can tell from 0."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((10_000, 30))
    X = (X * 1000 / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32)
    y = np.where(X @ rng.standard_normal(30) + rng.standard_normal(10_000) > 0, 1, -1)
    models = [full(case).partial_fit(rows, y) for rows in (X, X.astype(np.float64))]
    found, exact = ((m.predict if case.name == "arow_regression" else m.decision_function)(X[:500]) for m in models)
    assert np.isfinite(found).all() and np.corrcoef(found, exact)[0, 1] > 0.9


def test_steps_that_take_all_of_a_variance_leave_a_covariance():
    """Rows near a space of three dimensions, of lengths from 1e-3 to 1e3: rounding takes no variance below 0."""
    for rng in map(np.random.default_rng, range(25)):
        X = rng.standard_normal((60, 3)) @ rng.standard_normal((3, 8)) * 10.0 ** rng.integers(-3, 4, (60, 1))
        X = csr32(X + 1e-6 * rng.standard_normal((60, 8)))
        learner = onlinecls.AROWRegressor(r=1e-30, covariance="full", scale=1.0).partial_fit(X, rng.integers(0, 2, 60))
        assert np.linalg.eigvalsh(learner.covariance_).min() > -0.1


def test_a_row_learnt_thousands_of_times_keeps_the_covariance_sound():
    """One row with both labels in turns: its variance falls until only rounding is left."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal(40)
    for dtype, case in product((np.float32, np.float64), [*CASES, REGRESSOR]):
        X, y = np.tile(x, (3000, 1)).astype(dtype), np.where(np.arange(3000) % 2, 1, -1)
        learner = full(case).partial_fit(X, y)
        Sigma = model(learner)[1]
        assert is_finite(learner) and np.isfinite(Sigma).all()
        assert np.abs(Sigma).max() <= 2 * state_of(learner).variance and np.linalg.eigvalsh(Sigma[0]).min() >= 0
        if "forgetting" in case.params:  # (each feature's variance grows back by itself)
            continue
        others = rng.standard_normal((50, 40)).astype(dtype)  # directions at right angles to the row keep their variance
        others -= np.outer(others @ x / (x @ x + 0.49), x)
        assert_allclose(np.einsum("ni,ij,nj->n", others, Sigma[0][:40, :40], others) /
                        (state_of(learner).variance * (others**2).sum(axis=1)), 1.0, rtol=0.25)


def test_a_covariance_that_does_not_fit_is_refused_before_it_is_made(monkeypatch):
    monkeypatch.setattr(internals.validation, "available_memory", lambda: 5e8)
    X = sparse.csr_matrix((np.ones(3, np.float32), ([0, 1, 2], [0, 3, 9998])), shape=(3, 9999))
    rows, y = np.random.default_rng(0).standard_normal((20, 4999)).astype(np.float32), np.arange(20) % 2
    begun = onlinecls.AROWClassifier(covariance="full").partial_fit(rows, y)  # 0.1 GB
    for learner, given, needed in (
        (onlinecls.AROWClassifier(), (X.astype(np.float64), [0, 1, 1]), "2 classes x 9,999 features of float64, 0.8 GB"),
        (onlinecls.NAROWClassifier(), (X, [0, 1, 1], range(3)), "3 classes x 9,999 features of float32, 1.2 GB"),
        (begun, (rows[:8], range(8)), "8 classes x 4,999 features of float32, 0.8 GB"),
    ):
        before = fingerprint(learner.set_params(covariance="full"))
        with pytest.raises(ValueError, match=f"must fit in memory, got {needed}, where 0.5 GB are free"):
            learner.partial_fit(*given)
        assert fingerprint(learner) == before


@both_dtypes
@each_estimator(case=[*CASES, REGRESSOR])
def test_hostile_rows_make_nothing_that_is_not_finite(case, dtype):
    rng, largest = np.random.default_rng(0), {"float32": 38, "float64": 307}[dtype]
    exponents = [-45, -40, -20, 0, 10, largest // 4, largest // 2 - 1, largest // 2, largest // 2 + 1, largest - 10, largest]
    for variance, n_classes, depth in product((None, 0.9), (2, 3), (64, 1)):
        with np.errstate(over="ignore", under="ignore"):
            scale = 10.0 ** rng.choice(exponents, (240, 1)) * rng.choice([1.0, 1.0, 1e-5], (240, 12))
            X = np.clip(rng.standard_normal((240, 12)) * scale, -(10.0**largest), 10.0**largest).astype(dtype)
        wide = {"initial_variance": 10.0 ** int(variance * largest)} if variance and "initial_variance" in case.params else {}
        learner, y = full(Case(case.name, {**case.params, **wide}), depth), rng.integers(0, n_classes, 240)
        for start in range(0, 240, 60):
            learner.partial_fit(X[start : start + 60], y[start : start + 60])
            assert is_finite(learner) and np.isfinite(model(learner)[1]).all()


def test_matrices_of_up_to_512_rows_have_the_bits_of_one_thread():
    threadpoolctl = pytest.importorskip("threadpoolctl")
    X, y = continuous_problem(200, 300, seed=61)
    found = []
    for n in (1, 2):
        with threadpoolctl.threadpool_limits(n, user_api="blas"):
            learner = onlinecls.AROWClassifier(covariance="full").partial_fit(X, y)
            found.append([learner.covariance_, learner.decision_function(X, return_std=True)[1]])
            pools = [pool["num_threads"] for pool in threadpoolctl.threadpool_info() if pool["internal_api"] == "openblas"]
            assert set(pools) <= {n}
    assert_array_equal(found[0][0], found[1][0])
    assert_array_equal(found[0][1], found[1][1])
