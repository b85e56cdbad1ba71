"""Models of parts of a stream as one: what it is for every row of the registry, and what is refused."""

import itertools
import pickle

import numpy as np
import pytest
from algorithms import LEARNERS
from contracts import through_a_file
from internals import ALGORITHMS, OTHERS, state_of
from looping import each_estimator, within
from numpy.testing import assert_allclose, assert_array_equal
from states import fingerprint, is_finite

import onlinecls

#: Of each family at each task those whose models differ in kind.
MERGED = list({
    (one.family, one.task, *(str(one.params.get(name)) for name in ("sigma", "signed", "covariance", "p", "l1"))): one
    for one in LEARNERS if not one.params.get("forgetting") and not one.params.get("share")
    if one.family in ALGORITHMS and not ALGORITHMS[one.family].unmerged
}.values())
UNMERGED = [one for one in LEARNERS if one.family not in ALGORITHMS or ALGORITHMS[one.family].unmerged]
every_learner = each_estimator(learner=MERGED)


def units(learner):
    """The units of rows and of the constant feature, which the first rows of each part would tell otherwise."""
    return {name: 1.0 for name in ("scale", "intercept_scaling") if learner.offers(name)}


def shards(learner, n=3, rows=40, dtype="float64"):
    """Models of parts of a stream, each with some of its classes; the classes come in any order."""
    X, y = learner.problem(n * rows, dtype=dtype)
    parts = [np.arange(n * rows)[k::n] for k in range(n)]
    if learner.task in ("crammer_singer", "ovr"):
        parts = [part[(y[part] != k) | (k == 2)] for k, part in enumerate(parts)]
    return [learner(dtype=dtype, **units(learner)).partial_fit(X[part], y[part]) for part in parts], (X, y)


def numbers(model, X):
    """Return all public numbers of a model in double."""
    names = ("coef_", "intercept_", "covariance_", "center_", "t_", "n_mistakes_", "n_updates_", "n_skipped_", "progressive_mse_")
    found = {name: np.asarray(getattr(model, name), float) for name in names if hasattr(model, name)}
    return {**found, "scores": np.asarray(getattr(model, "decision_function", model.predict)(X), float)}


def assert_close(found, expected, X, tolerance=1e-9):
    found, expected = numbers(found, X), numbers(expected, X)
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        assert_allclose(found[name], value, tolerance, tolerance * max(1.0, np.abs(value).max(initial=0.0)), err_msg=name)


# --- the slow twin: the formulas, on what is stored of each feature (the constant one last) ------------------------------------


def full(model):
    """Σ of each vector, diagonal or full, (vectors, D, D)."""
    state = state_of(model)
    if state.sigma.shape[0]:
        lower = np.tril(state.sigma).astype(float)
        return lower + np.tril(lower, -1).transpose(0, 2, 1)
    return np.stack([np.diag(column) for column in state.view[:, 1].T.astype(float)])


def slow_merge(models):
    """(vectors, features + 1) weights, and Σ, of models of the same classes and units."""
    t = np.array([model.t_ for model in models], float)
    how = next(row for row in ALGORITHMS.values() if row.estimator == type(models[0]).__name__
               and all(getattr(models[0], name) == value for name, value in row.selects.items()))
    stored = [state_of(model).view.astype(float) for model in models]
    kind = state_of(models[0]).geometry
    if "gaussian" in how.geometry or "potential" in how.geometry:
        P = [np.linalg.inv(full(model)) for model in models]
        P_0 = np.eye(len(stored[0])) / state_of(models[0]).variance
        Sigma = np.linalg.inv(P_0 + sum(own - P_0 for own in P))
        theta = [view[:, 0].T if kind == "potential" else np.einsum("cij,cj->ci", own, view[:, 0].T)
                 for own, view in zip(P, stored, strict=True)]
        return np.einsum("cij,cj->ci", Sigma, sum(theta)), Sigma
    if kind == "dual":
        z, G, model = sum(s[:, 0] for s in stored), sum(s[:, 1] for s in stored), models[0]
        soft = np.sign(z) * np.maximum(np.abs(z) - model.l1 * t.sum(), 0.0)
        return (model.eta0 * soft / (model.delta + np.sqrt(G))).T, None
    if kind == "proximal":  # weights by n, which add up
        n = sum(s[:, 1] for s in stored)
        weights = [np.column_stack([np.atleast_2d(model.coef_), model.intercept_]) for model in models]
        return sum(s[:, 1].T * w for s, w in zip(stored, weights, strict=True)) / np.where(n > 0.0, n, 1.0).T, None
    if kind == "p_norm":
        theta, p = sum(k * s[:, 0] for k, s in zip(t, stored, strict=True)) / t.sum(), state_of(models[0])._powers[0]
        joint = getattr(models[0], "multi_class", "") == "crammer_singer"
        norm = np.linalg.norm(theta.ravel(), p) if joint else np.linalg.norm(theta, p, axis=0)
        return (norm / (p - 1) * np.sign(theta) * (np.abs(theta) / norm) ** (p - 1)).T, None
    if kind in ("sinh", "exp", "entropic"):
        u = sum(k * s[:, 1] for k, s in zip(t, stored, strict=True)) / t.sum()
        live = slice(None) if getattr(models[0], "fit_intercept", False) else slice(0, -1)
        joint = getattr(models[0], "multi_class", "") == "crammer_singer"
        signed = models[0].signed
        top = (np.abs(u) if signed else u).max(axis=None if joint else 0)  # (e^top alone might overflow)
        up, down = np.exp(u - top), np.exp(-u - top) if signed else 0.0
        powers, sizes = up - down, up + down
        total = sizes[live].sum() if joint else sizes[live].sum(axis=0)
        W = models[0].norm_bound
        return (W * powers / total).T, None
    if type(models[0]).__name__ == "HedgeClassifier":
        theta, eta = sum(s[:-1, 0] for s in stored), models[0].eta0
        rate = np.sqrt(8 * np.log(len(theta)) / (t.sum() + 1)) if eta == "auto" else eta
        w = np.exp(rate * (theta - theta.max()))
        return (w / w.sum())[:, 0][None], None
    weights = [np.column_stack([np.atleast_2d(model.coef_), model.intercept_]) if hasattr(model, "coef_") else model.center_[None]
               for model in models]
    return sum(k * w for k, w in zip(t, weights, strict=True)) / t.sum(), None


def in_parts(learner, X, y, cuts, **others):
    classes = {"classes": np.unique(y)} if learner.is_classifier else {}
    models = [learner(**units(learner), **others) for _ in range(len(cuts) + 1)]
    return [model.partial_fit(X[a:b], y[a:b], **classes)
            for model, (a, b) in zip(models, itertools.pairwise((0, *cuts, len(y))), strict=True)]


@every_learner
def test_a_merge_is_that_of_the_slow_twin(learner):
    models = in_parts(learner, *learner.problem(90), (20, 50))
    weights, Sigma = slow_merge(models)
    merged = onlinecls.merge(models)
    found = np.atleast_2d(merged.coef_ if hasattr(merged, "coef_") else merged.center_)
    scale = max(1e-12, np.abs(weights).max())
    assert_allclose(found, weights[:, : found.shape[1]], 1e-9, 1e-11 * scale)
    if hasattr(merged, "intercept_") and learner.offers("fit_intercept"):
        assert_allclose(merged.intercept_, weights[:, -1], 1e-9, 1e-11 * scale)
    if Sigma is not None:
        assert_allclose(full(merged), Sigma, 1e-8, 1e-10 * Sigma.max())
    if learner.can_average:  # means, weighted by rounds
        X, y = learner.problem(60)
        models = in_parts(learner, X, y, (10, 30), average=True)
        merged, expected = onlinecls.merge(models), sum(model.t_ * model.coef_ for model in models) / 60
        assert_allclose(merged.coef_, expected, 1e-9, 1e-10 * np.abs(expected).max())
        assert_close(onlinecls.merge([onlinecls.merge(models[:2]), models[2]]), merged, X)


@every_learner
def test_merging_is_associative_and_leaves_the_models_alone(learner):
    models, (X, _) = shards(learner)
    before = [fingerprint(model) for model in models]
    a, b, c = models
    at_once = onlinecls.merge(models)
    for other in (onlinecls.merge([onlinecls.merge([a, b]), c]), onlinecls.merge([a, onlinecls.merge([b, c])])):
        assert_close(other, at_once, X)
    assert [fingerprint(model) for model in models] == before
    assert at_once.t_ == sum(model.t_ for model in models)
    classes = [model.classes_ for model in models] if learner.is_classifier else []
    assert a.merge(b, c) is a and fingerprint(a) == fingerprint(at_once)
    if classes:
        assert_array_equal(at_once.classes_, np.unique(np.concatenate(classes)))


@every_learner
@within(dtype=["float64", "float32"])
def test_a_merged_model_is_saved_and_learns_on(learner, dtype):
    models, (X, y) = shards(learner, dtype=dtype)
    merged = onlinecls.merge(models)
    twins = [merged, through_a_file(merged), pickle.loads(pickle.dumps(merged))]
    assert all(fingerprint(twin) == fingerprint(merged) for twin in twins)
    for twin in twins:
        twin.partial_fit(X[:30], y[:30])
        assert fingerprint(twin) == fingerprint(merged) and is_finite(twin)


@every_learner
def test_merging_a_model_without_rows_changes_nothing(learner):
    models, (X, y) = shards(learner, 2)
    fresh, zero = (learner(dtype="float64", **units(learner)) for _ in range(2))
    more = {"classes": np.unique(y)} if learner.is_classifier else {}
    zero.partial_fit(X[:2], y[:2], sample_weight=[0.0, 0.0], **more)
    for untouched in (fresh, zero):
        for several in ([models[0], untouched], [untouched, models[0]]):
            assert fingerprint(onlinecls.merge(several)) == fingerprint(models[0])
        assert fingerprint(onlinecls.merge([untouched, *models])) == fingerprint(onlinecls.merge(models))
    with pytest.raises(ValueError, match="not been fitted"):
        onlinecls.merge([fresh, learner(**units(learner))])


# --- second order ---------------------------------------------------------------------------------------------------------------


def test_classes_that_shared_a_vector_keep_what_they_know_of_it():
    """A vector that two classes shared begins, as each of them, with half the variance: features never met stay at the prior."""
    X, y = np.eye(6)[[0, 1, 2, 0, 1, 2]], np.array(["a", "b", "c", "b", "a", "c"])
    halves = slice(0, 3), slice(3, 6)
    models = [onlinecls.AROWClassifier(r=0.5, fit_intercept=False).partial_fit(X[half], y[half]) for half in halves]
    merged = onlinecls.merge([models[0]] + 9 * [models[1]])
    assert_array_equal(merged.covariance_[:, 5], [0.5, 0.5, 1.0])
    assert (merged.covariance_ <= models[0].covariance_ + 1e-15).all()


# --- what is refused ------------------------------------------------------------------------------------------------------------


@each_estimator(learner=UNMERGED)
def test_merge_says_why_learners_that_keep_rows_do_not_merge(learner):
    X, y = learner.problem(20)
    model, other = (learner(**units(learner)).partial_fit(X, y) for _ in "ab")
    before = fingerprint(model)
    reason = next(row.unmerged for row in (*ALGORITHMS.values(), *OTHERS.values()) if row.estimator == learner.estimator)
    with pytest.raises(ValueError, match=f"{learner.estimator}: merge must have models that merge, .*{reason}"):
        onlinecls.merge([model, other])
    assert fingerprint(model) == before


def test_models_that_cannot_be_merged_are_refused():
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    X, y, AROW = np.eye(4), np.array([0, 1, 0, 1]), onlinecls.AROWClassifier
    model = lambda estimator, rows=X, labels=y: estimator.partial_fit(rows, labels)  # noqa: E731
    forgetting, other_average = model(AROW()), model(AROW())
    forgetting.forgetting, other_average.average = 0.001, True
    names = [pd.DataFrame(X, columns=list(order)) for order in ("abcd", "abdc")]
    for models, message in (
        ([], "models must be at least one"),
        ([model(AROW()), model(onlinecls.NAROWClassifier())], "one class"), ([model(AROW()), 7], "one class"),
        ([model(AROW(r=0.5)), model(AROW(r=1.0))], "the same r, got r=0.5 and r=1.0"),
        ([model(AROW(probability=which)) for which in (True, False)], "the same probability"),
        ([model(AROW()), model(AROW(), np.eye(4)[:, :3])], "the same features"),
        ([model(AROW()), model(AROW(), 8.0 * X)], "one scale_, got 1 and 8"),
        ([model(AROW(intercept_scaling=value)) for value in (1.0, 2.0)], "the same intercept_scaling"),
        ([model(AROW()), model(AROW(dtype=np.float32))], "the same dtype"),
        ([model(AROW(), X) for X in names], "the same feature names"),
        ([model(AROW()), model(AROW(), X, y.astype(str))], "classes of the other model must be labels like"),
        ([forgetting, forgetting], "forget nothing"),
        ([other_average, other_average], "the kind that their parameters choose"),
        ([model(onlinecls.HedgeClassifier()), model(onlinecls.HedgeClassifier(), X, y + 1)], "2 classes"),
    ):
        before = [fingerprint(model) for model in models if model != 7]
        for merge in (onlinecls.merge, lambda models: models[0].merge(*models[1:]))[: len(models) or 1]:
            with pytest.raises(ValueError, match=message):
                merge(models)
        assert [fingerprint(model) for model in models if model != 7] == before


# --- probabilities --------------------------------------------------------------------------------------------------------------


@within(n_classes=[2, 3])
def test_merged_probabilities_are_means(n_classes):
    """a and b are means weighted by each part's rounds, and the weights of rows are added up."""
    rng = np.random.default_rng(0)
    X, W = rng.normal(size=(400, 20)), rng.normal(size=(20, n_classes))
    y = (X @ W + 2.0 * rng.gumbel(size=(400, n_classes))).argmax(axis=1)
    parts = [onlinecls.AROWClassifier(probability=True, scale=1.0).partial_fit(X[a:b], y[a:b], classes=range(n_classes))
             for a, b in itertools.pairwise((0, 50, 250, 400))]
    merged = onlinecls.merge(parts)
    parts, found = np.array([state_of(part).calibration[0] for part in parts]), state_of(merged).calibration[0]
    assert_allclose(found[:2], np.average(parts[:, :2], axis=0, weights=[50, 200, 150]))
    assert_allclose(found[-1], parts[:, -1].sum())


def test_probabilities_merge_where_classes_have_joined():
    """Of a part that knows two classes, b stays behind."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(900, 3)) + np.repeat(np.eye(3), 300, axis=0) * 3.0
    y, order = np.repeat(np.arange(3), 300), rng.permutation(900)
    some = order[y[order] != 2]
    make = lambda: onlinecls.AROWClassifier(probability=True)  # noqa: E731
    merged = onlinecls.merge([make().partial_fit(X[rows], y[rows]) for rows in (some, order)])
    assert state_of(merged).calibration[0, 1] == 0.0 and -np.log(merged.predict_proba(X)[np.arange(900), y]).mean() < 0.7


@pytest.mark.parametrize("covariance", ["diagonal", "full"])
@pytest.mark.parametrize("estimator", [onlinecls.AROWClassifier, onlinecls.NAROWClassifier, onlinecls.SCWClassifier])
def test_models_that_have_met_nothing_but_zeros_merge_and_go_on(estimator, covariance):
    """The units of such models are still open: the first row that is not zero sets them."""
    zeros, y, X = np.zeros((9, 3)), [0, 1, 2] * 3, np.random.default_rng(0).standard_normal((9, 3))
    merged = onlinecls.merge([estimator(covariance=covariance).partial_fit(zeros, y) for _ in range(2)])
    one = estimator(covariance=covariance).partial_fit(np.vstack([zeros, zeros]), y + y)
    assert merged.t_ == 18
    assert_array_equal(merged.partial_fit(X, y).coef_, one.partial_fit(X, y).coef_)
