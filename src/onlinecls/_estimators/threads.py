"""Large calls in several threads. Each row is read independently, so that the number of threads changes no bit."""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from .._algorithm import COMMON, parameter_error

if TYPE_CHECKING:
    from .._input.rows import Rows

LEAST = 1 << 18  # non-zeros times vectors of weights for which a thread pays: about a millisecond
PARTS = 8  # parts for each thread: Ctrl-C waits for the parts that others have begun


def n_cores() -> int:
    """Return the number of cores on which this process may run."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def n_threads(who: str, n_jobs: int | None, work: int) -> int:
    """Return the number of threads for an amount of work, limited by n_jobs as in joblib (-1: all cores, -2: one less)."""
    allowed: Any = COMMON["n_jobs"]
    if n_jobs not in allowed:
        raise parameter_error(who, "n_jobs", allowed, n_jobs)
    if n_jobs is None or work < 2 * LEAST:
        return 1
    wanted = n_jobs if n_jobs >= 0 else n_cores() + 1 + n_jobs
    return max(1, min(int(wanted), n_cores(), work // LEAST))


def read_rows(who: str, read: Callable[[Rows, np.ndarray], None], rows: Rows, found: np.ndarray, n_jobs: int | None) -> None:
    """Call read(rows, found); for large calls on parts of both, in several threads including the caller's."""
    n = n_threads(who, n_jobs, rows.nnz * found.shape[1])
    if n == 1 or rows.n_rows < 2:
        read(rows, found)
        return
    ends = np.linspace(int(rows.indptr[0]), int(rows.indptr[-1]), n * PARTS + 1)[1:-1]  # of parts with equal numbers of non-zeros
    cuts = np.unique([0, *np.searchsorted(rows.indptr, ends).clip(0, rows.n_rows).tolist(), rows.n_rows]).tolist()
    left = list(itertools.pairwise(cuts))[::-1]
    errors: dict[int, BaseException] = {}

    def work() -> None:
        while left:
            try:
                start, end = left.pop()  # (atomic: no two threads get the same part)
            except IndexError:
                return
            try:
                read(rows.part(start, end), found[start:end])
            except BaseException as error:  # raised in the caller's thread after all have ended
                errors[start] = error
                left.clear()

    threads = [threading.Thread(target=work, name="onlinecls", daemon=True) for _ in range(n - 1)]
    try:
        for thread in threads:
            thread.start()
        work()
    finally:
        left.clear()
        for thread in threads:
            with suppress(RuntimeError):  # (it has not begun: Ctrl-C came first; it will find nothing to do)
                thread.join()
    if errors:
        raise errors[min(errors)]
