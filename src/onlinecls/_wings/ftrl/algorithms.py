"""The rows of the table of algorithms for FTRL-proximal."""

from __future__ import annotations

from ..._algorithm import NONE, NOT_NEGATIVE, POSITIVE, Algorithm, Either, Real

PARAMETERS = {
    "alpha": Either((NONE, POSITIVE), hint="It is the size of a step."),
    "beta": Real(0.0, hint="It limits a feature's first steps."),
    "l1": NOT_NEGATIVE, "l2": NOT_NEGATIVE,
}
PAPER, MERGE = "FTRL-proximal (KDD 2013), Algorithm 1", "mean by squares"

ALGORITHMS = (
    Algorithm("ftrl", "log_loss", "proximal", "FTRLClassifier", PARAMETERS, selects={"loss": "log_loss"}, defaults={"alpha": 1.0},
              trigger="every_row", merge=MERGE, title="FTRL-proximal", paper=PAPER,
              trials=({"alpha": 0.4, "beta": 0.3, "l1": 0.2, "l2": 0.1}, {"alpha": 0.4, "beta": 0.3, "l1": 0.0, "l2": 0.0})),
    Algorithm("ftrl_hinge", "adagrad", "proximal", "FTRLClassifier", PARAMETERS, selects={"loss": "hinge"},
              defaults={"alpha": 0.5}, merge=MERGE, title="FTRL-proximal, hinge loss", paper=PAPER,
              trials=({"alpha": 0.4, "beta": 0.3, "l1": 0.2, "l2": 0.1},)),
)
