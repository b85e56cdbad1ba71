"""Detection of a file's format by its name or its first lines, and of the delimiter of CSV."""

from __future__ import annotations

import csv
import json
import os
import re

from .._input.validate import ParameterError

FORMATS = ("svmlight", "vw", "tsv", "fasttext", "csv", "jsonl", "parquet", "arrow")
_SUFFIXES = {
    ".svm": "svmlight", ".svmlight": "svmlight", ".libsvm": "svmlight", ".vw": "vw", ".tsv": "tsv", ".tab": "tsv", ".csv": "csv",
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet", ".pq": "parquet", ".arrow": "arrow", ".feather": "arrow",
    ".ipc": "arrow", ".arrows": "arrow",
}
_COMPRESSIONS = (".gz", ".bz2", ".xz", ".zst")
_NUMBER = rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_PAIR = rb"\d+:" + _NUMBER  # (these patterns are compiled where a format is to be detected)
# A line without features is svmlight if it is nothing but a label; `by_lines` wants all lines to match.
_SVMLIGHT = rb"\s*(?:%b(?=\s|$|#)|(?=\d+:))(?:\s+qid:\d+)?(?:\s*%b)?(?:\s+%b)*\s*(?:#.*)?" % (_NUMBER, _PAIR, _PAIR)
_VW = rb"[ \t]*(?:%b[ \t]+){0,3}(?:'[^\s|]*[ \t]*|[^\s|]*)\|" % _NUMBER
_QUOTED = re.compile(rb'"(?:[^"]|"")*"')
MANY_LINES = 20  # most lines that are examined
DELIMITERS = ",;\t|"  # of CSV
_CELL = re.compile(r"[+-]?(?:\d[\d,]*\.?\d*|[.,]\d+)(?:[eE][+-]?\d+)?", re.ASCII)  # a number, with a decimal comma perhaps


def by_name(name: str) -> str | None:
    stem, suffix = os.path.splitext(name.lower())
    if suffix in _COMPRESSIONS:
        suffix = os.path.splitext(stem)[1]
    return _SUFFIXES.get(suffix)


def detect(
    source, wanted: str, likely: str | None, labelled: bool, columns: frozenset[str], delimiter: str
) -> str:
    """Return the format of a source: `wanted`, or what is detected if that is "auto".

    columns : names that tell a header, below which lines with tabs are CSV; none if they never are. delimiter : of CSV.
    """
    if wanted not in ("auto", *FORMATS):
        raise ValueError(f"read: format must be 'auto' or one of {', '.join(map(repr, FORMATS))}, got {wanted!r}.")
    if wanted != "auto":
        return wanted
    format = by_name(source.name)
    if format == "tsv" and (delimiter == "\t" or (columns and _has_header(first_lines(source, likely is None), columns, likely))):
        return "csv"
    if format is not None:
        return format
    head = source.peek(settled=likely is None)
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith((b"ARROW1", b"\xff\xff\xff\xff")):
        return "arrow"
    lines = first_lines(source, likely is None)
    format = by_lines(lines)
    if format not in ("fasttext", "jsonl") and columns and _has_header(lines, columns, likely):
        return "csv"
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


def first_lines(source, settled: bool, most: int | None = MANY_LINES) -> list[bytes]:
    """Return the first lines that are not blank, without their ends. settled : as of `Source.peek`. most : None for all."""
    return [line.rstrip(b"\r") for line in source.peek_lines(settled) if line.strip()][:most]


def _has_header(lines: list[bytes], columns: frozenset[str], likely: str | None) -> bool:
    """Return True if lines with tabs are a table, perhaps of the one column that a model reads."""
    is_column = likely == "csv" and bool(lines) and lines[0].decode("utf-8", "replace") in columns
    return is_column or is_table(lines, columns)


def is_table(lines: list[bytes], columns: frozenset[str]) -> bool:
    """Return True if lines divided by tabs are a table below a header, and not labels with texts.

    The header has one of the columns, and most lines have as many fields; or it has three fields or more, all different and
    none a number, all lines have as many, and there are numbers in the same place of each.
    """
    header, *rows = _fields(lines, "\t") or [[]]
    alike = [row for row in rows if len(row) == len(header)]
    if len(header) < 2 or len(set(header)) < len(header) or 2 * len(alike) < len(rows):
        return False
    named = [k for k, name in enumerate(header) if name in columns and all(row[k] != name for row in alike)]
    if named and (len(header) > 2 or not any(len(name.split()) > 1 for name in header)):
        return True
    if len(header) == 2 or len(alike) < max(len(rows), 2) or any(map(_CELL.fullmatch, header)):
        return False
    return any(all(map(_CELL.fullmatch, values)) for values in zip(*rows, strict=True))


def delimiter_of(lines: list[bytes]) -> str:
    """Return what divides the lines of CSV below a header: of comma, semicolon, tab and bar, that which makes the most fields of
    the header among those that make as many of most lines; the comma if none does."""
    found = {}
    for delimiter in DELIMITERS:
        widths = [len(row) for row in _fields(lines, delimiter)]
        found[delimiter] = widths[0] if widths and 2 * widths.count(widths[0]) >= len(widths) else 1
    return max(found, key=lambda delimiter: found[delimiter])  # (the first of several)


def has_bare_quotes(lines: list[bytes]) -> bool:
    """Return True if lines divided by tabs have quotes that mean themselves: tabs alone divide all lines into as many fields, and
    one of these has quotes that do not stand around it."""
    rows = [line.split(b"\t") for line in lines]
    if len(set(map(len, rows))) != 1 or len(rows[0]) == 1:
        return False
    return not all(_QUOTED.fullmatch(field) for row in rows for field in row if b'"' in field)


def _fields(lines: list[bytes], delimiter: str, strict: bool = False) -> list[list[str]]:
    """Return the fields of lines; none if Python's csv cannot divide them."""
    quoting = csv.QUOTE_NONE if delimiter == "\t" and has_bare_quotes(lines) else csv.QUOTE_MINIMAL
    texts = [line.decode("utf-8", "replace") for line in lines]
    try:
        return list(csv.reader(texts, delimiter=delimiter, strict=strict, quoting=quoting))
    except csv.Error:
        return []


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
    if data and all(re.fullmatch(_SVMLIGHT, line) for line in data):
        return "svmlight"
    if all(re.match(_VW, line) for line in lines):
        return "vw"
    if all(line.find(b"\t") >= 1 for line in lines):
        return "tsv"
    return "csv" if _is_csv(lines) else None


def _is_object(line: bytes) -> bool:
    try:
        return line.lstrip().startswith(b"{") and isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _is_csv(lines: list[bytes]) -> bool:
    for delimiter in ",;":
        widths = {len(row) for row in _fields(lines, delimiter, strict=True)}
        if len(lines) > 1 and len(widths) == 1 and widths.pop() > 1:
            return True
    return False
