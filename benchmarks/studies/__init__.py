"""Benchmarks that each write one page, for those who work on the library: `PYTHONPATH=benchmarks python -m studies.NAME`."""
