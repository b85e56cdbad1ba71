"""Every learner at every task, fed matrices of every kind, sound and forged, in some order of calls.

A call is refused with our error and the model as it was, or it leaves a finite model. Sound rows make the same model in any kind
of matrix as they do in a dense array (an exact learner's to the bit).
"""

import copy
import pickle
import warnings

import numpy as np
from algorithms import LEARNERS
from internals import stored
from matrices import MATRIX_KINDS, dense_unaligned
from scipy import sparse
from states import fingerprint, is_finite

from fuzz.mutation import FLOATS, NUMBERS, chance, one_of

KINDS = [name for name in MATRIX_KINDS if name != "csr_duplicates"]  # (half of the smallest number is none)
DTYPES = ["f8", "f8", "f4", "f2", "i8", "i4", "u1", "?", ">f8", ">f4", "g", "c16"]
SLOW = {"kernel": 20}  # rows at most: what a row costs grows with their number
REFUSED = "refused"


# --- matrices ------------------------------------------------------------------------------------------------------------------


def numbers(draw, shape, rows):
    """Rows' values: ordinary ones, those of one scale, or the ends of their type."""
    kind = int(draw.integers(4))
    X = draw.standard_normal(shape) * (draw.random(shape) < one_of(draw, [0.1, 0.5, 1.0]))
    if kind == 1:
        X = X * 10.0 ** int(draw.integers(-300, 300))
    elif kind == 2:
        finite = [value for value in FLOATS if np.isfinite(value)]
        X = np.array(finite)[draw.integers(len(finite), size=shape)]
    elif kind == 3:
        X = np.round(X * 3)
    if rows != "any" and chance(draw, 0.9):
        X = np.abs(X) if rows == "positive" else np.minimum(np.abs(X), 1.0)
    return X


def forge(draw, X):
    """Damage what a matrix is made of. Returns whether its rows are still known."""
    names = {
        "csr": ["data", "indices", "indptr"], "csc": ["data", "indices", "indptr"], "bsr": ["data", "indices", "indptr"],
        "coo": ["data", "row", "col"], "dia": ["data", "offsets"], "lil": ["rows", "data"], "dok": [],
    }
    if not sparse.issparse(X):
        return X, True
    for _ in range(int(draw.geometric(0.6))):
        if X.format == "dok":
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    key = one_of(draw, [(0, X.shape[1]), (-1, 0), (0, 2**40), (0,), (0.5, 1), "ab"])
                    X._dict[key] = 1.0
                except Exception:
                    pass
            continue
        name = one_of(draw, names[X.format])
        try:
            array = getattr(X, name)
        except Exception:
            continue
        changed = _forged_array(draw, array, X.shape)
        try:
            if X.format == "coo" and name in ("row", "col") and chance(draw, 0.5):
                X.coords = (changed, X.coords[1]) if name == "row" else (X.coords[0], changed)
            else:
                setattr(X, name, changed)
        except Exception:
            pass
        if chance(draw, 0.1):
            X._shape = one_of(
                draw, [(X.shape[0] + 1, X.shape[1]), (X.shape[0], X.shape[1] + 1), (X.shape[0], 2), (1, X.shape[1])])
    return X, False


def _forged_array(draw, array, shape):
    try:
        array = np.array(array)
    except ValueError:  # lists of different lengths, which were forged before
        return array
    kind, size = int(draw.integers(11)), array.size
    if kind <= 3 and size and array.dtype.kind in "iuf":
        flat = array.reshape(-1).copy()
        wild = one_of(draw, [*NUMBERS, *shape, -shape[0], -shape[1], shape[0] - 1, shape[1] - 1, size, size + 1])
        info = np.iinfo(array.dtype) if array.dtype.kind in "iu" else None
        flat[int(draw.integers(size))] = wild if info is None else min(max(wild, info.min), info.max)
        return flat.reshape(array.shape)
    if kind == 4:
        return array[:-1]
    if kind == 5:
        return np.append(array.reshape(-1), array.reshape(-1)[:2])
    if kind == 6:
        return array[:0]
    if kind == 7:
        texts = array.astype(object if array.dtype.kind == "O" else "U")
        return one_of(draw, [array[:, None], array[None], array.astype(object), texts, array.tolist(), array[::-1]])
    if kind == 8 and array.dtype.kind in "iuf":
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return array.astype(one_of(draw, ["i1", "i2", "u8", "f8", "f2", "c8", "?", ">i4", "i8"]))
    if kind == 9:
        return np.repeat(array, 2, axis=0)[::2]
    moved = dense_unaligned(array) if array.dtype.kind in "iuf" else array
    return one_of(draw, [np.random.RandomState(0).permutation(array), moved])


# --- cases ---------------------------------------------------------------------------------------------------------------------


def options_of(draw, spec):
    options = {}
    if spec.offers("fit_intercept") and chance(draw, 0.3):
        options["fit_intercept"] = False
    if spec.can_average and chance(draw, 0.4):
        options["average"] = one_of(draw, [True, 3])
    if spec.offers("dtype") and chance(draw, 0.4):
        options["dtype"] = one_of(draw, ["float32", "float64"])
    if spec.offers("class_weight") and spec.is_classifier and chance(draw, 0.3):
        options["class_weight"] = one_of(draw, ["balanced", {0: 2.0}, {1: 1e300}, {0: 0.0, 1: 1e-300}])
    if spec.offers("max_iter"):
        options["max_iter"] = 2
    if spec.offers("random_state"):
        options["random_state"] = 0
    return options


def labels_of(draw, spec, n):
    if not spec.is_classifier:
        y = draw.standard_normal(n)
        if chance(draw, 0.3):
            y = y * one_of(draw, [1e-300, 1e100, 1e300])
        return np.full(n, one_of(draw, [np.nan, np.inf, 1e308])) if chance(draw, 0.05) else y
    most = 2 if spec.n_classes == 2 and chance(draw, 0.9) else 4
    y = draw.integers(0, most, n)
    if chance(draw, 0.05):
        return one_of(
            draw, [y[:-1], y[:, None], y.astype(str), y + 0.5, [None] * n, ["a" * 5000] * n, y.astype(object), y.astype("f4")])
    return y


def make(draw):
    spec = one_of(draw, LEARNERS)
    options, d, steps = options_of(draw, spec), int(draw.choice([1, 2, 5, 9, 40])), []
    for _ in range(int(draw.integers(1, 7))):
        call = one_of(draw, ["partial_fit"] * 6 + ["fit", "read", "read", "pickle", "copy", "sparsify"])
        n = int(min(draw.choice([0, 1, 2, 3, 5, 30]), SLOW.get(spec.family, 99)))
        width = d if chance(draw, 0.95) else d + 1
        dtype = np.dtype(one_of(draw, DTYPES))
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            X, known = numbers(draw, (n, width), spec.rows), True
            if chance(draw, 0.05) and X.size:
                X.flat[int(draw.integers(X.size))] = one_of(draw, [np.nan, np.inf, -np.inf])
            X = (np.clip(np.nan_to_num(X), 0, 200) if dtype.kind in "iub?" else X).astype(dtype)
            kind = one_of(draw, KINDS)
            try:
                given = MATRIX_KINDS[kind](X)
            except Exception:  # scipy knows no half floats, say
                given, kind = X, "dense_c"
            if chance(draw, 0.35):
                given, known = forge(draw, given)
        weights = None
        if chance(draw, 0.4):
            weights = draw.choice([0.0, 1.0, 0.5, 1e300, 1e-300, 5e-324, 1e38], n)
            if chance(draw, 0.1):
                weights = one_of(
                    draw, [weights[:-1], -weights, weights[:, None], weights * np.nan, ["a"] * n, [10**400] * n, None, 3.0])
        classes = np.arange(max(spec.n_classes, 2)) if spec.is_classifier and chance(draw, 0.3) else None
        steps.append((call, kind, given, X if known else None, labels_of(draw, spec, n), weights, classes))
    return spec, options, steps


def same(spec, found, expected):
    if spec.is_exact:
        return fingerprint(found) == fingerprint(expected)
    return (fingerprint(found) is None) == (fingerprint(expected) is None)


def whose(error, spec):
    """Return whether an error is the library's: it names the class or function that complains."""
    text = str(error)
    ours = spec.estimator in text or "AROWClassifier" in text  # (that within OnlineToBatch)
    return ours or text.startswith(("The feature names", "Feature names"))


def check(case):
    spec, options, steps = case
    warnings.simplefilter("ignore", UserWarning)  # (a column vector as labels)
    learner, twin, came, followed = spec(**options), spec(**options), "learnt", True
    for call, kind, X, rows, y, weights, classes in steps:
        before = fingerprint(learner)
        try:
            largest = np.inf if rows is None else np.abs(rows.astype(complex)).max(initial=0.0)
            learner = act(learner, spec, call, X, y, weights, classes, largest)
        except (ValueError, TypeError) as error:
            assert whose(error, spec), f"whose error is this: {error!r}"
            came = REFUSED
            assert fingerprint(learner) == before, f"refused, and changed: {error}"
            continue
        except AttributeError as error:
            assert call == "sparsify" or "not been fitted" in str(error), repr(error)
            continue
        if fingerprint(learner) is not None:
            assert is_finite(learner), f"after {call} of {kind}"
        if call in ("read", "pickle", "copy"):
            assert fingerprint(learner) == before, call
        if call in ("partial_fit", "fit"):
            followed = followed and rows is not None and call == "partial_fit" and rows.dtype.kind != "O"
            if followed:
                plain = np.array(X.toarray() if sparse.issparse(X) else X, order="C")
                plain = plain if plain.dtype.kind == "f" and plain.itemsize in (4, 8) else plain.astype(np.float64)
                twin.partial_fit(
                    plain.astype(plain.dtype.newbyteorder("=")),
                    *arguments_of(spec, y),
                    sample_weight=weights,
                    **({} if classes is None else {"classes": classes}))
                assert same(spec, learner, twin), f"{kind} is not dense"
    return came


def arguments_of(spec, y):
    return () if spec.task == "one_class" else (y,)


def act(learner, spec, call, X, y, weights, classes, largest):
    """Make a call. largest : no number of X is larger."""
    if call in ("partial_fit", "fit"):
        others = {} if classes is None or call == "fit" else {"classes": classes}
        getattr(learner, call)(X, *arguments_of(spec, y), sample_weight=weights, **others)
    elif call == "read":
        if not learner.__sklearn_is_fitted__():
            return learner
        said = learner.predict(X)
        scores = getattr(learner, "decision_function", learner.predict)(X)
        assert len(said) == len(scores), (len(said), len(scores))
        steepest = float(abs(learner.coef_).max()) if hasattr(learner, "coef_") else 1.0
        tame = largest < 1e100 and steepest < 1e200  # (no sum is infinity less infinity)
        assert not (tame and np.isnan(np.asarray(scores, float)).any()), "a score is NaN"
        if hasattr(learner, "predict_proba"):
            p = learner.predict_proba(X)
            assert ((p >= 0) & (p <= 1)).all() and np.allclose(p.sum(axis=1), 1.0), "no probabilities"
    elif call == "pickle":
        return pickle.loads(pickle.dumps(learner))
    elif call == "copy":
        return copy.deepcopy(learner)
    elif call == "sparsify" and learner.__sklearn_is_fitted__() and hasattr(learner, "sparsify"):
        learner.sparsify()
        assert stored(learner)
    return learner
