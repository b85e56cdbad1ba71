"""Measures of predictions along a stream, alarms where they get worse, and learners compared at any time and across data sets."""

from ._comparison import ErrorComparison, ErrorRace
from ._counts import ClassificationMeasures, RegressionMeasures, threshold_for_cost
from ._drift import DriftAlarm
from ._sets import MultiLabelMeasures
from ._tables import Comparison, Ranking, across

__all__ = [
    "ClassificationMeasures", "Comparison", "DriftAlarm", "ErrorComparison", "ErrorRace", "MultiLabelMeasures", "Ranking",
    "RegressionMeasures", "across", "threshold_for_cost",
]


def __dir__() -> list[str]:
    return __all__
