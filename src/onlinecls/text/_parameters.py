"""The parameters of a `HashingVectorizer` as JSON holds them, for the metadata of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ._vectorizer import HashingVectorizer

if TYPE_CHECKING:
    from typing import Any


def parameters_of(vectorizer: object) -> dict[str, Any] | None:
    """Return the parameters that make the same rows; None if the vectorizer is of another class or calls Python functions."""
    if type(vectorizer) is not HashingVectorizer:
        return None
    vectorizer._check()
    found: dict[str, Any] = {name: value for name, value in vectorizer.get_params().items() if name != "feature_names"}
    found["dtype"], found["ngram_range"] = np.dtype(found["dtype"]).name, [int(n) for n in found["ngram_range"]]
    found["n_features"] = int(found["n_features"])
    if found["stop_words"] is not None and not isinstance(found["stop_words"], str):
        found["stop_words"] = sorted(found["stop_words"])
    for name in ("lowercase", "binary", "alternate_sign"):
        found[name] = bool(found[name])
    return None if any(map(callable, found.values())) else found


def vectorizer_of(parameters: dict[str, Any]) -> HashingVectorizer:
    """Return the vectorizer of parameters that `parameters_of` returned; others raise ValueError or TypeError."""
    if not isinstance(parameters, dict) or any(map(callable, parameters.values())):
        raise TypeError("parameters that are not those of a vectorizer")
    unknown = parameters.keys() - HashingVectorizer().get_params().keys()
    if unknown or "feature_names" in parameters:
        raise TypeError(f"unknown parameters {sorted(unknown)}")
    if parameters.get("input", "content") != "content":  # (a model's file must not name files to be read)
        raise TypeError("texts that are names of files")
    pair = parameters.get("ngram_range", (1, 1))
    if not (isinstance(pair, list | tuple) and len(pair) == 2 and all(type(n) is int and 1 <= n < 2**30 for n in pair)):
        raise TypeError(f"ngram_range {pair!r}")
    vectorizer = HashingVectorizer(**{**parameters, "ngram_range": tuple(pair)})
    vectorizer.fit([])
    return vectorizer
