"""A committee: four learners in one pass, whose scores are added."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._estimators.choice import choose
from ..._estimators.classifier import WithProbabilities
from ..._estimators.parameters import estimator
from ..._registry import estimator_class
from .states import CommitteeParams

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..._algorithm import Algorithm
    from ..._input.types import ClassWeight, FloatOrAuto, FloatType, Matrix, RandomState

_MEMBERS = ("AROWClassifier", "NAROWClassifier", "FTRLClassifier", "PassiveAggressiveClassifier")
_COMMON = ("n_features_in_", "n_iter_", "feature_names_in_")  # attributes that members share with the committee


@estimator
class CommitteeClassifier(WithProbabilities):
    """A committee of AROW, NAROW, FTRL-proximal and PA in one pass, with nothing to choose.

    Each member learns every row as if it were alone. Their scores s_k are added:

        score = Σ_k a_k s_k,     a_k = (m_0 / m_k)^16 / rms_k

    with m_k = 1 + the mistakes of member k so far, m_0 the least of them, and rms_k the root mean square of its scores so far,
    each from before its row was learnt (of several classes, those of all classes; in `fit`, of the first epoch). A member that
    errs twice as often as the best counts for nothing. The committee is linear at any time. Where ranks of a rare class matter,
    take AROW.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    members_ : list of classifiers
        The members, each as if it had learnt alone: a copy to read.
    member_weights_ : ndarray of shape (4,)
        The weights a.
    member_mistakes_ : ndarray of shape (4,)
        Rows so far whose class had not the highest score of each member alone, before the member learnt the row.
    {attributes}

    Raises
    ------
    {raises}

    Examples
    --------
    >>> from onlinecls import CommitteeClassifier
    >>> learner = CommitteeClassifier().partial_fit([[0.0, 1.0], [1.0, 0.0], [0.0, 2.0]], [1, 0, 1], classes=[0, 1])
    >>> learner.predict([[0.0, 3.0]]).tolist(), learner.member_mistakes_.tolist()
    ([1], [2, 2, 2, 2])
    """

    _: KW_ONLY
    fit_intercept: bool = True
    max_iter: int = 5
    scale: FloatOrAuto = "auto"
    shuffle: bool = True
    random_state: RandomState = None
    warm_start: bool = False
    verbose: int = 0
    dtype: FloatType | None = None
    probability: bool = False
    class_weight: ClassWeight = None

    if not TYPE_CHECKING:  # (the base has them as parameters)
        average = early_stopping = False  # (not parameters, like the next ones)
        tol, intercept_scaling, multi_class = None, "auto", "ovr"

    # --- parameters ----------------------------------------------------------------------------------------------------------

    def _team(self) -> list[Any]:
        """Return new learners like the members."""
        shared = {"scale": self.scale, "fit_intercept": self.fit_intercept, "class_weight": self.class_weight}
        return [estimator_class(name)(**shared, max_iter=self.max_iter) for name in _MEMBERS]

    def _params_of(self, algorithm: Algorithm, values: dict) -> CommitteeParams:
        members = tuple(choose(member).params for member in self._team())
        return CommitteeParams.of_members(members, values)

    def _decide(self, X: Matrix) -> tuple[np.ndarray, Any]:
        with self._own_lock().waiting():  # (the members have learnt the same rows)
            return super()._decide(X)

    # --- fitted attributes ---------------------------------------------------------------------------------------------------

    @property
    def members_(self) -> list[Any]:
        """The members, each as if it had learnt alone: copies."""
        found = self._team()
        with self._own_lock().waiting():
            state = self._fitted_state()
            for learner, (part, own) in zip(found, state.each(state.params), strict=True):
                learner._state = part.sharing(**{**state.learnt_with(), "params": own, "given": {}, "sparse_coef": None}).copy()
                learner.__dict__.update({name: self.__dict__[name] for name in _COMMON if name in self.__dict__})
        return found

    @property
    def member_weights_(self) -> NDArray[np.float64]:
        """The weight of each member's score in the committee's, (4,)."""
        return self._fitted_state().shares

    @property
    def member_mistakes_(self) -> NDArray[np.int64]:
        """Rounds on which each member's highest score was not that of the row's class alone, before the update, (4,)."""
        return self._fitted_state().tally[:, 0].astype(np.int64)
