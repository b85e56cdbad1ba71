"""Reading of files into rows, and the part of a model's metadata that describes it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

import numpy as np

from .._estimators.learner import state_of
from .._estimators.saving import load
from .._input import escaped
from .._input.compat import is_regressor, kind_of
from ..streams import options_of, read
from ..text import FeatureNames, HashingVectorizer, parameters_of

HASHED = ("svmlight", "vw")  # formats whose columns are not compatible with those of texts and tables
_AHEAD = 1000  # rows of a table that say what its vectorizer is to be
_VALUES_AHEAD = 1 << 20  # values of them, at most
_SHOWN = 100  # most columns that a line names
_USUAL = 1e100  # numbers of this size and beyond are looked at one by one
_OF_TABLE = ("ignore", "dtype")
_PLACES = ("label", "text", "weight")


@dataclass
class Input:
    """Options of `streams.read` for the files of a command, and what a model's metadata keep of them."""

    reading: dict
    stream_metadata: dict | None = None  # metadata of the first stream that the model has learnt from
    names: object = field(default=None, repr=False)
    is_known: bool = True  # False: the file of the model does not say how its rows were read
    step: object = None  # the TableVectorizer that makes the rows of tables
    new_step: object = None  # makes one for the rows that come first
    found: str = ""  # the columns in these rows

    @classmethod
    def from_options(cls, options) -> Input:
        """Make an Input from the options of the command line."""
        given = {} if options.analyzer is None else {"analyzer": options.analyzer}
        if options.ngrams is not None:
            if options.ngrams[0] > options.ngrams[1]:
                options.parser.error(f"argument --ngrams: MIN must not be more than MAX, got {options.ngrams}")
            given["ngram_range"] = tuple(options.ngrams)
        dtype, width = options.dtype or "float32", 1 << (20 if options.bits is None else options.bits)
        vectorizer = HashingVectorizer(n_features=min(width, 2**31 - 1), dtype=dtype, **given)
        if width >= 2**31:  # svmlight and VW have so many columns
            vectorizer = _NoHashing(width)
        of_table = {"dtype": np.dtype(dtype).type}
        found = cls({"n_features": width, "dtype": dtype, "vectorizer": vectorizer, "tables": _Whole(of_table)})
        found.new_step = partial(_new_vectorizer, options.bits, of_table)
        return found.with_options(options)

    @classmethod
    def from_model(cls, learner, metadata: dict, options, steps=()) -> Input:
        """Make an Input from a model's metadata, so that rows are read as in training; given options take precedence."""
        step, about, reading = steps[0] if steps else None, metadata.get("input"), {"dtype": str(state_of(learner).dtype)}
        if about is not None:
            try:
                reading = options_of(metadata)
            except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
                raise ValueError(
                    f"{options.model!r} must say in its metadata how its rows were read, got what train does not write ({error})."
                ) from None
            reading.setdefault("vectorizer", _NoHashing(reading["n_features"]))
        elif step is None:
            reading.update(n_features=learner.n_features_in_, vectorizer=_NoHashing(learner.n_features_in_))
            if hasattr(learner, "feature_names_in_"):
                reading["features"] = dict.fromkeys(learner.feature_names_in_.tolist(), "number")
        elif not is_of_tables(step):
            reading.update(vectorizer=step, n_features=step.n_features)
        found = cls(reading, about, is_known=about is not None or step is not None)
        return found._with_step(step).with_options(options)

    def _with_step(self, step) -> Input:
        if is_of_tables(step):
            self.step, self.reading["n_features"] = step, None
            for name in ("vectorizer", "features"):
                self.reading.pop(name, None)
        return self

    def with_options(self, options) -> Input:
        """Apply the options that are given on the command line."""
        for name in ("label", "text", "delimiter"):
            if getattr(options, name, None) is not None:
                self.reading[name] = getattr(options, name)
        if getattr(options, "weights", None) is not None:
            self.reading["weight"] = options.weights
        if options.no_header is not None:
            self.reading["header"] = False
        return self

    @property
    def trained_on(self) -> str | None:
        """Return the format that the model has learnt from."""
        return None if self.stream_metadata is None else self.stream_metadata.get("format")

    @property
    def column_names(self) -> list[str]:
        """Return the names of a table's columns of numbers. They come first; columns behind them are hashed."""
        features = self.reading.get("features")
        if self.step is not None:
            from ..tables import slot_names

            return slot_names(self.step)
        if not isinstance(features, dict):
            return []
        found = []
        for name, kind in features.items():
            found += [str(name)] if kind == "number" else [f"{name}[{k}]" for k in range(kind)] if type(kind) is int else []
        return found

    def keep_names(self, n: int) -> None:
        """Collect the names of up to n columns from now on."""
        if self.step is not None:
            return
        self.names = FeatureNames(n)
        self.reading["vectorizer"].set_params(feature_names=self.names)

    def model_of(self, learner):
        """Return the object for a file: the learner behind what makes its rows, if that is a step of a pipeline."""
        _write_whole_labels(learner)
        step, vectorizer = self.step, self.reading.get("vectorizer")
        if step is None and is_of_texts(self.stream_metadata or {}) and parameters_of(vectorizer) is not None:
            step = HashingVectorizer(**{**vectorizer.get_params(), "feature_names": None})
        if step is None:
            return learner
        from .._pipeline import make_stream_pipeline

        return make_stream_pipeline(step, learner)

    def metadata(self) -> dict:
        return {"input": self.stream_metadata} if self.is_known else {}

    def options_of_read(self, options, labels, learns: bool = False) -> dict:
        """Return the keyword arguments of `streams.read`."""
        reading = dict(self.reading)
        if self.step is not None:
            reading["tables"] = self.step
            if learns:
                reading["tables"] = _Whole({name: getattr(self.step, name) for name in _OF_TABLE})
        if labels is None:
            reading["weight"] = None
        if not reading.get("header", True):
            reading.update({name: _number(reading[name]) for name in _PLACES if reading.get(name) is not None})
        return {"format": options.format, "labels": labels, **reading, "on_error": options.on_error, "block_bytes": 1 << 21}

    def open(self, data, options, labels="auto", learns: bool = False):
        """Open a stream of the files. The first one fixes the meaning of columns for those that follow.

        learns : leave tables as they stand, for `step` to learn.
        """
        stream = read(data, **self.options_of_read(options, labels, learns))
        try:
            self._require_like(stream, data[0])
        except ValueError:
            stream.close()
            raise
        if self.stream_metadata is None and self.is_known:
            self.stream_metadata = stream.metadata["input"]
            self.reading["likely"] = stream.format
            if self.new_step is not None and stream.features is not None:
                step, self.found = self.new_step(stream.peek(_AHEAD))
                self._with_step(step)
        return stream

    def _require_like(self, stream, name: str) -> None:
        """Check that the stream has the model's columns."""
        formats = {self.trained_on or stream.format, stream.format}
        if len(formats) > 1 and formats.intersection(HASHED):
            raise ValueError(
                f"{name}: the model has learnt from {self.trained_on}, whose columns are not those of {stream.format}. "
                f"Give it {self.trained_on}."
            )
        known = self.reading.get("features")
        is_table, is_new = self.step is not None or isinstance(known, dict), self.stream_metadata is None and self.step is None
        if is_table != (stream.features is not None) and not is_new:
            learnt, came = ("a table of named columns", "texts or hashed names")[:: 1 if is_table else -1]
            raise ValueError(f"{name}: the model has learnt from {learnt}, got {came}. Give it {learnt}.")
        if not self.is_known and stream.features is not None and known is None:
            raise ValueError(
                f"{name}: the model must say what its columns are called, got a file without that (saved in Python without "
                "metadata=stream.metadata). Save it with that, or give it svmlight or VW."
            )


def _number(name) -> int:
    if isinstance(name, int):
        return name
    if not (name.isascii() and name.isdigit() and len(name) < 10):
        raise ValueError(f"the columns of CSV without a header must be given by number, from 0, got {name!r}.")
    return int(name)


class _NoHashing:
    """Replaces the vectorizer of a model whose file does not say how texts were hashed: it raises an error at the first text."""

    feature_names = None

    def __init__(self, n_features: int):
        self.n_features = n_features

    def set_params(self, feature_names):
        self.feature_names = feature_names

    def transform(self, texts):
        raise ValueError(
            "the model must say how its texts were hashed, got a file without that (saved in Python without "
            "metadata=stream.metadata). Save it with that, or predict with the vectorizer that it was trained with, in Python."
        )


def load_model(path, options) -> tuple[object, dict, Input]:
    model, metadata = load(path, return_metadata=True)
    *steps, learner = [step for _, step in model.steps] if hasattr(model, "steps") else [model]
    if len(steps) > 1:
        raise ValueError(f"{path!r} must have one step before its learner, got {len(steps)}. Use it in Python: onlinecls.load.")
    if kind_of(learner) not in ("classifier", "regressor"):
        kind = type(learner).__name__
        raise ValueError(f"{path!r} must be a classifier or a regressor, got {kind}. Use it in Python: onlinecls.load.")
    if getattr(learner, "kernel", None) == "precomputed":
        raise ValueError(f"{path!r} must take rows, got a model of kernel values (kernel='precomputed'). Use it in Python.")
    options.model = path
    return learner, metadata, Input.from_model(learner, metadata, options, steps)


def columns_of(step) -> str:
    """Return the columns of a table that a step has learnt, not all of very many."""
    names = list(getattr(step, "feature_names_in_", [f"x{k}" for k in range(step.n_features_in_)]))
    more = f", and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return f"columns {', '.join(names[:_SHOWN])}{more}"


def is_of_tables(step) -> bool:
    """Return True for a `TableVectorizer`."""
    return hasattr(step, "learn_transform")


def is_of_texts(about: dict) -> bool:
    """Return True for the metadata of a stream of texts."""
    return about.get("format") in ("tsv", "fasttext") or about.get("text") is not None


class _Whole:
    """Hands the rows of a table on as they stand. Raises the error of a `TableVectorizer` for one that it could not learn."""

    def __init__(self, options: dict):
        self.options = options

    def transform(self, table):
        from ..tables import TableVectorizer

        for row in self._doubtful(table):
            TableVectorizer(1, **self.options).fit(row)
        return table

    def _doubtful(self, table):
        """Yield the rows, a table of one each, with numbers of no usual size, lists or objects."""
        if isinstance(table, list):
            for row in table:
                for value in row.values() if set(map(type, row.values())) != {str} else ():
                    kind = type(value)
                    if kind in (list, dict) or (kind in (float, int) and not -_USUAL < value < _USUAL and value == value):
                        yield [row]
                        break
        elif hasattr(table, "column_names"):  # Arrow
            wild = np.zeros(len(table), bool)
            for column in table.columns:
                if str(column.type) in ("float", "double"):
                    wild |= np.abs(column.to_numpy()) >= _USUAL
            for row in np.flatnonzero(wild).tolist():
                yield table.slice(row, 1)


def _new_vectorizer(bits, options: dict, first: list):
    """Return a vectorizer for a table that begins with these batches, and the kinds of its columns: without hashed columns where
    the first rows have few features."""
    from ..tables import TableVectorizer, slot_names

    step = TableVectorizer(18 if bits is None else bits, **options)
    probe = TableVectorizer(1, **options).partial_fit(_rows_of([X for X, _, _ in first]))
    n = len(slot_names(probe))
    if bits is None and 2 * n <= step.max_values:
        step.set_params(bits=0, max_values=max(1 << (2 * n - 1).bit_length(), 32))
    return step, columns_of(probe)


def _rows_of(tables: list) -> list[dict]:
    """Return the first rows of tables as dicts: as many as are looked at, or as have so many values."""
    found: list[dict] = []
    for table in tables:
        n, width = _AHEAD - len(found), table.shape[1] if hasattr(table, "shape") else 1
        part = table[: min(n, max(_VALUES_AHEAD // max(width, 1), 1))] if hasattr(table, "__getitem__") else table
        found += part.to_pylist() if hasattr(part, "to_pylist") else list(part)
    return found


def _write_whole_labels(learner) -> None:
    """Make labels that are numbers integers, as they are printed. (Streams read floats.)"""
    classes = None if is_regressor(learner) else state_of(learner).classes
    if classes is not None and classes.dtype.kind == "f":
        state_of(learner).classes = classes.astype(np.int64)  # (a classifier takes whole numbers alone)


def shown_label(label) -> str:
    """Write a label as text, escaped for a terminal, and 1.0 as 1."""
    if isinstance(label, float) and label.is_integer():
        label = int(label)
    return escaped(str(label))
