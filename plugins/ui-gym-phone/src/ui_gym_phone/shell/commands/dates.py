"""date, sleep, uptime: the phone's clock."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone

from ui_gym_phone.shell.options import CommandOptions
from ui_gym_phone.shell.registry import CommandContext, command

UTC = timezone.utc  # noqa: UP017 - as in the phone's clock
DEFAULT = "%a %b %e %H:%M:%S %Z %Y"


class DateFault(Exception):
    """A text that is no date; it is the message."""


@command("date")
def _date(ctx: CommandContext, argv: list[str]) -> int:
    """``date [-u] [-d DATE] [+FORMAT] [STAMP]``; a stamp sets the clock."""
    options = CommandOptions(ctx, argv, "d:us:", long={"date": "d", "utc": "u", "set": "s"})
    clock, form = ctx.machine.clock, DEFAULT
    now = clock.local.astimezone(UTC) if "u" in options else clock.local
    stamp = options.text("s")
    for each in options.arguments:
        form, stamp = (each[1:], stamp) if each.startswith("+") else (form, each)
    try:
        if "d" in options:
            now = parse_date(options.text("d"), now)
        elif stamp:
            now = parse_date(stamp, now)
            clock.set(int(now.timestamp() * 1000))
    except (DateFault, OverflowError, ValueError) as fault:
        return ctx.fail(f"bad date {fault}")
    ctx.out(format_date(form, now) + "\n")
    return 0


def parse_date(text: str, now: datetime) -> datetime:
    """The time of ``@N``, ``YYYY-MM-DD[ T]hh:mm[:ss]``, ``hh:mm`` or a stamp.

    A date without a zone is in that of `now`.
    """
    if found := re.fullmatch(r"@(-?\d{1,11})", text):
        return datetime.fromtimestamp(int(found[1]), now.tzinfo)
    found = re.fullmatch(
        r"(?:(\d{4})-(\d\d?)-(\d\d?))?[ T]?(?:(\d\d?):(\d\d)(?::(\d\d)(?:\.\d+)?)?)?", text.strip()
    )
    if not text.strip() or found is None or not (found[1] or found[4]):
        return parse_stamp(text, now)
    year, month, day = (int(each) for each in found.group(1, 2, 3)) if found[1] else (
        now.year, now.month, now.day
    )  # fmt: skip
    hour, minute, second = (int(each or 0) for each in found.group(4, 5, 6))
    return _moment(text, (year, month, day, hour, minute, second), now)


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
    return _moment(text, (number, month, day, hour, minute, int(found[2] or 0)), now)


def _moment(text: str, parts: tuple[int, int, int, int, int, int], now: datetime) -> datetime:
    try:
        moment = datetime(*parts, tzinfo=now.tzinfo)
    except ValueError:
        raise DateFault(text) from None
    if moment.year < 1970:
        raise DateFault(text)
    return moment


def format_date(form: str, when: datetime) -> str:
    """What `date` makes of a format: strftime's, with ``%s`` and ``%N``."""
    offset = when.utcoffset() or timedelta(0)
    special = {
        "s": str(int(when.timestamp())), "N": f"{when.microsecond * 1000:09d}",
        "Z": when.strftime("%z")[:3] if offset else "UTC",
    }  # fmt: skip

    def each(found: re.Match[str]) -> str:
        directive = found[1]
        if directive in "aAbBcCdDeFgGhHIjklmMnpPrRStTuUVwWxXyYz%":
            return when.strftime("%" + directive)
        return special.get(directive, found.group())

    return re.sub(r"%(.)", each, form, flags=re.DOTALL)


@command("sleep")
def _sleep(ctx: CommandContext, argv: list[str]) -> int:
    """Lets the virtual time pass."""
    if len(argv) < 2:
        return ctx.fail('Needs 1 argument (see "sleep --help")')
    total = 0.0
    for each in argv[1:]:
        found = re.fullmatch(r"(\d{1,12}\.?\d{0,9}|\.\d{1,9})([smhd]?)", each, re.ASCII)
        if found is None:
            return ctx.fail(f"Not a number '{each}'")
        total += float(found[1]) * {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}[found[2]]
    ctx.runner.budget.slept(total)
    ctx.machine.clock.advance(total)
    return 0


@command("uptime")
def _uptime(ctx: CommandContext, argv: list[str]) -> int:
    clock = ctx.machine.clock
    hours, minutes = divmod(clock.uptime_ms // 60_000, 60)
    days, hours = divmod(hours, 24)
    passed = (f"{days} day{'s' * (days > 1)}, " if days else "") + (
        f"{hours}:{minutes:02d}" if hours else f"{minutes} min"
    )
    ctx.out(f" {clock.local:%H:%M:%S} up {passed},  0 users,  load average: 0.10, 0.08, 0.05\n")
    return 0
