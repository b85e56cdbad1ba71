"""Conversion of user input to arrays that the compiled code can trust, or an error that says what is wrong."""

import re

# Control characters, line and paragraph separators, changes of the direction of writing, and halves of surrogate pairs.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def escaped(text: str) -> str:
    r"""Return the text with control characters, which a terminal would execute, escaped as in Python, such as "\x1b"."""
    return _UNSAFE.sub(lambda found: repr(found[0])[1:-1], text)
