"""
A rule of your own
==================

A learning rule is a few lines of code: from the statistics of a row, such as its margin and its length, it computes the step to
take. This one agrees with PA-I while the margin is positive or a little below zero. If a row is far on the wrong side, its
label is probably wrong, and the rule takes a smaller step. ``reference.Additive`` makes a learner of it, slow but plain. On
the right, every fifth label of the stream is wrong (mistakes are counted against the right ones), and it pays to be sceptical.
"""

import matplotlib.pyplot as plt
import numpy as np

from onlinecls.reference import RULES, Additive, Stats, Step


def sceptical(s: Stats, C: float) -> Step:
    """Take PA-I's step, and less of it the farther the row is on the wrong side."""
    if s.loss == 0:
        return Step()
    return Step(min(C, s.loss / s.q) / (1 + min(0, s.margin) ** 2))


# %%
# The papers' rules are functions of the same kind.

rules = {"PA-II": RULES["pa2"].step, "PA-I": RULES["pa1"].step, "sceptical": sceptical}
rng = np.random.default_rng(0)
X = rng.normal(size=(4000, 20)) / np.sqrt(20)
clean = np.sign(X @ rng.normal(size=20))
y = np.where(rng.random(4000) < 0.2, -clean, clean)
margins = np.linspace(-3, 2, 300)

plt.rcParams.update({"font.size": 12, "axes.spines.top": False, "axes.spines.right": False})
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.6), layout="constrained")
for (name, rule), colour in zip(rules.items(), ["#ed8936", "#3182ce", "#c53030"], strict=True):
    steps = [rule(Stats(margin, max(0, 1 - margin), q=1.0), C=0.3).tau for margin in margins]
    learner, wrong = Additive(20, rule, C=0.3), []
    for x, label, right_one in zip(X, y, clean, strict=True):
        wrong.append(right_one * (learner.w @ x) <= 0)
        learner.step(label * x)
    error = np.cumsum(wrong)[19::20] / np.arange(20, 4001, 20)
    left.plot(margins, steps, color=colour, linewidth=3)
    left.text(-2.95, max(steps[:60]) + 0.04, name, color=colour, weight="bold")
    right.plot(np.arange(20, 4001, 20), 100 * error, color=colour, linewidth=3)
    right.text(4080, 100 * error[-1], f"{error[-1]:.0%}", color=colour, weight="bold", va="center")
left.set(title="step", xlabel="margin of the row", xticks=[-3, -2, -1, 0, 1, 2], ylim=(0, 1.7))
right.set(title="mistakes so far, %", xlabel="rows seen", xlim=(0, 4000), ylim=(0, 50), xticks=[0, 2000, 4000])
plt.show()
