"""The mutex of an estimator, and the learning of several objects as one step."""
from cpython.exc cimport PyErr_CheckSignals
from cpython.pythread cimport PyThread_get_thread_ident

import os
from _thread import allocate_lock

cdef double LOOK = 0.02                 # seconds between two looks for signals, where they do not end a wait
cdef long FORKS = 0, FORKER = 0         # forks that have led to this process, and the thread that made the last one


cdef class Lock:
    """A mutex: `with lock:` is a learning call, which raises a RuntimeError during another one. `with lock.waiting():` (a copy, a
    merge, a reading of several models at one moment) waits for it, and it waits for these. A thread that would wait for
    itself, as in a signal handler, gets a RuntimeError. A copied or pickled lock is a new, free one; so is each lock in a
    forked process, but for those of the thread that forked it.

    It is compiled because Ctrl-C arrives between two steps of the interpreter, and there is none between taking the lock and the
    block.
    """

    def __cinit__(self, who):
        self.who, self.lock, self.forks = who, allocate_lock(), FORKS

    def __reduce__(self):
        return Lock, (self.who,)

    def __enter__(self):
        if not self.take(True, False):
            if self.learns:
                raise RuntimeError(
                    f"{self.who}: one call at a time may learn, got another one while a call to fit or partial_fit goes on. Wait "
                    "for it, or give each thread a model of its own (copy.deepcopy). Predicting meanwhile is allowed."
                )
            self.take(True, True)

    def __exit__(self, *_):
        self.release()

    def waiting(self):
        """Return the context that waits for the lock."""
        return Waiting(self)

    cdef bint take(self, bint learns, bint waits) except -1:
        """Take the lock, when it is free; without `waits`, return False if it is not. A signal handler's exception ends the wait.

        In a forked process, a lock that another thread held or was about to take is made anew: nobody would release it here.
        """
        cdef long me = PyThread_get_thread_ident()
        if self.forks != FORKS and self.holder != FORKER:
            self.lock, self.holder, self.learns = allocate_lock(), 0, False
        self.forks = FORKS
        if not self.lock.acquire(False):
            if not waits:
                return False
            if self.holder == me:
                raise RuntimeError(
                    f"{self.who}: fit, partial_fit, merge, save, copy and pickle, and predictions of pipelines and committees, "
                    "must be called when no other such call of the same thread uses the model, got one from a signal handler or "
                    "callback within it, which would wait for itself. Set a flag there, and go on when the call has returned."
                )
            while not self.lock.acquire(True, LOOK):
                PyErr_CheckSignals()
        self.holder, self.learns = me, learns
        return True

    cdef int release(self) except -1:
        """Release the lock."""
        self.holder, self.learns = 0, False
        self.lock.release()
        return 0


cdef class Waiting:
    """The context of `Lock.waiting`."""
    cdef Lock lock

    def __init__(self, Lock lock):
        self.lock = lock

    def __enter__(self):
        self.lock.take(False, True)

    def __exit__(self, *_):
        self.lock.release()


def own_lock(owner):
    """Return the lock of an object, which it has from the first call on."""
    attributes = owner.__dict__
    return attributes.get("_lock") or attributes.setdefault("_lock", Lock(type(owner).__name__))


def are_same(tuple known, tuple values):
    """Return True if all of these values are the same objects as those known, if any are."""
    cdef Py_ssize_t k, n = len(values)
    if known is None or len(known) != n:
        return False
    for k in range(n):
        if known[k] is not values[k]:
            return False
    return True


def count_fork():
    global FORKS, FORKER
    FORKS, FORKER = FORKS + 1, PyThread_get_thread_ident()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=count_fork)


def learn_together(learn, list commits, recover):
    """Run learn(), then all commits, so that what they change stands at the same row.

    If learn() is ended by an error (Ctrl-C, say), recover() returns the commits to run instead. Ctrl-C in recover() or in a
    commit is raised at the end: that function is run again, which must not matter to it. This is compiled because Ctrl-C arrives
    between two steps of the interpreter, of which there are none between these calls.
    """
    cdef list errors = []
    try:
        learn()
    except BaseException as error:
        errors.append(error)
        commits = run_through(recover, errors)
    for commit in commits:
        run_through(commit, errors)
    if errors:
        raise errors[0]


cdef object run_through(function, list errors):
    """Return function(), which is called again after each Ctrl-C."""
    while True:
        try:
            return function()
        except KeyboardInterrupt as error:
            errors.append(error)
