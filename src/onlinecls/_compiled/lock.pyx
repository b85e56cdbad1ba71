"""A lock around a model: one call learns at a time, and copies are made between such calls."""
from cpython.exc cimport PyErr_CheckSignals
from cpython.pythread cimport PyThread_get_thread_ident
from cython cimport critical_section

import os
from _thread import allocate_lock


cdef long FORKS = 1         # a forked process has none of the parent's other threads: their locks are free there
cdef double LOOK = 0.02     # seconds between two looks for signals, where a wait is not ended by them


def _forked():
    global FORKS
    FORKS += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


cdef class Lock:
    """Run one learning call at a time: `with lock:` raises RuntimeError during another one, and waits for copies being made.
    `with lock.copying():` waits for the learning call. A copied or pickled lock is a new, free one.

    Readers take no lock. One that needs several objects of one moment compares `sequence` before and after (a sequence lock): it
    is odd from `begin_change` to the end of the learning call, and another number afterwards.

    Waiting threads get the lock in order of arrival: it is handed on, so that a thread that learns row by row cannot keep a copy
    waiting for ever, nor one that copies again and again a learner. A thread that would wait for itself, as in a signal handler,
    gets a RuntimeError.

    It is compiled because Ctrl-C arrives between two steps of the interpreter, and there is none between taking the lock and the
    block. In a free-threaded interpreter, the critical sections make checking and taking the lock one step.
    """

    def __init__(self, who):
        self.who, self.waiting, self.process, self.sequence = who, [], FORKS, 0

    def __reduce__(self):
        return Lock, (self.who,)

    def __enter__(self):
        cdef long me = PyThread_get_thread_ident()
        with critical_section(self):
            self.forget_parent()
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
            if not self.holder:
                self.holder = me
                return
            turn = self.queue(me)
        try:
            self.wait(turn)
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
        with critical_section(self):
            if not self.waiting or self.holder != me:
                return
            turn = self.queue(me)
            self.hand_on()
        self.wait(turn)             # (after Ctrl-C the others keep the lock: the learning call changes nothing more)

    cdef int forget_parent(self) except -1:
        """Forget which threads of the parent process held the lock when this process was forked."""
        if self.process != FORKS:
            self.process, self.learner, self.holder, self.depth, self.waiting = FORKS, 0, 0, 0, []
            self.sequence += self.sequence & 1
        return 0

    cdef bint is_waiting(self, long thread) except -1:
        for turn in self.waiting:
            if turn[0] == thread:
                return True
        return False

    cdef object queue(self, long thread):
        """Add a turn behind all others, and return it."""
        lock = allocate_lock()
        lock.acquire()
        turn = thread, lock
        self.waiting.append(turn)
        return turn

    cdef int wait(self, turn) except -1:
        """Wait for the turn. An exception from a signal handler ends the wait."""
        try:
            while not turn[1].acquire(True, LOOK):
                PyErr_CheckSignals()
        except BaseException:
            with critical_section(self):
                if turn in self.waiting:
                    self.waiting = [each for each in self.waiting if each is not turn]
                elif self.holder == turn[0]:    # the turn has come meanwhile
                    self.hand_on()
            raise
        return 0

    cdef int hand_on(self) except -1:
        """Give the lock to the next turn, if there is one."""
        self.holder, self.depth = 0, 0
        if self.waiting:
            thread, lock = self.waiting.pop(0)
            self.holder, self.depth = thread, 1
            lock.release()
        return 0

    cdef bint try_learn(self) except -1:
        """Begin a learning call and return True; return False if one is running, or a thread holds the lock or waits for it."""
        with critical_section(self):
            self.forget_parent()
            if self.learner or self.holder:
                return False
            self.learner = self.holder = PyThread_get_thread_ident()
        return True

    cdef int end_learning(self) except -1:
        with critical_section(self):
            self.learner = 0
            self.sequence += self.sequence & 1
            if self.holder == PyThread_get_thread_ident():      # (it is not after a fork, or after a wait ended by Ctrl-C)
                self.hand_on()
        return 0


cdef class Copying:
    """Keep other threads from changing the model: the context of `Lock.copying`, which a thread may nest."""

    def __init__(self, Lock lock):
        self.lock = lock

    def __enter__(self):
        cdef Lock lock = self.lock
        cdef long me = PyThread_get_thread_ident()
        with critical_section(lock):
            lock.forget_parent()
            if lock.learner == me or lock.is_waiting(me):
                raise RuntimeError(
                    f"{lock.who}: save, copy, pickle and merge, and a pipeline's predictions, must be called when no other call "
                    "of the same thread uses the model, got a call from a signal handler or callback within fit, partial_fit or "
                    "a copy, which would wait for itself. Set a flag there, and copy or predict when the call has returned."
                )
            if lock.holder == me:
                lock.depth += 1
                return
            if not lock.holder:
                lock.holder, lock.depth = me, 1
                return
            turn = lock.queue(me)
        lock.wait(turn)

    def __exit__(self, *_):
        cdef Lock lock = self.lock
        with critical_section(lock):
            if lock.holder == PyThread_get_thread_ident():      # (not in a process forked within the context)
                lock.depth -= 1
                if lock.depth == 0:
                    lock.hand_on()


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
