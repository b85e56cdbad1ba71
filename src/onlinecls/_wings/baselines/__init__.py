"""Gradient descent and Hedge, by the loops of dual ascent."""
