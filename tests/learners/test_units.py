"""Defaults in units of the rows: the scale that the first 16 rows determine, and what follows from it."""

import pickle

import numpy as np
import pytest
from algorithms import CLASSIFIERS, ESTIMATORS
from internals import ALGORITHMS
from looping import each_estimator, within
from numpy.testing import assert_array_equal
from states import but_for_history, fingerprint

import onlinecls
from onlinecls import AROWClassifier, PassiveAggressiveClassifier

UNITS = [-20, 17]  # X times 2^these
#: Fixed numbers stay what they are: C, epsilon and an aggressive p-norm's radius are not in units of the rows.
FIXED = {"pa1", "pa2", "pa1_regression", "pa2_regression", "aggressive_p_norm", "entropic_da_regression", "entropic_da_squared"}
ROWS = [a for a in ALGORITHMS.values() if a.name not in FIXED and "experts" not in a.tasks]
LABELS_ALONE = {"perceptron", "p_norm"}  # the scores grow with X


def problem(seed=0, n=120, d=9):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.6)
    score = X @ rng.normal(size=d) + 0.2
    return X, {"binary": (score > 0) * 1, "multiclass": np.digitize(score, [-1.0, 1.0]), "regression": score}


def model_of(algorithm, **others):
    return getattr(onlinecls, algorithm.estimator)(**algorithm.selects, **others)


def tasks_of(algorithm):
    return ["binary", "multiclass"] if "leader" in algorithm.tasks else algorithm.tasks


@within(dtype=["float32", "float64"])
@each_estimator(algorithm=ROWS)
def test_rows_times_a_power_of_two_give_the_same_predictions_to_the_bit(algorithm, dtype):
    X, targets = problem()
    X[:2] = 0.0
    for task in tasks_of(algorithm):
        y = targets.get(task)
        said = []
        for k in [0, *UNITS]:
            Z, model = np.ldexp(X, k).astype(dtype), model_of(algorithm)
            for part in (slice(0, 50), slice(50, None)):
                model.partial_fit(Z[part], None if y is None else y[part])
            assert model.scale_ == 2.0**k * said[0][0] if said else model.scale_ > 0.0
            scores = model.predict(Z) if algorithm.name in LABELS_ALONE or task == "regression" else model.decision_function(Z)
            said.append((model.scale_, np.ldexp(scores, -k) if task == "one_class" else scores))
        for _, found in said[1:]:
            assert_array_equal(found, said[0][1])


@pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda cls: cls.__name__)
def test_the_value_of_an_auto_parameter_is_an_attribute_and_gives_the_same_model(cls):
    X, targets = problem(1)
    y = {"classifier": targets["binary"], "regressor": targets["regression"]}.get(cls._estimator_type)
    names = [name for name, value in cls().get_params().items() if isinstance(value, str) and value == "auto"]
    for learn in ("partial_fit", "fit"):
        others = {"random_state": 3} if "random_state" in cls().get_params() else {}
        found = getattr(cls(**others), learn)(8.0 * X, y)
        given = {name: getattr(found, name + "_") for name in names}
        assert all(value > 0.0 for value in given.values())
        again = getattr(cls(**given, **others), learn)(8.0 * X, y)
        assert but_for_history(again) == but_for_history(found)


def test_the_scale_of_one_row_is_the_power_of_two_nearest_to_its_length():
    for row, scale, constant in (([3.0, 4.0], 4.0, 4.0), ([0.0, 0.7], 0.5, 0.5), ([1.0, 0.0], 1.0, 1.0),
                                 ([1.0] * 100, 8.0, 1.0), ([0.72, 0.0], 1.0, 1.0), ([0.7, 0.0], 0.5, 0.5)):
        learner = AROWClassifier().partial_fit([row], [1], classes=[0, 1])
        assert (learner.scale_, learner.intercept_scaling_, learner.r_) == (scale, constant, 0.1 * scale**2), row
        assert learner.intercept_[0] == pytest.approx(constant * (learner.coef_[0] @ row) * constant / (np.dot(row, row)))


@pytest.mark.parametrize("cls", CLASSIFIERS, ids=lambda cls: cls.__name__)
def test_sixteen_rows_of_zeros_change_nothing_but_counters(cls):
    X, y = np.vstack([np.zeros((16, 2)), [[3.0, 4.0]]]), np.arange(17) % 2
    learner = cls().partial_fit(X[:16], y[:16], classes=[0, 1])
    assert np.isnan(learner.scale_) and np.isnan(learner.intercept_scaling_)
    assert learner.t_ == 16 and learner.n_updates_ == 0 and not learner.decision_function(X).any()
    late = cls().partial_fit(X[16:], y[16:], classes=[0, 1])
    learner.partial_fit(X[16:], y[16:])
    if cls.__name__ != "OGDClassifier":  # (its steps fall with t)
        assert_array_equal(learner.decision_function(X), late.decision_function(X))
    assert learner.scale_ == late.scale_ == 4.0


def test_rows_of_weight_zero_do_not_set_the_units():
    X, y = np.array([[1e6, 0.0], [3.0, 4.0]]), [0, 1]
    assert AROWClassifier().partial_fit(X, y, classes=[0, 1], sample_weight=[0.0, 1.0]).scale_ == 4.0
    assert AROWClassifier(class_weight={0: 0.0}).partial_fit(X, y, classes=[0, 1]).scale_ == 4.0
    assert AROWClassifier(class_weight={0: 0.0}, shuffle=False).fit(np.tile(X, (2, 1)), y * 2).scale_ == 4.0


def test_a_model_without_units_yet_learns_on_after_pickle_and_file(tmp_path):
    X, targets = problem(2)
    y, zeros = targets["multiclass"], np.zeros((3, X.shape[1]))
    for cls in (AROWClassifier, PassiveAggressiveClassifier, onlinecls.SCWClassifier, onlinecls.DualAscentClassifier,
                onlinecls.MultiplicativePassiveAggressiveClassifier):
        whole = cls().partial_fit(np.vstack([zeros, X]), np.append([0, 1, 2], y), classes=[0, 1, 2])
        begun = cls().partial_fit(zeros, [0, 1, 2], classes=[0, 1, 2])
        begun.save(tmp_path / "model")
        for copy in (pickle.loads(pickle.dumps(begun)), onlinecls.load(tmp_path / "model"),
                     onlinecls.load(tmp_path / "model", mmap=True)):
            assert fingerprint(copy.partial_fit(X, y)) == fingerprint(whole)
        assert np.isnan(begun.scale_)


def test_fit_counts_its_epochs_as_no_new_evidence():
    X, targets = problem(3)
    y = targets["binary"]
    passed = AROWClassifier().partial_fit(np.vstack([0.0 * X[:2], X]), np.append([0, 1], y))
    for n_zeros in (2, 16, 20):
        Z, labels = np.vstack([np.zeros((n_zeros, X.shape[1])), X]), np.append(np.arange(n_zeros) % 2, y)
        once = AROWClassifier(max_iter=1, shuffle=False).fit(Z, labels)
        streamed = AROWClassifier().partial_fit(Z, labels, classes=[0, 1])
        assert_array_equal(once.coef_, streamed.coef_, err_msg=f"{n_zeros} zeros")
    often = AROWClassifier(max_iter=7, tol=None, random_state=0).fit(X, y)
    assert often.r_ == 7.0 * AROWClassifier().partial_fit(X, y).r_
    assert often.partial_fit(X, y).r_ == 7.0 * passed.r_ * (often.scale_ / passed.scale_) ** 2
    evenly = onlinecls.AROWRegressor(max_iter=7, tol=None, shuffle=False, covariance="full").fit(X, targets["regression"])
    single = onlinecls.AROWRegressor(covariance="full").partial_fit(X, targets["regression"])
    np.testing.assert_allclose(evenly.coef_, single.coef_, atol=1e-9)  # least squares: seven times the rows, seven times r


def test_parameters_that_are_numbers_do_not_scale_with_the_rows():
    X, targets = problem(4)
    given = AROWClassifier(r=0.1, intercept_scaling=1.0).partial_fit(64.0 * X, targets["binary"])
    assert (given.r_, given.intercept_scaling_) == (0.1, 1.0)
    assert not np.array_equal(given.coef_, AROWClassifier().partial_fit(64.0 * X, targets["binary"]).coef_)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rows_near_the_end_of_the_range_are_learnt(dtype):
    X, targets = problem(5)
    largest = float(np.finfo(dtype).maxexp)
    for cls in CLASSIFIERS:
        for k in (0.4, -0.4, 0.95, -0.95):
            with np.errstate(over="ignore", under="ignore"):
                Z = np.ldexp(X, int(k * largest)).astype(dtype)
            learner = cls().partial_fit(Z, targets["binary"])
            assert np.isfinite(learner.coef_).all() and np.isfinite(learner.decision_function(X.astype(dtype))).all()
