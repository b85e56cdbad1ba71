"""Options of `read` for the namespaces of VW's files: checked, and in the form that the parser takes."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, NamedTuple

from .._input.validate import ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

_ANY = ":"
_MOST = 16  # namespaces of an interaction, features of an n-gram, features skipped in it


class Namespaces(NamedTuple):
    """Options of `read` about namespaces, by letter: the first character, a blank for the namespace without a name.

    features : letters of the namespaces that are read, or None for all. ignore : letters of those that are not.
    """

    interactions: list[str]
    ngrams: dict[str, int]
    skips: dict[str, int]
    features: str | None
    ignore: str

    @property
    def are_plain(self) -> bool:
        """Return True if features are read as they stand."""
        return self == Namespaces([], {}, {}, None, "")

    def compiled(self) -> tuple[bytes, bytes, bytes, list[bytes]]:
        """Return the arguments of `Crossing`."""
        kept = range(256) if self.features is None else self.features.encode()
        left_out = bytes(k not in kept or k in self.ignore.encode() for k in range(256))
        return left_out, _by_letter(self.ngrams), _by_letter(self.skips), [each.encode() for each in self._different()]

    def _different(self) -> list[str]:
        """Return the interactions as VW takes them: with sorted letters where one occurs twice, and each set of letters once."""
        found: dict[str, str] = {}
        for each in sorted("".join(sorted(each)) if len(set(each)) < len(each) else each for each in self.interactions):
            found.setdefault("".join(sorted(each)), each)
        return list(found.values())


def namespaces_of(
    interactions: Sequence[str], ngrams: int | dict[str, int], skips: int | dict[str, int], features: Any, ignore: Any,
) -> Namespaces:
    """Check the options of `read` that speak of namespaces."""
    wanted = f"texts of 2..{_MOST} letters, the first ones of namespaces (ASCII), or ':' for any"
    for each in _listed(interactions, "interactions", wanted):
        require(2 <= len(each) <= _MOST and _are_letters(each), "interactions", wanted, each)
    lengths, left_out = _counts("ngrams", ngrams, 1), _counts("skips", skips, 0)
    require(not left_out or bool(lengths), "skips", "left out without ngrams", skips)
    kept = None if features is None else _letters("features", features)
    return Namespaces(list(interactions), lengths, left_out, kept, _letters("ignore", ignore))


def _letters(name: str, given: Any) -> str:
    wanted = "the first letters of namespaces (ASCII)"
    found = "".join(_listed(given, name, wanted))
    require(_are_letters(found) and _ANY not in found, name, wanted, given)
    return found


def _counts(name: str, given: Any, least: int) -> dict[str, int]:
    """Return {letter: number}; the number of all others under ':'."""
    wanted = f"an int in {least}..{_MOST}, or a dict of them by the first letters of namespaces, ':' for all others"
    found = given if isinstance(given, dict) else {_ANY: given}
    for letter, n in found.items():
        right = isinstance(n, Integral) and not isinstance(n, bool) and least <= int(n) <= _MOST
        require(right and isinstance(letter, str) and len(letter) == 1 and _are_letters(letter), name, wanted, given)
    return {letter: int(n) for letter, n in found.items()} if found != {_ANY: least} else {}


def _by_letter(counts: dict[str, int]) -> bytes:
    return bytes(counts.get(chr(k), counts.get(_ANY, 0)) for k in range(256))


def _listed(given: Any, name: str, wanted: str) -> list[str]:
    right = isinstance(given, (list, tuple)) and all(isinstance(each, str) for each in given)
    require(right, name, f"a list of {wanted}", given)
    return list(given)


def _are_letters(text: str) -> bool:
    return all(" " <= letter <= "~" and letter != "|" for letter in text)


def require(right: bool, name: str, wanted: str, got: object) -> None:
    """Raise the error of an option of `read` unless it is right."""
    if not right:
        raise ParameterError(f"read: {name} must be {wanted}, got {got!r}.", name, f"read: {name}")
