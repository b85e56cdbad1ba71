"""
Learning curves of five learners
================================

Every learner predicts each of 5,574 text messages before it learns it. The curve is the share of mistakes so far: no held-out
set is needed, and every row counts. AdaGrad, SCW and AROW keep a second number for each weight, which says how much that weight
may still move, and end ahead of the Perceptron and PA, which do not.
"""

import matplotlib.pyplot as plt

from onlinecls import AdaGradClassifier, AROWClassifier, PassiveAggressiveClassifier, Perceptron, SCWClassifier
from onlinecls.datasets import load_sms_spam
from onlinecls.plotting import ProgressiveDisplay

learners = {
    "AROW": AROWClassifier(),
    "AdaGrad": AdaGradClassifier(),
    "SCW": SCWClassifier(),
    "passive-aggressive": PassiveAggressiveClassifier(),
    "Perceptron": Perceptron(),
}
ProgressiveDisplay.from_estimators(learners, load_sms_spam(), every=25, log_x=True, log_y=True, linewidth=2.5)
plt.show()
