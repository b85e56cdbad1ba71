"""The parts of a stream, and how one of them is learnt."""

from __future__ import annotations

import glob
import io
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext, suppress
from copy import deepcopy
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import streams
from .._estimators.merging import check_merges, merge
from .._estimators.saving import load
from .._input.compat import kind_of

if TYPE_CHECKING:
    from collections.abc import Callable

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


def units_of(estimator: Any, part: Any, *, classes: Any, reading: Mapping[str, Any]) -> dict[str, float]:
    """Return the scale and the constant feature's value that the first rows of a part tell; {} if it has none but zeros."""
    more = {"classes": classes} if classes is not None and kind_of(estimator) == "classifier" else {}
    names = {"scale", "intercept_scaling"} & estimator.get_params().keys()
    with suppress(Exception):  # (the part will be refused, by its name)
        for X, y, weight in batches(part, reading):
            model = fresh(estimator).partial_fit(*((X,) if y is None else (X, y)), sample_weight=weight, **more)
            if names and model.__sklearn_is_fitted__() and model.scale_ > 0.0:
                return {name: getattr(model, f"{name}_") for name in names}
    return {}


def reread(part: Part) -> tuple[Any, Part]:
    """Return the first items of a part, and the part, which is whole even if it is an iterator."""
    if not isinstance(part.what, Iterator):
        return part.what, part
    items = list(islice(part.what, 16))
    return items, part._replace(what=chain(items, part.what))


def learn_part(estimator: Any, part: Any, *, classes: Any = None, reading: Mapping[str, Any] | None = None) -> bytes:
    """Learn one part of a stream by a clone of the estimator, and return the model as the bytes of its file.

    With `merge_bytes` this is `fit` for an engine of your own: the bytes can be sent anywhere, as no code is in them.

    Parameters
    ----------
    estimator : object
        As of `fit`.
    part : path, (X, y), (X, y, sample_weight), iterable of these or of pairs (text, label), or function that returns one
    classes, reading : object, default=None
        As of `fit`.

    Returns
    -------
    model : bytes
        What `onlinecls.load` reads; b"" if the part has no rows.

    Raises
    ------
    ValueError
        If the estimator cannot be merged or saved, or the part cannot be read or learnt.

    Examples
    --------
    >>> import io
    >>> import numpy as np
    >>> from onlinecls import AROWRegressor, load, parallel
    >>> X, learner = np.eye(3), AROWRegressor(r=1.0, fit_intercept=False)
    >>> models = [parallel.learn_part(learner, part) for part in ((X[:2], [2.0, 4.0]), (X[2:], [6.0]))]
    >>> load(io.BytesIO(parallel.merge_bytes(models))).coef_.tolist()
    [1.0, 2.0, 3.0]
    """
    check_merges(estimator)
    model = fresh(estimator)
    more = {"classes": classes} if classes is not None and kind_of(model) == "classifier" else {}
    for X, y, weight in batches(part, reading or {}):
        arguments = (X,) if y is None else (X, y)
        model.partial_fit(*arguments, sample_weight=weight, **more)
    return bytes_of(model) if model.__sklearn_is_fitted__() else b""


def merge_bytes(models: Iterable[bytes]) -> bytes:
    """Merge the models of `learn_part`, or results of this function, in their order.

    Merging is associative to rounding: an engine may merge pairs, pairs of pairs and so on, where they are.

    Parameters
    ----------
    models : iterable of bytes
        The files of models; b"" for a part without rows changes nothing.

    Returns
    -------
    model : bytes
        What `onlinecls.load` reads; b"" if all are empty.

    Raises
    ------
    ValueError
        If one of them is no model, or they do not merge.
    """
    found = None
    for model in (load(io.BytesIO(data)) for data in models if len(data)):
        found = model if found is None else merge([found, model])
    return b"" if found is None else bytes_of(found)


def bytes_of(model: Any) -> bytes:
    file = io.BytesIO()
    model.save(file)
    return file.getvalue()


class Learnt(NamedTuple):
    """Hold what came of parts: a model (bytes while it is sent; None if there is none), their names, those that failed."""

    model: Any
    parts: tuple[str, ...]
    failures: tuple[Failure, ...] = ()


def learnt(learn: Callable[[Any], Any], part: Part) -> Learnt:
    """Learn one part by a function of what it is. (Not all exceptions can be sent from one process to another.)"""
    name = f"part {part.number} ({part.name})"
    try:
        return Learnt(learn(part.what) or None, (name,))
    except Exception as error:
        return Learnt(None, (), (Failure(name, f"{type(error).__name__}: {error}"),))


def loaded(found: Learnt) -> Learnt:
    return found._replace(model=load(io.BytesIO(found.model))) if isinstance(found.model, bytes) else found


def batches(what: Any, reading: Mapping[str, Any]) -> Iterator[tuple[Any, Any, Any]]:
    """Yield (X, y, weights) of each batch of a part."""
    if callable(what):
        yield from batches(what(), reading)
        return
    if isinstance(what, tuple) and len(what) in (2, 3) and (hasattr(what[0], "shape") or isinstance(what[0], list | dict)):
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


def merged(first: Learnt, second: Learnt) -> Learnt:
    """Merge what came of parts with what came of later ones, which are left out if both do not merge."""
    first, second = loaded(first), loaded(second)
    model, parts, failures = first.model or second.model, first.parts + second.parts, first.failures + second.failures
    if first.model and second.model:
        try:
            model = merge([first.model, second.model])
        except ValueError as error:
            parts, failures = first.parts, (*failures, not_merged(second.parts, error))
    return Learnt(model, parts, failures)


def not_merged(parts: tuple[str, ...], error: ValueError) -> Failure:
    return Failure(", ".join(parts), f"a model that does not merge with those before it: {error}")


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
