"""Hostile models and calls: forged files whose checksums are right, rows of every scale, and no memory."""

import copy
import io
import itertools
import pickle
import re

import numpy as np
import pytest
from algorithms import LEARNERS as OF_ALL_TASKS
from contracts import kinds_of_models
from fuzz.models import file_of, parts_of
from scipy.sparse import csr_matrix
from states import fingerprint, is_finite

import onlinecls
from onlinecls import load
from onlinecls._compiled import model

RNG = np.random.default_rng(5)
X, THREE, TWO = RNG.standard_normal((60, 5)), RNG.integers(0, 3, 60), RNG.integers(0, 2, 60)
REFUSAL = r"(?s)^onlinecls\.load: .* must be a model that onlinecls could have saved, got one .* or save the model again\.$"


def targets_of(learner, y, X=X):
    """Return the arguments of partial_fit beside X."""
    kind = learner._estimator_type
    return {"classifier": (y,), "regressor": (X.sum(axis=1),), "outlier_detector": ()}[kind]


def written(learner):
    file = io.BytesIO()
    learner.save(file)
    return file.getvalue()


def is_refused(data):
    try:
        load(io.BytesIO(data))
    except ValueError as error:
        assert re.match(REFUSAL, str(error)), error
        return True
    return False


def setting(where, key, value):
    return lambda told, arrays: {"told": told, **told}[where].__setitem__(key, value)


def poking(name, at, value, dtype=None):
    def change(told, arrays):
        flat = arrays[name].reshape(-1)
        flat.view(dtype or flat.dtype)[at] = value

    return change


# --- files ---------------------------------------------------------------------------------------------------------------------

AROW, CALIBRATED = onlinecls.AROWClassifier(), onlinecls.AROWClassifier(probability=True)
RBF = onlinecls.KernelOnlineClassifier(gamma=1.0)
SPARSE = onlinecls.KernelOnlineClassifier("pa", gamma=1.0)
PRECOMPUTED = onlinecls.KernelOnlineClassifier(kernel="precomputed")
CHOOSING = onlinecls.OnlineToBatch(AROW, "validation", n_snapshots=4, random_state=0)
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
    "squares without end": (onlinecls.CommitteeClassifier(), THREE, poking("tally", 1, 1e201)),
    "a cap above 1": (FULL, THREE, poking("caps", 0, 2.0)),
    "a growth below 1": (FULL, THREE, poking("growth", 0, 0.5)),
    "a sum of squares below 0": (onlinecls.AdaGradClassifier(), TWO, poking("values", 1, -1.0)),
    "labels out of order": (AROW, THREE, poking("classes", 0, 7)),
    "a boolean of two": (AROW, TWO > 0, poking("classes", 1, 2, "u1")),
    "a text past Unicode": (AROW, TWO.astype(str), poking("classes", 1, 0x110000, "u4")),
    "a label NaN": (AROW, TWO * 1.0, poking("classes", 1, np.nan)),
    "a label that is a fraction": (AROW, TWO * 1.0, poking("classes", 1, 1.5)),
    "a weight beyond the range": (AROW, THREE, poking("values", 1, 1e308)),
    "a covariance beyond twice the first variance": (FULL, THREE, poking("sigma", 6, -2.1)),
    "a normaliser below 0": (ENTROPIC, THREE, poking("groups", 2, -1e3)),
    "the other regularizer": (ENTROPIC, THREE, setting("learnt_with", "regularizer", "euclidean")),
    "a classifier's name": (onlinecls.AROWRegressor(), None, setting("told", "estimator", "AROWClassifier")),
    "a step beyond the range": (onlinecls.DualAscentClassifier("auto"), TWO, poking("shared", 1, 1e300)),
    "a prior that is neither 1 nor 1/2": (RBF, THREE, poking("prior", 0, 3.0)),
    "an unknown kernel": (RBF, THREE, setting("learnt_with", "kernel", "cosine")),
    "the largest of numbers": (onlinecls.KernelOnlineClassifier(gamma=1.0, budget=20), TWO, poking("Q", 0, 1.79e308)),
    "an age of an average that is not kept": (ENTROPIC, THREE, poking("groups", 0, 5.0)),
    "an average that overflows within a few rows": (
        onlinecls.DualAscentClassifier(average=True, dtype="float64"), TWO, poking("groups", 0, 1e303)),
    "more classes seen than have rows": (onlinecls.DualAscentClassifier(), THREE, without_rivals),
    "a scale below 0": (AROW, THREE, poking("counters", model.COUNTERS["scale"], -1.0)),
    "a number of probabilities beyond the range": (CALIBRATED, THREE, poking("calibration", 3, 1e301)),
    "a row number past the kernel matrix": (PRECOMPUTED, THREE, poking("origin", 0, 2**62)),
    "a sparse support vector's column below 0": (SPARSE, THREE, poking("vectors_indices", 0, -1)),
    "fewer errors than none": (CHOOSING, THREE, poking("numbers", 4, -1.0)),
}
#: What X is for those that take no ordinary rows.
ROWS = {id(PRECOMPUTED): X @ X.T, id(SPARSE): csr_matrix(X)}


@pytest.mark.parametrize(("learner", "y", "change"), FORGED.values(), ids=FORGED)
def test_a_forged_model_is_refused_at_load(learner, y, change):
    rows = ROWS.get(id(learner), X)
    told, arrays = parts_of(written(copy.deepcopy(learner).partial_fit(rows, *targets_of(learner, y))))
    load(io.BytesIO(file_of(told, arrays))).partial_fit(rows, *targets_of(learner, y))
    arrays = {name: array.copy() for name, array in arrays.items()}
    change(told, arrays)
    assert is_refused(file_of(told, arrays))


#: One learner of several classes, or of another task, for each kind of state.
KINDS = list({
    (one.geometry, one.task in ("binary", "crammer_singer"), *map(one.params.get, ("kernel", "method", "probability"))): one
    for one in OF_ALL_TASKS if str(one) in kinds_of_models() and (one.task != "binary" or one.geometry == "experts")
}.values())
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
        if numbers and (declared := getattr(state, "ARRAYS", {}).get(name)):
            most = state.declared(declared.most)
            least = -most if declared.least is None else state.declared(declared.least)
            numbers += [number for number in (least - abs(least) - 1.0, 2.0 * most + 1.0) if np.isfinite(number)]
        for number in numbers + ([-1.0, 0.5] if name.endswith("counts") else []):
            spoilt = array.copy()
            spoilt.reshape(-1)[-1] = number
            yield f"{name} {number}", {**arrays, name: spoilt}


@pytest.mark.parametrize("learner", KINDS, ids=str)
def test_a_file_with_a_part_that_is_not_as_declared_is_refused(learner):
    X, y = learner.problem(25)
    few = {"n_snapshots": 2} if learner.offers("n_snapshots") else {}  # (which are learners like each other)
    fitted = learner(**few).partial_fit(X, y)
    told, arrays = parts_of(written(fitted))
    load(io.BytesIO(file_of(told, arrays)))
    forged = forged_arrays(getattr(fitted, "_state", None), arrays)
    assert not [what for what, changed in forged if not is_refused(file_of(told, changed))]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_random_matrix_as_covariance_is_refused_or_learns_finite_numbers(dtype):
    """The matrix need not be a covariance, though its numbers are in bounds: guards in compiled code keep the model finite."""
    rng, n_loaded = np.random.default_rng(2), 0
    told, arrays = parts_of(written(onlinecls.AROWClassifier(covariance="full", dtype=dtype).partial_fit(X, THREE)))
    for _ in range(30):
        sigma = rng.uniform(-2.0, 2.0, (4, 6, 6)).astype(dtype)
        sigma.reshape(4, 36)[:, ::7] = rng.uniform(-0.01, 2.0, (4, 6))
        if is_refused(data := file_of(told, {**arrays, "sigma": sigma})):
            continue
        again, n_loaded = load(io.BytesIO(data)), n_loaded + 1
        for _ in range(5):
            scores, deviations = again.partial_fit(X, rng.integers(0, 3, 60)).decision_function(X, return_std=True)
            assert np.isfinite(scores).all() and np.isfinite(deviations).all() and np.isfinite(again.covariance_).all()
    assert n_loaded > 15


# --- numbers of every size: what learning makes of them can be saved (contracts.py: every learner) ------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_entropic_weights_of_every_size_can_be_saved(dtype):
    """sinh(u) e^-K of u from 1e-300 to 1e3 has lost digits, or all of them, where u is small or K large."""
    rows = np.diag(np.geomspace(1e-300 if dtype == "float64" else 1e-37, 1e3, 40)).astype(dtype)
    for sigma in (1.0, 100.0):
        learner = onlinecls.DualAscentClassifier(sigma, regularizer="entropic", update="DA1", margin=1e9, fit_intercept=False)
        learner.partial_fit(rows, [0, 1] * 20, classes=[0, 1])
        for _ in range(3):
            assert fingerprint(load(io.BytesIO(written(learner)))) == fingerprint(learner)
            learner.partial_fit(rows[::-1], [0, 1] * 20)


def test_centres_of_rows_whose_squares_underflow_and_far_from_their_start_are_saved():
    """Of a sparse ball sinh(2) e^-690 beside sinh(690) e^-690 is known to 1e-7 of itself: it is a number of 1e-300."""
    rows = np.random.default_rng(0).standard_normal((20, 3))
    for exponent in (-100, -153, -157, -160, -162, -165, -170, -200, -300, -311):
        learner = onlinecls.PassiveAggressiveOneClass().partial_fit(rows * 10.0**exponent)
        assert (load(io.BytesIO(written(learner))).center_ == learner.center_).all(), exponent
    learner = onlinecls.MultiplicativePassiveAggressiveOneClass(1.0, norm_bound=1.0, scale=1.0)
    for _ in range(70):
        learner.partial_fit([[100.0, 0.3]])
        assert fingerprint(load(io.BytesIO(written(learner)))) == fingerprint(learner)
    assert learner._state.primary[0, 0] > 800.0


TOO_SMALL = [
    onlinecls.OGDClassifier(alpha=5e-324), onlinecls.OGDClassifier(alpha=1e-310), onlinecls.DualAscentClassifier(5e-324),
    onlinecls.DualAscentClassifier("auto", norm_bound=5e-324), onlinecls.DualAscentRegressor("auto", norm_bound=1e-300),
    onlinecls.DualAscentClassifier("auto", norm_bound=1e300),
    onlinecls.DualAscentClassifier(regularizer="entropic", norm_bound=1e39, dtype="float32"),
]
EXTREME = [
    onlinecls.OGDClassifier(alpha=1e-100), onlinecls.OGDClassifier(learning_rate="sqrt", eta0=1e300),
    onlinecls.OGDClassifier(learning_rate="sqrt", eta0=5e-324), onlinecls.DualAscentClassifier("auto", norm_bound=1e-100),
    onlinecls.DualAscentRegressor("auto", norm_bound=1e-100),
]


@pytest.mark.parametrize("learner", [*TOO_SMALL, *EXTREME], ids=repr)
def test_parameters_too_small_to_divide_by_are_refused_and_others_make_finite_models(learner):
    if learner in TOO_SMALL:
        with pytest.raises(ValueError, match=r"must be (|a number |None or 'auto' or a number )in \["):
            learner.partial_fit(X, *targets_of(learner, TWO))
        assert not learner.__sklearn_is_fitted__()
        return
    for power in range(-200, 201, 25):
        learner.partial_fit(X * 10.0**power, *targets_of(learner, TWO))
        assert is_finite(learner) and np.isfinite(learner._state.shared).all()


def test_least_variances_are_halved_to_the_floor_when_a_class_joins():
    """A stored zero once raised variances below the floor, so that dense rows gave another model than sparse ones."""
    for forgetting in (0.0, 0.01):
        learner, twin = (onlinecls.AROWClassifier(forgetting=forgetting) for _ in "ab")
        huge, after, y = np.array([[1e90, 1.0], [-1e90, 1.0]] * 3), np.array([[0.0, 1.0], [0.0, 2.0]]), np.array([2, 0])
        for each in (learner, twin):
            each.partial_fit(np.ones((1, 2)), [0]).partial_fit(huge, [0, 1] * 3)
        assert fingerprint(learner.partial_fit(after, y)) == fingerprint(twin.partial_fit(csr_matrix(after), y))


# --- no memory -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("learner", [
    onlinecls.AROWClassifier(average=True), FULL, onlinecls.PNormPerceptron(),
    onlinecls.MultiplicativePassiveAggressiveClassifier(), onlinecls.DualAscentClassifier(regularizer="entropic"), RBF,
    onlinecls.AROWRegressor(), onlinecls.PassiveAggressiveOneClass(), onlinecls.KernelOnlineRegressor(gamma=1.0),
], ids=repr)
def test_a_call_without_memory_leaves_the_estimator_as_it_was(learner):
    for call, begun in itertools.product(("partial_fit", "fit"), (None, [1], [0, 1], [0, 1, 2])):
        calls_without_memory_change_nothing(copy.deepcopy(learner), call, begun)


def calls_without_memory_change_nothing(learner, call, begun):
    """Rows of known classes come, if any have `begun`, then one that joins; of numpy's arrays there is no memory for the n-th."""
    # (Kernel learners find out which rows to keep while they learn: their copies are made last.)
    names = ("zeros", "empty", "full", *["concatenate"] * ("Kernel" not in type(learner).__name__))
    if begun:
        learner.partial_fit(X, *targets_of(learner, np.resize(begun, len(X))))
    for n in range(1, 60):
        before, left = pickle.dumps(learner), itertools.count(n - 1, -1)

        def until(make, left=left):
            def allocate(*arguments, **others):
                if next(left) == 0:
                    raise MemoryError(f"no memory for {arguments}")
                return make(*arguments, **others)

            return allocate

        with pytest.MonkeyPatch.context() as patch:
            for name in names:
                patch.setattr(np, name, until(getattr(np, name)))
            try:
                getattr(learner, call)(X[:6], *targets_of(learner, np.array([0, 1, 0, 1, 2, 2]), X[:6]))
            except MemoryError:
                pass
            except ValueError as error:
                assert "memory" in str(error)
            if next(left) >= 0:
                break
        assert pickle.dumps(learner) == before, (call, begun, n)
        assert learner.__sklearn_is_fitted__() == bool(begun)
    assert n > 2 or begun
