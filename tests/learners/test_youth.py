"""A young model: its first 16 rows determine the units of X, and are learnt again where these change."""

import pickle
import signal
import threading
import warnings

import numpy as np
import pytest
from algorithms import ESTIMATORS
from internals import ALGORITHMS, COUNTERS, Youth
from looping import each_estimator, within
from numpy.testing import assert_array_equal
from scipy import sparse
from states import but_for_history, fingerprint

import onlinecls
from onlinecls import AROWClassifier, AROWRegressor, NAROWClassifier, PassiveAggressiveClassifier

#: Lengths of rows that change the median again and again.
LENGTHS = np.ldexp(1.0, [6, 2, 7, 0, 3, 9, 0, 1, 4, 4, 0, 2, 2, 8, 5, 0, 1, 3, 2, 6])
FIXED = {"pa1", "pa2", "pa1_regression", "pa2_regression", "aggressive_p_norm", "entropic_da_regression", "entropic_da_squared"}


def problem(n_classes=3, n=40, d=6):
    """Return rows of unlike lengths, some of zeros among the first, whose classes join one after the other, and weights."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.7) * np.resize(LENGTHS, n)[:, None]
    X[[0, 4, 5]] = 0.0
    y = rng.integers(0, n_classes, n)
    y[:9] = [0, 0, 1, 0, 1, 1, 0, 2 % n_classes, 1]
    return X, y, np.resize([1.0, 0.5, 0.0, 2.0], n)


def streamed(make, X, y, ends, **others):
    learner = make()
    for start, stop in zip([0, *ends], [*ends, X.shape[0]], strict=True):
        learner.partial_fit(X[start:stop], y[start:stop], **{name: part[start:stop] for name, part in others.items()})
    return learner


MAKES = {
    "AROW": AROWClassifier,
    "AROW with all the rest": lambda: AROWClassifier(average=True, probability=True, class_weight={0: 0.5, 1: 2.0, 2: 0.0}),
    "AROW that forgets": lambda: AROWClassifier(forgetting=0.01, multi_class="crammer_singer"),
    "balanced PA": lambda: PassiveAggressiveClassifier(loss="squared_hinge", class_weight="balanced", average=5),
    "NAROW": NAROWClassifier,
    "SCW": onlinecls.SCWClassifier,
    "AdaGrad": lambda: onlinecls.AdaGradClassifier(update="dual_averaging"),
    "dual ascent": onlinecls.DualAscentClassifier,
    "FoReL": lambda: onlinecls.FoReLClassifier(sigma=2.0),
    "multiplicative": onlinecls.MultiplicativePassiveAggressiveClassifier,
    "a committee": lambda: onlinecls.CommitteeClassifier([AROWClassifier(), NAROWClassifier()], probability=True),
}


@pytest.mark.parametrize("name", MAKES)
def test_a_young_model_is_the_same_however_its_rows_are_grouped(name, tmp_path):
    """Calls of 1 to 17 rows, sparse and dense ones, a pickle and a file at the seventh row give the same bits."""
    make, (X, y, weights) = MAKES[name], problem()
    whole = fingerprint(streamed(make, X, y, [], sample_weight=weights))
    for n in (1, 3, 7, 15, 16, 17):
        assert fingerprint(streamed(make, X, y, range(n, len(y), n), sample_weight=weights)) == whole, f"calls of {n} rows"
    for kind in (sparse.csr_matrix, sparse.csr_array):
        assert fingerprint(streamed(make, kind(X), y, [2, 9], sample_weight=weights)) == whole, kind
    young = make().partial_fit(X[:7], y[:7], sample_weight=weights[:7])
    young.save(tmp_path / "model")
    loaded = [onlinecls.load(tmp_path / "model", mmap=mmap) for mmap in (False, True)]
    for again in (pickle.loads(pickle.dumps(young)), *loaded):
        assert fingerprint(again) == fingerprint(young)
        assert fingerprint(again.partial_fit(X[7:], y[7:], sample_weight=weights[7:])) == whole


@pytest.mark.parametrize("name", sorted(set(MAKES) - {"balanced PA"}))
def test_a_model_is_what_its_rows_make_of_one_that_knew_the_units(name, monkeypatch):
    make, (X, y, _) = MAKES[name], problem(2)
    once = streamed(make, X, y, [5, 11])
    monkeypatch.setattr(Youth, "units", lambda *_: once._units)
    assert but_for_history(make().partial_fit(X, y)) == but_for_history(once)


@within(dtype=["float32", "float64"])
@each_estimator(algorithm=[a for a in ALGORITHMS.values() if a.name not in FIXED and "experts" not in a.tasks])
def test_unlike_rows_times_a_power_of_two_give_the_same_model(algorithm, dtype):
    X, y, _ = problem(2)
    cls, found = getattr(onlinecls, algorithm.estimator), []
    for k in (0, -20, 17):
        Z = np.ldexp(X, k).astype(dtype)
        labels = {"regressor": X @ np.arange(6.0), "outlier_detector": None}.get(cls._estimator_type, y)
        learner = cls(**algorithm.selects)
        for part in (slice(0, 5), slice(5, None)):
            learner.partial_fit(Z[part], None if labels is None else labels[part])
        scores = learner.score_samples(Z) if labels is None else learner.predict(Z)
        found.append((learner.scale_ / 2.0**k, np.ldexp(scores, -k) if labels is None else scores))
    for scale, scores in found[1:]:
        assert scale == found[0][0]
        assert_array_equal(scores, found[0][1])


def test_the_units_are_the_lower_median_of_the_first_sixteen_rows_of_weight():
    X, y = np.diag(np.ldexp(1.0, np.arange(20))), np.arange(20) % 2
    seen = [AROWClassifier().partial_fit(X[:n], y[:n], classes=[0, 1]).scale_ for n in range(1, 21)]
    assert seen == [2.0 ** min((n - 1) // 2, 7) for n in range(1, 21)]
    weights = np.where(np.arange(20) < 3, 0.0, 1.0)
    assert AROWClassifier().partial_fit(X, y, classes=[0, 1], sample_weight=weights).scale_ == 2.0 ** (3 + 7)
    X[:6] = 0.0  # rows of zeros count, but have no length
    assert AROWClassifier().partial_fit(X, y, classes=[0, 1]).scale_ == 2.0 ** (6 + 4)
    for shuffle in (False, True):
        assert AROWClassifier(shuffle=shuffle, random_state=0).fit(X, y).scale_ == 2.0 ** (6 + 4)


def test_rows_of_zeros_before_the_first_move_the_intercept_once_its_unit_is_known():
    X, y = np.vstack([np.zeros((3, 2)), np.tile([3.0, 4.0], (4, 1))]), [1, 1, 0, 1, 0, 1, 1]
    learner = AROWClassifier().partial_fit(X, y, classes=[0, 1])
    explicit = AROWClassifier(r=learner.r_, intercept_scaling=learner.intercept_scaling_).partial_fit(X, y, classes=[0, 1])
    assert_array_equal(learner.coef_, explicit.coef_)
    assert_array_equal(learner.intercept_, explicit.intercept_)


def test_counts_of_mistakes_and_losses_are_those_of_the_first_time():
    """Rows that are learnt again are not counted again; probabilities are calibrated by the scores before the rows were known."""
    X, y, _ = problem(2, n=16)
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
    X, y, _ = problem(2)
    learner = AROWClassifier(r=1.0, intercept_scaling=1.0).partial_fit(X[:2], y[:2], classes=[0, 1])
    assert learner._state.youth is None
    assert AROWClassifier(r=1.0, fit_intercept=False).partial_fit(X[:2], y[:2], classes=[0, 1])._state.youth is None


def test_fit_and_merging_end_youth():
    X, y, _ = problem(2)
    X[:6] *= 32.0
    assert AROWClassifier().fit(X[:6], y[:6])._state.youth is None
    young, old = AROWClassifier().partial_fit(X[:6], y[:6]), AROWClassifier().partial_fit(X[6:], y[6:])
    in_its_units = AROWClassifier(r=old.r_, intercept_scaling=old.intercept_scaling_).partial_fit(X[:6], y[:6])
    assert young.scale_ != old.scale_ == onlinecls.merge([old, young]).scale_
    assert onlinecls.merge([old, young])._state.youth is None
    given = AROWClassifier(r=old.r_, intercept_scaling=old.intercept_scaling_).partial_fit(X[6:], y[6:])
    assert_array_equal(onlinecls.merge([old, young]).coef_, onlinecls.merge([given, in_its_units]).coef_)


@pytest.mark.skipif(threading.current_thread() is not threading.main_thread(), reason="signals are for the main thread")
def test_ctrl_c_while_rows_are_learnt_again_is_made_good_by_the_next_call(monkeypatch):
    X, y, _ = problem(2)
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


def test_small_calls_go_the_long_way_until_youth_ends():
    X, y, _ = problem(2)
    learner = AROWClassifier()
    for t in range(20):
        learner.partial_fit(X[t : t + 1], y[t : t + 1], classes=[0, 1])
        taken = learner._state.try_partial_fit(learner.__dict__, X[:0], y[:0], None, None)
        assert (learner._state.youth is None) == (t >= 15) and (t >= 15 or not taken)


@pytest.mark.parametrize("cls", [AROWClassifier, AROWRegressor, onlinecls.CommitteeClassifier])
def test_one_column_that_hides_the_others_is_named_once(cls):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(40, 3)), np.full(40, 2024.0)])
    y = (X[:, 0] > 0.0) * 1
    for learn in (lambda made: made.partial_fit(X[:9], y[:9]).partial_fit(X[9:], y[9:]), lambda made: made.fit(X, y)):
        with pytest.warns(UserWarning, match=rf"{cls.__name__}: columns should be of like size, got column 3 .*StandardScaler"):
            made = learn(cls())
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            made.partial_fit(X, y)
            cls().partial_fit(X[:, :3], y)
            cls().partial_fit(X[:15], y[:15])  # (too few to tell)
            cls().partial_fit(X[:, 3:], y)  # (one column has no others)


@pytest.mark.parametrize("cls", [AROWClassifier, AROWRegressor, onlinecls.CommitteeClassifier])
def test_rows_too_short_or_too_long_for_the_units_are_named_once(cls):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = (X[:, 0] > 0.0) * 1
    for size in (1e-100, 1e200):
        for learn in (lambda made, Z: made.partial_fit(Z[:9], y[:9]).partial_fit(Z[9:], y[9:]), lambda made, Z: made.fit(Z, y)):
            with pytest.warns(UserWarning, match=rf"{cls.__name__}: rows should have lengths between 3e-48 and 4e\+47"):
                made = learn(cls(), X * size)
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                made.partial_fit(X * size, y)
                learn(cls(), X * 1e-30)
                learn(cls(), X * 1e30)


@pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda cls: cls.__name__)
def test_learners_of_experts_and_kernels_have_no_youth(cls):
    young = {a.estimator for a in ALGORITHMS.values() if a.units or "intercept_scaling" in cls().get_params()}
    assert hasattr(cls, "scale_") or cls.__name__ not in young
