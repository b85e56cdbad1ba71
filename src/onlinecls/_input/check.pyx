"""Checks, in one pass without branches, that the arrays of a CSR matrix are consistent and its values finite."""
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

cdef enum:
    STRETCH = 2048      # non-zeros checked at a time: values, columns and beginnings of rows are read while they are in the cache

ctypedef fused bits_t:      # a float's bits
    uint32_t
    uint64_t

ctypedef fused column_t:
    int32_t
    int64_t


cdef inline bits_t carries(const bits_t* bits, Py_ssize_t n) noexcept nogil:
    """Return a number whose sign bit is set if a float is NaN or infinite: an exponent of all ones carries into it."""
    cdef bits_t mask = 0x7f800000, one = 0x00800000, carry = 0
    cdef Py_ssize_t k
    if bits_t is uint64_t:
        mask = <bits_t>0x7ff0000000000000
        one = <bits_t>0x0010000000000000
    for k in range(n):
        carry |= (bits[k] & mask) + one
    return carry


cdef inline bint has_carry(bits_t carry) noexcept nogil:
    return carry >> (8 * sizeof(bits_t) - 1)


def all_finite(const bits_t[::1] bits):
    """Return True if no float is NaN or infinite. bits : a view of the floats' bit patterns."""
    cdef bits_t carry = 0
    with nogil:
        if bits.shape[0]:
            carry = carries(&bits[0], bits.shape[0])
    return not has_carry(carry)


cdef inline column_t outside(column_t column, column_t last) noexcept nogil:
    """Return a number whose sign bit is set if a column is below 0 or beyond the last. (The difference of unsigned numbers
    cannot overflow, and is that of the signed ones if the column is not below 0.)"""
    if column_t is int32_t:
        return column | <int32_t>(<uint32_t>last - <uint32_t>column)
    else:
        return column | <int64_t>(<uint64_t>last - <uint64_t>column)


def check_rows(const column_t[::1] indices, const int64_t[::1] indptr, int64_t n_columns, const bits_t[::1] bits):
    """Return what is wrong with rows: "" (nothing), "indptr", "indices", "order" (valid, but duplicates may occur) or "values".

    indptr must rise from 0 to at most the number of indices, columns must be in 0 .. n_columns - 1 and should rise strictly
    within each row, and values must be finite. bits : a view of the values' bits; if it is empty, only the structure is
    checked. If several things are wrong, return the first of the list above.
    """
    cdef Py_ssize_t k, i, start, stop, lo, nnz, n = indptr.shape[0] - 1
    cdef column_t wrong = 0, falls, last        # (falls of the columns' width: no widening in the loop)
    cdef bits_t carry = 0, mask = 0x7f800000, one = 0x00800000
    cdef bint broken = False, in_order = True
    if bits_t is uint64_t:
        mask = <bits_t>0x7ff0000000000000
        one = <bits_t>0x0010000000000000
    if n < 0 or indptr[0] != 0:
        return "indptr"
    with nogil:
        for i in range(n):
            broken |= indptr[i + 1] < indptr[i]
    if broken or indptr[n] > indices.shape[0] or (bits.shape[0] and indptr[n] > bits.shape[0]):
        return "indptr"
    nnz = indptr[n]
    n_columns = max(n_columns, 0)
    if column_t is int32_t:
        last = <column_t>min(n_columns - 1, <int64_t>0x7fffffff)
    else:
        last = n_columns - 1
    i = start = 0
    with nogil:
        while start < nnz:
            stop = min(nnz, start + STRETCH)
            falls = 0
            if start == 0:
                wrong = outside(indices[0], last)
            if bits.shape[0]:       # (values and columns in one loop: in two, each would wait for memory in turn)
                carry |= (bits[start] & mask) + one
                for k in range(max(start, 1), stop):
                    wrong |= outside(indices[k], last)
                    falls += indices[k] <= indices[k - 1]
                    carry |= (bits[k] & mask) + one
            else:
                for k in range(max(start, 1), stop):
                    wrong |= outside(indices[k], last)
                    falls += indices[k] <= indices[k - 1]
            while i < n and indptr[i] < stop:       # a fall from one row to the next does not count
                lo = indptr[i]
                if 0 < lo < indptr[i + 1]:
                    falls -= indices[lo] <= indices[lo - 1]
                i += 1
            in_order &= falls == 0
            start = stop
    if wrong < 0:
        return "indices"
    if not in_order:
        return "order"
    return "values" if has_carry(carry) else ""
