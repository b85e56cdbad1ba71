"""
The words that make a message spam
==================================

What makes a text message spam? AROW has a weight for every word, here from left (ham) to right (spam), and a variance beside
it, which shrinks with every mistake that the word helps to correct: sure weights are at the top. Frequent words are well known;
a word that was met once or twice stays at the bottom, however telling it looks. The words themselves were hashed, and
``FeatureNames`` learns which is which.
"""

import matplotlib.pyplot as plt
import numpy as np

from onlinecls import AROWClassifier
from onlinecls.datasets import load_sms_spam
from onlinecls.text import FeatureNames, HashingVectorizer

texts, y = load_sms_spam(return_text=True)
names = FeatureNames(HashingVectorizer())
X = names.transform(texts)
learner = AROWClassifier().partial_fit(X, y, classes=["ham", "spam"])
top = names.top_features(learner, k=10_000)
words = [(each.name, sign * each.weight, each.std) for sign, label in ((-1, "ham"), (1, "spam")) for each in top[label]]

# %%
# Every dot is a word. The words whose weights are farthest from 0, in their own standard deviations, are written first, and
# others where there is still room.

BLUE, RED = "#2b6cb0", "#c53030"
weight, std = np.array([each[1:] for each in words]).T
plt.rcParams.update({"font.size": 12, "axes.spines.top": False, "axes.spines.right": False})
figure, ax = plt.subplots(figsize=(8, 7), layout="constrained")
ax.scatter(weight, std, s=4, c=np.where(weight > 0, RED, BLUE), alpha=0.2, linewidth=0)
ax.set(xlim=(-2.5, 3.4), ylim=(1.02, 0.07), yscale="log", yticks=[], xticks=[-2, -1, 0, 1, 2, 3], xlabel="weight of the word")
ax.set_ylabel("less sure      ⟶      surer")
ax.yaxis.set_minor_locator(plt.NullLocator())
ax.text(-2.4, 0.075, "ham", color=BLUE, fontsize=20, weight="bold", va="top")
ax.text(3.3, 0.075, "spam", color=RED, fontsize=20, weight="bold", va="top", ha="right")
figure.canvas.draw()
taken = [each.get_window_extent() for each in ax.texts]
for i in np.argsort(-np.abs(weight) / std)[:420]:
    word = ax.text(weight[i], std[i], words[i][0], color=RED if weight[i] > 0 else BLUE, ha="center", va="center", clip_on=True)
    word.set_fontsize(np.clip(5 + 0.9 * abs(weight[i]) / std[i], 8.5, 20))
    taken.append(word.get_window_extent())
    if any(taken[-1].overlaps(other) for other in taken[:-1]):
        word.remove()
        taken.pop()
plt.show()
