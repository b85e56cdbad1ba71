"""Columns as parts of rows: numbers to standardise, names of which a row has at most one, and crosses of both."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from decimal import Decimal
from math import cos, pi, sin
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._input import validate
from ._cells import LARGEST, MICROSECOND
from ._columns import ABSENT, HALVES, Column, as_text, coded, numbers_and_names, numbers_of_texts, untyped

if TYPE_CHECKING:
    from ._learnt import Known

DAYS, _LISTS = 2, 100  # numbers of the parts of dates, and of lists
_NUMBERS = (int, float, np.integer, np.floating, np.bool_, Decimal)
_EPOCH, _DAY = datetime(1970, 1, 1), 86400.0
_PERIODS = (("day", 0.0, 1.0), ("week", 3.0, 7.0), ("year", 0.0, 365.2425))  # (1970 began on a Thursday, three days into a week)


class Part:
    """Hold one group of features of a table's column.

    names : features. codes : which of them each row has, -1 for none. x : numbers to standardise. value : what each row has of
    its feature; None: 1, or not computed yet. before : the same, by the statistics just before the row. factors : the parts of a
    cross, whose values are multiplied. columns, signs : of the rows' features among the vectorizer's, once they are known.
    """

    __slots__ = ("before", "codes", "columns", "factors", "names", "signs", "value", "x")
    columns: np.ndarray
    signs: np.ndarray | float

    def __init__(self, names: list, codes: np.ndarray, x: Any = None, value: Any = None, factors: tuple = ()):
        self.names, self.codes, self.x, self.value, self.before, self.factors = names, codes, x, value, value, factors

    @classmethod
    def of_rows(cls, feature: str, rows: np.ndarray, x: Any = None, value: Any = None) -> Part:
        """Return the part of one feature, which these rows have."""
        return cls([feature], np.where(rows, np.int32(0), np.int32(-1)), x, value)

    @classmethod
    def of_numbers(cls, feature: str, x: np.ndarray) -> Part:
        return cls.of_rows(feature, ~np.isnan(x), x)

    @classmethod
    def crossed(cls, a: Part, b: Part) -> Part:
        """Return the part of all pairs of features that a row has."""
        both = (a.codes >= 0) & (b.codes >= 0)
        pairs, places = np.unique(np.where(both, a.codes.astype(np.int64) * len(b.names) + b.codes, -1), return_inverse=True)
        codes = [divmod(pair, len(b.names)) for pair in pairs.tolist()]
        names = [None if i < 0 else f"{a.names[i]}^{b.names[j]}" for i, j in codes]
        return cls(names, np.where(both, places.reshape(-1), -1).astype(np.int32), None, None, (a, b))

    def values(self, before: bool = False) -> np.ndarray:
        """Return what each row has of its feature; before : by the statistics just before it."""
        if self.factors:
            a, b = self.factors
            return a.values(before) * b.values(before)
        value = self.before if before else self.value
        return np.ones(len(self.codes)) if value is None else value

    def take(self, rows: np.ndarray) -> Part:
        """Return the part of rows, some of them several times."""
        x, value = (None if each is None else each[rows] for each in (self.x, self.value))
        return Part(self.names, self.codes[rows], x, value)

    def hide(self, rows: np.ndarray) -> None:
        """Take the features of these rows away."""
        self.codes = np.where(rows, np.int32(-1), self.codes)
        if self.x is not None:
            self.x = np.where(rows, np.nan, self.x)


class Cells(NamedTuple):
    """Hold a column as it was read: its parts, by their numbers, the kinds of its values (with the rows that have them), the
    kind that its type names, the rows that have the column at all, and its texts, where it is one of texts."""

    parts: dict[int, Part]
    kinds: dict[str, np.ndarray]
    typed: str | None
    there: np.ndarray
    texts: list | None = None


def cells_of(who: str, name: str, column: Column, how: str | None, known: Known, live: np.ndarray) -> Cells:
    """Read a column. how : "text", "category" or "number" if the user says so. live : see `read_values`."""
    if how == "text":
        return _texts(who, name, column)
    if column.kind == "texts":
        return _cells_of_texts(who, name, column, how, known, live)
    if column.kind in ("date", "day") and how is None:
        return _dates(name, column)
    typed = column.kind if column.kind in ("number", "category") and how is None else None
    if how == "category":
        column = untyped([as_text(value) for value in column.values()])
    elif how == "number" and column.kind != "number":
        column = untyped(column.values())
    is_category = how == "category" or known.typed == "category"
    numbers, codes, names, others = numbers_and_names(column, not is_category, () if how == "number" else known.kinds, live)
    if not others and len(numbers) and (np.abs(numbers) <= LARGEST).all():  # (numbers, none of which is missing)
        all_rows, codes = np.ones(len(numbers), bool), np.zeros(len(numbers), np.int32)
        return Cells({0: Part([name], codes, numbers)}, {"number": all_rows}, typed, all_rows)
    parts: dict[int, Part] = {}
    kinds, there = {}, ~np.isnan(numbers) | (codes >= 0)
    there[list(others)] = True
    if others:
        kinds = _read_others(who, name, len(numbers), others, parts)
    infinite = ~np.isnan(numbers) & ~(np.abs(numbers) <= LARGEST)
    if infinite.any():
        row = int(infinite.argmax())
        raise ValueError(
            f"{who}: numbers must be finite and within ±{LARGEST:g}, got {numbers[row]} in column {name!r} of row {row}. "
            "Leave the row out, or give a missing value."
        )
    if how == "number" and ((codes > 0).any() or others):
        row = min([*others, *np.flatnonzero(codes > 0)[:1].tolist()])
        raise ValueError(
            f"{who}: column {name!r} must hold numbers, as numbers= says, got {validate.brief(column.values()[row])} in row "
            f"{row}. Take it out of numbers, or give a missing value."
        )
    found = {"number": ~np.isnan(numbers), "category": codes > 0, "missing": codes == 0}
    if found["number"].any():
        parts[0] = Part.of_numbers(name, numbers)
    if (codes >= 0).any():
        parts[1] = Part([f"{name}={'?' if each is None else each}" for each in names], codes)
    return Cells(dict(sorted(parts.items())), {**found, **kinds}, typed, there)


def _cells_of_texts(who: str, name: str, column: Column, how: str | None, known: Known, live: np.ndarray) -> Cells:
    """Read an Arrow array of texts as if they had come one by one: as numbers if they all are, else each different one once."""
    is_category = how == "category" or known.typed == "category"
    has_only_names = how is None and "category" in known.kinds and "number" not in known.kinds
    numbers = None if is_category else numbers_of_texts(column.data, has_only_names)
    if numbers is not None:
        return cells_of(who, name, Column("number", numbers, column.values), how, known, live)._replace(typed=None)
    found = coded(column.data)
    try:
        if found is not None:
            rows, texts = found
            cells = cells_of(who, name, untyped(texts), how, known, live[:0])
            parts = {place: part.take(rows) for place, part in cells.parts.items()}
            return Cells(parts, {kind: found[rows] for kind, found in cells.kinds.items()}, None, np.ones(len(rows), bool))
    except (TypeError, ValueError):  # (which must name the row of the table)
        pass
    return cells_of(who, name, untyped(column.values()), how, known, live)


def _texts(who: str, name: str, column: Column) -> Cells:
    values = column.values()
    missing = np.zeros(len(values), bool)
    texts, there = [], np.ones(len(values), bool)
    for row, value in enumerate(values):
        if value is ABSENT:
            there[row] = False
        elif validate.is_missing(value):
            missing[row] = True
        elif not isinstance(value, str | bytes):
            raise TypeError(
                f"{who}: column {name!r} must hold texts, got {validate.brief(value)} in row {row}. Name it in categories=, "
                "numbers= or ignore= if it is none of texts."
            )
        texts.append(value if isinstance(value, str | bytes) else "")
    parts = {1: Part.of_rows(f"{name}=?", missing)} if missing.any() else {}
    return Cells(parts, {"text": there & ~missing, "missing": missing}, None, there, texts)


def _read_others(who: str, name: str, n: int, others: dict[int, Any], parts: dict[int, Part]) -> dict[str, np.ndarray]:
    """Read the values that are neither numbers nor names into parts; return the rows of dates and of lists."""
    seconds, timed, days, lists = np.full(n, np.nan), np.zeros(n, bool), np.zeros(n, bool), {}
    for row, value in others.items():
        if isinstance(value, datetime | date | time):
            seconds[row], timed[row], days[row] = _moment(value)
        elif isinstance(value, list | tuple | np.ndarray):
            lists[row] = _list(who, name, row, value)
        elif isinstance(value, str):
            raise ValueError(
                f"{who}: texts must be valid Unicode, got {validate.brief(value)} in column {name!r} of row {row}. {HALVES}"
            )
        else:
            raise TypeError(
                f"{who}: a value must be a number, a text, a boolean, a date, a list of numbers or missing, got "
                f"{validate.brief(value)} in column {name!r} of row {row}. Name the column in ignore= to leave it out."
            )
    if not np.isnan(seconds).all():
        parts.update(_parts_of_dates(name, seconds, timed, days))
    for k in range(max(map(len, lists.values()), default=0)):
        x = np.full(n, np.nan)
        for row, numbers in lists.items():
            x[row] = numbers[k] if k < len(numbers) else np.nan
        parts[_LISTS + k] = Part.of_numbers(f"{name}[{k}]", x)
    has_list = np.zeros(n, bool)
    has_list[list(lists)] = True
    return {"date": ~np.isnan(seconds), "list": has_list}


def features_of(name: str, value: Any, origin: float | None) -> tuple | None:
    """Return the kind of a value that is neither number nor name, its features, each with a number to standardise or a value,
    and its day since 1970; None if it is not valid. origin : the column's first day, None before there is one."""
    if isinstance(value, list | tuple | np.ndarray):
        try:
            numbers = _list("", name, 0, value).tolist()
        except ValueError:
            return None
        return "list", [(f"{name}[{k}]", x, 0.0) for k, x in enumerate(numbers) if x == x], None
    if not isinstance(value, datetime | date | time):
        return None
    seconds, is_timed, has_day = _moment(value)
    day = seconds / _DAY if has_day else None
    found: list[tuple[str, float | None, float]] = []
    if day is not None:
        found.append((f"{name}.days", 0.0 if origin is None else day - origin, 0.0))
    for period, first, length in _PERIODS:
        if is_timed if period == "day" else has_day:
            found += [(f"{name}.{period}_{wave.__name__}", None, wave(_angle(seconds, first, length))) for wave in (sin, cos)]
    return "date", found, day


def _list(who: str, name: str, row: int, value: Any) -> np.ndarray:
    found = value
    if not (isinstance(value, np.ndarray) and value.dtype.kind in "biuf"):
        found = [np.nan if validate.is_missing(each) else each for each in value]
    try:
        found = np.array(found if all(isinstance(each, _NUMBERS) for each in found) else [found], np.float64)
    except (TypeError, ValueError, OverflowError):
        found = np.zeros((1, 1))
    if found.ndim != 1 or (np.abs(found) > LARGEST).any():
        raise ValueError(
            f"{who}: a list must hold finite numbers within ±{LARGEST:g}, got {validate.brief(value)} in column {name!r} of row "
            f"{row}. Name the column in ignore= to leave it out."
        )
    return found


def _moment(value: date | time) -> tuple[float, bool, bool]:
    """Return the seconds from 1970 to a date, in UTC if it has a time zone, whether it has a time of day, and whether a day."""
    if isinstance(value, time):
        since = datetime.combine(_EPOCH.date(), value.replace(tzinfo=None)) - _EPOCH
    elif isinstance(value, datetime):
        since = value.replace(tzinfo=None) - _EPOCH - (value.utcoffset() or timedelta())
    else:
        since = datetime(value.year, value.month, value.day) - _EPOCH
    return float(since // MICROSECOND) / 1e6, isinstance(value, datetime | time), not isinstance(value, time)


def _angle(seconds: float, first: float, length: float) -> float:
    return 2.0 * pi * (((seconds / _DAY + first) % length) / length)


def _dates(name: str, column: Column) -> Cells:
    missing = np.isnan(column.data)
    has_time = np.full(len(missing), column.kind == "date")
    parts = {1: Part.of_rows(f"{name}=?", missing)} if missing.any() else {}
    parts.update(_parts_of_dates(name, column.data, has_time & ~missing, ~missing))
    return Cells(parts, {"date": ~missing, "missing": missing}, "date", np.ones(len(missing), bool))


def _parts_of_dates(name: str, seconds: np.ndarray, timed: np.ndarray, days: np.ndarray) -> dict[int, Part]:
    """Return the days since the first date, to standardise, and the sine and cosine of the part of the day, week and year.

    timed, days : rows that have a time of day, and rows that have a day. `set_origin` counts the days from the first date.
    """
    parts = {DAYS: Part.of_rows(f"{name}.days", days, np.where(days, seconds / _DAY, np.nan))}
    for k, (period, first, length) in enumerate(_PERIODS):
        there = timed if period == "day" else days
        angles = [_angle(each, first, length) for each in np.where(there, seconds, 0.0).tolist()]
        for j, wave in enumerate((sin, cos)):  # (numpy's own may give other bits in arrays of another length)
            value = np.array([wave(angle) for angle in angles])
            parts[DAYS + 1 + 2 * k + j] = Part.of_rows(f"{name}.{period}_{wave.__name__}", there, None, value)
    return parts


def set_origin(part: Part, origin: float | None) -> None:
    """Make days since 1970 those since the first date, 0 before there is one."""
    part.x = part.x * 0.0 if origin is None else part.x - origin
