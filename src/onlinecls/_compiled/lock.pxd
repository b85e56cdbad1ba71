"""A lock around a model: one call learns at a time, and copies are made between such calls."""


cdef class Lock:
    cdef object who
    cdef long learner               # thread of the running learning call, also while it gives way; 0: none
    cdef long holder                # thread that reads or writes the whole model, a copy or the learning call; 0: none
    cdef readonly unsigned long long sequence   # rises when a change of several objects ends; odd within it
    cdef list waiting               # turns (thread, lock that is released at its turn), in order of arrival

    cdef bint is_waiting(self, long thread) except -1
    cdef int take(self, long me) except -1
    cdef int release(self, long me) except -1
    cdef bint try_learn(self) except -1
    cdef int end_learning(self) except -1


cdef class Copying:
    cdef Lock lock
    cdef bint is_inner              # within another copy of the same thread
