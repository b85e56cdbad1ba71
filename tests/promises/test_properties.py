"""The contracts as properties on streams that hypothesis draws: a few that are always the same, for one learner of each loop; in
`make nightly` others in each run, for every learner. (contracts.py has them on ordinary rows, and what else there is.)
"""

import numpy as np
import pytest
from algorithms import AT_DEFAULTS, LEARNERS
from contracts import PAUSES, classes_of, loops
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from internals import predict_on_the_way
from looping import each_estimator
from matrices import csr32, csr64, csr_duplicates, csr_unsorted, dense_c, dense_f
from states import fingerprint, is_finite

EACH = settings(suppress_health_check=list(HealthCheck), deadline=None)  # (how many, and which, is the profile's: conftest.py)
ORDINARY = st.integers(-8, 8).map(lambda n: n / 4)
EXTREME = st.sampled_from([0.0, -0.0, 1.0, 1e-30, -1e-20, 1e15, -3e18, 1e37, 1e-38, 2.5])
FEW = [learner for learner in LEARNERS if str(learner) in loops() or learner.family in ("kernel", "online_to_batch")]
SAME_BITS = [csr32, csr64, dense_c, dense_f, csr_unsorted, csr_duplicates]


@st.composite
def streams(draw, learner, values):
    """X, y, weights, and the calls that they come in: (first row, end, how it is stored, what happens before it)."""
    n, d = draw(st.integers(1, 12)), draw(st.integers(1, 4))
    X = np.array(draw(st.lists(values, min_size=n * d, max_size=n * d))).reshape(n, d)
    if learner.rows != "any":
        X = np.abs(X)
    if learner.rows == "advice":
        X = np.minimum(X, 1.0)
    X = X.astype(draw(st.sampled_from(["f4", "f8"])))
    if learner.is_classifier:
        most = max(learner.n_classes, 2) - 1
        y = np.array(draw(st.lists(st.integers(0, most), min_size=n, max_size=n)))
    else:
        y = np.array(draw(st.lists(ORDINARY, min_size=n, max_size=n)))
    weights = draw(st.none() | st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0, 1e30]), min_size=n, max_size=n).map(np.array))
    cuts = sorted(draw(st.lists(st.integers(0, n), max_size=4)))
    calls = [
        (start, stop, draw(st.sampled_from(SAME_BITS)), draw(st.sampled_from(["nothing", *PAUSES[:2], "refused", "read"])))
        for start, stop in zip([0, *cuts], [*cuts, n], strict=True)
    ]
    options = {}
    if learner.can_average and draw(st.booleans()):
        options["average"] = True
    if learner.offers("fit_intercept") and draw(st.booleans()):
        options["fit_intercept"] = False
    return X, y, weights, calls, options, draw(st.booleans())


def pause(learner, model, what, X):
    """Do something between two calls that must not change the model."""
    if what in PAUSES:
        return what(model) if model.__sklearn_is_fitted__() else PAUSES[0](model)  # (files have models only)
    if what == "refused":
        for bad, weights in ((np.full(X.shape, np.nan), None), (X, np.full(len(X), -1.0)), (np.ones((1, 9)), None)):
            before = fingerprint(model)
            if len(bad) and (bad.shape == X.shape or before is not None):
                with pytest.raises(ValueError):
                    model.partial_fit(bad, [0] * len(bad), sample_weight=weights)
                assert fingerprint(model) == before
    if what == "read" and model.__sklearn_is_fitted__():
        model.predict(X)
    return model


def learnt(learner, X, y, weights, calls, options, known, pausing):
    model, classes = learner(**options), classes_of(learner) if known else {}
    for start, stop, stored_as, what in calls:
        if pausing:
            model = pause(learner, model, what, X)
        given = None if weights is None else weights[start:stop]
        model.partial_fit(stored_as(X[start:stop]), y[start:stop], sample_weight=given, **classes)
        classes = {} if model.__sklearn_is_fitted__() else classes
    return model


@each_estimator(learner=FEW if settings.default.max_examples < 100 else LEARNERS)
@given(data=st.data())
@EACH
def test_no_split_no_storage_and_no_pause_matters(learner, data):
    X, y, weights, calls, options, known = data.draw(streams(learner, EXTREME if learner.is_exact else ORDINARY))
    found = learnt(learner, X, y, weights, calls, options, known, pausing=True)
    assert fingerprint(found) == fingerprint(learnt(learner, X, y, weights, calls, options, known, pausing=False))
    if learner.is_exact:
        whole = [(0, len(y), dense_c, "nothing")]
        assert fingerprint(found) == fingerprint(learnt(learner, X, y, weights, whole, options, known, pausing=False))
    assert fingerprint(found) is None or is_finite(found)


def young_stream(learner, seed):
    """Rows of unlike lengths, among them rows of zeros, whose labels join one by one among the first 16: X, y, weights, calls."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(4, 24)), int(rng.integers(1, 4))
    lengths = np.ldexp(1.0, rng.integers(-4, 5, n)) * (rng.random(n) < 0.7)
    lengths[: 3 * (seed % 4 == 0)] = 0.0  # (no row has told a unit yet where the first calls end)
    if rng.random() < 0.7:
        lengths = lengths[np.argsort(rng.integers(0, n, n) + 2 * np.argsort(lengths))]  # (so that units change often)
    X = (rng.integers(1, 5, (n, d)) * rng.choice([-0.25, 0.0, 0.25], (n, d)) * lengths[:, None]).astype(rng.choice(["f4", "f8"]))
    if learner.rows != "any":
        X = np.abs(X)
    y = rng.integers(-8, 9, n) / 4
    if learner.is_classifier:
        y = rng.permutation(9)[np.where(rng.random(n) < 0.6, np.arange(n), rng.integers(0, n, n)) // 2 % (learner.n_classes + 3)]
    weights = rng.choice([1e-30, 1e-3, 0.0, 1.0, 1.0, 3.0], n) if rng.random() < 0.5 else None
    cuts = np.sort(rng.choice(n, int(rng.integers(1, n)), replace=False))
    pauses = rng.choice(["nothing", "read", *PAUSES], len(cuts) + 1)
    stored = rng.choice(SAME_BITS, len(cuts) + 1)
    return X, y, weights, list(zip([0, *cuts], [*cuts, n], stored, pauses, strict=True))


def predicted(learner, X, y, weights, calls):
    """The label predicted for each row just before it is learnt; below 0 where there is none."""
    model, found = learner(), []
    for start, stop, *_ in calls:
        codes = predict_on_the_way(model, X[start:stop], y[start:stop], None if weights is None else weights[start:stop])
        found += [("label", model.classes_[code]) if code >= 0 else code for code in codes]
    return found


@each_estimator(learner=AT_DEFAULTS)
def test_no_split_and_no_pause_matters_while_a_model_is_young(learner):
    for seed in range(48, 48 + 3 * settings.default.max_examples):
        X, y, weights, calls = young_stream(learner, seed)
        whole = [(0, len(y), dense_c, "nothing")]
        found = learnt(learner, X, y, weights, calls, {}, False, pausing=True)
        of_whole = learnt(learner, X, y, weights, whole, {}, False, pausing=False)
        assert fingerprint(pause(learner, found, PAUSES[seed % len(PAUSES)], X)) == fingerprint(of_whole), f"stream {seed}"
        if learner.is_classifier and seed % 3 == 0:
            each = (predicted(learner, X, y, weights, split) for split in (calls, whole))
            assert next(each) == next(each), f"predictions of stream {seed}"
