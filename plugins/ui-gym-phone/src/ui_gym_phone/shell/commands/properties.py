"""getprop, setprop: the system properties."""

from __future__ import annotations

from ui_gym_phone.shell.machine import phone_of
from ui_gym_phone.shell.registry import Context, command
from ui_gym_phone.state import switches

MAX_VALUE = 91
"""Bytes that a property that can change may hold: ``PROP_VALUE_MAX`` less its end."""


@command("getprop")
def getprop(ctx: Context, argv: list[str]) -> int:
    properties = phone_of(ctx).properties
    if len(argv) < 2:
        ctx.out("".join(f"[{k}]: [{v}]\n" for k, v in sorted(properties.items())))
    else:
        ctx.out(properties.get(argv[1], argv[2] if len(argv) > 2 else "") + "\n")
    return 0


@command("setprop")
def setprop(ctx: Context, argv: list[str]) -> int:
    if len(argv) != 3:
        return ctx.fail("Need 2 arguments" if len(argv) < 3 else "Max 2 arguments")
    phone, (name, value) = phone_of(ctx), argv[1:]
    fixed = name.startswith("ro.") and name in phone.properties
    if fixed or not name.strip(".") or (len(value) > MAX_VALUE and not name.startswith("ro.")):
        return ctx.fail(f"failed to set property '{name}' to '{value}'")
    if name == "persist.sys.timezone":
        switches.set_time_zone(phone, value)
    phone.properties[name] = value
    return 0
