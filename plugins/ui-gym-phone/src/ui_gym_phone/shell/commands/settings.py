"""settings, getprop, setprop, wm: what is set on the phone (AOSP ``SettingsService``)."""

from __future__ import annotations

import re

from ui_gym_phone.data import table
from ui_gym_phone.shell import options
from ui_gym_phone.shell.framework import framework_command, quiet, refused, thrown
from ui_gym_phone.shell.registry import CommandContext, command
from ui_gym_phone.state import switches
from ui_gym_phone.state.settings import factory_settings

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
    if words and words[0].lower() not in factory_settings():
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
    there = ctx.phone.settings[namespace].pop(key, None)
    ctx.out(f"Deleted {int(there is not None)} rows\n")


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
        ctx.phone.settings[namespace].update(factory_settings()[namespace])


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


def _fixed(ctx: CommandContext, what: str, value: str, complaint: str) -> None:
    """Tell a property of the display that is settled when a phone is made."""
    if not ctx.words:
        ctx.out(f"Physical {what}: {value}\n")
    elif ctx.words[0] not in ("reset", value):
        raise refused(ctx, f"Error: {complaint} always {value}")


@wm("size")
def _size(ctx: CommandContext) -> None:
    _fixed(ctx, "size", f"{ctx.phone.width}x{ctx.phone.height}", "this display is")


@wm("density")
def _density(ctx: CommandContext) -> None:
    density = ctx.phone.properties.get("ro.sf.lcd_density", "480")
    _fixed(ctx, "density", density, "the density of this display is")


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
