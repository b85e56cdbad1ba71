"""Detection of a file's format by its name or its first lines."""

from __future__ import annotations

import csv
import json
import os
import re

from .._input.validate import ParameterError

FORMATS = ("svmlight", "vw", "tsv", "fasttext", "csv", "jsonl", "parquet", "arrow")
_SUFFIXES = {
    ".svm": "svmlight", ".svmlight": "svmlight", ".libsvm": "svmlight", ".vw": "vw", ".tsv": "tsv", ".csv": "csv",
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet", ".pq": "parquet", ".arrow": "arrow", ".feather": "arrow",
    ".ipc": "arrow", ".arrows": "arrow",
}
_COMPRESSIONS = (".gz", ".bz2", ".xz", ".zst")
_NUMBER = rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_PAIR = rb"\d+:" + _NUMBER
# A line without features is svmlight if it is nothing but a label; `by_lines` wants all lines to match.
_SVMLIGHT = re.compile(rb"\s*(?:%b(?=\s|$|#)|(?=\d+:))(?:\s+qid:\d+)?(?:\s*%b)?(?:\s+%b)*\s*(?:#.*)?" % (_NUMBER, _PAIR, _PAIR))
_VW = re.compile(rb"[ \t]*(?:%b[ \t]+){0,3}(?:'[^\s|]*[ \t]*|[^\s|]*)\|" % _NUMBER)
_LINES = 20  # most lines that are examined


def by_name(name: str) -> str | None:
    stem, suffix = os.path.splitext(name.lower())
    if suffix in _COMPRESSIONS:
        suffix = os.path.splitext(stem)[1]
    return _SUFFIXES.get(suffix)


def detect(source, wanted: str, likely: str | None, labelled: bool) -> str:
    """Return the format of a source: `wanted`, or what is detected if that is "auto"."""
    if wanted not in ("auto", *FORMATS):
        raise ValueError(f"read: format must be 'auto' or one of {', '.join(map(repr, FORMATS))}, got {wanted!r}.")
    if wanted != "auto":
        return wanted
    format = by_name(source.name)
    if format is not None:
        return format
    head = source.peek(settled=likely is None)
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith((b"ARROW1", b"\xff\xff\xff\xff")):
        return "arrow"
    lines = [line.rstrip(b"\r") for line in source.peek_lines(settled=likely is None) if line.strip()][:_LINES]
    format = by_lines(lines)
    if likely in FORMATS and likely not in ("parquet", "arrow") and not _contradicts(likely, format, lines):
        return likely
    if format is None and lines and not labelled:
        return "tsv"  # texts without labels
    if format is None:
        found = f"its first line is {lines[0][:60]!r}" if lines else "it has no lines"
        raise ParameterError(
            f"{source.name}: cannot tell the format from the name or the first lines: {found}. "
            f"Give format= one of {', '.join(map(repr, FORMATS))}.", "format", "format=",
        )
    return format


def _contradicts(likely: str, found: str | None, lines: list[bytes]) -> bool:
    """Return True if lines are surely of another format than `likely`: texts may hold commas and tabs, and be numbers."""
    if found == "svmlight":
        return likely != found and any(b":" in line for line in lines)
    return found in ("vw", "jsonl", "fasttext") and likely != found


def by_lines(lines: list[bytes]) -> str | None:
    if not lines:
        return None
    if lines[0].lstrip().startswith(b"__label__"):
        return "fasttext"
    if all(map(_is_object, lines)):
        return "jsonl"
    data = [line for line in lines if not line.lstrip().startswith(b"#")]
    if data and all(map(_SVMLIGHT.fullmatch, data)):
        return "svmlight"
    if all(map(_VW.match, lines)):
        return "vw"
    if all(line.find(b"\t") > 0 for line in lines):
        return "tsv"
    return "csv" if _is_csv(lines) else None


def _is_object(line: bytes) -> bool:
    try:
        return line.lstrip().startswith(b"{") and isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _is_csv(lines: list[bytes]) -> bool:
    try:
        widths = {len(row) for row in csv.reader([line.decode("utf-8", "replace") for line in lines], strict=True)}
    except csv.Error:
        return False
    return len(lines) > 1 and len(widths) == 1 and widths.pop() > 1
