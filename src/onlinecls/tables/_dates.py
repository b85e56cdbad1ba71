"""Dates and times of day as people write them, beside ISO 8601."""

from __future__ import annotations

import re
from datetime import datetime, time, timedelta, timezone
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import date

_CLOCK = (
    r"(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,9}))?)?(?: ?(?P<half>[AaPp])\.?[Mm]\.?)?"
    r"(?: ?(?P<zone>Z|UTC|GMT|[+-]\d\d:?\d\d|[+-]\d\d))?"
)
_MONTHS = {name: k for k, name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), 1)}
_MONTH = r"(?P<name>(?i:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?))\.?"  # noqa: E501
_DAY, _YEAR = r"(?P<day>\d{1,2})", r"(?P<year>\d{4})"
_NTH = r"(?:st|nd|rd|th)?"
_DATES = (
    rf"{_YEAR}(?P<sep>[/.-])(?P<month>\d{{1,2}})(?P=sep){_DAY}",
    rf"{_DAY}\.(?P<month>\d{{1,2}})\.{_YEAR}",
    rf"(?P<one>\d{{1,2}})(?P<sep>[/-])(?P<other>\d{{1,2}})(?P=sep){_YEAR}",
    rf"{_DAY}{_NTH}(?P<sep>[ /-]){_MONTH},?(?P=sep)(?P<year>\d{{4}}|\d\d)",
    rf"{_MONTH} {_DAY}{_NTH}(?:, ?| ){_YEAR}",
)
_WEEKDAY = r"(?:(?i:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? )?"
_FORMS = [re.compile(rf"{_WEEKDAY}{form}(?:(?:, ?|[ T:]){_CLOCK})?") for form in _DATES]
_PARTS = (
    rf"{_YEAR}-(?P<month>\d\d)", rf"{_MONTH} {_YEAR}", rf"{_YEAR}-W(?P<week>\d\d)", rf"{_YEAR}-?Q(?P<quarter>[1-4])", _CLOCK,
    r"(?P<iso>\d{8}T\d{4}(?:\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)",
)
_FORMS += [re.compile(form) for form in _PARTS]
_ORDERS = re.compile("%d[/-]%m[/-]%Y|%m[/-]%d[/-]%Y")
SHORT_YEAR = re.compile(  # (25.01.24, of which nothing says the century, or which number is the day)
    r"(?:0?[1-9]|[12]\d|3[01])(?P<sep>[/.-])(?:0?[1-9]|[12]\d|3[01])(?P=sep)\d\d"
    rf"(?:(?:, ?|[ T]){_CLOCK})?"
)
_EPOCH = datetime(1970, 1, 1)


def date_of(text: str, day_first: bool | None) -> tuple[date | time | None, bool | None]:
    """Return the date, or time of day, that a text is, and what it says of days before months in texts such as 05/01/2024.

    day_first : what is known of that. The date is None if the text is none; it says neither if it may be two dates: (None, None)
    is no date, (None, True) one of two, or of the order that the column's others do not have.
    """
    for form in _FORMS:
        found = form.fullmatch(text)
        if found is not None:
            break
    else:
        return None, None
    part = found.groupdict()
    says = None
    if part.get("one"):
        one, other = int(part["one"]), int(part["other"])
        if one > 12 or other > 12:
            says = one > 12
            if day_first not in (None, says):
                return None, True
        elif day_first is None and one != other:
            return None, True
        is_day_first = says if says is not None else day_first
        part["day"], part["month"] = (one, other) if is_day_first else (other, one)
    try:
        return _made(part), says
    except (ValueError, OverflowError):
        return None, None


def _made(part: dict) -> date | time:
    hour, minute, second = (int(part.get(name) or 0) for name in ("hour", "minute", "second"))
    if part.get("half"):
        if not 1 <= hour <= 12:
            raise ValueError
        hour = hour % 12 + (12 if part["half"] in "pP" else 0)
    micros = int((part.get("fraction") or "0").ljust(6, "0")[:6])
    clock = time(hour, minute, second, micros)
    if part.get("iso"):
        return datetime.fromisoformat(part["iso"])
    if not part.get("year"):
        return clock
    if part.get("week"):
        return datetime.fromisocalendar(int(part["year"]), int(part["week"]), 1)
    if part.get("quarter"):
        part["month"] = 3 * int(part["quarter"]) - 2
    month = _MONTHS[part["name"][:3].lower()] if part.get("name") else int(part["month"])
    year = int(part["year"])
    year += (1900 if year > 68 else 2000) if len(part["year"]) == 2 else 0  # (as POSIX)
    found = datetime(year, month, int(part.get("day") or 1), hour, minute, second, micros)
    zone = part.get("zone")
    if zone and zone[0] in "+-":
        away = timedelta(hours=int(zone[1:3]), minutes=int(zone[3:].lstrip(":") or 0))
        found = found.replace(tzinfo=timezone(-away if zone[0] == "-" else away))
    return found


def date_in_any_form(text: str) -> date | time | None:
    """Return the date, or time of day, that a text is in ISO 8601 or as people write it; None if it is none, or may be two."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return date_of(text, None)[0]


def date_in(text: str, form: str) -> date | time | None:
    """Return the date that a text is in a format of `strptime`; None if it is none. A time may stand behind a day."""
    try:
        return datetime.strptime(text, form)  # (without a zone it is read as it stands)
    except ValueError:
        day = re.split("[ ,T]", text, maxsplit=1)[0]
        if day == text or not _ORDERS.fullmatch(form) or date_in(day, form) is None:
            return None
        return date_of(text, form[1] == "d")[0]


def date_of_milliseconds(number: float) -> datetime:
    """Return the date that is so many milliseconds after 1970."""
    return _EPOCH + timedelta(milliseconds=number)
