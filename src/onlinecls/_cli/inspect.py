"""`onlinecls inspect`."""

from __future__ import annotations

import json
import os
from types import SimpleNamespace

import numpy as np

from .._estimators.learner import state_of
from .._input import escaped
from .._input.compat import is_regressor
from .._pipeline import linear_of, named_columns
from ..text import top_columns, vectorizer_of
from .inputs import columns_of, load_model, shown_label
from .parameters import NAMED, algorithm_of, is_kernel, learner_of, own_parameters
from .report import counters_of, shown_weight, summary
from .run import counts_of

LOWER, HIGHER = "lower predictions", "higher predictions"
_TOP = 10  # features for each class
_NAMES = 1_000_000  # names of columns kept while data are read


def inspect(options) -> None:
    learner, _, inputs = load_model(options.model, options)
    linear = linear_of(learner)
    if options.data and linear is None:
        raise ValueError(
            f"{options.model!r} must have weights to show with the names of {options.data[0]}, got {learner!r}. "
            "Leave the data out."
        )
    if linear is not None and not is_kernel(learner):
        linear.densify()
    if options.data:
        read_names(options, inputs)
    top = {} if linear is None else _top(linear, inputs)
    more = {}
    if not is_regressor(learner):
        labels = map(shown_label, learner_of(learner).classes_.tolist())
        more["classes"] = dict(zip(labels, state_of(learner).counts.astype(int).tolist(), strict=True))
    if is_kernel(learner):
        kept = learner_of(learner)
        more["support_vectors"] = {"kept": kept.n_support_, "given up": kept.n_dropped_}
    counts = counts_of(learner)
    about = {
        "model": options.model, "bytes": os.path.getsize(options.model), "estimator": repr(learner),
        "algorithm": algorithm_of(learner), "parameters": own_parameters(learner), "dtype": str(state_of(learner).dtype),
        **counters_of(learner, counts), **more, "features": learner.n_features_in_, "input": inputs.stream_metadata,
        "top": {shown_label(label): [feature._asdict() for feature in features] for label, features in top.items()},
    }
    print(json.dumps(about) if options.json else _page(about, summary(learner, counts), inputs, bool(options.data)))


def read_names(options, inputs) -> None:
    """Read the data for the names of the columns."""
    inputs.keep_names(_NAMES)
    with inputs.open(options.data, options, labels=None) as stream:
        for _ in stream.batches_of_rows():
            pass


def _top(learner, inputs) -> dict:
    """Return the features with the largest weights for each class, or for lower and for higher predictions."""
    model = as_two_classes(learner) if is_regressor(learner) else learner
    hashed = inputs.names if inputs.names is not None and len(inputs.names) else None
    only_hashed = hashed is not None and not inputs.column_names
    top = hashed.top_features(model, _TOP) if only_hashed else top_columns(model, _TOP, _column_lookup(inputs))
    if is_regressor(learner):
        top[LOWER] = [feature._replace(weight=-feature.weight) for feature in top[LOWER]]
    return top


def _column_lookup(inputs):
    """Return a function from a column to (name or None, shared, factor to the units of a table's column, or sign)."""
    if inputs.step is not None:
        return named_columns(inputs.step)
    first, hashed = inputs.column_names, inputs.names

    def look_up(column: int) -> tuple:
        if column < len(first):
            return first[column], False, 1
        return (None, False, 1) if hashed is None else hashed.look_up(column)

    return look_up


def as_two_classes(learner) -> SimpleNamespace:
    """Present a regressor as a model of two classes, lower and higher, to rank its features."""
    found = SimpleNamespace(classes_=[LOWER, HIGHER], coef_=np.atleast_2d(learner.coef_))
    if hasattr(learner, "covariance_"):
        found.covariance_ = np.atleast_2d(learner.covariance_)
    return found


def _page(about: dict, errors: str, inputs, has_data: bool) -> str:
    step = inputs.step
    is_known = step is not None or about["input"] is not None
    rows = escaped(_rows(about["input"] or {}, step)) if is_known else "(the file does not say how they were read)"
    lines = [
        f"model      {about['model']}, {about['bytes'] / 1e6:.1f} MB, {about['dtype']}",
        f"learner    {about['estimator']}",
        f"algorithm  {about['algorithm']}: {NAMED[about['algorithm']].paper}",
        f"learnt     {about['examples']:,} examples, {errors}, {about['updates']:,} updates",
        *(["classes    " + ", ".join(f"{label} {n:,}" for label, n in about["classes"].items())] if "classes" in about else []),
        *([f"support    {about['support_vectors']['kept']:,} vectors kept, {about['support_vectors']['given up']:,} given up"]
          if "support_vectors" in about else []),
        f"columns    {about['features']:,}",
        f"rows       {rows}",
    ]
    for label, features in about["top"].items():
        lines += ["", f"for {label}"]
        for f in features:
            spread = "" if f["std"] is None else f" ± {shown_weight(f['std']):<8}"
            name = escaped(f["name"]) + "  (shared)" * f["shared"]
            lines.append(f"  {shown_weight(f['weight'], '+'):>9}{spread}  {name}")
    hashes = is_known and (step is not None or (about["input"] or {}).get("format") != "svmlight")
    if hashes and not has_data and any(f["name"] == f"column {f['column']}" for each in about["top"].values() for f in each):
        lines += ["", "The model keeps no words: give the data in which they occur, onlinecls inspect MODEL DATA."]
    return "\n".join(lines)


def _rows(metadata: dict, step) -> str:
    """Describe how rows were read."""
    features, vectorizer = metadata.get("features"), metadata.get("vectorizer")
    origin = f"from {metadata.get('format') or 'files'}"
    if step is not None:
        return f"{origin}; {columns_of(step)}"
    if isinstance(features, dict):
        kinds = {kind: [name for name, each in features.items() if each == kind] for kind in ("number", "category")}
        lists = [f"{name}[{kind}]" for name, kind in features.items() if type(kind) is int]
        parts = [f"columns {', '.join([*kinds['number'], *lists])}"] * bool(kinds["number"] or lists)
        parts += [f"categories {', '.join(kinds['category'])}"] * bool(kinds["category"])
        return f"{origin}; {'; '.join(parts)}"
    if vectorizer is None:
        return origin
    made = vectorizer_of(vectorizer)
    return f"{origin}; texts: {made.analyzer} n-grams of {made.ngram_range[0]} to {made.ngram_range[1]}"
