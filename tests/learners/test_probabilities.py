"""predict_proba: its numbers beside their slow twin, which rows they learn from, and numbers of any size."""

from itertools import product

import numpy as np
import pytest
from algorithms import LEARNERS
from contracts import loops, through_a_file
from internals import again, state_of
from looping import each_estimator, within
from numpy.testing import assert_allclose, assert_array_equal
from reference import MODELS, Calibrated, Softmax, learn_stream, of_classes, rows
from states import is_finite

import onlinecls

RNG = np.random.default_rng(11)
X, TWO, FOUR = RNG.standard_normal((120, 6)), RNG.integers(0, 2, 120), RNG.integers(0, 4, 120)
X[:, 0] += 2.0 * TWO
X[:, 1] += 2.0 * FOUR
WEIGHTS = RNG.choice([0.0, 0.3, 1.0, 2.5], 120)
GIVING = [learner for learner in LEARNERS if (str(learner) in loops() or "logistic" in learner.family)
          and learner.is_classifier and learner.offers("probability")]
PA = onlinecls.PassiveAggressiveClassifier
UNAVERAGED = (onlinecls.PNormPerceptron, onlinecls.MultiplicativePassiveAggressiveClassifier)
OWN = {"FTRLClassifier": [{}], "DualAscentClassifier": [  # parameters with which the scores themselves tell probabilities
    {"loss": "log_loss", "sigma": 30.0}, {"loss": "log_loss", "sigma": 30.0, "multi_class": "ovr"}]}


def numbers_of(learner):
    """(a, b) of the scores."""
    return state_of(learner).calibration[0, :2]


def begun(model, X, y):
    """Return a model that has learnt four rows without calibration. (Some give no scores before the first row.)"""
    model.partial_fit(X[:0], y[:0], classes=np.unique(y))
    with again(model):
        return model.partial_fit(X[:4], y[:4])


def twin_of(model, X, y, weights, offsets):
    """The numbers by the scores that a model gives before it learns each further row. offsets : u, by the counts of classes."""
    twin, counts = Softmax(), np.bincount(y[:4], minlength=y.max() + 1)
    begun(model, X, y)
    for i in range(4, len(y)):
        if weights[i]:
            counts[y[i]] += 1
            (scores, u), came = of_classes(model.decision_function(X[i : i + 1]).reshape(-1)), np.flatnonzero(counts)
            twin.step(scores[came], list(came).index(y[i]), weights[i], (offsets(counts) if len(u) > 2 else u)[came])
        model.partial_fit(X[i : i + 1], y[i : i + 1], sample_weight=weights[i : i + 1])
    return twin, offsets(counts)


@within(more=[{}, {"average": 20, "class_weight": {0: 3.0, 1: 0.5, 2: 1.0, 3: 1.0}}, {"class_weight": "balanced"}])
@each_estimator(learner=GIVING)
def test_every_loop_calibrates_the_scores_that_predict_goes_by(learner, more):
    if "average" in more and not learner.can_average:
        return
    rows, weights = np.abs(X[:60]) if learner.rows == "positive" else X[:60], WEIGHTS[:60]
    y = (TWO if learner.n_classes == 2 else FOUR)[:60]
    more = {**more, **({"intercept_scaling": 1.0} if learner.offers("intercept_scaling") else {})}  # (no units that a row tells)
    if isinstance(weight := more.get("class_weight"), dict):
        more["class_weight"] = weight = {label: weight[label] for label in np.unique(y)}
    offsets = {str: lambda n: np.log(np.maximum(n, 1)), dict: lambda n: -np.log(list(weight.values()))}
    twin, u = twin_of(learner(**more, probability=True), rows, y, weights, offsets.get(type(weight), np.zeros_like))
    model = begun(learner(**more, probability=True), rows, y).partial_fit(rows[4:], y[4:], sample_weight=weights[4:])
    assert_allclose(numbers_of(model), twin.numbers, rtol=1e-4, atol=1e-4)
    scores, two = of_classes(model.decision_function(rows).reshape(len(rows), -1))
    expected = twin(scores, u if len(u) > 2 else two)
    assert_allclose(model.predict_proba(rows), expected, atol=1e-4)
    assert_allclose(model.predict_log_proba(rows), np.log(expected), rtol=1e-3, atol=1e-3)
    plain = begun(learner(**more), rows, y).partial_fit(rows[4:], y[4:], sample_weight=weights[4:])
    assert_array_equal(plain.coef_, model.coef_)


@pytest.mark.parametrize("chunk", [1, 7, 120])
@pytest.mark.parametrize("multi_class", ["ovr", "crammer_singer"])
def test_calibration_of_joining_labels_equals_the_slow_twin(multi_class, chunk):
    """Two become three, a fourth joins; whichever rows come in one call."""
    y = FOUR.copy()
    y[:60] = np.where(y[:60] == 0, 3, np.where(y[:60] == 2, 1, y[:60]))
    y[61], y[80:][y[80:] == 0] = 2, 0
    y[61:80] = np.where(y[61:80] == 0, 2, y[61:80])
    learner = PA(0.3, multi_class=multi_class, probability=True, intercept_scaling=1.0)
    for start in range(0, 120, chunk):
        part = slice(start, start + chunk)
        learner.partial_fit(X[part], y[part], sample_weight=WEIGHTS[part])
    d, stream = rows(X, y, WEIGHTS, True, 1.0)
    twin = learn_stream(Calibrated(MODELS["pa1"](d, 0, multi_class, C=0.3)), stream)
    assert_allclose(numbers_of(learner), twin.softmax.numbers, rtol=1e-6, atol=1e-9)
    chances = learner.predict_proba(X)
    assert_allclose(chances, twin.predict_proba(np.column_stack([X, np.ones(120)])), atol=1e-6)
    assert_array_equal(learner.predict(X), chances.argmax(axis=1))


@pytest.mark.parametrize("class_weight", [{0: 20.0, 1: 2.0, 2: 0.5}, "balanced"], ids=str)
@pytest.mark.parametrize("cls", sorted({learner.cls for learner in GIVING}, key=str), ids=lambda cls: cls.__name__)
def test_probabilities_are_those_of_the_stream_whatever_classes_weigh(cls, class_weight):
    rng = np.random.default_rng(3)
    rows = np.column_stack([rng.normal(size=(3000, 4)), np.ones(3000)])
    last = {"average": True} if "average" in cls().get_params() and cls not in UNAVERAGED else {}
    for k, own in product((2, 3), [{"probability": True, **last}, *OWN.get(cls.__name__, [])]):
        scores = np.column_stack([rows @ rng.normal(size=(5, k - 1)) - 3.0, np.zeros(3000)])
        y = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
        model = cls(class_weight=class_weight, **own).partial_fit(rows, y)
        assert_allclose(model.predict_proba(rows).mean(axis=0), np.bincount(y) / 3000, atol=0.1)


@pytest.mark.parametrize("more", [{}, {"loss_tol": 0.1}], ids=str)
def test_fit_learns_probabilities_in_its_first_epoch_alone(more):
    one, five = (PA(0.1, probability=True, max_iter=n, tol=None, random_state=0, **more) for n in (1, 5))
    with np.errstate(all="ignore"), pytest.warns(UserWarning) if more else pytest.MonkeyPatch.context():
        assert_array_equal(numbers_of(one.fit(X, TWO)), numbers_of(five.fit(X, TWO)))
    assert (one.coef_ != five.coef_).any()
    before = numbers_of(five).copy()
    assert (numbers_of(five.partial_fit(X, TWO)) != before).all(), "what comes after fit is new"


def test_probabilities_need_probability_true():
    learner = PA().partial_fit(X, TWO)
    with pytest.raises(AttributeError, match=r"PassiveAggressiveClassifier: predict_proba must have .* Set probability=True"):
        learner.predict_proba(X)
    learner.probability = True
    with pytest.raises(AttributeError, match="must have a model that was learnt with probability=True, got one that was not"):
        learner.predict_proba(X)
    with pytest.raises(ValueError, match="got other values of probability"):
        learner.partial_fit(X, TWO)
    assert PA(probability=True).partial_fit(X[:3], ["a"] * 3).predict_proba(X[:2]).tolist() == [[1.0], [1.0]]


@pytest.mark.parametrize("cls, multi_class", [
    *((onlinecls.DualAscentClassifier, form) for form in ("ovr", "crammer_singer")), (onlinecls.FTRLClassifier, "ovr")])
def test_the_log_loss_gives_probabilities_without_calibration(cls, multi_class):
    for y in (TWO, FOUR):
        learner = cls(loss="log_loss", multi_class=multi_class).partial_fit(X, y)
        scores = learner.decision_function(X)
        scores = np.column_stack([-scores, scores]) if y is TWO else scores
        expected = np.exp(scores) if y is FOUR and multi_class == "crammer_singer" else 1 / (1 + np.exp(-scores))
        assert_allclose(learner.predict_proba(X), expected / expected.sum(axis=1, keepdims=True), rtol=1e-12)
        calibrated = cls(loss="log_loss", multi_class=multi_class, probability=True).partial_fit(X, y)
        assert (calibrated.predict_proba(X) != learner.predict_proba(X)).any()


# --- numbers of any size -------------------------------------------------------------------------------------------------------


def test_scores_and_weights_of_any_size_leave_finite_probabilities():
    """Scores up to the ends of double's range, and jumps between them."""
    rng = np.random.default_rng(0)
    for eta0, weight in product([1e-300, 1e-160, 1e-5, 1e80, 1e149, 1e160], [1e-320, 1e-9, 1e20, 1e305]):
        for y, scale in ((TWO, 1.0), (FOUR, 10.0 ** rng.integers(-8, 8, (120, 1)))):
            learner = onlinecls.Perceptron(eta0=eta0, probability=True, intercept_scaling=1.0)
            learner.partial_fit(X * scale, y, sample_weight=np.where(rng.random(120) < 0.5, weight, 1.0))
            assert is_finite(through_a_file(learner)) and np.isfinite(learner.predict_log_proba(X * scale)).all()
            assert_allclose(learner.predict_proba(X * scale).sum(axis=1), 1.0)


def test_infinite_scores_give_probabilities_of_0_and_1():
    learner = onlinecls.DualAscentClassifier(loss="log_loss", dtype="float64").partial_fit(np.eye(3), [0, 1, 2])
    far = np.array([[1.7e308, -1.7e308, 0.0], [-np.inf, np.inf, np.nan]])
    found = np.exp(learner._log_probabilities(state_of(learner), far))
    assert found.tolist() == [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
