"""The error of a malformed line, and the counts of rows read and lines skipped."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from .._input import escaped

if TYPE_CHECKING:
    from typing import Any

KEPT = 5  # reasons
FARTHEST = 1e150  # numbers of a table are within this

# Hints in messages about lines, by the parameter of `read` that each is about.
HINTS = {
    "labels": " (labels=None reads lines without)", "tab": " (labels=None reads lines without)",
    "max_line_bytes": " (max_line_bytes)",
    "zero_based": " (0-based files: zero_based=True)",
    "n_features": "n_features (give a larger one, or zero_based=False if indices start at 1)",
}


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
    parameter : str
        The parameter of `read` that the message has a hint about, "label" if the label is not valid, else "".
    """

    column: int | None
    file: str
    hint: str
    line: int
    parameter: str

    def __init__(self, file: str, line: int, column: int | None, problem: str, parameter: str = "") -> None:
        place = f"{escaped(file)}:{line}:"
        super().__init__(f"{place}{problem}" if column is None else f"{place}{column}: {problem}")
        self.file, self.line, self.column = file, line, column
        self.parameter, self.hint = parameter, HINTS.get(parameter, "")

    def __reduce__(self) -> tuple[Any, ...]:
        return ValueError.__new__, (type(self), *self.args), self.__dict__


class Progress(NamedTuple):
    """Count what the batches returned so far hold, and what was skipped."""

    bytes_read: int = 0
    n_rows: int = 0
    nnz: int = 0
    n_skipped: int = 0
    skipped: tuple[str, ...] = ()
    gaps: tuple[int, ...] = ()


class Counts:
    """Count the rows that a reader has read and the lines that it has left out."""

    def __init__(self, skipping: bool) -> None:
        self.skipping = skipping
        self.n_rows = self.nnz = self.n_skipped = 0
        self.reasons: deque[str] = deque(maxlen=KEPT)
        self.gaps: list[int] = []  # for each line without a row, the rows of the stream before it

    def refuse(self, error: MalformedLineError, n_before: int | None = None) -> None:
        """Raise the error, or count it if errors are skipped. n_before : rows of the batch before the line, if known."""
        if not self.skipping:
            raise error
        self.n_skipped += 1
        self.reasons.append(str(error))
        if n_before is not None:
            self.leave_out(n_before)

    def refuse_row(self, error: MalformedLineError, row: int) -> None:
        """Do as `refuse`, for a row that was in the current batch."""
        self.refuse(error)
        place = self.n_rows + row
        self.gaps = sorted([*(gap - (gap > place) for gap in self.gaps), place])

    def leave_out(self, n_before: int) -> None:
        """Note a line without a row, after n_before rows of the current batch."""
        self.gaps.append(self.n_rows + n_before)

    def progress(self, bytes_read: int) -> Progress:
        gaps = tuple(gap for gap in self.gaps if gap <= self.n_rows)
        self.gaps = self.gaps[len(gaps) :]  # (of a block's later batches, whose rows may be left out, too)
        return Progress(bytes_read, self.n_rows, self.nnz, self.n_skipped, tuple(self.reasons), gaps)


def excerpt(rest: bytes) -> str:
    """Return the start of the rest of a malformed line, quoted for a message."""
    if not rest:
        return "the end of the line"
    start = rest[:24]
    try:
        shown = repr(start.decode("utf-8"))
    except UnicodeDecodeError as error:
        cut_off = len(rest) > 24 and error.end == 24 and error.reason == "unexpected end of data"
        shown = repr(start[: error.start].decode("utf-8")) if cut_off else repr(start)[1:]
    return shown + ("..." if len(rest) > 24 else "")
