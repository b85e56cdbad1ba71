"""
A spiral, and forty rows to remember it by
==========================================

No line separates the arms of a spiral. A kernel learner does, but it keeps the rows from which it has learnt, and on a stream
their number grows and grows. A ``budget`` limits how many it keeps. Kernel AROW then projects what a dropped row has taught
onto those that stay, and does as well with forty rows as with a thousand. Kernel PA only drops a row for each new one, and
forgets parts of the spiral. The white dots are the rows that are kept.
"""

import matplotlib.pyplot as plt
import numpy as np

from onlinecls import KernelOnlineClassifier

rng = np.random.default_rng(0)
y = rng.integers(0, 2, 4000)
radius = rng.uniform(0.15, 1, 4000)
turn = 3.2 * np.pi * radius + np.pi * y
X = np.column_stack([radius * np.cos(turn), radius * np.sin(turn)]) + rng.normal(scale=0.03, size=(4000, 2))

learners = [
    KernelOnlineClassifier("arow", gamma=10.0),
    KernelOnlineClassifier("arow", gamma=10.0, budget=40),
    KernelOnlineClassifier("pa", gamma=10.0, budget=40),
]
titles = ["AROW, no budget", "AROW, budget 40", "PA, budget 40"]
grid = np.linspace(-1.15, 1.15, 150)
plane = np.column_stack([axis.ravel() for axis in np.meshgrid(grid, grid)])
plt.rcParams.update({"font.size": 12})
figure, panels = plt.subplots(1, 3, figsize=(10, 4), layout="constrained")
for learner, title, ax in zip(learners, titles, panels, strict=True):
    learner.partial_fit(X, y)
    score = learner.decision_function(plane).reshape(150, 150)
    ax.contourf(grid, grid, np.tanh(1.5 * score), levels=np.linspace(-1, 1, 21), cmap="RdBu")
    ax.contour(grid, grid, score, levels=[0], colors="#1a202c", linewidths=1.5)
    ax.scatter(*learner.support_vectors_.T, s=14 if learner.budget else 5, color="white", edgecolor="#1a202c", linewidth=0.5)
    kept = f"{learner.n_support_:,} rows kept\n{learner.n_mistakes_} mistakes"
    ax.set(title=title, xticks=[], yticks=[], aspect="equal", xlabel=kept)
plt.show()
