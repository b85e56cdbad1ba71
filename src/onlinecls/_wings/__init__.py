"""Families of learners beside the core: for each its rows of the table of algorithms, models, estimators, and loops."""
