"""How rows were read, as a model's file keeps it: what `Stream.metadata` says, and `options_of` makes options of `read` of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..text import HashingVectorizer, told_parameters, vectorizer_of
from ._formats import FORMATS
from ._tables import CATEGORY, IGNORED, NUMBER

if TYPE_CHECKING:
    from typing import Any

_COLUMNS = ("label", "text", "weight")
_KEYS = {"format", "n_features", "dtype", "delimiter", "header", "missing", "zero_based", "features", "vectorizer", *_COLUMNS}


def told(reader: Any, format: str) -> dict[str, Any]:
    """What a reader did."""
    layout = reader.layout
    is_hashed = layout is None or layout.text is not None
    vectorizer = reader.vectorizer or HashingVectorizer(n_features=reader.n_hashed, dtype=reader.dtype.name)
    return {
        "input": {
            "format": format, "n_features": reader.n_hashed, "dtype": reader.dtype.name,
            **{name: getattr(reader, name) for name in _COLUMNS},
            "delimiter": reader.delimiter, "header": reader.header, "missing": reader.missing, "zero_based": reader.zero_based,
            "features": reader.features if isinstance(reader.features, str) else told_features(layout),
            "vectorizer": told_parameters(vectorizer) if is_hashed and format not in ("svmlight", "vw") else None,
        }
    }


def told_features(layout: Any) -> dict[str, str | int] | None:
    """{name: kind} of the columns of a table; None of texts, or of objects of features."""
    if layout is None or layout.text is not None:
        return None
    found = {str(name): kind for name, kind in layout.kinds.items()}
    return found if layout.weight is None else {**found, str(layout.weight): IGNORED}


def options_of(metadata: dict[str, Any]) -> dict[str, Any]:
    """Options of `read` that make rows as those were made from which a model has learnt.

    Parameters
    ----------
    metadata : dict
        What ``onlinecls.load(path, return_metadata=True)`` gives beside a model that was saved with ``metadata=stream.metadata``,
        or by ``onlinecls train``.

    Returns
    -------
    options : dict
        ``read(path, **options)``; labels, weights and errors are as `read` has them by default.

    Raises
    ------
    ValueError
        If the metadata does not say how rows were read, or says what no stream does.
    """
    if not isinstance(metadata, dict) or not isinstance(metadata.get("input"), dict):
        raise ValueError("options_of: metadata must say how rows were read, metadata=stream.metadata when the model is saved.")
    given = metadata["input"]
    try:
        return _checked(given)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        problem = f"no {error}" if isinstance(error, KeyError) else str(error)
        raise ValueError(f"options_of: metadata must say how rows were read, got what no stream does ({problem}).") from None


def _checked(given: dict[str, Any]) -> dict[str, Any]:
    if not given.keys() <= _KEYS:
        raise TypeError(f"unknown {sorted(given.keys() - _KEYS)}")
    names = [given.get(name) for name in _COLUMNS]
    if not all(name is None or isinstance(name, str) or type(name) is int for name in names):
        raise TypeError("names that are no texts")
    if given.get("format") not in (None, "pairs", *FORMATS) or type(given.get("header", True)) is not bool:
        raise TypeError("no format")
    if given.get("missing", "absent") not in ("absent", "error") or given.get("zero_based", True) not in (True, False, "auto"):
        raise TypeError("no option")
    options: dict[str, Any] = {"likely": given.get("format"), **{name: given.get(name) for name in _COLUMNS}}
    for name, usual in (("delimiter", ","), ("header", True), ("missing", "absent"), ("zero_based", True), ("dtype", "float32")):
        options[name] = given.get(name, usual)
    if options["dtype"] not in ("float32", "float64") or not isinstance(options["delimiter"], str):
        raise TypeError("no dtype or delimiter")
    features, vectorizer = given.get("features"), given.get("vectorizer")
    if isinstance(features, dict):
        kinds = (NUMBER, CATEGORY, IGNORED)
        if not all(kind in kinds or (type(kind) is int and 0 <= kind < 2**31) for kind in features.values()):
            raise TypeError("columns of no kind")
        features = features if options["header"] else {int(name): kind for name, kind in features.items()}
    elif not isinstance(features, str | None):
        raise TypeError("no features")
    options["features"] = features
    if vectorizer is not None:
        options["vectorizer"] = vectorizer_of(vectorizer)
        options["n_features"] = options["vectorizer"].n_features
    else:
        options["n_features"] = given.get("n_features")
        if type(options["n_features"]) is not int or not 1 <= options["n_features"] <= 2**56:
            raise TypeError("no number of columns")
    return options
