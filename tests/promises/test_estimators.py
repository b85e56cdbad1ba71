"""What a user of scikit-learn expects of the classes, beyond scikit-learn's own checks (test_scikit_learn.py)."""

import doctest
import inspect
import pickle
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from algorithms import ESTIMATORS
from internals import state_of
from matrices import continuous_problem, csr32
from numpy.testing import assert_allclose, assert_array_equal
from states import fingerprint

import onlinecls

every_estimator = pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda cls: cls.__name__)


def learnt(learner):
    """fingerprint without what fit and partial_fit count differently."""
    return {name: value for name, value in fingerprint(learner).items() if name != "n_iter_"}


def test_shuffle_takes_every_row_once_an_epoch():
    X, y = continuous_problem(60, 9, seed=65)
    order = np.random.RandomState(7).permutation(60)
    X[0] = X[order[0]]  # by which `fit` knows the units, whatever the order
    for rows in (X, csr32(X)):
        fitted = onlinecls.AROWClassifier(max_iter=1, random_state=7).fit(rows, y)
        assert learnt(fitted) == learnt(onlinecls.AROWClassifier().partial_fit(X[order], y[order], classes=[-1, 1]))


def test_tol_and_n_iter_no_change_end_the_epochs():
    X = np.array([[1.0, 0.0], [0.0, 1.0]])
    fit = lambda **params: onlinecls.PassiveAggressiveClassifier(C=np.inf, **params).fit(X, [0, 1]).n_iter_  # noqa: E731
    assert fit(max_iter=50, n_iter_no_change=3) < 20  # separable: the loss is soon 0 and no longer improves
    assert fit(max_iter=50, n_iter_no_change=3) < fit(max_iter=50, n_iter_no_change=8)
    assert fit(max_iter=50, tol=None) == 50
    assert fit(max_iter=50, tol=1e9, n_iter_no_change=5) == 6  # as scikit-learn: the first epoch beats infinity
    assert fit(max_iter=2) == 2


def test_early_stopping_learns_from_the_other_rows_only():
    X, y = continuous_problem(200, 9, seed=66, n_classes=3)
    given = {"early_stopping": True, "validation_fraction": 0.25, "random_state": 0, "max_iter": 30, "n_iter_no_change": 3}
    learner, other = (onlinecls.AROWClassifier(**given).fit(rows, y) for rows in (X, csr32(X)))
    assert learner.n_iter_ < 30 and 145 <= learner.t_ / learner.n_iter_ <= 150 and learner.t_ % learner.n_iter_ == 0
    assert fingerprint(other) == fingerprint(learner)
    onlinecls.AROWClassifier(early_stopping=True, class_weight="balanced").fit(X, y, sample_weight=np.arange(200.0))


@pytest.mark.parametrize("estimator", [onlinecls.Perceptron, onlinecls.PassiveAggressiveClassifier])
def test_fit_starts_from_coef_init_and_intercept_init(estimator):
    for n_classes in (2, 3):
        X, y = continuous_problem(40, 5, seed=68, n_classes=n_classes)
        kind = {"shuffle": False, "max_iter": 1, "intercept_scaling": 2.0}
        first = estimator(**kind).fit(X, y)
        before = first.coef_.copy()
        going_on = estimator(**kind).fit(X, y, coef_init=first.coef_.squeeze().tolist(), intercept_init=first.intercept_)
        assert_allclose(going_on.coef_, estimator(**kind).partial_fit(X, y, np.unique(y)).partial_fit(X, y).coef_, rtol=1e-12)
        assert learnt(estimator(**kind).fit(X, y, before, first.intercept_)) == learnt(going_on)
        assert (first.coef_ == before).all()


@pytest.mark.parametrize("kind", [{}, {"average": True}, {"covariance": "full", "dtype": np.float64}, {"scale": 3.0}], ids=str)
@every_estimator
def test_weights_are_set_as_they_are_read(estimator, kind, tmp_path):
    flat = estimator._estimator_type == "regressor"
    for n_classes in (2,) if flat else (2, 3):
        X, y = continuous_problem(30, 5, seed=71, n_classes=n_classes)
        try:
            learner, twin = (estimator(**kind).partial_fit(each, y) for each in (X, 0.0 * X))
            learner.intercept_ = learner.intercept_
        except (AttributeError, TypeError, ValueError) as error:  # (no such parameter, or no such weights)
            assert kind or not getattr(state_of(learner), "TAKES_WEIGHTS", False), error
            return
        k = n_classes if n_classes > 2 else 1
        W, b = np.random.default_rng(72).normal(size=(k, 5)), np.arange(1.0, k + 1)
        for one in (learner, twin):
            before = {name: np.copy(getattr(one, name)) for name in ("t_", "n_updates_", "covariance_") if hasattr(one, name)}
            one.sparsify().coef_, one.intercept_ = (W[0] if flat else W).tolist(), b
            assert all((getattr(one, name) == value).all() for name, value in before.items()) or one is twin
        learner.save(tmp_path / "model")
        for one in (learner, twin, pickle.loads(pickle.dumps(learner)), onlinecls.load(tmp_path / "model")):
            assert_allclose(one.coef_, W[0] if flat else W, rtol=1e-6, atol=1e-9)
            assert_allclose(one.intercept_, b, rtol=1e-6)
            scores = one.predict(X) if flat else one.decision_function(X)
            assert_allclose(scores, (X @ W.T + b).squeeze(), rtol=1e-5, atol=1e-5)
        learner.partial_fit(X, y)
        assert learner.t_ == 60 and (learner.coef_ != W).any()


def test_scores_of_zero_are_the_first_class():
    X = np.eye(3)
    learner = onlinecls.Perceptron(fit_intercept=False).partial_fit(X[:2], [5, 9], classes=[5, 9])
    assert learner.decision_function(X)[2] == 0.0 and learner.predict(X)[2] == 5
    learner = onlinecls.Perceptron(fit_intercept=False).partial_fit(X[:2], [7, 8], classes=[5, 7, 8])
    assert learner.decision_function(X[:1] * 0).tolist() == [[0, 0, 0]] and learner.predict(X[:1] * 0).tolist() == [5]
    assert learner.predict(np.zeros((0, 3))).shape == (0,)


@every_estimator
def test_the_model_s_dtype_is_that_of_the_first_rows_or_the_parameter(estimator):
    X, y = continuous_problem(40, 5, seed=74, dtype="float32")
    for rows, dtype, expected in (
        (X, None, "f4"), (X.astype(float), None, "f8"), (X, "float64", "f8"), (X.astype(float), np.float32, "f4"),
        (X.astype(np.float16), None, "f8"), (X > 0, None, "f8"), (X.astype(">f4"), None, "f4"), (csr32(X), None, "f4"),
        (csr32(X.astype(int)), None, "f8"), (X.astype(object), None, "f8"), (X.astype(np.longdouble), None, "f8"),
    ):
        learner = estimator(dtype=dtype).partial_fit(rows, y).partial_fit(X.astype(float), y).partial_fit(X.astype(int), y)
        assert getattr(learner, "center_" if estimator._estimator_type == "outlier_detector" else "coef_").dtype == expected
        assert getattr(learner, "decision_function", learner.predict)(rows).dtype == np.float64


@pytest.mark.parametrize("labels", [["x", "longer"], [4, 2], [2**62, 2**62 + 1]], ids=str)
def test_labels_come_back_as_they_went_in(labels):
    """(Of other types, also from a file: test_saving.py.)"""
    X, y = np.array([[1.0, 0.0], [0.0, 1.0]] * 5), np.array(labels * 5, object)
    for learner in (onlinecls.AROWClassifier().fit(X, y), onlinecls.AROWClassifier().partial_fit(X, y).partial_fit(X, y)):
        assert learner.predict(X).tolist() == y.tolist() and learner.score(X, y) == 1.0
        assert learner.classes_.tolist() == sorted(labels)


def test_data_frames_and_series_are_read_and_named():
    pandas = pytest.importorskip("pandas")
    X, y = continuous_problem(40, 3, seed=75)
    frame, labels = pandas.DataFrame(X, columns=["a", "b", "c"]), pandas.Series(y, index=range(100, 140))
    learner = onlinecls.AROWClassifier().partial_fit(frame, labels)
    assert learner.feature_names_in_.tolist() == ["a", "b", "c"]
    for other in (learner.fit(X, y), onlinecls.AROWClassifier().fit(pandas.DataFrame(X), y)):
        assert not hasattr(other, "feature_names_in_")
    for dtype in ("category", "string", "Int64"):
        assert len(onlinecls.AROWClassifier().fit(X, pandas.Series(y).astype(dtype)).classes_) == 2


def test_balanced_fit_takes_its_weights_from_the_whole_set():
    X, y = continuous_problem(90, 5, seed=77, n_classes=3)
    y = np.where(np.arange(90) < 40, 0, y)
    balanced = 90 / (3 * np.bincount(y))
    fit = lambda weight: learnt(onlinecls.AROWClassifier(class_weight=weight, random_state=0, max_iter=2).fit(X, y))  # noqa: E731
    assert fit("balanced") == fit(dict(enumerate(balanced)))


@every_estimator
def test_attributes_are_those_of_the_docstring_and_all_parameters_but_one_are_named(estimator):
    kinds = [parameter.kind.name for parameter in inspect.signature(estimator).parameters.values()]
    assert kinds == ["POSITIONAL_OR_KEYWORD"] + ["KEYWORD_ONLY"] * (len(kinds) - 1)
    other = estimator(max_iter=2).fit(*continuous_problem(20, 3, seed=78))
    assert repr(other) == f"{estimator.__name__}(max_iter=2)", "repr shows what is not the default"
    public = {name for name in dir(other) if name.endswith("_") and not name.startswith("_")}
    told = inspect.getdoc(estimator).partition("Attributes\n---")[2]
    named = {each for names in re.findall(r"^([a-z_, ]+_) :", told, flags=re.M) for each in names.split(", ")}
    assert public == named - {"feature_names_in_"}


def test_class_weights_that_are_changed_in_place_count_from_the_next_call():
    X, y = continuous_problem(40, 5, seed=80)
    weights = {-1: 1.0, 1: 1.0}
    learner, twin = (onlinecls.AROWClassifier(class_weight=w).partial_fit(X, y) for w in (weights, {-1: 1.0, 1: 1.0}))
    weights[1] = 0.25
    twin.set_params(class_weight={-1: 1.0, 1: 0.25})
    assert fingerprint(learner.partial_fit(X, y)) == fingerprint(twin.partial_fit(X, y))


@pytest.mark.filterwarnings("ignore:.*deprecated:FutureWarning")
@pytest.mark.parametrize("name", ["PassiveAggressiveClassifier", "PassiveAggressiveRegressor", "Perceptron"])
def test_scikit_learn_s_parameters_and_calls_are_taken(name):
    theirs = getattr(pytest.importorskip("sklearn.linear_model"), name, None)
    if theirs is None:
        pytest.skip(f"scikit-learn has no {name} any more")
    learner, defaults = getattr(onlinecls, name)(), theirs().get_params()
    assert {name: getattr(learner, name) for name in defaults} == defaults
    for call in ("fit", "partial_fit"):
        ours, others = (list(inspect.signature(getattr(each, call)).parameters) for each in (learner, theirs()))
        assert ours[:len(others)] == others
    init = lambda self, more=1, **others: super(own, self).__init__(**others) or setattr(self, "more", more)  # noqa: E731
    own = type("Own", (getattr(onlinecls, name),), {"__init__": init})  # (as scikit-learn takes it)
    assert own(3).fit([[0.0], [1.0]], [0, 1]).get_params() == {"more": 3}


@pytest.mark.filterwarnings("ignore:.*deprecated:FutureWarning")
@pytest.mark.parametrize("kind", [np.asarray, csr32])
def test_weights_are_scikit_learn_s_where_the_conventions_agree(kind):
    linear_model = pytest.importorskip("sklearn.linear_model")
    X, y = continuous_problem(300, 13, seed=83)
    X, y = X[X.any(axis=1)], y[X.any(axis=1)]
    for name, params in (
        ("Perceptron", {}), ("PassiveAggressiveClassifier", {"C": 0.1}),
        ("PassiveAggressiveClassifier", {"C": 0.5, "loss": "squared_hinge"}),
        ("PassiveAggressiveRegressor", {"C": 0.1, "epsilon": 0.2}),
        ("PassiveAggressiveRegressor", {"C": 0.1, "epsilon": 0.2, "loss": "squared_epsilon_insensitive"}),
    ):
        if not hasattr(linear_model, name):  # (newer ones have no passive-aggressive learners)
            continue
        learners = [getattr(module, name)(fit_intercept=False, shuffle=False, **params) for module in (onlinecls, linear_model)]
        targets = (y, [-1, 1]) if "Regressor" not in name else (X @ np.arange(13.0),)
        ours, theirs = (learner.partial_fit(kind(X), *targets) for learner in learners)
        assert_allclose(np.ravel(ours.coef_), np.ravel(theirs.coef_), rtol=1e-8, atol=1e-10)
    ours = onlinecls.Perceptron(intercept_scaling=1.0, shuffle=False).fit(X, y)
    theirs = linear_model.Perceptron(shuffle=False).fit(X, y)
    assert (ours.coef_ == theirs.coef_).all() and ours.intercept_ == theirs.intercept_


def test_import_leaves_scipy_scikit_learn_and_the_extras_alone():
    code = """if True:
        import sys, numpy as np; before = set(sys.modules); import onlinecls; new = set(sys.modules) - before
        assert not new & {'scipy', 'sklearn', 'pandas', 'matplotlib', 'river', 'pyarrow', 'joblib'}, new
        l = onlinecls.AROWClassifier().fit(np.eye(4), [0, 1, 0, 1]); l.partial_fit(np.eye(4), [0, 1, 0, 1])
        l.predict(np.eye(4)); l.score(np.eye(4), [0, 1, 0, 1]); repr(l); l.get_params(); l.set_params(r=1.0)
        try: onlinecls.AROWClassifier().predict(np.eye(4))
        except ValueError as error: assert isinstance(error, AttributeError)
        assert 'sklearn' not in sys.modules
        """
    for options in ([], ["-OO"]):  # (with and without docstrings)
        subprocess.run([sys.executable, *options, "-c", code], check=True)
    exceptions = pytest.importorskip("sklearn.exceptions")  # which errors are of where it has been imported
    with pytest.raises(exceptions.NotFittedError):
        onlinecls.AROWClassifier().predict([[1.0]])


ROOT = Path(onlinecls.__file__).parent
MODULES = [path.relative_to(ROOT.parent) for path in ROOT.rglob("*.py") if ">>> " in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_examples_in_docstrings_run(path):
    found = doctest.testmod(import_module(".".join(path.with_suffix("").parts).removesuffix(".__init__")))
    assert found.attempted > 1 and found.failed == 0


@pytest.mark.parametrize("multi_class", ["crammer_singer", "ovr"])
def test_a_class_whose_weight_becomes_0_stays(multi_class, tmp_path):
    """Its vector must not be lost, nor those of others be mixed."""
    X, y = np.array([[30.0, 10.0], [-10.0, 20.0], [20.0, -10.0]]), [1, 2, 1]
    for cls in (onlinecls.PassiveAggressiveClassifier, onlinecls.OGDClassifier, onlinecls.PNormPerceptron,
                onlinecls.MultiplicativePassiveAggressiveClassifier, onlinecls.AdaGradClassifier):
        model = cls(multi_class=multi_class).partial_fit([[1.0, 2.0]], [0]).set_params(class_weight={0: 0.0})
        for _ in range(3):
            model.partial_fit(X, y)
        assert model.classes_.tolist() == [0, 1, 2] and model.coef_.shape == (3, 2) and model.predict(X).tolist() == y
        if cls is not onlinecls.MultiplicativePassiveAggressiveClassifier:  # (save refuses a normaliser without that class)
            model.save(tmp_path / "model")
            assert_array_equal(onlinecls.load(tmp_path / "model").coef_, model.coef_)
