"""Declarations of the sketch of names, which hashers fill."""
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t


cdef enum:
    NAME_BYTES = 42         # kept of a name, so that the struct fills a cache line


cdef struct Name:           # the name of a column
    uint64_t key            # column + 1; 0: empty
    int64_t votes           # tokens of this name less tokens of other names, since it took the column
    uint32_t length         # of the whole name
    uint8_t shared          # tokens of several names fell on the column
    uint8_t negative        # the sign of the name's hash, where signs alternate
    unsigned char text[NAME_BYTES]


cdef class Names:
    cdef Name* slots
    cdef Py_ssize_t size, n_used, limit
    cdef int note(self, uint64_t column, bint negative, const unsigned char* name, Py_ssize_t n) except -1 nogil
    cdef int _resize(self, Py_ssize_t size) except -1 nogil
    cdef int _prune(self) except -1 nogil
    cdef Name* _find(self, uint64_t column) noexcept nogil
    cdef str _shown(self, Name* there)
