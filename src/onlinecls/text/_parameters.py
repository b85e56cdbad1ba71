"""The parameters of a `HashingVectorizer` as JSON holds them, for the metadata of a model."""

from __future__ import annotations

import codecs
import re
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
    found: dict[str, Any] = vectorizer.get_params()
    found["dtype"], found["ngram_range"] = np.dtype(found["dtype"]).name, [int(n) for n in found["ngram_range"]]
    found["n_features"] = int(found["n_features"])
    if found["stop_words"] is not None and not isinstance(found["stop_words"], str):
        found["stop_words"] = sorted(found["stop_words"])
    for name in ("lowercase", "binary", "alternate_sign"):
        found[name] = bool(found[name])
    return None if any(map(callable, found.values())) else found


# Patterns that take a time proportional to the text: characters, of which the last may be repeated, and nothing behind it that
# could fail, but for the \b behind a run of \w. (Python's engine goes back over what it has read: "(?:a+)+$" takes 2^n steps.)
_CHARACTER = r"(?:\\[wdS]|[A-Za-z0-9_]|\[\^?(?:\\.|[^\\\[\]])+\])"
_REPEATED = r"(?:[+*]|\{\d{1,2}(?:,\d{0,2})?\})?"
_FAST = (
    rf"(?:\(\?u\))?(?:\\b)?(?:{_CHARACTER}(?:\{{\d{{1,2}}\}})?)*{_CHARACTER}{_REPEATED}"
    rf"|(?:\(\?u\))?(?:\\b)?(?:\\w(?:\{{\d{{1,2}}\}})?)*\\w{_REPEATED}\\b"
)
_LONGEST = 100  # characters of such a pattern
_SLOW_ENCODINGS = ("idna", "punycode")


def vectorizer_of(parameters: dict[str, Any], trusted: bool = False) -> HashingVectorizer:
    """Return the vectorizer of parameters that `parameters_of` returned; others raise ValueError or TypeError.

    trusted : the parameters are of a known author, whose token pattern may have any form.
    """
    if not isinstance(parameters, dict) or any(map(callable, parameters.values())):
        raise TypeError("parameters that are not those of a vectorizer")
    unknown = parameters.keys() - HashingVectorizer().get_params().keys()
    if unknown:
        raise TypeError(f"unknown parameters {sorted(unknown)}")
    if parameters.get("input", "content") != "content":  # (a model's file must not name files to be read)
        raise TypeError("texts that are names of files")
    pair = parameters.get("ngram_range", (1, 1))
    if not (isinstance(pair, list | tuple) and len(pair) == 2 and all(type(n) is int and 1 <= n < 2**30 for n in pair)):
        raise TypeError(f"ngram_range {pair!r}")
    pattern = parameters.get("token_pattern")
    if not trusted and isinstance(pattern, str) and not (len(pattern) <= _LONGEST and re.fullmatch(_FAST, pattern)):
        raise ValueError(
            f"token_pattern {pattern[:_LONGEST]!r} has another form than characters of which the last is repeated, such as "
            "\\b\\w\\w+\\b or [a-z]+, so that it may run for ever. "
            "If you trust the model's author: options_of(metadata, trusted=True)"
        )
    vectorizer = HashingVectorizer(**{**parameters, "ngram_range": tuple(pair)})
    vectorizer.fit([])
    if codecs.lookup(vectorizer.encoding).name in _SLOW_ENCODINGS:
        raise ValueError(f"encoding {vectorizer.encoding!r}, which is for names of hosts")
    return vectorizer
