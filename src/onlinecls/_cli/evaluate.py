"""`onlinecls evaluate`, and the measures of `train --test`."""

from __future__ import annotations

import json

from .._input.compat import is_regressor
from ..measures import ClassificationMeasures, RegressionMeasures
from .inputs import load_model, shown_label
from .progress import Progress
from .report import format_error, skipped_lines
from .run import labels_of

_FEW_CLASSES = 12  # the confusion matrix of more has only the pairs that occur


def evaluate(options) -> None:
    learner, _, inputs = load_model(options.model, options)
    progress = Progress(options.quiet)
    with opened(inputs, options.data, options, learner) as stream:
        progress.open(stream, "evaluate")
        try:
            measures = measure(learner, stream, progress)
        finally:
            progress.close()
        if stream.n_skipped:
            progress.say(skipped_lines(stream.n_skipped, stream.skipped))
    if not measures.examples:
        raise ValueError(f"{options.data[0]}: must have an example, got none. There is nothing to evaluate.")
    if not is_regressor(learner) and not any(map(measures.support, learner.classes_.tolist())):
        theirs, mine = (", ".join(map(shown_label, labels[:5])) for labels in (measures.strange, learner.classes_.tolist()))
        raise ValueError(
            f"{options.data[0]}: a label must be one of the model's ({mine}), got none of them, but {theirs}. Spell them alike: "
            "1, 1.0 and true are different texts."
        )
    print(json.dumps({"model": options.model, **measures.as_dict()}) if options.json else measures.page())


def opened(inputs, data, options, learner):
    """Open labelled rows to measure a learner on. They count alike: a column of weights is not read, and need not be there."""
    inputs.reading["weight"] = None
    return inputs.open(data, options, labels_of(learner))


def measure(learner, stream, progress: Progress | None = None):
    """Measure a learner on all rows of a stream."""
    measures = _Numbers(learner) if is_regressor(learner) else _Classes(learner)
    for X, y, _ in stream.batches_of_rows():
        measures.add(X, y)
        if progress is not None:
            progress.show(stream)
    return measures


class _Numbers(RegressionMeasures):
    """Measures of a regressor."""

    errors = RegressionMeasures.as_dict

    def __init__(self, learner):
        super().__init__()
        self.learner = learner

    def add(self, X, y) -> None:
        self.update(y, self.learner.predict(X))

    def summary(self) -> str:
        mse, mae = (format_error(value, self.learner) for value in (self.mse, self.mae))
        return f"{self.examples:,} examples, mse {mse}, mae {mae}"

    page = summary


class _Classes(ClassificationMeasures):
    """Measures of a classifier. A label that the model does not know is a mistake."""

    def __init__(self, learner):
        super().__init__(learner.classes_)
        self.learner = learner

    def add(self, X, y) -> None:
        y = y if y.dtype.kind == "U" or self.learner.classes_.dtype.kind != "U" else y.astype(str)
        probabilities = self.learner.predict_proba(X) if hasattr(self.learner, "predict_proba") else None
        self.update(y, self.learner.predict(X), self.learner.decision_function(X), probabilities)

    @property
    def strange(self) -> list:
        """The labels that the model does not know, sorted."""
        return sorted(set(self.labels).difference(self.learner.classes_.tolist()))

    def errors(self) -> dict:
        return {"examples": self.examples, "mistakes": int(self.mistakes), "error": self.error}

    def summary(self) -> str:
        return f"{self.examples:,} examples, {int(self.mistakes):,} mistakes ({format_error(self.error, self.learner)})"

    def as_dict(self) -> dict:
        known = self.learner.classes_.tolist()
        labels = [*known, *self.strange]
        classes = {
            shown_label(label): {
                "examples": int(self.support(label)), "predicted": int(self.predicted(label)),
                "precision": self.precision(label), "recall": self.recall(label), "f1": self.f1(label),
            }
            for label in labels
        }
        few = [shown_label(guess) for guess in known] if len(known) <= _FEW_CLASSES else []
        confusion = {shown_label(true): dict.fromkeys(few, 0) for true in labels}
        for true, guess, weight in super().as_dict()["confusion"]:
            confusion[shown_label(true)][shown_label(guess)] = int(weight)
        measures = {name: getattr(self, name) for name in ("log_loss", "auc")} | {"f1": self.macro_f1}
        return {**self.errors(), **measures, "classes": classes, "confusion": confusion}

    def page(self) -> str:
        values = self.as_dict()
        lines = [
            f"examples  {values['examples']:,}",
            f"error     {format_error(values['error'], self.learner)} ({values['mistakes']:,} mistakes)",
            f"log loss  {_number(values['log_loss'], ' (the model gives no probabilities)')}",
            f"AUC       {_number(values['auc'])}",
            f"F1        {_number(values['f1'])}" + (" (mean of the classes)" if len(values["classes"]) > 1 else ""),
        ]
        width = max(5, *(len(label) for label in values["classes"]))
        lines += ["", f"{'class':<{width}} {'examples':>12} {'precision':>9} {'recall':>9} {'F1':>9}"]
        for label, each in values["classes"].items():
            rates = " ".join(f"{_number(each[name]):>9}" for name in ("precision", "recall", "f1"))
            lines.append(f"{label:<{width}} {each['examples']:>12,} {rates}")
        return "\n".join([*lines, "", *_confusion(values["confusion"], len(self.learner.classes_), width)])


def _number(value: float | None, why: str = "") -> str:
    return f"-{why}" if value is None else f"{value:.4f}"


def _confusion(table: dict, n_classes: int, width: int) -> list[str]:
    """Format the confusion matrix, true classes as rows; for many classes, the pairs that are confused most."""
    if n_classes > _FEW_CLASSES:
        pairs = ((n, true, guess) for true, row in table.items() for guess, n in row.items() if n and true != guess)
        pairs = sorted(pairs, reverse=True)
        return ["most confused: true, predicted, examples", *(f"{true}\t{guess}\t{n:,}" for n, true, guess in pairs[:20])]
    labels = list(next(iter(table.values())))
    widths = [max(8, len(label)) for label in labels]
    lines = [f"{'true':<{width}} " + " ".join(f"{label:>{w}}" for label, w in zip(labels, widths, strict=True)) + "  (predicted)"]
    for true, row in table.items():
        lines.append(f"{true:<{width}} " + " ".join(f"{row[label]:>{w},}" for label, w in zip(labels, widths, strict=True)))
    return lines
