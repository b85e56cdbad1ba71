"""Steps in front of a learner: how each learns rows, without being changed before the learner has taken them, and its file."""

from __future__ import annotations

import inspect
import sys
from copy import deepcopy
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from .._estimators.estimator import Estimator, without_model
from .._estimators.saving import packed_parameters, read_parameters
from .._files import require
from .._input import validate
from ..text import HashingVectorizer, parameters_of, vectorizer_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


@lru_cache(128)
def home_of(kind: Any) -> Any:
    """Return `tables`, which has functions for pipelines, for a class of its steps; None for another class."""
    tables = sys.modules.get("onlinecls.tables")  # (pipelines of texts do not import it)
    return tables if issubclass(kind, getattr(tables, "TableVectorizer", ())) else None


def stays(step: Any) -> bool:
    """Return True for a transformer that a stream does not change: one without state, one that is frozen or fitted for good.

    Raise a TypeError for one that cannot learn a stream and is not fitted.
    """
    if isinstance(step, HashingVectorizer) or _is_left_alone(step):
        return True
    if hasattr(step, "learn_transform"):
        return False
    tags = getattr(step, "__sklearn_tags__", None)
    if tags is not None and not tags().requires_fit:
        return True
    if _learns(step):
        return False
    if not is_fitted(step):
        raise TypeError(
            f"StreamPipeline: a step must have partial_fit or learn_transform, or be fitted before partial_fit, got "
            f"{validate.brief(step)}, which has neither and is not fitted. Fit it beforehand, or call the pipeline's fit, which "
            "fits it. Copies by clone and in searches are not fitted, unless of scikit-learn's FrozenEstimator(fitted step)."
        )
    return True


def _learns(step: Any) -> bool:
    return hasattr(step, "learn_transform") or hasattr(step, "partial_fit")


def _is_left_alone(step: Any) -> bool:
    """Return True for a transformer that `fit` does not change either."""
    return is_frozen(step) or not (hasattr(step, "fit") or _learns(step))


def _weights_of(learn: Callable, sample_weight: Any) -> dict[str, Any]:
    """Return the weights as a keyword, if there are any and this method takes them."""
    takes = sample_weight is not None and "sample_weight" in inspect.signature(learn).parameters
    return {"sample_weight": sample_weight} if takes else {}


def learnt(step: Any, X: Any, sample_weight: Any) -> tuple[Any, Callable[[], None] | None]:
    """Return the rows of a batch that a step is to learn, and a function that makes it learn them; None if there is nothing."""
    home = home_of(step.__class__)
    if home is not None:
        return home.planned(step, X, sample_weight)
    if stays(step):
        return step.transform(X), None
    after = deepcopy(step)
    if hasattr(after, "learn_transform"):
        rows = after.learn_transform(X, **_weights_of(after.learn_transform, sample_weight))
    else:
        rows = after.partial_fit(X, **_weights_of(after.partial_fit, sample_weight)).transform(X)
    return rows, lambda: become(step, after)


def fitted(step: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Callable[[], None] | None]:
    """Return the rows of a whole set, and a function that makes the step what it is after its `fit`; None if that is no other."""
    if _is_left_alone(step):
        return step.transform(X), None
    after = deepcopy(step)
    rows = after.fit(X, y, **_weights_of(after.fit, sample_weight)).transform(X)
    return rows, lambda: become(step, after)


def become(step: Any, after: Any) -> None:
    """Give a step, or a learner, all that a copy of it has learnt."""
    found = {name: value for name, value in vars(after).items() if name != "_lock"}
    vars(step).update(found)
    for name in vars(step).keys() - found.keys() - {"_lock"}:
        del vars(step)[name]


# --- learners ------------------------------------------------------------------------------------------------------------------


def unfitted(learner: Any) -> Any:
    """Return a copy of a learner for `fit`: without its model, unless `fit` goes on with that or another library's has it."""
    goes_on = getattr(learner, "warm_start", False) or not isinstance(learner, Estimator)
    return deepcopy(learner) if goes_on else without_model(learner)


# --- files ---------------------------------------------------------------------------------------------------------------------


def step_in_file(who: str, step: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Describe a step by what JSON holds, and arrays."""
    home = home_of(step.__class__)
    if home is not None and type(step) is home.TableVectorizer:
        ignored = {str(k): name for k, name in enumerate(step.ignore)}  # (which a header holds whatever is in it)
        parameters = {**step.get_params(), "ignore": ignored, "dtype": np.dtype(step.dtype).type}
        state, arrays = home.described(step)
        return {"step": "TableVectorizer", "parameters": packed_parameters(who, parameters), "learnt": state}, arrays
    found = parameters_of(step)
    if found is None:
        raise ValueError(
            f"{who}: save must have steps that a file without pickle can hold, those of this library without functions as "
            f"parameters, got {validate.brief(step)}. Use pickle."
        )
    return {"step": "HashingVectorizer", "parameters": found}, {}


def step_of_file(header: dict, arrays: dict[str, np.ndarray]) -> Any:
    """Rebuild a step from a description that need not be trusted."""
    kind = header["step"]
    if kind == "HashingVectorizer":
        return vectorizer_of(header["parameters"])
    require(kind == "TableVectorizer", "a step of this version", kind)
    from ..tables import TableVectorizer, rebuild

    parameters = read_parameters(TableVectorizer, header["parameters"])
    parameters["ignore"] = tuple(dict(parameters["ignore"]).values())
    return rebuild(TableVectorizer(**parameters), header["learnt"], arrays)


def width_of(step: Any) -> int:
    """Return the number of columns of a step's rows."""
    names = ("n_features", "n_features_out_", "n_features_in_")
    return next(found for name in names if (found := getattr(step, name, None)) is not None)


def n_rounds(learner: Any) -> float:
    """Return how many rows of weight > 0 a learner has counted; 0 if it does not count."""
    return getattr(learner, "t_", None) or getattr(learner, "n_rows_", None) or 0


def live_rows(learner: Any, y: Any, sample_weight: Any) -> np.ndarray:
    """Return where rows have a weight > 0, the class weights of a learner of this library included."""
    live = np.ones(len(y), bool) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64) > 0.0
    class_weight = getattr(learner, "class_weight", None)
    if isinstance(learner, Estimator) and isinstance(class_weight, dict):
        live = live & np.array([class_weight.get(label, 1.0) > 0.0 for label in np.asarray(y).tolist()], bool)
    return live


def rows_learnt(learner: Any, before: float, y: Any, sample_weight: Any) -> int:
    """Return the number of the rows of a batch that a learner has learnt, by its count from before it."""
    n, done = len(y), n_rounds(learner) - before
    if not done or not isinstance(learner, Estimator):  # (other libraries' learners are not interrupted within a batch)
        return n if done else 0
    n_live = live_rows(learner, y, sample_weight).cumsum()
    return n if done >= n_live[-1] else int(n_live.searchsorted(done)) + 1



def is_frozen(estimator: Any) -> bool:
    """Return True for scikit-learn's FrozenEstimator, whose `fit` does nothing. (It shows all methods of what it holds.)"""
    kind = getattr(sys.modules.get("sklearn.frozen"), "FrozenEstimator", None)
    return kind is not None and isinstance(estimator, kind)


def is_fitted(estimator: Any) -> bool:
    """Return True if any library's estimator has learnt, as scikit-learn's check_is_fitted tells it."""
    if hasattr(estimator, "__sklearn_is_fitted__"):
        return bool(estimator.__sklearn_is_fitted__())
    return any(name.endswith("_") and not name.startswith("_") for name in getattr(estimator, "__dict__", ()))
