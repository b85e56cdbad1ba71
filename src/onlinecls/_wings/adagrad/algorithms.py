"""The rows of the table of algorithms for AdaGrad."""

from __future__ import annotations

from ..._algorithm import AUTO, NOT_NEGATIVE, POSITIVE, STEP, Algorithm, Conflict, Default, Either, Real

NO_THRESHOLD = Conflict(("average", "l1"), "False with l1 > 0", lambda v: bool(v["average"] and v["l1"] > 0.0), (
    "the weights then change on every row, so that their average has no O(nnz) form."
))
NO_L1 = Real(0.0, 0.0, True, True, "With matrix='full' l1 > 0 has no closed form: use matrix='diagonal'.")
DELTA = Either((AUTO, POSITIVE), hint="It keeps the first steps finite.")
ADAGRAD = {"eta0": Default(0.5, -1), "delta": Default(1e-6, 1)}

ALGORITHMS = (
    Algorithm("adagrad_md", "adagrad", "mirror", "AdaGradClassifier",
              {"eta0": STEP, "delta": DELTA, "l1": Real(0.0, 0.0, True, True, "Use update='dual_averaging' for l1 > 0.")},
              selects={"update": "mirror_descent", "matrix": "diagonal"}, units=ADAGRAD, trials=({"eta0": 0.4, "delta": 0.3},),
              merge="mean, squares add", title="AdaGrad (mirror descent)", paper="NAROW's baseline [9]"),
    Algorithm("adagrad_da", "adagrad", "dual", "AdaGradClassifier", {"eta0": STEP, "delta": DELTA, "l1": NOT_NEGATIVE},
              selects={"update": "dual_averaging", "matrix": "diagonal"}, units=ADAGRAD,
              trials=({"eta0": 0.4, "delta": 0.3, "l1": 0.004}, {"eta0": 0.4, "delta": 0.3, "l1": 0.0}), merge="sum",
              conflicts=(NO_THRESHOLD,), title="AdaGrad (dual averaging, L1)", paper="NAROW's baseline [9]"),
    Algorithm("full_adagrad_md", "adagrad", "matrix_mirror", "AdaGradClassifier", {"eta0": STEP, "delta": DELTA, "l1": NO_L1},
              selects={"update": "mirror_descent", "matrix": "full"}, units=ADAGRAD, trials=({"eta0": 0.4, "delta": 0.3},),
              merge="mean, squares add", title="AdaGrad with the full matrix (mirror descent)", paper="NAROW's baseline [9]"),
    Algorithm("full_adagrad_da", "adagrad", "matrix_dual", "AdaGradClassifier", {"eta0": STEP, "delta": DELTA, "l1": NO_L1},
              selects={"update": "dual_averaging", "matrix": "full"}, units=ADAGRAD, trials=({"eta0": 0.4, "delta": 0.3},),
              merge="sum", title="AdaGrad with the full matrix (dual averaging)", paper="NAROW's baseline [9]"),
)
