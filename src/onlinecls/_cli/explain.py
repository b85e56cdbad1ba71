"""`onlinecls explain`."""

from __future__ import annotations

import json
import sys

import numpy as np

from .._input.compat import is_regressor
from .._input.escaping import escaped
from .._input.rows import part_of
from ..text import contributions, weights_towards
from .inputs import load_model, shown_label
from .inspect import as_two_classes, column_lookup
from .parameters import is_kernel, linear_of
from .report import shown_weight, skipped_lines

_NAMES = 100_000  # names of columns kept while rows are explained


def explain(options) -> None:
    learner, _, inputs = load_model(options.model, options)
    if linear_of(learner) is None:
        raise ValueError(
            f"{options.model!r} must have scores that are sums over features, got {learner!r}. Use onlinecls predict --scores."
        )
    learner = linear_of(learner)
    if not is_kernel(learner):
        learner.densify()
    inputs.keep_names(_NAMES)
    with inputs.open(options.data, options, labels=None) as stream:
        n, look_up = 0, column_lookup(inputs)
        for X, _, _ in stream.batches_of_rows():
            for about in _explanations(learner, X, look_up, options.top):
                n += 1
                print(json.dumps({"row": n, **about}) if options.json else _page(n, about))
            sys.stdout.flush()
        if stream.n_skipped:
            print(skipped_lines(stream.n_skipped, stream.skipped), file=sys.stderr)


def _explanations(learner, X, look_up, top: int):
    """Yield the prediction of each row, its score, and the contributions of its features."""
    model = as_two_classes(learner) if is_regressor(learner) else learner
    weights, intercepts = {}, np.reshape(learner.intercept_, -1)
    for i in range(X.shape[0]):
        row = part_of(X, i, i + 1)
        label, c, score, std = _score(learner, row)
        if c not in weights:
            weights[c] = weights_towards(model, c)
        intercept = intercepts[c] if len(intercepts) > 1 else intercepts[0] if c == 1 else -intercepts[0]
        start, stop = int(X.indptr[i]), int(X.indptr[i + 1])
        columns, values = X.indices[start:stop].tolist(), X.data[start:stop].tolist()
        found = contributions(weights[c], intercept, columns, values, look_up)[:top]
        features = [each._replace(name=f"column {each.column}" if each.name is None else each.name) for each in found]
        yield {"prediction": label, "score": score, "std": std, "features": [each._asdict() for each in features]}


def _score(learner, row) -> tuple:
    """Return (prediction, position of the class, score towards it, its standard deviation or None)."""
    more = {"return_std": True} if hasattr(learner, "covariance_") else {}
    if is_regressor(learner):
        predicted = learner.predict(row, **more)
        value, std = (float(each[0]) for each in predicted) if more else (float(predicted[0]), None)
        return value, 1, value, std
    predicted = learner.decision_function(row, **more)
    scores, std = (np.reshape(each, -1) for each in predicted) if more else (np.reshape(predicted, -1), None)
    label = learner.predict(row).tolist()[0]
    c = learner.classes_.tolist().index(label)
    place = c if len(scores) > 1 else 0
    score = float(scores[place]) if len(scores) > 1 or c == 1 else -float(scores[0])
    return shown_label(label), c, score, None if std is None else float(std[place])


def _page(n: int, about: dict) -> str:
    spread = "" if about["std"] is None else f" ± {about['std']:.4f}"
    prediction = about["prediction"]
    shown = f"{prediction}, score {about['score']:.4f}" if isinstance(prediction, str) else f"{prediction:.6g}"
    lines = [f"row {n}: {shown}{spread}"]
    for f in about["features"]:
        std = "" if f["std"] is None else f" ± {shown_weight(f['std'])}"
        name = escaped(f["name"]) + " (shared)" * f["shared"]
        lines.append(f"  {f['contribution']:>+9.4f}  {name}: {shown_weight(f['weight'], '+')}{std} x {f['value']:.4g}")
    return "\n".join(lines)
