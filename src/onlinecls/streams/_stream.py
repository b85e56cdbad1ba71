"""`Stream`, the iterator of batches; a thread reads ahead while the caller learns."""

from __future__ import annotations

import os
import queue
import threading
import weakref
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from .._rows import Rows
from ._sources import ClosedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    import numpy as np

    from ._sources import Files

_AHEAD = 3  # batches between the two threads


class Batch(NamedTuple):
    """Hold a batch of rows of a stream.

    Attributes
    ----------
    X : scipy.sparse.csr_matrix of shape (n_rows, n_features), pyarrow.RecordBatch or list of dicts
        Columns of a matrix are int32, sorted and unique in each row.
    y : ndarray of shape (n_rows,) or None
        Texts, or numbers; None with ``labels=None``.
    weight : ndarray of shape (n_rows,) or None
        float64, >= 0; None in formats without weights.
    """

    X: Any  # (checkers infer from scipy, which has no types, that a shape may be None)
    y: Any  # (who asked for labels has an array)
    weight: np.ndarray | None


class Stream:
    """Iterate over the batches of a source; `read` makes one.

    A stream is a context manager; it also closes at its end, on an error, and with its last reference.

    Attributes
    ----------
    format : str
    is_table : bool
        True if X is a table: a ``pyarrow.RecordBatch``, or a list of dicts.
    n_features : int
        Columns of every X that is no table.
    bytes_read : int
        Bytes of the files, as stored on the disk, that were read for the batches returned so far.
    n_rows : int
        Rows returned so far.
    n_skipped : int
        Malformed lines left out so far (``on_error="skip"``).
    skipped : tuple of str
        Messages about the last five of them.
    gaps : tuple of int
        For each line left out since the batch before, n_rows before that line: predictions can keep the numbers of lines. With
        ``labels=None``, empty lines are included.
    """

    bytes_read: int
    close: weakref.finalize[..., Stream]
    format: str
    gaps: tuple[int, ...]
    is_table: bool
    n_features: int
    n_rows: int
    n_skipped: int
    skipped: tuple[str, ...]

    def __init__(self, reader: Any, files: Files, batches: Any, stop: threading.Event, prefetch: bool) -> None:
        self.format, self.n_features, self.is_table = reader.format, reader.n_features, reader.is_table
        self._metadata = reader.metadata
        self.__dict__.update(reader.counts.progress(0))
        self._next = batches.__next__
        thread: threading.Thread | None = None
        wanted: queue.SimpleQueue[Any] = queue.SimpleQueue()
        if prefetch:
            # Two queues in C, one of batches and one of places for them. queue.Queue has a lock in Python: Ctrl-C at the wrong
            # moment leaves it locked for ever.
            ahead: queue.SimpleQueue[Any] = queue.SimpleQueue()
            for _ in range(_AHEAD):
                wanted.put(None)
            # A daemon: the finalizer below ends it at exit, and a read that hangs does not keep the interpreter alive.
            thread = threading.Thread(target=_read_ahead, args=(batches, ahead, wanted, stop), daemon=True)
            thread.name = "onlinecls.streams"
            self._next = lambda: _take(ahead, wanted)
        self._process = os.getpid()
        self.close = weakref.finalize(self, _close, batches, files, stop, thread, wanted, self._process)
        if thread:
            thread.start()

    def __iter__(self) -> Stream:
        return self

    def __next__(self) -> Batch:
        X, y, weight = self._next_rows()
        return Batch(X.matrix() if isinstance(X, Rows) else X, y, weight)

    def batches_of_rows(self, paused: Callable[[], None] | None = None) -> Iterator[Batch]:
        """Return an iterator of batches for this package's learners, in which X is a `Rows` unless a vectorizer made a matrix.

        paused() is called where a pipe is silent behind lines without a row, which are in `gaps`.
        """
        return iter(partial(self._next_rows, paused), None)

    @property
    def metadata(self) -> dict[str, Any]:
        """How rows are read, for ``model.save(path, metadata=stream.metadata)``, once the first batch has come.

        The command line can then predict with the model, and `options_of` makes options that read further files in the same way.
        """
        return self._metadata()

    def _next_rows(self, paused: Callable[[], None] | None = None) -> Batch:
        if not self.close.alive:
            raise StopIteration
        if os.getpid() != self._process:  # which has no reading thread
            raise RuntimeError("read: a stream must be read by the process that opened it, got a fork. Open the files there.")
        self.gaps = ()
        while True:
            try:
                batch, progress = self._next()
            except BaseException:  # Ctrl-C too: it may have lost a batch
                self.close()
                raise
            self.__dict__.update(progress, gaps=(*self.gaps, *progress["gaps"]))
            if batch is None:  # the end, with the last progress
                self.close()
                raise StopIteration
            if batch.X is not None:
                return batch
            if paused is not None:
                paused()
                self.gaps = ()

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _read_ahead(batches: Any, ahead: queue.SimpleQueue, wanted: queue.SimpleQueue, stop: threading.Event) -> None:
    """Read batches ahead, in a thread, without a reference to the Stream, which it would keep alive."""
    try:
        while True:
            wanted.get()
            if stop.is_set():
                return
            ahead.put(next(batches))
    except (StopIteration, ClosedError):
        pass
    except BaseException as error:
        ahead.put(error)


def _take(ahead: queue.SimpleQueue, wanted: queue.SimpleQueue) -> Any:
    item: Any = list
    while callable(item):  # (of a block that is being parsed: half of it is the work of whoever waits for it)
        item()
        item = ahead.get()
        wanted.put(None)
    if isinstance(item, BaseException):
        raise item
    return item


def _close(batches: Any, files: Files, stop: threading.Event, thread: Any, wanted: queue.SimpleQueue, process: int) -> None:
    if os.getpid() != process:  # a fork, which has copied files and locks that are in use: the parent closes them
        return
    stop.set()
    if thread and thread is not threading.current_thread():  # the garbage collector runs in any thread
        wanted.put(None)  # wakes a thread that waits for a place, so that it sees `stop`
        with suppress(RuntimeError):  # (it has not begun: Ctrl-C came first; it will see `stop`)
            thread.join(2.0)  # reading a file object of the caller's may never return
        if thread.is_alive():
            return
    batches.close()
    files.close()
