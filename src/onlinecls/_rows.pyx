"""`Rows`: the container of rows between the code that reads them and the loops, and the checks that the loops' safety needs.

    take        accepts rows as they lie: a sorted CSR matrix of scipy with int32 columns or an array, in the model's dtype
    converted   takes them, or makes such rows of any CSR matrix or table of numbers: casts, sorts, adds duplicates up

Both return None for what they cannot read; `_input.validate` converts the rest, and words the errors.
"""
from libc.stdint cimport INT32_MAX, int32_t, int64_t, uint32_t, uint64_t

from functools import lru_cache
from sys import modules

import numpy as np

INT32, INT64, UINT64, FLOAT32, FLOAT64 = map(np.dtype, (np.int32, np.int64, np.uint64, np.float32, np.float64))
NO_INDICES = np.empty(0, np.uint8)      # the indices of dense rows: a number's column is its place in the row

cdef enum:
    STRETCH = 1024          # numbers that are checked in one loop


cdef class Rows:
    """Rows for the loops: row i is data[indptr[i]:indptr[i + 1]], at the columns in the same part of indices.

    data : float32 or float64. indices : int32, strictly rising in each row and below n_features; `NO_INDICES` where the rows are
    dense. indptr : int64; it does not begin with 0 in a part of other rows. All are contiguous, all values are finite.

    The code that makes them guarantees this: `take` and `converted` have checked a user's input, a parser its own. They are not
    checked again, and cost less than a matrix of scipy.sparse, which takes a tenth of the time of parsing to make.
    """

    def __init__(self, data, indices, indptr, Py_ssize_t n_rows, Py_ssize_t n_features):
        self.data, self.indices, self.indptr, self.n_rows, self.n_features = data, indices, indptr, n_rows, n_features

    def __reduce__(self):
        return Rows, (self.data, self.indices, self.indptr, self.n_rows, self.n_features)

    format = property(lambda self: "csr")
    ndim = property(lambda self: 2)
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
        empty = empty_rows(kind, self.shape, self.data.dtype)
        X = type(empty).__new__(type(empty))
        X.__dict__.update(empty.__dict__)       # (as copy.copy, in a fifth of its time)
        start, stop = self.indptr.item(0), self.indptr.item(self.n_rows)
        X.data, X.indices = self.data[start:stop], self.indices[start:stop]
        X.indptr = (self.indptr - start).astype(np.int32)
        X.has_canonical_format = True           # (and so sorted)
        return X


@lru_cache(maxsize=256)
def empty_rows(str kind, tuple shape, dtype):
    """Return an empty scipy matrix. (Its constructor takes thirty times as long as copying it.)"""
    from scipy import sparse

    return getattr(sparse, kind)(shape, dtype=dtype)


# --- rows as they lie -----------------------------------------------------------------------------------------------------------

cdef enum:
    WRONG
    UNSORTED                # all is right but that columns fall or repeat within a row, or lie outside
    SOUND


cdef bint is_csr(X) except -1:
    """Return True if X is one of scipy's own CSR matrices, not of a subclass."""
    scipy = modules.get("scipy.sparse")
    return scipy is not None and (type(X) is getattr(scipy, "csr_matrix", None) or type(X) is getattr(scipy, "csr_array", None))


cpdef Rows take(X, dtype):
    """Return the rows of X as they lie; None if they must be converted, or are wrong. dtype : float32 or float64; None: X's."""
    cdef Rows rows = Rows.__new__(Rows)
    indptr = None
    if type(X) is np.ndarray:
        rows.data, rows.indices = X.ravel(), NO_INDICES
    elif is_csr(X):
        rows.data, rows.indices, indptr = X.data, X.indices, X.indptr
    else:
        return None
    if type(rows.data) is not np.ndarray:       # (overwritten by something else)
        return None
    return rows if state_of(rows, X.shape, own_float(rows.data.dtype if dtype is None else dtype), indptr) == SOUND else None


cpdef own_float(dtype):
    """Return the dtype of rows made of numbers of this dtype: float32 of float32, float64 of all others."""
    if dtype is FLOAT32 or dtype is FLOAT64:
        return dtype
    return FLOAT32 if dtype.kind == "f" and dtype.itemsize == 4 else FLOAT64


cdef int state_of(Rows rows, tuple shape, dtype, indptr) except -1:
    """Check the arrays of rows, and set their shape and indptr: all that loops need to be safe. indptr : None for dense rows."""
    cdef Py_ssize_t i, n, size = 4 if dtype is FLOAT32 else 8, n_data = 0, n_indices = 0, n_given = 0, nnz = 0
    cdef const void* data = numbers_of(rows.data, dtype, size, &n_data)
    cdef const int32_t* columns = NULL
    cdef const int32_t* given = NULL
    cdef const int64_t* starts = NULL
    cdef int64_t* made
    cdef bint is_dense = indptr is None, falls = False, is_sound
    if data == NULL or len(shape) != 2:
        return WRONG
    rows.n_rows, rows.n_features = shape
    n, rows.indptr = rows.n_rows, indptr
    if not is_dense:
        columns = <const int32_t*>numbers_of(rows.indices, INT32, 4, &n_indices)
        given = <const int32_t*>numbers_of(indptr, INT32, 4, &n_given)
        if given == NULL:
            starts = <const int64_t*>numbers_of(indptr, INT64, 8, &n_given)
        if columns == NULL or n < 0 or n_given != n + 1 or (given == NULL and starts == NULL):
            return WRONG
    if starts == NULL:
        rows.indptr = np.empty(n + 1, INT64)
        starts = made = <int64_t*>start_of(rows.indptr, 8, &n_given)
        for i in range(n + 1):
            made[i] = i * rows.n_features if is_dense else given[i]
    for i in range(n):
        falls |= starts[i + 1] < starts[i]
    nnz = starts[n]
    if falls or starts[0] != 0 or nnz > n_data or (not is_dense and (nnz > n_indices or nnz > INT32_MAX)):
        return WRONG
    if not is_dense and not (nnz == n_data == n_indices):       # slack behind the last row
        rows.data, rows.indices = rows.data[:nnz], rows.indices[:nnz]
    with nogil:
        if not is_dense:
            return (state_of_sparse(<const float*>data, columns, starts, n, rows.n_features) if size == 4 else
                    state_of_sparse(<const double*>data, columns, starts, n, rows.n_features))
        is_sound = are_finite(<const float*>data, nnz) if size == 4 else are_finite(<const double*>data, nnz)
    return SOUND if is_sound else WRONG


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


# --- rows that must be converted ------------------------------------------------------------------------------------------------


cpdef Rows converted(X, dtype):
    """Return X as rows, copied only where it must be; None if it is no CSR matrix and no table of numbers, or a check fails.

    dtype : float32 or float64; None: that of X if it is one of these, else float64. The caller's arrays do not change.
    """
    cdef Rows rows = take(X, dtype)
    cdef int state
    if rows is not None:
        return rows
    rows, indptr = Rows.__new__(Rows), None
    if getattr(X, "format", None) == "csr":
        data, indices, indptr, shape = X.data, X.indices, X.indptr, X.shape
        if not all([isinstance(part, np.ndarray) for part in (data, indices, indptr)]):
            return None
        if data.dtype.kind not in "biuf" or indices.dtype.kind not in "iu" or indptr.dtype.kind not in "iu":
            return None
        dtype, of_sums = own_float(data.dtype if dtype is None else dtype), own_float(data.dtype)
        indptr = plain(indptr, INT64)
        nnz = indptr.item(len(indptr) - 1) if len(indptr) else 0
        if nnz > INT32_MAX:
            return None
        indices = indices[:nnz]         # (there may be slack behind the last row)
        rows.data, rows.indices = plain(data[:nnz], of_sums), plain(indices, INT32)
        if rows.indices is not indices and not (rows.indices == indices).all():     # (too many columns)
            return None
        state = state_of(rows, shape, of_sums, indptr)
        if state == WRONG:
            return None
        if state == UNSORTED:
            put_in_order(rows, <float>0.0) if of_sums is FLOAT32 else put_in_order(rows, <double>0.0)
            if data.dtype.kind == "b":
                np.minimum(rows.data, 1.0, out=rows.data)       # (True and True are True, as for scipy)
        elif dtype is of_sums:
            return rows
        rows.data, indptr = plain(rows.data, dtype), rows.indptr
    else:
        try:
            table = np.asarray(X)
        except MemoryError:
            raise
        except Exception:       # raised by numpy or by an object's methods
            return None
        if table.ndim != 2 or table.dtype.kind not in "biuf":
            return None
        dtype, shape = own_float(table.dtype if dtype is None else dtype), table.shape
        rows.data, rows.indices = plain(table.ravel(), dtype), NO_INDICES
    return rows if state_of(rows, shape, dtype, indptr) == SOUND else None


cdef plain(array, dtype):
    """Return the array as one of just this dtype, contiguous and aligned, copied only if necessary."""
    if dtype is FLOAT32 and array.dtype.itemsize > 4:
        with np.errstate(over="ignore", under="ignore"):        # (infinity is refused later)
            array = np.ascontiguousarray(array, dtype)
    else:
        array = np.ascontiguousarray(array, dtype)
    array = array if array.flags.aligned else array.copy()
    return array if array.dtype is dtype and type(array) is np.ndarray else array.view(dtype, np.ndarray)   # (a pickled dtype)


cdef int put_in_order(Rows rows, floating zero) except -1:
    """Replace the arrays of rows by others with columns in order and duplicates added up, in the order in which they came.

    zero : of the type of the values. (Columns may still lie outside.)
    """
    cdef Py_ssize_t i, k, nnz, start, longest = 0, at = 0, n = rows.n_rows
    cdef const int64_t* starts = <const int64_t*>start_of(rows.indptr, 8, &i)
    cdef const int32_t* columns = <const int32_t*>start_of(rows.indices, 4, &i)
    cdef const floating* values = <const floating*>start_of(rows.data, sizeof(floating), &i)
    for i in range(n):
        longest = max(longest, starts[i + 1] - starts[i])
    data, indices, indptr = np.empty_like(rows.data), np.empty_like(rows.indices), np.zeros(n + 1, INT64)
    workspace = np.empty(2 * longest, UINT64)
    cdef uint64_t* keys = <uint64_t*>start_of(workspace, 8, &i)
    cdef const uint64_t* in_order
    cdef int64_t* ends = <int64_t*>start_of(indptr, 8, &i)
    cdef int32_t* found = <int32_t*>start_of(indices, 4, &i)
    cdef floating* sums = <floating*>start_of(data, sizeof(floating), &i)
    cdef int32_t column
    cdef floating value
    with nogil:
        for i in range(n):
            start, nnz = starts[i], starts[i + 1] - starts[i]
            for k in range(nnz):
                keys[k] = <uint64_t>columns[start + k] << 32 | <uint64_t>k
            in_order = sort(keys, keys + longest, nnz)
            for k in range(nnz):
                column, value = <int32_t>(in_order[k] >> 32), values[start + <uint32_t>in_order[k]]
                if at > ends[i] and column == found[at - 1]:
                    sums[at - 1] += value
                else:
                    found[at], sums[at] = column, value
                    at += 1
            ends[i + 1] = at
    rows.data, rows.indices, rows.indptr = data[:at], indices[:at], indptr
    return 0


cdef uint64_t* sort(uint64_t* keys, uint64_t* spare, Py_ssize_t n) noexcept nogil:
    """Sort n different numbers by merging runs of 1, 2, 4 ...; return where they are, in `keys` or in `spare`."""
    cdef Py_ssize_t width = 1, k, left, right, middle, end
    while width < n:
        end = 0
        while end < n:
            left, right = end, min(end + width, n)
            middle, end = right, min(right + width, n)
            for k in range(left, end):
                if right == end or (left < middle and keys[left] < keys[right]):
                    spare[k], left = keys[left], left + 1
                else:
                    spare[k], right = keys[right], right + 1
        keys, spare, width = spare, keys, 2 * width
    return keys
