"""The bases of all classifiers and regressors: labels, how classes join, probabilities; targets and their errors."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import frexp
from typing import TYPE_CHECKING, Any, Literal, Self, overload

import numpy as np

from .._compiled import model
from .._input import validate
from .._input.compat import available_if, warn_caller
from .._models import STATES
from .learner import Batch, OnlineLearner, exclusive, over, warn_of_skipped
from .parameters import LinearParameters

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from .._input.types import ClassWeight, Matrix, Numbers
    from .._rows import Rows

RUN = 100  # rows of one label, one after the other, of which a call warns
NO_CLASS = -1  # instead of a prediction, for a row before there was a class to predict


class WithWeights(OnlineLearner):
    """A learner of vectors of weights, one for each score."""

    @property
    def coef_(self) -> NDArray[np.floating]:
        """Weights, one row a class (regressors: 1-D): a read-only view of the model where possible. Copy it to keep it.

        ``learner.coef_ = W`` sets them, if the learner stores weights and not what they follow from, and keeps all else that it
        has learnt; so does ``learner.intercept_ = b``. (numpy refuses changes of the view itself: "read-only".)
        """
        state = self._fitted_state()
        sparse = state.sparse_coef  # (once: another thread that learns sets it to None)
        if sparse is not None:
            return sparse
        with np.errstate(under="ignore"):
            coef = over(state.weights_of(slice(0, state.n_features)), state.scale)
        return coef[0] if self._flat else coef

    @coef_.setter
    def coef_(self, weights: ArrayLike) -> None:
        self._set_weights("coef_", weights)

    @property
    def intercept_(self) -> NDArray[np.floating]:
        """Weight of the constant feature times its value, (1,) or (n_classes,).

        Of a regressor that learns deviations from the mean of its targets, that mean is added, in float64.
        """
        state = self._fitted_state()
        largest = float(np.finfo(state.dtype).max)
        with np.errstate(over="ignore", under="ignore"):
            found = state.weights_of(slice(state.n_features, None))[:, 0].astype(np.float64) * state.constant
            found = np.clip(found, -largest, largest)
            return found + state.level if state.params.level else found.astype(state.dtype)

    @intercept_.setter
    def intercept_(self, weights: ArrayLike) -> None:
        self._set_weights("intercept_", weights)

    @exclusive
    def _set_weights(self, name: str, weights: ArrayLike) -> None:
        """Go on with a copy of the model that has these weights of X, the average's too."""
        state = self._fitted_state().copy()
        if not state.TAKES_WEIGHTS:
            raise AttributeError(
                f"{type(self).__name__}: {name} must be what the rows have taught, as it follows from other numbers, got weights "
                "to set. Use AROWClassifier or PassiveAggressiveClassifier, say."
            )
        self._give_weights(state, **{name: weights})
        state.sparse_coef = None
        self._state = state

    def _give_weights(self, state: Any, **given: ArrayLike) -> None:
        """Set weights of X in a copy of a model, whose scale stays; an average begins again with them."""
        who, n, k = type(self).__name__, state.n_features, state.n_columns - state.n_none
        state.hold_scale()
        for name, weights in given.items():
            is_coef = name.startswith("coef")
            shape, features = ((k, n), slice(n)) if is_coef else ((k,), slice(n, None))
            values = validate.read_numbers(f"{who}: {name}", weights)
            if values.shape != shape and not (k == 1 and values.shape == shape[1:]):
                wanted = shape[1:] if self._flat and is_coef else shape
                raise ValueError(f"{who}: {name} must have shape {wanted}, got {values.shape}.")
            values = values.reshape(shape)
            values = values * state.scale if is_coef else (values - state.level) / (state.constant or 1.0)
            numbers = state.numbers_of(values.T.reshape(-1, k), features)
            if not np.isfinite(numbers).all() or np.abs(numbers).max(initial=0.0) > np.finfo(state.dtype).max / 4:
                raise ValueError(f"{who}: {name} must be finite and within {state.dtype}, got a value that is not.")
            if is_coef or state.constant:
                state.primary[features, :k] = numbers
                state.counters[model.COUNTERS["max_abs_weight"]] = np.abs(state.primary).max()
            if len(state.correction):
                state.corrections[features, :k] = 0.0

    def sparsify(self) -> Self:
        """Make ``coef_`` a scipy CSR matrix, until the next learning or `densify`. Returns the estimator."""
        from scipy.sparse import csr_matrix

        with self._own_lock().waiting():  # (no row is learnt between the two lines)
            state = self._fitted_state()
            state.sparse_coef = csr_matrix(self.coef_)
        return self

    def densify(self) -> Self:
        """Make ``coef_`` an array again. Returns the estimator."""
        self._fitted_state().sparse_coef = None
        return self


@dataclass(init=False, eq=False, repr=False, kw_only=True)
class WithVariances(OnlineLearner):
    """A learner that keeps a variance for each weight."""

    covariance: Literal["diagonal", "full"] = "diagonal"

    @property
    def covariance_(self) -> NDArray[np.floating]:
        """Covariance Σ of the weights.

        Diagonal: the variances, the shape of ``coef_``, a read-only view of the model. Full: a copy, of shape
        (n_features, n_features), or (n_classes, n_features, n_features) for three classes or more.
        """
        state = self._fitted_state()
        with np.errstate(under="ignore"):
            found = state.covariance
            found = found[: len(found) - state.n_none]
            return over(found[0] if self._flat or (found.ndim == 3 and len(found) == 1) else found, state.scale * state.scale)

    def _scores(self, X: Matrix, return_std: bool) -> Any:
        """Return the scores of X, and if asked their standard deviations √(x'Σx)."""
        if not return_std:
            return _flat(self._decide(X)[0])
        state = self._fitted_state()
        rows = self._read_rows(X, state)
        return _flat(state.decision(rows)), _flat(state.decision(rows, model.TASKS["deviation"]))


class OnlineClassifier(WithWeights):
    """Base of all classifiers. A subclass adds its docstring and parameters; the registry has the rest."""

    _estimator_type = "classifier"
    _read_targets = staticmethod(validate.read_labels)

    # --- learning ------------------------------------------------------------------------------------------------------------

    def _task(self: Any, state: Any) -> str:
        return "binary" if state.n_columns == 1 else self.multi_class

    def partial_fit(  # type: ignore[override]  # scikit-learn's order of arguments
        self, X: Matrix, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from rows in the given order, in one pass, starting from the present model. Returns the estimator.

        Any split of a stream into calls gives the same model, to the last bit.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            CSR with sorted columns (int32 or int64) and C-ordered arrays, of the model's dtype, are read in place: see `fit`.
        y : array-like of shape (n_samples,)
            Labels: integers, booleans, strings, or floats that are integers.
        classes : array-like of shape (n_classes,), default=None
            All labels that will appear, given at the first call. None: labels join as they appear.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0 of the rows. A row of weight 0 changes nothing, not even a counter.
        """
        state = self.__dict__.get("_state")
        learnt = 0 if state is None else state.try_partial_fit(self.__dict__, X, y, sample_weight, classes)
        if learnt > 1:
            warn_of_skipped(self, learnt - 1)
        labels: Any = y if learnt else self._partial_fit(X, y, sample_weight, classes)
        if len(labels) >= RUN and labels[-1] == labels[-RUN] and "_state" in self.__dict__:
            warn_of_a_run(self, labels)
        return self

    def _learn_new(self, X: Matrix, batch: Batch, params: Any, classes: ArrayLike | None) -> int:
        """Learn labels; new ones join where they first appear. (One vector up to the third class, then one a class.)"""
        who, rows, weights, n_skipped = type(self).__name__, batch.rows, batch.weights, 0
        old, is_open = self._known(batch.targets, classes)
        codes, unknown = validate.encode(who, batch.targets, old, is_open)
        labels, joins = old, unknown is not None or len(old) < 2
        if joins:
            labels = validate.union(old, batch.targets)
            codes, _ = validate.encode(who, batch.targets, labels)
        known = np.searchsorted(labels, old)  # (from here on, classes are places among all labels)
        stages = [(0, rows.n_rows, known)]
        class_weights = validate.read_class_weight(who, self.class_weight, labels, closed=not is_open)
        if joins:
            live = batch._replace(targets=codes, class_weights=class_weights).live()  # (a product of weights may underflow)
            weights = np.where(live, weights if len(weights) else 1.0, 0.0)
            one_by_one = params.joins_singly or (STATES[params.model].HAS_NONE and not params.joint)
            stages = stages_of(codes, live, known, one_by_one)
            if not stages:
                return 0  # only rows of weight 0: no model begins
            self._check_size(params, rows.n_features, len(stages[-1][-1]), rows.data.dtype)
        first, last = stages[0][-1], stages[-1][-1]
        if "_state" not in self.__dict__:
            self._begin(X, rows, self._start(params, rows, len(first)), labels[first], is_open)
        elif len(known) < len(last) and len(known) in (1, len(first)):
            self._state = self._state.copy()  # (without memory for a newcomer's weights, the model before the call remains)
        for start, stop, present in stages:
            part, weight, predicted = rows.part(start, stop), weights[start:stop], batch.predictions[start:stop]
            if len(present) == 1:
                self._count(part, np.flatnonzero(weight), predicted)
            else:
                state, numbers = self._state, np.zeros(len(labels), np.int32)  # (rows of weight 0 may have other labels)
                numbers[present] = np.arange(len(present))
                own = class_weights[present] if len(class_weights) else class_weights
                part = Batch(part, numbers[codes[start:stop]] if joins else codes, weight, own, predictions=predicted)
                if len(present) > len(state.classes):
                    state = state.grow_classes(np.searchsorted(labels[present], state.classes), len(present), params)
                    state.classes = labels[present]
                n_skipped += self._learn(part, params, state=state)
            if len(predicted):
                seen = predicted >= 0
                predicted[seen] = np.searchsorted(last, present)[predicted[seen]]
        return n_skipped

    def _known(self, y: np.ndarray, classes: ArrayLike | None) -> tuple[np.ndarray, bool]:
        """Return the classes of the model, or those that begin it, and True if others may join. classes : named in a call."""
        who, state = type(self).__name__, self.__dict__.get("_state")
        named = None if classes is None else validate.union(validate.read_labels(who, classes, None, "classes"))
        if state is None:
            if named is None:
                return y[:0], True
            if len(named) < 2:
                do = "Leave it out if labels are to join as they appear."
                raise ValueError(f"{who}: classes must name at least 2 classes, got {len(named)}. {do}")
            return named, False
        if named is not None and not np.array_equal(named, state.classes):
            raise ValueError(
                f"{who}: classes must be those of the first call, {validate.brief(state.classes.tolist())}, got "
                f"{validate.brief(named.tolist())}. Leave classes out from the second call on."
            )
        return state.classes, state.is_open

    def _count(self, rows: Rows, numbers: np.ndarray, predictions: np.ndarray) -> None:
        """Count rows of these numbers, of weight > 0, of the only class so far, from which there is nothing to learn."""
        self._state = state = self._state.writable()
        state.sparse_coef = None
        if len(predictions):
            predictions[numbers] = 0
            predictions[numbers[: state.count("t") == 0]] = NO_CLASS
        state.count_rows(numbers, rows)

    def _encoded(self, batch: Batch, classes: np.ndarray | None) -> tuple[Batch, np.ndarray]:
        """Return the rows of a `fit` as the kernels take them, and their classes: these, or, for None, those of the rows."""
        who, y = type(self).__name__, batch.targets
        classes = classes_of_fit(who, y) if classes is None else classes
        codes, _ = validate.encode(who, y, classes)
        class_weights = validate.read_class_weight(who, self.class_weight, classes, closed=True)
        batch = batch._replace(targets=codes, class_weights=class_weights)
        live = batch.live()
        if not live.any():
            raise ValueError(f"{who}: class_weight must not be 0 for all rows, got {self.class_weight!r}.")
        if isinstance(self.class_weight, str):  # ("balanced": n / (k n_c) over the rows of weight > 0)
            counts = np.bincount(codes[live], minlength=len(classes))
            balanced = counts.sum() / (np.count_nonzero(counts) * np.maximum(counts, 1))
            batch = batch._replace(class_weights=np.where(counts > 0, balanced, 1.0))
        return batch, classes

    # --- predicting ----------------------------------------------------------------------------------------------------------

    def decision_function(self, X: Matrix) -> NDArray[np.float64]:
        """Compute the signed scores w.x of rows, including the intercept.

        For X of shape (n_samples, n_features): float64 of shape (n_samples,) for two classes, else (n_samples, n_classes).
        Two classes: above 0 means ``classes_[1]``. In units of the margin: from 1 on the hinge loss is 0.
        """
        return _flat(self._decide(X)[0])

    def predict(self, X: Matrix) -> NDArray[Any]:
        """Predict the class of each row: that of the highest score, the first of equals; of two, ``classes_[1]`` if it is > 0.

        For X of shape (n_samples, n_features): ndarray of shape (n_samples,), dtype of ``classes_``.
        """
        scores, state = self._decide(X)
        codes, classes = model.best_of(scores), state.classes
        if len(classes) < 2:  # (scores may be > 0 before there is a second class)
            codes[:] = 0
        return classes[codes]

    def score(self, X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Compute the mean accuracy on rows of known labels, a number in [0, 1]."""
        who, predicted = type(self).__name__, self.predict(X)
        y = validate.comparable(who, validate.read_labels(who, y, len(predicted)), self.classes_)
        weights = validate.read_weights(who, sample_weight, len(predicted), some=True)
        return float(np.average(predicted == y, weights=weights if len(weights) else None))

    def _validate(self, rows: Rows, codes: np.ndarray, weights: np.ndarray | None) -> float:
        return float(np.average(model.best_of(self._state.decision(rows)) == codes, weights=weights))

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, sorted, in the order of the scores."""
        return self._fitted_state().classes

    @property
    def n_mistakes_(self) -> int:
        """Rounds on which `predict`, called just before the update, would have been wrong."""
        return self._fitted_state().count("mistakes")


class WithProbabilities(OnlineClassifier):
    """A classifier that gives probabilities if it learns with `probability=True`."""

    probability: bool

    @available_if(lambda self: self._require_probabilities("predict_proba"))
    def predict_proba(self, X: Matrix) -> NDArray[np.float64]:
        """Compute the probabilities of the classes; available only with ``probability=True``.

        Of two classes 1 / (1 + exp(-(a s + b))) for ``classes_[1]``, of more the softmax of a s, with numbers a and b learnt from
        the scores s of each row just before the row itself (in `fit` only in the first epoch). They are those of the stream,
        whatever `class_weight` is. `predict` uses the scores: of two classes that are about as likely, or of classes of unlike
        weights, it may choose another one.

        For X of shape (n_samples, n_features): ndarray of float64, shape (n_samples, n_classes).
        In the order of ``classes_``; each row's sum is 1.
        """
        found = self.predict_log_proba(X)
        model.exponentials(found)
        return found

    @available_if(lambda self: self._require_probabilities("predict_log_proba"))
    def predict_log_proba(self, X: Matrix) -> NDArray[np.float64]:
        """Compute the logarithms of `predict_proba`, finite even where a probability underflows.

        For X of shape (n_samples, n_features): ndarray of float64, shape (n_samples, n_classes).
        """
        scores, state = self._decide(X)
        if len(state.classes) < 2:
            return np.zeros((len(scores), 1))
        return self._log_probabilities(state, scores)

    def _require_probabilities(self, name: str) -> None:
        """Raise an AttributeError without probabilities, so that hasattr is False."""
        state = self.__dict__.get("_state")
        if not self._has_own_probabilities() and not (self.probability and (state is None or len(state.calibration))):
            raise AttributeError(
                f"{type(self).__name__}: {name} must have a model that was learnt with probability=True, got one that was not. "
                "Set probability=True, and call fit or start with clone(estimator)."
            )

    def _has_own_probabilities(self) -> bool:
        """Return True if the scores themselves are logarithms of odds, as the loss makes them."""
        return False

    def _log_probabilities(self, state: Any, scores: np.ndarray) -> np.ndarray:
        n_classes = len(state.classes)
        # The scores are of the weighted stream: -log of the classes' weights, 0 for one that is left out, is added.
        if isinstance(self.class_weight, str):
            offsets = np.log(np.maximum(state.counts, 1.0))
        else:
            weights = validate.read_class_weight(type(self).__name__, self.class_weight, state.classes)
            offsets = -np.log(np.where(weights > 0.0, weights, 1.0)) if len(weights) else np.zeros(n_classes)
        if self._has_own_probabilities():
            if n_classes > 2 and not state.params.joint:
                with np.errstate(all="ignore"):
                    scores = -np.logaddexp(0.0, -scores)
            return model.log_softmax(scores, 1.0, 1.0, offsets)
        a, b = state.calibration[0, :2]
        return model.log_softmax(scores, a, b, np.arange(2.0) if n_classes == 2 else offsets)


@dataclass(init=False, eq=False, repr=False, kw_only=True)
class LinearClassifier(LinearParameters, WithProbabilities):
    """Base of the linear classifiers, with their common parameters, to which a subclass adds its own."""

    probability: bool = False
    class_weight: ClassWeight = None
    multi_class: Literal["ovr", "crammer_singer"] = "ovr"


class SecondOrderClassifier(WithVariances, LinearClassifier):
    """A classifier that keeps a variance for each weight, or a full covariance."""

    @overload
    def decision_function(self, X: Matrix, return_std: Literal[False] = False) -> Numbers: ...
    @overload
    def decision_function(self, X: Matrix, return_std: Literal[True]) -> tuple[Numbers, Numbers]: ...
    def decision_function(self, X: Matrix, return_std: bool = False) -> Numbers | tuple[Numbers, Numbers]:
        """Compute the signed scores w.x of rows, including the intercept, and optionally their standard deviations.

        For X of shape (n_samples, n_features): float64 of shape (n_samples,) for two classes, else (n_samples, n_classes).
        Two classes: above 0 means ``classes_[1]``. In units of the margin: from 1 on the hinge loss is 0.

        With ``return_std=True`` a pair of the scores and, in their shape and units, √(x'Σx) of each, the standard deviation of
        the score under the model's Gaussian.
        """
        return self._scores(X, return_std)


class OnlineRegressor(WithWeights):
    """Base of all regressors. A subclass adds its docstring and parameters; the registry has the rest."""

    _estimator_type = "regressor"
    _flat = True
    _read_targets = staticmethod(validate.read_targets)
    _task = staticmethod(lambda state: "regression")

    def predict(self, X: Matrix) -> NDArray[np.float64]:
        """Predict w.x of each row, including the intercept.

        For X of shape (n_samples, n_features): ndarray of float64, shape (n_samples,), in units of y.
        """
        return self._decide(X)[0][:, 0]

    def score(self, X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Compute R^2, 1 - sum c (y - s)^2 / sum c (y - mean of y)^2: at most 1, and 0 for predicting the mean.

        If y is constant it is 1 for exact predictions, else 0; for fewer than two rows it is NaN, with a warning.
        """
        who, predicted = type(self).__name__, self.predict(X)
        y = validate.read_targets(who, y, len(predicted))
        weights = validate.read_weights(who, sample_weight, len(predicted), some=True)
        if len(y) < 2:
            warn_caller("R^2 score is not well-defined with less than two samples.", "UndefinedMetricWarning")
            return float("nan")
        return _r2(y, predicted, weights if len(weights) else None)

    def _validate(self, rows: Rows, y: np.ndarray, weights: np.ndarray | None) -> float:
        return _r2(y, self._state.decision(rows)[:, 0], weights)

    @property
    def progressive_mse_(self) -> float:
        """Mean squared error of `predict`, called just before each round's update (above 1e140: 1e140). NaN before the first."""
        return self._progressive("squared")

    @property
    def progressive_mae_(self) -> float:
        """Mean absolute error of `predict`, called just before each round's update. NaN before the first round."""
        return self._progressive("absolute")

    def _progressive(self, name: str) -> float:
        counters = self._fitted_state().counters
        rounds = counters[model.COUNTERS["t"]]
        return float(counters[model.COUNTERS[name]] / rounds) if rounds else float("nan")


def classes_of_fit(who: str, y: np.ndarray) -> np.ndarray:
    """Return the classes of all rows of a `fit`, at least two."""
    classes = np.unique(y)
    if len(classes) < 2:
        raise ValueError(
            f"{who}: y must have at least 2 classes, got 1 class: {classes.tolist()[0]!r}. Give rows of another class too."
        )
    return classes


def stages_of(codes: np.ndarray, live: np.ndarray, known: np.ndarray, singly: bool) -> list[tuple[int, int, np.ndarray]]:
    """Return (first row, end, classes) of runs of rows, in whose first one a label joins those that are known.

    Classes are places among all labels. codes : the place of each row's label. live : True for rows of weight > 0; no other
    brings a label. singly : False: all labels from the third on join with it.
    """
    rows = np.flatnonzero(live & ~np.isin(codes, known))
    found, firsts = np.unique(codes[rows], return_index=True)
    order = np.argsort(firsts)
    joining, firsts = found[order], rows[firsts[order]]
    if not len(known):
        firsts[:1] = 0  # (rows before the first label have a weight of 0)
    if not singly:
        third = max(2 - len(known), 0)
        firsts[third:] = firsts[third : third + 1]
    ends = sorted({*[0][: len(known)], *firsts.tolist(), len(codes)})
    return [(start, end, np.sort(np.append(known, joining[firsts <= start]))) for start, end in pairwise(ends)]


def warn_of_a_run(learner: Any, y: Any) -> None:
    """Warn where the last rows all have one label, which most rows before them had not."""
    state, last = learner._state, np.asarray(y[-RUN:])
    before, own = state.counts.sum() - RUN, state.counts[state.classes == last[-1]].sum() - RUN
    if 0.0 <= own < 0.5 * before and (last == last[-1]).all():
        warn_caller(
            f"{type(learner).__name__}: rows of several labels should come in turns, got {RUN} of "
            f"{validate.brief(last[-1:].tolist()[0])} in a run, which teach that all rows are of it. Shuffle the rows."
        )


def _flat(scores: np.ndarray) -> np.ndarray:
    """Return the scores of a single vector of weights as a flat array; others unchanged."""
    return scores.ravel() if scores.shape[1] == 1 else scores


def _r2(y: np.ndarray, predicted: np.ndarray, weights: np.ndarray | None) -> float:
    exponent = -frexp(np.abs(y).max())[1]  # (a power of two as unit, in which the squares fit)
    with np.errstate(over="ignore", under="ignore"):  # (predictions beyond all bounds: -inf)
        y, predicted = np.ldexp(y, exponent), np.ldexp(predicted, exponent)
        left = float(np.average((y - predicted) ** 2, weights=weights))
        whole = float(np.average((y - np.average(y, weights=weights)) ** 2, weights=weights))
    return 1.0 - left / whole if whole else float(left == 0.0)
