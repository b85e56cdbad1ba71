"""Costs of pairs of classes: `cost=` of PassiveAggressiveClassifier and AROWClassifier."""

from math import inf, sqrt

import numpy as np
import pytest
from algorithms import Case
from contracts import through_a_file
from internals import stored
from matrices import continuous_problem, csr32
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from states import fingerprint

from onlinecls import AROWClassifier, CommitteeClassifier, PassiveAggressiveClassifier, merge

COSTS = {k: np.round(np.random.default_rng(k).exponential(2.0, (k, k)), 3) * (1 - np.eye(k)) for k in (2, 3, 5)}
COSTS[3][1, 0] = 0.0  # (a mistake that costs nothing: the margin is to be 0)
CASES = [
    Case("pa1", {"C": 0.3}), Case("pa1", {"C": inf, "margin": 2.5}), Case("pa2", {"C": 0.3}), Case("arow", {"r": 0.5}),
    Case("arow", {"r": 0.5, "covariance": "full"}), Case("arow", {"r": 0.5, "forgetting": 0.01}),
]
every_case = pytest.mark.parametrize("case", CASES, ids=str)


def problem(k, n=90):
    X, y = continuous_problem(n, 13, seed=k, n_classes=k)
    return X, np.maximum(y, 0)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("k", COSTS)
@every_case
def test_the_model_is_that_of_the_slow_twin(case, k, dtype):
    X, y = problem(k)
    X = X.astype(dtype)
    if k == 2:
        twin = case.binary(X.astype(float), 2 * y - 1, cost=COSTS[2])
    else:
        twin = case.multiclass(X.astype(float), y, k, cost=COSTS[k])
    learner = case.estimator(fit_intercept=False, cost=COSTS[k]).partial_fit(csr32(X), y, classes=range(k))
    W, Sigma = (twin.w if k == 2 else twin.W), twin.Sigma
    tolerance = 1e-10 if dtype == "float64" else 2e-4
    assert_allclose(learner.coef_, np.atleast_2d(W), rtol=tolerance, atol=tolerance * np.abs(W).max())
    if Sigma is not None:
        assert_allclose(learner.covariance_, Sigma.reshape(learner.covariance_.shape), rtol=10 * tolerance, atol=tolerance)


def test_a_step_gives_the_row_the_margin_of_the_pair_of_largest_loss():
    """JMLR 2006, 6, by hand: x = (3, 4), rho(0, r) = (0, 4, 9). From w = 0 the rival is 2, tau = 3 / (2 * 25); then the margin
    against 2 is 3, that against 1 3/2, its loss 2 - 3/2: tau = (1/2) / 50."""
    learner = PassiveAggressiveClassifier(inf, cost=[[0, 4, 9], [1, 0, 1], [1, 1, 0]], multi_class="crammer_singer",
                                          fit_intercept=False)
    learner.partial_fit([[3.0, 4.0]], [0], classes=[0, 1, 2])
    assert_allclose(learner.coef_, np.outer([3 / 50, 0, -3 / 50], [3, 4]), atol=1e-15)
    learner.partial_fit([[3.0, 4.0]], [0])
    assert_allclose(learner.coef_, np.outer([3 / 50 + 1 / 100, -1 / 100, -3 / 50], [3, 4]), atol=1e-15)
    assert learner.n_updates_ == 2 and learner.n_mistakes_ == 0  # (equal scores predict class 0)
    binary = PassiveAggressiveClassifier(inf, cost=[[0, 4], [9, 0]], fit_intercept=False)
    for label, margin in ((1, 3.0), (0, -2.0)):
        assert_allclose(binary.partial_fit([[3.0, 4.0]], [label], classes=[0, 1]).decision_function([[3.0, 4.0]]), margin)


@pytest.mark.parametrize("k", [2, 5])
@pytest.mark.parametrize("case", [*CASES, Case("pa1", {"C": 1e-18})], ids=str)  # (1 + a score so small is 1)
def test_costs_of_1_change_no_bit(case, k):
    X, y = problem(k, 300)
    ones = 1.0 - np.eye(k)
    plain, same = (case.estimator(cost=cost).partial_fit(X, y, classes=range(k)) for cost in (None, ones))
    assert fingerprint(plain) == fingerprint(same)
    assert_array_equal(case.estimator(cost=ones, random_state=0).fit(X, y).coef_, case.estimator(random_state=0).fit(X, y).coef_)


@every_case
def test_rows_are_learnt_alike_in_one_call_and_in_many_and_through_a_file(case):
    X, y = problem(5, 120)
    whole = case.estimator(cost=COSTS[5].tolist()).partial_fit(X, y, classes=range(5))
    parts = case.estimator(cost=COSTS[5])
    for start in range(0, 120, 7):  # (small calls too)
        parts.partial_fit(csr32(X[start : start + 7]) if start % 2 else X[start : start + 7], y[start : start + 7], range(5))
        if start == 49:
            parts = through_a_file(parts)
            assert isinstance(parts.cost, np.ndarray) and (parts.cost == COSTS[5]).all() and parts.cost.dtype == float
    if "covariance" in case.params:
        assert_allclose(whole.coef_, parts.coef_, rtol=1e-9)
    else:
        assert_array_equal(whole.coef_, parts.coef_)
    assert through_a_file(whole).cost == whole.cost and stored(through_a_file(whole)).keys() == stored(whole).keys()


def test_dear_mistakes_become_rare():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 6000)
    X = rng.normal(size=(6000, 8)) + 1.2 * np.eye(8)[y]
    costs = np.array([[0, 10.0, 1], [1, 0, 1], [1, 1, 0]])
    for cls in (PassiveAggressiveClassifier, AROWClassifier):
        found = {}
        for cost in (None, costs):
            learner = cls(multi_class="crammer_singer", cost=cost, average=True).partial_fit(X[:4000], y[:4000], classes=range(3))
            predicted = learner.predict(X[4000:])
            found[cost is None] = costs[y[4000:], predicted].mean(), np.mean((y[4000:] == 0) & (predicted == 1))
        assert found[False][0] < 0.9 * found[True][0] and found[False][1] < 0.7 * found[True][1]


def test_copies_keep_costs_and_merging_compares_them():
    X, y = problem(3)
    learner = AROWClassifier(cost=COSTS[3], multi_class="crammer_singer").fit(X, y)
    assert_array_equal(clone(learner).cost, COSTS[3])
    assert_array_equal(merge([learner, clone(learner).fit(X, y)]).cost, COSTS[3])
    with pytest.raises(ValueError, match="AROWClassifier: merge must have models of the same cost, got cost=array"):
        merge([learner, clone(learner).set_params(cost=2 * COSTS[3]).fit(X, y)])


WRONG = [
    ({"cost": [[0, 1], [1, 1]]}, "cost must be 0 where a class is predicted that is the true one, got 1 in row and column 1"),
    ({"cost": [[0, -1], [1, 0]]}, "cost must be of finite numbers >= 0, got -1 in row 0, column 1"),
    ({"cost": [[0, inf], [1, 0]]}, "cost must be of finite numbers >= 0, got inf in row 0, column 1"),
    ({"cost": [[0, 1, 1], [1, 0, 1]]}, "cost must be a square array, with a row and a column for each class, got shape"),
    ({"cost": "balanced"}, "cost must be numbers"),
    ({"cost": [[0, 1], [1, 0]]}, "cost must have a row and a column for each of 3 classes, sorted, got shape"),
    ({"cost": COSTS[3], "multi_class": "ovr"}, "cost must have multi_class='crammer_singer' for three classes or more"),
]


@pytest.mark.parametrize("params, problem_of", WRONG, ids=[text[:50] for _, text in WRONG])
def test_wrong_costs_are_refused_before_anything_is_learnt(params, problem_of):
    X, y = problem(3)
    for learn in (lambda learner: learner.fit(X, y), lambda learner: learner.partial_fit(X, y, classes=range(3))):
        fresh = AROWClassifier(**{"multi_class": "crammer_singer", **params})
        with pytest.raises(ValueError, match=f"AROWClassifier: {problem_of}"):
            learn(fresh)
        assert not hasattr(fresh, "classes_")
    known = AROWClassifier(multi_class=params.get("multi_class", "crammer_singer")).partial_fit(X, y, classes=range(3))
    before = fingerprint(known)
    with pytest.raises(ValueError, match=problem_of):
        known.set_params(**params).partial_fit(X[:1], y[:1])
    assert fingerprint(known.set_params(cost=None)) == before


def test_costs_need_known_classes_and_one_loss_for_all():
    X, y = problem(3)
    with pytest.raises(ValueError, match="AROWClassifier: partial_fit with cost must have classes"):
        AROWClassifier(multi_class="crammer_singer", cost=COSTS[3]).partial_fit(X, y)
    with pytest.raises(ValueError, match="cost must be None with loss_tol, got cost=array"):
        PassiveAggressiveClassifier(loss_tol=0.1, cost=COSTS[2], multi_class="crammer_singer").fit(X, y)
    member = AROWClassifier(multi_class="crammer_singer", cost=COSTS[3])
    with pytest.raises(ValueError, match=r"CommitteeClassifier: members must .* with costs"):
        CommitteeClassifier([member]).fit(X, y)


def test_the_margin_of_a_pair_is_the_root_of_its_cost():
    """Two costs that differ by a factor of 4 are the margins m and 2m: the models of margin= say the same."""
    X, y = problem(3, 200)
    ones = 1.0 - np.eye(3)
    by_cost, by_margin = (
        PassiveAggressiveClassifier(inf, multi_class="crammer_singer", margin=margin, cost=cost, intercept_scaling=1.0)
        .partial_fit(X, y, classes=range(3)) for margin, cost in ((1.0, 4 * ones), (sqrt(4.0), None)))
    assert_array_equal(by_cost.coef_, by_margin.coef_)


def test_the_weight_of_a_class_multiplies_the_margin_of_each_pair():
    """The margin against a class that it costs nothing to predict stays 0."""
    X, y = np.eye(3) * 2.0, [0, 1, 2]
    cost = [[0.0, 4.0, 0.0], [4.0, 0.0, 4.0], [0.0, 4.0, 0.0]]
    params = {"cost": cost, "class_weight": {0: 100.0, 1: 1.0, 2: 1.0}, "multi_class": "crammer_singer", "fit_intercept": False}
    scores = PassiveAggressiveClassifier(np.inf, **params).fit(X, y).decision_function(X)
    diagonal, full = (AROWClassifier(0.1, covariance=form, random_state=0, **params).fit(X, y) for form in ("diagonal", "full"))
    assert_allclose(full.coef_, diagonal.coef_, atol=1e-12)  # (rows have no column in common)
    assert scores[0, 0] - scores[0, 1] == pytest.approx(20.0, rel=0.01) and scores[0, 0] - scores[0, 2] < 19.0
    two = {"fit_intercept": False, "class_weight": {1: 100.0}}
    rows, labels = np.eye(2), [0, 1]
    models = [PassiveAggressiveClassifier(np.inf, **two, **of) for of in ({"cost": [[0, 100], [100, 0]]}, {"margin": 10.0})]
    by_cost, by_margin = (model.partial_fit(rows, labels, classes=[0, 1]).decision_function(rows) for model in models)
    assert by_cost.tolist() == by_margin.tolist() == [-10.0, 100.0]
