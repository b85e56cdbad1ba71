"""numpy's error state is the caller's: under np.errstate(all="raise") no call raises a FloatingPointError, whatever the units.
(Learners by themselves: test_contracts.py, contracts.check_hostile_numbers_leave_a_finite_model.)"""

import io

import numpy as np
import pytest

from onlinecls import CommitteeClassifier, make_stream_pipeline, progressive_validation
from onlinecls.measures import Measures
from onlinecls.tables import TableVectorizer

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.mark.parametrize("scale", [1e-300, 1e-39, 1e149])  # (a table's numbers are within 1e150)
def test_tables_pipelines_and_measures_in_any_units(scale):
    draw, y = np.random.default_rng(0), np.arange(40) % 3
    table = {"a": draw.normal(size=40) * scale, "b": draw.normal(size=40), "c": [f"c{k % 3}" for k in range(40)]}
    numbers, weights = table["a"] * (1.0 + (scale > 1.0) * 1e150), np.r_[1e-300, 1e-30, np.ones(37), 1e30]
    with np.errstate(all="raise"):
        for bits in (0, 6):
            pipeline = make_stream_pipeline(TableVectorizer(bits=bits), CommitteeClassifier(probability=True))
            pipeline.partial_fit(table, y).learn_one({"a": scale, "b": -scale, "c": "c1"}, 2)
            pipeline.predict_one({"a": -scale, "b": 0.0, "c": "c2"})
            pipeline.predict_proba(table)
            pipeline.save(io.BytesIO())
            progressive_validation(pipeline, (table, y))
        labels, errors = Measures([0, 1]), Measures(numbers=True)
        for part in np.array_split(np.arange(40), [1, 2, 3, 30]):
            labels.update(y[part] % 2, y[part] > 0, numbers[part], np.c_[1.0 - y[part] % 2, y[part] % 2], weights[part])
            errors.update(numbers[part], numbers[part] * draw.random(len(part)), weights[part])
            labels.as_dict(), errors.as_dict()
