"""One predictor from the hypotheses of an online learner."""
