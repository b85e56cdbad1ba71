"""Follow the regularized leader: the support vector machine of all rows so far, after each row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from ..._algorithm import NOT_NEGATIVE, POSITIVE
from ..._estimators import threads
from ..._estimators.classifier import OnlineClassifier
from ..._estimators.learner import Batch
from ..._estimators.parameters import estimator
from ..._estimators.saving import FLAG
from ..dual_ascent import dual_ascent as ascent
from . import forel
from .states import GAP, ForelState, LeaderParams

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..._input.rows import Rows
    from ..._input.types import ClassWeight, FloatOrAuto, FloatType

_LEARN = {4: forel.learn["float"], 8: forel.learn["double"]}
_DECISION = {4: forel.decision["float"], 8: forel.decision["double"]}


@estimator
class FoReLClassifier(OnlineClassifier):
    """Follow the regularized leader: after each row the optimal weights for all rows so far.

        w_t = argmin  sigma/2 ||w||^2 + sum over i <= t of c_i loss_i(w)

        hinge loss [1 - y w.x]+:            the support vector machine, C = 1/sigma
        log loss log(1 + exp(-y w.x)):      logistic regression (joint: that of the softmax), C = 1/sigma

    Every row is kept, and has a dual variable alpha in [0, c] (joint: one for each wrong class, of sum <= c). A row with a loss
    gets its optimal alpha, which is DA2's step (joint: DA3's), and coordinate ascent over all rows goes on from there until the
    duality gap is at most `gap_tol`: P(w_t) - min P <= gap_tol, and sigma/2 ||w_t - w_t*||^2 <= gap_tol. A row without a loss
    changes nothing: w stays optimal. So the dual rises by no less than in dual ascent, with the same regret bound.

    A row that has a loss costs a few sweeps over all rows so far: O(n^2) a pass over n rows, and memory for all of them. It is
    for short streams, and as a reference; `DualAscentClassifier` costs O(nnz) a row.

    Parameters
    ----------
    sigma : float or None, default=None
        Strength of the regularizer, > 0.
    gap_tol : float, default=1e-3
        The duality gap allowed after each row, > 0, in units of the loss (including the rows' weights). The search also ends at
        1e-13 of the sum of losses, where rounding dominates, and after 1,000 sweeps.
    loss : {"hinge", "log_loss"}, default="hinge"
    {parameters}

    Attributes
    ----------
    {attributes}
    gap_ : float
        The duality gap after the last row.
    dual_value_ : float
        D = sum of alpha - ||theta||^2 / (2 sigma), theta = sigma w; log loss: the rows' c H(alpha/c), H the entropy of the shares
        alpha/c and of the rest of 1, instead of alpha. P(w_t) is D + `gap_`.
    dual_coef_ : ndarray of shape (t_, 1) or (t_, n_classes)
        alpha of the rows kept, in order: of the row, of the wrong classes, or of each learner. (Rows before there were two
        classes are not kept.)

    Raises
    ------
    {raises}

    See Also
    --------
    DualAscentClassifier : The same dual, raised by the variables of the row alone, O(nnz) a row.
    reference.LeaderClassifier : The same in NumPy, for any f and loss.

    Notes
    -----
    `fit` is one pass in the given order: more would only repeat rows that are kept already. ``average`` is not offered. When a
    third class joins, two vectors with theta/2 and alpha/2 each replace the single one (the scores do not change), and the
    optimal weights with the new rival are found from there. `onlinecls.reference.LeaderClassifier` and `LeaderRegressor` take any
    other regularizer, such as the entropic one, and targets.

    References
    ----------
    .. [1] S. Shalev-Shwartz, Y. Singer. Theory and Applications of Online Learning. ICML 2008 tutorial, part III (aggressive
       dual ascent schemes II, online SVM by following the leader).

    Examples
    --------
    >>> from onlinecls import FoReLClassifier
    >>> learner = FoReLClassifier(0.5, fit_intercept=False, gap_tol=1e-9)
    >>> learner.partial_fit([[2.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [1, 0, 1], classes=[0, 1]).coef_.round(4).tolist()
    [[1.5, -0.5]]
    >>> learner.gap_ <= 1e-9
    True
    """

    if not TYPE_CHECKING:  # (the base has them as parameters)
        random_state, early_stopping, shuffle = None, False, False  # (not parameters)
    _record = LeaderParams
    _has_fast_path = False
    _fields = {
        "loss": {name: ascent.LOSSES[name] for name in ("hinge", "log_loss")}, "joint": FLAG,
        "open_classes": FLAG, "balanced": FLAG, "sigma": POSITIVE, "tolerance": POSITIVE, "bias": NOT_NEGATIVE,
        "limit": NOT_NEGATIVE,
    }

    sigma: float | None
    gap_tol: float
    loss: Literal["hinge", "log_loss"]

    def __init__(
        self, sigma: float | None = None, *, gap_tol: float = 1e-3, loss: Literal["hinge", "log_loss"] = "hinge",
        fit_intercept: bool = True, intercept_scaling: FloatOrAuto = "auto", warm_start: bool = False,
        average: bool | int = False, verbose: int = 0, dtype: FloatType | None = None, class_weight: ClassWeight = None,
        multi_class: Literal["ovr", "crammer_singer"] = "crammer_singer", n_jobs: int | None = None,
    ) -> None:
        self._assign(locals())

    @classmethod
    def _fields_of(cls, header: dict, compiled: dict) -> dict:
        return dict(cls._fields)

    def _pass(self, batch: Batch) -> None:
        state = self._state = self._state.writable()
        state.sparse_coef = None
        rows, targets, predictions = batch.rows, batch.targets, batch.predictions
        _, is_open, balanced = self._task(state, batch.class_weights)
        state.asked = self._choice.params, is_open, balanced
        state.params = self._choice.params.of_pass(state, is_open, balanced)
        weights = batch._replace(weights=batch.weights if len(batch.weights) else np.ones(rows.n_rows)).row_weights()
        live = weights > 0.0
        old, before = len(state.labels), state.count("t")
        predicted = np.zeros(old + live.sum() if len(predictions) else 0, np.int32)
        state.append(*_entries(rows, live), targets[live].astype(np.int32), weights[live])
        try:
            _LEARN[state.dtype.itemsize](state.params, state, state.data, old, len(state.labels), predicted)
        finally:
            state.truncate(old + state.count("t") - before)  # (an interrupt comes between two rows)
            if len(predictions):
                predictions[live] = predicted[old:]

    def _progress(self) -> str:
        return f"{super()._progress()} gap={self.gap_:.3g}"

    def _scores(self, rows: Rows, state: ForelState) -> np.ndarray:
        scores = np.empty((rows.n_rows, state.n_columns))
        params = state.params._asdict()
        decision = _DECISION[state.dtype.itemsize]

        def read(part: Rows, found: np.ndarray) -> None:
            decision(params, *_entries(part), state.theta, found)

        threads.read_rows(type(self).__name__, read, rows, scores, self.n_jobs)
        return scores

    @property
    def dual_coef_(self) -> NDArray[np.float64]:
        """α of the rows kept, a copy."""
        return self._fitted_state().alpha.copy()

    @property
    def dual_value_(self) -> float:
        """D(α) = Σ α - ||θ||²/(2σ)."""
        return self._fitted_state().value()

    @property
    def gap_(self) -> float:
        """The duality gap after the last row."""
        return float(self._fitted_state().shared[GAP])


def _entries(rows: Rows, live: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the rows' non-zeros as CSR of int64; with `live`, of these rows only."""
    lo, hi = int(rows.indptr[0]), int(rows.indptr[-1])
    data = rows.data.reshape(-1)[lo:hi]
    if rows.indices.dtype == np.uint8:  # dense storage
        indices = np.tile(np.arange(rows.n_features, dtype=np.int64), rows.n_rows)
    else:
        indices = rows.indices[lo:hi].astype(np.int64, copy=False)
    keep, lengths = data != 0.0, np.diff(rows.indptr)
    if live is not None:
        keep &= np.repeat(live, lengths)
    ends = np.append(0, np.cumsum(keep))[np.asarray(rows.indptr) - lo]
    if live is not None:
        ends = np.append(0, ends[1:][live])
    return data[keep], indices[keep], ends.astype(np.int64)
