"""How rows were read, for a model's file: `Stream.metadata`, and `options_of`, which makes options of `read` from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..text import HashingVectorizer, parameters_of, vectorizer_of
from ._formats import FORMATS

if TYPE_CHECKING:
    from typing import Any

_COLUMNS = ("label", "text", "weight")
_KEYS = {
    "format", "n_features", "dtype", "delimiter", "header", "missing", "zero_based", "features", "tables", "vectorizer",
    *_COLUMNS,
}


def metadata_of(reader: Any, format: str) -> dict[str, Any]:
    """Return the metadata of a reader: what `options_of` needs to read further files in the same way."""
    layout = reader.layout
    is_hashed = layout is None or layout.text is not None
    vectorizer = reader.vectorizer or HashingVectorizer(n_features=reader.n_hashed, dtype=reader.dtype.name)
    return {
        "input": {
            "format": format, "n_features": reader.n_hashed, "dtype": reader.dtype.name,
            **{name: getattr(reader, name) for name in _COLUMNS},
            "delimiter": reader.delimiter, "header": reader.header, "missing": reader.missing, "zero_based": reader.zero_based,
            "features": reader.features if isinstance(reader.features, str) else kinds_of_features(layout),
            "tables": layout is not None and layout.is_whole,
            "vectorizer": parameters_of(vectorizer) if is_hashed and format not in ("svmlight", "vw") else None,
        }
    }


def kinds_of_features(layout: Any) -> dict[str, str | int] | None:
    """Return {name: kind} of the columns of a table; None for texts, or for objects of features."""
    if layout is None or layout.text is not None:
        return None
    from ._tables import IGNORED

    found = {str(name): kind for name, kind in layout.kinds.items()}
    return found if layout.weight is None else {**found, str(layout.weight): IGNORED}


def options_of(metadata: dict[str, Any], *, trusted: bool = False) -> dict[str, Any]:
    """Return options of `read` that make rows as in the training of a model.

    Parameters
    ----------
    metadata : dict
        As returned by ``onlinecls.load(path, return_metadata=True)`` for a model that was saved with
        ``metadata=stream.metadata`` or by ``onlinecls train``.
    trusted : bool, default=False
        True: the file is of an author you trust, so that its token pattern may have any form. False: one that may run for ever
        is refused; those of characters of which the last is repeated, such as ``[a-z]+``, never do.

    Returns
    -------
    options : dict
        For ``read(path, **options)``; labels, weights and errors are treated by the defaults of `read`.

    Raises
    ------
    ValueError
        If the metadata does not describe how rows were read, or is not valid.
    """
    if not isinstance(metadata, dict) or not isinstance(metadata.get("input"), dict):
        raise ValueError("options_of: metadata must describe how rows were read: save models with metadata=stream.metadata.")
    given = metadata["input"]
    try:
        return _checked(given, trusted)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        problem = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise ValueError(f"options_of: metadata must describe how rows were read, got invalid options: {problem}.") from None


def _checked(given: dict[str, Any], trusted: bool) -> dict[str, Any]:
    if not given.keys() <= _KEYS:
        raise TypeError(f"unknown {sorted(given.keys() - _KEYS)}")
    names = [given.get(name) for name in _COLUMNS]
    if not all(name is None or isinstance(name, str) or type(name) is int for name in names):
        raise TypeError("columns that are neither names nor numbers")
    if given.get("format") not in (None, "pairs", *FORMATS) or type(given.get("header", True)) is not bool:
        raise TypeError("an unknown format or header")
    if given.get("missing", "absent") not in ("absent", "error") or given.get("zero_based", True) not in (True, False, "auto"):
        raise TypeError("an unknown missing or zero_based")
    options: dict[str, Any] = {"likely": given.get("format"), **{name: given.get(name) for name in _COLUMNS}}
    for name, usual in (("delimiter", ","), ("header", True), ("missing", "absent"), ("zero_based", True), ("dtype", "float32")):
        options[name] = given.get(name, usual)
    if options["dtype"] not in ("float32", "float64") or not isinstance(options["delimiter"], str):
        raise TypeError("an unknown dtype or delimiter")
    features, vectorizer = given.get("features"), given.get("vectorizer")
    if given.get("tables") is True:
        options["tables"], features = "passthrough", None
    if isinstance(features, dict):
        from ._tables import CATEGORY, IGNORED, NUMBER

        kinds = (NUMBER, CATEGORY, IGNORED)
        if not all(kind in kinds or (type(kind) is int and 0 <= kind < 2**31) for kind in features.values()):
            raise TypeError("columns of an unknown kind")
        features = features if options["header"] else {int(name): kind for name, kind in features.items()}
    elif not isinstance(features, str | None):
        raise TypeError(f"features {features!r}")
    options["features"] = features
    if vectorizer is not None:
        options["vectorizer"] = vectorizer_of(vectorizer, trusted)
        options["n_features"] = options["vectorizer"].n_features
    else:
        options["n_features"] = given.get("n_features")
        if type(options["n_features"]) is not int or not 1 <= options["n_features"] <= 2**56:
            raise TypeError(f"n_features {options['n_features']!r}")
    return options
