"""Tables of any kind as columns, or as dicts, for the loop of `_cells.pyx`."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from .._input import escaped, validate
from ._cells import LATEST, are_dicts

# A name; an array of numbers (float64), microseconds (int64) or codes (int32, -1 where missing); names of codes, or values.
Column = tuple[Any, np.ndarray | None, list | None]
_FLAGS = ["False", "True"]
_HOW = "Give a data frame, an Arrow table, a list of dicts, one a row, or a dict of columns."


def read_table(who: str, X: Any) -> tuple[list, bool, int]:
    """Return a table's dicts or columns, whether they are dicts, and the number of rows."""
    X = X[:] if type(X) is list else X  # (methods of its values, and other threads, may change the caller's)
    if are_dicts(X):
        return X, True, len(X)
    home, is_array = type(X).__module__.partition(".")[0], isinstance(X, np.ndarray) and X.ndim == 2
    is_frame = home in ("pandas", "polars") and hasattr(X, "columns") and hasattr(X, "__len__")
    if is_frame and home == "polars" and "Object" not in map(str, X.dtypes):  # (of which Arrow has the addresses alone)
        with suppress(ImportError, ValueError):  # (Arrow's texts are several times as fast)
            X, home, is_frame = X.to_arrow(), "pyarrow", False
    if not (isinstance(X, Mapping) or is_frame or is_array or hasattr(X, "__arrow_c_stream__") or home == "pyarrow"):
        return _rows(who, X), True, len(X)
    try:
        if isinstance(X, Mapping):
            pairs = list(X.items())
        elif is_frame:
            pairs = [(name, X.iloc[:, k] if home == "pandas" else X[name]) for k, name in enumerate(X.columns)]
        elif is_array:
            pairs = [(f"x{k}", column) for k, column in enumerate(X.T if np.ma.isMA(X) else np.ascontiguousarray(X.T))]
        else:
            import pyarrow

            X = X if home == "pyarrow" and hasattr(X, "columns") else pyarrow.table(X)
            pairs = list(zip(X.schema.names, X.columns, strict=True))
        columns = [_column(who, name, values) for name, values in pairs]
    except ImportError:
        raise ImportError(f'{who}: pyarrow is needed to read {type(X).__name__}: pip install "onlinecls[tables]"') from None
    except (ValueError, TypeError, AttributeError, LookupError, ArithmeticError, NotImplementedError) as error:
        if str(error).startswith(who):
            raise
        came = f"{type(X).__name__} that is not read: {escaped(str(error))}"
        raise ValueError(f"{who}: X must be a sound table of columns, got {came}. {_HOW}") from None
    lengths, names = [len(values) for _, values in pairs], [str(name) for name, _ in pairs]
    if len(set(names)) < len(names):
        raise ValueError(f"{who}: names of columns must be different, got two {max(names, key=names.count)!r}. Rename one.")
    if len(set(lengths)) > 1:
        raise ValueError(f"{who}: columns must be of one length, got {dict(zip(names, lengths, strict=True))}.")
    return columns, False, lengths[0] if lengths else 0


def _rows(who: str, X: Any) -> list[dict]:
    if not isinstance(X, Sequence | np.ndarray) or isinstance(X, str | bytes):
        raise TypeError(f"{who}: X must be a table in memory, got {type(X).__name__}. {_HOW}")
    for at, row in enumerate(X):
        if not (isinstance(row, Mapping) or type(row).__name__ == "Series"):
            raise TypeError(f"{who}: X must be a table, got a list with {validate.brief(row)} in row {at}. {_HOW}")
    return [dict(row.items()) for row in X]


def _column(who: str, name: Any, values: Any) -> Column:
    """Return a column of a frame, of an array, or of a dict of columns."""
    home = type(values).__module__.partition(".")[0]
    if home == "pandas" and hasattr(values, "__len__"):
        values = values if type(values).__name__ == "Series" else sys.modules["pandas"].Series(values)
        if "arrow" in type(values.array).__name__.lower():
            home, values = "pyarrow", values.array.__arrow_array__()
        elif hasattr(values.dtype, "tz"):
            values = values.dt.tz_convert("UTC").dt.tz_localize(None)
        elif not isinstance(values.dtype, np.dtype):  # (with a mask of what is missing, some of them)
            is_number = getattr(values.dtype, "kind", "O") in "iuf"
            values = values.to_numpy(np.float64, na_value=np.nan) if is_number else values.tolist()
    if home in ("polars", "pyarrow"):
        return (_of_polars if home == "polars" else _of_arrow)(who, name, values)
    came, is_masked = values, isinstance(values, np.ma.MaskedArray)
    if isinstance(values, list | tuple) or (is_masked and values.dtype.kind != "M"):
        return name, None, values.tolist() if is_masked else list(values)
    values = np.asarray(values.filled(np.datetime64("NaT")) if is_masked else values)
    if values.ndim == 0 or isinstance(came, Mapping) or not hasattr(came, "__len__"):
        raise TypeError(f"{who}: dicts must hold columns, got {validate.brief(came)} as {name!r}. One row is a list of one dict.")
    kind = values.dtype.kind if values.ndim == 1 else ""
    if kind == "M":
        return name, _microseconds(name, values), None
    if kind in ("i", "u", "f", "b"):
        return name, np.ascontiguousarray(values, np.int32 if kind == "b" else np.float64), _FLAGS
    return name, None, list(values) if values.dtype.kind in "mM" else values.tolist()


def _microseconds(name: Any, times: Any) -> np.ndarray:
    """Return datetime64 of any unit as int64 microseconds since 1970, the least of which is what is missing."""
    if (np.abs(times[~np.isnat(times)].astype("datetime64[Y]").astype(np.int64)) > LATEST).any():
        raise ValueError(f"times in column {name!r} that are not within {LATEST:,} years of 1970")
    return times.astype("datetime64[us]").astype(np.int64)


def _of_polars(who: str, name: Any, values: Any) -> Column:
    kind = str(values.dtype).partition("(")[0]
    if values.dtype.is_numeric() and kind != "Decimal":
        return name, values.cast(float).to_numpy(), None
    if kind in ("Date", "Datetime"):
        return name, _microseconds(name, values.to_numpy()), None
    return name, None, values.to_list()


def _of_arrow(who: str, name: Any, values: Any) -> Column:
    import pyarrow as pa

    values.validate(full=True)  # (pyarrow trusts offsets wherever they point)
    values = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    types, kind, is_coded = pa.types, values.type, pa.types.is_dictionary(values.type)
    texts: list | None = _FLAGS
    if types.is_integer(kind) or types.is_floating(kind):
        return name, values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), None
    if types.is_timestamp(kind) or types.is_date(kind):
        return name, _microseconds(name, values.to_numpy(zero_copy_only=False)), None
    if str(kind.value_type if is_coded else kind) in ("string", "large_string"):  # (no views: see text._arrow)
        found = values if is_coded else values.cast(pa.large_string()).dictionary_encode()
        values, texts = (found.indices, found.dictionary.to_pylist()) if not found.dictionary.null_count else (values, None)
    elif not types.is_boolean(kind):
        texts = None
    if texts is None:
        return name, None, values.to_pylist()
    return name, values.cast(pa.int32()).fill_null(-1).to_numpy(zero_copy_only=False), texts
