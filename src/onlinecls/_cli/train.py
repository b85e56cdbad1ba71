"""`onlinecls train`."""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

import numpy as np

from .._compiled.model import COUNTERS, learn_together
from .._estimators.learner import state_of
from .._input import escaped
from .._input.compat import kind_of
from .._pipeline import is_fitted, n_rounds, rows_learnt
from ..text import n_rows_of, part_of
from .models import Model, algorithm_of, shown_error, shown_errors, skipped_lines, skipped_rows
from .stopping import check_stopped, signals_ignored, stoppable, tell

_OF_NEW_MODEL = ("algorithm", "param", "probabilities", "bits", "ngrams", "analyzer", "dtype")
_LONGEST_SILENCE = 60.0  # seconds between lines by default


def train(options) -> None:
    _check(options)
    training = _Training(options)
    with stoppable():
        try:
            training.run()
        except BaseException as error:  # (whatever it is, what has been learnt is saved)
            with signals_ignored():
                training.end(error)
            raise
        training.end(None)


def _check(options) -> None:
    error, save = options.parser.error, options.save
    if options.passes > 1 and any(path == "-" or (os.path.exists(path) and not os.path.isfile(path)) for path in options.data):
        error("argument --passes: must be 1 for standard input and pipes, which cannot be read again")
    if options.save_every is not None and save is None:
        error("argument --save-every: must have --save, the file to write")
    if options.resume is not None:
        given = next((name for name in _OF_NEW_MODEL if getattr(options, name) is not None), None)
        if given:
            error(f"argument --{given}: must be left out with --resume, which goes on with the model's own")
    if save is not None:
        folder = os.path.dirname(os.path.realpath(save))
        if save == "-" or (os.path.exists(save) and not os.path.isfile(save)) or not os.access(folder, os.W_OK):
            error(f"argument --save: must be a file in a folder that can be written to, got {save!r}")


class _Clock:
    """Tells when a number of rows have been learnt, or seconds have passed; with `doubling`, when rows have doubled."""

    def __init__(self, rows: int | None, seconds: float | None, doubling: bool = False):
        self.step, self.seconds, self.at = rows, seconds, time.monotonic()
        self.mark = 1 if doubling else rows or sys.maxsize

    def is_due(self, rows: int) -> bool:
        due = rows >= self.mark
        if due:
            self.mark = rows + (self.step or rows)
        elif self.seconds is None or time.monotonic() - self.at < self.seconds:
            return False
        self.at = time.monotonic()
        return True


def counts_of(learner: Any) -> np.ndarray:
    """Return the rows, updates and mistakes that a learner has counted; of a regressor squared and absolute errors."""
    names = ("t", "updates", "squared", "absolute") if kind_of(learner) == "regressor" else ("t", "updates", "mistakes")
    if not is_fitted(learner):
        return np.zeros(len(names))
    return state_of(learner).counters[[COUNTERS[name] for name in names]]


class _Training:
    """A model in passes over a stream. row : rows of the present pass that it has learnt."""

    def __init__(self, options):
        self.options, self.stream, self.begun, resume = options, None, time.perf_counter(), options.resume
        self.model, self.metadata = (Model.new(options), {}) if resume is None else Model.of_file(resume, options)
        self.learner, self.saving = self.model.learner, _Clock(*options.save_every or (None, None))
        stopped = self.metadata.pop("stopped", None)
        self.n_passes, self.row = self._place_in(stopped) if stopped else (0, 0)
        self.of_numbers, self.n_bytes, self.n_words, self.unsaved = kind_of(self.learner) == "regressor", 0, 0, ""
        self.first: dict = {}  # numbers of the first pass

    def _place_in(self, stopped: Any) -> tuple[int, int]:
        """Return the passes over the same files, and the rows of the next one, that a resumed model has learnt."""
        n_passes, row, data = (stopped.get(name) if isinstance(stopped, dict) else None for name in ("passes", "row", "data"))
        if not all(type(place) is int and place >= 0 for place in (n_passes, row)):
            raise ValueError(f"{self.options.resume}: must say after which row it was saved, got {stopped!r}.")
        if data == self.options.data and "-" not in data:
            return n_passes, row
        if row:
            self.say(f"{self.options.resume} was interrupted after row {row:,} of other data; all of DATA is learnt.")
        return 0, 0

    def say(self, line: str) -> None:
        if not self.options.quiet:
            tell(line)

    # --- learning ------------------------------------------------------------------------------------------------------------

    def run(self) -> None:
        if self.n_passes >= self.options.passes:
            self.say(f"{self.options.resume} has learnt all of DATA, {self.n_passes} times: there is nothing to learn.")
            return
        while self.n_passes < self.options.passes:
            self.before = self.last = counts_of(self.learner)
            self.learner._are_seen = self.n_passes > 0
            with self.model.open(self.options.data) as self.stream:
                self._say_beginning()
                try:
                    self._learn()
                finally:
                    self.n_bytes += self.stream.bytes_read
                    self.first = self.first or self._numbers()
            self.n_passes, self.row = self.n_passes + 1, 0

    def _say_beginning(self) -> None:
        if self.first:
            self.say(f"pass {self.n_passes + 1}")
            return
        n, names = int(self.before[0]), ("mse", "mae") if self.of_numbers else ("mistakes", "error")
        self.say(f"{self.learner!r}, from {self.stream.format}"
                 + (f", going on after {n:,} examples" + f", after row {self.row:,}" * (self.row > 0) if n else "")
                 + ("" if self.options.save else "; the model is not kept (--save)"))
        self.say(f"{'examples':>12} {'seconds':>9} {names[0]:>12} {names[1]:>10} {'since last':>10}")

    def _learn(self) -> None:
        every, seen = self.options.every, 0
        report = _Clock(*every or (None, _LONGEST_SILENCE), doubling=every is None)
        for X, y, weight in self.stream.batches_of_rows():
            n = n_rows_of(X)
            start = min(self.row - seen, n)  # rows that were learnt before
            seen += n
            self._warn_of_long_words(X, n, seen)
            while start < n:
                stop = min(n, start + max(report.mark - self.row, 1))
                self._learn_batch(part_of(X, start, stop), y[start:stop], None if weight is None else weight[start:stop])
                start = stop
                if report.is_due(self.row):
                    self._report()
            check_stopped()
            if is_fitted(self.learner) and self.saving.is_due(n_rounds(self.learner)):
                self._save_checkpoint()

    def _warn_of_long_words(self, X: Any, n: int, seen: int) -> None:
        """Tell, after the first hundred, that texts have no blanks, as in Chinese or Japanese, so that each is a word."""
        is_hashed = hasattr(X, "nnz") and self.stream.format not in ("svmlight", "vw")
        if is_hashed and getattr(self.model.reading.get("vectorizer"), "analyzer", "") == "word":
            self.n_words += X.nnz
            if seen - n < 100 <= seen and self.n_words < 1.5 * seen:
                tell("onlinecls train: warning: texts should have words with blanks between, got about one word a text. For "
                     "Chinese, Japanese, Thai: --analyzer char --ngrams 1 2.")

    def _learn_batch(self, X: Any, y: Any, weight: Any) -> None:
        """Learn a batch; whatever ends it, `row` is that of the last row learnt."""
        begun, before = self.row, n_rounds(self.learner) if is_fitted(self.learner) else 0

        def place(n: int):
            return lambda: setattr(self, "row", begun + n)

        learn_together(
            self.model.whole.partial_fit, (X, y), {"sample_weight": weight}, [place(len(y))],
            lambda: [place(rows_learnt(self.learner, before, y, weight))])

    # --- reports and files ---------------------------------------------------------------------------------------------------

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.begun

    def _report(self) -> None:
        numbers, since = self._numbers(), counts_of(self.learner) - self.last
        self.last = self.last + since
        recent = float(since[2] / since[0]) if since[0] else None
        n, first, second, _ = numbers.values()
        first = shown_error(first, True) if self.of_numbers else f"{first:,}"
        second, last = (shown_error(each, self.of_numbers) for each in (second, recent))
        self.say(f"{n:>12,} {self.seconds:>9.2f} {first:>12} {second:>10} {last:>10}")
        if self.options.json and self.options.every is not None:
            told = {"pass": self.n_passes + 1, **numbers, "error_since_last": recent, "seconds": self.seconds}
            print(json.dumps(told), flush=True)

    def _numbers(self) -> dict:
        """Return counters and errors of the present pass for JSON."""
        n, updates, *others = map(float, counts_of(self.learner) - self.before)
        rates = [each / n if n else None for each in others]
        names = ("progressive_mse", "progressive_mae") if self.of_numbers else ("mistakes", "progressive_error")
        kind = dict(zip(names, rates if self.of_numbers else (int(others[0]), rates[0]), strict=True))
        return {"examples": int(n), **kind, "updates": int(updates)}

    def _save(self) -> None:
        stopped = {"passes": self.n_passes, "row": self.row, "data": self.options.data}
        self.model.save(self.options.save, self.stream, {**self.metadata, "stopped": stopped})

    def _save_checkpoint(self) -> None:
        """Save the model so far. Where that fails, learning goes on: the disk may have room again when the next one is due."""
        try:
            self._save()
        except OSError as error:
            self.unsaved = f"the checkpoint after row {self.row:,} could not be saved: {error}"
            tell(f"onlinecls train: {escaped(self.unsaved)}. Learning goes on.")

    def end(self, error: BaseException | None) -> None:
        """Say what was learnt, and save it. error : what has ended the learning early."""
        options, learner, stream = self.options, self.learner, self.stream
        if stream is None:
            return
        numbers = self.first or self._numbers()
        speed = f", {self.n_bytes / 1e6 / max(self.seconds, 1e-9):.0f} MB/s" if self.n_bytes else ""
        n, first, second, _ = numbers.values()
        self.say(f"{n:,} examples, {shown_errors(first, second, self.of_numbers)}, {self.seconds:.2f} s{speed}")
        for line in filter(None, (skipped_lines(stream), skipped_rows(learner))):
            self.say(line)
        saved = options.save if is_fitted(learner) else None
        if saved:
            with signals_ignored():
                self._save()
            self.say(f"saved: {saved}, {os.path.getsize(saved) / 1e6:.1f} MB")
        result = {
            "algorithm": algorithm_of(learner).name, "learner": repr(learner), **numbers, "seconds": self.seconds,
            "bytes": self.n_bytes, "skipped": stream.n_skipped, "passes": self.n_passes, "row": self.row,
            "interrupted": isinstance(error, KeyboardInterrupt), "model": saved,
        }
        if error is not None:
            where = f"saved in {saved}. To go on: --resume {saved}" if saved else "not saved"
            tell(f"onlinecls train: ended after row {self.row:,} of pass {self.n_passes + 1}; what was learnt is {where}.")
        elif not is_fitted(self.learner):
            raise ValueError(f"{options.data[0]}: must have an example of weight > 0, got none. There is no model.")
        elif options.test:
            from .saved import measured, told

            measures = measured(self.model, options.test)
            self.say(f"test: {told(measures)}")
            result |= {f"test_{name}": each for name, each in measures.as_dict().items() if isinstance(each, int | float | None)}
        if options.json and not isinstance(error, BrokenPipeError):
            print(json.dumps(result), flush=True)
        if self.unsaved and error is None:
            raise OSError(f"{self.unsaved}. The whole model is saved in {saved}.")
