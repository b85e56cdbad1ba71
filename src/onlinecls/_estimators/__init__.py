"""The estimators: parameters and input in, a model out, in scikit-learn's way."""
