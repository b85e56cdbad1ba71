"""scikit-learn's scorers, displays and meta-estimators, which choose among an estimator's methods by their names."""

import numpy as np
import pytest

sklearn = pytest.importorskip("sklearn", minversion="1.6", reason="scikit-learn is not installed")

from sklearn.calibration import CalibratedClassifierCV, CalibrationDisplay  # noqa: E402
from sklearn.ensemble import StackingClassifier, VotingClassifier  # noqa: E402
from sklearn.inspection import partial_dependence  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.metrics import RocCurveDisplay, get_scorer, get_scorer_names, roc_auc_score  # noqa: E402
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV, cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

from onlinecls import AROWClassifier, AROWRegressor, make_stream_pipeline  # noqa: E402
from onlinecls.tables import TableVectorizer  # noqa: E402
from onlinecls.text import HashingVectorizer  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:.*probability=True should come with average=True")

draw = np.random.default_rng(0)
NUMBERS = draw.normal(size=(300, 4))
LABELS = (NUMBERS @ [1.0, -1.0, 0.5, 0.0] + draw.normal(size=300) > 0.4).astype(int)
WORDS = np.array([" ".join(f"{name}{int(x * 2)}" for name, x in zip("abcd", row, strict=True)) for row in NUMBERS])
TABLE = [dict(zip("abcd", row, strict=True)) for row in NUMBERS.tolist()]
LIKELY = {"probability": True, "random_state": 0}

#: Steps, a learner, and rows; the same model of scikit-learn's `make_pipeline` is the peer.
MODELS = {
    "scores": (lambda: [AROWClassifier(random_state=0)], NUMBERS),
    "probabilities": (lambda: [AROWClassifier(**LIKELY)], NUMBERS),
    "numbers": (lambda: [StandardScaler(), AROWClassifier(random_state=0)], NUMBERS),
    "texts": (lambda: [HashingVectorizer(n_features=64), AROWClassifier(**LIKELY)], WORDS),
    "tables": (lambda: [TableVectorizer(bits=4), AROWClassifier(**LIKELY)], TABLE),
}


def made(name):
    parts = MODELS[name][0]()
    return make_stream_pipeline(*parts) if len(parts) > 1 else parts[0]


def methods_of(model):
    return ["decision_function", *(["predict_proba"] if hasattr(model, "predict_proba") else [])]


def test_methods_that_depend_on_a_parameter_are_there_with_it():
    with pytest.raises(AttributeError, match="predict_log_proba must have probability=True"):
        AROWClassifier().predict_log_proba  # noqa: B018
    for learner in (AROWClassifier(), AROWClassifier(probability=True)):
        pipeline = make_stream_pipeline(StandardScaler(), learner)
        assert hasattr(pipeline, "predict_proba") == hasattr(pipeline, "predict_log_proba") == learner.probability
    assert not hasattr(make_stream_pipeline(StandardScaler(), AROWRegressor()), "decision_function")


@pytest.mark.parametrize("name", MODELS)
def test_scorers_and_displays_give_what_they_give_for_scikit_learn_s_pipelines(name):
    pyplot = pytest.importorskip("matplotlib.pyplot", reason="matplotlib is not installed")
    X, ours, peer = MODELS[name][1], made(name), make_pipeline(*MODELS[name][0]())
    ours.fit(X, LABELS)
    peer.fit(X, LABELS)
    for scoring in get_scorer_names():
        scorer, method = get_scorer(scoring), get_scorer(scoring)._response_method
        if scoring == "top_k_accuracy" or (method == "predict" and scoring not in ("accuracy", "f1")):
            continue
        if method != "predict_proba" or hasattr(ours, method):
            assert scorer(ours, X, LABELS) == scorer(peer, X, LABELS), scoring
    for positive in (0, 1):
        for method in methods_of(ours):
            curves = [RocCurveDisplay.from_estimator(each, X, LABELS, pos_label=positive, response_method=method)
                      for each in (ours, peer)]
            assert curves[0].roc_auc == curves[1].roc_auc > 0.75
        if hasattr(ours, "predict_proba"):
            ours_drawn, drawn = (CalibrationDisplay.from_estimator(each, X, LABELS, pos_label=positive) for each in (ours, peer))
            np.testing.assert_array_equal(ours_drawn.prob_true, drawn.prob_true)
    pyplot.close("all")
    if X is NUMBERS:
        average = partial_dependence(ours, X, [0], grid_resolution=9)["average"]
        assert average.shape == (1, 9) and average[0, -1] > average[0, 0]  # (the first column speaks for class 1)


@pytest.mark.parametrize("name", MODELS)
def test_meta_estimators_choose_the_methods_by_name(name):
    X, ours = MODELS[name][1], made(name)
    ours.fit(X, LABELS)
    assert cross_val_score(made(name), X, LABELS, scoring="roc_auc", cv=3, error_score="raise").min() > 0.75
    for method in methods_of(ours):
        low, high = (FixedThresholdClassifier(ours, threshold=t, response_method=method).fit(X, LABELS).predict(X).mean()
                     for t in (-0.5, 0.9))
        stack = StackingClassifier([("a", made(name)), ("b", made(name))], LogisticRegression(), cv=3, stack_method=method)
        assert low > high and stack.fit(X, LABELS).score(X, LABELS) > 0.65, method
    calibrated = CalibratedClassifierCV(made(name), ensemble=False, cv=3).fit(X, LABELS)
    assert roc_auc_score(LABELS, calibrated.predict_proba(X)[:, 1]) > 0.75
    if hasattr(ours, "predict_proba"):
        assert VotingClassifier([("a", made(name)), ("b", made(name))], voting="soft").fit(X, LABELS).score(X, LABELS) > 0.65


def test_a_search_chooses_by_scores_that_only_a_response_gives():
    search = GridSearchCV(made("tables"), {"arowclassifier__r": [1e-6, 1.0]}, scoring="roc_auc", cv=3).fit(TABLE, LABELS)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all() and search.best_score_ > 0.75
