"""A committee beside its slow twin, made of its members learnt alone; its files, pauses, joining labels and parameters."""


import numpy as np
import pytest
from internals import state_of
from matrices import continuous_problem
from numpy.testing import assert_allclose
from states import fingerprint

import onlinecls
from onlinecls import CommitteeClassifier

MEMBERS = ("AROWClassifier", "NAROWClassifier", "FTRLClassifier", "PassiveAggressiveClassifier")


class Alone:
    """A compiled learner as a member of the slow committee."""

    def __init__(self, name, classes, n_features, **params):
        self.learner, self.classes = getattr(onlinecls, name)(**params), classes
        self.none = np.zeros((1 if len(classes) == 2 else len(classes), n_features + 1))

    @property
    def W(self):
        if not self.learner.__sklearn_is_fitted__():
            return self.none
        return np.column_stack([self.learner.coef_, self.learner.intercept_])

    def consume(self, x, y, c):
        first = {} if self.learner.__sklearn_is_fitted__() else {"classes": self.classes}
        self.learner.partial_fit([x[:-1]], [y], sample_weight=[c], **first)


class Committee:
    """The slow committee: Σ_k a_k s_k, a_k = (m_0 / m_k)^16 / rms_k, of two or more classes."""

    def __init__(self, members):
        self.members, self.n_scores, self.n_mistakes = members, 0, 0
        self.mistakes, self.squares = np.zeros(len(members), int), np.zeros(len(members))

    @property
    def a(self):
        rms = np.sqrt(self.squares / max(self.n_scores, 1))
        return ((1 + self.mistakes.min()) / (1 + self.mistakes)) ** 16 / np.where(rms > 0.0, rms, 1.0)

    def consume(self, x, y, c):
        scores = np.array([member.W @ x for member in self.members])
        several = scores if scores.shape[1] > 1 else np.hstack([-scores, scores])
        self.n_mistakes += (self.a @ several).argmax() != y
        self.mistakes += several[:, y] <= np.delete(several, y, axis=1).max(axis=1)
        self.squares, self.n_scores = self.squares + (scores**2).sum(axis=1), self.n_scores + scores.shape[1]
        for member in self.members:
            member.consume(x, y, c)


def problem(n, n_classes, seed=0):
    X, y = continuous_problem(n, 8, seed, n_classes, 0.6)
    return 5.0 * X, (y > 0) * 1 if n_classes == 2 else y


@pytest.mark.parametrize("params", [{}, {"class_weight": {0: 4.0}}, {"fit_intercept": False}], ids=str)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_a_committee_is_its_slow_twin(n_classes, params):
    X, y = problem(150, n_classes)
    weights, classes = np.random.default_rng(1).choice([0.0, 0.3, 1.0, 2.0], len(y)), np.arange(n_classes)
    twin = Committee([Alone(name, classes, 8, scale="auto", **params) for name in MEMBERS])
    model = CommitteeClassifier(**params).partial_fit(X, y, classes, weights)
    for x, label, c in zip(X, y, weights, strict=True):
        if c:
            twin.consume([*x, 1.0], label, c)
    assert_allclose(model.member_weights_, twin.a, rtol=1e-9)
    assert model.member_mistakes_.tolist() == twin.mistakes.tolist() and model.n_mistakes_ == twin.n_mistakes
    for member, alone in zip(model.members_, twin.members, strict=True):
        assert fingerprint(member) == fingerprint(alone.learner)
    W = np.tensordot(twin.a, [member.W for member in twin.members], 1)
    assert_allclose(model.coef_, W[:, :-1], rtol=1e-9, atol=1e-12)
    assert_allclose(model.intercept_, W[:, -1], rtol=1e-9, atol=1e-12)
    scores = X @ W[:, :-1].T + W[:, -1]
    assert_allclose(model.decision_function(X), scores[:, 0] if n_classes == 2 else scores, rtol=1e-9, atol=1e-9)


def test_the_weights_are_those_computed_by_hand():
    """Scores 0 before the first row have no size; then each score is divided by its root mean square."""
    model = CommitteeClassifier().partial_fit([[1.0, 0.0]], [0], classes=[0, 1])
    assert model.member_weights_.tolist() == [1.0] * 4
    before = [member.decision_function([[0.0, 2.0]])[0] for member in model.members_]
    model.partial_fit([[0.0, 2.0]], [1])
    wrong = np.array([1 + (score <= 0.0) for score in before])  # (a score of 0 before the first row is a mistake)
    assert model.member_mistakes_.tolist() == wrong.tolist()
    assert_allclose(model.member_weights_, (1 + wrong.min()) ** 16 / (1 + wrong) ** 16 / np.sqrt(np.square(before) / 2))
    joining = CommitteeClassifier().partial_fit(np.eye(4), [0, 1, 2, 0])
    assert state_of(joining).tally[:, 2].tolist() == [0 + 1 + 2 + 3] * 4  # (a label has no score on its first row)


def test_rows_of_any_size_make_finite_weights():
    X, y = problem(60, 2)
    for size in (1e-30, 1e-10, 1e10, 1e30):
        model = CommitteeClassifier().partial_fit(size * X, y, [0, 1])
        assert np.isfinite(model.member_weights_).all()
        for other in (size, 1e290):  # (weighted scores of rows far larger than those learnt would overflow)
            assert np.isfinite(model.decision_function(other * X)).all() and np.isfinite(model.coef_).all()


def test_fit_counts_mistakes_of_rows_that_are_new():
    X, y = problem(200, 4)
    once, often = (CommitteeClassifier(max_iter=n, random_state=0).fit(X, y) for n in (1, 4))
    assert once.member_mistakes_.tolist() == often.member_mistakes_.tolist() and often.t_ == 800
