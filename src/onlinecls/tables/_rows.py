"""`TableReader`: a table to rows of numbers, by what has been learnt of the rows before."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._input import validate
from .._input.compat import sparse_rows
from .._input.rows import Rows
from ..text import FeatureNames, HashingVectorizer
from ._cells import RowReader, apply_column, assemble, column_of, hash_of, learn_column
from ._columns import as_text, read_table
from ._learnt import N_RECORD, Learnt
from ._parts import DAYS, Cells, Part, cells_of, features_of, set_origin

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import ArrayLike

    from ._columns import Column

_LARGEST_WEIGHT = 1e100
_NO_WEIGHTS = np.empty(0)


class Options(NamedTuple):
    """Hold the parameters of a `TableVectorizer` after it has checked them."""

    slots: int
    bits: int
    how: dict[str, str]
    ignore: frozenset[str]
    crosses: tuple[tuple[str, str], ...]
    is_strict: bool
    clip: float
    keep: float
    dtype: np.dtype

    @property
    def n_hashed(self) -> int:
        return 1 << self.bits if self.bits else 0

    @property
    def width(self) -> int:
        return self.slots + self.n_hashed


class TableReader:
    """Read tables as rows of numbers, by what has been learnt, and learning it or not. What there was is never changed.

    who : the class that error messages name. n_words : the words of each column of texts that are kept for `word_of`.
    """

    def __init__(self, who: str, options: Options) -> None:
        self.who, self.options, self.n_words = who, options, 0
        self._words: dict[str, FeatureNames] = {}
        self._row_reader = RowReader(options, as_text, features_of, self._words_of_one)

    def begin(self) -> Learnt:
        """Return what is known before the first row."""
        return Learnt((self.options.slots, self.options.bits))

    def read(self, X: Any, sample_weight: ArrayLike | None, learnt: Learnt, learn: bool) -> tuple[Any, Learnt]:
        """Return the rows of a table, and what is known after them."""
        if sample_weight is None and type(X) is list and len(X) == 1 and type(X[0]) is dict:
            found = self._row_reader.read(X[0], learnt, learn)
            if found is not None:  # (else the long way has to raise an error)
                return self._one_row(*found[:2]), found[2]
        reading = _Reading(self, X, sample_weight, learnt, learn)
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
        found = self.words_of(name, [text])
        return found.indices, found.data

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
    table, in the order in which they came first. parts : of all cells, then the crosses. given : the row of each slot that was
    given.
    """

    def __init__(
        self, reader: TableReader, X: Any, sample_weight: ArrayLike | None, learnt: Learnt, learn: bool,
        is_progressive: bool = False,
    ) -> None:
        self.reader, self.who, self.options, self.learn = reader, reader.who, reader.options, learn
        self.is_progressive, self.sample_weight, self.weights = is_progressive, sample_weight, _NO_WEIGHTS
        self.n, columns, self.live = read_table(self.who, X, self._read_live)
        self.learnt = learnt.copy() if learn else learnt
        cells = {name: self._read_column(name, column) for name, column in columns.items() if name not in self.options.ignore}
        if self.options.is_strict:
            self._require_columns(cells)
        order = sorted(cells, key=lambda name: self.learnt.known(name).order)  # (new columns stay in their order)
        self.cells = {name: cells[name] for name in order}
        self.parts = [part for each in self.cells.values() for part in each.parts.values()]
        if not self.live.all():
            for part in self.parts:
                part.hide(~self.live)
        if learn:
            self._see_columns()
        for name, each in self.cells.items():
            if DAYS in each.parts:
                set_origin(each.parts[DAYS], self.learnt.known(name).origin)
        self.parts += self._crosses()
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
        how, known = self.options.how.get(name), self.learnt.known(name)
        if how == "text" and not self.options.bits:
            raise ValueError(
                f"{self.who}: a column of texts must have hashed columns, got {name!r} with bits=0. Set bits, or name the column "
                "in categories= or ignore=."
            )
        cells = cells_of(self.who, name, column, how, known, self.live if self.learn else self.live[:0])
        before = (known.typed,) if known.typed is not None else known.kinds if cells.typed else ()
        for kind, rows in cells.kinds.items():
            other = next((each for each in before if each not in ("missing", kind)), None)
            if kind != "missing" and other is not None and rows.any():
                raise ValueError(
                    f"{self.who}: a column with a type must keep it, got column {name!r} of kind {other!r} before and {kind!r} "
                    f"in row {int(rows.argmax())}. Convert one of them, or name the column in categories= or numbers= from the "
                    "start."
                )
        return cells

    def _require_columns(self, table: dict[str, Cells]) -> None:
        """Raise a ValueError unless each row of weight > 0 has the columns of the first one."""
        live, learnt = self.live, self.learnt
        if self.learn and learnt.expected is None and live.any():
            first = int(live.argmax())
            learnt.expected = frozenset(name for name, cells in table.items() if cells.there[first])
        expected = learnt.expected or frozenset()
        for name in {**dict.fromkeys(table), **dict.fromkeys(sorted(expected))} if live.any() else ():
            there = table[name].there & live if name in table else np.zeros(len(live), bool)
            wrong = there if name not in expected else live & ~there
            if wrong.any():
                problem = "a column that is unknown" if name not in expected else "a row that lacks the column"
                raise ValueError(
                    f"{self.who}: with unknown='error' each row must have the columns of the first one, got {problem}, {name!r}, "
                    f"in row {int(wrong.argmax())}. Set unknown='ignore', or give rows with these columns."
                )

    def _see_columns(self) -> None:
        """Learn the number of rows, the columns, their kinds, the types that named them, and first dates."""
        live = self.live
        self.learnt.t += int(live.sum())
        for name, cells in self.cells.items():
            firsts = {kind: int((rows & live).argmax()) for kind, rows in cells.kinds.items() if (rows & live).any()}
            days, origin = cells.parts.get(DAYS), None
            if days is not None and (days.codes >= 0).any():
                origin = float(days.x[(days.codes >= 0).argmax()])
            typed = cells.typed if cells.typed in firsts else None
            if (cells.there & live).any():
                self.learnt.see(name, sorted(firsts, key=lambda kind: firsts[kind]), typed, origin)

    def _crosses(self) -> list[Part]:
        pairs = [(self.cells[a], self.cells[b]) for a, b in self.options.crosses if a in self.cells and b in self.cells]
        return [Part.crossed(one, other) for a, b in pairs for one in a.parts.values() for other in b.parts.values()]

    # --- features ------------------------------------------------------------------------------------------------------------

    def _give_slots(self) -> list[int]:
        """Give slots to features in the order of their first rows, and of the columns in a row, as far as there are any."""
        learnt, options = self.learnt, self.options
        fresh, given = [], []
        for place, part in enumerate(self.parts if options.is_strict or not learnt.is_full else ()):
            for code, row in _firsts(part.codes):
                if part.names[code] not in learnt.features:
                    fresh.append((row, place, part.names[code]))
        for row, place, feature in sorted(fresh):
            part = self.parts[place]
            if learnt.is_full:
                if options.is_strict and not options.bits and not part.factors and not feature.endswith("=?"):
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
            return np.full(len(part.codes), found, np.int32), 1.0
        columns, signs = np.full(len(part.names) + 1, -1, np.int32), np.ones(len(part.names) + 1)
        can_hash = options.bits and learnt.is_full
        for code, row in _firsts(part.codes):
            feature = part.names[code]
            found = learnt.place(feature)
            if found is not None:
                columns[code] = found
            elif can_hash:
                columns[code], signs[code] = column_of(feature, options.slots, options.n_hashed)
            elif options.is_strict and not part.factors and not self.learn and not feature.endswith("=?"):
                raise self._unknown(feature, row, "and transform learns none")
        return columns[part.codes], signs[part.codes] if (signs < 0.0).any() else 1.0

    def _standardise(self) -> None:
        """Compute the standardised values of numbers, and learn them. Numbers that share a hashed column share a record, too."""
        options, learnt = self.options, self.learnt
        groups: dict[int, list[Part]] = {}
        for part in self.parts:
            if part.x is None:
                continue
            part.value = part.before = np.zeros(len(part.x))
            column = int(part.columns.max(initial=-1))
            at = (learnt.features.get(part.names[0]) or (-1, -1))[1]
            if column >= options.slots:
                at = learnt.add_hashed(column) if self.learn else learnt.hashed.get(column)
                if at is None:  # (no number has come there)
                    apply_column(part.x, np.zeros(N_RECORD), options.clip, part.value)
            if at is not None and at >= 0:
                groups.setdefault(at, []).append(part)
        for at, group in groups.items():
            record, x = learnt.records.read(at), np.ascontiguousarray(np.column_stack([part.x for part in group]).reshape(-1))
            z, y = np.empty(len(x)), np.empty(len(x) if self.is_progressive else 0)
            if self.learn:
                weights = np.repeat(self.weights, len(group))
                learn_column(x, weights, record, options.clip, options.keep, z, y, len(group))
                learnt.records.write(at, record)
            else:
                apply_column(x, record, options.clip, z)
            for k, part in enumerate(group):
                part.value, part.before = z[k :: len(group)], y[k :: len(group)]

    # --- rows ----------------------------------------------------------------------------------------------------------------

    def rows(self) -> Any:
        """Return the rows."""
        return self._assembled([part.columns for part in self.parts], [part.values() * part.signs for part in self.parts])

    def rows_before(self) -> Any:
        """Return the rows as by what is known just before each: without the columns that were given in the row itself or,
        hashed, by when no slot was left."""
        n_slots = self.options.slots
        n_known = len(self.learnt.features) - len(self.given) + np.searchsorted(self.given, np.arange(self.n))
        columns = [
            np.where((part.columns >= n_known) & (n_known < n_slots), np.int32(-1), part.columns) for part in self.parts
        ]
        return self._assembled(columns, [part.values(before=True) * part.signs for part in self.parts])

    def _assembled(self, columns: list[np.ndarray], values: list[np.ndarray]) -> Any:
        n, options = self.n, self.options
        places = np.concatenate([*columns, np.empty(0, np.int32)]).reshape(len(columns), n)
        numbers = np.concatenate([*values, np.empty(0)]).reshape(len(columns), n)
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


def _firsts(codes: np.ndarray) -> list[tuple[int, int]]:
    """Return each code that is not -1, with the first row that has it."""
    if not len(codes):
        return []
    if not codes.any():  # (a number that is always there)
        return [(0, 0)]
    rows = np.full(codes.max() + 2, -1)
    rows[codes[::-1] + 1] = np.arange(len(codes) - 1, -1, -1)  # (where several rows have a code, the last one written stays)
    return [(code, row) for code, row in enumerate(rows[1:].tolist()) if row >= 0]
