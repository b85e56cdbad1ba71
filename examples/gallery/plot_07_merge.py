"""
Train in parallel and merge
===========================

Four workers learn four parts of a stream, and never talk to each other. Each ends up with an ellipse around the weights that it
considers likely, and each ellipse is wide in a different direction. ``merge`` multiplies the four Gaussians: the dark ellipse
is smaller than any of them, and lies where they agree. On the right, a larger stream is cut into more and more parts. What one
worker knows gets worse and worse; the merged model stays close to that of a single pass over everything.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Ellipse

from onlinecls import AROWClassifier, merge

rng = np.random.default_rng(0)


def learn(X):
    """Learn which side of a plane each row is on; some labels are wrong."""
    y = np.sign(X @ np.linspace(2, -1, X.shape[1]) + rng.normal(size=len(X)))
    return AROWClassifier(r=1.0, covariance="full", fit_intercept=False).partial_fit(X, y, classes=[-1, 1])


workers = []
for degrees in (0, 45, 90, 135):  # each has rows that differ in one direction above all
    along = np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))])
    workers.append(learn(rng.normal(size=(20, 1)) * along + 0.15 * rng.normal(size=(20, 2))))

# %%
# Twenty thousand rows, cut into up to 128 parts.

X = rng.normal(size=(40_000, 60)) * np.linspace(0.3, 1.5, 60)
y = np.sign(X @ np.linspace(2, -1, 60) + rng.normal(size=40_000))
stream, new = slice(0, 20_000), slice(20_000, None)
counts, alone, merged = 2 ** np.arange(8), [], []
for k in counts:
    parts = [AROWClassifier().partial_fit(X[stream][part::k], y[stream][part::k], classes=[-1, 1]) for part in range(k)]
    alone.append(100 - 100 * np.mean([part.score(X[new], y[new]) for part in parts]))
    merged.append(100 - 100 * merge(parts).score(X[new], y[new]))

# %%
# The ellipses reach to one standard deviation.

INK, GREY = "#1a202c", "#a0aec0"
plt.rcParams.update({"font.size": 12, "axes.spines.top": False, "axes.spines.right": False})
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.8), layout="constrained")
for learner, colour, alpha in zip([*workers, merge(workers)], ["C0", "C1", "C2", "C4", INK], [0.35] * 4 + [0.9], strict=True):
    variances, axes = np.linalg.eigh(learner.covariance_)
    angle = np.degrees(np.arctan2(axes[1, 0], axes[0, 0]))
    left.add_patch(Ellipse(learner.coef_[0], *(2 * np.sqrt(variances)), angle=angle, color=colour, alpha=alpha, linewidth=0))
left.autoscale_view()
left.set(title="weights: four workers, and all of them", aspect="equal", xticks=[], yticks=[])
for errors, name, colour in ((alone, "a part alone", GREY), (merged, "merged", INK)):
    right.plot(counts, errors, "o-", color=colour, linewidth=3)
    right.text(40, errors[-2] + 1.0, name, color=colour, weight="bold", ha="right")
right.set(title="error on new rows, %", xlabel="parts", xscale="log", xticks=counts, xticklabels=counts, yticks=range(0, 21, 5))
right.minorticks_off()
plt.show()
