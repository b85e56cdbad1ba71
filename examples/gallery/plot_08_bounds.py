"""
Mistake bounds beside the mistakes made
=======================================

Online learners have something that few models have: a limit to their mistakes on every stream whatsoever, wherever it comes
from. Two kinds of Perceptron meet two streams, and ``bounds.certify`` puts beside their mistakes the most that the theorem
allows (dashed) along the stream. On the left, rows keep a distance from the boundary, and there is room below the bounds. On the
right, rows stand at right angles, so that nothing helps with the next one: each is a mistake until all have been seen, and the
bound is reached exactly.
"""

import matplotlib.pyplot as plt
import numpy as np

from onlinecls import Perceptron, SecondOrderPerceptron, bounds

rng = np.random.default_rng(0)


def with_margin(margin):
    """Make 600 rows of length 1 and a vector u with y u.x >= 1 for all of them."""
    X = rng.normal(size=(20_000, 40)) * np.r_[1, 1, 1, np.full(37, 0.4)]
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    X = X[np.abs(X[:, 0]) > margin][:600]
    return X, np.sign(X[:, 0]), np.eye(40)[0] / margin


signs = rng.choice([-1.0, 1.0], size=150)
streams = {
    "rows with a margin": with_margin(0.1),
    "rows at right angles": (np.tile(np.eye(150), (4, 1)), np.tile(signs, 4), signs),
}

# %%
# Each learner has its theorem. The Perceptron makes at most ||u||² mistakes, whatever the order of the rows; of the second-order
# Perceptron it is the updates that are counted, by the margin with the row already in its matrix.

BLUE, ORANGE = "#2b6cb0", "#dd6b20"
plt.rcParams.update({"font.size": 12, "axes.spines.top": False, "axes.spines.right": False})
figure, panels = plt.subplots(1, 2, figsize=(9, 4.8), layout="constrained")
for (title, (X, y, u)), ax in zip(streams.items(), panels, strict=True):
    second = SecondOrderPerceptron(covariance="full", initial_variance=1.0, fit_intercept=False)
    for learner, colour in ((Perceptron(eta0=1.0, fit_intercept=False), BLUE), (second, ORANGE)):
        found = bounds.certify(bounds.follow(learner, X, y), u)
        ax.fill_between(found.rows, found.paid, found.allowed, color=colour, alpha=0.15, linewidth=0)
        ax.plot(found.rows, found.allowed, "--", found.rows, found.paid, "-", color=colour, linewidth=2.5)
    ax.set(title=title, xlabel="rows seen", xticks=[0, 300, 600], xlim=(0, 600), ylim=(0, None))
panels[0].text(590, 94, "the Perceptron may pay", color=BLUE, weight="bold", ha="right")
panels[0].text(590, 34, "the second-order Perceptron may pay", color=ORANGE, weight="bold", ha="right")
panels[0].text(590, 6, "what they paid", weight="bold", ha="right")
panels[1].text(590, 141, "paid: all that is allowed", weight="bold", ha="right")
panels[0].set_ylabel("mistakes so far")
plt.show()
