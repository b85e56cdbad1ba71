"""Reading files in blocks of whole lines, and these by the parser of their format."""

from __future__ import annotations

from ._errors import HINTS, MalformedLineError, excerpt
from ._lines import BEHIND, BLANK, REPEATED

BOM = b"\xef\xbb\xbf"


def batches(files, parser, options):
    """Yield (rows, labels, weights) of batches. When reading fails, or a pipe is silent, yield the rows read so far first.

    None stands for a pipe that is silent behind lines without a row.
    """
    counts, name = options.counts, ""

    def refuse(column, problem, parameter):
        counts.refuse(MalformedLineError(name, parser.line_number, column, problem, parameter), parser.n_rows)

    def read(block, start, stop):
        while start < stop:
            start, fault = parser.feed(block, start, stop)
            if fault == BLANK:
                counts.leave_out(parser.n_rows)
            elif fault == REPEATED:
                yield from read_again()
            elif fault:
                column, problem, parameter = fault
                if column is not None:
                    first, last = parser.line
                    got = excerpt(bytes(block[first + column - 1 : last]))
                    problem = f"expected {problem}{HINTS.get(parameter, '')}, got {got}"
                refuse(column, problem, parameter)
            if parser.full:
                yield from parser.batches()

    def read_again():
        if lines := parser.again():
            parser.alone = True
            yield from read(lines, 0, len(lines) - BEHIND)
            parser.alone = False

    try:
        for source in files:
            name = source.name
            skip_bom(source)
            parser.begin(source)
            for block, start, stop in blocks(source, options.block_bytes, options.max_line_bytes):
                if block is not None:
                    yield from read(block, start, stop)
                elif stop:
                    yield from read_again()
                    parser.line_number += 1
                    longest = f"a line of at most {options.max_line_bytes} bytes{HINTS['max_line_bytes']}"
                    refuse(stop + 1, f"expected {longest}, got a longer one", "max_line_bytes")
                else:
                    if parser.n_rows and not parser.waits:
                        yield from parser.batches()
                    if counts.gaps:
                        yield None
            yield from read_again()
            if parser.n_rows and parser.by_file:
                yield from parser.batches()
    except (ValueError, OSError):
        if parser.n_rows:
            yield from parser.batches()
        raise
    if parser.n_rows:
        yield from parser.batches()


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
