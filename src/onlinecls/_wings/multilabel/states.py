"""Models of rows of several labels: a vector of weights for each label, two labels too, and at least two vectors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from ..._models.arrays import Move
from ..._models.params import Params
from ..._models.states import AdditiveState, ForgettingState, GaussianState

PREFIX = "labels_"  # of the names of these models


class LabelParams(Params):
    """The parameters of a pass over rows of several labels."""

    __slots__ = ()

    @classmethod
    def of(cls, algorithm: Any, values: Mapping[str, Any]) -> Self:
        found = super().of(algorithm, values)
        return found._replace(r2=found.r)  # (one noise variance, of the mean and of the covariance)

    @property
    def model(self) -> str:
        return PREFIX + super().model


def n_counted(n_labels: int) -> int:
    """Return the number of vectors for this number of labels: at least two, as loops over several classes take no fewer."""
    return max(n_labels, 2)


class _OfSets:
    """The mixin of models whose rows have several labels. A vector learns nothing before the first row that has its label."""

    SETS = True

    @staticmethod
    def n_vectors(n_classes: int) -> int:
        return n_classes

    def grow_classes(self: Any, places: np.ndarray, n_classes: int, params: Any) -> Any:
        """Return this model with its labels at `places` among n_classes, in arrays of its own."""
        n, known = n_counted(n_classes), np.arange(len(places))
        counts = np.zeros(n)
        counts[places] = self.counts[known]
        move = Move(known, np.asarray(places), n)
        grown = self._with_vectors(counts, move)
        self._scatter(grown, move)
        return grown

    def joined(self: Any, places: np.ndarray, n_classes: int, params: Any) -> Any:
        if len(places) < self.n_columns:  # (a vector without a label)
            return self.grow_classes(places, n_classes, params)
        return super().joined(places, n_classes, params)  # type: ignore[misc]


class AdditiveOfSets(_OfSets, AdditiveState):
    """values : w."""

    geometry = PREFIX + "additive"


class GaussianOfSets(_OfSets, GaussianState):
    """values : w and σ."""

    geometry = PREFIX + "gaussian"


class ForgettingOfSets(_OfSets, ForgettingState):
    """values : w and σ/s."""

    geometry = PREFIX + "forgetting"
