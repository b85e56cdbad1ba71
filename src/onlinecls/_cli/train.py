"""`onlinecls train`."""

from __future__ import annotations

import json
import os
import sys

import numpy as np

from .._estimators.access import counts_of
from .inputs import OTHER_COLUMNS, Input, loaded, require_place
from .learning import (
    Reading,
    Run,
    algorithm_of,
    found,
    is_regressor,
    labels_of,
    learn,
    made,
    own_parameters,
    skipped,
    summary,
)
from .progress import Progress


def train(options) -> None:
    parser = options.parser
    if options.passes > 1 and "-" in options.data:
        parser.error("argument --passes: must be 1 for standard input, which cannot be read again")
    require_place(options, "save")
    metadata, inputs, run = _beginning(options)
    learner, reading, progress = run.learner, Reading(), Progress(options.quiet, options.every, marks=not options.quiet)

    def line() -> str:
        return f"{run.counts[0]:>12,} {progress.seconds:>9.2f} {run.columns()} {reading.features:>14,}"

    stream = inputs.open(options.data, options, labels_of(learner))
    if inputs.names is not None and stream.format in OTHER_COLUMNS:
        stream.close()
        raise ValueError(f"--names must have texts, whose words are hashed, got {stream.format}. Leave it out.")
    before = counts_of(learner)[0]
    progress.say(f"{learner!r}, 2^{inputs.n_features.bit_length() - 1} columns, from {stream.format}"
                 + (f", going on after {before:,} examples" if before else "")
                 + ("" if options.save else "; the model is not kept (--save)"))
    progress.say(f"{'examples':>12} {'seconds':>9} {run.headings()} {'features':>14}")
    first, interrupted = None, False
    try:
        for number in range(options.passes):
            if number:
                progress.say(f"pass {number + 1}")
                progress.restart()
                stream = inputs.open(options.data, options, labels_of(learner))
            run.begin()
            progress.open(stream, "train")
            try:
                learn(stream, [run], progress, reading, line)
            finally:
                inputs.trained_on = inputs.trained_on or stream.format
                first = first or run.counts
    except KeyboardInterrupt:
        interrupted = True
    first = first or run.counts
    if run.counts[0] != run.last[0]:
        progress.say(line())
    told = {
        "algorithm": run.name, "parameters": own_parameters(learner), **found(learner, first), "seconds": progress.seconds,
        "features": reading.features, "bytes": reading.bytes, "skipped": reading.skipped, "passes": options.passes,
        "interrupted": interrupted, "model": None,
    }
    speed = f", {reading.bytes / 1e6 / max(progress.seconds, 1e-9):.0f} MB/s" if reading.bytes else ""
    progress.say(f"{first[0]:,} examples, {summary(learner, first)}, {progress.seconds:.2f} s{speed}")
    if reading.skipped:
        progress.say(skipped(reading.skipped, reading.reasons))
    learnt = learner.__sklearn_is_fitted__()
    if options.save and learnt:
        learner.save(options.save, {**metadata, **(inputs.metadata() if inputs.hashes else {})})
        told["model"] = options.save
    if interrupted:
        kept = f"saved in {options.save}" if told["model"] else "not saved"
        print(f"onlinecls train: interrupted after {run.counts[0]:,} examples; what was learnt is {kept}.", file=sys.stderr)
    elif not learnt:
        raise ValueError(f"{options.data[0]}: must have an example of weight > 0, got none. There is no model.")
    elif options.test:
        counts = _tested(learner, inputs, options)
        progress.say(f"test: {counts[0]:,} examples, {summary(learner, counts)}")
        names = {"examples": "test_examples", "mistakes": "test_mistakes", "progressive_error": "test_error",
                 "progressive_mse": "test_mse", "progressive_mae": "test_mae"}
        told.update({names[name]: value for name, value in found(learner, counts).items() if name in names})
    if told["model"]:
        progress.say(f"saved: {options.save}, {os.path.getsize(options.save) / 1e6:.1f} MB")
    if options.json:
        print(json.dumps(told))
    if interrupted:
        raise KeyboardInterrupt


def _beginning(options) -> tuple[dict, Input, Run]:
    """A new learner, or the saved one to go on with."""
    if options.resume is not None:
        own = ("algorithm", "param", "bits", "ngrams", "analyzer", "dtype", "names")
        given = next((name for name in own if getattr(options, name) is not None), None)
        if given:
            options.parser.error(f"argument --{given}: must be left out with --resume, which goes on with the model's own")
        learner, metadata, inputs = loaded(options.resume, options)
        return metadata, inputs, Run(algorithm_of(learner), learner)
    inputs, name = Input.from_options(options), options.algorithm or "arow"
    learner = made(options.parser, "--param", name, options.param or [], inputs.dtype)
    if options.names is not None:
        from ..text import FeatureNames

        inputs.names = FeatureNames(options.names)
    return {}, inputs, Run(name, learner)


def _tested(learner, inputs: Input, options) -> tuple:
    """As `counts_of`, of examples that are predicted only."""
    examples = mistakes = 0
    squared = absolute = 0.0
    with inputs.open(options.test, options, labels_of(learner)) as stream:
        for X, y, _ in stream.batches_of_rows():
            examples += len(y)
            if is_regressor(learner):
                residuals = np.clip(y - learner.predict(X), -1e140, 1e140)  # whose squares can be added up, as in learning
                squared += float(residuals @ residuals)
                absolute += float(np.abs(residuals).sum())
            else:
                mistakes += len(y) - round(learner.score(X, y) * len(y))
    return (examples, 0, squared, absolute) if is_regressor(learner) else (examples, 0, mistakes)
