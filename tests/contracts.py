"""DESIGN's contracts, as checks that every estimator passes at each of its tasks: `yield_checks(learner)` has those that apply.

A check is a function of an `algorithms.Learner`. Where one leaves some learners out, `yield_checks` says why.
"""

import copy
import os
import pickle
import tracemalloc
import warnings
from contextlib import suppress
from functools import cache
from itertools import pairwise
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from algorithms import LEARNERS
from internals import again, arrays, named_from_here, predict_on_the_way, stored, weights_of_none
from interrupts import interrupted
from matrices import csr32, csr64, dense_c
from numpy.testing import assert_allclose
from scipy import sparse
from states import but_for_history, fingerprint, is_finite

import onlinecls

NAMES = np.array(["d", "b", "c", "a"])  # labels whose order is not that of their codes


# --- what the checks share -----------------------------------------------------------------------------------------------------


def classes_of(learner, names=None):
    """The argument `classes` of a first call, for classifiers."""
    codes = np.arange(learner.n_classes)
    return {"classes": np.unique(codes if names is None else names[codes])} if learner.is_classifier else {}


def learnt(learner, X, y, **others):
    """Return a new model that has learnt these rows, with its classes named."""
    return learner(**others).partial_fit(X, y, **classes_of(learner))


def row_by_row(learner, model, X, y):
    """Yield each row's number just before the model learns the row."""
    model.partial_fit(X[:0], y[:0], **classes_of(learner))
    for i in range(len(y)):
        yield i
        model.partial_fit(X[i : i + 1], y[i : i + 1])


def read(model, X):
    """Return all predictions and scores of a model for these rows."""
    said = [model.predict(X)]
    for name in ("decision_function", "score_samples", "predict_proba", "predict_log_proba"):
        if hasattr(model, name):
            said.append(getattr(model, name)(X))
    if hasattr(model, "covariance_"):
        said += getattr(model, "decision_function" if hasattr(model, "decision_function") else "predict")(X, return_std=True)
    return said


def scores(model, X):
    return getattr(model, "decision_function" if hasattr(model, "decision_function") else "predict")(X).astype(float)


def weights(model):
    """(vectors, features and the constant one) as they predict."""
    return np.column_stack([np.atleast_2d(model.coef_), np.reshape(model.intercept_, -1)])


def counters(model):
    names = ("t_", "n_rows_", "n_updates_", "n_mistakes_", "n_skipped_", "n_dropped_", "n_support_")
    return {name: getattr(model, name) for name in names if hasattr(model, name)}


def assert_same_weights(learner, found, expected, X):
    """Check that two models are equal but for what counts rows as they came."""
    if learner.is_full:
        assert_allclose(scores(found, X), scores(expected, X), rtol=0, atol=1e-10 * max(1.0, np.abs(scores(expected, X)).max()))
    else:
        assert but_for_history(found) == but_for_history(expected)


def assert_same(learner, found, expected, X, tolerance=1e-10):
    """Check that two models are equal: to the bit, or up to rounding where sums are taken in another order."""
    if learner.is_exact:
        assert fingerprint(found) == fingerprint(expected)
        return
    assert (fingerprint(found) is None) == (fingerprint(expected) is None)
    if fingerprint(found) is None:
        return
    assert counters(found) == counters(expected)
    pairs = [(scores(found, X), scores(expected, X))]
    if learner.is_full:
        pairs += [(found.covariance_, expected.covariance_), (weights(found), weights(expected))]
    for one, other in pairs:
        assert_allclose(one, other, rtol=0, atol=tolerance * max(np.abs(other).max(initial=0.0), 1e-3))


def averages(learner):
    return (False, True, 9) if learner.can_average else (False,)


# --- 1. storage ----------------------------------------------------------------------------------------------------------------


def check_sparse_is_dense(learner):
    """CSR of int32 and of int64 and dense rows, in both dtypes; all else is made one of these before a kernel sees it."""
    for dtype in ("float64", "float32"):
        X, y = learner.problem(80, 13, seed=10, dtype=dtype)
        tolerance = 1e-10 if dtype == "float64" or learner.family == "kernel" else 1e-4
        for average in averages(learner)[:2]:
            others = {"average": average} if average else {}
            plain = learnt(learner, csr32(X), y, **others)
            for kind in (csr64, dense_c):
                model = learnt(learner, kind(X), y, **others)
                assert_same(learner, model, plain, csr32(X), tolerance)
                if learner.is_exact:
                    assert all((a == b).all() for a, b in zip(read(model, kind(X)), read(plain, csr32(X)), strict=True))
                else:
                    atol = tolerance * max(np.abs(scores(plain, csr32(X))).max(), 1e-3)
                    assert_allclose(scores(model, kind(X)), scores(plain, csr32(X)), rtol=0, atol=atol)


def check_no_copy_of_rows(learner):
    """X is read where it is."""
    n, d = 500, 300
    for dtype in ("float64", "float32"):
        X = np.maximum(np.abs(np.sin(np.arange(n * d, dtype=dtype))) - 0.3, 0.0).reshape(n, d)  # (a fifth of zeros: not far)
        y = np.arange(n) % max(learner.n_classes, 2)
        for rows in (X, csr32(X[:, : d // 2])):
            model = learnt(learner, rows[:16], y[:16])
            size = rows.nbytes if rows is X else rows.data.nbytes + rows.indices.nbytes
            for call in (lambda: model.partial_fit(rows, y), lambda: model.predict(rows)):  # noqa: B023
                assert memory_of(call)[1] < size / 8


def memory_of(call):
    """(its result, bytes allocated at the peak of a call, bytes still held when it is over), over those before."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        result = call()
        held, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return result, peak - before, held - before


# --- 2. chunking ---------------------------------------------------------------------------------------------------------------


def streams(learner, count):
    """Rows, labels that join in some order and at some rows, weights with zeros, cuts, and how classes are given."""
    for seed in range(count):
        rng, n = np.random.default_rng(seed), 40
        dtype = ["f8", "f4"][seed % 2 and not learner.is_full]  # (full: to 1e-10)
        X, y = learner.problem(n, seed=seed % 10, dtype=dtype)
        if seed % 2 and learner.rows != "advice":  # rows of unlike lengths move the scale again and again, some after zeros
            X *= (np.ldexp(1.0, rng.integers(-4, 5, n)) * (np.arange(n) >= 3 * (seed == 3)))[:, None].astype(dtype)
        classes, options, stored_as = {}, {}, [csr32, dense_c][seed // 2 % 2]
        if learner.is_classifier:
            n_labels = 2 if learner.n_classes == 2 else int(rng.integers(2, 5))
            joins = [0, *sorted(rng.integers(0, 30, n_labels - 1))]
            known = (np.arange(n)[:, None] >= joins).sum(axis=1)
            labels = NAMES if seed % 3 else np.array([3, 1, 2, 0])  # numbers or texts
            y, given = labels[rng.permutation(n_labels)][y % known], seed % 4 == 3
            classes = {"classes": np.unique(labels[:n_labels])} if given else {}
            if learner.offers("class_weight"):
                options["class_weight"] = [None, "balanced", {labels[0]: 2.0, labels[1]: 0.5}][int(rng.integers(3))]
        weights = [None, rng.choice([0.0, 0.0, 1e-3, 0.3, 1.0, 2.0], n)][int(rng.integers(2))]
        if weights is not None and seed % 5 == 0:
            weights[:12] = 0.0
        cuts = list(range(1, n)) if seed % 4 == 1 else sorted(rng.integers(0, n + 1, int(rng.integers(0, 7))))
        average = averages(learner)[int(rng.integers(len(averages(learner))))]
        if average:
            options["average"] = average
        yield stored_as(X), y, weights, cuts, classes, options


def in_chunks(model, X, y, weights, cuts, classes, after=lambda model: model):
    """The stream, cut before the given rows; classes are named in the first call, which may be of no rows."""
    for start, stop in pairwise([0, *cuts, len(y)]):
        given = None if weights is None else weights[start:stop]
        model = after(model.partial_fit(X[start:stop], y[start:stop], sample_weight=given, **classes))
        classes = {}
    return model


def check_any_split_into_calls(learner):
    for X, y, weights, cuts, classes, options in streams(learner, 6):
        whole = in_chunks(learner(**options), X, y, weights, [], classes)
        assert_same(learner, in_chunks(learner(**options), X, y, weights, cuts, classes), whole, X)


def check_rows_of_weight_0_are_no_rows(learner):
    for X, y, weights, _, classes, options in streams(learner, 5):
        weights = np.arange(40) % 3 / 2 if weights is None else weights
        live = weights > 0
        with_zeros = in_chunks(learner(**options), X, y, weights, [], classes)
        without = in_chunks(learner(**options), X[live], y[live], weights[live], [], classes)
        assert_same(learner, with_zeros, without, X)
        fit = learner(**options, **({"shuffle": False} if learner.offers("shuffle") else {})).fit
        found = fingerprint(fit(X, y, sample_weight=weights))
        assert not learner.is_exact or found == fingerprint(fit(X[live], y[live], sample_weight=weights[live]))
        before, none = fingerprint(with_zeros), np.zeros(40)
        new = np.where(np.arange(40) < 9, "new", y) if y.dtype.kind == "U" and not classes and learner.n_classes != 2 else y
        assert fingerprint(with_zeros.partial_fit(X, new, sample_weight=none)) == before  # nor does a label join by one
        begun = learner(**options).partial_fit(X, y, sample_weight=none, **classes)
        assert (fingerprint(begun) is None) == (learner.is_classifier and not classes)


def check_one_label_alone(learner):
    """Rows of a single label are counted and change no weight."""
    X, y = learner.problem(30, 5, seed=12)
    model = learner()
    for _ in range(3):
        model.partial_fit(X[:4], ["only"] * 4)
    assert model.classes_.tolist() == ["only"] and model.predict(X).tolist() == ["only"] * 30
    if learner.family != "online_to_batch":
        assert (model.t_, model.n_updates_, model.n_mistakes_) == (12, 0, 1)
    if learner.is_linear and learner.begins_at_zero:
        assert not weights(model).any()
    names = np.array(["a", "only", "z", "o"])[y]
    fresh = learner().partial_fit(X[[0, 1, 2, 3] * 3], ["only"] * 12)
    assert_same(learner, model.partial_fit(X, names), fresh.partial_fit(X, names), X)


def topics(n_topics, seed=0):
    """Three texts a topic, topic after topic, each of the topic's own word and of three of 20 common ones."""
    rng = np.random.default_rng(seed)
    y = np.repeat(rng.permutation(n_topics), 3)
    X = np.zeros((len(y), n_topics + 20))
    X[np.arange(len(y)), y] = 1.0
    for row in X:
        row[n_topics + rng.choice(20, 3, replace=False)] += rng.integers(1, 3)
    return csr32(X), y


def check_labels_that_join_are_learnt_as_if_they_had_been_named(learner):
    """Once three labels have come; whatever comes between the rows, which learn the same bits."""
    X, y = topics(12 if learner.is_full else 24)
    start = 1 + next(i for i in range(len(y)) if len(set(y[: i + 1])) == 3)
    variants = [{}, {"average": True}, {"average": 20}, {"class_weight": "balanced"}, {"fit_intercept": False}]
    for number, options in enumerate(variants):
        if not learner.offers(*options) or (options.get("average") and not learner.can_average):
            continue
        joining = learner(**options, dtype=["float64", "float32"][number % 2]).partial_fit(X[:start], y[:start])
        named, step = named_from_here(joining, np.unique(y)).partial_fit(X[start:], y[start:]), 5 if number else 1
        for at in range(start, len(y), step):
            pause = [copy.deepcopy, through_a_file, lambda model: model][at % 3]
            joining = pause(joining).partial_fit(X[at : at + step], y[at : at + step])
        for one, other in zip([weights(joining), *read(joining, X)], [weights(named), *read(named, X)], strict=True):
            if not learner.is_full:
                assert one.tobytes() == other.tobytes(), options
            elif one.dtype.kind == "f":  # (products wait for one another within a call)
                assert_allclose(one, other, rtol=0, atol=(1e-3 if number % 2 else 1e-8) * np.abs(other).max())


# --- 2. pause and resume -------------------------------------------------------------------------------------------------------


FOLDER = TemporaryDirectory()


def through_joblib(model):
    """Return the model as joblib hands it to other processes, with read-only memory maps as arrays."""
    joblib = pytest.importorskip("joblib")
    joblib.dump(model, FOLDER.name + "/joblib")
    found = joblib.load(FOLDER.name + "/joblib", mmap_mode="r")
    os.unlink(FOLDER.name + "/joblib")  # (what is mapped stays)
    return found


def through_a_file(model):
    with pytest.MonkeyPatch.context() as patch:  # (that files reach the disk: test_saving.py)
        patch.setattr(os, "fsync", lambda fd: None)
        model.save(FOLDER.name + "/model")
    return onlinecls.load(FOLDER.name + "/model")


PAUSES = [lambda model: pickle.loads(pickle.dumps(model)), copy.deepcopy, through_joblib, through_a_file]


def check_pauses(learner):
    """pickle, copies, joblib and files in the midst of a stream whose labels join: the stream goes on as if there were none."""
    X, y = learner.problem(50, 6, seed=14)
    if learner.is_classifier:
        y = NAMES[np.minimum(y, np.arange(50) // 10)]  # one label for 10 rows, two for 20, ...
    given = np.random.default_rng(0).choice([0.0, 0.5, 1.0], 50)
    variants = [{}, {"dtype": "float32", "average": True}, {"class_weight": "balanced", "average": 20, "fit_intercept": False}]
    for at, variant in enumerate(variants[: 3 if str(learner) in loops() else 1]):
        others = {"random_state": 0, **variant} | ({} if learner.can_average else {"average": False})
        whole, model = (learner(**{name: others[name] for name in others if learner.offers(name)}) for _ in "ab")
        known = classes_of(learner, NAMES) if at % 2 else {}  # named at once, or found
        for number, start in enumerate(range(0, 50, 10)):
            rows = [dense_c, csr32][number % 2](X[start : start + 10]), y[start : start + 10]
            for each in (model, whole):
                each.partial_fit(*rows, sample_weight=given[start : start + 10], **known)
            before, known = fingerprint(model), {}
            resumed = PAUSES[(number + at) % len(PAUSES)](model)
            assert type(resumed) is type(model) and repr(resumed.get_params()) == repr(model.get_params())
            assert fingerprint(resumed) == before == fingerprint(whole)
            assert all((a == b).all() for a, b in zip(read(resumed, X), read(model, X), strict=True))
            model.partial_fit(*rows)
            assert fingerprint(resumed) == before, "the copy shares memory with the original"
            model = resumed
    assert fingerprint(model.fit(X, y)) == fingerprint(whole.fit(X, y))


def check_read_only_arrays(learner):
    """joblib maps only the large arrays of a model: any of them may have become read-only."""
    X, y = learner.problem(24, 5, seed=15)
    others = {"average": True} if learner.can_average else {}
    for n_labels in (1, 4) if learner.is_classifier else (1,):
        some = y % n_labels if learner.is_classifier else y
        for name in arrays(learner(**others).partial_fit(X, some)):
            model, twin = (learner(**others).partial_fit(X, some) for _ in "ab")
            for targets in (some, y):
                arrays(model)[name].flags.writeable = False
                assert fingerprint(model.partial_fit(X, targets)) == fingerprint(twin.partial_fit(X, targets)), name


def check_reading_never_writes(learner):
    """Public arrays are read-only, or copies, so that a reader cannot write into the model either."""
    X, y = learner.problem(40, 6, seed=16)
    late = np.minimum(y, np.arange(40) // 12) if learner.is_classifier else y
    others = {"average": True} if learner.can_average else {}
    begun = [learner(**others).partial_fit(X[:0], y[:0], **classes_of(learner))] if learner.family != "kernel" else []
    for model in [*begun, learner(**others).partial_fit(X[:30], late[:30]), learner(**others).partial_fit(X, y)]:
        before = fingerprint(model)
        read(model, X), read(model, csr32(X)), repr(model), pickle.dumps(model), model.get_params(), copy.copy(model)
        if hasattr(model, "score"):
            model.score(X, y)
        if hasattr(model, "sparsify") and hasattr(model, "coef_"):
            model.sparsify(), read(model, X), model.densify()
        for name in dir(model):
            if name.endswith("_") and not name.startswith("_") and hasattr(model, name):
                value = getattr(model, name)
                if isinstance(value, list):
                    value.clear()
                if isinstance(value, np.ndarray) and name not in ("classes_", "feature_names_in_") and value.size:
                    assert not value.flags.writeable or name not in ("covariance_", "center_")
                    if value.flags.writeable:
                        value[...] = 7.0
        assert fingerprint(model) == before


# --- 3. nothing lost -----------------------------------------------------------------------------------------------------------


def refusals(learner, X, y):
    """(what the error says, the call's X, y and others, whether fit refuses it too)."""
    for name in ("NaN", "inf", "-inf"):
        spoilt = X.copy()
        spoilt[-1, 3] = float(name)
        yield f"got {name} at row 59, column 3", (spoilt, y, {}), True
        yield f"got {name} at row 59, column 3", (csr32(spoilt), y, {}), True
    yield "features", (X[:, 1:], y, {}), False
    yield "1d array|2d array|2D array|must be a matrix|dimension", (X[0], y[:1], {}), True
    if learner.task != "one_class":
        yield "same number of rows", (X, y[:-1], {}), True
        yield "y", (X, None, {}), True
    if learner.task == "regression":
        yield "y must be finite", (X, np.where(np.arange(len(y)) == 5, np.nan, y), {}), True
    if learner.is_classifier:
        yield "7", (X, np.where(np.arange(len(y)) == len(y) - 1, 7, y), {}), False
        yield "classes", (X, y, {"classes": [0, 1, 2, 3, 4, 5]}), False
        yield "y", (X, np.array(["a"] * len(y)), {}), False
    if learner.rows != "any":
        yield "must be", (-1.0 - X, y, {}), True
    for bad in (-1.0, np.nan, np.inf):
        yield "sample_weight must be finite and >= 0", (X, y, {"sample_weight": np.where(np.arange(len(y)) == 9, bad, 1.0)}), True
    yield "sample_weight", (X, y, {"sample_weight": np.ones(len(y) - 1)}), True


def check_what_is_refused_changes_nothing(learner):
    X, y = learner.problem(60, 6, seed=17)
    X[-1, 2] = 1.0
    model, fresh = learnt(learner, X, y), learner()
    before = fingerprint(model)
    for message, (rows, labels, others), whole in refusals(learner, X, y):
        calls = [(model.partial_fit, others)]
        if whole:
            calls += [(model.fit, others), (fresh.fit, others), (fresh.partial_fit, {**classes_of(learner), **others})]
        for call, arguments in calls:
            with pytest.raises(ValueError, match=message):
                call(rows, labels, **arguments)
            assert fingerprint(model) == before and fingerprint(fresh) is None, message
        if rows is not X and labels is y and message != "must be":
            with pytest.raises(ValueError):
                model.predict(rows)
    for name in ("max_iter", "fit_intercept", "multi_class", "dtype", "n_snapshots"):  # (test_errors.py has each range)
        if learner.offers(name):
            value = model.get_params()[name]
            with pytest.raises((ValueError, TypeError), match=name):
                model.set_params(**{name: "none"}).partial_fit(X, y)
            assert fingerprint(model.set_params(**{name: value})) == before, name
    assert fingerprint(model.partial_fit(X, y)) != before, "and it goes on"


def check_hostile_numbers_leave_a_finite_model(learner):
    """Rows, targets and weights of any size are learnt or refused, read, stored and merged, and numpy raises nothing then."""
    rng, once = np.random.default_rng(3), {"max_iter": 1} if learner.offers("max_iter") else {}
    for dtype, scales in (("float32", [1e-44, 1e-20, 1.0, 1e19, 3e38]), ("float64", [5e-324, 1e-160, 1.0, 1e120, 1e155, 1e308])):
        others = {"average": True} if learner.can_average else {}
        if dtype == "float64" and learner.is_classifier and learner.offers("class_weight"):
            others["class_weight"] = {0: 1e300}
        model, largest = learner(**others), float(np.finfo(dtype).max)
        for i in range(20):
            with np.errstate(all="ignore"):
                X = rng.standard_normal((3, 4)) * rng.choice(scales, (3, 4) if i % 2 else (1, 1))  # in a row, or of a row
                X = np.clip(X, -largest, largest).astype(dtype)
                targets = rng.standard_normal(3) * rng.choice([0.0, 5e-324, 1e-160, 1.0, 1e100, 1e150, 1e307])
            y = targets if learner.task == "regression" else rng.integers(0, max(learner.n_classes, 1), 3)
            X = X if learner.rows == "any" else np.abs(X) if learner.rows == "positive" else np.minimum(np.abs(X), 1.0)
            weights = rng.choice([1e-300, 1.0, 1e300], 3)
            skipped = getattr(model, "n_skipped_", 0) if i else 0
            with warnings.catch_warnings(record=True) as said:
                warnings.filterwarnings("always", ".* updates should stay within the range of")
                model.partial_fit(X, y, sample_weight=weights, **(classes_of(learner) if i == 0 else {}))
            if learner.family != "online_to_batch":  # (what it wraps says so)
                assert len(said) == (model.n_skipped_ > skipped), "rows that are skipped are told, once a call"
            assert is_finite(model), (i, X, y)
            read(model, X), read(model, csr32(X[:1]))
            if hasattr(model, "score"):
                model.score(X, y)
            if i % 10 == 9:
                with suppress(ValueError):  # (labels of one class, say)
                    assert is_finite(learner(**others, **once).fit(X, y, sample_weight=weights))
        twin = through_a_file(model)
        assert fingerprint(twin) == fingerprint(model)
        with suppress(ValueError):
            twin = onlinecls.merge([model, twin])
        assert is_finite(twin) and fingerprint(through_a_file(twin)) == fingerprint(twin)
        ordinary, y = learner.problem(30, 4, seed=18, dtype=dtype)
        model.partial_fit(ordinary, y)
        assert is_finite(model) and np.isfinite(scores(model, ordinary)).all()
        if learner.family != "online_to_batch":  # (ovr: one class may learn from a row that another skips)
            assert model.t_ == 90 and model.n_updates_ + model.n_skipped_ * (learner.task != "ovr") <= 90


# --- 4. interrupts -------------------------------------------------------------------------------------------------------------


@cache
def plain_rows(n, d, n_labels, seed=0):
    rng = np.random.default_rng(seed)
    return rng.random((n, d), dtype=np.float32), rng.integers(0, max(n_labels, 2), n)


def check_ctrl_c_leaves_whole_rows(learner):
    classes, d = classes_of(learner), 60 if learner.is_full else 240

    def problem(n):
        X, y = plain_rows(n, d, learner.n_classes)
        return (X - np.float32(0.5) if learner.rows == "any" else X), (y if learner.is_classifier else y - 0.3)

    model, X, y = interrupted(learner, problem, n=2**13 if learner.n_classes > 2 else 2**14, **classes)
    rows = model.t_
    whole = learner().partial_fit(X[:rows], y[:rows], **classes)
    assert_same(learner, model, whole, X[:20], 1e-3)
    after = slice(rows, rows + 50)
    assert_same(learner, model.partial_fit(X[after], y[after]), whole.partial_fit(X[after], y[after]), X[:20], 1e-3)


# --- 8. what the numbers mean --------------------------------------------------------------------------------------------------


def check_counters_and_errors_are_those_of_predict(learner):
    """Counters and errors equal those of predict just before each row, with every average."""
    X, y = learner.problem(60, 8, seed=7)
    for average in averages(learner):
        make = lambda: learner(**({"average": average} if average else {}))  # noqa: B023, E731
        model, mistakes, errors, said = make(), 0, [], []
        for i in row_by_row(learner, model, X, y):
            said.append(model.predict(X[i : i + 1])[0])
            mistakes += said[-1] != (1 if learner.task == "one_class" else y[i])
            errors.append(y[i] - said[-1])
        if learner.without_level:  # (the level begins at the first target)
            errors[0] = 0.0
        if learner.task == "one_class":
            mistakes = model.n_mistakes_ if model.n_mistakes_ + 1 == mistakes else mistakes  # (the first row of all is none)
        if hasattr(model, "n_mistakes_"):
            assert model.n_mistakes_ == mistakes
        if hasattr(model, "progressive_mse_") and learner.begins_at_zero:
            found = [model.progressive_mse_, model.progressive_mae_]
            assert_allclose(found, [np.mean(np.square(errors)), np.mean(np.abs(errors))], rtol=1e-10)
        if learner.is_classifier:
            other = make().partial_fit(X[:1], y[:1], **classes_of(learner))
            assert predict_on_the_way(other, X[1:], y[1:]).tolist() == said[1:]
            assert_same(learner, other, model, X)
        assert 0 < model.n_updates_ <= model.t_ == 60 and model.n_skipped_ == 0
        assert all(type(value) is int for value in counters(model).values()) and type(model.n_iter_) is int


def check_the_average_is_that_of_the_weights(learner):
    X, y = learner.problem(60, 9, seed=8)
    slack = 1e-9 if learner.geometry == "entropic" else 1e-10 if learner.is_full else 1e-11  # (scales, roundings of its own)
    numbers = {"intercept_scaling": 3.0, "norm_bound": 3.0}  # (what the first rows determine changes while these come)
    others = {name: number for name, number in numbers.items() if learner.offers(name)}
    for average in (True, 7):
        plain, after, errors = learner(**others), [], []
        for i in row_by_row(learner, plain, X, y):
            if i:
                after.append(weights(plain))
            mean = np.mean(after[int(average) - 1 :], axis=0) if len(after) >= average else after[-1] if after else None
            errors.append(y[i] - (0.0 if mean is None else mean[0] @ [*X[i], 1.0]))
        expected = np.mean([*after, weights(plain)][int(average) - 1 :], axis=0)
        model = learnt(learner, X, y, average=average, **others)
        assert_allclose(weights(model), expected, rtol=slack, atol=slack)
        assert_allclose(scores(model, X).reshape(60, -1), X @ expected[:, :-1].T + expected[:, -1], rtol=10 * slack, atol=slack)
        if hasattr(model, "progressive_mse_") and learner.begins_at_zero:
            found = [model.progressive_mse_, model.progressive_mae_]
            assert_allclose(found, [np.mean(np.square(errors)), np.mean(np.abs(errors))], rtol=1e-9)


def check_the_average_while_labels_join(learner):
    """When a third class joins, the weights w of two become -w/2 and w/2, and so do those of all earlier rounds; a fourth has
    been "none of these" since."""
    X, y = learner.problem(60, 9, seed=8)
    y = np.minimum(y, np.array([0, 1, 3])[np.digitize(np.arange(60), [5, 30])])
    plain, averaged, total = learner(), learner(average=True), np.zeros((4, 10))
    for i in range(60):
        for each in (plain, averaged):
            each.partial_fit(X[i : i + 1], y[i : i + 1])
        joined = plain.classes_
        if len(joined) > 1:
            total[joined] += weights(plain) * ([[-0.5], [0.5]] if len(joined) == 2 else 1.0)
        if (none := weights_of_none(plain)) is not None:
            total[np.setdiff1d(np.arange(4), joined)] += none
    assert len(joined) == 4
    assert_allclose(weights(averaged), total / 60, rtol=1e-9, atol=1e-9)


def check_scores_are_products_with_the_weights(learner):
    X, y = learner.problem(80, 9, seed=9)
    model = learnt(learner, X, y, **({"intercept_scaling": 3.0} if learner.offers("intercept_scaling") else {}))
    shape = (9,) if learner.task == "regression" else (1 if learner.n_classes == 2 else 4, 9)
    assert model.coef_.shape == shape and model.intercept_.shape == ((1,) if learner.task == "regression" else shape[:1])
    W = weights(model)
    with np.errstate(under="ignore"):
        expected = X @ W[:, :-1].T + W[:, -1]
    expected = np.where(np.abs(expected) < 1e-200, 0.0, expected)
    for kind in (dense_c, csr32):
        found = scores(model, kind(X))
        assert found.dtype == np.float64 and found.shape == ((80,) if len(W) == 1 else (80, 4))
        assert_allclose(found.reshape(80, -1), expected, rtol=1e-10, atol=1e-12)
    if learner.is_classifier:
        # Every row gets a class of the highest score. (Which of equals rounding puts first, the product does not know.)
        ranked = expected if learner.n_classes > 2 else np.c_[np.zeros(80), expected]
        assert (ranked[np.arange(80), model.predict(X)] >= ranked.max(axis=1) - 1e-12).all()


def check_the_constant_feature_is_one_of_the_row(learner):
    """An intercept is learnt as the weight of one more feature, whose value is intercept_scaling."""
    X, y = learner.problem(80, 9, seed=9)
    as_it_is = {"scale": 1.0} if learner.offers("scale") else {}
    model = learnt(learner, X, y, intercept_scaling=0.6, **as_it_is)
    plain = learnt(learner, np.column_stack([X, np.full(80, 0.6)]), y, fit_intercept=False, **as_it_is)
    slack = max(1e-9, learner.slack)
    with np.errstate(under="ignore"):  # (entropic weights may be as small as numbers get)
        expected = weights(plain)[:, :-1] * ([1.0] * 9 + [0.6])
        assert_allclose(weights(model), expected, rtol=slack, atol=slack * max(np.abs(expected).max(), 1.0))
    assert counters(model) == counters(plain)


def check_zero_rows_teach_nothing(learner):
    X, y = learner.problem(60, 6, seed=50)
    model = learnt(learner, X, y, **({"fit_intercept": False} if learner.offers("fit_intercept") else {}))
    before, updates = {**stored(model)}, model.n_updates_
    kept = {name: part.copy() for name, part in before.items()
            if name.split(".")[-1] in ("values", "sigma", "theta", "alpha", "vectors")}
    model.partial_fit(np.zeros((20, 6)), y[:20])
    after = stored(model)
    assert kept and all((after[name][: len(array)] == array).all() for name, array in kept.items())
    assert (model.n_updates_, model.t_, model.n_skipped_) == (updates, 80, 0)


def check_turned_signs_turn_the_model(learner):
    """Binary learners know no sides: labels or targets the other way round give -w (no scores are 0 here)."""
    X, y = learner.problem(150, 13, seed=52)
    other = 1 - y if learner.is_classifier else -y
    one, turned = learnt(learner, X, y), learnt(learner, X, other)
    slack = max(learner.slack, 1e-12 if learner.is_full else 0.0)  # to the bit, where nothing is searched for
    assert_allclose(weights(one), -weights(turned), rtol=slack, atol=slack)
    if hasattr(one, "progressive_mse_"):
        assert_allclose(one.progressive_mse_, turned.progressive_mse_, rtol=slack)


def check_order_of_columns(learner):
    """A model does not depend on the order of columns, and an unseen feature keeps its first numbers."""
    X, y = learner.problem(100, 13, seed=54)
    X[:, 4] = 0.0
    order = np.random.default_rng(0).permutation(13)
    plain, turned = learnt(learner, X, y), learnt(learner, X[:, order], y)
    rtol, atol = max(1e-9, learner.slack), max(1e-11, learner.slack)
    scale = np.abs(weights(plain)).max()
    with np.errstate(under="ignore"):
        assert_allclose(weights(plain)[:, [*order, 13]], weights(turned), rtol=rtol, atol=atol * max(scale, 1.0))
    if learner.begins_at_zero:
        assert not weights(plain)[:, 4].any()
    if hasattr(plain, "covariance_"):
        found = plain.covariance_
        unseen = np.reshape(found, (-1, 13, 13))[:, 4, 4] if learner.is_full else np.atleast_2d(found)[:, 4]
        first = getattr(plain, "initial_variance", 1.0) / plain.scale_**2
        assert_allclose(unseen, first, rtol=1e-14 if learner.is_full else 0.0)


# --- fit -----------------------------------------------------------------------------------------------------------------------


def check_fit_is_partial_fit_in_epochs(learner):
    X, y = learner.problem(60, 9, seed=60)
    level = learner.without_level  # (`fit` holds a level that rows of a stream move)
    in_order = {"shuffle": False} if learner.offers("shuffle") else {}
    once = {**in_order, **({"max_iter": 1} if learner.offers("max_iter") else {})}
    for options in ({}, {"average": True} if learner.can_average else {}, {"class_weight": {0: 0.5, 1: 2.0}}):
        if learner.offers(*(options := {**options, **level})):
            for kind in (dense_c, csr32):
                fitted = learner(**once, **options).fit(kind(X), y)
                assert_same_weights(learner, fitted, learnt(learner, kind(X), y, **options), X)
    if learner.offers("tol", "warm_start"):
        streamed = learnt(learner, X, y, **level)
        for n in (2, 3):
            with again(streamed):
                streamed.partial_fit(X, y)
            fitted = learner(max_iter=n, tol=None, **in_order, **level).fit(X, y)
            assert_same_weights(learner, fitted, streamed, X)
            assert (fitted.n_iter_, fitted.t_) == (n, 60 * n)
        warm = learner(**once, tol=None, warm_start=True, **level).fit(X, y).fit(X, y).fit(X, y)
        if not learner.params.get("probability"):  # (a call to fit takes its rows for new ones)
            assert_same_weights(learner, warm, streamed, X)


def check_fit_starts_again(learner):
    X, y = learner.problem(60, 9, seed=62)
    epochs = {"max_iter": 2, "tol": None} if learner.offers("max_iter", "tol") else {}
    make = lambda **others: learner(**{**epochs, **({"random_state": 3} if learner.offers("random_state") else {}), **others})  # noqa: E731
    once = fingerprint(make().fit(X, y))
    assert fingerprint(make().fit(X, y).fit(X, y)) == once
    assert fingerprint(make().partial_fit(X, y).fit(X, y)) == once
    if learner.offers("warm_start"):
        warm = make(warm_start=True).fit(X, y)
        assert warm.fit(X, y).t_ == 2 * getattr(warm, "n_iter_", 1) * 60
        assert fingerprint(warm.set_params(warm_start=False).fit(X, y)) == once


def check_shuffling_is_that_of_its_random_state(learner):
    X, y = learner.problem(60, 9, seed=64)
    fit = lambda state: fingerprint(learner(max_iter=2, tol=None, shuffle=True, random_state=state).fit(X, y))  # noqa: E731
    assert fit(0) == fit(0) == fit(np.random.RandomState(0)) != fit(1)
    assert fit(np.random.default_rng(0)) == fit(np.random.default_rng(0))
    drawn, before = np.random.RandomState(5), np.random.get_state()[1].copy()
    assert fit(drawn) != fit(drawn), "a generator moves on"
    assert (np.random.get_state()[1] == before).all()


# --- the model, to look at -----------------------------------------------------------------------------------------------------


def check_sparsify_and_densify(learner):
    X, y = learner.problem(40, 5, seed=72)
    X[:, 2] = 0.0
    for told in (y, y[:1].repeat(40)):  # (of one class alone rows are counted, which changes their unit, and so coef_)
        model = learner().partial_fit(X, told)
        dense, said = model.coef_.copy(), scores(model, X)
        assert model.sparsify() is model and sparse.issparse(copy.deepcopy(model).coef_)
        assert (model.coef_.toarray() == dense).all() and (scores(model, X) == said).all()
        assert (model.densify().coef_ == dense).all() and not sparse.issparse(model.sparsify().partial_fit(X, told).coef_)


# --- which of them apply -------------------------------------------------------------------------------------------------------


@cache
def loops():
    """Return one learner for each compiled loop and kind of state, which all of its rules share between rows."""
    found = {}
    for learner in LEARNERS:
        if learner.family not in ("kernel", "online_to_batch"):
            of = learner.params.get
            form = of("signed", True), of("regularizer"), bool(of("forgetting")), learner.is_full, learner.estimator[:4]
            found.setdefault((learner.geometry, learner.task, form), str(learner))
    return set(found.values())


@cache
def kinds_of_models():
    """Return one learner for each class, task and kind of state: calls, files and copies do not depend on the rule. (Every rule's
    parameters go through a file in test_hostile_models.py.)"""
    found = {}
    for learner in LEARNERS:
        of = learner.params.get
        form = of("probability"), of("signed"), bool(of("l1")), bool(of("forgetting")), of("norm_bound"), of("sigma") == "auto"
        more = of("regularizer"), of("algorithm"), of("method"), of("update") == "dual_averaging", learner.is_full
        found.setdefault((learner.estimator, learner.task, learner.geometry, form, more), str(learner))
    return set(found.values())


def yield_checks(learner):
    """The contract checks that a learner has to pass."""
    kernel, batch = (learner.family == family for family in ("kernel", "online_to_batch"))
    linear = learner.is_linear
    yield check_sparse_is_dense
    yield check_any_split_into_calls
    yield check_rows_of_weight_0_are_no_rows
    yield check_hostile_numbers_leave_a_finite_model
    if not (kernel or batch):  # (batch: it has no counters; kernel: epochs of fit return to rows that are kept)
        yield check_counters_and_errors_are_those_of_predict
    if learner.can_average and linear:
        yield check_the_average_is_that_of_the_weights
        if learner.n_classes == 4 and learner.geometry != "entropic":  # (whose halves are of θ: the weights are no halves)
            yield check_the_average_while_labels_join
    if learner.task == "ovr" and linear and learner.family not in ("committee", "online_to_batch"):
        yield check_labels_that_join_are_learnt_as_if_they_had_been_named
    if linear:
        yield check_scores_are_products_with_the_weights
        if learner.offers("intercept_scaling", "fit_intercept"):
            yield check_the_constant_feature_is_one_of_the_row
        yield check_order_of_columns
    if linear and learner.rows != "advice":  # (without a row of advice, all experts are as good: 1/2 is a loss)
        yield check_zero_rows_teach_nothing
    if linear and learner.begins_at_zero and learner.task in ("binary", "regression"):
        yield check_turned_signs_turn_the_model
    if str(learner) in kinds_of_models():
        yield from _checks_of_calls(learner, kernel, batch)
    if kernel or str(learner) in loops():  # (batch holds learners, checked here)
        yield check_read_only_arrays
    if str(learner) in loops():  # (kernel: what a row costs grows with the rows; see its own file)
        yield check_ctrl_c_leaves_whole_rows
    if str(learner) in loops() and not learner.is_full:
        yield check_no_copy_of_rows  # (full: products of rows to come are made)


def _checks_of_calls(learner, kernel, batch):
    yield check_pauses
    yield check_reading_never_writes
    yield check_what_is_refused_changes_nothing
    yield check_fit_starts_again
    if not (kernel or batch):
        yield check_fit_is_partial_fit_in_epochs
    if learner.is_classifier and learner.rows != "advice":
        yield check_one_label_alone
    if learner.offers("shuffle", "tol"):
        yield check_shuffling_is_that_of_its_random_state
    if learner.is_linear:
        yield check_sparsify_and_densify
