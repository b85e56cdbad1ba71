"""The papers' theorems hold for the library's learners, on random streams and against adversaries, with the right numbers.

The streams and the learners are those of attack.py, which the reproduction uses, too.
"""

import re

import attack
import numpy as np
import pytest
from attack import ATTACKS, FULL, INF, NO, ONE, against, attacked, begun, competitors, drawn, is_broken, lossless, task
from matrices import advice, continuous_problem, csr32
from numpy.testing import assert_allclose

import onlinecls as oc
from onlinecls import bounds
from onlinecls._registry import ALGORITHMS
from onlinecls.reference import Entropic

PARTS = [part for parts in ATTACKS.values() for part in parts]
NAMES = sorted({name for name, _ in PARTS})
JOINT = oc.SecondOrderPerceptron(1.0, aggressive=True, multi_class="crammer_singer", **ONE, **NO)
BEST = np.array([2.0, -2.0, 1.0, 0.0, 0.0])  # ||u||_1 = 5


def learners_of(name, classes=None):
    """Return the learners of a theorem: all, those of classes, or all but those."""
    found = [one for other, learners in PARTS if other == name for one in learners]
    return [one for one in found if classes is None or (task(one) == "classifier") == classes]


def sides(name, course, u):
    return getattr(bounds, name)(course, u)


def changed(learner, **parameters):
    """Return a learner with other values of those of these parameters that it has."""
    given = learner.get_params()
    return type(learner)(**{**given, **{name: value for name, value in parameters.items() if name in given}})


def test_every_theorem_is_attacked_and_named_by_the_registry():
    own = {"Bound", "Certificate", "Course", "certify", "follow", "follow_the_leader", "hedge"}  # (the last have tests below)
    assert set(NAMES) == set(bounds.__all__) - own == {name for row in ALGORITHMS.values() for name in row.theorems}


@pytest.mark.parametrize("number", ATTACKS)
def test_the_bound_holds_on_random_streams_and_against_adversaries(number):
    for name, learners in ATTACKS[number]:
        found = [attacked(name, learner, 12) for learner in learners]
        assert not sum(one.broken for one in found), [one for one, of in zip(learners, found, strict=True) if of.broken]
        assert max(one.tightest for one in found) > 0.3, "it says something"


@pytest.mark.parametrize("name", [name for name in NAMES if lossless(name, learners_of(name)[0])])
def test_a_competitor_with_a_loss_makes_no_bound(name):
    for learner in learners_of(name):
        if lossless(name, learner):
            X, y, U = drawn(name, learner, 0)
            assert sides(name, bounds.follow(learner, X, y), -3.0 * U[0] - 9.0).allowed == INF, learner


# --- numbers by hand, and definitions ------------------------------------------------------------------------------------------

SECOND, SLOPE = np.sqrt(2) * 5 / 4, 1 / (1 + np.exp(0.25))  # S of the second row of p_norm
HAND = {
    # One row of length 1, u = g x: PA pays 1 + 2 (g - 1), of g² allowed; a target of 3, epsilon 1: 2² + 2 (1 - 0) 2 of 9.
    "PA, u = 2.5 x": ("passive_aggressive", oc.PassiveAggressiveClassifier(INF, **NO), [[1.0]], [1], [2.5], (4.0, 6.25)),
    "PA, a target": ("passive_aggressive", oc.PassiveAggressiveRegressor(INF, epsilon=1.0, **NO), [[1.0]], [3.0], [3.0], (8, 9)),
    "Lemma 2": ("distance", oc.PassiveAggressiveRegressor(INF, epsilon=1.0, **NO), [[1.0]], [3.0], [3.0], (2.0, 6.0)),
    # Two experts, W = 1: they say 1/2, the target is 1. Loss 1/2 - epsilon; u = the first expert: D = log 2.
    "Theorem 4": ("multiplicative", oc.MultiplicativePassiveAggressiveRegressor(0.25, signed=False, norm_bound=1.0, **NO),
                  [[1.0, 0.0]], [1.0], [1.0, 0.0], (0.25**2 + 2 * 0.25 * 0.25, np.log(2) / 2)),
    # Centre 0, then rows at 3 and -2, epsilon = 2: losses 1 and 1, the centre at 1 and 0; of u = 1/2, epsilon* = 5/2.
    "one class, no ball": (
        "one_class", oc.PassiveAggressiveOneClass(2.0, scale=1.0), [[0.0], [3.0], [-2.0]], None, [0.5], (2.0, np.inf)),
    # W = 4, u = 4: the only shares are all of +W, D = log 2. The centre is 0: a loss of 4 - 2; epsilon* = 0.
    "one class, Theorem 4": (
        "one_class", oc.MultiplicativePassiveAggressiveOneClass(2.0, norm_bound=4.0, scale=1.0), [[4.0]], None, [4.0],
                             (15 / 16 * 4 + 2 * 2, 8 * 16 * np.log(2))),
    # 1/beta is p - 1 = 3.
    "Corollary 1, p = 4": ("fixed_rate", oc.PNormPerceptron(4.0, **NO), [[1.0, 0.0]], [1], [1.0, 0.0], (1, 0.5 + 3 / 2)),
    # x = 1 twice, r = 1: Σ = 1, 1/2, 1/3, the second m = 1/2, m' = 1/3 and χ = 1/2. Q = 1/2 + (1/3 + 2/3 - 1/6) = 4/3.
    "Corollary 2": ("potential_based", oc.SecondOrderPerceptron(1.0, aggressive=True, **ONE, **NO), [[1.0], [1.0]], [1, 1], [0.5],
                    (2, 1.0 + np.sqrt(3 / 4) * np.sqrt(4 / 3))),
    "SOP, full": ("second_order_perceptron", oc.SecondOrderPerceptron(1.0, aggressive=True, **FULL, **ONE, **NO), [[1.0], [1.0]],
                  [1, 1], [0.5], (2, 1.0 + np.sqrt(3 / 4) * np.sqrt(np.log(3) + 0.5 * 1.5 / 1.5))),
    # Log loss: x = 1 twice, slopes of 1/2 and, at w = 1/4, SLOPE; u = 1 has the loss log(1 + 1/e), f = 1.
    "Corollary 1, log loss": ("fixed_rate", oc.DualAscentClassifier(2.0, update="DA1", loss="log_loss", norm_bound=1.0, **NO),
                              [[1.0], [1.0]], [1, 1], [1.0],
                              (1, (2 * np.log1p(np.exp(-1.0)) + 1.0 + (0.25 + SLOPE**2) / 4) / np.log(2.0))),
    # x = 1 twice: w = 1/2, the second step is 1/√2 of the first. u = 3/4.
    "Corollary 2, steps that fall": (
        "potential_based", oc.OGDClassifier(learning_rate="sqrt", eta0=0.5, **NO), [[1.0], [1.0]], [1, 1], [0.75],
        (1 + 0.5**0.5, 0.25 * (1 + 0.5**0.5) + 0.75 * (1.0 + 0.5 + 2 * 0.5**0.5) ** 0.5)),
    "Corollary 2, p = 4": ("potential_based", oc.PNormPerceptron(4.0, **NO), [[1.0, 0.0]], [1], [1.0, 0.0], (1, 3**0.5)),
    # PA-I with the margin 1/2: u = 1/4 loses 1/4; 1/γ² = 4, 1/(Cγ) = 1/5 or 20.
    "PA-I": ("passive_aggressive", oc.PassiveAggressiveClassifier(10.0, margin=0.5, **NO), [[1.0]], [1], [0.25],
             (1, 4 * (1 / 16 + 5))),
    "PA-I, small C": ("passive_aggressive", oc.PassiveAggressiveClassifier(0.1, margin=0.5, **NO), [[1.0]], [1], [0.25],
                      (1, 20 * (1 / 16 + 1 / 20))),
    "margin": ("margin_corollary", oc.PassiveAggressiveClassifier(INF, margin=2.0, **NO), [[1.0]], [1], [0.5], (2.0, 4.0)),
    # Shares 3/4 = p+ - p-; l = 1/2, and u = 3/4 has 1/4 more than the margin. ρ = 2.
    "multiplicative": ("multiplicative", oc.MultiplicativePassiveAggressiveClassifier(margin=0.5, norm_bound=1.0, **NO), [[1.0]],
                       [1], [0.75], (0.25 + 0.25, 2 * (0.875 * np.log(1.75) + 0.125 * np.log(0.25)))),
    # The rows of Corollary 2 above: squares 1/2 + 1/3, memory 1/3 - 1/2.
    "Corollary 1, memory": ("fixed_rate", oc.SecondOrderPerceptron(1.0, aggressive=True, **ONE, **NO), [[1], [1]], [1, 1], [0.5],
                            (1, 1.0 + (3 / 4 + 5 / 6 - 1 / 6) / 2)),
    # Σ_0 = 3, r = 2: D_T = 1/3 + 2/2; the second m' is 3/4.
    "SOP, diagonal": ("second_order_perceptron", oc.SecondOrderPerceptron(2.0, aggressive=True, initial_variance=3.0, **NO),
                      [[1.0], [1.0]], [1, 1], [0.5], (2, 1.0 + np.sqrt(1 / 3) * np.sqrt(2 * np.log(4) + 2))),
    # b = 2: Σ = 1/2, then m = χ = 1/2 and r is infinite: 1 + 2bm. The row x = 2: bχ = 8.
    "NAROW": ("narow", oc.NAROWClassifier(2.0, **FULL, **ONE, **NO), [[1.0], [1.0]], [1, 1], [0.5],
              (2, 1.0 + np.sqrt((0.5 + np.log(2)) / 4) * 2.0)),
    "NAROW, R = 2": ("narow", oc.NAROWClassifier(2.0, **FULL, **ONE, **NO), [[2.0]], [1], [0.25],
                     (1, 0.5 + np.sqrt((0.5 + 4 * np.log(8)) / 16))),
    # r = 1: w = 1/2, then m = χ = 1/2.
    "AROW": ("arow", oc.AROWClassifier(1.0, **FULL, **NO), [[1.0], [1.0]], [1, 1], [0.5],
             (1, np.sqrt(3 / 4) * np.sqrt(np.log(3) + 1) + 1 - 1)),
    "descent": ("gradient_descent", oc.OGDClassifier(0.5, **NO), [[1.0]], [1], [0.5], (1.0, 0.25 / 4 + 0.5 + 4.0)),
    "dual ascent": ("dual_ascent", oc.DualAscentClassifier(2.0, margin=0.8, norm_bound=1.0, **NO), [[1.0]], [1], [0.25],
                    (0.8, 1 / 16 + 0.55 + 1 / 4)),
    "dual ascent, entropic": (  # shares 1/4 = p+ - p-, L = 2
        "dual_ascent", oc.DualAscentClassifier(2.0, regularizer="entropic", margin=0.8, norm_bound=2.0, **NO), [[1]], [1], [0.5],
        (0.8, 2 * (0.625 * np.log(1.25) + 0.375 * np.log(0.75)) + 0.3 + 1.0)),
    # Three classes, one row x = 1 of the first: z is √2 long; u loses 3/4.
    "dual ascent, k = 3": ("dual_ascent", oc.DualAscentClassifier(1.0, norm_bound=1.0, **NO), [[1]], [0], [[0.25], [-0.25], [0]],
                           (1.0, 1 / 16 + 3 / 4 + 1.0)),
    # A mistake, w = (1, 0). Then m = 1/2, η = 1, D = (1/4 + 1)/2 - 1 = -3/8. L(u) = 1/2, S = R = √2.
    "p-norm": ("p_norm", oc.PNormPerceptron(2.0, aggressive=True, radius=2**0.5, **NO), [[1, 0], [0.5, 0]], [1, 1], [1.0, 0.0],
               (1, 0.5 + 1 + np.sqrt(2) * np.sqrt(0.5 + 0.5 - 3 / 8) - 1)),
    # A mistake, w = (1, 0), then x = (3, 4)/5 with m = 3/5, R = √2: a step of 2/5, by which u's loss of 1 there counts.
    "p-norm, a small step": (
        "p_norm", oc.PNormPerceptron(2.0, aggressive=True, radius=2**0.5, **NO), [[1.0, 0.0], [0.6, 0.8]], [1, 1], [1.0, -0.75],
        (1, 0.4 + SECOND**2 / 2 + SECOND * np.sqrt(SECOND**2 / 4 + 0.4 + (0.4**2 + 2 * 0.4 * 0.6) / 2 - 0.4) - 0.4)),
}


@pytest.mark.parametrize("name, learner, X, y, u, expected", HAND.values(), ids=HAND)
def test_numbers_worked_out_by_hand(name, learner, X, y, u, expected):
    course = bounds.follow(learner, X, y, len(u) if np.ndim(u) > 1 else None)
    assert getattr(bounds, name)(course, u) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("learner", [
    oc.DualAscentClassifier("auto", norm_bound=2.0, **NO), oc.DualAscentRegressor("auto", norm_bound=2.0, loss="squared", **NO),
    oc.DualAscentClassifier("auto", norm_bound=2.0, regularizer="entropic", **NO),
    oc.DualAscentRegressor("auto", norm_bound=2.0, regularizer="entropic", loss="squared", **NO)], ids=repr)
def test_dual_ascent_that_sets_its_own_sigma_by_its_definition(learner):
    """Against u = 0, where f(u) = 0."""
    X, y = continuous_problem(40, 3, seed=11)
    X *= np.geomspace(0.1, 3.0, 40)[:, None]
    course, before, paid, allowed, n_rises = bounds.follow(learner, X, y), 0.0, 0.0, 0.0, 0
    for x, label, s, sigma in zip(X, y, course.scores, course.sigma, strict=True):
        entropic, squared = learner.regularizer == "entropic", learner.loss == "squared"
        rose, L = entropic and 0.0 < before < sigma, 2.0 * np.abs(x).max() if entropic else np.linalg.norm(x)
        s = s if entropic else s * before / sigma  # (the weights of the round are those of its σ)
        loss, least = ((label - s) ** 2, max(0.0, 1.0 - L) ** 2) if squared else (max(0.0, 1 - label * s), max(0.0, 1.0 - L))
        slope = 1.0 if not squared else 2.0 * (1.0 + L) if rose else 2.0 * abs(label - s)
        paid, before, n_rises = paid + loss, sigma, n_rises + rose
        allowed += 1.0 + (slope * L) ** 2 / (2.0 * sigma) + rose * (loss - least)
    assert bounds.dual_ascent(course, np.zeros(3)) == pytest.approx((paid, allowed)) and (n_rises > 3) == entropic


def test_the_entropy_of_a_competitor_is_the_least():
    """Against a minimiser of its own: scipy's, over the pairs' sums."""
    from scipy.optimize import minimize

    u, least = np.array([0.3, -0.2, 0.0]), Entropic().value
    spare = 1.0 - np.abs(u).sum()

    def entropy(z):
        share = np.exp(z - z.max()) / np.exp(z - z.max()).sum() * spare / 2
        p = np.concatenate([np.maximum(u, 0) + share, np.maximum(-u, 0) + share])
        return np.sum(p * np.log(6 * p))

    assert least(u) == pytest.approx(minimize(entropy, np.zeros(3), tol=1e-12).fun, abs=1e-8)
    assert least(np.zeros(3)) == pytest.approx(0.0, abs=1e-12)
    for one in (1.0, 1.0 + 1e-15):  # a sum of shares is 1 only within rounding
        assert least(np.array([one, 0.0])) == pytest.approx(np.log(4.0))
    assert least(np.array([1.0, 0.1])) == np.inf


@pytest.mark.filterwarnings("error")
def test_rows_of_zeros_and_no_rows_at_all():
    """R = 0, σ = 0 and Σ = I, and sums over updates are empty: nothing is divided by 0, and no bound is NaN."""
    for name, learner in [(each, one) for each in NAMES for one in learners_of(each, classes=True) if not lossless(each, one)]:
        for X, y in ((np.zeros((0, 2)), []), (np.zeros((3, 2)), [1, -1, 1])):
            paid, allowed = sides(name, bounds.follow(learner, X, y), [3.0, 0.0])
            assert 0.0 <= paid <= allowed and (allowed < np.inf or learner.signed is False), learner
    for b in (0.1, 10.0):
        assert bounds.narow(bounds.follow(oc.NAROWClassifier(b, **FULL, **ONE, **NO), X, y), [3.0, 0.0]) == (0, 0.0)


# --- courses and certificates --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("learner", [
    *attack.SOPS, *attack.NAROWS, attack.DUALS[0]("auto"), oc.PassiveAggressiveOneClass(0.4, scale=1.0)], ids=repr)
def test_the_course_is_that_of_the_learner_on_dense_and_sparse_rows(learner):
    X, y = continuous_problem(60, 5, seed=7)
    X[:, 1] = 0.0
    walker, updates, lengths = begun(learner, X), [], []
    for t in range(len(X)):
        walker.partial_fit(X[t : t + 1], y[t : t + 1])
        updates.append(walker.n_updates_)
        lengths.append(np.linalg.norm(walker.coef_) if task(learner) == "classifier" else 0.0)
    dense, sparse = bounds.follow(learner, X, y), bounds.follow(walker, csr32(X).astype(np.float64), y)
    for course in (dense, sparse):
        assert np.cumsum(course.updated).tolist() == updates and not learner.__sklearn_is_fitted__(), "a new one learns"
        assert_allclose(course.lengths, lengths, rtol=1e-9)
    for part in ("scores", "y", "chi", "lookahead", "spread", "forgotten", "sigma"):
        assert_allclose(getattr(sparse, part), getattr(dense, part), rtol=1e-9, atol=1e-12)
    if task(learner) == "classifier":
        assert ((dense.scores > 0) != (y > 0)).sum() == walker.n_mistakes_


def test_a_certificate_has_both_sides_of_the_course_so_far():
    """It is that of the competitor for which least is left, of several; at 200 places of a long course; and it is drawn."""
    plt = pytest.importorskip("matplotlib.pyplot")
    from onlinecls.plotting import BoundDisplay

    X, y = continuous_problem(450, 5, seed=8)
    for learner in (oc.Perceptron(**NO), attack.NAROWS[0], oc.PassiveAggressiveClassifier(0.3, **NO)):
        course = bounds.follow(learner, X, y)
        bound = getattr(bounds, next(row for row in ALGORITHMS.values() if row.estimator == type(learner).__name__).theorems[0])
        U = competitors(X, y, course.learner.coef_[0])
        found = bounds.certify(course, U)
        assert len(found.rows) == 200 and found.rows[0] == 1 and found.rows[-1] == 450
        for at in (0, 50, 199):
            both = [bound(course.until(int(found.rows[at])), u) for u in U]
            assert (found.paid[at], found.allowed[at]) == pytest.approx(min(both, key=lambda one: one.allowed - one.paid))
        assert bound(course, found.u) == pytest.approx((found.paid[-1], found.allowed[-1]))
        assert_allclose(bounds.certify(course, found.u).allowed[-1], found.allowed[-1])
        display = BoundDisplay.from_certificates({"it": found})
        assert_allclose(display.lines_["it"][1].get_xydata(), np.column_stack([found.rows, found.allowed]))
        plt.close(display.figure_)
    assert bounds.certify(bounds.follow(learner, X[:0], []), U[1]).rows.size == 0


def test_recursive_least_squares_pay_what_the_best_weights_are_allowed():
    """An identity, so that both sides agree for the ridge solution, on any targets."""
    rng = np.random.default_rng(0)
    for learner in learners_of("least_squares"):
        X, y = rng.standard_normal((60, 4)), rng.standard_normal(60) * 5.0
        course = bounds.follow(learner, X, y)
        best = np.linalg.solve(learner.r * np.eye(4) + X.T @ X, X.T @ y)
        paid, allowed = bounds.least_squares(course, best)
        assert paid == pytest.approx(allowed, rel=1e-10)
        assert bounds.least_squares(course, best + 0.01).allowed > allowed


def test_corollary_2_of_arow():
    """r Aw is the sum of y x: by its definition, for every u, and not for a learner of the labels turned round."""
    rng, learner = np.random.default_rng(2), oc.AROWClassifier(0.7, **FULL, **NO)
    X = rng.standard_normal((120, 5))
    for y in (against(learner, X), np.sign(X @ BEST)):
        course = bounds.follow(learner, X, y)
        A, w = np.linalg.inv(course.learner.covariance_), course.learner.coef_[0]
        assert_allclose(0.7 * A @ w, (course.updated * y) @ X, atol=1e-9)
        assert not any(is_broken(*bounds.potential_based(course, u)) for u in competitors(X, y, w))
        root = 0.7 * ((BEST @ A @ BEST) * (w @ A @ w)) ** 0.5
        expected = course.updated.sum(), course.updated @ np.maximum(0.0, 1.0 - y * (X @ BEST)) + root
        assert bounds.potential_based(course, BEST) == pytest.approx(expected)
    course = bounds.follow(learner, X, -y)
    paid, allowed = bounds.potential_based(course._replace(y=y, lookahead=-course.lookahead), 4.0 * BEST)
    assert paid > allowed


# --- theorems with streams of their own ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [
    {}, {"update": "DA1"}, {"loss": "log_loss"}, {"regularizer": "entropic", "norm_bound": 12.5, "sigma": 400.0}], ids=repr)
def test_dual_ascent_for_several_classes(form):
    rng, form = np.random.default_rng(3), {"sigma": 20.0, "norm_bound": 1.0, **form, **NO}
    X, u = rng.standard_normal((1500, 4)), 4.0 * np.concatenate([np.eye(3), np.zeros((3, 1))], axis=1)
    X = X[np.sort(X @ u.T, axis=1) @ [0.0, -1.0, 1.0] > 1.0]
    y = (X @ u.T).argmax(axis=1)
    assert not is_broken(*bounds.dual_ascent(bounds.follow(oc.DualAscentClassifier(**form), X, y, 3), u))
    labels = against(oc.DualAscentClassifier(**form), X, lambda scores, t: scores.argmin(), [0, 1, 2]).astype(int)
    course = bounds.follow(oc.DualAscentClassifier(**form), X, labels, 3)
    for competitor in (0.0 * u, 0.1 * u, course.learner.coef_):
        paid, allowed = bounds.dual_ascent(course, competitor)
        assert 0.0 < paid <= allowed


def test_the_bound_of_hedge_holds_against_an_adversary():
    assert bounds.hedge([[1.0, 0.0]], [1.0]) == pytest.approx((0.5, 2.0 * (np.log(2) / 2) ** 0.5 + (np.log(2) / 8) ** 0.5))
    rng = np.random.default_rng(4)
    X, y = advice(400, 15, 0)
    for labels, experts in ((2 * y - 1, X), (2 * y - 1, rng.integers(0, 2, (400, 3)).astype(float))):
        paid, allowed = bounds.hedge(experts, labels)
        assert 0.0 < paid <= allowed < 400
        assert bounds.hedge(2.0 * experts - 1.0, labels, signed=True) == pytest.approx((paid, allowed))
    X = rng.random((400, 6))
    paid, allowed = bounds.hedge(X, against(oc.HedgeClassifier(dtype=np.float64), X))
    assert 200.0 < paid <= allowed, "it is an adversary"
    X[:, 0] = (1.0 + np.sign(X[:, 1] - 0.5)) / 2.0  # the first expert knows
    y = 2.0 * X[:, 0] - 1.0
    paid, allowed = bounds.hedge(X, y)
    assert 0.0 < paid <= allowed


def test_the_mean_of_all_targets_so_far():
    rng, adversary = np.random.default_rng(0), np.zeros(400)
    for t in range(400):
        adversary[t] = -1.0 if adversary[:t].sum() > 0.0 else 1.0
    for y in (adversary, rng.standard_normal(500), np.sign(rng.standard_normal(300)), np.zeros(0), [3.0]):
        paid, allowed = bounds.follow_the_leader(y)
        assert paid <= allowed + 1e-12
    allowed = bounds.follow_the_leader(adversary).allowed
    assert np.square(np.diff(adversary, prepend=0.0)).sum() > allowed, "follow the last target, not the leader"
    y = np.append(np.zeros(99), 1.0)  # by hand: the last error alone; best: variance
    assert bounds.follow_the_leader(y) == pytest.approx((1.0, 0.99 + 2.0 * (1.0 + np.log(100))))


# --- numbers that a theorem does not speak of ---------------------------------------------------------------------------------

@pytest.mark.parametrize("learner, size", [
    (oc.Perceptron(eta0=1e300, **NO), 1e10), (oc.Perceptron(fit_intercept=False, dtype=np.float32), 1e37),
    (oc.DualAscentRegressor(1.0, loss="squared", update="DA1", norm_bound=1.0, **NO), 1e8),
    (oc.PassiveAggressiveOneClass(1.0, scale=1.0, dtype=np.float32), 1e38)])
def test_skipped_steps_are_refused(learner, size):
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match=r"^onlinecls\.bounds: X must be rows whose steps fit float.., got .* of 60 whose"):
        bounds.follow(learner, size * rng.standard_normal((60, 3)), rng.choice([-1.0, 1.0], 60))


@pytest.mark.parametrize("dtype, most", [(np.float64, 1e12), (np.float32, 1.8e3)])
@pytest.mark.parametrize("name, learner", [
    ("second_order_perceptron", oc.SecondOrderPerceptron(0.5, initial_variance=2.0, **FULL, **NO)),
    ("narow", oc.NAROWClassifier(2.0, initial_variance=2.0, **FULL, **NO)), ("arow", oc.AROWClassifier(0.25, **FULL, **NO)),
    ("least_squares", oc.AROWRegressor(0.25, **FULL, **NO))])
def test_a_full_covariance_that_has_lost_its_digits_is_refused(name, learner, dtype, most):
    """A column of time stamps: x'Σ_0x/r is 4 ||x||² in all of these. Up to the limit the bound holds to rounding."""
    rng, learner = np.random.default_rng(0), changed(learner, dtype=dtype)
    X, y = rng.standard_normal((100, 3)) / 3.0, rng.choice([-1.0, 1.0], 100)
    for size in (0.4, 0.6, 1e3):
        X[:, 0] = size * most**0.5 * (1.0 - 1e-3 * rng.random(100))
        if size > 0.5:
            with pytest.raises(ValueError, match=r"X must be rows with x'Σ_0x/r up to .* for a full covariance of "):
                bounds.follow(learner, X, y)
        else:
            paid, allowed = getattr(bounds, name)(bounds.follow(learner, X, y), np.linalg.lstsq(X, y, rcond=None)[0])
            assert 0.0 < paid <= allowed * (1.0 + 2e-4)


SPOILT = r"onlinecls\.bounds.*: (X must be rows|rows, targets and u must be|radius must be at least)"


@pytest.mark.filterwarnings("error", "ignore:.*(columns of a dense X|updates should stay):UserWarning")
@pytest.mark.parametrize("name", NAMES)
def test_numbers_of_any_size_make_a_bound_or_an_error_but_no_nan(name):
    """u separates the rows, as far as the range allows: what is allowed is not too little because a power came to 0."""
    for learner in learners_of(name):
        pool, targets, (best, *_) = drawn(name, learner, 1)
        for size in (1e-300, 1e-170, 1e-20, 1e20, 1e155, 1e300):
            X, y = pool[:12] * size, targets if targets is None else targets[:12]
            if task(learner) == "regressor":
                y = y * np.random.default_rng(6).choice([1.0, min(size, 1e290)], len(y))
            try:
                course = bounds.follow(learner, X, y)
            except ValueError as error:
                assert re.match(SPOILT, str(error)), error
                continue
            for u in (0.0 * best, best, best * min(1.0 / size, 1e170), best * 1e170):
                try:
                    assert not is_broken(*sides(name, course, u)), (learner, size, u)
                except ValueError as error:
                    assert re.match(SPOILT, str(error)) or "theorem" in str(error), error


# --- what no theorem speaks of -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name, learner", [("perceptron", oc.Perceptron), ("dual_ascent", oc.DualAscentClassifier)])
def test_the_course_is_that_of_rows_in_the_scale_that_the_first_ones_tell(name, learner):
    X, y, (u, *_) = drawn(name, learner(**{**NO, "sigma": 1.0} if name == "dual_ascent" else NO), 3)
    X = 5.0 * X
    found = bounds.follow(learner(**{**NO, "scale": "auto"}), X, y)
    s = (X / found.X).flat[np.flatnonzero(X)[0]]
    expected = bounds.follow(learner(**NO), X / s, y)
    assert s > 1.0 and (found.scores == expected.scores).all() and (found.X == X / s).all()
    assert getattr(bounds, name)(found, u) == getattr(bounds, name)(expected, u)


X, PLAIN = np.eye(2), oc.Perceptron(**NO)


def course(learner, y=(-1, 1), **more):
    return bounds.follow(learner, np.eye(len(y)), y, **more)


ERRORS = {
    "learner must be one that a theorem covers, got SCW": lambda: course(oc.SCWClassifier(**NO)),
    "learner must be one that a theorem covers, got Kernel": lambda: course(oc.KernelOnlineClassifier(fit_intercept=False)),
    **{f"{name} must be": lambda name=name, value=value: course(oc.AROWClassifier(**{**NO, name: value})) for name, value in
       {"fit_intercept": True, "average": True, "class_weight": "balanced", "forgetting": 0.01}.items()},
    "y must be -1 and +1, got [0, 1]": lambda: course(PLAIN, [0, 1]),
    "y must be 0 .. 2": lambda: bounds.follow(JOINT, X, [0, 3], 3),
    "u must be 2 finite weights, got shape (3,)": lambda: bounds.perceptron(course(PLAIN), [0] * 3),
    "sigma must be a number": lambda: bounds.dual_ascent(
        course(oc.DualAscentClassifier("auto", norm_bound=1.0, **NO), [0, 1, 2], n_classes=3), np.eye(3)),
    "y must be -1 and +1, got 3 classes": lambda: bounds.lemma_1(course(JOINT, [0, 1, 2], n_classes=3), np.eye(3)),
    "r1 must be None": lambda: bounds.potential_based(course(oc.AROWClassifier(1.0, r1=2.0, **FULL, **NO)), [0, 0]),
    "covariance must be 'full'": lambda: bounds.arow(course(oc.AROWClassifier(1.0, **NO)), [0, 0]),
    "rows, targets and u must be": lambda: bounds.follow_the_leader([1e200, -1e200]),
    "loss must be": lambda: bounds.passive_aggressive(course(oc.PassiveAggressiveRegressor(C=1.0, epsilon=0.1, **NO)), [0, 1]),
    "course must be that of one of": lambda: bounds.p_norm(course(PLAIN), [0, 0]),
    "radius must be at least": lambda: bounds.p_norm(course(oc.PNormPerceptron(2.0, aggressive=True, radius=0.5, **NO)), [0, 0]),
    "lam must be a number in (0, inf)": lambda: bounds.lemma_1(course(PLAIN), [0, 0], lam=0.0),
}


@pytest.mark.parametrize("message", ERRORS)
def test_bounds_refuse_courses_and_arguments_outside_their_theorems(message):
    with pytest.raises(ValueError, match=r"^onlinecls\.bounds[._a-z1]*: " + re.escape(message)):
        ERRORS[message]()
