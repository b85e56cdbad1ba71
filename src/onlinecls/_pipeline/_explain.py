"""`explain`: the features of a row by what each adds to the score of its prediction."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._input.compat import is_regressor, issparse
from ..text import FeatureNames, HashingVectorizer, contributions, weights_towards
from ._steps import home_of, is_frozen

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..text import Contribution

_NAMES = 100_000  # words kept of a row


class Explanation(NamedTuple):
    """Describe the prediction for a row by what each of its features adds to the score.

    Attributes
    ----------
    prediction : label, or the number that a regressor predicts
    score : float
        w.x + intercept towards the predicted class; of a regressor, the prediction.
    std : float or None
        Standard deviation of the score, if the model has `covariance_`.
    features : list of Contribution
        Those of the largest contributions first: name, contribution (weight times value), weight, value, std of the weight,
        column, and whether words of other names share the column. The intercept is called "(intercept)".
    """

    prediction: Any
    score: float
    std: float | None
    features: list[Contribution]


def _score(learner: Any, X: Any) -> tuple:
    """Return (prediction for a row, position of its class, score towards it, its standard deviation or None)."""
    more = {"return_std": True} if hasattr(learner, "covariance_") else {}
    if is_regressor(learner):
        value, deviation = learner.predict(X, **more) if more else (learner.predict(X), [None])
        return float(value[0]), 1, float(value[0]), None if deviation[0] is None else float(deviation[0])
    predicted = learner.decision_function(X, **more)
    scores, std = (np.reshape(each, -1) for each in predicted) if more else (np.reshape(predicted, -1), None)
    label = learner.predict(X).tolist()[0]
    c = np.asarray(learner.classes_).tolist().index(label)
    place = c if len(scores) > 1 else 0
    score = float(scores[place]) if len(scores) > 1 or c == 1 else -float(scores[0])
    return label, c, score, None if std is None else float(std[place])


def linear_of(learner: Any) -> Any:
    """Return the linear model that predicts; None for a kernel learner."""
    found = getattr(learner, "chosen_", learner)
    return found if hasattr(found, "coef_") else None


def explained(steps: list, learner: Any, row: Any, top: int | None) -> Explanation:
    """Explain what a learner predicts for a row behind steps."""
    X: Any = row if issparse(row) else [row]
    look_up: Callable[[int], tuple] = lambda column: (None, False, 1)  # noqa: E731
    names = getattr([*steps, learner][0], "feature_names_in_", None)
    if names is not None:
        look_up = _by_names(names)
    for at, step in enumerate(steps):
        home = home_of(step.__class__)
        if home is not None:
            look_up = named_columns(step, X, is_last=at == len(steps) - 1)
            X = step.transform(X)
        elif isinstance(step, HashingVectorizer):
            words = step.feature_names or FeatureNames(_NAMES)
            X = type(step)(**{**step.get_params(), "feature_names": words}).transform(X)
            look_up = words.look_up
        else:
            X = step.transform(X)
            if not _keeps_columns(step) and hasattr(step, "get_feature_names_out"):
                look_up = _by_names(step.get_feature_names_out())
    rows = X if issparse(X) else np.atleast_2d(np.asarray(X))
    if issparse(rows):
        rows = rows.tocsr()
        columns, values = rows.indices.tolist(), rows.data.tolist()
    else:
        columns = np.flatnonzero(rows[0]).tolist()
        values = rows[0][columns].tolist()
    prediction, c, score, std = _score(learner, rows)
    intercepts = np.reshape(learner.intercept_, -1)
    intercept = intercepts[c] if len(intercepts) > 1 else intercepts[0] if c == 1 else -intercepts[0]
    found = contributions(weights_towards(learner, c), intercept, columns, values, look_up)[:top]
    features = [each._replace(name=f"column {each.column}") if each.name is None else each for each in found]
    return Explanation(prediction, score, std, features)


def named_columns(step: Any, X: Any = None, is_last: bool = True) -> Callable[[int], tuple]:
    """Return the function that looks up a column which a `TableVectorizer` makes: its name or None, whether others share it, and
    its sign, or what turns its weight into the units of a table's column.

    X : rows whose hashed features are named, too. is_last : False where other steps change the values, which then have no units.
    """
    from ..tables import TableVectorizer, slot_names

    names, statistics = slot_names(step), step.statistics_ if is_last else {}
    hashed: dict[int, tuple] = {}
    own, every = set(names), TableVectorizer(1, max_values=2**20, ignore=step.ignore)
    others = [name for name in slot_names(every.fit(X)) if name not in own] if X is not None and step.bits else []
    if others:
        hashing = HashingVectorizer(n_features=2**step.bits, norm=None, analyzer=lambda name: [name])
        found = hashing.transform(others)
        for name, column, sign in zip(others, (found.indices + step.max_values).tolist(), found.data.tolist(), strict=True):
            hashed[column] = (hashed[column][0], True, hashed[column][2]) if column in hashed else (name, False, sign)

    def look_up(column: int) -> tuple:
        if column >= len(names):
            return hashed.get(column, (None, False, 1))
        return names[column], False, 1.0 / (statistics.get(names[column], (0.0, 0.0, 0.0))[2] or 1.0)

    return look_up


def _by_names(names: Any) -> Callable[[int], tuple]:
    return lambda column: (str(names[column]), False, 1)


def _keeps_columns(step: Any) -> bool:
    """Return True for a step whose columns are those that it gets, such as a scaler."""
    one_to_one = getattr(sys.modules.get("sklearn.base"), "OneToOneFeatureMixin", ())
    step = step.estimator if is_frozen(step) else step
    return isinstance(step, one_to_one) or type(step).__module__.startswith("onlinecls.")
