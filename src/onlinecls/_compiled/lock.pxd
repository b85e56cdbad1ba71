"""A lock that one learning call holds at a time."""


cdef class Lock:
    cdef object who
    cdef long held                  # 0: free; else FORKS when it was taken

    cdef bint take(self) except -1
