"""`fit` learns parts of a stream in workers, and merges the models in a tree."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from .._estimators.merging import check_alike, check_merges
from .._pipeline import StreamPipeline
from ..tables import TableVectorizer
from ..text import HashingVectorizer
from ._dask import is_dask, partitions, tree, units_in_place
from ._parts import (
    Failure,
    Learnt,
    batches,
    fresh,
    learn_part,
    learnt,
    loaded,
    merge_in_tree,
    merged,
    not_merged,
    parts_of,
    reread,
    units_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Literal, TypeVar

    from numpy.typing import ArrayLike

    from ._parts import Part

    Model = TypeVar("Model")

_WHO = "parallel.fit"
_DEATHS = 3  # of workers in a row, with no part learnt between them, after which the parts are to blame


def fit(
    estimator: Model, parts: Any, *, n_jobs: int | None = None, classes: ArrayLike | None = None,
    on_error: Literal["raise", "skip"] = "raise", reading: Mapping[str, Any] | None = None,
) -> Model:
    """Learn the parts of a stream in parallel: each in one pass, by a clone of its own; then merge the clones.

    The model depends only on the parts and their order, not on the number of workers or on which part is learnt first.

    Parameters
    ----------
    estimator : estimator that merges (see `onlinecls.merge`), or a pipeline of one step and such a learner
        Its parameters are used; it is not changed itself. A `TableVectorizer` first learns the statistics of all parts, which
        add up exactly; then the parts are read again, and learners behind these statistics merge.
    parts : path or pattern, list of parts, or Dask collection
        A part is a path, or each file of a pattern (``"part-*.tsv"``), in any format of `streams.read`; a pair (X, y) or triple
        (X, y, sample_weight) of arrays; an iterable of these or of pairs (text, label); or a function without arguments that
        returns one of these in the worker, so that no data is sent. Dask: a bag of (X, y) or (text, label), or a tuple of arrays
        or dataframes (X, y), whose partitions are the parts and stay where they are.
    n_jobs : int, default=None
        Workers, as in joblib; -1: all cores. None: 1, or that of ``joblib.parallel_config``, which also chooses the backend:
        processes ("loky", the default), "threading", "dask", "ray" or "spark". For Dask collections, Dask decides.
    classes : array-like, default=None
        All labels that can occur. None: those that occur in the parts.
    on_error : {"raise", "skip"}, default="raise"
        If a part cannot be read or learnt, or its model does not merge with those before it (other columns, or labels of
        another type), raise an error, or leave it out with a warning. Both name the part.
    reading : dict, default=None
        Options of `streams.read` for files and texts: ``{"n_features": 2**22}``.

    Returns
    -------
    fitted : estimator
        A clone of estimator that has learnt all parts.

    Raises
    ------
    ValueError
        If the estimator cannot be merged, there are no parts, or a part cannot be read or learnt.
    RuntimeError
        If workers die repeatedly. (If a worker is killed once, its part is learnt again.)

    Notes
    -----
    Needs joblib (extra ``parallel``). A worker holds one model, the caller one for each doubling of the number of parts (and
    some more where joblib's backend gives back lists: "multiprocessing", "ray", "spark"). Models are sent as their files, so
    that the estimator must be one that `save` can write.
    More parts cost a little accuracy: the guide "From one core to a cluster" has figures.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinecls import AROWRegressor, parallel
    >>> X = np.eye(3)
    >>> parallel.fit(AROWRegressor(r=1.0, fit_intercept=False), [(X[:2], [2.0, 4.0]), (X[2:], [6.0])]).coef_.tolist()
    [1.0, 2.0, 3.0]
    """
    if on_error not in ("raise", "skip"):
        raise ValueError(f"{_WHO}: on_error must be 'raise' or 'skip', got on_error={on_error!r}.")
    if isinstance(estimator, StreamPipeline):
        more = {"n_jobs": n_jobs, "classes": classes, "on_error": on_error}
        return _fit_pipeline(estimator, parts, reading or {}, more)
    check_merges(estimator)
    given: Any = estimator
    how: dict[str, Any] = {"classes": classes, "reading": dict(reading or {})}
    alike = fresh(given)  # (all parts are learnt in units of the first)
    if is_dask(parts):
        blocks = partitions(parts)
        alike.set_params(**units_in_place(estimator, blocks[0], **how) if blocks else {})
        found = tree(partial(learn_part, alike, **how), blocks)
        _report(found.failures, on_error)
    else:
        listed = parts_of(parts)
        items, listed[0] = reread(listed[0])
        alike.set_params(**units_of(estimator, items, **how))
        models = _reported(_models(partial(learn_part, alike, **how), listed, n_jobs), on_error)
        found = merge_in_tree(models, partial(_merged, on_error))
    if found.model is None:
        raise ValueError(f"{_WHO}: parts must have rows, got none ({len(found.failures)} parts failed).")
    return found.model.set_params(**given.get_params(deep=False))


def _fit_pipeline(pipeline: Any, parts: Any, reading: Mapping[str, Any], more: dict[str, Any]) -> Any:
    """Learn the statistics of all parts by the pipeline's step, then the parts behind it."""
    if is_dask(parts):
        raise ValueError(
            f"{_WHO}: parts of a pipeline must be files, tables or functions, got a Dask collection. Give a function for each "
            "partition."
        )
    listed = parts_of(parts)
    step, learner = _step_and_learner(pipeline, listed)
    options = {"vectorizer": step, **reading}
    if isinstance(step, TableVectorizer):
        options = {"tables": "passthrough", **reading}
        found = list(_models(partial(_statistics_of, step, options), listed, more["n_jobs"]))
        for each in found:
            _report(each.failures, more["on_error"])
        listed = [part for part, each in zip(listed, found, strict=True) if each.model is not None]
        step.merge(*(each.model for each in found if each.model is not None))
    fitted = fit(learner, [Transformed(step, options, part) for part in listed], **more)
    return type(pipeline)([(name, new) for (name, _), new in zip(pipeline.steps, (step, fitted), strict=True)])


def _step_and_learner(pipeline: Any, parts: list[Part]) -> tuple[Any, Any]:
    """Return a clone of a pipeline's step, and its learner; raise a ValueError unless both merge."""
    *steps, learner = (step for _, step in pipeline.steps)
    if len(steps) != 1 or not isinstance(steps[0], (TableVectorizer, HashingVectorizer)):
        raise ValueError(
            f"{_WHO}: a pipeline must have one step before its learner, a TableVectorizer or a HashingVectorizer, "
            f"got {steps!r}. Transform the parts by functions of your own, and give the learner."
        )
    check_merges(learner)
    step = fresh(steps[0])
    if isinstance(step, TableVectorizer):
        once = next((part for part in parts if isinstance(part.what, Iterator)), None)
        if once is not None:
            raise ValueError(
                f"{_WHO}: parts of a pipeline must be read twice, for statistics and for the learner, got an iterator as part "
                f"{once.number}. Give a function that makes it."
            )
    return step, learner


def _statistics_of(step: Any, reading: Mapping[str, Any], part: Any) -> Any:
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


def _reported(models: Iterator[Learnt], on_error: str) -> Iterator[Learnt]:
    """Yield what came of each part. Report those that failed or do not merge with the first."""
    first: Any = None
    for found in map(loaded, models):
        if first is not None and found.model is not None:
            try:
                check_alike([first, found.model])
            except ValueError as error:
                found = Learnt(None, (), (not_merged(found.parts, error),))
        first = found.model if first is None else first
        _report(found.failures, on_error)
        yield found


def _merged(on_error: str, first: Learnt, second: Learnt) -> Learnt:
    found = merged(first, second)
    _report(found.failures[len(first.failures) + len(second.failures) :], on_error)
    return found


def _report(failures: tuple[Failure, ...], on_error: str) -> None:
    for failure in failures:
        if on_error == "raise":
            raise ValueError(f"{_WHO}: {failure.part} must be learnt, got {failure.reason} (on_error='skip' leaves it out.)")
        warnings.warn(f"{_WHO}: {failure.part} is left out: {failure.reason}", UserWarning, stacklevel=4)


def _models(learn: Callable[[Any], Any], parts: list[Part], n_jobs: int | None) -> Iterator[Learnt]:
    """Yield what came of each part, in order. The parts of a worker that dies are learnt again."""
    try:
        import joblib
        from joblib.externals.loky.process_executor import TerminatedWorkerError
    except ImportError:
        raise ImportError(f"{_WHO}: needs the package joblib: pip install 'onlinecls[parallel]'.") from None
    done = deaths = 0
    while done < len(parts):
        try:
            workers, n_next = joblib.Parallel(n_jobs=n_jobs, return_as="generator"), len(parts)
        except ValueError:  # of a backend that gives back lists only: of a few parts at a time
            workers, n_next = joblib.Parallel(n_jobs=n_jobs), 4 * joblib.effective_n_jobs(n_jobs)
        try:
            for found in workers(joblib.delayed(learnt)(learn, part) for part in parts[done : done + n_next]):
                done, deaths = done + 1, 0
                yield found
        except TerminatedWorkerError as error:
            deaths += 1
            if deaths == _DEATHS:
                raise RuntimeError(
                    f"{_WHO}: workers must live, got {deaths} that died at part {parts[done].number} ({parts[done].name}) or "
                    "behind it. If memory is short, use fewer workers (n_jobs) or smaller parts."
                ) from error
