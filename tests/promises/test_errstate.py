"""numpy's error state is the caller's: under np.errstate(all="raise") no call raises a FloatingPointError, whatever the units.
(Learners by themselves: test_contracts.py, contracts.check_hostile_numbers_leave_a_finite_model.)"""

import io
from contextlib import suppress

import numpy as np
import pytest

from onlinecls import AROWRegressor, CommitteeClassifier, make_stream_pipeline, merge, progressive_validation
from onlinecls.measures import Measures
from onlinecls.tables import TableVectorizer

SCALES = (1e-300, 1e-39, 1e149, 1e300)
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.mark.parametrize("scale", SCALES[:-1])  # (a table's numbers are within 1e150)
def test_tables_and_pipelines_in_any_units(scale):
    draw = np.random.default_rng(0)
    table = {"a": draw.normal(size=40) * scale, "b": draw.normal(size=40), "c": [f"c{k % 3}" for k in range(40)]}
    y = np.arange(40) % 3
    with np.errstate(all="raise"):
        for make in (lambda: make_stream_pipeline(TableVectorizer(bits=6), CommitteeClassifier(probability=True)),
                     lambda: make_stream_pipeline(TableVectorizer(bits=0), CommitteeClassifier())):
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
        found = Measures([0, 1]), Measures(numbers=True)
        for part in np.array_split(np.arange(300), [1, 2, 3, 200]):
            found[0].update(y[part], y[part] > 0, X[part], np.c_[1.0 - y[part], y[part]], weights[part])
            found[1].update(X[part], X[part] * draw.random(len(part)), weights[part])
            for each in found:
                each.as_dict()


def test_the_score_of_targets_whose_squares_overflow_is_a_number():
    X, y = np.arange(6.0)[:, None], np.array([1.0, -1.0, 2.0, 0.0, 1.0, 3.0])
    learner = AROWRegressor().partial_fit(X, y)
    largest = 2.0**700
    wanted = 1.0 - np.mean((y - learner.predict(X) / largest) ** 2) / np.var(y)
    assert learner.score(X, y * largest) == pytest.approx(wanted)
    assert learner.score(X, y / largest) == -np.inf
