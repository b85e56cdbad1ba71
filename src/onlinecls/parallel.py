"""Streams in parts, on many cores and machines: each part is learnt in one pass, and the models are merged.

    model = onlinecls.parallel.fit(onlinecls.AROWClassifier(), "part-*.tsv", n_jobs=8)

The engine is joblib's or Dask's; `learn_part` and `merge_bytes` are the two halves for any other.
"""

from __future__ import annotations

import glob
import io
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from functools import partial
from typing import Any, TypeVar

from . import streams
from ._estimators.merging import check_kind, merge
from ._estimators.saving import load
from ._input.compat import kind_of
from ._pipeline import StreamPipeline
from ._registry import algorithms_of
from .tables import TableVectorizer
from .text import HashingVectorizer

__all__ = ["fit", "learn_part", "merge_bytes"]

_WHO = "parallel.fit"
_Model = TypeVar("_Model")


def fit(
    estimator: _Model, parts: Any, *, n_jobs: int | None = None, classes: Any = None, reading: Mapping[str, Any] | None = None,
) -> _Model:
    """Learn the parts of a stream in parallel: each in one pass, by a clone of its own; then merge the clones.

    The model depends only on the parts and their order, not on the number of workers.

    Parameters
    ----------
    estimator : estimator that merges (see `onlinecls.merge`), or a pipeline of one step and such a learner
        Its parameters are used; it is not changed itself. A `TableVectorizer` first learns the statistics of all parts, which
        add up exactly; then the parts are read again, and learners behind these statistics merge.
    parts : path or pattern, list of parts, or Dask collection
        A part is a path, or each file of a pattern (``"part-*.tsv"``), in any format of `streams.read`; a pair (X, y) or triple
        (X, y, sample_weight) of arrays; a list of these; or a function without arguments that returns one of these, or an
        iterator, in the worker, so that no data is sent. Dask: a bag of (X, y), or a tuple of arrays or dataframes (X, y),
        whose partitions are the parts and stay where they are.
    n_jobs : int, default=None
        Workers, as in joblib; -1: all cores. None: 1, or that of ``joblib.parallel_config``, which also chooses the backend:
        processes ("loky", the default), "threading", "dask", "ray" or "spark". For Dask collections, Dask decides.
    classes : array-like, default=None
        All labels that can occur. None: those that occur in the parts.
    reading : dict, default=None
        Options of `streams.read` for files and texts: ``{"n_features": 2**22}``.

    Returns
    -------
    fitted : estimator
        A clone of estimator that has learnt all parts.

    Raises
    ------
    ValueError
        If the estimator cannot be merged, there are no parts, or a part, which is named, cannot be read, learnt or merged.

    Notes
    -----
    Needs joblib (extra ``parallel``). A worker holds one model, the caller two (and a file of each part's where the engine gives
    back lists: Dask, "multiprocessing", "ray", "spark"). Models are sent as their files.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinecls import AROWRegressor, parallel
    >>> X = np.eye(3)
    >>> parallel.fit(AROWRegressor(r=1.0, fit_intercept=False), [(X[:2], [2.0, 4.0]), (X[2:], [6.0])]).coef_.tolist()
    [1.0, 2.0, 3.0]
    """
    given: Any = estimator
    *steps, learner = (step for _, step in given.steps) if isinstance(given, StreamPipeline) else (given,)
    if len(steps) > 1 or not all(isinstance(step, TableVectorizer | HashingVectorizer) for step in steps):
        needed = "one step before its learner, a TableVectorizer or a HashingVectorizer"
        raise ValueError(f"{_WHO}: a pipeline must have {needed}, got {steps!r}. Transform the parts by functions of your own.")
    if not algorithms_of(type(learner)):
        raise ValueError(f"{_WHO}: estimator must be a learner of this library, an object, got {learner!r}.")
    check_kind(learner, learner)
    step, how = _fresh(steps[0]) if steps else None, dict(reading or {})
    how = {"vectorizer": step, **how} if isinstance(step, HashingVectorizer) else how
    listed = _partitions(parts) if _is_dask(parts) else _parts_of(parts)
    more = {"classes": classes, "reading": how, "step": step}
    if isinstance(step, TableVectorizer):
        step.merge(*(found for _, found in _of_each(partial(_statistics_of, step, how), listed, n_jobs)))
    telling = listed if {"scale", "intercept_scaling"} & learner.get_params().keys() else []
    told = (_of_each(partial(_learnt, learner, units=True, **more), [part], 1) for part in telling)
    units: dict = next((found for ((_, found),) in told if found), {})
    alike = _fresh(learner).set_params(**units)  # (all parts are learnt in units of the first that has rows)
    model = _merged(_of_each(partial(_learnt, alike, **more), listed, n_jobs))
    if model is None:
        raise ValueError(f"{_WHO}: parts must have rows, got none.")
    model.set_params(**learner.get_params(deep=False))
    return type(given)(list(zip((name for name, _ in given.steps), (step, model), strict=True))) if steps else model


def learn_part(estimator: Any, part: Any, *, classes: Any = None, reading: Mapping[str, Any] | None = None) -> bytes:
    """Learn one part of a stream by a clone of an estimator, for an engine of your own; return the model's file.

    `merge_bytes` merges such files, `onlinecls.load` reads them, and no code is in them; b"" is the file of a part without rows.
    The parameters are those of `fit`, but for pipelines; a part may be an iterator, too.
    """
    check_kind(estimator, estimator)
    return _learnt(estimator, part, classes, reading or {}, None)


def merge_bytes(models: Iterable[bytes]) -> bytes:
    """Merge the files of `learn_part`, or results of this function, in their order, to a file.

    Merging is associative as `merge` says: an engine may merge pairs, pairs of pairs and so on, where they are.
    """
    return _file_of(_merged((f"model {number}", model) for number, model in enumerate(models, 1)))


# --- parts -------------------------------------------------------------------------------------------------------------------


def _parts_of(parts: Any) -> list[tuple[str, Any]]:
    """Return the name and the path, arrays, list or function of each part, in order; a pattern's files are sorted by name."""
    parts = [parts] if isinstance(parts, (str, os.PathLike)) else parts
    wanted = "a path, (X, y), a list of (X, y) or a function that returns one (it may be read twice)"
    if not isinstance(parts, Iterable) or isinstance(parts, (bytes, Mapping)):
        raise ValueError(f"{_WHO}: parts must be paths, Dask collections, or a list, each {wanted}, got {type(parts).__name__}.")
    found: list[tuple[str, Any]] = []
    for what in parts:
        if isinstance(what, (str, os.PathLike)):
            path = os.fspath(what)
            files = sorted(glob.glob(path)) if glob.has_magic(path) and not os.path.exists(path) else [path]
            if not files:
                raise ValueError(f"{_WHO}: parts must name files, got {path!r}, which matches none. Check the folder.")
            found.extend((file, os.path.abspath(file)) for file in files)  # (a worker may be in another folder)
        elif callable(what) or (isinstance(what, Iterable) and not isinstance(what, Iterator)):
            found.append((getattr(what, "__name__", "") or f"a {type(what).__name__}", what))
        else:
            raise ValueError(f"{_WHO}: a part must be {wanted}, got {type(what).__name__} as part {len(found) + 1}.")
    if not found:
        raise ValueError(f"{_WHO}: parts must be at least one, got none.")
    return [(f"part {number} ({name})", what) for number, (name, what) in enumerate(found, 1)]


def _is_dask(parts: Any) -> bool:
    return all(hasattr(each, "__dask_graph__") for each in (parts if isinstance(parts, tuple) and parts else (parts,)))


def _partitions(parts: Any) -> list[Any]:
    """Return a delayed part for each partition: the rows of a bag, or X, y and weights side by side."""
    import dask

    columns = [  # (of arrays: blocks of whole rows)
        part.rechunk({axis: -1 for axis in range(1, part.ndim)}).to_delayed().ravel().tolist()
        if hasattr(part, "rechunk") else part.to_delayed() for part in (parts if isinstance(parts, tuple) else (parts,))
    ]
    if len({*map(len, columns)}) > 1:
        raise ValueError(f"{_WHO}: X and y must have the same partitions, got {[*map(len, columns)]} of them. Rechunk one.")
    blocks = zip(*columns, strict=True) if isinstance(parts, tuple) else columns[0]
    return [dask.delayed((f"part {number} (a partition)", block)) for number, block in enumerate(blocks, 1)]


def _batches(what: Any, reading: Mapping[str, Any], step: Any = None) -> Iterator[tuple[Any, Any, Any]]:
    """Yield (X, y, weights) of each batch of a part, behind a step that has learnt (words are hashed by the reader)."""
    what = what() if callable(what) else what
    if isinstance(what, (str, os.PathLike)):
        what = streams.read(what, **reading)
    if isinstance(what, tuple) and len(what) in (2, 3) and (hasattr(what[0], "shape") or isinstance(what[0], list | dict)):
        what = [what]
    for batch in what:  # (a stream ends itself, and a Batch of it is such a tuple, too)
        X, y, weight = (*batch, None)[:3]
        yield X if step is None or hasattr(X, "indptr") else step.transform(X), y, weight


# --- learning and merging ----------------------------------------------------------------------------------------------------


def _of_each(make: Callable[[Any], Any], parts: list[Any], n_jobs: int | None) -> Iterable[tuple[str, Any]]:
    """Return (name, result) of a function of each part, in order: by Dask if it holds the parts."""
    named = partial(_named, make)
    if _is_dask(parts[0]):
        import dask

        return dask.compute(*(dask.delayed(named)(part) for part in parts))
    try:
        import joblib
    except ImportError:
        raise ImportError(f"{_WHO}: needs the package joblib: pip install 'onlinecls[parallel]'.") from None
    try:
        workers = joblib.Parallel(n_jobs=n_jobs, return_as="generator")
    except ValueError:  # (of a backend that gives back lists only)
        workers = joblib.Parallel(n_jobs=n_jobs)
    return workers(joblib.delayed(named)(part) for part in parts)


def _named(make: Callable[[Any], Any], part: tuple[str, Any]) -> tuple[str, Any]:
    name, what = part
    try:
        return name, make(what)
    except Exception as error:  # (not all can be sent from one process to another)
        raise ValueError(f"{_WHO}: {name} must be learnt, got {type(error).__name__}: {error}") from error


def _fresh(estimator: Any) -> Any:
    return type(estimator)(**{name: deepcopy(value) for name, value in estimator.get_params(deep=False).items()})


def _statistics_of(step: Any, reading: Mapping[str, Any], part: Any) -> Any:
    found = _fresh(step)
    for X, _, weight in _batches(part, reading):
        found.partial_fit(X, sample_weight=weight)
    return found


def _learnt(estimator: Any, part: Any, classes: Any, reading: Mapping[str, Any], step: Any, units: bool = False) -> Any:
    """Return the file of a fresh model of a part, b"" of no rows; units : the scale and the constant that rows tell, or {}."""
    model = _fresh(estimator)
    has_none = getattr(model, "fit_intercept", True) is False
    names = {"scale", "intercept_scaling"} & (model.get_params().keys() - ({"intercept_scaling"} if has_none else set()))
    more = {"classes": classes} if classes is not None and kind_of(model) == "classifier" else {}
    for X, y, weight in _batches(part, reading, step):
        model.partial_fit(*((X,) if y is None else (X, y)), sample_weight=weight, **more)
        if units and model.__sklearn_is_fitted__() and all(getattr(model, f"{name}_") > 0.0 for name in names):
            return {name: getattr(model, f"{name}_") for name in names}
    return {} if units else _file_of(model if model.__sklearn_is_fitted__() else None)


def _file_of(model: Any) -> bytes:
    file = io.BytesIO()
    if model is not None:
        model.save(file)
    return file.getvalue()


def _merged(files: Iterable[tuple[str, bytes]]) -> Any:
    """Return the merge of models from the bytes of their files, in order; None if all are empty."""
    found = None
    for name, data in (each for each in files if len(each[1])):
        try:
            model = load(io.BytesIO(data))
            found = model if found is None else merge([found, model])
        except ValueError as error:
            raise ValueError(f"{_WHO}: {name} must merge with those before it, got {error}") from None
    return found
