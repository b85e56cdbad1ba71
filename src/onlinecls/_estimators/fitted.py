"""The base of fitted learners of all tasks, as readers see them: their model, scores, counters and scale."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from .._input import validate
from .._input.compat import not_fitted
from . import saving
from .estimator import Estimator

if TYPE_CHECKING:
    from .._input.types import Matrix


class Fitted(saving.Describing, Estimator):
    """A learner with a model: readers take all from one state, as another thread may replace it."""

    _has_fast_path = True  # False: small calls go the general way, which has steps of the class's own

    if TYPE_CHECKING:  # defined by `OnlineLearner`

        def _read_rows(self, X: Matrix, first: bool) -> validate.Rows:
            """Return X as rows, checked against the model."""

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
        """Return the scores of X, (rows, vectors), as a small call where that applies, and the model.

        Callers take everything else from the same model: the estimator may have another by then, with other classes.
        """
        state = self._fitted_state()
        if self._has_fast_path:
            found = state.try_decision(X, self.__dict__.get("feature_names_in_"))
            if found is not None:
                return found if found.shape[1] <= len(state.counts) else of_classes(found, state), state
        rows = self._read_rows(X, False)
        state = self._state_for(rows)
        return self._scores(rows, state), state

    def _scores(self, rows: validate.Rows, state: Any) -> np.ndarray:
        scores = np.empty((rows.n_rows, state.n_columns))
        state.decision(rows, scores)
        return of_classes(scores, state)

    # --- fitted attributes ---------------------------------------------------------------------------------------------------

    @property
    def t_(self) -> int:
        """Rounds: rows of weight > 0 consumed since the model began."""
        return self._fitted_state().count("t")

    @property
    def scale_(self) -> float:
        """s: rows are learnt as z = x / s, and the parameters' numbers are in units of z.

        With ``scale="auto"`` the power of two nearest to the geometric mean of ||x|| over the first 16 rows, or those so far: of
        weight > 0, and not all zeros. NaN before the first.
        """
        return self._fitted_state().scale or nan

    @property
    def intercept_scaling_(self) -> float:
        """Value of the constant feature in z; NaN before the first row."""
        state = self._fitted_state()
        return state.constant if state.scale else nan

    @property
    def n_updates_(self) -> int:
        """Rounds that changed the model."""
        return self._fitted_state().count("updates")

    @property
    def n_skipped_(self) -> int:
        """Rounds skipped because the update would overflow the dtype."""
        return self._fitted_state().count("skipped")


def of_classes(numbers: np.ndarray, state: Any) -> np.ndarray:
    """Return a number for each row and vector without those of "none of these"."""
    return np.ascontiguousarray(numbers[:, :-1]) if state.n_none else numbers
