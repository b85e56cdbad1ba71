"""The base of fitted learners of all tasks, as readers see them: their model, scores, counters and units."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from .._algorithm import AUTO
from .._input import validate
from .._input.compat import not_fitted
from . import saving
from .choice import UNKNOWN, choose
from .estimator import Estimator

if TYPE_CHECKING:
    from .._algorithm import Units
    from .._input.types import Matrix


class Fitted(saving.Describing, Estimator):
    """A learner with a model: readers take all from one state, as another thread may replace it."""

    _has_fast_path = True  # False: small calls go the general way, which has steps of the class's own

    if TYPE_CHECKING:  # defined by `OnlineLearner`

        def _read_rows(self, X: Matrix, first: bool) -> validate.Rows:
            """Return X as rows, checked against the model."""

    @property
    def _units(self) -> Units:
        """The units of X, unknown before its first row."""
        return self._state.units if "_state" in self.__dict__ else UNKNOWN

    # --- predicting ----------------------------------------------------------------------------------------------------------

    def _fitted_state(self) -> Any:
        if "_state" not in self.__dict__:
            raise not_fitted(type(self).__name__)
        return self._state

    def _state_for(self, rows: validate.Rows) -> Any:
        """Return the model to read rows with; raise if `fit` in another thread has replaced it by one of another shape."""
        state = self._state
        if (rows.n_features, rows.data.dtype) != (state.n_features, state.dtype):
            raise RuntimeError(
                f"{type(self).__name__}: the model must stay of one shape and dtype while rows are read, got another of "
                f"{state.n_features} features of {state.dtype}, fitted in another thread. Read the rows again."
            )
        return state

    def _decide(self, X: Matrix) -> tuple[np.ndarray, Any]:
        """Return the scores of X, (rows, vectors), by the fast path for small calls where that applies, and the model.

        Callers take everything else from the same model: the estimator may have another by then, with other classes.
        """
        state = self._fitted_state()
        if self._has_fast_path:
            names, centre = self.__dict__.get("feature_names_in_"), state.units.centre
            found = state.try_decision(X, names, np.array(centre)) if centre else state.try_decision(X, names)
            if found is not None:
                return found, state
        rows = self._read_rows(X, False)
        state = self._state_for(rows)
        return self._scores(rows, state), state

    def _scores(self, rows: validate.Rows, state: Any) -> np.ndarray:
        scores = np.empty((rows.n_rows, state.n_columns))
        state.decision(rows, scores)
        return scores

    # --- fitted attributes ---------------------------------------------------------------------------------------------------

    @property
    def t_(self) -> int:
        """Rounds: rows of weight > 0 consumed since the model began."""
        return self._fitted_state().count("t")

    def _in_units(self, name: str) -> float:
        """Return the model's number for a parameter whose default is in units of X."""
        self._fitted_state()
        choice = choose(self, store=False)
        if choice.values[name] not in choice.algorithm.units.get(name, AUTO):
            return float(choice.values[name])
        return float(choice.algorithm.in_units(choice.values, choice.units)[name]) if choice.units.scale else nan

    @property
    def scale_(self) -> float:
        """Unit of the defaults: the power of two nearest to the median length of the first 16 rows.

        Rows of weight 0 and rows of zeros do not count. NaN before the first.
        """
        return self._fitted_state().units.scale or nan

    @property
    def n_updates_(self) -> int:
        """Rounds that changed the model."""
        return self._fitted_state().count("updates")

    @property
    def n_skipped_(self) -> int:
        """Rounds skipped because the update would overflow the dtype."""
        return self._fitted_state().count("skipped")
