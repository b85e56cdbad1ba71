"""The parts of a stream, and how one of them is learnt."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from copy import deepcopy
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import streams
from .._estimators.merging import merge
from .._input.compat import is_classifier

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_WHO = "parallel.fit"


class Part(NamedTuple):
    """Describe a part of a stream. number : its place, from 1. name : for messages. what : path, arrays, iterable, function."""

    number: int
    name: str
    what: Any


class Failure(NamedTuple):
    """Describe a part that could not be learnt."""

    part: str
    reason: str


class Task(NamedTuple):
    """Hold what is the same for every part: the estimator, all classes, and options of `streams.read`."""

    estimator: Any
    classes: Any
    reading: Mapping[str, Any]


def parts_of(parts: Any) -> list[Part]:
    """Return the parts in their order; the files of a pattern are sorted by name."""
    if isinstance(parts, (str, os.PathLike)):
        parts = [parts]
    if not isinstance(parts, Iterable) or isinstance(parts, (bytes, Mapping)):
        raise ValueError(
            f"{_WHO}: parts must be paths, Dask collections, or a list of paths, (X, y), iterables of (X, y) and functions that "
            f"return one of these, got {type(parts).__name__}. Give one part as a list of one."
        )
    found: list[tuple[str, Any]] = []
    for what in parts:
        if isinstance(what, (str, os.PathLike)):
            # (A worker that was started earlier may be in another folder.)
            found.extend((path, os.path.abspath(path)) for path in _files(os.fspath(what)))
        elif callable(what) or isinstance(what, Iterable):
            found.append((getattr(what, "__name__", "") or f"a {type(what).__name__}", what))
        else:
            raise ValueError(
                f"{_WHO}: a part must be a path, (X, y), an iterable of (X, y) or a function that returns one, got "
                f"{what!r} as part {len(found) + 1}."
            )
    if not found:
        raise ValueError(f"{_WHO}: parts must be at least one, got none.")
    return [Part(number, name, what) for number, (name, what) in enumerate(found, 1)]


def _files(path: str) -> list[str]:
    if os.path.exists(path) or not glob.has_magic(path):
        return [path]
    found = sorted(glob.glob(path))
    if not found:
        raise ValueError(f"{_WHO}: parts must name files, got {path!r}, which matches none. Check the folder.")
    return found


def fresh(estimator: Any) -> Any:
    """Return a new, unfitted estimator with the same parameters."""
    return type(estimator)(**{name: deepcopy(value) for name, value in estimator.get_params(deep=False).items()})


def learn_part(task: Task, part: Part) -> Any:
    """Learn one part, and return the model or a Failure. (Not all exceptions can be sent from one process to another.)"""
    model = fresh(task.estimator)
    more = {"classes": task.classes} if task.classes is not None and is_classifier(model) else {}
    try:
        for X, y, weight in batches(part.what, task.reading):
            arguments = (X,) if y is None else (X, y)
            model.partial_fit(*arguments, sample_weight=weight, **more)
    except Exception as error:
        return Failure(f"part {part.number} ({part.name})", f"{type(error).__name__}: {error}")
    return model


def batches(what: Any, reading: Mapping[str, Any]) -> Iterator[tuple[Any, Any, Any]]:
    """Yield (X, y, weights) of each batch of a part."""
    if callable(what):
        yield from batches(what(), reading)
        return
    if isinstance(what, tuple) and len(what) in (2, 3) and hasattr(what[0], "shape"):
        yield (*what, None)[:3]
        return
    if isinstance(what, (str, os.PathLike)):
        what = streams.read(what, **reading)
    with what if isinstance(what, streams.Stream) else nullcontext():
        rest = iter(what)
        for first in rest:
            if isinstance(first, tuple) and len(first) == 2 and isinstance(first[0], str):  # (text, label)
                yield from batches(streams.read(chain([first], rest), **reading), reading)
                return
            yield (*first, None)[:3]  # (a Batch is such a tuple, too)


def merged(first: Any, second: Any) -> Any:
    """Merge two models, of which either may be None or have learnt nothing."""
    models = [model for model in (first, second) if model is not None and model.__sklearn_is_fitted__()]
    return merge(models) if len(models) > 1 else models[0] if models else None


def merge_in_tree(models: Iterable[Any], merge: Callable[[Any, Any], Any]) -> Any:
    """Merge models in a tree, in the order of the parts, with at most log2 of their number in memory at a time."""
    waiting: list[tuple[int, Any]] = []  # (number of its parts, a model)
    for model in models:
        size = 1
        while waiting and waiting[-1][0] == size:
            model, size = merge(waiting.pop()[1], model), 2 * size
        waiting.append((size, model))
    found = waiting.pop()[1]
    while waiting:
        found = merge(waiting.pop()[1], found)
    return found
