"""FTRL-proximal, with one weight for each feature that steps have moved far enough."""
