"""Files in blocks of whole lines, into a compiled parser."""

from __future__ import annotations

from ._errors import MalformedLineError, Tally, excerpt
from ._lines import BEHIND

BOM = b"\xef\xbb\xbf"


def batches(files, parser, *options):
    """Yield what ``parser.take()`` gives, once a batch. Where reading fails, the rows before that come first."""
    try:
        yield from _full_batches(files, parser, *options)
    except (ValueError, OSError):
        if parser.n_rows:
            yield parser.take()
        raise
    if parser.n_rows:
        yield parser.take()


def _full_batches(files, parser, tally: Tally, block_bytes: int, max_line_bytes: int, guard):
    """guard: a context within which the parser runs."""
    buffer = bytearray(min(block_bytes, max_line_bytes) + 1 + BEHIND)
    for source in files:
        skip_bom(source)
        parser.begin()
        held, too_long, more = 0, False, True  # bytes of a line without its end, at the front
        while more:
            room = len(buffer) - 1 - BEHIND
            with memoryview(buffer) as view:
                n = source.readinto(view[held:room])
            end, more = held + n, n > 0
            if not more and held:
                buffer[end] = ord("\n")
                end += 1
            start, stop = 0, buffer.rfind(b"\n", held, end) + 1
            if stop and too_long:
                start, too_long = buffer.index(b"\n") + 1, False
            while start < stop:
                with guard:
                    start, fault = parser.feed(buffer, start, stop)
                if fault:
                    column, expected = fault
                    first, last = parser.line
                    came = excerpt(bytes(buffer[first + column - 1 : last]))
                    problem = f"expected {expected}, got {came}"
                    tally.refuse(MalformedLineError(source.name, parser.line_number, column, problem))
                if parser.full:
                    yield parser.take()
            held = end - stop
            if too_long:
                held = 0
            elif stop:
                buffer[:held] = buffer[stop:end]
            elif held == room and room < max_line_bytes:
                buffer.extend(bytes(min(room, max_line_bytes - room)))
            elif held == room:
                parser.skip_line()
                problem = f"expected a line of at most {max_line_bytes} bytes (max_line_bytes), got a longer one"
                tally.refuse(MalformedLineError(source.name, parser.line_number, room + 1, problem))
                held, too_long = 0, True


def skip_bom(source) -> None:
    start = source.peek(3)
    if start.startswith(BOM):
        source.drop(len(BOM))
    elif start.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ValueError(
            f"{source.name}: expected UTF-8, got a file that begins like UTF-16. Convert it first: iconv -f UTF-16 -t UTF-8."
        )
