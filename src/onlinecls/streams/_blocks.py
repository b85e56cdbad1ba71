"""Reading files in blocks of whole lines for the compiled parsers."""

from __future__ import annotations

from ._errors import HINTS, Counts, MalformedLineError, excerpt
from ._lines import BEHIND, BLANK

BOM = b"\xef\xbb\xbf"


def batches(files, parser, counts: Counts, block_bytes: int, max_line_bytes: int):
    """Yield ``parser.take()`` for each batch. When reading fails, or a pipe is silent, yield the rows read so far first.

    None stands for a pipe that is silent behind lines without a row.
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


def _description(parser, block, fault) -> tuple[int, str | None, str]:
    column, expected, parameter = fault
    if fault == BLANK:
        return fault
    first, last = parser.line
    rest = bytes(block[first + column - 1 : last])
    return column, f"expected {expected}{HINTS.get(parameter, '')}, got {excerpt(rest)}", parameter


def too_long(max_line_bytes: int) -> tuple[str, str]:
    return f"expected a line of at most {max_line_bytes} bytes{HINTS['max_line_bytes']}, got a longer one", "max_line_bytes"


def blocks(source, block_bytes: int, max_line_bytes: int):
    """Yield (buffer, start, stop) of whole lines; (None, 0, n) for a line of n bytes or more, which is left out; (None, 0, 0)
    while a pipe is silent, so that rows need not wait for more input. All are in one buffer, which the next block overwrites.
    """
    buffer = bytearray(min(block_bytes, max_line_bytes) + 1 + BEHIND)
    held, too_long, more, failure = 0, False, True, None  # held: bytes of a line without its end, at the front
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
        start, stop = 0, buffer.rfind(b"\n", held, end) + 1
        if stop and too_long:
            start, too_long = buffer.index(b"\n") + 1, False
        held = end - stop
        if start < stop:
            yield buffer, start, stop
        if too_long:
            held = 0
        elif stop:
            buffer[:held] = buffer[stop:end]
        elif held == room and room < max_line_bytes:
            buffer.extend(bytes(min(room, max_line_bytes - room)))
        elif held == room:
            yield None, 0, room
            held, too_long = 0, True
    if failure:
        raise failure


def skip_bom(source) -> None:
    start = source.peek(3)
    if start.startswith(BOM):
        source.drop(len(BOM))
    elif start.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ValueError(
            f"{source.name}: expected UTF-8, got a file that begins like UTF-16. Convert it first: iconv -f UTF-16 -t UTF-8."
        )
