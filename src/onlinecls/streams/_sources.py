"""Sources of bytes: files, pipes and file objects, decompressed while they are read, counted as stored on the disk."""

from __future__ import annotations

import contextlib
import io
import os
import select
import stat
import sys
import threading
import zlib
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

HEAD = 1 << 16  # bytes that are examined before the first line is read
_LONGEST = 1 << 24  # bytes of a first line that is examined
_RAW = 1 << 17  # bytes read from the disk at a time
_UNPACKED = 1 << 16  # bytes decompressed at a time
_PAUSE = 0.002  # seconds without a byte after which a pipe counts as silent, and the rows read so far make a batch
_SETTLED = 0.2  # the same, after a whole line, before the format is detected

# The first bytes of compressed files, and the modules that decompress them, of which the first installed one is used.
_PACKED = (
    (b"\x1f\x8b", ("gzip",)),
    (b"BZh", ("bz2",)),
    (b"\xfd7zXZ\x00", ("lzma",)),
    ((b"\x28\xb5\x2f\xfd", *(bytes([first, 0x2A, 0x4D, 0x18]) for first in range(0x50, 0x60))),  # (skippable frames too: pzstd)
     ("compression.zstd", "backports.zstd")),  # Python 3.14, and its backport
)


class ClosedError(Exception):
    """Raised in the reading thread if the stream is closed while it waits for input."""


class _Raw(io.RawIOBase):
    """Read and count the bytes of a file object; the first can be read ahead."""

    def __init__(self, file, owned: bool, stop: threading.Event):
        self._file, self._owned, self._stop, self._ahead, self.count = file, owned, stop, b"", 0
        # A pipe may stay silent for ever. Windows can only wait for sockets: closing the stream waits for the pipe there.
        self._waits = isinstance(file, io.FileIO) and os.name == "posix" and not stat.S_ISREG(os.fstat(file.fileno()).st_mode)

    def readable(self) -> bool:
        return True

    def peek(self, n: int) -> bytes:
        """Return the first n bytes; fewer if a line ends before, as in no compressed file, since a pipe may send no more."""
        while len(self._ahead) < n and b"\n" not in self._ahead and (more := self._read(n - len(self._ahead))):
            self._ahead += more
        return self._ahead

    def is_silent(self, seconds: float) -> bool:
        """Return True if the file is a pipe from which nothing can be read for `seconds`; False at its end."""
        return self._waits and not self._ahead and not select.select([self._file], [], [], seconds)[0]

    def readinto(self, buffer: Any) -> int:
        if not self._ahead and isinstance(self._file, io.FileIO) and not self._waits:
            n = self._file.readinto(buffer)
            self.count += n
            return n
        more = self._ahead[: len(buffer)] or self._read(len(buffer))
        self._ahead = self._ahead[len(more) :]
        buffer[: len(more)] = more
        return len(more)

    def _read(self, n: int) -> bytes:
        while self._waits and not select.select([self._file], [], [], 0.05)[0]:
            if self._stop.is_set():
                raise ClosedError
        more = self._file.read(min(n, _RAW)) or b""
        self.count += len(more)
        return more

    def close(self) -> None:
        if not self.closed and self._owned:
            self._file.close()
        super().close()


class Source(io.RawIOBase):
    """Read the decompressed bytes of one file.

    name : for messages. path : None for standard input and file objects. count : bytes read here, or as claimed by other code.
    """

    claimed: int
    file: Any
    name: str
    path: str | None

    def __init__(self, what: Any, stop: threading.Event):
        file, self.name, self.path, owned = _opened(what)
        self.file, self.claimed, self._raw = file, 0, _Raw(file, owned, stop)
        try:
            self._file = self._unpacked()
        except BaseException:
            self._raw.close()
            raise
        self._head, self._failure = b"", None

    def _unpacked(self):
        start = self._guarded(self._raw.peek, 6)
        for magic, modules in _PACKED:
            if start.startswith(magic):
                for module in modules:
                    with contextlib.suppress(ImportError):
                        return import_module(module).open(io.BufferedReader(self._raw, _RAW))
                raise ImportError(
                    f'{self.name} is compressed with Zstandard: its reader is missing, pip install "onlinecls[zstd]"'
                )
        return self._raw

    @property
    def count(self) -> int:
        return max(self._raw.count, self.claimed)

    @property
    def packed(self) -> bool:
        return self._file is not self._raw

    def readable(self) -> bool:
        return True

    def is_silent(self, seconds: float = _PAUSE) -> bool:
        """Return True if a pipe is silent at present; False for a compressed one, whose bytes come in blocks."""
        return not self._head and not self.packed and self._raw.is_silent(seconds)

    def peek(self, n: int = HEAD, settled: bool = True) -> bytes:
        """Return the first n bytes or a few more, which are read again later; errors behind a whole line are then raised later.

        If a pipe is silent behind a whole line, return what has come. settled : wait first whether more comes.
        """
        pause = _SETTLED if settled else 0.0
        try:
            while len(self._head) < n and not self._failure and not self._pauses(pause):
                more = self._more(n - len(self._head))
                self._head += more
                if not more:
                    break
        except (ValueError, OSError) as error:
            if b"\n" not in self._head:
                raise
            self._failure = error
        again = next((modules[0] for magic, modules in _PACKED if self.packed and self._head.startswith(magic)), None)
        if again is not None:
            name = again.rpartition(".")[2]
            raise ValueError(f"{self.name}: must be compressed once, got a file with {name} inside. Decompress it once.")
        return self._head

    def _pauses(self, seconds: float) -> bool:
        return b"\n" in self._head and not self.packed and self._raw.is_silent(seconds)

    def peek_lines(self, settled: bool = True) -> list[bytes]:
        """Return the lines of the first HEAD bytes, or the first line if it is longer; the last one only if it is surely whole,
        or the only one."""
        head, n = self.peek(settled=settled), HEAD
        while len(head) >= n and n < _LONGEST and b"\n" not in head:
            n *= 4
            head = self.peek(n, settled)
        lines = head.removeprefix(b"\xef\xbb\xbf").split(b"\n")
        cut = len(head) >= HEAD or self._failure or self._raw.is_silent(0.0)
        return lines[:-1] if cut and len(lines) > 1 else lines

    def drop(self, n: int) -> None:
        """Drop the first n bytes that `peek` has returned: they are not read again."""
        self._head = self._head[n:]

    def readinto(self, buffer: Any) -> int:
        if self._head:
            n = min(len(buffer), len(self._head))
            buffer[:n] = self._head[:n]
            self._head = self._head[n:]
            return n
        if self._failure:
            raise self._failure
        if not self.packed:
            return self._guarded(self._file.readinto, buffer)
        more = self._more(len(buffer))
        n = min(len(buffer), len(more))
        buffer[:n] = more[:n]
        self._head = more[n:]
        return n

    def read(self, size: int = -1) -> bytes:
        """Return size bytes, fewer only at the end. (A damaged file may ask for more than fits in memory.)"""
        if size is None or size < 0:
            return self.readall()
        parts = []
        while size > 0 and (more := super().read(min(size, 1 << 20))):
            parts.append(more)
            size -= len(more)
        return b"".join(parts)

    def _more(self, n: int) -> bytes:
        """Return about n bytes. (Fixed pieces of a compressed file, as the bytes lost by damage depend on them.)"""
        if self.packed:
            # Not readinto, which goes on until the buffer is full, and loses what it has read if that fails.
            return self._guarded(self._file.read1, _UNPACKED)
        return self._guarded(self._file.read, n)

    def _guarded(self, read, argument):
        try:
            return read(argument)
        except EOFError:
            raise ValueError(f"{self.name}: the compressed file is cut off: it stops before its end mark.") from None
        except Exception as error:
            # gzip and bz2 raise OSErrors without an errno for damage; errors of the disk have one.
            damage = isinstance(error, zlib.error) or (isinstance(error, OSError) and error.errno is None)
            if damage or type(error).__name__ in ("LZMAError", "ZstdError"):
                raise ValueError(f"{self.name}: the compressed file is damaged: {error}.") from None
            raise

    def close(self) -> None:
        if not self.closed:
            if self.packed:
                self._file.close()
            self._raw.close()
        super().close()


def _opened(what):
    """Return the file object, its name, its path or None, and whether to close it."""
    if isinstance(what, (str, os.PathLike)) and os.fspath(what) != "-":
        path = os.fspath(what)
        return io.FileIO(path), os.path.basename(path), path, True
    if isinstance(what, str):
        if sys.stdin is None:
            raise OSError("<stdin>: must be open to be read, got a closed one")
        with contextlib.suppress(OSError, AttributeError, ValueError):  # sys.stdin may be another object
            return io.FileIO(sys.stdin.fileno(), closefd=False), "<stdin>", None, False
        return sys.stdin.buffer, "<stdin>", None, False
    if isinstance(what, io.TextIOBase):
        raise TypeError("read: source must be a file opened in binary mode, got one in text mode. Open it with open(path, 'rb').")
    name = getattr(what, "name", None)
    return what, os.path.basename(name) if isinstance(name, str) else "<stream>", None, False


class Files:
    """Open sources one after the other, the first at once."""

    current: Source
    total: int | None

    def __init__(self, sources: list[Any], stop: threading.Event):
        sizes = list(map(_size, sources))
        self._stop, self._done, self.total = stop, 0, None if None in sizes else sum(sizes)
        self._rest = list(sources)
        self.current = Source(self._rest.pop(0), stop)

    @property
    def count(self) -> int:
        """Bytes read so far, as stored on the disk."""
        return self._done + self.current.count

    def __iter__(self) -> Iterator[Source]:
        while True:
            yield self.current
            self.current.close()
            if not self._rest:
                break
            self._done, self.current = self.count, Source(self._rest.pop(0), self._stop)

    def close(self) -> None:
        self.current.close()

    @staticmethod
    def size_of(source: Source) -> int | None:
        return _size(source.path) if source.path else None


def _size(what):
    """Return the size of a file in bytes; None if it is unknown."""
    if isinstance(what, (str, os.PathLike)) and os.fspath(what) != "-":
        status = os.stat(what)  # fails now for a missing file, not hours later
        return status.st_size if stat.S_ISREG(status.st_mode) else None
    return None
