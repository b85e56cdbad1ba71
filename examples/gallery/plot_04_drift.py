"""
Drift: streams that change, and forgetting
==========================================

The boundary between two classes turns like the hand of a clock, stands still, and then jumps to the opposite side. The grey
band is the direction that is right, the lines are what three learners believe. AROW becomes surer with every row, follows ever
more slowly, and hardly notices the jump. With ``forgetting`` its variances grow a little before each row, so that it keeps up.
PA-I never becomes sure at all: it follows at once, and trembles with every wrong label.
"""

import matplotlib.pyplot as plt
import numpy as np

from onlinecls import AROWClassifier, PassiveAggressiveClassifier

rng = np.random.default_rng(0)
rows = np.arange(9000)
angle = np.interp(rows, [0, 1500, 4500, 6000], [0, 0, 150, 150]) - 180 * (rows >= 6000)
X = rng.normal(size=(len(rows), 2))
y = np.sign(X[:, 0] * np.cos(np.radians(angle)) + X[:, 1] * np.sin(np.radians(angle)))
y[rng.random(len(y)) < 0.05] *= -1

learners = {
    "PA-I": ("#f6ad55", PassiveAggressiveClassifier(fit_intercept=False)),
    "AROW": ("#2b6cb0", AROWClassifier(fit_intercept=False)),
    "AROW, forgetting": ("#38a169", AROWClassifier(forgetting=0.01, fit_intercept=False)),
}
plt.rcParams.update({"font.size": 12, "axes.spines.top": False, "axes.spines.right": False})
figure, ax = plt.subplots(figsize=(8, 5), layout="constrained")
ax.plot(rows, angle, color="#cbd5e0", linewidth=12)
for name, (colour, learner) in learners.items():
    believed = []
    for start in range(0, len(rows), 10):
        learner.partial_fit(X[start : start + 10], y[start : start + 10], classes=[-1, 1])
        believed.append(np.degrees(np.arctan2(learner.coef_[0, 1], learner.coef_[0, 0])))
    within = (np.array(believed) + 150) % 360 - 150
    ax.plot(rows[::10] + 10, within, color=colour, linewidth=0.8 if name == "PA-I" else 2.5)
ax.text(7700, 95, "AROW", color="#2b6cb0", weight="bold")
ax.text(6200, 25, "AROW, forgetting", color="#38a169", weight="bold")
ax.text(6200, -100, "PA-I", color="#dd6b20", weight="bold")
ax.text(6150, 165, "the labels jump", color="#718096")
ax.text(1850, 95, "they turn", color="#718096")
ax.set(xlabel="rows seen", ylabel="direction, degrees", xlim=(0, 9000), ylim=(-140, 200), yticks=[-90, 0, 90, 180])
plt.show()
