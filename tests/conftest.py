"""What all tests share."""

import gc
import signal

import pytest

try:
    from hypothesis import settings
except ImportError:  # (the tests that need it say so)
    pass
else:
    # Examples that are the same in each run, and few where a test does not say how many; `make nightly` draws others each time.
    settings.register_profile("suite", max_examples=3, derandomize=True, database=None)
    settings.register_profile("nightly", max_examples=100, print_blob=True)
    settings.load_profile("suite")

# A shell starts what it runs in the background with Ctrl-C ignored, and Python leaves that as it is: tests that send themselves
# the signal would wait for ever.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish():
    """Exempt tests and their imports, which stay to the end, from garbage collection."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def run(capsys):
    """The command line in this process: (exit code, standard output, standard error)."""
    from internals import main

    def run(*arguments):
        code = main([str(a) for a in arguments])
        return code, *capsys.readouterr()

    return run
