"""Measures of predictions along a stream, alarms where they get worse, and learners compared at any time."""

from ._comparison import ErrorComparison, ErrorRace
from ._counts import ClassificationMeasures, RegressionMeasures, threshold_for_cost
from ._drift import DriftAlarm
from ._sets import MultiLabelMeasures

__all__ = [
    "ClassificationMeasures", "DriftAlarm", "ErrorComparison", "ErrorRace", "MultiLabelMeasures", "RegressionMeasures",
    "threshold_for_cost",
]


def __dir__() -> list[str]:
    return __all__
