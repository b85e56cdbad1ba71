"""`onlinecls predict`."""

from __future__ import annotations

import json
import sys
from itertools import repeat
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._input.compat import is_regressor
from .._input.escaping import escaped
from ..streams import MalformedLineError
from .inputs import load_model, shown_label
from .progress import Progress
from .report import skipped_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

NONE = "NA"  # printed for a line without a row


class Columns(NamedTuple):
    """Columns beside the predictions. values(X) : a list for each row, of numbers or, for the best classes, of pairs."""

    key: str  # in JSON
    headings: list[str]
    names: list[str]
    values: Callable[[object], list]


def predict(options) -> None:
    learner, _, inputs = load_model(options.model, options)
    labels = [] if is_regressor(learner) else list(map(shown_label, learner.classes_.tolist()))
    columns, rule = _columns(options, learner, labels), _rule(options, learner, labels)
    progress = Progress(options.quiet or sys.stdout.isatty())
    with inputs.open(options.data, options, labels=None) as stream:
        progress.open(stream, "predict")
        headings = [*(["id"] if options.id is not None else []), "prediction"]
        headings += [heading for each in columns for heading in each.headings]
        if len(headings) > 1 and not options.json:
            print("\t".join(headings), flush=True)
        written = _as_json if options.json else _as_text
        lines = Lines(stream, '{"prediction": null}' if options.json else "\t".join([NONE] * len(headings)))
        try:
            for X, ids, _ in stream.batches_of_rows(lines.write):
                found = [each.values(X) for each in columns]
                ids = repeat(None) if options.id is None else ids.tolist()
                predicted = rule(X)
                if len(headings) > 1 or options.json or not labels:
                    predicted = [written(columns, *row) for row in zip(ids, predicted, *found, strict=False)]
                lines.write(predicted)  # (labels alone are lines as they are)
                progress.show(stream)
            lines.write()
        except MalformedLineError as error:
            if options.id is None:
                raise
            raise ValueError(f"{str(error).replace(error.hint, '')} (--id reads its column in place of the labels)") from None
        finally:
            progress.close()
        if stream.n_skipped:
            print(skipped_lines(stream.n_skipped, stream.skipped), file=sys.stderr)


def _as_text(columns: list[Columns], id: str | None, prediction, *values) -> str:
    flat = [shown for row in values for value in row for shown in (value if isinstance(value, tuple) else (value,))]
    parts = [prediction, *flat] if id is None else [escaped(id), prediction, *flat]
    return "\t".join([part if isinstance(part, str) else repr(part) for part in parts])


def _as_json(columns: list[Columns], id: str | None, prediction, *values) -> str:
    about = {"prediction": prediction} if id is None else {"id": id, "prediction": prediction}
    for each, row in zip(columns, values, strict=True):
        if each.key == "top":
            about["top"] = [dict(zip(each.names, pair, strict=True)) for pair in row]
        else:
            about[each.key] = dict(zip(each.names, row, strict=True)) if each.names else row[0]
    return json.dumps(about)


def _rule(options, learner, labels: list[str]):
    """Return a function from rows to a list of predictions: numbers, or labels as they are printed."""
    if not labels:
        return lambda X: learner.predict(X).tolist()
    shown = dict(zip(learner.classes_.tolist(), labels, strict=True))
    return lambda X: [shown[label] for label in learner.predict(X).tolist()]


class Lines:
    """Writes one line for each line of the input, a placeholder for lines without a row."""

    def __init__(self, stream, placeholder: str, file=None):
        self.stream, self.placeholder, self.n_written, self.gaps, self.seen = stream, placeholder, 0, [], ()
        self.file = sys.stdout if file is None else file

    def write(self, lines: Sequence[str] = ()) -> None:
        """Write the lines of a batch, with placeholders at the stream's gaps, at once: somebody may be waiting for them."""
        if self.stream.gaps is not self.seen:  # (a batch may be written in parts)
            self.seen = self.stream.gaps
            self.gaps += self.seen
        parts, start = [], 0
        while self.gaps and self.gaps[0] <= self.n_written + len(lines):
            stop = self.gaps.pop(0) - self.n_written
            parts += [*lines[start:stop], self.placeholder]
            start = stop
        self.n_written += len(lines)
        parts += lines[start:]
        if parts:
            self.file.write("\n".join(parts) + "\n")
            self.file.flush()


def _columns(options, learner, labels: list[str]) -> list[Columns]:
    """Return the columns that the options add. labels : of the classes, none for a regression."""
    error, found = options.parser.error, []
    scored = labels[-1:] if len(labels) < 3 else labels

    def rows_of(values):
        return lambda X: values(X).reshape(X.shape[0], -1).tolist()

    for option in ("scores", "top"):
        if getattr(options, option) and not labels:
            error(f"argument --{option}: must be left out for {options.model!r}, whose predictions are numbers")
    if options.probabilities and not hasattr(learner, "predict_proba"):
        error(f"argument --probabilities: must have a model that gives probabilities, got {options.model!r}")
    if options.top is not None:
        if options.scores and options.probabilities:
            error("argument --top: must be with --scores or --probabilities, not with both")
        found.append(_best(options, learner, labels))
    elif options.scores:
        found.append(Columns("scores", scored, scored, rows_of(learner.decision_function)))
    if options.std:
        if not hasattr(learner, "covariance_"):
            error(f"argument --std: must have a model that keeps variances, such as arow, got {options.model!r}")
        predicted = learner.decision_function if labels else learner.predict
        headings = [f"std {label}" for label in scored] or ["std"]
        found.append(Columns("std", headings, scored, rows_of(lambda X: predicted(X, return_std=True)[1])))
    if options.probabilities and options.top is None:
        found.append(Columns("probabilities", [f"p {label}" for label in labels], labels, rows_of(learner.predict_proba)))
    return found


def _best(options, learner, labels: list[str]) -> Columns:
    """Return the columns of --top: the best classes of each row with their probabilities, or with their scores."""
    likely = options.probabilities or (hasattr(learner, "predict_proba") and not options.scores)
    k = min(options.top, len(labels))

    def values(X):
        found = learner.predict_proba(X) if likely else learner.decision_function(X)
        found = np.column_stack([-found, found]) if found.ndim == 1 else found
        order = np.argsort(-found, axis=1, kind="stable")[:, :k]  # (the first of equals, as in predict)
        best = np.take_along_axis(found, order, axis=1).tolist()
        return [[(labels[c], value) for c, value in zip(*row, strict=True)] for row in zip(order.tolist(), best, strict=True)]

    name = "p" if likely else "score"
    headings = [heading for i in range(1, k + 1) for heading in (f"top {i}", f"{name} {i}")]
    return Columns("top", headings, ["class", "probability" if likely else "score"], values)
