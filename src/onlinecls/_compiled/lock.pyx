"""A lock that one learning call holds at a time."""
from cython cimport critical_section

import os


cdef long FORKS = 1         # a process begun by fork has none of the other threads: what they held is free there


def _forked():
    global FORKS
    FORKS += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


cdef class Lock:
    """`with lock:` raises RuntimeError while another call is inside: a model is learnt by one call at a time. A copied or pickled
    lock is a new one, which is free.

    It is compiled because Ctrl-C comes between two steps of the interpreter: there is none between taking it and the block. Where
    the interpreter has no lock of its own, the critical section makes of looking and taking one step.
    """

    def __init__(self, who):
        self.who = who

    def __reduce__(self):
        return Lock, (self.who,)

    def __enter__(self):
        if not self.take():
            raise RuntimeError(
                f"{self.who}: one call at a time may learn, got another one while a call to fit or partial_fit goes on. Wait for "
                "it, or give each thread a model of its own (copy.deepcopy). Predicting meanwhile is allowed."
            )

    def __exit__(self, *_):
        self.held = 0

    cdef bint take(self) except -1:
        """Take it; False if another call has it."""
        with critical_section(self):
            if self.held == FORKS:
                return False
            self.held = FORKS
        return True
