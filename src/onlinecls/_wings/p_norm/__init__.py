"""The p-norm Perceptrons."""
