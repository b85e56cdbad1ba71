"""Online linear classifiers, compiled and exact: learn a stream in one pass, from Python, as with scikit-learn.

>>> import onlinecls
>>> learner = onlinecls.AROWClassifier().partial_fit([[0.0, 1.0], [1.0, 0.0]], ["spam", "ham"], classes=["ham", "spam"])
>>> learner.predict([[0.0, 3.0]]).tolist()
['spam']
"""

from ._ascent.baselines import HedgeClassifier, OGDClassifier
from ._ascent.dual_ascent import DualAscentClassifier, DualAscentRegressor
from ._ascent.leader import FoReLClassifier
from ._estimators.first_order import (
    AdaGradClassifier,
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
    Perceptron,
    PNormPerceptron,
)
from ._estimators.multiplicative import (
    MultiplicativePassiveAggressiveClassifier,
    MultiplicativePassiveAggressiveOneClass,
    MultiplicativePassiveAggressiveRegressor,
)
from ._estimators.one_class import PassiveAggressiveOneClass
from ._estimators.online_to_batch import OnlineToBatch
from ._estimators.second_order import (
    AROWClassifier,
    AROWRegressor,
    ConfidenceWeightedClassifier,
    NAROWClassifier,
    SCWClassifier,
    SecondOrderPerceptron,
)
from ._evaluation import progressive_validation
from ._kernelized.learners import KernelOnlineClassifier, KernelOnlineOneClass, KernelOnlineRegressor
from ._saving import load

__version__ = "0.1.0"

__all__ = [
    "AROWClassifier",
    "AROWRegressor",
    "AdaGradClassifier",
    "ConfidenceWeightedClassifier",
    "DualAscentClassifier",
    "DualAscentRegressor",
    "FoReLClassifier",
    "HedgeClassifier",
    "KernelOnlineClassifier",
    "KernelOnlineOneClass",
    "KernelOnlineRegressor",
    "MultiplicativePassiveAggressiveClassifier",
    "MultiplicativePassiveAggressiveOneClass",
    "MultiplicativePassiveAggressiveRegressor",
    "NAROWClassifier",
    "OGDClassifier",
    "OnlineToBatch",
    "PNormPerceptron",
    "PassiveAggressiveClassifier",
    "PassiveAggressiveOneClass",
    "PassiveAggressiveRegressor",
    "Perceptron",
    "SCWClassifier",
    "SecondOrderPerceptron",
    "load",
    "progressive_validation",
]
