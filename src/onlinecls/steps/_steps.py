"""`OnlineTfidf` and `OnlineMaxAbsScaler`: transformers of sparse rows with one number a column, which a stream changes."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from .._estimators.estimator import Estimator
from .._estimators.learner import read_weights_of_fit
from .._estimators.merging import unchanged
from .._estimators.saving import take_names
from .._input import validate
from .._input.compat import matrix_transformer_tags, not_fitted
from .._input.rows import Rows, lasting
from .._saving import require
from ._columns import Counts, Largest

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Literal, Self

    from numpy.typing import ArrayLike, NDArray
    from sklearn.utils import Tags

    from .._input.types import Matrix
    from ._columns import Columns

_NORMS = {None: 0, "l1": 1, "l2": 2}


class Learnt:
    """Hold what a stream has shown of each column, a number each, and the count of its rows of weight > 0."""

    def __init__(self, numbers: np.ndarray, n_rows: float = 0.0) -> None:
        self.numbers, self.n_rows = numbers, n_rows

    def write(self, columns: np.ndarray, numbers: np.ndarray, n_rows: float) -> None:
        """Take the numbers of some columns. (Doing so twice is doing so once.)"""
        self.numbers[columns], self.n_rows = numbers, n_rows


class ColumnStep(Estimator):
    """Transform sparse rows by one number a column, which the stream changes: the base of the steps here."""

    n_features_in_: int
    _learnt: Learnt
    _in_place = frozenset({"_learnt"})
    _merged: ClassVar[Callable[..., np.ndarray]]  # makes one number a column of those of several parts of a stream, a row each

    def __sklearn_tags__(self) -> Tags:
        return matrix_transformer_tags()

    # --- scikit-learn's interface --------------------------------------------------------------------------------------------

    def partial_fit(self, X: Matrix, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn rows, from where the step is.

        Parameters
        ----------
        X : CSR matrix or array-like of shape (n_rows, n_features)
        y : ignored
        sample_weight : array-like of shape (n_rows,), default=None
            A row of weight 0 changes nothing; all others count alike.

        Returns
        -------
        self : object
        """
        self.learn_transform(X, sample_weight)
        return self

    def learn_transform(self, X: Matrix, sample_weight: ArrayLike | None = None) -> Any:
        """Learn rows, and return them, each transformed by what the rows up to it have shown, itself among them.

        Any split of a stream into calls gives the same rows, to the bit. A call takes time in proportion to its non-zeros.

        Returns
        -------
        rows : CSR matrix of shape (n_rows, n_features); of a dense X an ndarray. float32 if X is, else float64
        """
        with self._own_lock():
            rows, commit = self._plan(X, sample_weight)
            commit()
        return rows

    def transform(self, X: Matrix) -> Any:
        """Return rows, transformed by what the rows so far have shown, without learning anything.

        Returns
        -------
        rows : CSR matrix of shape (n_rows, n_features); of a dense X an ndarray. float32 if X is, else float64
        """
        learnt, rows = self._fitted(), self._read(X)
        self._check_features(X, rows.n_features)
        return _like(X, self._columns(learnt).transform(rows))

    def fit(self, X: Matrix, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn rows from scratch. Returns the step."""
        with self._own_lock():
            _, commit = self._plan(X, sample_weight, afresh=True)
            commit()
        return self

    def fit_transform(self, X: Matrix, y: object = None, sample_weight: ArrayLike | None = None) -> Any:
        """Learn rows from scratch, and return them, all transformed by what all of them have shown."""
        X = lasting(X)
        return self.fit(X, y, sample_weight).transform(X)

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """Return the names of the columns, which are those of X, or x0, x1 .."""
        names = self.__dict__.get("feature_names_in_", input_features)
        return np.array([f"x{k}" for k in range(self.n_features_out_)] if names is None else names, dtype=object)

    def merge(self, *others: Any) -> Self:
        """Take in what others have learnt from rows of their own, exactly. Returns the step.

        Raises
        ------
        ValueError
            If one of them is no step of the same kind with the same parameters and columns. Nothing is taken in then.
        """
        who = type(self).__name__
        fitted = [each for each in (self, *others) if isinstance(each, ColumnStep) and each.__sklearn_is_fitted__()]
        for other in others:
            if type(other) is not type(self) or repr(other) != repr(self) or len({each.n_features_in_ for each in fitted}) > 1:
                raise ValueError(f"{who}: merge must have steps of the same parameters and columns, got {other!r}.")
        with unchanged((self, *others), learner=self):
            if fitted:
                numbers = self._merged([each._learnt.numbers for each in fitted], axis=0)
                for name in ("n_features_in_", "feature_names_in_"):
                    if name in fitted[0].__dict__:
                        setattr(self, name, getattr(fitted[0], name))
                self._learnt = Learnt(numbers, sum(each._learnt.n_rows for each in fitted))
        return self

    # --- what was learnt -----------------------------------------------------------------------------------------------------

    @property
    def n_samples_seen_(self) -> int:
        """Rows of weight > 0 so far."""
        return int(self._fitted().n_rows)

    @property
    def n_features_out_(self) -> int:
        """The width of the rows."""
        return len(self._fitted().numbers)

    def _fitted(self) -> Learnt:
        if "_learnt" not in self.__dict__:
            raise not_fitted(type(self).__name__)
        return self._learnt

    def _read(self, X: Any) -> Rows:
        """Return X as sparse rows, checked."""
        rows = validate.read_rows(type(self).__name__, X, None)
        return Rows.of_table(rows.array()) if rows.is_dense else rows

    def _plan(self, X: Any, sample_weight: Any, before: bool = False, afresh: bool = False) -> tuple[Any, Callable[[], None]]:
        """Return rows, each as of its place in the stream, and a function that makes the step learn them.

        before : rows are as of just before their places. afresh : learn from scratch.
        """
        rows, learnt = self._read(X), None if afresh else self.__dict__.get("_learnt")
        if learnt is not None:
            self._check_features(X, rows.n_features)
        who = type(self).__name__
        if afresh:
            validate.require_samples(who, rows, 1)
        weights = (read_weights_of_fit if afresh else validate.read_weights)(who, sample_weight, rows.n_rows)
        after = Learnt(np.zeros(rows.n_features)) if learnt is None else learnt
        if not after.numbers.flags.writeable:  # (they are those of a file that is mapped into memory)
            after.numbers = after.numbers.copy()
        found, changes = self._columns(after).learn(rows, weights, before)

        def commit() -> None:
            after.write(*changes)
            if learnt is None:
                self._take_features(X, rows.n_features)
                self._learnt = after

        return _like(X, found), commit

    # --- what the classes differ in ------------------------------------------------------------------------------------------

    def _columns(self, learnt: Learnt) -> Columns:
        """Return what transforms the rows of a call, the parameters checked."""
        raise NotImplementedError

    @staticmethod
    def _are_possible(learnt: Learnt) -> bool:
        """Return True for finite numbers >= 0 that a stream can leave."""
        raise NotImplementedError


class OnlineMaxAbsScaler(ColumnStep):
    r"""Divide each column by its largest magnitude so far, which is learnt as the rows come.

    Row t becomes :math:`x_{t,j} / s_{t,j}` with :math:`s_{t,j} = \max_{i \le t} |x_{i,j}|`: between -1 and 1, whatever the units
    of a column, and zeros stay zeros. A learner behind it then sees columns of like size, as behind scikit-learn's `MaxAbsScaler`
    fitted to all rows, without a pass for the fit. Where :math:`s_j` grows, what has been learnt of column j from then on counts
    for numbers in the new units: a weight of the raw column shrinks by the ratio of both, as in Normalized Adaptive Gradient
    Descent, by which Vowpal Wabbit's ``--normalized`` learns.

    A column that no row has had yet is transformed to -1 or 1, as it would be learnt.

    Attributes
    ----------
    max_abs_ : ndarray of shape (n_features,)
        The largest magnitude of each column so far; 0 where no row was not 0.
    n_samples_seen_ : int
        Rows of weight > 0 so far.
    n_features_in_, n_features_out_ : int
        Columns.

    Raises
    ------
    ValueError
        If X has other columns than before, or a number that is not finite. Nothing is learnt then.

    See Also
    --------
    sklearn.preprocessing.MaxAbsScaler : The same, fitted before learning.
    onlinecls.make_stream_pipeline : Put it in front of a learner.

    Notes
    -----
    A row takes time in proportion to its non-zeros, the step 8 bytes a column. One number far beyond all others leaves its
    column small: give such columns as logarithms.

    References
    ----------
    S. Ross, P. Mineiro, J. Langford: Normalized Online Learning, UAI 2013, Algorithm 2 (a weight in old and in new units).

    Examples
    --------
    >>> from scipy.sparse import csr_matrix
    >>> from onlinecls.steps import OnlineMaxAbsScaler
    >>> scaler = OnlineMaxAbsScaler()
    >>> scaler.learn_transform(csr_matrix([[1.0, 500.0], [0.0, 2000.0], [-4.0, 1000.0]])).toarray()
    array([[ 1. ,  1. ],
           [ 0. ,  1. ],
           [-1. ,  0.5]])
    >>> scaler.max_abs_
    array([   4., 2000.])
    """

    _merged = staticmethod(np.max)

    def __init__(self) -> None:
        pass

    @property
    def max_abs_(self) -> NDArray[np.float64]:
        """The largest magnitude of each column so far."""
        return self._fitted().numbers.copy()

    def _columns(self, learnt: Learnt) -> Columns:
        return Largest(learnt.numbers, learnt.n_rows)

    @staticmethod
    def _are_possible(learnt: Learnt) -> bool:
        return learnt.n_rows > 0.0 or not learnt.numbers.any()


class OnlineTfidf(ColumnStep):
    r"""Weight words by their inverse document frequency in the rows so far, which is learnt as the rows come.

    Number :math:`x_{t,j}` of row t becomes

    .. math:: x_{t,j} \Big(\ln \frac{1 + t}{1 + n_{t,j}} + 1\Big),

    where :math:`n_{t,j}` is the count of the rows up to t, itself included, in which column j is not 0; then it is divided by its
    norm. Once n rows are learnt, `transform` is that of scikit-learn's `TfidfTransformer` fitted to these rows. Rows are
    those of a `HashingVectorizer`, best with ``norm=None``, as this step divides by the norm itself.

    Parameters
    ----------
    norm : {"l1", "l2"} or None, default="l2"
        The norm by which rows are divided.
    smooth_idf : bool, default=True
        The formula above. False: without both ones in the fraction; a column of no row so far then counts as one of one row.
    sublinear_tf : bool, default=False
        Replace :math:`x` by :math:`1 + \ln |x|`, with the sign of x.

    Attributes
    ----------
    idf_ : ndarray of shape (n_features,)
        The factor of each column by the rows so far.
    n_samples_seen_ : int
        Rows of weight > 0 so far.
    n_features_in_, n_features_out_ : int
        Columns.

    Raises
    ------
    ValueError
        If a parameter is out of its range, X has other columns than before, or a number that is not finite. Nothing is learnt
        then.

    See Also
    --------
    onlinecls.text.HashingVectorizer : Make the counts that it weights.
    onlinecls.make_stream_pipeline : Put it between the two.

    Notes
    -----
    A row takes time in proportion to its non-zeros, the step 8 bytes a column.

    References
    ----------
    K. Spärck Jones: A statistical interpretation of term specificity and its application in retrieval, Journal of Documentation
    28, 1972; in the form of scikit-learn's `TfidfTransformer`.

    Examples
    --------
    >>> from onlinecls.steps import OnlineTfidf
    >>> from onlinecls.text import HashingVectorizer
    >>> rows = HashingVectorizer(norm=None, alternate_sign=False).transform(["to be", "or not to be"])
    >>> tfidf = OnlineTfidf()
    >>> tfidf.learn_transform(rows).data.round(2)
    array([0.71, 0.71, 0.41, 0.41, 0.58, 0.58])
    """

    norm: Literal["l1", "l2"] | None
    smooth_idf: bool
    sublinear_tf: bool
    _merged = staticmethod(np.sum)

    def __init__(self, norm: Literal["l1", "l2"] | None = "l2", *, smooth_idf: bool = True, sublinear_tf: bool = False) -> None:
        self._assign(locals())

    @property
    def idf_(self) -> NDArray[np.float64]:
        """The factor of each column by the rows so far."""
        learnt, smooth = self._fitted(), float(self.smooth_idf)
        counts = learnt.numbers if smooth else np.maximum(learnt.numbers, 1.0)
        return np.log(np.maximum(learnt.n_rows + smooth, counts + smooth) / (counts + smooth)) + 1.0

    def _columns(self, learnt: Learnt) -> Columns:
        who = type(self).__name__
        if not (self.norm is None or isinstance(self.norm, str)) or self.norm not in _NORMS:
            raise ValueError(f"{who}: norm must be 'l1', 'l2' or None, got norm={self.norm!r}.")
        for name in ("smooth_idf", "sublinear_tf"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise ValueError(f"{who}: {name} must be True or False, got {name}={getattr(self, name)!r}.")
        return Counts(learnt.numbers, learnt.n_rows, norm=_NORMS[self.norm], smooth=self.smooth_idf, sublinear=self.sublinear_tf)

    @staticmethod
    def _are_possible(learnt: Learnt) -> bool:
        return bool((learnt.numbers <= learnt.n_rows).all() and (learnt.numbers == np.floor(learnt.numbers)).all())


# --- for pipelines, and for the command line -----------------------------------------------------------------------------------


def planned(step: Any, X: Any, sample_weight: ArrayLike | None) -> tuple[Any, Callable[[], None]]:
    """Return rows as `learn_transform` does, and a function that makes the step learn them."""
    return step._plan(X, sample_weight)


def planned_progressively(step: Any, X: Any, sample_weight: ArrayLike | None) -> tuple:
    """Return rows as `transform` would have returned each just before it was learnt, and what `planned` returns."""
    return step._plan(X, sample_weight, before=True)[0], *step._plan(X, sample_weight)


def _like(X: Any, rows: Rows) -> Any:
    """Return rows in the form of X: Rows, a CSR matrix or array of its own, or an ndarray."""
    if isinstance(X, Rows):
        return rows
    if not validate.issparse(X):
        return rows.array().toarray()
    indices, indptr = rows.indices.copy(), rows.indptr.copy()  # (those of X must not change with those of its user)
    rows = Rows(rows.data, indices, indptr, rows.n_rows, rows.n_features)
    return rows.array() if isinstance(X, sys.modules["scipy.sparse"].sparray) else rows.matrix()


def described(step: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Describe what a step has learnt by what JSON holds, and arrays."""
    learnt, names = step._fitted(), step.__dict__.get("feature_names_in_")
    # One place more than columns, as learners' arrays have for the constant: a file leaves out what no row has had.
    numbers = np.append(learnt.numbers, 0.0)
    return {"n_rows": learnt.n_rows, "feature_names": None if names is None else list(names)}, {"numbers": numbers}


def rebuild(step: Any, header: dict, arrays: dict[str, np.ndarray]) -> Any:
    """Give a new step what `described` returned, which need not be trusted."""
    n_rows, numbers = header["n_rows"], arrays["numbers"]
    require(type(n_rows) is float and 0.0 <= n_rows < 2.0**53 and n_rows.is_integer(), "a count of rows", n_rows)
    right = numbers.dtype == np.float64 and numbers.ndim == 1 and len(numbers) > 0 and numbers[-1] == 0.0
    require(bool(right), "a number a column", (numbers.dtype, numbers.shape))
    learnt = Learnt(numbers[:-1], n_rows)
    fit = validate.all_finite(numbers) and (numbers >= 0.0).all() and step._are_possible(learnt)
    require(bool(fit), "numbers of columns that rows have left", n_rows)
    step._columns(learnt)  # (which checks the parameters)
    take_names(step, header["feature_names"], len(learnt.numbers))
    step.n_features_in_, step._learnt = len(learnt.numbers), learnt
    return step
