"""Transformers of scikit-learn in files: their parameters, and what they have learnt as arrays, for a few classes of a list."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np

from .._estimators.saving import packed_parameters, take_names
from .._input.compat import is_frozen
from .._saving import require, unpacked

if TYPE_CHECKING:
    from typing import Any

#: {class: (module, {attribute, an array of a number a column: the parameters with one of which it is there})}
_CLASSES: dict[str, tuple[str, dict[str, tuple[str, ...]]]] = {
    "MaxAbsScaler": ("sklearn.preprocessing", {"max_abs_": (), "scale_": ()}),
    "StandardScaler": (
        "sklearn.preprocessing", {"mean_": ("with_mean", "with_std"), "var_": ("with_std",), "scale_": ("with_std",)}
    ),
    "TfidfTransformer": ("sklearn.feature_extraction.text", {"idf_": ("use_idf",)}),
}
_COUNT = "n_samples_seen_"  # of scalers: a number, or one a column where some are missing


def described_theirs(who: str, step: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]] | None:
    """Describe a fitted step of scikit-learn by what JSON holds, and arrays; None for another class."""
    frozen, step = is_frozen(step), step.estimator if is_frozen(step) else step
    name = type(step).__name__
    module, attributes = _CLASSES.get(name, (None, {}))
    if module is None or type(step) is not getattr(import_module(module), name):
        return None
    found = {each: getattr(step, each, None) for each in (*attributes, _COUNT)}
    arrays = {each: np.atleast_1d(value) for each, value in found.items() if value is not None}
    names = getattr(step, "feature_names_in_", None)
    return {
        "step": "scikit-learn", "class": name, "frozen": frozen, "parameters": packed_parameters(who, step.get_params()),
        "n_features": int(step.n_features_in_), "feature_names": None if names is None else list(names),
    }, arrays


def rebuilt_theirs(header: dict, arrays: dict[str, np.ndarray]) -> Any:
    """Rebuild a step of scikit-learn from a description that need not be trusted."""
    name, width = header["class"], header["n_features"]
    require(isinstance(name, str) and name in _CLASSES, "a step of scikit-learn that a file may hold", name)
    require(type(width) is int and width >= 0 and type(header["frozen"]) is bool, "a number of columns", width)
    module, attributes = _CLASSES[name]
    step = getattr(import_module(module), name)()
    parameters = {key: unpacked(value) for key, value in header["parameters"].items()}
    require(parameters.keys() == step.get_params().keys(), f"parameters {sorted(step.get_params())}", sorted(parameters))
    step.set_params(**parameters)
    step._validate_params()
    needed = {key for key, switches in attributes.items() if not switches or any(map(parameters.get, switches))}
    needed |= {_COUNT} if hasattr(step, "partial_fit") else set()
    require(needed <= set(arrays) <= {*attributes, _COUNT}, f"arrays {sorted(needed)}", sorted(arrays))
    for key in needed | {*attributes} if hasattr(step, "partial_fit") else needed:
        setattr(step, key, _checked(key, arrays[key], width) if key in arrays else None)
    step.n_features_in_ = width
    take_names(step, header["feature_names"], width)
    if header["frozen"]:
        from sklearn.frozen import FrozenEstimator

        step = FrozenEstimator(step)
    return step


def _checked(key: str, array: np.ndarray, width: int) -> Any:
    """Return an attribute from an array of a file."""
    right = array.shape == (width,) or (key == _COUNT and array.shape == (1,))
    require(right and array.dtype.kind in "fi" and bool(np.isfinite(array).all()), f"{key} of {width} columns", array.shape)
    least = array.min(initial=1.0)
    require(key == "mean_" or least > 0.0 or (key != "scale_" and least == 0.0), f"{key} not below 0", least)
    return array[0] if key == _COUNT and len(array) == 1 else array
