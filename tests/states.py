"""Everything that learning may change, to the last bit, in a form that == compares."""

import internals
import numpy as np
from scipy import sparse

COUNTERS = ("t_", "n_rows_", "n_mistakes_", "n_updates_", "n_skipped_", "n_dropped_", "n_iter_", "n_features_in_")
SHOWN = ("classes_", "coef_", "intercept_", "center_", "feature_names_in_")


def bits(part):
    if isinstance(part, (list, tuple)):
        return [bits(item) for item in part]
    if not isinstance(part, np.ndarray):
        return part
    return part.dtype.str, part.shape, part.tolist() if part.dtype.kind == "O" else part.tobytes()


def shown(learner, names):
    found = {name: getattr(learner, name) for name in names if hasattr(learner, name)}
    return {name: part.toarray() if sparse.issparse(part) else part for name, part in found.items()}


def fingerprint(learner):
    """The model of a learner; None before its first row. Parameters and caches are left out."""
    if not learner.__sklearn_is_fitted__():
        return None
    parts = {**internals.stored(learner), **shown(learner, SHOWN), **shown(learner, COUNTERS)}
    return {name: bits(part) for name, part in parts.items()}


def but_for_history(learner):
    """Return the fingerprint without what counts rows as they came."""
    history = [at for name, at in internals.COUNTERS.items() if name in ("mistakes", "loss", "squared", "absolute")]
    parts = {**internals.stored(learner), **shown(learner, SHOWN), **shown(learner, COUNTERS)}
    for name, part in parts.items():
        if name.endswith("counters"):
            parts[name] = np.delete(part, history)
    left_out = ("n_iter_", "n_mistakes_")
    return {name: bits(part) for name, part in parts.items() if name not in left_out and not name.endswith("calibration")}


def is_finite(learner):
    """Return whether all numbers of the model, stored and public, are finite."""
    parts = {**internals.stored(learner), **shown(learner, (*SHOWN, "covariance_", "dual_coef_"))}
    parts.pop("sigma", None)  # (of a full covariance only the lower half is kept: covariance_ is it)
    return all(np.isfinite(part).all() for part in parts.values() if isinstance(part, np.ndarray) and part.dtype.kind == "f")
