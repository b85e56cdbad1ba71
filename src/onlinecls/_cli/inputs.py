"""How files become rows, and the part of a model's metadata that remembers it."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from .._estimators.classifier import OnlineClassifier
from .._estimators.regressor import OnlineRegressor
from .._estimators.saving import load
from .._input.escaping import escaped

OTHER_COLUMNS = ("svmlight", "vw")  # formats whose columns mean something else than those of texts and tables


@dataclass
class Input:
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
    def from_options(cls, options) -> Input:
        """From the options of the command line, with defaults for those left out."""
        found = cls(1 << (20 if options.bits is None else options.bits)).told(options)
        if options.ngrams is not None:
            if options.ngrams[0] > options.ngrams[1]:
                options.parser.error(f"argument --ngrams: MIN must not be more than MAX, got {options.ngrams}")
            found.ngrams = tuple(options.ngrams)
        found.analyzer, found.dtype = options.analyzer or found.analyzer, options.dtype or found.dtype
        return found

    @classmethod
    def from_model(cls, learner, metadata: dict, options) -> Input:
        """From a model's metadata, so that rows are made as in training; options that are given take precedence."""
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
                if not all(type(n) is int and 1 <= n < 2**30 for n in found.ngrams):
                    raise TypeError("n-grams of no length")
                if metadata.get("names") is not None:
                    from ..text import unpacked_names

                    found.names = unpacked_names(metadata["names"])
                found.vectorizer().fit([])
            except (KeyError, TypeError, AttributeError, ValueError) as error:
                raise ValueError(
                    f"{options.model!r} must say in its metadata how its rows were read, got what train does not write ({error})."
                ) from None
        return found.told(options)

    def told(self, options) -> Input:
        for name in ("label", "text", "weights", "delimiter"):
            if getattr(options, name, None) is not None:
                setattr(self, name, getattr(options, name))
        if options.no_header is not None:
            self.header = False
        return self

    def metadata(self) -> dict:
        kept = {name: getattr(self, name) for name in self._KEPT}
        found = {"input": {**kept, "ngrams": list(self.ngrams)}}
        if self.names is not None:
            from ..text import packed_names

            found["names"] = packed_names(self.names)
        return found

    def vectorizer(self):
        from ..text import HashingVectorizer

        if not self.hashes:
            return _NoHashing(self.n_features)
        return HashingVectorizer(
            n_features=self.n_features, ngram_range=self.ngrams, analyzer=self.analyzer, dtype=self.dtype,
            feature_names=self.names,
        )

    def open(self, data, options, labels="auto"):
        from ..streams import read

        stream = read(
            data, options.format, labels=labels, dtype=self.dtype, vectorizer=self.vectorizer(),
            label=self._column(self.label), text=self._column(self.text),
            weight=self._column(self.weights) if labels is not None else None,
            delimiter=self.delimiter, header=self.header, on_error=options.on_error, threads=options.threads or _threads(),
            block_bytes=1 << 21,
        )
        formats = {self.trained_on or stream.format, stream.format}
        if len(formats) > 1 and formats.intersection(OTHER_COLUMNS):
            stream.close()
            raise ValueError(
                f"{data[0]}: the model has learnt from {self.trained_on}, whose columns are not those of {stream.format}. "
                f"Give it {self.trained_on}."
            )
        return stream

    def _column(self, name: str | None):
        if self.header or name is None:
            return name
        if not (name.isascii() and name.isdigit() and len(name) < 10):
            raise ValueError(f"the columns of CSV without a header must be given by number, from 0, got {name!r}.")
        return int(name)


def _threads() -> int:
    """Hashing takes about four times as long as learning: more than four threads would wait for the learner."""
    return min(4, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


class _NoHashing:
    """In the place of a vectorizer for models whose file does not say how texts were hashed: an error once there is a text."""

    def __init__(self, n_features: int):
        self.n_features = n_features

    def transform(self, texts):
        raise ValueError(
            "the model must say how its texts were hashed, got a file without that (saved in Python, not by onlinecls train). "
            "Predict with the vectorizer that it was trained with, in Python."
        )


def loaded(path, options) -> tuple[object, dict, Input]:
    learner, metadata = load(path, return_metadata=True)
    if not isinstance(learner, (OnlineClassifier, OnlineRegressor)):
        kind = type(learner).__name__
        raise ValueError(f"{path!r} must be a classifier or a regressor, got {kind}. Use it in Python: onlinecls.load.")
    options.model = path
    return learner, metadata, Input.from_model(learner, metadata, options)


def require_place(options, name: str) -> None:
    """Fail now, not after hours of learning, if the file of this option cannot be written."""
    path = getattr(options, name)
    if path is None:
        return
    folder = os.path.dirname(os.path.realpath(path))
    if os.path.isdir(path) or not os.path.isdir(folder) or not os.access(folder, os.W_OK):
        options.parser.error(f"argument --{name}: must be a file in a folder that can be written to, got {path!r}")


def shown_label(label) -> str:
    """A label as text, on one line and harmless to a terminal: 1.0 as 1, as it stands in files."""
    if isinstance(label, float) and label.is_integer():
        label = int(label)
    return escaped(str(label))
