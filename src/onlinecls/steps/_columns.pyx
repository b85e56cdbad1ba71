"""Columns of sparse rows transformed by a number a column: its largest magnitude so far, or its count of rows so far.

Rows are learnt one after the other, each transformed by the numbers of the rows so far, itself among them. Before a call returns,
it takes back what it has changed, and hands that to the caller, who writes it once the rows are accepted: a batch costs O(its
non-zeros), refused or not.
"""
from cython cimport critical_section, final
from libc.math cimport copysign, fabs, fmin, log
from libc.stdint cimport int32_t, int64_t

import numpy as np

from .._input.rows import Rows

cdef extern from "<float.h>":
    const double FLT_MAX, DBL_MAX

cdef enum:
    NONE = 0                # norms of a row
    L1 = 1
    L2 = 2

ctypedef fused floating:
    float
    double

ctypedef fused index_t:
    int32_t
    int64_t


@final
cdef class Changes:
    """Hold what a call changes, in its order: columns, and their numbers before it; up to `most` times."""
    cdef int64_t[::1] columns
    cdef double[::1] numbers
    cdef Py_ssize_t n

    def __init__(self, Py_ssize_t most):
        self.columns, self.numbers = np.empty(most, np.int64), np.empty(most)

    cdef inline void note(self, int64_t column, double number) noexcept:
        self.columns[self.n], self.numbers[self.n] = column, number
        self.n += 1

    cdef void take_back(self, double* numbers) noexcept:
        """Give all columns the numbers that they had. In their place stand the new ones; of a column's, the last one holds."""
        cdef Py_ssize_t k
        cdef double old
        for k in range(self.n - 1, -1, -1):
            old = self.numbers[k]
            self.numbers[k], numbers[self.columns[k]] = numbers[self.columns[k]], old

    cdef tuple arrays(self):
        return np.asarray(self.columns)[: self.n], np.asarray(self.numbers)[: self.n]


cdef class Columns:
    """Transform the rows of one call by numbers of their columns; the base of both kinds.

    numbers : float64, one a column. n_rows : rows of weight > 0 so far.
    """
    cdef object owner
    cdef const double[::1] numbers
    cdef readonly double n_rows

    def __init__(self, numbers, double n_rows, **options):
        self.owner, self.numbers, self.n_rows = numbers, numbers, n_rows
        self.take(**options)

    def take(self):
        """Take options."""

    cdef double learnt(self, double number, double x) noexcept:
        """Return a column's number after a row in which it is x, not 0."""
        return number

    cdef double transformed(self, double number, double x) noexcept:
        """Return what becomes of x, not 0, where the column's number is this."""
        return x

    cdef double finish(self, double* row, Py_ssize_t n) noexcept:
        """Return what the numbers of a row are to be divided by."""
        return 1.0

    def transform(self, rows):
        """Return rows as the numbers so far make them."""
        return self.run(rows, np.empty(0), None, False)

    def learn(self, rows, weights, bint before=False):
        """Return rows, each by the numbers of the rows so far, itself included (before: not included); and (columns, their
        numbers, count of rows) once the rows are learnt. The numbers, which must be writable, are as before at the end.

        weights : empty if all are 1. A row of weight 0 changes nothing.
        """
        changes = Changes(rows.nnz)
        found = self.run(rows, weights, changes, before)
        return found, (*changes.arrays(), self.n_rows)

    cdef run(self, rows, const double[::1] weights, Changes changes, bint before):
        cdef bint is_float, is_narrow
        start, stop = rows.indptr.item(0), rows.indptr.item(-1)
        data, indices, indptr = rows.data[start:stop], rows.indices[start:stop], rows.indptr - start if start else rows.indptr
        out, is_float, is_narrow = np.empty_like(data), data.itemsize == 4, indices.itemsize == 4
        with critical_section(self.owner):      # (in a free-threaded interpreter, readers must not see what is taken back)
            if is_float and is_narrow:
                run_rows[float, int32_t](self, data, indices, indptr, out, weights, changes, before)
            elif is_float:
                run_rows[float, int64_t](self, data, indices, indptr, out, weights, changes, before)
            elif is_narrow:
                run_rows[double, int32_t](self, data, indices, indptr, out, weights, changes, before)
            else:
                run_rows[double, int64_t](self, data, indices, indptr, out, weights, changes, before)
        return Rows(out, indices, indptr, rows.n_rows, rows.n_features)


cdef int run_rows(
    Columns self, const floating[::1] data, const index_t[::1] indices, const int64_t[::1] indptr, floating[::1] out,
    const double[::1] weights, Changes changes, bint before
) except -1:
    cdef double most = FLT_MAX if floating is float else DBL_MAX
    cdef double* numbers = <double*>&self.numbers[0] if len(self.numbers) else NULL
    cdef Py_ssize_t i, at, lo, hi, longest = 0
    cdef double x, old, new, divisor
    cdef bint learns
    for i in range(len(indptr) - 1):
        longest = max(longest, indptr[i + 1] - indptr[i])
    cdef double[::1] row = np.empty(longest + 1)
    for i in range(len(indptr) - 1):
        lo, hi = indptr[i], indptr[i + 1]
        learns = changes is not None and (not len(weights) or weights[i] > 0.0)
        self.n_rows += learns and not before
        for at in range(lo, hi):
            x, row[at - lo] = data[at], 0.0
            if x == 0.0:
                continue
            old = new = numbers[indices[at]]
            if learns:
                new = self.learnt(old, x)
                if new != old:
                    changes.note(indices[at], old)
                    numbers[indices[at]] = new
            row[at - lo] = self.transformed(old if before else new, x)
        self.n_rows += learns and before
        divisor = self.finish(&row[0], hi - lo)
        for at in range(lo, hi):
            x = row[at - lo] / divisor
            out[at] = <floating>copysign(fmin(fabs(x), most), x)
    if changes is not None:
        changes.take_back(numbers)
    return 0


cdef class Largest(Columns):
    """Divide each number by the largest magnitude of its column so far."""

    cdef double learnt(self, double number, double x) noexcept:
        return max(number, fabs(x))

    cdef double transformed(self, double number, double x) noexcept:
        return x / number if number > 0.0 else copysign(1.0, x)     # (as it would be learnt)


cdef class Counts(Columns):
    """Multiply each number by the inverse document frequency of its column so far, then divide each row by its norm."""
    cdef int norm
    cdef bint sublinear
    cdef double smooth

    def take(self, int norm, bint smooth, bint sublinear):
        """Take TfidfTransformer's options; norm : 0 (none), 1 or 2."""
        self.norm, self.smooth, self.sublinear = norm, smooth, sublinear

    cdef double learnt(self, double number, double x) noexcept:
        return number + 1.0

    cdef double transformed(self, double number, double x) noexcept:
        cdef double tf = x
        if self.sublinear:
            tf = 1.0 + log(fabs(x))
            tf = tf if x > 0.0 else -tf
        number = number if number > 0.0 or self.smooth else 1.0     # (else an idf of infinity)
        return tf * (log(max(self.n_rows + self.smooth, number + self.smooth) / (number + self.smooth)) + 1.0)

    cdef double finish(self, double* row, Py_ssize_t n) noexcept:
        cdef double largest = 0.0, total = 0.0
        cdef Py_ssize_t k
        if self.norm == NONE:
            return 1.0
        for k in range(n):
            row[k] = copysign(fmin(fabs(row[k]), DBL_MAX), row[k])
            largest = max(largest, fabs(row[k]))
        if largest == 0.0:
            return 1.0
        for k in range(n):
            row[k] /= largest
            total += fabs(row[k]) if self.norm == L1 else row[k] * row[k]
        return total if self.norm == L1 else total ** 0.5
