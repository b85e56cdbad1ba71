"""Tables: the meaning of their columns, and their rows. Each number has a column; categories are hashed behind them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np

from .._input.validate import ParameterError
from .._rows import Rows
from ..text import rows_of_table
from ._errors import HINTS
from ._features import FeatureRows
from ._formats import DELIMITERS
from ._records import RefusedRowsError, WrongRecordError, n_until, number, shown, utf8

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from .._hashing.sketch import Names

NUMBER, CATEGORY, IGNORED = "number", "category", "ignore"  # kinds of columns; the kind of a list of numbers is its length
_OF_ROW = re.compile(r",? (?:of|in) row \d+")  # in a vectorizer's error
_SHOWN = 30  # most names in a message
BATCH_NUMBERS = 1 << 20  # most numbers in a batch, and in a row
MISSING_TEXTS = frozenset((
    "", "?", "-", "--", "#N/A", "#N/A N/A", "#NA", "<NA>", "N/A", "NA", "NULL", "Null", "NaN", "-NaN", "NaT", "None", "n/a",
    "nan", "-nan", "null",
))
_FLAGS = {**dict.fromkeys(("true", "True", "TRUE"), True), **dict.fromkeys(("false", "False", "FALSE"), False)}


def typed(text: str) -> Any:
    """Return what a text of CSV says: None, a number, a boolean, a date or time of ISO 8601, or the text."""
    if text in MISSING_TEXTS:
        return None
    if text in _FLAGS:
        return _FLAGS[text]
    try:
        return float(text) if "_" not in text else text
    except ValueError:
        if text[4:5] != "-" or not text[:4].isdecimal():
            return text
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return text


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


class Columns:
    """Find the places of labels, weights, texts and features among the named columns of one file."""

    def __init__(self, layout: Layout, who: str, names: list):
        self.who, self.names, self._places = who, names, {name: k for k, name in reversed(list(enumerate(names)))}
        self.label = None if layout.label is None else self._place(layout.label, "labels")
        self.weight = None if layout.weight is None else self._place(layout.weight, "weights")
        self.text = None if layout.text is None else self._place(layout.text, "texts")
        used = layout.used if not layout.is_whole else [name for name in dict.fromkeys(names) if name not in layout.left_out]
        self.features = [self._place(name, "features") for name in used] if layout.text is None else []
        self.keys = [str(names[k]) for k in self.features] if layout.is_whole and layout.text is None else None
        twice = next((name for k, name in enumerate(names) if self._places[name] < k and name in layout), None)
        if twice is not None:
            raise ValueError(f"{who}: expected one column of a name, got several named {twice!r}.")
        unknown = [name for name in names if name not in layout] if layout.is_strict else []
        if unknown:
            raise ValueError(f"{who}: {unexpected(unknown[0], layout)}.")

    def _place(self, name: Any, what: str) -> int:
        if name in self._places:
            return self._places[name]
        problem = f"{self.who}: the column of the {what} must be one of {listed(self.names)}, got {name!r}."
        other = next((each for each in DELIMITERS if each in str(self.names[0])), None) if len(self.names) == 1 else None
        if other is not None:
            raise ParameterError(f"{problem} Give delimiter= {other!r} if that divides the columns.", "delimiter", "delimiter=")
        raise ValueError(problem)


def listed(names: list) -> str:
    """Return names for a message, at most _SHOWN of them."""
    return str(names) if len(names) <= _SHOWN else f"{str(names[:_SHOWN])[:-1]}, and {len(names) - _SHOWN:,} more]"


def unexpected(name: Any, layout: Layout) -> str:
    return f"expected the columns {listed(layout.used)} besides labels and weights, got an unknown one, {shown(name)}"


class Layout:
    """Describe the meaning of a table's columns. names : the columns of the first file. kinds : {feature: kind}, or {}.

    If all columns are features, or all kinds are given (features={name: kind}), an unknown column in a file is an error.
    is_whole : whether rows are read as they stand, without kinds, but for the columns left_out.
    """

    def __init__(self, who: str, names: list, reader: Any, label: Any) -> None:
        self.who, self.missing = who, reader.missing
        known = isinstance(reader.features, dict)
        self.label = label if reader.labelled else None
        self.weight, self.text, self._beside = reader.weight, reader.text, (label, reader.weight)  # (which are no features)
        if self.text is None and takes_text(who, "text", names, reader, label):
            self.text = "text"
        self.is_whole = reader.tables is not None and self.text is None
        named = () if reader.features is None or isinstance(reader.features, str) else reader.features
        self.left_out = frozenset((label, reader.weight, *reader.ignore)).difference(named)
        self.is_strict = self.text is None and not self.is_whole and (known or reader.features is None)
        self.kinds = dict(reader.features) if known and self.text is None else {}
        if self.text is None and not known and not self.is_whole:
            self._choose(names, reader)
        if self.is_whole and names:
            self._require_names(names, reader)
        has_features = not names or not self.left_out.issuperset(names) if self.is_whole else self.used
        if self.text is None and not has_features:
            wanted = "a column of texts or of numbers besides labels and weights"
            raise ValueError(f"{who}: must have {wanted}, got only {listed(names)}.")

    def _require_names(self, names: list, reader: Any) -> set:
        """Return the names of the columns, those that options name among them."""
        known = set(names)
        for option in ("features", "ignore", "categories"):
            for name in getattr(reader, option) or ():
                if name not in known:
                    raise ValueError(f"{self.who}: the column of the features must be one of {listed(names)}, got {name!r}.")
        return known

    def _choose(self, names: list, reader: Any) -> None:
        """Choose the features: the named columns, or all but labels and weights. Kinds are inferred later."""
        known, wanted = self._require_names(names, reader), reader.features
        ignored, categories = set(reader.ignore), set(reader.categories)
        for name in wanted if wanted is not None else names:
            if wanted is None and name in self._beside:
                continue
            self.kinds[name] = IGNORED if name in ignored else CATEGORY if name in categories else None
        if wanted is not None:
            others = known.difference(self.kinds, self._beside)
            self.kinds.update({name: IGNORED for name in names if name in others})

    def __contains__(self, name: object) -> bool:
        return self.is_whole or name in self.kinds or name == self.text or name in self._beside

    @property
    def used(self) -> list:
        """The columns that are features, in their order in the rows."""
        return [name for name, kind in self.kinds.items() if kind != IGNORED]

    @property
    def is_open(self) -> bool:
        """True while the kind of a column is unknown."""
        return None in self.kinds.values()

    def infer(self, items: Iterable[tuple[Any, Any]]) -> None:
        """Infer the kinds of columns that are unknown from (name, value) of a row."""
        for name, value in items:
            if self.kinds.get(name, IGNORED) is not None or is_missing(value):
                continue
            if isinstance(value, (list, tuple, np.ndarray)):
                self.kinds[name] = len(value)
            else:
                self.kinds[name] = CATEGORY if _is_name(value) else NUMBER  # (anything else is refused as a number)

    def close(self) -> None:
        """End the inference: columns of unknown kind are numbers."""
        self.kinds = {name: NUMBER if kind is None else kind for name, kind in self.kinds.items()}

    @property
    def n_numbers(self) -> int:
        """The number of columns of the rows that are not hashed; too many raise ValueError."""
        found = sum(1 if kind == NUMBER else kind for kind in self.kinds.values() if kind == NUMBER or type(kind) is int)
        if found > BATCH_NUMBERS:
            raise ValueError(f"{self.who}: must have at most {BATCH_NUMBERS:,} numbers a row, got {found:,}, lists included.")
        return found

    def names_of_numbers(self) -> list[str]:
        """Return the names of the first columns of the rows, which are not hashed."""
        found = []
        for name, kind in self.kinds.items():
            if kind == NUMBER:
                found.append(str(name))
            elif type(kind) is int:
                found += [f"{name}[{k}]" for k in range(kind)]
        return found

    @property
    def has_categories(self) -> bool:
        return CATEGORY in self.kinds.values()


def takes_text(who: str, text: Any, names: list, reader: Any, label: Any) -> bool:
    """Return True if a column of texts is read though nobody has named it; raise if there is more to read beside it.

    Texts are read alone: whoever has other columns must say which are meant, as neither choice is right for all.
    """
    if text not in names or reader.features is not None or text in (*reader.ignore, *reader.categories):
        return False
    others = [name for name in names if name not in (text, label, reader.weight, *reader.ignore)]
    if reader.tables is not None:
        return reader.vectorizer is not None and not others
    if others and (label in names or not reader.labelled):
        hint = f"text={text!r} for the texts alone, ignore=[{text!r}] for the others"
        problem = f"a column of texts is read alone, got {listed(others)} beside {text!r}"
        raise ParameterError(f"{who}: {problem}. Give {hint}.", "alone", hint)
    return True


def in_range(rows: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Return numbers that are finite and fit a type; raise ValueError if others are among them."""
    if not (np.abs(rows) <= float(np.finfo(dtype).max)).all():  # (NaN is not)
        raise ValueError
    return rows


def is_missing(value: object) -> bool:
    return value is None or (isinstance(value, str) and value in MISSING_TEXTS)


def _is_name(value: object) -> bool:
    try:
        return isinstance(value, str) and float(value) is None
    except ValueError:
        return True


class TableRows:
    """Collect rows of a table for a batch: lists of values in the order of the layout's features."""

    def __init__(self, layout: Layout, n_hashed: int, batch_rows: int, dtype: np.dtype, names: Names | None = None):
        self.kinds = [(name, layout.kinds[name], f"column {shown(name)}") for name in layout.used]
        self.dtype, self.must_be_there = np.dtype(dtype), layout.missing == "error"
        self.rows: list[list[float]] = []
        self.tables: list[np.ndarray] = []  # rows that came as arrays, before those of `rows`
        self.n_numbers = layout.n_numbers
        self.largest = float(np.finfo(self.dtype).max)
        self.hashed, self.n_features = None, self.n_numbers + n_hashed * layout.has_categories
        if layout.has_categories:
            most = batch_rows * (self.n_numbers + len(self.kinds))
            self.hashed = FeatureRows(batch_rows, most, n_hashed, dtype, self.n_numbers, names)

    @property
    def full(self) -> bool:
        return self._room <= 0

    @property
    def _room(self) -> int:
        """The rows that the batch may still take."""
        n_rows = len(self.rows) + sum(map(len, self.tables))
        return -(-BATCH_NUMBERS // max(self.n_numbers, 1)) - n_rows

    def extend(self, numbers: np.ndarray, start: int, stop: int) -> int:
        """Append rows of valid numbers until the batch is full; return the first one left."""
        stop = min(stop, start + self._room)
        self.tables += [self._table(), numbers[start:stop].astype(self.dtype)]
        self.rows = []
        return stop

    def _table(self) -> np.ndarray:
        return np.array(self.rows, dtype=self.dtype).reshape(len(self.rows), self.n_numbers)

    def add(self, values: Any) -> None:
        numbers = self._plain_numbers(values) if self.n_numbers == len(self.kinds) and self.hashed is None else None
        if numbers is None:
            self._add_any(values)
        else:
            self.rows.append(numbers)

    def _plain_numbers(self, values: Any) -> list | None:
        """Return a row as floats if all values are valid numbers, else None."""
        try:
            numbers = list(map(float, values))
            right = math.isfinite(sum(numbers)) and max(map(abs, numbers)) <= self.largest and "_" not in "".join(values)
        except (TypeError, ValueError, OverflowError):  # (TypeError of JSON's numbers, too)
            return None
        return numbers if right else None

    def _add_any(self, values: Any) -> None:
        numbers, names = [], []
        for (name, kind, what), value in zip(self.kinds, values, strict=True):
            if is_missing(value):
                if self.must_be_there:
                    raise missing_value(what)
                if kind != CATEGORY:
                    numbers += [0.0] * (1 if kind == NUMBER else kind)
            elif kind == NUMBER:
                numbers.append(self._number(value, what))
            elif kind == CATEGORY:
                names.append(category(name, value, what))
            else:
                numbers += self._list(value, kind, what)
        if any(abs(value) > self.largest for value in numbers):
            raise WrongRecordError(f"expected numbers in the range of {self.dtype}, got {shown(max(numbers, key=abs))}")
        self.add_numbers_and_names(numbers, names)

    def add_numbers_and_names(self, numbers: list, names: list) -> None:
        """Append a row of numbers and of names of categories."""
        if self.hashed is None:
            self.rows.append(numbers)
        elif not self.hashed.add(names, [1.0] * len(names), numbers):
            raise WrongRecordError(f"expected numbers in the range of {self.dtype}, got larger ones")

    def _number(self, value: Any, what: str) -> float:
        try:
            return number(value, what)
        except WrongRecordError as error:
            parameter = "categories" if _is_name(value) else ""
            raise WrongRecordError(f"{error}{HINTS.get(parameter, '')}", parameter) from None

    def _list(self, values: Any, length: int, what: str) -> list:
        if not isinstance(values, (list, tuple)) or len(values) != length:
            came = f"{len(values)}" if isinstance(values, (list, tuple)) else shown(values)
            raise WrongRecordError(f"expected a list of {length} numbers in {what}, got {came}")
        return [number(value, what) for value in values]

    def take(self) -> Rows:
        if self.hashed is not None:
            return self.hashed.take()[0]
        found = np.concatenate([*self.tables, self._table()]) if self.tables else self._table()
        self.rows, self.tables = [], []
        return rows_of_table(found)


class WholeRows:
    """Collect rows of a table as dicts for a vectorizer of tables, or for a pipeline ("passthrough")."""

    are_texts = False  # whether values are texts that say what they are

    def __init__(self, vectorizer: Any, missing: str):
        self.vectorizer, self.must_be_there, self.n_values = vectorizer, missing == "error", 0
        self.rows: list[dict] = []
        self.before: list[Any] = []  # parts of the batch that are not lists, in front of `rows`
        self.refused: Any = ()  # a batch of which the vectorizer has refused rows

    @property
    def full(self) -> bool:
        return self.n_values >= BATCH_NUMBERS

    def add(self, row: dict) -> None:
        are_texts = set(map(type, row.values())) == {str}
        for name, value in row.items() if self.must_be_there or not (are_texts and "".join(row.values()).isascii()) else ():
            if self.must_be_there and is_missing(value):
                raise missing_value(f"column {shown(name)}")
            if isinstance(value, str) and not value.isascii():
                utf8(value)
        self.rows.append(row)
        self.n_values += len(row)

    def extend(self, rows: Any, start: int, stop: int) -> int:
        """Append trusted rows until the batch is full; return the first one left."""
        if isinstance(rows, TextTable):
            sizes = [rows.shape[1]] * (stop - start)
        else:
            sizes = list(map(len, rows[start:stop]))
        n = n_until(sizes, BATCH_NUMBERS - self.n_values)
        part = rows[start : start + n]
        if isinstance(part, list):
            self.rows += part
        else:
            self.before, self.rows = [*self.before, self.rows, part], []
        self.n_values += sum(sizes[:n])
        return start + n

    def take(self) -> Any:
        parts = [part for part in (*self.before, self.rows) if len(part)]
        self.rows, self.before, self.n_values = [], [], 0
        table = TextTable.joined(parts)
        try:
            return self.made(table)
        except (ValueError, TypeError) as error:
            faults = self.faults(error, len(table), lambda row: [table[row]])
            if not faults:
                raise
            self.refused = table
            raise RefusedRowsError(faults) from None

    def keep(self, rows: list[int]) -> None:
        """Begin the batch again with those of its rows that the vectorizer has not refused."""
        self.rows, self.refused = [self.refused[row] for row in rows], ()

    def faults(self, error: Exception, n: int, row_of: Callable[[int], Any]) -> dict[int, str]:
        """Return {row: error} of the rows that the vectorizer refuses where its error for all of them names one."""
        found = {}
        for row in range(n) if _OF_ROW.search(str(error)) else ():
            try:
                self.made(row_of(row))
            except (ValueError, TypeError) as fault:
                found[row] = _OF_ROW.sub("", str(fault))
        return found

    def made(self, table: Any) -> Any:
        """Return the rows that the vectorizer makes of a table."""
        if self.are_texts:
            table = [{name: typed(value) if isinstance(value, str) else value for name, value in row.items()} for row in table]
        if self.vectorizer == "passthrough":
            return table
        found = self.vectorizer.transform(table)
        return rows_of_table(found) if isinstance(found, np.ndarray) else found


def missing_value(what: str) -> WrongRecordError:
    return WrongRecordError(f"expected a value in {what}, got none{HINTS['missing']}", "missing")


def category(name: Any, value: object, what: str) -> bytes:
    """Return the name of the feature of a category's value: name=value."""
    if not isinstance(value, (str, int, float, bool)):
        raise WrongRecordError(f"expected a category in {what}, got {shown(value)}")
    return utf8(f"{name}={value}")
