"""The mutex of an estimator."""


cdef class Lock:
    cdef object __weakref__
    cdef object who
    cdef object lock
    cdef long holder                # thread of the call that holds the lock; 0: none
    cdef bint learns                # that call learns

    cdef int renew(self) except -1
    cdef int wait(self) except -1
    cdef bint try_learn(self) except -1
    cdef int end_learning(self) except -1
