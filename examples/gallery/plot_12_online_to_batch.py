"""
From a stream of models to one
==============================

A learner that takes every row seriously is thrown about by wrong labels, and its last weights are as good as the last rows
happened to be. Here every fifth label is wrong. The grey path is PA-I's walk through the plane of its two weights; the mean of
all the places where it has been, in red, moves calmly, and settles in the direction that is right. On new rows the mean errs on
two in a hundred, the last weights sometimes on nearly all. ``OnlineToBatch`` makes such a mean, or a choice among snapshots.
"""

import matplotlib.pyplot as plt
import numpy as np

from onlinecls import OnlineToBatch, PassiveAggressiveClassifier

rng = np.random.default_rng(0)
X = rng.normal(size=(6000, 2))
clean = np.sign(X @ [1.0, 0.5])
y = np.where(rng.random(6000) < 0.2, -clean, clean)
stream, new = slice(0, 1000), slice(1000, None)

learner = OnlineToBatch(PassiveAggressiveClassifier(C=1.0, fit_intercept=False), method="average")
alone = PassiveAggressiveClassifier(C=1.0, fit_intercept=False)
walk, errors = [], []
for x, label in zip(X[stream], y[stream], strict=True):
    alone.partial_fit([x], [label], classes=[-1, 1])
    learner.partial_fit([x], [label], classes=[-1, 1])
    walk.append((alone.coef_[0].copy(), learner.chosen_.coef_[0].copy()))
    errors.append([100 * np.mean(each.predict(X[new]) != clean[new]) for each in (alone, learner)])

# %%
# The dashed line is the direction that is right.

GREY, RED, INK = "#a0aec0", "#c53030", "#1a202c"
plt.rcParams.update({"font.size": 12, "axes.spines.top": False, "axes.spines.right": False})
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.6), layout="constrained")
left.plot([0, 4], [0, 2], "--", color=INK, linewidth=1.5, zorder=3)
for ax, curves in ((left, np.moveaxis(walk, 0, -1)), (right, [(range(1, 1001), each) for each in np.transpose(errors)])):
    ax.plot(*curves[0], color=GREY, linewidth=0.6)
    ax.plot(*curves[1], color=RED, linewidth=3)
left.plot(*walk[-1][1], "o", color=RED, markersize=10, markeredgecolor="white")
left.set(title="a walk through the weights", xlim=(-1.5, 3), ylim=(-1.7, 2.8), xticks=[0], yticks=[0])
right.text(415, 85, "last weights", color="#718096", weight="bold", ha="center", bbox={"color": "white", "pad": 1})
right.text(990, -9, "their mean", color=RED, weight="bold", ha="right")
right.set(title="error on new rows, %", xlabel="rows seen", xlim=(0, 1000), ylim=(-12, 100), yticks=[0, 50, 100])
plt.show()
