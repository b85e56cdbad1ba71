"""Dual ascent, Euclidean and entropic."""
