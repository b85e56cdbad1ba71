"""Sparse encoding of model arrays: features never seen are not stored."""

from __future__ import annotations

import numpy as np

from .._input.validate import available_memory
from .._saving import InvalidError, require

_SMALL = 1 << 15  # bytes: smaller arrays are not encoded
_SAMPLE = 1001  # records sampled for the most frequent one
_PARTS = ("rows", "records", "background")


def to_sparse(arrays: dict[str, np.ndarray], n_slots: int) -> tuple[dict[str, np.ndarray], dict[str, int]]:
    """Encode arrays by the records that differ from the most frequent one, where that halves their size.

    Returns the arrays to write and {name: number of records} of the encoded ones.
    """
    found, thin = {}, {}
    for name, array in arrays.items():
        parts = _parts(array, n_slots)
        if parts is None:
            found[name] = array
        else:
            thin[name] = n_slots
            found.update({f"{name}.{part}": value for part, value in zip(_PARTS, parts, strict=True)})
    return found, thin


def _parts(array: np.ndarray, n_slots: int) -> tuple | None:
    """Return the places of records that differ from the most frequent one, these records, and that one; None without gain."""
    n_bytes = array.size * (8 if array.itemsize == 2 else array.itemsize)  # (rounded ones in place of doubles)
    if n_bytes < _SMALL or array.ndim != 1 or array.dtype.kind != "f" or len(array) % n_slots:
        return None
    records = array.reshape(n_slots, -1)
    bits = records.view(f"u{array.itemsize}")  # (-0.0 and 0.0 differ)
    background = most_frequent(records).view(bits.dtype)
    rows = np.flatnonzero((bits != background).any(axis=1))
    rows = rows.astype(np.int32 if n_slots < 2**31 else np.int64)
    if rows.nbytes + len(rows) * records[0].nbytes > array.nbytes // 2:
        return None
    return rows, records[rows].reshape(-1), background.view(array.dtype)


def most_frequent(records: np.ndarray) -> np.ndarray:
    """Return the most frequent record of a sample."""
    bits = records.view(f"u{records.itemsize}")
    kinds, counts = np.unique(bits[:: max(1, len(bits) // _SAMPLE)], axis=0, return_counts=True)
    return kinds[counts.argmax()].view(records.dtype)


def to_dense(header: dict, arrays: dict[str, np.ndarray], max_bytes: float | None = None) -> dict[str, np.ndarray]:
    """Decode arrays of a file, whose header is not trusted, and remove its entry `thin`.

    max_bytes : most bytes of these arrays together; None: the free memory.
    """
    thin = header.pop("thin", {})
    require(isinstance(thin, dict), "names of thin arrays", thin)
    found, n_bytes, most = dict(arrays), 0, available_memory() if max_bytes is None else max_bytes
    for name, n_slots in thin.items():
        rows, records, background = (found.pop(f"{name}.{part}") for part in _PARTS)
        require(type(n_slots) is int and 0 < n_slots < 2**56, "a number of records", n_slots)
        width = len(background)
        sizes = rows.ndim == records.ndim == background.ndim == 1 and width > 0 and len(records) == len(rows) * width
        require(sizes and records.dtype == background.dtype, "a record for each place", (len(rows), len(records)))
        require(rows.dtype.kind == "i" and name not in found, "places of records", rows.dtype)
        rising = len(rows) == 0 or (rows[0] >= 0 and rows[-1] < n_slots and bool((rows[1:] > rows[:-1]).all()))
        require(rising, f"rising places below {n_slots}", "others")
        n_bytes += n_slots * width * records.itemsize
        if n_bytes > most:
            raise InvalidError(f"arrays of at most {most:,.0f} bytes (max_bytes), got {n_bytes:,}")
        whole = np.empty((n_slots, width), records.dtype)
        whole[:] = background
        whole[rows] = records.reshape(-1, width)
        found[name] = whole.reshape(-1)
    return found
