"""Pipelines that predict each row just before they learn it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._compiled.lock import learn_together
from .._estimators.classifier import NO_ROUND, OnlineClassifier
from .._estimators.classifier import predict_and_learn as learn_rows_predicting
from .._estimators.estimator import Estimator
from .._estimators.merging import unchanged
from .._input.validate import read_rows
from .._rows import Rows
from ..text import part_of
from ._steps import home_of, is_fitted, live_rows, n_rounds, rows_learnt, stays

if TYPE_CHECKING:
    from typing import Any

    from ._pipeline import StreamPipeline


class Said:
    """Hold what a learner says of each row of a batch before it learns the row.

    live : rows of weight > 0. predictions : None for other rows, and before a row was learnt. scored : (scores, probabilities)
    or (scores,) of all rows, if they are wanted, NaN where there is no prediction; empty if there is none.
    """

    def __init__(self, live: np.ndarray, scores: bool) -> None:
        self.live, self.predictions, self.scores = live, np.full(len(live), None, object), scores
        self.scored: tuple[np.ndarray, ...] = ()

    def ask(self, i: int, model: Any, row: Any) -> None:
        if not self.live[i]:
            return
        self.predictions[i] = model.predict(row)[0]
        if self.scores:
            found = scores_of(model, row, 1)
            self.scored = self.scored or tuple(np.full((len(self.predictions), each.shape[1]), np.nan) for each in found)
            for column, each in zip(self.scored, found, strict=True):
                column[i] = each[0]


def scores_of(learner: Any, X: Any, n_rows: int) -> tuple[np.ndarray, ...]:
    """Return the scores and, if the learner has them, the probabilities of rows, a column a class."""
    scores = learner.decision_function(X).reshape(n_rows, -1)
    return (scores, learner.predict_proba(X)) if hasattr(learner, "predict_proba") else (scores,)


def learn_predicting(
    pipeline: StreamPipeline, X: Any, y: np.ndarray, classes: Any, weights: np.ndarray, scores: bool = False
) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
    """Run `partial_fit`; return the prediction of each row from just before it, None before a row was learnt, as objects.

    weights : of the rows, empty if all are 1. scores : also return `Said.scored`.
    """
    *steps, learner = pipeline._parts()
    said = Said(live_rows(learner, y, weights if len(weights) else None), scores)
    learning = [step for step in steps if not stays(step)]
    if len(y) > 1 and not learning and isinstance(learner, OnlineClassifier) and not scores:
        with unchanged([pipeline], learner=pipeline):
            begins = not _has_learnt(learner)
            codes = learn_rows_predicting(learner, pipeline._transformed(X), y, classes, weights if len(weights) else None)
        if begins:
            codes[said.live.argmax()] = NO_ROUND
        if (known := codes >= 0).any():  # (rows of weight 0 alone make no model)
            said.predictions[known] = learner.classes_[codes[known]]
    elif len(y) > 1 and len(learning) == 1 and home_of(learning[0].__class__) is not None:
        with unchanged([pipeline], learner=pipeline):
            _learn_behind_one(pipeline, X, y, classes, weights, said)
    else:
        for i in range(len(y)):
            if len(weights) and not weights[i]:
                continue
            row = part_of(X, i, i + 1)
            if _has_learnt(learner):
                said.ask(i, pipeline, row)
            weight = weights[i : i + 1] if len(weights) else None
            pipeline.partial_fit(row, y[i : i + 1], None if is_fitted(learner) else classes, weight)
    return said.predictions, said.scored


def _planned(steps: list[Any], X: Any, sample_weight: Any) -> tuple:
    """Return rows as the steps make them just before each is learnt, those to learn, and what makes the one that learns learn."""
    known = rows = X
    commit = None
    for step in steps:
        if stays(step):
            known, rows = (step.transform(rows),) * 2 if known is rows else (step.transform(known), step.transform(rows))
        else:
            known, rows, commit = home_of(step.__class__).planned(step, rows, sample_weight, also_before=True)
    return known, rows, commit


def _learn_behind_one(pipeline: Any, X: Any, y: np.ndarray, classes: Any, weights: np.ndarray, said: Said) -> None:
    """Learn a batch row by row behind one step that learns, each row predicted by the statistics and the model before it."""
    *steps, learner = pipeline._parts()
    sample_weight = weights if len(weights) else None
    known, rows, commit = _planned(steps, X, sample_weight)
    known, rows = (read_rows(type(learner).__name__, each, None) for each in (known, rows))
    before, is_own = n_rounds(learner), isinstance(learner, Estimator)
    named = {} if classes is None or is_fitted(learner) else {"classes": classes}
    if is_own:  # a row of weight 0 is checked, and changes nothing
        learner.partial_fit(_array(rows), y, sample_weight=np.zeros(len(y)), **named)

    n_done = 0

    def learn() -> None:
        nonlocal n_done
        there = _has_learnt(learner)
        for i in range(len(y)):
            if len(weights) and not weights[i]:
                continue
            if there:
                said.ask(i, learner, _array(known.part(i, i + 1)))
            weight = {"sample_weight": weights[i : i + 1]} if len(weights) else {}
            learner.partial_fit(_array(rows.part(i, i + 1)), y[i : i + 1], **weight, **({} if there else named))
            there, n_done = _has_learnt(learner), i + 1  # (class weights of 0 make no model)

    def commits_of_rows_learnt() -> list:
        n = rows_learnt(learner, before, y, sample_weight) if is_own else n_done
        return [_planned(steps, part_of(X, 0, n), None if sample_weight is None else weights[:n])[2]] if n else []

    learn_together(learn, [commit], commits_of_rows_learnt)


def _array(rows: Rows) -> Any:
    return rows.array() if rows.is_dense else rows.matrix()


def _has_learnt(learner: Any) -> bool:
    """Return True if a learner has learnt a row. (Classes that are named make one of this library fitted before that.)"""
    return n_rounds(learner) > 0 if isinstance(learner, Estimator) else is_fitted(learner)
