"""Declarations of the names of columns, which hashers fill."""
from libc.stdint cimport uint64_t


cdef class Names:
    cdef Py_ssize_t limit
    cdef public dict found
    cdef int note(self, uint64_t column, bint negative, const unsigned char* name, Py_ssize_t n) except -1 with gil
