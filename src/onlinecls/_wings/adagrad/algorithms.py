"""The rows of the table of algorithms for AdaGrad."""

from __future__ import annotations

from ..._algorithm import AUTO, NOT_NEGATIVE, POSITIVE, STEP, Algorithm, Conflict, Default, Either, Real

NO_THRESHOLD = Conflict(("average", "l1"), "False with l1 > 0", lambda v: bool(v["average"] and v["l1"] > 0.0), (
    "the weights then change on every row, so that their average has no O(nnz) form."
))
DELTA = Either((AUTO, POSITIVE), hint="It keeps the first steps finite.")
ADAGRAD = {"eta0": Default(0.5, -1), "delta": Default(1e-6, 1)}

ALGORITHMS = (
    Algorithm("adagrad_md", "adagrad", "mirror", "AdaGradClassifier",
              {"eta0": STEP, "delta": DELTA, "l1": Real(0.0, 0.0, True, True, "Use update='dual_averaging' for l1 > 0.")},
              selects={"update": "mirror_descent"}, units=ADAGRAD, trials=({"eta0": 0.4, "delta": 0.3},),
              merge="mean, squares add", title="AdaGrad (mirror descent)", paper="NAROW's baseline [9]"),
    Algorithm("adagrad_da", "adagrad", "dual", "AdaGradClassifier", {"eta0": STEP, "delta": DELTA, "l1": NOT_NEGATIVE},
              selects={"update": "dual_averaging"}, units=ADAGRAD,
              trials=({"eta0": 0.4, "delta": 0.3, "l1": 0.004}, {"eta0": 0.4, "delta": 0.3, "l1": 0.0}), merge="sum",
              conflicts=(NO_THRESHOLD,), title="AdaGrad (dual averaging, L1)", paper="NAROW's baseline [9]"),
)
