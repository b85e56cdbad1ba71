"""Learning of a stream, and the position in it."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np

from .._compiled.lock import learn_together
from .._compiled.model import COUNTERS
from .._estimators.learner import SKIPPED, state_of
from .._input.compat import is_regressor
from ..streams import MalformedLineError, are_names
from ..text import part_of, rows_of_table
from .inputs import shown_label
from .progress import Progress
from .report import format_error, mean


def counts_of(learner) -> tuple:
    """Return the lifetime counters: (rows, updates, mistakes), or for a regressor (rows, updates, squared errors, absolute
    errors)."""
    whole, sums = ("t", "updates"), ("squared", "absolute")
    if not is_regressor(learner):
        whole, sums = ("t", "updates", "mistakes"), ()
    if not learner.__sklearn_is_fitted__():
        return (0,) * len(whole) + (0.0,) * len(sums)
    counters = state_of(learner).counters
    return (*(int(counters[COUNTERS[name]]) for name in whole), *(float(counters[COUNTERS[name]]) for name in sums))


def labels_of(learner, classes=()) -> str:
    """Return the `labels` argument of `streams.read` for a learner. classes : those of a new one that are known."""
    if is_regressor(learner):
        return "number"
    if not learner.__sklearn_is_fitted__():
        return "str" if any(_number_of(label) is None for label in classes) else "auto"
    if learner.classes_.dtype.kind not in "US":
        return "number"
    return "auto" if are_names(learner.classes_.tolist()) else "str"  # (what is no name must not become a class beside names)


def _number_of(text) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _as_labels(given: list, y) -> list:
    """Convert labels of the command line to the type of the stream's labels y."""
    if y.dtype.kind == "U":
        return given
    numbers = [_number_of(label) for label in given]
    if None in numbers:
        strange = given[numbers.index(None)]
        raise ValueError(f"the labels of the data are numbers, got {strange!r} on the command line. Give numbers for classes.")
    return numbers


class Run:
    """A learner in a pass over a stream, and its counts in this pass. classes : labels of `--classes`, or None."""

    def __init__(self, name: str, learner, classes: list | None = None):
        self.name, self.learner, self.classes = name, learner, classes
        self.begin()

    def begin(self) -> None:
        self.start = counts_of(self.learner)
        self.last = (0,) * len(self.start)  # counts at the last line

    def convert_labels(self, y) -> None:
        """Convert labels of the command line to the type of the data's, before the first rows."""
        if self.learner.__sklearn_is_fitted__():
            self._compare_labels(y)
            return
        class_weight = getattr(self.learner, "class_weight", None)
        if isinstance(class_weight, dict):
            self.learner.set_params(class_weight=dict(zip(_as_labels(list(class_weight), y), class_weight.values(), strict=True)))
        if self.classes is not None:
            self.classes = _as_labels(self.classes, y)

    def _compare_labels(self, y) -> None:
        """Warn if none of the labels of the first rows is the model's."""
        theirs, mine = list(dict.fromkeys(y.tolist())), self.learner.classes_.tolist()
        if len(theirs) > 1 and not set(theirs) & set(mine):
            theirs, mine = (", ".join(map(shown_label, labels[:5])) for labels in (theirs, mine))
            warnings.warn(
                f"labels should be the model's ({mine}), got none of them in the first {len(y):,} rows, but {theirs}, which are "
                "learnt as classes of their own. Spell them alike: 1, 1.0 and true are different texts.", stacklevel=2,
            )

    def learn(self, X, y, weight) -> None:
        is_first = self.classes is not None and not self.learner.__sklearn_is_fitted__()
        self.learner.partial_fit(X, y, sample_weight=weight, **({"classes": self.classes} if is_first else {}))

    @property
    def counts(self) -> tuple:
        return tuple(now - then for now, then in zip(counts_of(self.learner), self.start, strict=True))

    def headings(self) -> str:
        """Return the headings of the columns that lines of progress have for the learner."""
        if is_regressor(self.learner):
            return f"{'mse':>11} {'since last':>11} {'mae':>11}"
        return f"{'mistakes':>12} {'error':>11} {'since last':>11}"

    def columns(self) -> str:
        """Format a line of progress below the headings."""
        counts, learner = self.counts, self.learner
        since = tuple(now - then for now, then in zip(counts, self.last, strict=True))
        self.last = counts
        errors = f"{format_error(mean(counts, 2), learner):>11} {format_error(mean(since, 2), learner):>11}"
        return f"{errors} {format_error(mean(counts, 3), learner):>11}" if is_regressor(learner) else f"{counts[2]:>12,} {errors}"


class Part(NamedTuple):
    """Rows of a pass that are being learnt; an interrupt may come anywhere in them."""

    number: int = 0  # of the pass, from 0
    before: int = 0  # rows of the pass that were learnt before it
    t: int = 0  # the learner's rows of weight > 0 then
    X: object = None
    y: object = ()
    weight: object = None

    def learnt(self, learner) -> int:
        """Return the number of its rows that the learner has learnt by now."""
        from .._pipeline import rows_learnt

        return 0 if self.X is None else rows_learnt(learner, self.t, self.y, self.weight)


class Reading:
    """Totals of what was read in all passes, and the position in the present pass."""

    features = bytes = skipped = 0
    reasons, part = (), Part()

    def begin(self, learner, number: int, before: int) -> None:
        """Begin a pass without its first `before` rows."""
        self.part = Part(number, before, counts_of(learner)[0])

    def place(self, learner) -> dict:
        """Return the pass and its rows that have been learnt, by the learner's own counter: Ctrl-C may come anywhere."""
        return {"pass": self.part.number + 1, "row": self.part.before + self.part.learnt(learner)}

    def begin_part(self, X, y, weight) -> None:
        self.part = self.part._replace(X=X, y=y, weight=weight)

    def end_part(self, learner, whole: bool = False) -> None:
        part = self.part
        done = part.X.shape[0] if whole else part.learnt(learner)
        before, t = part.before + done, counts_of(learner)[0]
        self.part = Part(part.number, before, t)  # (one assignment: an interrupt comes before or after it)
        self.features += 0 if part.X is None else part_of(part.X, 0, done).nnz


def learn(stream, run: Run, progress: Progress, reading: Reading, line, after_batch, step=None) -> None:
    """Learn one pass over a stream, or the rest of it.

    after_batch() is called between batches, where the model is whole.
    step : one that learns the rows, which are as they were read, just before.
    """
    before, learner = (reading.bytes, reading.skipped), run.learner
    with stream, warnings.catch_warnings():
        warnings.filterwarnings("ignore", f".*{SKIPPED}")  # (it is said once, at the end)
        try:
            for X, y, weight in _rest_of(stream, reading.part.before):
                if progress.rows == 0 and not is_regressor(learner):
                    run.convert_labels(y)

                def learn_batch(rows, y=y, weight=weight):
                    for start, stop, marked in progress.cuts(len(y)):
                        these = part_of(rows, start, stop), y[start:stop], _cut(weight, start, stop)
                        reading.begin_part(*these)
                        run.learn(*these)
                        reading.end_part(learner, whole=True)
                        if marked:
                            progress.say(line())

                if step is None:
                    learn_batch(X)
                else:  # (the rows of a whole batch: each column takes its time)
                    _learn_behind(step, X, weight, reading, learner, learn_batch)
                if progress.is_due():
                    progress.say(line())
                progress.show(stream, format_error(mean(run.counts, 2), learner))
                after_batch()
        except MalformedLineError as error:
            if is_regressor(learner) and error.parameter == "label":
                said = str(error).replace(error.hint, "")  # (which is about classes)
                raise ValueError(f"{said}. {run.name} learns numbers; for classes take a classifier, arow say.") from None
            raise
        finally:
            progress.close()
            reading.end_part(learner)
            reading.bytes, reading.skipped = before[0] + stream.bytes_read, before[1] + stream.n_skipped
            reading.reasons = stream.skipped


def _learn_behind(step, table, weight, reading: Reading, learner, learn_batch) -> None:
    """Learn the rows that a step makes of a batch; it learns those of them that the learner has learnt."""

    from .._pipeline import learnt

    def commits_of_rows_learnt() -> list:
        n = reading.place(learner)["row"] - before
        return [learnt(step, part_of(table, 0, n), _cut(weight, 0, n))[1]] if n else []

    before, (rows, commit) = reading.place(learner)["row"], learnt(step, table, weight)
    rows = rows_of_table(rows) if isinstance(rows, np.ndarray) else rows
    learn_together(lambda: learn_batch(rows), [commit], commits_of_rows_learnt)


def _cut(weight, start: int, stop: int):
    return None if weight is None else weight[start:stop]


def _rest_of(stream, n_left_out: int):
    """Yield the batches of a stream without its first rows."""
    for X, y, weight in stream.batches_of_rows():
        n = min(n_left_out, len(y))
        n_left_out -= n
        if n < len(y):
            yield (X, y, weight) if n == 0 else (part_of(X, n, len(y)), y[n:], _cut(weight, n, len(y)))
