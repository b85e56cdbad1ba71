"""`TableVectorizer`: tables to rows of numbers, while they stream."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from .._compiled.model import are_unchanged
from .._estimators.estimator import Estimator
from .._estimators.merging import unchanged
from .._input import validate
from .._input.compat import not_fitted, tags, warn_caller
from ..text import lasting, plain_rows
from ._cells import Cells, feature_of, rebuilt
from ._columns import read_table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Self

    from numpy.typing import ArrayLike, DTypeLike, NDArray
    from sklearn.utils import Tags


class TableVectorizer(Estimator):
    r"""Turn the rows of tables into numbers while they stream: each column of numbers standardised by what has come so far.

    What a value becomes depends on its type alone, wherever it comes from. A number x of a column c is the feature "c", of value
    :math:`(x - \mu) / \sqrt{S / n}` within [-clip, clip], where n is the sum of the weights of the column's numbers so far, μ
    their weighted mean, and S the sum of squared deviations from it (Welford's update [1]_, row by row); 0 while S is 0. A text v
    is the feature "c=v" of value 1, a boolean "c=True" or "c=False", and None or NaN "c=?". A date or time is the number
    "c.seconds", of seconds since 1970 in UTC, and the features "c.month=5", "c.weekday=0" (Monday) and "c.hour=14". A list is
    each of its items: texts as values of c, the others as columns "c.0", "c.1" ..; a dict is columns with dotted names.

    Features get columns of their own in the order in which they appear, up to `max_values`. Later ones are hashed into the
    2^bits columns behind, so that the width never changes. Any split of a stream into calls gives the same rows, to the last bit.
    `learn_transform` standardises a row by statistics that include it, `transform` by those before it, where a new feature has no
    column of its own. A row of weight 0 is ignored, and becomes zeros.

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
    feature_names_in_, n_features_in_ : ndarray of str, int
        The columns in the order of their first appearance, at most 65,536; arrays have no names.

    Raises
    ------
    ValueError, TypeError
        If a parameter is not valid; if X is no table, has columns of different lengths or of one name, or is a frame for
        `transform` none of whose columns has been learnt; if a value is of no type above, a number infinite or beyond 1e150, or a
        text half of a surrogate pair (column and row are named); if `fit` has no row of weight > 0. Nothing is learnt then.

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

    _cells: Cells
    _in_place = frozenset({"_cells"})

    def __init__(
        self, bits: int = 18, *, max_values: int = 256, ignore: Sequence[str] = (), clip: float = 10.0,
        dtype: DTypeLike = np.float64,
    ) -> None:
        self.bits, self.max_values, self.ignore, self.clip, self.dtype = bits, max_values, ignore, clip, dtype

    def __sklearn_tags__(self) -> Tags:
        return tags(None, string=True, categorical=True, dict=True, allow_nan=True)  # (its cells may be missing)

    def partial_fit(self, X: Any, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the columns, values and statistics of rows, from where the vectorizer is. Returns the vectorizer.

        Parameters
        ----------
        X : table
            A pandas, polars or pyarrow table, or anything else with ``__arrow_c_stream__``, a list of dicts, one a row, a dict of
            columns, or a two-dimensional array, whose columns are called x0, x1 ..
        y : ignored
        sample_weight : array-like of shape (n_rows,), default=None
            Weights >= 0 of the rows. A row of weight 0 changes nothing.
        """
        self.learn_transform(X, sample_weight)
        return self

    def learn_transform(self, X: Any, sample_weight: ArrayLike | None = None) -> Any:
        """Learn rows, and return them as a CSR matrix (bits=0: ndarray), each standardised by all rows so far and itself."""
        return plain_rows(self._read(X, sample_weight)[0])

    def transform(self, X: Any) -> Any:
        """Return rows by the statistics so far, without learning anything; a warning names columns learnt that a frame lacks."""
        return plain_rows(self._transformed(X))

    def _transformed(self, X: Any) -> Any:
        return self._read(X, None, learn=False)[0]

    def fit(self, X: Any, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the columns, values and statistics of rows from scratch. Returns the vectorizer."""
        self._read(X, sample_weight, anew=True)
        return self

    def fit_transform(self, X: Any, y: object = None, sample_weight: ArrayLike | None = None) -> Any:
        """Learn rows from scratch, and return them, all standardised by the statistics of all of them."""
        X = lasting(X)
        return self.fit(X, y, sample_weight).transform(X)

    def merge(self, *others: Any) -> Self:
        """Take in what others of the same parameters have learnt from rows of their own, by Chan's sums; returns itself."""
        for other in others:
            if type(other) is not type(self) or repr(other) != repr(self):
                raise ValueError(f"{type(self).__name__}: merge must have vectorizers of the same parameters, got {other!r}.")
        with unchanged((self, *others), learner=self):
            cells, *theirs = (each._known(learn=True) for each in (self, *others))
            for each in theirs:
                cells.take_in(each)
            self._cells = cells
        return self

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """Return the names of the columns of the rows: features, "free_k" for columns without one, and "hashed_k" behind."""
        names, cells = slot_names(self), self._cells
        names += [f"free_{k}" for k in range(len(names), cells.n_own)] + [f"hashed_{k}" for k in range(cells.n_hashed)]
        return np.array(names, dtype=object)

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:  # type: ignore[override]
        """The columns of the tables learnt, in the order in which they came; none of arrays, whose columns have no names."""
        names = described(self)[0]["columns"]
        if names == [f"x{k}" for k in range(len(names))]:
            raise AttributeError(f"{type(self).__name__}: feature_names_in_ must be of columns with names, got arrays.")
        return np.array(names, dtype=object)

    @property
    def n_features_in_(self) -> int:  # type: ignore[override]
        """The number of columns of the tables learnt."""
        return len(described(self)[0]["columns"])

    @property
    def statistics_(self) -> dict[str, tuple[float, float, float]]:
        """Weight, mean and standard deviation of each number."""
        header, arrays = described(self)
        pairs = zip(header["numbers"], arrays["sums"].tolist(), strict=True)
        return {feature_of(*number): (n, mean, (squares / n) ** 0.5 if n else 0.0) for number, (n, mean, squares) in pairs}

    def _known(self, learn: bool, anew: bool = False) -> Cells:
        """Return what has been learnt; of a vectorizer that has learnt nothing, what nothing is, if it learns. All parameters
        are checked when one of them is another object. anew : whatever has been learnt."""
        cells = None if anew else self.__dict__.get("_cells")
        if cells is not None and are_unchanged(cells.same, self.__dict__):
            return cells

        def is_number(value: Any, least: float, most: float, kinds: Any = (int, np.integer)) -> bool:
            return isinstance(value, kinds) and not isinstance(value, bool) and least <= value <= most
        who, ignore = type(self).__name__, self.ignore
        is_list = not isinstance(ignore, str) and hasattr(ignore, "__len__")
        for name, is_right, needed in (
            ("bits", is_number(self.bits, 0, 30), "an integer in 0..30"),
            ("max_values", is_number(self.max_values, 1, 2**20), "an integer in 1..2**20"),
            ("ignore", is_list and all(isinstance(name, str) for name in ignore), "a sequence of names of columns"),
            ("clip", is_number(self.clip, 5e-324, 1e6, (int, float, np.integer, np.floating)), "a number in (0, 1e6]"),
        ):
            if not is_right:
                raise ValueError(f"{who}: {name} must be {needed}, got {name}={getattr(self, name)!r}.")
        dtype, shape = validate.read_dtype(who, self.dtype), (int(self.max_values), 1 << int(self.bits) if self.bits else 0)
        if cells is None and not learn:
            raise not_fitted(who)
        if cells is None:
            cells = Cells(who, *shape)
        elif (cells.n_own, cells.n_hashed) != shape:
            raise ValueError(f"{who}: max_values and bits must stay as they are once rows are learnt, got others. Clone it.")
        cells.configure(float(self.clip), frozenset(ignore), dtype)
        cells.same = self.get_params()
        return cells

    def _read(self, X: Any, sample_weight: Any, learn: bool = True, anew: bool = False, keep: bool = True) -> tuple[Any, Cells]:
        """Return `Rows` of a table (bits=0: an ndarray), and what is known. anew : forget what is known. keep : learn them."""
        with self._own_lock() if learn else self._own_lock().waiting():
            who, cells = type(self).__name__, self._known(learn, anew)
            table, are_dicts, n = read_table(who, X)
            weights = None if sample_weight is None else validate.read_weights(who, sample_weight, n)
            if anew and not (n if weights is None else weights.any()):
                raise ValueError(f"{who}: Found array with 0 sample(s) of weight > 0 while a minimum of 1 is required.")
            if n and not (learn or are_dicts):
                names = {str(name) for name, *_ in table}
                parents = tuple(f"{name}." for name in names)
                lacking = (each for each in cells.columns if each not in names and not each.startswith(parents))
                if missing := list(islice(lacking, 3)):
                    problem = f"{who}: X must have the columns that have been learnt, got no {', '.join(map(repr, missing))}."
                    if cells.columns.keys().isdisjoint(names):
                        raise ValueError(problem)
                    warn_caller(problem)
            rows = cells.read(table, are_dicts, n, weights, learn, keep)
            if learn and keep:
                self._cells = cells
        return rows, cells

    def _planned(self, X: Any, sample_weight: ArrayLike | None) -> tuple[Any, Callable[[], None]]:
        """Return rows as `_read` does, and a function that makes the vectorizer learn them, which may be called again."""
        rows, cells = self._read(X, sample_weight, keep=False)

        def commit() -> None:
            cells.exchange(again=True)
            self._cells = cells

        return rows, commit


def described(vectorizer: TableVectorizer) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Describe what a vectorizer has learnt by what JSON holds, and arrays."""
    return vectorizer._known(learn=False).described()


def rebuild(vectorizer: TableVectorizer, header: dict, arrays: dict[str, np.ndarray]) -> TableVectorizer:
    """Give a new vectorizer what `described` returned, which need not be trusted."""
    empty = vectorizer._known(learn=True)
    vectorizer._cells = rebuilt(header, arrays, type(vectorizer).__name__, empty.n_own, empty.n_hashed)
    return vectorizer


def slot_names(vectorizer: TableVectorizer) -> list[str]:
    """Return the names of the features that have a column of their own, in the order of these."""
    return [feature_of(*pair) for pair in described(vectorizer)[0]["features"]]
