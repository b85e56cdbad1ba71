"""Certificates along a stream: each theorem holds after every row, against adversaries too, and a wrong rule breaks it."""

import re

import numpy as np
import pytest
from matrices import continuous_problem, csr32
from numpy.testing import assert_allclose

from onlinecls import (
    AdaGradClassifier,
    AROWClassifier,
    ConfidenceWeightedClassifier,
    DualAscentClassifier,
    FoReLClassifier,
    HedgeClassifier,
    MultiplicativePassiveAggressiveClassifier,
    NAROWClassifier,
    OGDClassifier,
    PassiveAggressiveClassifier,
    Perceptron,
    PNormPerceptron,
    SecondOrderPerceptron,
    bounds,
)

NO = {"fit_intercept": False, "dtype": np.float64}
ONE = {"initial_variance": 1.0}
FULL = {"covariance": "full"}
#: A learner, the bound of a whole course, and what makes a wrong one of it: its weights are not the algorithm's.
CASES = {
    "Perceptron": (Perceptron(eta0=1.0, **NO), bounds.perceptron),
    "aggressive Perceptron": (Perceptron(aggressive=True, eta0=0.2, **NO), bounds.fixed_rate),
    "p-norm": (PNormPerceptron(4.0, **NO), bounds.p_norm),
    "aggressive p-norm": (PNormPerceptron(4.0, aggressive=True, radius=8.0, **NO), bounds.p_norm),
    "PA-I": (PassiveAggressiveClassifier(0.3, **NO), bounds.passive_aggressive),
    "PA-I, margin 2": (PassiveAggressiveClassifier(0.3, margin=2.0, **NO), bounds.passive_aggressive),
    "PA-II": (PassiveAggressiveClassifier(0.3, loss="squared_hinge", **NO), bounds.passive_aggressive),
    "SOP": (SecondOrderPerceptron(r=0.7, **ONE, **NO), bounds.potential_based),
    "aggressive SOP": (SecondOrderPerceptron(r=0.7, aggressive=True, **ONE, **NO), bounds.potential_based),
    "full SOP": (SecondOrderPerceptron(r=0.7, aggressive=True, **FULL, **ONE, **NO), bounds.potential_based),
    "NAROW": (NAROWClassifier(b=2.0, **ONE, **NO), bounds.potential_based),
    "full NAROW": (NAROWClassifier(b=2.0, **FULL, **ONE, **NO), bounds.potential_based),
    "full AROW": (AROWClassifier(r=0.7, **FULL, **NO), bounds.arow),
    "DA1": (DualAscentClassifier(3.0, update="DA1", **NO), bounds.dual_ascent),
    "DA2": (DualAscentClassifier(3.0, update="DA2", margin=0.8, **NO), bounds.dual_ascent),
    "auto": (DualAscentClassifier("auto", norm_bound=3.0, **NO), bounds.dual_ascent),
    "log loss": (DualAscentClassifier(3.0, loss="log_loss", **NO), bounds.dual_ascent),
    "EG": (DualAscentClassifier(3.0, regularizer="entropic", norm_bound=3.0, **NO), bounds.dual_ascent),
    "simplex": (DualAscentClassifier(3.0, regularizer="entropic", norm_bound=3.0, signed=False, **NO), bounds.dual_ascent),
    "auto EG": (DualAscentClassifier("auto", regularizer="entropic", norm_bound=3.0, **NO), bounds.dual_ascent),
    "auto simplex": (DualAscentClassifier("auto", regularizer="entropic", norm_bound=3.0, signed=False, loss="log_loss", **NO),
                     bounds.dual_ascent),
    "FoReL": (FoReLClassifier(2.0, **NO), bounds.dual_ascent),
    "FoReL, log loss": (FoReLClassifier(2.0, loss="log_loss", **NO), bounds.dual_ascent),
    "OGD": (OGDClassifier(0.1, **NO), bounds.gradient_descent),
}
every_case = pytest.mark.parametrize("learner, bound", CASES.values(), ids=CASES)


def competitors(d, seed=0):
    rng = np.random.default_rng(seed)
    return np.concatenate([[np.zeros(d)], rng.standard_normal((4, d)), 3.0 * rng.dirichlet(np.ones(d), 2)])


@every_case
def test_both_sides_after_every_row_are_those_of_the_course_so_far(learner, bound):
    X, y = continuous_problem(70, 5, seed=8)
    U = competitors(5)
    dense = bounds.follow(learner, X, y, u=U)
    sparse = bounds.follow(learner, [(csr32(X[:9]), y[:9]), (csr32(X[9:]), y[9:])], u=U)
    assert dense.paid.shape == (70,) and dense.allowed.shape == (len(U), 70) and dense.learner.t_ == 70
    assert_allclose(sparse.paid, dense.paid, rtol=1e-6, atol=1e-6)
    assert_allclose(sparse.allowed, dense.allowed, rtol=1e-6, atol=1e-6)
    for n in (1, 13, 70):
        course = bounds.follow(learner, X[:n], y[:n])
        for u, allowed in zip(U, dense.allowed, strict=True):
            assert_allclose((dense.paid[n - 1], allowed[n - 1]), bound(course, u), rtol=1e-7, atol=1e-8)
    alone = bounds.follow(learner, X, y, u=U[1])
    assert_allclose(alone.allowed, dense.allowed[1]) and alone.u.shape == (5,)
    assert not learner.__sklearn_is_fitted__()


def against(learner, X, label_of):
    """A learner's labels, an adversary's who hears the score first."""
    walker, y = type(learner)(**learner.get_params()).partial_fit(X[:0], [], classes=[-1, 1]), np.zeros(len(X))
    for t in range(len(X)):
        y[t] = label_of(walker.decision_function(X[t : t + 1])[0], t)
        walker.partial_fit(X[t : t + 1], y[t : t + 1])
    return y


ADVERSARIES = {
    "always against": lambda score, t: -1.0 if score > 0.0 else 1.0,
    "against a third of the time": lambda score, t: (-1.0 if score > 0.0 else 1.0) if t % 3 else 1.0,
    "then one side": lambda score, t: (-1.0 if score > 0.0 else 1.0) if t < 40 else 1.0,
}


@pytest.mark.parametrize("adversary", ADVERSARIES.values(), ids=ADVERSARIES)
@every_case
def test_the_theorem_holds_after_every_row_against_an_adversary(learner, bound, adversary):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((150, 5)) * rng.choice([0.1, 1.0], size=(150, 1))
    y = against(learner, X, adversary)
    course = bounds.follow(learner, X, y)
    U = np.concatenate([competitors(5), course.u[None], course.weights[-1:]])
    found = bounds.follow(learner, X, y, u=U)
    assert found.paid[-1] > 0.0
    assert (found.paid <= found.allowed + 1e-9 * (1.0 + np.abs(found.allowed))).all()
    assert_allclose(course.allowed, found.allowed[len(U) - 2], rtol=1e-9)
    assert_allclose(course.paid, found.paid)




def turned_round(learner, X, y):
    """The records of a rule that steps against y x, where the learner would step along it."""
    d, n, covariance = X.shape[1], len(y), getattr(learner, "covariance", None)
    conservative = getattr(learner, "aggressive", True) is False
    theta, Sigma = np.zeros(d), np.eye(d) if covariance == "full" else np.ones(d)
    records = {name: np.zeros(n) for name in ("scores", "chi", "peeked", "spread", "forgotten", "sigma")}
    updated = np.zeros(n, bool)
    times = (lambda S, x: S @ x) if covariance == "full" else (lambda S, x: S * x)
    for t, x in enumerate(X):
        chi = x @ times(Sigma, x)
        score = x @ times(Sigma, theta)
        after, seen = Sigma, score
        if covariance:
            gain = max(0.0, learner.b - 1.0 / chi) if isinstance(learner, NAROWClassifier) else 1.0 / learner.r
            after = np.linalg.inv(np.linalg.inv(Sigma) + gain * np.outer(x, x)) if covariance == "full" else (
                Sigma / (1.0 + gain * Sigma * x**2))
            seen = x @ times(after, theta)
        updated[t] = y[t] * seen <= 0.0 if conservative else y[t] * seen < 1.0
        records["scores"][t], records["chi"][t], records["peeked"][t] = score, chi, y[t] * seen
        records["spread"][t], records["forgotten"][t] = x @ times(after, x), theta @ times(after - Sigma, theta)
        records["sigma"][t] = np.sqrt(2.0 * (t + 1)) * np.linalg.norm(X[: t + 1], axis=1).max() / 3.0
        if getattr(learner, "regularizer", "") == "entropic":  # (held until half more is wanted)
            wanted, held = 3.0 * np.abs(X[: t + 1]).max() * np.sqrt((t + 1) / np.log(2 * d)), records["sigma"][max(t - 1, 0)]
            records["sigma"][t] = wanted if t == 0 or wanted > 1.5 * held else held
        if updated[t]:
            theta, Sigma = theta - y[t] * x, after
    return bounds._certificates.Records(X, y, updated=updated, **records)


@every_case
def test_a_rule_that_steps_the_wrong_way_breaks_the_theorem(learner, bound):
    """On rows that u separates it pays more than the theorem allows, where the learner itself does not."""
    rng = np.random.default_rng(3)
    u = np.array([1.0, -1.0, 0.5, 0.0, 0.0])
    X = rng.standard_normal((2000, 5))
    X = X[np.abs(X @ u) > 0.5]
    if getattr(learner, "signed", True) is False:
        X, u = np.concatenate([X, -X], axis=1), np.concatenate([np.maximum(u, 0.0), np.maximum(-u, 0.0)])
    X = X[:150] if isinstance(learner, FoReLClassifier) else X
    y, U = np.sign(X @ u), np.array([u / np.abs(u).sum() * size for size in (3.0, 5.0, 10.0)])
    right = bounds.follow(learner, X, y, u=U)
    assert (right.paid <= right.allowed + 1e-9).all()
    paid, allowed = bounds._certificates.theorem_of(learner, "")(learner, U).extend(turned_round(learner, X, y))
    assert (paid[-1] > allowed[:, -1]).any(), (paid[-1], allowed[:, -1])


def test_pa_without_a_cap_and_the_multiplicative_form():
    """Theorems 1 and 4 for a competitor without loss: finite, after every row."""
    rng = np.random.default_rng(0)
    u = np.array([2.0, -2.0, 1.0, 0.0])
    X = rng.uniform(-1.0, 1.0, (400, 4))
    X = X[np.abs(X @ u) > 1.0]
    y = np.sign(X @ u)
    for learner, bound in (
        (PassiveAggressiveClassifier(float("inf"), **NO), bounds.passive_aggressive),
        (MultiplicativePassiveAggressiveClassifier(margin=1.0, norm_bound=5.0, **NO), bounds.multiplicative),
    ):
        found = bounds.follow(learner, X, y, u=u)
        assert np.isfinite(found.allowed).all() and (found.paid <= found.allowed + 1e-9).all()
        paid, allowed = bound(bounds.follow(learner, X, y), u)
        assert allowed - paid == pytest.approx(found.allowed[-1] - found.paid[-1]), "the second term on the other side"
        assert found.theorem.startswith("PA paper, Theorem")


def test_the_corollary_of_theorem_1():
    rng = np.random.default_rng(0)
    X, u = rng.standard_normal((300, 4)), np.array([1.0, -1.0, 0.5, 0.0])
    X = X[np.abs(X @ u) > 0.4]
    course = bounds.follow(PassiveAggressiveClassifier(float("inf"), margin=2.0, **NO), X, np.sign(X @ u))
    paid, allowed = bounds.margin_corollary(course, 7.0 * u)
    assert 0.0 < paid <= allowed < np.inf and bounds.margin_corollary(course, -u).allowed == np.inf
    assert bounds.margin_corollary(course, u).allowed == pytest.approx(allowed)


def test_dual_ascent_for_numbers_and_several_classes():
    from onlinecls import DualAscentRegressor

    rng = np.random.default_rng(4)
    X, w = rng.standard_normal((200, 4)), np.array([0.4, -0.3, 0.2, 0.0])
    y = X @ w + 0.2 * rng.standard_normal(200)
    for form in ({"loss": "absolute"}, {"loss": "squared", "update": "DA2"}, {"regularizer": "entropic"}, {"sigma": "auto"},
                 {"regularizer": "entropic", "signed": False}, {"regularizer": "entropic", "sigma": "auto"},
                 {"regularizer": "entropic", "sigma": "auto", "loss": "squared"}):
        course = bounds.follow(DualAscentRegressor(**{"sigma": 15.0, "norm_bound": 2.0, **form}, **NO), X, y)
        for u in (w, course.weights[-1], 0.0 * w, np.abs(w) / np.abs(w).sum() * 2.0):
            paid, allowed = bounds.dual_ascent(course, u)
            assert 0.0 < paid <= allowed + 1e-9
    X, y = continuous_problem(120, 4, seed=5, n_classes=3)
    for form in ({"update": "DA1"}, {}, {"loss": "log_loss"}, {"regularizer": "entropic", "norm_bound": 3.0}):
        learner = DualAscentClassifier(4.0, **{"norm_bound": 1.0, **form}, **NO)
        for u in (np.zeros((3, 4)), rng.standard_normal((3, 4)) / 8):
            paid, allowed = bounds.dual_ascent_multiclass(learner, X, y, u)
            assert 0.0 < paid <= allowed


def test_the_leaders_mean():
    rng = np.random.default_rng(0)
    for y in (rng.standard_normal(500), np.tile([1.0, -1.0], 200), np.sign(rng.standard_normal(300)), np.zeros(0), [3.0]):
        paid, allowed = bounds.follow_the_leader(y)
        assert paid <= allowed + 1e-12
    y = np.append(np.zeros(99), 1.0)  # by hand: the last error alone; best: variance
    assert bounds.follow_the_leader(y) == pytest.approx((1.0, 0.99 + 2.0 * (1.0 + np.log(100))))


def test_hedge_on_signed_advice():
    rng = np.random.default_rng(0)
    y = np.where(rng.random(300) < 0.5, -1, 1)
    X = np.clip(y[:, None] * np.linspace(0.0, 0.6, 8) + 0.8 * rng.standard_normal((300, 8)), -1.0, 1.0)
    found = bounds.hedge(X, y, signed=True)
    assert found == pytest.approx(bounds.hedge((1.0 + X) / 2.0, y)) and found.paid <= found.allowed
    signed = HedgeClassifier(signed=True).partial_fit(csr32(X), y)
    plain = HedgeClassifier().partial_fit((1.0 + X) / 2.0, y)
    assert_allclose(signed.coef_, plain.coef_, rtol=1e-9)
    assert_allclose(signed.predict_proba(X), plain.predict_proba((1.0 + X) / 2.0), rtol=1e-9)
    assert_allclose(signed.decision_function(X), X @ signed.coef_[0] + signed.intercept_[0], atol=1e-12)
    assert (signed.n_mistakes_, signed.expected_loss_) == (plain.n_mistakes_, pytest.approx(plain.expected_loss_))
    with pytest.raises(ValueError, match=re.escape("HedgeClassifier: X must be advice in [-1, 1], got -1.5. Divide it")):
        HedgeClassifier(signed=True).partial_fit([[-1.5]], [1], classes=[-1, 1])


@pytest.mark.parametrize("learner, reason", [
    (AROWClassifier(r=1.0, **NO), "Theorem 2 is for the full covariance; no theorem speaks of the diagonal form's mistakes."),
    (AROWClassifier(r=1.0, r1=2.0, **FULL, **NO), "Theorem 2 is for one r."),
    (AdaGradClassifier(**NO), "no theorem here speaks of its mistakes or losses."),
    (ConfidenceWeightedClassifier(**NO), "no theorem here speaks of its mistakes or losses."),
    (OGDClassifier(learning_rate="sqrt", **NO), "the bound is for learning_rate='strongly_convex'."),
    (PassiveAggressiveClassifier("auto", **NO), "C must be a number, for the theorem's constants are its; C='auto' depends on"),
])
def test_others_are_refused_with_the_reason(learner, reason):
    message = f"onlinecls.bounds: learner must be one with a theorem, got {learner!r}: {reason}"
    with pytest.raises(ValueError, match="^" + re.escape(message)):
        bounds.follow(learner, np.eye(2), [1, -1], u=[0.0, 1.0])


def test_errors_of_the_competitor():
    for u, message in (
        ([1.0, 2.0, 3.0], "onlinecls.bounds: u must be 2 finite weights, got shape (3,). Give one for each column of X."),
        ([np.nan, 1.0], "onlinecls.bounds: u must be finite weights, one for each column of X, or rows of them, got shape (2,)."),
    ):
        with pytest.raises(ValueError, match=re.escape(message)):
            bounds.follow(Perceptron(eta0=1.0, **NO), np.eye(2), [1, -1], u=u)
    empty = bounds.follow(Perceptron(eta0=1.0, **NO), [], u=[0.0, 1.0])
    assert empty.paid.shape == (0,) == empty.allowed.shape


def test_both_curves_are_drawn():
    plt = pytest.importorskip("matplotlib.pyplot")
    from onlinecls.plotting import BoundDisplay

    X, y = continuous_problem(60, 4, seed=1)
    learner = NAROWClassifier(b=1.0, **ONE, **NO)
    display = BoundDisplay.from_certificates(
        {"NAROW": bounds.follow(learner, X, y, u=competitors(4)), "course": bounds.follow(learner, X, y)}, log_y=True)
    paid, allowed = display.lines_["NAROW"]
    assert_allclose(allowed.get_ydata(), display.certificates["NAROW"].allowed.min(axis=0))
    assert_allclose(paid.get_ydata(), display.certificates["NAROW"].paid)
    assert paid.get_color() == allowed.get_color() and display.ax_.get_yscale() == "log"
    plt.close(display.figure_)
    for wrong in ({}, {"a": 1}):
        with pytest.raises(ValueError, match=r"^BoundDisplay: certificates must be"):
            BoundDisplay.from_certificates(wrong)
