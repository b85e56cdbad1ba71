"""Dates and times of day as people write them, beside ISO 8601."""

from __future__ import annotations

import re
from datetime import datetime, time, timedelta, timezone
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import date

_ZONES = {  # hours from UTC, of those that stand for no other (CST and IST do)
    **dict.fromkeys(("Z", "UTC", "GMT", "UT", "WET"), 0), **dict.fromkeys(("CET", "MEZ", "WEST"), 1), "EDT": -4,
    **dict.fromkeys(("CEST", "MESZ", "EET"), 2), **dict.fromkeys(("EEST", "MSK"), 3), **dict.fromkeys(("JST", "KST"), 9),
    **dict.fromkeys(("EST", "CDT"), -5), "MDT": -6, **dict.fromkeys(("MST", "PDT"), -7), "PST": -8,  # (RFC 5322)
}
_AWAY = r"[+-]\d\d(?::?\d\d)?"
_CLOCK = (
    r"(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,9}))?)?"
    r"(?: ?(?P<half>[AaPp])\.?[Mm]\.?| ?(?:Uhr|[Hh]rs\.?|h))?"
    rf"(?: ?(?P<zone>(?:GMT|UTC)?{_AWAY}|Z|[A-Z]{{2,5}}|[A-Z][A-Za-z]+/[A-Za-z_/]+|\[[A-Za-z_/]+\])"
    r"(?:\[[A-Za-z_/]+\]| \([A-Za-z ]+\))?)?"
)
_MONTHS = {name: k for k, name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), 1)}
_MONTH = r"(?P<name>(?i:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?))\.?"  # noqa: E501
_DAY, _YEAR = r"(?P<day>\d{1,2})", r"(?P<year>\d{4})"
_NTH = r"(?:st|nd|rd|th)?"
_DATES = (
    rf"{_YEAR}(?P<sep>[/.:-])(?P<month>\d{{1,2}})(?P=sep){_DAY}",
    rf"{_DAY}\.(?P<month>\d{{1,2}})\.{_YEAR}",
    rf"(?P<one>\d{{1,2}})(?P<sep>[/-])(?P<other>\d{{1,2}})(?P=sep){_YEAR}",
    rf"{_DAY}(?:{_NTH}|\.)(?P<sep>[ /-]?){_MONTH},?(?P=sep)(?P<year>\d{{4}}|(?<=[ /-])\d\d)",
    rf"{_YEAR}(?P<sep>[ -]){_MONTH}(?P=sep){_DAY}",
    rf"{_MONTH}(?P<sep>[ -]){_DAY}{_NTH}(?:, ?|(?P=sep)){_YEAR}",
)
_WEEKDAY = re.compile(r"(?i:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? ")
_FORMS = [*(rf"{form}(?:(?:, ?|[ T:]){_CLOCK})?" for form in _DATES), rf"{_MONTH} +{_DAY} {_CLOCK} {_YEAR}"]
_PARTS = (
    rf"{_YEAR}[/M-](?P<month>\d\d)", rf"(?P<month>\d\d)/{_YEAR}", rf"{_MONTH}[ -]{_YEAR}",
    rf"{_YEAR}-?W(?P<week>\d\d)(?:-?(?P<weekday>[1-7]))?", rf"{_YEAR}-?Q(?P<quarter>[1-4])",
    rf"Q(?P<quarter>[1-4])[ /-]?{_YEAR}", _CLOCK,
    r"(?P<iso>\d{8}[T ]\d\d:?\d\d(?::?\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)",
)
_OF_LETTERS, _OF_DIGITS = (
    [re.compile(form) for form in (*_FORMS, *_PARTS) if form.startswith((_MONTH, "Q")) == begins] for begins in (True, False)
)
_ORDERS = re.compile("%d[/-]%m[/-]%Y|%m[/-]%d[/-]%Y")
_DOUBTS = {
    "year": re.compile(  # (25.01.24, of which nothing says the century, or which number is the day)
        rf"(?:0?[1-9]|[12]\d|3[01])(?P<sep>[/.-])(?:0?[1-9]|[12]\d|3[01])(?P=sep)\d\d(?:(?:, ?|[ T]){_CLOCK})?|{_MONTH}[ '-]+\d\d"
    ),
    "no year": re.compile(rf"(?P<day>\d{{1,2}})[ -]{_MONTH}|{_MONTH.replace('name', 'month')} +\d{{1,2}} {_CLOCK}"),
    "more": re.compile(r"(?:\d{4}(?P<a>[./-])\d\d?(?P=a)\d\d?|\d\d?(?P<b>[./-])\d\d?(?P=b)\d{4})[ T_/].*"),
    "month": re.compile(  # (25. Mai 2024, 3 décembre 2024, 7 de maio de 2024)
        r"\d{1,2}\.? (?:de )?(?i:j[aä]n|ene|gen|f[eé][bv]|m[aäe][giry]|mrt|a[bpv]r|ju[nil]|giu|lug|a[gou][goû]|se[pt]|o[cktu]t|"
        r"nov|d[eéi][cz])[^\W\d_]*\.? (?:de )?\d{4}(?: .*)?"
    ),
    "span": re.compile(r"\d{2,5}:[0-5]\d(?::[0-5]\d)?"),
}
_SPAN = re.compile(  # (1 days 02:00:00 of pandas, 1 day, 2:00:00 of Python; P1DT2H of ISO 8601)
    r"(?P<days>-?\d{1,9}) days?(?:,? (?P<sign>[+-]?)(?P<hours>\d{1,2}):(?P<minutes>\d\d):(?P<seconds>\d\d)"
    r"(?:\.(?P<fraction>\d{1,9}))?)?"
)
_ISO_SPAN = re.compile(
    r"(?P<sign>-?)P(?=-?\d|T\d)(?:(?P<weeks>\d{1,9})W)?(?:(?P<days>-?\d{1,9})D)?"
    r"(?:T(?=\d)(?:(?P<hours>\d{1,9})H)?(?:(?P<minutes>\d{1,9})M)?(?:(?P<seconds>\d{1,9})(?:\.(?P<fraction>\d{1,9}))?S)?)?"
)
_EPOCH = datetime(1970, 1, 1)


def date_of(text: str, day_first: bool | None) -> tuple[date | time | None, bool | str | None]:
    """Return the date, or time of day, that a text is, and what it says of days before months in texts such as 05/01/2024.

    day_first : what is known of that. Where the date is None, the text is none, or a doubtful one: "day" if it may be two dates,
    or has not the order of the column's others, "zone" if the name of its time zone may stand for several, "calendar" if there is
    no such day, "year", "no year", "month" and "more" of forms that are not read, and "span" of a time of day beyond 24 hours.
    """
    named = None if text[:1].isdigit() else _WEEKDAY.match(text)
    rest = text if named is None else text[named.end() :]
    for form in _OF_DIGITS if rest[:1].isdigit() else _OF_LETTERS:
        found = form.fullmatch(rest)
        if found is not None:
            break
    else:
        return None, _doubt_of(text)
    part = found.groupdict()
    says = None
    if part.get("one"):
        one, other = int(part["one"]), int(part["other"])
        if one > 12 or other > 12:
            says = one > 12
            if day_first not in (None, says):
                return None, "day"
        elif day_first is None and one != other:
            return None, "day"
        is_day_first = says if says is not None else day_first
        part["day"], part["month"] = (one, other) if is_day_first else (other, one)
    if named is not None and not part.get("day"):
        return None, None
    zone = part.get("zone")
    if zone and not zone[-1].isdigit() and zone not in _ZONES:
        return None, "zone"
    try:
        return _made(part), says
    except (ValueError, OverflowError):
        return None, "calendar" if part.get("day") else _doubt_of(text)


def _doubt_of(text: str) -> str | None:
    return next((doubt for doubt, form in _DOUBTS.items() if form.fullmatch(text)), None)


def _made(part: dict) -> date | time:
    hour, minute, second = (int(part.get(name) or 0) for name in ("hour", "minute", "second"))
    if part.get("half"):
        if not 1 <= hour <= 12:
            raise ValueError
        hour = hour % 12 + (12 if part["half"] in "pP" else 0)
    micros = int((part.get("fraction") or "0").ljust(6, "0")[:6])
    if part.get("iso"):
        return datetime.fromisoformat(part["iso"])
    if not part.get("year"):
        return time(hour, minute, second, micros)
    if part.get("week"):
        return datetime.fromisocalendar(int(part["year"]), int(part["week"]), int(part.get("weekday") or 1))
    if part.get("quarter"):
        part["month"] = 3 * int(part["quarter"]) - 2
    month = _MONTHS[part["name"][:3].lower()] if part.get("name") else int(part["month"])
    year = int(part["year"])
    year += (1900 if year > 68 else 2000) if len(part["year"]) == 2 else 0  # (as POSIX)
    is_midnight = hour == 24 and not (minute or second or micros)  # (of the next day, in ISO 8601)
    found = datetime(year, month, int(part.get("day") or 1), 0 if is_midnight else hour, minute, second, micros)
    if is_midnight:
        found += timedelta(1)
    zone = part.get("zone")
    if not zone:
        return found
    if zone in _ZONES:
        away = timedelta(hours=_ZONES[zone])
    else:
        digits = zone.lstrip("GMTUC")
        away = timedelta(hours=int(digits[1:3]), minutes=int(digits[3:].lstrip(":") or 0))
        away = -away if digits[0] == "-" else away
    return found.replace(tzinfo=timezone(away))


def seconds_of(text: str) -> float | None:
    """Return the seconds of a duration, as pandas and Python write it, or ISO 8601; None if a text is none."""
    found = _SPAN.fullmatch(text) or _ISO_SPAN.fullmatch(text)
    if found is None:
        return None
    part = found.groupdict()
    days, hours, minutes, seconds = (int(part[name] or 0) for name in ("days", "hours", "minutes", "seconds"))
    clock = ((hours * 60 + minutes) * 60 + seconds) * 10**6 + int((part["fraction"] or "0").ljust(6, "0")[:6])
    days = (days + 7 * int(part.get("weeks") or 0)) * 86400 * 10**6
    is_negative = part["sign"] == "-"
    if "weeks" in part:  # (the sign is of all)
        return (-1 if is_negative else 1) * (days + clock) / 1e6
    return (days + (-clock if is_negative else clock)) / 1e6


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


def is_day(number: float) -> bool:
    """Return True for a number such as 20240525, which is probably a day."""
    if not 19000101 <= number < 21000101 or number != int(number):
        return False
    return date_in(str(int(number)), "%Y%m%d") is not None


def date_of_milliseconds(number: float) -> datetime:
    """Return the date that is so many milliseconds after 1970."""
    return _EPOCH + timedelta(milliseconds=number)
