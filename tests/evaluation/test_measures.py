"""Measures of a stream: scikit-learn's numbers, windows and fading against the definition, and what holds at any time."""

import json

import numpy as np
import pytest
from contracts import memory_of
from sklearn import linear_model, metrics

from onlinecls import (
    AROWClassifier,
    AROWRegressor,
    CommitteeClassifier,
    Perceptron,
    make_stream_pipeline,
    progressive_validation,
)
from onlinecls.measures import ClassificationMeasures, DriftAlarm, ErrorComparison, RegressionMeasures, threshold_for_cost
from onlinecls.tables import TableVectorizer

CLASSES = ["a", "b", "c"]


def stream(n=300, seed=0):
    """Return true and predicted labels, scores, probabilities and weights; "d" is no class of the learner."""
    generator = np.random.default_rng(seed)
    y, predicted = generator.choice([*CLASSES, "d"], n, p=[0.5, 0.3, 0.15, 0.05]), generator.choice(CLASSES, n)
    scores = generator.normal(size=(n, 3)) + (y[:, None] == CLASSES)
    probabilities = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    return y, predicted, scores, probabilities, generator.integers(0, 4, n) / 2.0


def chance_of_truth(y, probabilities):
    """Return the probability of each row's label, 1e-15 for a label that the learner does not know."""
    return np.array([dict(zip(CLASSES, row, strict=True)).get(label, 1e-15) for label, row in zip(y, probabilities, strict=True)])


def in_batches(found, columns, cuts=(1, 2, 50, 51, 200)):
    for part in zip(*(np.split(column, cuts) for column in columns), strict=True):
        found.update(*part)
    return found


def assert_agrees(found, weights, y, predicted):
    """Compare measures with those of scikit-learn's functions for these rows."""
    rows = {"y_true": y, "y_pred": predicted, "sample_weight": weights}
    labels = [*CLASSES, "d"]
    order = [found.labels.index(label) for label in labels]
    matrix = metrics.confusion_matrix(**rows, labels=labels)
    np.testing.assert_allclose(found.confusion[np.ix_(order, order)], matrix, rtol=1e-10, atol=1e-12)
    assert found.error == pytest.approx(1.0 - metrics.accuracy_score(**rows), abs=1e-12)
    precision, *others = metrics.precision_recall_fscore_support(**rows, labels=labels, zero_division=0.0)
    assert [found.precision(label) or 0.0 for label in labels] == pytest.approx(precision)  # (nothing is predicted as "d")
    for measure, expected in zip((found.recall, found.f1, found.support), others, strict=True):
        assert [measure(label) for label in labels] == pytest.approx(expected), measure
    assert found.macro_f1 == pytest.approx(others[1].mean())


def test_measures_of_all_rows_are_those_of_scikit_learn():
    y, predicted, scores, probabilities, weights = stream()
    found = in_batches(ClassificationMeasures(CLASSES), (y, predicted, scores, probabilities, weights))
    assert_agrees(found, weights, y, predicted)
    assert found.examples == np.count_nonzero(weights)
    areas = [metrics.roc_auc_score(y == label, scores[:, k], sample_weight=weights) for k, label in enumerate(CLASSES)]
    assert found.auc == pytest.approx(np.mean(areas), abs=1e-3)
    precisions = [
        metrics.average_precision_score(y == label, scores[:, k], sample_weight=weights) for k, label in enumerate(CLASSES)
    ]
    assert found.average_precision == pytest.approx(np.mean(precisions), abs=1e-3)
    right = chance_of_truth(y, probabilities)
    assert found.log_loss == pytest.approx(np.average(-np.log(right), weights=weights))


@pytest.mark.parametrize("window", [None, 150])
def test_average_precision_and_thresholds_are_those_of_all_cuts(window):
    """Scores are on a grid, so that bins of scores are exact, and many are equal; half of the rows have no weight or two."""
    generator = np.random.default_rng(1)
    y, weights = (generator.random(400) < 0.2).astype(int), generator.choice([0.0, 1.0, 1.0, 2.0], 400)
    scores = np.round(generator.normal(size=400) + y, 1) / 4.0
    found = in_batches(ClassificationMeasures([0, 1], window=window), (y, y, scores, np.full((400, 2), 0.5), weights))
    last = np.flatnonzero(weights)[-(window or 400) :]
    y, scores, weights = y[last], scores[last].astype(np.float32).astype(float), weights[last]
    assert found.average_precision == pytest.approx(metrics.average_precision_score(y, scores, sample_weight=weights), rel=1e-12)
    # Cuts are as of scores in float32, whose last digits bins leave out.
    cuts = [np.inf, *np.unique(scores)[::-1]]
    for cost in ((1.0, 1.0), (1.0, 10.0), (0.0, 1.0), (1.0, 0.0)):
        costs = [weights @ np.where(scores >= cut, cost[0] * (1 - y), cost[1] * y) for cut in cuts]
        assert found.threshold(cost=cost) == pytest.approx(cuts[int(np.argmin(costs))], rel=2**-11), cost
    for share in (1e-6, 0.05, 0.5):
        allowed = [cut for cut in cuts if weights @ (scores >= cut) <= share * weights.sum()]
        assert found.threshold(share=share) == pytest.approx(allowed[-1], rel=2**-11), share


def test_thresholds_are_refused_where_they_mean_nothing():
    found = ClassificationMeasures(["ham", "spam"])
    assert found.threshold(share=0.5) is None and found.average_precision is None
    for arguments in ({}, {"cost": (1, 2), "share": 0.5}):
        with pytest.raises(ValueError, match="ClassificationMeasures: threshold must have either cost or share, got cost="):
            found.threshold(**arguments)
    for share in (0, 1, "x"):
        with pytest.raises(ValueError, match=r"ClassificationMeasures: share must be a number in \(0, 1\), got share="):
            found.threshold(share=share)
    for cost in ((0, 0), (1, -1), (1, np.inf), 5, (1, 2, 3)):
        with pytest.raises(ValueError, match="ClassificationMeasures: cost must be two finite numbers >= 0"):
            found.threshold(cost=cost)
    with pytest.raises(ValueError, match="ClassificationMeasures: threshold must have two classes, got 3"):
        ClassificationMeasures(CLASSES).threshold(share=0.5)
    with pytest.raises(ValueError, match="threshold_for_cost: cost must be two finite numbers"):
        threshold_for_cost(-1.0, 2.0)
    assert [threshold_for_cost(0, 5), threshold_for_cost(5, 0), threshold_for_cost(3, 1)] == [0.0, 1.0, 0.75]


@pytest.mark.parametrize("window", [1, 60, 10_000])
def test_measures_of_a_window_are_those_of_its_rows(window):
    y, predicted, scores, probabilities, weights = stream()
    found = in_batches(ClassificationMeasures(CLASSES, window=window), (y, predicted, scores, probabilities, weights))
    last = np.flatnonzero(weights)[-window:]
    assert found.error == pytest.approx(np.average(y[last] != predicted[last], weights=weights[last]))
    right = chance_of_truth(y, probabilities)
    assert found.log_loss == pytest.approx(np.average(-np.log(right[last]), weights=weights[last]))
    if window > 1:
        assert_agrees(found, weights[last], y[last], predicted[last])


@pytest.mark.parametrize("make", [lambda how: ClassificationMeasures(CLASSES, **how), lambda how: RegressionMeasures(**how)])
def test_a_window_costs_the_rows_that_come_and_is_counted_as_if_they_had_come_at_once(make, monkeypatch):
    generator, window = np.random.default_rng(5), 100
    y, predicted, scores, probabilities, _ = stream(700)
    kept, found = make({}), make({"window": window})
    if isinstance(found, RegressionMeasures):
        y, predicted, scores, probabilities = *generator.normal(size=(2, len(y))), None, None
    weights, counted, count = generator.random(len(y)), [], type(found)._count
    monkeypatch.setattr(type(found), "_count", lambda self, c, *columns: counted.append(len(c)) or count(self, c, *columns))

    def rows(part, is_scored):
        more = (scores, probabilities) if is_scored and scores is not None else ()
        return [column[part] for column in (y, predicted, *more)], {"sample_weight": weights[part]}

    for at in range(600):  # the first rows have no scores, as before the first model
        columns, more = rows(slice(at, at + 1), at > 550)
        found.update(*columns, **more)
    assert not counted  # nobody has asked
    found.as_dict(), found.as_dict()
    assert sum(counted) == window
    for start, stop in ((600, 640), (640, 640), (640, 700)):
        columns, more = rows(slice(start, stop), True)
        found.update(*columns, **more)
    columns, more = rows(slice(600, 700), True)
    assert found.as_dict() == {**kept.update(*columns, **more).as_dict(), "examples": 700}


@pytest.mark.parametrize("how", [{}, {"window": 300}, {"fading": 0.001}])
def test_memory_grows_with_the_pairs_of_labels_that_occur(how):
    labels, n = np.arange(8_000), 1_000
    found = ClassificationMeasures([0, 1], **how).update(labels[:n], labels[:n] % 2)

    def read():
        for at in range(n, len(labels), n):
            kept = found.update(labels[at : at + n], np.r_[0, labels[at + 1 : at + n] % 3]).as_dict()
        return kept

    kept, peak, _ = memory_of(read)
    assert peak < 4_000 * len(labels)  # (a matrix has 8 bytes for each pair: 64,000)
    assert len(kept["labels"]) == len(labels) and len(kept["confusion"]) == how.get("window", len(labels))
    assert kept["confusion"][-1][:2] == [7_999, 7_999 % 3] and found.support(7_999) == 1.0


def test_bad_rows_change_no_measure():
    found = ClassificationMeasures(["a", "b"]).update(["a", "b"], ["b", "b"], [1.0, 2.0], [[0.5, 0.5], [0.1, 0.9]])
    before = found.as_dict()
    for rows, words in (
        ((["new", None], ["a", "b"]), "y_true must have a label for each row, got None"),
        (([1.0, np.nan], [1.0, 1.0]), "y_true must be labels, got NaN"),
        ((["new"], [["a"]]), "y_pred must be a list or 1-D array of labels"),
        ((["new"], ["a"], [np.nan]), "scores must be numbers, got NaN"),
        ((["new"], ["a"], [[1.0, 2.0]]), "scores must have as many columns as before, 1, got 2"),
        ((["new"], ["a"], None, [[np.nan, 1.0]]), "probabilities must be numbers, got NaN"),
        ((["new"], ["a"], None, None, [-1.0]), "sample_weight must be finite and >= 0"),
    ):
        with pytest.raises(ValueError, match=words):
            found.update(*rows)
        assert found.as_dict() == before, words


def test_fading_measures_weigh_a_row_by_the_rows_that_came_after_it():
    y, predicted, _, _, weights = stream()
    found = ClassificationMeasures(CLASSES, fading=0.02)
    for part in np.split(np.arange(len(y)), (1, 2, 50, 51, 200)):
        found.update(y[part], predicted[part], sample_weight=weights[part])
    live = np.flatnonzero(weights)
    faded = weights[live] * 0.98 ** np.arange(len(live) - 1, -1, -1.0)
    assert_agrees(found, faded, y[live], predicted[live])


def test_a_row_without_a_prediction_is_a_mistake_of_no_class():
    found = ClassificationMeasures(["a", "b"]).update(["a", "b", "a"], [None, "b", "b"])
    assert (found.error, found.recall("a"), found.precision("b")) == (pytest.approx(2 / 3), 0.0, 0.5)


def test_scores_of_two_classes_may_be_one_column():
    y, scores = np.array([0, 1, 1, 0, 1]), np.array([-1.0, 2.0, 0.5, 0.7, -3.0])
    found = ClassificationMeasures([0, 1]).update(y, scores > 0, scores)
    assert found.auc == pytest.approx(metrics.roc_auc_score(y, scores))


@pytest.mark.parametrize("how", [{}, {"window": 37}, {"fading": 0.01}])
def test_measures_of_numbers_are_those_of_scikit_learn(how):
    generator = np.random.default_rng(1)
    y, weights = 1e6 + generator.normal(size=200), generator.integers(0, 3, 200).astype(float)
    predicted = y + generator.normal(scale=0.5, size=200)
    found = RegressionMeasures(**how)
    for part in np.split(np.arange(200), (1, 3, 100)):
        found.update(y[part], predicted[part], weights[part])
    live = np.flatnonzero(weights)[-how.get("window", 200) :]
    c = weights[live] * (1.0 - how.get("fading", 0.0)) ** np.arange(len(live) - 1, -1, -1.0)
    assert found.mse == pytest.approx(metrics.mean_squared_error(y[live], predicted[live], sample_weight=c))
    assert found.mae == pytest.approx(metrics.mean_absolute_error(y[live], predicted[live], sample_weight=c))
    assert found.r2 == pytest.approx(metrics.r2_score(y[live], predicted[live], sample_weight=c))


def test_an_interval_for_a_difference_of_errors_hardly_ever_misses_however_often_one_looks():
    # The learners are equally good on the mean of E_t d_t, but by turns: rows are neither independent nor alike.
    missed, n, level = 0, 2_000, 0.2
    for seed in range(50):
        generator = np.random.default_rng(seed)
        lead = 0.3 * np.sign(np.sin(np.arange(n) / 40.0))  # E_t d_t
        draw = generator.random(n)
        first, second = draw < 0.5 + lead / 2, draw > 0.5 + lead / 2
        found, outside = ErrorComparison(level), False
        for part in np.split(np.arange(n), 40):
            found.update(first[part], second[part])
            truth = np.mean(lead[: part[-1] + 1])
            outside |= not found.low <= truth <= found.high
        missed += outside
    assert missed <= 50 * level, missed


def test_a_learner_that_errs_less_is_found():
    generator = np.random.default_rng(0)
    found = ErrorComparison(0.05).update(generator.random(3_000) < 0.1, generator.random(3_000) < 0.2)
    assert found.better == "first" and found.high < 0.0
    assert found.low < -0.1 < found.high


def test_the_width_of_an_interval_is_where_the_mixture_reaches_its_level():
    found = ErrorComparison(0.05).update([True] * 30 + [False] * 70, [False] * 50 + [True] * 50)
    lambdas, d = 0.45 * 0.5 ** np.arange(14), np.r_[np.ones(30), np.zeros(20), -np.ones(50)]
    means = np.array([np.mean(d[:t]) if t else 0.0 for t in range(100)])
    psi = (-np.log(1 - 2 * lambdas) - 2 * lambdas) / 4
    u = (found.high - found.low) / 2 * 100
    assert np.mean(np.exp(lambdas * u - psi * np.sum((d - means) ** 2))) == pytest.approx(2 / 0.05, rel=1e-6)


def slow_alarms(losses, tolerance, threshold, least):
    """Return the alarms of Page and Hinkley, by the definition, one row after the other."""
    alarms, n, total, m, lowest = [], 0, 0.0, 0.0, 0.0
    for t, x in enumerate(losses, 1):
        n, total = n + 1, total + x
        m += x - total / n - tolerance
        lowest = min(lowest, m)
        if m - lowest > threshold and n >= least:
            alarms.append(t)
            n, total, m, lowest = 0, 0.0, 0.0, 0.0
    return alarms


def test_alarms_are_those_of_the_definition_whatever_the_batches():
    generator = np.random.default_rng(3)
    losses = (generator.random(4_000) < np.repeat([0.1, 0.4, 0.1, 0.5], 1_000)).astype(float)
    wanted = slow_alarms(losses, 0.005, 20.0, 30)
    assert wanted
    for size in (1, 7, 4_000):
        alarm = DriftAlarm(threshold=20.0)
        raised = [alarm.update(losses[at : at + size]) for at in range(0, 4_000, size)]
        assert alarm.alarms == wanted and any(raised), size


def test_losses_of_any_size_raise_alarms_under_any_error_state():
    for size in (5e-324, 1e-310, 1e200, 1.7e308):
        with np.errstate(all="raise"):
            alarm = DriftAlarm()
            alarm.update(np.repeat([0.0, size], 100))
        assert alarm.examples == 200 and bool(alarm.alarms) == (size > 1.0)


@pytest.mark.parametrize(("make", "words"), [
    (lambda: ClassificationMeasures(fading=1.0), "fading"),
    (lambda: ClassificationMeasures(window=0), "window"),
    (lambda: ClassificationMeasures(fading=0.5, window=3), "window"),
    (lambda: ClassificationMeasures(["a", "b"]).update(["a"], ["a"], [[1.0, 2.0, 3.0]]), "scores"),
    (lambda: ClassificationMeasures(["a", "b"]).update(["a"], ["a", "b"]), "y_pred"),
    (lambda: ClassificationMeasures(["a", "b"]).update(["a"], ["a"], None, [[2.0, -1.0]]), "probabilities"),
    (lambda: RegressionMeasures().update([1.0], [np.nan]), "y_pred"),
    (lambda: ErrorComparison(0.0), "level"),
    (lambda: ErrorComparison().update([True], [True, False]), "first_wrong"),
    (lambda: DriftAlarm(threshold=0.0), "threshold"),
    (lambda: DriftAlarm().update([np.nan]), "losses"),
])
def test_what_does_not_fit_is_refused_with_its_name(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def rows_of_a_stream(n=120, seed=4):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n, 3))
    scores = X @ [1.0, -1.0, 0.5] + generator.normal(size=n)
    return X, np.array(CLASSES)[np.clip(scores.round(), -1, 1).astype(int) + 1], generator


def in_a_loop(learner, X, y, weights, measures, alarm):
    """Predict, count and learn row by row; return the predictions."""
    predictions = []
    for i in range(len(y)):
        row, predicted = slice(i, i + 1), None
        if weights[i]:
            if learner.__sklearn_is_fitted__():
                predicted = learner.predict(X[row])[0]
                scores = learner.decision_function(X[row]), learner.predict_proba(X[row])
            else:  # named classes: the first of them; no scores yet
                predicted, scores = CLASSES[0], ()
            measures.update(y[row], [predicted], *scores, sample_weight=weights[row])
            alarm.update([predicted != y[i]])
            learner.partial_fit(X[row], y[row], None if learner.__sklearn_is_fitted__() else CLASSES, weights[row])
        predictions.append(predicted)
    return predictions


@pytest.mark.parametrize("make", [lambda: AROWClassifier(probability=True), lambda: CommitteeClassifier(probability=True)])
def test_what_watches_a_stream_sees_each_row_before_it_is_learnt(make):
    X, y, generator = rows_of_a_stream()
    weights = generator.integers(0, 3, len(y)).astype(float)
    for how in ({}, {"window": 50}, {"fading": 0.1}):
        slow, slow_alarm = ClassificationMeasures(CLASSES, **how), DriftAlarm(threshold=2.0, least=5)
        predictions = in_a_loop(make(), X, y, weights, slow, slow_alarm)
        for scores in (False, True):
            found, alarm = ClassificationMeasures(CLASSES, **how), DriftAlarm(threshold=2.0, least=5)
            result = progressive_validation(
                make(), ((X[at], y[at], weights[at]) for at in np.split(np.arange(len(y)), [1, 50])), classes=CLASSES, every=40,
                measures=found, alarm=alarm, predictions=True, scores=scores)
            assert result.predictions.tolist() == predictions, (how, scores)
            np.testing.assert_allclose(found.confusion, slow.confusion, atol=1e-12)
            assert result.alarms == tuple(alarm.alarms) == tuple(slow_alarm.alarms) != ()
            if scores:
                assert found.auc == pytest.approx(slow.auc)
                assert found.log_loss == pytest.approx(slow.log_loss)
            else:
                assert found.auc is None and found.log_loss is None


def test_a_pipeline_and_learners_of_others_are_watched():
    X, y, _ = rows_of_a_stream()
    table = {"a": X[:, 0], "b": X[:, 1]}
    pipeline, other = make_stream_pipeline(TableVectorizer(), AROWClassifier()), linear_model.SGDClassifier(random_state=0)
    for learner, rows in ((pipeline, table), (other, X)):
        found = ClassificationMeasures()
        result = progressive_validation(learner, (rows, y), classes=CLASSES, measures=found, predictions=True)
        assert found.error == pytest.approx(result.progressive_error) == np.mean(result.predictions != y)


def test_a_regressor_is_watched_row_by_row():
    X, _, generator = rows_of_a_stream()
    y, weights = X @ [1.0, 2.0, -1.0] + generator.normal(size=len(X)), generator.integers(0, 2, len(X)).astype(float)
    table = {name: X[:, k] for k, name in enumerate("abc")}
    pipeline = make_stream_pipeline(TableVectorizer(), AROWRegressor())
    for learner, rows in ((AROWRegressor(), X), (pipeline, table)):
        found, alarm = RegressionMeasures(), DriftAlarm(threshold=1.0, least=5)
        result = progressive_validation(learner, (rows, y, weights), every=10, measures=found, alarm=alarm, predictions=True)
        live = weights > 0.0
        assert result.squared[-1] == pytest.approx(np.sum((y - result.predictions.astype(float))[live] ** 2))
        assert found.mse == pytest.approx(result.mse[-1]) and found.examples == live.sum()
    assert alarm.examples == live.sum()


def test_a_callback_gets_every_point_of_the_curve():
    X, y, _ = rows_of_a_stream()
    points, rows, found = [], [], ClassificationMeasures()
    alarm = DriftAlarm(threshold=2.0, least=5, on_alarm=rows.append)
    result = progressive_validation(Perceptron(), (X, y), every=25, measures=found, alarm=alarm, on_batch=points.append)
    assert [point["examples"] for point in points] == result.examples.tolist() == [25, 50, 75, 100, 120]
    assert [point["mistakes"] for point in points] == result.mistakes.tolist()
    assert points[-1]["measures"]["error"] == pytest.approx(result.progressive_error) and points[-1]["alarms"] == rows != []
    assert json.loads(json.dumps(points[0])) == points[0]
    assert result.measures["macro_f1"].tolist() == [point["measures"]["macro_f1"] for point in points]
    assert np.isnan(result.measures["auc"]).all() and "confusion" not in result.measures
    assert progressive_validation(Perceptron(), (X, y)).measures == {}


def test_what_cannot_be_measured_is_refused_before_anything_is_learnt():
    X, y, _ = rows_of_a_stream()
    for arguments, words in (
        ({"scores": True}, "measures must be given where scores=True"),
        ({"scores": True, "measures": ClassificationMeasures(CLASSES)}, "classes must name all labels where scores=True"),
        ({"measures": RegressionMeasures()}, "measures must be ClassificationMeasures for this estimator, got"),
    ):
        learner = AROWClassifier()
        with pytest.raises((TypeError, ValueError), match=words):
            progressive_validation(learner, (X, y), **arguments)
        assert not learner.__sklearn_is_fitted__()
