"""A class that weighs more is missed less often, whichever the learner; what moves the errors, and what does not."""

import numpy as np
import pytest
from internals import ALGORITHMS
from looping import within
from matrices import continuous_problem
from numpy.testing import assert_allclose
from scipy.sparse import csr_matrix

import onlinecls
from onlinecls import AROWClassifier, KernelOnlineClassifier, PassiveAggressiveClassifier, Perceptron

FACTORS = (1.0, 3.0, 10.0, 30.0)
#: Learners whose last weights are those of their last mistakes: more weight on one class moves them, but not step by step.
RESTLESS = ("sop", "p_norm", "ogd")
OF_TWO = [row for row in ALGORITHMS.values() if "binary" in row.tasks and row.name not in RESTLESS]


def overlapping(n=3000, n_features=8):
    """Rows of unit length of two Gaussians that overlap, three tenths of them of class 1."""
    rng = np.random.default_rng(0)
    y = (rng.random(n) < 0.3).astype(int)
    X = rng.standard_normal((n, n_features))
    X[:, :4] += np.outer(2 * y - 1, [0.8, 0.5, 0.3, 0.2])
    return X / np.linalg.norm(X, axis=1, keepdims=True), y


def missed(row, X, y, label, factor):
    """Return how many rows of this class are missed in the second half, after a pass over the first."""
    learner = getattr(onlinecls, row.estimator)(**row.selects, class_weight={label: factor})
    half = len(y) // 2
    learner.partial_fit(X[:half], y[:half], classes=[0, 1])
    return np.count_nonzero((learner.predict(X[half:]) != label) & (y[half:] == label))


@pytest.mark.parametrize("row", OF_TWO, ids=[row.name for row in OF_TWO])
@within(label=[0, 1])
def test_a_class_that_weighs_more_is_missed_less(row, label):
    """Its missed rows rise by at most 2, or a quarter of the first, from weight to weight, and fall from weight 1 to 30."""
    X, y = overlapping()
    found = np.array([missed(row, X, y, label, factor) for factor in FACTORS])
    assert (found[1:] <= np.maximum(found[:-1] + 2, found[0] // 4)).all() and found[0] > found[-1], found
    assert row.costs == "weight" or found[-1] <= 0.5 * found[0], found


@within(class_weight=[{0: 0.5, 1: 7.0}, "balanced"])
def test_kernel_learners_weigh_classes_as_linear_ones(class_weight):
    X, y = overlapping(200)
    options = {"fit_intercept": False, "class_weight": class_weight}
    for linear, kernel in (
        (PassiveAggressiveClassifier(C=0.3, **options), {"algorithm": "pa", "C": 0.3}),
        (PassiveAggressiveClassifier(C=0.3, loss="squared_hinge", **options),
         {"algorithm": "pa", "C": 0.3, "loss": "squared_hinge"}),
        (Perceptron(aggressive=True, eta0=0.7, **options), {"algorithm": "perceptron", "aggressive": True, "eta0": 0.7}),
        (AROWClassifier(r=0.8, covariance="full", **options), {"algorithm": "arow", "r": 0.8}),
    ):
        other = KernelOnlineClassifier(kernel="linear", **kernel, **options).partial_fit(X, y)
        assert_allclose(other.coef_, linear.partial_fit(X, y).coef_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("cls", [
    onlinecls.Perceptron, onlinecls.PassiveAggressiveClassifier, onlinecls.AROWClassifier, onlinecls.NAROWClassifier])
def test_balanced_weights_of_two_classes_are_those_of_dense_rows_in_sparse_ones(cls):
    """Passes over sparse rows of weight 1 have loops of their own, which must leave these to the others."""
    X, y = continuous_problem(120, 6, seed=3)
    y = (y == 1) & (np.arange(120) % 3 == 0)
    for classes in (None, [False, True]):
        models = [cls(class_weight="balanced").partial_fit(rows[:40], y[:40], classes=classes).partial_fit(rows[40:], y[40:])
                  for rows in (X, csr_matrix(X))]
        assert (models[0].coef_ == models[1].coef_).all()
        assert (models[0].coef_ != cls().partial_fit(X, y, classes=classes).coef_).any()
