"""Rows of several labels: MultiLabelClassifier against its slow twin, and the contracts that every learner keeps."""

import copy
import pickle
from functools import partial
from math import inf

import numpy as np
import pytest
from contracts import through_a_file
from internals import stored
from matrices import csr32
from numpy.testing import assert_allclose, assert_array_equal
from reference import REFERENCE
from scipy import sparse
from sklearn import metrics
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from states import fingerprint, is_finite

import onlinecls
from onlinecls import AROWClassifier, MultiLabelClassifier, merge
from onlinecls.measures import MultiLabelMeasures
from onlinecls.reference import SetsModel

NAMES = np.array(["art", "biz", "law", "med", "pop"])
CASES = [
    ("arow", {"r": 0.5}), ("arow", {"r": 0.5, "forgetting": 0.01}), ("pa1", {"C": 0.3}), ("pa1", {"C": inf}), ("pa2", {"C": 0.3}),
]
every_case = pytest.mark.parametrize("name, params", CASES, ids=[f"{name}-{params}" for name, params in CASES])
both_updates = pytest.mark.parametrize("update", ["all", "worst"])


def estimator(name, params, **others):
    chosen = {"arow": {"algorithm": "arow"}, "pa1": {"algorithm": "pa", "loss": "hinge"},
              "pa2": {"algorithm": "pa", "loss": "squared_hinge"}}[name]
    return MultiLabelClassifier(**chosen, **params, **others)


def problem(n=90, d=7, k=5, seed=0):
    """Rows, most of whose features are 0, and an indicator matrix: some rows have no label, labels appear one after another."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.6)
    has = (X @ rng.standard_normal((d, k)) + 0.3 * rng.standard_normal((n, k)) > 0.7).astype(np.uint8)
    has *= (np.arange(n)[:, None] >= 9 * np.arange(k)).astype(np.uint8)
    has[0, 0] = 1
    return X, has


def lists_of(has, names=NAMES):
    return [names[: len(row)][row > 0].tolist() for row in has]


def twin_of(name, params, X, has, update="all", weights=None):
    model = SetsModel(partial(REFERENCE[name], **params), X.shape[1], has.shape[1], update)
    for i, (x, row) in enumerate(zip(X.astype(float), has, strict=True)):
        c = 1.0 if weights is None else weights[i]
        if c > 0.0:
            model.consume(x, set(np.flatnonzero(row).tolist()), c)
    return model


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("k", [1, 2, 5])
@both_updates
@every_case
def test_the_model_is_that_of_the_slow_twin(name, params, update, k, dtype):
    X, has = problem(k=k)
    X = X.astype(dtype)
    weights = np.random.default_rng(1).choice([0.0, 0.5, 1.0, 2.0], len(X))
    twin = twin_of(name, params, X, has, update, weights)
    learner = estimator(name, params, update=update, fit_intercept=False)
    learner.partial_fit(csr32(X), has, sample_weight=weights)
    tolerance = 1e-10 if dtype == "float64" else 2e-4
    assert learner.coef_.shape == (k, 7)
    assert_allclose(learner.coef_, twin.W, rtol=tolerance, atol=tolerance * np.abs(twin.W).max())
    if name == "arow":
        found = np.minimum(stored(learner)["values"].reshape(8, 2, -1)[:-1, 1, :k].T, np.inf)
        if not params.get("forgetting"):
            assert_allclose(found, twin.Sigma, rtol=10 * tolerance)
    assert (learner.t_, learner.n_mistakes_, learner.n_updates_) == (twin.t, twin.n_mistakes, twin.n_updates)
    assert_array_equal(learner.predict(X), (X.astype(float) @ twin.W.T > 0.0).astype(int))


def test_a_row_moves_its_labels_up_and_the_others_down():
    """PA by hand, x = (3, 4): a step of 1/25 for a; then b = 0 is to be -1 only once it has had a row."""
    learner = MultiLabelClassifier("pa", C=inf, fit_intercept=False).partial_fit([[3.0, 4.0]], [["a"]])
    assert_allclose(learner.coef_, [[3 / 25, 4 / 25]])
    learner.partial_fit([[4.0, -3.0]], [["b"]])  # a has the score 0: -1/25
    assert_allclose(learner.coef_, [[3 / 25 - 4 / 25, 4 / 25 + 3 / 25], [4 / 25, -3 / 25]])
    assert learner.n_mistakes_ == 2 and learner.classes_.tolist() == ["a", "b"]
    assert learner.predict([[3.0, 4.0], [-3.0, -4.0]]).tolist() == [[1, 0], [0, 0]]


def test_of_labels_as_bad_as_each_other_the_first_takes_the_step():
    learner = MultiLabelClassifier("pa", C=inf, update="worst", fit_intercept=False).partial_fit(np.eye(3), [["a"], ["b"], []])
    assert_allclose(learner.coef_, [[1, -1, -1], [0, 1, 0]])
    assert_allclose(learner.partial_fit(-np.eye(3)[2:], [["a", "b"]]).coef_, [[1, -1, -1], [0, 1, -1]])


@both_updates
@every_case
def test_calls_of_any_size_and_kind_give_one_model(name, params, update):
    X, has = problem(n=70)
    lists = lists_of(has)
    make = partial(estimator, name, params, update=update, average=True)
    whole = make().partial_fit(X, lists)
    kinds = [lambda y: y, lambda y: [set(row) for row in y], lambda y: np.array([*y, None], object)[:-1]]
    parts = make()
    for number, start in enumerate(range(0, 70, 9)):
        rows = [csr32, np.asfortranarray, lambda X: X][number % 3](X[start : start + 9])
        parts.partial_fit(rows, kinds[number % 3](lists[start : start + 9]))
        if number % 2:
            parts = [lambda m: pickle.loads(pickle.dumps(m)), copy.deepcopy, through_a_file][number % 3](parts)
        before = fingerprint(parts)
        parts.partial_fit(X[:3], lists[:3], sample_weight=np.zeros(3))
        assert fingerprint(parts) == before, "rows of weight 0 change nothing"
    one_by_one = make()
    for x, labels in zip(X, lists, strict=True):
        one_by_one.partial_fit([x], [labels])
    assert fingerprint(parts) == fingerprint(whole) == fingerprint(one_by_one)
    named = make().partial_fit(X, lists, classes=[*NAMES, "zoo"])
    for indicators in (has, has.astype(bool), has.tolist(), sparse.csr_matrix(has), sparse.coo_array(has * 1.0)):
        matrix = make().partial_fit(X, indicators)
        assert_array_equal(matrix.coef_, whole.coef_)
    assert_array_equal(named.coef_[:5], whole.coef_)
    assert not named.coef_[5].any() and not named.predict(X)[:, 5].any()
    assert matrix.classes_.tolist() == list(range(5)) and whole.classes_.tolist() == NAMES.tolist()


@pytest.mark.parametrize("n", [5, 40])
def test_a_model_of_a_file_learns_on_where_it_stopped(n):
    """Young models too, whose first rows may still change the units of X."""
    X, has = problem(n=60)
    lists, X = lists_of(has), X * np.linspace(1, 30, 60)[:, None]
    for k in (1, 2, 5):
        whole = MultiLabelClassifier().partial_fit(X[:n], [row[:k] for row in lists[:n]])
        again = through_a_file(whole)
        assert fingerprint(again) == fingerprint(whole) and type(again) is MultiLabelClassifier
        for model in (whole, again):
            model.partial_fit(X[n:], lists[n:])
        assert fingerprint(again) == fingerprint(whole)
        assert_array_equal(again.predict(X), whole.predict(X))


def test_the_units_of_x_change_no_prediction():
    X, has = problem(n=80)
    for algorithm in ("arow", "pa"):
        make = partial(MultiLabelClassifier, algorithm, C=inf)
        scores = [make().partial_fit(X * s, has).decision_function(X * s) for s in (1.0, 2.0**-9, 2.0**7)]
        assert_array_equal(scores[0], scores[1])
        assert_array_equal(scores[0], scores[2])


def test_fit_is_epochs_and_takes_what_scikit_learn_gives():
    X, has = problem(n=80)
    learner = MultiLabelClassifier(r=0.5, max_iter=3, tol=None, shuffle=False, intercept_scaling=1.0).fit(X, has)
    passes = MultiLabelClassifier(r=0.5, intercept_scaling=1.0)
    for _ in range(3):
        passes.partial_fit(X, has)
    assert_array_equal(learner.coef_, passes.coef_)
    assert learner.n_iter_ == 3 and learner.score(X, has) > 0.5
    assert learner.score(X, has) == np.mean((learner.predict(X) == has).all(axis=1))
    assert clone(learner).fit(X, lists_of(has)).classes_.tolist() == NAMES.tolist()
    search = GridSearchCV(MultiLabelClassifier(max_iter=2, random_state=0), {"r": [0.1, 1.0]}, cv=2).fit(X, has)
    assert search.best_score_ > 0.2 and search.best_estimator_.intercept_.shape == (5,)


def test_a_label_alone_is_a_learner_of_two_classes():
    X, has = problem(n=80)
    has[0] = 1  # (all labels from the first row on)
    learner = MultiLabelClassifier(r=0.5, intercept_scaling=1.0).partial_fit(X, has)
    for k in range(5):
        alone = AROWClassifier(r=0.5, intercept_scaling=1.0).partial_fit(X, has[:, k], classes=[0, 1])
        assert_array_equal(learner.coef_[k], alone.coef_[0])
        assert_array_equal(learner.intercept_[k], alone.intercept_[0])


def test_models_of_parts_merge():
    X, has = problem(n=80)
    lists = lists_of(has)
    parts = [MultiLabelClassifier(r=0.5, intercept_scaling=1.0).partial_fit(X[a:b], lists[a:b]) for a, b in ((0, 20), (20, 80))]
    merged = merge(parts)
    assert merged.classes_.tolist() == NAMES.tolist() and merged.t_ == 80 and is_finite(merged)
    precision = sum(1.0 / part for part in (stored(p)["values"].reshape(8, 2, -1)[:-1, 1, 0] for p in parts)) - 1.0
    assert_allclose(1.0 / stored(merged)["values"].reshape(8, 2, -1)[:-1, 1, 0], precision, rtol=1e-9)


def test_interrupted_by_an_error_a_call_changes_nothing():
    X, has = problem()
    lists = lists_of(has)
    learner = MultiLabelClassifier().partial_fit(X[:40], lists[:40])
    before = fingerprint(learner)
    wrong = X.copy()
    wrong[-1, 0] = np.nan
    for bad in ((wrong, lists), (X, lists[:-1]), (X[:, :3], lists), (X, [*lists[:-1], ["law", 3]])):
        with pytest.raises(ValueError, match="MultiLabelClassifier"):
            learner.partial_fit(*bad)
        assert fingerprint(learner) == before
    huge = MultiLabelClassifier("pa").partial_fit(np.where(X > 1, 1e200, 1e-200), has)
    assert is_finite(huge) and huge.n_skipped_ > 0


Y = [["a", "b"], ["b"], []]
WRONG = [
    (lambda m: m.partial_fit(np.eye(3), None), "requires y to be passed, but the target y is None"),
    (lambda m: m.fit(np.eye(3), ["a", "b", "c"]), r"y must be an indicator matrix .* got 'a' at row 0. Give \[label\]"),
    (lambda m: m.fit(np.eye(3), np.array([0, 1, 2])), "y must be an indicator matrix .* got 0 at row 0"),
    (lambda m: m.fit(np.eye(3), [[0, 1], [1, 0], [0, 1]]), "y must tell labels from indicators, got lists that could be either"),
    (lambda m: m.fit(np.eye(3), np.full((3, 2), 2)), "y must be an indicator matrix of 0 and 1, got 2 at row 0, column 0"),
    (lambda m: m.fit(np.eye(3), [[], [], []]), "y must have a label in some row, got none in 3 rows"),
    (lambda m: m.partial_fit(np.eye(3), [[], [], []]), "y must have a label in some row of the first call, got none in 3 rows"),
    (lambda m: m.partial_fit(np.eye(3), Y, classes=["a"]), "y must be of the classes .'a'., got 'b' at row 0"),
    (lambda m: m.partial_fit(np.eye(3), Y).partial_fit(np.eye(3), np.eye(3)), "y must have a column for each of the 2 classes"),
    (lambda m: m.partial_fit(np.eye(3), np.eye(3), classes=[2, 0, 1]), "classes must be sorted where y is an indicator matrix"),
    (lambda m: m.partial_fit(np.eye(3), Y, classes=["a", "b"]).partial_fit(np.eye(3), [["c"]] * 3), "y must be of the classes"),
    (lambda m: m.partial_fit(np.eye(3), Y).partial_fit(np.eye(3), Y, classes=["a"]), "classes must be those of the first call"),
    (lambda m: m.partial_fit(np.eye(3), Y).partial_fit(np.eye(3), [[1], [2], [3]]), "y must be labels like the model's classes"),
    (lambda m: m.set_params(update="each").fit(np.eye(3), Y), "update must be one of 'all', 'worst', got update='each'"),
    (lambda m: m.set_params(algorithm="cw").fit(np.eye(3), Y), "algorithm must be one of 'arow', 'pa', got algorithm='cw'"),
    (lambda m: m.set_params(algorithm="pa", forgetting=0.1).fit(np.eye(3), Y), "forgetting must be 0 for algorithm='pa'"),
    (lambda m: m.set_params(r=-1.0).fit(np.eye(3), Y), "r must be 'auto' or a finite number > 0, got r=-1.0"),
]


@pytest.mark.parametrize("call, message", WRONG, ids=[message[:60] for _, message in WRONG])
def test_what_is_wrong_is_refused(call, message):
    with pytest.raises(ValueError, match="MultiLabelClassifier: " + message):
        call(MultiLabelClassifier())


def test_a_forged_file_is_refused(tmp_path):
    X, has = problem(n=8)
    learner = MultiLabelClassifier().partial_fit(X, lists_of(has))
    state = learner._state
    for name, value in (("counts", np.array([9.0, 1.0, 0.0])[: len(state.counts)]), ("values", state.values[:-1])):
        kept = getattr(state, name)
        setattr(state, name, value)
        with pytest.raises(ValueError, match="MultiLabelClassifier"):
            learner.save(tmp_path / "model")
        setattr(state, name, kept)
    learner.save(tmp_path / "model")
    assert fingerprint(onlinecls.load(tmp_path / "model")) == fingerprint(learner)


def test_measures_are_those_of_scikit_learn():
    rng = np.random.default_rng(3)
    truth, guess = (rng.random((60, 5)) < 0.3 for _ in range(2))
    truth[:, 4] = guess[:, 4] = False  # (a label that is neither true nor predicted has no F1)
    weights = rng.choice([0.0, 0.5, 2.0], 60)
    lists = MultiLabelMeasures()
    matrix = MultiLabelMeasures(NAMES)
    for cut in (slice(0, 7), slice(7, 60)):
        lists.update(lists_of(truth[cut]), lists_of(guess[cut]), weights[cut])
        matrix.update(sparse.csr_matrix(truth[cut]), guess[cut], weights[cut])
    kept = truth[:, :4], guess[:, :4]
    for found in (lists, matrix):
        assert_allclose(found.micro_f1, metrics.f1_score(*kept, average="micro", sample_weight=weights))
        assert_allclose(found.macro_f1, metrics.f1_score(*kept, average="macro", sample_weight=weights))
        assert_allclose(found.exact, metrics.accuracy_score(truth, guess, sample_weight=weights))
        precision, recall, f1, _ = metrics.precision_recall_fscore_support(*kept, sample_weight=weights)
        assert_allclose([[m(k) for k in NAMES[:4]] for m in (found.precision, found.recall, found.f1)], [precision, recall, f1])
        assert found.examples == np.count_nonzero(weights) and found.weight == weights.sum()
    assert matrix.f1("pop") is None and matrix.as_dict()["micro_f1"] == matrix.micro_f1
    window, fading = MultiLabelMeasures(NAMES, window=20), MultiLabelMeasures(NAMES, fading=0.1)
    for at in range(0, 60, 7):
        window.update(truth[at : at + 7], guess[at : at + 7])
        fading.update(truth[at : at + 7], guess[at : at + 7])
    assert_allclose(window.micro_f1, metrics.f1_score(kept[0][40:], kept[1][40:], average="micro"))
    assert_allclose(window.exact, metrics.accuracy_score(truth[40:], guess[40:]))
    faded = 0.9 ** np.arange(59, -1, -1.0)
    assert_allclose(fading.macro_f1, metrics.f1_score(*kept, average="macro", sample_weight=faded))
    empty = MultiLabelMeasures()
    assert empty.micro_f1 is empty.macro_f1 is empty.exact is None
    assert empty.update([[], []], [[], []]).exact == 1.0 and empty.micro_f1 is None
    with pytest.raises(ValueError, match="MultiLabelMeasures: an indicator matrix must have a column for each of the 0 classes"):
        MultiLabelMeasures().update(truth, guess)


def test_lines_of_fasttext_may_have_several_labels(tmp_path):
    path = tmp_path / "texts.txt"
    path.write_bytes("__label__a __label__b one two\nthree __label__b\n\nno label here\n__label__ä four\n".encode())
    with onlinecls.streams.read(path, format="fasttext", labels="several", batch_rows=3, n_features=64) as stream:
        batches = list(stream)
    assert [batch.y for batch in batches] == [[["a", "b"], ["b"], []], [["ä"]]]
    learner = MultiLabelClassifier()
    for batch in batches:
        learner.partial_fit(batch.X, batch.y)
    assert learner.classes_.tolist() == ["a", "b", "ä"] and learner.t_ == 4
    plain = onlinecls.text.HashingVectorizer(n_features=64, dtype=np.float32)
    assert (batches[0].X.toarray() == plain.transform(["one two", "three", "no label here"]).toarray()).all()
    path.write_bytes(b"__label__a__label__b one\n")
    with pytest.raises(ValueError, match="expected labels behind '__label__', got '__label__a__label__b'"):
        list(onlinecls.streams.read(path, labels="several"))
    path.write_bytes(b"a\tone\nb\ttwo\n")
    with pytest.raises(ValueError, match=r"labels must be .* as only fastText's lines have several labels a row"):
        onlinecls.streams.read(path, format="tsv", labels="several")


@pytest.mark.parametrize("kind", [lists_of, lambda has: has, sparse.csr_matrix], ids=["lists", "matrix", "sparse"])
def test_progressive_validation_predicts_each_row_before_it_is_learnt(kind):
    X, has = problem(n=70)
    weights = np.random.default_rng(0).choice([0.0, 1.0, 2.0], 70)
    learner, measures = MultiLabelClassifier(), MultiLabelMeasures(NAMES if kind is lists_of else range(5))
    batches = [(X[a:b], kind(has[a:b]), weights[a:b]) for a, b in ((0, 9), (9, 50), (50, 70))]
    result = onlinecls.progressive_validation(learner, batches, every=20, measures=measures, predictions=True)
    alone, expected = MultiLabelClassifier(), []
    for i in range(70):
        known = alone.__sklearn_is_fitted__()
        expected.append(set(alone.classes_[alone.predict(X[i : i + 1])[0] == 1].tolist()) if known else set())
        alone.partial_fit(X[i : i + 1], kind(has[i : i + 1]), sample_weight=weights[i : i + 1])
    live = weights > 0.0
    assert [each for each, counts in zip(result.predictions, live, strict=True) if counts] == \
        [each for each, counts in zip(expected, live, strict=True) if counts]
    assert fingerprint(alone) == fingerprint(learner) and result.by_row
    assert result.mistakes[-1] == learner.n_mistakes_ and result.examples[-1] == live.sum() == learner.t_
    assert result.updates[-1] == learner.n_updates_
    assert_allclose(measures.exact, 1.0 - result.weighted_error[-1])
    assert_allclose(result.measures["micro_f1"][-1], measures.micro_f1)
    with pytest.raises(TypeError, match="measures must be MultiLabelMeasures for this estimator, got ClassificationMeasures"):
        onlinecls.progressive_validation(learner, batches, measures=onlinecls.measures.ClassificationMeasures())
