"""Learners on a stream: each row predicted, then learnt."""

from ._compare import Comparison, compare, in_orders
from ._progressive import ProgressiveErrors, ProgressiveResult, progressive_validation

__all__ = ["Comparison", "ProgressiveErrors", "ProgressiveResult", "compare", "in_orders", "progressive_validation"]
