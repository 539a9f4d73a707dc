"""dumpsys: what the system services tell of themselves, a module a group of services."""

from __future__ import annotations

from ui_gym_phone.shell.commands.dumpsys import (
    activity,
    audio,
    notification,
    packages,
    power,
    radios,
    storage,
    window,
)
from ui_gym_phone.shell.commands.dumpsys.services import SERVICES, names
from ui_gym_phone.shell.machine import phone_of
from ui_gym_phone.shell.registry import Context, command

__all__ = [
    "activity", "audio", "dumpsys", "notification", "packages", "power", "radios", "storage",
    "window",
]  # fmt: skip

_LINE = "-" * 79


@command("dumpsys")
def dumpsys(ctx: Context, argv: list[str]) -> int:
    """Prints the dump of one service, of all, or (``-l``) the services' names."""
    words = argv[1:]
    skipped: list[str] = []
    while words and words[0].startswith("-") and words[0] != "-l":
        if words[0] == "--skip" and len(words) > 1:
            skipped = words[1].split(",")
        words = words[2:] if words[0] in ("-t", "-T", "--skip", "--priority") else words[1:]
    phone = phone_of(ctx)
    if words[:1] == ["-l"]:
        ctx.out("Currently running services:\n" + "".join(f"  {name}\n" for name in names()))
    elif not words:
        ctx.out("Currently running services:\n" + "".join(f"  {name}\n" for name in names()))
        for name in names():
            if name not in skipped and name in SERVICES:
                ctx.out(f"{_LINE}\nDUMP OF SERVICE {name}:\n{SERVICES[name](phone, [])}")
    elif words[0] in SERVICES:
        ctx.out(SERVICES[words[0]](phone, words[1:]))
    elif words[0] not in names():
        ctx.err(f"Can't find service: {words[0]}\n")
    return 0
