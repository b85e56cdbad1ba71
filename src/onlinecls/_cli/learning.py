"""Makes learners from options and runs them over a stream."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

import onlinecls

from .._estimators import access
from .._estimators.access import counts_of, is_regressor
from .._input.escaping import escaped
from .._input.rows import part_of
from .._input.validate import available_memory
from .._registry import ALGORITHMS
from .progress import Progress

CLASSIFIERS = tuple(name for name, algorithm in ALGORITHMS.items() if "binary" in algorithm.tasks)
REGRESSORS = tuple(name for name, algorithm in ALGORITHMS.items() if "regression" in algorithm.tasks)
_COMMON = ("average", "class_weight", "covariance", "fit_intercept", "intercept_scaling", "multi_class", "probability")
_KERNEL = ("algorithm", "kernel", "gamma", "degree", "coef0", "budget")  # parameters of kernel learners
_MANY_CLASSES = 50  # with more new labels than this in a batch, `_require_classes` looks at them


def settings_of(text: str) -> list[str]:
    """NAME=VALUE,... of `compare`; a part without a name belongs to the value before it: class_weight=ham:1,spam:5."""
    found = []
    for part in text.split(",") if text else []:
        if found and "=" not in part:
            found[-1] += f",{part}"
        else:
            found.append(part)
    return found


def _weights_of_classes(text: str):
    """label:weight,... as a dict; what it is not as it is, for the estimator to refuse."""
    if ":" not in text:
        return _value(text)
    found = {}
    for part in text.split(","):
        label, _, weight = part.rpartition(":")
        found[label] = _value(weight)
    return found


def _value(text: str):
    constants = {"true": True, "false": False, "none": None}
    if text.lower() in constants:
        return constants[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def allowed_parameters(name: str) -> list[str]:
    """Of an algorithm, and those that all have."""
    algorithm = ALGORITHMS[name]
    return [*algorithm.params, *(p for p in _COMMON if p in access.parameter_names(getattr(onlinecls, algorithm.estimator)))]


def made(parser, option: str, name: str, settings: list[str], dtype: str):
    """The estimator of an algorithm and its parameters, all checked."""
    algorithm = ALGORITHMS[name]
    cls = getattr(onlinecls, algorithm.estimator)
    allowed, values = allowed_parameters(name), {}
    for setting in settings:
        parameter, equals, value = setting.partition("=")
        if not equals:
            parser.error(f"argument {option}: must be NAME=VALUE, got {setting!r}")
        if parameter not in allowed:
            parser.error(f"argument {option}: must be one of {', '.join(allowed)} for {name}, got {parameter!r}")
        values[parameter] = _weights_of_classes(value) if parameter == "class_weight" else _value(value)
    learner = cls(**algorithm.selects, **values, dtype=dtype)
    try:
        access.check_parameters(learner)
    except ValueError as error:
        parser.error(f"argument {option}: {error}")
    return learner


def algorithm_of(learner) -> str:
    learner = access.learner_of(learner)
    return _kernel_algorithm(learner) if is_kernel(learner) else access.algorithm_of(learner).name


def _kernel_algorithm(learner) -> str:
    """The linear learner of the same updates."""
    name = learner.algorithm
    if name == "pa":
        name = "pa2" if learner.loss.startswith("squared") else "pa1"
    return f"{name}_regression" if is_regressor(learner) else name


def is_wrapped(learner) -> bool:
    """Whether it is an `OnlineToBatch`."""
    return access.learner_of(learner) is not learner


def is_kernel(learner) -> bool:
    """Whether it is a kernel learner, or wraps one."""
    return hasattr(access.learner_of(learner), "n_support_")


def own_parameters(learner) -> dict:
    """The parameters of its algorithm, as JSON can hold them (infinity as text)."""
    learner = access.learner_of(learner)
    own = _KERNEL if is_kernel(learner) else access.algorithm_of(learner).params
    values = {name: getattr(learner, name) for name in own}
    return {name: str(value) if value in (float("inf"), -float("inf")) else value for name, value in values.items()}


def labels_of(learner, classes: list[str] | None = None) -> str:
    """What `streams.read` is to make of labels for a learner. classes : those of `--classes`."""
    if is_regressor(learner):
        return "number"
    if learner.__sklearn_is_fitted__():
        return "str" if learner.classes_.dtype.kind in "US" else "number"
    return "first" if classes is None or all(_number_of(label) is not None for label in classes) else "str"


def _number_of(text) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def as_labels(given: list, y) -> list:
    """Labels of the command line as those of a stream are: numbers, if they are."""
    if y.dtype.kind == "U":
        return given
    numbers = [_number_of(label) for label in given]
    if None in numbers:
        strange = given[numbers.index(None)]
        raise ValueError(f"the labels of the data are numbers, got {strange!r} on the command line. Give numbers for classes.")
    return numbers


def found(learner, counts: tuple) -> dict:
    """The counters and the errors, for JSON."""
    if is_regressor(learner):
        errors = {"progressive_mse": _mean(counts, 2), "progressive_mae": _mean(counts, 3)}
    else:
        errors = {"mistakes": counts[2], "progressive_error": _mean(counts, 2)}
    return {"examples": counts[0], **errors, "updates": counts[1]}


def _mean(counts: tuple, which: int) -> float | None:
    return counts[which] / counts[0] if counts[0] else None


def shown(error: float | None, learner) -> str:
    """A share of mistakes, or a mean squared or absolute error."""
    if error is None:
        return "-"
    return f"{error:.5g}" if is_regressor(learner) else f"{100 * error:.2f} %"


@dataclass
class Run:
    """A learner on its way through the stream; counts are of this pass. classes : those of `--classes`, or None."""

    name: str
    learner: object
    classes: list | None = None
    seconds: float = 0.0
    start: tuple = ()
    points: list = field(default_factory=list)  # (*counts, seconds)
    last: tuple = ()  # counts at the last line

    def __post_init__(self):
        self.begin()

    def begin(self) -> None:
        self.start, self.points = counts_of(self.learner), []
        self.last = (0,) * len(self.start)

    def know_labels(self, y) -> None:
        """Before the first rows: labels of the command line become those of the data."""
        class_weight = getattr(self.learner, "class_weight", None)
        if isinstance(class_weight, dict) and not self.learner.__sklearn_is_fitted__():
            self.learner.set_params(class_weight=dict(zip(as_labels(list(class_weight), y), class_weight.values(), strict=True)))
        if self.classes is not None:
            self.classes = as_labels(self.classes, y)

    def learn(self, X, y, weight) -> None:
        began, more = time.perf_counter(), {}
        if self.classes is not None and not self.learner.__sklearn_is_fitted__():
            more["classes"] = self.classes
        self.learner.partial_fit(X, y, sample_weight=weight, **more)
        self.seconds += time.perf_counter() - began
        self.points.append((*self.counts, self.seconds))

    @property
    def counts(self) -> tuple:
        return tuple(now - then for now, then in zip(counts_of(self.learner), self.start, strict=True))

    @property
    def error(self) -> float | None:
        """Share of mistakes, or mean squared error."""
        return _mean(self.counts, 2)

    def headings(self) -> str:
        if is_regressor(self.learner):
            return f"{'mse':>11} {'since last':>11} {'mae':>11}"
        return f"{'mistakes':>12} {'error':>11} {'since last':>11}"

    def columns(self) -> str:
        """Of a line, below the headings."""
        counts, learner = self.counts, self.learner
        since = tuple(now - then for now, then in zip(counts, self.last, strict=True))
        self.last = counts
        errors = f"{shown(_mean(counts, 2), learner):>11} {shown(_mean(since, 2), learner):>11}"
        return f"{errors} {shown(_mean(counts, 3), learner):>11}" if is_regressor(learner) else f"{counts[2]:>12,} {errors}"


def summary(learner, counts: tuple) -> str:
    if is_regressor(learner):
        return f"mse {shown(_mean(counts, 2), learner)}, mae {shown(_mean(counts, 3), learner)}"
    return f"{counts[2]:,} mistakes ({shown(_mean(counts, 2), learner)})"


def skipped(n: int, reasons: tuple) -> str:
    return "\n".join([f"{n:,} malformed line{'s' * (n > 1)} skipped; the last:", *map(escaped, reasons)])


class Part(NamedTuple):
    """Rows that are being learnt, in the place of which the model may be."""

    number: int = 0  # of the pass, from 0
    before: int = 0  # rows of the pass that were learnt before it
    t: int = 0  # the learner's rows of weight > 0 then
    X: object = None
    live: object = None  # whether each row is of weight > 0; None if all are

    def learnt(self, t: int) -> int:
        """How many of its rows a learner of so many rows of weight > 0 has learnt."""
        done = t - self.t
        if self.X is None or done == 0:
            return 0
        if self.live is None:
            return done
        n_live = self.live.cumsum()
        return len(n_live) if done == n_live[-1] else int(n_live.searchsorted(done)) + 1


@dataclass
class Reading:
    """What has been read, over all passes, and where in its pass the learner is."""

    features: int = 0
    bytes: int = 0
    skipped: int = 0
    reasons: tuple = ()
    part: Part = field(default_factory=Part)

    def begin(self, number: int, before: int, t: int) -> None:
        """A pass, `before` rows of which are left out."""
        self.part = Part(number, before, t)

    def place(self, t: int) -> dict:
        """The pass, and its rows that have been learnt. (Ctrl-C may come anywhere: the learner's own counter tells.)"""
        return {"pass": self.part.number + 1, "row": self.part.before + self.part.learnt(t)}

    def end_part(self, t: int, whole: bool = False) -> None:
        part = self.part
        done = part.X.shape[0] if whole else part.learnt(t)
        self.part = Part(part.number, part.before + done, t)  # (one step: an interrupt comes before it or behind it)
        self.features += 0 if part.X is None else part_of(part.X, 0, done).nnz


def learn(stream, runs: list[Run], progress: Progress, reading: Reading, line, after_batch=lambda: None) -> None:
    """One pass of the learners over a stream, or over what is left of it. after_batch() is called where the model is whole."""
    from ..streams import MalformedLineError

    before, learner = (reading.bytes, reading.skipped), runs[0].learner
    with stream:
        try:
            for X, y, weight in _from_row(stream, reading.part.before):
                if progress.rows == 0 and not is_regressor(learner):
                    for run in runs:
                        run.know_labels(y)
                        _require_classes(run, X, y)
                for start, stop, marked in progress.cuts(len(y)):
                    _learn_part(runs, reading, part_of(X, start, stop), y[start:stop], _cut(weight, start, stop))
                    if marked:
                        progress.say(line())
                if progress.is_due():
                    progress.say(line())
                progress.show(stream, shown(min((run.error for run in runs if run.error is not None), default=None), learner))
                after_batch()
        except MalformedLineError as error:
            if is_regressor(learner) and error.parameter == "label":
                raise ValueError(f"{error}. {runs[0].name} learns numbers; for classes take a classifier, arow say.") from None
            raise
        finally:
            progress.close()
            reading.end_part(counts_of(learner)[0])
            reading.bytes, reading.skipped = before[0] + stream.bytes_read, before[1] + stream.n_skipped
            reading.reasons = stream.skipped


def _learn_part(runs: list[Run], reading: Reading, X, y, weight) -> None:
    learner = runs[0].learner
    reading.part = reading.part._replace(X=X, live=_live(learner, y, weight))
    for run in runs:
        run.learn(X, y, weight)
    reading.end_part(counts_of(learner)[0], whole=True)


def _live(learner, y, weight):
    class_weight = getattr(learner, "class_weight", None)
    live = None if weight is None else weight > 0.0
    if isinstance(class_weight, dict) and 0 in class_weight.values():
        silent = np.isin(y, [label for label, value in class_weight.items() if value == 0])
        live = ~silent if live is None else live & ~silent
    return live


def _cut(weight, start: int, stop: int):
    return None if weight is None else weight[start:stop]


def _from_row(stream, n_left_out: int):
    """The batches of a stream without its first rows."""
    for X, y, weight in stream.batches_of_rows():
        n = min(n_left_out, len(y))
        n_left_out -= n
        if n < len(y):
            yield (X, y, weight) if n == 0 else (part_of(X, n, len(y)), y[n:], _cut(weight, n, len(y)))


def require_memory(option: str, learner, n_features: int, n_classes: int, dtype) -> None:
    """Refuse a model that would not fit before any of it is allocated, and say what would."""
    available = available_memory()
    needed = access.model_bytes(learner, n_features, n_classes, dtype)
    if needed <= available:
        return
    raise ValueError(
        f"{option}the model must fit in memory, got {n_classes} classes x {n_features:,} columns, {needed / 1e9:,.1f} GB, where "
        f"{available / 1e9:,.1f} GB are free. --bits {_most_bits(learner, n_classes, dtype, available)} would fit."
    )


def _most_bits(learner, n_classes: int, dtype, available: float) -> int:
    """With which a model fits."""
    return next((bits for bits in range(40, 0, -1) if access.model_bytes(learner, 1 << bits, n_classes, dtype) <= available), 1)


def _require_classes(run: Run, X, y) -> None:
    """Refuse labels that are probably targets of a regression: each class has weights of its own; so many fill the memory."""
    labels = set(y.tolist())
    if run.learner.__sklearn_is_fitted__():
        labels -= set(run.learner.classes_.tolist())
    if len(labels) <= _MANY_CLASSES:
        return
    # The model is copied when classes join.
    needed, fraction = 2 * access.model_bytes(run.learner, X.shape[1], len(labels), X.data.dtype), _fraction(labels)
    available = available_memory()
    if fraction is not None or needed > available:
        why = f"{fraction} for one" if fraction is not None else f"{needed / 1e9:.0f} GB"
        bits = _most_bits(run.learner, 2 * len(labels), X.data.dtype, available)
        fits = "" if fraction is not None else f" (--bits {bits} fits)"
        raise ValueError(
            f"{run.name} must have labels that are classes, got {len(labels)} new ones in the first {len(y):,} rows, {why}. "
            "For targets that are numbers take a regression algorithm, arow_regression say; for so many classes fewer --bits"
            f"{fits}."
        )


def _fraction(labels: set):
    """One of the labels that is no integer, if all are numbers."""
    try:
        values = {float(label): label for label in labels}
    except ValueError:
        return None
    return next((values[value] for value in sorted(values) if value % 1 > 0), None)
