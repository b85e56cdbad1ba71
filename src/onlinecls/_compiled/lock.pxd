"""A lock around a model: one call learns at a time, and copies are made between such calls."""


cdef class Lock:
    cdef object who
    cdef long process               # FORKS when the fields below were written
    cdef long learner               # thread of the running learning call, also while it gives way; 0: none
    cdef long holder                # thread that reads or writes the whole model, a copy or the learning call; 0: none
    cdef readonly unsigned long long sequence   # rises when a change of several objects ends; odd within it
    cdef int depth                  # nested copies of the holder
    cdef list waiting               # turns (thread, lock that is released at its turn), in order of arrival

    cdef int forget_parent(self) except -1
    cdef bint is_waiting(self, long thread) except -1
    cdef object queue(self, long thread)
    cdef int wait(self, turn) except -1
    cdef int hand_on(self) except -1
    cdef bint try_learn(self) except -1
    cdef int end_learning(self) except -1


cdef class Copying:
    cdef Lock lock
