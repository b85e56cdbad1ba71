"""The rows of the table of algorithms for rows of several labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._algorithm import AGGRESSIVENESS, AUTO, POSITIVE, Algorithm, Conflict, Default, Either, Options, Real

OWN = {
    "C": AGGRESSIVENESS, "r": Either((AUTO, POSITIVE), hint="r is the noise variance of one row."),
    "forgetting": Real(0.0, 0.1, True, True, hint="Each row lets the variances grow by 1/(1 - forgetting)."),
    "update": Options(("all", "worst"), hint="'all' takes a step for each label whose margin is below 1."),
}
REMEMBERS = Conflict(
    ("forgetting",), "0 for algorithm={algorithm!r}", lambda v: bool(v["forgetting"]), "it has no variances that could grow."
)


def _row(name: str, rule: str, geometry: str, selects: Mapping[str, object], used: bool = False, **more: Any) -> Algorithm:
    """Make the row of a rule of two classes that learns each label."""
    return Algorithm(
        f"multilabel_{name}", rule, geometry, "MultiLabelClassifier", OWN, selects=selects, tasks=("multilabel",),
        units={"r": Default(0.1, 2, epochs=True, used=used)}, **more,
    )


OTHERS = (
    _row("arow", "arow", "gaussian", {"algorithm": "arow"}, used=True, merge="posterior", title="AROW of several labels",
         paper="AROW, eqs (7)-(9), a label each"),
    _row("pa1", "pa1", "additive", {"algorithm": "pa", "loss": "hinge"}, conflicts=(REMEMBERS,), title="PA-I of several labels",
         paper="PA, section 3, a label each"),
    _row("pa2", "pa2", "additive", {"algorithm": "pa", "loss": "squared_hinge"}, conflicts=(REMEMBERS,),
         title="PA-II of several labels", paper="PA, section 5, a label each"),
)
