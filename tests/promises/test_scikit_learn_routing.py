"""scikit-learn's metadata routing, and its HTML diagram."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
from algorithms import ESTIMATORS

import onlinecls

sklearn = pytest.importorskip("sklearn", minversion="1.6", reason="scikit-learn is not installed")

from sklearn.base import clone  # noqa: E402
from sklearn.calibration import CalibratedClassifierCV  # noqa: E402
from sklearn.datasets import make_classification  # noqa: E402
from sklearn.exceptions import UnsetMetadataPassedError  # noqa: E402
from sklearn.linear_model import SGDClassifier  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_validate  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

OTHERS = [onlinecls.KernelOnlineClassifier, onlinecls.KernelOnlineRegressor, onlinecls.KernelOnlineOneClass]
LEARNERS = [*(cls() for cls in (*ESTIMATORS, *OTHERS)), onlinecls.OnlineToBatch(onlinecls.Perceptron())]


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.fixture(scope="module")
def problem():
    """Rows, labels, and weights that leave out the rows whose labels have been exchanged."""
    X, y = make_classification(300, 8, n_informative=5, random_state=0)
    wrong = np.arange(300) % 3 == 0
    return X, np.where(wrong, 1 - y, y), np.where(wrong, 0.0, 1.0)


def requests(estimator, method):
    return getattr(estimator.get_metadata_routing(), method).requests


@pytest.mark.parametrize("estimator", LEARNERS, ids=str)
def test_sample_weight_can_be_requested_of_every_method(estimator, routing):
    for method in ("fit", "partial_fit", "score"):
        if hasattr(estimator, method) and (method != "score" or "OneClass" not in type(estimator).__name__):
            assert requests(estimator, method)["sample_weight"] is None
            asked = getattr(clone(estimator), f"set_{method}_request")(sample_weight="importance")
            assert requests(asked, method)["sample_weight"] == "importance"
            assert requests(clone(asked), method)["sample_weight"] == "importance"
            assert requests(pickle.loads(pickle.dumps(asked)), method)["sample_weight"] == "importance"
    assert requests(estimator, "fit")["sample_weight"] is None, "a copy's request is its own"


def test_metadata_requests_are_those_of_scikit_learn(routing):
    ours = onlinecls.Perceptron().set_fit_request(sample_weight=True, coef_init=False).set_score_request(sample_weight=True)
    theirs = SGDClassifier().set_fit_request(sample_weight=True, coef_init=False).set_score_request(sample_weight=True)
    for method in ("fit", "partial_fit", "score"):
        assert requests(ours, method) == requests(theirs, method)
    ours.set_fit_request(intercept_init=True)
    assert requests(ours, "fit") == {"sample_weight": True, "coef_init": False, "intercept_init": True}
    assert requests(onlinecls.AROWRegressor(), "predict") == {"return_std": None}


def test_errors_of_requests_are_those_of_scikit_learn(routing):
    for wrong in ({"weights": True}, {"sample_weight": 3}):
        errors = []
        for estimator in (onlinecls.Perceptron(), SGDClassifier()):
            with pytest.raises((TypeError, ValueError)) as error:
                estimator.set_fit_request(**wrong)
            errors.append(error.type)
        assert errors[0] is errors[1]
    with sklearn.config_context(enable_metadata_routing=False):
        said = []
        for estimator in (onlinecls.Perceptron(), SGDClassifier()):
            with pytest.raises(RuntimeError) as error:
                estimator.set_fit_request(sample_weight=True)
            said.append(str(error.value))
        assert said[0] == said[1]


def test_pipelines_hand_weights_on(routing, problem):
    X, y, weights = problem
    learner = onlinecls.AROWClassifier(random_state=0)
    asked = clone(learner).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
    scale = StandardScaler().set_fit_request(sample_weight=False)
    pipeline = make_pipeline(scale, asked).fit(X, y, sample_weight=weights)
    Z = StandardScaler().fit_transform(X)
    assert (pipeline[-1].coef_ == clone(learner).fit(Z, y, sample_weight=weights).coef_).all()
    assert (pipeline[-1].coef_ != clone(learner).fit(Z, y).coef_).any()
    assert pipeline.score(X, y, sample_weight=weights) == pipeline[-1].score(Z, y, weights) > pipeline.score(X, y)
    with pytest.raises(UnsetMetadataPassedError, match=r"AROWClassifier\.fit.*set_fit_request"):
        make_pipeline(scale, learner).fit(X, y, sample_weight=weights)


def test_searches_and_calibration_hand_weights_on(routing, problem):
    X, y, weights = problem
    asked = onlinecls.Perceptron(random_state=0).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
    search = GridSearchCV(asked, {"aggressive": [False, True]}, cv=3).fit(X, y, sample_weight=weights)
    plain = clone(search.best_estimator_).fit(X, y, sample_weight=weights)
    assert (search.best_estimator_.coef_ == plain.coef_).all()
    found = cross_validate(asked, X, y, params={"sample_weight": weights}, cv=3)["test_score"]
    assert found.mean() > cross_validate(asked, X, y, cv=3)["test_score"].mean()
    calibrated = CalibratedClassifierCV(asked, cv=3).fit(X, y, sample_weight=weights)
    unweighted = CalibratedClassifierCV(clone(asked), cv=3).fit(X, y)
    right = [np.average(each.predict(X) == y, weights=weights) for each in (calibrated, unweighted)]
    assert right[0] > right[1]


def test_a_subclass_may_take_other_metadata(routing):
    class Priced(onlinecls.Perceptron):
        def partial_fit(self, X, y, classes=None, sample_weight=None, *, price=None):
            return super().partial_fit(X, y, classes, sample_weight if price is None else price)

    asked = Priced().set_partial_fit_request(price=True)
    assert requests(asked, "partial_fit") == {"classes": None, "price": True, "sample_weight": None}
    with pytest.raises(TypeError, match="price"):
        onlinecls.Perceptron().set_partial_fit_request(price=True)


# --- diagrams ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", [*LEARNERS, onlinecls.text.HashingVectorizer()], ids=str)
def test_every_estimator_has_an_html_diagram(estimator):
    html = estimator._repr_html_()
    assert type(estimator).__name__ in html and "<div" in html
    assert set(estimator._repr_mimebundle_(include=None, exclude=None)) == {"text/plain", "text/html"}
    with sklearn.config_context(display="text"):
        assert estimator._repr_html_() is None
        assert estimator._repr_mimebundle_() == {"text/plain": repr(estimator)}
    assert type(estimator).__name__ in make_pipeline(StandardScaler(), estimator)._repr_html_()


def test_routing_and_diagrams_say_what_lacks_without_scikit_learn():
    code = (
        "import sys, onlinecls\n"
        "learner = onlinecls.AROWClassifier()\n"
        "try: learner.set_fit_request(sample_weight=True)\n"
        "except RuntimeError as error: assert 'enable_metadata_routing=True' in str(error)\n"
        "else: raise AssertionError\n"
        "assert 'sklearn' not in sys.modules\n"
        "sys.modules['sklearn'] = None\n"
        "assert learner._repr_html_() is None and learner._repr_mimebundle_() == {'text/plain': 'AROWClassifier()'}\n")
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
