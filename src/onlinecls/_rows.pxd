"""Rows that the compiled code can trust, and the addresses of numpy's arrays."""
from cpython.buffer cimport PyBUF_ND, PyBUF_STRIDES, PyBUF_WRITABLE, PyBuffer_Release
from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memcpy

import numpy as np

cdef extern from "Python.h":
    int get_buffer "PyObject_GetBuffer"(object o, Py_buffer* buffer, int flags)   # (an error is cleared here)
    void PyErr_Clear()

ctypedef fused floating:
    float
    double


cdef class Rows:
    cdef public object data, indices, indptr
    cdef public Py_ssize_t n_rows, n_features


cpdef Rows converted(X, dtype, bint few=*)


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


cdef inline bint is_writable(array):
    """Return True for an array that is not read-only."""
    cdef Py_buffer buffer
    if get_buffer(array, &buffer, PyBUF_STRIDES | PyBUF_WRITABLE) < 0:
        PyErr_Clear()
        return False
    PyBuffer_Release(&buffer)
    return True


cdef inline const void* numbers_of(array, dtype, Py_ssize_t size, Py_ssize_t* n):
    """Return `start_of` a numpy array of exactly this dtype, of `size` bytes a number; NULL for anything else."""
    return start_of(array, size, n) if type(array) is np.ndarray and array.dtype is dtype else NULL


ctypedef struct Carry:      # of exponents that are all ones into the sign bit: those of NaN and infinity
    uint32_t of_floats
    uint64_t of_doubles


cdef inline void carry_of(const floating* number, Carry* carry) noexcept nogil:
    cdef uint32_t short_bits
    cdef uint64_t long_bits
    if floating is float:
        memcpy(&short_bits, number, 4)
        carry.of_floats |= (short_bits & <uint32_t>0x7f800000) + <uint32_t>0x00800000
    else:
        memcpy(&long_bits, number, 8)
        carry.of_doubles |= (long_bits & <uint64_t>0x7ff0000000000000) + <uint64_t>0x0010000000000000


cdef inline bint has_carry(const Carry* carry) noexcept nogil:
    return carry.of_floats >> 31 or carry.of_doubles >> 63


cdef inline bint are_finite(const floating* numbers, Py_ssize_t n) noexcept nogil:
    """Return True if there is no NaN and no infinity. (n may be 0.)"""
    cdef Py_ssize_t k
    cdef Carry carry = Carry(0, 0)
    for k in range(n):
        carry_of(&numbers[k], &carry)
    return not has_carry(&carry)
