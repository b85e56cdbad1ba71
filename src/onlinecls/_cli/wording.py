"""Errors of the library in the words of the command line: options, not Python's arguments."""

from __future__ import annotations

import os
import re

# What the library says of its arguments, and what there is for it on the command line.
_WORDS = (
    (r" \(labels=None reads lines without\)", ""),
    (r" \(max_line_bytes\)", ""),
    (r"Give format= one of ", "Give --format one of "),
    (r" \(0-based files: zero_based=True\)", ""),
    (r"an index < n_features \(.*?\)", "an index below the number of columns (more --bits)"),
    (r"read: n_features must be a power of two .* got \d+", "--bits must be at most 32 for VW's hashes, got more"),
    (r"read: n_features must be at most 2\*\*31 - 1 (.*), got \d+", r"--bits must be at most 30 \1, got more"),
    (r"Give the column of the labels, or labels='number' if they are numbers", "Give the column of the labels, --label"),
    (r"missing='absent' takes it for 0", "--missing absent takes it for 0"),
    (r"among the categories its values would be names", "with --categories its values are names"),
    (r"read: delimiter must", "--delimiter must"),
    (r"^read: ", ""),
    (r" \(LookupError\)", ""),
    (r"Longer fields: csv\.field_size_limit\(characters\)\.", ""),
    (r"class_weight must", "--param class_weight must"),
    (r"Leave classes out from the second call on\.", "Leave --classes out."),
    (r"Give rows with the columns of the first call, or start a new model\.", "Give it rows like those it has learnt from."),
    (r"Use covariance='diagonal', or fewer features\.", "Take --param covariance=diagonal, or fewer --bits."),
    (r"About ([\d,]+) features would fit\.", r"About \1 columns would fit: fewer --bits."),
)


def message_of(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{os.fsdecode(error.filename)}: {error.strerror}"
    if isinstance(error, MemoryError):
        return f"not enough memory ({error}). Fewer --bits take less."
    message = str(error)
    for pattern, words in _WORDS:
        message = re.sub(pattern, words, message)
    return message
