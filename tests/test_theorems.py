"""Every theorem of `bounds`: it holds against an adversary, and for a wrong rule it does not.

An adversary hears the score and gives the other label; where a theorem speaks of a competitor without loss, he picks the worst of
many rows instead, whose labels the competitor gives. A wrong rule steps away from where the rows pull.
"""

from dataclasses import replace

import numpy as np
import pytest
from test_certificates import ONE, against, competitors, turned_round

from onlinecls import (
    AROWClassifier,
    DualAscentClassifier,
    DualAscentRegressor,
    FoReLClassifier,
    HedgeClassifier,
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

NO, FULL, INF = {"fit_intercept": False, "dtype": np.float64}, {"covariance": "full"}, float("inf")
SOPS = [SecondOrderPerceptron(r=2.0, aggressive=a, **f, **ONE, **NO) for a in (False, True) for f in ({}, FULL)]
NAROWS = [NAROWClassifier(b=2.0, **ONE, **NO), NAROWClassifier(b=2.0, **FULL, **ONE, **NO)]
PLAIN = [Perceptron(eta0=1.0, **NO), PNormPerceptron(4.0, **NO)]

#: Theorems about any competitor, and those whose learners are of two classes.
AGAINST_LABELS = {
    "perceptron": PLAIN[:1], "p_norm": [PLAIN[1], PNormPerceptron(4.0, aggressive=True, radius=2.0, **NO)],
    "fixed_rate": [Perceptron(True, eta0=0.2, **NO), *PLAIN, *SOPS, *NAROWS], "lemma_1": [*PLAIN, *SOPS, *NAROWS],
    "passive_aggressive": [PassiveAggressiveClassifier(0.3, **NO), PassiveAggressiveClassifier(0.3, loss="squared_hinge", **NO)],
    "potential_based": [*SOPS, *NAROWS], "second_order_perceptron": SOPS, "narow": NAROWS[1:],
    "arow": [AROWClassifier(r=0.7, **FULL, **NO)], "gradient_descent": [OGDClassifier(0.1, **NO)],
    "dual_ascent": [FoReLClassifier(2.0, **NO), *(
        DualAscentClassifier(sigma, regularizer=f, loss=loss, norm_bound=15.0, **NO)
        for sigma in (3.0, "auto") for f in ("euclidean", "entropic") for loss in ("hinge", "log_loss"))],
}
#: Theorems about a competitor without loss.
AGAINST_ROWS = {
    "passive_aggressive": [PassiveAggressiveClassifier(INF, **NO), PassiveAggressiveRegressor(INF, epsilon=0.1, **NO),
                           PassiveAggressiveRegressor(0.5, loss="squared_epsilon_insensitive", epsilon=0.1, **NO)],
    "margin_corollary": [PassiveAggressiveClassifier(INF, **NO)],
    "distance": [PassiveAggressiveClassifier(INF, **NO), PassiveAggressiveRegressor(INF, epsilon=0.1, **NO)],
    "multiplicative": [MultiplicativePassiveAggressiveClassifier(norm_bound=15.0, margin=1.0, **NO),
                       MultiplicativePassiveAggressiveRegressor(norm_bound=5.0, epsilon=0.1, **NO)],
    "one_class": [PassiveAggressiveOneClass(0.5, dtype=np.float64),
                  MultiplicativePassiveAggressiveOneClass(0.5, norm_bound=5.0, dtype=np.float64)],
    "dual_ascent": [DualAscentRegressor(sigma, loss=loss, regularizer=f, norm_bound=5.0, **NO)
                    for loss, f, sigma in (("absolute", "euclidean", 15.0), ("absolute", "entropic", 15.0),
                                           ("squared", "euclidean", 15.0), ("squared", "entropic", 500.0))],
}
OWN = {"dual_ascent_multiclass", "follow_the_leader", "hedge"}  # tests of their own below
U = np.array([2.0, -2.0, 1.0, 0.0, 0.0])  # ||u||_1 = 5


def each(table):
    cases = [(name, learner) for name, learners in table.items() for learner in learners]
    return pytest.mark.parametrize("name, learner", cases, ids=[f"{name}: {learner!r}" for name, learner in cases])


def test_no_theorem_is_left_out():
    others = {"Bound", "Certificate", "Course", "follow"}
    assert AGAINST_LABELS.keys() | AGAINST_ROWS.keys() | OWN == set(bounds.__all__) - others


def assert_holds(found):
    paid, allowed = found
    assert 0.0 < paid <= allowed * (1.0 + 1e-9) + 1e-9 < np.inf, found


@each(AGAINST_LABELS)
def test_it_holds_against_contrary_labels(name, learner):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 5)) * rng.choice([0.03, 0.3], size=(120, 1))
    y = against(learner, X, lambda score, t: -1.0 if score > 0.0 else 1.0)
    course = bounds.follow(learner, X, y)
    for u in [*competitors(5), course.weights[-1]]:
        paid, allowed = getattr(bounds, name)(course, u)
        assert paid <= allowed + 1e-9 * (1.0 + abs(allowed)), (paid, allowed, u)


def wrong_course(learner, X, y):
    """The course of a rule for two classes that steps against y x, whenever the learner would step along it."""
    records, d = turned_round(learner, X, y), X.shape[1]
    steps = -(y * records.updated)[:, None] * X
    weights, Sigma = np.concatenate([np.zeros((1, d)), np.cumsum(steps, axis=0)]), np.eye(d)
    if hasattr(type(learner), "covariance_"):
        gain = np.full(len(y), 1.0 / learner.r) if not isinstance(learner, NAROWClassifier) else (
            np.maximum(0.0, learner.b - 1.0 / records.chi))
        rows = X[records.updated] * np.sqrt(gain[records.updated])[:, None]
        A = np.eye(d) + rows.T @ rows
        Sigma = np.linalg.inv(A) if learner.covariance == "full" else 1.0 / np.diag(A)[None]
        learner = type(type(learner).__name__, (type(learner),), {"covariance_": Sigma})(**learner.get_params())
    names = ("scores", "updated", "chi", "peeked", "spread", "forgotten", "sigma")
    return bounds.Course(learner, X, y, weights=weights, **{one: getattr(records, one) for one in names})


@each({**AGAINST_LABELS, **{name: [one for one in learners if getattr(one, "_estimator_type", "") == "classifier"]
                            for name, learners in AGAINST_ROWS.items() if name not in AGAINST_LABELS}})
def test_a_rule_that_steps_against_the_labels_breaks_it(name, learner):
    rng = np.random.default_rng(1)
    X, best = rng.standard_normal((1000, 5)) / 3.0, 3.0 * U  # (of norm 15)
    X = X[np.abs(X @ best) > 1.0][: 150 if isinstance(learner, FoReLClassifier) else None]
    y, found = np.sign(X @ best), []
    right, wrong = bounds.follow(learner, X, y), wrong_course(learner, X, y)
    for u in (best, 0.6 * best):  # (without loss, and with)
        if name in AGAINST_LABELS or u is best:
            assert_holds(getattr(bounds, name)(right, u))
            paid, allowed = getattr(bounds, name)(wrong, u)
            found.append(paid > allowed)
    assert any(found)


def worst_rows(learner, pool, y):
    """100 rows of the pool, each the one on which the learner does worst when it comes, and their targets."""
    walker, chosen = type(learner)(**learner.get_params()), []
    task = learner._estimator_type
    walker.partial_fit(pool[:0], y[:0], **({"classes": [-1, 1]} if task == "classifier" else {}))
    for _ in range(100):
        if task == "classifier":
            losses = -y * walker.decision_function(pool)
        else:
            losses = np.abs(y - walker.predict(pool)) if task == "regressor" else -walker.score_samples(pool)
        t = int(np.argmax(losses))
        chosen.append(t)
        walker.partial_fit(pool[t : t + 1], y[t : t + 1])
    return pool[chosen], y[chosen]


def for_rows(learner):
    """A pool of rows, their targets by a competitor without loss, and it."""
    rng, task = np.random.default_rng(2), learner._estimator_type
    pool = rng.standard_normal((300, 5))
    if task == "outlier_detector":
        return U + 0.45 * pool / np.linalg.norm(pool, axis=1, keepdims=True), np.ones(300), U
    if task == "classifier":
        pool = pool[np.abs(pool @ U) > 1.0]
        return pool, np.sign(pool @ U), U
    return pool, pool @ U, U


@each(AGAINST_ROWS)
def test_it_holds_against_the_worst_rows(name, learner):
    pool, y, u = for_rows(learner)
    assert_holds(getattr(bounds, name)(bounds.follow(learner, *worst_rows(learner, pool, y)), u))


@each({name: [one for one in learners if one._estimator_type != "classifier"] for name, learners in AGAINST_ROWS.items()})
def test_a_rule_that_steps_away_from_targets_breaks_it(name, learner):
    """It has learnt from the rows turned round."""
    pool, y, u = for_rows(learner)
    turned = bounds.follow(learner, *((-pool, y) if learner._estimator_type == "outlier_detector" else (pool, -y)))
    weights = turned.weights
    if name == "distance":  # (these weights are as short as the right ones: each step is 5 times as long)
        weights = 5.0 * weights
    if learner._estimator_type == "outlier_detector":
        scores = -np.linalg.norm(pool - weights[:-1], axis=1)
    else:
        scores = (pool * weights[:-1]).sum(axis=1)
    paid, allowed = getattr(bounds, name)(replace(turned, X=pool, y=y, scores=scores, weights=weights), u)
    assert paid > allowed


# --- theorems with streams of their own ----------------------------------------------------------------------------------------


class Rotated(DualAscentClassifier):
    """It takes each class for the next."""

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        return super().partial_fit(X, (np.asarray(y) + 1) % 3, classes, sample_weight)


@pytest.mark.parametrize(
    "form", [{}, {"loss": "log_loss"}, {"regularizer": "entropic", "norm_bound": 12.5, "sigma": 400.0}], ids=repr)
def test_several_classes(form):
    rng, form = np.random.default_rng(3), {"sigma": 20.0, "norm_bound": 1.0, **form, **NO}
    X, u = rng.standard_normal((1500, 4)), 4.0 * np.concatenate([np.eye(3), np.zeros((3, 1))], axis=1)
    X = X[np.sort(X @ u.T, axis=1) @ [0.0, -1.0, 1.0] > 1.0]
    y = (X @ u.T).argmax(axis=1)
    assert_holds(bounds.dual_ascent_multiclass(DualAscentClassifier(**form), X, y, u))
    paid, allowed = bounds.dual_ascent_multiclass(Rotated(**form), X, y, u)
    assert paid > allowed
    walker, labels = DualAscentClassifier(**form).partial_fit(X[:0], [], classes=[0, 1, 2]), []
    for row in X:  # an adversary: the class that scores least
        labels.append(int(walker.decision_function(row[None])[0].argmin()))
        walker.partial_fit(row[None], labels[-1:])
    for competitor in (0.0 * u, 0.1 * u, walker.coef_):
        assert_holds(bounds.dual_ascent_multiclass(DualAscentClassifier(**form), X, labels, competitor))


class Contrary(HedgeClassifier):
    """It follows the experts who are wrong most: it learns from the labels turned round, by which it loses what is left."""

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        return super().partial_fit(X, -np.asarray(y), classes, sample_weight)

    @property
    def expected_loss_(self):
        return self.t_ - super().expected_loss_


def test_hedge(monkeypatch):
    rng = np.random.default_rng(4)
    X, y = rng.random((400, 6)), np.zeros(400)
    walker = HedgeClassifier(dtype=np.float64).partial_fit(X[:0], [], classes=[-1, 1])
    for t in range(400):
        y[t] = -1.0 if walker.decision_function(X[t : t + 1])[0] > 0.0 else 1.0
        walker.partial_fit(X[t : t + 1], y[t : t + 1])
    assert_holds(bounds.hedge(X, y))
    assert bounds.hedge(X, y).paid > 200.0, "it is an adversary"
    X[:, 0] = (1.0 + np.sign(X[:, 1] - 0.5)) / 2.0  # the first expert knows
    y = 2.0 * X[:, 0] - 1.0
    assert_holds(bounds.hedge(X, y))
    monkeypatch.setattr(bounds, "HedgeClassifier", Contrary)
    paid, allowed = bounds.hedge(X, y)
    assert paid > allowed


def test_the_leaders_mean():
    y = np.zeros(400)
    for t in range(400):
        y[t] = -1.0 if y[:t].sum() > 0.0 else 1.0
    found = bounds.follow_the_leader(y)
    assert_holds(found)
    assert np.square(np.diff(y, prepend=0.0)).sum() > found.allowed, "follow the last target, not the leader"
