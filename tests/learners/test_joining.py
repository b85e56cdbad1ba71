"""Labels that join are learnt as if they had been named: each is a copy of "none of these", the negative of every row."""

import io
import pickle
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse
from internals import named_from_here, weights_of_none

import onlinecls

LEARNERS = [
    onlinecls.Perceptron(scale="auto"), onlinecls.PassiveAggressiveClassifier(C=0.5), onlinecls.SecondOrderPerceptron(),
    onlinecls.AROWClassifier(), onlinecls.AROWClassifier(forgetting=0.01), onlinecls.AROWClassifier(covariance="full"),
    onlinecls.NAROWClassifier(), onlinecls.NAROWClassifier(covariance="full"), onlinecls.ConfidenceWeightedClassifier(),
    onlinecls.SCWClassifier(), onlinecls.AdaGradClassifier(), onlinecls.AdaGradClassifier(update="dual_averaging", l1=0.01),
    onlinecls.FTRLClassifier(l1=0.1), onlinecls.PNormPerceptron(aggressive=True), onlinecls.PNormPerceptron(3),
    onlinecls.MultiplicativePassiveAggressiveClassifier(multi_class="ovr"),
    onlinecls.MultiplicativePassiveAggressiveClassifier(multi_class="ovr", signed=False), onlinecls.OGDClassifier(),
    onlinecls.OGDClassifier(learning_rate="sqrt"), onlinecls.DualAscentClassifier(multi_class="ovr", update="DA1", scale=1.0),
    onlinecls.DualAscentClassifier(multi_class="ovr", sigma="auto"),
    onlinecls.DualAscentClassifier(multi_class="ovr", loss="log_loss"),
    onlinecls.DualAscentClassifier(multi_class="ovr", regularizer="entropic"),
    onlinecls.DualAscentClassifier(multi_class="ovr", regularizer="entropic", sigma="auto", update="DA2"),
]
OPTIONS = [
    {}, {"average": True}, {"average": 20, "probability": True}, {"class_weight": "balanced", "probability": True},
    {"fit_intercept": False},
]


def topics(n_topics, seed=0):
    """Three texts a topic, topic after topic, each of the topic's own word and of three of 20 common ones."""
    rng = np.random.default_rng(seed)
    y = np.repeat(rng.permutation(n_topics), 3)
    X = np.zeros((len(y), n_topics + 20))
    X[np.arange(len(y)), y] = 1.0
    for row in X:
        row[n_topics + rng.choice(20, 3, replace=False)] += rng.integers(1, 3)
    return scipy.sparse.csr_matrix(X), y


def resumed(learner, number):
    if number % 3 == 0:
        return pickle.loads(pickle.dumps(learner))
    file = io.BytesIO()
    learner.save(file)
    return onlinecls.load(io.BytesIO(file.getvalue())) if number % 3 == 1 else learner


def found_in(learner, X):
    names = ("coef_", "intercept_", "covariance_", "scale_")
    parts = [np.asarray(getattr(learner, name)) for name in names if hasattr(learner, name)]
    parts.append(learner.decision_function(X))
    return [*parts, learner.predict_proba(X)] if hasattr(learner, "predict_proba") else parts


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_labels_that_join_are_learnt_as_if_they_had_been_named(learner, dtype):
    """Once three labels have come; whatever comes between the rows, which learn the same bits."""
    full = getattr(learner, "covariance", "") == "full"
    X, y = topics(12 if full else 24)
    for number, options in enumerate(OPTIONS):
        if not options.keys() <= learner.get_params().keys():
            continue
        rng = np.random.default_rng(number)
        joining = type(learner)(**{**learner.get_params(), **options, "dtype": dtype})
        start = 1 + next(i for i in range(len(y)) if len(set(y[: i + 1])) == 3)
        try:
            joining.partial_fit(X[:start], y[:start])
        except ValueError as error:
            assert "average must be False" in str(error)
            continue
        named = named_from_here(joining, np.unique(y)).partial_fit(X[start:], y[start:])
        cuts = [start, *sorted(rng.choice(np.arange(start, len(y)), 9)), len(y)] if number else range(start, len(y) + 1)
        for at, stop in pairwise(cuts):
            joining = resumed(joining, at)
            joining.partial_fit(X[at:stop], y[at:stop])
        for one, other in zip(found_in(joining, X), found_in(named, X), strict=True):
            if full:  # (whose products wait for one another within a call)
                atol = (1e-8 if dtype is np.float64 else 1e-3) * np.abs(other).max()
                np.testing.assert_allclose(one, other, rtol=0, atol=atol, err_msg=str(options))
            else:
                assert one.tobytes() == other.tobytes(), options


def test_weights_that_are_set_are_those_of_labels():
    X, y = topics(5)
    for learner in (onlinecls.NAROWClassifier(average=True), onlinecls.FTRLClassifier(average=True)):
        model = learner.partial_fit(X[:12], y[:12])
        coef, none = 0.5 * model.coef_, weights_of_none(model)
        model.coef_ = coef
        np.testing.assert_allclose(model.coef_, coef, atol=1e-12)
        assert (weights_of_none(model) == none).all()


def test_a_label_after_the_other_is_learnt():
    """Newcomers do not win the rows that nobody claims."""
    X, y = topics(60)
    for name in ("AROWClassifier", "NAROWClassifier", "FTRLClassifier", "CommitteeClassifier"):
        learner = getattr(onlinecls, name)().partial_fit(X, y)
        assert learner.score(X, y) > 0.9, name


def test_a_run_of_one_label_is_told():
    rng = np.random.default_rng(0)
    X, turns = rng.normal(size=(400, 4)), np.arange(400) % 4
    run = np.append(turns[:200], np.full(200, 4))
    for first, y in ((0, run), (200, run), (150, np.sort(turns))):
        learner = onlinecls.AROWClassifier()
        learner.partial_fit(X[:first], y[:first], classes=range(5))
        with pytest.warns(UserWarning, match=r"rows of several labels should come in turns, got 100 of \d in a run"):
            learner.partial_fit(X[first:], y[first:])
    for y in (turns, np.zeros(400, int), np.append(np.arange(4), np.zeros(396, int))):  # mixed, one alone, one common label
        onlinecls.AROWClassifier().partial_fit(X, y)
