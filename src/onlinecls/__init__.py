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
    from typing import Any

    from . import bounds as bounds
    from . import datasets as datasets
    from . import measures as measures
    from . import parallel as parallel
    from . import plotting as plotting
    from . import reference as reference
    from . import streams as streams
    from . import tables as tables
    from . import text as text
    from ._estimators.first_order import PassiveAggressiveClassifier as PassiveAggressiveClassifier
    from ._estimators.first_order import PassiveAggressiveRegressor as PassiveAggressiveRegressor
    from ._estimators.first_order import Perceptron as Perceptron
    from ._estimators.merging import merge as merge
    from ._estimators.saving import load as load
    from ._estimators.second_order import AROWClassifier as AROWClassifier
    from ._estimators.second_order import AROWRegressor as AROWRegressor
    from ._estimators.second_order import ConfidenceWeightedClassifier as ConfidenceWeightedClassifier
    from ._estimators.second_order import NAROWClassifier as NAROWClassifier
    from ._estimators.second_order import SCWClassifier as SCWClassifier
    from ._estimators.second_order import SecondOrderPerceptron as SecondOrderPerceptron
    from ._evaluation import compare as compare
    from ._evaluation import progressive_validation as progressive_validation
    from ._pipeline import StreamPipeline as StreamPipeline
    from ._pipeline import make_stream_pipeline as make_stream_pipeline
    from ._wings.adagrad.estimators import AdaGradClassifier as AdaGradClassifier
    from ._wings.committee.estimators import CommitteeClassifier as CommitteeClassifier
    from ._wings.dual_ascent.estimators import DualAscentClassifier as DualAscentClassifier
    from ._wings.dual_ascent.estimators import DualAscentRegressor as DualAscentRegressor
    from ._wings.dual_ascent.estimators import HedgeClassifier as HedgeClassifier
    from ._wings.dual_ascent.estimators import OGDClassifier as OGDClassifier
    from ._wings.ftrl.estimators import FTRLClassifier as FTRLClassifier
    from ._wings.kernels.estimators import KernelOnlineClassifier as KernelOnlineClassifier
    from ._wings.kernels.estimators import KernelOnlineRegressor as KernelOnlineRegressor
    from ._wings.multiplicative.estimators import (
        MultiplicativePassiveAggressiveClassifier as MultiplicativePassiveAggressiveClassifier,
    )
    from ._wings.multiplicative.estimators import (
        MultiplicativePassiveAggressiveOneClass as MultiplicativePassiveAggressiveOneClass,
    )
    from ._wings.multiplicative.estimators import (
        MultiplicativePassiveAggressiveRegressor as MultiplicativePassiveAggressiveRegressor,
    )
    from ._wings.one_class.estimators import PassiveAggressiveOneClass as PassiveAggressiveOneClass
    from ._wings.online_to_batch.estimators import OnlineToBatch as OnlineToBatch
    from ._wings.p_norm.estimators import PNormPerceptron as PNormPerceptron
    from .tables import TableVectorizer as TableVectorizer
    from .text import HashingVectorizer as HashingVectorizer

__version__ = "0.1.0"

_SUBMODULES = ("bounds", "datasets", "measures", "parallel", "plotting", "reference", "streams", "tables", "text")
_FUNCTIONS = {
    "load": "_estimators.saving", "merge": "_estimators.merging", "progressive_validation": "_evaluation",
    "compare": "_evaluation",
    "StreamPipeline": "_pipeline", "make_stream_pipeline": "_pipeline", "HashingVectorizer": "text", "TableVectorizer": "tables",
}


def _estimator_names() -> frozenset[str]:
    from ._registry import ESTIMATORS

    return ESTIMATORS


def _find(name: str) -> Any:
    if name in _SUBMODULES:
        return import_module(f"{__name__}.{name}")
    if name == "__all__":
        found: Any = sorted({*_estimator_names(), *_FUNCTIONS})
    elif name in _FUNCTIONS:
        found = getattr(import_module(f"{__name__}.{_FUNCTIONS[name]}"), name)
    elif name[:1] != "_" and name in _estimator_names():
        from ._registry import estimator_class

        found = estimator_class(name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*_find("__all__"), *_SUBMODULES, *(name for name in globals() if name[:2] == "__")})


if not TYPE_CHECKING:  # (with it, type checkers would accept any name)
    __getattr__ = _find
