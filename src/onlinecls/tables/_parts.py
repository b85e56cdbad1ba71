"""Columns as parts of rows: numbers to standardise, names of which a row has at most one."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._input import validate
from ._cells import read_array, read_list, read_rows, waves, waves_of
from ._columns import HALVES, Column, RowColumns, Values, numbers_of_texts, takes_numbers, values_of
from ._values import ABSENT, BITS, LARGEST, MICROSECOND, MISSING_TEXTS, as_text, is_valid, plain_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from ._learnt import Known

AS_DATE, AS_NAME, AS_NUMBER, ONLY_NAMES = (BITS[name] for name in ("AS_DATE", "AS_NAME", "AS_NUMBER", "ONLY_NAMES"))
NUMBER, NAME, DATE, LIST, TEXT, MISSING, BOOLEAN, NONE_THERE = range(8)  # kinds (_values.pxd)
LIST_TYPES = list | tuple | set | frozenset | np.ndarray
DAYS, _LISTS = 2, 100  # numbers of the parts of dates, and of lists
_PLAIN = {int, float}
_NUMBERS = (int, float, np.integer, np.floating, np.bool_, Decimal)
_EPOCH, _DAY = datetime(1970, 1, 1), 86400.0
# Periods in days, and how much of each had gone when 1970 began, on a Thursday. Those of a day are there if there is a time.
_PERIODS = (("day", 0.0, 1.0), ("week", 3.0, 7.0), ("year", 0.0, 365.2425), ("half_day", 0.0, 0.5))


class Part:
    """Hold one group of features of a table's column.

    names : features. codes : which of them each row has, -1 for none; of numbers of several columns, and of their x and values, a
    row for each. x : numbers to standardise. value : what each row has of its feature; None: 1, or not computed yet. before : the
    same, by the statistics just before the row. columns, signs : of the rows' features among the vectorizer's, once they are
    known.
    """

    __slots__ = ("before", "codes", "columns", "names", "signs", "value", "x")
    columns: np.ndarray
    signs: np.ndarray | float

    def __init__(self, names: list, codes: np.ndarray, x: Any = None, value: Any = None):
        self.names, self.codes, self.x, self.value, self.before = names, codes, x, value, value

    @classmethod
    def of_rows(cls, feature: str, rows: np.ndarray, x: Any = None, value: Any = None) -> Part:
        """Return the part of one feature, which these rows have."""
        return cls([feature], np.where(rows, np.int32(0), np.int32(-1)), x, value)

    @classmethod
    def of_numbers(cls, feature: str, x: np.ndarray) -> Part:
        return cls.of_rows(feature, ~np.isnan(x), x)

    @classmethod
    def of_columns(cls, names: list[str], x: np.ndarray) -> Part:
        """Return the numbers of columns that stand side by side, a row of x for each, all of them there."""
        return cls(names, np.broadcast_to(np.arange(len(names), dtype=np.int32)[:, None], x.shape), x)

    def values(self, before: bool = False) -> np.ndarray:
        """Return what each row has of its feature; before : by the statistics just before it."""
        value = self.before if before else self.value
        return np.ones(len(self.codes)) if value is None else value

    def signed(self, before: bool = False) -> np.ndarray:
        """Return the values with the signs of their columns."""
        return self.values(before) if isinstance(self.signs, float) else self.values(before) * self.signs

    def hide(self, rows: np.ndarray) -> None:
        """Take the features of these rows away."""
        self.codes = np.where(rows, np.int32(-1), self.codes)
        if self.x is not None:
            self.x = np.where(rows, np.nan, self.x)


class Cells(NamedTuple):
    """Hold a column as it was read: its parts, by their numbers; the kind of each value and what it shows, as by `read_values`;
    what makes a list of the values; the first doubtful value of each doubt, with its row; and the texts of a column of texts."""

    parts: dict[int, Part]
    marks: np.ndarray
    values: Callable[[], list]
    doubts: dict[str, tuple[Any, int]] = {}
    texts: list | None = None

    @property
    def kinds(self) -> np.ndarray:
        """The number of each value's kind."""
        return self.marks & 255

    @property
    def there(self) -> np.ndarray:
        """The rows that have the column at all."""
        return self.marks != NONE_THERE  # (what is not there shows nothing)


def cells_of(who: str, name: str, column: Column, how: int, form: str | None, known: Known, live: np.ndarray) -> Cells:
    """Read a column. how : what the user says of it, in bits. form : of its dates. live : see `read_values`."""
    state = known.state | how
    if how < 0:
        return _texts(who, name, column)
    if column.kind == "texts":
        numbers = numbers_of_texts(column.data, state)
        column = column if numbers is None else Column("number", numbers, column.values)
    if column.kind in ("number", "boolean") and takes_numbers(state):
        kind = NUMBER if column.kind == "number" else BOOLEAN
        read = Values(column.data, np.where(np.isnan(column.data), np.int32(0), np.int32(-1)), [None], {}, None, {})
        read = read._replace(marks=np.where(np.isnan(column.data), MISSING, kind).astype(np.int32))
    elif column.kind in ("date", "day") and not state & (AS_NAME | ONLY_NAMES | AS_NUMBER):
        return _dates(name, column)
    else:
        read = values_of(column, state, form, live)
    numbers, codes, kinds = read.numbers, read.codes, read.marks & 255
    if how & (AS_NUMBER | AS_DATE):
        _require_kind(who, name, column, how, form, kinds)
    if len(numbers) and (np.abs(numbers) <= LARGEST).all():  # (numbers, none of which is missing)
        return Cells({0: Part([name], np.zeros(len(numbers), np.int32), numbers)}, read.marks, column.values)
    infinite = ~np.isnan(numbers) & ~(np.abs(numbers) <= LARGEST)
    if infinite.any():
        row = int(infinite.argmax())
        raise ValueError(
            f"{who}: numbers must be finite and within ±{LARGEST:g}, got {numbers[row]} in column {name!r} of row {row}. "
            "Leave the row out, or give a missing value."
        )
    parts: dict[int, Part] = {}
    if read.others:
        _read_others(who, name, read.others, len(numbers), parts)
    if not np.isnan(numbers).all():
        parts[0] = Part.of_numbers(name, numbers)
    if (codes >= 0).any():
        parts[1] = Part([f"{name}={'?' if each is None else each}" for each in read.names], codes)
    doubts = {doubt: (column.values()[row], row) for doubt, row in read.doubts.items()}
    return Cells(dict(sorted(parts.items())), read.marks, column.values, doubts)


def numbers_of(columns: Any, states: dict[str, int], n: int) -> tuple[dict[str, int], np.ndarray]:
    """Return {column: place} of columns that have a number in each row and show nothing but that, and the numbers, a row a place.

    columns : as `read_table` returns them; those of texts become columns of numbers or of words. states : what is known of
    columns that take numbers as such.
    """
    x = np.empty((len(states), n))
    if isinstance(columns, RowColumns):
        place_of = dict(zip(states, range(len(states)), strict=True))
        places = np.array([place_of.get(name, -1) for name in columns], np.int32)
        of_states, keys = np.array(list(states.values()), np.int32), list(columns.keys_of.values())
        are_numbers = read_rows(columns.rows, keys, places, of_states, x).tolist()
    else:
        are_numbers = [_reads_numbers(columns, name, state, row) for (name, state), row in zip(states.items(), x, strict=True)]
    return {name: place for place, name in enumerate(states) if are_numbers[place]}, x


def _reads_numbers(columns: dict[str, Column], name: str, state: int, x: np.ndarray) -> bool:
    column = columns[name]
    if column.kind == "texts":
        numbers = numbers_of_texts(column.data, state)
        kind, data = ("words", column.data) if numbers is None else ("number", numbers)
        columns[name] = column = Column(kind, data, column.values)
    if column.kind == "number":
        return read_array(column.data, x)
    return column.kind == "values" and read_list(column.data, state, x)


def _require_kind(who: str, name: str, column: Column, how: int, form: str | None, kinds: np.ndarray) -> None:
    """Raise a ValueError unless a column has what the user says."""
    right = (DATE,) if how & AS_DATE else (NUMBER, BOOLEAN)
    wrong = ~np.isin(kinds, (*right, MISSING, NONE_THERE))
    if wrong.any():
        row, parameter = int(wrong.argmax()), "dates" if how & AS_DATE else "numbers"
        of_form = f" of the form {form!r}" if form is not None else ""
        raise ValueError(
            f"{who}: column {name!r} must hold {parameter}{of_form}, as {parameter}= says, got "
            f"{validate.brief(column.values()[row])} in row {row}. Take it out of {parameter}, or give a missing value."
        )


def _texts(who: str, name: str, column: Column) -> Cells:
    values = column.values()
    marks, texts = np.full(len(values), TEXT, np.int32), []
    for row, value in enumerate(values):
        if value is ABSENT:
            marks[row] = NONE_THERE
        elif validate.is_missing(value):
            marks[row] = MISSING
        elif not isinstance(value, str | bytes):
            raise TypeError(
                f"{who}: column {name!r} must hold texts, got {validate.brief(value)} in row {row}. Name it in categories=, "
                "numbers= or ignore= if it is none of texts."
            )
        texts.append(value if isinstance(value, str | bytes) else "")
    missing = marks == MISSING
    return Cells({1: Part.of_rows(f"{name}=?", missing)} if missing.any() else {}, marks, column.values, {}, texts)


def _read_others(who: str, name: str, others: dict[int, Any], n: int, parts: dict[int, Part]) -> None:
    """Read the values that are neither numbers nor names into parts."""
    seconds, timed, days = np.full(n, np.nan), np.zeros(n, bool), np.zeros(n, bool)
    features: dict[int, list] = {}
    moments: dict[int, tuple] = {}  # (rows of one text share its date)
    for row, value in others.items():
        moment = moments.get(id(value))
        if moment is not None or isinstance(value, datetime | date | time):
            if moment is None:
                moment = moments[id(value)] = _moment(value)
            seconds[row], timed[row], days[row] = moment
        elif isinstance(value, LIST_TYPES):
            features[row] = _features_of_list(who, name, row, value)
        elif isinstance(value, str):
            raise ValueError(
                f"{who}: texts must be valid Unicode, got {validate.brief(value)} in column {name!r} of row {row}. {HALVES}"
            )
        else:
            raise TypeError(
                f"{who}: a value must be a number, a text, a boolean, a date, a list of numbers or names, a dict or missing, got "
                f"{validate.brief(value)} in column {name!r} of row {row}. Name the column in ignore= to leave it out."
            )
    if not np.isnan(seconds).all():
        parts.update(_parts_of_dates(name, seconds, timed, days))
    for k in range(max(map(len, features.values()), default=0)):
        parts.update(_parts_of_list(k, n, {row: found[k] for row, found in features.items() if k < len(found)}))


def _parts_of_list(k: int, n: int, features: dict[int, tuple]) -> dict[int, Part]:
    """Return the parts of what rows have in the k-th place of their lists: a number, or a name of several."""
    parts, x, codes = {}, np.full(n, np.nan), np.full(n, -1, np.int32)
    names: dict[str, int] = {}
    for row, (feature, number) in features.items():
        if number is None:
            codes[row] = names.setdefault(feature, len(names))
        elif number == number:
            x[row] = number
            parts[_LISTS + 2 * k] = Part.of_numbers(feature, x)
    if names:
        parts[_LISTS + 2 * k + 1] = Part(list(names), codes)
    return parts


def features_of(name: str, value: Any, origin: float | None) -> tuple | None:
    """Return the features of a date or a list, each with a number to standardise or a value, and its day since 1970; None if it
    is not valid. origin : the column's first day, None before there is one."""
    if isinstance(value, LIST_TYPES):
        try:
            features = _features_of_list("", name, 0, value)
        except (TypeError, ValueError):
            return None
        return [(feature, x, 1.0) for feature, x in features if x is None or x == x], None
    if not isinstance(value, datetime | date | time):
        return None
    seconds, is_timed, has_day = _moment(value)
    day = seconds / _DAY if has_day else None
    found: list[tuple[str, float | None, float]] = []
    if day is not None:
        found.append((f"{name}.days", 0.0 if origin is None else day - origin, 0.0))
    for period, first, length in _PERIODS:
        if is_timed if length <= 1.0 else has_day:
            pairs = zip(("sin", "cos"), waves(seconds, first, length, length <= 1.0), strict=True)
            found += [(f"{name}.{period}_{wave}", None, value) for wave, value in pairs]
    return found, day


def _features_of_list(who: str, name: str, row: int, value: Any) -> list[tuple[str, Any]]:
    """Return the features of a list: numbers by their places, or names, each once, of a set in their order."""
    if value.dtype.kind in "biuf" if isinstance(value, np.ndarray) else type(value) is list and set(map(type, value)) <= _PLAIN:
        numbers = _numbers_of_list(who, name, row, value, value)
    else:
        items = [None if validate.is_missing(each) else each for each in value]
        if any(isinstance(each, timedelta | np.timedelta64) for each in items):
            items = [plain_of(each) for each in items]
        if any(isinstance(each, str | bytes | date | time | np.datetime64) for each in items):
            return [(f"{name}={each}", None) for each in _names_of_list(who, name, row, value, items)]
        if isinstance(value, set | frozenset):
            items = sorted(items, key=repr)
        numbers = _numbers_of_list(who, name, row, value, [np.nan if each is None else each for each in items])
    return [(f"{name}[{k}]", x) for k, x in enumerate(numbers.tolist())]


def _names_of_list(who: str, name: str, row: int, value: Any, items: list) -> list[str]:
    names = [as_text(each) for each in items]
    if not all(each is None or (isinstance(each, str) and is_valid(each)) for each in names):
        raise ValueError(
            f"{who}: a list must hold numbers or names, got {validate.brief(value)} in column {name!r} of row {row}. Name the "
            "column in ignore= to leave it out."
        )
    names = [each.strip() for each in names if each is not None and each.strip() not in MISSING_TEXTS]
    return sorted(set(names)) if isinstance(value, set | frozenset) else list(dict.fromkeys(names))


def _numbers_of_list(who: str, name: str, row: int, value: Any, items: Any) -> np.ndarray:
    try:
        found = np.array(items if all(isinstance(each, _NUMBERS) for each in items) else [items], np.float64)
    except (TypeError, ValueError, OverflowError):
        found = np.zeros((1, 1))
    if found.ndim != 1 or (np.abs(found) > LARGEST).any():
        raise ValueError(
            f"{who}: a list must hold finite numbers within ±{LARGEST:g}, or names, got {validate.brief(value)} in column "
            f"{name!r} of row {row}. Name the column in ignore= to leave it out."
        )
    return found


def _moment(value: date | time) -> tuple[float, bool, bool]:
    """Return the seconds from 1970 to a date, in UTC if it has a time zone, whether it has a time of day other than midnight, and
    whether a day."""
    if isinstance(value, time):
        since = datetime.combine(_EPOCH.date(), value.replace(tzinfo=None)) - _EPOCH
    elif isinstance(value, datetime):
        since = value.replace(tzinfo=None) - _EPOCH - (value.utcoffset() or timedelta())
    else:
        since = datetime(value.year, value.month, value.day) - _EPOCH
    seconds = float(since // MICROSECOND) / 1e6
    return seconds, seconds % _DAY != 0.0, not isinstance(value, time)


def _dates(name: str, column: Column) -> Cells:
    missing = np.isnan(column.data)
    parts = {1: Part.of_rows(f"{name}=?", missing)} if missing.any() else {}
    parts.update(_parts_of_dates(name, column.data, ~missing & (column.data % _DAY != 0.0), ~missing))
    return Cells(parts, np.where(missing, MISSING, DATE).astype(np.int32), column.values)


def _parts_of_dates(name: str, seconds: np.ndarray, timed: np.ndarray, days: np.ndarray) -> dict[int, Part]:
    """Return the days since the first date, to standardise, and the sine and cosine of the part of the week and year, and of the
    day and half of it, the cosine less 1, so that midnight is as good as no time.

    timed, days : rows that have a time of day, and rows that have a day. `set_origin` counts the days from the first date.
    """
    parts = {DAYS: Part.of_rows(f"{name}.days", days, np.where(days, seconds / _DAY, np.nan))}
    for k, (period, first, length) in enumerate(_PERIODS):
        there = timed if length <= 1.0 else days
        if not there.any():
            continue
        found = waves_of(np.where(there, seconds, 0.0), first, length, length <= 1.0)
        for j, (wave, value) in enumerate(zip(("sin", "cos"), found, strict=True)):
            parts[DAYS + 1 + 2 * k + j] = Part.of_rows(f"{name}.{period}_{wave}", there, None, value)
    return parts


def set_origin(part: Part, origin: float | None) -> None:
    """Make days since 1970 those since the first date, 0 before there is one."""
    part.x = part.x * 0.0 if origin is None else part.x - origin
