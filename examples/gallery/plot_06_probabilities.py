"""
Calibrated probabilities
========================

When a forecast says 80 %, it should rain on four days of five. With ``probability=True`` two numbers are learnt beside the
model, from the score of each row just before it is learnt, and turn scores into probabilities: no folds, no held-out rows, one
pass. The points of a forecaster who keeps his word lie on the diagonal. A margin that is squeezed into [0, 1] by the sigmoid
looks like a probability, but is far too timid.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit
from sklearn.calibration import calibration_curve

from onlinecls import AROWClassifier

rng = np.random.default_rng(0)
y = (rng.random(40_000) < 0.4).astype(int)  # two clouds that overlap
X = rng.normal(size=(40_000, 20)) + 0.3 * y[:, None]
stream, new = slice(0, 20_000), slice(20_000, None)
learner = AROWClassifier(probability=True).partial_fit(X[stream], y[stream])
squeezed, learnt = expit(learner.decision_function(X[new])), learner.predict_proba(X[new])[:, 1]

plt.rcParams.update({"font.size": 12, "axes.spines.top": False, "axes.spines.right": False})
figure, (above, below) = plt.subplots(2, 1, figsize=(6.5, 8), height_ratios=[3.2, 1], sharex=True, layout="constrained")
above.plot([0, 100], [0, 100], color="#e2e8f0", linewidth=8, zorder=0)
for said, colour in ((squeezed, "#a0aec0"), (learnt, "#2b6cb0")):
    happened, forecast = calibration_curve(y[new], said, n_bins=15)
    above.plot(100 * forecast, 100 * happened, "o-", color=colour, linewidth=2.5, markersize=7)
    below.hist(100 * said, bins=50, range=(0, 100), color=colour, alpha=0.7)
above.text(36, 6, "sigmoid of the score", color="#718096", weight="bold")
above.text(10, 42, "probability=True", color="#2b6cb0", weight="bold")
above.text(97, 88, "keeps its word", color="#a0aec0", ha="right", rotation=45, rotation_mode="anchor")
above.set(ylabel="what happened, %", xlim=(0, 100), ylim=(0, 100))
below.set(xlabel="what was forecast, %", yticks=[], ylabel="how often")
plt.show()
