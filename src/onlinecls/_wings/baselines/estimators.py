"""Baselines: online gradient descent, and Hedge over experts."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..._estimators.classifier import LinearClassifier, OnlineClassifier
from ..._estimators.parameters import EpochParameters, estimator
from ..dual_ascent.estimators import AscentLearner
from ..dual_ascent.states import SHARED as _SHARED

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray
    from sklearn.utils import Tags

    from ..._input.rows import Rows
    from ..._input.types import ClassWeight, FloatOrAuto, FloatType, Matrix
    from ..dual_ascent.states import AscentParams


@estimator
class OGDClassifier(AscentLearner, LinearClassifier):
    """Online gradient descent on the hinge loss, with the step rules of strongly convex and of plain losses.

    With the margin m = y w.x and the row's weight c, in round t,

        learning_rate="strongly_convex":   w <- (1 - 1/t) w + [m < 1] c y x / (alpha t)
        learning_rate="sqrt":              w <- w + [m < 1] eta0 c y x / sqrt(t)

    The first is gradient descent on alpha/2 ||w||^2 + c [1 - m]+ with step 1/(alpha t), whose regret grows as log t (Pegasos with
    one row a step); the sum z of c y x is kept, and w is z / (alpha t). For each class against the rest or, with
    ``multi_class="crammer_singer"``, with x on the true class, -x on the best wrong one, and m the difference of their scores.

    Parameters
    ----------
    alpha : float, default=1e-4
        Strength of the regularisation, > 0; of "strongly_convex" alone.
    learning_rate : {"strongly_convex", "sqrt"}, default="strongly_convex"
    eta0 : float, default=1.0
        Step size in the first round, > 0; of "sqrt" alone.
    {shared}

    References
    ----------
    .. [1] S. Shalev-Shwartz, Y. Singer. Theory and Applications of Online Learning. ICML 2008 tutorial, part V (logarithmic
       regret for strongly convex losses).

    Examples
    --------
    >>> from onlinecls import OGDClassifier
    >>> learner = OGDClassifier(alpha=0.5, fit_intercept=False).partial_fit([[1.0, 0.0], [0.0, 1.0]], [1, 0], classes=[0, 1])
    >>> learner.coef_.tolist()  # (y_1 x_1 + y_2 x_2) / (alpha t)
    [[1.0, -1.0]]
    """

    alpha: float = 1e-4
    _: KW_ONLY
    learning_rate: Literal["strongly_convex", "sqrt"] = "strongly_convex"
    eta0: float = 1.0



@estimator
class HedgeClassifier(EpochParameters, AscentLearner, OnlineClassifier):
    """Hedge (exponential weights): predicts about as well as the best of the experts whose advice is the features.

    Feature j is expert j's advice in [0, 1], its chance of ``classes_[1]`` (y = +1). With the loss (y + 1)/2 - y x_j of an
    expert, c the row's weight, and w_j proportional to exp(-eta * sum of its losses times c),

        P(+1) = w.x,     expected loss (y + 1)/2 - y w.x.

    `predict` returns ``classes_[1]`` when w.x > 1/2. The bound is for a prediction drawn with the chance w.x: with eta0="auto"
    the expected loss is at most the best expert's + 2 sqrt(T ln(d) / 2) + sqrt(ln(d) / 8) after T rounds, d experts.
    A row costs O(n_features), as every weight changes.

    With ``signed=True`` advice is in [-1, 1]: its sign is the advised class, and 0 (as of features missing in a sparse row) is no
    advice. x means the chance (1 + x)/2, so that the loss is (1 - y x_j)/2 and P(+1) = (1 + w.x)/2.

    Parameters
    ----------
    eta0 : float or "auto", default="auto"
        eta, > 0. "auto": sqrt(8 ln(d) / t) in round t.
    signed : bool, default=False
        Whether advice is in [-1, 1].
    {parameters}

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
    coef_ : ndarray of shape (1, n_features)
        The experts' weights w of the next round, >= 0, of sum 1.
    intercept_ : ndarray of shape (1,)
        -1/2: the decision is w.x - 1/2 > 0. (signed=True: 0, and w.x > 0.)
    expected_loss_ : float
        The sum over the rounds, each counted once, of the randomised prediction's chance of being wrong.
    n_features_in_, n_iter_, t_, n_mistakes_, n_updates_, n_skipped_ : int
        As in the other classifiers; n_mistakes_ counts those of the deterministic prediction.

    Raises
    ------
    ValueError
        By `fit` and `partial_fit`, before anything is written: as in the other classifiers, advice out of range, a third class.

    References
    ----------
    .. [1] S. Shalev-Shwartz, Y. Singer. Theory and Applications of Online Learning. ICML 2008 tutorial, parts I, III and V.

    Examples
    --------
    >>> from onlinecls import HedgeClassifier
    >>> learner = HedgeClassifier().partial_fit([[1.0, 0.0], [0.9, 0.6], [0.1, 0.8]], ["spam", "spam", "ham"])
    >>> learner.predict([[1.0, 0.0]]).tolist(), learner.coef_.round(2).tolist()
    (['spam'], [[0.7, 0.3]])
    """

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        assert tags.classifier_tags is not None
        tags.classifier_tags.multi_class, tags.input_tags.positive_only = False, not self.signed
        return tags

    if not TYPE_CHECKING:  # (the base has them as parameters)
        average, early_stopping = False, False

    eta0: FloatOrAuto = "auto"
    _: KW_ONLY
    max_iter: int = 1
    shuffle: bool = False
    dtype: FloatType | None = None
    class_weight: ClassWeight = None
    signed: bool = False

    _has_fast_path = False  # (advice is checked)

    def _read_rows(self, X: Matrix, state: Any) -> Rows:
        rows = super()._read_rows(X, state)
        least, most = rows.data.min(initial=0.0), rows.data.max(initial=1.0)  # (no array of the size of X)
        lowest = -1.0 if self.signed else 0.0
        if least < lowest or most > 1.0:
            meant = "Each feature is an expert's chance of the second class; signed=True takes advice in [-1, 1]."
            raise ValueError(
                f"{type(self).__name__}: X must be advice in [{lowest:g}, 1], got {least if least < lowest else most:g}. "
                + ("Divide it by the largest size that it can have." if self.signed else meant)
            )
        return rows

    def _check_size(self, params: AscentParams, n_features: int, n_classes: int, dtype: DTypeLike) -> None:
        if n_classes > 2:
            raise ValueError(
                f"{type(self).__name__}: Only binary classification is supported: y must have 2 classes, got {n_classes} classes."
            )

    @property  # type: ignore[misc]
    def coef_(self) -> NDArray[np.floating]:
        """The experts' weights of the next round."""
        state = self._fitted_state()
        sparse = state.sparse_coef
        return state.expert_weights()[None] if sparse is None else sparse

    @property  # type: ignore[misc]
    def intercept_(self) -> NDArray[np.floating]:
        """-1/2, or 0 with signed=True."""
        self._fitted_state()
        return np.array([0.0 if self.signed else -0.5])

    @property
    def expected_loss_(self) -> float:
        """Sum over the rounds of the randomised prediction's chance of being wrong."""
        return float(self._fitted_state().shared[_SHARED["dual_gain"]])
