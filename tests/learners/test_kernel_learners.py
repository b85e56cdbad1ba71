"""The kernel learners against their twins and the linear learners. (Their contracts: contracts.py.)"""

from itertools import product

import numpy as np
import pytest
from internals import Kernel
from matrices import continuous_problem
from reference import MODELS, Dual, features, run_multiclass, run_stream
from scipy.sparse import csr_matrix, issparse
from states import fingerprint

import onlinecls
from onlinecls import KernelOnlineClassifier, KernelOnlineRegressor

# estimator's parameters, the twin's name and parameters
CASES = {
    "perceptron": ({"algorithm": "perceptron", "eta0": 0.75}, "perceptron", {"eta0": 0.75}),
    "aggressive perceptron": (
        {"algorithm": "perceptron", "eta0": 0.375, "aggressive": True}, "aggressive_perceptron", {"eta0": 0.375}),
    "pa1": ({"algorithm": "pa", "C": 0.02}, "pa1", {"C": 0.02}),
    "pa": ({"algorithm": "pa", "C": float("inf")}, "pa1", {"C": float("inf")}),
    "pa2": ({"algorithm": "pa", "C": 0.05, "loss": "squared_hinge"}, "pa2", {"C": 0.05}),
    "sop": ({"algorithm": "sop", "r": 2.0}, "sop", {"r": 2.0}),
    "aggressive sop": ({"algorithm": "sop", "r": 0.7, "aggressive": True}, "aggressive_sop", {"r": 0.7}),
    "arow": ({"algorithm": "arow", "r": 0.5}, "arow", {"r": 0.5}),
}
every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)
both_constructions = pytest.mark.parametrize("multi_class", ["ovr", "crammer_singer"])


def full(case):
    """The twin's parameters, with the full covariance where it has one."""
    return {**case[2], **({"covariance": "full"} if case[0]["algorithm"] in ("arow", "sop") else {})}


def rows_without_ties(n, n_classes=2, seed=0, d=9):
    """Rows, none of them empty: a constant feature alone makes scores of exactly 0 but for rounding."""
    X, y = continuous_problem(n, d, seed, n_classes)
    keep = np.abs(X).sum(axis=1) > 0
    return X[keep], y[keep]


def close(a, b, tolerance=1e-10):
    np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


@every_case
@both_constructions
def test_any_kernel_is_the_linear_learner_on_its_features(case, multi_class, monkeypatch):
    """Rows with inner products G are what the twin sees: nothing but G can matter (Lemma 1). Labels that join start from zero."""
    for twin_class in type(MODELS[case[1]](1, 3, **full(case)).learners[0]).__mro__:
        if "joins_as_none" in twin_class.__dict__:
            monkeypatch.setattr(twin_class, "joins_as_none", False)
    X, y = rows_without_ties(80, n_classes=4)
    G = np.exp(-0.2 * ((X[:, None] - X) ** 2).sum(axis=2)) + 0.25
    weights = np.random.default_rng(1).choice([0.0, 0.5, 1.0, 3.0], len(y))
    twin = run_stream(case[1], features(G), y, multi_class=multi_class, weights=weights, **full(case))
    learner = KernelOnlineClassifier(gamma=0.2, intercept_scaling=0.5, multi_class=multi_class, **case[0])
    learner.partial_fit(X, y, sample_weight=weights)
    close(learner.decision_function(X), features(G) @ twin.W.T, 1e-8)
    assert (learner.n_mistakes_, learner.classes_.tolist(), learner.t_) == (twin.n_mistakes, twin.classes, np.sum(weights > 0.0))
    closed = run_multiclass(case[1], features(G), y, 4, multi_class=multi_class, **full(case))
    learner = KernelOnlineClassifier(gamma=0.2, intercept_scaling=0.5, multi_class=multi_class, **case[0])
    learner.partial_fit(X, y, classes=[0, 1, 2, 3])
    close(learner.decision_function(X), features(G) @ closed.W.T, 1e-8)


def test_the_conservative_second_order_perceptron_looks_at_what_each_class_knows():
    """Each class has a covariance of its own, so that a row may have m > 0 and still m' <= 0."""
    X, y = rows_without_ties(150, n_classes=4)
    y = np.random.default_rng(3).permutation(y)
    twin = run_multiclass("sop", X, y, 4, multi_class="crammer_singer", r=0.2, covariance="full", fit_intercept=False)
    learner = KernelOnlineClassifier("sop", kernel="linear", r=0.2, multi_class="crammer_singer", fit_intercept=False)
    learner.partial_fit(X, y, classes=[0, 1, 2, 3])
    close(learner.coef_, twin.W, 1e-8)
    assert learner.n_updates_ == twin.n_updates


@pytest.mark.parametrize("params, name", [
    ({"algorithm": "pa", "C": 0.3, "epsilon": 0.05}, "pa1"),
    ({"algorithm": "pa", "C": 0.4, "epsilon": 0.05, "loss": "squared_epsilon_insensitive"}, "pa2"),
    ({"algorithm": "pa", "C": float("inf"), "epsilon": 0.0}, "pa1"),
    ({"algorithm": "arow", "r": 0.3}, "arow"),
])
@pytest.mark.parametrize("budget", [None, 12])
def test_a_kernel_regressor_equals_its_dual_twin(params, name, budget):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3))
    y = np.sin(X[:, 0]) + 0.1 * rng.standard_normal(200)
    weights = rng.choice([0.5, 1.0, 2.0], 200)
    G = np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2)) + 1.0
    twin = Dual(name, G, **{key: value for key, value in params.items() if key in ("C", "epsilon", "r")},
                budget=budget or np.inf, project=budget is not None and name == "arow")
    for i in range(200):
        twin.regress(i, y[i], weights[i])
    learner = KernelOnlineRegressor(gamma=0.5, budget=budget, intercept_scaling=1.0, **params)
    learner.partial_fit(X, y, sample_weight=weights)
    close(learner.predict(X), G[:, twin.S] @ twin.a, 1e-7)
    assert (learner.n_dropped_, learner.n_updates_) == (twin.n_dropped, twin.n_updates)
    close(learner.score(X, y), 1 - ((y - learner.predict(X)) ** 2).sum() / ((y - y.mean()) ** 2).sum())


def test_recursive_least_squares_is_ridge_regression():
    """After any rows, with r = lambda: the minimiser of sum (y - w.x)^2 + lambda ||w||^2. (A residual of 0, as the first one has,
    moves no weight, but the covariance.)"""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 4)), np.append(0.0, rng.standard_normal(59))
    learner = KernelOnlineRegressor("arow", kernel="linear", r=0.8, fit_intercept=False).partial_fit(X, y)
    close(learner.coef_[0], np.linalg.solve(X.T @ X + 0.8 * np.eye(4), X.T @ y), 1e-9)
    assert learner.n_updates_ == 60


@every_case
@pytest.mark.parametrize("budget", [1, 7, 20])
def test_a_kernel_classifier_under_a_budget_equals_its_dual_twin(case, budget):
    if case[1] == "aggressive_perceptron":
        return
    X, y = rows_without_ties(150, d=4)
    second_order = case[0]["algorithm"] in ("arow", "sop")
    kernel = "rbf" if second_order else "poly"  # whose k(x, x) differ
    G = np.exp(-0.1 * ((X[:, None] - X) ** 2).sum(axis=2)) if second_order else (0.1 * X @ X.T) ** 3
    G += 1.0
    twin = Dual(case[1], G, budget=budget, project=second_order, **case[2])
    for i in range(len(y)):
        twin.classify(i, y[i])
    learner = KernelOnlineClassifier(kernel=kernel, gamma=0.1, budget=budget, **case[0]).partial_fit(X, y, classes=[-1, 1])
    assert learner.n_support_ == budget == len(learner.support_vectors_) and learner.n_dropped_ == twin.n_dropped > 0
    close(learner.decision_function(X), G[:, twin.S] @ twin.a, 1e-6)
    assert learner.n_mistakes_ == twin.n_mistakes


def test_support_vectors_are_stored_as_the_first_rows_are():
    X, y = continuous_problem(90, 6, 0, n_classes=3)
    make = lambda: KernelOnlineClassifier("arow", kernel="poly", gamma=0.2, budget=20)  # noqa: E731
    found = make().partial_fit(X, y)
    for one, other in ((np.asarray, csr_matrix), (csr_matrix, np.asarray)):
        mixed = make().partial_fit(one(X[:40]), y[:40]).partial_fit(other(X[40:]), y[40:])
        assert issparse(mixed.support_vectors_) == (one is csr_matrix)
        close(mixed.decision_function(X), found.decision_function(X), 1e-9)


def test_rows_of_zeros_make_no_support_vectors():
    learner = KernelOnlineClassifier("arow", kernel="linear", fit_intercept=False)
    learner.partial_fit(np.zeros((3, 2)), [0, 1, 0], classes=[0, 1])
    assert (learner.t_, learner.n_updates_, learner.n_skipped_, learner.n_support_) == (3, 0, 0, 0)
    assert learner.decision_function([[1.0, 1.0]]).tolist() == [0.0] and learner.coef_.tolist() == [[0.0, 0.0]]
    regressor = KernelOnlineRegressor(kernel="linear", fit_intercept=False).partial_fit(np.zeros((3, 2)), [1.0, 2.0, 3.0])
    assert (regressor.t_, regressor.n_updates_) == (3, 0) and regressor.predict([[0.0, 1.0]]).tolist() == [0.0]


@pytest.mark.parametrize("algorithm", ["arow", "pa"])
def test_epochs_of_fit_do_not_repeat_support_vectors(algorithm):
    X, y = rows_without_ties(150, n_classes=3)
    for budget in (30, None):
        learner = KernelOnlineClassifier(algorithm, gamma=0.3, budget=budget, max_iter=4, tol=None, random_state=0).fit(X, y)
        assert len(np.unique(learner.support_vectors_, axis=0)) == len(learner.support_vectors_) == learner.n_support_
    stream, order = KernelOnlineClassifier(algorithm, gamma=0.3), np.random.RandomState(0)
    for _ in range(4):
        taken = order.permutation(len(y))
        stream.partial_fit(X[taken], y[taken], classes=[0, 1, 2])
    close(learner.decision_function(X), stream.decision_function(X), 1e-8)
    assert stream.n_support_ > learner.n_support_


@pytest.mark.parametrize("budget", [None, 15])
@pytest.mark.parametrize("algorithm", ["arow", "pa"])
@pytest.mark.parametrize("kernel", ["rbf", lambda A, B: np.exp(-0.3 * ((A[:, None] - B) ** 2).sum(axis=2))], ids=["rbf", "own"])
def test_rows_of_another_fit_are_others(kernel, algorithm, budget):
    """With `warm_start` the rows of the fit before have the same numbers as those of this one."""
    X, y = (part[:160] for part in rows_without_ties(200))
    options, order = dict(kernel=kernel, gamma=0.3, budget=budget), np.random.RandomState(0).permutation(80)
    learner = KernelOnlineClassifier(algorithm, warm_start=True, max_iter=1, random_state=0, **options).fit(X[:80], y[:80])
    stream = KernelOnlineClassifier(algorithm, **options)
    stream.partial_fit(X[order], y[order], classes=[-1, 1]).partial_fit(X[80:][order], y[80:][order])
    learner.fit(X[80:], y[80:])
    close(learner.decision_function(X), stream.decision_function(X), 1e-8)
    assert (learner.n_support_, learner.n_dropped_, learner.t_) == (stream.n_support_, stream.n_dropped_, 160)


def test_a_precomputed_kernel_gives_the_model_of_its_rows():
    X, y = rows_without_ties(90, n_classes=3)
    G = np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(axis=2))
    for options in ({}, {"budget": 15}, {"early_stopping": True}):
        shared = dict(algorithm="arow", random_state=0, max_iter=3, **options)
        expected, learner = KernelOnlineClassifier(gamma=0.3, **shared), KernelOnlineClassifier(kernel="precomputed", **shared)
        close(learner.fit(G, y).decision_function(G), expected.fit(X, y).decision_function(X), 1e-8)
        assert (X[learner.support_] == expected.support_vectors_).all()
        close(learner.partial_fit(G, y).decision_function(G), expected.partial_fit(X, y).decision_function(X), 1e-8)
    stream, expected = KernelOnlineClassifier(kernel="precomputed"), KernelOnlineClassifier(gamma=0.3)
    close(stream.partial_fit(G, y).partial_fit(G, y).decision_function(G),
          expected.partial_fit(X, y).partial_fit(X, y).decision_function(X), 1e-8)
    with pytest.raises(AttributeError, match="a precomputed kernel has no support_vectors_"):
        learner.support_vectors_  # noqa: B018
    for rows in (G[:, :-1], csr_matrix(G)):
        with pytest.raises(ValueError, match="X must be a dense square matrix for kernel='precomputed'"):
            KernelOnlineClassifier(kernel="precomputed").fit(rows, y)
    with pytest.raises(ValueError, match=f"{len(X) - 1} features, but"):
        learner.predict(G[:, :-1])


def test_gamma_comes_from_the_rows_or_must_be_given():
    X, y = rows_without_ties(60)
    assert KernelOnlineClassifier(gamma="auto").partial_fit(X, y).gamma_ == 1 / 9
    for store in (np.asarray, csr_matrix):
        learner = KernelOnlineClassifier(gamma="scale").fit(store(X), y)
        close(learner.gamma_, 1 / (9 * X.var()))
        learner.partial_fit(store(X), y)  # known by now
    with pytest.raises(ValueError, match="gamma must be a number or 'auto' for partial_fit, got gamma='scale'"):
        KernelOnlineClassifier(gamma="scale").partial_fit(X, y)


class Spoiled:
    """A kernel whose call number `at` gives a wrong result."""

    def __init__(self, at, wrong):
        self.at, self.wrong, self.calls = at, wrong, 0

    def __call__(self, A, B):
        K = np.exp(-0.1 * ((A[:, None] - B) ** 2).sum(axis=2))
        self.calls += 1
        return self.wrong(K) if self.calls == self.at else K


def with_nan(K):
    K[0, -1] = np.nan
    return K


@pytest.mark.parametrize("cls", [KernelOnlineClassifier, KernelOnlineRegressor])
@pytest.mark.parametrize("wrong, message", [
    (with_nan, "kernel must return finite numbers"),
    (lambda K: K[:-1], r"finite numbers, an array of shape \(\d+, (\d+)\) for .* got shape \(\d+, \1\)"),
    (lambda K: "no", "what kernel returns must be numbers")])
def test_a_kernel_that_fails_changes_nothing(cls, wrong, message):
    """The second block of a call: the first has been learnt by then, and the model of before comes back."""
    X, y = rows_without_ties(600)
    for method, begun in product(("fit", "partial_fit"), (False, True)):
        kernel = Spoiled(0, wrong)
        learner = cls(kernel=kernel)
        if begun:
            learner.partial_fit(X[:50], y[:50])
        before, kernel.calls, kernel.at = fingerprint(learner), 0, 3 + begun
        with pytest.raises(ValueError, match=message):
            getattr(learner, method)(X, y)
        assert kernel.calls == kernel.at and fingerprint(learner) == before


@pytest.mark.parametrize("multi_class", ["ovr", "crammer_singer"])
@pytest.mark.parametrize("algorithm", ["arow", "pa"])
def test_an_interrupt_before_a_newcomers_first_row_takes_it_out_again(algorithm, multi_class, monkeypatch):
    """Two classes join in one call, the second in a block that never comes."""
    X, y = rows_without_ties(700, 3)
    y[:50], y[50], y[-1] = y[:50] % 2, 2, 3
    new = lambda: KernelOnlineClassifier(algorithm, multi_class=multi_class).partial_fit(X[:50], y[:50])  # noqa: E731
    learner, values, calls = new(), Kernel.values, []

    def interrupt(*arguments, **others):
        calls.append(1)
        if len(calls) == 3:  # (two for each block)
            raise KeyboardInterrupt
        return values(*arguments, **others)

    monkeypatch.setattr(Kernel, "values", interrupt)
    with pytest.raises(KeyboardInterrupt):
        learner.partial_fit(X[50:], y[50:])
    monkeypatch.undo()
    assert 50 < learner.t_ < len(y) and learner.classes_.tolist() == [0, 1, 2]
    twin = new().partial_fit(X[50 : learner.t_], y[50 : learner.t_])
    assert fingerprint(learner) == fingerprint(twin)
    rest = X[learner.t_ :], y[learner.t_ :]
    assert fingerprint(learner.partial_fit(*rest)) == fingerprint(twin.partial_fit(*rest))


def test_a_step_that_lacks_digits_is_left_out():
    for classes, n_updates in ((None, 0), ([0, 1, 2], 1)):  # (of three known classes, the first row's step fits)
        learner = KernelOnlineClassifier("perceptron", gamma=1.0, multi_class="ovr")
        learner.partial_fit([[1.0], [-1.0]], [0, 1], classes=classes, sample_weight=[1.0, 1e-310])
        assert (learner.n_skipped_, learner.n_updates_) == (1, n_updates)


@pytest.mark.parametrize("class_weight", [{-1: 0.5, 1: 7.0}, "balanced"], ids=str)
def test_kernel_learners_weigh_classes_as_linear_ones(class_weight):
    X, y = rows_without_ties(200)
    options = {"fit_intercept": False, "class_weight": class_weight}
    for linear, kernel in (
        (onlinecls.PassiveAggressiveClassifier(0.3, **options), {"algorithm": "pa", "C": 0.3}),
        (onlinecls.PassiveAggressiveClassifier(0.3, loss="squared_hinge", **options),
         {"algorithm": "pa", "C": 0.3, "loss": "squared_hinge"}),
        (onlinecls.Perceptron(True, eta0=0.7, **options), {"algorithm": "perceptron", "aggressive": True, "eta0": 0.7}),
        (onlinecls.AROWClassifier(r=0.8, covariance="full", scale=1.0, **options), {"algorithm": "arow", "r": 0.8})):
        other = KernelOnlineClassifier(kernel="linear", **kernel, **options).partial_fit(X, y)
        close(other.coef_, linear.partial_fit(X, y).coef_, 1e-9)
