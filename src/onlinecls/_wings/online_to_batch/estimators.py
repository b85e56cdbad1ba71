"""Online-to-batch: one fixed hypothesis from those that an online learner goes through (ICML 2008 tutorial, V)."""

from __future__ import annotations

import math
from copy import deepcopy
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

import numpy as np

from ..._estimators import saving
from ..._estimators.classifier import classes_of_fit
from ..._estimators.estimator import Estimator, exclusive
from ..._estimators.learner import OnlineLearner, check_parameters, read_weights_of_fit
from ..._files import numbered, of_number, require, require_layout
from ..._input import validate
from ..._input.compat import not_fitted, random_state
from ..._registry import select

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray
    from sklearn.utils import Tags

    from ..._input.types import Matrix, RandomState
    from ..._rows import Rows

DELTA = 0.05  # the probability with which the choice of a snapshot may violate its bound
NEVER = 1 << 62  # a row number that is not reached


class _Snapshot(NamedTuple):
    """A hypothesis: the number of rows before it, its mistakes or absolute errors on rows held out after it, and their number."""

    model: Any
    row: int
    errors: float = 0.0
    trials: int = 0


@dataclass
class _Run:
    """A learner, and its hypotheses kept so far.

    spacing : of the snapshots; NEVER if the learner's average predicts. largest : error on a held-out row, 1 for a classifier.
    n_rows : of weight > 0. snapshots : oldest first; a list that is replaced, never changed, as other threads read it.
    """

    learner: Any
    spacing: int
    largest: float
    n_rows: int = 0
    snapshots: list[_Snapshot] = field(default_factory=list)

    @property
    def method(self) -> str:
        return "average" if self.spacing == NEVER else "validation"

    def numbers(self, weights: np.ndarray) -> np.ndarray:
        """Return the number of each row, among all of weight > 0."""
        return self.n_rows + np.cumsum(weights > 0.0)

    def learn(self, rows: Rows, y: np.ndarray, weights: np.ndarray, held_out: np.ndarray, n_snapshots: int) -> None:
        """Learn rows in parts that end where a snapshot is taken, and judge the snapshots by those that are held out."""
        start, learner, numbers, weights = 0, self.learner, self.numbers(weights), np.where(held_out, 0.0, weights)
        while start < len(y):
            event, before = (self.n_rows // self.spacing + 1) * self.spacing, getattr(learner, "t_", 0)
            stop = min(int(np.searchsorted(numbers, event)) + 1, len(y))
            part = slice(start, stop)
            try:
                learner.partial_fit(rows.part(start, stop), y[part], sample_weight=weights[part])
            except BaseException:  # an interrupt leaves a whole number of rows
                done = getattr(learner, "t_", 0) - before
                stop = start + int(np.searchsorted(np.cumsum(weights[part] > 0.0), done)) + 1 if done else start
                raise
            finally:
                self.judge(rows, y, start + np.flatnonzero(held_out[start:stop]))
                self.n_rows = int(numbers[stop - 1]) if stop else self.n_rows
            start = stop
            if self.n_rows == event:
                kept = [*self.snapshots, _Snapshot(deepcopy(learner), event)]
                if len(kept) > n_snapshots:
                    self.spacing *= 2
                    kept = [each for each in kept if each.row % self.spacing == 0]
                self.snapshots = kept

    def judge(self, rows: Rows, y: np.ndarray, numbers: np.ndarray) -> None:
        """Validate all snapshots on rows of these numbers, from which none has learnt."""
        judged = []
        for each in self.snapshots if len(numbers) else ():
            predicted, true = each.model.predict(rows.chosen(numbers)), y[numbers]
            errors = np.abs(predicted - true) if each.model._estimator_type == "regressor" else predicted != true
            self.largest = max(self.largest, float(errors.max()))
            judged.append(each._replace(errors=each.errors + float(errors.sum()), trials=each.trials + len(numbers)))
        self.snapshots = judged or self.snapshots

    def chosen(self) -> Any:
        """Return the hypothesis that predicts: the average, or the snapshot of least error + largest * √(ln(k(k + 1)/δ) / 2n) on
        the n rows that validated it, the newest of equals; the learner before any is validated."""
        if self.method == "average":
            return average_of_predictors(self.learner)
        k = len(self.snapshots)

        def bound(each: _Snapshot) -> float:
            return each.errors / each.trials + self.largest * math.sqrt(math.log(k * (k + 1) / DELTA) / (2.0 * each.trials))

        validated = [each for each in reversed(self.snapshots) if each.trials]
        return min(validated, key=bound).model if validated else self.learner


def average_of_predictors(learner: Any) -> Any:
    """Return a copy of a learner with average=True whose average is over the weights that predicted rows, w_1 .. w_T, instead of
    w_2 .. w_{T+1}."""
    found = learner._snapshot()
    state, everything = found._state, slice(None)
    first = type(state)(state.n_features, len(state.counts), state.dtype, state.params)
    last = state.sharing(correction=np.empty(0)).weights_of(state.params, everything).astype(np.float64)
    less = np.pad((last - first.weights_of(state.params, everything)).T, ((0, 0), (0, state.n_none)))  # (it does not predict)
    found._state = state.sharing(correction=state.correction + less.reshape(-1), sparse_coef=None)
    return found


@dataclass(eq=False, repr=False)
class OnlineToBatch(Estimator):
    """Turn an online learner into one fixed predictor: the average of its hypotheses, or the one that validation chooses.

    Row n (of weight > 0) is predicted by the hypothesis w_n, which has learnt the rows before it. "average" is the mean of
    w_1 (nothing learnt yet) to w_T; "validation" the snapshot with the least (absolute) error on held-out rows. Snapshots are
    taken at the multiples of a row number, the smallest power of two with at most `n_snapshots` of them.

    Parameters
    ----------
    estimator : classifier or regressor of this library
        Not changed: a copy learns, for ``method="average"`` with its parameter `average` set to True.
    method : {"average", "validation"}, default="average"
    n_snapshots : int, default=10
        validation: most snapshots held, >= 2; each is a copy of the model.
    validation_fraction : float, default=0.1
        validation: every round(1 / validation_fraction)-th row is held out to validate the snapshots; (0, 0.5].
        Of k snapshots, each validated on n rows, the one with the least error + √(ln(k(k + 1)/0.05) / 2n) is chosen: a bound that
        holds for all of them together with probability 0.95.
    max_iter : int, default=1
        Passes of `fit`, >= 1; the guarantees are for one.
    shuffle : bool, default=True
        Whether `fit` shuffles the rows before each pass.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the shuffling.

    Attributes
    ----------
    estimator_ : classifier
        The learner, with the last hypothesis.
    chosen_ : classifier
        The hypothesis that predicts.
    snapshots_, snapshot_rows_ : list of classifiers, ndarray
        The snapshots, oldest first, and the numbers of rows after which they were taken.
    n_rows_, n_iter_ : int
        Rows of weight > 0, including those held out; passes of `fit`.

    Raises
    ------
    ValueError
        A parameter out of range, an estimator unsuitable for the method, or input that the estimator would refuse.

    References
    ----------
    .. [1] S. Shalev-Shwartz, Y. Singer. Online Learning tutorial, ICML 2008, part V.
    .. [2] N. Cesa-Bianchi, A. Conconi, C. Gentile. On the Generalization Ability of On-Line Learning Algorithms. IEEE
       Transactions on Information Theory 50, 2004 (the choice by later rows, with its penalty).

    Examples
    --------
    >>> from onlinecls import OnlineToBatch, Perceptron
    >>> learner = OnlineToBatch(Perceptron(), method="validation")
    >>> learner = learner.partial_fit([[0.0, 1.0], [1.0, 0.0], [0.0, 2.0]], [1, 0, 1], classes=[0, 1])
    >>> learner.predict([[0.0, 3.0]]).tolist(), learner.snapshot_rows_.tolist()
    ([1], [1, 2, 3])
    """

    n_features_in_: int = field(init=False)
    n_iter_: int = field(init=False)
    _run: _Run = field(init=False)

    estimator: Any
    method: Literal["average", "validation"] = "average"
    _: KW_ONLY
    n_snapshots: int = 10
    validation_fraction: float = 0.1
    max_iter: int = 1
    shuffle: bool = True
    random_state: RandomState = None

    @property
    def _estimator_type(self) -> str:
        return self.estimator._estimator_type

    def _nested(self) -> dict[str, Any]:
        return {"estimator": self.estimator}

    def __sklearn_tags__(self) -> Tags:
        return self.estimator.__sklearn_tags__()

    def _check_parameters(self) -> None:
        who, learner = type(self).__name__, self.estimator
        select(type(self), self.get_params(deep=False))
        if not isinstance(learner, OnlineLearner) or learner._estimator_type not in ("classifier", "regressor"):
            raise ValueError(f"{who}: estimator must be a classifier or regressor of onlinecls, got estimator={learner!r}.")
        if self.method == "average" and "average" not in learner.get_params():
            raise ValueError(
                f"{who}: method must be 'validation' for a {type(learner).__name__}, which has no parameter average, "
                "got method='average'."
            )

    # --- learning ------------------------------------------------------------------------------------------------------------

    def _new_run(self) -> _Run:
        learner = type(self.estimator)(**deepcopy(self.estimator.get_params(deep=False)))
        if self.method == "average":
            learner.set_params(average=True)
        return _Run(learner, NEVER if self.method == "average" else 1, float(self._estimator_type == "classifier"))

    def _read(self, X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None, run: _Run | None) -> tuple[Rows, Any, np.ndarray]:
        """Check the parameters, and read a batch, the first one or one that goes on with a run."""
        who = type(self).__name__
        self._check_parameters()
        dtype = validate.read_dtype(who, self.estimator.dtype) if run is None else run.learner._state.dtype
        rows = validate.read_rows(who, X, dtype)
        if run is not None:
            self._check_features(X, rows.n_features)
        y = (validate.read_labels if self._estimator_type == "classifier" else validate.read_targets)(who, y, rows.n_rows)
        weights = validate.read_weights(who, sample_weight, rows.n_rows)
        return rows, y, weights if len(weights) else np.ones(rows.n_rows)

    def _held_out(self, run: _Run, rows: Rows, y: np.ndarray, weights: np.ndarray, named: dict) -> np.ndarray:
        """Let the learner check a batch, whose rows weigh nothing here; mark those to hold out, whose number is a multiple."""
        run.learner.partial_fit(rows, y, sample_weight=0.0 * weights, **named)
        every = NEVER if run.method == "average" else round(min(1.0 / self.validation_fraction, NEVER))
        return (run.numbers(weights) % every == 0) & (weights > 0.0)

    @exclusive
    def partial_fit(
        self, X: Matrix, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from rows in the given order, in one pass, from the present model; any split of a stream gives the same model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        classes : array-like of shape (n_classes,), default=None
            As in the estimator's `partial_fit`; not for a regressor.
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight 0 changes nothing, not even a row number.

        Returns
        -------
        self : object
        """
        who, run = type(self).__name__, self.__dict__.get("_run")
        rows, targets, weights = self._read(X, y, sample_weight, run)
        if run is not None and self.method != run.method:
            raise ValueError(
                f"{who}: partial_fit must go on with the method it began with, {run.method!r}, got method={self.method!r}. "
                "Call fit, or start with clone(estimator)."
            )
        if classes is not None and self._estimator_type == "regressor":
            raise ValueError(f"{who}: classes must be None for a regressor, got classes={classes!r}.")
        first, run = run is None, run or self._new_run()
        held_out = self._held_out(run, rows, targets, weights, {} if classes is None else {"classes": classes})
        if first:
            self._run, self.n_iter_ = run, 1
            self._take_features(X, rows.n_features)
        run.learn(rows, targets, weights, held_out, self.n_snapshots)
        if first and run.n_rows == 0 and classes is None:
            del self._run  # only rows of weight 0: no model begins
        return self

    @exclusive
    def fit(self, X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from scratch in `max_iter` passes over all rows, with the arguments of `partial_fit`.

        With "validation" the same rows are held out in each pass.
        """
        who = type(self).__name__
        rows, targets, weights = self._read(X, y, sample_weight, None)
        validate.require_samples(who, rows)
        read_weights_of_fit(who, sample_weight, rows.n_rows)
        named = {"classes": classes_of_fit(who, targets)} if self._estimator_type == "classifier" else {}
        generator, run = random_state(who, self.random_state), self._new_run()
        generator.bytes(4)  # (for the order of rows that each seed has always given)
        held_out = self._held_out(run, rows, targets, weights, named)
        for _ in range(self.max_iter):
            at = generator.permutation(len(targets)) if self.shuffle else np.arange(len(targets))
            run.learn(rows.chosen(at), targets[at], weights[at], held_out[at], self.n_snapshots)
        self._run, self.n_iter_ = run, self.max_iter
        self._take_features(X, rows.n_features)
        return self

    # --- predicting ----------------------------------------------------------------------------------------------------------

    def _fitted(self) -> _Run:
        if "_run" not in self.__dict__:
            raise not_fitted(type(self).__name__)
        return self._run

    @property
    def estimator_(self) -> Any:
        """The learner, with the last hypothesis."""
        return self._fitted().learner

    @property
    def chosen_(self) -> Any:
        """The hypothesis that predicts."""
        return self._fitted().chosen()

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels seen or given so far, sorted."""
        return self.estimator_.classes_

    @property
    def n_rows_(self) -> int:
        """Rows of weight > 0 so far, including those held out."""
        return self._fitted().n_rows

    @property
    def snapshots_(self) -> list[Any]:
        """The snapshots, oldest first."""
        return [each.model for each in self._fitted().snapshots]

    @property
    def snapshot_rows_(self) -> NDArray[np.int64]:
        """Numbers of rows after which the snapshots were taken."""
        return np.array([each.row for each in self._fitted().snapshots], np.int64)

    def _ask(self, model: Any, method: str, X: Matrix, *more: Any) -> Any:
        """Return what a hypothesis says of these rows."""
        rows = validate.read_rows(type(self).__name__, X, None)
        self._check_features(X, rows.n_features)
        return getattr(model, method)(rows, *more)

    def predict(self, X: Matrix) -> NDArray[Any]:
        """Predict the class of each row, or, of a regressor, a number, as the chosen hypothesis does."""
        return self._ask(self.chosen_, "predict", X)

    def decision_function(self, X: Matrix) -> NDArray[np.float64]:
        """Return the chosen hypothesis's scores.

        For X of shape (n_samples, n_features): float64 of shape (n_samples,) for two classes, else (n_samples, n_classes).
        A class that had not yet appeared when the hypothesis was taken has the score -inf.
        """
        model = self.chosen_
        scores, known = self._ask(model, "decision_function", X), np.isin(self.classes_, model.classes_)
        if known.all():
            return scores
        if scores.ndim == 1:
            scores = np.column_stack([-scores / 2, scores / 2])[:, -known.sum() :]
        aligned = np.full((len(scores), len(known)), -np.inf)
        aligned[:, known] = scores
        return aligned if len(known) > 2 else aligned[:, 1] - aligned[:, 0]

    def score(self, X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Compute the mean accuracy on rows of known labels, in [0, 1]; for a regressor, R². Arguments as in `partial_fit`."""
        return self._ask(self.chosen_, "score", X, y, sample_weight)

    # --- files ---------------------------------------------------------------------------------------------------------------

    def _described(self, metadata: dict) -> tuple[dict, dict[str, np.ndarray]]:
        who, run = type(self).__name__, self._fitted()
        if not saving.is_saved(run.learner):
            raise ValueError(
                f"{who}: save must have a linear or kernel learner of onlinecls as estimator, got {run.learner!r}, which has no "
                "form without pickle. Use pickle."
            )
        headers, arrays = zip(*(model._described({}) for model in (run.learner, *self.snapshots_)), strict=True)
        own = {name: value for name, value in self.get_params(deep=False).items() if name != "estimator"}
        given = saving.packed_parameters(type(self.estimator).__name__, self.estimator.get_params())
        head = saving.head_of(self, own, metadata, n_iter=self.n_iter_, wrapped_parameters=given, models=list(headers))
        numbers = [(run.n_rows, run.largest, run.spacing), *(each[1:] for each in run.snapshots)]
        return head, {"numbers": np.array(numbers, np.float64), **numbered(arrays)}

    @classmethod
    def _rebuilt(cls, header: dict, arrays: dict[str, np.ndarray]) -> Self:
        numbers = arrays.pop("numbers")
        models: list[Any] = [saving.rebuilt(model, of_number(k, arrays)) for k, model in enumerate(header["models"])]
        learner, kind = models[0], type(models[0])
        fit = all(type(model) is kind and model.n_features_in_ == learner.n_features_in_ for model in models)
        require(fit, "snapshots of the learner's class and features", models)
        require_layout({**arrays, "numbers": numbers}, {"numbers": ((len(models), 3), np.dtype(np.float64))})
        whole = numbers[:, [0, 2]]
        fit = np.isfinite(numbers).all() and numbers.min() >= 0.0 < whole[0, 1] and (whole == whole.round()).all()
        require(bool(fit) and whole.max() <= NEVER, "numbers of rows, and errors", numbers)
        given = saving.read_parameters(cls, {"estimator": None, **header["parameters"]})
        found = cls(**{**given, "estimator": kind(**saving.read_parameters(kind, header["wrapped_parameters"]))})
        found._check_parameters()
        check_parameters(found.estimator)
        (n_rows, largest, spacing), *kept = numbers.tolist()
        snapshots = [_Snapshot(model, int(kept[0]), kept[1], int(kept[2])) for model, kept in zip(models[1:], kept, strict=True)]
        found._run, found.n_iter_ = _Run(learner, int(spacing), largest, int(n_rows), snapshots), header["n_iter"]
        found.n_features_in_ = learner.n_features_in_
        saving.take_names(found, header["feature_names"], found.n_features_in_)
        return found
