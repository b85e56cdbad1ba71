"""`onlinecls predict`."""

from __future__ import annotations

import sys

from .._input.compat import is_regressor
from .inputs import load_model, shown_label
from .progress import Progress
from .report import skipped_lines

NONE = "NA"  # printed for a line without a row


def predict(options) -> None:
    learner, _, inputs = load_model(options.model, options)
    columns = _columns(options, learner)
    labels = {} if is_regressor(learner) else {label: shown_label(label) for label in learner.classes_.tolist()}
    progress = Progress(options.quiet or sys.stdout.isatty())
    with inputs.open(options.data, options, labels=None) as stream:
        progress.open(stream, "predict")
        headings = ["prediction", *(heading for heads, _ in columns for heading in heads(labels))]
        if columns:
            print("\t".join(headings), flush=stream.bytes_total is None)
        lines = Lines(stream, "\t".join([NONE] * len(headings)))
        try:
            for X, _, _ in stream.batches_of_rows():
                lines.write(_prediction_lines(learner, X, labels, columns))
                if stream.bytes_total is None:
                    sys.stdout.flush()  # (the reader of the pipe may be waiting)
                progress.show(stream)
            lines.write([])
        finally:
            progress.close()
        if stream.n_skipped:
            print(skipped_lines(stream.n_skipped, stream.skipped), file=sys.stderr)


def _prediction_lines(learner, X, labels: dict, columns: list) -> list[str]:
    predicted = learner.predict(X).tolist()
    lines = [labels[label] for label in predicted] if labels else list(map(repr, predicted))
    for _, values in columns:
        numbers = values(X).reshape(len(lines), -1).tolist()
        lines = ["\t".join([line, *map(repr, row)]) for line, row in zip(lines, numbers, strict=True)]
    return lines


class Lines:
    """Writes one line for each line of the input, a placeholder for lines without a row."""

    def __init__(self, stream, placeholder: str, file=None):
        self.stream, self.placeholder, self.n_written, self.gaps = stream, placeholder, 0, []
        self.file = sys.stdout if file is None else file

    def write(self, lines: list[str]) -> None:
        """Write the lines of a batch, with placeholders at the gaps that the stream reports."""
        self.gaps += self.stream.gaps
        parts, start = [], 0
        while self.gaps and self.gaps[0] <= self.n_written + len(lines):
            stop = self.gaps.pop(0) - self.n_written
            parts += [*lines[start:stop], self.placeholder]
            start = stop
        self.n_written += len(lines)
        parts += lines[start:]
        if parts:
            self.file.write("\n".join(parts) + "\n")


def _columns(options, learner) -> list:
    """Return (function from labels to headings, function from rows to values) of each option that adds columns."""
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
