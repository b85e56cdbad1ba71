"""`onlinecls train`."""

from __future__ import annotations

import json
import os
import stat
import sys
import time
from typing import Any

import numpy as np

from .._compiled.lock import learn_together
from .._compiled.model import COUNTERS
from .._estimators.learner import learning, state_of
from .._input import escaped
from .._input.compat import is_regressor
from .._pipeline import rows_learnt
from ..text import n_rows_of, part_of
from .models import Model, algorithm_of, shown_error, skipped_lines, skipped_rows
from .options import REGRESSORS
from .stopping import check_stopped, signals_ignored, stoppable

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
    if options.passes > 1 and "-" in options.data:
        error("argument --passes: must be 1 for standard input, which cannot be read again")
    if options.save_every is not None and save is None:
        error("argument --save-every: must have --save, the file to write")
    if options.resume is not None:
        given = next((name for name in _OF_NEW_MODEL if getattr(options, name) is not None), None)
        if given:
            error(f"argument --{given}: must be left out with --resume, which goes on with the model's own")
    elif options.probabilities and options.algorithm in REGRESSORS:
        error(f"argument --probabilities: must be left out for {options.algorithm}, which learns numbers")
    if save is None or (os.path.exists(save) and not stat.S_ISDIR(os.stat(save).st_mode)):
        return
    folder = os.path.dirname(os.path.realpath(save))
    if save == "-" or os.path.isdir(save) or not os.access(folder, os.W_OK):
        error(f"argument --save: must be a file in a folder that can be written to, got {save!r}")


class _Clock:
    """Tells when an interval, (rows, None) or (None, seconds), has passed."""

    def __init__(self, every: tuple[int | None, float | None]):
        self.every, self.rows, self.at = every, 0, time.monotonic()

    def is_due(self, rows: int) -> bool:
        n, seconds = self.every
        due = rows - self.rows >= n if n is not None else seconds is not None and time.monotonic() - self.at >= seconds
        if due:
            self.rows, self.at = rows, time.monotonic()
        return due


def counts_of(learner: Any) -> np.ndarray:
    """Return the rows, updates and mistakes that a learner has counted; of a regressor squared and absolute errors."""
    names = ("t", "updates", "squared", "absolute") if is_regressor(learner) else ("t", "updates", "mistakes")
    if not learner.__sklearn_is_fitted__():
        return np.zeros(len(names))
    return state_of(learner).counters[[COUNTERS[name] for name in names]]


class _Training:
    """A model in passes over a stream. row : rows of the present pass that it has learnt."""

    def __init__(self, options):
        self.options, self.stream, self.begun = options, None, time.perf_counter()
        self.model, self.metadata = Model.new(options), {}
        if options.resume is not None:
            self.model, self.metadata = Model.of_file(options.resume, options)
        self.learner, self.saving = self.model.learner, _Clock(options.save_every or (None, None))
        stopped = self.metadata.pop("stopped", None)
        self.n_passes, self.row = self._place_in(stopped) if stopped else (0, 0)
        self.skipped, self.n_bytes, self.unsaved = 0, 0, ""
        self.before = self.last = counts_of(self.learner)
        self.first: np.ndarray | None = None  # counts of the first pass

    def _place_in(self, stopped: Any) -> tuple[int, int]:
        """Return the passes over the same files, and the rows of the next one, that a resumed model has learnt."""
        n_passes, row, data = (stopped.get(name) if isinstance(stopped, dict) else None for name in ("passes", "row", "data"))
        if not all(type(place) is int and place >= 0 for place in (n_passes, row)):
            raise ValueError(f"{self.options.resume}: must say behind which row it was saved, got {stopped!r}.")
        if data == self.options.data and "-" not in data:
            return n_passes, row
        if row:
            self.say(f"{self.options.resume} was interrupted behind row {row:,} of other data; all of DATA is learnt.")
        return 0, 0

    def say(self, line: str) -> None:
        if not self.options.quiet:
            print(line, file=sys.stderr, flush=True)

    # --- learning ------------------------------------------------------------------------------------------------------------

    def run(self) -> None:
        if self.n_passes >= self.options.passes:
            self.say(f"{self.options.resume} has learnt all of DATA, {self.n_passes} times: there is nothing to learn.")
            return
        for number in range(self.n_passes, self.options.passes):
            with self.model.open(self.options.data) as self.stream, learning(self.learner, again=number > 0):
                self._say_beginning(number)
                self.before = self.last = counts_of(self.learner)
                try:
                    self._learn()
                finally:
                    self.skipped, self.n_bytes = self.stream.n_skipped, self.n_bytes + self.stream.bytes_read
                    self.first = self.counts if self.first is None else self.first
            self.n_passes, self.row = number + 1, 0

    def _say_beginning(self, number: int) -> None:
        if number == 0 or self.first is None:
            n = int(counts_of(self.learner)[0])
            self.say(f"{self.learner!r}, from {self.stream.format}"
                     + (f", going on after {n:,} examples" + f", behind row {self.row:,}" * (self.row > 0) if n else "")
                     + ("" if self.options.save else "; the model is not kept (--save)"))
            what = "" if is_regressor(self.learner) else "mistakes"
            self.say(f"{'examples':>12} {'seconds':>9} {what or 'mse':>12} {'error' if what else 'mae':>10} {'since last':>10}")
        else:
            self.say(f"pass {number + 1}")

    def _learn(self) -> None:
        every = self.options.every or (None, _LONGEST_SILENCE)
        clock, step = _Clock((None, every[1])), every[0]
        to_skip, seen = self.row, 0
        mark = step or 1 if self.options.every is None or step else sys.maxsize
        for X, y, weight in self.stream.batches_of_rows():
            n, start = n_rows_of(X), 0
            if seen == 0:
                self._warn_of_long_words(X, n)
            if to_skip:
                start = min(to_skip, n)
                to_skip, seen = to_skip - start, seen + start
            while start < n:
                stop = min(n, start + max(mark - seen, 1))
                self._learn_batch(part_of(X, start, stop), y[start:stop], None if weight is None else weight[start:stop])
                seen += stop - start
                start = stop
                if seen >= mark:
                    self._report()
                    mark += step or mark
                elif clock.is_due(seen):
                    self._report()
            check_stopped()
            if self.saving.is_due(seen) and self.model.is_known:
                self._save_checkpoint()

    def _warn_of_long_words(self, X: Any, n_rows: int) -> None:
        """Tell that texts have no blanks, as in Chinese or Japanese, so that each is a word."""
        vectorizer = self.model.reading.get("vectorizer")
        if hasattr(X, "nnz") and getattr(vectorizer, "analyzer", "") == "word" and self.stream.format not in ("svmlight", "vw"):
            n_bytes = self.stream.bytes_read
            if n_rows >= 100 and X.nnz < 1.5 * n_rows and n_bytes > 24 * n_rows:
                print("onlinecls train: warning: texts should have words with blanks between, got about one long word a text. "
                      "For Chinese, Japanese, Thai: --analyzer char --ngrams 1 2.", file=sys.stderr)

    def _learn_batch(self, X: Any, y: Any, weight: Any) -> None:
        """Learn a batch; whatever ends it, `row` is that of the last row learnt."""
        begun, before, whole = self.row, self._n_rounds(), self.model.whole

        def learn() -> None:
            whole.partial_fit(X, y, sample_weight=weight)

        def place(n: int):
            def commit() -> None:
                self.row = begun + n

            return commit

        learn_together(learn, [place(len(y))], lambda: [place(rows_learnt(self.learner, before, y, weight))])

    def _n_rounds(self) -> float:
        return self.learner.t_ if self.model.is_known else 0

    @property
    def counts(self) -> np.ndarray:
        """Counts of the present pass."""
        return counts_of(self.learner) - self.before

    # --- reports and files ---------------------------------------------------------------------------------------------------

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.begun

    def _report(self) -> None:
        now = self.counts
        since = now - (self.last - self.before)
        rate = [float(each / now[0]) if now[0] else None for each in now]
        recent = float(since[2] / since[0]) if since[0] else None
        self.last = now + self.before
        shown = [f"{int(now[2]):>12,}" if len(now) == 3 else f"{shown_error(rate[2], self.learner):>12}",
                 f"{shown_error(rate[-1], self.learner):>10}", f"{shown_error(recent, self.learner):>10}"]
        self.say(f"{int(now[0]):>12,} {self.seconds:>9.2f} {' '.join(shown)}")
        if self.options.json and self.options.every is not None:
            print(json.dumps({"pass": self.n_passes + 1, **self._numbers(now), "error_since_last": recent,
                              "seconds": self.seconds}), flush=True)

    def _numbers(self, counts: np.ndarray) -> dict:
        """Return counters and errors for JSON."""
        errors = [float(each / counts[0]) if counts[0] else None for each in counts]
        if len(counts) == 4:
            return {"examples": int(counts[0]), "progressive_mse": errors[2], "progressive_mae": errors[3],
                    "updates": int(counts[1])}
        return {"examples": int(counts[0]), "mistakes": int(counts[2]), "progressive_error": errors[2], "updates": int(counts[1])}

    def _save(self) -> None:
        stopped = {"passes": self.n_passes, "row": self.row, "data": self.options.data}
        self.model.save(self.options.save, self.stream, {**self.metadata, "stopped": stopped})

    def _save_checkpoint(self) -> None:
        """Save the model so far. Where that fails, learning goes on: the disk may have room again when the next one is due."""
        try:
            self._save()
        except OSError as error:
            self.unsaved = f"the checkpoint behind row {self.row:,} could not be saved: {error}"
            print(f"onlinecls train: {escaped(self.unsaved)}. Learning goes on.", file=sys.stderr)

    def end(self, error: BaseException | None) -> None:
        """Say what was learnt, and save it. error : what has ended the learning early."""
        options, learner, stream = self.options, self.learner, self.stream
        if stream is None:
            return
        first = self.counts if self.first is None else self.first
        numbers = self._numbers(first)
        speed = f", {self.n_bytes / 1e6 / max(self.seconds, 1e-9):.0f} MB/s" if self.n_bytes else ""
        rates = [shown_error(each, learner) for each in list(numbers.values())[1:3]]
        errors = f"mse {rates[0]}, mae {rates[1]}" if is_regressor(learner) else f"{numbers['mistakes']:,} mistakes ({rates[1]})"
        self.say(f"{numbers['examples']:,} examples, {errors}, {self.seconds:.2f} s{speed}")
        for line in (skipped_lines(stream) if stream.n_skipped else "", skipped_rows(learner)):
            if line:
                self.say(line)
        saved = None
        if self.model.is_known and options.save:
            with signals_ignored():
                self._save()
            saved = options.save
            self.say(f"saved: {saved}, {os.path.getsize(saved) / 1e6:.1f} MB")
        result = {
            "algorithm": algorithm_of(learner).name, "learner": repr(learner), **numbers, "seconds": self.seconds,
            "bytes": self.n_bytes, "skipped": self.skipped, "passes": self.n_passes, "row": self.row,
            "interrupted": error is not None, "model": saved,
        }
        if error is not None:
            where = f"saved in {saved}. To go on: --resume {saved}" if saved else "not saved"
            print(f"onlinecls train: ended behind row {self.row:,} of pass {self.n_passes + 1}; what was learnt is {where}.",
                  file=sys.stderr)
        elif not self.model.is_known:
            raise ValueError(f"{options.data[0]}: must have an example of weight > 0, got none. There is no model.")
        elif options.test:
            from .evaluate import measured

            measures = measured(self.model, options.test)
            self.say(f"test: {measures.examples:,} examples, " + (
                f"mse {measures.mse:.5g}, mae {measures.mae:.5g}" if is_regressor(learner)
                else f"{int(measures.mistakes):,} mistakes ({shown_error(measures.error, learner)})"))
            plain = {name: each for name, each in measures.as_dict().items() if isinstance(each, int | float | None)}
            result.update({f"test_{name}": value for name, value in plain.items()})
        if options.json and not isinstance(error, BrokenPipeError):
            print(json.dumps(result), flush=True)
        if self.unsaved and error is None:
            raise OSError(f"{self.unsaved}. The whole model is saved in {saved}.")
