"""PA as the building block of a batch algorithm: cycles until no squared loss is above loss_tol."""

import pickle
import warnings

import numpy as np
import pytest
from looping import within
from matrices import csr32, dense_c
from numpy.testing import assert_allclose
from reference import PA1, PA2, PA1Regression, PA2Regression, PassiveAggressiveOneClass
from states import fingerprint

from onlinecls import PassiveAggressiveClassifier as Classifier
from onlinecls import PassiveAggressiveOneClass as OneClass
from onlinecls import PassiveAggressiveRegressor as Regressor

INF = float("inf")


def separable(n, d, seed, n_classes=2):
    """Rows with a margin: Crammer-Singer's, or of each class against the rest."""
    rng = np.random.default_rng(seed)
    if n_classes == 2:
        X = rng.standard_normal((n, d))
        s = X @ rng.standard_normal(d)
        return X[np.abs(s) > 0.4], np.where(s > 0, 1, -1)[np.abs(s) > 0.4]
    y = rng.integers(0, n_classes, n)
    return 2.0 * np.eye(n_classes, d)[y] + 0.15 * rng.standard_normal((n, d)), y


def linear(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((150, 7))
    return X, X @ rng.standard_normal(7) + 0.5 + rng.uniform(-0.1, 0.1, 150)


def sphere(seed):
    X = np.random.default_rng(seed).standard_normal((150, 5))
    return 4.0 + X / np.linalg.norm(X, axis=1, keepdims=True)


def losses_of(learner, X, y):
    if isinstance(learner, OneClass):
        return np.maximum(-learner.score_samples(X) - learner.epsilon, 0.0)
    if isinstance(learner, Regressor):
        return np.maximum(np.abs(y - learner.predict(X)) - learner.epsilon, 0.0)
    scores = learner.decision_function(X)
    if scores.ndim == 1:
        return np.maximum(1.0 - np.where(y == learner.classes_[1], 1, -1) * scores, 0.0)
    true = y[:, None] == learner.classes_
    if learner.multi_class == "ovr":
        return np.maximum(1.0 - np.where(true, scores, -scores), 0.0).max(axis=1)
    return np.maximum(1.0 - scores[true] + np.where(true, -np.inf, scores).max(axis=1), 0.0)


def in_cycles(step, loss, rows, rho, max_iter=1000):
    """The paper's batch algorithm, choosing the rows in turn: (cycles, updates)."""
    cycles = updates = 0
    before = None
    while updates != before and cycles < max_iter:
        before, cycles = updates, cycles + 1
        for row in rows:
            if loss(*row) ** 2 > rho:
                step(*row)
                updates += 1
    return cycles, updates


TWINS = {"hinge": PA1, "squared_hinge": PA2, "epsilon_insensitive": PA1Regression, "squared_epsilon_insensitive": PA2Regression}


@within(C=[INF, 0.3, 0.01], kind=[dense_c, csr32])
@pytest.mark.parametrize("loss", TWINS)
def test_learners_in_cycles_equal_the_slow_twin(loss, kind, C):
    if loss in ("hinge", "squared_hinge"):
        (X, y), twin, rho = separable(150, 6, seed=0), TWINS[loss](6, C=C), 0.04
        cycles, updates = in_cycles(twin.step, lambda z: max(0.0, 1.0 - twin.w @ z), [(z,) for z in y[:, None] * X], rho)
        learner = Classifier(C, loss=loss, fit_intercept=False, shuffle=False, loss_tol=rho)
    else:
        (X, y), twin, rho = linear(1), TWINS[loss](7, C=C, epsilon=0.62), 1e-3
        rows = list(zip(X, y, strict=True))
        cycles, updates = in_cycles(twin.step, lambda x, t: max(0.0, abs(t - twin.w @ x) - 0.62), rows, rho)
        learner = Regressor(C, epsilon=0.62, loss=loss, fit_intercept=False, shuffle=False, loss_tol=rho)
    learner.fit(kind(X), y)
    assert_allclose(np.ravel(learner.coef_), twin.w, rtol=1e-8)
    assert (learner.n_iter_, learner.n_updates_, learner.t_) == (cycles, updates, cycles * len(y)) and updates > 5


def test_one_class_learners_in_cycles_equal_the_slow_twin():
    X, twin = sphere(2), PassiveAggressiveOneClass(5, epsilon=1.02)
    twin.step(X[0])
    loss = lambda x: max(0.0, np.linalg.norm(x - twin.w) - 1.02)  # noqa: E731
    cycles, updates = in_cycles(twin.step, loss, [(x,) for x in X], 1e-4)
    learner = OneClass(1.02, shuffle=False, max_iter=1000, loss_tol=1e-4, scale=1.0).fit(X)
    assert_allclose(learner.center_, twin.w, rtol=1e-7)
    assert (learner.n_iter_, learner.n_updates_) == (cycles, updates) and updates > 5


PROBLEMS = {
    **{f"classes {loss} C={C} {m} k={k}": (lambda seed, loss=loss, C=C, m=m, k=k: (
        Classifier(C, loss=loss, multi_class=m), *separable(120, 7, seed, k)))
       for loss in ("hinge", "squared_hinge") for C in (INF, 0.05) for m, k in (("ovr", 2), ("ovr", 4), ("crammer_singer", 4))},
    **{f"targets {loss} C={C}": (lambda seed, loss=loss, C=C: (Regressor(C, loss=loss, epsilon=0.15), *linear(seed)))
       for loss in ("epsilon_insensitive", "squared_epsilon_insensitive") for C in (INF, 0.05)},
    "one class": lambda seed: (OneClass(1.05, max_iter=5000, scale=1.0), sphere(seed), np.zeros(150)),
}


@within(seed=[0, 1])
@pytest.mark.parametrize("make", PROBLEMS.values(), ids=PROBLEMS)
def test_no_squared_loss_is_larger_than_the_tolerance(make, seed):
    learner, X, y = make(seed)
    weights = np.random.default_rng(seed).choice([0.0, 0.5, 1.0, 3.0], len(X)) if seed else np.ones(len(X))
    live = weights > 0
    for rho in (0.09, 1e-3):
        learner.set_params(loss_tol=rho, random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            learner.fit(X, y, sample_weight=weights)
        assert (losses_of(learner, X[live], y[live]) ** 2).max() <= rho * (1 + 1e-9)
        again = type(learner)(**learner.get_params()).fit(csr32(X), y, sample_weight=weights)
        assert fingerprint(again) == fingerprint(learner)


def test_classes_that_weigh_more_want_a_larger_margin_in_cycles():
    X, y = separable(100, 5, seed=9)
    learner = Classifier(5.0, class_weight={1: 0.1, -1: 2.0}, loss_tol=0.01, max_iter=20_000).fit(X, y)
    margins = learner.decision_function(X) * y
    assert margins[y == 1].min() >= 0.9 and margins[y == -1].min() >= 20**0.5 - 0.1


def test_rows_that_no_weights_satisfy():
    """Two labels for one row; a zero row takes no step."""
    X, y = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), [0, 1, 1]
    message = r"no squared loss above loss_tol=0\.1, but rows still took steps in the last of max_iter=7 cycles"
    kind = pytest.importorskip("sklearn.exceptions", reason="scikit-learn is not installed").ConvergenceWarning
    learner = Classifier(INF, fit_intercept=False, loss_tol=0.1, max_iter=7)
    with pytest.warns(kind, match=message):
        learner.fit(X, y)
    assert learner.n_iter_ == 7
    learner = Classifier(INF, fit_intercept=False, loss_tol=0.1).fit(np.array([[0.0, 0.0], [1.0, 0.0]]), [0, 1])
    assert learner.n_iter_ < 10


@pytest.mark.parametrize("estimator", [Classifier, Regressor, OneClass])
def test_loss_tol_changes_nothing_but_fit(estimator):
    X, y = separable(60, 5, seed=10)
    y = X.sum(axis=1) if estimator is Regressor else y
    cycled = estimator(random_state=0, loss_tol=0.25, **({"epsilon": 5.0} if estimator is OneClass else {})).fit(X, y)
    plain = pickle.loads(pickle.dumps(cycled)).set_params(loss_tol=None).partial_fit(X, y)
    assert fingerprint(cycled.partial_fit(X, y)) == fingerprint(plain), "partial_fit is plain PA"


@pytest.mark.parametrize(("far", "n_updates"), [(1.5, 0), (2.5, 1)])
def test_a_loss_within_loss_tol_moves_no_centre(far, n_updates):
    learner = OneClass(1.0, shuffle=False, max_iter=5, loss_tol=1.0, scale=1.0).fit([[0.0], [far]])
    assert (learner.n_updates_, learner.n_skipped_) == (n_updates, 0)
