"""Learners on a stream: each row predicted, then learnt."""

from ._compare import Comparison, Race, compare
from ._progressive import ProgressiveErrors, ProgressiveResult, judged, progressive_validation

__all__ = ["Comparison", "ProgressiveErrors", "ProgressiveResult", "Race", "compare", "judged", "progressive_validation"]
