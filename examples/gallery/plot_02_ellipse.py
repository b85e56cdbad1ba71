"""
How AROW learns, row by row
===========================

AROW does not learn one boundary but a whole cloud of them: a Gaussian over weights. On the left are the rows so far and the
boundaries that are still likely; on the right is the same cloud as an ellipse in the plane of weights. Each row says that the
shaded half-plane is wrong. The ellipse moves out of it and narrows in the direction of that row, where there is now less left
to find out. When a wrong label arrives in row 27, the ellipse is small and barely moves.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.animation import FuncAnimation
from matplotlib.patches import Ellipse

from onlinecls import AROWClassifier

rng = np.random.default_rng(4)
X = rng.normal(size=(40, 2))
y = np.where(X @ [2.0, 1.2] > 0, 1, -1)
y[26] = -y[26]

# %%
# Learn one row at a time, and keep the centre of the Gaussian and its covariance after each.

learner = AROWClassifier(r=1.0, covariance="full", fit_intercept=False)
centres, covariances = [np.zeros(2)], [np.eye(2)]
for x, label in zip(X, y, strict=True):
    learner.partial_fit([x], [label], classes=[-1, 1])
    centres.append(learner.coef_[0].copy())
    covariances.append(learner.covariance_.copy())

# %%
# Blue rows belong on one side of the line, orange ones on the other. The ellipses reach to one and two standard deviations.

BLUE, ORANGE, RED, INK, GREY = "#2b6cb0", "#dd6b20", "#e53e3e", "#1a202c", "#a0aec0"
samples = rng.normal(size=(80, 2))
ends = np.array([[-9.0], [9.0]])
plt.rcParams.update({"font.size": 12})
figure, (left, right) = plt.subplots(1, 2, figsize=(8, 4.5), layout="constrained")


def draw(t):
    """Draw what is known after t rows."""
    centre, (variances, axes) = centres[t], np.linalg.eigh(covariances[t])
    for ax, half, title in ((left, 2.9, "rows and boundaries"), (right, 2.3, "weights")):
        ax.clear()
        ax.set(xlim=(-half, half), ylim=(-half, half), xticks=[], yticks=[], aspect="equal", title=title)
    if t:
        for w in [*(centre + samples * np.sqrt(variances) @ axes.T), centre]:
            style = {"color": INK, "linewidth": 2.5} if w is centre else {"color": GREY, "linewidth": 1, "alpha": 0.25}
            left.plot(*(ends * [-w[1], w[0]] / np.linalg.norm(w)).T, **style)
        colours = np.where(y[:t] > 0, BLUE, ORANGE)
        left.scatter(*X[:t].T, c=colours, s=45, edgecolor="white", linewidth=0.7, zorder=3)
        left.scatter(*X[t - 1], s=260, facecolor="none", edgecolor=colours[-1], linewidth=2.5, zorder=3)
        grid = np.linspace(-2.3, 2.3, 200)
        margin = y[t - 1] * (X[t - 1, 0] * grid + X[t - 1, 1] * grid[:, None])
        right.contourf(grid, grid, margin, levels=[-99, 0], colors=[colours[-1]], alpha=0.18)
    for deviations, alpha in ((2, 0.25), (1, 0.5)):
        width, height = 2 * deviations * np.sqrt(variances)
        angle = np.degrees(np.arctan2(axes[1, 0], axes[0, 0]))
        right.add_patch(Ellipse(centre, width, height, angle=angle, color=INK, alpha=alpha, linewidth=0))
    right.plot(*np.array(centres[: t + 1]).T, color=RED, linewidth=1.5)
    right.plot(*centre, "o", color=RED, markersize=6, markeredgecolor="white")
    right.text(-2.15, -2.15, f"row {t}" + (", its label is wrong" if t == 27 else ""), fontsize=13, color=INK)


animation = FuncAnimation(figure, draw, frames=[*[40] * 6, *range(27), *[27] * 4, *range(28, 41)], interval=350)
plt.show()
