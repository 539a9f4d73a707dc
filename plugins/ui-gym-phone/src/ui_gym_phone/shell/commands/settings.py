"""settings, getprop, setprop, wm: what is set on the phone (AOSP ``SettingsService``)."""

from __future__ import annotations

import re

from ui_gym_phone.shell.framework import (
    FAILED,
    options,
    quiet,
    refused,
    subcommand,
    thrown,
    usage,
)
from ui_gym_phone.shell.registry import CommandContext, command
from ui_gym_phone.state import switches
from ui_gym_phone.state.settings import factory_settings

MAX_VALUE = 20_000
"""Characters of a value that Android's provider takes at most."""

MAX_PROPERTY = 91
"""Bytes that a property that can change may hold: ``PROP_VALUE_MAX`` less its end."""

_FLAG = "[01]"
_VALID = {
    "screen_brightness": r"\d|\d\d|1\d\d|2[0-4]\d|25[0-5]",
    "screen_off_timeout": r"\d{1,10}",
    "user_rotation": "[0-3]",
    "font_scale": r"\d*\.?\d+",
    "time_12_24": "12|24|",
    **dict.fromkeys(
        ("screen_brightness_mode", "accelerometer_rotation", "show_battery_percent",
         "haptic_feedback_enabled", "sound_effects_enabled", "dtmf_tone", "vibrate_when_ringing"),
        _FLAG,
    ),
}  # fmt: skip
"""Keys of ``system`` that Android validates, and what they may hold."""


@command("settings")
def settings(ctx: CommandContext, argv: list[str]) -> int:
    commands = {"get": _get, "put": _put, "delete": _delete, "list": _list, "reset": _reset}
    return subcommand(ctx, argv, commands, usage("settings"))


def _words(ctx: CommandContext, argv: list[str], least: int) -> list[str]:
    """The namespace and what follows; nothing where that is wrong, which is said."""
    found, words, unknown = options(argv[1:], values="--user")
    if argv[0] == "put" and unknown:  # a value may look like an option
        words = [w for w in argv[1:] if w != "--user"]
        words = words[1:] if "--user" in found else words
    if words and words[0].lower() not in factory_settings():
        refused(ctx, f"Error: Invalid namespace '{words[0]}'")
        return []
    if len(words) < least:
        refused(ctx, "Bad arguments")
        return []
    return [words[0].lower(), *words[1:]]


def _get(ctx: CommandContext, argv: list[str]) -> int:
    words = _words(ctx, argv, 2)
    if not words:
        return FAILED
    ctx.out(ctx.phone.settings[words[0]].get(words[1], "null") + "\n")
    return 0


def _put(ctx: CommandContext, argv: list[str]) -> int:
    words = _words(ctx, argv, 3)
    if not words:
        return FAILED
    namespace, key, value = words[:3]
    valid = _VALID.get(key) if namespace == "system" else None
    if key.startswith("volume_") and namespace == "system":
        valid = r"-?\d{1,9}"
    if (valid is not None and not re.fullmatch(valid, value)) or len(value) > MAX_VALUE:
        why = f"Invalid value: {value} for setting: {key}"
        return thrown(ctx, "put", "IllegalArgumentException", why)
    ctx.phone.put(namespace, key, value)
    return 0


def _delete(ctx: CommandContext, argv: list[str]) -> int:
    words = _words(ctx, argv, 2)
    if not words:
        return FAILED
    there = ctx.phone.settings[words[0]].pop(words[1], None)
    ctx.out(f"Deleted {int(there is not None)} rows\n")
    return 0


def _list(ctx: CommandContext, argv: list[str]) -> int:
    words = _words(ctx, argv, 1)
    if not words:
        return FAILED
    ctx.out("".join(f"{k}={v}\n" for k, v in sorted(ctx.phone.settings[words[0]].items())))
    return 0


def _reset(ctx: CommandContext, argv: list[str]) -> int:
    words = _words(ctx, argv, 2)
    if not words:
        return FAILED
    if words[0] == "system":
        return refused(ctx, "Error: cannot reset the system table")
    if words[1] == "trusted_defaults":
        ctx.phone.settings[words[0]].update(factory_settings()[words[0]])
    return 0


# -- properties --


@command("getprop")
def getprop(ctx: CommandContext, argv: list[str]) -> int:
    properties = ctx.phone.properties
    if len(argv) < 2:
        ctx.out("".join(f"[{k}]: [{v}]\n" for k, v in sorted(properties.items())))
    else:
        ctx.out(properties.get(argv[1], argv[2] if len(argv) > 2 else "") + "\n")
    return 0


@command("setprop")
def setprop(ctx: CommandContext, argv: list[str]) -> int:
    if len(argv) != 3:
        return ctx.fail("Need 2 arguments" if len(argv) < 3 else "Max 2 arguments")
    properties, (name, value) = ctx.phone.properties, argv[1:]
    fixed = name.startswith("ro.") and name in properties
    if fixed or not name.strip(".") or (len(value) > MAX_PROPERTY and not name.startswith("ro.")):
        return ctx.fail(f"failed to set property '{name}' to '{value}'")
    if name == "persist.sys.timezone":
        switches.set_time_zone(ctx.phone, value)
    properties[name] = value
    return 0


# -- wm --


@command("wm")
def wm(ctx: CommandContext, argv: list[str]) -> int:
    commands = {
        "size": _size, "density": _density, "user-rotation": _rotation,
        "dismiss-keyguard": quiet, "fixed-to-user-rotation": quiet, "scaling": quiet,
    }  # fmt: skip
    return subcommand(ctx, argv, commands, usage("wm"))


def _size(ctx: CommandContext, argv: list[str]) -> int:
    size = f"{ctx.phone.width}x{ctx.phone.height}"
    if len(argv) < 2:
        ctx.out(f"Physical size: {size}\n")
    elif argv[1] not in ("reset", size):  # the picture's size is settled when a phone is made
        return refused(ctx, f"Error: this display is always {size}")
    return 0


def _density(ctx: CommandContext, argv: list[str]) -> int:
    density = ctx.phone.properties.get("ro.sf.lcd_density", "480")
    if len(argv) < 2:
        ctx.out(f"Physical density: {density}\n")
    elif argv[1] not in ("reset", density):
        return refused(ctx, f"Error: the density of this display is always {density}")
    return 0


def _rotation(ctx: CommandContext, argv: list[str]) -> int:
    phone, mode, turn = ctx.phone, argv[1] if len(argv) > 1 else "", (argv[2:] or ["0"])[0]
    if not mode:
        free = phone.is_on("system", "accelerometer_rotation")
        ctx.out("free\n" if free else f"lock {phone.setting('system', 'user_rotation')}\n")
    elif mode == "free":
        switches.set_auto_rotate(phone, True)
    elif mode == "lock" and turn in ("0", "1", "2", "3"):
        switches.set_auto_rotate(phone, False)
        phone.put("system", "user_rotation", turn)
    else:
        return refused(ctx, "Error: argument should be 'free' or 'lock [0-3]'")
    return 0
