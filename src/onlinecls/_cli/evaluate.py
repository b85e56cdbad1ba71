"""`onlinecls evaluate`, and the measures of `train --test`."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np

from .._input.compat import is_regressor
from .inputs import load_model, shown_label
from .progress import Progress
from .report import format_error, skipped_lines
from .run import labels_of

_SMALLEST = 1e-15  # probability in the log loss; smaller ones are raised to it


def evaluate(options) -> None:
    learner, _, inputs = load_model(options.model, options)
    progress = Progress(options.quiet)
    with inputs.open(options.data, options, labels_of(learner)) as stream:
        progress.open(stream, "evaluate")
        try:
            measures = measure(learner, stream, progress)
        finally:
            progress.close()
        if stream.n_skipped:
            progress.say(skipped_lines(stream.n_skipped, stream.skipped))
    if not measures.examples:
        raise ValueError(f"{options.data[0]}: must have an example, got none. There is nothing to evaluate.")
    print(json.dumps({"model": options.model, **measures.as_dict()}) if options.json else measures.page())


def measure(learner, stream, progress: Progress | None = None):
    """Measure a learner on all rows of a stream."""
    measures = (_Numbers if is_regressor(learner) else _Classes)(learner)
    for X, y, _ in stream.batches_of_rows():
        measures.add(X, y)
        if progress is not None:
            progress.show(stream)
    return measures


class _Numbers:
    """Mean squared and absolute error of a regressor."""

    def __init__(self, learner):
        self.learner, self.examples, self.squared, self.absolute = learner, 0, 0.0, 0.0

    def add(self, X, y) -> None:
        residuals = np.clip(y - self.learner.predict(X), -1e140, 1e140)  # (their squares have a finite sum, as in learning)
        self.examples += len(y)
        self.squared += float(residuals @ residuals)
        self.absolute += float(np.abs(residuals).sum())

    def errors(self) -> dict:
        return {"examples": self.examples, "mse": self._mean(self.squared), "mae": self._mean(self.absolute)}

    def _mean(self, total: float) -> float | None:
        return total / self.examples if self.examples else None

    def as_dict(self) -> dict:
        return self.errors()

    def summary(self) -> str:
        mse, mae = (format_error(self._mean(total), self.learner) for total in (self.squared, self.absolute))
        return f"{self.examples:,} examples, mse {mse}, mae {mae}"

    def page(self) -> str:
        return self.summary()


class _Classes:
    """Error, log loss, AUC and confusion of a classifier. A label that the model does not know is a mistake."""

    def __init__(self, learner):
        self.learner, self.labels = learner, learner.classes_.tolist()
        self.examples, self.mistakes, self.pairs = 0, 0, Counter()  # of (true, predicted)
        self.loss = 0.0 if hasattr(learner, "predict_proba") else None
        self.ranks = [_Ranks(len(self.labels)) for _ in self.labels[: 1 if len(self.labels) < 3 else None]]

    def add(self, X, y) -> None:
        y = y if y.dtype.kind == "U" or self.learner.classes_.dtype.kind != "U" else y.astype(str)
        predicted = self.learner.predict(X)
        self.examples += len(y)
        self.mistakes += int(np.count_nonzero(predicted != y))
        self.pairs.update(zip(y.tolist(), predicted.tolist(), strict=True))
        scores = self.learner.decision_function(X).reshape(len(y), -1)
        for k, ranks in enumerate(self.ranks):
            ranks.add(scores[:, k], y == self.labels[k if len(self.ranks) > 1 else -1])
        if self.loss is not None:
            places = {label: k for k, label in enumerate(self.labels)}
            found = self.learner.predict_proba(X)
            right = [found[i, places[label]] if label in places else 0.0 for i, label in enumerate(y.tolist())]
            self.loss -= float(np.log(np.maximum(right, _SMALLEST)).sum())

    def errors(self) -> dict:
        error = self.mistakes / self.examples if self.examples else None
        return {"examples": self.examples, "mistakes": self.mistakes, "error": error}

    def summary(self) -> str:
        return f"{self.examples:,} examples, {self.mistakes:,} mistakes ({format_error(self.errors()['error'], self.learner)})"

    @property
    def auc(self) -> float | None:
        """Return the AUC, for several classes the mean of each against the rest; None if a class has no row or all rows."""
        areas = [ranks.area for ranks in self.ranks]
        return None if None in areas or not areas else float(np.mean(areas))

    def of_class(self, label) -> dict:
        right = self.pairs[label, label]
        n_true = sum(n for (true, _), n in self.pairs.items() if true == label)
        n_predicted = sum(n for (_, predicted), n in self.pairs.items() if predicted == label)
        return {
            "examples": n_true, "predicted": n_predicted, "precision": right / n_predicted if n_predicted else None,
            "recall": right / n_true if n_true else None,
            "f1": 2 * right / (n_true + n_predicted) if n_true + n_predicted else None,
        }

    @property
    def all_labels(self) -> list:
        return [*self.labels, *sorted({true for true, _ in self.pairs}.difference(self.labels))]

    def as_dict(self) -> dict:
        classes = {shown_label(label): self.of_class(label) for label in self.all_labels}
        f1 = [each["f1"] for each in classes.values() if each["f1"] is not None]
        confusion = {
            shown_label(true): {shown_label(guess): self.pairs[true, guess] for guess in self.labels} for true in self.all_labels
        }
        return {
            **self.errors(), "log_loss": None if self.loss is None else self.loss / self.examples, "auc": self.auc,
            "f1": float(np.mean(f1)) if f1 else None, "classes": classes, "confusion": confusion,
        }

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
        return "\n".join([*lines, "", *_confusion(values["confusion"], width)])


def _number(value: float | None, why: str = "") -> str:
    return f"-{why}" if value is None else f"{value:.4f}"


def _confusion(table: dict, width: int) -> list[str]:
    """Format the confusion matrix, true classes as rows; for more than 12 classes, the pairs that are confused most."""
    labels = list(next(iter(table.values())))
    if len(labels) > 12:
        pairs = ((n, true, guess) for true, row in table.items() for guess, n in row.items() if n and true != guess)
        pairs = sorted(pairs, reverse=True)
        return ["most confused: true, predicted, examples", *(f"{true}\t{guess}\t{n:,}" for n, true, guess in pairs[:20])]
    widths = [max(8, len(label)) for label in labels]
    lines = [f"{'true':<{width}} " + " ".join(f"{label:>{w}}" for label, w in zip(labels, widths, strict=True)) + "  (predicted)"]
    for true, row in table.items():
        lines.append(f"{true:<{width}} " + " ".join(f"{row[label]:>{w},}" for label, w in zip(labels, widths, strict=True)))
    return lines


class _Ranks:
    """Area under the ROC curve in bounded memory: scores are counted in bins of constant relative width."""

    def __init__(self, n_classes: int):
        self.shift = 12 + max(0, n_classes.bit_length() - 2)  # bits of a float32 that are left out
        self.counts = np.zeros((2, 1 << (32 - self.shift)), np.int64)

    def add(self, scores: np.ndarray, is_positive: np.ndarray) -> None:
        with np.errstate(over="ignore"):
            bits = scores.astype(np.float32).view(np.int32).astype(np.int64)
        places = (np.where(bits < 0, -(bits & 0x7FFFFFFF), bits) + (1 << 31)) >> self.shift  # in the order of the scores
        for row, which in enumerate((~is_positive, is_positive)):
            np.add.at(self.counts[row], places[which], 1)

    @property
    def area(self) -> float | None:
        n_negative, n_positive = self.counts.sum(axis=1).tolist()
        if not n_negative or not n_positive:
            return None
        below = np.cumsum(self.counts[0]) - self.counts[0]
        return float(self.counts[1] @ (below + 0.5 * self.counts[0])) / n_negative / n_positive
