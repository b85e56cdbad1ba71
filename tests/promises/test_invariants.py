"""What must hold whatever the rows are: no reference needed, only the algorithms' own definitions."""

import copy

import numpy as np
import pytest
import scipy.sparse
from contracts import read, through_a_file
from looping import within
from numpy.testing import assert_allclose
from sklearn.base import clone
from states import fingerprint

import onlinecls


def test_adagrad_steps_no_further_where_squares_underflow():
    learner = onlinecls.AdaGradClassifier(0.4, delta=1e-250, scale=1.0, fit_intercept=False)
    learner.partial_fit([[1.0, 1e-200, 1e-200]], [1], classes=[-1, 1])
    assert_allclose(learner.coef_, 0.4)


@within(forgetting=[0.0, 1e-3])
@within(dtype=[np.float32, np.float64])
@pytest.mark.parametrize("n_classes, multi_class", [(2, "ovr"), (3, "ovr"), (5, "ovr"), (3, "crammer_singer")])
def test_variances_stop_at_the_floor(n_classes, multi_class, dtype, forgetting):
    """CW drives variances to 0 geometrically on noisy labels. They stop at the smallest normal number over eps, if the first
    variance is not so large that its part of √tiny is more. (Features go by fours, by twos and one by one.)"""
    floor = dtype(np.finfo(dtype).tiny / np.finfo(dtype).eps)
    learner = onlinecls.ConfidenceWeightedClassifier(
        eta=0.999, initial_variance=3 * float(floor), multi_class=multi_class, scale=1.0, fit_intercept=False,
        forgetting=forgetting
    )
    X = np.array([[1e3, 0.0, 0.0, 0.0, 0.0, 0.0, 1e3]], dtype)
    learner.partial_fit(X, [0], classes=range(n_classes))
    assert learner.n_updates_ == 1 and learner.n_skipped_ == 0
    least = learner.covariance_.min(axis=0)
    assert_allclose(least, np.where(X[0] > 0.0, floor, 3 * floor), rtol=1e-6 if forgetting else 0.0)
    assert learner.covariance_.max() <= 3 * floor


@within(dtype=[np.float32, np.float64])
@pytest.mark.parametrize("estimator", [onlinecls.SecondOrderPerceptron, onlinecls.NAROWClassifier], ids=lambda c: c.__name__)
def test_variances_of_potentials_stop_at_the_floor(estimator, dtype):
    info, X = np.finfo(dtype), np.array([[2.0, 0.0, 0.0, 0.0, 2.0]] * 40, dtype)
    least = float(info.tiny / info.eps)
    for variance, floor in ((16.0 * least, least), (1.0, float(info.tiny) ** 0.5), (4.0, 4.0 * float(info.tiny) ** 0.5)):
        learner = estimator(8 * least if estimator is onlinecls.SecondOrderPerceptron else float(info.max) / 1e3)
        learner.set_params(scale=1.0, fit_intercept=False, initial_variance=variance).partial_fit(X, [0, 1] * 20, classes=[0, 1])
        assert (learner.covariance_[0, [0, -1]] == dtype(floor)).all(), "else this test shows nothing"


@within(n_classes=[2, 3])
def test_a_potential_has_no_weights_beyond_doubles_range(n_classes):
    """w = σθ, where θ and σ are both within it."""
    learner = onlinecls.SecondOrderPerceptron(initial_variance=1e200, dtype="float64", scale=1.0, fit_intercept=False)
    learner.partial_fit([[1e-60]], [1], classes=range(n_classes), sample_weight=[1e250])
    assert learner.n_skipped_ == 1 and not learner.coef_.any()


ORDER = [5, 2, 9, 0, 7, 3, 1, 8, 6, 4]  # classes join in front of, between and after the others


@pytest.mark.parametrize("learner", [
    onlinecls.AROWClassifier(probability=True), onlinecls.AROWClassifier(forgetting=0.1, multi_class="ovr", dtype="float32"),
    onlinecls.NAROWClassifier(multi_class="ovr", average=True), onlinecls.AdaGradClassifier(update="dual_averaging", l1=1e-5),
    onlinecls.PNormPerceptron(), onlinecls.DualAscentClassifier(), onlinecls.CommitteeClassifier()], ids=repr)
def test_classes_that_join_one_by_one_make_the_model_of_one_call(learner):
    """The model has more columns than are copied at a time. What it says on the way is what one says that has been saved."""
    random = np.random.default_rng(0)
    X = scipy.sparse.random(200, 20_000, 0.002, "csr", random_state=0, data_rvs=lambda n: random.normal(size=n))
    y = np.concatenate([np.array(ORDER[: 1 + at // 20])[random.integers(0, 1 + at // 20, 1)] for at in range(200)])
    y[::20] = ORDER
    whole, parts = clone(learner).partial_fit(X, y), clone(learner)
    for at in range(0, 200, 10):
        saved = through_a_file(parts.partial_fit(X[at : at + 10], y[at : at + 10]))
        for rows in (X[:30], X[at : at + 1]):
            assert all(a.tobytes() == b.tobytes() for a, b in zip(read(parts, rows), read(saved, rows), strict=True))
    assert fingerprint(parts) == fingerprint(whole)
    twin = copy.deepcopy(parts).partial_fit(X, 11 - y)
    assert fingerprint(twin) == fingerprint(whole.partial_fit(X, 11 - y)) != fingerprint(parts)
