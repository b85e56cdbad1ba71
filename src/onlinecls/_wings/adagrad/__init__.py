"""AdaGrad, and FTRL-proximal."""
