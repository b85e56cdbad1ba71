"""Defaults in units of the rows: the scale that the first 16 rows determine, what follows from it, and how a young model, which
has not met them yet, learns them again where the scale changes. (That no split of a stream matters to it: test_properties.py.)"""

import pickle
import signal
import threading
import warnings
from functools import partial

import numpy as np
import pytest
from algorithms import CLASSIFIERS, ESTIMATORS
from internals import ALGORITHMS, COUNTERS, units
from looping import each_estimator, within
from numpy.testing import assert_array_equal
from states import but_for_history, fingerprint

import onlinecls
from onlinecls import AROWClassifier, AROWRegressor, CommitteeClassifier

UNITS = [-20, 17]  # X times 2^these
#: Lengths of rows that change the median again and again.
LENGTHS = np.ldexp(1.0, [6, 2, 7, 0, 3, 9, 0, 1, 4, 4, 0, 2, 2, 8, 5, 0, 1, 3, 2, 6])
#: Fixed numbers stay what they are: C, epsilon and an aggressive p-norm's radius are not in units of the rows.
FIXED = {"pa1", "pa2", "pa1_regression", "pa2_regression", "aggressive_p_norm", "entropic_da_regression", "entropic_da_squared"}
ROWS = [a for a in ALGORITHMS.values() if a.name not in FIXED and "experts" not in a.tasks]
LABELS_ALONE = {"perceptron", "p_norm"}  # the scores grow with X
MERGED = [AROWClassifier, AROWRegressor, CommitteeClassifier]


def problem(seed=0, n=60, d=9):
    """Return rows of unlike lengths, the first of them zeros, and the targets of each task."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.6)
    score = X @ rng.normal(size=d) + 0.2
    X *= np.resize(LENGTHS, n)[:, None]
    X[[0, 1, 6]] = 0.0
    return X, {"binary": (score > 0) * 1, "multiclass": np.digitize(score, [-1.0, 1.0]), "regression": score}


@within(dtype=["float32", "float64"])
@each_estimator(algorithm=ROWS)
def test_rows_times_a_power_of_two_give_the_same_predictions_to_the_bit(algorithm, dtype):
    X, targets = problem()
    for task in algorithm.tasks:
        y = targets.get(task)
        said = []
        for k in [0, *UNITS]:
            Z, model = np.ldexp(X, k).astype(dtype), getattr(onlinecls, algorithm.estimator)(**algorithm.selects)
            for part in (slice(0, 5), slice(5, 30), slice(30, None)):
                model.partial_fit(Z[part], None if y is None else y[part])
            assert model.scale_ == 2.0**k * said[0][0] if said else model.scale_ > 0.0
            scores = model.predict(Z) if algorithm.name in LABELS_ALONE or task == "regression" else model.decision_function(Z)
            said.append((model.scale_, np.ldexp(scores, -k) if task == "one_class" else scores))
        for _, found in said[1:]:
            assert_array_equal(found, said[0][1])


#: Fixed numbers in units of y, for which others are taken here; the weights of experts are none.
IN_TARGETS = {"pa1_regression": {"C": float("inf"), "epsilon": 0.0}, "pa2_regression": {"C": float("inf"), "epsilon": 0.0},
              "multiplicative_pa_regression": {"epsilon": 0.0}}
NUMBERS = [a for a in ALGORITHMS.values() if "regression" in a.tasks and not a.name.startswith("entropic")]


def forms_of(algorithm):
    """The parameters of a regressor with each of its losses, where the row has more than one."""
    made = {**algorithm.selects, **IN_TARGETS.get(algorithm.name, {})}
    losses = getattr(algorithm.params.get("loss"), "values", ()) if "loss" not in algorithm.selects else ()
    return [{**made, "loss": loss} for loss in losses] or [made]


@within(size=[1e-6, 1.0, 1e6])
@each_estimator(algorithm=NUMBERS)
def test_defaults_explain_most_of_a_linear_target(algorithm, size):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 8))
    y = size * (X @ rng.normal(size=8) + 0.3 * rng.normal(size=2000) + 5.0)
    for made in forms_of(algorithm):
        assert getattr(onlinecls, algorithm.estimator)(**made).partial_fit(X, y).score(X, y) > 0.5, made


@within(dtype=["float32", "float64"], fit_intercept=[True, False])
@each_estimator(algorithm=NUMBERS)
def test_targets_times_a_power_of_two_are_predicted_times_it_to_the_bit(algorithm, dtype, fit_intercept):
    X, targets = problem(3)
    cls = getattr(onlinecls, algorithm.estimator)
    for made in forms_of(algorithm):
        said = []
        for k in (0, -20, 17):
            y, model = np.ldexp(targets["regression"], k), cls(**made, fit_intercept=fit_intercept, dtype=dtype)
            for part in (slice(0, 1), slice(1, 7), slice(7, None)):
                model.partial_fit(X[part], y[part])
            whole = cls(**made, fit_intercept=fit_intercept, dtype=dtype).partial_fit(X, y)
            assert_array_equal(whole.predict(X), model.predict(X))
            said.append(np.ldexp(model.predict(X), -k))
        assert_array_equal(said[1], said[0])
        assert_array_equal(said[2], said[0])


@pytest.mark.parametrize("cls", [onlinecls.DualAscentRegressor, onlinecls.MultiplicativePassiveAggressiveRegressor])
def test_first_targets_that_tell_no_size_are_named_once_and_fit_asks_all(cls):
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = np.where(np.arange(60) < 16, 0.0, 1e6 * X[:, 0])
    with pytest.warns(UserWarning, match=f"{cls.__name__}: the first 16 targets should not be all .*Put other rows first"):
        model = cls().partial_fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.partial_fit(X, y)
        cls().partial_fit(X[::-1], y[::-1])
        assert 2.0**17 <= cls().fit(X, y)._units.target <= 2.0**21


VARIANTS = [*(cls() for cls in ESTIMATORS), AROWClassifier(average=True, probability=True, class_weight={0: 0.5, 1: 2.0}),
            AROWClassifier(forgetting=0.01, multi_class="crammer_singer"),
            onlinecls.AdaGradClassifier(update="dual_averaging")]


@pytest.mark.parametrize("learner", VARIANTS, ids=repr)
def test_the_value_of_an_auto_parameter_is_an_attribute_and_gives_the_same_model(learner):
    """The model is that of one which knew the units before its first row, and moved the intercept on rows of zeros."""
    X, targets = problem(1)
    y = {"classifier": targets["binary"], "regressor": targets["regression"]}.get(learner._estimator_type)
    params = {**learner.get_params(), **({"random_state": 3} if "random_state" in learner.get_params() else {})}
    names = [name for name, value in params.items() if isinstance(value, str) and value == "auto"]
    if any(row.level for row in ALGORITHMS.values() if row.estimator == type(learner).__name__):
        params["intercept_scaling"] = 1.0  # (with "auto" the learner has a level, too)
        names.remove("intercept_scaling")
    for learn in ("partial_fit", "fit"):
        found = getattr(type(learner)(**params), learn)(8.0 * X, y)
        given = {name: getattr(found, name + "_") for name in names}
        assert all(value > 0.0 for value in given.values())
        again = getattr(type(learner)(**{**params, **given}), learn)(8.0 * X, y)
        assert but_for_history(again) == but_for_history(found)


def test_a_committee_is_what_its_rows_make_of_one_that_knew_the_units(monkeypatch):
    X, targets = problem()
    make = lambda: CommitteeClassifier(probability=True)  # noqa: E731
    once, y = make(), targets["binary"]
    for part in (slice(0, 5), slice(5, 11), slice(11, None)):
        once.partial_fit(X[part], y[part])
    monkeypatch.setattr(units, "medians", lambda each, epochs=1.0: [once._units] * len(each))
    assert but_for_history(make().partial_fit(X, y)) == but_for_history(once)


def test_the_scale_of_one_row_is_the_power_of_two_nearest_to_its_length():
    for row, scale, constant in (([3.0, 4.0], 4.0, 4.0), ([0.0, 0.7], 0.5, 0.5), ([1.0, 0.0], 1.0, 1.0),
                                 ([1.0] * 100, 8.0, 1.0), ([0.72, 0.0], 1.0, 1.0), ([0.7, 0.0], 0.5, 0.5)):
        learner = AROWClassifier().partial_fit([row], [1], classes=[0, 1])
        assert (learner.scale_, learner.intercept_scaling_, learner.r_) == (scale, constant, 0.1 * scale**2), row
        assert learner.intercept_[0] == pytest.approx(constant * (learner.coef_[0] @ row) * constant / (np.dot(row, row)))


def test_the_units_are_the_lower_median_of_the_first_sixteen_rows_of_weight():
    X, y = np.diag(np.ldexp(1.0, np.arange(20))), np.arange(20) % 2
    seen = [AROWClassifier().partial_fit(X[:n], y[:n], classes=[0, 1]).scale_ for n in range(1, 21)]
    assert seen == [2.0 ** min((n - 1) // 2, 7) for n in range(1, 21)]
    weights = np.where(np.arange(20) < 3, 0.0, 1.0)
    assert AROWClassifier().partial_fit(X, y, classes=[0, 1], sample_weight=weights).scale_ == 2.0 ** (3 + 7)
    assert AROWClassifier(class_weight={0: 0.0}).partial_fit(X[:2], y[:2], classes=[0, 1]).scale_ == 2.0
    assert AROWClassifier(class_weight={0: 0.0}, shuffle=False).fit(X[:2], y[:2]).scale_ == 2.0
    X[:6] = 0.0  # rows of zeros count, but have no length
    assert AROWClassifier().partial_fit(X, y, classes=[0, 1]).scale_ == 2.0 ** (6 + 4)
    for shuffle in (False, True):
        assert AROWClassifier(shuffle=shuffle, random_state=0).fit(X, y).scale_ == 2.0 ** (6 + 4)


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


def test_fit_counts_its_epochs_as_no_new_evidence():
    X, targets = problem(3)
    X, y = X[7:], targets["binary"][7:]
    passed = AROWClassifier().partial_fit(np.vstack([0.0 * X[:2], X]), np.append([0, 1], y))
    for n_zeros in (2, 16, 20):
        Z, labels = np.vstack([np.zeros((n_zeros, X.shape[1])), X]), np.append(np.arange(n_zeros) % 2, y)
        once = AROWClassifier(max_iter=1, shuffle=False).fit(Z, labels)
        streamed = AROWClassifier().partial_fit(Z, labels, classes=[0, 1])
        assert_array_equal(once.coef_, streamed.coef_, err_msg=f"{n_zeros} zeros")
    often = AROWClassifier(max_iter=7, tol=None, random_state=0).fit(X, y)
    assert often.r_ == 7.0 * AROWClassifier().partial_fit(X, y).r_
    assert often.partial_fit(X, y).r_ == 7.0 * passed.r_ * (often.scale_ / passed.scale_) ** 2
    full = {"covariance": "full", "intercept_scaling": 1.0}
    evenly = onlinecls.AROWRegressor(max_iter=7, tol=None, shuffle=False, **full).fit(X, y)
    single = onlinecls.AROWRegressor(**full).partial_fit(X, y)
    np.testing.assert_allclose(evenly.coef_, single.coef_, atol=1e-9)  # least squares: seven times the rows, seven times r


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rows_near_the_end_of_the_range_are_learnt(dtype):
    X, targets = problem(5)
    X /= np.resize(LENGTHS, len(X))[:, None]
    largest = float(np.finfo(dtype).maxexp)
    for cls in CLASSIFIERS:
        for k in (0.4, -0.4, 0.95, -0.95):
            with np.errstate(over="ignore", under="ignore"):
                Z = np.ldexp(X, int(k * largest)).astype(dtype)
            learner = cls().partial_fit(Z, targets["binary"])
            assert np.isfinite(learner.coef_).all() and np.isfinite(learner.decision_function(X.astype(dtype))).all()


# --- while a model is young ----------------------------------------------------------------------------------------------------


def test_counts_of_mistakes_and_losses_are_those_of_the_first_time():
    """Rows that are learnt again are not counted again; probabilities are calibrated by the scores before the rows were known."""
    X, y = problem(0, n=16)[0], problem(0, n=16)[1]["binary"]
    learner, wrong = AROWClassifier(probability=True), 0
    for t in range(16):
        wrong += (learner.predict(X[t : t + 1])[0] if t else 0) != y[t]
        learner.partial_fit(X[t : t + 1], y[t : t + 1], classes=[0, 1])
    assert (learner.n_mistakes_, learner.t_) == (wrong, 16)
    explicit = AROWClassifier(r=learner.r_, intercept_scaling=learner.intercept_scaling_, probability=True)
    explicit.partial_fit(X, y, classes=[0, 1])
    assert learner.n_updates_ == explicit.n_updates_  # (of the steps that made the model)
    assert not np.array_equal(learner._state.calibration, explicit._state.calibration)
    assert learner._state.counters[COUNTERS["loss"]] != explicit._state.counters[COUNTERS["loss"]]


def test_models_with_explicit_numbers_are_never_young():
    X, y = problem()[0], problem()[1]["binary"]
    for params in ({"r": 0.1, "intercept_scaling": 1.0}, {"r": 0.1, "fit_intercept": False}):
        assert AROWClassifier(**params).partial_fit(X[2:4], y[2:4], classes=[0, 1])._state.youth is None
    given = AROWClassifier(r=0.1, intercept_scaling=1.0).partial_fit(64.0 * X, y)
    assert (given.r_, given.intercept_scaling_) == (0.1, 1.0)
    assert not np.array_equal(given.coef_, AROWClassifier().partial_fit(64.0 * X, y).coef_)


def test_fit_and_merging_end_youth():
    X, y = problem()[0], problem()[1]["binary"]
    X[:6] *= 32.0
    assert AROWClassifier().fit(X[:6], y[:6])._state.youth is None
    young, old = AROWClassifier().partial_fit(X[:6], y[:6]), AROWClassifier().partial_fit(X[6:], y[6:])
    in_its_units = AROWClassifier(r=old.r_, intercept_scaling=old.intercept_scaling_).partial_fit(X[:6], y[:6])
    assert young.scale_ != old.scale_ == onlinecls.merge([old, young]).scale_
    assert onlinecls.merge([old, young])._state.youth is None
    given = AROWClassifier(r=old.r_, intercept_scaling=old.intercept_scaling_).partial_fit(X[6:], y[6:])
    assert_array_equal(onlinecls.merge([old, young]).coef_, onlinecls.merge([given, in_its_units]).coef_)


@within(options=[{"shuffle": False}, {"random_state": 0}, {"random_state": 0, "early_stopping": True}])
@each_estimator(algorithm=[a for a in NUMBERS if a.estimator == "DualAscentRegressor"])
def test_fit_measures_targets_behind_rows_of_zeros(algorithm, options):
    X, targets = problem()
    y = targets["regression"]
    X[:20] = 0.0
    for made in forms_of(algorithm):
        models = [getattr(onlinecls, algorithm.estimator)(**made, **options).fit(X, c * y) for c in (1.0, 1024.0)]
        assert_array_equal(1024.0 * models[0].predict(X), models[1].predict(X))


def test_weights_in_proportion_to_targets_of_another_size_are_not_merged():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    y, cls = X @ [1.0, -2.0, 0.5, 1.5], onlinecls.MultiplicativePassiveAggressiveRegressor
    old, other, young = (cls().partial_fit(X[at], c * y[at]) for at, c in ((slice(300), 1.0), (slice(300), 4.0), (slice(9), 4.0)))
    assert other.norm_bound_ == 4.0 * old.norm_bound_
    with pytest.raises(ValueError, match="merge must have models of the same norm_bound_"):
        onlinecls.merge([old, other])
    parts = [cls().partial_fit(X[at], y[at]) for at in (slice(200), slice(200, 400))]
    for models in ([old, young], parts, [cls(norm_bound=16.0).partial_fit(X[at], y[at]) for at in (slice(200), slice(200, 400))]):
        assert onlinecls.merge(models).score(X, y) > 0.5


@pytest.mark.skipif(threading.current_thread() is not threading.main_thread(), reason="signals are for the main thread")
def test_ctrl_c_while_rows_are_learnt_again_is_made_good_by_the_next_call(monkeypatch):
    X, y = problem()[0], problem()[1]["binary"]
    learner = AROWClassifier(average=True).partial_fit(X[:3], y[:3], classes=[0, 1])
    learn_again = AROWClassifier._learn_again

    def interrupted(twin, *arguments):
        learn_again(twin, *arguments)
        signal.raise_signal(signal.SIGINT)

    with monkeypatch.context() as patch:
        patch.setattr(AROWClassifier, "_learn_again", interrupted)
        with pytest.raises(KeyboardInterrupt):
            learner.partial_fit(X[3:], y[3:])
    rows = learner.t_
    assert 3 < rows < 16
    again = pickle.loads(pickle.dumps(learner))
    whole = AROWClassifier(average=True).partial_fit(X, y, classes=[0, 1])
    for each in (learner, again):
        assert fingerprint(each.partial_fit(X[rows:], y[rows:])) == fingerprint(whole)


@within(n=[1, 5, 13, 15], back=[False, True])
@pytest.mark.parametrize("make, others", [
    (AROWClassifier, {"r": 3.0}), (onlinecls.DualAscentRegressor, {"sigma": 3.0}),
    (partial(onlinecls.DualAscentRegressor, fit_intercept=False), {"sigma": 0.1}),
], ids=lambda each: getattr(each, "__name__", ""))
def test_parameters_set_in_youth_act_alike_in_memory_and_through_a_file(make, others, n, back, tmp_path):
    X, targets = problem()
    X[0] = X[2]
    y = targets["binary"] if make is AROWClassifier else 1e3 * targets["regression"] + 5e3
    found = []
    for is_stored in (False, True):
        learner = make().partial_fit(X[:n], y[:n], **({"classes": [0, 1]} if make is AROWClassifier else {}))
        given = {name: learner.get_params()[name] for name in others} if back else {}
        for change, rows in ((others, slice(n, n + 2)), (given, slice(n + 2, 60))):
            learner.set_params(**change)
            if is_stored:
                learner.save(tmp_path / "model")
                learner = onlinecls.load(tmp_path / "model")
            learner.partial_fit(X[rows], y[rows])
        found.append(fingerprint(learner))
    assert found[0] == found[1]


@pytest.mark.parametrize("cls", MERGED)
def test_a_model_of_no_rows_learns_on_from_a_file_after_calls_without_rows(cls, tmp_path):
    X, targets = problem()
    y, named = (targets["regression"], {}) if cls is AROWRegressor else (targets["binary"], {"classes": [0, 1]})
    cls().partial_fit(X[:0], y[:0], **named).save(tmp_path / "model")
    learner = onlinecls.load(tmp_path / "model").partial_fit(X[:0], y[:0]).partial_fit(X, y)
    assert fingerprint(learner) == fingerprint(cls().partial_fit(X, y, **named))


@pytest.mark.parametrize("cls", MERGED)
def test_rows_that_hide_a_column_or_leave_the_units_are_named_once(cls):
    """`fine` are other rows, of which nothing is said: too few to tell, of one column, or within the range."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y, year = (X[:, 0] > 0.0) * 1, np.column_stack([X, np.full(40, 2024.0)])
    year[:7, 0] = 0.0  # (rows with fewer zeros are learnt less their means)
    ranges = r"rows should have lengths between 3e-48 and 4e\+47"
    for rows, said, fine in (
        (year, r"columns should be of like size, got column 3 .*StandardScaler", (X, year[:15], year[:, 3:])),
        (X * 1e-100, ranges, (X * 1e-30,)), (X * 1e200, ranges, (X * 1e30,)),
    ):
        for learn in (lambda made, Z: made.partial_fit(Z[:9], y[:9]).partial_fit(Z[9:], y[9 : len(Z)]),
                      lambda made, Z: made.fit(Z, y[: len(Z)])):
            with pytest.warns(UserWarning, match=f"{cls.__name__}: {said}"):
                made = learn(cls(), rows)
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                warnings.filterwarnings("ignore", ".* updates should stay within")
                made.partial_fit(rows, y)
                for others in fine:
                    learn(cls(), others)
