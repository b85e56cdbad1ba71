"""onlinecls.reference: rules of one's own, and the potential framework, compared with the compiled learners."""

import doctest
from math import inf

import numpy as np
import pytest
from matrices import continuous_problem
from numpy.testing import assert_allclose

from onlinecls import (
    DualAscentClassifier,
    DualAscentRegressor,
    NAROWClassifier,
    Perceptron,
    PNormPerceptron,
    SecondOrderPerceptron,
    bounds,
    reference,
)
from onlinecls.reference import (
    LOSSES,
    REGRESSION_LOSSES,
    Additive,
    Entropic,
    Gaussian,
    Model,
    PNorm,
    Potential,
    PotentialLearner,
    Quadratic,
    SimplexNorm,
    SquaredNorm,
    Stats,
    Step,
    aggressive_p_norm_rate,
    best_r,
    conservative,
    insensitive,
)

NO = {"scale": 1.0, "fit_intercept": False, "dtype": np.float64}
ONE = {**NO, "initial_variance": 1.0}


def nherd(s: Stats, C=1.0) -> Step:
    return Step(s.loss / (s.v + 1.0 / C), 2.0 * C + C**2 * s.v) if s.loss > 0.0 else Step()


def test_a_custom_rule_learns_by_its_equation():
    """Learn by NHERD's diagonal form with the exact step: w += l Σz/(v + 1/C), Σ^-1 += (2C + C² v) z z'."""
    learner = Gaussian(2, nherd, C=0.5)
    assert learner.step([1.0, 2.0]) and not learner.step([0.0, 0.0])
    assert_allclose(learner.w, [1 / 7, 2 / 7])
    assert_allclose(learner.Sigma, [1 / (1 + 2.25), 1 / (1 + 4 * 2.25)])
    X, y = continuous_problem(300, 5, seed=3, n_classes=3)
    for multi_class in ("ovr", "crammer_singer"):
        model = Model(lambda d: Gaussian(d, nherd, C=0.5), 5, 3, multi_class)
        for x, code in zip(X, y, strict=True):
            model.consume(x, int(code), 1.0)
        assert model.t == 300 and model.n_mistakes < 100 and model.Sigma.shape == (3, 5)
    for geometry in (Additive, lambda d, rule: Potential(d, rule, precision=lambda s: 1.0)):
        learner = geometry(5, lambda s: Step(0.1 * s.loss))
        for x, code in zip(X, y, strict=True):
            learner.step(x if code else -x)
        assert np.mean((X @ learner.w > 0) == (y > 0)) > 0.7


# --- the potential framework ---------------------------------------------------------------------------------------------------


def learnt(learner, X, y):
    """The learner after these signed rows, and how many changed it."""
    return sum(learner.step(label * x) for x, label in zip(X, y, strict=True))


SAME = [
    (Perceptron(eta0=1.0, **NO), lambda: (SquaredNorm(), "hinge", conservative)),
    (Perceptron(aggressive=True, eta0=0.3, **NO), lambda: (SquaredNorm(), "hinge", 0.3)),
    (PNormPerceptron(4.0, **NO), lambda: (PNorm(4.0), "hinge", conservative)),
    (PNormPerceptron(3.0, aggressive=True, radius=3.0, **NO), lambda: (PNorm(3.0), "hinge", aggressive_p_norm_rate(3.0, 3.0))),
    (SecondOrderPerceptron(r=0.7, **ONE), lambda: (Quadratic(r=0.7), "hinge", conservative)),
    (SecondOrderPerceptron(r=0.7, aggressive=True, covariance="full", **ONE), lambda: (
        Quadratic(r=0.7, covariance="full"), "hinge", 1.0)),
    (NAROWClassifier(b=2.0, **ONE), lambda: (Quadratic(b=2.0), "hinge", 1.0)),
    (NAROWClassifier(b=2.0, covariance="full", **ONE), lambda: (Quadratic(b=2.0, covariance="full"), "hinge", 1.0)),
    (DualAscentClassifier(3.0, loss="log_loss", update="DA1", **NO), lambda: (SquaredNorm(3.0), "log_loss", 1.0)),
    (DualAscentClassifier(3.0, regularizer="entropic", update="DA1", norm_bound=2.0, **NO), lambda: (
        Entropic(3.0, 2.0), "hinge", 1.0)),
]


@pytest.mark.parametrize("compiled, slow", SAME, ids=[repr(one[0]) for one in SAME])
def test_the_potential_framework_equals_the_named_learners_and_its_lemma_that_of_bounds(compiled, slow):
    X, y = continuous_problem(120, 5, seed=5)
    f, loss, eta = slow()
    learner = PotentialLearner(5, f, LOSSES[loss], eta)
    n_updates = learnt(learner, X, y)
    course = bounds.follow(compiled, X, y)
    w = learner.f.weights(learner.theta)
    assert_allclose(w, course.learner.coef_[0], rtol=1e-8, atol=1e-11)
    assert n_updates == course.learner.n_updates_
    if "DualAscent" not in repr(compiled):
        for u in competitors("any"):
            for lam in (0.5, 1.0):
                assert_allclose(bounds.lemma_1(course, u, lam), learner.lemma_1(u, lam), rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("loss, sigma", [("absolute", 3.0), ("squared", 40.0)])
def test_the_potential_framework_for_targets_equals_dual_ascent(loss, sigma):
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((80, 4)), rng.standard_normal(80)
    compiled = DualAscentRegressor(sigma, loss=loss, update="DA1", **NO).partial_fit(X, y)
    slow, within = (PotentialLearner(4, SquaredNorm(sigma), one) for one in (REGRESSION_LOSSES[loss], insensitive(10.0)))
    for x, target in zip(X, y, strict=True):
        slow.step_towards(x, target)
        assert not within.step_towards(x, target)
    assert_allclose(slow.w, np.ravel(compiled.coef_), rtol=1e-9)


FS = {
    "squared": lambda: SquaredNorm(2.0), "p-norm": lambda: PNorm(3.0), "entropic": lambda: Entropic(2.0, 4.0),
    "simplex": lambda: Entropic(2.0, 4.0, signed=False), "diagonal": lambda: Quadratic(r=0.7),
    "nearest of the simplex": lambda: SimplexNorm(2.0, 4.0),
    "full": lambda: Quadratic(r=0.7, covariance="full"), "narow": lambda: Quadratic(b=2.0, covariance="full"),
}


def competitors(kind, seed=0):
    rng = np.random.default_rng(seed)
    for scale in (0.1, 1.0, 4.0):
        u = rng.standard_normal(5)
        if "simplex" in kind:
            yield 4.0 * rng.dirichlet(np.ones(5))
        else:
            yield u / np.abs(u).sum() * scale


@pytest.mark.parametrize("kind", FS)
def test_lemma_1_holds_for_every_f_loss_and_rate(kind):
    """Check given labels, and adversarial labels, always against the prediction."""
    X, y = continuous_problem(120, 5, seed=6)
    for loss in LOSSES:
        for eta in (1.0, 0.2, lambda s, z: 1.0 if s.margin <= 0.0 else 0.25):
            for adversarial in (False, True):
                learner, n_updates = PotentialLearner(5, FS[kind](), LOSSES[loss], eta), 0
                for x, label in zip(X, y, strict=True):
                    said = learner.f.weights(learner.theta) @ x
                    n_updates += learner.step(((-1 if said > 0 else 1) if adversarial else label) * x)
                assert n_updates > 10
                for u in competitors(kind):
                    for lam in (1.0,) if "simplex" in kind or kind == "entropic" else (0.3, 1.0, 5.0):
                        paid, allowed = learner.lemma_1(u, lam)
                        assert paid <= allowed + 1e-9 * (1 + abs(allowed)), (loss, u, lam)


def test_best_r_is_that_of_section_4_3():
    """Compare with s M R²/(M R² - 2sd) if s < M R²/(2d), else infinity, the plain Perceptron's."""
    assert best_r(2.0, 100.0, 1.0, 10) == pytest.approx(200.0 / 60.0)
    assert best_r(5.0, 100.0, 1.0, 10) == inf and best_r(6.0, 100.0, 1.0, 10) == inf


def test_the_nearest_point_of_the_simplex_keeps_its_sum_beside_large_numbers():
    for theta in ([1e300, 0.0, 0.0], [-1e17, 1e17, 1e17], [0.0, 0.0]):
        w = SimplexNorm(2.0, 4.0).weights(np.array(theta))
        assert w.sum() == 4.0 and (w >= 0.0).all() and w @ theta == max(theta) * 4.0
    with pytest.raises(ValueError, match=r"^Quadratic: one of r and b must be given, got r=None and b=None\."):
        Quadratic()


def test_examples_in_docstrings_of_the_reference_run():
    for module, least in ((reference, 4), (reference.potential, 2), (reference.reading, 5)):
        found = doctest.testmod(module)
        assert found.attempted >= least and found.failed == 0
    assert all(hasattr(reference, name) for name in reference.__all__)
