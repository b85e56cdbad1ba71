"""Writes tests/golden: a model's file of every estimator that can be saved, and what it says of rows. Any release must read them.

    PYTHONPATH=src python tests/golden_models.py

writes files for learners that have none yet, and leaves the others alone: those of an older release stay as they are.
"""

import json
from pathlib import Path

import numpy as np
from algorithms import LEARNERS

import onlinecls

FOLDER = Path(__file__).parent / "golden"
ROWS = np.array(
    [
        [0.001, 0.299, -0.274, -0.891, -0.455, -0.992, 0.06],
        [1.34, -0.479, -0.626, -0.556, 0.0, -0.47, -0.302],
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [3.25, -0.5, 12.0, 0.001, -7.0, 0.25, 0.0],
    ]
)


def rows_of(kind):
    """ROWS as learners of such rows take them (`Learner.rows`)."""
    return {"any": ROWS, "positive": np.abs(ROWS), "advice": np.minimum(np.abs(ROWS), 1.0)}[kind]


def learners():
    """{file's name: learner}: every row of the registry in its tasks, and each way in which a model is kept. One against the rest
    keeps what Crammer-Singer does: one of each geometry."""
    found, seen = {}, set()
    for learner in LEARNERS:
        if learner.task == "ovr" and learner.geometry in seen:
            continue
        seen |= {learner.geometry} if learner.task == "ovr" else set()
        form = "full" if learner.is_full else "probability" if learner.params.get("probability") else ""
        form = form or (
            "forgetting" if learner.params.get("forgetting") else "auto" if learner.params.get("sigma") == "auto" else ""
        )
        signed = "" if learner.params.get("signed", True) else "unsigned"
        ways = learner.params.get("algorithm"), learner.params.get("method")
        name = "-".join(part for part in (learner.family, *ways, learner.task, form, signed) if part)
        found.setdefault(name, learner)
    return found


def said(model, rows):
    """What a model says, as JSON."""
    found = {"predict": model.predict(rows).tolist()}
    for name in ("decision_function", "predict_proba"):
        if hasattr(model, name):
            found[name] = getattr(model, name)(rows).tolist()
    return found


def taught(learner, number):
    """The model of a file: every third with an average, in float32, with texts as labels."""
    others = {"average": True} if learner.can_average and number % 3 == 0 else {}
    if learner.offers("dtype") and number % 2:
        others["dtype"] = "float32"
    X, y = learner.problem(25, 7, seed=number)
    if learner.is_classifier and number % 3 == 1:
        y = np.array(["ham", "spam", "ü", "d"])[y]
    return learner(**others).partial_fit(X, y)


def main():
    FOLDER.mkdir(exist_ok=True)
    index = FOLDER / "said.json"
    known = json.loads(index.read_text()) if index.exists() else {}
    for number, (name, learner) in enumerate(learners().items()):
        if name in known:
            continue
        model = taught(learner, number)
        try:
            model.save(FOLDER / f"{name}.onlinecls.gz", {"name": name})
        except ValueError as error:
            print(f"{name}: {error}")
            continue
        known[name] = {"release": onlinecls.__version__, "rows": learner.rows, **said(model, rows_of(learner.rows))}
    index.write_text("{\n" + ",\n".join(f"{json.dumps(name)}: {json.dumps(each)}" for name, each in known.items()) + "\n}\n")


if __name__ == "__main__":
    main()
