cdef class Map:
    cdef object root
    cdef Py_ssize_t n
    cdef object find(self, object key)


cdef class Records:
    cdef list branches
    cdef object owner
    cdef bint owns_branches
    cdef readonly Py_ssize_t n
    cdef const double* at(self, Py_ssize_t i)
    cdef double* to_change(self, Py_ssize_t i) except NULL
    cdef branch_to_change(self, Py_ssize_t k)
