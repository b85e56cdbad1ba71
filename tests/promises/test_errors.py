"""Bad input: each message by its beginning, once, and the model bit for bit as before. Odd but valid input."""

import os
from itertools import product

import numpy as np
import pytest
from algorithms import ESTIMATORS
from scipy import sparse
from states import fingerprint, is_finite

import onlinecls

every_estimator = pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda cls: cls.__name__)
both_kinds = pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])

X = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0], [0.5, 0.0, 1.0], [0.0, 1.0, 4.0]])
Y = np.array([0, 1, 0, 1])
Y4 = np.array([0.5, -1.0, 0.0, 2.0])  # targets
LEARNER = onlinecls.Perceptron


def refused(message, call, *learners, kind=ValueError):
    """Check that the call raises an error that begins so, and leaves the learners as they were, fitted or not."""
    before = [fingerprint(learner) for learner in learners]
    with pytest.raises(kind) as caught:
        call()
    assert str(caught.value).startswith(message), str(caught.value)
    assert [fingerprint(learner) for learner in learners] == before


def refused_everywhere(message, X, y=Y, methods=("partial_fit", "fit"), learner=LEARNER, kind=ValueError, **more):
    """Check that the message comes before the first row and later, from partial_fit and from fit."""
    targets = Y if learner is LEARNER else Y4
    for method in methods:
        for learnt in (learner(), learner().partial_fit(np.eye(3)[[0, 1, 2, 0]], targets)):
            refused(message, lambda: getattr(learnt, method)(X, y, **more), learnt, kind=kind)  # noqa: B023


class Odd:
    """An object whose conversion to an array fails in its own way."""

    def __array__(self, *arguments, **options):
        raise RuntimeError("no array today")


@both_kinds
def test_a_number_beyond_the_dtype_is_named_with_its_place(kind):
    """(One that is not finite: contracts.py.)"""
    bad = X.copy()
    bad[1, 1] = 1e300
    for learner in (LEARNER().partial_fit(X.astype(np.float32), Y), LEARNER(dtype=np.float32)):
        message = "Perceptron: X must be finite in float32, got 1e+300 at row 1, column 1."
        refused(message, lambda: learner.partial_fit(kind(bad), Y), learner)  # noqa: B023


NUMBERS = "X must be numbers, got dtype "
ROWS = [  # (those of 1D, complex and too few rows: scikit-learn's checks)
    (np.float64(3.0), "Expected 2D array, got scalar array"), (X[None], "Expected 2D array, got 3D array"),
    (sparse.csr_matrix(X * 1j), f"{NUMBERS}complex128. "), (np.array([["a"] * 3] * 4, object), "X must be numbers, got 'a'"),
    (np.array([[1, 2, 3]] * 2 + [[0, -(10**400), 0], [1, 2, 3]], object), "X must be numbers, got -1000"),
    (np.zeros((4, 3), "M8[s]"), f"{NUMBERS}datetime64[s]. "), (np.zeros((4, 3), "m8[s]"), f"{NUMBERS}timedelta64[s]. "),
    (np.zeros((4, 3), [("a", "<f8")]), f"{NUMBERS}[('a', '<f8')]. "), (Odd(), "X must be "),
    *((texts, NUMBERS) for texts in (np.array([["1", "2", "3"]] * 4), [["1", "2", "3"]] * 4, np.array([[b"1"] * 3] * 4))),
    *((ragged, "X must be ") for ragged in ([[1.0, 2.0, 3.0], [1.0]], [[1.0], [[2.0]]])),
]


def test_wrong_shapes_and_types_of_rows_are_refused():
    for bad, message in ROWS:
        refused_everywhere(f"Perceptron: {message}", bad)


def test_fit_takes_another_number_of_features_only_if_it_starts_again():
    learner = LEARNER(warm_start=True).partial_fit(X, Y)
    refused("X has 2 features, but Perceptron is expecting 3 ", lambda: learner.fit(X[:, :2], Y), learner)
    assert learner.set_params(warm_start=False).fit(X[:, :2], Y).n_features_in_ == 2


WRONG_CSR = "X must be a valid sparse matrix, got an invalid csr matrix ("
BROKEN = [
    ({"indices": np.int32([0, 2, 1, 0, 3, 1, 2])}, f"{WRONG_CSR}indices must be < 3). Build it "),
    *(({"indptr": np.array(given, np.int32)}, WRONG_CSR) for given in ([1, 2, 3, 5, 7], [0, 3, 2, 5, 7], [0, 2, 3, 5, 99], [])),
    ({"data": np.ones((7, 1))}, WRONG_CSR), ({"data": ["1"] * 7}, f"{NUMBERS}<U1. "),
    ({"data": np.ones(7, "M8[s]")}, f"{NUMBERS}datetime64[s]. Encode "), ({"data": np.array([1] * 7, object)}, NUMBERS),
]


@pytest.mark.parametrize("arrays, message", BROKEN)
def test_csr_of_parts_that_do_not_fit_is_refused_before_the_model_begins_and_later(arrays, message):
    csr, learner = sparse.csr_matrix(X), LEARNER().partial_fit(X, Y)
    for name, values in arrays.items():
        setattr(csr, name, np.asarray(values))
    refused_everywhere(f"Perceptron: {message}", csr)
    refused(f"Perceptron: {message}", lambda: learner.predict(csr), learner)


def test_more_than_loops_can_count_is_refused(tmp_path):
    """(The arrays of 2**31 numbers are a file without blocks, and are not read.)"""
    wide = sparse.csr_array(([1.0] * 4, [0, 1, 2, 2**31], [0, 1, 2, 3, 4]), shape=(4, 2**31 + 1))
    refused("Perceptron: X must have at most 2**31 columns, got 2147483649. ", lambda: LEARNER().partial_fit(wide, Y))
    many, path = sparse.csr_array((4, 3)), tmp_path / "zeros"
    path.write_bytes(b"")
    os.truncate(path, 2**33)
    many.data, many.indices = (np.asarray(np.memmap(path, dtype, "r")) for dtype in (np.float32, np.int32))
    many.indptr = np.array([0, 1, 2, 3, 2**31])
    message = "Perceptron: X must have less than 2**31 stored numbers, got 2147483648. Give the rows in parts."
    refused(message, lambda: LEARNER().partial_fit(many, Y))


def test_missing_values_of_pandas_are_called_missing():
    pandas = pytest.importorskip("pandas")
    message = "Perceptron: X must be numbers, got <NA> at row 1, column 1 ("
    mixed = pandas.DataFrame({"a": [True, False, True, True], "b": pandas.array([1, None, 2, 3], "Int64")})
    for frame in (mixed, mixed.astype({"b": "boolean"}), mixed.astype(object)):
        refused_everywhere(message, frame, methods=["fit"])
    for y in (pandas.Series(["a", None, "b", "a"], dtype="string"), np.array(mixed["b"], object)):
        refused_everywhere("Perceptron: y must be all strings or all numbers, got <NA> at row 1. Drop rows ", X, y)


def test_other_column_names_are_refused():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    learner = LEARNER().partial_fit(frame, Y)
    message = "Perceptron: X must have the columns of the first call, in their order, got {} in the place of {}, column {}. Give "
    for call in (lambda bad: learner.partial_fit(bad, Y), learner.predict):
        refused(message.format("'d'", "'c'", 2), lambda: call(frame.rename(columns={"c": "d"})), learner)  # noqa: B023
        refused(message.format("'b'", "'a'", 0), lambda: call(frame[["b", "a", "c"]]), learner)  # noqa: B023
    for model, rows, said in ((learner, X, "X does not have valid feature names, but Perceptron was fitted with"),
                              (LEARNER().partial_fit(X, Y), frame, "X has feature names, but Perceptron was fitted without")):
        with pytest.warns(UserWarning, match=f"^{said} feature names$"):
            model.predict(rows)
    table = pytest.importorskip("pyarrow").table({name: np.arange(4.0) for name in "abc"})
    assert LEARNER().partial_fit(table, Y).feature_names_in_.tolist() == ["a", "b", "c"]
    refused(message.format("'c'", "'a'", 0), lambda: learner.predict(table.select(["c", "b", "a"])), learner)


LABELS = [  # (None, two columns, NaN and too few: scikit-learn's checks and contracts.py)
    (sparse.csr_matrix([[0, 1, 0, 1]]), "y should be a 1d array, got a csr_matrix of shape ()"), (Odd(), "y must be "),
    ([0, 1, 0.25, 1], "Unknown label type: continuous. y must be labels, got 0.25. "),
    (Y.astype("M8[D]"), "y must be integers, booleans or strings, got dtype datetime64[D]."),
    *((mixed, "y must be all strings or all numbers, got ") for mixed in (
        np.array([0, "b", 0, "b"], object), ["a", b"a", "b", "b"], np.array([[0], [1, 2], [0], [1]], object))),
    *(([*"ab", one, "b"], f"y must be all strings or all numbers, got {one} at row 2. ") for one in (None, float("nan"))),
]
TARGETS = [
    (sparse.csr_matrix(np.ones((4, 1))), "y must be numbers"), (np.ones((4, 2)), "y should be a 1d array"),
    *((bad, "y must be numbers, got dtype ") for bad in (["a", "b", "c", "d"], np.ones(4) * 1j)),
    *((bad, "y must be numbers") for bad in (Odd(), [10**400] * 4, [[1], [1, 2], 1, 1], np.ones(4, "M8[s]"))),
]
SAMPLE_WEIGHTS = [
    ([1, -0.5, 1, 1], "sample_weight must be finite and >= 0, got -0.5 at row 1."),
    (np.nan, "sample_weight must be finite and >= 0, got NaN at row 0."), (np.ones((4, 1)), "sample_weight.shape == (4, 1), "),
    ([1, 10**400, 1, 1], "sample_weight must be numbers, got something else ("),
    *((bad, "sample_weight must be ") for bad in (
        Odd(), ["a"] * 4, np.ones(4) * 1j, [None] * 3 + [object()], np.ones(4, "M8[s]"))),
]
CLASS_WEIGHTS = [
    ({1: -2.0}, "class_weight must have a finite number >= 0 for a label, got {1: -2.0}."),
    ({0: 10**400}, "class_weight must be numbers, got something else ("), ({1: "heavy"}, "class_weight must be "),
    ({0: [1.0], 1: [1.0]}, "class_weight must have a finite number >= 0 "), ("auto", "class_weight must be None, 'balanced' "),
]
CLASSES = [
    Odd(), [0, [1, 2]], [0, 10**400], [object(), 0], [0, None], 5, {0, 1}, [0, 1, np.nan], [[0, 1]], [0, "b"], [0.5, 1], "ab"]


def test_wrong_labels_targets_and_weights_are_refused():
    for y, message in LABELS:
        refused_everywhere("Perceptron: " + message, X, y)
    for learner in (onlinecls.AROWRegressor, onlinecls.KernelOnlineRegressor):
        for y, message in TARGETS:
            refused_everywhere(f"{learner.__name__}: {message}", X, y, learner=learner)
    for weights, message in SAMPLE_WEIGHTS:
        refused_everywhere("Perceptron: " + message, X, sample_weight=weights)
    for classes in CLASSES:
        refused_everywhere("Perceptron: classes ", X, methods=["partial_fit"], classes=classes)
    learner = LEARNER().partial_fit(X, Y)
    refused("Perceptron: sample_weight must not be 0 ", lambda: learner.score(X, Y, sample_weight=np.zeros(4)), learner)


def test_wrong_class_weights_are_refused():
    for weights, message in CLASS_WEIGHTS:
        fresh, learner = LEARNER(class_weight=weights), LEARNER().partial_fit(X, Y).set_params(class_weight=weights)
        named = lambda X, Y: fresh.partial_fit(X, Y, classes=[0, 1])  # noqa: B023, E731
        for call in (named, fresh.partial_fit, fresh.fit, learner.partial_fit, learner.fit):
            refused("Perceptron: " + message, lambda: call(X, Y), fresh, learner)  # noqa: B023
    fresh = LEARNER(class_weight={10**5000: 1.0})  # (Python does not print integers of more than 4300 digits)
    refused("Perceptron: class_weight must have classes for keys, got <int>, not among [0, 1].", lambda: fresh.fit(X, Y), fresh)


def test_labels_beside_the_classes_are_refused():
    """Classes are at least two, and those of the first call; labels are among them and of their type."""
    fresh, texts = LEARNER(), LEARNER().partial_fit(X, ["a", "b", "a", "b"])
    plain, closed = LEARNER().partial_fit(X, Y), LEARNER().partial_fit(X, Y, classes=[0, 1])
    outside, few = "y must be among the classes [0, 1], got 7 at row 2.", "classes must name at least 2 classes, got {}."
    one = "y must have at least 2 classes, got 1 class: {}."
    for learner, call, y, classes, message in (
        (closed, "partial_fit", [0, 1, 7, 1], None, outside), (fresh, "partial_fit", [0, 1, 7, 1], [0, 1], outside),
        (fresh, "partial_fit", Y, [0, 0], few.format(1)), (fresh, "partial_fit", Y, [], few.format(0)),
        (closed, "partial_fit", Y, [2, 1, 0], "classes must be those of the first call, [0, 1], got [0, 1, 2]."),
        (plain, "partial_fit", ["a"] * 4, None, "y must be labels like the model's classes, 0 of dtype int64, got 'a' "),
        (texts, "partial_fit", Y, None, "y must be labels like the model's classes, 'a' of dtype <U1, got 0 of dtype int64."),
        *((learner, "fit", ["a"] * 4, None, one.format("'a'")) for learner in (fresh, plain)),
    ):
        named = {} if classes is None else {"classes": classes}
        refused("Perceptron: " + message, lambda: getattr(learner, call)(X, y, **named), learner)  # noqa: B023
    assert closed.partial_fit(X, Y, classes=[1, 0]).t_ == 8


@pytest.mark.parametrize("first, second", [
    (np.array([2**53, 2**53 + 1, 3]), np.array([1.0, 2.0, 3.0])), (np.array([2**64 - 1, 2, 3], "u8"), np.array([-1, -2, 3])),
    (np.array([1, 2, 3]), np.array([2**64 - 1, 2, 3], "u8"))], ids=["floats", "signed", "unsigned"])
def test_labels_that_would_become_one_do_not_join(first, second):
    learner = onlinecls.AROWClassifier().partial_fit(np.eye(3), first)
    message = f"AROWClassifier: y must be labels like the model's classes, {min(first)} of dtype {first.dtype}, got {second[0]} "
    refused(message, lambda: learner.partial_fit(np.eye(3), second), learner)
    other = onlinecls.AROWClassifier().partial_fit(np.eye(3), [1, 2, 5])
    assert other.partial_fit(np.eye(3), np.array([7, 1, 2], "u8")).classes_.tolist() == [1, 2, 5, 7]


def test_control_characters_in_labels_and_names_are_escaped_in_messages():
    """A label or a name that a message shows must not steer the terminal that prints it."""
    pandas = pytest.importorskip("pandas")
    for one, others in (("\x1b[31m\x07", ["a", "b"]), (b"\x1b[31m\x07", [b"a", b"b"])):
        named = LEARNER().partial_fit(pandas.DataFrame(X, columns=["a", "b", "\x1b[31m\x07"]), Y)
        for call in (lambda: LEARNER().partial_fit(X, [*others, one, one], classes=others),  # noqa: B023
                     lambda: LEARNER().fit(X, [one] * 4), lambda: LEARNER(class_weight={one: 1.0}).fit(X, others * 2),  # noqa: B023
                     lambda: LEARNER(class_weight={one: -1.0}).fit(X, [one, others[0]] * 2),  # noqa: B023
                     lambda: LEARNER().partial_fit(X, [one, others[0]] * 2).partial_fit(X, Y),  # noqa: B023
                     lambda: named.predict(pandas.DataFrame(X, columns=["a", "b", "c"]))):  # noqa: B023
            with pytest.raises(ValueError) as raised:
                call()
            assert "\\x1b" in str(raised.value) and str(raised.value).replace("\n", "").isprintable()


#: Values outside the range of a parameter, and of that of one estimator where it has others.
OUT_OF_RANGE = {
    **dict.fromkeys(["radius", "initial_variance", "eta0", "delta", "margin", "norm_bound", "beta", "r1", "r2", "r", "b",
                     "scale", "intercept_scaling", "loss_tol", "sigma"], (0.0, np.inf)),
    **dict.fromkeys(
        ["signed", "aggressive", "fit_intercept", "shuffle", "warm_start", "early_stopping", "probability"], ("yes",)),
    **dict.fromkeys(["loss", "variant", "update", "penalty", "multi_class", "regularizer", "learning_rate"], ("other",)),
    "C": [0.0, np.nan, "1", True], "epsilon": [-1.0, np.inf], "p": [1.5, 501, True], "eta": [0.5, 1.0, np.nan],
    "forgetting": [-1e-9, 0.11], "l1": [-1.0, 0.5], "l2": [-1.0, np.inf], "max_iter": [0, 1.5], "tol": ["a", np.nan],
    "average": [-1, 1.5, 2**31], "validation_fraction": [0.0, 1.0], "n_iter_no_change": [0, 2.5], "verbose": [-1, "a"],
    "n_jobs": ["a", 1.5], "dtype": ["int32", "a", np.float16], "random_state": ["a", -1, 1.5], "covariance": ["dense", True],
}
OUT_OF_RANGE_IN = {
    **{(who, "alpha"): [0.0, np.inf] for who in ("OGDClassifier", "FTRLClassifier")},
    ("FTRLClassifier", "l1"): [-1.0, np.inf, "auto"],
    ("SecondOrderPerceptron", "r"): [0.0, np.inf, "auto"],
    **{(who, "loss"): ["hinge"] for who in ("DualAscentRegressor", "PassiveAggressiveRegressor")},
    ("DualAscentClassifier", "loss"): ["squared_hinge"],
}
NOT_CHECKED = {"alpha", "l1_ratio", "class_weight"}  # not used; tested above
#: An error of each kind of range; then of the estimators that the tables above do not hold, and of what does not go together.
KERNEL, BATCH, AROW = onlinecls.KernelOnlineClassifier, onlinecls.OnlineToBatch, onlinecls.AROWClassifier()
FORMS = {  # (other loops of some estimators)
    "PassiveAggressiveClassifier": [{}, {"loss": "squared_hinge"}], "AdaGradClassifier": [{}, {"update": "dual_averaging"}],
    "SecondOrderPerceptron": [{}, {"aggressive": True}], "ConfidenceWeightedClassifier": [{}, {"variant": "variance"}],
    "FTRLClassifier": [{"loss": "hinge"}, {"alpha": 1e300}],
}
REFUSED = [
    (onlinecls.PassiveAggressiveClassifier(C=0.0), "C must be a number in (0, inf], got C=0.0. C caps the step; float('inf') "),
    *((KERNEL(**{name: value}), f"{name} must be ") for name, value in {
        "algorithm": "cw", "gamma": 0.0, "degree": 0, "coef0": float("nan"), "budget": 0, "r": -1, "C": 0, "eta0": 0,
        "aggressive": 2, "intercept_scaling": 0.0, "multi_class": "ovo", "kernel": "cosine", "kernel_params": [1]}.items()),
    (KERNEL("pa", loss="log"), "loss must be "),
    *((BATCH(AROW, **{name: value}), f"{name} must be ") for name, value in {
        "method": "median", "n_snapshots": 1, "max_iter": 0}.items()),
    (KERNEL(kernel_params={"a": 1}), "kernel_params must be None for kernel='rbf', got kernel_params={'a': 1}: "),
    (BATCH(onlinecls.PassiveAggressiveOneClass()), "estimator must be a classifier or regressor of onlinecls, got estimator=Pa"),
    (BATCH(onlinecls.AROWClassifier), "estimator must be a classifier or regressor of onlinecls, got estimator=<"),
    (BATCH(KERNEL()), "method must be 'validation' for a KernelOnlineClassifier, which has no parameter average, "),
    (onlinecls.AdaGradClassifier(update="dual_averaging", l1=0.1, average=True), "average must be False with l1 > 0, got "),
    *((cls(average=True), "average must be False, got average=True: the scale ")
      for cls in (onlinecls.PNormPerceptron, onlinecls.MultiplicativePassiveAggressiveClassifier,
                  onlinecls.MultiplicativePassiveAggressiveRegressor)),
    *((cls(regularizer="entropic", sigma="auto", average=True), "average must be False with regularizer='entropic' and ")
      for cls in (onlinecls.DualAscentClassifier, onlinecls.DualAscentRegressor)),
    *((cls(loss_tol=0.1, **{name: True}), f"{name} must be False with loss_tol, got {name}=True: ")
      for cls in (onlinecls.PassiveAggressiveClassifier, onlinecls.PassiveAggressiveRegressor)
      for name in ("average", "early_stopping")),
]


@pytest.mark.parametrize("learner, message", REFUSED, ids=repr)
def test_parameters_out_of_range_and_together_are_refused(learner, message):
    for call in (learner.fit, learner.partial_fit):
        y = (Y,) if learner._estimator_type != "outlier_detector" or isinstance(learner, BATCH) else ()
        refused(f"{type(learner).__name__}: {message}", lambda: call(np.abs(X) / 4.0, *y), learner)  # noqa: B023
    assert not learner.__sklearn_is_fitted__()


@every_estimator
def test_every_parameter_has_its_range(estimator):
    who, names = estimator.__name__, estimator().get_params()
    checked = {name for name in names if name not in NOT_CHECKED or (who, name) in OUT_OF_RANGE_IN}
    assert all(name in OUT_OF_RANGE or (who, name) in OUT_OF_RANGE_IN for name in checked)
    for name in checked:
        for value in OUT_OF_RANGE_IN.get((who, name)) or OUT_OF_RANGE[name]:
            fresh, learner = estimator(**{name: value}), estimator().partial_fit(X, Y).set_params(**{name: value})
            for one in (fresh, learner):
                for call in (one.fit, *[one.partial_fit] * (name != "random_state")):  # (partial_fit draws nothing)
                    refused(f"{who}: {name} must be ", lambda: call(X, Y), one)  # noqa: B023
            learner.set_params(**{name: names[name]}).partial_fit(X, Y)
            assert learner.t_ == 8, "set right again, the model goes on"


@pytest.mark.parametrize("learner, name, value", [
    (onlinecls.Perceptron(average=True), "average", 10), (onlinecls.AdaGradClassifier(), "update", "dual_averaging"),
    (onlinecls.AROWClassifier(dtype="float64"), "dtype", "float32"), (onlinecls.AROWClassifier(), "covariance", "full"),
    (onlinecls.DualAscentRegressor(), "regularizer", "entropic"), (onlinecls.PNormPerceptron(3), "p", 4),
    (onlinecls.MultiplicativePassiveAggressiveClassifier(), "signed", False), (onlinecls.AROWClassifier(2.0), "scale", 4.0),
    (onlinecls.AROWRegressor(), "intercept_scaling", 2.0),
], ids=repr)
def test_partial_fit_refuses_parameters_of_another_kind_of_model(learner, name, value):
    old, who = getattr(learner, name), type(learner).__name__
    learner.partial_fit(X, Y)
    message = f"{who}: partial_fit must go on with the kind of model it began with, got other values of {name}"
    refused(message, lambda: learner.set_params(**{name: value}).partial_fit(X, Y), learner)
    with pytest.raises(ValueError, match="NaN"):
        learner.fit(X * np.nan, Y)  # an error of fit must not open the way for partial_fit
    refused(message, lambda: learner.partial_fit(X, Y), learner)
    assert learner.set_params(**{name: old}).partial_fit(X, Y).t_ == 8
    assert learner.set_params(**{name: value}, max_iter=1, warm_start=True).fit(X, Y).t_ == 4


def test_initial_weights_of_wrong_shape_or_size_are_refused():
    learner, three, wide = onlinecls.Perceptron(dtype=np.float32), [0, 1, 2, 1], np.column_stack([X, X[:, 0]])
    for rows, y, given, message in (
        (X, Y, {"coef_init": np.ones(2)}, "coef_init must have shape (1, 3), got (2,)."),
        (wide, three, {"coef_init": np.ones((4, 3))}, "coef_init must have shape (3, 4), got (4, 3)."),
        (X, Y, {"intercept_init": np.ones(2)}, "intercept_init must have shape (1,), got (2,)."),
        (X, three, {"intercept_init": 1.0}, "intercept_init must have shape (3,), got ()."),
        (X, Y, {"coef_init": [np.nan] * 3}, "coef_init must be finite and within float32, "),
        (X, Y, {"coef_init": [1e300] * 3}, "coef_init must be finite and within float32, "),
    ):
        refused("Perceptron: " + message, lambda: learner.fit(rows, y, **given), learner)  # noqa: B023
    learner.set_params(intercept_scaling=1e-300)
    refused("Perceptron: intercept_init must be ", lambda: learner.fit(X, Y, intercept_init=[1.0]), learner)
    learner.set_params(intercept_scaling=1.0).fit(X, Y)
    for name, value, message in (
        ("coef_", np.ones((2, 3)), "have shape (1, 3), got (2, 3)."), ("intercept_", [1.0, 2.0], "have shape (1,), got (2,)."),
        ("coef_", [[1.0, 2.0, np.inf]], "be finite and within float32, "), ("coef_", [["a", 1, 2]], "be numbers, got "),
    ):
        refused(f"Perceptron: {name} must {message}", lambda: setattr(learner, name, value), learner)  # noqa: B023


@every_estimator
def test_a_learner_without_a_model_says_so(estimator):
    learner, kind = estimator(), estimator._estimator_type
    message = f"{estimator.__name__}: this model has not been fitted yet. Call 'fit' or 'partial_fit' first."
    shown = {"classifier": ["n_mistakes_", "coef_", "intercept_"], "outlier_detector": ["center_", "offset_", "n_mistakes_"],
             "regressor": ["progressive_mse_", "progressive_mae_", "coef_", "intercept_"]}[kind]
    for name in (*shown, "t_", "n_updates_", "n_skipped_"):
        refused(message, lambda: getattr(learner, name), learner)  # noqa: B023
        assert not hasattr(learner, name)


@pytest.mark.parametrize("learner", [LEARNER(early_stopping=True), onlinecls.AROWRegressor(early_stopping=True)], ids=repr)
def test_early_stopping_without_rows_to_hold_out_is_refused(learner):
    message = f"{type(learner).__name__}: early_stopping must have rows to hold out beside rows to learn from "
    refused(message, lambda: learner.fit(np.eye(2), [0, 1]), learner)


#: Parameters that may be any number > 0, or one in a range.
OF_ANY_SIZE = {*"C alpha b beta delta epsilon eta0 initial_variance intercept_scaling l1 l2 margin norm_bound".split(),
               *"r r1 r2 radius scale sigma".split()}


@every_estimator
def test_extreme_parameters_make_a_finite_model_or_are_refused(estimator):
    draw, who = np.random.default_rng(0), estimator.__name__
    rows, y = draw.standard_normal((60, 4)), draw.integers(0, 2, 60)
    for name, dtype, size in product(OF_ANY_SIZE & estimator().get_params().keys(), ("f4", "f8"), (1.0, 1e-30)):
        for value, more in product((1e-300, 1e39, 1e300), FORMS.get(who, [{}])):
            learner = estimator(**{**more, name: value})
            try:
                learner.partial_fit((rows * size).astype(dtype), y)
            except ValueError as error:  # what the dtype cannot hold
                assert str(error).startswith(f"{who}: {name} must ") and fingerprint(learner) is None
            else:
                assert is_finite(learner), f"{learner} on rows of size {size}"
