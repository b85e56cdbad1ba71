"""numpy's error state is the caller's: under np.errstate(all="raise") no call raises a FloatingPointError, whatever the units."""

import io
import pickle
from contextlib import suppress

import numpy as np
import pytest
from algorithms import LEARNERS
from scipy.sparse import csr_matrix

from onlinecls import AROWRegressor, CommitteeClassifier, load, make_stream_pipeline, merge, progressive_validation
from onlinecls.measures import ClassificationMeasures, DriftAlarm, ErrorComparison, ErrorRace, RegressionMeasures
from onlinecls.tables import TableVectorizer

SCALES = (1e-300, 1e-160, 1e-39, 1.0, 1e37, 1e149, 1e300)
ALL, SOME = slice(None), slice(0, 2)
#: Units, the columns that are in them, and the dtype.
UNITS = [(1e-300, ALL, "float64"), (1e-160, SOME, "float64"), (1e-39, ALL, "float32"), (1.0, ALL, "float32"),
         (1e37, SOME, "float32"), (1e149, SOME, "float64"), (1e300, ALL, "float64")]
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def every_call(make, X, y, weights):
    """Make each call that a user may; those that are refused with a ValueError have to be refused without numpy's error too."""
    learner, other = make(), make()
    with suppress(ValueError):
        learner.fit(X, y)
    for model in (learner, other) if not learner.__sklearn_is_fitted__() else (learner, other.partial_fit(X[:9], y[:9])):
        with suppress(ValueError):
            model.partial_fit(X, y, sample_weight=weights)
            model.partial_fit(X[:1], y[:1])
    if not other.__sklearn_is_fitted__():
        return
    for name in ("decision_function", "predict", "predict_proba", "predict_log_proba", "score_samples"):
        if hasattr(other, name):
            getattr(other, name)(X)
            getattr(other, name)(csr_matrix(X[:1]))
    for name, arguments in (("predict", (X, True)), ("decision_function", (X, True)), ("score", (X, y))):
        with suppress(AttributeError, TypeError, ValueError):
            getattr(other, name)(*arguments)
    for name in ("coef_", "intercept_", "covariance_", "center_", "offset_", "members_", "member_weights_", "dual_coef_"):
        with suppress(AttributeError, ValueError):
            getattr(other, name)
    with suppress(ValueError):
        merge([other, pickle.loads(pickle.dumps(learner))])
    file = io.BytesIO()
    with suppress(ValueError):
        other.save(file)
        load(io.BytesIO(file.getvalue())).partial_fit(X[:5], y[:5])
    with suppress(ValueError, TypeError):
        progressive_validation(make(), (X, y), every=20)


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_learners_of_rows_in_any_units(learner):
    weights = np.r_[1e-300, 1e-30, np.ones(15), 2.0, 1e30, 0.0]
    make = lambda: learner(max_iter=1) if learner.offers("max_iter") else learner()  # noqa: E731
    for scale, columns, dtype in UNITS:
        X, y = learner.problem(len(weights), dtype=dtype)
        X[:, columns] *= np.dtype(dtype).type(scale)
        X = np.clip(X, np.finfo(dtype).min, np.finfo(dtype).max)
        with np.errstate(all="raise"):
            every_call(make, X, y if learner.is_classifier else y * scale, weights)


@pytest.mark.parametrize("scale", SCALES[:-1])  # (a table's numbers are within 1e150)
def test_tables_and_pipelines_in_any_units(scale):
    draw = np.random.default_rng(0)
    table = {"a": draw.normal(size=40) * scale, "b": draw.normal(size=40), "c": [f"c{k % 3}" for k in range(40)]}
    y = np.arange(40) % 3
    with np.errstate(all="raise"):
        for make in (lambda: make_stream_pipeline(TableVectorizer(bits=6), CommitteeClassifier(probability=True)),
                     lambda: make_stream_pipeline(TableVectorizer(bits=0, forgetting=0.1), CommitteeClassifier())):
            pipeline, other = make().partial_fit(table, y), make().partial_fit(table, y)
            pipeline.learn_one({"a": scale, "b": -scale, "c": "c1"}, 2).predict_one({"a": -scale, "b": 0.0, "c": "c2"})
            pipeline.decision_function(table)
            if hasattr(pipeline, "predict_proba"):
                pipeline.predict_proba(table)
            pipeline.save(io.BytesIO())
            with suppress(ValueError):
                merge([pipeline, other])
            progressive_validation(make(), (table, y))


@pytest.mark.parametrize("scale", SCALES)
def test_measures_in_any_units(scale):
    draw = np.random.default_rng(0)
    y, X = draw.integers(0, 2, 300), draw.normal(size=300) * scale
    weights = np.r_[1e-300, 1e-30, np.ones(297), 1e30]
    with np.errstate(all="raise"):
        for how in ({}, {"window": 20}, {"fading": 0.99}):
            for part in np.array_split(np.arange(300), [1, 2, 3, 200]):
                found = ClassificationMeasures([0, 1], **how), RegressionMeasures(**how)
                found[0].update(y[part], y[part] > 0, X[part], np.c_[1.0 - y[part], y[part]], weights[part])
                found[1].update(X[part], X[part] * draw.random(len(part)), weights[part])
                for each in found:
                    each.as_dict()
        alarm, comparison, race = DriftAlarm(), ErrorComparison(), ErrorRace(2)
        alarm.update(np.abs(X) if scale < 1e100 else y)
        comparison.update(y > 0, y < 1)
        race.update(np.c_[y > 0, y < 1])
        assert comparison.low <= comparison.high and race.intervals()


def test_the_score_of_targets_whose_squares_overflow_is_a_number():
    X, y = np.arange(6.0)[:, None], np.array([1.0, -1.0, 2.0, 0.0, 1.0, 3.0])
    learner = AROWRegressor().partial_fit(X, y)
    largest = 2.0**700
    wanted = 1.0 - np.mean((y - learner.predict(X) / largest) ** 2) / np.var(y)
    assert learner.score(X, y * largest) == pytest.approx(wanted)
    assert learner.score(X, y / largest) == -np.inf
