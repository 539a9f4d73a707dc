"""Dates as `date` and `touch` read and write them."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone

UTC = timezone.utc  # noqa: UP017 - as in the phone's clock


class DateFault(Exception):
    """A text that is no date; it is the message."""


def parse_date(text: str, now: datetime) -> float:
    """Seconds since 1970 of ``@N``, ``YYYY-MM-DD[ T]hh:mm[:ss]``, ``hh:mm`` or a stamp.

    A date without a zone is in that of `now`.
    """
    if found := re.fullmatch(r"@(-?\d{1,11})(\.\d+)?", text):
        return float(found[1]) + float(found[2] or 0)
    found = re.fullmatch(
        r"(?:(\d{4})-(\d\d?)-(\d\d?))?[ T]?(?:(\d\d?):(\d\d)(?::(\d\d)(?:\.\d+)?)?)? ?(Z|UTC|)",
        text.strip(),
    )
    if not text.strip() or found is None or not (found[1] or found[4]):
        return parse_stamp(text, now).timestamp()
    zone = UTC if found[7] else now.tzinfo
    year, month, day = (int(each) for each in found.group(1, 2, 3)) if found[1] else (
        now.year, now.month, now.day
    )  # fmt: skip
    hour, minute, second = (int(each or 0) for each in found.group(4, 5, 6))
    return _moment(text, year, month, day, hour, minute, second, zone).timestamp()


def parse_stamp(text: str, now: datetime, *, year_first: bool = False) -> datetime:
    """``MMDDhhmm[[CC]YY][.ss]``, or with `year_first` ``[[CC]YY]MMDDhhmm[.ss]``."""
    found = re.fullmatch(r"(\d{8}|\d{10}|\d{12})(?:\.(\d\d))?", text, re.ASCII)
    if found is None:
        raise DateFault(text)
    digits = found[1]
    year = digits[:-8] if year_first else digits[8:]
    rest = digits[-8:] if year_first else digits[:8]
    number = int(year) if year else now.year
    if len(year) == 2:
        number += 2000 if number < 69 else 1900
    month, day, hour, minute = (int(rest[i : i + 2]) for i in (0, 2, 4, 6))
    return _moment(text, number, month, day, hour, minute, int(found[2] or 0), now.tzinfo)


def format_date(form: str, when: datetime) -> str:
    """What `date` makes of a format: strftime's, with ``%s`` and ``%N``."""
    name = zone_name(when)

    def each(found: re.Match[str]) -> str:
        directive = found[1]
        if directive == "s":
            return str(int(when.timestamp()))
        if directive == "N":
            return f"{when.microsecond * 1000:09d}"
        if directive == "Z":
            return name
        if directive in "aAbBcCdDeFgGhHIjklmMnpPrRStTuUVwWxXyYz%":
            return when.strftime("%" + directive)
        return found.group()

    return re.sub(r"%[-_0]?(.)", each, form, flags=re.DOTALL)


def zone_name(when: datetime) -> str:
    """``UTC``, or the hours that a zone is off."""
    offset = when.utcoffset() or timedelta(0)
    return when.strftime("%z")[:3] if offset else "UTC"


def _moment(
    text: str, year: int, month: int, day: int, hour: int, minute: int, second: int, zone: object
) -> datetime:
    try:
        moment = datetime(year, month, day, hour, minute, second)
    except ValueError:
        raise DateFault(text) from None
    if year < 1970:
        raise DateFault(text)
    return moment.replace(tzinfo=zone if isinstance(zone, timezone) else UTC)
