"""Checks of small calls, in C: whether rows, labels and weights are as the training loops trust them to be.

They answer yes or no. Whatever is unusual (another dtype, unsorted columns, a label that is not known) gets a no, and goes the
way of `validate.py`, which converts it or words the error. Nothing is written before the answer.
"""
from cpython.long cimport PyLong_AsLongLongAndOverflow
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memcpy

from .sparse cimport dense_t, floating, index_t

cdef extern from "Python.h":
    bint PyLong_CheckExact(object o)
    bint PyUnicode_CheckExact(object o)
    int PyUnicode_Compare(object a, object b) except? -1

cdef enum:
    FEW = 1024              # rows of a small call at most


cdef inline bint is_aligned(const void* address, size_t size) noexcept nogil:
    return <size_t>address % size == 0


cdef inline bint are_finite(const floating[::1] numbers, Py_ssize_t n) noexcept nogil:
    """No NaN and no infinity among the first n: an exponent of all ones carries into the sign bit. (Bytes, for any alignment.)"""
    cdef Py_ssize_t k
    cdef uint32_t short_bits, short_carry = 0
    cdef uint64_t long_bits, long_carry = 0
    for k in range(n):
        if floating is float:
            memcpy(&short_bits, &numbers[k], 4)
            short_carry |= (short_bits & <uint32_t>0x7f800000) + <uint32_t>0x00800000
        else:
            memcpy(&long_bits, &numbers[k], 8)
            long_carry |= (long_bits & <uint64_t>0x7ff0000000000000) + <uint64_t>0x0010000000000000
    return not (short_carry >> 31 or long_carry >> 63)


cdef inline bint are_rows(const floating[::1] data, const index_t[::1] indices, const int64_t* indptr, Py_ssize_t n,
                          Py_ssize_t n_features) noexcept nogil:
    """A CSR structure of n rows with columns that rise within each row and lie inside the matrix, and finite values, aligned."""
    cdef Py_ssize_t i, k, last
    if indptr[0] != 0 or (data.shape[0] and not is_aligned(&data[0], sizeof(floating))):
        return False
    if indices.shape[0] and not is_aligned(&indices[0], sizeof(index_t)):
        return False
    for i in range(n):
        if indptr[i + 1] < indptr[i]:
            return False
    if indptr[n] > data.shape[0] or not are_finite(data, indptr[n]):
        return False
    if index_t is not dense_t:
        if indptr[n] > indices.shape[0]:
            return False
        for i in range(n):
            last = -1
            for k in range(indptr[i], indptr[i + 1]):
                if indices[k] <= last:
                    return False
                last = indices[k]
            if last >= n_features:
                return False
    return True


cdef inline bint are_weights(const double[::1] weights, Py_ssize_t n) noexcept nogil:
    """n finite numbers >= 0."""
    cdef Py_ssize_t i
    if weights.shape[0] != n or not is_aligned(&weights[0], 8) or not are_finite(weights, n):
        return False
    for i in range(n):
        if not weights[i] >= 0.0:
            return False
    return True


ctypedef fused number_t:
    int64_t
    double


cdef inline bint match_numbers(const number_t[::1] y, const number_t[::1] classes, int32_t* labels) noexcept nogil:
    """The place of each label among the classes; False if one is not among them."""
    cdef Py_ssize_t i, c
    if y.shape[0] and not is_aligned(&y[0], 8):
        return False
    for i in range(y.shape[0]):
        for c in range(classes.shape[0]):
            if y[i] == classes[c]:
                break
        else:
            return False
        labels[i] = <int32_t>c
    return True


cdef inline bint match_texts(const uint32_t[:, ::1] y, const uint32_t[:, ::1] classes, int32_t* labels) noexcept nogil:
    """The same for texts as numpy keeps them: code points, zeros behind the last."""
    cdef Py_ssize_t i, c, j, width = max(y.shape[1], classes.shape[1])
    cdef uint32_t a, b
    if y.shape[0] and not is_aligned(&y[0, 0], 4):
        return False
    for i in range(y.shape[0]):
        for c in range(classes.shape[0]):
            for j in range(width):
                a = y[i, j] if j < y.shape[1] else 0
                b = classes[c, j] if j < classes.shape[1] else 0
                if a != b:
                    break
            else:
                break
        else:
            return False
        labels[i] = <int32_t>c
    return True


cdef inline bint match_list(list y, list classes, int32_t* labels) except -1:
    """The same for a list of Python's own integers, or of its own texts."""
    cdef Py_ssize_t i, c
    cdef int overflow = 0
    cdef long long number
    for i in range(len(y)):
        label = y[i]
        if PyLong_CheckExact(label):
            number = PyLong_AsLongLongAndOverflow(label, &overflow)
            if overflow:
                return False
            for c in range(len(classes)):
                if PyLong_CheckExact(classes[c]):
                    if number == PyLong_AsLongLongAndOverflow(classes[c], &overflow) and not overflow:
                        break
            else:
                return False
        elif PyUnicode_CheckExact(label):
            for c in range(len(classes)):
                if PyUnicode_CheckExact(classes[c]) and PyUnicode_Compare(label, classes[c]) == 0:
                    break
            else:
                return False
        else:
            return False
        labels[i] = <int32_t>c
    return True
