"""The interface that scikit-learn and scipy.sparse expect, without importing them: their classes are used once loaded."""

from __future__ import annotations

import sys
import warnings
from functools import update_wrapper
from types import MethodType
from typing import TYPE_CHECKING, TypeVar, cast

import numpy as np

from .._rows import Rows

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

Method = TypeVar("Method", bound="Callable[..., Any]")


class NotFittedError(ValueError, AttributeError):
    """Raised if an estimator is used before it is fitted, unless scikit-learn's own error is loaded."""


def _of_scikit_learn(name: str, otherwise: type) -> Any:
    """Return scikit-learn's exception of this name if it is loaded, else another one."""
    return getattr(sys.modules.get("sklearn.exceptions"), name, otherwise)


def not_fitted(who: str) -> Exception:
    kind = _of_scikit_learn("NotFittedError", NotFittedError)
    return kind(f"{who}: this model has not been fitted yet. Call 'fit' or 'partial_fit' first.")


def warn_caller(message: str | Warning, kind: str = "") -> None:
    """Warn, with the place from which this package was called. kind : the name of a warning of scikit-learn, if it is loaded."""
    frame: Any = sys._getframe(1)
    level, package = 2, __name__.partition(".")[0]
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == package:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, _of_scikit_learn(kind, UserWarning), stacklevel=level)


def tags(kind: str | None, poor_score: bool = False, requires_fit: bool = True, **of_input: bool):
    """Return scikit-learn's tags of an estimator, or of a transformer: None. (Only scikit-learn calls this: it is loaded.)"""
    from sklearn.utils import ClassifierTags, InputTags, RegressorTags, Tags, TargetTags, TransformerTags

    return Tags(
        estimator_type=kind, target_tags=TargetTags(required=kind not in ("outlier_detector", None)),
        transformer_tags=TransformerTags() if kind is None else None,
        classifier_tags=ClassifierTags(poor_score=poor_score) if kind == "classifier" else None,
        regressor_tags=RegressorTags(poor_score=poor_score) if kind == "regressor" else None,
        input_tags=InputTags(**of_input), requires_fit=requires_fit,
    )


class available_if:  # noqa: N801
    """Decorate a method that an object has only if `check(object)` raises no AttributeError. (A property that returns a function
    has neither the method's name, by which scikit-learn chooses what to do with its result, nor its signature.)"""

    def __init__(self, check: Callable[[Any], object]) -> None:
        self.check = check

    def __call__(self, method: Method) -> Method:
        self.method = method
        update_wrapper(self, method)
        return cast("Method", self)

    def __get__(self, owner: Any, kind: type | None = None) -> Any:
        if owner is None:
            return self.method
        self.check(owner)
        return MethodType(self.method, owner)


def kind_of(estimator) -> str | None:
    """Return the type of any library's estimator, such as "classifier" or "regressor"; None if it has no type."""
    if hasattr(estimator, "_estimator_type") or not hasattr(estimator, "__sklearn_tags__"):
        return getattr(estimator, "_estimator_type", None)
    return estimator.__sklearn_tags__().estimator_type


def issparse(X) -> bool:
    """Return True for a matrix of scipy.sparse and for `Rows`."""
    return isinstance(X, Rows) or (hasattr(X, "tocsr") and hasattr(X, "format"))


def random_state(who: str, seed):
    """Return a numpy random generator from None, an integer, a RandomState or a Generator, as scikit-learn does."""
    if hasattr(seed, "permutation"):
        return seed
    try:  # (None: numpy's global one, so that numpy.random.seed works as with scikit-learn)
        return np.random.mtrand._rand if seed is None else np.random.RandomState(seed)
    except (TypeError, ValueError):
        raise ValueError(
            f"{who}: random_state must be None, an integer in 0..2**32 - 1, a numpy RandomState or Generator, got {seed!r}."
        ) from None
