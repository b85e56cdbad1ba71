"""Steps with one number a column (an idf, a largest magnitude), beside twins in NumPy; and transformers that a stream leaves."""

import copy
import io
import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

import onlinecls
from onlinecls import AROWClassifier, _saving, make_stream_pipeline, progressive_validation
from onlinecls.steps import OnlineMaxAbsScaler, OnlineTfidf, planned_progressively
from onlinecls.text import HashingVectorizer

SCALER, TFIDF = OnlineMaxAbsScaler, OnlineTfidf
STEPS = [
    SCALER(), TFIDF(), TFIDF("l1"), TFIDF(None, smooth_idf=False), TFIDF(sublinear_tf=True), TFIDF("l1", smooth_idf=False),
]


def matrix(n=200, d=30, dtype=np.float64, seed=0):
    """Return rows of counts with both signs, whose columns come one after the other, and grow."""
    rng = np.random.default_rng(seed)
    X = rng.integers(1, 6, (n, d)) * rng.choice([-1.0, 1.0], (n, d)) * (1 + np.arange(n)[:, None] // 40)
    X[rng.random((n, d)) < 0.75] = 0.0
    X[np.arange(n)[:, None] < 5 * np.arange(d)] = 0.0
    return sparse.csr_matrix(X.astype(dtype))


def twin(step, X, weights=None):
    """Return the rows of `learn_transform`, by the formulas, dense."""
    seen, n, found = np.zeros(X.shape[1]), 0, []
    for i, x in enumerate(np.asarray(X.toarray(), np.float64)):
        if weights is None or weights[i]:
            n, seen = n + 1, np.maximum(seen, abs(x)) if isinstance(step, SCALER) else seen + (x != 0)
        if isinstance(step, SCALER):
            found.append(np.divide(x, np.where(seen > 0, seen, abs(x)), where=x != 0, out=np.zeros_like(x)))
            continue
        one = float(step.smooth_idf)
        counts = np.maximum(seen, 1.0 - one)
        tf = np.sign(x) * (1 + np.log(np.abs(x), where=x != 0, out=np.zeros_like(x))) if step.sublinear_tf else x
        row = tf * (np.log(np.maximum(n + one, counts + one) / (counts + one)) + 1)
        norm = 1.0 if step.norm is None else np.linalg.norm(row, {"l1": 1, "l2": 2}[step.norm])
        found.append(row / (norm or 1.0))
    return np.array(found)


@pytest.mark.parametrize("step", STEPS, ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_are_those_of_the_twin_and_of_any_split(step, weighted):
    """Sparse and dense rows, both types of columns, and any calls give the same bits."""
    X = matrix()
    weights = np.random.default_rng(1).choice([0.0, 0.5, 2.0], 200) if weighted else None
    whole = clone(step)
    rows = whole.learn_transform(X, weights)
    np.testing.assert_allclose(rows.toarray(), twin(step, X, weights), rtol=1e-12, atol=0)
    wide = X.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    for form in (X, wide, X.toarray(), sparse.csr_array(X), X.tocsc()):
        for size in (200, 1, 7):
            parts = clone(step)
            for at in range(0, 200, size):
                part = slice(at, at + size)
                found = parts.learn_transform(form[part], None if weights is None else weights[part])
                assert sparse.issparse(found) == sparse.issparse(form)
                found = found.toarray() if sparse.issparse(found) else found
                np.testing.assert_array_equal(found, rows[part].toarray(), err_msg=f"{type(form)}, calls of {size}")
        np.testing.assert_array_equal(parts.transform(X).toarray(), whole.transform(X).toarray())
    assert whole.n_samples_seen_ == (200 if weights is None else (weights > 0).sum())
    assert whole.fit(X[:50]).n_samples_seen_ == 50


@pytest.mark.parametrize("step", STEPS, ids=str)
def test_after_n_rows_rows_are_those_of_scikit_learn_fitted_to_them(step):
    X = abs(matrix())
    X.data[::9] = 0.0  # (a zero that is stored is a zero)
    whole = clone(step).partial_fit(X)
    X.eliminate_zeros()
    theirs = (MaxAbsScaler() if isinstance(step, SCALER) else TfidfTransformer(**step.get_params())).fit(X)
    np.testing.assert_allclose(whole.transform(X).toarray(), theirs.transform(X).toarray(), rtol=1e-12, atol=1e-15)
    name = "max_abs_" if isinstance(step, SCALER) else "idf_"
    np.testing.assert_allclose(getattr(whole, name), getattr(theirs, name), rtol=1e-12)
    halves = [clone(step).partial_fit(X[:80]), clone(step).partial_fit(X[80:]), clone(step)]
    merged = halves[0].merge(*halves[1:])
    np.testing.assert_array_equal(getattr(merged, name), getattr(whole, name))
    assert merged.n_samples_seen_ == 200
    assert clone(step).merge(whole).n_samples_seen_ == 200
    single = clone(step).partial_fit(matrix(dtype=np.float32)).transform(matrix(dtype=np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single.toarray(), clone(step).partial_fit(matrix()).transform(matrix()).toarray(), rtol=3e-7)


@pytest.mark.parametrize("step", STEPS, ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_no_number_becomes_infinite(step, dtype):
    largest, least = np.finfo(dtype).max, np.finfo(dtype).smallest_subnormal
    X = sparse.csr_matrix(np.array([[least, 1.0, 0.0], [largest, -largest, least], [largest, largest, largest]], dtype))
    learning = clone(step).partial_fit(X[:1])
    for found in (learning.transform(X), learning.learn_transform(X), learning.transform(X)):
        assert np.isfinite(found.data).all()
        if getattr(step, "norm", None) and not step.sublinear_tf:
            assert (abs(found).max(axis=1).toarray() > 0.3).all()  # (no square is 0 or infinite)


@pytest.mark.parametrize("step", STEPS, ids=str)
def test_rows_as_of_just_before_they_are_learnt_are_those_that_transform_returns_there(step):
    X, weights = matrix(60), np.resize([1.0, 0.0, 2.0], 60)
    known, rows, _ = planned_progressively(clone(step).partial_fit(X[:1]), X[1:], weights[1:])
    stepping = clone(step).partial_fit(X[:1])
    np.testing.assert_array_equal(rows.toarray(), copy.deepcopy(stepping).learn_transform(X[1:], weights[1:]).toarray())
    for i in range(1, 60):
        np.testing.assert_array_equal(known[i - 1].toarray(), stepping.transform(X[i]).toarray())
        stepping.partial_fit(X[i], sample_weight=weights[i : i + 1])


def test_what_is_refused_changes_nothing():
    X = matrix()
    for step, message in (
        (TFIDF("max"), "norm must be 'l1', 'l2' or None"), (TFIDF(norm=[]), "norm must be"),
        (TFIDF(smooth_idf=1), "smooth_idf must"), (TFIDF(sublinear_tf=None), "sublinear_tf must be True or False"),
    ):
        with pytest.raises(ValueError, match=message):
            step.partial_fit(X)
        assert not step.__sklearn_is_fitted__()
    for step in (SCALER(), TFIDF()):
        with pytest.raises(ValueError, match="has not been fitted"):
            step.transform(X)
        for rows, weights, message in ((X[:0], None, "0 sample"), (X[:, :0], None, "0 feature"), (X, np.zeros(200), "all rows")):
            with pytest.raises(ValueError, match=message):
                step.fit(rows, sample_weight=weights)
        same = pickle.dumps(step.partial_fit(X))
        bad = X[-3:].copy()
        bad.data[-1] = np.nan
        for rows, weights, message in ((bad, None, "NaN"), (X[:, :3], None, "3 features"), (X, [1.0], "one weight a row")):
            with pytest.raises(ValueError, match=message):
                step.partial_fit(rows, sample_weight=weights)
        with pytest.raises(ValueError, match="steps of the same parameters and columns"):
            step.merge(clone(step).partial_fit(X[:, :3]))
        with pytest.raises(ValueError, match="steps of the same parameters and columns"):
            step.merge(TFIDF("l1") if isinstance(step, TFIDF) else TFIDF())
        assert pickle.dumps(step) == same


# --- in pipelines --------------------------------------------------------------------------------------------------------------


def texts(n=120):
    rng = np.random.default_rng(0)
    words = np.array([*"abcdefgh"])
    picks = np.minimum(rng.geometric(0.3, (n, 6)) - 1, 7)
    rows = [" ".join(words[each]) + " cheap" * (i % 5) for i, each in enumerate(picks)]
    return rows, np.where((picks == 0).sum(axis=1) > 1, "spam", "ham")


def vectorizer():
    return HashingVectorizer(n_features=64, norm=None, token_pattern=r"\w+", alternate_sign=False)


def theirs(step):
    """Return a step of scikit-learn that is fitted."""
    return step.fit(vectorizer().transform(texts()[0][:50]))


class Uncopied(OnlineTfidf):
    """A step of which no copy may be made."""

    def __deepcopy__(self, memo):
        raise AssertionError("a step was copied where a batch was learnt")


def saved(pipeline, **how):
    file = io.BytesIO()
    pipeline.save(file)
    return onlinecls.load(io.BytesIO(file.getvalue()), **how)


FITTED = {
    "an idf": lambda: theirs(TfidfTransformer()),
    "a frozen idf": lambda: FrozenEstimator(theirs(TfidfTransformer(sublinear_tf=True))),
    "a frozen scaler": lambda: FrozenEstimator(theirs(MaxAbsScaler())),
}
LEARNING = {
    "scaler": SCALER, "tfidf": TFIDF, "their scaler": MaxAbsScaler,
    "their standard scaler": lambda: StandardScaler(with_mean=False),
}


@pytest.mark.parametrize("name", [*LEARNING, *FITTED])
def test_any_split_of_a_stream_gives_the_same_model_through_files(name):
    X, y = texts()
    make = lambda: make_stream_pipeline(vectorizer(), {**LEARNING, **FITTED}[name](), AROWClassifier())  # noqa: E731
    whole = make().partial_fit(X, y)
    for size in (1, 7) if not name.startswith("their") else (120,):  # (theirs transform a batch as a whole)
        parts, said = make(), []
        for at in range(0, 120, size):
            said += [parts.predict_one(X[at])]
            parts.learn_one(X[at], y[at]) if size == 1 else parts.partial_fit(X[at : at + size], y[at : at + size])
            if at == 35:
                parts = pickle.loads(pickle.dumps(parts)) if size == 1 else copy.deepcopy(parts)
            elif at == 70:
                parts = saved(parts)
        np.testing.assert_array_equal(parts[-1].coef_, whole[-1].coef_, err_msg=f"calls of {size}")
        np.testing.assert_array_equal(saved(parts).decision_function(X), whole.decision_function(X))
    assert whole.score(X, y) > 0.7
    again = saved(whole)
    assert repr(again[1]) == repr(whole[1])
    np.testing.assert_array_equal(again.partial_fit(X, y)[-1].coef_, whole.partial_fit(X, y)[-1].coef_)


@pytest.mark.parametrize("name", ["scaler", "tfidf", *FITTED])
@pytest.mark.parametrize("scores", [False, True])
def test_validation_predicts_each_row_just_before_it_is_learnt(name, scores):
    X, y = texts()
    weights = np.tile([1.0, 0.0, 2.0], 40)
    make = lambda: make_stream_pipeline(vectorizer(), {**LEARNING, **FITTED}[name](), AROWClassifier())  # noqa: E731
    one_by_one, said, named = make(), [], ["ham", "spam"] if scores else None
    for row, label, weight in zip(X, y, weights, strict=True):
        said.append(one_by_one.predict_one(row) if weight else None)
        if weight:
            one_by_one.partial_fit([row], [label], named, [weight])
    for size in (120, 17):
        stream = [(X[at : at + size], y[at : at + size], weights[at : at + size]) for at in range(0, 120, size)]
        pipeline = make()
        measures = {"measures": onlinecls.measures.ClassificationMeasures(["ham", "spam"])} if scores else {}
        result = progressive_validation(pipeline, stream, classes=named, predictions=True, scores=scores, **measures)
        assert result.predictions.tolist() == said, f"batches of {size}"
        np.testing.assert_array_equal(pipeline[-1].coef_, one_by_one[-1].coef_)


def test_a_batch_costs_no_copy_of_what_was_learnt_and_a_refused_one_changes_nothing():
    X, y = texts()
    pipeline = make_stream_pipeline(vectorizer(), Uncopied(), AROWClassifier()).partial_fit(X[:50], y[:50], ["ham", "spam"])
    before = pipeline[1].idf_, pipeline[1].n_samples_seen_
    with pytest.raises(ValueError, match="'other'"):
        pipeline.partial_fit([*X[50:], "new words"], [*y[50:], "other"])
    np.testing.assert_array_equal(pipeline[1].idf_, before[0])
    assert pipeline[1].n_samples_seen_ == 50
    pipeline.partial_fit(X[50:], y[50:])
    whole = make_stream_pipeline(vectorizer(), TFIDF(), AROWClassifier()).partial_fit(X, y, ["ham", "spam"])
    np.testing.assert_array_equal(pipeline[-1].coef_, whole[-1].coef_)
    numbers = make_stream_pipeline(SCALER(), AROWClassifier()).partial_fit(matrix(), np.arange(200) % 2)
    assert numbers.fit(matrix(), np.arange(200) % 2)[0].n_samples_seen_ == 200


@pytest.mark.parametrize("n_kept", [0, 1, 40, 70])
def test_after_ctrl_c_steps_and_learner_stand_at_the_same_row(n_kept):
    class Stopped(AROWClassifier):
        is_on = False

        def partial_fit(self, X, y, classes=None, sample_weight=None):
            super().partial_fit(X[: n_kept if self.is_on else None], y[: n_kept if self.is_on else None], classes)
            if self.is_on:
                raise KeyboardInterrupt
            return self

    X, y = texts()
    pipeline = make_stream_pipeline(vectorizer(), SCALER(), TFIDF(), Stopped()).partial_fit(X[:50], y[:50])
    pipeline[-1].is_on = True
    with pytest.raises(KeyboardInterrupt):
        pipeline.partial_fit(X[50:], y[50:])
    pipeline[-1].is_on = False
    assert [step.n_samples_seen_ for step in (pipeline[1], pipeline[2])] == [50 + n_kept] * 2
    if n_kept < 70:
        pipeline.partial_fit(X[50 + n_kept :], y[50 + n_kept :])
    whole = make_stream_pipeline(vectorizer(), SCALER(), TFIDF(), Stopped()).partial_fit(X, y)
    np.testing.assert_array_equal(pipeline[-1].coef_, whole[-1].coef_)


def test_a_file_is_mapped_until_it_learns(tmp_path):
    X, y = texts()
    pipeline = make_stream_pipeline(HashingVectorizer(n_features=2**18), TFIDF(), AROWClassifier()).partial_fit(X, y)
    pipeline.save(tmp_path / "dense")
    mapped = onlinecls.load(tmp_path / "dense", mmap=True)
    np.testing.assert_array_equal(mapped.decision_function(X), pipeline.decision_function(X))
    np.testing.assert_array_equal(mapped.partial_fit(X, y)[-1].coef_, pipeline.partial_fit(X, y)[-1].coef_)


def entry(header, k=1):
    return header["steps"][k][1]


BROKEN = {  # (a step, what is changed of the header and of the arrays)
    "more rows than fit": (TFIDF, lambda header, arrays: entry(header)["learnt"].update(n_rows=2.0**60)),
    "a part of a row": (TFIDF, lambda header, arrays: entry(header)["learnt"].update(n_rows=120.5)),
    "an integer": (TFIDF, lambda header, arrays: entry(header)["learnt"].update(n_rows=120)),
    "more rows of a column than rows": (TFIDF, lambda header, arrays: arrays["1.numbers"].__setitem__(3, 121.0)),
    "half a row": (TFIDF, lambda header, arrays: arrays["1.numbers"].__setitem__(3, 0.5)),
    "NaN": (SCALER, lambda header, arrays: arrays["1.numbers"].__setitem__(3, np.nan)),
    "a magnitude below 0": (SCALER, lambda header, arrays: arrays["1.numbers"].__setitem__(3, -1.0)),
    "something behind the columns": (SCALER, lambda header, arrays: arrays["1.numbers"].__setitem__(-1, 1.0)),
    "columns": (SCALER, lambda header, arrays: arrays.update({"1.numbers": arrays["1.numbers"][5:]})),
    "another type": (SCALER, lambda header, arrays: arrays.update({"1.numbers": arrays["1.numbers"].astype(np.float32)})),
    "a parameter": (TFIDF, lambda header, arrays: entry(header)["parameters"].update(norm="max")),
    "names": (TFIDF, lambda header, arrays: entry(header)["learnt"].update(feature_names=["a"])),
    "magnitudes without rows": (SCALER, lambda header, arrays: entry(header)["learnt"].update(n_rows=0.0)),
    "a class of another module": (FITTED["an idf"], lambda header, arrays: entry(header).update({"class": "system"})),
    "no idf": (FITTED["an idf"], lambda header, arrays: arrays.pop("1.idf_")),
    "a narrow idf": (FITTED["an idf"], lambda header, arrays: arrays.update({"1.idf_": arrays["1.idf_"][1:]})),
    "an infinite idf": (FITTED["an idf"], lambda header, arrays: arrays["1.idf_"].__setitem__(3, np.inf)),
    "an unknown norm": (FITTED["an idf"], lambda header, arrays: entry(header)["parameters"].update(norm="max")),
    "a scale of 0": (FITTED["a frozen scaler"], lambda header, arrays: arrays["1.scale_"].__setitem__(3, 0.0)),
    "half frozen": (FITTED["a frozen scaler"], lambda header, arrays: entry(header).update(frozen=1)),
    "no count of rows": (LEARNING["their standard scaler"], lambda header, arrays: arrays.pop("1.n_samples_seen_")),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_forged_file_is_refused(case, tmp_path):
    make, change = BROKEN[case]
    make_stream_pipeline(vectorizer(), make(), AROWClassifier()).partial_fit(*texts()).save(tmp_path / "model")
    header, arrays = _saving.read(str(tmp_path / "model"), False)
    change(header, arrays)
    _saving.write("test", str(tmp_path / "forged"), header, arrays)
    with pytest.raises(ValueError, match="a model that onlinecls could have saved"):
        onlinecls.load(tmp_path / "forged")


# --- steps that a stream does not change ---------------------------------------------------------------------------------------


class Embedder:
    """A transformer without `fit`, as of a package of embeddings; `transform` counts its calls."""

    n_calls = 0

    def transform(self, texts):
        self.n_calls += 1
        return np.array([[text.count(word) for word in "abcdef"] for text in texts], float)


def test_a_transformer_without_fit_and_a_frozen_one_are_used_as_they_are():
    X, y = texts()
    embedder = Embedder()
    for learn in ("fit", "partial_fit"):
        pipeline = make_stream_pipeline(embedder, AROWClassifier())
        getattr(pipeline, learn)(X, y)
        assert pipeline[0] is embedder
        assert pipeline.predict_one(X[0]) in ("ham", "spam")
    assert embedder.n_calls == 4
    with pytest.raises(ValueError, match=r"steps that a file without pickle can hold.*TfidfTransformer.*Use pickle"):
        pipeline.save(io.BytesIO())
    frozen = FITTED["a frozen scaler"]()
    seen = frozen.n_samples_seen_
    pipeline = make_stream_pipeline(vectorizer(), frozen, AROWClassifier()).partial_fit(X, y).fit(X, y).learn_one(X[0], y[0])
    assert pipeline[1] is frozen
    assert frozen.n_samples_seen_ == seen
    assert clone(pipeline).partial_fit(X, y)[1] is frozen


def test_fit_fits_a_step_without_partial_fit_as_scikit_learn_does_and_partial_fit_leaves_it():
    X, y = texts()
    pipeline = make_stream_pipeline(vectorizer(), theirs(TfidfTransformer()), AROWClassifier(random_state=0))
    idf = pipeline[1].idf_.copy()
    np.testing.assert_array_equal(pipeline.partial_fit(X, y)[1].idf_, idf)
    expected = make_pipeline(vectorizer(), TfidfTransformer(), AROWClassifier(random_state=0)).fit(X, y)
    np.testing.assert_array_equal(pipeline.fit(X, y)[1].idf_, expected[1].idf_)
    np.testing.assert_array_equal(pipeline.decision_function(X), expected.decision_function(X))
    np.testing.assert_array_equal(pipeline.partial_fit(X, y)[1].idf_, expected[1].idf_)
    with pytest.raises(TypeError, match=r"got TfidfTransformer\(\), which has neither and is not fitted.*FrozenEstimator"):
        clone(pipeline).partial_fit(X, y)
    assert clone(pipeline).fit(X, y).partial_fit(X, y).score(X, y) > 0.7
    search = GridSearchCV(clone(pipeline), {"tfidftransformer__norm": ["l1", "l2"]}, cv=2).fit(X, y)
    assert search.best_estimator_.partial_fit(X, y).score(X, y) > 0.6
