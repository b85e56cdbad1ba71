"""`onlinecls predict`."""

from __future__ import annotations

import sys

from .inputs import loaded, shown_label
from .learning import is_regressor, skipped
from .progress import Progress


def predict(options) -> None:
    learner, _, inputs = loaded(options.model, options)
    if options.scores and is_regressor(learner):
        options.parser.error(f"argument --scores: must be left out for {options.model!r}, whose predictions are numbers")
    labels = {} if is_regressor(learner) else {label: shown_label(label) for label in learner.classes_.tolist()}
    progress = Progress(options.quiet or sys.stdout.isatty())
    with inputs.open(options.data, options, labels=None) as stream:
        progress.open(stream, "predict")
        if options.scores:
            scored = list(labels.values())[-1:] if len(labels) < 3 else labels.values()
            print("\t".join(["prediction", *scored]))
        try:
            for X, _, _ in stream.batches_of_rows():
                predicted = learner.predict(X).tolist()
                lines = [labels[label] for label in predicted] if labels else list(map(repr, predicted))
                if options.scores:
                    scores = learner.decision_function(X).reshape(len(lines), -1).tolist()
                    lines = ["\t".join([line, *map(repr, row)]) for line, row in zip(lines, scores, strict=True)]
                sys.stdout.write("\n".join(lines) + "\n")
                if stream.bytes_total is None:
                    sys.stdout.flush()  # somebody may wait at the other end of the pipe
                progress.show(stream)
        finally:
            progress.close()
        if stream.n_skipped:
            print(skipped(stream.n_skipped, stream.skipped), file=sys.stderr)
