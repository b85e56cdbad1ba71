"""Pipelines for other programs: scikit-learn's own classes, and ONNX."""

import pickle
import warnings

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
sklearn = pytest.importorskip("sklearn", minversion="1.6", reason="scikit-learn is not installed")

from sklearn.linear_model import SGDClassifier  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

import onlinecls  # noqa: E402
from onlinecls import make_stream_pipeline  # noqa: E402
from onlinecls.tables import TableVectorizer  # noqa: E402
from onlinecls.text import HashingVectorizer  # noqa: E402

NAMES = {"city": ["Oslo", "Rome", "a=b", None], "city=a": ["b", "c"], "zip": [9, 12, 4321, None], "sole": ["one"]}


def frame(n, seed, strange=False):
    """Return a table of numbers and names; strange : with names and numbers that have not come before."""
    draw = np.random.default_rng(seed)
    found = {
        "income": 1e6 + 30.0 * draw.normal(size=n).astype(np.float32),
        "wild": draw.standard_cauchy(n).astype(np.float32),
        "holes": np.where(draw.random(n) < 0.3, np.nan, draw.integers(0, 90, n)),
        "flag": draw.integers(0, 3 if strange else 2, n).astype(float),
        "is_old": draw.random(n) < 0.4,
        "always_1": np.full(n, 2.0 if strange else 1.0),
        "constant": np.full(n, 7.5 if strange else 5.0),
        "empty": np.full(n, np.nan),
        **{name: draw.choice(np.array(values, object), n) for name, values in NAMES.items()},
    }
    table = pd.DataFrame(found)
    table["zip"] = table["zip"].astype("Int64")
    if strange:
        table.loc[draw.random(n) < 0.2, "city"] = "Paris"
        table.loc[draw.random(n) < 0.2, "zip"] = 77
        table.loc[draw.random(n) < 0.3, ["wild", "flag"]] = np.nan
        table.loc[::9, "city"] = "?"
        table.loc[[3, 4], "wild"] = [-1e6, 1e6]
    return table


def labels(table, n_classes):
    z = table["holes"].fillna(40.0).to_numpy() / 40.0 + (table["city"] == "Rome").to_numpy() + table["flag"].to_numpy()
    return np.digitize(z, [1.5, 2.5][: n_classes - 1])


LEARNERS = [
    (onlinecls.AROWClassifier(), 2), (onlinecls.AROWClassifier(probability=True), 3), (onlinecls.CommitteeClassifier(), 2),
    (onlinecls.AROWRegressor(), 0), (onlinecls.AROWRegressor(covariance="auto"), 0),
]


@pytest.fixture(scope="module", params=range(len(LEARNERS)))
def learnt(request):
    learner, n_classes = LEARNERS[request.param]
    table = frame(300, 0)
    y = np.array(["a", "b", "c"])[labels(table, n_classes)] if n_classes else 100.0 + labels(table, 3)
    bits = {"bits": 0, "slots": 40} if getattr(learner, "covariance", "") == "auto" else {}
    pipeline = make_stream_pipeline(TableVectorizer(categories=["zip"], clip=3.0, **bits), learner)
    return pipeline.partial_fit(table, y), bool(n_classes)


@pytest.mark.filterwarnings("ignore:AROWClassifier. to_sklearn leaves the probabilities behind")
def test_a_pipeline_of_scikit_learn_predicts_the_same(learnt):
    pipeline, is_classifier = learnt
    other = pipeline.to_sklearn()
    assert b"onlinecls" not in pickle.dumps(other)
    for table in (frame(200, 1), frame(200, 2, strange=True), frame(1, 3)):
        scores = "decision_function" if is_classifier else "predict"
        expected, found = getattr(pipeline, scores)(table), getattr(other, scores)(table)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
        assert other.predict(table).tolist() == pipeline.predict(table).tolist() or not is_classifier
    table = frame(50, 4)
    table = table.assign(city=table["city"].astype("string"), wild=table["wild"].astype("Float32"))  # (other types, same values)
    np.testing.assert_allclose(getattr(other, scores)(table[table.columns[::-1]]), getattr(pipeline, scores)(table), rtol=1e-9)


def test_texts_and_scikit_learn_s_own_steps_are_exported():
    texts = ["cheap pills now", "lunch at noon", "cheap lunch"] * 10
    pipeline = make_stream_pipeline(HashingVectorizer(n_features=2**10, ngram_range=(1, 2)), onlinecls.AROWClassifier())
    pipeline.partial_fit(texts, [1, 0, 0] * 10)
    np.testing.assert_allclose(pipeline.to_sklearn().decision_function(texts), pipeline.decision_function(texts), rtol=1e-6)
    X = np.random.default_rng(0).normal(size=(50, 3)) * 100.0
    scaled = make_stream_pipeline(StandardScaler(), onlinecls.AROWRegressor()).partial_fit(X, X[:, 0])
    other = scaled.to_sklearn()
    np.testing.assert_allclose(other.predict(X), scaled.predict(X), rtol=1e-9)
    scaled.partial_fit(X, X[:, 1])
    assert other[0].n_samples_seen_ == 50  # (a copy)


DAY = {"day": "2024-05-01"}
REFUSED = {
    "date": ({}, [DAY], r"got column 'day' of kind 'date'\. Name it in ignore="),
    "list": ({}, [{"v": [1.0, 2.0]}], "got column 'v' of kind 'list'"),
    "text": ({}, [{"text": "a few words"}], "got column 'text' of kind 'text'"),
    "both": ({}, [{"a": 1}, {"a": "b"}], r"got both in column 'a'\. Name it in categories= or in numbers="),
    "crosses": ({"crosses": [("a", "b")]}, [{"a": "x", "b": 1.0}], r"got crosses=\[\('a', 'b'\)\]\. Learn without crosses"),
    "hashed": ({"slots": 2}, [{"a": "x"}, {"a": "y"}, {"a": "z"}], "a slot for each feature, got more than the 2 slots"),
}


def test_booleans_that_are_names_are_refused_for_scikit_learn():
    """Its encoder would leave out True and False, whose names are texts here."""
    rows = [{"x": k, "flag": k % 3 == 0} for k in range(30)]
    pipeline = make_stream_pipeline(TableVectorizer(categories=["flag"]), onlinecls.AROWClassifier())
    pipeline.fit(rows, [row["flag"] for row in rows])
    with pytest.raises(ValueError, match=r"to_sklearn must have columns of numbers or of names, got booleans in column 'flag'"):
        pipeline.to_sklearn()


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("method", ["to_sklearn", "to_onnx"])
def test_what_no_plain_column_holds_is_refused_by_its_name(name, method):
    pytest.importorskip("onnx")
    options, rows, said = REFUSED[name]
    rows = (rows * 12)[:12]
    pipeline = make_stream_pipeline(TableVectorizer(**options), onlinecls.AROWClassifier()).partial_fit(rows, [0, 1, 1] * 4)
    with pytest.raises(ValueError, match=f"^StreamPipeline: {method} must have .*{said}"):
        getattr(pipeline, method)()


def test_a_feature_of_no_column_is_refused_by_its_name():
    rows = [{"a": k % 5, "b": k % 7} for k in range(20)]
    pipeline = make_stream_pipeline(TableVectorizer(crosses=[("a", "b")]), onlinecls.AROWClassifier())
    pipeline.partial_fit(rows, [row["a"] > row["b"] for row in rows]).set_params(tablevectorizer__crosses=())
    with pytest.raises(ValueError, match=r"must have columns of numbers or of names, got the feature 'a\^b'\. Name its column"):
        pipeline.to_sklearn()


def test_steps_and_learners_that_cannot_be_exported_are_named():
    pytest.importorskip("onnx")
    rows, y = [{"label": 1.0}, {"label": 2.0}] * 8, [0, 1] * 8
    theirs = make_stream_pipeline(TableVectorizer(bits=0, slots=4), SGDClassifier()).partial_fit(rows, y, classes=[0, 1])
    kernel = make_stream_pipeline(TableVectorizer(bits=0), onlinecls.KernelOnlineClassifier()).partial_fit(rows, y)
    for pipeline, method in ((theirs, "to_sklearn"), (theirs, "to_onnx"), (kernel, "to_sklearn"), (kernel, "to_onnx")):
        with pytest.raises(ValueError, match=f"StreamPipeline: {method} must have a learner of this library"):
            getattr(pipeline, method)()
    pipeline = make_stream_pipeline(TableVectorizer(), onlinecls.AROWClassifier())
    with pytest.raises(ValueError, match="StreamPipeline: this model has not been fitted yet"):
        pipeline.to_onnx()
    with pytest.raises(ValueError, match=r"must have columns whose names are not those of the graph, got 'label'\. Rename"):
        pipeline.partial_fit(rows, y).to_onnx()
    texts = make_stream_pipeline(HashingVectorizer(), onlinecls.AROWClassifier()).partial_fit(["a b", "c d"], [0, 1])
    with pytest.raises(ValueError, match=r"must have a TableVectorizer and a learner, got .*HashingVectorizer"):
        texts.to_onnx()


def run_onnx(model, table):
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime runs the model: pip install onnx onnxruntime")
    session = runtime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    given = {}
    for each in session.get_inputs():
        column = table[each.name]
        if each.type == "tensor(string)":
            given[each.name] = np.array(["" if pd.isna(value) else str(value) for value in column], object)[:, None]
        else:
            given[each.name] = column.to_numpy(np.float32, na_value=np.nan)[:, None]
    names = [each.name for each in session.get_outputs()]
    return dict(zip(names, session.run(names, given), strict=True))


def test_an_onnx_graph_of_columns_predicts_the_same(learnt, tmp_path):
    onnx = pytest.importorskip("onnx")
    pipeline, is_classifier = learnt
    model = pipeline.to_onnx(tmp_path / "m.onnx")
    assert onnx.load(tmp_path / "m.onnx") == model and model.ByteSize() < 10_000  # (without the 2^18 hashed columns)
    for table in (frame(200, 1), frame(200, 2, strange=True), frame(1, 3)):
        found = run_onnx(model, table)
        if not is_classifier:
            np.testing.assert_allclose(found["prediction"].ravel(), pipeline.predict(table), rtol=1e-6)
            continue
        scores = pipeline.decision_function(table)
        scores = np.stack([-scores, scores], axis=1) if scores.ndim == 1 else scores
        np.testing.assert_allclose(found["scores"], scores, rtol=1e-5, atol=1e-6)
        assert found["label"].tolist() == pipeline.predict(table).tolist()
        assert ("probabilities" in found) == hasattr(pipeline, "predict_proba")
        if "probabilities" in found:
            np.testing.assert_allclose(found["probabilities"], pipeline.predict_proba(table), rtol=1e-4, atol=1e-6)


def test_columns_may_be_called_as_the_graph_s_inner_values_are():
    pytest.importorskip("onnx")
    table = pd.DataFrame({name: np.arange(12.0) % k for k, name in enumerate(("score", "x", "a b", "product", "zero"), 3)})
    table["best"] = ["u", "v"] * 6
    pipeline = make_stream_pipeline(TableVectorizer(), onlinecls.AROWClassifier()).partial_fit(table, [0, 1, 1] * 4)
    found = run_onnx(pipeline.to_onnx(), table)
    np.testing.assert_allclose(found["scores"][:, 1], pipeline.decision_function(table), rtol=1e-5)


def test_a_warning_of_probabilities_is_that_of_the_learner():
    table = frame(60, 0)
    pipeline = make_stream_pipeline(TableVectorizer(), onlinecls.AROWClassifier(probability=True))
    pipeline.partial_fit(table, labels(table, 2))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        pipeline.to_sklearn()
    assert [each.filename for each in said] == [__file__] and "leaves the probabilities behind" in str(said[0].message)
