"""Conversion of whatever scikit-learn accepts to arrays that the compiled code can trust, or an error before any write.

An error names the caller, what was required, what came and what to do. Nothing here depends on a model or costs O(n_features).
"""

from __future__ import annotations

import copy
import math
import numbers
import operator
import warnings
from typing import NamedTuple

import numpy as np

from .._rows import Rows, converted, own_float, take
from .compat import issparse, warn_caller

FLOATS = (np.dtype(np.float32), np.dtype(np.float64))
_REBUILD = "The CSR matrix is not valid: build it with scipy.sparse.csr_matrix((data, indices, indptr), shape=...)."
_ENCODE = "Encode texts and categories as numbers first."
_HINTS = {"M": "Turn dates into numbers first.", "m": "Turn durations into numbers first.", "V": "Give the fields as columns."}
_SHOWN_LENGTH = 200  # most characters of a value in a message
LONGEST_LABEL = 4096  # most characters of a label (no path of a file is longer)


class ParameterError(ValueError):
    """An error that names a parameter. The command line replaces `hint`, the part of the message about it, by its option."""

    def __init__(self, message: str, parameter: str = "", hint: str = ""):
        super().__init__(message)
        self.parameter, self.hint = parameter, hint or parameter


def feature_names(who: str, X):
    """Return the column names of a data frame if they are strings, else None."""
    arrow = type(X).__module__.partition(".")[0] == "pyarrow"  # (whose columns are the numbers themselves)
    columns = X.schema.names if arrow and hasattr(X, "schema") else getattr(X, "columns", None)
    if columns is None or (not hasattr(X, "__array__") and not hasattr(X, "to_numpy")):
        return None
    names = np.asarray(columns, dtype=object)
    strings = [isinstance(name, str) for name in names]
    if names.size and all(strings):
        return names
    if any(strings):
        kinds = sorted({type(name).__name__ for name in names})
        raise TypeError(
            "Feature names are only supported if all input features have string names, but your input has "
            f"{kinds} as feature name / column name types. If you want feature names to be stored and validated, you must "
            "convert them all to strings, by using X.columns = X.columns.astype(str) for example. Otherwise you can remove "
            "feature / column names from your input data, or convert them all to a non-string data type."
        )
    return None


def read_rows(who: str, X, dtype) -> Rows:
    """Return X as Rows of the dtype (None: that of X if it is float32 or float64, else float64), copied only if necessary."""
    if isinstance(X, Rows):
        if dtype is None or X.data.dtype == dtype:
            return X
        X = X.array()  # (of a part of other rows: its own)
    dtype = None if dtype is None else np.dtype(dtype)
    rows = take(X, dtype)
    if rows is None:
        rows = converted(X, dtype)
    if rows is None:
        X = _csr_of(who, X) if issparse(X) else _table_of(who, X, dtype)
        rows = converted(X, dtype)
    if rows is None:
        raise _wrong(who, X, dtype)
    return rows


def _two_dimensional(who: str, ndim: int) -> None:
    if ndim != 2:
        raise ValueError(
            f"{who}: Expected 2D array, got {'scalar' if ndim == 0 else f'{ndim}D'} array instead. Reshape your data: "
            "X.reshape(1, -1) if it is a single sample, X.reshape(-1, 1) if it has a single feature."
        )


def _table_of(who: str, X, dtype) -> np.ndarray:
    """Return X as a table of numbers."""
    table = as_array(f"{who}: X", X, "rows of equal length")
    if table.dtype.kind not in "biufO":
        raise _no_numbers(who, table.dtype)
    _two_dimensional(who, table.ndim)
    if table.dtype.kind == "O":
        flat, indptr = table.reshape(-1), np.arange(len(table) + 1) * table.shape[1]
        return _numbers_of_objects(who, flat, dtype or FLOATS[1], None, indptr).reshape(table.shape)
    return table


class _Csr(NamedTuple):
    """The parts of a CSR matrix."""

    data: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray
    shape: tuple[int, int]
    format: str = "csr"


def _csr_of(who: str, X) -> _Csr:
    """Return a sparse matrix as the parts of a CSR matrix of numbers, whose structure is right."""
    _two_dimensional(who, X.ndim)
    if X.format != "csr":
        X = as_csr(who, X)
    read_structure(who, X)
    data = X.data
    if data.dtype.kind not in "biufO":
        raise _no_numbers(who, data.dtype)
    if data.dtype.kind == "O":
        data = _numbers_of_objects(who, data[: X.indptr[-1]], FLOATS[1], X.indices, X.indptr)
    return _Csr(data, X.indices, X.indptr, X.shape)


def read_structure(who: str, X) -> None:
    """Raise ValueError unless the arrays of a CSR matrix are consistent. Values are not checked."""
    for name in ("data", "indices", "indptr"):
        array = getattr(X, name)
        if getattr(array, "ndim", None) != 1:
            came = f"{array.ndim} dimensions" if hasattr(array, "ndim") else brief(array)
            raise ValueError(f"{who}: X.{name} must be a 1-D array, got {came}. {_REBUILD}")
        if name != "data" and array.dtype.kind not in "iu":
            raise ValueError(f"{who}: X.{name} must be integers, got dtype {array.dtype}. {_REBUILD}")
    data, indices, indptr = X.data, X.indices, X.indptr
    try:
        n_rows, n_features = map(operator.index, X.shape)
    except (TypeError, ValueError):
        n_rows = n_features = -1
    if not (0 <= n_rows < 2**63 and 0 <= n_features < 2**63):
        raise ValueError(f"{who}: X.shape must be two integers, got {brief(X.shape)}. {_REBUILD}")
    if len(data) < len(indices):
        raise ValueError(f"{who}: X must have as many values as indices, got {len(data)} and {len(indices)}. {_REBUILD}")
    rises = len(indptr) == n_rows + 1 and indptr[0] == 0 and indptr[-1] <= len(indices) and (indptr[1:] >= indptr[:-1]).all()
    if not rises:
        raise ValueError(
            f"{who}: X must have an indptr of {n_rows + 1} numbers that rises from 0 to at most {len(indices)}, its number of "
            f"indices, got {shown(indptr)}. {_REBUILD}"
        )
    if indptr[-1] >= 2**31:
        raise ValueError(f"{who}: X must have less than 2**31 stored numbers, got {indptr[-1]}. Give the rows in parts.")
    indices = indices[: indptr[-1]]
    outside = (indices < 0) | (indices >= n_features)
    if outside.any():
        raise ValueError(
            f"{who}: X must have column indices in 0..{n_features - 1}, got {indices[outside.argmax()]}. {_REBUILD}"
        )
    if n_features > 2**31 and len(indices) and indices.max() >= 2**31:
        raise ValueError(f"{who}: X must have at most 2**31 columns, got {n_features}. Hash their names to fewer ones.")


def as_csr(who: str, X):
    """Return X as CSR, made from checked parts: scipy's conversions write wherever invalid indices point. X is not changed."""
    from scipy import sparse

    _two_dimensional(who, X.ndim)
    try:
        if X.format in ("csc", "bsr"):
            X = copy.copy(X)  # (the check may put other arrays in the place of its own)
            if (np.diff(X.indptr) < 0).any():
                raise ValueError(f"the indptr {shown(X.indptr)}")
            X.check_format(full_check=True)
        elif X.format == "lil":
            if not len(X.rows) == len(X.data) == X.shape[0] or [*map(len, X.rows)] != [*map(len, X.data)]:
                raise ValueError("as many lists as rows are needed, in rows and in data, of the same lengths")
        elif X.format == "dia":
            if len(np.unique(X.offsets, return_index=True)[0]) != len(X.offsets):
                raise ValueError(f"the offsets {shown(X.offsets)}")
            inside = (X.offsets > -X.shape[0]) & (X.offsets < X.shape[1])  # other diagonals are outside the matrix
            X = sparse.dia_array((X.data[inside], X.offsets[inside]), shape=X.shape)  # (which checks the rest)
        else:
            X = X.tocoo() if X.format == "dok" else X
            X = sparse.coo_array((X.data, X.coords if hasattr(X, "coords") else (X.row, X.col)), shape=X.shape)
        csr = X.tocsr()
    except MemoryError:
        raise
    except Exception as error:  # texts, lists and objects instead of arrays fail in many ways
        raise ValueError(
            f"{who}: X must be a valid sparse matrix, got an invalid {X.format} matrix ({error}). "
            "Build it with scipy.sparse.csr_matrix((data, (rows, columns)), shape=...)."
        ) from None
    return csr


def as_array(what: str, values, required: str) -> np.ndarray:
    """Return the values as an array; turn whatever numpy or an object's __array__ raises into a ValueError."""
    try:
        return np.asarray(values)
    except MemoryError:
        raise
    except Exception as error:
        raise ValueError(f"{what} must be {required}, got something else ({error}). Give a numpy array.") from None


def _no_numbers(who: str, dtype) -> ValueError:
    if dtype.kind == "c":
        return ValueError(f"{who}: Complex data not supported, got X of dtype {dtype}. Use its real part.")
    return ValueError(f"{who}: X must be numbers, got dtype {dtype}. {_HINTS.get(dtype.kind, _ENCODE)}")


def _place(at: int, indices, indptr) -> str:
    """Return the row and the column of value number `at`, for a message. indices : None if the matrix is dense."""
    row = int(np.searchsorted(indptr, at, side="right")) - 1
    return f"row {row}, column {at - int(indptr[row]) if indices is None else int(indices[at])}"


def _numbers_of_objects(who: str, data: np.ndarray, dtype, indices, indptr) -> np.ndarray:
    """Return objects as numbers, or raise the error for the first that is none."""
    try:
        with np.errstate(over="ignore", under="ignore"):
            return data.astype(dtype)
    except MemoryError:
        raise
    except Exception as error:  # objects fail in many ways
        raise _wrong_object(who, data, dtype, indices, indptr, error) from None


def _wrong_object(who: str, data: np.ndarray, dtype, indices, indptr, error: Exception) -> Exception:
    """Return the error for the first object that is not a number."""
    for at, value in enumerate(data):
        if is_missing(value) and value is not None:  # (numpy turns None into NaN)
            place = _place(at, indices, indptr)
            return ValueError(
                f"{who}: X must be finite, got the missing value {brief(value)} at {place}. Drop the row, or fill in the value."
            )
        try:
            float(value)
        except OverflowError:
            return ValueError(
                f"{who}: X must fit {dtype}, got a number beyond it at {_place(at, indices, indptr)}. Scale the data."
            )
        except Exception:
            break
    kind = TypeError if isinstance(error, TypeError) else ValueError
    return kind(f"{who}: X must be numbers, got dtype {data.dtype} ({error}). {_ENCODE}")


def is_missing(value) -> bool:
    """Return True for None, NaN, and pandas' NA and NaT."""
    if isinstance(value, (float, np.floating)):
        return bool(value != value)
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def _wrong(who: str, X, dtype) -> ValueError:
    """Return the error for the first number of a table or a CSR matrix that is not finite in the dtype."""
    if isinstance(X, _Csr):
        from scipy.sparse import csr_array

        whole = csr_array((X.data.astype(own_float(X.data.dtype)), X.indices, X.indptr), shape=X.shape, copy=True)
        whole.sum_duplicates()
        data, indices, indptr = whole.data, whole.indices, whole.indptr
    else:
        data, indices, indptr = X.reshape(-1), None, np.arange(len(X) + 1) * X.shape[1]
    with np.errstate(over="ignore", under="ignore"):
        found = data.astype(own_float(data.dtype) if dtype is None else dtype)
    at = int(np.flatnonzero(~np.isfinite(found))[0])
    place = _place(at, indices, indptr)
    if np.isfinite(data[at]):
        came = f"{data[at]:g} at {place}. Scale the data, or use dtype=numpy.float64."
        return ValueError(f"{who}: X must fit {found.dtype}, got {came}")
    came = f"{'NaN' if np.isnan(found[at]) else f'{found[at]:g}'} at {place}. Drop the row, or fill in the value."
    return ValueError(f"{who}: X must be finite, got {came}")


def shown(values) -> str:
    """Return the values for a message: all of a few, or both ends."""
    array = np.asarray(values)
    first, last = (array, array[:0]) if len(array) <= 10 else (array[:4], array[-4:])
    listed = [*map(brief, first.tolist()), *["..."][: len(last)], *map(brief, last.tolist())]
    return "[" + ", ".join(listed) + "]"


def brief(value) -> str:
    """Return the repr of any value for a message, shortened, with control characters escaped."""
    try:
        text = repr(value)
    except Exception:  # an integer of more digits than Python prints, or an error in an object's __repr__
        text = f"<{type(value).__name__}>"
    text = printable(text)
    return text if len(text) <= _SHOWN_LENGTH else f"{text[: _SHOWN_LENGTH - 3]}..."


def printable(text: str) -> str:
    """Return a text with its control characters, and others that do not print, escaped."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def require_samples(who: str, rows: Rows, least: int) -> None:
    if rows.n_features == 0:
        raise ValueError(f"{who}: Found array with 0 feature(s) (shape=({rows.n_rows}, 0)) while a minimum of 1 is required.")
    if rows.n_rows < least:
        raise ValueError(
            f"{who}: Found array with {rows.n_rows} sample(s) (shape=({rows.n_rows}, {rows.n_features})) "
            f"while a minimum of {least} is required."
        )


def read_labels(who: str, y, n_rows: int) -> np.ndarray:
    """Return y as a 1-D array of n_rows labels: integers, booleans, strings, or floats that are integers."""
    array = y if type(y) is np.ndarray else _array_of_labels(who, "y", y)
    if array.shape != (n_rows,):
        array = _one_a_row(who, y, array, n_rows, "labels")
    return array if array.dtype.kind in "biu" and array.dtype.isnative else _plain_labels(who, "y", array)


def read_targets(who: str, y, n_rows: int) -> np.ndarray:
    """Return y as a 1-D array of n_rows finite float64 numbers, copied only if necessary."""
    array = np.empty(()) if y is None or issparse(y) else read_numbers(f"{who}: y", y)
    if array.shape != (n_rows,):
        array = _one_a_row(who, y, array, n_rows, "numbers")
    if not np.isfinite(array).all():
        at = int(np.flatnonzero(~np.isfinite(array))[0])
        came = "NaN" if np.isnan(array[at]) else f"{array[at]:g}"
        raise ValueError(f"{who}: y must be finite, got {came} at row {at}. Drop the row.")
    return array


def _one_a_row(who: str, y, array: np.ndarray, n_rows: int, kind: str) -> np.ndarray:
    """Return a column of targets as a 1-D array; raise the error for any other that is not one a row. kind : of targets."""
    if y is None:
        raise ValueError(f"{who}: requires y to be passed, but the target y is None.")
    if issparse(y):
        raise ValueError(f"{who}: y must be a dense array of {kind}, got a sparse matrix. Use y.toarray().")
    if array.ndim == 2 and array.shape[1] == 1:
        message = "A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples,)."
        warn_caller(message, "DataConversionWarning")
        array = array.ravel()
    if array.ndim != 1:
        raise ValueError(f"{who}: y should be a 1d array, got an array of shape {array.shape} instead.")
    if len(array) != n_rows:
        raise ValueError(
            f"{who}: X and y must have the same number of rows, got inconsistent numbers of samples: {n_rows} in X and "
            f"{len(array)} in y."
        )
    return array


def read_classes(who: str, classes) -> np.ndarray:
    """Return the labels of the argument `classes`, sorted and unique."""
    return np.unique(plain_labels(who, "classes", classes), return_index=True)[0]  # (without it, numpy imports numpy.ma: 8 ms)


def plain_labels(who: str, name: str, y) -> np.ndarray:
    """Return the labels of an argument as an array of numbers or texts. name : that of the argument, for messages."""
    array = np.empty(()) if isinstance(y, (set, frozenset)) else _array_of_labels(who, name, y)
    if array.ndim == 0 or (array.ndim > 1 and name == "classes"):
        raise ValueError(f"{who}: {name} must be a list or 1-D array of labels, got {brief(y)}.")
    return array if array.dtype.kind in "biu" and array.dtype.isnative else _plain_labels(who, name, array)


def _array_of_labels(who: str, name: str, y) -> np.ndarray:
    """Return labels as an array, of objects for a list that mixes texts and others, which numpy would turn into texts."""
    listed = y if isinstance(y, (list, tuple)) else ()
    types = {*map(type, listed)}
    if types - {int, float, bool}:
        _check_lengths(who, name, listed)
    try:
        try:
            array = np.asarray(y)
        except ValueError:  # rows of different lengths, or bytes that are not ASCII among texts
            return np.array(y, dtype=object)
        if array.dtype.kind in "US" and array.ndim == 1 and len(types) > 1:
            if not (all(isinstance(label, str) for label in listed) or all(isinstance(label, bytes) for label in listed)):
                return np.array(y, dtype=object)
        return array
    except MemoryError:
        raise
    except Exception as error:
        raise ValueError(f"{who}: {name} must be labels, got something else ({error}). Give a list or a numpy array.") from None


def _check_lengths(who: str, name: str, labels) -> None:
    """Raise ValueError for too long a label: an array of texts has room for the longest one in every row."""
    for at, label in enumerate(labels):
        if isinstance(label, (str, bytes)) and len(label) > LONGEST_LABEL:
            raise ValueError(
                f"{who}: {name} must have labels of at most {LONGEST_LABEL} characters, got one of {len(label)} at place {at}, "
                f"{brief(label)}. Number such texts, and give the numbers."
            )


def _plain_labels(who: str, name: str, y: np.ndarray) -> np.ndarray:
    """Return an array of labels of one type; raise ValueError for others. name : that of the argument, for messages."""
    unknown = f"{who}: Unknown label type: " if name == "y" else f"{who}: "
    if y.dtype.kind == "O":  # all strings, all bytes or all numbers, as a mixture has no order
        _check_lengths(who, name, y)
        kinds = {next((kind for kind in (str, bytes, numbers.Real) if isinstance(label, kind)), None) for label in y}
        if len(kinds) > 1 or None in kinds:
            raise _no_labels(who, unknown, name, y)
        y = y.astype(str if y.size else "U1") if kinds <= {str} else np.array(y.tolist())
    if y.dtype.kind == "f":
        if not np.isfinite(y).all():
            raise ValueError(
                f"{who}: {name} must be labels, got NaN or infinity in {name} (Input {name} contains NaN). Drop those rows."
            )
        if (broken := y != np.floor(y)).any():
            unknown += "continuous. " if name == "y" else ""
            raise ValueError(
                f"{unknown}{name} must be classes, got {y[broken][0]:g}. Use a regressor, or turn the values into classes."
            )
    elif y.dtype.kind not in "biuUS":
        raise ValueError(f"{unknown}{name} must be integers, booleans or strings, got dtype {y.dtype}.")
    return y if y.dtype.isnative else y.astype(y.dtype.newbyteorder("="))  # (compiled code compares code points)


def _no_labels(who: str, unknown: str, name: str, y: np.ndarray) -> ValueError:
    """Return the error for labels that are neither all texts nor all numbers."""
    for at, label in enumerate(y):
        if is_missing(label):
            place, do = (f"row {at}", "Drop that row") if name != "classes" else (f"place {at}", "Leave it out")
            return ValueError(f"{who}: {name} must be labels, got {brief(label)} at {place}: a label is missing. {do}.")
    kinds = sorted({type(label).__name__ for label in y})
    came = f"a mixture of {', '.join(kinds)}" if len(kinds) > 1 else f"labels of type {kinds[0]}"
    return ValueError(f"{unknown}{name} must be all strings or all numbers, got {came}.")


def comparable(who: str, y: np.ndarray, classes: np.ndarray, name: str = "y") -> np.ndarray:
    """Return labels that compare with the classes exactly; raise ValueError unless both are texts, or numbers that can.

    Integers of another sign than the classes' dtype get that dtype: numpy would turn both into float64.
    """
    of_y, of_classes = y.dtype.kind, classes.dtype.kind
    if not len(y) or y.dtype == classes.dtype:
        return y
    if of_y != of_classes and (of_y in "US" or of_classes in "US"):
        raise ValueError(
            f"{who}: {name} must be labels like the model's classes, {brief(classes.tolist()[0])} of dtype {classes.dtype}, "
            f"got dtype {y.dtype}."
        )
    if of_y in "US" or np.result_type(y, classes).kind != "f":
        return y
    if of_y in "iu" and of_classes in "iu":
        allowed = np.iinfo(classes.dtype)
        if allowed.min <= int(y.min()) and int(y.max()) <= allowed.max:
            return y.astype(classes.dtype)
    for labels in (y, classes):
        large = labels[(labels > 2**53) | (labels < -(2**53))] if labels.dtype.kind in "iu" else labels[:0]
        if len(large):
            raise ValueError(
                f"{who}: {name} of dtype {y.dtype} and the model's classes of dtype {classes.dtype} become float64, which "
                f"must tell labels apart, got {large[0]}. Give all labels in one dtype, or as texts."
            )
    return y


def union(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the labels of two arrays, sorted and unique. (Without return_index, `unique` imports numpy.ma, in 10 ms.)"""
    return np.unique(np.concatenate((a, b)), return_index=True)[0]


def encode(y: np.ndarray, classes: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """Return each label's place among the sorted classes, and a mask of labels not among them (None: all are)."""
    if len(classes) == 2 and len(y) and y.dtype.kind in "biufUS":  # the common case, without a search
        # (Arrays, not scalars: with numpy's text scalars, `==` loses one of a hundred Ctrl-Cs.)
        second = np.equal(y, classes[1:])
        known = second | np.equal(y, classes[:1])
        return second.astype(np.int32), None if np.count_nonzero(known) == len(y) else ~known
    if len(classes) and len(y) and classes.dtype.kind == y.dtype.kind == "i":
        low, span = int(classes[0]), int(classes[-1]) - int(classes[0]) + 1
        if span <= 4 * len(classes) + 1024 and span < len(y) and low <= y.min() and y.max() <= classes[-1]:
            table = np.full(span, -1, np.int32)  # integers close together: looked up, not searched
            table[np.subtract(classes, low, dtype=np.int64)] = np.arange(len(classes), dtype=np.int32)
            codes = table[np.subtract(y, low, dtype=np.int64)]
            return codes, None if codes.min() >= 0 else codes < 0
    codes = np.searchsorted(classes, y)
    np.minimum(codes, len(classes) - 1, out=codes)
    known = classes[codes] == y
    return codes.astype(np.int32), None if known.all() else ~known


def encode_known(who: str, y: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return each label's place among the sorted classes; raise ValueError for one that is not among them, nor compares."""
    codes, unknown = encode(comparable(who, y, classes), classes)
    if unknown is not None:
        raise ValueError(
            f"{who}: y must be among the classes {shown(classes)}, got {brief(y[unknown].tolist()[0])} at row "
            f"{int(unknown.argmax())}. "
            "Name all labels in classes at the first call, or leave classes out there: then labels join as they appear."
        )
    return codes


def read_weights(who: str, sample_weight, n_rows: int) -> np.ndarray:
    """Return sample weights as float64, one for each row; an empty array if all are 1."""
    if sample_weight is None:
        return np.empty(0)
    weights = read_numbers(f"{who}: sample_weight", sample_weight)
    if weights.ndim == 0 and isinstance(sample_weight, numbers.Real):
        weights = np.full(n_rows, weights)
    if weights.shape != (n_rows,):
        raise ValueError(f"{who}: sample_weight.shape == {weights.shape}, expected ({n_rows},): one weight a row of X.")
    if (at := _first_bad_weight(weights)) is not None:
        raise ValueError(
            f"{who}: sample_weight must be finite and >= 0, got {weights[at]:g} at row {at}. Leave a row out with weight 0."
        )
    return weights


def _first_bad_weight(weights: np.ndarray) -> int | None:
    """Return the place of the first weight that is not finite and >= 0; None if all are."""
    good = np.isfinite(weights) & (weights >= 0.0)
    return None if good.all() else int(good.argmin())


def read_numbers(what: str, values) -> np.ndarray:
    """Return the values as an array of float64."""
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "biufO":
            raise ValueError(f"dtype {array.dtype}")
        return np.require(array, np.float64, ["C", "A"])
    except MemoryError:
        raise
    except OverflowError as error:
        raise ValueError(f"{what} must be numbers that fit float64, got one beyond it ({error}). Scale them.") from None
    except Exception as error:  # raised by numpy or by an object's methods
        raise ValueError(f"{what} must be numbers, got something else ({error}).") from None


def read_class_weight(who: str, class_weight, classes: np.ndarray, closed: bool = False) -> np.ndarray:
    """Return the weights of a dict in the order of classes, 1 if absent; an empty array for None and "balanced".

    closed : no other classes can join, so that a weight for another one is an error.
    """
    if class_weight is None or (isinstance(class_weight, str) and class_weight == "balanced"):
        return np.empty(0)
    if not isinstance(class_weight, dict):
        raise _wrong_weight(who, f"must be None, 'balanced' or a dict of label: weight, got {brief(class_weight)}.")
    labels = classes.tolist()
    strange = [label for label in class_weight if label not in labels] if closed else []
    if strange:
        raise _wrong_weight(who, f"must have classes for keys, got {brief(strange[0])}, not among {shown(classes)}.")
    weights = read_numbers(f"{who}: class_weight", [class_weight.get(label, 1.0) for label in labels])
    if weights.shape != (len(labels),):
        raise _wrong_weight(who, f"must have one number for a label, got {brief(class_weight)}.")
    if (at := _first_bad_weight(weights)) is not None:
        raise _wrong_weight(who, f"must be finite and >= 0, got {weights[at]:g} for class {brief(labels[at])}.")
    return weights


def _wrong_weight(who: str, problem: str) -> ParameterError:
    return ParameterError(f"{who}: class_weight {problem}", "class_weight")


def read_dtype(who: str, dtype):
    """Return the parameter dtype as a numpy dtype, float32 or float64; None stands for the dtype of the first X."""
    if dtype is None:
        return None
    # (Texts are not compared with dtypes: numpy would parse them, and warn of some.)
    if dtype in ("float32", "float64") if isinstance(dtype, str) else isinstance(dtype, (type, np.dtype)) and dtype in FLOATS:
        return np.dtype(dtype)
    raise ValueError(f"{who}: dtype must be None, numpy.float32 or numpy.float64, got dtype={brief(dtype)}.")


def available_memory() -> float:
    """Return the bytes that may be allocated, by free memory and the control group's limit; infinity if unknown."""
    found = [math.inf]
    try:
        with open("/proc/meminfo") as lines:
            found += [1024.0 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")]
        with open("/sys/fs/cgroup/memory.max") as limit, open("/sys/fs/cgroup/memory.current") as used:
            found.append(float(limit.read()) - float(used.read()))
    except (OSError, ValueError):  # not Linux, or no limit ("max")
        pass
    return min(found)


def same_names(who: str, seen, names) -> None:
    """Compare column names with those of the first call; raise or warn in scikit-learn's words if they differ."""
    if seen is None:
        warnings.warn(f"X has feature names, but {who} was fitted without feature names", UserWarning, stacklevel=4)
        return
    if names is None:
        warnings.warn(f"X does not have valid feature names, but {who} was fitted with feature names", UserWarning, stacklevel=4)
        return
    if len(seen) == len(names) and (seen == names).all():
        return

    def listed(strings):
        shown = [f"- {printable(name)}\n" for name in sorted(strings)]
        return "".join(shown[:5]) + ("- ...\n" if len(shown) > 5 else "")

    unseen, missing = set(names) - set(seen), set(seen) - set(names)
    message = "The feature names should match those that were passed during fit.\n"
    if unseen:
        message += "Feature names unseen at fit time:\n" + listed(unseen)
    if missing:
        message += "Feature names seen at fit time, yet now missing:\n" + listed(missing)
    if not unseen and not missing:
        message += "Feature names must be in the same order as they were in fit.\n"
    raise ValueError(message)
