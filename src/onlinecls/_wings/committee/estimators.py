"""Committees: several learners in one pass, whose scores a small learner combines into one linear score."""

from __future__ import annotations

from collections import Counter
from copy import deepcopy
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

import numpy as np

from ..._algorithm import NARROW, Units
from ..._compiled.model import COSTS
from ..._estimators import saving
from ..._estimators.choice import choose
from ..._estimators.classifier import WithProbabilities
from ..._estimators.learner import OnlineLearner
from ..._estimators.parameters import estimator
from ..._estimators.regressor import OnlineRegressor
from ..._estimators.weights import WithWeights
from ..._input import validate
from ..._models.state import read_only
from ..._models.states import STATES
from ..._registry import ALGORITHMS, ESTIMATORS, estimator_class, select
from ..._saving import numbered, of_number, require
from .states import CommitteeParams, CommitteeState

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..._algorithm import Algorithm
    from ..._input.types import ClassWeight, FloatType, RandomState

    Members = Literal["auto"] | list[Any]

_COMMON = ("n_features_in_", "n_iter_", "feature_names_in_")  # attributes that members share with the committee


class Automatic(NamedTuple):
    """A member that a committee chooses automatically. factors : its numbers in units of their defaults."""

    name: str
    estimator: str
    parameters: dict[str, Any]
    factors: dict[str, float]

    def made(self, units: Units, fit_intercept: bool) -> Any:
        learner = estimator_class(self.estimator)(**self.parameters, fit_intercept=fit_intercept)
        defaults = select(type(learner), learner.get_params()).units
        for name, factor in self.factors.items() if units.scale else ():
            setattr(learner, name, defaults[name]._replace(number=factor).value(units))
        return learner


def _arow(task: str, name: str, slow: float = 2.0, **more: Any) -> Automatic:
    """Return an AROW, with a full covariance or forgetting if its name has the word; r is 0.1, `slow` if it has that word."""
    full = {"covariance": "full"} if "full" in name else {}
    forgetting = {"forgetting": 0.01 if "fast" in name else 0.001} if "forgetting" in name else {}
    return Automatic(name, f"AROW{task.capitalize()}", {**full, **forgetting, **more}, {"r": slow if "slow" in name else 0.1})


_ADAGRAD = Automatic("adagrad", "AdaGradClassifier", {"update": "dual_averaging"}, {})
_WIDE = ("arow", "arow-slow", "arow-forgetting")
_JOINT: dict[str, Any] = {"multi_class": "crammer_singer"}  # (which errs less than one against the rest where features are few)

#: The automatic members, of classes and of numbers, for wide rows and for those of at most NARROW features (docs/committee.md).
AUTOMATIC = {
    ("classifier", False): (*(_arow("classifier", name) for name in _WIDE), _ADAGRAD),
    ("classifier", True): (
        Automatic("scw", "SCWClassifier", _JOINT, {}),
        *(_arow("classifier", f"arow-full-{name}", **_JOINT) for name in ("slow", "forgetting", "forgetting-fast")),
    ),
    ("regressor", False): tuple(_arow("regressor", name, 1.0) for name in _WIDE),
    ("regressor", True): tuple(_arow("regressor", name) for name in ("arow-full", "arow-full-forgetting")),
}


def named_members(members: list[Any]) -> list[tuple[str, Any]]:
    """Return (name, learner) of each member; one without a name is named after its class, as in scikit-learn's make_union."""
    found = [each if isinstance(each, tuple) and len(each) == 2 else (type(each).__name__.lower(), each) for each in members]
    counts, numbers = Counter(name for name, _ in found), Counter[str]()
    for at, (name, learner) in enumerate(found):
        if counts[name] > 1 and members[at] is learner:
            numbers[name] += 1
            found[at] = f"{name}-{numbers[name]}", learner
    return found


@dataclass(init=False, eq=False, repr=False)
class _Committee(WithWeights):
    """Base of the committees of classifiers and of regressors."""

    members: Members = "auto"
    _: KW_ONLY
    combine: Literal["arow", "hedge"] = "arow"
    r: float = 1.0
    forgetting: float = 0.01
    share: float = 0.0
    fit_intercept: bool = True
    max_iter: int = 1
    shuffle: bool = True
    random_state: RandomState = None
    warm_start: bool = False
    verbose: int = 0
    dtype: FloatType | None = None

    if not TYPE_CHECKING:  # (the base has them as parameters)
        average = early_stopping = False  # (not parameters, like the next ones)
        tol, intercept_scaling = None, "auto"
    _kind = "members, of combine, of share, of probability or of dtype"

    # --- parameters ----------------------------------------------------------------------------------------------------------

    def _named(self) -> list[tuple[str, Any]]:
        """Return (name, learner) of the members in the list; an empty list if they are chosen automatically."""
        return named_members(self.members) if isinstance(self.members, (list, tuple)) else []

    def _nested(self) -> dict[str, Any]:
        return dict(self._named())

    def _set_nested(self, named: dict[str, Any]) -> None:
        """Replace members in a new list, so that nothing computed from the old one is used."""
        self.members = [(each[0], named[each[0]]) if isinstance(each, tuple) else named[name]
                        for each, (name, _) in zip(self.members, self._named(), strict=True)]

    def _params_of(self, algorithm: Algorithm, values: dict, units: Units) -> CommitteeParams:
        """Return the committee's parameters with those of its members, after checking these."""
        width, own = self._width, []
        team = self._team(units, width <= NARROW)
        for name, member in team:
            member._know_width(width)
            try:
                own.append(choose(member, units).params)
            except ValueError as error:
                problem = f"member {name!r} must have parameters in their ranges: {error}"
                raise ValueError(f"{type(self).__name__}: {problem}") from None
        return CommitteeParams(
            team=tuple(member for _, member in team), names=tuple(name for name, _ in team), members=tuple(own),
            kinds=tuple(STATES[each.model] for each in own), hedges=self.combine == "hedge", r=float(self.r),
            forgetting=float(self.forgetting), share=float(self.share), probability=int(values.get("probability", False)),
            multi_class=getattr(team[0][1], "multi_class", None), is_regression=self._estimator_type == "regressor",
            level=int(self._estimator_type == "regressor" and bool(self.fit_intercept)),
            costs=COSTS["weight" if self.combine == "hedge" else algorithm.costs],
        )

    def _team(self, units: Units, is_narrow: bool) -> list[tuple[str, Any]]:
        """Return new members by name, after checking the list and each member of it."""
        who, members = type(self).__name__, self.members
        if isinstance(members, str) and members == "auto":
            kinds = AUTOMATIC[self._estimator_type, is_narrow]
            team = [(kind.name, kind.made(units, bool(self.fit_intercept))) for kind in kinds]
        else:
            if not isinstance(members, (list, tuple)) or not members:
                raise ValueError(
                    f"{who}: members must be 'auto' or a list of learners, or of (name, learner) pairs, got members={members!r}."
                )
            named = self._named()
            self._check_names(named)
            for name, learner in named:
                self._check_member(name, learner)
            team = [(name, type(learner)(**deepcopy(learner.get_params(deep=False)))) for name, learner in named]
            for _, member in team if not self.fit_intercept else ():
                member.fit_intercept = False
        for _, member in team if self._estimator_type == "classifier" else ():
            member.class_weight = getattr(self, "class_weight", None)
        forms = {getattr(member, "multi_class", None): name for name, member in team}
        if len(forms) > 1:
            raise ValueError(
                f"{who}: members must be of the same multi_class, got " + " and ".join(
                    f"multi_class={form!r} of {name!r}" for form, name in forms.items()) + ". Set one for all."
            )
        return team

    def _check_names(self, named: list[tuple[str, Any]]) -> None:
        who, own = type(self).__name__, self._parameter_names()
        for name, _ in named:
            if not isinstance(name, str) or "__" in name or "." in name or name in own or [n for n, _ in named].count(name) > 1:
                raise ValueError(
                    f"{who}: members must have different names, each a text without '__' and '.' that is not a parameter's, "
                    f"got {name!r} among {[each for each, _ in named]!r}."
                )

    def _check_member(self, name: str, learner: Any) -> None:
        """Raise a ValueError with the reason if this learner cannot be a member."""
        who, kind = type(self).__name__, type(learner)
        task = "labels" if self._estimator_type == "classifier" else "numbers"
        rows = [row for row in ALGORITHMS.values() if row.estimator == kind.__name__ and saving.is_saved(learner)]
        problem, weight = "", getattr(learner, "class_weight", None)
        weighs = weight is not None and weight is not getattr(self, "class_weight", None)
        if not rows or isinstance(learner, type):
            problem = "which is not one"
        elif learner._estimator_type != self._estimator_type:
            problem = f"which does not learn {task}"
        elif "experts" in rows[0].tasks:
            problem = "whose rows are advice in [0, 1]"
        elif kind._read_rows is not OnlineLearner._read_rows and not learner.signed:
            problem = "which takes no rows below 0 with signed=False"
        elif getattr(learner, "probability", False) or learner.dtype is not None or weighs:
            problem = "whose probability, dtype and class_weight must be left to the committee"
        if problem:
            raise ValueError(
                f"{who}: members must be linear learners of onlinecls that learn {task} from any rows, got {name!r}, "
                f"{validate.brief(learner)}, {problem}. Leave it out, or give another learner."
            )

    def _awaits_scale(self) -> bool:
        return self.members == "auto" or any(member._awaits_scale() for _, member in self._named())

    def _measures_targets(self) -> bool | None:
        found = {member._measures_targets() for member in choose(self, self._units).params.team} - {None}
        return any(found) if found else None

    def _mounted(self, state: CommitteeState) -> list[Any]:
        """Return learners with the members' present models, which share the arrays."""
        mine, found = self.__dict__, list[Any]()
        part: Any
        for member, own, part in zip(state.params.team, state.params.members, state.members, strict=True):
            learner = member._sharing()
            learner._state = part.sharing(**{**state.learnt_with(), "params": own, "youth": None, "sparse_coef": None})
            learner.__dict__.update({name: mine[name] for name in _COMMON if name in mine})
            found.append(learner)
        return found

    # --- fitted attributes ---------------------------------------------------------------------------------------------------

    @property
    def members_(self) -> list[Any]:
        """The members, each as if it had learnt alone, to read: one that learns on does so on its own copy."""
        found = self._mounted(self._fitted_state())
        for learner in found:
            parts = learner._state.parts().items()
            views = {name: read_only(part.view()) for name, part in parts if isinstance(part, np.ndarray)}
            learner._state, learner._lock = learner._state.sharing(**views), self._own_lock()
        return found

    @property
    def member_names_(self) -> list[str]:
        """The members' names, in the order of `members_`."""
        return list(self._fitted_state().params.names)

    @property
    def member_weights_(self) -> NDArray[np.float64]:
        """The weight of each member's score in the committee's, (n_members,): a copy."""
        return self._fitted_state().shares.copy()

    @property
    def member_losses_(self) -> list[float]:
        """With combine="hedge": the sum of each member's losses, and of their weighted means, (n_members + 1)."""
        state = self._fitted_state()
        if not state.params.hedges:
            raise AttributeError(
                f"{type(self).__name__}: member_losses_ must be of a model learnt with combine='hedge', got one learnt with "
                "combine='arow'. Call fit with combine='hedge'."
            )
        return state.losses.tolist()

    # --- files ---------------------------------------------------------------------------------------------------------------

    def _described(self, metadata: dict) -> tuple[dict, dict[str, np.ndarray]]:
        state = self._fitted_state()
        own: dict[str, Any] = {name: value for name, value in self._parameters().items() if name != "members"}
        given: Any = self.members
        if not isinstance(given, str):
            given = [
                [None if each is learner else name, type(learner).__name__,
                 saving.packed_parameters(type(learner).__name__, learner.get_params())]
                for each, (name, learner) in zip(given, self._named(), strict=True)
            ]
        headers, arrays = zip(*(member._described({}) for member in self.members_), strict=True)
        return saving.head_of(
            self, own, metadata, members=given, models=list(headers), names=list(self._state.params.names), width=self._width,
            young=state.youth is not None, sparse=state.sparse_coef is not None,
        ), {**state.own_parts(), **numbered(arrays), **saving.youth_arrays(state)}

    @classmethod
    def _rebuilt(cls, header: dict, arrays: dict[str, np.ndarray]) -> Self:
        who, given = cls.__name__, header["members"]
        if given != "auto":
            require(type(given) is list and bool(given), "'auto' or a list of members", given)
            given = [cls._member_in(*each) for each in given]
        learner = cls(**saving.read_parameters(cls, {"members": None, **header["parameters"]}))
        learner.members = given
        models, width, names = header["models"], header["width"], header["names"]
        learner._width = width
        young = saving.youth_in(header, arrays)
        team: list[Any] = []
        for at, model in enumerate(models):
            require(model["estimator"] != who, "a linear learner as a member", who)
            member = saving.rebuilt(model, of_number(at, arrays))
            plain: Any = type(member)(**member.get_params())
            plain.class_weight = None  # (the committee's is used)
            learner._check_member(str(at), plain)
            team.append(member)
        first = team[0]
        for member in team:
            same = (*_COMMON, "classes_", "_units", "multi_class")
            alike = all(str(getattr(member, name, None)) == str(getattr(first, name, None)) for name in same)
            require(alike, "members of one stream", repr(member))
        compiled = choose(learner, first._units).params
        fit = type(names) is list and len(names) == len(team) and all(isinstance(name, str) for name in names)
        require(fit and width == first.n_features_in_, "names of the members, and their width", names)
        learnt = compiled._replace(
            team=tuple(type(member)(**member.get_params()) for member in team), names=tuple(names),
            members=tuple(member._state.params for member in team), kinds=tuple(type(member._state) for member in team),
            open_classes=first._state.params.open_classes, balanced=first._state.params.balanced,
            limit=float(np.finfo(first._state.dtype).max) / 4,
        )
        state = CommitteeState.of_members([m._state for m in team], arrays, learnt)
        state.classes, state.is_open, state.units = first._state.classes, first._state.is_open, first._units
        learner.__dict__.update({name: first.__dict__[name] for name in _COMMON if name in first.__dict__})
        learner._state = state
        learner._take_youth(young)
        return learner.sparsify() if header["sparse"] else learner

    @staticmethod
    def _member_in(name: str | None, kind: str, parameters: dict) -> Any:
        require(isinstance(kind, str) and kind in ESTIMATORS, "an estimator as a member", kind)
        cls: Any = estimator_class(kind)
        learner = cls(**saving.read_parameters(cls, parameters))
        return learner if name is None else (name, learner)


@estimator
class CommitteeClassifier(_Committee, WithProbabilities):
    """A committee of linear learners in one pass: on average better than the best of them, with nothing to choose.

    Member k gives a row the score s_k before learning it. The committee's score is Σ w_k s_k, so that it is linear, too. An AROW
    with a full covariance over the members' scores learns weights a: for two classes with z = (s_1 .. s_K) and y = -1 or 1,
    for more with z the scores of the true class less those of the best wrong one, and y = 1; m = y a.z, u = Σz, v = z.u, c the
    row's weight: before each row Σ <- Σ/(1 - λ), scaled back where its trace passes K, and if m < 1

        a += y (1 - m) / (v + r/c) u,     Σ -= u u' / (v + r/c),       a = (1/K, ..), Σ = I at the start.

    λ is `forgetting` times the rarest class's share of the rows so far, times the number of classes: if a class is rare, its rows
    alone count. Then w weighs the score a.z and those of the members by their mistakes, so that a member is followed that
    errs less than a:

        w = p_0 a + (p_1 .. p_K),   p_k ~ exp(-η_t L_k),   p_0 ~ K exp(-η_t L_0),   η_t = √(8 ln(K+1) / t) / max c,

    with L_k the sum of c over the rows on which member k's margin was not positive, L_0 over those of a. At last every member
    learns the row, by its own rule, as if it were alone.

    A rare class is a matter of ranks, of which mistakes tell little. While one of two classes has a share π of the rows below
    5 %, w becomes φ w + (1 - φ) v/Σv, φ = [40π - 1]+, with v >= 0 the weights of Fisher's discriminant [4]_ of the scores, none
    below 0 as in [5]_: those of the most N v.(μ_1 - μ_0) - v'(S + rI)v/2, by one sweep of coordinate ascent a row of the rare
    class; μ_y the mean scores of a class, S their scatter about these, over the N rows of that time; rows are forgotten at the
    rate λ.

    Parameters
    ----------
    members : "auto", or list of classifiers or of (name, classifier) pairs, default="auto"
        Linear classifiers of this library, of one `multi_class`; clones of them learn. Their `class_weight`, `probability` and
        `dtype` are those of the committee; their parameters of `fit` are ignored. "auto": AROW at two r, one that forgets, and
        AdaGrad (dual averaging); with at most 300 features SCW, and AROW with a full covariance at the larger r and at two rates
        of forgetting, which learn several classes jointly (``multi_class="crammer_singer"``).
    combine : {"arow", "hedge"}, default="arow"
        "hedge": w_k ~ exp(-η_t L_k), with L_k the sum of the member's clipped hinge losses, min(1, [1 - m_k]+), and
        η_t = √(8 ln K / t): the mean of the losses by these weights is at most the best member's + √(2 T ln K) + √(ln K / 8).
    r : float, default=1.0
        arow: noise variance of a row, > 0. Scores have no unit.
    share : float, default=0.0
        hedge: in [0, 1). Above 0, "fixed share" [3]_: w <- (1 - share) v + share/K with v_k ~ w_k exp(-η_t c l_k), l_k the
        member's loss, so that no weight is below share/K and the weights follow members that take turns at being best.
    forgetting : float, default=0.01
        arow: in [0, 0.1]: rows older than about 1/forgetting count little in a, if all classes have as many rows.
    fit_intercept : bool, default=True
        False: no member has an intercept. True: those of a list have their own choice.
    max_iter : int, default=1
        Epochs of `fit`, >= 1; the weights are learnt in the first, from rows that the members have not learnt yet.
    {parameters}

    Attributes
    ----------
    members_ : list of classifiers
        The members, each as if it had learnt alone.
    member_names_ : list of str
    member_weights_ : ndarray of shape (n_members,)
        The weights w.
    member_mistakes_ : ndarray of shape (n_members,)
        Mistakes of each member's `predict`, called just before each row.
    {attributes}

    Raises
    ------
    {raises}

    See Also
    --------
    CommitteeRegressor : A committee for numbers.
    HedgeClassifier : Weigh experts whose predictions are given, as features.

    References
    ----------
    .. [1] K. Crammer, A. Kulesza, M. Dredze. Adaptive Regularization of Weight Vectors. NIPS 2009.
    .. [2] N. Cesa-Bianchi, G. Lugosi. Prediction, Learning, and Games. Cambridge 2006, Theorem 2.3 (hedge).
    .. [3] M. Herbster, M. Warmuth. Tracking the Best Expert. Machine Learning 32, 1998 (share).
    .. [4] R. A. Fisher. The Use of Multiple Measurements in Taxonomic Problems. Annals of Eugenics 7, 1936.
    .. [5] L. Breiman. Stacked Regressions. Machine Learning 24, 1996.

    Examples
    --------
    >>> from onlinecls import CommitteeClassifier
    >>> learner = CommitteeClassifier().partial_fit([[0.0, 1.0], [1.0, 0.0], [0.0, 2.0]], [1, 0, 1], classes=[0, 1])
    >>> learner.predict([[0.0, 3.0]]).tolist(), learner.member_mistakes_.tolist()
    ([1], [2, 2, 2, 2])
    """

    _: KW_ONLY
    probability: bool = False
    class_weight: ClassWeight = None

    def _task(self, state: Any, class_weights: np.ndarray) -> tuple[str, bool, bool]:
        balanced = validate.is_balanced(self.class_weight) and len(class_weights) == 0
        return "binary" if state.n_columns == 1 else self._choice.params.multi_class, state.is_open, balanced

    @property
    def member_mistakes_(self) -> NDArray[np.int64]:
        """Rounds on which each member's `predict`, called just before the update, would have been wrong, (n_members,)."""
        return np.array([member.count("mistakes") for member in self._fitted_state().members], np.int64)


@estimator
class CommitteeRegressor(_Committee, OnlineRegressor):
    """A committee of linear regressors in one pass: on average about as good as the best of them, with nothing to choose.

    Member k predicts s_k for a row before learning it. The committee predicts m + Σ a_k (s_k - m), so that it is linear, too.
    Least squares with a full covariance over the members' predictions learn the weights a: with m the weighted mean of the
    targets before the row (older ones forgotten; 0 without an intercept), d = y - m, z = (s_1 - m .. s_K - m) / h, h the power
    of two nearest to the median |d| of the first 16 rows, u = Σz, v = z.u, c the row's weight, on every row first
    Σ <- Σ/(1 - forgetting), scaled back where its trace passes K, then

        a += (d/h - a.z) / (v + r/c) u,     Σ -= u u' / (v + r/c),       a = (1/K, ..), Σ = I at the start.

    Then every member learns the row, by its own rule, as if it were alone.

    Parameters
    ----------
    members : "auto", or list of regressors or of (name, regressor) pairs, default="auto"
        Linear regressors of this library; clones of them learn. Their `dtype` is that of the committee; their parameters of `fit`
        are ignored. "auto": AROW at two r and one that forgets; with at most 300 features AROW with a full covariance,
        with and without forgetting.
    combine : {"arow", "hedge"}, default="arow"
        "hedge": a_k ~ exp(-η_t L_k), with L_k the sum of the member's losses min(1, |y - s_k| / h), and η_t = √(8 ln K / t).
    r : float, default=1.0
        arow: noise variance of a row, > 0, in units of h².
    share : float, default=0.0
        hedge: in [0, 1): the part of the weights that is divided equally among the members after each row.
    forgetting : float, default=0.01
        arow: in [0, 0.1]: rows older than about 1/forgetting count little in the weights.
    fit_intercept : bool, default=True
        False: no member has an intercept. True: those of a list have their own choice.
    max_iter : int, default=1
        Epochs of `fit`, >= 1; the weights are learnt in the first, from rows that the members have not learnt yet.
    {parameters}

    Attributes
    ----------
    members_ : list of regressors
        The members, each as if it had learnt alone.
    member_names_ : list of str
    member_weights_ : ndarray of shape (n_members,)
        The weights a.
    {attributes}

    Raises
    ------
    {raises}

    See Also
    --------
    CommitteeClassifier : A committee for labels.
    AROWRegressor : A single learner that is often enough.

    Examples
    --------
    >>> from onlinecls import CommitteeRegressor
    >>> learner = CommitteeRegressor().partial_fit([[0.0, 1.0], [1.0, 0.0]] * 100, [2.0, -1.0] * 100)
    >>> learner.predict([[0.0, 1.0]]).round(1).tolist()
    [2.0]
    """
