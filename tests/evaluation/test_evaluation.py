"""Progressive validation against a slow loop that calls predict before every row; several learners; plots of the curves."""

import copy
import json
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from algorithms import ONE_EACH, ONE_OF_EACH_LOOP, REGRESSORS
from matrices import continuous_problem, csr32
from states import fingerprint

import onlinecls
from onlinecls import compare, progressive_validation
from onlinecls.measures import Measures
from onlinecls.tables import TableVectorizer

X, Y = continuous_problem(90, 6, seed=50, n_classes=4)
RNG = np.random.default_rng(51)
WEIGHTS = np.where(RNG.random(90) < 0.2, 0.0, RNG.random(90) * 3)
NOISY = np.where(RNG.random(90) < 0.3, RNG.permutation(Y), Y)
LATE = np.where(np.arange(90) < 15, 0, np.where(np.arange(90) < 45, np.minimum(Y, 1), Y))  # labels join late


def slowly(learner, X, y, y_clean=None, weights=None, classes=None):
    """Predict, compare and learn row by row; return the curve after every row of weight > 0, and all predictions."""
    y_clean = y if y_clean is None else y_clean
    weights = np.ones(len(y)) if weights is None else weights
    points, predictions, mistakes, seen = [], [], 0, 0
    for i in range(len(y)):
        row, said, fitted = slice(i, i + 1), None, learner.__sklearn_is_fitted__()
        if fitted:
            said = learner.predict(X[row])[0]
        elif classes is not None:  # (of most learners the first score is 0: the first class); without classes nobody can tell
            said = copy.deepcopy(learner).partial_fit(X[:0], y[:0], classes).predict(X[row])[0]
        learner.partial_fit(X[row], y[row], None if fitted else classes, weights[row])
        predictions.append(said if weights[i] > 0 else None)
        if weights[i] > 0:
            mistakes, seen = mistakes + (said != y_clean[i]), seen + 1
            points.append((seen, mistakes, learner.n_updates_))
    return points, predictions


def assert_is_that_of_a_slow_loop(make, rows, labels, clean, weights, classes):
    """Compare the curve of a learner with that of its twin in the slow loop, and return both; with weights, in batches."""
    fast, slow, stream, asked = make(), make(), (rows, labels, weights), {}
    if weights is not None:
        cuts, asked = pairwise((0, 1, 2, 33, 33, 50, 89, 90)), {"measures": Measures(), "predictions": True}
        stream = ((rows[start:stop], labels[start:stop], weights[start:stop]) for start, stop in cuts)
    result = progressive_validation(fast, stream, clean, classes=classes, every=7, **asked)
    points, predictions = slowly(slow, X, labels, clean, weights, classes)
    live = np.flatnonzero(np.ones(90) if weights is None else weights)
    at = [np.searchsorted(live, stop) - 1 for stop in (*range(7, 90, 7), 90)]
    at = [i for i, before in zip(at, [-1, *at[:-1]], strict=True) if i > before]
    assert list(zip(result.examples, result.mistakes, result.updates, strict=True)) == [points[i] for i in at]
    assert result.by_row and (clean is not None or result.mistakes[-1] == fast.n_mistakes_)
    assert result.progressive_error == result.mistakes[-1] / result.examples[-1]
    if asked:
        assert result.predictions.tolist() == predictions
        wrong = np.array([said != true for said, true in zip(predictions, labels if clean is None else clean, strict=True)])
        assert asked["measures"].error == pytest.approx(np.average(wrong, weights=weights))
    return fast, slow


FORMS = [(Y % 2, "ovr"), (Y, "ovr"), (Y, "crammer_singer"), (LATE, "ovr")]


@pytest.mark.parametrize("classes", [None, [0, 1, 2, 3, 7]], ids=["open", "closed"])
@pytest.mark.parametrize("case", ONE_OF_EACH_LOOP, ids=str)
def test_the_curve_equals_that_of_a_slow_loop(case, classes):
    average = 5 if classes is None and case.can_average else False
    for labels, multi_class in FORMS:
        named = classes if classes is None or labels.max() > 1 else [0, 1]
        make = partial(case.estimator, multi_class, average=average)
        for clean, weights in ((None, None), ((labels + NOISY) % 4, WEIGHTS)):
            fast, slow = assert_is_that_of_a_slow_loop(make, csr32(X), labels, clean, weights, named)
            assert fingerprint(fast) == fingerprint(slow)


INEXACT = {  # (sums are taken in another order where rows come one by one)
    **{f"{case}, full, average={average}": partial(case.estimator, average=average, covariance="full")
       for case in ONE_EACH if case.can_be_full for average in (False, 5)},
    **{f"kernel {algorithm}": (lambda multi_class, algorithm=algorithm: onlinecls.KernelOnlineClassifier(
        algorithm, multi_class=multi_class, budget=40)) for algorithm in ("arow", "pa", "perceptron", "sop")},
}


@pytest.mark.parametrize("make", INEXACT.values(), ids=INEXACT)
def test_the_curve_of_an_inexact_learner_equals_that_of_a_slow_loop(make):
    for labels, multi_class in FORMS:
        for clean, weights, classes in ((None, None, None), ((labels + NOISY) % 4, WEIGHTS, np.unique(labels))):
            fast, slow = assert_is_that_of_a_slow_loop(partial(make, multi_class), X, labels, clean, weights, classes)
            name = "dual_coef_" if hasattr(fast, "dual_coef_") else "coef_"
            np.testing.assert_allclose(getattr(fast, name), getattr(slow, name), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("estimator", [onlinecls.AROWClassifier, onlinecls.CommitteeClassifier])
def test_scores_are_those_of_each_row_before_it_is_learnt(estimator):
    learner, expected, classes = estimator(probability=True), Measures(range(4)), range(4)
    for i in np.flatnonzero(WEIGHTS):
        row, fitted = slice(i, i + 1), learner.__sklearn_is_fitted__()
        asked = [learner.predict(X[row]), learner.decision_function(X[row]), learner.predict_proba(X[row])] if fitted else [[0]]
        expected.update(Y[row], *asked, sample_weight=WEIGHTS[row])
        learner.partial_fit(X[row], Y[row], None if fitted else classes, WEIGHTS[row])
    for scores in (False, True):
        found, stream = Measures(range(4)), ((X[at], Y[at], WEIGHTS[at]) for at in np.split(np.arange(90), [1, 50]))
        progressive_validation(estimator(probability=True), stream, classes=classes, measures=found, scores=scores)
        np.testing.assert_allclose(found.confusion, expected.confusion, atol=1e-12)
        numbers = [expected.auc, expected.log_loss] if scores else [None, None]
        assert [found.auc, found.log_loss] == pytest.approx(numbers)


def test_a_stream_sees_the_measures_of_each_batch_before_it_makes_the_next_one():
    seen, found, labels = [], Measures(), np.array([*"abcd"])[Y]

    def batches():
        for at in range(0, 90, 25):
            yield X[at : at + 25], labels[at : at + 25]
            seen.append(found.as_dict())

    result = progressive_validation(onlinecls.Perceptron(), batches(), every=25, measures=found)
    assert [each["examples"] for each in seen] == result.examples.tolist() == [25, 50, 75, 90]
    assert [each["mistakes"] for each in seen] == result.mistakes.tolist()
    assert seen[-1]["error"] == pytest.approx(result.progressive_error)
    assert json.loads(json.dumps(seen[0])) == seen[0]


def test_online_to_batch_is_predicted_by_batches():
    learner = onlinecls.OnlineToBatch(onlinecls.AROWClassifier())
    result = progressive_validation(learner, (X, Y), classes=np.unique(Y), every=30)
    assert not result.by_row and result.examples.tolist() == [30, 60, 90] and result.progressive_error < 0.6
    assert (learner.predict(X) == onlinecls.AROWClassifier(average=True).partial_fit(X, Y, np.unique(Y)).predict(X)).all()
    assert progressive_validation(onlinecls.OnlineToBatch(onlinecls.AROWClassifier()), [(X, Y)]).examples[-1] == 90


class Contrary(onlinecls.AROWClassifier):
    """Says the other class of two."""

    def predict(self, X):
        return 1 - super().predict(X)


class Twice(onlinecls.AROWRegressor):
    """Learns every row twice."""

    def partial_fit(self, X, y, sample_weight=None):
        super().partial_fit(X, y)
        return super().partial_fit(X, y)


def test_a_class_that_extends_ones_of_this_library_is_asked_and_taught_by_its_own_methods():
    own, stock = (progressive_validation(make(), (X, Y % 2), classes=[0, 1]) for make in (Contrary, onlinecls.AROWClassifier))
    assert own.mistakes[-1] == 90 - stock.mistakes[-1] and own.by_row
    found = compare([Contrary(), onlinecls.AROWClassifier(), onlinecls.AROWClassifier()], (X, Y % 2), classes=[0, 1])
    assert found.errors == {"contrary": own.progressive_error, **dict.fromkeys(
        ("arowclassifier-1", "arowclassifier-2"), stock.progressive_error)}
    in_pipeline = progressive_validation(onlinecls.make_stream_pipeline(Contrary()), (X, Y % 2), predictions=True)
    assert in_pipeline.predictions[1:].tolist() != Y[1:].tolist() and in_pipeline.progressive_error > 0.5
    learner = Twice()
    progressive_validation(learner, (X, X[:, 0]))
    assert learner.t_ == 180
    learner = onlinecls.AROWClassifier()
    learner.predict = lambda rows: np.full(len(rows), 7)  # (of this object alone)
    assert progressive_validation(learner, (X, Y)).progressive_error == 1.0


def test_validation_goes_on_from_a_fitted_learner():
    learner, whole = onlinecls.AROWClassifier().partial_fit(X[:40], Y[:40]), onlinecls.AROWClassifier()
    before = learner.n_mistakes_, learner.n_updates_
    result = progressive_validation(learner, (X[40:], Y[40:]), every=10)
    whole.partial_fit(X, Y)
    assert (before[0] + result.mistakes[-1], before[1] + result.updates[-1]) == (whole.n_mistakes_, whole.n_updates_)
    assert result.examples.tolist() == [10, 20, 30, 40, 50]


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["", "weighted"])
@pytest.mark.parametrize("name", ["SGDClassifier", "SGDRegressor"])
def test_learners_of_scikit_learn_are_validated_by_batches(name, weights):
    """Batches have at most as many rows as were seen; the very first row is a mistake, or its prediction 0."""
    is_regressor, kind = "Regressor" in name, getattr(pytest.importorskip("sklearn.linear_model"), name)
    make = lambda: kind(random_state=0, shuffle=False)  # noqa: E731
    targets, clean = (X[:, 0], X[:, 0]) if is_regressor else (NOISY, Y)
    stream, w = ((X, targets), np.ones(90)) if weights is None else ((X, targets, weights), weights)
    slow, said, at, found = make(), [], 0, Measures(numbers=is_regressor)
    result = progressive_validation(make(), stream, *[Y] * (not is_regressor), every=25, measures=found, predictions=True)
    for stop in (1, 2, 4, 8, 16, 25, 50, 75, 90):
        part = slice(at, stop)
        said += slow.predict(X[part]).tolist() if at else [0.0 if is_regressor else -1]
        slow.partial_fit(X[part], targets[part], *[np.unique(NOISY)] * (not is_regressor), sample_weight=w[part])
        at = stop
    losses, live = np.abs(clean - said) if is_regressor else clean != said, w > 0
    sums = [losses[:n][live[:n]].sum() for n in (25, 50, 75, 90)]
    assert (result.absolute if is_regressor else result.mistakes).tolist() == pytest.approx(sums)
    assert result.examples.tolist() == [live[:n].sum() for n in (25, 50, 75, 90)]
    assert result.updates is None and not result.by_row
    assert result.predictions[live].tolist()[1:] == np.array(said)[live].tolist()[1:]
    error = np.average(losses**2 if is_regressor else losses, weights=w)
    assert (found.mse if is_regressor else found.error) == pytest.approx(error)


def test_learners_of_others_are_fitted_before_or_told_their_classes():
    linear_model, neural_network = pytest.importorskip("sklearn.linear_model"), pytest.importorskip("sklearn.neural_network")
    assert progressive_validation(linear_model.SGDClassifier().partial_fit(X, Y, np.unique(Y)), [(X, Y)]).examples[-1] == 90
    for kind, y, named, message in ((linear_model.SGDClassifier, Y, None, "classes must name all labels for SGDClassifier"),
                                    (linear_model.SGDRegressor, X[:, 0], [0, 1], "y_clean and classes must be None")):
        with pytest.raises(ValueError, match=message):
            progressive_validation(kind(), [(X, y)], classes=named)
    late = progressive_validation(linear_model.SGDRegressor(), (X, X[:, 0], np.where(np.arange(90) < 2, 0.0, 1.0)))
    assert late.examples[-1] == 88  # (a part of rows of weight 0 alone is left out)
    fitted = neural_network.MLPRegressor(random_state=0).partial_fit(X, X[:, 0])  # (which has coefs_, and no coef_)
    first = fitted.predict(X[:1])[0]
    assert progressive_validation(fitted, (X, X[:, 0]), predictions=True).predictions[0] == first


@pytest.mark.parametrize("message, arguments", [
    ("every must be", dict(every=0)), ("got 89 labels for 90 rows", dict(y_clean=Y[:89])),
    ("a row of weight > 0, got 90 rows", dict(stream=(X, Y, np.zeros(90)))), ("got ndarray for a batch", dict(stream=X)),
    ("an iterable of such tuples, got a tuple", dict(stream=[(X, Y, Y, Y)])), ("the same number of", dict(stream=(X, Y[:89]))),
    ("estimator must have partial_fit", dict(estimator=object())), ("measures must be given", dict(scores=True)),
    ("classes must name all", dict(scores=True, measures=Measures())), ("numbers=False", dict(measures=Measures(numbers=True))),
])
def test_invalid_arguments_of_validation_are_refused(message, arguments):
    learner = onlinecls.Perceptron()
    with pytest.raises((ValueError, TypeError), match=f"^progressive_validation: .*{message}"):
        progressive_validation(**{"estimator": learner, "stream": (X, Y), **arguments})
    assert not learner.__sklearn_is_fitted__() or "y_clean" in arguments or "stream" in arguments


@pytest.mark.parametrize("estimator", REGRESSORS, ids=lambda cls: cls.__name__)
def test_the_curve_of_a_regressor_equals_its_own_sums(estimator):
    """The sums begin where the learner was and do not depend on the batches; rows of weight 0 do not count."""
    A = np.abs(X)  # (kernels and simplexes take it too)
    y, weights = A[:, 0] - 0.3 * A[:, 1], np.where(np.arange(len(A)) % 5 == 3, 0.0, 1.5)
    learner, walker = estimator(), estimator()
    walker.partial_fit(A[:7], y[:7])
    learner.partial_fit(A[:7], y[:7])
    cut = len(A) // 2 + 1
    stream = ((A[7:cut], y[7:cut], weights[7:cut]), (A[cut:], y[cut:], weights[cut:]))
    result = progressive_validation(learner, stream, every=20)
    t, start = 0, (walker.progressive_mse_ * 7, walker.progressive_mae_ * 7, walker.n_updates_)
    for i, point in zip(range(7 + 20, len(A), 20), result.examples, strict=False):
        walker.partial_fit(A[t + 7 : i], y[t + 7 : i], sample_weight=weights[t + 7 : i])
        t, at = i - 7, np.flatnonzero(result.examples == point)[0]
        assert point == walker.t_ - 7 and result.updates[at] == walker.n_updates_ - start[2]
        assert result.squared[at] == pytest.approx(walker.progressive_mse_ * walker.t_ - start[0])
        assert result.absolute[at] == pytest.approx(walker.progressive_mae_ * walker.t_ - start[1])
    assert result.by_row and result.examples[-1] == (weights[7:] > 0).sum()
    learner, found = estimator().partial_fit(A[:7], y[:7]), Measures(numbers=True)
    watched = progressive_validation(learner, (A[7:], y[7:], weights[7:]), every=20, measures=found, predictions=True)
    live = np.flatnonzero(weights[7:])
    assert found.mse == pytest.approx(watched.mse[-1]) == result.mse[-1] and found.examples == len(live)
    assert watched.squared[-1] == pytest.approx(np.sum((y[7:] - watched.predictions.astype(float))[live] ** 2))
    assert result.progressive_error == result.error[-1] and (result.mse >= result.error**2 - 1e-9).all()


# --- several learners ----------------------------------------------------------------------------------------------------------


def learners():
    pipeline = onlinecls.make_stream_pipeline(onlinecls.AROWClassifier(r=1.0))
    return {"perceptron": onlinecls.Perceptron(), "arow": onlinecls.AROWClassifier(r=10.0), "pipeline": pipeline}


@pytest.mark.parametrize("form", [np.asarray, csr32])
def test_errors_are_those_of_each_learner_alone_whatever_the_batches(form):
    """Learners of this library predict by row, with any batches; scikit-learn's by parts that double up to `every`."""
    linear_model = pytest.importorskip("sklearn.linear_model")
    every = lambda: {**learners(), "sgd": linear_model.SGDClassifier(shuffle=False, random_state=0)}  # noqa: E731
    labels, weights = np.append([0, 0], NOISY[2:]), np.append([0.0, 1.0], WEIGHTS[2:])  # (the first row is not counted)
    stream = form(X.astype(np.float32)), labels, weights
    parts = [tuple(column[at] for column in stream) for at in np.split(np.arange(90), (1, 2, 50))]
    found, again = (compare(every(), each, classes=range(4), every=25) for each in (stream, parts))
    for name, learner in every().items():
        alone = progressive_validation(learner, stream, classes=range(4), every=25)
        curve = found.curves[name][0]
        assert curve.mistakes.tolist() == alone.mistakes.tolist() and found.errors[name] == alone.progressive_error
        assert curve.by_row == (name != "sgd") and (name == "sgd" or found.errors[name] == again.errors[name])
    assert found.names == sorted(found.errors, key=found.errors.get) and found.best == found.names[0]
    assert curve.examples.tolist() == [np.count_nonzero(weights[:n]) for n in (25, 50, 75, 90)]


def test_orders_give_the_mean_and_the_spread_of_shuffled_streams():
    given, generator = learners(), np.random.RandomState(5)
    found = compare(given, (X, NOISY, WEIGHTS), classes=range(4), orders=3, random_state=5, every=20)
    shuffled = [(X[at], NOISY[at], WEIGHTS[at]) for at in (generator.permutation(90) for _ in range(3))]
    alone = [compare(learners(), rows, classes=range(4), every=20) for rows in shuffled]
    for name in given:
        errors = [each.errors[name] for each in alone]
        assert (found.errors[name], found.spread[name]) == pytest.approx((np.mean(errors), np.std(errors, ddof=1)))
        curves = [each.curves[name][0].mistakes.tolist() for each in alone]
        assert [curve.mistakes.tolist() for curve in found.curves[name]] == curves
    assert not any(learner.__sklearn_is_fitted__() for learner in given.values())
    assert np.isnan(alone[0].spread[found.best])


def test_rows_of_any_table_are_put_in_the_same_orders():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"size": X[:, 0], "kind": np.where(X[:, 1] > 0, "a", "b")}, index=np.arange(90)[::-1])
    tables = [frame, frame.to_dict("list"), frame.to_dict("records")]
    tables += [pytest.importorskip("polars").from_pandas(frame), pytest.importorskip("pyarrow").table(tables[1])]
    make = lambda learner: onlinecls.make_stream_pipeline(TableVectorizer(), learner)  # noqa: E731
    labels = pandas.Series(Y, index=frame.index)
    found = [compare([make(onlinecls.AROWClassifier()), make(onlinecls.Perceptron())], (table, labels), orders=2).errors
             for table in tables]
    assert found == [found[0]] * len(tables)


@pytest.mark.parametrize(("arguments", "error", "words"), [
    ({"learners": {}}, ValueError, "learners"), ({"learners": {"a": onlinecls.AROWRegressor()}}, TypeError, "a classifier"),
    ({"learners": [learners()["arow"]] * 2}, ValueError, "different objects"), ({"orders": 0}, ValueError, "orders"),
    ({"learners": {"a": onlinecls.Perceptron}}, TypeError, "got the class Perceptron"),
    ({"orders": 2, "stream": [(np.ones((1, 2)), [1])]}, ValueError, r"one \(X, y\) .* got list"),
])
def test_what_cannot_be_compared_is_refused(arguments, error, words):
    with pytest.raises(error, match=words):
        compare(**{"learners": learners(), "stream": (X, Y), **arguments})


def test_a_frame_is_validated_as_by_a_loop_over_its_parts():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({
        "size": X[:, 0].astype(np.float32), "kind": pandas.Categorical(np.where(X[:, 1] > 0, "a", "b")), "large": X[:, 2] > 0,
        "day": pandas.date_range("2024-01-01 05:00", periods=90, freq="7h", tz="Europe/Oslo"),
        **{name: np.arange(90) for name in ("format", "to_dicts", "__next__")},
        "count": pandas.array([None if k % 5 == 0 else k for k in range(90)], dtype="Int64"),
    })
    slow, fast = (onlinecls.make_stream_pipeline(TableVectorizer(), onlinecls.AROWClassifier()) for _ in range(2))
    for at in range(90):
        slow.partial_fit(frame[at : at + 1], Y[at : at + 1])
    progressive_validation(fast, (frame, Y))
    np.testing.assert_array_equal(fast.coef_, slow.coef_)


# --- the picture ---------------------------------------------------------------------------------------------------------------


@pytest.fixture
def display():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    yield pytest.importorskip("onlinecls.plotting").ProgressiveDisplay
    pyplot.close("all")


def test_plotted_lines_equal_the_curves(display):
    results = {name: progressive_validation(each, (X, NOISY, WEIGHTS), Y, every=10) for name, each in learners().items()}
    shown = display.from_results(results)
    assert list(shown.lines_) == sorted(results, key=lambda name: results[name].error[-1])
    for name, line in shown.lines_.items():
        assert line.get_xdata().tolist() == results[name].examples.tolist()
        assert line.get_ydata().tolist() == (100 * results[name].error).tolist()
    again = shown.plot(log_x=True, log_y=True, linewidth=5)
    assert again is shown and (again.ax_.get_xscale(), again.ax_.get_yscale()) == ("log", "log")
