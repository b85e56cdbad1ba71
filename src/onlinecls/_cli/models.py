"""Models of the command line: made of options or read from files, with the options of `streams.read` for their rows."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import onlinecls

from .._estimators.learner import SKIPPED, state_of
from .._estimators.saving import load
from .._input import escaped
from .._input.compat import kind_of
from .._pipeline import is_fitted, make_stream_pipeline
from .._registry import select
from ..streams import options_of, read
from ..text import HashingVectorizer
from .options import NAMED

_COMMON = ("average", "class_weight", "covariance", "fit_intercept", "intercept_scaling", "multi_class", "probability", "scale")
_CONSTANTS = {"true": True, "false": False, "none": None}


def _value(text: str) -> Any:
    """Parse the value of a parameter: None, a boolean, a number, a dict of numbers (ham:1,spam:5) or a text."""
    if text.lower() in _CONSTANTS:
        return _CONSTANTS[text.lower()]
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    if ":" not in text:
        return text
    return {name: _value(weight) for name, _, weight in (part.rpartition(":") for part in text.split(","))}


def make_learner(options) -> Any:
    """Make the learner of --algorithm and --param; wrong ones are usage errors."""
    name, error = options.algorithm or "arow", options.parser.error
    algorithm = NAMED[name]
    cls = getattr(onlinecls, algorithm.estimator)
    allowed = [*algorithm.params, *(each for each in _COMMON if each in cls().get_params())]
    values = {"probability": True} if options.probabilities else {}
    for setting in options.param or []:
        parameter, equals, value = setting.partition("=")
        if not equals or parameter not in allowed:
            error(f"argument --param: must be NAME=VALUE, for {name} with one of {', '.join(allowed)}, got {setting!r}")
        values[parameter] = _value(value)
    if options.probabilities and "probability" not in allowed:
        error(f"argument --probabilities: must be left out for {name}, which has none")
    learner = cls(**algorithm.selects, **values, dtype=options.dtype or "float32")
    try:
        algorithm_of(learner)
    except ValueError as problem:
        error(f"argument --param: {problem}")
    return learner


class Model:
    """A learner, the step that makes its rows, and the options of `streams.read` for them.

    step : a TableVectorizer that learns with it, or None; texts are hashed by the reader. whole : what learns and predicts, the
    learner behind its step, if it has one. about : metadata of its first stream. learnt : its format; of Python's models None.
    """

    def __init__(self, learner: Any, step: Any, reading: dict[str, Any], about: dict[str, Any] | None, options: Any):
        self.learner, self.step, self.reading, self.about = learner, step, reading, about
        for name in ("label", "text", "weight", "delimiter", "header"):
            if getattr(options, name, None) is not None:
                reading[name] = getattr(options, name)
        self.format, self.on_error, self.bits = options.format, options.on_error, getattr(options, "bits", None)
        self.whole, self.learnt = learner if step is None else make_stream_pipeline(step, learner), (about or {}).get("format")

    @classmethod
    def new(cls, options) -> Model:
        """Make the model of a command's options."""
        dtype, width = options.dtype or "float32", 1 << (20 if options.bits is None else options.bits)
        least, most = options.ngrams or (1, 1)
        if least > most:
            options.parser.error(f"argument --ngrams: MIN must not be more than MAX, got {options.ngrams}")
        reading: dict[str, Any] = {"n_features": width, "dtype": dtype}
        if width < 2**31:  # (svmlight and VW have more columns)
            reading["vectorizer"] = HashingVectorizer(
                n_features=width, dtype=dtype, ngram_range=(least, most), analyzer=options.analyzer or "word")
        return cls(make_learner(options), None, reading, None, options)

    @classmethod
    def of_file(cls, path: str, options) -> tuple[Model, dict]:
        """Return a saved model and its metadata."""
        model, metadata = load(path, return_metadata=True)
        *steps, learner = [step for _, step in model.steps] if hasattr(model, "steps") else [model]
        if len(steps) > 1 or kind_of(learner) not in ("classifier", "regressor"):
            raise ValueError(f"{path!r} must be a classifier or a regressor, perhaps behind one step, got {model!r}. Use it in "
                             "Python: onlinecls.load.")
        step = steps[0] if steps and hasattr(steps[0], "learn_transform") else None
        if "input" in metadata:
            reading = options_of(metadata)
        elif steps:
            reading = {} if step is not None else {"vectorizer": steps[0]}
        else:
            reading = {"n_features": learner.n_features_in_, "dtype": str(state_of(learner).dtype)}
        return cls(learner, step, reading, metadata.pop("input", None), options), metadata

    def open(self, data: list[str], labels: bool = True) -> Any:
        """Open a stream of files, whose rows must be like those that the model has learnt."""
        is_known = is_fitted(self.learner)
        of_numbers = kind_of(self.learner) == "regressor" or (is_known and state_of(self.learner).classes.dtype.kind == "f")
        wanted = None if not labels else "number" if of_numbers else "auto"
        reading = self.reading if labels else {**self.reading, "weight": None}
        stream = read(data, self.format, labels=wanted, on_error=self.on_error, block_bytes=1 << 21, **reading)
        if self.about is None and not is_known:
            if stream.is_table:
                from ..tables import TableVectorizer

                more = {} if self.bits is None else {"bits": min(self.bits, 30)}
                self.step = TableVectorizer(dtype=self.reading["dtype"], **more)
                self.whole = make_stream_pipeline(self.step, self.learner)
            self.learnt = stream.format
            return stream
        kinds = {self.learnt, stream.format} & {"svmlight", "vw"} if self.learnt else ()
        if (kinds and self.learnt != stream.format) or stream.is_table != (self.step is not None):
            stream.close()
            learnt, came = self.learnt or "Python", f"{stream.format}, {'columns' if stream.is_table else 'texts or vectors'}"
            raise ValueError(f"{data[0]}: rows must be like those of {learnt} that the model has learnt, got {came}.")
        return stream

    def save(self, path: str, stream: Any, more: dict) -> None:
        """Save the model with how its rows were read."""
        about, model = self.about or stream.metadata["input"], self.whole
        if self.step is None and about["vectorizer"] is not None:
            by = self.reading.get("vectorizer") or HashingVectorizer(**about["vectorizer"])
            model = make_stream_pipeline(HashingVectorizer(**by.get_params()), self.learner)
        model.save(path, {"input": {**about, "kinds": stream.metadata["input"]["kinds"]}, **more})


def algorithm_of(learner: Any) -> Any:
    """Return the row of the registry of a learner's algorithm; of an `OnlineToBatch`, that of the one that it wraps."""
    learner = getattr(learner, "estimator_", learner)
    return select(type(learner), learner.get_params())


def shown_label(label: Any) -> str:
    """Write a label as text, escaped for a terminal."""
    return escaped(str(label))


def shown_error(error: float | None, of_numbers: bool) -> str:
    """Format an error: a mean squared or absolute error of numbers, or a share of mistakes in percent."""
    return "-" if error is None else f"{error:.5g}" if of_numbers else f"{100 * error:.2f} %"


def shown_errors(first: Any, second: float | None, of_numbers: bool) -> str:
    """Format the mean squared and absolute error of numbers, or the mistakes and the error of labels."""
    error = shown_error(second, of_numbers)
    return f"mse {shown_error(first, True)}, mae {error}" if of_numbers else f"{int(first):,} mistakes ({error})"


def skipped_rows(learner: Any) -> str:
    """Say how many rows a learner has skipped, as their updates would have left the range of numbers; "" if there are none."""
    n = state_of(learner).count("skipped") if is_fitted(learner) else 0
    return f"{n:,} rows skipped: {SKIPPED} numbers. Standardise the columns, or take another algorithm." if n else ""


def skipped_lines(stream: Any) -> str:
    """Say how many lines were left out, and which were the last; "" if there are none."""
    n = stream.n_skipped
    return "\n".join([f"{n:,} malformed line{'s' * (n > 1)} skipped; the last:", *map(escaped, stream.skipped)] * (n > 0))
