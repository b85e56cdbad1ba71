"""`Rows`: the container of rows between the code that reads them and the loops, and the checks that the loops' safety needs.

`converted` takes them as they lie, or makes them of any CSR matrix or table of numbers: casts, sorts, adds duplicates up. It
returns None for what it cannot read; `_input.validate` makes CSR of other sparse matrices, and words the errors.
"""
from libc.stdint cimport INT32_MAX, int32_t, int64_t

from functools import lru_cache

import numpy as np

cnp.import_array()                      # (`new_array` needs it)
INT32, INT64, FLOAT32, FLOAT64 = map(np.dtype, (np.int32, np.int64, np.float32, np.float64))
NO_INDICES = np.empty(0, np.uint8)      # the indices of dense rows: a number's column is its place in the row

cdef enum:
    STRETCH = 1024          # numbers that are checked in one loop
    FEW = 1024              # most rows of a small call
    WRONG = 0               # what is found of the arrays of rows: they cannot be used;
    UNSORTED                # all is right but that columns fall or repeat within a row, or lie outside;
    SOUND


cdef class Rows:
    """Rows for the loops: row i is data[indptr[i]:indptr[i + 1]], at the columns in the same part of indices.

    data : float32 or float64. indices : int32, strictly rising in each row and below n_features; `NO_INDICES` where the rows are
    dense. indptr : int64; it does not begin with 0 in a part of other rows. All are contiguous, all values are finite.

    The code that makes them guarantees this: `converted` has checked a user's input, a parser its own. They are not checked
    again, and cost less than a matrix of scipy.sparse, which takes a tenth of the time of parsing to make.
    """

    def __init__(self, data, indices, indptr, Py_ssize_t n_rows, Py_ssize_t n_features):
        self.data, self.indices, self.indptr, self.n_rows, self.n_features = data, indices, indptr, n_rows, n_features

    format, ndim = "csr", 2
    shape = property(lambda self: (self.n_rows, self.n_features))
    nnz = property(lambda self: self.indptr.item(self.n_rows) - self.indptr.item(0))
    is_dense = property(lambda self: self.indices.itemsize == 1)

    def part(self, Py_ssize_t start, Py_ssize_t stop):
        """Return consecutive rows without copying."""
        return Rows(self.data, self.indices, self.indptr[start:stop + 1], stop - start, self.n_features)

    def chosen(self, numbers):
        """Return copies of the rows of these numbers."""
        found = self.array()[numbers]
        return converted(found, found.dtype)

    def array(self):
        """Return a dense array or a CSR array, without copying values."""
        if self.is_dense:
            return self.data[self.indptr.item(0):self.indptr.item(self.n_rows)].reshape(self.shape)
        return self.matrix("csr_array")

    def matrix(self, str kind="csr_matrix"):
        """Return a scipy.sparse matrix of sparse rows, without copying values: a copy of an empty one with their arrays.

        (scipy's constructor would copy a part of less than half of the whole.)
        """
        empty = empty_rows(kind, (self.n_rows, self.n_features), self.data.dtype)
        X = type(empty).__new__(type(empty))
        X.__dict__.update(empty.__dict__)       # (as copy.copy, in a fifth of its time)
        start, stop = self.indptr.item(0), self.indptr.item(self.n_rows)
        is_whole = start == 0 and stop == len(self.data)
        X.data, X.indices = (self.data, self.indices) if is_whole else (self.data[start:stop], self.indices[start:stop])
        X.indptr = (self.indptr if is_whole else self.indptr - start).astype(INT32)
        return X


@lru_cache(maxsize=256)
def empty_rows(str kind, tuple shape, dtype):
    """Return an empty scipy matrix. (Its constructor takes thirty times as long as copying it.)"""
    from scipy import sparse

    found = getattr(sparse, kind)(shape, dtype=dtype)
    found.has_canonical_format = True           # (and so sorted)
    return found


cpdef own_float(dtype):
    """Return the dtype of rows made of numbers of this dtype: float32 of float32, float64 of all others."""
    if dtype is FLOAT32 or dtype is FLOAT64:
        return dtype
    return FLOAT32 if dtype.kind == "f" and dtype.itemsize == 4 else FLOAT64


cpdef Rows converted(X, dtype, bint few=False):
    """Return X as rows, copied only where it must be; None if it is no CSR matrix and no table of numbers, or a check fails.

    dtype : float32 or float64; None: that of X if it is one of these, else float64. few : None, too, for more than FEW rows, and
    for what is no CSR matrix, array or list. The caller's arrays do not change.
    """
    cdef Rows rows = Rows.__new__(Rows)
    cdef int state
    if type(X) is Rows:
        if dtype is None or (<Rows>X).data.dtype == dtype:
            return X if not few or (<Rows>X).n_rows <= FEW else None
        X = X.array()
    kind = None if type(X) is np.ndarray or type(X) is list else getattr(X, "format", None)
    is_csr = type(kind) is str and kind == "csr"            # (a frame may have a column of that name)
    shape = X.shape if is_csr or type(X) is np.ndarray else (len(X),) if type(X) is list else ()
    if few and not (type(shape) is tuple and shape and type(shape[0]) is int and shape[0] <= FEW):
        return None
    if is_csr:
        data = X.data
        of_sums = own_float(getattr(data, "dtype", FLOAT64))
        dtype = of_sums if dtype is None else own_float(dtype)
        rows.data, rows.indices, rows.indptr = plain(data, of_sums), plain(X.indices, INT32, "iu"), starts_of(X.indptr)
        state = state_of(rows, shape, of_sums)
        if state == UNSORTED:
            put_in_order(rows)
            if data.dtype.kind == "b":
                np.minimum(rows.data, 1.0, out=rows.data)       # (True and True are True, as for scipy)
        elif state == WRONG or dtype is of_sums:
            return rows if state == SOUND else None
        rows.data = plain(rows.data, dtype)
    else:
        try:
            table = np.asarray(X)
            if table.ndim != 2:
                return None
            dtype, shape = own_float(table.dtype if dtype is None else dtype), table.shape
            rows.data, rows.indices = plain(table.ravel(), dtype, "biufO"), NO_INDICES
            rows.indptr = np.arange(shape[0] + 1) * shape[1]
        except MemoryError:
            raise
        except Exception:       # raised by numpy or by an object's methods
            return None
    return rows if state_of(rows, shape, dtype) == SOUND else None


cdef new_array(Py_ssize_t n, int type):
    """Return what np.empty does, in half of its time."""
    cdef cnp.npy_intp size = n
    return cnp.PyArray_EMPTY(1, &size, type, 0)


cdef starts_of(indptr):
    """Return an indptr as int64; None if it is none."""
    cdef Py_ssize_t i, n
    cdef const int32_t* given = <const int32_t*>numbers_of(indptr, INT32, &n)
    if given == NULL:
        return plain(indptr, INT64, "iu")
    found = new_array(n, cnp.NPY_INT64)     # (a loop: one row is converted in a tenth of numpy's time)
    cdef int64_t* starts = <int64_t*>start_of(found, &i)
    for i in range(n):
        starts[i] = given[i]
    return found


cdef plain(array, dtype, str kinds="biuf"):
    """Return an array of these kinds as one of just this dtype, contiguous and aligned, copied only if necessary; or None."""
    cdef Py_ssize_t n
    if numbers_of(array, dtype, &n) != NULL:
        return array
    if not isinstance(array, np.ndarray) or array.dtype.kind not in kinds:
        return None
    if dtype is FLOAT32 or array.dtype.kind == "O":
        with np.errstate(over="ignore", under="ignore"):        # (infinity is refused later)
            found = np.ascontiguousarray(array, dtype)
    else:
        found = np.ascontiguousarray(array, dtype)
    if dtype is INT32 and not (found == array).all():
        return None             # too many columns
    found = found if found.flags.aligned else found.copy()
    return found if found.dtype is dtype and type(found) is np.ndarray else found.view(dtype, np.ndarray)   # (a pickled dtype)


cdef put_in_order(Rows rows):
    """Replace the arrays of rows by others with columns in order and duplicates added up, in the order in which they came."""
    keys = rows.indices + (np.arange(rows.n_rows) << 32).repeat(rows.indptr[1:] - rows.indptr[:-1])
    order = keys.argsort(kind="stable")
    keys, data = keys[order], rows.data[order]
    is_first = np.empty(len(keys), bool)
    is_first[:1], is_first[1:] = True, keys[1:] != keys[:-1]
    if not is_first.all():
        sums, place = data[is_first], is_first.cumsum() - 1
        with np.errstate(over="ignore", invalid="ignore"):      # (infinity is refused later)
            np.add.at(sums, place[~is_first], data[~is_first])
        keys, data = keys[is_first], sums
    rows.data, rows.indices = data, keys.astype(INT32)
    rows.indptr = keys.searchsorted(np.arange(rows.n_rows + 1) << 32)


cdef int state_of(Rows rows, tuple shape, dtype) except -1:
    """Check the arrays of rows, and set their shape: all that loops need to be safe."""
    cdef Py_ssize_t i, n, nnz, size = 4 if dtype is FLOAT32 else 8, n_data = 0, n_indices = 0, n_starts = 0
    cdef const void* data = numbers_of(rows.data, dtype, &n_data)
    cdef const int64_t* starts = <const int64_t*>numbers_of(rows.indptr, INT64, &n_starts)
    cdef const int32_t* columns = NULL
    cdef bint falls = False, is_sound
    if data == NULL or starts == NULL or len(shape) != 2:
        return WRONG
    rows.n_rows, rows.n_features = shape
    n = rows.n_rows
    if n < 0 or n_starts != n + 1 or starts[0] != 0:
        return WRONG
    for i in range(n):
        falls |= starts[i + 1] < starts[i]
    nnz = starts[n]
    if falls or nnz > n_data:
        return WRONG
    if rows.indices is NO_INDICES:
        with nogil:
            is_sound = are_finite(<const float*>data, nnz) if size == 4 else are_finite(<const double*>data, nnz)
        return SOUND if is_sound else WRONG
    columns = <const int32_t*>numbers_of(rows.indices, INT32, &n_indices)
    if columns == NULL or nnz > n_indices or nnz > INT32_MAX:
        return WRONG
    if not (nnz == n_data == n_indices):        # slack behind the last row
        rows.data, rows.indices = rows.data[:nnz], rows.indices[:nnz]
    with nogil:
        return (state_of_sparse(<const float*>data, columns, starts, n, rows.n_features) if size == 4 else
                state_of_sparse(<const double*>data, columns, starts, n, rows.n_features))


cdef int state_of_sparse(const floating* data, const int32_t* columns, const int64_t* starts, Py_ssize_t n,
                         int64_t n_features) noexcept nogil:
    """Return UNSORTED unless the columns of each row rise strictly, from 0 or more to less than n_features.

    Falls are counted over stretches of many rows, in a loop that the compiler makes wide; those from row to row are subtracted.
    """
    cdef Py_ssize_t i = 0, k, lo, hi, start = 0, stop, nnz = starts[n]
    cdef int32_t falls
    cdef bint is_sorted = True
    cdef Carry carry = Carry(0, 0)
    while start < nnz:
        stop = min(nnz, start + STRETCH)
        carry_of(&data[start], &carry)
        falls = 0 if start == 0 else columns[start] <= columns[start - 1]
        for k in range(start + 1, stop):        # (one loop: in two, each would wait for memory in turn)
            carry_of(&data[k], &carry)
            falls += 1 - (columns[k] > columns[k - 1])
        while i < n and starts[i] < stop:
            lo, hi = starts[i], starts[i + 1]
            if lo < hi:
                falls -= lo > 0 and columns[lo] <= columns[lo - 1]
                is_sorted &= columns[lo] >= 0 and columns[hi - 1] < n_features
            i += 1
        is_sorted &= falls == 0
        start = stop
    return UNSORTED if not is_sorted else WRONG if has_carry(&carry) else SOUND
