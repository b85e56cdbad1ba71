"""Steps between rows and a learner that learn a stream: an idf and a scaler of sparse columns, each as of the rows so far.

>>> from onlinecls import AROWClassifier, make_stream_pipeline
>>> from onlinecls.steps import OnlineTfidf
>>> from onlinecls.text import HashingVectorizer
>>> pipeline = make_stream_pipeline(HashingVectorizer(norm=None), OnlineTfidf(), AROWClassifier())
>>> pipeline.partial_fit(["cheap pills", "lunch at noon"] * 5, ["spam", "ham"] * 5).predict_one("pills, cheap")
'spam'
"""

from ._steps import (
    ColumnStep,  # noqa: F401 (this and the next four are for pipelines, and for the command line)
    OnlineMaxAbsScaler,
    OnlineTfidf,
    described,  # noqa: F401
    planned,  # noqa: F401
    planned_progressively,  # noqa: F401
    rebuild,  # noqa: F401
)

__all__ = ["OnlineMaxAbsScaler", "OnlineTfidf"]


def __dir__() -> list[str]:
    return __all__
