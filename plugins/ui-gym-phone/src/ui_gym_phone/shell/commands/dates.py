"""date, sleep, uptime: the phone's clock."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone

from ui_gym_phone.shell.registry import CommandContext, command, toybox

UTC = timezone.utc  # noqa: UP017 - as in the phone's clock
DEFAULT = "%a %b %e %H:%M:%S %Z %Y"


@toybox("date", flags="d:us:", long={"date": "d", "utc": "u", "set": "s"})
def _date(ctx: CommandContext) -> None:
    """``date [-u] [-d DATE] [+FORMAT] [STAMP]``; a stamp sets the clock."""
    clock, form, stamp = ctx.machine.clock, DEFAULT, ctx.text("s")
    now = clock.local.astimezone(UTC) if "u" in ctx.options else clock.local
    for each in ctx.words:
        form, stamp = (each[1:], stamp) if each.startswith("+") else (form, each)
    try:
        if "d" in ctx.options:
            now = parse_date(ctx.text("d"), now)
        elif stamp:
            now = parse_date(stamp, now)
            clock.set(int(now.timestamp() * 1000))
    except (OverflowError, ValueError) as fault:
        raise ctx.fault(f"bad date {fault}") from None
    ctx.out(format_date(form, now) + "\n")


def parse_date(text: str, now: datetime) -> datetime:
    """The time of ``@N``, ``YYYY-MM-DD[ T]hh:mm[:ss]``, ``hh:mm`` or a stamp.

    A date without a zone is in that of `now`. ValueError with the text where it is no date.
    """
    if found := re.fullmatch(r"@(-?\d{1,11})", text):
        return datetime.fromtimestamp(int(found[1]), now.tzinfo)
    found = re.fullmatch(
        r"(?:(\d{4})-(\d\d?)-(\d\d?))?[ T]?(?:(\d\d?):(\d\d)(?::(\d\d)(?:\.\d+)?)?)?", text.strip()
    )
    if not text.strip() or found is None or not (found[1] or found[4]):
        return parse_stamp(text, now)
    day = found.group(1, 2, 3) if found[1] else (now.year, now.month, now.day)
    return _moment(text, [int(each or 0) for each in (*day, *found.group(4, 5, 6))], now)


def parse_stamp(text: str, now: datetime, *, year_first: bool = False) -> datetime:
    """``MMDDhhmm[[CC]YY][.ss]``, or with `year_first` ``[[CC]YY]MMDDhhmm[.ss]``. ValueError with
    the text where it is none."""
    found = re.fullmatch(r"(\d{8}|\d{10}|\d{12})(?:\.(\d\d))?", text, re.ASCII)
    if found is None:
        raise ValueError(text)
    digits = found[1]
    year = digits[:-8] if year_first else digits[8:]
    rest = digits[-8:] if year_first else digits[:8]
    number = int(year) if year else now.year
    if len(year) == 2:
        number += 2000 if number < 69 else 1900
    day_and_time = [int(rest[i : i + 2]) for i in (0, 2, 4, 6)]
    return _moment(text, [number, *day_and_time, int(found[2] or 0)], now)


def _moment(text: str, parts: list[int], now: datetime) -> datetime:
    year, month, day, hour, minute, second = parts
    try:
        moment = datetime(year, month, day, hour, minute, second, tzinfo=now.tzinfo)
    except ValueError:
        raise ValueError(text) from None
    if moment.year < 1970:
        raise ValueError(text)
    return moment


def format_date(form: str, when: datetime) -> str:
    """What `date` makes of a format: strftime's, with ``%s`` and ``%N``."""
    offset = when.utcoffset() or timedelta(0)
    special = {
        "s": str(int(when.timestamp())), "N": f"{when.microsecond * 1000:09d}",
        "Z": when.strftime("%z")[:3] if offset else "UTC",
    }  # fmt: skip

    def each(found: re.Match[str]) -> str:
        if found[1] in "aAbBcCdDeFgGhHIjklmMnpPrRStTuUVwWxXyYz%":
            return when.strftime("%" + found[1])
        return special.get(found[1], found.group())

    return re.sub(r"%(.)", each, form, flags=re.DOTALL)


@command("sleep")
def _sleep(ctx: CommandContext) -> None:
    """Lets the virtual time pass."""
    if not ctx.words:
        raise ctx.misused("Needs 1 argument")
    total = 0.0
    for each in ctx.words:
        found = re.fullmatch(r"(\d{1,12}\.?\d{0,9}|\.\d{1,9})([smhd]?)", each, re.ASCII)
        if found is None:
            raise ctx.fault(f"Not a number '{each}'")
        total += float(found[1]) * {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}[found[2]]
    ctx.shell.budget.slept(total)
    ctx.machine.clock.advance(total)


@command("uptime")
def _uptime(ctx: CommandContext) -> None:
    clock = ctx.machine.clock
    hours, minutes = divmod(clock.uptime_ms // 60_000, 60)
    days, hours = divmod(hours, 24)
    passed = f"{days} day{'s' * (days > 1)}, " if days else ""
    passed += f"{hours}:{minutes:02d}" if hours else f"{minutes} min"
    ctx.out(f" {clock.local:%H:%M:%S} up {passed},  0 users,  load average: 0.10, 0.08, 0.05\n")
