"""Frames that `set_output` asks for, and the names of the columns learnt."""

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
sklearn = pytest.importorskip("sklearn", minversion="1.6", reason="scikit-learn is not installed")

from sklearn.base import clone  # noqa: E402
from sklearn.compose import make_column_transformer  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

from onlinecls import AROWClassifier, AROWRegressor, make_stream_pipeline, progressive_validation, streams  # noqa: E402
from onlinecls.tables import TableVectorizer  # noqa: E402
from onlinecls.text import HashingVectorizer  # noqa: E402

TABLE = pd.DataFrame({"a": [1.0, 2.0, 4.0, 8.0], "c": list("xyxy"), "z": [1, 2, 3, 4]}, index=list("pqrs"))
NAMES = ["a", "c=x", "z", "c=y", "slot_4"]


def test_rows_are_the_frames_that_set_output_asks_for():
    rows = TableVectorizer(bits=0, slots=5).fit_transform(TABLE)
    vectorizer = TableVectorizer(bits=0, slots=5).set_output(transform="pandas").fit(TABLE)
    for found in (vectorizer.transform(TABLE), clone(vectorizer).fit_transform(TABLE)):
        pd.testing.assert_frame_equal(found, pd.DataFrame(rows, index=TABLE.index, columns=NAMES))
    assert vectorizer.transform(TABLE.to_dict("records")).index.tolist() == [0, 1, 2, 3]
    assert vectorizer.set_output() is vectorizer and isinstance(vectorizer.learn_transform(TABLE), np.ndarray)
    assert isinstance(vectorizer.set_output(transform="default").transform(TABLE), np.ndarray)
    polars = pytest.importorskip("polars")
    found = TableVectorizer(bits=0, slots=5).set_output(transform="polars").fit_transform(polars.from_pandas(TABLE))
    assert isinstance(found, polars.DataFrame) and found.columns == NAMES and (found.to_numpy() == rows).all()


def test_pipelines_and_column_transformers_set_the_output_of_a_table():
    steps = make_pipeline(TableVectorizer(bits=0, slots=5), StandardScaler()).set_output(transform="pandas")
    found = steps.fit_transform(TABLE)
    assert found.columns.tolist() == NAMES and found.index.tolist() == list("pqrs")
    assert steps.feature_names_in_.tolist() == ["a", "c", "z"] and steps.n_features_in_ == 3
    columns = make_column_transformer((TableVectorizer(bits=0, slots=3), ["a", "c"]), (StandardScaler(), ["z"]))
    found = columns.set_output(transform="pandas").fit_transform(TABLE)
    assert found.columns.tolist() == [*(f"tablevectorizer__{name}" for name in ("a", "c=x", "c=y")), "standardscaler__z"]


def test_frames_of_sparse_rows_and_other_kinds_are_refused():
    with pytest.raises(ValueError, match=r"TableVectorizer: transform must be one of 'default', .* got transform='dask'"):
        TableVectorizer().set_output(transform="dask")
    said = r"TableVectorizer: pandas output must have dense rows, got a sparse matrix\. Set bits=0"
    with pytest.raises(ValueError, match=said):
        TableVectorizer().set_output(transform="pandas").fit_transform(TABLE)
    with sklearn.config_context(transform_output="pandas"):
        assert isinstance(TableVectorizer(bits=0).fit_transform(TABLE), pd.DataFrame)
        with pytest.raises(ValueError, match=said):
            TableVectorizer().fit_transform(TABLE)


@pytest.mark.parametrize("options", [{}, {"bits": 0, "slots": 5}], ids=str)
def test_a_configuration_of_frames_changes_no_stream_pipeline(options, tmp_path):
    y, steps = [0, 1, 0, 1], (TableVectorizer(**options), AROWClassifier())
    plain = make_stream_pipeline(*map(clone, steps)).partial_fit(TABLE, y)
    TABLE.assign(label=y).to_csv(tmp_path / "a.csv", index=False)
    with sklearn.config_context(transform_output="pandas"):
        found = make_stream_pipeline(*map(clone, steps)).partial_fit(TABLE, y)
        assert found.decision_function(TABLE).tolist() == plain.decision_function(TABLE).tolist()
        assert found.fit(TABLE, y).predict_one({"a": 8.0, "c": "y", "z": 4}) == 1
        assert progressive_validation(clone(found), (TABLE, y), every=2).mistakes[-1] >= 0
    with streams.read(tmp_path / "a.csv", tables=plain[0].set_output(transform="pandas"), label="label") as stream:
        assert not any(isinstance(X, pd.DataFrame) for X, _, _ in stream)


def test_the_columns_learnt_have_their_names():
    vectorizer = TableVectorizer()
    assert not hasattr(vectorizer, "feature_names_in_") and not hasattr(vectorizer, "n_features_in_")
    assert vectorizer.partial_fit(TABLE).feature_names_in_.tolist() == ["a", "c", "z"]
    vectorizer.partial_fit([{"new": 1}])
    assert vectorizer.feature_names_in_.tolist() == ["a", "c", "z", "new"] and vectorizer.n_features_in_ == 4
    arrays = TableVectorizer().fit(np.eye(3))
    assert arrays.n_features_in_ == 3 and not hasattr(arrays, "feature_names_in_")
    pipeline = make_stream_pipeline(TableVectorizer(), AROWRegressor())
    assert not hasattr(pipeline, "n_features_in_")
    pipeline.partial_fit(TABLE, [1.0, 2.0, 3.0, 4.0])
    assert pipeline.feature_names_in_.tolist() == ["a", "c", "z"] and pipeline.n_features_in_ == 3
    texts = make_stream_pipeline(HashingVectorizer(), AROWClassifier()).partial_fit(["a b", "c d"], [0, 1])
    assert not hasattr(texts, "feature_names_in_") and not hasattr(texts, "n_features_in_")
