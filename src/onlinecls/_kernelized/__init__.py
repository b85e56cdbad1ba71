"""Learners in the space of a kernel: a model is a set of support vectors."""
