"""A pool of memory for the arrays of batches."""

from __future__ import annotations

import numpy as np

_FEW = 1 << 12  # bytes


class Pool:
    """Lend memory to arrays, and take it back with the last view of each.

    A stream needs the same few megabytes again and again. Fresh memory costs a page fault for each 4 KB, together as much as
    the parsing, and threads of one address space wait for each other's. (A few rows need none of this.)
    """

    def __init__(self, most: int = 8):
        self._free, self._most = [], most

    def empty(self, n: int, dtype) -> np.ndarray:
        dtype = np.dtype(dtype)
        n_bytes, block = n * dtype.itemsize, None
        if n_bytes <= _FEW:
            return np.empty(n, dtype)
        while self._free and (block is None or len(block) < n_bytes):
            block = self._free.pop()
        if block is None or len(block) < n_bytes:
            block = np.empty(max(1 << 16, 1 << (n_bytes - 1).bit_length()), np.uint8)
        return np.asarray(_Lent(block, self))[:n_bytes].view(dtype)

    def _take_back(self, block) -> None:
        if len(self._free) < self._most:
            self._free.append(block)


class _Lent:
    """Own a block of memory while an array uses it: NumPy makes the array from __array_interface__ and keeps the owner alive
    until the last view is gone; then the block goes back to the pool."""

    def __init__(self, block, pool):
        self._block, self._pool, self.__array_interface__ = block, pool, block.__array_interface__

    def __del__(self):
        self._pool._take_back(self._block)
