"""The command line: `onlinecls train`, `predict`, `inspect`, `compare`. Options are read here, rows by `streams`, learnt by the
estimators; a model's file carries in its metadata how its rows were read."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from dataclasses import dataclass, field

from . import __version__
from ._progress import Progress
from ._registry import ALGORITHMS

_OK, _BAD_DATA, _USAGE, _INTERRUPTED, _BROKEN_PIPE = 0, 1, 2, 130, 141  # the last two as shells report SIGINT and SIGPIPE
_CLASSIFIERS = tuple(name for name, algorithm in ALGORITHMS.items() if "binary" in algorithm.tasks)
_COMMON = ("average", "class_weight", "covariance", "fit_intercept", "intercept_scaling", "multi_class")
_FORMATS = ("auto", "svmlight", "vw", "tsv", "csv", "jsonl", "parquet", "arrow")
_OTHER_COLUMNS = ("svmlight", "vw")  # formats whose columns mean something else than those of texts and tables

_DESCRIPTION = """\
Learn a stream of text or sparse rows in one pass, in memory that does not grow with it.

  onlinecls train mail.tsv --save mail.model         learn; lines show the error so far
  onlinecls predict mail.model new.tsv > labels      one label a line
  onlinecls inspect mail.model mail.tsv              what was learnt, in words
  onlinecls compare mail.tsv --algorithms arow pa1   several learners, one reading

Data: label<TAB>text, CSV, JSON lines, svmlight, Vowpal Wabbit, Parquet, Arrow; gzip, bzip2, xz, Zstandard; - is standard input.
"""
_EXIT_CODES = """\
Exit codes: 0 done; 1 bad data or a bad file; 2 wrong usage; 130 interrupted (Ctrl-C); 141 nobody reads the output any more.
"""
_TRAIN = """\
examples:
  onlinecls train spam.tsv --save spam.model
      AROW on hashed words, 2^20 columns; a line when the number of examples has doubled
  zcat 2024-*.tsv.gz | onlinecls train - --ngrams 1 2 --bits 22 --save spam.model
      words and pairs of words, from a pipe
  onlinecls train monday.vw tuesday.vw --algorithm pa1 --param C=0.1 --save vw.model
  onlinecls train reviews.csv --label stars --text review --on-error skip --test held-out.csv
  onlinecls train wednesday.tsv --resume spam.model --save spam.model
      as if the stream had never stopped: the same model, bit for bit

The error so far is progressive: each example is predicted before its label is learnt, so it is an honest estimate without any
data held out. With --passes only the first pass counts. Ctrl-C ends learning; with --save what was learnt until then is saved.

"""
_PREDICT = """\
examples:
  onlinecls predict spam.model new.tsv > labels
  onlinecls predict spam.model new.tsv --scores | sort -t"$(printf '\\t')" -k2g | tail
  tail -f mail.log | onlinecls predict spam.model - --format tsv

Data with and without labels can be read; labels are not looked at.

"""
_INSPECT = """\
examples:
  onlinecls inspect spam.model                   needs --names N in training to show words
  onlinecls inspect spam.model spam.tsv          or data, whose words are looked up
  onlinecls inspect spam.model --json --top 50

A weight w ± s of a word: its presence adds about w to the score of the class; s is the standard deviation that second-order
learners keep of it, small where the word was met often. "shared": other words have the same column, so the weight is theirs too.

"""
_COMPARE = """\
examples:
  onlinecls compare spam.tsv --algorithms arow pa1 perceptron
  onlinecls compare spam.tsv --algorithms arow:r=0.01 arow:r=0.1 arow:r=1 --plot curves.png

"""


class _Parser(argparse.ArgumentParser):
    def __init__(self, **options):
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False, **options)


def _bits(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 40:
        raise argparse.ArgumentTypeError(f"must be an integer in 1..40, got {text!r}")
    return int(text)


def _at_least(low: int):
    def whole(text: str) -> int:
        if not text.isdecimal() or int(text) < low:
            raise argparse.ArgumentTypeError(f"must be an integer >= {low}, got {text!r}")
        return int(text)

    return whole


def _data_options(parser, trains: bool) -> None:
    group = parser.add_argument_group("data")
    group.add_argument("--format", choices=_FORMATS, default="auto", help="by default seen from the name or the first lines")
    group.add_argument("--label", metavar="COLUMN", help="of CSV, JSON lines, Parquet, Arrow (label)")
    group.add_argument("--text", metavar="COLUMN", help="of texts (text, if there is one; else the table is numbers)")
    if trains:
        group.add_argument("--weights", metavar="COLUMN", help="of example weights >= 0 (none)")
    group.add_argument("--delimiter", metavar="C", help="of CSV (,)")
    group.add_argument("--no-header", action="store_true", default=None, help="CSV without a header: columns by number, from 0")
    group.add_argument("--threads", type=_at_least(1), metavar="N", help="that parse files (as many as processors, 4 at most)")
    group.add_argument("--on-error", choices=("raise", "skip"), default="raise", help="a malformed line: stop, or count and skip")


def _hashing_options(parser) -> None:
    group = parser.add_argument_group("features")
    group.add_argument("--bits", type=_bits, metavar="N", help="2^N columns (20)")
    group.add_argument("--ngrams", type=_at_least(1), nargs=2, metavar=("MIN", "MAX"), help="lengths of n-grams (1 1)")
    group.add_argument("--analyzer", choices=("word", "char", "char_wb"), help="n-grams of words, or of characters (word)")
    group.add_argument("--dtype", choices=("float32", "float64"), help="of rows and weights (float32)")


def _output_options(parser, lines: bool = True) -> None:
    group = parser.add_argument_group("output")
    if lines:
        group.add_argument("--every", type=_at_least(1), metavar="N", help="a line every N examples (when they have doubled)")
    group.add_argument("--quiet", action="store_true", help="no lines, no bar on standard error")
    group.add_argument("--json", action="store_true", help="one JSON object on standard output at the end")


def _parser() -> _Parser:
    parser = _Parser(prog="onlinecls", description=_DESCRIPTION, epilog=_EXIT_CODES)
    parser.add_argument("--version", action="version", version=f"onlinecls {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(name, run, help, epilog):
        made = commands.add_parser(name, help=help, description=help[0].upper() + help[1:] + ".", epilog=epilog + _EXIT_CODES)
        made.set_defaults(run=run, parser=made)
        return made

    train = command("train", _train, "learn a model from a stream, once through", _TRAIN)
    train.add_argument("data", nargs="+", metavar="DATA", help="files of one format; - is standard input")
    group = train.add_argument_group("learner")
    group.add_argument("--algorithm", choices=_CLASSIFIERS, metavar="NAME", help=f"(arow) one of {', '.join(_CLASSIFIERS)}")
    group.add_argument("--param", action="append", metavar="NAME=VALUE", help="of the algorithm: r=0.5; may be repeated")
    group.add_argument("--passes", type=_at_least(1), default=1, metavar="N", help="times through the files (1)")
    group.add_argument("--resume", metavar="MODEL", help="go on with a saved model: learner and features are its own")
    _data_options(train, trains=True)
    _hashing_options(train)
    _output_options(train)
    train.add_argument("--save", metavar="MODEL", help="where the model goes; the old file stays until the new one is whole")
    train.add_argument("--names", type=_at_least(2), metavar="N", help="keep the names of up to N columns (none: slower)")
    train.add_argument("--test", metavar="FILE", nargs="+", help="count mistakes on these files after learning")

    predict = command("predict", _predict, "predict the labels of a stream, one a line", _PREDICT)
    predict.add_argument("model", metavar="MODEL")
    predict.add_argument("data", nargs="+", metavar="DATA")
    predict.add_argument("--scores", action="store_true", help="scores behind each label, tabs between, a header line first")
    _data_options(predict, trains=False)
    predict.add_argument("--quiet", action="store_true", help="no bar on standard error")

    inspect = command("inspect", _inspect, "show what a model is and what it has learnt", _INSPECT)
    inspect.add_argument("model", metavar="MODEL")
    inspect.add_argument("data", nargs="*", metavar="DATA", help="texts whose words name the columns")
    inspect.add_argument("--top", type=_at_least(1), default=10, metavar="K", help="features of each class (10)")
    inspect.add_argument("--json", action="store_true", help="one JSON object instead of text")
    _data_options(inspect, trains=False)

    compare = command("compare", _compare, "race several learners over one reading of a stream", _COMPARE)
    compare.add_argument("data", nargs="+", metavar="DATA")
    compare.add_argument(
        "--algorithms", nargs="+", default=["arow", "pa1", "perceptron"], metavar="NAME[:P=V,...]",
        help=f"(arow pa1 perceptron) of {', '.join(_CLASSIFIERS)}",
    )  # fmt: skip
    compare.add_argument("--plot", metavar="FILE", help="learning curves as a picture (needs matplotlib)")
    _data_options(compare, trains=True)
    _hashing_options(compare)
    _output_options(compare)
    return parser


def main(argv: list[str] | None = None) -> int:
    """Run the command line; the exit code."""
    try:
        options = _parser().parse_args(argv)
        sys.setswitchinterval(5e-4)  # the threads of a stream hold the interpreter for less: 5 ms is long to wait for it
        code = options.run(options)
        sys.stdout.flush()
        return code
    except SystemExit as end:  # argparse has said what there is to say
        return end.code
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or the interpreter complains when it flushes at exit
        return _BROKEN_PIPE
    except KeyboardInterrupt:
        return _INTERRUPTED
    except (ValueError, TypeError, OSError, ImportError) as error:
        print(f"onlinecls {options.command}: {_message(error)}", file=sys.stderr)
        return _BAD_DATA


def _message(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{os.fsdecode(error.filename)}: {error.strerror}"
    return str(error)


# --- what is read, and how ------------------------------------------------------------------------------------------------------


@dataclass
class _Input:
    """How files become rows; what a model's metadata keeps of it, so that its next rows are made alike."""

    n_features: int = 1 << 20
    ngrams: tuple = (1, 1)
    analyzer: str = "word"
    dtype: str = "float32"
    label: str | None = None
    text: str | None = None
    weights: str | None = None
    delimiter: str = ","
    header: bool = True
    trained_on: str | None = None  # the format
    hashes: bool = True  # False: a model that says nothing of how its texts were hashed
    names: object = field(default=None, repr=False)

    _KEPT = ("n_features", "ngrams", "analyzer", "dtype", "label", "text", "weights", "delimiter", "header", "trained_on")

    @classmethod
    def from_options(cls, options) -> _Input:
        """As the command line says, defaults where it says nothing."""
        found = cls(1 << (20 if options.bits is None else options.bits)).told(options)
        if options.ngrams is not None:
            if options.ngrams[0] > options.ngrams[1]:
                options.parser.error(f"argument --ngrams: MIN must not be more than MAX, got {options.ngrams}")
            found.ngrams = tuple(options.ngrams)
        found.analyzer, found.dtype = options.analyzer or found.analyzer, options.dtype or found.dtype
        return found

    @classmethod
    def from_model(cls, learner, metadata: dict, options) -> _Input:
        """As a model's rows were read, but for where the command line says otherwise."""
        told = metadata.get("input")
        if told is None:
            found = cls(learner.n_features_in_, dtype=str(learner.coef_.dtype), hashes=False)
        else:
            try:
                found = cls(**{name: told[name] for name in cls._KEPT})
                texts = found.label, found.text, found.weights, found.trained_on, found.delimiter
                if not all(text is None or isinstance(text, str) for text in texts) or not isinstance(found.header, bool):
                    raise TypeError("names that are no texts")
                found.ngrams = tuple(found.ngrams)
                found.names = _unpacked_names(metadata.get("names"))
                found.vectorizer().fit([])
            except (KeyError, TypeError, AttributeError, ValueError) as error:
                raise ValueError(
                    f"{options.model!r} must say in its metadata how its rows were read, got what train does not write ({error})."
                ) from None
        return found.told(options)

    def told(self, options) -> _Input:
        for name in ("label", "text", "weights", "delimiter"):
            if getattr(options, name, None) is not None:
                setattr(self, name, getattr(options, name))
        if options.no_header is not None:
            self.header = False
        return self

    def metadata(self) -> dict:
        kept = {name: getattr(self, name) for name in self._KEPT}
        found = {"input": {**kept, "ngrams": list(self.ngrams)}}
        return found if self.names is None else {**found, "names": _packed_names(self.names)}

    def vectorizer(self):
        from .text import HashingVectorizer

        if not self.hashes:
            return _NoHashing(self.n_features)
        return HashingVectorizer(
            n_features=self.n_features, ngram_range=self.ngrams, analyzer=self.analyzer, dtype=self.dtype,
            feature_names=self.names,
        )  # fmt: skip

    def open(self, data, options, labels="auto"):
        from .streams import read

        stream = read(
            data, options.format, labels=labels, dtype=self.dtype, vectorizer=self.vectorizer(),
            label=self._column(self.label), text=self._column(self.text),
            weight=self._column(self.weights) if labels is not None else None,
            delimiter=self.delimiter, header=self.header, on_error=options.on_error, threads=options.threads or _threads(),
        )  # fmt: skip
        formats = {self.trained_on or stream.format, stream.format}
        if len(formats) > 1 and formats.intersection(_OTHER_COLUMNS):
            stream.close()
            raise ValueError(
                f"{data[0]}: the model has learnt from {self.trained_on}, whose columns are not those of {stream.format}. "
                f"Give it {self.trained_on}."
            )
        return stream

    def _column(self, name: str | None):
        return name if self.header or name is None else int(name)


def _threads() -> int:
    """Hashing takes seven times as long as learning: more than four threads would wait for the learner."""
    return min(4, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


class _NoHashing:
    """Stands for the vectorizer of a model that says nothing of one: fine until there is a text."""

    def __init__(self, n_features: int):
        self.n_features = n_features

    def transform(self, texts):
        raise ValueError(
            "the model must say how its texts were hashed, got a file without that (saved in Python, not by onlinecls train). "
            "Predict with the vectorizer that it was trained with, in Python."
        )


def _packed_names(names) -> dict:
    from base64 import b64encode

    state = names.__getstate__()
    return {"max_names": state["max_names"], "sketch": b64encode(state["sketch"]).decode()}


def _unpacked_names(told: dict | None):
    from base64 import b64decode

    from .text import FeatureNames

    if told is None:
        return None
    names = FeatureNames(told["max_names"])
    names.__setstate__({**told, "sketch": b64decode(told["sketch"], validate=True)})
    if len(names) > names.max_names:
        raise ValueError(f"more than {names.max_names} names")
    return names


def _loaded(path, options) -> tuple[object, dict, _Input]:
    from . import load
    from ._classifier import OnlineClassifier

    learner, metadata = load(path, return_metadata=True)
    if not isinstance(learner, OnlineClassifier):
        raise ValueError(f"{path!r} must be a classifier, got {type(learner).__name__}. Use it in Python: onlinecls.load.")
    options.model = path
    return learner, metadata, _Input.from_model(learner, metadata, options)


def _require_place(options, name: str) -> None:
    """A file that cannot be written is better known now than hours later."""
    path = getattr(options, name)
    if path is None:
        return
    folder = os.path.dirname(os.path.realpath(path))
    if os.path.isdir(path) or not os.path.isdir(folder) or not os.access(folder, os.W_OK):
        options.parser.error(f"argument --{name}: must be a file in a folder that can be written to, got {path!r}")


# --- learners -------------------------------------------------------------------------------------------------------------------


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


def _made(parser, option: str, name: str, settings: list[str], dtype: str):
    """The estimator of an algorithm and its parameters, all checked."""
    import onlinecls

    algorithm = ALGORITHMS[name]
    cls = getattr(onlinecls, algorithm.estimator)
    allowed = [*algorithm.params, *(p for p in _COMMON if p in cls._parameter_names())]
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
        learner._kernel_params()
    except ValueError as error:
        parser.error(f"argument {option}: {error}")
    return learner


@dataclass
class _Run:
    """A learner on its way through the stream; counts are of this pass."""

    name: str
    learner: object
    seconds: float = 0.0
    start: tuple = (0, 0, 0)
    points: list = field(default_factory=list)  # (examples, mistakes, updates, seconds)
    last: tuple = (0, 0)  # examples and mistakes at the last line

    def begin(self) -> None:
        self.start, self.points, self.last = self._counts(), [], (0, 0)

    def _counts(self) -> tuple:
        learner = self.learner
        return (learner.t_, learner.n_mistakes_, learner.n_updates_) if learner.__sklearn_is_fitted__() else (0, 0, 0)

    def learn(self, X, y, weight) -> None:
        began = time.perf_counter()
        self.learner.partial_fit(X, y, sample_weight=weight)
        self.seconds += time.perf_counter() - began
        self.points.append((*self.counts, self.seconds))

    @property
    def counts(self) -> tuple:
        """Examples (rows of weight > 0), mistakes and updates."""
        return tuple(now - then for now, then in zip(self._counts(), self.start, strict=True))

    @property
    def error(self) -> float | None:
        examples, mistakes, _ = self.counts
        return mistakes / examples if examples else None

    def since_last(self) -> float | None:
        examples, mistakes, _ = self.counts
        before, self.last = self.last, (examples, mistakes)
        return (mistakes - before[1]) / (examples - before[0]) if examples > before[0] else None


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.2f} %"


def _skipped(n: int, reasons: tuple) -> str:
    return "\n".join([f"{n:,} malformed line{'s' * (n > 1)} skipped; the last:", *reasons])


@dataclass
class _Reading:
    """What has been read, over all passes."""

    features: int = 0
    bytes: int = 0
    skipped: int = 0
    reasons: tuple = ()


def _learn(stream, runs: list[_Run], progress: Progress, reading: _Reading, line) -> None:
    """One pass of the learners over a stream."""
    from ._evaluation import _rows

    before = reading.features, reading.bytes, reading.skipped
    with stream:
        try:
            for X, y, weight in stream._rows():
                for start, stop, marked in progress.cuts(len(y)):
                    part = _rows(X, start, stop)
                    for run in runs:
                        run.learn(part, y[start:stop], None if weight is None else weight[start:stop])
                    reading.features += part.nnz
                    if marked:
                        progress.say(line())
                progress.show(stream, _percent(min((r.error for r in runs if r.error is not None), default=None)))
        finally:
            progress.close()
            reading.bytes, reading.skipped = before[1] + stream.bytes_read, before[2] + stream.n_skipped
            reading.reasons = stream.skipped


# --- train ----------------------------------------------------------------------------------------------------------------------


def _train(options) -> int:
    parser = options.parser
    if options.passes > 1 and "-" in options.data:
        parser.error("argument --passes: must be 1 for standard input, which cannot be read again")
    _require_place(options, "save")
    if options.resume is not None:
        own = ("algorithm", "param", "bits", "ngrams", "analyzer", "dtype", "names")
        given = next((name for name in own if getattr(options, name) is not None), None)
        if given:
            parser.error(f"argument --{given}: must be left out with --resume, which goes on with the model's own")
        learner, metadata, inputs = _loaded(options.resume, options)
        name = _algorithm_of(learner)
    else:
        metadata, inputs, name = {}, _Input.from_options(options), options.algorithm or "arow"
        learner = _made(parser, "--param", name, options.param or [], inputs.dtype)
        if options.names is not None:
            from .text import FeatureNames

            inputs.names = FeatureNames(options.names)
    run, reading, progress = _Run(name, learner), _Reading(), Progress(options.quiet, options.every)

    def line() -> str:
        examples, mistakes, _ = run.counts
        return (
            f"{examples:>12,} {progress.seconds:>9.2f} {mistakes:>12,} {_percent(run.error):>11} "
            f"{_percent(run.since_last()):>11} {reading.features:>14,}"
        )

    stream = inputs.open(options.data, options)
    if inputs.names is not None and stream.format in _OTHER_COLUMNS:
        stream.close()
        raise ValueError(f"--names must have texts, whose words are hashed, got {stream.format}. Leave it out.")
    before = run._counts()[0]
    progress.say(f"{learner!r}, 2^{inputs.n_features.bit_length() - 1} columns, from {stream.format}"
                 + (f", going on after {before:,} examples" if before else "")
                 + ("" if options.save else "; the model is not kept (--save)"))  # fmt: skip
    progress.say(f"{'examples':>12} {'seconds':>9} {'mistakes':>12} {'error':>11} {'since last':>11} {'features':>14}")
    first, interrupted = None, False
    try:
        for number in range(options.passes):
            if number:
                progress.say(f"pass {number + 1}")
                progress.restart()
                stream = inputs.open(options.data, options)
            run.begin()
            progress.open(stream, "train")
            try:
                _learn(stream, [run], progress, reading, line)
            finally:
                inputs.trained_on = inputs.trained_on or stream.format
                first = first or (*run.counts, run.error)
    except KeyboardInterrupt:
        interrupted = True
    if run.counts[0] != run.last[0]:
        progress.say(line())
    found = {
        "algorithm": name, "parameters": _own_parameters(learner), "examples": first[0], "mistakes": first[1],
        "progressive_error": first[3], "updates": first[2], "seconds": progress.seconds, "features": reading.features,
        "bytes": reading.bytes, "skipped": reading.skipped, "passes": options.passes, "interrupted": interrupted, "model": None,
    }  # fmt: skip
    speed = f", {reading.bytes / 1e6 / max(progress.seconds, 1e-9):.0f} MB/s" if reading.bytes else ""
    progress.say(f"{first[0]:,} examples, {first[1]:,} mistakes ({_percent(first[3])}), {progress.seconds:.2f} s{speed}")
    if reading.skipped:
        progress.say(_skipped(reading.skipped, reading.reasons))
    learnt = learner.__sklearn_is_fitted__()
    if options.save and learnt:
        learner.save(options.save, {**metadata, **(inputs.metadata() if inputs.hashes else {})})
        found["model"] = options.save
    if interrupted:
        kept = f"saved in {options.save}" if found["model"] else "not saved"
        print(f"onlinecls train: interrupted after {run.counts[0]:,} examples; what was learnt is {kept}.", file=sys.stderr)
    elif not learnt:
        raise ValueError(f"{options.data[0]}: must have an example of weight > 0, got none. There is no model.")
    elif options.test:
        found.update(_tested(learner, inputs, options, progress))
    if found["model"]:
        progress.say(f"saved: {options.save}, {os.path.getsize(options.save) / 1e6:.1f} MB")
    if options.json:
        print(json.dumps(found))
    return _INTERRUPTED if interrupted else _OK


def _tested(learner, inputs: _Input, options, progress: Progress) -> dict:
    examples = mistakes = 0
    with inputs.open(options.test, options) as stream:
        for X, y, _ in stream._rows():
            examples += len(y)
            mistakes += len(y) - round(learner.score(X, y) * len(y))
    error = mistakes / examples if examples else None
    progress.say(f"test: {examples:,} examples, {mistakes:,} mistakes ({_percent(error)})")
    return {"test_examples": examples, "test_mistakes": mistakes, "test_error": error}


def _algorithm_of(learner) -> str:
    from ._registry import algorithms_of, select

    return select(type(learner).__name__, learner.get_params(), algorithms_of(type(learner))).name


def _own_parameters(learner) -> dict:
    """Those of its algorithm, as JSON can say them (infinity as text)."""
    own = ALGORITHMS[_algorithm_of(learner)].params
    values = {name: getattr(learner, name) for name in own}
    return {name: str(value) if value in (float("inf"), -float("inf")) else value for name, value in values.items()}


# --- predict --------------------------------------------------------------------------------------------------------------------


def _shown(label) -> str:
    """A label as text, on one line: 1.0 as 1, as it stands in files."""
    if isinstance(label, float) and label.is_integer():
        label = int(label)
    return str(label).translate({9: "\\t", 10: "\\n", 13: "\\r"})


def _predict(options) -> int:
    learner, _, inputs = _loaded(options.model, options)
    labels = {label: _shown(label) for label in learner.classes_.tolist()}
    progress = Progress(options.quiet or sys.stdout.isatty())
    with inputs.open(options.data, options, labels=None) as stream:
        progress.open(stream, "predict")
        if options.scores:
            scored = list(labels.values())[-1:] if len(labels) < 3 else labels.values()
            print("\t".join(["prediction", *scored]))
        try:
            for X, _, _ in stream._rows():
                lines = [labels[label] for label in learner.predict(X).tolist()]
                if options.scores:
                    scores = learner.decision_function(X).reshape(len(lines), -1).tolist()
                    lines = ["\t".join([line, *map(repr, row)]) for line, row in zip(lines, scores, strict=True)]
                sys.stdout.write("\n".join(lines) + "\n")
                if stream.bytes_total is None:
                    sys.stdout.flush()  # somebody may wait at the other end of the pipe
                progress.show(stream)
        finally:
            progress.close()
        if stream.n_skipped:
            print(_skipped(stream.n_skipped, stream.skipped), file=sys.stderr)
    return _OK


# --- inspect --------------------------------------------------------------------------------------------------------------------


def _inspect(options) -> int:
    learner, _, inputs = _loaded(options.model, options)
    if options.data:
        from .text import FeatureNames

        inputs.names = FeatureNames(1_000_000)
        with inputs.open(options.data, options, labels=None) as stream:
            for _ in stream._rows():
                pass
    names = inputs.names if inputs.names is not None and len(inputs.names) else None
    top = names.top_features(learner, options.top) if names else _top_columns(learner, options.top)
    counts = dict(zip(learner.classes_.tolist(), learner._state.counts.astype(int).tolist(), strict=True))
    about = {
        "model": options.model, "bytes": os.path.getsize(options.model), "estimator": repr(learner),
        "algorithm": _algorithm_of(learner), "parameters": _own_parameters(learner), "dtype": str(learner._state.dtype),
        "examples": learner.t_, "mistakes": learner.n_mistakes_, "updates": learner.n_updates_,
        "classes": {_shown(label): n for label, n in counts.items()}, "features": learner.n_features_in_,
        "input": inputs.metadata()["input"] if inputs.hashes else None,
        "top": {_shown(label): [feature._asdict() for feature in found] for label, found in top.items()},
    }  # fmt: skip
    print(json.dumps(about) if options.json else _page(about))
    return _OK


def _top_columns(learner, k: int) -> dict:
    """As FeatureNames.top_features, by column number."""
    import numpy as np

    from .text._names import Feature, _entry, _labels, _weights

    found = {}
    for c, label in enumerate(_labels(learner)[: None if len(learner.coef_) > 1 else 2]):
        weights, std = _weights(learner, c)
        top = np.argsort(-weights, kind="stable")[:k]
        top = top[weights[top] > 0]
        found[label] = [Feature(f"column {i}", float(weights[i]), _entry(std, i), int(i), False) for i in top.tolist()]
    return found


def _page(about: dict) -> str:
    examples, mistakes, rows = about["examples"], about["mistakes"], "(the file does not say how they were made)"
    error = _percent(mistakes / examples if examples else None)
    if about["input"] is not None:
        rows = "from {trained_on}; texts: {analyzer} n-grams of {ngrams[0]} to {ngrams[1]}".format(**about["input"])
    lines = [
        f"model      {about['model']}, {about['bytes'] / 1e6:.1f} MB, {about['dtype']}",
        f"learner    {about['estimator']}",
        f"algorithm  {about['algorithm']}: {ALGORITHMS[about['algorithm']].paper}",
        f"learnt     {examples:,} examples, {mistakes:,} mistakes ({error}), {about['updates']:,} updates",
        "classes    " + ", ".join(f"{label} {n:,}" for label, n in about["classes"].items()),
        f"columns    {about['features']:,}",
        f"rows       {rows}",
    ]
    for label, features in about["top"].items():
        lines += ["", f"for {label}"]
        for f in features:
            spread = "" if f["std"] is None else f" ± {f['std']:<8.4f}"
            lines.append(f"  {f['weight']:>+9.4f}{spread}  {f['name']}{'  (shared)' if f['shared'] else ''}")
    return "\n".join(lines)


# --- compare --------------------------------------------------------------------------------------------------------------------


def _compare(options) -> int:
    parser = options.parser
    inputs = _Input.from_options(options)
    runs = []
    for spec in options.algorithms:
        name, _, settings = spec.partition(":")
        if name not in _CLASSIFIERS:
            parser.error(f"argument --algorithms: must be of {', '.join(_CLASSIFIERS)}, got {name!r}")
        if spec in (run.name for run in runs):
            parser.error(f"argument --algorithms: must be different ones, got {spec!r} twice")
        runs.append(_Run(spec, _made(parser, "--algorithms", name, settings.split(",") if settings else [], inputs.dtype)))
    axes = _axes(options) if options.plot else None
    width = max(11, *(len(run.name) for run in runs))
    reading, progress = _Reading(), Progress(options.quiet, options.every)

    def line() -> str:
        return f"{runs[0].counts[0]:>12,} {progress.seconds:>9.2f} " + " ".join(f"{_percent(run.error):>{width}}" for run in runs)

    stream = inputs.open(options.data, options)
    progress.say(f"{'examples':>12} {'seconds':>9} " + " ".join(f"{run.name:>{width}}" for run in runs))
    progress.open(stream, "compare")
    _learn(stream, runs, progress, reading, line)
    if not runs[0].counts[0]:
        raise ValueError(f"{options.data[0]}: must have an example of weight > 0, got none. There is nothing to compare.")
    runs.sort(key=lambda run: run.error)
    if reading.skipped:
        progress.say(_skipped(reading.skipped, reading.reasons))
    if axes is not None:
        _draw(runs, axes, options.plot)
    if options.json:
        results = [
            {
                "algorithm": run.name, "estimator": repr(run.learner), "examples": run.counts[0], "mistakes": run.counts[1],
                "progressive_error": run.error, "updates": run.counts[2], "learning_seconds": run.seconds,
            }
            for run in runs
        ]  # fmt: skip
        about = {"seconds": progress.seconds, "features": reading.features, "bytes": reading.bytes, "skipped": reading.skipped}
        print(json.dumps({"results": results, **about, "plot": options.plot}))
    else:
        print(f"{'algorithm':<{width}} {'mistakes':>12} {'error':>9} {'updates':>12} {'learning s':>11}")
        for run in runs:
            _, mistakes, updates = run.counts
            print(f"{run.name:<{width}} {mistakes:>12,} {_percent(run.error):>9} {updates:>12,} {run.seconds:>11.2f}")
    return _OK


def _axes(options):
    """Where the curves will go; what is missing for it is better known now."""
    _require_place(options, "plot")
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


def _draw(runs: list[_Run], axes, path: str) -> None:
    import numpy as np

    from ._evaluation import ProgressiveResult
    from .plotting import ProgressiveDisplay

    results = {}
    for run in runs:
        examples, mistakes, updates, seconds = (np.array(column) for column in zip(*run.points, strict=True))
        rows = examples.astype(float), mistakes.astype(float)  # each counts as one here, whatever its weight
        results[run.name] = ProgressiveResult(examples, mistakes, *rows, updates, seconds, by_row=True)
    ProgressiveDisplay.from_results(results, ax=axes)
    axes.figure.savefig(path)
