"""Online-to-batch: one fixed hypothesis from those that an online learner goes through (ICML 2008 tutorial, V)."""

from __future__ import annotations

import math
from copy import deepcopy
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

import numpy as np

from ..._estimators import saving
from ..._estimators.classifier import accuracy, classes_of_fit
from ..._estimators.estimator import Estimator, exclusive
from ..._estimators.learner import OnlineLearner, check_parameters, read_weights_of_fit
from ..._estimators.regressor import r_squared
from ..._files import numbered, of_number, require
from ..._input import validate
from ..._input.compat import kind_of, not_fitted, random_state
from ..._registry import ESTIMATORS, algorithms_of, estimator_class, select

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray
    from sklearn.utils import Tags

    from ..._input.types import Matrix, RandomState

DELTA = 0.05  # the probability with which the choice of a snapshot may violate its bound


class _Snapshot(NamedTuple):
    """A hypothesis: the number of rows before it, and of those held out after it; its mistakes or absolute errors in these."""

    model: Any
    row: int
    errors: float = 0.0
    trials: int = 0


@dataclass
class _Run:
    """A learner, and its hypotheses kept so far.

    closed : the classes, if no others may join. largest : error on a held-out row, 1 for a classifier. n_rows : of weight > 0.
    spacing : of the snapshots. snapshots : oldest first; a list that is replaced, never changed, as other threads read it.
    """

    learner: Any
    method: str
    closed: np.ndarray | None
    largest: float
    n_rows: int = 0
    spacing: int = 1
    snapshots: list[_Snapshot] = field(default_factory=list)

    def keep(self, n_snapshots: int) -> None:
        kept = [*self.snapshots, _Snapshot(deepcopy(self.learner), self.n_rows)]
        if len(kept) > n_snapshots:
            self.spacing *= 2
            kept = [each for each in kept if each.row % self.spacing == 0]
        self.snapshots = kept

    def validate(self, X: Any, y: np.ndarray, numbers: bool) -> None:
        """Validate all snapshots on rows that none has learnt from."""
        validated = []
        for each in self.snapshots:
            predicted = each.model.predict(X)
            errors = np.abs(predicted - y) if numbers else predicted != y
            self.largest = max(self.largest, float(errors.max()))
            validated.append(each._replace(errors=each.errors + float(errors.sum()), trials=each.trials + len(y)))
        self.snapshots = validated

    def chosen(self) -> Any:
        """Return the hypothesis that predicts: the average, or the snapshot of least error + largest * √(ln(k(k + 1)/δ) / 2n) on
        the n rows that validated it, the newest of equals; the learner before any is validated."""
        if self.method == "average":
            known = isinstance(self.learner, OnlineLearner) and self.learner.__sklearn_is_fitted__()
            return averaging_predictors(self.learner) if known else self.learner
        k = len(self.snapshots)

        def bound(each: _Snapshot) -> float:
            return each.errors / each.trials + self.largest * math.sqrt(math.log(k * (k + 1) / DELTA) / (2.0 * each.trials))

        validated = [each for each in reversed(self.snapshots) if each.trials]
        return min(validated, key=bound).model if validated else self.learner

    def check(self) -> None:
        """Raise InvalidError if these numbers and models cannot predict and learn on."""
        rows, learner = [each.row for each in self.snapshots], self.learner
        whole = [self.spacing - 1, self.n_rows, *rows, *(each.trials for each in self.snapshots)]
        require(all(type(n) is int and 0 <= n <= 2**53 for n in whole), "numbers of rows", whole)
        errors = [self.largest, *(each.errors for each in self.snapshots)]
        require(all(type(n) is float and 0.0 <= n < math.inf for n in errors), "errors that are finite and >= 0", errors)
        fit = self.method != "average" or (not rows and bool(learner.get_params().get("average")))
        require(fit, f"a learner and snapshots of {self.method!r}", learner)
        known = set(getattr(learner, "classes_", np.empty(0)).tolist())
        for model in (each.model for each in self.snapshots):
            fit = type(model) is type(learner) and model.n_features_in_ == learner.n_features_in_
            fit = fit and known.issuperset(getattr(model, "classes_", np.empty(0)).tolist())
            require(fit, "snapshots of the learner's class, features and classes", model)


def averaging_predictors(learner: Any) -> Any:
    """Return a copy of a learner with average=True whose average is over the weights that predicted rows, w_1 .. w_T, instead of
    w_2 .. w_{T+1}. It is made between two calls that learn, so that its numbers belong together.

    With average=n > 1 it is over w_{n+1} .. w_T.
    """
    found = learner._snapshot()
    state = found._state
    rounds, everything = state.average_rounds(state.params), slice(None)
    last = state.sharing(correction=np.empty(0))
    less = last.weights_of(last.params, everything).T.astype(np.float64)  # taken from the average, over rounds
    if int(learner.average) == 1:
        first = type(state)(state.n_features, len(state.counts), state.dtype, state.params)
        first.params = state.params
        less -= first.weights_of(first.params, everything).T
    elif rounds > 1.0:
        less -= state.weights_of(state.params, everything).T
        less *= rounds / (rounds - 1.0)
    else:
        less[:] = 0.0
    less = np.pad(less, ((0, 0), (0, state.n_none)))  # ("none of these" does not predict)
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
    estimator : classifier or regressor with `partial_fit`
        Not changed: a copy learns. With ``method="average"`` it must have a parameter `average`; one of another library predicts
        with its own average, which usually is over w_2 .. w_{T+1}, like `average` itself here.
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

    # --- the estimator that is wrapped ---------------------------------------------------------------------------------------

    @property
    def _is_regressor(self) -> bool:
        return not isinstance(self.estimator, type) and kind_of(self.estimator) == "regressor"

    @property
    def _estimator_type(self) -> str:
        return "regressor" if self._is_regressor else "classifier"

    def _nested(self) -> dict[str, Any]:
        return {"estimator": self.estimator}

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if hasattr(self.estimator, "__sklearn_tags__"):
            theirs = self.estimator.__sklearn_tags__()
            tags.input_tags, tags.classifier_tags = theirs.input_tags, theirs.classifier_tags
            tags.regressor_tags = theirs.regressor_tags
        return tags

    def _check_parameters(self) -> None:
        who, learner = type(self).__name__, self.estimator
        select(type(self), self.get_params(deep=False))
        methods = ("partial_fit", "predict", "get_params")
        is_learner = not isinstance(learner, type) and all(hasattr(learner, name) for name in methods)
        if not is_learner or kind_of(learner) not in (None, "classifier", "regressor"):
            raise ValueError(f"{who}: estimator must be a classifier or regressor with partial_fit, got estimator={learner!r}.")
        if self.method == "average" and "average" not in learner.get_params():
            raise ValueError(
                f"{who}: method must be 'validation' for a {type(learner).__name__}, which has no parameter average, "
                "got method='average'."
            )

    # --- learning ------------------------------------------------------------------------------------------------------------

    def _new_run(self, classes: np.ndarray | None) -> _Run:
        learner = type(self.estimator)(**deepcopy(self.estimator.get_params(deep=False)))
        if self.method == "average" and not learner.get_params()["average"]:
            learner.set_params(average=True)
        return _Run(learner, self.method, classes, 0.0 if self._is_regressor else 1.0)

    def _read(self, X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None, run: _Run | None) -> tuple[Any, Any, np.ndarray]:
        """Read a batch, the first one or one that goes on with a run."""
        who, learner = type(self).__name__, self.estimator if run is None else run.learner
        dtype = validate.read_dtype(who, getattr(learner, "dtype", None))
        rows = validate.read_rows(who, X, dtype if run is None else getattr(getattr(learner, "_state", None), "dtype", dtype))
        if run is None:
            validate.require_samples(who, rows, 0)
        else:
            self._check_features(X, rows.n_features)
        y = (validate.read_targets if self._is_regressor else validate.read_labels)(who, y, rows.n_rows)
        return rows.array(), y, validate.read_weights(who, sample_weight, rows.n_rows)

    @staticmethod
    def _rows_learnt(attributes: dict) -> float | None:
        run = attributes.get("_run")
        return None if run is None else run.n_rows

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
        self._check_parameters()
        if run is not None and self.method != run.method:
            raise ValueError(
                f"{who}: partial_fit must go on with the method it began with, {run.method!r}, got method={self.method!r}. "
                "Call fit, or start with clone(estimator)."
            )
        matrix, targets, weights = self._read(X, y, sample_weight, run)
        if self._is_regressor and classes is not None:
            raise ValueError(f"{who}: classes must be None for a regressor, got classes={classes!r}.")
        labels = None if classes is None else validate.read_classes(who, classes)
        first, run = run is None, run or self._new_run(labels)
        known = run.closed if run.closed is not None else getattr(run.learner, "classes_", None)
        if known is not None:
            targets = validate.comparable(who, targets, known)
        if run.closed is not None and len(run.closed):
            validate.encode_known(who, targets, run.closed)
        named = {} if self._is_regressor else {"classes": labels}
        run.learner.partial_fit(matrix[:0], targets[:0], **named)  # checks its parameters and classes, before the first row
        if first:
            self._run, self.n_iter_ = run, 1
            self._take_features(X, matrix.shape[1])
        self._learn(run, matrix, targets, weights, self._held_out(run, weights, len(targets)))
        if first and run.n_rows == 0 and classes is None:
            del self._run  # only rows of weight 0: no model begins
        return self

    @exclusive
    def fit(self, X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from scratch in `max_iter` passes over all rows, with the arguments of `partial_fit`.

        With "validation" the same rows are held out in each pass.
        """
        who = type(self).__name__
        self._check_parameters()
        generator = random_state(who, self.random_state)
        matrix, targets, weights = self._read(X, y, sample_weight, None)
        if matrix.shape[0] == 0:
            raise ValueError(f"{who}: Found array with 0 sample(s) (shape={matrix.shape}) while a minimum of 1 is required.")
        weights = read_weights_of_fit(who, sample_weight, len(targets))
        classes = None if self._is_regressor else classes_of_fit(who, targets)
        generator.bytes(4)  # (for the order of rows that each seed has always given)
        run = self._new_run(classes)
        held_out = self._held_out(run, weights, len(targets))
        run.learner.partial_fit(matrix[:0], targets[:0], **({} if classes is None else {"classes": classes}))
        for _ in range(self.max_iter):
            order = generator.permutation(len(targets)) if self.shuffle else slice(None)
            self._learn(run, matrix[order], targets[order], weights[order] if len(weights) else weights, held_out[order])
        self._run, self.n_iter_ = run, self.max_iter
        self._take_features(X, matrix.shape[1])
        return self

    def _held_out(self, run: _Run, weights: np.ndarray, n_rows: int) -> np.ndarray:
        """Mark the rows to hold out: those whose number among all of weight > 0 is a multiple."""
        live = weights > 0.0 if len(weights) else np.ones(n_rows, bool)
        every = round(min(1.0 / self.validation_fraction, 2.0**62))
        return live & ((run.n_rows + np.cumsum(live)) % every == 0) & (run.method != "average")

    def _learn(self, run: _Run, matrix: Any, y: np.ndarray, weights: np.ndarray, held_out: np.ndarray) -> None:
        """Learn all rows, in parts that end at the row numbers at which the model is kept."""
        if len(weights) and not weights.all():
            live = np.flatnonzero(weights)
            matrix, y, weights, held_out = matrix[live], y[live], weights[live], held_out[live]
        start, n_rows = 0, len(y)
        while start < n_rows:
            event = math.inf if run.method == "average" else (run.n_rows // run.spacing + 1) * run.spacing
            stop = int(min(event - run.n_rows + start, n_rows))
            learnt_from = start + np.flatnonzero(~held_out[start:stop])
            part = slice(start, stop) if len(learnt_from) == stop - start else learnt_from
            before = getattr(run.learner, "t_", 0)
            try:
                if len(learnt_from):
                    run.learner.partial_fit(matrix[part], y[part], sample_weight=weights[part] if len(weights) else None)
            except BaseException:  # an interrupt leaves a whole number of rows
                n_learnt = getattr(run.learner, "t_", 0) - before
                stop = int(learnt_from[n_learnt - 1]) + 1 if n_learnt else start
                raise
            finally:
                judges = start + np.flatnonzero(held_out[start:stop])
                if len(judges):
                    run.validate(matrix[judges], y[judges], self._is_regressor)
                run.n_rows += stop - start
            start = stop
            if run.n_rows == event:
                run.keep(self.n_snapshots)

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

    def _ask(self, method: str, X: Matrix) -> tuple[Any, np.ndarray]:
        """Return the hypothesis that predicts, and what its method says of these rows."""
        model, rows = self.chosen_, validate.read_rows(type(self).__name__, X, None)
        self._check_features(X, rows.n_features)
        return model, getattr(model, method)(rows.array())

    def predict(self, X: Matrix) -> NDArray[Any]:
        """Predict the class of each row, or, of a regressor, a number, as the chosen hypothesis does."""
        return self._ask("predict", X)[1]

    def decision_function(self, X: Matrix) -> NDArray[np.float64]:
        """Return the chosen hypothesis's scores.

        For X of shape (n_samples, n_features): float64 of shape (n_samples,) for two classes, else (n_samples, n_classes).
        A class that had not yet appeared when the hypothesis was taken has the score -inf.
        """
        if self._is_regressor:
            raise AttributeError(f"{type(self).__name__}: a regressor has no decision_function. Use predict.")
        model, scores = self._ask("decision_function", X)
        known, classes = model.classes_, self.classes_
        if len(known) == len(classes):
            return scores
        if scores.ndim == 1:
            scores = np.column_stack([-scores / 2, scores / 2])[:, -len(known) :]
        aligned = np.full((len(scores), len(classes)), -np.inf)
        aligned[:, np.searchsorted(classes, known)] = scores
        return aligned if len(classes) > 2 else aligned[:, 1] - aligned[:, 0]

    def score(self, X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Compute the mean accuracy on rows of known labels, in [0, 1]; for a regressor, R². Arguments as in `partial_fit`."""
        if self._is_regressor:
            return r_squared(type(self).__name__, self.predict(X), y, sample_weight)
        return accuracy(self, X, y, sample_weight)

    # --- files ---------------------------------------------------------------------------------------------------------------

    def _described(self, metadata: dict) -> tuple[dict, dict[str, np.ndarray]]:
        who, run = type(self).__name__, self._fitted()
        for learner in (self.estimator, run.learner):
            if isinstance(learner, OnlineToBatch) or not saving.is_saved(learner):
                raise ValueError(
                    f"{who}: save must have a linear or kernel learner of onlinecls as estimator, got {learner!r}, which has no "
                    "form without pickle. Use pickle."
                )
        headers, arrays = zip(*(model._described({}) for model in (run.learner, *self.snapshots_)), strict=True)
        own, wrapped = self.get_params(deep=False), type(self.estimator).__name__
        del own["estimator"]
        return saving.head_of(
            self, own, metadata, method=run.method, n_iter=self.n_iter_, n_rows=int(run.n_rows), spacing=run.spacing,
            largest=run.largest, kept=[[int(each.row), each.errors, each.trials] for each in run.snapshots],
            models=list(headers), wrapped=wrapped,
            wrapped_parameters=saving.packed_parameters(wrapped, self.estimator.get_params()),
        ), numbered(arrays)

    @classmethod
    def _rebuilt(cls, header: dict, arrays: dict[str, np.ndarray]) -> Self:
        who, wrapped = cls.__name__, header["wrapped"]
        require(isinstance(wrapped, str) and wrapped in ESTIMATORS - {who}, "an estimator that can be wrapped", wrapped)
        kind: Any = estimator_class(wrapped)
        inner = kind(**saving.read_parameters(kind, header["wrapped_parameters"]))
        check_parameters(inner)
        found = cls(**saving.read_parameters(cls, {"estimator": None, **header["parameters"]}))
        found.estimator = inner
        found._check_parameters()

        methods: Any = algorithms_of(cls)[0].params["method"]
        require(header["method"] in methods, str(methods), header["method"])
        models: list[Any] = [saving.rebuilt(model, of_number(k, arrays)) for k, model in enumerate(header["models"])]
        require(not arrays and len(models) > 0, "a learner and snapshots, with their arrays alone", list(arrays))
        learner, kept = models[0], zip(models[1:], header["kept"], strict=True)
        require(learner._estimator_type == found._estimator_type, "a learner of the same task", type(learner).__name__)
        closed = None if found._is_regressor or learner._state.is_open else learner.classes_
        found._run = _Run(learner, header["method"], closed, header["largest"], header["n_rows"], header["spacing"],
                          [_Snapshot(model, *numbers) for model, numbers in kept])
        found._run.check()
        found.n_iter_, found.n_features_in_ = header["n_iter"], learner.n_features_in_
        saving.take_names(found, header["feature_names"], found.n_features_in_)
        return found
