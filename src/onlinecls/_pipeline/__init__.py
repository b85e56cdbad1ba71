"""Steps and a learner as one object, which learns streams of whatever its first step reads."""

from ._explain import Explanation, linear_of, named_columns  # noqa: F401 (the command line takes the last two)
from ._pipeline import StreamPipeline, make_stream_pipeline, names_of  # noqa: F401 (the last one is for the evaluation)
from ._steps import is_fitted, learnt, live_rows, n_rounds, rows_learnt, stays  # noqa: F401 (for others)

__all__ = ["StreamPipeline", "make_stream_pipeline"]
