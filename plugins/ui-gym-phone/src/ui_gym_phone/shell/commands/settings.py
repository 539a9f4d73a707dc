"""settings, getprop, setprop, wm: what is set on the phone (AOSP ``SettingsService``)."""

from __future__ import annotations

import re

from ui_gym_phone.data import table
from ui_gym_phone.shell import options
from ui_gym_phone.shell.framework import framework_command, quiet, refused, thrown
from ui_gym_phone.shell.registry import CommandContext, command
from ui_gym_phone.state import display, switches
from ui_gym_phone.state.settings import NAMESPACES, factory_settings

MAX_VALUE = 20_000
"""Characters of a value that Android's provider takes at most."""

MAX_PROPERTY = 91
"""Bytes that a property that can change may hold: ``PROP_VALUE_MAX`` less its end."""

settings = framework_command("settings")


def _words(ctx: CommandContext, least: int) -> list[str]:
    """The namespace and what follows, which are `least` words or more."""
    found, words, unknown = options.android(ctx.words, "", "--user")
    if ctx.verb == "put" and unknown:  # a value may look like an option
        words = [w for w in ctx.words if w != "--user"]
        words = words[1:] if "--user" in found else words
    if words and words[0].lower() not in NAMESPACES:
        raise refused(ctx, f"Error: Invalid namespace '{words[0]}'")
    if len(words) < least:
        raise refused(ctx, "Bad arguments")
    return [words[0].lower(), *words[1:]]


@settings("get")
def _get(ctx: CommandContext) -> None:
    namespace, key, *_ = _words(ctx, 2)
    ctx.out(ctx.phone.settings[namespace].get(key, "null") + "\n")


@settings("put")
def _put(ctx: CommandContext) -> None:
    namespace, key, value, *_ = _words(ctx, 3)
    valid = table("shell_names")["valid"].get(key) if namespace == "system" else None
    if key.startswith("volume_") and namespace == "system":
        valid = r"-?\d{1,9}"
    if (valid is not None and not re.fullmatch(valid, value)) or len(value) > MAX_VALUE:
        why = f"Invalid value: {value} for setting: {key}"
        raise thrown(ctx, "put", "IllegalArgumentException", why)
    ctx.phone.put(namespace, key, value)


@settings("delete")
def _delete(ctx: CommandContext) -> None:
    namespace, key, *_ = _words(ctx, 2)
    ctx.out(f"Deleted {int(ctx.phone.delete(namespace, key))} rows\n")


@settings("list")
def _list(ctx: CommandContext) -> None:
    found = ctx.phone.settings[_words(ctx, 1)[0]]
    ctx.out("".join(f"{k}={v}\n" for k, v in sorted(found.items())))


@settings("reset")
def _reset(ctx: CommandContext) -> None:
    namespace, mode, *_ = _words(ctx, 2)
    if namespace == "system":
        raise refused(ctx, "Error: cannot reset the system table")
    if mode == "trusted_defaults":
        for key, value in factory_settings()[namespace].items():
            ctx.phone.put(namespace, key, value)


# -- properties --


@command("getprop")
def _getprop(ctx: CommandContext) -> None:
    properties = ctx.phone.properties
    if not ctx.words:
        ctx.out("".join(f"[{k}]: [{v}]\n" for k, v in sorted(properties.items())))
    else:
        name, default = [*ctx.words, ""][:2]
        ctx.out(properties.get(name, default) + "\n")


@command("setprop")
def _setprop(ctx: CommandContext) -> None:
    if len(ctx.words) != 2:
        raise ctx.fault("Need 2 arguments" if len(ctx.words) < 2 else "Max 2 arguments")
    properties, (name, value) = ctx.phone.properties, ctx.words
    fixed = name.startswith("ro.") and name in properties
    if fixed or not name.strip(".") or (len(value) > MAX_PROPERTY and not name.startswith("ro.")):
        raise ctx.fault(f"failed to set property '{name}' to '{value}'")
    if name == "persist.sys.timezone":
        switches.set_time_zone(ctx.phone, value)
    properties[name] = value


# -- wm --

wm = framework_command("wm")
wm.add(dismiss_keyguard=quiet, fixed_to_user_rotation=quiet, scaling=quiet)


def _told(ctx: CommandContext, what: str, panel: str, now: str) -> None:
    """The panel's own value, and the one that stands for it."""
    ctx.out(f"Physical {what}: {panel}\n")
    ctx.out(f"Override {what}: {now}\n" if now != panel else "")


def _words_of(ctx: CommandContext) -> list[str]:
    """The words without the choice of a display, of which there is one."""
    return options.android(ctx.words, "", "-d -u")[1]


def _pixels(ctx: CommandContext, text: str) -> int:
    """A length in pixels, or in dp where that is written after it."""
    number = text.removesuffix("dp")
    if not re.fullmatch(r"-?\d{1,6}", number, re.ASCII):
        why = f'java.lang.NumberFormatException: For input string: "{number}"'
        raise refused(ctx, f"Error: bad number {why}")
    scale = display.dots(ctx.phone) / display.BASELINE if text.endswith("dp") else 1
    return round(int(number) * scale)


@wm("size")
def _size(ctx: CommandContext) -> None:
    phone, words = ctx.phone, _words_of(ctx)
    if not words:
        width, height = display.natural(phone)
        _told(ctx, "size", f"{phone.width}x{phone.height}", f"{width}x{height}")
        return
    if words[0] == "reset":
        phone.delete("global", display.FORCED_SIZE)
        return
    wide, x, high = words[0].partition("x")
    if not wide or not x or not high:
        raise refused(ctx, f"Error: bad size {words[0]}")
    sides = [_pixels(ctx, side) for side in (wide, high)]
    width, height = (min(max(side, display.LEAST), display.MOST) for side in sides)
    if (width, height) == (phone.width, phone.height):
        phone.delete("global", display.FORCED_SIZE)
    else:
        phone.put("global", display.FORCED_SIZE, f"{width},{height}")


@wm("density")
def _density(ctx: CommandContext) -> None:
    phone, words = ctx.phone, _words_of(ctx)
    if not words:
        _told(ctx, "density", str(display.panel_dots(phone)), str(display.dots(phone)))
        return
    if words[0] == "reset":
        phone.delete("secure", display.FORCED_DENSITY)
        return
    dots = _pixels(ctx, words[0].removesuffix("dp"))
    if dots < display.LEAST_DENSITY:
        raise refused(ctx, f"Error: density must be >= {display.LEAST_DENSITY}")
    if dots == display.panel_dots(phone):
        phone.delete("secure", display.FORCED_DENSITY)
    else:
        phone.put("secure", display.FORCED_DENSITY, min(dots, display.MOST_DENSITY))


@wm("user-rotation")
def _rotation(ctx: CommandContext) -> None:
    phone, mode, turn = ctx.phone, [*ctx.words, ""][0], [*ctx.words[1:], "0"][0]
    if not mode:
        free = phone.is_on("system", "accelerometer_rotation")
        ctx.out("free\n" if free else f"lock {phone.setting('system', 'user_rotation')}\n")
    elif mode == "free":
        switches.set_auto_rotate(phone, True)
    elif mode == "lock" and turn in ("0", "1", "2", "3"):
        switches.set_auto_rotate(phone, False)
        phone.put("system", "user_rotation", turn)
    else:
        raise refused(ctx, "Error: argument should be 'free' or 'lock [0-3]'")
