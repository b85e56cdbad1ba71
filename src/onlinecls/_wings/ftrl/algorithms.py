"""The rows of the table of algorithms for FTRL-proximal."""

from __future__ import annotations

from ..._algorithm import AUTO, NOT_NEGATIVE, POSITIVE, Algorithm, Default, Either

PARAMETERS = {
    "alpha": Either((AUTO, POSITIVE), hint="It is the size of a step."),
    "beta": Either((AUTO, POSITIVE), hint="It limits a feature's first steps."),
    "l1": NOT_NEGATIVE, "l2": NOT_NEGATIVE,
}
LOGISTIC, HINGE = ({"alpha": Default(number, -1), "beta": Default(1e-6, 1)} for number in (1.0, 0.5))
PAPER, MERGE = "FTRL-proximal (KDD 2013), Algorithm 1", "mean by squares"

ALGORITHMS = (
    Algorithm("ftrl", "log_loss", "proximal", "FTRLClassifier", PARAMETERS, selects={"loss": "log_loss"}, units=LOGISTIC,
              trigger="every_row", merge=MERGE, title="FTRL-proximal", paper=PAPER,
              trials=({"alpha": 0.4, "beta": 0.3, "l1": 0.2, "l2": 0.1}, {"alpha": 0.4, "beta": 0.3, "l1": 0.0, "l2": 0.0})),
    Algorithm("ftrl_hinge", "adagrad", "proximal", "FTRLClassifier", PARAMETERS, selects={"loss": "hinge"}, units=HINGE,
              merge=MERGE, title="FTRL-proximal, hinge loss", paper=PAPER,
              trials=({"alpha": 0.4, "beta": 0.3, "l1": 0.2, "l2": 0.1},)),
)
