"""Variances: those that grow again by forgetting, and those of confidence-weighted learning that do not fall to nothing.

That the model is the slow twin's, test_kernels and test_full_covariance ask: trials with forgetting are in the registry.
"""

import numpy as np
import pytest
from internals import state_of
from numpy.testing import assert_allclose
from reference import run_binary, run_stream

from onlinecls import AROWClassifier, ConfidenceWeightedClassifier, SCWClassifier


def flipping(n, at, d=20, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (np.where(np.arange(n) < at, 1.0, -1.0) * (X @ rng.normal(size=d)) > 0).astype(int)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("covariance", ["diagonal", "full"])
def test_variances_grow_up_to_the_first_one(covariance, dtype):
    X = np.zeros((4_000, 3), dtype)
    X[:50, :2] = np.random.default_rng(1).normal(size=(50, 2))
    y = (X[:, 0] > 0).astype(int)
    learner = ConfidenceWeightedClassifier(
        0.9, initial_variance=2.0, covariance=covariance, forgetting=1e-4, fit_intercept=False
    ).partial_fit(X[:50], y[:50], classes=[0, 1]).set_params(forgetting=0.1)
    narrow = np.diag(learner.covariance_) if covariance == "full" else learner.covariance_[0]
    assert (narrow[:2] < 1.0).all() and narrow[2] == 2.0
    learner.partial_fit(X[50:], y[50:])  # rows of zeros
    grown = np.diag(learner.covariance_) if covariance == "full" else learner.covariance_[0]
    assert_allclose(grown, 2.0, rtol=1e-6)
    assert learner.n_updates_ <= 50
    state_of(learner).check()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_columns_that_never_or_rarely_occur_do_not_keep_a_full_covariance_from_forgetting(n_classes):
    X, y = flipping(600, 300, d=5)
    y = y + (n_classes > 2) * (X[:, 1] > 1.0)
    wide = np.insert(X, [2, 5, 5], 0.0, axis=1)
    wide[20, 2] = 1.0
    narrow = np.insert(X, 2, wide[:, 2], axis=1)
    for multi_class in ("ovr", "crammer_singer"):
        one, other = (
            AROWClassifier(0.5, covariance="full", forgetting=0.02, multi_class=multi_class, intercept_scaling=1.0, scale=1.0)
            .partial_fit(rows, y, classes=range(n_classes)) for rows in (narrow, wide))
        kept = [0, 1, 2, 3, 4, 5]
        assert_allclose(one.coef_[:, kept], other.coef_[:, kept], rtol=1e-9, atol=1e-12)
        covariance = np.reshape(other.covariance_, (-1, 8, 8))
        assert_allclose(np.reshape(one.covariance_, (-1, 6, 6)), covariance[:, :6, :6], rtol=1e-9, atol=1e-12)
        assert_allclose(np.diagonal(covariance, axis1=1, axis2=2)[:, 6:], 1.0)
        still = other.set_params(forgetting=0.0).fit(wide, y).covariance_
        assert (np.diagonal(covariance - np.reshape(still, (-1, 8, 8)), axis1=1, axis2=2)[:, :6] > 0.0).all()


def test_growth_of_variances_is_applied_before_it_leaves_the_dtype():
    X, y = flipping(6_000, 3_000, d=4)
    for dtype, tolerance in (("float32", 1e-3), ("float64", 1e-9)):
        rows = X.astype(dtype)
        learner = AROWClassifier(1.0, forgetting=0.1, intercept_scaling=1.0, scale=1.0).partial_fit(rows, y, classes=[0, 1])
        twin = run_binary("arow", rows, 2 * y - 1, r=1.0, forgetting=0.1, fit_intercept=True)
        assert_allclose(np.append(learner.coef_[0], learner.intercept_[0]), twin.w, atol=tolerance)
        assert_allclose(learner.covariance_[0], twin.Sigma[:4], rtol=tolerance)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("covariance", ["diagonal", "full"])
def test_standard_deviations_are_those_of_variances_that_have_grown(covariance, n_classes):
    X, y = flipping(60, 30, d=4)[0], np.random.default_rng(2).integers(0, n_classes, 60)
    learner = AROWClassifier(0.5, forgetting=0.05, covariance=covariance, fit_intercept=False, scale=1.0).partial_fit(X, y)
    found = learner.decision_function(X, return_std=True)[1].reshape(60, -1)
    for c, sigma in enumerate(np.reshape(learner.covariance_, (found.shape[1], -1, 4))):
        squares = X**2 @ sigma[0] if covariance == "diagonal" else np.einsum("ij,jk,ik->i", X, sigma, X)
        assert_allclose(found[:, c] ** 2, squares)


@pytest.mark.parametrize("forgetting", [0.0, 1e-3])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("multi_class", ["ovr", "crammer_singer"])
def test_the_least_variance_is_that_of_the_slow_twin(multi_class, n_classes, forgetting):
    """Two classes come first: the variances of the one vector are at the least one when it splits."""
    generator = np.random.default_rng(0)
    X, y = generator.standard_normal((90, 6)), generator.integers(0, n_classes, 90)
    y[:40] %= 2
    settings = {"eta": 0.9, "initial_variance": 0.5, "multi_class": multi_class, "forgetting": forgetting}
    twin = run_stream("cw_stdev", X, y, **settings)
    learner = ConfidenceWeightedClassifier(fit_intercept=False, scale=1.0, **settings).partial_fit(X, y)
    assert learner.covariance_.min() == pytest.approx(0.5e-4) or forgetting, "else this test shows nothing"
    assert_allclose(learner.coef_, twin.W, rtol=1e-6, atol=1e-6 * np.abs(twin.W).max())
    assert_allclose(learner.covariance_, twin.Sigma.reshape(learner.covariance_.shape), rtol=1e-6)


def test_growth_of_variances_is_applied_for_every_class():
    """One against the rest equals separate learners of two classes."""
    X, y = flipping(2_000, 1_000, d=4)[0].astype("float32"), np.random.default_rng(1).integers(0, 3, 2_000)
    make = lambda: AROWClassifier(1.0, forgetting=0.1, multi_class="ovr", intercept_scaling=1.0, scale=1.0)  # noqa: E731
    learner = make().partial_fit(X, y, classes=[0, 1, 2])
    for c in range(3):
        alone = make().partial_fit(X, y == c, classes=[False, True])
        assert_allclose(learner.coef_[c], alone.coef_[0], rtol=1e-5)
        assert_allclose(learner.covariance_[c], alone.covariance_[0], rtol=1e-5)


@pytest.mark.parametrize("covariance", ["diagonal", "full"])
@pytest.mark.parametrize("cls", [AROWClassifier, SCWClassifier])
def test_forgetting_learns_again_after_labels_have_flipped(cls, covariance):
    X, y = flipping(9_000, 5_000)
    errors = {}
    rate = 3e-3 if (cls, covariance) == (AROWClassifier, "full") else 3e-2
    for forgetting in (0.0, rate):
        learner = cls(covariance=covariance, forgetting=forgetting).partial_fit(X[:7_000], y[:7_000])
        before = learner.n_mistakes_
        errors[forgetting] = (learner.partial_fit(X[7_000:], y[7_000:]).n_mistakes_ - before) / 2_000
    assert errors[rate] < min(0.06, errors[0.0])
