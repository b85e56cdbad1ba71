"""Pipelines in parallel: the statistics of all parts first, then learners behind them, which merge."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .._estimators.merging import check_merges
from ..tables import TableVectorizer
from ..text import HashingVectorizer
from ._parts import batches, fresh

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ._parts import Part

_WHO = "parallel.fit"


def step_and_learner(pipeline: Any, parts: list[Part]) -> tuple[Any, Any]:
    """Return a clone of a pipeline's step, and its learner; raise a ValueError unless both merge."""
    *steps, learner = (step for _, step in pipeline.steps)
    if len(steps) != 1 or not isinstance(steps[0], TableVectorizer | HashingVectorizer):
        raise ValueError(
            f"{_WHO}: a pipeline must have one step before its learner, a TableVectorizer or a HashingVectorizer, got {steps!r}. "
            "Transform the parts by functions of your own, and give the learner."
        )
    check_merges(learner)
    step = fresh(steps[0])
    if isinstance(step, TableVectorizer):
        step.merge()  # (one that forgets is refused)
        once = next((part for part in parts if isinstance(part.what, Iterator)), None)
        if once is not None:
            raise ValueError(
                f"{_WHO}: parts of a pipeline must be read twice, for statistics and for the learner, got an iterator as part "
                f"{once.number}. Give a function that makes it."
            )
    return step, learner


def options_for(step: Any, reading: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options by which files are read for a step."""
    return {"tables": "passthrough", **reading} if isinstance(step, TableVectorizer) else {"vectorizer": step, **reading}


def statistics_of(step: TableVectorizer, reading: Mapping[str, Any], part: Any) -> TableVectorizer:
    """Return a clone of a step that has learnt one part."""
    found = fresh(step)
    for X, _, weight in batches(part, reading):
        found.partial_fit(X, sample_weight=weight)
    return found


class Transformed:
    """Make the rows of a part behind a step that has learnt, in the worker that learns them."""

    def __init__(self, step: Any, reading: Mapping[str, Any], part: Part) -> None:
        self.step, self.reading, self.what, self.__name__ = step, reading, part.what, part.name

    def __call__(self) -> Iterator[tuple[Any, Any, Any]]:
        for X, y, weight in batches(self.what, self.reading):
            yield X if hasattr(X, "indptr") else self.step.transform(X), y, weight  # (words are hashed by the reader)
