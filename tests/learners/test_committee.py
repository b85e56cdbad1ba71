"""Committees: beside their slow twins and their members learnt alone; what they refuse; the bound of the exponential weights."""

import numpy as np
import pytest
from contracts import PAUSES
from internals import choose, predict_on_the_way
from matrices import continuous_problem, csr32
from numpy.testing import assert_allclose
from reference import costs_of_classes
from states import but_for_history, fingerprint

import onlinecls
from onlinecls import AROWClassifier, AROWRegressor, CommitteeClassifier, CommitteeRegressor, PassiveAggressiveClassifier, bounds
from onlinecls.reference import RULES, Additive, Combiner, Committee, Gaussian, Level, Model, NumberCommittee

COMBINES = ("arow", "hedge")


def drifting(n, d, n_classes=2, seed=0):
    """Rows whose labels change their meaning half-way."""
    X, y = continuous_problem(n, d, seed, n_classes, 0.6)
    y = (y > 0) * 1 if n_classes == 2 else y
    return X, np.where(np.arange(n) < n // 2, y, (y + 1) % n_classes)


# --- the twin ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("combine, share, class_weight", [
    ("arow", 0.0, None), ("hedge", 0.0, None), ("hedge", 0.02, None), ("arow", 0.0, {0: 9.0, 1: 1.0, 2: 2.0, 3: 0.5}),
])
@pytest.mark.parametrize("n_classes, multi_class", [(2, "ovr"), (4, "ovr"), (4, "crammer_singer")])
@pytest.mark.parametrize("rare", [False, True])
def test_classes_are_those_of_the_twin(n_classes, multi_class, combine, share, class_weight, rare):
    X, y = drifting(400, 8, n_classes)
    keep = (y > 0) | (np.arange(400) % 37 == 0) if rare else y >= 0
    X, y = X[keep], y[keep]
    weights = np.random.default_rng(1).choice([0.3, 1.0, 2.0], len(y))
    form = {"multi_class": multi_class, "intercept_scaling": 1.0}
    members = [AROWClassifier(0.5, **form), PassiveAggressiveClassifier(0.1, **form),
               AROWClassifier(2.0, forgetting=0.01, **form)]
    makes = [lambda d: Gaussian(d, RULES["arow"].step, r=0.5, r2=0.5), lambda d: Additive(d, RULES["pa1"].step, C=0.1),
             lambda d: Gaussian(d, RULES["arow"].step, r=2.0, r2=2.0, forgetting=0.01)]
    twin = Committee([Model(make, 9, n_classes, multi_class) for make in makes], Combiner(3, combine, 0.7, 0.02, share))
    class_weight = class_weight and {label: class_weight[label] for label in range(n_classes)}
    model = CommitteeClassifier(members, combine=combine, r=0.7, forgetting=0.02, share=share, class_weight=class_weight)
    model.partial_fit(X, y, classes=np.arange(n_classes), sample_weight=weights)
    costs = costs_of_classes("margin", 1.0, y, class_weight or dict.fromkeys(range(n_classes), 1.0), weights)
    for x, label, own, (weight, offset) in zip(X, y, weights, costs, strict=True):
        twin.consume([*x, 1.0], label, weight, offset, own)
    assert_allclose(model.member_weights_, twin.combiner.w, rtol=1e-7)
    assert model.n_mistakes_ == twin.n_mistakes
    assert model.member_mistakes_.tolist() == [member.n_mistakes for member in twin.members]
    if combine == "arow":
        moments = twin.combiner.n, twin.combiner.mu, [np.tril(twin.combiner.S)], twin.combiner.v
        for mine, expected in zip(("seen", "means", "scatter", "apart"), moments, strict=True):
            assert_allclose(getattr(model._state, mine), expected, rtol=1e-7, atol=1e-12)
    else:
        assert_allclose(model.member_losses_, [*twin.combiner.L, twin.combiner.paid], rtol=1e-9)
    W = np.tensordot(twin.combiner.w, [member.W for member in twin.members], 1)
    assert_allclose(model.coef_, W[:, :-1], rtol=1e-6, atol=1e-9)
    assert_allclose(model.intercept_, W[:, -1], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("combine", COMBINES)
def test_numbers_are_those_of_the_twin(combine):
    X, _ = continuous_problem(200, 6, seed=3)
    X[4] = 0.0
    y = 300.0 * (X @ np.linspace(-1.0, 1.0, 6) + 0.2 * np.sin(np.arange(200)))
    y[:3] = [0.0, 1e4, 0.0]  # the median of the first rows moves on
    members = [AROWRegressor(r, intercept_scaling=1.0) for r in (0.1, 3.0)]
    twin = NumberCommittee(
        [Gaussian(7, RULES["arow_regression"].step, r=r, r2=r) for r in (0.1, 3.0)], Combiner(2, combine, 1.0, 0.01),
        Level(0.01))
    model = CommitteeRegressor(members, combine=combine).partial_fit(X, y)
    for x, target in zip(X, y, strict=True):
        twin.consume(np.array([*x, 1.0]), target)
    assert_allclose(model.member_weights_, twin.combiner.w, rtol=1e-7)
    assert model._state.gauge.tolist() == [twin.unit, 16.0] and not model._state.kept.any()
    of_three = CommitteeRegressor().partial_fit(np.eye(3), [0.0, 1.0, 64.5])  # of deviations 0, 1, 64, 1 is the unit
    assert of_three._state.gauge.tolist() == [1.0, 3.0]


# --- whom it follows -----------------------------------------------------------------------------------------------------------


def test_a_member_that_errs_less_than_the_combination_is_followed():
    X, y = continuous_problem(2000, 20, 4)
    y = np.where(np.random.default_rng(0).random(2000) < 0.2, -y, y)
    members = [AROWClassifier(), *(PassiveAggressiveClassifier(C) for C in (1.0, 10.0, 100.0))]  # three that err where labels do
    model = CommitteeClassifier(members, r=1e12).partial_fit(X, y)  # (a stays the mean)
    assert model.member_weights_[0] > 0.99 and model.n_mistakes_ < 1.05 * model.member_mistakes_.min()


def test_rows_of_a_rare_class_are_remembered():
    """Each class counts with as many rows as if both were as frequent, so that ranks are as good as the best member's."""
    rng = np.random.default_rng(0)
    y = (rng.random(6000) < 0.01) * 1
    X = rng.standard_normal((6000, 20)) + np.outer(y, np.linspace(-1.0, 1.0, 20))
    model = CommitteeClassifier(class_weight="balanced").partial_fit(X[:3000], y[:3000], classes=[0, 1])

    def auc(learner):
        scores, labels = learner.decision_function(X[3000:]), y[3000:] > 0
        return np.mean(scores[labels][:, None] > scores[~labels])

    assert auc(model) > 0.99 * max(map(auc, model.members_))


def test_the_member_that_ranks_a_rare_class_is_followed():
    """Members that forget soon make fewer mistakes, as they predict the rare class less often; their ranks are worse."""
    rng = np.random.default_rng(0)
    y = (rng.random(8000) < 0.01) * 1
    X = rng.standard_normal((8000, 8)) + 0.7 * y[:, None]
    model = CommitteeClassifier([AROWClassifier(), *[AROWClassifier(forgetting=0.05)] * 3], class_weight="balanced")
    model.partial_fit(X, y, classes=[0, 1])
    assert model.member_mistakes_.argmax() == 0 and model.member_weights_[0] > 0.75 and model.member_weights_.min() >= 0.0


def test_moments_of_classes_begin_anew_with_other_classes():
    X, y = drifting(200, 5)
    y[6:] = 0
    y[150] = 1
    model = CommitteeClassifier(dtype=np.float64).partial_fit(X, y)
    state = model._state
    assert state.seen.min() > 0.0 and (state.apart != 0.25).any()
    for cold in (model.partial_fit(X[:1], [2])._state, state.keep_classes(np.array([True, False]))):
        assert not (cold.seen.any() or cold.means.any() or cold.scatter.any()) and (cold.apart == 0.25).all()


def test_weights_of_ranks_whose_sum_has_no_finite_inverse_are_shares():
    X, y = np.random.default_rng(0).standard_normal((400, 3)), np.arange(400) % 40 == 30
    model = CommitteeClassifier(r=1e308).partial_fit(X + 0.5 * y[:, None], y, [False, True], np.full(400, 1e-3))
    assert 0.0 < model._state.apart.sum() < 1e-309
    assert model.member_weights_.min() >= 0.0 and abs(model.member_weights_.sum() - 1.0) < 1e-9


@pytest.mark.parametrize("far", [1e40, 1e60, 1e150])
@pytest.mark.parametrize("weight", [1.0, 1e-300, 1e300])
def test_no_score_and_no_weight_breaks_the_moments(far, weight):
    X = np.array([[1.0], [-1.0]] * 30 + [[far], [far], [-far], [1e-200]])
    y, weights = np.arange(64) == 31, np.where(np.abs(X[:, 0]) > 1.0, weight, 1.0)
    for r in (1e-300, 1.0):
        model = CommitteeClassifier([PassiveAggressiveClassifier(), AROWClassifier(1.0)], r=r, dtype=np.float64)
        for end in (60, 64):
            model.partial_fit(X[end - 60 : end], y[end - 60 : end], classes=[False, True], sample_weight=weights[end - 60 : end])
        assert all(np.isfinite(part).all() for part in (model._state.scatter, model._state.apart, model.member_weights_))


# --- blocks of rows ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [0, 2, 3])
@pytest.mark.parametrize("kind", [csr32, np.ascontiguousarray])
def test_many_blocks_are_one_stream(n_classes, kind):
    """More rows than members learn at a time: labels, weights and predictions on the way are those of the rows."""
    X, y = continuous_problem(5000, 10, 13, max(n_classes, 2), 0.4)
    weights, classes = np.random.default_rng(2).choice([0.0, 0.5, 3.0], 5000), {"classes": np.unique(y)} if n_classes else {}
    y = X[:, 0] + y if not n_classes else np.where(np.random.default_rng(3).random(5000) < 0.06, y, y.min())
    of_numbers = CommitteeRegressor, AROWRegressor, onlinecls.PassiveAggressiveRegressor
    cls, *kinds = (CommitteeClassifier, AROWClassifier, PassiveAggressiveClassifier) if n_classes else of_numbers
    of_each = {"intercept_scaling": 1.0, "fit_intercept": n_classes > 0}  # (`fit` holds a level, which a stream moves)
    make = lambda **others: cls([kind(0.5, **of_each) for kind in kinds], fit_intercept=n_classes > 0, **others)  # noqa: E731
    whole, split = (make().partial_fit(X[:0], y[:0], **classes) for _ in "ab")
    parts = [slice(at, at + 70) for at in range(0, 5000, 70)]
    if n_classes:
        said = predict_on_the_way(whole, kind(X), y, weights)
        assert (said == np.concatenate([predict_on_the_way(split, kind(X[p]), y[p], weights[p]) for p in parts])).all()
    else:
        whole.partial_fit(kind(X), y, sample_weight=weights)
        for part in parts:
            split.partial_fit(kind(X[part]), y[part], sample_weight=weights[part])
    assert fingerprint(whole) == fingerprint(split)
    order = np.random.RandomState(4).permutation(5000)
    fitted = make(random_state=4).fit(kind(X), y, weights)
    streamed = make().partial_fit(kind(X[order]), y[order], sample_weight=weights[order], **classes)
    assert but_for_history(fitted) == but_for_history(streamed)


def test_rows_beyond_the_range_are_skipped():
    X = np.ones((1, 1), np.float32)
    model = CommitteeClassifier([PassiveAggressiveClassifier(np.inf), AROWClassifier(1.0)], fit_intercept=False)
    model.partial_fit(X, [1], classes=[0, 1]).partial_fit(X, [0])
    assert not model.intercept_.any(), "fit_intercept is the members' too"
    far = np.float32(3e38) * X, [int(model.decision_function(X)[0] < 0.0)]
    for learner, row in ((model, far), (CommitteeRegressor().partial_fit([[1.0], [2.0]], [1.0, 2.0]), (X, [1e200]))):
        before = learner.member_weights_
        learner.partial_fit(*row)
        assert learner.n_skipped_ == 1 and (learner.member_weights_ == before).all()


@pytest.mark.parametrize("combine", COMBINES)
def test_a_new_class_is_no_row_of_the_combiner(combine):
    X, y = drifting(60, 6, 4)
    model = CommitteeClassifier(combine=combine)
    for label in (0, 1, 2, 3):
        model.partial_fit(X[:20][y[:20] < label], y[:20][y[:20] < label]) if label else None
        before = {name: model._state.parts()[name].copy() for name in ("shares", "sigma", "losses")} if label else {}
        model.partial_fit(X[50:51], [label])
        for name, part in before.items():
            assert (part == model._state.parts()[name]).all()


# --- members -------------------------------------------------------------------------------------------------------------------


def assert_learnt_alone(member, alone, tolerance):
    """Check that a member has the bits of a learner alone; with a full covariance, which meets many rows at once, nearly."""
    if getattr(member, "covariance", "") == "full":
        assert_allclose(member.coef_, alone.coef_, rtol=0, atol=tolerance)
    else:
        assert but_for_history(alone) == but_for_history(member)


@pytest.mark.parametrize("width", [20, 400])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_members_are_those_learnt_alone(width, n_classes):
    X, y = continuous_problem(150, width, 5, n_classes, 0.1)
    X[:2] = 0.0
    model = CommitteeClassifier(class_weight="balanced", dtype=np.float32)
    for rows in (slice(0, 150), slice(0, 40)):
        model.partial_fit(csr32(X[rows]), y[rows])
    assert len(model.members_) == len(model.member_names_) == len(model.member_weights_) >= 3
    for member in model.members_:
        alone = type(member)(**member.get_params()).partial_fit(csr32(X.astype(np.float32)), y)
        alone.partial_fit(csr32(X[:40].astype(np.float32)), y[:40])
        assert_learnt_alone(member, alone, 1e-5)
    assert any(member.covariance == "full" for member in model.members_ if hasattr(member, "covariance")) == (width == 20)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_members_follow_the_size_of_the_targets_as_alone(fit_intercept, tmp_path):
    X = continuous_problem(60, 5, 3)[0]
    X[:2] = 0.0
    y = 1e5 * (X @ np.arange(5.0) + 7.0)
    members = [onlinecls.DualAscentRegressor(), onlinecls.DualAscentRegressor(loss="squared"), AROWRegressor()]
    model = CommitteeRegressor(members, fit_intercept=fit_intercept)
    for rows in (slice(0, 1), slice(1, 7), slice(7, 60)):
        model.partial_fit(X[rows], y[rows]).save(tmp_path / "model")
        model = onlinecls.load(tmp_path / "model")
    for member in model.members_:
        assert_learnt_alone(member, type(member)(**member.get_params()).partial_fit(X, y), 1e-3)


def test_a_member_that_learns_on_leaves_the_committee_alone():
    X, y = drifting(60, 5)
    model = CommitteeClassifier().partial_fit(X, y)
    before = fingerprint(model)
    for member in model.members_:
        member.partial_fit(X, 1 - y)
        member.fit(X, y)
    assert fingerprint(model) == before


def test_automatic_members_are_free_of_units():
    X, y = continuous_problem(200, 400, 7, 3, 0.1)
    numbers = X @ np.linspace(-1.0, 1.0, 400)
    plain, scaled = (CommitteeClassifier().partial_fit(factor * X, y) for factor in (1.0, 512.0))
    assert (plain.decision_function(X) == scaled.decision_function(512.0 * X)).all()
    assert plain.n_mistakes_ == scaled.n_mistakes_
    one, other = (CommitteeRegressor().partial_fit(factor * X, 4.0 * factor * numbers) for factor in (1.0, 512.0))
    assert (512.0 * one.predict(X) == other.predict(512.0 * X)).all()
    assert (one.member_weights_ == other.member_weights_).all()
    fitted = [CommitteeClassifier(random_state=0).fit(factor * X, y).decision_function(factor * X) for factor in (1.0, 512.0)]
    assert (fitted[0] == fitted[1]).all()


def test_a_pass_after_the_first_leaves_the_weights_of_members():
    X, y = drifting(100, 400)
    once, twice = (CommitteeClassifier(max_iter=n, shuffle=False).fit(X, y) for n in (1, 2))
    assert (once.member_weights_ != 0.25).any()
    # (r of the members is in units of the number of epochs)
    members = [AROWClassifier(0.5), PassiveAggressiveClassifier()]
    once, twice = (CommitteeClassifier(members, max_iter=n, shuffle=False).fit(X, y) for n in (1, 2))
    assert (once.member_weights_ == twice.member_weights_).all() and (once.coef_ != twice.coef_).any()
    assert (once.t_, twice.t_) == (100, 200)


def test_scores_are_the_members_by_their_weights():
    X, y = continuous_problem(3000, 20, 9, 3, 0.5)
    model = CommitteeClassifier([AROWClassifier(), onlinecls.NAROWClassifier()]).partial_fit(X, y)
    expected = np.zeros((3000, 3))
    for share, member in zip(model.member_weights_, model.members_, strict=True):
        expected += share * member.decision_function(X)
    found = model.decision_function(X)
    assert (found == expected).all() and (found[:1] == model.decision_function(X[:1])).all()
    assert model.coef_ is model.coef_ and not model.coef_.flags.writeable
    assert_allclose(found, X @ model.coef_.T + model.intercept_, rtol=1e-9, atol=1e-9)


def test_a_share_follows_members_that_take_turns():
    paid = {}
    for share in (0.0, 0.01):
        combiner = Combiner(3, "hedge", share=share)
        for t in range(3000):  # three are best in turn
            combiner.learn_label(np.ones(3), 1.0, np.where(np.arange(3) == t // 1000, 1.0, 0.0))
        assert combiner.w.min() >= share / 3.0
        paid[share] = combiner.paid
    assert paid[0.01] < 0.5 * paid[0.0]


def test_a_share_pays_no_more_than_its_bound_for_a_competitor_that_drifts():
    X, y = drifting(2000, 20)
    members = [AROWClassifier(1.0), AROWClassifier(1.0, forgetting=0.05), PassiveAggressiveClassifier()]
    shared = CommitteeClassifier(members, combine="hedge", share=0.005).partial_fit(X[:0], [], classes=[0, 1])
    plain = CommitteeClassifier(members, combine="hedge").partial_fit(X, y)
    losses = np.empty((2000, 3))
    for i, (x, label) in enumerate(zip(X, y, strict=True)):
        scores = [float(member.decision_function(x[None])[0]) for member in shared.members_]
        losses[i] = np.clip(1.0 - (2.0 * label - 1.0) * np.array(scores), 0.0, 1.0)
        shared.partial_fit(x[None], [label])
        if i in (1, 10, 300, 999, 1999):
            ahead = np.cumsum(losses[: i + 1], axis=0)
            drifted = (ahead.min(axis=1) + (ahead[-1] - ahead).min(axis=1)).min()  # one switch, at the best row
            for paid, allowed in (bounds.committee(shared), bounds.committee(shared, drifted, 1)):
                assert 0.0 < paid <= allowed
    assert_allclose(shared.member_losses_[:3], losses.sum(axis=0), rtol=1e-12)
    with pytest.raises(ValueError, match="partial_fit must go on with the kind of model it began with"):
        shared.set_params(share=0.0).partial_fit(X, y)
    for learner, more, message in (
        (plain, (1.0, 1), "share must be above 0 for a competitor"),
        (shared.set_params(share=0.005), (None, 1), "switches must be"), (shared, (1.0, 0.5), "switches must be"),
        (shared, (1.0, 2000), "switches must be an integer from 0 to the rows less 1"),
    ):
        with pytest.raises(ValueError, match=message):
            bounds.committee(learner, *more)


# --- parameters ----------------------------------------------------------------------------------------------------------------


def test_parameters_are_nested_as_those_of_a_voting_classifier():
    model = CommitteeClassifier([("one", AROWClassifier(0.5)), AROWClassifier(2.0), AROWClassifier(3.0)])
    params = model.get_params()
    assert params["one__r"] == 0.5 and params["arowclassifier-2__r"] == 3.0 and params["one"] is model.members[0][1]
    assert "one" not in model.get_params(deep=False)
    X, y = drifting(50, 4)
    model.partial_fit(X, y)
    before = choose(model).params
    model.set_params(one__r=0.25, forgetting=0.0, **{"arowclassifier-1": PassiveAggressiveClassifier()})
    assert model.members[0][1].r == 0.25 and isinstance(model.members[1], PassiveAggressiveClassifier)
    assert choose(model).params is not before
    with pytest.raises(ValueError, match="partial_fit must go on with the kind of model it began with"):
        model.partial_fit(X, y)
    with pytest.raises(ValueError, match="Invalid parameter 'two__r'"):
        model.set_params(two__r=1.0)


def test_members_given_are_cloned_and_go_on_within_their_range_only():
    member = AROWClassifier(0.5)
    X, y = drifting(50, 4)
    model = CommitteeClassifier([member], shuffle=False).partial_fit(X, y)
    assert not member.__sklearn_is_fitted__()
    member.r = 2.0  # which counts from the next `fit` on
    assert model.partial_fit(X, y).members_[0].r == 0.5
    assert (model.fit(X, y).members_[0].coef_ == AROWClassifier(2.0).partial_fit(X, y, [0, 1]).coef_).all()
    model = CommitteeClassifier([("adagrad", onlinecls.AdaGradClassifier(update="dual_averaging"))]).partial_fit(X, y)
    before = fingerprint(model)
    with pytest.raises(ValueError, match="eta0 and delta must keep the weights within float64"):
        model.set_params(adagrad__eta0=1e308, adagrad__delta=1e-300).partial_fit(X, y)
    assert fingerprint(model) == before


@pytest.mark.parametrize("members, message", [
    ([], r"members must be 'auto' or a list of learners, or of \(name, learner\) pairs, got members=\[\]"),
    ("all", "members must be 'auto' or a list"),
    ([AROWClassifier(), onlinecls.KernelOnlineClassifier()],
     r"got 'kernelonlineclassifier', KernelOnlineClassifier.*, which is not one"),
    ([AROWClassifier(), ("numbers", AROWRegressor())], "got 'numbers', AROWRegressor.*, which does not learn labels"),
    ([onlinecls.HedgeClassifier()], r"whose rows are advice in \[0, 1\]"),
    ([onlinecls.OnlineToBatch(AROWClassifier())], "got 'onlinetobatch', .*, which is not one"),
    ([onlinecls.MultiplicativePassiveAggressiveClassifier(signed=False)], "which takes no rows below 0"),
    ([AROWClassifier], "which is not one"),
    ([AROWClassifier(probability=True)], "whose probability, dtype and class_weight must be left to the committee"),
    ([AROWClassifier(class_weight={0: 2.0})], "must be left to the committee"),
    ([AROWClassifier(), ("joint", AROWClassifier(multi_class="crammer_singer"))],
     "members must be of the same multi_class, got multi_class='ovr' of 'arowclassifier' and multi_class='crammer_singer' of "),
    ([("a", AROWClassifier()), ("b", AROWClassifier(r=-1.0))], r"member 'b' must have parameters in their ranges: .* got r=-1"),
    ([("a", AROWClassifier()), ("a", AROWClassifier())], "members must have different names"),
    ([("r", AROWClassifier())], "members must have different names"),
    ([("a__b", AROWClassifier())], "members must have different names"),
])
def test_bad_members_are_refused_before_anything_is_learnt(members, message):
    X, y = drifting(30, 4)
    for call in ("fit", "partial_fit"):
        model = CommitteeClassifier(members)
        with pytest.raises(ValueError, match=f"CommitteeClassifier: .*{message}"):
            getattr(model, call)(X, y)
        assert not model.__sklearn_is_fitted__()
    repr(model), model.get_params(deep=False)


def test_committees_do_not_merge():
    X, y = drifting(30, 4)
    models = [CommitteeClassifier().partial_fit(X, y) for _ in "ab"]
    with pytest.raises(ValueError, match="merge must have models that merge, got a CommitteeClassifier: its members' weights"):
        onlinecls.merge(models)


# --- the bound of the exponential weights --------------------------------------------------------------------------------------


def test_the_bound_is_of_committees_that_have_learnt_by_exponential_weights():
    X, y = drifting(200, 20)
    paid, allowed = bounds.committee(CommitteeClassifier(combine="hedge").partial_fit(X, y))
    assert 0.0 < paid <= allowed
    with pytest.raises(ValueError, match="committee: learner must be a committee with combine='hedge', got Com"):
        bounds.committee(CommitteeClassifier().partial_fit(X, y))
    learnt = CommitteeClassifier().partial_fit(X, y).set_params(combine="hedge")
    with pytest.raises(ValueError, match=r"bounds\.committee: learner must have learnt with combine='hedge', got one"):
        bounds.committee(learnt)
    with pytest.raises(AttributeError, match="member_losses_ must be of a model learnt with combine='hedge', got one learnt"):
        learnt.member_losses_  # noqa: B018


@pytest.mark.parametrize("weigh", [
    lambda model, X, y: model.partial_fit(X, y, sample_weight=[1.0, 3.0, *[1.0] * (len(y) - 2)]),
    lambda model, X, y: model.set_params(class_weight={1: 3.0}).partial_fit(X, y).set_params(class_weight=None),
    lambda model, X, y: model.set_params(class_weight="balanced").partial_fit(X, y).set_params(class_weight=None),
], ids=["a row's weight", "class weights", "balanced"])
@pytest.mark.parametrize("n", [3, 60])
def test_the_bound_of_hedge_is_refused_for_heavy_rows_for_good(weigh, n):
    """Young or not, and whatever happens to the model afterwards: the losses of the heavy rows stay in the sums."""
    X, y = drifting(200, 5)
    y[:3] = [0, 0, 1]
    model = CommitteeClassifier(combine="hedge").partial_fit(X[:0], [], classes=[0, 1])
    model = weigh(model, X[:n], y[:n]).partial_fit(X[n:], y[n:])
    heavy = model._state.heaviest
    for of in (*PAUSES, lambda one: one.partial_fit(X[:20], y[:20])):
        model = of(model)
        assert model._state.heaviest == heavy > 1.0
        with pytest.raises(ValueError, match=r"bounds\.committee: learner must have learnt rows of weight up to 1, .*, got "):
            bounds.committee(model)
    bounds.committee(model.fit(X, y))  # (a new model)


def test_an_adversary_cannot_break_the_bound_of_hedge_but_by_heavy_rows():
    """The label is always the one that the heavier member does not say: the mean of the losses is as bad as it can be. A loss
    times a weight up to 1 is a loss in [0, 1]; heavy rows break the bound: they are refused for a reason."""
    X, rng = np.random.default_rng(0).standard_normal((400, 5)), np.random.default_rng(1)
    members = [AROWClassifier(0.01), AROWClassifier(1.0, forgetting=0.01), AROWClassifier(100.0)]
    for weights in ([1.0], [0.01, 0.5, 1.0], [10.0, 500.0, 1000.0]):
        model = CommitteeClassifier(members, combine="hedge").partial_fit(X[:0], [], classes=[0, 1])
        for x in X:
            said = [member.decision_function(x[None])[0] for member in model.members_]
            label = int(model.member_weights_ @ np.sign(said) < 0.0)
            model.partial_fit(x[None], [label], sample_weight=[rng.choice(weights)])
        *losses, paid = model.member_losses_
        allowed = min(losses) + 2.0 * np.sqrt(400 * np.log(3) / 2.0) + np.sqrt(np.log(3) / 8.0)
        assert min(losses) < paid and (paid > allowed) == (max(weights) > 1.0)
        if max(weights) <= 1.0:
            assert bounds.committee(model) == pytest.approx((paid, allowed))


def test_rows_that_the_combiner_skipped_are_not_paid():
    model = CommitteeRegressor(combine="hedge").partial_fit([[1.0], [2.0]] * 10, [1.0, 2.0] * 10)
    assert bounds.committee(model).paid < bounds.committee(model).allowed
    with pytest.raises(ValueError, match=r"bounds\.committee: X must be rows whose steps fit float64, got 1 of 21"):
        bounds.committee(model.partial_fit([[1.0]], [1e200]))
