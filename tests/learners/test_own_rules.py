"""onlinecls.reference: custom rules and the potential framework, compared with the compiled learners."""

import doctest
import re
from math import inf

import numpy as np
import pytest
from matrices import continuous_problem
from numpy.testing import assert_allclose

from onlinecls import (
    AROWClassifier,
    AROWRegressor,
    ConfidenceWeightedClassifier,
    DualAscentClassifier,
    DualAscentRegressor,
    NAROWClassifier,
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
    Perceptron,
    PNormPerceptron,
    SCWClassifier,
    SecondOrderPerceptron,
    bounds,
    reference,
)
from onlinecls.reference import (
    LOSSES,
    Entropic,
    PNorm,
    PotentialClassifier,
    PotentialRegressor,
    Quadratic,
    RuleClassifier,
    RuleRegressor,
    SimplexNorm,
    SquaredNorm,
    Stats,
    Step,
    aggressive_p_norm_rate,
    best_r,
    conservative,
)

NO = {"fit_intercept": False}
ONE = {**NO, "initial_variance": 1.0}
SAME = {
    "perceptron": (Perceptron(eta0=0.5, intercept_scaling=1.0), {"eta0": 0.5}),
    "pa1": (PassiveAggressiveClassifier(0.2, intercept_scaling=1.0), {"C": 0.2}),
    "pa2": (PassiveAggressiveClassifier(0.2, loss="squared_hinge", intercept_scaling=1.0), {"C": 0.2}),
    "arow": (AROWClassifier(r=0.7, intercept_scaling=1.0), {"r": 0.7}),
    "sop": (SecondOrderPerceptron(r=0.7, initial_variance=1.0, intercept_scaling=1.0), {"r": 0.7}),
    "narow": (NAROWClassifier(b=2.0, initial_variance=1.0, intercept_scaling=1.0), {"b": 2.0}),
    "cw_stdev": (ConfidenceWeightedClassifier(eta=0.7, initial_variance=1.0, intercept_scaling=1.0), {"eta": 0.7}),
    "scw1": (SCWClassifier(C=0.3, eta=0.8, initial_variance=1.0, intercept_scaling=1.0), {"C": 0.3, "eta": 0.8}),
}


@pytest.mark.parametrize("n_classes, multi_class", [(2, "ovr"), (3, "ovr"), (3, "crammer_singer")])
@pytest.mark.parametrize("name, covariance", [
    (name, covariance) for name, (learner, _) in SAME.items()
    for covariance in (("diagonal", "full") if hasattr(learner, "covariance") else (None,))
])
def test_a_rule_by_name_equals_the_compiled_learner(name, n_classes, multi_class, covariance):
    """Compare weights, counters and scores, for dense and sparse rows, weights, string labels and calls in parts."""
    from scipy.sparse import csr_matrix

    X, y = continuous_problem(60, 5, seed=11, n_classes=n_classes)
    y, weights = np.array(["ham", "spam", "zebra"])[y % 3], np.random.default_rng(0).choice([0.0, 0.5, 1.0, 2.0], len(y))
    compiled, params = SAME[name]
    own = {"covariance": covariance} if covariance else {}
    compiled = type(compiled)(**{**compiled.get_params(), **own, "multi_class": multi_class, "dtype": np.float64})
    slow = RuleClassifier(name, params, covariance=covariance or "diagonal", multi_class=multi_class)
    classes = np.unique(y)
    slow.partial_fit(csr_matrix(X[:20]), y[:20], classes, weights[:20]).partial_fit(X[20:], y[20:], sample_weight=weights[20:])
    compiled.partial_fit(X, y, classes, weights)
    for attribute in ("coef_", "intercept_", *(["covariance_"] if covariance else [])):
        found, expected = getattr(slow, attribute), getattr(compiled, attribute)
        assert_allclose(found.reshape(expected.shape), expected, rtol=1e-8, atol=1e-10)
    assert (slow.t_, slow.n_mistakes_, slow.classes_.tolist()) == (compiled.t_, compiled.n_mistakes_, classes.tolist())
    assert (slow.predict(X) == compiled.predict(X)).all() and slow.score(X, y) == compiled.score(X, y)


@pytest.mark.parametrize("name, compiled, params, epsilon", [
    ("pa1_regression", PassiveAggressiveRegressor(0.3, epsilon=0.2, intercept_scaling=1.0), {"C": 0.3}, 0.2),
    ("arow_regression", AROWRegressor(r=0.5, intercept_scaling=1.0), {"r": 0.5}, 0.0),
])
def test_a_rule_for_targets_equals_the_compiled_regressor(name, compiled, params, epsilon):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((50, 4)), rng.standard_normal(50)
    slow = RuleRegressor(name, params, epsilon=epsilon).partial_fit(X, y)
    assert_allclose(slow.predict(X), compiled.partial_fit(X, y).predict(X), rtol=1e-9)
    assert slow.t_ == 50 and slow.n_updates_ == compiled.n_updates_


def test_a_custom_rule_learns_by_its_equation():
    """Learn by NHERD's diagonal form with the exact step: w += l Σz/(v + 1/C), Σ^-1 += (2C + C² v) z z'."""

    def nherd(s: Stats, C=1.0) -> Step:
        return Step(s.loss / (s.v + 1.0 / C), 2.0 * C + C**2 * s.v) if s.loss > 0.0 else Step()

    learner = RuleClassifier(nherd, {"C": 0.5}, geometry="gaussian", **NO)
    learner.partial_fit([[1.0, 2.0]], [1], classes=[0, 1])
    assert_allclose(learner.coef_, [[1 / 7, 2 / 7]])
    assert_allclose(learner.covariance_, [[1 / (1 + 2.25), 1 / (1 + 4 * 2.25)]])
    X, y = continuous_problem(300, 5, seed=3)
    assert RuleClassifier(nherd, {"C": 0.5}, geometry="gaussian", max_iter=2, random_state=0).fit(X, y).score(X, y) > 0.8
    assert learner.get_params()["params"] == {"C": 0.5} and "nherd" in repr(learner)


# --- the potential framework ---------------------------------------------------------------------------------------------------


def stream(seed=5, n=120):
    X, y = continuous_problem(n, 5, seed=seed)
    return X, y


def test_a_diagonal_covariance_takes_no_memory_of_a_full_one():
    learner = RuleClassifier("arow", {"r": 1.0}, **NO).partial_fit(np.ones((1, 2**20)), [1], classes=[0, 1])
    assert learner.covariance_.shape == (1, 2**20)


@pytest.mark.parametrize("compiled, slow", [
    (Perceptron(eta0=1.0, **NO), PotentialClassifier(eta=conservative, **NO)),
    (Perceptron(aggressive=True, eta0=0.3, **NO), PotentialClassifier(eta=0.3, **NO)),
    (PNormPerceptron(4.0, **NO), PotentialClassifier(PNorm(4.0), eta=conservative, **NO)),
    (PNormPerceptron(4.0, aggressive=True, radius=2.0, **NO),
     PotentialClassifier(PNorm(4.0), eta=aggressive_p_norm_rate(4.0, 2.0), **NO)),
    (SecondOrderPerceptron(r=0.7, **ONE), PotentialClassifier(Quadratic(r=0.7), eta=conservative, **NO)),
    (SecondOrderPerceptron(r=0.7, aggressive=True, covariance="full", **ONE),
     PotentialClassifier(Quadratic(r=0.7, covariance="full"), **NO)),
    (NAROWClassifier(b=2.0, **ONE), PotentialClassifier(Quadratic(b=2.0), **NO)),
    (NAROWClassifier(b=2.0, covariance="full", **ONE), PotentialClassifier(Quadratic(b=2.0, covariance="full"), **NO)),
    (DualAscentClassifier(3.0, loss="log_loss", update="DA1", **NO), PotentialClassifier(SquaredNorm(3.0), "log_loss", **NO)),
    (DualAscentClassifier(3.0, regularizer="entropic", update="DA1", norm_bound=2.0, **NO),
     PotentialClassifier(Entropic(3.0, 2.0), **NO)),
], ids=lambda learner: type(learner).__name__)  # (own ones may have addresses in their text)
def test_the_potential_framework_equals_the_named_learners(compiled, slow):
    X, y = stream()
    compiled = type(compiled)(**{**compiled.get_params(), "dtype": np.float64}).partial_fit(X, y, classes=[-1, 1])
    slow = type(slow)(**slow.get_params()).partial_fit(X, y)
    assert_allclose(slow.coef_, compiled.coef_, rtol=1e-8, atol=1e-11)
    assert (slow.n_mistakes_, slow.n_updates_) == (compiled.n_mistakes_, compiled.n_updates_)


@pytest.mark.parametrize("loss, sigma", [("absolute", 3.0), ("squared", 40.0)])
def test_the_potential_framework_for_targets_equals_dual_ascent(loss, sigma):
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((80, 4)), rng.standard_normal(80)
    compiled = DualAscentRegressor(sigma, loss=loss, update="DA1", dtype=np.float64, **NO).partial_fit(X, y)
    slow = PotentialRegressor(SquaredNorm(sigma), loss, **NO).partial_fit(X, y)
    assert_allclose(slow.coef_, compiled.coef_, rtol=1e-9)
    within = PotentialRegressor(loss="epsilon_insensitive", epsilon=10.0, **NO).partial_fit(X, y)
    assert not within.coef_.any() and within.n_updates_ == 0


FS = {
    "squared": lambda: SquaredNorm(2.0), "p-norm": lambda: PNorm(3.0), "entropic": lambda: Entropic(2.0, 4.0),
    "simplex": lambda: Entropic(2.0, 4.0, signed=False), "diagonal": lambda: Quadratic(r=0.7),
    "nearest of the simplex": lambda: SimplexNorm(2.0, 4.0),
    "full": lambda: Quadratic(r=0.7, covariance="full"), "narow": lambda: Quadratic(b=2.0, covariance="full"),
}


def quarter(s, z):
    return 1.0 if s.margin <= 0.0 else 0.25


def competitors(kind, seed=0):
    rng = np.random.default_rng(seed)
    for scale in (0.1, 1.0, 4.0):
        u = rng.standard_normal(5)
        if "simplex" in kind:
            yield 4.0 * rng.dirichlet(np.ones(5))
        else:
            yield u / np.abs(u).sum() * scale


@pytest.mark.parametrize("eta", [1.0, 0.2, quarter], ids=["1", "0.2", "free"])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", FS)
def test_lemma_1_holds_for_every_f_loss_and_rate(kind, loss, eta):
    """Check random labels, and adversarial labels, always against the prediction."""
    X, y = stream(6)
    for adversarial in (False, True):
        learner = PotentialClassifier(FS[kind](), loss, eta, **NO).partial_fit(X[:0], y[:0], [-1, 1])
        for x, label in zip(X, y, strict=True):
            said = learner.decision_function(x[None])[0]
            learner.partial_fit(x[None], [(-1 if said > 0 else 1) if adversarial else label])
        assert learner.n_updates_ > 10
        for u in competitors(kind):
            for lam in (1.0,) if "simplex" in kind or kind == "entropic" else (0.3, 1.0, 5.0):
                paid, allowed = learner.lemma_1(u, lam)
                assert paid <= allowed + 1e-9 * (1 + abs(allowed)), (u, lam)


def test_lemma_1_is_broken_by_weights_that_are_not_the_gradient_of_f():
    """Use weights of three times ∇f* on labels that are always against the prediction."""

    class Wrong(SquaredNorm):
        def weights(self, theta):
            return 3.0 * theta

    X, y = stream(6)
    for f, holds in ((SquaredNorm(), True), (Wrong(), False)):
        learner = PotentialClassifier(f, "log_loss", **NO).partial_fit(X[:0], y[:0], [-1, 1])
        for x, label in zip(X, y, strict=True):
            learner.partial_fit(x[None], [label])
        margins = y * learner.decision_function(X)
        found = [learner.lemma_1(u) for u in (np.zeros(5), learner.coef_[0] / 3, learner._fitted().learners[0].theta)]
        assert all(paid <= allowed + 1e-9 for paid, allowed in found) == holds, margins


def test_lemma_1_of_bounds_equals_the_sums_of_the_framework():
    """Compare bounds.lemma_1 of a course with the sums of the framework."""
    X, y = stream(7)
    for compiled, slow in (
        (SecondOrderPerceptron(r=0.7, covariance="full", **ONE), PotentialClassifier(
            Quadratic(r=0.7, covariance="full"), eta=conservative, **NO)),
        (NAROWClassifier(b=2.0, **ONE), PotentialClassifier(Quadratic(b=2.0), **NO)),
        (Perceptron(aggressive=True, eta0=0.3, **NO), PotentialClassifier(eta=0.3, **NO)),
        (PNormPerceptron(3.0, **NO), PotentialClassifier(PNorm(3.0), eta=conservative, **NO)),
        (PNormPerceptron(3.0, aggressive=True, radius=3.0, **NO),
         PotentialClassifier(PNorm(3.0), eta=aggressive_p_norm_rate(3.0, 3.0), **NO)),
    ):
        course = bounds.follow(type(compiled)(**{**compiled.get_params(), "dtype": np.float64}), X, y)
        slow.partial_fit(X, y)
        for u in competitors("any"):
            for lam in (0.5, 1.0):
                assert_allclose(bounds.lemma_1(course, u, lam), slow.lemma_1(u, lam), rtol=1e-8, atol=1e-9)


def test_best_r_is_that_of_section_4_3():
    """Compare with s M R²/(M R² - 2sd) if s < M R²/(2d), else infinity, the plain Perceptron's."""
    assert best_r(2.0, 100.0, 1.0, 10) == pytest.approx(200.0 / 60.0)
    assert best_r(5.0, 100.0, 1.0, 10) == inf and best_r(6.0, 100.0, 1.0, 10) == inf


def test_the_nearest_point_of_the_simplex_keeps_its_sum_beside_large_numbers():
    for theta in ([1e300, 0.0, 0.0], [-1e17, 1e17, 1e17], [0.0, 0.0]):
        w = SimplexNorm(2.0, 4.0).weights(np.array(theta))
        assert w.sum() == 4.0 and (w >= 0.0).all() and w @ theta == max(theta) * 4.0


def test_invalid_rules_and_parameters_are_refused():
    X, y = np.eye(2), [0, 1]
    for make, message in (
        (lambda: RuleClassifier("arrow").partial_fit(X, y), "onlinecls.reference: rule must be a function or one of perc"),
        (lambda: RuleClassifier(Step, geometry="round").partial_fit(X, y),
         "onlinecls.reference: rule must be a function Stats -> Step and geometry one of additive, gaussian, potential, got "),
        (lambda: RuleClassifier(Step, geometry="potential").partial_fit(X, y),
         "onlinecls.reference: precision must be a function Stats -> float, got precision=None."),
        (lambda: RuleClassifier("pa1").partial_fit(X, [1, 1]), "RuleClassifier: y must have at least 2 classes, got [1]."),
        (lambda: PotentialClassifier(loss="zero").partial_fit(X, y), "PotentialClassifier: loss must be a Loss or one of"),
        (lambda: PotentialClassifier().partial_fit(np.eye(3), [0, 1, 2]), "PotentialClassifier: Only binary classification"),
        (lambda: Quadratic(), "Quadratic: one of r and b must be given, got r=None and b=None."),
    ):
        with pytest.raises(ValueError, match="^" + re.escape(message)):
            make()


def test_examples_in_docstrings_of_the_reference_run():
    for module in (reference, reference.learners, reference.estimators):
        found = doctest.testmod(module)
        assert found.attempted > 3 and found.failed == 0
    assert all(hasattr(reference, name) for name in reference.__all__)


@pytest.mark.parametrize("returned, error", [
    ((0.5, 0.0), "TypeError"), (None, "TypeError"), (0.5, "TypeError"), (Step(inf), "ValueError"),
    (Step(float("nan")), "ValueError"), (Step(0.5, inf), "ValueError"), (Step(None), "ValueError"), (Step(10**400), "ValueError"),
])
def test_a_rule_that_returns_no_finite_step_is_named(returned, error):
    def my_rule(stats):
        return returned

    X, y = np.eye(2), np.array([0, 1])
    for learner in (RuleClassifier(my_rule), RuleClassifier(my_rule, geometry="gaussian"),
                    RuleClassifier(my_rule, geometry="potential", precision=lambda stats: 1.0), RuleRegressor(my_rule)):
        with pytest.raises((TypeError, ValueError), match=r"onlinecls\.reference: the rule my_rule must return a ") as refused:
            learner.partial_fit(X, y)
        assert type(refused.value).__name__ == error, learner
