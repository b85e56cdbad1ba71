"""Reading files in blocks of whole lines, these by the parser of their format; what is malformed is raised or counted."""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING

import numpy as np

from .._input import escaped
from .._input.validate import LONGEST_LABEL, brief
from ._parsers import BEHIND, BLANK

if TYPE_CHECKING:
    from typing import Any

_LARGE = 1 << 18  # bytes of a block that two threads read
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
        super().__init__(file, line, column, problem)
        self.file, self.line, self.column, self._problem = file, line, column, problem

    def __str__(self) -> str:
        return f"{escaped(self.file)}:{self.line}:{'' if self.column is None else f'{self.column}:'} {self._problem}"


class Counts:
    """Count the rows that a reader has read and the lines that it has left out."""

    def __init__(self, skipping: bool) -> None:
        self.skipping, self.n_rows, self.n_skipped = skipping, 0, 0
        self.reasons: deque[str] = deque(maxlen=5)
        self.gaps: list[int] = []  # for each line without a row, the rows of the stream before it

    def refuse(self, error: MalformedLineError, n_before: int) -> None:
        """Raise the error, or count it if errors are skipped. n_before : rows of the current batch before the line."""
        if not self.skipping:
            raise error
        self.n_skipped += 1
        self.reasons.append(str(error))
        self.gaps.append(self.n_rows + n_before)

    def refuse_rows(self, errors: dict[int, MalformedLineError]) -> None:
        """Count the errors of rows that were in the current batch, by their place in it."""
        rows = np.array(list(errors))
        self.n_skipped += len(rows)
        self.reasons += map(str, errors.values())
        moved = [gap - int(np.searchsorted(rows, gap - self.n_rows)) for gap in self.gaps]
        self.gaps = sorted([*moved, *(self.n_rows + rows - np.arange(len(rows))).tolist()])

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
    right = len(label) <= LONGEST_LABEL and "\0" not in label
    return "" if right else f"expected a label of 1 to {LONGEST_LABEL} characters, none of them NUL, got {brief(label)}"


def too_far(value: Any, depth: int = 63) -> bool:
    """Return True for lists and dicts with a number that tables do not take, or deeper than these take them; False for None."""
    inner = value.values() if type(value) is dict else value or ()
    return depth < 0 or any(
        abs(each) > FARTHEST if type(each) is float else type(each) in (list, dict, tuple) and too_far(each, depth - 1)
        for each in inner)


# --- blocks --------------------------------------------------------------------------------------------------------------------


class _Half:
    """Parse the second half of a block once, in the thread that comes first: the one that reads ahead, or the one that waits."""

    def __init__(self, parse):
        self._parse, self.found = [parse], SimpleQueue()

    def __call__(self):
        with suppress(IndexError):  # (only one thread can pop)
            parse, found = self._parse.pop(), None
            try:
                found = parse()
            finally:  # Ctrl-C too, so that no thread waits for ever
                self.found.put(found)


def batches(files, options, parser, helper=None):
    """Yield (rows, labels, weights) of batches. When reading fails, or a pipe is silent, yield the rows read so far first.

    None stands for a pipe that is silent behind lines without a row. helper : another parser like this one, for the second
    half of each large block, which is yielded as a function: who has nothing else to do may call it.
    """
    counts, name = options.counts, ""

    def read(parser, block, start, stop, begun=()):
        while start < stop:
            start, fault = begun.pop() if begun else parser.feed(block, start, stop)
            if fault == BLANK:
                counts.gaps.append(counts.n_rows + parser.n_rows)
            elif fault:
                if not counts.skipping:  # the rows before it come first
                    yield from rest(parser)
                counts.refuse(MalformedLineError(name, parser.line_number, *fault), parser.n_rows)
            elif start < stop:  # the batch is full
                yield from parser.batches()

    def read_halves(block, start, stop):
        middle = block.rfind(b"\n", start, start + (stop - start) * 5 // 9) + 1
        if helper is None or not middle or stop - start < _LARGE:
            yield from read(parser, block, start, stop)
            return
        helper.line_number, half = 0, _Half(partial(helper.feed, block, middle, stop))
        yield half
        yield from read(parser, block, start, middle)
        yield from rest(parser)
        half()
        begun = [half.found.get()]
        helper.line_number += parser.line_number
        yield from read(helper, block, middle, stop, begun)
        yield from rest(helper)
        parser.line_number = helper.line_number

    def rest(parser):
        if parser.n_rows:
            yield from parser.batches()

    try:
        for source in files:
            name, parser.line_number = source.name, 0
            if parser.by_file:
                parser.begin(source)
            for block, start, stop in blocks(source, parser, options):
                if block is not None:
                    yield from read_halves(block, start, stop)
                elif stop:
                    parser.line_number += 1
                    problem = f"expected a line of at most {stop} bytes (max_line_bytes), got a longer one"
                    counts.refuse(MalformedLineError(name, parser.line_number, stop + 1, problem), parser.n_rows)
                else:
                    if not parser.waits:
                        yield from rest(parser)
                    if counts.gaps:
                        yield None
            if parser.by_file:
                yield from rest(parser)
    except (ValueError, OSError):
        yield from rest(parser)
        raise
    yield from rest(parser)


def blocks(source, parser, options):
    """Yield (buffer, start, stop) of whole lines; (None, 0, n) for a line of n bytes or more, which is left out; (None, 0, 0)
    while a pipe is silent, so that rows need not wait for more input. All are in one buffer, which the next block overwrites.

    The lines of a row that the parser leaves unread, as it goes on behind the block, are in the next block again.
    """
    longest = options.max_line_bytes
    buffer = bytearray(min(options.block_bytes, longest) + 1 + BEHIND)
    held, too_long, more, failure = 0, False, True, None  # held: bytes of a row or a line without its end, at the front
    while more:
        if source.is_silent():
            yield None, 0, 0
        room, end, n = len(buffer) - 1 - BEHIND, held, 1
        try:
            with memoryview(buffer) as view:
                while n and end < room and end == held:
                    n = source.readinto(view[end:room])
                    end += n
        except (ValueError, OSError) as error:  # the whole lines before it are yielded first
            failure, n = error, 0
        more = n > 0
        if not more and end and failure is None and buffer[end - 1] != ord("\n"):
            buffer[end] = ord("\n")
            end += 1
        start, stop = 0, buffer.rfind(b"\n", parser.unread - 1 if parser.unread else held, end) + 1
        if stop and too_long:
            start, too_long = buffer.index(b"\n") + 1, False
        parser.final = stop if not more and failure is None else int(end == longest)
        parser.alone = parser.unread = 0
        if start < stop:
            yield buffer, start, stop
        stop -= parser.unread
        held = end - stop
        if too_long:
            held = 0
        elif stop:
            buffer[:held] = buffer[stop:end]
        elif held == room and room < longest:
            buffer.extend(bytes(min(room, longest - room)))
        elif held == room:
            yield None, 0, room
            held, too_long = 0, True
    if failure:
        raise failure
