"""`Learnt`, what a `TableVectorizer` has learnt: columns and their kinds, slots, and the statistics of numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._saving import require
from ._cells import column_of

if TYPE_CHECKING:
    from typing import Any, Self

N_RECORD = 4  # numbers of a record (_cells.pyx)
KINDS = ("number", "category", "date", "list", "text", "missing")


class Learnt:
    """Hold what has been learnt. It never changes once it is known: a call that learns changes a copy, which takes its place when
    all has gone well, so that readers in other threads read what was learnt at one moment.

    shape : (slots, bits). kinds : those of each column so far, in the order of columns. typed : the kind of columns whose type
    names it. slots : the features that have one, in order. numbers : the record of each number that has a slot. names : columns
    of all features that have a slot. hashed : the record of each column beyond the slots that holds a number. origins : the first
    date of each column of dates. expected : the columns of the first row. t : rows of weight > 0 so far. reader : of single rows,
    with the options that it reads by; it depends on all of this but the records.
    """

    __slots__ = (
        "expected", "hashed", "kinds", "names", "numbers", "origins", "reader", "records", "shape", "slots", "t", "typed",
    )

    def __init__(self, shape: tuple[int, int]):
        self.shape, self.t = shape, 0
        self.kinds: dict[str, tuple[str, ...]] = {}
        self.typed: dict[str, str] = {}
        self.slots: list[str] = []
        self.numbers: dict[str, int] = {}
        self.names: dict[str, int] = {}
        self.hashed: dict[int, int] = {}
        self.origins: dict[str, float] = {}
        self.expected: frozenset[str] | None = None
        self.records = np.zeros((8, N_RECORD))
        self.reader: tuple[Any, Any] | None = None

    def copy(self) -> Learnt:
        found = Learnt(self.shape)
        for name in self.__slots__:
            value = getattr(self, name)
            setattr(found, name, value.copy() if isinstance(value, dict | list | np.ndarray) else value)
        found.reader = None
        return found

    def with_records(self, records: np.ndarray, n_rows: int) -> Learnt:
        """Return what is known after so many rows with nothing new in them, which have left these records."""
        found = Learnt.__new__(Learnt)
        for name in self.__slots__:
            setattr(found, name, getattr(self, name))
        found.records, found.t = records, self.t + n_rows
        return found

    def __deepcopy__(self, memo: object) -> Self:
        return self  # (it never changes)

    def __getstate__(self) -> tuple[None, dict[str, Any]]:
        return None, {name: None if name == "reader" else getattr(self, name) for name in self.__slots__}

    @property
    def n_records(self) -> int:
        return len(self.numbers) + len(self.hashed)

    @property
    def is_full(self) -> bool:
        return len(self.slots) == self.shape[0]

    def add_slot(self, feature: str, is_number: bool) -> None:
        self.names[feature] = len(self.slots)
        self.slots.append(feature)
        if is_number:
            self._make_room()
            self.numbers[feature] = self.n_records

    def add_hashed(self, column: int) -> int:
        """Return the record of a column beyond the slots, which is made if there is none."""
        found = self.hashed.get(column)
        if found is None:
            self._make_room()
            found = self.hashed[column] = self.n_records
        return found

    def _make_room(self) -> None:
        if self.n_records == len(self.records):
            self.records = np.concatenate([self.records, np.zeros_like(self.records)])

    def see(self, name: str, kind: str) -> None:
        if kind not in self.kinds[name]:
            self.kinds[name] = (*self.kinds[name], kind)

    # --- merging -------------------------------------------------------------------------------------------------------------

    def take_in(self, other: Learnt) -> None:
        """Add what another one has learnt from rows of its own: Chan's sums, and its features behind the ones here.

        Its days since the first date become days since the first date here.
        """
        for name, kinds in other.kinds.items():
            self.kinds.setdefault(name, ())
            for kind in kinds:
                self.see(name, kind)
        self.typed = {**other.typed, **self.typed}
        self.origins = {**other.origins, **self.origins}
        self.expected = other.expected if self.expected is None else self.expected
        for feature in other.slots:
            if feature not in self.names and not self.is_full:
                self.add_slot(feature, feature in other.numbers)
        moved = {f"{name}.days": origin - self.origins[name] for name, origin in other.origins.items()}
        unmoved = (name for name, by in moved.items() if by and not (name in self.numbers and name in other.numbers))
        lost = next(unmoved, None)
        if lost is not None:  # (who knows what of a hashed column's mean is days)
            raise ValueError(
                f"TableVectorizer: merge must have slots for dates that begin on different days, got {lost!r} without one. Give "
                "more slots, or learn in one stream."
            )
        slots, bits = self.shape
        pairs = [(self.add_hashed(column), at, 0.0) for column, at in other.hashed.items()]
        for feature, at in other.numbers.items():
            mine = self.numbers.get(feature)
            if mine is None and bits:
                mine = self.add_hashed(column_of(feature, slots, 1 << bits)[0])
            if mine is not None:
                pairs.append((mine, at, moved.get(feature, 0.0)))
        for mine, its, shift in pairs:
            a, b = self.records[mine], other.records[its]
            n, d = a[0] + b[0], b[1] + shift - a[1]
            if b[0] > 0.0:
                self.records[mine] = (n, a[1] + d * (b[0] / n), a[2] + b[2] + d * d * (a[0] * b[0] / n), max(a[3], b[3]))
        self.t += other.t

    # --- files ---------------------------------------------------------------------------------------------------------------

    def described(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Describe it by what JSON holds, and arrays."""
        return {
            "shape": list(self.shape), "t": self.t,
            "columns": [[name, list(kinds), self.typed.get(name), self.origins.get(name)] for name, kinds in self.kinds.items()],
            "slots": [[feature, self.numbers.get(feature)] for feature in self.slots],
            "hashed": [list(pair) for pair in self.hashed.items()],
            "expected": None if self.expected is None else sorted(self.expected),
        }, {"records": self.records[: self.n_records].copy()}

    @classmethod
    def of_file(cls, header: dict, arrays: dict[str, np.ndarray], shape: tuple[int, int], n_columns: int) -> Self:
        """Rebuild it from a description that need not be trusted; raise InvalidError if a part is not valid."""
        require(header["shape"] == list(shape) and type(header["t"]) is int and header["t"] >= 0, "slots, bits and rows", header)
        found, records = cls(shape), arrays["records"]
        found.t = header["t"]
        for name, kinds, typed, origin in header["columns"]:
            require(type(name) is str and name not in found.kinds, "different names of columns", name)
            require(type(kinds) is list and set(kinds) <= set(KINDS), "known kinds", kinds)
            require(typed is None or typed in kinds, "a type among the kinds", typed)
            require(origin is None or (type(origin) is float and abs(origin) < 1e13), "a first date", origin)
            found.kinds[name] = tuple(kinds)
            found.typed.update({name: typed} if typed is not None else {})
            found.origins.update({name: origin} if origin is not None else {})
        for feature, record in header["slots"]:
            require(type(feature) is str and feature not in found.names and not found.is_full, "different features", feature)
            found.names[feature] = len(found.slots)
            found.slots.append(feature)
            if record is not None:
                found.numbers[feature] = record
        for column, record in header["hashed"]:
            require(type(column) is int and shape[0] <= column < n_columns, "columns behind the slots", column)
            require(column not in found.hashed, "different columns", column)
            found.hashed[column] = record
        places = [*found.numbers.values(), *found.hashed.values()]
        require(all(type(at) is int for at in places) and sorted(places) == list(range(len(places))), "a record each", places)
        require(records.dtype == np.float64 and records.shape == (len(places), N_RECORD), "records of numbers", records.dtype)
        finite = np.isfinite(records[:, :2]).all() and not np.isnan(records[:, 2]).any()
        right = finite and (records[:, 0] >= 0.0).all() and np.isin(records[:, 3], (0.0, 1.0)).all()
        require(bool(right), "records as learning leaves them", records.dtype)
        found.records = np.concatenate([records, np.zeros((8, N_RECORD))])
        expected = header["expected"]
        require(expected is None or all(type(name) is str for name in expected), "names of columns", expected)
        found.expected = None if expected is None else frozenset(expected)
        return found
