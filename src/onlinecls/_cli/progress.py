"""Progress on standard error while a command reads a stream: lines, and a bar on a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import NamedTuple

_LONGEST_SILENCE = 60.0  # seconds between lines by default


class Every(NamedTuple):
    """An interval in rows or in seconds."""

    rows: int | None = None
    seconds: float | None = None


class Clock:
    """Tells when an interval has passed."""

    def __init__(self, every: Every):
        self.every, self._rows, self._at = every, 0, time.monotonic()

    def is_due(self, rows: int) -> bool:
        if self.every.rows is not None:
            due = rows - self._rows >= self.every.rows
        else:
            due = self.every.seconds is not None and time.monotonic() - self._at >= self.every.seconds
        if due:
            self._rows, self._at = rows, time.monotonic()
        return due


class Progress:
    """Prints a line after 1, 2, 4 ... rows and after each minute, or at the given interval; shows tqdm's bar if standard error
    is a terminal and tqdm is installed."""

    def __init__(self, quiet: bool, every: Every | None = None, marks: bool = True):
        self.quiet, self.every, self.marks = quiet, every, marks
        self.started, self._bar = time.perf_counter(), None
        self.restart()

    def restart(self) -> None:
        """Begin a new pass, whose rows are counted from 0."""
        by_time = self.every is not None and self.every.seconds is not None
        self._step = None if self.every is None else self.every.rows
        self.rows, self.next_mark = 0, (self._step or 1) if self.marks and not by_time else sys.maxsize
        self._clock = Clock(Every(seconds=self.every.seconds if by_time else _LONGEST_SILENCE if self.every is None else None))

    def open(self, stream, title: str) -> None:
        if self.quiet or not sys.stderr.isatty():
            return
        try:
            from tqdm import tqdm
        except ImportError:
            return
        size = {"total": stream.bytes_total, "unit": "B", "unit_scale": True}
        self._bar = tqdm(**size, desc=title, file=sys.stderr, leave=False, dynamic_ncols=True)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.started

    def cuts(self, n_rows: int) -> Iterator[tuple[int, int, bool]]:
        """Yield the parts of a batch between marks as (start, stop, True if a line is due at stop)."""
        start = 0
        while start < n_rows:
            stop = min(n_rows, start + self.next_mark - self.rows)
            self.rows += stop - start
            marked = self.rows == self.next_mark
            if marked:
                self.next_mark += self._step or self.next_mark
                self._clock = Clock(self._clock.every)
            yield start, stop, marked
            start = stop

    def is_due(self) -> bool:
        """Return True if a line is due though there was no mark."""
        return self.marks and self._clock.is_due(self.rows)

    def show(self, stream, note: str = "") -> None:
        """Move the bar to the position of the stream."""
        if self._bar is not None:
            self._bar.set_postfix_str(note, refresh=False)
            self._bar.update(stream.bytes_read - self._bar.n)

    def say(self, line: str) -> None:
        if self.quiet:
            return
        if self._bar is not None:
            self._bar.write(line, file=sys.stderr)
        else:
            print(line, file=sys.stderr, flush=True)
