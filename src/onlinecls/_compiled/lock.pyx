"""A lock around a model: one call learns at a time, and copies are made between such calls."""
from cpython.exc cimport PyErr_CheckSignals
from cpython.pythread cimport PyThread_get_thread_ident
from cython cimport critical_section

from _thread import allocate_lock


cdef double LOOK = 0.02     # seconds between two looks for signals, where a wait is not ended by them


cdef object new_locked():
    lock = allocate_lock()
    lock.acquire()
    return lock


cdef class Lock:
    """Run one learning call at a time: `with lock:` raises RuntimeError during another one, and waits for copies being made.
    `with lock.copying():` waits for the learning call. Those who wait get the lock in the order in which they came: it is handed
    to the next in line. A thread that would wait for itself, as in a signal handler, gets a RuntimeError. A copied or pickled
    lock is a new, free one.

    Readers take no lock. One that needs several objects of one moment compares `sequence` before and after (a sequence lock): it
    is odd from `begin_change` to the end of the learning call, and another number afterwards.

    It is compiled because Ctrl-C arrives between two steps of the interpreter, and there is none between taking the lock and the
    block. In a free-threaded interpreter, the critical sections make checking and taking the lock one step.
    """

    def __init__(self, who):
        self.who, self.waiting = who, []

    def __reduce__(self):
        return Lock, (self.who,)

    def __enter__(self):
        cdef long me = PyThread_get_thread_ident()
        with critical_section(self):
            if self.learner:
                raise RuntimeError(
                    f"{self.who}: one call at a time may learn, got another one while a call to fit or partial_fit goes on. Wait "
                    "for it, or give each thread a model of its own (copy.deepcopy). Predicting meanwhile is allowed."
                )
            if self.holder == me or self.is_waiting(me):
                raise RuntimeError(
                    f"{self.who}: fit, partial_fit and merge must be called when a copy of the model (save, copy, pickle) has "
                    "been made, got a call from a signal handler or callback within it, which would wait for itself. Set a "
                    "flag there, and learn later."
                )
            self.learner = me
        try:
            self.take(me)
        except BaseException:
            self.learner = 0
            raise

    def __exit__(self, *_):
        self.end_learning()

    def begin_change(self):
        """Make `sequence` odd until the end of the learning call."""
        self.sequence |= 1

    def copying(self):
        """Return the context in which no other thread changes the model."""
        return Copying(self)

    @property
    def n_waiting(self):
        """Number of threads that wait for the lock."""
        return len(self.waiting)

    def give_way(self):
        """Release the lock of a learning call until the copies that wait for it have been made, and take it again."""
        cdef long me = PyThread_get_thread_ident()
        if self.waiting and self.holder == me:
            self.release(me)
            self.take(me)           # (after Ctrl-C the others keep the lock: the learning call changes nothing more)

    cdef bint is_waiting(self, long thread) except -1:
        return thread in [turn[0] for turn in self.waiting]

    cdef int take(self, long me) except -1:
        """Take the lock, behind all who wait for it. An exception from a signal handler ends the wait."""
        with critical_section(self):
            if not self.holder:
                self.holder = me
                return 0
            lock = new_locked()
            turn = me, lock
            self.waiting.append(turn)
        try:
            while not lock.acquire(True, LOOK):
                PyErr_CheckSignals()
        except BaseException:
            with critical_section(self):
                self.waiting = [each for each in self.waiting if each is not turn]
            self.release(me)        # (the turn may have come meanwhile)
            raise
        return 0

    cdef int release(self, long me) except -1:
        """Hand the lock on to the next who waits, if this thread holds it (it does not when Ctrl-C has ended its wait)."""
        lock = None
        with critical_section(self):
            if self.holder == me:
                self.holder = 0
                if self.waiting:
                    self.holder, lock = self.waiting.pop(0)
        if lock is not None:
            lock.release()
        return 0

    cdef bint try_learn(self) except -1:
        """Begin a learning call and return True; return False if a thread learns or holds the lock."""
        with critical_section(self):
            if self.learner or self.holder:
                return False
            self.learner = self.holder = PyThread_get_thread_ident()
        return True

    cdef int end_learning(self) except -1:
        """End a learning call."""
        cdef long learner = self.learner
        self.learner = 0
        self.sequence += self.sequence & 1
        self.release(learner)
        return 0


cdef class Copying:
    """Keep other threads from changing the model: the context of `Lock.copying`, which a thread may nest."""

    def __init__(self, Lock lock):
        self.lock = lock

    def __enter__(self):
        cdef Lock lock = self.lock
        cdef long me = PyThread_get_thread_ident()
        with critical_section(lock):
            if lock.learner == me or lock.is_waiting(me):
                raise RuntimeError(
                    f"{lock.who}: save, copy, pickle and merge, and a pipeline's predictions, must be called when no other call "
                    "of the same thread uses the model, got a call from a signal handler or callback within fit, partial_fit or "
                    "a copy, which would wait for itself. Set a flag there, and copy or predict when the call has returned."
                )
            self.is_inner = lock.holder == me
        if not self.is_inner:
            lock.take(me)

    def __exit__(self, *_):
        if not self.is_inner:
            self.lock.release(PyThread_get_thread_ident())


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
