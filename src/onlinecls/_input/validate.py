"""Conversion of whatever scikit-learn accepts to arrays that the compiled code can trust, or an error before any write.

An error names the caller, what was required, what came and what to do. Nothing here depends on a model or costs O(n_features).
"""

from __future__ import annotations

import copy
import math
import numbers

import numpy as np

from .._rows import Rows, converted, own_float
from . import escaped
from .compat import issparse, warn_caller

FLOATS = (np.dtype(np.float32), np.dtype(np.float64))
LONGEST_LABEL = 4096  # most characters of a label in a file (no path of a file is longer)
_ENCODE = "Encode texts, dates and categories as numbers, and fill in missing values."
_NUMBER, _TEXTS = (numbers.Real, np.bool_), {str, bytes, np.str_, np.bytes_}


class ParameterError(ValueError):
    """An error that names a parameter. The command line replaces `hint`, the part of the message about it, by its option."""

    def __init__(self, message: str, parameter: str = "", hint: str = ""):
        super().__init__(message)
        self.parameter, self.hint = parameter, hint or parameter


# --- texts in messages ---------------------------------------------------------------------------------------------------------


def brief(value) -> str:
    """Return the repr of any value for a message: at most 200 characters, control characters escaped."""
    try:
        text = escaped(repr(value))
    except Exception:  # an integer of more digits than Python prints, or an error in an object's __repr__
        text = f"<{type(value).__name__}>"
    return text if len(text) <= 200 else f"{text[:197]}..."


def _number(value) -> str:
    return "NaN" if value != value else f"{value:g}"


# --- X -------------------------------------------------------------------------------------------------------------------------


def feature_names(X):
    """Return the column names of a data frame if all are strings, else None."""
    is_arrow = type(X).__module__.startswith("pyarrow.")  # (whose columns are the numbers themselves)
    names = getattr(X, "column_names" if is_arrow else "columns", None)
    if names is None or not len(names) or not all(isinstance(name, str) for name in names):
        return None
    return np.array([*names], dtype=object)


def same_names(who: str, seen, names) -> None:
    """Compare column names with those of the first call, as many; raise if they differ, warn where one call has none."""
    if seen is None or names is None:
        has, fitted = ("has", "without") if seen is None else ("does not have valid", "with")
        warn_caller(f"X {has} feature names, but {who} was fitted {fitted} feature names")
    elif (other := seen != names).any():
        at = int(other.argmax())
        raise ValueError(
            f"{who}: X must have the columns of the first call, in their order, got {brief(names[at])} in the place of "
            f"{brief(seen[at])}, column {at}. Give X[list(learner.feature_names_in_)]."
        )


def read_rows(who: str, X, dtype) -> Rows:
    """Return X as Rows of the dtype (None: that of X if it is float32 or float64, else float64), copied only if necessary."""
    dtype = None if dtype is None else np.dtype(dtype)
    rows = converted(X, dtype)
    if rows is None and issparse(X):
        X = as_csr(who, X)
        rows = converted(X, dtype)
    if rows is None:
        raise _wrong(who, X, dtype)
    if rows.n_features == 0:
        raise ValueError(f"{who}: Found array with 0 feature(s) (shape=({rows.n_rows}, 0)) while a minimum of 1 is required.")
    return rows


def require_samples(who: str, rows: Rows) -> None:
    if rows.n_rows == 0:
        raise ValueError(f"{who}: Found array with 0 sample(s) (shape={rows.shape}) while a minimum of 1 is required.")


def as_array(what: str, values, required: str, dtype=None) -> np.ndarray:
    """Return the values as an array; turn whatever numpy or an object's __array__ raises into a ValueError."""
    try:
        return np.asarray(values, dtype)
    except MemoryError:
        raise
    except Exception as error:
        raise ValueError(f"{what} must be {required}, got something else ({error}). Give a numpy array.") from None


def _require_numbers(who: str, dtype, ndim: int, kinds: str = "biuf") -> None:
    """Raise unless X is a table of numbers."""
    if dtype.kind not in kinds:
        hint = "Complex data not supported: use its real part." if dtype.kind == "c" else _ENCODE
        raise ValueError(f"{who}: X must be numbers, got dtype {dtype}. {hint}")
    if ndim != 2:
        raise ValueError(
            f"{who}: Expected 2D array, got {'scalar' if ndim == 0 else f'{ndim}D'} array instead. Reshape your data: "
            "X.reshape(1, -1) if it is a single sample, X.reshape(-1, 1) if it has a single feature."
        )


def _table_of(who: str, X) -> np.ndarray:
    """Return X as a table of numbers; raise the error of the first cell that holds none."""
    table = as_array(f"{who}: X", X, "rows of equal length")
    _require_numbers(who, table.dtype, table.ndim, "biufO")
    if table.dtype.kind != "O":
        return table
    found = np.empty(table.shape)
    for (row, column), value in np.ndenumerate(table):
        try:
            found[row, column] = value
        except Exception as error:  # (objects fail in many ways)
            kind = TypeError if isinstance(error, TypeError) and not is_missing(value) else ValueError
            came = f"{brief(value)} at row {row}, column {column}"
            raise kind(f"{who}: X must be numbers, got {came} ({error}). {_ENCODE}") from None
    return found


def is_missing(value) -> bool:
    """Return True for None, NaN, and pandas' NA and NaT."""
    if isinstance(value, (float, np.floating)):
        return bool(value != value)
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def as_csr(who: str, X):
    """Return a sparse matrix as CSR of numbers whose structure is right; values are not checked, and X is not changed.

    It is made from checked parts: scipy's own conversions write wherever an invalid index points.
    """
    from scipy import sparse

    if X.format == "csr" and len(X.data) >= 2**31:
        raise ValueError(f"{who}: X must have less than 2**31 stored numbers, got {len(X.data)}. Give the rows in parts.")
    try:
        if X.format in ("csr", "csc", "bsr"):
            Y = copy.copy(X)  # (the check may put other arrays in the place of its own)
            if Y.indices.dtype.kind not in "iu" or (Y.indptr[1:] < Y.indptr[:-1]).any():
                raise ValueError(f"indices of dtype {Y.indices.dtype}, the indptr {brief(Y.indptr.tolist())}")
            Y.check_format(full_check=True)
        else:
            Y = X
            if X.format == "lil" and ([*map(len, X.rows)] != [*map(len, X.data)] or len(X.rows) != X.shape[0]):
                raise ValueError("its lists of columns and of values are of unlike lengths")
            if X.format == "dia":
                inside = (X.offsets > -X.shape[0]) & (X.offsets < X.shape[1])
                Y = sparse.dia_array((X.data[inside], X.offsets[inside]), shape=X.shape)
            parts = Y.tocoo()
            Y = sparse.coo_array((parts.data, (parts.row, parts.col)), shape=X.shape)
        Y = Y.tocsr()
    except MemoryError:
        raise
    except Exception as error:  # texts, lists and objects instead of arrays fail in many ways
        raise ValueError(
            f"{who}: X must be a valid sparse matrix, got an invalid {X.format} matrix ({error}). "
            "Build it with scipy.sparse.csr_matrix((data, (rows, columns)), shape=...)."
        ) from None
    _require_numbers(who, Y.data.dtype, Y.ndim)
    if Y.indices.max(initial=0) >= 2**31:
        raise ValueError(f"{who}: X must have at most 2**31 columns, got {X.shape[1]}. Hash their names to fewer ones.")
    return Y


def _wrong(who: str, X, dtype) -> ValueError:
    """Return the error of rows that are none: that of the first number which is not finite in the dtype, if all are numbers."""
    with np.errstate(over="ignore", under="ignore"):
        if issparse(X):
            X = X.astype(own_float(X.dtype))
            X.sum_duplicates()
            X = X.tocoo()
            data = X.data
        else:
            X = _table_of(who, X)
            data = X.reshape(-1)
        found = data.astype(own_float(data.dtype) if dtype is None else dtype)
    at = int(np.isfinite(found).argmin())
    place = "row {}, column {}".format(*((X.row[at], X.col[at]) if issparse(X) else divmod(at, X.shape[1])))
    came = f"{_number(data[at])} at {place}. Drop the row, fill in the value, or scale the data."
    return ValueError(f"{who}: X must be finite in {found.dtype}, got {came}")


# --- y -------------------------------------------------------------------------------------------------------------------------


def read_labels(who: str, y, n_rows: int | None, name: str = "y") -> np.ndarray:
    """Return labels as a 1-D array of one type: integers, booleans, texts, bytes, or floats that are integers.

    n_rows : how many there must be; None: any number. name : of the argument, for messages.
    """
    types = {*map(type, y)} if isinstance(y, (list, tuple)) else set()
    is_mixed = len(types) > 1 and not _TEXTS.isdisjoint(types)  # (of texts and others numpy would make texts)
    array = as_array(f"{who}: {name}", y, "labels", object if is_mixed else None)
    array = array if array.shape == (n_rows,) else _one_a_row(who, name, y, array, n_rows)
    if array.dtype.kind == "O":
        array = _of_one_type(who, name, array)
    if array.dtype.kind == "f":
        if len(broken := array[~(np.isfinite(array) & (array == np.floor(array)))]):
            unknown = "Unknown label type: continuous. " if name == "y" else ""
            hint = "Drop rows without one; use a regressor, or turn the values into classes."
            raise ValueError(f"{who}: {unknown}{name} must be labels, got {_number(broken[0])}. {hint}")
    elif array.dtype.kind not in "biuUS":
        raise ValueError(f"{who}: {name} must be integers, booleans or strings, got dtype {array.dtype}.")
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))  # (compiled code compares code points)


def _of_one_type(who: str, name: str, y: np.ndarray) -> np.ndarray:
    """Return labels that are objects, all texts, all bytes or all numbers (a mixture has no order), as an array of their type."""
    types = {*map(type, y)}
    kind = next((kind for kind in (str, bytes, _NUMBER) if all(issubclass(each, kind) for each in types)), None)
    if kind is None:
        found = [f"{brief(label)} at row {at}" for at, label in enumerate(y) if is_missing(label)]
        came = found[0] if found else f"types {', '.join(sorted(each.__name__ for each in types))}"
        raise ValueError(
            f"{who}: {name} must be all strings or all numbers, got {came}. Drop rows without a label; give the others one type."
        )
    return y.astype(str) if kind is str else np.array(y.tolist())


def read_targets(who: str, y, n_rows: int) -> np.ndarray:
    """Return y as a 1-D array of n_rows finite float64 numbers, copied only if necessary."""
    array = read_numbers(f"{who}: y", y)
    array = array if array.shape == (n_rows,) else _one_a_row(who, "y", y, array, n_rows)
    _require_finite(f"{who}: y", array, "finite", np.isfinite(array), "Drop the row.")
    return array


def _one_a_row(who: str, name: str, y, array: np.ndarray, n_rows: int | None) -> np.ndarray:
    """Return a column of targets as a 1-D array; raise the error for any other that is not one a row."""
    if y is None:
        raise ValueError(f"{who}: requires y to be passed, but the target y is None.")
    if array.ndim == 2 and array.shape[1] == 1:
        message = "A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples,)."
        warn_caller(message, "DataConversionWarning")
        array = array.ravel()
    if array.ndim != 1:
        raise ValueError(f"{who}: {name} should be a 1d array, got a {type(y).__name__} of shape {array.shape} instead.")
    if n_rows is not None and len(array) != n_rows:
        raise ValueError(
            f"{who}: X and {name} must have the same number of rows, got inconsistent numbers of samples: {n_rows} in X and "
            f"{len(array)} in {name}."
        )
    return array


def comparable(who: str, y: np.ndarray, classes: np.ndarray, name: str = "y") -> np.ndarray:
    """Return labels that compare with the classes exactly; raise ValueError unless both are texts, or numbers that can."""
    kinds = {y.dtype.kind, classes.dtype.kind}
    if not len(y) or y.dtype == classes.dtype or kinds in ({"U"}, {"S"}):
        return y
    alike = not kinds & {"U", "S"}
    if alike and np.result_type(y, classes).kind == "f":  # (which must tell integers apart)
        alike = all(each.dtype.kind == "f" or np.abs(each.astype(np.float64)).max() < 2**53 for each in (y, classes))
    if not alike:
        raise ValueError(
            f"{who}: {name} must be labels like the model's classes, {brief(classes.tolist()[0])} of dtype {classes.dtype}, "
            f"got {brief(y.tolist()[0])} of dtype {y.dtype}. Give all labels in one dtype, or as texts."
        )
    return y


def union(*labels: np.ndarray) -> np.ndarray:
    """Return the labels of all arrays, sorted and unique. (Without return_index, `unique` imports numpy.ma, in 10 ms.)"""
    return np.unique(np.concatenate(labels), return_index=True)[0]


def encode(who: str, y: np.ndarray, classes: np.ndarray, is_open: bool = False) -> tuple[np.ndarray, np.ndarray | None]:
    """Return each label's place among the sorted classes, and a mask of labels not among them (None: all are).

    Raise ValueError for a label that does not compare with them and, unless the classes are open, for one not among them.
    """
    if y.dtype != classes.dtype:
        comparable(who, y, classes)
    are_integers = y.dtype.kind == classes.dtype.kind == "i" and len(classes)
    span = int(classes[-1]) - int(classes[0]) + 1 if are_integers else len(y)
    if len(classes) == 2 and len(y) and y.dtype.kind in "biufUS":  # the common case, without a search
        # (Arrays, not scalars: with numpy's text scalars, `==` loses one of a hundred Ctrl-Cs.)
        codes = np.equal(y, classes[1:])
        known = codes | np.equal(y, classes[:1])
    elif span < min(len(y), 4 * len(classes) + 1024):  # integers close together: a search would cost a tenth of learning
        table = np.full(span + 1, -1, np.int32)  # (the last place is that of all beyond the classes)
        table[np.subtract(classes, classes[0], dtype=np.int64)] = np.arange(len(classes))
        codes = table[np.subtract(y, classes[0], dtype=np.int64).clip(-1, span)]
        known = codes >= 0
    elif len(classes):
        codes = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
        known = classes[codes] == y
    else:
        codes = known = np.zeros(len(y), bool)
    if known.all():
        return codes.astype(np.int32), None
    if not is_open:
        raise ValueError(
            f"{who}: y must be among the classes {brief(classes.tolist())}, got {brief(y[~known].tolist()[0])} at row "
            f"{int(known.argmin())}. "
            "Name all labels in classes at the first call, or leave classes out there: then labels join as they appear."
        )
    return codes.astype(np.int32), ~known


# --- weights and others --------------------------------------------------------------------------------------------------------


def read_numbers(what: str, values) -> np.ndarray:
    """Return the values as an array of float64."""
    array = as_array(what, values, "numbers")
    if array.dtype.kind not in "biufO":
        raise ValueError(f"{what} must be numbers, got dtype {array.dtype}.")
    return np.require(as_array(what, array, "numbers", np.float64), None, ["C", "A"])


def _require_finite(what: str, numbers: np.ndarray, required: str, good: np.ndarray, hint: str) -> None:
    if not good.all():
        at = int(good.argmin())
        raise ValueError(f"{what} must be {required}, got {_number(numbers[at])} at row {at}. {hint}")


def read_weights(who: str, sample_weight, n_rows: int, some: bool = False) -> np.ndarray:
    """Return sample weights as float64, one for each row; an empty array if all are 1. some : refuse zeros for all rows."""
    if sample_weight is None:
        return np.empty(0)
    weights = read_numbers(f"{who}: sample_weight", sample_weight)
    if weights.ndim == 0 and isinstance(sample_weight, numbers.Real):
        weights = np.full(n_rows, weights)
    if weights.shape != (n_rows,):
        raise ValueError(f"{who}: sample_weight.shape == {weights.shape}, expected ({n_rows},): one weight a row of X.")
    good = np.isfinite(weights) & (weights >= 0.0)
    _require_finite(f"{who}: sample_weight", weights, "finite and >= 0", good, "Leave a row out with weight 0.")
    if some and n_rows and not weights.any():
        do = "Leave it out for equal weights."
        raise ValueError(f"{who}: sample_weight must not be 0 for all rows, got {n_rows} zeros. {do}")
    return weights


def read_class_weight(who: str, class_weight, classes: np.ndarray, closed: bool = False) -> np.ndarray:
    """Return the weights of a dict in the order of classes, 1 if absent; an empty array for None and "balanced".

    closed : no other classes can join, so that a weight for another one is an error.
    """
    if class_weight is None or (isinstance(class_weight, str) and class_weight == "balanced"):
        return np.empty(0)
    labels = classes.tolist()
    if not isinstance(class_weight, dict):
        problem = f"must be None, 'balanced' or a dict of label: weight, got {brief(class_weight)}."
    elif closed and (strange := [label for label in class_weight if label not in labels]):
        problem = f"must have classes for keys, got {brief(strange[0])}, not among {brief(labels)}."
    else:
        weights = read_numbers(f"{who}: class_weight", [class_weight.get(label, 1.0) for label in labels])
        if weights.shape == (len(labels),) and (np.isfinite(weights) & (weights >= 0.0)).all():
            return weights
        problem = f"must have a finite number >= 0 for a label, got {brief(class_weight)}."
    raise ParameterError(f"{who}: class_weight {problem}", "class_weight")


def read_dtype(who: str, dtype):
    """Return the parameter dtype as a numpy dtype, float32 or float64; None stands for the dtype of the first X."""
    name = dtype if isinstance(dtype, str) else getattr(dtype, "name", getattr(dtype, "__name__", ""))
    if dtype is None or name in ("float32", "float64", "float"):
        return None if dtype is None else np.dtype(name)
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
