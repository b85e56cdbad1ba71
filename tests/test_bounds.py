"""The papers' bounds hold for the library's learners: on random streams, for competitors of every size."""

import doctest
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from matrices import continuous_problem, csr32
from numpy.testing import assert_allclose
from test_dual_ascent import advice

from onlinecls import (
    AROWClassifier,
    DualAscentClassifier,
    KernelOnlineClassifier,
    MultiplicativePassiveAggressiveClassifier,
    MultiplicativePassiveAggressiveOneClass,
    MultiplicativePassiveAggressiveRegressor,
    NAROWClassifier,
    OGDClassifier,
    PassiveAggressiveClassifier,
    PassiveAggressiveOneClass,
    PassiveAggressiveRegressor,
    Perceptron,
    PNormPerceptron,
    SecondOrderPerceptron,
    bounds,
)
from onlinecls.reference.potential import entropy_of_shares

NO, FULL = {"fit_intercept": False}, {"covariance": "full"}
ONE = {**NO, "initial_variance": 1.0}  # Σ_0 = I
CASES = {
    "perceptron": ("perceptron", lambda: Perceptron(**NO)),
    "p_norm 2": ("p_norm", lambda: PNormPerceptron(2.0, **NO)),
    "p_norm 6": ("p_norm", lambda: PNormPerceptron(6.0, **NO)),
    "p_norm default": ("p_norm", lambda: PNormPerceptron(**NO)),
    "aggressive p_norm": ("p_norm", lambda: PNormPerceptron(4.0, aggressive=True, radius=6.0, **NO)),
    "PA-I": ("passive_aggressive", lambda: PassiveAggressiveClassifier(0.3, **NO)),
    "PA-I, margin 3": ("passive_aggressive", lambda: PassiveAggressiveClassifier(0.3, margin=3.0, **NO)),
    "PA-II, margin 0.5": ("passive_aggressive", lambda: PassiveAggressiveClassifier(
        0.3, loss="squared_hinge", margin=0.5, **NO)),
    "PA-II": ("passive_aggressive", lambda: PassiveAggressiveClassifier(0.3, loss="squared_hinge", **NO)),
    "SOP, Corollary 2": ("potential_based", lambda: SecondOrderPerceptron(0.7, **ONE)),
    "aggressive SOP, Corollary 2": ("potential_based", lambda: SecondOrderPerceptron(0.7, aggressive=True, **ONE)),
    "NAROW, Corollary 2": ("potential_based", lambda: NAROWClassifier(0.5, **ONE)),
    "full SOP, Corollary 2": ("potential_based", lambda: SecondOrderPerceptron(0.7, covariance="full", **ONE)),
    "full NAROW, Corollary 2": ("potential_based", lambda: NAROWClassifier(2.0, covariance="full", **ONE)),
    "SOP": ("second_order_perceptron", lambda: SecondOrderPerceptron(0.7, **ONE)),
    "aggressive SOP": ("second_order_perceptron", lambda: SecondOrderPerceptron(0.7, aggressive=True, **ONE)),
    "full SOP": ("second_order_perceptron", lambda: SecondOrderPerceptron(0.7, covariance="full", **ONE)),
    "full aggressive SOP": ("second_order_perceptron", lambda: SecondOrderPerceptron(2.0, aggressive=True, **FULL, **ONE)),
    "full NAROW": ("narow", lambda: NAROWClassifier(2.0, covariance="full", **ONE)),
    "SOP, variance 3": ("second_order_perceptron", lambda: SecondOrderPerceptron(0.7, initial_variance=3.0, **NO)),
    "full aggressive SOP, variance 0.2": ("second_order_perceptron", lambda: SecondOrderPerceptron(
        2.0, aggressive=True, initial_variance=0.2, **FULL, **NO)),
    "full SOP, variance 3": ("second_order_perceptron", lambda: SecondOrderPerceptron(0.7, initial_variance=3.0, **FULL, **NO)),
    "full NAROW, variance 0.2": ("narow", lambda: NAROWClassifier(2.0, initial_variance=0.2, **FULL, **NO)),
    "full NAROW, variance 3": ("narow", lambda: NAROWClassifier(0.5, initial_variance=3.0, **FULL, **NO)),
    "full NAROW, b small": ("narow", lambda: NAROWClassifier(0.1, covariance="full", **ONE)),
    "Perceptron, Corollary 1": ("fixed_rate", lambda: Perceptron(eta0=0.2, **NO)),
    "aggressive Perceptron, Corollary 1": ("fixed_rate", lambda: Perceptron(True, eta0=0.2, **NO)),
    "p_norm, Corollary 1": ("fixed_rate", lambda: PNormPerceptron(3.0, **NO)),
    "p_norm default, Corollary 1": ("fixed_rate", lambda: PNormPerceptron(**NO)),
    "SOP, Corollary 1": ("fixed_rate", lambda: SecondOrderPerceptron(0.7, **ONE)),
    "aggressive SOP, Corollary 1": ("fixed_rate", lambda: SecondOrderPerceptron(0.7, aggressive=True, **ONE)),
    "full aggressive SOP, Corollary 1": ("fixed_rate", lambda: SecondOrderPerceptron(0.7, aggressive=True, **FULL, **ONE)),
    "NAROW, Corollary 1": ("fixed_rate", lambda: NAROWClassifier(0.5, **ONE)),
    "full NAROW, Corollary 1": ("fixed_rate", lambda: NAROWClassifier(2.0, **FULL, **ONE)),
    "full AROW": ("arow", lambda: AROWClassifier(0.7, covariance="full", **NO)),
    "OGD": ("gradient_descent", lambda: OGDClassifier(0.1, **NO)),
    **{
        f"{regularizer} {update}, {loss}": ("dual_ascent", lambda r=regularizer, u=update, loss=loss: DualAscentClassifier(
            3.0, regularizer=r, update=u, loss=loss, norm_bound=3.0, margin=0.8, **NO))
        for regularizer in ("euclidean", "entropic") for update in ("DA1", "DA2", "DA3") for loss in ("hinge", "log_loss")
    },
}
every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


def competitors(course, rng):
    """The learner's own weights, the least squares solution, random ones: in many sizes."""
    w = course.weights[-1]
    ideal = np.linalg.lstsq(course.X, course.y, rcond=None)[0]
    for u in (w, ideal, w + 0.3 * rng.standard_normal(len(w)), rng.standard_normal(len(w))):
        size = np.abs(u).sum() or 1.0
        yield from (u / size * scale for scale in (0.0, 0.3, 1.0, 2.9, 10.0, 100.0))


def holds(name, learner, X, y, rng):
    course = bounds.follow(learner, X, y)
    assert (course.peeked[course.updated] < (0.0 if getattr(learner, "aggressive", True) is False else 1.0) + 1e-9).all()
    bound, tightest = getattr(bounds, name), np.inf
    for u in competitors(course, rng):
        paid, allowed = bound(course, u)
        assert paid <= allowed + 1e-9 * (1.0 + abs(allowed)), f"{name}: {paid} > {allowed} for {u}"
        tightest = min(tightest, allowed)
    return paid, tightest


@pytest.mark.parametrize("noise", [0.0, 0.15, 0.5])
@every_case
def test_the_bound_holds_on_random_streams(case, noise):
    name, make = case
    for seed in range(2):
        X, y = continuous_problem(150, 6, seed=100 + seed)
        rng = np.random.default_rng(seed)
        holds(name, make(), X, np.where(rng.random(150) < noise, -y, y), rng)


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    rows=st.lists(
        st.lists(st.sampled_from([-2.0, -1.0, -0.5, 0.0, 0.1, 1.0, 3.0]), min_size=3, max_size=3), min_size=1, max_size=25
    ),
    signs=st.lists(st.sampled_from([-1, 1]), min_size=25, max_size=25),
)
@every_case
def test_the_bound_holds_on_any_stream(case, rows, signs):
    name, make = case
    holds(name, make(), np.array(rows), np.array(signs[: len(rows)]), np.random.default_rng(0))


@pytest.mark.parametrize("which", [which for which, case in CASES.items() if case[0] != "passive_aggressive"])
def test_the_bound_says_something(which):
    """On an easy stream it is less than what an ignorant learner could have paid, and within a moderate factor of the truth."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1500, 4))
    X = X[np.abs(X[:, 0]) > 0.5] / 4
    name, make = CASES[which]
    tightest = holds(name, make(), X, np.sign(X[:, 0]), rng)[1]
    assert tightest < 1.1 * len(X)


def realizable(seed, n=120, d=5):
    """Rows that u separates by a margin of 1, or whose targets it gives; and u."""
    rng = np.random.default_rng(seed)
    X, u = rng.standard_normal((n, d)), rng.standard_normal(d)
    X = X[np.abs(X @ u) > 0.3]
    return X, X @ u, u / 0.3


@pytest.mark.parametrize("seed", range(8))
def test_pa_theorem_1_and_lemma_2(seed):
    X, said, u = realizable(seed)
    course = bounds.follow(PassiveAggressiveClassifier(float("inf"), **NO), X, np.sign(said))
    for bound in (bounds.passive_aggressive, bounds.distance):
        for scale in (1.0, 1.7):
            paid, allowed = bound(course, scale * u)
            assert 0.0 < paid <= allowed < np.inf
        assert bound(course, 0.5 * u).allowed == np.inf, "it has losses"
    B, losses = (X**2).sum(axis=1).max(), np.maximum(0.0, 1.0 - course.margins)
    least = np.abs(X @ u).min()
    expected = losses @ losses + 2 * (least - 1) * losses.sum(), B * (u @ u)
    assert bounds.passive_aggressive(course, u) == pytest.approx(expected) and least > 1.0
    course = bounds.follow(PassiveAggressiveRegressor(float("inf"), epsilon=0.1, **NO), X, said)
    for bound in (bounds.passive_aggressive, bounds.distance):
        paid, allowed = bound(course, 0.3 * u)
        assert 0.0 < paid <= allowed < np.inf


def test_pa_theorem_1_is_tight_with_its_second_term():
    """One row of length 1, u = g x: PA pays 1 + 2 (g - 1), of g² allowed; a target of 3, epsilon 1: 2² + 2 (1 - 0) 2 of 9."""
    course = bounds.follow(PassiveAggressiveClassifier(float("inf"), **NO), [[1.0]], [1])
    assert bounds.passive_aggressive(course, [1.0]) == (1.0, 1.0)
    assert bounds.passive_aggressive(course, [2.5]) == (4.0, 6.25)
    course = bounds.follow(PassiveAggressiveRegressor(float("inf"), epsilon=1.0, **NO), [[1.0]], [3.0])
    assert bounds.passive_aggressive(course, [2.0]) == (4.0, 4.0)
    assert bounds.passive_aggressive(course, [3.0]) == (8.0, 9.0)


def test_multiplicative_pa_theorem_4_with_its_second_term():
    """Two experts, W = 1: they say 1/2, the target is 1. Loss 1/2 - epsilon; u = the first expert: D = log 2."""
    learner = MultiplicativePassiveAggressiveRegressor(epsilon=0.25, signed=False, norm_bound=1.0, **NO)
    paid, allowed = bounds.multiplicative(bounds.follow(learner, [[1.0, 0.0]], [1.0]), [1.0, 0.0])
    assert paid == pytest.approx(0.25**2 + 2 * 0.25 * 0.25) and allowed == pytest.approx(np.log(2) / 2)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("C", [0.05, 1.0, 20.0])
def test_pa_theorem_3_for_targets(C, seed):
    rng = np.random.default_rng(seed)
    X, y, _ = realizable(seed)
    learner = PassiveAggressiveRegressor(C, epsilon=0.2, loss="squared_epsilon_insensitive", **NO)
    holds("passive_aggressive", learner, X, y + rng.standard_normal(len(y)), rng)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("signed", [True, False])
def test_multiplicative_pa_theorem_4(signed, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((300, 8)) if signed else rng.integers(0, 3, (300, 8)).astype(float)
    u = np.array([0.7, -0.3, 0.0, 0, 0, 0, 0, 0]) if signed else np.array([0.6, 0.4, 0, 0, 0, 0, 0, 0])
    y = X @ (5.0 * u)
    learner = MultiplicativePassiveAggressiveRegressor(epsilon=0.1, signed=signed, norm_bound=5.0, **NO)
    paid, allowed = bounds.multiplicative(bounds.follow(learner, X, y), 5.0 * u)
    assert 0.0 < paid <= allowed < np.inf
    assert bounds.multiplicative(bounds.follow(learner, X, y), 4.0 * u).allowed == np.inf, "it has losses"
    if signed:
        far = np.abs(X @ u) > 0.2
        learner = MultiplicativePassiveAggressiveClassifier(margin=1.0, norm_bound=5.0, **NO)
        paid, allowed = bounds.multiplicative(bounds.follow(learner, X[far], np.sign(y[far])), 5.0 * u)
        assert 0.0 < paid <= allowed < np.inf


def ball(seed, signed=True, n=200, d=5):
    """Rows within 0.4 of u, some of them close to that; and u, of ||u||_1 = 3 (not signed: both >= 0)."""
    rng = np.random.default_rng(seed)
    u = rng.standard_normal(d) if signed else rng.random(d)
    u *= 3.0 / np.abs(u).sum()
    around = rng.standard_normal((n, d))
    X = u + 0.4 * around / np.linalg.norm(around, axis=1, keepdims=True) * rng.random((n, 1)) ** 0.1
    return X if signed else np.maximum(X, 0.0), u


@pytest.mark.parametrize("epsilon", [0.4, 0.45, 0.6])
@pytest.mark.parametrize("seed", range(4))
def test_pa_theorem_1_for_one_class(seed, epsilon):
    X, u = ball(seed)
    course = bounds.follow(PassiveAggressiveOneClass(epsilon), csr32(X))
    learner, losses = PassiveAggressiveOneClass(epsilon).partial_fit(X[:1]), []
    for t in range(1, len(X)):
        losses.append(max(0.0, np.linalg.norm(X[t] - learner.center_) - epsilon))
        assert_allclose(course.weights[t], learner.center_, atol=1e-6)
        learner.partial_fit(X[t : t + 1])
    slack = epsilon - np.linalg.norm(X - u, axis=1).max()
    paid, allowed = bounds.one_class(course, u)
    assert paid == pytest.approx(np.square(losses).sum() + 2 * slack * np.sum(losses), rel=1e-5)
    assert allowed == pytest.approx(np.square(u - X[0]).sum(), rel=1e-5)
    assert 0.0 < paid <= allowed < np.inf and course.updated.sum() == learner.n_updates_ > 0
    assert course.y.tolist() == [1.0] * len(X) and course.scores[5] < 0.0
    assert bounds.one_class(course, u + 1.0).allowed == np.inf, "rows lie outside its ball"


def test_pa_theorem_1_for_one_class_by_hand():
    """Centre 0, then rows at 3 and -2, epsilon = 2: losses 1 and 1, the centre at 1 and 0; of u = 1/2, epsilon* = 5/2."""
    course = bounds.follow(PassiveAggressiveOneClass(2.0), [[0.0], [3.0], [-2.0]])
    assert_allclose(course.weights.ravel(), [0.0, 0.0, 1.0, 0.0], atol=1e-12)
    assert_allclose(course.scores[1:], [-3.0, -3.0])
    assert bounds.one_class(course, [0.5]) == (2.0, np.inf)
    course = bounds.follow(PassiveAggressiveOneClass(2.0), [[0.0], [3.0]])
    assert bounds.one_class(course, [1.5]) == (1.0 + 2 * 0.5 * 1.0, 2.25)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("signed", [True, False])
def test_multiplicative_pa_theorem_4_for_one_class(signed, seed):
    X, u = ball(seed, signed)
    W, d = 3.0, len(u)
    for epsilon in (0.4, 0.6):
        learner = MultiplicativePassiveAggressiveOneClass(epsilon, signed=signed, norm_bound=W)
        course = bounds.follow(learner, X)
        paid, allowed = bounds.one_class(course, u)
        losses = np.maximum(0.0, np.linalg.norm(X - course.weights[:-1], axis=1) - epsilon)  # the first row's is one of them
        slack = epsilon - np.linalg.norm(X - u, axis=1).max()
        assert paid == pytest.approx(15 / 16 * (losses @ losses) + slack * losses.sum())
        p = np.abs(u) / W  # ||u||_1 = W: the only shares
        assert allowed == pytest.approx(8 * W**2 * np.sum(p * np.log((2 * d if signed else d) * p)))
        assert 0.0 < paid <= allowed < np.inf and losses[0] > 0.0
        assert bounds.one_class(course, 1.01 * u).allowed == np.inf, "it has no shares"


@pytest.mark.parametrize("seed", range(5))
def test_hedge(seed):
    X, y = advice(400, 15, seed)
    paid, allowed = bounds.hedge(X, 2 * y - 1)
    assert 0.0 < paid <= allowed < 400
    X = np.random.default_rng(seed).integers(0, 2, (400, 3)).astype(float)  # no expert is any good
    paid, allowed = bounds.hedge(X, 2 * y - 1)
    assert paid <= allowed


# --- the course itself ---------------------------------------------------------------------------------------------------------


def test_the_course_is_that_of_the_learner():
    X, y = continuous_problem(80, 5, seed=7)
    for learner in (AROWClassifier(0.5, **NO), NAROWClassifier(0.5, covariance="full", **ONE), DualAscentClassifier(**NO)):
        course, whole = bounds.follow(learner, csr32(X), y), type(learner)(**learner.get_params()).partial_fit(X, y, [-1, 1])
        assert not learner.__sklearn_is_fitted__(), "a copy learns"
        assert_allclose(course.weights[-1], whole.coef_[0], rtol=1e-9, atol=1e-12)
        assert course.updated.sum() == whole.n_updates_ and not course.weights[0].any()
        assert_allclose(course.scores, (X * course.weights[:-1]).sum(axis=1), rtol=1e-9, atol=1e-12)
        assert ((course.scores > 0) != (y > 0)).sum() == whole.n_mistakes_


def test_what_corollary_2_sums_in_full_form():
    """With A = Σ^-1: each term of Q is rχ/(r+χ) + 2mr/(r+χ) - m²/(r+χ), over r."""
    X, y = continuous_problem(100, 4, seed=8)
    course, r = bounds.follow(SecondOrderPerceptron(0.7, covariance="full", aggressive=True, **ONE), X, y), 0.7
    m, chi = course.margins, course.chi
    terms = (r * chi + 2 * m * r - m**2) / (r + chi)
    found = course.spread + 2 * course.peeked + course.forgotten
    assert_allclose(found[course.updated], terms[course.updated], rtol=1e-7, atol=1e-9)


def test_corollary_1_is_tight_for_one_row():
    """x = 2 and eta = 1/4, u = 1/2: f/eta = eta x²/2 = 1/2. SOP, x = r = 1, u = 1/2: a loss of 1/2, 2u²/2 and 1/2/2."""
    course = bounds.follow(Perceptron(eta0=0.25, **NO), [[2.0]], [-1])
    assert bounds.fixed_rate(course, [-0.5]) == (1, 1.0)
    course = bounds.follow(SecondOrderPerceptron(1.0, **ONE), [[1.0]], [1])
    assert bounds.fixed_rate(course, [0.5]) == (1, 1.0)
    course = bounds.follow(PNormPerceptron(4.0, **NO), [[1.0, 0.0]], [1])  # 1/beta is p - 1 = 3: not tight
    assert bounds.fixed_rate(course, [1.0, 0.0]) == (1, 0.5 + 3 / 2)


@pytest.mark.parametrize(
    "make", [lambda: SecondOrderPerceptron(0.7, aggressive=True, **ONE), lambda: NAROWClassifier(3.0, **ONE)]
)
def test_corollary_1_by_its_definition(make):
    """f*_t(θ) = sum of θ²/(2D_t); the mistakes are those of w = θ/D_t."""
    X, y = continuous_problem(60, 4, seed=9)
    course, u = bounds.follow(make(), X, y), np.array([0.5, -0.3, 0.2, 0.0])
    learner, theta, M, rest, B = make().partial_fit(X[:0], y[:0], classes=[-1, 1]), np.zeros(4), 0, 0.0, 0.0
    for x, label in zip(X, y, strict=True):
        before, updates = learner.covariance_[0].copy(), learner.n_updates_
        learner.partial_fit(x[None], [label])
        after = learner.covariance_[0]
        if learner.n_updates_ > updates:
            M += label * (after * theta) @ x <= 0
            B += theta @ (after * theta) / 2 - theta @ (before * theta) / 2
            rest += max(0.0, 1 - label * (u @ x)) + x @ (after * x) / 2
            theta += label * x
    paid, allowed = bounds.fixed_rate(course, u)
    assert paid == M > 0 and B < -0.1
    both, at_best = bounds.potential_based(course, u)  # the same at the best rate, with U on the left side
    assert at_best - (both - M) <= allowed
    assert allowed == pytest.approx(rest + u @ (u / learner.covariance_[0]) / 2 + B, rel=1e-5)


@pytest.mark.filterwarnings("error")
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("b", [0.1, 10.0])
def test_a_course_without_updates(b):
    """No rows, or rows of zeros: R = 0 and Σ = I, and the sum over updates is empty. Nothing is divided by 0."""
    for X, y in ((np.zeros((0, 2)), []), (np.zeros((3, 2)), [1, -1, 1])):
        for which, (name, make) in CASES.items():
            paid, allowed = getattr(bounds, name)(bounds.follow(make(), X, y), [3.0, 0.0])
            assert 0.0 <= paid <= allowed < np.inf, which
        learner = NAROWClassifier(b, covariance="full", **ONE)
        assert bounds.narow(bounds.follow(learner, X, y), [3.0, 0.0]) == (0, 0.0)


def test_p_norm_by_hand():
    """A mistake, w = (1, 0). Then m = 1/2, η = 1, D = (1/4 + 1)/2 - 1 = -3/8. L(u) = 1/2, S = R = √2."""
    learner = PNormPerceptron(2.0, aggressive=True, radius=2**0.5, **NO)
    paid, allowed = bounds.p_norm(bounds.follow(learner, [[1.0, 0.0], [0.5, 0.0]], [1, 1]), [1.0, 0.0])
    assert (paid, allowed) == (1, pytest.approx(0.5 + 1 + np.sqrt(2) * np.sqrt(0.5 + 0.5 - 3 / 8) - 1))


def test_p_norm_counts_the_losses_of_its_competitor_by_its_steps():
    """A mistake, w = (1, 0), then x = (3, 4)/5 with m = 3/5, R = √2: a step of 2/5, by which u's loss of 1 there counts."""
    learner = PNormPerceptron(2.0, aggressive=True, radius=2**0.5, **NO)
    course = bounds.follow(learner, [[1.0, 0.0], [0.6, 0.8]], [1, 1])
    D = (0.4**2 + 2 * 0.4 * 0.6) / 2 - 0.4
    S = np.sqrt(2) * 5 / 4
    allowed = 0.4 + S**2 / 2 + S * np.sqrt(S**2 / 4 + 0.4 + D) - 0.4
    assert bounds.p_norm(course, [1.0, -0.75]) == (1, pytest.approx(allowed))


def test_the_entropy_of_a_competitor_is_the_least():
    """Against a minimiser of its own: scipy's, over the pairs' sums."""
    from scipy.optimize import minimize

    u = np.array([0.3, -0.2, 0.0])
    spare = 1.0 - np.abs(u).sum()

    def entropy(z):
        share = np.exp(z - z.max()) / np.exp(z - z.max()).sum() * spare / 2
        p = np.concatenate([np.maximum(u, 0) + share, np.maximum(-u, 0) + share])
        return np.sum(p * np.log(6 * p))

    assert entropy_of_shares(u, True) == pytest.approx(minimize(entropy, np.zeros(3), tol=1e-12).fun, abs=1e-8)
    assert entropy_of_shares(np.zeros(3), True) == pytest.approx(0.0, abs=1e-12)
    for one in (1.0, 1.0 + 1e-15):  # a sum of shares is 1 only within rounding
        assert entropy_of_shares(np.array([one, 0.0]), True) == pytest.approx(np.log(4.0))
    assert entropy_of_shares(np.array([1.0, 0.1]), True) == np.inf


def refused(message, call):
    with pytest.raises(ValueError, match="^" + re.escape(message)):
        call()


def test_errors():
    X, y = np.eye(2), [-1, 1]
    course = bounds.follow(Perceptron(**NO), X, y)
    refused(
        "onlinecls.bounds: learner must have fit_intercept=False and average=False and not be fitted, got Perceptron(). The "
        "bounds are for weights from 0 on; a column of ones in X is an intercept.",
        lambda: bounds.follow(Perceptron(), X, y),
    )
    refused("onlinecls.bounds: learner must have", lambda: bounds.follow(Perceptron(average=True, **NO), X, y))
    refused("onlinecls.bounds: learner must have", lambda: bounds.follow(Perceptron(**NO).fit(X, y), X, y))
    refused(
        "onlinecls.bounds: y must be -1 and +1, got [0, 1]. Give the classes these numbers.",
        lambda: bounds.follow(Perceptron(**NO), X, [0, 1]),
    )
    for labels in (["ham", "spam"], np.array(["ham", "spam"], dtype=object)):
        refused(
            "onlinecls.bounds: y must be -1 and +1, got ['ham', 'spam']. Give the classes these numbers.",
            lambda labels=labels: bounds.follow(Perceptron(**NO), X, labels),
        )
    refused(
        "onlinecls.bounds: y must be -1 and +1, got ['-1', '1']. Give the classes these numbers.",
        lambda: bounds.follow(Perceptron(**NO), X, ["1", "-1"]),
    )
    refused(
        "onlinecls.bounds: X and y must have the same number of rows, got inconsistent numbers of samples: 2 in X and 1 in y.",
        lambda: bounds.follow(Perceptron(**NO), X, [1]),
    )
    refused("onlinecls.bounds: requires y to be passed, but the target y is None.", lambda: bounds.follow(Perceptron(**NO), X))
    refused(
        "onlinecls.bounds: y must be numbers, got something else (dtype <U1).",
        lambda: bounds.follow(PassiveAggressiveRegressor(**NO), X, ["a", "b"]),
    )
    refused("onlinecls.bounds: Expected 2D array, got 1D array", lambda: bounds.follow(Perceptron(**NO), [1.0, 2.0], y))
    refused(
        "onlinecls.bounds: X must be finite, got NaN at row 1, column 0. Drop the row, or fill in the value.",
        lambda: bounds.follow(Perceptron(**NO), [[1.0, 0.0], [np.nan, 1.0]], y),
    )
    for learner in (KernelOnlineClassifier(fit_intercept=False), object, None):
        refused(
            "onlinecls.bounds: learner must be a linear classifier, regressor or one-class learner of onlinecls, got "
            f"{learner!r}. The bounds are for weights over the columns of X.",
            lambda learner=learner: bounds.follow(learner, X, y),
        )
    refused(
        "onlinecls.bounds: learner must have fit_intercept=False and average=False and not be fitted, got "
        "PassiveAggressiveOneClass(). The",
        lambda: bounds.follow(PassiveAggressiveOneClass().fit(X), X),
    )
    refused(
        "onlinecls.bounds.one_class: course must be that of PassiveAggressiveOneClass or "
        "MultiplicativePassiveAggressiveOneClass, got that of Perceptron(fit_intercept=False). Each bound is one learner's.",
        lambda: bounds.one_class(course, [0, 0]),
    )
    refused(
        "onlinecls.bounds.perceptron: course must be that of Perceptron, aggressive=False, got that of "
        "PassiveAggressiveOneClass(). Each bound is one learner's.",
        lambda: bounds.perceptron(bounds.follow(PassiveAggressiveOneClass(), X), [0, 0]),
    )
    refused(
        "onlinecls.bounds.fixed_rate: course must be that of Perceptron or PNormPerceptron or SecondOrderPerceptron or "
        "NAROWClassifier, aggressive=False, got that of",
        lambda: bounds.fixed_rate(bounds.follow(PNormPerceptron(aggressive=True, **NO), X, y), [0, 0]),
    )
    refused(
        "onlinecls.bounds.arow: course must be that of AROWClassifier, covariance='full', got that of "
        "Perceptron(fit_intercept=False). Each bound is one learner's.",
        lambda: bounds.arow(course, [0, 0]),
    )
    refused(
        "onlinecls.bounds.arow: course must be that of AROW",
        lambda: bounds.arow(bounds.follow(AROWClassifier(**NO), X, y), [0, 0]),
    )
    refused(
        "onlinecls.bounds.perceptron: u must be 2 finite weights, got shape (3,). Give one for each column of X.",
        lambda: bounds.perceptron(course, [0, 0, 0]),
    )
    refused("onlinecls.bounds.perceptron: u must be 2 finite", lambda: bounds.perceptron(course, [0, np.nan]))
    short = bounds.follow(PNormPerceptron(2.0, aggressive=True, radius=0.5, **NO), X, y)
    refused(
        "onlinecls.bounds.p_norm: radius must be at least the p-norm of every row, 1, got radius=0.5.",
        lambda: bounds.p_norm(short, [0, 0]),
    )
    plain = bounds.follow(PassiveAggressiveRegressor(**NO), X, y)
    refused("onlinecls.bounds.passive_aggressive: loss must be", lambda: bounds.passive_aggressive(plain, [0, 0]))
    capped = bounds.follow(PassiveAggressiveClassifier(1.0, **NO), X, y)
    refused("onlinecls.bounds.distance: C must be inf, got C=1.0.", lambda: bounds.distance(capped, [0, 0]))


@pytest.mark.parametrize(
    "bound, learner, names",
    [
        ("arow", AROWClassifier(**FULL, **NO), ["r"]),
        ("narow", NAROWClassifier(**FULL, **NO), ["initial_variance"]),
        ("second_order_perceptron", SecondOrderPerceptron(**NO), ["initial_variance"]),
        ("potential_based", SecondOrderPerceptron(**NO), ["initial_variance"]),
        ("fixed_rate", NAROWClassifier(**NO), ["initial_variance"]),
        ("fixed_rate", Perceptron(True, **NO), ["eta0"]),
        ("lemma_1", SecondOrderPerceptron(**NO), ["initial_variance"]),
        ("lemma_1", Perceptron(True, **NO), ["eta0"]),
        ("multiplicative", MultiplicativePassiveAggressiveClassifier(**NO), ["norm_bound"]),
        ("one_class", PassiveAggressiveOneClass(), ["epsilon"]),
        ("one_class", MultiplicativePassiveAggressiveOneClass(), ["epsilon", "norm_bound"]),
        ("dual_ascent", DualAscentClassifier(**NO), ["sigma"]),
        ("dual_ascent", DualAscentClassifier(regularizer="entropic", **NO), ["sigma", "norm_bound"]),
        ("gradient_descent", OGDClassifier(**NO), ["alpha"]),
    ],
)
def test_a_default_that_the_rows_tell_is_no_constant_of_a_theorem(bound, learner, names):
    for name in names:
        course = bounds.follow(learner, np.eye(2), [-1, 1])
        refused(
            f"onlinecls.bounds.{bound}: {name} must be a number, got {name}={getattr(learner, name)!r}, which depends on the "
            f"rows. The theorem is for a constant that was fixed before them: follow a learner with {name}=1.0, say.",
            lambda course=course: getattr(bounds, bound)(course, [0.5, 0.5]),
        )
        learner.set_params(**{name: 1.0})
    paid, allowed = getattr(bounds, bound)(bounds.follow(learner, np.eye(2), [-1, 1]), [0.5, 0.5])
    assert 0.0 <= paid <= allowed


def test_examples_run_and_names_are_there():
    found = doctest.testmod(bounds)
    assert found.attempted > 10 and found.failed == 0
    assert all(hasattr(bounds, name) for name in bounds.__all__)
