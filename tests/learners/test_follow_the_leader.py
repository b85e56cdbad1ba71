"""Follow the regularized leader against a slow solver and scikit-learn's support vector machine."""


import internals
import numpy as np
import pytest
from internals import PENDING, state_of
from matrices import continuous_problem
from numpy.testing import assert_allclose
from reference import DualAscent, FoReL
from states import fingerprint

from onlinecls import DualAscentClassifier, FoReLClassifier, load

KINDS = {"binary": (2, "crammer_singer"), "crammer_singer": (4, "crammer_singer"), "ovr": (4, "ovr")}
every_kind = pytest.mark.parametrize("n_classes, multi_class", KINDS.values(), ids=KINDS)
every_loss = pytest.mark.parametrize("loss", ["hinge", "log_loss"])


@every_loss
@every_kind
def test_each_round_is_within_the_gap_of_the_slow_solver(n_classes, multi_class, loss):
    X, y = continuous_problem(15, 5, seed=60, n_classes=n_classes)
    weights = np.random.default_rng(0).choice([0.0, 0.3, 1.0, 2.5], size=len(y))
    k, sigma = (n_classes if n_classes > 2 else 1), 0.7
    twin = FoReL(5, k, sigma=sigma, joint=multi_class == "crammer_singer", log_loss=loss == "log_loss")
    tight = FoReLClassifier(sigma, gap_tol=1e-10, loss=loss, multi_class=multi_class, fit_intercept=False)
    loose = FoReLClassifier(sigma, gap_tol=0.05, loss=loss, multi_class=multi_class, fit_intercept=False)
    for i in range(15):
        for learner in (tight, loose):
            learner.partial_fit(X[i : i + 1], y[i : i + 1], None if i else np.unique(y), weights[i : i + 1])
        if weights[i] == 0.0:
            continue
        twin.learn(X[i], y[i], weights[i])
        assert tight.gap_ <= 1e-10 and loose.gap_ <= 0.05
        assert_allclose(tight.dual_value_, twin.dual_value, rtol=0, atol=2e-8)
        assert_allclose(tight.coef_, twin.W, rtol=0, atol=4e-4)
        for learner in (tight, loose):
            primal = twin.primal(learner.coef_)
            assert twin.dual_value - 1e-12 <= primal <= twin.dual_value + learner.gap_ + 2e-8
            assert_allclose(primal, learner.dual_value_ + learner.gap_, rtol=1e-9)
            assert sigma / 2 * np.sum((learner.coef_ - twin.W) ** 2) <= learner.gap_ + 1e-6
            alpha = learner.dual_coef_
            mass = alpha.sum(axis=1, keepdims=True) if multi_class == "crammer_singer" else alpha
            assert (alpha >= 0).all() and (mass <= weights[: i + 1][weights[: i + 1] > 0][:, None] * (1 + 1e-12)).all()


@pytest.mark.parametrize("loss, multi_class, two, three", [
    ("hinge", "crammer_singer", 1.0, 1.0), ("hinge", "ovr", 1.0, 3.0),
    ("log_loss", "crammer_singer", np.log(2.0), np.log(3.0)), ("log_loss", "ovr", np.log(2.0), 3.0 * np.log(2.0)),
])
def test_rows_of_zeros_add_their_loss_to_the_dual_value(loss, multi_class, two, three):
    """Each such row loses `two` before a third class joins (the very first is not kept), then `three`."""
    learner = FoReLClassifier(gap_tol=1e-9, loss=loss, multi_class=multi_class, fit_intercept=False)
    learner.partial_fit(np.zeros((4, 3)), [0, 1, 1, 0])
    assert learner.dual_value_ == pytest.approx(3.0 * two) and learner.gap_ <= 1e-9 and learner.n_updates_ == 0
    learner.partial_fit(np.eye(3), [2, 0, 1])
    scores, true = learner.decision_function(np.eye(3)), np.eye(3)[[2, 0, 1]] > 0.0
    of = (lambda z: np.maximum(0.0, 1.0 + z)) if loss == "hinge" else (lambda z: np.logaddexp(0.0, z))
    lost = of(np.where(true, -scores, scores)).sum()
    if multi_class == "crammer_singer":
        behind = scores - scores[true][:, None]  # of each class behind the true one
        behind = behind[~true].reshape(3, 2)
        lost = (of(behind.max(axis=1)) if loss == "hinge" else np.log1p(np.exp(behind).sum(axis=1))).sum()
    primal = np.square(learner.coef_).sum() / 2 + lost + 3.0 * three
    assert primal == pytest.approx(learner.dual_value_ + learner.gap_, abs=1e-8) and learner.gap_ <= 1e-9


def test_a_row_of_zeros_is_not_counted_as_left_out_whatever_its_weight():
    learner = FoReLClassifier(fit_intercept=False)
    learner.partial_fit([[1.0], [0.0], [1e200]], [0, 1, 0], classes=[0, 1], sample_weight=[1.0, 1e200, 1e200])
    assert (learner.n_skipped_, learner.t_) == (1, 3)


def test_a_row_that_could_take_the_weights_too_far_is_left_out():
    """||w|| <= sum of c ||x|| / σ, which has to stay in the dtype's range, with room for products."""
    learner = FoReLClassifier(1.0, fit_intercept=False).partial_fit([[1.0]], [0], classes=[0, 1])
    before = learner.coef_.copy()
    learner.partial_fit([[1.0]], [1], sample_weight=[1e120])
    assert (learner.n_skipped_, learner.t_) == (1, 2) and (learner.coef_ == before).all()


@every_loss
@every_kind
def test_the_last_round_is_the_batch_learner_of_scikit_learn(n_classes, multi_class, loss):
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    from sklearn import linear_model, svm

    X, y = continuous_problem(120, 8, seed=61, n_classes=n_classes)
    if loss == "hinge":
        form = {"multi_class": multi_class if n_classes > 2 else "ovr"}
        theirs = svm.LinearSVC(C=0.5, loss="hinge", tol=1e-9, max_iter=10**6, fit_intercept=False, **form)
    else:
        theirs = linear_model.LogisticRegression(C=0.5, tol=1e-9, max_iter=10**5, fit_intercept=False)
        multi_class = "crammer_singer"
    ours = FoReLClassifier(2.0, gap_tol=1e-8, loss=loss, multi_class=multi_class, fit_intercept=False).fit(X, y)
    assert_allclose(ours.coef_, theirs.fit(X, y).coef_, atol=2e-3)


@every_loss
@every_kind
def test_the_dual_rises_by_no_less_than_dual_ascents(n_classes, multi_class, loss):
    """Starting from the same α, increase >= DA3's, as in the tutorial; a row without a loss leaves all bits of the weights."""
    X, y = continuous_problem(60, 6, seed=62, n_classes=n_classes)
    k, still = (n_classes if n_classes > 2 else 1), 0
    learner = FoReLClassifier(1.0, gap_tol=1e-6, loss=loss, multi_class=multi_class, fit_intercept=False)
    learner.partial_fit(X[:1], y[:1], classes=np.unique(y))
    for i in range(1, 60):
        before, theta, gap = learner.dual_value_, state_of(learner).theta.copy(), learner.gap_
        learner.partial_fit(X[i : i + 1], y[i : i + 1])
        increase = learner.dual_value_ - before
        if multi_class == "crammer_singer" or k == 1:
            twin = DualAscent(6, k, sigma=1.0, update="DA3", loss=loss)
            twin.theta = theta[:6].T.copy()
            lost = twin.loss_of(twin.margins(X[i], y[i], twin.theta))
            twin.learn(X[i], y[i])
            assert not X[i].any() or increase >= twin.increase - 1e-9
            if lost == 0.0:
                still += 1
                assert (state_of(learner).theta == theta).all() and learner.gap_ == gap
        assert increase >= -1e-12
    assert multi_class == "ovr" or still > 2 or loss == "log_loss"


@every_loss
@every_kind
def test_classes_that_join_leave_the_best_weights_for_all_rows(n_classes, multi_class, loss):
    """Labels that join: in the end the model is, but for the gap, that which knew all classes from the start."""
    X, y = continuous_problem(60, 6, seed=66, n_classes=n_classes)
    if n_classes > 2:
        X, y = X[np.argsort(y, kind="stable")], np.sort(y)  # each class's rows after the other's
    first = np.flatnonzero(y != y[0])[0]  # before it there is one class, and nothing is learnt
    form = {"gap_tol": 1e-8, "loss": loss, "multi_class": multi_class, "intercept_scaling": 1.0}
    grown, known = FoReLClassifier(1.0, **form).partial_fit(X, y), FoReLClassifier(1.0, **form)
    known.partial_fit(X[first:], y[first:], classes=np.unique(y))
    assert grown.gap_ <= 1e-8
    assert_allclose(grown.coef_, known.coef_, atol=2e-3)


@pytest.mark.parametrize("multi_class", ["ovr", "crammer_singer"])
def test_a_class_that_has_yet_to_join_costs_nothing(multi_class):
    """Rows before the first ones of two joining classes have the losses that they have in calls of their own."""
    X, y = np.random.default_rng(0).standard_normal((30, 3)), np.arange(30) % 2
    y[[20, 25]] = 2, 3
    together, apart = (FoReLClassifier(10.0, multi_class=multi_class) for _ in range(2))
    together.partial_fit(X, y)
    for i in range(30):
        apart.partial_fit(X[i : i + 1], y[i : i + 1])
    np.testing.assert_array_equal(state_of(together).counters, state_of(apart).counters)


def test_an_interrupt_leaves_whole_rows_and_the_rest_can_follow(monkeypatch):
    X, y = continuous_problem(60, 6, seed=68)
    whole = FoReLClassifier(gap_tol=1e-6).partial_fit(X, y, classes=[-1, 1])
    learner = FoReLClassifier(gap_tol=1e-6).partial_fit(X[:20], y[:20], classes=[-1, 1])

    def interrupted(params, state, data, first, n, said):
        learn(params, state, data, first, 40, said)
        raise KeyboardInterrupt

    learn = internals.leader._LEARN[8]
    monkeypatch.setitem(internals.leader._LEARN, 8, interrupted)
    with pytest.raises(KeyboardInterrupt):
        learner.partial_fit(X[20:], y[20:])
    monkeypatch.undo()
    assert learner.t_ == len(state_of(learner).labels) == 40
    assert fingerprint(learner.partial_fit(X[40:], y[40:])) == fingerprint(whole)


# --- in a file -----------------------------------------------------------------------------------------------------------------


def test_a_file_keeps_a_single_label_and_a_sweep_that_was_interrupted(tmp_path):
    X, y = continuous_problem(40, 5, seed=72)
    learner = FoReLClassifier().partial_fit(X[:5], np.zeros(5, int))
    learner.save(tmp_path / "model")
    assert fingerprint(load(tmp_path / "model").partial_fit(X, y)) == fingerprint(learner.partial_fit(X, y))
    state_of(learner).shared[PENDING] = 3.0  # as an interrupt within the third sweep leaves it
    learner.save(tmp_path / "model")
    assert fingerprint(load(tmp_path / "model").partial_fit(X, y)) == fingerprint(learner.partial_fit(X, y))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_dual_variables_above_their_rows_weights(n_classes):
    X, y = continuous_problem(30, 5, seed=73, n_classes=n_classes)
    state = state_of(FoReLClassifier(0.5, multi_class="ovr").partial_fit(X, y))
    assert state.problem() == ""
    state.alpha[0] = 1.0
    assert state.problem() == "weights that are not those of the dual variables"
    state.alpha[0] = 1.001
    assert state.problem() == "dual variables out of range"
    state.alpha[0], state.weights[0] = 1.0, 0.0  # a row that was left out
    assert state.problem() == "dual variables out of range"


@pytest.mark.parametrize("multi_class", ["ovr", "crammer_singer"])
def test_a_class_that_came_and_went_leaves_the_dual_variables_as_they_were(multi_class):
    """An interrupt before a newcomer's first row takes it out again."""
    X, y = continuous_problem(30, 5, seed=76, n_classes=3)
    state = state_of(FoReLClassifier(0.5, multi_class=multi_class).partial_fit(X, y))
    back = state.grow_classes(np.array([0, 2, 3]), 4, state.params).keep_classes(np.array([True, False, True, True]))
    for name in state.ARRAYS:
        assert (getattr(back, name) == getattr(state, name)).all(), name


@pytest.mark.parametrize("weight", [1e-12, 1e-17, 1e-300])
def test_a_row_of_tiny_weight_takes_no_more_than_it_has(weight):
    X, y = [[1.0, -2.0, 0.5]], [1]
    leader = FoReLClassifier(1.0).partial_fit(X, y, classes=range(3), sample_weight=[weight])
    assert_allclose(leader.dual_coef_.sum(), weight, rtol=1e-12)
    ascent = DualAscentClassifier(1.0, update="DA3").partial_fit(X, y, classes=range(3), sample_weight=[weight])
    assert_allclose(np.abs(ascent.coef_).max(), 2.0 * weight, rtol=1e-12)


def test_a_softmax_with_classes_that_join_is_the_same_in_any_split():
    X, y = np.zeros((12, 2), np.float32), np.array([0, 0, 0, 1, 2, 0, 0, 0, 1, 3, 0, 0])
    X[4] = [0.0, 1.0]
    whole, split = (FoReLClassifier(2.0, loss="log_loss", multi_class="crammer_singer") for _ in range(2))
    whole.partial_fit(X, y), split.partial_fit(X[:5], y[:5]).partial_fit(X[5:], y[5:])
    assert fingerprint(whole) == fingerprint(split)
