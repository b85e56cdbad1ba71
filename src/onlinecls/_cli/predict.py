"""`onlinecls predict`."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, NamedTuple

from .._input.compat import is_regressor
from .inputs import load_model, shown_label
from .progress import Progress
from .report import skipped_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_NONE = "NA"  # printed for a line without a row


class Columns(NamedTuple):
    """Columns beside the predictions. values(X) : a list of numbers for each row."""

    key: str  # in JSON
    headings: list[str]
    names: list[str]
    values: Callable[[object], list]


def predict(options) -> None:
    learner, _, inputs = load_model(options.model, options)
    labels = [] if is_regressor(learner) else list(map(shown_label, learner.classes_.tolist()))
    shown = {} if is_regressor(learner) else dict(zip(learner.classes_.tolist(), labels, strict=True))
    columns = _columns(options, learner, labels)
    progress = Progress(options.quiet or sys.stdout.isatty())
    with inputs.open(options.data, options, labels=None) as stream:
        progress.open(stream, "predict")
        headings = ["prediction", *(heading for each in columns for heading in each.headings)]
        if columns and not options.json:
            print("\t".join(headings), flush=True)
        written = _as_json if options.json else _as_text
        lines = _Lines(stream, '{"prediction": null}' if options.json else "\t".join([_NONE] * len(headings)))
        try:
            for X, _, _ in stream.batches_of_rows(lines.write):
                predicted = [shown.get(each, each) for each in learner.predict(X).tolist()]
                if columns or options.json or not labels:
                    found = [each.values(X) for each in columns]
                    predicted = [written(columns, *row) for row in zip(predicted, *found, strict=True)]
                lines.write(predicted)  # (labels alone are lines as they are)
                progress.show(stream)
            lines.write()
        finally:
            progress.close()
        if stream.n_skipped:
            print(skipped_lines(stream.n_skipped, stream.skipped), file=sys.stderr)


def _as_text(columns: list[Columns], prediction, *values) -> str:
    first = prediction if isinstance(prediction, str) else repr(prediction)
    return "\t".join([first, *(repr(value) for row in values for value in row)])


def _as_json(columns: list[Columns], prediction, *values) -> str:
    named = {each.key: dict(zip(each.names, row, strict=True)) for each, row in zip(columns, values, strict=True)}
    return json.dumps({"prediction": prediction, **named})


class _Lines:
    """Writes one line for each line of the input, a placeholder for lines without a row."""

    def __init__(self, stream, placeholder: str):
        self.stream, self.placeholder, self.n_written = stream, placeholder, 0

    def write(self, lines: Sequence[str] = ()) -> None:
        """Write the lines of a batch, with placeholders at the stream's gaps, at once: somebody may be waiting for them."""
        parts, start = [], 0
        for gap in self.stream.gaps:
            stop = gap - self.n_written
            parts += [*lines[start:stop], self.placeholder]
            start = stop
        self.n_written += len(lines)
        parts += lines[start:]
        if parts:
            print("\n".join(parts), flush=True)


def _columns(options, learner, labels: list[str]) -> list[Columns]:
    """Return the columns that the options add. labels : of the classes, none for a regression."""
    error, found = options.parser.error, []
    scored = labels[-1:] if len(labels) < 3 else labels

    def rows_of(values):
        return lambda X: values(X).reshape(X.shape[0], -1).tolist()

    if options.scores:
        if not labels:
            error(f"argument --scores: must be left out for {options.model!r}, whose predictions are numbers")
        found.append(Columns("scores", scored, scored, rows_of(learner.decision_function)))
    if options.probabilities:
        if not hasattr(learner, "predict_proba"):
            error(f"argument --probabilities: must have a model that gives probabilities, got {options.model!r}")
        found.append(Columns("probabilities", [f"p {label}" for label in labels], labels, rows_of(learner.predict_proba)))
    return found
