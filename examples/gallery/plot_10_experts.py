"""
Thirty experts, and whom to believe
===================================

Each of thirty experts looks at one measurement of a tumour, and says "malignant" if it is above average. ``HedgeClassifier``
begins by trusting all of them equally, and trusts each of them less with every mistake it makes: the bands are its weights,
which always sum to one. After a few dozen patients, only some good experts are left. Below, its expected number of mistakes ends
up between that of the best expert, whom nobody knew beforehand, and the theorem's bound.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.utils import shuffle

from onlinecls import HedgeClassifier

data = load_breast_cancer()
X, y = shuffle(data.data, np.where(data.target == 0, 1, -1), random_state=0)
advice = (X > X.mean(axis=0)).astype(float)
hedge = HedgeClassifier()
weights, expected = [], []
for row, label in zip(advice, y, strict=True):
    hedge.partial_fit([row], [label], classes=[-1, 1])
    weights.append(hedge.coef_[0].copy())
    expected.append(hedge.expected_loss_)
weights, seen = np.array(weights), np.arange(1, len(y) + 1)
mistakes = np.cumsum((advice > 0.5) != (y > 0)[:, None], axis=0)

# %%
# The six experts with the largest weights at the end have colours. ("Worst" is this data set's word for the largest cells of a
# sample.)

plt.rcParams.update({"font.size": 12, "axes.spines.top": False, "axes.spines.right": False})
figure, (above, below) = plt.subplots(2, 1, figsize=(8, 8), height_ratios=[1.5, 1], layout="constrained", sharex=True)
order = np.argsort(weights[-1])
named = order[-6:]
shades = dict(zip(named, plt.cm.viridis(np.linspace(0.05, 0.78, 6)), strict=True))
above.stackplot(seen, weights[:, order].T, colors=[shades.get(k, "#e2e8f0") for k in order], edgecolor="white", linewidth=0.5)
for k, end in zip(order, np.cumsum(weights[-1, order]), strict=True):
    if weights[-1, k] > 0.05:
        above.text(len(y) * 1.05, end - weights[-1, k] / 2, data.feature_names[k], color=shades[k], va="center", weight="bold")
above.text(12.5, 0.5, data.feature_names[named[1]].replace(" ", "\n"), color="white", weight="bold", va="center", fontsize=10)
above.set(xscale="log", xlim=(1, len(y)), ylim=(0, 1), yticks=[0, 0.5, 1], ylabel="weight of each expert")
best = mistakes[:, mistakes[-1].argmin()]
bound = best + 2 * np.sqrt(seen * np.log(30) / 2) + np.sqrt(np.log(30) / 8)
below.plot(seen, mistakes, color="#cbd5e0", linewidth=0.8)
for curve, name, colour in ((bound, "the bound", "#c53030"), (expected, "Hedge", "#1a202c"), (best, "best expert", "#2b6cb0")):
    below.plot(seen, curve, color=colour, linewidth=3, linestyle="--" if curve is bound else "-")
    below.text(len(y) * 1.05, curve[-1], f"{name} {curve[-1]:.0f}", color=colour, va="center", weight="bold")
below.set(xlabel="patients seen", ylabel="mistakes so far", ylim=(0, 120))
plt.show()
