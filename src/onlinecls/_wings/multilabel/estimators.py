"""The classifier of rows that have several labels, or none."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from ..._estimators import youth
from ..._estimators.choice import choose
from ..._estimators.estimator import exclusive
from ..._estimators.learner import NO_PREDICTIONS, Batch, read_weights_of_fit
from ..._estimators.parameters import EpochParameters, estimator
from ..._estimators.weights import WithWeights
from ..._input import validate
from ..._saving import require
from .sets import Sets, read_sets
from .states import LabelParams, n_counted

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray
    from sklearn.utils import Tags

    from ..._algorithm import Units
    from ..._estimators.units import Youth
    from ..._input.rows import Rows
    from ..._input.types import FloatOrAuto, FloatType, Matrix

NO_ROWS = np.empty((0, 0), np.int32)


@estimator
class MultiLabelClassifier(EpochParameters, WithWeights):
    """A classifier of rows that have several labels, or none: PA or AROW for each label, all in one pass.

    Label k has the score s_k = w_k.x, and is predicted where s_k > 0. With y_k = 1 if the row has the label, else -1, the margin
    m_k = y_k s_k, v_k = x'Σ_k x, and the row's weight c: if m_k < 1,

        algorithm="arow"                          w_k += y_k (1 - m_k) / (v_k + r/c) Σ_k x,   Σ_k^-1 += (c/r) x x'   (diagonal)
        algorithm="pa", loss="hinge"              w_k += y_k min(C c, (1 - m_k) / ||x||^2) x
        algorithm="pa", loss="squared_hinge"      w_k += y_k (1 - m_k) / (||x||^2 + 1/(2 C c)) x

    for every label (``update="all"``), or for two alone (``update="worst"``): the row's label of least score, and the other label
    of the highest. A label learns from the first row on that has it: naming it in `classes` before changes nothing.

    Parameters
    ----------
    algorithm : {"arow", "pa"}, default="{algorithm}"
        AROW with a variance for each weight, or passive-aggressive.
    C : float, default={C}
        PA's aggressiveness, > 0: the largest step. ``float("inf")`` is the plain PA.
    loss : {"hinge", "squared_hinge"}, default="{loss}"
        PA-I or PA-II.
    r : float or "auto", default="{r}"
        AROW's noise variance of a row, > 0, in units of x'Σx (squared feature units).
    update : {"all", "worst"}, default="{update}"
        Which labels of a row may take a step. "worst" is the pair of the papers on ranking labels [1]_, each of the two against
        the threshold 0, as if it were a label between them [2]_.
    {shared}

    See Also
    --------
    PassiveAggressiveClassifier, AROWClassifier : One label a row.
    measures.MultiLabelMeasures : F1 and exact matches of sets of labels.

    Notes
    -----
    y is an indicator matrix of 0 and 1, dense or sparse, of shape (n_samples, n_classes), or has a list, tuple or set of labels
    for each row. Lists of 0 and 1 alone, all of one length, are a matrix if a number comes twice in one of them; else they could
    be either, and are refused. Labels join as they appear in lists, if the first
    call of `partial_fit` has named no `classes`; the columns of a matrix are the classes. ``coef_`` has a row for each label.
    ``n_mistakes_`` counts the rows whose set of labels `predict` would not have given exactly. Labels without a row yet have
    weights of zero, and are not predicted. The mean loss by which `fit` ends is that of rows, summed over labels.

    References
    ----------
    .. [1] K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz, Y. Singer. Online Passive-Aggressive Algorithms. JMLR 7, 2006.
       K. Crammer, Y. Singer. A Family of Additive Online Algorithms for Category Ranking. JMLR 3, 2003.
    .. [2] J. Fürnkranz, E. Hüllermeier, E. Loza Mencía, K. Brinker. Multilabel classification via calibrated label ranking.
       Machine Learning 73, 2008.

    Examples
    --------
    >>> from onlinecls import MultiLabelClassifier
    >>> X = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.0, 0.0]]
    >>> learner = MultiLabelClassifier("pa").partial_fit(X * 9, [["sport"], ["law"], ["law", "sport"], []] * 9)
    >>> learner.classes_.tolist(), learner.predict(X).tolist()
    (['law', 'sport'], [[0, 1], [1, 0], [1, 1], [0, 0]])
    >>> [learner.classes_[row == 1].tolist() for row in learner.predict([[2.0, 2.0]])]
    [['law', 'sport']]
    """

    _estimator_type = "classifier"
    _record = LabelParams
    early_stopping = False

    algorithm: Literal["arow", "pa"] = "arow"
    _: KW_ONLY
    C: float = 1.0
    loss: Literal["hinge", "squared_hinge"] = "hinge"
    r: FloatOrAuto = "auto"
    update: Literal["all", "worst"] = "all"
    forgetting: float = 0.0
    fit_intercept: bool = True
    intercept_scaling: FloatOrAuto = "auto"
    average: bool | int = False
    dtype: FloatType | None = None

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class, tags.classifier_tags.multi_label = False, True
        tags.target_tags.single_output, tags.target_tags.multi_output = False, True
        return tags

    # --- learning ------------------------------------------------------------------------------------------------------------

    def _task(self, state: Any, class_weights: np.ndarray) -> tuple[str, bool, bool]:
        return "ovr" if self.update == "all" else "worst", True, False

    def partial_fit(  # type: ignore[override]  # scikit-learn's order of arguments
        self, X: Matrix, y: Any, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from rows in the given order, in one pass, starting from the present model.

        Any split of a stream into calls gives the same model, to the last bit.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : indicator matrix of shape (n_samples, n_classes), or sequence of n_samples lists of labels
        classes : array-like of shape (n_classes,), default=None
            All labels that will appear, given at the first call; for a matrix, in sorted order. None: labels of lists join as
            they appear; the classes of a matrix are the numbers of its columns.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0 of the rows. A row of weight 0 changes nothing, not even a counter.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If a parameter, X, y, classes or sample_weight is not valid, or if no row of the first call has a label. The model is
            then unchanged.
        """
        self._partial_fit_sets(X, y, classes, sample_weight)
        return self

    @exclusive
    def _partial_fit_sets(
        self, X: Matrix, y: Any, classes: ArrayLike | None, sample_weight: ArrayLike | None, predict: bool = False,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Run `partial_fit`; return the rows' indicators and, with predict, those predicted just before each row was learnt."""
        who = type(self).__name__
        rows, first = self._read_call(X)
        weights = validate.read_weights(who, sample_weight, rows.n_rows)
        sets = read_sets(who, y, rows.n_rows, listed=not first and self._state.is_open)
        n_skipped = 0 if first else self.n_skipped_
        if len(weights):
            sets = sets.of_rows(weights > 0.0)
        known = self._named(classes, sets) if first else self.classes_
        if not first and classes is not None and not np.array_equal(validate.read_classes(who, classes), known):
            raise ValueError(
                f"{who}: classes must be those of the first call, {validate.shown(known)}, got "
                f"{validate.shown(validate.read_classes(who, classes))}. Leave classes out from the second call on."
            )
        is_open = classes is None and not sets.is_matrix if first else self._state.is_open
        everyone = known
        if is_open and not sets.is_matrix and len(sets.labels):
            labels = validate.comparable(who, sets.labels, known) if len(known) else sets.labels
            everyone = validate.union(known, labels) if len(known) else labels
        if first and not len(everyone):
            if not rows.n_rows or (len(weights) and not weights.any()):
                return NO_ROWS, NO_ROWS  # no model begins
            raise ValueError(
                f"{who}: y must have a label in some row of the first call, got none in {rows.n_rows} rows. Give classes."
            )
        has = sets.among(who, everyone, n_counted(len(everyone)))
        self._check_size(choose(self).params, rows.n_features, n_counted(len(everyone)), rows.data.dtype)
        if first:
            state = self._start(choose(self).params, rows, len(everyone))
            self._begin(X, rows, state, classes=everyone, is_open=is_open)
        elif len(everyone) > len(known):
            self._state = self._with_labels(everyone)
        predictions = np.zeros(has.shape, np.int32) if predict else NO_PREDICTIONS
        self._learn(Batch(rows, has, weights, predictions=predictions))
        youth.warn(self, n_skipped)
        return has[:, : len(everyone)], predictions[:, : len(everyone)] if predict else NO_ROWS

    def _named(self, classes: ArrayLike | None, sets: Sets) -> np.ndarray:
        """Return the classes that the first call names, by the argument or by the columns of a matrix."""
        who = type(self).__name__
        if classes is None:
            return sets.labels if sets.is_matrix else sets.labels[:0]
        found = validate.read_classes(who, classes)
        if sets.is_matrix and list(classes) != found.tolist():  # type: ignore[arg-type]
            raise ValueError(
                f"{who}: classes must be sorted where y is an indicator matrix, whose columns are the sorted classes, got "
                f"{validate.brief(classes)}. Sort classes, and the columns with them."
            )
        return found

    def _with_labels(self, classes: np.ndarray) -> Any:
        """Return the model with these labels, which are its own and others."""
        known, before = self.classes_, self._state
        places = np.searchsorted(classes, known)
        grown = before.joined(places, len(classes), self._choice.params)
        grown.classes = classes
        if before.youth is not None and before.youth.rows.n_rows:
            targets = np.zeros((before.youth.rows.n_rows, len(grown.counts)), np.uint8)
            targets[:, places] = before.youth.targets[:, : len(known)]
            grown.youth = before.youth._replace(targets=targets)
        return grown

    def _start(self, params: Any, rows: Rows, n_classes: int) -> Any:
        return super()._start(params, rows, n_counted(n_classes))

    def _learn_again(self, young: Youth, units: Units, before: Any) -> None:
        state = self._start_again(units, young.rows, len(before.counts), before)
        self._begin(young.rows, young.rows, state, units, before.classes, before.is_open)
        self._learn(Batch(young.rows, young.targets, young.weights))

    def fit(self, X: Matrix, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        return self._fit(X, y, sample_weight)

    fit.__doc__ = WithWeights.fit.__doc__

    def _read_targets(self, y: Any, n_rows: int) -> Any:
        return read_sets(type(self).__name__, y, n_rows)

    def _batch_of_fit(self, batch: Batch, again: bool) -> tuple[Batch, np.ndarray]:
        who, sets = type(self).__name__, batch.targets
        classes = self.classes_ if again else sets.labels  # type: ignore[attr-defined]
        if not len(classes):
            raise ValueError(f"{who}: y must have a label in some row, got none in {batch.rows.n_rows} rows.")
        has = sets.among(who, classes, n_counted(len(classes)))  # type: ignore[attr-defined]
        return batch._replace(targets=has), classes

    def _progress(self) -> str:
        return f"mistakes={self.n_mistakes_}"

    # --- predicting ----------------------------------------------------------------------------------------------------------

    def decision_function(self, X: Matrix) -> NDArray[np.float64]:
        """Compute the scores w_k.x of rows, including the intercepts.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of float64, shape (n_samples, n_classes)
            Above 0 where a label is predicted. In units of the margin.
        """
        scores, state = self._decide(X)
        return scores[:, : len(state.classes)]

    def predict(self, X: Matrix) -> NDArray[np.int64]:
        """Predict the labels of each row: those of a score above 0.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of int64, shape (n_samples, n_classes)
            1 for a label that is predicted, else 0; a column for each of ``classes_``.
        """
        return (self.decision_function(X) > 0.0).astype(np.int64)

    def score(self, X: Matrix, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Compute the share of rows whose labels are predicted exactly, a number in [0, 1] (scikit-learn's subset accuracy).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : indicator matrix of shape (n_samples, n_classes), or sequence of n_samples lists of labels
            A label that is not among ``classes_`` is an error.
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        accuracy : float
        """
        who, predicted = type(self).__name__, self.predict(X)
        has = read_sets(who, y, len(predicted)).among(who, self.classes_, predicted.shape[1])
        weights = read_weights_of_fit(who, sample_weight, len(predicted))
        return float(np.average((has == predicted).all(axis=1), weights=weights if len(weights) else None))

    # --- fitted attributes ---------------------------------------------------------------------------------------------------

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, sorted, in the order of the scores."""
        return self._fitted_state().classes

    @property
    def n_mistakes_(self) -> int:
        """Rounds on which `predict`, called just before the update, would not have given exactly the row's labels."""
        return self._fitted_state().count("mistakes")

    @property
    def coef_(self) -> NDArray[np.floating]:
        """Weights, (n_classes, n_features): a read-only view of the model where possible. Copy it to keep it."""
        return super().coef_[: len(self.classes_)]

    @property
    def intercept_(self) -> NDArray[np.floating]:
        """Weight of the constant feature times its value, (n_classes,)."""
        return super().intercept_[: len(self.classes_)]

    # --- files ---------------------------------------------------------------------------------------------------------------

    @classmethod
    def _n_counted(cls, classes: np.ndarray | None) -> int:
        return n_counted(0 if classes is None else len(classes))

    def _require_classes(self, is_open: bool, classes: np.ndarray, state: Any) -> None:
        require(not state.counts[len(classes) :].any(), "rows of labels alone", state.counts.tolist())


def predict_and_learn(
    learner: MultiLabelClassifier, X: Matrix, y: Any, classes: ArrayLike | None, sample_weight: ArrayLike | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Run `partial_fit`; return the labels of the rows, and those predicted for each just before it was learnt, as sets.

    Both are arrays of objects. Rows of weight 0, and those of a call that begins no model, have no labels.
    """
    found = learner._partial_fit_sets(X, y, classes, sample_weight, predict=True)
    return _named(learner, found[0]), _named(learner, found[1])


def _named(learner: MultiLabelClassifier, has: np.ndarray) -> np.ndarray:
    """Return indicators as an array of sets of labels."""
    labels = learner.classes_.tolist() if len(has) else []
    sets = np.empty(len(has), object)
    for at, row in enumerate(has):
        sets[at] = {labels[k] for k in np.flatnonzero(row).tolist()}
    return sets
