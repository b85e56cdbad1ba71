"""What comes from files and models, on its way to a terminal."""

import re

# Control characters, line and paragraph separators, what turns the direction of writing, and halves of surrogate pairs.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def escaped(text: str) -> str:
    r"""The text with such characters as Python writes them, "\x1b" say: a terminal does what they say."""
    return _UNSAFE.sub(lambda found: repr(found[0])[1:-1], text)
