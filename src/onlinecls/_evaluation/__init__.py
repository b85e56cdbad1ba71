"""Learners on a stream: each row predicted, then learnt."""

from ..measures import Comparison
from ._compare import Race, compare, in_orders
from ._progressive import ProgressiveErrors, ProgressiveResult, progressive_validation
from ._runs import judged

__all__ = [
    "Comparison", "ProgressiveErrors", "ProgressiveResult", "Race", "compare", "in_orders", "judged", "progressive_validation",
]
