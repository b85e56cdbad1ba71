"""The contracts as properties on streams that hypothesis draws: a few that are always the same, for one learner of each loop; in
`make nightly` others in each run, for every learner. (contracts.py has them on ordinary rows, and what else there is.)
"""

import numpy as np
import pytest
from algorithms import LEARNERS
from contracts import PAUSES, classes_of, loops
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
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
