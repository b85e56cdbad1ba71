"""Compiled code below the training loops: rows and rounds, geometries, dual ascent, kernels, small calls, the base of models."""
