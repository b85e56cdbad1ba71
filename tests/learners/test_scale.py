"""The scale of rows (docs/algorithms.md): a row x is learnt as z = x / s, beside a constant feature of value c, and s and c are
those that the first 16 rows tell."""

from contextlib import nullcontext
from functools import partial
from itertools import product

import numpy as np
import pytest
from internals import ALGORITHMS
from looping import each_estimator, within
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

import onlinecls
from onlinecls import AROWClassifier
from onlinecls import PassiveAggressiveClassifier as Classifier
from onlinecls import PassiveAggressiveRegressor as Regressor
from onlinecls.reference import Scale

#: Lengths of rows that move the scale again and again.
LENGTHS = np.ldexp(1.0, [6, 2, 7, 0, 3, 9, 0, 1, 4, 4, 0, 2, 2, 8, 5, 0, 1, 3, 2, 6])
ROWS = [a for a in ALGORITHMS.values() if "experts" not in a.tasks]
P_NORM = {"p": 3.0}  # (of which the default depends on the number of features)


def problem(seed=0, n=60, d=9):
    """Return rows of unlike lengths, some of them zeros, the targets of each task, and weights, some of them 0."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.6)
    score = X @ rng.normal(size=d) + 0.2
    X *= np.resize(LENGTHS, n)[:, None]
    X[[0, 1, 6]] = 0.0
    weights = np.where(rng.random(n) < 0.2, 0.0, 1.0 + rng.integers(0, 3, n))
    return X, {"binary": (score > 0) * 1, "multiclass": np.digitize(score, [-1.0, 1.0]), "regression": score}, weights


def make(algorithm, **options):
    cls = getattr(onlinecls, algorithm.estimator)
    return cls(**{**(P_NORM if cls is onlinecls.PNormPerceptron else {}), **algorithm.selects, **options})


def learnt(model, X, y, weights, **named):
    return model.partial_fit(X, None if y is None else y, sample_weight=weights, **named)


def said_by(model, X):
    return (model.predict if hasattr(model, "progressive_mse_") else model.decision_function)(X)


@within(dtype=["float32", "float64"], multi_class=["ovr", "crammer_singer"])
@each_estimator(algorithm=ROWS)
def test_a_learner_of_x_is_one_of_z_beside_the_constant_feature(algorithm, dtype, multi_class):
    """To the bit, but where ||z||² is summed in another order: the constant feature's square first."""
    X, targets, weights = problem()
    close = {"rtol": 1e-4, "atol": 1e-5} if dtype == "float32" else {"rtol": 1e-10, "atol": 1e-11}
    twin = Scale(limit=44 if dtype == "float32" else 158)  # (of a constant feature before a row has told its value: 0)
    told = [(s, c * (twin.n > 0)) for s, c in map(twin, X.astype(dtype), weights)]
    for task in algorithm.tasks:
        y, one = targets.get(task), task == "one_class"
        if task != "multiclass" and multi_class == "crammer_singer":
            continue
        same = partial(assert_allclose, **close) if task == "multiclass" or "p_norm" in algorithm.name else assert_array_equal
        options = {"multi_class": multi_class} if "multi_class" in make(algorithm).get_params() else {}
        named = {} if y is None or task == "regression" else {"classes": np.unique(y)}
        c = 0.5  # (a regressor whose constant feature is "auto" learns deviations from the targets' level)
        constants = {} if one else {"intercept_scaling": c if task == "regression" else "auto"}
        Z = np.array([np.append(x / s, [] if one else c if task == "regression" else own)
                      for x, (s, own) in zip(X, told, strict=True)])
        model = make(algorithm, scale="auto", dtype=np.dtype(dtype), **constants, **options)
        learnt(model, X.astype(dtype), y, weights, **named)
        twin = make(algorithm, scale=1.0, dtype=np.dtype(dtype), **options, **({} if one else {"fit_intercept": False}))
        learnt(twin, Z.astype(dtype), y, weights, **named)
        s, own = told[-1]
        if one:
            assert model.scale_ == s
            same(model.center_, s * twin.center_)
            same(said_by(model, X), s * said_by(twin, X / s))
            continue
        own = c if task == "regression" else own
        assert (model.scale_, model.intercept_scaling_) == (s, own)
        coef = np.atleast_2d(twin.coef_)
        same(np.atleast_2d(model.coef_), coef[:, :-1] / s)
        same(model.intercept_, coef[:, -1] * own)
        Z = np.column_stack([X / s, np.full(len(X), own)]).astype(dtype)
        same(said_by(model, X.astype(dtype)), said_by(twin, Z))
        if hasattr(model, "covariance_"):
            same(model.covariance_, twin.covariance_[..., :-1] / s**2)


@within(dtype=["float32", "float64"], options=[{}, {"average": True}, {"covariance": "full"}, {"forgetting": 0.01}])
@each_estimator(algorithm=[a for a in ROWS if "binary" in a.tasks])
def test_a_number_as_scale_divides_rows(algorithm, dtype, options):
    if not make(algorithm).get_params().keys() >= options.keys():
        return
    X, targets, weights = problem(1)
    X = (X / np.resize(LENGTHS, len(X))[:, None]).astype(dtype)
    close = {"rtol": 2e-3, "atol": 1e-3} if dtype == "float32" else {"rtol": 1e-9, "atol": 1e-9}
    same = partial(assert_allclose, **close) if "covariance" in options else assert_array_equal
    for task, multi_class in (("binary", "ovr"), ("multiclass", "ovr"), ("multiclass", "crammer_singer")):
        y, given = targets[task], {"intercept_scaling": 0.5, "multi_class": multi_class, **options}
        try:
            model, twin = (learnt(make(algorithm, scale=s, **given), rows, y, weights, classes=np.unique(y))
                           for s, rows in ((8.0, X), (1.0, X / 8)))
        except ValueError:  # parameters that exclude each other
            return
        same(said_by(model, X), said_by(twin, X / 8))
        same(model.coef_, twin.coef_ / 8)
        assert model.n_mistakes_ == twin.n_mistakes_
        if hasattr(model, "covariance_"):
            same(model.covariance_, twin.covariance_ / 64)
            same(model.decision_function(X, return_std=True)[1], twin.decision_function(X / 8, return_std=True)[1])


@within(dtype=["float32", "float64"])
@each_estimator(algorithm=ROWS)
def test_rows_times_a_power_of_two_give_the_same_predictions_to_the_bit(algorithm, dtype):
    X, targets, weights = problem(2)
    for task in algorithm.tasks:
        y, said = targets.get(task), []
        for k in (0, -20, 17):
            Z, model = np.ldexp(X, k).astype(dtype), make(algorithm, scale="auto")
            for part in (slice(0, 5), slice(5, 30), slice(30, None)):
                learnt(model, Z[part], None if y is None else y[part], weights[part])
            said.append((np.ldexp(model.scale_, -k), np.ldexp(said_by(model, Z), -k if task == "one_class" else 0)))
        for scale, found in said[1:]:
            assert scale == said[0][0]
            assert_array_equal(found, said[0][1])


def test_weights_to_start_from_are_those_of_x():
    X, targets, _ = problem()
    zeros, unlike = 0.0 * X, np.diag([1.0] * 6 + [1e6] * 3)[:7]  # (three epochs of 7 rows: more than the scale is told by)
    for rows, scale in ((X, 1.0), (X, "auto"), (X, 3.0), (zeros, 1.0), (zeros, "auto"), (unlike, "auto")):
        for (task, cls), constant in product({"binary": Classifier, "regression": Regressor}.items(), ("auto", 0.3)):
            learner, y = cls(1e-300, scale=scale, intercept_scaling=constant, max_iter=3, random_state=0), targets[task]
            learner.fit(rows, y[: len(rows)], coef_init=np.arange(9.0), intercept_init=[5.0])
            assert_allclose(learner.intercept_, [5.0], rtol=1e-12)
            learner.partial_fit(unlike * 1e3, y[:7])
            assert_allclose(np.ravel(learner.coef_), np.arange(9.0), rtol=1e-12, atol=1e-290)


@pytest.mark.filterwarnings("error")
def test_columns_of_unlike_sizes_are_told_in_the_first_call_alone():
    X = np.random.default_rng(1).choice([-1.0, 0.0, 1.0], (40, 3))
    for *sizes, unlike in ((1, 1, 101, True), (1e-9, 0, 1, True), (1, 1, 1e20, True), (1, 0, 99, False), (0, 0, 1e9, False)):
        for cls in (AROWClassifier, Regressor, onlinecls.KernelOnlineClassifier):
            learner, rows, y = cls(), X * sizes, np.arange(40) % 2
            for method, message in (("partial_fit", "columns of a dense X .*TableVectorizer.*StandardScaler"), ("fit", None)):
                with pytest.warns(UserWarning, match=message) if unlike and message else nullcontext():
                    getattr(learner, method)(rows, y)
            cls().partial_fit(csr_array(rows), y).partial_fit(rows, y)
            cls().partial_fit([sizes], y[:1])


def test_an_intercept_beyond_the_dtype_is_its_largest_number():
    learner = onlinecls.PassiveAggressiveRegressor(C=np.inf)
    learner.partial_fit(np.full((1, 2), 200.0), [5e299]).partial_fit([[200.0, 0.0]], [-5e299])
    with np.errstate(over="raise"):
        learner.partial_fit(np.full((1, 2), 1e154), [0.5])
        assert np.isfinite(learner.intercept_).all()


def test_one_row_tells_the_nearest_power_of_two():
    for row, scale, constant in (([3.0, 4.0], 4.0, 1.0), ([0.0, 0.7], 0.5, 1.0), ([1.0, 0.0], 1.0, 1.0),
                                 ([1.0] * 100, 8.0, 0.125), ([0.72, 0.0], 1.0, 1.0), ([0.7, 0.0], 0.5, 1.0)):
        learner = AROWClassifier().partial_fit([row], [1], classes=[0, 1])
        assert (learner.scale_, learner.intercept_scaling_) == (scale, constant), row
    zeros = AROWClassifier().partial_fit(np.zeros((16, 2)), np.arange(16) % 2)
    assert np.isnan(zeros.scale_) and np.isnan(zeros.intercept_scaling_)
    assert zeros.partial_fit([[3.0, 4.0]] * 16 + [[1e30, 0.0]], [1] * 17).scale_ == 4.0
    assert AROWClassifier(scale=3.0).partial_fit([[3.0, 4.0]], [1], classes=[0, 1]).intercept_scaling_ == 1.0


def test_a_full_covariance_learns_the_first_rows_one_by_one():
    X, targets, _ = problem()
    model, single = (AROWClassifier(covariance="full") for _ in "ab")
    model.partial_fit(X, targets["binary"])
    for x, label in zip(X, targets["binary"], strict=True):
        single.partial_fit([x], [label], classes=[0, 1])
    assert_allclose(model.coef_, single.coef_, 1e-9)
