"""Threads that call something beside a block of a test."""

import sys
import threading
from contextlib import contextmanager


@contextmanager
def beside(*calls):
    """Repeat each call in a thread of its own until the block ends, with many changes of thread; raise what one has raised."""
    over, wrong, interval = threading.Event(), [], sys.getswitchinterval()

    def repeat(call):
        try:
            while not over.is_set():
                call()
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=repeat, args=(call,)) for call in calls]
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        yield
    finally:
        over.set()
        sys.setswitchinterval(interval)
        for thread in threads:
            thread.join()
    for error in wrong:
        raise error
