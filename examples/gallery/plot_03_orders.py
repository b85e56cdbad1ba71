"""
Sorted streams: AROW, NAROW and PA-I
====================================

An online learner meets its rows in some order, and the order matters. Here the same 5,000 rows come with the clear ones first,
and then sorted by a feature. AROW narrows its Gaussian with every row on which it takes a step, and is best when the clear rows
come first. NAROW narrows it only along rows of which it is still unsure, stays open to what comes late, and wins on the sorted
stream (Orabona and Crammer, NIPS 2010, Fig. 3). PA-I, which keeps no variances, pays in both cases.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import clone

from onlinecls import AROWClassifier, NAROWClassifier, PassiveAggressiveClassifier, progressive_validation

rng = np.random.default_rng(0)
across, along = rng.normal(size=5000), 10 * rng.normal(size=5000)  # an ellipse, ten times as long as it is wide,
X = np.column_stack([along + across, along - across]) / np.sqrt(2)  # that lies across two features
X = np.hstack([X, rng.normal(scale=8.5, size=(5000, 18))])  # and 18 features that are noise
y = np.where(across > 0, 1, -1)

orders = {"clear rows first": np.argsort(-np.abs(across)), "sorted by the first feature": np.argsort(X[:, 0] * y)}
as_printed = {"scale": 1.0, "fit_intercept": False}
learners = {
    "PA-I": ("#a0aec0", PassiveAggressiveClassifier(C=0.01, **as_printed)),
    "AROW": ("#2b6cb0", AROWClassifier(r=1.0, covariance="full", **as_printed)),
    "NAROW": ("#dd6b20", NAROWClassifier(b=1.0, initial_variance=1.0, covariance="full", **as_printed)),
}

plt.rcParams.update({"font.size": 12, "axes.spines.top": False, "axes.spines.right": False})
figure, panels = plt.subplots(2, 2, figsize=(8, 7.5), height_ratios=[1, 1.3], layout="constrained")
for (title, order), (above, below) in zip(orders.items(), panels.T, strict=True):
    above.scatter(*X[order, :2].T, c=np.arange(5000), cmap="plasma", s=4)
    above.text(-29, 24, "first", color=plt.cm.plasma(0), weight="bold")
    above.text(-29, 18, "last", color=plt.cm.plasma(0.85), weight="bold")
    above.set(title=title, xlim=(-29, 29), ylim=(-29, 29), aspect="equal")
    above.axis("off")
    for name, (colour, learner) in learners.items():
        result = progressive_validation(clone(learner), (X[order], y[order]), classes=[-1, 1], every=25)
        mistakes = result.examples * result.error
        below.plot(result.examples, mistakes, color=colour, linewidth=2.5)
        below.text(5100, mistakes[-1], f"{name} {mistakes[-1]:.0f}", color=colour, va="center", weight="bold")
    below.set(xlabel="rows seen", ylabel="mistakes so far", xlim=(0, 5000), ylim=(0, None), xticks=[0, 2500, 5000])
plt.show()
