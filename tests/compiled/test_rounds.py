"""What every kernel notes of a round beside the mathematics (`_rounds.pxd`): the sum of losses, how far the model can have moved,
and which rows are left out because a number of theirs would leave the range of the dtype."""

import numpy as np
import pytest
from internals import COUNTERS, state_of
from matrices import continuous_problem

import onlinecls

X, Y = continuous_problem(80, 6, seed=90)
WEIGHTS = np.random.default_rng(90).choice([0.0, 0.5, 1.0, 3.0], len(Y))
SLOTS = {**COUNTERS, "curvature": COUNTERS["max_abs_weight"] + 1}  # (behind it in _rounds.pxd; nobody reads it from Python)
NO = {"scale": 1.0, "fit_intercept": False, "dtype": "float64"}
ONE = {**NO, "initial_variance": 1.0}


def counters(learner, name):
    return state_of(learner).counters[SLOTS[name]]


def rounds(learner):
    """(x, label, c) of each row that counts; whether it changed the model, and the model before and after it: (w, variances)."""
    model = lambda: (learner.coef_[0].copy(), np.array(getattr(learner, "covariance_", [0.0])[0]))  # noqa: E731
    learner.partial_fit(X[:0], Y[:0], classes=[-1, 1])
    before, updates = model(), 0
    for x, label, c in zip(X, Y, WEIGHTS, strict=True):
        learner.partial_fit(x[None], [label], sample_weight=[c])
        if c > 0.0:
            yield x, label, c, learner.n_updates_ > updates, before, model()
        before, updates = model(), learner.n_updates_


def longest(variance):
    """|τ| sqrt(σ_max v) of a step, τ from Δw = τ Σx."""
    def size(x, c, w, sigma, moved):
        at = np.abs(sigma * x).argmax()
        return abs(moved[at] / (sigma * x)[at]) * np.sqrt(variance * np.sum(sigma * x**2))

    return size


#: How far a step may have moved a weight: the length of its way, a bound by the largest variance, c ||x|| of a sum of rows, eta0.
REACH = [
    *((learner, lambda x, c, w, sigma, moved: np.linalg.norm(moved)) for learner in (
        onlinecls.Perceptron(eta0=0.3, **NO), onlinecls.PassiveAggressiveClassifier(0.2, **NO),
        onlinecls.PassiveAggressiveClassifier(0.2, loss="squared_hinge", **NO))),
    (onlinecls.AROWClassifier(0.4, **NO), longest(1.0)),
    (onlinecls.ConfidenceWeightedClassifier(0.8, initial_variance=4.0, **NO), longest(4.0)),
    (onlinecls.SCWClassifier(0.8, initial_variance=0.25, **NO), longest(0.25)),
    *((learner, lambda x, c, w, sigma, moved: c * np.linalg.norm(x)) for learner in (
        onlinecls.SecondOrderPerceptron(0.5, aggressive=True, **ONE), onlinecls.NAROWClassifier(2.0, **ONE),
        onlinecls.AdaGradClassifier(eta0=1.0, delta=1.0, update="dual_averaging", **NO))),
    (onlinecls.AdaGradClassifier(eta0=0.3, **NO), lambda x, c, w, sigma, moved: 0.3),
]


@pytest.mark.parametrize("learner, size", REACH, ids=[repr(learner) for learner, _ in REACH])
def test_the_reach_of_weights_is_the_sum_of_what_their_steps_may_be(learner, size):
    """The curvature of AdaGrad, the sum of c² ||x||², is no less than any G."""
    way, square = 0.0, 0.0
    for x, _, c, updated, (before, sigma), (after, _) in rounds(learner):
        assert updated == (after != before).any()
        if updated:
            way, square = way + size(x, c, before, sigma, after - before), square + (c * np.linalg.norm(x)) ** 2
        assert counters(learner, "max_abs_weight") == pytest.approx(way, rel=1e-6 if np.ndim(sigma) else 1e-9)
    is_adagrad = isinstance(learner, onlinecls.AdaGradClassifier)
    assert way > 1.0 and counters(learner, "curvature") == pytest.approx(square if is_adagrad else 0.0, rel=1e-9)
    if is_adagrad:
        assert state_of(learner).view[:, 1].sum() == pytest.approx(square, rel=1e-9)


def test_the_constant_feature_is_part_of_the_reach():
    rows = np.column_stack([1e-6 * X, np.ones(len(X))])
    for make in (
        lambda **given: onlinecls.SecondOrderPerceptron(0.5, initial_variance=1.0, dtype="float64", **given),
        lambda **given: onlinecls.NAROWClassifier(2.0, initial_variance=1.0, dtype="float64", **given),
        lambda **given: onlinecls.Perceptron(eta0=1.0, dtype="float64", **given),
    ):
        with_one = make(scale=1.0, intercept_scaling=1.0).partial_fit(rows[:, :-1], Y, classes=[-1, 1])
        as_a_feature = make(scale=1.0, fit_intercept=False).partial_fit(rows, Y, classes=[-1, 1])
        assert counters(with_one, "max_abs_weight") == pytest.approx(counters(as_a_feature, "max_abs_weight"), rel=1e-9)
        assert with_one.n_updates_


def test_losses_are_weighted_and_none_is_negative():
    learner, losses = onlinecls.PassiveAggressiveClassifier(0.2, **NO), 0.0
    for x, label, c, updated, (before, _), _ in rounds(learner):
        losses += c * max(0.0, 1.0 - label * (x @ before)) * x.any()  # (a row of zeros teaches nothing)
        assert counters(learner, "loss") == pytest.approx(losses, rel=1e-9)
        assert updated or label * (x @ before) >= 1.0 or not x.any()
    regressor, losses = onlinecls.PassiveAggressiveRegressor(0.2, epsilon=0.3, **NO), 0.0
    for x, c in zip(X, WEIGHTS, strict=True):
        before = regressor.predict(x[None])[0] if regressor.__sklearn_is_fitted__() else 0.0
        regressor.partial_fit(x[None], [x[0] + x[1]], sample_weight=[c])
        losses += c * max(0.0, abs(x[0] + x[1] - before) - 0.3) * x.any()
        assert counters(regressor, "loss") == pytest.approx(losses, rel=1e-9, abs=1e-12)


def test_losses_of_several_classes_are_summed_one_class_at_a_time():
    """Of 20 rows and 3 classes one against the rest: a class whose margin is above 1 adds nothing, and takes nothing away."""
    learner, losses, above = onlinecls.PassiveAggressiveClassifier(0.2, multi_class="ovr", **NO), 0.0, 0
    labels = np.arange(20) % 3
    learner.partial_fit(X[:0], labels[:0], classes=[0, 1, 2])
    for x, label, c in zip(4.0 * X[:20], labels, WEIGHTS[:20], strict=True):
        margins = np.where(np.arange(3) == label, 1.0, -1.0) * (learner.coef_ @ x)
        losses += c * np.maximum(1.0 - margins, 0.0).sum() * x.any()
        above += c > 0.0 and margins.max() > 1.0
        learner.partial_fit(x[None], [label], sample_weight=[c])
        assert counters(learner, "loss") == pytest.approx(losses, rel=1e-9)
    assert above >= 3


# Rows (x, label), the last of which must be skipped, each by one condition alone.
F4, F8 = ({"scale": 1.0, "fit_intercept": False, "dtype": dtype} for dtype in ("float32", "float64"))
BEYOND = {
    "max_abs_weight": (lambda: onlinecls.Perceptron(**F4), [(6e37, 1), (6e37, -1)]),
    "reach, float64": (lambda: onlinecls.Perceptron(eta0=1e200, **F8), [(3e107, 1), (3e107, -1)]),
    "curvature": (lambda: onlinecls.AdaGradClassifier(**F4), [(1e20, 1)]),
    "curvature, added up": (lambda: onlinecls.AdaGradClassifier(eta0=1e-30, **F4), [(8e18, 1), (8e18, -1)]),
    "precision": (lambda: onlinecls.SecondOrderPerceptron(1e-40, initial_variance=1.0, **F4), [(1e-10, 1)]),
    "precision times v": (lambda: onlinecls.SecondOrderPerceptron(1e-30, initial_variance=1.0, **F4), [(1e10, 1)]),
    "v": (lambda: onlinecls.SecondOrderPerceptron(1e10, initial_variance=1.0, **F4), [(1e20, 1)]),
    "a small step": (lambda: onlinecls.PassiveAggressiveClassifier(float("inf"), **F4), [(2e19, 1)]),
    "a large step": (lambda: onlinecls.PassiveAggressiveClassifier(float("inf"), **F4), [(1e-20, 1)]),
    "dual averaging's quotient": (
        lambda: onlinecls.AdaGradClassifier(eta0=1e30, delta=1e-10, update="dual_averaging", **F4), [(1.0, 1)]),
    "a score, of a row without a loss": (lambda: onlinecls.Perceptron(eta0=1e200, **F8), [(1.0, 1), (1e140, 1)]),
    "||x||², of a row without a loss": (lambda: onlinecls.Perceptron(**F8), [(1.0, 1), (1e200, 1)]),
    "x'Σx, of a row without a loss": (lambda: onlinecls.AROWClassifier(1e-250, **F8), [(1.0, 1), (1e170, 1)]),
}


@pytest.mark.parametrize("what", BEYOND)
def test_a_row_beyond_the_range_is_skipped_and_counted(what):
    make, stream = BEYOND[what]
    learner = make().partial_fit(np.zeros((0, 1)), [], classes=[-1, 1])
    for x, label in stream[:-1]:
        learner.partial_fit([[x]], [label])
    assert learner.n_skipped_ == 0 and (learner.n_updates_ > 0 or len(stream) == 1)
    before = (
        state_of(learner).values.copy(), learner.n_updates_, counters(learner, "max_abs_weight"), counters(learner, "curvature"))
    learner.partial_fit([[stream[-1][0]]], [stream[-1][1]])
    assert (learner.n_skipped_, learner.n_updates_, learner.t_) == (1, before[1], len(stream))
    assert (state_of(learner).values == before[0]).all()
    assert (counters(learner, "max_abs_weight"), counters(learner, "curvature")) == before[2:]


def test_the_l1_threshold_counts_the_rounds_before_the_row():
    """z = 1, G = 1 after the first row: w = 4 (1 - 0.5 t)/1 is 2 in the second round (t = 1), and 0 only for a t of 2."""
    learner = onlinecls.AdaGradClassifier(eta0=4.0, delta=1e-12, update="dual_averaging", l1=0.5, **NO)
    learner.partial_fit([[1.0]], [1], classes=[-1, 1])
    assert learner.coef_[0, 0] == pytest.approx(2.0)
    learner.partial_fit([[1.0]], [1])
    assert (learner.n_updates_, learner.n_mistakes_, learner.t_) == (1, 1, 2) and learner.coef_[0, 0] == 0.0
    learner.partial_fit([[1.0]], [1])
    assert (learner.n_updates_, learner.n_mistakes_) == (2, 2)


def test_a_margin_of_exactly_one_satisfies_the_aggressive_perceptron():
    learner = onlinecls.Perceptron(aggressive=True, **NO).partial_fit([[1.0], [1.0]], [1, 1], classes=[-1, 1])
    assert (learner.n_updates_, learner.coef_[0, 0]) == (1, 1.0)


@pytest.mark.parametrize("learner", [
    onlinecls.AROWClassifier(1.0), onlinecls.SecondOrderPerceptron(1.0), onlinecls.PNormPerceptron(4.0),
    onlinecls.MultiplicativePassiveAggressiveClassifier(),
    onlinecls.MultiplicativePassiveAggressiveClassifier(multi_class="crammer_singer")], ids=repr)
def test_a_row_that_all_classes_leave_out_is_counted_once(learner):
    learner.partial_fit([[1.0, 2.0], [1e300, -1e300], [2.0, 1.0]], [0, 1, 2], classes=[0, 1, 2])
    assert (learner.n_skipped_, learner.n_updates_, learner.t_) == (1, 2, 3)
