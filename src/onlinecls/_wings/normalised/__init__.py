"""Learners whose weights share a norm or a sum: the p-norm Perceptron, multiplicative passive-aggressive, one-class learners."""
