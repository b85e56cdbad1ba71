"""Labels that come late, against a loop that learns each row when its label comes."""

import datetime as dt

import numpy as np
import pandas as pd
import pytest
from matrices import continuous_problem, csr32
from sklearn.linear_model import SGDClassifier

from onlinecls import AROWClassifier, AROWRegressor, PassiveAggressiveClassifier, make_stream_pipeline, progressive_validation
from onlinecls.measures import ClassificationMeasures
from onlinecls.tables import TableVectorizer
from onlinecls.text import HashingVectorizer

X, Y = continuous_problem(80, 5, seed=70, n_classes=3)
RNG = np.random.default_rng(71)
MOMENTS, DELAYS = np.sort(RNG.integers(0, 60, 80)), RNG.integers(0, 25, 80)  # (with rows of one moment, and labels out of order)
BEGIN = dt.datetime(2024, 2, 28, 23, 50)
TABLE = [
    {"a": a, "b": f"n{b > 0}", "at": BEGIN + dt.timedelta(seconds=int(at)), "wait": int(wait)}
    for (a, b), at, wait in zip(X[:, :2].tolist(), MOMENTS, DELAYS, strict=True)
]
ISO = [{**row, "at": row["at"].isoformat()} for row in TABLE]
WRITTEN = [{**row, "at": f"{row['at']:%d.%m.%Y %H:%M:%S}"} for row in TABLE]
TEXTS = [f"w{row['b']} w{int(row['a'] * 2)}" for row in TABLE]
PIPELINE = lambda: make_stream_pipeline(TableVectorizer(ignore=("at", "wait")), AROWClassifier())  # noqa: E731
MAKERS = {
    "dense": (AROWClassifier, X), "sparse": (PassiveAggressiveClassifier, csr32(X)), "table": (PIPELINE, TABLE),
    "texts": (lambda: make_stream_pipeline(HashingVectorizer(), AROWClassifier()), TEXTS),
    "another library's": (lambda: SGDClassifier(random_state=0), X), "numbers": (AROWRegressor, X),
}


def slowly(learner, rows, y, moments, delays, **first):
    """Predict each row after learning those whose labels have come by then."""
    due, predicted, n_learnt = np.add(moments, delays), [], 0
    order = sorted(range(len(y)), key=lambda i: due[i])  # (stable)
    left = list(order)
    for t in range(len(y)):
        for i in [i for i in left if i < t and due[i] <= moments[t]]:
            learner.partial_fit(rows[i : i + 1], y[i : i + 1], **({} if n_learnt else first))
            n_learnt += 1
            left.remove(i)
        predicted.append(learner.predict(rows[t : t + 1]).tolist()[0] if n_learnt else None)
    return predicted


CASES = {"rows": (None, 7), "at once": (None, 1), "one time": (MOMENTS, 9), "times": (MOMENTS, DELAYS), "never": (None, 1000)}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("kind", MAKERS)
def test_each_row_is_predicted_by_the_model_of_the_labels_that_have_come(kind, case):
    (make, rows), (moment, delay) = MAKERS[kind], CASES[case]
    first = {"classes": [0, 1, 2]} if kind == "another library's" else {}
    result = progressive_validation(make(), (rows, Y), delay=delay, moment=moment, predictions=True, **first)
    expected = slowly(make(), rows, Y, range(80) if moment is None else moment, np.broadcast_to(delay, 80), **first)
    if kind == "numbers":
        if case == "at once":  # (the level of a regressor begins at its first target)
            expected[0] = Y[0]
        expected = np.array([0.0 if each is None else each for each in expected])
        assert result.predictions.tolist() == expected.tolist()
        assert result.mae[-1] == pytest.approx(np.abs(expected - Y).mean(), rel=1e-12)
    else:
        assert result.predictions.tolist() == expected
        assert result.mistakes[-1] == sum(a != b for a, b in zip(expected, Y.tolist(), strict=True))
    assert result.examples[-1] == 80 and result.by_row


@pytest.mark.parametrize("rows", [TABLE, ISO, WRITTEN, pd.DataFrame(TABLE), pd.DataFrame(ISO)],
                         ids=["dicts", "ISO", "written", "frame", "both"])
def test_moments_and_delays_are_read_from_columns(rows):
    expected = slowly(PIPELINE(), TABLE, Y, MOMENTS, DELAYS)
    waits = [dt.timedelta(seconds=int(each)) for each in DELAYS]
    known = np.array([row["at"] + wait for row, wait in zip(TABLE, waits, strict=True)], "datetime64[ns]")
    for delay in ("wait", waits, np.array(waits, "timedelta64[ns]"), known, list(known)):
        result = progressive_validation(PIPELINE(), (rows, Y), delay=delay, moment="at", predictions=True)
        assert result.predictions.tolist() == expected


def batches(rows, sizes, buffer=None):
    start = 0
    for size in sizes:
        part = slice(start, start + size)
        if buffer is not None:  # (as a reader that fills the same array again)
            buffer[:size] = rows[part]
        yield (rows[part] if buffer is None else buffer[:size]), Y[part], np.where(np.arange(80)[part] % 9 == 4, 0.0, 1.5)
        start += size


@pytest.mark.parametrize("make, rows, buffer", [(AROWClassifier, X, np.zeros((50, 5))), (PIPELINE, TABLE, None)])
def test_batches_and_points_do_not_matter(make, rows, buffer):
    found = []
    for sizes, every in (([80], 1000), ([1, 9, 50, 20], 30), ([3] * 26 + [2], 16)):
        measures, late = ClassificationMeasures([0, 1, 2]), make()
        result = progressive_validation(
            late, batches(rows, sizes, buffer if 80 not in sizes else None), classes=[0, 1, 2], delay=DELAYS, moment=MOMENTS,
            predictions=True, measures=measures, scores=True, every=every)
        sums = [result.mistakes[-1], result.weighted_mistakes[-1], measures.log_loss, measures.auc]
        found.append([*result.predictions.tolist(), *sums, *late.predict(rows).tolist()])
    assert found[0] == found[1] == found[2]
    assert found[0][4] is None and found[0][0] is None and found[0].count(None) > 9


def test_all_rows_have_been_learnt_at_the_end():
    late, learner = AROWClassifier(), AROWClassifier().partial_fit(X, Y)
    progressive_validation(late, (X, Y), delay=30)
    np.testing.assert_array_equal(late.coef_, learner.coef_)


@pytest.mark.parametrize("given, message", [
    ({"delay": -1}, "delay must be >= 0"),
    ({"delay": True}, "delay must be finite numbers, dates or durations, none missing, got True"),
    ({"delay": 2.5}, "delay must be a whole number of rows where moment is None, got 2.5"),
    ({"delay": dt.timedelta(1)}, "delay must be a whole number of rows where moment is None"),
    ({"moment": MOMENTS}, "delay must be given with moment"),
    ({"delay": 1, "moment": MOMENTS[::-1]}, "moments must not fall, got an earlier one in row"),
    ({"delay": 1, "moment": MOMENTS[:50]}, "moment must have a value for every row of the stream, got 50"),
    ({"delay": dt.timedelta(1), "moment": MOMENTS}, "in the unit of the moments, which are numbers, got a duration"),
    ({"delay": 1, "moment": [BEGIN, 1] * 40}, "moment must be values of one kind, got a date and a number"),
    ({"delay": [BEGIN] * 80, "moment": [BEGIN + dt.timedelta(1)] * 80}, "delay must be >= 0"),
    ({"delay": 1, "moment": [np.nan] * 80}, "moment must be finite numbers, dates or durations"),
    ({"delay": 1, "moment": "at"}, "moment must name a column that every row has, got 'at'"),
    ({"delay": 2, "ask": lambda learner, row: True}, "ask must be None where delay is given"),
])
def test_wrong_delays_are_refused_before_anything_is_learnt(given, message):
    learner = AROWClassifier()
    with pytest.raises(ValueError, match=message):
        progressive_validation(learner, (X, Y), **given)
    assert not learner.__sklearn_is_fitted__()


def test_delays_left_at_the_end_of_a_stream_are_refused():
    with pytest.raises(ValueError, match="delay must have a value for every row of the stream, got 90"):
        progressive_validation(AROWClassifier(), (X, Y), delay=[1] * 90)
