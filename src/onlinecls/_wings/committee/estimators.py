"""A committee: four learners in one pass, whose scores are added (see combine.pyx)."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ..._estimators.parameters import estimator
from ..._estimators.tasks import WithProbabilities
from ..._files import numbered, of_number, require, require_layout
from ..._models import COMMON, STATES, Array, State, read_only
from ..._registry import Params, public
from .combine import CommitteeModel

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    from ..._input.types import ClassWeight, FloatOrAuto, FloatType, Matrix, RandomState
    from ..._registry import Algorithm
    from ..._rows import Rows

_MEMBERS = ("AROWClassifier", "NAROWClassifier", "FTRLClassifier", "PassiveAggressiveClassifier")
_FAR = 1e300  # products of weights and scores beyond this count as this, so that their sum is finite


class CommitteeParams(Params):
    """The parameters of a committee's pass: those of its members."""

    model = "committee"

    def of_pass(self, state: CommitteeState, is_open: bool, balanced: bool) -> Self:
        members = tuple(own.of_pass(its, is_open, balanced) for its, own in zip(state.members, self.members, strict=True))
        return self._replace(members=members, open_classes=int(is_open), balanced=int(balanced))


class CommitteeState(State, CommitteeModel):
    """members : models, each with its own counters, as if it were alone. values : the first one's; all have the same dtype."""

    ARRAYS = {**COMMON, "tally": Array((len(_MEMBERS), 3), least=0.0, most=1e200)}
    SCALARS = ("members",)
    SLOTS = ()
    geometry = "committee"
    scale = property(lambda self: self.members[0].scale)
    constant = property(lambda self: self.members[0].constant)

    def __init__(self, n_features: int, n_classes: int, dtype: DTypeLike, params: CommitteeParams):
        self.members = tuple(STATES[own.model](n_features, n_classes, dtype, own) for own in params.members)
        super().__init__(n_features, n_classes, dtype, params)

    def __setstate__(self, parts: dict) -> None:
        super().__setstate__(parts)
        first = self.members[0]
        self.values, self.n_features, self.n_columns = first.values, first.n_features, first.n_columns

    @classmethod
    def n_bytes(cls, params: CommitteeParams, n_features: int, n_classes: int, dtype: DTypeLike) -> int:
        return sum(STATES[own.model].n_bytes(own, n_features, n_classes, dtype) for own in params.members)

    def tell_scale(self, rows: Rows, numbers: np.ndarray) -> None:
        for each in self.members:
            each.tell_scale(rows, numbers)

    def count_rows(self, numbers: np.ndarray, rows: Rows | None = None) -> None:
        for each in self.members:
            each.count_rows(numbers, rows)
        super().count_rows(numbers)
        self.tally[:, 0] = self.count("mistakes")

    def weights_of(self, features: slice) -> np.ndarray:
        """Return the combined weights Σ a_k w_k."""
        weights = (member.weights_of(features).astype(np.float64) for member in self.members)
        total = sum(np.clip(share * each, -_FAR, _FAR) for share, each in zip(self.shares, weights, strict=True))
        return read_only(np.clip(total, -self.largest, self.largest).astype(self.dtype))

    # --- copies, classes and files -------------------------------------------------------------------------------------------

    def copy(self) -> Self:
        return super().copy().sharing(members=tuple(member.copy() for member in self.members))

    def arrays(self) -> list[np.ndarray]:
        return [*super().arrays(), *(array for member in self.members for array in member.arrays())]

    def grow_classes(self, places: np.ndarray, n_classes: int, params: CommitteeParams) -> Self:
        for member in self.members:
            member.is_open = self.is_open
        members = (member.grow_classes(places, n_classes, member.params) for member in self.members)
        return super().grow_classes(places, n_classes, params).sharing(members=tuple(members))

    def keep_classes(self, keep: np.ndarray, n_none: int | None = None) -> Self:
        members = tuple(member.keep_classes(keep, n_none) for member in self.members)
        return super().keep_classes(keep, n_none).sharing(members=members)

    def in_file(self) -> dict:
        """Return the committee's own parts, and those of member i as "i.name"."""
        own = super().in_file()
        return {**numbered(member.in_file() for member in own.pop("members")), **own}

    @classmethod
    def of_file(cls, header: dict, arrays: dict, n_classes: int, params: CommitteeParams, **sizes: int) -> Self:
        members = [own._replace(open_classes=params.open_classes) for own in params.members]
        found = tuple(STATES[own.model].of_file(of_number(at, header), of_number(at, arrays), n_classes, own)
                      for at, own in enumerate(members))
        alike, first = {(each.n_features, each.n_columns, each.dtype) for each in found}, found[0]
        require(len(alike) == 1 and not header, "members of the same features and dtype", alike)
        require_layout(arrays, cls.layout(first.dtype, first.n_features, n_classes, params, first.n_none))
        state = cls.of({**arrays, "params": params, "members": found})
        state.check()
        return state


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
    {shared}

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
        average, tol, intercept_scaling, multi_class = False, None, "auto", "ovr"

    # --- parameters ----------------------------------------------------------------------------------------------------------

    def _team(self) -> list[Any]:
        """Return new learners like the members."""
        shared = {"scale": self.scale, "fit_intercept": self.fit_intercept, "class_weight": self.class_weight}
        return [public(name)(**shared, max_iter=self.max_iter) for name in _MEMBERS]

    def _params_of(self, algorithm: Algorithm, values: dict) -> CommitteeParams:
        members = tuple(member._choose() for member in self._team())
        return CommitteeParams(scale=members[0].scale, probability=int(values["probability"]), members=members)

    def _decide(self, X: Matrix) -> tuple[np.ndarray, Any]:
        with self._own_lock().waiting():  # (the members have learnt the same rows)
            return super()._decide(X)

    # --- fitted attributes ---------------------------------------------------------------------------------------------------

    @property
    def members_(self) -> list[Any]:
        """The members, each as if it had learnt alone: copies."""
        found = self._team()
        with self._own_lock().waiting():
            state, own = self._fitted_state(), ("n_features_in_", "n_iter_", "feature_names_in_")
            for learner, member in zip(found, state.members, strict=True):
                learner._state = member.sharing(classes=state.classes, is_open=state.is_open).copy()
                learner.__dict__.update({name: value for name, value in self.__dict__.items() if name in own})
        return found

    @property
    def member_weights_(self) -> NDArray[np.float64]:
        """The weights a of the members' scores, (4,)."""
        return self._fitted_state().shares

    @property
    def member_mistakes_(self) -> NDArray[np.int64]:
        """Rounds on which each member's highest score was not that of the row's class alone, before the update, (4,)."""
        return self._fitted_state().tally[:, 0].astype(np.int64)
