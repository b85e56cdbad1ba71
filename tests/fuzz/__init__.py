"""Machines that look for inputs which break the contracts: see `__main__` for how to run them, SECURITY.md for what they found.

A target is a module with
    make(draw)   a case: whatever `draw`, a numpy.random.Generator of the case's seed, makes of it
    check(case)  run it: an AssertionError, or any error that is not among those we promise, is a finding; returns what came

Where a case is `(options, bytes)`, a finding can be kept in `corpus/` (a line of JSON and the bytes), which the tests replay.
"""
