"""The rows of the table of algorithms for FTRL-proximal."""

from __future__ import annotations

from ..._algorithm import AUTO, NOT_NEGATIVE, POSITIVE, Algorithm, Default, Either

PARAMETERS = {
    "alpha": Either((AUTO, POSITIVE), hint="It is the size of a step."),
    "beta": Either((AUTO, POSITIVE), hint="It limits a feature's first steps."),
    "l1": NOT_NEGATIVE, "l2": NOT_NEGATIVE,
}
BETA = Default(1e-6, 1)
LOGISTIC, HINGE = ({"alpha": Default(number, -1), "beta": BETA} for number in (1.0, 0.5))
STEP = Default(0.1, -1, targets=1)
SQUARED, ABSOLUTE = {"alpha": STEP, "beta": BETA._replace(targets=1)}, {"alpha": STEP, "beta": BETA}
PAPER, MERGE = "FTRL-proximal (KDD 2013), Algorithm 1", "mean by squares"

ALGORITHMS = (
    Algorithm("ftrl", "log_loss", "proximal", "FTRLClassifier", PARAMETERS, selects={"loss": "log_loss"}, units=LOGISTIC,
              trigger="every_row", merge=MERGE, title="FTRL-proximal", paper=PAPER,
              trials=({"alpha": 0.4, "beta": 0.3, "l1": 0.2, "l2": 0.1}, {"alpha": 0.4, "beta": 0.3, "l1": 0.0, "l2": 0.0})),
    Algorithm("ftrl_hinge", "adagrad", "proximal", "FTRLClassifier", PARAMETERS, selects={"loss": "hinge"}, units=HINGE,
              merge=MERGE, title="FTRL-proximal, hinge loss", paper=PAPER,
              trials=({"alpha": 0.4, "beta": 0.3, "l1": 0.2, "l2": 0.1},)),
    Algorithm("ftrl_regression", "squared_loss", "proximal", "FTRLRegressor", PARAMETERS, selects={"loss": "squared"},
              units=SQUARED, level=True, margin=0.0, tasks=("regression",), merge=MERGE, title="FTRL-proximal regression",
              paper=PAPER,
              trials=({"alpha": 0.4, "beta": 0.3, "l1": 0.2, "l2": 0.1},)),
    Algorithm("ftrl_absolute", "adagrad", "proximal", "FTRLRegressor", PARAMETERS, selects={"loss": "absolute"},
              units=ABSOLUTE, level=True, margin=0.0, tasks=("regression",), merge=MERGE, paper=PAPER,
              title="FTRL-proximal regression, absolute loss", trials=({"alpha": 0.4, "beta": 0.3, "l1": 0.2, "l2": 0.1},)),
)
