"""Reading files in blocks of whole lines for the compiled parsers."""

from __future__ import annotations

import contextlib
from collections import Counter, deque
from queue import Empty, SimpleQueue
from threading import Lock, Thread

from ._errors import HINTS, Counts, MalformedLineError, excerpt
from ._labels import aside, looks_like
from ._lines import BEHIND, BLANK

BOM = b"\xef\xbb\xbf"


def batches(files, parser, counts: Counts, block_bytes: int, max_line_bytes: int, guard):
    """Yield ``parser.take()`` for each batch. When reading fails, or a pipe is silent, yield the rows read so far first.

    None stands for a pipe that is silent behind lines without a row.

    guard : a context in which the parser runs.
    """
    try:
        for source in files:
            skip_bom(source)
            parser.begin()
            for block, start, stop in blocks(source, block_bytes, max_line_bytes):
                if block is None and not stop:
                    if parser.n_rows or counts.gaps:
                        yield parser.take() if parser.n_rows else None
                    continue
                if block is None:
                    parser.skip_line()
                    error = MalformedLineError(source.name, parser.line_number, stop + 1, *too_long(max_line_bytes))
                    counts.refuse(error, parser.n_rows)
                    continue
                while start < stop:
                    with guard:
                        start, fault = parser.feed(block, start, stop)
                    if fault == BLANK:
                        counts.leave_out(parser.n_rows)
                    elif fault:
                        error = MalformedLineError(source.name, parser.line_number, *_description(parser, block, fault))
                        counts.refuse(error, parser.n_rows)
                    if parser.full:
                        yield parser.take()
    except (ValueError, OSError):
        if parser.n_rows:
            yield parser.take()
        raise
    if parser.n_rows:
        yield parser.take()


def parallel(files, parsers: list, counts: Counts, block_bytes: int, max_line_bytes: int):
    """Yield batches from several parsers, each of which parses blocks of its own, so that a batch ends with its block, too.

    One parser runs in the caller's thread: instead of sleeping until the next batch is ready, it parses a block that no other
    has begun. Threads that wake each other for every block end up waiting for the same processor.
    """
    free, spare, offered, jobs, lines = SimpleQueue(), SimpleQueue(), SimpleQueue(), deque(), Counter()
    for parser in parsers:
        free.put(parser)

    def work(*block):
        parser = free.get()
        try:
            return _parsed(parser, *block, counts.skipping)
        finally:
            free.put(parser)
            spare.put(block[0])

    def finish():
        job = jobs[0]
        while not job.done and any(other.do() for other in jobs):
            pass
        del jobs[0]
        n_lines, found, faults, error = job.result()
        for line, n_before, column, problem, parameter in faults:
            if problem is None:
                counts.leave_out(n_before)
                continue
            if not counts.skipping:  # the error ends the stream: the rows before the line come first
                yield from found
            counts.refuse(MalformedLineError(job.name, lines[job.file] + line, column, problem, parameter), n_before)
        yield from found
        if error:
            raise error
        lines[job.file] += n_lines

    def begin():
        for number, source in enumerate(files):
            skip_bom(source)
            for block, start, stop in blocks(source, block_bytes, max_line_bytes, spare):
                if block is None:
                    refused = 1, (), [(1, 0, stop + 1, *too_long(max_line_bytes))], None
                    jobs.append(_Job(number, source.name, lambda found=refused: found))
                else:
                    jobs.append(_Job(number, source.name, work, block, start, stop))
                    offered.put(jobs[-1])
                yield

    threads = [Thread(target=_do_all, args=(offered,), name="onlinecls.streams", daemon=True) for _ in parsers[1:]]
    try:
        for thread in threads:
            thread.start()
        begun, failure, more = begin(), None, True
        while more:
            try:
                more = next(begun, "end") != "end"
            except (ValueError, OSError) as error:  # of reading: yield the rows read so far first
                failure, more = error, False
            if len(jobs) > 2 * len(parsers):
                yield from finish()
        while jobs:
            yield from finish()
        if failure:
            raise failure
    finally:
        for job in jobs:
            job.claimed()  # no thread begins a job whose result is not needed
        for _ in threads:
            offered.put(None)
        for thread in threads:
            with contextlib.suppress(RuntimeError):  # (it has not begun: Ctrl-C came first; it will find nothing to do)
                thread.join()


def _do_all(offered: SimpleQueue) -> None:
    """Run offered jobs in a thread until None. (concurrent.futures would add a tenth to the package's import time.)"""
    while (job := offered.get()) is not None:
        with contextlib.suppress(BaseException):  # raised again by result()
            job.do()


class _Job:
    """Run a call once, in the first thread that claims it: one of the pool, or the caller's."""

    def __init__(self, file: int, name: str, work, *arguments):
        self.file, self.name, self._work, self._arguments = file, name, work, arguments
        self.done, self._found, self._error, self._unclaimed, self._running = False, None, None, [None], Lock()
        self._running.acquire()

    def claimed(self) -> bool:
        """Claim the job; return True if another thread has claimed it before."""
        try:
            self._unclaimed.pop()  # (atomic: only one thread succeeds)
        except IndexError:
            return True
        return False

    def do(self) -> bool:
        """Run the job unless it has been claimed; return True if it was run here."""
        if self.claimed():
            return False
        try:
            self._found = self._work(*self._arguments)
        except BaseException as error:
            self._error = error
            raise
        finally:
            self.done = True
            self._running.release()
        return True

    def result(self):
        """Wait for the job and return its result, once, so that the batches are freed as soon as the caller drops them."""
        with self._running:
            pass
        if self._error:
            raise self._error
        found, self._found = self._found, None
        return found


def _parsed(parser, block: bytearray, start: int, stop: int, skipping: bool):
    """Parse a block; return (number of lines, batches, faults, the error that stopped the parser or None).

    A fault is (line, number of rows before it, column, problem, parameter of its hint); the problem of a blank line is None.
    """
    found, faults, error, n_rows, is_right = [], [], None, 0, True
    parser.begin()
    try:
        while start < stop and (skipping or is_right):
            start, fault = parser.feed(block, start, stop)
            if fault:
                is_right = fault == BLANK
                faults.append((parser.line_number, n_rows + parser.n_rows, *_description(parser, block, fault)))
            if parser.full:
                n_rows += parser.n_rows
                found.append(parser.take())
    except ValueError as refused:
        error = refused
    if parser.n_rows:
        found.append(parser.take())
    return parser.line_number, found, faults, error


def _description(parser, block, fault) -> tuple[int, str | None, str]:
    column, expected, parameter = fault
    if fault == BLANK:
        return fault
    first, last = parser.line
    rest = bytes(block[first + column - 1 : last])
    before = rest.partition(b"|")[0].decode("utf-8", "replace").rstrip()
    if parameter == "label":
        return column, f"expected {expected}, got {excerpt(rest)}{aside(before, expected)}", parameter
    if "importance" in expected and (what := looks_like(f"ca {before}")):
        return column, f"expected {expected}, got {excerpt(rest)} ({what})", parameter
    return column, f"expected {expected}{HINTS.get(parameter, '')}, got {excerpt(rest)}", parameter


def too_long(max_line_bytes: int) -> tuple[str, str]:
    return f"expected a line of at most {max_line_bytes} bytes{HINTS['max_line_bytes']}, got a longer one", "max_line_bytes"


def blocks(source, block_bytes: int, max_line_bytes: int, spare: SimpleQueue | None = None):
    """Yield (buffer, start, stop) of whole lines; (None, 0, n) for a line of n bytes or more, which is left out; (None, 0, 0)
    while a pipe is silent, so that rows need not wait for more input.

    Without `spare`, whatever can be read is yielded at once, in one buffer that the next block overwrites. With `spare`, blocks
    are read until they are full, and a buffer is the caller's until it comes back by that queue.
    """
    buffer = bytearray(min(block_bytes, max_line_bytes) + 1 + BEHIND)
    held, too_long, more, failure = 0, False, True, None  # held: bytes of a line without its end, at the front
    while more:
        if spare is None and source.is_silent():
            yield None, 0, 0
        room, end, n = len(buffer) - 1 - BEHIND, held, 1
        try:
            with memoryview(buffer) as view:
                while n and end < room and (spare is not None or end == held):
                    n = source.readinto(view[end:room])
                    end += n
        except (ValueError, OSError) as error:  # the whole lines before it are yielded first
            failure, n = error, 0
        more = n > 0
        if not more and end and failure is None and buffer[end - 1] != ord("\n"):
            buffer[end] = ord("\n")
            end += 1
        start, stop = 0, buffer.rfind(b"\n", held, end) + 1
        if stop and too_long:
            start, too_long = buffer.index(b"\n") + 1, False
        held, full = end - stop, buffer
        if start < stop and spare is not None:
            buffer = _another(spare, len(full))
            buffer[:held] = full[stop:end]
        if start < stop:
            yield full, start, stop
        if too_long:
            held = 0
        elif stop and buffer is full:
            buffer[:held] = buffer[stop:end]
        elif held == room and room < max_line_bytes:
            buffer.extend(bytes(min(room, max_line_bytes - room)))
        elif held == room:
            yield None, 0, room
            held, too_long = 0, True
    if failure:
        raise failure


def _another(spare: SimpleQueue, size: int) -> bytearray:
    """Return a buffer of at least that size: one that came back, or a new one."""
    try:
        buffer = spare.get_nowait()
    except Empty:
        return bytearray(size)
    buffer.extend(bytes(max(0, size - len(buffer))))
    return buffer


def skip_bom(source) -> None:
    start = source.peek(3)
    if start.startswith(BOM):
        source.drop(len(BOM))
    elif start.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ValueError(
            f"{source.name}: expected UTF-8, got a file that begins like UTF-16. Convert it first: iconv -f UTF-16 -t UTF-8."
        )
