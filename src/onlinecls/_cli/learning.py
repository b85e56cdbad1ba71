"""Makes learners from options and runs them over a stream."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import onlinecls

from .._estimators import access
from .._estimators.access import counts_of
from .._estimators.regressor import OnlineRegressor
from .._input.escaping import escaped
from .._input.rows import part_of
from .._input.validate import available_memory
from .._registry import ALGORITHMS
from .progress import Progress

CLASSIFIERS = tuple(name for name, algorithm in ALGORITHMS.items() if "binary" in algorithm.tasks)
REGRESSORS = tuple(name for name, algorithm in ALGORITHMS.items() if "regression" in algorithm.tasks)
_COMMON = ("average", "class_weight", "covariance", "fit_intercept", "intercept_scaling", "multi_class")
_MANY_CLASSES = 50  # with more new labels than this in a batch, `_require_classes` looks at them


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


def made(parser, option: str, name: str, settings: list[str], dtype: str):
    """The estimator of an algorithm and its parameters, all checked."""
    algorithm = ALGORITHMS[name]
    cls = getattr(onlinecls, algorithm.estimator)
    allowed = [*algorithm.params, *(p for p in _COMMON if p in access.parameter_names(cls))]
    values = {}
    for setting in settings:
        parameter, equals, value = setting.partition("=")
        if not equals:
            parser.error(f"argument {option}: must be NAME=VALUE, got {setting!r}")
        if parameter not in allowed:
            parser.error(f"argument {option}: must be one of {', '.join(allowed)} for {name}, got {parameter!r}")
        values[parameter] = _value(value)
    learner = cls(**algorithm.selects, **values, dtype=dtype)
    try:
        access.check_parameters(learner)
    except ValueError as error:
        parser.error(f"argument {option}: {error}")
    return learner


def algorithm_of(learner) -> str:
    return access.algorithm_of(learner).name


def own_parameters(learner) -> dict:
    """The parameters of its algorithm, as JSON can hold them (infinity as text)."""
    own = access.algorithm_of(learner).params
    values = {name: getattr(learner, name) for name in own}
    return {name: str(value) if value in (float("inf"), -float("inf")) else value for name, value in values.items()}


def is_regressor(learner) -> bool:
    return isinstance(learner, OnlineRegressor)


def labels_of(learner) -> str:
    """What `streams.read` is to make of labels for a learner."""
    return "number" if is_regressor(learner) else "auto"


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
    """A learner on its way through the stream; counts are of this pass."""

    name: str
    learner: object
    seconds: float = 0.0
    start: tuple = ()
    points: list = field(default_factory=list)  # (*counts, seconds)
    last: tuple = ()  # counts at the last line

    def __post_init__(self):
        self.begin()

    def begin(self) -> None:
        self.start, self.points = counts_of(self.learner), []
        self.last = (0,) * len(self.start)

    def learn(self, X, y, weight) -> None:
        began = time.perf_counter()
        self.learner.partial_fit(X, y, sample_weight=weight)
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


@dataclass
class Reading:
    """What has been read, over all passes."""

    features: int = 0
    bytes: int = 0
    skipped: int = 0
    reasons: tuple = ()


def learn(stream, runs: list[Run], progress: Progress, reading: Reading, line) -> None:
    """One pass of the learners over a stream."""
    from ..streams import MalformedLineError

    before, learner = (reading.features, reading.bytes, reading.skipped), runs[0].learner
    with stream:
        try:
            for X, y, weight in stream.batches_of_rows():
                if progress.rows == 0 and not is_regressor(learner):
                    for run in runs:
                        _require_classes(run, X, y)
                for start, stop, marked in progress.cuts(len(y)):
                    part = part_of(X, start, stop)
                    for run in runs:
                        run.learn(part, y[start:stop], None if weight is None else weight[start:stop])
                    reading.features += part.nnz
                    if marked:
                        progress.say(line())
                error = min((run.error for run in runs if run.error is not None), default=None)
                progress.show(stream, shown(error, learner))
        except MalformedLineError as error:
            if is_regressor(learner) and "number for a label" in str(error):
                raise ValueError(f"{error}. {runs[0].name} learns numbers; for classes take a classifier, arow say.") from None
            raise
        finally:
            progress.close()
            reading.bytes, reading.skipped = before[1] + stream.bytes_read, before[2] + stream.n_skipped
            reading.reasons = stream.skipped


def _require_classes(run: Run, X, y) -> None:
    """Refuse labels that are probably targets of a regression: each class has weights of its own; so many fill the memory."""
    labels = set(y.tolist())
    if run.learner.__sklearn_is_fitted__():
        labels -= set(run.learner.classes_.tolist())
    if len(labels) <= _MANY_CLASSES:
        return
    copies = 4 if hasattr(type(run.learner), "covariance_") else 2  # of each weight: the model is copied when classes join
    needed, fraction = len(labels) * X.shape[1] * X.data.itemsize * copies, _fraction(labels)
    if fraction is not None or needed > available_memory():
        why = f"{fraction} for one" if fraction is not None else f"{needed / 1e9:.0f} GB"
        raise ValueError(
            f"{run.name} must have labels that are classes, got {len(labels)} new ones in the first {len(y):,} rows, {why}. "
            "For targets that are numbers take a regression algorithm, arow_regression say; for so many classes fewer --bits."
        )


def _fraction(labels: set):
    """One of the labels that is no integer, if all are numbers."""
    try:
        values = {float(label): label for label in labels}
    except ValueError:
        return None
    return next((values[value] for value in sorted(values) if value % 1 > 0), None)
