"""Models of this library in river."""

import pickle

import numpy as np
import pytest

pytest.importorskip("river", minversion="0.26", reason="river 0.26 is not installed")
pd = pytest.importorskip("pandas")

from river import checks, datasets, linear_model  # noqa: E402

import onlinecls  # noqa: E402
from onlinecls import AROWClassifier, AROWRegressor, make_stream_pipeline  # noqa: E402
from onlinecls.river import Classifier, Regressor  # noqa: E402
from onlinecls.tables import TableVectorizer  # noqa: E402

ROWS, LABELS = zip(*datasets.Phishing().take(300), strict=True)
TABLE = {"bits": 0, "max_values": 32}


def pipeline(**parameters):
    return make_stream_pipeline(TableVectorizer(**TABLE), AROWClassifier(probability=True, **parameters))


@pytest.mark.filterwarnings("ignore:.*hides the others:UserWarning")
@pytest.mark.parametrize("model", [cls(**each) for cls in (Classifier, Regressor) for each in cls._unit_test_params()], ids=repr)
def test_river_s_own_checks_pass(model):
    assert model._unit_test_skips() == set()
    found = list(checks.yield_checks(model))
    assert len(found) > 25
    for check in found:
        check(model.clone())


def test_a_model_in_river_is_the_model_itself_bit_for_bit():
    """Row by row and in batches, with weights, and names of features that are no texts."""
    plain, one, many = pipeline(), Classifier(pipeline()), Classifier(pipeline())
    numbered = [dict(enumerate(row.values())) for row in ROWS]
    weights = np.arange(len(ROWS)) % 3.0
    plain.partial_fit([{str(name): value for name, value in row.items()} for row in numbered], LABELS, sample_weight=weights)
    for x, y, w in zip(numbered, LABELS, weights, strict=True):
        one.learn_one(x, y, w=w)
    frame = pd.DataFrame(numbered).rename(columns=str)
    for start in range(0, 300, 70):
        part = slice(start, start + 70)
        many.learn_many(frame[part], pd.Series(LABELS)[part], w=weights[part])
    for model in (one, many):
        assert (model.learnt.coef_ == plain.coef_).all() and (model.learnt[-1].covariance_ == plain[-1].covariance_).all()
    assert many.predict_many(frame[5:9]).index.tolist() == [5, 6, 7, 8]
    assert many.predict_proba_many(frame[:9])[True].tolist() == [one.predict_proba_one(x)[True] for x in numbered[:9]]


def test_rows_of_a_learner_alone_are_hashed_as_by_scikit_learn():
    hashing = pytest.importorskip("sklearn.feature_extraction").FeatureHasher(2**18)
    rows = [{"a": 1.0, "colour": "red", 3: k} for k in range(1, 5)]
    model, learner = Classifier(AROWClassifier()), AROWClassifier()
    for x, y in zip(rows, "uvuv", strict=True):
        model.learn_one(x, y)
        learner.partial_fit(hashing.transform([{str(name): value for name, value in x.items()}]), [y])
    assert (model.learnt.coef_ == learner.coef_).all() and np.count_nonzero(learner.coef_) == 3
    before = pickle.dumps(model)
    for bad in ({"a": None}, {"a": float("nan")}, {"a": 10**400}, {"a": [1.0]}, {"a": "\ud800"}, "a text"):
        with pytest.raises(ValueError, match=r"^Classifier: a row must be a dict of finite numbers and texts, or"):
            model.learn_one(bad, "u")
    with pytest.raises(ValueError, match="AROWClassifier: y must be all strings or all numbers, got None"):
        model.learn_one(rows[0], None)
    assert pickle.dumps(model) == before


def test_a_clone_begins_where_the_given_model_stood(tmp_path):
    model = Classifier(pipeline())
    for x, y in zip(ROWS, LABELS, strict=True):
        model.learn_one(x, y)
    new = model.clone()
    assert new.predict_one(ROWS[0]) is None and new.predict_proba_one(ROWS[0]) == {} and not hasattr(model.model, "coef_")
    model.learnt.save(tmp_path / "a.model")
    after = Classifier(onlinecls.load(tmp_path / "a.model"))
    after.learn_one(ROWS[0], LABELS[0])
    assert after.learnt.t_ == 301 and after.clone().learnt.t_ == 300
    assert after.clone(include_attributes=True).learnt.t_ == 301


def test_other_models_and_weights_that_are_none_are_refused():
    for cls, other in ((Classifier, AROWRegressor()), (Regressor, pipeline()), (Classifier, linear_model.LogisticRegression()),
                       (Classifier, TableVectorizer())):
        with pytest.raises(TypeError, match=f"^{cls.__name__}: model must be a {cls.__name__.lower()} of onlinecls"):
            cls(other)
    model = Classifier(AROWClassifier())
    with pytest.raises(ValueError, match="sample_weight must be finite and >= 0"):
        model.learn_many(pd.DataFrame([{"a": 1.0}, {"a": 2.0}]), ["u", "v"], w=[1.0, -1.0])
    assert not model.learnt.__sklearn_is_fitted__()
