"""`onlinecls inspect`."""

from __future__ import annotations

import json
import os
from types import SimpleNamespace
from typing import Any

import numpy as np

from .._estimators.learner import state_of
from .._input import escaped
from .._input.compat import is_regressor
from .._pipeline import linear_of, named_columns
from ..text import FeatureNames, top_columns
from .models import Model, algorithm_of, shown_label

_LOWER, _HIGHER = "lower predictions", "higher predictions"
_TOP = 10  # features for each class
_NAMES = 1_000_000  # names of columns kept while data are read


def inspect(options) -> None:
    model, metadata = Model.of_file(options.model, options)
    learner, linear = model.learner, linear_of(model.learner)
    look_up = None if model.step is None else named_columns(model.step)
    if options.data:
        if linear is None:
            raise ValueError(f"{options.model!r} must have weights to show, got {learner!r}. Leave the data out.")
        if look_up is None and "vectorizer" in model.reading:
            names = model.reading["vectorizer"] = FeatureNames(model.reading["vectorizer"], _NAMES)
            look_up = names.look_up
        with model.open(options.data, labels=False) as stream:
            for X, _, _ in stream.batches_of_rows():
                if model.step is not None:
                    model.step.transform(X)
    top = {} if linear is None else _top(linear, look_up or (lambda column: (None, False, 1)))
    counts = {} if is_regressor(learner) else dict(
        zip(map(shown_label, learner.classes_.tolist()), state_of(learner).counts.astype(int).tolist(), strict=True))
    about = {
        "model": options.model, "bytes": os.path.getsize(options.model), "estimator": repr(learner),
        "algorithm": algorithm_of(learner).name, "paper": algorithm_of(learner).paper,
        "examples": state_of(learner).count("t"), "updates": state_of(learner).count("updates"), "classes": counts,
        "features": learner.n_features_in_, "input": model.about,
        "stopped": metadata.get("stopped"),
        "top": {shown_label(label): [feature._asdict() for feature in features] for label, features in top.items()},
    }
    print(json.dumps(about) if options.json else _page(about))


def _top(learner: Any, look_up: Any) -> dict:
    """Return the features with the largest weights for each class, or for lower and for higher predictions."""
    if not is_regressor(learner):
        return top_columns(learner, _TOP, look_up)
    two = SimpleNamespace(classes_=[_LOWER, _HIGHER], coef_=np.atleast_2d(learner.coef_))
    if hasattr(learner, "covariance_"):
        two.covariance_ = np.atleast_2d(learner.covariance_)
    found = top_columns(two, _TOP, look_up)
    return {**found, _LOWER: [feature._replace(weight=-feature.weight) for feature in found[_LOWER]]}


def _page(about: dict) -> str:
    read = about["input"] or {}
    kinds = "".join(f"; {name} ({kind})" for name, kind in read.get("kinds", {}).items())
    lines = [
        f"model      {about['model']}, {about['bytes'] / 1e6:.1f} MB",
        f"learner    {about['estimator']}",
        f"algorithm  {about['algorithm']}: {about['paper']}",
        f"learnt     {about['examples']:,} examples, {about['updates']:,} updates",
        *(["classes    " + ", ".join(f"{label} {n:,}" for label, n in about["classes"].items())] if about["classes"] else []),
        f"columns    {about['features']:,}",
        "rows       " + escaped(f"from {read['format']}{kinds}" if read else "(the file does not say how they were read)"),
    ]
    for label, features in about["top"].items():
        lines += ["", f"for {label}"]
        for f in features:
            spread = "" if f["std"] is None else f" ± {f['std']:<8.4g}"
            lines.append(f"  {f['weight']:>+10.4g}{spread}  {escaped(f['name'])}{'  (shared)' * f['shared']}")
    if any(f["name"] == f"column {f['column']}" for each in about["top"].values() for f in each):
        lines += ["", "The model keeps no words: give the data in which they occur, onlinecls inspect MODEL DATA."]
    return "\n".join(lines)
