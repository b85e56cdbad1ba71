"""The error of a malformed line, and the counts of rows read and lines skipped."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import numpy as np

from .._input import escaped
from .._input.validate import LONGEST_LABEL

if TYPE_CHECKING:
    from typing import Any

_KEPT = 5  # reasons
FARTHEST = 1e150  # numbers of a table are within this


class MalformedLineError(ValueError):
    """Raised for a line or record that its format does not allow.

    Attributes
    ----------
    file : str
        Name of the file, without its folder.
    line : int
        Number of the line (of the record, in formats without lines), from 1.
    column : int or None
        Byte in the line, from 1, of what was not expected.
    """

    def __init__(self, file: str, line: int, column: int | None, problem: str) -> None:
        super().__init__(f"{escaped(file)}:{line}:{'' if column is None else f'{column}:'} {problem}")
        self.file, self.line, self.column = file, line, column

    def __reduce__(self) -> tuple[Any, ...]:
        return ValueError.__new__, (type(self), *self.args), self.__dict__


class Counts:
    """Count the rows that a reader has read and the lines that it has left out."""

    def __init__(self, skipping: bool) -> None:
        self.skipping, self.n_rows, self.n_skipped = skipping, 0, 0
        self.reasons: deque[str] = deque(maxlen=_KEPT)
        self.gaps: list[int] = []  # for each line without a row, the rows of the stream before it

    def refuse(self, error: MalformedLineError, n_before: int) -> None:
        """Raise the error, or count it if errors are skipped. n_before : rows of the current batch before the line."""
        if not self.skipping:
            raise error
        self.n_skipped += 1
        self.reasons.append(str(error))
        self.leave_out(n_before)

    def refuse_rows(self, errors: dict[int, MalformedLineError]) -> None:
        """Count the errors of rows that were in the current batch, by their place in it."""
        rows = np.array(list(errors))
        self.n_skipped += len(rows)
        self.reasons += map(str, errors.values())
        moved = [gap - int(np.searchsorted(rows, gap - self.n_rows)) for gap in self.gaps]
        self.gaps = sorted([*moved, *(self.n_rows + rows - np.arange(len(rows))).tolist()])

    def leave_out(self, n_before: int) -> None:
        """Note a line without a row, after n_before rows of the current batch."""
        self.gaps.append(self.n_rows + n_before)

    def progress(self, bytes_read: int) -> dict[str, Any]:
        """Return the attributes of a stream behind the batches returned so far."""
        gaps = tuple(gap for gap in self.gaps if gap <= self.n_rows)
        self.gaps = self.gaps[len(gaps) :]  # (of a block's later batches, whose rows may be left out, too)
        return {"bytes_read": bytes_read, "n_rows": self.n_rows, "n_skipped": self.n_skipped, "skipped": tuple(self.reasons),
                "gaps": gaps}


def wrong_label(label: str | None) -> str:
    """Return what is wrong with a text as a label; "" if nothing."""
    if not label:
        return "expected a label (labels=None reads lines without), got none"
    if "\0" in label:
        return "expected a label without NUL, got one"
    return "" if len(label) <= LONGEST_LABEL else f"expected a label of at most {LONGEST_LABEL} characters, got a longer one"


def excerpt(rest: bytes) -> str:
    """Return the start of the rest of a malformed line, quoted for a message."""
    if not rest:
        return "the end of the line"
    try:
        shown = repr(rest.decode("utf-8")[:24])
    except UnicodeDecodeError:
        shown = repr(rest[:24])[1:]
    return shown + "..." * (len(rest) > 24)
