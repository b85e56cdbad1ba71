"""Fitted models in the formats of skops and MLflow (`make libraries`): predictions are equal, and go on being so."""

import pickle

import numpy as np
import pytest
from algorithms import LEARNERS
from internals import state_of
from sklearn.preprocessing import StandardScaler
from states import fingerprint

from onlinecls import AROWClassifier, CommitteeClassifier, make_stream_pipeline
from onlinecls.tables import TableVectorizer
from onlinecls.text import FeatureNames, HashingVectorizer

pytestmark = pytest.mark.filterwarnings("ignore")  # (those of MLflow)


def through_skops(model):
    sio = pytest.importorskip("skops.io", reason="skops is not installed")
    raw = sio.dumps(model)
    return sio.loads(raw, trusted=sio.get_untrusted_types(data=raw))


def through_mlflow(model, path):
    pytest.importorskip("skops.io", reason="skops is not installed")
    flavour = pytest.importorskip("mlflow.sklearn", reason="mlflow is not installed")
    import skops.io as sio

    trusted = sio.get_untrusted_types(data=sio.dumps(model))
    flavour.save_model(model, str(path), serialization_format="skops", skops_trusted_types=trusted)
    return flavour.load_model(str(path))


@pytest.fixture(params=["pickle", "skops", "mlflow"])
def through(request, tmp_path):
    """Write a model in a format and read it."""
    return {
        "pickle": lambda model: pickle.loads(pickle.dumps(model)), "skops": through_skops,
        "mlflow": lambda model: through_mlflow(model, tmp_path / f"model {id(model)}"),
    }[request.param]


def check_parts(part):
    """Raise a TypeError unless pickles and skops can write this: plain values, or a class with arguments or with a state."""
    if isinstance(part, dict):
        check_parts([*part.items()])
    elif isinstance(part, (list, tuple, set, frozenset)):
        for each in part:
            check_parts(each)
    elif not (part is None or isinstance(part, (bool, int, float, str, bytes, np.ndarray, np.generic, type))):
        made, arguments, *_ = part.__reduce__()
        check_parts(arguments if made is type(part) else part.__getstate__())


def test_a_model_has_no_part_that_only_pickle_can_write():
    for learner in LEARNERS:
        X, y = learner.problem(30)
        for model in (learner().partial_fit(X[:10], y[:10]), learner().partial_fit(X, y)):
            check_parts(model)
            assert not {"_choice", "_lock"} & vars(pickle.loads(pickle.dumps(model))).keys()
    for make, rows in PIPELINES.values():
        check_parts(make().partial_fit(rows, np.arange(len(rows)) % 2))


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
@pytest.mark.parametrize("n", [10, 60])  # (a young model keeps its rows)
def test_a_learner_in_another_format_predicts_and_goes_on_learning_to_the_bit(learner, n):
    X, y = learner.problem(90)
    labels = np.array(["a", "b", "c", "d"])[y] if learner.is_classifier else y
    model = learner().partial_fit(X[:n], labels[:n])
    again = through_skops(model)
    assert fingerprint(again) == fingerprint(model) and again.predict(X).tolist() == model.predict(X).tolist()
    assert again.get_params(deep=False).keys() == model.get_params(deep=False).keys()
    for each in (model, again):
        each.partial_fit(X[n:70], labels[n:70])
        for row in range(70, 90):
            each.partial_fit(X[row : row + 1], labels[row : row + 1])
    assert fingerprint(again) == fingerprint(model)


def test_what_is_fitted_in_epochs_goes_on_as_well(through):
    draw = np.random.default_rng(0)
    X, y = draw.normal(size=(80, 4)), draw.integers(0, 3, 80)
    for model in (AROWClassifier(max_iter=3), AROWClassifier(covariance="full"), CommitteeClassifier(probability=True)):
        model.fit(X, y)
        again = through(model)
        assert fingerprint(again) == fingerprint(model)
        assert again.decision_function(X).tobytes() == model.decision_function(X).tobytes()
        assert fingerprint(again.partial_fit(X, y)) == fingerprint(model.partial_fit(X, y))


ROWS = [{"price": float(k % 7), "colour": "rgb"[k % 3], "day": f"2026-01-{1 + k % 28:02d}"} for k in range(60)]
TEXTS = [f"w{k % 5} w{k % 3}" for k in range(60)]
PIPELINES = {
    "tables": (lambda: make_stream_pipeline(TableVectorizer(bits=8), AROWClassifier()), ROWS),
    "committee": (lambda: make_stream_pipeline(TableVectorizer(bits=8), CommitteeClassifier()), ROWS),
    "texts": (lambda: make_stream_pipeline(HashingVectorizer(n_features=2**8), AROWClassifier()), TEXTS),
    "names": (
        lambda: make_stream_pipeline(HashingVectorizer(n_features=2**8, feature_names=FeatureNames()), AROWClassifier()), TEXTS),
    "numbers": (lambda: make_stream_pipeline(StandardScaler(), AROWClassifier()), np.random.default_rng(1).normal(size=(60, 3))),
}


@pytest.mark.parametrize("name", PIPELINES)
def test_a_pipeline_in_another_format_predicts_and_goes_on_learning_to_the_bit(name, through):
    make, rows = PIPELINES[name]
    y = np.arange(60) % 2
    pipeline = make().partial_fit(rows[:40], y[:40])
    again = through(pipeline)
    assert again.decision_function(rows).tobytes() == pipeline.decision_function(rows).tobytes()
    for each in (pipeline, again):
        each.partial_fit(rows[40:], y[40:])
    assert again.decision_function(rows).tobytes() == pipeline.decision_function(rows).tobytes()
    assert fingerprint(again[-1]) == fingerprint(pipeline[-1])
    assert state_of(again[-1]) is not state_of(pipeline[-1])
