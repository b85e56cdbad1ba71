"""FTRL-proximal, beside what all learners are tested for (contracts.py, test_kernels.py)."""

import numpy as np
import pytest
from internals import COUNTERS, state_of
from matrices import continuous_problem

import onlinecls
from onlinecls import FTRLClassifier


def test_the_mean_loss_of_fit_is_the_log_loss():
    X, y = continuous_problem(100, 5, 4, 2)
    learner, loss = FTRLClassifier(0.4, beta=0.3, scale=1.0, intercept_scaling=1.0), 0.0
    for x, label in zip(X, y, strict=True):
        margin = label * learner.decision_function(x[None])[0] if learner.__sklearn_is_fitted__() else 0.0
        loss += np.log1p(np.exp(-margin))
        learner.partial_fit(x[None], [label], classes=[-1, 1])
    assert state_of(learner).counters[COUNTERS["loss"]] == pytest.approx(loss, rel=1e-9)


def test_a_gradient_too_small_for_the_dtype_is_none():
    """exp(-200) is no float32: the row is learnt, and changes nothing. So does a 0, but not a number whose square is one."""
    X, y = [[1.0, 0.0, 1e-30]] * 3, [1, 1, 1]
    learner = FTRLClassifier(1000.0, beta=1.0, dtype="float32", fit_intercept=False, scale=1.0).partial_fit(X, y, classes=[0, 1])
    assert (learner.n_updates_, learner.n_skipped_) == (1, 0) and learner.decision_function(X)[0] > 200.0
    assert np.sign(state_of(learner).view[:, 1, 0]).tolist() == [1.0, 0.0, 1.0, 0.0]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("l1", [0.0, 1e-3])
def test_no_sum_passes_the_bounds_whatever_the_sizes_of_numbers(dtype, l1):
    """|z| <= t √n of each feature, so that |w| <= alpha t: also where squares of gradients underflow, and after a merge."""
    rng = np.random.default_rng(5)
    for least, most in ((-100, 40), (-20, 20)) if dtype == "float64" else ((-25, 4), (-4, 4)):
        X = rng.standard_normal((400, 5)) * 10.0 ** rng.integers(least, most, (400, 5))
        X = np.where(rng.random(X.shape) < 0.5, X, 0.0).astype(dtype)
        y = rng.integers(0, 2, 400)
        learners = [FTRLClassifier(0.5, beta=1e-30, l1=l1, loss=loss, dtype=dtype, scale=1.0, intercept_scaling=1.0)
                    for loss in ("hinge", "log_loss")]
        for learner in learners:
            cls, given, parts = type(learner), learner.get_params(), (slice(150), slice(150, 400))
            parts = [cls(**given).partial_fit(X[rows], y[rows]) for rows in parts]
            for model in (*parts, onlinecls.merge(parts), onlinecls.merge(parts).partial_fit(X, y)):
                z, n = (state_of(model).view[:, at].astype(float) for at in (0, 1))
                assert (np.abs(z) <= (1.0 + 1e-5) * model.t_ * np.sqrt(n)).all() and np.isfinite(n).all()
                assert np.abs(z).max() <= (1.0 + 1e-5) * state_of(model).counters[COUNTERS["max_abs_weight"]]
                assert np.abs(model.coef_).max() <= (1.0 + 1e-5) * 0.5 * model.t_
