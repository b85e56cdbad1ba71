"""The type of labels that are read from lines: numbers, or names. What looks like another format's label is neither."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from ._errors import HINTS

if TYPE_CHECKING:
    from collections.abc import Iterable

ROUNDED = 2**53  # the least whole number that may be another one's rounding
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
_WHOLE = re.compile(r"0|-?[1-9]\d*", re.ASCII)
# A label that follows a name must be one too: behind "ham", "1" and "+1" would be two classes.
_NAME = re.compile(
    r"(?!(?:nan|na|n/a|nat|null|none|nil|inf|infinity|true|false|labels?|shared|ccb|slates)\Z)[^\W\d_][^:,;]*", re.IGNORECASE
)
_LOOKS = {  # (compiled when one is needed)
    r"\{.*": "a JSON object",
    r"(?:shared|ccb|slates)(?:\s.*)?|ca\s+\S*:\S*:.*": "a line of VW's contextual bandits or cost-sensitive classes",
    r"[^:\s]*:[^:\s]*:.*": "a label of VW's contextual bandits, action:cost:probability",
    r"\S*:.*": "a label of VW's cost-sensitive classes, class:cost",
    r"[+-]?\d+,\d+(?:\s.*)?": "several labels, as of multilabel data, or a decimal comma",
    r"\S*[,;].*": "several labels, or a line of CSV",
    r"(?:nan|na|n/a|nat|null|none|nil|\?|<na>)(?:\s.*)?": "a missing value",
    r"(?:true|false)(?:\s.*)?": "true or false",
    r"labels?(?:\s.*)?": "a header, which this format does not have",
}
_ARE_LABELS = frozenset("label labels class classes target targets category y tag topic sentiment".split())
_ARE_TEXTS = frozenset("text texts message sentence review document body title content id x".split())
_FIELD = re.compile(r"[\w.-]+")


class Type(NamedTuple):
    """Hold the kind of labels ("number", "str" or None), the pattern that texts must match, and what to call such a label."""

    kind: str | None
    like: re.Pattern[str] | None = None
    wanted: str = ""


def type_of(labels: Iterable[str]) -> Type:
    """Return the type of the labels of a file by the first ones. Only the first of them may not be like the others."""
    kinds = [kind for kind in map(_kind_of, labels) if kind]
    if not kinds or kinds[0] == "number":
        return Type("number")
    if len(kinds) > 1 and set(kinds[1:]) == {"number"}:  # (a header, say)
        return Type("number", None, f"a finite number for a label, as in the lines behind the first{HINTS['label']}")
    if kinds[0] == "name":
        return Type("str", _NAME, "a name for a label, as the first one")
    return Type("str", _WHOLE, "a whole number for a label, as the first one")


def are_names(labels: Iterable[str]) -> bool:
    """Return True if all labels look like names."""
    return all(map(_NAME.fullmatch, labels))


def _kind_of(label: str) -> str | None:
    if _NUMBER.fullmatch(label):
        return "number" if abs(float(label)) < ROUNDED else "whole" if _WHOLE.fullmatch(label) else None
    return "name" if _NAME.fullmatch(label) else None


def is_header(lines: list[list[str]]) -> bool:
    """Return True if the first line, of fields, holds names of columns: a label that does not come again, and no sentence."""
    first = [field.strip().lower() for field in lines[0]] if lines else []
    if len(first) < 2 or not all(map(_FIELD.fullmatch, first)) or _ARE_LABELS.isdisjoint(first):
        return False
    later = [line[0] for line in lines[1:] if line != lines[0]]
    return lines[0][0] not in later and (bool(later and first[0] in _ARE_LABELS) or not _ARE_TEXTS.isdisjoint(first))


def looks_like(label: str) -> str | None:
    """Return the format or task of a line that begins with this label, where another one is expected."""
    return next((what for pattern, what in _LOOKS.items() if re.fullmatch(pattern, label, re.IGNORECASE)), None)


def aside(label: str, expected: str = "") -> str:
    """Return what a text that is no label looks like, and what to do, for the end of a message; "" if that has been said."""
    if HINTS["label"] in expected:
        return ""
    what = looks_like(label)
    word = label.split()[0] if label.strip() else ""
    if what is None and _NUMBER.fullmatch(word):
        what = "a number" if abs(float(word)) < ROUNDED else None
    elif what is None and word.isprintable() and not _NAME.fullmatch(word):
        what = "neither a decimal number nor a name"
    return f" ({what}{HINTS['label']})" if what else ""
