"""The slow twins against numbers computed by hand, and against the properties that define the algorithms."""

from math import cosh, exp, inf, sinh, sqrt
from statistics import NormalDist

import numpy as np
import pytest
from matrices import continuous_problem
from numpy.testing import assert_allclose
from reference import MODELS, costs_of_classes, run_binary, run_regression, run_stream
from scipy.optimize import minimize

import onlinecls as oc
from onlinecls import bounds
from onlinecls import reference as ref

PHI_1 = NormalDist().cdf(1.0)  # the confidence eta for which phi = 1
ALPHA = (sqrt(41) - 1) / 20  # CW variance at m = 0, v = 5, phi = 1
BETA = (5 + sqrt(345)) / 160  # SCW-I's added precision at alpha = 1/4, v = 5, phi = 1
NORM = 9 ** (1 / 3)  # of (1, 2), p = 3
COSHES = cosh(1 / 8) + cosh(1 / 4)
THETA = 0.2 + (2 - 0.9 / NORM) / NORM**2

# --- by hand: (algorithm, parameters, rows (x, y, c), w, Sigma or G, updates) ----------------------------------------

A = ((1, 2), 1, 1)  # z = (1, 2), ||z||^2 = 5: the first row of all
B = ((-1, 1), -1, 2)  # z = (1, -1), weight 2
BY_HAND = [
    # A: m = 0 is not satisfied, w = (1/2, 1).  B: m = -1/2, w += 1/2 * 2 z.  Then m = 3/2 is.
    ("perceptron", {"eta0": 0.5}, [A, B, ((1, 0), 1, 1)], [1.5, 0], None, 2),
    # A: w = (.1, .2).  A again: m = 1/2, where the Perceptron would rest.
    ("aggressive_perceptron", {"eta0": 0.1}, [A, A], [0.2, 0.4], None, 2),
    # A: theta = (1, 2), w = (1, 4) / (2 * 9^(1/3)).  B: m < 0, theta = (3, 0), w = (9/2, 0) / 3.
    ("p_norm", {"p": 3}, [A, B], [1.5, 0], None, 2),
    # Weight .2: theta = (.2, .4), m = .2 * 9/2 / NORM = .43; again: theta += ETA z.  Then m = .56 * 9/2 / NORM > 1.
    ("aggressive_p_norm", {"p": 3, "radius": 2}, [((1, 2), 1, 0.2), A, A], [0.5 * THETA / NORM, 2 * THETA / NORM], None, 2),
    # A: tau = min(.1, 1/5), w = (.1, .2).  B: m = -.1, tau = min(.1 * 2, 1.1/2) = .2.
    ("pa1", {"C": 0.1}, [A, B], [0.3, 0.0], None, 2),
    # A: tau = 1/5, w = (.2, .4).  B: m = -.2, tau = 1.2/2 = .6, whatever its weight.
    ("pa1", {"C": inf}, [A, B], [0.8, -0.2], None, 2),
    # A: tau = 1/(5 + 1/.2) = .1, w = (.1, .2).  B: m = -.1, tau = 1.1/(2 + 1/.4) = 11/45.
    ("pa2", {"C": 0.1}, [A, B], [0.1 + 11 / 45, 0.2 - 11 / 45], None, 2),
    # A: rho = 2 * 2, tau = 4 * .5 / 16, theta = (1/8, 1/4).  (1, 2) again: m is below 1/2 still.
    ("multiplicative_pa", {"margin": 0.5}, [A], [sinh(1 / 8) / COSHES, sinh(1 / 4) / COSHES], None, 1),
    # From (1/2, 1/2): m = -3/2, l = 2, rho = 2, tau = 2, weights times e^-2 and e^-4.
    ("multiplicative_pa", {"margin": 0.5, "signed": False}, [((1, 2), -1, 1)],
     [1 / (1 + exp(-2)), exp(-2) / (1 + exp(-2))], None, 1),
    # A: v = 5, tau = 1/6, w = (1/6, 1/3), D = (2, 5).  B: m = -1/6, v = 1/2 + 1/5, r/c = 1/2, tau = 35/36, D += 2 z^2.
    ("arow", {"r": 1.0}, [A, B], [1 / 6 + 35 / 72, 1 / 3 - 7 / 36], [1 / 4, 1 / 7], 2),
    # A: D = (2, 5), theta = (1, 2).  z = (1, -2): D = (3, 9), m' = 1/3 - 4/9, theta += 2 z.  Then m' = 3/4 is satisfied.
    ("sop", {"r": 1.0}, [A, ((-1, 2), -1, 2), ((1, 0), 1, 1)], [1, -2 / 9], [1 / 3, 1 / 9], 2),
    # A: D = (2, 5), theta = (1, 2).  z = (2, 1): m = 2/2 + 2/5 > 1, but D = (6, 6) and m' = 2/3.
    ("aggressive_sop", {"r": 1.0}, [A, ((2, 1), 1, 1)], [1 / 2, 1 / 2], [1 / 6, 1 / 6], 2),
    # A: chi = 5, beta = 4/5, D = (9/5, 21/5).  z = (1/2, -1/2): chi = 50/252 < 1 leaves D; m' = 5/126, theta += 2 z.
    ("narow", {"b": 1.0}, [A, ((-0.5, 0.5), -1, 2)], [10 / 9, 5 / 21], [5 / 9, 5 / 21], 2),
    # A: psi = 3/2, zeta = 2, alpha = sqrt(10)/10, g = sqrt(5/2), sqrt(g^2 + 4v) = 3g, sqrt(u) = g, beta = 1/5.
    ("cw_stdev", {"eta": PHI_1}, [A], [1 / sqrt(10), 2 / sqrt(10)], [5 / 6, 5 / 9], 1),
    ("cw_variance", {"eta": PHI_1}, [((1, 2), 1, 7)], [ALPHA, 2 * ALPHA], [1 / (1 + 2 * ALPHA), 1 / (1 + 8 * ALPHA)], 1),
    # CW's alpha is sqrt(10)/10 > 1/4: g = 5/4, sqrt(g^2 + 20) = sqrt(345)/4, sqrt(u) = 40/(5 + sqrt(345)), beta = 1/(4 sqrt(u)).
    ("scw1", {"eta": PHI_1, "C": 0.25}, [A], [1 / 4, 1 / 2], [1 / (1 + BETA), 1 / (1 + 4 * BETA)], 1),
    # v = 5, n = 5 + 1/(2 * 1/10) = 10, gamma = sqrt(4 * 50 * 15) = 10 sqrt(30), alpha = 10 sqrt(30) / (2 * 150) = sqrt(30)/30.
    ("scw2", {"eta": PHI_1, "C": 0.1}, [A], [1 / sqrt(30), 2 / sqrt(30)], None, 1),
    # A: G = (1, 4), w = (1/2)(1/2, 2/3).  B: g = (-2, 2), G = (5, 8).
    ("adagrad_md", {"eta0": 0.5, "delta": 1.0}, [A, B],
     [1 / 4 + 1 / (1 + sqrt(5)), 1 / 3 - 1 / (1 + sqrt(8))], [5, 8], 2),
    # A, B: z = (3, 0), G = (5, 8), soft(3, 2/4) = 5/2.  The third row has m > 1, yet l1 t goes on: soft(3, 3/4) = 9/4.
    ("adagrad_da", {"eta0": 0.5, "delta": 1.0, "l1": 0.25}, [A, B, ((10, 0), 1, 1)], [9 / 8 / (1 + sqrt(5)), 0], [5, 8], 2),
    # A: p = 1/2, -z = (1/2, 1), n = (1/4, 1), w = (1/4, 3/4) / (2 (1 + sqrt(n)) + 1).
    ("ftrl", {"alpha": 0.5, "beta": 1.0, "l1": 0.25, "l2": 1.0}, [A], [1 / 16, 3 / 20], None, 1),
    # A: -z = (1, 2), n = (1, 4), w = (1/10, 3/14).  B: m < 1, -z += (2, -2) + 2 (sqrt(5) - 1, sqrt(8) - 2) w; -z_2 < 1/2.
    ("ftrl_hinge", {"alpha": 0.5, "beta": 1.0, "l1": 0.5, "l2": 1.0}, [A, B],
     [(2.5 + (sqrt(5) - 1) / 5) / (3 + 2 * sqrt(5)), 0], None, 2),
    # A: G = zz' has the root zz' / sqrt(5), so that w = z/2 / (1 + sqrt(5)).  B: G = [[5, -2], [-2, 8]] has the eigenvalues
    # 4 along (2, 1) and 9 along (-1, 2); g = -2/5 (2, 1) + 6/5 (-1, 2) becomes -2/15 (2, 1) + 6/20 (-1, 2), halved.
    ("full_adagrad_md", {"eta0": 0.5, "delta": 1.0}, [A, B],
     [0.5 / (1 + sqrt(5)) + 0.5 * (4 / 15 + 6 / 20), 1 / (1 + sqrt(5)) + 0.5 * (2 / 15 - 12 / 20)], [[5, -2], [-2, 8]], 2),
    # The same G, z = (3, 0) = 6/5 (2, 1) - 3/5 (-1, 2): w = 1/2 (6/15 (2, 1) - 3/20 (-1, 2)).
    ("full_adagrad_da", {"eta0": 0.5, "delta": 1.0}, [A, B], [19 / 40, 1 / 20], [[5, -2], [-2, 8]], 2),
]


@pytest.mark.parametrize("name, params, rows, w, scale, n_updates", BY_HAND, ids=[row[0] for row in BY_HAND])
def test_updates_equal_those_computed_by_hand(name, params, rows, w, scale, n_updates):
    X, y, weights = zip(*rows, strict=True)
    learner = run_binary(name, X, y, weights, **params)
    assert_allclose(learner.w, w, rtol=1e-13, atol=1e-15)
    if scale is not None:
        assert_allclose(learner.G if "adagrad" in name else learner.Sigma, scale, rtol=1e-13)
    assert (learner.t, learner.n_updates) == (len(rows), n_updates)


REGRESSION_BY_HAND = [
    # s = 0, l = 3 - 1, tau = min(1, 2/5), w = (.4, .8).  s = -.4, residual -1.6, l = .6: tau = min(2, .6/2), w -= .3 (1, -1).
    ("pa1_regression", {"C": 1.0, "epsilon": 1.0}, [((1, 2), 3, 1), ((1, -1), -2, 2)], [0.1, 1.1], None, 9 + 1.6**2),
    # l = .5, rho = 2, tau = 1/2, weights (1/2, 1/2) times e^(1/2) and e^1.
    ("multiplicative_pa_regression", {"epsilon": 0.5, "signed": False}, [((1, 2), 2.5, 1)],
     [1 / (1 + exp(0.5)), exp(0.5) / (1 + exp(0.5))], None, 1.0),
    # tau = 2/(5 + 1/.2) = .2, w = (.2, .4).  s = -.2, residual -1.8, l = .8: tau = .8/(2 + 1/.4) = 8/45.
    ("pa2_regression", {"C": 0.1, "epsilon": 1.0}, [((1, 2), 3, 1), ((1, -1), -2, 2)],
     [0.2 - 8 / 45, 0.4 + 8 / 45], None, 9 + 1.8**2),
    # v = 5, w = 3/6 (1, 2), D = (2, 5).  s = -1/2, v = .7, r/c = 1/2: w -= 1.5/1.2 (1/2, -1/5), D += 2 (1, 1).  Then residual 0.
    ("arow_regression", {"r": 1.0}, [((1, 2), 3, 1), ((1, -1), -2, 2), ((0, 1), 1.25, 1)],
     [0.5 - 0.625, 1.25], [1 / 4, 1 / 8], 9 + 2.25),
]


@pytest.mark.parametrize("name, params, rows, w, Sigma, squared", REGRESSION_BY_HAND)
def test_regression_steps_equal_those_computed_by_hand(name, params, rows, w, Sigma, squared):
    X, y, weights = zip(*rows, strict=True)
    learner = run_regression(name, X, y, weights, **params)
    assert_allclose(learner.w, w, rtol=1e-13, atol=1e-15)
    assert Sigma is None or assert_allclose(learner.Sigma, Sigma, rtol=1e-13) is None
    assert learner.squared == pytest.approx(squared) and learner.t == len(rows)


def test_classes_that_join_learn_as_computed_by_hand():
    # With "d" alone nothing is learnt.  "b": z = -(1, 2), w = -(1/6, 1/3), Sigma = (1/2, 1/5).
    # "c": W_b = (1/12, 1/6) = -W_d, Sigma = (1/4, 1/10) in both.  m = -1/12 against b, v = 1 + 1/4, tau = (13/12)/(9/4) = 13/27.
    model = run_stream("arow", [[1, 1], [1, 2], [1, 0]], ["d", "b", "c"], r=1.0)
    assert model.classes == ["b", "c", "d"]
    assert_allclose(model.W, [[-1 / 27, 1 / 6], [13 / 27, 0], [-1 / 12, -1 / 6]])
    assert_allclose(model.Sigma, [[1 / 5, 1 / 10], [1 / 2, 1], [1 / 4, 1 / 10]])
    assert (model.t, model.n_mistakes, model.n_updates) == (3, 3, 2)


def test_costs_of_classes_equal_those_computed_by_hand():
    # Of 9 and 1: rho = 3, a = 3 and rho = a = 1, and with a margin of 2 an offset of 4; hard: a / 3. Of 1/4 and 1/16: rho = 2,
    # a = 1/8, and a = 1/16. "balanced", after rows 0, 0, 1: 3/4 and 3/2, so that rho = √2, a = 3/√8. A ratio counts up to 1000.
    # Before a class has had a row, it does not count.
    assert_allclose(costs_of_classes("margin", 2.0, [0, 1, 0], {0: 9, 1: 1}), [(9, 0), (1, 0), (3, 4)])
    assert_allclose(costs_of_classes("hard_margin", 2.0, [0, 1, 0, 1], {0: 9, 1: 1}), [(1, 0), (1 / 3, 0), (1, 4), (1 / 3, 0)])
    for costs in ("margin", "hard_margin"):
        assert_allclose(costs_of_classes(costs, 1.0, [1, 0], {0: 1 / 4, 1: 1 / 16}), [(1 / 16, 0), (1 / 8, 1)])
    assert_allclose(costs_of_classes("margin", 1.0, [0, 0, 1], "balanced")[2], (3 / 8**0.5, 2**0.5 - 1))
    assert_allclose(costs_of_classes("margin", 1.0, [1, 0], {0: 4000, 1: 1})[1], (4000 / 1000**0.5, 1000**0.5 - 1))


def test_a_step_towards_a_larger_margin_equals_one_computed_by_hand():
    # PA, cost 9: from w = 0 the wanted margin is 3, tau = 3 / ||z||² = 3/25, w = (9, 12)/25 with the margin 3.
    model = MODELS["pa1"](2, 2, C=float("inf"))
    model.consume(np.array([3.0, 4.0]), 1, 3.0, offset=2.0)
    assert_allclose(model.W, [[9 / 25, 12 / 25]])


# --- what a learner reads ----------------------------------------------------------------------------------------------------


def test_the_scale_is_the_power_of_two_nearest_to_the_geometric_mean_of_the_first_16_rows_with_a_length():
    """Rows times a power of two are read as the same numbers; rows of zeros, of weight 0, and the 17th row move nothing."""
    rng = np.random.default_rng(1)
    for power in range(-60, 60, 7):
        scale, large, before, lengths, sizes = ref.Scale(), ref.Scale(), (1.0, 1.0), [], []
        for x in np.exp(rng.normal(2.0, 2.0, (40, 1))) * rng.standard_normal((40, 6)) * (rng.random((40, 6)) < 0.5):
            assert scale(0.0 * x) == before and scale(x, weight=0.0) == before
            if x.any() and len(lengths) < 16:
                lengths.append(np.linalg.norm(x))
                sizes.append(lengths[-1] / np.count_nonzero(x) ** 0.5)
            s, c = before = scale(x)
            assert large(2.0**power * x) == (s * 2.0**power if scale.n else 1.0, c)
            if scale.n:
                found = np.log2([s, c * s])
                assert (found == found.round()).all()
                assert (np.abs(found - np.mean(np.log2([lengths, sizes]), axis=1)) <= 0.5 + 1e-12).all()
        assert_allclose(scale.read(1e9 * x), [*1e9 * x / s, c], rtol=0)
        assert scale.n == large.n == 16 and large.E == scale.E + 16 * 2 * power and scale(1e9 * x) == before


def test_the_scale_computed_by_hand():
    # ||x|| = 5: 2^2, and 5/√2 = 3.5: 2^2. Then √(5 * 1) = 2.2: 2, and √(3.5 * 1) = 1.9: 2. Mantissas and halves: √(8 * 16): 2^4.
    scale, halves = ref.Scale(), ref.Scale()
    assert [scale(x) for x in ([3.0, 4.0], [0.0, 0.0], [1.0, 0.0])] == [(4.0, 1.0), (4.0, 1.0), (2.0, 1.0)]
    assert [halves(x) for x in ([8.0], [16.0], [0.5, 0.5])] == [(8.0, 1.0), (16.0, 1.0), (4.0, 1.0)]
    assert ref.Scale(4.0, 3.0)([1.0]) == (4.0, 3.0) and ref.Scale(4.0)([1.0, 1.0]) == (4.0, 0.25)
    assert ref.Scale()([0.0]) == (1.0, 1.0) and ref.Scale()([1e-60]) == (2.0**-158, 1.0)
    assert ref.Scale(limit=44)([1e30]) == (2.0**44, 1.0)
    for power in (0, 40):  # the mean is 2^(1/2) less 1e-15 of it, in any units
        near = ref.Scale()
        near([2.0**power] * 3)
        assert near([2.0 ** (power + 1) * (1 / 3) ** 0.5 * (1 - 1e-15), 0.0, 0.0])[0] == 2.0**power
    twin = run_binary("pa1", [[3, 4], [1, 0]], [1, -1], C=0.01, fit_intercept=True, scale="auto", intercept_scaling="auto")
    assert_allclose(twin.w, [0.0075 - 0.005, 0.01, 0.0], atol=1e-15)


# --- from labels to signed examples ----------------------------------------------------------------------------------


@pytest.mark.parametrize("f", [
    ref.SquaredNorm(0.7), ref.PNorm(3.0), ref.Entropic(0.7, 3.0), ref.Entropic(0.7, 3.0, signed=False)])
@pytest.mark.parametrize("loss", ["hinge", "log_loss", "absolute", "squared"])
def test_the_leader_minimises_the_loss_of_all_rows_so_far(loss, f):
    """Check after odd rows that no weights found by another minimiser improve f(w) + Σ c l(w) by more than the gap."""
    rng = np.random.default_rng(3)
    X, c = rng.standard_normal((5, 2)), rng.choice([0.5, 1.0, 2.0], 5)
    y = np.where(X[:, 0] + 0.7 * rng.standard_normal(5) > 0, 1.0, -1.0)
    learner, is_classifier = ref.LeaderLearner(2, f, loss, gap_tol=1e-6), loss in ref.LOSSES
    Z, y = (y[:, None] * X, 0.0 * y) if is_classifier else (X, X @ [0.8, -0.3] + 0.2 * rng.standard_normal(5))
    value = {**ref.LOSSES, **ref.REGRESSION_LOSSES}[loss].value

    def primal(w, n):
        errors = Z[:n] @ w if is_classifier else y[:n] - Z[:n] @ w
        return f.value(w) + sum(weight * value(error) for weight, error in zip(c, errors, strict=False))

    for n in range(1, 6):
        learner.update(Z[n - 1], c[n - 1], None if is_classifier else y[n - 1])
        assert -1e-12 <= learner.gap <= 1e-6
        if n % 2 == 0:
            continue
        start = 0.7 * rng.standard_normal(2)
        found = minimize(lambda theta, n=n: primal(f.weights(theta), n), start, method="Nelder-Mead",
                         options={"maxiter": 2000, "xatol": 1e-6, "fatol": 1e-9})
        assert primal(learner.w, n) <= found.fun + 2e-6 * (1 + abs(found.fun))


# --- rules of one's own --------------------------------------------------------------------------------------------------------

NO = {"scale": 1.0, "fit_intercept": False, "dtype": np.float64}
ONE = {**NO, "initial_variance": 1.0}


def test_a_custom_rule_learns_by_its_equation():
    """Learn by NHERD's diagonal form with the exact step: w += l Σz/(v + 1/C), Σ^-1 += (2C + C² v) z z'."""
    def nherd(s, C=1.0):
        return ref.Step(s.loss / (s.v + 1.0 / C), 2.0 * C + C**2 * s.v) if s.loss > 0.0 else ref.Step()

    learner = ref.Gaussian(2, nherd, C=0.5)
    assert learner.step([1.0, 2.0]) and not learner.step([0.0, 0.0])
    assert_allclose(learner.w, [1 / 7, 2 / 7])
    assert_allclose(learner.Sigma, [1 / (1 + 2.25), 1 / (1 + 4 * 2.25)])


# --- the potential framework ---------------------------------------------------------------------------------------------------


def learnt(learner, X, y):
    """The learner after these signed rows, and how many changed it."""
    return sum(learner.step(label * x) for x, label in zip(X, y, strict=True))


SAME = [
    (oc.Perceptron(eta0=1.0, **NO), lambda: (ref.SquaredNorm(), "hinge", ref.conservative)),
    (oc.Perceptron(aggressive=True, eta0=0.3, **NO), lambda: (ref.SquaredNorm(), "hinge", 0.3)),
    (oc.PNormPerceptron(4.0, **NO), lambda: (ref.PNorm(4.0), "hinge", ref.conservative)),
    (oc.PNormPerceptron(3.0, aggressive=True, radius=3.0, **NO), lambda: (
        ref.PNorm(3.0), "hinge", ref.aggressive_p_norm_rate(3.0, 3.0))),
    (oc.SecondOrderPerceptron(r=0.7, **ONE), lambda: (ref.Quadratic(r=0.7), "hinge", ref.conservative)),
    (oc.SecondOrderPerceptron(r=0.7, aggressive=True, covariance="full", **ONE), lambda: (
        ref.Quadratic(r=0.7, covariance="full"), "hinge", 1.0)),
    (oc.NAROWClassifier(b=2.0, **ONE), lambda: (ref.Quadratic(b=2.0), "hinge", 1.0)),
    (oc.NAROWClassifier(b=2.0, covariance="full", **ONE), lambda: (ref.Quadratic(b=2.0, covariance="full"), "hinge", 1.0)),
    (oc.DualAscentClassifier(3.0, loss="log_loss", update="DA1", **NO), lambda: (ref.SquaredNorm(3.0), "log_loss", 1.0)),
    (oc.DualAscentClassifier(3.0, regularizer="entropic", update="DA1", norm_bound=2.0, **NO), lambda: (
        ref.Entropic(3.0, 2.0), "hinge", 1.0)),
]


@pytest.mark.parametrize("compiled, slow", SAME, ids=[repr(one[0]) for one in SAME])
def test_the_potential_framework_equals_the_named_learners_and_its_lemma_that_of_bounds(compiled, slow):
    X, y = continuous_problem(120, 5, seed=5)
    f, loss, eta = slow()
    learner = ref.PotentialLearner(5, f, ref.LOSSES[loss], eta)
    n_updates = learnt(learner, X, y)
    course = bounds.follow(compiled, X, y)
    w = learner.f.weights(learner.theta)
    assert_allclose(w, course.learner.coef_[0], rtol=1e-8, atol=1e-11)
    assert n_updates == course.learner.n_updates_
    if "DualAscent" not in repr(compiled):
        for u in competitors():
            for lam in (0.5, 1.0):
                assert_allclose(bounds.lemma_1(course, u, lam), learner.lemma_1(u, lam), rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("loss, sigma", [("absolute", 3.0), ("squared", 40.0)])
def test_the_potential_framework_for_targets_equals_dual_ascent(loss, sigma):
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((80, 4)), rng.standard_normal(80)
    compiled = oc.DualAscentRegressor(sigma, loss=loss, update="DA1", **NO).partial_fit(X, y)
    losses = ref.REGRESSION_LOSSES[loss], ref.insensitive(10.0)
    slow, within = (ref.PotentialLearner(4, ref.SquaredNorm(sigma), one) for one in losses)
    for x, target in zip(X, y, strict=True):
        slow.step_towards(x, target)
        assert not within.step_towards(x, target)
    assert_allclose(slow.w, np.ravel(compiled.coef_), rtol=1e-9)


def competitors():
    for scale, u in zip((0.1, 1.0, 4.0), np.random.default_rng(0).standard_normal((3, 5)), strict=True):
        yield u / np.abs(u).sum() * scale


def test_best_r_is_that_of_section_4_3():
    """Compare with s M R²/(M R² - 2sd) if s < M R²/(2d), else infinity, the plain Perceptron's."""
    assert ref.best_r(2.0, 100.0, 1.0, 10) == pytest.approx(200.0 / 60.0)
    assert ref.best_r(5.0, 100.0, 1.0, 10) == inf and ref.best_r(6.0, 100.0, 1.0, 10) == inf


def test_a_quadratic_f_needs_one_of_r_and_b():
    with pytest.raises(ValueError, match=r"^Quadratic: one of r and b must be given, got r=None and b=None\."):
        ref.Quadratic()
