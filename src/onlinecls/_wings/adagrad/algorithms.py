"""The rows of the table of algorithms for AdaGrad."""

from __future__ import annotations

from ..._algorithm import NOT_NEGATIVE, STEP, Algorithm, Conflict, Real

NO_THRESHOLD = Conflict(("average", "l1"), "False with l1 > 0", lambda v: bool(v["average"] and v["l1"] > 0.0), (
    "the weights then change on every row, so that their average has no O(nnz) form."
))
DELTA = Real(0.0, hint="It keeps the first steps finite.")

ALGORITHMS = (
    Algorithm("adagrad_md", "adagrad", "mirror", "AdaGradClassifier",
              {"eta0": STEP, "delta": DELTA, "l1": Real(0.0, 0.0, True, True, "Use update='dual_averaging' for l1 > 0.")},
              selects={"update": "mirror_descent"}, trials=({"eta0": 0.4, "delta": 0.3},),
              merge="mean, squares add", title="AdaGrad (mirror descent)", paper="NAROW's baseline [9]"),
    Algorithm("adagrad_da", "adagrad", "dual", "AdaGradClassifier", {"eta0": STEP, "delta": DELTA, "l1": NOT_NEGATIVE},
              selects={"update": "dual_averaging"},
              trials=({"eta0": 0.4, "delta": 0.3, "l1": 0.004}, {"eta0": 0.4, "delta": 0.3, "l1": 0.0}), merge="sum",
              conflicts=(NO_THRESHOLD,), title="AdaGrad (dual averaging, L1)", paper="NAROW's baseline [9]"),
)
