"""
A ball that holds the zeros
===========================

A one-class learner sees rows of one kind only: here it has met a hundred handwritten zeros, and never another digit. What it
learns is a ball. Whenever a zero lies outside, the centre (in the middle: it looks like a zero, too) moves just enough to hold
it. New digits are drawn at their distance from the centre. Most new zeros, in blue, fall inside the ball, and nearly everything
else stays outside.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.offsetbox import AnnotationBbox, OffsetImage
from sklearn.datasets import load_digits
from sklearn.preprocessing import normalize

from onlinecls import PassiveAggressiveOneClass

X, digit = load_digits(return_X_y=True)
X = normalize(X)
met, new = slice(0, 1000), slice(1000, None)
learner = PassiveAggressiveOneClass(epsilon=0.5).partial_fit(X[met][digit[met] == 0])

# %%
# ``score_samples`` is the distance with a minus. The angle means nothing: it only spreads the digits.

distance, zero = -learner.score_samples(X[new]), digit[new] == 0
angle = 2.399963 * np.arange(len(distance))  # the golden angle, as in a sunflower
places = np.column_stack([distance * np.cos(angle), distance * np.sin(angle)])
figure, ax = plt.subplots(figsize=(7, 7), layout="constrained")
ax.add_patch(plt.Circle((0, 0), 0.5, color="#bee3f8", linewidth=0))
ax.text(0, 0.425, "inside the ball", ha="center", color="#2b6cb0", weight="bold", fontsize=13)


def show(row, place, colours, size):
    """Draw a digit as ink on nothing."""
    ink = plt.get_cmap(colours)(0.95 * np.ones((8, 8)))
    ink[..., 3] = row.reshape(8, 8) / row.max()
    ax.add_artist(AnnotationBbox(OffsetImage(ink, zoom=size, interpolation="bicubic"), place, frameon=False))


show(learner.center_, (0, 0), "Greys", 7)
drawn = [(x, 0.0) for x in (-0.05, 0.05)] + [(x, 0.44) for x in (-0.16, -0.08, 0.0, 0.08, 0.16)]  # taken already
for i in np.argsort(~zero, kind="stable"):
    if np.abs(places[i] - drawn).max(axis=1).min() > 0.075:
        show(X[new][i], places[i], "Blues" if zero[i] else "Oranges", 2.8)
        drawn.append(places[i])
ax.set(xlim=(-1.03, 1.03), ylim=(-1.03, 1.03), aspect="equal")
ax.axis("off")
plt.show()
