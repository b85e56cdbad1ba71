"""Texts of unknown origin: what to do before a terminal shows them, and which encoding they have."""

import codecs
import re

# Control characters, line and paragraph separators, what turns the direction of writing, and halves of surrogate pairs.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def escaped(text: str) -> str:
    r"""The text with such characters written as in Python, "\x1b" say: a terminal would obey them."""
    return _UNSAFE.sub(lambda found: repr(found[0])[1:-1], text)


def is_utf8(encoding: str) -> bool:
    """Whether an encoding, by one of its names, is UTF-8."""
    return codecs.lookup(encoding).name == "utf-8"
