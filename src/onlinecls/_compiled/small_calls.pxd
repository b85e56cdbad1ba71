"""Check in C that the rows, labels and weights of a small call are as the training loops require.

Each check returns True or False. A call with anything unusual (another dtype, unsorted columns, an unknown label) goes through
`validate.py`, which converts it or raises the error. Nothing is written before all checks have passed.
"""
from cpython.buffer cimport PyBUF_ND, PyBUF_WRITABLE, PyBuffer_Release
from cpython.long cimport PyLong_AsLongLongAndOverflow
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memcpy

from .sparse cimport dense_t, floating, index_t

cdef extern from "Python.h":
    int get_buffer "PyObject_GetBuffer"(object o, Py_buffer* buffer, int flags)   # (an error is cleared here)
    void PyErr_Clear()
    bint PyBool_Check(object o)
    bint PyFloat_CheckExact(object o)
    bint PyLong_CheckExact(object o)
    bint PyUnicode_CheckExact(object o)
    int PyUnicode_Compare(object a, object b) except? -1

cdef enum:
    FEW = 1024              # most rows of a small call


cdef inline void* start_of(array, Py_ssize_t size, Py_ssize_t* n, bint writable=False):
    """Return the address of the first number of a numpy array, and their count in n; NULL if they cannot be used in place.

    They must be one-dimensional, contiguous, aligned to their `size` in bytes, and with `writable` not read-only. The address is
    valid as long as the caller holds the array. (This takes a fifth of a typed memoryview's time.)
    """
    cdef Py_buffer buffer
    if get_buffer(array, &buffer, PyBUF_ND | (PyBUF_WRITABLE if writable else 0)) < 0:
        PyErr_Clear()
        return NULL
    n[0] = buffer.shape[0] if buffer.ndim == 1 else -1
    PyBuffer_Release(&buffer)
    return buffer.buf if n[0] >= 0 and <size_t>buffer.buf % <size_t>size == 0 else NULL


cdef inline bint are_finite(const floating* numbers, Py_ssize_t n) noexcept nogil:
    """Return True if there is no NaN and no infinity: an exponent of all ones carries into the sign bit. (n may be 0.)"""
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


cdef inline bint are_rows(const floating* data, Py_ssize_t n_data, const index_t* indices, Py_ssize_t n_indices,
                          const int64_t* indptr, Py_ssize_t n, Py_ssize_t n_features) noexcept nogil:
    """Return True for a CSR structure of n rows of finite values, whose columns rise within each row and lie in the matrix."""
    cdef Py_ssize_t i, k, last
    if indptr[0] != 0:
        return False
    for i in range(n):
        if indptr[i + 1] < indptr[i]:
            return False
    if indptr[n] > n_data or not are_finite(data, indptr[n]):
        return False
    if index_t is not dense_t:
        if indptr[n] > n_indices:
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


cdef inline bint are_weights(const double* weights, Py_ssize_t n) noexcept nogil:
    """Return True for n finite numbers >= 0."""
    cdef Py_ssize_t i
    if not are_finite(weights, n):
        return False
    for i in range(n):
        if not weights[i] >= 0.0:
            return False
    return True


ctypedef fused number_t:
    int64_t
    double


cdef inline bint match_numbers(const number_t* y, Py_ssize_t n, const number_t* classes, Py_ssize_t n_classes,
                               int32_t* labels) noexcept nogil:
    """Find the place of each label among the classes; return False if one is not among them."""
    cdef Py_ssize_t i, c
    for i in range(n):
        for c in range(n_classes):
            if y[i] == classes[c]:
                break
        else:
            return False
        labels[i] = <int32_t>c
    return True


cdef inline bint match_texts(const uint32_t* y, Py_ssize_t n, Py_ssize_t y_width, const uint32_t* classes, Py_ssize_t n_classes,
                             Py_ssize_t class_width, int32_t* labels) noexcept nogil:
    """Do the work of `match_numbers` for NumPy's texts: a fixed number of code points each, padded with zeros."""
    cdef Py_ssize_t i, c, j, width = max(y_width, class_width)
    cdef uint32_t a, b
    for i in range(n):
        for c in range(n_classes):
            for j in range(width):
                a = y[i * y_width + j] if j < y_width else 0
                b = classes[c * class_width + j] if j < class_width else 0
                if a != b:
                    break
            else:
                break
        else:
            return False
        labels[i] = <int32_t>c
    return True


cdef inline bint match_list(list y, list classes, int32_t* labels) except -1:
    """Do the work of `match_numbers` for a list of integers, texts, booleans and numbers, Python's own or numpy's."""
    cdef Py_ssize_t i, c
    cdef int overflow = 0
    cdef long long number
    for i in range(len(y)):
        label = y[i]
        if not (PyLong_CheckExact(label) or PyUnicode_CheckExact(label)):
            kind = getattr(label, "dtype", None)
            if kind is not None and kind.kind in "iufbU" and label.ndim == 0:
                label = label.item()
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
        elif PyBool_Check(label) or PyFloat_CheckExact(label):
            for c in range(len(classes)):
                if type(classes[c]) is type(label) and classes[c] == label:
                    break
            else:
                return False
        else:
            return False
        labels[i] = <int32_t>c
    return True
