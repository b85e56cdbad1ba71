"""Labels of rows that have several: an indicator matrix, or a list of labels a row."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..._input import validate
from ..._input.compat import issparse

if TYPE_CHECKING:
    from typing import NoReturn

_LISTS = (list, tuple, set, frozenset, np.ndarray)


class Sets(NamedTuple):
    """The labels of rows.

    labels : those that occur, sorted; of a matrix the numbers of its columns. has : uint8, (rows, labels), 1 where a row has a
    label. is_matrix : True for a matrix, whose columns are the classes in their order.
    """

    labels: np.ndarray
    has: np.ndarray
    is_matrix: bool

    def of_rows(self, chosen: np.ndarray) -> Sets:
        """Return the labels of the chosen rows alone, with no labels for the others."""
        has = self.has * chosen[:, None]
        if self.is_matrix:
            return self._replace(has=has)
        kept = has.any(axis=0)
        return Sets(self.labels[kept], has[:, kept], False)

    def among(self, who: str, classes: np.ndarray, width: int) -> np.ndarray:
        """Return the indicators of these rows, uint8, (rows, width), whose first columns are the classes."""
        found = np.zeros((len(self.has), width), np.uint8)
        if self.is_matrix:
            if self.has.shape[1] != len(classes):
                raise ValueError(
                    f"{who}: y must have a column for each of the {len(classes)} classes, in the order of classes_, got "
                    f"{self.has.shape[1]} columns. Give lists of labels where labels are to join."
                )
            found[:, : len(classes)] = self.has
            return found
        codes, unknown = validate.encode(validate.comparable(who, self.labels, classes), classes)
        if unknown is not None:
            at = int(self.has[:, unknown].any(axis=1).argmax())
            raise ValueError(
                f"{who}: y must be of the classes {validate.shown(classes)}, got "
                f"{validate.brief(self.labels[unknown & (self.has[at] > 0)].tolist()[0])} at row {at}. "
                "Name all labels in classes at the first call, or leave classes out there: then labels join as they appear."
            )
        found[:, codes] = self.has
        return found


def read_sets(who: str, y: Any, n_rows: int, listed: bool = False) -> Sets:
    """Read the labels of a call's rows; raise ValueError for anything that is neither a matrix of 0 and 1 nor lists of labels.

    listed : True if lists are labels, whatever is in them, since those of earlier calls were.
    """
    if y is None:
        raise ValueError(f"{who}: requires y to be passed, but the target y is None.")
    if issparse(y):
        return _of_matrix(who, _dense(who, y), n_rows)
    if getattr(y, "ndim", 1) == 2 and not isinstance(y, (list, tuple)):
        return _of_matrix(who, np.asarray(y), n_rows)
    rows = y.tolist() if isinstance(y, np.ndarray) or hasattr(y, "tolist") else y
    if not isinstance(rows, (list, tuple)):
        _refuse(who, y)
    rows = [row.tolist() if isinstance(row, np.ndarray) and row.ndim == 1 else row for row in rows]
    for at, row in enumerate(rows):
        if not isinstance(row, _LISTS) or getattr(row, "ndim", 1) != 1:
            _refuse(who, row, f" at row {at}")
    _check_length(who, len(rows), n_rows)
    flat, lengths = list(chain.from_iterable(rows)), [len(row) for row in rows]
    flat = [label.item() if isinstance(label, np.generic) else label for label in flat]
    if not flat:
        return Sets(np.empty(0, np.int64), np.zeros((n_rows, 0), np.uint8), False)
    ordered = all(isinstance(row, (list, tuple)) and len(row) == lengths[0] for row in rows)
    if ordered and not listed and all(type(label) in (int, bool, float) and label in (0, 1) for label in flat):
        if any(len(set(row)) < len(row) for row in rows):  # (no list of labels)
            return _of_matrix(who, np.array(flat).reshape(len(rows), -1), n_rows)
        raise ValueError(
            f"{who}: y must tell labels from indicators, got lists that could be either, of 0 and 1 alone. Give an indicator "
            "matrix as a numpy array, or labels that are 0 and 1 as sets."
        )
    labels, codes = np.unique(validate.read_labels(who, flat, len(flat)), return_inverse=True)
    has = np.zeros((n_rows, len(labels)), np.uint8)
    has[np.repeat(np.arange(n_rows), lengths), codes.ravel()] = 1
    return Sets(labels, has, False)


def _of_matrix(who: str, y: np.ndarray, n_rows: int) -> Sets:
    if y.dtype.kind not in "biuf" or y.shape[1] < 1:
        raise ValueError(
            f"{who}: y must be an indicator matrix, (n_samples, n_classes) of 0 and 1, got dtype {y.dtype} and shape {y.shape}. "
            "Give labels as lists, one a row."
        )
    _check_length(who, len(y), n_rows)
    right = (y == 0) | (y == 1)
    if not right.all():
        at, column = (int(place[0]) for place in np.nonzero(~right))
        raise ValueError(
            f"{who}: y must be an indicator matrix of 0 and 1, got {y[at, column]:g} at row {at}, column {column}. "
            "Give labels as lists, one a row."
        )
    return Sets(np.arange(y.shape[1]), np.ascontiguousarray(y, np.uint8), True)


def _dense(who: str, y: Any) -> np.ndarray:
    """Return a sparse indicator matrix as an array. (Its structure is checked before scipy follows it.)"""
    try:
        rows = validate.read_rows(who, y, np.dtype(np.float64))
    except ValueError as error:
        raise ValueError(f"{who}: y must be an indicator matrix, got one that is no matrix of numbers ({error}).") from None
    found = np.zeros((rows.n_rows, rows.n_features))
    found[np.repeat(np.arange(rows.n_rows), np.diff(rows.indptr)), rows.indices] = rows.data
    return found


def _check_length(who: str, n: int, n_rows: int) -> None:
    if n != n_rows:
        raise ValueError(
            f"{who}: X and y must have the same number of rows, got inconsistent numbers of samples: {n_rows} in X and {n} in y."
        )


def _refuse(who: str, came: Any, where: str = "") -> NoReturn:
    raise ValueError(
        f"{who}: y must be an indicator matrix of shape (n_samples, n_classes), or have a list of labels for each row, got "
        f"{validate.brief(came)}{where}. Give [label] for a row of one label."
    )
