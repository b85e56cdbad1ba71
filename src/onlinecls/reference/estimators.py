"""Estimators with scikit-learn's interface around the slow learners."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from .._estimators.estimator import Estimator, exclusive
from .._input import validate
from .._input.compat import not_fitted, random_state
from .learners import GEOMETRIES, Model
from .potential import LOSSES, REGRESSION_LOSSES, LeaderLearner, PotentialLearner, SquaredNorm, insensitive
from .rules import RULES, Step

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from .._input.types import Matrix, RandomState
    from .rules import Stats


@dataclass(init=False, eq=False, repr=False, kw_only=True)
class _Slow(Estimator):
    """Base of the slow estimators: reads rows as dense float64."""

    fit_intercept: bool = True
    intercept_scaling: float = 1.0
    _model: Any = field(init=False)

    def _make(self) -> Callable[[int], Any]:
        """Return a function from the dimension d to a Learner."""
        raise NotImplementedError

    def _read(self, X: Matrix, first: bool) -> np.ndarray:
        rows = validate.read_rows(type(self).__name__, X, np.float64)
        if not first:
            self._check_features(X, rows.n_features)
        matrix = rows.array()
        dense = np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix, dtype=np.float64)
        if self.fit_intercept:
            dense = np.column_stack([dense, np.full(len(dense), float(self.intercept_scaling))])
        return dense

    def _fitted(self) -> Any:
        if "_model" not in self.__dict__:
            raise not_fitted(type(self).__name__)
        return self._model

    def _passes(self, n_rows: int) -> list[np.ndarray]:
        """Return the order of the rows in each pass of `fit`."""
        return [np.arange(n_rows)]

    def _begin(self, rows: np.ndarray, y: ArrayLike, classes: Any, first: bool) -> tuple[np.ndarray, dict]:
        """Return the targets as numbers, and the attributes of a new or continued model."""
        raise NotImplementedError

    def fit(self, X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from scratch, in `max_iter` passes where the estimator has it."""
        return self._learn(X, y, None, sample_weight, True)

    @exclusive
    def _learn(self, X: Matrix, y: ArrayLike, classes: Any, sample_weight: ArrayLike | None, anew: bool) -> Self:
        first = anew or "_model" not in self.__dict__
        rows = self._read(X, first)
        weights = validate.read_weights(type(self).__name__, sample_weight, len(rows))
        weights = weights if len(weights) else np.ones(len(rows))
        targets, found = self._begin(rows, y, classes, first)
        self.__dict__.update(found, n_features_in_=rows.shape[1] - bool(self.fit_intercept))
        for order in self._passes(len(rows)) if anew else [range(len(rows))]:
            for i in order:
                if weights[i] > 0.0:
                    self._model.consume(rows[i], targets[i].item(), float(weights[i]))
        return self

    @property
    def t_(self) -> int:
        """Number of rows of weight > 0 so far."""
        return self._fitted().t

    @property
    def n_updates_(self) -> int:
        """Number of rows that changed the model."""
        return self._fitted().n_updates


@dataclass(init=False, eq=False, repr=False, kw_only=True)
class _Passes(_Slow):
    max_iter: int = 1
    shuffle: bool = True
    random_state: RandomState = None

    def _passes(self, n_rows: int) -> list[np.ndarray]:
        generator: Any = random_state(type(self).__name__, self.random_state)
        return [generator.permutation(n_rows) if self.shuffle else np.arange(n_rows) for _ in range(self.max_iter)]


class _Checked:
    """A user's rule, whose result is refused unless it is a finite step. (Infinite steps of the library's rules are skipped.)"""

    def __init__(self, rule: Callable[..., Step]) -> None:
        self.rule = rule

    def __call__(self, stats: Stats, **params: Any) -> Step:
        step, name = self.rule(stats, **params), getattr(self.rule, "__name__", repr(self.rule))
        if not isinstance(step, Step):
            raise TypeError(f"onlinecls.reference: the rule {name} must return a Step(tau, beta), got {step!r} for {stats}.")
        try:
            finite = isfinite(step.tau) and isfinite(step.beta)
        except (TypeError, OverflowError):
            finite = False
        if not finite:
            raise ValueError(
                f"onlinecls.reference: the rule {name} must return a step of finite numbers, got {step} for {stats}. Return "
                "Step() where there is nothing to learn."
            )
        return step


class _SlowClassifier(_Slow):
    """Base of the slow classifiers. All classes are known at the first call, given or from its rows."""

    _estimator_type = "classifier"
    _is_binary = False  # True if a third class is refused
    classes_: NDArray[Any]
    multi_class: str

    def partial_fit(
        self, X: Matrix, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from rows in the given order, in one pass. classes : all classes, at the first call; by default those of y."""
        return self._learn(X, y, classes, sample_weight, False)

    def _begin(self, rows: np.ndarray, y: ArrayLike, classes: Any, first: bool) -> tuple[np.ndarray, dict]:
        who, labels = type(self).__name__, validate.read_labels(type(self).__name__, y, len(rows))
        known = self.classes_ if not first else np.unique(labels) if classes is None else validate.read_classes(who, classes)
        if len(known) < 2:
            raise ValueError(f"{who}: y must have at least 2 classes, got {known.tolist()}. Give them all by classes.")
        if len(known) > 2 and self._is_binary:
            raise ValueError(f"{who}: Only binary classification is supported: got {len(known)} classes.")
        multi_class = getattr(self, "multi_class", "crammer_singer")
        model = Model(self._make(), rows.shape[1], len(known), multi_class) if first else self._model
        return validate.encode_known(who, labels, known), {"_model": model, "classes_": known}

    @property
    def coef_(self) -> NDArray[np.float64]:
        """Weights, one row for each class, or one row for two classes."""
        W = self._fitted().W
        return W[:, : self.n_features_in_]

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """Weight of the constant feature times its value."""
        W = self._fitted().W
        return W[:, -1] * self.intercept_scaling if self.fit_intercept else np.zeros(len(W))

    @property
    def covariance_(self) -> NDArray[np.float64]:
        """Covariance Σ of the features' weights."""
        Sigma, d = self._fitted().Sigma, self.n_features_in_
        if Sigma is None:
            raise AttributeError(f"{type(self).__name__}: the geometry has no covariance.")
        return Sigma[:, :d] if Sigma.ndim == 2 else Sigma[:, :d, :d][slice(None) if len(Sigma) > 1 else 0]

    @property
    def n_mistakes_(self) -> int:
        """Number of rounds on which `predict`, called just before the update, would have been wrong."""
        return self._fitted().n_mistakes

    def decision_function(self, X: Matrix) -> NDArray[np.float64]:
        """Return scores of shape (n_samples,) for two classes, else (n_samples, n_classes)."""
        scores = self._read(X, False) @ self._fitted().W.T
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Matrix) -> NDArray[Any]:
        """Predict the class of each row."""
        scores = self.decision_function(X)
        return self.classes_[scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0.0).astype(np.intp)]

    def score(self, X: Matrix, y: ArrayLike) -> float:
        """Return the mean accuracy."""
        return float(np.mean(self.predict(X) == np.asarray(y)))


class _Counted:
    """Learner of a regressor with its counters."""

    def __init__(self, learner: Any, epsilon: float) -> None:
        self.learners, self.epsilon, self.t, self.n_updates = [learner], epsilon, 0, 0

    def consume(self, x: np.ndarray, y: float, c: float) -> None:
        self.n_updates += self.learners[0].step_towards(x, y, c, self.epsilon)
        self.t += 1
        self.learners[0].t = self.t


class _SlowRegressor(_Slow):
    """Base of the slow regressors."""

    _estimator_type = "regressor"
    epsilon: float = 0.0

    def partial_fit(self, X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from rows in the given order, in one pass."""
        return self._learn(X, y, None, sample_weight, False)

    def _begin(self, rows: np.ndarray, y: ArrayLike, classes: Any, first: bool) -> tuple[np.ndarray, dict]:
        targets = validate.read_targets(type(self).__name__, y, len(rows))
        return targets, {"_model": _Counted(self._make()(rows.shape[1]), self.epsilon) if first else self._model}

    @property
    def coef_(self) -> NDArray[np.float64]:
        """Weights of shape (n_features,)."""
        return self._fitted().learners[0].w[: self.n_features_in_]

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """Weight of the constant feature times its value, shape (1,)."""
        w = self._fitted().learners[0].w
        return w[-1:] * self.intercept_scaling if self.fit_intercept else np.zeros(1)

    def predict(self, X: Matrix) -> NDArray[np.float64]:
        """Predict w.x for each row."""
        return self._read(X, False) @ self._fitted().learners[0].w


@dataclass(init=False, eq=False, repr=False)
class _ByRule(_Passes):
    rule: str | Callable[..., Step]
    params: Mapping[str, Any] | None = None
    _: KW_ONLY
    geometry: Literal["additive", "gaussian", "potential"] = "additive"
    precision: Callable[..., float] | None = None
    covariance: Literal["diagonal", "full"] = "diagonal"
    initial_variance: float = 1.0

    def _make(self) -> Callable[[int], Any]:
        rule, precision = self.rule, self.precision
        geometry: str = self.geometry
        least = 0.0
        if isinstance(rule, str):
            if rule not in RULES:
                raise ValueError(f"onlinecls.reference: rule must be a function or one of {', '.join(RULES)}, got {rule!r}.")
            step, geometry, precision, least = RULES[rule]
        elif callable(rule) and geometry in GEOMETRIES:
            step = _Checked(rule)
        else:
            raise ValueError(
                f"onlinecls.reference: rule must be a function Stats -> Step and geometry one of {', '.join(GEOMETRIES)}, got "
                f"{rule!r} and geometry={geometry!r}."
            )
        own = {"margin": getattr(self, "margin", 1.0), **(self.params or {})}
        if geometry != "additive":
            own.update(covariance=self.covariance, initial_variance=self.initial_variance)
        if geometry == "potential":
            if not callable(precision):
                raise ValueError(
                    f"onlinecls.reference: precision must be a function Stats -> float, got precision={precision!r}."
                )
            own["precision"] = precision
        elif least:
            own["least"] = least
        return partial(GEOMETRIES[geometry], rule=step, **own)


@dataclass(eq=False, repr=False)
class RuleClassifier(_ByRule, _SlowClassifier):
    """Classifier that learns by a given rule, in NumPy, one row at a time.

    Parameters
    ----------
    rule : callable or str
        A function Stats -> Step (with `params` as keyword arguments), or a name of `RULES`, whose geometry is then used too.
    params : dict, default=None
        The rule's own parameters.
    fit_intercept : bool, default=True
    intercept_scaling : float, default=1.0
    max_iter : int, default=1
        Passes of `fit`.
    shuffle : bool, default=True
        Whether `fit` shuffles the rows before each pass.
    random_state : int, RandomState, Generator or None, default=None
    geometry : {"additive", "gaussian", "potential"}, default="additive"
        What a step updates: w += tau z;  w += tau Σz and Σ^-1 += beta z z';  θ += tau z, w = Σθ and Σ^-1 += precision z z'.
    precision : callable, default=None
        "potential" only: function Stats -> float, the row's precision in Σ^-1. The rule then sees the margin m' under the new Σ.
    covariance : {"diagonal", "full"}, default="diagonal"
    initial_variance : float, default=1.0
    multi_class : {"crammer_singer", "ovr"}, default="crammer_singer"
    margin : float, default=1.0
        Margin from which on a row has no loss.

    Attributes
    ----------
    classes_, coef_, intercept_, covariance_, n_features_in_, t_, n_updates_, n_mistakes_
        As in the compiled classifiers; float64.

    See Also
    --------
    RuleRegressor : The same for targets.
    PotentialClassifier : Learn by f, a loss and rates instead.

    Examples
    --------
    >>> from onlinecls.reference import RuleClassifier
    >>> learner = RuleClassifier("arow", {"r": 1.0}, fit_intercept=False).partial_fit([[1.0, 2.0]], [1], classes=[-1, 1])
    >>> learner.coef_.round(9).tolist(), learner.covariance_.tolist()
    ([[0.166666667, 0.333333333]], [[0.5, 0.2]])
    """

    _: KW_ONLY
    multi_class: Literal["crammer_singer", "ovr"] = "crammer_singer"
    margin: float = 1.0


@dataclass(eq=False, repr=False)
class RuleRegressor(_ByRule, _SlowRegressor):
    """Regressor that learns by a given rule. It takes the parameters of `RuleClassifier`, without those of classes, and epsilon.

    Parameters
    ----------
    epsilon : float, default=0.0
        Errors up to epsilon have no loss: the rule sees the margin epsilon - |y - w.x|.

    See Also
    --------
    RuleClassifier : The same for labels, with all parameters.
    PotentialRegressor : Learn by f, a loss and rates instead.

    Examples
    --------
    >>> from onlinecls.reference import RuleRegressor
    >>> learner = RuleRegressor("pa1_regression", {"C": 1.0}, epsilon=1.0, fit_intercept=False)
    >>> learner.partial_fit([[1.0, 2.0]], [3.0]).coef_.round(9).tolist()
    [0.4, 0.8]
    """

    _: KW_ONLY
    epsilon: float = 0.0


def _loss_named(who: str, loss: Any, offered: dict) -> Any:
    if isinstance(loss, str) and loss not in offered:
        raise ValueError(f"{who}: loss must be a Loss or one of {', '.join(offered)}, got {loss!r}.")
    return offered[loss] if isinstance(loss, str) else loss


@dataclass(init=False, eq=False, repr=False)
class _ByPotential(_Passes):
    f: Any = None
    loss: Any = "hinge"
    eta: float | Callable[[Stats, np.ndarray], float] = 1.0

    def _make(self) -> Callable[[int], Any]:
        f, offered = SquaredNorm() if self.f is None else self.f, self._offered  # type: ignore[attr-defined]
        return partial(PotentialLearner, f=f, loss=_loss_named(type(self).__name__, self.loss, offered), eta=self.eta)

    def lemma_1(self, u: ArrayLike, lam: float = 1.0) -> tuple[float, float]:
        """Return both sides of Lemma 1 over the rows so far, (paid, allowed), for a competitor u (its intercept last)."""
        return self._fitted().learners[0].lemma_1(u, lam)


@dataclass(eq=False, repr=False)
class PotentialClassifier(_ByPotential, _SlowClassifier):
    """The potential framework (NAROW paper, Fig. 1) for two classes: any f_t, any convex loss, any rates.

    Parameters
    ----------
    f : object, default=None
        `SquaredNorm`, `PNorm`, `Entropic`, `Quadratic`, or an object with their methods. None: SquaredNorm().
    loss : {"hinge", "squared_hinge", "log_loss"} or Loss, default="hinge"
    eta : float or callable, default=1.0
        η_t, or a function of Stats and the signed row. `conservative`: 1 on mistakes alone.
    fit_intercept, intercept_scaling, max_iter, shuffle, random_state
        As in `RuleClassifier`.

    See Also
    --------
    PotentialRegressor : The same for targets.
    LeaderClassifier : Minimise f plus all losses after each row.
    RuleClassifier : Learn by a rule.

    Examples
    --------
    >>> from onlinecls.reference import PotentialClassifier, Quadratic
    >>> learner = PotentialClassifier(Quadratic(r=1.0), fit_intercept=False).partial_fit([[1.0, 2.0]], [1], classes=[-1, 1])
    >>> learner.coef_.tolist()
    [[0.5, 0.4]]
    >>> paid, allowed = learner.lemma_1([1.0, 0.0])
    >>> round(paid, 3), round(allowed, 3)
    (1.0, 1.65)
    """

    _offered, _is_binary = LOSSES, True


@dataclass(eq=False, repr=False)
class PotentialRegressor(_ByPotential, _SlowRegressor):
    """The potential framework for targets.

    Parameters
    ----------
    f : object, default=None
        As in `PotentialClassifier`.
    loss : {"absolute", "squared", "epsilon_insensitive"} or Loss, default="absolute"
    eta : float or callable, default=1.0
        As in `PotentialClassifier`; Stats.margin is -|y - w.x|.
    fit_intercept, intercept_scaling, max_iter, shuffle, random_state
        As in `RuleClassifier`.
    epsilon : float, default=0.1
        For "epsilon_insensitive".

    See Also
    --------
    PotentialClassifier : The same for two classes.
    LeaderRegressor : Minimise f plus all losses after each row.
    RuleRegressor : Learn by a rule.

    Examples
    --------
    >>> from onlinecls.reference import PotentialRegressor, SquaredNorm
    >>> learner = PotentialRegressor(SquaredNorm(10.0), "squared", fit_intercept=False).partial_fit([[3.0, 4.0]], [1.0])
    >>> learner.coef_.round(9).tolist()
    [0.6, 0.8]
    """

    loss: Any = "absolute"
    _: KW_ONLY
    epsilon: float = 0.1

    @property
    def _offered(self) -> dict[str, Any]:
        return {**REGRESSION_LOSSES, "epsilon_insensitive": insensitive(self.epsilon)}


@dataclass(init=False, eq=False, repr=False)
class _Leader(_Slow):
    f: Any = None
    loss: Any = ""
    _: KW_ONLY
    gap_tol: float = 1e-6

    def _make(self) -> Callable[[int], Any]:
        _loss_named(type(self).__name__, self.loss, dict.fromkeys(self._offered))  # type: ignore[attr-defined]
        return partial(LeaderLearner, f=SquaredNorm() if self.f is None else self.f, loss=self.loss, gap_tol=self.gap_tol)

    @property
    def gap_(self) -> float:
        """The duality gap after the last row."""
        return self._fitted().learners[0].gap


@dataclass(eq=False, repr=False)
class LeaderClassifier(_Leader, _SlowClassifier):
    """Follow the regularized leader for two classes: after each row, minimise f plus the loss of all rows so far.

    Parameters
    ----------
    f : object, default=None
        `SquaredNorm` or `Entropic`. None: SquaredNorm().
    loss : {"hinge", "log_loss"}, default="hinge"
    fit_intercept, intercept_scaling
        As in `RuleClassifier`.
    gap_tol : float, default=1e-6
        The duality gap allowed after each row.

    See Also
    --------
    LeaderRegressor : The same for targets.

    Examples
    --------
    >>> from onlinecls.reference import LeaderClassifier, SquaredNorm
    >>> learner = LeaderClassifier(SquaredNorm(0.5), gap_tol=1e-9, fit_intercept=False)
    >>> learner.partial_fit([[2.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [1, 0, 1], classes=[0, 1]).coef_.round(4).tolist()
    [[1.5, -0.5]]
    """

    _offered, _is_binary = ("hinge", "log_loss"), True
    loss: Literal["hinge", "log_loss"] = "hinge"


@dataclass(eq=False, repr=False)
class LeaderRegressor(_Leader, _SlowRegressor):
    """Follow the regularized leader for targets. It takes the parameters of `LeaderClassifier`, with other losses.

    Parameters
    ----------
    loss : {"absolute", "squared"}, default="absolute"

    See Also
    --------
    LeaderClassifier : The same for two classes, with all parameters.

    Examples
    --------
    >>> from onlinecls.reference import LeaderRegressor, SquaredNorm
    >>> learner = LeaderRegressor(SquaredNorm(1.0), "squared", gap_tol=1e-12, fit_intercept=False)
    >>> learner.partial_fit([[1.0], [1.0]], [1.0, 2.0]).coef_.round(6).tolist()  # argmin w²/2 + (1 - w)² + (2 - w)²
    [1.2]
    """

    _offered = tuple(REGRESSION_LOSSES)
    loss: Literal["absolute", "squared"] = "absolute"
