"""scikit-learn's scorers, displays and meta-estimators, which choose among an estimator's methods by their names."""

import inspect

import numpy as np
import pytest
from algorithms import ESTIMATORS

import onlinecls

sklearn = pytest.importorskip("sklearn", minversion="1.6", reason="scikit-learn is not installed")

from sklearn.calibration import CalibratedClassifierCV, CalibrationDisplay  # noqa: E402
from sklearn.ensemble import StackingClassifier, VotingClassifier  # noqa: E402
from sklearn.frozen import FrozenEstimator  # noqa: E402
from sklearn.inspection import DecisionBoundaryDisplay, PartialDependenceDisplay, partial_dependence  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.metrics import (  # noqa: E402
    DetCurveDisplay,
    PrecisionRecallDisplay,
    RocCurveDisplay,
    get_scorer,
    get_scorer_names,
    make_scorer,
    roc_auc_score,
)
from sklearn.model_selection import (  # noqa: E402
    FixedThresholdClassifier,
    GridSearchCV,
    TunedThresholdClassifierCV,
    cross_val_predict,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

from onlinecls import AROWClassifier, AROWRegressor, make_stream_pipeline  # noqa: E402
from onlinecls.tables import TableVectorizer  # noqa: E402
from onlinecls.text import HashingVectorizer  # noqa: E402

pyplot = pytest.importorskip("matplotlib.pyplot", reason="matplotlib is not installed")
pytestmark = pytest.mark.filterwarnings("ignore:.*probability=True should come with average=True")

draw = np.random.default_rng(0)
NUMBERS = draw.normal(size=(300, 4))
LABELS = (NUMBERS @ [1.0, -1.0, 0.5, 0.0] + draw.normal(size=300) > 0.4).astype(int)
WORDS = np.array([" ".join(f"{name}{int(x * 2)}" for name, x in zip("abcd", row, strict=True)) for row in NUMBERS])
TABLE = [dict(zip("abcd", row, strict=True)) for row in NUMBERS.tolist()]

#: A model of this library, the same one of scikit-learn's parts where it differs, and rows.
MODELS = {
    "scores": (lambda: AROWClassifier(random_state=0), None, NUMBERS),
    "probabilities": (lambda: AROWClassifier(probability=True, random_state=0), None, NUMBERS),
    "averaged probabilities": (
        lambda: onlinecls.PassiveAggressiveClassifier(probability=True, average=True, random_state=0), None, NUMBERS),
    "log loss": (lambda: onlinecls.DualAscentClassifier(loss="log_loss", random_state=0), None, NUMBERS),
    "committee": (lambda: onlinecls.CommitteeClassifier(probability=True, random_state=0, max_iter=2), None, NUMBERS),
    "numbers": (lambda: make_stream_pipeline(StandardScaler(), AROWClassifier(random_state=0)),
                lambda: make_pipeline(StandardScaler(), AROWClassifier(random_state=0)), NUMBERS),
    "texts": (lambda: make_stream_pipeline(HashingVectorizer(n_features=64), AROWClassifier(probability=True, random_state=0)),
              lambda: make_pipeline(HashingVectorizer(n_features=64), AROWClassifier(probability=True, random_state=0)), WORDS),
    "tables": (lambda: make_stream_pipeline(TableVectorizer(bits=4), AROWClassifier(probability=True, random_state=0)),
               lambda: make_pipeline(TableVectorizer(bits=4), AROWClassifier(probability=True, random_state=0)), TABLE),
}


@pytest.fixture(autouse=True)
def _closed_figures():
    yield
    pyplot.close("all")


def fitted(name):
    """Return a model of this library, fitted, the same one of scikit-learn's parts, and the rows."""
    make, make_peer, X = MODELS[name]
    return make().fit(X, LABELS), (make if make_peer is None else make_peer)().fit(X, LABELS), X


EVERYTHING = [
    *(cls(probability=True) if "probability" in cls().get_params() else cls() for cls in ESTIMATORS),
    *(make() for make, _, _ in MODELS.values()), make_stream_pipeline(TableVectorizer(), AROWRegressor()),
    onlinecls.OnlineToBatch(AROWClassifier(probability=True)), TableVectorizer(), HashingVectorizer(),
]


@pytest.mark.parametrize("estimator", EVERYTHING, ids=repr)
def test_methods_have_their_own_names_docstrings_and_signatures(estimator):
    names = (name for name in dir(type(estimator)) if not name.startswith("_") and name not in estimator.get_params())
    methods = [name for name in names if callable(getattr(estimator, name, None))]
    assert len(methods) > 5
    for name in methods:
        method, of_class = getattr(estimator, name), getattr(type(estimator), name)
        assert method.__name__ == name == of_class.__name__
        assert inspect.getdoc(of_class)
        assert [*inspect.signature(of_class).parameters][1:] == [*inspect.signature(method).parameters]


def test_methods_that_depend_on_a_parameter_are_there_with_it():
    assert not hasattr(AROWClassifier(), "predict_proba")
    with pytest.raises(AttributeError, match="predict_log_proba must have probability=True"):
        AROWClassifier().predict_log_proba  # noqa: B018
    for learner in (AROWClassifier(), AROWClassifier(probability=True)):
        pipeline = make_stream_pipeline(StandardScaler(), learner)
        assert hasattr(pipeline, "predict_proba") == hasattr(pipeline, "predict_log_proba") == learner.probability
    assert not hasattr(make_stream_pipeline(StandardScaler(), AROWRegressor()), "decision_function")


OF_CLASSES = [
    name for name in get_scorer_names()
    if name != "top_k_accuracy" and (get_scorer(name)._response_method != "predict" or name in ("accuracy", "f1"))
]


@pytest.mark.parametrize("name", MODELS)
def test_scorers_give_what_they_give_for_scikit_learn_s_pipelines(name):
    ours, peer, X = fitted(name)
    tried = 0
    for scoring in OF_CLASSES:
        scorer = get_scorer(scoring)
        if scorer._response_method == "predict_proba" and not hasattr(ours, "predict_proba"):
            continue
        tried += 1
        assert scorer(ours, X, LABELS) == scorer(peer, X, LABELS), scoring
        assert np.isfinite(cross_val_score(ours, X, LABELS, scoring=scoring, cv=3, error_score="raise")).all(), scoring
    assert tried > 3
    assert cross_val_score(ours, X, LABELS, scoring="roc_auc", cv=3).min() > 0.75
    for method in ("decision_function", "predict_proba"):
        if hasattr(ours, method):
            scorer = make_scorer(roc_auc_score, response_method=method)
            assert scorer(ours, X, LABELS) == scorer(peer, X, LABELS) > 0.75


@pytest.mark.parametrize("pos_label", [0, 1])
@pytest.mark.parametrize("name", MODELS)
def test_displays_draw_either_class(name, pos_label):
    ours, peer, X = fitted(name)
    for display, area in ((RocCurveDisplay, "roc_auc"), (PrecisionRecallDisplay, "average_precision")):
        for method in ("auto", "decision_function", *(["predict_proba"] if hasattr(ours, "predict_proba") else [])):
            drawn, expected = (getattr(display.from_estimator(
                each, X, LABELS, pos_label=pos_label), area) for each in (ours, peer))
            assert drawn == expected > 0.6, (display, method)
    drawn, expected = (DetCurveDisplay.from_estimator(each, X, LABELS, pos_label=pos_label) for each in (ours, peer))
    np.testing.assert_array_equal(drawn.fnr, expected.fnr)
    if hasattr(ours, "predict_proba"):
        drawn, expected = (CalibrationDisplay.from_estimator(each, X, LABELS, pos_label=pos_label) for each in (ours, peer))
        np.testing.assert_array_equal(drawn.prob_true, expected.prob_true)
    positive = cross_val_predict(ours, X, LABELS, cv=3, method="decision_function")
    assert roc_auc_score(LABELS, positive) > 0.75


@pytest.mark.parametrize("name", [name for name, (_, _, X) in MODELS.items() if X is NUMBERS])
def test_partial_dependence_is_that_of_the_second_class(name):
    ours, peer, X = fitted(name)
    found, expected = (partial_dependence(each, X, [0], grid_resolution=9)["average"] for each in (ours, peer))
    assert found.shape == (1, 9)
    np.testing.assert_array_equal(found, expected)
    assert found[0, -1] > found[0, 0]  # (the first column speaks for class 1)
    PartialDependenceDisplay.from_estimator(ours, X, [0])
    DecisionBoundaryDisplay.from_estimator(type(ours)(**ours.get_params(deep=False)).fit(X[:, :2], LABELS), X[:, :2])


@pytest.mark.parametrize("name", MODELS)
def test_meta_estimators_choose_the_methods_by_name(name):
    make, _, X = MODELS[name]
    ours = make().fit(X, LABELS)
    tuned = TunedThresholdClassifierCV(make(), scoring="balanced_accuracy", cv=3).fit(X, LABELS)
    assert tuned.score(X, LABELS) > 0.55
    for method in ("decision_function", *(["predict_proba"] if hasattr(ours, "predict_proba") else [])):
        low, high = (FixedThresholdClassifier(ours, threshold=t, response_method=method).fit(X, LABELS).predict(X).mean()
                     for t in (-0.5, 0.9))
        assert low > high, method
        stack = StackingClassifier([("a", make()), ("b", make())], LogisticRegression(), cv=3, stack_method=method)
        assert stack.fit(X, LABELS).score(X, LABELS) > 0.65, method
    assert StackingClassifier([("a", make())], LogisticRegression(), cv=3).fit(X, LABELS).score(X, LABELS) > 0.65
    for calibrated in (CalibratedClassifierCV(make(), ensemble=False, cv=3), CalibratedClassifierCV(FrozenEstimator(ours))):
        assert roc_auc_score(LABELS, calibrated.fit(X, LABELS).predict_proba(X)[:, 1]) > 0.75
    if hasattr(ours, "predict_proba"):
        assert VotingClassifier([("a", make()), ("b", make())], voting="soft").fit(X, LABELS).score(X, LABELS) > 0.65


def test_a_search_chooses_by_scores_that_only_a_response_gives():
    search = GridSearchCV(MODELS["tables"][0](), {"arowclassifier__r": [1e-6, 1.0]}, scoring="roc_auc", cv=3)
    assert np.isfinite(search.fit(TABLE, LABELS).cv_results_["mean_test_score"]).all()
    assert search.best_score_ > 0.75
