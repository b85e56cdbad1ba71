"""`onlinecls compare`."""

from __future__ import annotations

import json
import os
from itertools import product

from .._evaluation import Comparison, Race
from .._input.compat import is_regressor
from .inputs import Input, require_place
from .parameters import CLASSIFIERS, REGRESSORS, choose_covariance, make_learner, split_settings
from .progress import Progress
from .report import counters_of, format_error, skipped_lines, skipped_rows
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

    race = None if is_regressor(learner) else Race({run.name: run.learner for run in runs}, options.level, bool(options.search))

    def learn_all(X, y, weight) -> None:
        race.learn(X, y, weight, runs[0].classes)
        for run, seconds in zip(runs, race.seconds.tolist(), strict=True):
            run.seconds = seconds
            run.points.append((*run.counts, seconds))

    stream = inputs.open(options.data, options, labels_of(learner, options), learns=True)
    for run in runs if inputs.is_new_and_narrow else ():
        choose_covariance(run.learner, split_settings(run.name.partition(":")[2]))
    progress.say(f"{'examples':>12} {'seconds':>9} " + " ".join(f"{run.name:>{width}}" for run in runs))
    progress.open(stream, "compare")
    learn(stream, runs, progress, reading, line, learn_rows=None if race is None else learn_all, step=inputs.step)
    if not runs[0].counts[0]:
        raise ValueError(f"{options.data[0]}: must have an example of weight > 0, got none. There is nothing to compare.")
    found = None if race is None else race.result()
    runs.sort(key=lambda run: run.error if found is None else found.names.index(run.name))
    if reading.skipped:
        progress.say(skipped_lines(reading.skipped, reading.reasons))
    for run in runs:
        if line := skipped_rows(run.learner):
            progress.say(f"{run.name}: {line}")
    if axes is not None:
        _draw(runs, axes, options.plot)
    results = [
        {"algorithm": run.name, "estimator": repr(run.learner), **counters_of(run.learner, run.counts),
         "learning_seconds": run.seconds, **({} if found is None else {"better_by": found.better_by.get(run.name)})}
        for run in runs
    ]
    if options.json:
        about = {"seconds": progress.seconds, "features": reading.features, "bytes": reading.bytes, "skipped": reading.skipped}
        print(json.dumps({"results": results, **about, "plot": options.plot}))
        return
    regression = is_regressor(learner)
    headings = f"{'mse':>12} {'mae':>9}" if regression else f"{'mistakes':>12} {'error':>9}"
    more = "" if regression else f"  {'errs more than the first by':<27}  dropped after"
    print(f"{'algorithm':<{width}} {headings} {'updates':>12} {'learning s':>11}{more}".rstrip())
    for run, result in zip(runs, results, strict=True):
        if regression:
            errors = f"{format_error(run.error, learner):>12} {format_error(result['progressive_mae'], learner):>9}"
        else:
            errors = f"{result['mistakes']:>12,} {format_error(run.error, learner):>9}"
        print(f"{run.name:<{width}} {errors} {result['updates']:>12,} {run.seconds:>11.2f}{_beside(run, found)}".rstrip())
    if found is not None:
        print(f"\n{_verdict(found, options.level)}")


def _beside(run: Run, found: Comparison | None) -> str:
    """Return how much more a learner errs than the first, and where it was dropped."""
    if found is None or run.name == found.best:
        return ""
    low, high = found.better_by[run.name]
    n, interval = found.examples[run.name], f"{100 * low:+.2f} to {100 * high:+.2f} %"
    return f"  {interval:<27}  {f'{n:,}' if n < found.examples[found.best] else ''}"


def _verdict(found: Comparison, level: float) -> str:
    beaten, others = len(found.beaten), len(found.names) - 1
    sure = f"at any time, all intervals together, with probability {1.0 - level:g}"
    if not beaten:
        return f"None of the others is sure to err more than {found.best} ({sure.replace('at any time, ', 'at any time and ')})."
    if beaten == others:
        return f"{found.best} errs less than all others ({sure})."
    return f"{found.best} errs less than {beaten} of the {others} others ({sure}); the rest may be as good."


def _settings(spec: str) -> list[str]:
    """Return the settings of a search: name:p=1,2,q=3,4 stands for four of them."""
    name, _, settings = spec.partition(":")
    choices = [
        [f"{parameter}={value}" for value in (values.split(",") if ":" not in values else [values])]
        for parameter, _, values in (each.partition("=") for each in split_settings(settings))
    ]
    return [":".join([name, *([",".join(chosen)] if chosen else [])]) for chosen in product(*choices)]


def _runs(options, dtype: str) -> list[Run]:
    parser, runs = options.parser, []
    if options.search and options.algorithms:
        parser.error("argument --search: must be without --algorithms; a NAME without values is itself")
    specs = [each for spec in options.search or () for each in _settings(spec)]
    for spec in specs or options.algorithms or ["arow", "pa1", "perceptron"]:
        name, _, settings = spec.partition(":")
        if name not in (*CLASSIFIERS, *REGRESSORS):
            parser.error(f"argument --algorithms: must be of {', '.join((*CLASSIFIERS, *REGRESSORS))}, got {name!r}")
        if spec in (run.name for run in runs):
            parser.error(f"argument --algorithms: must be different ones, got {spec!r} twice")
        runs.append(Run(spec, make_learner(parser, "--algorithms", name, split_settings(settings), dtype), options.classes))
        if is_regressor(runs[-1].learner) != is_regressor(runs[0].learner):
            parser.error(f"argument --algorithms: must learn all classes or all numbers, got {runs[0].name!r} and {spec!r}")
    if options.search and (len(runs) < 2 or is_regressor(runs[0].learner)):
        parser.error(f"argument --search: must be two settings or more of learners of classes, got {' '.join(options.search)}")
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
        results[run.name] = ProgressiveResult(
            examples=examples, mistakes=mistakes, updates=updates, seconds=seconds, by_row=True,
            weight=examples.astype(float), weighted_mistakes=mistakes.astype(float),  # (each row counts as one here)
        )
    ProgressiveDisplay.from_results(results, ax=axes)
    axes.figure.savefig(path)
