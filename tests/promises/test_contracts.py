"""DESIGN's contracts: what every estimator keeps at each of its tasks (contracts.py), and what is tested once, on one of them."""

import itertools
import pickle
import sys
import threading

import internals
import numpy as np
import pytest
from algorithms import LEARNERS
from contracts import classes_of, memory_of, yield_checks
from interrupts import ctrl_c, interrupted, wrapped
from looping import within
from matrices import MATRIX_KINDS, continuous_problem, csr32
from scipy import sparse
from states import fingerprint

import onlinecls

both_constructions = pytest.mark.parametrize("multi_class", ["crammer_singer", "ovr"])


def checks_of_estimators():
    """Return a parameter set for each check and estimator: all learners of one class that have to pass the check."""
    found = {}
    for learner in LEARNERS:
        for check in yield_checks(learner):
            found.setdefault((check, learner.estimator), []).append(learner)
    return [pytest.param(*key, each, id=f"{key[0].__name__}-{key[1]}") for key, each in found.items()]


@pytest.mark.parametrize("check, estimator, learners", checks_of_estimators())
def test_every_learner_keeps_each_contract(check, estimator, learners):
    with np.errstate(all="raise"):  # (numpy's error state is the caller's: no call may depend on it)
        within(learner=learners)(check)()


@within(dtype=["float64", "float32"])
@pytest.mark.parametrize("kind", MATRIX_KINDS.values(), ids=MATRIX_KINDS)
@pytest.mark.parametrize("learner", [onlinecls.AROWClassifier(), onlinecls.KernelOnlineClassifier("pa")], ids=str)
def test_every_way_of_storing_a_matrix_is_read_as_the_same_rows(learner, kind, dtype):
    """Every kind is converted to one of the three storages in which check_sparse_is_dense tests each learner."""
    X, y = continuous_problem(80, 13, seed=10, n_classes=4, dtype=dtype)
    stored, plain = (type(learner)(**learner.get_params()) for _ in "ab")
    given = kind(X), y, np.arange(4), np.random.default_rng(0).random(80)
    before = pickle.dumps(given)
    same = csr32(X) if sparse.issparse(kind(X)) or isinstance(learner, onlinecls.AROWClassifier) else X
    assert fingerprint(stored.partial_fit(*given)) == fingerprint(plain.partial_fit(same, *given[1:]))
    assert (stored.decision_function(given[0]) == plain.decision_function(same)).all()
    assert pickle.dumps(given) == before, "what is given is never written to"


@pytest.mark.parametrize("kind", [csr32, sparse.csr_array, np.asarray])
@pytest.mark.parametrize("learner", [
    onlinecls.AROWClassifier(), onlinecls.NAROWClassifier(average=True), onlinecls.PNormPerceptron(),
    onlinecls.AdaGradClassifier(update="dual_averaging", l1=1e-3), onlinecls.DualAscentClassifier(),
], ids=str)
@within(n_classes=[2, 3, 23])
def test_few_rows_are_scored_as_many(learner, kind, n_classes):
    """Scores of a call of few rows, which is read in C, equal those of one of more than 1024 rows, which is read in Python."""
    X, y = continuous_problem(60, 7, seed=8, n_classes=n_classes)
    learner = pickle.loads(pickle.dumps(type(learner)(**learner.get_params()).partial_fit(X, y, classes=np.unique(y))))
    many = kind(np.tile(X, (20, 1)))
    scores, labels = learner.decision_function(many)[:60], learner.predict(many)[:60]
    for i in range(60):
        assert (learner.decision_function(kind(X[i : i + 1])) == scores[i : i + 1]).all()
        assert (learner.predict(kind(X[i : i + 1])) == labels[i : i + 1]).all()
    assert (learner.decision_function(kind(X)) == scores).all()
    with pytest.raises(ValueError, match="NaN"):
        learner.predict(kind(np.full((1, 7), np.nan)))
    with pytest.raises(ValueError, match="X has 6 features"):
        learner.predict(kind(X[:1, :6].copy()))


def test_chunks_without_rows_of_weight_change_nothing_and_need_no_labels_of_the_right_type():
    learner = onlinecls.AROWClassifier().partial_fit(np.empty((0, 2)), [])
    assert fingerprint(learner.partial_fit([[1.0], [2.0]], [0, 1], sample_weight=[0, 0])) is None
    learner.partial_fit(np.eye(2), ["a", "b"])  # the first rows that count say how many features there are
    before = fingerprint(learner)
    assert fingerprint(learner.partial_fit(sparse.csr_matrix((0, 2)), [], sample_weight=[])) == before


def test_a_weight_that_underflows_is_a_weight_of_zero():
    X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    learner = onlinecls.AROWClassifier(class_weight={"b": 1e-200, "c": 1e-200})
    learner.partial_fit(X, ["a", "b", "a"], sample_weight=[1.0, 1e-200, 1.0])
    assert learner.classes_.tolist() == ["a"] and learner.t_ == 2
    learner = onlinecls.AROWClassifier(class_weight={"c": 1e-200})
    learner.partial_fit(X, ["a", "b", "c"], sample_weight=[1.0, 1.0, 1e-200])
    assert learner.classes_.tolist() == ["a", "b"] and learner.decision_function(X).shape == (3,)


def plain_rows(n, n_labels):
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, 100), dtype=np.float32), rng.integers(0, n_labels, n)


@pytest.mark.parametrize("nth", [1, 2])
@both_constructions
def test_ctrl_c_while_labels_join(multi_class, nth):
    """The interrupt comes in the loop of two labels, or in that of three."""

    def problem(n):  # the first row: one label; up to the middle: two; then three
        X, y = plain_rows(2 * n, 3)
        y[:n] %= 2
        y[:2] = 0, 1
        return X, y

    make = lambda: onlinecls.NAROWClassifier(  # noqa: E731
        b=1.0, initial_variance=1.0, intercept_scaling=1.0, multi_class=multi_class, average=True
    )
    learner, X, y = interrupted(make, problem, n=2**15, nth=nth)
    rows = learner.t_
    assert 0 < rows < len(y) and len(learner.classes_) == nth + 1
    assert fingerprint(learner) == fingerprint(make().partial_fit(X[:rows], y[:rows]))
    assert fingerprint(learner.partial_fit(X[rows:], y[rows:])) == fingerprint(make().partial_fit(X, y))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # (in a generator that is closed)
@pytest.mark.parametrize("cls", [onlinecls.AROWClassifier, onlinecls.PNormPerceptron, onlinecls.DualAscentClassifier])
@pytest.mark.parametrize("begun", [0, 2, 5, 6])  # rows of none, 1, 2, 3 labels, before others join
def test_ctrl_c_anywhere_leaves_a_whole_number_of_rows(cls, begun):
    """It comes where a function of Python begins, or one of C has returned, of which the n-th is tried for each n."""
    X, y = continuous_problem(8, 3, seed=4)[0], np.array([5, 5, 1, 5, 1, 2, 5, 9])
    whole = fingerprint(cls().partial_fit(X, y))
    for n in itertools.count(1):
        left = itertools.count(n - 1, -1)
        model = cls().partial_fit(X[:begun], y[:begun]) if begun else cls()
        def press(_, event, __, left=left):
            if event in ("call", "c_return") and next(left) == 0:
                raise KeyboardInterrupt
        with wrapped(internals.kernels(), lambda kernel, *arguments: kernel(*arguments)):
            try:
                sys.setprofile(press)
                model.partial_fit(X[begun:], y[begun:])
            except KeyboardInterrupt:
                pass
            finally:
                sys.setprofile(None)
        rows = model.t_ if model.__sklearn_is_fitted__() else 0
        assert bool(rows) == model.__sklearn_is_fitted__()
        model.partial_fit(X[rows:], y[rows:])
        assert fingerprint(model) == whole, (n, rows)
        if next(left) >= 0:
            break


@pytest.mark.parametrize("n_classes", [2, 40])
def test_ctrl_c_ends_predict(n_classes):
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals are for the main thread")
    learner = onlinecls.AROWClassifier().partial_fit(np.eye(n_classes, 300), range(n_classes))
    X, empty = np.zeros((400_000 // n_classes, 300)), np.empty
    scores = empty(len(X) * internals.state_of(learner).n_columns)
    for _ in range(20):  # on a busy machine the signal may come after the last look
        scores[:] = np.nan
        try:
            with pytest.MonkeyPatch.context() as patch, ctrl_c(internals.readers()):
                patch.setattr(np, "empty", lambda shape, *of: scores if shape == len(scores) else empty(shape, *of))
                learner.predict(X)
        except KeyboardInterrupt:
            if np.isnan(scores[-1]):
                return
    raise AssertionError("all rows were scored before the interrupt came through")


def test_a_model_takes_no_more_memory_than_its_numbers():
    X, y = continuous_problem(20, 500, seed=3)
    assert memory_of(lambda: onlinecls.AROWClassifier(covariance="full").partial_fit(X, y))[1] < 1.5 * 8 * 501**2
    d = 2**20
    X = sparse.csr_matrix((np.ones(4, np.float32), [0, 5, 7, d - 1], [0, 2, 4]), shape=(2, d))
    learner, peak, held = memory_of(lambda: onlinecls.AROWClassifier(scale=1.0).partial_fit(X, [0, 1], classes=[0, 1]))
    assert peak < 8 * d + 2**20 and held < 8 * d + 2**16
    assert internals.state_of(learner).values.dtype == np.float32 and internals.state_of(learner).values.nbytes == 8 * (d + 1)
    assert memory_of(lambda: learner.partial_fit(X, [0, 1]))[1] < 2**16, "a row must not cost O(n_features)"
    assert memory_of(lambda: learner.predict(X))[1] < 2**16
    assert memory_of(lambda: (learner.coef_, learner.covariance_, learner.intercept_, learner.n_mistakes_))[1] < 2**16
    entropic = onlinecls.DualAscentClassifier(regularizer="entropic")
    for on_simplex in (onlinecls.MultiplicativePassiveAggressiveClassifier(), entropic):
        on_simplex.partial_fit(X, [0, 1], classes=[0, 1])
        assert memory_of(lambda: on_simplex.partial_fit(X, [0, 1]).decision_function(X))[1] < 2**16  # noqa: B023


def test_a_model_does_not_grow_with_its_rows():
    X, y = continuous_problem(200, 6, seed=20, n_classes=3)
    learner = onlinecls.AROWClassifier(average=True, class_weight="balanced").partial_fit(X, y)
    size = len(pickle.dumps(learner))
    assert memory_of(lambda: [learner.partial_fit(X[i : i + 1], y[i : i + 1]) and None for i in range(200)])[2] < 2**14
    assert len(pickle.dumps(learner)) <= size + 64


def test_models_trained_on_threads_equal_those_trained_in_turn():
    """One learner of each estimator and task learns on a thread of its own."""
    some = list({(learner.estimator, learner.task): learner for learner in LEARNERS}.values())
    problems = [learner.problem(400, 20, seed=21) for learner in some]

    def train(model, learner, X, y):
        for start in range(0, 400, 40):
            others = classes_of(learner) if start == 0 else {}
            model.partial_fit(X[start : start + 40], y[start : start + 40], **others)

    in_turn, models = ([learner() for learner in some] for _ in "ab")
    for model, learner, problem in zip(in_turn, some, problems, strict=True):
        train(model, learner, *problem)
    threads = [threading.Thread(target=train, args=(m, one, *p)) for m, one, p in zip(models, some, problems, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [fingerprint(model) for model in models] == [fingerprint(model) for model in in_turn]
