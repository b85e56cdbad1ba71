"""Arrow columns of texts, checked before their buffers are read. (pyarrow is imported by the package that made them.)"""

from __future__ import annotations

import codecs
import sys
from typing import Any

from .._input import escaped


def string_chunks(who: str, X: Any) -> list[Any] | None:
    """Return the pyarrow arrays of texts of X; None if it is not an Arrow column."""
    if type(X).__module__.startswith("pandas."):
        dtype = getattr(X, "dtype", None)
        if type(dtype).__name__ != "ArrowDtype" and getattr(dtype, "storage", None) != "pyarrow":
            return None
        X = getattr(X, "array", X).__arrow_array__()
    elif hasattr(X, "__arrow_c_stream__") and not type(X).__module__.startswith("pyarrow."):
        pyarrow = sys.modules.get("pyarrow")
        X = None if pyarrow is None else pyarrow.chunked_array(X)
    if not type(X).__module__.startswith("pyarrow."):
        return None
    chunks = list(X.chunks) if hasattr(X, "chunks") else [X]
    types: list[Any] = [chunk.type if hasattr(chunk, "buffers") else type(X).__name__ for chunk in chunks]
    kinds = {str(each.value_type if hasattr(each, "index_type") else each) for each in types}
    if not kinds <= {"string", "large_string", "string_view", "binary", "large_binary", "binary_view"}:
        raise TypeError(f"{who}: X must be a column of strings, got an Arrow column of {', '.join(sorted(kinds))}.")
    return [sound(chunk, f"{who}: X must be") for chunk in chunks]


def sound(column: Any, must_be: str) -> Any:
    """Check the offsets, views and indices of a pyarrow array, and return it with dictionaries and views decoded, as bytes.

    pyarrow does not check those of a damaged file. That texts are UTF-8 is not checked.
    """
    pyarrow = sys.modules["pyarrow"]
    try:
        if hasattr(column, "dictionary"):
            # Checks the bounds of indices; those of the dictionary's texts are checked below, and again when it is decoded.
            column.validate()
            words = sound(column.dictionary, must_be)
            column = pyarrow.DictionaryArray.from_arrays(column.indices, words, safe=True).dictionary_decode()
        bytes_type = {"string": "binary", "large_string": "large_binary", "string_view": "binary_view"}.get(str(column.type))
        if bytes_type:
            column = column.view(getattr(pyarrow, bytes_type)())
        column.validate(full=True)
    except pyarrow.ArrowException as error:
        raise ValueError(f"{must_be} a sound Arrow column, got a damaged one: {escaped(str(error))}.") from None
    return without_views(column)


def without_views(column: Any) -> Any:
    """Return a valid column of views as one of offsets.

    (pyarrow's own cast counts the lengths of missing views, too, which may be anything, and writes beyond its memory.)
    """
    kind, pyarrow = str(column.type), sys.modules["pyarrow"]
    if not kind.endswith("_view"):
        return column
    found = pyarrow.array(column.view(pyarrow.binary_view()).to_pylist(), pyarrow.large_binary())
    return found.view(pyarrow.large_string()) if kind == "string_view" else found


def is_utf8(encoding: str) -> bool:
    """Return True if an encoding, by any of its names, is UTF-8."""
    return encoding == "utf-8" or codecs.lookup(encoding).name == "utf-8"
