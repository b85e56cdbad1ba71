"""`onlinecls evaluate`, and the measures of `train --test`."""

from __future__ import annotations

import json
import sys
from typing import Any

from .._input.compat import is_regressor
from ..measures import ClassificationMeasures, RegressionMeasures
from .models import Model, shown_error, shown_label, skipped_lines

_FEW_CLASSES = 12  # the confusion matrix of more has only the pairs that are confused most


def evaluate(options) -> None:
    model, _ = Model.of_file(options.model, options)
    measures = measured(model, options.data)
    if not measures.examples:
        raise ValueError(f"{options.data[0]}: must have an example, got none. There is nothing to evaluate.")
    if options.json:
        print(json.dumps({"model": options.model, **_plain(measures.as_dict())}))
    elif is_regressor(model.learner):
        print(f"{measures.examples:,} examples, mse {measures.mse:.5g}, mae {measures.mae:.5g}")
    else:
        print(_page(measures, model.learner))


def measured(model: Model, data: list[str]) -> Any:
    """Measure a model on all rows of files, which count alike."""
    model.reading["weight"] = None
    learner, whole = model.learner, model.whole
    measures: Any = RegressionMeasures() if is_regressor(learner) else ClassificationMeasures(learner.classes_)
    with model.open(data) as stream:
        for X, y, _ in stream.batches_of_rows():
            if is_regressor(learner):
                measures.update(y, whole.predict(X))
                continue
            y = y if y.dtype.kind == learner.classes_.dtype.kind or learner.classes_.dtype.kind != "U" else y.astype(str)
            chances = whole.predict_proba(X) if hasattr(learner, "predict_proba") else None
            measures.update(y, whole.predict(X), whole.decision_function(X), chances)
    if stream.n_skipped:
        print(skipped_lines(stream), file=sys.stderr)
    if measures.examples and not is_regressor(learner) and not any(map(measures.support, learner.classes_.tolist())):
        theirs = [label for label in measures.labels if label not in set(learner.classes_.tolist())]
        raise ValueError(
            f"{data[0]}: a label must be one of the model's ({', '.join(map(shown_label, learner.classes_.tolist()[:5]))}), got "
            f"none of them, but {', '.join(map(shown_label, theirs[:5]))}. Spell them alike: 1, 1.0 and true are different texts."
        )
    return measures


def _plain(value: Any) -> Any:
    """Return measures with labels as JSON has them."""
    if isinstance(value, dict):
        return {shown_label(key): _plain(each) for key, each in value.items()}
    return list(map(_plain, value)) if isinstance(value, list | tuple) else value


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def _page(measures: Any, learner: Any) -> str:
    labels = list(map(shown_label, measures.labels))
    width = max(5, *map(len, labels))
    lines = [
        f"examples  {measures.examples:,}",
        f"error     {shown_error(measures.error, learner)} ({int(measures.mistakes):,} mistakes)",
        f"log loss  {_number(measures.log_loss)}" + " (the model gives no probabilities)" * (measures.log_loss is None),
        f"AUC       {_number(measures.auc)}",
        f"F1        {_number(measures.macro_f1)} (mean of the classes)",
        "", f"{'class':<{width}} {'examples':>12} {'precision':>9} {'recall':>9} {'F1':>9}",
    ]
    for label, shown in zip(measures.labels, labels, strict=True):
        rates = " ".join(f"{_number(each(label)):>9}" for each in (measures.precision, measures.recall, measures.f1))
        lines.append(f"{shown:<{width}} {int(measures.support(label)):>12,} {rates}")
    table = measures.confusion
    if len(labels) > _FEW_CLASSES:
        pairs = sorted(((int(table[i, j]), labels[i], labels[j]) for i, j in zip(*table.nonzero(), strict=True) if i != j),
                       reverse=True)
        return "\n".join([*lines, "", "most confused: true, predicted, examples",
                          *(f"{true}\t{guess}\t{n:,}" for n, true, guess in pairs[:20])])
    widths = [max(8, len(label)) for label in labels]
    heads = " ".join(f"{label:>{w}}" for label, w in zip(labels, widths, strict=True))
    lines += ["", f"{'true':<{width}} {heads}  (predicted)"]
    for shown, row in zip(labels, table.tolist(), strict=True):
        lines.append(f"{shown:<{width}} " + " ".join(f"{int(n):>{w},}" for n, w in zip(row, widths, strict=True)))
    return "\n".join(lines)
