"""What evaluation and the command line need of a fitted learner beside its public attributes."""

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
    """Whether it learns labels."""
    return learner._estimator_type == "classifier"


def is_regressor(learner: Any) -> bool:
    """Whether it learns numbers."""
    return learner._estimator_type == "regressor"


def parameter_names(cls: type[Estimator]) -> list[str]:
    """The constructor's parameters."""
    return cls._parameter_names()


def check_parameters(learner: Any) -> None:
    """Raise the ValueError now that `fit` would raise of a parameter."""
    learner._kernel_params()


def model_bytes(learner: Any, n_features: int, n_classes: int, dtype: Any) -> int:
    """Of the arrays of a model of this learner's parameters."""
    return learner._model_bytes(learner._kernel_params(), n_features, n_classes, np.dtype(dtype))


def learner_of(learner: Any) -> Any:
    """What learns: of an `OnlineToBatch` the learner on its way."""
    return getattr(learner, "estimator_", learner)


def linear_of(learner: Any) -> Any:
    """What predicts, if its scores are sums over features; None of a kernel learner and of a vote."""
    found = getattr(learner, "chosen_", learner)
    return found if hasattr(found, "coef_") else None


def algorithm_of(learner: Estimator) -> Algorithm:
    """The registry's row that the parameters choose."""
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
    """How many rows of each class a classifier has learnt."""
    learner = learner_of(learner)
    return dict(zip(learner.classes_.tolist(), learner._state.counts.astype(int).tolist(), strict=True))


def learning(learner: Any, again: bool) -> AbstractContextManager[None]:
    """Inside, whether the rows that `partial_fit` is given were learnt before: probabilities learn from new rows alone."""
    return learner._learning(again)


def dtype_of(learner: Any) -> np.dtype:
    """The model's numbers'."""
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
