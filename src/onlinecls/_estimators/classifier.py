"""The bases of all classifiers: labels and classes, how classes join, and probabilities."""

from __future__ import annotations

from itertools import pairwise
from math import ceil
from typing import TYPE_CHECKING, Any, Literal, Self, overload

import numpy as np

from .._compiled import model
from .._input import validate
from .._input.compat import available_if, warn_caller
from .._models.state import NO_WEIGHTS
from .._models.states import STATES
from .fitting import NO_PREDICTIONS, Batch, read_weights_of_fit, warn_of_skipped
from .learner import exclusive
from .parameters import ClassifierParameters
from .weights import WithVariances, WithWeights

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from .._input.types import ClassWeight, Generator, Matrix
    from .._rows import Rows

IN_TURNS = "rows of several labels should come in turns"
RUN = 100  # rows of one label, one after the other, of which a call warns
NO_ROUND, NO_CLASS = -2, -1  # instead of a prediction: for a row of weight 0; for a row before there was a class to predict


class OnlineClassifier(WithWeights):
    """Base of all classifiers. A subclass adds its docstring and parameters; the registry has the rest."""

    class_weight: ClassWeight
    multi_class: Literal["ovr", "crammer_singer"]
    validation_fraction: float

    _estimator_type = "classifier"

    # --- learning ------------------------------------------------------------------------------------------------------------

    def _task(self, state: Any) -> str:
        return "binary" if state.n_columns == 1 else self.multi_class

    def partial_fit(  # type: ignore[override]  # scikit-learn's order of arguments
        self, X: Matrix, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from rows in the given order, in one pass, starting from the present model.

        Any split of a stream into calls gives the same model, to the last bit.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            CSR with sorted columns (int32 or int64) and C-ordered arrays, of the model's dtype, are read in place; others
            are converted. No other thread may change the arrays of a call while it runs: they are checked, then read.
        y : array-like of shape (n_samples,)
            Labels: integers, booleans, strings, or floats that are integers.
        classes : array-like of shape (n_classes,), default=None
            All labels that will appear, given at the first call. None: labels join as they appear.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0 of the rows. A row of weight 0 changes nothing, not even a counter.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If a parameter, X, y, classes or sample_weight is not valid. The model is then unchanged.
        """
        state = self.__dict__.get("_state")
        learnt = 0 if state is None else state.try_partial_fit(self.__dict__, X, y, sample_weight, classes)
        if learnt == 0:
            self._partial_fit_labels(X, y, classes, sample_weight)
            return self
        if learnt != 1:
            warn_of_skipped(self, learnt - 1)
        labels: Any = y
        if len(labels) >= RUN and labels[-1] == labels[-RUN]:
            warn_of_a_run(type(self).__name__, labels, state)
        return self

    @exclusive
    def _partial_fit_labels(
        self, X: Matrix, y: ArrayLike, classes: ArrayLike | None, sample_weight: ArrayLike | None, predict: bool = False,
    ) -> np.ndarray:
        """Run `partial_fit`; with predict, return the prediction of each row from just before it was learnt.

        Predictions are numbers of classes among classes_, NO_ROUND or NO_CLASS.
        """
        who = type(self).__name__
        rows, params, first = self._read_call(X)
        y = validate.read_labels(who, y, rows.n_rows)
        weights = validate.read_weights(who, sample_weight, rows.n_rows)
        named = None if classes is None else self._read_classes(classes, first)
        predictions = np.full(rows.n_rows, NO_ROUND, np.int32) if predict else NO_PREDICTIONS
        n_skipped = 0 if first else self._state.count("skipped")
        if not first:
            known, is_open = self._state.classes, self._state.is_open
        else:
            known, is_open = (y[:0], True) if named is None else (named, False)
        codes, unknown = validate.encode(who, y, known, is_open)
        if unknown is not None or len(known) < 2:
            self._learn_with_newcomers(X, rows, y, weights, params, known, first, predictions)
        else:
            class_weights = NO_WEIGHTS
            if self.class_weight is not None:
                class_weights = validate.read_class_weight(who, self.class_weight, known, closed=not is_open)
            if first:
                self._begin(X, rows, self._start(params, rows, len(known)), known, is_open)
            self._learn(Batch(rows, codes, weights, class_weights, predictions=predictions), params)
        if "_state" in self.__dict__:  # (rows of weight 0 alone make no model)
            self._end_call(n_skipped)
            if len(y) >= RUN and y[-1] == y[-RUN]:
                warn_of_a_run(who, y, self._state)
        return predictions

    def _read_classes(self, classes: ArrayLike, first: bool) -> np.ndarray:
        """Return the classes argument as a sorted array."""
        who = type(self).__name__
        classes = validate.read_classes(who, classes)
        if first and len(classes) < 2:
            raise ValueError(
                f"{who}: classes must name at least 2 classes, got {len(classes)}. "
                "Leave it out if labels are to join as they appear."
            )
        if not first and not np.array_equal(classes, self.classes_):
            raise ValueError(
                f"{who}: classes must be those of the first call, {validate.brief(self.classes_.tolist())}, "
                f"got {validate.brief(classes.tolist())}. Leave classes out from the second call on."
            )
        return classes

    def _learn_with_newcomers(
        self, X: Matrix, rows: Rows, y: np.ndarray, weights: np.ndarray, params: Any, known: np.ndarray, first: bool,
        predictions: np.ndarray,
    ) -> None:
        """Learn rows with new labels; each joins where it first appears. (One vector up to the third class, then one a class.)"""
        who = type(self).__name__
        everyone = validate.union(known, y)
        class_weights = validate.read_class_weight(who, self.class_weight, everyone)
        live = Batch(rows, validate.encode(who, y, everyone)[0], weights, class_weights).live()  # (a product may underflow)
        weights = np.where(live, weights if len(weights) else 1.0, 0.0)
        labels, firsts = np.unique(y[live], return_index=True)
        fresh = ~np.isin(labels, known)
        labels, firsts = labels[fresh], np.flatnonzero(live)[firsts[fresh]]
        if not len(known) and not len(labels):
            return  # only rows of weight 0: no model begins
        labels = labels[np.argsort(firsts)]
        everyone, named = validate.union(known, labels), everyone
        starts = [*[0] * len(known), *np.sort(firsts).tolist(), *[rows.n_rows] * 3]  # of the rows with the first k classes
        starts = [0, *starts[1 : len(everyone) if STATES[params.model].joins_singly(params) else 3], rows.n_rows]
        stages: list[tuple[int, int, np.ndarray]] = []  # (first row, end, classes), all checked before the first write
        for k, (start, stop) in enumerate(pairwise(starts), start=1):
            if stop > start:
                classes = everyone if k == len(starts) - 1 else validate.union(known, labels[: max(k - len(known), 0)])
                stages.append((start, stop, classes))

        self._check_size(params, rows.n_features, len(everyone), rows.data.dtype)
        if first:
            state = self._start(params, rows, len(stages[0][2]))
            self._begin(X, rows, state, stages[0][2], is_open=True)
        elif stages and len(stages[0][2]) == len(known) < len(everyone):
            # A copy learns the rows before a newcomer: if there is no memory for the newcomer's weights, the old model remains.
            self._state = self._state.copy()
        for start, stop, classes in stages:
            if len(classes) == 1:
                self._state = self._state.writable()
                of_one = np.flatnonzero(weights[start:stop])
                self._state.tell_scale(rows.part(start, stop), of_one)
                self._state.count_rows(len(of_one))
                if len(predictions):
                    predictions[start:stop][live[start:stop]] = np.searchsorted(everyone, classes[0])
                    if not len(known):
                        predictions[live.argmax()] = NO_CLASS
                continue
            codes, _ = validate.encode(who, y[start:stop], classes, is_open=True)  # (rows of weight 0 may have others)
            these = class_weights[np.isin(named, classes)] if len(class_weights) else class_weights
            predicted = predictions[start:stop]
            batch = Batch(rows.part(start, stop), codes, weights[start:stop], these, predictions=predicted)
            if len(classes) == len(self._state.classes):
                self._learn(batch, params)
            else:
                self._learn_grown(batch, params, classes, known)
            predicted[predicted >= 0] = np.searchsorted(everyone, classes)[predicted[predicted >= 0]]

    def _learn_grown(self, batch: Batch, params: Any, classes: np.ndarray, known: np.ndarray) -> None:
        """Learn rows with the first ones of newcomers, before which nobody reads the model that has them: a class without a row
        would be predicted for rows that scored 0 so far."""
        before, t = self._state, self.t_  # (both models may have the same counters)
        grown = before.grow_classes(np.searchsorted(classes, before.classes), len(classes), params)
        grown.classes = classes
        grown = self._ready(grown, batch, params)
        try:
            grown.learn(model.TASKS[self._task(grown)], *batch)
        finally:  # an interrupt may come before a newcomer's first row
            came = (grown.counts > 0.0) | np.isin(classes, known)  # (a known one may have rows of weight 0 by now)
            if grown.count("t") > t:
                if not came.all():
                    grown = grown.keep_classes(came)
                    grown.classes = classes[came]
                self._state = grown

    def _read_targets(self, y: ArrayLike, n_rows: int) -> np.ndarray:
        return validate.read_labels(type(self).__name__, y, n_rows)

    def _can_go_on(self) -> bool:
        return len(self.classes_) > 1

    def _batch_of_fit(self, batch: Batch, again: bool) -> tuple[Batch, np.ndarray]:
        who, y, weights = type(self).__name__, batch.targets, batch.weights
        classes = self.classes_ if again else classes_of_fit(who, y)
        codes, _ = validate.encode(who, y, classes)
        class_weights = validate.read_class_weight(who, self.class_weight, classes, closed=True)
        batch = batch._replace(targets=codes, class_weights=class_weights)
        if len(class_weights) and not batch.row_weights().any():
            raise ValueError(f"{who}: class_weight must not be 0 for all rows, got {self.class_weight!r}.")
        if isinstance(self.class_weight, str):  # ("balanced": n / (k n_c) over the rows of weight > 0)
            counts = np.bincount(codes[weights > 0.0] if len(weights) else codes, minlength=len(classes))
            balanced = counts.sum() / (np.count_nonzero(counts) * np.maximum(counts, 1))
            batch = batch._replace(class_weights=np.where(counts > 0, balanced, 1.0))
        return batch, classes

    def _split(self, codes: np.ndarray, generator: Generator) -> tuple[np.ndarray, np.ndarray]:
        """Hold out a share of each class."""
        who, fraction = type(self).__name__, self.validation_fraction
        held_out, present = np.zeros(len(codes), bool), np.unique(codes)
        if len(codes) - ceil(fraction * len(codes)) < len(present) < len(codes):
            raise ValueError(
                f"{who}: validation_fraction must leave as many rows to learn from as there are classes, "
                f"{len(present)}, got validation_fraction={fraction!r} of n_samples={len(codes)}. "
                "Give more rows, a smaller fraction, or early_stopping=False."
            )
        for c in present:
            of_class = np.flatnonzero(codes == c)
            n_held_out = min(ceil(fraction * len(of_class)), len(of_class) - 1)
            held_out[generator.permutation(of_class)[: max(n_held_out, 0)]] = True
        if not held_out.any():
            raise ValueError(
                f"{who}: early_stopping must have two rows of some class, one to learn from and one to hold out, "
                f"got {len(codes)} rows of as many classes. Give more rows, or early_stopping=False."
            )
        return np.flatnonzero(~held_out), np.flatnonzero(held_out)

    def _validate(self, rows: Rows, codes: np.ndarray, weights: np.ndarray | None) -> float:
        return float(np.average(model.best_of(self._scores(rows, self._state)) == codes, weights=weights))

    def _progress(self) -> str:
        return f"mistakes={self.n_mistakes_}"

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
        weights = read_weights_of_fit(who, sample_weight, len(predicted))
        return float(np.average(predicted == y, weights=weights if len(weights) else None))

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

    average: bool | int
    probability: bool

    _is_biased = False  # True: the last weights are so biased towards the last rows that `fit` warns

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

    def _batch_of_fit(self, batch: Batch, again: bool) -> tuple[Batch, np.ndarray]:
        if self._is_biased and self.probability and not self.average:
            warn_caller(
                f"{type(self).__name__}: probability=True should come with average=True, got average={self.average!r}. The "
                "last weights, and thus the scores, are biased towards the last rows, so the probabilities may be off. Set "
                "average=True, or use AROWClassifier or NAROWClassifier."
            )
        return super()._batch_of_fit(batch, again)

    def _require_probabilities(self, name: str) -> None:
        """Raise an AttributeError without probabilities, so that hasattr is False."""
        if not self.probability and not self._has_own_probabilities():
            raise AttributeError(
                f"{type(self).__name__}: {name} must have probability=True, got probability={self.probability!r}. "
                "Set probability=True before the model learns."
            )

    def _has_own_probabilities(self) -> bool:
        """Return True if the scores themselves are logarithms of odds, as the loss makes them."""
        return False

    def _log_probabilities(self, state: Any, scores: np.ndarray) -> np.ndarray:
        n_classes, offsets = len(state.classes), self._offsets_of_classes(state)
        if self._has_own_probabilities():
            if n_classes > 2 and not state.params.joint:
                with np.errstate(all="ignore"):
                    scores = -np.logaddexp(0.0, -scores)
            return model.log_softmax(scores, 1.0, 1.0, offsets)
        if len(state.calibration) == 0:
            raise ValueError(
                f"{type(self).__name__}: predict_proba must have a model that was learnt with probability=True, got one that "
                "was not. Call fit, or start with clone(estimator)."
            )
        a, b = state.calibration[0, :2]
        return model.log_softmax(scores, a, b, np.arange(2.0) if n_classes == 2 else offsets)

    def _offsets_of_classes(self, state: Any) -> np.ndarray:
        """Return -log of the classes' weights, 0 for one that is left out: the scores are of the weighted stream."""
        if isinstance(self.class_weight, str):
            return np.log(np.maximum(state.counts, 1.0))
        weights = validate.read_class_weight(type(self).__name__, self.class_weight, state.classes)
        return -np.log(np.where(weights > 0.0, weights, 1.0)) if len(weights) else np.zeros(len(state.classes))


class LinearClassifier(ClassifierParameters, WithProbabilities):
    """Base of the linear classifiers, with their common parameters, to which a subclass adds its own."""



class SecondOrderClassifier(WithVariances, OnlineClassifier):
    """A classifier that keeps a variance for each weight, or a full covariance."""

    @overload
    def decision_function(self, X: Matrix, return_std: Literal[False] = False) -> NDArray[np.float64]: ...
    @overload
    def decision_function(
        self, X: Matrix, return_std: Literal[True]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
    def decision_function(
        self, X: Matrix, return_std: bool = False
    ) -> NDArray[np.float64] | tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Compute the signed scores w.x of rows, including the intercept, and optionally their standard deviations.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        return_std : bool, default=False
            Also return √(x'Σx) of each score.

        Returns
        -------
        scores : ndarray of float64, shape (n_samples,) for two classes, else (n_samples, n_classes)
            Two classes: above 0 means ``classes_[1]``. In units of the margin: from 1 on the hinge loss is 0.
        std : ndarray of float64, the shape of scores
            Only with return_std: the standard deviation of the score under the model's Gaussian, in the same units.
        """
        if not return_std:
            return _flat(self._decide(X)[0])
        scores, deviations, _ = self._decide_with_std(X)
        return _flat(scores), _flat(deviations)


def predict_and_learn(
    learner: OnlineClassifier, X: Matrix, y: ArrayLike, classes: ArrayLike | None, sample_weight: ArrayLike | None,
) -> np.ndarray:
    """Run `partial_fit`; return `predict` of each row from just before it was learnt, as the place among `classes_` after the
    call: NO_ROUND for a row of weight 0, another number below 0 if no prediction was possible."""
    return learner._partial_fit_labels(X, y, classes, sample_weight, predict=True)


def classes_of_fit(who: str, y: np.ndarray) -> np.ndarray:
    """Return the classes of all rows of a `fit`, at least two."""
    classes = np.unique(y)
    if len(classes) < 2:
        raise ValueError(
            f"{who}: y must have at least 2 classes, got 1 class: {classes.tolist()[0]!r}. Give rows of another class too."
        )
    return classes


def warn_of_a_run(who: str, y: Any, state: Any) -> None:
    """Warn where the last rows all have one label, which most rows before them had not."""
    y = np.asarray(y[-RUN:])
    before, own = state.counts.sum() - RUN, state.counts[state.classes == y[-1]].sum() - RUN
    if 0.0 <= own < 0.5 * before and (y == y[-1]).all():
        warn_caller(
            f"{who}: {IN_TURNS}, got {RUN} of {validate.brief(y[-1:].tolist()[0])} in a run, which teach that all rows are of "
            "it. Shuffle the rows."
        )


def _flat(scores: np.ndarray) -> np.ndarray:
    """Return the scores of a single vector of weights as a flat array; others unchanged."""
    return scores.ravel() if scores.shape[1] == 1 else scores
