"""Learning the partitions of Dask collections, by tasks that run where the data is."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ._parts import Learnt, Part, bytes_of, learnt, loaded, merge_in_tree, merged, units_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def _is_collection(what: Any) -> bool:
    return hasattr(what, "__dask_graph__")


def is_dask(parts: Any) -> bool:
    """Return True for a Dask collection, or a tuple of them, without importing Dask."""
    return _is_collection(parts) or (isinstance(parts, tuple) and len(parts) > 0 and all(map(_is_collection, parts)))


def partitions(parts: Any) -> list[Any]:
    """Return a delayed part for each partition: the rows of a bag, or X, y and weights side by side."""
    import dask

    if not isinstance(parts, tuple):
        return list(parts.to_delayed())
    columns = [_blocks(part) for part in parts]
    if len({len(blocks) for blocks in columns}) > 1:
        raise ValueError(
            f"parallel.fit: X and y must have the same partitions, got {[len(blocks) for blocks in columns]} of them. "
            "Rechunk one as the other."
        )
    return [dask.delayed(tuple)(list(blocks)) for blocks in zip(*columns, strict=True)]


def _blocks(collection: Any) -> list[Any]:
    if hasattr(collection, "chunks") and hasattr(collection, "rechunk"):  # an array, in blocks of whole rows
        whole = collection.rechunk({axis: -1 for axis in range(1, collection.ndim)})
        return list(whole.to_delayed().ravel())
    return list(collection.to_delayed())


def units_in_place(estimator: Any, block: Any, **how: Any) -> dict[str, float]:
    """Return the units of rows that a partition tells, where that is."""
    import dask

    return dask.delayed(partial(units_of, **how))(estimator, block).compute()


def tree(learn: Callable[[Any], Any], blocks: list[Any]) -> Learnt:
    """Learn the partitions by a tree of Dask tasks, which send each other models as bytes; return what came of them."""
    import dask

    learn_block, shared = dask.delayed(_learn_block), dask.delayed(learn)
    models = [learn_block(shared, number, block) for number, block in enumerate(blocks, 1)]
    return loaded(merge_in_tree(models, dask.delayed(_pair)).compute())


def _learn_block(learn: Callable[[Any], Any], number: int, block: Any) -> Learnt:
    return learnt(learn, Part(number, "a partition", block))


def _pair(first: Learnt, second: Learnt) -> Learnt:
    found = merged(first, second)
    return found._replace(model=None if found.model is None else bytes_of(found.model))
