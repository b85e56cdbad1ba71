"""Streams of rows from files of any size, in bounded memory: `read`."""

from ._errors import MalformedLineError
from ._read import read
from ._stream import Batch, Stream

__all__ = ["Batch", "MalformedLineError", "Stream", "read"]
