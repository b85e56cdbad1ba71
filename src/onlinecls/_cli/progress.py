"""Progress on standard error while a command reads a stream: lines, and a bar on a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator


class Progress:
    """Lines at marks (1, 2, 4 ... rows, or every so many); tqdm's bar where standard error is a terminal and tqdm is there."""

    def __init__(self, quiet: bool, every: int | None = None, marks: bool = True):
        self.quiet, self.every, self.marks = quiet, every, marks
        self.started, self._bar = time.perf_counter(), None
        self.restart()

    def restart(self) -> None:
        """A new pass: its rows are counted from 0."""
        self.rows, self.next_mark = 0, (self.every or 1) if self.marks else sys.maxsize

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
        """A batch in parts that end at marks: (start, stop, whether there is a mark)."""
        start = 0
        while start < n_rows:
            stop = min(n_rows, start + self.next_mark - self.rows)
            self.rows += stop - start
            marked = self.rows == self.next_mark
            if marked:
                self.next_mark += self.every or self.next_mark
            yield start, stop, marked
            start = stop

    def show(self, stream, note: str = "") -> None:
        """Move the bar to where the stream is."""
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
