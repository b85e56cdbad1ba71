"""Confidence-weighted learning where labels contradict each other: variances of the stdev form do not fall to nothing."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from reference import run_stream

from onlinecls import ConfidenceWeightedClassifier, SCWClassifier


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


def test_the_other_forms_have_no_such_least_variance():
    generator = np.random.default_rng(1)
    X, y = generator.standard_normal((20_000, 6)), generator.integers(0, 2, 20_000)
    for learner in (ConfidenceWeightedClassifier(variant="variance"), SCWClassifier()):
        learner.set_params(initial_variance=1.0, fit_intercept=False).partial_fit(X, y)
        assert learner.covariance_.min() < 1e-4


@pytest.mark.parametrize("eta", [0.7, 0.8, 0.9])
def test_more_epochs_do_not_undo_what_was_learnt(eta):
    datasets = pytest.importorskip("sklearn.datasets")
    X, y = datasets.load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    learn, test, accuracies = order[:1300], order[1300:], []
    learner = ConfidenceWeightedClassifier(eta)
    for _ in range(10):
        learner.partial_fit(X[learn], y[learn])
        accuracies.append(learner.score(X[test], y[test]))
    assert accuracies[-1] >= accuracies[0] - 0.02 and learner.n_skipped_ == 0, accuracies
