"""Measures of predictions along a stream, alarms where they get worse, and two learners compared at any time."""

from ._comparison import ErrorComparison
from ._counts import ClassificationMeasures, RegressionMeasures
from ._drift import DriftAlarm

__all__ = ["ClassificationMeasures", "DriftAlarm", "ErrorComparison", "RegressionMeasures"]
