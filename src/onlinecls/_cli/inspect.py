"""`onlinecls inspect`."""

from __future__ import annotations

import json
import os
from types import SimpleNamespace

import numpy as np

from .._estimators.access import class_counts, counts_of, dtype_of
from .._input.escaping import escaped
from .._registry import ALGORITHMS
from .inputs import loaded, shown_label
from .learning import algorithm_of, found, is_regressor, own_parameters, summary

_LOWER, _HIGHER = "lower predictions", "higher predictions"


def inspect(options) -> None:
    from ..text import FeatureNames, top_columns

    learner, _, inputs = loaded(options.model, options)
    learner.densify()
    if options.data:
        inputs.names = FeatureNames(1_000_000)
        with inputs.open(options.data, options, labels=None) as stream:
            for _ in stream.batches_of_rows():
                pass
    names = inputs.names if inputs.names is not None and len(inputs.names) else None
    model = _two_directions(learner) if is_regressor(learner) else learner
    top = names.top_features(model, options.top) if names else top_columns(model, options.top)
    if is_regressor(learner):
        top[_LOWER] = [feature._replace(weight=-feature.weight) for feature in top[_LOWER]]
        classes = {}
    else:
        classes = {"classes": {shown_label(label): n for label, n in class_counts(learner).items()}}
    counts = counts_of(learner)
    about = {
        "model": options.model, "bytes": os.path.getsize(options.model), "estimator": repr(learner),
        "algorithm": algorithm_of(learner), "parameters": own_parameters(learner), "dtype": str(dtype_of(learner)),
        **found(learner, counts), **classes, "features": learner.n_features_in_,
        "input": inputs.metadata()["input"] if inputs.hashes else None,
        "top": {shown_label(label): [feature._asdict() for feature in found] for label, found in top.items()},
    }
    print(json.dumps(about) if options.json else _page(about, summary(learner, counts)))


def _two_directions(learner) -> SimpleNamespace:
    """A regressor as what features are ranked of: a model of two classes."""
    found = SimpleNamespace(classes_=[_LOWER, _HIGHER], coef_=np.atleast_2d(learner.coef_))
    if hasattr(learner, "covariance_"):
        found.covariance_ = np.atleast_2d(learner.covariance_)
    return found


def _page(about: dict, errors: str) -> str:
    rows = "(the file does not say how they were made)"
    if about["input"] is not None:
        rows = "from {trained_on}; texts: {analyzer} n-grams of {ngrams[0]} to {ngrams[1]}".format(**about["input"])
        rows = escaped(rows)
    lines = [
        f"model      {about['model']}, {about['bytes'] / 1e6:.1f} MB, {about['dtype']}",
        f"learner    {about['estimator']}",
        f"algorithm  {about['algorithm']}: {ALGORITHMS[about['algorithm']].paper}",
        f"learnt     {about['examples']:,} examples, {errors}, {about['updates']:,} updates",
        *(["classes    " + ", ".join(f"{label} {n:,}" for label, n in about["classes"].items())] if "classes" in about else []),
        f"columns    {about['features']:,}",
        f"rows       {rows}",
    ]
    for label, features in about["top"].items():
        lines += ["", f"for {label}"]
        for f in features:
            spread = "" if f["std"] is None else f" ± {f['std']:<8.4f}"
            lines.append(f"  {f['weight']:>+9.4f}{spread}  {escaped(f['name'])}{'  (shared)' if f['shared'] else ''}")
    return "\n".join(lines)
