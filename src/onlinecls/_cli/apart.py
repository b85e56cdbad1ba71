"""`onlinecls train --jobs N`: a process for each file, and their models merged."""

from __future__ import annotations

import os

from .inputs import Input
from .learning import Run, labels_of

# What a pass that is cut up cannot do: count rows of one stream, or names of columns.
_ALONE = ("resume", "from_row", "save_every", "names", "threads", "every")


def check(options) -> None:
    """That the other options are those of files learnt side by side."""
    error = options.parser.error
    if len(options.data) < 2 or "-" in options.data:
        error("argument --jobs: must have two files or more, each of which a process learns; got " + " ".join(options.data))
    if options.passes > 1 or options.on_error == "skip":
        given = "--passes" if options.passes > 1 else "--on-error skip"
        error(f"argument --jobs: must be without {given}, which goes with one stream")
    given = next((name for name in _ALONE if getattr(options, name) is not None), None)
    if given:
        error(f"argument --jobs: must be without --{given.replace('_', '-')}, which goes with one stream")


def learn_apart(run: Run, inputs: Input, stream, options) -> int:
    """Learn the files, whose first one `stream` has begun. Returns the bytes of all."""
    from ..parallel import fit

    labels = labels_of(run.learner, run.classes)
    with stream:
        for batch in stream:
            run.know_labels(batch.y)
            break
    reading = {**inputs.options_of_read(options, labels), "threads": 1}
    run.learner = fit(run.learner, list(options.data), n_jobs=options.jobs, classes=run.classes, reading=reading)
    run.last = run.counts  # (no line on the way)
    return sum(os.path.getsize(path) for path in options.data)
