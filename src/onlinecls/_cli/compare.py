"""`onlinecls compare`."""

from __future__ import annotations

import json
import os

from .._input.compat import is_regressor
from .inputs import Input, require_place
from .parameters import CLASSIFIERS, REGRESSORS, make_learner, split_settings
from .progress import Progress
from .report import counters_of, format_error, skipped_lines
from .run import Reading, Run, labels_of, learn


def compare(options) -> None:
    inputs = Input.from_options(options)
    runs = _runs(options, inputs.reading["dtype"])
    learner = runs[0].learner
    axes = _axes(options) if options.plot else None
    width = max(11, *(len(run.name) for run in runs))
    reading, marks = Reading(), not options.quiet or axes is not None  # (curves have a point at each mark)
    progress = Progress(options.quiet, options.every, marks)

    def line() -> str:
        errors = " ".join(f"{format_error(run.error, learner):>{width}}" for run in runs)
        return f"{runs[0].counts[0]:>12,} {progress.seconds:>9.2f} {errors}"

    stream = inputs.open(options.data, options, labels_of(learner, options.classes))
    progress.say(f"{'examples':>12} {'seconds':>9} " + " ".join(f"{run.name:>{width}}" for run in runs))
    progress.open(stream, "compare")
    learn(stream, runs, progress, reading, line)
    if not runs[0].counts[0]:
        raise ValueError(f"{options.data[0]}: must have an example of weight > 0, got none. There is nothing to compare.")
    runs.sort(key=lambda run: run.error)
    if reading.skipped:
        progress.say(skipped_lines(reading.skipped, reading.reasons))
    if axes is not None:
        _draw(runs, axes, options.plot)
    results = [
        {"algorithm": run.name, "estimator": repr(run.learner), **counters_of(run.learner, run.counts),
         "learning_seconds": run.seconds}
        for run in runs
    ]
    if options.json:
        about = {"seconds": progress.seconds, "features": reading.features, "bytes": reading.bytes, "skipped": reading.skipped}
        print(json.dumps({"results": results, **about, "plot": options.plot}))
        return
    regression = is_regressor(learner)
    headings = f"{'mse':>12} {'mae':>9}" if regression else f"{'mistakes':>12} {'error':>9}"
    print(f"{'algorithm':<{width}} {headings} {'updates':>12} {'learning s':>11}")
    for run, result in zip(runs, results, strict=True):
        if regression:
            errors = f"{format_error(run.error, learner):>12} {format_error(result['progressive_mae'], learner):>9}"
        else:
            errors = f"{result['mistakes']:>12,} {format_error(run.error, learner):>9}"
        print(f"{run.name:<{width}} {errors} {result['updates']:>12,} {run.seconds:>11.2f}")


def _runs(options, dtype: str) -> list[Run]:
    parser, runs = options.parser, []
    for spec in options.algorithms:
        name, _, settings = spec.partition(":")
        if name not in (*CLASSIFIERS, *REGRESSORS):
            parser.error(f"argument --algorithms: must be of {', '.join((*CLASSIFIERS, *REGRESSORS))}, got {name!r}")
        if spec in (run.name for run in runs):
            parser.error(f"argument --algorithms: must be different ones, got {spec!r} twice")
        runs.append(Run(spec, make_learner(parser, "--algorithms", name, split_settings(settings), dtype), options.classes))
        if is_regressor(runs[-1].learner) != is_regressor(runs[0].learner):
            parser.error(f"argument --algorithms: must learn all classes or all numbers, got {runs[0].name!r} and {spec!r}")
    return runs


def _axes(options):
    """Return the axes to draw on. Called before learning, so that a missing package or a wrong path is an error at once."""
    require_place(options, "plot")
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError('--plot needs matplotlib, which is not installed. pip install "onlinecls[plot]"') from None
    axes = Figure(figsize=(8, 5), layout="constrained").subplots()
    kinds = axes.figure.canvas.get_supported_filetypes()
    if os.path.splitext(options.plot)[1][1:].lower() not in kinds:
        known = ", ".join("." + kind for kind in sorted(kinds))
        options.parser.error(f"argument --plot: must end in one of {known}, got {options.plot!r}")
    return axes


def _draw(runs: list[Run], axes, path: str) -> None:
    import numpy as np

    from .._evaluation import ProgressiveResult
    from ..plotting import ProgressiveDisplay

    if is_regressor(runs[0].learner):
        for run in runs:
            examples, _, squared, _, _ = np.array(run.points).T
            axes.plot(examples, squared / examples, label=f"{run.name}  {run.error:.4g}")
        axes.set(xlabel="examples seen", ylabel="mean squared error so far", yscale="log")
        axes.grid(alpha=0.3)
        axes.legend(fontsize="small")
        axes.figure.savefig(path)
        return
    results = {}
    for run in runs:
        examples, updates, mistakes, seconds = (np.array(column) for column in zip(*run.points, strict=True))
        rows = examples.astype(float), mistakes.astype(float)  # (each row counts as one here, whatever its weight)
        results[run.name] = ProgressiveResult(examples, mistakes, *rows, updates, seconds, by_row=True)
    ProgressiveDisplay.from_results(results, ax=axes)
    axes.figure.savefig(path)
