"""Access to fitted learners, beside their public attributes, for evaluation, bounds and the command line."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING

import numpy as np

from .._compiled.model import COUNTERS
from .._registry import Algorithm, algorithms_of, select
from .classifier import OnlineClassifier
from .one_class import OnlineOneClass
from .regressor import OnlineRegressor

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from typing import Any

    from numpy.typing import ArrayLike

    from .._input.types import Matrix
    from .base import Estimator


#: A linear learner, of one of the tasks.
Learner = OnlineClassifier | OnlineRegressor | OnlineOneClass


def is_classifier(learner: Any) -> bool:
    """Return True if a learner learns labels."""
    return learner._estimator_type == "classifier"


def is_regressor(learner: Any) -> bool:
    """Return True if a learner learns numbers."""
    return learner._estimator_type == "regressor"


def parameter_names(cls: type[Estimator]) -> list[str]:
    """Return the names of the constructor's parameters."""
    return cls._parameter_names()


def defaults_of(cls: type[Estimator]) -> dict[str, Any]:
    """Return the defaults of the constructor's parameters, by name."""
    return {name: parameter.default for name, parameter in cls._signature().items()}


def check_parameters(learner: Any) -> None:
    """Raise the ValueError that `fit` would raise for a parameter."""
    learner._kernel_params()


def model_bytes(learner: Any, n_features: int, n_classes: int, dtype: Any) -> int:
    """Return the size in bytes of the arrays of a model with this learner's parameters."""
    return learner._model_bytes(learner._kernel_params(), n_features, n_classes, np.dtype(dtype))


def learner_of(learner: Any) -> Any:
    """Return the learner itself; of an `OnlineToBatch`, the one that it wraps."""
    return getattr(learner, "estimator_", learner)


def linear_of(learner: Any) -> Any:
    """Return the linear model that predicts; None for a kernel learner and a vote."""
    found = getattr(learner, "chosen_", learner)
    return found if hasattr(found, "coef_") else None


def algorithm_of(learner: Estimator) -> Algorithm:
    """Return the registry's row that the parameters choose."""
    return select(type(learner).__name__, learner.get_params(), algorithms_of(type(learner)))


def counts_of(learner: Any) -> tuple:
    """Return the lifetime counters: (rows, updates, mistakes), or for a regressor (rows, updates, squared errors, absolute
    errors)."""
    learner = learner_of(learner)
    fitted, regressor = learner.__sklearn_is_fitted__(), is_regressor(learner)
    if not fitted:
        return (0, 0, 0.0, 0.0) if regressor else (0, 0, 0)
    if regressor:
        counters = learner._state.counters
        return learner.t_, learner.n_updates_, float(counters[COUNTERS["squared"]]), float(counters[COUNTERS["absolute"]])
    return learner.t_, learner.n_updates_, learner.n_mistakes_


def class_counts(learner: Any) -> dict:
    """Count the rows of each class that a classifier has learnt."""
    learner = learner_of(learner)
    return dict(zip(learner.classes_.tolist(), learner._state.counts.astype(int).tolist(), strict=True))


def learning(learner: Any, again: bool) -> AbstractContextManager[None]:
    """Say whether the rows learnt inside the context were learnt before: probabilities learn from new rows alone."""
    return learner._learning(again)


def dtype_of(learner: Any) -> np.dtype:
    """Return the dtype of the model."""
    return learner_of(learner)._state.dtype


def learn_predicting(
    learner: OnlineClassifier, X: Matrix, y: ArrayLike, classes: ArrayLike | None, sample_weight: ArrayLike | None,
) -> np.ndarray:
    """`partial_fit`; what `predict` would have said of each row just before it, as the place among `classes_` after the call:
    classifier.NO_ROUND for a row of weight 0, another number below 0 for one that nobody could have predicted."""
    return learner._partial_fit_labels(X, y, classes, sample_weight, predict=True)


def averaging_predictors(learner: Any) -> Any:
    """A learner with average=True as one whose average runs over the weights that predicted a row, w_1 .. w_T, where its own runs
    over w_2 .. w_{T+1}. It shares its arrays with this one, and is to be read alone.

    With average=n > 1 it runs over w_{n+1} .. w_T.
    """
    state = learner._state
    rounds, everything = state.average_rounds(state.params), slice(None)
    last = state.of({**state.parts(), "correction": np.empty(0), "params": state.params})
    less = last.weights(learner._read_params(last), everything).T.astype(np.float64)  # over the rounds: what the average loses
    if int(learner.average) == 1:
        first = type(state)(state.n_features, len(state.counts), state.dtype, state.params)
        first.params = state.params
        less -= first.weights(learner._read_params(first), everything).T
    elif rounds > 1.0:
        less -= state.weights(learner._read_params(state), everything).T
        less *= rounds / (rounds - 1.0)
    else:
        less[:] = 0.0
    found = copy(learner)
    found.__dict__.pop("_sparse_coef", None)
    found._state = state.of({**state.parts(), "correction": state.correction + less.reshape(-1), "params": state.params})
    return found
