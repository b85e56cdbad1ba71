"""Hostile models and calls: forged files, every scale of X, numbers too small to divide by, threads, and no memory."""

import copy
import functools
import io
import itertools
import json
import operator
import re

import numpy as np
import pytest
from algorithms import EVERY
from algorithms import LEARNERS as OF_ALL_TASKS
from contracts import kinds_of_models
from forging import forged, poking, setting
from fuzz.models import file_of, parts_of
from internals import saving
from scipy.sparse import csr_matrix
from states import bits, fingerprint, is_finite

import onlinecls
from onlinecls import load
from onlinecls._compiled import model

RNG = np.random.default_rng(5)
X, THREE, TWO = RNG.standard_normal((60, 5)), RNG.integers(0, 3, 60), RNG.integers(0, 2, 60)
KERNELS = [
    onlinecls.KernelOnlineClassifier(gamma=1.0), onlinecls.KernelOnlineClassifier("pa", gamma=1.0, budget=20),
    onlinecls.KernelOnlineRegressor(gamma=1.0),
]


def targets_of(learner, y, X=X):
    """Return the arguments of partial_fit beside X."""
    kind = learner._estimator_type
    return {"classifier": (y,), "regressor": (X.sum(axis=1),), "outlier_detector": ()}[kind]


# --- files ---------------------------------------------------------------------------------------------------------------------

AROW, CALIBRATED = onlinecls.AROWClassifier(), onlinecls.AROWClassifier(probability=True)
RBF = onlinecls.KernelOnlineClassifier(gamma=1.0)
BUDGETED, SPARSE = onlinecls.KernelOnlineClassifier(gamma=1.0, budget=20), onlinecls.KernelOnlineClassifier("pa", gamma=1.0)
PRECOMPUTED = onlinecls.KernelOnlineClassifier(kernel="precomputed")
CHOOSING = onlinecls.OnlineToBatch(AROW, "validation", n_snapshots=4, random_state=0)
COMMITTEE = onlinecls.CommitteeClassifier()
ENTROPIC = onlinecls.DualAscentClassifier(regularizer="entropic", dtype="float64")
FULL = onlinecls.AROWClassifier(covariance="full")


def without_rivals(*parts):
    """Leave a single class with rows, and say so in the counters."""
    poking("counts", slice(1, 3), 0.0)(*parts), poking("counters", 4, 1.0)(*parts)


#: What no list of declarations says, one file for each kind of check; tests/fuzz/models.py makes thousands of others.
FORGED = {
    "an estimator outside the library": (AROW, THREE, setting("told", "estimator", "os.system")),
    "a parameter out of range": (AROW, THREE, setting("parameters", "r", -1.0)),
    "a seed that is none": (AROW, THREE, setting("parameters", "random_state", 1e308)),
    "a wrapped learner's seed that is none": (CHOOSING, THREE, setting("wrapped_parameters", "random_state", -1)),
    "an integer parameter past any double": (AROW, THREE, setting("parameters", "average", 10**400)),
    "an average without its sums": (AROW, THREE, setting("learnt_with", "average", True)),
    "a parameter of the last pass that the class has not": (AROW, THREE, setting("learnt_with", "C", 1.0)),
    "a variance of 0": (AROW, THREE, poking("values", 4, 0.0)),
    "squares without end": (COMMITTEE, THREE, poking("tally", 1, 1e201)),
    "a cap above 1": (FULL, THREE, poking("caps", 0, 2.0)),
    "a growth below 1": (FULL, THREE, poking("growth", 0, 0.5)),
    "a sum of squares below 0": (onlinecls.AdaGradClassifier(), TWO, poking("values", 1, -1.0)),
    "labels out of order": (AROW, THREE, poking("classes", 0, 7)),
    "a weight beyond the range": (AROW, THREE, poking("values", 1, 1e308)),
    "a covariance beyond twice the first variance": (FULL, THREE, poking("sigma", 6, -2.1)),
    "a normaliser below 0": (ENTROPIC, THREE, poking("groups", 2, -1e3)),
    "the other regularizer": (ENTROPIC, THREE, setting("learnt_with", "regularizer", "euclidean")),
    "a classifier's name": (onlinecls.AROWRegressor(), X.sum(axis=1), setting("told", "estimator", "AROWClassifier")),
    "a step beyond the range": (onlinecls.DualAscentClassifier("auto"), TWO, poking("shared", 1, 1e300)),
    "a prior that is neither 1 nor 1/2": (RBF, THREE, poking("prior", 0, 3.0)),
    "an unknown kernel": (RBF, THREE, setting("learnt_with", "kernel", "cosine")),
    "an age of an average that is not kept": (ENTROPIC, THREE, poking("groups", 0, 5.0)),
    "an average that overflows within a few rows": (
        onlinecls.DualAscentClassifier(average=True, dtype="float64"), TWO, poking("groups", 0, 1e303)),
    "more classes seen than have rows": (onlinecls.DualAscentClassifier(), THREE, without_rivals),
    "a scale below 0": (AROW, THREE, poking("counters", model.COUNTERS["scale"], -1.0)),
    "a number of probabilities beyond the range": (CALIBRATED, THREE, poking("calibration", 3, 1e301)),
    "a row number past the kernel matrix": (PRECOMPUTED, THREE, poking("vectors", 0, 2**62)),
    "a sparse support vector's column below 0": (SPARSE, THREE, poking("vectors_indices", 0, -1)),
    "fewer errors than none": (CHOOSING, THREE, poking("numbers", 4, -1.0)),
}
#: What X is for those that take no ordinary rows.
ROWS = {id(PRECOMPUTED): X @ X.T, id(SPARSE): csr_matrix(X)}
NO_MODEL = r"must be a model that onlinecls could have saved"
REFUSAL = r"(?s)^onlinecls\.load: .* must be a model that onlinecls could have saved, got one .* or save the model again\.$"


@pytest.mark.parametrize(("learner", "y", "change"), FORGED.values(), ids=FORGED)
def test_a_forged_model_is_refused_at_load(learner, y, change, tmp_path):
    path, rows = tmp_path / "model", ROWS.get(id(learner), X)
    copy.deepcopy(learner).partial_fit(rows, y).save(path)
    forged(path)
    load(path).partial_fit(rows, y)
    forged(path, change)
    with pytest.raises(ValueError, match=REFUSAL):
        load(path)


OF_KIND = ("update", "kernel", "method", "probability")
#: One learner of each class for each kind of model.
KINDS = list({
    (one.estimator, one.geometry, one.n_classes, *map(one.params.get, OF_KIND)): one
    for one in OF_ALL_TASKS if str(one) in kinds_of_models()
}.values())
ODD = ("no such", ["no such"], -1, 2**70, {"float": "nan"}, None)
ANY = ("coef0", "gamma")  # parameters of kernels, which may be any numbers


def forged_numbers(told):
    """Yield (path, other) for each number and text of a model, and of the parameters of its last pass."""
    for path, value in numbers_of(told):
        odd = [*ODD, not value] if value in (True, False) and path[-2] == "state" else ODD
        odd = [*odd, value + 1, 2**40, 2**61] if path[-1] == "n_features" else odd
        yield from ((path, other) for other in odd if other != value and path[-1] not in ANY)


def numbers_of(told, path=()):
    """Yield (path, value) of each entry of each "state"."""
    for name, part in told.items() if isinstance(told, dict) else enumerate(told) if isinstance(told, list) else ():
        if name == "state":
            yield from (((*path, name, key), value) for key, value in part.items())
        else:
            yield from numbers_of(part, (*path, name))


def forged_arrays(state, arrays):
    """Yield arrays, of which one is not as its class declares it."""
    yield "one more", {**arrays, "more": np.zeros(3)}
    for name, array in arrays.items():
        yield f"{name} left out", {k: v for k, v in arrays.items() if k != name}
        other = np.zeros(array.shape, np.int64 if array.dtype != np.int64 else np.float64)
        yield f"{name} of {other.dtype}", {**arrays, name: other}
        yield f"{name} of shape {array[None].shape}", {**arrays, name: array[None]}
        yield f"{name} longer", {**arrays, name: np.resize(array, (len(array) + 1, *array.shape[1:]))}
        numbers, declared = [np.nan, np.inf] if array.dtype.kind == "f" and array.size else [], None
        if numbers and (declared := getattr(state, "ARRAYS", {}).get(name)) and not declared.is_flat:
            least, most = state.bound(declared.least), state.bound(declared.most)
            numbers += [number for number in (least - abs(least) - 1.0, 2.0 * most + 1.0) if np.isfinite(number)]
        numbers += [-1.0, 0.5] if name.endswith("counts") else []
        for number in numbers:
            spoilt = array.copy()
            spoilt.reshape(-1)[-1] = number
            yield f"{name} {number}", {**arrays, name: spoilt}


@pytest.mark.parametrize("learner", KINDS, ids=str)
def test_a_file_with_a_part_that_is_not_as_declared_is_refused(learner):
    X, y = learner.problem(25)
    few = {"n_snapshots": 2} if learner.offers("n_snapshots") else {}  # (which are learners like each other)
    fitted, file = learner(**few).partial_fit(X, *(() if y is None else (y,))), io.BytesIO()
    fitted.save(file)
    told, arrays = parts_of(file.getvalue())
    load(io.BytesIO(file_of(told, arrays)))
    forms = {f"{path} {odd}": (with_entry(told, path, odd), arrays) for path, odd in forged_numbers(told)}
    forms.update({what: (told, changed) for what, changed in forged_arrays(getattr(fitted, "_state", None), arrays)})
    taken = [what for what, parts in forms.items() if not is_refused(file_of(*parts))]
    assert not taken


def with_entry(told, path, value):
    told = copy.deepcopy(told)
    holder = functools.reduce(operator.getitem, path[:-1], told)
    holder[path[-1]] = value
    return told


def is_refused(data):
    try:
        load(io.BytesIO(data))
    except ValueError as error:
        assert re.match(REFUSAL, str(error)), error
        return True
    return False


def test_a_forged_number_near_the_largest_is_refused_without_a_warning(tmp_path):
    copy.deepcopy(BUDGETED).partial_fit(X, TWO).save(tmp_path / "model")
    forged(tmp_path / "model", poking("Q", 0, 1.79e308))
    with pytest.raises(ValueError, match=NO_MODEL):
        load(tmp_path / "model")


@pytest.mark.parametrize("learner", [
    onlinecls.PassiveAggressiveOneClass(1e200), onlinecls.MultiplicativePassiveAggressiveOneClass(1e200)], ids=repr)
def test_a_ball_whose_squared_radius_overflows_holds_all_rows(learner):
    assert (learner.partial_fit(X).decision_function(X) > 1e199).all() and (learner.predict(X) == 1).all()


def checked(learner):
    """Return the model that load would read from the file that save would write, without touching the disk."""
    told, arrays = learner._described({})
    return saving.rebuilt(json.loads(json.dumps(told)), arrays)


def variants():
    for case in EVERY:
        names = type(case.estimator())._parameter_names()
        yield case, {}
        if case.can_average and "average" in names:
            yield case, {"average": True}
        for name, value in (("covariance", "full"), ("signed", False), ("multi_class", "ovr")):
            if name in names and (name != "covariance" or case.can_be_full):
                yield case, {name: value}


POWERS = (-311, -250, -170, -30, 1, 30, 150)
VARIANTS = {}
for _case, _others in variants():
    VARIANTS.setdefault(_case.name, []).append((_case, _others))


@pytest.mark.parametrize("name", VARIANTS)
def test_every_learner_can_be_saved_after_rows_of_any_scale(name):
    for (case, others), dtype, power in itertools.product(VARIANTS[name], ("float32", "float64"), POWERS):
        if abs(power) > 40 and dtype == "float32":
            continue
        rng = np.random.default_rng(power + 400)
        rows = rng.uniform(3.0, 10.0, (8, 4)) if power == 1 else rng.standard_normal((8, 4))
        rows = (rows * 10.0**power).astype(dtype)
        if others.get("signed") is False or "experts" in case.algorithm.tasks:
            rows = np.abs(rows) if "experts" not in case.algorithm.tasks else np.clip(np.abs(rows), 0.0, 1.0)
        for n_classes in (2, 3) if "multiclass" in case.algorithm.tasks else (2,):
            learner = type(case.estimator())(**{**case.algorithm.selects, **case.params, **others})
            for _ in range(2):
                learner.partial_fit(rows, *targets_of(learner, np.arange(8) % n_classes, rows))
            assert frozen(checked(learner)._state) == frozen(learner._state.compact()), (case, others, dtype, power)


@pytest.mark.parametrize("learner", [*KERNELS, onlinecls.KernelOnlineClassifier("sop", kernel="linear", budget=3),
                                     onlinecls.KernelOnlineClassifier("perceptron", kernel="poly", gamma=1.0, degree=9),
                                     onlinecls.KernelOnlineRegressor("arow", kernel="sigmoid", gamma=1.0, budget=5)], ids=repr)
def test_every_kernel_learner_can_be_saved_after_rows_of_any_scale(learner):
    for power in (-30, -6, 0, 6, 18, 30):
        rows = np.random.default_rng(power + 40).standard_normal((12, 4)) * 10.0**power
        again = copy.deepcopy(learner)
        for i in range(5):
            again.partial_fit(rows + i, *targets_of(learner, np.arange(12) % 3, rows))
            assert fingerprint(checked(again)) == fingerprint(again)


def test_a_sparse_ball_s_centre_can_be_saved_far_from_its_start():
    """sinh(2) e^-690 beside sinh(690) e^-690 is known to 1e-7 of itself: it is a number of 1e-300."""
    learner = onlinecls.MultiplicativePassiveAggressiveOneClass(1.0, norm_bound=1.0, scale=1.0)
    for _ in range(70):
        assert frozen(checked(learner.partial_fit([[100.0, 0.3]]))._state) == frozen(learner._state)
    assert learner._state.primary[0, 0] > 800.0


# --- parameters ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("learner", [
    onlinecls.OGDClassifier(alpha=5e-324), onlinecls.OGDClassifier(alpha=1e-310), onlinecls.DualAscentClassifier(5e-324),
    onlinecls.DualAscentClassifier("auto", norm_bound=5e-324), onlinecls.DualAscentRegressor("auto", norm_bound=1e-300),
    onlinecls.DualAscentClassifier("auto", norm_bound=1e300),
    onlinecls.DualAscentClassifier(regularizer="entropic", norm_bound=1e39, dtype="float32"),
], ids=repr)
def test_parameters_too_small_to_divide_by_are_refused(learner):
    with pytest.raises(ValueError, match=r"must (be at least|fit)"):
        learner.partial_fit(X, *targets_of(learner, TWO))
    assert not learner.__sklearn_is_fitted__()


@pytest.mark.parametrize("learner", [
    onlinecls.OGDClassifier(alpha=1e-100), onlinecls.OGDClassifier(learning_rate="sqrt", eta0=1e300),
    onlinecls.OGDClassifier(learning_rate="sqrt", eta0=5e-324), onlinecls.DualAscentClassifier("auto", norm_bound=1e-100),
    onlinecls.DualAscentRegressor("auto", norm_bound=1e-100),
], ids=repr)
def test_extreme_parameters_that_are_accepted_make_finite_models(learner):
    for power in range(-200, 201, 25):
        learner.partial_fit(X * 10.0**power, *targets_of(learner, TWO))
        assert is_finite(learner) and np.isfinite(learner._state.shared).all()


# --- errors --------------------------------------------------------------------------------------------------------------------

LEARNERS = [
    onlinecls.AROWClassifier(average=True), onlinecls.AROWClassifier(covariance="full"), onlinecls.PNormPerceptron(),
    onlinecls.MultiplicativePassiveAggressiveClassifier(), onlinecls.DualAscentClassifier(regularizer="entropic"),
    KERNELS[0], onlinecls.AROWRegressor(), onlinecls.PassiveAggressiveOneClass(), *KERNELS[2:],
]


class Memory:
    """numpy's arrays, of which the n-th there is no memory for."""

    def __init__(self, monkeypatch, n, names):
        self.left = n
        for name in names:
            monkeypatch.setattr(np, name, self.until(getattr(np, name)))

    def until(self, make):
        def allocate(*arguments, **others):
            self.left -= 1
            if self.left == 0:
                raise MemoryError(f"no memory for {arguments}")
            return make(*arguments, **others)

        return allocate


def whole(learner):
    """Return all of the estimator, but for cached parameters and its lock."""
    return frozen({name: value for name, value in vars(learner).items() if name not in ("_choice", "_lock")})


def frozen(value):
    """Return the value in a form that == compares to the last bit."""
    if isinstance(value, np.ndarray):
        return bits(value)
    if isinstance(value, dict):
        return {name: frozen(part) for name, part in value.items()}
    if isinstance(value, (tuple, list)):
        return [frozen(part) for part in value]
    if type(value).__module__.startswith("onlinecls"):
        if hasattr(value, "parts"):
            return frozen(value.parts())
        return frozen(vars(value))
    return value


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_a_call_without_memory_leaves_the_estimator_as_it_was(learner):
    for call, begun in itertools.product(("partial_fit", "fit"), ("new", "two classes", "three classes")):
        calls_without_memory_change_nothing(learner, call, begun)


def calls_without_memory_change_nothing(learner, call, begun):
    names = ("zeros", "empty", "full") if learner in KERNELS else ("zeros", "empty", "full", "concatenate")
    learner = copy.deepcopy(learner)
    if begun != "new":
        learner.partial_fit(X, *targets_of(learner, TWO if begun == "two classes" else THREE))
    for n in range(1, 60):
        before = whole(learner)
        with pytest.MonkeyPatch.context() as patch:
            # (Kernel learners find out which rows to keep while they learn: their copies are made last.)
            memory = Memory(patch, n, names)
            try:  # rows that are known, and then a class that joins
                getattr(learner, call)(X[:6], *targets_of(learner, np.array([0, 1, 0, 1, 2, 2]), X[:6]))
            except MemoryError:
                pass
            except ValueError as error:
                assert "memory" in str(error)
            if memory.left > 0:
                break
        assert whole(learner) == before, (call, begun, n)
        assert learner.__sklearn_is_fitted__() == (begun != "new")
    assert n > 2 or begun != "new"


# --- others --------------------------------------------------------------------------------------------------------------------


def test_a_copy_whose_first_call_has_no_rows_learns_with_its_parameters():
    """The compiled code once had zeros for the parameters of such a copy."""
    for learner in (onlinecls.PassiveAggressiveClassifier(C=0.02), onlinecls.AROWRegressor(), onlinecls.DualAscentClassifier()):
        learner = learner.partial_fit(X[:20], *targets_of(learner, TWO[:20], X[:20]))
        twin = copy.deepcopy(learner).partial_fit(X[:0], *targets_of(learner, TWO[:0], X[:0]))
        for i in range(20, 40):
            for each in (learner, twin):
                each.partial_fit(X[i : i + 1], *targets_of(learner, TWO[i : i + 1], X[i : i + 1]))
        assert fingerprint(twin) == fingerprint(learner)


def test_least_variances_are_halved_to_the_floor_when_a_class_joins():
    """A stored zero once raised variances below the floor, so that dense rows gave another model than sparse ones."""
    from scipy import sparse

    for learner in (onlinecls.AROWClassifier(), onlinecls.AROWClassifier(forgetting=0.01)):
        huge, twin = np.array([[1e90, 1.0], [-1e90, 1.0]] * 3), copy.deepcopy(learner)
        after, y = np.array([[0.0, 1.0], [0.0, 2.0]]), np.array([2, 0])
        for each in (learner, twin):
            each.partial_fit(np.ones((1, 2)), [0]).partial_fit(huge, [0, 1] * 3)
        learner.partial_fit(after, y), twin.partial_fit(sparse.csr_matrix(after), y)
        assert fingerprint(learner) == fingerprint(twin)


def test_scores_that_overflow_come_without_warnings():
    learner = onlinecls.KernelOnlineClassifier(kernel="linear").partial_fit(X, TWO)
    learner.predict(np.full((2, 5), 1.7e308) * [[1, -1, 1, -1, 1], [1, 1, 1, 1, 1]])
