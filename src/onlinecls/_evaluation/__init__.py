"""Learners on a stream: each row predicted, then learnt."""

from ._compare import Comparison, Race, compare
from ._progressive import ProgressiveErrors, ProgressiveResult, is_wrong, progressive_validation

__all__ = ["Comparison", "ProgressiveErrors", "ProgressiveResult", "Race", "compare", "is_wrong", "progressive_validation"]
