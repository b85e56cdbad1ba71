"""Benchmarks that each write one page, for those who work on the library: `PYTHONPATH=benchmarks python -m studies.NAME`."""

import os

os.environ.update({"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"})  # before numpy reads them

import time

import numpy as np


def seconds(run, clock=time.thread_time):
    """Measure a call, by this thread's processor time unless told otherwise: the machine may have other things to do."""
    start = clock()
    run()
    return clock() - start


def geometric(errors, least=1e-3):
    """Return geometric means over the first axis; an error of 0 counts as one row in 100,000 (in per cent)."""
    return np.exp(np.log(np.maximum(errors, least)).mean(axis=0))
