"""Rows far from the origin are learnt less their columns' means: few columns, few zeros in the first 16 rows."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

import onlinecls
from onlinecls import AROWClassifier, NAROWClassifier, PassiveAggressiveClassifier, merge

FIRST = 16
LEARNERS = [onlinecls.Perceptron, PassiveAggressiveClassifier, AROWClassifier, NAROWClassifier, onlinecls.AdaGradClassifier,
            onlinecls.OGDClassifier, onlinecls.PNormPerceptron, onlinecls.DualAscentClassifier,
            onlinecls.MultiplicativePassiveAggressiveClassifier]
each_learner = pytest.mark.parametrize("cls", LEARNERS, ids=lambda cls: cls.__name__)


def far_rows(n=60, d=4, n_classes=3, seed=0):
    generator = np.random.default_rng(seed)
    y = generator.integers(0, n_classes, n)
    return generator.standard_normal((n, d)) + 0.5 * y[:, None] + [40.0, 7.0, 3.0, 9.0][:d], y


def explicit(learner):
    """Return an unfitted learner whose parameters are the numbers that this one has learnt with: it leaves rows as they are."""
    given = learner.get_params()
    names = [name for name, value in given.items() if value in ("auto", None) and hasattr(learner, f"{name}_")]
    return type(learner)(**{**given, **{name: getattr(learner, f"{name}_") for name in names}})


@each_learner
def test_fit_takes_the_mean_of_all_rows_from_each(cls):
    X, y = far_rows()
    learner = cls(shuffle=False, max_iter=2).fit(X, y)
    twin = explicit(learner).fit(X - X.mean(axis=0), y)
    assert_allclose(learner.coef_, twin.coef_, rtol=1e-9, atol=1e-12)
    assert_allclose(learner.decision_function(X), X @ learner.coef_.T + learner.intercept_, rtol=1e-6, atol=1e-9)
    assert_allclose(learner.decision_function(X), twin.decision_function(X - X.mean(axis=0)), rtol=1e-6, atol=1e-9)
    larger = cls(shuffle=False, max_iter=2).fit(X * 2.0**9, y)
    assert (learner.predict(X) == larger.predict(X * 2.0**9)).all()


@each_learner
def test_partial_fit_takes_the_mean_of_the_first_rows(cls):
    X, y = far_rows()
    learner, mean = cls().partial_fit(X, y, classes=range(3)), X[:FIRST].mean(axis=0)
    twin = explicit(learner).partial_fit(X - mean, y, classes=range(3))
    assert_allclose(learner.coef_, twin.coef_, rtol=1e-9, atol=1e-12)
    assert learner.scale_ == cls().partial_fit(X[:FIRST] - mean, y[:FIRST]).scale_, "the unit is that of such rows"
    if hasattr(learner, "covariance_"):
        found, expected = learner.decision_function(X, return_std=True), twin.decision_function(X - mean, return_std=True)
        assert_allclose(found[1], expected[1], rtol=1e-6)
    young = cls().partial_fit(X[: FIRST - 1], y[: FIRST - 1], classes=range(3))
    twin = explicit(young).partial_fit(X[: FIRST - 1], y[: FIRST - 1], classes=range(3))
    assert (young.coef_ == twin.coef_).all(), "a young model leaves rows as they are"


def test_rows_whose_units_stay_the_same_are_learnt_again_too():
    generator = np.random.default_rng(0)
    X, y = 2.0 * (generator.standard_normal((60, 4)) + 1.1), generator.integers(0, 2, 60)
    young = AROWClassifier().partial_fit(X[: FIRST - 1], y[: FIRST - 1])
    learner = AROWClassifier().partial_fit(X, y)
    assert (young.scale_, young.intercept_scaling_) == (learner.scale_, learner.intercept_scaling_) and learner._units.centre
    twin = explicit(learner).partial_fit(X - X[:FIRST].mean(axis=0), y)
    assert_allclose(learner.coef_, twin.coef_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("covariance", ["diagonal", "full"])
@pytest.mark.parametrize("average", [False, True])
def test_calls_storage_and_files_make_no_difference(average, covariance, tmp_path):
    X, y = far_rows(90)
    X[[2, 7, 17, 40, 61], [1, 3, 2, 0, 3]] = 0.0
    other = sparse.csr_array(X)
    learner = AROWClassifier(average=average, covariance=covariance)
    whole = pickle.loads(pickle.dumps(learner)).partial_fit(X, y)
    for rows in (X, other):
        parts = pickle.loads(pickle.dumps(learner))
        for start, stop in ((0, 5), (5, 17), (17, 18), (18, 19), (19, 60), (60, 61), (61, 62), (62, 90)):
            parts.partial_fit(rows[start:stop], y[start:stop])
            if stop in (5, 17, 61):
                parts.save(tmp_path / "model")
                parts = onlinecls.load(tmp_path / "model")
        tolerance = 1e-10 if covariance == "full" else 0.0
        assert_allclose(parts.coef_, whole.coef_, rtol=tolerance)
        assert_allclose(parts.decision_function(X), whole.decision_function(other), rtol=tolerance, atol=tolerance)
        assert_allclose(parts.decision_function(X[:1], return_std=True)[1], whole.decision_function(other[:1], True)[1],
                        rtol=tolerance)
    fitted = [pickle.loads(pickle.dumps(learner)).set_params(random_state=0).fit(rows, y) for rows in (X, other)]
    assert_allclose(fitted[0].coef_, fitted[1].coef_, rtol=tolerance)


def test_which_rows_are_far():
    X, y = far_rows(40)
    wide = np.random.default_rng(1).standard_normal((40, 301)) + 9.0
    few, many = X.copy(), X.copy()  # of 64 numbers, 6 and 7 zeros
    few[3:9, 2] = many[3:10, 2] = 0.0
    near, equal = X - X.mean(axis=0) + 0.3, np.full((40, 3), 0.1)
    for rows, is_far in ((X, True), (wide[:, :300], True), (wide, False), (few, True), (many, False), (near, False),
                         (equal, False)):
        for learner in (AROWClassifier().fit(rows, y), AROWClassifier().partial_fit(rows, y)):
            assert bool(learner._units.centre) == is_far
    for learner in (AROWClassifier(intercept_scaling=1.0), AROWClassifier(fit_intercept=False), onlinecls.AROWRegressor(),
                    PassiveAggressiveClassifier(loss_tol=100.0)):
        assert not learner.fit(X, y == 1)._units.centre


def test_given_weights_are_those_of_rows_as_they_stand():
    X, y = far_rows(n_classes=2)
    coef, intercept = np.array([[1.0, 2.0, 3.0, -4.0]]), np.array([5.0])
    learner = PassiveAggressiveClassifier(C=1e-9).fit(X, y, coef_init=coef, intercept_init=intercept)
    assert_allclose(learner.decision_function(X), X @ coef[0] + 5.0, rtol=1e-5)
    learner.set_params(warm_start=True).fit(X, y, coef_init=-coef)
    assert_allclose(learner.decision_function(X), -X @ coef[0] + 5.0, rtol=1e-5)


def test_parts_with_other_means_are_not_merged():
    X, y = far_rows(400)
    models = [AROWClassifier().partial_fit(X[part], y[part]) for part in (slice(0, 200), slice(200, 400))]
    assert models[0]._units.centre != models[1]._units.centre
    assert_allclose(merge([models[0], AROWClassifier().partial_fit(X[:0], y[:0], classes=range(3))]).decision_function(X),
                    models[0].decision_function(X))
    with pytest.raises(ValueError, match=r"AROWClassifier: merge must have models .* rows less the same means"):
        merge(models)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_at_the_ends_of_the_range_have_scores(dtype):
    X, y = far_rows()
    learner = AROWClassifier().partial_fit(X.astype(dtype), y)
    ends = np.finfo(dtype).max * np.array([[1, 0, 0, 0], [-1, 1, -1, 1]], dtype)
    assert not np.isnan(learner.decision_function(ends)).any()
    with pytest.warns(UserWarning, match="2 rows whose updates"):
        learner.partial_fit(ends, [0, 1])
    assert np.isfinite(learner.coef_).all() and np.isfinite(learner.intercept_).all()
    huge = (X / 100.0 * np.finfo(dtype).max).astype(dtype)
    assert np.isfinite(AROWClassifier().partial_fit(huge, y).coef_).all()
    assert np.isfinite(AROWClassifier().fit(huge, y).coef_).all()


@pytest.mark.parametrize("name", sorted(name for name in onlinecls.__all__ if name.endswith(("Classifier", "Perceptron"))))
def test_what_many_type_first(name):
    """scikit-learn's tests of its online learners have a floor of 0.8 on iris as it stands, with averages too."""
    datasets = pytest.importorskip("sklearn.datasets")
    if name == "HedgeClassifier":  # (rows are advice in [0, 1], and classes two)
        return
    # The floor of scikit-learn's Perceptron, and of one whose last row of ten epochs decides.
    floor, cls = {"Perceptron": 0.7, "PNormPerceptron": 0.6}.get(name, 0.8), getattr(onlinecls, name)
    X, y = datasets.load_iris(return_X_y=True)
    assert cls().set_params(**seed(cls)).fit(X, y).score(X, y) > floor
    if "average" in cls().get_params() and not name.startswith(("PNorm", "Multi")):
        assert cls(average=True).set_params(**seed(cls)).fit(X, y).score(X, y) > floor
    order, learner = np.random.RandomState(0).permutation(len(y)), cls()
    if name == "OGDClassifier":  # (its last weights swing)
        learner.set_params(average=True)
    for _ in range(30):
        learner.partial_fit(X[order], y[order])
    assert learner.score(X, y) > 0.79


def seed(cls):
    return {"random_state": 0} if "random_state" in cls().get_params() else {}
