"""The rows of the table of algorithms for follow the regularized leader."""

from __future__ import annotations

from ..._algorithm import NONE, POSITIVE, Algorithm, Conflict, Default, Either

NO_AVERAGE = Conflict(("average",), "False", lambda v: bool(v["average"]), (
    "each w is optimal for all rows so far, and every weight may change in any round. Use DualAscentClassifier for an average."
))
ALL_ROWS = "it keeps all rows, and a merge would keep those of all shards"

ALGORITHMS = tuple(
    Algorithm(name, "forel", "additive", "FoReLClassifier", {"sigma": Either((NONE, POSITIVE)), "gap_tol": POSITIVE},
              selects={"loss": loss}, tasks=("leader",), units={"sigma": Default(1.0, 2, name=None)},
              trials=({"sigma": 2.0, "gap_tol": 1e-06},), merge=ALL_ROWS, theorems=("dual_ascent",), conflicts=(NO_AVERAGE,),
              title=f"Follow the regularized leader{of}", paper="ICML 2008 tutorial, III (aggressive schemes II)")
    for name, loss, of in (("forel", "hinge", " (FoReL)"), ("forel_log", "log_loss", ", log loss"))
)
