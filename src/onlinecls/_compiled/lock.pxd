"""The mutex of an estimator."""


cdef class Lock:
    cdef object who, lock
    cdef long holder                # thread of the call that holds the lock; 0: none
    cdef bint learns                # that call learns
    cdef long forks                 # `FORKS` when it was made

    cdef bint take(self, bint learns, bint waits) except -1
    cdef int release(self) except -1
