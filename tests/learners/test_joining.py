"""Labels that join, each as a copy of "none of these", the negative of every row. (As if they had been named: contracts.py.)"""

import numpy as np
import pytest
from contracts import topics
from internals import weights_of_none

import onlinecls


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
