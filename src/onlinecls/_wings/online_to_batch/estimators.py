"""Online-to-batch: one fixed hypothesis from those that an online learner goes through (ICML 2008 tutorial, V)."""

from __future__ import annotations

from copy import copy, deepcopy
from dataclasses import KW_ONLY
from math import log, sqrt
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

import numpy as np

from ..._estimators import saving
from ..._estimators.estimator import Estimator
from ..._estimators.learner import OnlineLearner, check_features, take_features
from ..._estimators.parameters import estimator
from ..._estimators.tasks import classes_of_fit
from ..._files import numbered, of_number, require, require_layout
from ..._input import validate
from ..._input.compat import not_fitted, random_state
from ..._registry import select

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray
    from sklearn.utils import Tags

    from ..._input.types import Matrix, RandomState
    from ..._rows import Rows

EVERY = 10  # of so many rows one is held out to validate snapshots
NEVER = 1 << 62  # a row number that is not reached


class _Snapshot(NamedTuple):
    """A hypothesis: the number of rows before it, its mistakes or absolute errors on rows held out after it, and their number."""

    model: Any
    row: int = 0
    errors: float = 0.0
    trials: int = 0


@estimator
class OnlineToBatch(Estimator):
    """Turn an online learner into one fixed predictor: the average of its hypotheses, or the one that validation chooses.

    Row n (of weight > 0) is predicted by the hypothesis w_n, which has learnt the rows before it. "average" is the mean of
    w_1 (nothing learnt yet) to w_T; "validation" one of k snapshots, taken at the multiples of a row number: that of the
    least mean (absolute) error on the n held-out rows, every tenth, behind it + B √(ln(k(k + 1)/0.05) / 2n), a bound that
    holds for all of them together with probability 0.95. B is 1; of a regressor, the largest error seen. Part V of S.
    Shalev-Shwartz, Y. Singer: Online Learning, ICML 2008 tutorial; the bound: N. Cesa-Bianchi, A. Conconi, C. Gentile: On the
    Generalization Ability of On-Line Learning Algorithms, IEEE Transactions on Information Theory 50, 2004. The guarantees
    are for one pass.

    `estimator_` is the learner, with the last hypothesis; `n_rows_` the number of rows of weight > 0, those held out among them.

    Parameters
    ----------
    estimator : classifier or regressor of this library
        Not changed: a copy learns, for ``method="average"`` with its parameter `average` set to True.
    method : {"average", "validation"}, default="average"
    n_snapshots : int, default=10
        validation: most snapshots held, >= 2; each is a copy of the model. They lie a power of two of rows apart.
    {shared}

    Examples
    --------
    >>> from onlinecls import OnlineToBatch, Perceptron
    >>> learner = OnlineToBatch(Perceptron(), method="validation")
    >>> learner = learner.partial_fit([[0.0, 1.0], [1.0, 0.0], [0.0, 2.0]], [1, 0, 1], classes=[0, 1])
    >>> learner.predict([[0.0, 3.0]]).tolist(), learner.snapshot_rows_.tolist()
    ([1], [1, 2, 3])
    """

    _in_place = frozenset({"estimator_", "_hypotheses"})

    estimator: Any
    method: Literal["average", "validation"] = "average"
    _: KW_ONLY
    n_snapshots: int = 10
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

    def _read(self, X: Matrix, y: Any, sample_weight: Any) -> tuple[Rows, np.ndarray, np.ndarray]:
        """Check the parameters, and read a batch."""
        self._check_parameters()
        who, rows = type(self).__name__, validate.read_rows(type(self).__name__, X, None)
        weights = validate.read_weights(who, sample_weight, rows.n_rows)
        return rows, self.estimator._read_targets(who, y, rows.n_rows), weights if len(weights) else np.ones(rows.n_rows)

    def _begin(self, X: Matrix, rows: Rows, y: np.ndarray, weights: np.ndarray, **classes: Any) -> None:
        """Begin with a new learner, which checks rows and labels before anything is written."""
        learner = type(self.estimator)(**deepcopy(self.estimator.get_params(deep=False)))
        if self.method == "average":
            learner.set_params(average=True)
        learner.partial_fit(rows, y, sample_weight=0.0 * weights, **classes)
        if classes or weights.any():  # (rows of weight 0 alone make no model)
            self.estimator_, self._method, self.n_rows_, self.n_iter_ = learner, self.method, 0, 1
            self._hypotheses: list[_Snapshot] = []  # (replaced, never changed: other threads read it)
            self._largest = float(self._estimator_type == "classifier")  # error on a held-out row
            take_features(self, X, rows.n_features)

    def _held_out(self, weights: np.ndarray) -> np.ndarray:
        """Return True for each row of a batch that is not to be learnt."""
        every = NEVER if self._method == "average" else EVERY
        return ((self.n_rows_ + np.cumsum(weights > 0.0)) % every == 0) & (weights > 0.0)

    def _spacing(self) -> int:
        """Return the least power of two of which at most n_snapshots multiples are row numbers so far."""
        return NEVER if self._method == "average" else 1 << (self.n_rows_ // (self.n_snapshots + 1)).bit_length()

    def _learn(self, rows: Rows, y: np.ndarray, weights: np.ndarray, held_out: np.ndarray) -> None:
        """Learn rows in parts that end where a snapshot is taken, and judge the snapshots by those that are held out."""
        numbers, weights, start = self.n_rows_ + np.cumsum(weights > 0.0), np.where(held_out, 0.0, weights), 0
        while start < len(y):
            event, before = (self.n_rows_ // self._spacing() + 1) * self._spacing(), getattr(self.estimator_, "t_", 0)
            stop = min(int(np.searchsorted(numbers, event)) + 1, len(y))
            try:
                self.estimator_.partial_fit(rows.part(start, stop), y[start:stop], sample_weight=weights[start:stop])
            finally:  # (an interrupt leaves a whole number of rows)
                learnt = getattr(self.estimator_, "t_", 0) - before
                stop = start + int(np.searchsorted(np.cumsum(weights[start:stop] > 0.0), learnt, "right"))
                self._judge(rows, y, start + np.flatnonzero(held_out[start:stop]))
                self.n_rows_ = int(numbers[stop - 1]) if stop else self.n_rows_
            start = stop
            if self.n_rows_ == event:
                kept, spacing = [*self._hypotheses, _Snapshot(deepcopy(self.estimator_), event)], self._spacing()
                self._hypotheses = [each for each in kept if each.row % spacing == 0]

    def _judge(self, rows: Rows, y: np.ndarray, numbers: np.ndarray) -> None:
        """Validate all snapshots on rows of these numbers, from which none has learnt; errors add up row by row."""
        judged = []
        for each in self._hypotheses if len(numbers) else ():
            predicted, true = each.model.predict(rows.chosen(numbers)), y[numbers]
            errors = predicted != true if self._estimator_type == "classifier" else np.abs(predicted - true)
            self._largest = max(self._largest, float(errors.max()))
            judged.append(each._replace(errors=float(np.cumsum([each.errors, *errors])[-1]), trials=each.trials + len(numbers)))
        self._hypotheses = judged or self._hypotheses

    def partial_fit(
        self, X: Matrix, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from rows in the given order, in one pass, with the arguments of the estimator's `partial_fit`.

        Any split of a stream gives the same model. A row of weight 0 changes nothing, not even a row number. Returns self.
        """
        with self._own_lock(), np.errstate(under="ignore"):  # (errors come before a write, or leave a whole number of rows)
            named = {} if classes is None else {"classes": classes}
            rows, y, weights = self._read(X, y, sample_weight)
            if "estimator_" not in self.__dict__:
                self._begin(X, rows, y, weights, **named)
            elif self.method != self._method:
                raise ValueError(
                    f"{type(self).__name__}: partial_fit must go on with the method it began with, {self._method!r}, got "
                    f"method={self.method!r}. Call fit, or start with clone(estimator)."
                )
            else:
                check_features(self, X, rows.n_features)
                self.estimator_.partial_fit(rows, y, sample_weight=0.0 * weights, **named)  # (which checks all)
            if "estimator_" in self.__dict__:
                self._learn(rows, y, weights, self._held_out(weights))
            return self

    def fit(self, X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from scratch in `max_iter` passes over all rows, with the arguments of `partial_fit`.

        With "validation" the same rows are held out in each pass.
        """
        with self._own_lock(), np.errstate(under="ignore"):  # (errors come before a write, or leave a whole number of rows)
            who = type(self).__name__
            rows, y, weights = self._read(X, y, sample_weight)
            validate.require_samples(who, rows)
            validate.read_weights(who, weights, rows.n_rows, some=True)
            named = {"classes": classes_of_fit(who, y)} if self._estimator_type == "classifier" else {}
            generator = random_state(who, self.random_state)
            generator.bytes(4)  # (the orders of rows are those behind them)
            self._begin(X, rows, y, weights, **named)
            held_out = self._held_out(weights)
            for _ in range(self.max_iter):
                at = generator.permutation(len(y)) if self.shuffle else np.arange(len(y))
                self._learn(rows.chosen(at), y[at], weights[at], held_out[at])
            self.n_iter_ = self.max_iter
            return self

    # --- predicting ----------------------------------------------------------------------------------------------------------

    def _best(self) -> Any:
        """Return the snapshot of the least bound, the newest of equals; the learner itself before one is validated."""
        if "estimator_" not in self.__dict__:
            raise not_fitted(type(self).__name__)
        k, largest = len(self._hypotheses), self._largest

        def bound(each: _Snapshot) -> float:
            return each.errors / each.trials + largest * sqrt(log(k * (k + 1) / 0.05) / (2.0 * each.trials))

        validated = (each for each in reversed(self._hypotheses) if each.trials)
        return min(validated, key=bound, default=_Snapshot(self.estimator_)).model

    @property
    def chosen_(self) -> Any:
        """The hypothesis that predicts: of "average" a copy that averages the weights that predicted rows, w_1 .. w_T."""
        found = self._best()
        if self._method == "average":
            found, everything = copy(found), slice(None)
            state = found._state
            first = type(state)(state.n_features, len(state.counts), state.dtype, state.params)
            last = state.sharing(correction=np.empty(0)).weights_of(everything).astype(np.float64)
            less = np.pad((last - first.weights_of(everything)).T, ((0, 0), (0, state.n_none)))  # (predicts not)
            found._state = state.sharing(correction=state.correction + less.reshape(-1), sparse_coef=None)
        return found

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels that the chosen hypothesis knows, sorted."""
        return self._best().classes_

    @property
    def snapshots_(self) -> list[Any]:
        """The snapshots, oldest first."""
        return [each.model for each in self._hypotheses]

    @property
    def snapshot_rows_(self) -> NDArray[np.int64]:
        """Numbers of rows after which the snapshots were taken."""
        return np.array([each.row for each in self._hypotheses], np.int64)

    def _ask(self, method: str, X: Matrix, *more: Any) -> Any:
        """Return what the chosen hypothesis says of these rows."""
        ask, rows = getattr(self.chosen_, method), validate.read_rows(type(self).__name__, X, None)
        check_features(self, X, rows.n_features)
        return ask(rows, *more)

    def predict(self, X: Matrix) -> NDArray[Any]:
        """Predict the class of each row, or, of a regressor, a number, as the chosen hypothesis does."""
        return self._ask("predict", X)

    def decision_function(self, X: Matrix) -> NDArray[np.float64]:
        """Return the chosen hypothesis's scores: float64, (n_samples,) for two classes, else (n_samples, n_classes)."""
        return self._ask("decision_function", X)

    def score(self, X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Compute the mean accuracy on rows of known labels, in [0, 1]; for a regressor, R². Arguments as in `partial_fit`."""
        return self._ask("score", X, y, sample_weight)

    # --- files ---------------------------------------------------------------------------------------------------------------

    def _described(self, metadata: dict) -> tuple[dict, dict[str, np.ndarray]]:
        models = [saving.described(type(self).__name__, model) for model in (self.estimator_, *self.snapshots_)]
        headers, arrays = zip(*models, strict=True)
        own = {**self.get_params(deep=False), "method": self._method}
        given = saving.packed_parameters(type(own.pop("estimator")).__name__, self.estimator.get_params())
        head = saving.head_of(self, own, metadata, n_iter=self.n_iter_, wrapped_parameters=given, models=list(headers))
        numbers = [(self.n_rows_, self._largest, 0.0), *(each[1:] for each in self._hypotheses)]
        return head, {"numbers": np.array(numbers, np.float64), **numbered(arrays)}

    @classmethod
    def _rebuilt(cls, header: dict, arrays: dict[str, np.ndarray]) -> Self:
        models = [saving.rebuilt(model, of_number(k, arrays)) for k, model in enumerate(header["models"])]
        require_layout(arrays, {"numbers": ((len(models), 3), np.dtype(np.float64))})
        numbers, kinds = arrays["numbers"], {(type(model), model.n_features_in_) for model in models}
        require(len(kinds) == 1, "snapshots of the learner's class and features", models)
        require(bool(0.0 <= numbers.min() <= numbers.max() < np.inf), "numbers of rows, and errors", numbers)
        kind: Any = type(models[0])
        given = saving.read_parameters(cls, {"estimator": None, **header["parameters"]})
        found = cls(**{**given, "estimator": kind(**saving.read_parameters(kind, header["wrapped_parameters"]))})
        found._check_parameters()
        found.estimator._choose()
        found.estimator_, found._method, found.n_iter_ = models[0], found.method, header["n_iter"]
        found.n_rows_, found._largest, found.n_features_in_ = int(numbers[0, 0]), float(numbers[0, 1]), models[0].n_features_in_
        kept = zip(models[1:], numbers[1:].tolist(), strict=True)
        found._hypotheses = [_Snapshot(model, int(row), errors, int(trials)) for model, (row, errors, trials) in kept]
        saving.take_names(found, header["feature_names"], found.n_features_in_)
        return found
