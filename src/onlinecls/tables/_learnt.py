"""`Learnt`, what a `TableVectorizer` has learnt: columns and their kinds, slots, and the statistics of numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._files import require
from ._cells import column_of
from ._persistent import Map, Records
from ._values import BOTH_ORDERS, FORMS, KINDS

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, Self

N_RECORD = 4  # numbers of a record (_cells.pyx)
_BITS = {kind: 1 << k for k, kind in enumerate(KINDS)}
_SOME, _MANY = 1 << 12, 1 << 16  # columns that are noted, by how wide the rows are


class Known(NamedTuple):
    """Hold what is known of a column of the table.

    order : its place among all columns. kinds : of its values, in the order in which they came. state : the same in bits, with
    what its values have shown (_values.pxd). origin : its first date, in days since 1970.
    """

    order: int
    kinds: tuple[str, ...] = ()
    state: int = 0
    origin: float | None = None


UNKNOWN = Known(2**62)


class Learnt:
    """Hold what has been learnt. It never changes once it is shared: a call that learns changes a copy, at a cost that does not
    depend on its size, and the copy takes its place when all has gone well. Readers in other threads read all of one moment.

    shape : (slots, bits). columns : what is `Known` of each column, of `most` at most, so that memory has an end where names are
    without. features : of all that have a slot, its number and the number of its record, -1 for a name. hashed : the record of
    each column beyond the slots that holds a number. expected : the columns of all rows so far. t : rows of weight > 0 so far.
    """

    def __init__(self, shape: tuple[int, int]):
        self.shape, self.most, self.t = shape, most_columns(*shape), 0
        self.columns, self.features, self.hashed, self.records = Map(), Map(), Map(), Records()
        self.expected: frozenset[str] | None = None

    def copy(self) -> Learnt:
        found = Learnt.__new__(Learnt)
        found.shape, found.most, found.t = self.shape, self.most, self.t
        found.columns, found.features = self.columns, self.features
        found.hashed, found.expected, found.records = self.hashed, self.expected, self.records.copy()
        return found

    def __deepcopy__(self, memo: object) -> Self:
        return self  # (it never changes)

    @property
    def kinds(self) -> dict[str, tuple[str, ...]]:
        """The kinds of each column, in the order of columns."""
        return {name: known.kinds for name, known in sorted(self.columns.items(), key=lambda pair: pair[1].order)}

    @property
    def slots(self) -> dict[str, int]:
        """The record of each feature that has a slot, -1 for a name, in the order of slots."""
        return {feature: at for feature, (_, at) in sorted(self.features.items(), key=lambda pair: pair[1][0])}

    @property
    def numbers(self) -> dict[str, np.ndarray]:
        """The record of each number that has a slot, in the order of slots."""
        return {feature: self.records.read(at) for feature, at in self.slots.items() if at >= 0}

    @property
    def is_full(self) -> bool:
        return len(self.features) == self.shape[0]

    @property
    def is_regular(self) -> bool:
        """True if most columns have been in all rows, so that a row without most of them is of another table."""
        return self.t > 1 and self.expected is not None and 2 * len(self.expected) >= len(self.columns)

    @property
    def room(self) -> int:
        """The number of columns that may still be noted."""
        return self.most - len(self.columns)

    def known(self, name: str) -> Known:
        return self.columns.get(name) or UNKNOWN

    def place(self, feature: str) -> int | None:
        """Return the slot of a feature; None if it has none."""
        found = self.features.get(feature)
        return None if found is None else found[0]

    def add_slot(self, feature: str, is_number: bool) -> None:
        self.features = self.features.with_item(feature, (len(self.features), self.records.add() if is_number else -1))

    def add_hashed(self, column: int) -> int:
        """Return the record of a column beyond the slots, which is made if there is none."""
        found = self.hashed.get(column)
        if found is None:
            found = self.records.add()
            self.hashed = self.hashed.with_item(column, found)
        return found

    def see(self, name: str, kinds: Iterable[str], state: int = 0, origin: float | None = None) -> None:
        """Note kinds of a column, what its values have shown, and its first date."""
        known = self.columns.get(name)
        if known is None:
            if self.room <= 0:
                return
            known = Known(len(self.columns))
        elif state | known.state == known.state and (origin is None or known.origin is not None):
            if all([kind in known.kinds for kind in kinds]):
                return
        new = tuple([kind for kind in kinds if kind not in known.kinds])
        for kind in new:
            state |= _BITS[kind]
        seen = Known(known.order, known.kinds + new, known.state | state, origin if known.origin is None else known.origin)
        self.columns = self.columns.with_item(name, seen)

    # --- merging -------------------------------------------------------------------------------------------------------------

    def take_in(self, other: Learnt) -> None:
        """Add what another one has learnt from rows of its own: Chan's sums, and its features behind the ones here.

        Its days since the first date become days since the first date here.
        """
        if other.shape != self.shape:
            raise ValueError(
                f"TableVectorizer: merge must have vectorizers of the same slots and bits, got {other.shape} beside "
                f"{self.shape}. Give them numbers, not bits='auto'."
            )
        moved = {}
        for name in other.kinds:
            its = other.known(name)
            require_alike(name, self.known(name).state, its.state)
            self.see(name, *its[1:])
            origin = self.known(name).origin
            if its.origin is not None and origin is not None:
                moved[f"{name}.days"] = its.origin - origin
        if other.expected is not None:
            self.expected = other.expected if self.expected is None else self.expected & other.expected
        theirs = other.slots
        for feature, at in theirs.items():
            if feature not in self.features and not self.is_full:
                self.add_slot(feature, at >= 0)
        mine = self.slots
        lost = next((name for name, by in moved.items() if by and not mine.get(name, -1) >= 0 <= theirs.get(name, -1)), None)
        if lost is not None:  # (who knows what of a hashed column's mean is days)
            raise ValueError(
                f"TableVectorizer: merge must have slots for dates that begin on different days, got {lost!r} without one. Give "
                "more slots, or learn in one stream."
            )
        slots, bits = self.shape
        pairs = [(self.add_hashed(column), at, 0.0) for column, at in sorted(other.hashed.items())]
        for feature, at in theirs.items():
            place = self.features.get(feature)
            if at >= 0 and (place is not None or bits):
                to = place[1] if place is not None else self.add_hashed(column_of(feature, slots, 1 << bits)[0])
                pairs += [(to, at, moved.get(feature, 0.0))] if to >= 0 else []
        for to, at, shift in pairs:
            a, b = self.records.read(to), other.records.read(at)
            n, d = a[0] + b[0], b[1] + shift - a[1]
            if b[0] > 0.0:
                sums = n, a[1] + d * (b[0] / n), a[2] + b[2] + d * d * (a[0] * b[0] / n), max(a[3], b[3])
                self.records.write(to, np.array(sums))
        self.t += other.t

    # --- files ---------------------------------------------------------------------------------------------------------------

    def described(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Describe it by what JSON holds, and arrays. Records stand in the order of slots, then of columns."""
        slots, hashed = self.slots, sorted(self.hashed.items())
        order = [at for at in slots.values() if at >= 0] + [at for _, at in hashed]
        new = {at: k for k, at in enumerate(order)}
        columns = sorted(self.columns.items(), key=lambda pair: pair[1].order)
        return {
            "shape": list(self.shape), "t": self.t,
            "columns": [[name, list(known.kinds), known.state & FORMS, known.origin] for name, known in columns],
            "slots": [[feature, new.get(at)] for feature, at in slots.items()],
            "hashed": [[column, new[at]] for column, at in hashed],
            "expected": None if self.expected is None else sorted(self.expected),
        }, {"records": self.records.array()[order]}

    @classmethod
    def of_file(cls, header: dict, arrays: dict[str, np.ndarray], shape: tuple[int, int], n_columns: int) -> Self:
        """Rebuild it from a description that need not be trusted; raise InvalidError if a part is not valid."""
        require(header["shape"] == list(shape) and type(header["t"]) is int and header["t"] >= 0, "slots, bits and rows", header)
        found, records = cls(shape), arrays["records"]
        found.t = header["t"]
        for name, kinds, state, origin in header["columns"]:
            require(found.room > 0, "fewer columns", name)
            require(type(name) is str and name not in found.columns, "different names of columns", name)
            require(type(kinds) is list and set(kinds) <= set(KINDS), "known kinds", kinds)
            require(type(state) is int and state & FORMS == state, "what columns show", state)
            require(origin is None or (type(origin) is float and abs(origin) < 1e13), "a first date", origin)
            found.see(name, kinds, state, origin)
        places = []
        for feature, record in header["slots"]:
            require(type(feature) is str and feature not in found.features and not found.is_full, "different features", feature)
            found.features = found.features.with_item(feature, (len(found.features), -1 if record is None else record))
            places += [] if record is None else [record]
        for column, record in header["hashed"]:
            require(type(column) is int and shape[0] <= column < n_columns, "columns behind the slots", column)
            require(column not in found.hashed, "different columns", column)
            found.hashed = found.hashed.with_item(column, record)
            places.append(record)
        require(all(type(at) is int for at in places) and sorted(places) == list(range(len(places))), "a record each", places)
        require(records.dtype == np.float64 and records.shape == (len(places), N_RECORD), "records of numbers", records.dtype)
        finite = np.isfinite(records[:, :2]).all() and not np.isnan(records[:, 2]).any()
        right = finite and (records[:, 0] >= 0.0).all() and np.isin(records[:, 3], (0.0, 1.0)).all()
        require(bool(right), "records as learning leaves them", records.dtype)
        found.records = Records(np.ascontiguousarray(records))
        expected = header["expected"]
        require(expected is None or all(type(name) is str for name in expected), "names of columns", expected)
        found.expected = None if expected is None else frozenset(expected)
        return found


def most_columns(slots: int, bits: int) -> int:
    """Return the number of columns that are noted at most."""
    return max(_SOME, min(slots + (1 << bits if bits else 0), _MANY))


def require_alike(name: str, mine: int, its: int) -> None:
    """Raise a ValueError if days stand before months in a column of the one, and behind them in that of the other."""
    if (mine | its) & BOTH_ORDERS == BOTH_ORDERS:
        raise ValueError(
            f"TableVectorizer: merge must have dates of one form, got column {name!r} with days before months in one part and "
            f"behind them in another. Name its format: dates={{{name!r}: '%d/%m/%Y'}}."
        )
