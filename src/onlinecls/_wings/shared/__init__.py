"""Compiled code that several wings share: powers, simplexes, and searches along a line."""
