"""`TableVectorizer`: tables to rows of numbers, while they stream."""

from __future__ import annotations

from operator import is_
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._estimators.estimator import Estimator
from .._estimators.learner import read_weights_of_fit
from .._estimators.merging import unchanged
from .._input import validate
from .._input.compat import not_fitted, sparse_rows, table_transformer_tags
from .._input.rows import Rows, lasting
from ..text import FeatureNames, HashingVectorizer
from ._cells import RowReader, apply_column, assemble, column_of, hash_of, learn_column
from ._columns import as_text, read_table
from ._learnt import N_RECORD, Learnt
from ._moving import Move, move_between, require_slots
from ._parts import DAYS, Cells, Part, cells_of, features_of, set_origin

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Literal, Self

    from numpy.typing import ArrayLike, DTypeLike, NDArray
    from sklearn.utils import Tags

_LARGEST_VARIANCE = 1e308  # of numbers that are standardised (_cells.pyx)
_LARGEST_WEIGHT = 1e100
_NO_WEIGHTS = np.empty(0)


class _Options(NamedTuple):
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
    reader: RowReader | None = None

    @property
    def n_hashed(self) -> int:
        return 1 << self.bits if self.bits else 0

    @property
    def width(self) -> int:
        return self.slots + self.n_hashed


class TableVectorizer(Estimator):
    r"""Turn the rows of tables into numbers while they stream: each column of numbers standardised by what has come so far.

    A number x of a column becomes :math:`(x - \mu) / \sqrt{S / n}` within [-clip, clip], where n is the sum of the weights of the
    column's rows so far, μ their weighted mean, and S the sum of squared deviations from it (Welford's update, row by row); 0
    while S is 0. Columns whose values have all been 0 or 1 so far stay as they are. A text v of a column c becomes the feature
    "c=v", with value 1, and a missing value the feature "c=?". A date becomes the days since the column's first date,
    standardised, and the sine and cosine of the part of its day, week and year (of 365.2425 days); dates with a time zone are
    read in UTC. A list of numbers becomes as many numbers.

    The kind of a value does not depend on the batches: a column with a type (of numbers, dates, categories) has that type's
    kind; in any other column each value has its own, so that ``"12"``, ``"$12"``, ``"12%"`` and ``"1,234.5"`` are numbers,
    ``"2024-05-01"`` and ``"2024-05-01T10:30"`` are dates, and ``""``, ``"?"``, ``"-"``, ``"NA"``, ``"NaN"``, ``"nan"`` and
    ``"null"`` are missing. Digits, an e and digits (``"12e45678"``) are a name in a column that has had names and no numbers in
    the rows before; a text whose number is beyond 1e150 is a name, too. Any split of a stream into calls gives the same rows,
    to the last bit.

    Features get the first `slots` columns in the order in which they appear. Later ones, and the words of texts, are hashed into
    the 2^bits columns behind, so that the width never changes.

    Parameters
    ----------
    bits : int in 0..30, default=18
        Base-2 logarithm of the number of hashed columns. 0: none, and rows are dense arrays of `slots` columns.
    slots : int in 1..2**20, default=256
        Features with a column of their own.
    texts : sequence of str, default=()
        Columns of texts, hashed by their words as by `onlinecls.text.HashingVectorizer`, each text in rows of unit length. A
        column named "text" is one of them unless another parameter names it.
    categories : sequence of str, default=()
        Columns whose values are all names, numbers among them.
    numbers : sequence of str, default=()
        Columns whose values must all be numbers, or missing.
    ignore : sequence of str, default=()
        Columns to leave out.
    crosses : sequence of pairs of str, default=()
        Pairs of columns: all products of a feature of the one and a feature of the other, as by Vowpal Wabbit's ``-q``.
    unknown : {"ignore", "error"}, default="ignore"
        Treatment of what has no column. "ignore": a column or name that `transform` meets first is left out, and a column that a
        row lacks has no features in it. "error": every row must have the columns of the first one, and `transform` names that
        have been learnt. (A missing value is neither.)
    clip : float, default=10.0
        Largest magnitude of a standardised number, in (0, 1e6].
    forgetting : float, default=0.0
        λ in [0, 0.1]: before each row of a column its n and S are multiplied by 1 - λ, so that what is older than about 1/λ rows
        counts little.
    dtype : {np.float32, np.float64}, default=np.float64
        Type of the rows.

    Attributes
    ----------
    schema_ : dict of str to tuple of str
        Columns in the order of their first appearance, each with the kinds of values it has had: "number", "category", "date",
        "list", "text", "missing".
    statistics_ : dict of str to tuple of (float, float, float)
        Weight, mean and standard deviation of each number that has a slot. (A deviation beyond about 1e154 over the root of the
        weight is inf, and the column's numbers become 0.)
    n_features_out_ : int
        Width of the rows: slots + 2^bits (bits=0: slots).

    Raises
    ------
    ValueError
        If a parameter is not valid; if a number is infinite or beyond 1e150; if a name or column's name has half of a surrogate
        pair; if a column of a type comes with another; if columns are of different lengths or share a name; of what is unknown,
        by `unknown`; if `fit` has no row of weight > 0. Nothing is learnt then.
    TypeError
        If X is no table, or a value is of no kind above.

    Notes
    -----
    A row of weight 0 is ignored, and `learn_transform` returns zeros for it. `learn_transform` standardises a row by statistics
    that include it, `transform` by those before it.

    References
    ----------
    .. [1] B. P. Welford. Note on a method for calculating corrected sums of squares and products. Technometrics 4, 1962.

    Examples
    --------
    >>> from onlinecls.tables import TableVectorizer
    >>> rows = [{"age": 20, "city": "Oslo"}, {"age": 40, "city": "Rome"}, {"age": None, "city": "Oslo"}]
    >>> vectorizer = TableVectorizer(bits=0, slots=4)
    >>> vectorizer.fit_transform(rows).tolist()
    [[-1.0, 1.0, 0.0, 0.0], [1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0]]
    >>> vectorizer.get_feature_names_out().tolist()
    ['age', 'city=Oslo', 'city=Rome', 'age=?']
    """

    bits: int
    slots: int
    texts: Sequence[str]
    categories: Sequence[str]
    numbers: Sequence[str]
    ignore: Sequence[str]
    crosses: Sequence[tuple[str, str]]
    unknown: Literal["ignore", "error"]
    clip: float
    forgetting: float
    dtype: DTypeLike
    _kept_words: _KeptWords
    _learnt: Learnt
    _in_place = frozenset({"_learnt"})

    def __init__(
        self, bits: int = 18, *, slots: int = 256, texts: Sequence[str] = (), categories: Sequence[str] = (),
        numbers: Sequence[str] = (), ignore: Sequence[str] = (), crosses: Sequence[tuple[str, str]] = (),
        unknown: Literal["ignore", "error"] = "ignore", clip: float = 10.0, forgetting: float = 0.0,
        dtype: DTypeLike = np.float64,
    ) -> None:
        self._assign(locals())

    def __sklearn_tags__(self) -> Tags:
        return table_transformer_tags()

    def __sklearn_is_fitted__(self) -> bool:
        return "_learnt" in self.__dict__

    def _sharing(self) -> Self:
        twin = super()._sharing()
        for name in ("_checked", "_kept_words"):
            twin.__dict__.pop(name, None)
        return twin

    # --- scikit-learn's interface --------------------------------------------------------------------------------------------

    def partial_fit(self, X: Any, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the columns, names and statistics of rows, from where the vectorizer is.

        Parameters
        ----------
        X : table
            A pandas, polars or pyarrow table, or anything else with ``__arrow_c_stream__``, a list of dicts, one a row, a dict of
            columns, or a two-dimensional array, whose columns are called x0, x1 ..
        y : ignored
        sample_weight : array-like of shape (n_rows,), default=None
            Weights >= 0 of the rows. A row of weight 0 changes nothing.

        Returns
        -------
        self : object
        """
        self.learn_transform(X, sample_weight)
        return self

    def learn_transform(self, X: Any, sample_weight: ArrayLike | None = None) -> Any:
        """Learn rows, and return them, each standardised by the statistics of all rows so far, itself among them.

        Returns
        -------
        rows : CSR matrix of shape (n_rows, n_features_out_); with bits=0 an ndarray
        """
        with self._own_lock():
            rows, self._learnt = plan(self, learnt_of(self), X, sample_weight)
        return rows

    def transform(self, X: Any) -> Any:
        """Return rows, standardised by the statistics so far, without learning anything.

        Returns
        -------
        rows : CSR matrix of shape (n_rows, n_features_out_); with bits=0 an ndarray
        """
        return rows_of(self, self._fitted(), X)

    def fit(self, X: Any, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the columns, names and statistics of rows from scratch. Returns the vectorizer."""
        with self._own_lock():
            options = self._options(learnt_of(self))
            rows, learnt = self._plan(X, sample_weight, options, Learnt((options.slots, options.bits)), learn=True)
            who, n = type(self).__name__, rows.shape[0]
            if not n:
                raise ValueError(f"{who}: Found array with 0 sample(s) (shape={rows.shape}) while a minimum of 1 is required.")
            read_weights_of_fit(who, sample_weight, n)
            self._learnt = learnt
        return self

    def fit_transform(self, X: Any, y: object = None, sample_weight: ArrayLike | None = None) -> Any:
        """Learn rows from scratch, and return them, all standardised by the statistics of all of them."""
        X = lasting(X)
        return self.fit(X, y, sample_weight).transform(X)

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """Return the names of the columns of the rows: features in their slots, "slot_k" for free ones, and "hashed_k" behind."""
        learnt = self._fitted()
        slots, bits = learnt.shape
        free = [f"slot_{k}" for k in range(len(learnt.features), slots)]
        return np.array([*learnt.slots, *free, *(f"hashed_{k}" for k in range(1 << bits if bits else 0))], dtype=object)

    def merge(self, *others: Any) -> Self:
        """Take in what others have learnt from rows of their own: counts, means and squared deviations add up (Chan's formula).

        Features that are new here get slots behind those that have one. Returns the vectorizer.

        Raises
        ------
        ValueError
            If one of them is no TableVectorizer with the same parameters. Nothing is taken in then.
        """
        who = type(self).__name__
        for other in others:
            if type(other) is not type(self) or repr(other) != repr(self):
                raise ValueError(f"{who}: merge must have vectorizers of the same parameters, got {other!r}.")
        if self.forgetting:
            raise ValueError(
                f"{who}: merge must have statistics of all rows alike, got forgetting={self.forgetting!r}, by which the order of "
                "rows counts. Learn in one stream."
            )
        with unchanged((self, *others), learner=self):
            options = self._options(learnt_of(self))
            found = self._learnt.copy() if "_learnt" in self.__dict__ else Learnt((options.slots, options.bits))
            for other in others:
                if other.__sklearn_is_fitted__():
                    found.take_in(other._learnt)
            self._learnt = found
        return self

    # --- what was learnt -----------------------------------------------------------------------------------------------------

    @property
    def schema_(self) -> dict[str, tuple[str, ...]]:
        """The columns so far, in order, with the kinds of values that each has had."""
        return self._fitted().kinds

    @property
    def statistics_(self) -> dict[str, tuple[float, float, float]]:
        """Weight, mean and standard deviation of each number that has a slot."""
        learnt, found = self._fitted(), {}
        for feature, record in learnt.numbers.items():
            n, mean, squares, _ = record.tolist()
            found[feature] = n, mean, (max(squares, 0.0) / n) ** 0.5 if n else 0.0
        return found

    @property
    def n_features_out_(self) -> int:
        """The width of the rows."""
        return self._options(learnt_of(self)).width

    def _fitted(self) -> Learnt:
        if "_learnt" not in self.__dict__:
            raise not_fitted(type(self).__name__)
        return self._learnt

    # --- parameters ----------------------------------------------------------------------------------------------------------

    def _options(self, learnt: Learnt | None) -> _Options:
        """Return the parameters, checked, for what was learnt; they are checked again when one of them is another object."""
        values, checked = self._parameter_values()(self.__dict__), self.__dict__.get("_checked")
        if checked is None or not all(map(is_, checked[0], values)):
            self._checked = checked = values, self._check()
        if learnt is not None and learnt.shape != (checked[1].slots, checked[1].bits):
            raise ValueError(
                f"{type(self).__name__}: slots and bits must be those of the first call, {learnt.shape}, got "
                f"slots={self.slots!r} and bits={self.bits!r}. Set them back, or start with clone(vectorizer)."
            )
        return checked[1]

    def _check(self) -> _Options:
        who = type(self).__name__

        def require(condition: bool, name: str, needed: str) -> None:
            if not condition:
                raise ValueError(f"{who}: {name} must be {needed}, got {name}={getattr(self, name)!r}.")

        def is_number(value: object, kinds: tuple = (int, float, np.integer, np.floating)) -> bool:
            return isinstance(value, kinds) and not isinstance(value, bool)

        whole = (int, np.integer)
        require(is_number(self.bits, whole) and 0 <= self.bits <= 30, "bits", "an integer in 0..30")
        require(is_number(self.slots, whole) and 1 <= self.slots <= 2**20, "slots", "an integer in 1..2**20")
        require(isinstance(self.unknown, str) and self.unknown in ("ignore", "error"), "unknown", "'ignore' or 'error'")
        require(is_number(self.clip) and 0.0 < self.clip <= 1e6, "clip", "a number in (0, 1e6]")
        require(is_number(self.forgetting) and 0.0 <= self.forgetting <= 0.1, "forgetting", "a number in [0, 0.1]")
        named: dict[str, str] = {}
        kinds = {"texts": "text", "categories": "category", "numbers": "number", "ignore": "ignored"}
        for parameter, kind in kinds.items():
            names = getattr(self, parameter)
            try:
                names = [] if isinstance(names, str) else list(names)
            except TypeError:
                names = [None]
            right = not isinstance(getattr(self, parameter), str) and all(isinstance(name, str) for name in names)
            require(right, parameter, "a sequence of names of columns")
            for name in names:
                if named.setdefault(name, kind) != kind:
                    other = next(key for key, value in kinds.items() if value == named[name])
                    raise ValueError(f"{who}: a column must be named once, got {name!r} in {other} and in {parameter}.")
        require(bool(self.bits) or not self.texts, "texts", "empty with bits=0, as words are hashed")
        try:
            crosses = tuple((str(a), str(b)) for a, b in self.crosses)
            right = not any(isinstance(each, str) for each in self.crosses)
        except (TypeError, ValueError):
            crosses, right = (), False
        require(right, "crosses", "a sequence of pairs of names of columns")
        for name in {name for pair in crosses for name in pair}:
            if named.get(name) in ("text", "ignored") or (name == "text" and name not in named):
                kind = named.get(name, "text")
                raise ValueError(f"{who}: crosses must be of columns with numbers or names, got {name!r}, which is {kind}.")
        try:
            dtype = np.dtype(self.dtype)
        except (TypeError, ValueError, SyntaxError):
            dtype = np.dtype(object)
        require(dtype in (np.float32, np.float64), "dtype", "float32 or float64")
        ignore = frozenset(name for name, kind in named.items() if kind == "ignored")
        how = {"text": "text", **{name: kind for name, kind in named.items() if kind != "ignored"}}
        options = _Options(
            int(self.slots), int(self.bits), how, ignore, crosses, self.unknown == "error", float(self.clip),
            1.0 - float(self.forgetting), dtype,
        )
        return options._replace(reader=self._reader(options))

    def _reader(self, options: _Options) -> RowReader:
        def words_of(name: str, text: str | bytes) -> tuple[np.ndarray, np.ndarray]:
            found = self._words(name, [text], options, np.ones(1, bool))
            return found.indices, found.data

        return RowReader(options, as_text, features_of, words_of)

    # --- rows ----------------------------------------------------------------------------------------------------------------

    def _plan(
        self, X: Any, sample_weight: ArrayLike | None, options: _Options, learnt: Learnt, learn: bool, before: list | None = None,
    ) -> tuple[Any, Learnt]:
        """Return the rows of a table, and what is known after them. Nothing that there was is changed.

        before : a list to which the rows are added as `transform` would have returned each of them just before it was learnt.
        """
        who, weights = type(self).__name__, _NO_WEIGHTS

        def live_rows(n: int) -> np.ndarray:
            nonlocal weights
            weights = validate.read_weights(who, sample_weight, n)
            if len(weights) and weights.max(initial=0.0) > _LARGEST_WEIGHT:
                raise ValueError(f"{who}: sample_weight must be at most {_LARGEST_WEIGHT:g}, got {weights.max():g}.")
            return weights > 0.0 if len(weights) else np.ones(n, bool)

        n, columns, live = read_table(who, X, live_rows)
        learnt = learnt.copy() if learn else learnt
        table = self._read_columns(columns, options, learnt, live if learn else live[:0])
        if options.is_strict:
            self._require_columns(table, learnt, live, learn)
        table = dict(sorted(table.items(), key=lambda pair: learnt.known(pair[0]).order))  # (new columns stay in their order)
        parts = [(name, place, part) for name, cells in table.items() for place, part in cells.parts.items()]
        if not live.all():
            for _, _, part in parts:
                part.hide(~live)
        if learn:
            learnt.t += int(live.sum())
            self._see(table, learnt, live)
        for name, place, part in parts:
            if place == DAYS:
                set_origin(part, learnt.known(name).origin)
        given = [part for _, _, part in parts]
        crossed = self._crossed(table, options)
        everything = given + crossed
        fresh = self._give_slots(everything, len(given), options, learnt) if learn else []
        lines, signs = [], []
        for at, part in enumerate(everything):
            line, sign = self._places(part, options, learnt, learn, at < len(given))
            lines.append(line)
            signs.append(sign)
        self._standardise(given, lines[: len(given)], options, learnt, learn, weights, before is not None)
        values = [part.values() * sign for part, sign in zip(everything, signs, strict=True)]
        rows = self._rows(n, lines, values, table, options, live)
        if before is not None:
            n_known = len(learnt.features) - len(fresh) + np.searchsorted(fresh, np.arange(n))
            known = _known_before(lines, n_known, options.slots)
            values = [part.values(before=True) * sign for part, sign in zip(everything, signs, strict=True)]
            before.append(self._rows(n, known, values, table, options, live))
        return rows, learnt

    def _read_columns(self, columns: dict, options: _Options, learnt: Learnt, live: np.ndarray) -> dict[str, Cells]:
        """Read all columns, and check the kinds of those whose types have named one."""
        who, table = type(self).__name__, {}
        for name, column in columns.items():
            if name in options.ignore:
                continue
            how = options.how.get(name)
            if how == "text" and not options.bits:
                raise ValueError(
                    f"{who}: a column of texts must have hashed columns, got {name!r} with bits=0. Set bits, or name the column "
                    "in categories= or ignore=."
                )
            known = learnt.known(name)
            table[name] = cells = cells_of(who, name, column, how, known, live)
            before = (known.typed,) if known.typed is not None else known.kinds if cells.typed else ()
            for kind, rows in cells.kinds.items():
                other = next((each for each in before if each not in ("missing", kind)), None)
                if kind != "missing" and other is not None and rows.any():
                    raise self._changed(name, int(rows.argmax()), other, kind)
        return table

    def _changed(self, name: str, row: int, before: str, came: str) -> ValueError:
        return ValueError(
            f"{type(self).__name__}: a column with a type must keep it, got column {name!r} of kind {before!r} before and "
            f"{came!r} in row {row}. Convert one of them, or name the column in categories= or numbers= from the start."
        )

    def _require_columns(self, table: dict[str, Cells], learnt: Learnt, live: np.ndarray, learn: bool) -> None:
        """Raise a ValueError unless each row of weight > 0 has the columns of the first one."""
        who = type(self).__name__
        if learn and learnt.expected is None and live.any():
            first = int(live.argmax())
            learnt.expected = frozenset(name for name, cells in table.items() if cells.there[first])
        expected = learnt.expected or frozenset()
        for name in {**dict.fromkeys(table), **dict.fromkeys(sorted(expected))} if live.any() else ():
            there = table[name].there & live if name in table else np.zeros(len(live), bool)
            wrong = there if name not in expected else live & ~there
            if wrong.any():
                problem = "a column that is unknown" if name not in expected else "a row that lacks the column"
                raise ValueError(
                    f"{who}: with unknown='error' each row must have the columns of the first one, got {problem}, {name!r}, in "
                    f"row {int(wrong.argmax())}. Set unknown='ignore', or give rows with these columns."
                )

    def _see(self, table: dict[str, Cells], learnt: Learnt, live: np.ndarray) -> None:
        """Note columns, their kinds, the types that named them, and first dates."""
        for name, cells in table.items():
            there = cells.there & live
            if not there.any():
                continue
            firsts = {kind: int((rows & live).argmax()) for kind, rows in cells.kinds.items() if (rows & live).any()}
            days, origin = cells.parts.get(DAYS), None
            if days is not None and (days.codes >= 0).any():
                origin = float(days.x[(days.codes >= 0).argmax()])
            typed = cells.typed if cells.typed in firsts else None
            learnt.see(name, sorted(firsts, key=lambda kind: firsts[kind]), typed, origin)

    def _crossed(self, table: dict[str, Cells], options: _Options) -> list[Part]:
        found = []
        for a, b in options.crosses:
            if a in table and b in table:
                found += [Part.crossed(one, other) for one in table[a].parts.values() for other in table[b].parts.values()]
        return found

    def _give_slots(self, parts: list[Part], n_given: int, options: _Options, learnt: Learnt) -> list[int]:
        """Give slots to features in the order of their first rows, and of the columns in a row, as far as there are any; return
        the row of each slot that was given. n_given : parts that are no crosses.
        """
        fresh = []
        for place, part in enumerate(parts):
            if learnt.is_full and not options.is_strict:
                break
            for code, row in _firsts(part.codes):
                feature = part.names[code]
                if feature not in learnt.features:
                    fresh.append((row, place, feature, part.x is not None, place < n_given))
        given = []
        for row, _, feature, is_number, is_given in sorted(fresh):
            if learnt.is_full:
                if options.is_strict and not options.bits and is_given and not feature.endswith("=?"):
                    raise self._unknown(feature, row, f"and all {options.slots} slots have one")
            elif feature not in learnt.features:
                learnt.add_slot(feature, is_number)
                given.append(row)
        return given

    def _unknown(self, feature: str, row: int, why: str) -> ValueError:
        return ValueError(
            f"{type(self).__name__}: with unknown='error' each feature must have a column, got {feature!r} in row {row}, which "
            f"is new, {why}. Set unknown='ignore', or give more slots or bits."
        )

    def _places(
        self, part: Part, options: _Options, learnt: Learnt, learn: bool, is_given: bool
    ) -> tuple[np.ndarray, np.ndarray | float]:
        """Return the column of each row's feature, -1 where it has none, and the sign of its value."""
        found = learnt.place(part.names[0]) if len(part.names) == 1 else None
        if found is not None and not part.codes.any():  # (a number that is always there)
            return np.full(len(part.codes), found, np.int32), 1.0
        places, signs = np.full(len(part.names) + 1, -1, np.int32), np.ones(len(part.names) + 1)
        can_hash = options.bits and learnt.is_full
        for code, row in _firsts(part.codes):
            feature = part.names[code]
            found = learnt.place(feature)
            if found is not None:
                places[code] = found
            elif can_hash:
                places[code], signs[code] = column_of(feature, options.slots, options.n_hashed)
            elif options.is_strict and is_given and not learn and not feature.endswith("=?"):
                raise self._unknown(feature, row, "and transform learns none")
        return places[part.codes], signs[part.codes] if (signs < 0.0).any() else 1.0

    def _standardise(
        self, parts: list[Part], lines: list[np.ndarray], options: _Options, learnt: Learnt, learn: bool, weights: np.ndarray,
        before: bool,
    ) -> None:
        """Write the standardised values of numbers, and learn them. Numbers that share a hashed column share a record, too."""
        groups: dict[int, list[Part]] = {}
        for part, line in zip(parts, lines, strict=True):
            if part.x is None:
                continue
            part.value = part.before = np.zeros(len(part.x))
            column = int(line.max(initial=-1))
            at = (learnt.features.get(part.names[0]) or (-1, -1))[1]
            if column >= options.slots:
                at = learnt.add_hashed(column) if learn else learnt.hashed.get(column)
                if at is None:  # (no number has come there)
                    apply_column(part.x, np.zeros(N_RECORD), options.clip, part.value)
            if at is not None and at >= 0:
                groups.setdefault(at, []).append(part)
        for at, group in groups.items():
            record, x = learnt.records.read(at), np.ascontiguousarray(np.column_stack([part.x for part in group]).reshape(-1))
            z, y = np.empty(len(x)), np.empty(len(x) if before else 0)
            if learn:
                learn_column(x, np.repeat(weights, len(group)), record, options.clip, options.keep, z, y, len(group))
                learnt.records.write(at, record)
            else:
                apply_column(x, record, options.clip, z)
            for k, part in enumerate(group):
                part.value, part.before = z[k :: len(group)], y[k :: len(group)]

    def _rows(
        self, n: int, lines: list, values: list, table: dict[str, Cells], options: _Options, live: np.ndarray
    ) -> Any:
        places = np.concatenate([*lines, np.empty(0, np.int32)]).reshape(len(lines), n)
        numbers = np.concatenate([*values, np.empty(0)]).reshape(len(lines), n)
        if not options.bits:
            dense, (part, row) = np.zeros((n, options.slots)), np.nonzero(places >= 0)
            np.add.at(dense.reshape(-1), row * options.slots + places[part, row], numbers[part, row])  # (features may share one)
            return dense.astype(options.dtype, copy=False)
        data, indices, indptr = assemble(places, numbers)
        rows = Rows(data, indices, indptr, n, options.width).matrix()
        for name, cells in table.items():
            if cells.texts is not None and n:
                rows = rows + self._words(name, cells.texts, options, live)
        rows.data = rows.data.astype(options.dtype, copy=False)
        return sparse_rows(rows)

    def _words(self, name: str, texts: list, options: _Options, live: np.ndarray) -> Any:
        """Return the rows of a column's words; the hash of its name sends them to columns other than those of another column."""
        texts = texts if live.all() else [text if at else "" for text, at in zip(texts, live.tolist(), strict=True)]
        kept = self.__dict__.get("_kept_words")
        names = None if kept is None else kept.setdefault(name, FeatureNames(kept.most))
        hashing = HashingVectorizer(n_features=options.n_hashed, feature_names=names, decode_error="replace")
        found = hashing.transform(texts)
        indices = (found.indices ^ _namespace_of(name, options.n_hashed)) + options.slots
        found = type(found)((found.data, indices.astype(np.int32), found.indptr), shape=(len(texts), options.width))
        found.sort_indices()
        return found

    # --- one row -------------------------------------------------------------------------------------------------------------

    def _read_row(self, X: Any, options: _Options, learnt: Learnt, learn: bool) -> tuple[Any, Learnt] | None:
        """Return the row of a table that is a list of one dict, and what is known after it; None if it must go the long way."""
        if options.reader is None or type(X) is not list or len(X) != 1 or type(X[0]) is not dict:
            return None
        found = options.reader.read(X[0], learnt, learn)
        if found is None:
            return None
        data, indices, after = found
        data = data.astype(options.dtype, copy=False)
        if options.bits:
            return sparse_rows(Rows(data, indices, np.array((0, len(data))), 1, options.width).matrix()), after
        dense = np.zeros((1, options.slots), options.dtype)
        dense[0, indices] = data
        return dense, after


def _namespace_of(name: str, n_hashed: int) -> int:
    """Return what moves the columns of one text column's words away from those of another's."""
    return hash_of(name) & (n_hashed - 1)


class _KeptWords(dict):
    """Hold the words of each column of texts; most : how many of each."""

    most = 0


def _known_before(lines: list[np.ndarray], n_known: np.ndarray, n_slots: int) -> list[np.ndarray]:
    """Return the columns of rows without those that were given in the row itself or, hashed, by when no slot was left.

    n_known : slots that were given before each row.
    """
    return [np.where((line >= n_known) & (n_known < n_slots), np.int32(-1), line) for line in lines]


def _firsts(codes: np.ndarray) -> list[tuple[int, int]]:
    """Return each code that is not -1, with the first row that has it."""
    if not len(codes):
        return []
    if not codes.any():  # (a number that is always there)
        return [(0, 0)]
    rows = np.full(codes.max() + 2, -1)
    rows[codes[::-1] + 1] = np.arange(len(codes) - 1, -1, -1)  # (where several rows have a code, the last one written stays)
    return [(code, row) for code, row in enumerate(rows[1:].tolist()) if row >= 0]


# --- for pipelines -------------------------------------------------------------------------------------------------------------


def learnt_of(vectorizer: TableVectorizer) -> Learnt | None:
    """Return what a vectorizer has learnt, which never changes; None before it has learnt anything."""
    return vectorizer.__dict__.get("_learnt")


def plan(vectorizer: TableVectorizer, learnt: Learnt | None, X: Any, sample_weight: ArrayLike | None) -> tuple[Any, Learnt]:
    """Return rows as `learn_transform` does of one that has learnt this, and what it has learnt after them."""
    options = vectorizer._options(learnt)
    if learnt is None:
        learnt = Learnt((options.slots, options.bits))
    if sample_weight is None and (found := vectorizer._read_row(X, options, learnt, learn=True)) is not None:
        return found
    return vectorizer._plan(X, sample_weight, options, learnt, learn=True)


def rows_of(vectorizer: TableVectorizer, learnt: Learnt, X: Any) -> Any:
    """Return rows as `transform` does of a vectorizer that has learnt this."""
    options = vectorizer._options(learnt)
    found = vectorizer._read_row(X, options, learnt, learn=False)
    return (found or vectorizer._plan(X, None, options, learnt, learn=False))[0]


def planned(vectorizer: TableVectorizer, X: Any, sample_weight: ArrayLike | None) -> tuple[Any, Callable[[], None]]:
    """Return rows as `learn_transform` does, and a function that makes the vectorizer learn them."""
    rows, after = plan(vectorizer, learnt_of(vectorizer), X, sample_weight)
    return rows, lambda: setattr(vectorizer, "_learnt", after)


def planned_progressively(vectorizer: TableVectorizer, X: Any, sample_weight: ArrayLike | None) -> tuple:
    """Return rows as `transform` would have returned each just before it was learnt, and what `planned` returns."""
    learnt = learnt_of(vectorizer)
    options = vectorizer._options(learnt)
    before: list[Any] = []
    learnt = Learnt((options.slots, options.bits)) if learnt is None else learnt
    rows, after = vectorizer._plan(X, sample_weight, options, learnt, True, before)
    return before[0], rows, lambda: setattr(vectorizer, "_learnt", after)


def described(vectorizer: TableVectorizer) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Describe what a vectorizer has learnt by what JSON holds, and arrays."""
    return vectorizer._fitted().described()


def units_of(vectorizer: TableVectorizer) -> dict[str, float]:
    """Return 1 / standard deviation of each number that has a slot and is standardised: what turns its weight into its units."""
    learnt, found = vectorizer._fitted(), {}
    for feature, record in learnt.numbers.items():
        n, _, squares, not_binary = record.tolist()
        if not_binary and n and 0.0 < squares / n <= _LARGEST_VARIANCE:
            found[feature] = (n / squares) ** 0.5
    return found


def merged_with_moves(vectorizers: list[TableVectorizer]) -> tuple[TableVectorizer, list[Move]]:
    """Return a vectorizer that has taken all of these in, and the move from the columns of each to its own."""
    merged = vectorizers[0]._sharing()
    merged._learnt = vectorizers[0]._fitted().copy()
    merged.merge(*vectorizers[1:])
    for each in vectorizers:
        require_slots(each._fitted(), merged._learnt)
    crossed = frozenset(name for pair in merged._options(merged._learnt).crosses for name in pair)
    return merged, [move_between(each._fitted(), merged._learnt, each.n_features_out_, crossed) for each in vectorizers]


def keep_words(vectorizer: TableVectorizer, most: int) -> None:
    """Keep up to `most` words of each column of texts from now on, for `word_of`."""
    vectorizer._kept_words = _KeptWords()
    vectorizer._kept_words.most = most


def word_of(vectorizer: TableVectorizer, column: int) -> tuple[str | None, bool, int]:
    """Return the word that a hashed column stands for, or None; whether others share it; and the sign of its values."""
    options = vectorizer._options(learnt_of(vectorizer))
    for name, words in vectorizer.__dict__.get("_kept_words", {}).items():
        found, shared, sign = words.look_up((column - options.slots) ^ _namespace_of(name, options.n_hashed))
        if found is not None:
            return f"{name}: {found}", shared, sign
    return None, False, 1


def rebuild(vectorizer: TableVectorizer, header: dict, arrays: dict[str, np.ndarray]) -> TableVectorizer:
    """Give a new vectorizer what `described` returned, which need not be trusted."""
    options = vectorizer._options(learnt_of(vectorizer))
    vectorizer._learnt = Learnt.of_file(header, arrays, (options.slots, options.bits), options.width)
    return vectorizer


