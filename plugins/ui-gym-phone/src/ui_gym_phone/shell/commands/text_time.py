"""date, sleep and the other commands that have to do with time."""

from __future__ import annotations

import re
from datetime import datetime

from ui_gym_phone.shell.dates import UTC, DateFault, format_date, parse_date, parse_stamp
from ui_gym_phone.shell.options import Options
from ui_gym_phone.shell.registry import Context, command

DEFAULT = "%a %b %e %H:%M:%S %Z %Y"


@command("date")
def _date(ctx: Context, argv: list[str]) -> int:
    options = Options(ctx, argv, "d:D:I:r:suR", long={"date": "d", "utc": "u", "set": "s"})
    clock = ctx.machine.clock
    now: datetime = clock.local.astimezone(UTC) if "u" in options else clock.local
    form, stamps = DEFAULT, list[str]()
    for each in options.arguments:
        if each.startswith("+"):
            form = each[1:]
        else:
            stamps.append(each)
    try:
        if "d" in options and "s" not in options:
            now = datetime.fromtimestamp(parse_date(options.text("d"), now), now.tzinfo)
        elif "r" in options:
            stat = ctx.files.stat(ctx.path(options.text("r")))
            now = datetime.fromtimestamp(stat.mtime, now.tzinfo)
        elif stamps:
            now = _stamp(stamps[0], now)
            clock.set(int(now.timestamp() * 1000))
    except (DateFault, OverflowError, ValueError) as fault:
        return ctx.fail(f"bad date {fault}")
    if "R" in options:
        form = "%a, %d %b %Y %H:%M:%S %z"
    ctx.out(format_date(form, now) + "\n")
    return 0


def _stamp(text: str, now: datetime) -> datetime:
    """What `date` is set to."""
    if re.fullmatch(r"\d{8}(\d\d){0,2}(\.\d\d)?", text):
        return parse_stamp(text, now)
    return datetime.fromtimestamp(parse_date(text, now), now.tzinfo)


@command("sleep", "usleep")
def _sleep(ctx: Context, argv: list[str]) -> int:
    """Lets the virtual time pass."""
    if len(argv) < 2:
        return ctx.fail(f'Needs 1 argument (see "{argv[0]} --help")')
    total = 0.0
    for each in argv[1:]:
        found = re.fullmatch(r"(\d{1,12}\.?\d{0,9}|\.\d{1,9})([smhd]?)", each, re.ASCII)
        if found is None:
            return ctx.fail(f"Not a number '{each}'")
        total += float(found[1]) * {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}[found[2]]
    if argv[0].endswith("usleep"):
        total /= 1e6
    ctx.runner.budget.slept(total)
    ctx.machine.clock.advance(total)
    return 0


@command("time")
def _time(ctx: Context, argv: list[str]) -> int:
    arguments = argv[2:] if argv[1:2] == ["-p"] else argv[1:]
    before = ctx.machine.clock.seconds()
    code = ctx.run(arguments) if arguments else 0
    passed = ctx.machine.clock.seconds() - before
    minutes, seconds = divmod(passed, 60)
    ctx.err(f"    {minutes:.0f}m{seconds:05.2f}s real     0m00.00s user     0m00.00s system\n")
    return code


@command("timeout")
def _timeout(ctx: Context, argv: list[str]) -> int:
    options = Options(ctx, argv, "vk:s:fi", permute=False)
    if len(options.arguments) < 2:
        raise options.help("Need 2 arguments")
    return ctx.run(options.arguments[1:])


@command("uptime")
def _uptime(ctx: Context, argv: list[str]) -> int:
    clock = ctx.machine.clock
    seconds = int(getattr(clock, "uptime_ms", 3_600_000)) // 1000
    if argv[1:] == ["-s"]:
        began = datetime.fromtimestamp(clock.seconds() - seconds, clock.local.tzinfo)
        ctx.out(began.strftime("%Y-%m-%d %H:%M:%S\n"))
        return 0
    hours, minutes = divmod(seconds // 60, 60)
    days, hours = divmod(hours, 24)
    passed = (f"{days} day{'s' * (days > 1)}, " if days else "") + (
        f"{hours}:{minutes:02d}" if hours else f"{minutes} min"
    )
    ctx.out(f" {clock.local:%H:%M:%S} up {passed},  0 users,  load average: 0.10, 0.08, 0.05\n")
    return 0
