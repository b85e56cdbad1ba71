"""Committees of linear learners."""
