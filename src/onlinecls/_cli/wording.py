"""Messages of errors for the command line: options take the place of Python's parameters."""

from __future__ import annotations

import os
import re

# What replaces the hint of an error about a parameter. Parameters that are not listed have an option of their name.
_WORDS = {
    "label": "; --labels str takes any text for a label",
    "labels": " (--unlabelled predict or skip takes rows without)",
    "tab": "", "max_line_bytes": "", "zero_based": "", "csv.field_size_limit": "",  # no option
    "n_features": "columns (--bits)", "weight": "--weights", "header": "--no-header", "format": "--format",
    "missing": " (--missing absent takes it for 0)", "categories": " (with --categories its values are names)",
    "interactions": "-q", "ngrams": "--ngram", "features": "--keep",
    "class_weight": "--param class_weight", "covariance": "--param covariance=",
    "alone": "--text with its name for the texts alone, --ignore with its name for the others",
    "table": "--format csv", "quotes": "--format csv --delimiter tab --no-header --label 0 --text 1",
    "X": "Give rows like those that the model has learnt from.",
}

# What parameters of a TableVectorizer are called.
_OF_TABLES = (
    (r"categories=, numbers= or dates=", "--categories or --dates"), (r"categories=\['([^']*)'\]", r"--categories \1"),
    (r", numbers=\['[^']*'\] as a number", ""),
    (r"dates=\{'([^']*)': '([^']*)'\} or '([^']*)'", r"--dates \1=\2 or \1=\3"), (r"dates=\{'([^']*)': '([^']*)'\}",
        r"--dates \1=\2"),
    (r"(decimal|unknown)='([^']*)'", r"--\1 \2"), (r"\b(categories|dates|ignore)=", r"--\1"),
)

_OTHER_SPELLING = r"(, which (?:looks|may|comes|begins) .*?): .* as a name\.$"  # what a model is told before it learns


def message_of(error: Exception, options) -> str:
    """Return the message of an error in terms of the options of a command."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{os.fsdecode(error.filename)}: {error.strerror}"
    if isinstance(error, MemoryError):
        why = f" ({error})" if str(error) else ""
        return f"not enough memory{why}. Free some, or run the command on a machine with more."
    if "TableVectorizer: " in str(error):
        said = str(error)
        if "decimal" not in options or getattr(options, "resume", None):  # (the model has its spellings)
            said = re.sub(_OTHER_SPELLING, r"\1, unlike what the model has learnt from. Convert it.", said)
        return in_options(said)
    parameter, hint = getattr(error, "parameter", ""), getattr(error, "hint", "")
    if parameter == "labels" and "unlabelled" not in options:  # (only train has rows of both kinds)
        return str(error).replace(hint, "")
    if parameter == "label" and ("labels" not in options or getattr(options, "resume", None)):
        return str(error).replace(hint, "")  # (the model has its labels)
    return str(error).replace(hint, _WORDS.get(parameter, f"--{parameter}")) if hint else str(error)


def in_options(said: str) -> str:
    """Return what a TableVectorizer says in terms of options; another text as it is."""
    for pattern, words in _OF_TABLES if "TableVectorizer: " in said else ():
        said = re.sub(pattern, words, said)
    return said
