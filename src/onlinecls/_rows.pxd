"""Rows that the compiled code can trust, and the addresses of numpy's arrays."""
from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memcpy

cimport numpy as cnp

ctypedef fused floating:
    float
    double


cdef class Rows:
    cdef public object data, indices, indptr
    cdef public Py_ssize_t n_rows, n_features


cpdef Rows converted(X, dtype, bint few=*)
cdef new_array(Py_ssize_t n, int type)


cdef inline void* start_of(cnp.ndarray array, Py_ssize_t* n, bint writable=False):
    """Return the address of the first number of an array, and their count in n; NULL if they cannot be used in place.

    They must be one-dimensional, contiguous, aligned, and with `writable` not read-only. The address is valid as long as the
    caller holds the array.
    """
    n[0] = cnp.PyArray_DIM(array, 0) if cnp.PyArray_NDIM(array) == 1 else 0
    cdef int needed = cnp.NPY_ARRAY_C_CONTIGUOUS | cnp.NPY_ARRAY_ALIGNED | (cnp.NPY_ARRAY_WRITEABLE if writable else 0)
    return cnp.PyArray_DATA(array) if cnp.PyArray_NDIM(array) == 1 and cnp.PyArray_CHKFLAGS(array, needed) else NULL


cdef inline const void* numbers_of(array, dtype, Py_ssize_t* n):
    """Return `start_of` a numpy array of exactly this dtype; NULL for anything else."""
    if type(array) is not cnp.ndarray or <void*>cnp.PyArray_DESCR(<cnp.ndarray>array) != <void*>dtype:
        return NULL
    return start_of(<cnp.ndarray>array, n)


cdef inline bint has_type(array, int type) except -1:
    """Return True for a numpy array of numbers of this type, in the machine's order of bytes."""
    return cnp.PyArray_TYPE(<cnp.ndarray?>array) == type and cnp.PyArray_ISNOTSWAPPED(<cnp.ndarray>array)


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
