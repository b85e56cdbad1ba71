"""`TableVectorizer`: tables to rows of numbers, while they stream."""

from __future__ import annotations

from copy import copy
from operator import is_
from typing import TYPE_CHECKING

import numpy as np

from .._estimators.estimator import Estimator
from .._estimators.learner import read_weights_of_fit
from .._estimators.merging import unchanged
from .._input import validate
from .._input.compat import not_fitted, tags
from .._rows import Rows
from ..text import lasting, sparse_rows
from ._cells import Cells, rebuilt
from ._columns import read_table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Self

    from numpy.typing import ArrayLike, DTypeLike, NDArray
    from sklearn.utils import Tags

_LARGEST_WEIGHT = 1e100


class TableVectorizer(Estimator):
    r"""Turn the rows of tables into numbers while they stream: each column of numbers standardised by what has come so far.

    What a value becomes depends on its type alone, wherever it comes from. A number x of a column c is the feature "c", of value
    :math:`(x - \mu) / \sqrt{S / n}` within [-clip, clip], where n is the sum of the weights of the column's numbers so far, μ
    their weighted mean, and S the sum of squared deviations from it (Welford's update, row by row); 0 while S is 0. A text v is
    the feature "c=v" of value 1, a boolean "c=True" or "c=False", and None or NaN "c=?". A date or time is the number
    "c.seconds", of seconds since 1970 in UTC, and the features "c.month=5", "c.weekday=0" (Monday) and "c.hour=14". A list is
    each of its items: texts as values of c, the others as columns "c.0", "c.1" ..; a dict is columns with dotted names.

    Features get columns of their own in the order in which they appear, up to `max_values`. Later ones are hashed into the
    2^bits columns behind, so that the width never changes. Any split of a stream into calls gives the same rows, to the last bit.

    Parameters
    ----------
    bits : int in 0..30, default=18
        Base-2 logarithm of the number of hashed columns. 0: none, and rows are dense arrays of `max_values` columns.
    max_values : int in 1..2**20, default=256
        Features with a column of their own.
    ignore : sequence of str, default=()
        Columns to leave out.
    clip : float, default=10.0
        Largest magnitude of a standardised number, in (0, 1e6].
    dtype : {np.float32, np.float64}, default=np.float64
        Type of the rows.

    Attributes
    ----------
    statistics_ : dict of str to tuple of (float, float, float)
        Weight, mean and standard deviation of each number.
    n_features_out_ : int
        Width of the rows: max_values + 2^bits (bits=0: max_values).
    feature_names_in_ : ndarray of str
        The columns in the order of their first appearance, at most 65,536; not there for arrays, whose columns have no names.
    n_features_in_ : int
        Number of these columns.

    Raises
    ------
    ValueError
        If a parameter is not valid; if a number is infinite or beyond 1e150; if a text or name has half of a surrogate pair; if
        columns are of different lengths or share a name; if `transform` gets a table none of whose columns has been learnt; if
        `fit` has no row of weight > 0. Nothing is learnt then.
    TypeError
        If X is no table, or a value is of no type above (its column and row are named). Nothing is learnt then.

    Notes
    -----
    A row of weight 0 is ignored, and `learn_transform` returns zeros for it. `learn_transform` standardises a row by statistics
    that include it, `transform` by those before it. A feature that `transform` meets first has no column of its own.

    References
    ----------
    .. [1] B. P. Welford. Note on a method for calculating corrected sums of squares and products. Technometrics 4, 1962.

    Examples
    --------
    >>> from onlinecls.tables import TableVectorizer
    >>> rows = [{"age": 20, "city": "Oslo"}, {"age": 40, "city": "Rome"}, {"age": None, "city": "Oslo"}]
    >>> vectorizer = TableVectorizer(bits=0, max_values=4)
    >>> vectorizer.fit_transform(rows).tolist()
    [[-1.0, 1.0, 0.0, 0.0], [1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0]]
    >>> vectorizer.get_feature_names_out().tolist()
    ['age', 'city=Oslo', 'city=Rome', 'age=?']
    """

    bits: int
    max_values: int
    ignore: Sequence[str]
    clip: float
    dtype: DTypeLike
    _cells: Cells
    _in_place = frozenset({"_cells"})

    def __init__(
        self, bits: int = 18, *, max_values: int = 256, ignore: Sequence[str] = (), clip: float = 10.0,
        dtype: DTypeLike = np.float64,
    ) -> None:
        self._assign(locals())

    def __sklearn_tags__(self) -> Tags:
        return tags(None, string=True, categorical=True, dict=True, allow_nan=True)  # (its cells may be missing)

    # --- learning ------------------------------------------------------------------------------------------------------------

    def partial_fit(self, X: Any, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the columns, values and statistics of rows, from where the vectorizer is.

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
            (rows,), self._cells = self._read(self._known(), X, sample_weight, True)
        return rows

    def transform(self, X: Any) -> Any:
        """Return rows, standardised by the statistics so far, without learning anything.

        Returns
        -------
        rows : CSR matrix of shape (n_rows, n_features_out_); with bits=0 an ndarray
        """
        with self._own_lock().waiting():
            return self._read(self._fitted(), X, None, False)[0][0]

    def fit(self, X: Any, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the columns, values and statistics of rows from scratch. Returns the vectorizer."""
        with self._own_lock():
            (rows,), cells = self._read(self._known(anew=True), X, sample_weight, True)
            if not rows.shape[0]:
                raise ValueError(f"{type(self).__name__}: Found array with 0 sample(s) while a minimum of 1 is required.")
            read_weights_of_fit(type(self).__name__, sample_weight, rows.shape[0])
            self._cells = cells
        return self

    def fit_transform(self, X: Any, y: object = None, sample_weight: ArrayLike | None = None) -> Any:
        """Learn rows from scratch, and return them, all standardised by the statistics of all of them."""
        X = lasting(X)
        return self.fit(X, y, sample_weight).transform(X)

    def merge(self, *others: Any) -> Self:
        """Take in what others have learnt from rows of their own: counts, means and squared deviations add up (Chan's formula).

        Features that are new here get columns behind those that have one. Returns the vectorizer.

        Raises
        ------
        ValueError
            If one of them is no TableVectorizer with the same parameters. Nothing is taken in then.
        """
        for other in others:
            if type(other) is not type(self) or repr(other) != repr(self):
                raise ValueError(f"{type(self).__name__}: merge must have vectorizers of the same parameters, got {other!r}.")
        with unchanged((self, *others), learner=self):
            cells, theirs = self._known(), [other._fitted() for other in others if "_cells" in other.__dict__]
            for each in theirs:
                cells.take_in(each)
            self._cells = cells
        return self

    # --- what was learnt -----------------------------------------------------------------------------------------------------

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """Return the names of the columns of the rows: features, "free_k" for columns without one, and "hashed_k" behind."""
        cells = self._fitted()
        free = [f"free_{k}" for k in range(len(cells.names), cells.n_own)]
        return np.array([*cells.names, *free, *(f"hashed_{k}" for k in range(cells.n_hashed))], dtype=object)

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:  # type: ignore[override]
        """The columns of the tables learnt, in the order in which they came; none of arrays, whose columns have no names."""
        names = self._fitted().column_names
        if names == [f"x{k}" for k in range(len(names))]:
            raise AttributeError(f"{type(self).__name__}: feature_names_in_ must be of columns with names, got arrays.")
        return np.array(names, dtype=object)

    @property
    def n_features_in_(self) -> int:  # type: ignore[override]
        """The number of columns of the tables learnt."""
        return len(self._fitted().column_names)

    @property
    def statistics_(self) -> dict[str, tuple[float, float, float]]:
        """Weight, mean and standard deviation of each number."""
        return {name: (n, mean, (squares / n) ** 0.5 if n else 0.0) for name, n, mean, squares in self._fitted().sums()}

    @property
    def n_features_out_(self) -> int:
        """The width of the rows."""
        return sum(self._shape()[:2])

    def _known(self, anew: bool = False) -> Cells:
        """Return what has been learnt; of a vectorizer that has learnt nothing, what nothing is."""
        shape, found = self._shape(anew), None if anew else self.__dict__.get("_cells")
        return found or Cells(type(self).__name__, *shape[:2], float(self.clip), frozenset(self.ignore))

    def _fitted(self) -> Cells:
        if "_cells" not in self.__dict__:
            raise not_fitted(type(self).__name__)
        self._shape()
        return self._cells

    def _read(self, cells: Cells, X: Any, sample_weight: Any, learn: bool, also_before: bool = False) -> tuple:
        """Return [rows of a table] and cells; also_before : [rows as `transform` gave each before it was learnt, rows]."""
        who = type(self).__name__
        table, are_dicts, n = read_table(who, X)
        weights = None if sample_weight is None else validate.read_weights(who, sample_weight, n)
        if weights is not None and weights.max(initial=0.0) > _LARGEST_WEIGHT:
            raise ValueError(f"{who}: sample_weight must be at most {_LARGEST_WEIGHT:g}, got {weights.max():g}.")
        if not learn and n and not are_dicts:
            known, names = cells.column_names, [str(each[0]) for each in table]
            if known and {*known}.isdisjoint(names):
                raise ValueError(
                    f"{who}: a table must have columns that have been learnt, such as {known[:3]}, got {names[:3]}. Give a table "
                    "like those of partial_fit."
                )
        found = cells.read(table, are_dicts, n, weights, learn, also_before)
        return [self._made(each, n) for each in found] if also_before else [self._made(found, n)], cells

    def _plan(self, X: Any, sample_weight: Any, also_before: bool) -> tuple:
        """Return what `_read` does of rows to be learnt, and take the learning back."""
        with self._own_lock():
            rows, cells = self._read(self._known(), X, sample_weight, True, also_before)
            cells.exchange()
        return rows, cells

    def _made(self, found: Any, n: int) -> Any:
        """Return rows as the parameters want them."""
        max_values, n_hashed, dtype = self._checked[1]
        if not n_hashed:
            return found.astype(dtype, copy=False)
        data, indices, indptr = found
        return sparse_rows(Rows(data.astype(dtype, copy=False), indices, indptr, n, max_values + n_hashed).matrix())

    def _shape(self, anew: bool = False) -> tuple[int, int, np.dtype]:
        """Return the number of columns of features, that of hashed ones, and the type of rows; all parameters are checked when
        one of them is another object. anew : whatever has been learnt."""
        values, checked = self._parameter_values()(self.__dict__), self.__dict__.get("_checked")
        if checked is not None and all(map(is_, checked[0], values)):
            return checked[1]
        shape, cells = self._check(), None if anew else self.__dict__.get("_cells")
        if cells is not None:
            if (cells.n_own, cells.n_hashed) != shape[:2]:
                raise ValueError(
                    f"{type(self).__name__}: max_values and bits must be those of the first call, with {cells.n_own} columns of "
                    f"features and {cells.n_hashed} hashed ones, got max_values={self.max_values!r} and bits={self.bits!r}. Set "
                    "them back, or start with clone(vectorizer)."
                )
            cells.configure(float(self.clip), frozenset(self.ignore))
        self._checked = values, shape
        return shape

    def _check(self) -> tuple[int, int, np.dtype]:
        def require(condition: bool, name: str, needed: str) -> None:
            if not condition:
                raise ValueError(f"{type(self).__name__}: {name} must be {needed}, got {name}={getattr(self, name)!r}.")

        def is_number(value: object, kinds: Any) -> bool:
            return isinstance(value, kinds) and not isinstance(value, bool)

        whole, ignore = (int, np.integer), self.ignore
        require(is_number(self.bits, whole) and 0 <= self.bits <= 30, "bits", "an integer in 0..30")
        require(is_number(self.max_values, whole) and 1 <= self.max_values <= 2**20, "max_values", "an integer in 1..2**20")
        require(is_number(self.clip, (*whole, float, np.floating)) and 0.0 < self.clip <= 1e6, "clip", "a number in (0, 1e6]")
        are_names = not isinstance(ignore, str) and hasattr(ignore, "__len__") and all(isinstance(name, str) for name in ignore)
        require(are_names, "ignore", "a sequence of names of columns")
        try:
            dtype = np.dtype(self.dtype)
        except (TypeError, ValueError, SyntaxError):
            dtype = np.dtype(object)
        require(dtype in (np.float32, np.float64), "dtype", "float32 or float64")
        return int(self.max_values), 1 << int(self.bits) if self.bits else 0, dtype


# --- for pipelines, and for the command line -----------------------------------------------------------------------------------


def planned(vectorizer: TableVectorizer, X: Any, sample_weight: ArrayLike | None, also_before: bool = False) -> tuple:
    """Return rows as `learn_transform` does, and a function that makes the vectorizer learn them, which may be called again.

    also_before : return in front of them the rows as `transform` gave each just before it was learnt.
    """
    rows, cells = vectorizer._plan(X, sample_weight, also_before)

    def commit() -> None:
        cells.learn_again()
        vectorizer._cells = cells

    return *rows, commit


def described(vectorizer: TableVectorizer) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Describe what a vectorizer has learnt by what JSON holds, and arrays."""
    return vectorizer._fitted().described()


def rebuild(vectorizer: TableVectorizer, header: dict, arrays: dict[str, np.ndarray]) -> TableVectorizer:
    """Give a new vectorizer what `described` returned, which need not be trusted."""
    shape, who = vectorizer._shape()[:2], type(vectorizer).__name__
    vectorizer._cells = rebuilt(header, arrays, who, *shape, float(vectorizer.clip), frozenset(vectorizer.ignore))
    return vectorizer


def slot_names(vectorizer: TableVectorizer) -> list[str]:
    """Return the names of the features that have a column of their own, in the order of these."""
    return vectorizer._fitted().names


def keep_words(vectorizer: TableVectorizer, most: int) -> None:
    """Note up to `most` hashed columns from now on, for `look_up`."""
    vectorizer._fitted().keep_words(most)


def look_up(vectorizer: TableVectorizer, in_units: bool = True) -> Callable[[int], tuple[str | None, bool, float]]:
    """Return a function of a column of the rows: its name or None, whether others share it, and the sign of its values, or
    1 / standard deviation, which turns the weight of a number into its units.

    in_units : False where other steps change the values.
    """
    cells = vectorizer._fitted()
    names, statistics = cells.names, vectorizer.statistics_ if in_units else {}

    def find(column: int) -> tuple[str | None, bool, float]:
        if column >= len(names):
            return (cells.words or {}).get(column, (None, False, 1))
        deviation = statistics.get(names[column], (0.0, 0.0, 0.0))[2]
        return names[column], False, 1.0 / deviation if deviation > 0.0 else 1

    return find


def named(vectorizer: TableVectorizer, X: Any, in_units: bool = True) -> tuple:
    """Return what `transform` returns, and what `look_up` does, which knows all names in X."""
    twin = copy(vectorizer)
    keep_words(twin, 1 << 30)
    return twin.transform(X), look_up(twin, in_units)
