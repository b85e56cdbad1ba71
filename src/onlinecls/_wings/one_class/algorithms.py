"""The rows of the table of algorithms for the one-class learner."""

from __future__ import annotations

import math

from ..._algorithm import BALL, CYCLES, Algorithm

ALGORITHMS = (
    Algorithm("pa_one_class", "pa1", "centre", "PassiveAggressiveOneClass", {"epsilon": BALL}, margin=0.0, kernel={"C": math.inf},
              tasks=("one_class",),
              trials=({"epsilon": 1.5}, {"epsilon": 0.4}, {"epsilon": 0.0}), theorems=("one_class",),
              conflicts=CYCLES, title="PA one-class (uniclass)", paper="PA, sections 2 and 3 (uniclass)"),
)
