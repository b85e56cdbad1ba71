"""Online linear classifiers, compiled and exact: learn a stream in one pass, from Python, as with scikit-learn.

>>> import onlinecls
>>> learner = onlinecls.AROWClassifier().partial_fit([[0.0, 1.0], [1.0, 0.0]], ["spam", "ham"], classes=["ham", "spam"])
>>> learner.predict([[0.0, 3.0]]).tolist()
['spam']

Classes, functions and submodules are imported at first use.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # (as in typing, whose import would take half of the time)
if TYPE_CHECKING:  # the names below, for type checkers and editors
    from . import bounds as bounds
    from . import datasets as datasets
    from . import measures as measures
    from . import parallel as parallel
    from . import plotting as plotting
    from . import reference as reference
    from . import streams as streams
    from . import tables as tables
    from . import text as text
    from ._estimators.linear import (
        AROWClassifier,
        AROWRegressor,
        ConfidenceWeightedClassifier,
        NAROWClassifier,
        PassiveAggressiveClassifier,
        PassiveAggressiveRegressor,
        Perceptron,
        SCWClassifier,
        SecondOrderPerceptron,
    )
    from ._estimators.merging import merge
    from ._estimators.saving import load
    from ._pipeline import StreamPipeline, make_stream_pipeline
    from ._wings.adagrad.estimators import AdaGradClassifier, FTRLClassifier
    from ._wings.committee.estimators import CommitteeClassifier
    from ._wings.dual_ascent.estimators import DualAscentClassifier, DualAscentRegressor, HedgeClassifier, OGDClassifier
    from ._wings.kernels.estimators import KernelOnlineClassifier, KernelOnlineRegressor
    from ._wings.normalised.estimators import (
        MultiplicativePassiveAggressiveClassifier,
        MultiplicativePassiveAggressiveOneClass,
        MultiplicativePassiveAggressiveRegressor,
        PassiveAggressiveOneClass,
        PNormPerceptron,
    )
    from ._wings.online_to_batch.estimators import OnlineToBatch
    from .evaluation import compare, progressive_validation
    from .tables import TableVectorizer
    from .text import HashingVectorizer

__version__ = "0.1.0"
__all__ = [
    "AROWClassifier", "AROWRegressor", "AdaGradClassifier", "CommitteeClassifier", "ConfidenceWeightedClassifier",
    "DualAscentClassifier", "DualAscentRegressor", "FTRLClassifier", "HashingVectorizer", "HedgeClassifier",
    "KernelOnlineClassifier", "KernelOnlineRegressor", "MultiplicativePassiveAggressiveClassifier",
    "MultiplicativePassiveAggressiveOneClass", "MultiplicativePassiveAggressiveRegressor", "NAROWClassifier", "OGDClassifier",
    "OnlineToBatch", "PNormPerceptron", "PassiveAggressiveClassifier", "PassiveAggressiveOneClass",
    "PassiveAggressiveRegressor", "Perceptron", "SCWClassifier", "SecondOrderPerceptron", "StreamPipeline", "TableVectorizer",
    "compare", "load", "make_stream_pipeline", "merge", "progressive_validation",
]

_SUBMODULES = ("bounds", "datasets", "measures", "parallel", "plotting", "reference", "streams", "tables", "text")


def __dir__() -> list[str]:
    return sorted({*__all__, *_SUBMODULES, *(name for name in globals() if name[:2] == "__")})


if not TYPE_CHECKING:  # (with it, type checkers would accept any name)

    def __getattr__(name):
        if name in _SUBMODULES:
            return import_module(f"{__name__}.{name}")
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from ._registry import public

        globals()[name] = found = public(name)
        return found
