"""`onlinecls predict`."""

from __future__ import annotations

import sys

from .inputs import loaded, shown_label
from .learning import is_regressor, skipped
from .progress import Progress

_NONE = "NA"  # in the place of a prediction, for a line that has no row


def predict(options) -> None:
    learner, _, inputs = loaded(options.model, options)
    columns = _columns(options, learner)
    labels = {} if is_regressor(learner) else {label: shown_label(label) for label in learner.classes_.tolist()}
    progress = Progress(options.quiet or sys.stdout.isatty())
    with inputs.open(options.data, options, labels=None) as stream:
        progress.open(stream, "predict")
        headings = ["prediction", *(heading for heads, _ in columns for heading in heads(labels))]
        if columns:
            print("\t".join(headings), flush=stream.bytes_total is None)
        lines = _Lines(stream, "\t".join([_NONE] * len(headings)))
        try:
            for X, _, _ in stream.batches_of_rows():
                lines.write(_predicted(learner, X, labels, columns))
                if stream.bytes_total is None:
                    sys.stdout.flush()  # somebody may wait at the other end of the pipe
                progress.show(stream)
            lines.write([])
        finally:
            progress.close()
        if stream.n_skipped:
            print(skipped(stream.n_skipped, stream.skipped), file=sys.stderr)


def _predicted(learner, X, labels: dict, columns: list) -> list[str]:
    predicted = learner.predict(X).tolist()
    lines = [labels[label] for label in predicted] if labels else list(map(repr, predicted))
    for _, values in columns:
        numbers = values(X).reshape(len(lines), -1).tolist()
        lines = ["\t".join([line, *map(repr, row)]) for line, row in zip(lines, numbers, strict=True)]
    return lines


class _Lines:
    """Writes a line for each line of the input: where the stream has no row, a placeholder."""

    def __init__(self, stream, placeholder: str):
        self.stream, self.placeholder, self.n_written, self.gaps = stream, placeholder, 0, []

    def write(self, lines: list[str]) -> None:
        """The lines of a batch, and those of which the stream says that they were left out."""
        self.gaps += self.stream.gaps
        parts, start = [], 0
        while self.gaps and self.gaps[0] <= self.n_written + len(lines):
            stop = self.gaps.pop(0) - self.n_written
            parts += [*lines[start:stop], self.placeholder]
            start = stop
        self.n_written += len(lines)
        parts += lines[start:]
        if parts:
            sys.stdout.write("\n".join(parts) + "\n")


def _columns(options, learner) -> list:
    """What stands behind the predictions: (headings of the labels, values of rows) of each option."""
    error, found = options.parser.error, []

    def scored(labels: dict) -> list[str]:
        return list(labels.values())[-1:] if len(labels) < 3 else list(labels.values())

    if options.scores:
        if is_regressor(learner):
            error(f"argument --scores: must be left out for {options.model!r}, whose predictions are numbers")
        found.append((scored, learner.decision_function))
    if options.std:
        if not hasattr(learner, "covariance_"):
            error(f"argument --std: must have a model that keeps variances, such as arow, got {options.model!r}")
        found.append((
            lambda labels: [f"std {label}" for label in scored(labels)] or ["std"],
            lambda X: (learner.predict if is_regressor(learner) else learner.decision_function)(X, return_std=True)[1],
        ))
    if options.probabilities:
        if not hasattr(learner, "predict_proba"):
            error(f"argument --probabilities: must have a model that gives probabilities, got {options.model!r}")
        found.append((lambda labels: [f"p {label}" for label in labels.values()], learner.predict_proba))
    return found
