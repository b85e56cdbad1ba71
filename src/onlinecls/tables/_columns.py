"""Tables of any kind as columns, or as dicts, for the loop of `_cells.pyx`."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .._input import escaped, validate
from ._cells import microseconds_of

if TYPE_CHECKING:
    from typing import Any

    # name, kind, numbers, microseconds or codes (-1 where a value is missing), and the names of codes, or values
    Column = tuple[Any, int, Any, list | None]

NUMBERS, DATES, CODES, VALUES = range(4)  # (_cells.pyx)
_FLAGS = ["False", "True"]
_HOW = "Give a data frame, an Arrow table, a list of dicts, one a row, or a dict of columns."


def read_table(who: str, X: Any) -> tuple[list, bool, int]:
    """Return a table's dicts or columns, whether they are dicts, and the number of rows."""
    if type(X) is list and set(map(type, X)) <= {dict}:
        return X, True, len(X)
    is_mapping, home = isinstance(X, Mapping), type(X).__module__.partition(".")[0]
    is_frame = home in ("pandas", "polars") and hasattr(X, "columns") and hasattr(X, "__len__")
    is_array = isinstance(X, np.ndarray) and X.ndim == 2
    if not (is_mapping or is_frame or is_array or hasattr(X, "__arrow_c_stream__") or home == "pyarrow"):
        return _rows(who, X), True, len(X)
    try:
        if is_mapping:
            pairs = list(X.items())
        elif is_frame:
            pairs = [(name, X.iloc[:, k] if home == "pandas" else X[name]) for k, name in enumerate(X.columns)]
        elif is_array:
            pairs = [(f"x{k}", X[:, k]) for k in range(X.shape[1])]
        else:
            X = _pyarrow(who, X).table(X) if home != "pyarrow" or not hasattr(X, "columns") else X
            pairs = list(zip(X.schema.names, X.columns, strict=True))
        columns = [_column(who, name, values) for name, values in pairs]
    except (ValueError, LookupError) as error:
        if str(error).startswith(who):
            raise
        raise ValueError(
            f"{who}: X must be a sound table of columns, got {type(X).__name__} that is not read: {escaped(str(error))}. {_HOW}"
        ) from None
    lengths, names = {str(name): len(values) for name, values in pairs}, [str(name) for name, _ in pairs]
    if len(lengths) < len(names):
        name = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{who}: names of columns must be different, got two columns {name!r}. Rename one of them.")
    if len(set(lengths.values())) > 1:
        raise ValueError(f"{who}: columns must be of one length, got {lengths}.")
    return columns, False, next(iter(lengths.values()), 0)


def _rows(who: str, X: Any) -> list[dict]:
    if not isinstance(X, Sequence | np.ndarray) or isinstance(X, str | bytes):
        lazy = next((name for name in ("collect", "compute", "toPandas") if hasattr(X, name)), None)
        how = _HOW if lazy is None else f"Its rows are not in memory yet: give X.{lazy}(), or its parts one by one."
        raise TypeError(f"{who}: X must be a table, got {type(X).__name__}. {how}")
    for at, row in enumerate(X):
        if not (isinstance(row, Mapping) or type(row).__name__ == "Series"):
            raise TypeError(f"{who}: X must be a table, got a list with {validate.brief(row)} in row {at}. {_HOW}")
    return [dict(row.items()) for row in X]


def _pyarrow(who: str, X: Any) -> Any:
    try:
        import pyarrow
    except ImportError:
        raise ImportError(f'{who}: pyarrow is needed to read {type(X).__name__}: pip install "onlinecls[arrow]"') from None
    return pyarrow


def _column(who: str, name: Any, values: Any) -> Column:
    """Return a column of a frame, of an array, or of a dict of columns."""
    home = type(values).__module__.partition(".")[0]
    if home == "polars":
        return _of_polars(name, values)
    if home == "pandas":
        if "arrow" in type(values.array).__name__.lower():
            return _of_arrow(who, name, values.array.__arrow_array__())
        if hasattr(values.dtype, "tz"):
            values = values.dt.tz_convert("UTC").dt.tz_localize(None)
        elif not isinstance(values.dtype, np.dtype):  # (with a mask of what is missing, some of them)
            is_number = getattr(values.dtype, "kind", "O") in "iuf"
            values = values.to_numpy(np.float64, na_value=np.nan) if is_number else values.tolist()
    if home == "pyarrow":
        return _of_arrow(who, name, values)
    if isinstance(values, str | bytes | Mapping) or not hasattr(values, "__len__"):
        raise TypeError(
            f"{who}: a dict must hold columns of values, got {validate.brief(values)} as {name!r}. One row is a list of one dict."
        )
    values = values if isinstance(values, list) else np.asanyarray(values)
    kind = "O" if isinstance(values, list | np.ma.MaskedArray) or values.ndim != 1 else values.dtype.kind
    if kind == "M":
        return name, DATES, microseconds_of(who, values, name), None
    if kind == "b":
        return name, CODES, values.astype(np.int32), _FLAGS
    if kind in "iuf":
        return name, NUMBERS, values.astype(np.float64, copy=False), None
    is_of_times = not isinstance(values, list) and values.dtype.kind in "mM"
    return name, VALUES, None, list(values) if is_of_times or isinstance(values, list) else values.tolist()


def _of_polars(name: Any, values: Any) -> Column:
    dtype, kind, polars = values.dtype, str(values.dtype).partition("(")[0], sys.modules["polars"]
    if dtype.is_numeric() and not dtype.is_decimal():
        return name, NUMBERS, values.cast(float).to_numpy(), None
    if kind in ("Date", "Datetime"):
        return name, DATES, values.dt.epoch("us").fill_null(np.iinfo(np.int64).min).to_numpy(), None
    if kind == "String":
        texts = values.unique().drop_nulls()
        codes = values.cast(polars.Enum(texts)).to_physical().cast(polars.Int32)
        return name, CODES, codes.fill_null(-1).to_numpy(), texts.to_list()
    return name, VALUES, None, values.to_list()


def _of_arrow(who: str, name: Any, values: Any) -> Column:
    import pyarrow as pa

    values.validate(full=True)  # (pyarrow trusts offsets wherever they point)
    types, kind = pa.types, values.type
    values = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    if types.is_integer(kind) or types.is_floating(kind):
        return name, NUMBERS, values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), None
    if types.is_boolean(kind):
        return name, CODES, _codes(values.cast(pa.int32())), _FLAGS
    if types.is_timestamp(kind) or types.is_date(kind):
        return name, DATES, microseconds_of(who, values.to_numpy(zero_copy_only=False), name), None
    if "string" in str(kind) and not types.is_nested(kind):
        values = values if types.is_dictionary(kind) else values.cast(pa.large_string()).dictionary_encode()
        if None not in (names := values.dictionary.to_pylist()):
            return name, CODES, _codes(values.indices), names
    return name, VALUES, None, values.to_pylist()


def _codes(values: Any) -> np.ndarray:
    return values.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
