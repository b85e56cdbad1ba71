"""`onlinecls train`."""

from __future__ import annotations

import json
import os
import sys

from .._estimators.epochs import learning
from .._input import escaped
from .inputs import Input, load_model
from .parameters import REGRESSORS, algorithm_of, is_kernel, learner_of, make_learner, own_parameters
from .progress import Clock, Progress
from .report import counters_of, mean, skipped_lines, skipped_rows, summary
from .run import Reading, Run, counts_of, labels_of, learn
from .stopping import check_stopped, signals_ignored, stoppable

# Options of a new model; a resumed model has its own.
_OF_NEW_MODEL = ("algorithm", "param", "probabilities", "classes", "bits", "ngrams", "analyzer", "dtype")


def train(options) -> None:
    _check(options)
    training = _Training(options)
    with stoppable():
        try:
            training.run_passes()
        except (KeyboardInterrupt, BrokenPipeError) as error:
            training.reports &= isinstance(error, KeyboardInterrupt)  # (else whoever reads the output has left)
            with signals_ignored():
                training.finish(interrupted=True)
            raise
        training.finish(interrupted=False)


def _check(options) -> None:
    error, save = options.parser.error, options.save
    if options.passes > 1 and "-" in options.data:
        error("argument --passes: must be 1 for standard input, which cannot be read again")
    if options.save_every is not None and save is None:
        error("argument --save-every: must have --save, the file to write")
    if save is None or (os.path.exists(save) and not os.path.isfile(save) and not os.path.isdir(save)):  # (/dev/stdout, say)
        return
    folder = os.path.dirname(os.path.realpath(save))
    if save == "-" or os.path.isdir(save) or not os.path.isdir(folder) or not os.access(folder, os.W_OK):
        error(f"argument --save: must be a file in a folder that can be written to, got {save!r}")


class _Training:
    """A learner, its input, and the progress of its passes."""

    def __init__(self, options):
        self.options, self.reading = options, Reading()
        self.metadata, self.inputs, self.run = _start(options)
        self.learner = self.run.learner
        self.reports = options.json and options.every is not None  # a JSON object for each line of progress?
        self.progress = Progress(options.quiet, options.every, marks=not options.quiet or self.reports)
        self.saving = None if options.save_every is None else Clock(options.save_every)
        self.unsaved: list[str] = []  # checkpoints that could not be written, and why
        self.first = None  # counts of the first pass
        stopped = self.metadata.pop("interrupted", None)
        self.n_passes, self.row = self._begin_behind(stopped) if stopped else (0, 0)  # passes done; rows of the next one

    def _begin_behind(self, stopped) -> tuple[int, int]:
        """Return the passes over the same files, and the rows of the next one, that an interrupted model has learnt."""
        n_passes, row, data = (stopped.get(name) if isinstance(stopped, dict) else None for name in ("pass", "row", "data"))
        if not all(type(place) is int and place >= 0 for place in (n_passes, row)):
            raise ValueError(f"{self.options.resume}: must say behind which row it was interrupted, got {stopped!r}.")
        if data != self.options.data or "-" in data:
            self.progress.say(f"{self.options.resume} was interrupted behind row {row:,} of other data; all of DATA is learnt.")
            return 0, 0
        if n_passes > self.options.passes:
            raise ValueError(f"{self.options.resume}: must go on with --passes {n_passes} or more, got {self.options.passes}.")
        return n_passes - 1, row

    def line(self) -> str:
        if self.reports:
            print(json.dumps(self.point()), flush=True)
        return f"{self.run.counts[0]:>12,} {self.progress.seconds:>9.2f} {self.run.columns()} {self.reading.features:>14,}"

    def open(self, learns: bool):
        return self.inputs.open(self.options.data, self.options, labels_of(self.learner, self.options.classes or ()), learns)

    def run_passes(self) -> None:
        begun = self.n_passes
        stream = self.open(learns=begun == 0)
        self._say_beginning(stream)
        for number in range(begun, self.options.passes):
            self.run.begin()
            self.reading.begin(self.learner, number, self.row if number == begun else 0)
            if number > begun:
                self.progress.say(f"pass {number + 1}")
                self.progress.restart()
                stream = self.open(learns=False)
            self.progress.open(stream, "train")
            step = self.inputs.step if number == 0 else None  # (later passes read the table through it)
            try:
                with learning(self.learner, again=number > 0):
                    learn(stream, self.run, self.progress, self.reading, self.line, self.save_in_time, step)
            finally:
                self.first = self.first or self.run.counts
            self.n_passes = number + 1

    def _say_beginning(self, stream) -> None:
        before = counts_of(self.learner)[0]
        where = f", with row {self.row + 1:,} of the input" if self.row else ""
        where += f" in pass {self.n_passes + 1}" if self.n_passes else ""
        self.progress.say(
            f"{self.learner!r}, {_columns(stream, self.inputs)}, from {stream.format}"
            + (f", going on after {before:,} examples{where}" if before else "")
            + ("" if self.options.save else "; the model is not kept (--save)")
        )
        if self.inputs.found:
            self.progress.say(self.inputs.found)
        self.progress.say(f"{'examples':>12} {'seconds':>9} {self.run.headings()} {'features':>14}")

    # --- saving ------------------------------------------------------------------------------------------------------------

    def save_in_time(self) -> None:
        """Save a checkpoint if one is due: a whole model whose metadata name the row to go on with.

        Where that fails, learning goes on: the disk may have room again when the next one is due.
        """
        check_stopped()
        row = self.place()["row"]
        if self.saving is not None and self.saving.is_due(row) and self.learner.__sklearn_is_fitted__():
            try:
                self.save(is_whole=False)
            except OSError as error:
                self.unsaved.append(f"that behind row {row:,} could not be saved: {error}")
                print(f"onlinecls train: of the checkpoints, {escaped(self.unsaved[-1])}. Learning goes on.", file=sys.stderr)

    def save(self, is_whole: bool) -> None:
        more = {} if is_whole else {"interrupted": {**self.place(), "data": self.options.data}}
        model = self.inputs.model_of(self.learner)
        model.save(self.options.save, {**self.metadata, **self.inputs.metadata(), **more})

    def place(self) -> dict:
        return self.reading.place(self.learner)

    # --- the end -----------------------------------------------------------------------------------------------------------

    def finish(self, interrupted: bool) -> None:
        """Print what was learnt, and save it."""
        options, run, learner, progress = self.options, self.run, self.learner, self.progress
        first = self.first = self.first or run.counts
        if run.counts[0] != run.last[0]:
            progress.say(self.line())
        speed = f", {self.reading.bytes / 1e6 / max(progress.seconds, 1e-9):.0f} MB/s" if self.reading.bytes else ""
        progress.say(f"{first[0]:,} examples, {summary(learner, first)}, {progress.seconds:.2f} s{speed}")
        if self.reading.skipped:
            progress.say(skipped_lines(self.reading.skipped, self.reading.reasons))
        if line := skipped_rows(learner):
            progress.say(line)
        is_learnt = learner.__sklearn_is_fitted__()
        result = self.result(interrupted)
        if options.save and is_learnt:
            with signals_ignored():
                self.save(is_whole=not interrupted)
            result["model"] = options.save
        if interrupted:
            self._say_how_to_go_on(result["model"])
        elif not is_learnt:
            raise ValueError(f"{options.data[0]}: must have an example of weight > 0, got none. There is no model.")
        elif options.test:
            result.update(self.tested())
        if result["model"]:
            progress.say(f"saved: {options.save}, {os.path.getsize(options.save) / 1e6:.1f} MB")
        if options.json:
            print(json.dumps(result), flush=True)
        if self.unsaved and not interrupted:
            where = f"The whole model is saved in {options.save}" if result["model"] else "There is no model"
            raise OSError(f"{len(self.unsaved)} checkpoints could not be saved, the last: {self.unsaved[-1]}. {where}.")

    def point(self) -> dict:
        """Return the counts so far in the present pass."""
        since = mean(tuple(now - then for now, then in zip(self.run.counts, self.run.last, strict=True)), 2)
        return {
            "pass": self.n_passes + 1, **counters_of(self.learner, self.run.counts), "error_since_last": since,
            "seconds": self.progress.seconds, "features": self.reading.features,
        }

    def result(self, interrupted: bool) -> dict:
        return {
            "algorithm": self.run.name, "parameters": own_parameters(self.learner), **counters_of(self.learner, self.first),
            "seconds": self.progress.seconds, "bytes": self.reading.bytes, "features": self.reading.features,
            "skipped": self.reading.skipped, "passes": self.n_passes, "interrupted": interrupted, "model": None,
            **(self.place() if interrupted else {}),
        }

    def tested(self) -> dict:
        """Return the errors on the files of `--test`."""
        from .evaluate import measure, opened

        with opened(self.inputs, self.options.test, self.options, self.learner) as stream:
            measures = measure(self.learner, stream)
        self.progress.say(f"test: {measures.summary()}")
        return {f"test_{name}": value for name, value in measures.errors().items()}

    def _say_how_to_go_on(self, saved: str | None) -> None:
        """Print on standard error, quiet or not, how to go on."""
        options, place = self.options, self.place()
        of_pass = f" of pass {place['pass']}" if options.passes > 1 else ""
        behind = " and the input behind it" if "-" in options.data else " and the same DATA"
        print(
            f"onlinecls train: interrupted after {self.run.counts[0]:,} examples{of_pass}, behind row {place['row']:,} of the "
            f"input; what was learnt is " + (f"saved in {saved}. To go on: --resume {saved}{behind}." if saved else "not saved."),
            file=sys.stderr,
        )


def _columns(stream, inputs: Input) -> str:
    width = stream.n_features if inputs.step is None else inputs.step.n_features_out_
    return f"2^{width.bit_length() - 1} columns" if width & (width - 1) == 0 else f"{width:,} columns"


def _settings(options) -> list[str]:
    return [*(options.param or []), *(["probability=true"] if options.probabilities else [])]


def _start(options) -> tuple[dict, Input, Run]:
    """Return (metadata, input, run) of a new learner, or of the saved one to go on with."""
    if options.resume is not None:
        given = next((name for name in _OF_NEW_MODEL if getattr(options, name) is not None), None)
        if given:
            options.parser.error(f"argument --{given}: must be left out with --resume, which goes on with the model's own")
        learner, metadata, inputs = load_model(options.resume, options)
        if learner_of(learner) is not learner or is_kernel(learner):
            raise ValueError(
                f"{options.resume!r} must be a linear learner to go on here, got {type(learner).__name__}. Go on in Python: "
                "onlinecls.load, partial_fit."
            )
        return metadata, inputs, Run(algorithm_of(learner), learner)
    inputs, name = Input.from_options(options), options.algorithm or "arow"
    for option in ("probabilities", "classes"):
        if getattr(options, option) is not None and name in REGRESSORS:
            options.parser.error(f"argument --{option}: must be left out for {name}, which learns numbers")
    learner = make_learner(options.parser, "--param", name, _settings(options), inputs.reading["dtype"])
    return {}, inputs, Run(name, learner, options.classes)
