"""`onlinecls explain`."""

from __future__ import annotations

import json
import sys

from .._input.compat import is_regressor
from .._input.escaping import escaped
from .._input.rows import part_of
from .._pipeline import Explainer, linear_of
from .inputs import load_model, shown_label
from .inspect import column_lookup
from .parameters import is_kernel
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
        n = 0
        for X, _, _ in stream.batches_of_rows():
            explainer = Explainer(learner, column_lookup(inputs))
            for i in range(X.shape[0]):
                start, stop = int(X.indptr[i]), int(X.indptr[i + 1])
                columns, values = X.indices[start:stop].tolist(), X.data[start:stop].tolist()
                found = explainer.explain(part_of(X, i, i + 1), columns, values, options.top)
                n += 1
                about = {**found._asdict(), "features": [each._asdict() for each in found.features]}
                if not is_regressor(learner):
                    about["prediction"] = shown_label(found.prediction)
                print(json.dumps({"row": n, **about}) if options.json else _page(n, about))
            sys.stdout.flush()
        if stream.n_skipped:
            print(skipped_lines(stream.n_skipped, stream.skipped), file=sys.stderr)


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
