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
from types import SimpleNamespace
from typing import TYPE_CHECKING

from .._input.validate import brief

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

BOM = b"\xef\xbb\xbf"
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


class Source(io.RawIOBase):
    """Read the decompressed bytes of one file.

    name : for messages. n_stored : bytes read, as stored on the disk.
    """

    def __init__(self, what: Any, stop: threading.Event):
        self.file, self.name, self._owned = _opened(what)
        self._stop, self.n_stored, self._failure, self.unpacker, self._head, self._ahead = stop, 0, None, None, b"", b""
        # A pipe may stay silent for ever. Windows can only wait for sockets: closing the stream waits for the pipe there.
        is_file = isinstance(self.file, io.FileIO)
        self._waits = is_file and os.name == "posix" and not stat.S_ISREG(os.fstat(self.file.fileno()).st_mode)
        try:
            start = self.peek(6)
            modules = next((modules for magic, modules in _PACKED if start.startswith(magic)), ())
            if modules:
                for module in modules:
                    with contextlib.suppress(ImportError):
                        self.unpacker = import_module(module).open(SimpleNamespace(read=self._stored))
                        break
                else:
                    raise ImportError(f"{self.name} is compressed with Zstandard: its reader is missing, "
                                      'pip install "onlinecls[zstd]"')
                self._head, self._ahead = b"", start
                start = self.peek(6)
            self._plain = is_file and not self._waits and not modules
            if start.startswith((b"\xff\xfe", b"\xfe\xff")):
                raise ValueError(f"{self.name}: expected UTF-8, got a file that begins like UTF-16. Convert it first: "
                                 "iconv -f UTF-16 -t UTF-8.")
            self._head = start.removeprefix(BOM)
        except BaseException:
            self.close()
            raise

    def readable(self) -> bool:
        return True

    def _stored(self, n: int) -> bytes:
        """Return at most n bytes as they are stored; those in `_ahead`, which were read before, come first."""
        more, self._ahead = self._ahead[:n], self._ahead[n:]
        while not more and self._is_quiet(0.05):
            if self._stop.is_set():
                raise ClosedError
        if not more:
            more = self.file.read(min(n, _RAW)) or b""
            self.n_stored += len(more)
        return more

    def _is_quiet(self, seconds: float) -> bool:
        """Return True if the file is a pipe from which nothing can be read for `seconds`; False at its end."""
        return self._waits and not select.select([self.file], [], [], seconds)[0]

    def is_silent(self) -> bool:
        """Return True if a pipe is silent at present; False for a compressed one, whose bytes come in blocks."""
        return not self._head and not self.unpacker and self._is_quiet(_PAUSE)

    def peek(self, n: int = HEAD) -> bytes:
        """Return the first n bytes or a few more, which are read again later; errors behind a whole line are then raised later.

        If a pipe stays silent behind a whole line, return what has come.
        """
        try:
            while len(self._head) < n and not self._failure:
                if b"\n" in self._head and not self.unpacker and self._is_quiet(_SETTLED):
                    break
                more = self._more(n - len(self._head))
                self._head += more
                if not more:
                    break
        except (ValueError, OSError) as error:
            if b"\n" not in self._head:
                raise
            self._failure = error
        return self._head

    def peek_lines(self) -> list[bytes]:
        """Return the lines of the first HEAD bytes, or the first line if it is longer; the last one only if it is surely whole,
        or the only one."""
        head, n = self.peek(), HEAD
        while len(head) >= n and n < _LONGEST and b"\n" not in head:
            n *= 4
            head = self.peek(n)
        lines = head.split(b"\n")
        cut = len(head) >= HEAD or self._failure or self._is_quiet(0.0)
        return lines[:-1] if cut and len(lines) > 1 else lines

    def readinto(self, buffer: Any) -> int:
        if not self._head:
            if self._failure:
                raise self._failure
            if self._plain:
                n = self.file.readinto(buffer)
                self.n_stored += n
                return n
            self._head = self._more(len(buffer))
        n = min(len(buffer), len(self._head))
        buffer[:n] = self._head[:n]
        self._head = self._head[n:]
        return n

    def _more(self, n: int) -> bytes:
        """Return about n bytes. (Fixed pieces of a compressed file, as the bytes lost by damage depend on them.)"""
        if not self.unpacker:
            return self._stored(n)
        try:
            # Not readinto, which goes on until the buffer is full, and loses what it has read if that fails.
            return self.unpacker.read1(_UNPACKED)
        except EOFError:
            raise ValueError(f"{self.name}: the compressed file is cut off: it stops before its end mark.") from None
        except Exception as error:
            # gzip and bz2 raise OSErrors without an errno for damage; errors of the disk have one.
            damage = isinstance(error, zlib.error) or (isinstance(error, OSError) and error.errno is None)
            if damage or type(error).__name__ in ("LZMAError", "ZstdError"):
                raise ValueError(f"{self.name}: the compressed file is damaged: {error}.") from None
            raise

    def close(self) -> None:
        if not self.closed and self._owned:
            self.file.close()
        super().close()


def _is_path(what):
    return isinstance(what, (str, os.PathLike)) and os.fspath(what) != "-"


def _opened(what):
    """Return the file object, its name, and whether to close it."""
    if _is_path(what):
        return io.FileIO(what), os.path.basename(what), True
    if not hasattr(what, "read"):
        if sys.stdin is None:
            raise OSError("<stdin>: must be open to be read, got a closed one")
        with contextlib.suppress(OSError, AttributeError, ValueError):  # sys.stdin may be another object
            return io.FileIO(sys.stdin.fileno(), closefd=False), "<stdin>", False
        return sys.stdin.buffer, "<stdin>", False
    if isinstance(what, io.TextIOBase):
        raise TypeError("read: source must be a file opened in binary mode, got one in text mode. Open it with open(path, 'rb').")
    name = getattr(what, "name", None)
    return what, os.path.basename(name) if isinstance(name, str) else "<stream>", False


class Files:
    """Open sources, one or a list, one after the other, the first at once."""

    def __init__(self, source: Any, stop: threading.Event):
        self._stop, self._done, self._rest = stop, 0, list(source) if isinstance(source, (list, tuple)) else [source]
        if not self._rest or not all(isinstance(each, (str, os.PathLike)) or hasattr(each, "read") for each in self._rest):
            raise TypeError(f"read: source must be paths, '-' or binary files, got {brief(source)}. Data frames and lists need "
                            "no reading: give them to a StreamPipeline.")
        for each in filter(_is_path, self._rest):
            os.stat(each)  # fails now for a missing file, not hours later
        self.current = Source(self._rest.pop(0), stop)

    @property
    def count(self) -> int:
        """Bytes read so far, as stored on the disk."""
        return self._done + self.current.n_stored

    def __iter__(self) -> Iterator[Source]:
        while True:
            yield self.current
            self.current.close()
            if not self._rest:
                break
            self._done, self.current = self.count, Source(self._rest.pop(0), self._stop)

    def close(self) -> None:
        self.current.close()
