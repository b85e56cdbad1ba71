"""Warnings of values and columns that are probably not what they are taken for, once a column."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._input import validate
from .._input.compat import warn_caller

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

_DOUBTS = {
    "comma": "looks like a number with a decimal comma: decimal=',' reads it as that",
    "point": "looks like a number with a decimal point: decimal='.' reads it as that",
    "unit": "looks like a number with a unit: without the unit it is read as that",
    "year": "may be a date with a year of two digits: dates={{{name!r}: '%d.%m.%y'}} or '%m/%d/%y' reads it as that",
    "day": "may be one of two dates: dates={{{name!r}: '%d/%m/%Y'}} or '%m/%d/%Y' reads it as that",
    "digits": "looks like a date of digits: dates={{{name!r}: '%Y%m%d'}} reads it as that",
    "no year": "looks like a date without a year: with one it is read as that",
    "more": "begins as a date does: alone, the date is read as that",
    "calendar": "looks like a date that no calendar has: one that it has is read as that",
    "span": "looks like a duration in hours: in seconds, or as '1 days 02:00:00', it is read as that",
    "infinite": "looks like a number that is not finite: left empty, it is missing",
    "month": "looks like a date with a month in another language: with a number for the month it is read as that",
    "zone": "looks like a date with a time zone whose name may stand for several: with +02:00 or so it is read as that",
    "list": "looks like a list or a dict in a text: what JSON lines have instead is read as that",
    "word": "comes behind yes, no, y, n, on or off, read as booleans: true and false are always read as that",
}


class Notices:
    """Warn for one vectorizer, once of each thing. who : the class that messages name. most : warnings at most."""

    def __init__(self, who: str, most: int = 1000) -> None:
        self.who, self.most = who, most
        self._told: set = set()

    def _tell(self, about: Any, message: str) -> None:
        if about not in self._told and len(self._told) < self.most:
            self._told.add(about)
            warn_caller(f"{self.who}: {message}")

    def of_kind(self, name: str, value: Any, kind: str, had: Iterable[str], row: int) -> None:
        """Warn of a value of a kind that its column has not had."""
        kinds = " and ".join(each for each in had if each != "missing") or "missing"
        self._tell(
            (name, kind),
            f"column {name!r} has had values of kind {kinds} alone, got {validate.brief(value)} of kind {kind} in row {row}, of "
            "which nothing has been learnt. Convert it, or name the column in categories=, numbers= or dates= from the start.",
        )

    def of_doubt(self, name: str, value: Any, doubt: str, row: int) -> None:
        """Warn of a name that looks like something else, or of a number that looks like a day."""
        kinds, kind, parameter = ("numbers", "number", "numbers") if doubt == "digits" else ("names", "name", "categories")
        self._tell(
            (name, doubt),
            f"column {name!r} must have {kinds}, got {validate.brief(value)} in row {row}, which "
            f"{_DOUBTS[doubt].format(name=name)}, {parameter}=[{name!r}] as a {kind}.",
        )

    def of_rows(self, name: str, n: int) -> None:
        """Warn of ids that tell one row from the others, and nothing else; they are read as numbers."""
        self._tell(
            (name, "rows"),
            f"column {name!r} has a value of its own in each of {n} rows, from which nothing can be learnt for others. Leave it "
            f"out: ignore=[{name!r}].",
        )

    def of_lacking(self, lacking: Iterable[str], unknown: Iterable[str], row: int) -> None:
        """Warn of a row that lacks columns which all rows have had."""
        self._tell("lacking", lacks(lacking, unknown, row) + " They count as missing from the row.")


def lacks(lacking: Iterable[str], unknown: Iterable[str], row: int) -> str:
    """Return a sentence about columns that a row lacks, and those that it has instead."""
    others = sorted(unknown)
    instead = f" but {_list(others)}, which are unknown" if others else ""
    return f"rows must have the columns that all have had so far, got row {row} without {_list(sorted(lacking))}{instead}."


def _list(names: list[str]) -> str:
    return ", ".join(map(repr, names[:5])) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
