"""`TableVectorizer`: tables to rows of numbers, while they stream."""

from __future__ import annotations

from contextlib import suppress
from operator import is_
from typing import TYPE_CHECKING

import numpy as np

from .._estimators.estimator import Estimator
from .._estimators.learner import read_weights_of_fit
from .._estimators.merging import unchanged
from .._files import require
from .._input.compat import not_fitted, tags, warn_caller
from ..text import lasting
from ._learnt import Learnt
from ._rows import AUTO_BITS, Options, TableReader

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, Literal, Self

    from numpy.typing import ArrayLike, DTypeLike, NDArray
    from sklearn.utils import Tags

_LARGEST_VARIANCE = 1e308  # of numbers that are standardised (_cells.pyx)


class TableVectorizer(Estimator):
    r"""Turn the rows of tables into numbers while they stream: each column of numbers standardised by what has come so far.

    A number x of a column becomes :math:`(x - \mu) / \sqrt{S / n}` within [-clip, clip], where n is the sum of the weights of the
    column's rows so far, μ their weighted mean, and S the sum of squared deviations from it (Welford's update, row by row); 0
    while S is 0. Columns whose values have all been 0 or 1 so far stay as they are. A text v of a column c becomes the feature
    "c=v", with value 1, and a missing value the feature "c=?". A boolean is 0 or 1. A date becomes the days since the column's
    first date, standardised, and the sine and cosine of the part of its week and year (of 365.2425 days), and, unless it is
    midnight, of its day and half day, the cosine less 1; dates with a time zone are read in UTC. A list of numbers becomes as
    many numbers, one of names as many features "c=v"; a dict is read as columns with dotted names.

    A value has the same kind wherever it comes from: ``"12"``, ``"$12"``, ``"5 %"``, ``"1,234.5"`` and 12 are numbers,
    ``"true"``, ``"yes"`` and True booleans, ``"2024-05-01"``, ``"01.05.2024 10:30"`` and ``datetime`` objects dates, ``""``,
    ``"?"``, ``"N/A"``, ``"null"`` and None missing; docs/values.md lists all spellings. Some depend on what the column has shown
    in the rows before: in one of ids (``"a99f214a"``, ``"02134"``) whole numbers are names. Any split of a stream into calls
    gives the same rows, to the last bit. `fit` looks at the first 1,000 rows together.

    Features get the first `slots` columns in the order in which they appear. Later ones, and the words of texts, are hashed into
    the 2^bits columns behind, so that the width never changes.

    Parameters
    ----------
    bits : int in 0..30 or "auto", default=18
        Base-2 logarithm of the number of hashed columns. 0: none, and rows are dense arrays of `slots` columns. "auto": as the
        first 1,000 rows of `fit`, or of the first call that learns, need: 0, with twice as many slots as they have features, 32
        at least; 18 if `slots` do not hold these, if there is a column of texts, or if the first call has less than 100 rows, or
        less than 1,000 in which features still appear.
    slots : int in 1..2**20, default=256
        Features with a column of their own; with bits="auto", at most.
    texts : sequence of str, default=()
        Columns of texts, hashed by their words as by `onlinecls.text.HashingVectorizer`, each text in rows of unit length. A
        column named "text" is one of them unless another parameter names it.
    categories : sequence of str, default=()
        Columns whose values are all names, numbers among them.
    numbers : sequence of str, default=()
        Columns whose values must all be numbers, or missing.
    ignore : sequence of str, default=()
        Columns to leave out.
    dates : dict of str to str or None, default=()
        Columns whose values must all be dates, or missing, with their format, as of ``datetime.strptime`` (None: any that
        docs/values.md lists): ``{"day": "%d/%m/%Y"}``.
    decimal : {".", ","}, default="."
        What stands before decimals in texts that are numbers; the other one may stand between thousands.
    unknown : {"warn", "ignore", "error"}, default="warn"
        Treatment of what has no column. A column or name that `transform` meets first is left out, and a column that a row lacks
        has no features in it; "warn": where most columns have been in all rows learnt, `transform` refuses a row that lacks more
        than half of these, which is one of another table, and warns once of a row that lacks any. "error": every row must have
        the columns of the first one, and `transform` names that have been learnt. (A missing value is neither.)
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
        Columns in the order of their first appearance, each with the kinds of values it has had: "number", "boolean",
        "category", "date", "list", "text", "missing". At most 4,096 columns, or as many as the rows are wide up to 65,536.
    statistics_ : dict of str to tuple of (float, float, float)
        Weight, mean and standard deviation of each number that has a slot. (A deviation beyond about 1e154 over the root of the
        weight is inf, and the column's numbers become 0.)
    n_features_out_ : int
        Width of the rows: slots + 2^bits (bits=0: slots).
    feature_names_in_ : ndarray of str
        The columns of `schema_`; not there for arrays, whose columns have no names.
    n_features_in_ : int
        Number of these columns.

    Raises
    ------
    ValueError
        If a parameter is not valid; if a number is infinite or beyond 1e150; if a name or column's name has half of a surrogate
        pair; if a column has what `numbers` or `dates` rule out; if columns are of different lengths or share a name; of what is
        unknown, by `unknown`; if `fit` has no row of weight > 0. Nothing is learnt then.
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

    bits: int | Literal["auto"]
    slots: int
    texts: Sequence[str]
    categories: Sequence[str]
    numbers: Sequence[str]
    ignore: Sequence[str]
    dates: Mapping[str, str | None] | tuple[()]
    decimal: Literal[".", ","]
    unknown: Literal["warn", "ignore", "error"]
    clip: float
    forgetting: float
    dtype: DTypeLike
    _learnt: Learnt
    _in_place = frozenset({"_learnt"})

    def __init__(
        self, bits: int | Literal["auto"] = 18, *, slots: int = 256, texts: Sequence[str] = (), categories: Sequence[str] = (),
        numbers: Sequence[str] = (), ignore: Sequence[str] = (),
        dates: Mapping[str, str | None] | tuple[()] = (), decimal: Literal[".", ","] = ".",
        unknown: Literal["warn", "ignore", "error"] = "warn", clip: float = 10.0,
        forgetting: float = 0.0, dtype: DTypeLike = np.float64,
    ) -> None:
        self._assign(locals())

    def __sklearn_tags__(self) -> Tags:
        return tags(None, string=True, categorical=True, dict=True, allow_nan=True)  # (its cells may be missing)

    def __sklearn_is_fitted__(self) -> bool:
        return "_learnt" in self.__dict__

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
            reader, known = self._to_learn(X)
            rows, after = reader.read(X, sample_weight, known, learn=True)
            self._learn(known, after)
        return rows

    def transform(self, X: Any) -> Any:
        """Return rows, standardised by the statistics so far, without learning anything.

        Returns
        -------
        rows : CSR matrix of shape (n_rows, n_features_out_); with bits=0 an ndarray
        """
        learnt = self._fitted()
        return self._reader(learnt).read(X, None, learnt, learn=False)[0]

    def fit(self, X: Any, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the columns, names and statistics of rows from scratch. Returns the vectorizer."""
        with self._own_lock():
            reader, known = self._to_learn(X, anew=True)
            rows, learnt = reader.read(X, sample_weight, known, learn=True, looks_ahead=True)
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
            self._reader()  # (which refuses other slots and bits than those of what was learnt)
            found = self._known().copy()
            for other in others:
                if other.__sklearn_is_fitted__():
                    found.take_in(other._learnt)
            self._learnt = found
        return self

    # --- what was learnt -----------------------------------------------------------------------------------------------------

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:  # type: ignore[override]
        """The columns of the tables learnt, in the order in which they came; none of arrays, whose columns have no names."""
        names = list(self.schema_)
        if names == [f"x{k}" for k in range(len(names))]:
            raise AttributeError(f"{type(self).__name__}: feature_names_in_ must be of columns with names, got arrays.")
        return np.array(names, dtype=object)

    @property
    def n_features_in_(self) -> int:  # type: ignore[override]
        """The number of columns of the tables learnt."""
        return len(self.schema_)

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
        return self._reader().options.width

    def _known(self) -> Learnt:
        """Return what has been learnt, which never changes."""
        return self.__dict__.get("_learnt") or self._reader().begin()

    def _fitted(self) -> Learnt:
        if "_learnt" not in self.__dict__:
            raise not_fitted(type(self).__name__)
        return self._learnt

    def _learn(self, known: Learnt, after: Learnt) -> None:
        """Take what is known after rows, and warn once of slots that bits="auto" chose and the rest of the stream has filled."""
        self._learnt = after
        if self.bits == "auto" and not after.shape[1] and after.is_full and not known.is_full:
            warn_caller(
                f"{type(self).__name__}: all {after.shape[0]} slots that bits='auto' chose have a feature, later ones are left "
                "out. Let the first call have more rows, or set bits=18."
            )

    def _to_learn(self, X: Any, anew: bool = False) -> tuple[TableReader, Learnt]:
        """Return a reader of what is to be learnt, and what is known before it. anew : X is all there is, or its beginning."""
        known = None if anew else self.__dict__.get("_learnt")
        if known is None:
            reader = self._reader(anew=anew)
            known = reader.begin() if self.bits != "auto" else Learnt(reader.shape_of(X, int(self.slots), anew))
        return self._reader(known), known

    # --- parameters ----------------------------------------------------------------------------------------------------------

    def _reader(self, learnt: Learnt | None = None, anew: bool = False) -> TableReader:
        """Return a reader with the parameters, checked, for what was learnt; they are checked again when one of them is another
        object."""
        values, checked = self._parameter_values()(self.__dict__), self.__dict__.get("_checked")
        if checked is None or not all(map(is_, checked[0], values)):
            self._checked = checked = values, TableReader(type(self).__name__, self._check())
        reader, learnt = checked[1], None if anew else learnt or self.__dict__.get("_learnt")
        if learnt is not None and learnt.shape != (reader.options.slots, reader.options.bits):
            slots, bits = learnt.shape
            if self.bits == "auto" and slots <= self.slots and bits in (0, AUTO_BITS):
                reader = TableReader(type(self).__name__, reader.options._replace(slots=slots, bits=bits))
                self._checked = values, reader
                return reader
            raise ValueError(
                f"{type(self).__name__}: slots and bits must be those of the first call, {learnt.shape}, got "
                f"slots={self.slots!r} and bits={self.bits!r}. Set them back, or start with clone(vectorizer)."
            )
        return reader

    def _check(self) -> Options:
        who = type(self).__name__

        def require(condition: bool, name: str, needed: str) -> None:
            if not condition:
                raise ValueError(f"{who}: {name} must be {needed}, got {name}={getattr(self, name)!r}.")

        def is_number(value: object, kinds: tuple = (int, float, np.integer, np.floating)) -> bool:
            return isinstance(value, kinds) and not isinstance(value, bool)

        whole = (int, np.integer)
        bits: Any = self.bits
        is_auto = isinstance(bits, str) and bits == "auto"
        require(is_auto or (is_number(bits, whole) and 0 <= bits <= 30), "bits", "an integer in 0..30 or 'auto'")
        require(is_number(self.slots, whole) and 1 <= self.slots <= 2**20, "slots", "an integer in 1..2**20")
        known = isinstance(self.unknown, str) and self.unknown in ("warn", "ignore", "error")
        require(known, "unknown", "'warn', 'ignore' or 'error'")
        require(isinstance(self.decimal, str) and self.decimal in (".", ","), "decimal", "'.' or ','")
        forms: dict = {}
        with suppress(TypeError, ValueError):
            forms = dict(self.dates)
        right = len(forms) == len(self.dates) and all(isinstance(form, str | None) for form in forms.values())
        require(right, "dates", "a dict of names of columns and their formats (of strptime), or None for any")
        require(is_number(self.clip) and 0.0 < self.clip <= 1e6, "clip", "a number in (0, 1e6]")
        require(is_number(self.forgetting) and 0.0 <= self.forgetting <= 0.1, "forgetting", "a number in [0, 0.1]")
        named: dict[str, str] = {}
        kinds = {"texts": "text", "categories": "category", "numbers": "number", "dates": "date", "ignore": "ignored"}
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
            dtype = np.dtype(self.dtype)
        except (TypeError, ValueError, SyntaxError):
            dtype = np.dtype(object)
        require(dtype in (np.float32, np.float64), "dtype", "float32 or float64")
        ignore = frozenset(name for name, kind in named.items() if kind == "ignored")
        how = {"text": "text", **{name: kind for name, kind in named.items() if kind != "ignored"}}
        return Options(
            int(self.slots), AUTO_BITS if is_auto else int(bits), how, ignore, forms, self.decimal, self.unknown,
            float(self.clip), 1.0 - float(self.forgetting), dtype,
        )


# --- for pipelines, and for the command line -----------------------------------------------------------------------------------


def planned(vectorizer: TableVectorizer, X: Any, sample_weight: ArrayLike | None) -> tuple[Any, Callable[[], None]]:
    """Return rows as `learn_transform` does, and a function that makes the vectorizer learn them."""
    reader, known = vectorizer._to_learn(X)
    rows, after = reader.read(X, sample_weight, known, learn=True)
    return rows, lambda: vectorizer._learn(known, after)


def planned_progressively(vectorizer: TableVectorizer, X: Any, sample_weight: ArrayLike | None) -> tuple:
    """Return rows as `transform` would have returned each just before it was learnt, and what `planned` returns."""
    reader, known = vectorizer._to_learn(X)
    before, rows, after = reader.read_progressively(X, sample_weight, known)
    return before, rows, lambda: vectorizer._learn(known, after)


def look_ahead(vectorizer: TableVectorizer, rows: list) -> dict[str, tuple[str, ...]]:
    """Let a vectorizer that has learnt nothing see what the values of rows show of their columns together, as `fit` does; return
    the columns and their kinds."""
    reader, known = vectorizer._to_learn(rows, anew=True)
    vectorizer._learnt, kinds = reader.look_ahead(rows, known)
    return kinds


def described(vectorizer: TableVectorizer) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Describe what a vectorizer has learnt by what JSON holds, and arrays."""
    return vectorizer._fitted().described()


def rebuild(vectorizer: TableVectorizer, header: dict, arrays: dict[str, np.ndarray]) -> TableVectorizer:
    """Give a new vectorizer what `described` returned, which need not be trusted."""
    vectorizer._reader()  # (which checks the parameters)
    slots, bits = vectorizer.slots, vectorizer.bits
    if bits == "auto":
        shape = header["shape"]
        require(type(shape) is list and len(shape) == 2 and all(type(each) is int for each in shape), "slots and bits", shape)
        require(0 < shape[0] <= slots and shape[1] in (0, AUTO_BITS), "slots and bits", shape)
        slots, bits = shape
    vectorizer._learnt = Learnt.of_file(header, arrays, (slots, bits), slots + (1 << bits if bits else 0))
    return vectorizer


def shape_of(vectorizer: TableVectorizer) -> tuple[int, int]:
    """Return the number of slots and the bits of the rows."""
    return vectorizer._known().shape


def slot_names(vectorizer: TableVectorizer) -> list[str]:
    """Return the names of the features that have a slot, in the order of slots."""
    return list(vectorizer._fitted().slots)


def units_of(vectorizer: TableVectorizer) -> dict[str, float]:
    """Return 1 / standard deviation of each number that has a slot and is standardised: what turns its weight into its units."""
    learnt, found = vectorizer._fitted(), {}
    for feature, record in learnt.numbers.items():
        n, _, squares, not_binary = record.tolist()
        if not_binary and n and 0.0 < squares / n <= _LARGEST_VARIANCE:
            found[feature] = (n / squares) ** 0.5
    return found


def keep_words(vectorizer: TableVectorizer, most: int) -> None:
    """Keep up to `most` words of each column of texts from now on, for `word_of`."""
    vectorizer._reader().n_words = most


def word_of(vectorizer: TableVectorizer, column: int) -> tuple[str | None, bool, int]:
    """Return the word that a hashed column stands for, or None; whether others share it; and the sign of its values."""
    return vectorizer._reader().word_of(column)
