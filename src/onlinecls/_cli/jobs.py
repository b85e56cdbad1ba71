"""`onlinecls train --jobs N`: each file is learnt by a process, and the models are merged."""

from __future__ import annotations

import os

from .inputs import Input
from .run import Run, labels_of

# Options that need a single stream, most of which count its rows.
_SINGLE_STREAM = ("resume", "from_row", "save_every", "threads", "every", "predictions")


def check(options) -> None:
    """Refuse options that need a single stream."""
    error = options.parser.error
    if len(options.data) < 2 or "-" in options.data:
        error("argument --jobs: must have two files or more, each of which a process learns; got " + " ".join(options.data))
    given = {
        "passes": options.passes > 1, "on-error skip": options.on_error == "skip", "unlabelled": options.unlabelled != "refuse",
        **{name.replace("_", "-"): getattr(options, name) is not None for name in _SINGLE_STREAM},
    }
    for name, is_given in given.items():
        if is_given:
            error(f"argument --jobs: must be without --{name}, which goes with one stream")


def learn_in_processes(run: Run, inputs: Input, stream, options) -> int:
    """Learn all files, the first of which `stream` has opened, and return their size in bytes."""
    from ..parallel import fit

    labels = labels_of(run.learner, options)
    with stream:
        for X, y, weight in stream:
            run.convert_labels(y)
            if inputs.step is None:
                break
            inputs.step.partial_fit(X, sample_weight=weight)  # (statistics of all files, before their models)
    reading = {**inputs.options_of_read(options, labels), "threads": 1}
    model = fit(run.learner, list(options.data), n_jobs=options.jobs, classes=run.classes, reading=reading)
    run.learner = model
    run.last = run.counts  # (no line on the way)
    return sum(os.path.getsize(path) for path in options.data)
