"""`TableReader`: a table to rows of numbers, by what has been learnt of the rows before."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._input import validate
from .._rows import Rows
from ..text import FeatureNames, HashingVectorizer, compiled_hasher, n_rows_of, part_of, sparse_rows
from ._cells import RowReader, assemble, column_of, hash_of, is_new_kind, may_be_told, standardise
from ._columns import RowColumns, read_table, takes_numbers
from ._dates import is_day
from ._learnt import UNKNOWN, Learnt, most_columns
from ._notices import Notices, lacks
from ._parts import DAYS, MISSING, NONE_THERE, NUMBER, Cells, Part, cells_of, features_of, numbers_of, set_origin
from ._values import BITS, FORMS, KINDS, dicts_of, form_of, named_state

if TYPE_CHECKING:
    from collections.abc import Container, Mapping
    from typing import Any

    from numpy.typing import ArrayLike

    from ._columns import Column

AUTO_BITS, _LEAST_SLOTS = 18, 32
_SAID = BITS["AS_NAME"] | BITS["AS_NUMBER"] | BITS["AS_DATE"]
_STATES = {None: 0, "text": -1, "category": BITS["AS_NAME"], "number": BITS["AS_NUMBER"], "date": BITS["AS_DATE"]}
_FEW_ROWS, _NEARLY_ALL = 100, 0.95  # rows, and the share of them with a value of their own, of ids that tell nothing but the row
_MANY_ROWS = 10_000  # rows beyond which columns that come as arrays are as fast each by itself
_AHEAD = 1000  # rows that `fit` looks at together
YOUNG = 1000  # rows of which a kind of value may be the first of its column without a word (_cells.pyx)
_LARGEST_WEIGHT = 1e100
_NO_WEIGHTS = np.empty(0)
NEW = -2  # the record of a hashed column that has had no number (_cells.pyx)


class Options(NamedTuple):
    """Hold the parameters of a `TableVectorizer` after it has checked them."""

    slots: int
    bits: int
    how: dict[str, str]
    ignore: frozenset[str]
    dates: dict[str, str | None]
    decimal: str
    unknown: str
    clip: float
    keep: float
    dtype: np.dtype

    @property
    def n_hashed(self) -> int:
        return 1 << self.bits if self.bits else 0

    @property
    def width(self) -> int:
        return self.slots + self.n_hashed

    @property
    def most_columns(self) -> int:
        return most_columns(self.slots, self.bits)

    def state_of(self, name: str) -> int:
        """Return what the user says of a column, in bits; -1 if it is one of texts."""
        found = _STATES[self.how.get(name)]
        if found < 0:
            return found
        return found | (BITS["COMMA"] if self.decimal == "," else 0)


class TableReader:
    """Read tables as rows of numbers, by what has been learnt, and learning it or not. What there was is never changed.

    who : the class that error messages name. n_words : the words of each column of texts that are kept for `word_of`.
    """

    def __init__(self, who: str, options: Options) -> None:
        self.who, self.options, self.n_words, self.notices = who, options, 0, Notices(who)
        self._words: dict[str, FeatureNames] = {}
        self._hashers: list[Any] = []
        self._row_reader = RowReader(options, features_of, self._words_of_one, self.notices)

    def begin(self) -> Learnt:
        """Return what is known before the first row."""
        return Learnt((self.options.slots, self.options.bits))

    def look_ahead(self, X: Any, learnt: Learnt) -> tuple[Learnt, dict[str, tuple[str, ...]]]:
        """Return what the first rows of a table show of their columns, and their kinds, none of very many columns."""
        _, columns, live = read_table(self.who, X, lambda n: np.ones(n, bool))
        self.see_ahead(columns, live, learnt, self.numbers_of(columns, live, learnt)[0])
        if len(columns) > self.options.slots:
            return learnt, dict.fromkeys(columns, ())
        probe = self._probe(self.options.slots)
        return learnt, _Reading(probe, X, None, probe.begin(), learn=True, looks_ahead=True).learnt.kinds

    def shape_of(self, X: Any, slots: int, is_whole: bool) -> tuple[int, int]:
        """Return the slots and bits that the first rows of a table need: no bits if so many slots hold twice their features.

        is_whole : whether they are a whole table or as many as are looked at. Less are enough if they are 100, and the second
        half of them has hardly a feature of its own.
        """
        if not is_whole and n_rows_of(X) < _FEW_ROWS:
            return slots, AUTO_BITS
        probe, first = self._probe(slots), part_of(X, 0, min(n_rows_of(X), _AHEAD))
        if len(read_table(self.who, first, lambda n: np.ones(n, bool))[1]) > slots:
            return slots, AUTO_BITS
        reading = _Reading(probe, first, None, probe.begin(), learn=True, looks_ahead=True)
        n, n_late = len(reading.learnt.features), sum(row >= reading.n / 2 for row in reading.given)
        if not is_whole and reading.n < _AHEAD and n_late > (1.0 - _NEARLY_ALL) * n:
            return slots, AUTO_BITS
        if n >= slots or any(cells.texts is not None for cells in reading.cells.values()):
            return slots, AUTO_BITS
        return min(max(1 << (2 * n - 1).bit_length(), _LEAST_SLOTS), slots), 0

    def _probe(self, slots: int) -> TableReader:
        """Return a reader that tells nothing, with a place for all words."""
        found = TableReader(self.who, self.options._replace(slots=slots, bits=1, unknown="ignore"))
        found.notices.most = 0
        return found

    def numbers_of(self, columns: Mapping[str, Column], live: np.ndarray, learnt: Learnt) -> tuple[dict[str, int], np.ndarray]:
        """Return the columns of numbers that are read together, as all rows have one that shows nothing else, and the numbers."""
        states = {}
        is_worth_it = len(live) <= _MANY_ROWS or isinstance(columns, RowColumns)
        for name in columns if is_worth_it and len(live) and live.all() else ():
            how, known = self.options.state_of(name), learnt.known(name)
            state = how | known.state
            if how < 0 or name in self.options.ignore or not takes_numbers(state):
                continue
            if not is_new_kind(NUMBER, known.state) and (known is not UNKNOWN or how & _SAID or not named_state(name)):
                states[name] = state
        return numbers_of(columns, states, len(live))

    def see_ahead(self, columns: Mapping[str, Column], live: np.ndarray, learnt: Learnt, numbers: Container[str]) -> None:
        """Note what the values of the first rows of weight > 0 show of their columns together. numbers : see `numbers_of`."""
        rows = np.flatnonzero(live)[:_AHEAD].tolist()
        for name in columns:
            if name in numbers:
                learnt.see(name, ())
                continue
            column = columns[name]
            how, shown = self.options.state_of(name), 0
            if how >= 0 and column.kind in ("values", "texts", "words") and rows and name not in self.options.ignore:
                are_texts = column.kind in ("texts", "words")
                values = column.data.slice(0, rows[-1] + 1).to_pylist() if are_texts else column.data
                shown = form_of([values[row] for row in rows], self.options.dates.get(name), how) & FORMS
            if how >= 0 and not how & _SAID and named_state(name) and rows:
                values = column.values()
                first = [values[row] for row in rows]
                if len(first) < _FEW_ROWS or len(set(map(str, first))) < _NEARLY_ALL * len(first):
                    shown |= BITS["IDS"]
                else:
                    self.notices.of_rows(name, len(first))
            if name not in self.options.ignore:
                learnt.see(name, (), shown)

    def read(
        self, X: Any, sample_weight: ArrayLike | None, learnt: Learnt, learn: bool, looks_ahead: bool = False
    ) -> tuple[Any, Learnt]:
        """Return the rows of a table, and what is known after them. looks_ahead : whether the first rows are read together."""
        if not looks_ahead and sample_weight is None and type(X) is list and len(X) == 1 and type(X[0]) is dict:
            found = self._row_reader.read(X[0], learnt, learn)
            if found is not None:  # (else the long way has to raise an error)
                return self._one_row(*found[:2]), found[2]
        reading = _Reading(self, X, sample_weight, learnt, learn, looks_ahead=looks_ahead)
        return reading.rows(), reading.learnt

    def read_progressively(self, X: Any, sample_weight: ArrayLike | None, learnt: Learnt) -> tuple[Any, Any, Learnt]:
        """Return the rows as by what is known just before each, then what `read` returns."""
        reading = _Reading(self, X, sample_weight, learnt, learn=True, is_progressive=True)
        rows = reading.rows()
        return reading.rows_before(), rows, reading.learnt

    def _one_row(self, data: np.ndarray, indices: np.ndarray) -> Any:
        options, data = self.options, data.astype(self.options.dtype, copy=False)
        if options.bits:
            return sparse_rows(Rows(data, indices, np.array((0, len(data))), 1, options.width).matrix())
        dense = np.zeros((1, options.slots), options.dtype)
        dense[0, indices] = data
        return dense

    # --- words ---------------------------------------------------------------------------------------------------------------

    def words_of(self, name: str, texts: list) -> Any:
        """Return the rows of a column's words; the hash of its name sends them to columns other than those of another column."""
        options = self.options
        names = self._words.setdefault(name, FeatureNames(self.n_words)) if self.n_words else None
        hashing = HashingVectorizer(n_features=options.n_hashed, feature_names=names, decode_error="replace")
        found = hashing.transform(texts)
        indices = (found.indices ^ self._namespace_of(name)) + options.slots
        found = type(found)((found.data, indices.astype(np.int32), found.indptr), shape=(len(texts), options.width))
        found.sort_indices()
        return found

    def _words_of_one(self, name: str, text: str | bytes) -> tuple[np.ndarray, np.ndarray]:
        if self.n_words:
            found = self.words_of(name, [text])
            return found.indices, found.data
        hasher: Any = self._hashers.pop() if self._hashers else self._hasher_of_texts()  # (one a thread at a time)
        hasher.add_texts([text])
        rows = hasher.take()
        self._hashers.append(hasher)
        return (rows.indices ^ self._namespace_of(name)) + self.options.slots, rows.data

    def _hasher_of_texts(self) -> Any:
        found = compiled_hasher(HashingVectorizer(n_features=self.options.n_hashed, decode_error="replace"))
        return found[0]() if found is not None else None

    def word_of(self, column: int) -> tuple[str | None, bool, int]:
        """Return the word that a hashed column stands for, or None; whether others share it; and the sign of its values."""
        for name, words in self._words.items():
            found, shared, sign = words.look_up((column - self.options.slots) ^ self._namespace_of(name))
            if found is not None:
                return f"{name}: {found}", shared, sign
        return None, False, 1

    def _namespace_of(self, name: str) -> int:
        """Return what moves the columns of one text column's words away from those of another's."""
        return hash_of(name) & (self.options.n_hashed - 1)


class _Reading:
    """Hold a table while it is read: columns to cells, cells to parts, each part to a column and a value in each row.

    learnt : what is known, a copy of it where the table is learnt. live : rows of weight > 0. cells : of each column of the
    table, in the order in which they came first. parts : of all cells. given : the row of each slot that was
    given.
    """

    def __init__(
        self, reader: TableReader, X: Any, sample_weight: ArrayLike | None, learnt: Learnt, learn: bool,
        is_progressive: bool = False, looks_ahead: bool = False,
    ) -> None:
        self.reader, self.who, self.options, self.learn = reader, reader.who, reader.options, learn
        self.is_progressive, self.sample_weight, self.weights = is_progressive, sample_weight, _NO_WEIGHTS
        self.n, columns, self.live = read_table(self.who, X, self._read_live)
        self.learnt = learnt.copy() if learn else learnt
        self.numbers, x = reader.numbers_of(columns, self.live, self.learnt)
        if looks_ahead:
            reader.see_ahead(columns, self.live, self.learnt, self.numbers)
        names = [name for name in columns if name not in self.options.ignore]
        cells = {name: self._read_column(name, columns[name]) for name in names if name not in self.numbers}
        if self.options.unknown == "error":
            self._require_columns(names, cells)
        elif self.n:
            self._expect_columns(names, cells)
        names = self._in_order(names)
        self.cells = {name: cells[name] for name in names if name in cells}
        if learn:
            self._tell_of_days(columns, x)
        self._tell_of_kinds()
        self.parts = self._parts_of(names, x)
        if not self.live.all():
            for part in self.parts:
                part.hide(~self.live)
        if learn:
            self._see_columns(names)
        for name, each in self.cells.items():
            if DAYS in each.parts:
                set_origin(each.parts[DAYS], self.learnt.known(name).origin)
        self.given = self._give_slots() if learn else []
        for part in self.parts:
            part.columns, part.signs = self._columns_of(part)
        self._standardise()

    def _read_live(self, n: int) -> np.ndarray:
        """Read the weights of rows; return which are > 0."""
        self.weights = validate.read_weights(self.who, self.sample_weight, n)
        if len(self.weights) and self.weights.max(initial=0.0) > _LARGEST_WEIGHT:
            raise ValueError(f"{self.who}: sample_weight must be at most {_LARGEST_WEIGHT:g}, got {self.weights.max():g}.")
        return self.weights > 0.0 if len(self.weights) else np.ones(n, bool)

    # --- columns -------------------------------------------------------------------------------------------------------------

    def _read_column(self, name: str, column: Column) -> Cells:
        """Read a column, and check its kinds if its type has named one."""
        how, known = self.options.state_of(name), self.learnt.known(name)
        if how < 0 and not self.options.bits:
            raise ValueError(
                f"{self.who}: a column of texts must have hashed columns, got {name!r} with bits=0. Set bits, or name the column "
                "in categories= or ignore=."
            )
        named = named_state(name) if name not in self.learnt.columns and how >= 0 and not how & _SAID else 0
        known, live = known._replace(state=known.state | named), self.live if self.learn else self.live[:0]
        cells = cells_of(self.who, name, column, how, self.options.dates.get(name), known, live)
        return cells._replace(marks=np.where(cells.there, cells.marks | named << 8, cells.marks)) if named else cells

    def _in_order(self, names: list[str]) -> list[str]:
        """Return the names of columns in the order in which they came first; those that cannot be noted last, by their names."""
        orders = {name: self.learnt.known(name).order for name in names}
        new = [name for name in names if orders[name] == UNKNOWN.order]  # (a table's come as rows have them first)
        room = max(self.learnt.room, 0)
        old = sorted((name for name in names if orders[name] < UNKNOWN.order), key=orders.__getitem__)
        return [*old, *new[:room], *sorted(new[room:])]

    def _parts_of(self, names: list[str], x: np.ndarray) -> list[Part]:
        """Return the parts of columns; columns of numbers that follow each other share one. x : see `TableReader.numbers_of`."""
        parts: list[Part] = []
        for are_numbers, group in groupby(names, self.numbers.__contains__):
            if are_numbers:
                together = list(group)
                rows = [self.numbers[name] for name in together]
                is_slice = rows == list(range(rows[0], rows[0] + len(rows)))
                parts.append(Part.of_columns(together, x[rows[0] : rows[0] + len(rows)] if is_slice else x[rows]))
            else:
                parts += [part for name in group for part in self.cells[name].parts.values()]
        return parts

    def _tell_of_days(self, columns: Mapping[str, Column], x: np.ndarray) -> None:
        """Warn of a column whose first number looks like a day. x : see `TableReader.numbers_of`."""
        read = {name: self.cells[name].parts[NUMBER].x for name in self.cells if NUMBER in self.cells[name].parts}
        first = {name: numbers[0] for name, numbers in read.items() if len(numbers)}
        first |= {name: x[at, 0] for name, at in self.numbers.items()}
        for name, number in first.items():
            if is_day(number) and not self.learnt.known(name).kinds and name not in self.options.how:
                self.reader.notices.of_doubt(name, columns[name].values()[0], "digits", 0)

    def _tell_of_kinds(self) -> None:
        """Warn of names that look like something else, and of values of kinds that their columns have not had; where the first
        rows of all are learnt, `_tell_of_late_kinds` does so behind them."""
        notices, is_young = self.reader.notices, self.learn and self.learnt.t < YOUNG
        for name, cells in self.cells.items():
            known = self.learnt.known(name)
            for doubt, (value, row) in cells.doubts.items() if self.learn or may_be_told(known.state) else ():
                notices.of_doubt(name, value, doubt, row)
            if is_young or not known.state:
                continue
            for kind in np.flatnonzero(np.bincount(cells.kinds, minlength=NONE_THERE)[:NONE_THERE]).tolist():
                if is_new_kind(kind, known.state):
                    row = int((cells.kinds == kind).argmax())
                    notices.of_kind(name, cells.values()[row], KINDS[kind], known.kinds, row)

    def _expect_columns(self, names: list[str], table: dict[str, Cells]) -> None:
        """Note which columns all rows have; refuse rows of another table, and warn of rows that lack some."""
        learnt, live = self.learnt, self.live
        if not live.any():
            return
        if learnt.expected is None:
            if self.learn:
                first = int(live.argmax())
                there = [name for name, cells in table.items() if cells.there[first]]
                there = [name for name in there if not self._rows_without(name, table).any()]
                learnt.expected = frozenset((*self.numbers, *there))
            return
        n_lacking = np.zeros(len(live), np.int64)
        lacking: list[tuple[str, np.ndarray]] = []
        for name in learnt.expected.difference(self.numbers):
            if name in table and not (table[name].marks == NONE_THERE).any():
                continue
            lacks_it = self._rows_without(name, table)
            if lacks_it.any():
                n_lacking, lacking = n_lacking + lacks_it, [*lacking, (name, lacks_it)]
        if not lacking:
            return
        is_young = self.learn and learnt.t < YOUNG
        if self.options.unknown == "warn" and not is_young and learnt.is_regular:
            row = int(n_lacking.argmax())
            without = [name for name, rows in lacking if rows[row]], [name for name in names if name not in learnt.columns]
            is_other = 2 * n_lacking[row] > len(learnt.expected)
            if is_other and not self.learn:
                raise ValueError(f"{self.who}: {lacks(*without, row)} Rename its columns, or set unknown='ignore'.")
            if is_other or not self.learn:
                self.reader.notices.of_lacking(*without, row)
        if self.learn:
            learnt.expected = learnt.expected.difference(name for name, _ in lacking)

    def _rows_without(self, name: str, table: dict[str, Cells]) -> np.ndarray:
        """Return which rows of weight > 0 lack a column, and no dict that it is of is missing there."""
        found = self.live & ~table[name].there if name in table else self.live
        for whole in dicts_of(name) if found.any() else ():
            found = found & (table[whole].kinds != MISSING) if whole in table else found
        return found

    def _require_columns(self, names: list[str], table: dict[str, Cells]) -> None:
        """Raise a ValueError unless each row of weight > 0 has the columns of the first one."""
        live, learnt = self.live, self.learnt
        if self.learn and learnt.expected is None and live.any():
            first = int(live.argmax())
            learnt.expected = frozenset((*self.numbers, *(name for name, cells in table.items() if cells.there[first])))
        expected = learnt.expected or frozenset()
        for name in {**dict.fromkeys(names), **dict.fromkeys(sorted(expected))} if live.any() else ():
            if name in self.numbers and name in expected:
                continue
            there = live if name in self.numbers else table[name].there & live if name in table else np.zeros(len(live), bool)
            wrong = there if name not in expected else live & ~there
            if wrong.any():
                problem = "a column that is unknown" if name not in expected else "a row that lacks the column"
                raise ValueError(
                    f"{self.who}: with unknown='error' each row must have the columns of the first one, got {problem}, {name!r}, "
                    f"in row {int(wrong.argmax())}. Set unknown='ignore', or give rows with these columns."
                )

    def _see_columns(self, names: list[str]) -> None:
        """Learn the number of rows, the columns, their kinds, what their values have shown, and first dates."""
        live, all_live, n_young = self.live, bool(self.live.all()), YOUNG - self.learnt.t
        self.learnt.t += int(live.sum())
        for name in names:
            if name in self.numbers:
                if "number" not in self.learnt.known(name).kinds:
                    self.learnt.see(name, ("number",))
                continue
            cells = self.cells[name]
            marks = cells.marks if all_live else cells.marks[live]
            if len(marks) and marks[0] < NONE_THERE and (marks == marks[0]).all():
                firsts = {KINDS[marks[0]]: 0}
            else:
                kinds, rows = np.unique(marks & 255, return_index=True)
                firsts = {KINDS[kind]: row for kind, row in zip(kinds.tolist(), rows.tolist(), strict=True) if kind < NONE_THERE}
            days, origin = cells.parts.get(DAYS), None
            if days is not None and (days.codes >= 0).any():
                origin = float(days.x[(days.codes >= 0).argmax()])
            if 0 < n_young <= max(firsts.values(), default=0):
                self._tell_of_late_kinds(name, cells, firsts, n_young)
            if firsts:
                shown = int(np.bitwise_or.reduce(marks)) >> 8
                self.learnt.see(name, sorted(firsts, key=lambda kind: firsts[kind]), shown, origin)

    def _tell_of_late_kinds(self, name: str, cells: Cells, firsts: dict[str, int], n_young: int) -> None:
        """Warn of kinds that come behind the first n_young rows. firsts : the first row of each kind, of those of weight > 0."""
        known = self.learnt.known(name)
        early = [*known.kinds, *(kind for kind, row in firsts.items() if row < n_young)]
        had = known.state | sum(1 << KINDS.index(kind) for kind in set(early))
        for kind, row in firsts.items():
            if row >= n_young and is_new_kind(KINDS.index(kind), had):
                at = int(np.flatnonzero(self.live)[row])
                self.reader.notices.of_kind(name, cells.values()[at], kind, dict.fromkeys(early), at)

    # --- features ------------------------------------------------------------------------------------------------------------

    def _give_slots(self) -> list[int]:
        """Give slots to features in the order of their first rows, and of the columns in a row, as far as there are any."""
        learnt, options = self.learnt, self.options
        fresh, given = [], []
        for place, part in enumerate(self.parts if options.unknown == "error" or not learnt.is_full else ()):
            for code, row in _firsts(part.codes):
                if part.names[code] not in learnt.features:
                    fresh.append((row, place, code, part.names[code]))
        for row, place, _, feature in sorted(fresh):
            part = self.parts[place]
            if learnt.is_full:
                if options.unknown == "error" and not options.bits and not feature.endswith("=?"):
                    raise self._unknown(feature, row, f"and all {options.slots} slots have one")
            elif feature not in learnt.features:
                learnt.add_slot(feature, part.x is not None)
                given.append(row)
        return given

    def _unknown(self, feature: str, row: int, why: str) -> ValueError:
        return ValueError(
            f"{self.who}: with unknown='error' each feature must have a column, got {feature!r} in row {row}, which is new, "
            f"{why}. Set unknown='ignore', or give more slots or bits."
        )

    def _columns_of(self, part: Part) -> tuple[np.ndarray, np.ndarray | float]:
        """Return the column of each row's feature, -1 where it has none, and the sign of its value."""
        learnt, options = self.learnt, self.options
        found = learnt.place(part.names[0]) if len(part.names) == 1 else None
        if found is not None and not part.codes.any():  # (a number that is always there)
            return np.full(part.codes.shape, found, np.int32), 1.0
        columns, signs = np.full(len(part.names) + 1, -1, np.int32), np.ones(len(part.names) + 1)
        can_hash = options.bits and learnt.is_full
        for code, row in _firsts(part.codes):
            feature = part.names[code]
            found = learnt.place(feature)
            if found is not None:
                columns[code] = found
            elif can_hash:
                columns[code], signs[code] = column_of(feature, options.slots, options.n_hashed)
            elif options.unknown == "error" and not self.learn and not feature.endswith("=?"):
                raise self._unknown(feature, row, "and transform learns none")
        has_signs = bool((signs < 0.0).any())
        if part.codes.ndim == 2:
            return np.broadcast_to(columns[:-1, None], part.codes.shape), signs[:-1, None] if has_signs else 1.0
        return columns[part.codes], signs[part.codes] if has_signs else 1.0

    def _standardise(self) -> None:
        """Compute the standardised values of numbers, and learn them. Numbers that share a hashed column share a record, too."""
        options, parts = self.options, [part for part in self.parts if part.x is not None]
        at: list[int] = []
        for part in parts:
            columns = np.atleast_1d(part.columns.max(axis=-1, initial=-1)).tolist()
            at += map(self._record_of, part.names, columns)
        x = _stacked([part.x for part in parts], self.n, np.float64)
        places, clip, keep = np.array(at, np.int64), options.clip, options.keep
        before = standardise(self.learnt.records, places, x, self.weights, clip, keep, self.learn, self.is_progressive)
        first = 0
        for part in parts:
            rows: Any = first if part.x.ndim == 1 else slice(first, first + len(part.x))
            part.value, part.before = x[rows], before[rows] if self.is_progressive else None
            first += len(part.names)

    def _record_of(self, feature: str, column: int) -> int:
        """Return the record of a number; -1 for none, NEW for that of a hashed column where none has come."""
        learnt = self.learnt
        if column < self.options.slots:
            return (learnt.features.get(feature) or (-1, -1))[1]
        at = learnt.add_hashed(column) if self.learn else learnt.hashed.get(column)
        return NEW if at is None else at

    # --- rows ----------------------------------------------------------------------------------------------------------------

    def rows(self) -> Any:
        """Return the rows."""
        return self._assembled([part.columns for part in self.parts], [part.signed() for part in self.parts])

    def rows_before(self) -> Any:
        """Return the rows as by what is known just before each: without the columns that were given in the row itself or,
        hashed, by when no slot was left."""
        n_slots = self.options.slots
        n_known = len(self.learnt.features) - len(self.given) + np.searchsorted(self.given, np.arange(self.n))
        columns = [
            np.where((part.columns >= n_known) & (n_known < n_slots), np.int32(-1), part.columns) for part in self.parts
        ]
        return self._assembled(columns, [part.signed(before=True) for part in self.parts])

    def _assembled(self, columns: list[np.ndarray], values: list[np.ndarray]) -> Any:
        n, options = self.n, self.options
        places, numbers = _stacked(columns, n, np.int32), _stacked(values, n, np.float64)
        if not options.bits:
            dense, (part, row) = np.zeros((n, options.slots)), np.nonzero(places >= 0)
            np.add.at(dense.reshape(-1), row * options.slots + places[part, row], numbers[part, row])  # (features may share one)
            return dense.astype(options.dtype, copy=False)
        data, indices, indptr = assemble(places, numbers)
        rows = Rows(data, indices, indptr, n, options.width).matrix()
        for name, cells in self.cells.items():
            if cells.texts is not None and n:
                pairs = zip(cells.texts, self.live.tolist(), strict=True)
                rows = rows + self.reader.words_of(name, [text if is_live else "" for text, is_live in pairs])
        rows.data = rows.data.astype(options.dtype, copy=False)
        return sparse_rows(rows)


def _stacked(arrays: list[np.ndarray], n: int, dtype: Any) -> np.ndarray:
    """Return rows of n numbers, and arrays of such rows, as one array of rows."""
    if len(arrays) == 1 and arrays[0].ndim == 2:
        return np.ascontiguousarray(arrays[0])
    return np.concatenate([*arrays, np.empty(0, dtype)], axis=None).reshape(-1, n) if n else np.empty((len(arrays), 0), dtype)


def _firsts(codes: np.ndarray) -> list[tuple[int, int]]:
    """Return each code that is not -1, with the first row that has it."""
    if codes.ndim == 2:  # (numbers of several columns, which all rows have)
        return [(code, 0) for code in range(len(codes))]
    if not len(codes):
        return []
    if not codes.any():  # (a number that is always there)
        return [(0, 0)]
    rows = np.full(codes.max() + 2, -1)
    rows[codes[::-1] + 1] = np.arange(len(codes) - 1, -1, -1)  # (where several rows have a code, the last one written stays)
    return [(code, row) for code, row in enumerate(rows[1:].tolist()) if row >= 0]
