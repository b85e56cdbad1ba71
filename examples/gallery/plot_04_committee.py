"""
A committee chooses whom to follow
==================================

Three learners read the same text messages, and half-way through spam becomes ham. A committee learns, row by row, how much each
of them should count. AROW never forgets, and gets a weight below zero: where it and its forgetful twin disagree, the twin is
right, and after the turn the opposite of what AROW says is right, too. The committee makes fewer mistakes than any of its
members, and nobody had to know that a turn would come.
"""

import matplotlib.pyplot as plt
import numpy as np

from onlinecls import AROWClassifier, CommitteeClassifier, PassiveAggressiveClassifier
from onlinecls.datasets import load_sms_spam

X, y = load_sms_spam()
turn = len(y) // 2
y[turn:] = np.where(y[turn:] == "spam", "ham", "spam")

members = {"AROW": AROWClassifier(), "AROW, forgetting": AROWClassifier(forgetting=0.001), "PA-I": PassiveAggressiveClassifier()}
committee = CommitteeClassifier(list(members.items()))
seen, mistakes, weights = [], [], []
for start in range(0, len(y), 20):
    committee.partial_fit(X[start : start + 20], y[start : start + 20], classes=["ham", "spam"])
    seen.append(committee.t_)
    mistakes.append([*committee.member_mistakes_, committee.n_mistakes_])
    weights.append(committee.member_weights_.copy())

# %%
# Above, mistakes; below, the weights that the committee gives to its members. Below zero, it reads a member backwards.

COLOURS = ["#2b6cb0", "#38a169", "#dd6b20", "#1a202c"]
plt.rcParams.update({"font.size": 12, "axes.spines.top": False, "axes.spines.right": False})
figure, (above, below) = plt.subplots(2, 1, figsize=(8, 7), sharex=True, layout="constrained")
for name, colour, curve in zip([*members, "committee"], COLOURS, np.transpose(mistakes), strict=True):
    above.plot(seen, curve, color=colour, linewidth=4 if name == "committee" else 2)
    above.text(seen[-1] + 60, curve[-1], f"{name} {curve[-1]}", color=colour, va="center", weight="bold")
for name, colour, curve in zip(members, COLOURS, np.transpose(weights), strict=False):
    below.plot(seen, curve, color=colour, linewidth=2)
    below.text(seen[-1] + 60, curve[-1], name, color=colour, va="center", weight="bold")
below.axhspan(-2.5, 0, color="#fed7d7", alpha=0.6, linewidth=0)
below.text(60, -2.3, "read backwards", color="#c53030")
for ax in (above, below):
    ax.axvline(turn, color="#a0aec0", linestyle="--")
above.text(turn - 60, 500, "labels turn", color="#718096", ha="right")
above.set(ylabel="mistakes so far", ylim=(0, None))
below.set(xlabel="messages seen", ylabel="weight in the committee", xlim=(0, len(y)), ylim=(-2.5, 2.5))
plt.show()
