"""Tables of any kind as columns: data frames, Arrow tables, dicts of columns, lists of dicts, arrays."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._input import escaped, validate
from .._input.compat import issparse
from ._cells import have_alike
from ._values import (
    ABSENT,
    BITS,
    BOOLEAN_TEXTS,
    BOOLEAN_WORDS,
    DAYS,
    KINDS,
    LARGEST,
    MISSING_TEXTS,
    after_value,
    in_microseconds,
    is_valid,
    number_of,
    read_values,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

_HOW = "Give a data frame, an Arrow table, a list of dicts, one a row, or a dict of columns."
HALVES = "Half of a surrogate pair stands for nothing: read the text with the right encoding."
_NO_TYPE = "values"  # of a column whose values each say what they are
_SAMPLE = 10  # first texts of a column that say whether it is worth reading the others as numbers
_OTHERWISE = BITS["IDS"] | BITS["ONLY_NAMES"] | BITS["AS_NAME"] | BITS["AS_DATE"]  # by which numbers may be something else
_DATE = 1 << KINDS.index("date")
_OF_DATES = _DATE | 1 << KINDS.index("number") | BITS["AS_NUMBER"]  # of which columns of dates alone have the first one
_BOOLEANS = frozenset((*BOOLEAN_TEXTS, *BOOLEAN_WORDS))
_ALL_KINDS = (1 << len(KINDS)) - 1
_LARGE = 1e15  # numbers of digits, an e and digits beyond which may be names
_LONGEST = 60  # characters of a text at which `read_values` takes it for no number


class Column(NamedTuple):
    """Hold a column of a table.

    kind : "number" or "boolean" (data: float64, NaN if missing), "date" (seconds since 1970 in UTC, NaN if missing), "category"
    (codes, 0 if missing, and names, of which the first is none), "texts" (an Arrow array of texts), "words" (the same,
    not all of them numbers), or "values" (a list).
    values : makes a list of the values themselves.
    """

    kind: str
    data: Any
    values: Callable[[], list]
    names: list | None = None


class Values(NamedTuple):
    """Hold the values of a column, sorted: numbers, NaN where there is none; codes of names, 0 for a missing value, -1 where
    there is no name; what is neither, by its row; and what else `read_values` returns."""

    numbers: np.ndarray
    codes: np.ndarray
    names: list
    others: dict[int, Any]
    marks: Any
    doubts: dict[str, int]
    wavers: bool = False


class TextTable(Sequence):
    """Hold rows of a table whose values are all texts, as columns of Arrow; a sequence of dicts, one a row.

    Its values are those of the dicts, of a kind each, but are read many times faster.
    """

    def __init__(self, columns: Any) -> None:
        self.columns = columns

    @classmethod
    def joined(cls, parts: list) -> Any:
        """Return parts of a table, lists of dicts among them, as one; a list unless all are of Arrow, with the same columns."""
        if len(parts) == 1:
            return parts[0]
        if parts and all(isinstance(part, cls) and part.columns.schema == parts[0].columns.schema for part in parts):
            import pyarrow

            return cls(pyarrow.concat_tables([part.columns for part in parts]))
        return [row for part in parts for row in part]

    @property
    def shape(self) -> tuple[int, int]:
        return self.columns.shape

    def __len__(self) -> int:
        return self.columns.num_rows

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            start, stop, step = at.indices(len(self))
            return TextTable(self.columns.slice(start, max(stop - start, 0))) if step == 1 else list(self)[at]
        if isinstance(at, np.ndarray):
            return TextTable(self.columns.take(at))
        return self.columns.slice(range(len(self))[at], 1).to_pylist()[0]

    def __iter__(self) -> Iterator[dict]:
        return iter(self.columns.to_pylist())


class RowColumns(Mapping):
    """Hold dicts with the same keys as columns by their names; the list of a column's values is made when it is asked for."""

    def __init__(self, who: str, rows: list[dict], keys: list) -> None:
        self.rows, self.keys_of = rows, _named(who, keys, keys, " in row 0")

    def __getitem__(self, name: str) -> Column:
        key = self.keys_of[name]
        return untyped([row[key] for row in self.rows])

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys_of)

    def __len__(self) -> int:
        return len(self.keys_of)


def untyped(values: list) -> Column:
    """Return a column whose values each say what they are."""
    return Column(_NO_TYPE, values, lambda: values)


def read_table(who: str, X: Any, live: Callable[[int], np.ndarray]) -> tuple[int, Any, np.ndarray]:
    """Return the number of rows, the columns by their names, and where rows have a weight > 0.

    live : function of the number of rows that returns which of them have a weight > 0.
    """
    if isinstance(X, _of_pandas_named("Series")):
        X = [row_of(who, X)]
    if isinstance(X, Mapping):
        n, columns = _of_mapping(who, X)
    elif isinstance(X, TextTable):
        n, columns = _of_arrow(who, X.columns)
    elif isinstance(X, _of_pandas_named("DataFrame")):
        n, columns = len(X), _named(who, X.columns, (_of_pandas(who, *each) for each in X.items()))
    elif hasattr(X, "__arrow_c_stream__") or type(X).__module__.partition(".")[0] == "pyarrow":
        n, columns = _of_arrow(who, X)
    elif isinstance(X, np.ndarray) and X.ndim == 2:
        n, columns = len(X), {f"x{k}": _of_array(who, f"x{k}", X[:, k]) for k in range(X.shape[1])}
    elif isinstance(X, Sequence | np.ndarray) and not isinstance(X, str | bytes):
        rows = list(X)
        mask = live(len(rows))
        return len(rows), _of_rows(who, rows, mask), mask
    else:
        raise TypeError(f"{who}: X must be a table, got {_name_of_type(X)}. {_lazy(X) or _HOW}")
    mask = live(n)
    return n, _flattened(who, columns, mask), mask


def _of_pandas_named(name: str) -> Any:
    return getattr(sys.modules.get("pandas"), name, ())


def _name_of_type(X: Any) -> str:
    of = type(X).__module__.partition(".")[0]
    return "a sparse matrix" if issparse(X) else type(X).__name__ + ("" if of == "builtins" else f" of {of}")


def _lazy(X: Any) -> str:
    """Return what makes rows of a lazy frame; nothing for what is none."""
    method = next((name for name in ("collect", "compute", "toPandas") if hasattr(X, name)), None)
    return "" if method is None else f"Its rows are not in memory yet: give X.{method}(), or its parts one by one."


def row_of(who: str, row: Any) -> Mapping:
    """Return a row that is a Series of pandas, or a tuple with names, as a mapping; a mapping as it is."""
    if isinstance(row, _of_pandas_named("Series")):
        if len(row) and not all(isinstance(name, str) for name in row.index):
            raise TypeError(
                f"{who}: X must be a table, got a Series of {row.dtype} values, a column. Give a frame with that column "
                f"(X.to_frame()), or a row of a frame (frame.iloc[0])."
            )
        return dict(zip(row.index, row.tolist(), strict=True))
    return row._asdict() if isinstance(row, tuple) and hasattr(row, "_asdict") else row


def flat(who: str, row: Mapping, where: str = "") -> Mapping:
    """Return a row with the values of dicts in it by dotted names, to any depth."""
    while any(isinstance(value, Mapping) for value in row.values()):
        found: dict[Any, Any] = {}
        for name, value in row.items():
            inner = value if isinstance(value, Mapping) else None
            for key, each in [(name, value)] if inner is None else inner.items():
                key = key if inner is None else f"{name_of(who, name, where)}.{name_of(who, key, where)}"
                if key in found:
                    raise _two_columns(who, key)
                found[key] = each
        row = found
    return row


def _flattened(who: str, columns: dict[str, Column], live: np.ndarray) -> dict[str, Column]:
    """Return the columns of a table with those of dicts taken apart."""
    if not any(column.kind == _NO_TYPE and dict in set(map(type, column.data)) for column in columns.values()):
        return columns
    rows = zip(*(column.values() for column in columns.values()), strict=True)
    found = _of_rows(who, [dict(zip(columns, row, strict=True)) for row in rows], live)
    typed = {name: column for name, column in columns.items() if column.kind != _NO_TYPE}
    return {name: typed.get(name, column) for name, column in found.items()}


def name_of(who: str, name: Any, where: str = "") -> str:
    """Return the name of a column as a text."""
    if isinstance(name, str) and is_valid(name):
        return str.__str__(name)  # (of a subclass, the text itself)
    if isinstance(name, str):
        raise ValueError(f"{who}: names of columns must be valid Unicode, got {validate.brief(name)}{where}. {HALVES}")
    if isinstance(name, int | np.integer) and not isinstance(name, bool):
        return str(name)
    raise TypeError(f"{who}: names of columns must be texts or integers, got {validate.brief(name)}{where}.")


def _named(who: str, names: Any, columns: Any, where: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, column in zip(names, columns, strict=True):
        name = name_of(who, name, where)
        if name in found:
            raise _two_columns(who, name)
        found[name] = column
    return found


def _of_rows(who: str, rows: list, live: np.ndarray) -> Mapping[str, Column]:
    """Return the columns of dicts, in the order in which rows of weight > 0 have them first."""
    names = list(rows[int(live.argmax())]) if set(map(type, rows)) == {dict} else []
    if names and have_alike(rows, names):  # (all have the same columns, mostly)
        return RowColumns(who, rows, names)
    rows = [row_of(who, row) for row in rows]
    for at, row in enumerate(rows):
        if isinstance(row, Mapping):
            rows[at] = flat(who, row, f" in row {at}")
        else:
            raise TypeError(f"{who}: X must be a table, got a list with {validate.brief(row)} in row {at}. {_HOW}")
    columns: dict[str, list] = {}
    text_of: dict[Any, str] = {}
    for at in np.argsort(~live, kind="stable").tolist():  # (what rows of weight 0 have comes last)
        for name, value in rows[at].items():
            if name not in text_of:
                text_of[name] = name_of(who, name, f" in row {at}")
            column = columns.setdefault(text_of[name], [])
            if not column:
                column += [ABSENT] * len(rows)
            if column[at] is not ABSENT:
                raise _two_columns(who, text_of[name])
            column[at] = value
    return dict(zip(columns, map(untyped, columns.values()), strict=True))


def _two_columns(who: str, name: str) -> ValueError:
    return ValueError(f"{who}: names of columns must be different, got two columns {name!r}. Rename one of them.")


def _of_mapping(who: str, X: Mapping) -> tuple[int, dict[str, Column]]:
    for name, values in X.items():
        if isinstance(values, str | bytes) or not hasattr(values, "__len__"):
            raise TypeError(
                f"{who}: a dict must hold columns of values, got {validate.brief(values)} as {name!r}. One row is a list of one "
                "dict."
            )
    columns = _named(who, X, (_of_any(who, name, values) for name, values in X.items()))
    lengths = {name: len(values) for name, values in X.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"{who}: columns must be of one length, got {lengths}.")
    return next(iter(lengths.values()), 0), columns


def _of_any(who: str, name: Any, values: Any) -> Column:
    if _is_of_objects(values):
        return untyped(values.to_list())
    if type(values).__module__.startswith("pandas."):
        return _of_pandas(who, name, values)
    if type(values).__module__.partition(".")[0] in ("pyarrow", "polars"):
        with _read_soundly(who, values):
            return _of_arrow_column(who, name, values)
    return _of_array(who, name, values) if isinstance(values, np.ndarray) else untyped(list(values))


def _is_of_objects(values: Any) -> bool:
    """Return True for a column of polars' objects, of which Arrow has the addresses alone."""
    return str(getattr(values, "dtype", None)) == "Object"


def _of_array(who: str, name: Any, values: np.ndarray) -> Column:
    kind = values.dtype.kind
    if isinstance(values, np.ma.MaskedArray) and values.ndim == 1:
        return untyped(values.tolist())
    if values.ndim == 1 and kind in "biuf":
        return Column("boolean" if kind == "b" else "number", values.astype(np.float64), values.tolist)
    if values.ndim == 1 and kind == "M":
        return _of_dates(who, name, values, lambda: _items(values))
    if values.ndim == 1 and kind == "m":
        return Column("number", _seconds(who, name, values), lambda: _items(values))
    if (values.ndim == 1 and kind not in "OUT") or values.ndim > 2:
        raise TypeError(f"{who}: a column must hold numbers, texts, dates or lists of numbers, got {name!r} of {values.dtype}.")
    return untyped(list(values) if values.ndim == 2 else values.tolist())


def _seconds(who: str, name: Any, values: np.ndarray) -> np.ndarray:
    """Return dates or durations of numpy as seconds, NaN if missing."""
    micros, fit = in_microseconds(values)
    if not fit.all():
        row = int(fit.argmin())
        raise ValueError(
            f"{who}: dates and durations must fit 64 bits in microseconds, got {values[row]} in column {name!r} of row {row}. "
            "Leave the row out, or give a missing value."
        )
    found = micros.astype(np.int64) / 1e6
    found[np.isnat(values)] = np.nan
    return found


def _items(values: Any) -> Any:
    """Return dates or durations of numpy as Python's own. (Numpy itself makes integers of nanoseconds.)"""
    return (values if values.dtype in DAYS else in_microseconds(values)[0]).tolist()


def _of_dates(who: str, name: Any, values: np.ndarray, make: Callable[[], list]) -> Column:
    return Column("date", _seconds(who, name, values), make)


def _of_pandas(who: str, name: Any, column: Any) -> Column:
    """Return the column of a pandas Series or Index."""
    dtype, make = column.dtype, column.tolist
    kind = getattr(dtype, "kind", "O")
    if type(dtype).__name__ == "ArrowDtype":
        return _of_arrow_column(who, name, column.array.__arrow_array__())
    if type(dtype).__name__ == "CategoricalDtype":
        names = [None, *column.cat.categories.tolist()]
        return Column("category", column.cat.codes.to_numpy().astype(np.int32) + np.int32(1), make, names)
    if type(dtype).__name__ == "DatetimeTZDtype":
        column = column.dt.tz_convert("UTC").dt.tz_localize(None)
        return _of_dates(who, name, column.to_numpy(), make)
    if kind in "biuf" and not isinstance(dtype, np.dtype):  # (pandas' own types, with a mask of what is missing)
        return Column("boolean" if kind == "b" else "number", column.to_numpy(np.float64, na_value=np.nan), make)
    if isinstance(dtype, np.dtype) and kind in "biufMm":
        return _of_array(who, name, column.to_numpy())
    return untyped(make())


def _of_arrow(who: str, X: Any) -> tuple[int, dict[str, Column]]:
    try:
        import pyarrow
    except ImportError:
        raise ImportError(
            f'{who}: pyarrow is needed to read tables of {type(X).__module__.partition(".")[0]}: pip install "onlinecls[arrow]"'
        ) from None
    if hasattr(X, "iter_columns") and any(map(_is_of_objects, X.iter_columns())):
        return _of_mapping(who, {column.name: column for column in X.iter_columns()})
    with _read_soundly(who, X):
        if not isinstance(X, pyarrow.Table):
            X = pyarrow.table(X)
        while structs := [column for column in X.columns if pyarrow.types.is_struct(column.type)]:
            if any(column.null_count for column in structs):  # (which flatten would give to each of their columns)
                break
            X = X.flatten()
        names = X.column_names
        return X.num_rows, _named(who, names, (_of_arrow_column(who, name, X.column(k)) for k, name in enumerate(names)))


@contextmanager
def _read_soundly(who: str, X: Any) -> Iterator[None]:
    """Raise a ValueError that says more where pyarrow raises an error."""
    import pyarrow

    try:
        yield
    except (pyarrow.ArrowException, LookupError, UnicodeDecodeError) as error:
        raise ValueError(
            f"{who}: X must be a sound table of columns, got {type(X).__name__} that pyarrow does not read: "
            f"{escaped(str(error))}. {_HOW}"
        ) from None


def _of_arrow_column(who: str, name: Any, column: Any) -> Column:
    import pyarrow

    column = column if isinstance(column, pyarrow.Array | pyarrow.ChunkedArray) else pyarrow.chunked_array(column)
    column.validate(full=True)  # (pyarrow trusts offsets wherever they point)
    types, kind, make = pyarrow.types, column.type, column.to_pylist
    if _is_of_pandas(kind):
        return _of_pandas(who, name, column.to_pandas())
    if types.is_dictionary(kind) and not types.is_nested(kind.value_type):
        places: dict[Any, int] = {None: 0}
        found = [np.empty(0, np.int32)]
        for chunk in column.chunks if isinstance(column, pyarrow.ChunkedArray) else [column]:
            values = chunk.dictionary
            values = values.to_pandas().tolist() if _is_of_pandas(values.type) else values.to_pylist()
            places_of = [0, *(places.setdefault(each, len(places)) for each in values)]
            codes = chunk.indices.to_numpy(zero_copy_only=False).astype(np.float64)
            found.append(np.array(places_of, np.int32)[np.where(np.isnan(codes), 0, codes + 1).astype(np.int32)])
        return Column("category", np.concatenate(found), make, [*places])
    if types.is_boolean(kind) or types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        column = column.cast(pyarrow.string()) if types.is_decimal(kind) else column  # (whose own cast may miss the last bit)
        values = column.cast(pyarrow.float64(), safe=False).to_numpy(zero_copy_only=False)
        return Column("boolean" if types.is_boolean(kind) else "number", np.array(values, np.float64), make)
    if types.is_duration(kind):
        return Column("number", _seconds(who, name, np.asarray(column.to_numpy(zero_copy_only=False))), make)
    if types.is_timestamp(kind) or types.is_date(kind):
        column = column.cast(pyarrow.date32(), safe=False) if types.is_date64(kind) else column
        values = _seconds(who, name, np.asarray(column.to_numpy(zero_copy_only=False)))
        return Column("date", values, make)
    if types.is_string(kind) or types.is_large_string(kind) or str(kind) == "string_view":
        return Column("texts", column.cast(pyarrow.large_string()) if "view" in str(kind) else column, make)
    return untyped(make())


def _is_of_pandas(kind: Any) -> bool:
    """Return True for periods and intervals, of which Arrow alone has the numbers."""
    return getattr(kind, "extension_name", "").startswith("pandas.")


def takes_numbers(state: int) -> bool:
    """Return True if numbers are numbers in a column, whatever they are; they may be names, or dates, by what it has shown."""
    return not (state & _OTHERWISE or state & _OF_DATES == _DATE)


def numbers_of_texts(column: Any, state: int) -> np.ndarray | None:
    """Return an Arrow array of texts as float64, NaN where one is missing; None unless all are plain numbers or missing.

    state : what is known of the column.
    """
    import pyarrow
    from pyarrow import compute

    first = column.slice(0, _SAMPLE).to_pylist()
    if not takes_numbers(state) or state & BITS["COMMA"]:
        return None
    if not all(text is None or text in MISSING_TEXTS or number_of(text) is not None for text in first):
        return None
    is_free = not state & BITS["AS_NUMBER"]
    if is_free and state & 1 << KINDS.index("category"):
        if compute.any(compute.match_substring_regex(column, "[eE]")).as_py():
            return None
    numbers = _cast(column) if column.null_count == 0 and MISSING_TEXTS.isdisjoint(first) else None
    if numbers is None or not (np.abs(numbers) <= LARGEST).all():
        missing = compute.is_in(column, value_set=pyarrow.array(sorted(MISSING_TEXTS), column.type))
        numbers = _cast(compute.if_else(missing, None, column))
        there = ~missing.to_numpy(zero_copy_only=False) & column.is_valid().to_numpy(zero_copy_only=False)
        if numbers is None or not (np.abs(numbers[there]) <= LARGEST).all():
            return None
    lengths = compute.binary_length(column)
    if (compute.max(lengths).as_py() or 0) >= _LONGEST:
        return None
    odd = np.abs(numbers) > _LARGE
    whole = numbers == np.floor(numbers)
    if whole.any():  # (those of fewer digits than characters)
        n = lengths.to_numpy(zero_copy_only=False).astype(np.float64)
        odd |= whole & (n > 4) & (np.abs(numbers) < 10.0 ** (n - 1))
    if is_free and odd.any():
        ids = compute.match_substring_regex(column.filter(pyarrow.array(odd)), r"^\s*(0[0-9]{4,}|[0-9]+[eE][0-9]+)\s*$")
        if compute.any(ids).as_py():
            return None
    return numbers


def _cast(column: Any) -> np.ndarray | None:
    """Return an Arrow array of texts as float64, NaN for null; None if one is no number to Arrow."""
    import pyarrow

    try:
        return np.array(column.cast(pyarrow.float64()).to_numpy(zero_copy_only=False), np.float64)
    except pyarrow.ArrowInvalid:
        return None


def values_of(column: Column, state: int, form: str | None, live: np.ndarray) -> Values:
    """Read the values of a column that is not all numbers or dates by its type. state : what is known of it. form : of dates."""
    codes: Any = None
    texts: list = []
    if column.kind == "category":
        codes, texts = column.data, column.names or []
        is_first = not state & _ALL_KINDS and not all(text in _BOOLEANS for text in texts if text is not None)
        state |= BITS["ONLY_NAMES"] if is_first or any(not isinstance(text, str | None) for text in texts) else 0
    elif column.kind in ("texts", "words"):
        whole = column.data.combine_chunks() if hasattr(column.data, "combine_chunks") else column.data
        found = whole.dictionary_encode("encode")
        codes, texts = found.indices.to_numpy(zero_copy_only=False), found.dictionary.to_pylist()
    if codes is not None:
        found = _values_of_codes(texts, codes, state, form, live)
        if found is not None:
            return found
    return _read(column.values(), state, form, live)


def _read(values: list, state: int, form: str | None, live: np.ndarray) -> Values:
    n, names = len(values), [None]
    numbers, codes, marks = np.full(n, np.nan), np.full(n, -1, np.int32), np.empty(n, np.int32)
    others, _, doubts, wavers = read_values(values, names, numbers, codes, marks, state, form, live.astype(np.uint8))
    return Values(numbers, codes, names, others, marks, doubts, wavers)


def _values_of_codes(texts: list, codes: np.ndarray, state: int, form: str | None, live: np.ndarray) -> Values | None:
    """Read different texts, and give each row what its own is; None if what one means may depend on the row."""
    found, after = _read(texts, state, form, live[:0]), state
    marks = found.marks[codes]
    for mark in np.unique(marks[live] if len(live) else marks[:0]).tolist():
        after = after_value(after, mark)
    if after != state:
        if found.wavers:
            return None
        again = _read(texts, after, form, live[:0])
        same = np.array_equal(again.numbers, found.numbers, equal_nan=True) and np.array_equal(again.codes, found.codes)
        if not (same and again.names == found.names and np.array_equal(again.marks & 255, found.marks & 255)):
            return None
    if state & BITS["ONLY_NAMES"]:
        marks = np.where(found.codes[codes] > 0, marks | BITS["ONLY_NAMES"] << 8, marks)
    others = {row: found.others[code] for row, code in enumerate(codes.tolist()) if code in found.others} if found.others else {}
    doubts = {doubt: int((codes == code).argmax()) for doubt, code in found.doubts.items() if (codes == code).any()}
    return Values(found.numbers[codes], found.codes[codes], found.names, others, marks, doubts)
