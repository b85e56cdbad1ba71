"""The multiplicative passive-aggressive learners."""
