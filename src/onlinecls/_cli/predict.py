"""`onlinecls predict`."""

from __future__ import annotations

import json
import sys
from typing import Any

from .._input.compat import is_regressor
from .models import Model, shown_label, skipped_lines

_NONE = "NA"  # printed for a line without a row


def predict(options) -> None:
    model, _ = Model.of_file(options.model, options)
    learner, whole, error = model.learner, model.whole, options.parser.error
    labels = [] if is_regressor(learner) else list(map(shown_label, learner.classes_.tolist()))
    scored = labels[-1:] if len(labels) < 3 else labels
    columns: list[tuple[str, list[str], list[str], Any]] = []  # (key in JSON, headings, names, what computes them)
    if options.scores:
        if not labels:
            error(f"argument --scores: must be left out for {options.model!r}, whose predictions are numbers")
        columns.append(("scores", scored, scored, whole.decision_function))
    if options.probabilities:
        if not hasattr(learner, "predict_proba"):
            error(f"argument --probabilities: must have a model that gives probabilities, got {options.model!r}")
        columns.append(("probabilities", [f"p {label}" for label in labels], labels, whole.predict_proba))
    headings = ["prediction", *(heading for _, each, _, _ in columns for heading in each)]
    if columns and not options.json:
        print("\t".join(headings), flush=True)
    with model.open(options.data, labels=False) as stream:
        lines = _Lines(stream, '{"prediction": null}' if options.json else "\t".join([_NONE] * len(headings)))
        for X, _, _ in stream.batches_of_rows(lines.write):
            predicted = whole.predict(X).tolist()
            if labels:
                predicted = list(map(shown_label, predicted))
            found = [compute(X).reshape(len(predicted), -1).tolist() for *_, compute in columns]
            if options.json:
                rows = ({key: dict(zip(names, row, strict=True)) for (key, _, names, _), row in zip(columns, each, strict=True)}
                        for each in (zip(*found, strict=True) if found else [()] * len(predicted)))
                predicted = [json.dumps({"prediction": each, **row}) for each, row in zip(predicted, rows, strict=True)]
            elif columns or not labels:
                shown = (each if labels else repr(each) for each in predicted)
                rest = zip(*found, strict=True) if found else [()] * len(predicted)
                predicted = ["\t".join([each, *(repr(value) for row in rows for value in row)])
                             for each, rows in zip(shown, rest, strict=True)]
            lines.write(predicted)
        lines.write()
    if stream.n_skipped:
        print(skipped_lines(stream), file=sys.stderr)


class _Lines:
    """Writes one line for each line of the input, a placeholder for lines without a row."""

    def __init__(self, stream: Any, placeholder: str):
        self.stream, self.placeholder, self.n_written = stream, placeholder, 0

    def write(self, lines: list[str] | tuple = ()) -> None:
        """Write the lines of a batch, with placeholders at the stream's gaps, at once: somebody may be waiting for them."""
        parts: list[str] = []
        start = 0
        for gap in self.stream.gaps:
            stop = gap - self.n_written
            parts += [*lines[start:stop], self.placeholder]
            start = stop
        self.n_written += len(lines)
        parts += lines[start:]
        if parts:
            print("\n".join(parts), flush=True)
