"""Learners to compare with: online gradient descent, and Hedge over experts."""

from __future__ import annotations

from . import _ascent
from ._ascent_base import AscentClassifier
from ._docs import documented
from ._registry import POSITIVE, Options, Real


@documented
class OGDClassifier(AscentClassifier):
    """Online gradient descent on the hinge loss, with the step rules of strongly convex and of plain losses.

    With the margin m = y w.x and the row's weight c, in round t,

        learning_rate="strongly_convex":   w <- (1 - 1/t) w + [m < 1] c y x / (alpha t)
        learning_rate="sqrt":              w <- w + [m < 1] eta0 c y x / sqrt(t)

    The first is gradient descent on alpha/2 ||w||^2 + c [1 - m]+ with step 1/(alpha t), whose regret grows as log t (it is Pegasos
    with one row a step); the sum z of c y x is kept, and w is z / (alpha t). For each class against the rest or, with
    ``multi_class="crammer_singer"``, with x on the true class, -x on the best wrong one, and m the difference of their scores.

    Parameters
    ----------
    alpha : float, default=1e-4
        Strength of the regularisation, > 0; of "strongly_convex" alone.
    learning_rate : {"strongly_convex", "sqrt"}, default="strongly_convex"
    eta0 : float, default=1.0
        Step size in the first round, > 0; of "sqrt" alone.
    {parameters}

    Attributes
    ----------
    {attributes}

    Raises
    ------
    {raises}

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

    _ranges = {
        "alpha": Real(0.0, hint="The steps are 1/(alpha t)."), "eta0": POSITIVE,
        "learning_rate": Options(("strongly_convex", "sqrt")),
    }  # fmt: skip

    def __init__(
        self, alpha=1e-4, *, learning_rate="strongly_convex", eta0=1.0, fit_intercept=True, intercept_scaling=1.0, max_iter=10,
        tol=1e-3, shuffle=True, random_state=None, warm_start=False, average=False, early_stopping=False, validation_fraction=0.1,
        n_iter_no_change=5, verbose=0, dtype=None, class_weight=None, multi_class="ovr", n_jobs=None,
    ):  # fmt: skip
        self._assign(locals())

    def _translated(self, values: dict) -> dict:
        rate = values["learning_rate"]
        return {"schedule": _ascent.SCHEDULES[rate], "sigma": float(values["eta0" if rate == "sqrt" else "alpha"])}
