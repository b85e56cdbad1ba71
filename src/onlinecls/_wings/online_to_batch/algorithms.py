"""The rows of the table of algorithms for online to batch."""

from __future__ import annotations

from ..._algorithm import Algorithm, Integer, Options, Real

OTHERS = (
    Algorithm("online_to_batch", "", "", "OnlineToBatch",
              {"method": Options(("average", "validation"), "'validation' chooses by held-out rows."),
               "n_snapshots": Integer(2, hint="Each is a copy of the model."),
               "validation_fraction": Real(0.0, 0.5, high_allowed=True,
                                           hint="Every round(1 / validation_fraction)-th row is held out.")},
              merge="it chooses among the hypotheses of one stream; merge the estimators that it wraps",
              title="Online to batch", paper="ICML 2008 tutorial, V"),
)
