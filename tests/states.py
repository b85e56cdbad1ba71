"""Everything that learning may change, to the last bit, in a form that == compares."""

import numpy as np

COUNTERS = ("t_", "n_mistakes_", "n_updates_", "n_skipped_", "n_iter_", "n_features_in_")


def bits(array):
    array = np.asarray(array)
    return array.dtype.str, array.shape, array.tolist() if array.dtype.kind == "O" else array.tobytes()


def parts_of(state):
    """Its arrays and numbers, by name."""
    return state.parts() if hasattr(state, "parts") else state.__getstate__()


def fingerprint(learner):
    """The model of a learner; None before its first row. Parameters and caches are left out."""
    if not learner.__sklearn_is_fitted__():
        return None
    state = {name: bits(part) if isinstance(part, np.ndarray) else part for name, part in parts_of(learner._state).items()}
    shown = {name: bits(getattr(learner, name)) for name in ("classes_", "coef_", "intercept_") if hasattr(learner, name)}
    names = bits(learner.feature_names_in_) if hasattr(learner, "feature_names_in_") else None
    return {**state, **shown, **{name: getattr(learner, name, None) for name in COUNTERS}, "feature_names_in_": names}


def is_finite(learner):
    """No NaN and no infinity in any number of the model, or read off it."""
    shown = [learner.coef_, learner.intercept_] + ([learner.covariance_] if hasattr(learner, "covariance_") else [])
    stored = [learner._state.values, learner._state.drift, learner._state.counts]
    return all(np.isfinite(array).all() for array in shown + stored)
