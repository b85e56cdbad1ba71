"""A lock that refuses instead of waiting: a model that is learning is learnt by one call at a time."""

cdef long FORKS = 1         # a process begun by fork has none of the other threads: what they held is free there


def _forked():
    global FORKS
    FORKS += 1


cdef class Lock:
    """`with lock:` raises RuntimeError while another call is inside. A copied or pickled lock is a new one, which is free.

    It is compiled because Ctrl-C comes between two steps of the interpreter: there is none between taking it and the block.
    """
    cdef object who
    cdef long held          # 0: free; else FORKS when it was taken

    def __init__(self, who):
        self.who = who

    def __reduce__(self):
        return Lock, (self.who,)

    def __enter__(self):
        if self.held == FORKS:
            raise RuntimeError(
                f"{self.who}: one call at a time may learn, got another one while a call to fit or partial_fit goes on. Wait for "
                "it, or give each thread a model of its own (copy.deepcopy). Predicting meanwhile is allowed."
            )
        self.held = FORKS

    def __exit__(self, *_):
        self.held = 0
