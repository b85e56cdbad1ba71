"""Pipelines of steps and a learner: splits of a stream, single rows, files, scikit-learn's tools, progressive validation."""

import copy
import pickle

import numpy as np
import pytest
from fuzz.models import forged
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.feature_extraction.text import HashingVectorizer as TheirVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler

import onlinecls
from onlinecls import (
    AROWClassifier,
    AROWRegressor,
    CommitteeClassifier,
    PassiveAggressiveClassifier,
    StreamPipeline,
    make_stream_pipeline,
    progressive_validation,
)
from onlinecls.measures import Measures
from onlinecls.tables import TableVectorizer
from onlinecls.text import HashingVectorizer


def problem(n=120, seed=0):
    """Return rows of numbers in all units, of names and of missing values, and labels that depend on them."""
    rng = np.random.default_rng(seed)
    income, age, city = rng.normal(50_000, 9000, n), rng.normal(40, 10, n), rng.choice(["Oslo", "Rome", "Bern"], n)
    y = np.where((income - 50_000) / 9000 + (age - 40) / 10 + (city == "Rome") > 0.3, "yes", "no")
    columns = income.tolist(), age.tolist(), city.tolist()
    rows = [{"income": a, "age": b, "city": c, "year": 2024} for a, b, c in zip(*columns, strict=True)]
    for row in rows[::9]:
        row["age"] = None
    return rows, y


def texts(n=60):
    rng = np.random.default_rng(0)
    words = np.array(["cheap", "pills", "lunch", "noon", "win", "meet"])
    picks = rng.integers(0, 6, (n, 4))
    return [" ".join(words[each]) for each in picks], np.where((picks % 3 == 0).sum(axis=1) > 1, "spam", "ham")


PIPELINES = {
    "tables": lambda: make_stream_pipeline(TableVectorizer(bits=6), AROWClassifier()),
    "dense": lambda: make_stream_pipeline(TableVectorizer(bits=0, max_values=12), AROWClassifier()),
    "forgetting": lambda: make_stream_pipeline(TableVectorizer(bits=4, max_values=3), AROWClassifier(forgetting=0.001)),
    "float32": lambda: make_stream_pipeline(TableVectorizer(bits=6, dtype=np.float32), PassiveAggressiveClassifier()),
    "committee": lambda: make_stream_pipeline(TableVectorizer(bits=6), CommitteeClassifier()),
}


@pytest.mark.parametrize("name", PIPELINES)
def test_any_split_gives_the_same_model(name, tmp_path):
    """Rows one by one, in chunks, through a file or a pickle on the way, make the model of one call to the bit."""
    X, y = problem()
    whole = PIPELINES[name]().partial_fit(X, y)
    for size in (1, 7):
        parts = PIPELINES[name]()
        for at in range(0, len(X), size):
            if size == 1:
                parts.learn_one(X[at], y[at])
            else:
                parts.partial_fit(X[at : at + size], y[at : at + size])
            if at == 35:
                parts.save(tmp_path / "model")
                parts = onlinecls.load(tmp_path / "model")
            elif at == 70:
                parts = pickle.loads(pickle.dumps(parts))
        np.testing.assert_array_equal(parts[-1].coef_, whole[-1].coef_, err_msg=f"chunks of {size}")
        assert parts.predict(X).tolist() == whole.predict(X).tolist(), f"chunks of {size}"
        assert [parts.predict_one(row) for row in X] == whole.predict(X).tolist(), f"chunks of {size}"
    assert whole.score(X, y) > 0.8


def test_a_file_holds_the_parameters_of_texts_and_metadata_and_no_other_steps(tmp_path):
    words, labels = texts()
    vectorizer = HashingVectorizer(n_features=64, dtype="float32")
    pipeline = make_stream_pipeline(vectorizer, AROWClassifier()).partial_fit(words, labels)
    pipeline.save(tmp_path / "model", metadata={"a": 1})
    loaded, metadata = onlinecls.load(tmp_path / "model", return_metadata=True)
    assert metadata == {"a": 1} and repr(loaded) == repr(pipeline)
    assert loaded.decision_function(words).tolist() == pipeline.decision_function(words).tolist()
    for steps, message in (([TheirVectorizer(n_features=64), AROWClassifier()], "steps that a file without pickle"),
                           ([HashingVectorizer(), SGDClassifier()], "a learner of onlinecls")):
        with pytest.raises(ValueError, match=f"save must have {message}"):
            make_stream_pipeline(*steps).fit(words, labels).save(tmp_path / "theirs")


BROKEN = {
    "a pipeline inside": lambda header: header["steps"][1].__setitem__(1, copy.deepcopy(header)),
    "an unknown step": lambda header: header["steps"][0][1].update(step="os.system"),
    "no steps": lambda header: header.update(steps=[]),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_forged_file_is_refused(case, tmp_path):
    """Whatever a header says of the steps is checked."""
    X, y = problem(30)
    make_stream_pipeline(TableVectorizer(bits=5, max_values=9), AROWClassifier()).partial_fit(X, y).save(tmp_path / "model")
    forged(tmp_path / "model", lambda told, arrays: BROKEN[case](told))
    with pytest.raises(ValueError, match="a model that onlinecls could have saved"):
        onlinecls.load(tmp_path / "model")


def test_nothing_is_learnt_from_a_refused_batch():
    """Neither a step nor the learner, whichever of them refuses it."""
    X, y = problem()
    for steps in ([TableVectorizer(bits=4)], [TableVectorizer(bits=0, max_values=8), StandardScaler()]):
        pipeline = make_stream_pipeline(*steps, AROWClassifier()).partial_fit(X[:50], y[:50], classes=["no", "yes"])
        same = copy.deepcopy(pipeline)
        new = [{**row, "new": 3.5} for row in X[50:]]
        for rows, labels in ((new, ["other"] * 70), (new, y[:3]), ([*new[:-1], {"income": np.inf}], y[50:])):
            with pytest.raises(ValueError, match=r"'other'|70|inf"):
                pipeline.partial_fit(rows, labels)
        with pytest.raises(ValueError, match="'other'"):
            pipeline.learn_one({**X[50], "age": 50.0}, "other")
        assert pipeline[0].statistics_ == same[0].statistics_
        assert pipeline[0].get_feature_names_out().tolist() == same[0].get_feature_names_out().tolist()
        a, b = (each.partial_fit(X[50:], y[50:])[-1].coef_ for each in (pipeline, same))
        np.testing.assert_array_equal(a, b)


def test_steps_of_scikit_learn_learn_each_batch_before_they_transform_it():
    rng = np.random.default_rng(0)
    X, y, weights = rng.normal(5.0, 3.0, (60, 4)), rng.integers(0, 2, 60), rng.random(60)
    pipeline, scaler, learner = make_stream_pipeline(StandardScaler(), AROWClassifier()), StandardScaler(), AROWClassifier()
    for at in range(0, 60, 20):
        part, named = slice(at, at + 20), {"sample_weight": weights[at : at + 20]}
        pipeline.partial_fit(X[part], y[part], **named)
        learner.partial_fit(scaler.partial_fit(X[part], **named).transform(X[part]), y[part], **named)
    np.testing.assert_array_equal(pipeline.decision_function(X), learner.decision_function(scaler.transform(X)))
    frozen = FrozenEstimator(StandardScaler().fit(X[:30]))
    pipeline = make_stream_pipeline(frozen, AROWClassifier()).partial_fit(X, y).fit(X, y)
    assert frozen.n_samples_seen_ == 30 == pipeline[0].n_samples_seen_


def test_fit_learns_statistics_of_all_rows_first():
    X, y = problem()
    learner = AROWClassifier(random_state=0, warm_start=True, max_iter=2)
    pipeline = make_stream_pipeline(TableVectorizer(bits=4), learner).fit(X, y)
    rows = TableVectorizer(bits=4).fit_transform(X)
    np.testing.assert_array_equal(pipeline[-1].coef_, AROWClassifier(random_state=0, max_iter=2).fit(rows, y).coef_)
    assert pipeline.fit(X, y).t_ == 4 * len(X)


def test_pipelines_are_cloned_searched_and_set_by_step():
    X, y = problem()
    pipeline = make_stream_pipeline(TableVectorizer(bits=4), AROWClassifier(random_state=0))
    assert is_classifier(pipeline) and is_regressor(make_stream_pipeline(TableVectorizer(), AROWRegressor()))
    pipeline.set_params(arowclassifier__r=2.0, tablevectorizer=TableVectorizer(bits=3))
    assert pipeline.get_params()["arowclassifier__r"] == pipeline[1].r == 2.0 and pipeline[0].bits == 3
    fresh = clone(pipeline.fit(X, y))
    assert not fresh.__sklearn_is_fitted__() and fresh[0] is not pipeline[0]
    for table in (X, pytest.importorskip("pandas").DataFrame(X)):
        search = GridSearchCV(fresh, {"arowclassifier__r": [0.1], "tablevectorizer__clip": [2.0]}, cv=3).fit(table, y)
        assert search.best_score_ > 0.8


def test_one_row_before_there_is_a_model():
    """Pipelines answer, as river's models do, before they have learnt anything."""
    pipeline = make_stream_pipeline(TableVectorizer(), AROWClassifier(probability=True))
    assert pipeline.predict_one({"a": 1}) is None and pipeline.predict_proba_one({"a": 1}) == {}
    assert make_stream_pipeline(TableVectorizer(), AROWRegressor()).predict_one({"a": 1}) == 0.0
    assert not hasattr(make_stream_pipeline(TableVectorizer(), AROWClassifier()), "predict_proba")


class Uncopied(AROWClassifier):
    """A learner that may not be copied."""

    def __deepcopy__(self, memo):
        raise AssertionError("a learner was copied while it was validated")


VALIDATED = {
    **PIPELINES, "texts": lambda: make_stream_pipeline(HashingVectorizer(n_features=64), AROWClassifier()),
    "scaler": lambda: make_stream_pipeline(TableVectorizer(bits=0, max_values=8), StandardScaler(), AROWClassifier()),
    "regressor": lambda: make_stream_pipeline(TableVectorizer(bits=4), AROWRegressor()),
    "scores": lambda: make_stream_pipeline(TableVectorizer(bits=4), Uncopied(probability=True)),
    "scores of scaled rows": lambda: make_stream_pipeline(
        TableVectorizer(bits=0, max_values=8), StandardScaler(), Uncopied(probability=True)),
}


@pytest.mark.parametrize("name", VALIDATED)
def test_progressive_validation_is_exact_to_the_row(name):
    """Each row is predicted by the statistics and the model before it, whatever the batches."""
    X, y = texts(120) if name == "texts" else problem()
    weights, classes = np.tile([1.0, 0.0, 2.0], 40), ["no", "yes"] if "scores" in name else None
    if name == "regressor":
        y = np.array([row["income"] for row in X]) / 1000
    one_by_one, wrong, errors, expected = VALIDATED[name](), 0, 0.0, Measures(classes or ())
    for row, label, weight in zip(X, y, weights, strict=True):
        if weight:
            said, fitted = one_by_one.predict_one(row), one_by_one.__sklearn_is_fitted__()
            wrong += said != label
            if name == "regressor" and fitted:  # (the level begins at the first target)
                errors += abs(said - label)
            if classes and fitted:
                asked = one_by_one.decision_function([row]).reshape(1, -1), one_by_one.predict_proba([row])
                expected.update([label], [said], *asked, sample_weight=[weight])
            one_by_one.partial_fit([row], [label], None if fitted else classes, sample_weight=[weight])
    for size in (120, 17, "single rows"):
        pipeline, found = VALIDATED[name](), Measures(classes or ())
        if size == "single rows":
            stream = list(zip(X, y, weights, strict=True))
        else:
            stream = [(X[at : at + size], y[at : at + size], weights[at : at + size]) for at in range(0, len(X), size)]
        scored = {"classes": classes, "scores": True, "measures": found} if classes else {}
        result = progressive_validation(pipeline, stream, every=50, predictions=True, **scored)
        if name == "regressor":
            assert result.absolute[-1] == pytest.approx(errors, rel=1e-12), f"batches of {size}"
        else:
            assert result.mistakes[-1] == wrong, f"batches of {size}"
            assert [said is None for said in result.predictions[:6]] == [True, True, False, False, True, False]
        if classes:
            assert (found.auc, found.log_loss) == pytest.approx((expected.auc, expected.log_loss), rel=1e-12)
        assert result.by_row and result.examples[-1] == 80
        np.testing.assert_array_equal(pipeline[-1].coef_, one_by_one[-1].coef_, err_msg=f"batches of {size}")


class Halved(TableVectorizer):
    """Rows of its own."""

    def learn_transform(self, X, sample_weight=None):
        return super().learn_transform(X, sample_weight) / 2

    def transform(self, X):
        return super().transform(X) / 2


class Cut(AROWClassifier):
    """A learner that does with X what it likes."""

    def partial_fit(self, X, *arguments, **named):
        return super().partial_fit(X[:, :3], *arguments, **named)

    def predict(self, X):
        return super().predict(X[:, :3])


def test_a_class_that_extends_a_learner_gets_matrices():
    texts, y = ["aa b", "c d", "aa aa"] * 9, [0, 1, 2] * 9
    for step in HashingVectorizer(n_features=9), HashingVectorizer(n_features=9, norm=None, dtype=np.int8):
        pipeline = make_stream_pipeline(step, Cut()).partial_fit(texts, y)
        learner = Cut().partial_fit(step.transform(texts), y)
        np.testing.assert_array_equal(pipeline[-1].coef_, learner.coef_)
        assert pipeline.predict(texts).tolist() == learner.predict(step.transform(texts)).tolist()


def test_integers_of_texts_are_those_of_their_type():
    step, texts = HashingVectorizer(n_features=9, norm=None, dtype=np.int8), ["aa " * 200, "b"]
    pipeline, learner = make_stream_pipeline(step, AROWClassifier()).partial_fit(texts, [0, 1]), AROWClassifier()
    np.testing.assert_array_equal(pipeline[-1].coef_, learner.partial_fit(step.transform(texts), [0, 1]).coef_)


def test_methods_of_classes_that_extend_the_steps_are_called():
    X, y = problem()
    pipeline = make_stream_pipeline(Halved(bits=0, max_values=8), AROWClassifier()).partial_fit(X, y)
    learner = AROWClassifier().partial_fit(TableVectorizer(bits=0, max_values=8).learn_transform(X) / 2, y)
    np.testing.assert_array_equal(pipeline[-1].coef_, learner.coef_)


def test_pipelines_refuse_steps_without_names_or_methods_and_do_not_merge():
    for steps, words in (
        (None, "a list"), ([AROWClassifier()], "a list"),
        ([("a", TableVectorizer()), ("a", AROWClassifier())], "different names"),
        ([("a", object()), ("b", AROWClassifier())], "have transform"),
        ([("a", TableVectorizer()), ("b", StandardScaler())], "partial_fit and predict"),
    ):
        with pytest.raises((TypeError, ValueError), match=words):
            StreamPipeline(steps).partial_fit([{"a": 1}], [1])
    one = make_stream_pipeline(TableVectorizer(bits=3), AROWClassifier())
    for merge in (one.merge, lambda other: onlinecls.merge([one, other])):
        with pytest.raises(ValueError, match="merge must have learners, got pipelines"):
            merge(one)
